//! Small records that wait to be handed to the sink together.
//!
//! A record that is written into memory of this thread's own costs a few stores. Handing each to the ring would cost two calls
//! through the seam, the search for its place, and cache lines that the server has just read.

/// Bytes of waiting records at which they are handed over. The largest record that waits is as large.
pub(crate) const BATCH_BYTES: usize = 2 << 10;

const WORDS: usize = 2 * BATCH_BYTES / 8;

/// Whole records, one after the other.
pub(crate) struct Batch {
    words: Box<[u64; WORDS]>,
    /// Less than [`BATCH_BYTES`] between two records, so that one more always fits.
    len: usize,
    records: u64,
}

impl Batch {
    pub(crate) fn new() -> Batch {
        Batch { words: Box::new([0; WORDS]), len: 0, records: 0 }
    }

    /// Room for one record of `bytes`, a multiple of 8 and at most [`BATCH_BYTES`]. Empty room if that is not so.
    #[inline]
    pub(crate) fn room(&mut self, bytes: usize) -> &mut [u8] {
        let all: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words[..]);
        all.get_mut(self.len..self.len + bytes).unwrap_or_default()
    }

    /// The room was filled. True when it is time to hand the records over.
    #[inline]
    pub(crate) fn wrote(&mut self, bytes: usize) -> bool {
        self.len += bytes;
        self.records += 1;
        self.len >= BATCH_BYTES
    }

    /// The records and their number; none wait afterwards.
    pub(crate) fn take(&mut self) -> (&[u8], u64) {
        let (len, records) = (std::mem::take(&mut self.len), std::mem::take(&mut self.records));
        (bytemuck::cast_slice(&self.words[..]).get(..len).unwrap_or_default(), records)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.records == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, BATCH_BYTES};

    #[test]
    fn records_wait_until_they_are_enough_and_leave_in_order() {
        let mut batch = Batch::new();
        assert!(batch.is_empty());
        let mut written = 0;
        for byte in 0..=255u8 {
            batch.room(24).fill(byte);
            written += 24;
            if batch.wrote(24) {
                break;
            }
        }
        assert!((BATCH_BYTES..BATCH_BYTES + 24).contains(&written));
        let (bytes, records) = batch.take();
        assert_eq!((bytes.len(), records), (written, written as u64 / 24));
        assert!(bytes.chunks(24).enumerate().all(|(number, record)| record.iter().all(|byte| *byte == number as u8)));
        assert!(batch.is_empty());
        assert_eq!(batch.take(), (&[][..], 0));
    }

    #[test]
    fn the_largest_record_fits_behind_the_most_that_waits() {
        let mut batch = Batch::new();
        assert_eq!(batch.room(BATCH_BYTES - 8).len(), BATCH_BYTES - 8);
        assert!(!batch.wrote(BATCH_BYTES - 8));
        assert_eq!(batch.room(BATCH_BYTES).len(), BATCH_BYTES);
        assert!(batch.wrote(BATCH_BYTES));
        assert_eq!(batch.room(BATCH_BYTES).len(), 0, "nobody writes past the end");
    }
}
