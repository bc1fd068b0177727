#version 460 core
layout(set = 0, binding = 0) uniform mgl_Globals { vec4 tint; };
layout(location = 0) in vec2 position;
layout(location = 1) in vec3 color;
layout(location = 0) out vec3 v_color;
void main() {
    v_color = color * tint.rgb;
    gl_Position = vec4(position, 0.0, 1.0);
}
