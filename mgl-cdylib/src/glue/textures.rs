//! Parameters of textures, samplers and points.

use mgpipe_types::gl;

use super::memory::{answers, input};
use crate::front::{Context, ParamData, Params, Values};

/// How many values a vector call reads for a parameter.
fn count(pname: u32) -> usize {
    match pname {
        gl::TEXTURE_BORDER_COLOR | gl::TEXTURE_SWIZZLE_RGBA => 4,
        _ => 1,
    }
}

macro_rules! scalars {
    ($($name:ident => $method:ident($($object:ident)?): $ty:ty, $data:ident;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, $($object: u32,)? pname: u32, param: $ty) {
                let params = Params { data: ParamData::$data(&[param]), scalar: true };
                ctx.$method($($object,)? pname, params);
            }
        )*
    };
}

scalars! {
    tex_parameterf => tex_parameter(target): f32, Floats;
    tex_parameteri => tex_parameter(target): i32, Ints;
    sampler_parameterf => sampler_parameter(sampler): f32, Floats;
    sampler_parameteri => sampler_parameter(sampler): i32, Ints;
    point_parameterf => point_parameter(): f32, Floats;
    point_parameteri => point_parameter(): i32, Ints;
}

macro_rules! vectors {
    ($($name:ident => $method:ident($($object:ident)?): $ty:ty, $data:ident;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, $($object: u32,)? pname: u32, params: *const $ty) {
                // SAFETY: as many values as the parameter has, by the contract of the module.
                if let Some(values) = unsafe { input(ctx, params, count(pname), stringify!($name)) } {
                    let params = Params { data: ParamData::$data(&values), scalar: false };
                    ctx.$method($($object,)? pname, params);
                }
            }
        )*
    };
}

vectors! {
    tex_parameterfv => tex_parameter(target): f32, Floats;
    tex_parameteriv => tex_parameter(target): i32, Ints;
    tex_parameter_iiv => tex_parameter(target): i32, PureInts;
    tex_parameter_iuiv => tex_parameter(target): u32, PureUints;
    sampler_parameterfv => sampler_parameter(sampler): f32, Floats;
    sampler_parameteriv => sampler_parameter(sampler): i32, Ints;
    sampler_parameter_iiv => sampler_parameter(sampler): i32, PureInts;
    sampler_parameter_iuiv => sampler_parameter(sampler): u32, PureUints;
    point_parameterfv => point_parameter(): f32, Floats;
    point_parameteriv => point_parameter(): i32, Ints;
}

macro_rules! queries {
    ($($name:ident => $method:ident($($arg:ident: $arg_ty:ty),+): $ty:ty => $convert:expr;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, $($arg: $arg_ty,)+ pname: u32, out: *mut $ty) {
                let values = ctx.$method($($arg,)+ pname);
                // SAFETY: as many elements as the parameter has, by the contract of the module.
                unsafe { answers(ctx, out, values, $convert, stringify!($name)) };
            }
        )*
    };
}

queries! {
    get_tex_parameterfv => get_tex_parameter(target: u32): f32 => Values::to_f32;
    get_tex_parameteriv => get_tex_parameter(target: u32): i32 => Values::to_i32;
    get_tex_parameter_iiv => get_tex_parameter(target: u32): i32 => |v, i| v.to_pure(i) as i32;
    get_tex_parameter_iuiv => get_tex_parameter(target: u32): u32 => Values::to_pure;
    get_tex_level_parameterfv => get_tex_level_parameter(target: u32, level: i32): f32 => Values::to_f32;
    get_tex_level_parameteriv => get_tex_level_parameter(target: u32, level: i32): i32 => Values::to_i32;
    get_sampler_parameterfv => get_sampler_parameter(sampler: u32): f32 => Values::to_f32;
    get_sampler_parameteriv => get_sampler_parameter(sampler: u32): i32 => Values::to_i32;
    get_sampler_parameter_iiv => get_sampler_parameter(sampler: u32): i32 => |v, i| v.to_pure(i) as i32;
    get_sampler_parameter_iuiv => get_sampler_parameter(sampler: u32): u32 => Values::to_pure;
}
