//! What two drivers made of the same sequence, side by side.

use super::exceptions;
use super::sequence::{sequence, Call};

/// What one driver made of a sequence: the lines that the worker wrote, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Lines between `seed` and `end`.
    pub lines: Vec<String>,
    /// Why there is no `end`: a signal, an exit status or a time out.
    pub broken: Option<String>,
}

impl Trace {
    /// The call that the process was in when it ended.
    fn last_try(&self) -> Option<usize> {
        self.lines.iter().rev().find_map(|l| l.strip_prefix("try ")).and_then(|n| n.parse().ok())
    }

    /// Call, error and answer.
    fn calls(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        self.lines.iter().filter_map(|line| {
            let mut parts = line.strip_prefix("call ")?.splitn(3, ' ');
            Some((parts.next()?.parse().ok()?, parts.next()?, parts.next().unwrap_or("")))
        })
    }

    fn value(&self, prefix: &str) -> Option<&str> {
        self.lines.iter().find_map(|l| l.strip_prefix(prefix))
    }
}

/// What came of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both drivers agree.
    Same,
    /// They differ in a way that the table of exceptions explains; what comes after is not compared.
    Excused(&'static str),
    /// The reference could not run the sequence.
    NoReference(String),
    /// They differ.
    Different {
        /// What the difference is about: the function, or the kind of result.
        topic: String,
        /// What was found.
        what: String,
    },
}

fn different(topic: &str, what: String) -> Verdict {
    Verdict::Different { topic: topic.to_owned(), what }
}

/// The error code of a call that is right.
const GOOD: &str = "0x0000";

/// Compares what MGL did with what the reference did. `strict` wants the same error where both refuse a call.
pub fn compare(seed: u64, mgl: &Trace, reference: &Trace, strict: bool) -> Verdict {
    let calls = sequence(seed);
    let text = |at: usize| calls.get(at).map_or_else(String::new, Call::to_string);
    let name = |at: usize| calls.get(at).map_or("", |c: &Call| c.name());
    if let Some(line) = mgl.value("validation ") {
        return different("validation", line.to_owned());
    }
    if let Some(how) = &mgl.broken {
        // A sequence that the reference survives no better is still one that MGL has to survive.
        let at = mgl.last_try().unwrap_or(0);
        return different(&format!("crash in {}", name(at)), format!("{how} in call {at}, {}", text(at)));
    }
    for ((at, error, answer), (_, expected_error, expected_answer)) in mgl.calls().zip(reference.calls()) {
        // A call that is wrong in several ways may have any of the errors.
        let refused = !strict && error != GOOD && expected_error != GOOD && !error.is_empty();
        if refused || (error, answer) == (expected_error, expected_answer) {
            continue;
        }
        let Some(call) = calls.get(at) else { break };
        if let Some(reason) = exceptions::find(call, (error, answer), (expected_error, expected_answer)) {
            return Verdict::Excused(reason);
        }
        let what = format!("call {at}, {call}: {error} {answer}, reference {expected_error} {expected_answer}");
        let topic = if error == expected_error { format!("answer of {}", name(at)) } else { name(at).to_owned() };
        return different(&format!("{topic} {error}/{expected_error}"), what);
    }
    if let Some(how) = &reference.broken {
        let at = reference.last_try().unwrap_or(0);
        return Verdict::NoReference(format!("{how} in call {at}, {}", text(at)));
    }
    let (state, expected) = (mgl.value("state ").unwrap_or(""), reference.value("state ").unwrap_or(""));
    for (own, other) in state.split(';').zip(expected.split(';')) {
        if own != other {
            if let Some(reason) = exceptions::find_state(own, &calls) {
                return Verdict::Excused(reason);
            }
            return different(&format!("state {}", &own[..own.len().min(6)]), format!("{own}, reference {other}"));
        }
    }
    for (prefix, topic) in
        [("picture 1 ", "picture"), ("picture 2 ", "picture"), ("buffer 4 ", "capture"), ("buffer 6 ", "buffer")]
    {
        let (own, other) = (mgl.value(prefix), reference.value(prefix));
        let (Some(own), Some(other)) = (own, other) else { continue };
        let pairs = bytes(own).into_iter().zip(bytes(other)).enumerate();
        let wrong: Vec<_> = pairs.filter(|(_, (a, b))| a.abs_diff(*b) > 3).collect();
        if let Some((at, (a, b))) = wrong.first() {
            let count = wrong.len();
            return different(topic, format!("{prefix}differs in {count} bytes, first {at}: {a}, reference {b}"));
        }
    }
    Verdict::Same
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(lines: &[&str]) -> Trace {
        Trace { lines: lines.iter().map(|l| (*l).to_owned()).collect(), broken: None }
    }

    #[test]
    fn differences_are_seen() {
        let good = trace(&["call 0 0x0000 0", "state 0x1=[1];", "picture 1 00ff", "buffer 6 0000"]);
        assert_eq!(compare(1, &good, &good, false), Verdict::Same);
        for other in [
            trace(&["call 0 0x0502 0", "state 0x1=[1];", "picture 1 00ff"]),
            trace(&["call 0 0x0000 1", "state 0x1=[1];", "picture 1 00ff"]),
            trace(&["call 0 0x0000 0", "state 0x1=[2];", "picture 1 00ff"]),
            trace(&["call 0 0x0000 0", "state 0x1=[1];", "picture 1 10ff"]),
            trace(&["call 0 0x0000 0", "state 0x1=[1];", "picture 1 00ff", "validation an error"]),
            Trace { broken: Some("signal 11".into()), ..good.clone() },
        ] {
            assert!(matches!(compare(1, &other, &good, false), Verdict::Different { .. }), "{other:?}");
        }
        let refused = trace(&["call 0 0x0501 0", "state 0x1=[1];"]);
        let otherwise = trace(&["call 0 0x0502 0", "state 0x1=[1];"]);
        assert_eq!(compare(1, &refused, &otherwise, false), Verdict::Same);
        assert!(matches!(compare(1, &refused, &otherwise, true), Verdict::Different { .. }));
        let near = trace(&["call 0 0x0000 0", "state 0x1=[1];", "picture 1 02fe"]);
        assert_eq!(compare(1, &near, &good, false), Verdict::Same);
    }
}
