//! Prints how long the compile and the link of a small and of a middling program take, in microseconds (medians).

use std::time::Instant;

use mgl_glsl::{compile, link, CompileOptions, CompiledShader, LinkOptions, Stage};

const SMALL: [(Stage, &str); 2] = [
    (Stage::Vertex, "#version 120\nattribute vec4 p; uniform mat4 m; void main() { gl_Position = m * p; }"),
    (Stage::Fragment, "#version 120\nuniform vec4 c; void main() { gl_FragColor = c; }"),
];

const LIT: [(Stage, &str); 2] = [
    (
        Stage::Vertex,
        "#version 330 core
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal; layout(location = 2) in vec2 uv;
layout(location = 3) in ivec4 joints; layout(location = 4) in vec4 weights;
uniform mat4 model, view, projection; uniform mat4 bones[64]; uniform bool skinned;
out vec3 v_world; out vec3 v_normal; out vec2 v_uv;
void main() {
    mat4 skin = mat4(1.0);
    if (skinned) { skin = mat4(0.0); for (int i = 0; i < 4; i++) skin += bones[joints[i]] * weights[i]; }
    vec4 world = model * skin * vec4(position, 1.0);
    v_world = world.xyz; v_normal = mat3(model * skin) * normal; v_uv = uv;
    gl_Position = projection * view * world;
}",
    ),
    (
        Stage::Fragment,
        "#version 330 core
in vec3 v_world; in vec3 v_normal; in vec2 v_uv; out vec4 color;
struct Light { vec3 position; vec3 color; float range; };
uniform Light lights[8]; uniform int light_count; uniform vec3 eye;
uniform sampler2D albedo_map, normal_map, orm_map; uniform samplerCube sky; uniform sampler2DShadow shadow_map; uniform mat4 shadow_matrix;
const float PI = 3.14159265;
float ggx(float nh, float a) { float a2 = a * a; float d = nh * nh * (a2 - 1.0) + 1.0; return a2 / (PI * d * d); }
float smith(float nv, float nl, float a) { float k = a * 0.5; return (nv / (nv * (1.0 - k) + k)) * (nl / (nl * (1.0 - k) + k)); }
vec3 fresnel(float c, vec3 f0) { return f0 + (1.0 - f0) * pow(1.0 - c, 5.0); }
void main() {
    vec3 n = normalize(v_normal + texture(normal_map, v_uv).xyz * 2.0 - 1.0); vec3 v = normalize(eye - v_world);
    vec3 albedo = pow(texture(albedo_map, v_uv).rgb, vec3(2.2)); vec3 orm = texture(orm_map, v_uv).rgb;
    vec3 f0 = mix(vec3(0.04), albedo, orm.b); vec3 sum = vec3(0.0);
    for (int i = 0; i < light_count; i++) {
        vec3 d = lights[i].position - v_world; float dist = length(d); vec3 l = d / dist; vec3 h = normalize(l + v);
        float nl = max(dot(n, l), 0.0), nv = max(dot(n, v), 1e-4), nh = max(dot(n, h), 0.0);
        vec3 f = fresnel(max(dot(h, v), 0.0), f0);
        vec3 spec = f * ggx(nh, orm.g * orm.g) * smith(nv, nl, orm.g) / (4.0 * nv * max(nl, 1e-4));
        float fade = clamp(1.0 - pow(dist / lights[i].range, 4.0), 0.0, 1.0) / (dist * dist + 1.0);
        sum += ((1.0 - f) * (1.0 - orm.b) * albedo / PI + spec) * lights[i].color * fade * nl;
    }
    vec4 s = shadow_matrix * vec4(v_world, 1.0); sum *= textureProj(shadow_map, s);
    sum += textureLod(sky, reflect(-v, n), orm.g * 8.0).rgb * fresnel(max(dot(n, v), 0.0), f0) * orm.r;
    color = vec4(pow(sum / (sum + 1.0), vec3(1.0 / 2.2)), 1.0);
}",
    ),
];

fn main() {
    let start = Instant::now();
    compile(SMALL[0].0, SMALL[0].1.as_bytes(), &CompileOptions::default());
    println!("first compile {} us", start.elapsed().as_micros());
    for (name, sources) in [("small", SMALL), ("lit", LIT)] {
        let (mut compiles, mut links) = (Vec::new(), Vec::new());
        for _ in 0..60 {
            let start = Instant::now();
            let shaders = sources.map(|(stage, source)| compile(stage, source.as_bytes(), &CompileOptions::default()));
            compiles.push(start.elapsed().as_micros());
            let start = Instant::now();
            let all: Vec<&CompiledShader> = shaders.iter().collect();
            if let Err(error) = link(&all, &LinkOptions::default()) {
                println!("{error}");
                return;
            }
            links.push(start.elapsed().as_micros());
        }
        compiles.sort_unstable();
        links.sort_unstable();
        println!("{name}: compile both {} us, link {} us", compiles[30], links[30]);
    }
}
