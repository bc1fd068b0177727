//! Cost of the tracker a draw, with a pipe that does nothing, against the figures that it must keep.
//!
//! `cargo bench -p mgpipe-tracker` prints nanoseconds a draw, best of many rounds, and fails when a release build misses a
//! figure. A round is short and a missed figure is tried for longer, so that other work on the machine disturbs some
//! rounds and not the verdict.

use mgpipe_handles::HandleSpace;
use mgpipe_tracker::plain::PlainSource;
use mgpipe_tracker::sinks::NullPipe;
use mgpipe_tracker::{Counter, ResolvedView, Tracker, TrackerOptions, VerbClass};
use mgpipe_types::render_state::Viewport;
use mgpipe_types::{
    gl, BufferHandle, BufferRange, Context, DrawInfo, DrawRange, Handle, HostBytes, SamplerView, TypedHandle,
};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const DRAWS: u32 = 20_000;
const ROUNDS: u32 = 100;
const MORE_ROUNDS: u32 = 2000;

/// A draw loop under test.
struct Case {
    name: &'static str,
    /// Nanoseconds a draw that must not be exceeded; none is only reported.
    allowed: Option<f64>,
    step: fn(&mut Bench, u32),
}

struct Bench {
    source: PlainSource,
    tracker: Tracker,
    pipe: Box<dyn Context>,
    info: DrawInfo,
    ranges: [DrawRange; 1],
}

impl Bench {
    fn new() -> Bench {
        let handle = |slot| Handle { slot, gen: 1 };
        let mut source = PlainSource::default();
        for unit in 0..8 {
            let view =
                SamplerView { texture: handle(unit + 1), num_levels: 1, num_layers: 1, ..SamplerView::default() };
            source.textures[0].push(ResolvedView { unit, view, parameters: Default::default() });
        }
        for slot in 1..5 {
            source.buffers[0].ranges.push(BufferRange { res: BufferHandle(handle(slot)).raw(), offset: 0, size: 256 });
        }
        source.programs[0].shader.0 = handle(1);
        source.programs[0].has_constants = true;
        source.default_blocks[0] = vec![0; 256];
        Bench {
            source,
            tracker: Tracker::new(Arc::new(HandleSpace::new()), TrackerOptions::default()),
            pipe: Box::new(NullPipe::default()),
            info: DrawInfo { mode: gl::TRIANGLES, instance_count: 1, range_count: 1, ..DrawInfo::default() },
            ranges: [DrawRange { start: 0, count: 3, index_bias: 0 }],
        }
    }

    #[inline]
    fn draw(&mut self) {
        self.tracker.validate(VerbClass::Draw, black_box(&mut self.source), &mut *self.pipe);
        self.pipe.draw_vbo(black_box(&self.info), &self.ranges, &[], HostBytes::None);
    }
}

const CASES: &[Case] = &[
    Case { name: "steady draw", allowed: Some(25.0), step: |b, _| b.draw() },
    Case {
        name: "enable, draw, disable, draw",
        allowed: Some(45.0),
        step: |b, i| {
            b.source.render_state.set_capability(black_box(gl::BLEND), i % 2 == 0);
            b.draw();
        },
    },
    Case {
        name: "viewport, draw",
        allowed: Some(60.0),
        step: |b, i| {
            let width = black_box((i % 1000) as f32);
            b.source.render_state.set_viewports(Viewport { x: 0.0, y: 0.0, width, height: 480.0 });
            b.draw();
        },
    },
    Case {
        name: "uniform, draw",
        allowed: None,
        step: |b, i| {
            b.source.default_blocks[0][black_box(0)] = i as u8;
            b.source.programs[0].constants_version += 1;
            b.source.bump(Counter::DefaultBlock);
            b.draw();
        },
    },
    Case {
        name: "8 textures rebound, draw",
        allowed: None,
        step: |b, i| {
            b.source.textures[0][0].view.texture.slot = 1 + i % 2;
            b.source.bump(Counter::TextureUnits);
            b.draw();
        },
    },
    Case {
        name: "uniform buffer offset, draw",
        allowed: None,
        step: |b, i| {
            b.source.buffers[0].ranges[0].offset = u64::from(i % 64) * 256;
            b.source.bump(Counter::UniformBuffers);
            b.draw();
        },
    },
    Case {
        name: "program, draw (8 textures)",
        allowed: None,
        step: |b, i| {
            b.source.programs[0].shader.0.slot = 1 + i % 2;
            b.source.bump(Counter::DrawProgram);
            b.draw();
        },
    },
];

fn main() {
    let checked = cfg!(not(debug_assertions));
    let mut missed = false;
    println!("{:<32} {:>9} {:>9}", "case", "ns/draw", "allowed");
    // `cargo bench -p mgpipe-tracker -- WORD` runs the cases whose name has the word.
    let word = std::env::args().skip(1).find(|a| !a.starts_with("--")).unwrap_or_default();
    for case in CASES.iter().filter(|c| c.name.contains(&word)) {
        let mut bench = Bench::new();
        for i in 0..DRAWS {
            (case.step)(&mut bench, i);
        }
        let mut best = f64::INFINITY;
        for round in 0..MORE_ROUNDS {
            if round >= ROUNDS && case.allowed.is_none_or(|allowed| best <= allowed) {
                break;
            }
            bench.source.upload_calls.clear();
            let start = Instant::now();
            for i in 0..DRAWS {
                (case.step)(&mut bench, i);
            }
            best = best.min(start.elapsed().as_nanos() as f64 / f64::from(DRAWS));
        }
        let allowed = case.allowed.map_or_else(|| "-".into(), |a| format!("{a:.0}"));
        let verdict = if checked && case.allowed.is_some_and(|a| best > a) { "  MISSED" } else { "" };
        missed |= !verdict.is_empty();
        println!("{:<32} {best:>9.1} {allowed:>9}{verdict}", case.name);
    }
    if missed {
        std::process::exit(1);
    }
}
