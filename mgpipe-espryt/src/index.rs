//! Indices: which ones the driver takes as they are, and which have to be written anew.

use crate::context::EsprytContext;
use crate::conv::index_type;
use mgpipe_types::{draw_flags, gl, DrawInfo, DrawRange, HostBytes, PipeError, PipeResult};

/// Indices of a draw as the driver gets them.
pub(crate) struct IndexPlan {
    /// The driver's buffer, its identity (0: the ring) and the first byte. `None`: not indexed.
    pub(crate) buffer: Option<(u32, u64, usize)>,
    /// Type of the indices.
    pub(crate) ty: u32,
    /// Bytes an index.
    pub(crate) size: usize,
    /// The driver restarts at the largest index.
    pub(crate) restart: bool,
    pub(crate) mode: u32,
    /// Ranges that take the place of the draw's own.
    pub(crate) ranges: Option<Vec<DrawRange>>,
}

/// The largest index of a type: where GLES restarts.
fn largest(size: u8) -> u32 {
    match size {
        1 => 0xff,
        2 => 0xffff,
        _ => u32::MAX,
    }
}

/// Where indices are read from on the host.
enum Source<'a> {
    Bytes(&'a [u8], u8),
    /// A draw without indices counts.
    Counting,
}

impl Source<'_> {
    fn get(&self, at: u64) -> u32 {
        match self {
            Source::Counting => at as u32,
            Source::Bytes(bytes, size) => {
                let size = usize::from(*size);
                let Some(b) = usize::try_from(at).ok().and_then(|at| bytes.get(at * size..at * size + size)) else {
                    return 0;
                };
                match b {
                    [a] => u32::from(*a),
                    [a, b] => u32::from(u16::from_le_bytes([*a, *b])),
                    [a, b, c, d] => u32::from_le_bytes([*a, *b, *c, *d]),
                    _ => 0,
                }
            }
        }
    }
}

/// The list mode and vertices of a run of primitives, each with its first vertex last: the driver's flat inputs come from the
/// last vertex, the client's from the first.
fn first_to_last(mode: u32, run: &[u32], out: &mut Vec<u32>) {
    match mode {
        gl::LINES => run.chunks_exact(2).for_each(|l| out.extend([l[1], l[0]])),
        gl::LINE_STRIP => run.windows(2).for_each(|l| out.extend([l[1], l[0]])),
        gl::LINE_LOOP => {
            run.windows(2).for_each(|l| out.extend([l[1], l[0]]));
            if let [first, .., last] = run {
                out.extend([*first, *last]);
            }
        }
        gl::TRIANGLES => run.chunks_exact(3).for_each(|t| out.extend([t[1], t[2], t[0]])),
        gl::TRIANGLE_STRIP => {
            for (index, t) in run.windows(3).enumerate() {
                out.extend(if index % 2 == 0 { [t[1], t[2], t[0]] } else { [t[2], t[1], t[0]] });
            }
        }
        gl::TRIANGLE_FAN => {
            if let Some((first, rest)) = run.split_first() {
                rest.windows(2).for_each(|t| out.extend([t[1], *first, t[0]]));
            }
        }
        _ => out.extend_from_slice(run),
    }
}

/// Edges or corners of the triangles of a run.
fn outline(mode: u32, run: &[u32], points: bool, out: &mut Vec<u32>) {
    let mut triangle = |a: u32, b: u32, c: u32| {
        if points {
            out.extend([a, b, c]);
        } else {
            out.extend([a, b, b, c, c, a]);
        }
    };
    match mode {
        gl::TRIANGLES => run.chunks_exact(3).for_each(|t| triangle(t[0], t[1], t[2])),
        gl::TRIANGLE_STRIP => run.windows(3).for_each(|t| triangle(t[0], t[1], t[2])),
        _ => {
            if let Some((first, rest)) = run.split_first() {
                rest.windows(2).for_each(|t| triangle(*first, t[0], t[1]));
            }
        }
    }
}

/// Indices of a command at most that the host rewrites: with six times as many behind them, a gigabyte.
const MOST_REWRITTEN: u64 = 32 << 20;

/// The list that `first_to_last` makes of a mode; `None` where nothing is to be done.
fn list_mode(mode: u32) -> Option<u32> {
    match mode {
        gl::LINES | gl::LINE_STRIP | gl::LINE_LOOP => Some(gl::LINES),
        gl::TRIANGLES | gl::TRIANGLE_STRIP | gl::TRIANGLE_FAN => Some(gl::TRIANGLES),
        _ => None,
    }
}

/// The part of a range that lies within so many indices.
fn cut(range: &DrawRange, room: u64) -> DrawRange {
    let left = room.saturating_sub(u64::from(range.start));
    DrawRange { count: u64::from(range.count).min(left) as u32, ..*range }
}

impl EsprytContext {
    /// Decides how the indices of a draw reach the driver.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn plan_indices(
        &mut self,
        info: &DrawInfo,
        ranges: &[DrawRange],
        host: HostBytes<'_>,
        first_provokes: bool,
        outlined: Option<u32>,
    ) -> PipeResult<Option<IndexPlan>> {
        let indexed = info.index_size != 0;
        let wants_restart = indexed && info.flags & draw_flags::PRIMITIVE_RESTART != 0;
        // An index that the type cannot have never restarts.
        let restart = wants_restart && info.restart_index <= largest(info.index_size);
        let fixed = info.restart_index == largest(info.index_size);
        let rotated = outlined.or(if first_provokes { list_mode(info.mode) } else { None });
        let turn = |run: &[u32], words: &mut Vec<u32>| match outlined {
            Some(mode) => outline(info.mode, run, mode == gl::POINTS, words),
            None => first_to_last(info.mode, run, words),
        };
        let biased = !self.gles().has.base_vertex && indexed && ranges.iter().any(|range| range.index_bias != 0);
        let rewrite = (restart && !fixed) || rotated.is_some() || biased;
        let user = if info.flags & draw_flags::USER_INDICES != 0 { host.bytes() } else { None };
        if !rewrite {
            if !indexed {
                return Ok(Some(IndexPlan {
                    buffer: None,
                    ty: 0,
                    size: 0,
                    restart: false,
                    mode: info.mode,
                    ranges: None,
                }));
            }
            let shared = self.shared.clone();
            let gles = &shared.device.gles;
            let (room, buffer) = match user {
                Some(bytes) => {
                    let slice = self.ring.write(gles, bytes, 4)?;
                    (bytes.len() as u64, (slice.buffer, 0, slice.offset))
                }
                None => {
                    let Some(buffer) = &self.index_storage else { return Ok(None) };
                    let start = self.index_buffer.offset;
                    (buffer.size().saturating_sub(start), (buffer.name(gles)?, buffer.serial(), start as usize))
                }
            };
            let room = room / u64::from(info.index_size);
            let is_within = |range: &DrawRange| u64::from(range.start) + u64::from(range.count) <= room;
            // Indices behind the end of their buffer are not left to the driver.
            let cut = (!ranges.iter().all(is_within)).then(|| ranges.iter().map(|range| cut(range, room)).collect());
            return Ok(Some(IndexPlan {
                buffer: Some(buffer),
                ty: index_type(info.index_size),
                size: usize::from(info.index_size),
                restart,
                mode: info.mode,
                ranges: cut,
            }));
        }
        let mut read = Vec::new();
        let source = match (indexed, user) {
            (false, _) => Source::Counting,
            (true, Some(bytes)) => Source::Bytes(bytes, info.index_size),
            (true, None) => {
                let Some(buffer) = self.index_storage.clone() else { return Ok(None) };
                let end = ranges.iter().map(|r| u64::from(r.start) + u64::from(r.count)).max().unwrap_or(0);
                let start = self.index_buffer.offset;
                let room = buffer.size().saturating_sub(start);
                let length = (end * u64::from(info.index_size)).min(room);
                read.resize(usize::try_from(length).unwrap_or(0), 0);
                self.read_range(&buffer, start, &mut read)?;
                Source::Bytes(&read, info.index_size)
            }
        };
        let total: u64 = ranges.iter().map(|r| u64::from(r.count)).sum();
        let refused = || PipeError::OutOfMemory(format!("{total} indices that are rewritten"));
        if total > MOST_REWRITTEN {
            return Err(refused());
        }
        // A strip or fan becomes three times as many, an outline of a strip six times.
        let (mut words, mut run) = (Vec::<u32>::new(), Vec::new());
        let longest = ranges.iter().map(|range| range.count as usize).max().unwrap_or(0);
        words.try_reserve_exact(total as usize * 6 + 16).map_err(|_| refused())?;
        if rotated.is_some() {
            run.try_reserve_exact(longest).map_err(|_| refused())?;
        }
        let mut out_ranges = Vec::with_capacity(ranges.len());
        for range in ranges {
            let start = words.len();
            run.clear();
            let bias = if biased { range.index_bias as u32 } else { 0 };
            for at in 0..u64::from(range.count) {
                let index = source.get(u64::from(range.start) + at);
                if restart && index == info.restart_index {
                    if rotated.is_some() {
                        turn(&run, &mut words);
                        run.clear();
                    } else {
                        words.push(u32::MAX);
                    }
                } else if rotated.is_some() {
                    run.push(index.wrapping_add(bias));
                } else {
                    words.push(index.wrapping_add(bias));
                }
            }
            if rotated.is_some() {
                turn(&run, &mut words);
            }
            out_ranges.push(DrawRange {
                start: start as u32,
                count: (words.len() - start) as u32,
                index_bias: if indexed && !biased { range.index_bias } else { 0 },
            });
        }
        if words.is_empty() {
            return Ok(None);
        }
        let shared = self.shared.clone();
        let slice = self.ring.write(&shared.device.gles, bytemuck::cast_slice(&words), 4)?;
        Ok(Some(IndexPlan {
            buffer: Some((slice.buffer, 0, slice.offset)),
            ty: gl::UNSIGNED_INT,
            size: 4,
            restart: restart && rotated.is_none(),
            mode: rotated.unwrap_or(info.mode),
            ranges: Some(out_ranges),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(mode: u32, run: &[u32]) -> Vec<u32> {
        let mut out = Vec::new();
        first_to_last(mode, run, &mut out);
        out
    }

    #[test]
    fn triangles_become_their_edges_or_corners() {
        let mut out = Vec::new();
        outline(gl::TRIANGLE_FAN, &[0, 1, 2, 3], false, &mut out);
        assert_eq!(out, [0, 1, 1, 2, 2, 0, 0, 2, 2, 3, 3, 0]);
        out.clear();
        outline(gl::TRIANGLES, &[0, 1, 2, 3], true, &mut out);
        assert_eq!(out, [0, 1, 2]);
    }

    #[test]
    fn ranges_end_with_their_buffer() {
        let range = |start, count| DrawRange { start, count, index_bias: 3 };
        assert_eq!(cut(&range(4, 10), 8), range(4, 4));
        assert_eq!(cut(&range(9, 10), 8), range(9, 0));
        assert_eq!(cut(&range(u32::MAX, u32::MAX), u64::MAX), range(u32::MAX, u32::MAX));
    }

    #[test]
    fn the_first_vertex_comes_last_and_the_winding_stays() {
        assert_eq!(turned(gl::TRIANGLES, &[0, 1, 2, 3]), [1, 2, 0]);
        // The second triangle of a strip is (2, 1, 3) in GL's order.
        assert_eq!(turned(gl::TRIANGLE_STRIP, &[0, 1, 2, 3]), [1, 2, 0, 3, 2, 1]);
        assert_eq!(turned(gl::TRIANGLE_FAN, &[9, 1, 2, 3]), [2, 9, 1, 3, 9, 2]);
        assert_eq!(turned(gl::LINE_LOOP, &[4, 5, 6]), [5, 4, 6, 5, 4, 6]);
        assert_eq!(turned(gl::TRIANGLE_FAN, &[]), Vec::<u32>::new());
    }
}
