"""A chain of passes between float textures: a picture, two blurs, a sharpening feedback loop and a false-colour view."""

import moderngl
import numpy as np

import offscreen

ctx = offscreen.context()
VERTEX = """
    #version 330
    out vec2 uv;
    void main() { uv = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0; gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0); }
"""


def screen(fragment):
    program = ctx.program(vertex_shader=VERTEX, fragment_shader="#version 330\nin vec2 uv; out vec4 result;" + fragment)
    return program, ctx.vertex_array(program, [])


size = (400, 300)
textures = [ctx.texture(size, 4, dtype="f2") for _ in range(2)]
for texture in textures:
    texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
    texture.repeat_x = texture.repeat_y = False
framebuffers = [ctx.framebuffer([texture]) for texture in textures]

_, paint = screen("""
    void main() {
        vec2 p = (uv - 0.5) * vec2(4.0, 3.0);
        float rings = 0.5 + 0.5 * sin(18.0 * length(p)), spokes = step(0.0, sin(9.0 * atan(p.y, p.x)));
        result = vec4(rings * 2.0, spokes, rings * spokes, 1.0);
    }
""")
blur_program, blur = screen("""
    uniform sampler2D image; uniform vec2 direction;
    void main() {
        vec4 sum = vec4(0.0); float weights = 0.0;
        for (int i = -6; i <= 6; ++i) {
            float w = exp(-float(i * i) / 12.0);
            sum += w * texture(image, uv + float(i) * direction / vec2(textureSize(image, 0)));
            weights += w;
        }
        result = sum / weights;
    }
""")
react_program, react = screen("""
    uniform sampler2D image;
    void main() {
        vec2 d = 1.0 / vec2(textureSize(image, 0));
        vec4 c = texture(image, uv);
        vec4 around = texture(image, uv + vec2(d.x, 0.0)) + texture(image, uv - vec2(d.x, 0.0))
                    + texture(image, uv + vec2(0.0, d.y)) + texture(image, uv - vec2(0.0, d.y));
        result = clamp(c + 0.18 * (c - around * 0.25) * 4.0, 0.0, 2.0);
    }
""")
_, view = screen("""
    uniform sampler2D image;
    void main() {
        vec3 v = texture(image, uv).rgb;
        result = vec4(v.r * 0.5, 0.15 + 0.6 * v.g * (1.0 - v.b), 0.3 + 0.7 * v.b, 1.0);
    }
""")

current = 0


def step(vao):
    global current
    textures[current].use(0)
    framebuffers[1 - current].use()
    vao.render(moderngl.TRIANGLES, vertices=3)
    current = 1 - current


framebuffers[0].use()
paint.render(moderngl.TRIANGLES, vertices=3)
for _ in range(3):
    for direction in ((1.0, 0.0), (0.0, 1.0)):
        blur_program["direction"].value = direction
        step(blur)
for _ in range(6):
    step(react)
final = ctx.framebuffer([ctx.renderbuffer(size)])
textures[current].use(0)
final.use()
view.render(moderngl.TRIANGLES, vertices=3)
values = np.frombuffer(framebuffers[current].read(components=4, dtype="f4"), "f4")
if not np.isfinite(values).all():
    raise SystemExit("the chain made values that are not finite")
offscreen.finish(ctx, final)
