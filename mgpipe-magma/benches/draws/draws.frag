#version 450
// A default block, eight uniform blocks and eight textures. SHIFT makes a second program.
#ifndef SHIFT
#define SHIFT 0.0
#endif
layout(set = 0, binding = 0, std140) uniform Globals { vec4 tint; };
layout(set = 0, binding = 1, std140) uniform B0 { vec4 v; } b0;
layout(set = 0, binding = 2, std140) uniform B1 { vec4 v; } b1;
layout(set = 0, binding = 3, std140) uniform B2 { vec4 v; } b2;
layout(set = 0, binding = 4, std140) uniform B3 { vec4 v; } b3;
layout(set = 0, binding = 5, std140) uniform B4 { vec4 v; } b4;
layout(set = 0, binding = 6, std140) uniform B5 { vec4 v; } b5;
layout(set = 0, binding = 7, std140) uniform B6 { vec4 v; } b6;
layout(set = 0, binding = 8, std140) uniform B7 { vec4 v; } b7;
layout(set = 1, binding = 0) uniform sampler2D t0;
layout(set = 1, binding = 1) uniform sampler2D t1;
layout(set = 1, binding = 2) uniform sampler2D t2;
layout(set = 1, binding = 3) uniform sampler2D t3;
layout(set = 1, binding = 4) uniform sampler2D t4;
layout(set = 1, binding = 5) uniform sampler2D t5;
layout(set = 1, binding = 6) uniform sampler2D t6;
layout(set = 1, binding = 7) uniform sampler2D t7;
layout(location = 0) out vec4 color;

void main() {
    vec2 at = tint.xy;
    color = tint + b0.v + b1.v + b2.v + b3.v + b4.v + b5.v + b6.v + b7.v + texture(t0, at) + texture(t1, at)
        + texture(t2, at) + texture(t3, at) + texture(t4, at) + texture(t5, at) + texture(t6, at) + texture(t7, at) + SHIFT;
}
