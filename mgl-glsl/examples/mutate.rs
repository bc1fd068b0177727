//! Looks for crashes and hangs: mutates shaders from directories and compiles and links what comes out.
//!
//! `cargo run -p mgl-glsl --example mutate -- SEED COUNT DIR…`. The shader in work is written to `mutate-SEED.glsl` in the
//! temporary directory first, so that a crash leaves its cause behind.

use std::path::{Path, PathBuf};
use std::time::Instant;

use mgl_glsl::{compile, link, CompileOptions, ContextProfile, LinkOptions, Stage};

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

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seed: u64 = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(1);
    let count: usize = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(1000);
    let mut shaders = Vec::new();
    for directory in arguments {
        collect(Path::new(&directory), &mut shaders);
    }
    if shaders.is_empty() {
        eprintln!("no shaders found");
        return;
    }
    let words = pool(&shaders);
    let trace = std::env::temp_dir().join(format!("mutate-{seed}.glsl"));
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let options = CompileOptions { profile: ContextProfile::Compatibility, ..CompileOptions::default() };
    let (mut compiled, mut linked) = (0, 0);
    for _ in 0..count {
        let (stage, source) = &shaders[random.next(shaders.len())];
        let mutated = mutate(source, &words, &mut random);
        let _ = std::fs::write(&trace, format!("// {}\n{mutated}", stage.name()));
        let start = Instant::now();
        let shader = compile(*stage, mutated.as_bytes(), &options);
        if shader.ok() {
            compiled += 1;
            let separable = random.next(2) == 0;
            if link(&[&shader], &LinkOptions { separable, ..LinkOptions::default() }).is_ok() {
                linked += 1;
            }
        }
        if start.elapsed().as_secs() >= 2 {
            println!("SLOW {:?}\n{mutated}", start.elapsed());
        }
        if shader.info_log().contains("internal") {
            println!("INTERNAL {}\n{mutated}", shader.info_log());
        }
    }
    println!("seed {seed}: {count} mutants, {compiled} compiled, {linked} linked");
}

fn collect(path: &Path, shaders: &mut Vec<(Stage, String)>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).map(|e| e.flatten().map(|e| e.path()).collect::<Vec<PathBuf>>());
        let mut entries = entries.unwrap_or_default();
        entries.sort();
        for entry in entries {
            collect(&entry, shaders);
        }
        return;
    }
    let stage = match path.extension().and_then(|e| e.to_str()) {
        Some("vert") => Stage::Vertex,
        Some("frag") => Stage::Fragment,
        Some("geom") => Stage::Geometry,
        Some("tesc") => Stage::TessControl,
        Some("tese") => Stage::TessEvaluation,
        Some("comp") => Stage::Compute,
        Some("shader_test") => {
            let text = std::fs::read(path).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
            sections(&text, shaders);
            return;
        }
        _ => return,
    };
    if let Ok(bytes) = std::fs::read(path) {
        shaders.push((stage, String::from_utf8_lossy(&bytes).into_owned()));
    }
}

fn sections(text: &str, shaders: &mut Vec<(Stage, String)>) {
    let mut open = false;
    for line in text.lines() {
        if line.starts_with('[') {
            let stage = match line.trim() {
                "[vertex shader]" => Stage::Vertex,
                "[fragment shader]" => Stage::Fragment,
                "[geometry shader]" => Stage::Geometry,
                "[tessellation control shader]" => Stage::TessControl,
                "[tessellation evaluation shader]" => Stage::TessEvaluation,
                "[compute shader]" => Stage::Compute,
                _ => {
                    open = false;
                    continue;
                }
            };
            shaders.push((stage, String::new()));
            open = true;
        } else if open {
            if let Some((_, source)) = shaders.last_mut() {
                source.push_str(line);
                source.push('\n');
            }
        }
    }
}

/// Splits into words, numbers, single characters and line ends.
fn split(source: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '#';
        let length = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        list.push(&rest[..length]);
        rest = &rest[length..];
    }
    list
}

fn pool(shaders: &[(Stage, String)]) -> Vec<String> {
    let mut words: Vec<String> = shaders.iter().flat_map(|(_, s)| split(s)).map(str::to_owned).collect();
    words.sort();
    words.dedup();
    words.extend(
        ["4294967296", "-1", "1e999", "\u{0}", "\\\n", "/*", "##", "0x", "2147483647", "{", "}", "(", ")", "[", "]"]
            .map(str::to_owned),
    );
    words
}

fn mutate(source: &str, words: &[String], random: &mut Random) -> String {
    let mut tokens: Vec<String> = split(source).into_iter().map(str::to_owned).collect();
    for _ in 0..1 + random.next(4) {
        if tokens.is_empty() {
            break;
        }
        let at = random.next(tokens.len());
        let other = random.next(tokens.len());
        match random.next(7) {
            0 => {
                tokens.remove(at);
            }
            1 => tokens.insert(at, words[random.next(words.len())].clone()),
            2 => tokens[at] = words[random.next(words.len())].clone(),
            3 => tokens.swap(at, other),
            4 => {
                let copy = tokens[other].clone();
                tokens.insert(at, copy);
            }
            5 => {
                let end = (at + random.next(12)).min(tokens.len());
                let part: Vec<String> = tokens[at..end].to_vec();
                for (i, token) in part.into_iter().enumerate() {
                    tokens.insert((other + i).min(tokens.len()), token);
                }
            }
            _ => {
                if random.next(8) == 0 {
                    tokens.truncate(at);
                } else {
                    tokens[at] = tokens[other].clone();
                }
            }
        }
    }
    tokens.concat()
}
