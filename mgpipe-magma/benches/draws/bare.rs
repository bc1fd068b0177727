//! The commands that Magma records for the rows, recorded straight through Vulkan.

// Nearly every line here is a Vulkan call; the functions are unsafe as a whole, and their callers say why it is sound.
#![allow(unsafe_op_in_unsafe_fn)]

use crate::{Drawer, Row, SIZE, SLOTS};
use ash::{ext, khr, vk};
use std::error::Error;

/// Command buffers in flight.
const IN_FLIGHT: usize = 3;
/// Draws of one multi-draw command.
const GROUP: usize = 512;
/// Bytes between the uniform ranges of a set.
const RANGE: u64 = 256;

/// One queue, one target, and two of everything that a row changes. What it makes lives as long as the process.
pub struct Bare {
    _entry: ash::Entry,
    _instance: ash::Instance,
    device: ash::Device,
    name: String,
    queue: vk::Queue,
    commands: [vk::CommandBuffer; IN_FLIGHT],
    fences: [vk::Fence; IN_FLIGHT],
    slot: usize,
    row: Row,
    color: vk::ImageView,
    depth: vk::ImageView,
    buffer: vk::Buffer,
    layout: vk::PipelineLayout,
    /// First program without and with blending, second program.
    pipelines: [vk::Pipeline; 3],
    /// Uniform sets with two choices of the first range, and texture sets with two choices of the first texture.
    uniforms: [vk::DescriptorSet; 2],
    textures: [vk::DescriptorSet; 2],
    rendering: khr::dynamic_rendering::Device,
    multi: ext::multi_draw::Device,
    state: ext::extended_dynamic_state::Device,
    input: ext::vertex_input_dynamic_state::Device,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

impl Bare {
    /// Opens the device that Magma takes when nothing chooses another: the first one.
    pub fn new() -> Result<Bare> {
        // SAFETY: the calls below follow the specification for handles that are made there and live as long as the
        // process; create infos point at locals that outlive the calls that read them.
        unsafe { open() }
    }

    /// Name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets everything that a draw needs.
    unsafe fn set_up(&self, commands: vk::CommandBuffer) {
        let device = &self.device;
        let area = vk::Rect2D { offset: Default::default(), extent: vk::Extent2D { width: SIZE, height: SIZE } };
        let attach = |view| {
            vk::RenderingAttachmentInfo::default()
                .image_view(view)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::LOAD)
                .store_op(vk::AttachmentStoreOp::STORE)
        };
        let (colors, depth) = ([attach(self.color)], attach(self.depth));
        let info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .color_attachments(&colors)
            .depth_attachment(&depth);
        self.rendering.cmd_begin_rendering(commands, &info);
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipelines[0]);
        device.cmd_set_scissor(commands, 0, &[area]);
        device.cmd_set_viewport(commands, 0, &[viewport(SIZE, SIZE)]);
        self.state.cmd_set_depth_test_enable(commands, false);
        self.vertex_input(commands, 0);
        let offsets: Vec<u64> = (0..u64::from(SLOTS)).map(|slot| slot * RANGE).collect();
        device.cmd_bind_vertex_buffers(commands, 0, &[self.buffer; SLOTS as usize], &offsets);
        // The first bytes of the buffer are zero, which makes three equal indices.
        device.cmd_bind_index_buffer(commands, self.buffer, 0, vk::IndexType::UINT32);
        self.bind_uniforms(commands, 0, 0);
        self.bind_textures(commands, 0);
    }

    unsafe fn bind_uniforms(&self, commands: vk::CommandBuffer, choice: usize, offset: u32) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        let sets = [self.uniforms[choice]];
        self.device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &sets, &[offset]);
    }

    unsafe fn bind_textures(&self, commands: vk::CommandBuffer, choice: usize) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        self.device.cmd_bind_descriptor_sets(commands, point, self.layout, 1, &[self.textures[choice]], &[]);
    }

    unsafe fn vertex_input(&self, commands: vk::CommandBuffer, choice: usize) {
        let bindings: [_; SLOTS as usize] = std::array::from_fn(|slot| {
            vk::VertexInputBindingDescription2EXT::default()
                .binding(slot as u32)
                .stride(12)
                .input_rate(vk::VertexInputRate::VERTEX)
                .divisor(1)
        });
        let attributes: [_; SLOTS as usize] = std::array::from_fn(|slot| {
            let short = slot == 0 && choice == 1;
            let format = if short { vk::Format::R32G32_SFLOAT } else { vk::Format::R32G32B32_SFLOAT };
            vk::VertexInputAttributeDescription2EXT::default().location(slot as u32).binding(slot as u32).format(format)
        });
        self.input.cmd_set_vertex_input(commands, &bindings, &attributes);
    }

    unsafe fn change(&self, commands: vk::CommandBuffer, odd: usize) {
        let device = &self.device;
        match self.row {
            Row::VertexBuffer => device.cmd_bind_vertex_buffers(commands, 0, &[self.buffer], &[odd as u64 * 64]),
            Row::VertexLayout => self.vertex_input(commands, odd),
            Row::Blend | Row::Program => {
                let pipeline = self.pipelines[if self.row == Row::Blend { odd } else { odd * 2 }];
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            }
            Row::Depth => self.state.cmd_set_depth_test_enable(commands, odd == 1),
            Row::Scissor => {
                let extent = vk::Extent2D { width: SIZE >> (1 - odd), height: 16 };
                device.cmd_set_scissor(commands, 0, &[vk::Rect2D { offset: Default::default(), extent }]);
            }
            Row::Viewport => device.cmd_set_viewport(commands, 0, &[viewport(SIZE >> (1 - odd), 17)]),
            Row::Constants => self.bind_uniforms(commands, 0, odd as u32 * RANGE as u32),
            Row::UniformBuffer => self.bind_uniforms(commands, odd, 0),
            Row::Texture => self.bind_textures(commands, odd),
            Row::Arrays | Row::Elements | Row::ManyRanges | Row::SampleMask | Row::BlendFactors => {}
        }
    }

    unsafe fn record(&mut self, count: u32) -> std::result::Result<(), vk::Result> {
        let (device, commands, fence) = (&self.device, self.commands[self.slot], self.fences[self.slot]);
        device.wait_for_fences(&[fence], true, u64::MAX)?;
        device.reset_fences(&[fence])?;
        let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        device.begin_command_buffer(commands, &once)?;
        self.set_up(commands);
        let group = [vk::MultiDrawIndexedInfoEXT { first_index: 0, index_count: 3, vertex_offset: 0 }; GROUP];
        let stride = size_of::<vk::MultiDrawIndexedInfoEXT>() as u32;
        match self.row {
            Row::Elements | Row::ManyRanges | Row::SampleMask | Row::BlendFactors => {
                for start in (0..count as usize).step_by(GROUP) {
                    let draws = &group[..GROUP.min(count as usize - start)];
                    (self.multi.fp().cmd_draw_multi_indexed_ext)(
                        commands,
                        draws.len() as u32,
                        draws.as_ptr(),
                        1,
                        0,
                        stride,
                        std::ptr::null(),
                    );
                }
            }
            Row::Arrays => {
                for start in (0..count as usize).step_by(GROUP) {
                    let draws = &group[..GROUP.min(count as usize - start)];
                    // The two structures begin alike.
                    let first = draws.as_ptr().cast();
                    (self.multi.fp().cmd_draw_multi_ext)(commands, draws.len() as u32, first, 1, 0, stride);
                }
            }
            _ => {
                for index in 0..count {
                    self.change(commands, index as usize % 2);
                    device.cmd_draw_indexed(commands, 3, 1, 0, 0, 0);
                }
            }
        }
        self.rendering.cmd_end_rendering(commands);
        device.end_command_buffer(commands)?;
        let buffers = [commands];
        device.queue_submit(self.queue, &[vk::SubmitInfo::default().command_buffers(&buffers)], fence)?;
        self.slot = (self.slot + 1) % IN_FLIGHT;
        Ok(())
    }
}

impl Drawer for Bare {
    fn begin(&mut self, row: Row) {
        self.row = row;
    }

    fn draw(&mut self, count: u32) {
        // SAFETY: the slot's fence is waited for before its commands are recorded anew; all handles are the device's.
        if let Err(code) = unsafe { self.record(count) } {
            eprintln!("bare Vulkan: {code}");
        }
    }

    fn finish(&mut self) {
        // SAFETY: the fences belong to the device; each is signalled or submitted.
        if let Err(code) = unsafe { self.device.wait_for_fences(&self.fences, true, u64::MAX) } {
            eprintln!("bare Vulkan: {code}");
        }
    }
}

fn viewport(width: u32, height: u32) -> vk::Viewport {
    vk::Viewport { x: 0.0, y: 0.0, width: width as f32, height: height as f32, min_depth: 0.0, max_depth: 1.0 }
}

unsafe fn open() -> Result<Bare> {
    let entry = ash::Entry::load()?;
    let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
    let instance = entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&app), None)?;
    let physical = *instance.enumerate_physical_devices()?.first().ok_or("no Vulkan device")?;
    let properties = instance.get_physical_device_properties(physical);
    let name = properties.device_name_as_c_str().map_or_else(|_| String::new(), |n| n.to_string_lossy().into_owned());
    let family = instance
        .get_physical_device_queue_family_properties(physical)
        .iter()
        .position(|f| f.queue_flags.contains(vk::QueueFlags::GRAPHICS))
        .ok_or("no graphics queue")? as u32;
    let names = [
        khr::dynamic_rendering::NAME,
        khr::depth_stencil_resolve::NAME,
        khr::create_renderpass2::NAME,
        ext::multi_draw::NAME,
        ext::extended_dynamic_state::NAME,
        ext::vertex_input_dynamic_state::NAME,
    ]
    .map(std::ffi::CStr::as_ptr);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let mut rendering = vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true);
    let mut multi = vk::PhysicalDeviceMultiDrawFeaturesEXT::default().multi_draw(true);
    let mut state = vk::PhysicalDeviceExtendedDynamicStateFeaturesEXT::default().extended_dynamic_state(true);
    let mut input = vk::PhysicalDeviceVertexInputDynamicStateFeaturesEXT::default().vertex_input_dynamic_state(true);
    // Magma keeps robust access on, so the bare loop has it too.
    let features = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .enabled_features(&features)
        .push_next(&mut rendering)
        .push_next(&mut multi)
        .push_next(&mut state)
        .push_next(&mut input);
    let device = instance.create_device(physical, &info, None)?;
    let memory = instance.get_physical_device_memory_properties(physical);
    let pool = vk::CommandPoolCreateInfo::default()
        .queue_family_index(family)
        .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
    let pool = device.create_command_pool(&pool, None)?;
    let buffers = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(IN_FLIGHT as u32);
    let commands = device.allocate_command_buffers(&buffers)?.try_into().map_err(|_| "command buffers")?;
    let signaled = vk::FenceCreateInfo::default().flags(vk::FenceCreateFlags::SIGNALED);
    let mut fences = [vk::Fence::null(); IN_FLIGHT];
    for fence in &mut fences {
        *fence = device.create_fence(&signaled, None)?;
    }
    let maker = Maker { device: &device, memory: &memory };
    let (color_usage, depth_usage) =
        (vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT);
    let color = maker.image(vk::Format::R8G8B8A8_UNORM, SIZE, color_usage, vk::ImageAspectFlags::COLOR)?;
    let depth = maker.image(vk::Format::D32_SFLOAT, SIZE, depth_usage, vk::ImageAspectFlags::DEPTH)?;
    let buffer = maker.buffer(16384)?;
    let set_layouts = [maker.uniform_layout()?, maker.texture_layout()?];
    let layout =
        device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts), None)?;
    let first: &[u8] = include_bytes!("draws.frag.spv");
    let pipelines = [
        maker.pipeline(layout, first, false)?,
        maker.pipeline(layout, first, true)?,
        maker.pipeline(layout, include_bytes!("second.frag.spv"), false)?,
    ];
    let (uniforms, textures) = maker.sets(set_layouts, buffer)?;
    Ok(Bare {
        queue: device.get_device_queue(family, 0),
        rendering: khr::dynamic_rendering::Device::new(&instance, &device),
        multi: ext::multi_draw::Device::new(&instance, &device),
        state: ext::extended_dynamic_state::Device::new(&instance, &device),
        input: ext::vertex_input_dynamic_state::Device::new(&instance, &device),
        _entry: entry,
        _instance: instance,
        name,
        commands,
        fences,
        slot: 0,
        row: Row::Arrays,
        color,
        depth,
        buffer,
        layout,
        pipelines,
        uniforms,
        textures,
        device,
    })
}

/// Makes Vulkan objects.
struct Maker<'a> {
    device: &'a ash::Device,
    memory: &'a vk::PhysicalDeviceMemoryProperties,
}

impl Maker<'_> {
    unsafe fn allocate(
        &self,
        needs: vk::MemoryRequirements,
        flags: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory> {
        let types = &self.memory.memory_types[..self.memory.memory_type_count as usize];
        let index = types
            .iter()
            .enumerate()
            .position(|(i, t)| needs.memory_type_bits >> i & 1 != 0 && t.property_flags.contains(flags))
            .ok_or("no memory type")?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index as u32);
        Ok(self.device.allocate_memory(&info, None)?)
    }

    unsafe fn image(
        &self,
        format: vk::Format,
        size: u32,
        usage: vk::ImageUsageFlags,
        aspect_mask: vk::ImageAspectFlags,
    ) -> Result<vk::ImageView> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width: size, height: size, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        let image = self.device.create_image(&info, None)?;
        let needs = self.device.get_image_memory_requirements(image);
        self.device.bind_image_memory(image, self.allocate(needs, vk::MemoryPropertyFlags::empty())?, 0)?;
        let range = vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count: 1, ..Default::default() };
        let view = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        Ok(self.device.create_image_view(&view, None)?)
    }

    /// A buffer of zeros.
    unsafe fn buffer(&self, size: u64) -> Result<vk::Buffer> {
        use vk::BufferUsageFlags as U;
        let info =
            vk::BufferCreateInfo::default().size(size).usage(U::VERTEX_BUFFER | U::INDEX_BUFFER | U::UNIFORM_BUFFER);
        let buffer = self.device.create_buffer(&info, None)?;
        let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let memory = self.allocate(self.device.get_buffer_memory_requirements(buffer), flags)?;
        self.device.bind_buffer_memory(buffer, memory, 0)?;
        let bytes = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
        std::ptr::write_bytes(bytes.cast::<u8>(), 0, size as usize);
        Ok(buffer)
    }

    unsafe fn uniform_layout(&self) -> Result<vk::DescriptorSetLayout> {
        let kind = |slot| match slot {
            0 => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
            _ => vk::DescriptorType::UNIFORM_BUFFER,
        };
        self.set_layout(SLOTS + 1, kind)
    }

    unsafe fn texture_layout(&self) -> Result<vk::DescriptorSetLayout> {
        self.set_layout(SLOTS, |_| vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
    }

    unsafe fn set_layout(
        &self,
        count: u32,
        kind: impl Fn(u32) -> vk::DescriptorType,
    ) -> Result<vk::DescriptorSetLayout> {
        let bindings: Vec<_> = (0..count)
            .map(|slot| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(slot)
                    .descriptor_type(kind(slot))
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::FRAGMENT)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        Ok(self.device.create_descriptor_set_layout(&info, None)?)
    }

    unsafe fn sets(
        &self,
        layouts: [vk::DescriptorSetLayout; 2],
        buffer: vk::Buffer,
    ) -> Result<([vk::DescriptorSet; 2], [vk::DescriptorSet; 2])> {
        let size = |ty| vk::DescriptorPoolSize { ty, descriptor_count: 64 };
        let sizes = [
            size(vk::DescriptorType::UNIFORM_BUFFER),
            size(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC),
            size(vk::DescriptorType::COMBINED_IMAGE_SAMPLER),
        ];
        let pool = vk::DescriptorPoolCreateInfo::default().max_sets(4).pool_sizes(&sizes);
        let pool = self.device.create_descriptor_pool(&pool, None)?;
        let four = [layouts[0], layouts[0], layouts[1], layouts[1]];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&four);
        let sets = self.device.allocate_descriptor_sets(&info)?;
        let sampler = self.device.create_sampler(&vk::SamplerCreateInfo::default(), None)?;
        let mut views = Vec::new();
        for _ in 0..=SLOTS {
            let (usage, aspect) = (vk::ImageUsageFlags::SAMPLED, vk::ImageAspectFlags::COLOR);
            views.push(self.image(vk::Format::R8G8B8A8_UNORM, 4, usage, aspect)?);
        }
        for choice in 0..2 {
            for slot in 0..=SLOTS {
                let moved = if slot == 1 { choice as u64 * 4096 } else { 0 };
                let info = [vk::DescriptorBufferInfo { buffer, offset: u64::from(slot) * RANGE + moved, range: RANGE }];
                let ty = if slot == 0 {
                    vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC
                } else {
                    vk::DescriptorType::UNIFORM_BUFFER
                };
                let write = vk::WriteDescriptorSet::default().dst_set(sets[choice]).dst_binding(slot);
                self.device.update_descriptor_sets(&[write.descriptor_type(ty).buffer_info(&info)], &[]);
            }
            for slot in 0..SLOTS {
                let view = views[if slot == 0 && choice == 1 { SLOTS } else { slot } as usize];
                let image_layout = vk::ImageLayout::GENERAL;
                let info = [vk::DescriptorImageInfo { sampler, image_view: view, image_layout }];
                let write = vk::WriteDescriptorSet::default().dst_set(sets[2 + choice]).dst_binding(slot);
                let ty = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
                self.device.update_descriptor_sets(&[write.descriptor_type(ty).image_info(&info)], &[]);
            }
        }
        Ok(([sets[0], sets[1]], [sets[2], sets[3]]))
    }

    unsafe fn pipeline(&self, layout: vk::PipelineLayout, fragment: &[u8], blend: bool) -> Result<vk::Pipeline> {
        let device = self.device;
        let (vertex, fragment) = (words(include_bytes!("draws.vert.spv")), words(fragment));
        let vertex = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&vertex), None)?;
        let fragment = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&fragment), None)?;
        let stage =
            |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
        let stages = [stage(vk::ShaderStageFlags::VERTEX, vertex), stage(vk::ShaderStageFlags::FRAGMENT, fragment)];
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly =
            vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let targets = [vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(blend)
            .src_color_blend_factor(vk::BlendFactor::ONE)
            .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let colors = vk::PipelineColorBlendStateCreateInfo::default().attachments(&targets);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_write_enable(true)
            .depth_compare_op(vk::CompareOp::LESS);
        let dynamic_states = [
            vk::DynamicState::VIEWPORT,
            vk::DynamicState::SCISSOR,
            vk::DynamicState::DEPTH_TEST_ENABLE_EXT,
            vk::DynamicState::VERTEX_INPUT_EXT,
        ];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic_states);
        let formats = [vk::Format::R8G8B8A8_UNORM];
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&formats)
            .depth_attachment_format(vk::Format::D32_SFLOAT);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&colors)
            .dynamic_state(&dynamic)
            .layout(layout)
            .push_next(&mut rendering);
        let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None);
        Ok(made.map_err(|(_, error)| error)?[0])
    }
}
