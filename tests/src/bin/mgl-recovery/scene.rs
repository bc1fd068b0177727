//! What is animated: the bundled demo, and over it a strip of everything else that has to survive. A frame is a function of
//! its number alone, as long as what was uploaded once is there.

use anyhow::{anyhow, bail, Result};
use glow::HasContext as _;
use mgl_tests::demo::{Demo, Quality};

/// Width and height in pixels.
pub(crate) const SIDE: i32 = 96;

const VERTEX: &str = "#version 330 core
layout(location = 0) in vec2 corner;
layout(location = 1) in vec3 place;
layout(location = 2) in vec4 tint;
uniform vec2 shift;
layout(std140) uniform Block { vec4 scale; };
out vec2 at;
out vec4 color;
flat out int layer;
void main() {
    at = corner;
    color = tint;
    layer = gl_InstanceID % 4;
    gl_Position = vec4((corner * 2.0 - 1.0) * place.z * scale.x + place.xy + shift, 0.0, 1.0);
}";

const FRAGMENT: &str = "#version 330 core
uniform sampler2D still;
uniform sampler2D moving;
uniform sampler2DArray layers;
in vec2 at;
in vec4 color;
flat in int layer;
out vec4 result;
void main() {
    vec4 mip = textureLod(still, at, 2.0);
    vec4 row = texture(moving, at);
    vec4 one = texture(layers, vec3(at, layer));
    result = vec4((mip.rgb + row.rgb + one.rgb) / 3.0 * color.rgb, 1.0);
}";

const CAPTURE: &str = "#version 330 core
layout(location = 0) in vec3 place;
uniform float turn;
out vec3 captured;
void main() {
    captured = vec3(place.x, place.y + turn, place.z);
}";

fn noise(seed: u32, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 24) as u8
    })
    .take(length)
    .collect()
}

/// Objects that another context of the share group has made.
pub(crate) struct Loaded {
    /// 32 × 32, every level generated.
    still: glow::Texture,
    /// 16 × 16 with four layers, each uploaded in two parts.
    layers: glow::Texture,
}

/// Makes what a loading thread would make.
///
/// # Safety
/// The context is current.
pub(crate) unsafe fn load(gl: &glow::Context) -> Result<Loaded> {
    let texture = |target| -> Result<glow::Texture> {
        let texture = gl.create_texture().map_err(|e| anyhow!(e))?;
        gl.bind_texture(target, Some(texture));
        gl.tex_parameter_i32(target, glow::TEXTURE_MAG_FILTER, glow::NEAREST as i32);
        Ok(texture)
    };
    let still = texture(glow::TEXTURE_2D)?;
    let texels = noise(1, 32 * 32 * 4);
    let pixels = glow::PixelUnpackData::Slice(Some(&texels));
    gl.tex_image_2d(glow::TEXTURE_2D, 0, glow::RGBA8 as i32, 32, 32, 0, glow::RGBA, glow::UNSIGNED_BYTE, pixels);
    gl.generate_mipmap(glow::TEXTURE_2D);
    let layers = texture(glow::TEXTURE_2D_ARRAY)?;
    gl.tex_parameter_i32(glow::TEXTURE_2D_ARRAY, glow::TEXTURE_MIN_FILTER, glow::NEAREST as i32);
    let none = glow::PixelUnpackData::Slice(None);
    let format = glow::RGBA8 as i32;
    gl.tex_image_3d(glow::TEXTURE_2D_ARRAY, 0, format, 16, 16, 4, 0, glow::RGBA, glow::UNSIGNED_BYTE, none);
    for layer in 0..4 {
        for half in 0..2 {
            let texels = noise(10 + layer as u32 * 2 + half as u32, 16 * 8 * 4);
            let pixels = glow::PixelUnpackData::Slice(Some(&texels));
            let (kind, rgba) = (glow::UNSIGNED_BYTE, glow::RGBA);
            gl.tex_sub_image_3d(glow::TEXTURE_2D_ARRAY, 0, 0, half * 8, layer, 16, 8, 1, rgba, kind, pixels);
        }
    }
    gl.finish();
    Ok(Loaded { still, layers })
}

unsafe fn program(gl: &glow::Context, stages: &[(u32, &str)], captures: bool) -> Result<glow::Program> {
    let program = gl.create_program().map_err(|e| anyhow!(e))?;
    for (stage, source) in stages {
        let shader = gl.create_shader(*stage).map_err(|e| anyhow!(e))?;
        gl.shader_source(shader, source);
        gl.compile_shader(shader);
        gl.attach_shader(program, shader);
        gl.delete_shader(shader);
    }
    if captures {
        gl.transform_feedback_varyings(program, &["captured"], glow::INTERLEAVED_ATTRIBS);
    }
    gl.link_program(program);
    if !gl.get_program_link_status(program) {
        bail!("{}", gl.get_program_info_log(program));
    }
    Ok(program)
}

/// The animated scene.
pub(crate) struct Scene {
    gl: glow::Context,
    demo: Demo,
    loaded: Loaded,
    moving: glow::Texture,
    sampler: glow::Sampler,
    program: glow::Program,
    capture: glow::Program,
    array: glow::VertexArray,
    source_array: glow::VertexArray,
    /// Positions of the instances as captured each frame.
    captured: glow::Buffer,
    block: glow::Buffer,
    queries: Vec<glow::Query>,
    fences: Vec<glow::Fence>,
}

/// Instances of the strip.
const COUNT: i32 = 6;

impl Scene {
    /// # Safety
    /// The context of `gl` is current, and stays so.
    pub(crate) unsafe fn new(gl: glow::Context, loaded: Loaded) -> Result<Scene> {
        let text = |e: String| anyhow!(e);
        let demo = Demo::new(&gl, SIDE, SIDE, Quality::SMALL).map_err(text)?;
        let stages = [(glow::VERTEX_SHADER, VERTEX), (glow::FRAGMENT_SHADER, FRAGMENT)];
        let drawing = program(&gl, &stages, false)?;
        let capture = program(&gl, &[(glow::VERTEX_SHADER, CAPTURE)], true)?;
        let moving = gl.create_texture().map_err(text)?;
        gl.bind_texture(glow::TEXTURE_2D, Some(moving));
        let texels = noise(3, 16 * 16 * 4);
        let pixels = glow::PixelUnpackData::Slice(Some(&texels));
        gl.tex_image_2d(glow::TEXTURE_2D, 0, glow::RGBA8 as i32, 16, 16, 0, glow::RGBA, glow::UNSIGNED_BYTE, pixels);
        let sampler = gl.create_sampler().map_err(text)?;
        for (name, value) in [
            (glow::TEXTURE_MIN_FILTER, glow::NEAREST),
            (glow::TEXTURE_MAG_FILTER, glow::NEAREST),
            (glow::TEXTURE_WRAP_S, glow::MIRRORED_REPEAT),
        ] {
            gl.sampler_parameter_i32(sampler, name, value as i32);
        }
        let filled = |target, bytes: &[u8]| -> Result<glow::Buffer> {
            let buffer = gl.create_buffer().map_err(text)?;
            gl.bind_buffer(target, Some(buffer));
            gl.buffer_data_u8_slice(target, bytes, glow::DYNAMIC_DRAW);
            Ok(buffer)
        };
        let block = filled(glow::UNIFORM_BUFFER, &[0; 16])?;
        let captured = filled(glow::ARRAY_BUFFER, &[0; COUNT as usize * 12])?;
        let places: Vec<f32> = (0..COUNT).flat_map(|i| [i as f32 * 0.3 - 0.8, -0.7, 0.12]).collect();
        let corners: [f32; 8] = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0];
        let array = gl.create_vertex_array().map_err(text)?;
        gl.bind_vertex_array(Some(array));
        filled(glow::ARRAY_BUFFER, bytemuck::cast_slice(&corners))?;
        gl.enable_vertex_attrib_array(0);
        gl.vertex_attrib_pointer_f32(0, 2, glow::FLOAT, false, 0, 0);
        gl.bind_buffer(glow::ARRAY_BUFFER, Some(captured));
        gl.enable_vertex_attrib_array(1);
        gl.vertex_attrib_pointer_f32(1, 3, glow::FLOAT, false, 0, 0);
        gl.vertex_attrib_divisor(1, 1);
        filled(glow::ELEMENT_ARRAY_BUFFER, bytemuck::cast_slice(&[0u16, 1, 2, 0, 2, 3]))?;
        let source_array = gl.create_vertex_array().map_err(text)?;
        gl.bind_vertex_array(Some(source_array));
        filled(glow::ARRAY_BUFFER, bytemuck::cast_slice(&places))?;
        gl.enable_vertex_attrib_array(0);
        gl.vertex_attrib_pointer_f32(0, 3, glow::FLOAT, false, 0, 0);
        let index = gl.get_uniform_block_index(drawing, "Block").ok_or(anyhow!("no block"))?;
        gl.uniform_block_binding(drawing, index, 3);
        gl.use_program(Some(drawing));
        for (unit, name) in ["still", "moving", "layers"].into_iter().enumerate() {
            gl.uniform_1_i32(gl.get_uniform_location(drawing, name).as_ref(), 4 + unit as i32);
        }
        Ok(Scene {
            gl,
            demo,
            loaded,
            moving,
            sampler,
            program: drawing,
            capture,
            array,
            source_array,
            captured,
            block,
            queries: Vec::new(),
            fences: Vec::new(),
        })
    }

    /// Draws a frame and reads it back.
    ///
    /// # Safety
    /// As for [`Scene::new`].
    pub(crate) unsafe fn frame(&mut self, frame: u32) -> Result<Vec<u8>> {
        self.demo.frame(&self.gl, frame as f32 * 0.25);
        self.strip(frame)?;
        let gl = &self.gl;
        let mut picture = vec![0; (SIDE * SIDE * 4) as usize];
        gl.bind_framebuffer(glow::FRAMEBUFFER, None);
        let pixels = glow::PixelPackData::Slice(Some(&mut picture));
        gl.read_pixels(0, 0, SIDE, SIDE, glow::RGBA, glow::UNSIGNED_BYTE, pixels);
        match gl.get_error() {
            glow::NO_ERROR => Ok(picture),
            error => bail!("GL error {error:#06x}"),
        }
    }

    unsafe fn strip(&mut self, frame: u32) -> Result<()> {
        let gl = &self.gl;
        let query = gl.create_query().map_err(|e| anyhow!(e))?;
        gl.begin_query(glow::ANY_SAMPLES_PASSED, query);
        // Where the quads stand is captured anew in every frame.
        gl.use_program(Some(self.capture));
        gl.uniform_1_f32(gl.get_uniform_location(self.capture, "turn").as_ref(), frame as f32 * 0.02);
        gl.bind_vertex_array(Some(self.source_array));
        gl.bind_buffer_base(glow::TRANSFORM_FEEDBACK_BUFFER, 0, Some(self.captured));
        gl.enable(glow::RASTERIZER_DISCARD);
        gl.begin_transform_feedback(glow::POINTS);
        gl.draw_arrays(glow::POINTS, 0, COUNT);
        gl.end_transform_feedback();
        gl.disable(glow::RASTERIZER_DISCARD);
        gl.bind_buffer_base(glow::TRANSFORM_FEEDBACK_BUFFER, 0, None);
        // One row of a texture changes; the next frames of the period bring the others.
        let rows = noise(100 + frame, 16 * 4);
        gl.active_texture(glow::TEXTURE5);
        gl.bind_texture(glow::TEXTURE_2D, Some(self.moving));
        let pixels = glow::PixelUnpackData::Slice(Some(&rows));
        gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 7, 16, 1, glow::RGBA, glow::UNSIGNED_BYTE, pixels);
        gl.bind_sampler(5, Some(self.sampler));
        gl.active_texture(glow::TEXTURE4);
        gl.bind_texture(glow::TEXTURE_2D, Some(self.loaded.still));
        gl.active_texture(glow::TEXTURE6);
        gl.bind_texture(glow::TEXTURE_2D_ARRAY, Some(self.loaded.layers));
        gl.active_texture(glow::TEXTURE0);
        let scale = [1.0 - frame as f32 * 0.02, 0.0, 0.0, 0.0];
        gl.bind_buffer(glow::UNIFORM_BUFFER, Some(self.block));
        gl.buffer_sub_data_u8_slice(glow::UNIFORM_BUFFER, 0, bytemuck::cast_slice(&scale));
        gl.bind_buffer_base(glow::UNIFORM_BUFFER, 3, Some(self.block));
        gl.use_program(Some(self.program));
        gl.uniform_2_f32(gl.get_uniform_location(self.program, "shift").as_ref(), 0.01 * frame as f32, 0.0);
        gl.vertex_attrib_4_f32(2, 1.0, 0.5 + frame as f32 / 32.0, 1.0, 1.0);
        gl.bind_vertex_array(Some(self.array));
        gl.enable(glow::SCISSOR_TEST);
        gl.scissor(0, 0, SIDE, SIDE / 2);
        gl.draw_elements_instanced(glow::TRIANGLES, 6, glow::UNSIGNED_SHORT, 0, COUNT);
        gl.disable(glow::SCISSOR_TEST);
        gl.end_query(glow::ANY_SAMPLES_PASSED);
        self.queries.push(query);
        self.fences.push(gl.fence_sync(glow::SYNC_GPU_COMMANDS_COMPLETE, 0).map_err(|e| anyhow!(e))?);
        self.settle()
    }

    /// Asks for what three frames ago was asked: it must have an end, also when the server that was asked is dead.
    unsafe fn settle(&mut self) -> Result<()> {
        let gl = &self.gl;
        if self.queries.len() > 3 {
            let query = self.queries.remove(0);
            let mut asked = 0;
            while gl.get_query_parameter_u32(query, glow::QUERY_RESULT_AVAILABLE) == 0 {
                asked += 1;
                if asked > 10_000_000 {
                    bail!("a query never has a result");
                }
            }
            gl.get_query_parameter_u32(query, glow::QUERY_RESULT);
            gl.delete_query(query);
        }
        if self.fences.len() > 3 {
            let fence = self.fences.remove(0);
            // Half a minute, in pieces.
            let signals = (0..15).any(|_| {
                let status = gl.client_wait_sync(fence, glow::SYNC_FLUSH_COMMANDS_BIT, 2_000_000_000);
                status == glow::ALREADY_SIGNALED || status == glow::CONDITION_SATISFIED
            });
            if !signals {
                bail!("a fence does not signal: GL error {:#06x}", gl.get_error());
            }
            gl.delete_sync(fence);
        }
        Ok(())
    }
}
