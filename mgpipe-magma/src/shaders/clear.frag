// Writes a constant. KIND: 0 float, 1 signed, 2 unsigned.
#version 460 core
#if KIND == 0
#define VEC4 vec4
#elif KIND == 1
#define VEC4 ivec4
#else
#define VEC4 uvec4
#endif
layout(push_constant) uniform Push { VEC4 value; };
layout(location = 0) out VEC4 color;
void main() {
    color = value;
}
