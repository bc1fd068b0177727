//! The GLSL preprocessor: version, extensions, macros and conditionals (GLSL 4.60, section 3.3).

mod expand;
mod expression;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::extensions::{self, EXTENSIONS};
use crate::log::Log;
use crate::options::{CompileOptions, ContextProfile};
use crate::token::{self, Kind, Token, TokenError};
use crate::version::{self, Version};

/// Upper bound of tokens after macro expansion: a nest of macros can otherwise grow without end.
const MAX_TOKENS: usize = 2_000_000;

/// Deepest nesting of conditionals.
const MAX_CONDITIONALS: usize = 1024;

/// What the preprocessor hands to the rewriter.
#[derive(Debug)]
pub(crate) struct Preprocessed<'a> {
    /// Tokens without line ends and directives.
    pub(crate) tokens: Vec<Token<'a>>,
    pub(crate) version: Version,
    /// Enabled extensions, as indices into [`EXTENSIONS`].
    pub(crate) extensions: Vec<usize>,
    /// `#pragma STDGL invariant(all)`.
    pub(crate) all_invariant: bool,
}

/// A user macro.
#[derive(Clone, Debug)]
pub(crate) struct Macro<'a> {
    /// Parameter names; `None` for an object-like macro.
    pub(crate) parameters: Option<Vec<String>>,
    pub(crate) body: Vec<Token<'a>>,
}

/// State of one `#if` group.
struct Conditional {
    /// The current branch is compiled.
    active: bool,
    /// Some branch was compiled already, or the group stands in skipped text.
    done: bool,
    /// `#else` was seen.
    else_seen: bool,
    line: u32,
}

struct Preprocessor<'a, 'o> {
    options: &'o CompileOptions,
    macros: HashMap<String, Macro<'a>>,
    conditionals: Vec<Conditional>,
    version: Option<Version>,
    extensions: Vec<bool>,
    all_invariant: bool,
    pending: Vec<Token<'a>>,
    output: Vec<Token<'a>>,
    /// Something other than white space came before.
    content_seen: bool,
    /// Non-directive tokens came before.
    text_seen: bool,
    string: u32,
    /// Reported line minus physical line.
    line_shift: i64,
    log: &'o mut Log,
}

/// Preprocesses a whole shader. On failure the log holds the reasons.
pub(crate) fn preprocess<'a>(source: &'a str, options: &CompileOptions, log: &mut Log) -> Option<Preprocessed<'a>> {
    let tokens = match token::tokenize(source) {
        Ok(tokens) => tokens,
        Err(TokenError::UnterminatedComment(line)) => {
            log.error(0, line, 1, "preprocessor error: Unterminated comment");
            return None;
        }
    };
    if tokens.len() > MAX_TOKENS {
        log.error(0, 1, 1, "preprocessor error: the shader is too long");
        return None;
    }
    let mut preprocessor = Preprocessor {
        options,
        macros: HashMap::new(),
        conditionals: Vec::new(),
        version: None,
        extensions: vec![false; EXTENSIONS.len()],
        all_invariant: false,
        pending: Vec::new(),
        output: Vec::with_capacity(tokens.len()),
        content_seen: false,
        text_seen: false,
        string: 0,
        line_shift: 0,
        log,
    };
    preprocessor.run(tokens)?;
    let version = preprocessor.version.unwrap_or(Version::DEFAULT);
    let extensions = preprocessor.extensions.iter().enumerate().filter(|(_, on)| **on).map(|(i, _)| i).collect();
    let (tokens, all_invariant) = (preprocessor.output, preprocessor.all_invariant);
    Some(Preprocessed { tokens, version, extensions, all_invariant })
}

impl<'a> Preprocessor<'a, '_> {
    fn run(&mut self, tokens: Vec<Token<'a>>) -> Option<()> {
        let mut line: Vec<Token<'a>> = Vec::new();
        let mut rest = tokens.into_iter();
        loop {
            line.clear();
            let mut at_end = true;
            for mut token in rest.by_ref() {
                if token.kind == Kind::Newline {
                    at_end = false;
                    break;
                }
                token.string = self.string;
                token.line = u32::try_from(i64::from(token.line) + self.line_shift).unwrap_or(0);
                line.push(token);
            }
            if line.first().is_some_and(|t| t.is("#")) {
                self.directive(&line)?;
                self.content_seen = true;
            } else if !line.is_empty() {
                self.content_seen = true;
                if self.active() {
                    self.text_seen = true;
                    if self.version.is_none() {
                        self.set_version(Version::DEFAULT);
                    }
                    self.pending.append(&mut line);
                    if self.pending.len() > MAX_TOKENS {
                        self.log.error(0, 1, 1, "preprocessor error: the shader is too long");
                        return None;
                    }
                }
            }
            if at_end {
                break;
            }
        }
        self.flush()?;
        if let Some(open) = self.conditionals.last() {
            self.log.error(self.string, open.line, 1, "preprocessor error: Unterminated #if");
            return None;
        }
        if self.version.is_none() {
            self.set_version(Version::DEFAULT);
        }
        (!self.log.failed()).then_some(())
    }

    fn active(&self) -> bool {
        self.conditionals.last().is_none_or(|c| c.active)
    }

    /// Expands the text gathered since the last directive.
    fn flush(&mut self) -> Option<()> {
        if self.pending.is_empty() {
            return Some(());
        }
        let pending = std::mem::take(&mut self.pending);
        let budget = MAX_TOKENS.saturating_sub(self.output.len());
        match expand::expand(pending, &self.macros, budget) {
            Ok(mut tokens) => {
                self.output.append(&mut tokens);
                Some(())
            }
            Err(error) => {
                self.log.error(error.string, error.line, error.column, &error.message);
                None
            }
        }
    }

    fn error_at(&mut self, token: &Token<'_>, message: &str) {
        self.log.error(token.string, token.line, token.column, &format!("preprocessor error: {message}"));
    }

    fn directive(&mut self, line: &[Token<'a>]) -> Option<()> {
        let hash = &line[0];
        let Some(name) = line.get(1) else { return Some(()) };
        let rest = &line[2..];
        match &*name.text {
            "if" | "ifdef" | "ifndef" => return self.open(name, rest),
            "elif" => return self.elif(name, rest),
            "else" => {
                self.flush()?;
                match self.conditionals.last_mut() {
                    None => self.error_at(hash, "#else without #if"),
                    Some(group) if group.else_seen => self.error_at(hash, "multiple #else"),
                    Some(group) => {
                        group.else_seen = true;
                        group.active = !group.done;
                        group.done = true;
                    }
                }
                return Some(());
            }
            "endif" => {
                self.flush()?;
                if self.conditionals.pop().is_none() {
                    self.error_at(hash, "#endif without #if");
                }
                return Some(());
            }
            _ => {}
        }
        if !self.active() {
            return Some(());
        }
        self.flush()?;
        if self.version.is_none() && !name.is("version") {
            self.set_version(Version::DEFAULT);
        }
        match &*name.text {
            "version" => self.version_directive(name, rest)?,
            "extension" => self.extension_directive(name, rest),
            "define" => self.define(name, rest),
            "undef" => match rest {
                [macro_name] if macro_name.is_ident() => {
                    if reserved(&macro_name.text) {
                        self.error_at(macro_name, "Built-in (pre-defined) macro names cannot be undefined.");
                    } else {
                        self.macros.remove(&*macro_name.text);
                    }
                }
                _ => self.error_at(name, "#undef needs one name"),
            },
            "error" => {
                let text = join(rest);
                self.error_at(name, &format!("#error {text}"));
                return None;
            }
            "pragma" => self.pragma(rest),
            "line" => self.line_directive(name, rest)?,
            other => {
                let message = format!("Invalid directive #{other}");
                self.error_at(name, &message);
            }
        }
        Some(())
    }

    fn open(&mut self, name: &Token<'a>, rest: &[Token<'a>]) -> Option<()> {
        self.flush()?;
        if self.conditionals.len() >= MAX_CONDITIONALS {
            self.error_at(name, "conditionals are nested too deeply");
            return None;
        }
        if !self.active() {
            self.conditionals.push(Conditional { active: false, done: true, else_seen: false, line: name.line });
            return Some(());
        }
        if self.version.is_none() {
            self.set_version(Version::DEFAULT);
        }
        let value = if name.is("if") {
            self.evaluate(name, rest)?
        } else {
            match rest {
                [macro_name, ..] if macro_name.is_ident() => {
                    if rest.len() > 1 {
                        self.log.warning(
                            name.string,
                            name.line,
                            name.column,
                            &format!("extra tokens at end of #{}", name.text),
                        );
                    }
                    self.is_defined(&macro_name.text) == name.is("ifdef")
                }
                _ => {
                    self.error_at(name, &format!("#{} needs a name", name.text));
                    return None;
                }
            }
        };
        self.conditionals.push(Conditional { active: value, done: value, else_seen: false, line: name.line });
        Some(())
    }

    fn elif(&mut self, name: &Token<'a>, rest: &[Token<'a>]) -> Option<()> {
        self.flush()?;
        match self.conditionals.last() {
            None => {
                self.error_at(name, "#elif without #if");
                return None;
            }
            Some(group) if group.else_seen => {
                self.error_at(name, "#elif after #else");
                return None;
            }
            Some(group) if group.done => {
                if let Some(group) = self.conditionals.last_mut() {
                    group.active = false;
                }
                return Some(());
            }
            Some(_) => {}
        }
        let value = self.evaluate(name, rest)?;
        if let Some(group) = self.conditionals.last_mut() {
            group.active = value;
            group.done = value;
        }
        Some(())
    }

    fn evaluate(&mut self, name: &Token<'a>, rest: &[Token<'a>]) -> Option<bool> {
        if rest.is_empty() {
            self.error_at(name, &format!("#{} with no expression", name.text));
            return None;
        }
        match expression::evaluate(rest, &self.macros, &|m| self.is_defined(m)) {
            Ok(value) => Some(value != 0),
            Err(message) => {
                self.error_at(name, &message);
                None
            }
        }
    }

    fn is_defined(&self, name: &str) -> bool {
        matches!(name, "__LINE__" | "__FILE__") || self.macros.contains_key(name)
    }

    fn version_directive(&mut self, name: &Token<'a>, rest: &[Token<'a>]) -> Option<()> {
        if self.version.is_some() || self.content_seen {
            self.error_at(name, "#version must appear on the first line");
            return None;
        }
        let number = rest.first().filter(|t| t.kind == Kind::Number).and_then(|t| t.text.parse::<u32>().ok());
        let profile = match rest {
            [_] => None,
            [_, profile] => Some(profile.text.to_string()),
            _ => {
                self.error_at(name, "malformed #version");
                return None;
            }
        };
        let Some(number) = number else {
            self.error_at(name, "malformed #version");
            return None;
        };
        match version::check(number, profile.as_deref(), self.options) {
            Ok(version) => {
                self.set_version(version);
                Some(())
            }
            Err(message) => {
                self.log.error(name.string, name.line, name.column, &message);
                None
            }
        }
    }

    /// Fixes the version and defines what depends on it.
    fn set_version(&mut self, version: Version) {
        self.version = Some(version);
        let mut object = |name: &str, text: String| {
            let token = Token {
                kind: Kind::Number,
                text: Cow::Owned(text),
                string: 0,
                line: 0,
                column: 0,
                space_before: true,
                hidden: None,
            };
            self.macros.insert(name.to_owned(), Macro { parameters: None, body: vec![token] });
        };
        object("__VERSION__", version.number.to_string());
        if version.es {
            object("GL_ES", "1".into());
        }
        if version.es || version.number >= 130 {
            object("GL_FRAGMENT_PRECISION_HIGH", "1".into());
        }
        if !version.es && version.number >= 150 {
            let compatibility = version.compatibility || self.options.profile == ContextProfile::Compatibility;
            object("GL_core_profile", "1".into());
            if compatibility {
                object("GL_compatibility_profile", "1".into());
            }
        }
        for (index, extension) in EXTENSIONS.iter().enumerate() {
            if self.options.extensions.contains(index) && !version.es {
                object(extension.name, "1".into());
            }
        }
    }

    fn extension_directive(&mut self, name: &Token<'a>, rest: &[Token<'a>]) {
        let [extension, colon, behaviour] = rest else {
            self.error_at(name, "malformed #extension");
            return;
        };
        if !extension.is_ident() || !colon.is(":") {
            self.error_at(name, "malformed #extension");
            return;
        }
        let on = match &*behaviour.text {
            "require" | "enable" | "warn" => true,
            "disable" => false,
            other => {
                let message = format!("unknown extension behavior `{other}'");
                self.log.error(name.string, name.line, behaviour.column, &message);
                return;
            }
        };
        if extension.is("all") {
            if matches!(&*behaviour.text, "require" | "enable") {
                let message = format!("cannot {} all extensions", behaviour.text);
                self.log.error(name.string, name.line, extension.column, &message);
            } else if behaviour.is("disable") {
                self.extensions.fill(false);
            }
            return;
        }
        match extensions::find(&extension.text).filter(|index| self.options.extensions.contains(*index)) {
            Some(index) => self.extensions[index] = on,
            None => {
                let message = format!("extension `{}' unsupported", extension.text);
                if behaviour.is("require") {
                    self.log.error(name.string, name.line, extension.column, &message);
                } else {
                    self.log.warning(name.string, name.line, extension.column, &message);
                }
            }
        }
    }

    fn define(&mut self, name: &Token<'a>, rest: &[Token<'a>]) {
        let Some(macro_name) = rest.first().filter(|t| t.is_ident()) else {
            self.error_at(name, "#define needs a name");
            return;
        };
        if reserved(&macro_name.text) {
            self.error_at(macro_name, &format!("Redefinition or use of the reserved name {}", macro_name.text));
            return;
        }
        if macro_name.text.contains("__") {
            let message = "macro names with two consecutive underscores are reserved";
            self.log.warning(macro_name.string, macro_name.line, macro_name.column, message);
        }
        let mut body = &rest[1..];
        let mut parameters = None;
        if body.first().is_some_and(|t| t.is("(") && !t.space_before) {
            let Some((list, length)) = parameter_list(body) else {
                self.error_at(macro_name, "malformed macro parameter list");
                return;
            };
            let mut sorted = list.clone();
            sorted.sort_unstable();
            if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                self.error_at(macro_name, "Duplicate macro parameter");
                return;
            }
            body = &body[length..];
            parameters = Some(list);
        } else if body.first().is_some_and(|t| !t.space_before) {
            self.log.warning(macro_name.string, macro_name.line, macro_name.column, "no white space after macro name");
        }
        if body.first().is_some_and(|t| t.is("##")) || body.last().is_some_and(|t| t.is("##")) {
            self.error_at(macro_name, "'##' cannot appear at either end of a macro expansion");
            return;
        }
        if body.iter().any(|t| t.is("#")) {
            self.error_at(macro_name, "syntax error, unexpected '#'");
            return;
        }
        let new = Macro { parameters, body: body.to_vec() };
        if let Some(old) = self.macros.get(&*macro_name.text) {
            if !same_macro(old, &new) {
                self.error_at(macro_name, &format!("Redefinition of macro {}", macro_name.text));
                return;
            }
        }
        self.macros.insert(macro_name.text.to_string(), new);
    }

    fn pragma(&mut self, rest: &[Token<'a>]) {
        let words: Vec<&str> = rest.iter().map(|t| &*t.text).collect();
        if words == ["STDGL", "invariant", "(", "all", ")"] {
            self.all_invariant = true;
        }
    }

    fn line_directive(&mut self, name: &Token<'a>, rest: &[Token<'a>]) -> Option<()> {
        let budget = 1024;
        let expanded = expand::expand(rest.to_vec(), &self.macros, budget).unwrap_or_default();
        let physical = i64::from(name.line) - self.line_shift;
        // The line may be a constant expression; two expressions side by side are told apart by taking the first token
        // as the line when it stands alone.
        let (line, string) = match &*expanded {
            [line, string] => (expression::integer(&line.text), expression::integer(&string.text)),
            [] => (None, None),
            all => (expression::evaluate(all, &self.macros, &|_| false).ok(), Some(i64::from(self.string))),
        };
        match (line, string.and_then(|s| u32::try_from(s).ok())) {
            (Some(line), Some(string)) if (0..=i64::from(i32::MAX)).contains(&line) => {
                let version = self.version.unwrap_or(Version::DEFAULT);
                // Before 3.30 the line after the directive has number `line + 1`.
                let next = if version.number >= 330 || version.es { line } else { line + 1 };
                self.line_shift = next - (physical + 1);
                self.string = string;
                Some(())
            }
            _ => {
                self.error_at(name, "malformed #line");
                None
            }
        }
    }
}

/// Names that only the implementation may define.
fn reserved(name: &str) -> bool {
    name.starts_with("GL_") || matches!(name, "__LINE__" | "__FILE__" | "__VERSION__" | "defined")
}

/// The parameters of `(a, b)` and how many tokens the list takes.
fn parameter_list(tokens: &[Token<'_>]) -> Option<(Vec<String>, usize)> {
    let mut list = Vec::new();
    let mut at = 1;
    if tokens.get(at)?.is(")") {
        return Some((list, 2));
    }
    loop {
        let parameter = tokens.get(at).filter(|t| t.is_ident())?;
        list.push(parameter.text.to_string());
        match &*tokens.get(at + 1)?.text {
            "," => at += 2,
            ")" => return Some((list, at + 2)),
            _ => return None,
        }
    }
}

fn same_macro(a: &Macro<'_>, b: &Macro<'_>) -> bool {
    a.parameters == b.parameters
        && a.body.len() == b.body.len()
        && a.body
            .iter()
            .zip(&b.body)
            .enumerate()
            .all(|(i, (x, y))| x.text == y.text && (i == 0 || x.space_before == y.space_before))
}

fn join(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    for token in tokens {
        if token.space_before && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(source: &str) -> Result<String, String> {
        let mut log = Log::default();
        let result = preprocess(source, &CompileOptions::default(), &mut log);
        match result {
            Some(p) => Ok(join(&p.tokens)),
            None => Err(log.into_text()),
        }
    }

    #[test]
    fn macros() {
        assert_eq!(run("#define A 1 + B\n#define B A\nA"), Ok("1 + A".into()));
        assert_eq!(run("#define F(x,y) x##y x\nF(a, b) F"), Ok("ab a F".into()));
        assert_eq!(run("#define F(x) [x]\n#define G F\nG\n(1 +\n(2))"), Ok("[1 +(2)]".into()));
        assert!(run("#define F(x) [x]\nF(1,2)").unwrap_err().contains("invoked with 2 arguments"));
        assert!(run("#define F(x) [x]\nF(1").unwrap_err().contains("unterminated"));
        assert_eq!(run("#define E()  e\nE() E ( )"), Ok("e e".into()));
        assert_eq!(run("__LINE__\n#line 9\n__LINE__ __VERSION__"), Ok("110 110".into()));
    }

    #[test]
    fn conditionals() {
        assert_eq!(run("#if 1\na\n#else\nb\n#endif"), Ok("a".into()));
        assert_eq!(run("#if 0\na\n#elif defined(X) || !defined Y\nb\n#else\nc\n#endif"), Ok("b".into()));
        assert_eq!(run("#if 0\n#if junk (\n#else\n#endif\n#bad\nx\n#endif\ny"), Ok("y".into()));
        assert_eq!(run("#if (1 << 3) == 8 && 7 / 2 == 3 && -5 % 3 == -2 && ~0 == -1\ny\n#endif"), Ok("y".into()));
        assert!(run("#if 1").is_err());
        assert!(run("#endif").is_err());
        assert!(run("#if 1/0\n#endif").is_err());
    }

    #[test]
    fn errors_carry_the_line() {
        assert_eq!(run("\n\n#error  oh no"), Err("0:3(2): error: preprocessor error: #error oh no\n".into()));
        assert!(run("\nx\n#version 330").is_err());
        assert!(run("#version 330\n#define GL_x 1").is_err());
        assert!(run("#extension GL_foo_bar : require").is_err());
        assert!(run("#extension GL_foo_bar : enable\nx").is_ok());
    }

    #[test]
    fn growth_is_bounded() {
        let mut source = String::from("#define A0 x x x x x x x x x x\n");
        for i in 1..12 {
            source.push_str(&format!("#define A{i} A{0} A{0} A{0} A{0} A{0} A{0} A{0} A{0} A{0} A{0}\n", i - 1));
        }
        source.push_str("A11");
        assert!(run(&source).is_err());
    }
}
