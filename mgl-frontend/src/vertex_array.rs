//! Vertex arrays: attribute formats, their buffers, the element array, and current attribute values.

mod value;

use std::sync::Arc;

use mgpipe_tracker::{Counter, VertexElements};
use mgpipe_types::{attrib_class, gl, AttribValue, VertexAttribute, VertexBinding, VertexBuffer, MAX_VERTEX_ATTRIBS};

use crate::boundary::{Quad, Values};
use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::names::Names;

/// One attribute of a vertex array.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    /// Components as given: 1 to 4 or `GL_BGRA`.
    size: u32,
    component_type: u32,
    normalized: bool,
    /// A value of [`attrib_class`].
    class: u8,
    /// Stride as given; 0 is tight.
    stride: u32,
    /// Bytes between elements.
    effective_stride: u32,
    offset: usize,
    divisor: u32,
    buffer: Option<Arc<Buffer>>,
}

impl Default for Attribute {
    fn default() -> Self {
        Attribute {
            size: 4,
            component_type: gl::FLOAT,
            normalized: false,
            class: attrib_class::FLOAT,
            stride: 0,
            effective_stride: 16,
            offset: 0,
            divisor: 0,
            buffer: None,
        }
    }
}

/// A vertex array object. Arrays belong to one context.
#[derive(Debug)]
pub(crate) struct VertexArray {
    attributes: [Attribute; MAX_VERTEX_ATTRIBS],
    enabled: u32,
    element: Option<Arc<Buffer>>,
}

impl VertexArray {
    fn new() -> VertexArray {
        VertexArray { attributes: std::array::from_fn(|_| Attribute::default()), enabled: 0, element: None }
    }

    /// Bit i: attribute i is an array.
    pub(crate) fn enabled(&self) -> u32 {
        self.enabled
    }

    /// The element array buffer.
    pub(crate) fn element(&self) -> Option<&Arc<Buffer>> {
        self.element.as_ref()
    }

    /// Buffers of the enabled attributes.
    pub(crate) fn enabled_buffers(&self) -> impl Iterator<Item = &Arc<Buffer>> {
        self.attributes
            .iter()
            .enumerate()
            .filter(|(i, _)| self.enabled >> i & 1 != 0)
            .filter_map(|(_, attribute)| attribute.buffer.as_ref())
    }

    /// Attributes and binding points of the enabled arrays. Attribute i reads binding point i.
    pub(crate) fn elements(&self, out: &mut VertexElements) {
        for (i, a) in self.attributes.iter().enumerate() {
            if self.enabled >> i & 1 == 0 {
                continue;
            }
            let bgra = a.size == gl::BGRA;
            out.attributes.push(VertexAttribute {
                location: i as u32,
                binding: i as u32,
                relative_offset: 0,
                component_type: a.component_type,
                components: if bgra { 4 } else { a.size as u8 },
                normalized: u8::from(a.normalized),
                class: a.class,
                bgra: u8::from(bgra),
            });
            out.bindings.push(VertexBinding { binding: i as u32, stride: a.effective_stride, divisor: a.divisor });
        }
    }

    /// Buffers of binding points 0 up to the highest enabled one.
    pub(crate) fn buffers(&self, out: &mut Vec<VertexBuffer>) {
        let count = (u32::BITS - self.enabled.leading_zeros()) as usize;
        for (i, a) in self.attributes[..count].iter().enumerate() {
            let enabled = self.enabled >> i & 1 != 0;
            out.push(match &a.buffer {
                Some(buffer) if enabled => {
                    VertexBuffer { res: buffer.handle.0, offset: a.offset as u64, stride: a.effective_stride, pad: 0 }
                }
                _ => VertexBuffer::default(),
            });
        }
    }
}

/// Vertex arrays of a context and the current values of attributes.
#[derive(Debug)]
pub(crate) struct VertexArrays {
    names: Names<Box<VertexArray>>,
    /// The object behind name 0: it holds an element array binding, and nothing can be drawn with it.
    zero: Box<VertexArray>,
    bound: u32,
    current_values: [AttribValue; MAX_VERTEX_ATTRIBS],
}

impl VertexArrays {
    pub(crate) fn new() -> VertexArrays {
        VertexArrays {
            names: Names::default(),
            zero: Box::new(VertexArray::new()),
            bound: 0,
            current_values: std::array::from_fn(|i| AttribValue {
                index: i as u32,
                form: 0,
                bits: [0, 0, 0, u64::from(1.0f32.to_bits())],
            }),
        }
    }

    /// Name of the bound vertex array.
    pub(crate) fn bound(&self) -> u32 {
        self.bound
    }

    /// The bound vertex array.
    #[inline]
    pub(crate) fn current(&self) -> &VertexArray {
        self.names.get(self.bound).unwrap_or(&self.zero)
    }

    fn current_mut(&mut self) -> &mut VertexArray {
        self.names.get_mut(self.bound).unwrap_or(&mut self.zero)
    }

    /// Current values of all attributes.
    pub(crate) fn current_values(&self) -> &[AttribValue; MAX_VERTEX_ATTRIBS] {
        &self.current_values
    }

    /// The element array binding of the bound vertex array.
    pub(crate) fn element_array_mut(&mut self) -> &mut Option<Arc<Buffer>> {
        &mut self.current_mut().element
    }

    /// Removes a deleted buffer from the bound vertex array; whether it was there. Other arrays keep it alive.
    pub(crate) fn unbind_buffer(&mut self, buffer: &Arc<Buffer>) -> bool {
        let mut found = false;
        let is = |point: &Option<Arc<Buffer>>| point.as_ref().is_some_and(|b| Arc::ptr_eq(b, buffer));
        let array = self.current_mut();
        for attribute in &mut array.attributes {
            if is(&attribute.buffer) {
                attribute.buffer = None;
                found = true;
            }
        }
        if is(&array.element) {
            array.element = None;
            found = true;
        }
        found
    }

    /// Sets a current value; whether it changed.
    fn set_current(&mut self, index: u32, form: u32, words: [u32; 4]) -> bool {
        if let Some(value) = self.current_values.get_mut(index as usize) {
            let new = AttribValue { index, form, bits: words.map(u64::from) };
            if *value != new {
                *value = new;
                return true;
            }
        }
        false
    }
}

/// Bytes of a component type of the pointer calls, and whether all components share one word.
fn component_bytes(type_: u32) -> Option<(u32, bool)> {
    Some(match type_ {
        gl::BYTE | gl::UNSIGNED_BYTE => (1, false),
        gl::SHORT | gl::UNSIGNED_SHORT | gl::HALF_FLOAT => (2, false),
        gl::INT | gl::UNSIGNED_INT | gl::FLOAT | gl::FIXED => (4, false),
        gl::DOUBLE => (8, false),
        gl::INT_2_10_10_10_REV | gl::UNSIGNED_INT_2_10_10_10_REV => (4, true),
        _ => return None,
    })
}

impl Context {
    /// `glGenVertexArrays`.
    pub fn gen_vertex_arrays(&mut self, names: &mut [u32]) {
        names.fill_with(|| self.state.arrays.names.generate());
    }

    /// `glDeleteVertexArrays`.
    pub fn delete_vertex_arrays(&mut self, names: &[u32]) {
        for &name in names.iter().filter(|&&name| name != 0) {
            if self.state.arrays.bound == name {
                self.bind_vertex_array(0);
            }
            self.state.arrays.names.remove(name);
            self.state.debug.forget_label(gl::VERTEX_ARRAY, name as usize);
        }
    }

    /// `glIsVertexArray`.
    pub fn is_vertex_array(&mut self, array: u32) -> bool {
        self.state.arrays.names.get(array).is_some()
    }

    /// `glBindVertexArray`.
    pub fn bind_vertex_array(&mut self, array: u32) {
        self.gl(|ctx| {
            let arrays = &mut ctx.state.arrays;
            if arrays.bound == array {
                return Ok(());
            }
            if array != 0 && !arrays.names.ensure(array, || Box::new(VertexArray::new())) {
                return Err(invalid_operation("glBindVertexArray: name was not generated"));
            }
            arrays.bound = array;
            ctx.state.generations.bump(Counter::VertexArray);
            Ok(())
        });
    }

    fn check_attribute(&self, index: u32, command: &'static str) -> GlResult {
        let max = self.state.share.limits.vertex_attribs;
        if index >= max {
            return Err(invalid_value(format!("{command}: attribute {index} of {max}")));
        }
        Ok(())
    }

    fn check_array_bound(&self, command: &'static str) -> GlResult {
        if self.state.arrays.bound == 0 && !self.state.relaxed {
            return Err(invalid_operation(format!("{command}: no vertex array is bound")));
        }
        Ok(())
    }

    /// `glEnableVertexAttribArray`.
    pub fn enable_vertex_attrib_array(&mut self, index: u32) {
        self.gl(|ctx| ctx.set_attribute_enabled(index, true, "glEnableVertexAttribArray"));
    }

    /// `glDisableVertexAttribArray`.
    pub fn disable_vertex_attrib_array(&mut self, index: u32) {
        self.gl(|ctx| ctx.set_attribute_enabled(index, false, "glDisableVertexAttribArray"));
    }

    /// Without a bound array the name zero takes the switch, as in Mesa: GL 3.3 core makes only the pointer and draw commands
    /// errors then, and programs (piglit's shader runner among them) reset all attributes before they bind an array.
    fn set_attribute_enabled(&mut self, index: u32, on: bool, command: &'static str) -> GlResult {
        self.check_attribute(index, command)?;
        let array = self.state.arrays.current_mut();
        let enabled = array.enabled & !(1 << index) | u32::from(on) << index;
        if array.enabled != enabled {
            array.enabled = enabled;
            self.state.generations.bump(Counter::VertexArray);
        }
        Ok(())
    }

    /// `glVertexAttribPointer`. `size` may be `GL_BGRA`.
    pub fn vertex_attrib_pointer(
        &mut self,
        index: u32,
        size: i32,
        type_: u32,
        normalized: bool,
        stride: i32,
        offset: usize,
    ) {
        self.gl(|ctx| {
            let command = "glVertexAttribPointer";
            ctx.check_attribute(index, command)?;
            let bgra = size == gl::BGRA as i32;
            if !bgra && !(1..=4).contains(&size) {
                return Err(invalid_value("glVertexAttribPointer: size"));
            }
            let (bytes, packed) = component_bytes(type_)
                .filter(|_| type_ != gl::FIXED)
                .ok_or_else(|| invalid_enum("glVertexAttribPointer: type"))?;
            if packed && size != 4 && !bgra {
                return Err(invalid_operation("glVertexAttribPointer: a packed type has four components"));
            }
            if bgra && !(packed || type_ == gl::UNSIGNED_BYTE) {
                return Err(invalid_operation("glVertexAttribPointer: this type has no BGRA order"));
            }
            if bgra && !normalized {
                return Err(invalid_operation("glVertexAttribPointer: BGRA must be normalized"));
            }
            let components = if bgra || packed { 4 } else { size as u32 };
            let tight = if packed { bytes } else { bytes * components };
            let attribute = Attribute {
                size: size as u32,
                component_type: type_,
                normalized,
                class: attrib_class::FLOAT,
                ..Attribute::default()
            };
            ctx.set_attribute(index, attribute, tight, stride, offset, command)
        });
    }

    /// `glVertexAttribIPointer`.
    pub fn vertex_attrib_i_pointer(&mut self, index: u32, size: i32, type_: u32, stride: i32, offset: usize) {
        self.gl(|ctx| {
            let command = "glVertexAttribIPointer";
            ctx.check_attribute(index, command)?;
            if !(1..=4).contains(&size) {
                return Err(invalid_value("glVertexAttribIPointer: size"));
            }
            let integer = matches!(
                type_,
                gl::BYTE | gl::UNSIGNED_BYTE | gl::SHORT | gl::UNSIGNED_SHORT | gl::INT | gl::UNSIGNED_INT
            );
            let (bytes, _) = component_bytes(type_)
                .filter(|_| integer)
                .ok_or_else(|| invalid_enum("glVertexAttribIPointer: type"))?;
            let attribute = Attribute {
                size: size as u32,
                component_type: type_,
                class: attrib_class::INTEGER,
                ..Attribute::default()
            };
            ctx.set_attribute(index, attribute, bytes * size as u32, stride, offset, command)
        });
    }

    fn set_attribute(
        &mut self,
        index: u32,
        mut attribute: Attribute,
        tight: u32,
        stride: i32,
        offset: usize,
        command: &'static str,
    ) -> GlResult {
        if stride < 0 {
            return Err(invalid_value(format!("{command}: negative stride")));
        }
        self.check_array_bound(command)?;
        let buffer = self.state.buffers.array.clone();
        if buffer.is_none() && offset != 0 {
            return Err(invalid_operation(format!("{command}: client memory needs a buffer in the core profile")));
        }
        if let Some(buffer) = &buffer {
            self.attach_buffer(buffer)?;
        }
        attribute.stride = stride as u32;
        attribute.effective_stride = if stride == 0 { tight } else { stride as u32 };
        attribute.offset = offset;
        attribute.buffer = buffer;
        let slot = &mut self.state.arrays.current_mut().attributes[index as usize];
        attribute.divisor = slot.divisor;
        *slot = attribute;
        self.state.generations.bump(Counter::VertexArray);
        Ok(())
    }

    /// `glVertexAttribDivisor`.
    pub fn vertex_attrib_divisor(&mut self, index: u32, divisor: u32) {
        self.gl(|ctx| {
            ctx.check_attribute(index, "glVertexAttribDivisor")?;
            ctx.check_array_bound("glVertexAttribDivisor")?;
            ctx.state.arrays.current_mut().attributes[index as usize].divisor = divisor;
            ctx.state.generations.bump(Counter::VertexArray);
            Ok(())
        });
    }

    /// `glGetVertexAttrib*`.
    pub fn get_vertex_attrib(&mut self, index: u32, pname: u32) -> Option<Values> {
        self.gl(|ctx| {
            ctx.check_attribute(index, "glGetVertexAttrib")?;
            let arrays = &ctx.state.arrays;
            let array = arrays.current();
            let a = &array.attributes[index as usize];
            Ok(Some(match pname {
                gl::VERTEX_ATTRIB_ARRAY_ENABLED => Values::bool(array.enabled >> index & 1 != 0),
                gl::VERTEX_ATTRIB_ARRAY_SIZE => Values::int(a.size),
                gl::VERTEX_ATTRIB_ARRAY_STRIDE => Values::int(a.stride),
                gl::VERTEX_ATTRIB_ARRAY_TYPE => Values::int(a.component_type),
                gl::VERTEX_ATTRIB_ARRAY_NORMALIZED => Values::bool(a.normalized),
                gl::VERTEX_ATTRIB_ARRAY_INTEGER => Values::bool(a.class == attrib_class::INTEGER),
                gl::VERTEX_ATTRIB_ARRAY_DIVISOR => Values::int(a.divisor),
                gl::VERTEX_ATTRIB_ARRAY_BUFFER_BINDING => Values::int(a.buffer.as_ref().map_or(0, |b| b.name)),
                gl::CURRENT_VERTEX_ATTRIB => {
                    let value = &arrays.current_values[index as usize];
                    let words = value.bits.map(|w| w as u32);
                    Values::Quad(match value.form {
                        1 => Quad::from_ints(words.map(|w| w as i32)),
                        2 => Quad::from_uints(words),
                        _ => Quad { normalized: false, ..Quad::from_floats(words.map(f32::from_bits)) },
                    })
                }
                _ => return Err(invalid_enum("glGetVertexAttrib: pname")),
            }))
        })
    }

    /// `glGetVertexAttribPointerv`.
    pub fn get_vertex_attrib_pointer(&mut self, index: u32) -> Option<usize> {
        self.gl(|ctx| {
            ctx.check_attribute(index, "glGetVertexAttribPointerv")?;
            Ok(Some(ctx.state.arrays.current().attributes[index as usize].offset))
        })
    }
}
