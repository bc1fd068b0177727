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

impl Rewriter<'_, '_, '_> {
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
        self.facts.geometry_input = primitive;
    }
}
