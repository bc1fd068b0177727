//! Links compiled shaders into one SPIR-V module a stage.

use std::collections::HashMap;
use std::sync::PoisonError;

use mgpipe_types::reflection::{Stage, StageMask, DEFAULT_BLOCK_NAME};
use rspirv::spirv::{BuiltIn, Decoration, StorageClass};

use crate::compile::Body;
use crate::module::{Module, Type};
use crate::options::LinkOptions;
use crate::reflect::{self, interface, ProgramFacts, StageModule as LinkStage};
use crate::rewrite::original_name;
use crate::rewrite::varyings::Varying;
use crate::value;
use crate::{disk_cache, passthrough, patch, CompiledShader, LinkError, LinkedProgram, StageModule};

/// Links on the calling thread.
pub(crate) fn link(shaders: &[CompiledShader], options: &LinkOptions) -> Result<LinkedProgram, LinkError> {
    try_link(shaders, options).map_err(|mut info_log| {
        if !info_log.ends_with('\n') {
            info_log.push('\n');
        }
        LinkError { info_log }
    })
}

fn try_link(shaders: &[CompiledShader], options: &LinkOptions) -> Result<LinkedProgram, String> {
    let mut sorted: Vec<(Stage, &Body)> = Vec::with_capacity(shaders.len());
    for shader in shaders {
        let body = shader.body.as_deref().ok_or("error: linking with uncompiled/unspecialized shader")?;
        sorted.push((shader.stage, body));
    }
    sorted.sort_by_key(|(stage, _)| *stage);
    check_stages(&sorted, options)?;
    check_frag_coord(&sorted)?;
    check_invariance(&sorted)?;
    check_clipping(&sorted)?;
    let mut facts = merge_facts(&sorted)?;
    let has = |stage| sorted.iter().any(|(s, _)| *s == stage);
    facts.generated_control = !options.separable && passthrough::is_needed(has);
    // One geometry shader's layout sizes the inputs of all, but glslang sizes each by what it uses itself.
    let primitive = sorted.iter().find_map(|(_, body)| body.facts.geometry_input);
    let with_more: Vec<Option<String>> = sorted
        .iter()
        .enumerate()
        .map(|(index, (stage, body))| {
            let mut more = String::new();
            if index == 0 && facts.generated_control {
                more.push_str(&passthrough::uniforms());
            }
            if let Some(primitive) = primitive {
                if *stage == Stage::Geometry && body.facts.geometry_input.is_none() {
                    more.push_str(&format!("layout({primitive})in;"));
                }
            }
            // The prelude ends before the first line directive.
            let (prelude, rest) = body.text.split_once("\n#line ").unwrap_or((&body.text, ""));
            (!more.is_empty()).then(|| format!("{prelude}\n{more}\n#line {rest}"))
        })
        .collect();
    let sources = sorted
        .iter()
        .zip(&with_more)
        .map(|((stage, body), with_more)| {
            if let Some(text) = with_more {
                return (*stage, text.as_str(), None);
            }
            let parsed = body.parsed.lock().unwrap_or_else(PoisonError::into_inner).take();
            (*stage, body.text.as_str(), parsed)
        })
        .collect();
    let limits = &sorted.first().ok_or("error: no shaders attached to the program")?.1.limits;
    let raw = disk_cache::link(sources, limits, !options.separable).map_err(|log| link_log(&log))?;
    let mut stages = Vec::with_capacity(raw.len());
    for (stage, words) in &raw {
        let module = Module::parse(*stage, words)?;
        let uses = module.uses();
        stages.push(LinkStage { module, uses });
    }
    if facts.generated_control {
        let vertices = if options.patch_vertices == 0 { 3 } else { options.patch_vertices.min(32) };
        let words = passthrough::build(&stages[0].module, &stages[0].uses, vertices)?;
        let module = Module::parse(Stage::TessControl, &words)?;
        let uses = module.uses();
        stages.insert(1, LinkStage { module, uses });
    }
    check_position(&sorted, &stages, options)?;
    let last = stages.iter().rposition(|s| !matches!(s.module.stage, Stage::Fragment | Stage::Compute));
    let captured = last.map_or(0, |last| patch::xfb::copied_locations(&stages[last].module, options));
    patch::pack::pack(&mut stages, &options.limits, captured, !options.separable);
    check_varyings(&stages, options)?;
    let (mut reflection, placements) = reflect::reflect(&stages, &facts, options)?;
    let default_block = initial_block(&stages, &sorted, reflection.default_block.map_or(0, |b| b.size));
    let mut modules = Vec::with_capacity(stages.len());
    match last {
        Some(last) => reflection.transform_feedback = patch::xfb::apply(&mut stages[last].module, options)?,
        None if !options.transform_feedback_varyings.is_empty() => {
            return Err("error: transform feedback varyings need a vertex processing stage".into());
        }
        None => {}
    }
    patch::blocks::split(stages.iter_mut().map(|s| &mut s.module));
    for stage in &mut stages {
        patch::place(&mut stage.module, &placements);
        patch::execution_modes(&mut stage.module);
        patch::arrays::flatten(&mut stage.module)?;
        patch::rect::lower(&mut stage.module);
        patch::strip::unused(&mut stage.module);
        modules.push(StageModule { stage: stage.module.stage, words: stage.module.assemble() });
    }
    reflection.check().map_err(|error| format!("error: internal error: {error}"))?;
    Ok(LinkedProgram { modules, reflection, default_block, info_log: String::new() })
}

/// Which stages may be linked together (GL 4.6 core, section 7.3).
fn check_stages(shaders: &[(Stage, &Body)], options: &LinkOptions) -> Result<(), String> {
    let mut mask = StageMask::default();
    for (stage, _) in shaders {
        mask.insert(*stage);
    }
    if mask.is_empty() {
        return Err("error: no shaders attached to the program".into());
    }
    if mask.contains(Stage::Compute) && mask != Stage::Compute.mask() {
        return Err("error: compute shaders may not be linked with any other type of shader".into());
    }
    if !options.separable && !mask.contains(Stage::Vertex) {
        for stage in [Stage::TessControl, Stage::TessEvaluation, Stage::Geometry] {
            if mask.contains(stage) {
                return Err(format!("error: {} shader without a vertex shader", stage.name()));
            }
        }
    }
    if !options.separable && mask.contains(Stage::TessControl) && !mask.contains(Stage::TessEvaluation) {
        return Err("error: tessellation control shader without a tessellation evaluation shader".into());
    }
    Ok(())
}

/// All redeclarations of `gl_FragCoord` must agree, and every shader that reads it must repeat them (GLSL 4.60, 4.4.1.3).
fn check_frag_coord(shaders: &[(Stage, &Body)]) -> Result<(), String> {
    let fragments = || shaders.iter().filter(|(stage, _)| *stage == Stage::Fragment).map(|(_, body)| &body.facts);
    let Some(first) = fragments().find_map(|facts| facts.frag_coord) else { return Ok(()) };
    for facts in fragments() {
        let differs = match facts.frag_coord {
            Some(layout) => layout != first,
            None => facts.uses_frag_coord,
        };
        if differs {
            return Err("error: fragment shader defined with conflicting layout qualifiers for gl_FragCoord".into());
        }
    }
    Ok(())
}

/// Up to GLSL 4.10 a variable must be invariant in both shaders that share it or in none; all shaders of a stage must agree
/// in any version.
fn check_invariance(shaders: &[(Stage, &Body)]) -> Result<(), String> {
    let old = shaders.iter().all(|(_, body)| body.facts.version < 420);
    // Whether each variable of a stage is invariant, by direction and name.
    let mut stages: Vec<(Stage, HashMap<(bool, &str), bool>)> = Vec::new();
    for (stage, body) in shaders {
        if stages.last().is_none_or(|(last, _)| last != stage) {
            stages.push((*stage, HashMap::new()));
        }
        let Some((_, variables)) = stages.last_mut() else { continue };
        for Varying { name, is_input, invariant } in &body.facts.varyings {
            if variables.insert((*is_input, name), *invariant).is_some_and(|other| other != *invariant) {
                return Err(format!("error: declarations of `{name}' have mismatching invariant qualifiers"));
            }
        }
    }
    for pair in stages.windows(2).filter(|_| old) {
        let [(producer, outputs), (consumer, inputs)] = pair else { continue };
        let mut shared = inputs.iter().filter(|((is_input, _), _)| *is_input);
        let differs = shared.find(|((_, name), own)| outputs.get(&(false, *name)).is_some_and(|other| other != *own));
        if let Some(((_, name), _)) = differs {
            let (producer, consumer) = (producer.name(), consumer.name());
            return Err(format!(
                "error: `{name}' has mismatching invariant qualifiers in the {producer} and {consumer} shaders"
            ));
        }
    }
    Ok(())
}

/// A stage clips by distances or by a vertex, not by both (GLSL 1.30, section 7.1).
fn check_clipping(shaders: &[(Stage, &Body)]) -> Result<(), String> {
    for stage in Stage::ALL {
        let mut clips = shaders.iter().filter(|(s, _)| *s == stage).map(|(_, body)| body.facts.clips);
        let (distance, vertex) = clips.by_ref().fold((false, false), |all, own| (all.0 | own.0, all.1 | own.1));
        if distance && vertex {
            let name = stage.name();
            return Err(format!("error: {name} shader writes to both `gl_ClipVertex' and `gl_ClipDistance'"));
        }
    }
    Ok(())
}

/// Interfaces between stages must fit the limits; every variable takes whole locations of four components.
fn check_varyings(stages: &[LinkStage], options: &LinkOptions) -> Result<(), String> {
    let limits = &options.limits;
    for stage in stages {
        let (most_in, most_out) = match stage.module.stage {
            Stage::Vertex => (u32::MAX, limits.max_vertex_output_components),
            Stage::TessControl => (limits.max_tess_control_input_components, limits.max_tess_control_output_components),
            Stage::TessEvaluation => {
                (limits.max_tess_evaluation_input_components, limits.max_tess_evaluation_output_components)
            }
            Stage::Geometry => (limits.most_geometry_input_components, limits.max_geometry_output_components),
            Stage::Fragment => (limits.max_fragment_input_components, u32::MAX),
            Stage::Compute => continue,
        };
        for (class, most, what) in [(StorageClass::Input, most_in, "input"), (StorageClass::Output, most_out, "output")]
        {
            let used = interface::location_end(&stage.module, &stage.uses, class).saturating_mul(4);
            if used > most {
                let name = stage.module.stage.name();
                return Err(format!("error: {name} shader uses too many {what} components ({used} > {most})"));
            }
        }
    }
    Ok(())
}

/// Before GLSL 1.40 a vertex shader had to write `gl_Position`.
fn check_position(shaders: &[(Stage, &Body)], stages: &[LinkStage], options: &LinkOptions) -> Result<(), String> {
    let vertex = || shaders.iter().filter(|(stage, _)| *stage == Stage::Vertex);
    let old = vertex().all(|(_, body)| body.facts.version < 140) && vertex().count() > 0;
    if !old || options.separable {
        return Ok(());
    }
    let Some(stage) = stages.iter().find(|s| s.module.stage == Stage::Vertex) else { return Ok(()) };
    let written = stage.module.variables().iter().any(|v| {
        let Type::Struct { members } = stage.module.type_of(v.pointee) else { return false };
        v.class == StorageClass::Output
            && (0..members.len() as u32).any(|m| {
                stage.module.member_built_in(v.pointee, m) == Some(BuiltIn::Position) && stage.uses.member(v.id, m)
            })
    });
    if written {
        Ok(())
    } else {
        Err("error: vertex shader does not write to `gl_Position'.".into())
    }
}

fn merge_facts(shaders: &[(Stage, &Body)]) -> Result<ProgramFacts, String> {
    let mut facts = ProgramFacts::default();
    for (stage, body) in shaders {
        let source = &body.facts;
        for (name, location) in &source.uniform_locations {
            if facts.uniform_locations.insert(name.clone(), *location).is_some_and(|other| other != *location) {
                return Err(format!("error: conflicting explicit locations of uniform `{}'", original_name(name)));
            }
        }
        for (name, binding) in &source.bindings {
            if facts.bindings.insert(name.clone(), *binding).is_some_and(|other| other != *binding) {
                return Err(format!("error: conflicting explicit bindings of `{}'", original_name(name)));
            }
        }
        facts.bools.extend(source.bools.iter().cloned());
        facts.sampler_members.extend(source.sampler_members.iter().cloned());
        for (name, location, index) in &source.io_locations {
            let Some(location) = *location else { continue };
            match stage {
                Stage::Vertex => {
                    facts.input_locations.insert(name.clone(), location);
                }
                _ => {
                    facts.output_locations.insert(name.clone(), (location, index.unwrap_or(0)));
                }
            }
        }
        facts.origin_upper_left |= source.origin_upper_left;
        facts.broadcasts_color |= source.broadcasts_color;
    }
    let mut initial: Vec<(&str, &value::Value)> = Vec::new();
    for (name, value) in shaders.iter().flat_map(|(_, body)| &body.initial) {
        match initial.iter().find(|(other, _)| other == name) {
            Some((_, other)) if *other != value => {
                return Err(format!("error: initializers for uniform `{}' have differing values", original_name(name)));
            }
            Some(_) => {}
            None => initial.push((name, value)),
        }
    }
    Ok(facts)
}

/// The default block's bytes with the initialisers in place.
fn initial_block(stages: &[LinkStage], shaders: &[(Stage, &Body)], size: u32) -> Vec<u8> {
    let mut bytes = vec![0; size as usize];
    let found = stages.iter().find_map(|stage| {
        let module = &stage.module;
        let variable = module
            .variables()
            .into_iter()
            .find(|v| v.class == StorageClass::Uniform && module.name(v.pointee) == DEFAULT_BLOCK_NAME)?;
        Some((module, variable.pointee))
    });
    let Some((module, block)) = found.filter(|_| size > 0) else { return bytes };
    let Type::Struct { members } = module.type_of(block) else { return bytes };
    for (name, value) in shaders.iter().flat_map(|(_, body)| &body.initial) {
        for (index, member) in members.iter().enumerate() {
            let index = index as u32;
            if module.member_name(block, index) == name {
                let offset = u64::from(module.member_decoration(block, index, Decoration::Offset).unwrap_or(0));
                value::write(module, *member, Some((block, index)), offset, value, &mut bytes, 0);
            }
        }
    }
    bytes
}

/// glslang's link log in GL's form: one `error:` line each.
fn link_log(log: &str) -> String {
    let mut text = String::new();
    for line in log.lines() {
        let Some(message) = line.strip_prefix("ERROR: ") else { continue };
        let message = original_name(message.trim_end());
        text.push_str("error: ");
        text.push_str(&message.chars().take(1024).collect::<String>());
        text.push('\n');
        if text.len() > 16 << 10 {
            break;
        }
    }
    if text.is_empty() {
        text.push_str("error: the program was refused without a reason\n");
    }
    text
}
