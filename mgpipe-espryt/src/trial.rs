//! The power-on self-test: does the driver do what it promises? What would render wrong without an error is tried with small
//! draws and texels that are read back. What does not work is treated as missing, with a line that names it.

mod draws;
mod texels;

use crate::extras::{drain_errors, Extras};
use crate::features::Features;
use glow::HasContext;
use mgpipe_types::gl;
use std::ffi::c_void;

/// Texels of a canvas, side by side.
const WIDTH: i32 = 4;

/// A canvas or what was read of it: red, green, blue and alpha of each texel.
type Texels = [[u8; 4]; WIDTH as usize];

/// A feature and how it is tried.
struct Trial {
    name: &'static str,
    promise: fn(&mut Features) -> &mut bool,
    /// Whether it works; `None` when not even the attempt does.
    works: fn(&Bench<'_>) -> Option<bool>,
}

macro_rules! trials {
    ($($field:ident $name:literal $works:path;)*) => {
        const TRIALS: &[Trial] =
            &[$(Trial { name: $name, promise: |has| &mut has.$field, works: $works }),*];
    };
}

trials! {
    buffer_storage "EXT_buffer_storage" texels::mapping;
    copy_image "copy_image" texels::image_copy;
    base_instance "EXT_base_instance" draws::base_instance;
    base_vertex "draw_elements_base_vertex" draws::base_vertex;
    multi_draw "EXT_multi_draw_arrays" draws::multi_draw;
    multi_draw_indirect "EXT_multi_draw_indirect" draws::multi_draw_indirect;
    clip_distance "EXT_clip_cull_distance" draws::clip_distance;
    depth_clamp "EXT_depth_clamp" draws::depth_clamp;
    dual_source "EXT_blend_func_extended" draws::dual_source;
    draw_buffers_indexed "draw_buffers_indexed" draws::draw_buffers_indexed;
    framebuffer_fetch "EXT_shader_framebuffer_fetch" draws::framebuffer_fetch;
    srgb_control "EXT_sRGB_write_control" draws::srgb_control;
    border_clamp "texture_border_clamp" draws::border;
    norm16 "EXT_texture_norm16" draws::norm16;
    float_attachment "EXT_color_buffer_float" draws::float_attachment;
    texture_buffer "texture_buffer" draws::buffer_texture;
    texture_view "texture_view" draws::view;
    read_depth "NV_read_depth" texels::depth;
    read_stencil "NV_read_stencil" texels::stencil;
    partial_mipmaps "mipmaps of a part of the levels" texels::partial_mipmaps;
}

/// What became of a promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The driver does not promise it.
    NotPromised,
    /// It works.
    Works,
    /// It does not do what is promised, and is treated as missing.
    Fails,
}

/// A feature and what became of its promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tried {
    /// The extension, or what the feature is called.
    pub name: &'static str,
    /// Whether it works.
    pub outcome: Outcome,
}

/// Tries what is promised; a context is current, all of whose state is the initial one and is so again.
pub(crate) fn run(gl: &glow::Context, ext: &Extras, version: u32, has: &mut Features) -> Vec<Tried> {
    let bench = Bench { gl, ext, version };
    drain_errors(gl);
    let outcome = |trial: &Trial, has: &mut Features| match *(trial.promise)(has) {
        false => Outcome::NotPromised,
        true if bench.try_it(trial) => Outcome::Works,
        true => Outcome::Fails,
    };
    TRIALS.iter().map(|trial| Tried { name: trial.name, outcome: outcome(trial, has) }).collect()
}

/// Takes back the promises that were not kept.
pub(crate) fn take_back(tried: &[Tried], has: &mut Features) {
    for trial in TRIALS {
        if tried.iter().any(|tried| tried.name == trial.name && tried.outcome == Outcome::Fails) {
            log::warn!("espryt: the driver promises {}, and it does not work; it is treated as missing", trial.name);
            *(trial.promise)(has) = false;
        }
    }
    has.multi_base_vertex &= has.multi_draw && has.base_vertex;
}

/// Outcomes as bytes, and back; `None` for bytes that are none.
#[cfg(feature = "backend")]
pub(crate) fn to_bytes(tried: &[Tried]) -> Vec<u8> {
    tried.iter().map(|tried| tried.outcome as u8).collect()
}

#[cfg(feature = "backend")]
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Vec<Tried>> {
    let outcome = |byte: &u8| match byte {
        0 => Some(Outcome::NotPromised),
        1 => Some(Outcome::Works),
        2 => Some(Outcome::Fails),
        _ => None,
    };
    let all: Vec<Tried> = TRIALS
        .iter()
        .zip(bytes)
        .map(|(trial, byte)| Some(Tried { name: trial.name, outcome: outcome(byte)? }))
        .collect::<Option<_>>()?;
    (all.len() == bytes.len() && all.len() == TRIALS.len()).then_some(all)
}

/// A driver whose promises are tried.
struct Bench<'d> {
    gl: &'d glow::Context,
    ext: &'d Extras,
    /// 31 or 32.
    version: u32,
}

/// A texture that is drawn to, in its framebuffer, which is bound.
struct Canvas {
    framebuffer: glow::Framebuffer,
    texture: glow::Texture,
}

impl Bench<'_> {
    fn try_it(&self, trial: &Trial) -> bool {
        let works = (trial.works)(self) == Some(true);
        let works = works & drain_errors(self.gl).is_none();
        // What an attempt that broke off has left.
        // SAFETY: a context is current.
        unsafe {
            self.gl.bind_framebuffer(gl::FRAMEBUFFER, None);
            self.gl.bind_vertex_array(None);
            self.gl.bind_sampler(0, None);
            self.gl.use_program(None);
            self.gl.disable(gl::BLEND);
        }
        works
    }

    /// A texture of four texels in a framebuffer of its own; `None` when the driver takes no such attachment.
    fn canvas(&self, internal: u32) -> Option<Canvas> {
        let gl = self.gl;
        // SAFETY: a context is current and the names are fresh.
        unsafe {
            let texture = self.texture(internal)?;
            let framebuffer = gl.create_framebuffer().ok()?;
            gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
            gl.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(texture), 0);
            gl.viewport(0, 0, WIDTH, 1);
            let canvas = Canvas { framebuffer, texture };
            if gl.check_framebuffer_status(gl::FRAMEBUFFER) != gl::FRAMEBUFFER_COMPLETE {
                self.discard(canvas);
                return None;
            }
            gl.clear_color(0.0, 0.0, 0.0, 0.0);
            gl.clear(gl::COLOR_BUFFER_BIT);
            Some(canvas)
        }
    }

    fn discard(&self, canvas: Canvas) {
        // SAFETY: a context is current; its own names, deleted once.
        unsafe {
            self.gl.bind_framebuffer(gl::FRAMEBUFFER, None);
            self.gl.delete_framebuffer(canvas.framebuffer);
            self.gl.delete_texture(canvas.texture);
        }
    }

    /// A texture of four texels, bound, complete without mipmaps.
    fn texture(&self, internal: u32) -> Option<glow::Texture> {
        let gl = self.gl;
        // SAFETY: a context is current and the name is fresh.
        unsafe {
            let texture = gl.create_texture().ok()?;
            gl.bind_texture(gl::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(gl::TEXTURE_2D, 1, internal, WIDTH, 1);
            gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
            gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
            Some(texture)
        }
    }

    /// Writes the texels of the bound texture.
    fn upload(&self, format: u32, ty: u32, bytes: &[u8]) {
        let data = glow::PixelUnpackData::Slice(Some(bytes));
        // SAFETY: a context is current; the callers' bytes are four texels in the format.
        unsafe { self.gl.tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, WIDTH, 1, format, ty, data) };
    }

    /// Reads the bound framebuffer.
    fn read(&self) -> Texels {
        let mut texels: Texels = [[0; 4]; WIDTH as usize];
        self.read_as(gl::RGBA, gl::UNSIGNED_BYTE, texels.as_flattened_mut());
        texels
    }

    /// Reads the bound framebuffer in a format whose texels are `out`.
    fn read_as(&self, format: u32, ty: u32, out: &mut [u8]) {
        // SAFETY: a context is current; `out` holds four texels of the callers' formats.
        unsafe { self.ext.read_pixels(0, 0, WIDTH, 1, format, ty, out.as_mut_ptr().cast::<c_void>()) };
    }

    /// A program in use of two stages, without their version lines; `extensions` are asked for where they are known. Uniforms of
    /// samplers read unit 0.
    fn program(&self, extensions: &[&str], vertex: &str, fragment: &str) -> Option<glow::Program> {
        let gl = self.gl;
        let mut head = format!("#version {} es\n", self.version * 10);
        for extension in extensions {
            head += &format!("#extension {extension} : enable\n");
        }
        head += "precision highp float;\nprecision highp int;\n";
        // SAFETY: a context is current; the names are fresh and deleted here, but for the program.
        unsafe {
            let program = gl.create_program().ok()?;
            for (stage, text) in [(gl::VERTEX_SHADER, vertex), (gl::FRAGMENT_SHADER, fragment)] {
                let shader = gl.create_shader(stage).ok()?;
                gl.shader_source(shader, &format!("{head}{text}"));
                gl.compile_shader(shader);
                gl.attach_shader(program, shader);
                if !gl.get_shader_compile_status(shader) {
                    log::debug!("espryt: a trial's shader is refused: {}", gl.get_shader_info_log(shader).trim());
                }
                gl.delete_shader(shader);
            }
            gl.link_program(program);
            if !gl.get_program_link_status(program) {
                gl.delete_program(program);
                return None;
            }
            gl.use_program(Some(program));
            Some(program)
        }
    }

    fn drop_program(&self, program: glow::Program) {
        // SAFETY: a context is current; its own name, deleted once.
        unsafe {
            self.gl.use_program(None);
            self.gl.delete_program(program);
        }
    }

    /// Draws with a program over the whole canvas and reads it.
    fn draw(&self, extensions: &[&str], fragment: &str) -> Option<Texels> {
        let program = self.program(extensions, FULL, fragment)?;
        self.draw_triangle();
        let texels = self.read();
        self.drop_program(program);
        Some(texels)
    }

    fn draw_triangle(&self) {
        // SAFETY: a context is current; the program in use reads no attributes.
        unsafe { self.gl.draw_arrays(gl::TRIANGLES, 0, 3) };
    }

    /// A buffer with contents, bound.
    fn buffer(&self, target: u32, bytes: &[u8]) -> Option<glow::Buffer> {
        // SAFETY: a context is current and the name is fresh.
        unsafe {
            let buffer = self.gl.create_buffer().ok()?;
            self.gl.bind_buffer(target, Some(buffer));
            self.gl.buffer_data_u8_slice(target, bytes, gl::STATIC_DRAW);
            Some(buffer)
        }
    }
}

/// A vertex stage whose three vertices cover everything.
const FULL: &str = "void main() {
    gl_Position = vec4(float(gl_VertexID & 1) * 4.0 - 1.0, float(gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
}";

/// A fragment stage that writes one.
const WHITE: &str = "layout(location = 0) out vec4 color; void main() { color = vec4(1.0); }";

#[cfg(all(test, feature = "backend"))]
mod tests {
    use super::*;

    #[test]
    fn outcomes_come_back_from_their_bytes() {
        let outcomes = [Outcome::NotPromised, Outcome::Works, Outcome::Fails];
        let all: Vec<Tried> = TRIALS
            .iter()
            .zip(outcomes.into_iter().cycle())
            .map(|(trial, outcome)| Tried { name: trial.name, outcome })
            .collect();
        let bytes = to_bytes(&all);
        assert_eq!(from_bytes(&bytes), Some(all));
        assert_eq!(from_bytes(&bytes[1..]), None);
        assert_eq!(from_bytes(&[vec![9], bytes[1..].to_vec()].concat()), None);
    }

    #[test]
    fn promises_that_are_not_kept_are_taken_back() {
        let mut has = Features::new(true, |_| true);
        let tried = [Tried { name: "EXT_multi_draw_arrays", outcome: Outcome::Fails }];
        has.multi_base_vertex = true;
        take_back(&tried, &mut has);
        assert!(!has.multi_draw && !has.multi_base_vertex && has.multi_draw_indirect);
    }
}
