"""pyglet without a window system: a batch of shapes, sprites from an atlas, text, and a lit mesh with a shader of its own."""

import numpy as np
import pyglet

import pictures

pyglet.options["headless"] = True
pyglet.options["debug_gl"] = True
from pyglet import gl  # noqa: E402 (opens the display when it is imported)

config = gl.Config(major_version=3, minor_version=3, depth_size=24, red_size=8, green_size=8, blue_size=8, alpha_size=8)
window = pyglet.window.Window(640, 480, config=config, visible=False)
info = gl.gl_info
pictures.report(info.get_renderer(), info.get_version_string())
window.switch_to()
gl.glClearColor(0.11, 0.12, 0.16, 1.0)
window.clear()

mesh = pyglet.graphics.shader.ShaderProgram(
    pyglet.graphics.shader.Shader(
        """#version 330 core
        in vec3 position; in vec3 normals; out vec3 normal;
        uniform WindowBlock { mat4 projection; mat4 view; } window;
        uniform mat4 model;
        void main() { normal = mat3(model) * normals; gl_Position = window.projection * window.view * model * vec4(position, 1.0); }
        """,
        "vertex",
    ),
    pyglet.graphics.shader.Shader(
        """#version 330 core
        in vec3 normal; out vec4 color; uniform vec3 tint;
        void main() { color = vec4(tint * (0.2 + 0.8 * max(dot(normalize(normal), normalize(vec3(0.3, 0.7, 0.6))), 0.0)), 1.0); }
        """,
        "fragment",
    ),
)
u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 49), np.linspace(0, 2 * np.pi, 25), indexing="ij")
normal = np.stack([np.cos(u) * np.cos(v), np.sin(v), np.sin(u) * np.cos(v)], -1)
position = 0.4 * normal + np.stack([np.cos(u), 0 * u, np.sin(u)], -1)
i, j = np.meshgrid(np.arange(48), np.arange(24), indexing="ij")
p = i * 25 + j
indices = np.stack([p, p + 1, p + 26, p, p + 26, p + 25], -1).ravel()
torus = mesh.vertex_list_indexed(
    49 * 25, gl.GL_TRIANGLES, indices.tolist(),
    position=("f", position.ravel().tolist()), normals=("f", normal.ravel().tolist()),
)
Mat4, Vec3 = pyglet.math.Mat4, pyglet.math.Vec3
flat = window.projection
window.projection = Mat4.perspective_projection(640 / 480, 0.1, 50.0, 50.0)
window.view = Mat4.look_at(Vec3(1.6, 1.8, 2.4), Vec3(-0.6, 0.25, 0.0), Vec3(0, 1, 0))
mesh.use()
mesh["model"] = Mat4.from_rotation(0.5, Vec3(1, 0, 0))
mesh["tint"] = (0.95, 0.6, 0.25)
gl.glEnable(gl.GL_DEPTH_TEST)
torus.draw(gl.GL_TRIANGLES)
gl.glDisable(gl.GL_DEPTH_TEST)
window.projection, window.view = flat, Mat4()

batch = pyglet.graphics.Batch()
kept = [
    pyglet.shapes.Circle(110, 380, 70, segments=64, color=(80, 160, 220, 200), batch=batch),
    pyglet.shapes.Star(250, 380, 70, 30, 7, color=(240, 200, 80), batch=batch),
    pyglet.shapes.BorderedRectangle(30, 30, 140, 90, border=6, color=(60, 90, 70), border_color=(150, 230, 160), batch=batch),
    pyglet.shapes.Arc(540, 390, 60, segments=48, angle=260.0, thickness=8, color=(230, 110, 150), batch=batch),
    pyglet.shapes.BezierCurve((200, 40), (280, 220), (380, -60), (460, 120), segments=80, thickness=3, batch=batch),
    pyglet.shapes.Triangle(500, 30, 620, 60, 540, 140, color=(150, 120, 240, 180), batch=batch),
]
y, x = np.mgrid[0:32, 0:32]
disc = np.clip(16.0 - np.hypot(x - 15.5, y - 15.5), 0.0, 1.0)
texels = np.stack([x * 8, y * 8, 255 - x * 4, disc * 255], -1).astype("u1")
picture = pyglet.image.ImageData(32, 32, "RGBA", texels.tobytes())
for k in range(12):
    sprite = pyglet.sprite.Sprite(picture, x=60 + 45 * k, y=200 + 18 * np.sin(k), batch=batch)
    sprite.update(rotation=15.0 * k, scale=0.6 + 0.1 * k)
    kept.append(sprite)
batch.draw()
data = pyglet.image.get_buffer_manager().get_color_buffer().get_image_data()
pixels = np.frombuffer(data.get_data("RGBA", data.width * 4), "u1").reshape(data.height, data.width, 4)
pictures.save(pixels, bottom_up=True)
