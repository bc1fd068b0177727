"""A thousand cubes in one draw: per-instance attributes, a uniform block, gl_InstanceID."""

import moderngl
import numpy as np

import offscreen

ctx = offscreen.context()
program = ctx.program(
    vertex_shader="""
        #version 330
        layout(std140) uniform Scene { mat4 camera; vec4 light; };
        in vec3 in_position; in vec3 in_normal;
        in vec3 in_offset; in vec3 in_color; in float in_scale;
        out vec3 normal; flat out vec3 color;
        void main() {
            float a = float(gl_InstanceID) * 0.37;
            mat3 turn = mat3(cos(a), 0.0, -sin(a), 0.0, 1.0, 0.0, sin(a), 0.0, cos(a));
            normal = turn * in_normal; color = in_color;
            gl_Position = camera * vec4(turn * in_position * in_scale + in_offset, 1.0);
        }
    """,
    fragment_shader="""
        #version 330
        layout(std140) uniform Scene { mat4 camera; vec4 light; };
        in vec3 normal; flat in vec3 color; out vec4 result;
        void main() { result = vec4(color * (0.3 + 0.7 * max(dot(normalize(normal), normalize(light.xyz)), 0.0)), 1.0); }
    """,
)
side = 32
i = np.arange(side * side)
gx, gz = i % side - side / 2 + 0.5, i // side - side / 2 + 0.5
distance = np.hypot(gx, gz)
height = 2.2 * np.cos(distance * 0.55) * np.exp(-distance * 0.08)
instances = np.stack(
    [
        gx, height, gz,
        0.5 + 0.5 * np.sin(distance * 0.4), 0.35 + 0.25 * height / 2.2 + 0.25, 0.9 - 0.03 * distance,
        np.full_like(gx, 0.36) + 0.08 * np.sin(i),
    ],
    -1,
).astype("f4")
camera = offscreen.perspective(40.0, 4 / 3, 1.0, 100.0) @ offscreen.look_at((17.0, 16.0, 21.0), (0.0, -1.0, 0.0))
scene = ctx.buffer(offscreen.to_gl(camera) + np.array([0.5, 1.0, 0.3, 0.0], "f4").tobytes())
scene.bind_to_uniform_block(3)
program["Scene"].binding = 3
vao = ctx.vertex_array(
    program,
    [
        (ctx.buffer(offscreen.cube()), "3f 3f", "in_position", "in_normal"),
        (ctx.buffer(instances), "3f 3f 1f /i", "in_offset", "in_color", "in_scale"),
    ],
)
framebuffer = ctx.framebuffer([ctx.texture((640, 480), 4)], ctx.depth_renderbuffer((640, 480)))
framebuffer.use()
ctx.enable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
framebuffer.clear(0.93, 0.95, 0.97, 1.0)
vao.render(instances=side * side)
offscreen.finish(ctx, framebuffer)
