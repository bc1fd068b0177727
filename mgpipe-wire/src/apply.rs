//! The applier: runs decoded calls on a backend and collects the answers.

use crate::call::Call;
use mgpipe_types::{
    mgpipe_catalogue, CapsReply, Context, FenceAnswer, MapResult, PipeError, PipeResult, QueryAnswer, Screen,
    WindowAnswer,
};

/// Answer of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The call has no answer.
    None,
    /// The call needs a context and none was given; nothing ran.
    NoContext,
    /// Capabilities.
    Caps(Box<CapsReply>),
    /// A persistent mapping.
    Map(PipeResult<MapResult>),
    /// A fence's state.
    Fence(PipeResult<FenceAnswer>),
    /// A query's state.
    Query(PipeResult<QueryAnswer>),
    /// An opened window.
    Window(PipeResult<WindowAnswer>),
    /// Bytes that were read.
    Bytes(PipeResult<Vec<u8>>),
}

impl From<()> for Reply {
    fn from((): ()) -> Reply {
        Reply::None
    }
}

impl From<CapsReply> for Reply {
    fn from(caps: CapsReply) -> Reply {
        Reply::Caps(Box::new(caps))
    }
}

impl From<PipeResult<MapResult>> for Reply {
    fn from(answer: PipeResult<MapResult>) -> Reply {
        Reply::Map(answer)
    }
}

impl From<PipeResult<FenceAnswer>> for Reply {
    fn from(answer: PipeResult<FenceAnswer>) -> Reply {
        Reply::Fence(answer)
    }
}

impl From<PipeResult<QueryAnswer>> for Reply {
    fn from(answer: PipeResult<QueryAnswer>) -> Reply {
        Reply::Query(answer)
    }
}

impl From<PipeResult<WindowAnswer>> for Reply {
    fn from(answer: PipeResult<WindowAnswer>) -> Reply {
        Reply::Window(answer)
    }
}

/// Most bytes that one read-back may ask for: 1 GiB.
pub const MAX_REPLY_BYTES: u64 = 1 << 30;

macro_rules! run {
    (context $screen:ident $context:ident $name:ident $($rest:tt)*) => {
        match $context {
            Some(context) => run!(@ context $name $($rest)*),
            None => Reply::NoContext,
        }
    };
    (screen $screen:ident $context:ident $name:ident $($rest:tt)*) => { run!(@ $screen $name $($rest)*) };
    (@ $on:ident $name:ident ($info:ident payload, $out:ident out) -> status) => {{
        if *$out > MAX_REPLY_BYTES {
            return Reply::Bytes(Err(PipeError::Protocol("answer too large".into())));
        }
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(*$out as usize).is_err() {
            return Reply::Bytes(Err(PipeError::OutOfMemory("the bytes of an answer".into())));
        }
        bytes.resize(*$out as usize, 0u8);
        Reply::Bytes($on.$name($info, &mut bytes).map(|()| bytes))
    }};
    (@ $on:ident $name:ident ($($arg:ident $kind:ident),*) -> $($reply:tt)*) => {
        Reply::from($on.$name($(run!(pass $kind $arg)),*))
    };
    (pass payload $arg:ident) => { $arg };
    (pass $kind:ident $arg:ident) => { *$arg };
}

macro_rules! appliers {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        /// Runs one call. Screen calls go to `screen`, all others to `context`.
        pub fn apply(call: Call<'_>, screen: &dyn Screen, context: Option<&mut (dyn Context + '_)>) -> Reply {
            apply_ref(&call, screen, context)
        }

        /// The same without moving the call, which is as large as the largest payload.
        #[inline]
        pub(crate) fn apply_ref(
            call: &Call<'_>,
            screen: &dyn Screen,
            context: Option<&mut (dyn Context + '_)>,
        ) -> Reply {
            match call {
                $(Call::$op { $($arg,)* } => run!($recv screen context $name ($($arg $kind),*) -> $reply $($reply_ty)?),)*
                Call::Never(_, never) => match *never {},
            }
        }
    };
}

mgpipe_catalogue!(appliers);
