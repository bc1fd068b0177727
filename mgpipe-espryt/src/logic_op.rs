//! Logic operations by reading the framebuffer in the fragment stage (EXT_shader_framebuffer_fetch).

use crate::format::Class;
use crate::framebuffer::Facts;
use mgpipe_types::gl;

/// The expression of an operation on source `s` and destination `d`.
fn expression(op: u32) -> &'static str {
    match op {
        gl::CLEAR => "s & ~s",
        gl::AND => "s & d",
        gl::AND_REVERSE => "s & ~d",
        gl::COPY => "s",
        gl::AND_INVERTED => "~s & d",
        gl::NOOP => "d",
        gl::XOR => "s ^ d",
        gl::OR => "s | d",
        gl::NOR => "~(s | d)",
        gl::EQUIV => "~(s ^ d)",
        gl::INVERT => "~d",
        gl::OR_REVERSE => "s | ~d",
        gl::COPY_INVERTED => "~s",
        gl::OR_INVERTED => "~s | d",
        gl::NAND => "~(s & d)",
        _ => "s | ~s",
    }
}

/// Whether every attached buffer is one whose bits the lowering knows: 8 bits normalised, or integers.
pub(crate) fn is_lowered(facts: &Facts) -> bool {
    (0..8)
        .filter(|i| facts.colors >> i & 1 != 0)
        .all(|i| facts.eight_bits >> i & 1 != 0 || matches!(facts.classes[i], Some(Class::Sint | Class::Uint)))
}

/// An output of the fragment stage: its type and name.
fn output(line: &str) -> Option<(&str, &str)> {
    let (_, declared) = line.trim_end().strip_suffix(';')?.split_once(") out ")?;
    let mut words = declared.split_whitespace().filter(|w| !matches!(*w, "highp" | "mediump" | "lowp" | "flat"));
    let (ty, name) = (words.next()?, words.next()?);
    let known = matches!(ty, "float" | "vec2" | "vec3" | "vec4" | "int" | "uint")
        || (ty.len() == 5 && (ty.starts_with("ivec") || ty.starts_with("uvec")));
    (known && !name.contains('[')).then_some((ty, name))
}

/// Makes a fragment stage apply the operation to everything that it writes.
pub(crate) fn apply(text: &str, op: u32) -> String {
    let mut outputs = Vec::new();
    let mut out = String::with_capacity(text.len() + 512);
    for line in text.split_inclusive('\n') {
        match output(line) {
            Some(found) => {
                outputs.push(found);
                out.push_str(&line.replacen(") out ", ") inout ", 1));
            }
            None => out.push_str(line),
        }
        if line.starts_with("#version") {
            out.push_str("#extension GL_EXT_shader_framebuffer_fetch : require\n");
        }
    }
    let mut out = out.replacen("void main()", "void mgl_source_main()", 1);
    let mut before = String::new();
    let mut after = String::new();
    for (index, (ty, name)) in outputs.iter().enumerate() {
        let float = *ty == "float" || ty.starts_with("vec");
        before.push_str(&format!("    highp {ty} mgl_d{index} = {name};\n"));
        let bits = match *ty {
            "float" => "uint".to_owned(),
            vector if float => format!("u{vector}"),
            integer => integer.to_owned(),
        };
        let op = expression(op);
        let (load, store) = if float {
            (
                format!("{bits} s = {bits}(round(clamp({name}, 0.0, 1.0) * 255.0)), d = {bits}(round(mgl_d{index} * 255.0));"),
                format!("{name} = {ty}(({op}) & 255u) / 255.0;"),
            )
        } else {
            (format!("{bits} s = {name}, d = mgl_d{index};"), format!("{name} = {op};"))
        };
        after.push_str(&format!("    {{\n        highp {load}\n        {store}\n    }}\n"));
    }
    out.push_str(&format!("\nvoid main()\n{{\n{before}    mgl_source_main();\n{after}}}\n"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_before_and_combined_after() {
        let text =
            "#version 320 es\nlayout(location = 0) out highp vec4 color;\nvoid main()\n{\n    color = vec4(1.0);\n}\n";
        let out = apply(text, gl::XOR);
        assert!(out.contains("layout(location = 0) inout highp vec4 color;"));
        assert!(out.contains("highp vec4 mgl_d0 = color;") && out.contains("(s ^ d) & 255u"));
        assert!(out.starts_with("#version 320 es\n#extension GL_EXT_shader_framebuffer_fetch : require\n"));
    }
}
