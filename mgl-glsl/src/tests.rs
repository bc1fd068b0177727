//! Whole programs through compile, link and `spirv-val`.

mod mutation;
mod packing;
mod programs;

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::*;

/// Compiles and links; panics with the log on failure, and when `spirv-val` refuses a module.
fn program(sources: &[(Stage, &str)]) -> LinkedProgram {
    program_with(sources, &LinkOptions::default())
}

fn program_with(sources: &[(Stage, &str)], options: &LinkOptions) -> LinkedProgram {
    let shaders = compile_all(sources);
    let all: Vec<&CompiledShader> = shaders.iter().collect();
    match link(&all, options) {
        Ok(program) => {
            for module in &program.modules {
                validate(module);
            }
            program
        }
        Err(error) => {
            let texts: Vec<&str> = shaders.iter().map(|s| s.normal_form()).collect();
            panic!("link failed: {error}\n{}", texts.join("\n----\n"));
        }
    }
}

fn compile_all(sources: &[(Stage, &str)]) -> Vec<CompiledShader> {
    sources
        .iter()
        .map(|(stage, source)| {
            let shader = compile(*stage, source.as_bytes(), &CompileOptions::default());
            assert!(shader.ok(), "{} shader: {}\n{source}", stage.name(), shader.info_log());
            shader
        })
        .collect()
}

fn link_error(sources: &[(Stage, &str)]) -> String {
    let shaders = compile_all(sources);
    let all: Vec<&CompiledShader> = shaders.iter().collect();
    match link(&all, &LinkOptions::default()) {
        Ok(_) => panic!("the link should fail"),
        Err(error) => error.info_log,
    }
}

/// Runs `spirv-val` on a module.
fn validate(module: &StageModule) {
    let bytes: Vec<u8> = module.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.1", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("spirv-val is installed");
    child.stdin.take().expect("a pipe").write_all(&bytes).expect("written");
    let output = child.wait_with_output().expect("finished");
    assert!(
        output.status.success(),
        "{} module: {}{}",
        module.stage.name(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
