//! Binding points of buffers: generic targets, indexed uniform and transform-feedback points, names.

use std::sync::Arc;

use mgpipe_tracker::Counter;
use mgpipe_types::{gl, BufferRange, Handle, TypedHandle};

use super::Buffer;
use crate::context::{Context, ContextState};
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};

/// One indexed binding point.
#[derive(Debug, Clone, Default)]
pub(crate) struct RangeBinding {
    /// The buffer.
    pub(crate) buffer: Option<Arc<Buffer>>,
    /// First byte.
    pub(crate) offset: u64,
    /// Length; `None` follows the buffer's size (`glBindBufferBase`).
    pub(crate) size: Option<u64>,
}

impl RangeBinding {
    /// The range as it is now: cut to the storage, since the storage may have changed after the bind.
    pub(crate) fn resolve(&self) -> BufferRange {
        match &self.buffer {
            Some(buffer) => {
                let rest = buffer.size().saturating_sub(self.offset);
                let size = self.size.map_or(rest, |size| size.min(rest));
                if size == 0 {
                    return BufferRange::default();
                }
                BufferRange { res: buffer.handle.raw(), offset: self.offset, size }
            }
            None => BufferRange { res: Handle::NULL, offset: 0, size: 0 },
        }
    }

    /// GL name of the bound buffer.
    pub(crate) fn name(&self) -> u32 {
        self.buffer.as_ref().map_or(0, |b| b.name)
    }
}

/// Buffer bindings of a context, except the element array, which belongs to the vertex array.
#[derive(Debug)]
pub(crate) struct BufferBindings {
    /// `GL_ARRAY_BUFFER`.
    pub(crate) array: Option<Arc<Buffer>>,
    /// `GL_COPY_READ_BUFFER`.
    pub(crate) copy_read: Option<Arc<Buffer>>,
    /// `GL_COPY_WRITE_BUFFER`.
    pub(crate) copy_write: Option<Arc<Buffer>>,
    /// `GL_PIXEL_PACK_BUFFER`.
    pub(crate) pixel_pack: Option<Arc<Buffer>>,
    /// `GL_PIXEL_UNPACK_BUFFER`.
    pub(crate) pixel_unpack: Option<Arc<Buffer>>,
    /// `GL_TEXTURE_BUFFER`.
    pub(crate) texture: Option<Arc<Buffer>>,
    /// `GL_UNIFORM_BUFFER`.
    pub(crate) uniform: Option<Arc<Buffer>>,
    /// `GL_TRANSFORM_FEEDBACK_BUFFER`.
    pub(crate) transform_feedback: Option<Arc<Buffer>>,
    /// Indexed `GL_UNIFORM_BUFFER` points.
    pub(crate) uniform_ranges: Vec<RangeBinding>,
    /// One past the highest uniform point that was ever bound.
    pub(crate) uniform_touched: usize,
}

impl BufferBindings {
    /// Nothing bound.
    pub(crate) fn new(uniform_points: u32) -> BufferBindings {
        BufferBindings {
            array: None,
            copy_read: None,
            copy_write: None,
            pixel_pack: None,
            pixel_unpack: None,
            texture: None,
            uniform: None,
            transform_feedback: None,
            uniform_ranges: vec![RangeBinding::default(); uniform_points as usize],
            uniform_touched: 0,
        }
    }
}

impl ContextState {
    /// The generic binding point of a target.
    fn buffer_point(&mut self, target: u32) -> Option<&mut Option<Arc<Buffer>>> {
        let b = &mut self.buffers;
        Some(match target {
            gl::ARRAY_BUFFER => &mut b.array,
            gl::COPY_READ_BUFFER => &mut b.copy_read,
            gl::COPY_WRITE_BUFFER => &mut b.copy_write,
            gl::PIXEL_PACK_BUFFER => &mut b.pixel_pack,
            gl::PIXEL_UNPACK_BUFFER => &mut b.pixel_unpack,
            gl::TEXTURE_BUFFER => &mut b.texture,
            gl::UNIFORM_BUFFER => &mut b.uniform,
            gl::TRANSFORM_FEEDBACK_BUFFER => &mut b.transform_feedback,
            gl::ELEMENT_ARRAY_BUFFER => self.arrays.element_array_mut(),
            _ => return None,
        })
    }

    /// The buffer bound to a target.
    ///
    /// # Errors
    /// `GL_INVALID_ENUM` for no buffer target, `GL_INVALID_OPERATION` when nothing is bound.
    pub(crate) fn bound_buffer(&mut self, target: u32, command: &'static str) -> GlResult<Arc<Buffer>> {
        match self.buffer_point(target) {
            None => Err(invalid_enum(format!("{command}: target"))),
            Some(None) => Err(invalid_operation(format!("{command}: no buffer is bound"))),
            Some(Some(buffer)) => Ok(buffer.clone()),
        }
    }

    /// The buffer of a name that `glGenBuffers` reserved or that lives; `None` for name 0.
    ///
    /// # Errors
    /// `GL_INVALID_OPERATION` for an invented name: the core profile has no others.
    pub(crate) fn buffer_by_name(&self, name: u32, command: &'static str) -> GlResult<Option<Arc<Buffer>>> {
        if name == 0 {
            return Ok(None);
        }
        if let Some(buffer) = self.share.buffers.get(name) {
            return Ok(Some(buffer));
        }
        if self.relaxed {
            self.share.buffers.claim(name);
        }
        // Made outside the table's lock; a second context that races for the same name only wastes one handle.
        let fresh = Buffer::new(&self.share.core, name)?;
        match self.share.buffers.get_or_create(name, || fresh) {
            Some(buffer) => Ok(Some(buffer)),
            None => Err(invalid_operation(format!("{command}: buffer name was not generated"))),
        }
    }

    /// Removes a buffer that is being deleted from every binding point of this context.
    fn unbind_buffer(&mut self, buffer: &Arc<Buffer>) {
        let is = |point: &Option<Arc<Buffer>>| point.as_ref().is_some_and(|b| Arc::ptr_eq(b, buffer));
        let b = &mut self.buffers;
        for point in [
            &mut b.array,
            &mut b.copy_read,
            &mut b.copy_write,
            &mut b.pixel_pack,
            &mut b.pixel_unpack,
            &mut b.texture,
            &mut b.uniform,
            &mut b.transform_feedback,
        ] {
            if is(point) {
                *point = None;
            }
        }
        for range in &mut b.uniform_ranges[..b.uniform_touched] {
            if is(&range.buffer) {
                *range = RangeBinding::default();
                self.generations.bump(Counter::UniformBuffers);
            }
        }
        if self.xfb.unbind_buffer(buffer) {
            self.generations.bump(Counter::StreamOutput);
        }
        if self.arrays.unbind_buffer(buffer) {
            self.generations.bump(Counter::VertexArray);
        }
    }
}

impl Context {
    /// `glGenBuffers`.
    pub fn gen_buffers(&mut self, names: &mut [u32]) {
        self.state.share.buffers.generate(names);
    }

    /// `glDeleteBuffers`.
    pub fn delete_buffers(&mut self, names: &[u32]) {
        for &name in names.iter().filter(|&&name| name != 0) {
            if let Some(Some(buffer)) = self.state.share.buffers.remove(name) {
                self.state.unbind_buffer(&buffer);
                self.state.debug.forget_label(gl::BUFFER, name as usize);
                // GL 4.6 §6.3.1: deletion ends a mapping, and what was written to it counts.
                self.end_mapping(&buffer);
            }
        }
    }

    /// `glIsBuffer`.
    pub fn is_buffer(&mut self, buffer: u32) -> bool {
        self.state.share.buffers.get(buffer).is_some()
    }

    /// `glBindBuffer`.
    pub fn bind_buffer(&mut self, target: u32, buffer: u32) {
        self.gl(|ctx| {
            let state = &mut ctx.state;
            // Binding what is bound already must not touch any table: loaders do it all the time.
            match state.buffer_point(target) {
                None => return Err(invalid_enum("glBindBuffer: target")),
                Some(None) if buffer == 0 => return Ok(()),
                Some(_) => {}
            }
            let object = state.buffer_by_name(buffer, "glBindBuffer")?;
            if target == gl::ELEMENT_ARRAY_BUFFER {
                if let Some(object) = &object {
                    object.used_as_element_array();
                    ctx.attach_buffer(object)?;
                }
                *ctx.state.arrays.element_array_mut() = object;
                ctx.state.generations.bump(Counter::IndexBuffer);
            } else if let Some(point) = state.buffer_point(target) {
                *point = object;
            }
            Ok(())
        });
    }

    /// `glBindBufferBase`.
    pub fn bind_buffer_base(&mut self, target: u32, index: u32, buffer: u32) {
        self.gl(|ctx| ctx.bind_range(target, index, buffer, None, "glBindBufferBase"));
    }

    /// `glBindBufferRange`.
    pub fn bind_buffer_range(&mut self, target: u32, index: u32, buffer: u32, offset: isize, size: isize) {
        self.gl(|ctx| ctx.bind_range(target, index, buffer, Some((offset, Some(size))), "glBindBufferRange"));
    }

    /// `glBindBufferOffsetEXT` of `GL_EXT_transform_feedback`: from an offset to wherever the buffer ends.
    pub fn bind_buffer_offset_ext(&mut self, target: u32, index: u32, buffer: u32, offset: isize) {
        self.gl(|ctx| {
            if target != gl::TRANSFORM_FEEDBACK_BUFFER {
                return Err(invalid_enum("glBindBufferOffsetEXT: target"));
            }
            ctx.bind_range(target, index, buffer, Some((offset, None)), "glBindBufferOffsetEXT")
        });
    }

    fn bind_range(
        &mut self,
        target: u32,
        index: u32,
        name: u32,
        range: Option<(isize, Option<isize>)>,
        command: &'static str,
    ) -> GlResult {
        let state = &mut self.state;
        let limits = &state.share.limits;
        let (points, alignment) = match target {
            gl::UNIFORM_BUFFER => (limits.uniform_buffer_bindings, limits.uniform_offset_alignment),
            gl::TRANSFORM_FEEDBACK_BUFFER => (limits.xfb_buffers, 4),
            _ => return Err(invalid_enum(format!("{command}: target"))),
        };
        if index >= points {
            return Err(invalid_value(format!("{command}: index {index} of {points}")));
        }
        if target == gl::TRANSFORM_FEEDBACK_BUFFER && state.xfb.is_active() {
            return Err(invalid_operation(format!("{command}: transform feedback is active")));
        }
        let object = state.buffer_by_name(name, command)?;
        if let Some(object) = &object {
            self.attach_buffer(object)?;
        }
        let state = &mut self.state;
        let mut binding = RangeBinding { buffer: object.clone(), offset: 0, size: None };
        // With name 0 offset and size are ignored.
        if let (Some((offset, size)), Some(_)) = (range, &object) {
            if let Some(size) = size.filter(|&size| size <= 0) {
                return Err(invalid_value(format!("{command}: size {size}")));
            }
            if offset < 0 || offset as u64 % u64::from(alignment.max(1)) != 0 {
                return Err(invalid_value(format!("{command}: offset {offset} needs alignment {alignment}")));
            }
            if let Some(size) = size.filter(|size| target == gl::TRANSFORM_FEEDBACK_BUFFER && size % 4 != 0) {
                return Err(invalid_value(format!("{command}: size {size} is no multiple of 4")));
            }
            binding.offset = offset as u64;
            binding.size = size.map(|size| size as u64);
        }
        if target == gl::UNIFORM_BUFFER {
            let b = &mut state.buffers;
            b.uniform = object;
            b.uniform_touched = b.uniform_touched.max(index as usize + 1);
            b.uniform_ranges[index as usize] = binding;
            state.generations.bump(Counter::UniformBuffers);
        } else {
            state.buffers.transform_feedback = object;
            state.xfb.bind(index as usize, binding);
            state.generations.bump(Counter::StreamOutput);
        }
        Ok(())
    }
}
