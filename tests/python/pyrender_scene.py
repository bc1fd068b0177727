"""pyrender (through PyOpenGL) off-screen: physically based materials, textures, vertex colours, instances, a spot light, the depth buffer."""

import os

os.environ["PYOPENGL_PLATFORM"] = "egl"
import numpy as np  # noqa: E402
import pyglet  # noqa: E402

pyglet.options["headless"] = True  # pyrender's viewer, which is not used here, asks pyglet for a screen
np.infty = np.inf  # a name that numpy dropped
import pyrender  # noqa: E402
import trimesh  # noqa: E402
from OpenGL import EGL, GL  # noqa: E402
from OpenGL.GL import shaders  # noqa: E402
from PIL import Image  # noqa: E402

import pictures  # noqa: E402

create = EGL.eglCreateContext


def create_33(display, config, share, attributes):
    """pyrender's shaders are GLSL 3.30, yet it asks for OpenGL 4.1 and does not try again: here it asks for 3.3."""
    for k in range(0, len(attributes) - 1, 2):
        if attributes[k] in (EGL.EGL_CONTEXT_MAJOR_VERSION, EGL.EGL_CONTEXT_MINOR_VERSION):
            attributes[k + 1] = 3
    return create(display, config, share, attributes)


EGL.eglCreateContext = create_33
# PyOpenGL validates a program when it is linked; that two samplers of different types still name unit 0 fails then.
shaders.ShaderProgram.check_validate = lambda program: program

scene = pyrender.Scene(bg_color=(0.16, 0.18, 0.22, 1.0), ambient_light=(0.12, 0.12, 0.14))
y, x = np.mgrid[0:64, 0:64]
check = np.where(((x // 8 + y // 8) % 2)[..., None], (225, 215, 195), (90, 110, 120)).astype("u1")
flat = trimesh.Trimesh(
    [[-3.5, -3.5, 0], [3.5, -3.5, 0], [3.5, 3.5, 0], [-3.5, 3.5, 0]], [[0, 1, 2], [0, 2, 3]], process=False,
    visual=trimesh.visual.TextureVisuals(uv=[[0, 0], [1, 0], [1, 1], [0, 1]], image=Image.fromarray(check)),
)
scene.add(pyrender.Mesh.from_trimesh(flat, smooth=False))
for k in range(5):
    ball = trimesh.creation.uv_sphere(0.5, count=(32, 48))
    ball.vertex_normals = ball.vertices / 0.5  # trimesh would ask scipy for them
    material = pyrender.MetallicRoughnessMaterial(
        baseColorFactor=(0.9 - 0.15 * k, 0.35 + 0.1 * k, 0.25 + 0.14 * k, 1.0), metallicFactor=0.2 * k,
        roughnessFactor=0.2 + 0.15 * k,
    )
    pose = np.eye(4)
    pose[:3, 3] = (-2.2 + 1.1 * k, 0.5 * np.sin(2.0 * k), 0.5 + 0.15 * k)
    scene.add(pyrender.Mesh.from_trimesh(ball, material=material, smooth=True), pose=pose)
colored = trimesh.creation.annulus(r_min=0.45, r_max=0.75, height=0.5, sections=40)
colored.visual.vertex_colors = (127 + 120 * np.sin(colored.vertices * 4.0)).astype("u1")
pose = trimesh.transformations.rotation_matrix(0.9, (1, 0.3, 0))
pose[:3, 3] = (-1.3, -1.8, 0.8)
scene.add(pyrender.Mesh.from_trimesh(colored, smooth=False), pose=pose)
boxes = np.tile(np.eye(4), (12, 1, 1))
for k in range(12):
    boxes[k, :3, 3] = (0.4 + 0.42 * (k % 6), -1.4 - 0.6 * (k // 6), 0.15 + 0.05 * k)
cube = trimesh.creation.box((0.3, 0.3, 0.3))
scene.add(pyrender.Mesh.from_trimesh(cube, material=pyrender.MetallicRoughnessMaterial(
    baseColorFactor=(0.95, 0.8, 0.3, 1.0), metallicFactor=0.1, roughnessFactor=0.6), smooth=False, poses=boxes))


def toward(eye, target):
    """A pose at `eye` that looks at `target`."""
    back = np.subtract(eye, target) / np.linalg.norm(np.subtract(eye, target))
    right = np.cross((0, 0, 1), back)
    right /= np.linalg.norm(right)
    pose = np.eye(4)
    pose[:3, 0], pose[:3, 1], pose[:3, 2], pose[:3, 3] = right, np.cross(back, right), back, eye
    return pose


scene.add(pyrender.SpotLight(color=(1.0, 0.95, 0.85), intensity=90.0, innerConeAngle=0.35, outerConeAngle=0.6),
          pose=toward((2.5, -3.5, 5.5), (0, -0.4, 0)))
scene.add(pyrender.DirectionalLight(color=(0.6, 0.7, 1.0), intensity=1.2), pose=toward((-3, -1, 4), (0, 0, 0)))
scene.add(pyrender.PerspectiveCamera(yfov=0.75, znear=0.1, zfar=40.0), pose=toward((1.2, -6.0, 3.8), (0, -0.3, 0.2)))
renderer = pyrender.OffscreenRenderer(640, 480)
renderer._platform.make_current()
pictures.report(GL.glGetString(GL.GL_RENDERER), GL.glGetString(GL.GL_VERSION))
flags = pyrender.RenderFlags.SHADOWS_DIRECTIONAL | pyrender.RenderFlags.SHADOWS_SPOT
color, depth = renderer.render(scene, flags=flags)
if not 2.0 < depth[240, 320] < 12.0:
    raise SystemExit(f"the middle of the picture is {depth[240, 320]} away")
pictures.save(color)
renderer.delete()
