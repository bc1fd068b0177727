//! Render pass and framebuffer objects: how a pass begins on devices without dynamic rendering.
//!
//! Render passes are found by value in a table of the device, framebuffers in a table of the context. A steady draw looks
//! into neither: only the beginning of a pass does, and a pass that goes on in the same framebuffer finds its objects in
//! the resolved framebuffer. Pipelines are made for the pass that loads everything; load operations do not matter for
//! compatibility (Vulkan 1.3, 8.2).

use crate::command::Recorder;
use crate::device::Device;
use crate::error::map_create;
use crate::render_pass::{Attachment, PassFacts};
use crate::resource::texture::Image;
use ash::vk;
use hashbrown::HashMap;
use mgpipe_types::render_state::MAX_DRAW_BUFFERS;
use mgpipe_types::{Format, PipeResult};
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock, Weak};

/// Render passes that a device remembers. Those that are forgotten die with the last batch that uses them.
const MAX_PASSES: usize = 512;
/// Framebuffers that a context remembers.
const MAX_FRAMEBUFFERS: usize = 64;
/// Colour attachments, and one for depth and stencil.
const MAX_ATTACHMENTS: usize = MAX_DRAW_BUFFERS + 1;

/// What is cleared when a pass begins: bits of colour outputs, then these.
const CLEARS_DEPTH: u16 = 1 << MAX_DRAW_BUFFERS;
const CLEARS_STENCIL: u16 = CLEARS_DEPTH << 1;

/// Everything that tells two render passes apart. Attachments are stored at the end and stay in the general layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct PassKey {
    colors: [Format; MAX_DRAW_BUFFERS],
    color_count: u8,
    depth_stencil: Format,
    samples: u32,
    clears: u16,
}

impl PassKey {
    /// The pass of a framebuffer that loads everything.
    pub(crate) fn of(facts: &PassFacts) -> PassKey {
        PassKey {
            colors: facts.colors,
            color_count: facts.color_count,
            depth_stencil: if facts.depth == Format::NONE { facts.stencil } else { facts.depth },
            samples: facts.samples.max(1),
            clears: 0,
        }
    }
}

/// A render pass.
pub(crate) struct RenderPass {
    pub(crate) raw: vk::RenderPass,
    // The table of the device holds passes, so that these cannot hold the device. Whoever else holds one is gone before it.
    device: vk::Device,
    destroy: vk::PFN_vkDestroyRenderPass,
}

impl Drop for RenderPass {
    fn drop(&mut self) {
        // SAFETY: batches hold the passes that they use, and the device outlives every holder.
        unsafe { (self.destroy)(self.device, self.raw, std::ptr::null()) };
    }
}

/// Render passes of a device by value.
#[derive(Default)]
pub(crate) struct RenderPasses {
    known: Mutex<HashMap<PassKey, Arc<RenderPass>>>,
}

impl RenderPasses {
    /// The render pass of a key.
    pub(crate) fn get(&self, device: &Device, key: PassKey) -> PipeResult<Arc<RenderPass>> {
        let mut known = self.known.lock();
        if let Some(pass) = known.get(&key) {
            return Ok(pass.clone());
        }
        let pass = Arc::new(RenderPass::new(device, &key)?);
        if known.len() >= MAX_PASSES {
            known.clear();
        }
        known.insert(key, pass.clone());
        Ok(pass)
    }

    /// Forgets everything: the device is about to be destroyed.
    pub(crate) fn clear(&mut self) {
        self.known.get_mut().clear();
    }
}

impl RenderPass {
    fn new(device: &Device, key: &PassKey) -> PipeResult<RenderPass> {
        let load = |bit: u16| {
            if key.clears & bit != 0 {
                vk::AttachmentLoadOp::CLEAR
            } else {
                vk::AttachmentLoadOp::LOAD
            }
        };
        let describe = |format: Format, load_op, stencil_load_op| {
            vk::AttachmentDescription::default()
                .format(device.formats.get(format).raw)
                .samples(vk::SampleCountFlags::from_raw(key.samples))
                .load_op(load_op)
                .store_op(vk::AttachmentStoreOp::STORE)
                .stencil_load_op(stencil_load_op)
                .stencil_store_op(vk::AttachmentStoreOp::STORE)
                .initial_layout(vk::ImageLayout::GENERAL)
                .final_layout(vk::ImageLayout::GENERAL)
        };
        let mut attachments: SmallVec<[vk::AttachmentDescription; MAX_ATTACHMENTS]> = SmallVec::new();
        let mut colors: SmallVec<[vk::AttachmentReference; MAX_DRAW_BUFFERS]> = SmallVec::new();
        for (output, format) in key.colors.iter().enumerate().take(usize::from(key.color_count)) {
            let mut reference =
                vk::AttachmentReference { attachment: vk::ATTACHMENT_UNUSED, layout: vk::ImageLayout::GENERAL };
            if *format != Format::NONE {
                reference.attachment = attachments.len() as u32;
                attachments.push(describe(*format, load(1 << output), vk::AttachmentLoadOp::LOAD));
            }
            colors.push(reference);
        }
        let depth_stencil =
            vk::AttachmentReference { attachment: attachments.len() as u32, layout: vk::ImageLayout::GENERAL };
        let mut subpass = vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&colors);
        if key.depth_stencil != Format::NONE {
            attachments.push(describe(key.depth_stencil, load(CLEARS_DEPTH), load(CLEARS_STENCIL)));
            subpass = subpass.depth_stencil_attachment(&depth_stencil);
        }
        let subpasses = [subpass];
        // No dependencies: whatever needs ordering against a pass is ordered by barriers outside of it.
        let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
        // SAFETY: references name attachments that exist, whose formats the device renders to.
        let raw =
            unsafe { device.raw.create_render_pass(&info, None) }.map_err(|code| map_create("render pass", code))?;
        Ok(RenderPass { raw, device: device.raw.handle(), destroy: device.raw.fp_v1_0().destroy_render_pass })
    }
}

/// What tells two framebuffers apart. A view is known by its image's number, which is never reused, and its handle, which
/// lives as long as the image.
#[derive(Clone, PartialEq, Eq, Hash)]
struct FramebufferKey {
    pass: PassKey,
    views: SmallVec<[(u64, vk::ImageView); MAX_ATTACHMENTS]>,
    extent: (u32, u32),
    layers: u32,
}

/// A framebuffer.
pub(crate) struct NativeFramebuffer {
    device: Arc<Device>,
    raw: vk::Framebuffer,
    /// The attachments; a framebuffer without one of them is never found again.
    images: SmallVec<[Weak<Image>; MAX_ATTACHMENTS]>,
}

impl Drop for NativeFramebuffer {
    fn drop(&mut self) {
        // SAFETY: batches hold the framebuffers that they use.
        unsafe { self.device.raw.destroy_framebuffer(self.raw, None) };
    }
}

impl NativeFramebuffer {
    fn is_usable(&self) -> bool {
        self.images.iter().all(|image| image.strong_count() > 0)
    }
}

/// Framebuffers of a context.
#[derive(Default)]
pub(crate) struct NativeFramebuffers {
    known: HashMap<FramebufferKey, (Arc<NativeFramebuffer>, u64)>,
    uses: u64,
}

impl NativeFramebuffers {
    fn get(&mut self, device: &Arc<Device>, begin: &PassBegin<'_>) -> PipeResult<Arc<NativeFramebuffer>> {
        let pass = PassKey { clears: 0, ..begin.key() };
        let key = FramebufferKey {
            pass,
            views: begin.attachments().map(|a| (a.image.serial, a.view)).collect(),
            extent: (begin.extent.width, begin.extent.height),
            layers: begin.layers,
        };
        self.uses += 1;
        if let Some((framebuffer, used)) = self.known.get_mut(&key) {
            *used = self.uses;
            return Ok(framebuffer.clone());
        }
        let pass = device.passes.get(device, pass)?;
        let views: SmallVec<[vk::ImageView; MAX_ATTACHMENTS]> = key.views.iter().map(|(_, view)| *view).collect();
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass.raw)
            .attachments(&views)
            .width(begin.extent.width)
            .height(begin.extent.height)
            .layers(begin.layers);
        // SAFETY: the views are alive and those that the pass describes, in its order; extent and layers were cut to them.
        let raw =
            unsafe { device.raw.create_framebuffer(&info, None) }.map_err(|code| map_create("framebuffer", code))?;
        let images = begin.attachments().map(|a| Arc::downgrade(&a.image)).collect();
        let framebuffer = Arc::new(NativeFramebuffer { device: device.clone(), raw, images });
        if self.known.len() >= MAX_FRAMEBUFFERS {
            self.known.retain(|_, (framebuffer, _)| framebuffer.is_usable());
        }
        if self.known.len() >= MAX_FRAMEBUFFERS {
            let oldest = self.known.values().map(|(_, used)| *used).min();
            self.known.retain(|_, (_, used)| Some(*used) != oldest);
        }
        self.known.insert(key, (framebuffer.clone(), self.uses));
        Ok(framebuffer)
    }
}

/// A pass that is about to begin.
pub(crate) struct PassBegin<'a> {
    /// By fragment output, with what each is cleared to.
    pub(crate) colors: SmallVec<[Option<(&'a Attachment, Option<vk::ClearColorValue>)>; MAX_DRAW_BUFFERS]>,
    pub(crate) depth: Option<(&'a Attachment, Option<f32>)>,
    /// The same image as `depth` when both are there.
    pub(crate) stencil: Option<(&'a Attachment, Option<u32>)>,
    pub(crate) facts: PassFacts,
    /// Part of the attachments that the pass may touch.
    pub(crate) area: vk::Rect2D,
    pub(crate) extent: vk::Extent2D,
    pub(crate) layers: u32,
}

impl PassBegin<'_> {
    /// The attachments in the order of a render pass.
    fn attachments(&self) -> impl Iterator<Item = &Attachment> {
        let depth_stencil = self.depth.map(|(a, _)| a).or(self.stencil.map(|(a, _)| a));
        self.colors.iter().flatten().map(|(a, _)| *a).chain(depth_stencil)
    }

    fn key(&self) -> PassKey {
        let mut key = PassKey::of(&self.facts);
        for (output, color) in self.colors.iter().enumerate() {
            key.clears |= u16::from(color.is_some_and(|(_, clear)| clear.is_some())) << output;
        }
        if self.depth.is_some_and(|(_, clear)| clear.is_some()) {
            key.clears |= CLEARS_DEPTH;
        }
        if self.stencil.is_some_and(|(_, clear)| clear.is_some()) {
            key.clears |= CLEARS_STENCIL;
        }
        key
    }

    /// What depth and stencil are cleared to: one image holds both, so both values travel together.
    fn depth_stencil_value(&self) -> vk::ClearValue {
        vk::ClearValue {
            depth_stencil: vk::ClearDepthStencilValue {
                depth: self.depth.and_then(|(_, clear)| clear).unwrap_or(1.0),
                stencil: self.stencil.and_then(|(_, clear)| clear).unwrap_or(0),
            },
        }
    }
}

/// Begins a pass. `known` remembers the framebuffer object for the next time.
///
/// # Errors
/// Out of memory; nothing was recorded then.
pub(crate) fn begin(
    device: &Arc<Device>,
    rec: &mut Recorder,
    framebuffers: &mut NativeFramebuffers,
    known: Option<&OnceLock<Arc<NativeFramebuffer>>>,
    commands: vk::CommandBuffer,
    begin: &PassBegin<'_>,
) -> PipeResult<()> {
    if device.ext.dynamic_rendering {
        begin_rendering(device, commands, begin);
        return Ok(());
    }
    let pass = device.passes.get(device, begin.key())?;
    let framebuffer = match known.and_then(OnceLock::get) {
        Some(framebuffer) => framebuffer.clone(),
        None => framebuffers.get(device, begin)?,
    };
    if let Some(known) = known {
        known.get_or_init(|| framebuffer.clone());
    }
    let mut values: SmallVec<[vk::ClearValue; MAX_ATTACHMENTS]> = SmallVec::new();
    for (_, clear) in begin.colors.iter().flatten() {
        values.push(vk::ClearValue { color: clear.unwrap_or_default() });
    }
    values.push(begin.depth_stencil_value());
    let info = vk::RenderPassBeginInfo::default()
        .render_pass(pass.raw)
        .framebuffer(framebuffer.raw)
        .render_area(begin.area)
        .clear_values(&values);
    // SAFETY: no pass is open; the framebuffer was made for a compatible pass, and the batch keeps both.
    unsafe { device.raw.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE) };
    rec.keep_other(pass);
    rec.keep_other(framebuffer);
    Ok(())
}

fn begin_rendering(device: &Device, commands: vk::CommandBuffer, begin: &PassBegin<'_>) {
    let attach = |attachment: &Attachment, clear: Option<vk::ClearValue>| {
        vk::RenderingAttachmentInfo::default()
            .image_view(attachment.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(if clear.is_some() { vk::AttachmentLoadOp::CLEAR } else { vk::AttachmentLoadOp::LOAD })
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(clear.unwrap_or_default())
    };
    let mut colors: SmallVec<[vk::RenderingAttachmentInfo<'_>; MAX_DRAW_BUFFERS]> = SmallVec::new();
    for color in &begin.colors {
        colors.push(match color {
            Some((attachment, clear)) => attach(attachment, clear.map(|color| vk::ClearValue { color })),
            None => vk::RenderingAttachmentInfo::default(),
        });
    }
    let value = begin.depth_stencil_value();
    let depth = begin.depth.map(|(attachment, clear)| attach(attachment, clear.map(|_| value)));
    let stencil = begin.stencil.map(|(attachment, clear)| attach(attachment, clear.map(|_| value)));
    let mut info =
        vk::RenderingInfo::default().render_area(begin.area).layer_count(begin.layers).color_attachments(&colors);
    if let Some(depth) = &depth {
        info = info.depth_attachment(depth);
    }
    if let Some(stencil) = &stencil {
        info = info.stencil_attachment(stencil);
    }
    // SAFETY: no pass is open; the views belong to images that the batch keeps.
    unsafe { device.fns.rendering.cmd_begin_rendering(commands, &info) };
}

/// Ends the open pass.
///
/// # Safety
/// A pass that [`begin`] has begun is open in the command buffer.
pub(crate) unsafe fn end(device: &Device, commands: vk::CommandBuffer) {
    // SAFETY: the caller's promise.
    unsafe {
        if device.ext.dynamic_rendering {
            device.fns.rendering.cmd_end_rendering(commands);
        } else {
            device.raw.cmd_end_render_pass(commands);
        }
    }
}
