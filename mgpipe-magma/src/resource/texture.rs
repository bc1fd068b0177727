//! Images, their views, and the textures and renderbuffers that own them.

use super::Usage;
use crate::conv::map_samples;
use crate::device::Device;
use crate::error::map_create;
use crate::format::aspects;
use ash::vk;
use gpu_allocator::vulkan::Allocation;
use gpu_allocator::MemoryLocation;
use hashbrown::HashMap;
use mgpipe_types::{swizzle, BufferHandle, Format, PipeError, PipeResult, ResourceDesc, Target, TextureParams};
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;

/// A Vulkan image with its memory and views. It stays in the general layout all its life.
pub(crate) struct Image {
    device: Arc<Device>,
    pub(crate) raw: vk::Image,
    /// Never-reused identity.
    pub(crate) serial: u64,
    allocation: Option<Allocation>,
    pub(crate) format: Format,
    pub(crate) kind: vk::ImageType,
    pub(crate) extent: vk::Extent3D,
    pub(crate) levels: u32,
    pub(crate) layers: u32,
    pub(crate) samples: vk::SampleCountFlags,
    pub(crate) aspects: vk::ImageAspectFlags,
    pub(crate) usage_flags: vk::ImageUsageFlags,
    pub(crate) usage: Usage,
    /// Where the rows of an image lie that the host can read.
    rows: Option<vk::SubresourceLayout>,
    views: Mutex<HashMap<ViewKey, vk::ImageView>>,
}

/// Everything that tells two views of an image apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ViewKey {
    pub(crate) kind: vk::ImageViewType,
    pub(crate) format: Format,
    pub(crate) aspects: vk::ImageAspectFlags,
    pub(crate) base_level: u32,
    pub(crate) levels: u32,
    pub(crate) base_layer: u32,
    pub(crate) layers: u32,
    pub(crate) swizzle: [u8; 4],
    /// What the view is for: limits the usage, so that a format which lacks an image's other uses can be viewed.
    pub(crate) usage: vk::ImageUsageFlags,
}

/// Shape of a new image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageDesc {
    pub(crate) format: Format,
    pub(crate) target: Target,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) depth: u32,
    pub(crate) layers: u32,
    pub(crate) levels: u32,
    pub(crate) samples: u32,
}

impl ImageDesc {
    /// The shape that a resource description asks for; `None` when it has no extent.
    pub(crate) fn from_resource(desc: &ResourceDesc) -> Option<ImageDesc> {
        let target = Target::from_u8(desc.target)?;
        if desc.width == 0 || desc.height == 0 || desc.format == 0 {
            return None;
        }
        Some(ImageDesc {
            format: Format(desc.format),
            target,
            width: desc.width,
            height: desc.height,
            depth: desc.depth.max(1),
            layers: u32::from(desc.array_layers.max(1)),
            levels: u32::from(desc.levels.max(1)),
            samples: u32::from(desc.samples),
        })
    }
}

impl Image {
    /// Creates an image with every use that its format allows.
    ///
    /// # Errors
    /// Out of memory, and a format or extent that the device refuses.
    pub(crate) fn new(device: &Arc<Device>, desc: ImageDesc) -> PipeResult<Image> {
        use vk::FormatFeatureFlags as F;
        let info = device.formats.get(desc.format);
        if info.raw == vk::Format::UNDEFINED {
            return Err(PipeError::Unsupported(format!("format {:?}", desc.format)));
        }
        let (kind, height, depth) = match desc.target {
            Target::Tex1D | Target::Tex1DArray => (vk::ImageType::TYPE_1D, 1, 1),
            Target::Tex3D => (vk::ImageType::TYPE_3D, desc.height, desc.depth),
            _ => (vk::ImageType::TYPE_2D, desc.height, 1),
        };
        let layers = match desc.target {
            Target::TexCube => 6,
            Target::Tex3D => 1,
            _ => desc.layers,
        };
        let samples = map_samples(desc.samples, info.samples);
        let color = !desc.format.is_depth_stencil();
        // An sRGB format rarely allows storage itself, but its linear twin does, through a view.
        let twin = device.formats.get(desc.format.to_linear()).image;
        let mut usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        let mut add = |has: bool, bit| {
            if has {
                usage |= bit;
            }
        };
        add(info.image.contains(F::SAMPLED_IMAGE), vk::ImageUsageFlags::SAMPLED);
        add(info.image.contains(F::COLOR_ATTACHMENT), vk::ImageUsageFlags::COLOR_ATTACHMENT);
        add(info.image.contains(F::DEPTH_STENCIL_ATTACHMENT), vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT);
        let single = samples == vk::SampleCountFlags::TYPE_1;
        let multisampled_storage = device.features.core.shader_storage_image_multisample == vk::TRUE;
        add(color && (single || multisampled_storage) && twin.contains(F::STORAGE_IMAGE), vk::ImageUsageFlags::STORAGE);
        let mut flags = vk::ImageCreateFlags::empty();
        if color {
            flags |= vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE;
        }
        let cube_like = kind == vk::ImageType::TYPE_2D && layers >= 6 && desc.width == desc.height && single;
        if cube_like {
            flags |= vk::ImageCreateFlags::CUBE_COMPATIBLE;
        }
        if kind == vk::ImageType::TYPE_3D && color {
            flags |= vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE;
            if device.ext.view_2d_of_3d {
                flags |= vk::ImageCreateFlags::TYPE_2D_VIEW_COMPATIBLE_EXT;
            }
        }
        let largest = desc.width.max(height).max(depth);
        let levels = if single { desc.levels.min(32 - largest.leading_zeros()) } else { 1 };
        let mut create = vk::ImageCreateInfo::default()
            .image_type(kind)
            .format(info.raw)
            .extent(vk::Extent3D { width: desc.width, height, depth })
            .mip_levels(levels)
            .array_layers(layers)
            .samples(samples)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        // The best that the device takes: first with storage, then without, then without what attachments need.
        let optional = [
            (vk::ImageUsageFlags::empty(), vk::ImageCreateFlags::empty()),
            (vk::ImageUsageFlags::STORAGE, vk::ImageCreateFlags::empty()),
            (
                vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::COLOR_ATTACHMENT,
                vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE | vk::ImageCreateFlags::TYPE_2D_VIEW_COMPATIBLE_EXT,
            ),
        ]
        .map(|without| (vk::ImageTiling::OPTIMAL, without));
        // A driver that draws on the processor keeps rows as they are in any case: what it may show lies in memory that the host
        // reads without a copy.
        let plain = color && single && levels == 1 && layers == 1 && desc.format.desc().block_bytes == 4;
        let readable = plain && desc.target == Target::Renderbuffer && device.runs_here();
        let linear = readable.then_some((vk::ImageTiling::LINEAR, Default::default()));
        let bytes = texel_bytes(&desc, [desc.width, height, depth], layers, levels);
        let mut chosen = None;
        let mut too_large = false;
        for (tiling, (without_usage, without_flags)) in linear.into_iter().chain(optional) {
            let (usage, flags) = (usage & !without_usage, flags & !without_flags);
            // SAFETY: the physical device belongs to the instance.
            let answer = unsafe {
                device.instance.get_physical_device_image_format_properties(
                    device.physical,
                    info.raw,
                    kind,
                    tiling,
                    usage,
                    flags,
                )
            };
            let fits = answer.is_ok_and(|limits| {
                limits.max_extent.width >= desc.width
                    && limits.max_extent.height >= height
                    && limits.max_extent.depth >= depth
                    && limits.max_array_layers >= layers
                    && limits.max_mip_levels >= levels
                    && limits.sample_counts.contains(samples)
            });
            let small = answer.is_ok_and(|limits| bytes <= u128::from(limits.max_resource_size));
            too_large |= fits && !small;
            if fits && small {
                chosen = Some((tiling, usage, flags));
                break;
            }
        }
        let Some((tiling, usage, flags)) = chosen else {
            if too_large {
                return Err(PipeError::OutOfMemory(format!(
                    "an image of {bytes} bytes is larger than the device takes"
                )));
            }
            return Err(PipeError::Unsupported(format!("an image of this shape: {desc:?}")));
        };
        create = create.tiling(tiling).usage(usage).flags(flags);
        // SAFETY: the driver has just accepted this combination.
        let raw = unsafe { device.raw.create_image(&create, None) }.map_err(|code| map_create("image", code))?;
        let mut image = Image {
            device: device.clone(),
            raw,
            serial: device.next_serial(),
            allocation: None,
            format: desc.format,
            kind,
            extent: create.extent,
            levels,
            layers,
            samples,
            aspects: aspects(desc.format),
            usage_flags: usage,
            usage: Usage::default(),
            rows: None,
            views: Mutex::new(HashMap::new()),
        };
        // SAFETY: the image was created by this device.
        let requirements = unsafe { device.raw.get_image_memory_requirements(raw) };
        let linear = tiling == vk::ImageTiling::LINEAR;
        let location = if linear { MemoryLocation::GpuToCpu } else { MemoryLocation::GpuOnly };
        let allocation = device.allocate("image", requirements, location, linear)?;
        // SAFETY: the allocation was made for this image's requirements and is bound once.
        let bound = unsafe { device.raw.bind_image_memory(raw, allocation.memory(), allocation.offset()) };
        image.allocation = Some(allocation);
        bound.map_err(|code| map_create("image memory", code))?;
        if linear {
            let part = vk::ImageSubresource { aspect_mask: vk::ImageAspectFlags::COLOR, mip_level: 0, array_layer: 0 };
            // SAFETY: the image is linear and has a level and a layer of colours.
            image.rows = Some(unsafe { device.raw.get_image_subresource_layout(raw, part) });
        }
        device.image_created(raw, image.aspects);
        Ok(image)
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.allocation.as_ref().map_or(0, Allocation::size)
    }

    /// The row `y` of an image whose memory the host reads; `None` for others, and beyond the last row.
    ///
    /// # Safety
    ///
    /// The device has finished writing to the image, made that visible to the host, and starts nothing new as long as the row
    /// is borrowed.
    pub(crate) unsafe fn host_row(&self, y: u32) -> Option<&[u8]> {
        let (layout, memory) = (self.rows?, self.allocation.as_ref()?.mapped_slice()?);
        let bytes = self.extent.width as usize * self.format.desc().block_bytes as usize;
        let start = usize::try_from(layout.offset + u64::from(y) * layout.row_pitch).ok()?;
        memory.get(start..start + bytes).filter(|_| y < self.extent.height)
    }

    /// Whether the host can read the rows.
    pub(crate) fn is_host_readable(&self) -> bool {
        self.rows.is_some()
    }

    /// Extent of a level.
    pub(crate) fn level_extent(&self, level: u32) -> vk::Extent3D {
        let shrink = |size: u32| (size >> level.min(31)).max(1);
        vk::Extent3D {
            width: shrink(self.extent.width),
            height: shrink(self.extent.height),
            depth: shrink(self.extent.depth),
        }
    }

    /// Layers, or slices of a level of a 3D image.
    pub(crate) fn layers_or_slices(&self, level: u32) -> u32 {
        if self.kind == vk::ImageType::TYPE_3D {
            self.level_extent(level).depth
        } else {
            self.layers
        }
    }

    /// A view, made once.
    pub(crate) fn view(&self, key: ViewKey) -> PipeResult<vk::ImageView> {
        let mut views = self.views.lock();
        if let Some(view) = views.get(&key) {
            return Ok(*view);
        }
        let raw_format = self.device.formats.get(key.format).raw;
        if raw_format == vk::Format::UNDEFINED || key.levels == 0 || key.layers == 0 {
            return Err(PipeError::Unsupported(format!("image view {key:?}")));
        }
        let components = crate::conv::map_swizzle(key.swizzle);
        let mut usage = vk::ImageViewUsageCreateInfo::default().usage(key.usage & self.usage_flags);
        let info = vk::ImageViewCreateInfo::default()
            .image(self.raw)
            .view_type(key.kind)
            .format(raw_format)
            .components(components)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: key.aspects,
                base_mip_level: key.base_level,
                level_count: key.levels,
                base_array_layer: key.base_layer,
                layer_count: key.layers,
            })
            .push_next(&mut usage);
        // SAFETY: the caller keeps levels and layers within the image; the view's usage is a subset of the image's.
        let view =
            unsafe { self.device.raw.create_image_view(&info, None) }.map_err(|code| map_create("image view", code))?;
        views.insert(key, view);
        Ok(view)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        self.device.image_destroyed(self.raw);
        // SAFETY: no batch holds the image any more, hence nothing on the device uses it.
        unsafe {
            for (_, view) in self.views.get_mut().drain() {
                self.device.raw.destroy_image_view(view, None);
            }
            self.device.raw.destroy_image(self.raw, None);
        }
        if let Some(allocation) = self.allocation.take() {
            self.device.free(allocation);
        }
    }
}

/// Bytes of the texels of an image, without whatever a device adds.
fn texel_bytes(desc: &ImageDesc, extent: [u32; 3], layers: u32, levels: u32) -> u128 {
    let block = desc.format.desc();
    let level_bytes = |level: u32| {
        let [width, height, depth] = extent.map(|size| (size >> level).max(1));
        let blocks = u128::from(width.div_ceil(block.block_width.max(1)))
            * u128::from(height.div_ceil(block.block_height.max(1)));
        blocks * u128::from(depth) * u128::from(block.block_bytes)
    };
    (0..levels.min(32)).map(level_bytes).sum::<u128>() * u128::from(layers) * u128::from(desc.samples.max(1))
}

/// What a texture's texels are stored in.
#[derive(Clone, Default)]
pub(crate) enum Storage {
    /// Nothing yet.
    #[default]
    None,
    /// An image; a texture view starts at a level and layer of its owner's.
    Image {
        /// The image.
        image: Arc<Image>,
        /// Level that is the texture's level 0.
        base_level: u32,
        /// Layer that is the texture's layer 0.
        base_layer: u32,
    },
    /// A range of a buffer.
    Buffer {
        /// The buffer.
        buffer: BufferHandle,
        /// First byte.
        offset: u64,
        /// Length or `WHOLE_BUFFER`.
        size: u64,
    },
}

/// A texture or renderbuffer of the pipe.
pub(crate) struct Texture {
    pub(crate) state: RwLock<TextureState>,
}

/// What a texture is at the moment.
#[derive(Clone)]
pub(crate) struct TextureState {
    pub(crate) target: Target,
    /// The format in which the texture was declared; a view's differs from its image's.
    pub(crate) format: Format,
    pub(crate) levels: u32,
    pub(crate) layers: u32,
    pub(crate) storage: Storage,
    pub(crate) params: TextureParams,
}

impl Texture {
    /// A texture without storage.
    pub(crate) fn new(target: Target) -> Texture {
        let params = TextureParams {
            max_level: 1000,
            swizzle: swizzle::IDENTITY,
            min_lod: -1000.0,
            max_lod: 1000.0,
            ..TextureParams::default()
        };
        Texture {
            state: RwLock::new(TextureState {
                target,
                format: Format::NONE,
                levels: 0,
                layers: 0,
                storage: Storage::None,
                params,
            }),
        }
    }

    /// The image and the texture's level 0 and layer 0 in it.
    pub(crate) fn image(&self) -> Option<(Arc<Image>, u32, u32)> {
        match &self.state.read().storage {
            Storage::Image { image, base_level, base_layer } => Some((image.clone(), *base_level, *base_layer)),
            _ => None,
        }
    }
}
