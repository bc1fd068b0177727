//! Typed handles: the identity of every object that crosses MGPipe.

use bytemuck::{Pod, Zeroable};

/// Untyped object identity: a dense slot and a generation, 8 bytes, passed by value.
///
/// `slot` indexes a table of the object's [`Kind`]; `gen` moves only when a slot is reused, never when an object is
/// respecified. Slot 0 is never handed out: `{0,0}` is null and `{0,1}` of [`Kind::Framebuffer`] is the default
/// framebuffer. The client mints every handle, so no create call needs an answer.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Pod, Zeroable, PartialOrd, Ord)]
pub struct Handle {
    /// Index into the dense table of the kind.
    pub slot: u32,
    /// Generation of the slot: 1 for its first user.
    pub gen: u32,
}

impl Handle {
    /// The null handle `{0,0}`.
    pub const NULL: Handle = Handle { slot: 0, gen: 0 };

    /// Whether this is the null handle.
    #[inline]
    pub const fn is_null(self) -> bool {
        self.slot == 0 && self.gen == 0
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.slot, self.gen)
    }
}

/// The object kinds, each with a slot space of its own.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Kind {
    /// Buffer storage.
    Buffer = 1,
    /// Texture storage or a view of one.
    Texture = 2,
    /// Renderbuffer storage.
    Renderbuffer = 3,
    /// Framebuffer identity (its contents travel in `set_framebuffer_state`).
    Framebuffer = 4,
    /// Transform-feedback object.
    Xfb = 5,
    /// Render-state object: the pipeline half of the render state.
    RenderStateCso = 6,
    /// Vertex-elements object.
    VertexElementsCso = 7,
    /// Sampler object.
    SamplerCso = 8,
    /// Sampler view: the restriction under which a texture is sampled.
    SamplerViewCso = 9,
    /// Linked program.
    ShaderCso = 10,
    /// Fence.
    Fence = 11,
    /// Query.
    Query = 12,
    /// Context.
    Context = 13,
}

impl Kind {
    /// All kinds in numeric order.
    pub const ALL: [Kind; 13] = [
        Kind::Buffer,
        Kind::Texture,
        Kind::Renderbuffer,
        Kind::Framebuffer,
        Kind::Xfb,
        Kind::RenderStateCso,
        Kind::VertexElementsCso,
        Kind::SamplerCso,
        Kind::SamplerViewCso,
        Kind::ShaderCso,
        Kind::Fence,
        Kind::Query,
        Kind::Context,
    ];

    /// Exclusive upper bound of slots of this kind. A slot at or above it is protocol corruption, never a resize.
    pub const fn slot_limit(self) -> u32 {
        match self {
            Kind::Buffer | Kind::Texture | Kind::Renderbuffer | Kind::ShaderCso => 1 << 20,
            Kind::VertexElementsCso | Kind::Framebuffer | Kind::Xfb => 1 << 16,
            Kind::RenderStateCso => 1 << 12,
            Kind::SamplerCso | Kind::SamplerViewCso => 1 << 16,
            Kind::Fence | Kind::Query => 1 << 20,
            Kind::Context => 1 << 12,
        }
    }
}

/// First ShaderCso slot of the band that is reserved for program-pipeline composites (the top 1/16).
pub const COMPOSITE_SHADER_SLOT_BASE: u32 = Kind::ShaderCso.slot_limit() - (Kind::ShaderCso.slot_limit() >> 4);

/// Whether a ShaderCso slot lies in the composite band.
pub const fn is_composite_shader_slot(slot: u32) -> bool {
    slot >= COMPOSITE_SHADER_SLOT_BASE && slot < Kind::ShaderCso.slot_limit()
}

/// A handle that knows its kind. Implemented by the typed handles only.
pub trait TypedHandle: Copy + Eq + std::hash::Hash + Default + std::fmt::Debug + Send + Sync + 'static {
    /// The kind whose slot space the handle indexes.
    const KIND: Kind;
    /// Wraps an untyped handle.
    fn from_raw(raw: Handle) -> Self;
    /// The untyped handle.
    fn raw(self) -> Handle;
}

macro_rules! typed_handles {
    ($($(#[$doc:meta])* $name:ident => $kind:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Pod, Zeroable, PartialOrd, Ord)]
        pub struct $name(pub Handle);

        impl $name {
            /// The null handle.
            pub const NULL: $name = $name(Handle::NULL);

            /// Whether this is the null handle.
            #[inline]
            pub const fn is_null(self) -> bool { self.0.is_null() }

            /// Slot in the table of the kind.
            #[inline]
            pub const fn slot(self) -> u32 { self.0.slot }

            /// Generation of the slot.
            #[inline]
            pub const fn gen(self) -> u32 { self.0.gen }
        }

        impl TypedHandle for $name {
            const KIND: Kind = Kind::$kind;
            #[inline]
            fn from_raw(raw: Handle) -> Self { $name(raw) }
            #[inline]
            fn raw(self) -> Handle { self.0 }
        }

        impl From<$name> for Handle {
            #[inline]
            fn from(handle: $name) -> Handle { handle.0 }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}:{:?}", stringify!($kind), self.0)
            }
        }

        const _: () = assert!(std::mem::size_of::<$name>() == 8);
    )*};
}

typed_handles! {
    /// Handle of buffer storage.
    BufferHandle => Buffer;
    /// Handle of texture storage or of a texture view.
    TextureHandle => Texture;
    /// Handle of renderbuffer storage.
    RenderbufferHandle => Renderbuffer;
    /// Identity of a framebuffer object.
    FramebufferHandle => Framebuffer;
    /// Handle of a transform-feedback object.
    XfbHandle => Xfb;
    /// Handle of a render-state object.
    RenderStateCso => RenderStateCso;
    /// Handle of a vertex-elements object.
    VertexElementsCso => VertexElementsCso;
    /// Handle of a sampler.
    SamplerCso => SamplerCso;
    /// Handle of a sampler view.
    SamplerViewCso => SamplerViewCso;
    /// Handle of a linked program.
    ShaderCso => ShaderCso;
    /// Handle of a fence.
    FenceHandle => Fence;
    /// Handle of a query.
    QueryHandle => Query;
    /// Handle of a context.
    ContextHandle => Context;
}

impl FramebufferHandle {
    /// The default framebuffer, `{0,1}`.
    pub const DEFAULT: FramebufferHandle = FramebufferHandle(Handle { slot: 0, gen: 1 });
}

/// A resource of any storage class: the class and its handle, as it travels inside payloads.
///
/// Buffers, textures and renderbuffers have separate slot spaces, so a payload that may name any of them carries the
/// [`Kind`] beside the handle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResourceHandle {
    /// Buffer storage.
    Buffer(BufferHandle),
    /// Texture storage.
    Texture(TextureHandle),
    /// Renderbuffer storage.
    Renderbuffer(RenderbufferHandle),
}

impl ResourceHandle {
    /// Kind of the resource.
    pub const fn kind(self) -> Kind {
        match self {
            ResourceHandle::Buffer(_) => Kind::Buffer,
            ResourceHandle::Texture(_) => Kind::Texture,
            ResourceHandle::Renderbuffer(_) => Kind::Renderbuffer,
        }
    }

    /// Untyped handle of the resource.
    pub const fn raw(self) -> Handle {
        match self {
            ResourceHandle::Buffer(h) => h.0,
            ResourceHandle::Texture(h) => h.0,
            ResourceHandle::Renderbuffer(h) => h.0,
        }
    }

    /// Rebuilds the handle from what a payload carries; `None` when `kind` names no storage class.
    pub const fn from_parts(kind: u8, raw: Handle) -> Option<ResourceHandle> {
        if kind == Kind::Buffer as u8 {
            Some(ResourceHandle::Buffer(BufferHandle(raw)))
        } else if kind == Kind::Texture as u8 {
            Some(ResourceHandle::Texture(TextureHandle(raw)))
        } else if kind == Kind::Renderbuffer as u8 {
            Some(ResourceHandle::Renderbuffer(RenderbufferHandle(raw)))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composite_band_is_the_top_sixteenth() {
        assert!(!is_composite_shader_slot(COMPOSITE_SHADER_SLOT_BASE - 1));
        assert!(is_composite_shader_slot(COMPOSITE_SHADER_SLOT_BASE));
        assert!(!is_composite_shader_slot(Kind::ShaderCso.slot_limit()));
        assert_eq!(Kind::ShaderCso.slot_limit() - COMPOSITE_SHADER_SLOT_BASE, 1 << 16);
    }

    #[test]
    fn resource_handles_round_trip_through_their_parts() {
        let h = ResourceHandle::Texture(TextureHandle(Handle { slot: 7, gen: 3 }));
        assert_eq!(ResourceHandle::from_parts(h.kind() as u8, h.raw()), Some(h));
        assert_eq!(ResourceHandle::from_parts(Kind::Query as u8, h.raw()), None);
    }
}
