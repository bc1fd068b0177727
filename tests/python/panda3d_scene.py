"""Panda3D's EGL back end: generated meshes, a texture with mipmaps, a shadow pass into a depth texture, shaders of GLSL 3.30."""

import math

import numpy as np
from panda3d import core

import pictures

core.load_prc_file_data("", """
load-display p3headlessgl
window-type offscreen
win-size 640 480
gl-version 3 3
gl-debug true
audio-library-name null
sync-video false
textures-power-2 none
""")
from direct.showbase.ShowBase import ShowBase  # noqa: E402 (reads the settings)


def mesh(name, rows, triangles):
    """A Geom of rows (position, normal, texture coordinates) and index triples."""
    data = core.GeomVertexData(name, core.GeomVertexFormat.get_v3n3t2(), core.Geom.UH_static)
    data.unclean_set_num_rows(len(rows))
    data.modify_array_handle(0).copy_data_from(np.ascontiguousarray(rows, "f4").tobytes())
    primitive = core.GeomTriangles(core.Geom.UH_static)
    for a, b, c in triangles:
        primitive.add_vertices(int(a), int(b), int(c))
    geom = core.Geom(data)
    geom.add_primitive(primitive)
    node = core.GeomNode(name)
    node.add_geom(geom)
    return core.NodePath(node)


def knot(n=160, m=16):
    """A trefoil tube."""
    t = np.linspace(0, 2 * math.pi, n + 1)
    path = np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], -1) * 0.5
    tangent = np.gradient(path, axis=0)
    tangent[0] = tangent[-1] = path[1] - path[-2]
    tangent /= np.linalg.norm(tangent, axis=-1, keepdims=True)
    side = np.cross(tangent, path + (0, 0, 2.5))
    side /= np.linalg.norm(side, axis=-1, keepdims=True)
    up = np.cross(tangent, side)
    a = np.linspace(0, 2 * math.pi, m + 1)
    normal = side[:, None] * np.cos(a)[None, :, None] + up[:, None] * np.sin(a)[None, :, None]
    uv = np.stack(np.meshgrid(np.linspace(0, 12, n + 1), np.linspace(0, 1, m + 1), indexing="ij"), -1)
    rows = np.concatenate([path[:, None] + 0.26 * normal, normal, uv], -1).reshape(-1, 8)
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    p = i * (m + 1) + j
    return rows, np.concatenate([np.stack([p, p + m + 2, p + 1], -1), np.stack([p, p + m + 1, p + m + 2], -1)])


VERTEX = """#version 330
uniform mat4 p3d_ModelViewProjectionMatrix; uniform mat4 p3d_ModelMatrix; uniform mat4 to_light;
in vec4 p3d_Vertex; in vec3 p3d_Normal; in vec2 p3d_MultiTexCoord0;
out vec3 normal; out vec2 uv; out vec4 in_light; out vec3 world;
void main() {
    vec4 at = p3d_ModelMatrix * p3d_Vertex;
    world = at.xyz; normal = mat3(p3d_ModelMatrix) * p3d_Normal; uv = p3d_MultiTexCoord0; in_light = to_light * at;
    gl_Position = p3d_ModelViewProjectionMatrix * p3d_Vertex;
}"""
FRAGMENT = """#version 330
uniform sampler2D p3d_Texture0; uniform sampler2DShadow depths; uniform vec3 light_at; uniform vec4 p3d_ColorScale;
in vec3 normal; in vec2 uv; in vec4 in_light; in vec3 world; out vec4 result;
void main() {
    vec3 at = in_light.xyz / in_light.w * 0.5 + 0.5;
    float seen = 0.0;
    for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
            seen += texture(depths, vec3(at.xy + vec2(x, y) / 512.0, at.z - 0.004)) / 9.0;
    vec3 n = normalize(normal), l = normalize(light_at - world);
    vec3 c = texture(p3d_Texture0, uv).rgb * p3d_ColorScale.rgb;
    result = vec4(c * (0.22 + 0.78 * seen * max(dot(n, l), 0.0)), 1.0);
}"""

base = ShowBase(windowType="offscreen")
gsg = base.win.get_gsg()
pictures.report(gsg.get_driver_renderer(), gsg.get_driver_version())
base.set_background_color(0.55, 0.66, 0.78)

n = 64
y, x = np.mgrid[0:n, 0:n]
check = ((x // 16 + y // 16) % 2)[..., None]
texture = core.Texture("check")
texture.setup_2d_texture(n, n, core.Texture.T_unsigned_byte, core.Texture.F_rgb)
texture.set_ram_image(np.where(check, (200, 220, 240), (70, 90, 130)).astype("u1").tobytes())
texture.set_minfilter(core.SamplerState.FT_linear_mipmap_linear)

light = base.render.attach_new_node(core.LensNode("light", core.PerspectiveLens(50, 50)))
light.node().get_lens().set_near_far(3, 16)
light.set_pos(4, -4, 7)
light.look_at(0, 0, 0)
depths = core.Texture("depths")
# Compared, not read: lavapipe filters depths only so.
depths.set_minfilter(core.SamplerState.FT_shadow)
depths.set_magfilter(core.SamplerState.FT_shadow)
depths.set_wrap_u(core.SamplerState.WM_clamp)
depths.set_wrap_v(core.SamplerState.WM_clamp)
properties = core.FrameBufferProperties()
properties.set_depth_bits(24)
shadow = base.graphics_engine.make_output(
    base.pipe, "shadow", -10, properties, core.WindowProperties(size=(512, 512)),
    core.GraphicsPipe.BF_refuse_window, gsg, base.win,
)
if shadow is None:
    raise SystemExit("Panda3D makes no depth buffer")
shadow.add_render_texture(depths, core.GraphicsOutput.RTM_bind_or_copy, core.GraphicsOutput.RTP_depth)
camera = core.Camera("from light", light.node().get_lens())
plain = core.NodePath("plain")
plain.set_shader(core.Shader.make(core.Shader.SL_GLSL, """#version 330
uniform mat4 p3d_ModelViewProjectionMatrix; in vec4 p3d_Vertex;
void main() { gl_Position = p3d_ModelViewProjectionMatrix * p3d_Vertex; }""", "#version 330\nvoid main() {}"), 10)
camera.set_initial_state(plain.get_state())
shadow.make_display_region().camera = light.attach_new_node(camera)

world = base.render.attach_new_node("world")
floor = np.array([[-6, -6, -1.6, 0, 0, 1, 0, 0], [6, -6, -1.6, 0, 0, 1, 8, 0], [6, 6, -1.6, 0, 0, 1, 8, 8], [-6, 6, -1.6, 0, 0, 1, 0, 8]])
mesh("floor", floor, [(0, 1, 2), (0, 2, 3)]).reparent_to(world)
thing = mesh("knot", *knot())
thing.reparent_to(world)
thing.set_hpr(20, 55, 0)
thing.set_color_scale(1.0, 0.72, 0.4, 1.0)
world.set_texture(texture)
world.set_two_sided(True)
world.set_shader(core.Shader.make(core.Shader.SL_GLSL, VERTEX, FRAGMENT))
to_light = light.get_mat(base.render)
to_light.invert_in_place()
world.set_shader_input("to_light", to_light * light.node().get_lens().get_projection_mat())
world.set_shader_input("depths", depths)
world.set_shader_input("light_at", light.get_pos(base.render))
base.camera.set_pos(2.2, -7.5, 4.0)
base.camera.look_at(0, 0, -0.3)
base.cam.node().get_lens().set_fov(50)

for _ in range(3):
    base.graphics_engine.render_frame()
shot = base.win.get_screenshot()
pixels = np.frombuffer(shot.get_ram_image_as("RGBA"), "u1").reshape(shot.get_y_size(), shot.get_x_size(), 4)
pictures.save(pixels, bottom_up=True)
base.destroy()
