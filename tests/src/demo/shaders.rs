//! The demo's GLSL 3.30 sources.

/// What every shader of a frame knows; std140.
pub const FRAME_BLOCK: &str = "
layout(std140) uniform Frame {
    mat4 view_projection;
    mat4 inverse_view_projection;
    mat4 light_matrix;
    vec4 eye;         // xyz
    vec4 to_light;    // xyz, w = time in seconds
    vec4 size;        // width, height, 1 / width, 1 / height
};";

/// The sky as a function of the direction; also what metal reflects.
const SKY: &str = "
vec3 sky(vec3 d) {
    float up = clamp(d.y, -1.0, 1.0);
    vec3 zenith = vec3(0.055, 0.13, 0.36), middle = vec3(0.32, 0.40, 0.62), horizon = vec3(0.98, 0.50, 0.27);
    vec3 c = mix(horizon, middle, smoothstep(0.0, 0.17, up));
    c = mix(c, zenith, smoothstep(0.10, 0.55, up));
    c = mix(c, vec3(0.16, 0.12, 0.10), smoothstep(0.02, -0.25, up));
    float s = max(dot(d, to_light.xyz), 0.0);
    return c + vec3(1.0, 0.66, 0.36) * (0.35 * pow(s, 8.0) + 0.9 * pow(s, 96.0));
}";

/// Vertex shader of the objects, for the picture and for the shadow map.
pub const OBJECT_VS: &str = "
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 texcoord;
layout(location = 3) in mat4 model;      // one an instance, locations 3 to 6
layout(location = 7) in vec4 color;      // rgb, texture layer
layout(location = 8) in vec4 surface;    // metalness, roughness, texture scale, glow
uniform bool shadow_pass;
out vec3 world; out vec3 world_normal; out vec3 uv; out vec4 shadow_position;
flat out vec3 tint; flat out vec3 finish;
void main() {
    vec4 p = model * vec4(position, 1.0);
    world = p.xyz;
    // Scales are uniform or along the axes of symmetry, for which this is the right direction after normalising.
    vec3 s2 = vec3(dot(model[0].xyz, model[0].xyz), dot(model[1].xyz, model[1].xyz), dot(model[2].xyz, model[2].xyz));
    world_normal = mat3(model) * (normal / s2);
    uv = vec3(texcoord * surface.z, color.a);
    tint = color.rgb; finish = surface.xyw;
    shadow_position = light_matrix * vec4(world + normalize(world_normal) * 0.02, 1.0);
    gl_Position = shadow_pass ? light_matrix * p : view_projection * p;
}";

/// Fragment shader of the shadow map.
pub const SHADOW_FS: &str = "void main() {}";

/// Fragment shader of the objects: a physically based surface under a sun and the sky.
pub fn object_fs() -> String {
    format!(
        "{FRAME_BLOCK}{SKY}
uniform sampler2DArray materials;
uniform sampler2DShadow shadow_map;
in vec3 world; in vec3 world_normal; in vec3 uv; in vec4 shadow_position;
flat in vec3 tint; flat in vec3 finish;
layout(location = 0) out vec4 result;

float sunlight() {{
    vec3 p = shadow_position.xyz * 0.5 + 0.5;
    if (any(greaterThan(abs(shadow_position.xy), vec2(0.98)))) return 1.0;
    float texel = 1.0 / float(textureSize(shadow_map, 0).x), sum = 0.0;
    for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
            sum += texture(shadow_map, vec3(p.xy + vec2(x, y) * texel * 1.3, p.z - 0.0006));
    return sum / 9.0;
}}

void main() {{
    vec3 n = normalize(world_normal), v = normalize(eye.xyz - world), l = to_light.xyz, h = normalize(v + l);
    float metal = finish.x, rough = finish.y, alpha = rough * rough;
    vec3 albedo = tint * texture(materials, uv).rgb;
    vec3 f0 = mix(vec3(0.04), albedo, metal), diffuse = albedo * (1.0 - metal);
    float nl = max(dot(n, l), 0.0), nv = max(dot(n, v), 1e-3), nh = max(dot(n, h), 0.0), vh = max(dot(v, h), 0.0);

    float d = nh * nh * (alpha * alpha - 1.0) + 1.0;
    float distribution = alpha * alpha / (3.14159 * d * d);
    float k = (rough + 1.0) * (rough + 1.0) / 8.0;
    float visibility = 0.25 / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k));
    vec3 fresnel = f0 + (1.0 - f0) * pow(1.0 - vh, 5.0);
    vec3 sun = vec3(1.0, 0.80, 0.58) * 4.2;
    vec3 c = (diffuse * (1.0 - fresnel) / 3.14159 + fresnel * distribution * visibility) * sun * nl * sunlight();

    vec3 above = vec3(0.30, 0.36, 0.52), below = vec3(0.22, 0.17, 0.13);
    float hollow = 1.0 - 0.55 * exp(-max(world.y, 0.0) * 3.0) * clamp(1.0 - n.y, 0.0, 1.0);
    c += diffuse * mix(below, above, n.y * 0.5 + 0.5) * hollow;
    vec3 edge = f0 + (max(vec3(1.0 - rough), f0) - f0) * pow(1.0 - nv, 5.0);
    vec3 mirror = mix(sky(reflect(-v, n)), mix(below, above, reflect(-v, n).y * 0.5 + 0.5), rough);
    c += edge * mirror * hollow;
    c += albedo * finish.z;

    float far = length(eye.xyz - world);
    c = mix(c, sky(normalize(vec3(world - eye.xyz) * vec3(1.0, 0.0, 1.0))) * 0.9, 1.0 - exp(-pow(far * 0.026, 3.0)));
    result = vec4(c, 1.0);
}}"
    )
}

/// A triangle that covers the screen.
pub const SCREEN_VS: &str = "
out vec2 at;
void main() {
    at = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
    gl_Position = vec4(at * 2.0 - 1.0, 1.0, 1.0);
}";

/// Fragment shader of the background.
pub fn sky_fs() -> String {
    format!(
        "{FRAME_BLOCK}{SKY}
in vec2 at;
layout(location = 0) out vec4 result;
void main() {{
    vec4 p = inverse_view_projection * vec4(at * 2.0 - 1.0, 1.0, 1.0);
    vec3 d = normalize(p.xyz / p.w - eye.xyz);
    float disc = smoothstep(0.9990, 0.9996, dot(d, to_light.xyz));
    result = vec4(sky(d) + vec3(1.0, 0.72, 0.42) * 14.0 * disc, 1.0);
}}"
    )
}

/// Fragment shader that brings the picture to the screen: glow from the mip levels, tone curve, vignette, sRGB.
pub fn screen_fs() -> String {
    format!(
        "{FRAME_BLOCK}
uniform sampler2D picture;
in vec2 at;
layout(location = 0) out vec4 result;
vec3 curve(vec3 x) {{ return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0); }}
void main() {{
    vec3 c = texture(picture, at).rgb;
    vec3 glow = vec3(0.0);
    for (int i = 2; i < 6; ++i) {{
        vec2 step = size.zw * exp2(float(i)) * 0.5;
        for (int j = 0; j < 4; ++j) {{
            vec2 o = vec2(j < 2 ? -1.0 : 1.0, (j & 1) == 0 ? -1.0 : 1.0) * step;
            glow += max(textureLod(picture, at + o, float(i)).rgb - 0.9, 0.0) * 0.0625;
        }}
    }}
    c = curve((c + glow * 0.55) * 0.92);
    vec2 q = at - 0.5;
    c *= 1.0 - 0.55 * dot(q, q);
    c = mix(c * 12.92, 1.055 * pow(max(c, 0.0031308), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
    // A hint of noise hides the steps of the gradient.
    float grain = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) - 0.5;
    result = vec4(c + grain / 255.0, 1.0);
}}"
    )
}
