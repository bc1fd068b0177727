//! What travels besides calls: control records, answers, and errors as bytes.

use crate::record::CONTROL_BASE;
use bytemuck::{Pod, Zeroable};
use mgpipe_types::{Caps, CapsReply, ContextHandle, Handle, PipeError, FORMAT_SLOTS};

/// Kinds of control records on a connection. Those of recordings lie below.
pub(crate) mod control {
    use super::CONTROL_BASE;

    /// Opens a screen; body: [`super::Subject`]; answered with the caps.
    pub(crate) const OPEN_SCREEN: u16 = CONTROL_BASE + 16;
    /// The screen and every context of it end.
    pub(crate) const CLOSE_SCREEN: u16 = CONTROL_BASE + 17;
    /// The following calls belong to this screen and context.
    pub(crate) const BIND: u16 = CONTROL_BASE + 18;
    /// Starts a context; answered without bytes.
    pub(crate) const CREATE_CONTEXT: u16 = CONTROL_BASE + 19;
    /// Ends a context.
    pub(crate) const DROP_CONTEXT: u16 = CONTROL_BASE + 20;
    /// Bytes of a record that is larger than the ring takes; body: a word with their number, then the bytes.
    pub(crate) const PIECE: u16 = CONTROL_BASE + 21;
    /// The pieces so far are one record.
    pub(crate) const WHOLE: u16 = CONTROL_BASE + 22;
    /// A buffer's storage shall be memory that the client has shared; body: [`super::Sharing`]; answered without bytes.
    pub(crate) const SHARE: u16 = CONTROL_BASE + 23;
}

/// Whom a record is about, 16 bytes: a screen of the connection, and a context of it or null.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
pub(crate) struct Subject {
    pub(crate) screen: u32,
    pub(crate) pad: u32,
    pub(crate) context: ContextHandle,
}

impl Subject {
    pub(crate) fn new(screen: u32, context: ContextHandle) -> Subject {
        Subject { screen, pad: 0, context }
    }
}

/// A buffer whose storage shall be shared memory, 32 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Sharing {
    pub(crate) subject: Subject,
    pub(crate) buffer: Handle,
    /// Number of the memory, as the channel gave it.
    pub(crate) memory: u32,
    pub(crate) pad: u32,
}

/// Status word of an answer that is no error.
pub(crate) const STATUS_OK: u32 = 0;

/// Status word and text of an error.
pub(crate) fn error_parts(error: &PipeError) -> (u32, &str) {
    match error {
        PipeError::OutOfMemory(text) => (1, text),
        PipeError::DeviceLost(text) => (2, text),
        PipeError::Unsupported(text) => (3, text),
        PipeError::Init(text) => (4, text),
        PipeError::Protocol(text) => (5, text),
        PipeError::BadHandle(text) => (6, text),
        _ => (7, "an error without a number"),
    }
}

/// The error that [`error_parts`] took apart.
pub(crate) fn error_from(status: u32, text: &[u8]) -> PipeError {
    let text = String::from_utf8_lossy(text).into_owned();
    match status {
        1 => PipeError::OutOfMemory(text),
        2 => PipeError::DeviceLost(text),
        3 => PipeError::Unsupported(text),
        4 => PipeError::Init(text),
        6 => PipeError::BadHandle(text),
        _ => PipeError::Protocol(text),
    }
}

const CAPS_BYTES: usize = std::mem::size_of::<Caps>();
const CAPS_HEAD: usize = CAPS_BYTES + FORMAT_SLOTS * 4;

/// Caps as bytes: limits, formats, length of the first name, both names.
pub(crate) fn caps_bytes(reply: &CapsReply) -> Vec<u8> {
    let mut out = bytemuck::bytes_of(&reply.caps).to_vec();
    out.extend_from_slice(bytemuck::cast_slice(&reply.formats));
    out.extend_from_slice(&(reply.device_name.len() as u32).to_le_bytes());
    out.extend_from_slice(reply.device_name.as_bytes());
    out.extend_from_slice(reply.backend_name.as_bytes());
    out
}

/// The caps that [`caps_bytes`] wrote; `None` when the bytes cannot be caps.
pub(crate) fn caps_from(bytes: &[u8]) -> Option<CapsReply> {
    let mut reply = CapsReply { caps: bytemuck::pod_read_unaligned(bytes.get(..CAPS_BYTES)?), ..CapsReply::default() };
    let formats = bytes.get(CAPS_BYTES..CAPS_HEAD)?;
    for (format, word) in reply.formats.iter_mut().zip(formats.chunks_exact(4)) {
        *format = bytemuck::pod_read_unaligned(word);
    }
    let rest = bytes.get(CAPS_HEAD..)?;
    let length: u32 = bytemuck::pod_read_unaligned(rest.get(..4)?);
    let names = rest.get(4..)?;
    let device = names.get(..length as usize)?;
    reply.device_name = String::from_utf8_lossy(device).into_owned();
    reply.backend_name = String::from_utf8_lossy(names.get(length as usize..)?).into_owned();
    Some(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_round_trip_and_short_bytes_are_refused() {
        let mut caps = CapsReply { device_name: "one".into(), backend_name: "two".into(), ..CapsReply::default() };
        caps.caps.max_samplers = 17;
        caps.formats[FORMAT_SLOTS - 1] = 9;
        let bytes = caps_bytes(&caps);
        assert_eq!(caps_from(&bytes), Some(caps));
        for length in 0..bytes.len() - 3 {
            assert_eq!(caps_from(&bytes[..length]), None);
        }
    }

    #[test]
    fn errors_round_trip() {
        let text = || "why".to_owned();
        let all = [
            PipeError::OutOfMemory(text()),
            PipeError::DeviceLost(text()),
            PipeError::Unsupported(text()),
            PipeError::Init(text()),
            PipeError::Protocol(text()),
            PipeError::BadHandle(text()),
        ];
        for error in all {
            let (status, text) = error_parts(&error);
            assert_ne!(status, STATUS_OK);
            assert_eq!(error_from(status, text.as_bytes()), error);
        }
    }
}
