//! The render-state block and the one place that says which of its bytes are pipeline state.

use crate::pod::payload;
use bytemuck::{bytes_of, bytes_of_mut};
use std::mem::{offset_of, size_of};

/// Number of viewports and scissor boxes.
pub const MAX_VIEWPORTS: usize = 16;
/// Number of draw buffers.
pub const MAX_DRAW_BUFFERS: usize = 8;

payload! {
    /// One viewport rectangle in pixels; floats, since OpenGL 4.1 viewports are (spec 13.6.1).
    Viewport [16] {
        /// Left edge.
        x: f32,
        /// Lower edge (GL row 0 is the lowest).
        y: f32,
        /// Width.
        width: f32,
        /// Height.
        height: f32,
    }

    /// One scissor rectangle in pixels.
    ScissorBox [16] {
        /// Left edge.
        x: i32,
        /// Lower edge.
        y: i32,
        /// Width.
        width: i32,
        /// Height.
        height: i32,
    }

    /// Blend state of one draw buffer; members are GL enums.
    BlendState [28] {
        /// 1 when blending is enabled for the buffer.
        enabled: u32,
        /// RGB source factor.
        src_rgb: u32,
        /// RGB destination factor.
        dst_rgb: u32,
        /// Alpha source factor.
        src_alpha: u32,
        /// Alpha destination factor.
        dst_alpha: u32,
        /// RGB equation.
        equation_rgb: u32,
        /// Alpha equation.
        equation_alpha: u32,
    }

    /// Stencil state of one face. `reference` and the two masks are dynamic, the rest is pipeline state.
    StencilFace [28] {
        /// Comparison function (GL enum).
        func: u32,
        /// Reference value, clamped by the consumer to the stencil bits.
        reference: i32,
        /// Mask of the comparison.
        value_mask: u32,
        /// Mask of stencil writes.
        write_mask: u32,
        /// Operation when the stencil test fails (GL enum).
        fail_op: u32,
        /// Operation when the depth test fails (GL enum).
        depth_fail_op: u32,
        /// Operation when both pass (GL enum).
        pass_op: u32,
    }

    /// Near and far of one viewport.
    DepthRange [8] {
        /// Depth that the near plane maps to.
        near: f32,
        /// Depth that the far plane maps to.
        far: f32,
    }

    /// The whole fixed-function render state of a context, 1168 bytes.
    ///
    /// Member order is load-bearing: [`CHUNKS`] cuts the block into pipeline and dynamic chunks at member boundaries.
    /// Booleans are 0 or 1; enums are GL enums. The block on both sides of the pipe is the same bytes.
    RenderState [1168] {
        /// Viewports by index.
        viewports: [Viewport; MAX_VIEWPORTS],
        /// Line width in pixels.
        line_width: f32,
        /// Point size in pixels while `program_point_size` is off.
        point_size: f32,
        /// Vertices per patch.
        patch_vertices: i32,
        /// Default outer tessellation levels.
        patch_outer_level: [f32; 4],
        /// Default inner tessellation levels.
        patch_inner_level: [f32; 2],
        /// Polygon offset factor.
        polygon_offset_factor: f32,
        /// Polygon offset units.
        polygon_offset_units: f32,
        /// Polygon offset clamp (0: none).
        polygon_offset_clamp: f32,
        /// `GL_LOWER_LEFT` or `GL_UPPER_LEFT`.
        clip_origin: u32,
        /// `GL_NEGATIVE_ONE_TO_ONE` or `GL_ZERO_TO_ONE`.
        clip_depth_mode: u32,
        /// Blend state by draw buffer.
        blend: [BlendState; MAX_DRAW_BUFFERS],
        /// Logic operation.
        logic_op: u32,
        /// Depth comparison function.
        depth_func: u32,
        /// Colour write masks (r, g, b, a) by draw buffer.
        color_masks: [[u8; 4]; MAX_DRAW_BUFFERS],
        /// Depth test enable.
        depth_test: u8,
        /// Depth write mask.
        depth_mask: u8,
        /// `GL_FRAMEBUFFER_SRGB`.
        framebuffer_srgb: u8,
        /// `GL_DEPTH_CLAMP`.
        depth_clamp: u8,
        /// `GL_TEXTURE_CUBE_MAP_SEAMLESS`.
        texture_cube_map_seamless: u8,
        /// Padding, zero.
        pad_depth: [u8; 3],
        /// Colour clear value.
        clear_color: [f32; 4],
        /// Depth clear value.
        clear_depth: f32,
        /// Stencil clear value.
        clear_stencil: i32,
        /// Blend constant colour.
        blend_color: [f32; 4],
        /// Depth ranges by viewport.
        depth_ranges: [DepthRange; MAX_VIEWPORTS],
        /// Sample coverage value.
        sample_coverage_value: f32,
        /// Sample coverage inversion.
        sample_coverage_invert: u32,
        /// First word of the sample mask.
        sample_mask_value: u32,
        /// Minimum sample shading fraction.
        min_sample_shading: f32,
        /// Stencil state: front, back.
        stencil: [StencilFace; 2],
        /// Face culling enable.
        cull_face: u32,
        /// Culled face.
        cull_face_mode: u32,
        /// Winding of front faces.
        front_face: u32,
        /// Provoking vertex convention.
        provoking_vertex: u32,
        /// Hints: line smooth, polygon smooth, texture compression, fragment derivative.
        hints: [u32; 4],
        /// Point fade threshold size.
        point_fade_threshold: f32,
        /// `GL_LOWER_LEFT` or `GL_UPPER_LEFT`.
        point_sprite_coord_origin: u32,
        /// `GL_CLAMP_READ_COLOR` value.
        clamp_read_color: u32,
        /// Polygon mode of front faces.
        polygon_mode_front: u32,
        /// Polygon mode of back faces.
        polygon_mode_back: u32,
        /// Restart index of `GL_PRIMITIVE_RESTART`.
        primitive_restart_index: u32,
        /// `GL_COLOR_LOGIC_OP`.
        color_logic_op: u8,
        /// `GL_DEBUG_OUTPUT`.
        debug_output: u8,
        /// `GL_DEBUG_OUTPUT_SYNCHRONOUS`.
        debug_output_synchronous: u8,
        /// `GL_DITHER`.
        dither: u8,
        /// `GL_LINE_SMOOTH`.
        line_smooth: u8,
        /// `GL_MULTISAMPLE`.
        multisample: u8,
        /// `GL_POLYGON_OFFSET_FILL`.
        polygon_offset_fill: u8,
        /// `GL_POLYGON_OFFSET_LINE`.
        polygon_offset_line: u8,
        /// `GL_POLYGON_OFFSET_POINT`.
        polygon_offset_point: u8,
        /// `GL_POLYGON_SMOOTH`.
        polygon_smooth: u8,
        /// `GL_PRIMITIVE_RESTART`.
        primitive_restart: u8,
        /// `GL_PRIMITIVE_RESTART_FIXED_INDEX`.
        primitive_restart_fixed_index: u8,
        /// `GL_RASTERIZER_DISCARD`.
        rasterizer_discard: u8,
        /// `GL_SAMPLE_ALPHA_TO_COVERAGE`.
        sample_alpha_to_coverage: u8,
        /// `GL_SAMPLE_ALPHA_TO_ONE`.
        sample_alpha_to_one: u8,
        /// `GL_SAMPLE_COVERAGE`.
        sample_coverage: u8,
        /// `GL_SAMPLE_MASK`.
        sample_mask: u8,
        /// `GL_SAMPLE_SHADING`.
        sample_shading: u8,
        /// `GL_STENCIL_TEST`.
        stencil_test: u8,
        /// `GL_PROGRAM_POINT_SIZE`.
        program_point_size: u8,
        /// Bit i: scissor test of viewport i.
        scissor_test_mask: u32,
        /// Scissor boxes by viewport.
        scissors: [ScissorBox; MAX_VIEWPORTS],
        /// Bit i: scissor box i was written by the application; an unwritten one means the whole framebuffer, since
        /// `glScissor(0,0,0,0)` is legal and rejects everything.
        scissor_written_mask: u32,
        /// Bit i: `GL_CLIP_DISTANCEi`.
        clip_distance_mask: u32,
    }
}

/// Which half of the render state a chunk belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Half {
    /// Part of a pipeline's identity: travels in `create_render_state`.
    Pipeline,
    /// Set dynamically: travels in `set_dynamic_state`.
    Dynamic,
}

/// A byte range of [`RenderState`] that belongs to one half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// First byte.
    pub offset: usize,
    /// Length in bytes.
    pub len: usize,
    /// Half of the state.
    pub half: Half,
}

impl Chunk {
    const fn between(offset: usize, end: usize, half: Half) -> Chunk {
        Chunk { offset, len: end - offset, half }
    }

    /// The byte range.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len
    }
}

const STENCIL: usize = offset_of!(RenderState, stencil);
const FRONT: usize = STENCIL;
const BACK: usize = STENCIL + size_of::<StencilFace>();
const REFERENCE: usize = offset_of!(StencilFace, reference);
const FAIL_OP: usize = offset_of!(StencilFace, fail_op);

/// The chunk table: every boundary comes from `offset_of!`.
///
/// The rule: a byte is pipeline state if and only if some setter that bumps the pipeline version writes it.
pub const CHUNKS: [Chunk; 15] = {
    use Half::{Dynamic, Pipeline};
    [
        Chunk::between(0, offset_of!(RenderState, patch_vertices), Dynamic),
        Chunk::between(
            offset_of!(RenderState, patch_vertices),
            offset_of!(RenderState, polygon_offset_factor),
            Pipeline,
        ),
        Chunk::between(offset_of!(RenderState, polygon_offset_factor), offset_of!(RenderState, blend), Dynamic),
        Chunk::between(offset_of!(RenderState, blend), offset_of!(RenderState, clear_color), Pipeline),
        Chunk::between(offset_of!(RenderState, clear_color), offset_of!(RenderState, sample_coverage_value), Dynamic),
        Chunk::between(offset_of!(RenderState, sample_coverage_value), FRONT + REFERENCE, Pipeline),
        Chunk::between(FRONT + REFERENCE, FRONT + FAIL_OP, Dynamic),
        Chunk::between(FRONT + FAIL_OP, BACK + REFERENCE, Pipeline),
        Chunk::between(BACK + REFERENCE, BACK + FAIL_OP, Dynamic),
        Chunk::between(BACK + FAIL_OP, offset_of!(RenderState, hints), Pipeline),
        Chunk::between(offset_of!(RenderState, hints), offset_of!(RenderState, polygon_mode_front), Dynamic),
        Chunk::between(
            offset_of!(RenderState, polygon_mode_front),
            offset_of!(RenderState, primitive_restart_index),
            Pipeline,
        ),
        Chunk::between(
            offset_of!(RenderState, primitive_restart_index),
            offset_of!(RenderState, color_logic_op),
            Dynamic,
        ),
        Chunk::between(offset_of!(RenderState, color_logic_op), offset_of!(RenderState, scissors), Pipeline),
        Chunk::between(offset_of!(RenderState, scissors), size_of::<RenderState>(), Dynamic),
    ]
};

const fn select(half: Half) -> ([Chunk; CHUNKS.len()], usize, usize) {
    let mut out = [Chunk { offset: 0, len: 0, half: Half::Pipeline }; CHUNKS.len()];
    let (mut n, mut bytes, mut i) = (0, 0, 0);
    while i < CHUNKS.len() {
        if matches!((CHUNKS[i].half, half), (Half::Pipeline, Half::Pipeline) | (Half::Dynamic, Half::Dynamic)) {
            out[n] = CHUNKS[i];
            n += 1;
            bytes += CHUNKS[i].len;
        }
        i += 1;
    }
    (out, n, bytes)
}

const PIPELINE: ([Chunk; CHUNKS.len()], usize, usize) = select(Half::Pipeline);
const DYNAMIC: ([Chunk; CHUNKS.len()], usize, usize) = select(Half::Dynamic);

/// Bytes of the pipeline half.
pub const PIPELINE_BYTES: usize = PIPELINE.2;
/// Bytes of the dynamic half.
pub const DYNAMIC_BYTES: usize = DYNAMIC.2;
/// Chunk mask that names every pipeline chunk.
pub const ALL_PIPELINE_CHUNKS: u32 = (1 << PIPELINE.1) - 1;
/// Chunk mask that names every dynamic chunk.
pub const ALL_DYNAMIC_CHUNKS: u32 = (1 << DYNAMIC.1) - 1;

const _: () = {
    let (mut end, mut i) = (0, 0);
    while i < CHUNKS.len() {
        assert!(CHUNKS[i].offset == end, "chunks are sorted and leave no gap");
        assert!(CHUNKS[i].len > 0);
        end += CHUNKS[i].len;
        i += 1;
    }
    assert!(end == size_of::<RenderState>());
    assert!(PIPELINE.1 == 7 && PIPELINE_BYTES == 396);
    assert!(DYNAMIC.1 == 8 && DYNAMIC_BYTES == 772);
};

/// The chunks of one half in ascending order; bit i of a chunk mask names element i.
pub fn chunks(half: Half) -> &'static [Chunk] {
    const P: &[Chunk] = PIPELINE.0.split_at(PIPELINE.1).0;
    const D: &[Chunk] = DYNAMIC.0.split_at(DYNAMIC.1).0;
    match half {
        Half::Pipeline => P,
        Half::Dynamic => D,
    }
}

/// Bytes that a chunk mask of a half describes; `None` when the mask names a chunk that does not exist.
pub fn masked_len(half: Half, mask: u32) -> Option<usize> {
    let table = chunks(half);
    if mask >> table.len() != 0 {
        return None;
    }
    Some(table.iter().enumerate().filter(|(i, _)| mask >> i & 1 != 0).map(|(_, c)| c.len).sum())
}

impl RenderState {
    /// The state of a new context (spec tables 23.x), for a framebuffer of no size.
    #[allow(clippy::field_reassign_with_default)] // Arrays are filled in loops between the fields.
    pub fn initial() -> RenderState {
        use crate::gl;
        let mut s = RenderState::default();
        s.line_width = 1.0;
        s.point_size = 1.0;
        s.patch_vertices = 3;
        s.patch_outer_level = [1.0; 4];
        s.patch_inner_level = [1.0; 2];
        s.clip_origin = gl::LOWER_LEFT;
        s.clip_depth_mode = gl::NEGATIVE_ONE_TO_ONE;
        for blend in &mut s.blend {
            blend.src_rgb = gl::ONE;
            blend.src_alpha = gl::ONE;
            blend.equation_rgb = gl::FUNC_ADD;
            blend.equation_alpha = gl::FUNC_ADD;
        }
        s.logic_op = gl::COPY;
        s.depth_func = gl::LESS;
        s.color_masks = [[1; 4]; MAX_DRAW_BUFFERS];
        s.depth_mask = 1;
        s.clear_depth = 1.0;
        for range in &mut s.depth_ranges {
            range.far = 1.0;
        }
        s.sample_coverage_value = 1.0;
        s.sample_mask_value = !0;
        for face in &mut s.stencil {
            face.func = gl::ALWAYS;
            face.value_mask = !0;
            face.write_mask = !0;
            face.fail_op = gl::KEEP;
            face.depth_fail_op = gl::KEEP;
            face.pass_op = gl::KEEP;
        }
        s.cull_face_mode = gl::BACK;
        s.front_face = gl::CCW;
        s.provoking_vertex = gl::LAST_VERTEX_CONVENTION;
        s.hints = [gl::DONT_CARE; 4];
        s.point_fade_threshold = 1.0;
        s.point_sprite_coord_origin = gl::UPPER_LEFT;
        s.clamp_read_color = gl::FIXED_ONLY;
        s.polygon_mode_front = gl::FILL;
        s.polygon_mode_back = gl::FILL;
        s.dither = 1;
        s.multisample = 1;
        s
    }

    /// Copies the masked chunks of a half out of the block, in ascending order, into `out` (which is cleared).
    pub fn gather(&self, half: Half, mask: u32, out: &mut Vec<u8>) {
        out.clear();
        let bytes = bytes_of(self);
        for (i, chunk) in chunks(half).iter().enumerate() {
            if mask >> i & 1 != 0 {
                out.extend_from_slice(&bytes[chunk.range()]);
            }
        }
    }

    /// As [`RenderState::scatter`], from the front of `bytes`, which may go on behind the chunks.
    pub fn scatter_front(&mut self, half: Half, mask: u32, bytes: &[u8]) -> bool {
        masked_len(half, mask).and_then(|len| bytes.get(..len)).is_some_and(|bytes| self.scatter(half, mask, bytes))
    }

    /// Copies masked chunk bytes of a half into the block. Returns false, with the block unchanged, when `bytes` is not
    /// exactly as long as the mask describes.
    pub fn scatter(&mut self, half: Half, mask: u32, mut bytes: &[u8]) -> bool {
        if masked_len(half, mask) != Some(bytes.len()) {
            return false;
        }
        let block = bytes_of_mut(self);
        for (i, chunk) in chunks(half).iter().enumerate() {
            if mask >> i & 1 != 0 {
                let (head, rest) = bytes.split_at(chunk.len);
                block[chunk.range()].copy_from_slice(head);
                bytes = rest;
            }
        }
        true
    }

    /// Chunk mask of a half in which the two blocks differ.
    pub fn changed_chunks(&self, other: &RenderState, half: Half) -> u32 {
        let (a, b) = (bytes_of(self), bytes_of(other));
        let mut mask = 0;
        for (i, chunk) in chunks(half).iter().enumerate() {
            if a[chunk.range()] != b[chunk.range()] {
                mask |= 1 << i;
            }
        }
        mask
    }

    /// The packed bytes of the pipeline half: the identity of a render-state object.
    pub fn pipeline_bytes(&self) -> [u8; PIPELINE_BYTES] {
        let mut out = [0; PIPELINE_BYTES];
        let block = bytes_of(self);
        let mut at = 0;
        for chunk in chunks(Half::Pipeline) {
            out[at..at + chunk.len].copy_from_slice(&block[chunk.range()]);
            at += chunk.len;
        }
        out
    }
}

/// Content hash of packed pipeline bytes. Equality of hashes is confirmed by comparing the bytes.
pub fn pipeline_hash(bytes: &[u8; PIPELINE_BYTES]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gather_and_scatter_are_inverse() {
        let mut a = RenderState::initial();
        a.viewports[3].x = 5.0;
        a.blend[2].enabled = 1;
        a.stencil[1].reference = 9;
        let mut b = RenderState::initial();
        let mut bytes = Vec::new();
        for half in [Half::Pipeline, Half::Dynamic] {
            let mask = a.changed_chunks(&b, half);
            assert_ne!(mask, 0);
            a.gather(half, mask, &mut bytes);
            assert!(b.scatter(half, mask, &bytes));
        }
        assert_eq!(a, b);
    }

    #[test]
    fn scatter_refuses_a_length_that_disagrees_with_its_mask() {
        let mut a = RenderState::initial();
        let before = a;
        assert!(!a.scatter(Half::Pipeline, 1, &[0; 27]));
        assert!(!a.scatter(Half::Pipeline, 1 << 7, &[]));
        assert_eq!(a, before);
    }
}
