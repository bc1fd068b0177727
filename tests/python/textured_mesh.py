"""A textured, lit torus with mip levels and anisotropic-free trilinear filtering, drawn with depth test and culling."""

import moderngl
import numpy as np

import offscreen

ctx = offscreen.context()
program = ctx.program(
    vertex_shader="""
        #version 330
        uniform mat4 camera;
        in vec3 in_position; in vec3 in_normal; in vec2 in_uv;
        out vec3 normal; out vec2 uv; out vec3 world;
        void main() { world = in_position; normal = in_normal; uv = in_uv; gl_Position = camera * vec4(in_position, 1.0); }
    """,
    fragment_shader="""
        #version 330
        uniform sampler2D image; uniform vec3 eye;
        in vec3 normal; in vec2 uv; in vec3 world; out vec4 color;
        void main() {
            vec3 n = normalize(normal), l = normalize(vec3(0.4, 0.9, 0.5)), v = normalize(eye - world);
            float shine = pow(max(dot(reflect(-l, n), v), 0.0), 32.0);
            color = vec4(texture(image, uv).rgb * (0.25 + 0.75 * max(dot(n, l), 0.0)) + 0.35 * shine, 1.0);
        }
    """,
)
n = 128
y, x = np.mgrid[0:n, 0:n]
check = ((x // 32 + y // 32) % 2).astype(bool)
pixels = np.where(check[..., None], (222, 108, 46), (38, 70, 110)).astype("u1")
pixels[((x % 32) < 2) | ((y % 32) < 2)] = (245, 236, 214)
texture = ctx.texture((n, n), 3, pixels.tobytes())
texture.build_mipmaps()
texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
texture.use(0)

eye = (1.9, 1.7, 2.1)
camera = offscreen.perspective(45.0, 4 / 3, 0.1, 50.0) @ offscreen.look_at(eye, (0.0, 0.0, 0.0))
program["camera"].write(offscreen.to_gl(camera))
program["eye"].value = eye
vertices, indices = offscreen.torus()
vao = ctx.vertex_array(
    program, [(ctx.buffer(vertices), "3f 3f 2f", "in_position", "in_normal", "in_uv")], ctx.buffer(indices)
)
framebuffer = ctx.framebuffer([ctx.renderbuffer((640, 480))], ctx.depth_renderbuffer((640, 480)))
framebuffer.use()
ctx.enable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
framebuffer.clear(0.09, 0.10, 0.13, 1.0)
vao.render()
offscreen.finish(ctx, framebuffer)
