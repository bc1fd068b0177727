//! A recorded stream replays to the same pixels, and a committed recording catches a changed stream.

use std::path::Path;

use mgl_tests::picture::Picture;
use mgl_tests::verdict::Outcome;
use mgpipe_wire::{recording_text, Call};

use crate::recording::{replay, Recorded};

/// What is recorded and replayed: draws of every shape, uploads, slots that come back, blits, resolves, layers, chains.
const REPLAYED: [&str; 12] = [
    "control_stream",
    "object_texture_recycled",
    "object_buffer_recycled",
    "object_rendered_texture_after_deletion",
    "mixed_state_1",
    "draw_instanced_divisor",
    "framebuffer_blit",
    "framebuffer_blit_flipped_scaled",
    "framebuffer_multisample_resolve",
    "framebuffer_layered_geometry",
    "framebuffer_render_to_texture_chain",
    "texture_units",
];

/// Whether a read-back answered the picture's pixels.
fn answered(answers: &[Vec<u8>], picture: &Picture) -> bool {
    answers.contains(&picture.data)
}

// The pixels that the application read while it was recorded are those that the replay reads, on a device that knows the
// recording alone.
#[test]
fn recordings_of_magma_replay_to_the_same_pixels() {
    for scenario in REPLAYED {
        let recorded = Recorded::of(scenario, "magma", "recorded", &[]);
        assert_eq!(recorded.verdict.outcome, Outcome::Pass, "{scenario}: {:?}", recorded.verdict.messages);
        let (answers, report) = replay(recorded.bytes());
        let report = report.unwrap_or_else(|e| panic!("{scenario}: {e}"));
        assert!(report.records > 20, "{scenario}: {} records", report.records);
        let pictures = recorded.pictures();
        assert!(!pictures.is_empty(), "{scenario} compares no picture");
        for (i, picture) in pictures.iter().enumerate() {
            assert!(answered(&answers, picture), "{scenario}: picture {i} was not read in the replay");
        }
    }
}

// The control: the comparison above notices a recording from which the draws are missing.
#[test]
fn a_recording_without_its_draws_replays_to_other_pixels() {
    let recorded = Recorded::of("control_stream", "magma", "cut", &[]);
    let cut = recorded.without(|call| !matches!(call, Call::DrawVbo { .. }));
    let (answers, report) = replay(bytemuck::cast_slice(&cut));
    report.expect("the rest is a whole recording");
    assert!(!answers.is_empty());
    assert!(recorded.pictures().iter().all(|picture| !answered(&answers, picture)));
}

/// The recording as the golden file has it: what the shader compiler makes is its own affair, all else is compared.
fn golden_text(recorded: &Recorded) -> String {
    let text = recording_text(recorded.bytes()).expect("the recording is whole");
    let mut kept = String::new();
    for line in text.lines() {
        kept.push_str(if line.starts_with("create_shader ") { "create_shader …" } else { line });
        kept.push('\n');
    }
    kept
}

// The frontend and the tracker send what they sent when the file was committed. `MGL_TEST_UPDATE_GOLDEN=1` writes the file
// anew: look at the difference before committing it.
#[test]
fn the_stream_is_the_committed_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/stream.txt");
    let text = golden_text(&Recorded::of("control_stream", "null", "golden", &[]));
    match std::env::var("MGL_TEST_UPDATE_GOLDEN").unwrap_or_default().as_str() {
        "" | "0" => {}
        "1" => {
            std::fs::write(&path, &text).expect("the golden file can be written");
            return;
        }
        other => panic!("MGL_TEST_UPDATE_GOLDEN={other} is unknown; use 0 or 1"),
    }
    let golden = std::fs::read_to_string(&path).expect("the golden file is there");
    for (i, (got, want)) in text.lines().zip(golden.lines()).enumerate() {
        assert_eq!(got, want, "line {} of {}; MGL_TEST_UPDATE_GOLDEN=1 accepts the new stream", i + 1, path.display());
    }
    assert_eq!(text.lines().count(), golden.lines().count(), "calls; MGL_TEST_UPDATE_GOLDEN=1 accepts the new stream");
}

// The control: a driver that sends something else is noticed.
#[test]
fn another_stream_is_not_the_committed_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/stream.txt");
    let other = Recorded::of("control_stream", "null", "other", &[("MGL_CSO_ADDRESSING", "off")]);
    assert_ne!(golden_text(&other), std::fs::read_to_string(path).expect("the golden file is there"));
}
