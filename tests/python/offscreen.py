"""What the programs share: an off-screen context, matrices, meshes and the way out."""

import sys

import moderngl
import numpy as np
from PIL import Image


def context(require=330):
    """A context of the EGL driver that the environment selects."""
    ctx = moderngl.create_context(
        standalone=True, backend="egl", require=require, libgl="libGL.so.1", libegl="libEGL.so.1"
    )
    print("renderer:", ctx.info["GL_RENDERER"])
    print("version:", ctx.info["GL_VERSION"])
    return ctx


def finish(ctx, framebuffer):
    """Writes the framebuffer's colours to the file named on the command line; a GL error ends the program with 1."""
    data = framebuffer.read(components=4)
    Image.frombytes("RGBA", framebuffer.size, data).transpose(Image.Transpose.FLIP_TOP_BOTTOM).save(sys.argv[1])
    error = ctx.error
    if error != "GL_NO_ERROR":
        sys.exit(f"GL error: {error}")


def perspective(fov, aspect, near, far):
    """A projection for column vectors; `fov` is vertical, in degrees."""
    f = 1.0 / np.tan(np.radians(fov) / 2.0)
    m = np.zeros((4, 4), "f4")
    m[0, 0], m[1, 1], m[3, 2] = f / aspect, f, -1.0
    m[2, 2], m[2, 3] = (far + near) / (near - far), 2.0 * far * near / (near - far)
    return m


def look_at(eye, target):
    """The view from `eye` to `target`, y upwards."""
    eye, target = np.array(eye, "f4"), np.array(target, "f4")
    forward = (target - eye) / np.linalg.norm(target - eye)
    side = np.cross(forward, (0.0, 1.0, 0.0))
    side /= np.linalg.norm(side)
    up = np.cross(side, forward)
    m = np.eye(4, dtype="f4")
    m[0, :3], m[1, :3], m[2, :3] = side, up, -forward
    m[:3, 3] = -m[:3, :3] @ eye
    return m


def to_gl(matrix):
    """The bytes of a matrix in GL's column order."""
    return np.ascontiguousarray(matrix.T.astype("f4")).tobytes()


def torus(n_around=96, n_tube=32, radius=1.0, tube=0.42):
    """Vertices (position, normal, texture coordinates) and indices of a torus."""
    u, v = np.meshgrid(np.linspace(0, 1, n_around + 1), np.linspace(0, 1, n_tube + 1), indexing="ij")
    a, b = 2 * np.pi * u, 2 * np.pi * v
    normal = np.stack([np.cos(a) * np.cos(b), np.sin(b), np.sin(a) * np.cos(b)], -1)
    center = np.stack([radius * np.cos(a), np.zeros_like(a), radius * np.sin(a)], -1)
    vertices = np.concatenate([center + tube * normal, normal, np.stack([u * 8, v * 3], -1)], -1)
    i, j = np.meshgrid(np.arange(n_around), np.arange(n_tube), indexing="ij")
    p = i * (n_tube + 1) + j
    q = p + n_tube + 1
    indices = np.stack([p, p + 1, q + 1, p, q + 1, q], -1)
    return vertices.astype("f4"), indices.astype("u4")


def cube():
    """Vertices (position, normal) of a cube from -1 to 1, 36 of them."""
    out = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            corners = [(-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)]
            for s, t in corners if sign > 0 else corners[::-1]:
                position = np.zeros(3)
                position[axis], position[(axis + 1) % 3], position[(axis + 2) % 3] = sign, s, t
                normal = np.zeros(3)
                normal[axis] = sign
                out.append([*position, *normal])
    return np.array(out, "f4")
