//! Long random sequences of state changes, uploads and draws, the same on every driver, judged by the final pictures.
//!
//! Shapes are rectangles on pixel boundaries with depths that are far apart, so that no legal freedom of rasterisation can
//! make two right drivers differ; only the rounding of blending can, which the tolerance covers.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, Target};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("mixed_state_1", state_1),
    Scenario::new("mixed_state_2", state_2),
    Scenario::new("mixed_state_3", state_3),
    Scenario::new("mixed_state_4", state_4),
    Scenario::new("mixed_objects_1", objects_1),
    Scenario::new("mixed_objects_2", objects_2),
    Scenario::new("mixed_objects_3", objects_3),
];

const SIZE: i32 = 64;
/// Blending rounds differently from driver to driver, and the differences add up over many layers.
const TOLERANCE: Tolerance = Tolerance { channel: 12, bad_share: 0.01, ssim: 0.98 };

/// A small generator of numbers that look random and are the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as u32) % below
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.next(100) < percent
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.next(list.len() as u32) as usize]
    }

    /// One of 0, 1/4, … 1.
    fn quarter(&mut self) -> f32 {
        self.next(5) as f32 / 4.0
    }
}

const VERTEX: &str = "
    uniform vec4 box; uniform float depth;
    out vec2 uv;
    void main() {
        vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
        gl_Position = vec4(mix(box.xy, box.zw, corner) / 32.0 - 1.0, depth, 1.0);
        // Off the texels' edges, where drivers may round to either side.
        uv = corner * 0.9731 + 0.01371;
    }";

const FRAGMENTS: [&str; 3] = [
    "uniform vec4 color; in vec2 uv; out vec4 result; void main() { result = color; }",
    "uniform vec4 color; uniform sampler2D image; in vec2 uv; out vec4 result; void main() { result = texture(image, uv) * color; }",
    "layout(std140) uniform Block { vec4 low; vec4 high; }; uniform vec4 color; in vec2 uv; out vec4 result;
     void main() { result = (uv.x < 0.5 ? low : high) + color * 0.25; }",
];

/// Everything that the sequences use.
struct World {
    programs: Vec<gl::NativeProgram>,
    target: Target,
    block: gl::NativeBuffer,
}

unsafe fn world(t: &Scene) -> World {
    let target = t.target(SIZE, SIZE);
    let programs: Vec<_> = FRAGMENTS.iter().map(|f| t.program(VERTEX, f)).collect();
    if let Some(index) = t.get_uniform_block_index(programs[2], "Block") {
        t.uniform_block_binding(programs[2], index, 4);
    }
    let block = t.buffer(gl::UNIFORM_BUFFER, &[0.5f32; 8]);
    t.bind_buffer_base(gl::UNIFORM_BUFFER, 4, Some(block));
    t.vertex_array();
    World { programs, target, block }
}

/// Draws one rectangle with program `which`; both windings occur.
unsafe fn rectangle(t: &Scene, r: &mut Random, world: &World, which: usize) {
    let program = world.programs[which];
    t.use_program(Some(program));
    let (x, y) = (r.next(56) as f32, r.next(56) as f32);
    let (w, h) = (2.0 + r.next(40) as f32, 2.0 + r.next(40) as f32);
    let corners = if r.chance(50) { [x, y, x + w, y + h] } else { [x + w, y, x, y + h] };
    t.set_vec4(program, "box", corners);
    t.set_vec4(program, "color", [r.quarter(), r.quarter(), r.quarter(), r.quarter()]);
    let depth = t.uniform(program, "depth");
    t.uniform_1_f32(Some(&depth), r.next(16) as f32 / 8.0 - 0.9375);
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
}

unsafe fn change_state(t: &Scene, r: &mut Random) {
    let toggle = |on: bool, name: u32| if on { t.enable(name) } else { t.disable(name) };
    match r.next(14) {
        0 => toggle(r.chance(60), gl::BLEND),
        1 => toggle(r.chance(60), gl::DEPTH_TEST),
        2 => toggle(r.chance(50), gl::STENCIL_TEST),
        3 => toggle(r.chance(40), gl::SCISSOR_TEST),
        4 => toggle(r.chance(40), gl::CULL_FACE),
        5 => {
            let factors = [
                gl::ZERO,
                gl::ONE,
                gl::SRC_ALPHA,
                gl::ONE_MINUS_SRC_ALPHA,
                gl::DST_COLOR,
                gl::CONSTANT_COLOR,
                gl::ONE_MINUS_DST_ALPHA,
            ];
            t.blend_func_separate(r.pick(&factors), r.pick(&factors), r.pick(&factors), r.pick(&factors));
        }
        6 => {
            let equations = [gl::FUNC_ADD, gl::FUNC_SUBTRACT, gl::FUNC_REVERSE_SUBTRACT, gl::MIN, gl::MAX];
            t.blend_equation_separate(r.pick(&equations), r.pick(&equations));
        }
        7 => t.depth_func(r.pick(&[gl::LESS, gl::LEQUAL, gl::GREATER, gl::GEQUAL, gl::NOTEQUAL, gl::ALWAYS])),
        8 => {
            let face = r.pick(&[gl::FRONT, gl::BACK, gl::FRONT_AND_BACK]);
            let function = r.pick(&[gl::ALWAYS, gl::EQUAL, gl::NOTEQUAL, gl::LESS, gl::GEQUAL]);
            t.stencil_func_separate(face, function, r.next(4) as i32, r.pick(&[0xff, 0x3, 0x1]));
        }
        9 => {
            let face = r.pick(&[gl::FRONT, gl::BACK, gl::FRONT_AND_BACK]);
            let ops = [gl::KEEP, gl::REPLACE, gl::INCR, gl::DECR_WRAP, gl::INVERT, gl::ZERO];
            t.stencil_op_separate(face, r.pick(&ops), r.pick(&ops), r.pick(&ops));
        }
        10 => t.scissor(r.next(48) as i32, r.next(48) as i32, 8 + r.next(40) as i32, 8 + r.next(40) as i32),
        11 => t.color_mask(r.chance(80), r.chance(80), r.chance(80), r.chance(80)),
        12 => {
            t.depth_mask(r.chance(70));
            t.stencil_mask(r.pick(&[0xff, 0xff, 0x0f, 0x02]));
            t.blend_color(r.quarter(), r.quarter(), r.quarter(), r.quarter());
        }
        _ => {
            t.cull_face(r.pick(&[gl::FRONT, gl::BACK]));
            t.front_face(r.pick(&[gl::CW, gl::CCW]));
            // Half-size viewports keep the rectangles on pixel boundaries when their corners are even.
            let (x, y) = (r.next(3) as i32 * 8, r.next(3) as i32 * 8);
            t.viewport(x, y, SIZE, SIZE);
        }
    }
}

unsafe fn finish(t: &Scene, world: &World, name: &str) {
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(world.target.framebuffer));
    let picture = t.read(SIZE, SIZE);
    let covered = picture.count(|p| p != [0; 4]);
    t.check(covered > 300, format!("only {covered} pixels are not empty: the sequence tests too little"));
    t.compare(name, &picture, TOLERANCE);
    let n = (SIZE * SIZE) as usize;
    let depth = t.read_as::<f32>(SIZE, SIZE, gl::DEPTH_COMPONENT, gl::FLOAT, n);
    t.compare_values("depth", &depth, 1e-4);
    let stencil = t.read_as::<u8>(SIZE, SIZE, gl::STENCIL_INDEX, gl::UNSIGNED_BYTE, n);
    t.compare_values("stencil", &stencil.iter().map(|s| f32::from(*s)).collect::<Vec<_>>(), 0.0);
}

/// State changes between draws, a quarter of them set back at once.
unsafe fn state(t: &Scene, seed: u64) {
    let mut r = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let world = world(t);
    t.texture(4, 4, &std::array::from_fn::<_, 16, _>(|i| [i as u8 * 16, 255 - i as u8 * 16, (i % 4) as u8 * 85, 255]));
    // Software drivers compile a shader for nearly every combination, so the sequences are short and there are several.
    for _ in 0..80 {
        for _ in 0..r.next(4) {
            change_state(t, &mut r);
        }
        if r.chance(5) {
            t.clear_color(r.quarter(), r.quarter(), r.quarter(), r.quarter());
            t.clear(r.pick(&[
                gl::COLOR_BUFFER_BIT,
                gl::DEPTH_BUFFER_BIT,
                gl::STENCIL_BUFFER_BIT,
                gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT,
            ]));
        }
        if r.chance(25) {
            // What a game does around a batch: on, draw, off.
            let was_on = t.is_enabled(gl::BLEND);
            t.enable(gl::BLEND);
            rectangle(t, &mut r, &world, 0);
            if !was_on {
                t.disable(gl::BLEND);
            }
        }
        let which = r.next(3) as usize;
        rectangle(t, &mut r, &world, which);
        if r.chance(10) {
            // A look in between must not disturb anything.
            t.read(1, 1);
        }
    }
    finish(t, &world, "picture");
}

/// Objects come, change and go between draws; the state changes little.
unsafe fn objects(t: &Scene, seed: u64) {
    let mut r = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let world = world(t);
    let make = |r: &mut Random| {
        let n = r.pick(&[1, 2, 4, 8]);
        let texels: Vec<[u8; 4]> =
            (0..n * n).map(|_| [r.next(256) as u8, r.next(256) as u8, r.next(256) as u8, 255]).collect();
        t.texture(n, n, &texels)
    };
    let mut textures: Vec<_> = (0..6).map(|_| make(&mut r)).collect();
    let mut inner: Vec<Target> = (0..3).map(|_| t.target(8, 8)).collect();
    let mut blocks = vec![world.block];
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(world.target.framebuffer));
    t.viewport(0, 0, SIZE, SIZE);
    for _ in 0..250 {
        match r.next(11) {
            0 => {
                let i = r.next(textures.len() as u32) as usize;
                t.delete_texture(textures[i]);
                textures[i] = make(&mut r);
            }
            1 => {
                let texture = r.pick(&textures);
                t.bind_texture(gl::TEXTURE_2D, Some(texture));
                let texel = [r.next(256) as u8, r.next(256) as u8, r.next(256) as u8, 255];
                t.tex_sub_image_2d(
                    gl::TEXTURE_2D,
                    0,
                    0,
                    0,
                    1,
                    1,
                    gl::RGBA,
                    gl::UNSIGNED_BYTE,
                    gl::PixelUnpackData::Slice(Some(&texel)),
                );
            }
            2 => {
                let i = r.next(inner.len() as u32) as usize;
                if r.chance(30) {
                    t.bind_framebuffer(gl::FRAMEBUFFER, None);
                    t.delete_framebuffer(inner[i].framebuffer);
                    t.delete_texture(inner[i].texture);
                    // Nothing may keep the new target's first clear from reaching all of it.
                    t.disable(gl::SCISSOR_TEST);
                    t.color_mask(true, true, true, true);
                    t.depth_mask(true);
                    t.stencil_mask(0xff);
                    inner[i] = t.target(8, 8);
                }
                t.bind_framebuffer(gl::FRAMEBUFFER, Some(inner[i].framebuffer));
                t.viewport(0, 0, 8, 8);
                t.clear_color(r.quarter(), r.quarter(), r.quarter(), 1.0);
                t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
                rectangle(t, &mut r, &world, 0);
                t.bind_framebuffer(gl::FRAMEBUFFER, Some(world.target.framebuffer));
                t.viewport(0, 0, SIZE, SIZE);
                t.bind_texture(gl::TEXTURE_2D, Some(inner[i].texture));
            }
            3 => {
                let i = r.next(inner.len() as u32) as usize;
                t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(inner[i].framebuffer));
                let (x, y) = (r.next(56) as i32, r.next(56) as i32);
                t.blit_framebuffer(0, 0, 8, 8, x, y, x + 8, y + 8, gl::COLOR_BUFFER_BIT, gl::NEAREST);
                t.bind_framebuffer(gl::FRAMEBUFFER, Some(world.target.framebuffer));
            }
            4 => {
                let texture = r.pick(&textures);
                t.bind_texture(gl::TEXTURE_2D, Some(texture));
                t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8, r.next(56) as i32, r.next(56) as i32, 8, 8, 0);
            }
            5 => {
                let values: [f32; 8] = std::array::from_fn(|_| r.quarter());
                t.bind_buffer(gl::UNIFORM_BUFFER, Some(r.pick(&blocks)));
                t.buffer_sub_data_u8_slice(gl::UNIFORM_BUFFER, 0, bytemuck::cast_slice(&values));
            }
            6 => {
                let values: [f32; 8] = std::array::from_fn(|_| r.quarter());
                let block = t.buffer(gl::UNIFORM_BUFFER, &values);
                blocks.push(block);
                if blocks.len() > 4 {
                    t.delete_buffer(blocks.remove(0));
                }
                t.bind_buffer_base(gl::UNIFORM_BUFFER, 4, Some(block));
            }
            7 => t.bind_buffer_base(gl::UNIFORM_BUFFER, 4, Some(r.pick(&blocks))),
            8 => {
                let name = r.pick(&[gl::TEXTURE_SWIZZLE_R, gl::TEXTURE_SWIZZLE_G, gl::TEXTURE_SWIZZLE_B]);
                t.bind_texture(gl::TEXTURE_2D, Some(r.pick(&textures)));
                t.tex_parameter_i32(gl::TEXTURE_2D, name, r.pick(&[gl::RED, gl::GREEN, gl::BLUE, gl::ZERO]) as i32);
            }
            9 => change_state(t, &mut r),
            _ => t.bind_texture(gl::TEXTURE_2D, Some(r.pick(&textures))),
        }
        // A deleted block leaves its binding empty, and reading it is undefined: bind one that lives before each use.
        t.bind_buffer_base(gl::UNIFORM_BUFFER, 4, Some(r.pick(&blocks)));
        let which = r.next(3) as usize;
        rectangle(t, &mut r, &world, which);
    }
    finish(t, &world, "picture");
}

unsafe fn state_1(t: &Scene) {
    state(t, 1);
}

unsafe fn state_2(t: &Scene) {
    state(t, 2);
}

unsafe fn state_3(t: &Scene) {
    state(t, 3);
}

unsafe fn state_4(t: &Scene) {
    state(t, 4);
}

unsafe fn objects_1(t: &Scene) {
    objects(t, 11);
}

unsafe fn objects_2(t: &Scene) {
    objects(t, 12);
}

unsafe fn objects_3(t: &Scene) {
    objects(t, 13);
}
