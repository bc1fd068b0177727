//! The Vulkan instance, the device that was picked, its probed features and its one queue.

use crate::error::{map_allocation, map_create, map_init, map_submit};
use crate::exit::Admission;
use crate::features::{Extensions, FeatureChain};
use crate::format::FormatTable;
use crate::mask::Mask;
use crate::pass_objects::RenderPasses;
use crate::timeline::Timeline;
pub(crate) use crate::timeline::FIRST_VALUE;
use crate::validation;
use ash::{ext, khr, vk};
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc};
use gpu_allocator::MemoryLocation;
use mgpipe_types::{PipeError, PipeResult};
use parking_lot::{Condvar, Mutex};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An open Vulkan device with everything that its objects need in order to live and to die.
pub(crate) struct Device {
    pub(crate) instance: ash::Instance,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) raw: ash::Device,
    pub(crate) ext: Extensions,
    pub(crate) features: FeatureBits,
    pub(crate) properties: vk::PhysicalDeviceProperties,
    pub(crate) memory_properties: vk::PhysicalDeviceMemoryProperties,
    pub(crate) xfb_properties: vk::PhysicalDeviceTransformFeedbackPropertiesEXT<'static>,
    pub(crate) max_divisor: u32,
    pub(crate) max_multi_draw: u32,
    pub(crate) driver_name: String,
    pub(crate) formats: FormatTable,
    /// Vertex fetch by number of the Vulkan format; core formats are dense from 0.
    pub(crate) vertex_formats: Vec<bool>,
    pub(crate) queue_family: u32,
    pub(crate) timestamp_bits: u32,
    queue: Mutex<Queue>,
    submitted: Condvar,
    timeline: Timeline,
    /// Highest timeline value that is known to have been reached.
    retired: AtomicU64,
    /// `None` only while the device is being dropped.
    allocator: Mutex<Option<Allocator>>,
    lost: AtomicBool,
    lost_why: Mutex<Option<String>>,
    serial: AtomicU64,
    pub(crate) fns: DeviceFns,
    /// Only used without dynamic rendering.
    pub(crate) passes: RenderPasses,
    pub(crate) pipeline_cache: vk::PipelineCache,
    unsaved: Mutex<Unsaved>,
}

/// Function tables of the extensions in use.
pub(crate) struct DeviceFns {
    pub(crate) rendering: khr::dynamic_rendering::Device,
    pub(crate) dynamic_state: ext::extended_dynamic_state::Device,
    pub(crate) dynamic_state2: ext::extended_dynamic_state2::Device,
    pub(crate) dynamic_state3: ext::extended_dynamic_state3::Device,
    pub(crate) vertex_input: ext::vertex_input_dynamic_state::Device,
    pub(crate) xfb: ext::transform_feedback::Device,
    pub(crate) multi_draw: ext::multi_draw::Device,
    pub(crate) indirect_count: khr::draw_indirect_count::Device,
    pub(crate) host_reset: ext::host_query_reset::Device,
    pub(crate) clocks: ext::calibrated_timestamps::Device,
}

/// Feature bits that survive the probing, copied out of their structures.
#[derive(Clone, Copy, Default)]
pub(crate) struct FeatureBits {
    pub(crate) core: vk::PhysicalDeviceFeatures,
    pub(crate) draw_parameters: bool,
    pub(crate) patch_points_dynamic: bool,
    pub(crate) geometry_streams: bool,
    pub(crate) list_restart_patches: bool,
    pub(crate) bresenham_lines: bool,
    pub(crate) rectangular_lines: bool,
    pub(crate) smooth_lines: bool,
    /// Blending and write masks are set in the command buffer.
    pub(crate) dynamic_blend: bool,
    /// So is depth clamping.
    pub(crate) dynamic_depth_clamp: bool,
    pub(crate) null_descriptor: bool,
    /// Reads beyond an index buffer are defined.
    pub(crate) robust_indices: bool,
}

struct Queue {
    raw: vk::Queue,
    /// Value that the timeline reaches with the latest submission.
    last_value: u64,
    /// Images whose first layout transition has not been submitted.
    fresh_images: Vec<(vk::Image, vk::ImageAspectFlags)>,
    /// Images whose first layout transition may still run, with the value after which it has. No batch holds them for it.
    in_transition: Vec<(vk::Image, vk::ImageAspectFlags, u64)>,
    /// Pool and command buffers for those transitions, with the value after which each may be reused.
    init_pool: vk::CommandPool,
    init_buffers: Vec<(vk::CommandBuffer, u64)>,
}

impl Queue {
    /// A submission did not happen: the transitions that it carried are for the next one.
    fn transitions_failed(&mut self, value: u64) {
        let fresh = &mut self.fresh_images;
        self.in_transition.retain(|(image, aspects, of)| {
            if *of == value {
                fresh.push((*image, *aspects));
            }
            *of != value
        });
    }
}

/// State of one batch of commands as fences see it: 0 until it is submitted, then its timeline value.
#[derive(Default, Debug)]
pub(crate) struct BatchValue(AtomicU64);

impl BatchValue {
    /// The timeline value, `None` before the submission.
    pub(crate) fn get(&self) -> Option<u64> {
        match self.0.load(Ordering::Acquire) {
            0 => None,
            value => Some(value),
        }
    }

    /// Lets waiters go on after a batch that was never submitted: nothing of it runs.
    pub(crate) fn abandon(&self) {
        self.0.store(FIRST_VALUE, Ordering::Release);
    }

    /// A batch that was submitted with this value; [`FIRST_VALUE`] has retired from the start.
    pub(crate) fn submitted(value: u64) -> BatchValue {
        BatchValue(AtomicU64::new(value))
    }
}

/// Whether the host can ask for the device's clock.
fn tells_its_time(instance: &ash::Instance, physical: vk::PhysicalDevice, ext: &Extensions) -> bool {
    let Ok(entry) = entry() else { return false };
    if !ext.calibrated_timestamps {
        return false;
    }
    let clocks = ext::calibrated_timestamps::Instance::new(entry, instance);
    // SAFETY: `physical` comes from `instance`, and the device has the extension.
    let domains = unsafe { clocks.get_physical_device_calibrateable_time_domains(physical) };
    domains.is_ok_and(|domains| domains.contains(&vk::TimeDomainEXT::DEVICE))
}

impl Device {
    /// Opens the Vulkan library, an instance, the device that `MGL_MAGMA_DEVICE` or the default order picks.
    ///
    /// # Errors
    /// [`PipeError::Init`] with what is missing.
    pub(crate) fn open() -> PipeResult<Arc<Device>> {
        let entry = entry()?;
        let mask = Mask::from_environment()?;
        let (instance, validating) = kept_instance(entry, &mask)?;
        let messenger = validating.then(|| ext::debug_utils::Instance::new(entry, &instance)).and_then(|utils| {
            // SAFETY: the instance has VK_EXT_debug_utils and outlives the messenger (see `Drop`).
            let messenger = unsafe { utils.create_debug_utils_messenger(&validation::messenger_info(), None) };
            messenger.ok().map(|m| (utils, m))
        });
        let device = Arc::new(Device::open_on(instance, messenger, &mask)?);
        crate::exit::watch(&device);
        Ok(device)
    }

    fn open_on(
        instance: ash::Instance,
        messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
        mask: &Mask,
    ) -> PipeResult<Device> {
        let physical = pick(&instance)?;
        // SAFETY: `physical` comes from `instance`.
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        let version = properties.api_version;
        if version < vk::API_VERSION_1_1 {
            let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
            return Err(PipeError::Init(format!("the device has Vulkan {major}.{minor}; Magma needs 1.1")));
        }
        crate::heap::settle(properties.device_type);
        let advertised = device_extensions(&instance, physical)?;
        let mut ext = Extensions::select(|name| advertised.iter().any(|a| a.as_c_str() == name) && !mask.hides(name));
        let mut chain = FeatureChain::default();
        let mut query = chain.link(&ext);
        // SAFETY: the chain holds valid structures of extensions that the device has.
        unsafe { instance.get_physical_device_features2(physical, &mut query) };
        chain.core = query.features;
        chain.settle(&mut ext);
        ext.calibrated_timestamps &= tells_its_time(&instance, physical, &ext);
        if let Some(missing) = crate::features::lacking(&chain.core, &ext) {
            log::warn!("magma: the device lacks parts of OpenGL 3.3 that nothing stands in for: {missing}");
        }

        let (queue_family, timestamp_bits) = queue_family(&instance, physical)?;
        let features = FeatureBits {
            core: chain.core,
            draw_parameters: chain.draw_parameters.shader_draw_parameters == vk::TRUE,
            patch_points_dynamic: ext.extended_dynamic_state2
                && chain.dynamic_state2.extended_dynamic_state2_patch_control_points == vk::TRUE,
            geometry_streams: ext.transform_feedback && chain.transform_feedback.geometry_streams == vk::TRUE,
            list_restart_patches: ext.list_restart
                && chain.list_restart.primitive_topology_patch_list_restart == vk::TRUE,
            bresenham_lines: ext.line_rasterization && chain.lines.bresenham_lines == vk::TRUE,
            rectangular_lines: ext.line_rasterization && chain.lines.rectangular_lines == vk::TRUE,
            smooth_lines: ext.line_rasterization && chain.lines.smooth_lines == vk::TRUE,
            dynamic_blend: ext.extended_dynamic_state3
                && chain.dynamic_state3.extended_dynamic_state3_color_blend_enable == vk::TRUE
                && chain.dynamic_state3.extended_dynamic_state3_color_blend_equation == vk::TRUE
                && chain.dynamic_state3.extended_dynamic_state3_color_write_mask == vk::TRUE,
            dynamic_depth_clamp: ext.extended_dynamic_state3
                && chain.dynamic_state3.extended_dynamic_state3_depth_clamp_enable == vk::TRUE
                && (!ext.depth_clip_enable
                    || chain.dynamic_state3.extended_dynamic_state3_depth_clip_enable == vk::TRUE),
            null_descriptor: ext.robustness2,
            robust_indices: ext.robustness2 && chain.robustness2.robust_buffer_access2 == vk::TRUE,
        };
        let names: Vec<_> = ext.names().iter().map(|name| name.as_ptr()).collect();
        let priorities = [1.0];
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&priorities)];
        let mut enabled = chain.link(&ext);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut enabled);
        // SAFETY: extensions and features are those that the device has just reported.
        let raw = unsafe { instance.create_device(physical, &info, None) }
            .map_err(|code| map_init("vkCreateDevice", code))?;

        let mut xfb_properties = vk::PhysicalDeviceTransformFeedbackPropertiesEXT::default();
        let mut divisor = vk::PhysicalDeviceVertexAttributeDivisorPropertiesEXT::default();
        let mut multi = vk::PhysicalDeviceMultiDrawPropertiesEXT::default();
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        {
            let mut query = vk::PhysicalDeviceProperties2::default();
            if ext.transform_feedback {
                query = query.push_next(&mut xfb_properties);
            }
            if ext.vertex_attribute_divisor {
                query = query.push_next(&mut divisor);
            }
            if ext.multi_draw {
                query = query.push_next(&mut multi);
            }
            if ext.driver_properties {
                query = query.push_next(&mut driver);
            }
            // SAFETY: the chain holds valid structures of extensions that the device has.
            unsafe { instance.get_physical_device_properties2(physical, &mut query) };
        }
        xfb_properties.p_next = std::ptr::null_mut();
        let driver_name = match (driver.driver_name_as_c_str(), driver.driver_info_as_c_str()) {
            (Ok(name), Ok(info)) => format!("{} {}", name.to_string_lossy(), info.to_string_lossy()).trim().to_owned(),
            _ => String::new(),
        };

        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: raw.clone(),
            physical_device: physical,
            debug_settings: Default::default(),
            buffer_device_address: false,
            allocation_sizes: gpu_allocator::AllocationSizes::new(32 << 20, 16 << 20),
        })
        .map_err(|error| map_allocation("memory allocator", error))?;

        let timeline = Timeline::new(&instance, &raw, ext.timeline_semaphore)?;
        let pool_info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(queue_family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER | vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the family index is one that the device was created with.
        let init_pool =
            unsafe { raw.create_command_pool(&pool_info, None) }.map_err(|code| map_create("command pool", code))?;
        let pipeline_cache = crate::cache::load(&raw, &properties);
        let fns = DeviceFns {
            rendering: khr::dynamic_rendering::Device::new(&instance, &raw),
            dynamic_state: ext::extended_dynamic_state::Device::new(&instance, &raw),
            dynamic_state2: ext::extended_dynamic_state2::Device::new(&instance, &raw),
            dynamic_state3: ext::extended_dynamic_state3::Device::new(&instance, &raw),
            vertex_input: ext::vertex_input_dynamic_state::Device::new(&instance, &raw),
            xfb: ext::transform_feedback::Device::new(&instance, &raw),
            multi_draw: ext::multi_draw::Device::new(&instance, &raw),
            indirect_count: khr::draw_indirect_count::Device::new(&instance, &raw),
            host_reset: ext::host_query_reset::Device::new(&instance, &raw),
            clocks: ext::calibrated_timestamps::Device::new(&instance, &raw),
        };
        // SAFETY: family and index are those of device creation.
        let queue = unsafe { raw.get_device_queue(queue_family, 0) };
        // SAFETY: `physical` comes from `instance`.
        let memory_properties = unsafe { instance.get_physical_device_memory_properties(physical) };
        let formats = FormatTable::probe(&instance, physical);
        Ok(Device {
            messenger,
            physical,
            ext,
            features,
            properties,
            memory_properties,
            xfb_properties,
            max_divisor: if ext.vertex_attribute_divisor { divisor.max_vertex_attrib_divisor } else { 1 },
            max_multi_draw: if ext.multi_draw { multi.max_multi_draw_count } else { 0 },
            driver_name,
            vertex_formats: (0..=vk::Format::E5B9G9R9_UFLOAT_PACK32.as_raw())
                .map(|raw| {
                    // SAFETY: `physical` comes from `instance`; every number up to the last is a format.
                    let properties =
                        unsafe { instance.get_physical_device_format_properties(physical, vk::Format::from_raw(raw)) };
                    properties.buffer_features.contains(vk::FormatFeatureFlags::VERTEX_BUFFER)
                })
                .collect(),
            formats,
            queue_family,
            timestamp_bits,
            queue: Mutex::new(Queue {
                raw: queue,
                last_value: FIRST_VALUE,
                fresh_images: Vec::new(),
                in_transition: Vec::new(),
                init_pool,
                init_buffers: Vec::new(),
            }),
            submitted: Condvar::new(),
            timeline,
            retired: AtomicU64::new(FIRST_VALUE),
            allocator: Mutex::new(Some(allocator)),
            lost: AtomicBool::new(false),
            lost_why: Mutex::new(None),
            serial: AtomicU64::new(1),
            fns,
            passes: RenderPasses::default(),
            pipeline_cache,
            unsaved: Mutex::new(Unsaved::new()),
            instance,
            raw,
        })
    }

    /// A number that this device has never given out: identity of native objects, batches and barrier spans.
    pub(crate) fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    // ---- loss ----

    /// Latches the loss of the device. The first reason stays.
    pub(crate) fn lose(&self, why: &str) {
        let mut reason = self.lost_why.lock();
        if reason.is_none() {
            log::error!("device lost: {why}");
            *reason = Some(why.to_owned());
        }
        self.lost.store(true, Ordering::Release);
        self.submitted.notify_all();
    }

    /// Whether the device is lost.
    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Why it is.
    pub(crate) fn lost_reason(&self) -> Option<String> {
        self.lost_why.lock().clone()
    }

    /// Passes an error through and latches a loss.
    pub(crate) fn note(&self, error: PipeError) -> PipeError {
        if let PipeError::DeviceLost(why) = &error {
            self.lose(why);
        }
        error
    }

    fn lost_error(&self) -> PipeError {
        PipeError::DeviceLost(self.lost_reason().unwrap_or_default())
    }

    // ---- memory ----

    /// Allocates memory for requirements.
    pub(crate) fn allocate(
        &self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        linear: bool,
    ) -> PipeResult<Allocation> {
        let mut allocator = self.allocator.lock();
        let Some(allocator) = allocator.as_mut() else { return Err(self.lost_error()) };
        allocator
            .allocate(&AllocationCreateDesc {
                name,
                requirements,
                location,
                linear,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(|error| map_allocation(name, error))
    }

    /// Gives memory back.
    pub(crate) fn free(&self, allocation: Allocation) {
        if let Some(allocator) = self.allocator.lock().as_mut() {
            if let Err(error) = allocator.free(allocation) {
                log::warn!("memory was not freed: {error}");
            }
        }
    }

    // ---- queue ----

    /// Whether the driver executes commands on threads of this process.
    pub(crate) fn runs_here(&self) -> bool {
        self.properties.device_type == vk::PhysicalDeviceType::CPU
    }

    /// Timeline value of the latest submission of any context.
    pub(crate) fn submitted_value(&self) -> u64 {
        self.queue.lock().last_value
    }

    /// Notes that an image needs its first layout transition, which the next submission of any context carries.
    pub(crate) fn image_created(&self, image: vk::Image, aspects: vk::ImageAspectFlags) {
        self.queue.lock().fresh_images.push((image, aspects));
    }

    /// Forgets an image that is about to be destroyed. An image that was never used may die while its transition still
    /// runs, since no batch holds it: then this waits for the transition, which is over at once.
    pub(crate) fn image_destroyed(&self, image: vk::Image) {
        let submitted = {
            let mut queue = self.queue.lock();
            queue.fresh_images.retain(|(fresh, _)| *fresh != image);
            let at = queue.in_transition.iter().position(|(moving, ..)| *moving == image);
            at.map(|at| queue.in_transition.swap_remove(at).2)
        };
        if let Some(value) = submitted {
            // A loss is latched by the wait; on a lost device nothing runs.
            let _ = self.wait_value(value, u64::MAX);
        }
    }

    /// Submits command buffers in order; `batch` receives the timeline value.
    pub(crate) fn submit(&self, commands: &[vk::CommandBuffer], batch: &BatchValue) -> PipeResult<u64> {
        if self.is_lost() {
            return Err(self.lost_error());
        }
        let mut queue = self.queue.lock();
        let admission = if self.runs_here() { crate::exit::admit() } else { Admission::Run };
        if admission == Admission::Refuse {
            return Err(PipeError::DeviceLost("the process is ending".into()));
        }
        let value = queue.last_value + 1;
        let mut all = smallvec::SmallVec::<[vk::CommandBuffer; 4]>::new();
        if !queue.fresh_images.is_empty() {
            match self.record_transitions(&mut queue, value) {
                Ok(transitions) => all.push(transitions),
                Err(error) => {
                    queue.transitions_failed(value);
                    return Err(error);
                }
            }
        }
        all.extend_from_slice(commands);
        if let Err(code) = self.timeline.submit(&self.raw, queue.raw, &all, value) {
            queue.transitions_failed(value);
            drop(queue);
            return Err(self.note(map_submit("vkQueueSubmit", code)));
        }
        queue.last_value = value;
        batch.0.store(value, Ordering::Release);
        drop(queue);
        self.submitted.notify_all();
        if self.runs_here() {
            crate::exit::submitted(self, value);
        }
        if admission == Admission::RunAndWait {
            crate::exit::wait_for(self, value);
        }
        Ok(value)
    }

    fn record_transitions(&self, queue: &mut Queue, value: u64) -> PipeResult<vk::CommandBuffer> {
        let retired = self.retired_value();
        let reusable = queue.init_buffers.iter().position(|(_, used)| *used <= retired);
        let commands = match reusable {
            Some(index) => {
                queue.init_buffers[index].1 = value;
                queue.init_buffers[index].0
            }
            None => {
                let info = vk::CommandBufferAllocateInfo::default()
                    .command_pool(queue.init_pool)
                    .level(vk::CommandBufferLevel::PRIMARY)
                    .command_buffer_count(1);
                // SAFETY: the pool belongs to the device and is locked with the queue.
                let buffers = unsafe { self.raw.allocate_command_buffers(&info) }
                    .map_err(|code| map_create("command buffer", code))?;
                queue.init_buffers.push((buffers[0], value));
                buffers[0]
            }
        };
        queue.in_transition.retain(|(.., done)| *done > retired);
        let fresh = std::mem::take(&mut queue.fresh_images);
        queue.in_transition.extend(fresh.iter().map(|(image, aspects)| (*image, *aspects, value)));
        let barriers: Vec<_> = fresh
            .into_iter()
            .map(|(image, aspects)| {
                vk::ImageMemoryBarrier::default()
                    .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
                    .old_layout(vk::ImageLayout::UNDEFINED)
                    .new_layout(vk::ImageLayout::GENERAL)
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .image(image)
                    .subresource_range(vk::ImageSubresourceRange {
                        aspect_mask: aspects,
                        base_mip_level: 0,
                        level_count: vk::REMAINING_MIP_LEVELS,
                        base_array_layer: 0,
                        layer_count: vk::REMAINING_ARRAY_LAYERS,
                    })
            })
            .collect();
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is not in use (its value has retired, or it is new); the images are alive, because
        // an image that dies takes itself off the list first.
        let recorded = unsafe {
            self.raw.begin_command_buffer(commands, &begin).and_then(|()| {
                self.raw.cmd_pipeline_barrier(
                    commands,
                    vk::PipelineStageFlags::TOP_OF_PIPE,
                    vk::PipelineStageFlags::ALL_COMMANDS,
                    vk::DependencyFlags::empty(),
                    &[],
                    &[],
                    &barriers,
                );
                self.raw.end_command_buffer(commands)
            })
        };
        recorded.map_err(|code| map_create("image transitions", code))?;
        Ok(commands)
    }

    /// Highest timeline value that the device has reached.
    pub(crate) fn retired_value(&self) -> u64 {
        match self.timeline.reached(&self.raw) {
            Ok(value) => {
                self.retired.fetch_max(value, Ordering::AcqRel);
                value
            }
            Err(code) => {
                self.note(map_submit("asking how far the device is", code));
                self.retired.load(Ordering::Acquire)
            }
        }
    }

    /// Whether the device has reached a value; asks the driver only when the last known value does not say so.
    pub(crate) fn has_retired(&self, value: u64) -> bool {
        self.retired.load(Ordering::Acquire) >= value || self.retired_value() >= value
    }

    /// Waits for a timeline value. False when the time ran out.
    pub(crate) fn wait_value(&self, value: u64, timeout_ns: u64) -> PipeResult<bool> {
        if self.has_retired(value) {
            return Ok(true);
        }
        if self.is_lost() {
            return Err(self.lost_error());
        }
        match self.timeline.wait(&self.raw, value, timeout_ns) {
            Ok(()) => {
                self.retired.fetch_max(value, Ordering::AcqRel);
                Ok(true)
            }
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(code) => Err(self.note(map_submit("waiting for the device", code))),
        }
    }

    /// Waits until a batch is submitted and has retired. False when the time ran out.
    pub(crate) fn wait_batch(&self, batch: &BatchValue, timeout_ns: u64) -> PipeResult<bool> {
        let start = Instant::now();
        let deadline = start.checked_add(Duration::from_nanos(timeout_ns));
        let value = {
            let mut queue = self.queue.lock();
            loop {
                if self.is_lost() {
                    drop(queue);
                    return Err(self.lost_error());
                }
                if let Some(value) = batch.get() {
                    break value;
                }
                // A bounded sleep even without a deadline: a loss is noticed by the loop.
                let slice = Instant::now() + Duration::from_millis(100);
                let until = deadline.map_or(slice, |d| d.min(slice));
                self.submitted.wait_until(&mut queue, until);
                if deadline.is_some_and(|d| Instant::now() >= d) && batch.get().is_none() {
                    return Ok(false);
                }
            }
        };
        let spent = start.elapsed().as_nanos().min(u128::from(u64::MAX)) as u64;
        self.wait_value(value, if timeout_ns == u64::MAX { u64::MAX } else { timeout_ns.saturating_sub(spent) })
    }
}

/// Least time between two writings of the pipeline cache while the program runs.
const CACHE_INTERVAL: Duration = Duration::from_secs(5);

/// Pipelines that the cache on disk does not have yet.
struct Unsaved {
    pipelines: u32,
    /// When the cache was written or, at first, the device opened.
    since: Instant,
}

impl Unsaved {
    fn new() -> Unsaved {
        Unsaved { pipelines: 0, since: Instant::now() }
    }
}

impl Device {
    /// Notes that a pipeline was made. Most programs end without taking their display apart, so the cache goes to disk
    /// now and then, beside a compilation that takes its time anyway.
    pub(crate) fn pipeline_made(&self) {
        crate::exit::pipeline_made();
        let mut unsaved = self.unsaved.lock();
        unsaved.pipelines += 1;
        if unsaved.since.elapsed() >= CACHE_INTERVAL {
            self.write_cache(&mut unsaved);
        }
    }

    /// Writes the pipeline cache when it has something new: a context ends.
    pub(crate) fn save_pipelines(&self) {
        self.write_cache(&mut self.unsaved.lock());
    }

    fn write_cache(&self, unsaved: &mut Unsaved) {
        if unsaved.pipelines > 0 {
            crate::cache::save(&self.raw, &self.properties, self.pipeline_cache);
            *unsaved = Unsaved::new();
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.save_pipelines();
        let queue = self.queue.get_mut();
        // SAFETY: objects hold an `Arc` of the device, so none is left; nothing runs on the queue after the wait.
        unsafe {
            let _ = self.raw.device_wait_idle();
            self.raw.destroy_pipeline_cache(self.pipeline_cache, None);
            self.raw.destroy_command_pool(queue.init_pool, None);
            self.timeline.destroy(&self.raw);
            self.passes.clear();
            // The allocator frees its blocks through the device, so it goes first.
            drop(self.allocator.get_mut().take());
            self.raw.destroy_device(None);
            if let Some((utils, messenger)) = &self.messenger {
                utils.destroy_debug_utils_messenger(*messenger, None);
            }
        }
    }
}

/// The Vulkan loader, loaded once and never unloaded: drivers leave threads and exit handlers behind, which crash when their
/// code is unmapped under them.
///
/// # Errors
/// [`PipeError::Init`] when there is no loader.
pub(crate) fn entry() -> PipeResult<&'static ash::Entry> {
    static ENTRY: Mutex<Option<&'static ash::Entry>> = Mutex::new(None);
    let mut slot = ENTRY.lock();
    if let Some(entry) = *slot {
        return Ok(entry);
    }
    // SAFETY: loading the Vulkan loader runs its initialisers, which are those of the system's library.
    let entry = unsafe { ash::Entry::load() }.map_err(|error| {
        PipeError::Init(format!("no Vulkan loader ({error}); install libvulkan1 and a Vulkan driver"))
    })?;
    Ok(slot.insert(Box::leak(Box::new(entry))))
}

/// The instance of this process, made on first use and never destroyed: a display that is terminated and initialised again
/// must not make the loader unload its drivers and negotiate with them anew, which costs every driver time.
///
/// # Errors
/// As [`create_instance`].
fn kept_instance(entry: &ash::Entry, mask: &Mask) -> PipeResult<(ash::Instance, bool)> {
    struct Kept {
        /// A forked child does not use what its parent made.
        process: u32,
        vulkan11: bool,
        wanted: bool,
        instance: ash::Instance,
        validating: bool,
    }
    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
    let (process, vulkan11, wanted) = (std::process::id(), mask.vulkan11, validation::wanted());
    let mut kept = KEPT.lock();
    if let Some(k) = kept.iter().find(|k| (k.process, k.vulkan11, k.wanted) == (process, vulkan11, wanted)) {
        return Ok((k.instance.clone(), k.validating));
    }
    let (instance, validating) = create_instance(entry, mask)?;
    kept.push(Kept { process, vulkan11, wanted, instance: instance.clone(), validating });
    Ok((instance, validating))
}

/// Creates an instance, with the validation layer when it is wanted and there.
pub(crate) fn create_instance(entry: &ash::Entry, mask: &Mask) -> PipeResult<(ash::Instance, bool)> {
    // SAFETY: the loader is loaded.
    let version = unsafe { entry.try_enumerate_instance_version() }.ok().flatten().unwrap_or(vk::API_VERSION_1_0);
    if version < vk::API_VERSION_1_1 {
        return Err(PipeError::Init("the Vulkan loader is older than Vulkan 1.1".into()));
    }
    // A program that asks for Vulkan 1.1 gets no more, and the validation layer holds it to that.
    let newest = if mask.vulkan11 { vk::API_VERSION_1_1 } else { vk::API_VERSION_1_3 };
    let application = vk::ApplicationInfo::default().engine_name(c"MGL Magma").api_version(version.min(newest));
    let mut layers = Vec::new();
    let mut extensions = Vec::new();
    let mut messenger = validation::messenger_info();
    let mut validating = false;
    if validation::wanted() {
        // SAFETY: the loader is loaded.
        let available = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
        if available.iter().any(|layer| layer.layer_name_as_c_str() == Ok(validation::LAYER)) {
            layers.push(validation::LAYER.as_ptr());
            extensions.push(ext::debug_utils::NAME.as_ptr());
            validating = true;
        } else {
            return Err(PipeError::Init(
                "MGL_VALIDATION is set but VK_LAYER_KHRONOS_validation is not installed (vulkan-validationlayers)"
                    .into(),
            ));
        }
    }
    let mut info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions);
    let mut more = vk::ValidationFeaturesEXT::default().enabled_validation_features(validation::more());
    if validating {
        info = info.push_next(&mut messenger).push_next(&mut more);
    }
    // SAFETY: layers and extensions were found or belong to the layer.
    let instance = unsafe { entry.create_instance(&info, None) }.map_err(|code| match code {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
            PipeError::Init("no Vulkan driver; install mesa-vulkan-drivers or the vendor's driver".into())
        }
        other => map_init("vkCreateInstance", other),
    })?;
    Ok((instance, validating))
}

/// Extension names of a device.
pub(crate) fn device_extensions(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
) -> PipeResult<Vec<std::ffi::CString>> {
    // SAFETY: `physical` comes from `instance`.
    let all = unsafe { instance.enumerate_device_extension_properties(physical) }
        .map_err(|code| map_init("vkEnumerateDeviceExtensionProperties", code))?;
    Ok(all.iter().filter_map(|e| e.extension_name_as_c_str().ok().map(CStr::to_owned)).collect())
}

/// The physical device to use.
fn pick(instance: &ash::Instance) -> PipeResult<vk::PhysicalDevice> {
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.enumerate_physical_devices() }
        .map_err(|code| map_init("vkEnumeratePhysicalDevices", code))?;
    let mut candidates = Vec::new();
    for (index, &physical) in devices.iter().enumerate() {
        // SAFETY: `physical` comes from `instance`.
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        let name = properties.device_name_as_c_str().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        candidates.push((index, physical, properties, name));
    }
    if let Some(wish) = mgpipe_types::switches::switch_text("MGL_MAGMA_DEVICE") {
        let wish = wish.trim().to_lowercase();
        if !wish.is_empty() {
            let found = candidates.iter().find(|(index, _, _, name)| match wish.parse::<usize>() {
                Ok(number) => number == *index,
                Err(_) => name.to_lowercase().contains(&wish),
            });
            return found.map(|(_, physical, ..)| *physical).ok_or_else(|| {
                let names: Vec<_> = candidates.iter().map(|(i, _, _, name)| format!("{i}: {name}")).collect();
                PipeError::Init(format!("MGL_MAGMA_DEVICE={wish} names no device; there are: {}", names.join(", ")))
            });
        }
    }
    let rank = |kind: vk::PhysicalDeviceType| match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 3,
        _ => 4,
    };
    candidates
        .iter()
        .filter(|(_, _, properties, _)| properties.api_version >= vk::API_VERSION_1_1)
        .min_by_key(|(index, _, properties, _)| (rank(properties.device_type), *index))
        .map(|(_, physical, ..)| *physical)
        .ok_or_else(|| PipeError::Init("no Vulkan device with Vulkan 1.1".into()))
}

/// A queue family with graphics and compute, and the valid bits of its timestamps.
fn queue_family(instance: &ash::Instance, physical: vk::PhysicalDevice) -> PipeResult<(u32, u32)> {
    // SAFETY: `physical` comes from `instance`.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    families
        .iter()
        .position(|family| family.queue_flags.contains(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE))
        .map(|index| (index as u32, families[index].timestamp_valid_bits))
        .ok_or_else(|| PipeError::Init("the device has no queue for graphics and compute".into()))
}
