//! `glGetTexLevelParameter*`.

use mgpipe_types::{gl, Target};

use super::target::{any_image_target, is_multisample};
use super::{Image, TexelBuffer};
use crate::boundary::Values;
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::format::{Base, ResolvedFormat};

/// Component that a size or type query asks about.
fn component(pname: u32) -> Option<usize> {
    Some(match pname {
        gl::TEXTURE_RED_SIZE | gl::TEXTURE_RED_TYPE => 0,
        gl::TEXTURE_GREEN_SIZE | gl::TEXTURE_GREEN_TYPE => 1,
        gl::TEXTURE_BLUE_SIZE | gl::TEXTURE_BLUE_TYPE => 2,
        gl::TEXTURE_ALPHA_SIZE | gl::TEXTURE_ALPHA_TYPE => 3,
        gl::TEXTURE_DEPTH_SIZE | gl::TEXTURE_DEPTH_TYPE => 4,
        gl::TEXTURE_STENCIL_SIZE => 5,
        _ => return None,
    })
}

/// The answer to a query of a format's components; `None` for another `pname`.
fn format_value(format: Option<&ResolvedFormat>, pname: u32) -> Option<u32> {
    let info = format.map(|f| f.info);
    Some(match pname {
        gl::TEXTURE_RED_SIZE
        | gl::TEXTURE_GREEN_SIZE
        | gl::TEXTURE_BLUE_SIZE
        | gl::TEXTURE_ALPHA_SIZE
        | gl::TEXTURE_DEPTH_SIZE
        | gl::TEXTURE_STENCIL_SIZE => {
            let index = component(pname)?;
            info.map_or(0, |f| u32::from(f.bits.get(index).copied().unwrap_or(0)))
        }
        gl::TEXTURE_RED_TYPE
        | gl::TEXTURE_GREEN_TYPE
        | gl::TEXTURE_BLUE_TYPE
        | gl::TEXTURE_ALPHA_TYPE
        | gl::TEXTURE_DEPTH_TYPE => {
            let index = component(pname)?;
            match info {
                Some(f) if f.bits.get(index).is_some_and(|&bits| bits != 0) => f.kind.gl_type(),
                _ => gl::NONE,
            }
        }
        gl::TEXTURE_SHARED_SIZE => info.map_or(0, |f| if f.gl == gl::RGB9_E5 { 5 } else { 0 }),
        // The initial internal format of an image that was never specified (GL 3.3 table 6.17).
        gl::TEXTURE_INTERNAL_FORMAT => info.map_or(gl::RGBA, |f| f.gl),
        gl::TEXTURE_COMPRESSED => u32::from(info.is_some_and(|f| f.is_compressed())),
        _ => return None,
    })
}

/// Bytes of a compressed image.
pub(super) fn compressed_bytes(image: &Image) -> Option<u64> {
    let blocks = image.format.info.blocks()?;
    blocks.desc().image_bytes(image.extent.width, image.extent.height, image.extent.depth)
}

fn image_value(image: Option<&Image>, pname: u32) -> GlResult<Option<i64>> {
    let size = |pick: fn(&Image) -> u32| Ok(Some(i64::from(image.map_or(0, pick))));
    match pname {
        gl::TEXTURE_WIDTH => size(|i| i.extent.width),
        gl::TEXTURE_HEIGHT => size(|i| i.extent.height),
        gl::TEXTURE_DEPTH => size(|i| i.extent.depth),
        gl::TEXTURE_SAMPLES => size(|i| i.samples),
        gl::TEXTURE_FIXED_SAMPLE_LOCATIONS => Ok(Some(i64::from(image.is_none_or(|i| i.fixed_locations)))),
        gl::TEXTURE_COMPRESSED_IMAGE_SIZE => match image.and_then(compressed_bytes) {
            Some(bytes) => Ok(Some(bytes as i64)),
            None => Err(invalid_operation("glGetTexLevelParameter: the image is not compressed")),
        },
        _ => Ok(format_value(image.map(|i| &i.format), pname).map(i64::from)),
    }
}

fn buffer_value(texels: Option<&TexelBuffer>, pname: u32) -> GlResult<Option<i64>> {
    Ok(match pname {
        gl::TEXTURE_WIDTH => Some(texels.map_or(0, |t| i64::from(t.texels()))),
        gl::TEXTURE_HEIGHT | gl::TEXTURE_DEPTH => Some(i64::from(texels.is_some())),
        gl::TEXTURE_SAMPLES => Some(0),
        gl::TEXTURE_FIXED_SAMPLE_LOCATIONS => Some(1),
        gl::TEXTURE_BUFFER_DATA_STORE_BINDING => Some(texels.map_or(0, |t| i64::from(t.buffer.name))),
        gl::TEXTURE_BUFFER_OFFSET => Some(texels.map_or(0, |t| t.offset as i64)),
        gl::TEXTURE_BUFFER_SIZE => Some(texels.map_or(0, |t| t.bytes() as i64)),
        _ => format_value(texels.map(|t| &t.format), pname).map(i64::from),
    })
}

impl Context {
    /// `glGetTexLevelParameter*`.
    pub fn get_tex_level_parameter(&mut self, target: u32, level: i32, pname: u32) -> Option<Values> {
        let command = "glGetTexLevelParameter";
        self.gl(|ctx| {
            let at = any_image_target(target).ok_or_else(|| invalid_enum(format!("{command}: target")))?;
            let level = ctx.state.check_level(at.target, level, command)?;
            let unknown = || invalid_enum(format!("{command}: pname {pname:#x}"));
            let value = if at.proxy && pname == gl::TEXTURE_BUFFER_DATA_STORE_BINDING {
                Some(0)
            } else if at.proxy {
                image_value(ctx.state.textures.proxy(at.target, level), pname)?
            } else {
                let texture = ctx.state.current_texture(at.target)?;
                let inner = texture.lock();
                if at.target == Target::TexBuffer && pname == gl::TEXTURE_INTERNAL_FORMAT {
                    Some(i64::from(inner.texel_format))
                } else if at.target == Target::TexBuffer {
                    buffer_value(inner.texel_buffer.as_ref(), pname)?
                } else {
                    match pname {
                        gl::TEXTURE_BUFFER_DATA_STORE_BINDING => Some(0),
                        _ => image_value(inner.image(at.face, level), pname)?,
                    }
                }
            };
            let value = value.ok_or_else(unknown)?;
            Ok(Some(match pname {
                gl::TEXTURE_COMPRESSED | gl::TEXTURE_FIXED_SAMPLE_LOCATIONS => Values::bool(value != 0),
                _ => Values::int(value),
            }))
        })
    }

    /// Checks that an image command's level exists for a target, with the error of a query.
    pub(super) fn level_of_query(&self, target: Target, level: i32, command: &'static str) -> GlResult<u32> {
        if is_multisample(target) || target == Target::TexBuffer {
            return Err(invalid_enum(format!("{command}: target")));
        }
        if level < 0 {
            return Err(invalid_value(format!("{command}: level")));
        }
        self.state.check_level(target, level, command)
    }
}

/// Whether a base format has a component that a size query names; used by framebuffer queries too.
pub(crate) fn has_component(base: Base, index: usize) -> bool {
    match base {
        Base::Depth => index == 4,
        Base::Stencil => index == 5,
        Base::DepthStencil => index >= 4,
        Base::Red => index == 0,
        Base::Rg => index <= 1,
        Base::Rgb => index <= 2,
        Base::Rgba => index <= 3,
        _ => false,
    }
}
