//! Attribute lists of `eglCreateContext` (EGL 1.5 §3.7.1, EGL_KHR_create_context, _no_error, _context_flush_control).

use super::enums as e;
use super::error::{fail, EglResult};
use crate::front::ContextAttribs;

/// Every version that OpenGL has.
pub(crate) const VERSIONS: [(i32, i32); 19] = [
    (1, 0),
    (1, 1),
    (1, 2),
    (1, 3),
    (1, 4),
    (1, 5),
    (2, 0),
    (2, 1),
    (3, 0),
    (3, 1),
    (3, 2),
    (3, 3),
    (4, 0),
    (4, 1),
    (4, 2),
    (4, 3),
    (4, 4),
    (4, 5),
    (4, 6),
];

/// Reads and validates the list for an OpenGL context; `max` is the version the driver offers.
///
/// There is a core profile only. A request for a version up to 3.1 may be answered by any later version that is
/// compatible as far as the implementation offers one; here it gets the core context, because the clients that name no
/// version are mostly those that only want "some" context; `refuse_legacy` refuses it. A compatibility profile asked for
/// by name is always refused.
pub(crate) fn parse(attributes: &[(i32, i32)], max: (u32, u32), refuse_legacy: bool) -> EglResult<ContextAttribs> {
    let (mut major, mut minor) = (1, 0);
    let mut profile = e::CONTEXT_OPENGL_CORE_PROFILE_BIT;
    let mut attribs = ContextAttribs::default();
    for &(name, value) in attributes {
        match name {
            e::CONTEXT_MAJOR_VERSION => major = value,
            e::CONTEXT_MINOR_VERSION => minor = value,
            e::CONTEXT_OPENGL_PROFILE_MASK => profile = value,
            e::CONTEXT_OPENGL_DEBUG => attribs.debug = boolean(name, value)?,
            e::CONTEXT_OPENGL_FORWARD_COMPATIBLE => attribs.forward_compatible = boolean(name, value)?,
            e::CONTEXT_OPENGL_ROBUST_ACCESS => attribs.robust_access = boolean(name, value)?,
            e::CONTEXT_OPENGL_NO_ERROR_KHR => attribs.no_error = boolean(name, value)?,
            e::CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY => {
                attribs.lose_context_on_reset = match value {
                    e::LOSE_CONTEXT_ON_RESET => true,
                    e::NO_RESET_NOTIFICATION => false,
                    _ => return fail(e::BAD_ATTRIBUTE, format!("{value:#x} is no reset notification strategy")),
                };
            }
            e::CONTEXT_FLAGS_KHR => {
                let known = e::CONTEXT_OPENGL_DEBUG_BIT_KHR
                    | e::CONTEXT_OPENGL_FORWARD_COMPATIBLE_BIT_KHR
                    | e::CONTEXT_OPENGL_ROBUST_ACCESS_BIT_KHR;
                if value & !known != 0 {
                    return fail(e::BAD_ATTRIBUTE, format!("EGL_CONTEXT_FLAGS_KHR has unknown bits {value:#x}"));
                }
                attribs.debug |= value & e::CONTEXT_OPENGL_DEBUG_BIT_KHR != 0;
                attribs.forward_compatible |= value & e::CONTEXT_OPENGL_FORWARD_COMPATIBLE_BIT_KHR != 0;
                attribs.robust_access |= value & e::CONTEXT_OPENGL_ROBUST_ACCESS_BIT_KHR != 0;
            }
            e::CONTEXT_RELEASE_BEHAVIOR_KHR => {
                attribs.release_behavior_none = match value {
                    e::CONTEXT_RELEASE_BEHAVIOR_NONE_KHR => true,
                    e::CONTEXT_RELEASE_BEHAVIOR_FLUSH_KHR => false,
                    _ => return fail(e::BAD_ATTRIBUTE, format!("{value:#x} is no release behaviour")),
                };
            }
            // A hint (EGL_IMG_context_priority); what it became is asked for with eglQueryContext.
            e::CONTEXT_PRIORITY_LEVEL_IMG => match value {
                e::CONTEXT_PRIORITY_HIGH_IMG | e::CONTEXT_PRIORITY_MEDIUM_IMG | e::CONTEXT_PRIORITY_LOW_IMG => {}
                _ => return fail(e::BAD_ATTRIBUTE, format!("{value:#x} is no priority")),
            },
            _ => return fail(e::BAD_ATTRIBUTE, format!("{name:#x} is no attribute of an OpenGL context")),
        }
    }
    if !VERSIONS.contains(&(major, minor)) {
        return fail(e::BAD_MATCH, format!("there is no OpenGL {major}.{minor}"));
    }
    if attribs.forward_compatible && major < 3 {
        return fail(e::BAD_MATCH, "a forward-compatible context needs version 3.0");
    }
    if (major, minor) >= (3, 2) {
        match profile {
            e::CONTEXT_OPENGL_CORE_PROFILE_BIT => {}
            e::CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT => {
                return fail(e::BAD_MATCH, "the compatibility profile is not implemented");
            }
            _ => return fail(e::BAD_MATCH, format!("profile mask {profile:#x} names no single profile")),
        }
    }
    if refuse_legacy && (major, minor) < (3, 1) && !attribs.forward_compatible {
        return fail(e::BAD_MATCH, "legacy contexts are refused (MGL_LEGACY_CONTEXTS); ask for a core context");
    }
    if attribs.no_error && (attribs.debug || attribs.robust_access) {
        return fail(e::BAD_MATCH, "a no-error context cannot have debug output or robust access");
    }
    // Both are small non-negative numbers here.
    (attribs.major, attribs.minor) = (major as u32, minor as u32);
    if (attribs.major, attribs.minor) > max {
        return fail(e::BAD_MATCH, format!("OpenGL {major}.{minor} was asked for, {}.{} is offered", max.0, max.1));
    }
    Ok(attribs)
}

fn boolean(name: i32, value: i32) -> EglResult<bool> {
    match value {
        e::TRUE => Ok(true),
        e::FALSE => Ok(false),
        _ => fail(e::BAD_ATTRIBUTE, format!("attribute {name:#x} is a boolean, not {value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(list: &[(i32, i32)]) -> i32 {
        parse(list, (3, 3), false).map_or_else(|error| error.code, |_| e::SUCCESS)
    }

    #[test]
    fn versions() {
        assert_eq!(code(&[]), e::SUCCESS);
        assert_eq!(code(&[(e::CONTEXT_MAJOR_VERSION, 3), (e::CONTEXT_MINOR_VERSION, 3)]), e::SUCCESS);
        assert_eq!(code(&[(e::CONTEXT_MAJOR_VERSION, 4), (e::CONTEXT_MINOR_VERSION, 6)]), e::BAD_MATCH);
        assert_eq!(code(&[(e::CONTEXT_MAJOR_VERSION, 2), (e::CONTEXT_MINOR_VERSION, 2)]), e::BAD_MATCH);
        assert_eq!(code(&[(e::CONTEXT_MAJOR_VERSION, -1)]), e::BAD_MATCH);
        assert_eq!(code(&[(e::CONTEXT_CLIENT_TYPE, 1)]), e::BAD_ATTRIBUTE);
    }

    #[test]
    fn profiles() {
        let v32 = [(e::CONTEXT_MAJOR_VERSION, 3), (e::CONTEXT_MINOR_VERSION, 2)];
        let with = |mask| [v32[0], v32[1], (e::CONTEXT_OPENGL_PROFILE_MASK, mask)];
        assert_eq!(code(&with(e::CONTEXT_OPENGL_CORE_PROFILE_BIT)), e::SUCCESS);
        assert_eq!(code(&with(e::CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT)), e::BAD_MATCH);
        assert_eq!(code(&with(3)), e::BAD_MATCH);
        assert_eq!(code(&with(0)), e::BAD_MATCH);
        // Below 3.2 there are no profiles and the mask is not looked at.
        assert_eq!(code(&[(e::CONTEXT_OPENGL_PROFILE_MASK, 2)]), e::SUCCESS);
    }

    #[test]
    fn legacy_contexts_can_be_refused() {
        let code = |list: &[(i32, i32)]| parse(list, (3, 3), true).map_or_else(|error| error.code, |_| e::SUCCESS);
        let v30 = (e::CONTEXT_MAJOR_VERSION, 3);
        assert_eq!(code(&[]), e::BAD_MATCH);
        assert_eq!(code(&[(e::CONTEXT_MAJOR_VERSION, 2), (e::CONTEXT_MINOR_VERSION, 1)]), e::BAD_MATCH);
        assert_eq!(code(&[v30]), e::BAD_MATCH);
        assert_eq!(code(&[v30, (e::CONTEXT_OPENGL_FORWARD_COMPATIBLE, 1)]), e::SUCCESS);
        assert_eq!(code(&[v30, (e::CONTEXT_MINOR_VERSION, 1)]), e::SUCCESS);
    }

    #[test]
    fn flags_are_read_and_contradictions_refused() {
        let parsed = parse(&[(e::CONTEXT_FLAGS_KHR, 5)], (3, 3), false).expect("valid");
        assert!(parsed.debug && parsed.robust_access && !parsed.forward_compatible);
        assert_eq!(code(&[(e::CONTEXT_FLAGS_KHR, 8)]), e::BAD_ATTRIBUTE);
        assert_eq!(code(&[(e::CONTEXT_OPENGL_FORWARD_COMPATIBLE, 1)]), e::BAD_MATCH);
        assert_eq!(code(&[(e::CONTEXT_OPENGL_NO_ERROR_KHR, 1), (e::CONTEXT_OPENGL_DEBUG, 1)]), e::BAD_MATCH);
        assert_eq!(code(&[(e::CONTEXT_OPENGL_DEBUG, 7)]), e::BAD_ATTRIBUTE);
    }
}
