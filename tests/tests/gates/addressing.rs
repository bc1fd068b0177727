//! With addressing by content off, state objects are made anew each time: more of them, and the same pixels.

use mgl_tests::verdict::Outcome;
use mgpipe_types::Opcode;

use crate::recording::Recorded;

/// Calls that make state objects.
const MINTS: [Opcode; 3] = [Opcode::CreateRenderState, Opcode::CreateVertexElements, Opcode::CreateSampler];

#[test]
fn addressing_by_content_changes_mints_and_no_pixel() {
    for scenario in ["control_stream", "mixed_state_1", "object_everything_recycled"] {
        let on = Recorded::of(scenario, "magma", "on", &[("MGL_CSO_ADDRESSING", "on")]);
        let off = Recorded::of(scenario, "magma", "off", &[("MGL_CSO_ADDRESSING", "off")]);
        for run in [&on, &off] {
            assert_eq!(run.verdict.outcome, Outcome::Pass, "{scenario}: {:?}", run.verdict.messages);
        }
        let mints = |run: &Recorded| MINTS.map(|opcode| run.count(opcode)).iter().sum::<u64>();
        assert!(mints(&off) > mints(&on), "{scenario}: {} objects without, {} with", mints(&off), mints(&on));
        let (with, without) = (on.pictures(), off.pictures());
        assert_eq!(with.len(), without.len());
        for (a, b) in with.iter().zip(&without) {
            assert_eq!(a.data, b.data, "{scenario}");
        }
        let values = |run: &Recorded| format!("{:?}", run.verdict.values);
        assert_eq!(values(&on), values(&off), "{scenario}");
    }
}
