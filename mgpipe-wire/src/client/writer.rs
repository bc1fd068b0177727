//! Writes a record's arguments into the room that was reserved for it.

use crate::record::padded;
use bytemuck::Pod;

/// A cursor over reserved room. Too little room loses bytes and never panics; the sizes are computed from the same
/// arguments, which a debug assertion checks.
pub(crate) struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    pub(crate) fn new(room: &'a mut [u8]) -> Writer<'a> {
        Writer { rest: room }
    }

    /// Appends bytes and pads to 8.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let whole = padded(bytes.len());
        let rest = std::mem::take(&mut self.rest);
        let Some((room, rest)) = rest.split_at_mut_checked(whole) else {
            debug_assert!(false, "a record is longer than its reservation");
            return;
        };
        let (to, pad) = room.split_at_mut(bytes.len());
        to.copy_from_slice(bytes);
        if !pad.is_empty() {
            pad.fill(0);
        }
        self.rest = rest;
    }

    #[inline]
    pub(crate) fn put_word(&mut self, word: u64) {
        self.put(&word.to_ne_bytes());
    }

    /// Appends a count and that many elements. One element, of which a draw has one, is not worth a call of `memcpy`.
    #[inline]
    pub(crate) fn put_tail<T: Pod>(&mut self, elements: &[T]) {
        self.put_word(elements.len() as u64);
        match elements {
            [] => {}
            [one] => self.put(bytemuck::bytes_of(one)),
            many => self.put(bytemuck::cast_slice(many)),
        }
    }

    /// Whether the room was used up.
    pub(crate) fn is_full(&self) -> bool {
        self.rest.is_empty()
    }
}
