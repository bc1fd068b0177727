//! Prints what reaches the pipe when a program draws, changes state, and draws again.

use mgpipe_handles::HandleSpace;
use mgpipe_tracker::plain::PlainSource;
use mgpipe_tracker::sinks::RecordingPipe;
use mgpipe_tracker::{Counter, Tracker, TrackerOptions, VerbClass};
use mgpipe_types::gl;
use std::sync::Arc;

fn main() {
    let mut source = PlainSource::default();
    let mut pipe = RecordingPipe::default();
    let mut tracker = Tracker::new(Arc::new(HandleSpace::new()), TrackerOptions::default());
    let mut draw = |what: &str, source: &mut PlainSource| {
        tracker.validate(VerbClass::Draw, source, &mut pipe);
        println!("{what}: {:?}", pipe.record.opcodes());
        pipe.record.take();
    };

    draw("first draw", &mut source);
    draw("second draw", &mut source);
    source.render_state.set_capability(gl::BLEND, true);
    draw("blending on", &mut source);
    source.render_state.set_capability(gl::BLEND, false);
    draw("blending off", &mut source);
    source.render_state.set_line_width(2.0);
    draw("line width", &mut source);
    source.framebuffer.width = 640;
    source.bump(Counter::Framebuffer);
    draw("framebuffer", &mut source);
}
