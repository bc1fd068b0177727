//! Texel formats of the pipe and their Vulkan twins, with what the device can do with each.

use ash::vk;
use mgpipe_types::{format_caps, Format, FORMAT_SLOTS};

/// The Vulkan format with exactly the same memory layout, `UNDEFINED` when there is none.
pub(crate) fn map_format(format: Format) -> vk::Format {
    macro_rules! table {
        ($($ours:ident => $theirs:ident,)*) => {
            match format { $(Format::$ours => vk::Format::$theirs,)* _ => vk::Format::UNDEFINED }
        };
    }
    table! {
        R8_UNORM => R8_UNORM, R8_SNORM => R8_SNORM, R8_UINT => R8_UINT, R8_SINT => R8_SINT,
        R16_UNORM => R16_UNORM, R16_SNORM => R16_SNORM, R16_UINT => R16_UINT, R16_SINT => R16_SINT,
        R16_FLOAT => R16_SFLOAT, R32_UINT => R32_UINT, R32_SINT => R32_SINT, R32_FLOAT => R32_SFLOAT,
        RG8_UNORM => R8G8_UNORM, RG8_SNORM => R8G8_SNORM, RG8_UINT => R8G8_UINT, RG8_SINT => R8G8_SINT,
        RG16_UNORM => R16G16_UNORM, RG16_SNORM => R16G16_SNORM, RG16_UINT => R16G16_UINT, RG16_SINT => R16G16_SINT,
        RG16_FLOAT => R16G16_SFLOAT, RG32_UINT => R32G32_UINT, RG32_SINT => R32G32_SINT, RG32_FLOAT => R32G32_SFLOAT,
        RGB8_UNORM => R8G8B8_UNORM, RGB8_SNORM => R8G8B8_SNORM, RGB8_UINT => R8G8B8_UINT, RGB8_SINT => R8G8B8_SINT,
        RGB16_UNORM => R16G16B16_UNORM, RGB16_SNORM => R16G16B16_SNORM, RGB16_UINT => R16G16B16_UINT,
        RGB16_SINT => R16G16B16_SINT, RGB16_FLOAT => R16G16B16_SFLOAT, RGB32_UINT => R32G32B32_UINT,
        RGB32_SINT => R32G32B32_SINT, RGB32_FLOAT => R32G32B32_SFLOAT,
        RGBA8_UNORM => R8G8B8A8_UNORM, RGBA8_SNORM => R8G8B8A8_SNORM, RGBA8_UINT => R8G8B8A8_UINT,
        RGBA8_SINT => R8G8B8A8_SINT, RGBA16_UNORM => R16G16B16A16_UNORM, RGBA16_SNORM => R16G16B16A16_SNORM,
        RGBA16_UINT => R16G16B16A16_UINT, RGBA16_SINT => R16G16B16A16_SINT, RGBA16_FLOAT => R16G16B16A16_SFLOAT,
        RGBA32_UINT => R32G32B32A32_UINT, RGBA32_SINT => R32G32B32A32_SINT, RGBA32_FLOAT => R32G32B32A32_SFLOAT,
        RGB8_SRGB => R8G8B8_SRGB, RGBA8_SRGB => R8G8B8A8_SRGB, BGRA8_UNORM => B8G8R8A8_UNORM, BGRA8_SRGB => B8G8R8A8_SRGB,
        RGB565_UNORM => R5G6B5_UNORM_PACK16, RGBA4_UNORM => R4G4B4A4_UNORM_PACK16,
        RGB5A1_UNORM => R5G5B5A1_UNORM_PACK16, RGB10A2_UNORM => A2B10G10R10_UNORM_PACK32,
        RGB10A2_UINT => A2B10G10R10_UINT_PACK32, R11G11B10_FLOAT => B10G11R11_UFLOAT_PACK32,
        RGB9E5_FLOAT => E5B9G9R9_UFLOAT_PACK32,
        D16_UNORM => D16_UNORM, D24_UNORM_X8 => X8_D24_UNORM_PACK32, D32_FLOAT => D32_SFLOAT,
        D24_UNORM_S8 => D24_UNORM_S8_UINT, D32_FLOAT_S8 => D32_SFLOAT_S8_UINT, S8_UINT => S8_UINT,
        BC1_RGB => BC1_RGB_UNORM_BLOCK, BC1_RGBA => BC1_RGBA_UNORM_BLOCK, BC2 => BC2_UNORM_BLOCK, BC3 => BC3_UNORM_BLOCK,
        BC1_RGB_SRGB => BC1_RGB_SRGB_BLOCK, BC1_RGBA_SRGB => BC1_RGBA_SRGB_BLOCK, BC2_SRGB => BC2_SRGB_BLOCK,
        BC3_SRGB => BC3_SRGB_BLOCK, BC4_UNORM => BC4_UNORM_BLOCK, BC4_SNORM => BC4_SNORM_BLOCK,
        BC5_UNORM => BC5_UNORM_BLOCK, BC5_SNORM => BC5_SNORM_BLOCK, BC6H_UFLOAT => BC6H_UFLOAT_BLOCK,
        BC6H_SFLOAT => BC6H_SFLOAT_BLOCK, BC7_UNORM => BC7_UNORM_BLOCK, BC7_SRGB => BC7_SRGB_BLOCK,
        ETC2_RGB8 => ETC2_R8G8B8_UNORM_BLOCK, ETC2_RGB8_SRGB => ETC2_R8G8B8_SRGB_BLOCK,
        ETC2_RGB8A1 => ETC2_R8G8B8A1_UNORM_BLOCK, ETC2_RGB8A1_SRGB => ETC2_R8G8B8A1_SRGB_BLOCK,
        ETC2_RGBA8 => ETC2_R8G8B8A8_UNORM_BLOCK, ETC2_RGBA8_SRGB => ETC2_R8G8B8A8_SRGB_BLOCK,
        EAC_R11_UNORM => EAC_R11_UNORM_BLOCK, EAC_R11_SNORM => EAC_R11_SNORM_BLOCK,
        EAC_RG11_UNORM => EAC_R11G11_UNORM_BLOCK, EAC_RG11_SNORM => EAC_R11G11_SNORM_BLOCK,
    }
}

/// Features of one format on the device.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct FormatInfo {
    /// Vulkan format, `UNDEFINED` when the device cannot use it for anything.
    pub(crate) raw: vk::Format,
    /// Features of optimally tiled images.
    pub(crate) image: vk::FormatFeatureFlags,
    /// Features of buffers.
    pub(crate) buffer: vk::FormatFeatureFlags,
    /// Sample counts of an attachment of this format.
    pub(crate) samples: vk::SampleCountFlags,
}

/// The table of all formats, filled once a device.
pub(crate) struct FormatTable {
    entries: [FormatInfo; FORMAT_SLOTS],
}

impl FormatTable {
    /// Asks the driver about every format.
    pub(crate) fn probe(instance: &ash::Instance, physical: vk::PhysicalDevice) -> FormatTable {
        let mut entries = [FormatInfo::default(); FORMAT_SLOTS];
        for &format in Format::ALL {
            let raw = map_format(format);
            if raw == vk::Format::UNDEFINED {
                continue;
            }
            // SAFETY: `physical` comes from `instance`, which is alive.
            let properties = unsafe { instance.get_physical_device_format_properties(physical, raw) };
            let image = properties.optimal_tiling_features;
            let attachment = if format.is_depth_stencil() {
                vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
            } else {
                vk::ImageUsageFlags::COLOR_ATTACHMENT
            };
            let can_attach = image.intersects(
                vk::FormatFeatureFlags::COLOR_ATTACHMENT | vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT,
            );
            let mut samples = vk::SampleCountFlags::TYPE_1;
            if can_attach {
                // SAFETY: as above; an unsupported combination is an error code, which means one sample.
                let answer = unsafe {
                    instance.get_physical_device_image_format_properties(
                        physical,
                        raw,
                        vk::ImageType::TYPE_2D,
                        vk::ImageTiling::OPTIMAL,
                        attachment | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
                        vk::ImageCreateFlags::empty(),
                    )
                };
                if let Ok(answer) = answer {
                    samples = answer.sample_counts;
                }
            }
            entries[format.0 as usize] = FormatInfo { raw, image, buffer: properties.buffer_features, samples };
        }
        FormatTable { entries }
    }

    /// Facts about a format; all empty when the number is unknown.
    pub(crate) fn get(&self, format: Format) -> FormatInfo {
        self.entries.get(format.0 as usize).copied().unwrap_or_default()
    }

    /// The format's bits of [`format_caps`].
    pub(crate) fn caps_bits(&self, format: Format) -> u32 {
        use vk::FormatFeatureFlags as F;
        let info = self.get(format);
        let mut bits = 0;
        let mut add = |has: bool, bit: u32| {
            if has {
                bits |= bit;
            }
        };
        let transfer = info.image.contains(F::TRANSFER_SRC | F::TRANSFER_DST);
        let sampled = info.image.contains(F::SAMPLED_IMAGE) && transfer;
        add(sampled, format_caps::SAMPLED);
        add(sampled && info.image.contains(F::SAMPLED_IMAGE_FILTER_LINEAR), format_caps::FILTER_LINEAR);
        add(info.image.contains(F::COLOR_ATTACHMENT), format_caps::COLOR_ATTACHMENT);
        add(info.image.contains(F::COLOR_ATTACHMENT_BLEND), format_caps::BLEND);
        add(info.image.contains(F::DEPTH_STENCIL_ATTACHMENT), format_caps::DEPTH_STENCIL);
        add(info.image.contains(F::STORAGE_IMAGE), format_caps::STORAGE_IMAGE);
        add(info.image.contains(F::STORAGE_IMAGE_ATOMIC), format_caps::STORAGE_ATOMIC);
        add(info.buffer.contains(F::UNIFORM_TEXEL_BUFFER), format_caps::TEXEL_BUFFER);
        add(info.buffer.contains(F::STORAGE_TEXEL_BUFFER), format_caps::STORAGE_TEXEL_BUFFER);
        add(info.buffer.contains(F::VERTEX_BUFFER), format_caps::VERTEX);
        add(info.image.contains(F::BLIT_SRC), format_caps::BLIT_SRC);
        add(info.image.contains(F::BLIT_DST), format_caps::BLIT_DST);
        // VkSampleCountFlagBits n is the value n, so its bit number already is log2(n).
        bits | (info.samples.as_raw() & 0xff) << format_caps::SAMPLES_SHIFT
    }
}

/// Aspects of an image of this format.
pub(crate) fn aspects(format: Format) -> vk::ImageAspectFlags {
    let mut aspects = vk::ImageAspectFlags::empty();
    if format.has_depth() {
        aspects |= vk::ImageAspectFlags::DEPTH;
    }
    if format.has_stencil() {
        aspects |= vk::ImageAspectFlags::STENCIL;
    }
    if aspects.is_empty() {
        aspects = vk::ImageAspectFlags::COLOR;
    }
    aspects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_of_the_pipe_has_a_vulkan_twin() {
        let mut seen = std::collections::HashSet::new();
        for &format in Format::ALL {
            let raw = map_format(format);
            assert_ne!(raw, vk::Format::UNDEFINED, "{format:?}");
            assert!(seen.insert(raw), "{format:?} shares its twin");
        }
    }
}
