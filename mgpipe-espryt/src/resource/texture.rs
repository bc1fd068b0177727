//! Texture and renderbuffer storage. Both are textures of the driver: one path for attachments, read-backs and copies.

use super::next_serial;
use crate::format::transfer;
use crate::gles::{named, Gles};
use crate::grave::{Dead, Grave};
use glow::HasContext;
use mgpipe_types::{
    depth_stencil_mode, gl, swizzle, Format, PipeError, PipeResult, ResourceDesc, Target, TextureParams,
};
use parking_lot::Mutex;
use std::sync::Arc;

/// One texture of the driver with immutable storage. Deleted when its last user lets go.
pub(crate) struct Image {
    grave: Arc<Grave>,
    pub(crate) name: u32,
    /// Never-reused identity.
    pub(crate) serial: u64,
    /// The driver's target: there is no one-dimensional one.
    pub(crate) target: u32,
    pub(crate) format: Format,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Slices of a 3D texture, layers of others (6 for a cube map).
    pub(crate) depth: u32,
    pub(crate) levels: u32,
    pub(crate) samples: u32,
    /// Keeps the storage of a view alive.
    _owner: Option<Arc<Image>>,
}

impl Image {
    /// Width, height and slices or layers of a level.
    pub(crate) fn extent(&self, level: u32) -> [u32; 3] {
        let small = |size: u32| (size >> level.min(31)).max(1);
        let depth = if self.target == gl::TEXTURE_3D { small(self.depth) } else { self.depth };
        [small(self.width), small(self.height), depth]
    }

    /// Whether `z` is a slice of a volume or a layer, for calls that take three coordinates.
    pub(crate) fn is_layered(&self) -> bool {
        matches!(
            self.target,
            gl::TEXTURE_3D | gl::TEXTURE_2D_ARRAY | gl::TEXTURE_CUBE_MAP_ARRAY | gl::TEXTURE_2D_MULTISAMPLE_ARRAY
        )
    }

    /// Makes storage; a context is current.
    ///
    /// # Errors
    /// Out of memory, a format that the driver does not have.
    pub(crate) fn new(gles: &Gles, grave: &Arc<Grave>, shape: &Shape) -> PipeResult<Image> {
        let unsupported = || PipeError::Unsupported(format!("{:?} storage", shape.format));
        let transfer = transfer(shape.format).ok_or_else(unsupported)?;
        gles.before_trial("texture storage");
        let (gl, target) = (&gles.gl, shape.target);
        let (width, height, depth) = (shape.width as i32, shape.height as i32, shape.depth as i32);
        // SAFETY: a context is current; the storage calls fit their targets.
        let name = unsafe {
            let texture = gl.create_texture().map_err(PipeError::OutOfMemory)?;
            gl.active_texture(gl::TEXTURE0 + gles.scratch_unit());
            gl.bind_texture(target, Some(texture));
            let internal = transfer.internal;
            match target {
                gl::TEXTURE_2D_MULTISAMPLE => {
                    gl.tex_storage_2d_multisample(target, shape.samples as i32, internal, width, height, true);
                }
                gl::TEXTURE_2D_MULTISAMPLE_ARRAY => {
                    let samples = shape.samples as i32;
                    gles.ext.tex_storage_3d_multisample(target, samples, internal, width, height, depth, 1);
                }
                gl::TEXTURE_2D | gl::TEXTURE_CUBE_MAP => {
                    gl.tex_storage_2d(target, shape.levels as i32, internal, width, height);
                }
                _ => gl.tex_storage_3d(target, shape.levels as i32, internal, width, height, depth),
            }
            if !matches!(target, gl::TEXTURE_2D_MULTISAMPLE | gl::TEXTURE_2D_MULTISAMPLE_ARRAY) {
                // Complete without a sampler object, too.
                gl.tex_parameter_i32(target, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
                gl.tex_parameter_i32(target, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
            }
            texture.0.get()
        };
        let image = Image {
            grave: grave.clone(),
            name,
            serial: next_serial(),
            target,
            format: shape.format,
            width: shape.width,
            height: shape.height,
            depth: shape.depth,
            levels: shape.levels,
            samples: shape.samples,
            _owner: None,
        };
        match gles.drain_errors() {
            None => Ok(image),
            Some(gl::OUT_OF_MEMORY) => Err(PipeError::OutOfMemory(format!("{width} x {height} x {depth} texels"))),
            Some(code) => Err(PipeError::OutOfMemory(format!("{:?} storage was refused ({code:#x})", shape.format))),
        }
    }

    /// A view of storage with other levels, layers, target or format; `None` when the driver has no views.
    pub(crate) fn view(self: &Arc<Self>, gles: &Gles, view: &View) -> Option<Image> {
        if !gles.has.texture_view {
            return None;
        }
        let transfer = transfer(view.format)?;
        gles.before_trial("a texture view");
        // SAFETY: a context is current; the owner's storage is immutable.
        let name = unsafe {
            let texture = gles.gl.create_texture().ok()?;
            gles.ext.texture_view(
                texture.0.get(),
                view.target,
                self.name,
                transfer.internal,
                view.min_level,
                view.levels,
                view.min_layer,
                view.layers,
            );
            texture.0.get()
        };
        let [width, height, depth] = self.extent(view.min_level);
        let image = Image {
            grave: self.grave.clone(),
            name,
            serial: next_serial(),
            target: view.target,
            format: view.format,
            width,
            height,
            depth: if view.target == gl::TEXTURE_3D { depth } else { view.layers },
            levels: view.levels,
            samples: self.samples,
            _owner: Some(self.clone()),
        };
        match gles.drain_errors() {
            None => Some(image),
            Some(code) => {
                log::warn!("espryt: a texture view was refused ({code:#x})");
                None
            }
        }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        self.grave.bury(Dead::Texture(self.name));
    }
}

/// What a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) target: u32,
    pub(crate) format: Format,
    pub(crate) min_level: u32,
    pub(crate) levels: u32,
    pub(crate) min_layer: u32,
    pub(crate) layers: u32,
}

/// Shape of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) target: u32,
    pub(crate) format: Format,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) depth: u32,
    pub(crate) levels: u32,
    pub(crate) samples: u32,
}

/// The driver's target of a pipe target.
pub(crate) fn native_target(target: Target, samples: u32) -> u32 {
    match target {
        Target::Tex3D => gl::TEXTURE_3D,
        Target::Tex1DArray | Target::Tex2DArray => gl::TEXTURE_2D_ARRAY,
        Target::TexCube => gl::TEXTURE_CUBE_MAP,
        Target::TexCubeArray => gl::TEXTURE_CUBE_MAP_ARRAY,
        Target::Tex2DMs => gl::TEXTURE_2D_MULTISAMPLE,
        Target::Tex2DMsArray => gl::TEXTURE_2D_MULTISAMPLE_ARRAY,
        Target::TexBuffer => gl::TEXTURE_BUFFER,
        _ if samples > 1 => gl::TEXTURE_2D_MULTISAMPLE,
        _ => gl::TEXTURE_2D,
    }
}

impl Shape {
    /// Shape of a description; `None` without an extent.
    pub(crate) fn new(desc: &ResourceDesc) -> Option<Shape> {
        let target = Target::from_u8(desc.target)?;
        let format = Format(desc.format);
        if desc.width == 0 || desc.height == 0 || !format.is_valid() {
            return None;
        }
        let samples = u32::from(desc.samples);
        let native = native_target(target, samples);
        let one_d = matches!(target, Target::Tex1D | Target::Tex1DArray);
        let depth = if target == Target::Tex3D { desc.depth.max(1) } else { u32::from(desc.array_layers.max(1)) };
        let largest = desc.width.max(desc.height).max(if target == Target::Tex3D { depth } else { 1 });
        let most = 32 - largest.leading_zeros();
        let multisampled = matches!(native, gl::TEXTURE_2D_MULTISAMPLE | gl::TEXTURE_2D_MULTISAMPLE_ARRAY);
        Some(Shape {
            target: native,
            format,
            width: desc.width,
            height: if one_d { 1 } else { desc.height },
            depth,
            levels: if multisampled { 1 } else { u32::from(desc.levels.max(1)).min(most) },
            samples: if multisampled { samples.max(1) } else { 1 },
        })
    }
}

/// What a texture's texels are.
#[derive(Clone)]
pub(crate) enum Storage {
    /// None yet.
    None,
    /// Described, made by the first context that needs it.
    Wanted(Shape),
    /// A view that is made on first use.
    WantedView { owner: Arc<Texture>, view: View },
    /// An image of the driver.
    Image(Arc<Image>),
    /// A range of a buffer.
    Buffer { desc: ResourceDesc, image: Option<(Arc<Image>, u64)> },
}

pub(crate) struct State {
    pub(crate) target: Target,
    pub(crate) format: Format,
    pub(crate) storage: Storage,
    pub(crate) params: TextureParams,
    /// Parameters as the image has them.
    pub(crate) applied: Option<(u64, TextureParams)>,
}

/// A texture or renderbuffer of the pipe.
pub(crate) struct Texture {
    pub(crate) state: Mutex<State>,
}

/// Parameters of a texture that nobody set.
fn default_params() -> TextureParams {
    TextureParams {
        max_level: 1000,
        swizzle: swizzle::IDENTITY,
        min_lod: -1000.0,
        max_lod: 1000.0,
        ..TextureParams::default()
    }
}

impl Texture {
    pub(crate) fn new(target: Target, format: Format, storage: Storage) -> Texture {
        let state = State { target, format, storage, params: default_params(), applied: None };
        Texture { state: Mutex::new(state) }
    }

    pub(crate) fn target(&self) -> Target {
        self.state.lock().target
    }

    /// Whether the image has yet to be made, on a texture unit of the backend's own.
    pub(crate) fn waits_for_storage(&self) -> bool {
        matches!(self.state.lock().storage, Storage::Wanted(_) | Storage::WantedView { .. })
    }

    /// The image, made if need be; a context is current. `Ok(None)`: no storage.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn image(&self, gles: &Gles, grave: &Arc<Grave>) -> PipeResult<Option<Arc<Image>>> {
        let mut state = self.state.lock();
        match &state.storage {
            Storage::None => Ok(None),
            Storage::Image(image) => Ok(Some(image.clone())),
            Storage::Buffer { image, .. } => Ok(image.as_ref().map(|(image, _)| image.clone())),
            Storage::Wanted(shape) => match Image::new(gles, grave, shape) {
                Ok(image) => {
                    let image = Arc::new(image);
                    state.storage = Storage::Image(image.clone());
                    Ok(Some(image))
                }
                Err(error) => {
                    state.storage = Storage::None;
                    Err(error)
                }
            },
            Storage::WantedView { owner, view } => {
                let (owner, view) = (owner.clone(), *view);
                let made = owner.image(gles, grave)?.and_then(|image| image.view(gles, &view)).map(Arc::new);
                state.storage = made.clone().map_or(Storage::None, Storage::Image);
                Ok(made)
            }
        }
    }

    /// The image, where it was made already.
    #[inline]
    pub(crate) fn ready(&self) -> Option<Arc<Image>> {
        match &self.state.lock().storage {
            Storage::Image(image) => Some(image.clone()),
            _ => None,
        }
    }

    /// Whether the image has the texture's parameters.
    #[inline]
    pub(crate) fn has_params(&self, image: &Image) -> bool {
        let state = self.state.lock();
        image.target == gl::TEXTURE_BUFFER
            || state.applied.is_some_and(|(serial, old)| serial == image.serial && old == state.params)
    }

    /// Brings the image's parameters in line; it is bound to its target on the active unit.
    pub(crate) fn sync_params(&self, gles: &Gles, image: &Image) {
        let mut state = self.state.lock();
        let params = state.params;
        let multisampled =
            image.samples > 1 || matches!(image.target, gl::TEXTURE_2D_MULTISAMPLE | gl::TEXTURE_2D_MULTISAMPLE_ARRAY);
        let target = image.target;
        let set = |name, value: u32| {
            // SAFETY: a context is current and the image is bound to the target.
            unsafe { gles.gl.tex_parameter_i32(target, name, value as i32) };
        };
        if !multisampled {
            let last = image.levels - 1;
            set(gl::TEXTURE_BASE_LEVEL, u32::from(params.base_level).min(last));
            set(
                gl::TEXTURE_MAX_LEVEL,
                u32::from(params.max_level).min(last).max(u32::from(params.base_level).min(last)),
            );
        }
        for (name, value) in
            [gl::TEXTURE_SWIZZLE_R, gl::TEXTURE_SWIZZLE_G, gl::TEXTURE_SWIZZLE_B, gl::TEXTURE_SWIZZLE_A]
                .into_iter()
                .zip(params.swizzle)
        {
            let component = match value {
                swizzle::RED => gl::RED,
                swizzle::GREEN => gl::GREEN,
                swizzle::BLUE => gl::BLUE,
                swizzle::ALPHA => gl::ALPHA,
                swizzle::ZERO => gl::ZERO,
                _ => gl::ONE,
            };
            set(name, component);
        }
        if image.format.has_depth() && image.format.has_stencil() {
            let stencil = params.depth_stencil_mode == depth_stencil_mode::STENCIL;
            let mode = if stencil { gl::STENCIL_INDEX } else { gl::DEPTH_COMPONENT };
            set(gl::DEPTH_STENCIL_TEXTURE_MODE, mode);
        }
        state.applied = Some((image.serial, params));
    }
}

/// A buffer texture's image: a texture name whose texels are a range of a buffer.
pub(crate) fn buffer_image(gles: &Gles, grave: &Arc<Grave>, format: Format, texels: u32) -> PipeResult<Image> {
    // SAFETY: a context is current.
    let texture = unsafe { gles.gl.create_texture() }.map_err(PipeError::OutOfMemory)?;
    Ok(Image {
        grave: grave.clone(),
        name: texture.0.get(),
        serial: next_serial(),
        target: gl::TEXTURE_BUFFER,
        format,
        width: texels,
        height: 1,
        depth: 1,
        levels: 1,
        samples: 1,
        _owner: None,
    })
}

/// Binds a texture to the unit that no program uses.
pub(crate) fn bind_scratch(gles: &Gles, image: &Image) {
    // SAFETY: a context is current; the name is its share group's.
    unsafe {
        gles.gl.active_texture(gl::TEXTURE0 + gles.scratch_unit());
        gles.gl.bind_texture(image.target, named!(NativeTexture, image.name));
    }
}
