//! The tracker against pipes without a backend.

/// No steady path allocates.
mod allocation;
/// A server that assembles what it is told, compared with the source after every verb.
mod model;
/// Caches of state objects: mints, eviction, collisions, lifetimes.
mod objects;
/// What is emitted, when, and in which order.
mod steady;

use mgpipe_handles::HandleSpace;
use mgpipe_tracker::plain::PlainSource;
use mgpipe_tracker::sinks::{RecordedCall, RecordingPipe};
use mgpipe_tracker::{ResolvedView, Tracker, TrackerOptions, VerbClass};
use mgpipe_types::{Handle, Opcode, SamplerParameters, SamplerView};
use std::sync::Arc;

fn handle(slot: u32, gen: u32) -> Handle {
    Handle { slot, gen }
}

fn view(unit: u32, texture: u32) -> ResolvedView {
    ResolvedView {
        unit,
        view: SamplerView { texture: handle(texture, 1), num_levels: 1, num_layers: 1, ..SamplerView::default() },
        parameters: SamplerParameters::default(),
    }
}

/// A source, a tracker and a recording pipe.
struct Rig {
    source: PlainSource,
    handles: Arc<HandleSpace>,
    tracker: Tracker,
    pipe: RecordingPipe,
}

impl Rig {
    fn new(options: TrackerOptions) -> Rig {
        let handles = Arc::new(HandleSpace::new());
        let mut source = PlainSource::default();
        source.textures[0] = vec![view(0, 1), view(2, 2)];
        source.programs[0].shader.0 = handle(1, 1);
        source.programs[0].has_constants = true;
        source.default_blocks[0] = vec![1; 16];
        source.programs[1].shader.0 = handle(2, 1);
        Rig { source, tracker: Tracker::new(handles.clone(), options), handles, pipe: RecordingPipe::default() }
    }

    /// Validates and answers the calls that it made.
    fn verb(&mut self, class: VerbClass) -> Vec<RecordedCall> {
        self.tracker.validate(class, &mut self.source, &mut self.pipe);
        self.pipe.record.take()
    }

    fn draw(&mut self) -> Vec<RecordedCall> {
        self.verb(VerbClass::Draw)
    }
}

fn opcodes(calls: &[RecordedCall]) -> Vec<Opcode> {
    calls.iter().map(|c| c.opcode).collect()
}

fn count(calls: &[RecordedCall], opcode: Opcode) -> usize {
    calls.iter().filter(|c| c.opcode == opcode).count()
}
