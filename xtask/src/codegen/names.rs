//! The naming rule between GL functions and frontend methods.
//!
//! Strip the `gl` prefix and put `_`
//! - before an upper-case letter that follows a lower-case letter,
//! - before an upper-case letter that follows an upper-case letter and precedes a lower-case one,
//! - before a digit that follows a lower-case letter, unless that letter follows a digit itself,
//!
//! then lower the case. A letter after a digit is never split off. Parameter names follow the same rule; a Rust keyword
//! gets a trailing `_`.

/// The frontend method name of a GL function: `glTexImage2D` → `tex_image_2d`.
pub(super) fn method(gl_name: &str) -> String {
    snake(gl_name.strip_prefix("gl").unwrap_or(gl_name))
}

/// The Rust spelling of a parameter name.
pub(super) fn param(name: &str) -> String {
    let snake = snake(name);
    match snake.as_str() {
        "type" | "ref" | "in" | "mod" | "box" | "use" | "loop" | "move" | "self" | "final" => {
            format!("{snake}_")
        }
        _ => snake,
    }
}

fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (i, &c) in chars.iter().enumerate() {
        if let Some(&prev) = i.checked_sub(1).and_then(|p| chars.get(p)) {
            let before_lower = chars.get(i + 1).is_some_and(|n| n.is_ascii_lowercase());
            let word =
                c.is_ascii_uppercase() && (prev.is_ascii_lowercase() || (prev.is_ascii_uppercase() && before_lower));
            let joined = i.checked_sub(2).and_then(|p| chars.get(p)).is_some_and(char::is_ascii_digit);
            let number = c.is_ascii_digit() && prev.is_ascii_lowercase() && !joined;
            if (word || number) && !out.ends_with('_') {
                out.push('_');
            }
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{method, param};

    #[test]
    fn names_follow_the_rule() {
        for (gl, rust) in [
            ("glUniform4fv", "uniform_4fv"),
            ("glTexImage2D", "tex_image_2d"),
            ("glVertexAttribI4ui", "vertex_attrib_i4ui"),
            ("glVertexAttribIPointer", "vertex_attrib_i_pointer"),
            ("glUniformMatrix2x3fv", "uniform_matrix_2x3fv"),
            ("glGetIntegeri_v", "get_integeri_v"),
            ("glTexStorage2DMultisample", "tex_storage_2d_multisample"),
            ("glGetQueryObjectui64v", "get_query_objectui_64v"),
            ("glVertexAttrib4Nub", "vertex_attrib_4nub"),
        ] {
            assert_eq!(method(gl), rust);
        }
        assert_eq!(param("type"), "type_");
        assert_eq!(param("baseInstance"), "base_instance");
        assert_eq!(param("srcX0"), "src_x0");
    }
}
