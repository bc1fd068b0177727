//! What the rules between shaders need of the declarations of inputs and outputs.

use std::collections::HashSet;

use super::declarations::{Storage, What};
use super::Rewriter;
use mgpipe_types::reflection::Stage;

/// Input primitives of geometry shaders.
pub(super) const PRIMITIVES: [&str; 5] = ["points", "lines", "lines_adjacency", "triangles", "triangles_adjacency"];

/// A declared input or output that is no built-in and no block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Varying {
    pub(crate) name: String,
    pub(crate) is_input: bool,
    /// Declared so by itself; the pragma does not count.
    pub(crate) invariant: bool,
}

/// Locations that a vertex input of this type takes, without its array.
fn attribute_locations(name: &str) -> u32 {
    let columns = name.strip_prefix('d').unwrap_or(name).strip_prefix("mat").and_then(|rest| rest.chars().next());
    columns.and_then(|c| c.to_digit(10)).unwrap_or(1)
}

impl Rewriter<'_, '_, '_> {
    /// Takes the layout off vertex inputs that share locations with others, which GL allows and glslang does not. The
    /// locations stand in the facts.
    pub(super) fn aliased_inputs(&mut self) {
        if self.stage != Stage::Vertex {
            return;
        }
        let mut taken = vec![false; self.options.limits.max_vertex_attribs as usize];
        let mut removed = Vec::new();
        for declaration in &self.declarations {
            let q = &declaration.qualifiers;
            let What::Variables { type_range, declarators, .. } = &declaration.what else { continue };
            let [location] = q.layout.as_slice() else { continue };
            if !matches!(q.storage, Storage::In | Storage::Attribute) || location.name != "location" {
                continue;
            }
            let Some(start) = location.value.and_then(|value| self.integer(value)) else { continue };
            let of_type = u64::from(attribute_locations(self.text(type_range.0)));
            for declarator in declarators {
                let brackets = (type_range.0 + 1, type_range.1);
                let elements = self.elements(declarator.array).saturating_mul(self.elements(brackets));
                let count = usize::try_from(of_type.saturating_mul(elements)).unwrap_or(usize::MAX);
                let mut shared = false;
                for slot in taken.iter_mut().skip(start as usize).take(count) {
                    shared |= std::mem::replace(slot, true);
                }
                if shared {
                    removed.extend(q.layout_ranges.iter().copied());
                    break;
                }
            }
        }
        for range in removed {
            self.remove(range);
        }
    }

    /// Records the variables between the stages, and the input primitive of a geometry shader.
    pub(super) fn varyings(&mut self) {
        let (vertex, fragment) = (self.stage == Stage::Vertex, self.stage == Stage::Fragment);
        let mut list: Vec<Varying> = Vec::new();
        let mut invariant: HashSet<&str> = HashSet::new();
        let mut primitive = None;
        for declaration in &self.declarations {
            let q = &declaration.qualifiers;
            match &declaration.what {
                What::Variables { declarators, .. } => {
                    let is_input = match q.storage {
                        Storage::In if !vertex => true,
                        Storage::Out if !fragment => false,
                        Storage::Varying => fragment,
                        _ => continue,
                    };
                    for declarator in declarators {
                        let name = self.text(declarator.name_at);
                        if !name.starts_with("gl_") {
                            list.push(Varying { name: name.to_owned(), is_input, invariant: q.invariant_at.is_some() });
                        }
                    }
                }
                What::Requalify(names) if q.invariant_at.is_some() => {
                    invariant.extend(names.iter().map(|at| self.text(*at)));
                }
                What::QualifierOnly if self.stage == Stage::Geometry && q.storage == Storage::In => {
                    let found = q.layout.iter().find_map(|id| PRIMITIVES.iter().find(|p| **p == id.name));
                    primitive = found.copied().or(primitive);
                }
                _ => {}
            }
        }
        for varying in &mut list {
            varying.invariant |= invariant.contains(varying.name.as_str());
        }
        self.facts.varyings = list;
        let uses = |name: &str| self.input.tokens.iter().any(|t| t.is(name));
        self.facts.clips = (uses("gl_ClipDistance"), uses("gl_ClipVertex"));
        self.facts.geometry_input = primitive;
    }
}
