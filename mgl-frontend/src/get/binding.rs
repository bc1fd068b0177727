//! Names of what is bound.

use std::sync::Arc;

use mgpipe_types::{gl, Target};

use crate::boundary::Values;
use crate::buffer::Buffer;
use crate::context::ContextState;
use crate::limits::MAX_VERSION;

fn name(buffer: Option<&Arc<Buffer>>) -> Values {
    Values::int(buffer.map_or(0, |b| b.name))
}

impl ContextState {
    /// A binding of buffers, vertex arrays or programs.
    pub(super) fn binding_value(&self, pname: u32) -> Option<Values> {
        let b = &self.buffers;
        Some(match pname {
            gl::ARRAY_BUFFER_BINDING => name(b.array.as_ref()),
            gl::ELEMENT_ARRAY_BUFFER_BINDING => name(self.arrays.current().element()),
            // The enum of the target and of its binding are the same number for these two.
            gl::COPY_READ_BUFFER => name(b.copy_read.as_ref()),
            gl::COPY_WRITE_BUFFER => name(b.copy_write.as_ref()),
            gl::PIXEL_PACK_BUFFER_BINDING => name(b.pixel_pack.as_ref()),
            gl::PIXEL_UNPACK_BUFFER_BINDING => name(b.pixel_unpack.as_ref()),
            gl::TEXTURE_BUFFER => name(b.texture.as_ref()),
            gl::TEXTURE_BUFFER_DATA_STORE_BINDING => {
                let texture = self.textures.texture(self.textures.active(), Target::TexBuffer);
                Values::int(texture.map_or(0, |t| t.lock().texel_buffer.as_ref().map_or(0, |b| b.buffer.name)))
            }
            gl::UNIFORM_BUFFER_BINDING => name(b.uniform.as_ref()),
            gl::TRANSFORM_FEEDBACK_BUFFER_BINDING => name(b.transform_feedback.as_ref()),
            gl::VERTEX_ARRAY_BINDING => Values::int(self.arrays.bound()),
            gl::CURRENT_PROGRAM => Values::int(self.program.name()),
            gl::TRANSFORM_FEEDBACK_ACTIVE if MAX_VERSION >= (4, 0) => Values::bool(self.xfb.is_active()),
            gl::TRANSFORM_FEEDBACK_PAUSED if MAX_VERSION >= (4, 0) => Values::bool(self.xfb.is_paused()),
            _ => return None,
        })
    }
}
