//! The EGL functions as C sees them: pointers become slices, the work is done elsewhere.

use std::ffi::{c_char, c_void, CStr};

use super::display::{self, Platform};
use super::error::{fail, guard, EglResult};
use super::{config, context, current, device, enums as e, strings, surface, sync, thread, window};
use crate::entry::{gl_proc, Proc};
use crate::native::wayland;

/// The type of attribute values in core EGL 1.5 lists.
type Attrib = isize;

/// Attribute lists longer than this are treated as unterminated.
const MAX_ATTRIBUTES: usize = 256;

/// Rectangles of damage that are passed on at most.
const MAX_DAMAGE: usize = 64;

/// Declares the exported functions and the table behind `eglGetProcAddress` from one list.
macro_rules! egl_functions {
    ($($local:ident = $export:literal ($($arg:ident: $ty:ty),*) -> $ret:ty $body:block)*) => {
        $(
            #[doc = concat!("`", $export, "` of EGL.")]
            ///
            /// # Safety
            ///
            /// Pointers are null or point to what EGL says: lists that end with `EGL_NONE`, variables to write.
            #[export_name = $export]
            pub unsafe extern "C" fn $local($($arg: $ty),*) -> $ret {
                #[allow(unused_imports)]
                use std::result::Result::Ok;
                $body
            }
        )*

        /// Every exported EGL function.
        pub static PROCS: &[Proc] = &[$(Proc::new($export, $local as *const ())),*];
    };
}

egl_functions! {
    // Displays.
    c_get_display = "eglGetDisplay" (native: usize) -> usize {
        // EGL 1.5 §3.2: no match is no error.
        guard("eglGetDisplay", || {
            let platform = match native {
                0 => Platform::Default,
                // SAFETY: a native display of the application, which is a `wl_display` or a `Display` of Xlib.
                _ if unsafe { wayland::is_display(native) } => Platform::Wayland(native),
                _ => Platform::Xlib(native),
            };
            Ok(display::get(platform).handle())
        })
    }
    c_get_platform_display = "eglGetPlatformDisplay" (platform: u32, native: usize, list: *const Attrib) -> usize {
        guard("eglGetPlatformDisplay", || {
            // SAFETY: the application passes null or a list that ends with EGL_NONE.
            get_platform_display(platform, native, &unsafe { pairs(list) }?)
        })
    }
    c_get_platform_display_ext = "eglGetPlatformDisplayEXT" (platform: u32, native: usize, list: *const i32) -> usize {
        guard("eglGetPlatformDisplayEXT", || {
            // SAFETY: as above.
            get_platform_display(platform, native, &unsafe { pairs(list) }?)
        })
    }
    c_initialize = "eglInitialize" (dpy: usize, major: *mut i32, minor: *mut i32) -> u32 {
        guard("eglInitialize", || {
            display::from_handle(dpy)?.initialize()?;
            // SAFETY: null or a variable of the application.
            unsafe {
                write(major, 1);
                write(minor, 5);
            }
            Ok(1)
        })
    }
    c_terminate = "eglTerminate" (dpy: usize) -> u32 {
        guard("eglTerminate", || {
            display::from_handle(dpy)?.terminate();
            Ok(1)
        })
    }
    c_query_string = "eglQueryString" (dpy: usize, name: i32) -> *const c_char {
        guard("eglQueryString", || {
            if dpy == 0 {
                return match name {
                    e::EXTENSIONS => Ok(strings::CLIENT_EXTENSIONS.as_ptr()),
                    e::VERSION => Ok(strings::VERSION.as_ptr()),
                    _ => fail(e::BAD_DISPLAY, "this string needs a display"),
                };
            }
            display::from_handle(dpy)?.session()?;
            Ok(match name {
                e::CLIENT_APIS => strings::CLIENT_APIS,
                e::EXTENSIONS => strings::DISPLAY_EXTENSIONS,
                e::VENDOR => strings::VENDOR,
                e::VERSION => strings::VERSION,
                _ => return fail(e::BAD_PARAMETER, format!("{name:#x} is no string")),
            }
            .as_ptr())
        })
    }

    // Configs.
    c_get_configs = "eglGetConfigs" (dpy: usize, out: *mut usize, size: i32, count: *mut i32) -> u32 {
        guard("eglGetConfigs", || {
            let configs = display::from_handle(dpy)?.configs()?;
            // SAFETY: `out` is null or has room for `size` handles, `count` is checked there.
            unsafe { write_configs(&configs, out, size, count) }
        })
    }
    c_choose_config = "eglChooseConfig" (dpy: usize, list: *const i32, out: *mut usize, size: i32, count: *mut i32) -> u32 {
        guard("eglChooseConfig", || {
            let configs = display::from_handle(dpy)?.configs()?;
            // SAFETY: null or a list that ends with EGL_NONE; `out` and `count` as in eglGetConfigs.
            unsafe {
                let chosen = config::choose(&configs, &pairs(list)?)?;
                write_configs(&chosen, out, size, count)
            }
        })
    }
    c_get_config_attrib = "eglGetConfigAttrib" (dpy: usize, config: usize, attribute: i32, value: *mut i32) -> u32 {
        guard("eglGetConfigAttrib", || {
            let config = display::from_handle(dpy)?.config(config)?;
            let Some(answer) = config.attribute(attribute) else {
                return fail(e::BAD_ATTRIBUTE, format!("{attribute:#x} is no config attribute"));
            };
            // SAFETY: checked for null, else a variable of the application.
            unsafe { write_required(value, answer) }
        })
    }

    // Surfaces.
    c_create_pbuffer_surface = "eglCreatePbufferSurface" (dpy: usize, config: usize, list: *const i32) -> usize {
        guard("eglCreatePbufferSurface", || {
            let display = display::from_handle(dpy)?;
            let config = display.config(config)?;
            // SAFETY: null or a list that ends with EGL_NONE.
            surface::create_pbuffer(display, config, &unsafe { pairs(list) }?)
        })
    }
    c_create_window_surface = "eglCreateWindowSurface" (dpy: usize, config: usize, native: usize, list: *const i32) -> usize {
        guard("eglCreateWindowSurface", || {
            // SAFETY: null or a list that ends with EGL_NONE.
            window::create(display::from_handle(dpy)?, config, native, &unsafe { pairs(list) }?)
        })
    }
    c_create_platform_window_surface = "eglCreatePlatformWindowSurface"
        (dpy: usize, config: usize, native: *mut c_void, list: *const Attrib) -> usize {
        guard("eglCreatePlatformWindowSurface", || {
            let display = display::from_handle(dpy)?;
            // SAFETY: the application passes what its platform says, and a list that ends with EGL_NONE or null.
            let (number, list) = unsafe { (window::platform_number(display, native), pairs(list)?) };
            window::create(display, config, number, &list)
        })
    }
    c_create_platform_window_surface_ext = "eglCreatePlatformWindowSurfaceEXT"
        (dpy: usize, config: usize, native: *mut c_void, list: *const i32) -> usize {
        guard("eglCreatePlatformWindowSurfaceEXT", || {
            let display = display::from_handle(dpy)?;
            // SAFETY: as above.
            let (number, list) = unsafe { (window::platform_number(display, native), pairs(list)?) };
            window::create(display, config, number, &list)
        })
    }
    c_create_pixmap_surface = "eglCreatePixmapSurface" (dpy: usize, config: usize, pixmap: usize, _list: *const i32) -> usize {
        guard("eglCreatePixmapSurface", || window::create_pixmap(display::from_handle(dpy)?, config, pixmap))
    }
    c_create_platform_pixmap_surface = "eglCreatePlatformPixmapSurface"
        (dpy: usize, config: usize, pixmap: *mut c_void, _list: *const Attrib) -> usize {
        guard("eglCreatePlatformPixmapSurface", || {
            let display = display::from_handle(dpy)?;
            // SAFETY: the application passes what its platform says.
            window::create_pixmap(display, config, unsafe { window::platform_number(display, pixmap) })
        })
    }
    c_create_platform_pixmap_surface_ext = "eglCreatePlatformPixmapSurfaceEXT"
        (dpy: usize, config: usize, pixmap: *mut c_void, _list: *const i32) -> usize {
        guard("eglCreatePlatformPixmapSurfaceEXT", || {
            let display = display::from_handle(dpy)?;
            // SAFETY: as above.
            window::create_pixmap(display, config, unsafe { window::platform_number(display, pixmap) })
        })
    }
    c_create_pbuffer_from_client_buffer = "eglCreatePbufferFromClientBuffer"
        (dpy: usize, _kind: u32, _buffer: usize, config: usize, _list: *const i32) -> usize {
        guard("eglCreatePbufferFromClientBuffer", || {
            display::from_handle(dpy)?.config(config)?;
            fail(e::BAD_PARAMETER, "client buffers (OpenVG images) do not exist here")
        })
    }
    c_destroy_surface = "eglDestroySurface" (dpy: usize, surface: usize) -> u32 {
        guard("eglDestroySurface", || {
            display::from_handle(dpy)?.remove_surface(surface)?;
            Ok(1)
        })
    }
    c_query_surface = "eglQuerySurface" (dpy: usize, surface: usize, attribute: i32, value: *mut i32) -> u32 {
        guard("eglQuerySurface", || {
            match surface::query(display::from_handle(dpy)?, surface, attribute)? {
                // SAFETY: checked for null, else a variable of the application.
                Some(answer) => unsafe { write_required(value, answer) },
                None => Ok(1),
            }
        })
    }
    c_surface_attrib = "eglSurfaceAttrib" (dpy: usize, surface: usize, attribute: i32, value: i32) -> u32 {
        guard("eglSurfaceAttrib", || {
            surface::set_attribute(display::from_handle(dpy)?, surface, attribute, value)?;
            Ok(1)
        })
    }
    c_bind_tex_image = "eglBindTexImage" (dpy: usize, surface: usize, buffer: i32) -> u32 {
        guard("eglBindTexImage", || no_texture_binding(dpy, surface, buffer))
    }
    c_release_tex_image = "eglReleaseTexImage" (dpy: usize, surface: usize, buffer: i32) -> u32 {
        guard("eglReleaseTexImage", || no_texture_binding(dpy, surface, buffer))
    }
    c_swap_buffers = "eglSwapBuffers" (dpy: usize, surface: usize) -> u32 {
        guard("eglSwapBuffers", || {
            window::swap(display::from_handle(dpy)?, surface, &[])?;
            Ok(1)
        })
    }
    c_swap_buffers_with_damage = "eglSwapBuffersWithDamageKHR"
        (dpy: usize, surface: usize, rects: *const i32, count: i32) -> u32 {
        guard("eglSwapBuffersWithDamageKHR", || swap_with_damage(dpy, surface, rects, count))
    }
    c_swap_buffers_with_damage_ext = "eglSwapBuffersWithDamageEXT"
        (dpy: usize, surface: usize, rects: *const i32, count: i32) -> u32 {
        guard("eglSwapBuffersWithDamageEXT", || swap_with_damage(dpy, surface, rects, count))
    }
    c_swap_interval = "eglSwapInterval" (dpy: usize, interval: i32) -> u32 {
        guard("eglSwapInterval", || {
            window::set_interval(display::from_handle(dpy)?, interval)?;
            Ok(1)
        })
    }
    c_copy_buffers = "eglCopyBuffers" (dpy: usize, surface: usize, _target: usize) -> u32 {
        guard("eglCopyBuffers", || {
            display::from_handle(dpy)?.surface(surface)?;
            fail(e::BAD_NATIVE_PIXMAP, "native pixmaps do not exist here")
        })
    }

    // Contexts.
    c_bind_api = "eglBindAPI" (api: i32) -> u32 {
        guard("eglBindAPI", || {
            if api != e::OPENGL_API {
                return fail(e::BAD_PARAMETER, format!("API {api:#x} is not supported, OpenGL is"));
            }
            thread::set_api(api);
            Ok(1)
        })
    }
    c_query_api = "eglQueryAPI" () -> i32 {
        guard("eglQueryAPI", || Ok(super::bound_api()))
    }
    c_create_context = "eglCreateContext" (dpy: usize, config: usize, share: usize, list: *const i32) -> usize {
        guard("eglCreateContext", || {
            let display = display::from_handle(dpy)?;
            display.session()?;
            // EGL_KHR_no_config_context: zero is EGL_NO_CONFIG_KHR.
            let config = if config == 0 { None } else { Some(display.config(config)?) };
            // SAFETY: null or a list that ends with EGL_NONE.
            context::create(display, config, share, &unsafe { pairs(list) }?)
        })
    }
    c_destroy_context = "eglDestroyContext" (dpy: usize, context: usize) -> u32 {
        guard("eglDestroyContext", || {
            display::from_handle(dpy)?.remove_context(context)?;
            Ok(1)
        })
    }
    c_query_context = "eglQueryContext" (dpy: usize, context: usize, attribute: i32, value: *mut i32) -> u32 {
        guard("eglQueryContext", || {
            let answer = context::query(display::from_handle(dpy)?, context, attribute)?;
            // SAFETY: checked for null, else a variable of the application.
            unsafe { write_required(value, answer) }
        })
    }
    c_make_current = "eglMakeCurrent" (dpy: usize, draw: usize, read: usize, context: usize) -> u32 {
        guard("eglMakeCurrent", || {
            current::make_current(display::from_handle(dpy)?, draw, read, context)?;
            Ok(1)
        })
    }
    c_get_current_context = "eglGetCurrentContext" () -> usize {
        guard("eglGetCurrentContext", || Ok(thread::current_of_egl().map_or(0, |c| c.context.handle)))
    }
    c_get_current_display = "eglGetCurrentDisplay" () -> usize {
        guard("eglGetCurrentDisplay", || Ok(thread::current_of_egl().map_or(0, |c| c.display.handle())))
    }
    c_get_current_surface = "eglGetCurrentSurface" (which: i32) -> usize {
        guard("eglGetCurrentSurface", || {
            let surfaces = thread::current_of_egl().and_then(|c| c.surfaces);
            match which {
                e::DRAW => Ok(surfaces.map_or(0, |s| s.0.handle)),
                e::READ => Ok(surfaces.map_or(0, |s| s.1.handle)),
                _ => fail(e::BAD_PARAMETER, "neither EGL_DRAW nor EGL_READ"),
            }
        })
    }
    c_release_thread = "eglReleaseThread" () -> u32 {
        guard("eglReleaseThread", || {
            if thread::current_of_egl().is_some() {
                current::release_current()?;
            }
            thread::set_api(e::NONE);
            Ok(1)
        })
    }
    c_wait_client = "eglWaitClient" () -> u32 {
        guard("eglWaitClient", finish_current)
    }
    c_wait_gl = "eglWaitGL" () -> u32 {
        guard("eglWaitGL", finish_current)
    }
    c_wait_native = "eglWaitNative" (engine: i32) -> u32 {
        guard("eglWaitNative", || match engine {
            e::CORE_NATIVE_ENGINE => Ok(1),
            _ => fail(e::BAD_PARAMETER, format!("{engine:#x} is no native rendering engine")),
        })
    }
    c_get_error = "eglGetError" () -> i32 {
        thread::take_error()
    }
    c_get_proc_address = "eglGetProcAddress" (name: *const c_char) -> *const () {
        guard("eglGetProcAddress", || {
            if name.is_null() {
                return fail(e::BAD_PARAMETER, "a null name");
            }
            // SAFETY: a terminated string of the application.
            Ok(get_proc_address(unsafe { CStr::from_ptr(name) }))
        })
    }

    // Sync objects and images.
    c_create_sync = "eglCreateSync" (dpy: usize, kind: i32, list: *const Attrib) -> usize {
        guard("eglCreateSync", || {
            // SAFETY: null or a list that ends with EGL_NONE.
            let has_attributes = !unsafe { pairs(list) }?.is_empty();
            sync::create(display::from_handle(dpy)?, kind, has_attributes)
        })
    }
    c_create_sync_khr = "eglCreateSyncKHR" (dpy: usize, kind: i32, list: *const i32) -> usize {
        guard("eglCreateSyncKHR", || {
            // SAFETY: null or a list that ends with EGL_NONE.
            let has_attributes = !unsafe { pairs(list) }?.is_empty();
            sync::create(display::from_handle(dpy)?, kind, has_attributes)
        })
    }
    c_destroy_sync = "eglDestroySync" (dpy: usize, sync: usize) -> u32 {
        guard("eglDestroySync", || display::from_handle(dpy)?.remove_sync(sync).map(|()| 1))
    }
    c_destroy_sync_khr = "eglDestroySyncKHR" (dpy: usize, sync: usize) -> u32 {
        guard("eglDestroySyncKHR", || display::from_handle(dpy)?.remove_sync(sync).map(|()| 1))
    }
    c_client_wait_sync = "eglClientWaitSync" (dpy: usize, sync: usize, _flags: i32, timeout: u64) -> i32 {
        guard("eglClientWaitSync", || sync::client_wait(display::from_handle(dpy)?, sync, timeout))
    }
    c_client_wait_sync_khr = "eglClientWaitSyncKHR" (dpy: usize, sync: usize, _flags: i32, timeout: u64) -> i32 {
        guard("eglClientWaitSyncKHR", || sync::client_wait(display::from_handle(dpy)?, sync, timeout))
    }
    c_wait_sync = "eglWaitSync" (dpy: usize, sync: usize, flags: i32) -> u32 {
        guard("eglWaitSync", || sync::wait(display::from_handle(dpy)?, sync, flags).map(|()| 1))
    }
    c_wait_sync_khr = "eglWaitSyncKHR" (dpy: usize, sync: usize, flags: i32) -> i32 {
        guard("eglWaitSyncKHR", || sync::wait(display::from_handle(dpy)?, sync, flags).map(|()| 1))
    }
    c_get_sync_attrib = "eglGetSyncAttrib" (dpy: usize, sync: usize, attribute: i32, value: *mut Attrib) -> u32 {
        guard("eglGetSyncAttrib", || {
            let answer = sync::attribute(display::from_handle(dpy)?, sync, attribute)?;
            // SAFETY: checked for null, else a variable of the application.
            unsafe { write_required(value, answer as Attrib) }
        })
    }
    c_get_sync_attrib_khr = "eglGetSyncAttribKHR" (dpy: usize, sync: usize, attribute: i32, value: *mut i32) -> u32 {
        guard("eglGetSyncAttribKHR", || {
            let answer = sync::attribute(display::from_handle(dpy)?, sync, attribute)?;
            // SAFETY: as above.
            unsafe { write_required(value, answer) }
        })
    }
    c_create_image = "eglCreateImage"
        (dpy: usize, _context: usize, target: u32, _buffer: usize, _list: *const Attrib) -> usize {
        guard("eglCreateImage", || {
            display::from_handle(dpy)?.session()?;
            fail(e::BAD_PARAMETER, format!("images from {target:#x} are not supported"))
        })
    }
    c_destroy_image = "eglDestroyImage" (dpy: usize, image: usize) -> u32 {
        guard("eglDestroyImage", || {
            display::from_handle(dpy)?.session()?;
            fail(e::BAD_PARAMETER, format!("{image:#x} is no image of this display"))
        })
    }

    // Devices.
    c_query_devices = "eglQueryDevicesEXT" (max: i32, out: *mut usize, count: *mut i32) -> u32 {
        guard("eglQueryDevicesEXT", || {
            let handles = device::handles();
            if count.is_null() || (!out.is_null() && max <= 0) {
                return fail(e::BAD_PARAMETER, "no room for the answer");
            }
            // SAFETY: `out` is null or has room for `max` handles; `count` was checked.
            unsafe { write_list(&handles, out, max, count) };
            Ok(1)
        })
    }
    c_query_device_attrib = "eglQueryDeviceAttribEXT" (device: usize, attribute: i32, _value: *mut Attrib) -> u32 {
        guard("eglQueryDeviceAttribEXT", || {
            device::index(device)?;
            fail(e::BAD_ATTRIBUTE, format!("{attribute:#x} is no device attribute"))
        })
    }
    c_query_device_string = "eglQueryDeviceStringEXT" (device: usize, name: i32) -> *const c_char {
        guard("eglQueryDeviceStringEXT", || {
            let info = device::info(device)?;
            Ok(match name {
                e::EXTENSIONS if info.software => strings::SOFTWARE_DEVICE_EXTENSIONS.as_ptr(),
                e::EXTENSIONS => strings::DEVICE_EXTENSIONS.as_ptr(),
                e::RENDERER_EXT => info.name.as_ptr(),
                e::VENDOR => strings::VENDOR.as_ptr(),
                _ => return fail(e::BAD_PARAMETER, format!("{name:#x} is no device string")),
            })
        })
    }
    c_query_display_attrib = "eglQueryDisplayAttribEXT" (dpy: usize, attribute: i32, value: *mut Attrib) -> u32 {
        guard("eglQueryDisplayAttribEXT", || {
            let session = display::from_handle(dpy)?.session()?;
            if attribute != e::DEVICE_EXT {
                return fail(e::BAD_ATTRIBUTE, format!("{attribute:#x} is no display attribute"));
            }
            // SAFETY: checked for null, else a variable of the application.
            unsafe { write_required(value, device::handle(session.device) as Attrib) }
        })
    }
}

/// `eglGetPlatformDisplay` for all its callers; platform `EGL_NONE` is how libglvnd asks for the default.
pub(crate) fn get_platform_display(platform: u32, native: usize, attributes: &[(i32, i32)]) -> EglResult<usize> {
    let kind = i32::try_from(platform);
    // One X connection has all screens; windows on any of them are found by their numbers.
    let knows = |name: i32| match kind {
        Ok(e::PLATFORM_X11_KHR) => name == e::PLATFORM_X11_SCREEN_KHR,
        Ok(e::PLATFORM_XCB_EXT) => name == e::PLATFORM_XCB_SCREEN_EXT,
        _ => false,
    };
    if attributes.iter().any(|(name, _)| !knows(*name)) {
        return fail(e::BAD_ATTRIBUTE, "the platform has no such attributes");
    }
    let platform = match kind {
        Ok(e::PLATFORM_X11_KHR) => return Ok(display::get(Platform::Xlib(native)).handle()),
        Ok(e::PLATFORM_XCB_EXT) => return Ok(display::get(Platform::Xcb(native)).handle()),
        Ok(e::PLATFORM_WAYLAND_KHR) => return Ok(display::get(Platform::Wayland(native)).handle()),
        Ok(e::NONE) => Platform::Default,
        Ok(e::PLATFORM_SURFACELESS_MESA) => Platform::Surfaceless,
        Ok(e::PLATFORM_DEVICE_EXT) => {
            // EGL_EXT_platform_device: a bad handle is EGL_BAD_PARAMETER here.
            let Ok(index) = device::index(native) else {
                return fail(e::BAD_PARAMETER, format!("{native:#x} is no device"));
            };
            return Ok(display::get(Platform::Device(index)).handle());
        }
        _ => return fail(e::BAD_PARAMETER, format!("platform {platform:#x} is not supported")),
    };
    if native != 0 {
        return fail(e::BAD_PARAMETER, "the platform only has EGL_DEFAULT_DISPLAY");
    }
    Ok(display::get(platform).handle())
}

/// Any exported function by name.
pub(crate) fn get_proc_address(name: &CStr) -> *const () {
    if name.to_bytes().starts_with(b"egl") {
        super::egl_proc(name)
    } else {
        gl_proc(name)
    }
}

/// EGL_KHR_swap_buffers_with_damage: the rectangles are a hint, which compositors get.
fn swap_with_damage(dpy: usize, surface: usize, rects: *const i32, count: i32) -> EglResult<u32> {
    if count < 0 || (count > 0 && rects.is_null()) {
        return fail(e::BAD_PARAMETER, format!("{count} rectangles"));
    }
    // More rectangles than that cost more than they spare.
    let mut damage = Vec::new();
    for i in 0..usize::try_from(count).ok().filter(|&count| count <= MAX_DAMAGE).unwrap_or(0) {
        // SAFETY: the application passes `count` rectangles of four numbers each.
        damage.push(unsafe { rects.cast::<[i32; 4]>().add(i).read_unaligned() });
    }
    window::swap(display::from_handle(dpy)?, surface, &damage)?;
    Ok(1)
}

fn no_texture_binding(dpy: usize, surface: usize, buffer: i32) -> EglResult<u32> {
    display::from_handle(dpy)?.surface(surface)?;
    if buffer != e::BACK_BUFFER {
        return fail(e::BAD_PARAMETER, format!("{buffer:#x} is no buffer of a surface"));
    }
    // EGL 1.5 §3.6.1: the surface's EGL_TEXTURE_FORMAT is EGL_NO_TEXTURE.
    fail(e::BAD_MATCH, "the surface has no texture format")
}

fn finish_current() -> EglResult<u32> {
    if let Some(current) = thread::current() {
        thread::with_context(&current, |gl| gl.finish())?;
    }
    Ok(1)
}

/// Reads a list of name/value pairs. Values that do not fit 32 bits become `EGL_DONT_CARE`'s neighbours, which no
/// attribute accepts.
///
/// # Safety
///
/// `list` is null or an array that ends with `EGL_NONE` at an even place.
pub(crate) unsafe fn pairs<T: Copy + Into<Wide>>(list: *const T) -> EglResult<Vec<(i32, i32)>> {
    let mut out = Vec::new();
    if list.is_null() {
        return Ok(out);
    }
    for i in 0..MAX_ATTRIBUTES {
        // SAFETY: no EGL_NONE was seen before place 2·i, so the caller's array reaches it.
        let Wide(name) = unsafe { list.add(2 * i).read() }.into();
        if name == e::NONE as isize {
            return Ok(out);
        }
        // SAFETY: a name that is not the end is followed by its value.
        let Wide(value) = unsafe { list.add(2 * i + 1).read() }.into();
        let narrow = |v: isize| i32::try_from(v).unwrap_or(i32::MIN);
        out.push((narrow(name), narrow(value)));
    }
    fail(e::BAD_ATTRIBUTE, "an attribute list without an end")
}

/// The common width of `EGLint` and `EGLAttrib`.
pub(crate) struct Wide(isize);

impl From<i32> for Wide {
    fn from(v: i32) -> Wide {
        Wide(v as isize)
    }
}

impl From<isize> for Wide {
    fn from(v: isize) -> Wide {
        Wide(v)
    }
}

/// Writes through an optional pointer.
///
/// # Safety
///
/// `out` is null or valid for a write.
unsafe fn write<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: by the contract.
        unsafe { out.write(value) };
    }
}

/// Writes through a pointer that must be there.
///
/// # Safety
///
/// `out` is null or valid for a write.
unsafe fn write_required<T>(out: *mut T, value: T) -> EglResult<u32> {
    if out.is_null() {
        return fail(e::BAD_PARAMETER, "no variable to write to");
    }
    // SAFETY: by the contract and the check.
    unsafe { out.write(value) };
    Ok(1)
}

/// Writes as many of `values` as there is room for, and their number. Without `out` the number of all of them.
///
/// # Safety
///
/// `out` is null or valid for `size` writes, `count` is valid for one.
unsafe fn write_list(values: &[usize], out: *mut usize, size: i32, count: *mut i32) {
    let mut written = values.len();
    if !out.is_null() {
        written = written.min(usize::try_from(size).unwrap_or(0));
        for (i, value) in values.iter().take(written).enumerate() {
            // SAFETY: `i` is below `size`.
            unsafe { out.add(i).write(*value) };
        }
    }
    // SAFETY: by the contract.
    unsafe { count.write(i32::try_from(written).unwrap_or(i32::MAX)) };
}

/// # Safety
///
/// As [`write_list`], but `count` may be null.
unsafe fn write_configs(configs: &[config::Config], out: *mut usize, size: i32, count: *mut i32) -> EglResult<u32> {
    if count.is_null() {
        return fail(e::BAD_PARAMETER, "no variable for the number of configs");
    }
    let handles: Vec<usize> = configs.iter().filter_map(|c| usize::try_from(c.id).ok()).collect();
    // SAFETY: by the contract and the check.
    unsafe { write_list(&handles, out, size, count) };
    Ok(1)
}
