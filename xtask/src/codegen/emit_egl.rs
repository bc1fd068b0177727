//! Writes the EGL and GLX enumerants as Rust constants.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The constants with plain integer values, without their prefix (`EGL_`, `GLX_`). Handles such as `EGL_NO_CONTEXT`, which the
/// registry writes as cast expressions, are defined by hand.
pub(super) fn enums(enums: &BTreeMap<String, String>, prefix: &str) -> String {
    let mut out = String::from("#![allow(missing_docs, dead_code, non_upper_case_globals)]\n\n");
    for (name, value) in enums {
        let Some(short) = name.strip_prefix(prefix) else {
            continue;
        };
        // Negative values are spelled as casts to EGLint; the other casts are handles.
        let value = value.strip_prefix("EGL_CAST(EGLint,").and_then(|v| v.strip_suffix(')')).unwrap_or(value);
        let parsed = match value.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => value.parse::<i64>().ok(),
        };
        // `GLX_DONT_CARE` is written without a sign.
        let parsed = parsed.map(|value| if value == i64::from(u32::MAX) { -1 } else { value });
        let Some(parsed) = parsed else { continue };
        let short =
            if short.starts_with(|c: char| c.is_ascii_digit()) { format!("_{short}") } else { short.to_owned() };
        let Ok(small) = i32::try_from(parsed) else {
            // Timeouts such as EGL_FOREVER are 64-bit.
            let _ = writeln!(out, "pub const {short}: u64 = {:#x};", parsed as u64);
            continue;
        };
        if small < 0 {
            let _ = writeln!(out, "pub const {short}: i32 = {small};");
        } else {
            let _ = writeln!(out, "pub const {short}: i32 = {small:#x};");
        }
    }
    out
}
