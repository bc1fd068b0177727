//! `glGetFramebufferAttachmentParameteriv`, and what `glGet` says about framebuffers, textures and pixels.

use mgpipe_types::{gl, Target};

use super::attach::{points, Points};
use super::{binding, Attachment, Binding, Described};
use crate::boundary::Values;
use crate::context::{Context, ContextState};
use crate::error::{invalid_enum, invalid_operation, GlResult};
use crate::format::ComponentKind;
use crate::texture::has_component;

/// `GL_RGBA_INTEGER_MODE_EXT` of `GL_EXT_texture_integer`: whether a colour attachment holds integers.
const RGBA_INTEGER_MODE: u32 = 0x8D9E;

/// The attachment that a query names.
struct Found {
    attachment: Attachment,
    is_window: bool,
    /// `GL_DEPTH_STENCIL_ATTACHMENT` with different images.
    split: bool,
}

impl ContextState {
    fn attachment_of_query(&self, which: Binding, attachment: u32, command: &'static str) -> GlResult<Found> {
        let framebuffers = &self.framebuffers;
        let object = match which {
            Binding::Draw => framebuffers.draw(),
            Binding::Read => framebuffers.read(),
        };
        let Some(framebuffer) = object else {
            let window = &framebuffers.window;
            let attachment = match attachment {
                gl::FRONT_LEFT | gl::BACK_LEFT | gl::FRONT | gl::BACK => {
                    if window.has_buffer(which, attachment) == Some(true) {
                        window.color(which)
                    } else {
                        Attachment::None
                    }
                }
                gl::FRONT_RIGHT | gl::BACK_RIGHT => Attachment::None,
                gl::DEPTH => window.depth(which),
                gl::STENCIL => window.stencil(which),
                // Names of framebuffer objects are an operation error here, everything else an unknown enumerant.
                _ if points(attachment, command).is_ok() => {
                    return Err(invalid_operation(format!("{command}: the default framebuffer is bound")))
                }
                _ => return Err(invalid_enum(format!("{command}: attachment"))),
            };
            return Ok(Found { attachment, is_window: true, split: false });
        };
        if matches!(attachment, gl::FRONT_LEFT..=gl::FRONT_AND_BACK | gl::DEPTH | gl::STENCIL) {
            return Err(invalid_operation(format!("{command}: a framebuffer object has no such buffer")));
        }
        let (found, split) = match points(attachment, command)? {
            Points::Color(index) => (framebuffer.color.get(index).map_or(Attachment::None, Attachment::share), false),
            Points::Depth => (framebuffer.depth.share(), false),
            Points::Stencil => (framebuffer.stencil.share(), false),
            Points::DepthStencil => (framebuffer.depth.share(), !framebuffer.depth.same_image(&framebuffer.stencil)),
        };
        Ok(Found { attachment: found, is_window: false, split })
    }

    /// The value of a `glGet` query about textures, samplers, framebuffers and renderbuffers; `None` for any other.
    pub(crate) fn image_value(&self, pname: u32) -> Option<Values> {
        let framebuffers = &self.framebuffers;
        let textures = &self.textures;
        let bound = |target| Some(Values::int(textures.bound_name(textures.active(), target)));
        match pname {
            gl::ACTIVE_TEXTURE => Some(Values::int(gl::TEXTURE0 + textures.active())),
            gl::TEXTURE_BINDING_1D => bound(Target::Tex1D),
            gl::TEXTURE_BINDING_2D => bound(Target::Tex2D),
            gl::TEXTURE_BINDING_3D => bound(Target::Tex3D),
            gl::TEXTURE_BINDING_1D_ARRAY => bound(Target::Tex1DArray),
            gl::TEXTURE_BINDING_2D_ARRAY => bound(Target::Tex2DArray),
            gl::TEXTURE_BINDING_RECTANGLE => bound(Target::TexRect),
            gl::TEXTURE_BINDING_CUBE_MAP => bound(Target::TexCube),
            gl::TEXTURE_BINDING_BUFFER => bound(Target::TexBuffer),
            gl::TEXTURE_BINDING_2D_MULTISAMPLE => bound(Target::Tex2DMs),
            gl::TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY => bound(Target::Tex2DMsArray),
            gl::TEXTURE_BUFFER_FORMAT_ARB => {
                let texture = textures.bound(textures.active(), Target::TexBuffer);
                Some(Values::int(texture.map_or(gl::R8, |t| t.lock().texel_format)))
            }
            gl::SAMPLER_BINDING => Some(Values::int(textures.sampler(textures.active()).map_or(0, |s| s.name))),
            gl::DRAW_FRAMEBUFFER_BINDING => Some(Values::int(framebuffers.draw_name())),
            gl::READ_FRAMEBUFFER_BINDING => Some(Values::int(framebuffers.read_name())),
            gl::RENDERBUFFER_BINDING => Some(Values::int(self.renderbuffer.as_ref().map_or(0, |r| r.name))),
            gl::DRAW_BUFFER => Some(Values::int(self.draw_buffers()[0])),
            gl::DRAW_BUFFER0..=gl::DRAW_BUFFER15 => {
                let buffers = self.draw_buffers();
                buffers.get((pname - gl::DRAW_BUFFER0) as usize).map(|&b| Values::int(b))
            }
            gl::READ_BUFFER => Some(Values::int(self.read_buffer())),
            gl::SAMPLES => Some(Values::int(self.draw_samples())),
            gl::SAMPLE_BUFFERS => Some(Values::int(u32::from(self.draw_samples() > 0))),
            gl::DOUBLEBUFFER => {
                Some(Values::bool(framebuffers.window.desc(Binding::Draw).is_some_and(|d| d.double_buffered)))
            }
            RGBA_INTEGER_MODE => Some(Values::bool(framebuffers.draw().is_some_and(|f| {
                f.color.iter().filter_map(Attachment::describe).any(|image| image.format.info.is_integer())
            }))),
            gl::STEREO => Some(Values::bool(false)),
            gl::IMPLEMENTATION_COLOR_READ_FORMAT => Some(Values::int(self.read_format().0)),
            gl::IMPLEMENTATION_COLOR_READ_TYPE => Some(Values::int(self.read_format().1)),
            gl::COMPRESSED_TEXTURE_FORMATS => Some(Values::ints(self.share.formats.compressed_formats())),
            gl::NUM_COMPRESSED_TEXTURE_FORMATS => {
                Some(Values::int(self.share.formats.compressed_formats().len() as i64))
            }
            _ => None,
        }
    }

    /// Format and type in which `glReadPixels` is quick.
    fn read_format(&self) -> (u32, u32) {
        let described = self.framebuffers.read_color().and_then(|a| a.describe());
        match described.map(|d| d.format.info) {
            Some(info) if info.is_integer() => match info.kind {
                ComponentKind::Sint => (gl::RGBA_INTEGER, gl::INT),
                _ => (gl::RGBA_INTEGER, gl::UNSIGNED_INT),
            },
            Some(info) if info.kind == ComponentKind::Float => (gl::RGBA, gl::FLOAT),
            _ => (gl::RGBA, gl::UNSIGNED_BYTE),
        }
    }
}

fn component_bits(described: &Described, index: usize) -> i32 {
    let info = described.format.info;
    let exists = has_component(info.base, index);
    if exists {
        i32::from(info.bits[index])
    } else {
        0
    }
}

impl Context {
    /// `glGetFramebufferAttachmentParameteriv`.
    pub fn get_framebuffer_attachment_parameter(&mut self, target: u32, attachment: u32, pname: u32) -> Option<i32> {
        let command = "glGetFramebufferAttachmentParameteriv";
        self.gl(|ctx| {
            let which = binding(target, command)?;
            let found = ctx.state.attachment_of_query(which, attachment, command)?;
            if found.split {
                return Err(invalid_operation(format!("{command}: depth and stencil are different images")));
            }
            let kind = match (&found.attachment, found.is_window) {
                (Attachment::None, _) => gl::NONE,
                (_, true) => gl::FRAMEBUFFER_DEFAULT,
                (Attachment::Texture(_), _) => gl::TEXTURE,
                (Attachment::Renderbuffer(_), _) => gl::RENDERBUFFER,
            };
            if pname == gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE {
                return Ok(Some(kind as i32));
            }
            let unknown = || invalid_enum(format!("{command}: pname {pname:#x}"));
            if kind == gl::NONE {
                return match pname {
                    gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME => Ok(Some(0)),
                    _ => Err(invalid_operation(format!("{command}: nothing is attached"))),
                };
            }
            let described = found.attachment.describe();
            let bits = |index| Ok(Some(described.as_ref().map_or(0, |d| component_bits(d, index))));
            match pname {
                gl::FRAMEBUFFER_ATTACHMENT_RED_SIZE => return bits(0),
                gl::FRAMEBUFFER_ATTACHMENT_GREEN_SIZE => return bits(1),
                gl::FRAMEBUFFER_ATTACHMENT_BLUE_SIZE => return bits(2),
                gl::FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE => return bits(3),
                gl::FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE => return bits(4),
                gl::FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE => return bits(5),
                gl::FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE => {
                    if attachment == gl::DEPTH_STENCIL_ATTACHMENT {
                        return Err(invalid_operation(format!("{command}: depth and stencil have different types")));
                    }
                    let stencil = matches!(attachment, gl::STENCIL_ATTACHMENT | gl::STENCIL);
                    let type_ = described.as_ref().map_or(gl::NONE, |d| d.format.info.kind.gl_type());
                    return Ok(Some(if stencil { gl::UNSIGNED_INT } else { type_ } as i32));
                }
                gl::FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING => {
                    let srgb = described.as_ref().is_some_and(|d| d.format.info.srgb);
                    return Ok(Some(if srgb { gl::SRGB } else { gl::LINEAR } as i32));
                }
                _ => {}
            }
            match &found.attachment {
                Attachment::Renderbuffer(renderbuffer) if !found.is_window => match pname {
                    gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME => Ok(Some(renderbuffer.name as i32)),
                    _ => Err(unknown()),
                },
                Attachment::Texture(image) => match pname {
                    gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME => Ok(Some(image.texture.name as i32)),
                    gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL => Ok(Some(image.level as i32)),
                    gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE => {
                        Ok(Some(if image.texture.target == Target::TexCube && !image.layered {
                            gl::TEXTURE_CUBE_MAP_POSITIVE_X + image.face as u32
                        } else {
                            0
                        } as i32))
                    }
                    gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER => Ok(Some(image.layer as i32)),
                    gl::FRAMEBUFFER_ATTACHMENT_LAYERED => Ok(Some(i32::from(image.layered))),
                    _ => Err(unknown()),
                },
                // The default framebuffer has no object behind its images.
                _ => Err(unknown()),
            }
        })
    }
}
