//! Several draws as one call, where the driver has such calls: plain ones (EXT_multi_draw_arrays), with base vertices, and through
//! records in the ring (EXT_multi_draw_indirect) for instances. Otherwise they are a loop.

use crate::context::EsprytContext;
use crate::gles::named;
use crate::index::IndexPlan;
use glow::HasContext;
use mgpipe_types::{gl, DrawInfo, DrawRange, PipeResult};
use std::ffi::c_void;

/// Draws from which on records pay for the indirect buffer.
const FEWEST_RECORDS: usize = 4;

/// The arrays that such calls take, kept from draw to draw.
#[derive(Default)]
pub(crate) struct Lists {
    firsts: Vec<i32>,
    counts: Vec<i32>,
    bases: Vec<i32>,
    offsets: Vec<usize>,
    records: Vec<u32>,
}

/// How several draws become one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Arrays,
    Elements,
    BaseVertices,
    Records,
}

/// What the choice depends on.
struct Batch {
    draws: usize,
    indexed: bool,
    biased: bool,
    instances: u32,
    base_instance: u32,
    /// The first index lies on a multiple of its size.
    aligned: bool,
    capturing: bool,
}

fn way(has: &crate::features::Features, batch: &Batch) -> Option<Way> {
    let plain = batch.instances == 1 && batch.base_instance == 0;
    match (plain, batch.indexed, batch.biased) {
        _ if batch.draws < 2 => None,
        (true, false, _) if has.multi_draw => Some(Way::Arrays),
        (true, true, false) if has.multi_draw => Some(Way::Elements),
        (true, true, true) if has.multi_base_vertex => Some(Way::BaseVertices),
        // Without the extension the last word of a record must be zero; OpenGL ES 3.1 captures no indirect draws.
        _ => (has.multi_draw_indirect
            && batch.draws >= FEWEST_RECORDS
            && !batch.capturing
            && (!batch.indexed || batch.aligned)
            && (batch.base_instance == 0 || has.base_instance))
            .then_some(Way::Records),
    }
}

impl EsprytContext {
    /// Draws all ranges with one call. False when that is not possible; nothing is drawn then.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn emit_at_once(&mut self, info: &DrawInfo, ranges: &[DrawRange], plan: &IndexPlan) -> PipeResult<bool> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let start = plan.buffer.map_or(0, |(_, _, start)| start);
        let batch = Batch {
            draws: ranges.len(),
            indexed: plan.buffer.is_some(),
            biased: ranges.iter().any(|range| range.index_bias != 0),
            instances: info.instance_count,
            base_instance: info.start_instance,
            aligned: plan.size != 0 && start % plan.size == 0,
            capturing: self.xfb.is_capturing(),
        };
        let Some(way) = way(&gles.has, &batch) else { return Ok(false) };
        let Ok(draws) = i32::try_from(ranges.len()) else { return Ok(false) };
        let ext = &gles.ext;
        let lists = &mut self.multi;
        if way == Way::Records {
            lists.records.clear();
            for range in ranges {
                lists.records.extend([range.count, info.instance_count]);
                if batch.indexed {
                    let first = (start / plan.size) as u32;
                    lists.records.extend([first.wrapping_add(range.start), range.index_bias as u32]);
                } else {
                    lists.records.push(range.start);
                }
                lists.records.push(info.start_instance);
            }
            let slice = self.ring.write(gles, bytemuck::cast_slice(&lists.records), 4)?;
            let at = slice.offset as *const c_void;
            // SAFETY: the context is current, everything that the draws read is bound, and the records lie within the ring.
            unsafe {
                gles.gl.bind_buffer(gl::DRAW_INDIRECT_BUFFER, named!(NativeBuffer, slice.buffer));
                if batch.indexed {
                    ext.multi_draw_elements_indirect(plan.mode, plan.ty, at, draws, 0);
                } else {
                    ext.multi_draw_arrays_indirect(plan.mode, at, draws, 0);
                }
            }
            return Ok(true);
        }
        lists.counts.clear();
        lists.counts.extend(ranges.iter().map(|range| i32::try_from(range.count).unwrap_or(i32::MAX)));
        if way == Way::Arrays {
            lists.firsts.clear();
            lists.firsts.extend(ranges.iter().map(|range| range.start as i32));
            // SAFETY: the context is current, everything that the draws read is bound, and each array has `draws` elements.
            unsafe { ext.multi_draw_arrays(plan.mode, lists.firsts.as_ptr(), lists.counts.as_ptr(), draws) };
            return Ok(true);
        }
        lists.offsets.clear();
        lists.offsets.extend(ranges.iter().map(|range| start + range.start as usize * plan.size));
        lists.bases.clear();
        lists.bases.extend(ranges.iter().map(|range| range.index_bias));
        let (counts, offsets) = (lists.counts.as_ptr(), lists.offsets.as_ptr().cast::<*const c_void>());
        // SAFETY: as above; offsets into the bound index buffer travel as addresses.
        unsafe {
            if way == Way::BaseVertices {
                let bases = lists.bases.as_ptr();
                ext.multi_draw_elements_base_vertex(plan.mode, counts, plan.ty, offsets, draws, bases);
            } else {
                ext.multi_draw_elements(plan.mode, counts, plan.ty, offsets, draws);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;

    #[test]
    fn the_call_fits_the_batch() {
        let all = Features { multi_draw: true, multi_draw_indirect: true, base_instance: true, ..Features::default() };
        let batch = Batch {
            draws: 8,
            indexed: true,
            biased: false,
            instances: 1,
            base_instance: 0,
            aligned: true,
            capturing: false,
        };
        assert_eq!(way(&all, &batch), Some(Way::Elements));
        assert_eq!(way(&all, &Batch { indexed: false, ..batch }), Some(Way::Arrays));
        assert_eq!(way(&all, &Batch { biased: true, ..batch }), Some(Way::Records));
        let with_bases = Features { multi_base_vertex: true, ..all.clone() };
        assert_eq!(way(&with_bases, &Batch { biased: true, ..batch }), Some(Way::BaseVertices));
        assert_eq!(way(&all, &Batch { instances: 3, aligned: false, ..batch }), None);
        assert_eq!(way(&all, &Batch { draws: 1, ..batch }), None);
        assert_eq!(way(&Features::default(), &batch), None);
    }
}
