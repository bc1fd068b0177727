//! GLX framebuffer configurations (GLX 1.4 §3.3.3) and the X visuals that belong to them.

use std::ffi::{c_int, c_ulong};

use parking_lot::Mutex;

use super::enums as g;
use super::error::{fail, Code, GlxResult};
use super::xlib::XVisualInfo;
use crate::egl::config::Config;

/// A visual that windows with OpenGL contents can have: eight bits of red, green and blue, of depth 24 or 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Visual {
    /// Its id.
    pub(crate) id: c_ulong,
    /// Bits of a pixel: 24, or 32 with alpha that a compositor sees.
    pub(crate) depth: c_int,
    /// `TrueColor` or `DirectColor` as the X protocol numbers them.
    pub(crate) class: c_int,
}

const TRUE_COLOR: c_int = 4;
const DIRECT_COLOR: c_int = 5;

impl Visual {
    /// The visual, if windows can be drawn with it.
    pub(crate) fn of(info: &XVisualInfo) -> Option<Visual> {
        let masks = [info.red_mask, info.green_mask, info.blue_mask];
        let usable = masks == [0xff_0000, 0xff00, 0xff] && matches!(info.depth, 24 | 32);
        let usable = usable && matches!(info.class, TRUE_COLOR | DIRECT_COLOR);
        usable.then_some(Visual { id: info.id, depth: info.depth, class: info.class })
    }
}

/// One configuration of a screen. Its handle is its address; it is never freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FbConfig {
    /// `GLX_FBCONFIG_ID`.
    pub(crate) id: i32,
    /// The screen it belongs to.
    pub(crate) screen: c_int,
    /// The visual of its windows; `None` when it has none.
    pub(crate) visual: Option<Visual>,
    /// Colour, depth, stencil and samples.
    pub(crate) egl: Config,
    /// Whether it has a back buffer.
    pub(crate) double_buffered: bool,
    /// Whether its colours can be sRGB.
    pub(crate) srgb: bool,
}

/// Ids begin here, so that they look like neither visuals nor attributes.
const FIRST_ID: i32 = 0x3001;

/// Every list that was made. Equal ones are one, so that configs of two connections to a server are the same.
static LISTS: Mutex<Vec<&'static [FbConfig]>> = Mutex::new(Vec::new());

/// The config behind a handle, for whatever screen and connection it was made.
pub(crate) fn from_handle(handle: usize) -> GlxResult<&'static FbConfig> {
    let lists = LISTS.lock();
    match lists.iter().flat_map(|list| list.iter()).find(|c| c.handle() == handle) {
        Some(found) => Ok(found),
        None => fail(Code::GlxFbConfig, format!("{handle:#x} is no config")),
    }
}

/// The list of a screen, from what the backend can draw and what the X server can show.
///
/// A visual stands for one config in the functions of GLX 1.2, so each config gets a visual of its own as far as there are
/// enough; the default visual goes to the one that programs want most, and the rest share it.
pub(crate) fn list(screen: c_int, default: c_ulong, visuals: &[Visual], base: &[Config]) -> &'static [FbConfig] {
    let list = build(screen, default, visuals, base);
    let mut lists = LISTS.lock();
    if let Some(found) = lists.iter().find(|known| ***known == list[..]) {
        return found;
    }
    let leaked: &'static [FbConfig] = Vec::leak(list);
    lists.push(leaked);
    leaked
}

fn build(screen: c_int, default: c_ulong, visuals: &[Visual], base: &[Config]) -> Vec<FbConfig> {
    let mut list = Vec::new();
    let mut add = |egl: Config, double_buffered: bool, srgb: bool, depth: c_int| {
        // The depth stands in for the visual until visuals are shared out.
        let visual = Some(Visual { id: 0, depth, class: TRUE_COLOR });
        list.push(FbConfig { id: 0, screen, visual, egl, double_buffered, srgb });
    };
    for srgb in [false, true] {
        for &egl in base {
            add(egl, true, srgb, 24);
        }
    }
    let alpha_shows = visuals.iter().any(|v| v.depth == 32);
    for &egl in base.iter().filter(|egl| alpha_shows && egl.rgba[3] != 0) {
        add(egl, true, false, 32);
    }
    for &egl in base {
        add(egl, false, false, 24);
    }
    for depth in [24, 32] {
        let mut order: Vec<&mut FbConfig> =
            list.iter_mut().filter(|c| c.visual.is_some_and(|v| v.depth == depth)).collect();
        order.sort_by_key(|c| (!c.double_buffered, c.srgb, c.egl.samples, c.egl.rgba[3] == 0, rank(&c.egl)));
        let mut free: Vec<Visual> = visuals.iter().copied().filter(|v| v.depth == depth).collect();
        free.sort_by_key(|v| (v.id != default, v.class != TRUE_COLOR));
        let shared = free.first().copied();
        let mut free = free.into_iter();
        for config in order {
            config.visual = free.next().or(shared);
        }
    }
    for (id, config) in (FIRST_ID..).zip(&mut list) {
        config.id = id;
    }
    list
}

/// What programs want of depth and stencil most comes first.
fn rank(config: &Config) -> usize {
    let wanted = [(24, 8), (24, 0), (0, 0), (16, 0)];
    wanted.iter().position(|&both| both == (config.depth, config.stencil)).unwrap_or(wanted.len())
}

impl FbConfig {
    /// The `GLXFBConfig` value.
    pub(crate) fn handle(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// What it can draw to, bits of `GLX_DRAWABLE_TYPE`.
    pub(crate) fn drawable_types(&self) -> i32 {
        let window = if self.visual.is_some() { g::WINDOW_BIT } else { 0 };
        window | g::PBUFFER_BIT
    }

    /// The value of an attribute, `None` when GLX does not know it.
    pub(crate) fn attribute(&self, name: i32) -> Option<i32> {
        let [red, green, blue, alpha] = self.egl.rgba;
        let flag = i32::from;
        Some(match name {
            g::FBCONFIG_ID => self.id,
            g::BUFFER_SIZE => red + green + blue + alpha,
            g::LEVEL | g::AUX_BUFFERS => 0,
            g::DOUBLEBUFFER => flag(self.double_buffered),
            g::STEREO => 0,
            g::RED_SIZE => red,
            g::GREEN_SIZE => green,
            g::BLUE_SIZE => blue,
            g::ALPHA_SIZE => alpha,
            g::DEPTH_SIZE => self.egl.depth,
            g::STENCIL_SIZE => self.egl.stencil,
            g::ACCUM_RED_SIZE | g::ACCUM_GREEN_SIZE | g::ACCUM_BLUE_SIZE | g::ACCUM_ALPHA_SIZE => 0,
            g::RENDER_TYPE => g::RGBA_BIT,
            g::DRAWABLE_TYPE => self.drawable_types(),
            g::X_RENDERABLE => flag(self.visual.is_some()),
            g::VISUAL_ID => self.visual.map_or(0, |v| v.id as i32),
            g::X_VISUAL_TYPE => match self.visual.map(|v| v.class) {
                Some(TRUE_COLOR) => g::TRUE_COLOR,
                Some(_) => g::DIRECT_COLOR,
                None => g::NONE,
            },
            // GLX_VISUAL_CAVEAT_EXT is the same number.
            g::CONFIG_CAVEAT | g::TRANSPARENT_TYPE => g::NONE,
            g::TRANSPARENT_INDEX_VALUE
            | g::TRANSPARENT_RED_VALUE
            | g::TRANSPARENT_GREEN_VALUE
            | g::TRANSPARENT_BLUE_VALUE
            | g::TRANSPARENT_ALPHA_VALUE => 0,
            g::MAX_PBUFFER_WIDTH | g::MAX_PBUFFER_HEIGHT => self.egl.max_side,
            g::MAX_PBUFFER_PIXELS => self.egl.max_side.saturating_mul(self.egl.max_side),
            g::SAMPLE_BUFFERS => flag(self.egl.samples > 0),
            g::SAMPLES => self.egl.samples,
            g::FRAMEBUFFER_SRGB_CAPABLE_ARB => flag(self.srgb),
            g::SCREEN => self.screen,
            _ => return None,
        })
    }

    /// The value of an attribute of `glXGetConfig`, which asks about a visual (GLX 1.4 §3.3.3, table 3.6).
    pub(crate) fn visual_attribute(&self, name: i32) -> Option<i32> {
        match name {
            g::USE_GL | g::RGBA => Some(1),
            g::FBCONFIG_ID | g::DRAWABLE_TYPE | g::RENDER_TYPE | g::X_RENDERABLE => None,
            _ => self.attribute(name),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn sample() -> &'static [FbConfig] {
        let visual = |id, depth| Visual { id, depth, class: TRUE_COLOR };
        let visuals = [visual(0x30, 24), visual(0x21, 24), visual(0x22, 24), visual(0x60, 32)];
        list(0, 0x21, &visuals, &crate::egl::config::list(&[4], 8192))
    }

    #[test]
    fn the_default_visual_goes_to_what_programs_want() {
        let first = sample().iter().find(|c| c.visual.is_some_and(|v| v.id == 0x21)).expect("the default visual");
        assert_eq!((first.egl.rgba, first.egl.depth, first.egl.stencil), ([8; 4], 24, 8));
        assert_eq!((first.egl.samples, first.srgb, first.double_buffered), (0, false, true));
    }

    #[test]
    fn equal_lists_are_one_and_handles_lead_back() {
        let list = sample();
        assert!(std::ptr::eq(list, sample()));
        for config in list {
            assert_eq!(from_handle(config.handle()), Ok(config));
        }
        assert_eq!(from_handle(12).map_err(|e| e.code), Err(Code::GlxFbConfig));
        let mut ids: Vec<i32> = list.iter().map(|c| c.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), list.len());
    }

    #[test]
    fn configs_with_a_visual_have_windows_whatever_their_buffers_are() {
        for config in sample() {
            let types = config.attribute(g::DRAWABLE_TYPE).unwrap_or(0);
            assert_eq!(types & g::WINDOW_BIT != 0, config.attribute(g::VISUAL_ID) != Some(0), "{config:?}");
        }
        assert!(sample().iter().any(|c| !c.double_buffered && c.visual.is_some()));
        assert!(build(0, 0x21, &[], &crate::egl::config::list(&[], 64)).iter().all(|c| c.visual.is_none()));
    }

    #[test]
    fn a_server_without_alpha_visuals_gives_no_config_twice() {
        let visuals = [Visual { id: 0x21, depth: 24, class: TRUE_COLOR }];
        let list = build(0, 0x21, &visuals, &crate::egl::config::list(&[], 64));
        for (i, a) in list.iter().enumerate() {
            assert!(list[i + 1..].iter().all(|b| FbConfig { id: a.id, ..*b } != *a), "{a:?}");
        }
    }
}
