//! The bundled demo: a lit, shadowed, textured and animated still life, multisampled, with glow and a tone curve.
//!
//! Everything is a function of the time handed to [`Demo::frame`], so that one frame can be compared between drivers.

pub mod math;
pub mod mesh;
pub mod shaders;
pub mod texture;

use bytemuck::{Pod, Zeroable};
use glow::{self as gl, HasContext as _};

use self::math::{look_at, mul, normalize, orthographic, perspective, rotation, scale, translation, Mat4, Vec3};
use self::mesh::Mesh;
use self::texture::{LAYER_BRUSHED, LAYER_CRATE, LAYER_PLAIN, LAYER_TILES};

/// How much work a frame is.
#[derive(Clone, Copy, Debug)]
pub struct Quality {
    /// Width and height of the shadow map in texels.
    pub shadow_size: i32,
    /// Divides the number of cells of the curved meshes in each direction: 1, 2 or 4.
    pub detail: u32,
    /// Width and height of the material textures in texels.
    pub texture_size: usize,
}

impl Quality {
    /// For pictures to look at.
    pub const FULL: Self = Self { shadow_size: 2048, detail: 1, texture_size: 512 };
    /// For thousands of frames on a software driver.
    pub const SMALL: Self = Self { shadow_size: 64, detail: 4, texture_size: 64 };
}

/// Mip levels of the picture that the glow reads.
const N_GLOW_LEVELS: i32 = 6;

/// The contents of the uniform block `Frame`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Frame {
    view_projection: Mat4,
    inverse_view_projection: Mat4,
    light_matrix: Mat4,
    eye: [f32; 4],
    to_light: [f32; 4],
    size: [f32; 4],
}

/// One object of an instanced draw.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Instance {
    model: Mat4,
    color: [f32; 4],
    surface: [f32; 4],
}

/// A mesh on the GPU.
struct Shape {
    array: gl::NativeVertexArray,
    n_indices: i32,
}

/// Which objects of the instance buffer a shape draws.
struct Batch {
    shape: usize,
    instances: Vec<Instance>,
}

/// The demo's GL objects.
pub struct Demo {
    width: i32,
    height: i32,
    quality: Quality,
    samples: i32,
    shapes: Vec<Shape>,
    instance_buffer: gl::NativeBuffer,
    frame_buffer: gl::NativeBuffer,
    empty_array: gl::NativeVertexArray,
    object: gl::NativeProgram,
    shadow: gl::NativeProgram,
    sky: gl::NativeProgram,
    screen: gl::NativeProgram,
    materials: gl::NativeTexture,
    shadow_map: gl::NativeTexture,
    shadow_target: gl::NativeFramebuffer,
    multisampled: gl::NativeFramebuffer,
    picture: gl::NativeTexture,
    picture_target: gl::NativeFramebuffer,
}

unsafe fn program(gl: &gl::Context, vertex: &str, fragment: &str) -> Result<gl::NativeProgram, String> {
    let program = gl.create_program()?;
    for (stage, source) in [(gl::VERTEX_SHADER, vertex), (gl::FRAGMENT_SHADER, fragment)] {
        let shader = gl.create_shader(stage)?;
        gl.shader_source(shader, &format!("#version 330 core\n{source}"));
        gl.compile_shader(shader);
        if !gl.get_shader_compile_status(shader) {
            return Err(gl.get_shader_info_log(shader));
        }
        gl.attach_shader(program, shader);
        gl.delete_shader(shader);
    }
    gl.link_program(program);
    if !gl.get_program_link_status(program) {
        return Err(gl.get_program_info_log(program));
    }
    if let Some(index) = gl.get_uniform_block_index(program, "Frame") {
        gl.uniform_block_binding(program, index, 0);
    }
    gl.use_program(Some(program));
    for (name, unit) in [("materials", 0), ("shadow_map", 1), ("picture", 0)] {
        if let Some(location) = gl.get_uniform_location(program, name) {
            gl.uniform_1_i32(Some(&location), unit);
        }
    }
    Ok(program)
}

unsafe fn check_target(gl: &gl::Context, what: &str) -> Result<(), String> {
    match gl.check_framebuffer_status(gl::FRAMEBUFFER) {
        gl::FRAMEBUFFER_COMPLETE => Ok(()),
        status => Err(format!("the framebuffer of {what} is not complete: {status:#06x}")),
    }
}

impl Demo {
    /// Creates everything for pictures of the given size.
    ///
    /// # Safety
    /// A GL 3.3 context is current, and stays so for every use of the demo.
    pub unsafe fn new(gl: &gl::Context, width: i32, height: i32, quality: Quality) -> Result<Self, String> {
        let instance_buffer = gl.create_buffer()?;
        let shapes =
            [mesh::plane(), mesh::knot(quality.detail), mesh::sphere(quality.detail), mesh::cube(), mesh::pedestal()]
                .iter()
                .map(|mesh| Self::upload(gl, mesh, instance_buffer))
                .collect::<Result<Vec<_>, _>>()?;
        let frame_buffer = gl.create_buffer()?;
        gl.bind_buffer(gl::UNIFORM_BUFFER, Some(frame_buffer));
        gl.buffer_data_size(gl::UNIFORM_BUFFER, size_of::<Frame>() as i32, gl::DYNAMIC_DRAW);
        let empty_array = gl.create_vertex_array()?;

        let vertex = format!("{}{}", shaders::FRAME_BLOCK, shaders::OBJECT_VS);
        let object = program(gl, &vertex, &shaders::object_fs())?;
        let shadow = program(gl, &vertex, shaders::SHADOW_FS)?;
        if let Some(location) = gl.get_uniform_location(shadow, "shadow_pass") {
            gl.uniform_1_i32(Some(&location), 1);
        }
        let sky = program(gl, shaders::SCREEN_VS, &shaders::sky_fs())?;
        let screen = program(gl, shaders::SCREEN_VS, &shaders::screen_fs())?;
        let materials = texture::create(gl, quality.texture_size)?;

        let shadow_map = gl.create_texture()?;
        gl.bind_texture(gl::TEXTURE_2D, Some(shadow_map));
        gl.tex_image_2d(
            gl::TEXTURE_2D,
            0,
            gl::DEPTH_COMPONENT24 as i32,
            quality.shadow_size,
            quality.shadow_size,
            0,
            gl::DEPTH_COMPONENT,
            gl::UNSIGNED_INT,
            gl::PixelUnpackData::Slice(None),
        );
        for (name, value) in [
            (gl::TEXTURE_MIN_FILTER, gl::LINEAR),
            (gl::TEXTURE_MAG_FILTER, gl::LINEAR),
            (gl::TEXTURE_MAX_LEVEL, 0),
            (gl::TEXTURE_WRAP_S, gl::CLAMP_TO_EDGE),
            (gl::TEXTURE_WRAP_T, gl::CLAMP_TO_EDGE),
            (gl::TEXTURE_COMPARE_MODE, gl::COMPARE_REF_TO_TEXTURE),
            (gl::TEXTURE_COMPARE_FUNC, gl::LEQUAL),
        ] {
            gl.tex_parameter_i32(gl::TEXTURE_2D, name, value as i32);
        }
        let shadow_target = gl.create_framebuffer()?;
        gl.bind_framebuffer(gl::FRAMEBUFFER, Some(shadow_target));
        gl.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::DEPTH_ATTACHMENT, gl::TEXTURE_2D, Some(shadow_map), 0);
        gl.draw_buffer(gl::NONE);
        gl.read_buffer(gl::NONE);
        check_target(gl, "the shadow map")?;

        let samples = 4.min(gl.get_parameter_i32(gl::MAX_SAMPLES));
        let multisampled = gl.create_framebuffer()?;
        gl.bind_framebuffer(gl::FRAMEBUFFER, Some(multisampled));
        for (attachment, format) in
            [(gl::COLOR_ATTACHMENT0, gl::RGBA16F), (gl::DEPTH_ATTACHMENT, gl::DEPTH_COMPONENT24)]
        {
            let buffer = gl.create_renderbuffer()?;
            gl.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
            gl.renderbuffer_storage_multisample(gl::RENDERBUFFER, samples, format, width, height);
            gl.framebuffer_renderbuffer(gl::FRAMEBUFFER, attachment, gl::RENDERBUFFER, Some(buffer));
        }
        check_target(gl, "the multisampled picture")?;

        let picture = gl.create_texture()?;
        gl.bind_texture(gl::TEXTURE_2D, Some(picture));
        gl.tex_image_2d(
            gl::TEXTURE_2D,
            0,
            gl::RGBA16F as i32,
            width,
            height,
            0,
            gl::RGBA,
            gl::FLOAT,
            gl::PixelUnpackData::Slice(None),
        );
        for (name, value) in [
            (gl::TEXTURE_MIN_FILTER, gl::LINEAR_MIPMAP_LINEAR),
            (gl::TEXTURE_MAG_FILTER, gl::LINEAR),
            (gl::TEXTURE_WRAP_S, gl::CLAMP_TO_EDGE),
            (gl::TEXTURE_WRAP_T, gl::CLAMP_TO_EDGE),
        ] {
            gl.tex_parameter_i32(gl::TEXTURE_2D, name, value as i32);
        }
        gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, N_GLOW_LEVELS - 1);
        let picture_target = gl.create_framebuffer()?;
        gl.bind_framebuffer(gl::FRAMEBUFFER, Some(picture_target));
        gl.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(picture), 0);
        check_target(gl, "the picture")?;

        Ok(Self {
            width,
            height,
            quality,
            samples,
            shapes,
            instance_buffer,
            frame_buffer,
            empty_array,
            object,
            shadow,
            sky,
            screen,
            materials,
            shadow_map,
            shadow_target,
            multisampled,
            picture,
            picture_target,
        })
    }

    /// The number of samples a pixel.
    pub fn samples(&self) -> i32 {
        self.samples
    }

    unsafe fn upload(gl: &gl::Context, mesh: &Mesh, instances: gl::NativeBuffer) -> Result<Shape, String> {
        let array = gl.create_vertex_array()?;
        gl.bind_vertex_array(Some(array));
        let vertices = gl.create_buffer()?;
        gl.bind_buffer(gl::ARRAY_BUFFER, Some(vertices));
        gl.buffer_data_u8_slice(gl::ARRAY_BUFFER, bytemuck::cast_slice(&mesh.vertices), gl::STATIC_DRAW);
        for (index, size, offset) in [(0, 3, 0), (1, 3, 12), (2, 2, 24)] {
            gl.enable_vertex_attrib_array(index);
            gl.vertex_attrib_pointer_f32(index, size, gl::FLOAT, false, 32, offset);
        }
        gl.bind_buffer(gl::ARRAY_BUFFER, Some(instances));
        for index in 3..9 {
            gl.enable_vertex_attrib_array(index);
            gl.vertex_attrib_divisor(index, 1);
        }
        let indices = gl.create_buffer()?;
        gl.bind_buffer(gl::ELEMENT_ARRAY_BUFFER, Some(indices));
        gl.buffer_data_u8_slice(gl::ELEMENT_ARRAY_BUFFER, bytemuck::cast_slice(&mesh.indices), gl::STATIC_DRAW);
        Ok(Shape { array, n_indices: mesh.indices.len() as i32 })
    }

    /// Draws the frame of `time` (seconds) into the default framebuffer.
    ///
    /// # Safety
    /// The context of [`Demo::new`] is current.
    pub unsafe fn frame(&self, gl: &gl::Context, time: f32) {
        let batches = still_life(time);
        let all: Vec<Instance> = batches.iter().flat_map(|b| b.instances.iter().copied()).collect();
        gl.bind_buffer(gl::ARRAY_BUFFER, Some(self.instance_buffer));
        gl.buffer_data_u8_slice(gl::ARRAY_BUFFER, bytemuck::cast_slice(&all), gl::STREAM_DRAW);
        let frame = self.frame_constants(time);
        gl.bind_buffer_base(gl::UNIFORM_BUFFER, 0, Some(self.frame_buffer));
        gl.buffer_sub_data_u8_slice(gl::UNIFORM_BUFFER, 0, bytemuck::bytes_of(&frame));

        gl.enable(gl::DEPTH_TEST);
        gl.enable(gl::CULL_FACE);
        gl.bind_framebuffer(gl::FRAMEBUFFER, Some(self.shadow_target));
        gl.viewport(0, 0, self.quality.shadow_size, self.quality.shadow_size);
        gl.clear(gl::DEPTH_BUFFER_BIT);
        gl.enable(gl::POLYGON_OFFSET_FILL);
        gl.polygon_offset(1.5, 2.0);
        gl.use_program(Some(self.shadow));
        self.draw(gl, &batches);
        gl.disable(gl::POLYGON_OFFSET_FILL);

        gl.bind_framebuffer(gl::FRAMEBUFFER, Some(self.multisampled));
        gl.viewport(0, 0, self.width, self.height);
        gl.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
        gl.active_texture(gl::TEXTURE1);
        gl.bind_texture(gl::TEXTURE_2D, Some(self.shadow_map));
        gl.active_texture(gl::TEXTURE0);
        gl.bind_texture(gl::TEXTURE_2D_ARRAY, Some(self.materials));
        gl.use_program(Some(self.object));
        self.draw(gl, &batches);
        // The background lies at the far plane, where nothing else was drawn.
        gl.depth_func(gl::LEQUAL);
        gl.use_program(Some(self.sky));
        gl.bind_vertex_array(Some(self.empty_array));
        gl.draw_arrays(gl::TRIANGLES, 0, 3);
        gl.depth_func(gl::LESS);

        gl.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(self.multisampled));
        gl.bind_framebuffer(gl::DRAW_FRAMEBUFFER, Some(self.picture_target));
        let (w, h) = (self.width, self.height);
        gl.blit_framebuffer(0, 0, w, h, 0, 0, w, h, gl::COLOR_BUFFER_BIT, gl::NEAREST);
        gl.bind_texture(gl::TEXTURE_2D, Some(self.picture));
        gl.generate_mipmap(gl::TEXTURE_2D);

        gl.bind_framebuffer(gl::FRAMEBUFFER, None);
        gl.viewport(0, 0, w, h);
        gl.disable(gl::DEPTH_TEST);
        gl.disable(gl::CULL_FACE);
        gl.use_program(Some(self.screen));
        gl.draw_arrays(gl::TRIANGLES, 0, 3);
    }

    /// Draws every batch with the program in use.
    unsafe fn draw(&self, gl: &gl::Context, batches: &[Batch]) {
        let mut first = 0;
        gl.bind_buffer(gl::ARRAY_BUFFER, Some(self.instance_buffer));
        for batch in batches {
            let shape = &self.shapes[batch.shape];
            gl.bind_vertex_array(Some(shape.array));
            let stride = size_of::<Instance>() as i32;
            for i in 0..6 {
                gl.vertex_attrib_pointer_f32(3 + i, 4, gl::FLOAT, false, stride, first * stride + i as i32 * 16);
            }
            let n = batch.instances.len() as i32;
            gl.draw_elements_instanced(gl::TRIANGLES, shape.n_indices, gl::UNSIGNED_INT, 0, n);
            first += n;
        }
    }

    fn frame_constants(&self, time: f32) -> Frame {
        let angle = 0.12 + time * 0.16;
        let distance = 9.3;
        let eye: Vec3 = [distance * angle.sin(), 3.0 + 0.35 * (time * 0.4).sin(), distance * angle.cos()];
        let target: Vec3 = [0.0, 1.35, 0.0];
        let (fov, aspect) = (0.72, self.width as f32 / self.height as f32);
        let view = look_at(eye, target);
        let view_projection = mul(&perspective(fov, aspect, 0.1, 120.0), &view);
        // The inverse of a rigid view and a perspective projection, without general inversion: unproject the corners'
        // axes (camera right, up and forward in the world) at depth 1.
        let (tan_y, tan_x) = ((fov / 2.0).tan(), (fov / 2.0).tan() * aspect);
        let axis = |i: usize| [view[0][i], view[1][i], view[2][i]];
        let (right, up, back) = (axis(0), axis(1), axis(2));
        let far = |k: usize, s: f32| [right, up, back][k].map(|c| c * s);
        let mut inverse = [[0.0; 4]; 4];
        for i in 0..3 {
            inverse[0][i] = far(0, tan_x)[i];
            inverse[1][i] = far(1, tan_y)[i];
            inverse[3][i] = eye[i] + far(2, -1.0)[i];
        }
        inverse[3][3] = 1.0;
        let to_light = normalize([-0.70, 0.42, -0.74]);
        let light_view = look_at(to_light.map(|c| c * 20.0), [0.0, 0.6, 0.0]);
        let light_matrix = mul(&orthographic(9.5, 9.5, 4.0, 38.0), &light_view);
        Frame {
            view_projection,
            inverse_view_projection: inverse,
            light_matrix,
            eye: [eye[0], eye[1], eye[2], 1.0],
            to_light: [to_light[0], to_light[1], to_light[2], time],
            size: [self.width as f32, self.height as f32, 1.0 / self.width as f32, 1.0 / self.height as f32],
        }
    }
}

/// A saturated colour of the given hue (0 to 1), in linear light.
fn hue(h: f32) -> Vec3 {
    [0.0f32, 1.0 / 3.0, 2.0 / 3.0].map(|o| {
        let c = 0.5 + 0.5 * (std::f32::consts::TAU * (h + o)).cos();
        0.03 + 0.87 * c * c
    })
}

/// Everything in the picture at `time`.
fn still_life(time: f32) -> Vec<Batch> {
    use std::f32::consts::TAU;
    let at = |p: Vec3, m: Mat4| mul(&translation(p), &m);
    let item = |model, c: Vec3, layer, surface| Instance { model, color: [c[0], c[1], c[2], layer], surface };
    let mut batches = vec![Batch {
        shape: 0,
        instances: vec![item(scale([60.0, 1.0, 60.0]), [0.62, 0.60, 0.62], LAYER_TILES, [0.0, 0.42, 30.0, 0.0])],
    }];
    let turn = mul(&rotation([0.0, 1.0, 0.0], time * 0.7), &rotation([1.0, 0.0, 0.0], 0.35 + 0.2 * (time * 0.5).sin()));
    batches.push(Batch {
        shape: 1,
        instances: vec![item(
            at([0.0, 2.35 + 0.08 * (time * 1.3).sin(), 0.0], mul(&turn, &scale([0.95; 3]))),
            [1.0, 0.62, 0.28],
            LAYER_BRUSHED,
            [1.0, 0.24, 1.0, 0.0],
        )],
    });
    let mut spheres = Vec::new();
    for i in 0..14 {
        let a = TAU * i as f32 / 14.0 + time * 0.25;
        let y = 0.45 + 0.32 * (time * 2.0 + i as f32 * 1.7).sin().abs();
        let metal = if i % 3 == 0 { 1.0 } else { 0.0 };
        let rough = 0.12 + 0.5 * (i % 4) as f32 / 3.0;
        let p = [3.1 * a.sin(), y, 3.1 * a.cos()];
        spheres.push(item(at(p, scale([0.42; 3])), hue(i as f32 / 14.0), LAYER_PLAIN, [metal, rough, 1.0, 0.0]));
    }
    for i in 0..5 {
        // Small lamps that circle the knot.
        let a = TAU * i as f32 / 5.0 - time * 0.9;
        let p = [2.0 * a.sin(), 2.3 + 0.5 * (time + i as f32 * 2.4).sin(), 2.0 * a.cos()];
        spheres.push(item(at(p, scale([0.085; 3])), hue(0.07 + i as f32 / 5.0), LAYER_PLAIN, [0.0, 0.5, 1.0, 5.0]));
    }
    batches.push(Batch { shape: 2, instances: spheres });
    let crates = (0..7)
        .map(|i| {
            let a = TAU * (i as f32 + 0.35) / 7.0;
            let s = 0.5 + 0.13 * (i % 3) as f32;
            let spin = if i % 2 == 0 { 0.4 * i as f32 } else { 0.4 * i as f32 + time * 0.3 };
            let model = at([4.8 * a.sin(), s, 4.8 * a.cos()], mul(&rotation([0.0, 1.0, 0.0], spin), &scale([s; 3])));
            item(model, [1.0, 0.96, 0.9], LAYER_CRATE, [0.0, 0.62, 1.0, 0.0])
        })
        .collect();
    batches.push(Batch { shape: 3, instances: crates });
    batches.push(Batch {
        shape: 4,
        instances: vec![
            item(scale([1.55, 0.28, 1.55]), [0.55, 0.57, 0.62], LAYER_TILES, [0.0, 0.35, 1.0, 0.0]),
            item(at([0.0, 0.28, 0.0], scale([1.2, 0.42, 1.2])), [0.92, 0.90, 0.86], LAYER_PLAIN, [0.0, 0.28, 1.0, 0.0]),
        ],
    });
    batches
}
