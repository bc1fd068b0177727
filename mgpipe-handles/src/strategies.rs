//! Proptest strategies: handles, and operation sequences on allocators and tables.

use mgpipe_types::{Handle, Kind, TypedHandle};
use proptest::prelude::*;

/// A handle whose slot lies within the bound of the kind and is not reserved. Low slots and generations are likely, so
/// that two generated handles collide often.
pub fn handle(kind: Kind) -> impl Strategy<Value = Handle> {
    let limit = kind.slot_limit();
    (prop_oneof![4 => 1..8u32, 1 => 1..limit], prop_oneof![4 => 1..4u32, 1 => 1..=u32::MAX])
        .prop_map(|(slot, gen)| Handle { slot, gen })
}

/// A typed handle within the bound of its kind.
pub fn typed_handle<H: TypedHandle>() -> impl Strategy<Value = H> {
    handle(H::KIND).prop_map(H::from_raw)
}

/// Any eight bytes: null, reserved and out-of-bounds handles included, as a hostile peer sends them.
pub fn any_handle(kind: Kind) -> impl Strategy<Value = Handle> {
    prop_oneof![
        6 => handle(kind),
        1 => Just(Handle::NULL),
        1 => (any::<u32>(), any::<u32>()).prop_map(|(slot, gen)| Handle { slot, gen }),
        1 => (kind.slot_limit()..kind.slot_limit() + 2, 1..3u32).prop_map(|(slot, gen)| Handle { slot, gen }),
    ]
}

/// A step on an allocator.
#[derive(Clone, Debug)]
pub enum AllocatorOp {
    /// Allocate.
    Alloc,
    /// Free the live handle at this index (taken modulo their number).
    FreeLive(usize),
    /// Free a handle that was freed before, at this index.
    FreeDead(usize),
    /// Free a handle that may never have been handed out.
    FreeAny(Handle),
}

/// A sequence of steps on an allocator of a kind.
pub fn allocator_ops(kind: Kind, max_len: usize) -> impl Strategy<Value = Vec<AllocatorOp>> {
    let op = prop_oneof![
        4 => Just(AllocatorOp::Alloc),
        3 => any::<usize>().prop_map(AllocatorOp::FreeLive),
        1 => any::<usize>().prop_map(AllocatorOp::FreeDead),
        1 => any_handle(kind).prop_map(AllocatorOp::FreeAny),
    ];
    proptest::collection::vec(op, 0..=max_len)
}

/// A step on a slot table.
#[derive(Clone, Debug)]
pub enum TableOp {
    /// Insert a value under a handle.
    Insert(Handle, u32),
    /// Look a handle up.
    Get(Handle),
    /// Change the value of a handle.
    Change(Handle, u32),
    /// Remove a handle.
    Remove(Handle),
}

/// A sequence of steps on a table of a kind.
pub fn table_ops(kind: Kind, max_len: usize) -> impl Strategy<Value = Vec<TableOp>> {
    let op = prop_oneof![
        3 => (any_handle(kind), any::<u32>()).prop_map(|(h, v)| TableOp::Insert(h, v)),
        2 => any_handle(kind).prop_map(TableOp::Get),
        1 => (any_handle(kind), any::<u32>()).prop_map(|(h, v)| TableOp::Change(h, v)),
        2 => any_handle(kind).prop_map(TableOp::Remove),
    ];
    proptest::collection::vec(op, 0..=max_len)
}
