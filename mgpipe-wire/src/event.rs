//! The reverse channel as bytes: every callback is one event, in the order in which the server made them.

use crate::port::EventSink;
use crate::record::{split_record, Cursor, DecodeError, RecordBuf};
use mgpipe_types::{
    Box3, BufferHandle, ByteRange, Callbacks, ContextHandle, FenceHandle, Handle, LogLevel, TextureHandle,
    TextureWriteback,
};
use std::sync::Arc;
use std::time::Instant;

mod gate;

pub(crate) use gate::LogGate;

mod kind {
    pub(super) const GL_ERROR: u16 = 1;
    pub(super) const GPU_WRITTEN: u16 = 2;
    pub(super) const BUFFER_WRITEBACK: u16 = 3;
    pub(super) const TEXTURE_WRITEBACK: u16 = 4;
    pub(super) const TEXTURE_PULL: u16 = 5;
    pub(super) const MIP_LEVELS: u16 = 6;
    pub(super) const SURFACE_CHANGED: u16 = 7;
    pub(super) const CAPS_INVALIDATED: u16 = 8;
    pub(super) const LOG: u16 = 9;
    pub(super) const XFB_SCATTER: u16 = 10;
    pub(super) const DEVICE_LOST: u16 = 11;
    pub(super) const FENCE: u16 = 12;
}

/// Most bytes of a message that travel.
const MAX_TEXT: usize = 4096;

/// An event that is no callback.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// It was a callback, and was made.
    Called,
    /// The device behind a screen is gone; the server lives.
    DeviceLost(String),
    /// A fence has signalled.
    Fence(FenceHandle),
}

fn head(kind: u16, screen: u32, fill: impl FnOnce(&mut RecordBuf)) -> RecordBuf {
    let mut buf = RecordBuf::new();
    let at = buf.start();
    buf.put_word(screen as u64);
    fill(&mut buf);
    buf.finish(at, kind, 0);
    buf
}

fn put_bytes(buf: &mut RecordBuf, bytes: &[u8]) {
    buf.put_word(bytes.len() as u64);
    buf.put(bytes);
}

fn short(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len().min(MAX_TEXT)]
}

fn log_event(screen: u32, level: LogLevel, message: &str) -> RecordBuf {
    head(kind::LOG, screen, |b| {
        b.put_word(level as u64);
        put_bytes(b, short(message));
    })
}

/// Tells the client that a screen's device is gone.
pub(crate) fn send_device_lost(sink: &dyn EventSink, screen: u32, why: &str) {
    sink.event(head(kind::DEVICE_LOST, screen, |b| put_bytes(b, short(why))).bytes(), false);
}

/// Tells the client that a fence has signalled, so that it need not ask.
pub(crate) fn send_fence(sink: &dyn EventSink, screen: u32, fence: Handle) {
    sink.event(&fence_event(screen, fence), false);
}

/// The event that [`send_fence`] sends.
pub(crate) fn fence_event(screen: u32, fence: Handle) -> Vec<u8> {
    head(kind::FENCE, screen, |b| b.put(bytemuck::bytes_of(&fence))).bytes().to_vec()
}

/// The event of [`Callbacks::caps_invalidated`].
pub(crate) fn reset_event(screen: u32) -> Vec<u8> {
    head(kind::CAPS_INVALIDATED, screen, |_| ()).bytes().to_vec()
}

/// Whether an event says that a screen's device is gone.
pub(crate) fn lost_device(event: &[u8]) -> bool {
    split_record(event).is_ok_and(|(header, ..)| header.kind == kind::DEVICE_LOST)
}

/// Tells the client how many log lines it did not get, if there are any.
pub(crate) fn tell_kept_back(sink: &dyn EventSink, screen: u32, lines: Option<u64>) {
    let Some(lines) = lines else { return };
    let text = format!("{lines} suppressed: log lines came faster than they could be told");
    sink.event(log_event(screen, LogLevel::Error, &text).bytes(), false);
}

/// The server's callbacks of one screen: they become events.
pub(crate) struct EventCallbacks {
    screen: u32,
    sink: Arc<dyn EventSink>,
    gate: Arc<LogGate>,
}

impl EventCallbacks {
    /// Callbacks of a screen; `gate` is the connection's.
    pub(crate) fn new(screen: u32, sink: Arc<dyn EventSink>, gate: Arc<LogGate>) -> EventCallbacks {
        EventCallbacks { screen, sink, gate }
    }

    fn send(&self, kind: u16, fill: impl FnOnce(&mut RecordBuf)) {
        self.sink.event(head(kind, self.screen, fill).bytes(), false);
    }

    fn line(&self, level: LogLevel, message: &str, lossy: bool) -> bool {
        self.sink.event(log_event(self.screen, level, message).bytes(), lossy)
    }

    /// Largest byte string of one event.
    fn piece(&self) -> usize {
        self.sink.max_event().saturating_sub(256).max(64)
    }
}

impl Callbacks for EventCallbacks {
    fn gl_error(&self, context: ContextHandle, error: u32, message: &str) {
        self.send(kind::GL_ERROR, |b| {
            b.put(bytemuck::bytes_of(&context));
            b.put_word(error as u64);
            put_bytes(b, short(message));
        });
    }

    fn gpu_written(&self, buffer: BufferHandle, ranges: &[ByteRange]) {
        for ranges in ranges.chunks((self.piece() / 16).max(1)) {
            self.send(kind::GPU_WRITTEN, |b| {
                b.put(bytemuck::bytes_of(&buffer));
                b.put_word(ranges.len() as u64);
                for range in ranges {
                    b.put_word(range.offset);
                    b.put_word(range.size);
                }
            });
        }
    }

    fn buffer_writeback(&self, buffer: BufferHandle, offset: u64, bytes: &[u8]) {
        let mut at = offset;
        for piece in bytes.chunks(self.piece()) {
            self.send(kind::BUFFER_WRITEBACK, |b| {
                b.put(bytemuck::bytes_of(&buffer));
                b.put_word(at);
                put_bytes(b, piece);
            });
            at += piece.len() as u64;
        }
    }

    fn texture_writeback(&self, writeback: TextureWriteback<'_>) {
        let area = writeback.area;
        let (width, height, depth) = (area.width as usize, area.height as usize, area.depth as usize);
        let texels = width.checked_mul(height).and_then(|texels| texels.checked_mul(depth)).unwrap_or(0);
        let texel = writeback.bytes.len().checked_div(texels).unwrap_or(0);
        if texel == 0 || texel * texels != writeback.bytes.len() {
            if !writeback.bytes.is_empty() {
                self.log(LogLevel::Error, "the bytes of a texture do not divide into texels: they are not sent");
            }
            return;
        }
        let (row, piece) = (texel * width, self.piece());
        // A row that is longer than an event travels in parts of its own.
        let columns = if row <= piece { width } else { (piece / texel).max(1) };
        let rows = if row <= piece { (piece / row).clamp(1, height) } else { 1 };
        for z in 0..depth {
            for y in (0..height).step_by(rows) {
                for x in (0..width).step_by(columns) {
                    let (wide, high) = (columns.min(width - x), rows.min(height - y));
                    let start = (z * height + y) * row + x * texel;
                    let part = Box3 {
                        x: area.x + x as i32,
                        y: area.y + y as i32,
                        z: area.z + z as i32,
                        width: wide as u32,
                        height: high as u32,
                        depth: 1,
                    };
                    self.send(kind::TEXTURE_WRITEBACK, |b| {
                        b.put(bytemuck::bytes_of(&writeback.texture));
                        b.put_word(writeback.level as u64);
                        b.put(bytemuck::bytes_of(&part));
                        put_bytes(b, &writeback.bytes[start..start + wide * high * texel]);
                    });
                }
            }
        }
    }

    fn texture_pull_request(&self, texture: TextureHandle, first_level: u32, levels: u32, token: u64) {
        self.send(kind::TEXTURE_PULL, |b| {
            b.put(bytemuck::bytes_of(&texture));
            b.put_word(first_level as u64);
            b.put_word(levels as u64);
            b.put_word(token);
        });
    }

    fn mip_levels_generated(&self, texture: TextureHandle, first_level: u32, last_level: u32) {
        self.send(kind::MIP_LEVELS, |b| {
            b.put(bytemuck::bytes_of(&texture));
            b.put_word(first_level as u64);
            b.put_word(last_level as u64);
        });
    }

    fn surface_changed(&self, window: u32, width: u32, height: u32) {
        self.send(kind::SURFACE_CHANGED, |b| {
            b.put_word(window as u64);
            b.put_word(width as u64);
            b.put_word(height as u64);
        });
    }

    fn caps_invalidated(&self) {
        self.send(kind::CAPS_INVALIDATED, |_| ());
    }

    fn log(&self, level: LogLevel, message: &str) {
        if level < LogLevel::Error {
            if !self.line(level, message, true) {
                self.gate.dropped();
            }
            return;
        }
        let now = Instant::now();
        if self.gate.admits(now) {
            tell_kept_back(&*self.sink, self.screen, self.gate.summary(now, true));
            self.line(level, message, false);
        }
    }

    fn xfb_scatter_ready(&self, buffer: BufferHandle, offset: u64, bytes: &[u8]) {
        let mut at = offset;
        for piece in bytes.chunks(self.piece()) {
            self.send(kind::XFB_SCATTER, |b| {
                b.put(bytemuck::bytes_of(&buffer));
                b.put_word(at);
                put_bytes(b, piece);
            });
            at += piece.len() as u64;
        }
    }
}

fn word32(cursor: &mut Cursor<'_>) -> Result<u32, DecodeError> {
    u32::try_from(cursor.word()?).map_err(|_| DecodeError::Malformed("event word"))
}

/// The screen that an event is about, and what it says; the callback is made on what `callbacks` answers for the screen.
///
/// # Errors
/// When the bytes are no event: the peer is broken.
pub(crate) fn deliver(
    event: &[u8],
    callbacks: impl FnOnce(u32) -> Option<Arc<dyn Callbacks>>,
) -> Result<(u32, Notice), DecodeError> {
    let (header, body, _) = split_record(event)?;
    let mut cursor = Cursor::new(body);
    let c = &mut cursor;
    let screen = word32(c)?;
    // A screen that was closed meanwhile has nobody to tell, but the bytes are checked all the same.
    let to: Arc<dyn Callbacks> = callbacks(screen).unwrap_or_else(|| Arc::new(mgpipe_types::LogCallbacks::silent()));
    let mut notice = Notice::Called;
    match header.kind {
        kind::GL_ERROR => {
            let (context, error) = (c.pod()?, word32(c)?);
            to.gl_error(context, error, &String::from_utf8_lossy(c.bytes()?));
        }
        kind::GPU_WRITTEN => {
            let buffer = c.pod()?;
            let count = word32(c)?;
            let mut ranges = Vec::new();
            for _ in 0..count {
                ranges.push(ByteRange { offset: c.word()?, size: c.word()? });
            }
            to.gpu_written(buffer, &ranges);
        }
        kind::BUFFER_WRITEBACK => to.buffer_writeback(c.pod()?, c.word()?, c.bytes()?),
        kind::TEXTURE_WRITEBACK => {
            let (texture, level, area) = (c.pod()?, word32(c)?, c.pod()?);
            to.texture_writeback(TextureWriteback { texture, level, area, bytes: c.bytes()? });
        }
        kind::TEXTURE_PULL => to.texture_pull_request(c.pod()?, word32(c)?, word32(c)?, c.word()?),
        kind::MIP_LEVELS => to.mip_levels_generated(c.pod()?, word32(c)?, word32(c)?),
        kind::SURFACE_CHANGED => to.surface_changed(word32(c)?, word32(c)?, word32(c)?),
        kind::CAPS_INVALIDATED => to.caps_invalidated(),
        kind::LOG => {
            let level = match c.word()? {
                0 => LogLevel::Debug,
                1 => LogLevel::Info,
                2 => LogLevel::Warn,
                3 => LogLevel::Error,
                _ => return Err(DecodeError::Malformed("log level")),
            };
            to.log(level, &String::from_utf8_lossy(c.bytes()?));
        }
        kind::XFB_SCATTER => to.xfb_scatter_ready(c.pod()?, c.word()?, c.bytes()?),
        kind::DEVICE_LOST => notice = Notice::DeviceLost(String::from_utf8_lossy(c.bytes()?).into_owned()),
        kind::FENCE => notice = Notice::Fence(c.pod()?),
        _ => return Err(DecodeError::Malformed("event kind")),
    }
    cursor.end()?;
    Ok((screen, notice))
}
