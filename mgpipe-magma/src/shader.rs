//! Linked programs: SPIR-V modules, descriptor set layouts, post-link bindings and the pipelines made of them.

use crate::device::Device;
use crate::error::map_create;
use crate::pipeline::PipelineKey;
use ash::vk;
use hashbrown::HashMap;
use mgpipe_types::reflection::{BindingKind, OpaqueType, Reflection, Stage, StageMask, SET_COUNT};
use mgpipe_types::{BlobRef, PipeError, PipeResult, ProgramBindings, ProgramDesc};
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

/// Bytes of push constants that every graphics layout has: the point size of points without a program-given one.
pub(crate) const PUSH_BYTES: u32 = 16;

/// One binding of a set layout: (binding, type, count, stages).
pub(crate) type LayoutEntry = (u32, vk::DescriptorType, u32, vk::ShaderStageFlags);

/// A descriptor set layout, shared by all programs of a screen that describe the same one.
pub(crate) struct SetLayout {
    device: Arc<Device>,
    pub(crate) raw: vk::DescriptorSetLayout,
    pub(crate) serial: u64,
}

impl Drop for SetLayout {
    fn drop(&mut self) {
        // SAFETY: pipeline layouts and batches hold the layout as long as they need it.
        unsafe { self.device.raw.destroy_descriptor_set_layout(self.raw, None) };
    }
}

/// Set layouts by content.
#[derive(Default)]
pub(crate) struct SetLayouts {
    known: Mutex<HashMap<Vec<LayoutEntry>, std::sync::Weak<SetLayout>>>,
}

impl SetLayouts {
    fn get(&self, device: &Arc<Device>, entries: Vec<LayoutEntry>) -> PipeResult<Arc<SetLayout>> {
        let mut known = self.known.lock();
        if let Some(layout) = known.get(&entries).and_then(std::sync::Weak::upgrade) {
            return Ok(layout);
        }
        let bindings: Vec<_> = entries
            .iter()
            .map(|&(binding, ty, count, stages)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(ty)
                    .descriptor_count(count)
                    .stage_flags(stages)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: plain creation on a live device.
        let raw = unsafe { device.raw.create_descriptor_set_layout(&info, None) }
            .map_err(|code| map_create("descriptor set layout", code))?;
        let layout = Arc::new(SetLayout { device: device.clone(), raw, serial: device.next_serial() });
        known.retain(|_, layout| layout.strong_count() > 0);
        known.insert(entries, Arc::downgrade(&layout));
        Ok(layout)
    }
}

/// Where a program's descriptors come from: texture units, binding points and image units.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bindings {
    /// Unit of every element of every sampler descriptor.
    pub(crate) samplers: Vec<u32>,
    /// Binding point of every uniform block.
    pub(crate) uniform_blocks: Vec<u32>,
    /// Binding point of every storage block.
    pub(crate) storage_blocks: Vec<u32>,
    /// Binding point of every atomic counter buffer.
    pub(crate) atomic_buffers: Vec<u32>,
    /// Unit of every element of every image descriptor.
    pub(crate) images: Vec<u32>,
}

/// One binding of a set and where its elements come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) binding: u32,
    pub(crate) kind: BindingKind,
    pub(crate) count: u32,
    /// Index of element 0 in the list of [`Bindings`] that the kind uses.
    pub(crate) first: u32,
    /// Smallest size of the block in bytes.
    pub(crate) size: u32,
    pub(crate) opaque: Option<OpaqueType>,
}

/// A linked program.
pub(crate) struct Program {
    device: Arc<Device>,
    /// Never-reused identity.
    pub(crate) serial: u64,
    pub(crate) reflection: Reflection,
    stages: Vec<(Stage, Vec<u32>)>,
    modules: Mutex<HashMap<(Stage, Variant), vk::ShaderModule>>,
    pub(crate) sets: [Arc<SetLayout>; SET_COUNT as usize],
    /// Descriptors of each set in binding order.
    pub(crate) slots: [Vec<Slot>; SET_COUNT as usize],
    /// Sets that hold any descriptor: bit i.
    pub(crate) used_sets: u32,
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) bindings: RwLock<Arc<Bindings>>,
    /// Latest bytes of the default block.
    pub(crate) constants: Mutex<Vec<u8>>,
    /// Moves with every change of those bytes.
    pub(crate) constants_version: AtomicU64,
    pub(crate) pipelines: Mutex<HashMap<PipelineKey, vk::Pipeline>>,
    pub(crate) compute: Mutex<Option<vk::Pipeline>>,
    pub(crate) num_samples_offset: u32,
    /// Whether the fragment stage has inputs of the provoking vertex.
    pub(crate) flat_inputs: bool,
}

/// Changes that Magma makes to a module, by the state it is used with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Variant {
    /// The last vertex stage writes the point size from the push constant.
    pub(crate) point_size: bool,
    /// The last vertex stage maps clip z from [-w, w] to [0, w].
    pub(crate) convert_depth: bool,
    /// The fragment stage mirrors `gl_PointCoord.y`.
    pub(crate) mirror_point_coord: bool,
    /// Bit i: the last vertex stage writes clip distance i, but its plane is disabled.
    pub(crate) disabled_clips: u8,
}

/// Vulkan flags of a set of stages.
pub(crate) fn map_stages(stages: StageMask) -> vk::ShaderStageFlags {
    stages.iter().fold(vk::ShaderStageFlags::empty(), |flags, stage| flags | map_stage(stage))
}

/// Vulkan flag of a stage.
pub(crate) fn map_stage(stage: Stage) -> vk::ShaderStageFlags {
    match stage {
        Stage::Vertex => vk::ShaderStageFlags::VERTEX,
        Stage::TessControl => vk::ShaderStageFlags::TESSELLATION_CONTROL,
        Stage::TessEvaluation => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        Stage::Geometry => vk::ShaderStageFlags::GEOMETRY,
        Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
        Stage::Compute => vk::ShaderStageFlags::COMPUTE,
    }
}

/// Descriptor type of a binding.
pub(crate) fn map_binding_kind(kind: BindingKind) -> vk::DescriptorType {
    match kind {
        BindingKind::DefaultBlock => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        BindingKind::UniformBlock => vk::DescriptorType::UNIFORM_BUFFER,
        BindingKind::Sampler => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        BindingKind::TexelBuffer => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        BindingKind::StorageBlock | BindingKind::AtomicBuffer => vk::DescriptorType::STORAGE_BUFFER,
        BindingKind::Image => vk::DescriptorType::STORAGE_IMAGE,
        BindingKind::ImageBuffer => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
    }
}

fn slice(code: &[u8], range: BlobRef) -> PipeResult<&[u8]> {
    let start = usize::try_from(range.offset).ok();
    let len = usize::try_from(range.size).ok();
    start
        .zip(len)
        .and_then(|(start, len)| code.get(start..start.checked_add(len)?))
        .ok_or_else(|| PipeError::Protocol("a program's blob is shorter than it declares".into()))
}

impl Program {
    /// Takes a linked program in.
    ///
    /// # Errors
    /// A blob that contradicts its description, an interface that exceeds the device, out of memory.
    pub(crate) fn new(
        device: &Arc<Device>,
        layouts: &SetLayouts,
        desc: &ProgramDesc,
        code: &[u8],
    ) -> PipeResult<Program> {
        let reflection = Reflection::from_bytes(slice(code, desc.reflection)?)
            .map_err(|error| PipeError::Protocol(error.to_string()))?;
        let mut stages: Vec<(Stage, Vec<u32>)> = Vec::new();
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
        let mut entries: [Vec<LayoutEntry>; SET_COUNT as usize] = Default::default();
        for binding in &reflection.bindings {
            entries[binding.set as usize].push((
                binding.binding,
                map_binding_kind(binding.kind),
                binding.count,
                map_stages(binding.stages),
            ));
        }
        let mut used_sets = 0;
        for (set, entries) in entries.iter_mut().enumerate() {
            entries.sort_unstable_by_key(|entry| entry.0);
            if !entries.is_empty() {
                used_sets |= 1 << set;
            }
        }
        let [e0, e1, e2, e3] = entries;
        let sets =
            [layouts.get(device, e0)?, layouts.get(device, e1)?, layouts.get(device, e2)?, layouts.get(device, e3)?];
        let raw_sets = [sets[0].raw, sets[1].raw, sets[2].raw, sets[3].raw];
        let push =
            [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::ALL_GRAPHICS, offset: 0, size: PUSH_BYTES }];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&raw_sets).push_constant_ranges(&push);
        // SAFETY: the set layouts are alive and stay so with the program.
        let layout = unsafe { device.raw.create_pipeline_layout(&info, None) }
            .map_err(|code| map_create("pipeline layout", code))?;
        let fragment = stages.iter().find(|(stage, _)| *stage == Stage::Fragment);
        let flat_inputs = fragment.is_some_and(|(_, words)| crate::spirv::has_flat(words));
        let bindings = initial_bindings(&reflection);
        let slots = slots(&reflection);
        Ok(Program {
            slots,
            device: device.clone(),
            serial: device.next_serial(),
            stages,
            modules: Mutex::new(HashMap::new()),
            sets,
            used_sets,
            layout,
            bindings: RwLock::new(Arc::new(bindings)),
            constants: Mutex::default(),
            constants_version: AtomicU64::new(0),
            pipelines: Mutex::new(HashMap::new()),
            compute: Mutex::new(None),
            num_samples_offset: desc.num_samples_offset,
            flat_inputs,
            reflection,
        })
    }

    /// Stages with code.
    pub(crate) fn stages(&self) -> impl Iterator<Item = Stage> + '_ {
        self.stages.iter().map(|(stage, _)| *stage)
    }

    /// Whether the program has the stage.
    pub(crate) fn has(&self, stage: Stage) -> bool {
        self.stages.iter().any(|(s, _)| *s == stage)
    }

    /// Last stage before rasterisation.
    pub(crate) fn last_vertex_stage(&self) -> Option<Stage> {
        [Stage::Geometry, Stage::TessEvaluation, Stage::Vertex].into_iter().find(|stage| self.has(*stage))
    }

    /// The module of a stage, patched as the variant says.
    pub(crate) fn module(&self, stage: Stage, variant: Variant) -> PipeResult<vk::ShaderModule> {
        let is_last = Some(stage) == self.last_vertex_stage();
        let variant = Variant {
            point_size: variant.point_size && is_last,
            convert_depth: variant.convert_depth && is_last,
            disabled_clips: if is_last { variant.disabled_clips } else { 0 },
            mirror_point_coord: variant.mirror_point_coord && stage == Stage::Fragment,
        };
        let mut modules = self.modules.lock();
        if let Some(module) = modules.get(&(stage, variant)) {
            return Ok(*module);
        }
        let Some((_, words)) = self.stages.iter().find(|(s, _)| *s == stage) else {
            return Err(PipeError::Protocol(format!("the program has no {} stage", stage.name())));
        };
        let patched;
        let words: &[u32] = if variant == Variant::default() {
            words
        } else {
            patched = crate::spirv::patch(words, stage, variant)?;
            &patched
        };
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words come from the project's compiler, which emits valid SPIR-V; the validation runs check that.
        let module =
            unsafe { self.device.raw.create_shader_module(&info, None) }.map_err(|code| map_create("shader", code))?;
        modules.insert((stage, variant), module);
        Ok(module)
    }

    /// Replaces the post-link bindings. False when the counts do not fit the program.
    pub(crate) fn set_bindings(&self, header: &ProgramBindings, units: &[u32]) -> bool {
        let current = self.bindings.read().clone();
        let mut rest = units;
        let mut take = |count: u32| {
            let (head, tail) = rest.split_at_checked(count as usize)?;
            rest = tail;
            Some(head.to_vec())
        };
        let Some(samplers) = take(header.sampler_count) else { return false };
        let Some(uniform_blocks) = take(header.uniform_block_count) else { return false };
        let Some(mut storage_blocks) = take(header.storage_block_count) else { return false };
        let Some(images) = take(header.image_count) else { return false };
        let blocks = self.reflection.storage_blocks.len().min(storage_blocks.len());
        let atomic_buffers = storage_blocks.split_off(blocks);
        let next = Bindings { samplers, uniform_blocks, storage_blocks, atomic_buffers, images };
        let fits = next.samplers.len() == current.samplers.len()
            && next.uniform_blocks.len() == current.uniform_blocks.len()
            && next.storage_blocks.len() == current.storage_blocks.len()
            && next.images.len() == current.images.len();
        // A short atomic list keeps the shader's own binding points.
        let atomic_buffers = if next.atomic_buffers.len() == current.atomic_buffers.len() {
            next.atomic_buffers.clone()
        } else {
            current.atomic_buffers.clone()
        };
        if fits {
            *self.bindings.write() = Arc::new(Bindings { atomic_buffers, ..next });
        }
        fits
    }
}

/// The descriptors of every set.
fn slots(reflection: &Reflection) -> [Vec<Slot>; SET_COUNT as usize] {
    let mut slots: [Vec<Slot>; SET_COUNT as usize] = Default::default();
    let (mut samplers, mut images) = (0, 0);
    for binding in &reflection.bindings {
        let block = usize::try_from(binding.block_index).ok();
        let block_size = |blocks: &[mgpipe_types::reflection::Block]| {
            block.and_then(|index| blocks.get(index)).map_or(0, |block| block.size)
        };
        let (first, size) = match binding.kind {
            BindingKind::Sampler | BindingKind::TexelBuffer => {
                samplers += binding.count;
                (samplers - binding.count, 0)
            }
            BindingKind::Image | BindingKind::ImageBuffer => {
                images += binding.count;
                (images - binding.count, 0)
            }
            BindingKind::DefaultBlock => (0, reflection.default_block.map_or(16, |block| block.size)),
            BindingKind::UniformBlock => (binding.block_index.max(0) as u32, block_size(&reflection.uniform_blocks)),
            BindingKind::StorageBlock => (binding.block_index.max(0) as u32, block_size(&reflection.storage_blocks)),
            BindingKind::AtomicBuffer => (
                binding.block_index.max(0) as u32,
                block.and_then(|index| reflection.atomic_buffers.get(index)).map_or(0, |buffer| buffer.size),
            ),
        };
        slots[binding.set as usize].push(Slot {
            binding: binding.binding,
            kind: binding.kind,
            count: binding.count,
            first,
            size,
            opaque: binding.opaque,
        });
    }
    for set in &mut slots {
        set.sort_by_key(|slot| slot.binding);
    }
    slots
}

/// Bindings as the shader text gives them.
fn initial_bindings(reflection: &Reflection) -> Bindings {
    let mut bindings = Bindings::default();
    for binding in &reflection.bindings {
        let units = match binding.kind {
            BindingKind::Sampler | BindingKind::TexelBuffer => &mut bindings.samplers,
            BindingKind::Image | BindingKind::ImageBuffer => &mut bindings.images,
            _ => continue,
        };
        let initial = usize::try_from(binding.uniform_index)
            .ok()
            .and_then(|index| reflection.uniforms.get(index))
            .map_or(-1, |uniform| uniform.initial_unit);
        for element in 0..binding.count {
            let unit = if initial < 0 { 0 } else { initial as u32 + binding.uniform_element + element };
            units.push(unit);
        }
    }
    bindings.uniform_blocks = reflection.uniform_blocks.iter().map(|block| block.initial_binding).collect();
    bindings.storage_blocks = reflection.storage_blocks.iter().map(|block| block.initial_binding).collect();
    bindings.atomic_buffers = reflection.atomic_buffers.iter().map(|buffer| buffer.binding).collect();
    bindings
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: batches keep the programs that they use, so nothing on the device needs the pipelines any more.
        unsafe {
            for (_, pipeline) in self.pipelines.get_mut().drain() {
                self.device.raw.destroy_pipeline(pipeline, None);
            }
            if let Some(pipeline) = self.compute.get_mut().take() {
                self.device.raw.destroy_pipeline(pipeline, None);
            }
            for (_, module) in self.modules.get_mut().drain() {
                self.device.raw.destroy_shader_module(module, None);
            }
            self.device.raw.destroy_pipeline_layout(self.layout, None);
        }
    }
}
