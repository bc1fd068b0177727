//! Mutated programs: whatever comes in, the answer is a program that `spirv-val` accepts or a log, in bounded time.

use std::time::{Duration, Instant};

use super::*;

const SOURCES: [(Stage, &str); 4] = [
    (
        Stage::Vertex,
        "#version 330\n#define N 4\nlayout(location = 0) in vec4 p; in mat3 m; uniform struct S { bool b; vec2 v[N]; } s[2]; layout(std140) uniform B { mat2 x; float y[3]; } b;\nout vec3 c; flat out int i;\nvoid main() { gl_Position = p * b.y[1]; c = m * p.xyz + vec3(s[1].v[gl_VertexID & 3], 1.0); i = gl_InstanceID; if (s[0].b) gl_PointSize = 2.0; }",
    ),
    (
        Stage::Fragment,
        "#version 330\nin vec3 c; flat in int i; uniform sampler2D t[2]; uniform isampler2DRect r; uniform vec4 k = vec4(1, 2, 3, 4); out vec4 o[2];\n#if __VERSION__ > 300\nfloat f(in vec3 x) { return dot(x, k.xyz); }\n#endif\nvoid main() { o[0] = texture(t[1], c.xy) * f(c); o[1] = vec4(texture(r, c.xy)) + float(i); if (c.z < 0.0) discard; }",
    ),
    (
        Stage::Geometry,
        "#version 330\nlayout(triangles) in; layout(triangle_strip, max_vertices = 6) out; in vec3 c[]; out vec3 g; void main() { for (int i = 0; i < 3; ++i) { gl_Position = gl_in[i].gl_Position; g = c[i]; EmitVertex(); } EndPrimitive(); }",
    ),
    (
        Stage::Fragment,
        "varying vec2 uv; uniform sampler2D tex; invariant varying vec4 q;\nvoid main() { gl_FragColor = texture2D(tex, uv) + shadow2D(tex, q.xyz) + gl_Fog.color; }",
    ),
];

/// Small deterministic generator (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

fn split(source: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in source.chars() {
        let word = c.is_alphanumeric() || c == '_';
        match list.last_mut() {
            Some(last) if word && in_word => last.push(c),
            _ => list.push(c.to_string()),
        }
        in_word = word;
    }
    list
}

#[test]
fn mutants_end_well() {
    let words: Vec<String> = SOURCES.iter().flat_map(|(_, s)| split(s)).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut compiled, mut linked) = (0, 0);
    for round in 0..1200 {
        let (stage, source) = SOURCES[round % SOURCES.len()];
        let mut tokens = split(source);
        for _ in 0..1 + random.next(2) {
            let at = random.next(tokens.len());
            match random.next(4) {
                0 => {
                    tokens.remove(at);
                }
                1 => tokens.insert(at, words[random.next(words.len())].clone()),
                2 => tokens[at] = words[random.next(words.len())].clone(),
                _ => {
                    let other = random.next(tokens.len());
                    tokens.swap(at, other);
                }
            }
        }
        let text = tokens.concat();
        let start = Instant::now();
        let shader = compile(stage, text.as_bytes(), &CompileOptions::default());
        assert_eq!(shader.ok(), !shader.info_log().contains("error:"), "{text}\n{}", shader.info_log());
        if shader.ok() {
            compiled += 1;
            if let Ok(program) = link(&[&shader], &LinkOptions { separable: true, ..LinkOptions::default() }) {
                linked += 1;
                assert_eq!(Reflection::from_bytes(&program.reflection.to_bytes()).as_ref(), Ok(&program.reflection));
                if linked % 8 == 0 {
                    program.modules.iter().for_each(validate);
                }
            }
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{text}");
    }
    assert!(
        compiled > 100 && linked > 100,
        "{compiled} compiled, {linked} linked: the mutants are too wild to test anything"
    );
}
