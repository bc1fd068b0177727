//! A few ranges of bytes.

use std::ops::Range;

/// Ranges that are kept apart; more become one.
const APART: usize = 8;

/// Ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(Vec<Range<usize>>);

impl Ranges {
    /// Adds a range that is not empty.
    pub(super) fn add(&mut self, mut range: Range<usize>) {
        self.0.retain(|other| {
            let apart = other.end < range.start || range.end < other.start;
            if !apart {
                range = range.start.min(other.start)..range.end.max(other.end);
            }
            apart
        });
        self.0.push(range);
        if self.0.len() > APART {
            let start = self.0.iter().map(|range| range.start).min().unwrap_or(0);
            let end = self.0.iter().map(|range| range.end).max().unwrap_or(0);
            self.0.clear();
            self.0.push(start..end);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Range<usize>> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn ranges_that_meet_are_one_and_many_are_one() {
        let mut ranges = Ranges::default();
        for range in [0..4, 8..12, 20..24] {
            ranges.add(range);
        }
        assert_eq!(ranges.0, [0..4, 8..12, 20..24]);
        ranges.add(4..9);
        assert_eq!(ranges.0, [20..24, 0..12]);
        ranges.add(2..3);
        assert_eq!(ranges.0, [20..24, 0..12]);
        for at in 10..20 {
            ranges.add(at * 100..at * 100 + 1);
        }
        assert!(ranges.0.len() < 8 && ranges.0.contains(&(0..1601)), "{ranges:?}");
    }
}
