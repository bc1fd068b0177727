//! Renderbuffer objects.

use std::sync::Arc;

use mgpipe_tracker::{Aggregate, Counter};
use mgpipe_types::{
    bind, gl, surface_flags, Context as Pipe, Kind, RenderbufferHandle, RenderbufferStorage, ResourceDesc,
    ResourceHandle, Surface, Target, TypedHandle,
};
use parking_lot::Mutex;

use crate::context::{Context, ContextState};
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::format::{Naming, ResolvedFormat};
use crate::names::Lookup;
use crate::share::ShareCore;

/// A renderbuffer object.
pub(crate) struct Renderbuffer {
    /// GL name, 0 for an image of a drawable.
    pub(crate) name: u32,
    /// The resource.
    pub(crate) handle: RenderbufferHandle,
    core: Arc<ShareCore>,
    storage: Mutex<Option<RenderbufferImage>>,
}

/// Storage of a renderbuffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RenderbufferImage {
    pub(crate) format: ResolvedFormat,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Samples, 0 for single-sampled.
    pub(crate) samples: u32,
}

impl std::fmt::Debug for Renderbuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Renderbuffer({}, {:?})", self.name, self.handle)
    }
}

impl Drop for Renderbuffer {
    fn drop(&mut self) {
        self.core.destroy_resource(ResourceHandle::Renderbuffer(self.handle));
    }
}

impl Renderbuffer {
    fn declare(core: &Arc<ShareCore>, name: u32, image: Option<RenderbufferImage>) -> GlResult<Arc<Renderbuffer>> {
        let handle: RenderbufferHandle = core.mint("renderbuffer object")?;
        let mut desc = ResourceDesc {
            handle: handle.raw(),
            target: Target::Renderbuffer as u8,
            bind_mask: bind::RENDER_TARGET,
            gl_name: name,
            ..ResourceDesc::default()
        };
        if let Some(image) = &image {
            desc.format = image.format.storage.0;
            desc.width = image.width;
            desc.height = image.height;
            desc.depth = 1;
            desc.array_layers = 1;
            desc.levels = 1;
            desc.samples = image.samples as u16;
            desc.fixed_sample_locations = 1;
            if image.format.storage.is_depth_stencil() {
                desc.bind_mask = bind::DEPTH_STENCIL;
            }
        }
        core.screen.resource_create(&desc);
        Ok(Arc::new(Renderbuffer { name, handle, core: core.clone(), storage: Mutex::new(image) }))
    }

    /// A renderbuffer without storage.
    pub(crate) fn new(core: &Arc<ShareCore>, name: u32) -> GlResult<Arc<Renderbuffer>> {
        Renderbuffer::declare(core, name, None)
    }

    /// An image of a drawable, with storage from the start.
    pub(crate) fn with_storage(core: &Arc<ShareCore>, image: RenderbufferImage) -> GlResult<Arc<Renderbuffer>> {
        Renderbuffer::declare(core, 0, Some(image))
    }

    /// The storage, when there is some.
    pub(crate) fn image(&self) -> Option<RenderbufferImage> {
        *self.storage.lock()
    }

    /// The surface of the whole renderbuffer; null without storage.
    pub(crate) fn surface(&self) -> Surface {
        match self.image().filter(|image| image.width != 0 && image.height != 0) {
            Some(image) => Surface {
                handle: self.handle.raw(),
                format: image.format.storage.0,
                kind: Kind::Renderbuffer as u8,
                flags: if image.format.alpha_is_one { surface_flags::ALPHA_IS_ONE } else { 0 },
                ..Surface::default()
            },
            None => Surface::default(),
        }
    }

    fn specify(&self, pipe: &mut dyn Pipe, image: RenderbufferImage) {
        pipe.renderbuffer_storage(&RenderbufferStorage {
            res: self.handle.raw(),
            format: image.format.storage.0,
            width: image.width,
            height: image.height,
            samples: image.samples,
            gl_name: self.name,
            pad: 0,
        });
        *self.storage.lock() = Some(image);
        self.core.aggregates.bump(Aggregate::Attachment);
    }
}

impl ContextState {
    fn bound_renderbuffer(&self, target: u32, command: &'static str) -> GlResult<Arc<Renderbuffer>> {
        if target != gl::RENDERBUFFER {
            return Err(invalid_enum(format!("{command}: target")));
        }
        self.renderbuffer.clone().ok_or_else(|| invalid_operation(format!("{command}: no renderbuffer is bound")))
    }

    /// Checks a sample count against a format's limits and rounds it up to one that is there.
    pub(crate) fn renderbuffer_samples(
        &self,
        format: &ResolvedFormat,
        samples: i32,
        command: &'static str,
    ) -> GlResult<u32> {
        let samples = u32::try_from(samples).map_err(|_| invalid_value(format!("{command}: negative samples")))?;
        let limits = &self.share.limits;
        if format.info.is_integer() {
            if samples > limits.integer_samples {
                return Err(invalid_operation(format!("{command}: {samples} samples of an integer format")));
            }
        } else if samples > limits.samples {
            return Err(invalid_value(format!("{command}: {samples} samples")));
        }
        format
            .round_up_samples(samples)
            .ok_or_else(|| invalid_operation(format!("{command}: {samples} samples of this format")))
    }
}

impl Context {
    /// `glGenRenderbuffers`.
    pub fn gen_renderbuffers(&mut self, names: &mut [u32]) {
        self.gl(|ctx| {
            ctx.state.share.renderbuffers.generate(names);
            Ok(())
        });
    }

    /// `glBindRenderbuffer`.
    pub fn bind_renderbuffer(&mut self, target: u32, renderbuffer: u32) {
        self.gl(|ctx| {
            if target != gl::RENDERBUFFER {
                return Err(invalid_enum("glBindRenderbuffer: target"));
            }
            ctx.state.renderbuffer = if renderbuffer == 0 {
                None
            } else {
                let names = &ctx.state.share.renderbuffers;
                if ctx.state.relaxed {
                    names.claim(renderbuffer);
                }
                Some(match names.lookup(renderbuffer) {
                    Lookup::Object(object) => object,
                    Lookup::Reserved => {
                        let object = Renderbuffer::new(&ctx.state.share.core, renderbuffer)?;
                        names.get_or_create(renderbuffer, || object.clone()).unwrap_or(object)
                    }
                    Lookup::Unknown => return Err(invalid_operation("glBindRenderbuffer: the name was not generated")),
                })
            };
            Ok(())
        });
    }

    /// `glDeleteRenderbuffers`.
    pub fn delete_renderbuffers(&mut self, names: &[u32]) {
        self.gl(|ctx| {
            for &name in names {
                let Some(Some(object)) = ctx.state.share.renderbuffers.remove(name) else { continue };
                ctx.state.debug.forget_label(gl::RENDERBUFFER, name as usize);
                if ctx.state.renderbuffer.as_ref().is_some_and(|bound| Arc::ptr_eq(bound, &object)) {
                    ctx.state.renderbuffer = None;
                }
                ctx.state.framebuffers.forget_renderbuffer(&object);
                ctx.state.generations.bump(Counter::Framebuffer);
            }
            Ok(())
        });
    }

    /// `glIsRenderbuffer`.
    pub fn is_renderbuffer(&mut self, renderbuffer: u32) -> bool {
        self.gl(|ctx| Ok(ctx.state.share.renderbuffers.get(renderbuffer).is_some()))
    }

    /// `glRenderbufferStorage`.
    pub fn renderbuffer_storage(&mut self, target: u32, internalformat: u32, width: i32, height: i32) {
        self.gl(|ctx| ctx.specify_renderbuffer(target, 0, internalformat, width, height, "glRenderbufferStorage"));
    }

    /// `glRenderbufferStorageMultisample`.
    pub fn renderbuffer_storage_multisample(
        &mut self,
        target: u32,
        samples: i32,
        internalformat: u32,
        width: i32,
        height: i32,
    ) {
        let command = "glRenderbufferStorageMultisample";
        self.gl(|ctx| ctx.specify_renderbuffer(target, samples, internalformat, width, height, command));
    }

    fn specify_renderbuffer(
        &mut self,
        target: u32,
        samples: i32,
        internal_format: u32,
        width: i32,
        height: i32,
        command: &'static str,
    ) -> GlResult {
        if target != gl::RENDERBUFFER {
            return Err(invalid_enum(format!("{command}: target")));
        }
        let format = self.state.share.formats.get(internal_format).copied();
        let format = format
            .filter(|f| f.renderable && !f.info.base.is_legacy() && f.info.naming != Naming::GenericCompressed)
            .ok_or_else(|| invalid_enum(format!("{command}: internal format {internal_format:#x}")))?;
        let max = i64::from(self.state.share.limits.renderbuffer_size);
        let fits = |v: i32| v >= 0 && i64::from(v) <= max;
        if !fits(width) || !fits(height) {
            return Err(invalid_value(format!("{command}: size {width} × {height}")));
        }
        let samples = self.state.renderbuffer_samples(&format, samples, command)?;
        let object = self.state.bound_renderbuffer(target, command)?;
        let image = RenderbufferImage { format, width: width as u32, height: height as u32, samples };
        object.specify(&mut *self.pipe, image);
        Ok(())
    }

    /// `glGetRenderbufferParameteriv`.
    pub fn get_renderbuffer_parameter(&mut self, target: u32, pname: u32) -> Option<i32> {
        let command = "glGetRenderbufferParameteriv";
        self.gl(|ctx| {
            let object = ctx.state.bound_renderbuffer(target, command)?;
            let image = object.image();
            let bits = |index: usize| image.map_or(0, |i| i32::from(i.format.info.bits[index]));
            Ok(Some(match pname {
                gl::RENDERBUFFER_WIDTH => image.map_or(0, |i| i.width as i32),
                gl::RENDERBUFFER_HEIGHT => image.map_or(0, |i| i.height as i32),
                gl::RENDERBUFFER_SAMPLES => image.map_or(0, |i| i.samples as i32),
                gl::RENDERBUFFER_INTERNAL_FORMAT => image.map_or(gl::RGBA, |i| i.format.info.gl) as i32,
                gl::RENDERBUFFER_RED_SIZE => bits(0),
                gl::RENDERBUFFER_GREEN_SIZE => bits(1),
                gl::RENDERBUFFER_BLUE_SIZE => bits(2),
                gl::RENDERBUFFER_ALPHA_SIZE => bits(3),
                gl::RENDERBUFFER_DEPTH_SIZE => bits(4),
                gl::RENDERBUFFER_STENCIL_SIZE => bits(5),
                _ => return Err(invalid_enum(format!("{command}: pname"))),
            }))
        })
    }
}
