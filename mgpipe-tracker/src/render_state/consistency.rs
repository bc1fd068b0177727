//! Setter consistency: the packed pipeline bytes move if and only if the pipeline version moves, for every setter.

use super::{ArgumentSource, RenderStateTracker, OWNER, PIPELINE, SETTERS, WORDS};
use crate::strategies::setting;
use bytemuck::bytes_of;
use mgpipe_types::render_state::{chunks, pipeline_hash, Half};
use mgpipe_types::RenderState;
use proptest::prelude::*;
use std::mem::offset_of;

fn dynamic_bytes(state: &RenderState) -> Vec<u8> {
    chunks(Half::Dynamic).iter().flat_map(|c| &bytes_of(state)[c.range()]).copied().collect()
}

/// Runs one call and says what is inconsistent about it, if anything.
fn check(state: &mut RenderStateTracker, call: impl FnOnce(&mut RenderStateTracker)) -> Result<(), String> {
    let before = state.clone();
    call(state);
    let pairs = [
        (
            "pipeline",
            pipeline_hash(&before.state.pipeline_bytes()) != pipeline_hash(&state.state.pipeline_bytes()),
            before.pipeline_version != state.pipeline_version,
        ),
        (
            "dynamic",
            dynamic_bytes(&before.state) != dynamic_bytes(&state.state),
            before.dynamic_version != state.dynamic_version,
        ),
        ("block", bytes_of(&before.state) != bytes_of(&state.state), before.version != state.version),
    ];
    for (what, content, version) in pairs {
        if content != version {
            return Err(format!("{what}: content moved {content}, version moved {version}"));
        }
    }
    for (i, chunk) in chunks(Half::Dynamic).iter().enumerate() {
        let content = bytes_of(&before.state)[chunk.range()] != bytes_of(&state.state)[chunk.range()];
        if content != (before.dynamic_versions[i] != state.dynamic_versions[i]) {
            return Err(format!("dynamic chunk {i}: content moved {content}, its version disagrees"));
        }
    }
    Ok(())
}

/// Many tuples of argument words, the same ones every time.
fn argument_words() -> impl Iterator<Item = Vec<u16>> {
    let mut seed = 0x2545_f491_u32;
    (0..800).map(move |_| {
        (0..6)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 16) as u16
            })
            .collect()
    })
}

proptest! {
    /// Over random sequences: versions move exactly with content.
    #[test]
    fn versions_move_exactly_with_content(settings in proptest::collection::vec(setting(), 0..60)) {
        let mut state = RenderStateTracker::starting_at(u64::MAX - 20);
        for setting in settings {
            if let Err(why) = check(&mut state, |s| setting.apply(s)) {
                return Err(TestCaseError::fail(format!("{setting:?}: {why}")));
            }
        }
    }
}

#[test]
fn every_setter_is_consistent_and_has_an_effect_and_none_when_repeated() {
    for setter in SETTERS {
        let mut state = RenderStateTracker::new();
        let mut effects = 0;
        for words in argument_words() {
            let before = state.version;
            check(&mut state, |s| setter.call(s, &mut ArgumentSource::new(&words)))
                .unwrap_or_else(|why| panic!("{setter:?}: {why}"));
            effects += u32::from(state.version != before);
            let after = state.version;
            setter.call(&mut state, &mut ArgumentSource::new(&words));
            assert_eq!(state.version, after, "{setter:?} is not idempotent");
        }
        assert!(effects > 0, "{setter:?} changes nothing");
    }
}

#[test]
fn every_word_of_the_block_is_reached_by_a_setter_of_its_half() {
    let mut reached = [false; WORDS];
    for setter in SETTERS {
        for words in argument_words() {
            let mut state = RenderStateTracker::new();
            let before: [u32; WORDS] = bytemuck::cast(state.state);
            setter.call(&mut state, &mut ArgumentSource::new(&words));
            let after: [u32; WORDS] = bytemuck::cast(state.state);
            for i in (0..WORDS).filter(|i| before[*i] != after[*i]) {
                reached[i] = true;
                let pipeline = state.pipeline_version != 0;
                assert!(pipeline || OWNER[i] != PIPELINE, "{setter:?} writes pipeline word {i} without its version");
            }
        }
    }
    let pad = offset_of!(RenderState, pad_depth) / 4;
    for (i, reached) in reached.iter().enumerate() {
        // The word of the padding also holds a flag.
        assert!(*reached || i == pad + 1, "no setter reaches byte {} of the block", i * 4);
    }
}

#[test]
fn every_public_setter_is_a_row_of_the_list() {
    let outside = [include_str!("../render_state.rs"), include_str!("capability.rs")];
    let names: Vec<&str> = outside
        .iter()
        .flat_map(|text| text.split("pub fn set_").skip(1))
        .filter_map(|rest| rest.split('(').next())
        .collect();
    assert_eq!(names, ["capability", "capability_indexed"], "setters live in setters.rs, where the tests see them");
    let rows = include_str!("setters.rs").matches("\n    fn set_").count();
    assert_eq!(rows, SETTERS.len());
}

#[test]
fn the_check_catches_a_setter_that_forgets_its_version() {
    let mut state = RenderStateTracker::new();
    assert!(check(&mut state, |s| s.state.depth_test ^= 1).is_err(), "pipeline byte without a version");
    let mut state = RenderStateTracker::new();
    assert!(check(&mut state, |s| s.state.line_width = 9.0).is_err(), "dynamic byte without a version");
    let mut state = RenderStateTracker::new();
    assert!(check(&mut state, |s| s.pipeline_version += 1).is_err(), "a version without a byte");
    let mut state = RenderStateTracker::new();
    let wrong_half = check(&mut state, |s| {
        s.state.depth_test ^= 1;
        s.version += 1;
        s.dynamic_version += 1;
    });
    assert!(wrong_half.is_err(), "the version of the other half");
}
