//! What empty slots hold: images that read as (0, 0, 0, 1) and a buffer of zeros.

use crate::device::Device;
use crate::resource::buffer::{BufferStorage, Placement};
use crate::resource::texture::{Image, ImageDesc, ViewKey};
use crate::sampler::Sampler;
use ash::vk;
use mgpipe_types::reflection::{OpaqueBase, OpaqueDim, OpaqueType};
use mgpipe_types::{gl, swizzle, Format, PipeResult, SamplerParameters, Target};
use parking_lot::Mutex;
use std::sync::Arc;

/// Bytes of the zero buffer: more than any attribute or small block reads.
const ZERO_BYTES: u64 = 64 << 10;

/// Placeholder resources of a screen, made when first needed.
#[derive(Default)]
pub(crate) struct Placeholders {
    images: Mutex<Vec<(Target, Format, Arc<Image>)>>,
    zeros: Mutex<Option<Arc<BufferStorage>>>,
    sampler: Mutex<Option<Arc<Sampler>>>,
}

impl Placeholders {
    fn image(&self, device: &Arc<Device>, target: Target, format: Format) -> PipeResult<Arc<Image>> {
        let mut images = self.images.lock();
        if let Some((.., image)) = images.iter().find(|(t, f, _)| *t == target && *f == format) {
            return Ok(image.clone());
        }
        let multisampled = target == Target::Tex2DMs;
        let image = Arc::new(Image::new(
            device,
            ImageDesc {
                format,
                target,
                width: 1,
                height: 1,
                depth: 1,
                layers: if target == Target::Tex2DArray { 6 } else { 1 },
                levels: 1,
                samples: if multisampled { 4 } else { 1 },
            },
        )?);
        images.push((target, format, image.clone()));
        Ok(image)
    }

    /// A view that reads as (0, 0, 0, 1) under the sampler type of a shader. The view's swizzle makes the constants, so
    /// the texels never matter.
    pub(crate) fn sampled(&self, device: &Arc<Device>, ty: &OpaqueType) -> PipeResult<(Arc<Image>, vk::ImageView)> {
        let (target, kind) = match (ty.dim, ty.arrayed, ty.multisampled) {
            (OpaqueDim::D1, false, _) => (Target::Tex1D, vk::ImageViewType::TYPE_1D),
            (OpaqueDim::D1, true, _) => (Target::Tex1D, vk::ImageViewType::TYPE_1D_ARRAY),
            (OpaqueDim::D3, ..) => (Target::Tex3D, vk::ImageViewType::TYPE_3D),
            (OpaqueDim::Cube, false, _) => (Target::Tex2DArray, vk::ImageViewType::CUBE),
            (OpaqueDim::Cube, true, _) => (Target::Tex2DArray, vk::ImageViewType::CUBE_ARRAY),
            (_, false, true) => (Target::Tex2DMs, vk::ImageViewType::TYPE_2D),
            (_, true, true) => (Target::Tex2DMs, vk::ImageViewType::TYPE_2D_ARRAY),
            (_, true, false) => (Target::Tex2DArray, vk::ImageViewType::TYPE_2D_ARRAY),
            _ => (Target::Tex2DArray, vk::ImageViewType::TYPE_2D),
        };
        let (storage, format) = if ty.shadow {
            (Format::D16_UNORM, Format::D16_UNORM)
        } else {
            let format = match ty.base {
                OpaqueBase::Float => Format::RGBA8_UNORM,
                OpaqueBase::Int => Format::RGBA8_SINT,
                OpaqueBase::Uint => Format::RGBA8_UINT,
            };
            (Format::RGBA8_UNORM, format)
        };
        let image = self.image(device, target, storage)?;
        let layers = match kind {
            vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY => 6,
            _ => 1,
        };
        let view = image.view(ViewKey {
            kind,
            format,
            aspects: if ty.shadow { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR },
            base_level: 0,
            levels: 1,
            base_layer: 0,
            layers,
            swizzle: [swizzle::ZERO, swizzle::ZERO, swizzle::ZERO, swizzle::ONE],
            usage: vk::ImageUsageFlags::SAMPLED,
        })?;
        Ok((image, view))
    }

    /// A sampler for units that have a view but no sampler.
    pub(crate) fn sampler(&self, device: &Arc<Device>) -> Arc<Sampler> {
        let mut slot = self.sampler.lock();
        let parameters = SamplerParameters {
            wrap_s: gl::CLAMP_TO_EDGE,
            wrap_t: gl::CLAMP_TO_EDGE,
            wrap_r: gl::CLAMP_TO_EDGE,
            min_filter: gl::NEAREST,
            mag_filter: gl::NEAREST,
            cube_map_seamless: 1,
            ..SamplerParameters::default()
        };
        slot.get_or_insert_with(|| Arc::new(Sampler::new(device, parameters))).clone()
    }

    /// A buffer of zeros, for reads alone.
    pub(crate) fn zeros(&self, device: &Arc<Device>) -> PipeResult<Arc<BufferStorage>> {
        let mut slot = self.zeros.lock();
        if let Some(zeros) = &*slot {
            return Ok(zeros.clone());
        }
        let zeros = Arc::new(BufferStorage::new(device, ZERO_BYTES, Placement::Upload)?);
        zeros.write(0, &vec![0; ZERO_BYTES as usize]);
        *slot = Some(zeros.clone());
        Ok(zeros)
    }
}
