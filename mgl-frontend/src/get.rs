//! `glGet*`: every value of the state and every limit, in the type that the state has.

mod binding;
mod indexed;
mod limit;
mod value;

use crate::boundary::Values;
use crate::context::Context;
use crate::error::{invalid_enum, GlError};

impl Context {
    /// `glGetBooleanv`, `glGetIntegerv`, `glGetInteger64v`, `glGetFloatv`, `glGetDoublev`.
    pub fn get(&mut self, pname: u32) -> Option<Values> {
        self.gl(|ctx| {
            if let Some(on) = ctx.state.capability(pname) {
                return Ok(Some(Values::bool(on)));
            }
            let state = &ctx.state;
            let known = state
                .render_value(pname)
                .or_else(|| state.binding_value(pname))
                .or_else(|| state.image_value(pname))
                .or_else(|| state.limit_value(pname))
                .or_else(|| state.pixel.get(pname).map(Values::int));
            match known {
                Some(values) => Ok(Some(values)),
                None => ctx.live_value(pname).map(Some),
            }
        })
    }

    /// Values that take the pipe to answer.
    fn live_value(&mut self, pname: u32) -> Result<Values, GlError> {
        match pname {
            mgpipe_types::gl::TIMESTAMP => {
                let now = self.pipe.query_timestamp().map_err(GlError::from)?;
                Ok(Values::int(i64::try_from(now.value).unwrap_or(i64::MAX)))
            }
            _ => Err(invalid_enum(format!("glGet: pname {pname:#x}"))),
        }
    }
}
