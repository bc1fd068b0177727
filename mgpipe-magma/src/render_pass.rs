//! Render passes: from the framebuffer state to attachments, and when a pass begins and ends.

use crate::command::Object;
use crate::context::{dirty, MagmaContext};
use crate::pass_objects::{self, NativeFramebuffer, PassBegin};
use crate::resource::texture::{Image, ViewKey};
use ash::vk;
use mgpipe_types::render_state::{RenderState, MAX_DRAW_BUFFERS};
use mgpipe_types::{surface_flags, swizzle, Format, PipeResult, Surface};
use std::sync::{Arc, OnceLock};

/// What of a framebuffer a pipeline depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct PassFacts {
    /// Format of each fragment output, [`Format::NONE`] where nothing is attached.
    pub(crate) colors: [Format; MAX_DRAW_BUFFERS],
    /// Fragment outputs that are described.
    pub(crate) color_count: u8,
    /// Bit i: alpha of output i is never written and reads as one.
    pub(crate) alpha_one: u8,
    pub(crate) depth: Format,
    pub(crate) stencil: Format,
    pub(crate) samples: u32,
}

/// An attachment as it is rendered to.
#[derive(Clone)]
pub(crate) struct Attachment {
    pub(crate) image: Arc<Image>,
    pub(crate) view: vk::ImageView,
}

/// A framebuffer state with native attachments.
#[derive(Clone, Default)]
pub(crate) struct Framebuffer {
    /// Never-reused identity.
    pub(crate) serial: u64,
    /// By fragment output.
    pub(crate) colors: [Option<Attachment>; MAX_DRAW_BUFFERS],
    pub(crate) depth: Option<Attachment>,
    pub(crate) stencil: Option<Attachment>,
    pub(crate) extent: vk::Extent2D,
    pub(crate) layers: u32,
    pub(crate) facts: PassFacts,
    /// Value of `GL_FRAMEBUFFER_SRGB` that the views were made for.
    srgb: bool,
    has_srgb: bool,
    /// The framebuffer object, made when a pass begins without dynamic rendering.
    native: OnceLock<Arc<NativeFramebuffer>>,
}

/// The pass that is open.
pub(crate) struct Pass {
    /// Identity of its framebuffer.
    pub(crate) framebuffer: u64,
    pub(crate) commands: vk::CommandBuffer,
}

/// How attachments are loaded when a pass begins with a clear.
#[derive(Clone, Copy, Default)]
pub(crate) struct LoadClears {
    /// Bit i: output i is cleared to `color`.
    pub(crate) colors: u8,
    pub(crate) color: vk::ClearColorValue,
    pub(crate) alpha_one_color: vk::ClearColorValue,
    pub(crate) depth: Option<f32>,
    pub(crate) stencil: Option<u32>,
}

impl Framebuffer {
    /// Whether the views are those that a render state asks for.
    pub(crate) fn fits(&self, state: &RenderState) -> bool {
        !self.has_srgb || self.srgb == (state.framebuffer_srgb != 0)
    }
}

impl MagmaContext {
    /// The native framebuffer of the current state.
    pub(crate) fn resolve_framebuffer(&mut self) -> PipeResult<Arc<Framebuffer>> {
        let srgb = self.state.framebuffer_srgb != 0;
        if let Some(framebuffer) = &self.resolved_framebuffer {
            if framebuffer.fits(&self.state) {
                return Ok(framebuffer.clone());
            }
        }
        let state = self.framebuffer;
        let mut out = Framebuffer { srgb, serial: self.device.next_serial(), ..Framebuffer::default() };
        let (mut width, mut height) = (u32::from(state.width), u32::from(state.height));
        let mut layers = u32::from(state.layers.max(1));
        let mut samples = 0;
        for (output, &index) in state.draw_buffers.iter().enumerate() {
            let Some(surface) = usize::try_from(index).ok().and_then(|i| state.color.get(i)) else { continue };
            let Some((attachment, format)) = self.attachment(surface, srgb, false)? else { continue };
            out.has_srgb |= Format(surface.format).desc().srgb;
            samples = attachment.image.samples.as_raw();
            clamp_extent(&attachment.image, surface, &mut width, &mut height, &mut layers);
            out.facts.colors[output] = format;
            out.facts.color_count = output as u8 + 1;
            if surface.flags & surface_flags::ALPHA_IS_ONE != 0 {
                out.facts.alpha_one |= 1 << output;
            }
            out.colors[output] = Some(attachment);
        }
        if let Some((attachment, format)) = self.attachment(&state.depth, srgb, true)? {
            if format.has_depth() {
                samples = attachment.image.samples.as_raw();
                clamp_extent(&attachment.image, &state.depth, &mut width, &mut height, &mut layers);
                out.facts.depth = format;
                out.depth = Some(attachment);
            }
        }
        if let Some((attachment, format)) = self.attachment(&state.stencil, srgb, true)? {
            // Vulkan wants one image for both; a framebuffer with two is reported as unsupported by the frontend.
            let fits = out.depth.as_ref().is_none_or(|depth| depth.view == attachment.view);
            if format.has_stencil() && fits {
                samples = attachment.image.samples.as_raw();
                clamp_extent(&attachment.image, &state.stencil, &mut width, &mut height, &mut layers);
                out.facts.stencil = format;
                out.stencil = Some(attachment);
            }
        }
        if samples == 0 {
            let supported = self.device.properties.limits.framebuffer_no_attachments_sample_counts;
            samples = crate::conv::map_samples(u32::from(state.samples), supported).as_raw();
        }
        let limits = &self.device.properties.limits;
        out.facts.samples = samples;
        out.extent = vk::Extent2D {
            width: width.clamp(1, limits.max_framebuffer_width),
            height: height.clamp(1, limits.max_framebuffer_height),
        };
        out.layers = layers.clamp(1, limits.max_framebuffer_layers);
        let out = Arc::new(out);
        self.resolved_framebuffer = Some(out.clone());
        Ok(out)
    }

    /// The attachment behind a surface, `None` when there is none or its storage cannot be rendered to.
    fn attachment(
        &mut self,
        surface: &Surface,
        srgb: bool,
        depth_stencil: bool,
    ) -> PipeResult<Option<(Attachment, Format)>> {
        let Some(resource) = surface.resource() else { return Ok(None) };
        let Some((image, base_level, base_layer)) = self.shared.texture(resource).and_then(|t| t.image()) else {
            return Ok(None);
        };
        if image.format.is_depth_stencil() != depth_stencil {
            return Ok(None);
        }
        let (usage, mut format) = if depth_stencil {
            (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, image.format)
        } else {
            (vk::ImageUsageFlags::COLOR_ATTACHMENT, Format(surface.format))
        };
        if format == Format::NONE {
            format = image.format;
        }
        if !srgb {
            format = format.to_linear();
        }
        let level = base_level + u32::from(surface.level);
        if !image.usage_flags.contains(usage) || level >= image.levels {
            return Ok(None);
        }
        let total = image.layers_or_slices(level);
        let layer = base_layer + surface.layer;
        if layer >= total {
            return Ok(None);
        }
        let layered = surface.layered != 0;
        let kind = match (image.kind, layered) {
            (vk::ImageType::TYPE_1D, false) => vk::ImageViewType::TYPE_1D,
            (vk::ImageType::TYPE_1D, true) => vk::ImageViewType::TYPE_1D_ARRAY,
            (_, false) => vk::ImageViewType::TYPE_2D,
            (_, true) => vk::ImageViewType::TYPE_2D_ARRAY,
        };
        let view = image.view(ViewKey {
            kind,
            format,
            aspects: image.aspects,
            base_level: level,
            levels: 1,
            base_layer: if layered { base_layer } else { layer },
            layers: if layered { total - base_layer } else { 1 },
            swizzle: swizzle::IDENTITY,
            usage,
        })?;
        Ok(Some((Attachment { image, view }, format)))
    }

    /// Makes the pass of the current framebuffer the open one.
    pub(crate) fn ensure_pass(&mut self, clears: Option<&LoadClears>) -> PipeResult<vk::CommandBuffer> {
        self.rec.flush_draws();
        self.ensure_pass_for_draw(clears)
    }

    /// The same for a draw, which may join the draws that wait to be merged.
    pub(crate) fn ensure_pass_for_draw(&mut self, clears: Option<&LoadClears>) -> PipeResult<vk::CommandBuffer> {
        let framebuffer = self.resolve_framebuffer()?;
        if let Some(pass) = &self.pass {
            if pass.framebuffer == framebuffer.serial {
                return Ok(pass.commands);
            }
        }
        self.end_pass();
        self.rec.barrier_before_work();
        let commands = self.rec.main();
        self.begin_pass(&framebuffer, commands, clears)?;
        Ok(commands)
    }

    fn begin_pass(
        &mut self,
        framebuffer: &Framebuffer,
        commands: vk::CommandBuffer,
        clears: Option<&LoadClears>,
    ) -> PipeResult<()> {
        let none = LoadClears::default();
        let clears = clears.unwrap_or(&none);
        let facts = framebuffer.facts;
        let outputs = framebuffer.colors.iter().enumerate().take(usize::from(facts.color_count));
        let colors = outputs.map(|(output, attachment)| {
            let color = if facts.alpha_one >> output & 1 != 0 { clears.alpha_one_color } else { clears.color };
            attachment.as_ref().map(|a| (a, (clears.colors >> output & 1 != 0).then_some(color)))
        });
        let begin = PassBegin {
            colors: colors.collect(),
            depth: framebuffer.depth.as_ref().map(|a| (a, clears.depth)),
            stencil: framebuffer.stencil.as_ref().map(|a| (a, clears.stencil)),
            facts,
            area: vk::Rect2D { offset: vk::Offset2D::default(), extent: framebuffer.extent },
            extent: framebuffer.extent,
            layers: framebuffer.layers,
        };
        let (native, known) = (&mut self.native_framebuffers, Some(&framebuffer.native));
        pass_objects::begin(&self.device, &mut self.rec, native, known, commands, &begin)?;
        for attachment in
            framebuffer.colors.iter().flatten().chain(framebuffer.depth.iter()).chain(framebuffer.stencil.iter())
        {
            self.rec.keep(Object::Image(&attachment.image), true);
        }
        self.pass = Some(Pass { framebuffer: framebuffer.serial, commands });
        self.queries.pass_begun(&self.device, &mut self.rec, commands);
        self.dirty |= dirty::XFB;
        Ok(())
    }

    /// Closes the open pass, with whatever must not outlive it.
    pub(crate) fn end_pass(&mut self) {
        self.rec.flush_draws();
        if let Some(pass) = self.pass.take() {
            self.suspend_xfb(pass.commands);
            self.queries.pass_ending(&self.device, pass.commands);
            // SAFETY: the pass is open in this command buffer.
            unsafe { pass_objects::end(&self.device, pass.commands) };
        }
    }
}

fn clamp_extent(image: &Image, surface: &Surface, width: &mut u32, height: &mut u32, layers: &mut u32) {
    let extent = image.level_extent(u32::from(surface.level));
    *width = if *width == 0 { extent.width } else { (*width).min(extent.width) };
    *height = if *height == 0 { extent.height } else { (*height).min(extent.height) };
    if surface.layered == 0 {
        *layers = 1;
    } else {
        *layers = (*layers).min(image.layers_or_slices(u32::from(surface.level)));
    }
}
