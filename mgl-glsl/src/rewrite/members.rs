//! Samplers inside arrays of structs that are indexed by something else than a constant.
//!
//! glslang gives every such sampler a variable of its own and finds it by the text of the access, so that `lights[i].map`
//! finds nothing. Here the samplers of one member become an array beside the struct: `lights[i].map` turns into
//! `mgl_member_6lights3map[i]`, and the reflection gives the elements their names back.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::declarations::{Declaration, Storage, What};
use super::Rewriter;

/// Prefix of the arrays.
const PREFIX: &str = "mgl_member_";

/// A name of an access and the number of its array dimensions: the variable first, then the members.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) dimensions: usize,
}

/// Type of a variable or member: where its name stands, and the brackets of its dimensions, outermost first.
#[derive(Clone, Debug)]
struct Typed {
    type_at: usize,
    dimensions: Vec<(usize, usize)>,
}

/// A struct: its members by name, and whether there are samplers in it.
#[derive(Debug, Default)]
struct Struct {
    members: HashMap<String, Typed>,
    has_samplers: bool,
}

/// An access to one sampler.
struct Access {
    parts: Vec<Part>,
    /// Position of the variable's name.
    start: usize,
    /// The dots and member names in between.
    removed: Vec<usize>,
    /// Type and dimensions of the array that could stand for it.
    sampler_at: usize,
    dimensions: Vec<(usize, usize)>,
    constant: bool,
}

/// What an identifier turned out to be the start of.
enum Found {
    /// Nothing to do with samplers.
    Other,
    /// A struct with samplers as a whole, or an array of samplers as a whole.
    Whole,
    Sampler(Access),
}

fn is_sampler(name: &str) -> bool {
    name.strip_prefix(['i', 'u']).unwrap_or(name).starts_with("sampler")
}

/// Name of the array; the same in every shader that accesses the member.
fn array_name(parts: &[Part]) -> String {
    let mut name = PREFIX.to_owned();
    for part in parts {
        name.push_str(&format!("{}{}", part.name.len(), part.name));
    }
    name
}

impl Rewriter<'_, '_, '_> {
    /// Finds the accesses, declares the arrays and records them in the facts.
    pub(super) fn sampler_members(&mut self) {
        let structs = self.sampler_structs();
        if !structs.values().any(|s| s.has_samplers) {
            return;
        }
        // The uniforms by name: type and the end of the declaration.
        let mut variables: HashMap<String, (Typed, usize)> = HashMap::new();
        let mut declared: HashSet<usize> = HashSet::new();
        for declaration in &self.declarations {
            let q = &declaration.qualifiers;
            let What::Variables { type_range, structure, declarators } = &declaration.what else { continue };
            if q.storage != Storage::Uniform || q.layout_id("location").is_some() || q.layout_id("binding").is_some() {
                continue;
            }
            let (type_at, rest) = match structure {
                None => (type_range.0, type_range.0 + 1),
                Some(structure) => match structure.name_at {
                    Some(name_at) => (name_at, structure.members.1 + 1),
                    None => continue,
                },
            };
            if !structs.get(self.text(type_at)).is_some_and(|s| s.has_samplers) {
                continue;
            }
            for declarator in declarators {
                let mut dimensions = self.bracket_list(declarator.array);
                dimensions.extend(self.bracket_list((rest, type_range.1)));
                declared.insert(declarator.name_at);
                let variable = (Typed { type_at, dimensions }, declaration.end);
                variables.insert(self.text(declarator.name_at).to_owned(), variable);
            }
        }
        let mut accesses: BTreeMap<Vec<Part>, Vec<Access>> = BTreeMap::new();
        let mut whole: HashSet<String> = HashSet::new();
        for at in 0..self.input.tokens.len() {
            let Some((typed, _)) = variables.get(self.text(at)) else { continue };
            if declared.contains(&at) || (at > 0 && self.text(at - 1) == ".") {
                continue;
            }
            match self.access(at, typed, &structs) {
                Found::Other => {}
                Found::Whole => {
                    whole.insert(self.text(at).to_owned());
                }
                Found::Sampler(access) => accesses.entry(access.parts.clone()).or_default().push(access),
            }
        }
        for (parts, list) in accesses {
            let Some(first) = list.first() else { continue };
            let Some(variable) = parts.first().map(|p| &p.name) else { continue };
            // A struct that is passed on as a whole keeps glslang's variables, and all its accesses have to agree on them.
            if whole.contains(variable) || list.iter().all(|a| a.constant) {
                continue;
            }
            let Some((_, end)) = variables.get(variable) else { continue };
            if first.dimensions.iter().any(|(open, close)| open + 1 >= *close) {
                continue;
            }
            let name = array_name(&parts);
            let mut text = format!("uniform {} {name}", self.emitted(first.sampler_at));
            for (open, close) in &first.dimensions {
                for at in *open..=*close {
                    text.push_str(&self.emitted(at));
                    text.push(' ');
                }
            }
            text.push(';');
            self.after.entry(end.saturating_sub(1)).or_default().push_str(&text);
            for access in &list {
                self.replace[access.start] = Some(Cow::Owned(name.clone()));
                for at in &access.removed {
                    self.replace[*at] = Some(Cow::Borrowed(""));
                }
            }
            self.facts.sampler_members.push((name, parts));
        }
    }

    /// The structs of the shader, in order: a struct can only have members of those before it.
    fn sampler_structs(&self) -> HashMap<String, Struct> {
        let mut structs: HashMap<String, Struct> = HashMap::new();
        for declaration in &self.declarations {
            let What::Variables { structure: Some(structure), .. } = &declaration.what else { continue };
            let Some(name_at) = structure.name_at else { continue };
            let mut known = Struct::default();
            for member in self.scanner.members(structure.members) {
                self.member(&member, &structs, &mut known);
            }
            structs.insert(self.text(name_at).to_owned(), known);
        }
        structs
    }

    fn member(&self, member: &Declaration, structs: &HashMap<String, Struct>, known: &mut Struct) {
        let What::Variables { type_range, structure: None, declarators } = &member.what else { return };
        let type_name = self.text(type_range.0);
        known.has_samplers |= is_sampler(type_name) || structs.get(type_name).is_some_and(|s| s.has_samplers);
        for declarator in declarators {
            let mut dimensions = self.bracket_list(declarator.array);
            dimensions.extend(self.bracket_list((type_range.0 + 1, type_range.1)));
            let typed = Typed { type_at: type_range.0, dimensions };
            known.members.insert(self.text(declarator.name_at).to_owned(), typed);
        }
    }

    /// The pairs of brackets in a range of array brackets.
    fn bracket_list(&self, range: (usize, usize)) -> Vec<(usize, usize)> {
        let mut list = Vec::new();
        let mut at = range.0;
        while at < range.1 {
            let close = self.scanner.partner.get(at).copied().unwrap_or(at).max(at);
            list.push((at, close));
            at = close + 1;
        }
        list
    }

    /// Follows an access from the variable's name at `start`.
    fn access(&self, start: usize, variable: &Typed, structs: &HashMap<String, Struct>) -> Found {
        let mut typed = variable;
        let mut indexed = 0;
        let mut at = start + 1;
        let part = |name: &str, typed: &Typed| Part { name: name.to_owned(), dimensions: typed.dimensions.len() };
        let mut access = Access {
            parts: vec![part(self.text(start), variable)],
            start,
            removed: Vec::new(),
            sampler_at: start,
            dimensions: variable.dimensions.clone(),
            constant: true,
        };
        loop {
            let type_name = self.text(typed.type_at);
            let structure = structs.get(type_name);
            if !is_sampler(type_name) && !structure.is_some_and(|s| s.has_samplers) {
                return Found::Other;
            }
            match self.text(at) {
                "[" if indexed < typed.dimensions.len() => {
                    let close = self.scanner.partner.get(at).copied().unwrap_or(at).max(at);
                    access.constant &= self.integer((at + 1, close)).is_some();
                    indexed += 1;
                    at = close + 1;
                }
                "." if indexed < typed.dimensions.len() && self.text(at + 1) == "length" => return Found::Other,
                "." if indexed == typed.dimensions.len() => {
                    let name = self.text(at + 1);
                    let Some(member) = structure.and_then(|s| s.members.get(name)) else { return Found::Whole };
                    access.parts.push(part(name, member));
                    access.removed.extend([at, at + 1]);
                    access.dimensions.extend(member.dimensions.iter().copied());
                    access.sampler_at = member.type_at;
                    typed = member;
                    indexed = 0;
                    at += 2;
                }
                _ if is_sampler(type_name) && indexed == typed.dimensions.len() => return Found::Sampler(access),
                _ => return Found::Whole,
            }
        }
    }
}
