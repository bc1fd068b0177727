//! `EGL_EXT_device_base`: the devices of the machine as EGL objects.

use super::enums as e;
use super::error::{fail, EglResult};
use crate::driver::{self, DeviceInfo};

/// Handles of devices are this plus their index, so that they look like nothing else.
const BASE: usize = 0x6d67_6c00;

/// The handles of all devices.
pub(crate) fn handles() -> Vec<usize> {
    (0..devices().len()).map(|i| BASE + i).collect()
}

/// The handle of the device with an index.
pub(crate) fn handle(index: usize) -> usize {
    BASE + index
}

/// The index behind a handle.
pub(crate) fn index(handle: usize) -> EglResult<usize> {
    match handle.checked_sub(BASE) {
        Some(index) if index < devices().len() => Ok(index),
        _ => fail(e::BAD_DEVICE_EXT, format!("{handle:#x} is no device")),
    }
}

/// The description behind a handle.
pub(crate) fn info(handle: usize) -> EglResult<&'static DeviceInfo> {
    let index = index(handle)?;
    devices().get(index).map_or_else(|| fail(e::BAD_DEVICE_EXT, "no such device"), Ok)
}

fn devices() -> &'static [DeviceInfo] {
    match driver::devices() {
        Ok(devices) => devices,
        Err(text) => {
            log::error!("{text}");
            &[]
        }
    }
}
