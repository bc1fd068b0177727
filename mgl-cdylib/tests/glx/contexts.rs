//! Contexts: versions, profiles, errors, sharing.

use crate::glx::*;
use crate::ways;
use crate::xlib::*;

const VERSIONS: [(i32, i32); 19] = [
    (1, 0),
    (1, 1),
    (1, 2),
    (1, 3),
    (1, 4),
    (1, 5),
    (2, 0),
    (2, 1),
    (3, 0),
    (3, 1),
    (3, 2),
    (3, 3),
    (4, 0),
    (4, 1),
    (4, 2),
    (4, 3),
    (4, 4),
    (4, 5),
    (4, 6),
];

/// Version and profile that a current context says it has.
fn version(glx: &Glx) -> (i32, i32) {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the function's type, variables to write, and a context is current.
    unsafe {
        let get: unsafe extern "C" fn(u32, *mut i32) = glx.proc(c"glGetIntegerv");
        get(0x821b, &mut major);
        get(0x821c, &mut minor);
    }
    (major, minor)
}

#[test]
fn versions_are_given_or_refused_as_specified() {
    ways::both("contexts::versions_are_given_or_refused_as_specified", || {
        let glx = Glx::load();
        let config = glx.config();
        let pbuffer = glx.pbuffer(config, 8, 8);
        for (major, minor) in VERSIONS {
            let context = glx.try_context(config, 0, &[MAJOR, major, MINOR, minor]);
            if (major, minor) > (3, 3) {
                assert_eq!(context, 0, "{major}.{minor}");
                glx.expect_glx(GLX_BAD_FB_CONFIG);
                continue;
            }
            assert_ne!(context, 0, "{major}.{minor}");
            // SAFETY: handles of this display.
            unsafe {
                assert_eq!((glx.make_current)(glx.dpy, pbuffer, context), 1);
                assert!(version(&glx) >= (major, minor), "{major}.{minor} became {:?}", version(&glx));
                assert_eq!((glx.make_current)(glx.dpy, 0, 0), 1);
                (glx.destroy_context)(glx.dpy, context);
            }
            glx.expect(0);
        }
        for (list, error) in [
            (&[MAJOR, 3, MINOR, 4][..], BAD_MATCH),
            (&[MAJOR, 5], BAD_MATCH),
            (&[MAJOR, 2, MINOR, 1, FLAGS, 2], BAD_MATCH),
            (&[RENDER_TYPE, RGBA_TYPE + 1], BAD_MATCH),
            (&[FLAGS, 0x80], BAD_VALUE),
            (&[0x7777, 1], BAD_VALUE),
        ] {
            assert_eq!(glx.try_context(config, 0, list), 0, "{list:?}");
            glx.expect(error);
        }
        for profile in [0, 2, 3, 4] {
            assert_eq!(glx.try_context(config, 0, &[MAJOR, 3, MINOR, 3, PROFILE, profile]), 0);
            glx.expect_glx(GLX_BAD_PROFILE);
        }
        assert_eq!(glx.try_context(config, 4711, &[]), 0);
        glx.expect_glx(GLX_BAD_CONTEXT);
    });
}

#[test]
fn old_functions_make_core_contexts() {
    ways::both("contexts::old_functions_make_core_contexts", || {
        let glx = Glx::load();
        let config = glx.config();
        // SAFETY: terminated lists, handles of this display, and visuals that are freed with XFree.
        unsafe {
            let mut list = [RGBA, DOUBLEBUFFER, DEPTH_SIZE, 1, 0];
            let visual = (glx.choose_visual)(glx.dpy, 0, list.as_mut_ptr());
            assert!(!visual.is_null());
            let first = (glx.create_context)(glx.dpy, visual, 0, 1);
            let second = (glx.create_new_context)(glx.dpy, config, RGBA_TYPE, 0, 0);
            assert!(first != 0 && second != 0);
            for context in [first, second] {
                assert_eq!((glx.is_direct)(glx.dpy, context), 1);
                let mut value = 0;
                assert_eq!((glx.query_context)(glx.dpy, context, SCREEN, &mut value), 0);
                assert_eq!(value, 0);
                assert_eq!((glx.query_context)(glx.dpy, context, RENDER_TYPE, &mut value), 0);
                assert_eq!(value, RGBA_TYPE);
                assert_eq!((glx.query_context)(glx.dpy, context, 0x7777, &mut value), 2, "GLX_BAD_ATTRIBUTE");
            }
            let mut value = 0;
            assert_eq!((glx.query_context)(glx.dpy, second, FBCONFIG_ID, &mut value), 0);
            assert_eq!(value, glx.value(config, FBCONFIG_ID));
            glx.expect(0);
            (glx.copy_context)(glx.dpy, first, second, 1);
            glx.expect(BAD_IMPLEMENTATION);
            assert_eq!((glx.create_new_context)(glx.dpy, config, 77, 0, 1), 0);
            glx.expect(BAD_VALUE);
            (glx.x.free)(visual.cast());
        }
    });
}

#[test]
fn a_switch_refuses_old_contexts() {
    let refuse = [("MGL_LEGACY_CONTEXTS", "refuse")];
    ways::both_with("contexts::a_switch_refuses_old_contexts", &refuse, || {
        let glx = Glx::load();
        let config = glx.config();
        // SAFETY: handles of this display.
        assert_eq!(unsafe { (glx.create_new_context)(glx.dpy, config, RGBA_TYPE, 0, 1) }, 0);
        glx.expect_glx(GLX_BAD_FB_CONFIG);
        assert_eq!(glx.try_context(config, 0, &[MAJOR, 2, MINOR, 1]), 0);
        glx.expect_glx(GLX_BAD_FB_CONFIG);
        assert_ne!(glx.context(config, 0), 0);
    });
}

#[test]
fn errors_of_making_current() {
    ways::both("contexts::errors_of_making_current", || {
        let glx = Glx::load();
        let config = glx.config();
        let context = glx.context(config, 0);
        let pbuffer = glx.pbuffer(config, 8, 8);
        // SAFETY: handles of this display, or numbers that are none, which are looked up.
        unsafe {
            assert_eq!((glx.make_current)(glx.dpy, pbuffer, 4711), 0);
            glx.expect_glx(GLX_BAD_CONTEXT);
            assert_eq!((glx.make_current)(glx.dpy, 0x123_4567, context), 0);
            glx.expect_glx(GLX_BAD_DRAWABLE);
            assert_eq!((glx.make_context_current)(glx.dpy, pbuffer, 0, context), 0);
            glx.expect(BAD_MATCH);
            assert_eq!((glx.make_current)(glx.dpy, pbuffer, 0), 0);
            glx.expect(BAD_MATCH);
            let old = glx.try_context(config, 0, &[MAJOR, 2, MINOR, 1]);
            assert_eq!((glx.make_current)(glx.dpy, 0, old), 0);
            glx.expect(BAD_MATCH);
            let other = glx.choose(&[DRAWABLE_TYPE, PBUFFER_BIT, SAMPLES, 4]).expect("a multisampled config")[0];
            let fine = glx.pbuffer(other, 8, 8);
            assert_eq!((glx.make_current)(glx.dpy, fine, context), 0, "another kind of buffers");
            glx.expect(BAD_MATCH);
            assert_eq!((glx.current_context)(), 0);
            // A context of version 3 needs no drawable.
            assert_eq!((glx.make_current)(glx.dpy, 0, context), 1);
            assert_eq!(((glx.current_context)(), (glx.current_drawable)()), (context, 0));
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    assert_eq!((glx.make_current)(glx.dpy, pbuffer, context), 0, "it is current on another thread");
                    glx.expect(BAD_ACCESS);
                });
            });
            // What is destroyed lives as long as it is current.
            (glx.destroy_context)(glx.dpy, context);
            assert_eq!(glx.gl_error(), 0);
            assert_eq!((glx.make_current)(glx.dpy, 0, 0), 1);
            glx.expect(0);
            assert_eq!((glx.make_current)(glx.dpy, pbuffer, context), 0);
            glx.expect_glx(GLX_BAD_CONTEXT);
        }
    });
}

#[test]
fn objects_are_shared() {
    ways::both("contexts::objects_are_shared", || {
        let glx = Glx::load();
        let config = glx.config();
        let pbuffer = glx.pbuffer(config, 8, 8);
        let first = glx.context(config, 0);
        let (second, apart) = (glx.context(config, first), glx.context(config, 0));
        // SAFETY: the functions' types, and handles of this display.
        unsafe {
            let gen: unsafe extern "C" fn(i32, *mut u32) = glx.proc(c"glGenTextures");
            let bind: unsafe extern "C" fn(u32, u32) = glx.proc(c"glBindTexture");
            let is: unsafe extern "C" fn(u32) -> u8 = glx.proc(c"glIsTexture");
            let mut name = 0;
            assert_eq!((glx.make_current)(glx.dpy, pbuffer, first), 1);
            gen(1, &mut name);
            bind(0x0de1, name);
            assert_eq!((glx.make_current)(glx.dpy, pbuffer, second), 1);
            assert_eq!(is(name), 1);
            assert_eq!((glx.make_current)(glx.dpy, pbuffer, apart), 1);
            assert_eq!(is(name), 0);
            // Display lists are not there; the error is GL's.
            (glx.use_x_font)(1, 0, 1, 1);
            assert_eq!(glx.gl_error(), 0x0502);
            (glx.wait_gl)();
            (glx.wait_x)();
            assert_eq!(glx.gl_error(), 0);
        }
        glx.expect(0);
    });
}

#[test]
fn egl_and_glx_do_not_take_a_thread_from_each_other() {
    ways::both("contexts::egl_and_glx_do_not_take_a_thread_from_each_other", || {
        // libglvnd answers itself when both are used on a thread.
        if ways::libgl() != ways::library_path() {
            return;
        }
        let glx = Glx::load();
        let config = glx.config();
        let context = glx.context(config, 0);
        let pbuffer = glx.pbuffer(config, 8, 8);
        // SAFETY: the library's initialisers do nothing, and the types are those of egl.h.
        unsafe {
            let library = libloading::Library::new(ways::library_path()).expect("it is loaded already");
            let get_display: unsafe extern "C" fn(usize) -> usize = *library.get(b"eglGetDisplay\0").expect("EGL");
            let initialize: unsafe extern "C" fn(usize, usize, usize) -> u32 =
                *library.get(b"eglInitialize\0").expect("EGL");
            let bind_api: unsafe extern "C" fn(u32) -> u32 = *library.get(b"eglBindAPI\0").expect("EGL");
            let create: unsafe extern "C" fn(usize, usize, usize, usize) -> usize =
                *library.get(b"eglCreateContext\0").expect("EGL");
            let make: unsafe extern "C" fn(usize, usize, usize, usize) -> u32 =
                *library.get(b"eglMakeCurrent\0").expect("EGL");
            let current: unsafe extern "C" fn() -> usize = *library.get(b"eglGetCurrentContext\0").expect("EGL");
            let error: unsafe extern "C" fn() -> i32 = *library.get(b"eglGetError\0").expect("EGL");
            let display = get_display(0);
            assert_eq!((initialize(display, 0, 0), bind_api(0x30a2)), (1, 1));
            let other = create(display, 0, 0, 0);
            assert_ne!(other, 0);

            assert_eq!((glx.make_current)(glx.dpy, pbuffer, context), 1);
            assert_eq!(current(), 0, "EGL sees nothing of it");
            assert_eq!((make(display, 0, 0, other), error()), (0, 0x3002), "EGL_BAD_ACCESS");
            assert_eq!(make(display, 0, 0, 0), 1, "nothing of EGL is released");
            assert_eq!((glx.current_context)(), context);
            assert_eq!((glx.make_current)(glx.dpy, 0, 0), 1);

            assert_eq!(make(display, 0, 0, other), 1);
            assert_eq!(((glx.current_context)(), current()), (0, other));
            glx.expect(0);
            assert_eq!((glx.make_current)(glx.dpy, pbuffer, context), 0);
            glx.expect(BAD_ACCESS);
            assert_eq!((glx.make_current)(glx.dpy, 0, 0), 1);
            assert_eq!(current(), other);
            assert_eq!(make(display, 0, 0, 0), 1);
        }
        glx.expect(0);
    });
}
