//! `glXChooseFBConfig` and `glXChooseVisual`: which configs fit, and in which order (GLX 1.4 §3.3.3, tables 3.4 and 3.5).

use std::cmp::Ordering;

use super::config::FbConfig;
use super::enums as g;
use crate::criterion::{self, Criterion};

/// The selection criterion of each attribute and the value that an absent one has.
const CRITERIA: [(i32, Criterion, i32); 32] = [
    (g::FBCONFIG_ID, Criterion::Exact, g::DONT_CARE),
    (g::BUFFER_SIZE, Criterion::AtLeast, 0),
    (g::LEVEL, Criterion::Exact, 0),
    (g::DOUBLEBUFFER, Criterion::Exact, g::DONT_CARE),
    (g::STEREO, Criterion::Exact, 0),
    (g::AUX_BUFFERS, Criterion::AtLeast, 0),
    (g::RED_SIZE, Criterion::AtLeast, 0),
    (g::GREEN_SIZE, Criterion::AtLeast, 0),
    (g::BLUE_SIZE, Criterion::AtLeast, 0),
    (g::ALPHA_SIZE, Criterion::AtLeast, 0),
    (g::DEPTH_SIZE, Criterion::AtLeast, 0),
    (g::STENCIL_SIZE, Criterion::AtLeast, 0),
    (g::ACCUM_RED_SIZE, Criterion::AtLeast, 0),
    (g::ACCUM_GREEN_SIZE, Criterion::AtLeast, 0),
    (g::ACCUM_BLUE_SIZE, Criterion::AtLeast, 0),
    (g::ACCUM_ALPHA_SIZE, Criterion::AtLeast, 0),
    (g::SAMPLE_BUFFERS, Criterion::AtLeast, 0),
    (g::SAMPLES, Criterion::AtLeast, 0),
    (g::RENDER_TYPE, Criterion::Mask, g::RGBA_BIT),
    (g::DRAWABLE_TYPE, Criterion::Mask, g::WINDOW_BIT),
    (g::X_RENDERABLE, Criterion::Exact, g::DONT_CARE),
    (g::X_VISUAL_TYPE, Criterion::Exact, g::DONT_CARE),
    (g::CONFIG_CAVEAT, Criterion::Exact, g::DONT_CARE),
    (g::TRANSPARENT_TYPE, Criterion::Exact, g::NONE),
    (g::FRAMEBUFFER_SRGB_CAPABLE_ARB, Criterion::Exact, g::DONT_CARE),
    // Without transparency their values mean nothing; the other four say what cannot be asked for.
    (g::TRANSPARENT_RED_VALUE, Criterion::Ignored, g::DONT_CARE),
    (g::TRANSPARENT_GREEN_VALUE, Criterion::Ignored, g::DONT_CARE),
    (g::TRANSPARENT_BLUE_VALUE, Criterion::Ignored, g::DONT_CARE),
    (g::VISUAL_ID, Criterion::Ignored, g::DONT_CARE),
    (g::MAX_PBUFFER_WIDTH, Criterion::Ignored, g::DONT_CARE),
    (g::MAX_PBUFFER_HEIGHT, Criterion::Ignored, g::DONT_CARE),
    (g::MAX_PBUFFER_PIXELS, Criterion::Ignored, g::DONT_CARE),
];

/// Those whose values mean nothing here besides, because there are no transparent pixels.
const IGNORED: [i32; 2] = [g::TRANSPARENT_INDEX_VALUE, g::TRANSPARENT_ALPHA_VALUE];

/// Chooses and sorts. `None` when an attribute is unknown or has a value that it cannot have.
pub(crate) fn choose(configs: &'static [FbConfig], attributes: &[(i32, i32)]) -> Option<Vec<&'static FbConfig>> {
    let mut wanted = CRITERIA;
    for &(name, value) in attributes {
        if IGNORED.contains(&name) {
            continue;
        }
        let slot = wanted.iter_mut().find(|(n, ..)| *n == name)?;
        if !acceptable(name, slot.1, value) {
            return None;
        }
        slot.2 = value;
    }
    let id = criterion::wanted(&wanted, g::FBCONFIG_ID);
    if id != g::DONT_CARE {
        // An explicit id overrides every other criterion.
        return Some(configs.iter().filter(|c| c.id == id).collect());
    }
    let mut chosen: Vec<&FbConfig> =
        configs.iter().filter(|c| wanted.iter().all(|&(n, k, v)| k.fits(c.attribute(n), v))).collect();
    let order = Order {
        colours: criterion::asked(&wanted, &[g::RED_SIZE, g::GREEN_SIZE, g::BLUE_SIZE, g::ALPHA_SIZE]),
        depth: !criterion::asked(&wanted, &[g::DEPTH_SIZE]).is_empty(),
    };
    chosen.sort_by(|a, b| order.compare(a, b));
    Some(chosen)
}

/// The attributes of `glXChooseVisual`, in which booleans have no value, as those of `glXChooseFBConfig`. `None` when one is
/// unknown. Zero ends the list.
pub(crate) fn visual_attributes(list: &[i32]) -> Option<Vec<(i32, i32)>> {
    let (mut rgba, mut double, mut stereo) = (false, 0, 0);
    let mut pairs = Vec::new();
    let mut rest = list.iter().copied();
    while let Some(name) = rest.next().filter(|&name| name != 0) {
        match name {
            g::USE_GL => {}
            g::RGBA => rgba = true,
            g::DOUBLEBUFFER => double = 1,
            g::STEREO => stereo = 1,
            // The size of a colour index, for configs that do not exist here.
            g::BUFFER_SIZE => {
                rest.next()?;
            }
            g::FBCONFIG_ID | g::DRAWABLE_TYPE | g::RENDER_TYPE | g::X_RENDERABLE => return None,
            _ => pairs.push((name, rest.next()?)),
        }
    }
    let kind = if rgba { g::RGBA_BIT } else { g::COLOR_INDEX_BIT };
    pairs.extend([(g::RENDER_TYPE, kind), (g::DOUBLEBUFFER, double), (g::STEREO, stereo)]);
    Some(pairs)
}

fn acceptable(name: i32, criterion: Criterion, value: i32) -> bool {
    match name {
        g::LEVEL => value != g::DONT_CARE,
        g::DOUBLEBUFFER | g::STEREO | g::X_RENDERABLE | g::FRAMEBUFFER_SRGB_CAPABLE_ARB => {
            matches!(value, 0 | 1 | g::DONT_CARE)
        }
        _ if criterion == Criterion::AtLeast => value >= 0 || value == g::DONT_CARE,
        // Bits and types that do not exist match nothing.
        _ => true,
    }
}

/// What the order depends on besides the configs.
struct Order {
    /// Colour components that were asked for.
    colours: Vec<i32>,
    /// Whether depth was asked for.
    depth: bool,
}

impl Order {
    /// The order of the specification. Caveats, auxiliary and accumulation buffers and visual types are equal in all configs
    /// here. Equal ones keep the order of the list: plain colours before sRGB, opaque windows before those with alpha.
    fn compare(&self, a: &FbConfig, b: &FbConfig) -> Ordering {
        let total = |c: &FbConfig| -> i32 { self.colours.iter().filter_map(|&n| c.attribute(n)).sum() };
        let smaller = |name: i32| a.attribute(name).cmp(&b.attribute(name));
        let depth = smaller(g::DEPTH_SIZE);
        total(b)
            .cmp(&total(a))
            .then_with(|| smaller(g::BUFFER_SIZE))
            .then_with(|| smaller(g::DOUBLEBUFFER))
            .then_with(|| smaller(g::SAMPLE_BUFFERS))
            .then_with(|| smaller(g::SAMPLES))
            // Asked for, the largest is preferred; else none at all.
            .then(if self.depth { depth.reverse() } else { depth })
            .then_with(|| smaller(g::STENCIL_SIZE))
            .then_with(|| a.srgb.cmp(&b.srgb))
            .then_with(|| a.id.cmp(&b.id))
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::sample;
    use super::*;

    fn chosen(attributes: &[(i32, i32)]) -> Vec<&'static FbConfig> {
        choose(sample(), attributes).expect("valid")
    }

    #[test]
    fn windows_are_the_default_and_pbuffers_can_be_asked_for() {
        assert!(chosen(&[]).iter().all(|c| c.visual.is_some()));
        assert_eq!(chosen(&[(g::DRAWABLE_TYPE, g::PBUFFER_BIT)]).len(), sample().len());
        assert_eq!(chosen(&[(g::DRAWABLE_TYPE, 0)]).len(), sample().len());
        assert!(chosen(&[(g::DRAWABLE_TYPE, g::PIXMAP_BIT)]).is_empty());
    }

    #[test]
    fn the_largest_depth_is_preferred_when_one_is_asked_for_and_none_else() {
        let first = chosen(&[(g::DEPTH_SIZE, 1)])[0];
        assert_eq!((first.egl.depth, first.egl.stencil, first.egl.samples), (24, 0, 0));
        let first = chosen(&[])[0];
        assert_eq!((first.egl.depth, first.egl.stencil, first.egl.rgba[3]), (0, 0, 0));
    }

    #[test]
    fn colours_that_are_asked_for_come_before_small_buffers() {
        let first = chosen(&[(g::RED_SIZE, 1), (g::ALPHA_SIZE, 1)])[0];
        assert_eq!((first.egl.rgba, first.srgb), ([8; 4], false));
        assert_eq!(first.visual.map(|v| v.depth), Some(24));
        assert_eq!(chosen(&[(g::RED_SIZE, 1), (g::ALPHA_SIZE, 0)])[0].egl.rgba, [8, 8, 8, 0]);
    }

    #[test]
    fn single_buffers_come_first_where_both_fit() {
        let list = chosen(&[(g::DRAWABLE_TYPE, g::PBUFFER_BIT), (g::RED_SIZE, 8)]);
        assert!(!list[0].double_buffered);
        assert!(chosen(&[(g::DOUBLEBUFFER, 1)]).iter().all(|c| c.double_buffered));
    }

    #[test]
    fn samples_and_srgb_are_given_when_asked_for() {
        assert!(chosen(&[(g::SAMPLES, 2)]).iter().all(|c| c.egl.samples == 4));
        assert!(chosen(&[(g::SAMPLES, 8)]).is_empty());
        assert!(chosen(&[(g::FRAMEBUFFER_SRGB_CAPABLE_ARB, 1)]).iter().all(|c| c.srgb));
        assert_eq!(chosen(&[(g::FBCONFIG_ID, sample()[3].id), (g::RED_SIZE, 99)]), [&sample()[3]]);
    }

    #[test]
    fn unknown_attributes_and_values_are_refused() {
        assert!(choose(sample(), &[(0x7777, 1)]).is_none());
        assert!(choose(sample(), &[(g::LEVEL, g::DONT_CARE)]).is_none());
        assert!(choose(sample(), &[(g::RED_SIZE, -5)]).is_none());
        assert!(choose(sample(), &[(g::DOUBLEBUFFER, 7)]).is_none());
    }

    #[test]
    fn the_lists_of_visuals_have_booleans_without_values() {
        let list = [g::RGBA, g::RED_SIZE, 1, g::DOUBLEBUFFER, g::DEPTH_SIZE, 16, 0, 99];
        let found = chosen(&visual_attributes(&list).expect("valid"));
        assert_eq!((found[0].egl.depth, found[0].double_buffered), (24, true));
        let indexed = chosen(&visual_attributes(&[g::BUFFER_SIZE, 8, 0]).expect("valid"));
        assert!(indexed.is_empty());
        assert_eq!(visual_attributes(&[g::RGBA, g::RED_SIZE]), None);
        assert_eq!(visual_attributes(&[g::DRAWABLE_TYPE, 1, 0]), None);
    }
}
