//! Transform feedback: decorates the outputs that the application named, or reports what the shader's layouts say.
//!
//! Whole variables and block members are decorated in place. Anything smaller (an array element, a structure member) is
//! copied to an output of its own where a vertex is complete: before each return of the entry point, or before each
//! `EmitVertex` of a geometry shader.

use mgpipe_types::reflection::gl_type::{self, Scalar};
use mgpipe_types::reflection::{
    Stage, TransformFeedback, TransformFeedbackBuffer, TransformFeedbackMode, TransformFeedbackVarying,
};
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{BuiltIn, Capability, Decoration, ExecutionMode, Op, StorageClass, Word};

use super::capture::{self, Copy, Slots};
use super::edit::add_capability;
use crate::module::{operand, Module, Type, Variable};
use crate::options::{Limits, LinkOptions};
use crate::reflect::leaves;
use crate::rewrite::original_name;

/// What a varying's name stands for.
struct Target {
    variable: Word,
    /// Struct type and member, for a member of a block.
    member: Option<(Word, u32)>,
    /// Indices of the access chain that is left: array elements and structure members.
    path: Vec<u32>,
    /// Type of what is captured.
    captured: Word,
    location: i32,
    component: u32,
    stream: u32,
}

impl Target {
    /// Whether a copy is captured instead: parts of variables cannot be decorated, and drivers lower the clip distances to
    /// variables of their own.
    fn is_copied(&self, module: &Module) -> bool {
        let built_in = match self.member {
            Some((structure, member)) => module.member_built_in(structure, member),
            None => module.built_in(self.variable),
        };
        !self.path.is_empty()
            || module.packed.contains(&self.variable)
            || matches!(built_in, Some(BuiltIn::ClipDistance | BuiltIn::CullDistance))
    }
}

/// Shape of what is captured, and its size in bytes.
struct Shape {
    gl_type: u32,
    array_size: u32,
    bytes: u32,
}

/// Applies the options to the last stage before rasterisation; `None` when nothing is captured.
pub(crate) fn apply(module: &mut Module, options: &LinkOptions) -> Result<Option<TransformFeedback>, String> {
    let declared = from_layouts(module)?;
    if declared.is_some() || options.transform_feedback_varyings.is_empty() {
        return Ok(declared);
    }
    let mode = options.transform_feedback_mode.unwrap_or(TransformFeedbackMode::Interleaved);
    let limits = &options.limits;
    let mut result = TransformFeedback { mode, buffers: Vec::new(), varyings: Vec::new() };
    let mut targets: Vec<Option<Target>> = Vec::new();
    let (mut buffer, mut offset) = (0u32, 0u32);
    for name in &options.transform_feedback_varyings {
        let mut entry = TransformFeedbackVarying {
            name: name.clone(),
            gl_type: 0,
            array_size: 0,
            buffer,
            offset,
            location: -1,
            component: 0,
        };
        let interleaved = mode == TransformFeedbackMode::Interleaved;
        if name == "gl_NextBuffer" || name.starts_with("gl_SkipComponents") {
            if !interleaved {
                return Err(format!("error: {name} needs interleaved transform feedback"));
            }
            if name == "gl_NextBuffer" {
                finish_buffer(&mut result, buffer, offset);
                buffer += 1;
                offset = 0;
            } else {
                let skipped = name.trim_start_matches("gl_SkipComponents").parse::<u32>().ok();
                let skipped = skipped.filter(|n| (1..=4).contains(n)).ok_or_else(|| undeclared(name))?;
                entry.array_size = skipped;
                offset += skipped * 4;
            }
            result.varyings.push(entry);
            targets.push(None);
            continue;
        }
        if options.transform_feedback_varyings.iter().filter(|other| *other == name).count() > 1 {
            return Err(format!("error: Transform feedback varying {name} specified more than once."));
        }
        let target = resolve(module, name).ok_or_else(|| undeclared(name))?;
        let shape = shape(module, target.captured).ok_or_else(|| undeclared(name))?;
        entry.gl_type = shape.gl_type;
        entry.array_size = shape.array_size;
        entry.location = target.location;
        entry.component = target.component;
        if !interleaved && shape.bytes / 4 > limits.max_transform_feedback_separate_components {
            return Err(format!(
                "error: Transform feedback varying {name} exceeds GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_COMPONENTS."
            ));
        }
        result.varyings.push(entry);
        set_stream(&mut result, buffer, target.stream, name)?;
        targets.push(Some(target));
        offset = offset.saturating_add(shape.bytes);
        if !interleaved {
            finish_buffer(&mut result, buffer, offset);
            buffer += 1;
            offset = 0;
        }
    }
    if mode == TransformFeedbackMode::Interleaved {
        finish_buffer(&mut result, buffer, offset);
    }
    let components: u32 = result.buffers.iter().map(|b| b.stride / 4).fold(0, u32::saturating_add);
    if mode == TransformFeedbackMode::Interleaved && components > limits.max_transform_feedback_interleaved_components {
        return Err("error: Too many components for interleaved transform feedback.".into());
    }
    let separate = mode == TransformFeedbackMode::Separate;
    let most = if separate {
        limits.max_transform_feedback_separate_attribs.min(limits.max_transform_feedback_buffers)
    } else {
        limits.max_transform_feedback_buffers
    };
    if result.buffers.len() > most as usize {
        return Err("error: Too many transform feedback buffers.".into());
    }
    decorate(module, &mut result, &targets, limits)?;
    Ok(Some(result))
}

fn undeclared(name: &str) -> String {
    format!("error: Transform feedback varying {name} undeclared.")
}

fn buffer_entry(result: &mut TransformFeedback, buffer: u32) -> &mut TransformFeedbackBuffer {
    let index = buffer as usize;
    while result.buffers.len() <= index {
        result.buffers.push(TransformFeedbackBuffer { stride: 0, stream: u32::MAX });
    }
    &mut result.buffers[index]
}

fn finish_buffer(result: &mut TransformFeedback, buffer: u32, stride: u32) {
    let entry = buffer_entry(result, buffer);
    entry.stride = stride;
    if entry.stream == u32::MAX {
        entry.stream = 0;
    }
}

fn set_stream(result: &mut TransformFeedback, buffer: u32, stream: u32, name: &str) -> Result<(), String> {
    let entry = buffer_entry(result, buffer);
    if entry.stream != u32::MAX && entry.stream != stream {
        return Err(format!(
            "error: Transform feedback can't capture varyings belonging to different vertex streams in a single buffer. \
             Varying {name} writes to buffer from stream {stream}, other varyings in the same buffer write from stream {}.",
            entry.stream
        ));
    }
    entry.stream = stream;
    Ok(())
}

fn shape(module: &Module, id: Word) -> Option<Shape> {
    let mut array_size = 1u32;
    let mut element = id;
    while let Type::Array { element: inner, length } = module.type_of(element) {
        array_size = array_size.checked_mul(length?)?;
        element = inner;
    }
    let Type::Plain { scalar, columns, rows } = module.type_of(element) else { return None };
    let bytes = (columns * rows * scalar.size()).checked_mul(array_size)?;
    let scalar = if scalar == Scalar::Bool { Scalar::Uint } else { scalar };
    Some(Shape { gl_type: gl_type::from_shape(scalar, columns, rows)?, array_size, bytes })
}

/// Name of a per-vertex built-in as transform feedback spells it.
fn built_in(name: &str) -> Option<BuiltIn> {
    Some(match name {
        "gl_Position" => BuiltIn::Position,
        "gl_PointSize" => BuiltIn::PointSize,
        "gl_ClipDistance" => BuiltIn::ClipDistance,
        "gl_CullDistance" => BuiltIn::CullDistance,
        "gl_Layer" => BuiltIn::Layer,
        "gl_ViewportIndex" => BuiltIn::ViewportIndex,
        "gl_PrimitiveID" => BuiltIn::PrimitiveId,
        _ => return None,
    })
}

/// One step of a name: a field or an array index.
enum Step<'n> {
    Field(&'n str),
    Index(u32),
}

fn steps(name: &str) -> Option<Vec<Step<'_>>> {
    let mut list = Vec::new();
    for part in name.split('.') {
        let mut rest = part.split('[');
        list.push(Step::Field(rest.next().filter(|f| !f.is_empty())?));
        for index in rest {
            list.push(Step::Index(index.strip_suffix(']')?.parse().ok()?));
        }
    }
    Some(list)
}

fn resolve(module: &Module, name: &str) -> Option<Target> {
    let steps = steps(name)?;
    let (Step::Field(root), rest) = steps.split_first()? else { return None };
    let captured = |v: &Variable| v.class == StorageClass::Output || module.packed.contains(&v.id);
    for variable in module.variables().into_iter().filter(captured) {
        let stream = |module: &Module| module.decoration(variable.id, Decoration::Stream).unwrap_or(0);
        let (block, dimensions) = block_type(module, variable.pointee);
        let Some(block) = block else {
            let own = module.built_in(variable.id);
            let matches = match built_in(root) {
                Some(wanted) => own == Some(wanted),
                None => own.is_none() && original_name(module.name(variable.id)) == *root,
            };
            if matches {
                let location = module.decoration(variable.id, Decoration::Location).map_or(-1, |l| l as i32);
                let component = module.decoration(variable.id, Decoration::Component).unwrap_or(0);
                let mut target = Target {
                    variable: variable.id,
                    member: None,
                    path: Vec::new(),
                    captured: variable.pointee,
                    location,
                    component,
                    stream: stream(module),
                };
                follow(module, &mut target, rest)?;
                return Some(target);
            }
            continue;
        };
        let Type::Struct { members } = module.type_of(block) else { continue };
        if dimensions > 0 {
            if original_name(module.name(block)) == *root {
                return element_of_block(module, &variable, dimensions, rest);
            }
            continue;
        }
        // `Block.member` when the block has an instance name, else `member`.
        let unnamed = module.name(variable.id).is_empty();
        let (field, after) = if original_name(module.name(variable.pointee)) == *root {
            match rest.split_first() {
                Some((Step::Field(field), after)) => (*field, after),
                _ => continue,
            }
        } else if unnamed || built_in(root).is_some() {
            (*root, rest)
        } else {
            continue;
        };
        let mut location = module.decoration(variable.id, Decoration::Location);
        for (index, member) in members.iter().enumerate() {
            let index = index as u32;
            location = module.member_decoration(variable.pointee, index, Decoration::Location).or(location);
            let own = module.member_built_in(variable.pointee, index);
            let matches = match built_in(field) {
                Some(wanted) => own == Some(wanted),
                None => own.is_none() && original_name(module.member_name(variable.pointee, index)) == field,
            };
            if matches {
                let stream = module
                    .member_decoration(variable.pointee, index, Decoration::Stream)
                    .unwrap_or_else(|| stream(module));
                let mut target = Target {
                    variable: variable.id,
                    member: Some((variable.pointee, index)),
                    path: Vec::new(),
                    captured: *member,
                    location: if own.is_some() { -1 } else { location.map_or(-1, |l| l as i32) },
                    component: 0,
                    stream,
                };
                follow(module, &mut target, after)?;
                return Some(target);
            }
            location = location.map(|l| l.saturating_add(locations(module, *member)));
        }
    }
    None
}

/// The interface block that a variable is or holds in arrays, and how many array dimensions there are.
fn block_type(module: &Module, mut id: Word) -> (Option<Word>, usize) {
    let mut dimensions = 0;
    while let Type::Array { element, .. } = module.type_of(id) {
        dimensions += 1;
        id = element;
    }
    let is_block = matches!(module.type_of(id), Type::Struct { .. })
        && (module.has(id, Decoration::Block) || module.packed.contains(&id));
    (is_block.then_some(id), dimensions)
}

/// `Block[0].member`: arrays of blocks are named with all their indices.
fn element_of_block(module: &Module, variable: &Variable, dimensions: usize, steps: &[Step<'_>]) -> Option<Target> {
    let indexed = steps.iter().take_while(|step| matches!(step, Step::Index(_))).count();
    if indexed != dimensions || steps.len() == dimensions {
        return None;
    }
    let mut target = Target {
        variable: variable.id,
        member: None,
        path: Vec::new(),
        captured: variable.pointee,
        location: -1,
        component: 0,
        stream: module.decoration(variable.id, Decoration::Stream).unwrap_or(0),
    };
    follow(module, &mut target, steps)?;
    Some(target)
}

/// Locations that a variable of this type takes.
pub(super) fn locations(module: &Module, id: Word) -> u32 {
    leaves::of_type(module, id, "x").map_or(1, |all| {
        all.iter().fold(0u32, |sum, leaf| {
            sum.saturating_add(gl_type::spirv_locations(leaf.gl_type).saturating_mul(leaf.array_size.max(1)))
        })
    })
}

fn follow(module: &Module, target: &mut Target, steps: &[Step<'_>]) -> Option<()> {
    for step in steps {
        match (step, module.type_of(target.captured)) {
            (Step::Index(index), Type::Array { element, length }) if length.is_some_and(|l| *index < l) => {
                target.path.push(*index);
                target.captured = element;
            }
            (Step::Field(field), Type::Struct { members }) => {
                let at = (0..members.len())
                    .find(|i| original_name(module.member_name(target.captured, *i as u32)) == *field)?;
                target.path.push(at as u32);
                target.captured = *members.get(at)?;
            }
            _ => return None,
        }
    }
    Some(())
}

fn decorate(
    module: &mut Module,
    result: &mut TransformFeedback,
    targets: &[Option<Target>],
    limits: &Limits,
) -> Result<(), String> {
    let mut slots = Slots { next: free_location(module), open: Vec::new() };
    let mut annotations = Vec::new();
    let mut copies = Vec::new();
    for (varying, target) in result.varyings.iter_mut().zip(targets) {
        let Some(target) = target else { continue };
        let stride = result.buffers.get(varying.buffer as usize).map_or(0, |b| b.stride);
        let buffer = varying.buffer;
        let where_to =
            |offset| [(Decoration::XfbBuffer, buffer), (Decoration::XfbStride, stride), (Decoration::Offset, offset)];
        if !target.is_copied(module) {
            annotations.extend(where_to(varying.offset).map(|(d, v)| match target.member {
                Some((structure, member)) => member_decoration(structure, member, d, v),
                None => super::decorate(target.variable, d, v),
            }));
            continue;
        }
        let pieces = capture::pieces(module, target.captured).ok_or_else(|| undeclared(&varying.name))?;
        for (number, piece) in pieces.into_iter().enumerate() {
            let copy = capture::variable(&mut module.dr, piece.kind, &varying.name);
            let place = slots.place(&piece, target.stream);
            let offset = varying.offset.saturating_add(piece.offset);
            annotations.extend(where_to(offset).map(|(d, v)| super::decorate(copy, d, v)));
            annotations.push(super::decorate(copy, Decoration::Location, place.location));
            if place.component != 0 {
                annotations.push(super::decorate(copy, Decoration::Component, place.component));
            }
            if target.stream != 0 {
                annotations.push(super::decorate(copy, Decoration::Stream, target.stream));
            }
            if number == 0 {
                varying.location = place.location as i32;
                varying.component = place.component;
            }
            let mut path = Vec::new();
            path.extend(target.member.map(|(_, member)| member));
            path.extend(target.path.iter().chain(&piece.path));
            copies.push(Copy { source: target.variable, path, kind: piece.kind, copy });
        }
    }
    let most = match module.stage {
        Stage::Geometry => limits.max_geometry_output_components,
        Stage::TessEvaluation => limits.max_tess_evaluation_output_components,
        _ => limits.max_vertex_output_components,
    };
    let used = slots.next.saturating_mul(4);
    if !copies.is_empty() && used > most {
        return Err(format!(
            "error: varyings and what transform feedback captures use too many components ({used} > {most})"
        ));
    }
    module.dr.annotations.extend(annotations);
    add_capability(&mut module.dr, Capability::TransformFeedback);
    let entry = module.dr.entry_points.first().and_then(|e| operand(e, 1));
    if let Some(entry) = entry {
        module.dr.execution_modes.push(Instruction::new(
            Op::ExecutionMode,
            None,
            None,
            vec![Operand::IdRef(entry), Operand::ExecutionMode(ExecutionMode::Xfb)],
        ));
        capture::insert(module, entry, &copies);
    }
    Ok(())
}

/// Locations, besides those of the outputs, that copies of what is captured will take in the last stage before
/// rasterisation, as far as that can be told before [`apply`].
pub(crate) fn copied_locations(module: &Module, options: &LinkOptions) -> u32 {
    let mut slots = Slots::default();
    for name in &options.transform_feedback_varyings {
        let Some(target) = resolve(module, name).filter(|target| target.is_copied(module)) else { continue };
        for piece in capture::pieces(module, target.captured).unwrap_or_default() {
            slots.place(&piece, target.stream);
        }
    }
    slots.next
}

fn member_decoration(structure: Word, member: u32, decoration: Decoration, value: u32) -> Instruction {
    Instruction::new(
        Op::MemberDecorate,
        None,
        None,
        vec![
            Operand::IdRef(structure),
            Operand::LiteralBit32(member),
            Operand::Decoration(decoration),
            Operand::LiteralBit32(value),
        ],
    )
}

/// One past the last location of the stage's outputs.
fn free_location(module: &Module) -> u32 {
    let mut end = 0;
    for variable in module.variables().into_iter().filter(|v| v.class == StorageClass::Output) {
        let own = module.decoration(variable.id, Decoration::Location);
        if let Some(location) = own {
            end = end.max(location.saturating_add(locations(module, variable.pointee)));
        }
        if let Type::Struct { members } = module.type_of(variable.pointee) {
            for (index, member) in members.iter().enumerate() {
                if let Some(location) = module.member_decoration(variable.pointee, index as u32, Decoration::Location) {
                    end = end.max(location.saturating_add(locations(module, *member)));
                }
            }
        }
    }
    end
}

/// What `xfb_buffer`, `xfb_offset` and `xfb_stride` in the shader declare.
fn from_layouts(module: &Module) -> Result<Option<TransformFeedback>, String> {
    let mut result =
        TransformFeedback { mode: TransformFeedbackMode::Interleaved, buffers: Vec::new(), varyings: Vec::new() };
    let mut found = Vec::new();
    for variable in module.variables().into_iter().filter(|v| v.class == StorageClass::Output) {
        let stream = module.decoration(variable.id, Decoration::Stream).unwrap_or(0);
        let buffer = module.decoration(variable.id, Decoration::XfbBuffer);
        let stride = module.decoration(variable.id, Decoration::XfbStride);
        if let (Some(buffer), Some(offset)) = (buffer, module.decoration(variable.id, Decoration::Offset)) {
            let name = original_name(module.name(variable.id)).into_owned();
            let location = module.decoration(variable.id, Decoration::Location).map_or(-1, |l| l as i32);
            found.push((name, variable.pointee, buffer, offset, stride, location, stream));
        }
        let Type::Struct { members } = module.type_of(variable.pointee) else { continue };
        let block = module.name(variable.pointee);
        let unnamed = module.name(variable.id).is_empty();
        let mut location = module.decoration(variable.id, Decoration::Location);
        for (index, member) in members.iter().enumerate() {
            let index = index as u32;
            let of_member = |d| module.member_decoration(variable.pointee, index, d);
            location = of_member(Decoration::Location).or(location);
            let buffer = of_member(Decoration::XfbBuffer).or(buffer);
            let stride = of_member(Decoration::XfbStride).or(stride);
            if let (Some(buffer), Some(offset)) = (buffer, of_member(Decoration::Offset)) {
                let own = module.member_built_in(variable.pointee, index).is_some();
                let member_name = module.member_name(variable.pointee, index);
                let name = if own || unnamed { member_name.to_owned() } else { format!("{block}.{member_name}") };
                let name = original_name(&name).into_owned();
                let at = if own { -1 } else { location.map_or(-1, |l| l as i32) };
                found.push((name, *member, buffer, offset, stride, at, stream));
            }
            location = location.map(|l| l.saturating_add(locations(module, *member)));
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    found.sort_by_key(|f| (f.2, f.3));
    for (name, captured, buffer, offset, stride, location, stream) in found {
        let Some(shape) = shape(module, captured) else { continue };
        if buffer > 64 {
            return Err(format!("error: xfb_buffer {buffer} is too large"));
        }
        set_stream(&mut result, buffer, stream, &name)?;
        let entry = buffer_entry(&mut result, buffer);
        entry.stride = entry.stride.max(stride.unwrap_or(0)).max(offset.saturating_add(shape.bytes));
        let is_array = matches!(module.type_of(captured), Type::Array { .. });
        result.varyings.push(TransformFeedbackVarying {
            name: if is_array { format!("{name}[0]") } else { name },
            gl_type: shape.gl_type,
            array_size: shape.array_size,
            buffer,
            offset,
            location,
            component: 0,
        });
    }
    for buffer in &mut result.buffers {
        if buffer.stream == u32::MAX {
            buffer.stream = 0;
        }
    }
    Ok(Some(result))
}
