//! Finds the declarations at global scope in a token list, without understanding expressions.

use crate::token::{Kind, Token};

/// One `name` or `name = value` of a layout qualifier; the value is a token range.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayoutId {
    pub(crate) name: String,
    pub(crate) at: usize,
    pub(crate) value: Option<(usize, usize)>,
}

/// Storage class of a declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Storage {
    #[default]
    None,
    Const,
    In,
    Out,
    InOut,
    Attribute,
    Varying,
    Uniform,
    Buffer,
    Shared,
}

/// Qualifiers in front of a declaration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Qualifiers {
    pub(crate) storage: Storage,
    pub(crate) storage_at: usize,
    pub(crate) layout: Vec<LayoutId>,
    /// Token ranges of the whole `layout(...)` groups.
    pub(crate) layout_ranges: Vec<(usize, usize)>,
    pub(crate) invariant_at: Option<usize>,
    pub(crate) centroid: bool,
    pub(crate) sample: bool,
    pub(crate) patch: bool,
    pub(crate) precise: bool,
    pub(crate) flat: bool,
    /// Position of `subroutine` and the end of its parenthesised list, when there is one.
    pub(crate) subroutine: Option<(usize, usize)>,
}

impl Qualifiers {
    pub(crate) fn layout_id(&self, name: &str) -> Option<&LayoutId> {
        self.layout.iter().rev().find(|id| id.name == name)
    }
}

/// One declared name with its array brackets and initialiser, as token ranges.
#[derive(Clone, Debug)]
pub(crate) struct Declarator {
    pub(crate) name_at: usize,
    pub(crate) array: (usize, usize),
    pub(crate) init: Option<(usize, usize)>,
}

/// What was declared.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// `layout(…) in;` and the like.
    QualifierOnly,
    /// `invariant a, b;` or `precise a;`: the names.
    Requalify(Vec<usize>),
    /// An interface block; `members` is the range between the braces.
    Block { name_at: usize, members: (usize, usize), instance: Option<Declarator> },
    /// Variables; `type_range` covers the type with its array brackets (for a struct its whole definition).
    Variables { type_range: (usize, usize), structure: Option<Structure>, declarators: Vec<Declarator> },
    /// A function; `body` is the position of its braces.
    Function { name_at: usize, parameters: (usize, usize), body: Option<(usize, usize)> },
    /// `precision …;` or something that is left to the compiler.
    Other,
}

/// Values of constants by name.
pub(crate) type Constants = std::collections::HashMap<String, i64>;

/// A struct definition; `members` is the range between the braces.
#[derive(Clone, Debug)]
pub(crate) struct Structure {
    pub(crate) name_at: Option<usize>,
    pub(crate) members: (usize, usize),
}

/// A declaration at global scope; `end` is one past its last token.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) qualifiers: Qualifiers,
    pub(crate) what: What,
}

/// For every bracket the position of its partner; for other tokens their own position.
pub(crate) fn match_brackets(tokens: &[Token<'_>], max_depth: usize) -> Result<Vec<usize>, (usize, String)> {
    let mut partner: Vec<usize> = (0..tokens.len()).collect();
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Punct {
            continue;
        }
        match &*token.text {
            "(" | "[" | "{" => {
                if open.len() >= max_depth {
                    return Err((at, "nested too deeply".into()));
                }
                open.push(at);
            }
            ")" | "]" | "}" => {
                let wanted = match &*token.text {
                    ")" => "(",
                    "]" => "[",
                    _ => "{",
                };
                match open.pop() {
                    Some(start) if tokens[start].is(wanted) => {
                        partner[start] = at;
                        partner[at] = start;
                    }
                    _ => return Err((at, format!("syntax error, unexpected '{}'", token.text))),
                }
            }
            _ => {}
        }
    }
    match open.last() {
        None => Ok(partner),
        Some(at) => Err((*at, "syntax error, unexpected end of file".into())),
    }
}

/// Parser over one token list.
pub(crate) struct Scanner<'t, 'a> {
    pub(crate) tokens: &'t [Token<'a>],
    pub(crate) partner: &'t [usize],
}

impl Scanner<'_, '_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|t| t.is(text))
    }

    fn is_ident(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_ident)
    }

    /// All declarations at global scope.
    pub(crate) fn declarations(&self) -> Vec<Declaration> {
        let mut list = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            if self.is(at, ";") {
                at += 1;
                continue;
            }
            let declaration = self.declaration(at);
            at = declaration.end.max(at + 1);
            list.push(declaration);
        }
        list
    }

    /// The members of a struct or block, as declarations.
    pub(crate) fn members(&self, range: (usize, usize)) -> Vec<Declaration> {
        let inner = Scanner { tokens: &self.tokens[..range.1], partner: self.partner };
        let mut list = Vec::new();
        let mut at = range.0;
        while at < range.1 {
            if inner.is(at, ";") {
                at += 1;
                continue;
            }
            let declaration = inner.declaration(at);
            at = declaration.end.max(at + 1);
            list.push(declaration);
        }
        list
    }

    fn declaration(&self, start: usize) -> Declaration {
        let (qualifiers, mut at) = self.qualifiers(start);
        let other = |end: usize| Declaration { start, end, qualifiers: Qualifiers::default(), what: What::Other };
        if self.is(at, "precision") {
            return other(self.statement_end(at));
        }
        if self.is(at, ";") {
            return Declaration { start, end: at + 1, qualifiers, what: What::QualifierOnly };
        }
        if self.is(at, "struct") {
            let name_at = self.is_ident(at + 1).then_some(at + 1);
            let brace = if name_at.is_some() { at + 2 } else { at + 1 };
            if !self.is(brace, "{") {
                return other(self.statement_end(at));
            }
            let close = self.partner[brace];
            let structure = Some(Structure { name_at, members: (brace + 1, close) });
            let type_start = at;
            at = self.brackets(close + 1).1;
            let (declarators, end) = self.declarators(at);
            return Declaration {
                start,
                end,
                qualifiers,
                what: What::Variables { type_range: (type_start, at), structure, declarators },
            };
        }
        if !self.is_ident(at) {
            return other(self.statement_end(at));
        }
        let interface = matches!(
            qualifiers.storage,
            Storage::In | Storage::Out | Storage::InOut | Storage::Uniform | Storage::Buffer
        );
        if interface && self.is(at + 1, "{") {
            let close = self.partner[at + 1];
            let (declarators, end) = self.declarators(close + 1);
            return Declaration {
                start,
                end,
                qualifiers,
                what: What::Block { name_at: at, members: (at + 2, close), instance: declarators.into_iter().next() },
            };
        }
        // `invariant name;` has no type.
        if (qualifiers.invariant_at.is_some() || qualifiers.precise)
            && qualifiers.storage == Storage::None
            && (self.is(at + 1, ";") || self.is(at + 1, ","))
        {
            let end = self.statement_end(at);
            let names = (at..end).filter(|i| self.is_ident(*i)).collect();
            return Declaration { start, end, qualifiers, what: What::Requalify(names) };
        }
        let type_start = at;
        at = self.brackets(at + 1).1;
        if self.is_ident(at) && self.is(at + 1, "(") {
            let close = self.partner[at + 1];
            let (body, end) = if self.is(close + 1, "{") {
                (Some((close + 1, self.partner[close + 1])), self.partner[close + 1] + 1)
            } else {
                (None, self.statement_end(close))
            };
            return Declaration {
                start,
                end,
                qualifiers,
                what: What::Function { name_at: at, parameters: (at + 2, close), body },
            };
        }
        let (declarators, end) = self.declarators(at);
        Declaration {
            start,
            end,
            qualifiers,
            what: What::Variables { type_range: (type_start, at), structure: None, declarators },
        }
    }

    /// One past the `;` that ends the statement, or past a braced group.
    fn statement_end(&self, mut at: usize) -> usize {
        while at < self.tokens.len() {
            match &*self.tokens[at].text {
                ";" => return at + 1,
                "{" => return self.partner[at].max(at) + 1,
                "(" | "[" => at = self.partner[at].max(at) + 1,
                _ => at += 1,
            }
        }
        self.tokens.len()
    }

    /// The array brackets that start at `at`, as a range.
    fn brackets(&self, at: usize) -> (usize, usize) {
        let mut end = at;
        while self.is(end, "[") {
            end = self.partner[end].max(end) + 1;
        }
        (at, end)
    }

    fn declarators(&self, mut at: usize) -> (Vec<Declarator>, usize) {
        let mut list = Vec::new();
        while self.is_ident(at) {
            let name_at = at;
            let array = self.brackets(at + 1);
            at = array.1;
            let mut init = None;
            if self.is(at, "=") {
                let start = at + 1;
                at = start;
                while at < self.tokens.len() && !self.is(at, ",") && !self.is(at, ";") {
                    at = self.partner[at].max(at) + 1;
                }
                init = Some((start, at.min(self.tokens.len())));
            }
            list.push(Declarator { name_at, array, init });
            if !self.is(at, ",") {
                break;
            }
            at += 1;
        }
        (list, self.statement_end(at))
    }

    fn qualifiers(&self, mut at: usize) -> (Qualifiers, usize) {
        let mut q = Qualifiers::default();
        while let Some(token) = self.tokens.get(at).filter(|t| t.is_ident()) {
            let mut storage = None;
            match &*token.text {
                "layout" if self.is(at + 1, "(") => {
                    let close = self.partner[at + 1];
                    self.layout(at + 2, close, &mut q.layout);
                    q.layout_ranges.push((at, close + 1));
                    at = close + 1;
                    continue;
                }
                "subroutine" => {
                    let end = if self.is(at + 1, "(") { self.partner[at + 1] + 1 } else { at + 1 };
                    q.subroutine = Some((at, end));
                    at = end;
                    continue;
                }
                "const" => storage = Some(Storage::Const),
                "in" => storage = Some(Storage::In),
                "out" => storage = Some(Storage::Out),
                "inout" => storage = Some(Storage::InOut),
                "attribute" => storage = Some(Storage::Attribute),
                "varying" => storage = Some(Storage::Varying),
                "uniform" => storage = Some(Storage::Uniform),
                "buffer" => storage = Some(Storage::Buffer),
                "shared" => storage = Some(Storage::Shared),
                "invariant" => q.invariant_at = Some(at),
                "centroid" => q.centroid = true,
                "sample" => q.sample = true,
                "patch" => q.patch = true,
                "precise" => q.precise = true,
                "flat" => q.flat = true,
                "smooth" | "noperspective" | "highp" | "mediump" | "lowp" | "coherent" | "volatile" | "restrict"
                | "readonly" | "writeonly" => {}
                _ => break,
            }
            // Words such as `sample` or `buffer` are plain names in old versions: `vec4 sample;`, `sample = …`.
            let next_is_name = self.tokens.get(at + 1).is_some_and(|t| t.is_ident() || t.is("{") || t.is(";"));
            if !next_is_name {
                break;
            }
            if let Some(storage) = storage {
                q.storage = storage;
                q.storage_at = at;
            }
            at += 1;
        }
        (q, at)
    }

    fn layout(&self, mut at: usize, close: usize, list: &mut Vec<LayoutId>) {
        while at < close {
            let start = at;
            let mut end = at;
            while end < close && !self.is(end, ",") {
                end = self.partner[end].max(end) + 1;
            }
            if self.is_ident(start) {
                let value = (self.is(start + 1, "=") && end > start + 2).then_some((start + 2, end));
                list.push(LayoutId { name: self.tokens[start].text.to_string(), at: start, value });
            }
            at = end + 1;
        }
    }

    /// Values of the global `const int` and `const uint` variables that are simple enough.
    pub(crate) fn constants(&self, declarations: &[Declaration]) -> Constants {
        let mut constants = Constants::new();
        for declaration in declarations.iter().filter(|d| d.qualifiers.storage == Storage::Const) {
            let What::Variables { type_range, declarators, .. } = &declaration.what else { continue };
            if !matches!(&*self.tokens[type_range.0].text, "int" | "uint") {
                continue;
            }
            for declarator in declarators {
                if let Some(value) = declarator.init.and_then(|init| self.value(init, &constants)) {
                    constants.insert(self.tokens[declarator.name_at].text.to_string(), value);
                }
            }
        }
        constants
    }

    /// Value of an integer constant expression made of literals, known constants, `+ - * /` and parentheses.
    pub(crate) fn value(&self, range: (usize, usize), constants: &Constants) -> Option<i64> {
        let mut at = range.0;
        let value = self.sum(&mut at, range.1, 0, constants)?;
        (at == range.1).then_some(value)
    }

    fn sum(&self, at: &mut usize, end: usize, depth: u32, constants: &Constants) -> Option<i64> {
        let mut value = self.product(at, end, depth, constants)?;
        while *at < end && (self.is(*at, "+") || self.is(*at, "-")) {
            let minus = self.is(*at, "-");
            *at += 1;
            let right = self.product(at, end, depth, constants)?;
            value = if minus { value.checked_sub(right)? } else { value.checked_add(right)? };
        }
        Some(value)
    }

    fn product(&self, at: &mut usize, end: usize, depth: u32, constants: &Constants) -> Option<i64> {
        let mut value = self.factor(at, end, depth, constants)?;
        while *at < end && (self.is(*at, "*") || self.is(*at, "/")) {
            let times = self.is(*at, "*");
            *at += 1;
            let right = self.factor(at, end, depth, constants)?;
            value = if times { value.checked_mul(right)? } else { value.checked_div(right)? };
        }
        Some(value)
    }

    fn factor(&self, at: &mut usize, end: usize, depth: u32, constants: &Constants) -> Option<i64> {
        let token = self.tokens.get(*at).filter(|_| *at < end && depth < 32)?;
        *at += 1;
        if token.is("(") {
            let value = self.sum(at, end, depth + 1, constants)?;
            *at += 1;
            return self.is(*at - 1, ")").then_some(value);
        }
        if token.is("-") {
            return self.factor(at, end, depth + 1, constants)?.checked_neg();
        }
        if token.is_ident() {
            return constants.get(&*token.text).copied();
        }
        if token.kind != Kind::Number {
            return None;
        }
        let text = token.text.trim_end_matches(['u', 'U']);
        match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None if text.len() > 1 && text.starts_with('0') => i64::from_str_radix(text, 8).ok(),
            None => text.parse().ok(),
        }
    }
}
