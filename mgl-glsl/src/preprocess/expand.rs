//! Macro expansion with hide sets, bounded in output and work.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use super::Macro;
use crate::token::{HideSet, Kind, Token};

/// A failed expansion and the place of the macro use.
#[derive(Debug)]
pub(super) struct ExpandError {
    pub(super) string: u32,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) message: String,
}

/// Deepest nesting of arguments that contain macro calls.
const MAX_DEPTH: u32 = 64;

/// Expands all macros in `tokens`; at most `budget` tokens may pass through the expansion.
pub(super) fn expand<'a>(
    tokens: Vec<Token<'a>>,
    macros: &HashMap<String, Macro<'a>>,
    budget: usize,
) -> Result<Vec<Token<'a>>, ExpandError> {
    let mut work = budget.saturating_mul(2);
    expand_nested(tokens, macros, &mut work, 0)
}

fn error(token: &Token<'_>, message: impl Into<String>) -> ExpandError {
    ExpandError {
        string: token.string,
        line: token.line,
        column: token.column,
        message: format!("preprocessor error: {}", message.into()),
    }
}

fn expand_nested<'a>(
    tokens: Vec<Token<'a>>,
    macros: &HashMap<String, Macro<'a>>,
    work: &mut usize,
    depth: u32,
) -> Result<Vec<Token<'a>>, ExpandError> {
    let mut output = Vec::with_capacity(tokens.len());
    // The input is a stack with the next token on top, so that an expansion is rescanned with what follows it.
    let mut input = tokens;
    input.reverse();
    while let Some(token) = input.pop() {
        *work = work.checked_sub(1).ok_or_else(|| error(&token, "macro expansion is too long"))?;
        if token.kind != Kind::Ident {
            output.push(token);
            continue;
        }
        if token.is("__LINE__") || token.is("__FILE__") {
            let value = if token.is("__LINE__") { token.line } else { token.string };
            output.push(Token { kind: Kind::Number, text: Cow::Owned(value.to_string()), ..token });
            continue;
        }
        let Some(definition) = macros.get(&*token.text).filter(|_| !token.hides(&token.text)) else {
            output.push(token);
            continue;
        };
        let hidden = Some(Rc::new(HideSet { name: token.text.to_string(), next: token.hidden.clone() }));
        let expansion = match &definition.parameters {
            None => substitute(definition, &[], &[], &token, &hidden, work)?,
            Some(parameters) => {
                if !input.last().is_some_and(|t| t.is("(")) {
                    output.push(token);
                    continue;
                }
                let arguments = arguments(&mut input, &token)?;
                // `F()` has one empty argument; that is right for one parameter and for none.
                let fits = arguments.len() == parameters.len()
                    || (parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty());
                if !fits {
                    let message = format!(
                        "macro {} invoked with {} arguments (expected {})",
                        token.text,
                        arguments.len(),
                        parameters.len()
                    );
                    return Err(error(&token, message));
                }
                if depth >= MAX_DEPTH {
                    return Err(error(&token, "macro calls are nested too deeply"));
                }
                let mut expanded = Vec::with_capacity(arguments.len());
                for argument in &arguments {
                    expanded.push(expand_nested(argument.clone(), macros, work, depth + 1)?);
                }
                substitute(definition, &arguments, &expanded, &token, &hidden, work)?
            }
        };
        input.extend(expansion.into_iter().rev());
    }
    Ok(output)
}

/// Takes a parenthesised argument list off the input.
fn arguments<'a>(input: &mut Vec<Token<'a>>, name: &Token<'a>) -> Result<Vec<Vec<Token<'a>>>, ExpandError> {
    input.pop();
    let mut depth = 0u32;
    let mut arguments = vec![Vec::new()];
    while let Some(token) = input.pop() {
        match &*token.text {
            "(" => depth += 1,
            ")" if depth == 0 => return Ok(arguments),
            ")" => depth -= 1,
            "," if depth == 0 => {
                arguments.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = arguments.last_mut() {
            last.push(token);
        }
    }
    Err(error(name, format!("unterminated argument list of macro {}", name.text)))
}

/// The body with parameters replaced and `##` applied; tokens take the place of the macro's name.
fn substitute<'a>(
    definition: &Macro<'a>,
    raw: &[Vec<Token<'a>>],
    expanded: &[Vec<Token<'a>>],
    at: &Token<'a>,
    hidden: &Option<Rc<HideSet>>,
    work: &mut usize,
) -> Result<Vec<Token<'a>>, ExpandError> {
    let parameter = |token: &Token<'_>| -> Option<usize> {
        let parameters = definition.parameters.as_ref()?;
        token.is_ident().then(|| parameters.iter().position(|p| token.is(p))).flatten()
    };
    let body = &definition.body;
    let mut result: Vec<Token<'a>> = Vec::new();
    let mut paste = false;
    for (i, token) in body.iter().enumerate() {
        if token.is("##") {
            paste = true;
            continue;
        }
        let next_pastes = body.get(i + 1).is_some_and(|t| t.is("##"));
        let mut piece: Vec<Token<'a>> = match parameter(token) {
            Some(index) if paste || next_pastes => raw.get(index).cloned().unwrap_or_default(),
            Some(index) => expanded.get(index).cloned().unwrap_or_default(),
            None => vec![token.clone()],
        };
        *work = work.checked_sub(piece.len()).ok_or_else(|| error(at, "macro expansion is too long"))?;
        if let Some(first) = piece.first_mut() {
            first.space_before = token.space_before;
        }
        if paste {
            paste = false;
            if let (Some(left), Some(right)) = (result.last_mut(), piece.first()) {
                let text = format!("{}{}", left.text, right.text);
                let kind = pasted_kind(&text).ok_or_else(|| {
                    error(at, format!("Pasting \"{}\" and \"{}\" does not give a valid token", left.text, right.text))
                })?;
                left.kind = kind;
                left.text = Cow::Owned(text);
                left.hidden = None;
                piece.remove(0);
            }
        }
        result.append(&mut piece);
    }
    if let Some(first) = result.first_mut() {
        first.space_before = at.space_before;
    }
    for token in &mut result {
        token.string = at.string;
        token.line = at.line;
        token.column = at.column;
        // Joining the sets (not intersecting them) may leave a name unexpanded in contrived cases; it never loops.
        token.hidden = match &token.hidden {
            None => hidden.clone(),
            Some(own) => join(own, hidden),
        };
    }
    Ok(result)
}

/// Union of two hide sets.
fn join(own: &Rc<HideSet>, hidden: &Option<Rc<HideSet>>) -> Option<Rc<HideSet>> {
    let mut set = hidden.clone();
    let mut entry = Some(own);
    while let Some(e) = entry {
        let mut known = set.as_ref();
        let mut found = false;
        while let Some(k) = known {
            if k.name == e.name {
                found = true;
                break;
            }
            known = k.next.as_ref();
        }
        if !found {
            set = Some(Rc::new(HideSet { name: e.name.clone(), next: set }));
        }
        entry = e.next.as_ref();
    }
    set
}

fn pasted_kind(text: &str) -> Option<Kind> {
    let tokens = crate::token::tokenize(text).ok()?;
    match &*tokens {
        [token] if token.kind != Kind::Illegal && token.kind != Kind::Newline => Some(token.kind),
        _ => None,
    }
}
