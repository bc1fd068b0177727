//! Writes the GL entry points, the functions that only raise an error, and the table of names.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{bail, Result};

use super::implemented::Route;
use super::names;
use super::registry::{CType, Command, Registry};

/// What each exported name becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    /// It reaches the frontend itself.
    Entry(Route),
    /// It jumps to the entry of another name of the same function.
    Alias(String),
    /// It raises `GL_INVALID_OPERATION`.
    Missing,
}

/// The decision for every exported name.
pub(super) struct Plan<'a> {
    registry: &'a Registry,
    targets: BTreeMap<&'a str, Target>,
}

impl<'a> Plan<'a> {
    /// Joins the registry with the list of implemented functions.
    pub(super) fn new(registry: &'a Registry, implemented: &BTreeMap<String, Route>) -> Result<Plan<'a>> {
        let mut targets = BTreeMap::new();
        for name in registry.commands.keys() {
            let target = if let Some(route) = implemented.get(name) {
                Target::Entry(*route)
            } else {
                let class = registry.alias_class(name);
                match class.into_iter().find(|other| implemented.contains_key(*other)) {
                    Some(other) => Target::Alias(other.to_owned()),
                    None => Target::Missing,
                }
            };
            targets.insert(name.as_str(), target);
        }
        Ok(Plan { registry, targets })
    }

    fn iter(&self) -> impl Iterator<Item = (&Command, &Target)> {
        self.registry.commands.values().filter_map(|c| self.targets.get(c.name.as_str()).map(|t| (c, t)))
    }
}

/// `gl_entry.rs`: the functions that reach the frontend, and their aliases.
pub(super) fn entries(plan: &Plan<'_>) -> Result<String> {
    let mut out = String::from(
        "#![allow(missing_docs, clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)]\n\n\
         use std::ffi::{c_char, c_void};\n\n\
         use crate::entry::{entry, DebugProc};\nuse crate::glue;\n\n",
    );
    for (command, target) in plan.iter() {
        let name = &command.name;
        let local = local_name(name);
        match target {
            Target::Missing => continue,
            Target::Entry(_) if c_params(command).is_none() || c_return(command).is_none() => {
                bail!("{name} is implemented but the generator does not know one of its types")
            }
            _ => {}
        }
        let (Some(params), Some(ret)) = (c_params(command), c_return(command)) else {
            continue;
        };
        let list: Vec<String> = params.iter().map(|(n, t)| format!("{n}: {t}")).collect();
        let arrow = if ret == "()" { String::new() } else { format!(" -> {ret}") };
        let _ = writeln!(out, "#[export_name = \"{name}\"]");
        let _ = writeln!(out, "pub unsafe extern \"C\" fn {local}({}){arrow} {{", list.join(", "));
        let body = match target {
            Target::Entry(Route::Auto) => auto_body(command)?,
            Target::Entry(Route::Glue) => {
                let args: Vec<&str> = params.iter().map(|(n, _)| n.as_str()).collect();
                let args = args.iter().map(|n| format!(", {n}")).collect::<String>();
                format!("entry(\"{name}\", |ctx| unsafe {{ glue::{}(ctx{args}) }})", names::method(name))
            }
            Target::Alias(other) => alias_body(plan, other, &params, &ret)?,
            Target::Missing => continue,
        };
        let _ = writeln!(out, "    {body}\n}}\n");
    }
    Ok(out)
}

/// `gl_missing.rs`: the functions that nothing answers yet. They take no parameters: with the C calling conventions of
/// the supported targets the caller owns the argument area, and a zero in the return register is null, false and 0.
pub(super) fn missing(plan: &Plan<'_>) -> String {
    let mut out =
        String::from("#![allow(missing_docs)]\n\nuse std::sync::atomic::AtomicBool;\n\nuse crate::entry::missing;\n\n");
    for (command, _) in plan.iter().filter(|(_, target)| **target == Target::Missing) {
        let name = &command.name;
        let _ = writeln!(out, "#[export_name = \"{name}\"]\npub extern \"C\" fn {}() -> usize {{", local_name(name));
        let _ = writeln!(
            out,
            "    static LOGGED: AtomicBool = AtomicBool::new(false);\n    missing(\"{name}\", &LOGGED)\n}}\n"
        );
    }
    out
}

/// `gl_procs.rs`: every exported name with its function, sorted by name.
pub(super) fn procs(plan: &Plan<'_>) -> String {
    let mut out = String::from(
        "use crate::entry::Proc;\n\nuse super::{gl_entry as e, gl_missing as m};\n\n/// Every exported GL function, sorted by name.\n",
    );
    let _ = writeln!(out, "pub static PROCS: [Proc; {}] = [", plan.targets.len());
    for (command, target) in plan.iter() {
        let module = if *target == Target::Missing { "m" } else { "e" };
        let name = &command.name;
        let _ = writeln!(out, "    Proc::new(\"{name}\", {module}::{} as *const ()),", local_name(name));
    }
    out.push_str("];\n");
    out
}

/// The frontend signature of a scalar-only command, `None` when a pointer is involved.
pub(super) fn frontend_signature(command: &Command) -> Option<String> {
    let mut out = format!("pub fn {}(&mut self", names::method(&command.name));
    for param in &command.params {
        let _ = write!(out, ", {}: {}", names::param(&param.name), safe_scalar(&param.ty)?);
    }
    out.push(')');
    match safe_scalar(&command.ret)? {
        "()" => {}
        ret => {
            let _ = write!(out, " -> {ret}");
        }
    }
    Some(out)
}

/// The exported name is taken by the symbol; the Rust item gets a name that nothing else in the process has.
fn local_name(gl: &str) -> String {
    format!("c_{}", names::method(gl))
}

fn auto_body(command: &Command) -> Result<String> {
    let name = &command.name;
    let mut args = Vec::new();
    for param in &command.params {
        let spelled = names::param(&param.name);
        match safe_scalar(&param.ty) {
            Some("bool") => args.push(format!("{spelled} != 0")),
            Some(_) => args.push(spelled),
            None => bail!("{name} takes pointers: its route must be `glue`"),
        }
    }
    let call = format!("ctx.{}({})", names::method(name), args.join(", "));
    Ok(match safe_scalar(&command.ret) {
        Some("bool") => format!("entry(\"{name}\", |ctx| u8::from({call}))"),
        Some(_) => format!("entry(\"{name}\", |ctx| {call})"),
        None => bail!("{name} returns a pointer: its route must be `glue`"),
    })
}

fn alias_body(plan: &Plan<'_>, other: &str, params: &[(String, String)], ret: &str) -> Result<String> {
    let Some(target) = plan.registry.commands.get(other) else { bail!("alias {other} is unknown") };
    let (Some(want), Some(want_ret)) = (c_params(target), c_return(target)) else {
        bail!("alias target {other} has a type that the generator does not know")
    };
    if want.len() != params.len() {
        bail!("alias target {other} has another number of parameters");
    }
    let args: Vec<String> = params
        .iter()
        .zip(&want)
        .map(|((name, ty), (_, want))| if ty == want { name.clone() } else { format!("{name} as {want}") })
        .collect();
    let cast = if ret == want_ret { String::new() } else { format!(" as {ret}") };
    Ok(format!("unsafe {{ {}({}) }}{cast}", local_name(other), args.join(", ")))
}

fn c_params(command: &Command) -> Option<Vec<(String, String)>> {
    command.params.iter().map(|p| c_type(&p.ty).map(|t| (names::param(&p.name), t))).collect()
}

fn c_return(command: &Command) -> Option<String> {
    c_type(&command.ret)
}

fn c_type(ty: &CType) -> Option<String> {
    let mut out = if ty.pointers.is_empty() {
        match ty.base.as_str() {
            "void" => "()".to_owned(),
            base => c_scalar(base)?.to_owned(),
        }
    } else {
        match ty.base.as_str() {
            "void" | "GLvoid" => "c_void".to_owned(),
            base => c_scalar(base)?.to_owned(),
        }
    };
    for is_const in &ty.pointers {
        out = format!("{}{out}", if *is_const { "*const " } else { "*mut " });
    }
    Some(out)
}

fn c_scalar(base: &str) -> Option<&'static str> {
    Some(match base {
        "GLenum" | "GLuint" | "GLbitfield" | "GLhandleARB" => "u32",
        "GLint" | "GLsizei" | "GLfixed" | "GLclampx" => "i32",
        "GLboolean" | "GLubyte" => "u8",
        "GLbyte" => "i8",
        "GLshort" => "i16",
        "GLushort" | "GLhalf" | "GLhalfARB" | "GLhalfNV" => "u16",
        "GLfloat" | "GLclampf" => "f32",
        "GLdouble" | "GLclampd" => "f64",
        "GLintptr" | "GLsizeiptr" | "GLintptrARB" | "GLsizeiptrARB" => "isize",
        "GLuint64" | "GLuint64EXT" => "u64",
        "GLint64" | "GLint64EXT" => "i64",
        // A GLsync is a pointer for C; it is only ever an opaque number here.
        "GLsync" => "usize",
        "GLchar" | "GLcharARB" => "c_char",
        "GLDEBUGPROC" | "GLDEBUGPROCARB" | "GLDEBUGPROCKHR" => "DebugProc",
        _ => return None,
    })
}

fn safe_scalar(ty: &CType) -> Option<&'static str> {
    if !ty.pointers.is_empty() {
        return None;
    }
    match ty.base.as_str() {
        "void" => Some("()"),
        "GLboolean" => Some("bool"),
        "GLDEBUGPROC" | "GLDEBUGPROCARB" | "GLDEBUGPROCKHR" => None,
        base => c_scalar(base),
    }
}
