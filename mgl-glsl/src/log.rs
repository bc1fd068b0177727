//! Diagnostics in the form that GL info logs have by convention.

use std::fmt::Write as _;

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Error,
    Warning,
}

/// Collects diagnostics of a compile.
#[derive(Debug, Default)]
pub(crate) struct Log {
    text: String,
    errors: u32,
}

/// After this many errors the rest is not worth reading.
const MAX_ERRORS: u32 = 64;

/// Longest message text, in bytes: hostile identifiers are cut off.
const MAX_MESSAGE: usize = 1024;

impl Log {
    /// Adds a diagnostic at a place in the source.
    pub(crate) fn push(&mut self, severity: Severity, string: u32, line: u32, column: u32, message: &str) {
        if severity == Severity::Error {
            self.errors += 1;
        }
        if self.errors > MAX_ERRORS {
            return;
        }
        let mut end = message.len().min(MAX_MESSAGE);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        let word = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{string}:{line}({column}): {word}: {}", &message[..end]);
    }

    /// Adds an error.
    pub(crate) fn error(&mut self, string: u32, line: u32, column: u32, message: &str) {
        self.push(Severity::Error, string, line, column, message);
    }

    /// Adds a warning.
    pub(crate) fn warning(&mut self, string: u32, line: u32, column: u32, message: &str) {
        self.push(Severity::Warning, string, line, column, message);
    }

    /// Whether any error was added.
    pub(crate) fn failed(&self) -> bool {
        self.errors > 0
    }

    /// The text so far.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Adds what glslang said about the rewritten text, in our form; returns whether there was an error.
    pub(crate) fn push_glslang(&mut self, text: &str, rename: impl Fn(&str) -> String) {
        for line in text.lines() {
            let (severity, rest) = if let Some(rest) = line.strip_prefix("ERROR: ") {
                (Severity::Error, rest)
            } else if line.starts_with("WARNING: ") {
                // glslang warns about the normal form (uniform locations and initialisers that are handled elsewhere).
                continue;
            } else {
                continue;
            };
            match place(rest) {
                Some((string, line, column, message)) => {
                    if message.contains("compilation terminated") {
                        continue;
                    }
                    self.push(severity, string, line, column, &rename(message));
                }
                None => {
                    if rest.contains("compilation errors") {
                        continue;
                    }
                    self.push(severity, 0, 1, 1, &rename(rest));
                }
            }
        }
    }
}

/// Splits `S:L:C: text` or `S:L: text`.
fn place(text: &str) -> Option<(u32, u32, u32, &str)> {
    let (string, rest) = text.split_once(':')?;
    let (line, rest) = rest.split_once(':')?;
    let string = string.trim().parse().ok()?;
    let line = line.trim().parse().ok()?;
    if let Some((column, message)) = rest.split_once(':') {
        if let Ok(column) = column.trim().parse() {
            return Some((string, line, column, message.trim()));
        }
    }
    Some((string, line, 1, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glslang_lines_become_gl_lines() {
        let mut log = Log::default();
        log.push_glslang(
            "ERROR: 0:12: 'foo' : undeclared identifier \nWARNING: 0:1: x\nERROR: 2:3:7: 'a' : b\nERROR: 2 compilation errors.  No code generated.\n",
            str::to_owned,
        );
        assert!(log.failed());
        assert_eq!(log.into_text(), "0:12(1): error: 'foo' : undeclared identifier\n2:3(7): error: 'a' : b\n");
    }
}
