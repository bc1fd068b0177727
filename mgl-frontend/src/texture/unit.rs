//! Texture units and texture names.

use std::collections::HashMap;
use std::sync::Arc;

use mgpipe_tracker::Counter;
use mgpipe_types::{gl, Target};

use super::target::bind_target;
use super::{Image, Texture};
use crate::context::{Context, ContextState};
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::names::Lookup;
use crate::sampler::Sampler;
use crate::share::ShareCore;

/// Number of texture targets, by the value of [`Target`].
const TARGETS: usize = Target::Renderbuffer as usize;

/// One texture unit.
#[derive(Debug, Default)]
struct Unit {
    /// Textures by target; `None` is the default texture.
    textures: [Option<Arc<Texture>>; TARGETS],
    sampler: Option<Arc<Sampler>>,
}

/// The texture units of a context.
#[derive(Debug)]
pub(crate) struct TextureUnits {
    units: Vec<Unit>,
    active: usize,
    /// One past the highest unit that anything was ever bound to.
    touched: usize,
    /// Default textures, made when they are first needed. They belong to the context.
    defaults: [Option<Arc<Texture>>; TARGETS],
    /// State for which everything bound was sent.
    pub(super) realized: Option<[u64; 3]>,
    /// Answers of proxy targets, by target and level.
    proxies: HashMap<(Target, u32), Image>,
}

impl TextureUnits {
    /// Nothing bound.
    pub(crate) fn new(units: u32) -> TextureUnits {
        TextureUnits {
            units: (0..units.max(1)).map(|_| Unit::default()).collect(),
            active: 0,
            touched: 0,
            defaults: Default::default(),
            realized: None,
            proxies: HashMap::new(),
        }
    }

    /// The active unit, from 0.
    pub(crate) fn active(&self) -> u32 {
        self.active as u32
    }

    /// The texture of a unit and target; the default texture when it exists.
    pub(crate) fn texture(&self, unit: u32, target: Target) -> Option<&Arc<Texture>> {
        let bound = self.units.get(unit as usize)?.textures.get(target as usize)?;
        bound.as_ref().or_else(|| self.defaults.get(target as usize)?.as_ref())
    }

    /// The texture of the active unit; makes the default texture when none is bound.
    pub(crate) fn current(&mut self, core: &Arc<ShareCore>, target: Target) -> GlResult<Arc<Texture>> {
        if let Some(texture) = self.texture(self.active as u32, target) {
            return Ok(texture.clone());
        }
        let texture = Texture::new(core, 0, target)?;
        if let Some(slot) = self.defaults.get_mut(target as usize) {
            *slot = Some(texture.clone());
        }
        self.touched = self.touched.max(self.active + 1);
        Ok(texture)
    }

    /// GL name of the texture bound to a unit, 0 for the default texture.
    pub(crate) fn bound_name(&self, unit: u32, target: Target) -> u32 {
        self.bound(unit, target).map_or(0, |texture| texture.name)
    }

    /// The texture that was bound to a unit.
    pub(crate) fn bound(&self, unit: u32, target: Target) -> Option<&Arc<Texture>> {
        self.units.get(unit as usize).and_then(|unit| unit.textures.get(target as usize)?.as_ref())
    }

    /// The sampler object of a unit.
    pub(crate) fn sampler(&self, unit: u32) -> Option<&Arc<Sampler>> {
        self.units.get(unit as usize)?.sampler.as_ref()
    }

    /// Keeps the answer of a proxy target: an image that would fit, or nothing.
    pub(crate) fn set_proxy(&mut self, target: Target, level: u32, image: Option<Image>) {
        match image {
            Some(image) => self.proxies.insert((target, level), image),
            None => self.proxies.remove(&(target, level)),
        };
    }

    /// The last answer of a proxy target.
    pub(crate) fn proxy(&self, target: Target, level: u32) -> Option<&Image> {
        self.proxies.get(&(target, level))
    }

    /// Number of units.
    pub(crate) fn count(&self) -> u32 {
        self.units.len() as u32
    }

    /// Binds a sampler object to a unit that exists.
    pub(crate) fn set_sampler(&mut self, unit: u32, sampler: Option<Arc<Sampler>>) {
        if let Some(slot) = self.units.get_mut(unit as usize) {
            slot.sampler = sampler;
            self.touched = self.touched.max(unit as usize + 1);
        }
    }

    /// Takes a deleted sampler off every unit; whether any had it.
    pub(crate) fn forget_sampler(&mut self, sampler: &Arc<Sampler>) -> bool {
        let mut found = false;
        for unit in &mut self.units[..self.touched] {
            if unit.sampler.as_ref().is_some_and(|s| Arc::ptr_eq(s, sampler)) {
                unit.sampler = None;
                found = true;
            }
        }
        found
    }

    fn bind(&mut self, target: Target, texture: Option<Arc<Texture>>) -> bool {
        let Some(slot) = self.units.get_mut(self.active).and_then(|u| u.textures.get_mut(target as usize)) else {
            return false;
        };
        let same = match (&*slot, &texture) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            _ => false,
        };
        if same {
            return false;
        }
        *slot = texture;
        self.touched = self.touched.max(self.active + 1);
        true
    }

    fn forget_texture(&mut self, texture: &Arc<Texture>) {
        for unit in &mut self.units[..self.touched] {
            for slot in &mut unit.textures {
                if slot.as_ref().is_some_and(|t| Arc::ptr_eq(t, texture)) {
                    *slot = None;
                }
            }
        }
    }

    /// Every texture that is bound anywhere, and the default textures that exist.
    pub(crate) fn bound_textures(&self) -> impl Iterator<Item = &Arc<Texture>> {
        self.units[..self.touched]
            .iter()
            .flat_map(|u| u.textures.iter().flatten())
            .chain(self.defaults.iter().flatten())
    }
}

impl ContextState {
    /// The texture bound to the active unit for a target.
    pub(crate) fn current_texture(&mut self, target: Target) -> GlResult<Arc<Texture>> {
        let core = self.share.core.clone();
        self.textures.current(&core, target)
    }
}

impl Context {
    /// `glActiveTexture`.
    pub fn active_texture(&mut self, texture: u32) {
        self.gl(|ctx| {
            let unit = texture.wrapping_sub(gl::TEXTURE0);
            if unit >= ctx.state.textures.count() {
                return Err(invalid_enum("glActiveTexture: no such unit"));
            }
            ctx.state.textures.active = unit as usize;
            Ok(())
        });
    }

    /// `glGenTextures`.
    pub fn gen_textures(&mut self, names: &mut [u32]) {
        self.gl(|ctx| {
            ctx.state.share.textures.generate(names);
            Ok(())
        });
    }

    /// `glBindTexture`.
    pub fn bind_texture(&mut self, target: u32, texture: u32) {
        self.gl(|ctx| {
            let kind = bind_target(target).ok_or_else(|| invalid_enum("glBindTexture: target"))?;
            let object = if texture == 0 {
                None
            } else {
                let names = &ctx.state.share.textures;
                if ctx.state.relaxed {
                    names.claim(texture);
                }
                let object = match names.lookup(texture) {
                    Lookup::Object(object) => object,
                    Lookup::Reserved => {
                        let object = Texture::new(&ctx.state.share.core, texture, kind)?;
                        // Another context may have been first; then its object counts.
                        names.get_or_create(texture, || object.clone()).unwrap_or(object)
                    }
                    Lookup::Unknown => return Err(invalid_operation("glBindTexture: the name was not generated")),
                };
                if object.target != kind {
                    return Err(invalid_operation("glBindTexture: the texture has another target"));
                }
                Some(object)
            };
            if ctx.state.textures.bind(kind, object) {
                ctx.state.generations.bump(Counter::TextureUnits);
            }
            Ok(())
        });
    }

    /// `glDeleteTextures`.
    pub fn delete_textures(&mut self, names: &[u32]) {
        self.gl(|ctx| {
            for &name in names {
                let Some(Some(texture)) = ctx.state.share.textures.remove(name) else { continue };
                ctx.state.debug.forget_label(gl::TEXTURE, name as usize);
                ctx.state.textures.forget_texture(&texture);
                ctx.state.framebuffers.forget_texture(&texture);
                ctx.state.generations.bump(Counter::TextureUnits);
                ctx.state.generations.bump(Counter::Framebuffer);
            }
            Ok(())
        });
    }

    /// `glIsTexture`.
    pub fn is_texture(&mut self, texture: u32) -> bool {
        self.gl(|ctx| Ok(ctx.state.share.textures.get(texture).is_some()))
    }

    /// `glBindSampler`.
    pub fn bind_sampler(&mut self, unit: u32, sampler: u32) {
        self.gl(|ctx| {
            if unit >= ctx.state.textures.count() {
                return Err(invalid_value("glBindSampler: no such unit"));
            }
            let object = if sampler == 0 {
                None
            } else {
                let object = ctx.state.share.samplers.get_or_create(sampler, || Sampler::new(sampler));
                Some(object.ok_or_else(|| invalid_operation("glBindSampler: the name was not generated"))?)
            };
            ctx.state.textures.set_sampler(unit, object);
            ctx.state.generations.bump(Counter::Samplers);
            Ok(())
        });
    }
}
