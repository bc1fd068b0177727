//! The Khronos validation layer under `MGL_VALIDATION=1` or `sync`: messages go to stderr and to the file of
//! `MGL_VALIDATION_LOG`.

use ash::vk;
use std::ffi::{c_void, CStr};
use std::io::Write;

/// Name of the layer.
pub(crate) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Whether `MGL_VALIDATION` asks for the layer.
pub(crate) fn wanted() -> bool {
    mgpipe_types::switches::switch("MGL_VALIDATION").is_some_and(|v| !v.is_empty() && v != "0")
}

/// What the layer does only when it is asked to: `MGL_VALIDATION=sync` has it follow every access of every command and report those
/// that nothing orders.
///
/// A device that executes one command after the other, as lavapipe does, shows the same picture without any barrier. Layers
/// before 1.3.250 do not look into dynamic rendering; `MGL_MAGMA_DISABLE=VK_KHR_dynamic_rendering` makes them see everything.
pub(crate) fn more() -> &'static [vk::ValidationFeatureEnableEXT] {
    match mgpipe_types::switches::switch("MGL_VALIDATION") {
        Some(value) if value == "sync" => &[vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION],
        _ => &[],
    }
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
    if !is_unfounded(&message) {
        report(&message);
    }
    vk::FALSE
}

/// A fragment output without an attachment is discarded (Vulkan 1.3, "Fragment Output Interface"), and GL programs have
/// such outputs whenever a draw buffer is `GL_NONE`. Older layers compare the output's type with `VK_FORMAT_UNDEFINED`, or
/// warn. They also warn of an attachment that no output is for: its values become undefined, in GL likewise (spec 15.2.3).
fn is_unfounded(message: &str) -> bool {
    message.contains("of type `VK_FORMAT_UNDEFINED` does not match fragment shader output type")
        || message.contains("fragment shader writes to output location")
            && message.contains("with no matching attachment")
        || message.contains("not written by fragment shader; undefined values will be written to attachment")
}

fn report(message: &str) {
    let line = format!("mgl: validation: {message}\n");
    // Nothing can be done about a closed stderr, and a driver must not fail over it.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = mgpipe_types::switches::switch("MGL_VALIDATION_LOG") {
        if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
            let _ = file.write_all(line.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_unfounded;

    #[test]
    fn only_outputs_without_an_attachment_are_let_through() {
        let of =
            |format: &str| format!("Attachment 0 of type `{format}` does not match fragment shader output type of x");
        assert!(is_unfounded(&of("VK_FORMAT_UNDEFINED")));
        assert!(!is_unfounded(&of("VK_FORMAT_R8_UINT")));
        assert!(is_unfounded("fragment shader writes to output location 1 with no matching attachment"));
        assert!(!is_unfounded("fragment shader writes to output location 1 of another type"));
        assert!(is_unfounded(
            "Attachment 2 not written by fragment shader; undefined values will be written to attachment"
        ));
    }
}
