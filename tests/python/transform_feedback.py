"""Particles that the vertex shader moves through transform feedback for 60 steps, then drawn as blended points."""

import moderngl
import numpy as np

import offscreen

ctx = offscreen.context()
# A context without a surface has no default framebuffer, and drawing needs a complete one even when nothing is rasterised.
framebuffer = ctx.framebuffer([ctx.texture((512, 512), 4)])
framebuffer.use()
step = ctx.program(
    vertex_shader="""
        #version 330
        uniform float dt;
        in vec2 in_position; in vec2 in_velocity;
        out vec2 out_position; out vec2 out_velocity;
        void main() {
            vec2 pull = -in_position * 2.0 / (0.15 + dot(in_position, in_position));
            vec2 swirl = vec2(-in_position.y, in_position.x) * 0.6;
            out_velocity = (in_velocity + dt * (pull + swirl)) * 0.995;
            out_position = in_position + dt * out_velocity;
        }
    """,
    varyings=["out_position", "out_velocity"],
)
n = 6000
i = np.arange(n)
angle, radius = i * 2.399963, np.sqrt((i + 0.5) / n) * 0.9
start = np.stack(
    [radius * np.cos(angle), radius * np.sin(angle), -0.8 * np.sin(angle) * radius, 0.8 * np.cos(angle) * radius], -1
).astype("f4")
buffers = [ctx.buffer(start), ctx.buffer(reserve=start.nbytes)]
arrays = [ctx.vertex_array(step, [(b, "2f 2f", "in_position", "in_velocity")]) for b in buffers]
step["dt"].value = 0.01
expected = start.astype("f8")
for k in range(60):
    arrays[k % 2].transform(buffers[(k + 1) % 2], moderngl.POINTS, vertices=n)
    p, v = expected[:, :2], expected[:, 2:]
    pull = -p * 2.0 / (0.15 + (p * p).sum(1, keepdims=True))
    v = (v + 0.01 * (pull + np.stack([-p[:, 1], p[:, 0]], -1) * 0.6)) * 0.995
    expected = np.concatenate([p + 0.01 * v, v], 1)
result = np.frombuffer(buffers[0].read(), "f4").reshape(n, 4)
worst = np.abs(result - expected).max()
if not worst < 0.02:
    raise SystemExit(f"the particles are up to {worst} away from where the same sums in numpy put them")

draw = ctx.program(
    vertex_shader="""
        #version 330
        in vec2 in_position; in vec2 in_velocity; out vec3 color;
        void main() {
            gl_Position = vec4(in_position, 0.0, 1.0); gl_PointSize = 5.0;
            float s = length(in_velocity);
            color = vec3(0.10 + 0.12 * s, 0.10, 0.30 - 0.08 * s);
        }
    """,
    fragment_shader="""
        #version 330
        in vec3 color; out vec4 result;
        void main() { result = vec4(color * max(0.0, 1.0 - 2.0 * length(gl_PointCoord - 0.5)), 1.0); }
    """,
)
framebuffer.clear(0.0, 0.0, 0.02, 1.0)
ctx.enable(moderngl.BLEND | moderngl.PROGRAM_POINT_SIZE)
ctx.blend_func = moderngl.ONE, moderngl.ONE
ctx.vertex_array(draw, [(buffers[0], "2f 2f", "in_position", "in_velocity")]).render(moderngl.POINTS, vertices=n)
offscreen.finish(ctx, framebuffer)
