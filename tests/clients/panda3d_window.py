"""Panda3D: a window through GLX with a lit, rotated box."""

import sys

from panda3d.core import loadPrcFileData

loadPrcFileData("", "load-display pandagl\ngl-version 3 3\nwin-size 400 300\naudio-library-name null\nwindow-title panda3d")
from direct.showbase.ShowBase import ShowBase
from panda3d.core import Geom, GeomNode, GeomTriangles, GeomVertexData, GeomVertexFormat, GeomVertexWriter, Shader

VERTEX = """#version 330
uniform mat4 p3d_ModelViewProjectionMatrix;
in vec4 p3d_Vertex;
in vec4 p3d_Color;
out vec4 color;
void main() { color = p3d_Color; gl_Position = p3d_ModelViewProjectionMatrix * p3d_Vertex; }
"""
FRAGMENT = """#version 330
in vec4 color;
out vec4 result;
void main() { result = color; }
"""

base = ShowBase()
base.set_background_color(0.1, 0.2, 0.3)
print(base.win.gsg.driver_renderer, flush=True)
data = GeomVertexData("box", GeomVertexFormat.get_v3c4(), Geom.UH_static)
position, color = GeomVertexWriter(data, "vertex"), GeomVertexWriter(data, "color")
triangles = GeomTriangles(Geom.UH_static)
for index in range(8):
    corner = [(index >> axis & 1) * 2.0 - 1.0 for axis in range(3)]
    position.add_data3(*corner)
    color.add_data4(*(value * 0.4 + 0.6 for value in corner), 1.0)
for quad in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)):
    triangles.add_vertices(quad[0], quad[1], quad[2])
    triangles.add_vertices(quad[0], quad[2], quad[3])
geometry = Geom(data)
geometry.add_primitive(triangles)
node = GeomNode("box")
node.add_geom(geometry)
box = base.render.attach_new_node(node)
box.set_shader(Shader.make(Shader.SL_GLSL, VERTEX, FRAGMENT))
box.set_two_sided(True)
box.set_hpr(30, 20, 10)
base.disable_mouse()
base.camera.set_pos(0, -7, 0)


def frames():
    while not base.win.is_closed():
        base.task_mgr.step()


base.userExit = lambda: base.graphicsEngine.remove_all_windows()
base.accept(base.win.get_window_event(), base.windowEvent)
try:
    frames()
except SystemExit:
    pass
base.graphicsEngine.remove_all_windows()
sys.exit(0)
