//! Constant expressions of `#if` and `#elif`.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{expand, Macro};
use crate::token::{Kind, Token};

/// Deepest nesting of parentheses and unary operators.
const MAX_DEPTH: u32 = 200;

/// Evaluates the tokens after `#if`; undefined names count as 0.
pub(super) fn evaluate<'a>(
    tokens: &[Token<'a>],
    macros: &HashMap<String, Macro<'a>>,
    is_defined: &dyn Fn(&str) -> bool,
) -> Result<i64, String> {
    let without_defined = replace_defined(tokens, is_defined)?;
    let mut expanded =
        expand::expand(without_defined, macros, 100_000).map_err(|e| e.message.replace("preprocessor error: ", ""))?;
    if expanded.iter().any(|t| t.is("defined")) {
        expanded = replace_defined(&expanded, is_defined)?;
    }
    let mut parser = Parser { tokens: &expanded, at: 0 };
    let value = parser.binary(0, 0)?;
    match parser.tokens.get(parser.at) {
        None => Ok(value),
        Some(token) => Err(format!("syntax error in expression at `{}'", token.text)),
    }
}

fn replace_defined<'a>(tokens: &[Token<'a>], is_defined: &dyn Fn(&str) -> bool) -> Result<Vec<Token<'a>>, String> {
    let mut result = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if !token.is("defined") {
            result.push(token.clone());
            at += 1;
            continue;
        }
        let (name, length) = match (tokens.get(at + 1), tokens.get(at + 2), tokens.get(at + 3)) {
            (Some(open), Some(name), Some(close)) if open.is("(") && name.is_ident() && close.is(")") => (name, 4),
            (Some(name), _, _) if name.is_ident() => (name, 2),
            _ => return Err("malformed use of `defined'".into()),
        };
        let value = if is_defined(&name.text) { "1" } else { "0" };
        result.push(Token { kind: Kind::Number, text: Cow::Borrowed(value), ..token.clone() });
        at += length;
    }
    Ok(result)
}

/// Value of an integer literal (decimal, octal, hexadecimal, optional `u`).
pub(super) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_suffix(['u', 'U']).unwrap_or(text);
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(&digits[1..], 8).ok()?
    } else {
        digits.parse().ok()?
    };
    i64::try_from(value).ok()
}

struct Parser<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
}

const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Parser<'_, '_> {
    fn binary(&mut self, level: usize, depth: u32) -> Result<i64, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary(depth) };
        let mut left = self.binary(level + 1, depth)?;
        while let Some(operator) = self.tokens.get(self.at).filter(|t| operators.contains(&&*t.text)) {
            let operator = operator.text.clone();
            self.at += 1;
            let right = self.binary(level + 1, depth)?;
            let shift = (right & 63) as u32;
            left = match &*operator {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left.wrapping_shl(shift),
                ">>" => left.wrapping_shr(shift),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                _ if right == 0 => return Err("division by 0 in preprocessor directive".into()),
                "/" => left.wrapping_div(right),
                _ => left.wrapping_rem(right),
            };
        }
        Ok(left)
    }

    fn unary(&mut self, depth: u32) -> Result<i64, String> {
        if depth > MAX_DEPTH {
            return Err("expression is nested too deeply".into());
        }
        let token = self.tokens.get(self.at).ok_or("syntax error: unexpected end of expression")?;
        self.at += 1;
        match &*token.text {
            "+" => self.unary(depth + 1),
            "-" => self.unary(depth + 1).map(i64::wrapping_neg),
            "~" => self.unary(depth + 1).map(|v| !v),
            "!" => self.unary(depth + 1).map(|v| i64::from(v == 0)),
            "(" => {
                let value = self.binary(0, depth + 1)?;
                match self.tokens.get(self.at) {
                    Some(close) if close.is(")") => {
                        self.at += 1;
                        Ok(value)
                    }
                    _ => Err("syntax error: missing `)' in expression".into()),
                }
            }
            text if token.kind == Kind::Number => integer(text).ok_or_else(|| format!("`{text}' is no integer")),
            _ if token.is_ident() => Ok(0),
            text => Err(format!("syntax error in expression at `{text}'")),
        }
    }
}
