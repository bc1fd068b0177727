//! Arguments of setters drawn from plain words, so that one list of setters can be driven by tests and strategies.

use crate::render_state::{Face, Hint};
use mgpipe_types::render_state::Viewport;
use mgpipe_types::ScissorBox;

/// A supply of words that setters' arguments are made of. Words are folded into few values, so that redundant sets,
/// equal states and out-of-range indices all occur often.
#[derive(Clone, Debug)]
pub struct ArgumentSource<'a> {
    words: &'a [u16],
    at: usize,
}

impl<'a> ArgumentSource<'a> {
    /// A supply that reads `words` in turn, and zeros behind them.
    pub fn new(words: &'a [u16]) -> ArgumentSource<'a> {
        ArgumentSource { words, at: 0 }
    }

    fn word(&mut self) -> u16 {
        let word = self.words.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        word
    }
}

/// An argument that can be made of words.
pub(crate) trait Argument {
    fn take(source: &mut ArgumentSource<'_>) -> Self;
}

impl Argument for bool {
    fn take(source: &mut ArgumentSource<'_>) -> Self {
        source.word() & 1 != 0
    }
}

impl Argument for u32 {
    fn take(source: &mut ArgumentSource<'_>) -> Self {
        [0, 1, 0x1900, 0x0300, u32::MAX, 7][source.word() as usize % 6]
    }
}

impl Argument for i32 {
    fn take(source: &mut ArgumentSource<'_>) -> Self {
        [0, 1, -1, 255, i32::MIN][source.word() as usize % 5]
    }
}

impl Argument for f32 {
    fn take(source: &mut ArgumentSource<'_>) -> Self {
        [0.0, 1.0, -0.0, 0.5, f32::NAN, f32::INFINITY, 640.0][source.word() as usize % 7]
    }
}

impl Argument for usize {
    fn take(source: &mut ArgumentSource<'_>) -> Self {
        [0, 1, 7, 8, 15, 16, usize::MAX, 2][source.word() as usize % 8]
    }
}

impl<T: Argument, const N: usize> Argument for [T; N] {
    fn take(source: &mut ArgumentSource<'_>) -> Self {
        std::array::from_fn(|_| T::take(source))
    }
}

impl Argument for Viewport {
    fn take(source: &mut ArgumentSource<'_>) -> Self {
        let [x, y, width, height] = <[f32; 4]>::take(source);
        Viewport { x, y, width, height }
    }
}

impl Argument for ScissorBox {
    fn take(source: &mut ArgumentSource<'_>) -> Self {
        let [x, y, width, height] = <[i32; 4]>::take(source);
        ScissorBox { x, y, width, height }
    }
}

impl Argument for Face {
    fn take(source: &mut ArgumentSource<'_>) -> Self {
        [Face::Front, Face::Back, Face::FrontAndBack][source.word() as usize % 3]
    }
}

impl Argument for Hint {
    fn take(source: &mut ArgumentSource<'_>) -> Self {
        [Hint::LineSmooth, Hint::PolygonSmooth, Hint::TextureCompression, Hint::FragmentShaderDerivative]
            [source.word() as usize % 4]
    }
}
