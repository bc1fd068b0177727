//! `glFramebufferTexture*` and `glFramebufferRenderbuffer`.

use std::sync::Arc;

use mgpipe_tracker::{Aggregate, Counter};
use mgpipe_types::{gl, Target};

use super::{binding, color_index, Attachment, Framebuffer, TextureAttachment, MAX_COLOR_ATTACHMENTS};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::texture::{single_level, Texture};

/// Points that one attachment enumerant names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Points {
    Color(usize),
    Depth,
    Stencil,
    DepthStencil,
}

pub(super) fn points(attachment: u32, command: &'static str) -> GlResult<Points> {
    match attachment {
        gl::DEPTH_ATTACHMENT => Ok(Points::Depth),
        gl::STENCIL_ATTACHMENT => Ok(Points::Stencil),
        gl::DEPTH_STENCIL_ATTACHMENT => Ok(Points::DepthStencil),
        _ => match color_index(attachment) {
            Some(index) if index < MAX_COLOR_ATTACHMENTS => Ok(Points::Color(index)),
            // An attachment beyond the limit is an operation error, not an unknown enumerant (GL 3.3 section 4.4.2).
            Some(_) => Err(invalid_operation(format!("{command}: attachment beyond GL_MAX_COLOR_ATTACHMENTS"))),
            None => Err(invalid_enum(format!("{command}: attachment"))),
        },
    }
}

impl Framebuffer {
    fn attach(&mut self, points: Points, make: impl Fn() -> Attachment) {
        match points {
            Points::Color(index) => {
                if let Some(slot) = self.color.get_mut(index) {
                    *slot = make();
                }
            }
            Points::Depth => self.depth = make(),
            Points::Stencil => self.stencil = make(),
            Points::DepthStencil => {
                self.depth = make();
                self.stencil = make();
            }
        }
        self.version += 1;
    }
}

impl Context {
    fn attach(
        &mut self,
        target: u32,
        attachment: u32,
        command: &'static str,
        make: impl Fn() -> Attachment,
    ) -> GlResult {
        let binding = binding(target, command)?;
        let points = points(attachment, command)?;
        let name = self.state.framebuffer_name(binding);
        let framebuffer = self.state.framebuffers.objects.get_mut(name);
        let framebuffer =
            framebuffer.ok_or_else(|| invalid_operation(format!("{command}: the default framebuffer is bound")))?;
        framebuffer.attach(points, make);
        self.state.generations.bump(Counter::Framebuffer);
        self.state.share.aggregates.bump(Aggregate::Attachment);
        Ok(())
    }

    /// Checks what every attach command checks first, so that errors come in the specified order.
    fn check_attach(&mut self, target: u32, attachment: u32, command: &'static str) -> GlResult {
        let binding = binding(target, command)?;
        points(attachment, command)?;
        if self.state.framebuffer_name(binding) == 0 {
            return Err(invalid_operation(format!("{command}: the default framebuffer is bound")));
        }
        Ok(())
    }

    fn attachable_texture(&self, texture: u32, command: &'static str) -> GlResult<Arc<Texture>> {
        let object = self.state.share.textures.get(texture);
        object.ok_or_else(|| invalid_operation(format!("{command}: {texture} is no texture")))
    }

    fn attach_level(&self, target: Target, level: i32, command: &'static str) -> GlResult<u32> {
        if single_level(target) && level != 0 {
            return Err(invalid_value(format!("{command}: the target has level 0 only")));
        }
        self.state.check_level(target, level, command)
    }

    fn attach_image(
        &mut self,
        target: u32,
        attachment: u32,
        command: &'static str,
        image: Option<TextureAttachment>,
    ) -> GlResult {
        self.attach(target, attachment, command, || match &image {
            Some(image) => Attachment::Texture(image.clone()),
            None => Attachment::None,
        })
    }

    /// `glFramebufferTexture1D`.
    pub fn framebuffer_texture_1d(&mut self, target: u32, attachment: u32, textarget: u32, texture: u32, level: i32) {
        self.gl(|ctx| {
            ctx.texture_with_target(1, target, attachment, textarget, texture, level, 0, "glFramebufferTexture1D")
        });
    }

    /// `glFramebufferTexture2D`.
    pub fn framebuffer_texture_2d(&mut self, target: u32, attachment: u32, textarget: u32, texture: u32, level: i32) {
        self.gl(|ctx| {
            ctx.texture_with_target(2, target, attachment, textarget, texture, level, 0, "glFramebufferTexture2D")
        });
    }

    /// `glFramebufferTexture3D`.
    pub fn framebuffer_texture_3d(
        &mut self,
        target: u32,
        attachment: u32,
        textarget: u32,
        texture: u32,
        level: i32,
        zoffset: i32,
    ) {
        let command = "glFramebufferTexture3D";
        self.gl(|ctx| ctx.texture_with_target(3, target, attachment, textarget, texture, level, zoffset, command));
    }

    fn texture_with_target(
        &mut self,
        dims: u32,
        target: u32,
        attachment: u32,
        textarget: u32,
        texture: u32,
        level: i32,
        layer: i32,
        command: &'static str,
    ) -> GlResult {
        self.check_attach(target, attachment, command)?;
        if texture == 0 {
            return self.attach_image(target, attachment, command, None);
        }
        let (wanted, face) = match (dims, textarget) {
            (1, gl::TEXTURE_1D) => (Target::Tex1D, 0),
            (2, gl::TEXTURE_2D) => (Target::Tex2D, 0),
            (2, gl::TEXTURE_RECTANGLE) => (Target::TexRect, 0),
            (2, gl::TEXTURE_2D_MULTISAMPLE) => (Target::Tex2DMs, 0),
            (2, gl::TEXTURE_CUBE_MAP_POSITIVE_X..=gl::TEXTURE_CUBE_MAP_NEGATIVE_Z) => {
                (Target::TexCube, (textarget - gl::TEXTURE_CUBE_MAP_POSITIVE_X) as usize)
            }
            (3, gl::TEXTURE_3D) => (Target::Tex3D, 0),
            // A target that exists but does not go with the command is an operation error.
            _ if crate::texture::any_image_target(textarget).is_some() || textarget == gl::TEXTURE_CUBE_MAP => {
                return Err(invalid_operation(format!("{command}: texture target")));
            }
            _ => return Err(invalid_enum(format!("{command}: texture target"))),
        };
        let object = self.attachable_texture(texture, command)?;
        if object.target != wanted {
            return Err(invalid_operation(format!("{command}: the texture has another target")));
        }
        let level = self.attach_level(wanted, level, command)?;
        let layer = u32::try_from(layer).map_err(|_| invalid_value(format!("{command}: negative slice")))?;
        if wanted == Target::Tex3D && layer >= self.state.share.limits.texture_3d_size {
            return Err(invalid_value(format!("{command}: slice {layer}")));
        }
        let image = TextureAttachment { texture: object, level, face, layer, layered: false };
        self.attach_image(target, attachment, command, Some(image))
    }

    /// `glFramebufferTextureLayer`.
    pub fn framebuffer_texture_layer(&mut self, target: u32, attachment: u32, texture: u32, level: i32, layer: i32) {
        let command = "glFramebufferTextureLayer";
        self.gl(|ctx| {
            ctx.check_attach(target, attachment, command)?;
            if texture == 0 {
                return ctx.attach_image(target, attachment, command, None);
            }
            let object = ctx.attachable_texture(texture, command)?;
            let limits = &ctx.state.share.limits;
            let most = match object.target {
                Target::Tex3D => limits.texture_3d_size,
                Target::Tex1DArray | Target::Tex2DArray | Target::Tex2DMsArray | Target::TexCubeArray => {
                    limits.array_layers
                }
                _ => return Err(invalid_operation(format!("{command}: the texture has no layers"))),
            };
            let layer = u32::try_from(layer).map_err(|_| invalid_value(format!("{command}: negative layer")))?;
            if layer >= most {
                return Err(invalid_value(format!("{command}: layer {layer}")));
            }
            let level = ctx.attach_level(object.target, level, command)?;
            let image = TextureAttachment { texture: object, level, face: 0, layer, layered: false };
            ctx.attach_image(target, attachment, command, Some(image))
        });
    }

    /// `glFramebufferTexture`: all layers of a level.
    pub fn framebuffer_texture(&mut self, target: u32, attachment: u32, texture: u32, level: i32) {
        let command = "glFramebufferTexture";
        self.gl(|ctx| {
            ctx.check_attach(target, attachment, command)?;
            if texture == 0 {
                return ctx.attach_image(target, attachment, command, None);
            }
            let object = ctx.state.share.textures.get(texture);
            let object = object.ok_or_else(|| invalid_value(format!("{command}: {texture} is no texture")))?;
            if object.target == Target::TexBuffer {
                return Err(invalid_operation(format!("{command}: buffer textures cannot be attached")));
            }
            let level = ctx.attach_level(object.target, level, command)?;
            let layered = matches!(
                object.target,
                Target::Tex3D
                    | Target::Tex1DArray
                    | Target::Tex2DArray
                    | Target::Tex2DMsArray
                    | Target::TexCube
                    | Target::TexCubeArray
            );
            let image = TextureAttachment { texture: object, level, face: 0, layer: 0, layered };
            ctx.attach_image(target, attachment, command, Some(image))
        });
    }

    /// `glFramebufferRenderbuffer`.
    pub fn framebuffer_renderbuffer(
        &mut self,
        target: u32,
        attachment: u32,
        renderbuffertarget: u32,
        renderbuffer: u32,
    ) {
        let command = "glFramebufferRenderbuffer";
        self.gl(|ctx| {
            ctx.check_attach(target, attachment, command)?;
            if renderbuffertarget != gl::RENDERBUFFER {
                return Err(invalid_enum(format!("{command}: renderbuffer target")));
            }
            let object = if renderbuffer == 0 {
                None
            } else {
                let object = ctx.state.share.renderbuffers.get(renderbuffer);
                Some(object.ok_or_else(|| invalid_operation(format!("{command}: no such renderbuffer")))?)
            };
            ctx.attach(target, attachment, command, || match &object {
                Some(object) => Attachment::Renderbuffer(object.clone()),
                None => Attachment::None,
            })
        });
    }
}
