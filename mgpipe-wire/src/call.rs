//! Every call as a value, and its encoding: generated from the catalogue.

use crate::record::{record_flags, split_record, Cursor, DecodeError, RecordBuf, CONTROL_BASE};
use mgpipe_types::{mgpipe_catalogue, HostBytes, Opcode};

macro_rules! call_arg {
    ($life:lifetime payload $ty:ident) => { mgpipe_types::$ty };
    ($life:lifetime tail u32) => { &$life [u32] };
    ($life:lifetime tail $ty:ident) => { &$life [mgpipe_types::$ty] };
    ($life:lifetime blob u8) => { &$life [u8] };
    ($life:lifetime host u8) => { HostBytes<$life> };
    ($life:lifetime out u8) => { u64 };
}

macro_rules! put_arg {
    (payload $buf:ident $flags:ident $arg:ident) => {
        $buf.put(bytemuck::bytes_of($arg))
    };
    (tail $buf:ident $flags:ident $arg:ident) => {{
        $buf.put_word($arg.len() as u64);
        $buf.put(bytemuck::cast_slice(*$arg));
    }};
    (blob $buf:ident $flags:ident $arg:ident) => {{
        $buf.put_word($arg.len() as u64);
        $buf.put($arg);
    }};
    (host $buf:ident $flags:ident $arg:ident) => {
        match $arg {
            HostBytes::None => {}
            HostBytes::IndexMirror => $flags |= record_flags::HOST_FROM_MIRROR,
            HostBytes::Bytes(bytes) => {
                $flags |= record_flags::HOST_BYTES;
                $buf.put_word(bytes.len() as u64);
                $buf.put(bytes);
            }
        }
    };
    (out $buf:ident $flags:ident $arg:ident) => {
        $buf.put_word(*$arg)
    };
}

macro_rules! get_arg {
    (payload $ty:ident $cursor:ident $flags:ident) => {
        $cursor.pod::<mgpipe_types::$ty>()?
    };
    (tail u32 $cursor:ident $flags:ident) => {
        $cursor.tail::<u32>()?
    };
    (tail $ty:ident $cursor:ident $flags:ident) => {
        $cursor.tail::<mgpipe_types::$ty>()?
    };
    (blob u8 $cursor:ident $flags:ident) => {
        $cursor.bytes()?
    };
    (host u8 $cursor:ident $flags:ident) => {{
        let used = $flags;
        $flags = 0;
        match used {
            0 => HostBytes::None,
            record_flags::HOST_FROM_MIRROR => HostBytes::IndexMirror,
            record_flags::HOST_BYTES => HostBytes::Bytes($cursor.bytes()?),
            _ => return Err(DecodeError::Malformed("host bytes")),
        }
    }};
    (out u8 $cursor:ident $flags:ident) => {
        $cursor.word()?
    };
}

macro_rules! calls {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        /// One call with its arguments: payloads by value, tails and blobs borrowed. An output argument is its length.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs, clippy::large_enum_variant)]
        pub enum Call<'a> {
            $($op { $($arg: call_arg!('a $kind $ty),)* },)*
            #[doc(hidden)]
            Never(std::marker::PhantomData<&'a ()>, std::convert::Infallible),
        }

        impl<'a> Call<'a> {
            /// The opcode of the call.
            pub fn opcode(&self) -> Opcode {
                match self {
                    $(Call::$op { .. } => Opcode::$op,)*
                    Call::Never(_, never) => match *never {},
                }
            }

            /// Appends the call's record.
            pub fn encode(&self, buf: &mut RecordBuf) {
                match self {
                    $(Call::$op { $($arg,)* } => {
                        let at = buf.start();
                        #[allow(unused_mut)]
                        let mut flags = 0u16;
                        $(put_arg!($kind buf flags $arg);)*
                        buf.finish(at, Opcode::$op as u16, flags);
                    })*
                    Call::Never(_, never) => match *never {},
                }
            }

            /// Decodes a body without looking at what counts and masks inside the payload say.
            #[inline(always)] // The answer is as large as the largest payload: it is not moved.
            fn decode_body(opcode: Opcode, record_flags: u16, cursor: Cursor<'a>) -> Result<Call<'a>, DecodeError> {
                #[allow(unused_mut)]
                let mut flags = record_flags;
                #[allow(unused_mut)]
                let mut cursor = cursor;
                let call = match opcode {
                    $(Opcode::$op => {
                        $(let $arg = get_arg!($kind $ty cursor flags);)*
                        Call::$op { $($arg,)* }
                    })*
                    Opcode::Invalid => return Err(DecodeError::Malformed("opcode")),
                };
                if flags != 0 {
                    return Err(DecodeError::Malformed("host bytes on a call without them"));
                }
                cursor.end()?;
                Ok(call)
            }

            /// Smallest record of a call in bytes: header, payload and empty variable arguments.
            pub fn min_record_bytes(opcode: Opcode) -> usize {
                match opcode {
                    $(Opcode::$op => crate::record::HEADER_BYTES $(+ min_arg!($kind $ty))*,)*
                    Opcode::Invalid => 0,
                }
            }
        }

        $(const _: () = {
            // Every record's fixed part keeps the 8-byte granularity once padded.
            assert!((crate::record::HEADER_BYTES $(+ min_arg!($kind $ty))*) % 8 == 0);
        };)*
    };
}

macro_rules! min_arg {
    (payload $ty:ident) => {
        crate::record::padded(std::mem::size_of::<mgpipe_types::$ty>())
    };
    (tail $ty:ident) => {
        8
    };
    (blob u8) => {
        8
    };
    (host u8) => {
        0
    };
    (out u8) => {
        8
    };
}

mgpipe_catalogue!(calls);

impl<'a> Call<'a> {
    /// Decodes one record from the front of `input` and returns what follows it.
    ///
    /// Every length is checked against the record, every count inside a payload against its tail, every blob range
    /// against its blob. No input panics.
    ///
    /// # Errors
    /// [`DecodeError::NeedMore`] when the record is cut off, [`DecodeError::Malformed`] otherwise.
    pub fn decode(input: &'a [u8]) -> Result<(Call<'a>, &'a [u8]), DecodeError> {
        let (header, body, rest) = split_record(input)?;
        if header.kind >= CONTROL_BASE {
            return Err(DecodeError::Malformed("control record where a call belongs"));
        }
        let opcode = Opcode::from_u16(header.kind).ok_or(DecodeError::Malformed("opcode"))?;
        let call = Call::decode_body(opcode, header.flags, Cursor::new(body))?;
        crate::check::check(&call)?;
        Ok((call, rest))
    }

    /// Decodes the arguments of a record whose header and prefixes were taken off; `staged` stands for its byte string.
    ///
    /// # Errors
    /// [`DecodeError::Malformed`]: the record is whole, so nothing can be missing.
    pub(crate) fn decode_arguments(
        opcode: Opcode,
        host_flags: u16,
        body: &'a [u8],
        staged: Option<&'a [u8]>,
    ) -> Result<Call<'a>, DecodeError> {
        // A call is large: it is looked at where it is, not moved.
        let decoded = Call::decode_body(opcode, host_flags, Cursor::with_staged(body, staged));
        match decoded.as_ref().map(crate::check::check) {
            Ok(Err(error)) => Err(error),
            _ => decoded,
        }
    }
}
