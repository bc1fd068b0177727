//! The GLX functions as C sees them: pointers become slices, the work is done elsewhere.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void, CStr};

use super::config::{self, FbConfig};
use super::connection::{self, Connection};
use super::drawable::{self, Kind};
use super::error::{fail, guard, minor, quietly, Code, GlxResult};
use super::xlib::{xlib, Dpy, XVisualInfo, Xid};
use super::{choose, context, current, enums as g, strings, swap};
use crate::egl::thread;
use crate::entry::Proc;

/// Attribute lists longer than this are treated as unterminated.
const MAX_ATTRIBUTES: usize = 256;

/// Declares the exported functions and the table behind `glXGetProcAddress` from one list.
macro_rules! glx_functions {
    ($($local:ident = $export:literal ($($arg:ident: $ty:ty),*) -> $ret:ty $body:block)*) => {
        $(
            #[doc = concat!("`", $export, "` of GLX.")]
            ///
            /// # Safety
            ///
            /// A display is an open one of Xlib; other pointers are null or point to what GLX says: lists that end with
            /// zero, variables to write.
            #[export_name = $export]
            pub unsafe extern "C" fn $local($($arg: $ty),*) -> $ret {
                #[allow(unused_imports)]
                use std::result::Result::Ok;
                $body
            }
        )*

        /// Every exported GLX function.
        pub static PROCS: &[Proc] = &[$(Proc::new($export, $local as *const ())),*];
    };
}

glx_functions! {
    // The extension itself.
    c_query_extension = "glXQueryExtension" (dpy: Dpy, error: *mut c_int, event: *mut c_int) -> c_int {
        quietly("glXQueryExtension", || {
            connection::get(dpy)?;
            let found = xlib().and_then(|xlib| xlib.extension(dpy, c"GLX"));
            let (_, first_event, first_error) = found.unwrap_or_default();
            // SAFETY: null or variables of the application.
            unsafe {
                write(error, first_error);
                write(event, first_event);
            }
            Ok(1)
        })
    }
    c_query_version = "glXQueryVersion" (_dpy: Dpy, major: *mut c_int, minor_version: *mut c_int) -> c_int {
        // SAFETY: null or variables of the application.
        unsafe {
            write(major, 1);
            write(minor_version, 4);
        }
        1
    }
    c_get_client_string = "glXGetClientString" (_dpy: Dpy, name: c_int) -> *const c_char {
        string(name)
    }
    c_query_server_string = "glXQueryServerString" (dpy: Dpy, screen: c_int, name: c_int) -> *const c_char {
        guard("glXQueryServerString", dpy, minor::QUERY_SERVER_STRING, || {
            connection::get(dpy)?.check_screen(screen)?;
            Ok(string(name))
        })
    }
    c_query_extensions_string = "glXQueryExtensionsString" (dpy: Dpy, screen: c_int) -> *const c_char {
        quietly("glXQueryExtensionsString", || {
            connection::get(dpy)?.check_screen(screen)?;
            Ok(strings::EXTENSIONS.as_ptr())
        })
    }
    c_get_proc_address = "glXGetProcAddress" (name: *const c_char) -> *const () {
        proc_address(name)
    }
    c_get_proc_address_arb = "glXGetProcAddressARB" (name: *const c_char) -> *const () {
        proc_address(name)
    }

    // Configs.
    c_get_fb_configs = "glXGetFBConfigs" (dpy: Dpy, screen: c_int, count: *mut c_int) -> *mut usize {
        quietly("glXGetFBConfigs", || {
            let all: Vec<&FbConfig> = connection::get(dpy)?.configs(screen)?.iter().collect();
            // SAFETY: null or a variable of the application.
            unsafe { config_array(&all, count) }
        })
    }
    c_choose_fb_config = "glXChooseFBConfig"
        (dpy: Dpy, screen: c_int, list: *const c_int, count: *mut c_int) -> *mut usize {
        quietly("glXChooseFBConfig", || {
            let configs = connection::get(dpy)?.configs(screen)?;
            // SAFETY: null or a list that ends with zero.
            let wanted = unsafe { pairs(list) }?;
            let Some(chosen) = choose::choose(configs, &wanted) else {
                return fail(Code::Value, format!("an attribute or value of {wanted:x?} is unknown"));
            };
            // SAFETY: null or a variable of the application.
            unsafe { config_array(&chosen, count) }
        })
    }
    c_get_fb_config_attrib = "glXGetFBConfigAttrib"
        (_dpy: Dpy, config: usize, attribute: c_int, value: *mut c_int) -> c_int {
        // The errors of this function are its answers.
        let Ok(config) = config::from_handle(config) else { return g::BAD_VALUE };
        let Some(answer) = config.attribute(attribute) else { return g::BAD_ATTRIBUTE };
        // SAFETY: null or a variable of the application.
        unsafe { write(value, answer) };
        0
    }
    c_get_visual_from_fb_config = "glXGetVisualFromFBConfig" (dpy: Dpy, config: usize) -> *mut XVisualInfo {
        guard("glXGetVisualFromFBConfig", dpy, minor::GET_FB_CONFIGS, || {
            let config = config::from_handle(config)?;
            Ok(visual_of(dpy, config))
        })
    }
    c_choose_visual = "glXChooseVisual" (dpy: Dpy, screen: c_int, list: *mut c_int) -> *mut XVisualInfo {
        quietly("glXChooseVisual", || {
            let connection = connection::get(dpy)?;
            let configs = connection.configs(screen)?;
            // SAFETY: null or a list that ends with zero.
            let wanted = choose::visual_attributes(&unsafe { words(list) }?);
            let chosen = wanted.and_then(|wanted| choose::choose(configs, &wanted)).unwrap_or_default();
            let Some(config) = chosen.into_iter().find(|c| c.visual.is_some()) else {
                return Ok(std::ptr::null_mut());
            };
            connection.choose(config)?;
            Ok(visual_of(dpy, config))
        })
    }
    c_get_config = "glXGetConfig"
        (dpy: Dpy, visual: *const XVisualInfo, attribute: c_int, value: *mut c_int) -> c_int {
        quietly("glXGetConfig", || {
            // SAFETY: null or what Xlib gave the application.
            let Some(visual) = (unsafe { visual.as_ref() }) else { return Ok(g::BAD_VISUAL) };
            let Ok(found) = connection::get(dpy)?.config_of_visual(visual.screen, visual.id) else {
                return Ok(g::BAD_SCREEN);
            };
            let answer = match found {
                Some(config) => config.visual_attribute(attribute),
                // GLX 1.4 §3.3.3: a visual without OpenGL has no attribute but this one.
                None if attribute == g::USE_GL => Some(0),
                None => return Ok(g::BAD_VISUAL),
            };
            let Some(answer) = answer else { return Ok(g::BAD_ATTRIBUTE) };
            // SAFETY: null or a variable of the application.
            unsafe { write(value, answer) };
            Ok(0)
        })
    }

    // Contexts.
    c_create_context = "glXCreateContext"
        (dpy: Dpy, visual: *const XVisualInfo, share: usize, _direct: c_int) -> usize {
        guard("glXCreateContext", dpy, minor::CREATE_CONTEXT, || {
            // SAFETY: null or what Xlib gave the application.
            let Some(visual) = (unsafe { visual.as_ref() }) else { return fail(Code::Value, "no visual") };
            let Some(config) = connection::get(dpy)?.config_of_visual(visual.screen, visual.id)? else {
                return fail(Code::Value, format!("visual {:#x} has no OpenGL", visual.id));
            };
            context::create(Some(config), config.screen, share, &[])
        })
    }
    c_create_new_context = "glXCreateNewContext"
        (dpy: Dpy, config: usize, kind: c_int, share: usize, _direct: c_int) -> usize {
        guard("glXCreateNewContext", dpy, minor::CREATE_NEW_CONTEXT, || {
            connection::get(dpy)?;
            let config = config::from_handle(config)?;
            context::create(Some(config), config.screen, share, &[(g::RENDER_TYPE, kind)])
        })
    }
    c_create_context_attribs = "glXCreateContextAttribsARB"
        (dpy: Dpy, config: usize, share: usize, _direct: c_int, list: *const c_int) -> usize {
        guard("glXCreateContextAttribsARB", dpy, minor::CREATE_CONTEXT_ATTRIBS, || {
            let connection = connection::get(dpy)?;
            // SAFETY: null or a list that ends with zero.
            let wanted = unsafe { pairs(list) }?;
            if config != 0 {
                let config = config::from_handle(config)?;
                return context::create(Some(config), config.screen, share, &wanted);
            }
            // GLX_EXT_no_config_context: the screen is an attribute, and it has to be there.
            let Some(&(_, screen)) = wanted.iter().find(|(name, _)| *name == g::SCREEN) else {
                return fail(Code::Value, "neither a config nor a screen");
            };
            connection.check_screen(screen)?;
            context::create(None, screen, share, &wanted)
        })
    }
    c_destroy_context = "glXDestroyContext" (dpy: Dpy, context: usize) -> () {
        guard("glXDestroyContext", dpy, minor::DESTROY_CONTEXT, || context::destroy(context))
    }
    c_copy_context = "glXCopyContext" (dpy: Dpy, source: usize, target: usize, _mask: c_ulong) -> () {
        guard("glXCopyContext", dpy, minor::COPY_CONTEXT, || context::copy(source, target))
    }
    c_is_direct = "glXIsDirect" (dpy: Dpy, context: usize) -> c_int {
        guard("glXIsDirect", dpy, minor::IS_DIRECT, || context::get(context).map(|_| 1))
    }
    c_query_context = "glXQueryContext" (dpy: Dpy, context: usize, attribute: c_int, value: *mut c_int) -> c_int {
        guard("glXQueryContext", dpy, minor::QUERY_CONTEXT, || {
            let Some(answer) = context::query(context, attribute)? else { return Ok(g::BAD_ATTRIBUTE) };
            // SAFETY: null or a variable of the application.
            unsafe { write(value, answer) };
            Ok(0)
        })
    }
    c_make_current = "glXMakeCurrent" (dpy: Dpy, drawable: Xid, context: usize) -> c_int {
        guard("glXMakeCurrent", dpy, minor::MAKE_CURRENT, || {
            current::make_current(dpy, drawable, drawable, context).map(|()| 1)
        })
    }
    c_make_context_current = "glXMakeContextCurrent" (dpy: Dpy, draw: Xid, read: Xid, context: usize) -> c_int {
        guard("glXMakeContextCurrent", dpy, minor::MAKE_CONTEXT_CURRENT, || {
            current::make_current(dpy, draw, read, context).map(|()| 1)
        })
    }
    c_get_current_context = "glXGetCurrentContext" () -> usize {
        current::current().map_or(0, |(_, binding)| binding.context.handle())
    }
    c_get_current_display = "glXGetCurrentDisplay" () -> usize {
        current::current().map_or(0, |(_, binding)| binding.dpy)
    }
    c_get_current_drawable = "glXGetCurrentDrawable" () -> Xid {
        current::current().map_or(0, |(_, binding)| binding.ids.0)
    }
    c_get_current_read_drawable = "glXGetCurrentReadDrawable" () -> Xid {
        current::current().map_or(0, |(_, binding)| binding.ids.1)
    }

    // Drawables.
    c_create_window = "glXCreateWindow" (dpy: Dpy, config: usize, window: Xid, list: *const c_int) -> Xid {
        guard("glXCreateWindow", dpy, minor::CREATE_WINDOW, || {
            let config = config::from_handle(config)?;
            // SAFETY: null or a list that ends with zero.
            drawable::create_window(connection::get(dpy)?.as_ref(), config, window, &unsafe { pairs(list) }?)
        })
    }
    c_destroy_window = "glXDestroyWindow" (dpy: Dpy, window: Xid) -> () {
        guard("glXDestroyWindow", dpy, minor::DESTROY_WINDOW, || {
            let is = |kind| matches!(kind, Kind::Window(_));
            drawable::destroy(connection::get(dpy)?.as_ref(), window, Code::GlxWindow, is)
        })
    }
    c_create_pixmap = "glXCreatePixmap" (dpy: Dpy, config: usize, pixmap: Xid, _list: *const c_int) -> Xid {
        guard("glXCreatePixmap", dpy, minor::CREATE_PIXMAP, || {
            config::from_handle(config)?;
            drawable::create_pixmap(connection::get(dpy)?.as_ref(), pixmap)
        })
    }
    c_destroy_pixmap = "glXDestroyPixmap" (dpy: Dpy, pixmap: Xid) -> () {
        guard("glXDestroyPixmap", dpy, minor::DESTROY_PIXMAP, || {
            drawable::destroy(connection::get(dpy)?.as_ref(), pixmap, Code::GlxPixmap, |_| false)
        })
    }
    c_create_glx_pixmap = "glXCreateGLXPixmap" (dpy: Dpy, visual: *const XVisualInfo, pixmap: Xid) -> Xid {
        guard("glXCreateGLXPixmap", dpy, minor::CREATE_GLX_PIXMAP, || {
            let connection = connection::get(dpy)?;
            // SAFETY: null or what Xlib gave the application.
            let Some(visual) = (unsafe { visual.as_ref() }) else { return fail(Code::Value, "no visual") };
            if connection.config_of_visual(visual.screen, visual.id)?.is_none() {
                return fail(Code::Value, format!("visual {:#x} has no OpenGL", visual.id));
            }
            drawable::create_pixmap(&connection, pixmap)
        })
    }
    c_destroy_glx_pixmap = "glXDestroyGLXPixmap" (dpy: Dpy, pixmap: Xid) -> () {
        guard("glXDestroyGLXPixmap", dpy, minor::DESTROY_GLX_PIXMAP, || {
            drawable::destroy(connection::get(dpy)?.as_ref(), pixmap, Code::GlxPixmap, |_| false)
        })
    }
    c_create_pbuffer = "glXCreatePbuffer" (dpy: Dpy, config: usize, list: *const c_int) -> Xid {
        guard("glXCreatePbuffer", dpy, minor::CREATE_PBUFFER, || {
            let config = config::from_handle(config)?;
            // SAFETY: null or a list that ends with zero.
            drawable::create_pbuffer(connection::get(dpy)?.as_ref(), config, &unsafe { pairs(list) }?)
        })
    }
    c_destroy_pbuffer = "glXDestroyPbuffer" (dpy: Dpy, pbuffer: Xid) -> () {
        guard("glXDestroyPbuffer", dpy, minor::DESTROY_PBUFFER, || {
            let is = |kind| matches!(kind, Kind::Pbuffer { .. });
            drawable::destroy(connection::get(dpy)?.as_ref(), pbuffer, Code::GlxPbuffer, is)
        })
    }
    c_query_drawable = "glXQueryDrawable" (dpy: Dpy, id: Xid, attribute: c_int, value: *mut c_uint) -> () {
        guard("glXQueryDrawable", dpy, minor::GET_DRAWABLE_ATTRIBUTES, || {
            if let Some(answer) = drawable::query(connection::get(dpy)?.as_ref(), id, attribute)? {
                // SAFETY: null or a variable of the application.
                unsafe { write(value, answer) };
            }
            Ok(())
        })
    }
    c_select_event = "glXSelectEvent" (dpy: Dpy, id: Xid, mask: c_ulong) -> () {
        guard("glXSelectEvent", dpy, minor::CHANGE_DRAWABLE_ATTRIBUTES, || {
            drawable::select_events(connection::get(dpy)?.as_ref(), id, mask)
        })
    }
    c_get_selected_event = "glXGetSelectedEvent" (dpy: Dpy, id: Xid, mask: *mut c_ulong) -> () {
        guard("glXGetSelectedEvent", dpy, minor::GET_DRAWABLE_ATTRIBUTES, || {
            let answer = drawable::selected_events(connection::get(dpy)?.as_ref(), id)?;
            // SAFETY: null or a variable of the application.
            unsafe { write(mask, answer) };
            Ok(())
        })
    }

    // Frames and order.
    c_swap_buffers = "glXSwapBuffers" (dpy: Dpy, id: Xid) -> () {
        guard("glXSwapBuffers", dpy, minor::SWAP_BUFFERS, || swap::swap_buffers(connection::get(dpy)?.as_ref(), id))
    }
    c_swap_interval_ext = "glXSwapIntervalEXT" (dpy: Dpy, id: Xid, interval: c_int) -> () {
        guard("glXSwapIntervalEXT", dpy, minor::VENDOR_PRIVATE, || {
            swap::set_interval(connection::get(dpy)?.as_ref(), id, interval)
        })
    }
    c_swap_interval_sgi = "glXSwapIntervalSGI" (interval: c_int) -> c_int {
        quietly("glXSwapIntervalSGI", || Ok(swap::set_current_interval(interval, 1)))
    }
    c_swap_interval_mesa = "glXSwapIntervalMESA" (interval: c_uint) -> c_int {
        quietly("glXSwapIntervalMESA", || {
            Ok(swap::set_current_interval(c_int::try_from(interval).unwrap_or(-1), 0))
        })
    }
    c_get_swap_interval_mesa = "glXGetSwapIntervalMESA" () -> c_int {
        quietly("glXGetSwapIntervalMESA", || Ok(swap::current_interval()))
    }
    c_wait_gl = "glXWaitGL" () -> () {
        wait("glXWaitGL", minor::WAIT_GL, |current, _| Ok(thread::with_context(current, |gl| gl.finish())?))
    }
    c_wait_x = "glXWaitX" () -> () {
        wait("glXWaitX", minor::WAIT_X, |_, dpy| {
            if let Some(xlib) = xlib() {
                xlib.sync(dpy);
            }
            Ok(())
        })
    }
    c_use_x_font = "glXUseXFont" (_font: Xid, _first: c_int, _count: c_int, _list: c_int) -> () {
        wait("glXUseXFont", minor::USE_X_FONT, |current, _| {
            let text = "glXUseXFont: display lists are not part of the core profile";
            let invalid = mgpipe_types::gl::INVALID_OPERATION;
            Ok(thread::with_context(current, |gl| gl.record_error(invalid, text))?)
        })
    }
}

fn string(name: c_int) -> *const c_char {
    match name {
        g::VENDOR => strings::VENDOR.as_ptr(),
        g::VERSION => strings::VERSION.as_ptr(),
        g::EXTENSIONS => strings::EXTENSIONS.as_ptr(),
        _ => std::ptr::null(),
    }
}

fn proc_address(name: *const c_char) -> *const () {
    if name.is_null() {
        return std::ptr::null();
    }
    // SAFETY: a terminated string of the application.
    super::get_proc_address(unsafe { CStr::from_ptr(name) })
}

/// Runs what concerns the current context and its connection; without one nothing happens.
fn wait(name: &'static str, minor: u8, call: impl FnOnce(&thread::Current, Dpy) -> GlxResult<()>) {
    if let Some((current, binding)) = current::current() {
        let dpy = binding.dpy as Dpy;
        guard(name, dpy, minor, || call(&current, dpy));
    }
}

/// The visual of a config for the application to free, null when it has none.
fn visual_of(dpy: Dpy, config: &FbConfig) -> *mut XVisualInfo {
    match (config.visual, xlib()) {
        (Some(visual), Some(xlib)) => xlib.visual(dpy, config.screen, visual.id),
        _ => std::ptr::null_mut(),
    }
}

impl Connection {
    fn check_screen(&self, screen: c_int) -> GlxResult<()> {
        if self.has_screen(screen) {
            return Ok(());
        }
        fail(Code::Value, format!("there is no screen {screen}"))
    }
}

extern "C" {
    fn malloc(size: usize) -> *mut c_void;
}

/// An array of handles for `XFree`, and its length; null when it is empty.
///
/// # Safety
///
/// `count` is null or valid for a write.
unsafe fn config_array(configs: &[&FbConfig], count: *mut c_int) -> GlxResult<*mut usize> {
    let mut array: *mut usize = std::ptr::null_mut();
    if !configs.is_empty() {
        // SAFETY: no precondition.
        array = unsafe { malloc(size_of_val(configs)) }.cast();
        if array.is_null() {
            return fail(Code::Alloc, "no memory");
        }
        for (i, config) in configs.iter().enumerate() {
            // SAFETY: handles are as large as references, and the array has room for all of them.
            unsafe { array.add(i).write(config.handle()) };
        }
    }
    // SAFETY: by the contract.
    unsafe { write(count, c_int::try_from(configs.len()).unwrap_or(c_int::MAX)) };
    Ok(array)
}

/// Reads a list of `glXChooseVisual`, with the zero that ends it.
///
/// # Safety
///
/// `list` is null or an array in which a zero stands in the place of a name.
unsafe fn words(list: *const c_int) -> GlxResult<Vec<i32>> {
    let mut out = Vec::new();
    if list.is_null() {
        return Ok(out);
    }
    for i in 0..2 * MAX_ATTRIBUTES {
        // SAFETY: the zero that ends the list was not seen before place `i`, so the caller's array reaches it.
        let word = unsafe { list.add(i).read() };
        out.push(word);
        if word == 0 && ends(&out) {
            return Ok(out);
        }
    }
    fail(Code::Value, "an attribute list without an end")
}

/// Whether the zero at the end of what was read so far of a list of `glXChooseVisual` is its end and no value.
fn ends(words: &[i32]) -> bool {
    let mut rest = words.iter();
    while let Some(&name) = rest.next() {
        match name {
            0 => return true,
            g::USE_GL | g::RGBA | g::DOUBLEBUFFER | g::STEREO => {}
            _ => {
                if rest.next().is_none() {
                    return false;
                }
            }
        }
    }
    false
}

/// Reads a list of name/value pairs.
///
/// # Safety
///
/// `list` is null or an array that ends with zero at an even place.
unsafe fn pairs(list: *const c_int) -> GlxResult<Vec<(i32, i32)>> {
    let mut out = Vec::new();
    if list.is_null() {
        return Ok(out);
    }
    for i in 0..MAX_ATTRIBUTES {
        // SAFETY: no zero was seen as a name before place 2·i, so the caller's array reaches it.
        let name = unsafe { list.add(2 * i).read() };
        if name == 0 {
            return Ok(out);
        }
        // SAFETY: a name that is not the end is followed by its value.
        out.push((name, unsafe { list.add(2 * i + 1).read() }));
    }
    fail(Code::Value, "an attribute list without an end")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_at_the_zero_that_is_no_value() {
        let list = [g::RGBA, g::ALPHA_SIZE, 0, g::DOUBLEBUFFER, 0, 77];
        // SAFETY: the list ends at its fifth place.
        let read = unsafe { words(list.as_ptr()) }.expect("it ends");
        assert_eq!(read, list[..5]);
        // SAFETY: a terminated list of pairs, and null.
        unsafe {
            assert_eq!(pairs([g::RED_SIZE, 0, g::DEPTH_SIZE, 24, 0].as_ptr()).expect("it ends").len(), 2);
            assert_eq!(pairs(std::ptr::null()), Ok(Vec::new()));
        }
    }

    #[test]
    fn every_function_of_glx_1_4_is_there() {
        assert_eq!(PROCS.len(), 45);
        for name in [c"glXMakeContextCurrent", c"glXUseXFont", c"glXGetProcAddressARB", c"glXSelectEvent"] {
            assert!(!super::super::glx_proc(name).is_null(), "{name:?}");
        }
    }
}
