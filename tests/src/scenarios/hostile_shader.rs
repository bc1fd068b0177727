//! Shader text that no sane program has: it compiles or fails with a log, in bounded time, and harms nobody.

use std::time::{Duration, Instant};

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("hostile_text_large", large),
    Scenario::new("hostile_text_nested", nested).without_reference("Mesa 22.3 overflows its stack"),
    Scenario::new("hostile_text_macros", macros),
    Scenario::new("hostile_text_broken", broken),
    Scenario::new("hostile_text_numbers", numbers).without_reference("Mesa 22.3 divides by zero itself"),
    Scenario::new("hostile_text_calls", calls),
];

/// The longest that a compiler may think about one text, on a busy machine and without optimisation.
const PATIENCE: Duration = Duration::from_secs(60);

/// Compiles a fragment shader of these bytes and says whether it was accepted. A refusal has a log.
unsafe fn compiles(t: &Scene, what: &str, text: &[u8]) -> bool {
    let start = Instant::now();
    let shader = t.raw.CreateShader(gl::FRAGMENT_SHADER);
    let (start_of_text, length) = (text.as_ptr().cast(), text.len() as i32);
    t.raw.ShaderSource(shader, 1, &start_of_text, &length);
    let shader = gl::NativeShader(std::num::NonZeroU32::new(shader).unwrap());
    t.compile_shader(shader);
    let good = t.get_shader_compile_status(shader);
    t.check(good || !t.get_shader_info_log(shader).trim().is_empty(), format!("{what}: a refusal without a log"));
    if good {
        // What compiles may still not link; that has to come to an end as well.
        let program = t.create_program().unwrap();
        t.attach_shader(program, shader);
        let vertex = t.create_shader(gl::VERTEX_SHADER).unwrap();
        t.shader_source(vertex, &format!("#version 330 core\n{FULL_VS}"));
        t.compile_shader(vertex);
        t.attach_shader(program, vertex);
        t.link_program(program);
        t.delete_shader(vertex);
        t.delete_program(program);
    }
    t.delete_shader(shader);
    t.no_error(what);
    t.check(start.elapsed() < PATIENCE, format!("{what}: {:?}", start.elapsed()));
    good
}

unsafe fn refused(t: &Scene, what: &str, text: &str) {
    let good = compiles(t, what, text.as_bytes());
    t.check(!good, format!("{what}: was accepted"));
}

/// A context that still draws.
unsafe fn still_draws(t: &Scene) {
    t.target(4, 4);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    t.vertex_array();
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 0, 255], 0, "afterwards");
}

const HEAD: &str = "#version 330 core\nout vec4 c;\n";

unsafe fn large(t: &Scene) {
    let blanks = " ".repeat(10 << 20);
    compiles(t, "ten million blanks", format!("{HEAD}{blanks}void main() {{ c = vec4(1.0); }}").as_bytes());
    let comment = "x".repeat(10 << 20);
    compiles(t, "a comment of ten million", format!("{HEAD}/*{comment}*/void main() {{ c = vec4(1.0); }}").as_bytes());
    let name = "n".repeat(1 << 20);
    compiles(
        t,
        "a name of a million letters",
        format!("{HEAD}float {name};void main() {{ c = vec4({name}); }}").as_bytes(),
    );
    let digits = "1".repeat(1 << 20);
    compiles(t, "a number of a million digits", format!("{HEAD}void main() {{ c = vec4({digits}.0); }}").as_bytes());
    let statements = "c += vec4(0.5);".repeat(20_000);
    compiles(t, "twenty thousand statements", format!("{HEAD}void main() {{ {statements} }}").as_bytes());
    let globals: String = (0..20_000).map(|i| format!("float g{i};")).collect();
    compiles(t, "twenty thousand variables", format!("{HEAD}{globals}void main() {{ c = vec4(g7); }}").as_bytes());
    still_draws(t);
}

unsafe fn nested(t: &Scene) {
    let deep = 50_000;
    for (what, open, close) in [("parentheses", "(", ")"), ("signs", "- ", ""), ("negations", "~", "")] {
        let text =
            format!("{HEAD}void main() {{ int i = {}1{}; c = vec4(i); }}", open.repeat(deep), close.repeat(deep));
        compiles(t, what, text.as_bytes());
    }
    let text = format!("{HEAD}void main() {{ {}{} c = vec4(1.0); }}", "{".repeat(deep), "}".repeat(deep));
    compiles(t, "blocks", text.as_bytes());
    let text = format!("{HEAD}void main() {{ {} c = vec4(1.0); }}", "if (true) ".repeat(deep));
    compiles(t, "conditions", text.as_bytes());
    let text = format!("{HEAD}void main() {{ float f = {}0.0{}; c = vec4(f); }}", "true ? 1.0 : ".repeat(deep), "");
    compiles(t, "choices", text.as_bytes());
    let text = format!("{HEAD}void main() {{ float f[2]; c = vec4(f{}); }}", "[0]".repeat(deep));
    compiles(t, "subscripts", text.as_bytes());
    let structs: String = (1..300).map(|i| format!("struct S{i} {{ S{} a; S{} b; }};", i - 1, i - 1)).collect();
    let text = format!("{HEAD}struct S0 {{ float f; }};{structs} uniform S299 s; void main() {{ c = vec4(1.0); }}");
    compiles(t, "structures of structures", text.as_bytes());
    still_draws(t);
}

unsafe fn macros(t: &Scene) {
    // Ten doublings; the reference expands without a bound, so that more belongs to the tests of the compiler alone.
    let mut bomb = String::from("#version 330 core\n#define A0 1.0 +\n");
    for i in 1..10 {
        bomb.push_str(&format!("#define A{i} A{} A{}\n", i - 1, i - 1));
    }
    let text = format!("{bomb}out vec4 c; void main() {{ c = vec4(A9 1.0); }}");
    compiles(t, "macros that double", text.as_bytes());
    let text = format!("{HEAD}#define SELF SELF + SELF\nvoid main() {{ c = vec4(SELF); }}");
    refused(t, "a macro of itself", &text);
    let text = format!("{HEAD}{}void main() {{ c = vec4(1.0); }}", "#if 1\n".repeat(20_000));
    refused(t, "conditions without an end", &text);
    let text =
        format!("#version 330 core\n#if {}1{}\n#endif\nvoid main() {{}}", "(".repeat(50_000), ")".repeat(50_000));
    compiles(t, "a deep condition", text.as_bytes());
    still_draws(t);
}

unsafe fn broken(t: &Scene) {
    let whole = format!(
        "{HEAD}uniform Block {{ vec4 a[2]; }} b; struct S {{ float x; }};
        vec4 f(in S s, int n) {{ for (int i = 0; i < n; i++) {{ if (s.x > 1e3) break; }} return b.a[n & 1]; }}
        void main() {{ S s = S(1.0); c = f(s, 3); /* end */ }}\n#undef X\n"
    );
    for end in (0..whole.len()).step_by(3) {
        compiles(t, &format!("cut off after {end}"), &whole.as_bytes()[..end]);
    }
    for (what, text) in [
        ("zeros", &b"#version 330 core\nout vec4 c;\0\0\0void main() { c = vec4(1.0); }"[..]),
        ("high bytes", &b"#version 330 core\nout vec4 c; void main() { c = vec4(\xff\xfe\x80); }"[..]),
        ("nothing", &b""[..]),
        ("a lone zero", &b"\0"[..]),
        ("a version without a number", &b"#version"[..]),
        ("a version too large", &b"#version 99999999999999999999 core\nvoid main() {}"[..]),
        ("a line without a number", &b"#version 330 core\n#line\nvoid main() {}"[..]),
        ("a line too large", &b"#version 330 core\n#line 999999999999 4294967296\nvoid main() { x }"[..]),
        ("a backslash at the end", &b"#version 330 core\nvoid main() {} \\"[..]),
        ("a comment without an end", &b"#version 330 core\nvoid main() {} /*"[..]),
        ("a directive without a name", &b"#version 330 core\n#define\n#ifdef\n#if\n#elif\n#else\n"[..]),
    ] {
        compiles(t, what, text);
    }
    // No strings at all, and a source of several strings one of which is empty.
    let shader = t.raw.CreateShader(gl::FRAGMENT_SHADER);
    t.raw.ShaderSource(shader, -1, std::ptr::null(), std::ptr::null());
    t.error(gl::INVALID_VALUE, "a negative number of strings");
    let parts = [c"#version 330 core\nout vec4 c;".as_ptr(), c"".as_ptr(), c"void main() { c = vec4(1.0); }".as_ptr()];
    t.raw.ShaderSource(shader, 3, parts.as_ptr(), [-1, 0, 30].as_ptr());
    let shader = gl::NativeShader(std::num::NonZeroU32::new(shader).unwrap());
    t.compile_shader(shader);
    t.check(t.get_shader_compile_status(shader), "three strings, one of them empty");
    still_draws(t);
}

unsafe fn numbers(t: &Scene) {
    for (what, declaration) in [
        ("a location that is too large", "layout(location = 2147483647) out vec4 d;"),
        ("a location below zero", "layout(location = -1) out vec4 d;"),
        ("an array of no elements", "uniform float a[0];"),
        ("an array of fewer than none", "uniform float a[-1];"),
        ("an array size that overflows", "const int n = 2147483647 + 1; uniform float a[n];"),
    ] {
        refused(t, what, &format!("{HEAD}{declaration} void main() {{ c = vec4(1.0); }}"));
    }
    for (what, declaration) in [
        ("an array of two thousand million", "uniform float a[2147483647];"),
        ("a local array of a hundred million", "float a[100000000];"),
        ("an array of a hundred million vectors", "uniform vec4 a[100000000];"),
        ("a block that is too large", "layout(std140) uniform B { vec4 a[100000000]; };"),
        ("an array size of a division by zero", "uniform float a[1 / 0];"),
        ("as many samplers", "uniform sampler2D a[1000000];"),
    ] {
        let text = format!("{HEAD}{declaration} void main() {{ c = vec4(1.0); }}");
        compiles(t, what, text.as_bytes());
    }
    for text in ["1 / 0", "1 % 0", "-2147483648 / -1", "1 << 100", "1 >> -1", "2147483647 * 2147483647"] {
        compiles(t, text, format!("{HEAD}void main() {{ const int i = {text}; c = vec4(float(i)); }}").as_bytes());
    }
    still_draws(t);
}

unsafe fn calls(t: &Scene) {
    // Some compilers find recursion when they link.
    let text = format!("{HEAD}float f(float x) {{ return f(x); }} void main() {{ c = vec4(f(1.0)); }}");
    compiles(t, "recursion", text.as_bytes());
    let text = format!(
        "{HEAD}float g(float x); float f(float x) {{ return g(x); }} float g(float x) {{ return f(x); }}
         void main() {{ c = vec4(f(1.0)); }}"
    );
    compiles(t, "recursion by way of another", text.as_bytes());
    let functions: String =
        (1..9).map(|i| format!("float f{i}(float x) {{ return f{}(x) + f{}(x + 1.0); }}\n", i - 1, i - 1)).collect();
    let text = format!("{HEAD}float f0(float x) {{ return x; }}\n{functions} void main() {{ c = vec4(f8(1.0)); }}");
    compiles(t, "calls that double", text.as_bytes());
    let many: String = (0..3_000).map(|i| format!("float h{i}(float x) {{ return x * {i}.0; }}\n")).collect();
    compiles(t, "three thousand functions", format!("{HEAD}{many} void main() {{ c = vec4(h2999(1.0)); }}").as_bytes());
    still_draws(t);
}
