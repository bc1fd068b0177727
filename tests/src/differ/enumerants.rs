//! Every enumerant from 0 to 0xFFFF in every query, and in the setters that take one: which are accepted.

use std::ffi::c_void;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use glow as gl;

use super::worker::Runner;
use crate::egl::{ContextRequest, Egl};

/// Numbers that a query may answer with.
const ROOM: usize = 64;

/// A function that takes an enumerant: its name, what stands before it and what follows.
struct Asked {
    name: &'static str,
    /// Arguments before the enumerant.
    before: &'static [i64],
    after: After,
    /// Whether the first argument before it names an object of the runner's.
    object: Option<fn(&Runner) -> i64>,
}

/// What follows the enumerant.
#[derive(Clone, Copy)]
enum After {
    Nothing,
    /// A pointer to the answer.
    Out,
    /// An index and a pointer to the answer.
    IndexOut,
    /// A value.
    Value(i64),
}

const fn asked(name: &'static str, before: &'static [i64], after: After) -> Asked {
    Asked { name, before, after, object: None }
}

const fn of(name: &'static str, object: fn(&Runner) -> i64, before: &'static [i64], after: After) -> Asked {
    Asked { name, before, after, object: Some(object) }
}

const T2D: i64 = gl::TEXTURE_2D as i64;
const ARRAY: i64 = gl::ARRAY_BUFFER as i64;
const FRAMEBUFFER: i64 = gl::FRAMEBUFFER as i64;

/// `GL_DEVICE_LUID_EXT` and `GL_DEVICE_NODE_MASK_EXT`: Mesa's llvmpipe calls a function there that it has not.
const FATAL: std::ops::RangeInclusive<i64> = 0x9599..=0x959A;

const ASKED: &[Asked] = &[
    asked("GetIntegerv", &[], After::Out),
    asked("GetFloatv", &[], After::Out),
    asked("GetBooleanv", &[], After::Out),
    asked("GetDoublev", &[], After::Out),
    asked("GetInteger64v", &[], After::Out),
    asked("GetIntegeri_v", &[], After::IndexOut),
    asked("GetInteger64i_v", &[], After::IndexOut),
    asked("GetBooleani_v", &[], After::IndexOut),
    asked("IsEnabled", &[], After::Nothing),
    asked("IsEnabledi", &[], After::Value(0)),
    asked("GetTexParameteriv", &[T2D], After::Out),
    asked("GetTexParameterfv", &[T2D], After::Out),
    asked("GetTexParameterIiv", &[T2D], After::Out),
    asked("GetTexParameterIuiv", &[T2D], After::Out),
    asked("GetTexParameteriv", &[gl::TEXTURE_RECTANGLE as i64], After::Out),
    asked("GetTexParameteriv", &[gl::TEXTURE_2D_MULTISAMPLE as i64], After::Out),
    asked("GetTexLevelParameteriv", &[T2D, 0], After::Out),
    asked("GetTexLevelParameterfv", &[T2D, 0], After::Out),
    asked("GetBufferParameteriv", &[ARRAY], After::Out),
    asked("GetBufferParameteri64v", &[ARRAY], After::Out),
    asked("GetBufferPointerv", &[ARRAY], After::Out),
    asked("GetRenderbufferParameteriv", &[gl::RENDERBUFFER as i64], After::Out),
    asked("GetFramebufferAttachmentParameteriv", &[FRAMEBUFFER, gl::COLOR_ATTACHMENT0 as i64], After::Out),
    asked("GetFramebufferAttachmentParameteriv", &[FRAMEBUFFER, gl::DEPTH_ATTACHMENT as i64], After::Out),
    asked("GetVertexAttribiv", &[0], After::Out),
    asked("GetVertexAttribfv", &[0], After::Out),
    asked("GetVertexAttribdv", &[0], After::Out),
    asked("GetVertexAttribIiv", &[0], After::Out),
    asked("GetVertexAttribIuiv", &[0], After::Out),
    asked("GetVertexAttribPointerv", &[0], After::Out),
    asked("GetMultisamplefv", &[], After::IndexOut),
    asked("GetQueryiv", &[gl::SAMPLES_PASSED as i64], After::Out),
    asked("GetQueryiv", &[gl::TIMESTAMP as i64], After::Out),
    of("GetSamplerParameteriv", Runner::a_sampler, &[], After::Out),
    of("GetSamplerParameterfv", Runner::a_sampler, &[], After::Out),
    of("GetSamplerParameterIiv", Runner::a_sampler, &[], After::Out),
    of("GetSamplerParameterIuiv", Runner::a_sampler, &[], After::Out),
    of("GetProgramiv", Runner::a_program, &[], After::Out),
    of("GetShaderiv", Runner::a_shader, &[], After::Out),
    of("GetQueryObjectuiv", Runner::a_query, &[], After::Out),
    of("GetQueryObjectiv", Runner::a_query, &[], After::Out),
    of("GetQueryObjecti64v", Runner::a_query, &[], After::Out),
    of("GetQueryObjectui64v", Runner::a_query, &[], After::Out),
    asked("Enable", &[], After::Nothing),
    asked("Disable", &[], After::Nothing),
    asked("Enablei", &[], After::Value(0)),
    asked("Hint", &[], After::Value(gl::FASTEST as i64)),
    asked("PixelStorei", &[], After::Value(1)),
    asked("TexParameteri", &[T2D], After::Value(1)),
    asked("TexParameteri", &[T2D], After::Value(gl::NEAREST as i64)),
    asked("BindTexture", &[], After::Value(0)),
    asked("BindBuffer", &[], After::Value(0)),
    asked("BindFramebuffer", &[], After::Value(0)),
    asked("ActiveTexture", &[], After::Nothing),
    asked("DepthFunc", &[], After::Nothing),
    asked("BlendEquation", &[], After::Nothing),
    asked("BlendFunc", &[], After::Value(1)),
    asked("LogicOp", &[], After::Nothing),
    asked("CullFace", &[], After::Nothing),
    asked("FrontFace", &[], After::Nothing),
    asked("ProvokingVertex", &[], After::Nothing),
    asked("GenerateMipmap", &[], After::Nothing),
    asked("CheckFramebufferStatus", &[], After::Nothing),
];

/// Writes a line for everything that is not refused as an unknown enumerant: function, enumerant, error and answer.
pub fn work(out: &Path) -> Result<()> {
    let egl = Egl::open()?;
    let mut text = String::new();
    for (at, asked) in ASKED.iter().enumerate() {
        let context = egl.context(&ContextRequest::DEFAULT, None)?;
        context.make_current()?;
        // SAFETY: the context is current until the end of the block, and every function gets the arguments that it takes.
        unsafe {
            let runner = Runner::new(&egl)?;
            runner.forget_errors();
            for enumerant in (0..0x1_0000i64).filter(|e| !FATAL.contains(e)) {
                ask(&egl, &runner, asked, enumerant, at, &mut text);
            }
        }
        context.release()?;
    }
    std::fs::write(out, text)?;
    Ok(())
}

unsafe fn ask(egl: &Arc<Egl>, runner: &Runner, asked: &Asked, enumerant: i64, at: usize, text: &mut String) {
    let mut answer = [0xCDu8; ROOM * 8];
    let pointer = answer.as_mut_ptr().expose_provenance() as i64;
    let mut arguments = [0i64; 6];
    let mut n = 0;
    let mut push = |value| {
        arguments[n] = value;
        n += 1;
    };
    asked.object.map(|object| object(runner)).into_iter().for_each(&mut push);
    asked.before.iter().copied().for_each(&mut push);
    push(enumerant);
    match asked.after {
        After::Nothing => {}
        After::Out => push(pointer),
        After::IndexOut => {
            push(0);
            push(pointer);
        }
        After::Value(value) => push(value),
    }
    let address = egl.proc_address(&format!("gl{}", asked.name));
    // SAFETY: enumerants, names, small numbers and pointers are all integer arguments of the C ABI, and what is passed
    // beyond the function's own arguments is not looked at.
    let call: unsafe extern "system" fn(usize, usize, usize, usize, usize, usize) -> u8 =
        unsafe { std::mem::transmute::<*const c_void, _>(address) };
    let [a, b, c, d, e, f] = arguments.map(|n| n as usize);
    let returned = call(a, b, c, d, e, f);
    let error = runner.error();
    runner.forget_errors();
    if error == gl::INVALID_ENUM {
        return;
    }
    let _ = write!(text, "{at} {} {enumerant:#06x} {error:#06x}", asked.name);
    match asked.after {
        After::Out | After::IndexOut if error == gl::NO_ERROR => {
            let written = answer.iter().rposition(|byte| *byte != 0xCD).map_or(0, |last| last + 1);
            let _ = write!(text, " {:02x?}", &answer[..written]);
        }
        _ if asked.name.starts_with("Is") => {
            let _ = write!(text, " {returned}");
        }
        _ => {}
    }
    text.push('\n');
}
