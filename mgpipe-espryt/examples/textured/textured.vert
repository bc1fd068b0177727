#version 460 core
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 coord;
layout(location = 0) out vec2 uv;
layout(set = 0, binding = 0, std140) uniform mgl_Globals { vec4 tint; };
layout(location = 1) out vec4 shade;
void main() {
    uv = coord;
    shade = tint;
    gl_Position = vec4(position, 0.0, 1.0);
}
