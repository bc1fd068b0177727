//! The stream of a recovering connection: what the client writes, on its way into the journal.

use super::journal::{says_nothing, Journal, Kept};
use super::limit::Limiter;
use super::outlet::{Outlet, Plain};
use super::repush::plain_flags;
use crate::call::Call;
use crate::message::{control, Subject};
use crate::port::ReplyTicket;
use crate::record::CONTROL_BASE;
use mgpipe_types::{fence_status, flush_flags, FenceAnswer, Flush, Handle, Opcode};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

/// A question that waits for its answer.
pub(super) struct Question {
    pub(super) subject: Subject,
    pub(super) kind: u16,
    pub(super) flags: u16,
    pub(super) arguments: Vec<u8>,
    /// The connection on which it was asked last, and its ticket there.
    pub(super) asked: Option<(u64, ReplyTicket)>,
    pub(super) tries: u32,
    /// The answer, when this side gives it.
    pub(super) known: Option<Vec<u8>>,
}

/// What is behind the lock: the stream.
pub(super) struct Flow {
    pub(super) outlet: Outlet,
    pub(super) journal: Journal,
    /// Whom the client's calls are about.
    pub(super) subject: Subject,
    pub(super) questions: BTreeMap<u32, Question>,
    /// Fences that signalled by the loss of their server and are unknown to the present one.
    pub(super) settled: BTreeSet<(u32, Handle)>,
    pub(super) frames: u64,
    /// Ordinal of the client's last record.
    pub(super) last: u64,
    pub(super) limiter: Limiter,
    pub(super) keeper: Option<Box<dyn Any + Send + Sync>>,
}

/// The answer to a question about a fence that the loss of its server has settled.
pub(super) fn settled_answer(
    settled: &BTreeSet<(u32, Handle)>,
    subject: Subject,
    kind: u16,
    arguments: &[u8],
) -> Option<Vec<u8>> {
    if kind != Opcode::FenceStatus as u16 && kind != Opcode::FenceWait as u16 {
        return None;
    }
    let fence = arguments.get(..std::mem::size_of::<Handle>()).map(bytemuck::pod_read_unaligned)?;
    let answer = FenceAnswer { status: fence_status::SIGNALED };
    settled.contains(&(subject.screen, fence)).then(|| bytemuck::bytes_of(&answer).to_vec())
}

impl Flow {
    pub(super) fn question(&mut self, ticket: ReplyTicket, record: Plain<'_>) {
        let subject = match (record.kind >= CONTROL_BASE, bytemuck::try_pod_read_unaligned(record.arguments)) {
            (true, Ok(subject)) => subject,
            _ => self.subject,
        };
        let known = settled_answer(&self.settled, subject, record.kind, record.arguments);
        let (kind, flags, arguments) = (record.kind, plain_flags(record.flags), record.arguments.to_vec());
        self.questions.insert(ticket.slot, Question { subject, kind, flags, arguments, asked: None, tries: 0, known });
    }

    /// Notes what a record says; `None` when it is not for the server.
    pub(super) fn note(&mut self, record: Plain<'_>) -> Option<Kept> {
        if record.kind >= CONTROL_BASE {
            return self.note_control(record);
        }
        let Some(op) = Opcode::from_u16(record.kind) else { return Some(Kept::Transient) };
        if says_nothing(op) {
            return self.note_verb(op, record);
        }
        match Call::decode_arguments(op, plain_flags(record.flags), record.arguments, record.blob) {
            Ok(Call::FenceDestroy { fence }) if self.settled.remove(&(self.subject.screen, fence.handle)) => None,
            Ok(call) => Some(self.journal.note(self.subject, &call)),
            Err(error) => {
                debug_assert!(false, "a record that cannot be read: {error}");
                Some(Kept::Transient)
            }
        }
    }

    fn note_verb(&mut self, op: Opcode, record: Plain<'_>) -> Option<Kept> {
        let first_handle = || record.arguments.get(..8).map(bytemuck::pod_read_unaligned::<Handle>);
        let ends_frame = match op {
            Opcode::Present => true,
            Opcode::Flush => record.arguments.get(..std::mem::size_of::<Flush>()).is_some_and(|flush| {
                bytemuck::pod_read_unaligned::<Flush>(flush).flags & flush_flags::END_OF_FRAME != 0
            }),
            // It waits for nothing.
            Opcode::FenceWaitServer
                if first_handle().is_some_and(|fence| self.settled.contains(&(self.subject.screen, fence))) =>
            {
                return None
            }
            _ => false,
        };
        if ends_frame {
            self.frames += 1;
            // The frames of a lost server count as shown.
            return Some(Kept::Held);
        }
        Some(Kept::Transient)
    }

    fn note_control(&mut self, record: Plain<'_>) -> Option<Kept> {
        let Ok(subject) = bytemuck::try_pod_read_unaligned::<Subject>(record.arguments) else {
            return Some(Kept::Transient);
        };
        match record.kind {
            // Whoever sends a call binds its subject.
            control::BIND => {
                self.subject = subject;
                return None;
            }
            control::CLOSE_SCREEN => {
                self.journal.close_screen(subject.screen);
                self.settled.retain(|(screen, _)| *screen != subject.screen);
            }
            control::DROP_CONTEXT => self.journal.drop_context(subject),
            _ => return Some(Kept::Transient),
        }
        Some(Kept::Held)
    }
}
