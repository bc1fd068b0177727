//! Payloads: the plain data that each call carries.
//!
//! All are `#[repr(C)]`, without hidden padding, without pointers, and with a size that is asserted at compile time.
//! Enums are GL enums unless the member says otherwise. Reserved members are zero.

mod draw;
mod resource;
mod shader;
mod state;
mod transfer;
mod window;

pub use draw::*;
pub use resource::*;
pub use shader::*;
pub use state::*;
pub use transfer::*;
pub use window::*;

use crate::pod::payload;

payload! {
    /// A byte range of the blob that travels with a record, 24 bytes.
    ///
    /// The blob rule: a non-zero size that disagrees with what the record describes is protocol corruption; zero means
    /// that the record does not declare it. In this repository's traits the blob itself is the `&[u8]` argument, and
    /// `offset` counts from its start.
    BlobRef [24] {
        /// First byte within the record's blob.
        offset: u64,
        /// Length in bytes; 0 is "not declared".
        size: u64,
        /// Segment that holds the bytes once encoded (0: behind the record itself).
        segment: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// A range of host bytes as encoded, 32 bytes: the only shape that changes with the transport.
    ///
    /// The traits take [`crate::HostBytes`], which borrows; on the wire `address` is always 0 and the bytes lie in a
    /// segment, or in the server's index mirror.
    HostSpan [32] {
        /// Reserved for same-process transports; 0 on the wire. A pointer never crosses a process.
        address: u64,
        /// Length in bytes.
        size: u64,
        /// Segment, or [`HostSpan::FROM_INDEX_MIRROR`].
        segment: u32,
        /// Padding, zero.
        pad: u32,
        /// First byte within the segment.
        offset: u64,
    }

    /// Start, count and content hash in front of a variable tail, 16 bytes.
    SetHeader [16] {
        /// First slot that the tail describes.
        start: u32,
        /// Elements in the tail; slots in the class from `start + count` on are unbound.
        count: u32,
        /// Hash of the resolved set: the client's emission suppressor and the server's memo key, never an identity.
        content_hash: u64,
    }

    /// A box in texels. For 1D arrays `y` is the layer, for 2D arrays and cube maps `z` is.
    Box3 [24] {
        /// Left.
        x: i32,
        /// Lower row.
        y: i32,
        /// First slice or layer.
        z: i32,
        /// Width in texels.
        width: u32,
        /// Height in rows.
        height: u32,
        /// Slices or layers.
        depth: u32,
    }

    /// A rectangle given by two corners, which may be in either order (a blit flips by swapping them).
    Corners [16] {
        /// First x.
        x0: i32,
        /// First y.
        y0: i32,
        /// Second x, exclusive.
        x1: i32,
        /// Second y, exclusive.
        y1: i32,
    }

    /// An object handle alone.
    HandleOnly [8] {
        /// The object; its kind follows from the call.
        handle: crate::Handle,
    }

    /// A resource handle with its storage class, 16 bytes.
    ResourceRef [16] {
        /// The resource.
        handle: crate::Handle,
        /// Storage class: a [`crate::Kind`] value (buffer, texture or renderbuffer).
        kind: u8,
        /// Padding, zero.
        pad: [u8; 7],
    }
}

impl HostSpan {
    /// Segment number that means "the server's index mirror has the bytes".
    pub const FROM_INDEX_MIRROR: u32 = u32::MAX;
}

impl HandleOnly {
    /// Wraps a typed handle.
    pub fn new<H: crate::TypedHandle>(handle: H) -> HandleOnly {
        HandleOnly { handle: handle.raw() }
    }
}

impl ResourceRef {
    /// Names a resource.
    pub fn new(resource: crate::ResourceHandle) -> ResourceRef {
        ResourceRef { handle: resource.raw(), kind: resource.kind() as u8, pad: [0; 7] }
    }

    /// The resource, or `None` when `kind` names no storage class.
    pub fn resource(&self) -> Option<crate::ResourceHandle> {
        crate::ResourceHandle::from_parts(self.kind, self.handle)
    }
}

impl BlobRef {
    /// The bytes in `blob`: all that follows the offset when no size is declared. `None` where they do not lie in it.
    pub fn bytes(self, blob: &[u8]) -> Option<&[u8]> {
        let start = usize::try_from(self.offset).ok()?;
        let rest = blob.get(start..)?;
        if self.size == 0 {
            return Some(rest);
        }
        rest.get(..usize::try_from(self.size).ok()?)
    }

    /// The one plain-data value at the offset in `blob`. `None` where it does not lie in it.
    pub fn value<T: bytemuck::Pod>(self, blob: &[u8]) -> Option<T> {
        let start = usize::try_from(self.offset).ok()?;
        let bytes = blob.get(start..start.checked_add(std::mem::size_of::<T>())?)?;
        Some(bytemuck::pod_read_unaligned(bytes))
    }
}

impl SubRegion {
    /// The whole of a box, whose bytes lie close together from the beginning of the source.
    pub fn tight(area: &Box3) -> SubRegion {
        SubRegion {
            x: area.x,
            y: area.y,
            z: area.z,
            width: area.width,
            height: area.height,
            depth: area.depth,
            ..SubRegion::default()
        }
    }

    /// The box that it covers.
    pub fn area(&self) -> Box3 {
        Box3 { x: self.x, y: self.y, z: self.z, width: self.width, height: self.height, depth: self.depth }
    }
}

impl Box3 {
    /// A box at the origin.
    pub fn sized(width: u32, height: u32, depth: u32) -> Box3 {
        Box3 { x: 0, y: 0, z: 0, width, height, depth }
    }

    /// Encodes a byte range of a buffer: offset in (x, y), size in (width, height), low word first.
    pub fn from_buffer_range(offset: u64, size: u64) -> Box3 {
        Box3 {
            x: offset as u32 as i32,
            y: (offset >> 32) as u32 as i32,
            z: 0,
            width: size as u32,
            height: (size >> 32) as u32,
            depth: 1,
        }
    }

    /// The byte range (offset, size) that [`Box3::from_buffer_range`] encoded.
    pub fn buffer_range(&self) -> (u64, u64) {
        (self.x as u32 as u64 | (self.y as u32 as u64) << 32, self.width as u64 | (self.height as u64) << 32)
    }
}
