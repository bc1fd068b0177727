//! Framebuffer objects of the driver, kept by what is attached.
//!
//! GLES wants draw buffer i to be attachment i or nothing, so surfaces are attached in the order of the draw buffers.

use crate::context::{dirty, EsprytContext};
use crate::format::{class, Class};
use crate::gles::{named, Gles};
use crate::resource::texture::{Image, Texture};
use crate::screen::Shared;
use glow::HasContext;
use hashbrown::HashMap;
use mgpipe_types::render_state::MAX_DRAW_BUFFERS;
use mgpipe_types::{gl, surface_flags, Format, FormatKind, FramebufferState, PipeError, PipeResult, Surface};
use std::sync::{Arc, Weak};

/// Framebuffer objects that are kept.
const MOST: usize = 256;

/// One attached image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
struct Attached {
    serial: u64,
    level: u32,
    layer: u32,
    layered: bool,
}

/// The textures of the framebuffer state, held so that what is attached lives on when its name does not.
#[derive(Default)]
pub(crate) struct AttachedTextures {
    color: [Option<Arc<Texture>>; MAX_DRAW_BUFFERS],
    depth: Option<Arc<Texture>>,
    stencil: Option<Arc<Texture>>,
}

impl AttachedTextures {
    /// Those that a state names.
    pub(crate) fn of(shared: &Shared, state: &FramebufferState) -> AttachedTextures {
        let texture = |surface: &Surface| surface.resource().and_then(|resource| shared.texture(resource));
        AttachedTextures {
            color: state.color.map(|surface| texture(&surface)),
            depth: texture(&state.depth),
            stencil: texture(&state.stencil),
        }
    }
}

/// What decides a framebuffer object.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
struct Key {
    colors: [Attached; MAX_DRAW_BUFFERS],
    depth: Attached,
    stencil: Attached,
    /// Width, height, layers and samples without attachments.
    defaults: [u32; 4],
}

struct Kept {
    name: u32,
    serial: u64,
    complete: bool,
    images: Vec<Weak<Image>>,
    used: u64,
}

/// Framebuffer objects of one context.
#[derive(Default)]
pub(crate) struct Framebuffers {
    kept: HashMap<Key, Kept>,
    clock: u64,
    purged: u64,
    facts: Facts,
}

/// What draws and clears need to know about the bound framebuffer.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Facts {
    /// Bit i: draw buffer i has no alpha although its storage does.
    pub(crate) alpha_one: u8,
    /// Bit i: draw buffer i is attached.
    pub(crate) colors: u8,
    /// Bit i: draw buffer i stores 8 normalised bits a component, not sRGB.
    pub(crate) eight_bits: u8,
    /// Class of each draw buffer.
    pub(crate) classes: [Option<Class>; MAX_DRAW_BUFFERS],
    pub(crate) depth: bool,
    pub(crate) stencil: bool,
    pub(crate) complete: bool,
    /// Attachments with all their layers have different numbers of them: a clear reaches only those that all have.
    pub(crate) unequal_layers: bool,
}

/// The attachments of a framebuffer.
pub(crate) struct Surfaces {
    pub(crate) colors: [Option<Resolved>; MAX_DRAW_BUFFERS],
    pub(crate) depth: Option<Resolved>,
    pub(crate) stencil: Option<Resolved>,
}

/// An image, level and layer of a surface.
#[derive(Clone)]
pub(crate) struct Resolved {
    pub(crate) image: Arc<Image>,
    pub(crate) level: u32,
    pub(crate) layer: u32,
    pub(crate) layered: bool,
}

impl Resolved {
    fn layers(&self) -> u32 {
        self.image.extent(self.level)[2]
    }

    fn attached(&self) -> Attached {
        Attached { serial: self.image.serial, level: self.level, layer: self.layer, layered: self.layered }
    }
}

/// Attaches a surface to the bound framebuffer.
fn attach(gles: &Gles, target: u32, point: u32, surface: &Resolved) {
    let image = &surface.image;
    let texture = named!(NativeTexture, image.name);
    let level = surface.level as i32;
    // SAFETY: the context is current and a framebuffer is bound; the form of the call fits the image's target.
    unsafe {
        if surface.layered {
            gles.ext.framebuffer_texture(target, point, image.name, level);
        } else if image.target == gl::TEXTURE_CUBE_MAP {
            let face = gl::TEXTURE_CUBE_MAP_POSITIVE_X + surface.layer.min(5);
            gles.gl.framebuffer_texture_2d(target, point, face, texture, level);
        } else if image.is_layered() {
            gles.gl.framebuffer_texture_layer(target, point, texture, level, surface.layer as i32);
        } else {
            gles.gl.framebuffer_texture_2d(target, point, image.target, texture, level);
        }
    }
}

impl Framebuffers {
    /// Deletes objects whose images are gone.
    /// True when there were any: the bound one may be among them.
    pub(crate) fn purge(&mut self, gles: &Gles, epoch: u64) -> bool {
        if self.purged == epoch {
            return false;
        }
        let before = self.kept.len();
        self.purged = epoch;
        self.kept.retain(|_, kept| {
            let alive = kept.images.iter().all(|image| image.strong_count() > 0);
            if !alive {
                delete(gles, kept.name);
            }
            alive
        });
        self.kept.len() != before
    }

    pub(crate) fn destroy(&mut self, gles: &Gles) {
        for (_, kept) in self.kept.drain() {
            delete(gles, kept.name);
        }
    }

    fn evict(&mut self, gles: &Gles) {
        while self.kept.len() >= MOST {
            let Some(key) = self.kept.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone()) else {
                break;
            };
            if let Some(kept) = self.kept.remove(&key) {
                delete(gles, kept.name);
            }
        }
    }
}

fn delete(gles: &Gles, name: u32) {
    if let Some(framebuffer) = named!(NativeFramebuffer, name) {
        // SAFETY: a name of this context, deleted once.
        unsafe { gles.gl.delete_framebuffer(framebuffer) };
    }
}

impl EsprytContext {
    pub(crate) fn framebuffer_facts(&self) -> Facts {
        self.framebuffers.facts
    }

    /// The image that a surface shows; `None` when nothing is attached or it has no storage.
    pub(crate) fn resolve_surface(&self, surface: &Surface) -> PipeResult<Option<Resolved>> {
        let Some(resource) = surface.resource() else { return Ok(None) };
        let Some(texture) = self.shared.texture(resource) else {
            return Err(PipeError::BadHandle("a surface names no image".into()));
        };
        self.resolve(&texture, surface)
    }

    /// The image of an attachment, which is attached also when its handle is gone.
    fn resolve_attached(&self, texture: Option<&Arc<Texture>>, surface: &Surface) -> PipeResult<Option<Resolved>> {
        match texture {
            Some(texture) => self.resolve(texture, surface),
            None => self.resolve_surface(surface),
        }
    }

    fn resolve(&self, texture: &Arc<Texture>, surface: &Surface) -> PipeResult<Option<Resolved>> {
        let Some(image) = texture.image(self.gles(), &self.shared.grave)? else { return Ok(None) };
        let (level, layer) = (u32::from(surface.level), surface.layer);
        if level >= image.levels || (surface.layered == 0 && layer >= image.extent(level)[2]) {
            return Err(PipeError::Protocol("a surface names no level or layer".into()));
        }
        let several = image.is_layered() || image.target == gl::TEXTURE_CUBE_MAP;
        let layered = surface.layered != 0 && several && self.gles().has.geometry;
        Ok(Some(Resolved { image, level, layer, layered }))
    }

    /// What the framebuffer state attaches, colours in the order of the draw buffers.
    pub(crate) fn attached_surfaces(&self) -> PipeResult<Surfaces> {
        let state = &self.framebuffer;
        let mut colors: [Option<Resolved>; MAX_DRAW_BUFFERS] = Default::default();
        for (index, slot) in colors.iter_mut().enumerate() {
            let Ok(attachment) = usize::try_from(state.draw_buffers[index]) else { continue };
            let Some(surface) = state.color.get(attachment) else { continue };
            *slot = self.resolve_attached(self.attached.color[attachment].as_ref(), surface)?;
        }
        let depth = self.resolve_attached(self.attached.depth.as_ref(), &state.depth)?;
        let stencil = self.resolve_attached(self.attached.stencil.as_ref(), &state.stencil)?;
        Ok(Surfaces {
            colors,
            depth: depth.filter(|s| s.image.format.has_depth()),
            stencil: stencil.filter(|s| s.image.format.has_stencil()),
        })
    }

    /// Binds the framebuffer of draws and clears. False when the driver does not take it.
    pub(crate) fn bind_framebuffer(&mut self) -> PipeResult<bool> {
        if self.dirty & dirty::FRAMEBUFFER == 0 && self.shadow.draw_framebuffer != u64::MAX {
            return Ok(self.framebuffers.facts.complete);
        }
        // An image that is made for its first use as an attachment is bound on the way.
        self.shadow.forget_active_unit();
        let state = self.framebuffer;
        let Surfaces { colors, depth, stencil } = self.attached_surfaces()?;
        let mut facts = Facts::default();
        for (index, slot) in colors.iter().enumerate() {
            let Ok(attachment) = usize::try_from(state.draw_buffers[index]) else { continue };
            let Some(surface) = state.color.get(attachment) else { continue };
            if slot.is_some() {
                facts.colors |= 1 << index;
                facts.classes[index] = Some(class(Format(surface.format)));
                let desc = Format(surface.format).desc();
                if desc.kind == FormatKind::Unorm && desc.bits[0] == 8 && !desc.srgb {
                    facts.eight_bits |= 1 << index;
                }
                if surface.flags & surface_flags::ALPHA_IS_ONE != 0 {
                    facts.alpha_one |= 1 << index;
                }
            }
        }
        let mut layers = colors.iter().chain([&depth, &stencil]).flatten().filter(|s| s.layered).map(Resolved::layers);
        let first = layers.next();
        facts.unequal_layers = layers.any(|count| Some(count) != first);
        facts.depth = depth.is_some();
        facts.stencil = stencil.is_some();
        let (serial, complete) = self.keep(&colors, &depth, &stencil, &state)?;
        facts.complete = complete;
        self.framebuffers.facts = facts;
        self.shadow.draw_framebuffer = serial;
        self.dirty &= !dirty::FRAMEBUFFER;
        self.dirty |= dirty::STATE;
        Ok(complete)
    }

    /// Finds or makes the object with these attachments and binds it for drawing; its identity, and whether it is complete.
    fn keep(
        &mut self,
        colors: &[Option<Resolved>; MAX_DRAW_BUFFERS],
        depth: &Option<Resolved>,
        stencil: &Option<Resolved>,
        state: &FramebufferState,
    ) -> PipeResult<(u64, bool)> {
        let attached = |surface: &Option<Resolved>| surface.as_ref().map_or_else(Attached::default, Resolved::attached);
        let mut key = Key { depth: attached(depth), stencil: attached(stencil), ..Key::default() };
        for (slot, color) in key.colors.iter_mut().zip(colors) {
            *slot = attached(color);
        }
        let empty = colors.iter().all(Option::is_none) && depth.is_none() && stencil.is_none();
        if empty {
            let [width, height] = [u32::from(state.width).max(1), u32::from(state.height).max(1)];
            key.defaults = [width, height, u32::from(state.layers), u32::from(state.samples)];
        }
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let gl = &gles.gl;
        let store = &mut self.framebuffers;
        store.clock += 1;
        if let Some(kept) = store.kept.get_mut(&key) {
            kept.used = store.clock;
            // SAFETY: a name of this context.
            unsafe { gl.bind_framebuffer(gl::DRAW_FRAMEBUFFER, named!(NativeFramebuffer, kept.name)) };
            return Ok((kept.serial, kept.complete));
        }
        store.evict(gles);
        let mut images = Vec::new();
        let mut buffers = [gl::NONE; MAX_DRAW_BUFFERS];
        // SAFETY: the context is current; the name is fresh.
        let (name, complete) = unsafe {
            let framebuffer = gl.create_framebuffer().map_err(PipeError::OutOfMemory)?;
            gl.bind_framebuffer(gl::DRAW_FRAMEBUFFER, Some(framebuffer));
            for (index, color) in colors.iter().enumerate() {
                if let Some(color) = color {
                    let point = gl::COLOR_ATTACHMENT0 + index as u32;
                    attach(gles, gl::DRAW_FRAMEBUFFER, point, color);
                    buffers[index] = point;
                    images.push(Arc::downgrade(&color.image));
                }
            }
            for (point, surface) in [(gl::DEPTH_ATTACHMENT, depth), (gl::STENCIL_ATTACHMENT, stencil)] {
                if let Some(surface) = surface {
                    attach(gles, gl::DRAW_FRAMEBUFFER, point, surface);
                    images.push(Arc::downgrade(&surface.image));
                }
            }
            if empty {
                for (name, value) in [
                    (gl::FRAMEBUFFER_DEFAULT_WIDTH, key.defaults[0]),
                    (gl::FRAMEBUFFER_DEFAULT_HEIGHT, key.defaults[1]),
                    (gl::FRAMEBUFFER_DEFAULT_SAMPLES, key.defaults[3]),
                ] {
                    gles.ext.framebuffer_parameter(gl::DRAW_FRAMEBUFFER, name, value as i32);
                }
            }
            let count = buffers.iter().rposition(|b| *b != gl::NONE).map_or(1, |last| last + 1);
            gl.draw_buffers(&buffers[..count]);
            let status = gl.check_framebuffer_status(gl::DRAW_FRAMEBUFFER);
            if status != gl::FRAMEBUFFER_COMPLETE {
                log::debug!("espryt: a framebuffer is incomplete for the driver ({status:#x})");
            }
            (framebuffer.0.get(), status == gl::FRAMEBUFFER_COMPLETE)
        };
        let serial = crate::resource::next_serial();
        let store = &mut self.framebuffers;
        store.kept.insert(key, Kept { name, serial, complete, images, used: store.clock });
        Ok((serial, complete))
    }

    /// Binds an object with one image for reading, or for writing by copies and clears of the backend's own. A colour image is
    /// attachment 0. False when the driver does not take it.
    pub(crate) fn bind_single(&mut self, target: u32, surface: &Resolved) -> PipeResult<bool> {
        let format = surface.image.format;
        let mut colors: [Option<Resolved>; MAX_DRAW_BUFFERS] = Default::default();
        let (mut depth, mut stencil) = (None, None);
        if format.is_depth_stencil() {
            depth = format.has_depth().then(|| surface.clone());
            stencil = format.has_stencil().then(|| surface.clone());
        } else {
            colors[0] = Some(surface.clone());
        }
        let (_, complete) = self.keep(&colors, &depth, &stencil, &FramebufferState::default())?;
        self.shadow.draw_framebuffer = u64::MAX;
        self.dirty |= dirty::FRAMEBUFFER;
        if target == gl::READ_FRAMEBUFFER {
            let gl = &self.gles().gl;
            // SAFETY: the context is current; the object that `keep` has bound for drawing is bound for reading, too.
            unsafe {
                let name = gl.get_parameter_i32(gl::DRAW_FRAMEBUFFER_BINDING);
                gl.bind_framebuffer(gl::READ_FRAMEBUFFER, named!(NativeFramebuffer, name as u32));
                if !format.is_depth_stencil() {
                    gl.read_buffer(gl::COLOR_ATTACHMENT0);
                }
            }
        }
        Ok(complete)
    }
}
