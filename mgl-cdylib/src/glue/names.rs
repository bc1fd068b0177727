//! `glGen*` and `glDelete*`.

use super::memory::{input, length, output};
use crate::front::Context;

macro_rules! names {
    ($($gen:ident $delete:ident;)*) => {
        $(
            /// # Safety
            ///
            /// See the module.
            pub(crate) unsafe fn $gen(ctx: &mut Context, n: i32, names: *mut u32) {
                let Some(n) = length(ctx, n, concat!(stringify!($gen), ": negative count")) else { return };
                // SAFETY: `n` names by the contract of the module.
                unsafe {
                    output(ctx, names, n, concat!(stringify!($gen), ": null"), |ctx, names| {
                        ctx.$gen(names);
                        true
                    });
                }
            }

            /// # Safety
            ///
            /// See the module.
            pub(crate) unsafe fn $delete(ctx: &mut Context, n: i32, names: *const u32) {
                let Some(n) = length(ctx, n, concat!(stringify!($delete), ": negative count")) else { return };
                // SAFETY: `n` names by the contract of the module.
                if let Some(names) = unsafe { input(ctx, names, n, concat!(stringify!($delete), ": null")) } {
                    ctx.$delete(&names);
                }
            }
        )*
    };
}

names! {
    gen_buffers delete_buffers;
    gen_framebuffers delete_framebuffers;
    gen_queries delete_queries;
    gen_renderbuffers delete_renderbuffers;
    gen_samplers delete_samplers;
    gen_textures delete_textures;
    gen_vertex_arrays delete_vertex_arrays;
}
