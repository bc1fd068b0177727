//! Rewrites a preprocessed shader of any GLSL version into the normal form that glslang gets: `#version 460 core` in the
//! Vulkan dialect, with declarations for what that dialect lacks, and the original line numbers.
//!
//! The rewriter works on tokens. It understands declarations at global scope and leaves expressions alone, except for
//! names whose meaning depends on the version.

mod checks;
pub(crate) mod declarations;
mod emit;
mod legacy;
pub(crate) mod members;
mod names;
pub(crate) mod varyings;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use mgpipe_types::reflection::{Stage, FRAMEBUFFER_HEIGHT_UNIFORM};

use crate::extensions::{self, EXTENSIONS};
use crate::log::Log;
use crate::options::CompileOptions;
use crate::preprocess::Preprocessed;
use crate::token::{Kind, Token};
use declarations::{Declaration, Scanner, Storage, What};
use emit::Emitter;

/// Deepest nesting of brackets: glslang recurses on them.
const MAX_DEPTH: usize = 256;

/// Most operators in one statement: a chain of them is a tree of that depth.
const MAX_OPERATORS: usize = 16_384;

/// Most leaves of a struct: glslang walks all of them for many checks.
const MAX_LEAVES: u64 = 1 << 16;

/// Prefix of names that stand in for words which are keywords in the normal form.
const RENAME: &str = "mgl_kw_";

/// Stand-ins for the removed fragment outputs: glslang has rules of its own for the real names.
pub(crate) const FRAGMENT_COLOR: &str = "mgl_FragColor0";
pub(crate) const FRAGMENT_DATA: &str = "mgl_FragData";

/// A uniform with an initialiser.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Initialiser {
    pub(crate) name: String,
    /// Name of the local variable in [`SourceFacts::initialiser_text`] that holds the value.
    pub(crate) local: String,
}

/// What the tokens say and the SPIR-V does not.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceFacts {
    /// Explicit locations of loose and opaque uniforms.
    pub(crate) uniform_locations: Vec<(String, u32)>,
    /// Explicit locations and indices of vertex inputs or fragment outputs.
    pub(crate) io_locations: Vec<(String, Option<u32>, Option<u32>)>,
    /// Explicit bindings of samplers, images (by variable name) and blocks (by block name).
    pub(crate) bindings: Vec<(String, u32)>,
    /// Boolean members: (struct or block name, member name); loose uniforms have an empty first part.
    pub(crate) bools: HashSet<(String, String)>,
    pub(crate) initialisers: Vec<Initialiser>,
    /// A vertex shader in the normal form whose locals hold the initial values; empty without initialisers.
    pub(crate) initialiser_text: String,
    /// Arrays that stand for samplers inside arrays of structs: the name, and what the application calls it.
    pub(crate) sampler_members: Vec<(String, Vec<members::Part>)>,
    pub(crate) origin_upper_left: bool,
    /// Layout of a redeclared `gl_FragCoord`: upper left, integer centres.
    pub(crate) frag_coord: Option<(bool, bool)>,
    /// The shader reads `gl_FragCoord`.
    pub(crate) uses_frag_coord: bool,
    pub(crate) broadcasts_color: bool,
    /// Variables between the stages.
    pub(crate) varyings: Vec<varyings::Varying>,
    /// Input primitive that a geometry shader declares.
    pub(crate) geometry_input: Option<&'static str>,
    /// The shader mentions `gl_ClipDistance`, and `gl_ClipVertex`.
    pub(crate) clips: (bool, bool),
    /// The version the shader was written in.
    pub(crate) version: u16,
}

/// The result of [`rewrite`].
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    pub(crate) facts: SourceFacts,
}

/// Gives a name of the normal form back its spelling in the application's source.
pub(crate) fn original_name(name: &str) -> Cow<'_, str> {
    if name.contains("mgl_") {
        let name = name.replace(RENAME, "").replace(FRAGMENT_COLOR, "gl_FragColor");
        Cow::Owned(name.replace(FRAGMENT_DATA, "gl_FragData"))
    } else {
        Cow::Borrowed(name)
    }
}

struct Rewriter<'t, 'a, 'o> {
    stage: Stage,
    options: &'o CompileOptions,
    input: &'t Preprocessed<'a>,
    scanner: Scanner<'t, 'a>,
    declarations: Vec<Declaration>,
    constants: declarations::Constants,
    replace: Vec<Option<Cow<'static, str>>>,
    after: HashMap<usize, String>,
    used: Vec<String>,
    needs_noise: bool,
    facts: SourceFacts,
}

/// Rewrites; on failure the log holds the reasons.
pub(crate) fn rewrite(
    stage: Stage,
    input: &Preprocessed<'_>,
    options: &CompileOptions,
    log: &mut Log,
) -> Option<Rewritten> {
    let tokens = &input.tokens;
    if let Some(token) = tokens.iter().find(|t| t.kind == Kind::Illegal) {
        let shown: String = token.text.chars().flat_map(char::escape_default).collect();
        log.error(token.string, token.line, token.column, &format!("illegal character '{shown}'"));
        return None;
    }
    if let Some(token) = tokens.iter().find(|t| t.is("#") || t.is("##")) {
        log.error(token.string, token.line, token.column, "syntax error, unexpected '#'");
        return None;
    }
    let partner = match declarations::match_brackets(tokens, MAX_DEPTH) {
        Ok(partner) => partner,
        Err((at, message)) => {
            let token = &tokens[at];
            log.error(token.string, token.line, token.column, &message);
            return None;
        }
    };
    check_operators(tokens, log)?;
    let scanner = Scanner { tokens, partner: &partner };
    let declarations = scanner.declarations();
    let constants = scanner.constants(&declarations);
    let mut rewriter = Rewriter {
        stage,
        options,
        input,
        scanner,
        declarations,
        constants,
        replace: vec![None; tokens.len()],
        after: HashMap::new(),
        used: Vec::new(),
        needs_noise: false,
        facts: SourceFacts { version: input.version.number, ..SourceFacts::default() },
    };
    rewriter.check_declarations(log)?;
    rewriter.varyings();
    rewriter.names(log)?;
    rewriter.version_checks(log)?;
    rewriter.declaration_edits(log)?;
    rewriter.aliased_inputs();
    rewriter.sampler_members();
    rewriter.finish(log)
}

fn check_operators(tokens: &[Token<'_>], log: &mut Log) -> Option<()> {
    let mut count = 0;
    for token in tokens {
        if token.kind != Kind::Punct {
            continue;
        }
        match &*token.text {
            ";" | "{" | "}" => count = 0,
            "(" | ")" | "]" | "," => {}
            _ => {
                count += 1;
                if count > MAX_OPERATORS {
                    log.error(token.string, token.line, token.column, "the statement is too complex");
                    return None;
                }
            }
        }
    }
    Some(())
}

impl Rewriter<'_, '_, '_> {
    fn text(&self, at: usize) -> &str {
        self.input.tokens.get(at).map_or("", |t| &t.text)
    }

    /// Value of a constant expression that is simple enough.
    fn integer(&self, range: (usize, usize)) -> Option<u32> {
        self.scanner.value(range, &self.constants).and_then(|v| u32::try_from(v).ok())
    }

    /// Number of elements that array brackets declare, as far as it can be told.
    fn elements(&self, brackets: (usize, usize)) -> u64 {
        let mut total = 1u64;
        let mut at = brackets.0;
        while at < brackets.1 {
            let close = self.scanner.partner[at];
            total = total.saturating_mul(self.integer((at + 1, close)).map_or(1, u64::from));
            at = close.max(at) + 1;
        }
        total
    }

    fn error(&self, log: &mut Log, at: usize, message: &str) {
        match self.input.tokens.get(at) {
            Some(t) => log.error(t.string, t.line, t.column, message),
            None => log.error(0, 1, 1, message),
        }
    }

    /// Refuses what would make glslang misbehave, and names that are reserved.
    fn check_declarations(&self, log: &mut Log) -> Option<()> {
        let mut leaves: HashMap<&str, u64> = HashMap::new();
        let mut functions: HashSet<&str> = HashSet::new();
        let mut names: Vec<usize> = Vec::new();
        for declaration in &self.declarations {
            match &declaration.what {
                What::Function { name_at, .. } => {
                    functions.insert(self.text(*name_at));
                    names.push(*name_at);
                }
                What::Variables { structure, declarators, .. } => {
                    names.extend(declarators.iter().map(|d| d.name_at));
                    // glslang gives every element of such an array a variable of its own when it holds samplers.
                    let most = u64::from(
                        self.options.limits.max_uniform_components.max(self.options.limits.max_uniform_locations),
                    );
                    let interface = matches!(
                        declaration.qualifiers.storage,
                        Storage::Uniform | Storage::In | Storage::Out | Storage::Varying | Storage::Attribute
                    );
                    for declarator in declarators.iter().filter(|_| interface) {
                        if self.elements(declarator.array) > most {
                            self.error(log, declarator.name_at, "the array is too large");
                            return None;
                        }
                    }
                    if let Some(structure) = structure {
                        let total = self.leaves(structure.members, &leaves);
                        if total > MAX_LEAVES {
                            self.error(log, declaration.start, "the struct is too large");
                            return None;
                        }
                        if let Some(name_at) = structure.name_at {
                            names.push(name_at);
                            leaves.insert(self.text(name_at), total);
                        }
                    }
                }
                What::Block { name_at, members, instance } => {
                    // glslang lays out every element of an interface.
                    let arrays = self.scanner.members(*members).into_iter().filter_map(|m| match m.what {
                        What::Variables { declarators, .. } => Some(declarators),
                        _ => None,
                    });
                    let most = u64::from(self.options.limits.max_uniform_components);
                    let varying = matches!(declaration.qualifiers.storage, Storage::In | Storage::Out);
                    let large = arrays.flatten().chain(instance.clone()).any(|d| self.elements(d.array) > most);
                    if varying && large {
                        self.error(log, *name_at, "the block is too large");
                        return None;
                    }
                    names.push(*name_at);
                    names.extend(instance.iter().map(|d| d.name_at));
                    if self.leaves(*members, &leaves) > MAX_LEAVES {
                        self.error(log, declaration.start, "the block is too large");
                        return None;
                    }
                }
                _ => {}
            }
        }
        for declaration in &self.declarations {
            // glslang 16 crashes when a block takes the name of a function.
            if let What::Block { name_at, .. } = &declaration.what {
                if functions.contains(self.text(*name_at)) {
                    self.error(log, *name_at, &format!("`{}' redeclared", self.text(*name_at)));
                    return None;
                }
            }
        }
        for at in names {
            let name = self.text(at);
            if name.starts_with("gl_") && !names::may_redeclare(name) {
                self.error(log, at, &format!("identifier `{name}' uses reserved `gl_' prefix"));
                return None;
            }
            if name.starts_with("mgl_") {
                self.error(log, at, &format!("identifier `{name}' uses reserved `mgl_' prefix"));
                return None;
            }
        }
        Some(())
    }

    fn leaves(&self, members: (usize, usize), known: &HashMap<&str, u64>) -> u64 {
        let mut total = 0u64;
        for member in self.scanner.members(members) {
            if let What::Variables { type_range, structure, declarators } = &member.what {
                let each = match structure {
                    Some(inner) => self.leaves(inner.members, known),
                    None => known.get(self.text(type_range.0)).copied().unwrap_or(1),
                };
                total = total.saturating_add(each.saturating_mul(declarators.len() as u64));
            }
        }
        total
    }

    fn keyword_in_source(&self, since: u16, extensions: &[&str]) -> bool {
        let version = self.input.version;
        if version.es {
            return since <= 430;
        }
        version.number >= since
            || extensions
                .iter()
                .any(|name| extensions::find(name).is_some_and(|index| self.input.extensions.contains(&index)))
    }

    /// Renames and replacements of single names.
    fn names(&mut self, log: &mut Log) -> Option<()> {
        let version = self.input.version;
        let old = version.compatibility || version.number < 420;
        let renamed: HashSet<&'static str> = names::KEYWORDS
            .iter()
            .filter(|(_, since, extensions)| !self.keyword_in_source(*since, extensions))
            .map(|(word, ..)| *word)
            .collect();
        let functions: HashSet<String> = self
            .declarations
            .iter()
            .filter_map(|d| match &d.what {
                What::Function { name_at, .. } => Some(self.text(*name_at).to_owned()),
                _ => None,
            })
            .collect();
        // Once a shader declares a function with a built-in's name, calls after that mean its own functions only.
        let own: HashMap<String, usize> = self
            .declarations
            .iter()
            .rev()
            .filter_map(|d| match &d.what {
                What::Function { name_at, .. } => Some((self.text(*name_at).to_owned(), *name_at)),
                _ => None,
            })
            .filter(|(name, _)| names::BUILT_IN_FUNCTIONS.contains(&name.as_str()))
            .collect();
        let in_layout: HashSet<usize> = self.declarations.iter().flat_map(|d| self.layout_tokens(d)).collect();
        let mut used: HashSet<&str> = HashSet::new();
        for at in 0..self.input.tokens.len() {
            let token = &self.input.tokens[at];
            if !token.is_ident() {
                continue;
            }
            let name: &str = &token.text;
            let is_member = at > 0 && self.text(at - 1) == ".";
            let is_call = self.text(at + 1) == "(";
            if is_member {
                if renamed.contains(name) {
                    self.replace[at] = Some(Cow::Owned(format!("{RENAME}{name}")));
                }
                continue;
            }
            if in_layout.contains(&at) {
                continue;
            }
            if is_call && own.get(name).is_some_and(|declared| at >= *declared) {
                self.replace[at] = Some(Cow::Owned(format!("{RENAME}{name}")));
                continue;
            }
            if name.starts_with("gl_") {
                if let Some(new) = names::alias(name) {
                    self.replace[at] = Some(Cow::Borrowed(new));
                } else if legacy::is_candidate(name) || name == "gl_FragCoord" {
                    used.insert(name);
                } else if self.stage == Stage::Fragment && matches!(name, "gl_FragColor" | "gl_FragData") {
                    used.insert(name);
                    let new = if name == "gl_FragColor" { FRAGMENT_COLOR } else { FRAGMENT_DATA };
                    self.replace[at] = Some(Cow::Borrowed(new));
                }
                continue;
            }
            if is_call && old && !functions.contains(name) {
                if let Some(function) = names::old_texture_function(name) {
                    if function.shadow {
                        self.replace[at] = Some(Cow::Owned(format!("vec4(vec3({}", function.new)));
                        let close = self.scanner.partner[at + 1];
                        self.after.entry(close).or_default().push_str("),1.0)");
                    } else {
                        self.replace[at] = Some(Cow::Borrowed(function.new));
                    }
                    continue;
                }
            }
            if is_call && version.compatibility && name == "ftransform" && self.text(at + 2) == ")" {
                self.replace[at] = Some(Cow::Borrowed("gl_ModelViewProjectionMatrix*gl_Vertex"));
                self.replace.swap(at, at + 1);
                self.replace[at] = Some(Cow::Borrowed("("));
                used.insert("gl_ModelViewProjectionMatrix");
                used.insert("gl_Vertex");
                continue;
            }
            if is_call && matches!(name, "noise1" | "noise2" | "noise3" | "noise4") && !functions.contains(name) {
                self.replace[at] = Some(Cow::Owned(format!("mgl_{name}")));
                self.needs_noise = true;
                continue;
            }
            if renamed.contains(name)
                || (version.number < 130
                    && !version.es
                    && names::is_new_texture_function(name)
                    && (!is_call || functions.contains(name)))
            {
                if name == "layout" && is_call {
                    continue;
                }
                self.replace[at] = Some(Cow::Owned(format!("{RENAME}{name}")));
                continue;
            }
            match name {
                "attribute" | "varying" if !old => {
                    self.error(log, at, &format!("`{name}' is not available in GLSL {}", version.number));
                    return None;
                }
                "attribute" => self.replace[at] = Some(Cow::Borrowed("in")),
                "varying" if self.stage == Stage::Fragment => self.replace[at] = Some(Cow::Borrowed("in")),
                "varying" => self.replace[at] = Some(Cow::Borrowed("out")),
                _ => {
                    if let Some(new) = names::alias(name).filter(|_| is_call) {
                        self.replace[at] = Some(Cow::Borrowed(new));
                    }
                }
            }
        }
        self.used = used.into_iter().map(str::to_owned).collect();
        self.used.sort_unstable();
        Some(())
    }

    /// Tokens inside the layout qualifiers of a declaration and of its members.
    fn layout_tokens(&self, declaration: &Declaration) -> Vec<usize> {
        let mut list: Vec<usize> = Vec::new();
        let mut add = |d: &Declaration| list.extend(d.qualifiers.layout_ranges.iter().flat_map(|r| r.0..r.1));
        add(declaration);
        if let What::Block { members, .. } = &declaration.what {
            self.scanner.members(*members).iter().for_each(&mut add);
        }
        list
    }

    /// Removes a token range from the output.
    fn remove(&mut self, range: (usize, usize)) {
        for slot in &mut self.replace[range.0..range.1] {
            *slot = Some(Cow::Borrowed(""));
        }
    }

    /// Edits and facts of declarations at global scope.
    fn declaration_edits(&mut self, log: &mut Log) -> Option<()> {
        let declarations = std::mem::take(&mut self.declarations);
        let fragment = self.stage == Stage::Fragment;
        let inputs: HashSet<String> = declarations
            .iter()
            .filter(|d| d.qualifiers.storage == Storage::In || (fragment && d.qualifiers.storage == Storage::Varying))
            .filter_map(|d| match &d.what {
                What::Variables { declarators, .. } => {
                    Some(declarators.iter().map(|d| self.text(d.name_at).to_owned()))
                }
                _ => None,
            })
            .flatten()
            .collect();
        let mut pixel_center_integer = false;
        let mut integer_structs: HashSet<String> = HashSet::new();
        for declaration in &declarations {
            let q = &declaration.qualifiers;
            match &declaration.what {
                What::Variables { type_range, structure, declarators } => {
                    if let Some(structure) = structure {
                        if let Some(name_at) = structure.name_at {
                            let members = self.scanner.members(structure.members);
                            if members.iter().any(|m| self.needs_flat(m, &integer_structs)) {
                                integer_structs.insert(self.text(name_at).to_owned());
                            }
                        }
                        let container =
                            structure.name_at.map_or("#anonymous".into(), |at| self.emitted(at)).into_owned();
                        self.record_bools(&container, structure.members);
                    }
                    let first = declarators.first().map_or("", |d| self.text(d.name_at));
                    if first == "gl_FragCoord" {
                        if !fragment || self.input.version.number < 110 {
                            self.error(log, declaration.start, "`gl_FragCoord' redeclared in the wrong stage");
                            return None;
                        }
                        self.facts.origin_upper_left |= q.layout_id("origin_upper_left").is_some();
                        pixel_center_integer |= q.layout_id("pixel_center_integer").is_some();
                        let layout =
                            (q.layout_id("origin_upper_left").is_some(), q.layout_id("pixel_center_integer").is_some());
                        if self.facts.frag_coord.is_some_and(|before| before != layout) {
                            self.error(
                                log,
                                declaration.start,
                                "gl_FragCoord redeclared with different layout qualifiers",
                            );
                            return None;
                        }
                        self.facts.frag_coord = Some(layout);
                        self.remove((declaration.start, declaration.end));
                        continue;
                    }
                    if matches!(
                        first,
                        "gl_TexCoord" | "gl_FragColor" | "gl_FragData" | "gl_Color" | "gl_SecondaryColor"
                    ) || (first.starts_with("gl_Front")
                        || first.starts_with("gl_Back")
                        || first == "gl_FogFragCoord")
                    {
                        self.remove((declaration.start, declaration.end));
                        continue;
                    }
                    let input = q.storage == Storage::In || (fragment && q.storage == Storage::Varying);
                    if input {
                        if let Some(at) = q.invariant_at {
                            self.remove((at, at + 1));
                        }
                    }
                    let io = match self.stage {
                        Stage::Vertex => matches!(q.storage, Storage::In | Storage::Attribute),
                        Stage::Fragment => q.storage == Storage::Out,
                        _ => false,
                    };
                    if io {
                        let value = |id| q.layout_id(id).and_then(|i| i.value).and_then(|v| self.integer(v));
                        let (location, index) = (value("location"), value("index"));
                        if location.is_some() {
                            for declarator in declarators {
                                let name = self.emitted(declarator.name_at).into_owned();
                                self.facts.io_locations.push((name, location, index));
                            }
                        }
                    }
                    if q.storage == Storage::Uniform {
                        self.uniform(declaration, *type_range, declarators, log)?;
                    }
                }
                What::Block { name_at, members, .. } => {
                    if fragment && q.storage == Storage::In && !q.flat {
                        self.check_flat_members(*members, &integer_structs, log)?;
                    }
                    let name = self.emitted(*name_at).into_owned();
                    self.record_bools(&name, *members);
                    if let Some(value) = q.layout_id("binding").and_then(|id| id.value) {
                        if let Some(binding) = self.integer(value) {
                            self.facts.bindings.push((name, binding));
                        }
                    }
                }
                What::Requalify(name_tokens) if q.invariant_at.is_some() => {
                    // Outputs of the fixed-function interface are declared by the prelude; being invariant is moot there.
                    let moot = |at: &usize| inputs.contains(self.text(*at)) || legacy::is_candidate(self.text(*at));
                    if name_tokens.iter().any(moot) {
                        self.remove((declaration.start, declaration.end));
                    }
                }
                _ => {}
            }
        }
        self.facts.uses_frag_coord = fragment
            && (0..self.input.tokens.len()).any(|at| self.text(at) == "gl_FragCoord" && self.replace[at].is_none());
        if fragment && (pixel_center_integer || self.facts.origin_upper_left) {
            let x = if pixel_center_integer { "gl_FragCoord.x-.5" } else { "gl_FragCoord.x" };
            let mut y = "gl_FragCoord.y".to_owned();
            if self.facts.origin_upper_left {
                y = format!("{FRAMEBUFFER_HEIGHT_UNIFORM}-{y}");
            }
            if pixel_center_integer {
                y.push_str("-.5");
            }
            let text = format!("vec4({x},{y},gl_FragCoord.zw)");
            for at in 0..self.input.tokens.len() {
                if self.input.tokens[at].is("gl_FragCoord") && self.replace[at].is_none() {
                    self.replace[at] = Some(Cow::Owned(text.clone()));
                }
            }
        }
        self.declarations = declarations;
        Some(())
    }

    /// Whether a member's type has integer or double components.
    fn needs_flat(&self, member: &Declaration, integer_structs: &HashSet<String>) -> bool {
        let What::Variables { type_range, .. } = &member.what else { return false };
        let name = self.text(type_range.0);
        let prefixes = ["int", "uint", "ivec", "uvec", "double", "dvec", "dmat"];
        integer_structs.contains(name)
            || prefixes
                .iter()
                .any(|p| name.strip_prefix(p).is_some_and(|r| r.chars().all(|c| c.is_ascii_digit() || c == 'x')))
    }

    /// Integer and double inputs of fragment shaders must be `flat` inside blocks too; glslang checks only variables.
    fn check_flat_members(
        &self,
        members: (usize, usize),
        integer_structs: &HashSet<String>,
        log: &mut Log,
    ) -> Option<()> {
        for member in self.scanner.members(members) {
            if !member.qualifiers.flat && self.needs_flat(&member, integer_structs) {
                let message =
                    "if a fragment input is (or contains) an integer or double, then it must be qualified with 'flat'";
                self.error(log, member.start, message);
                return None;
            }
        }
        Some(())
    }

    fn record_bools(&mut self, container: &str, members: (usize, usize)) {
        for member in self.scanner.members(members) {
            if let What::Variables { type_range, structure, declarators } = &member.what {
                if let Some(inner) = structure {
                    let name = inner.name_at.map_or("#anonymous".into(), |at| self.emitted(at)).into_owned();
                    self.record_bools(&name, inner.members);
                }
                if is_bool(self.text(type_range.0)) {
                    for declarator in declarators {
                        let name = self.emitted(declarator.name_at).into_owned();
                        self.facts.bools.insert((container.to_owned(), name));
                    }
                }
            }
        }
    }

    /// The token as it goes into the output.
    fn emitted(&self, at: usize) -> Cow<'_, str> {
        match self.replace.get(at) {
            Some(Some(text)) => Cow::Borrowed(text),
            _ => Cow::Borrowed(self.text(at)),
        }
    }

    fn uniform(
        &mut self,
        declaration: &Declaration,
        type_range: (usize, usize),
        declarators: &[declarations::Declarator],
        log: &mut Log,
    ) -> Option<()> {
        let q = &declaration.qualifiers;
        let location = match q.layout_id("location").map(|id| (id.at, id.value)) {
            None => None,
            Some((at, value)) => {
                let Some(location) = value.and_then(|v| self.integer(v)) else {
                    self.error(log, at, "the location is not an integer constant");
                    return None;
                };
                if location >= self.options.limits.max_uniform_locations {
                    self.error(log, at, &format!("location {location} is not below GL_MAX_UNIFORM_LOCATIONS"));
                    return None;
                }
                Some(location)
            }
        };
        let binding = q.layout_id("binding").and_then(|id| id.value).and_then(|v| self.integer(v));
        for declarator in declarators {
            let name = self.emitted(declarator.name_at).into_owned();
            if is_bool(self.text(type_range.0)) {
                self.facts.bools.insert((String::new(), name.clone()));
            }
            if let Some(location) = location {
                self.facts.uniform_locations.push((name.clone(), location));
            }
            if let Some(binding) = binding {
                self.facts.bindings.push((name.clone(), binding));
            }
            if let (Some(init), (open, close)) = (declarator.init, declarator.array) {
                // `a[] = T[](x, y)`: glslang forgets the size together with the initialiser.
                if close == open + 2 {
                    if let Some(count) = self.element_count(init) {
                        self.replace[open] = Some(Cow::Owned(format!("[{count}")));
                    }
                }
            }
            if declarator.init.is_some() {
                let local = format!("mgl_init_{}", self.facts.initialisers.len());
                self.facts.initialisers.push(Initialiser { name, local });
            }
        }
        Some(())
    }

    /// Number of elements of an array constructor or an initialiser list.
    fn element_count(&self, init: (usize, usize)) -> Option<usize> {
        let close = init.1.checked_sub(1)?;
        let open = *self.scanner.partner.get(close)?;
        if open >= close || !matches!(self.text(open), "(" | "{") {
            return None;
        }
        let mut count = 1;
        let mut at = open + 1;
        while at < close {
            if self.text(at) == "," {
                count += 1;
            }
            at = self.scanner.partner[at].max(at) + 1;
        }
        Some(count)
    }

    fn finish(mut self, log: &mut Log) -> Option<Rewritten> {
        let version = self.input.version;
        let limits = &self.options.limits;
        let fragment = self.stage == Stage::Fragment;
        let mut text = String::with_capacity(self.input.tokens.len() * 5 + 512);
        // The last extension lets the prelude declare names that start with gl_; only its name reaches the SPIR-V.
        text.push_str("#version 460 core\n#extension GL_EXT_spirv_intrinsics : enable\n");
        for index in &self.input.extensions {
            if let Some(name) = EXTENSIONS.get(*index).and_then(|e| e.passed_as) {
                let _ = writeln!(text, "#extension {name} : enable");
            }
        }
        if self.input.all_invariant && self.stage != Stage::Fragment {
            text.push_str("#pragma STDGL invariant(all)\n");
        }
        let prelude = legacy::prelude(self.stage, &self.used, version.compatibility, limits);
        if let Some(name) = prelude.missing.first() {
            let at = self.input.tokens.iter().position(|t| t.is(name)).unwrap_or(0);
            self.error(log, at, &format!("`{name}' undeclared"));
            return None;
        }
        text.push_str(&prelude.text);
        let mut main_tail = String::new();
        let uses = |name: &str| self.used.iter().any(|u| u == name);
        if fragment && uses("gl_FragData") {
            let _ = write!(text, "layout(location=0)out vec4 {FRAGMENT_DATA}[{}];", limits.max_draw_buffers.max(1));
        }
        if fragment && uses("gl_FragColor") {
            let _ = write!(text, "layout(location=0)out vec4 {FRAGMENT_COLOR};");
            self.facts.broadcasts_color = true;
            if uses("gl_FragData") {
                let at = self.input.tokens.iter().position(|t| t.is("gl_FragData")).unwrap_or(0);
                self.error(log, at, "fragment shader writes to both `gl_FragColor' and `gl_FragData'");
                return None;
            }
            let own_outputs = self.declarations.iter().any(|d| d.qualifiers.storage == Storage::Out);
            let locations = if own_outputs { 1 } else { limits.max_draw_buffers };
            for location in 1..locations {
                let _ = write!(text, "layout(location={location})out vec4 mgl_FragColor{location};");
                let _ = write!(main_tail, "mgl_FragColor{location}={FRAGMENT_COLOR};");
            }
        }
        if fragment && (uses("gl_FragColor") || uses("gl_FragData")) && version.number >= 420 && !version.compatibility
        {
            let at = self.input.tokens.iter().position(|t| t.text.starts_with("gl_FragColor") || t.is("gl_FragData"));
            self.error(log, at.unwrap_or(0), "`gl_FragColor' and `gl_FragData' are not available in this version");
            return None;
        }
        if self.facts.origin_upper_left {
            let _ = write!(text, "uniform float {FRAMEBUFFER_HEIGHT_UNIFORM};");
        }
        if self.needs_noise {
            text.push_str(
                "\n#define mgl_noise1(x) 0.0\n#define mgl_noise2(x) vec2(0.0)\n\
                 #define mgl_noise3(x) vec3(0.0)\n#define mgl_noise4(x) vec4(0.0)\n",
            );
        }
        if !main_tail.is_empty() {
            let main = self.declarations.iter().find_map(|d| match &d.what {
                What::Function { name_at, body: Some(_), .. } if self.text(*name_at) == "main" => Some(*name_at),
                _ => None,
            });
            match main {
                Some(at) => {
                    self.replace[at] = Some(Cow::Borrowed("mgl_main"));
                    main_tail = format!("\nvoid main(){{mgl_main();{main_tail}}}\n");
                }
                None => main_tail.clear(),
            }
        }
        self.drop_stray_semicolons();
        let mut emitter = Emitter::new(text);
        emitter.range(&self, (0, self.input.tokens.len()));
        let mut text = emitter.text;
        text.push('\n');
        text.push_str(&main_tail);
        self.initialiser_text();
        Some(Rewritten { text, facts: self.facts })
    }

    /// Takes out the semicolons between declarations, which only GLSL 4.60 allows and every implementation accepts.
    fn drop_stray_semicolons(&mut self) {
        let mut stray = Vec::new();
        let mut at = 0;
        for (start, end) in self.declarations.iter().map(|d| (d.start, d.end)).chain([(self.input.tokens.len(), 0)]) {
            stray.extend((at..start).filter(|&i| self.text(i) == ";"));
            at = end.max(at);
        }
        for at in stray {
            if self.replace[at].is_none() {
                self.replace[at] = Some(Cow::Borrowed(""));
            }
        }
    }

    /// Builds the shader whose locals carry the values of the uniform initialisers.
    fn initialiser_text(&mut self) {
        if self.facts.initialisers.is_empty() {
            return;
        }
        let mut emitter = Emitter::new("#version 460 core\n".to_owned());
        let mut locals = Vec::new();
        for declaration in &self.declarations {
            let What::Variables { type_range, structure, declarators } = &declaration.what else { continue };
            if declaration.qualifiers.storage == Storage::Const {
                emitter.range(self, (declaration.start, declaration.end));
                continue;
            }
            let mut type_emitted = *type_range;
            if let Some(structure) = structure {
                if let Some(name_at) = structure.name_at {
                    emitter.range(self, (type_range.0, structure.members.1 + 1));
                    emitter.text.push(';');
                    type_emitted = (name_at, name_at + 1);
                }
            }
            if declaration.qualifiers.storage == Storage::Uniform {
                for declarator in declarators {
                    if let Some(init) = declarator.init {
                        locals.push((type_emitted, declarator.array, init));
                    }
                }
            }
        }
        emitter.text.push_str("\nvoid main(){");
        for (index, (type_range, array, init)) in locals.into_iter().enumerate() {
            emitter.range(self, type_range);
            let _ = write!(emitter.text, " mgl_init_{index}");
            emitter.range(self, array);
            emitter.text.push('=');
            emitter.range(self, init);
            emitter.text.push(';');
        }
        emitter.text.push_str("\n}\n");
        self.facts.initialiser_text = emitter.text;
    }
}

fn is_bool(name: &str) -> bool {
    matches!(name, "bool" | "bvec2" | "bvec3" | "bvec4")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::preprocess;

    fn run(stage: Stage, source: &str) -> Result<Rewritten, String> {
        let options = CompileOptions::default();
        let mut log = Log::default();
        let rewritten = preprocess(source, &options, &mut log).and_then(|p| rewrite(stage, &p, &options, &mut log));
        rewritten.ok_or_else(|| log.into_text())
    }

    #[test]
    fn old_vertex_shader() {
        let r = run(Stage::Vertex, "attribute vec4 p;\nvarying vec2 uv; uniform sampler2D texture;\nvoid main() { gl_Position = texture2D(texture, uv); }").expect("rewritten");
        let squeezed = r.text.replace(' ', "");
        assert!(squeezed.contains("invec4p;\noutvec2uv;"), "{}", r.text);
        assert!(squeezed.contains("texture(mgl_kw_texture,"), "{}", r.text);
    }

    #[test]
    fn facts_of_uniforms() {
        let r = run(
            Stage::Vertex,
            "#version 430\nlayout(location = 3) uniform bool a; layout(binding=4) uniform sampler2D s, t; uniform vec2 v = vec2(1), w[2] = vec2[](vec2(1), vec2(2)); struct S { bvec2 x; int y; }; layout(binding=1) uniform B { bool q; } b;",
        )
        .expect("rewritten");
        assert_eq!(r.facts.uniform_locations, [("a".into(), 3)]);
        assert_eq!(r.facts.bindings, [("s".into(), 4), ("t".into(), 4), ("B".into(), 1)]);
        assert!(r.facts.bools.contains(&("S".into(), "x".into())));
        assert!(r.facts.bools.contains(&("B".into(), "q".into())));
        assert_eq!(r.facts.initialisers.len(), 2);
    }

    #[test]
    fn reserved_names_and_crash_patterns_are_refused() {
        assert!(run(Stage::Vertex, "#version 330\nuniform float gl_foo;").is_err());
        assert!(run(Stage::Vertex, "#version 330\nvec4 block(){return vec4(0);} out block{vec4 x;} inst;").is_err());
        let deep = format!("void main() {{ float x = {}1.0{}; }}", "(".repeat(5000), ")".repeat(5000));
        assert!(run(Stage::Vertex, &deep).is_err());
        let mut structs = String::from("struct S0 { float a; float b; };");
        for i in 1..40 {
            structs.push_str(&format!("struct S{i} {{ S{0} a; S{0} b; }};", i - 1));
        }
        assert!(run(Stage::Vertex, &structs).unwrap_err().contains("too large"));
    }
}
