//! Arbitrary bytes to the decoder; what decodes must encode to the same bytes again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mgpipe_wire::{Call, RecordBuf};

fuzz_target!(|data: &[u8]| {
    // The decoder's input is 8-aligned, as a ring's and a file's is.
    let words: Vec<u64> = data.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut rest = bytes.as_slice();
    while let Ok((call, after)) = Call::decode(rest) {
        let mut again = RecordBuf::new();
        call.encode(&mut again);
        assert_eq!(again.bytes().len(), rest.len() - after.len(), "{call:?}");
        let (twice, _) = Call::decode(again.bytes()).expect("what was encoded decodes");
        // Not compared by value: a float in it may be no number.
        let mut third = RecordBuf::new();
        twice.encode(&mut third);
        assert_eq!(again.bytes(), third.bytes(), "{call:?}");
        rest = after;
    }
});
