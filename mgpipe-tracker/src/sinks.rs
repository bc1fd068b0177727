//! Pipes without a backend: one that discards, one that counts and one that records.

use bytemuck::{bytes_of, cast_slice, Pod};
use mgpipe_types::*;

/// What a [`Sink`] does with a call.
pub trait Record: Send {
    /// Hears of one call: its opcode, and the bytes of each argument in order.
    fn call(&mut self, opcode: Opcode, arguments: &[&[u8]]);
}

/// Does nothing: the pipe that costs are measured against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl Record for Discard {
    #[inline(always)]
    fn call(&mut self, _: Opcode, _: &[&[u8]]) {}
}

/// Counts calls by opcode, without allocating.
#[derive(Clone, Debug)]
pub struct Counts {
    calls: [u64; CALLS.len() + 1],
    bytes: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Counts { calls: [0; CALLS.len() + 1], bytes: 0 }
    }
}

impl Record for Counts {
    fn call(&mut self, opcode: Opcode, arguments: &[&[u8]]) {
        self.calls[opcode as usize] += 1;
        self.bytes += arguments.iter().map(|a| a.len() as u64).sum::<u64>();
    }
}

impl Counts {
    /// Calls of one opcode.
    pub fn of(&self, opcode: Opcode) -> u64 {
        self.calls[opcode as usize]
    }

    /// Calls of all opcodes.
    pub fn total(&self) -> u64 {
        self.calls.iter().sum()
    }

    /// Bytes of all arguments.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Starts anew.
    pub fn reset(&mut self) {
        *self = Counts::default();
    }
}

/// One call as it was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedCall {
    /// The call.
    pub opcode: Opcode,
    /// Bytes of each argument.
    pub arguments: Vec<Vec<u8>>,
}

impl RecordedCall {
    /// An argument as a payload; `None` when there is no such argument or its size differs.
    pub fn payload<T: Pod>(&self, argument: usize) -> Option<T> {
        bytemuck::try_pod_read_unaligned(self.arguments.get(argument)?).ok()
    }

    /// An argument as a tail; empty when there is no such argument.
    pub fn tail<T: Pod>(&self, argument: usize) -> Vec<T> {
        let bytes = self.arguments.get(argument).map_or(&[][..], Vec::as_slice);
        bytes.chunks_exact(size_of::<T>().max(1)).map(bytemuck::pod_read_unaligned).collect()
    }
}

/// Keeps every call.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The calls in order.
    pub calls: Vec<RecordedCall>,
}

impl Record for Recording {
    fn call(&mut self, opcode: Opcode, arguments: &[&[u8]]) {
        self.calls.push(RecordedCall { opcode, arguments: arguments.iter().map(|a| a.to_vec()).collect() });
    }
}

impl Recording {
    /// Takes the calls out.
    pub fn take(&mut self) -> Vec<RecordedCall> {
        std::mem::take(&mut self.calls)
    }

    /// Opcodes of the calls in order.
    pub fn opcodes(&self) -> Vec<Opcode> {
        self.calls.iter().map(|c| c.opcode).collect()
    }

    /// Number of calls of one opcode.
    pub fn count(&self, opcode: Opcode) -> usize {
        self.calls.iter().filter(|c| c.opcode == opcode).count()
    }
}

/// A context that hands every call to a [`Record`] and answers every question with zeros.
#[derive(Clone, Debug, Default)]
pub struct Sink<R> {
    /// What hears of the calls.
    pub record: R,
}

/// A pipe that does nothing.
pub type NullPipe = Sink<Discard>;
/// A pipe that counts.
pub type CountingPipe = Sink<Counts>;
/// A pipe that records.
pub type RecordingPipe = Sink<Recording>;

macro_rules! argument_bytes {
    (payload $arg:ident) => {
        bytes_of($arg)
    };
    (tail $arg:ident) => {
        cast_slice($arg)
    };
    (blob $arg:ident) => {
        $arg
    };
    (host $arg:ident) => {
        $arg.bytes().unwrap_or(&[])
    };
    (out $arg:ident) => {
        &*$arg
    };
}

macro_rules! answer {
    (none) => {
        ()
    };
    (status) => {
        Ok(())
    };
    (pod $ty:ident) => {
        Ok($ty::default())
    };
}

macro_rules! method {
    (screen $($rest:tt)*) => {};
    (context $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> $($reply:tt)*) => {
        #[inline]
        fn $name(&mut self, $($arg: mgpipe_arg!($kind $ty)),*) -> mgpipe_reply!($($reply)*) {
            self.record.call(Opcode::$op, &[$(argument_bytes!($kind $arg)),*]);
            answer!($($reply)*)
        }
    };
}

macro_rules! sink {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        impl<R: Record> Context for Sink<R> {
            $(method! { $recv $op $name ($($arg : $kind $ty),*) -> $reply $($reply_ty)? })*
        }
    };
}

mgpipe_catalogue!(sink);
