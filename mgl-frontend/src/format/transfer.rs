//! Which pixel formats a texture of some internal format accepts and answers.

use super::InternalFormat;
use crate::pixel::{ClientFormat, Components};
use mgpipe_types::gl;

/// Direction of a transfer between the application and a texture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransferUse {
    /// `glTexImage*` and `glTexSubImage*`.
    Upload,
    /// `glGetTexImage`.
    Readback,
}

/// Checks a pixel format against a texture's internal format (GL 3.3 sections 3.9.1 and 6.1.4).
///
/// # Errors
/// The GL error that the combination raises, with a short reason.
pub fn check_texture_transfer(
    info: &InternalFormat,
    client: &ClientFormat,
    direction: TransferUse,
) -> Result<(), (u32, &'static str)> {
    let invalid = |reason| Err((gl::INVALID_OPERATION, reason));
    match client.shape.components {
        Components::Stencil => {
            if info.base.has_stencil() && (direction == TransferUse::Readback || !info.base.has_depth()) {
                return Ok(());
            }
            // Stencil alone is no texture upload format before stencil textures exist.
            if direction == TransferUse::Upload && !info.base.has_stencil() && info.base.is_color() {
                return Err((gl::INVALID_ENUM, "GL_STENCIL_INDEX is no format of a texture image"));
            }
            invalid("the texture has no stencil that can be transferred alone")
        }
        Components::Depth | Components::DepthStencil => {
            if info.base.is_color() {
                return invalid("depth data for a colour texture");
            }
            if client.shape.components == Components::DepthStencil
                && !(info.base.has_depth() && (info.base.has_stencil() || direction == TransferUse::Upload))
            {
                return invalid("depth-stencil data and the texture has no stencil");
            }
            if !info.base.has_depth() {
                return invalid("depth data for a stencil texture");
            }
            Ok(())
        }
        Components::Color => {
            if !info.base.is_color() {
                return invalid("colour data for a depth or stencil texture");
            }
            if client.shape.integer != info.is_integer() {
                return invalid("integer and non-integer formats do not mix");
            }
            Ok(())
        }
    }
}
