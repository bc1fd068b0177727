//! The render state: the driver gets what differs from what it has, group by group.

use crate::context::EsprytContext;
use crate::conv::{factor_without_alpha, pixel};
use crate::gles::Gles;
use glow::HasContext;
use mgpipe_types::gl;
use mgpipe_types::render_state::{BlendState, RenderState, MAX_DRAW_BUFFERS};

/// `GL_FRAMEBUFFER_SRGB_EXT`.
const FRAMEBUFFER_SRGB: u32 = 0x8DB9;
/// `GL_MULTISAMPLE_EXT`, `GL_SAMPLE_ALPHA_TO_ONE_EXT` of EXT_multisample_compatibility.
pub(crate) const MULTISAMPLE: u32 = 0x809D;
pub(crate) const SAMPLE_ALPHA_TO_ONE: u32 = 0x809F;
/// `GL_DEPTH_CLAMP_EXT`.
pub(crate) const DEPTH_CLAMP: u32 = 0x864F;
/// `GL_CLIP_DISTANCE0_EXT`.
const CLIP_DISTANCE0: u32 = 0x3000;

/// The state that the driver has, and the parts of it that depend on the framebuffer.
#[derive(Default)]
pub(crate) struct Applied {
    state: Option<RenderState>,
    blend: [BlendState; MAX_DRAW_BUFFERS],
    masks: [[u8; 4]; MAX_DRAW_BUFFERS],
    /// What `blend` and `masks` were made for beside the state: draw buffers whose alpha is one. `None`: internal work changed
    /// what the driver has.
    made_for: Option<u8>,
    scissor: Option<[i32; 4]>,
    scissor_on: Option<bool>,
    srgb: Option<bool>,
    clips: u32,
}

fn toggle(gles: &Gles, what: u32, on: bool) {
    // SAFETY: the context is current; callers name capabilities that it has.
    unsafe {
        if on {
            gles.gl.enable(what);
        } else {
            gles.gl.disable(what);
        }
    }
}

/// The scissor box of viewport 0 in a framebuffer; `None` when the test is off.
pub(crate) fn scissor(state: &RenderState, width: i32, height: i32) -> Option<[i32; 4]> {
    if state.scissor_test_mask & 1 == 0 {
        return None;
    }
    if state.scissor_written_mask & 1 == 0 {
        return Some([0, 0, width, height]);
    }
    let s = state.scissors[0];
    Some([s.x, s.y, s.width.max(0), s.height.max(0)])
}

/// Blending and colour masks as the driver gets them.
fn colors(s: &RenderState, alpha_one: u8) -> ([BlendState; MAX_DRAW_BUFFERS], [[u8; 4]; MAX_DRAW_BUFFERS]) {
    let (mut blend, mut masks) = (s.blend, s.color_masks);
    if s.color_logic_op != 0 {
        // A logic operation takes the place of blending.
        blend.iter_mut().for_each(|b| b.enabled = 0);
    }
    for buffer in (0..MAX_DRAW_BUFFERS).filter(|buffer| alpha_one >> buffer & 1 != 0) {
        masks[buffer][3] = 0;
        let b = &mut blend[buffer];
        for factor in [&mut b.src_rgb, &mut b.dst_rgb, &mut b.src_alpha, &mut b.dst_alpha] {
            *factor = factor_without_alpha(*factor);
        }
    }
    (blend, masks)
}

/// Gives the driver blending and masks where they differ from what it has.
///
/// # Safety
/// The context is current.
unsafe fn apply_blend(
    gles: &Gles,
    first: bool,
    (blend, masks): (&[BlendState; MAX_DRAW_BUFFERS], &[[u8; 4]; MAX_DRAW_BUFFERS]),
    (old_blend, old_masks): (&[BlendState; MAX_DRAW_BUFFERS], &[[u8; 4]; MAX_DRAW_BUFFERS]),
) {
    let (gl, ext) = (&gles.gl, &gles.ext);
    let buffers = if gles.has.draw_buffers_indexed { MAX_DRAW_BUFFERS } else { 1 };
    let same = |list: &[BlendState; MAX_DRAW_BUFFERS]| list.iter().all(|b| *b == list[0]);
    let blend_moved = first || blend != old_blend;
    // SAFETY: the caller's promise; indexed functions are called where the driver has them.
    unsafe {
        if blend_moved && (buffers == 1 || same(blend)) {
            // What all buffers have alike needs one call, and only for what differs.
            let (b, old) = (&blend[0], &old_blend[0]);
            let all = first || (buffers > 1 && !same(old_blend));
            if all || b.enabled != old.enabled {
                toggle(gles, gl::BLEND, b.enabled != 0);
            }
            let factors = |b: &BlendState| [b.src_rgb, b.dst_rgb, b.src_alpha, b.dst_alpha];
            if all || factors(b) != factors(old) {
                gl.blend_func_separate(b.src_rgb, b.dst_rgb, b.src_alpha, b.dst_alpha);
            }
            if all || (b.equation_rgb, b.equation_alpha) != (old.equation_rgb, old.equation_alpha) {
                gl.blend_equation_separate(b.equation_rgb, b.equation_alpha);
            }
        } else if blend_moved {
            for (index, (b, old)) in blend.iter().zip(old_blend).enumerate().take(buffers) {
                if !first && b == old {
                    continue;
                }
                let index = index as u32;
                if b.enabled != 0 {
                    ext.enable_i(gl::BLEND, index);
                } else {
                    ext.disable_i(gl::BLEND, index);
                }
                ext.blend_func_i(index, b.src_rgb, b.dst_rgb, b.src_alpha, b.dst_alpha);
                ext.blend_equation_i(index, b.equation_rgb, b.equation_alpha);
            }
        }
        if first || masks != old_masks {
            if buffers == 1 || masks.iter().all(|m| *m == masks[0]) {
                let [r, g, b, a] = masks[0].map(|on| on != 0);
                gl.color_mask(r, g, b, a);
            } else {
                for (index, m) in masks.iter().enumerate() {
                    ext.color_mask_i(index as u32, m[0], m[1], m[2], m[3]);
                }
            }
        }
    }
}

impl EsprytContext {
    /// Brings the driver's fixed-function state in line with the client's.
    pub(crate) fn apply_state(&mut self) {
        // Alpha of attachments that have none is never written and reads as one.
        let facts = self.framebuffer_facts();
        let gles = &self.device.gles;
        let gl = &gles.gl;
        let (has, ext) = (&gles.has, &gles.ext);
        let s = &self.state;
        let applied = &mut *self.applied;
        let first = applied.state.is_none();
        if first {
            applied.made_for = None;
        }
        let old = applied.state.get_or_insert_with(RenderState::initial);
        if applied.made_for != Some(facts.alpha_one)
            || s.blend != old.blend
            || s.color_masks != old.color_masks
            || s.color_logic_op != old.color_logic_op
        {
            let (blend, masks) = colors(s, facts.alpha_one);
            // SAFETY: the context is current.
            unsafe { apply_blend(gles, first, (&blend, &masks), (&applied.blend, &applied.masks)) };
            (applied.blend, applied.masks) = (blend, masks);
            applied.made_for = Some(facts.alpha_one);
        }
        let size = [i32::from(self.framebuffer.width), i32::from(self.framebuffer.height)];
        let scissor = scissor(s, size[0], size[1]);
        // SAFETY: the context is current; values come from a validated state, and functions beyond OpenGL ES 3.1 are only
        // called where the driver has them.
        unsafe {
            if first || s.viewports[0] != old.viewports[0] {
                let v = s.viewports[0];
                gl.viewport(pixel(v.x), pixel(v.y), pixel(v.width).max(0), pixel(v.height).max(0));
            }
            if first || s.depth_ranges[0] != old.depth_ranges[0] {
                gl.depth_range_f32(s.depth_ranges[0].near, s.depth_ranges[0].far);
            }
            if applied.scissor_on != Some(scissor.is_some()) {
                toggle(gles, gl::SCISSOR_TEST, scissor.is_some());
                applied.scissor_on = Some(scissor.is_some());
            }
            if let Some(b) = scissor.filter(|b| applied.scissor != Some(*b)) {
                gl.scissor(b[0], b[1], b[2], b[3]);
                applied.scissor = Some(b);
            }
            if first || s.line_width != old.line_width {
                gl.line_width(s.line_width);
            }
            let offset = |s: &RenderState| (s.polygon_offset_factor, s.polygon_offset_units, s.polygon_offset_clamp);
            if first || offset(s) != offset(old) {
                if has.polygon_offset_clamp && s.polygon_offset_clamp != 0.0 {
                    ext.polygon_offset_clamp(s.polygon_offset_factor, s.polygon_offset_units, s.polygon_offset_clamp);
                } else {
                    gl.polygon_offset(s.polygon_offset_factor, s.polygon_offset_units);
                }
            }
            if first || s.depth_func != old.depth_func {
                gl.depth_func(s.depth_func);
            }
            if first || s.depth_mask != old.depth_mask {
                gl.depth_mask(s.depth_mask != 0);
            }
            if first || s.blend_color != old.blend_color {
                let [r, g, b, a] = s.blend_color;
                gl.blend_color(r, g, b, a);
            }
            if first || s.stencil != old.stencil {
                for (face, state) in [gl::FRONT, gl::BACK].into_iter().zip(&s.stencil) {
                    gl.stencil_func_separate(face, state.func, state.reference, state.value_mask);
                    gl.stencil_op_separate(face, state.fail_op, state.depth_fail_op, state.pass_op);
                    gl.stencil_mask_separate(face, state.write_mask);
                }
            }
            if first || s.cull_face_mode != old.cull_face_mode {
                gl.cull_face(s.cull_face_mode);
            }
            if first || s.front_face != old.front_face {
                gl.front_face(s.front_face);
            }
            let coverage = |s: &RenderState| (s.sample_coverage_value, s.sample_coverage_invert);
            if first || coverage(s) != coverage(old) {
                gl.sample_coverage(s.sample_coverage_value, s.sample_coverage_invert != 0);
            }
            if first || s.sample_mask_value != old.sample_mask_value {
                ext.sample_mask(0, s.sample_mask_value);
            }
            if has.sample_shading && (first || s.min_sample_shading != old.min_sample_shading) {
                ext.min_sample_shading(s.min_sample_shading);
            }
            if has.polygon_mode && (first || s.polygon_mode_front != old.polygon_mode_front) {
                ext.polygon_mode(gl::FRONT_AND_BACK, s.polygon_mode_front);
            }
        }
        let flag = |what: u32, now: bool, before: bool| {
            if first || now != before {
                toggle(gles, what, now);
            }
        };
        flag(gl::DEPTH_TEST, s.depth_test != 0, old.depth_test != 0);
        flag(gl::STENCIL_TEST, s.stencil_test != 0, old.stencil_test != 0);
        flag(gl::CULL_FACE, s.cull_face != 0, old.cull_face != 0);
        flag(gl::DITHER, s.dither != 0, old.dither != 0);
        flag(gl::POLYGON_OFFSET_FILL, s.polygon_offset_fill != 0, old.polygon_offset_fill != 0);
        flag(gl::RASTERIZER_DISCARD, s.rasterizer_discard != 0, old.rasterizer_discard != 0);
        flag(gl::SAMPLE_ALPHA_TO_COVERAGE, s.sample_alpha_to_coverage != 0, old.sample_alpha_to_coverage != 0);
        flag(gl::SAMPLE_COVERAGE, s.sample_coverage != 0, old.sample_coverage != 0);
        flag(gl::SAMPLE_MASK, s.sample_mask != 0, old.sample_mask != 0);
        if has.sample_shading {
            flag(gl::SAMPLE_SHADING, s.sample_shading != 0, old.sample_shading != 0);
        }
        if has.depth_clamp {
            flag(DEPTH_CLAMP, s.depth_clamp != 0, old.depth_clamp != 0);
        }
        if has.multisample_control {
            flag(MULTISAMPLE, s.multisample != 0, old.multisample != 0);
            flag(SAMPLE_ALPHA_TO_ONE, s.sample_alpha_to_one != 0, old.sample_alpha_to_one != 0);
        }
        let no_logic_op = s.color_logic_op != 0
            && s.logic_op != gl::COPY
            && !(has.framebuffer_fetch && crate::logic_op::is_lowered(&facts));
        if has.clip_distance {
            // Planes that the program does not write have undefined distances.
            let written = self.program.as_ref().map_or(0, |b| b.program.reflection.pre_raster.clip_distances);
            let clips = s.clip_distance_mask & ((1u32 << written.min(8)) - 1);
            let changed = clips ^ applied.clips;
            for plane in (0..8).filter(|plane| changed >> plane & 1 != 0) {
                toggle(gles, CLIP_DISTANCE0 + plane, clips >> plane & 1 != 0);
            }
            applied.clips = clips;
        }
        *old = *s;
        self.set_srgb(self.state.framebuffer_srgb != 0);
        if no_logic_op {
            self.warn_once(
                1,
                "no logic operation without framebuffer fetch or on such a format; colours are written as they are",
            );
        }
    }

    /// Encodes to sRGB on writes to sRGB attachments, or not.
    pub(crate) fn set_srgb(&mut self, on: bool) {
        if self.gles().has.srgb_control && self.applied.srgb != Some(on) {
            toggle(self.gles(), FRAMEBUFFER_SRGB, on);
            self.applied.srgb = Some(on);
        }
    }

    /// Sets the scissor of a blit or an internal clear; `None` switches the test off.
    pub(crate) fn set_scissor(&mut self, area: Option<[i32; 4]>) {
        if self.applied.scissor_on != Some(area.is_some()) {
            toggle(self.gles(), gl::SCISSOR_TEST, area.is_some());
            self.applied.scissor_on = Some(area.is_some());
        }
        if let Some(b) = area.filter(|b| self.applied.scissor != Some(*b)) {
            // SAFETY: the context is current; sizes are not negative.
            unsafe { self.gles().gl.scissor(b[0], b[1], b[2].max(0), b[3].max(0)) };
            self.applied.scissor = Some(b);
        }
        self.dirty |= crate::context::dirty::STATE;
    }

    /// Sets all colour masks alike for an internal clear.
    pub(crate) fn set_masks(&mut self, mask: [bool; 4]) {
        // SAFETY: the context is current.
        unsafe { self.gles().gl.color_mask(mask[0], mask[1], mask[2], mask[3]) };
        self.applied.masks = [mask.map(u8::from); MAX_DRAW_BUFFERS];
        self.applied.made_for = None;
        self.dirty |= crate::context::dirty::STATE;
    }

    /// Lets writes of alpha through, or no more, for a draw buffer whose alpha is one.
    pub(crate) fn open_alpha(&mut self, buffer: u32, open: bool) {
        let m = self.applied.masks[buffer as usize & 7];
        let gles = self.gles();
        // SAFETY: the context is current; the indexed form is called where the driver has it.
        unsafe {
            if gles.has.draw_buffers_indexed {
                gles.ext.color_mask_i(buffer, m[0], m[1], m[2], u8::from(open));
            } else {
                // One mask for all buffers.
                let m = self.applied.masks[0].map(|on| on != 0);
                gles.gl.color_mask(m[0], m[1], m[2], open || m[3]);
            }
        }
    }

    /// Switches the discarding of primitives off for internal work, until the state is applied again.
    pub(crate) fn allow_raster(&mut self) {
        if let Some(state) = self.applied.state.as_mut().filter(|state| state.rasterizer_discard != 0) {
            state.rasterizer_discard = 0;
            toggle(self.gles(), gl::RASTERIZER_DISCARD, false);
            self.dirty |= crate::context::dirty::STATE;
        }
    }

    /// Switches all clip planes off for internal work.
    pub(crate) fn disable_clips(&mut self) {
        let on = std::mem::take(&mut self.applied.clips);
        for plane in (0..8).filter(|plane| on >> plane & 1 != 0) {
            toggle(self.gles(), CLIP_DISTANCE0 + plane, false);
        }
    }

    /// The driver's state is not known any more: the next draw sets all of it.
    pub(crate) fn forget_state(&mut self) {
        self.applied.state = None;
        self.dirty |= crate::context::dirty::STATE;
    }

    /// First work of the context on a thread: what never changes.
    #[cold]
    pub(crate) fn start(&mut self) {
        if self.applied.state.is_some() || self.applied.srgb.is_some() {
            return;
        }
        let shared = self.shared.clone();
        shared.device.gles.listen();
        let gl = &shared.device.gles.gl;
        // SAFETY: the context is current for the first time.
        unsafe {
            if let Ok(array) = gl.create_vertex_array() {
                gl.bind_vertex_array(Some(array));
                self.vertex_array = array.0.get();
            }
            gl.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
            gl.pixel_store_i32(gl::PACK_ALIGNMENT, 1);
        }
        self.set_srgb(false);
        if !self.gles().has.srgb_control {
            self.applied.srgb = Some(true);
        }
    }
}
