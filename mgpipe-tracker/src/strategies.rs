//! Proptest strategies: sequences of render-state settings, and boxes of texture uploads.

use crate::render_state::{ArgumentSource, RenderStateTracker, SETTERS};
use crate::verb::VerbClass;
use mgpipe_types::Box3;
use proptest::prelude::*;

/// One call of a setter of [`RenderStateTracker`].
#[derive(Clone, PartialEq, Eq)]
pub struct Setting {
    /// Index into [`SETTERS`].
    pub setter: usize,
    /// Words that its arguments are made of.
    pub words: Vec<u16>,
}

impl Setting {
    /// Calls the setter.
    pub fn apply(&self, state: &mut RenderStateTracker) {
        if let Some(setter) = SETTERS.get(self.setter) {
            setter.call(state, &mut ArgumentSource::new(&self.words));
        }
    }
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = SETTERS.get(self.setter).map_or("none", |s| s.name);
        write!(f, "{name}{:?}", self.words)
    }
}

/// Any setter with any arguments. Arguments come from few values, so that redundant sets and returns to an earlier state
/// are frequent.
pub fn setting() -> impl Strategy<Value = Setting> {
    (0..SETTERS.len(), proptest::collection::vec(0..64u16, 6)).prop_map(|(setter, words)| Setting { setter, words })
}

/// A sequence of settings.
pub fn settings(max_len: usize) -> impl Strategy<Value = Vec<Setting>> {
    proptest::collection::vec(setting(), 0..=max_len)
}

/// A verb class; draws are as frequent as all others together.
pub fn verb_class() -> impl Strategy<Value = VerbClass> {
    prop_oneof![Just(VerbClass::Draw), proptest::sample::select(VerbClass::ALL.to_vec())]
}

/// A box within a level of the given extent; empty ones are possible.
pub fn upload_box(width: u32, height: u32, depth: u32) -> impl Strategy<Value = Box3> {
    let span = |n: u32| (0..n, 0..=n).prop_map(move |(at, len)| (at as i32, len.min(n - at)));
    (span(width), span(height), span(depth)).prop_map(|((x, width), (y, height), (z, depth))| Box3 {
        x,
        y,
        z,
        width,
        height,
        depth,
    })
}
