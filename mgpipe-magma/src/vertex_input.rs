//! Vertex input of a draw: which layout it has, and binding what of it the command buffer does not have yet.

use crate::command::{Object, Recorder, RingSlice};
use crate::context::{dirty, MagmaContext};
use crate::memo::Memo;
use crate::screen::Shared;
use crate::shader::Program;
use crate::vertex::{Source, VertexLayout};
use ash::vk;
use mgpipe_types::PipeResult;
use smallvec::SmallVec;
use std::sync::Arc;

/// A layout with an identity: equal layouts that are remembered have the same one.
#[derive(Clone)]
struct Known {
    layout: Arc<VertexLayout>,
    serial: u64,
}

/// Layouts of a context by program and vertex elements.
pub(crate) struct VertexLayouts {
    memo: Memo<(u64, u64), Known>,
    /// Program, vertex elements and misaligned points that the current layout was made for.
    key: (u64, u64, u32),
    /// Identity of the current layout; 0 when there was none yet.
    pub(crate) serial: u64,
}

impl Default for VertexLayouts {
    fn default() -> Self {
        VertexLayouts { memo: Memo::new(6), key: (0, 0, 0), serial: 0 }
    }
}

/// Vertex input as the command buffer has it.
#[derive(Default)]
pub(crate) struct AppliedVertex {
    /// Identity of the layout.
    layout: u64,
    /// Buffers by Vulkan's binding.
    buffers: SmallVec<[(vk::Buffer, u64); 16]>,
    /// Current values as they were copied last; valid in this command buffer, whose batch keeps the ring.
    defaults: Option<RingSlice>,
}

impl Shared {
    /// Zeros to bind where nothing is bound.
    fn placeholder_buffer(&self, rec: &mut Recorder) -> PipeResult<(vk::Buffer, u64)> {
        let zeros = self.placeholders.zeros(&self.device)?;
        rec.keep(Object::Buffer(&zeros), true);
        Ok((zeros.raw, 0))
    }
}

impl MagmaContext {
    /// Works the layout out after the program, the vertex elements or the buffers have changed.
    pub(crate) fn resolve_layout(&mut self, program: &Program) {
        let elements = self.elements.as_ref().map_or(0, |e| e.serial);
        let key = (program.serial, elements, self.odd_points);
        if key == self.layouts.key && self.odd_points == 0 {
            return;
        }
        self.layouts.key = key;
        let (memo_key, spread) = ((program.serial, elements), program.serial.rotate_left(32) ^ elements);
        // Where buffers start only matters when one starts at an odd place.
        let known = if self.odd_points == 0 { self.layouts.memo.get(spread, &memo_key).cloned() } else { None };
        let known = known.unwrap_or_else(|| {
            let offset = |point: u32| self.vertex_buffers.get(point as usize).map_or(0, |slot| slot.bound.offset);
            let layout = VertexLayout::new(&self.device, self.elements.as_deref(), &program.reflection, offset);
            let equal = if layout == *self.layout && self.layouts.serial != 0 {
                Some(Known { layout: self.layout.clone(), serial: self.layouts.serial })
            } else {
                self.layouts.memo.values().find(|known| *known.layout == layout).cloned()
            };
            let known = equal.unwrap_or_else(|| Known { layout: Arc::new(layout), serial: self.device.next_serial() });
            if self.odd_points == 0 {
                self.layouts.memo.put(spread, memo_key, known.clone());
            }
            known
        });
        if known.serial != self.layouts.serial {
            self.note_vertex_reads();
            self.layout = known.layout;
            self.layouts.serial = known.serial;
            self.dirty |= dirty::VERTEX;
        }
    }

    /// Sets the layout and binds the buffers, as far as they differ from what the command buffer has.
    pub(crate) fn bind_vertex_buffers(
        &mut self,
        commands: vk::CommandBuffer,
        converted: &[RingSlice],
    ) -> PipeResult<()> {
        let applied = &mut self.applied.get_or_insert_with(Box::default).vertex;
        if self.device.ext.vertex_input_dynamic_state && applied.layout != self.layouts.serial {
            self.rec.flush_draws();
            self.layout.set(&self.device, commands);
            applied.layout = self.layouts.serial;
        }
        let mut buffers: SmallVec<[vk::Buffer; 16]> = SmallVec::new();
        let mut offsets: SmallVec<[u64; 16]> = SmallVec::new();
        // First and last binding that differ.
        let (mut first, mut last) = (usize::MAX, 0);
        for binding in &self.layout.bindings {
            let index = buffers.len();
            let had = applied.buffers.get(index).copied();
            let now = match binding.source {
                Source::Point(point) => {
                    let slot = &self.vertex_buffers[point as usize];
                    match &slot.storage {
                        Some(storage) if slot.bound.offset < storage.size => {
                            let now = (storage.raw, slot.bound.offset);
                            // What is bound in this command buffer is kept already.
                            if had != Some(now) {
                                self.rec.keep_parts(storage);
                            }
                            now
                        }
                        _ => self.shared.placeholder_buffer(&mut self.rec)?,
                    }
                }
                Source::Converted(index) => match converted.get(index as usize) {
                    Some(slice) => (slice.buffer, slice.offset),
                    None => self.shared.placeholder_buffer(&mut self.rec)?,
                },
                Source::Defaults => {
                    let slice = match applied.defaults {
                        Some(slice) if self.dirty & dirty::DEFAULTS == 0 => slice,
                        _ => self.rec.ring_bytes(&self.attrib_defaults, 16)?,
                    };
                    applied.defaults = Some(slice);
                    (slice.buffer, slice.offset)
                }
            };
            if had != Some(now) {
                first = first.min(index);
                last = index;
            }
            buffers.push(now.0);
            offsets.push(now.1);
        }
        if first <= last {
            self.rec.flush_draws();
            // SAFETY: the batch keeps the buffers; offsets lie within them.
            unsafe {
                self.device.raw.cmd_bind_vertex_buffers(
                    commands,
                    first as u32,
                    &buffers[first..=last],
                    &offsets[first..=last],
                );
            }
            // Bindings beyond this layout stay bound.
            for index in first..=last {
                let now = (buffers[index], offsets[index]);
                match applied.buffers.get_mut(index) {
                    Some(had) => *had = now,
                    None => applied.buffers.push(now),
                }
            }
        }
        Ok(())
    }
}
