//! Linked programs: their SPIR-V, the driver's programs made of it by variant, and what their descriptors are fed from.

use crate::disk_cache::Question;
use crate::essl::{self, Numbers, Variant, EMPTY_FRAGMENT, POINT_SIZE, WRITTEN_POINT_SIZE};
use crate::gles::{named, Gles};
use crate::grave::{Dead, Grave};
use crate::resource::next_serial;
use crate::spirv::{BASE_INSTANCE, BASE_VERTEX, DRAW_INDEX};
use crate::texture_calls::BIASES;
use glow::HasContext;
use hashbrown::HashMap;
use mgpipe_types::reflection::{
    BindingKind, OpaqueType, Reflection, Stage, TransformFeedbackMode, SET_COUNT, SET_SAMPLER, SET_UNIFORM,
};
use mgpipe_types::{gl, BlobRef, PipeError, PipeResult, ProgramBindings, ProgramDesc};
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Instant;

/// Where a program's descriptors come from: texture units and binding points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bindings {
    /// Unit of every element of every sampler descriptor.
    pub(crate) samplers: Vec<u32>,
    /// Binding point of every uniform block.
    pub(crate) uniform_blocks: Vec<u32>,
}

/// A sampler descriptor's element: the driver's unit, and its place in [`Bindings::samplers`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct SamplerSlot {
    pub(crate) native: u32,
    pub(crate) index: u32,
    pub(crate) opaque: Option<OpaqueType>,
}

/// A uniform block's element: the driver's binding point, its place in [`Bindings::uniform_blocks`] and its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockSlot {
    pub(crate) native: u32,
    pub(crate) index: u32,
    pub(crate) size: u32,
}

/// A program of the driver.
pub(crate) struct Native {
    grave: Arc<Grave>,
    pub(crate) name: u32,
    pub(crate) serial: u64,
    point_size: Option<glow::UniformLocation>,
    draw_uniforms: [Option<glow::UniformLocation>; 4],
    biases: Option<glow::UniformLocation>,
    /// Bits of the point size that the program has.
    point_size_value: AtomicU32,
    draw_values: Mutex<[i32; 4]>,
}

impl Drop for Native {
    fn drop(&mut self) {
        self.grave.bury(Dead::Program(self.name));
    }
}

impl Native {
    /// Sets the size of points; the program is in use.
    pub(crate) fn set_point_size(&self, gles: &Gles, size: f32) {
        if let Some(location) = &self.point_size {
            if self.point_size_value.swap(size.to_bits(), Ordering::Relaxed) != size.to_bits() {
                // SAFETY: the program is in use in the current context.
                unsafe { gles.gl.uniform_1_f32(Some(location), size) };
            }
        }
    }

    /// Sets the biases of texture units; the program is in use.
    pub(crate) fn set_biases(&self, gles: &Gles, biases: &[f32]) {
        if let Some(location) = &self.biases {
            // SAFETY: the program is in use in the current context, and the array has as many elements.
            unsafe { gles.gl.uniform_1_f32_slice(Some(location), biases) };
        }
    }

    /// Whether the program reads what a draw's number, base vertex and base instance are.
    pub(crate) fn reads_draw_parameters(&self) -> bool {
        self.draw_uniforms.iter().any(Option::is_some)
    }

    /// Sets those; the program is in use.
    pub(crate) fn set_draw_parameters(&self, gles: &Gles, base_vertex: i32, base_instance: u32, draw: u32) {
        let wanted = [base_vertex, base_instance as i32, draw as i32, base_instance as i32];
        let mut have = self.draw_values.lock();
        for ((location, have), wanted) in self.draw_uniforms.iter().zip(have.iter_mut()).zip(wanted) {
            if let Some(location) = location {
                if *have != wanted {
                    *have = wanted;
                    // SAFETY: the program is in use in the current context.
                    unsafe { gles.gl.uniform_1_i32(Some(location), wanted) };
                }
            }
        }
    }
}

/// A linked program of the pipe.
pub(crate) struct Program {
    grave: Arc<Grave>,
    pub(crate) reflection: Reflection,
    stages: Vec<(Stage, Vec<u32>)>,
    texts: Mutex<HashMap<Stage, Arc<str>>>,
    /// By variant; `None` where the driver refused.
    natives: Mutex<HashMap<Variant, Option<Arc<Native>>>>,
    numbers: [Vec<(u32, u32)>; SET_COUNT as usize],
    pub(crate) samplers: Vec<SamplerSlot>,
    pub(crate) blocks: Vec<BlockSlot>,
    /// The driver's binding point and size of the default block.
    pub(crate) default_block: Option<(u32, u32)>,
    pub(crate) bindings: RwLock<Arc<Bindings>>,
    /// Latest bytes of the default block.
    pub(crate) constants: Mutex<Vec<u8>>,
    /// Moves with every change of those bytes.
    pub(crate) constants_version: AtomicU64,
    pub(crate) num_samples_offset: u32,
    flat_inputs: AtomicBool,
    front_facing: AtomicBool,
}

fn slice(code: &[u8], range: BlobRef) -> PipeResult<&[u8]> {
    let start = usize::try_from(range.offset).ok();
    let len = usize::try_from(range.size).ok();
    start
        .zip(len)
        .and_then(|(start, len)| code.get(start..start.checked_add(len)?))
        .ok_or_else(|| PipeError::Protocol("a program's blob is shorter than it declares".into()))
}

impl Numbers for Program {
    fn number(&self, set: u32, binding: u32) -> u32 {
        let numbers = self.numbers.get(set as usize);
        numbers.and_then(|list| list.iter().find(|(b, _)| *b == binding)).map_or(binding, |(_, number)| *number)
    }
}

impl Program {
    /// Takes a linked program in; nothing is translated before the first draw needs it.
    ///
    /// # Errors
    /// A blob that contradicts its description.
    pub(crate) fn new(grave: &Arc<Grave>, desc: &ProgramDesc, code: &[u8]) -> PipeResult<Program> {
        let reflection = Reflection::from_bytes(slice(code, desc.reflection)?)
            .map_err(|error| PipeError::Protocol(error.to_string()))?;
        let mut stages = Vec::new();
        for stage in Stage::ALL {
            if desc.stage_mask >> stage as u32 & 1 == 0 {
                continue;
            }
            let bytes = slice(code, desc.spirv[stage as usize])?;
            if bytes.len() % 4 != 0 || bytes.len() < 20 {
                return Err(PipeError::Protocol(format!("the {} stage is no SPIR-V", stage.name())));
            }
            let words = bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
            stages.push((stage, words));
        }
        crate::split::split(&mut stages, &reflection.inputs);
        let mut program = Program {
            grave: grave.clone(),
            stages,
            texts: Mutex::default(),
            natives: Mutex::default(),
            numbers: Default::default(),
            samplers: Vec::new(),
            blocks: Vec::new(),
            default_block: None,
            bindings: RwLock::new(Arc::new(initial_bindings(&reflection))),
            constants: Mutex::default(),
            constants_version: AtomicU64::new(0),
            num_samples_offset: desc.num_samples_offset,
            flat_inputs: AtomicBool::new(false),
            front_facing: AtomicBool::new(false),
            reflection,
        };
        program.number_descriptors();
        Ok(program)
    }

    /// An array of descriptors is one binding in SPIR-V and as many units or binding points in ESSL.
    fn number_descriptors(&mut self) {
        let mut next = [0u32; SET_COUNT as usize];
        let mut sampler = 0;
        let mut bindings: Vec<_> = self.reflection.bindings.iter().collect();
        bindings.sort_by_key(|binding| (binding.set, binding.binding));
        // The order of units in a program's bindings is that of the reflection, not of the numbers.
        let mut first_sampler = HashMap::new();
        for binding in &self.reflection.bindings {
            if matches!(binding.kind, BindingKind::Sampler | BindingKind::TexelBuffer) {
                first_sampler.insert((binding.set, binding.binding), sampler);
                sampler += binding.count;
            }
        }
        for binding in bindings {
            let Some(next) = next.get_mut(binding.set as usize) else { continue };
            let native = *next;
            *next += binding.count.max(1);
            self.numbers[binding.set as usize].push((binding.binding, native));
            match binding.kind {
                BindingKind::DefaultBlock if binding.set == SET_UNIFORM => {
                    self.default_block = Some((native, self.reflection.default_block.map_or(16, |b| b.size)));
                }
                BindingKind::UniformBlock => {
                    let first = binding.block_index.max(0) as u32;
                    for element in 0..binding.count {
                        let index = first + element;
                        let size = self.reflection.uniform_blocks.get(index as usize).map_or(0, |b| b.size);
                        self.blocks.push(BlockSlot { native: native + element, index, size });
                    }
                }
                BindingKind::Sampler | BindingKind::TexelBuffer if binding.set == SET_SAMPLER => {
                    let first = first_sampler.get(&(binding.set, binding.binding)).copied().unwrap_or(0);
                    for element in 0..binding.count {
                        self.samplers.push(SamplerSlot {
                            native: native + element,
                            index: first + element,
                            opaque: binding.opaque,
                        });
                    }
                }
                _ => {}
            }
        }
    }

    /// Texture units of the driver that the program uses.
    pub(crate) fn units(&self) -> u32 {
        self.samplers.iter().map(|slot| slot.native + 1).max().unwrap_or(0)
    }

    /// Whether the fragment stage has inputs of the provoking vertex; known once it is translated.
    pub(crate) fn has_flat_inputs(&self) -> bool {
        self.flat_inputs.load(Ordering::Relaxed)
    }

    /// Whether the fragment stage sees what only a filled polygon has: a face, or inputs of its provoking vertex.
    pub(crate) fn tells_faces(&self) -> bool {
        self.has_flat_inputs() || self.front_facing.load(Ordering::Relaxed)
    }

    /// Whether the program has the stage.
    pub(crate) fn has(&self, stage: Stage) -> bool {
        self.stages.iter().any(|(s, _)| *s == stage)
    }

    /// Last stage before rasterisation.
    pub(crate) fn last_vertex_stage(&self) -> Option<Stage> {
        [Stage::Geometry, Stage::TessEvaluation, Stage::Vertex].into_iter().find(|stage| self.has(*stage))
    }

    /// Replaces the post-link bindings. False when the counts do not fit the program.
    pub(crate) fn set_bindings(&self, header: &ProgramBindings, units: &[u32]) -> bool {
        let current = self.bindings.read().clone();
        let Some((samplers, rest)) = units.split_at_checked(header.sampler_count as usize) else { return false };
        let Some((blocks, _)) = rest.split_at_checked(header.uniform_block_count as usize) else { return false };
        let fits = samplers.len() == current.samplers.len() && blocks.len() == current.uniform_blocks.len();
        if fits {
            *self.bindings.write() =
                Arc::new(Bindings { samplers: samplers.to_vec(), uniform_blocks: blocks.to_vec() });
        }
        fits
    }

    /// Finds out what the fragment stage sees, before a draw needs it. A stage that cannot be translated is found by the draw.
    pub(crate) fn look_at_fragment(&self, gles: &Gles) {
        if self.has(Stage::Fragment) {
            let _ = self.text(gles, Stage::Fragment);
        }
    }

    fn text(&self, gles: &Gles, stage: Stage) -> PipeResult<Arc<str>> {
        let mut texts = self.texts.lock();
        if let Some(text) = texts.get(&stage) {
            return Ok(text.clone());
        }
        let words = |wanted| self.stages.iter().find(|(s, _)| *s == wanted).map(|(_, words)| words.as_slice());
        let reader = if Some(stage) == self.last_vertex_stage() { words(Stage::Fragment) } else { None };
        let own = words(stage).unwrap_or(&[]);
        let asked = gles.cache.as_ref().map(|cache| {
            let question = Question::new("text").part(gles.identity.as_bytes()).part(&[stage as u8]);
            let (own, reader) = (bytemuck::cast_slice(own), bytemuck::cast_slice(reader.unwrap_or(&[])));
            (cache, question.part(own).part(reader).part(&self.reflection.to_bytes()))
        });
        let known = asked.as_ref().and_then(|(cache, question)| String::from_utf8(cache.read(question)?).ok());
        let text = match known {
            Some(text) => text,
            None => {
                let text = essl::translate(gles, stage, own, reader, &self.reflection, self)?;
                if let Some((cache, question)) = &asked {
                    cache.write(question, text.as_bytes());
                }
                text
            }
        };
        log::trace!("espryt: {} stage:\n{text}", stage.name());
        if stage == Stage::Fragment && text.contains("flat in ") {
            self.flat_inputs.store(true, Ordering::Relaxed);
        }
        if stage == Stage::Fragment && text.contains("gl_FrontFacing") {
            self.front_facing.store(true, Ordering::Relaxed);
        }
        let text: Arc<str> = text.into();
        texts.insert(stage, text.clone());
        Ok(text)
    }

    /// The driver's program of a variant; a context is current. `None` once the driver has refused it.
    ///
    /// # Errors
    /// The first refusal, with the driver's log.
    pub(crate) fn native(&self, gles: &Gles, variant: Variant) -> PipeResult<Option<Arc<Native>>> {
        let mut natives = self.natives.lock();
        if let Some(native) = natives.get(&variant) {
            return Ok(native.clone());
        }
        let built = self.build(gles, variant).map(Arc::new);
        natives.insert(variant, built.as_ref().ok().cloned());
        built.map(Some)
    }

    fn build(&self, gles: &Gles, variant: Variant) -> PipeResult<Native> {
        let last = self.last_vertex_stage();
        let captured = self.reflection.transform_feedback.as_ref();
        let captures_size = captured.is_some_and(|f| f.varyings.iter().any(|v| v.name == "gl_PointSize"));
        let start = Instant::now();
        let mut sources: Vec<(Stage, String)> = Vec::new();
        for (stage, _) in &self.stages {
            let text = self.text(gles, *stage)?;
            let text = match (variant.lod_bias, *stage) {
                (true, Stage::Fragment) => crate::texture_calls::with_biases(&text, self.units()).into(),
                _ => text,
            };
            sources.push((*stage, essl::specialise(&text, *stage, variant, Some(*stage) == last, captures_size)));
        }
        if !self.has(Stage::Fragment) && !self.has(Stage::Compute) {
            let text = EMPTY_FRAGMENT.replace("310", &(gles.version * 10).to_string());
            sources.push((Stage::Fragment, essl::specialise(&text, Stage::Fragment, variant, false, false)));
        }
        let translated = start.elapsed();
        gles.before_trial("a program");
        let gl = &gles.gl;
        let captured = self.captured(variant);
        let asked = gles.cache.as_ref().filter(|_| gles.binaries).map(|cache| {
            let mut question = Question::new("binary").part(gles.identity.as_bytes());
            for (stage, text) in &sources {
                question = question.part(&[*stage as u8]).part(text.as_bytes());
            }
            (cache, question.part(format!("{captured:?}").as_bytes()))
        });
        // SAFETY: a context is current; shaders and program are fresh names of it, deleted once.
        unsafe {
            let program = gl.create_program().map_err(PipeError::OutOfMemory)?;
            let native = Native {
                grave: self.grave.clone(),
                name: program.0.get(),
                serial: next_serial(),
                point_size: None,
                draw_uniforms: [None; 4],
                biases: None,
                point_size_value: AtomicU32::new(0),
                draw_values: Mutex::new([0; 4]),
            };
            let known = asked.as_ref().and_then(|(cache, question)| cache.read(question));
            if known.is_some_and(|binary| takes_binary(gles, program, &binary)) {
                log::debug!(
                    "espryt: ESSL in {translated:?}, the driver's binary in {:?}",
                    start.elapsed() - translated
                );
                return Ok(self.with_locations(gles, native, program));
            }
            for (stage, text) in &sources {
                let shader = gl.create_shader(stage.shader_type()).map_err(PipeError::OutOfMemory)?;
                gl.shader_source(shader, text);
                gl.compile_shader(shader);
                let compiled = gl.get_shader_compile_status(shader);
                if compiled {
                    gl.attach_shader(program, shader);
                }
                let log = if compiled { String::new() } else { gl.get_shader_info_log(shader) };
                gl.delete_shader(shader);
                if !compiled {
                    log::debug!("espryt: refused ESSL:\n{text}");
                    return Err(PipeError::Unsupported(format!(
                        "the driver refuses the {} stage: {}",
                        stage.name(),
                        log.trim()
                    )));
                }
            }
            if let Some((names, mode)) = &captured {
                gl.transform_feedback_varyings(program, &names.iter().map(String::as_str).collect::<Vec<_>>(), *mode);
            }
            if asked.is_some() {
                gl.program_binary_retrievable_hint(program, true);
            }
            gl.link_program(program);
            if !gl.get_program_link_status(program) {
                let log = gl.get_program_info_log(program);
                for (stage, text) in &sources {
                    log::debug!("espryt: {} stage of a refused program:\n{text}", stage.name());
                }
                return Err(PipeError::Unsupported(format!("the driver does not link a program: {}", log.trim())));
            }
            if let Some((cache, question)) = &asked {
                if let Some(binary) = gl.get_program_binary(program) {
                    cache.write(question, &[&binary.format.to_le_bytes()[..], &binary.buffer].concat());
                }
                gles.drain_errors();
            }
            log::debug!("espryt: ESSL in {translated:?}, compiled and linked in {:?}", start.elapsed() - translated);
            Ok(self.with_locations(gles, native, program))
        }
    }

    /// Looks up the uniforms of the backend's own in a program that is linked.
    fn with_locations(&self, gles: &Gles, mut native: Native, program: glow::Program) -> Native {
        // SAFETY: a context is current and the program, which is linked, is its share group's.
        let location = |name: &str| unsafe { gles.gl.get_uniform_location(program, name) };
        native.draw_uniforms = [BASE_VERTEX, BASE_INSTANCE, DRAW_INDEX, "SPIRV_Cross_BaseInstance"].map(location);
        native.biases = location(BIASES);
        native.point_size = location(POINT_SIZE);
        native
    }

    /// What transform feedback captures, by the names that the driver is given before the link, and how.
    fn captured(&self, variant: Variant) -> Option<(Vec<String>, u32)> {
        let feedback = self.reflection.transform_feedback.as_ref()?;
        // The size that the shader wrote, not the one that stands in for it.
        let name = |name: &str| match name {
            "gl_PointSize" if variant.point_size => WRITTEN_POINT_SIZE.to_owned(),
            other => other.to_owned(),
        };
        let last = self.last_vertex_stage();
        let words = self.stages.iter().find(|(s, _)| Some(*s) == last).map_or(&[][..], |(_, words)| words);
        let names: Vec<String> = crate::capture::names(feedback, words).iter().map(|n| name(n)).collect();
        let mode = match feedback.mode {
            TransformFeedbackMode::Interleaved => gl::INTERLEAVED_ATTRIBS,
            TransformFeedbackMode::Separate => gl::SEPARATE_ATTRIBS,
        };
        (!names.is_empty()).then_some((names, mode))
    }
}

/// Makes a program of a binary of an earlier process. False when the driver takes it no more.
///
/// # Safety
/// A context is current and `program` is its own.
unsafe fn takes_binary(gles: &Gles, program: glow::Program, answer: &[u8]) -> bool {
    let Some((format, buffer)) = answer.split_first_chunk::<4>() else { return false };
    let binary = glow::ProgramBinary { buffer: buffer.to_vec(), format: u32::from_le_bytes(*format) };
    // SAFETY: the caller's promise; a driver checks a binary, whose bytes are those that it gave.
    unsafe {
        gles.gl.program_binary(program, &binary);
        let taken = gles.gl.get_program_link_status(program);
        // A refusal is no mistake of anybody.
        gles.drain_errors().is_none() && taken
    }
}

/// Uses a driver's program.
pub(crate) fn use_native(gles: &Gles, native: &Native) {
    // SAFETY: a context is current and the name is its share group's.
    unsafe { gles.gl.use_program(named!(NativeProgram, native.name)) };
}

/// Bindings as the shader text gives them.
fn initial_bindings(reflection: &Reflection) -> Bindings {
    let mut bindings = Bindings::default();
    for binding in &reflection.bindings {
        if !matches!(binding.kind, BindingKind::Sampler | BindingKind::TexelBuffer) {
            continue;
        }
        let initial = usize::try_from(binding.uniform_index)
            .ok()
            .and_then(|index| reflection.uniforms.get(index))
            .map_or(-1, |uniform| uniform.initial_unit);
        for element in 0..binding.count {
            bindings.samplers.push(if initial < 0 { 0 } else { initial as u32 + binding.uniform_element + element });
        }
    }
    bindings.uniform_blocks = reflection.uniform_blocks.iter().map(|block| block.initial_binding).collect();
    bindings
}
