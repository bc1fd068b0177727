//! Bytes that this side keeps of buffers and texture levels, and how many.

use super::RecoveryCounters;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Most ranges that are remembered of one block; beyond, the two closest become one.
const MOST_RANGES: usize = 64;

/// How many bytes are kept, against how many may be.
#[derive(Debug, Default)]
pub(super) struct Budget {
    limit: u64,
    counters: Arc<RecoveryCounters>,
}

impl Budget {
    pub(super) fn new(limit: u64, counters: Arc<RecoveryCounters>) -> Arc<Budget> {
        Arc::new(Budget { limit, counters })
    }

    fn take(&self, bytes: u64) -> bool {
        let take = |held: u64| held.checked_add(bytes).filter(|held| *held <= self.limit);
        let taken = self.counters.held_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        if let Ok(before) = taken {
            self.counters.peak_bytes.fetch_max(before + bytes, Ordering::Relaxed);
        }
        taken.is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.counters.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A block of zeroes that fills up, counted in a budget. Memory that is never written is not used, where the system maps
/// zeroes lazily.
pub(super) struct Block {
    bytes: Vec<u8>,
    budget: Arc<Budget>,
}

impl Block {
    /// `None` when the budget or the memory does not suffice.
    pub(super) fn new(size: u64, budget: &Arc<Budget>) -> Option<Block> {
        let length = usize::try_from(size).ok()?;
        if !budget.take(size) {
            return None;
        }
        // From here on the drop gives back what the length says.
        let mut block = Block { bytes: Vec::new(), budget: budget.clone() };
        // `vec!` gets zeroed memory in one piece, but ends the program when there is none: a block that is refused is
        // asked for once more, gently.
        if block.bytes.try_reserve_exact(length).is_err() {
            budget.give_back(size);
            return None;
        }
        block.bytes = vec![0; length];
        Some(block)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Copies bytes in; false when the range lies outside.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) -> bool {
        let room = at.checked_add(bytes.len()).and_then(|end| self.bytes.get_mut(at..end));
        match room {
            Some(room) => {
                room.copy_from_slice(bytes);
                true
            }
            None => false,
        }
    }

    /// Copies within the block; false when a range lies outside.
    pub(super) fn copy_within(&mut self, from: Range<usize>, to: usize) -> bool {
        let fits = from.start <= from.end
            && from.end <= self.bytes.len()
            && to.checked_add(from.len()).is_some_and(|end| end <= self.bytes.len());
        if fits {
            self.bytes.copy_within(from, to);
        }
        fits
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes.len() as u64);
    }
}

/// Ranges that were written, sorted and apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<Range<usize>>);

impl Ranges {
    pub(super) fn add(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let first = self.0.partition_point(|known| known.end < range.start);
        let end = self.0.partition_point(|known| known.start <= range.end);
        if first == end {
            self.0.insert(first, range);
        } else {
            let whole = self.0[first].start.min(range.start)..self.0[end - 1].end.max(range.end);
            self.0.splice(first..end, [whole]);
        }
        if self.0.len() > MOST_RANGES {
            let gap = |at: &usize| self.0[*at + 1].start - self.0[*at].end;
            let closest = (0..self.0.len() - 1).min_by_key(gap).unwrap_or(0);
            let next = self.0.remove(closest + 1);
            self.0[closest].end = next.end;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.0.iter().cloned()
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_where_they_touch() {
        let mut ranges = Ranges::default();
        for (range, want) in [
            (10..20, vec![10..20]),
            (30..40, vec![10..20, 30..40]),
            (20..22, vec![10..22, 30..40]),
            (5..5, vec![10..22, 30..40]),
            (0..50, vec![0..50]),
            (60..61, vec![0..50, 60..61]),
        ] {
            ranges.add(range);
            assert_eq!(ranges.iter().collect::<Vec<_>>(), want);
        }
    }

    #[test]
    fn many_ranges_become_few_that_hold_them_all() {
        let mut ranges = Ranges::default();
        for at in 0..500 {
            ranges.add(at * 10..at * 10 + 1 + at % 7);
        }
        let kept: Vec<_> = ranges.iter().collect();
        assert!(kept.len() <= MOST_RANGES);
        assert!(kept.windows(2).all(|pair| pair[0].end < pair[1].start));
        assert!((0..500).all(|at| kept.iter().any(|range| range.contains(&(at * 10)))));
    }

    #[test]
    fn a_budget_counts_what_lives() {
        let counters = Arc::<RecoveryCounters>::default();
        let budget = Budget::new(100, counters.clone());
        let first = Block::new(60, &budget).expect("fits");
        assert!(Block::new(60, &budget).is_none());
        assert_eq!(counters.held_bytes(), 60);
        drop(first);
        let mut second = Block::new(100, &budget).expect("fits");
        assert!(second.write(98, &[1, 2]) && !second.write(99, &[1, 2]) && !second.write(usize::MAX, &[1]));
        assert!(second.copy_within(98..100, 0) && !second.copy_within(0..2, 99));
        assert_eq!(second.bytes()[..3], [1, 2, 0]);
        drop(second);
        assert_eq!((counters.held_bytes(), counters.peak_bytes()), (0, 100));
    }
}
