//! Sampler and image uniforms: the names and arrays that GL sees of the variables that the modules have.

use std::collections::HashMap;

use mgpipe_types::reflection::{BindingKind, Reflection, StageMask, Uniform};

use super::resources::{subscripts, Resource};
use super::ProgramFacts;
use crate::module::opaque_gl_type;
use crate::rewrite::members::Part;
use crate::rewrite::original_name;

/// Splits `name[3]` into the name and the index.
fn split_index(name: &str) -> Option<(&str, u32)> {
    let (base, rest) = name.strip_suffix(']')?.rsplit_once('[')?;
    Some((base, rest.parse().ok()?))
}

/// The uniforms that an array of arrays stands for, and the size of each: all but the last dimension are spelled out.
fn array_names(name: &str, dimensions: &[u32]) -> Option<Vec<(String, u32)>> {
    let (last, outer) = dimensions.split_last().filter(|(_, outer)| !outer.is_empty())?;
    Some(subscripts(outer).into_iter().map(|suffix| (format!("{name}{suffix}[0]"), *last)).collect())
}

/// The uniforms that an array of one member's samplers stands for, and the size of each, in the order of the elements.
fn member_names(parts: &[Part], dimensions: &[u32]) -> Vec<(String, u32)> {
    let mut names = vec![String::new()];
    let mut size = 1;
    let mut rest = dimensions;
    for (k, part) in parts.iter().enumerate() {
        let (mut own, after) = rest.split_at(part.dimensions.min(rest.len()));
        rest = after;
        let mut end = "";
        if k + 1 == parts.len() {
            if let Some((last, outer)) = own.split_last() {
                (own, size, end) = (outer, *last, "[0]");
            }
        }
        let dot = if k == 0 { "" } else { "." };
        let suffixes = subscripts(own);
        names = names
            .iter()
            .flat_map(|prefix| suffixes.iter().map(move |s| format!("{prefix}{dot}{}{s}{end}", part.name)))
            // More than any limit allows; the limits are checked afterwards.
            .take(1 << 12)
            .collect();
    }
    names.into_iter().map(|name| (name, size)).collect()
}

/// Lists the uniforms. glslang splits arrays inside structs into one variable an element; GL sees one array again.
pub(super) fn uniforms(facts: &ProgramFacts, list: &[Resource], reflection: &mut Reflection) {
    let mut by_name: HashMap<String, usize> = HashMap::new();
    // One shader may index a member by a variable and another by constants: the array comes first, with all the names.
    let is_member = |resource: &Resource| facts.sampler_members.contains_key(&resource.name);
    let mut order: Vec<(usize, &Resource)> = list.iter().enumerate().collect();
    order.sort_by_key(|(_, resource)| !is_member(resource));
    for (binding_index, resource) in order {
        let Some(opaque) = resource.opaque else { continue };
        let is_image = matches!(resource.kind, BindingKind::Image | BindingKind::ImageBuffer);
        let name = original_name(&resource.name).into_owned();
        let explicit = facts.bindings.get(&resource.name).copied();
        let uniform = |name: String, array_size: u32, stages: StageMask, unit: Option<u32>| Uniform {
            name,
            gl_type: opaque_gl_type(&opaque, is_image),
            array_size,
            stages,
            location: -1,
            block_index: -1,
            offset: -1,
            array_stride: -1,
            matrix_stride: -1,
            row_major: false,
            atomic_index: -1,
            binding_index: binding_index as i32,
            initial_unit: unit.map_or(-1, |unit| unit as i32),
        };
        let several = match facts.sampler_members.get(&resource.name) {
            Some(parts) => Some(member_names(parts, &resource.dimensions)),
            None => array_names(&name, &resource.dimensions),
        };
        if let Some(several) = several {
            if let Some(binding) = reflection.bindings.get_mut(binding_index) {
                binding.uniform_index = reflection.uniforms.len() as i32;
            }
            for (k, (name, size)) in several.into_iter().enumerate() {
                by_name.insert(name.clone(), reflection.uniforms.len());
                let unit = explicit.map(|b| b.saturating_add((k as u32).saturating_mul(size)));
                reflection.uniforms.push(uniform(name, size, resource.stages, unit));
            }
            continue;
        }
        let is_variable_array = !resource.dimensions.is_empty();
        let (base, element, is_array) = match split_index(&name) {
            Some((base, element)) if !is_variable_array => (base.to_owned(), element, true),
            _ => (name.clone(), 0, is_variable_array),
        };
        let gl_name = if is_array { format!("{base}[0]") } else { base };
        let index = *by_name.entry(gl_name.clone()).or_insert_with(|| {
            reflection.uniforms.push(uniform(gl_name, 1, StageMask::default(), explicit));
            reflection.uniforms.len() - 1
        });
        let uniform = &mut reflection.uniforms[index];
        uniform.stages = uniform.stages.union(resource.stages);
        uniform.array_size = uniform.array_size.max(element.saturating_add(resource.count));
        if element == 0 {
            uniform.binding_index = binding_index as i32;
        }
        if let Some(binding) = reflection.bindings.get_mut(binding_index) {
            binding.uniform_index = index as i32;
            binding.uniform_element = element;
        }
    }
}
