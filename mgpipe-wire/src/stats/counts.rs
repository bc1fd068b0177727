//! What is counted where calls pass: plain numbers, so that sums and differences are those of words.

use crate::counters::CallCounters;
use bytemuck::{Pod, Zeroable};
use mgpipe_types::{CallClass, HostBytes, Opcode, SubData, SubRegion, Target, UploadWork};

/// Buckets of [`DrawCounts::histogram`].
pub const DRAW_BUCKETS: usize = 12;

/// Largest payload of the first bucket, in bytes; each further one takes twice as many, the last one everything above.
const FIRST_BUCKET: u64 = 64;

/// Draws and what each of them cost on the pipe.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct DrawCounts {
    /// Draw calls of the pipe.
    pub draws: u64,
    /// Record bytes of draws and of what each needed first: state, state objects and other verbs since the draw before.
    /// Uploads are not in it.
    pub payload_bytes: u64,
    /// Draws by their payload: up to 64 bytes, 128, 256, …
    pub histogram: [u64; DRAW_BUCKETS],
    /// Bytes of indices that travelled with draws.
    pub client_index_bytes: u64,
    /// Draws whose index bytes the server has.
    pub index_mirror_draws: u64,
}

impl DrawCounts {
    /// Largest payload of a bucket in bytes; `None` for the last one.
    pub fn bucket_limit(bucket: usize) -> Option<u64> {
        (bucket + 1 < DRAW_BUCKETS).then(|| FIRST_BUCKET << bucket)
    }

    fn draw(&mut self, payload: u64) {
        self.draws += 1;
        self.payload_bytes += payload;
        let doublings = payload.div_ceil(FIRST_BUCKET).max(1).next_power_of_two().trailing_zeros() as usize;
        self.histogram[doublings.min(DRAW_BUCKETS - 1)] += 1;
    }
}

/// Uploads by their shape.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct UploadCounts {
    /// Uploads into buffers.
    pub buffer_uploads: u64,
    /// Their bytes.
    pub buffer_bytes: u64,
    /// Uploads into textures that are one box.
    pub texture_boxes: u64,
    /// Uploads into textures that are a list of regions.
    pub texture_lists: u64,
    /// Regions of those lists.
    pub texture_regions: u64,
    /// Bytes of texels, in boxes and lists.
    pub texture_bytes: u64,
    /// Copies that the backend made of them.
    pub texture_jobs: u64,
    /// Regions that became part of a larger box before they were copied.
    pub texture_joined: u64,
    /// Bytes of texels in those copies.
    pub texture_job_bytes: u64,
}

/// What a server says back.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct CallbackCounts {
    /// Textures that the server wanted again.
    pub texture_pulls: u64,
    /// Levels of those.
    pub texture_pull_levels: u64,
    /// Notes that the device wrote into a buffer.
    pub gpu_writes: u64,
    /// Writebacks of buffers and textures.
    pub writebacks: u64,
    /// Their bytes.
    pub writeback_bytes: u64,
    /// Errors that only the server found.
    pub errors: u64,
    /// Log lines.
    pub log_lines: u64,
}

/// All that passes in one direction.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct PortCounts {
    /// Calls and the bytes of their records.
    pub calls: CallCounters,
    /// Draws.
    pub draws: DrawCounts,
    /// Uploads.
    pub uploads: UploadCounts,
    /// Ends of frames: presents, and flushes that end one.
    pub frames: u64,
    /// Presents among them.
    pub presents: u64,
    /// Submits, ends of frames among them.
    pub flushes: u64,
    /// Payload since the last draw.
    pending: u64,
}

impl Default for PortCounts {
    fn default() -> PortCounts {
        Zeroable::zeroed()
    }
}

impl PortCounts {
    /// Counts a call of a class whose record has `bytes` bytes.
    #[inline]
    pub(super) fn call(&mut self, opcode: Opcode, class: CallClass, bytes: usize) {
        self.calls.count(opcode, bytes);
        if matches!(class, CallClass::State | CallClass::Cso | CallClass::Verb) {
            self.pending += bytes as u64;
        }
    }

    /// The call that was counted last is a draw.
    #[inline]
    pub(super) fn draw(&mut self, indices: HostBytes<'_>) {
        self.draws.draw(std::mem::take(&mut self.pending));
        match indices {
            HostBytes::None => {}
            HostBytes::IndexMirror => self.draws.index_mirror_draws += 1,
            HostBytes::Bytes(bytes) => self.draws.client_index_bytes += bytes.len() as u64,
        }
    }

    /// The call that was counted last is an upload.
    pub(super) fn upload(&mut self, data: &SubData, regions: &[SubRegion], bytes: &[u8]) {
        let (uploads, bytes) = (&mut self.uploads, bytes.len() as u64);
        if data.target == Target::Buffer as u16 {
            uploads.buffer_uploads += 1;
            uploads.buffer_bytes += bytes;
            return;
        }
        uploads.texture_bytes += bytes;
        if regions.len() > 1 {
            uploads.texture_lists += 1;
            uploads.texture_regions += regions.len() as u64;
        } else {
            uploads.texture_boxes += 1;
        }
    }

    /// What a backend made of uploads.
    pub(super) fn upload_work(&mut self, work: &UploadWork) {
        self.uploads.texture_jobs += work.jobs;
        self.uploads.texture_joined += work.joined;
        self.uploads.texture_job_bytes += work.bytes;
    }

    /// The call that was counted last is an upload into a mapped buffer.
    pub(super) fn resident_upload(&mut self, bytes: &[u8]) {
        self.uploads.buffer_uploads += 1;
        self.uploads.buffer_bytes += bytes.len() as u64;
    }

    /// Bytes of all records.
    pub fn record_bytes(&self) -> u64 {
        self.calls.iter().map(|(_, _, bytes)| bytes).sum()
    }

    /// Moves everything into `total`, apart from the payload of a draw that is still to come.
    pub(super) fn move_into(&mut self, total: &mut PortCounts) {
        let pending = std::mem::take(&mut self.pending);
        add(total, self);
        *self = PortCounts { pending, ..PortCounts::default() };
    }
}

/// Adds counters of one sort.
pub(super) fn add<T: Pod>(total: &mut T, more: &T) {
    let words: &mut [u64] = bytemuck::cast_slice_mut(std::slice::from_mut(total));
    for (total, more) in words.iter_mut().zip(bytemuck::cast_slice::<T, u64>(std::slice::from_ref(more))) {
        *total = total.wrapping_add(*more);
    }
}

/// What counters have grown by.
pub(super) fn since<T: Pod>(now: &T, then: &T) -> T {
    let mut grown = *now;
    let words: &mut [u64] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut grown));
    for (now, then) in words.iter_mut().zip(bytemuck::cast_slice::<T, u64>(std::slice::from_ref(then))) {
        *now = now.wrapping_sub(*then);
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_fall_into_buckets_by_payload() {
        let mut draws = DrawCounts::zeroed();
        for payload in [0, 64, 65, 128, 129, 64 << (DRAW_BUCKETS - 2), (64 << (DRAW_BUCKETS - 2)) + 1, u64::MAX / 2] {
            draws.draw(payload);
        }
        assert_eq!(draws.histogram[..3], [2, 2, 1]);
        assert_eq!(draws.histogram[DRAW_BUCKETS - 2..], [1, 2]);
        assert_eq!(DrawCounts::bucket_limit(1), Some(128));
        assert_eq!(DrawCounts::bucket_limit(DRAW_BUCKETS - 1), None);
    }

    #[test]
    fn a_draws_payload_is_what_it_needed_first() {
        let mut counts = PortCounts::default();
        counts.call(Opcode::SetDynamicState, CallClass::State, 100);
        counts.call(Opcode::ResourceSubdata, CallClass::Object, 1 << 20);
        let mut total = PortCounts::default();
        counts.move_into(&mut total);
        counts.call(Opcode::DrawVbo, CallClass::Verb, 80);
        counts.draw(HostBytes::Bytes(&[0; 6]));
        counts.call(Opcode::DrawVbo, CallClass::Verb, 80);
        counts.draw(HostBytes::None);
        counts.move_into(&mut total);
        assert_eq!((total.draws.draws, total.draws.payload_bytes, total.draws.client_index_bytes), (2, 260, 6));
        assert_eq!(total.calls.calls(Opcode::ResourceSubdata), 1);
        assert_eq!(total.calls.of_class(CallClass::Verb), (2, 160));
        assert_eq!(since(&total, &total), PortCounts::default());
    }
}
