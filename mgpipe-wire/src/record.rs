//! The record: header, padding, and the checked reader and writer under the codec.

use bytemuck::{Pod, Zeroable};
use thiserror::Error;

/// Header of a record, 8 bytes. There is no sequence number: the sequence is the ordinal.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct RecordHeader {
    /// Opcode, or a control kind at or above [`CONTROL_BASE`].
    pub kind: u16,
    /// Bits of [`record_flags`].
    pub flags: u16,
    /// Bytes of the whole record with its header: a multiple of 8.
    pub size: u32,
}

const _: () = assert!(std::mem::size_of::<RecordHeader>() == HEADER_BYTES);

/// Bytes of a header.
pub const HEADER_BYTES: usize = 8;

/// First record kind that is not an opcode.
pub const CONTROL_BASE: u16 = 0x8000;

/// Largest record, header included: 1 GiB. A larger upload is split by the caller.
pub const MAX_RECORD_BYTES: usize = 1 << 30;

/// Bits of [`RecordHeader::flags`].
pub mod record_flags {
    /// Host bytes come from the index mirror instead of the record.
    pub const HOST_FROM_MIRROR: u16 = 1 << 0;
    /// The record carries host bytes.
    pub const HOST_BYTES: u16 = 1 << 1;
    /// The body starts with the [`crate::port::ReplyTicket`] of the answer. On connections only.
    pub const TICKET: u16 = 1 << 2;
    /// The record's blob or host bytes lie in STAGE; a [`crate::port::StageRange`] precedes the arguments. On connections
    /// only.
    pub const STAGED: u16 = 1 << 3;
    /// Bits that records in files have.
    pub const HOST: u16 = HOST_FROM_MIRROR | HOST_BYTES;
    /// All bits that have a meaning.
    pub const KNOWN: u16 = HOST | TICKET | STAGED;
}

/// Why bytes are no record.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The input ends before the record does: more bytes may complete it.
    #[error("need {needed} more bytes")]
    NeedMore {
        /// Bytes that are missing at least.
        needed: usize,
    },
    /// The bytes can never become a record.
    #[error("malformed record: {0}")]
    Malformed(&'static str),
}

/// Rounds up to the record alignment of 8 bytes.
pub(crate) const fn padded(len: usize) -> usize {
    (len + 7) & !7
}

/// Padded bytes that an argument of a call takes in its record, by its kind in the catalogue.
macro_rules! argument_bytes {
    (payload $arg:ident) => {
        $crate::record::padded(std::mem::size_of_val($arg))
    };
    (tail $arg:ident) => {
        8 + $crate::record::padded(std::mem::size_of_val($arg))
    };
    (blob $arg:ident) => {
        8 + $crate::record::padded($arg.len())
    };
    (host $arg:ident) => {
        $arg.bytes().map_or(0, |bytes| 8 + $crate::record::padded(bytes.len()))
    };
    (out $arg:ident) => {
        8
    };
}

pub(crate) use argument_bytes;

/// A growing, 8-aligned buffer of encoded records.
#[derive(Default, Clone, Debug)]
pub struct RecordBuf {
    words: Vec<u64>,
    len: usize,
}

impl RecordBuf {
    /// An empty buffer.
    pub fn new() -> RecordBuf {
        RecordBuf::default()
    }

    /// The encoded bytes; the start is 8-aligned.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    /// Whether nothing is encoded.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets the content and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }

    /// Appends bytes and pads to 8. The length before is always a multiple of 8.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let end = padded(self.len + bytes.len());
        self.words.resize(end / 8, 0);
        let at = self.len;
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[at..at + bytes.len()].copy_from_slice(bytes);
        self.len = end;
    }

    /// Appends a 64-bit word.
    pub(crate) fn put_word(&mut self, word: u64) {
        self.words.push(word);
        self.len += 8;
    }

    /// Starts a record; returns its position for [`RecordBuf::finish`].
    pub(crate) fn start(&mut self) -> usize {
        let at = self.len;
        self.put_word(0);
        at
    }

    /// Writes the header of the record that starts at `at`.
    pub(crate) fn finish(&mut self, at: usize, kind: u16, flags: u16) {
        let size = (self.len - at) as u32;
        let header = RecordHeader { kind, flags, size };
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[at..at + HEADER_BYTES]
            .copy_from_slice(bytemuck::bytes_of(&header));
    }
}

/// Reads a record's header and splits the input into the record's body and the rest.
///
/// # Errors
/// [`DecodeError::NeedMore`] when the input is shorter than the record, [`DecodeError::Malformed`] for an impossible
/// size or unknown flags.
pub fn split_record(input: &[u8]) -> Result<(RecordHeader, &[u8], &[u8]), DecodeError> {
    let Some(head) = input.get(..HEADER_BYTES) else {
        return Err(DecodeError::NeedMore { needed: HEADER_BYTES - input.len() });
    };
    let header: RecordHeader = bytemuck::pod_read_unaligned(head);
    let size = header.size as usize;
    if size < HEADER_BYTES || size % 8 != 0 || size > MAX_RECORD_BYTES {
        return Err(DecodeError::Malformed("record size"));
    }
    if header.flags & !record_flags::KNOWN != 0 {
        return Err(DecodeError::Malformed("record flags"));
    }
    if input.len() < size {
        return Err(DecodeError::NeedMore { needed: size - input.len() });
    }
    Ok((header, &input[HEADER_BYTES..size], &input[size..]))
}

/// Cuts a record's body into arguments; every length is checked before it is used.
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    /// Bytes that stand for the first byte string, which is not in the record then.
    staged: Option<&'a [u8]>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: body, staged: None }
    }

    /// A cursor over a record whose first byte string was staged.
    pub(crate) fn with_staged(body: &'a [u8], staged: Option<&'a [u8]>) -> Cursor<'a> {
        Cursor { rest: body, staged }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        // Padding is computed only for a length that is possible: near the top of its range it would overflow.
        let whole = if len > MAX_RECORD_BYTES { usize::MAX } else { padded(len) };
        if whole > self.rest.len() {
            return Err(DecodeError::Malformed("argument is longer than its record"));
        }
        let (head, rest) = self.rest.split_at(whole);
        self.rest = rest;
        Ok(&head[..len])
    }

    pub(crate) fn word(&mut self) -> Result<u64, DecodeError> {
        self.take(8).map(bytemuck::pod_read_unaligned)
    }

    /// A payload by value.
    pub(crate) fn pod<T: Pod>(&mut self) -> Result<T, DecodeError> {
        self.take(std::mem::size_of::<T>()).map(bytemuck::pod_read_unaligned)
    }

    /// A counted tail. The input must be as aligned as the elements are, which records in an 8-aligned buffer are.
    pub(crate) fn tail<T: Pod>(&mut self) -> Result<&'a [T], DecodeError> {
        let count = usize::try_from(self.word()?).map_err(|_| DecodeError::Malformed("tail count"))?;
        let len = count
            .checked_mul(std::mem::size_of::<T>())
            .filter(|len| *len <= MAX_RECORD_BYTES)
            .ok_or(DecodeError::Malformed("tail count"))?;
        bytemuck::try_cast_slice(self.take(len)?).map_err(|_| DecodeError::Malformed("tail alignment"))
    }

    /// A counted byte string.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        if let Some(staged) = self.staged.take() {
            return Ok(staged);
        }
        let len = usize::try_from(self.word()?).map_err(|_| DecodeError::Malformed("blob size"))?;
        self.take(len)
    }

    /// The body must be used up.
    pub(crate) fn end(self) -> Result<(), DecodeError> {
        if self.staged.is_some() {
            Err(DecodeError::Malformed("staged bytes for a record without a byte string"))
        } else if self.rest.is_empty() {
            Ok(())
        } else {
            Err(DecodeError::Malformed("record is longer than its arguments"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn lengths_at_the_top_of_their_range_are_malformed() {
        for length in [u64::MAX, u64::MAX - 7, 1 << 63, (1 << 30) + 1] {
            let words = [length, 0, 0];
            assert!(Cursor::new(bytemuck::cast_slice(&words)).bytes().is_err(), "{length}");
            assert!(Cursor::new(bytemuck::cast_slice(&words)).tail::<u64>().is_err(), "{length}");
        }
    }
}
