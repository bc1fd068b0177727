//! A number that two builds share exactly when their catalogues and payload layouts agree.

use mgpipe_types::{mgpipe_catalogue, CALLS};
use xxhash_rust::xxh3::Xxh3;

macro_rules! sizes {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        &[$((stringify!($op), &[$((stringify!($kind), stringify!($ty), sizes!(@ $ty)),)*]),)*]
    };
    (@ u8) => { 1 };
    (@ u32) => { 4 };
    (@ $ty:ident) => { std::mem::size_of::<mgpipe_types::$ty>() };
}

type Row = (&'static str, &'static [(&'static str, &'static str, usize)]);

/// Digest over every call's position, name, flags and argument sizes. Recordings and handshakes compare it.
pub fn catalogue_fingerprint() -> u64 {
    let rows: &[Row] = mgpipe_catalogue!(sizes);
    let mut hash = Xxh3::new();
    for (row, info) in rows.iter().zip(CALLS) {
        hash.update(row.0.as_bytes());
        hash.update(&[info.flags, info.class as u8]);
        for (kind, ty, size) in row.1 {
            hash.update(kind.as_bytes());
            hash.update(ty.as_bytes());
            hash.update(&size.to_le_bytes());
        }
    }
    hash.digest()
}
