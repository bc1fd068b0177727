"""zengl: instanced meshes into three targets and depth, then a pass that lights the pixels from those textures."""

import struct

import numpy as np
import zengl

import offscreen
import pictures

current = offscreen.context()  # zengl takes the current context
zengl.init(zengl.loader())
ctx = zengl.context()
size = (640, 480)
albedo = ctx.image(size, "rgba8unorm")
normals = ctx.image(size, "rgba16float")
places = ctx.image(size, "rgba32float")
depth = ctx.image(size, "depth24plus")
camera = offscreen.perspective(45.0, 4 / 3, 0.1, 60.0) @ offscreen.look_at((5.5, 5.0, 8.0), (0.0, 0.2, 0.0))
scene = ctx.buffer(size=80)
scene.write(offscreen.to_gl(camera) + struct.pack("4f", 5.5, 5.0, 8.0, 0.0))

vertices, indices = offscreen.torus(64, 24)
grid = np.array([(x, z) for x in range(-3, 4) for z in range(-3, 4)], "f4") * 1.5
k = np.arange(len(grid))
instances = np.stack(
    [grid[:, 0], 0.5 * np.sin(k * 1.3), grid[:, 1], 0.45 + 0.1 * np.cos(k), 0.5 + 0.5 * np.sin(k), 0.6 + 0.3 * np.cos(k * 0.7), 0.4 + 0 * k],
    -1,
).astype("f4")
vertex_buffer, index_buffer = ctx.buffer(vertices), ctx.buffer(indices.astype("u4"), index=True)
instance_buffer = ctx.buffer(instances)
INCLUDE = "layout(std140) uniform Scene { mat4 camera; vec4 eye; };"
geometry = ctx.pipeline(
    vertex_shader="#version 330\n" + INCLUDE + """
        layout(location = 0) in vec3 at; layout(location = 1) in vec3 normal; layout(location = 2) in vec2 uv;
        layout(location = 3) in vec4 place; layout(location = 4) in vec3 tint;
        out vec3 v_normal; out vec3 v_at; out vec3 v_tint; out vec2 v_uv;
        void main() {
            float a = place.x + place.z, c = cos(a), s = sin(a);
            mat3 turn = mat3(1.0, 0.0, 0.0, 0.0, c, s, 0.0, -s, c);
            v_normal = turn * normal; v_at = turn * at * place.w + place.xyz; v_tint = tint; v_uv = uv;
            gl_Position = camera * vec4(v_at, 1.0);
        }
    """,
    fragment_shader="""#version 330
        in vec3 v_normal; in vec3 v_at; in vec3 v_tint; in vec2 v_uv;
        layout(location = 0) out vec4 albedo; layout(location = 1) out vec4 normal; layout(location = 2) out vec4 place;
        void main() {
            albedo = vec4(v_tint * (mod(floor(v_uv.x * 2.0) + floor(v_uv.y * 2.0), 2.0) < 1.0 ? 1.0 : 0.6), 1.0);
            normal = vec4(normalize(v_normal), 0.0); place = vec4(v_at, 1.0);
        }
    """,
    layout=[{"name": "Scene", "binding": 0}],
    resources=[{"type": "uniform_buffer", "binding": 0, "buffer": scene}],
    framebuffer=[albedo, normals, places, depth],
    topology="triangles",
    cull_face="back",
    vertex_buffers=[
        *zengl.bind(vertex_buffer, "3f 3f 2f", 0, 1, 2),
        *zengl.bind(instance_buffer, "4f 3f /i", 3, 4),
    ],
    index_buffer=index_buffer,
    vertex_count=indices.size,
    instance_count=len(instances),
)
result = ctx.image(size, "rgba8unorm")
lights = ctx.pipeline(
    vertex_shader="""#version 330
        void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }
    """,
    fragment_shader="#version 330\n" + INCLUDE + """
        uniform sampler2D albedo; uniform sampler2D normals; uniform sampler2D places;
        layout(location = 0) out vec4 result;
        void main() {
            ivec2 p = ivec2(gl_FragCoord.xy);
            vec4 place = texelFetch(places, p, 0);
            if (place.w == 0.0) { result = vec4(mix(vec3(0.08, 0.09, 0.13), vec3(0.20, 0.24, 0.34), gl_FragCoord.y / 480.0), 1.0); return; }
            vec3 n = texelFetch(normals, p, 0).xyz, c = texelFetch(albedo, p, 0).rgb, sum = c * 0.08;
            for (int i = 0; i < 16; ++i) {
                float a = float(i) * 0.3927;
                vec3 l = vec3(4.5 * cos(a), 1.6, 4.5 * sin(a)) - place.xyz;
                vec3 tint = 0.5 + 0.5 * cos(a + vec3(0.0, 2.1, 4.2));
                vec3 h = normalize(normalize(l) + normalize(eye.xyz - place.xyz));
                sum += tint * (c * max(dot(n, normalize(l)), 0.0) + 0.4 * pow(max(dot(n, h), 0.0), 24.0)) / (0.6 + dot(l, l) * 0.5);
            }
            result = vec4(sum / (0.7 + sum), 1.0);
        }
    """,
    layout=[
        {"name": "Scene", "binding": 0},
        {"name": "albedo", "binding": 0},
        {"name": "normals", "binding": 1},
        {"name": "places", "binding": 2},
    ],
    resources=[
        {"type": "uniform_buffer", "binding": 0, "buffer": scene},
        *(
            {"type": "sampler", "binding": i, "image": image, "min_filter": "nearest", "mag_filter": "nearest"}
            for i, image in enumerate((albedo, normals, places))
        ),
    ],
    framebuffer=[result],
    topology="triangles",
    vertex_count=3,
)
ctx.new_frame()
for image in (albedo, normals, places, depth):
    image.clear()
geometry.render()
lights.render()
ctx.end_frame()
pictures.save(np.frombuffer(result.read(), "u1").reshape(size[1], size[0], 4), bottom_up=True)
