//! Sampler views and samplers as cached objects, bound as sets by texture unit.

use super::Core;
use crate::cso_cache::CsoCache;
use crate::source::{ResolvedView, Source};
use crate::suppressor::SetSuppressor;
use crate::verb::{Group, ProgramPoint};
use bytemuck::{bytes_of, cast_slice};
use hashbrown::HashMap;
use mgpipe_types::{
    BlobRef, BoundView, Context, Handle, HandleOnly, SamplerCso, SamplerDesc, SamplerParameters, SamplerView,
    SamplerViewCso, SetHeader, TextureHandle, TypedHandle, MAX_TEXTURE_UNITS,
};
use smallvec::SmallVec;

const PARAMETER_BYTES: usize = size_of::<SamplerParameters>();
const VIEW_BYTES: usize = size_of::<SamplerView>();

// Keys are words, so that comparing two is a short loop of constant length.
type SamplerKey = [u32; PARAMETER_BYTES / 4];
type ViewKey = [u32; VIEW_BYTES / 4];

/// No node.
const NONE: u32 = u32::MAX;

/// Nodes of the view cache that name a texture.
type NodesByTexture = HashMap<Handle, SmallVec<[u32; 2]>>;

/// Sends sampler views and samplers.
#[derive(Debug)]
pub(crate) struct TexturePush {
    samplers: CsoCache<SamplerKey, SamplerCso>,
    views: CsoCache<ViewKey, SamplerViewCso>,
    views_of: NodesByTexture,
    /// Nodes that each unit used last: they are compared before anything is hashed.
    last_views: [u32; MAX_TEXTURE_UNITS],
    last_samplers: [u32; MAX_TEXTURE_UNITS],
    resolved: Vec<ResolvedView>,
    bound_views: Vec<BoundView>,
    bound_samplers: Vec<SamplerCso>,
    views_sent: SetSuppressor,
    samplers_sent: SetSuppressor,
}

/// The texture in a view's key.
fn texture_of(key: &ViewKey) -> Handle {
    bytemuck::cast::<ViewKey, SamplerView>(*key).texture
}

#[inline(always)]
fn same<const N: usize>(a: &[u32; N], b: &[u32; N]) -> bool {
    a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

fn unnote(views_of: &mut NodesByTexture, texture: Handle, node: u32) {
    if let Some(nodes) = views_of.get_mut(&texture) {
        nodes.retain(|n| *n != node);
        if nodes.is_empty() {
            views_of.remove(&texture);
        }
    }
}

impl TexturePush {
    pub(crate) fn new(sampler_capacity: usize, view_capacity: usize) -> TexturePush {
        // A verb may use every unit: a smaller cache would evict an object of the set that is being built.
        TexturePush {
            samplers: CsoCache::new(sampler_capacity.max(MAX_TEXTURE_UNITS)),
            views: CsoCache::new(view_capacity.max(MAX_TEXTURE_UNITS)),
            views_of: HashMap::new(),
            last_views: [NONE; MAX_TEXTURE_UNITS],
            last_samplers: [NONE; MAX_TEXTURE_UNITS],
            resolved: Vec::with_capacity(MAX_TEXTURE_UNITS),
            bound_views: Vec::with_capacity(MAX_TEXTURE_UNITS),
            bound_samplers: Vec::with_capacity(MAX_TEXTURE_UNITS),
            views_sent: SetSuppressor::with_capacity(MAX_TEXTURE_UNITS * size_of::<BoundView>()),
            samplers_sent: SetSuppressor::with_capacity(MAX_TEXTURE_UNITS * size_of::<SamplerCso>()),
        }
    }

    pub(crate) fn forget(&mut self) {
        self.samplers.undeclare();
        self.views.undeclare();
        self.views_sent.forget();
        self.samplers_sent.forget();
    }

    /// Gives the handles back without a word to the server.
    pub(crate) fn release(&mut self, core: &Core) {
        self.samplers.clear(&core.handles, |_, _, _| {});
        self.views.clear(&core.handles, |_, _, _| {});
        self.views_of.clear();
    }

    pub(crate) fn shutdown(&mut self, core: &Core, pipe: &mut dyn Context) {
        self.samplers.clear(&core.handles, |_, cso, _| pipe.delete_sampler(&HandleOnly::new(cso)));
        self.views.clear(&core.handles, |_, cso, _| pipe.delete_sampler_view(&HandleOnly::new(cso)));
        self.views_of.clear();
        self.forget();
    }

    /// Deletes the views of a texture that dies. True when a view was deleted, which may be bound.
    pub(crate) fn texture_dies(&mut self, core: &Core, texture: TextureHandle, pipe: &mut dyn Context) -> bool {
        let Some(nodes) = self.views_of.remove(&texture.raw()) else {
            return false;
        };
        for node in nodes {
            self.views.remove(node, &core.handles, &mut |_, cso, _| pipe.delete_sampler_view(&HandleOnly::new(cso)));
        }
        true
    }

    /// Resolves the units of a point's program and sends the two sets where they differ from what was sent.
    pub(crate) fn push<S: Source + ?Sized>(
        &mut self,
        core: &mut Core,
        point: ProgramPoint,
        fired: [bool; 2],
        source: &mut S,
        pipe: &mut dyn Context,
    ) {
        for (group, fired) in [Group::SamplerViews, Group::Samplers].into_iter().zip(fired) {
            if fired {
                core.fire(group);
            }
        }
        self.resolved.clear();
        self.bound_views.clear();
        self.bound_samplers.clear();
        let mut resolved = std::mem::take(&mut self.resolved);
        source.resolve_textures(point, &mut resolved);
        for r in resolved.iter().filter(|r| (r.unit as usize) < MAX_TEXTURE_UNITS) {
            let (mut view, mut sampler) = (SamplerViewCso::NULL, SamplerCso::NULL);
            if r.view.texture != Handle::NULL {
                view = self.view(core, r.unit as usize, &r.view, pipe);
                sampler = self.sampler(core, r.unit as usize, &r.parameters, pipe);
            }
            let target = u32::from(r.view.target);
            self.bound_views.push(BoundView { view: view.raw(), texture: r.view.texture, unit: r.unit, target });
            if self.bound_samplers.len() <= r.unit as usize {
                self.bound_samplers.resize(r.unit as usize + 1, SamplerCso::NULL);
            }
            self.bound_samplers[r.unit as usize] = sampler;
        }
        self.resolved = resolved;
        self.send(core, pipe);
    }

    fn send(&mut self, core: &mut Core, pipe: &mut dyn Context) {
        let bytes: &[u8] = cast_slice(&self.bound_views);
        let hash = core.hash(bytes);
        let sent = self.views_sent.admit(hash, 0, bytes);
        if core.note(Group::SamplerViews, sent, size_of::<SetHeader>() + bytes.len()) {
            core.stats.sampler_views.binds += self.bound_views.iter().filter(|v| v.view != Handle::NULL).count() as u64;
            let header = SetHeader { start: 0, count: self.bound_views.len() as u32, content_hash: hash };
            pipe.set_sampler_views(&header, &self.bound_views);
        }
        let bytes: &[u8] = cast_slice(&self.bound_samplers);
        let hash = core.hash(bytes);
        let sent = self.samplers_sent.admit(hash, 0, bytes);
        if core.note(Group::Samplers, sent, size_of::<SetHeader>() + bytes.len()) {
            core.stats.samplers.binds += self.bound_samplers.iter().filter(|s| !s.is_null()).count() as u64;
            let header = SetHeader { start: 0, count: self.bound_samplers.len() as u32, content_hash: hash };
            pipe.bind_sampler_states(&header, &self.bound_samplers);
        }
    }

    fn view(&mut self, core: &mut Core, unit: usize, template: &SamplerView, pipe: &mut dyn Context) -> SamplerViewCso {
        let mut view = SamplerView { cso: Handle::NULL, ..*template };
        let key: ViewKey = bytemuck::cast(view);
        let addressing = core.options.switches.content_addressing;
        let last = if addressing { self.views.matches(self.last_views[unit], |k| same(k, &key)) } else { None };
        let found = match last {
            Some(found) => found,
            None => {
                let views_of = &mut self.views_of;
                let found = self.views.intern(
                    core.hash(bytes_of(&key)),
                    addressing,
                    |k| same(k, &key),
                    || key,
                    &core.handles,
                    &mut core.stats.sampler_views,
                    |k, cso, node| {
                        unnote(views_of, texture_of(k), node);
                        pipe.delete_sampler_view(&HandleOnly::new(cso));
                    },
                );
                let Some(found) = found else { return SamplerViewCso::NULL };
                self.last_views[unit] = found.node;
                found
            }
        };
        if found.create {
            let nodes = self.views_of.entry(view.texture).or_default();
            if !nodes.contains(&found.node) {
                nodes.push(found.node);
            }
            view.cso = found.handle.raw();
            core.stats.bytes += VIEW_BYTES as u64;
            pipe.create_sampler_view(&view);
        }
        found.handle
    }

    fn sampler(
        &mut self,
        core: &mut Core,
        unit: usize,
        parameters: &SamplerParameters,
        pipe: &mut dyn Context,
    ) -> SamplerCso {
        let key: SamplerKey = bytemuck::cast(*parameters);
        let addressing = core.options.switches.content_addressing;
        let last = if addressing { self.samplers.matches(self.last_samplers[unit], |k| same(k, &key)) } else { None };
        let found = match last {
            Some(found) => found,
            None => {
                let found = self.samplers.intern(
                    core.hash(bytes_of(&key)),
                    addressing,
                    |k| same(k, &key),
                    || key,
                    &core.handles,
                    &mut core.stats.samplers,
                    |_, cso, _| pipe.delete_sampler(&HandleOnly::new(cso)),
                );
                let Some(found) = found else { return SamplerCso::NULL };
                self.last_samplers[unit] = found.node;
                found
            }
        };
        if found.create {
            let blob = BlobRef { size: PARAMETER_BYTES as u64, ..BlobRef::default() };
            core.stats.bytes += (size_of::<SamplerDesc>() + PARAMETER_BYTES) as u64;
            pipe.create_sampler(&SamplerDesc { cso: found.handle.raw(), parameters: blob }, bytes_of(parameters));
        }
        found.handle
    }
}
