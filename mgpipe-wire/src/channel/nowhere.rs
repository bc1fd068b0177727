//! Connections to other processes on systems that have no port yet: every attempt is a clear error.

use super::start::{ConnectOptions, StartError};
use crate::client::Attached;
use std::path::Path;

/// Starts a server for this client alone and connects to it.
///
/// # Errors
/// Always [`StartError::NoPort`].
pub fn spawn(_program: &Path, _options: &ConnectOptions) -> Result<Attached, StartError> {
    Err(StartError::NoPort)
}

/// Connects to a server that listens at a path.
///
/// # Errors
/// Always [`StartError::NoPort`].
pub fn attach(_path: &Path, _options: &ConnectOptions) -> Result<Attached, StartError> {
    Err(StartError::NoPort)
}
