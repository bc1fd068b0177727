//! Runs directories of piglit shader tests through the compiler and counts what passes.
//!
//! `cargo run -p mgl-glsl --example corpus -- [--val] [--all] DIR…` reads `*.shader_test` (programs) and glslparser files
//! (`*.vert`, `*.frag`, …), compares compile and link results with what each test expects, and with `--val` runs
//! `spirv-val` on every module. `--all` lists every failure instead of the first hundred.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mgl_glsl::{compile, link, CompileOptions, CompiledShader, ContextProfile, LinkOptions, Stage};

/// Result of one test.
enum Outcome {
    Pass,
    Skip,
    Fail(String),
}

fn main() {
    let mut validate = false;
    let mut list_all = false;
    let mut files = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--val" => validate = true,
            "--all" => list_all = true,
            path => collect(Path::new(path), &mut files),
        }
    }
    files.sort();
    let trace = std::env::var_os("CORPUS_TRACE").is_some();
    let mut counts: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    let mut failures = Vec::new();
    for file in &files {
        if trace {
            eprintln!("{}", file.display());
        }
        let outcome = run(file, validate);
        let group = file.parent().map(|p| p.display().to_string()).unwrap_or_default();
        let count = counts.entry(group).or_default();
        match outcome {
            Outcome::Pass => count[0] += 1,
            Outcome::Fail(reason) => {
                count[1] += 1;
                failures.push((file.clone(), reason));
            }
            Outcome::Skip => count[2] += 1,
        }
    }
    let most = if list_all { usize::MAX } else { 100 };
    for (file, reason) in failures.iter().take(most) {
        println!("FAIL {}: {}", file.display(), reason.replace('\n', " | ").chars().take(300).collect::<String>());
    }
    let mut sum = [0; 3];
    for (group, count) in &counts {
        println!("{:5} pass {:4} fail {:4} skip  {group}", count[0], count[1], count[2]);
        for (total, part) in sum.iter_mut().zip(count) {
            *total += part;
        }
    }
    println!("{:5} pass {:4} fail {:4} skip  in all", sum[0], sum[1], sum[2]);
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).map(|entries| entries.flatten().collect::<Vec<_>>()).unwrap_or_default();
        for entry in entries {
            collect(&entry.path(), files);
        }
    } else if stage_of(path).is_some() || path.extension().is_some_and(|e| e == "shader_test") {
        files.push(path.to_path_buf());
    }
}

fn stage_of(path: &Path) -> Option<Stage> {
    Some(match path.extension()?.to_str()? {
        "vert" => Stage::Vertex,
        "frag" => Stage::Fragment,
        "geom" => Stage::Geometry,
        "tesc" => Stage::TessControl,
        "tese" => Stage::TessEvaluation,
        "comp" => Stage::Compute,
        _ => return None,
    })
}

fn run(path: &Path, validate: bool) -> Outcome {
    let Ok(bytes) = std::fs::read(path) else { return Outcome::Skip };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let compatibility = text.contains("compatibility");
    let profile = if compatibility { ContextProfile::Compatibility } else { ContextProfile::Core };
    let options = CompileOptions { profile, ..CompileOptions::default() };
    match stage_of(path) {
        Some(stage) => parser_test(stage, &text, &options),
        None => shader_test(&text, &options, validate),
    }
}

fn parser_test(stage: Stage, text: &str, options: &CompileOptions) -> Outcome {
    let config = |key: &str| text.lines().find_map(|l| l.trim_start_matches(['/', '*', ' ', '\t']).strip_prefix(key));
    let Some(expected) = config("expect_result:").map(str::trim) else { return Outcome::Skip };
    if text.contains("#version 100") || text.contains(" es\n") {
        return Outcome::Skip;
    }
    let shader = compile(stage, text.as_bytes(), options);
    match (expected, shader.ok()) {
        ("pass", true) | ("fail", false) => Outcome::Pass,
        ("pass", false) => Outcome::Fail(shader.info_log().to_owned()),
        ("fail", true) => Outcome::Fail("compiles but must not".into()),
        _ => Outcome::Skip,
    }
}

const PASSTHROUGH: &str = "#version 110\nattribute vec4 piglit_vertex;void main(){gl_Position=piglit_vertex;}";

fn shader_test(text: &str, options: &CompileOptions, validate: bool) -> Outcome {
    let mut sources: Vec<(Stage, String)> = Vec::new();
    let mut section = String::new();
    let mut link_must_fail = false;
    let mut separable = false;
    let mut version = String::new();
    for line in text.lines() {
        if line.starts_with('[') && line.trim_end().ends_with(']') {
            section = line.trim().trim_matches(['[', ']']).to_owned();
            if section.contains("program") || section.contains("spirv") || section.contains("file") {
                return Outcome::Skip;
            }
            if section == "vertex shader passthrough" {
                sources.push((Stage::Vertex, PASSTHROUGH.into()));
                section.clear();
                continue;
            }
            let stage = match section.as_str() {
                "vertex shader" => Stage::Vertex,
                "fragment shader" => Stage::Fragment,
                "geometry shader" => Stage::Geometry,
                "tessellation control shader" => Stage::TessControl,
                "tessellation evaluation shader" => Stage::TessEvaluation,
                "compute shader" => Stage::Compute,
                _ => continue,
            };
            sources.push((stage, String::new()));
        } else if section.ends_with("shader") {
            if let Some((_, source)) = sources.last_mut() {
                source.push_str(line);
                source.push('\n');
            }
        } else if section == "require" {
            let es = line.contains(" ES ") || line.contains("GL ES");
            if es || line.contains("INT64") || line.starts_with("SPIRV") {
                return Outcome::Skip;
            }
            if let Some(required) = line.strip_prefix("GLSL >= ") {
                let required = required.replace('.', "");
                let suffix = if text.contains("GL COMPAT") { " compatibility" } else { "" };
                let number = required.split_whitespace().next().unwrap_or("110");
                let suffix = if number >= "150" { suffix } else { "" };
                version = format!("#version {number}{suffix}\n");
            }
            separable |= line.starts_with("SSO ENABLED");
        } else if section == "test" && line.starts_with("link error") {
            link_must_fail = true;
        }
    }
    if sources.is_empty() {
        return Outcome::Skip;
    }
    let mut shaders: Vec<CompiledShader> = Vec::new();
    for (stage, source) in &mut sources {
        if !source.contains("#version") {
            source.insert_str(0, &version);
        }
        let shader = compile(*stage, source.as_bytes(), options);
        if !shader.ok() {
            if shader.info_log().contains("unsupported") || shader.info_log().contains("not supported") {
                return Outcome::Skip;
            }
            return Outcome::Fail(format!("{}: {}", stage.name(), shader.info_log()));
        }
        shaders.push(shader);
    }
    let groups: Vec<Vec<&CompiledShader>> = if separable {
        Stage::ALL
            .iter()
            .map(|stage| shaders.iter().filter(|s| s.stage() == *stage).collect::<Vec<_>>())
            .filter(|group| !group.is_empty())
            .collect()
    } else {
        vec![shaders.iter().collect()]
    };
    for group in groups {
        let linked = link(&group, &LinkOptions { separable, ..LinkOptions::default() });
        match (linked, link_must_fail) {
            (Ok(_), true) => return Outcome::Fail("links but must not".into()),
            (Err(_), true) => return Outcome::Pass,
            (Err(error), false) => return Outcome::Fail(format!("link: {error}")),
            (Ok(program), false) => {
                for module in program.modules.iter().filter(|_| validate) {
                    if let Err(message) = spirv_val(&module.words) {
                        return Outcome::Fail(format!("spirv-val {}: {message}", module.stage.name()));
                    }
                }
            }
        }
    }
    Outcome::Pass
}

fn spirv_val(words: &[u32]) -> Result<(), String> {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let run = || -> std::io::Result<std::process::Output> {
        let mut child = Command::new("spirv-val")
            .args(["--target-env", "vulkan1.1", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(&bytes)?;
        }
        child.wait_with_output()
    };
    match run() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(error.to_string()),
    }
}
