//! A recording as text, one line a record: to read it, and to compare it with a committed one.

use crate::call::Call;
use crate::fingerprint::catalogue_fingerprint;
use crate::player::PlayError;
use crate::record::split_record;
use crate::recorder::RECORDING;
use mgpipe_types::{mgpipe_catalogue, ContextHandle, HostBytes};
use std::fmt::{self, Write};

/// Bytes that stand in the text as they are; of longer strings it has the length and a hash.
const SHORT: usize = 16;

struct Bytes<'a>(&'a [u8]);

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.len() <= SHORT {
            return write!(f, "{:02x?}", self.0);
        }
        write!(f, "{} bytes, xxh3 {:016x}", self.0.len(), xxhash_rust::xxh3::xxh3_64(self.0))
    }
}

macro_rules! put_text {
    (payload $out:ident $arg:ident) => {
        write!($out, " {:?}", $arg)
    };
    (tail $out:ident $arg:ident) => {
        write!($out, " {}: {:?}", stringify!($arg), $arg)
    };
    (blob $out:ident $arg:ident) => {
        write!($out, " {}: {}", stringify!($arg), Bytes($arg))
    };
    (host $out:ident $arg:ident) => {
        match $arg {
            HostBytes::None => Ok(()),
            HostBytes::IndexMirror => write!($out, " {}: from the mirror", stringify!($arg)),
            HostBytes::Bytes(bytes) => write!($out, " {}: {}", stringify!($arg), Bytes(bytes)),
        }
    };
    (out $out:ident $arg:ident) => {
        write!($out, " answers {} bytes", $arg)
    };
}

macro_rules! texts {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        /// The call's name and arguments; a long byte string is its length and its hash.
        impl fmt::Display for Call<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Call::$op { $($arg,)* } => {
                        f.write_str(stringify!($name))?;
                        $(put_text!($kind f $arg)?;)*
                        Ok(())
                    })*
                    Call::Never(_, never) => match *never {},
                }
            }
        }
    };
}

mgpipe_catalogue!(texts);

/// The text of a recording: a line for each record, in order. The input must be 8-aligned in memory.
///
/// # Errors
/// [`PlayError::Magic`], [`PlayError::Fingerprint`] and [`PlayError::Record`], as [`crate::play()`] has them.
pub fn recording_text(recording: &[u8]) -> Result<String, PlayError> {
    let head = recording.get(..16).ok_or(PlayError::Magic)?;
    if head[..8] != RECORDING.magic {
        return Err(PlayError::Magic);
    }
    if head[8..] != catalogue_fingerprint().to_le_bytes() {
        return Err(PlayError::Fingerprint);
    }
    let mut rest = &recording[16..];
    let mut text = String::new();
    let mut ordinal = 0;
    while !rest.is_empty() {
        let broken = |error| PlayError::Record { ordinal, error };
        let (header, body, after) = split_record(rest).map_err(broken)?;
        let written = if header.kind >= crate::record::CONTROL_BASE {
            let what = match header.kind {
                kind if kind == RECORDING.create_context => "context created",
                kind if kind == RECORDING.bind_context => "context",
                kind if kind == RECORDING.drop_context => "context dropped",
                _ => "unknown control record",
            };
            match bytemuck::try_pod_read_unaligned::<ContextHandle>(body) {
                Ok(context) => writeln!(text, "-- {what} {:?}", context.0),
                Err(_) => writeln!(text, "-- {what}"),
            }
        } else {
            let (call, _) = Call::decode(rest).map_err(broken)?;
            writeln!(text, "{call}")
        };
        debug_assert!(written.is_ok(), "a String takes any text");
        rest = after;
        ordinal += 1;
    }
    Ok(text)
}
