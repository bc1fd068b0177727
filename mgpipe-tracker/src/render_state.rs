//! The render state of a context: one block, its versions, and one setter a state.

#[cfg(any(test, feature = "proptest"))]
mod argument;
mod capability;
mod setters;

#[cfg(any(test, feature = "proptest"))]
pub use argument::ArgumentSource;
#[cfg(any(test, feature = "proptest"))]
pub use setters::{Setter, SETTERS};

use bytemuck::{bytes_of, bytes_of_mut, Pod};
use mgpipe_types::render_state::{chunks, Half, PIPELINE_BYTES};
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

    /// Version of each dynamic chunk.
    #[inline]
    pub(crate) fn dynamic_versions(&self) -> &[u64; DYNAMIC_CHUNKS] {
        &self.dynamic_versions
    }

    /// Whether the pipeline half has exactly these packed bytes.
    #[inline]
    pub fn pipeline_equals(&self, packed: &[u8; PIPELINE_BYTES]) -> bool {
        let block = bytes_of(&self.state);
        let mut at = 0;
        for chunk in chunks(Half::Pipeline) {
            if block[chunk.range()] != packed[at..at + chunk.len] {
                return false;
            }
            at += chunk.len;
        }
        true
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
        let owner = OWNER[offset / 4];
        debug_assert_eq!(owner, OWNER[(offset + size_of::<T>() - 1) / 4], "a value crosses a chunk boundary");
        self.version = self.version.wrapping_add(1);
        if owner == PIPELINE {
            self.pipeline_version = self.pipeline_version.wrapping_add(1);
        } else {
            let v = &mut self.dynamic_versions[owner as usize];
            *v = v.wrapping_add(1);
        }
    }
}

impl Default for RenderStateTracker {
    fn default() -> Self {
        RenderStateTracker::new()
    }
}
