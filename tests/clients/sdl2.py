"""SDL 2: a resizable window. The argument says how the context is made: egl or glx."""

import ctypes
import sys

from scene import Scene

sdl = ctypes.CDLL("libSDL2-2.0.so.0")
sdl.SDL_CreateWindow.restype = sdl.SDL_GL_CreateContext.restype = sdl.SDL_GL_GetProcAddress.restype = ctypes.c_void_p
sdl.SDL_GetError.restype = ctypes.c_char_p
VIDEO, OPENGL, RESIZABLE = 0x20, 0x2, 0x20
CORE_PROFILE, QUIT, WINDOW_EVENT = 1, 0x100, 0x200


def check(passed):
    if not passed:
        sys.exit(f"SDL: {sdl.SDL_GetError().decode()}")


sdl.SDL_SetHint(b"SDL_VIDEO_X11_FORCE_EGL", b"1" if sys.argv[1] == "egl" else b"0")
check(sdl.SDL_Init(VIDEO) == 0)
for attribute, value in ((17, 3), (18, 3), (21, CORE_PROFILE), (6, 24)):
    check(sdl.SDL_GL_SetAttribute(attribute, value) == 0)
window = ctypes.c_void_p(sdl.SDL_CreateWindow(b"sdl2", 50, 50, 400, 300, OPENGL | RESIZABLE))
check(window)
context = ctypes.c_void_p(sdl.SDL_GL_CreateContext(window))
check(context)
scene = Scene(lambda name: sdl.SDL_GL_GetProcAddress(name.encode()))
# Mesa has no swap control through GLX on a server without DRI.
check(sdl.SDL_GL_SetSwapInterval(1) == 0 or "MGL" not in scene.renderer())
print(scene.renderer(), flush=True)
event = (ctypes.c_uint32 * 32)()
width, height = ctypes.c_int(), ctypes.c_int()
while True:
    while sdl.SDL_PollEvent(event):
        if event[0] == QUIT:
            sdl.SDL_GL_DeleteContext(context)
            sdl.SDL_DestroyWindow(window)
            sdl.SDL_Quit()
            sys.exit(0)
    sdl.SDL_GL_GetDrawableSize(window, ctypes.byref(width), ctypes.byref(height))
    scene.draw(width.value, height.value)
    sdl.SDL_GL_SwapWindow(window)
    sdl.SDL_Delay(5)
