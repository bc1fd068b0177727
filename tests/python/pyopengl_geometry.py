"""PyOpenGL, every call checked, on a multisampled pbuffer: a geometry shader, an array texture, the stencil buffer, queries."""

import os

os.environ["PYOPENGL_PLATFORM"] = "egl"
import numpy as np  # noqa: E402
from OpenGL import EGL, GL  # noqa: E402
from OpenGL.GL import shaders  # noqa: E402

import offscreen  # noqa: E402
import pictures  # noqa: E402

WIDTH, HEIGHT = 640, 480
display = EGL.eglGetDisplay(EGL.EGL_DEFAULT_DISPLAY)
EGL.eglInitialize(display, None, None)
wanted = [
    EGL.EGL_SURFACE_TYPE, EGL.EGL_PBUFFER_BIT, EGL.EGL_RENDERABLE_TYPE, EGL.EGL_OPENGL_BIT, EGL.EGL_RED_SIZE, 8,
    EGL.EGL_ALPHA_SIZE, 8, EGL.EGL_DEPTH_SIZE, 24, EGL.EGL_STENCIL_SIZE, 8, EGL.EGL_SAMPLES, 4, EGL.EGL_NONE,
]
configs, found = (EGL.EGLConfig * 1)(), EGL.EGLint()
EGL.eglChooseConfig(display, wanted, configs, 1, found)
if found.value < 1:
    raise SystemExit("no config with four samples")
EGL.eglBindAPI(EGL.EGL_OPENGL_API)
context = EGL.eglCreateContext(
    display, configs[0], EGL.EGL_NO_CONTEXT,
    [EGL.EGL_CONTEXT_MAJOR_VERSION, 3, EGL.EGL_CONTEXT_MINOR_VERSION, 3, EGL.EGL_CONTEXT_OPENGL_PROFILE_MASK,
     EGL.EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL.EGL_NONE],
)
surface = EGL.eglCreatePbufferSurface(display, configs[0], [EGL.EGL_WIDTH, WIDTH, EGL.EGL_HEIGHT, HEIGHT, EGL.EGL_NONE])
EGL.eglMakeCurrent(display, surface, surface, context)
pictures.report(GL.glGetString(GL.GL_RENDERER), GL.glGetString(GL.GL_VERSION))
GL.glBindVertexArray(GL.glGenVertexArrays(1))


def program(**stages):
    """A program of the stages' texts, linked."""
    kinds = {"vertex": GL.GL_VERTEX_SHADER, "geometry": GL.GL_GEOMETRY_SHADER, "fragment": GL.GL_FRAGMENT_SHADER}
    return shaders.compileProgram(*(shaders.compileShader("#version 330\n" + t, kinds[k]) for k, t in stages.items()))


def buffer(target, data):
    """A buffer with the array's bytes, bound."""
    name = GL.glGenBuffers(1)
    GL.glBindBuffer(target, name)
    GL.glBufferData(target, data.nbytes, data, GL.GL_STATIC_DRAW)
    return name


# Twelve layers of one texture, each a ring pattern in its own colour.
n, layers = 32, 12
y, x = np.mgrid[0:n, 0:n]
r = np.hypot(x - 15.5, y - 15.5)
texels = np.zeros((layers, n, n, 4), "u1")
for k in range(layers):
    tint = 127 + 127 * np.cos(k * 0.5236 + np.array([0.0, 2.1, 4.2]))
    ring = 0.55 + 0.45 * np.cos(r * (0.3 + 0.12 * k))
    texels[k, ..., :3] = ring[..., None] * tint
    texels[k, ..., 3] = np.clip((15.5 - r) * 255, 0, 255)
texture = GL.glGenTextures(1)
GL.glBindTexture(GL.GL_TEXTURE_2D_ARRAY, texture)
GL.glTexImage3D(GL.GL_TEXTURE_2D_ARRAY, 0, GL.GL_RGBA8, n, n, layers, 0, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, texels)
GL.glGenerateMipmap(GL.GL_TEXTURE_2D_ARRAY)
GL.glTexParameteri(GL.GL_TEXTURE_2D_ARRAY, GL.GL_TEXTURE_MIN_FILTER, GL.GL_LINEAR_MIPMAP_LINEAR)
GL.glTexParameteri(GL.GL_TEXTURE_2D_ARRAY, GL.GL_TEXTURE_MAG_FILTER, GL.GL_LINEAR)

camera = offscreen.perspective(45.0, WIDTH / HEIGHT, 0.1, 50.0) @ offscreen.look_at((4.5, 3.2, 6.5), (0.0, 0.4, 0.0))
sprites = program(
    vertex="""layout(location = 0) in vec3 at; flat out int layer; out float size;
        void main() { gl_Position = vec4(at, 1.0); layer = gl_VertexID % 12; size = 0.28 + 0.1 * sin(float(gl_VertexID)); }""",
    geometry="""layout(points) in; layout(triangle_strip, max_vertices = 4) out;
        uniform mat4 camera; flat in int layer[]; in float size[]; flat out int kind; out vec2 uv;
        void main() {
            for (int i = 0; i < 4; ++i) {
                uv = vec2(i & 1, i >> 1); kind = layer[0];
                gl_Position = camera * gl_in[0].gl_Position + vec4((uv - 0.5) * 2.0 * size[0] * vec2(1.8, 2.4), 0.0, 0.0);
                EmitVertex();
            }
            EndPrimitive();
        }""",
    fragment="""uniform sampler2DArray layers; flat in int kind; in vec2 uv; out vec4 color;
        void main() { color = texture(layers, vec3(uv, kind)); if (color.a < 0.5) discard; }""",
)
solid = program(
    vertex="""layout(location = 0) in vec3 at; layout(location = 1) in vec3 normal; uniform mat4 camera; uniform float lift;
        out vec3 n; void main() { n = normal; gl_Position = camera * vec4(at * (0.8 + lift) + vec3(0.0, 0.6, 0.0), 1.0); }""",
    fragment="""uniform vec4 tint; in vec3 n; out vec4 color;
        void main() { color = vec4(tint.rgb * (0.3 + 0.7 * abs(dot(normalize(n), vec3(0.48, 0.6, 0.64)))), tint.a); }""",
)
GL.glClearColor(0.07, 0.08, 0.12, 1.0)
GL.glClearStencil(0)
GL.glClear(GL.GL_COLOR_BUFFER_BIT | GL.GL_DEPTH_BUFFER_BIT | GL.GL_STENCIL_BUFFER_BIT)
GL.glEnable(GL.GL_DEPTH_TEST)

# A cube that marks the stencil buffer, and its outline where the mark is not.
buffer(GL.GL_ARRAY_BUFFER, offscreen.cube())
GL.glEnableVertexAttribArray(0)
GL.glEnableVertexAttribArray(1)
GL.glVertexAttribPointer(0, 3, GL.GL_FLOAT, False, 24, GL.ctypes.c_void_p(0))
GL.glVertexAttribPointer(1, 3, GL.GL_FLOAT, False, 24, GL.ctypes.c_void_p(12))
GL.glUseProgram(solid)
GL.glUniformMatrix4fv(GL.glGetUniformLocation(solid, "camera"), 1, True, camera)
GL.glEnable(GL.GL_STENCIL_TEST)
GL.glStencilFunc(GL.GL_ALWAYS, 1, 0xFF)
GL.glStencilOp(GL.GL_KEEP, GL.GL_KEEP, GL.GL_REPLACE)
GL.glUniform4f(GL.glGetUniformLocation(solid, "tint"), 0.35, 0.55, 0.85, 1.0)
GL.glUniform1f(GL.glGetUniformLocation(solid, "lift"), 0.0)
query = np.ravel(GL.glGenQueries(1))[0]
GL.glBeginQuery(GL.GL_SAMPLES_PASSED, query)
GL.glDrawArrays(GL.GL_TRIANGLES, 0, 36)
GL.glEndQuery(GL.GL_SAMPLES_PASSED)
GL.glStencilFunc(GL.GL_NOTEQUAL, 1, 0xFF)
GL.glUniform4f(GL.glGetUniformLocation(solid, "tint"), 1.0, 0.85, 0.3, 1.0)
GL.glUniform1f(GL.glGetUniformLocation(solid, "lift"), 0.05)
GL.glDrawArrays(GL.GL_TRIANGLES, 0, 36)
GL.glDisable(GL.GL_STENCIL_TEST)

# Points that the geometry shader makes squares of.
t = np.linspace(0, 4 * np.pi, 72)
points = np.stack([2.6 * np.cos(t), 2.0 - t * 0.25, 2.6 * np.sin(t)], -1).astype("f4")
buffer(GL.GL_ARRAY_BUFFER, points)
GL.glDisableVertexAttribArray(1)
GL.glVertexAttribPointer(0, 3, GL.GL_FLOAT, False, 12, GL.ctypes.c_void_p(0))
GL.glUseProgram(sprites)
GL.glUniformMatrix4fv(GL.glGetUniformLocation(sprites, "camera"), 1, True, camera)
GL.glDrawArrays(GL.GL_POINTS, 0, len(points))

samples = GL.glGetQueryObjectuiv(query, GL.GL_QUERY_RESULT)
if not 4 * 20000 < int(np.ravel(samples)[0]) < 4 * 120000:
    raise SystemExit(f"the cube covers {samples} samples")
# Mesa's llvmpipe reads one sample of a multisampled pbuffer; what a blit resolves is the same everywhere.
resolved, color = GL.glGenFramebuffers(1), GL.glGenRenderbuffers(1)
GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, color)
GL.glRenderbufferStorage(GL.GL_RENDERBUFFER, GL.GL_RGBA8, WIDTH, HEIGHT)
GL.glBindFramebuffer(GL.GL_DRAW_FRAMEBUFFER, resolved)
GL.glFramebufferRenderbuffer(GL.GL_DRAW_FRAMEBUFFER, GL.GL_COLOR_ATTACHMENT0, GL.GL_RENDERBUFFER, color)
GL.glBlitFramebuffer(0, 0, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT, GL.GL_COLOR_BUFFER_BIT, GL.GL_NEAREST)
GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, resolved)
GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
data = GL.glReadPixels(0, 0, WIDTH, HEIGHT, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE)
pictures.save(np.frombuffer(data, "u1").reshape(HEIGHT, WIDTH, 4), bottom_up=True)
EGL.eglSwapBuffers(display, surface)
EGL.eglMakeCurrent(display, EGL.EGL_NO_SURFACE, EGL.EGL_NO_SURFACE, EGL.EGL_NO_CONTEXT)
EGL.eglDestroyContext(display, context)
EGL.eglTerminate(display)
