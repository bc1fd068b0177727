#version 460 core
layout(set = 0, binding = 0) uniform mgl_Globals { vec4 rect; vec4 unused; };
layout(set = 0, binding = 1) uniform Block { vec4 value; };
layout(location = 0) out vec4 v_color;
void main() {
    vec2 corner = vec2(float(gl_VertexIndex & 1), float(gl_VertexIndex >> 1));
    gl_Position = vec4(mix(rect.xy, rect.zw, corner), 0.0, 1.0);
    v_color = value;
}
