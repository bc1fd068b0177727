//! The two object-safe traits that a backend implements, generated from the catalogue.

use crate::*;
use std::sync::Arc;

/// Rust type of an argument kind of the catalogue.
#[macro_export]
macro_rules! mgpipe_arg {
    (payload $ty:ident) => { &$crate::$ty };
    (tail u32) => { &[u32] };
    (tail $ty:ident) => { &[$crate::$ty] };
    (blob u8) => { &[u8] };
    (host u8) => { $crate::HostBytes<'_> };
    (out u8) => { &mut [u8] };
}

/// Rust return type of a reply kind of the catalogue.
#[macro_export]
macro_rules! mgpipe_reply {
    (none) => { () };
    (caps) => { $crate::CapsReply };
    (status) => { $crate::PipeResult<()> };
    (pod $ty:ident) => { $crate::PipeResult<$crate::$ty> };
}

macro_rules! screen_method {
    (context $($rest:tt)*) => {};
    (screen [$($doc:tt)*] $name:ident [OPTIONAL] ($($arg:ident : $kind:ident $ty:ident),*) -> pod $rty:ident) => {
        $($doc)*
        fn $name(&self, $($arg: $crate::mgpipe_arg!($kind $ty)),*) -> PipeResult<$rty> {
            let _ = ($($arg,)*);
            Err(PipeError::Unsupported(stringify!($name).into()))
        }
    };
    (screen [$($doc:tt)*] $name:ident [OPTIONAL] ($($arg:ident : $kind:ident $ty:ident),*) -> none) => {
        $($doc)*
        fn $name(&self, $($arg: $crate::mgpipe_arg!($kind $ty)),*) { let _ = ($($arg,)*); }
    };
    (screen [$($doc:tt)*] $name:ident [] ($($arg:ident : $kind:ident $ty:ident),*) -> $($reply:tt)*) => {
        $($doc)*
        fn $name(&self, $($arg: $crate::mgpipe_arg!($kind $ty)),*) -> $crate::mgpipe_reply!($($reply)*);
    };
}

macro_rules! context_method {
    (screen $($rest:tt)*) => {};
    (context [$($doc:tt)*] $name:ident [OPTIONAL] ($($arg:ident : $kind:ident $ty:ident),*) -> none) => {
        $($doc)*
        fn $name(&mut self, $($arg: $crate::mgpipe_arg!($kind $ty)),*) { let _ = ($($arg,)*); }
    };
    (context [$($doc:tt)*] $name:ident [] ($($arg:ident : $kind:ident $ty:ident),*) -> $($reply:tt)*) => {
        $($doc)*
        fn $name(&mut self, $($arg: $crate::mgpipe_arg!($kind $ty)),*) -> $crate::mgpipe_reply!($($reply)*);
    };
}

/// Reduces a flag list to `[OPTIONAL]` or `[]` and forwards to the method macro.
macro_rules! with_optional {
    ($to:ident $recv:ident $doc:tt $name:ident [$($done:ident)*] [OPTIONAL $($more:ident)*] $($rest:tt)*) => {
        $to! { $recv $doc $name [OPTIONAL] $($rest)* }
    };
    ($to:ident $recv:ident $doc:tt $name:ident [$($done:ident)*] [$other:ident $($more:ident)*] $($rest:tt)*) => {
        with_optional! { $to $recv $doc $name [$($done)* $other] [$($more)*] $($rest)* }
    };
    ($to:ident $recv:ident $doc:tt $name:ident [$($done:ident)*] [] $($rest:tt)*) => {
        $to! { $recv $doc $name [] $($rest)* }
    };
}

macro_rules! traits {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        /// Objects and facts that all contexts of a display share; callable from any thread.
        ///
        /// Calls are safe: a bad handle is a logged no-op. Nothing here blocks except the calls whose wait class is
        /// [`WaitClass::Reply`].
        pub trait Screen: Send + Sync {
            $(with_optional! { screen_method $recv [$(#[$doc])*] $name [] [$($flag)*]
                ($($arg : $kind $ty),*) -> $reply $($reply_ty)? })*

            /// Starts a command flow. Contexts of one screen see each other's objects.
            ///
            /// # Errors
            /// [`PipeError::OutOfMemory`] and [`PipeError::DeviceLost`].
            fn create_context(&self, context: ContextHandle) -> PipeResult<Box<dyn Context>>;

            /// Why the device was lost, once it is.
            fn device_lost(&self) -> Option<String>;
        }

        /// One command flow: state, contents, verbs and queries. One thread at a time.
        ///
        /// Every `set_*` and `bind_*` of a verb precedes it; among themselves they are unordered, except that a create
        /// precedes the bind. Dropping a context finishes its recorded work.
        pub trait Context: Send {
            $(with_optional! { context_method $recv [$(#[$doc])*] $name [] [$($flag)*]
                ($($arg : $kind $ty),*) -> $reply $($reply_ty)? })*

            /// Makes memory that somebody else writes at any time a buffer's storage until the storage is replaced. The
            /// buffer's contents move there; the device sees later writes without a call, and what it writes is there once
            /// a fence behind it has signalled. Only with [`crate::features::SHARES_MEMORY`].
            ///
            /// # Errors
            /// Whatever keeps the memory from being storage: the buffer is then as it was.
            fn adopt_memory(&mut self, buffer: &HandleOnly, memory: Arc<dyn SharedMemory>) -> PipeResult<()> {
                let _ = (buffer, memory);
                Err(PipeError::Unsupported("adopt_memory".into()))
            }

            /// What was made of uploads since the call before, for counters. Nothing from who does not work itself.
            fn take_upload_work(&mut self) -> UploadWork {
                UploadWork::default()
            }
        }
    };
}

mgpipe_catalogue!(traits);

/// Memory of this process that another process, or the program in this one, writes and reads at the same time.
pub trait SharedMemory: Send + Sync {
    /// Address of the first byte, at the start of a page. It stays as long as the value lives.
    fn address(&self) -> u64;

    /// Length in bytes, a multiple of 64 KiB.
    fn bytes(&self) -> u64;
}

/// A backend: opens its native API and answers a screen.
pub trait Backend: Send + Sync {
    /// Opens the device.
    ///
    /// # Errors
    /// [`PipeError::Init`] with what is missing and how to get it.
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>>;
}
