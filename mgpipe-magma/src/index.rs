//! Index plans: which index buffer a draw uses, and the rewrites of what Vulkan lacks.

use crate::command::Object;
use crate::context::{BindPoint, MagmaContext};
use crate::conv;
use ash::vk;
use mgpipe_types::reflection::Stage;
use mgpipe_types::{draw_flags, gl, DrawIndirect, DrawInfo, DrawRange, HostBytes, PipeError, PipeResult};

/// How a draw's indices reach Vulkan.
pub(crate) struct IndexPlan {
    pub(crate) topology: vk::PrimitiveTopology,
    pub(crate) restart: bool,
    pub(crate) index: Option<(vk::Buffer, u64, vk::IndexType)>,
    /// Ranges that replace the draw's own.
    pub(crate) ranges: Option<Vec<DrawRange>>,
}

/// Most indices that one draw has rewritten on the host: 1 GiB of them.
const REWRITE_LIMIT: usize = 1 << 28;

/// What the index rewriting reads.
enum Indices<'a> {
    /// A non-indexed draw.
    None,
    /// Host bytes.
    Bytes(&'a [u8]),
}

impl Indices<'_> {
    /// Index number `at`; out-of-range reads are 0, as robust access has it.
    fn get(&self, at: u64, size: u8) -> u32 {
        let Indices::Bytes(bytes) = self else { return at as u32 };
        let start = at as usize * usize::from(size);
        match (size, bytes.get(start..start + usize::from(size))) {
            (1, Some(b)) => u32::from(b[0]),
            (2, Some(b)) => u32::from(u16::from_le_bytes([b[0], b[1]])),
            (4, Some(b)) => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            _ => 0,
        }
    }
}

/// Ranges cut to the indices that exist; `None` when all fit.
fn cut_ranges(ranges: &[DrawRange], indices: u64) -> Option<Vec<DrawRange>> {
    let fits = |range: &DrawRange| u64::from(range.start) + u64::from(range.count) <= indices;
    if ranges.iter().all(fits) {
        return None;
    }
    let cut = |range: &DrawRange| DrawRange {
        count: indices.saturating_sub(u64::from(range.start)).min(u64::from(range.count)) as u32,
        ..*range
    };
    Some(ranges.iter().map(cut).collect())
}

/// Corners of the primitives of a run of indices in the order in which GL draws them, the provoking one first. GL's
/// provoking vertex is the last (spec 13.4), and each primitive keeps its winding.
fn rotate(topology: vk::PrimitiveTopology, run: &[u32], out: &mut Vec<u32>) {
    use vk::PrimitiveTopology as T;
    match topology {
        T::LINE_LIST => run.chunks_exact(2).for_each(|c| out.extend([c[1], c[0]])),
        T::LINE_STRIP => run.windows(2).for_each(|c| out.extend([c[1], c[0]])),
        T::TRIANGLE_LIST => run.chunks_exact(3).for_each(|c| out.extend([c[2], c[0], c[1]])),
        T::TRIANGLE_STRIP => {
            for (index, c) in run.windows(3).enumerate() {
                out.extend(if index % 2 == 0 { [c[2], c[0], c[1]] } else { [c[2], c[1], c[0]] });
            }
        }
        T::TRIANGLE_FAN => {
            if let Some((center, rim)) = run.split_first() {
                rim.windows(2).for_each(|c| out.extend([c[1], *center, c[0]]));
            }
        }
        _ => out.extend_from_slice(run),
    }
}

/// The list into which [`rotate`] takes a topology apart.
fn rotated_topology(topology: vk::PrimitiveTopology) -> Option<vk::PrimitiveTopology> {
    use vk::PrimitiveTopology as T;
    match topology {
        T::LINE_LIST | T::LINE_STRIP => Some(T::LINE_LIST),
        T::TRIANGLE_LIST | T::TRIANGLE_STRIP | T::TRIANGLE_FAN => Some(T::TRIANGLE_LIST),
        _ => None,
    }
}

impl MagmaContext {
    /// Whether vertices have to change places, so that the first one of a primitive is the one that GL's last one is: the
    /// device has no choice of the provoking vertex, and the program has flat inputs.
    pub(crate) fn rotates_vertices(&self) -> bool {
        if self.device.ext.provoking_vertex || self.state.provoking_vertex == gl::FIRST_VERTEX_CONVENTION {
            return false;
        }
        // What a geometry shader emits is out of reach, and captured vertices have to keep their order.
        let program = self.programs[BindPoint::Draw as usize].as_ref().map(|bound| &bound.program);
        !self.xfb.is_active() && program.is_some_and(|p| p.flat_inputs && p.last_vertex_stage() == Some(Stage::Vertex))
    }

    /// Decides about indices. `None`: nothing is drawn.
    pub(crate) fn plan_indices(
        &mut self,
        info: &DrawInfo,
        ranges: &[DrawRange],
        indirect: &[DrawIndirect],
        indices: HostBytes<'_>,
    ) -> PipeResult<Option<IndexPlan>> {
        let topology = conv::map_topology(info.mode);
        let rotates = self.rotates_vertices() && rotated_topology(topology).is_some();
        let from_indirect = info.flags & draw_flags::INDIRECT != 0;
        if info.instance_count == 0 && !from_indirect {
            return Ok(None);
        }
        if from_indirect && indirect.is_empty() {
            return Ok(None);
        }
        if info.index_size == 0 {
            if (info.mode == gl::LINE_LOOP || rotates) && !from_indirect {
                return self.rewrite(info, ranges, Indices::None);
            }
            return Ok(Some(IndexPlan { topology, restart: false, index: None, ranges: None }));
        }
        let restart = info.flags & draw_flags::PRIMITIVE_RESTART != 0;
        let all_ones = match info.index_size {
            1 => 0xff,
            2 => 0xffff,
            _ => u32::MAX,
        };
        // Vulkan restarts at all ones alone, and in lists only with an extension.
        let list = !conv::is_strip(topology);
        let native_list = self.device.ext.list_restart
            && (topology != vk::PrimitiveTopology::PATCH_LIST || self.device.features.list_restart_patches);
        let restart_is_native = !restart || (info.restart_index == all_ones && (!list || native_list));
        // Indices that reach the all-ones value without meaning a restart would restart natively only if it is on.
        let byte_is_native = info.index_size != 1 || self.device.ext.index_type_uint8;
        let native = restart_is_native && byte_is_native && info.mode != gl::LINE_LOOP && !rotates;
        let ty = match info.index_size {
            1 => vk::IndexType::UINT8_EXT,
            2 => vk::IndexType::UINT16,
            _ => vk::IndexType::UINT32,
        };
        if info.flags & draw_flags::USER_INDICES != 0 {
            let Some(bytes) = indices.bytes() else {
                return Err(PipeError::Protocol("a draw with client indices brings none".into()));
            };
            if !native && !from_indirect {
                return self.rewrite(info, ranges, Indices::Bytes(bytes));
            }
            let slice = self.rec.ring_bytes(bytes, 4)?;
            return Ok(Some(IndexPlan {
                topology,
                restart,
                index: Some((slice.buffer, slice.offset, ty)),
                ranges: None,
            }));
        }
        let storage = if info.index_buffer == self.index_buffer.res || info.index_buffer.is_null() {
            self.index_storage.clone()
        } else {
            self.shared.buffers.get(mgpipe_types::BufferHandle(info.index_buffer)).ok().and_then(|b| b.storage())
        };
        let Some(storage) = storage else { return Ok(None) };
        let base = if info.index_buffer == self.index_buffer.res || info.index_buffer.is_null() {
            self.index_buffer.offset
        } else {
            0
        };
        if base >= storage.size {
            return Ok(None);
        }
        let aligned = base % u64::from(info.index_size) == 0;
        if (!native || !aligned) && !from_indirect {
            let mut bytes = vec![0; (storage.size - base) as usize];
            self.read_storage(&storage, base, &mut bytes)?;
            return self.rewrite(info, ranges, Indices::Bytes(&bytes));
        }
        if !native {
            self.warn_once(1, "an indirect draw needs indices that this device cannot take natively");
        }
        self.rec.keep(Object::Buffer(&storage), true);
        let indices = (storage.size - base) / u64::from(info.index_size);
        // Devices that read indices past the end as 0 would still draw as many as an absurd count says.
        let ranges = if from_indirect { None } else { cut_ranges(ranges, indices) };
        Ok(Some(IndexPlan { topology, restart, index: Some((storage.raw, base, ty)), ranges }))
    }

    /// Rewrites indices on the host: 32 bits, restart at all ones in strips, lists cut, line loops closed.
    fn rewrite(&mut self, info: &DrawInfo, ranges: &[DrawRange], source: Indices<'_>) -> PipeResult<Option<IndexPlan>> {
        let restart = info.flags & draw_flags::PRIMITIVE_RESTART != 0 && info.index_size != 0;
        let topology = conv::map_topology(info.mode);
        let rotated = rotated_topology(topology).filter(|_| self.rotates_vertices());
        // Indices that do not exist are not drawn, so that an absurd count costs no more than the buffer is long.
        let cut = match source {
            Indices::Bytes(bytes) => cut_ranges(ranges, bytes.len() as u64 / u64::from(info.index_size.max(1))),
            Indices::None => None,
        };
        let ranges = cut.as_deref().unwrap_or(ranges);
        let total: u64 = ranges.iter().map(|range| u64::from(range.count)).sum();
        let mut words: Vec<u32> = Vec::new();
        let mut run: Vec<u32> = Vec::new();
        // A strip or fan that is taken apart has three indices for each one.
        let most = if rotated.is_some() { total.saturating_mul(3) } else { total };
        let reserved = usize::try_from(most).is_ok_and(|total| {
            total <= REWRITE_LIMIT && words.try_reserve(total).is_ok() && run.try_reserve(total).is_ok()
        });
        if !reserved {
            return Err(PipeError::OutOfMemory(format!("{total} rewritten indices")));
        }
        let mut out_ranges = Vec::with_capacity(ranges.len());
        let per_primitive = match topology {
            vk::PrimitiveTopology::LINE_LIST => 2,
            vk::PrimitiveTopology::TRIANGLE_LIST => 3,
            vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY => 4,
            vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY => 6,
            vk::PrimitiveTopology::PATCH_LIST => info.patch_vertices.max(1) as usize,
            vk::PrimitiveTopology::POINT_LIST => 1,
            _ => 0,
        };
        for range in ranges {
            let start = words.len();
            let flush = |run: &mut Vec<u32>, words: &mut Vec<u32>| {
                if run.is_empty() {
                    return;
                }
                if rotated.is_some() {
                    if info.mode == gl::LINE_LOOP && run.len() > 1 {
                        run.push(run[0]);
                    }
                    rotate(topology, run, words);
                } else if let Some(primitives) = run.len().checked_div(per_primitive) {
                    // Incomplete primitives before a restart are dropped (spec 10.3.6).
                    words.extend_from_slice(&run[..primitives * per_primitive]);
                } else {
                    if words.len() > start {
                        words.push(u32::MAX);
                    }
                    words.extend_from_slice(run);
                    if info.mode == gl::LINE_LOOP && run.len() > 1 {
                        words.push(run[0]);
                    }
                }
                run.clear();
            };
            for at in 0..u64::from(range.count) {
                let index = source.get(u64::from(range.start) + at, info.index_size);
                if restart && index == info.restart_index {
                    flush(&mut run, &mut words);
                } else {
                    run.push(index);
                }
            }
            flush(&mut run, &mut words);
            out_ranges.push(DrawRange {
                start: start as u32,
                count: (words.len() - start) as u32,
                index_bias: if info.index_size == 0 { 0 } else { range.index_bias },
            });
        }
        if words.is_empty() {
            return Ok(None);
        }
        let slice = self.rec.ring_bytes(bytemuck::cast_slice(&words), 4)?;
        Ok(Some(IndexPlan {
            topology: rotated.unwrap_or(topology),
            restart: restart && per_primitive == 0 && rotated.is_none(),
            index: Some((slice.buffer, slice.offset, vk::IndexType::UINT32)),
            ranges: Some(out_ranges),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::PrimitiveTopology as T;

    fn rotated(topology: T, run: &[u32]) -> Vec<u32> {
        let mut out = Vec::new();
        rotate(topology, run, &mut out);
        out
    }

    #[test]
    fn the_last_vertex_comes_first_and_the_winding_stays() {
        assert_eq!(rotated(T::LINE_LIST, &[0, 1, 2, 3, 4]), [1, 0, 3, 2]);
        assert_eq!(rotated(T::LINE_STRIP, &[5, 6, 7]), [6, 5, 7, 6]);
        assert_eq!(rotated(T::TRIANGLE_LIST, &[0, 1, 2, 3, 4]), [2, 0, 1]);
        // The second triangle of a strip is (2, 1, 3) in GL's order.
        assert_eq!(rotated(T::TRIANGLE_STRIP, &[0, 1, 2, 3]), [2, 0, 1, 3, 2, 1]);
        assert_eq!(rotated(T::TRIANGLE_FAN, &[9, 1, 2, 3]), [2, 9, 1, 3, 9, 2]);
        assert_eq!(rotated(T::TRIANGLE_FAN, &[]), []);
    }
}
