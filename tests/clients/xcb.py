"""libxcb without Xlib: a window that EGL gets through its platform for xcb."""

import ctypes
import sys

from scene import Scene

xcb = ctypes.CDLL("libxcb.so.1")
egl = ctypes.CDLL("libEGL.so.1")
libc = ctypes.CDLL(None)
pointer, u32 = ctypes.c_void_p, ctypes.c_uint32


class Cookie(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_uint)]


class Roots(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(u32)), ("rem", ctypes.c_int), ("index", ctypes.c_int)]


for name in ("xcb_connect", "xcb_get_setup", "xcb_poll_for_event", "xcb_intern_atom_reply"):
    getattr(xcb, name).restype = pointer
xcb.xcb_setup_roots_iterator.restype = Roots
xcb.xcb_intern_atom.restype = Cookie
xcb.xcb_generate_id.restype = u32
for name in ("eglGetPlatformDisplay", "eglCreateContext", "eglCreatePlatformWindowSurface", "eglGetProcAddress"):
    getattr(egl, name).restype = pointer
PLATFORM_XCB, OPENGL_API, NONE = 0x31DC, 0x30A2, 0x3038
STRUCTURE_EVENTS, EVENT_MASK, ATOM = 0x20000, 0x800, 4
CONFIGURE, CLIENT_MESSAGE = 22, 33


def integers(*values):
    return (ctypes.c_int * len(values))(*values)


def check(passed, what):
    if not passed:
        sys.exit(f"{what}: {egl.eglGetError():#x}")


connection = pointer(xcb.xcb_connect(None, None))
screen = xcb.xcb_setup_roots_iterator(pointer(xcb.xcb_get_setup(connection))).data
display = pointer(egl.eglGetPlatformDisplay(PLATFORM_XCB, connection, None))
check(egl.eglInitialize(display, None, None), "eglInitialize")
check(egl.eglBindAPI(OPENGL_API), "eglBindAPI")
config, count, visual = pointer(), ctypes.c_int(), ctypes.c_int()
wanted = integers(0x3024, 8, 0x3025, 24, 0x3033, 4, 0x3040, 8, NONE)
check(egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count)) and count.value, "eglChooseConfig")
check(egl.eglGetConfigAttrib(display, config, 0x302E, ctypes.byref(visual)), "EGL_NATIVE_VISUAL_ID")
window = u32(xcb.xcb_generate_id(connection))
# From the parent: depth and visual, which the config was chosen to have.
xcb.xcb_create_window(connection, 0, window, screen[0], 10, 10, 400, 300, 0, 1, 0, EVENT_MASK, integers(STRUCTURE_EVENTS))


def atom(name):
    cookie = xcb.xcb_intern_atom(connection, 0, len(name), name)
    reply = pointer(xcb.xcb_intern_atom_reply(connection, cookie, None))
    value = ctypes.cast(reply, ctypes.POINTER(u32))[2]
    libc.free(reply)
    return value


closing = atom(b"WM_DELETE_WINDOW")
xcb.xcb_change_property(connection, 0, window, atom(b"WM_PROTOCOLS"), ATOM, 32, 1, ctypes.byref(u32(closing)))
xcb.xcb_map_window(connection, window)
xcb.xcb_flush(connection)
surface = pointer(egl.eglCreatePlatformWindowSurface(display, config, ctypes.byref(window), None))
check(surface, "eglCreatePlatformWindowSurface")
context = pointer(egl.eglCreateContext(display, config, None, integers(0x3098, 3, 0x30FB, 3, 0x30FD, 1, NONE)))
check(context, "eglCreateContext")
check(egl.eglMakeCurrent(display, surface, surface, context), "eglMakeCurrent")
scene = Scene(lambda name: egl.eglGetProcAddress(name.encode()))
print(scene.renderer(), flush=True)
width, height, open_ = 400, 300, True
while open_:
    while event := xcb.xcb_poll_for_event(connection):
        words = ctypes.cast(event, ctypes.POINTER(u32))
        kind = words[0] & 0x7F
        if kind == CONFIGURE:
            width, height = words[5] & 0xFFFF, words[5] >> 16
        open_ &= not (kind == CLIENT_MESSAGE and words[3] == closing)
        libc.free(pointer(event))
    scene.draw(width, height)
    check(egl.eglSwapBuffers(display, surface), "eglSwapBuffers")
check(egl.eglMakeCurrent(display, None, None, None), "eglMakeCurrent")
check(egl.eglDestroySurface(display, surface), "eglDestroySurface")
check(egl.eglTerminate(display), "eglTerminate")
xcb.xcb_disconnect(connection)
