//! Opens a backend for a display. Nothing here runs before `eglInitialize` or a question about devices.

use std::ffi::CString;
use std::sync::{Arc, OnceLock};

use crate::front::ShareGroup;
use crate::settings::Settings;

/// A device that the backend could run on.
#[derive(Debug, Clone)]
pub(crate) struct DeviceInfo {
    /// Its name as its driver gives it.
    pub(crate) name: CString,
    /// It executes on the CPU.
    pub(crate) software: bool,
}

/// What EGL has to know about the opened backend.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// The largest side of a pbuffer, in pixels.
    pub(crate) max_side: i32,
    /// Sample counts above 1 that colour and depth buffers can have.
    pub(crate) sample_counts: Vec<i32>,
    /// The OpenGL version that contexts get.
    pub(crate) version: (u32, u32),
}

/// An opened backend.
pub(crate) struct Session {
    /// The index of its device.
    pub(crate) device: usize,
    /// Its limits.
    pub(crate) limits: Limits,
}

/// The devices of the machine, asked for once.
pub(crate) fn devices() -> Result<&'static [DeviceInfo], String> {
    static DEVICES: OnceLock<Result<Vec<DeviceInfo>, String>> = OnceLock::new();
    match DEVICES.get_or_init(|| Ok(vec![DeviceInfo { name: c"mock".to_owned(), software: true }])) {
        Ok(devices) => Ok(devices),
        Err(text) => Err(text.clone()),
    }
}

impl Session {
    /// Opens the backend that the environment chooses, on the given device or the best one. The error is one line for
    /// the user.
    pub(crate) fn open(device: Option<usize>) -> Result<Session, String> {
        let _settings = Settings::from_env()?;
        Ok(Session {
            device: device.unwrap_or(0),
            limits: Limits { max_side: 8192, sample_counts: vec![4], version: (3, 3) },
        })
    }

    /// A share group for a context that shares with nobody.
    pub(crate) fn new_share_group(&self) -> Result<Arc<ShareGroup>, String> {
        Ok(ShareGroup::mock())
    }
}
