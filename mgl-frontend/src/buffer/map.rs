//! Mapping of buffers into the application's memory.
//!
//! A mapping is host memory of this side. A read fetches the bytes after everything before has run; a write is sent in
//! command order at the unmap or flush, so it can never disturb work in flight. Buffers that are mapped more than once
//! keep their host copy, so that a partial write needs no read-back.

use std::ops::RangeInclusive;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use mgpipe_types::{gl, FlushRange, TypedHandle};

use super::memory::Shadow;
use super::MAP_ALIGNMENT;
use super::{AlignedBytes, Buffer, BufferInner};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, out_of_memory, GlResult};

/// A buffer up to this size keeps a host copy of its whole contents once it was mapped.
const SHADOW_LIMIT: u64 = 16 << 20;

/// A living mapping.
pub(crate) struct Mapping {
    /// First mapped byte.
    pub(crate) offset: usize,
    /// Mapped bytes.
    pub(crate) length: usize,
    /// `GL_MAP_*_BIT` flags.
    pub(crate) access: u32,
    /// Address that the application has.
    pub(crate) address: usize,
    /// Host memory of the range alone; `None` when the range lies in the buffer's shadow.
    staging: Option<AlignedBytes>,
    /// Bytes of the staging memory or of the scratch buffer before the range, which keep the alignment promise.
    lead: usize,
    /// The storage itself is mapped, until this mapping ends.
    direct: bool,
    /// A buffer that no GL name leads to, mapped instead; the device copies from it what is written.
    scratch: Option<Arc<Buffer>>,
}

impl Mapping {
    fn new(offset: usize, length: usize, access: u32, address: usize) -> Mapping {
        Mapping { offset, length, access, address, staging: None, lead: 0, direct: false, scratch: None }
    }

    /// The access as `glMapBuffer` spells it.
    pub(crate) fn simple_access(&self) -> u32 {
        match (self.access & gl::MAP_READ_BIT != 0, self.access & gl::MAP_WRITE_BIT != 0) {
            (true, false) => gl::READ_ONLY,
            (false, true) => gl::WRITE_ONLY,
            _ => gl::READ_WRITE,
        }
    }
}

/// Size from which a buffer is replaced when its whole range is invalidated; copying less is cheaper.
const DIRECT_BYTES: u64 = 4 << 10;

/// Sizes of mappings for which the device copies: less is cheaper to send, more is not worth the memory.
const SCRATCH_BYTES: RangeInclusive<usize> = 64 << 10..=4 << 20;

/// Bytes of memory for a mapping that a context keeps for the next one at most.
const KEPT_STAGING: usize = 4 << 20;

const KNOWN_BITS: u32 = gl::MAP_READ_BIT
    | gl::MAP_WRITE_BIT
    | gl::MAP_INVALIDATE_RANGE_BIT
    | gl::MAP_INVALIDATE_BUFFER_BIT
    | gl::MAP_FLUSH_EXPLICIT_BIT
    | gl::MAP_UNSYNCHRONIZED_BIT;

const PERSISTENT_BITS: u32 = gl::MAP_PERSISTENT_BIT | gl::MAP_COHERENT_BIT;

fn check_access(access: u32, length: isize, persistent: bool) -> GlResult {
    let has = |bit| access & bit != 0;
    let known = if persistent { KNOWN_BITS | PERSISTENT_BITS } else { KNOWN_BITS };
    if access & !known != 0 {
        return Err(invalid_value("glMapBufferRange: unknown access bits"));
    }
    if length == 0 {
        return Err(invalid_operation("glMapBufferRange: length is zero"));
    }
    if !has(gl::MAP_READ_BIT) && !has(gl::MAP_WRITE_BIT) {
        return Err(invalid_operation("glMapBufferRange: neither read nor write"));
    }
    let no_read = gl::MAP_INVALIDATE_RANGE_BIT | gl::MAP_INVALIDATE_BUFFER_BIT | gl::MAP_UNSYNCHRONIZED_BIT;
    if has(gl::MAP_READ_BIT) && access & no_read != 0 {
        return Err(invalid_operation("glMapBufferRange: read with invalidate or unsynchronized"));
    }
    if has(gl::MAP_FLUSH_EXPLICIT_BIT) && !has(gl::MAP_WRITE_BIT) {
        return Err(invalid_operation("glMapBufferRange: explicit flush without write"));
    }
    Ok(())
}

impl Context {
    /// `glMapBuffer`.
    pub fn map_buffer(&mut self, target: u32, access: u32) -> Option<NonNull<u8>> {
        self.gl(|ctx| {
            let bits = match access {
                gl::READ_ONLY => gl::MAP_READ_BIT,
                gl::WRITE_ONLY => gl::MAP_WRITE_BIT,
                gl::READ_WRITE => gl::MAP_READ_BIT | gl::MAP_WRITE_BIT,
                _ => return Err(invalid_enum("glMapBuffer: access")),
            };
            let buffer = ctx.state.bound_buffer(target, "glMapBuffer")?;
            let size = buffer.size() as usize;
            if size == 0 {
                return Err(invalid_operation("glMapBuffer: the buffer has no storage"));
            }
            ctx.start_mapping(&buffer, 0, size, bits, "glMapBuffer").map(Some)
        })
    }

    /// `glMapBufferRange`.
    pub fn map_buffer_range(&mut self, target: u32, offset: isize, length: isize, access: u32) -> Option<NonNull<u8>> {
        self.gl(|ctx| {
            let buffer = ctx.state.bound_buffer(target, "glMapBufferRange")?;
            if offset < 0 || length < 0 {
                return Err(invalid_value("glMapBufferRange: negative offset or length"));
            }
            let (start, len) = (offset as usize, length as usize);
            if start.checked_add(len).is_none_or(|end| end as u64 > buffer.size()) {
                return Err(invalid_value("glMapBufferRange: range exceeds the buffer"));
            }
            check_access(access, length, ctx.state.share.has_buffer_storage())?;
            ctx.start_mapping(&buffer, start, len, access, "glMapBufferRange").map(Some)
        })
    }

    fn start_mapping(
        &mut self,
        buffer: &Buffer,
        offset: usize,
        length: usize,
        access: u32,
        command: &'static str,
    ) -> GlResult<NonNull<u8>> {
        self.settle(buffer)?;
        let mut guard = buffer.lock();
        let inner: &mut BufferInner = &mut guard;
        if inner.mapping.is_some() {
            return Err(invalid_operation(format!("{command}: the buffer is mapped already")));
        }
        let needs = access & (gl::MAP_READ_BIT | gl::MAP_WRITE_BIT | PERSISTENT_BITS);
        if inner.immutable && needs & !inner.storage_flags != 0 || !inner.immutable && needs & PERSISTENT_BITS != 0 {
            return Err(invalid_operation(format!("{command}: the storage does not allow this access")));
        }
        if inner.storage_flags & gl::MAP_PERSISTENT_BIT != 0 {
            return self.map_resident(buffer, inner, offset, length, access, command);
        }
        let size = buffer.size();
        let whole = offset == 0 && length as u64 == size;
        let discards = access & gl::MAP_INVALIDATE_BUFFER_BIT != 0
            || whole && access & gl::MAP_INVALIDATE_RANGE_BIT != 0 && size >= DIRECT_BYTES;
        if discards && !inner.immutable {
            let usage = inner.usage;
            buffer.respecify(&mut *self.pipe, inner, size, usage);
        }
        // Fresh storage has no user yet, and with an unsynchronized mapping the application answers for the order.
        if (discards && !inner.immutable || access & gl::MAP_UNSYNCHRONIZED_BIT != 0)
            && access & gl::MAP_READ_BIT == 0
            && self.state.share.has_silent_maps()
        {
            if let Some(address) = self.map_directly(buffer, inner, offset, length, access) {
                return Ok(address);
            }
        }
        let keeps_contents = access & (gl::MAP_INVALIDATE_RANGE_BIT | gl::MAP_INVALIDATE_BUFFER_BIT) == 0;
        if !keeps_contents
            && access & gl::MAP_READ_BIT == 0
            && SCRATCH_BYTES.contains(&length)
            && inner.shadow.is_none()
            && self.state.share.has_silent_maps()
        {
            if let Some(address) = self.map_scratch(buffer, inner, offset, length, access) {
                return Ok(address);
            }
        }
        let mut mapping = Mapping::new(offset, length, access, 0);
        let fill = inner.defined && keeps_contents;
        if inner.shadow.is_none() && size <= SHADOW_LIMIT && (!inner.defined || keeps_contents || whole) {
            let mut shadow = Shadow::new(size as usize, &buffer.core).ok_or_else(|| out_of_memory(command))?;
            if fill {
                buffer.read_back(&mut *self.pipe, 0, shadow.bytes_mut())?;
            }
            inner.shadow = Some(shadow);
        }
        let address = if let Some(shadow) = &mut inner.shadow {
            shadow.address(offset)
        } else {
            let lead = offset % MAP_ALIGNMENT;
            let kept = self.map_staging.take();
            let staging = match kept {
                Some(kept) => kept.renewed(lead + length),
                None => AlignedBytes::new(lead + length),
            };
            let mut staging = staging.ok_or_else(|| out_of_memory(command))?;
            if fill {
                buffer.read_back(&mut *self.pipe, offset as u64, &mut staging.bytes_mut()[lead..])?;
            }
            mapping.lead = lead;
            let address = staging.address(lead);
            mapping.staging = Some(staging);
            address
        };
        let address = address.ok_or_else(|| out_of_memory(command))?;
        mapping.address = address.as_ptr() as usize;
        if access & gl::MAP_WRITE_BIT != 0 {
            inner.defined = true;
        }
        inner.mapping = Some(mapping);
        buffer.mapping_started();
        Ok(address)
    }

    /// Maps the storage for writing until the mapping ends. `None` when it has no address here.
    fn map_directly(
        &mut self,
        buffer: &Buffer,
        inner: &mut BufferInner,
        offset: usize,
        length: usize,
        access: u32,
    ) -> Option<NonNull<u8>> {
        let screen = &self.state.share.screen;
        let mapped = screen.map_persistent(&crate::share::only(buffer.handle)).ok()?;
        let base = usize::try_from(mapped.address).unwrap_or(0);
        if base == 0 || base % MAP_ALIGNMENT != 0 || mapped.size < buffer.size() {
            screen.unmap_persistent(&crate::share::only(buffer.handle));
            return None;
        }
        // What is written is not seen on this side.
        inner.shadow = None;
        inner.defined = true;
        let address = base + offset;
        inner.mapping = Some(Mapping { direct: true, ..Mapping::new(offset, length, access, address) });
        buffer.mapping_started();
        NonNull::new(address as *mut u8)
    }

    /// Maps other storage for writing, from which the device copies. `None` when there is none with an address here.
    fn map_scratch(
        &mut self,
        buffer: &Buffer,
        inner: &mut BufferInner,
        offset: usize,
        length: usize,
        access: u32,
    ) -> Option<NonNull<u8>> {
        let scratch = match self.map_scratch.take() {
            Some(scratch) => scratch,
            None => Buffer::new(&self.state.share.core, 0).ok()?,
        };
        let lead = offset % MAP_ALIGNMENT;
        // Few different sizes, so that the backend finds storage that it has used before.
        let size = (lead + length).next_power_of_two() as u64;
        // The device may still copy from what was written last: that storage is left to it.
        scratch.respecify(&mut *self.pipe, &mut scratch.lock(), size, gl::STREAM_COPY);
        let screen = &self.state.share.screen;
        let base = match screen.map_persistent(&crate::share::only(scratch.handle)) {
            Ok(mapped) if mapped.size >= size => usize::try_from(mapped.address).unwrap_or(0),
            _ => 0,
        };
        if base == 0 || base % MAP_ALIGNMENT != 0 {
            screen.unmap_persistent(&crate::share::only(scratch.handle));
            return None;
        }
        inner.defined = true;
        let address = base + lead;
        inner.mapping = Some(Mapping { lead, scratch: Some(scratch), ..Mapping::new(offset, length, access, address) });
        buffer.mapping_started();
        NonNull::new(address as *mut u8)
    }

    /// Maps the storage itself, which the application may use while the device does.
    fn map_resident(
        &mut self,
        buffer: &Buffer,
        inner: &mut BufferInner,
        offset: usize,
        length: usize,
        access: u32,
        command: &'static str,
    ) -> GlResult<NonNull<u8>> {
        if inner.resident.is_none() {
            let mapped = self.state.share.screen.map_persistent(&crate::share::only(buffer.handle))?;
            let address = usize::try_from(mapped.address).unwrap_or(0);
            if address == 0 || mapped.size < buffer.size() {
                return Err(out_of_memory(format!("{command}: the storage has no address here")));
            }
            inner.resident = Some(address);
        }
        let base = inner.resident.unwrap_or(0);
        let address = NonNull::new((base + offset) as *mut u8).ok_or_else(|| out_of_memory(command))?;
        if access & (gl::MAP_UNSYNCHRONIZED_BIT | gl::MAP_PERSISTENT_BIT) == 0 {
            // An ordinary mapping waits until the device is done with the buffer.
            self.finish();
        }
        inner.defined = true;
        inner.mapping = Some(Mapping::new(offset, length, access, base + offset));
        if access & gl::MAP_PERSISTENT_BIT == 0 {
            buffer.mapping_started();
        }
        Ok(address)
    }

    /// Sends a range of a mapping, counted from the mapping's start.
    fn send_mapped(&mut self, buffer: &Buffer, inner: &BufferInner, mapping: &Mapping, start: usize, len: usize) {
        let at = mapping.offset + start;
        if inner.resident.is_some() || mapping.direct {
            self.pipe.resource_flush_range(&FlushRange {
                res: buffer.handle.raw(),
                offset: at as u64,
                size: len as u64,
                access: mapping.access,
                pad: 0,
            });
            return;
        }
        if let Some(scratch) = &mapping.scratch {
            if len > 0 {
                let from = (mapping.lead + start) as u64;
                scratch.copy_to(&mut *self.pipe, from, buffer, at as u64, len as u64);
            }
            return;
        }
        let bytes = match (&mapping.staging, &inner.shadow) {
            (Some(staging), _) => staging.bytes().get(mapping.lead + start..mapping.lead + start + len),
            (None, Some(shadow)) => shadow.bytes().get(at..at + len),
            (None, None) => None,
        };
        if let Some(bytes) = bytes {
            buffer.upload(&mut *self.pipe, at as u64, bytes);
        }
    }

    /// `glFlushMappedBufferRange`.
    pub fn flush_mapped_buffer_range(&mut self, target: u32, offset: isize, length: isize) {
        self.gl(|ctx| {
            let command = "glFlushMappedBufferRange";
            let buffer = ctx.state.bound_buffer(target, command)?;
            if offset < 0 || length < 0 {
                return Err(invalid_value("glFlushMappedBufferRange: negative offset or length"));
            }
            let guard = buffer.lock();
            let mapping =
                guard.mapping.as_ref().ok_or_else(|| invalid_operation("glFlushMappedBufferRange: not mapped"))?;
            if mapping.access & gl::MAP_FLUSH_EXPLICIT_BIT == 0 {
                return Err(invalid_operation("glFlushMappedBufferRange: not mapped for explicit flush"));
            }
            let (start, len) = (offset as usize, length as usize);
            if start.checked_add(len).is_none_or(|end| end > mapping.length) {
                return Err(invalid_value("glFlushMappedBufferRange: range exceeds the mapping"));
            }
            ctx.send_mapped(&buffer, &guard, mapping, start, len);
            Ok(())
        });
    }

    /// `glUnmapBuffer`. The contents never become corrupt, so a successful unmap answers true.
    pub fn unmap_buffer(&mut self, target: u32) -> bool {
        self.gl(|ctx| {
            let buffer = ctx.state.bound_buffer(target, "glUnmapBuffer")?;
            if !ctx.end_mapping(&buffer) {
                return Err(invalid_operation("glUnmapBuffer: the buffer is not mapped"));
            }
            Ok(true)
        })
    }

    /// Ends a mapping, sending what was written; false when there was none.
    pub(crate) fn end_mapping(&mut self, buffer: &Buffer) -> bool {
        let mut guard = buffer.lock();
        let Some(mut mapping) = guard.mapping.take() else { return false };
        if buffer.mapped.swap(false, Ordering::AcqRel) {
            buffer.core.mapped_buffers.fetch_sub(1, Ordering::AcqRel);
        }
        let implicit = mapping.access & gl::MAP_WRITE_BIT != 0 && mapping.access & gl::MAP_FLUSH_EXPLICIT_BIT == 0;
        if implicit {
            self.send_mapped(buffer, &guard, &mapping, 0, mapping.length);
        }
        // Memory for one mapping stays for the next one: fresh pages cost more than the copy.
        self.map_staging = mapping.staging.take().filter(|s| s.capacity() <= KEPT_STAGING).or(self.map_staging.take());
        if mapping.direct {
            self.state.share.screen.unmap_persistent(&crate::share::only(buffer.handle));
        }
        if let Some(scratch) = mapping.scratch.take() {
            self.state.share.screen.unmap_persistent(&crate::share::only(scratch.handle));
            self.map_scratch = Some(scratch);
        }
        if guard.shadow.as_ref().is_some_and(|s| s.is_over_budget()) {
            guard.shadow = None;
        }
        true
    }

    /// `glGetBufferPointerv`: 0 while the buffer is not mapped.
    pub fn get_buffer_pointer(&mut self, target: u32) -> Option<usize> {
        self.gl(|ctx| {
            let buffer = ctx.state.bound_buffer(target, "glGetBufferPointerv")?;
            let address = buffer.lock().mapping.as_ref().map_or(0, |m| m.address);
            Ok(Some(address))
        })
    }
}
