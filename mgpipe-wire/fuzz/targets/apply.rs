//! Arbitrary records through a connection to the loop that applies them on the null backend.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mgpipe_wire::channel::{local_pair, SegmentSizes, Tuning};
use mgpipe_wire::null::NullBackend;
use mgpipe_wire::server::serve;
use std::time::Duration;

const SIZES: SegmentSizes =
    SegmentSizes { commands: 1 << 16, stage: 1 << 16, stage_limit: 1 << 16, replies: 2 << 20, events: 1 << 16 };

fuzz_target!(|data: &[u8]| {
    let tuning = Tuning { spin: Some(Duration::ZERO), patience: Duration::from_millis(5) };
    let (mut client, server) = local_pair(SIZES, tuning).expect("memory");
    if let Ok((_, bytes)) = client.commands.stage(4096, &|| {}) {
        bytes.fill(0x5a);
    }
    // Each record: its length in words, then kind, flags and arguments. The sizes are right, since wrong ones end the
    // stream at once, which the tests of the channel cover.
    let mut rest = data;
    while let Some((words, body)) = rest.split_first() {
        let size = 8 + usize::from(*words) * 8;
        let Some(taken) = body.get(..size - 4) else { break };
        let Ok(record) = client.commands.reserve(size, &|| {}) else { break };
        record[..4].copy_from_slice(&taken[..4]);
        record[4..8].copy_from_slice(&(size as u32).to_le_bytes());
        record[8..].copy_from_slice(&taken[4..]);
        client.commands.commit();
        rest = &body[size - 4..];
    }
    drop(client);
    let _ = serve(server, &NullBackend);
});
