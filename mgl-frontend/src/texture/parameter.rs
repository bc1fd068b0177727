//! `glTexParameter*` and `glGetTexParameter*`.

use mgpipe_types::{gl, SamplerParameters, Target};

use super::image::texture_target;
use super::target::{is_multisample, single_level};
use super::TextureState;
use crate::boundary::{Params, Values};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::limits::MAX_VERSION;
use crate::sampler::{get_parameter, set_parameter, ParameterRules};

fn is_swizzle(value: u32) -> bool {
    matches!(value, gl::RED | gl::GREEN | gl::BLUE | gl::ALPHA | gl::ZERO | gl::ONE)
}

fn is_sampler_parameter(pname: u32) -> bool {
    matches!(
        pname,
        gl::TEXTURE_WRAP_S
            | gl::TEXTURE_WRAP_T
            | gl::TEXTURE_WRAP_R
            | gl::TEXTURE_MIN_FILTER
            | gl::TEXTURE_MAG_FILTER
            | gl::TEXTURE_MIN_LOD
            | gl::TEXTURE_MAX_LOD
            | gl::TEXTURE_LOD_BIAS
            | gl::TEXTURE_COMPARE_MODE
            | gl::TEXTURE_COMPARE_FUNC
            | gl::TEXTURE_MAX_ANISOTROPY
            | gl::TEXTURE_BORDER_COLOR
    )
}

/// A rectangle has no mipmaps and cannot repeat (GL 3.3 section 3.8.7).
fn check_rectangle(sampler: &SamplerParameters, command: &'static str) -> GlResult {
    let clamps = |wrap| matches!(wrap, gl::CLAMP_TO_EDGE | gl::CLAMP_TO_BORDER);
    if !(clamps(sampler.wrap_s) && clamps(sampler.wrap_t) && clamps(sampler.wrap_r)) {
        return Err(invalid_enum(format!("{command}: a rectangle texture cannot repeat")));
    }
    if !matches!(sampler.min_filter, gl::NEAREST | gl::LINEAR) {
        return Err(invalid_enum(format!("{command}: a rectangle texture has no mipmaps")));
    }
    Ok(())
}

fn set(
    state: &mut TextureState,
    target: Target,
    pname: u32,
    params: Params<'_>,
    rules: ParameterRules,
    command: &'static str,
) -> GlResult<bool> {
    let before = *state;
    if is_sampler_parameter(pname) {
        if is_multisample(target) {
            return Err(invalid_enum(format!("{command}: multisample textures have no sampler state")));
        }
        let mut sampler = state.sampler;
        if set_parameter(&mut sampler, pname, params, rules, command)?.is_none() {
            return Err(invalid_enum(format!("{command}: pname {pname:#x}")));
        }
        if target == Target::TexRect {
            check_rectangle(&sampler, command)?;
        }
        state.sampler = sampler;
        return Ok(*state != before);
    }
    let value = params.enumerant(0);
    let level = || u32::try_from(params.int(0)).map_err(|_| invalid_value(format!("{command}: negative level")));
    match pname {
        gl::TEXTURE_BASE_LEVEL => {
            let level = level()?;
            if level != 0 && single_level(target) {
                return Err(invalid_operation(format!("{command}: the target has level 0 only")));
            }
            state.base_level = level;
        }
        gl::TEXTURE_MAX_LEVEL => state.max_level = level()?,
        gl::TEXTURE_SWIZZLE_R..=gl::TEXTURE_SWIZZLE_A => {
            if !is_swizzle(value) {
                return Err(invalid_enum(format!("{command}: swizzle {value:#x}")));
            }
            if let Some(slot) = state.swizzle.get_mut((pname - gl::TEXTURE_SWIZZLE_R) as usize) {
                *slot = value;
            }
        }
        gl::TEXTURE_SWIZZLE_RGBA => {
            if params.is_scalar() {
                return Err(invalid_enum(format!("{command}: GL_TEXTURE_SWIZZLE_RGBA has four values")));
            }
            let values = [0, 1, 2, 3].map(|i| params.enumerant(i));
            if params.len() < 4 || !values.into_iter().all(is_swizzle) {
                return Err(invalid_enum(format!("{command}: swizzle")));
            }
            state.swizzle = values;
        }
        gl::DEPTH_STENCIL_TEXTURE_MODE if MAX_VERSION >= (4, 3) => {
            if !matches!(value, gl::DEPTH_COMPONENT | gl::STENCIL_INDEX) {
                return Err(invalid_enum(format!("{command}: value {value:#x}")));
            }
            state.stencil_mode = value == gl::STENCIL_INDEX;
        }
        _ => return Err(invalid_enum(format!("{command}: pname {pname:#x}"))),
    }
    Ok(*state != before)
}

impl Context {
    /// `glTexParameter*`.
    pub fn tex_parameter(&mut self, target: u32, pname: u32, params: Params<'_>) {
        let command = "glTexParameter";
        self.gl(|ctx| {
            let target = parameter_target(target, command)?;
            let texture = ctx.state.current_texture(target)?;
            let rules = ParameterRules::of(&ctx.state.share);
            let changed = {
                let mut inner = texture.lock();
                let changed = set(&mut inner.params, target, pname, params, rules, command)?;
                if changed {
                    inner.params_changed();
                    if matches!(pname, gl::TEXTURE_BASE_LEVEL | gl::TEXTURE_MAX_LEVEL) {
                        // The base level decides which images form the chain.
                        inner.choose_again();
                    }
                }
                changed
            };
            if changed {
                texture.params_changed();
            }
            Ok(())
        });
    }

    /// `glGetTexParameter*`.
    pub fn get_tex_parameter(&mut self, target: u32, pname: u32) -> Option<Values> {
        let command = "glGetTexParameter";
        self.gl(|ctx| {
            let target = parameter_target(target, command)?;
            let texture = ctx.state.current_texture(target)?;
            let rules = ParameterRules::of(&ctx.state.share);
            let inner = texture.lock();
            let state = &inner.params;
            let value = match pname {
                gl::TEXTURE_BASE_LEVEL => Values::int(state.base_level),
                gl::TEXTURE_MAX_LEVEL => Values::int(state.max_level),
                gl::TEXTURE_SWIZZLE_R..=gl::TEXTURE_SWIZZLE_A => Values::int(
                    state.swizzle.get((pname - gl::TEXTURE_SWIZZLE_R) as usize).copied().unwrap_or(gl::ZERO),
                ),
                gl::TEXTURE_SWIZZLE_RGBA => Values::ints(state.swizzle),
                gl::DEPTH_STENCIL_TEXTURE_MODE if MAX_VERSION >= (4, 3) => {
                    Values::int(if state.stencil_mode { gl::STENCIL_INDEX } else { gl::DEPTH_COMPONENT })
                }
                gl::TEXTURE_IMMUTABLE_FORMAT => Values::bool(inner.immutable_levels != 0),
                gl::TEXTURE_IMMUTABLE_LEVELS if MAX_VERSION >= (4, 3) => Values::int(inner.immutable_levels),
                _ => match get_parameter(&state.sampler, pname, rules) {
                    Some(value) => value,
                    None => return Err(invalid_enum(format!("{command}: pname {pname:#x}"))),
                },
            };
            Ok(Some(value))
        })
    }
}

fn parameter_target(target: u32, command: &'static str) -> GlResult<Target> {
    let target = texture_target(target, command)?;
    if target == Target::TexBuffer {
        return Err(invalid_enum(format!("{command}: buffer textures have no parameters")));
    }
    Ok(target)
}
