//! Draws of Magma's own: blits, masked clears and whatever a copy command cannot do.

use crate::command::Object;
use crate::context::{dirty, MagmaContext};
use crate::device::Device;
use crate::draw::rect;
use crate::error::map_create;
use crate::pass_objects::{self, PassBegin, PassKey};
use crate::render_pass::{Attachment, PassFacts};
use crate::resource::texture::{Image, ViewKey};
use ash::vk;
use hashbrown::HashMap;
use mgpipe_types::{swizzle, Format, FormatKind, PipeError, PipeResult};
use parking_lot::Mutex;
use std::sync::Arc;

/// A fragment shader of Magma's own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum InternalShader {
    /// No fragment shader: stencil alone is written.
    None,
    /// A constant colour.
    Clear(Component),
    /// Texels of a source.
    Blit(Component, SourceDim),
}

/// What a fragment writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Component {
    Float,
    Signed,
    Unsigned,
    Depth,
    Stencil,
    /// Nothing: the fragment lives where the source has a bit of the stencil.
    StencilBit,
}

/// How a source is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum SourceDim {
    Array2D,
    Multisampled,
    Volume,
    Array1D,
}

impl Component {
    /// Component of a colour format.
    pub(crate) fn of(format: Format) -> Component {
        match format.desc().kind {
            FormatKind::Sint => Component::Signed,
            FormatKind::Uint => Component::Unsigned,
            _ => Component::Float,
        }
    }
}

macro_rules! words {
    ($name:literal) => {
        include_bytes!(concat!("shaders/", $name, ".spv"))
    };
}

fn code(shader: InternalShader) -> Option<&'static [u8]> {
    use Component as C;
    use SourceDim as D;
    let bytes: &[u8] = match shader {
        InternalShader::Clear(C::Float) => words!("clear_0"),
        InternalShader::Clear(C::Signed) => words!("clear_1"),
        InternalShader::Clear(C::Unsigned) => words!("clear_2"),
        InternalShader::Blit(C::Float, D::Array2D) => words!("blit_0_0"),
        InternalShader::Blit(C::Float, D::Multisampled) => words!("blit_0_1"),
        InternalShader::Blit(C::Float, D::Volume) => words!("blit_0_2"),
        InternalShader::Blit(C::Float, D::Array1D) => words!("blit_0_3"),
        InternalShader::Blit(C::Signed, D::Array2D) => words!("blit_1_0"),
        InternalShader::Blit(C::Signed, D::Multisampled) => words!("blit_1_1"),
        InternalShader::Blit(C::Signed, D::Volume) => words!("blit_1_2"),
        InternalShader::Blit(C::Signed, D::Array1D) => words!("blit_1_3"),
        InternalShader::Blit(C::Unsigned, D::Array2D) => words!("blit_2_0"),
        InternalShader::Blit(C::Unsigned, D::Multisampled) => words!("blit_2_1"),
        InternalShader::Blit(C::Unsigned, D::Volume) => words!("blit_2_2"),
        InternalShader::Blit(C::Unsigned, D::Array1D) => words!("blit_2_3"),
        InternalShader::Blit(C::Depth, D::Array2D) => words!("blit_3_0"),
        InternalShader::Blit(C::Depth, D::Multisampled) => words!("blit_3_1"),
        InternalShader::Blit(C::Depth, D::Array1D) => words!("blit_3_3"),
        InternalShader::Blit(C::Stencil, D::Array2D) => words!("blit_4_0"),
        InternalShader::Blit(C::Stencil, D::Multisampled) => words!("blit_4_1"),
        InternalShader::Blit(C::Stencil, D::Array1D) => words!("blit_4_3"),
        InternalShader::Blit(C::StencilBit, D::Array2D) => words!("blit_5_0"),
        InternalShader::Blit(C::StencilBit, D::Multisampled) => words!("blit_5_1"),
        InternalShader::Blit(C::StencilBit, D::Array1D) => words!("blit_5_3"),
        _ => return None,
    };
    Some(bytes)
}

/// Everything that tells two internal pipelines apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    shader: InternalShader,
    format: Format,
    samples: vk::SampleCountFlags,
    /// Samples that are written, a bit each.
    sample_mask: u32,
    mask: u8,
    depth: bool,
    stencil: bool,
}

impl Key {
    /// What is rendered to.
    fn facts(&self) -> PassFacts {
        let mut facts = PassFacts { samples: self.samples.as_raw(), ..PassFacts::default() };
        if self.depth {
            facts.depth = self.format;
        } else if self.stencil {
            facts.stencil = self.format;
        } else {
            facts.colors[0] = self.format;
            facts.color_count = 1;
        }
        facts
    }
}

/// Pipelines and samplers of a screen's internal draws, made when first needed.
#[derive(Default)]
pub(crate) struct Internal {
    state: Mutex<Option<State>>,
}

struct State {
    device: Arc<Device>,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    vertex: vk::ShaderModule,
    modules: HashMap<InternalShader, vk::ShaderModule>,
    pipelines: HashMap<Key, vk::Pipeline>,
    /// Nearest and linear.
    samplers: [vk::Sampler; 2],
}

fn module(device: &Device, bytes: &[u8]) -> PipeResult<vk::ShaderModule> {
    let words: Vec<u32> = bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    // SAFETY: the words were compiled from the shaders beside them.
    unsafe { device.raw.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) }
        .map_err(|code| map_create("internal shader", code))
}

impl State {
    fn new(device: &Arc<Device>) -> PipeResult<State> {
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .binding(0)
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: plain creation on a live device.
        let set_layout = unsafe { device.raw.create_descriptor_set_layout(&info, None) }
            .map_err(|code| map_create("internal set layout", code))?;
        let mut state = State {
            device: device.clone(),
            set_layout,
            layout: vk::PipelineLayout::null(),
            vertex: vk::ShaderModule::null(),
            modules: HashMap::new(),
            pipelines: HashMap::new(),
            samplers: [vk::Sampler::null(); 2],
        };
        let sets = [set_layout];
        let push =
            [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::FRAGMENT, offset: 0, size: PUSH_BYTES as u32 }];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
        // SAFETY: the set layout was just created.
        state.layout = unsafe { device.raw.create_pipeline_layout(&info, None) }
            .map_err(|code| map_create("internal layout", code))?;
        state.vertex = module(device, words!("rect"))?;
        for (sampler, filter) in state.samplers.iter_mut().zip([vk::Filter::NEAREST, vk::Filter::LINEAR]) {
            let info = vk::SamplerCreateInfo::default()
                .mag_filter(filter)
                .min_filter(filter)
                .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
                .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
                .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE);
            // SAFETY: plain creation on a live device.
            *sampler = unsafe { device.raw.create_sampler(&info, None) }
                .map_err(|code| map_create("internal sampler", code))?;
        }
        Ok(state)
    }

    fn pipeline(&mut self, key: Key) -> PipeResult<vk::Pipeline> {
        if let Some(pipeline) = self.pipelines.get(&key) {
            return Ok(*pipeline);
        }
        let device = self.device.clone();
        let mut stages = vec![vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::VERTEX)
            .module(self.vertex)
            .name(c"main")];
        if key.shader != InternalShader::None {
            let fragment = match self.modules.get(&key.shader) {
                Some(module) => *module,
                None => {
                    let bytes = code(key.shader)
                        .ok_or_else(|| PipeError::Unsupported(format!("internal draw {:?}", key.shader)))?;
                    let module = module(&device, bytes)?;
                    self.modules.insert(key.shader, module);
                    module
                }
            };
            stages.push(
                vk::PipelineShaderStageCreateInfo::default()
                    .stage(vk::ShaderStageFlags::FRAGMENT)
                    .module(fragment)
                    .name(c"main"),
            );
        }
        let vertex = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly =
            vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_STRIP);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let sample_mask = [key.sample_mask, u32::MAX];
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(key.samples)
            .sample_mask(&sample_mask);
        let replace = vk::StencilOpState {
            fail_op: vk::StencilOp::REPLACE,
            pass_op: vk::StencilOp::REPLACE,
            depth_fail_op: vk::StencilOp::REPLACE,
            compare_op: vk::CompareOp::ALWAYS,
            compare_mask: 0xff,
            ..Default::default()
        };
        let depth_stencil = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(key.depth)
            .depth_write_enable(key.depth)
            .depth_compare_op(vk::CompareOp::ALWAYS)
            .stencil_test_enable(key.stencil)
            .front(replace)
            .back(replace);
        let color = !key.depth && !key.stencil;
        let blends = [vk::PipelineColorBlendAttachmentState {
            color_write_mask: vk::ColorComponentFlags::from_raw(u32::from(key.mask)),
            ..Default::default()
        }];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(if color { &blends } else { &[] });
        let states = [
            vk::DynamicState::VIEWPORT,
            vk::DynamicState::SCISSOR,
            vk::DynamicState::STENCIL_WRITE_MASK,
            vk::DynamicState::STENCIL_REFERENCE,
        ];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let raw = device.formats.get(key.format).raw;
        let formats = [raw];
        let mut rendering = vk::PipelineRenderingCreateInfo::default();
        if color {
            rendering = rendering.color_attachment_formats(&formats);
        }
        if key.depth {
            rendering = rendering.depth_attachment_format(raw);
        }
        if key.stencil {
            rendering = rendering.stencil_attachment_format(raw);
        }
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertex)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth_stencil)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(self.layout);
        let pass;
        if device.ext.dynamic_rendering {
            info = info.push_next(&mut rendering);
        } else {
            pass = device.passes.get(&device, PassKey::of(&key.facts()))?;
            info = info.render_pass(pass.raw);
        }
        // SAFETY: every structure lives until the call returns; modules and layout belong to this object.
        match unsafe { device.raw.create_graphics_pipelines(device.pipeline_cache, &[info], None) } {
            Ok(pipelines) => {
                device.pipeline_made();
                self.pipelines.insert(key, pipelines[0]);
                Ok(pipelines[0])
            }
            Err((_, code)) => Err(map_create("internal pipeline", code)),
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: the screen's contexts are gone and have waited for their work.
        unsafe {
            for (_, pipeline) in self.pipelines.drain() {
                self.device.raw.destroy_pipeline(pipeline, None);
            }
            for (_, module) in self.modules.drain() {
                self.device.raw.destroy_shader_module(module, None);
            }
            self.device.raw.destroy_shader_module(self.vertex, None);
            for sampler in self.samplers {
                self.device.raw.destroy_sampler(sampler, None);
            }
            self.device.raw.destroy_pipeline_layout(self.layout, None);
            self.device.raw.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// Bytes of push constants of an internal draw.
pub(crate) const PUSH_BYTES: usize = 32;

/// Where an internal draw writes: one layer of one level.
pub(crate) struct InternalTarget<'a> {
    pub(crate) image: &'a Arc<Image>,
    /// Format of the view; the image's own for depth and stencil.
    pub(crate) format: Format,
    pub(crate) level: u32,
    pub(crate) layer: u32,
    pub(crate) aspect: vk::ImageAspectFlags,
    /// Rectangle that is written.
    pub(crate) area: [i32; 4],
    /// Colour components that are written.
    pub(crate) mask: u8,
    /// Samples that are written, a bit each.
    pub(crate) samples: u32,
    /// Stencil bits that are written, and the value of a draw that does not export one.
    pub(crate) stencil: (u32, u32),
}

impl MagmaContext {
    /// Draws one rectangle with an internal shader.
    pub(crate) fn internal_draw(
        &mut self,
        shader: InternalShader,
        target: &InternalTarget<'_>,
        source: Option<(&Arc<Image>, vk::ImageView, bool)>,
        push: &[u8; PUSH_BYTES],
    ) -> PipeResult<()> {
        let [_, _, width, height] = target.area;
        if width <= 0 || height <= 0 {
            return Ok(());
        }
        let image = target.image;
        let depth = target.aspect == vk::ImageAspectFlags::DEPTH;
        let stencil = target.aspect == vk::ImageAspectFlags::STENCIL;
        let usage = if depth || stencil {
            vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        } else {
            vk::ImageUsageFlags::COLOR_ATTACHMENT
        };
        if !image.usage_flags.contains(usage) {
            return Err(PipeError::Unsupported(format!("{:?} cannot be written by a draw", image.format)));
        }
        let view = image.view(ViewKey {
            kind: if image.kind == vk::ImageType::TYPE_1D {
                vk::ImageViewType::TYPE_1D
            } else {
                vk::ImageViewType::TYPE_2D
            },
            format: target.format,
            aspects: image.aspects,
            base_level: target.level,
            levels: 1,
            base_layer: target.layer,
            layers: 1,
            swizzle: swizzle::IDENTITY,
            usage,
        })?;
        let key = Key {
            shader,
            format: target.format,
            samples: image.samples,
            sample_mask: target.samples,
            mask: target.mask,
            depth,
            stencil,
        };
        let shared = self.shared.clone();
        let (pipeline, layout, set_layout, samplers) = {
            let mut slot = shared.internal.state.lock();
            let state = match &mut *slot {
                Some(state) => state,
                None => slot.insert(State::new(&self.device)?),
            };
            (state.pipeline(key)?, state.layout, state.set_layout, state.samplers)
        };
        let set = match source {
            Some((image, view, linear)) => {
                let set = self.rec.descriptor_set(set_layout)?;
                let info = [vk::DescriptorImageInfo {
                    sampler: samplers[usize::from(linear)],
                    image_view: view,
                    image_layout: vk::ImageLayout::GENERAL,
                }];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(0)
                    .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
                    .image_info(&info);
                // SAFETY: the set is new; the batch keeps the image and the screen the sampler.
                unsafe { self.device.raw.update_descriptor_sets(&[write], &[]) };
                self.rec.keep(Object::Image(image), true);
                Some(set)
            }
            None => None,
        };
        self.end_pass();
        self.rec.barrier_before_work();
        let commands = self.rec.main();
        self.rec.keep(Object::Image(image), true);
        let extent = image.level_extent(target.level);
        let attachment = Attachment { image: image.clone(), view };
        let mut begin = PassBegin {
            colors: Default::default(),
            depth: depth.then_some((&attachment, None)),
            stencil: stencil.then_some((&attachment, None)),
            facts: key.facts(),
            area: rect(target.area),
            extent: vk::Extent2D { width: extent.width, height: extent.height },
            layers: 1,
        };
        if !depth && !stencil {
            begin.colors.push(Some((&attachment, None)));
        }
        let native = &mut self.native_framebuffers;
        pass_objects::begin(&self.device, &mut self.rec, native, None, commands, &begin)?;
        let area = rect(target.area);
        let viewport = [vk::Viewport {
            x: area.offset.x as f32,
            y: area.offset.y as f32,
            width: area.extent.width as f32,
            height: area.extent.height as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        }];
        // The rectangle ends between pixels. lavapipe's scissor takes samples off that lie near its right and upper edges.
        let whole = vk::Extent2D { width: extent.width, height: extent.height };
        let many = image.samples != vk::SampleCountFlags::TYPE_1;
        let scissor = if many { vk::Rect2D { offset: vk::Offset2D::default(), extent: whole } } else { area };
        let raw = &self.device.raw;
        // SAFETY: the pass is open; everything that is bound belongs to the screen or is kept by the batch; the area lies
        // within the level, as the callers cut it.
        unsafe {
            raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            raw.cmd_set_viewport(commands, 0, &viewport);
            raw.cmd_set_scissor(commands, 0, &[scissor]);
            let (write_mask, reference) = target.stencil;
            raw.cmd_set_stencil_write_mask(commands, vk::StencilFaceFlags::FRONT_AND_BACK, write_mask);
            raw.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, reference);
            if let Some(set) = set {
                raw.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::GRAPHICS, layout, 0, &[set], &[]);
            }
            raw.cmd_push_constants(commands, layout, vk::ShaderStageFlags::FRAGMENT, 0, push);
            raw.cmd_draw(commands, 4, 1, 0, 0);
            pass_objects::end(&self.device, commands);
        }
        // The command buffer's state is no longer that of the context.
        self.applied = None;
        self.last_pipeline.bound = vk::Pipeline::null();
        self.dirty |= dirty::ALL;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    /// The committed words are those that the sources compile to.
    #[test]
    fn the_baked_shaders_are_fresh() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/shaders");
        let out = std::env::temp_dir().join(format!("mgl-magma-shaders-{}", std::process::id()));
        std::fs::create_dir_all(&out).expect("a temporary folder");
        let status = std::process::Command::new("sh").arg(format!("{folder}/bake.sh")).arg(&out).status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("skipped: glslangValidator (glslang-tools) is not installed");
            return;
        }
        let mut compared = 0;
        for entry in std::fs::read_dir(&out).expect("the folder").flatten() {
            let fresh = std::fs::read(entry.path()).expect("a shader");
            let committed = std::fs::read(format!("{folder}/{}", entry.file_name().to_string_lossy()));
            assert_eq!(committed.ok(), Some(fresh), "{:?}: run src/shaders/bake.sh", entry.file_name());
            compared += 1;
        }
        assert_eq!(compared, 25);
        std::fs::remove_dir_all(out).expect("the folder goes");
    }
}
