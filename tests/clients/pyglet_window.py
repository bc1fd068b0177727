"""pyglet: a resizable window through GLX, with shapes relative to its size."""

import sys

import pyglet
from pyglet import gl, shapes

config = gl.Config(major_version=3, minor_version=3, double_buffer=True, depth_size=24)
window = pyglet.window.Window(400, 300, caption="pyglet", config=config, resizable=True)
print(gl.gl_info.get_renderer(), flush=True)


@window.event
def on_draw():
    width, height = window.get_framebuffer_size()
    gl.glClearColor(0.2, 0.4, 0.6, 1.0)
    window.clear()
    shapes.Rectangle(0, 0, width // 2, height // 2, color=(200, 40, 40)).draw()
    shapes.Triangle(width // 2, height // 4, width - 10, height // 4, width // 2, height - 10, color=(40, 200, 40)).draw()
    shapes.Line(0, height, width, 0, thickness=4, color=(255, 255, 0)).draw()


pyglet.app.run(1 / 60)
sys.exit(0)
