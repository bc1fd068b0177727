//! Sampler objects, and the sampler parameters that they share with textures.

use std::sync::Arc;

use mgpipe_tracker::{Aggregate, Counter};
use mgpipe_types::{gl, SamplerParameters, Target};
use parking_lot::Mutex;

use crate::boundary::{ParamData, Params, Quad, Values};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::share::ShareGroup;

/// A sampler object.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// GL name.
    pub(crate) name: u32,
    parameters: Mutex<SamplerParameters>,
}

impl Sampler {
    /// A sampler with the initial parameters.
    pub(crate) fn new(name: u32) -> Arc<Sampler> {
        Arc::new(Sampler { name, parameters: Mutex::new(initial_parameters(Target::Tex2D)) })
    }

    /// The parameters now.
    pub(crate) fn parameters(&self) -> SamplerParameters {
        *self.parameters.lock()
    }
}

/// Initial sampler parameters (GL 3.3 tables 6.16 and 6.17). Rectangles start without mipmaps and clamped.
pub(crate) fn initial_parameters(target: Target) -> SamplerParameters {
    let rectangle = target == Target::TexRect;
    let wrap = if rectangle { gl::CLAMP_TO_EDGE } else { gl::REPEAT };
    SamplerParameters {
        wrap_s: wrap,
        wrap_t: wrap,
        wrap_r: wrap,
        min_filter: if rectangle { gl::LINEAR } else { gl::NEAREST_MIPMAP_LINEAR },
        mag_filter: gl::LINEAR,
        min_lod: -1000.0,
        max_lod: 1000.0,
        lod_bias: 0.0,
        compare_mode: gl::NONE,
        compare_func: gl::LEQUAL,
        max_anisotropy: 1.0,
        cube_map_seamless: 0,
        border_color_form: 0,
        ..SamplerParameters::default()
    }
}

fn is_wrap(mode: u32, mirror_clamp: bool) -> bool {
    matches!(mode, gl::REPEAT | gl::MIRRORED_REPEAT | gl::CLAMP_TO_EDGE | gl::CLAMP_TO_BORDER)
        || mode == gl::MIRROR_CLAMP_TO_EDGE && mirror_clamp
}

fn is_compare(func: u32) -> bool {
    (gl::NEVER..=gl::ALWAYS).contains(&func)
}

/// Facts that decide which values are legal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParameterRules {
    /// `GL_MIRROR_CLAMP_TO_EDGE` is there.
    pub(crate) mirror_clamp: bool,
    /// Anisotropic filtering is there.
    pub(crate) anisotropy: bool,
    /// The largest anisotropy.
    pub(crate) max_anisotropy: f32,
}

impl ParameterRules {
    /// The rules of a share group.
    pub(crate) fn of(share: &ShareGroup) -> ParameterRules {
        ParameterRules {
            mirror_clamp: share.caps.has(mgpipe_types::features::MIRROR_CLAMP),
            anisotropy: share.caps.has(mgpipe_types::features::ANISOTROPY),
            max_anisotropy: share.limits.anisotropy,
        }
    }
}

/// Sets one parameter.
///
/// `Ok(None)` when `pname` names no sampler parameter; `Ok(Some(changed))` otherwise.
///
/// # Errors
/// `GL_INVALID_ENUM` and `GL_INVALID_VALUE` for illegal values (GL 3.3 section 3.8.7).
pub(crate) fn set_parameter(
    parameters: &mut SamplerParameters,
    pname: u32,
    params: Params<'_>,
    rules: ParameterRules,
    command: &'static str,
) -> GlResult<Option<bool>> {
    let before = *parameters;
    let value = params.enumerant(0);
    let bad_value = || invalid_enum(format!("{command}: value {value:#x}"));
    match pname {
        gl::TEXTURE_WRAP_S | gl::TEXTURE_WRAP_T | gl::TEXTURE_WRAP_R => {
            if !is_wrap(value, rules.mirror_clamp) {
                return Err(bad_value());
            }
            match pname {
                gl::TEXTURE_WRAP_S => parameters.wrap_s = value,
                gl::TEXTURE_WRAP_T => parameters.wrap_t = value,
                _ => parameters.wrap_r = value,
            }
        }
        gl::TEXTURE_MIN_FILTER => {
            let legal = matches!(value, gl::NEAREST | gl::LINEAR)
                || (gl::NEAREST_MIPMAP_NEAREST..=gl::LINEAR_MIPMAP_LINEAR).contains(&value);
            if !legal {
                return Err(bad_value());
            }
            parameters.min_filter = value;
        }
        gl::TEXTURE_MAG_FILTER => {
            if !matches!(value, gl::NEAREST | gl::LINEAR) {
                return Err(bad_value());
            }
            parameters.mag_filter = value;
        }
        gl::TEXTURE_MIN_LOD => parameters.min_lod = params.float(0),
        gl::TEXTURE_MAX_LOD => parameters.max_lod = params.float(0),
        gl::TEXTURE_LOD_BIAS => parameters.lod_bias = params.float(0),
        gl::TEXTURE_COMPARE_MODE => {
            if !matches!(value, gl::NONE | gl::COMPARE_REF_TO_TEXTURE) {
                return Err(bad_value());
            }
            parameters.compare_mode = value;
        }
        gl::TEXTURE_COMPARE_FUNC => {
            if !is_compare(value) {
                return Err(bad_value());
            }
            parameters.compare_func = value;
        }
        gl::TEXTURE_MAX_ANISOTROPY if rules.anisotropy => {
            let value = params.float(0);
            if value < 1.0 || value.is_nan() {
                return Err(invalid_value(format!("{command}: anisotropy below 1")));
            }
            parameters.max_anisotropy = value.min(rules.max_anisotropy);
        }
        gl::TEXTURE_BORDER_COLOR => {
            if params.is_scalar() {
                return Err(invalid_enum(format!("{command}: a border colour has four values")));
            }
            let Some(quad) = params.quad() else {
                return Err(invalid_enum(format!("{command}: a border colour has four values")));
            };
            set_border(parameters, &quad, params.data);
        }
        _ => return Ok(None),
    }
    Ok(Some(*parameters != before))
}

fn set_border(parameters: &mut SamplerParameters, quad: &Quad, data: ParamData<'_>) {
    parameters.border_color_form = match data {
        ParamData::Ints(_) | ParamData::Floats(_) => 0,
        ParamData::PureInts(_) => 1,
        ParamData::PureUints(_) => 2,
    };
    parameters.border_color = quad.floats;
    if parameters.border_color_form == 0 {
        // All three forms are always filled; an integer texture with a float border colour is undefined.
        parameters.border_color_i = quad.floats.map(|f| f as i32);
        parameters.border_color_u = quad.floats.map(|f| f as u32);
    } else {
        parameters.border_color_i = quad.bits.map(|b| b as i32);
        parameters.border_color_u = quad.bits;
    }
}

/// Reads one parameter; `None` when `pname` names no sampler parameter.
pub(crate) fn get_parameter(parameters: &SamplerParameters, pname: u32, rules: ParameterRules) -> Option<Values> {
    Some(match pname {
        gl::TEXTURE_WRAP_S => Values::int(parameters.wrap_s),
        gl::TEXTURE_WRAP_T => Values::int(parameters.wrap_t),
        gl::TEXTURE_WRAP_R => Values::int(parameters.wrap_r),
        gl::TEXTURE_MIN_FILTER => Values::int(parameters.min_filter),
        gl::TEXTURE_MAG_FILTER => Values::int(parameters.mag_filter),
        gl::TEXTURE_MIN_LOD => Values::float(parameters.min_lod),
        gl::TEXTURE_MAX_LOD => Values::float(parameters.max_lod),
        gl::TEXTURE_LOD_BIAS => Values::float(parameters.lod_bias),
        gl::TEXTURE_COMPARE_MODE => Values::int(parameters.compare_mode),
        gl::TEXTURE_COMPARE_FUNC => Values::int(parameters.compare_func),
        gl::TEXTURE_MAX_ANISOTROPY if rules.anisotropy => Values::float(parameters.max_anisotropy),
        gl::TEXTURE_BORDER_COLOR => Values::Quad(match parameters.border_color_form {
            0 => Quad::from_floats(parameters.border_color),
            1 => Quad::from_ints(parameters.border_color_i),
            _ => Quad::from_uints(parameters.border_color_u),
        }),
        _ => return None,
    })
}

impl Context {
    /// `glGenSamplers`.
    pub fn gen_samplers(&mut self, names: &mut [u32]) {
        self.gl(|ctx| {
            ctx.state.share.samplers.generate(names);
            Ok(())
        });
    }

    /// `glDeleteSamplers`.
    pub fn delete_samplers(&mut self, names: &[u32]) {
        self.gl(|ctx| {
            for &name in names {
                let Some(Some(sampler)) = ctx.state.share.samplers.remove(name) else { continue };
                ctx.state.debug.forget_label(gl::SAMPLER, name as usize);
                if ctx.state.textures.forget_sampler(&sampler) {
                    ctx.state.generations.bump(Counter::Samplers);
                }
            }
            Ok(())
        });
    }

    /// `glIsSampler`.
    pub fn is_sampler(&mut self, sampler: u32) -> bool {
        // Unlike other objects a sampler exists as soon as its name is generated (GL 3.3 section 3.8.2).
        self.gl(|ctx| Ok(!matches!(ctx.state.share.samplers.lookup(sampler), crate::names::Lookup::Unknown)))
    }

    fn sampler_by_name(&self, name: u32, command: &'static str) -> GlResult<Arc<Sampler>> {
        let object = self.state.share.samplers.get_or_create(name, || Sampler::new(name));
        object.ok_or_else(|| invalid_operation(format!("{command}: {name} is no sampler")))
    }

    /// `glSamplerParameter*`.
    pub fn sampler_parameter(&mut self, sampler: u32, pname: u32, params: Params<'_>) {
        self.gl(|ctx| {
            let command = "glSamplerParameter";
            let object = ctx.sampler_by_name(sampler, command)?;
            let rules = ParameterRules::of(&ctx.state.share);
            let changed = set_parameter(&mut object.parameters.lock(), pname, params, rules, command)?;
            match changed {
                None => Err(invalid_enum("glSamplerParameter: pname")),
                Some(true) => {
                    ctx.state.share.aggregates.bump(Aggregate::TextureParams);
                    Ok(())
                }
                Some(false) => Ok(()),
            }
        });
    }

    /// `glGetSamplerParameter*`.
    pub fn get_sampler_parameter(&mut self, sampler: u32, pname: u32) -> Option<Values> {
        self.gl(|ctx| {
            let object = ctx.sampler_by_name(sampler, "glGetSamplerParameter")?;
            let rules = ParameterRules::of(&ctx.state.share);
            let value = get_parameter(&object.parameters(), pname, rules);
            value.map(Some).ok_or_else(|| invalid_enum("glGetSamplerParameter: pname"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: ParameterRules = ParameterRules { mirror_clamp: false, anisotropy: true, max_anisotropy: 16.0 };

    fn set(parameters: &mut SamplerParameters, pname: u32, value: &[f32]) -> GlResult<Option<bool>> {
        set_parameter(
            parameters,
            pname,
            Params { data: ParamData::Floats(value), scalar: value.len() == 1 },
            RULES,
            "test",
        )
    }

    #[test]
    fn illegal_values_leave_the_parameters_alone() {
        let mut p = initial_parameters(Target::Tex2D);
        let before = p;
        assert_eq!(set(&mut p, gl::TEXTURE_WRAP_S, &[gl::LINEAR as f32]).expect_err("enum").code, gl::INVALID_ENUM);
        assert_eq!(set(&mut p, gl::TEXTURE_MAX_ANISOTROPY, &[0.5]).expect_err("value").code, gl::INVALID_VALUE);
        assert_eq!(set(&mut p, gl::TEXTURE_MAX_ANISOTROPY, &[f32::NAN]).expect_err("value").code, gl::INVALID_VALUE);
        assert_eq!(set(&mut p, gl::TEXTURE_BORDER_COLOR, &[1.0]).expect_err("scalar").code, gl::INVALID_ENUM);
        assert_eq!(set(&mut p, gl::TEXTURE_BASE_LEVEL, &[0.0]).expect("not ours"), None);
        assert_eq!(p, before);
    }

    #[test]
    fn border_colours_come_back_as_they_were_given() {
        let mut p = initial_parameters(Target::Tex2D);
        assert_eq!(set(&mut p, gl::TEXTURE_BORDER_COLOR, &[0.0, 0.5, 1.0, 2.0]).expect("legal"), Some(true));
        let Some(values) = get_parameter(&p, gl::TEXTURE_BORDER_COLOR, RULES) else { panic!("a border colour") };
        assert_eq!((0..4).map(|i| values.to_f32(i)).collect::<Vec<_>>(), [0.0, 0.5, 1.0, 2.0]);
        let ints = [-1, 2, 3, 4];
        let params = Params { data: ParamData::PureInts(&ints), scalar: false };
        set_parameter(&mut p, gl::TEXTURE_BORDER_COLOR, params, RULES, "test").expect("legal");
        let Some(values) = get_parameter(&p, gl::TEXTURE_BORDER_COLOR, RULES) else { panic!("a border colour") };
        assert_eq!(values.to_pure(0) as i32, -1);
        assert_eq!(p.border_color_form, 1);
    }
}
