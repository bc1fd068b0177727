//! What a texture unit gives to a program: the resolved view, or nothing.

use mgpipe_tracker::ResolvedView;
use mgpipe_types::reflection::{OpaqueBase, OpaqueDim, OpaqueType};
use mgpipe_types::{Context as Pipe, FormatKind, SamplerParameters, SamplerView, Target, TypedHandle};

use super::target::layer_count;
use super::{Texture, TextureInner, TextureUnits};

/// The texture target that a declared sampler type reads.
pub(crate) fn sampled_target(opaque: &OpaqueType) -> Target {
    match (opaque.dim, opaque.arrayed, opaque.multisampled) {
        (OpaqueDim::D1, false, _) => Target::Tex1D,
        (OpaqueDim::D1, true, _) => Target::Tex1DArray,
        (OpaqueDim::D2, false, false) => Target::Tex2D,
        (OpaqueDim::D2, true, false) => Target::Tex2DArray,
        (OpaqueDim::D2, false, true) => Target::Tex2DMs,
        (OpaqueDim::D2, true, true) => Target::Tex2DMsArray,
        (OpaqueDim::D3, ..) => Target::Tex3D,
        (OpaqueDim::Cube, false, _) => Target::TexCube,
        (OpaqueDim::Cube, true, _) => Target::TexCubeArray,
        (OpaqueDim::Rect, ..) => Target::TexRect,
        (OpaqueDim::Buffer, ..) => Target::TexBuffer,
    }
}

/// Whether a shader that declares `base` may read texels of the kind: anything else is undefined in GL and an error on
/// some devices, so that nothing is bound then.
fn base_fits(base: OpaqueBase, kind: FormatKind, stencil: bool) -> bool {
    match base {
        OpaqueBase::Float => !stencil && !matches!(kind, FormatKind::Uint | FormatKind::Sint | FormatKind::Stencil),
        OpaqueBase::Int => kind == FormatKind::Sint,
        OpaqueBase::Uint => kind == FormatKind::Uint || stencil || kind == FormatKind::Stencil,
    }
}

impl Texture {
    /// The view of the texture under a sampler, without its CSO; a null texture when it cannot be sampled.
    fn sampler_view(&self, inner: &mut TextureInner, opaque: &OpaqueType, sampler: &SamplerParameters) -> SamplerView {
        let nothing = SamplerView { target: self.target as u8, ..SamplerView::default() };
        if !inner.is_complete_with(self.target, sampler) {
            return nothing;
        }
        if let Some(texels) = &inner.texel_buffer {
            let format = texels.format.storage;
            if !base_fits(opaque.base, format.desc().kind, false) {
                return nothing;
            }
            return SamplerView {
                texture: self.handle.raw(),
                format: format.0,
                target: self.target as u8,
                num_levels: 1,
                num_layers: 1,
                ..SamplerView::default()
            };
        }
        let Some(chain) = inner.chain().copied() else { return nothing };
        let stencil = inner.params.stencil_mode && chain.format.has_stencil();
        let depth = chain.format.has_depth() && !stencil;
        if !base_fits(opaque.base, chain.format.desc().kind, stencil) || opaque.shadow && !depth {
            return nothing;
        }
        SamplerView {
            texture: self.handle.raw(),
            format: chain.format.0,
            target: self.target as u8,
            min_level: 0,
            num_levels: chain.levels as u16,
            min_layer: 0,
            num_layers: layer_count(self.target, chain.extent).min(u32::from(u16::MAX)) as u16,
            samples: chain.samples as u16,
            fixed_sample_locations: u8::from(chain.fixed_locations),
            ..SamplerView::default()
        }
    }
}

impl TextureUnits {
    /// Resolves the units that a program samples: pairs of unit and declared sampler type. A unit that is named twice
    /// with different targets counts once: such a program fails to draw before it comes here.
    pub(crate) fn resolve(
        &self,
        sampled: impl IntoIterator<Item = (u32, OpaqueType)>,
        seamless: bool,
        out: &mut Vec<ResolvedView>,
    ) {
        for (unit, opaque) in sampled {
            if out.iter().any(|view| view.unit == unit) {
                continue;
            }
            let mut view = self.resolve_one(unit, &opaque);
            view.parameters.cube_map_seamless = u32::from(seamless);
            out.push(view);
        }
        out.sort_unstable_by_key(|view| view.unit);
    }

    fn resolve_one(&self, unit: u32, opaque: &OpaqueType) -> ResolvedView {
        let target = sampled_target(opaque);
        let nothing = |parameters| ResolvedView {
            unit,
            view: SamplerView { target: target as u8, ..SamplerView::default() },
            parameters,
        };
        let sampler = self.sampler(unit).map(|sampler| sampler.parameters());
        let Some(texture) = self.texture(unit, target) else {
            return nothing(sampler.unwrap_or_else(|| crate::sampler::initial_parameters(target)));
        };
        let mut inner = texture.lock();
        let mut parameters = sampler.unwrap_or(inner.params.sampler);
        let view = texture.sampler_view(&mut inner, opaque, &parameters);
        if !opaque.shadow {
            // Comparison applies to shadow samplers only; with others it is undefined, so leave it out.
            parameters.compare_mode = mgpipe_types::gl::NONE;
        }
        ResolvedView { unit, view, parameters }
    }

    /// Sends what waits for any texture that is bound to a unit, unless `state`, which moves with every change of a
    /// texture or a binding, is what it was.
    pub(crate) fn realize_moved(&mut self, state: [u64; 3], pipe: &mut dyn Pipe) {
        if self.realized != Some(state) {
            self.realized = Some(state);
            for texture in self.bound_textures() {
                texture.realize(pipe);
            }
        }
    }
}
