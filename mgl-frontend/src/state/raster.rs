//! Viewport, scissor, rasterisation and clear values.

use mgpipe_tracker::{Face, Hint};
use mgpipe_types::render_state::Viewport;
use mgpipe_types::{gl, ScissorBox};

use crate::boundary::Params;
use crate::context::{Context, ContextState};
use crate::error::{invalid_enum, invalid_value};

/// A face enum, or `GL_INVALID_ENUM`.
pub(super) fn face(face: u32, command: &'static str) -> Result<Face, crate::error::GlError> {
    Face::from_gl(face).ok_or_else(|| invalid_enum(format!("{command}: face")))
}

impl ContextState {
    /// Viewport and scissor box of a context whose first drawable has this size.
    #[allow(dead_code)]
    pub(crate) fn set_initial_window_size(&mut self, [width, height]: [i32; 2]) {
        self.render.set_viewports(Viewport { x: 0.0, y: 0.0, width: width as f32, height: height as f32 });
        self.render.set_scissors(ScissorBox { x: 0, y: 0, width, height });
    }
}

impl Context {
    /// `glViewport`.
    pub fn viewport(&mut self, x: i32, y: i32, width: i32, height: i32) {
        self.gl(|ctx| {
            if width < 0 || height < 0 {
                return Err(invalid_value("glViewport: negative size"));
            }
            let most = ctx.state.share.limits.viewport_dims;
            ctx.state.render.set_viewports(Viewport {
                x: x as f32,
                y: y as f32,
                width: (width as u32).min(most[0]) as f32,
                height: (height as u32).min(most[1]) as f32,
            });
            Ok(())
        });
    }

    /// `glDepthRange`.
    pub fn depth_range(&mut self, n: f64, f: f64) {
        self.gl(|ctx| {
            ctx.state.render.set_depth_ranges(unit(n), unit(f));
            Ok(())
        });
    }

    /// `glScissor`.
    pub fn scissor(&mut self, x: i32, y: i32, width: i32, height: i32) {
        self.gl(|ctx| {
            if width < 0 || height < 0 {
                return Err(invalid_value("glScissor: negative size"));
            }
            ctx.state.render.set_scissors(ScissorBox { x, y, width, height });
            Ok(())
        });
    }

    /// `glCullFace`.
    pub fn cull_face(&mut self, mode: u32) {
        self.gl(|ctx| {
            face(mode, "glCullFace")?;
            ctx.state.render.set_cull_face_mode(mode);
            Ok(())
        });
    }

    /// `glFrontFace`.
    pub fn front_face(&mut self, mode: u32) {
        self.gl(|ctx| {
            if !matches!(mode, gl::CW | gl::CCW) {
                return Err(invalid_enum("glFrontFace: mode"));
            }
            ctx.state.render.set_front_face(mode);
            Ok(())
        });
    }

    /// `glHint`.
    pub fn hint(&mut self, target: u32, mode: u32) {
        self.gl(|ctx| {
            let hint = match target {
                gl::LINE_SMOOTH_HINT => Hint::LineSmooth,
                gl::POLYGON_SMOOTH_HINT => Hint::PolygonSmooth,
                gl::TEXTURE_COMPRESSION_HINT => Hint::TextureCompression,
                gl::FRAGMENT_SHADER_DERIVATIVE_HINT => Hint::FragmentShaderDerivative,
                _ => return Err(invalid_enum("glHint: target")),
            };
            if !matches!(mode, gl::FASTEST | gl::NICEST | gl::DONT_CARE) {
                return Err(invalid_enum("glHint: mode"));
            }
            ctx.state.render.set_hint(hint, mode);
            Ok(())
        });
    }

    /// `glLineWidth`.
    pub fn line_width(&mut self, width: f32) {
        self.gl(|ctx| {
            // NaN is no positive number either.
            if width.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
                return Err(invalid_value("glLineWidth: width"));
            }
            if width > 1.0 && ctx.state.attribs.forward_compatible {
                return Err(invalid_value("glLineWidth: wide lines are deprecated"));
            }
            ctx.state.render.set_line_width(width);
            Ok(())
        });
    }

    /// `glPointSize`.
    pub fn point_size(&mut self, size: f32) {
        self.gl(|ctx| {
            if size.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
                return Err(invalid_value("glPointSize: size"));
            }
            ctx.state.render.set_point_size(size);
            Ok(())
        });
    }

    /// `glPointParameter*`.
    pub fn point_parameter(&mut self, pname: u32, params: Params<'_>) {
        self.gl(|ctx| {
            match pname {
                gl::POINT_FADE_THRESHOLD_SIZE => {
                    let size = params.float(0);
                    if size < 0.0 {
                        return Err(invalid_value("glPointParameter: threshold"));
                    }
                    ctx.state.render.set_point_fade_threshold(size);
                }
                gl::POINT_SPRITE_COORD_ORIGIN => {
                    let origin = params.enumerant(0);
                    if !matches!(origin, gl::LOWER_LEFT | gl::UPPER_LEFT) {
                        return Err(invalid_value("glPointParameter: origin"));
                    }
                    ctx.state.render.set_point_sprite_coord_origin(origin);
                }
                _ => return Err(invalid_enum("glPointParameter: pname")),
            }
            Ok(())
        });
    }

    /// `glPolygonMode`.
    pub fn polygon_mode(&mut self, face: u32, mode: u32) {
        self.gl(|ctx| {
            // The core profile has one mode for both faces.
            if face != gl::FRONT_AND_BACK {
                return Err(invalid_enum("glPolygonMode: face"));
            }
            if !matches!(mode, gl::POINT | gl::LINE | gl::FILL) {
                return Err(invalid_enum("glPolygonMode: mode"));
            }
            ctx.state.render.set_polygon_mode(Face::FrontAndBack, mode);
            Ok(())
        });
    }

    /// `glPolygonOffset`.
    pub fn polygon_offset(&mut self, factor: f32, units: f32) {
        self.gl(|ctx| {
            ctx.state.render.set_polygon_offset(factor, units, 0.0);
            Ok(())
        });
    }

    /// `glProvokingVertex`.
    pub fn provoking_vertex(&mut self, mode: u32) {
        self.gl(|ctx| {
            if !matches!(mode, gl::FIRST_VERTEX_CONVENTION | gl::LAST_VERTEX_CONVENTION) {
                return Err(invalid_enum("glProvokingVertex: mode"));
            }
            ctx.state.render.set_provoking_vertex(mode);
            Ok(())
        });
    }

    /// `glPrimitiveRestartIndex`.
    pub fn primitive_restart_index(&mut self, index: u32) {
        self.gl(|ctx| {
            ctx.state.render.set_primitive_restart_index(index);
            Ok(())
        });
    }

    /// `glClampColor`.
    pub fn clamp_color(&mut self, target: u32, clamp: u32) {
        self.gl(|ctx| {
            if target != gl::CLAMP_READ_COLOR {
                return Err(invalid_enum("glClampColor: target"));
            }
            if !matches!(clamp, gl::TRUE | gl::FALSE | gl::FIXED_ONLY) {
                return Err(invalid_enum("glClampColor: clamp"));
            }
            ctx.state.render.set_clamp_read_color(clamp);
            Ok(())
        });
    }

    /// `glSampleCoverage`.
    pub fn sample_coverage(&mut self, value: f32, invert: bool) {
        self.gl(|ctx| {
            ctx.state.render.set_sample_coverage_value(value.clamp(0.0, 1.0), invert);
            Ok(())
        });
    }

    /// `glSampleMaski`.
    pub fn sample_maski(&mut self, mask_number: u32, mask: u32) {
        self.gl(|ctx| {
            if mask_number != 0 {
                return Err(invalid_value("glSampleMaski: mask number"));
            }
            ctx.state.render.set_sample_mask_value(mask);
            Ok(())
        });
    }

    /// `glClearColor`.
    pub fn clear_color(&mut self, red: f32, green: f32, blue: f32, alpha: f32) {
        self.gl(|ctx| {
            ctx.state.render.set_clear_color([red, green, blue, alpha]);
            Ok(())
        });
    }

    /// `glClearDepth`.
    pub fn clear_depth(&mut self, depth: f64) {
        self.gl(|ctx| {
            ctx.state.render.set_clear_depth(unit(depth));
            Ok(())
        });
    }

    /// `glClearStencil`.
    pub fn clear_stencil(&mut self, s: i32) {
        self.gl(|ctx| {
            ctx.state.render.set_clear_stencil(s);
            Ok(())
        });
    }
}

/// A value cut to [0, 1]; what is no number becomes 0, since no backend can take it.
fn unit(value: f64) -> f32 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, 1.0) as f32
    }
}
