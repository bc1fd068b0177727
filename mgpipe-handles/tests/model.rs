//! Allocator and table against naive models.

use mgpipe_handles::strategies::{allocator_ops, table_ops, AllocatorOp, TableOp};
use mgpipe_handles::{SlotAllocator, SlotError, SlotTable};
use mgpipe_types::{Handle, Kind};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

const SMALL_LIMIT: u32 = 12;

proptest! {
    /// No handle is ever handed out twice, frees succeed exactly for live handles, and slots stay dense.
    #[test]
    fn allocator_agrees_with_a_set_of_live_handles(ops in allocator_ops(Kind::Texture, 200)) {
        let mut allocator = SlotAllocator::new(1..SMALL_LIMIT);
        let (mut live, mut dead, mut ever) = (Vec::new(), Vec::<Handle>::new(), HashSet::new());
        let mut peak = 0;
        for op in ops {
            let target = match op {
                AllocatorOp::Alloc => {
                    let handle = allocator.alloc();
                    prop_assert_eq!(handle.is_some(), live.len() < SMALL_LIMIT as usize - 1);
                    if let Some(handle) = handle {
                        prop_assert!(handle.slot != 0 && handle.gen != 0 && handle.slot < SMALL_LIMIT);
                        prop_assert!(ever.insert(handle), "{:?} was handed out before", handle);
                        live.push(handle);
                    }
                    peak = peak.max(live.len());
                    continue;
                }
                AllocatorOp::FreeLive(i) if !live.is_empty() => live[i % live.len()],
                AllocatorOp::FreeDead(i) if !dead.is_empty() => dead[i % dead.len()],
                AllocatorOp::FreeAny(handle) => handle,
                _ => continue,
            };
            let position = live.iter().position(|h| *h == target);
            prop_assert_eq!(allocator.is_live(target), position.is_some());
            prop_assert_eq!(allocator.free(target).is_ok(), position.is_some());
            if let Some(position) = position {
                live.swap_remove(position);
                dead.push(target);
            }
            prop_assert_eq!(allocator.live() as usize, live.len());
        }
        prop_assert_eq!(allocator.high_water_mark() as usize, peak + 1);
    }

    /// The table answers what a map of the last generation of each slot answers.
    #[test]
    fn table_agrees_with_a_map(ops in table_ops(Kind::Context, 200)) {
        let mut table = SlotTable::new(Kind::Context);
        let mut model = BTreeMap::<u32, (u32, Option<u32>)>::new();
        let limit = Kind::Context.slot_limit();
        for op in ops {
            let (handle, answer) = match op {
                TableOp::Insert(handle, value) => {
                    let fits = handle.slot < limit && handle.slot != 0 && handle.gen != 0
                        && model.get(&handle.slot).is_none_or(|(gen, _)| *gen <= handle.gen);
                    let answer = table.insert(handle, value);
                    prop_assert_eq!(answer.is_ok(), fits);
                    if fits {
                        let before = model.insert(handle.slot, (handle.gen, Some(value)));
                        prop_assert_eq!(answer, Ok(before.and_then(|(_, v)| v)));
                    }
                    continue;
                }
                TableOp::Get(handle) => (handle, table.get(handle).copied()),
                TableOp::Change(handle, value) => {
                    let answer = table.get_mut(handle).map(|v| std::mem::replace(v, value));
                    let expected = model.get_mut(&handle.slot).filter(|(gen, _)| *gen == handle.gen)
                        .and_then(|(_, v)| v.as_mut()).map(|v| std::mem::replace(v, value));
                    prop_assert_eq!(answer.ok(), expected);
                    continue;
                }
                TableOp::Remove(handle) => {
                    let expected = model.get_mut(&handle.slot).filter(|(gen, _)| *gen == handle.gen)
                        .and_then(|(_, v)| v.take());
                    prop_assert_eq!(table.remove(handle).ok(), expected);
                    continue;
                }
            };
            let expected = model.get(&handle.slot).filter(|(gen, _)| *gen == handle.gen).and_then(|(_, v)| *v);
            prop_assert_eq!(answer.ok(), expected);
            if handle.slot >= limit {
                let out_of_bounds = SlotError::OutOfBounds { kind: Kind::Context, slot: handle.slot, limit };
                prop_assert_eq!(answer, Err(out_of_bounds));
            }
        }
        let all: Vec<_> = table.iter().map(|(h, v)| (h.slot, h.gen, *v)).collect();
        let expected: Vec<_> = model.iter().filter_map(|(slot, (gen, v))| Some((*slot, *gen, (*v)?))).collect();
        prop_assert_eq!(table.len(), expected.len());
        prop_assert_eq!(all, expected);
    }
}
