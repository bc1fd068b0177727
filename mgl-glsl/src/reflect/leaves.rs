//! Flattens a type into the leaves that GL enumerates: basic types and arrays of them, with their layout.

use std::collections::HashSet;

use mgpipe_types::reflection::gl_type::{self, Scalar};
use rspirv::spirv::{Decoration, Word};

use crate::module::{opaque_gl_type, Module, Type, MAX_TYPE_DEPTH};
use crate::rewrite::original_name;

/// More leaves than any GL limit allows.
const MAX_LEAVES: usize = 1 << 17;

/// One leaf.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    /// GL name; arrays end in `[0]`.
    pub(crate) name: String,
    pub(crate) gl_type: u32,
    /// 1 for a non-array, 0 for a run-time array.
    pub(crate) array_size: u32,
    pub(crate) is_array: bool,
    pub(crate) offset: u64,
    pub(crate) array_stride: u32,
    pub(crate) matrix_stride: u32,
    pub(crate) row_major: bool,
    /// SPIR-V type of one element.
    pub(crate) element_type: Word,
}

/// Walks one type.
pub(crate) struct Walk<'m> {
    pub(crate) module: &'m Module,
    pub(crate) bools: &'m HashSet<(String, String)>,
    pub(crate) leaves: Vec<Leaf>,
}

/// Where the walk stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'n> {
    /// Struct and member that hold the type, for matrix layout.
    pub(crate) member: Option<(Word, u32)>,
    pub(crate) offset: u64,
    /// Struct or block name and member name as in the facts, for booleans.
    pub(crate) declared: (&'n str, &'n str),
    pub(crate) depth: u32,
}

impl Walk<'_> {
    /// Adds the leaves of `id`, which is called `name`.
    pub(crate) fn walk(&mut self, id: Word, name: String, place: Place<'_>) -> Result<(), String> {
        if place.depth > MAX_TYPE_DEPTH || self.leaves.len() >= MAX_LEAVES {
            return Err(format!("error: `{}' has too many members", original_name(&name)));
        }
        match self.module.type_of(id) {
            Type::Array { element, length } => {
                let stride = self.module.decoration(id, Decoration::ArrayStride).unwrap_or(0);
                let nested = matches!(self.module.type_of(element), Type::Array { .. } | Type::Struct { .. });
                if !nested {
                    return self.leaf(element, format!("{name}[0]"), Some((length.unwrap_or(0), stride)), place);
                }
                // GL enumerates only the first element of a run-time array.
                let count = length.unwrap_or(1);
                for index in 0..count {
                    let offset = place.offset + u64::from(index) * u64::from(stride);
                    let inner = Place { offset, depth: place.depth + 1, ..place };
                    self.walk(element, format!("{name}[{index}]"), inner)?;
                }
                Ok(())
            }
            Type::Struct { members } => {
                let container = self.module.name(id).to_owned();
                for (index, member) in members.iter().enumerate() {
                    let index = index as u32;
                    let member_name = self.module.member_name(id, index).to_owned();
                    let offset = u64::from(self.module.member_decoration(id, index, Decoration::Offset).unwrap_or(0));
                    let inner = Place {
                        member: Some((id, index)),
                        offset: place.offset + offset,
                        declared: (&container, &member_name),
                        depth: place.depth + 1,
                    };
                    // Samplers were split off; glslang leaves a placeholder member behind.
                    if member_name.starts_with("/*") {
                        continue;
                    }
                    let full = if name.is_empty() { member_name.clone() } else { format!("{name}.{member_name}") };
                    self.walk(*member, full, inner)?;
                }
                Ok(())
            }
            _ => self.leaf(id, name, None, place),
        }
    }

    fn leaf(&mut self, id: Word, name: String, array: Option<(u32, u32)>, place: Place<'_>) -> Result<(), String> {
        let (gl_type, matrix) = match self.module.type_of(id) {
            Type::Plain { mut scalar, columns, rows } => {
                let (container, member) = place.declared;
                if scalar == Scalar::Uint && self.bools.contains(&(container.to_owned(), member.to_owned())) {
                    scalar = Scalar::Bool;
                }
                (gl_type::from_shape(scalar, columns, rows), columns > 1)
            }
            Type::Opaque(opaque) => (Some(opaque_gl_type(&opaque, self.module.is_storage_image(id))), false),
            _ => (None, false),
        };
        let Some(gl_type) = gl_type else {
            return Err(format!("error: `{}' has an unsupported type", original_name(&name)));
        };
        let (mut matrix_stride, mut row_major) = (0, false);
        if let Some((structure, member)) = place.member.filter(|_| matrix) {
            matrix_stride = self.module.member_decoration(structure, member, Decoration::MatrixStride).unwrap_or(0);
            row_major = self.module.member_has(structure, member, Decoration::RowMajor);
        }
        self.leaves.push(Leaf {
            name: original_name(&name).into_owned(),
            gl_type,
            array_size: array.map_or(1, |(length, _)| length),
            is_array: array.is_some(),
            offset: place.offset,
            array_stride: array.map_or(0, |(_, stride)| stride),
            matrix_stride,
            row_major,
            element_type: id,
        });
        Ok(())
    }
}

/// The leaves of a type that is no block member.
pub(crate) fn of_type(module: &Module, id: Word, name: &str) -> Result<Vec<Leaf>, String> {
    let bools = HashSet::new();
    let mut walk = Walk { module, bools: &bools, leaves: Vec::new() };
    let place = Place { member: None, offset: 0, declared: ("", name), depth: 0 };
    walk.walk(id, name.to_owned(), place)?;
    Ok(walk.leaves)
}
