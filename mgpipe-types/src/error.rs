//! Errors of the interface: what a caller cannot foresee.

use thiserror::Error;

/// Why a call could not do its work. Contract violations are not among them: those are logged and ignored.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PipeError {
    /// Host or device memory ran out.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// The device is gone; every later call answers the same.
    #[error("the device was lost: {0}")]
    DeviceLost(String),
    /// The backend cannot do this; the caps say so beforehand.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The backend could not start.
    #[error("initialisation failed: {0}")]
    Init(String),
    /// The peer sent something that violates the protocol.
    #[error("protocol corruption: {0}")]
    Protocol(String),
    /// The handle names no live object.
    #[error("no such object: {0}")]
    BadHandle(String),
}

/// Result of calls that can fail.
pub type PipeResult<T> = Result<T, PipeError>;
