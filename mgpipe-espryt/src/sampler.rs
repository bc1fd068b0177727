//! Samplers and sampler views.

use crate::gles::Gles;
use crate::grave::{Dead, Grave};
use crate::resource::next_serial;
use crate::resource::texture::{Image, View};
use glow::HasContext;
use mgpipe_types::{gl, Format, PipeError, PipeResult, SamplerParameters, SamplerView, Target};
use parking_lot::Mutex;
use std::sync::Arc;

/// `GL_MIRROR_CLAMP_TO_EDGE_EXT`.
const MIRROR_CLAMP_TO_EDGE: u32 = 0x8743;

/// A sampler of the pipe.
pub(crate) struct Sampler {
    grave: Arc<Grave>,
    parameters: SamplerParameters,
    pub(crate) serial: u64,
    name: Mutex<u32>,
}

impl Sampler {
    pub(crate) fn new(grave: &Arc<Grave>, parameters: SamplerParameters) -> Sampler {
        Sampler { grave: grave.clone(), parameters, serial: next_serial(), name: Mutex::new(0) }
    }

    /// Bias of the level of detail, which the fragment stage adds.
    pub(crate) fn bias(&self) -> f32 {
        self.parameters.lod_bias
    }

    /// The driver's sampler object, made by the first context that binds it.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn name(&self, gles: &Gles) -> PipeResult<u32> {
        let mut name = self.name.lock();
        if *name == 0 {
            // SAFETY: a context is current.
            let sampler = unsafe { gles.gl.create_sampler() }.map_err(PipeError::OutOfMemory)?;
            // SAFETY: as above; the name is fresh.
            unsafe { set(gles, sampler, &self.parameters) };
            *name = sampler.0.get();
        }
        Ok(*name)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        let name = *self.name.get_mut();
        if name != 0 {
            self.grave.bury(Dead::Sampler(name));
        }
    }
}

/// # Safety
/// A context is current and the sampler is its share group's.
unsafe fn set(gles: &Gles, sampler: glow::Sampler, p: &SamplerParameters) {
    let gl = &gles.gl;
    let wrap = |mode: u32| match mode {
        MIRROR_CLAMP_TO_EDGE if !gles.has.mirror_clamp => gl::MIRRORED_REPEAT,
        gl::CLAMP_TO_BORDER if !gles.has.border_clamp => gl::CLAMP_TO_EDGE,
        other => other,
    };
    let integers = [
        (gl::TEXTURE_WRAP_S, wrap(p.wrap_s)),
        (gl::TEXTURE_WRAP_T, wrap(p.wrap_t)),
        (gl::TEXTURE_WRAP_R, wrap(p.wrap_r)),
        (gl::TEXTURE_MIN_FILTER, p.min_filter),
        (gl::TEXTURE_MAG_FILTER, p.mag_filter),
        (gl::TEXTURE_COMPARE_MODE, p.compare_mode),
        (gl::TEXTURE_COMPARE_FUNC, p.compare_func),
    ];
    // SAFETY: the caller's promise; all names are sampler parameters of OpenGL ES 3 or of extensions that are there.
    unsafe {
        for (name, value) in integers {
            gl.sampler_parameter_i32(sampler, name, value as i32);
        }
        gl.sampler_parameter_f32(sampler, gl::TEXTURE_MIN_LOD, p.min_lod);
        gl.sampler_parameter_f32(sampler, gl::TEXTURE_MAX_LOD, p.max_lod);
        if gles.has.anisotropy && p.max_anisotropy > 1.0 {
            gl.sampler_parameter_f32(sampler, gl::TEXTURE_MAX_ANISOTROPY, p.max_anisotropy);
        }
        if gles.has.border_clamp && [p.wrap_s, p.wrap_t, p.wrap_r].contains(&gl::CLAMP_TO_BORDER) {
            match p.border_color_form {
                1 => {
                    gles.ext.sampler_parameter_iiv(sampler.0.get(), gl::TEXTURE_BORDER_COLOR, p.border_color_i.as_ptr())
                }
                2 => {
                    gles.ext.sampler_parameter_iuiv(
                        sampler.0.get(),
                        gl::TEXTURE_BORDER_COLOR,
                        p.border_color_u.as_ptr(),
                    );
                }
                _ => {
                    gl.sampler_parameter_f32_slice(sampler, gl::TEXTURE_BORDER_COLOR, &p.border_color);
                }
            }
        }
    }
}

/// A sampler view of the pipe: a restriction under which a texture is sampled.
pub(crate) struct ViewObject {
    pub(crate) desc: SamplerView,
    /// The view's own texture, of the image with this identity.
    made: Mutex<Option<(u64, Option<Arc<Image>>)>>,
}

impl ViewObject {
    pub(crate) fn new(desc: SamplerView) -> ViewObject {
        ViewObject { desc, made: Mutex::new(None) }
    }

    /// The image to sample: that of the texture when the view shows all of it, else a view of the driver.
    pub(crate) fn image(&self, gles: &Gles, image: Arc<Image>) -> Arc<Image> {
        let d = &self.desc;
        let target = Target::from_u8(d.target)
            .map_or(image.target, |target| crate::resource::texture::native_target(target, u32::from(d.samples)));
        let format = if d.format == 0 { image.format } else { Format(d.format) };
        let whole = (d.min_level == 0 && d.min_layer == 0) && format == image.format && target == image.target;
        if whole || image.target == gl::TEXTURE_BUFFER {
            return image;
        }
        let mut made = self.made.lock();
        if let Some((serial, view)) = &*made {
            if *serial == image.serial {
                return view.clone().unwrap_or(image);
            }
        }
        let levels = u32::from(d.num_levels).clamp(1, image.levels.saturating_sub(u32::from(d.min_level)).max(1));
        let view = View {
            target,
            format,
            min_level: u32::from(d.min_level),
            levels,
            min_layer: u32::from(d.min_layer),
            layers: u32::from(d.num_layers).max(1),
        };
        let view = image.view(gles, &view).map(Arc::new);
        *made = Some((image.serial, view.clone()));
        view.unwrap_or(image)
    }
}
