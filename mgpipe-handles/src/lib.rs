//! Handle allocation and dense slot tables for MGPipe.
//!
//! Both sides of the pipe address objects by [`Handle`](mgpipe_types::Handle): a dense slot and a generation.
//!
//! * The **client** mints them: [`HandleAllocator`] for one kind on one thread, [`HandleSpace`] for all kinds of a share
//!   group on any thread. [`LifetimeMap`] leads from a never-reused object id, which never leaves the client, to a handle.
//! * The **server** stores its objects in a [`SlotTable`] of each kind: an array indexed by slot, which checks the generation
//!   and the bound of the kind on every access. [`SharedTable`] is one behind a lock, for the contexts of a screen.
//!
//! ```
//! use mgpipe_handles::{HandleSpace, SlotTable};
//! use mgpipe_types::{BufferHandle, Kind};
//!
//! let space = HandleSpace::new();
//! let mut table = SlotTable::new(Kind::Buffer);
//! let first: BufferHandle = space.alloc().expect("an empty space has slots");
//! table.insert(first, "first").unwrap();
//! table.remove(first).unwrap();
//! space.free(first).unwrap();
//!
//! // The slot is reused, the identity is not.
//! let second: BufferHandle = space.alloc().expect("a slot was freed");
//! assert_eq!((second.slot(), second.gen()), (first.slot(), first.gen() + 1));
//! table.insert(second, "second").unwrap();
//! assert_eq!(table.get(second), Ok(&"second"));
//! assert!(table.get(first).is_err());
//! ```
#![forbid(unsafe_code)]

mod allocator;
mod lifetime;
mod shared_table;
mod slot_table;
mod space;
#[cfg(feature = "proptest")]
pub mod strategies;

pub use allocator::{FreeError, HandleAllocator, SlotAllocator};
pub use lifetime::{LifetimeId, LifetimeIds, LifetimeMap};
pub use shared_table::SharedTable;
pub use slot_table::{SlotError, SlotTable};
pub use space::HandleSpace;
