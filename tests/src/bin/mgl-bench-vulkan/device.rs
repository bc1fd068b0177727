//! The smallest Vulkan program that can draw: one queue, one image, two buffers, two pipelines.

use super::Row;
use anyhow::{bail, Context, Result};
use ash::{ext, khr, vk};

const VERTEX: &[u8] = include_bytes!("draw.vert.spv");
const FRAGMENT: &[u8] = include_bytes!("draw.frag.spv");
const SIZE: u32 = 32;

/// Everything that the loop needs, made once.
pub struct Bench {
    _entry: ash::Entry,
    _instance: ash::Instance,
    device: ash::Device,
    name: String,
    queue: vk::Queue,
    buffers: Vec<vk::CommandBuffer>,
    fences: Vec<vk::Fence>,
    view: vk::ImageView,
    vertices: vk::Buffer,
    indices: vk::Buffer,
    pipelines: [vk::Pipeline; 2],
    rendering: khr::dynamic_rendering::Device,
    multi_draw: Option<ext::multi_draw::Device>,
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

impl Bench {
    /// Opens the first device (`VK_ICD_FILENAMES` chooses the driver).
    pub fn new(in_flight: usize) -> Result<Bench> {
        // SAFETY: every call below follows the Vulkan specification for handles that were made in this function and live as
        // long as the process; the create infos point at locals that outlive the calls that read them.
        unsafe { Self::open(in_flight) }
    }

    /// # Safety
    /// None beyond what the body itself ensures: all handles are its own.
    unsafe fn open(in_flight: usize) -> Result<Bench> {
        let entry = ash::Entry::load().context("no Vulkan loader")?;
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&app), None)?;
        let physical = *instance.enumerate_physical_devices()?.first().context("no Vulkan device")?;
        let properties = instance.get_physical_device_properties(physical);
        let name =
            properties.device_name_as_c_str().map_or_else(|_| String::new(), |n| n.to_string_lossy().into_owned());
        let known: Vec<String> = instance
            .enumerate_device_extension_properties(physical)?
            .iter()
            .filter_map(|e| e.extension_name_as_c_str().ok().map(|n| n.to_string_lossy().into_owned()))
            .collect();
        let has = |name: &std::ffi::CStr| known.iter().any(|k| k.as_bytes() == name.to_bytes());
        if !has(khr::dynamic_rendering::NAME) {
            bail!("the driver has no VK_KHR_dynamic_rendering");
        }
        let multi = has(ext::multi_draw::NAME);
        let mut names = vec![
            khr::dynamic_rendering::NAME.as_ptr(),
            khr::depth_stencil_resolve::NAME.as_ptr(),
            khr::create_renderpass2::NAME.as_ptr(),
        ];
        if multi {
            names.push(ext::multi_draw::NAME.as_ptr());
        }
        let family = instance
            .get_physical_device_queue_family_properties(physical)
            .iter()
            .position(|f| f.queue_flags.contains(vk::QueueFlags::GRAPHICS))
            .context("no graphics queue")? as u32;
        let queue_infos = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let mut rendering_feature = vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true);
        let mut multi_feature = vk::PhysicalDeviceMultiDrawFeaturesEXT::default().multi_draw(multi);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queue_infos)
            .enabled_extension_names(&names)
            .push_next(&mut rendering_feature);
        if multi {
            info = info.push_next(&mut multi_feature);
        }
        let device = instance.create_device(physical, &info, None)?;
        let queue = device.get_device_queue(family, 0);
        let rendering = khr::dynamic_rendering::Device::new(&instance, &device);
        let multi_draw = multi.then(|| ext::multi_draw::Device::new(&instance, &device));
        let memory = instance.get_physical_device_memory_properties(physical);

        let pool_info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        let pool = device.create_command_pool(&pool_info, None)?;
        let buffers = device.allocate_command_buffers(
            &vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(in_flight as u32),
        )?;
        let signaled = vk::FenceCreateInfo::default().flags(vk::FenceCreateFlags::SIGNALED);
        let fences = (0..in_flight).map(|_| device.create_fence(&signaled, None)).collect::<Result<_, _>>()?;

        let image_info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D { width: SIZE, height: SIZE, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT);
        let image = device.create_image(&image_info, None)?;
        let requirements = device.get_image_memory_requirements(image);
        device.bind_image_memory(
            image,
            allocate(&device, &memory, requirements, vk::MemoryPropertyFlags::empty())?,
            0,
        )?;
        let view = device.create_image_view(
            &vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(image_info.format)
                .subresource_range(vk::ImageSubresourceRange {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    level_count: 1,
                    layer_count: 1,
                    ..Default::default()
                }),
            None,
        )?;
        // A degenerate triangle, twice: the loop measures overhead, not filling.
        let vertices = buffer(&device, &memory, vk::BufferUsageFlags::VERTEX_BUFFER, &[0u8; 2 * 48])?;
        let indices =
            buffer(&device, &memory, vk::BufferUsageFlags::INDEX_BUFFER, bytemuck::cast_slice(&[0u32, 1, 2]))?;
        let pipelines = [pipeline(&device, false)?, pipeline(&device, true)?];
        Ok(Bench {
            _entry: entry,
            _instance: instance,
            device,
            name,
            queue,
            buffers,
            fences,
            view,
            vertices,
            indices,
            pipelines,
            rendering,
            multi_draw,
        })
    }

    /// Device name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether `VK_EXT_multi_draw` is there.
    pub fn has_multi_draw(&self) -> bool {
        self.multi_draw.is_some()
    }

    /// Waits until a slot's commands have retired.
    pub fn wait(&self, slot: usize) -> Result<()> {
        // SAFETY: the fence belongs to this device and slot.
        unsafe { self.device.wait_for_fences(&[self.fences[slot]], true, u64::MAX)? };
        Ok(())
    }

    /// Waits for every slot.
    pub fn wait_all(&self) -> Result<()> {
        (0..self.fences.len()).try_for_each(|slot| self.wait(slot))
    }

    /// Submits a slot's commands.
    pub fn submit(&self, slot: usize) -> Result<()> {
        let commands = [self.buffers[slot]];
        // SAFETY: the command buffer is recorded, its fence is signalled (waited for before recording) and reset here.
        unsafe {
            self.device.reset_fences(&[self.fences[slot]])?;
            self.device.queue_submit(
                self.queue,
                &[vk::SubmitInfo::default().command_buffers(&commands)],
                self.fences[slot],
            )?;
        }
        Ok(())
    }

    /// Records `draws` draws into a slot whose commands have retired.
    pub fn record(&self, slot: usize, row: Row, draws: u32) -> Result<()> {
        self.wait(slot)?;
        let (device, commands) = (&self.device, self.buffers[slot]);
        let area = vk::Rect2D { offset: Default::default(), extent: vk::Extent2D { width: SIZE, height: SIZE } };
        let viewport =
            vk::Viewport { x: 0.0, y: 0.0, width: SIZE as f32, height: SIZE as f32, min_depth: 0.0, max_depth: 1.0 };
        let attachments = [vk::RenderingAttachmentInfo::default()
            .image_view(self.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::DONT_CARE)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&attachments);
        // SAFETY: the slot has retired, so its buffer may be recorded anew; all handles belong to the device.
        unsafe {
            device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            self.rendering.cmd_begin_rendering(commands, &info);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipelines[0]);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[area]);
            device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices], &[0]);
            device.cmd_bind_index_buffer(commands, self.indices, 0, vk::IndexType::UINT32);
            match (row, &self.multi_draw) {
                (Row::MultiElements, Some(multi)) => {
                    let group = [vk::MultiDrawIndexedInfoEXT { first_index: 0, index_count: 3, vertex_offset: 0 }; 500];
                    for _ in 0..draws / group.len() as u32 {
                        (multi.fp().cmd_draw_multi_indexed_ext)(
                            commands,
                            group.len() as u32,
                            group.as_ptr(),
                            1,
                            0,
                            std::mem::size_of_val(&group[0]) as u32,
                            std::ptr::null(),
                        );
                    }
                }
                _ => {
                    for i in 0..draws {
                        let odd = i % 2;
                        match row {
                            Row::Arrays => device.cmd_draw(commands, 3, 1, 0, 0),
                            Row::PipelineChange => device.cmd_bind_pipeline(
                                commands,
                                vk::PipelineBindPoint::GRAPHICS,
                                self.pipelines[odd as usize],
                            ),
                            Row::ScissorChange => {
                                let extent = vk::Extent2D { width: SIZE - odd, height: SIZE };
                                device.cmd_set_scissor(commands, 0, &[vk::Rect2D { extent, ..area }]);
                            }
                            Row::VertexBufferChange => {
                                device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices], &[u64::from(odd) * 48]);
                            }
                            Row::Elements | Row::MultiElements => {}
                        }
                        if row != Row::Arrays {
                            device.cmd_draw_indexed(commands, 3, 1, 0, 0, 0);
                        }
                    }
                }
            }
            self.rendering.cmd_end_rendering(commands);
            device.end_command_buffer(commands)?;
        }
        Ok(())
    }
}

unsafe fn allocate(
    device: &ash::Device,
    memory: &vk::PhysicalDeviceMemoryProperties,
    requirements: vk::MemoryRequirements,
    flags: vk::MemoryPropertyFlags,
) -> Result<vk::DeviceMemory> {
    let index = (0..memory.memory_type_count)
        .find(|&i| {
            requirements.memory_type_bits >> i & 1 != 0
                && memory.memory_types[i as usize].property_flags.contains(flags)
        })
        .context("no memory type")?;
    let info = vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(index);
    Ok(device.allocate_memory(&info, None)?)
}

unsafe fn buffer(
    device: &ash::Device,
    memory: &vk::PhysicalDeviceMemoryProperties,
    usage: vk::BufferUsageFlags,
    bytes: &[u8],
) -> Result<vk::Buffer> {
    let buffer = device.create_buffer(&vk::BufferCreateInfo::default().size(bytes.len() as u64).usage(usage), None)?;
    let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let storage = allocate(device, memory, device.get_buffer_memory_requirements(buffer), flags)?;
    device.bind_buffer_memory(buffer, storage, 0)?;
    let target = device.map_memory(storage, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
    std::ptr::copy_nonoverlapping(bytes.as_ptr(), target.cast(), bytes.len());
    device.unmap_memory(storage);
    Ok(buffer)
}

unsafe fn pipeline(device: &ash::Device, blend: bool) -> Result<vk::Pipeline> {
    let layout = device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?;
    let (vertex, fragment) = (words(VERTEX), words(FRAGMENT));
    let modules = [
        device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&vertex), None)?,
        device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&fragment), None)?,
    ];
    let stage = |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
    let stages = [stage(vk::ShaderStageFlags::VERTEX, modules[0]), stage(vk::ShaderStageFlags::FRAGMENT, modules[1])];
    let bindings =
        [vk::VertexInputBindingDescription { binding: 0, stride: 16, input_rate: vk::VertexInputRate::VERTEX }];
    let attributes = [vk::VertexInputAttributeDescription {
        location: 0,
        binding: 0,
        format: vk::Format::R32G32B32A32_SFLOAT,
        offset: 0,
    }];
    let input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let targets = [vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(blend)
        .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
        .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .color_write_mask(vk::ColorComponentFlags::RGBA)];
    let colors = vk::PipelineColorBlendStateCreateInfo::default().attachments(&targets);
    let dynamic_states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic_states);
    let formats = [vk::Format::R8G8B8A8_UNORM];
    let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .color_blend_state(&colors)
        .dynamic_state(&dynamic)
        .layout(layout)
        .push_next(&mut rendering);
    let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None);
    Ok(made.map_err(|(_, error)| error)?[0])
}
