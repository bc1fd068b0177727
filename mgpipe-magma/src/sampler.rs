//! Samplers and sampler views.

use crate::conv;
use crate::device::Device;
use crate::error::map_create;
use crate::resource::texture::{Image, Storage, TextureState, ViewKey};
use ash::vk;
use mgpipe_types::{
    depth_stencil_mode, gl, swizzle, Format, PipeError, PipeResult, SamplerParameters, SamplerView, Target,
};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// A sampler of the pipe. One is a few Vulkan samplers, because a shader's type decides about comparison.
pub(crate) struct Sampler {
    device: Arc<Device>,
    parameters: SamplerParameters,
    /// By comparison (bit 0), forced seamless cube maps (bit 1) and formats that cannot be filtered (bit 2).
    raw: Mutex<[Option<vk::Sampler>; 8]>,
    /// The same for textures with swizzles, where the sampler takes texels of the border.
    swizzled: Mutex<Vec<Swizzled>>,
    /// Serial of the batch that was the last to keep the sampler: a hint that spares it keeping it again.
    keeper: AtomicU64,
}

/// A Vulkan sampler for views with one swizzle.
struct Swizzled {
    /// As the index in [`Sampler::raw`].
    slot: usize,
    channels: [u8; 4],
    raw: vk::Sampler,
}

impl Sampler {
    pub(crate) fn new(device: &Arc<Device>, parameters: SamplerParameters) -> Sampler {
        Sampler {
            device: device.clone(),
            parameters,
            raw: Mutex::default(),
            swizzled: Mutex::default(),
            keeper: AtomicU64::new(0),
        }
    }

    /// Notes that a batch keeps the sampler. False when it does already.
    pub(crate) fn enter(&self, batch: u64) -> bool {
        self.keeper.swap(batch, Ordering::Relaxed) != batch
    }

    /// The Vulkan sampler for a shader that compares or does not, while `GL_TEXTURE_CUBE_MAP_SEAMLESS` is on or off, and for
    /// a format that the device filters linearly or takes the nearest texel of. `channels` are those of the view: a device
    /// need not swizzle border colours unless the sampler says how (VK_EXT_border_color_swizzle).
    pub(crate) fn raw(
        &self,
        shadow: bool,
        seamless: bool,
        filterable: bool,
        channels: [u8; 4],
    ) -> PipeResult<vk::Sampler> {
        let mut parameters = self.parameters;
        parameters.cube_map_seamless |= u32::from(seamless);
        let forced = parameters != self.parameters;
        let filtered = parameters;
        if !filterable {
            (parameters.min_filter, parameters.mag_filter) = (nearest(parameters.min_filter), gl::NEAREST);
        }
        let coarse = parameters != filtered;
        let slot = usize::from(shadow) | usize::from(forced) << 1 | usize::from(coarse) << 2;
        let bordered = [parameters.wrap_s, parameters.wrap_t, parameters.wrap_r].contains(&gl::CLAMP_TO_BORDER);
        if bordered && channels != swizzle::IDENTITY && self.device.ext.border_color_swizzle {
            let mut swizzled = self.swizzled.lock();
            if let Some(found) = swizzled.iter().find(|s| s.slot == slot && s.channels == channels) {
                return Ok(found.raw);
            }
            let raw = create(&self.device, &parameters, shadow, channels)?;
            swizzled.push(Swizzled { slot, channels, raw });
            return Ok(raw);
        }
        let mut slots = self.raw.lock();
        let slot = &mut slots[slot];
        if let Some(raw) = *slot {
            return Ok(raw);
        }
        let raw = create(&self.device, &parameters, shadow, swizzle::IDENTITY)?;
        *slot = Some(raw);
        Ok(raw)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        let swizzled = self.swizzled.get_mut().iter().map(|s| s.raw);
        for raw in self.raw.get_mut().iter().copied().flatten().chain(swizzled) {
            // SAFETY: batches keep the samplers that they use.
            unsafe { self.device.raw.destroy_sampler(raw, None) };
        }
    }
}

/// The minification filter that takes one texel of one level, with mipmaps where `filter` has them.
fn nearest(filter: u32) -> u32 {
    if matches!(filter, gl::NEAREST | gl::LINEAR) {
        gl::NEAREST
    } else {
        gl::NEAREST_MIPMAP_NEAREST
    }
}

fn create(device: &Device, p: &SamplerParameters, shadow: bool, channels: [u8; 4]) -> PipeResult<vk::Sampler> {
    let limits = &device.properties.limits;
    let (min, mipmap, has_mipmaps) = match p.min_filter {
        gl::NEAREST => (vk::Filter::NEAREST, vk::SamplerMipmapMode::NEAREST, false),
        gl::LINEAR => (vk::Filter::LINEAR, vk::SamplerMipmapMode::NEAREST, false),
        gl::NEAREST_MIPMAP_NEAREST => (vk::Filter::NEAREST, vk::SamplerMipmapMode::NEAREST, true),
        gl::LINEAR_MIPMAP_NEAREST => (vk::Filter::LINEAR, vk::SamplerMipmapMode::NEAREST, true),
        gl::LINEAR_MIPMAP_LINEAR => (vk::Filter::LINEAR, vk::SamplerMipmapMode::LINEAR, true),
        _ => (vk::Filter::NEAREST, vk::SamplerMipmapMode::LINEAR, true),
    };
    let mag = if p.mag_filter == gl::NEAREST { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
    // Without mipmaps the level is always the base level, but the choice between the two filters still needs a level of
    // detail on both sides of 0 (Vulkan, "Mapping of OpenGL to Vulkan filter modes").
    let (min_lod, max_lod) = if has_mipmaps {
        let low = if p.min_lod.is_finite() { p.min_lod } else { -1000.0 };
        (low, if p.max_lod.is_finite() { p.max_lod.max(low) } else { 1000.0_f32.max(low) })
    } else {
        (0.0, 0.25)
    };
    let wrap = |mode: u32| match mode {
        gl::MIRROR_CLAMP_TO_EDGE if !device.ext.mirror_clamp => vk::SamplerAddressMode::MIRRORED_REPEAT,
        mode => conv::map_wrap(mode),
    };
    let modes = [wrap(p.wrap_s), wrap(p.wrap_t), wrap(p.wrap_r)];
    let anisotropy =
        (device.features.core.sampler_anisotropy == vk::TRUE && p.max_anisotropy > 1.0 && min == vk::Filter::LINEAR)
            .then(|| p.max_anisotropy.min(limits.max_sampler_anisotropy));
    let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default();
    let mut border = vk::BorderColor::FLOAT_TRANSPARENT_BLACK;
    let mut use_custom = false;
    if modes.contains(&vk::SamplerAddressMode::CLAMP_TO_BORDER) {
        (border, use_custom) = border_color(p, device.ext.custom_border_color, &mut custom);
    }
    let mut flags = vk::SamplerCreateFlags::empty();
    if p.cube_map_seamless == 0 && device.ext.non_seamless_cube {
        flags |= vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT;
    }
    let mut info = vk::SamplerCreateInfo::default()
        .flags(flags)
        .mag_filter(mag)
        .min_filter(min)
        .mipmap_mode(mipmap)
        .address_mode_u(modes[0])
        .address_mode_v(modes[1])
        .address_mode_w(modes[2])
        .mip_lod_bias(p.lod_bias.clamp(-limits.max_sampler_lod_bias, limits.max_sampler_lod_bias))
        .min_lod(min_lod)
        .max_lod(max_lod)
        .border_color(border);
    if let Some(anisotropy) = anisotropy {
        info = info.anisotropy_enable(true).max_anisotropy(anisotropy);
    }
    if shadow {
        let func = if p.compare_mode == gl::NONE { vk::CompareOp::ALWAYS } else { conv::map_compare(p.compare_func) };
        info = info.compare_enable(true).compare_op(func);
    }
    if use_custom {
        info = info.push_next(&mut custom);
    }
    let mut mapping =
        vk::SamplerBorderColorComponentMappingCreateInfoEXT::default().components(conv::map_swizzle(channels));
    if channels != swizzle::IDENTITY {
        info = info.push_next(&mut mapping);
    }
    // SAFETY: every value is within the device's limits and enabled features.
    unsafe { device.raw.create_sampler(&info, None) }.map_err(|code| map_create("sampler", code))
}

/// The border colour: a fixed one where it fits, else a custom one, else the nearest fixed one.
fn border_color(
    p: &SamplerParameters,
    custom_allowed: bool,
    custom: &mut vk::SamplerCustomBorderColorCreateInfoEXT<'_>,
) -> (vk::BorderColor, bool) {
    let integer = p.border_color_form != 0;
    if !integer {
        match p.border_color {
            [0.0, 0.0, 0.0, 0.0] => return (vk::BorderColor::FLOAT_TRANSPARENT_BLACK, false),
            [0.0, 0.0, 0.0, 1.0] => return (vk::BorderColor::FLOAT_OPAQUE_BLACK, false),
            [1.0, 1.0, 1.0, 1.0] => return (vk::BorderColor::FLOAT_OPAQUE_WHITE, false),
            _ => {}
        }
    } else {
        match p.border_color_u {
            [0, 0, 0, 0] => return (vk::BorderColor::INT_TRANSPARENT_BLACK, false),
            [0, 0, 0, 1] => return (vk::BorderColor::INT_OPAQUE_BLACK, false),
            [1, 1, 1, 1] => return (vk::BorderColor::INT_OPAQUE_WHITE, false),
            _ => {}
        }
    }
    if custom_allowed {
        let (kind, color) = match p.border_color_form {
            1 => (vk::BorderColor::INT_CUSTOM_EXT, vk::ClearColorValue { int32: p.border_color_i }),
            2 => (vk::BorderColor::INT_CUSTOM_EXT, vk::ClearColorValue { uint32: p.border_color_u }),
            _ => (vk::BorderColor::FLOAT_CUSTOM_EXT, vk::ClearColorValue { float32: p.border_color }),
        };
        custom.custom_border_color = color;
        return (kind, true);
    }
    let [r, g, b, a] = if integer { p.border_color_u.map(|c| if c == 0 { 0.0 } else { 1.0 }) } else { p.border_color };
    let bright = r + g + b > 1.5;
    let kind = match (integer, a >= 0.5, bright) {
        (false, false, _) => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        (false, true, false) => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        (false, true, true) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        (true, false, _) => vk::BorderColor::INT_TRANSPARENT_BLACK,
        (true, true, false) => vk::BorderColor::INT_OPAQUE_BLACK,
        (true, true, true) => vk::BorderColor::INT_OPAQUE_WHITE,
    };
    (kind, false)
}

/// A sampler view object: the restriction alone; the texture decides the rest when the view is bound.
pub(crate) struct View {
    pub(crate) desc: SamplerView,
}

/// Type of a view of a target.
pub(crate) fn view_kind(target: Target) -> vk::ImageViewType {
    match target {
        Target::Tex1D => vk::ImageViewType::TYPE_1D,
        Target::Tex3D => vk::ImageViewType::TYPE_3D,
        Target::Tex1DArray => vk::ImageViewType::TYPE_1D_ARRAY,
        Target::Tex2DArray | Target::Tex2DMsArray => vk::ImageViewType::TYPE_2D_ARRAY,
        Target::TexCube => vk::ImageViewType::CUBE,
        Target::TexCubeArray => vk::ImageViewType::CUBE_ARRAY,
        _ => vk::ImageViewType::TYPE_2D,
    }
}

/// What a texture is sampled through.
#[derive(Clone)]
pub(crate) struct Resolved {
    pub(crate) image: Arc<Image>,
    pub(crate) view: vk::ImageView,
    /// The view's swizzle.
    pub(crate) channels: [u8; 4],
}

/// The image and the view under which a texture is sampled.
pub(crate) fn resolve(state: &TextureState, desc: &SamplerView) -> PipeResult<Resolved> {
    let Storage::Image { image, base_level, base_layer } = &state.storage else {
        return Err(PipeError::BadHandle("the texture has no image".into()));
    };
    let target = Target::from_u8(desc.target).unwrap_or(state.target);
    let params = &state.params;
    let limit = image.levels.saturating_sub(*base_level).max(1);
    let first = u32::from(desc.min_level);
    let count = if desc.num_levels == 0 { limit } else { u32::from(desc.num_levels) };
    // Base and maximum level count from the view's first level (spec 8.17).
    let low = u32::from(params.base_level).min(count - 1);
    let high = u32::from(params.max_level).clamp(low, count - 1);
    let start = (first + low).min(limit - 1);
    let levels = (high - low + 1).min(limit - start);
    let kind = view_kind(target);
    let total = if image.kind == vk::ImageType::TYPE_3D { 1 } else { image.layers };
    let layer = (base_layer + u32::from(desc.min_layer)).min(total - 1);
    let room = total - layer;
    let layers = match kind {
        vk::ImageViewType::CUBE => 6.min(room),
        vk::ImageViewType::CUBE_ARRAY => (u32::from(desc.num_layers).max(6).min(room) / 6 * 6).max(1),
        vk::ImageViewType::TYPE_1D_ARRAY | vk::ImageViewType::TYPE_2D_ARRAY => match u32::from(desc.num_layers) {
            0 => room,
            n => n.min(room),
        },
        _ => 1,
    };
    let format = match Format(desc.format) {
        Format::NONE => state.format,
        format => format,
    };
    let mut aspects = image.aspects;
    let mut channels = params.swizzle;
    if image.format.is_depth_stencil() {
        let stencil = image.format.has_stencil()
            && (params.depth_stencil_mode == depth_stencil_mode::STENCIL || !image.format.has_depth());
        aspects = if stencil { vk::ImageAspectFlags::STENCIL } else { vk::ImageAspectFlags::DEPTH };
        // Vulkan leaves g, b and a of depth reads undefined in part; GL reads (d, 0, 0, 1).
        channels = channels.map(|channel| match channel {
            swizzle::GREEN | swizzle::BLUE => swizzle::ZERO,
            swizzle::ALPHA => swizzle::ONE,
            other => other,
        });
    }
    let format = if image.format.is_depth_stencil() { image.format } else { format };
    let view = image.view(ViewKey {
        kind,
        format,
        aspects,
        base_level: base_level + start,
        levels,
        base_layer: layer,
        layers,
        swizzle: channels,
        usage: vk::ImageUsageFlags::SAMPLED,
    })?;
    Ok(Resolved { image: image.clone(), view, channels })
}

/// Type of a view that a shader's image or sampler type asks for.
pub(crate) fn opaque_view_kind(ty: &mgpipe_types::reflection::OpaqueType) -> vk::ImageViewType {
    use mgpipe_types::reflection::OpaqueDim as D;
    match (ty.dim, ty.arrayed) {
        (D::D1, false) => vk::ImageViewType::TYPE_1D,
        (D::D1, true) => vk::ImageViewType::TYPE_1D_ARRAY,
        (D::D3, _) => vk::ImageViewType::TYPE_3D,
        (D::Cube, false) => vk::ImageViewType::CUBE,
        (D::Cube, true) => vk::ImageViewType::CUBE_ARRAY,
        (_, true) => vk::ImageViewType::TYPE_2D_ARRAY,
        _ => vk::ImageViewType::TYPE_2D,
    }
}
