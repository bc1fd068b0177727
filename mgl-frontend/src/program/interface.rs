//! Queries of a program's inputs, outputs and captured varyings.

use mgpipe_types::reflection::{gl_type, InterfaceVariable};

use crate::boundary::ActiveInfo;
use crate::context::Context;
use crate::error::{invalid_operation, invalid_value};

/// Splits `name[7]` into the name and the index. GL accepts no spaces, signs or leading zeros.
pub(super) fn split_index(name: &str) -> Option<(&str, u32)> {
    let (base, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    let plain = index.bytes().all(|b| b.is_ascii_digit()) && (index == "0" || !index.starts_with('0'));
    if !plain {
        return None;
    }
    Some((base, index.parse().ok()?))
}

/// The variable and element that a name means.
fn find<'a>(variables: &'a [InterfaceVariable], name: &str) -> Option<(&'a InterfaceVariable, u32)> {
    let named = |wanted: &str| variables.iter().find(|v| v.name == wanted);
    if let Some(variable) = named(name).or_else(|| named(&format!("{name}[0]"))) {
        return Some((variable, 0));
    }
    let (base, element) = split_index(name)?;
    let variable = named(&format!("{base}[0]"))?;
    (element < variable.array_size).then_some((variable, element))
}

/// The name that `glGetActiveAttrib` answers: unlike a uniform, an array of attributes goes without an index.
pub(super) fn attribute_name(variable: &InterfaceVariable) -> &str {
    variable.name.strip_suffix("[0]").filter(|_| !variable.name.starts_with("gl_")).unwrap_or(&variable.name)
}

impl Context {
    /// `glGetAttribLocation`.
    pub fn get_attrib_location(&mut self, program: u32, name: &str) -> i32 {
        self.gl_or(-1, |ctx| {
            let executable = ctx.linked_by_name(program, "glGetAttribLocation")?;
            Ok(match find(&executable.reflection.inputs, name) {
                // Conventional attributes have generic locations here, which are nothing that GL shows.
                _ if name.starts_with("gl_") => -1,
                Some((v, element)) if v.location >= 0 => {
                    v.location + (element * gl_type::attribute_locations(v.gl_type)) as i32
                }
                _ => -1,
            })
        })
    }

    /// `glGetActiveAttrib`.
    pub fn get_active_attrib(&mut self, program: u32, index: u32) -> Option<ActiveInfo> {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glGetActiveAttrib")?;
            let executable = ctx.linked_program(&program);
            let variable = executable.as_ref().and_then(|e| e.reflection.inputs.get(index as usize));
            let variable = variable.ok_or_else(|| invalid_value("glGetActiveAttrib: index"))?;
            Ok(Some(ActiveInfo {
                name: attribute_name(variable).to_owned(),
                size: variable.array_size as i32,
                type_: variable.gl_type,
            }))
        })
    }

    /// `glGetFragDataLocation`.
    pub fn get_frag_data_location(&mut self, program: u32, name: &str) -> i32 {
        self.gl_or(-1, |ctx| {
            let executable = ctx.linked_by_name(program, "glGetFragDataLocation")?;
            if executable.reflection.fragment.is_none() {
                return Ok(-1);
            }
            Ok(match find(&executable.reflection.outputs, name) {
                Some((v, element)) if v.location >= 0 => v.location + element as i32,
                _ => -1,
            })
        })
    }

    /// `glGetFragDataIndex`.
    pub fn get_frag_data_index(&mut self, program: u32, name: &str) -> i32 {
        self.gl_or(-1, |ctx| {
            let executable = ctx.linked_by_name(program, "glGetFragDataIndex")?;
            if executable.reflection.fragment.is_none() {
                return Ok(-1);
            }
            Ok(match find(&executable.reflection.outputs, name) {
                Some((v, _)) if v.location >= 0 => v.index as i32,
                _ => -1,
            })
        })
    }

    /// `glGetTransformFeedbackVarying`.
    pub fn get_transform_feedback_varying(&mut self, program: u32, index: u32) -> Option<ActiveInfo> {
        self.gl(|ctx| {
            let command = "glGetTransformFeedbackVarying";
            let program = ctx.state.program_by_name(program, command)?;
            let executable = ctx
                .linked_program(&program)
                .ok_or_else(|| invalid_operation("glGetTransformFeedbackVarying: the program is not linked"))?;
            let varyings = executable.reflection.transform_feedback.as_ref().map_or(&[][..], |x| &x.varyings);
            let varying =
                varyings.get(index as usize).ok_or_else(|| invalid_value("glGetTransformFeedbackVarying: index"))?;
            Ok(Some(ActiveInfo { name: varying.name.clone(), size: varying.array_size as i32, type_: varying.gl_type }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_have_one_spelling() {
        assert_eq!(split_index("a[0]"), Some(("a", 0)));
        assert_eq!(split_index("a.b[12]"), Some(("a.b", 12)));
        for bad in ["a", "a[]", "a[01]", "a[ 1]", "a[-1]", "a[1", "a[99999999999]"] {
            assert_eq!(split_index(bad), None, "{bad}");
        }
    }
}
