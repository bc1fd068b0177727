"""A star of thin triangles drawn with four samples a pixel and resolved, beside the same without."""

import moderngl
import numpy as np

import offscreen

ctx = offscreen.context()
program = ctx.program(
    vertex_shader="""
        #version 330
        in vec2 in_position; in vec3 in_color; out vec3 color;
        void main() { color = in_color; gl_Position = vec4(in_position, 0.0, 1.0); }
    """,
    fragment_shader="#version 330\nin vec3 color; out vec4 result; void main() { result = vec4(color, 1.0); }",
)
n = 40
angle = np.arange(n) * 2 * np.pi / n + 0.03
points = []
for k, a in enumerate(angle):
    width = 0.028
    tint = 0.5 + 0.5 * np.cos(a + np.array([0.0, 2.1, 4.2]))
    tip = (0.95 * np.cos(a), 0.95 * np.sin(a))
    left = (0.12 * np.cos(a - 4 * width), 0.12 * np.sin(a - 4 * width))
    right = (0.12 * np.cos(a + 4 * width), 0.12 * np.sin(a + 4 * width))
    points += [[*left, *tint], [*right, *tint], [*tip, 1.0, 1.0, 1.0]]
vao = ctx.vertex_array(program, [(ctx.buffer(np.array(points, "f4")), "2f 3f", "in_position", "in_color")])

size = (320, 320)
samples = min(4, ctx.max_samples)
smooth = ctx.framebuffer([ctx.renderbuffer(size, samples=samples)])
smooth.use()
smooth.clear(0.05, 0.05, 0.10, 1.0)
vao.render()
resolved = ctx.framebuffer([ctx.texture(size, 4)])
ctx.copy_framebuffer(resolved, smooth)
hard = ctx.framebuffer([ctx.texture(size, 4)])
hard.use()
hard.clear(0.05, 0.05, 0.10, 1.0)
vao.render()

# Both side by side, drawn from their textures.
show = ctx.program(
    vertex_shader="""
        #version 330
        out vec2 uv;
        void main() { uv = vec2(gl_VertexID & 1, gl_VertexID >> 1); gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0); }
    """,
    fragment_shader="""
        #version 330
        uniform sampler2D left; uniform sampler2D right; in vec2 uv; out vec4 result;
        void main() {
            vec2 at = vec2(fract(uv.x * 2.0), uv.y);
            result = uv.x < 0.5 ? texture(left, at) : texture(right, at);
        }
    """,
)
show["left"].value, show["right"].value = 0, 1
for unit, framebuffer in enumerate((resolved, hard)):
    texture = framebuffer.color_attachments[0]
    texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
    texture.use(unit)
both = ctx.framebuffer([ctx.renderbuffer((640, 320))])
both.use()
ctx.vertex_array(show, []).render(moderngl.TRIANGLE_STRIP, vertices=4)
partly = np.frombuffer(resolved.read(components=4), "u1").reshape(320, 320, 4)
colors = len(np.unique(partly.reshape(-1, 4), axis=0))
if colors < 1000:
    raise SystemExit(f"only {colors} colours after the resolve: were there several samples?")
offscreen.finish(ctx, both)
