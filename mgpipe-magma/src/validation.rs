//! The Khronos validation layer under `MGL_VALIDATION=1`: messages go to stderr and to the file of `MGL_VALIDATION_LOG`.

use ash::vk;
use std::ffi::{c_void, CStr};
use std::io::Write;

/// Name of the layer.
pub(crate) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Whether `MGL_VALIDATION` asks for the layer.
pub(crate) fn wanted() -> bool {
    std::env::var_os("MGL_VALIDATION").is_some_and(|v| !v.is_empty() && v != "0")
}

/// Where messages are delivered.
pub(crate) fn messenger_info() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(on_message))
}

unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes a valid structure whose message is a NUL-terminated string, both alive during the call.
    let message = unsafe {
        match data.as_ref() {
            Some(data) if !data.p_message.is_null() => CStr::from_ptr(data.p_message).to_string_lossy(),
            _ => return vk::FALSE,
        }
    };
    report(&message);
    vk::FALSE
}

fn report(message: &str) {
    let line = format!("mgl: validation: {message}\n");
    // Nothing can be done about a closed stderr, and a driver must not fail over it.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os("MGL_VALIDATION_LOG") {
        if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
            let _ = file.write_all(line.as_bytes());
        }
    }
}
