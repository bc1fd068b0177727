//! A linked program: what it was linked to, its uniform values and its bindings.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use mgl_glsl::LinkedProgram;
use mgpipe_types::reflection::{gl_type, BindingKind, OpaqueType, Reflection, FRAMEBUFFER_HEIGHT_UNIFORM};
use mgpipe_types::{stage, BlobRef, Context as Pipe, ProgramDesc, ShaderCso, TypedHandle};
use parking_lot::{Mutex, MutexGuard};

use crate::error::GlResult;
use crate::share::{Dead, ShareCore};

/// Prefix of uniforms that the compiler adds and queries hide.
const HIDDEN_PREFIX: &str = "mgl_";

/// Offsets in the default block of the uniforms that GL's own state fills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateUniforms {
    /// The hidden uniform with the framebuffer's height, for programs that flip `gl_FragCoord`.
    pub(crate) height: Option<usize>,
    /// `near`, `far` and `diff` of `gl_DepthRange`.
    pub(crate) depth_range: [Option<usize>; 3],
    /// `gl_NumSamples`.
    pub(crate) samples: Option<usize>,
}

impl StateUniforms {
    fn find(reflection: &Reflection) -> Option<StateUniforms> {
        let offset = |name: &str| {
            reflection.uniforms.iter().find(|u| u.name == name).and_then(|u| usize::try_from(u.offset).ok())
        };
        let found = StateUniforms {
            height: offset(FRAMEBUFFER_HEIGHT_UNIFORM),
            depth_range: ["gl_DepthRange.near", "gl_DepthRange.far", "gl_DepthRange.diff"].map(offset),
            samples: offset("gl_NumSamples"),
        };
        (found != StateUniforms::default()).then_some(found)
    }
}

/// A successful link. It lives as long as a program or a context uses it.
pub(crate) struct Executable {
    /// Identity on the pipe.
    pub(crate) handle: ShaderCso,
    core: Arc<ShareCore>,
    /// Facts of the link.
    pub(crate) reflection: Reflection,
    /// Uniform and element of every location; `None` in gaps.
    locations: Vec<Option<(u32, u32)>>,
    /// Reflection index by GL index of an active uniform.
    pub(crate) visible: Vec<u32>,
    /// GL index by reflection index; `u32::MAX` for a hidden uniform.
    pub(crate) gl_index: Vec<u32>,
    /// Reflection index by name.
    names: HashMap<String, u32>,
    /// Shape of each uniform that lives in memory; looked up once, since uniform calls are frequent.
    pub(crate) shapes: Vec<Option<gl_type::Shape>>,
    /// First entry of each uniform in [`UniformValues::opaque`]; meaningless for the others.
    opaque_base: Vec<u32>,
    /// Entries of [`UniformValues::opaque`] in the order of the sampler descriptors.
    sampler_slots: Vec<u32>,
    /// Entries of the image descriptors likewise.
    image_slots: Vec<u32>,
    /// Where the uniforms are that GL's own state fills; `None` for a program without any.
    pub(crate) state_uniforms: Option<StateUniforms>,
    values: Mutex<UniformValues>,
    constants_version: AtomicU64,
    bindings_version: AtomicU64,
}

/// What an application can change after the link.
#[derive(Debug)]
pub(crate) struct UniformValues {
    /// The default uniform block.
    pub(crate) block: Vec<u8>,
    /// Units of samplers and images, by uniform and element.
    pub(crate) opaque: Vec<u32>,
    /// Binding points of the uniform blocks.
    pub(crate) uniform_blocks: Vec<u32>,
    /// Binding points of the storage blocks.
    storage_blocks: Vec<u32>,
}

impl std::fmt::Debug for Executable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Executable({:?})", self.handle)
    }
}

/// Moves over all links of the process, so that versions of two executables never collide in a tracker.
static VERSIONS: AtomicU64 = AtomicU64::new(1);

fn next_version() -> u64 {
    VERSIONS.fetch_add(1, Ordering::Relaxed)
}

impl Executable {
    /// Declares a linked program on the pipe and prepares its tables.
    pub(crate) fn new(core: &Arc<ShareCore>, linked: LinkedProgram, pipe: &mut dyn Pipe) -> GlResult<Executable> {
        let handle: ShaderCso = core.mint("program")?;
        emit(handle, &linked, pipe);
        let LinkedProgram { reflection, default_block, .. } = linked;
        let count = reflection.uniforms.len();
        let mut locations = vec![None; reflection.location_count as usize];
        let mut names = HashMap::with_capacity(count);
        let (mut visible, mut gl_index) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut opaque, mut opaque_base) = (Vec::new(), Vec::with_capacity(count));
        for (i, uniform) in reflection.uniforms.iter().enumerate() {
            let index = i as u32;
            if uniform.name.starts_with(HIDDEN_PREFIX) {
                gl_index.push(u32::MAX);
            } else {
                gl_index.push(visible.len() as u32);
                visible.push(index);
                names.insert(uniform.name.clone(), index);
                // Built-in uniforms are active, but no application may set them.
                let first = usize::try_from(uniform.location).ok().filter(|_| !uniform.name.starts_with("gl_"));
                if let Some(first) = first {
                    for element in 0..uniform.array_size {
                        if let Some(slot) = locations.get_mut(first + element as usize) {
                            *slot = Some((index, element));
                        }
                    }
                }
            }
            opaque_base.push(opaque.len() as u32);
            if uniform.binding_index >= 0 {
                for element in 0..uniform.array_size {
                    let unit = if uniform.initial_unit < 0 { 0 } else { uniform.initial_unit as u32 + element };
                    opaque.push(unit);
                }
            }
        }
        let slots = |kinds: &[BindingKind]| -> Vec<u32> {
            let of_kind = reflection.bindings.iter().filter(|b| kinds.contains(&b.kind));
            of_kind
                .flat_map(|b| {
                    let base =
                        usize::try_from(b.uniform_index).ok().and_then(|u| opaque_base.get(u).copied()).unwrap_or(0);
                    (0..b.count).map(move |element| base + b.uniform_element + element)
                })
                .collect()
        };
        let sampler_slots = slots(&[BindingKind::Sampler, BindingKind::TexelBuffer]);
        let image_slots = slots(&[BindingKind::Image, BindingKind::ImageBuffer]);
        let storage = reflection.storage_blocks.iter().map(|b| b.initial_binding);
        let atomic = reflection.atomic_buffers.iter().map(|b| b.binding);
        let values = UniformValues {
            block: default_block,
            opaque,
            uniform_blocks: reflection.uniform_blocks.iter().map(|b| b.initial_binding).collect(),
            storage_blocks: storage.chain(atomic).collect(),
        };
        let state_uniforms = StateUniforms::find(&reflection);
        Ok(Executable {
            handle,
            core: core.clone(),
            locations,
            shapes: reflection.uniforms.iter().map(|u| gl_type::shape(u.gl_type)).collect(),
            visible,
            gl_index,
            names,
            opaque_base,
            sampler_slots,
            image_slots,
            state_uniforms,
            reflection,
            values: Mutex::new(values),
            constants_version: AtomicU64::new(next_version()),
            bindings_version: AtomicU64::new(next_version()),
        })
    }

    /// Version of the default block's bytes.
    #[inline]
    pub(crate) fn constants_version(&self) -> u64 {
        self.constants_version.load(Ordering::Acquire)
    }

    /// Version of units and binding points.
    #[inline]
    pub(crate) fn bindings_version(&self) -> u64 {
        self.bindings_version.load(Ordering::Acquire)
    }

    /// Values, for reading or followed by one of the `*_changed` calls.
    pub(crate) fn values(&self) -> MutexGuard<'_, UniformValues> {
        self.values.lock()
    }

    /// The default block has other bytes now.
    pub(crate) fn constants_changed(&self) {
        self.constants_version.store(next_version(), Ordering::Release);
    }

    /// Units or binding points are others now.
    pub(crate) fn bindings_changed(&self) {
        self.bindings_version.store(next_version(), Ordering::Release);
    }

    /// Uniform index and element of a location.
    #[inline]
    pub(crate) fn at_location(&self, location: i32) -> Option<(usize, u32)> {
        let (index, element) = (*self.locations.get(usize::try_from(location).ok()?)?)?;
        Some((index as usize, element))
    }

    /// Reflection index of a visible uniform by its GL name, array elements excluded.
    pub(crate) fn uniform_by_name(&self, name: &str) -> Option<usize> {
        self.names.get(name).map(|&i| i as usize)
    }

    /// Index into [`UniformValues::opaque`] of an element of a sampler or image uniform.
    pub(crate) fn opaque_slot(&self, uniform: usize, element: u32) -> usize {
        (self.opaque_base.get(uniform).copied().unwrap_or(0) + element) as usize
    }

    /// Copies the texture units of the sampler descriptors, in their order.
    pub(crate) fn sampler_units(&self, values: &UniformValues, out: &mut Vec<u32>) {
        out.extend(self.sampler_slots.iter().map(|&slot| values.opaque.get(slot as usize).copied().unwrap_or(0)));
    }

    /// Copies the image units of the image descriptors, in their order.
    pub(crate) fn image_units(&self, values: &UniformValues, out: &mut Vec<u32>) {
        out.extend(self.image_slots.iter().map(|&slot| values.opaque.get(slot as usize).copied().unwrap_or(0)));
    }

    /// Copies the binding points of storage blocks and atomic-counter buffers.
    pub(crate) fn storage_points(&self, values: &UniformValues, out: &mut Vec<u32>) {
        out.extend_from_slice(&values.storage_blocks);
    }

    /// Sampler uniforms and the units of their elements: what texture resolution walks.
    pub(crate) fn sampled_units<'a>(&'a self, units: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
        let of_kind = self
            .reflection
            .bindings
            .iter()
            .filter(|b| matches!(b.kind, BindingKind::Sampler | BindingKind::TexelBuffer));
        let types = of_kind.flat_map(|b| {
            let uniform = usize::try_from(b.uniform_index).ok().and_then(|u| self.reflection.uniforms.get(u));
            let gl_type = uniform.map_or(0, |u| u.gl_type);
            (0..b.count).map(move |_| gl_type)
        });
        units.iter().copied().zip(types)
    }

    /// Declared types of the sampler descriptors, one an element, in their order.
    pub(crate) fn sampler_types(&self) -> impl Iterator<Item = OpaqueType> + '_ {
        let of_kind = self
            .reflection
            .bindings
            .iter()
            .filter(|b| matches!(b.kind, BindingKind::Sampler | BindingKind::TexelBuffer));
        of_kind.flat_map(|b| (0..b.count).filter_map(|_| b.opaque))
    }

    /// Whether two samplers of different types read the same unit, which makes draws illegal (GL 4.6 §11.1.3.11).
    pub(crate) fn units_conflict(&self, units: &[u32]) -> bool {
        let mut seen: Vec<(u32, u32)> = Vec::with_capacity(units.len());
        for (unit, gl_type) in self.sampled_units(units) {
            debug_assert!(gl_type::is_sampler(gl_type));
            match seen.iter().find(|(u, _)| *u == unit) {
                Some((_, other)) if *other != gl_type => return true,
                Some(_) => {}
                None => seen.push((unit, gl_type)),
            }
        }
        false
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // Deleting belongs to a command flow, and the last owner may be gone on any thread.
        self.core.bury(Dead::Shader(self.handle));
    }
}

/// Sends the SPIR-V and the reflection.
fn emit(handle: ShaderCso, linked: &LinkedProgram, pipe: &mut dyn Pipe) {
    let mut blob = Vec::new();
    let mut spirv = [BlobRef::default(); 6];
    for module in &linked.modules {
        let offset = blob.len() as u64;
        blob.extend(module.words.iter().flat_map(|word| word.to_le_bytes()));
        spirv[module.stage as usize] = BlobRef { offset, size: blob.len() as u64 - offset, ..BlobRef::default() };
    }
    let offset = blob.len() as u64;
    blob.extend_from_slice(&linked.reflection.to_bytes());
    let desc = ProgramDesc {
        cso: handle.raw(),
        stage_mask: u32::from(linked.reflection.stages.0),
        global_ubo_size: linked.default_block.len() as u32,
        num_samples_offset: u32::MAX,
        spirv_status: 1,
        native_float64: 0,
        point_size_demoted: 0,
        validate_spirv: 0,
        spirv,
        reflection: BlobRef { offset, size: blob.len() as u64 - offset, ..BlobRef::default() },
    };
    pipe.create_shader(&desc, &blob);
}

const _: () = assert!(stage::COMPUTE == mgpipe_types::reflection::Stage::Compute as usize);
