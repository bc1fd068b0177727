"""GTK 4: a GLArea, which GTK's own GL renderer draws into its window; GTK takes EGL on X11 and Wayland. The system's Python has to run it
(Debian packages python3-gi and gir1.2-gtk-4.0)."""

import ctypes
import signal
import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk

from scene import Scene

egl = ctypes.CDLL("libEGL.so.1")
egl.eglGetProcAddress.restype = ctypes.c_void_p


class View(Gtk.GLArea):
    def __init__(self):
        super().__init__()
        self.set_required_version(3, 3)
        self.connect("realize", self.on_realize)
        self.connect("render", self.on_render)

    def on_realize(self, _):
        self.make_current()
        if self.get_error():
            sys.exit(self.get_error().message)
        self.scene = Scene(lambda name: egl.eglGetProcAddress(name.encode()))
        print(self.scene.renderer(), flush=True)

    def on_render(self, _area, _context):
        self.scene.draw(self.get_width(), self.get_height())
        return True


def on_activate(application):
    window = Gtk.ApplicationWindow(application=application, default_width=400, default_height=300)
    window.set_decorated(False)
    window.set_child(View())
    window.present()


application = Gtk.Application(application_id="example.Area", flags=1 << 5)
application.connect("activate", on_activate)
GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGTERM, application.quit)
sys.exit(application.run())
