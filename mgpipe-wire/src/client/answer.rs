//! Answers as the caller wants them.

use super::connection::{pipe_error, Connection, Head};
use super::writer::Writer;
use crate::message::{caps_from, error_from, Subject, STATUS_OK};
use crate::record::padded;
use bytemuck::Pod;
use mgpipe_types::{BufferReadback, CapsReply, Handle, Opcode, PipeError, PipeResult};

/// Most bytes of an answer that is not the caller's own memory.
const MAX_SMALL: usize = 64 << 10;

/// The bytes of a small answer.
fn small(
    connection: &Connection,
    subject: Subject,
    head: Head<'_>,
    fill: impl FnOnce(&mut Writer<'_>, bool),
) -> PipeResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut take = |part: &[u8]| {
        if bytes.len() + part.len() <= MAX_SMALL {
            bytes.extend_from_slice(part);
        }
    };
    match connection.request(subject, head, fill, &mut take) {
        Ok(STATUS_OK) => Ok(bytes),
        Ok(status) => Err(error_from(status, &bytes)),
        Err(error) => Err(pipe_error(error)),
    }
}

/// Nothing but whether it worked.
pub(crate) fn done(
    connection: &Connection,
    subject: Subject,
    head: Head<'_>,
    fill: impl FnOnce(&mut Writer<'_>, bool),
) -> PipeResult<()> {
    small(connection, subject, head, fill).map(|_| ())
}

/// Plain data.
pub(crate) fn pod<T: Pod>(
    connection: &Connection,
    subject: Subject,
    head: Head<'_>,
    fill: impl FnOnce(&mut Writer<'_>, bool),
) -> PipeResult<T> {
    let bytes = small(connection, subject, head, fill)?;
    bytemuck::try_pod_read_unaligned(&bytes).map_err(|_| PipeError::Protocol("size of an answer".into()))
}

/// Limits and names.
pub(crate) fn caps(
    connection: &Connection,
    subject: Subject,
    head: Head<'_>,
    fill: impl FnOnce(&mut Writer<'_>, bool),
) -> PipeResult<CapsReply> {
    let bytes = small(connection, subject, head, fill)?;
    caps_from(&bytes).ok_or_else(|| PipeError::Protocol("caps".into()))
}

/// Bytes into the caller's memory, all of it. What an error leaves there is undefined; its text is in the log.
pub(crate) fn bytes(
    connection: &Connection,
    subject: Subject,
    head: Head<'_>,
    fill: impl FnOnce(&mut Writer<'_>, bool),
    out: &mut [u8],
) -> PipeResult<()> {
    let mut at = 0;
    let mut take = |part: &[u8]| {
        if let Some(to) = out.get_mut(at..at + part.len()) {
            to.copy_from_slice(part);
        }
        at += part.len();
    };
    match connection.request(subject, head, fill, &mut take) {
        Ok(STATUS_OK) if at == out.len() => Ok(()),
        Ok(STATUS_OK) => Err(PipeError::Protocol("size of an answer".into())),
        Ok(status) => Err(error_from(status, b"the read-back failed on the server")),
        Err(error) => Err(pipe_error(error)),
    }
}

/// Bytes of a buffer on the server, from an offset on.
pub(crate) fn buffer(
    connection: &Connection,
    subject: Subject,
    buffer: Handle,
    offset: u64,
    out: &mut [u8],
) -> PipeResult<()> {
    let length = out.len() as u64;
    let readback = BufferReadback { res: buffer, offset, size: length };
    let body = padded(std::mem::size_of::<BufferReadback>()) + 8;
    let head = Head { kind: Opcode::ResourceReadback as u16, flags: 0, body, ticket: None, staged: None };
    let fill = |writer: &mut Writer<'_>, _: bool| {
        writer.put(bytemuck::bytes_of(&readback));
        writer.put_word(length);
    };
    bytes(connection, subject, head, fill, out)
}
