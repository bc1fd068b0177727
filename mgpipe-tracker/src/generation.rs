//! Generations: the counters that say what may have changed since the last verb.

use crate::verb::{Group, GroupMask};
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter of a context's own state. Bump it whenever that state changes; a bump that proves unneeded costs time, a
/// missing one costs correctness.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Counter {
    /// Draw or read framebuffer binding, draw buffers, read buffer, default-framebuffer size.
    Framebuffer,
    /// Vertex-array binding, or any of its configuration: everything that the current vertex array says.
    VertexArray,
    /// Buffers, offsets or strides of vertex binding points, and nothing else of the vertex array.
    VertexBuffers,
    /// Element array buffer.
    IndexBuffer,
    /// Textures bound to texture units.
    TextureUnits,
    /// Samplers bound to texture units, or parameters of a sampler object.
    Samplers,
    /// Image unit bindings.
    ImageUnits,
    /// Uniform buffer binding points.
    UniformBuffers,
    /// Shader storage buffer binding points.
    StorageBuffers,
    /// Atomic counter buffer binding points.
    AtomicBuffers,
    /// Transform-feedback binding points and object.
    StreamOutput,
    /// The program that draws use: identity or link version.
    DrawProgram,
    /// The program that dispatches use: identity or link version.
    DispatchProgram,
    /// Post-link bindings of a program in use: sampler units, image units, block bindings.
    ProgramBindings,
    /// Content of the default uniform block of a program in use.
    DefaultBlock,
    /// Current values of vertex attributes.
    AttribDefaults,
    /// Pixel pack state.
    PixelPack,
    /// Patch parameters.
    Patch,
    /// Indirect and parameter buffer bindings.
    IndirectBuffers,
}

impl Counter {
    /// Number of counters.
    pub const COUNT: usize = 19;

    /// All counters in numeric order.
    pub const ALL: [Counter; Counter::COUNT] = [
        Counter::Framebuffer,
        Counter::VertexArray,
        Counter::VertexBuffers,
        Counter::IndexBuffer,
        Counter::TextureUnits,
        Counter::Samplers,
        Counter::ImageUnits,
        Counter::UniformBuffers,
        Counter::StorageBuffers,
        Counter::AtomicBuffers,
        Counter::StreamOutput,
        Counter::DrawProgram,
        Counter::DispatchProgram,
        Counter::ProgramBindings,
        Counter::DefaultBlock,
        Counter::AttribDefaults,
        Counter::PixelPack,
        Counter::Patch,
        Counter::IndirectBuffers,
    ];

    /// Groups that must be resolved again once this counter moved.
    pub const fn dependents(self) -> GroupMask {
        use Group::{
            AtomicBuffers, AttribDefaults, DispatchProgram, DrawProgram, Framebuffer, GlobalConstants, Images,
            IndexBuffer, IndirectBuffers, Patch, PixelPack, ProgramBindings, SamplerViews, Samplers, StorageBuffers,
            StreamOutput, UniformBuffers, Uploads, VertexBuffers, VertexElements,
        };
        match self {
            Counter::Framebuffer => GroupMask::of(&[Framebuffer, Uploads]),
            Counter::VertexArray => {
                GroupMask::of(&[VertexElements, VertexBuffers, IndexBuffer, AttribDefaults, Uploads])
            }
            Counter::VertexBuffers => GroupMask::of(&[VertexBuffers, Uploads]),
            Counter::IndexBuffer => GroupMask::of(&[IndexBuffer, Uploads]),
            Counter::TextureUnits => GroupMask::of(&[SamplerViews, Samplers, Uploads]),
            Counter::Samplers => GroupMask::of(&[SamplerViews, Samplers]),
            Counter::ImageUnits => GroupMask::of(&[Images, Uploads]),
            Counter::UniformBuffers => GroupMask::of(&[UniformBuffers, Uploads]),
            Counter::StorageBuffers => GroupMask::of(&[StorageBuffers, Uploads]),
            Counter::AtomicBuffers => GroupMask::of(&[AtomicBuffers, Uploads]),
            Counter::StreamOutput => GroupMask::of(&[StreamOutput, Uploads]),
            Counter::DrawProgram => GroupMask::of(&[
                DrawProgram,
                ProgramBindings,
                GlobalConstants,
                SamplerViews,
                Samplers,
                AttribDefaults,
                Uploads,
            ]),
            Counter::DispatchProgram => {
                GroupMask::of(&[DispatchProgram, ProgramBindings, GlobalConstants, SamplerViews, Samplers, Uploads])
            }
            Counter::ProgramBindings => GroupMask::of(&[ProgramBindings, SamplerViews, Samplers, Uploads]),
            Counter::DefaultBlock => GroupMask::of(&[GlobalConstants]),
            Counter::AttribDefaults => GroupMask::of(&[AttribDefaults]),
            Counter::PixelPack => GroupMask::of(&[PixelPack]),
            Counter::Patch => GroupMask::of(&[Patch]),
            Counter::IndirectBuffers => GroupMask::of(&[IndirectBuffers, Uploads]),
        }
    }
}

const _: () = {
    let mut i = 0;
    while i < Counter::COUNT {
        assert!(Counter::ALL[i] as usize == i, "ALL is in numeric order");
        i += 1;
    }
};

/// The counters of one context, kept by the frontend.
///
/// Counters are 64 bits wide and compared for equality, so that they never come round to a value that was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Generations {
    epoch: u64,
    counters: [u64; Counter::COUNT],
}

impl Generations {
    /// Counters of a new context.
    pub const fn new() -> Generations {
        Generations::starting_at(0)
    }

    /// Counters that start at a value of choice, for tests of wrap-around.
    pub const fn starting_at(value: u64) -> Generations {
        Generations { epoch: value, counters: [value; Counter::COUNT] }
    }

    /// Notes that the state of `counter` changed.
    #[inline]
    pub fn bump(&mut self, counter: Counter) {
        self.epoch = self.epoch.wrapping_add(1);
        let c = &mut self.counters[counter as usize];
        *c = c.wrapping_add(1);
    }

    /// Value of a counter.
    #[inline]
    pub fn get(&self, counter: Counter) -> u64 {
        self.counters[counter as usize]
    }

    /// Moves with every counter: the one value that the steady state compares.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Groups that depend on a counter which differs from `seen`.
    pub(crate) fn moved_since(&self, seen: &Generations) -> GroupMask {
        let mut mask = GroupMask::NONE;
        for counter in Counter::ALL {
            if self.get(counter) != seen.get(counter) {
                mask = mask | DEPENDENTS[counter as usize];
            }
        }
        mask
    }
}

impl Default for Generations {
    fn default() -> Self {
        Generations::new()
    }
}

const DEPENDENTS: [GroupMask; Counter::COUNT] = {
    let mut table = [GroupMask::NONE; Counter::COUNT];
    let mut i = 0;
    while i < Counter::COUNT {
        table[i] = Counter::ALL[i].dependents();
        i += 1;
    }
    table
};

/// The five aggregate generations: "any object of this sort changed in this way", over all objects that a context can
/// reach, shared ones included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Aggregates {
    /// Any texture or renderbuffer got new content or storage.
    pub texture_content: u64,
    /// Any texture parameter changed.
    pub texture_params: u64,
    /// Any buffer got new storage (its size or identity changed), or has content that waits to be pushed.
    pub buffer: u64,
    /// Any attribute of any vertex array changed.
    pub vertex_attribute: u64,
    /// Any attachment of any framebuffer changed, or the storage behind one.
    pub attachment: u64,
}

impl Aggregates {
    /// Groups that depend on an aggregate which differs from `seen`.
    pub(crate) fn moved_since(&self, seen: &Aggregates) -> GroupMask {
        use Group::{
            AtomicBuffers, AttribDefaults, Framebuffer, Images, IndexBuffer, IndirectBuffers, SamplerViews, Samplers,
            StorageBuffers, StreamOutput, UniformBuffers, Uploads, VertexBuffers, VertexElements,
        };
        const CONTENT: GroupMask = GroupMask::of(&[Uploads, SamplerViews, Samplers, Images, Framebuffer]);
        const PARAMS: GroupMask = GroupMask::of(&[Uploads, SamplerViews, Samplers]);
        const BUFFER: GroupMask = GroupMask::of(&[
            Uploads,
            VertexBuffers,
            IndexBuffer,
            IndirectBuffers,
            UniformBuffers,
            StorageBuffers,
            AtomicBuffers,
            StreamOutput,
            SamplerViews,
        ]);
        const ATTRIBUTE: GroupMask = GroupMask::of(&[VertexElements, VertexBuffers, AttribDefaults]);
        const ATTACHMENT: GroupMask = GroupMask::of(&[Uploads, Framebuffer]);
        let mut mask = GroupMask::NONE;
        for (moved, groups) in [
            (self.texture_content != seen.texture_content, CONTENT),
            (self.texture_params != seen.texture_params, PARAMS),
            (self.buffer != seen.buffer, BUFFER),
            (self.vertex_attribute != seen.vertex_attribute, ATTRIBUTE),
            (self.attachment != seen.attachment, ATTACHMENT),
        ] {
            if moved {
                mask = mask | groups;
            }
        }
        mask
    }
}

/// Names an aggregate generation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Aggregate {
    /// [`Aggregates::texture_content`].
    TextureContent,
    /// [`Aggregates::texture_params`].
    TextureParams,
    /// [`Aggregates::buffer`].
    Buffer,
    /// [`Aggregates::vertex_attribute`].
    VertexAttribute,
    /// [`Aggregates::attachment`].
    Attachment,
}

/// Aggregate generations of a share group, bumped by any of its contexts on any thread.
///
/// Change the object first and bump afterwards: a tracker that reads the new generation then also sees the new object.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct SharedAggregates {
    counters: [AtomicU64; 5],
}

impl SharedAggregates {
    /// Counters of a new share group.
    pub const fn new() -> SharedAggregates {
        SharedAggregates { counters: [const { AtomicU64::new(0) }; 5] }
    }

    /// Notes that an object changed.
    #[inline]
    pub fn bump(&self, aggregate: Aggregate) {
        self.counters[aggregate as usize].fetch_add(1, Ordering::Release);
    }

    /// The values now.
    #[inline]
    pub fn snapshot(&self) -> Aggregates {
        let read = |a: Aggregate| self.counters[a as usize].load(Ordering::Acquire);
        Aggregates {
            texture_content: read(Aggregate::TextureContent),
            texture_params: read(Aggregate::TextureParams),
            buffer: read(Aggregate::Buffer),
            vertex_attribute: read(Aggregate::VertexAttribute),
            attachment: read(Aggregate::Attachment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_moves_some_group_across_its_wrap() {
        for counter in Counter::ALL {
            let seen = Generations::starting_at(u64::MAX);
            let mut now = seen;
            now.bump(counter);
            assert_eq!(now.get(counter), 0);
            assert_ne!(now.epoch(), seen.epoch());
            let moved = now.moved_since(&seen);
            assert_eq!(moved, counter.dependents());
            assert!(!moved.is_empty());
        }
    }

    #[test]
    fn every_group_but_render_state_is_reached_by_some_counter() {
        let reached = Counter::ALL.iter().fold(GroupMask::NONE, |m, c| m | c.dependents());
        let expected = GroupMask::ALL.without(GroupMask::of(&[Group::RenderState, Group::DynamicState]));
        assert_eq!(reached, expected);
    }

    #[test]
    fn shared_aggregates_move_one_by_one() {
        let shared = SharedAggregates::new();
        let before = shared.snapshot();
        shared.bump(Aggregate::Buffer);
        let after = shared.snapshot();
        assert_eq!(after, Aggregates { buffer: 1, ..before });
        assert!(after.moved_since(&before).contains(Group::UniformBuffers));
        assert!(before.moved_since(&before).is_empty());
    }
}
