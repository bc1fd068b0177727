//! The recorder: a backend wrapper that writes everything that passes through it.

use crate::call::Call;
use crate::counters::CallCounters;
use crate::fingerprint::catalogue_fingerprint;
use crate::record::{RecordBuf, CONTROL_BASE};
use mgpipe_types::*;
use parking_lot::Mutex;
use std::io::{self, Write};
use std::sync::Arc;

/// Facts about the file form of a recording.
#[derive(Clone, Copy, Debug)]
pub struct RecordingFormat {
    /// First eight bytes of a recording.
    pub magic: [u8; 8],
    /// Control record: a context was created; the body is its handle.
    pub create_context: u16,
    /// Control record: the following context calls belong to this context.
    pub bind_context: u16,
    /// Control record: a context was dropped.
    pub drop_context: u16,
}

/// The one file form: magic, catalogue fingerprint, then records.
pub const RECORDING: RecordingFormat = RecordingFormat {
    magic: *b"MGLREC01",
    create_context: CONTROL_BASE,
    bind_context: CONTROL_BASE + 1,
    drop_context: CONTROL_BASE + 2,
};

struct Tape {
    out: Box<dyn Write + Send>,
    current: Option<ContextHandle>,
    buf: RecordBuf,
    counters: CallCounters,
    error: Option<io::Error>,
}

impl Tape {
    fn control(&mut self, kind: u16, context: ContextHandle) {
        let at = self.buf.start();
        self.buf.put(bytemuck::bytes_of(&context));
        self.buf.finish(at, kind, 0);
    }

    /// Writes the buffered records. The first write error stops the recording, never the program.
    fn drain(&mut self) {
        if self.error.is_none() {
            if let Err(error) = self.out.write_all(self.buf.bytes()) {
                self.error = Some(error);
            }
        }
        self.buf.clear();
    }

    fn call(&mut self, context: Option<ContextHandle>, call: &Call<'_>) {
        if let Some(context) = context.filter(|c| self.current != Some(*c)) {
            self.control(RECORDING.bind_context, context);
            self.current = Some(context);
        }
        let before = self.buf.bytes().len();
        call.encode(&mut self.buf);
        let bytes = self.buf.bytes().len() - before;
        self.counters.count(call.opcode(), bytes);
        self.drain();
    }
}

/// A recording in progress. Wrap a screen with it; the file is complete when [`Recorder::finish`] returned.
///
/// Writes that an application makes through a persistent mapping are not seen; flushed ranges are recorded as calls only.
#[derive(Clone)]
pub struct Recorder {
    tape: Arc<Mutex<Tape>>,
}

impl Recorder {
    /// Starts a recording into `out`.
    ///
    /// # Errors
    /// When the file's head cannot be written.
    pub fn new(mut out: Box<dyn Write + Send>) -> io::Result<Recorder> {
        out.write_all(&RECORDING.magic)?;
        out.write_all(&catalogue_fingerprint().to_le_bytes())?;
        let tape = Tape { out, current: None, buf: RecordBuf::new(), counters: CallCounters::default(), error: None };
        Ok(Recorder { tape: Arc::new(Mutex::new(tape)) })
    }

    /// A screen that records and forwards.
    pub fn wrap(&self, screen: Arc<dyn Screen>) -> Arc<dyn Screen> {
        Arc::new(RecordingScreen { inner: screen, tape: self.tape.clone() })
    }

    /// Flushes the file; reports the first error that occurred.
    ///
    /// # Errors
    /// The first write error since the start.
    pub fn finish(&self) -> io::Result<CallCounters> {
        let mut tape = self.tape.lock();
        if let Some(error) = tape.error.take() {
            return Err(error);
        }
        tape.out.flush()?;
        Ok(tape.counters)
    }
}

struct RecordingScreen {
    inner: Arc<dyn Screen>,
    tape: Arc<Mutex<Tape>>,
}

struct RecordingContext {
    handle: ContextHandle,
    inner: Box<dyn Context>,
    tape: Arc<Mutex<Tape>>,
}

macro_rules! to_call {
    (payload $arg:ident) => {
        *$arg
    };
    (out $arg:ident) => {
        $arg.len() as u64
    };
    ($kind:ident $arg:ident) => {
        $arg
    };
}

macro_rules! screen_method {
    (context $($rest:tt)*) => {};
    (screen GetCaps $name:ident () -> $($reply:tt)*) => {
        fn $name(&self) -> mgpipe_reply!($($reply)*) {
            self.tape.lock().call(None, &Call::GetCaps {});
            let mut reply = self.inner.$name();
            // What is written behind the calls would be missing from the recording.
            reply.caps.features &= !features::SILENT_MAPS;
            reply
        }
    };
    (screen $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> $($reply:tt)*) => {
        fn $name(&self, $($arg: mgpipe_arg!($kind $ty)),*) -> mgpipe_reply!($($reply)*) {
            self.tape.lock().call(None, &Call::$op { $($arg: to_call!($kind $arg),)* });
            self.inner.$name($($arg),*)
        }
    };
}

macro_rules! context_method {
    (screen $($rest:tt)*) => {};
    (context $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> $($reply:tt)*) => {
        fn $name(&mut self, $($arg: mgpipe_arg!($kind $ty)),*) -> mgpipe_reply!($($reply)*) {
            self.tape.lock().call(Some(self.handle), &Call::$op { $($arg: to_call!($kind $arg),)* });
            self.inner.$name($($arg),*)
        }
    };
}

macro_rules! recording {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        impl Screen for RecordingScreen {
            $(screen_method! { $recv $op $name ($($arg : $kind $ty),*) -> $reply $($reply_ty)? })*

            fn create_context(&self, context: ContextHandle) -> PipeResult<Box<dyn Context>> {
                let inner = self.inner.create_context(context)?;
                let mut tape = self.tape.lock();
                tape.control(RECORDING.create_context, context);
                tape.drain();
                Ok(Box::new(RecordingContext { handle: context, inner, tape: self.tape.clone() }))
            }

            fn device_lost(&self) -> Option<String> {
                self.inner.device_lost()
            }
        }

        impl Context for RecordingContext {
            $(context_method! { $recv $op $name ($($arg : $kind $ty),*) -> $reply $($reply_ty)? })*
        }
    };
}

mgpipe_catalogue!(recording);

impl Drop for RecordingContext {
    fn drop(&mut self) {
        let mut tape = self.tape.lock();
        tape.control(RECORDING.drop_context, self.handle);
        tape.current = None;
        tape.drain();
    }
}
