//! Writes the rewritten tokens as text.

use std::fmt::Write as _;

use super::Rewriter;
use crate::token::Token;

/// Writes tokens so that glslang sees them on their original lines and, where room allows, columns.
pub(super) struct Emitter {
    pub(super) text: String,
    string: u32,
    line: u32,
    line_start: usize,
    started: bool,
}

impl Emitter {
    pub(super) fn new(text: String) -> Emitter {
        Emitter { text, string: 0, line: 0, line_start: 0, started: false }
    }

    pub(super) fn range(&mut self, rewriter: &Rewriter<'_, '_, '_>, range: (usize, usize)) {
        for at in range.0..range.1 {
            let Some(token) = rewriter.input.tokens.get(at) else { return };
            self.place(token);
            let text = rewriter.emitted(at);
            if let (Some(last), Some(first)) = (self.text.as_bytes().last(), text.as_bytes().first()) {
                // Everything that could run together with the token before is kept apart, `+ +` and `a b` alike.
                if !b" \n(){}[];,".contains(last) && !b"(){}[];,".contains(first) && !self.at_line_start() {
                    self.text.push(' ');
                }
            }
            self.text.push_str(&text);
            if let Some(after) = rewriter.after.get(&at) {
                self.text.push_str(after);
            }
        }
    }

    fn at_line_start(&self) -> bool {
        self.text.len() == self.line_start
    }

    fn place(&mut self, token: &Token<'_>) {
        let near =
            self.started && token.string == self.string && token.line >= self.line && token.line - self.line < 16;
        if near {
            while self.line < token.line {
                self.text.push('\n');
                self.line += 1;
                self.line_start = self.text.len();
            }
        } else {
            let _ = write!(self.text, "\n#line {} {}\n", token.line, token.string);
            self.line_start = self.text.len();
            self.line = token.line;
            self.string = token.string;
            self.started = true;
        }
        // A hostile column must not blow up the text.
        let column = token.column.min(240) as usize;
        while self.text.len() - self.line_start + 1 < column {
            self.text.push(' ');
        }
    }
}
