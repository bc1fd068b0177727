//! Cost of a call for the thread that makes it, when the backend is elsewhere.
//!
//! `cargo bench -p mgpipe-wire --bench encode` prints nanoseconds a call, best of many rounds, and fails when a release
//! build needs more than 30 for a steady draw. A round fits into the ring: what is measured is the encoding, while an
//! apply thread takes the records away as it would in a program.

use mgpipe_types::*;
use mgpipe_wire::channel::{local_pair, SegmentSizes, Tuning};
use mgpipe_wire::client::ClientOptions;
use mgpipe_wire::inproc::inproc;
use mgpipe_wire::null::NullBackend;
use std::sync::Arc;
use std::time::Instant;

const CALLS: u32 = 10_000;
const ROUNDS: u32 = 200;
const MORE_ROUNDS: u32 = 2000;

fn handle(slot: u32) -> Handle {
    Handle { slot, gen: 1 }
}

fn draw(context: &mut dyn Context, _: u32) {
    let info = DrawInfo { mode: gl::TRIANGLES, instance_count: 1, range_count: 1, ..DrawInfo::default() };
    context.draw_vbo(&info, &[DrawRange { start: 0, count: 3, index_bias: 0 }], &[], HostBytes::None);
}

fn draw_with_constants(context: &mut dyn Context, round: u32) {
    let constants = GlobalConstants { shader: handle(1), ..GlobalConstants::default() };
    context.set_global_constants(&constants, &[round as u8; 64]);
    draw(context, round);
}

fn small_upload(context: &mut dyn Context, round: u32) {
    let bytes = [round as u8; 256];
    let data = SubData { res: handle(1), union_box: Box3::from_buffer_range(0, 256), ..SubData::default() };
    context.resource_subdata(&data, &[], &bytes);
}

/// Best nanoseconds a call within some rounds.
fn measure(screen: &dyn Screen, context: &mut dyn Context, rounds: u32, step: fn(&mut dyn Context, u32)) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        for call in 0..CALLS {
            step(context, call);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(CALLS));
        // The ring is empty before the next round.
        context.fence_create(&FenceDesc { fence: handle(1), exportable: 0, pad: 0 });
        let waited = screen.fence_wait(&FenceWait { fence: handle(1), timeout_ns: u64::MAX });
        assert!(waited.is_ok(), "{waited:?}");
        screen.fence_destroy(&HandleOnly { handle: handle(1) });
    }
    best
}

fn main() {
    let channel =
        || local_pair(SegmentSizes::default(), Tuning::default()).map_err(|error| PipeError::Init(error.to_string()));
    let backend = inproc(Arc::new(NullBackend), Box::new(channel), ClientOptions::default());
    let screen = match backend.open(Arc::new(LogCallbacks::silent())) {
        Ok(screen) => screen,
        Err(error) => panic!("{error}"),
    };
    let mut context = match screen.create_context(ContextHandle(handle(1))) {
        Ok(context) => context,
        Err(error) => panic!("{error}"),
    };
    screen.resource_create(&ResourceDesc { handle: handle(1), buffer_size: 4096, ..ResourceDesc::default() });
    let cases: [(&str, Option<f64>, fn(&mut dyn Context, u32)); 3] = [
        ("steady draw", Some(30.0), draw),
        ("draw and 64 bytes of constants", None, draw_with_constants),
        ("upload of 256 bytes", None, small_upload),
    ];
    let mut missed = false;
    for (name, allowed, step) in cases {
        let mut best = measure(&*screen, &mut *context, ROUNDS, step);
        if allowed.is_some_and(|allowed| best > allowed) && !cfg!(debug_assertions) {
            best = best.min(measure(&*screen, &mut *context, MORE_ROUNDS, step));
        }
        let verdict = match allowed {
            Some(allowed) if best > allowed => {
                missed = true;
                format!("more than the allowed {allowed}")
            }
            Some(allowed) => format!("allowed {allowed}"),
            None => String::new(),
        };
        println!("{name:<32} {best:>7.1} ns {verdict}");
    }
    if missed && !cfg!(debug_assertions) {
        std::process::exit(1);
    }
}
