//! Current values of vertex attributes: what an attribute without an array reads.

use mgpipe_tracker::Counter;
use mgpipe_types::gl;

use crate::context::Context;
use crate::error::invalid_enum;

/// A field of a packed word as `vertex_attrib_p` converts it (GL 4.6 §2.3.5).
fn unpack_field(word: u32, shift: u32, bits: u32, signed: bool, normalized: bool) -> f32 {
    let raw = word >> shift & ((1 << bits) - 1);
    if signed {
        let value = ((raw << (32 - bits)) as i32 >> (32 - bits)) as f32;
        if normalized {
            (value / ((1 << (bits - 1)) - 1) as f32).max(-1.0)
        } else {
            value
        }
    } else if normalized {
        raw as f32 / ((1u32 << bits) - 1) as f32
    } else {
        raw as f32
    }
}

impl Context {
    fn set_current_value(&mut self, index: u32, form: u32, words: [u32; 4]) {
        if self.state.arrays.set_current(index, form, words) {
            self.state.generations.bump(Counter::AttribDefaults);
        }
    }

    /// `glVertexAttrib4f` and everything that converts to it.
    pub fn vertex_attrib_4f(&mut self, index: u32, x: f32, y: f32, z: f32, w: f32) {
        self.gl(|ctx| {
            ctx.check_attribute(index, "glVertexAttrib")?;
            ctx.set_current_value(index, 0, [x, y, z, w].map(f32::to_bits));
            Ok(())
        });
    }

    /// `glVertexAttribI4i`.
    pub fn vertex_attrib_i4i(&mut self, index: u32, x: i32, y: i32, z: i32, w: i32) {
        self.gl(|ctx| {
            ctx.check_attribute(index, "glVertexAttribI")?;
            ctx.set_current_value(index, 1, [x, y, z, w].map(|v| v as u32));
            Ok(())
        });
    }

    /// `glVertexAttribI4ui`.
    pub fn vertex_attrib_i4ui(&mut self, index: u32, x: u32, y: u32, z: u32, w: u32) {
        self.gl(|ctx| {
            ctx.check_attribute(index, "glVertexAttribI")?;
            ctx.set_current_value(index, 2, [x, y, z, w]);
            Ok(())
        });
    }

    /// `glVertexAttribP1ui` to `P4ui`.
    pub fn vertex_attrib_p(&mut self, index: u32, size: u32, type_: u32, normalized: bool, value: u32) {
        self.gl(|ctx| {
            let signed = match type_ {
                gl::INT_2_10_10_10_REV => true,
                gl::UNSIGNED_INT_2_10_10_10_REV => false,
                _ => return Err(invalid_enum("glVertexAttribP: type")),
            };
            ctx.check_attribute(index, "glVertexAttribP")?;
            let mut v = [0.0, 0.0, 0.0, 1.0];
            for (i, (shift, bits)) in [(0, 10), (10, 10), (20, 10), (30, 2)].into_iter().enumerate() {
                if (i as u32) < size {
                    v[i] = unpack_field(value, shift, bits, signed, normalized);
                }
            }
            ctx.set_current_value(index, 0, v.map(f32::to_bits));
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_fields_follow_the_specification() {
        let word = 0x3ff | 0x200 << 10 | 1 << 20 | 2 << 30;
        assert_eq!(unpack_field(word, 0, 10, false, true), 1.0);
        assert_eq!(unpack_field(word, 0, 10, true, true), -1.0 / 511.0);
        assert_eq!(unpack_field(word, 10, 10, true, true), -1.0);
        assert_eq!(unpack_field(word, 20, 10, false, false), 1.0);
        assert_eq!(unpack_field(word, 30, 2, true, false), -2.0);
        assert_eq!(unpack_field(word, 30, 2, true, true), -1.0);
    }
}
