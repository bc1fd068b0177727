"""A scene that every client of this folder draws with OpenGL 3.3: four coloured fields, a triangle and a frame around it,
all relative to the window's size, so that a frame of the wrong size is seen."""

import ctypes

VERTEX = b"""#version 330 core
out vec3 color;
void main() {
    vec2 corner = vec2(gl_VertexID == 1, gl_VertexID == 2);
    color = vec3(corner, 1.0 - corner.x);
    gl_Position = vec4(corner * 1.2 - 0.6, 0.0, 1.0);
}
"""
FRAGMENT = b"""#version 330 core
in vec3 color;
out vec4 result;
void main() { result = vec4(color, 1.0); }
"""
COLOR_BUFFER_BIT, SCISSOR_TEST, TRIANGLES = 0x4000, 0x0C11, 4


class Scene:
    """Made with a current context; `get` answers the address of a function."""

    def __init__(self, get):
        self._get = get
        call = self._call
        program = call("glCreateProgram", ctypes.c_uint)
        for kind, text in ((0x8B31, VERTEX), (0x8B30, FRAGMENT)):
            shader = call("glCreateShader", ctypes.c_uint, kind)
            call("glShaderSource", None, shader, 1, ctypes.byref(ctypes.c_char_p(text)), ctypes.c_void_p())
            call("glCompileShader", None, shader)
            call("glAttachShader", None, program, shader)
        call("glLinkProgram", None, program)
        linked = ctypes.c_int()
        call("glGetProgramiv", None, program, 0x8B82, ctypes.byref(linked))
        assert linked.value == 1, "the program does not link"
        array = ctypes.c_uint()
        call("glGenVertexArrays", None, 1, ctypes.byref(array))
        call("glBindVertexArray", None, array)
        call("glUseProgram", None, program)

    def _call(self, name, result, *arguments):
        address = self._get(name)
        assert address, name
        function = ctypes.CFUNCTYPE(result)(address)
        function.argtypes = None
        return function(*arguments)

    def draw(self, width, height):
        call, real = self._call, ctypes.c_float
        call("glViewport", None, 0, 0, width, height)
        halves = (width // 2, height // 2)
        call("glEnable", None, SCISSOR_TEST)
        for index, color in enumerate(((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0))):
            left, low = index % 2, index // 2
            call("glScissor", None, left * halves[0], low * halves[1], width - halves[0], height - halves[1])
            self._clear(color)
        for area in ((0, 0, width, 3), (0, height - 3, width, 3), (0, 0, 3, height), (width - 3, 0, 3, height)):
            call("glScissor", None, *area)
            self._clear((1, 1, 1))
        call("glDisable", None, SCISSOR_TEST)
        call("glDrawArrays", None, TRIANGLES, 0, 3)
        error = call("glGetError", ctypes.c_uint)
        assert error == 0, hex(error)

    def _clear(self, color):
        address = self._get("glClearColor")
        floats = [ctypes.c_float] * 4
        ctypes.CFUNCTYPE(None, *floats)(address)(*color, 1.0)
        self._call("glClear", None, COLOR_BUFFER_BIT)

    def renderer(self):
        address = self._get("glGetString")
        return ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_uint)(address)(0x1F01).decode()
