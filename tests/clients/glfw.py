"""GLFW 3: a window. The argument says how the context is made: egl or glx."""

import ctypes
import sys

from scene import Scene

glfw = ctypes.CDLL("libglfw.so.3")
glfw.glfwCreateWindow.restype = glfw.glfwGetProcAddress.restype = ctypes.c_void_p
glfw.glfwGetTime.restype = ctypes.c_double
MAJOR, MINOR, PROFILE, CORE, API, NATIVE, EGL = 0x22002, 0x22003, 0x22008, 0x32001, 0x2200B, 0x36001, 0x36002
if not glfw.glfwInit():
    sys.exit("glfwInit")
hints = ((MAJOR, 3), (MINOR, 3), (PROFILE, CORE), (API, EGL if sys.argv[1] == "egl" else NATIVE))
for hint, value in hints:
    glfw.glfwWindowHint(hint, value)
window = ctypes.c_void_p(glfw.glfwCreateWindow(400, 300, b"glfw", None, None))
if not window:
    text = ctypes.c_char_p()
    code = glfw.glfwGetError(ctypes.byref(text))
    sys.exit(f"glfwCreateWindow: {code:#x} {text.value}")
glfw.glfwMakeContextCurrent(window)
glfw.glfwSwapInterval(1)
scene = Scene(lambda name: glfw.glfwGetProcAddress(name.encode()))
print(scene.renderer(), flush=True)
width, height = ctypes.c_int(), ctypes.c_int()
while not glfw.glfwWindowShouldClose(window):
    glfw.glfwGetFramebufferSize(window, ctypes.byref(width), ctypes.byref(height))
    scene.draw(width.value, height.value)
    glfw.glfwSwapBuffers(window)
    glfw.glfwPollEvents()
glfw.glfwDestroyWindow(window)
glfw.glfwTerminate()
