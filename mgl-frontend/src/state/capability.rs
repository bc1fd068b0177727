//! `glEnable`, `glDisable` and their queries.

use mgpipe_types::{features, gl};

use crate::context::{Context, ContextState};
use crate::error::{invalid_enum, invalid_value, GlResult};

impl ContextState {
    /// Whether a capability belongs to GL 3.3 core (the tracker also knows later ones).
    fn is_capability(&self, cap: u32) -> bool {
        match cap {
            gl::BLEND
            | gl::COLOR_LOGIC_OP
            | gl::CULL_FACE
            | gl::DEPTH_CLAMP
            | gl::DEPTH_TEST
            | gl::DITHER
            | gl::FRAMEBUFFER_SRGB
            | gl::LINE_SMOOTH
            | gl::MULTISAMPLE
            | gl::POLYGON_OFFSET_FILL
            | gl::POLYGON_OFFSET_LINE
            | gl::POLYGON_OFFSET_POINT
            | gl::POLYGON_SMOOTH
            | gl::PRIMITIVE_RESTART
            | gl::PROGRAM_POINT_SIZE
            | gl::RASTERIZER_DISCARD
            | gl::SAMPLE_ALPHA_TO_COVERAGE
            | gl::SAMPLE_ALPHA_TO_ONE
            | gl::SAMPLE_COVERAGE
            | gl::SAMPLE_MASK
            | gl::SCISSOR_TEST
            | gl::STENCIL_TEST
            | gl::TEXTURE_CUBE_MAP_SEAMLESS => true,
            _ => cap.checked_sub(gl::CLIP_DISTANCE0).is_some_and(|i| i < self.share.limits.clip_distances),
        }
    }

    /// Whether a capability is on; `None` when the enum names none.
    pub(crate) fn capability(&self, cap: u32) -> Option<bool> {
        match cap {
            gl::DEBUG_OUTPUT => Some(self.debug.output),
            gl::DEBUG_OUTPUT_SYNCHRONOUS => Some(self.debug.synchronous),
            _ if self.is_capability(cap) => self.render.capability(cap),
            _ => None,
        }
    }
}

impl Context {
    #[inline]
    fn set_capability(&mut self, cap: u32, on: bool, command: &'static str) -> GlResult {
        let state = &mut self.state;
        match cap {
            gl::DEBUG_OUTPUT => state.debug.output = on,
            gl::DEBUG_OUTPUT_SYNCHRONOUS => state.debug.synchronous = on,
            _ => {
                if !state.is_capability(cap) || !state.render.set_capability(cap, on) {
                    return Err(invalid_enum(format!("{command}: capability {cap:#x}")));
                }
                if cap == gl::DEPTH_CLAMP && on && !state.share.caps.has(features::DEPTH_CLAMP) {
                    state.warn_once("depth clamping is not there on this device");
                }
                if cap == gl::TEXTURE_CUBE_MAP_SEAMLESS {
                    // Sampler parameters carry it.
                    state.generations.bump(mgpipe_tracker::Counter::Samplers);
                }
            }
        }
        Ok(())
    }

    /// `glEnable`.
    pub fn enable(&mut self, cap: u32) {
        self.gl(|ctx| ctx.set_capability(cap, true, "glEnable"));
    }

    /// `glDisable`.
    pub fn disable(&mut self, cap: u32) {
        self.gl(|ctx| ctx.set_capability(cap, false, "glDisable"));
    }

    /// `glIsEnabled`.
    pub fn is_enabled(&mut self, cap: u32) -> bool {
        self.gl(|ctx| {
            ctx.state.capability(cap).ok_or_else(|| invalid_enum(format!("glIsEnabled: capability {cap:#x}")))
        })
    }

    fn check_indexed(&self, target: u32, index: u32, command: &'static str) -> GlResult {
        if target != gl::BLEND {
            return Err(invalid_enum(format!("{command}: capability {target:#x}")));
        }
        let most = self.state.share.limits.draw_buffers;
        if index >= most {
            return Err(invalid_value(format!("{command}: index {index} of {most}")));
        }
        Ok(())
    }

    /// `glEnablei`.
    pub fn enablei(&mut self, target: u32, index: u32) {
        self.gl(|ctx| {
            ctx.check_indexed(target, index, "glEnablei")?;
            ctx.state.render.set_capability_indexed(target, index as usize, true);
            Ok(())
        });
    }

    /// `glDisablei`.
    pub fn disablei(&mut self, target: u32, index: u32) {
        self.gl(|ctx| {
            ctx.check_indexed(target, index, "glDisablei")?;
            ctx.state.render.set_capability_indexed(target, index as usize, false);
            Ok(())
        });
    }

    /// `glIsEnabledi`.
    pub fn is_enabledi(&mut self, target: u32, index: u32) -> bool {
        self.gl(|ctx| {
            ctx.check_indexed(target, index, "glIsEnabledi")?;
            Ok(ctx.state.render.capability_indexed(target, index as usize).unwrap_or(false))
        })
    }
}
