//! The setters: one row a state.
//!
//! All setters are rows of one list, which also generates the table that the setter-consistency test walks. A setter
//! reaches the block only through `write`, which finds the versions to move from the chunk table.

use super::{Face, Hint, RenderStateTracker};
use mgpipe_types::render_state::{BlendState, DepthRange, StencilFace, Viewport, MAX_DRAW_BUFFERS, MAX_VIEWPORTS};
use mgpipe_types::{RenderState, ScissorBox};
use std::mem::{offset_of, size_of};

macro_rules! setters {
    ($($(#[$doc:meta])* fn $name:ident(&mut $self:ident $(, $arg:ident : $ty:ty)*) $body:block)*) => {
        impl RenderStateTracker {
            $($(#[$doc])* #[inline] pub fn $name(&mut $self $(, $arg: $ty)*) $body)*
        }

        /// Every setter, in order of declaration.
        #[cfg(any(test, feature = "proptest"))]
        pub const SETTERS: &[Setter] = &[$(Setter {
            name: stringify!($name),
            call: |state, _source| state.$name($(<$ty as super::argument::Argument>::take(_source)),*),
        }),*];
    };
}

/// A setter, callable with arguments that are made of words.
#[cfg(any(test, feature = "proptest"))]
#[derive(Clone, Copy)]
pub struct Setter {
    /// Name of the method.
    pub name: &'static str,
    call: fn(&mut RenderStateTracker, &mut super::ArgumentSource<'_>),
}

#[cfg(any(test, feature = "proptest"))]
impl Setter {
    /// Calls the setter with the next arguments of `source`.
    pub fn call(&self, state: &mut RenderStateTracker, source: &mut super::ArgumentSource<'_>) {
        (self.call)(state, source);
    }
}

#[cfg(any(test, feature = "proptest"))]
impl std::fmt::Debug for Setter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Offset of a member of the block.
macro_rules! at {
    ($($member:tt)+) => { const { offset_of!(RenderState, $($member)+) } };
}

const fn blend(buffer: usize) -> usize {
    offset_of!(RenderState, blend) + buffer * size_of::<BlendState>()
}

const BLEND_FACTORS: usize = offset_of!(BlendState, src_rgb);
const BLEND_EQUATIONS: usize = offset_of!(BlendState, equation_rgb);
const _: () = assert!(offset_of!(BlendState, dst_alpha) == BLEND_FACTORS + 12);
const _: () = assert!(offset_of!(BlendState, equation_alpha) == BLEND_EQUATIONS + 4);

const STENCIL_FRONT: usize = offset_of!(RenderState, stencil);
const STENCIL_BACK: usize = STENCIL_FRONT + size_of::<StencilFace>();

impl RenderStateTracker {
    #[inline(always)]
    fn write_faces<T: bytemuck::Pod>(&mut self, face: Face, member: usize, value: T) {
        if face.front() {
            self.write(STENCIL_FRONT + member, &value);
        }
        if face.back() {
            self.write(STENCIL_BACK + member, &value);
        }
    }

    /// Writes bit `index` of a mask at `offset`, whose value now is `mask`.
    #[inline(always)]
    fn write_bit(&mut self, offset: usize, mask: u32, index: usize, on: bool) {
        let bit = 1 << index;
        self.write(offset, &if on { mask | bit } else { mask & !bit });
    }
}

setters! {
    /// Sets viewport `index` (`glViewportIndexedf`).
    fn set_viewport(&mut self, index: usize, viewport: Viewport) {
        if index < MAX_VIEWPORTS {
            self.write(at!(viewports) + index * size_of::<Viewport>(), &viewport);
        }
    }

    /// Sets every viewport (`glViewport`).
    fn set_viewports(&mut self, viewport: Viewport) {
        self.write_repeated::<4, MAX_VIEWPORTS>(at!(viewports), size_of::<Viewport>(), &bytemuck::cast(viewport));
    }

    /// Sets the line width in pixels.
    fn set_line_width(&mut self, width: f32) {
        self.write(at!(line_width), &width);
    }

    /// Sets the point size in pixels.
    fn set_point_size(&mut self, size: f32) {
        self.write(at!(point_size), &size);
    }

    /// Sets the vertices of a patch.
    fn set_patch_vertices(&mut self, vertices: i32) {
        self.write(at!(patch_vertices), &vertices);
    }

    /// Sets the default outer tessellation levels.
    fn set_patch_outer_level(&mut self, levels: [f32; 4]) {
        self.write(at!(patch_outer_level), &levels);
    }

    /// Sets the default inner tessellation levels.
    fn set_patch_inner_level(&mut self, levels: [f32; 2]) {
        self.write(at!(patch_inner_level), &levels);
    }

    /// Sets the polygon offset (`glPolygonOffsetClamp`; `glPolygonOffset` has clamp 0).
    fn set_polygon_offset(&mut self, factor: f32, units: f32, clamp: f32) {
        self.write(at!(polygon_offset_factor), &factor);
        self.write(at!(polygon_offset_units), &units);
        self.write(at!(polygon_offset_clamp), &clamp);
    }

    /// Sets the clip origin and depth mode (`glClipControl`).
    fn set_clip_control(&mut self, origin: u32, depth_mode: u32) {
        self.write(at!(clip_origin), &origin);
        self.write(at!(clip_depth_mode), &depth_mode);
    }

    /// Switches blending of one draw buffer.
    fn set_blend_enabled(&mut self, buffer: usize, on: bool) {
        if buffer < MAX_DRAW_BUFFERS {
            self.write(blend(buffer) + offset_of!(BlendState, enabled), &u32::from(on));
        }
    }

    /// Switches blending of every draw buffer.
    fn set_blend_enabled_all(&mut self, on: bool) {
        self.write_repeated::<1, MAX_DRAW_BUFFERS>(
            const { blend(0) + offset_of!(BlendState, enabled) },
            size_of::<BlendState>(),
            &[u32::from(on)],
        );
    }

    /// Sets the blend factors of one draw buffer.
    fn set_blend_func(&mut self, buffer: usize, src_rgb: u32, dst_rgb: u32, src_alpha: u32, dst_alpha: u32) {
        if buffer < MAX_DRAW_BUFFERS {
            self.write(blend(buffer) + BLEND_FACTORS, &[src_rgb, dst_rgb, src_alpha, dst_alpha]);
        }
    }

    /// Sets the blend factors of every draw buffer.
    fn set_blend_func_all(&mut self, src_rgb: u32, dst_rgb: u32, src_alpha: u32, dst_alpha: u32) {
        let factors = [src_rgb, dst_rgb, src_alpha, dst_alpha];
        self.write_repeated::<4, MAX_DRAW_BUFFERS>(const { blend(0) + BLEND_FACTORS }, size_of::<BlendState>(), &factors);
    }

    /// Sets the blend equations of one draw buffer.
    fn set_blend_equation(&mut self, buffer: usize, rgb: u32, alpha: u32) {
        if buffer < MAX_DRAW_BUFFERS {
            self.write(blend(buffer) + BLEND_EQUATIONS, &[rgb, alpha]);
        }
    }

    /// Sets the blend equations of every draw buffer.
    fn set_blend_equation_all(&mut self, rgb: u32, alpha: u32) {
        self.write_repeated::<2, MAX_DRAW_BUFFERS>(
            const { blend(0) + BLEND_EQUATIONS },
            size_of::<BlendState>(),
            &[rgb, alpha],
        );
    }

    /// Sets the logic operation.
    fn set_logic_op(&mut self, op: u32) {
        self.write(at!(logic_op), &op);
    }

    /// Sets the depth comparison.
    fn set_depth_func(&mut self, func: u32) {
        self.write(at!(depth_func), &func);
    }

    /// Sets the colour write mask (r, g, b, a) of one draw buffer.
    fn set_color_mask(&mut self, buffer: usize, mask: [bool; 4]) {
        if buffer < MAX_DRAW_BUFFERS {
            self.write(at!(color_masks) + buffer * 4, &mask.map(u8::from));
        }
    }

    /// Sets the colour write mask of every draw buffer.
    fn set_color_mask_all(&mut self, mask: [bool; 4]) {
        self.write(at!(color_masks), &[mask.map(u8::from); MAX_DRAW_BUFFERS]);
    }

    /// Switches the depth test.
    fn set_depth_test(&mut self, on: bool) {
        self.write(at!(depth_test), &u8::from(on));
    }

    /// Switches depth writes.
    fn set_depth_mask(&mut self, on: bool) {
        self.write(at!(depth_mask), &u8::from(on));
    }

    /// Switches `GL_FRAMEBUFFER_SRGB`.
    fn set_framebuffer_srgb(&mut self, on: bool) {
        self.write(at!(framebuffer_srgb), &u8::from(on));
    }

    /// Switches `GL_DEPTH_CLAMP`.
    fn set_depth_clamp(&mut self, on: bool) {
        self.write(at!(depth_clamp), &u8::from(on));
    }

    /// Switches `GL_TEXTURE_CUBE_MAP_SEAMLESS`.
    fn set_texture_cube_map_seamless(&mut self, on: bool) {
        self.write(at!(texture_cube_map_seamless), &u8::from(on));
    }

    /// Sets the colour clear value.
    fn set_clear_color(&mut self, color: [f32; 4]) {
        self.write(at!(clear_color), &color);
    }

    /// Sets the depth clear value.
    fn set_clear_depth(&mut self, depth: f32) {
        self.write(at!(clear_depth), &depth);
    }

    /// Sets the stencil clear value.
    fn set_clear_stencil(&mut self, stencil: i32) {
        self.write(at!(clear_stencil), &stencil);
    }

    /// Sets the blend constant colour.
    fn set_blend_color(&mut self, color: [f32; 4]) {
        self.write(at!(blend_color), &color);
    }

    /// Sets the depth range of viewport `index`.
    fn set_depth_range(&mut self, index: usize, near: f32, far: f32) {
        if index < MAX_VIEWPORTS {
            self.write(at!(depth_ranges) + index * size_of::<DepthRange>(), &DepthRange { near, far });
        }
    }

    /// Sets every depth range.
    fn set_depth_ranges(&mut self, near: f32, far: f32) {
        let range = bytemuck::cast(DepthRange { near, far });
        self.write_repeated::<2, MAX_VIEWPORTS>(at!(depth_ranges), size_of::<DepthRange>(), &range);
    }

    /// Sets sample coverage.
    fn set_sample_coverage_value(&mut self, value: f32, invert: bool) {
        self.write(at!(sample_coverage_value), &value);
        self.write(at!(sample_coverage_invert), &u32::from(invert));
    }

    /// Sets the first word of the sample mask.
    fn set_sample_mask_value(&mut self, mask: u32) {
        self.write(at!(sample_mask_value), &mask);
    }

    /// Sets the minimum fraction of samples that are shaded.
    fn set_min_sample_shading(&mut self, fraction: f32) {
        self.write(at!(min_sample_shading), &fraction);
    }

    /// Sets the stencil comparison (`glStencilFuncSeparate`).
    fn set_stencil_func(&mut self, face: Face, func: u32, reference: i32, mask: u32) {
        self.write_faces(face, offset_of!(StencilFace, func), func);
        self.write_faces(face, offset_of!(StencilFace, reference), reference);
        self.write_faces(face, offset_of!(StencilFace, value_mask), mask);
    }

    /// Sets the mask of stencil writes.
    fn set_stencil_write_mask(&mut self, face: Face, mask: u32) {
        self.write_faces(face, offset_of!(StencilFace, write_mask), mask);
    }

    /// Sets the stencil operations.
    fn set_stencil_op(&mut self, face: Face, fail: u32, depth_fail: u32, pass: u32) {
        self.write_faces(face, offset_of!(StencilFace, fail_op), fail);
        self.write_faces(face, offset_of!(StencilFace, depth_fail_op), depth_fail);
        self.write_faces(face, offset_of!(StencilFace, pass_op), pass);
    }

    /// Switches face culling.
    fn set_cull_face(&mut self, on: bool) {
        self.write(at!(cull_face), &u32::from(on));
    }

    /// Sets the culled face.
    fn set_cull_face_mode(&mut self, mode: u32) {
        self.write(at!(cull_face_mode), &mode);
    }

    /// Sets the winding of front faces.
    fn set_front_face(&mut self, winding: u32) {
        self.write(at!(front_face), &winding);
    }

    /// Sets the provoking vertex convention.
    fn set_provoking_vertex(&mut self, convention: u32) {
        self.write(at!(provoking_vertex), &convention);
    }

    /// Sets a hint.
    fn set_hint(&mut self, hint: Hint, mode: u32) {
        self.write(at!(hints) + hint as usize * 4, &mode);
    }

    /// Sets the point fade threshold size.
    fn set_point_fade_threshold(&mut self, threshold: f32) {
        self.write(at!(point_fade_threshold), &threshold);
    }

    /// Sets the point sprite coordinate origin.
    fn set_point_sprite_coord_origin(&mut self, origin: u32) {
        self.write(at!(point_sprite_coord_origin), &origin);
    }

    /// Sets `GL_CLAMP_READ_COLOR`.
    fn set_clamp_read_color(&mut self, clamp: u32) {
        self.write(at!(clamp_read_color), &clamp);
    }

    /// Sets the polygon mode.
    fn set_polygon_mode(&mut self, face: Face, mode: u32) {
        if face.front() {
            self.write(at!(polygon_mode_front), &mode);
        }
        if face.back() {
            self.write(at!(polygon_mode_back), &mode);
        }
    }

    /// Sets the restart index.
    fn set_primitive_restart_index(&mut self, index: u32) {
        self.write(at!(primitive_restart_index), &index);
    }

    /// Switches `GL_COLOR_LOGIC_OP`.
    fn set_color_logic_op(&mut self, on: bool) {
        self.write(at!(color_logic_op), &u8::from(on));
    }

    /// Switches `GL_DEBUG_OUTPUT`.
    fn set_debug_output(&mut self, on: bool) {
        self.write(at!(debug_output), &u8::from(on));
    }

    /// Switches `GL_DEBUG_OUTPUT_SYNCHRONOUS`.
    fn set_debug_output_synchronous(&mut self, on: bool) {
        self.write(at!(debug_output_synchronous), &u8::from(on));
    }

    /// Switches `GL_DITHER`.
    fn set_dither(&mut self, on: bool) {
        self.write(at!(dither), &u8::from(on));
    }

    /// Switches `GL_LINE_SMOOTH`.
    fn set_line_smooth(&mut self, on: bool) {
        self.write(at!(line_smooth), &u8::from(on));
    }

    /// Switches `GL_MULTISAMPLE`.
    fn set_multisample(&mut self, on: bool) {
        self.write(at!(multisample), &u8::from(on));
    }

    /// Switches `GL_POLYGON_OFFSET_FILL`.
    fn set_polygon_offset_fill(&mut self, on: bool) {
        self.write(at!(polygon_offset_fill), &u8::from(on));
    }

    /// Switches `GL_POLYGON_OFFSET_LINE`.
    fn set_polygon_offset_line(&mut self, on: bool) {
        self.write(at!(polygon_offset_line), &u8::from(on));
    }

    /// Switches `GL_POLYGON_OFFSET_POINT`.
    fn set_polygon_offset_point(&mut self, on: bool) {
        self.write(at!(polygon_offset_point), &u8::from(on));
    }

    /// Switches `GL_POLYGON_SMOOTH`.
    fn set_polygon_smooth(&mut self, on: bool) {
        self.write(at!(polygon_smooth), &u8::from(on));
    }

    /// Switches `GL_PRIMITIVE_RESTART`.
    fn set_primitive_restart(&mut self, on: bool) {
        self.write(at!(primitive_restart), &u8::from(on));
    }

    /// Switches `GL_PRIMITIVE_RESTART_FIXED_INDEX`.
    fn set_primitive_restart_fixed_index(&mut self, on: bool) {
        self.write(at!(primitive_restart_fixed_index), &u8::from(on));
    }

    /// Switches `GL_RASTERIZER_DISCARD`.
    fn set_rasterizer_discard(&mut self, on: bool) {
        self.write(at!(rasterizer_discard), &u8::from(on));
    }

    /// Switches `GL_SAMPLE_ALPHA_TO_COVERAGE`.
    fn set_sample_alpha_to_coverage(&mut self, on: bool) {
        self.write(at!(sample_alpha_to_coverage), &u8::from(on));
    }

    /// Switches `GL_SAMPLE_ALPHA_TO_ONE`.
    fn set_sample_alpha_to_one(&mut self, on: bool) {
        self.write(at!(sample_alpha_to_one), &u8::from(on));
    }

    /// Switches `GL_SAMPLE_COVERAGE`.
    fn set_sample_coverage(&mut self, on: bool) {
        self.write(at!(sample_coverage), &u8::from(on));
    }

    /// Switches `GL_SAMPLE_MASK`.
    fn set_sample_mask(&mut self, on: bool) {
        self.write(at!(sample_mask), &u8::from(on));
    }

    /// Switches `GL_SAMPLE_SHADING`.
    fn set_sample_shading(&mut self, on: bool) {
        self.write(at!(sample_shading), &u8::from(on));
    }

    /// Switches the stencil test.
    fn set_stencil_test(&mut self, on: bool) {
        self.write(at!(stencil_test), &u8::from(on));
    }

    /// Switches `GL_PROGRAM_POINT_SIZE`.
    fn set_program_point_size(&mut self, on: bool) {
        self.write(at!(program_point_size), &u8::from(on));
    }

    /// Switches the scissor test of viewport `index`.
    fn set_scissor_test(&mut self, index: usize, on: bool) {
        if index < MAX_VIEWPORTS {
            let mask = self.state().scissor_test_mask;
            self.write_bit(at!(scissor_test_mask), mask, index, on);
        }
    }

    /// Switches the scissor test of every viewport.
    fn set_scissor_test_all(&mut self, on: bool) {
        self.write(at!(scissor_test_mask), &if on { (1u32 << MAX_VIEWPORTS) - 1 } else { 0 });
    }

    /// Sets scissor box `index` (`glScissorIndexed`).
    fn set_scissor(&mut self, index: usize, scissor: ScissorBox) {
        if index < MAX_VIEWPORTS {
            self.write(at!(scissors) + index * size_of::<ScissorBox>(), &scissor);
            let written = self.state().scissor_written_mask;
            self.write_bit(at!(scissor_written_mask), written, index, true);
        }
    }

    /// Sets every scissor box (`glScissor`).
    fn set_scissors(&mut self, scissor: ScissorBox) {
        self.write_repeated::<4, MAX_VIEWPORTS>(at!(scissors), size_of::<ScissorBox>(), &bytemuck::cast(scissor));
        self.write(at!(scissor_written_mask), &((1u32 << MAX_VIEWPORTS) - 1));
    }

    /// Switches `GL_CLIP_DISTANCE`*index* (0 to 31).
    fn set_clip_distance(&mut self, index: usize, on: bool) {
        if index < 32 {
            let mask = self.state().clip_distance_mask;
            self.write_bit(at!(clip_distance_mask), mask, index, on);
        }
    }
}
