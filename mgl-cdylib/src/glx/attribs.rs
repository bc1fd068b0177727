//! Attribute lists of `glXCreateContextAttribsARB` (GLX_ARB_create_context, _profile, _robustness, _no_error,
//! GLX_ARB_context_flush_control).

use super::enums as g;
use super::error::{fail, Code, GlxResult};
use crate::egl::attribs::VERSIONS;
use crate::front::ContextAttribs;

/// Flags that exist. Reset isolation is not offered.
const FLAGS: i32 = g::CONTEXT_DEBUG_BIT_ARB | g::CONTEXT_FORWARD_COMPATIBLE_BIT_ARB | g::CONTEXT_ROBUST_ACCESS_BIT_ARB;

/// What the driver has to say to a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    /// The version that contexts get.
    pub(crate) version: (u32, u32),
    /// Whether requests that only the compatibility profile answers whole fail (`MGL_LEGACY_CONTEXTS`).
    pub(crate) refuses_legacy: bool,
}

/// Reads and validates the list.
///
/// There is a core profile only; a request for a version up to 3.1 gets it as the EGL side says (see
/// [`crate::egl::attribs`]).
pub(crate) fn parse(attributes: &[(i32, i32)], offer: Offer) -> GlxResult<ContextAttribs> {
    let (mut major, mut minor) = (1, 0);
    let mut profile = g::CONTEXT_CORE_PROFILE_BIT_ARB;
    let mut attribs = ContextAttribs::default();
    for &(name, value) in attributes {
        match name {
            g::CONTEXT_MAJOR_VERSION_ARB => major = value,
            g::CONTEXT_MINOR_VERSION_ARB => minor = value,
            g::CONTEXT_PROFILE_MASK_ARB => profile = value,
            g::CONTEXT_FLAGS_ARB => {
                if value & !FLAGS != 0 {
                    return fail(Code::Value, format!("context flags {value:#x} are unknown"));
                }
                attribs.debug = value & g::CONTEXT_DEBUG_BIT_ARB != 0;
                attribs.forward_compatible = value & g::CONTEXT_FORWARD_COMPATIBLE_BIT_ARB != 0;
                attribs.robust_access = value & g::CONTEXT_ROBUST_ACCESS_BIT_ARB != 0;
            }
            g::RENDER_TYPE => match value {
                g::RGBA_TYPE => {}
                g::COLOR_INDEX_TYPE => return fail(Code::Match, "there are no contexts with colour indices"),
                _ => return fail(Code::Value, format!("{value:#x} is no render type")),
            },
            g::CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB => {
                attribs.lose_context_on_reset = match value {
                    g::LOSE_CONTEXT_ON_RESET_ARB => true,
                    g::NO_RESET_NOTIFICATION_ARB => false,
                    _ => return fail(Code::Value, format!("{value:#x} is no reset notification strategy")),
                };
            }
            g::CONTEXT_OPENGL_NO_ERROR_ARB => attribs.no_error = value != 0,
            g::CONTEXT_RELEASE_BEHAVIOR_ARB => {
                attribs.release_behavior_none = match value {
                    g::CONTEXT_RELEASE_BEHAVIOR_NONE_ARB => true,
                    g::CONTEXT_RELEASE_BEHAVIOR_FLUSH_ARB => false,
                    _ => return fail(Code::Value, format!("{value:#x} is no release behaviour")),
                };
            }
            g::SCREEN => {}
            _ => return fail(Code::Value, format!("{name:#x} is no attribute of a context")),
        }
    }
    if !VERSIONS.contains(&(major, minor)) {
        return fail(Code::Match, format!("there is no OpenGL {major}.{minor}"));
    }
    if attribs.forward_compatible && major < 3 {
        return fail(Code::Match, "a forward-compatible context needs version 3.0");
    }
    if (major, minor) >= (3, 2) && profile != g::CONTEXT_CORE_PROFILE_BIT_ARB {
        return fail(Code::GlxProfile, format!("profile mask {profile:#x}: the core profile is what there is"));
    }
    // The extension of OpenGL ES counts whatever the version is.
    if profile & g::CONTEXT_ES_PROFILE_BIT_EXT != 0 {
        return fail(Code::GlxProfile, "there are no OpenGL ES contexts");
    }
    if offer.refuses_legacy && (major, minor) < (3, 1) && !attribs.forward_compatible {
        return fail(Code::GlxFbConfig, "legacy contexts are refused (MGL_LEGACY_CONTEXTS); ask for a core context");
    }
    if attribs.no_error && (attribs.debug || attribs.robust_access) {
        return fail(Code::Match, "a no-error context cannot have debug output or robust access");
    }
    // Both are small non-negative numbers here.
    (attribs.major, attribs.minor) = (major as u32, minor as u32);
    if (attribs.major, attribs.minor) > offer.version {
        let (highest, lowest) = offer.version;
        return fail(Code::GlxFbConfig, format!("OpenGL {major}.{minor} was asked for, {highest}.{lowest} is offered"));
    }
    Ok(attribs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: Offer = Offer { version: (3, 3), refuses_legacy: false };

    fn version(major: i32, minor: i32) -> Vec<(i32, i32)> {
        vec![(g::CONTEXT_MAJOR_VERSION_ARB, major), (g::CONTEXT_MINOR_VERSION_ARB, minor)]
    }

    fn code(list: &[(i32, i32)]) -> Option<Code> {
        parse(list, OFFER).err().map(|error| error.code)
    }

    #[test]
    fn versions_that_exist_and_are_not_offered_differ_from_those_that_do_not_exist() {
        assert_eq!(code(&[]), None);
        assert_eq!(code(&version(3, 3)), None);
        assert_eq!(code(&version(4, 6)), Some(Code::GlxFbConfig));
        assert_eq!(code(&version(3, 4)), Some(Code::Match));
        assert_eq!(code(&version(-1, 0)), Some(Code::Match));
    }

    #[test]
    fn profiles_other_than_core_are_bad_profiles() {
        let with = |mask| [version(3, 2), vec![(g::CONTEXT_PROFILE_MASK_ARB, mask)]].concat();
        assert_eq!(code(&with(1)), None);
        for mask in [0, 2, 3, 4, 8] {
            assert_eq!(code(&with(mask)), Some(Code::GlxProfile), "{mask}");
        }
        let old = |mask| [version(2, 0), vec![(g::CONTEXT_PROFILE_MASK_ARB, mask)]].concat();
        assert_eq!((code(&old(2)), code(&old(4))), (None, Some(Code::GlxProfile)));
    }

    #[test]
    fn legacy_contexts_can_be_refused() {
        let refused = |list: &[(i32, i32)]| parse(list, Offer { refuses_legacy: true, ..OFFER }).is_err();
        assert!(refused(&[]) && refused(&version(3, 0)) && !refused(&version(3, 1)));
        let forward = [version(3, 0), vec![(g::CONTEXT_FLAGS_ARB, g::CONTEXT_FORWARD_COMPATIBLE_BIT_ARB)]];
        assert!(!refused(&forward.concat()));
    }

    #[test]
    fn unknown_names_flags_and_values_are_bad_values() {
        for pair in [
            (0x1234, 1),
            (g::CONTEXT_FLAGS_ARB, 0x100),
            (g::RENDER_TYPE, 7),
            (g::CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB, 7),
            (g::CONTEXT_RELEASE_BEHAVIOR_ARB, 7),
        ] {
            assert_eq!(code(&[pair]), Some(Code::Value), "{pair:x?}");
        }
        assert_eq!(code(&[(g::RENDER_TYPE, g::COLOR_INDEX_TYPE)]), Some(Code::Match));
        let both = [(g::CONTEXT_OPENGL_NO_ERROR_ARB, 1), (g::CONTEXT_FLAGS_ARB, g::CONTEXT_DEBUG_BIT_ARB)];
        assert_eq!(code(&both), Some(Code::Match));
    }
}
