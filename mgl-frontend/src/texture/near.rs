//! Which of many boxes may lie near a box.

use mgpipe_types::Box3;

/// Texels of a cell's side, as a power of two.
const CELL: u32 = 5;
/// Cells are told apart by so many lists.
const LISTS: usize = 1024;
/// Boxes that are looked through one by one.
const FEW: usize = 16;
/// A box of more cells is near everything.
const MOST_CELLS: u64 = 64;
const NONE: u32 = u32::MAX;

/// An index of numbered boxes by place. While there are few it is empty, and says that all are near.
#[derive(Debug, Default)]
pub(super) struct Near {
    /// First entry of each list; empty while there are few boxes.
    lists: Vec<u32>,
    /// A box's number, and the next entry of its list.
    entries: Vec<(u32, u32)>,
    /// Boxes of many cells.
    large: Vec<u32>,
}

/// Calls `visit` with the list of each cell of a box. False when they are too many.
fn each_list(area: &Box3, mut visit: impl FnMut(usize)) -> bool {
    let cells = |at: i32, size: u32, shift: u32| {
        let last = i64::from(at) + i64::from(size.max(1)) - 1;
        (i64::from(at) >> shift, (last >> shift) - (i64::from(at) >> shift) + 1)
    };
    let (x, width) = cells(area.x, area.width, CELL);
    let (y, height) = cells(area.y, area.height, CELL);
    let (z, depth) = cells(area.z, area.depth, 0);
    let most = MOST_CELLS as i64;
    if width > most || height > most || depth > most || (width * height * depth) as u64 > MOST_CELLS {
        return false;
    }
    for z in z..z + depth {
        for y in y..y + height {
            for x in x..x + width {
                let cell = (x as u64) ^ (y as u64) << 20 ^ (z as u64) << 40;
                visit((cell.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize % LISTS);
            }
        }
    }
    true
}

impl Near {
    /// Forgets all boxes.
    pub(super) fn clear(&mut self) {
        self.lists.clear();
        self.entries.clear();
        self.large.clear();
    }

    /// Adds the place of box `number`, the latest of `boxes`, or a further place of it.
    pub(super) fn insert<'a>(&mut self, number: usize, area: &Box3, boxes: impl ExactSizeIterator<Item = &'a Box3>) {
        let count = boxes.len();
        if self.lists.is_empty() {
            if count <= FEW {
                return;
            }
        } else if self.entries.len() + self.large.len() <= 256 + 16 * count {
            self.add(number, area);
            return;
        }
        // The first time, or when most entries are of boxes that are no more.
        self.clear();
        self.lists.resize(LISTS, NONE);
        for (number, area) in boxes.enumerate() {
            self.add(number, area);
        }
    }

    fn add(&mut self, number: usize, area: &Box3) {
        let number = number as u32;
        let (lists, entries) = (&mut self.lists, &mut self.entries);
        let few = each_list(area, |list| {
            entries.push((number, lists[list]));
            lists[list] = entries.len() as u32 - 1;
        });
        if !few {
            self.large.push(number);
        }
    }

    /// Calls `visit` with the numbers of the `count` boxes that may touch an area: some come twice, some are far, and some
    /// numbers are of boxes that are no more.
    pub(super) fn visit(&self, area: &Box3, count: usize, mut visit: impl FnMut(usize)) {
        if !self.lists.is_empty() {
            let few = each_list(area, |list| {
                let mut at = self.lists[list];
                while let Some((number, next)) = self.entries.get(at as usize) {
                    visit(*number as usize);
                    at = *next;
                }
            });
            if few {
                self.large.iter().for_each(|number| visit(*number as usize));
                return;
            }
        }
        (0..count).for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn whatever_touches_is_found() {
        let area = |x: i32, y: i32, width: u32, height: u32| Box3 { x, y, z: 0, width, height, depth: 1 };
        let (mut near, mut boxes) = (Near::default(), Vec::new());
        for i in 0..200i32 {
            let size = if i % 50 == 7 { 3000 } else { 10 + i as u32 % 40 };
            boxes.push(area(i * 37 % 1000, i * 91 % 700, size, size));
            near.insert(boxes.len() - 1, &boxes[boxes.len() - 1], boxes.iter());
            let asked = area(i * 53 % 1000, i * 11 % 700, 33, if i % 20 == 3 { 5000 } else { 7 });
            let mut found = HashSet::new();
            near.visit(&asked, boxes.len(), |number| {
                found.insert(number);
            });
            for (number, there) in boxes.iter().enumerate() {
                assert!(found.contains(&number) || !super::super::pending::overlaps(there, &asked), "{number} of {i}");
            }
        }
        let mut found = 0;
        near.visit(&area(5000, 5000, 1, 1), boxes.len(), |_| found += 1);
        assert!(found < 20, "{found} of what is far away");
    }
}
