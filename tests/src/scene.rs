//! The scene: a scenario's context with short forms for what nearly every scenario does, and the record of its checks.

use std::cell::RefCell;
use std::fmt::Debug;
use std::ops::Deref;
use std::path::PathBuf;

use glow::{self as gl, HasContext as _};

use crate::egl::{ContextRequest, GlContext};
use crate::picture::{Picture, Tolerance};
use crate::raw::Raw;
use crate::verdict::{PictureEntry, ValuesEntry};

/// A vertex shader without inputs: one triangle that covers the viewport, `uv` from (0,0) to (1,1) across it.
pub const FULL_VS: &str = "
out vec2 uv;
void main() {
    uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
    gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
}";

/// A vertex shader with a position at location 0.
pub const POSITION_VS: &str = "
layout(location = 0) in vec4 position;
void main() { gl_Position = position; }";

/// A vertex shader with a position at location 0 and a colour at location 1.
pub const POSITION_COLOR_VS: &str = "
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
out vec4 tint;
void main() { gl_Position = position; tint = color; }";

/// A fragment shader that writes the interpolated `tint`.
pub const TINT_FS: &str = "
in vec4 tint;
layout(location = 0) out vec4 result;
void main() { result = tint; }";

/// A fragment shader that writes the uniform `color`.
pub const COLOR_FS: &str = "
uniform vec4 color;
layout(location = 0) out vec4 result;
void main() { result = color; }";

/// A fragment shader that samples `image` at `uv`.
pub const TEXTURE_FS: &str = "
uniform sampler2D image;
in vec2 uv;
layout(location = 0) out vec4 result;
void main() { result = texture(image, uv); }";

/// One scenario: a name, the context it wants and the body.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Unique name, the topic first: `texture_swizzle`.
    pub name: &'static str,
    /// The context that the runner makes.
    pub context: ContextRequest,
    /// The body. Its condition: the scene's context is current on the calling thread.
    pub body: unsafe fn(&Scene),
    /// A negative control: left out of ordinary runs.
    pub control: bool,
    /// The defect of the reference that makes it fail this scenario; only the scenario's own checks count then.
    pub reference_defect: Option<&'static str>,
}

impl Scenario {
    /// A scenario with the default context.
    pub const fn new(name: &'static str, body: unsafe fn(&Scene)) -> Self {
        Self { name, context: ContextRequest::DEFAULT, body, control: false, reference_defect: None }
    }

    /// The same with another context.
    pub const fn with(mut self, context: ContextRequest) -> Self {
        self.context = context;
        self
    }

    /// The same, knowing that the reference fails it because of a defect of its own.
    pub const fn without_reference(mut self, defect: &'static str) -> Self {
        self.reference_defect = Some(defect);
        self
    }

    /// The same as a negative control.
    pub const fn control(mut self) -> Self {
        self.control = true;
        self
    }
}

/// What a scene has recorded so far.
#[derive(Default)]
pub struct Record {
    /// Failed checks.
    pub messages: Vec<String>,
    /// Why the scenario was skipped.
    pub skipped: Option<String>,
    /// Pictures written.
    pub pictures: Vec<PictureEntry>,
    /// Numbers to compare.
    pub values: Vec<ValuesEntry>,
}

/// A colour texture with a D24S8 renderbuffer, as a framebuffer.
#[derive(Clone, Copy)]
pub struct Target {
    /// The framebuffer object.
    pub framebuffer: gl::NativeFramebuffer,
    /// Colour attachment 0.
    pub texture: gl::NativeTexture,
    /// Width in pixels.
    pub width: i32,
    /// Height in pixels.
    pub height: i32,
}

/// A running scenario. It dereferences to glow's function table.
pub struct Scene {
    gl: gl::Context,
    /// Functions that glow lacks.
    pub raw: Raw,
    /// The context, current on the thread that runs the body.
    pub context: GlContext,
    name: &'static str,
    out: PathBuf,
    record: RefCell<Record>,
}

impl Deref for Scene {
    type Target = gl::Context;

    fn deref(&self) -> &gl::Context {
        &self.gl
    }
}

impl Scene {
    /// A scene over `context`.
    ///
    /// # Safety
    /// `context` is current on the calling thread and stays so while the scene's GL functions are used.
    pub unsafe fn new(context: GlContext, name: &'static str, out: PathBuf) -> Self {
        let gl = context.functions();
        let raw = Raw::load(context.egl());
        Self { gl, raw, context, name, out, record: RefCell::default() }
    }

    /// Ends the scene and returns its record; a GL error that nobody asked about is a failure.
    pub unsafe fn end(self) -> Record {
        let mut left_over = Vec::new();
        while left_over.len() < 8 {
            match self.gl.get_error() {
                gl::NO_ERROR => break,
                error => left_over.push(error),
            }
        }
        if !left_over.is_empty() {
            self.fail(format!(
                "GL errors left over: {}",
                left_over.iter().map(|e| error_name(*e)).collect::<Vec<_>>().join(", ")
            ));
        }
        self.record.take()
    }

    /// What has been recorded so far, for a body that panicked.
    pub fn take_record(&self) -> Record {
        self.record.take()
    }

    /// Records a failed check.
    pub fn fail(&self, message: impl Into<String>) {
        let mut record = self.record.borrow_mut();
        if record.messages.len() < 40 {
            record.messages.push(message.into());
        }
    }

    /// Marks the scenario as not applicable to this driver.
    pub fn skip(&self, reason: impl Into<String>) {
        self.record.borrow_mut().skipped = Some(reason.into());
    }

    /// Records a failure unless `condition` holds.
    pub fn check(&self, condition: bool, what: impl Into<String>) {
        if !condition {
            self.fail(what);
        }
    }

    /// Records a failure unless both sides are equal.
    pub fn equal<T: PartialEq + Debug>(&self, actual: T, expected: T, what: &str) {
        if actual != expected {
            self.fail(format!("{what}: {actual:?}, expected {expected:?}"));
        }
    }

    /// Records a failure unless the numbers are at most `tolerance` apart.
    pub fn near(&self, actual: f32, expected: f32, tolerance: f32, what: &str) {
        if (actual - expected).abs() > tolerance || actual.is_nan() != expected.is_nan() {
            self.fail(format!("{what}: {actual}, expected {expected} ± {tolerance}"));
        }
    }

    /// Records a failure unless every channel of the pixel is within `tolerance`.
    pub fn pixel(&self, picture: &Picture, x: usize, y: usize, expected: [u8; 4], tolerance: u8, what: &str) {
        let actual = picture.pixel(x, y);
        if actual.iter().zip(expected).any(|(a, e)| a.abs_diff(e) > tolerance) {
            self.fail(format!("{what}: pixel ({x}, {y}) is {actual:?}, expected {expected:?} ± {tolerance}"));
        }
    }

    /// Records a failure unless every pixel of the rectangle (`x0..x1`, `y0..y1`) is within `tolerance`.
    pub fn area(
        &self,
        picture: &Picture,
        (x0, y0, x1, y1): (usize, usize, usize, usize),
        expected: [u8; 4],
        tolerance: u8,
        what: &str,
    ) {
        for y in y0..y1 {
            for x in x0..x1 {
                let actual = picture.pixel(x, y);
                if actual.iter().zip(expected).any(|(a, e)| a.abs_diff(e) > tolerance) {
                    self.fail(format!("{what}: pixel ({x}, {y}) is {actual:?}, expected {expected:?} ± {tolerance}"));
                    return;
                }
            }
        }
    }

    /// Records a failure unless `glGetError` returns exactly `expected`.
    pub unsafe fn error(&self, expected: u32, what: &str) {
        let actual = self.gl.get_error();
        if actual != expected {
            self.fail(format!("{what}: {}, expected {}", error_name(actual), error_name(expected)));
        }
    }

    /// Records every pending GL error as a failure.
    pub unsafe fn no_error(&self, what: &str) {
        self.error(gl::NO_ERROR, what);
    }

    /// Keeps a picture for comparison with the reference.
    pub fn compare(&self, name: &str, picture: &Picture, tolerance: Tolerance) {
        let path = self.out.join(format!("{}.{name}.png", self.name));
        if let Err(e) = picture.save(&path) {
            self.fail(format!("cannot write the picture: {e:#}"));
        }
        self.record.borrow_mut().pictures.push(PictureEntry { name: name.to_owned(), tolerance });
    }

    /// Keeps numbers for comparison with the reference.
    pub fn compare_values(&self, name: &str, values: &[f32], tolerance: f64) {
        let values = values.iter().map(|v| f64::from(*v)).collect();
        self.record.borrow_mut().values.push(ValuesEntry { name: name.to_owned(), values, tolerance });
    }

    /// Compiles and links, or says what the driver said.
    pub unsafe fn try_program(
        &self,
        stages: &[(u32, &str)],
        before_link: impl FnOnce(gl::NativeProgram),
    ) -> Result<gl::NativeProgram, String> {
        let program = self.gl.create_program()?;
        for (stage, source) in stages {
            let shader = self.gl.create_shader(*stage)?;
            let source = if source.trim_start().starts_with("#version") {
                (*source).to_owned()
            } else {
                format!("#version 330 core\n{source}")
            };
            self.gl.shader_source(shader, &source);
            self.gl.compile_shader(shader);
            if !self.gl.get_shader_compile_status(shader) {
                return Err(format!("compile: {}", self.gl.get_shader_info_log(shader)));
            }
            self.gl.attach_shader(program, shader);
            self.gl.delete_shader(shader);
        }
        before_link(program);
        self.gl.link_program(program);
        if !self.gl.get_program_link_status(program) {
            return Err(format!("link: {}", self.gl.get_program_info_log(program)));
        }
        Ok(program)
    }

    /// A program of a vertex and a fragment shader, in use afterwards. Sources without a `#version` line are GLSL 3.30.
    /// Panics with the driver's log when it does not link, which ends the scenario as failed.
    pub unsafe fn program(&self, vertex: &str, fragment: &str) -> gl::NativeProgram {
        self.program_of(&[(gl::VERTEX_SHADER, vertex), (gl::FRAGMENT_SHADER, fragment)], |_| {})
    }

    /// A program of any stages; `before_link` may set varyings or locations. In use afterwards.
    pub unsafe fn program_of(
        &self,
        stages: &[(u32, &str)],
        before_link: impl FnOnce(gl::NativeProgram),
    ) -> gl::NativeProgram {
        let program = self.try_program(stages, before_link).unwrap_or_else(|log| panic!("{log}"));
        self.gl.use_program(Some(program));
        program
    }

    /// The location of an active uniform; panics when there is none.
    pub unsafe fn uniform(&self, program: gl::NativeProgram, name: &str) -> gl::NativeUniformLocation {
        self.gl.get_uniform_location(program, name).unwrap_or_else(|| panic!("no uniform {name}"))
    }

    /// Sets a `vec4` uniform of the program in use.
    pub unsafe fn set_vec4(&self, program: gl::NativeProgram, name: &str, v: [f32; 4]) {
        let location = self.uniform(program, name);
        self.gl.uniform_4_f32(Some(&location), v[0], v[1], v[2], v[3]);
    }

    /// Sets an `int` or sampler uniform of the program in use.
    pub unsafe fn set_int(&self, program: gl::NativeProgram, name: &str, v: i32) {
        let location = self.uniform(program, name);
        self.gl.uniform_1_i32(Some(&location), v);
    }

    /// A new vertex array, bound.
    pub unsafe fn vertex_array(&self) -> gl::NativeVertexArray {
        let array = self.gl.create_vertex_array().unwrap();
        self.gl.bind_vertex_array(Some(array));
        array
    }

    /// A new buffer with static data, bound to `target`.
    pub unsafe fn buffer<T: bytemuck::NoUninit>(&self, target: u32, data: &[T]) -> gl::NativeBuffer {
        let buffer = self.gl.create_buffer().unwrap();
        self.gl.bind_buffer(target, Some(buffer));
        self.gl.buffer_data_u8_slice(target, bytemuck::cast_slice(data), gl::STATIC_DRAW);
        buffer
    }

    /// A float attribute from the buffer bound to `ARRAY_BUFFER`; stride and offset in floats.
    pub unsafe fn attribute(&self, index: u32, size: i32, stride: i32, offset: i32) {
        self.gl.enable_vertex_attrib_array(index);
        self.gl.vertex_attrib_pointer_f32(index, size, gl::FLOAT, false, stride * 4, offset * 4);
    }

    /// A vertex array whose location 0 is `positions` (two floats each), bound.
    pub unsafe fn positions(&self, positions: &[[f32; 2]]) -> gl::NativeVertexArray {
        let array = self.vertex_array();
        self.buffer(gl::ARRAY_BUFFER, positions);
        self.attribute(0, 2, 2, 0);
        array
    }

    /// A vertex array of position (location 0, 3 floats) and colour (location 1, 4 floats), bound.
    pub unsafe fn colored(&self, vertices: &[[f32; 7]]) -> gl::NativeVertexArray {
        let array = self.vertex_array();
        self.buffer(gl::ARRAY_BUFFER, vertices);
        self.attribute(0, 3, 7, 0);
        self.attribute(1, 4, 7, 3);
        array
    }

    /// Draws the viewport-covering triangle of [`FULL_VS`]; a vertex array must be bound.
    pub unsafe fn fill(&self) {
        self.gl.draw_arrays(gl::TRIANGLES, 0, 3);
    }

    /// An RGBA8 target with depth and stencil, bound, cleared to transparent black, the viewport set to it.
    pub unsafe fn target(&self, width: i32, height: i32) -> Target {
        self.target_of(width, height, gl::RGBA8)
    }

    /// The same with another colour format.
    pub unsafe fn target_of(&self, width: i32, height: i32, format: u32) -> Target {
        let texture = self.gl.create_texture().unwrap();
        self.gl.bind_texture(gl::TEXTURE_2D, Some(texture));
        let (transfer, kind) = transfer_of(format);
        self.gl.tex_image_2d(
            gl::TEXTURE_2D,
            0,
            format as i32,
            width,
            height,
            0,
            transfer,
            kind,
            gl::PixelUnpackData::Slice(None),
        );
        self.filter(gl::TEXTURE_2D, gl::NEAREST, gl::NEAREST);
        self.gl.bind_texture(gl::TEXTURE_2D, None);
        let depth = self.gl.create_renderbuffer().unwrap();
        self.gl.bind_renderbuffer(gl::RENDERBUFFER, Some(depth));
        self.gl.renderbuffer_storage(gl::RENDERBUFFER, gl::DEPTH24_STENCIL8, width, height);
        let framebuffer = self.gl.create_framebuffer().unwrap();
        self.gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        self.gl.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(texture), 0);
        self.gl.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, gl::RENDERBUFFER, Some(depth));
        self.complete();
        self.gl.viewport(0, 0, width, height);
        match transfer {
            gl::RGBA_INTEGER | gl::RED_INTEGER | gl::RG_INTEGER => {
                self.gl.clear_buffer_i32_slice(gl::COLOR, 0, &[0; 4]);
                self.gl.clear(gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
            }
            _ => self.gl.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT),
        }
        Target { framebuffer, texture, width, height }
    }

    /// A framebuffer whose colour attachment 0 is level 0 of a 2D texture, bound.
    pub unsafe fn framebuffer_of(&self, texture: gl::NativeTexture) -> gl::NativeFramebuffer {
        let framebuffer = self.gl.create_framebuffer().unwrap();
        self.gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        self.gl.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(texture), 0);
        self.complete();
        framebuffer
    }

    /// Records a failure unless the bound framebuffer is complete.
    pub unsafe fn complete(&self) {
        let status = self.gl.check_framebuffer_status(gl::FRAMEBUFFER);
        self.check(status == gl::FRAMEBUFFER_COMPLETE, format!("framebuffer status {status:#06x}"));
    }

    /// Sets both filters of the texture bound to `target`, and a maximum level of 0 for filters without mip levels.
    pub unsafe fn filter(&self, target: u32, min: u32, mag: u32) {
        self.gl.tex_parameter_i32(target, gl::TEXTURE_MIN_FILTER, min as i32);
        self.gl.tex_parameter_i32(target, gl::TEXTURE_MAG_FILTER, mag as i32);
        if min == gl::NEAREST || min == gl::LINEAR {
            self.gl.tex_parameter_i32(target, gl::TEXTURE_MAX_LEVEL, 0);
        }
    }

    /// A 2D RGBA8 texture with nearest filters, bound to the active unit.
    pub unsafe fn texture(&self, width: i32, height: i32, texels: &[[u8; 4]]) -> gl::NativeTexture {
        assert_eq!(texels.len(), (width * height) as usize, "texel count");
        self.texture_of(width, height, gl::RGBA8, gl::RGBA, gl::UNSIGNED_BYTE, texels)
    }

    /// A 2D texture of any format with nearest filters, bound to the active unit. Rows are tightly packed.
    pub unsafe fn texture_of<T: bytemuck::NoUninit>(
        &self,
        width: i32,
        height: i32,
        internal: u32,
        format: u32,
        kind: u32,
        texels: &[T],
    ) -> gl::NativeTexture {
        let texture = self.gl.create_texture().unwrap();
        self.gl.bind_texture(gl::TEXTURE_2D, Some(texture));
        self.gl.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
        self.gl.tex_image_2d(
            gl::TEXTURE_2D,
            0,
            internal as i32,
            width,
            height,
            0,
            format,
            kind,
            gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(texels))),
        );
        self.gl.pixel_store_i32(gl::UNPACK_ALIGNMENT, 4);
        self.filter(gl::TEXTURE_2D, gl::NEAREST, gl::NEAREST);
        texture
    }

    /// Specifies one level of the texture bound to `target` (a cube face by its own target); rows are tightly packed.
    pub unsafe fn image<T: bytemuck::NoUninit>(
        &self,
        target: u32,
        level: i32,
        internal: u32,
        [width, height, depth]: [i32; 3],
        (format, kind): (u32, u32),
        texels: Option<&[T]>,
    ) {
        let data = gl::PixelUnpackData::Slice(texels.map(bytemuck::cast_slice));
        let internal = internal as i32;
        self.gl.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
        match target {
            gl::TEXTURE_1D => self.gl.tex_image_1d(target, level, internal, width, 0, format, kind, data),
            gl::TEXTURE_3D | gl::TEXTURE_2D_ARRAY => {
                self.gl.tex_image_3d(target, level, internal, width, height, depth, 0, format, kind, data);
            }
            _ => self.gl.tex_image_2d(target, level, internal, width, height, 0, format, kind, data),
        }
        self.gl.pixel_store_i32(gl::UNPACK_ALIGNMENT, 4);
    }

    /// A new texture, bound to `target`, with nearest filters and one level.
    pub unsafe fn texture_name(&self, target: u32) -> gl::NativeTexture {
        let texture = self.gl.create_texture().unwrap();
        self.gl.bind_texture(target, Some(texture));
        if target != gl::TEXTURE_2D_MULTISAMPLE && target != gl::TEXTURE_2D_MULTISAMPLE_ARRAY {
            self.filter(target, gl::NEAREST, gl::NEAREST);
        }
        texture
    }

    /// Reads a level of the texture bound to `target` back, rows tightly packed; `n` numbers or pixels.
    pub unsafe fn texels<T: bytemuck::Pod>(&self, target: u32, level: i32, format: u32, kind: u32, n: usize) -> Vec<T> {
        let mut data = vec![T::zeroed(); n];
        self.gl.pixel_store_i32(gl::PACK_ALIGNMENT, 1);
        let bytes = gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data)));
        self.gl.get_tex_image(target, level, format, kind, bytes);
        self.gl.pixel_store_i32(gl::PACK_ALIGNMENT, 4);
        data
    }

    /// Reads RGBA8 from the bound read framebuffer, from its lower left corner.
    pub unsafe fn read(&self, width: i32, height: i32) -> Picture {
        let mut data = vec![0; (width * height * 4) as usize];
        self.gl.read_pixels(
            0,
            0,
            width,
            height,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelPackData::Slice(Some(&mut data)),
        );
        Picture::new(width as usize, height as usize, data)
    }

    /// Reads RGBA floats from the bound read framebuffer, from its lower left corner.
    pub unsafe fn read_floats(&self, width: i32, height: i32) -> Vec<[f32; 4]> {
        let mut data = vec![[0.0f32; 4]; (width * height) as usize];
        self.gl.read_pixels(
            0,
            0,
            width,
            height,
            gl::RGBA,
            gl::FLOAT,
            gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
        );
        data
    }

    /// Reads numbers of any kind from the bound read framebuffer.
    pub unsafe fn read_as<T: bytemuck::Pod>(
        &self,
        width: i32,
        height: i32,
        format: u32,
        kind: u32,
        n: usize,
    ) -> Vec<T> {
        let mut data = vec![T::zeroed(); n];
        self.gl.pixel_store_i32(gl::PACK_ALIGNMENT, 1);
        self.gl.read_pixels(
            0,
            0,
            width,
            height,
            format,
            kind,
            gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
        );
        self.gl.pixel_store_i32(gl::PACK_ALIGNMENT, 4);
        data
    }
}

/// The transfer format and type that go with an internal format when no data is given.
pub fn transfer_of(format: u32) -> (u32, u32) {
    match format {
        gl::R32I | gl::R16I | gl::R8I => (gl::RED_INTEGER, gl::INT),
        gl::R32UI | gl::R16UI | gl::R8UI => (gl::RED_INTEGER, gl::UNSIGNED_INT),
        gl::RG32UI | gl::RG32I => (gl::RG_INTEGER, gl::UNSIGNED_INT),
        gl::RGBA8I | gl::RGBA16I | gl::RGBA32I => (gl::RGBA_INTEGER, gl::INT),
        gl::RGBA8UI | gl::RGBA16UI | gl::RGBA32UI | gl::RGB10_A2UI => (gl::RGBA_INTEGER, gl::UNSIGNED_INT),
        gl::DEPTH_COMPONENT16 | gl::DEPTH_COMPONENT24 | gl::DEPTH_COMPONENT32F => (gl::DEPTH_COMPONENT, gl::FLOAT),
        gl::DEPTH24_STENCIL8 => (gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8),
        gl::DEPTH32F_STENCIL8 => (gl::DEPTH_STENCIL, gl::FLOAT_32_UNSIGNED_INT_24_8_REV),
        _ => (gl::RGBA, gl::UNSIGNED_BYTE),
    }
}

/// The name of a GL error code.
pub fn error_name(error: u32) -> String {
    match error {
        gl::NO_ERROR => "NO_ERROR".into(),
        gl::INVALID_ENUM => "INVALID_ENUM".into(),
        gl::INVALID_VALUE => "INVALID_VALUE".into(),
        gl::INVALID_OPERATION => "INVALID_OPERATION".into(),
        gl::OUT_OF_MEMORY => "OUT_OF_MEMORY".into(),
        gl::INVALID_FRAMEBUFFER_OPERATION => "INVALID_FRAMEBUFFER_OPERATION".into(),
        other => format!("{other:#06x}"),
    }
}
