// Copies texels of a source rectangle to the fragments of a destination rectangle.
// KIND: 0 float, 1 signed, 2 unsigned, 3 depth, 4 stencil, 5 one bit of the stencil. DIM: 0 2D array, 1 multisampled 2D array, 2 3D, 3 1D array.
#version 460 core
#if KIND == 4
#extension GL_ARB_shader_stencil_export : require
#endif
#if KIND == 0 || KIND == 3
#define VEC4 vec4
#define P(name) name
#elif KIND == 1
#define VEC4 ivec4
#define P(name) i##name
#else
#define VEC4 uvec4
#define P(name) u##name
#endif
#if DIM == 0
layout(set = 0, binding = 0) uniform P(sampler2DArray) source;
#elif DIM == 1
layout(set = 0, binding = 0) uniform P(sampler2DMSArray) source;
#elif DIM == 2
layout(set = 0, binding = 0) uniform P(sampler3D) source;
#else
layout(set = 0, binding = 0) uniform P(sampler1DArray) source;
#endif
layout(push_constant) uniform Push {
    vec2 dst_origin;
    vec2 src_origin;
    vec2 scale;
    int layer;
    int flags; // bit 0: linear filter, bit 1: average the samples, bits 2 to 7: sample, from bit 8 on: stencil bits one of which must be set
};
#if KIND < 3
layout(location = 0) out VEC4 color;
#endif
void main() {
    vec2 at = src_origin + (gl_FragCoord.xy - dst_origin) * scale;
    ivec2 texel = ivec2(floor(at));
#if DIM == 3
    ivec2 size = ivec2(textureSize(source, 0).x, 1);
#elif DIM == 1
    ivec2 size = textureSize(source).xy;
#else
    ivec2 size = textureSize(source, 0).xy;
#endif
    if (any(lessThan(texel, ivec2(0))) || any(greaterThanEqual(texel, size))) {
        discard;
    }
    VEC4 value;
#if DIM == 0
#if KIND == 0
    if ((flags & 1) != 0) {
        value = textureLod(source, vec3(at / vec2(size), layer), 0.0);
    } else
#endif
    value = texelFetch(source, ivec3(texel, layer), 0);
#elif DIM == 1
    value = texelFetch(source, ivec3(texel, layer), flags >> 2 & 63);
#if KIND == 0
    if ((flags & 2) != 0) {
        int count = textureSamples(source);
        for (int i = 1; i < count; i++) {
            value += texelFetch(source, ivec3(texel, layer), i);
        }
        value /= float(count);
    }
#endif
#elif DIM == 2
#if KIND == 0
    if ((flags & 1) != 0) {
        float depth = float(textureSize(source, 0).z);
        value = textureLod(source, vec3(at / vec2(size), (float(layer) + 0.5) / depth), 0.0);
    } else
#endif
    value = texelFetch(source, ivec3(texel, layer), 0);
#else
#if KIND == 0
    if ((flags & 1) != 0) {
        value = textureLod(source, vec2(at.x / float(size.x), layer), 0.0);
    } else
#endif
    value = texelFetch(source, ivec2(texel.x, layer), 0);
#endif
#if KIND < 3
    color = value;
#elif KIND == 3
    gl_FragDepth = value.r;
#elif KIND == 4
    gl_FragStencilRefARB = int(value.r);
#else
    if ((int(value.r) & flags >> 8) == 0 && flags >> 8 != 0) {
        discard;
    }
#endif
}
