//! Blending, depth, stencil, masks and the logic operation.

use mgpipe_types::gl;

use super::raster::face as face_of;
use crate::context::Context;
use crate::error::{invalid_enum, invalid_value, GlResult};

fn is_comparison(func: u32) -> bool {
    (gl::NEVER..=gl::ALWAYS).contains(&func)
}

fn is_equation(mode: u32) -> bool {
    matches!(mode, gl::FUNC_ADD | gl::FUNC_SUBTRACT | gl::FUNC_REVERSE_SUBTRACT | gl::MIN | gl::MAX)
}

fn is_factor(factor: u32) -> bool {
    matches!(
        factor,
        gl::ZERO
            | gl::ONE
            | gl::SRC_COLOR
            | gl::ONE_MINUS_SRC_COLOR
            | gl::DST_COLOR
            | gl::ONE_MINUS_DST_COLOR
            | gl::SRC_ALPHA
            | gl::ONE_MINUS_SRC_ALPHA
            | gl::DST_ALPHA
            | gl::ONE_MINUS_DST_ALPHA
            | gl::CONSTANT_COLOR
            | gl::ONE_MINUS_CONSTANT_COLOR
            | gl::CONSTANT_ALPHA
            | gl::ONE_MINUS_CONSTANT_ALPHA
            | gl::SRC_ALPHA_SATURATE
            | gl::SRC1_COLOR
            | gl::ONE_MINUS_SRC1_COLOR
            | gl::SRC1_ALPHA
            | gl::ONE_MINUS_SRC1_ALPHA
    )
}

fn is_stencil_op(op: u32) -> bool {
    matches!(op, gl::KEEP | gl::ZERO | gl::REPLACE | gl::INCR | gl::DECR | gl::INVERT | gl::INCR_WRAP | gl::DECR_WRAP)
}

/// Refuses an enum that a predicate does not know.
fn check(known: bool, command: &'static str, what: &'static str) -> GlResult {
    if known {
        Ok(())
    } else {
        Err(invalid_enum(format!("{command}: {what}")))
    }
}

impl Context {
    /// `glBlendFunc`.
    pub fn blend_func(&mut self, sfactor: u32, dfactor: u32) {
        self.blend_func_separate(sfactor, dfactor, sfactor, dfactor);
    }

    /// `glBlendFuncSeparate`.
    pub fn blend_func_separate(&mut self, src_rgb: u32, dst_rgb: u32, src_alpha: u32, dst_alpha: u32) {
        self.gl(|ctx| {
            for factor in [src_rgb, dst_rgb, src_alpha, dst_alpha] {
                check(is_factor(factor), "glBlendFunc", "factor")?;
            }
            ctx.state.render.set_blend_func_all(src_rgb, dst_rgb, src_alpha, dst_alpha);
            Ok(())
        });
    }

    /// `glBlendEquation`.
    pub fn blend_equation(&mut self, mode: u32) {
        self.blend_equation_separate(mode, mode);
    }

    /// `glBlendEquationSeparate`.
    pub fn blend_equation_separate(&mut self, mode_rgb: u32, mode_alpha: u32) {
        self.gl(|ctx| {
            check(is_equation(mode_rgb) && is_equation(mode_alpha), "glBlendEquation", "mode")?;
            ctx.state.render.set_blend_equation_all(mode_rgb, mode_alpha);
            Ok(())
        });
    }

    /// `glBlendColor`.
    pub fn blend_color(&mut self, red: f32, green: f32, blue: f32, alpha: f32) {
        self.gl(|ctx| {
            ctx.state.render.set_blend_color([red, green, blue, alpha]);
            Ok(())
        });
    }

    /// `glLogicOp`.
    pub fn logic_op(&mut self, opcode: u32) {
        self.gl(|ctx| {
            check((gl::CLEAR..=gl::SET).contains(&opcode), "glLogicOp", "opcode")?;
            ctx.state.render.set_logic_op(opcode);
            Ok(())
        });
    }

    /// `glColorMask`.
    pub fn color_mask(&mut self, red: bool, green: bool, blue: bool, alpha: bool) {
        self.gl(|ctx| {
            ctx.state.render.set_color_mask_all([red, green, blue, alpha]);
            Ok(())
        });
    }

    /// `glColorMaski`.
    pub fn color_maski(&mut self, index: u32, r: bool, g: bool, b: bool, a: bool) {
        self.gl(|ctx| {
            if index >= ctx.state.share.limits.draw_buffers {
                return Err(invalid_value("glColorMaski: index"));
            }
            ctx.state.render.set_color_mask(index as usize, [r, g, b, a]);
            Ok(())
        });
    }

    /// `glDepthMask`.
    pub fn depth_mask(&mut self, flag: bool) {
        self.gl(|ctx| {
            ctx.state.render.set_depth_mask(flag);
            Ok(())
        });
    }

    /// `glDepthFunc`.
    pub fn depth_func(&mut self, func: u32) {
        self.gl(|ctx| {
            check(is_comparison(func), "glDepthFunc", "func")?;
            ctx.state.render.set_depth_func(func);
            Ok(())
        });
    }

    /// `glStencilFunc`.
    pub fn stencil_func(&mut self, func: u32, ref_: i32, mask: u32) {
        self.stencil_func_separate(gl::FRONT_AND_BACK, func, ref_, mask);
    }

    /// `glStencilFuncSeparate`.
    pub fn stencil_func_separate(&mut self, face: u32, func: u32, ref_: i32, mask: u32) {
        self.gl(|ctx| {
            let face = face_of(face, "glStencilFunc")?;
            check(is_comparison(func), "glStencilFunc", "func")?;
            ctx.state.render.set_stencil_func(face, func, ref_, mask);
            Ok(())
        });
    }

    /// `glStencilMask`.
    pub fn stencil_mask(&mut self, mask: u32) {
        self.stencil_mask_separate(gl::FRONT_AND_BACK, mask);
    }

    /// `glStencilMaskSeparate`.
    pub fn stencil_mask_separate(&mut self, face: u32, mask: u32) {
        self.gl(|ctx| {
            let face = face_of(face, "glStencilMaskSeparate")?;
            ctx.state.render.set_stencil_write_mask(face, mask);
            Ok(())
        });
    }

    /// `glStencilOp`.
    pub fn stencil_op(&mut self, fail: u32, zfail: u32, zpass: u32) {
        self.stencil_op_separate(gl::FRONT_AND_BACK, fail, zfail, zpass);
    }

    /// `glStencilOpSeparate`.
    pub fn stencil_op_separate(&mut self, face: u32, sfail: u32, dpfail: u32, dppass: u32) {
        self.gl(|ctx| {
            let face = face_of(face, "glStencilOp")?;
            let known = [sfail, dpfail, dppass].into_iter().all(is_stencil_op);
            check(known, "glStencilOp", "operation")?;
            ctx.state.render.set_stencil_op(face, sfail, dpfail, dppass);
            Ok(())
        });
    }
}
