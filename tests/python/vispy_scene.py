"""vispy's scene graph on its EGL back end: a surface, a shaded sphere, markers, lines and an image under a turntable camera."""

import ctypes

import numpy as np
import vispy
from vispy.ext import egl

import pictures

# vispy asks for a context without a version. Here it asks for OpenGL 3.3 core, on every driver.
create = egl.eglCreateContext
CORE = [0x3098, 3, 0x30FB, 3, 0x30FD, 1]
egl.eglCreateContext = lambda display, config, share=None: create(display, config, share, CORE)
vispy.use(app="egl", gl="gl2")

from vispy import scene  # noqa: E402 (reads which back end is in use)
from vispy.gloo import gl  # noqa: E402

# What else vispy takes for granted and core contexts lack: GL_POINT_SPRITE, which is always on there, and vertex array 0.
enable = gl.glEnable
gl.glEnable = lambda capability: None if capability == 0x8861 else enable(capability)
canvas = scene.SceneCanvas(size=(640, 480), bgcolor=(0.08, 0.09, 0.12, 1.0), show=False)
canvas.set_current()
pictures.report(gl.glGetParameter(gl.GL_RENDERER), gl.glGetParameter(gl.GL_VERSION))
opengl = ctypes.CDLL("libGL.so.1")
array = ctypes.c_uint()
opengl.glGenVertexArrays(1, ctypes.byref(array))
opengl.glBindVertexArray(array)

view = canvas.central_widget.add_view()
view.camera = scene.TurntableCamera(fov=40, elevation=28, azimuth=35, distance=9, center=(0, 0, 0.2))
x = np.linspace(-3, 3, 60)
r = np.hypot(*np.meshgrid(x, x))
scene.visuals.SurfacePlot(
    x=x, y=x, z=np.cos(2.5 * r) * np.exp(-0.45 * r), color=(0.30, 0.55, 0.85, 1.0), shading="smooth", parent=view.scene
)
ball = scene.visuals.Sphere(radius=0.6, method="latitude", rows=24, cols=36, color=(0.9, 0.5, 0.2, 1.0), shading="smooth",
                            parent=view.scene)
ball.transform = scene.STTransform(translate=(1.4, -1.6, 1.1))
t = np.linspace(0, 6 * np.pi, 120)
helix = np.stack([2.2 * np.cos(t), 2.2 * np.sin(t), t / 8 - 0.6], -1).astype("f4")
scene.visuals.Line(pos=helix, color=(0.95, 0.85, 0.3, 1.0), width=1, parent=view.scene)
markers = scene.visuals.Markers(parent=view.scene)
tint = np.stack([0.5 + 0.5 * np.sin(t[::6]), 0.8 - t[::6] / 40, 0.4 + t[::6] / 40, np.ones(20)], -1)
markers.set_data(helix[::6], face_color=tint, edge_color="white", edge_width=1, size=14, symbol="disc")
scene.visuals.XYZAxis(parent=view.scene)
small = np.mgrid[0:32, 0:32].sum(0)
colors = np.stack([small * 4, 255 - small * 3, (small % 8) * 30], -1).astype("u1")
image = scene.visuals.Image(colors, parent=view.scene, interpolation="bilinear")
image.transform = scene.STTransform(scale=(0.06, 0.06), translate=(-3.0, -3.0, -1.0))
pixels = canvas.render()
if gl.glGetError() != gl.GL_NO_ERROR:
    raise SystemExit("GL error")
pictures.save(pixels)
