//! Why tests skip, read from what they printed.

use std::collections::BTreeMap;
use std::fmt;

/// What a skipped test lacked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skip {
    /// A context of the compatibility profile.
    Compatibility,
    /// A version of OpenGL or GLSL above 3.3.
    Version,
    /// An OpenGL ES context.
    Es,
    /// A window system: tests of GLX, X11, Wayland or GBM.
    Window,
    /// An extension, by name.
    Extension(String),
    /// The test's program is not installed here.
    NotInstalled,
    /// Something else: the last line that the test printed.
    Other(String),
}

/// Extensions of which fewer tests than this skip share a line of the table.
const SMALL: usize = 10;

impl Skip {
    /// Reads the reason from both streams of a test that skipped.
    pub fn of_output(stdout: &str, stderr: &str) -> Skip {
        let lines = || stdout.lines().chain(stderr.lines()).map(str::trim).filter(|l| !l.is_empty());
        // The first context that a test asked for is the one it wants; older ones are what it would make do with.
        let mut contexts = lines().filter_map(|line| {
            let at = line.find("for OpenGL ")?;
            line.starts_with("piglit: error: Failed to create").then(|| &line[at + "for OpenGL ".len()..])
        });
        if let Some(context) = contexts.next() {
            let core = context.split(' ').next().and_then(|version| version.parse::<f32>().ok());
            return match core {
                None => Skip::Es,
                Some(version) if version > 3.3 => Skip::Version,
                Some(_) => Skip::Compatibility,
            };
        }
        if lines().any(|l| l.starts_with("Neither config attribute")) {
            return Skip::Es;
        }
        if lines().any(|l| l.contains("couldn't open display") || l.contains("not supported on platform")) {
            return Skip::Window;
        }
        for line in lines() {
            let wanted = line.strip_prefix("Test requires unsupported extension ");
            let wanted = wanted.or_else(|| line.strip_prefix("Test requires ")).unwrap_or_default();
            let word = wanted.split([' ', ',', '.', ';']).next().unwrap_or_default();
            if word.starts_with("EGL_EXT_platform_") || word.starts_with("EGL_KHR_platform_") {
                return Skip::Window;
            }
            if ["GL_", "EGL_", "GLX_"].iter().any(|prefix| word.starts_with(prefix)) {
                return Skip::Extension(word.to_owned());
            }
            if matches!(word, "GL" | "GLSL" | "OpenGL") && wanted.contains("ES ") {
                return Skip::Es;
            }
            if matches!(word, "GL" | "GLSL" | "OpenGL") {
                return Skip::Version;
            }
        }
        let said = lines().rfind(|l| !l.starts_with("PIGLIT")).unwrap_or("it printed nothing");
        Skip::Other(said.chars().take(100).collect())
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skip::Compatibility => f.write_str("needs a context of the compatibility profile"),
            Skip::Version => f.write_str("needs OpenGL or GLSL above 3.3"),
            Skip::Es => f.write_str("needs an OpenGL ES context"),
            Skip::Window => f.write_str("needs a window system"),
            Skip::Extension(name) => write!(f, "needs {name}"),
            Skip::NotInstalled => f.write_str("the program is not installed"),
            Skip::Other(said) => write!(f, "says: {said}"),
        }
    }
}

/// The table of skips by reason, most frequent first; extensions that few tests need share a line.
pub fn table<'s>(skips: impl Iterator<Item = &'s Skip>) -> Vec<String> {
    let mut counts: BTreeMap<&Skip, usize> = BTreeMap::new();
    for skip in skips {
        *counts.entry(skip).or_default() += 1;
    }
    let (mut small_tests, mut small_names) = (0, 0);
    let mut rows: Vec<(usize, String)> = Vec::new();
    for (skip, count) in counts {
        if matches!(skip, Skip::Extension(_)) && count < SMALL {
            small_tests += count;
            small_names += 1;
        } else {
            rows.push((count, skip.to_string()));
        }
    }
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    if small_names > 0 {
        rows.push((small_tests, format!("needs one of {small_names} other extensions")));
    }
    rows.into_iter().map(|(count, text)| format!("{count:>8}  {text}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extension(name: &str) -> Skip {
        Skip::Extension(name.to_owned())
    }

    #[test]
    fn reasons_are_read() {
        let refused = |what: &str| {
            format!(
                "piglit: error: waffle_context_create failed due to WAFFLE_ERROR_UNKNOWN\n\
                 piglit: error: Failed to create waffle_context for OpenGL {what} Context\n"
            )
        };
        let of_error = |stderr: &str| Skip::of_output("piglit: info: Failed to create any GL context\n", stderr);
        assert_eq!(of_error(&refused("1.0 Compatibility")), Skip::Compatibility);
        assert_eq!(of_error(&(refused("4.2 Core") + &refused("4.2 Compatibility"))), Skip::Version);
        let es = "piglit: error: Failed to create waffle_config for OpenGL ES 3.1 Context\n";
        assert_eq!(of_error(es), Skip::Es);
        let of_text = |stdout: &str| Skip::of_output(stdout, "");
        assert_eq!(
            of_text("Test requires unsupported extension GL_ARB_gpu_shader5\n"),
            extension("GL_ARB_gpu_shader5")
        );
        assert_eq!(of_text("Test requires GL_ARB_texture_gather\n"), extension("GL_ARB_texture_gather"));
        assert_eq!(of_text("Test requires EGL_EXT_platform_x11\n"), Skip::Window);
        assert_eq!(of_text("Test requires GLSL version 4.0\n"), Skip::Version);
        assert_eq!(Skip::of_output("", "couldn't open display\n"), Skip::Window);
        assert_eq!(
            of_text("no such thing here\nPIGLIT: {\"result\": \"skip\" }\n"),
            Skip::Other("no such thing here".into())
        );
    }

    #[test]
    fn rare_extensions_share_a_line() {
        let mut skips = vec![extension("GL_A"), extension("GL_B"), extension("GL_B"), Skip::Es];
        skips.extend(vec![extension("GL_C"); SMALL]);
        let rows = table(skips.iter());
        assert_eq!(
            rows,
            [
                "      10  needs GL_C",
                "       1  needs an OpenGL ES context",
                "       3  needs one of 2 other extensions"
            ]
        );
    }
}
