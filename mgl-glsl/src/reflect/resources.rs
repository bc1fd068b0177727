//! Uniforms, blocks, samplers, images and atomic counters, and their descriptor numbers.

use std::collections::{BTreeMap, HashMap};

use mgpipe_types::reflection::{
    gl_type, AtomicBuffer, Binding, BindingKind, Block, BufferVariable, DefaultBlock, OpaqueDim, OpaqueType,
    Reflection, Stage, StageMask, Uniform, DEFAULT_BLOCK_NAME, SET_IMAGE, SET_SAMPLER, SET_STORAGE, SET_UNIFORM,
};
use rspirv::spirv::{Decoration, StorageClass, Word};

use super::leaves::{Leaf, Place, Walk};
use super::{opaque, Placements, ProgramFacts, StageModule};
use crate::module::Type;
use crate::options::Limits;
use crate::rewrite::original_name;

/// Prefix of the storage blocks that glslang makes of atomic counters; the binding point follows.
const ATOMIC_BLOCK: &str = "gl_AtomicCounterBlock_";

/// A resource of the program, over all stages.
pub(super) struct Resource {
    pub(super) kind: BindingKind,
    /// Block or variable name in the SPIR-V.
    pub(super) name: String,
    pub(super) count: u32,
    /// Sizes of the array's dimensions, outermost first.
    pub(super) dimensions: Vec<u32>,
    /// Stages that use it; it is active when there is one.
    pub(super) stages: StageMask,
    /// Every variable that stands for it: stage index and id.
    pub(super) variables: Vec<(usize, Word)>,
    /// Type of one element.
    pub(super) element: Word,
    pub(super) opaque: Option<OpaqueType>,
    /// The block has an instance name, so that its members carry the block's name.
    pub(super) named_instance: bool,
}

fn set_of(kind: BindingKind) -> u32 {
    match kind {
        BindingKind::DefaultBlock | BindingKind::UniformBlock => SET_UNIFORM,
        BindingKind::Sampler | BindingKind::TexelBuffer => SET_SAMPLER,
        BindingKind::StorageBlock | BindingKind::AtomicBuffer => SET_STORAGE,
        BindingKind::Image | BindingKind::ImageBuffer => SET_IMAGE,
    }
}

/// Position of a kind inside its set.
fn rank(kind: BindingKind) -> u32 {
    match kind {
        BindingKind::DefaultBlock | BindingKind::StorageBlock => 0,
        BindingKind::AtomicBuffer | BindingKind::UniformBlock => 1,
        _ => 0,
    }
}

/// All resources in order of first appearance.
fn resources(stages: &[StageModule]) -> Result<Vec<Resource>, String> {
    let mut list: Vec<Resource> = Vec::new();
    let mut by_key: HashMap<(u32, String), usize> = HashMap::new();
    for (stage_index, stage) in stages.iter().enumerate() {
        let module = &stage.module;
        for variable in module.variables() {
            if !matches!(
                variable.class,
                StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant
            ) {
                continue;
            }
            let mut element = variable.pointee;
            let mut count = 1u32;
            let mut dimensions = Vec::new();
            while let Type::Array { element: inner, length } = module.type_of(element) {
                dimensions.push(length.unwrap_or(0));
                count = count.saturating_mul(length.unwrap_or(0));
                element = inner;
            }
            let mut opaque = None;
            let name;
            let kind = match module.type_of(element) {
                Type::Opaque(mut shape) => {
                    name = module.name(variable.id).to_owned();
                    let image = module.is_storage_image(element);
                    if image {
                        shape.readable = !module.has(variable.id, Decoration::NonReadable);
                        shape.writable = !module.has(variable.id, Decoration::NonWritable);
                    }
                    opaque = Some(shape);
                    match (image, shape.dim == OpaqueDim::Buffer) {
                        (true, true) => BindingKind::ImageBuffer,
                        (true, false) => BindingKind::Image,
                        (false, true) => BindingKind::TexelBuffer,
                        (false, false) => BindingKind::Sampler,
                    }
                }
                Type::Struct { .. } => {
                    name = module.name(element).to_owned();
                    let storage =
                        variable.class == StorageClass::StorageBuffer || module.has(element, Decoration::BufferBlock);
                    if name == DEFAULT_BLOCK_NAME {
                        BindingKind::DefaultBlock
                    } else if storage && name.starts_with(ATOMIC_BLOCK) {
                        BindingKind::AtomicBuffer
                    } else if storage {
                        BindingKind::StorageBlock
                    } else {
                        BindingKind::UniformBlock
                    }
                }
                _ => return Err(format!("error: `{}' has an unsupported type", module.name(variable.id))),
            };
            let used = stage.uses.variables.contains(&variable.id);
            let key = (set_of(kind), name.clone());
            let index = *by_key.entry(key).or_insert_with(|| {
                list.push(Resource {
                    kind,
                    name,
                    count,
                    dimensions: dimensions.clone(),
                    stages: StageMask::default(),
                    variables: Vec::new(),
                    element,
                    opaque,
                    named_instance: false,
                });
                list.len() - 1
            });
            let resource = &mut list[index];
            if used && resource.stages.is_empty() {
                // Sizes of implicitly sized arrays and types come from a stage that uses the resource.
                resource.element = element;
                resource.variables.insert(0, (stage_index, variable.id));
            } else {
                resource.variables.push((stage_index, variable.id));
            }
            if count > resource.count {
                resource.count = count;
                resource.dimensions = dimensions;
            }
            resource.named_instance |= !module.name(variable.id).is_empty();
            if used {
                resource.stages.insert(module.stage);
            }
            if let (Some(all), Some(this)) = (&mut resource.opaque, opaque) {
                all.readable |= this.readable;
                all.writable |= this.writable;
            }
        }
    }
    // Blocks stay active although no shader mentions them (GL 4.6 core, section 7.6): then in the stages that declare them.
    for resource in &mut list {
        if resource.stages.is_empty() && matches!(resource.kind, BindingKind::UniformBlock | BindingKind::StorageBlock)
        {
            for (stage_index, _) in &resource.variables {
                resource.stages.insert(stages[*stage_index].module.stage);
            }
        }
    }
    Ok(list)
}

/// All subscripts of an array with these dimensions: `[0][0]`, `[0][1]`, …
pub(super) fn subscripts(dimensions: &[u32]) -> Vec<String> {
    let mut list = vec![String::new()];
    for dimension in dimensions {
        let mut longer = Vec::new();
        for prefix in &list {
            for index in 0..*dimension {
                // More than any limit allows; the limits are checked afterwards.
                if longer.len() >= 1 << 12 {
                    break;
                }
                longer.push(format!("{prefix}[{index}]"));
            }
        }
        list = longer;
    }
    list
}

/// Fills the resource tables of the reflection and the descriptor numbers.
pub(super) fn collect(
    stages: &[StageModule],
    facts: &ProgramFacts,
    limits: &Limits,
    reflection: &mut Reflection,
    placements: &mut Placements,
) -> Result<(), String> {
    let mut list = resources(stages)?;
    // Used resources first, so that their numbers are dense; the unused ones follow and are not reflected.
    list.sort_by_key(|r| (r.stages.is_empty(), set_of(r.kind), rank(r.kind)));
    let mut next: BTreeMap<u32, u32> = BTreeMap::new();
    for resource in &list {
        let set = set_of(resource.kind);
        let binding = next.entry(set).or_default();
        for (stage_index, id) in &resource.variables {
            placements.descriptors.insert((stages[*stage_index].module.stage, *id), (set, *binding));
        }
        if !resource.stages.is_empty() {
            let name = match resource.kind {
                BindingKind::AtomicBuffer => resource.name.trim_start_matches(ATOMIC_BLOCK).to_owned(),
                _ => original_name(&resource.name).into_owned(),
            };
            reflection.bindings.push(Binding {
                set,
                binding: *binding,
                kind: resource.kind,
                count: resource.count,
                stages: resource.stages,
                name,
                block_index: -1,
                uniform_index: -1,
                uniform_element: 0,
                opaque: resource.opaque,
            });
        }
        *binding += 1;
    }
    list.retain(|r| !r.stages.is_empty());
    if let Some((index, resource)) = list.iter().enumerate().find(|(_, r)| r.kind == BindingKind::DefaultBlock) {
        default_block(stages, facts, resource, reflection)?;
        let _ = index;
    }
    opaque::uniforms(facts, &list, reflection);
    for (index, resource) in list.iter().enumerate() {
        match resource.kind {
            BindingKind::UniformBlock => uniform_block(stages, facts, resource, index, reflection)?,
            BindingKind::StorageBlock => storage_block(stages, facts, resource, index, reflection)?,
            _ => {}
        }
    }
    for (index, resource) in list.iter().enumerate() {
        if resource.kind == BindingKind::AtomicBuffer {
            atomic_buffer(stages, facts, resource, index, reflection)?;
        }
    }
    locations(facts, limits, reflection)?;
    check_limits(limits, reflection)
}

fn walk_block(
    stages: &[StageModule],
    facts: &ProgramFacts,
    resource: &Resource,
    prefix: &str,
) -> Result<Vec<Leaf>, String> {
    let Some((stage_index, _)) = resource.variables.first() else { return Ok(Vec::new()) };
    let mut walk = Walk { module: &stages[*stage_index].module, bools: &facts.bools, leaves: Vec::new() };
    let place = Place { member: None, offset: 0, declared: ("", ""), depth: 0 };
    walk.walk(resource.element, prefix.to_owned(), place)?;
    Ok(walk.leaves)
}

fn block_size(stages: &[StageModule], resource: &Resource) -> u64 {
    resource
        .variables
        .first()
        .map_or(0, |(stage_index, _)| stages[*stage_index].module.block_size(resource.element, None, 0))
}

fn size_u32(size: u64, name: &str) -> Result<u32, String> {
    match u32::try_from(size) {
        Ok(size) if size < 1 << 31 => Ok(size),
        _ => Err(format!("error: `{name}' is too large")),
    }
}

/// Loose uniforms: only members that some stage uses are active; the block keeps its size.
fn default_block(
    stages: &[StageModule],
    facts: &ProgramFacts,
    resource: &Resource,
    reflection: &mut Reflection,
) -> Result<(), String> {
    let size = size_u32(block_size(stages, resource).next_multiple_of(16), "default uniform block")?;
    reflection.default_block = Some(DefaultBlock { size, stages: resource.stages });
    let Some((first_stage, _)) = resource.variables.first() else { return Ok(()) };
    let module = &stages[*first_stage].module;
    let Type::Struct { members } = module.type_of(resource.element) else { return Ok(()) };
    for (index, member) in members.iter().enumerate() {
        let index = index as u32;
        let name = module.member_name(resource.element, index);
        let mut used = StageMask::default();
        let mut end = 0;
        for (stage_index, id) in &resource.variables {
            let stage = &stages[*stage_index];
            if stage.uses.member(*id, index) {
                used.insert(stage.module.stage);
                end = end.max(stage.uses.elements_end(*id, index));
            }
        }
        if used.is_empty() {
            continue;
        }
        // The size of an array is one past the highest element that is used (GL 3.3 core, section 2.11.3).
        let element = match module.type_of(*member) {
            Type::Array { element, .. } => module.type_of(element),
            _ => Type::Other,
        };
        let most = if matches!(element, Type::Plain { .. }) { end.max(1) } else { u32::MAX };
        let offset = u64::from(module.member_decoration(resource.element, index, Decoration::Offset).unwrap_or(0));
        let mut walk = Walk { module, bools: &facts.bools, leaves: Vec::new() };
        let place = Place { member: Some((resource.element, index)), offset, declared: ("", name), depth: 0 };
        walk.walk(*member, name.to_owned(), place)?;
        for leaf in walk.leaves {
            reflection.uniforms.push(Uniform {
                name: leaf.name,
                gl_type: leaf.gl_type,
                array_size: leaf.array_size.max(1).min(most),
                stages: used,
                location: -1,
                block_index: -1,
                offset: size_u32(leaf.offset, name)? as i32,
                array_stride: leaf.array_stride as i32,
                matrix_stride: leaf.matrix_stride as i32,
                row_major: leaf.row_major,
                atomic_index: -1,
                binding_index: -1,
                initial_unit: -1,
            });
        }
    }
    Ok(())
}

fn uniform_block(
    stages: &[StageModule],
    facts: &ProgramFacts,
    resource: &Resource,
    binding_index: usize,
    reflection: &mut Reflection,
) -> Result<(), String> {
    let name = original_name(&resource.name).into_owned();
    let size = size_u32(block_size(stages, resource).next_multiple_of(16), &name)?;
    let first_block = reflection.uniform_blocks.len();
    let prefix = if resource.named_instance { resource.name.as_str() } else { "" };
    let mut members = Vec::new();
    for leaf in walk_block(stages, facts, resource, prefix)? {
        members.push(reflection.uniforms.len() as u32);
        reflection.uniforms.push(Uniform {
            name: leaf.name,
            gl_type: leaf.gl_type,
            array_size: leaf.array_size.max(1),
            stages: resource.stages,
            location: -1,
            block_index: first_block as i32,
            offset: size_u32(leaf.offset, &name)? as i32,
            array_stride: leaf.array_stride as i32,
            matrix_stride: leaf.matrix_stride as i32,
            row_major: leaf.row_major,
            atomic_index: -1,
            binding_index: -1,
            initial_unit: -1,
        });
    }
    reflection.uniform_blocks.extend(blocks(resource, facts, &name, size, &members, binding_index));
    reflection.bindings[binding_index].block_index = first_block as i32;
    Ok(())
}

/// The entries of a block or of each element of a block array.
fn blocks(
    resource: &Resource,
    facts: &ProgramFacts,
    name: &str,
    size: u32,
    members: &[u32],
    binding_index: usize,
) -> Vec<Block> {
    let explicit = facts.bindings.get(&resource.name).copied();
    subscripts(&resource.dimensions)
        .into_iter()
        .zip(0u32..)
        .map(|(suffix, element)| Block {
            name: format!("{name}{suffix}"),
            size,
            initial_binding: explicit.map_or(0, |b| b.saturating_add(element)),
            stages: resource.stages,
            members: members.to_vec(),
            binding_index: binding_index as u32,
            binding_element: element,
        })
        .collect()
}

fn storage_block(
    stages: &[StageModule],
    facts: &ProgramFacts,
    resource: &Resource,
    binding_index: usize,
    reflection: &mut Reflection,
) -> Result<(), String> {
    let name = original_name(&resource.name).into_owned();
    let size = size_u32(block_size(stages, resource), &name)?;
    let first_block = reflection.storage_blocks.len();
    let prefix = if resource.named_instance { resource.name.clone() } else { String::new() };
    let Some((stage_index, _)) = resource.variables.first() else { return Ok(()) };
    let module = &stages[*stage_index].module;
    let Type::Struct { members: types } = module.type_of(resource.element) else { return Ok(()) };
    let mut members = Vec::new();
    for (index, member) in types.iter().enumerate() {
        let index = index as u32;
        let member_name = module.member_name(resource.element, index);
        let offset = u64::from(module.member_decoration(resource.element, index, Decoration::Offset).unwrap_or(0));
        // A top-level array of aggregates is enumerated by its first element only (GL 4.6, section 7.3.1.1).
        let (mut top_size, mut top_stride) = (1, 0);
        let mut walked = *member;
        let mut full = if prefix.is_empty() { member_name.to_owned() } else { format!("{prefix}.{member_name}") };
        if let Type::Array { element, length } = module.type_of(*member) {
            top_size = length.unwrap_or(0);
            top_stride = module.decoration(*member, Decoration::ArrayStride).unwrap_or(0);
            if matches!(module.type_of(element), Type::Struct { .. } | Type::Array { .. }) {
                walked = element;
                full.push_str("[0]");
            }
        }
        let mut walk = Walk { module, bools: &facts.bools, leaves: Vec::new() };
        let place = Place {
            member: Some((resource.element, index)),
            offset,
            declared: (&resource.name, member_name),
            depth: 0,
        };
        walk.walk(walked, full, place)?;
        for leaf in walk.leaves {
            members.push(reflection.buffer_variables.len() as u32);
            reflection.buffer_variables.push(BufferVariable {
                name: leaf.name,
                gl_type: leaf.gl_type,
                array_size: leaf.array_size,
                stages: resource.stages,
                block_index: first_block as u32,
                offset: size_u32(leaf.offset, &name)?,
                array_stride: leaf.array_stride,
                matrix_stride: leaf.matrix_stride,
                row_major: leaf.row_major,
                top_level_array_size: top_size,
                top_level_array_stride: top_stride,
            });
        }
    }
    reflection.storage_blocks.extend(blocks(resource, facts, &name, size, &members, binding_index));
    reflection.bindings[binding_index].block_index = first_block as i32;
    Ok(())
}

fn atomic_buffer(
    stages: &[StageModule],
    facts: &ProgramFacts,
    resource: &Resource,
    binding_index: usize,
    reflection: &mut Reflection,
) -> Result<(), String> {
    let binding: u32 = resource.name.trim_start_matches(ATOMIC_BLOCK).parse().unwrap_or(0);
    let size = size_u32(block_size(stages, resource), "atomic counter buffer")?;
    let index = reflection.atomic_buffers.len();
    let mut counters = Vec::new();
    for leaf in walk_block(stages, facts, resource, "")? {
        counters.push(reflection.uniforms.len() as u32);
        reflection.uniforms.push(Uniform {
            name: leaf.name,
            gl_type: gl_type::UNSIGNED_INT_ATOMIC_COUNTER,
            array_size: leaf.array_size.max(1),
            stages: resource.stages,
            location: -1,
            block_index: -1,
            offset: size_u32(leaf.offset, "atomic counter buffer")? as i32,
            array_stride: leaf.array_stride as i32,
            matrix_stride: 0,
            row_major: false,
            atomic_index: index as i32,
            binding_index: -1,
            initial_unit: -1,
        });
    }
    reflection.atomic_buffers.push(AtomicBuffer {
        binding,
        size,
        stages: resource.stages,
        counters,
        binding_index: binding_index as u32,
    });
    reflection.bindings[binding_index].block_index = index as i32;
    Ok(())
}

/// Occupied location ranges, for overlap checks and first-fit assignment.
#[derive(Debug, Default)]
pub(crate) struct Ranges(BTreeMap<u32, u32>);

impl Ranges {
    /// Takes `[start, start + count)`; false when it overlaps a range that is taken.
    pub(crate) fn take(&mut self, start: u32, count: u32) -> bool {
        let Some(end) = start.checked_add(count) else { return false };
        if self.0.range(..end).next_back().is_some_and(|(_, taken_end)| *taken_end > start) {
            return false;
        }
        self.0.insert(start, end);
        true
    }

    /// Takes the first gap of `count`.
    pub(crate) fn first_fit(&mut self, count: u32) -> u32 {
        let mut start = 0;
        for (taken_start, taken_end) in &self.0 {
            if taken_start.saturating_sub(start) >= count {
                break;
            }
            start = start.max(*taken_end);
        }
        self.0.insert(start, start.saturating_add(count));
        start
    }
}

/// Gives every loose and opaque uniform its locations, explicit ones first.
fn locations(facts: &ProgramFacts, limits: &Limits, reflection: &mut Reflection) -> Result<(), String> {
    let mut ranges = Ranges::default();
    // Leaves of one variable stand next to each other, so that an aggregate's explicit location runs on through them.
    let mut running: HashMap<String, u32> = HashMap::new();
    let has_location = |u: &Uniform| u.block_index < 0 && u.atomic_index < 0;
    for uniform in reflection.uniforms.iter_mut().filter(|u| has_location(u)) {
        let top = uniform.name.split(['.', '[']).next().unwrap_or("").to_owned();
        let Some(explicit) = facts.uniform_locations.get(&top) else { continue };
        let start = *running.get(&top).unwrap_or(explicit);
        if !ranges.take(start, uniform.array_size) {
            return Err(format!("error: location qualifier for uniform {top} overlaps previously used location"));
        }
        running.insert(top, start.saturating_add(uniform.array_size));
        uniform.location = start as i32;
    }
    for hidden in [false, true] {
        for uniform in reflection.uniforms.iter_mut().filter(|u| has_location(u)) {
            if uniform.location >= 0 || uniform.name.starts_with("mgl_") != hidden {
                continue;
            }
            uniform.location = ranges.first_fit(uniform.array_size) as i32;
        }
    }
    let count = ranges.0.values().copied().max().unwrap_or(0);
    if count > limits.max_uniform_locations {
        return Err(format!(
            "error: {count} uniform locations are used, GL_MAX_UNIFORM_LOCATIONS is {}",
            limits.max_uniform_locations
        ));
    }
    reflection.location_count = count;
    Ok(())
}

fn check_limits(limits: &Limits, reflection: &Reflection) -> Result<(), String> {
    if let Some(block) = &reflection.default_block {
        let most = u64::from(limits.max_uniform_components) * 4;
        if u64::from(block.size) > most {
            return Err(format!("error: too many uniform components ({} bytes, at most {most})", block.size));
        }
    }
    for block in &reflection.uniform_blocks {
        if block.size > limits.max_uniform_block_size {
            return Err(format!(
                "error: uniform block {} too big ({}/{})",
                block.name, block.size, limits.max_uniform_block_size
            ));
        }
    }
    let per_stage = |what: &str, most: u32, count: &dyn Fn(Stage) -> u32| -> Result<(), String> {
        for stage in Stage::ALL {
            let count = count(stage);
            if count > most {
                return Err(format!("error: Too many {} shader {what} ({count}/{most})", stage.name()));
            }
        }
        Ok(())
    };
    let of_kind = |stage: Stage, kinds: &[BindingKind]| -> u32 {
        let used = reflection.bindings.iter().filter(|b| kinds.contains(&b.kind) && b.stages.contains(stage));
        used.fold(0u32, |sum, b| sum.saturating_add(b.count))
    };
    use BindingKind as K;
    per_stage("texture samplers", limits.max_texture_image_units, &|s| of_kind(s, &[K::Sampler, K::TexelBuffer]))?;
    per_stage("uniform blocks", limits.max_uniform_blocks, &|s| of_kind(s, &[K::UniformBlock]))?;
    per_stage("storage blocks", limits.max_storage_blocks, &|s| of_kind(s, &[K::StorageBlock]))?;
    per_stage("image uniforms", limits.max_image_uniforms, &|s| of_kind(s, &[K::Image, K::ImageBuffer]))?;
    per_stage("atomic counter buffers", limits.max_atomic_counter_buffers, &|s| of_kind(s, &[K::AtomicBuffer]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_fit_and_refuse() {
        let mut ranges = Ranges::default();
        assert!(ranges.take(2, 3));
        assert!(!ranges.take(4, 1) && !ranges.take(0, 3) && !ranges.take(0, 100));
        assert!(ranges.take(5, 1));
        assert_eq!(ranges.first_fit(2), 0);
        assert_eq!(ranges.first_fit(1), 6);
        assert!(!ranges.take(u32::MAX, 2));
    }
}
