//! The strings of GLX. Only extensions whose functions all exist are listed.

use std::ffi::CStr;

/// `GLX_VENDOR`.
pub(crate) const VENDOR: &CStr = c"MGL";

/// `GLX_VERSION`.
pub(crate) const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!("1.4 MGL ", env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => c"1.4 MGL",
    };

/// `GLX_EXTENSIONS` of client, server and both: nothing here depends on the X server.
pub(crate) const EXTENSIONS: &CStr = c"GLX_ARB_context_flush_control GLX_ARB_create_context \
GLX_ARB_create_context_no_error GLX_ARB_create_context_profile GLX_ARB_create_context_robustness \
GLX_ARB_framebuffer_sRGB GLX_ARB_get_proc_address GLX_ARB_multisample GLX_EXT_buffer_age GLX_EXT_framebuffer_sRGB \
GLX_EXT_no_config_context GLX_EXT_swap_control GLX_EXT_visual_info GLX_EXT_visual_rating GLX_MESA_swap_control \
GLX_SGIS_multisample GLX_SGI_swap_control";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glx::glx_proc;

    #[test]
    fn extensions_with_functions_have_them() {
        let functions: [(&str, &[&CStr]); 5] = [
            ("GLX_ARB_create_context", &[c"glXCreateContextAttribsARB"]),
            ("GLX_ARB_get_proc_address", &[c"glXGetProcAddressARB"]),
            ("GLX_EXT_swap_control", &[c"glXSwapIntervalEXT"]),
            ("GLX_SGI_swap_control", &[c"glXSwapIntervalSGI"]),
            ("GLX_MESA_swap_control", &[c"glXSwapIntervalMESA", c"glXGetSwapIntervalMESA"]),
        ];
        let listed: Vec<&str> = EXTENSIONS.to_str().expect("ASCII").split(' ').collect();
        for (extension, names) in functions {
            assert!(listed.contains(&extension), "{extension}");
            for name in names {
                assert!(!glx_proc(name).is_null(), "{name:?}");
            }
        }
        assert!(listed.is_sorted(), "{listed:?}");
    }
}
