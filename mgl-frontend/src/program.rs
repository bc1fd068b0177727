//! Shader and program objects.

use std::sync::Arc;

/// What a name of the shader and program name space stands for.
#[derive(Debug)]
pub(crate) enum ShaderOrProgram {
    /// A shader object.
    Shader(Arc<()>),
    /// A program object.
    Program(Arc<()>),
}
