//! The render state of a context: one block, its versions, and one setter a state.

#[cfg(any(test, feature = "proptest"))]
mod argument;
mod capability;
#[cfg(test)]
mod consistency;
mod setters;

#[cfg(any(test, feature = "proptest"))]
pub use argument::ArgumentSource;
#[cfg(any(test, feature = "proptest"))]
pub use setters::{Setter, SETTERS};

use bytemuck::{bytes_of, bytes_of_mut, Pod};
use mgpipe_types::render_state::{Half, PIPELINE_BYTES};
use mgpipe_types::RenderState;
use std::mem::size_of;

/// Number of dynamic chunks.
pub(crate) const DYNAMIC_CHUNKS: usize = 8;
/// Words of the block: every member and every chunk boundary is 4-byte aligned.
const WORDS: usize = size_of::<RenderState>() / 4;
/// Mark in [`OWNER`] for words of the pipeline half.
const PIPELINE: u8 = 0xff;

/// For each word of the block: [`PIPELINE`], or the number of the dynamic chunk that holds it. Derived from the one chunk
/// table, so that a setter cannot disagree with it about what it changes.
const OWNER: [u8; WORDS] = {
    let mut owner = [PIPELINE; WORDS];
    let table = &mgpipe_types::render_state::CHUNKS;
    let (mut i, mut dynamic) = (0, 0);
    while i < table.len() {
        assert!(table[i].offset % 4 == 0 && table[i].len % 4 == 0);
        if matches!(table[i].half, Half::Dynamic) {
            let mut word = table[i].offset / 4;
            while word < (table[i].offset + table[i].len) / 4 {
                owner[word] = dynamic;
                word += 1;
            }
            dynamic += 1;
        }
        i += 1;
    }
    assert!(dynamic as usize == DYNAMIC_CHUNKS);
    owner
};

/// The pipeline half, packed, in words.
pub(crate) type PipelineWords = [u32; PIPELINE_BYTES / 4];

/// Number of pipeline chunks.
const PIPELINE_CHUNKS: usize = 7;

/// First word in the block, first packed word and words of each chunk of a half.
const fn word_ranges<const N: usize>(half: Half) -> [(usize, usize, usize); N] {
    let table = &mgpipe_types::render_state::CHUNKS;
    let mut out = [(0, 0, 0); N];
    let (mut i, mut n, mut packed) = (0, 0, 0);
    while i < table.len() {
        if matches!((table[i].half, half), (Half::Pipeline, Half::Pipeline) | (Half::Dynamic, Half::Dynamic)) {
            out[n] = (table[i].offset / 4, packed, table[i].len / 4);
            packed += table[i].len / 4;
            n += 1;
        }
        i += 1;
    }
    assert!(n == N);
    out
}

const PIPELINE_RANGES: [(usize, usize, usize); PIPELINE_CHUNKS] = word_ranges(Half::Pipeline);
const DYNAMIC_RANGES: [(usize, usize, usize); DYNAMIC_CHUNKS] = word_ranges(Half::Dynamic);

/// Zero when pipeline chunk `I` of a block equals its packed words.
#[inline(always)]
fn chunk_differs<const I: usize>(block: &[u32; WORDS], packed: &PipelineWords) -> u32 {
    let (at, packed_at, len) = const { PIPELINE_RANGES[I] };
    let mut differs = 0;
    for (a, b) in block[at..at + len].iter().zip(&packed[packed_at..packed_at + len]) {
        differs |= a ^ b;
    }
    differs
}

/// Copies dynamic chunk `I` of `now` over `sent`; whether that changed anything.
#[inline]
fn take_chunk<const I: usize>(now: &[u32; WORDS], sent: &mut [u32; WORDS]) -> bool {
    let (at, _, len) = const { DYNAMIC_RANGES[I] };
    let mut differs = 0;
    for (a, b) in now[at..at + len].iter().zip(&mut sent[at..at + len]) {
        differs |= *a ^ *b;
        *b = *a;
    }
    differs != 0
}

/// Copies the dynamic chunks whose version differs from `seen` over `sent`, takes their versions over, and answers the
/// chunks that differed.
#[inline]
pub(crate) fn take_dynamic_chunks(
    state: &RenderStateTracker,
    seen: &mut [u64; DYNAMIC_CHUNKS],
    sent: &mut RenderState,
) -> u32 {
    let (now, sent): (&[u32; WORDS], _) = (bytemuck::cast_ref(&state.state), bytemuck::cast_mut(sent));
    let mut mask = 0;
    macro_rules! chunks {
        ($($i:literal)*) => {$(
            if seen[$i] != state.dynamic_versions[$i] {
                seen[$i] = state.dynamic_versions[$i];
                mask |= u32::from(take_chunk::<$i>(now, sent)) << $i;
            }
        )*};
    }
    chunks!(0 1 2 3 4 5 6 7);
    mask
}

/// One face of a polygon, or both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Face {
    /// Front faces.
    Front,
    /// Back faces.
    Back,
    /// Both.
    FrontAndBack,
}

impl Face {
    /// The face that a GL enum names.
    pub fn from_gl(face: u32) -> Option<Face> {
        match face {
            mgpipe_types::gl::FRONT => Some(Face::Front),
            mgpipe_types::gl::BACK => Some(Face::Back),
            mgpipe_types::gl::FRONT_AND_BACK => Some(Face::FrontAndBack),
            _ => None,
        }
    }

    /// Whether the front face is meant.
    pub const fn front(self) -> bool {
        matches!(self, Face::Front | Face::FrontAndBack)
    }

    /// Whether the back face is meant.
    pub const fn back(self) -> bool {
        matches!(self, Face::Back | Face::FrontAndBack)
    }
}

/// A hint, as an index into [`RenderState::hints`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Hint {
    /// `GL_LINE_SMOOTH_HINT`.
    LineSmooth,
    /// `GL_POLYGON_SMOOTH_HINT`.
    PolygonSmooth,
    /// `GL_TEXTURE_COMPRESSION_HINT`.
    TextureCompression,
    /// `GL_FRAGMENT_SHADER_DERIVATIVE_HINT`.
    FragmentShaderDerivative,
}

/// The render state with its versions.
///
/// A setter that changes a byte of the pipeline half moves `pipeline_version`; one that changes a byte of the dynamic
/// half moves the version of its chunk; both move `version`. A setter that changes nothing moves nothing. Values are
/// compared as bytes, so that a NaN equals itself.
///
/// Setters validate nothing: GL enums, ranges and errors are the frontend's. An index beyond the last viewport or draw
/// buffer changes nothing.
#[derive(Clone, Debug)]
pub struct RenderStateTracker {
    version: u64,
    pipeline_version: u64,
    dynamic_version: u64,
    dynamic_versions: [u64; DYNAMIC_CHUNKS],
    state: RenderState,
}

impl RenderStateTracker {
    /// The state of a new context.
    pub fn new() -> RenderStateTracker {
        RenderStateTracker::starting_at(0)
    }

    /// The state of a new context, with versions that start at a value of choice: for tests of wrap-around.
    pub fn starting_at(version: u64) -> RenderStateTracker {
        RenderStateTracker {
            version,
            pipeline_version: version,
            dynamic_version: version,
            dynamic_versions: [version; DYNAMIC_CHUNKS],
            state: RenderState::initial(),
        }
    }

    /// The block, for queries.
    #[inline]
    pub fn state(&self) -> &RenderState {
        &self.state
    }

    /// Moves whenever a byte of the block changes.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Moves whenever a byte of the pipeline half changes.
    #[inline]
    pub fn pipeline_version(&self) -> u64 {
        self.pipeline_version
    }

    /// Moves whenever a byte of the dynamic half changes.
    #[inline]
    pub fn dynamic_version(&self) -> u64 {
        self.dynamic_version
    }

    /// Version of each dynamic chunk.
    #[inline]
    pub(crate) fn dynamic_versions(&self) -> &[u64; DYNAMIC_CHUNKS] {
        &self.dynamic_versions
    }

    /// The packed words of the pipeline half: the identity of a render-state object.
    pub(crate) fn pipeline_words(&self) -> PipelineWords {
        bytemuck::cast(self.state.pipeline_bytes())
    }

    /// Whether the pipeline half has exactly these packed words.
    #[inline]
    pub(crate) fn pipeline_equals(&self, packed: &PipelineWords) -> bool {
        let block: &[u32; WORDS] = bytemuck::cast_ref(&self.state);
        // Unrolled over the chunks, so that every length is constant and nothing is called.
        let differs = chunk_differs::<0>(block, packed)
            | chunk_differs::<1>(block, packed)
            | chunk_differs::<2>(block, packed)
            | chunk_differs::<3>(block, packed)
            | chunk_differs::<4>(block, packed)
            | chunk_differs::<5>(block, packed)
            | chunk_differs::<6>(block, packed);
        differs == 0
    }

    /// Moves the versions that own the bytes at an offset.
    #[inline(always)]
    fn moved(&mut self, offset: usize) {
        let owner = OWNER[offset / 4];
        self.version = self.version.wrapping_add(1);
        if owner == PIPELINE {
            self.pipeline_version = self.pipeline_version.wrapping_add(1);
        } else {
            self.dynamic_version = self.dynamic_version.wrapping_add(1);
            let v = &mut self.dynamic_versions[owner as usize];
            *v = v.wrapping_add(1);
        }
    }

    /// Writes one value of whole words to `N` places, `stride` bytes apart from `offset` on.
    ///
    /// Not inlined: with a constant in the value the compiler would store single words, and the comparison at the next
    /// verb, which loads several words at once, would stall on them.
    #[inline(never)]
    fn write_repeated<const WORDS_EACH: usize, const N: usize>(
        &mut self,
        offset: usize,
        stride: usize,
        value: &[u32; WORDS_EACH],
    ) {
        let block: &mut [u32; WORDS] = bytemuck::cast_mut(&mut self.state);
        let places = || (0..N).map(|i| (offset + i * stride) / 4);
        // One place tells most changes; all are looked at only when nothing seems to change.
        if block[offset / 4..offset / 4 + WORDS_EACH] == *value
            && places().all(|at| block[at..at + WORDS_EACH] == *value)
        {
            return;
        }
        for at in places() {
            block[at..at + WORDS_EACH].copy_from_slice(value);
        }
        self.moved(offset);
    }

    /// Writes a value at a byte offset of the block and moves the versions that own the bytes. The value must not cross a
    /// chunk boundary, which the setters' tests establish.
    #[inline(always)]
    fn write<T: Pod>(&mut self, offset: usize, value: &T) {
        let target = &mut bytes_of_mut(&mut self.state)[offset..offset + size_of::<T>()];
        let value = bytes_of(value);
        if *target == *value {
            return;
        }
        target.copy_from_slice(value);
        debug_assert_eq!(
            OWNER[offset / 4],
            OWNER[(offset + size_of::<T>() - 1) / 4],
            "a value crosses a chunk boundary"
        );
        self.moved(offset);
    }
}

impl Default for RenderStateTracker {
    fn default() -> Self {
        RenderStateTracker::new()
    }
}
