//! The strings of `eglQueryString`. Only extensions whose functions all exist are listed.

use std::ffi::CStr;

/// `EGL_VENDOR`.
pub(crate) const VENDOR: &CStr = c"MGL";

/// `EGL_VERSION`.
pub(crate) const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!("1.5 MGL ", env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => c"1.5 MGL",
    };

/// `EGL_CLIENT_APIS`.
pub(crate) const CLIENT_APIS: &CStr = c"OpenGL";

/// Extensions that need no display.
pub(crate) const CLIENT_EXTENSIONS: &CStr =
    c"EGL_EXT_client_extensions EGL_EXT_device_base EGL_EXT_device_enumeration \
EGL_EXT_device_query EGL_EXT_platform_base EGL_EXT_platform_device EGL_EXT_platform_wayland EGL_EXT_platform_x11 \
EGL_EXT_platform_xcb EGL_KHR_client_get_all_proc_addresses EGL_KHR_platform_wayland EGL_KHR_platform_x11 \
EGL_MESA_platform_surfaceless";

/// Those of the client extensions that are platforms; libglvnd asks for them apart.
pub(crate) const PLATFORM_EXTENSIONS: &CStr = c"EGL_EXT_platform_device EGL_EXT_platform_wayland EGL_EXT_platform_x11 \
EGL_EXT_platform_xcb EGL_KHR_platform_wayland EGL_KHR_platform_x11 EGL_MESA_platform_surfaceless";

/// Extensions of a display.
pub(crate) const DISPLAY_EXTENSIONS: &CStr = c"EGL_EXT_buffer_age EGL_EXT_swap_buffers_with_damage \
EGL_IMG_context_priority EGL_KHR_context_flush_control EGL_KHR_create_context \
EGL_KHR_create_context_no_error EGL_KHR_fence_sync EGL_KHR_get_all_proc_addresses EGL_KHR_gl_colorspace \
EGL_KHR_no_config_context EGL_KHR_surfaceless_context EGL_KHR_swap_buffers_with_damage EGL_KHR_wait_sync EGL_MESA_configless_context";

/// Extensions of a device that executes on the CPU.
pub(crate) const SOFTWARE_DEVICE_EXTENSIONS: &CStr = c"EGL_EXT_device_query_name EGL_MESA_device_software";

/// Extensions of any other device.
pub(crate) const DEVICE_EXTENSIONS: &CStr = c"EGL_EXT_device_query_name";

/// Whether a space-separated list has a word.
#[cfg(test)]
pub(crate) fn contains(list: &CStr, word: &str) -> bool {
    list.to_str().is_ok_and(|l| l.split(' ').any(|w| w == word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egl;

    #[test]
    fn every_listed_extension_has_its_functions() {
        let functions: [(&CStr, &str, &[&str]); 8] = [
            (CLIENT_EXTENSIONS, "EGL_EXT_device_enumeration", &["eglQueryDevicesEXT"]),
            (
                CLIENT_EXTENSIONS,
                "EGL_EXT_device_query",
                &["eglQueryDeviceAttribEXT", "eglQueryDeviceStringEXT", "eglQueryDisplayAttribEXT"],
            ),
            (
                CLIENT_EXTENSIONS,
                "EGL_EXT_platform_base",
                &["eglGetPlatformDisplayEXT", "eglCreatePlatformWindowSurfaceEXT", "eglCreatePlatformPixmapSurfaceEXT"],
            ),
            (
                DISPLAY_EXTENSIONS,
                "EGL_KHR_fence_sync",
                &["eglCreateSyncKHR", "eglDestroySyncKHR", "eglClientWaitSyncKHR", "eglGetSyncAttribKHR"],
            ),
            (DISPLAY_EXTENSIONS, "EGL_KHR_wait_sync", &["eglWaitSyncKHR"]),
            (DISPLAY_EXTENSIONS, "EGL_KHR_swap_buffers_with_damage", &["eglSwapBuffersWithDamageKHR"]),
            (DISPLAY_EXTENSIONS, "EGL_EXT_swap_buffers_with_damage", &["eglSwapBuffersWithDamageEXT"]),
            (DISPLAY_EXTENSIONS, "EGL_KHR_get_all_proc_addresses", &["eglGetProcAddress"]),
        ];
        for (list, extension, names) in functions {
            assert!(contains(list, extension), "{extension}");
            for name in names {
                assert!(egl::PROCS.iter().any(|p| p.name() == *name), "{name}");
            }
        }
    }
}
