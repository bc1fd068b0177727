//! Verb classes, state groups, and which class needs which group.

/// A group of state that is pushed as a whole: one dirty bit each.
///
/// The order is the order of emission. Uploads come first, since they create the storage that views, framebuffers and
/// buffer ranges name; programs come before what is keyed by a program; the rest is free.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Group {
    /// Queued uploads, storage changes and texture parameters.
    Uploads,
    /// Framebuffer.
    Framebuffer,
    /// Pipeline half of the render state.
    RenderState,
    /// Dynamic half of the render state.
    DynamicState,
    /// Program of draws.
    DrawProgram,
    /// Program of dispatches.
    DispatchProgram,
    /// Post-link bindings of the program.
    ProgramBindings,
    /// Default uniform block of the program.
    GlobalConstants,
    /// Vertex elements.
    VertexElements,
    /// Vertex buffers.
    VertexBuffers,
    /// Index buffer.
    IndexBuffer,
    /// Indirect and parameter buffers.
    IndirectBuffers,
    /// Current values of vertex attributes.
    AttribDefaults,
    /// Sampler views.
    SamplerViews,
    /// Samplers.
    Samplers,
    /// Image units.
    Images,
    /// Uniform buffers.
    UniformBuffers,
    /// Shader storage buffers.
    StorageBuffers,
    /// Atomic counter buffers.
    AtomicBuffers,
    /// Transform-feedback targets.
    StreamOutput,
    /// Patch parameters.
    Patch,
    /// Pixel pack state.
    PixelPack,
}

impl Group {
    /// Number of groups.
    pub const COUNT: usize = 22;

    /// All groups in order of emission.
    pub const ALL: [Group; Group::COUNT] = [
        Group::Uploads,
        Group::Framebuffer,
        Group::RenderState,
        Group::DynamicState,
        Group::DrawProgram,
        Group::DispatchProgram,
        Group::ProgramBindings,
        Group::GlobalConstants,
        Group::VertexElements,
        Group::VertexBuffers,
        Group::IndexBuffer,
        Group::IndirectBuffers,
        Group::AttribDefaults,
        Group::SamplerViews,
        Group::Samplers,
        Group::Images,
        Group::UniformBuffers,
        Group::StorageBuffers,
        Group::AtomicBuffers,
        Group::StreamOutput,
        Group::Patch,
        Group::PixelPack,
    ];
}

const _: () = {
    let mut i = 0;
    while i < Group::COUNT {
        assert!(Group::ALL[i] as usize == i, "ALL is in numeric order");
        i += 1;
    }
};

/// A set of groups.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupMask(u32);

impl GroupMask {
    /// No group.
    pub const NONE: GroupMask = GroupMask(0);
    /// Every group.
    pub const ALL: GroupMask = GroupMask((1 << Group::COUNT) - 1);

    /// The set of some groups.
    pub const fn of(groups: &[Group]) -> GroupMask {
        let (mut bits, mut i) = (0, 0);
        while i < groups.len() {
            bits |= 1 << groups[i] as u32;
            i += 1;
        }
        GroupMask(bits)
    }

    /// Whether the set has a group.
    #[inline]
    pub const fn contains(self, group: Group) -> bool {
        self.0 >> group as u32 & 1 != 0
    }

    /// Whether the sets have a group in common.
    #[inline]
    pub const fn intersects(self, other: GroupMask) -> bool {
        self.0 & other.0 != 0
    }

    /// Groups of both sets.
    #[inline]
    pub const fn and(self, other: GroupMask) -> GroupMask {
        GroupMask(self.0 & other.0)
    }

    /// Groups of this set that the other lacks.
    #[inline]
    pub const fn without(self, other: GroupMask) -> GroupMask {
        GroupMask(self.0 & !other.0)
    }

    /// Groups that are not in the set.
    #[inline]
    pub const fn not(self) -> GroupMask {
        GroupMask::ALL.without(self)
    }

    /// Whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The groups in order of emission.
    pub fn iter(self) -> impl Iterator<Item = Group> {
        Group::ALL.into_iter().filter(move |g| self.contains(*g))
    }
}

impl std::ops::BitOr for GroupMask {
    type Output = GroupMask;
    #[inline]
    fn bitor(self, other: GroupMask) -> GroupMask {
        GroupMask(self.0 | other.0)
    }
}

impl std::fmt::Debug for GroupMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Which program a verb runs: the two have programs, units and constants of their own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProgramPoint {
    /// Draws and transform feedback.
    Draw,
    /// Compute dispatches.
    Dispatch,
}

/// The nine classes of verbs: each needs other groups of state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum VerbClass {
    /// Draws.
    Draw,
    /// Compute dispatches.
    Dispatch,
    /// Clears of the current framebuffer.
    Clear,
    /// Blits between framebuffers, and copies that name their ends.
    BlitCopy,
    /// Operations on one texture: mipmap generation, texture clears, texture read-back.
    TextureOp,
    /// Reads of the current framebuffer.
    Readback,
    /// Begin, end, pause and resume of transform feedback.
    XfbSpan,
    /// Query begin and end, timestamps.
    Query,
    /// Operations that need the current program and what it is bound to, but draw nothing.
    ProgramOp,
}

impl VerbClass {
    /// Number of classes.
    pub const COUNT: usize = 9;

    /// All classes in numeric order.
    pub const ALL: [VerbClass; VerbClass::COUNT] = [
        VerbClass::Draw,
        VerbClass::Dispatch,
        VerbClass::Clear,
        VerbClass::BlitCopy,
        VerbClass::TextureOp,
        VerbClass::Readback,
        VerbClass::XfbSpan,
        VerbClass::Query,
        VerbClass::ProgramOp,
    ];

    /// Groups that a verb of this class needs before it runs.
    pub const fn groups(self) -> GroupMask {
        match self {
            VerbClass::Draw => GroupMask::ALL.without(GroupMask::of(&[Group::DispatchProgram, Group::PixelPack])),
            VerbClass::Dispatch => GroupMask::of(&[
                Group::Uploads,
                Group::DispatchProgram,
                Group::ProgramBindings,
                Group::GlobalConstants,
                Group::IndirectBuffers,
                Group::SamplerViews,
                Group::Samplers,
                Group::Images,
                Group::UniformBuffers,
                Group::StorageBuffers,
                Group::AtomicBuffers,
            ]),
            VerbClass::Clear | VerbClass::BlitCopy => {
                GroupMask::of(&[Group::Uploads, Group::Framebuffer, Group::RenderState, Group::DynamicState])
            }
            VerbClass::TextureOp => GroupMask::of(&[Group::Uploads]),
            VerbClass::Readback => GroupMask::of(&[Group::Uploads, Group::Framebuffer, Group::PixelPack]),
            VerbClass::XfbSpan => GroupMask::of(&[
                Group::Uploads,
                Group::Framebuffer,
                Group::DrawProgram,
                Group::ProgramBindings,
                Group::StreamOutput,
            ]),
            VerbClass::Query => GroupMask::of(&[Group::Framebuffer]),
            VerbClass::ProgramOp => {
                GroupMask::of(&[Group::DrawProgram, Group::ProgramBindings, Group::GlobalConstants])
            }
        }
    }

    /// The program that a verb of this class runs, if it runs one.
    pub const fn program_point(self) -> Option<ProgramPoint> {
        match self {
            VerbClass::Draw | VerbClass::XfbSpan | VerbClass::ProgramOp => Some(ProgramPoint::Draw),
            VerbClass::Dispatch => Some(ProgramPoint::Dispatch),
            _ => None,
        }
    }
}

const _: () = {
    let mut i = 0;
    while i < VerbClass::COUNT {
        assert!(VerbClass::ALL[i] as usize == i, "ALL is in numeric order");
        i += 1;
    }
};

/// [`VerbClass::groups`] as a table, so that the hot path indexes instead of branching.
pub(crate) const NEEDED: [GroupMask; VerbClass::COUNT] = {
    let mut table = [GroupMask::NONE; VerbClass::COUNT];
    let mut i = 0;
    while i < VerbClass::COUNT {
        table[i] = VerbClass::ALL[i].groups();
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_is_needed_by_some_class() {
        let needed = VerbClass::ALL.iter().fold(GroupMask::NONE, |m, c| m | c.groups());
        assert_eq!(needed, GroupMask::ALL);
    }

    #[test]
    fn sets_iterate_in_order_of_emission() {
        let set = GroupMask::of(&[Group::Patch, Group::Uploads, Group::Framebuffer]);
        let order: Vec<_> = set.iter().collect();
        assert_eq!(order, [Group::Uploads, Group::Framebuffer, Group::Patch]);
        assert!(set.without(set).is_empty());
    }
}
