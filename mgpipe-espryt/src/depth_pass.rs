//! Draws that copy where OpenGL ES has no command for it: depth and stencil between formats and into colours that can be
//! read, and anything to the samples of a multisampled image.
//!
//! The source is always a copy of the backend's own, whose texture parameters nobody else sees.

use crate::context::{dirty, EsprytContext};
use crate::framebuffer::Resolved;
use crate::gles::{named, Gles};
use crate::resource::texture::bind_scratch;
use glow::HasContext;
use mgpipe_types::{gl, Corners, PipeError, PipeResult};

/// What a pass does with the texels that it samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    /// Depth becomes depth.
    Depth,
    /// Stencil becomes stencil, a bit at a time.
    Stencil,
    /// Bits of the depth as a float become an unsigned integer.
    DepthBits,
    /// Stencil becomes an unsigned integer.
    StencilBits,
    /// Colours of a normalised or float format.
    Color,
    /// Colours that are signed integers.
    SignedColor,
    /// Colours that are unsigned integers.
    UnsignedColor,
}

impl Pass {
    fn samples_stencil(self) -> bool {
        matches!(self, Pass::Stencil | Pass::StencilBits)
    }

    fn fragment(self) -> &'static str {
        match self {
            Pass::Depth => "void main() { gl_FragDepth = texelFetch(image, at(), 0).r; }",
            Pass::Stencil => {
                "uniform uint bit; void main() { if ((texelFetch(image, at(), 0).r & bit) == 0u) discard; }"
            }
            Pass::DepthBits => "out uint bits; void main() { bits = floatBitsToUint(texelFetch(image, at(), 0).r); }",
            Pass::Color => "out vec4 color; void main() { color = texelFetch(image, at(), 0); }",
            Pass::SignedColor => "out ivec4 color; void main() { color = texelFetch(image, at(), 0); }",
            Pass::UnsignedColor => "out uvec4 color; void main() { color = texelFetch(image, at(), 0); }",
            Pass::StencilBits => "out uint bits; void main() { bits = texelFetch(image, at(), 0).r; }",
        }
    }
}

const VERTEX: &str = "#version 310 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }";

/// A pixel takes the texel that its centre falls into.
const AT: &str = "uniform vec4 place; uniform vec2 origin;
ivec2 at() { return ivec2(floor(place.xy + (gl_FragCoord.xy - origin) * place.zw)); }
";

/// A program of one pass.
#[derive(Clone)]
struct Tool {
    name: u32,
    place: Option<glow::UniformLocation>,
    origin: Option<glow::UniformLocation>,
    bit: Option<glow::UniformLocation>,
}

/// Programs of the passes, made when they are needed, and a vertex array without attributes.
#[derive(Default)]
pub(crate) struct DepthPasses {
    /// By pass, and whether the source has samples.
    tools: [[Option<Tool>; 7]; 2],
    vertex_array: u32,
}

impl DepthPasses {
    pub(crate) fn destroy(&mut self, gles: &Gles) {
        // SAFETY: the context is current; its own names, deleted once.
        unsafe {
            for tool in self.tools.iter_mut().flatten().filter_map(Option::take) {
                if let Some(program) = named!(NativeProgram, tool.name) {
                    gles.gl.delete_program(program);
                }
            }
            if let Some(array) = named!(NativeVertexArray, self.vertex_array) {
                gles.gl.delete_vertex_array(array);
            }
        }
        self.vertex_array = 0;
    }

    fn tool(&mut self, gles: &Gles, pass: Pass, samples: bool) -> PipeResult<Tool> {
        let slot = &mut self.tools[usize::from(samples)][pass as usize];
        if let Some(tool) = slot {
            return Ok(tool.clone());
        }
        let tool = make(gles, pass, samples)?;
        *slot = Some(tool.clone());
        Ok(tool)
    }
}

fn make(gles: &Gles, pass: Pass, samples: bool) -> PipeResult<Tool> {
    let gl = &gles.gl;
    // A fragment for every sample, which reads the same one of the source.
    let (version, suffix, sample) = match (samples, gles.version >= 32) {
        (false, _) => ("#version 310 es", "", "0"),
        (true, true) => ("#version 320 es", "MS", "gl_SampleID"),
        (true, false) => ("#version 310 es\n#extension GL_OES_sample_variables : require", "MS", "gl_SampleID"),
    };
    let sampler = match pass {
        Pass::Stencil | Pass::StencilBits | Pass::UnsignedColor => "usampler2D",
        Pass::SignedColor => "isampler2D",
        Pass::Depth | Pass::DepthBits | Pass::Color => "sampler2D",
    };
    let head = format!("{version}\nprecision highp float; precision highp int;\n");
    let body = pass.fragment().replace("at(), 0)", &format!("at(), {sample})"));
    let fragment = format!("{head}uniform highp {sampler}{suffix} image;\n{AT}{body}\n");
    let vertex = VERTEX.replace("#version 310 es", version.lines().next().unwrap_or(version));
    // SAFETY: a context is current; shaders and program are fresh names of it.
    unsafe {
        let program = gl.create_program().map_err(PipeError::OutOfMemory)?;
        for (stage, text) in [(gl::VERTEX_SHADER, vertex.as_str()), (gl::FRAGMENT_SHADER, fragment.as_str())] {
            let shader = gl.create_shader(stage).map_err(PipeError::OutOfMemory)?;
            gl.shader_source(shader, text);
            gl.compile_shader(shader);
            gl.attach_shader(program, shader);
            gl.delete_shader(shader);
        }
        gl.link_program(program);
        if !gl.get_program_link_status(program) {
            let log = gl.get_program_info_log(program);
            gl.delete_program(program);
            return Err(PipeError::Unsupported(format!("the driver refuses a copy of {pass:?}: {}", log.trim())));
        }
        let location = |name| gl.get_uniform_location(program, name);
        gl.use_program(Some(program));
        gl.uniform_1_i32(location("image").as_ref(), gles.scratch_unit() as i32);
        Ok(Tool { name: program.0.get(), place: location("place"), origin: location("origin"), bit: location("bit") })
    }
}

impl EsprytContext {
    /// Copies a rectangle by drawing. `src` is a two-dimensional image of the backend's own, `dst` what the pass writes; when both have
    /// samples, each sample is copied.
    pub(crate) fn depth_pass(
        &mut self,
        pass: Pass,
        (src, from): (&Resolved, Corners),
        (dst, to): (&Resolved, Corners),
        scissor: Option<[i32; 4]>,
    ) -> PipeResult<()> {
        let (width, height) = (to.x1.saturating_sub(to.x0), to.y1.saturating_sub(to.y0));
        if width == 0 || height == 0 {
            return Ok(());
        }
        self.leave_xfb_for_program();
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let (gl, has) = (&gles.gl, &gles.has);
        // Making a tool uses its program.
        self.shadow.program = 0;
        self.dirty |= dirty::PROGRAM;
        if self.depth_passes.vertex_array == 0 {
            // SAFETY: the context is current.
            let made = unsafe { gl.create_vertex_array() }.map_err(PipeError::OutOfMemory)?;
            self.depth_passes.vertex_array = made.0.get();
        }
        let tool = self.depth_passes.tool(gles, pass, src.image.samples > 1)?;
        if !self.bind_single(gl::DRAW_FRAMEBUFFER, dst)? {
            return Err(PipeError::Unsupported(format!("copying into {:?}", dst.image.format)));
        }
        let extent = [from.x1.saturating_sub(from.x0), from.y1.saturating_sub(from.y0)];
        let scale = [extent[0] as f32 / width as f32, extent[1] as f32 / height as f32];
        let area = [to.x0.min(to.x1), to.y0.min(to.y1), width.saturating_abs(), height.saturating_abs()];
        self.set_scissor(Some(scissor.map_or(area, |other| intersection(area, other))));
        bind_scratch(gles, &src.image);
        self.shadow.forget_active_unit();
        self.disable_clips();
        // SAFETY: the context is current; every capability is one that it has, and all of this state is set again by the next
        // draw, which `forget_state` sees to.
        unsafe {
            let mode = if pass.samples_stencil() { gl::STENCIL_INDEX } else { gl::DEPTH_COMPONENT };
            if src.image.format.has_depth() && src.image.format.has_stencil() {
                gl.tex_parameter_i32(src.image.target, gl::DEPTH_STENCIL_TEXTURE_MODE, mode as i32);
            }
            for off in [
                gl::CULL_FACE,
                gl::BLEND,
                gl::STENCIL_TEST,
                gl::DEPTH_TEST,
                gl::RASTERIZER_DISCARD,
                gl::POLYGON_OFFSET_FILL,
                gl::SAMPLE_ALPHA_TO_COVERAGE,
                gl::SAMPLE_COVERAGE,
                gl::SAMPLE_MASK,
            ] {
                gl.disable(off);
            }
            if has.depth_clamp {
                // It would cut the depths to the range of the last draw.
                gl.disable(crate::state::DEPTH_CLAMP);
            }
            if has.multisample_control {
                gl.enable(crate::state::MULTISAMPLE);
                gl.disable(crate::state::SAMPLE_ALPHA_TO_ONE);
            }
            if has.polygon_mode {
                gles.ext.polygon_mode(gl::FRONT_AND_BACK, gl::FILL);
            }
            gl.color_mask(true, true, true, true);
            gl.viewport(area[0], area[1], area[2], area[3]);
            gl.use_program(named!(NativeProgram, tool.name));
            gl.uniform_4_f32(tool.place.as_ref(), from.x0 as f32, from.y0 as f32, scale[0], scale[1]);
            gl.uniform_2_f32(tool.origin.as_ref(), to.x0 as f32, to.y0 as f32);
            gl.bind_vertex_array(named!(NativeVertexArray, self.depth_passes.vertex_array));
            self.pause_queries();
            match pass {
                Pass::Depth => {
                    gl.enable(gl::DEPTH_TEST);
                    gl.depth_func(gl::ALWAYS);
                    gl.depth_mask(true);
                    gl.draw_arrays(gl::TRIANGLES, 0, 3);
                }
                Pass::Stencil => {
                    gl.stencil_mask(0xff);
                    gl.clear_buffer_i32_slice(gl::STENCIL, 0, &[0]);
                    gl.enable(gl::STENCIL_TEST);
                    gl.stencil_func(gl::ALWAYS, 0xff, 0xff);
                    gl.stencil_op(gl::KEEP, gl::REPLACE, gl::REPLACE);
                    for bit in 0..8 {
                        gl.stencil_mask(1 << bit);
                        gl.uniform_1_u32(tool.bit.as_ref(), 1 << bit);
                        gl.draw_arrays(gl::TRIANGLES, 0, 3);
                    }
                }
                _ => gl.draw_arrays(gl::TRIANGLES, 0, 3),
            }
            gl.bind_vertex_array(named!(NativeVertexArray, self.vertex_array));
        }
        self.forget_state();
        self.dirty |= dirty::PROGRAM | dirty::FRAMEBUFFER;
        self.resume_queries()
    }
}

/// The part of a rectangle (left, bottom, width, height) that lies in another one.
pub(crate) fn intersection(a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
    let (left, low) = (a[0].max(b[0]), a[1].max(b[1]));
    let right = a[0].saturating_add(a[2]).min(b[0].saturating_add(b[2]));
    let high = a[1].saturating_add(a[3]).min(b[1].saturating_add(b[3]));
    [left, low, right.saturating_sub(left).max(0), high.saturating_sub(low).max(0)]
}
