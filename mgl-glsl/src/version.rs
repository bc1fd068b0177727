//! GLSL versions: which ones exist, and which profile a shader is written in.

use crate::options::{CompileOptions, ContextProfile};

/// Version and profile that a shader is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// 110 to 460, or 300 and 310 for ES.
    pub(crate) number: u16,
    /// Removed features are available (versions before 140, and the compatibility profile).
    pub(crate) compatibility: bool,
    pub(crate) es: bool,
}

impl Version {
    /// What a shader without `#version` is written in.
    pub(crate) const DEFAULT: Version = Version { number: 110, compatibility: true, es: false };
}

const DESKTOP: [u16; 12] = [110, 120, 130, 140, 150, 330, 400, 410, 420, 430, 440, 450];

/// Checks a `#version` directive.
pub(crate) fn check(number: u32, profile: Option<&str>, options: &CompileOptions) -> Result<Version, String> {
    let spelled = || {
        let suffix = if profile == Some("es") || number == 100 { " ES" } else { "" };
        format!("GLSL{suffix} {}.{:02}", number / 100, number % 100)
    };
    let unsupported = || {
        let all: Vec<String> = DESKTOP
            .iter()
            .chain(&[460])
            .filter(|v| **v <= options.max_version)
            .map(|v| format!("{}.{:02}", v / 100, v % 100))
            .collect();
        Err(format!("{} is not supported. Supported versions are: {}", spelled(), all.join(", ")))
    };
    let Ok(short) = u16::try_from(number) else { return unsupported() };
    if profile == Some("es") || number == 100 {
        // ES_compatibility contexts accept these; ES 1.00 would need a different default precision model only.
        let known = match (number, profile) {
            (300, Some("es")) => options.max_version >= 330,
            (310, Some("es")) => options.max_version >= 450,
            _ => false,
        };
        if !known {
            return unsupported();
        }
        return Ok(Version { number: short, compatibility: false, es: true });
    }
    if !(DESKTOP.contains(&short) || short == 460) || short > options.max_version {
        return unsupported();
    }
    let compatibility = match profile {
        None => short < 140 || (short == 140 && options.profile == ContextProfile::Compatibility),
        Some("core") if short >= 150 => false,
        Some("compatibility") if short >= 150 => {
            if options.profile == ContextProfile::Core {
                return Err("the compatibility profile is not supported".into());
            }
            true
        }
        Some("core" | "compatibility") => {
            return Err("a profile may only be given from version 150 on".into());
        }
        Some(other) => {
            return Err(format!(
                "\"{other}\" is not a valid shading language profile; if present, it must be \"core\""
            ));
        }
    };
    Ok(Version { number: short, compatibility, es: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_versions() {
        let options = CompileOptions { max_version: 330, ..CompileOptions::default() };
        assert_eq!(check(330, Some("core"), &options).map(|v| v.compatibility), Ok(false));
        assert!(check(120, None, &options).expect("supported").compatibility);
        assert!(check(400, None, &options).unwrap_err().contains("Supported versions"));
        assert!(check(331, None, &options).is_err());
        assert!(check(99_999_999, None, &options).is_err());
        assert!(check(330, Some("compatibility"), &options).is_err());
        assert!(check(140, Some("core"), &options).is_err());
        assert!(check(330, Some("fancy"), &options).is_err());
    }
}
