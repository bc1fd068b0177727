//! Messages on the socket beside the segments: framed, checked, capped.
//!
//! A frame is `MGLF`, the payload's length, and the payload: a kind and its body. A frame with another magic, a length
//! above the cap, an unknown kind or a body that does not decode is an error that ends the connection; a frame that is not
//! complete yet is none. The first message of either side starts with the version of the protocol in a form that stays as
//! it is for ever, so that two versions that do not understand each other can say so.

use super::assemble::SegmentSizes;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// First bytes of a frame.
const MAGIC: [u8; 4] = *b"MGLF";

/// Bytes before the payload.
const FRAME_HEAD: usize = 8;

/// Largest payload.
pub(crate) const MAX_PAYLOAD: usize = 1 << 20;

/// Version of everything that is not in the catalogue of calls: the control block, the segments, these messages.
pub const CHANNEL_VERSION: u32 = 2;

/// What is wrong with a frame.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrameError {
    /// The bytes do not start a frame.
    #[error("not a frame of this protocol")]
    Magic,
    /// The payload is longer than any message.
    #[error("a frame of {0} bytes")]
    Length(u32),
    /// The kind is unknown.
    #[error("a message of unknown kind {0}")]
    Kind(u16),
    /// The body is not what its kind says.
    #[error("a message of kind {0} that does not decode")]
    Body(u16),
    /// Fewer or more files came than the messages need.
    #[error("a message with the wrong number of files")]
    Files,
}

/// The version of an end, in a form that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// [`CHANNEL_VERSION`].
    pub(crate) channel: u32,
    /// [`crate::catalogue_fingerprint`].
    pub(crate) catalogue: u64,
}

impl Version {
    /// The version of this build.
    pub(crate) fn own() -> Version {
        Version { channel: CHANNEL_VERSION, catalogue: crate::catalogue_fingerprint() }
    }

    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.channel.to_le_bytes());
        out.extend_from_slice(&self.catalogue.to_le_bytes());
    }

    fn split(body: &[u8]) -> Option<(Version, &[u8])> {
        let (channel, rest) = body.split_first_chunk()?;
        let (catalogue, rest) = rest.split_first_chunk()?;
        Some((Version { channel: u32::from_le_bytes(*channel), catalogue: u64::from_le_bytes(*catalogue) }, rest))
    }

    /// What to tell the user when `other` is at the far end.
    pub(crate) fn mismatch(self, other: Version) -> Option<String> {
        if self.channel != other.channel {
            return Some(format!(
                "the driver and its server are of different versions ({} and {})",
                self.channel, other.channel
            ));
        }
        (self.catalogue != other.catalogue).then(|| {
            format!(
                "the driver and its server come from different builds (call catalogues {:016x} and {:016x})",
                self.catalogue, other.catalogue
            )
        })
    }
}

/// Sizes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    commands: u64,
    stage: u64,
    stage_limit: u64,
    replies: u64,
    events: u64,
}

impl From<SegmentSizes> for Sizes {
    fn from(sizes: SegmentSizes) -> Sizes {
        Sizes {
            commands: sizes.commands as u64,
            stage: sizes.stage as u64,
            stage_limit: sizes.stage_limit as u64,
            replies: sizes.replies as u64,
            events: sizes.events as u64,
        }
    }
}

impl Sizes {
    /// The sizes, if they can work here.
    pub(crate) fn checked(self) -> Result<SegmentSizes, &'static str> {
        let size = |bytes: u64| usize::try_from(bytes).map_err(|_| "a segment is too large");
        let sizes = SegmentSizes {
            commands: size(self.commands)?,
            stage: size(self.stage)?,
            stage_limit: size(self.stage_limit)?,
            replies: size(self.replies)?,
            events: size(self.events)?,
        };
        sizes.check()?;
        Ok(sizes)
    }
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wishes {
    /// The backend's name.
    pub(crate) backend: String,
    /// Sizes of the segments.
    pub(crate) sizes: Sizes,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Client: who I am, and my segments (control block, commands, stage) as files. The wishes are missing when the
    /// version is another one.
    Hello(Version, Option<Wishes>),
    /// Server: welcome, and my segments (replies, events) as files.
    Welcome(Version),
    /// Server: no, and why.
    Refused(Version, String),
    /// Client: one more stage segment, as a file.
    StageOpen {
        /// Its number.
        id: u32,
        /// Its size.
        bytes: u64,
    },
    /// Client: a stage segment that is not used any more.
    StageClose {
        /// Its number.
        id: u32,
    },
    /// Either: the connection ends because of this.
    Fatal(String),
    /// Client: memory for both sides, as a file. A record names it, once.
    Share {
        /// Its number.
        number: u32,
        /// Its size.
        bytes: u64,
    },
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

impl Message {
    fn kind(&self) -> u16 {
        match self {
            Message::Hello(..) => 1,
            Message::Welcome(_) => 2,
            Message::Refused(..) => 3,
            Message::StageOpen { .. } => 4,
            Message::StageClose { .. } => 5,
            Message::Fatal(_) => 6,
            Message::Share { .. } => 7,
        }
    }

    /// Files that travel with the message.
    pub(crate) fn files(&self) -> usize {
        match self {
            Message::Hello(_, Some(_)) => 3,
            Message::Welcome(_) => 2,
            Message::StageOpen { .. } | Message::Share { .. } => 1,
            Message::Hello(_, None) | Message::Refused(..) | Message::StageClose { .. } | Message::Fatal(_) => 0,
        }
    }

    /// The message as a frame.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut payload = self.kind().to_le_bytes().to_vec();
        match self {
            Message::Hello(version, wishes) => {
                version.put(&mut payload);
                if let Some(bytes) = wishes.as_ref().and_then(|wishes| postcard::to_stdvec(wishes).ok()) {
                    payload.extend_from_slice(&bytes);
                }
            }
            Message::Welcome(version) => version.put(&mut payload),
            Message::Refused(version, why) => {
                version.put(&mut payload);
                payload.extend_from_slice(why.as_bytes());
            }
            Message::StageOpen { id, bytes } | Message::Share { number: id, bytes } => {
                payload.extend_from_slice(&id.to_le_bytes());
                payload.extend_from_slice(&bytes.to_le_bytes());
            }
            Message::StageClose { id } => payload.extend_from_slice(&id.to_le_bytes()),
            Message::Fatal(why) => payload.extend_from_slice(why.as_bytes()),
        }
        // Only a text can be that long.
        payload.truncate(MAX_PAYLOAD);
        let mut frame = MAGIC.to_vec();
        frame.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        frame.extend_from_slice(&payload);
        frame
    }

    fn decode(payload: &[u8]) -> Result<Message, FrameError> {
        let (kind, body) = payload.split_first_chunk().ok_or(FrameError::Kind(0))?;
        let kind = u16::from_le_bytes(*kind);
        let version = || Version::split(body).ok_or(FrameError::Body(kind));
        Ok(match kind {
            1 => {
                let (version, rest) = version()?;
                let wishes = if version == Version::own() {
                    let (wishes, rest) = postcard::take_from_bytes(rest).map_err(|_| FrameError::Body(kind))?;
                    if !rest.is_empty() {
                        return Err(FrameError::Body(kind));
                    }
                    Some(wishes)
                } else {
                    None
                };
                Message::Hello(version, wishes)
            }
            2 => Message::Welcome(version()?.0),
            3 => version().map(|(version, why)| Message::Refused(version, text(why)))?,
            4 | 7 => {
                let (id, rest) = body.split_first_chunk().ok_or(FrameError::Body(kind))?;
                let bytes = rest.try_into().map_err(|_| FrameError::Body(kind))?;
                let (number, bytes) = (u32::from_le_bytes(*id), u64::from_le_bytes(bytes));
                if kind == 4 {
                    Message::StageOpen { id: number, bytes }
                } else {
                    Message::Share { number, bytes }
                }
            }
            5 => Message::StageClose { id: u32::from_le_bytes(body.try_into().map_err(|_| FrameError::Body(kind))?) },
            6 => Message::Fatal(text(body)),
            kind => return Err(FrameError::Kind(kind)),
        })
    }
}

/// Cuts a stream of bytes into messages. An error is final: the stream has no beginning any more.
#[derive(Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    /// Takes bytes as they come.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete message.
    ///
    /// # Errors
    /// As soon as the bytes cannot become a message.
    pub(crate) fn next(&mut self) -> Result<Option<Message>, FrameError> {
        let seen = self.bytes.len().min(MAGIC.len());
        if self.bytes.get(..seen) != MAGIC.get(..seen) {
            return Err(FrameError::Magic);
        }
        let Some(length) = self.bytes.get(MAGIC.len()..FRAME_HEAD).and_then(|length| length.try_into().ok()) else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(length);
        if length as usize > MAX_PAYLOAD {
            return Err(FrameError::Length(length));
        }
        let end = FRAME_HEAD + length as usize;
        let Some(payload) = self.bytes.get(FRAME_HEAD..end) else { return Ok(None) };
        let message = Message::decode(payload)?;
        self.bytes.drain(..end);
        Ok(Some(message))
    }

    /// Reads all messages that are complete and says how many there were: for tests with arbitrary bytes.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn skim(&mut self) -> Result<usize, FrameError> {
        let mut messages = 0;
        while self.next()?.is_some() {
            messages += 1;
        }
        Ok(messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn messages() -> Vec<Message> {
        let wishes = Wishes { backend: "magma".into(), sizes: SegmentSizes::default().into() };
        let other = Version { channel: CHANNEL_VERSION + 1, catalogue: 7 };
        vec![
            Message::Hello(Version::own(), Some(wishes)),
            Message::Hello(other, None),
            Message::Welcome(Version::own()),
            Message::Refused(other, "no".into()),
            Message::StageOpen { id: 3, bytes: 1 << 26 },
            Message::StageClose { id: 3 },
            Message::Fatal("a bad day".into()),
        ]
    }

    #[test]
    fn messages_survive_any_cut() {
        let stream: Vec<u8> = messages().iter().flat_map(Message::frame).collect();
        for cut in 1..40 {
            let (mut frames, mut got) = (Frames::default(), Vec::new());
            for piece in stream.chunks(cut) {
                frames.feed(piece);
                while let Some(message) = frames.next().expect("well-formed") {
                    got.push(message);
                }
            }
            assert_eq!(got, messages());
        }
    }

    #[test]
    fn what_is_wrong_is_said_at_once() {
        let first = |bytes: &[u8]| {
            let mut frames = Frames::default();
            frames.feed(bytes);
            frames.next()
        };
        assert_eq!(first(b"G"), Err(FrameError::Magic), "no need to wait for more");
        assert_eq!(first(b"MGLF\xff\xff\xff\xff"), Err(FrameError::Length(u32::MAX)), "4 GiB are never waited for");
        assert_eq!(first(b"MGLF\x02\0\0\0\x63\0"), Err(FrameError::Kind(0x63)));
        assert_eq!(first(b"MGLF\x03\0\0\0\x01\0\0"), Err(FrameError::Body(1)));
        assert_eq!(first(b"MGLF\0\0\0\0"), Err(FrameError::Kind(0)));
        assert_eq!(first(b"MGL"), Ok(None));
    }

    #[test]
    fn another_version_is_told_apart_from_rubbish() {
        let mut hello = messages()[0].frame();
        hello[FRAME_HEAD + 2] ^= 0x40;
        let mut frames = Frames::default();
        frames.feed(&hello);
        let Ok(Some(Message::Hello(version, None))) = frames.next() else { panic!("the version is readable") };
        assert!(Version::own().mismatch(version).expect("differs").contains("versions"));
        assert_eq!(Version::own().mismatch(Version::own()), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), framed in any::<bool>()) {
            let mut frames = Frames::default();
            if framed {
                frames.feed(&MAGIC);
                frames.feed(&(bytes.len() as u32).to_le_bytes());
            }
            frames.feed(&bytes);
            let _ = frames.skim();
        }

        #[test]
        fn no_flipped_byte_panics(which in 0usize..7, at in 0usize..64, flip in 1u8..) {
            let mut bytes = messages()[which].frame();
            let at = at % bytes.len();
            bytes[at] ^= flip;
            let mut frames = Frames::default();
            frames.feed(&bytes);
            let _ = frames.skim();
        }
    }
}
