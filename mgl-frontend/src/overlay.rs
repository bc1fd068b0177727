//! Text over a finished frame, below GL's state.
//!
//! The text is a picture on this side. It becomes the level of a texture that has no GL name, and a blit copies it into
//! the default framebuffer's image. A blit carries all that it needs, so nothing that the application has bound, begun or
//! enabled takes part, and nothing of it changes.

mod font;

use mgpipe_types::{
    aspect, bind, gl, Blit, BlobRef, Box3, Corners, Format, Kind, ResourceDesc, ResourceHandle, SubData, SubRegion,
    Surface, Target, TextureHandle, TypedHandle,
};

use crate::context::Context;
use crate::framebuffer::Binding;

/// Pixels between the text and the edge of its panel.
const MARGIN: usize = 4;
/// Pixels between the panel and the left and upper edges of the frame.
const INSET: i32 = 4;
/// Most columns and lines.
const MOST: (usize, usize) = (48, 12);

/// Colours as bytes of red, green, blue and alpha.
const INK: [u8; 4] = [0xff, 0xf0, 0x60, 0xff];
const PAPER: [u8; 4] = [0x10, 0x18, 0x28, 0xff];

/// The picture of a text, rows from below as textures have them.
#[derive(Debug, PartialEq, Eq)]
struct Panel {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

impl Panel {
    fn new(text: &str) -> Panel {
        let lines: Vec<&str> = text.lines().take(MOST.1).collect();
        let columns = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).min(MOST.0);
        let (width, height) = (columns * font::ADVANCE.0 + 2 * MARGIN, lines.len() * font::ADVANCE.1 + 2 * MARGIN);
        let mut bytes = PAPER.repeat(width * height);
        for (row, line) in lines.iter().enumerate() {
            for (column, letter) in line.chars().take(columns).enumerate() {
                let (left, top) = (MARGIN + column * font::ADVANCE.0, MARGIN + row * font::ADVANCE.1);
                for (x, y) in font::dots(letter) {
                    let at = ((height - 1 - (top + y)) * width + left + x) * 4;
                    bytes[at..at + 4].copy_from_slice(&INK);
                }
            }
        }
        Panel { width, height, bytes }
    }
}

/// The texture of a context's text, and what it shows.
#[derive(Debug)]
pub(crate) struct Overlay {
    texture: TextureHandle,
    width: usize,
    height: usize,
    text: String,
}

impl Context {
    /// Draws the observer's text over the default framebuffer, if there is both.
    pub(crate) fn draw_overlay(&mut self) {
        if let Some(text) = self.state.share.observer.as_ref().and_then(|observer| observer.overlay()) {
            self.show_overlay(text);
        }
    }

    fn show_overlay(&mut self, text: String) {
        let color = self.state.framebuffers.window.color(Binding::Draw);
        let Some(frame) = color.describe() else { return };
        if self.overlay.as_ref().is_none_or(|overlay| overlay.text != text) && self.set_overlay(text).is_none() {
            return;
        }
        let Some(overlay) = &self.overlay else { return };
        color.realize(&mut *self.pipe);
        // What does not fit is cut at the right and below.
        let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX) - INSET;
        let (right, top) = (side(frame.width), side(frame.height));
        let (width, height) = ((overlay.width as i32).min(right - INSET), (overlay.height as i32).min(top));
        if width <= 0 || height <= 0 {
            return;
        }
        let first = overlay.height as i32 - height;
        self.pipe.blit(&Blit {
            src: Surface {
                handle: overlay.texture.raw(),
                format: Format::RGBA8_UNORM.0,
                kind: Kind::Texture as u8,
                ..Surface::default()
            },
            dst: color.surface(),
            src_rect: Corners { x0: 0, y0: first, x1: width, y1: first + height },
            dst_rect: Corners { x0: INSET, y0: top - height, x1: INSET + width, y1: top },
            mask: aspect::COLOR,
            filter: gl::NEAREST,
            ..Blit::default()
        });
    }

    /// Puts a text into the texture, a new one when the size differs.
    fn set_overlay(&mut self, text: String) -> Option<()> {
        let panel = Panel::new(&text);
        if self.overlay.as_ref().is_some_and(|old| (old.width, old.height) != (panel.width, panel.height)) {
            self.drop_overlay();
        }
        let texture = match &self.overlay {
            Some(overlay) => overlay.texture,
            None => self.make_overlay_texture(&panel)?,
        };
        let area = Box3 { width: panel.width as u32, height: panel.height as u32, depth: 1, ..Box3::default() };
        let region = SubRegion { width: area.width, height: area.height, depth: 1, ..SubRegion::default() };
        let data = SubData {
            res: texture.raw(),
            target: Target::Tex2D as u16,
            union_box: area,
            region_count: 1,
            blob: BlobRef { offset: 0, size: panel.bytes.len() as u64, ..BlobRef::default() },
            ..SubData::default()
        };
        self.pipe.resource_subdata(&data, &[region], &panel.bytes);
        self.overlay = Some(Box::new(Overlay { texture, width: panel.width, height: panel.height, text }));
        Some(())
    }

    fn make_overlay_texture(&self, panel: &Panel) -> Option<TextureHandle> {
        // Without a free slot there is no text; the application finds out about the slots by itself.
        let texture: TextureHandle = self.state.share.mint("overlay").ok()?;
        self.state.share.screen.resource_create(&ResourceDesc {
            handle: texture.raw(),
            target: Target::Tex2D as u8,
            bind_mask: bind::SAMPLER,
            format: Format::RGBA8_UNORM.0,
            width: panel.width as u32,
            height: panel.height as u32,
            depth: 1,
            array_layers: 1,
            levels: 1,
            ..ResourceDesc::default()
        });
        Some(texture)
    }

    /// Lets the texture go.
    pub(crate) fn drop_overlay(&mut self) {
        if let Some(overlay) = self.overlay.take() {
            self.state.share.destroy_resource(ResourceHandle::Texture(overlay.texture));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_has_the_letters_the_right_way_up() {
        let panel = Panel::new("L");
        assert_eq!((panel.width, panel.height), (font::ADVANCE.0 + 2 * MARGIN, font::ADVANCE.1 + 2 * MARGIN));
        let is_ink = |x: usize, y: usize| {
            let at = (y * panel.width + x) * 4;
            panel.bytes[at..at + 4] == INK
        };
        // The foot of the letter is the lowest row that has ink, and the longest.
        let ink = |y: usize| (0..panel.width).filter(|x| is_ink(*x, y)).count();
        let lowest = (0..panel.height).find(|y| ink(*y) > 0).expect("there is a letter");
        assert_eq!((ink(lowest), ink(lowest + 1)), (5, 1));
    }

    #[test]
    fn a_text_without_end_is_cut() {
        let panel = Panel::new(&"0123456789\n".repeat(100));
        assert_eq!(panel.height, MOST.1 * font::ADVANCE.1 + 2 * MARGIN);
        assert_eq!(Panel::new(&"8".repeat(4000)).width, MOST.0 * font::ADVANCE.0 + 2 * MARGIN);
        assert_eq!(Panel::new("").bytes.len(), 4 * 4 * MARGIN * MARGIN);
    }
}
