//! Splits GLSL source bytes into tokens that remember where they stood.

use std::borrow::Cow;
use std::rc::Rc;

/// What a token is, as far as the preprocessor and the rewriter care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifier or keyword.
    Ident,
    /// Preprocessing number.
    Number,
    /// Operator or punctuation.
    Punct,
    /// End of a line (outside comments).
    Newline,
    /// A character that GLSL does not have.
    Illegal,
}

/// Names of the macros that a token must not be expanded as, because it came out of their expansion.
#[derive(Debug)]
pub(crate) struct HideSet {
    pub(crate) name: String,
    pub(crate) next: Option<Rc<HideSet>>,
}

/// One token.
#[derive(Clone, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: Cow<'a, str>,
    /// Source string number (changed only by `#line`).
    pub(crate) string: u32,
    /// Line number as error messages report it.
    pub(crate) line: u32,
    /// Column, from 1.
    pub(crate) column: u32,
    /// White space or a comment stood before it on its line.
    pub(crate) space_before: bool,
    pub(crate) hidden: Option<Rc<HideSet>>,
}

impl Token<'_> {
    /// Whether the token is this punctuation or word.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(crate) fn is_ident(&self) -> bool {
        self.kind == Kind::Ident
    }

    /// Whether the macro `name` may not be expanded here.
    pub(crate) fn hides(&self, name: &str) -> bool {
        let mut set = self.hidden.as_ref();
        while let Some(entry) = set {
            if entry.name == name {
                return true;
            }
            set = entry.next.as_ref();
        }
        false
    }
}

const LONG_PUNCTUATION: [&str; 23] = [
    "<<=", ">>=", "++", "--", "<=", ">=", "==", "!=", "&&", "||", "^^", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "##", "->",
];

/// Why a source could not be split.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TokenError {
    /// A comment that is still open at the end; the line where it began.
    UnterminatedComment(u32),
}

/// Splits `source`. Line splices (`\` before a line end) vanish, comments count as a space.
pub(crate) fn tokenize(source: &str) -> Result<Vec<Token<'_>>, TokenError> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::with_capacity(source.len() / 3);
    let mut at = 0;
    let mut line = 1;
    let mut line_start = 0;
    let mut space_before = false;
    while at < bytes.len() {
        let byte = bytes[at];
        let column = (at - line_start) as u32 + 1;
        if let Some(length) = line_end(bytes, at) {
            tokens.push(Token {
                kind: Kind::Newline,
                text: Cow::Borrowed("\n"),
                string: 0,
                line,
                column,
                space_before: false,
                hidden: None,
            });
            at += length;
            line += 1;
            line_start = at;
            space_before = false;
            continue;
        }
        if let Some(length) = splice(bytes, at) {
            at += length;
            line += 1;
            line_start = at;
            continue;
        }
        if matches!(byte, b' ' | b'\t' | 0x0b | 0x0c) {
            at += 1;
            space_before = true;
            continue;
        }
        if bytes[at..].starts_with(b"//") {
            while at < bytes.len() && line_end(bytes, at).is_none() {
                match splice(bytes, at) {
                    Some(length) => {
                        at += length;
                        line += 1;
                        line_start = at;
                    }
                    None => at += 1,
                }
            }
            space_before = true;
            continue;
        }
        if bytes[at..].starts_with(b"/*") {
            let start_line = line;
            at += 2;
            loop {
                if at >= bytes.len() {
                    return Err(TokenError::UnterminatedComment(start_line));
                }
                if bytes[at..].starts_with(b"*/") {
                    at += 2;
                    break;
                }
                match line_end(bytes, at) {
                    Some(length) => {
                        at += length;
                        line += 1;
                        line_start = at;
                    }
                    None => at += 1,
                }
            }
            space_before = true;
            continue;
        }
        let start_line = line;
        let (kind, text) = if byte.is_ascii_alphabetic() || byte == b'_' {
            (
                Kind::Ident,
                word(source, &mut at, &mut line, &mut line_start, |_, b| b.is_ascii_alphanumeric() || b == b'_'),
            )
        } else if byte.is_ascii_digit() || (byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)) {
            let hex = byte == b'0' && bytes.get(at + 1).is_some_and(|b| b.eq_ignore_ascii_case(&b'x'));
            (
                Kind::Number,
                word(source, &mut at, &mut line, &mut line_start, |previous, b| {
                    b.is_ascii_alphanumeric()
                        || b == b'_'
                        || b == b'.'
                        || (matches!(b, b'+' | b'-') && !hex && previous.eq_ignore_ascii_case(&b'e'))
                }),
            )
        } else if let Some(long) = LONG_PUNCTUATION.iter().find(|p| bytes[at..].starts_with(p.as_bytes())) {
            at += long.len();
            (Kind::Punct, Cow::Borrowed(*long))
        } else {
            let length = source[at..].chars().next().map_or(1, char::len_utf8);
            let text = &source[at..at + length];
            at += length;
            let known = b"(){}[].,;:?!~+-*/%<>&|^=#".contains(&byte);
            (if known { Kind::Punct } else { Kind::Illegal }, Cow::Borrowed(text))
        };
        tokens.push(Token { kind, text, string: 0, line: start_line, column, space_before, hidden: None });
        space_before = false;
    }
    Ok(tokens)
}

/// Length of the line end at `at`, if there is one; all of LF, CR, CR LF and LF CR count.
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match (bytes.get(at)?, bytes.get(at + 1)) {
        (b'\r', Some(b'\n')) | (b'\n', Some(b'\r')) => Some(2),
        (b'\r' | b'\n', _) => Some(1),
        _ => None,
    }
}

/// Length of a backslash with the line end behind it.
fn splice(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) == Some(&b'\\') {
        line_end(bytes, at + 1).map(|length| length + 1)
    } else {
        None
    }
}

/// Takes bytes while `accept(previous, byte)`; line splices inside are dropped.
fn word<'a>(
    source: &'a str,
    at: &mut usize,
    line: &mut u32,
    line_start: &mut usize,
    accept: impl Fn(u8, u8) -> bool,
) -> Cow<'a, str> {
    let bytes = source.as_bytes();
    let mut start = *at;
    let mut owned = String::new();
    let mut previous = bytes[*at];
    *at += 1;
    while *at < bytes.len() {
        if let Some(length) = splice(bytes, *at) {
            owned.push_str(&source[start..*at]);
            *at += length;
            start = *at;
            *line += 1;
            *line_start = *at;
            continue;
        }
        if !accept(previous, bytes[*at]) {
            break;
        }
        previous = bytes[*at];
        *at += 1;
    }
    if owned.is_empty() {
        Cow::Borrowed(&source[start..*at])
    } else {
        owned.push_str(&source[start..*at]);
        Cow::Owned(owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        tokenize(source).expect("tokens").iter().map(|t| t.text.to_string()).collect()
    }

    #[test]
    fn words_numbers_and_operators() {
        assert_eq!(texts("a1+=1.5e-3f<<=b.x"), ["a1", "+=", "1.5e-3f", "<<=", "b", ".", "x"]);
        assert_eq!(texts("0x1e+2"), ["0x1e", "+", "2"]);
        assert_eq!(texts(".5."), [".5."]);
    }

    #[test]
    fn comments_splices_and_lines() {
        let tokens = tokenize("a/*x\ny*/b\\\r\nc\n d // e\\\nf\ng").expect("tokens");
        let seen: Vec<_> =
            tokens.iter().filter(|t| t.kind != Kind::Newline).map(|t| (&*t.text, t.line, t.column)).collect();
        assert_eq!(seen, [("a", 1, 1), ("bc", 2, 4), ("d", 4, 2), ("g", 6, 1)]);
        assert_eq!(tokenize("x /* y").unwrap_err(), TokenError::UnterminatedComment(1));
    }

    #[test]
    fn odd_bytes_are_illegal_tokens() {
        let tokens = tokenize("a\0\u{e9}$").expect("tokens");
        assert_eq!(tokens.iter().filter(|t| t.kind == Kind::Illegal).count(), 3);
    }
}
