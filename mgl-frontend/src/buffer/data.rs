//! Contents of buffers: specification, updates, copies and read-back.

use mgpipe_types::gl;
use std::sync::Arc;

use super::Buffer;
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, out_of_memory, GlResult};

fn is_usage(usage: u32) -> bool {
    matches!(
        usage,
        gl::STREAM_DRAW
            | gl::STREAM_READ
            | gl::STREAM_COPY
            | gl::STATIC_DRAW
            | gl::STATIC_READ
            | gl::STATIC_COPY
            | gl::DYNAMIC_DRAW
            | gl::DYNAMIC_READ
            | gl::DYNAMIC_COPY
    )
}

/// Checks that a byte range lies in a buffer.
fn check_range(buffer: &Buffer, offset: isize, len: usize, command: &'static str) -> GlResult<u64> {
    let start = u64::try_from(offset).map_err(|_| invalid_value(format!("{command}: negative offset")))?;
    match start.checked_add(len as u64) {
        Some(end) if end <= buffer.size() => Ok(start),
        _ => Err(invalid_value(format!("{command}: range exceeds the buffer's {} bytes", buffer.size()))),
    }
}

impl Context {
    /// `glBufferData`. `None` leaves the contents undefined.
    pub fn buffer_data(&mut self, target: u32, size: usize, data: Option<&[u8]>, usage: u32) {
        self.gl(|ctx| {
            let buffer = ctx.state.bound_buffer(target, "glBufferData")?;
            if !is_usage(usage) {
                return Err(invalid_enum("glBufferData: usage"));
            }
            // More than this cannot exist on any device; smaller sizes are for the backend to try.
            if size as u64 > 1 << 40 || isize::try_from(size).is_err() {
                return Err(out_of_memory("glBufferData"));
            }
            if buffer.lock().immutable {
                return Err(invalid_operation("glBufferData: immutable storage"));
            }
            ctx.end_mapping(&buffer);
            let mut inner = buffer.lock();
            // Another context may have given it such a store meanwhile.
            if inner.immutable {
                return Err(invalid_operation("glBufferData: immutable storage"));
            }
            buffer.respecify(&mut *ctx.pipe, &mut inner, size as u64, usage);
            if let Some(bytes) = data {
                let bytes = bytes.get(..size).unwrap_or(bytes);
                inner.defined = true;
                buffer.upload(&mut *ctx.pipe, 0, bytes);
            }
            Ok(())
        });
    }

    /// `glBufferStorage`: a store that is never replaced, and that may stay mapped while the device uses it.
    pub fn buffer_storage(&mut self, target: u32, size: usize, data: Option<&[u8]>, flags: u32) {
        self.gl(|ctx| {
            let command = "glBufferStorage";
            if !ctx.state.share.has_buffer_storage() {
                return Err(invalid_operation("glBufferStorage: GL_ARB_buffer_storage is not there"));
            }
            let buffer = ctx.state.bound_buffer(target, command)?;
            let has = |bit| flags & bit != 0;
            let known = gl::MAP_READ_BIT
                | gl::MAP_WRITE_BIT
                | gl::MAP_PERSISTENT_BIT
                | gl::MAP_COHERENT_BIT
                | gl::DYNAMIC_STORAGE_BIT
                | gl::CLIENT_STORAGE_BIT;
            let mappable = has(gl::MAP_READ_BIT) || has(gl::MAP_WRITE_BIT);
            if size == 0 || flags & !known != 0 {
                return Err(invalid_value("glBufferStorage: size or flags"));
            }
            if has(gl::MAP_PERSISTENT_BIT) && !mappable || has(gl::MAP_COHERENT_BIT) && !has(gl::MAP_PERSISTENT_BIT) {
                return Err(invalid_value("glBufferStorage: flags contradict each other"));
            }
            if size as u64 > 1 << 40 {
                return Err(out_of_memory(command));
            }
            let mut inner = buffer.lock();
            if inner.immutable {
                return Err(invalid_operation("glBufferStorage: immutable storage"));
            }
            drop(inner);
            ctx.end_mapping(&buffer);
            inner = buffer.lock();
            inner.immutable = true;
            inner.storage_flags = flags;
            buffer.respecify(&mut *ctx.pipe, &mut inner, size as u64, gl::DYNAMIC_DRAW);
            if let Some(bytes) = data {
                inner.defined = true;
                buffer.upload(&mut *ctx.pipe, 0, bytes.get(..size).unwrap_or(bytes));
            }
            Ok(())
        });
    }

    /// `glBufferSubData`.
    pub fn buffer_sub_data(&mut self, target: u32, offset: isize, data: &[u8]) {
        self.gl(|ctx| {
            let buffer = ctx.state.bound_buffer(target, "glBufferSubData")?;
            let start = check_range(&buffer, offset, data.len(), "glBufferSubData")?;
            if buffer.is_mapped() {
                return Err(invalid_operation("glBufferSubData: the buffer is mapped"));
            }
            let inner = buffer.lock();
            if inner.immutable && inner.storage_flags & gl::DYNAMIC_STORAGE_BIT == 0 {
                return Err(invalid_operation("glBufferSubData: the storage is not dynamic"));
            }
            if data.is_empty() {
                return Ok(());
            }
            drop(inner);
            ctx.settle(&buffer)?;
            let mut inner = buffer.lock();
            inner.defined = true;
            if let Some(shadow) = &mut inner.shadow {
                if let Some(part) = shadow.bytes_mut().get_mut(start as usize..start as usize + data.len()) {
                    part.copy_from_slice(data);
                }
            }
            buffer.upload(&mut *ctx.pipe, start, data);
            Ok(())
        });
    }

    /// `glGetBufferSubData`.
    pub fn get_buffer_sub_data(&mut self, target: u32, offset: isize, out: &mut [u8]) {
        self.gl(|ctx| {
            let buffer = ctx.state.bound_buffer(target, "glGetBufferSubData")?;
            let start = check_range(&buffer, offset, out.len(), "glGetBufferSubData")?;
            if buffer.is_mapped() {
                return Err(invalid_operation("glGetBufferSubData: the buffer is mapped"));
            }
            ctx.read_buffer_bytes(&buffer, start, out)
        });
    }

    /// Bytes of a buffer, from the copy on this side when there is one.
    pub(crate) fn read_buffer_bytes(&mut self, buffer: &Buffer, start: u64, out: &mut [u8]) -> GlResult {
        self.settle(buffer)?;
        let inner = buffer.lock();
        if let Some(shadow) = &inner.shadow {
            if let Some(part) = shadow.bytes().get(start as usize..start as usize + out.len()) {
                out.copy_from_slice(part);
                return Ok(());
            }
        }
        drop(inner);
        buffer.read_back(&mut *self.pipe, start, out)
    }

    /// `glCopyBufferSubData`: a copy on the GPU.
    pub fn copy_buffer_sub_data(
        &mut self,
        read_target: u32,
        write_target: u32,
        read_offset: isize,
        write_offset: isize,
        size: isize,
    ) {
        self.gl(|ctx| {
            let command = "glCopyBufferSubData";
            let source = ctx.state.bound_buffer(read_target, command)?;
            let target = ctx.state.bound_buffer(write_target, command)?;
            let len = usize::try_from(size).map_err(|_| invalid_value("glCopyBufferSubData: negative size"))?;
            let from = check_range(&source, read_offset, len, command)?;
            let to = check_range(&target, write_offset, len, command)?;
            if source.is_mapped() || target.is_mapped() {
                return Err(invalid_operation("glCopyBufferSubData: a buffer is mapped"));
            }
            let overlap = Arc::ptr_eq(&source, &target) && from < to + len as u64 && to < from + len as u64;
            if overlap && len != 0 {
                return Err(invalid_value("glCopyBufferSubData: the ranges overlap"));
            }
            if len == 0 {
                return Ok(());
            }
            ctx.settle(&source)?;
            ctx.settle(&target)?;
            source.copy_to(&mut *ctx.pipe, from, &target, to, len as u64);
            target.gpu_wrote();
            Ok(())
        });
    }

    /// `glGetBufferParameteriv` and `i64v`.
    pub fn get_buffer_parameter(&mut self, target: u32, pname: u32) -> Option<i64> {
        self.gl(|ctx| {
            let known = matches!(
                pname,
                gl::BUFFER_SIZE
                    | gl::BUFFER_USAGE
                    | gl::BUFFER_ACCESS
                    | gl::BUFFER_ACCESS_FLAGS
                    | gl::BUFFER_MAPPED
                    | gl::BUFFER_MAP_LENGTH
                    | gl::BUFFER_MAP_OFFSET
                    | gl::BUFFER_IMMUTABLE_STORAGE
                    | gl::BUFFER_STORAGE_FLAGS
            );
            if !known {
                return Err(invalid_enum("glGetBufferParameter: pname"));
            }
            let buffer = ctx.state.bound_buffer(target, "glGetBufferParameter")?;
            let inner = buffer.lock();
            let mapping = inner.mapping.as_ref();
            Ok(Some(match pname {
                gl::BUFFER_SIZE => buffer.size() as i64,
                gl::BUFFER_USAGE => i64::from(inner.usage),
                gl::BUFFER_ACCESS => i64::from(mapping.map_or(gl::READ_WRITE, |m| m.simple_access())),
                gl::BUFFER_ACCESS_FLAGS => i64::from(mapping.map_or(0, |m| m.access)),
                gl::BUFFER_IMMUTABLE_STORAGE => i64::from(inner.immutable),
                gl::BUFFER_STORAGE_FLAGS if inner.immutable => i64::from(inner.storage_flags),
                // The initial value; what has no storage has no flags.
                gl::BUFFER_STORAGE_FLAGS if buffer.size() == 0 => 0,
                // As if glBufferStorage had been asked for what glBufferData gives (GL_ARB_buffer_storage, table 2.11a).
                gl::BUFFER_STORAGE_FLAGS => i64::from(gl::MAP_READ_BIT | gl::MAP_WRITE_BIT | gl::DYNAMIC_STORAGE_BIT),
                gl::BUFFER_MAPPED => i64::from(mapping.is_some()),
                gl::BUFFER_MAP_LENGTH => mapping.map_or(0, |m| m.length as i64),
                _ => mapping.map_or(0, |m| m.offset as i64),
            }))
        })
    }
}
