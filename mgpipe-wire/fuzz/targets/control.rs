//! Arbitrary bytes to the control messages, whole and in pieces: both must come to the same end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mgpipe_wire::channel::Frames;

fuzz_target!(|data: &[u8]| {
    let mut whole = Frames::default();
    whole.feed(data);
    let at_once = whole.skim();
    let (mut pieces, mut messages, mut error) = (Frames::default(), 0, None);
    for piece in data.chunks(7) {
        pieces.feed(piece);
        match pieces.skim() {
            Ok(more) => messages += more,
            Err(what) => {
                error = Some(what);
                break;
            }
        }
    }
    match (at_once, error) {
        (Ok(count), None) => assert_eq!(count, messages),
        (Err(a), Some(b)) => assert_eq!(a, b),
        (a, b) => panic!("whole {a:?}, in pieces {b:?}"),
    }
});
