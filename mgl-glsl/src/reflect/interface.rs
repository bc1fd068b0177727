//! Inputs of the first stage and outputs of the last, and their locations.

use std::collections::HashMap;

use mgpipe_types::reflection::{gl_type, InterfaceVariable, Reflection, Stage};
use rspirv::spirv::{BuiltIn, Decoration, StorageClass};

use super::leaves::{self, Leaf};
use super::resources::Ranges;
use super::{Placements, ProgramFacts, StageModule};
use crate::module::{Module, Type, Uses, Variable};
use crate::options::LinkOptions;
use crate::rewrite::{original_name, FRAGMENT_COLOR, FRAGMENT_DATA};

/// Fills inputs and outputs, and the locations that the patches write.
pub(super) fn collect(
    stages: &[StageModule],
    facts: &ProgramFacts,
    options: &LinkOptions,
    reflection: &mut Reflection,
    placements: &mut Placements,
) -> Result<(), String> {
    if let Some(first) = stages.first() {
        if first.module.stage == Stage::Vertex {
            reflection.inputs = attributes(first, facts, options, placements)?;
        } else {
            reflection.inputs = plain(first, StorageClass::Input)?;
        }
    }
    if let Some(last) = stages.last() {
        if last.module.stage == Stage::Fragment {
            reflection.outputs = fragment_outputs(last, facts, options, placements)?;
        } else {
            reflection.outputs = plain(last, StorageClass::Output)?;
        }
    }
    Ok(())
}

/// GL name of a built-in variable that GL enumerates.
fn built_in_name(built_in: BuiltIn) -> Option<&'static str> {
    Some(match built_in {
        BuiltIn::VertexIndex => "gl_VertexID",
        BuiltIn::InstanceIndex => "gl_InstanceID",
        BuiltIn::FragDepth => "gl_FragDepth",
        BuiltIn::Position => "gl_Position",
        BuiltIn::PointSize => "gl_PointSize",
        BuiltIn::ClipDistance => "gl_ClipDistance[0]",
        BuiltIn::FragCoord => "gl_FragCoord",
        BuiltIn::FrontFacing => "gl_FrontFacing",
        BuiltIn::SampleMask => "gl_SampleMask[0]",
        BuiltIn::PrimitiveId => "gl_PrimitiveID",
        BuiltIn::Layer => "gl_Layer",
        _ => return None,
    })
}

fn entry(leaf: &Leaf, stage: Stage, location: i32) -> InterfaceVariable {
    InterfaceVariable {
        name: leaf.name.clone(),
        gl_type: leaf.gl_type,
        array_size: leaf.array_size.max(1),
        location,
        spirv_location: location,
        component: 0,
        index: 0,
        per_patch: false,
        stages: stage.mask(),
    }
}

fn variables(stage: &StageModule, class: StorageClass) -> Vec<Variable> {
    stage.module.variables().into_iter().filter(|v| v.class == class).collect()
}

fn attributes(
    stage: &StageModule,
    facts: &ProgramFacts,
    options: &LinkOptions,
    placements: &mut Placements,
) -> Result<Vec<InterfaceVariable>, String> {
    let module = &stage.module;
    let bound: HashMap<&str, u32> = options.attribute_locations.iter().map(|(n, l)| (n.as_str(), *l)).collect();
    let mut list = Vec::new();
    // Location wanted, position of the variable, its leaf.
    let mut pending: Vec<(Option<u32>, Variable, Leaf)> = Vec::new();
    for variable in variables(stage, StorageClass::Input) {
        let used = stage.uses.variables.contains(&variable.id);
        if let Some(built_in) = module.built_in(variable.id) {
            if let Some(name) = built_in_name(built_in).filter(|_| used) {
                let leaf = leaves::of_type(module, variable.pointee, name)?.into_iter().next();
                list.extend(leaf.map(|leaf| entry(&leaf, Stage::Vertex, -1)));
            }
            continue;
        }
        let name = module.name(variable.id).to_owned();
        let leaf = leaves::of_type(module, variable.pointee, &name)?.into_iter().next();
        let Some(mut leaf) = leaf else { continue };
        if !used {
            // Not active; it still needs a valid location, which is chosen last and outside GL's numbers.
            leaf.array_size = leaf.array_size.max(1);
            pending.push((Some(u32::MAX), variable, leaf));
            continue;
        }
        let gl_name = original_name(&name).into_owned();
        let wanted = facts.input_locations.get(&name).copied().or_else(|| bound.get(gl_name.as_str()).copied());
        let wanted = wanted.or((name == "gl_Vertex").then_some(0));
        pending.push((wanted, variable, leaf));
    }
    let locations_of = |leaf: &Leaf| gl_type::attribute_locations(leaf.gl_type).saturating_mul(leaf.array_size.max(1));
    let mut ranges = Ranges::default();
    let mut assigned: Vec<(u32, Variable, Leaf)> = Vec::new();
    // In GL several attributes may have one location, as long as no path through the shader reads more than one of them
    // (GL 3.3 core, section 2.11.4). In SPIR-V each gets a location of its own, which is fed from the same array.
    let mut aliases: Vec<(u32, Variable, Leaf)> = Vec::new();
    for (wanted, variable, leaf) in pending.iter().filter(|p| p.0.is_some_and(|w| w != u32::MAX)) {
        let start = wanted.unwrap_or(0);
        let count = locations_of(leaf);
        if start.saturating_add(count) > options.limits.max_vertex_attribs {
            return Err(format!("error: attribute `{}' is bound to location {start}, which is too large", leaf.name));
        }
        // Variables may share a location by components; glslang has checked that they do not overlap.
        let component = module.decoration(variable.id, Decoration::Component).unwrap_or(0);
        if component == 0 && !ranges.take(start, count) {
            aliases.push((start, variable.clone(), leaf.clone()));
        } else {
            assigned.push((start, variable.clone(), leaf.clone()));
        }
    }
    for (_, variable, leaf) in pending.iter().filter(|p| p.0.is_none()) {
        let start = ranges.first_fit(locations_of(leaf));
        if start.saturating_add(locations_of(leaf)) > options.limits.max_vertex_attribs {
            return Err(format!("error: too many attributes, no location left for `{}'", leaf.name));
        }
        assigned.push((start, variable.clone(), leaf.clone()));
    }
    assigned.sort_by_key(|(start, ..)| *start);
    let alias_places: Vec<u32> = aliases.iter().map(|(.., leaf)| ranges.first_fit(locations_of(leaf))).collect();
    for ((.., leaf), place) in aliases.iter().zip(&alias_places) {
        if place.saturating_add(locations_of(leaf)) > options.limits.max_vertex_attribs {
            return Err(format!("error: overlapping location is assigned to attribute `{}'", leaf.name));
        }
    }
    // Wide doubles take two locations in SPIR-V; then everything moves up in order.
    let spirv_count = |leaf: &Leaf| gl_type::spirv_locations(leaf.gl_type).saturating_mul(leaf.array_size.max(1));
    let wide = assigned.iter().chain(&aliases).any(|(.., leaf)| spirv_count(leaf) != locations_of(leaf));
    let mut next = 0u32;
    let places = assigned.iter().map(|(start, ..)| *start).chain(alias_places);
    for ((start, variable, leaf), place) in assigned.iter().chain(&aliases).zip(places) {
        let component = module.decoration(variable.id, Decoration::Component).unwrap_or(0);
        let spirv_location = if wide { next.max(place) } else { place };
        next = next.max(spirv_location.saturating_add(spirv_count(leaf)));
        placements.locations.insert((Stage::Vertex, variable.id), (spirv_location, 0));
        let mut variable = entry(leaf, Stage::Vertex, *start as i32);
        variable.spirv_location = spirv_location as i32;
        variable.component = component;
        list.push(variable);
    }
    for (_, variable, leaf) in pending.iter().filter(|p| p.0 == Some(u32::MAX)) {
        placements.locations.insert((Stage::Vertex, variable.id), (next, 0));
        next = next.saturating_add(spirv_count(leaf));
    }
    Ok(list)
}

fn fragment_outputs(
    stage: &StageModule,
    facts: &ProgramFacts,
    options: &LinkOptions,
    placements: &mut Placements,
) -> Result<Vec<InterfaceVariable>, String> {
    let module = &stage.module;
    let bound: HashMap<&str, (u32, u32)> =
        options.fragment_data_locations.iter().map(|(n, l, i)| (n.as_str(), (*l, *i))).collect();
    let mut list = Vec::new();
    let mut pending = Vec::new();
    for variable in variables(stage, StorageClass::Output) {
        if let Some(built_in) = module.built_in(variable.id) {
            if let Some(name) = built_in_name(built_in).filter(|_| stage.uses.variables.contains(&variable.id)) {
                let leaf = leaves::of_type(module, variable.pointee, name.trim_end_matches("[0]"))?.into_iter().next();
                list.extend(leaf.map(|leaf| entry(&leaf, Stage::Fragment, -1)));
            }
            continue;
        }
        let name = module.name(variable.id).to_owned();
        let Some(leaf) = leaves::of_type(module, variable.pointee, &name)?.into_iter().next() else { continue };
        if name.starts_with("mgl_FragColor") || name == FRAGMENT_DATA {
            // Declared by the rewriter with their locations.
            let location = module.decoration(variable.id, Decoration::Location).unwrap_or(0);
            placements.locations.insert((Stage::Fragment, variable.id), (location, 0));
            if name == FRAGMENT_DATA || name == FRAGMENT_COLOR {
                let mut variable = entry(&leaf, Stage::Fragment, -1);
                variable.spirv_location = location as i32;
                list.push(variable);
            }
            continue;
        }
        let gl_name = original_name(&name).into_owned();
        let bound = bound.get(gl_name.as_str()).or_else(|| bound.get(leaf.name.as_str())).copied();
        let wanted = facts.output_locations.get(&name).copied().or(bound);
        pending.push((wanted, variable, leaf));
    }
    let mut ranges = [Ranges::default(), Ranges::default()];
    if list.iter().any(|o: &InterfaceVariable| o.spirv_location == 0) {
        ranges[0].take(0, 1);
    }
    pending.sort_by_key(|(wanted, ..)| wanted.is_none());
    for (wanted, variable, leaf) in pending {
        let count = leaf.array_size.max(1);
        let (location, index) = match wanted {
            Some((location, index)) => {
                let dual = index.min(1) as usize;
                let most = if dual == 1 {
                    options.limits.max_dual_source_draw_buffers
                } else {
                    options.limits.max_draw_buffers
                };
                if index > 1 || location.saturating_add(count) > most {
                    return Err(format!("error: fragment output `{}' has an invalid location {location}", leaf.name));
                }
                let component = module.decoration(variable.id, Decoration::Component).unwrap_or(0);
                if component == 0 && !ranges[dual].take(location, count) {
                    return Err(format!("error: overlapping location is assigned to fragment output `{}'", leaf.name));
                }
                (location, index)
            }
            None => {
                let location = ranges[0].first_fit(count);
                if location.saturating_add(count) > options.limits.max_draw_buffers {
                    return Err(format!("error: too many fragment outputs, no location left for `{}'", leaf.name));
                }
                (location, 0)
            }
        };
        placements.locations.insert((Stage::Fragment, variable.id), (location, index));
        let mut entry = entry(&leaf, Stage::Fragment, location as i32);
        entry.index = index;
        entry.component = module.decoration(variable.id, Decoration::Component).unwrap_or(0);
        list.push(entry);
    }
    Ok(list)
}

/// Whether the outermost array of an interface variable counts vertices.
pub(crate) fn is_per_vertex(module: &Module, variable: &Variable) -> bool {
    let arrayed = match module.stage {
        Stage::TessControl => true,
        Stage::TessEvaluation | Stage::Geometry => variable.class == StorageClass::Input,
        _ => false,
    };
    arrayed && !module.has(variable.id, Decoration::Patch)
}

/// One past the last location of the used per-vertex inputs or outputs of a stage.
pub(crate) fn location_end(module: &Module, uses: &Uses, class: StorageClass) -> u32 {
    let mut end = 0;
    for variable in module.variables() {
        if variable.class != class
            || !uses.variables.contains(&variable.id)
            || module.has(variable.id, Decoration::Patch)
        {
            continue;
        }
        let mut pointee = variable.pointee;
        if let (true, Type::Array { element, .. }) = (is_per_vertex(module, &variable), module.type_of(pointee)) {
            pointee = element;
        }
        let own = module.decoration(variable.id, Decoration::Location);
        let count = |id| -> u32 {
            let leaves = leaves::of_type(module, id, "x").unwrap_or_default();
            leaves.iter().fold(0, |sum: u32, leaf| {
                sum.saturating_add(gl_type::spirv_locations(leaf.gl_type).saturating_mul(leaf.array_size.max(1)))
            })
        };
        if let Some(location) = own {
            end = end.max(location.saturating_add(count(pointee)));
        } else if let Type::Struct { members } = module.type_of(pointee) {
            for (index, member) in members.iter().enumerate() {
                if let Some(location) = module.member_decoration(pointee, index as u32, Decoration::Location) {
                    end = end.max(location.saturating_add(count(*member)));
                }
            }
        }
    }
    end
}

/// Interface of a stage that is neither: names and the locations that the SPIR-V has.
fn plain(stage: &StageModule, class: StorageClass) -> Result<Vec<InterfaceVariable>, String> {
    let module = &stage.module;
    let mut list = Vec::new();
    for variable in variables(stage, class) {
        let used = stage.uses.variables.contains(&variable.id);
        if let Some(built_in) = module.built_in(variable.id) {
            if let Some(name) = built_in_name(built_in).filter(|_| used) {
                let name = name.trim_end_matches("[0]");
                let leaf = leaves::of_type(module, variable.pointee, name)?.into_iter().next();
                list.extend(leaf.map(|leaf| entry(&leaf, module.stage, -1)));
            }
            continue;
        }
        block_or_variable(module, &variable, &mut list, used, &|member| stage.uses.member(variable.id, member))?;
    }
    Ok(list)
}

fn block_or_variable(
    module: &Module,
    variable: &Variable,
    list: &mut Vec<InterfaceVariable>,
    used: bool,
    member_used: &dyn Fn(u32) -> bool,
) -> Result<(), String> {
    let stage = module.stage;
    let mut pointee = variable.pointee;
    // Per-vertex arrays of tessellation and geometry stages are not part of the GL name.
    if let Type::Array { element, .. } = module.type_of(pointee) {
        if matches!(module.type_of(element), Type::Struct { .. }) && module.has(element, Decoration::Block) {
            pointee = element;
        }
    }
    let block = matches!(module.type_of(pointee), Type::Struct { .. }) && module.has(pointee, Decoration::Block);
    if !block {
        if !used {
            return Ok(());
        }
        let name = module.name(variable.id);
        let mut location = module.decoration(variable.id, Decoration::Location).unwrap_or(0);
        for leaf in leaves::of_type(module, pointee, name)? {
            let mut entry = entry(&leaf, stage, location as i32);
            entry.component = module.decoration(variable.id, Decoration::Component).unwrap_or(0);
            entry.per_patch = module.has(variable.id, Decoration::Patch);
            location = location.saturating_add(gl_type::spirv_locations(leaf.gl_type).saturating_mul(leaf.array_size));
            list.push(entry);
        }
        return Ok(());
    }
    let Type::Struct { members } = module.type_of(pointee) else { return Ok(()) };
    let block_name = module.name(pointee);
    let mut location = module.decoration(variable.id, Decoration::Location).unwrap_or(0);
    for (index, member) in members.iter().enumerate() {
        let index = index as u32;
        if let Some(built_in) = module.member_built_in(pointee, index) {
            if let Some(name) = built_in_name(built_in).filter(|_| member_used(index)) {
                let leaf = leaves::of_type(module, *member, name.trim_end_matches("[0]"))?.into_iter().next();
                list.extend(leaf.map(|leaf| entry(&leaf, stage, -1)));
            }
            continue;
        }
        location = module.member_decoration(pointee, index, Decoration::Location).unwrap_or(location);
        let name = format!("{block_name}.{}", module.member_name(pointee, index));
        for leaf in leaves::of_type(module, *member, &name)? {
            list.push(entry(&leaf, stage, location as i32));
            location = location.saturating_add(gl_type::spirv_locations(leaf.gl_type).saturating_mul(leaf.array_size));
        }
    }
    Ok(())
}
