//! What is bound in the driver's context, by never-reused identities.

use crate::gles::{named, Gles};
use crate::vertex::VertexShadow;
use glow::HasContext;
use mgpipe_types::gl;

/// Texture units that are shadowed.
pub(crate) const UNITS: usize = 96;
/// Uniform-buffer binding points that are shadowed.
pub(crate) const BLOCKS: usize = 72;

/// A uniform buffer as it is bound: identity or ring name, offset, size.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct BoundRange {
    pub(crate) serial: u64,
    pub(crate) name: u32,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// Bindings of the driver's context.
pub(crate) struct Shadow {
    pub(crate) program: u64,
    /// Identity and target of each unit's texture.
    textures: [(u64, u32); UNITS],
    samplers: [u64; UNITS],
    blocks: [BoundRange; BLOCKS],
    active_unit: u32,
    pub(crate) element_buffer: u64,
    pub(crate) draw_framebuffer: u64,
    pub(crate) vertices: VertexShadow,
    /// Whether restart at the largest index is on.
    pub(crate) restart: bool,
}

impl Default for Shadow {
    fn default() -> Self {
        Shadow {
            program: 0,
            textures: [(0, 0); UNITS],
            samplers: [0; UNITS],
            blocks: [BoundRange::default(); BLOCKS],
            active_unit: u32::MAX,
            element_buffer: u64::MAX,
            draw_framebuffer: u64::MAX,
            vertices: VertexShadow::default(),
            restart: false,
        }
    }
}

impl Shadow {
    /// Makes every object be bound again: another context may have changed its contents.
    pub(crate) fn forget_objects(&mut self) {
        self.textures = [(u64::MAX, 0); UNITS];
        self.blocks = [BoundRange { serial: u64::MAX, ..BoundRange::default() }; BLOCKS];
        self.element_buffer = u64::MAX;
        self.draw_framebuffer = u64::MAX;
        self.vertices.forget_buffers();
    }

    /// The active unit is not known: uploads use the scratch unit.
    #[inline]
    pub(crate) fn forget_active_unit(&mut self) {
        self.active_unit = u32::MAX;
    }

    fn activate(&mut self, gles: &Gles, unit: u32) {
        if self.active_unit != unit {
            self.active_unit = unit;
            // SAFETY: the context is current and the unit is one that it has.
            unsafe { gles.gl.active_texture(gl::TEXTURE0 + unit) };
        }
    }

    /// Binds a texture to a unit; identity 0 unbinds. True when the binding changed.
    pub(crate) fn bind_texture(&mut self, gles: &Gles, unit: u32, serial: u64, target: u32, name: u32) -> bool {
        let Some(slot) = self.textures.get(unit as usize).copied() else { return false };
        if slot == (serial, target) {
            return false;
        }
        self.activate(gles, unit);
        // SAFETY: the context is current; the name is of its share group, or 0.
        unsafe {
            if slot.0 != 0 && slot.1 != target && slot.1 != 0 {
                gles.gl.bind_texture(slot.1, None);
            }
            gles.gl.bind_texture(target, named!(NativeTexture, name));
        }
        self.textures[unit as usize] = (serial, target);
        true
    }

    /// Makes a unit active for changes to the texture that is bound there.
    pub(crate) fn activate_for(&mut self, gles: &Gles, unit: u32) {
        self.activate(gles, unit);
    }

    /// Binds a sampler object to a unit; identity 0 unbinds.
    pub(crate) fn bind_sampler(&mut self, gles: &Gles, unit: u32, serial: u64, name: u32) {
        let Some(slot) = self.samplers.get_mut(unit as usize) else { return };
        if *slot != serial {
            *slot = serial;
            // SAFETY: the context is current; the name is of its share group, or 0.
            unsafe { gles.gl.bind_sampler(unit, named!(NativeSampler, name)) };
        }
    }

    /// Binds a range of a buffer as a uniform buffer.
    pub(crate) fn bind_block(&mut self, gles: &Gles, point: u32, range: BoundRange) {
        let Some(slot) = self.blocks.get_mut(point as usize) else { return };
        if *slot != range {
            *slot = range;
            // SAFETY: the context is current; the range lies within the buffer and is aligned.
            unsafe {
                match named!(NativeBuffer, range.name) {
                    None => gles.gl.bind_buffer_base(gl::UNIFORM_BUFFER, point, None),
                    buffer => gles.gl.bind_buffer_range(
                        gl::UNIFORM_BUFFER,
                        point,
                        buffer,
                        range.offset as i32,
                        range.size as i32,
                    ),
                }
            }
        }
    }
}
