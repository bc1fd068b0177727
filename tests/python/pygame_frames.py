"""pygame (SDL's offscreen video driver): frames of a little game with textures that change, flipped, the last one kept."""

import os

os.environ["SDL_VIDEODRIVER"] = "offscreen"
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
os.environ["PYOPENGL_PLATFORM"] = "egl"
import moderngl  # noqa: E402
import numpy as np  # noqa: E402
import pygame  # noqa: E402
from OpenGL import GL  # noqa: E402

import pictures  # noqa: E402

WIDTH, HEIGHT = 480, 360
pygame.display.init()
for name, value in (
    (pygame.GL_CONTEXT_MAJOR_VERSION, 3), (pygame.GL_CONTEXT_MINOR_VERSION, 3), (pygame.GL_DEPTH_SIZE, 24),
    (pygame.GL_CONTEXT_PROFILE_MASK, pygame.GL_CONTEXT_PROFILE_CORE), (pygame.GL_ALPHA_SIZE, 8),
):
    pygame.display.gl_set_attribute(name, value)
pygame.display.set_mode((WIDTH, HEIGHT), pygame.OPENGL | pygame.DOUBLEBUF)
ctx = moderngl.get_context()
pictures.report(ctx.info["GL_RENDERER"], ctx.info["GL_VERSION"])

program = ctx.program(
    vertex_shader="""#version 330
        uniform vec2 screen; in vec4 box; in vec4 cut; in float turn; out vec2 uv;
        void main() {
            vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1), at = (corner - 0.5) * box.zw;
            at = mat2(cos(turn), sin(turn), -sin(turn), cos(turn)) * at + box.xy;
            uv = mix(cut.xy, cut.zw, corner); gl_Position = vec4(at / screen * vec2(2.0, -2.0) + vec2(-1.0, 1.0), 0.0, 1.0);
        }
    """,
    fragment_shader="#version 330\nuniform sampler2D image; in vec2 uv; out vec4 c; void main() { c = texture(image, uv); }",
)
program["screen"].value = (WIDTH, HEIGHT)

# One picture with all the shapes, drawn by pygame.
atlas = pygame.Surface((128, 64), pygame.SRCALPHA)
pygame.draw.circle(atlas, (250, 200, 80), (32, 32), 30)
pygame.draw.circle(atlas, (120, 70, 20), (32, 32), 30, 4)
pygame.draw.polygon(atlas, (90, 190, 250), [(96, 4), (124, 58), (96, 44), (68, 58)])
sprites = ctx.texture((128, 64), 4, pygame.image.tobytes(atlas, "RGBA"))
sprites.filter = (moderngl.LINEAR, moderngl.LINEAR)
field = pygame.Surface((96, 72))
ground = ctx.texture((96, 72), 4)
ground.filter = (moderngl.NEAREST, moderngl.NEAREST)

count = 40
k = np.arange(count)
place = np.stack([40 + 57.3 * k % (WIDTH - 80), 40 + 91.7 * k % (HEIGHT - 80)], -1)
speed = np.stack([3.0 * np.cos(k * 1.9), 3.0 * np.sin(k * 1.9)], -1)
whole = ctx.buffer(np.array([WIDTH / 2, HEIGHT / 2, WIDTH, HEIGHT, 0, 0, 1, 1, 0], "f4"))
instances = ctx.buffer(reserve=count * 36, dynamic=True)
background, things = (
    ctx.vertex_array(program, [(b, "4f 4f 1f /i", "box", "cut", "turn")]) for b in (whole, instances)
)
for frame in range(24):
    place += speed
    hit = (place < 20) | (place > (WIDTH - 20, HEIGHT - 20))
    speed[hit] = -speed[hit]
    field.fill((24, 40, 34))
    for x in range(0, 96, 8):
        pygame.draw.line(field, (34, 62, 50), (x, 0), (x + frame % 8, 71))
    for x, y in place[::4]:
        pygame.draw.circle(field, (16, 26, 22), (x / 5, y / 5 + 2), 5)
    ground.write(pygame.image.tobytes(field, "RGBA"))
    rows = np.zeros((count, 9), "f4")
    rows[:, :2], rows[:, 2:4] = place, (18 + k % 5 * 8)[:, None]
    rows[:, 4:8] = np.where((k % 2)[:, None], [0.5, 0.0, 1.0, 1.0], [0.0, 0.0, 0.5, 1.0])
    rows[:, 8] = np.where(k % 2, np.arctan2(speed[:, 0], -speed[:, 1]), 0.0)
    # The buffer gets new storage every frame, as games do it.
    instances.orphan()
    instances.write(rows)
    ctx.screen.use()
    ctx.clear(0.5, 0.0, 0.5)
    ctx.disable(moderngl.BLEND)
    ground.use(0)
    background.render(moderngl.TRIANGLE_STRIP, vertices=4, instances=1)
    ctx.enable(moderngl.BLEND)
    sprites.use(0)
    things.render(moderngl.TRIANGLE_STRIP, vertices=4, instances=count)
    if frame < 23:
        pygame.display.flip()
# moderngl names a colour attachment to read from, which the default framebuffer has not.
pixels = np.frombuffer(GL.glReadPixels(0, 0, WIDTH, HEIGHT, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE), "u1").reshape(HEIGHT, WIDTH, 4)
if ctx.error != "GL_NO_ERROR":
    raise SystemExit("GL error")
pictures.save(pixels, bottom_up=True)
pygame.display.quit()
