//! Writes records on a connection, whatever their size, for the subject that they are about.

use crate::client::writer::Writer;
use crate::message::{control, Subject};
use crate::port::{CommandSink, Idle, PortError, ReplyTicket, StageRange};
use crate::record::{padded, record_flags, RecordHeader, CONTROL_BASE, HEADER_BYTES, MAX_RECORD_BYTES};

/// A record without the prefixes that a connection adds.
#[derive(Clone, Copy)]
pub(super) struct Plain<'a> {
    pub(super) kind: u16,
    /// Flags of its host bytes.
    pub(super) flags: u16,
    pub(super) arguments: &'a [u8],
    /// The byte string that is not among the arguments. It is the last argument of every call that has one.
    pub(super) blob: Option<&'a [u8]>,
}

impl<'a> Plain<'a> {
    /// A record as [`crate::Call::encode`] writes it, which is at least as long as a header.
    pub(super) fn of(record: &'a [u8]) -> Option<Plain<'a>> {
        let (head, arguments) = record.split_at_checked(HEADER_BYTES)?;
        let header: RecordHeader = bytemuck::pod_read_unaligned(head);
        Some(Plain { kind: header.kind, flags: header.flags, arguments, blob: None })
    }
}

/// The writing half of one connection.
pub(super) struct Outlet {
    pub(super) sink: Box<dyn CommandSink>,
    bound: Subject,
    /// Records so far.
    pub(super) count: u64,
}

impl Outlet {
    pub(super) fn new(sink: Box<dyn CommandSink>) -> Outlet {
        Outlet { sink, bound: Subject::default(), count: 0 }
    }

    /// Writes one record, with its answer's ticket if it has an answer; answers its ordinal.
    pub(super) fn send(
        &mut self,
        subject: Subject,
        record: Plain<'_>,
        ticket: Option<ReplyTicket>,
        idle: Idle<'_>,
    ) -> Result<u64, PortError> {
        if record.kind < CONTROL_BASE && self.bound != subject {
            let arguments = bytemuck::bytes_of(&subject);
            self.write(Plain { kind: control::BIND, flags: 0, arguments, blob: None }, None, idle)?;
            self.bound = subject;
        }
        if record.kind >= CONTROL_BASE {
            // The subject may be what ends.
            self.bound = Subject::default();
        }
        self.write(record, ticket, idle)
    }

    fn write(&mut self, record: Plain<'_>, ticket: Option<ReplyTicket>, idle: Idle<'_>) -> Result<u64, PortError> {
        let mut size = HEADER_BYTES + record.arguments.len();
        let mut flags = record.flags;
        if ticket.is_some() {
            (size, flags) = (size + 8, flags | record_flags::TICKET);
        }
        let whole = size + record.blob.map_or(0, |blob| 8 + padded(blob.len()));
        if record.blob.is_some() {
            size += std::mem::size_of::<StageRange>();
        }
        if size > self.sink.max_record() || record.blob.is_some_and(|blob| blob.len() > self.sink.max_stage()) {
            return self.pieces(record, flags, ticket, whole, idle);
        }
        let mut range = None;
        if let Some(blob) = record.blob {
            let (at, room) = self.sink.stage(blob.len(), idle)?;
            room.copy_from_slice(blob);
            (range, flags) = (Some(at), flags | record_flags::STAGED);
        }
        let mut writer = Writer::new(self.sink.reserve(size, idle)?);
        writer.put(bytemuck::bytes_of(&RecordHeader { kind: record.kind, flags, size: size as u32 }));
        if let Some(ticket) = &ticket {
            writer.put(bytemuck::bytes_of(ticket));
        }
        if let Some(range) = &range {
            writer.put(bytemuck::bytes_of(range));
        }
        writer.put(record.arguments);
        debug_assert!(writer.is_full(), "a record is shorter than its reservation");
        self.count = self.sink.commit_later();
        Ok(self.count)
    }

    /// Writes a record that is larger than the ring takes, in pieces.
    #[cold]
    fn pieces(
        &mut self,
        record: Plain<'_>,
        flags: u16,
        ticket: Option<ReplyTicket>,
        whole: usize,
        idle: Idle<'_>,
    ) -> Result<u64, PortError> {
        if whole > MAX_RECORD_BYTES {
            return Err(PortError::TooLarge(whole));
        }
        let mut words = Vec::new();
        words.try_reserve_exact(whole / 8).map_err(|_| PortError::TooLarge(whole))?;
        words.resize(whole / 8, 0u64);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        let mut writer = Writer::new(bytes);
        writer.put(bytemuck::bytes_of(&RecordHeader { kind: record.kind, flags, size: whole as u32 }));
        if let Some(ticket) = &ticket {
            writer.put(bytemuck::bytes_of(ticket));
        }
        writer.put(record.arguments);
        if let Some(blob) = record.blob {
            writer.put_word(blob.len() as u64);
            writer.put(blob);
        }
        debug_assert!(writer.is_full(), "a record is shorter than its reservation");
        let most = (self.sink.max_record().saturating_sub(2 * HEADER_BYTES) & !7).max(8);
        for piece in bytes.chunks(most) {
            let size = 2 * HEADER_BYTES + piece.len();
            let mut writer = Writer::new(self.sink.reserve(size, idle)?);
            let header = RecordHeader { kind: control::PIECE, flags: 0, size: size as u32 };
            writer.put(bytemuck::bytes_of(&header));
            writer.put_word(piece.len() as u64);
            writer.put(piece);
            self.sink.commit();
            self.sink.doorbell();
        }
        let mut writer = Writer::new(self.sink.reserve(HEADER_BYTES, idle)?);
        let end = RecordHeader { kind: control::WHOLE, flags: 0, size: HEADER_BYTES as u32 };
        writer.put(bytemuck::bytes_of(&end));
        self.count = self.sink.commit();
        Ok(self.count)
    }
}
