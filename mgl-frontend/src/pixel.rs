//! Pixels between the application's memory and storage formats.
//!
//! [`ClientFormat`] is a checked format × type pair, [`PixelStore`] the pack or unpack state, [`Shape`] the memory layout
//! of either side. [`unpack_image`] and [`pack_image`] move whole images: rows are copied when both sides have the same
//! layout, permuted byte by byte when both sides consist of bytes, and converted through an intermediate row otherwise.

mod base;
mod client;
mod codec;
mod convert;
mod download;
mod packed;
mod shape;
mod small_float;
mod state;
mod store;

#[cfg(test)]
mod oracle;

pub use client::ClientFormat;
pub use codec::{decode_row, encode_row, Row};
pub use convert::{pack_image, unpack_image, PackOptions};
pub(crate) use convert::{packs_as_stored, Unpacker};
pub(crate) use download::Download;
pub(crate) use packed::{Pack, PackFences, Packed};
pub use shape::{Components, Element, Field, Layout, Shape};
pub(crate) use state::{transfer_address, PixelState};
pub use store::{ImageAddress, PixelStore};
