//! The framebuffer configurations of a display, and `eglChooseConfig` (EGL 1.5 §3.4.1).

use std::cmp::Ordering;

use mgpipe_window::Visual;

use super::enums as e;
use super::error::{fail, EglResult};
use crate::criterion::{self, Criterion};

/// The largest pbuffer side that is advertised when the device allows more.
const MAX_PBUFFER_SIDE: i32 = 16384;

/// One framebuffer configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Config {
    /// `EGL_CONFIG_ID`, from 1; also the handle.
    pub(crate) id: i32,
    /// Bits of red, green, blue and alpha.
    pub(crate) rgba: [i32; 4],
    /// Bits of depth.
    pub(crate) depth: i32,
    /// Bits of stencil.
    pub(crate) stencil: i32,
    /// Samples per pixel, 0 when not multisampled.
    pub(crate) samples: i32,
    /// The largest pbuffer side.
    pub(crate) max_side: i32,
    /// The visual that windows for it are made with; `None` when it has no windows.
    pub(crate) visual: Option<Visual>,
}

/// What stands for visuals where windows have none: those of Wayland take every config.
pub(crate) const NO_VISUALS: [Visual; 1] = [Visual { id: 0, class: 0, depth: 24, is_root: false }];

/// The list of a display with windows. Configs with and without alpha have the visual that most windows have; where there is
/// a visual with alpha, further configs have that one.
pub(crate) fn list_with_windows(sample_counts: &[i32], max_side: i32, visuals: &[Visual]) -> Vec<Config> {
    let mut configs = list(sample_counts, max_side);
    let of_depth = |depth: u8| visuals.iter().find(|visual| visual.depth == depth).copied();
    configs.iter_mut().for_each(|config| config.visual = of_depth(24));
    if let Some(visual) = of_depth(32) {
        let with_alpha: Vec<Config> = configs.iter().copied().filter(|config| config.rgba[3] != 0).collect();
        for config in with_alpha {
            let id = configs.len() as i32 + 1;
            configs.push(Config { id, visual: Some(visual), ..config });
        }
    }
    configs
}

/// The list of a display without windows: colour formats × depth/stencil × the sample counts of the device.
pub(crate) fn list(sample_counts: &[i32], max_side: i32) -> Vec<Config> {
    let mut configs = Vec::new();
    for rgba in [[8, 8, 8, 8], [8, 8, 8, 0]] {
        for samples in std::iter::once(0).chain(sample_counts.iter().copied().filter(|&s| s > 1)) {
            for (depth, stencil) in [(24, 8), (24, 0), (16, 0), (0, 0)] {
                let id = configs.len() as i32 + 1;
                let max_side = max_side.min(MAX_PBUFFER_SIDE);
                configs.push(Config { id, rgba, depth, stencil, samples, max_side, visual: None });
            }
        }
    }
    configs
}

impl Config {
    /// The value of an attribute, `None` when EGL does not know it.
    pub(crate) fn attribute(&self, name: i32) -> Option<i32> {
        let [red, green, blue, alpha] = self.rgba;
        Some(match name {
            e::BUFFER_SIZE => red + green + blue + alpha,
            e::RED_SIZE => red,
            e::GREEN_SIZE => green,
            e::BLUE_SIZE => blue,
            e::ALPHA_SIZE => alpha,
            e::LUMINANCE_SIZE | e::ALPHA_MASK_SIZE => 0,
            e::BIND_TO_TEXTURE_RGB | e::BIND_TO_TEXTURE_RGBA => e::FALSE,
            e::COLOR_BUFFER_TYPE => e::RGB_BUFFER,
            e::CONFIG_CAVEAT => e::NONE,
            e::CONFIG_ID => self.id,
            e::CONFORMANT | e::RENDERABLE_TYPE => e::OPENGL_BIT,
            e::DEPTH_SIZE => self.depth,
            e::LEVEL => 0,
            e::MAX_PBUFFER_WIDTH | e::MAX_PBUFFER_HEIGHT => self.max_side,
            e::MAX_PBUFFER_PIXELS => self.max_side.saturating_mul(self.max_side),
            e::MAX_SWAP_INTERVAL => 1,
            e::MIN_SWAP_INTERVAL => 0,
            e::NATIVE_RENDERABLE => i32::from(self.visual.is_some()),
            // Numbers of X resources have 29 bits.
            e::NATIVE_VISUAL_ID => self.visual.map_or(0, |visual| visual.id as i32),
            e::NATIVE_VISUAL_TYPE => match self.visual {
                Some(visual) if visual.id != 0 => visual.class.into(),
                _ => e::NONE,
            },
            e::SAMPLE_BUFFERS => i32::from(self.samples > 0),
            e::SAMPLES => self.samples,
            e::STENCIL_SIZE => self.stencil,
            e::SURFACE_TYPE if self.visual.is_some() => e::PBUFFER_BIT | e::WINDOW_BIT | e::SWAP_BEHAVIOR_PRESERVED_BIT,
            e::SURFACE_TYPE => e::PBUFFER_BIT,
            e::TRANSPARENT_TYPE => e::NONE,
            e::TRANSPARENT_RED_VALUE | e::TRANSPARENT_GREEN_VALUE | e::TRANSPARENT_BLUE_VALUE => 0,
            _ => return None,
        })
    }
}

/// The selection criterion of each attribute and the value that an absent one has (EGL 1.5 table 3.4).
///
/// Two absent attributes differ from the table. `EGL_RENDERABLE_TYPE` defaults to OpenGL ES 1, which no config here
/// supports: a client that does not say which API it wants gets what there is.
const CRITERIA: [(i32, Criterion, i32); 33] = [
    (e::BUFFER_SIZE, Criterion::AtLeast, 0),
    (e::RED_SIZE, Criterion::AtLeast, 0),
    (e::GREEN_SIZE, Criterion::AtLeast, 0),
    (e::BLUE_SIZE, Criterion::AtLeast, 0),
    (e::LUMINANCE_SIZE, Criterion::AtLeast, 0),
    (e::ALPHA_SIZE, Criterion::AtLeast, 0),
    (e::ALPHA_MASK_SIZE, Criterion::AtLeast, 0),
    (e::BIND_TO_TEXTURE_RGB, Criterion::Exact, e::DONT_CARE),
    (e::BIND_TO_TEXTURE_RGBA, Criterion::Exact, e::DONT_CARE),
    (e::COLOR_BUFFER_TYPE, Criterion::Exact, e::RGB_BUFFER),
    (e::CONFIG_CAVEAT, Criterion::Exact, e::DONT_CARE),
    (e::CONFIG_ID, Criterion::Exact, e::DONT_CARE),
    (e::CONFORMANT, Criterion::Mask, 0),
    (e::DEPTH_SIZE, Criterion::AtLeast, 0),
    (e::LEVEL, Criterion::Exact, 0),
    (e::MAX_PBUFFER_WIDTH, Criterion::Ignored, 0),
    (e::MAX_PBUFFER_HEIGHT, Criterion::Ignored, 0),
    (e::MAX_PBUFFER_PIXELS, Criterion::Ignored, 0),
    (e::MAX_SWAP_INTERVAL, Criterion::Exact, e::DONT_CARE),
    (e::MIN_SWAP_INTERVAL, Criterion::Exact, e::DONT_CARE),
    (e::NATIVE_RENDERABLE, Criterion::Exact, e::DONT_CARE),
    (e::NATIVE_VISUAL_ID, Criterion::Ignored, 0),
    (e::NATIVE_VISUAL_TYPE, Criterion::Exact, e::DONT_CARE),
    (e::RENDERABLE_TYPE, Criterion::Mask, 0),
    (e::SAMPLE_BUFFERS, Criterion::AtLeast, 0),
    (e::SAMPLES, Criterion::AtLeast, 0),
    (e::STENCIL_SIZE, Criterion::AtLeast, 0),
    (e::SURFACE_TYPE, Criterion::Mask, e::WINDOW_BIT),
    (e::TRANSPARENT_TYPE, Criterion::Exact, e::NONE),
    (e::TRANSPARENT_RED_VALUE, Criterion::Exact, e::DONT_CARE),
    (e::TRANSPARENT_GREEN_VALUE, Criterion::Exact, e::DONT_CARE),
    (e::TRANSPARENT_BLUE_VALUE, Criterion::Exact, e::DONT_CARE),
    // Accepted and ignored: EGL_MATCH_NATIVE_PIXMAP makes no sense without pixmaps.
    (e::MATCH_NATIVE_PIXMAP, Criterion::Ignored, e::NONE),
];

/// Chooses and sorts. `attributes` are the pairs of the application's list, without the terminator.
pub(crate) fn choose(configs: &[Config], attributes: &[(i32, i32)]) -> EglResult<Vec<Config>> {
    let mut wanted = CRITERIA.map(|(name, criterion, default)| (name, criterion, default));
    for &(name, value) in attributes {
        let Some(slot) = wanted.iter_mut().find(|(n, ..)| *n == name) else {
            return fail(e::BAD_ATTRIBUTE, format!("{name:#x} is no config attribute"));
        };
        if value == e::DONT_CARE && name == e::LEVEL {
            return fail(e::BAD_ATTRIBUTE, "EGL_LEVEL cannot be EGL_DONT_CARE");
        }
        if !acceptable(name, slot.1, value) {
            return fail(e::BAD_ATTRIBUTE, format!("{value:#x} is no value of config attribute {name:#x}"));
        }
        slot.2 = value;
    }
    let id = criterion::wanted(&wanted, e::CONFIG_ID);
    if id != e::DONT_CARE {
        // An explicit id overrides every other criterion.
        return Ok(configs.iter().copied().filter(|c| c.id == id).collect());
    }
    let mut chosen: Vec<Config> =
        configs.iter().copied().filter(|c| wanted.iter().all(|&(n, k, v)| k.fits(c.attribute(n), v))).collect();
    let colours = criterion::asked(&wanted, &[e::RED_SIZE, e::GREEN_SIZE, e::BLUE_SIZE, e::ALPHA_SIZE]);
    chosen.sort_by(|a, b| compare(a, b, &colours));
    Ok(chosen)
}

fn acceptable(name: i32, criterion: Criterion, value: i32) -> bool {
    if value == e::DONT_CARE {
        return true;
    }
    match name {
        e::COLOR_BUFFER_TYPE => matches!(value, e::RGB_BUFFER | e::LUMINANCE_BUFFER),
        e::CONFIG_CAVEAT => matches!(value, e::NONE | e::SLOW_CONFIG | e::NON_CONFORMANT_CONFIG),
        e::TRANSPARENT_TYPE => matches!(value, e::NONE | e::TRANSPARENT_RGB),
        e::BIND_TO_TEXTURE_RGB | e::BIND_TO_TEXTURE_RGBA | e::NATIVE_RENDERABLE => {
            matches!(value, e::TRUE | e::FALSE)
        }
        // Bits of extensions that are not there are accepted: they just match nothing.
        _ if criterion == Criterion::AtLeast => value >= 0,
        _ => true,
    }
}

/// The order of EGL 1.5 §3.4.1.2. Attributes that are equal in all configs here (caveat, colour buffer type, native
/// visual type) need no comparison.
fn compare(a: &Config, b: &Config, colours: &[i32]) -> Ordering {
    let total = |c: &Config| -> i32 { colours.iter().filter_map(|&n| c.attribute(n)).sum() };
    let smaller = |name: i32| a.attribute(name).cmp(&b.attribute(name));
    total(b)
        .cmp(&total(a))
        .then_with(|| smaller(e::BUFFER_SIZE))
        .then_with(|| smaller(e::SAMPLE_BUFFERS))
        .then_with(|| smaller(e::SAMPLES))
        .then_with(|| smaller(e::DEPTH_SIZE))
        .then_with(|| smaller(e::STENCIL_SIZE))
        .then_with(|| smaller(e::CONFIG_ID))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configs() -> Vec<Config> {
        list(&[4], 8192)
    }

    const PBUFFER: (i32, i32) = (e::SURFACE_TYPE, e::PBUFFER_BIT);

    #[test]
    fn the_default_surface_type_is_a_window_and_matches_nothing_here() {
        assert!(choose(&configs(), &[]).expect("valid").is_empty());
        assert_eq!(choose(&configs(), &[PBUFFER]).expect("valid").len(), configs().len());
    }

    #[test]
    fn windows_come_with_visuals_and_those_without_alpha_come_first() {
        let visuals =
            [(0x21, 24, true), (0x22, 32, false)].map(|(id, depth, is_root)| Visual { id, class: 4, depth, is_root });
        let configs = list_with_windows(&[4], 8192, &visuals);
        assert!(configs.iter().enumerate().all(|(at, config)| config.id == at as i32 + 1));
        let chosen = choose(&configs, &[(e::RED_SIZE, 8), (e::ALPHA_SIZE, 8), (e::DEPTH_SIZE, 24)]).expect("valid");
        let visual = |config: &Config| config.attribute(e::NATIVE_VISUAL_ID);
        assert_eq!(visual(&chosen[0]), Some(0x21));
        assert!(chosen.iter().any(|config| visual(config) == Some(0x22) && config.rgba[3] == 8));
        let window = chosen[0].attribute(e::SURFACE_TYPE).expect("known") & e::WINDOW_BIT;
        assert_eq!((window, chosen[0].attribute(e::NATIVE_VISUAL_TYPE)), (e::WINDOW_BIT, Some(4)));
    }

    #[test]
    fn small_depth_and_buffer_come_first_without_colour_wishes() {
        let first = choose(&configs(), &[PBUFFER]).expect("valid")[0];
        assert_eq!((first.rgba, first.depth, first.stencil, first.samples), ([8, 8, 8, 0], 0, 0, 0));
    }

    #[test]
    fn wishes_for_colour_prefer_more_bits_of_those_components() {
        let wanted = [PBUFFER, (e::RED_SIZE, 1), (e::ALPHA_SIZE, 1), (e::DEPTH_SIZE, 1)];
        let chosen = choose(&configs(), &wanted).expect("valid");
        assert!(chosen.iter().all(|c| c.rgba == [8, 8, 8, 8] && c.depth > 0));
        assert_eq!((chosen[0].depth, chosen[0].samples), (16, 0));
        let wanted = [PBUFFER, (e::RED_SIZE, 8), (e::ALPHA_SIZE, 0), (e::STENCIL_SIZE, 8)];
        let chosen = choose(&configs(), &wanted).expect("valid");
        assert_eq!((chosen[0].rgba, chosen[0].stencil), ([8, 8, 8, 0], 8));
    }

    #[test]
    fn multisampling_is_only_given_when_asked_for() {
        let chosen = choose(&configs(), &[PBUFFER, (e::SAMPLES, 2)]).expect("valid");
        assert!(!chosen.is_empty() && chosen.iter().all(|c| c.samples == 4));
        assert!(choose(&configs(), &[PBUFFER, (e::SAMPLES, 64)]).expect("valid").is_empty());
    }

    #[test]
    fn an_id_overrides_and_unknown_attributes_fail() {
        assert_eq!(choose(&configs(), &[(e::CONFIG_ID, 3), (e::RED_SIZE, 99)]).expect("valid").len(), 1);
        assert_eq!(choose(&configs(), &[(0x1234, 1)]).expect_err("unknown").code, e::BAD_ATTRIBUTE);
        assert_eq!(choose(&configs(), &[(e::LEVEL, e::DONT_CARE)]).expect_err("level").code, e::BAD_ATTRIBUTE);
        assert!(choose(&configs(), &[PBUFFER, (e::RENDERABLE_TYPE, e::OPENGL_ES2_BIT)]).expect("valid").is_empty());
    }
}
