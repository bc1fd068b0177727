//! Code written by `cargo xtask codegen`.

pub mod egl_enums;
pub mod gl_entry;
pub mod gl_missing;
pub mod gl_procs;
pub mod glx_enums;
