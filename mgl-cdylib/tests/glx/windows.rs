//! Windows: what is swapped is on the screen.

use crate::glx::*;
use crate::ways;
use crate::xlib::*;

#[test]
fn a_plain_window_shows_what_is_swapped() {
    ways::both("windows::a_plain_window_shows_what_is_swapped", || {
        let glx = Glx::load();
        let config = glx.config();
        let context = glx.context(config, 0);
        let window = glx.x.window(glx.dpy, 64, 48);
        // SAFETY: handles of this display, and variables to write.
        unsafe {
            assert_eq!((glx.make_current)(glx.dpy, window, context), 1);
            assert_eq!((glx.current_drawable)(), window);
            glx.clear([1.0, 0.0, 0.0, 1.0]);
            (glx.swap_buffers)(glx.dpy, window);
            glx.expect(0);
            glx.x.await_pixel(glx.dpy, window, 63, 47, [255, 0, 0]);
            // The frame after a resize has the new size.
            (glx.x.resize)(glx.dpy, window, 100, 80);
            glx.clear([0.0, 0.0, 1.0, 1.0]);
            (glx.swap_buffers)(glx.dpy, window);
            glx.clear([0.0, 1.0, 0.0, 1.0]);
            (glx.swap_buffers)(glx.dpy, window);
            glx.expect(0);
            glx.x.await_pixel(glx.dpy, window, 99, 79, [0, 255, 0]);
            let (mut width, mut height) = (0, 0);
            (glx.query_drawable)(glx.dpy, window, WIDTH, &mut width);
            (glx.query_drawable)(glx.dpy, window, HEIGHT, &mut height);
            assert_eq!((width, height), (100, 80));
            assert_eq!((glx.make_current)(glx.dpy, 0, 0), 1);
            (glx.x.destroy)(glx.dpy, window);
            glx.expect(0);
        }
    });
}

#[test]
fn a_glx_window_shows_what_is_swapped() {
    ways::both("windows::a_glx_window_shows_what_is_swapped", || {
        let glx = Glx::load();
        let config = glx.config();
        let context = glx.context(config, 0);
        let window = glx.x.window(glx.dpy, 64, 48);
        // SAFETY: handles of this display.
        unsafe {
            let drawable = (glx.create_window)(glx.dpy, config, window, std::ptr::null());
            assert!(drawable != 0 && drawable != window);
            assert_eq!((glx.create_window)(glx.dpy, config, window, std::ptr::null()), 0, "it has one");
            glx.expect(BAD_ALLOC);
            assert_eq!((glx.create_window)(glx.dpy, config, 0x123_4567, std::ptr::null()), 0);
            glx.expect(BAD_WINDOW);
            assert_eq!((glx.make_context_current)(glx.dpy, drawable, drawable, context), 1);
            glx.clear([1.0, 1.0, 0.0, 1.0]);
            (glx.swap_buffers)(glx.dpy, drawable);
            glx.x.await_pixel(glx.dpy, window, 5, 5, [255, 255, 0]);
            assert_eq!((glx.make_current)(glx.dpy, 0, 0), 1);
            (glx.destroy_window)(glx.dpy, drawable);
            glx.expect(0);
            (glx.destroy_window)(glx.dpy, drawable);
            glx.expect_glx(GLX_BAD_WINDOW);
        }
    });
}

#[test]
fn a_drawable_that_is_not_current_shows_what_was_drawn_to_it() {
    ways::both("windows::a_drawable_that_is_not_current_shows_what_was_drawn_to_it", || {
        let glx = Glx::load();
        let config = glx.config();
        let context = glx.context(config, 0);
        let windows = [glx.x.window(glx.dpy, 64, 48), glx.x.window(glx.dpy, 32, 32)];
        // SAFETY: handles of this display.
        unsafe {
            let drawables = windows.map(|window| (glx.create_window)(glx.dpy, config, window, std::ptr::null()));
            for (drawable, color) in drawables.into_iter().zip([[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]) {
                assert_eq!((glx.make_context_current)(glx.dpy, drawable, drawable, context), 1);
                glx.clear(color);
            }
            (glx.swap_buffers)(glx.dpy, drawables[0]);
            // Beside the second one, which lies on it.
            glx.x.await_pixel(glx.dpy, windows[0], 50, 40, [255, 0, 0]);
            // What was current before is it still.
            assert_eq!(glx.read(1, 1)[2], 255);
            (glx.swap_buffers)(glx.dpy, drawables[1]);
            glx.x.await_pixel(glx.dpy, windows[1], 5, 5, [0, 0, 255]);
            assert_eq!((glx.make_current)(glx.dpy, 0, 0), 1);
            drawables.into_iter().for_each(|drawable| (glx.destroy_window)(glx.dpy, drawable));
        }
        glx.expect(0);
    });
}

#[test]
fn intervals_in_three_dialects() {
    ways::both("windows::intervals_in_three_dialects", || {
        let glx = Glx::load();
        let config = glx.config();
        let context = glx.context(config, 0);
        let window = glx.x.window(glx.dpy, 16, 16);
        // SAFETY: the types of these functions, and handles of this display.
        unsafe {
            let ext: unsafe extern "C" fn(Dpy, Xid, i32) = glx.proc(c"glXSwapIntervalEXT");
            let sgi: unsafe extern "C" fn(i32) -> i32 = glx.proc(c"glXSwapIntervalSGI");
            let mesa: unsafe extern "C" fn(u32) -> i32 = glx.proc(c"glXSwapIntervalMESA");
            let now: unsafe extern "C" fn() -> i32 = glx.proc(c"glXGetSwapIntervalMESA");
            assert_eq!((sgi(1), mesa(1), now()), (5, 5, 0), "GLX_BAD_CONTEXT");
            assert_eq!((glx.make_current)(glx.dpy, window, context), 1);
            assert_eq!(now(), 1, "the first interval");
            ext(glx.dpy, window, 0);
            assert_eq!(now(), 0);
            assert_eq!((sgi(1), now()), (0, 1));
            assert_eq!((mesa(0), now()), (0, 0));
            assert_eq!((sgi(0), sgi(-1)), (6, 6), "GLX_BAD_VALUE");
            let mut interval = 9;
            (glx.query_drawable)(glx.dpy, window, SWAP_INTERVAL, &mut interval);
            assert_eq!(interval, 0);
            glx.expect(0);
            ext(glx.dpy, window, -1);
            glx.expect(BAD_VALUE);
        }
    });
}

#[test]
fn a_window_that_is_gone_is_an_error_of_the_swap() {
    ways::both("windows::a_window_that_is_gone_is_an_error_of_the_swap", || {
        let glx = Glx::load();
        let config = glx.config();
        let context = glx.context(config, 0);
        let window = glx.x.window(glx.dpy, 16, 16);
        // SAFETY: handles of this display.
        unsafe {
            assert_eq!((glx.make_current)(glx.dpy, window, context), 1);
            glx.clear([1.0; 4]);
            (glx.swap_buffers)(glx.dpy, window);
            glx.expect(0);
            (glx.x.destroy)(glx.dpy, window);
            glx.expect(0);
            glx.clear([0.5; 4]);
            (glx.swap_buffers)(glx.dpy, window);
            glx.expect_glx(GLX_BAD_CURRENT_WINDOW);
            // The context goes on with another window.
            let next = glx.x.window(glx.dpy, 16, 16);
            assert_eq!((glx.make_current)(glx.dpy, next, context), 1);
            glx.clear([0.0, 1.0, 1.0, 1.0]);
            (glx.swap_buffers)(glx.dpy, next);
            glx.expect(0);
            glx.x.await_pixel(glx.dpy, next, 3, 3, [0, 255, 255]);
        }
    });
}

#[test]
fn a_window_with_one_buffer_shows_what_is_flushed() {
    ways::both("windows::a_window_with_one_buffer_shows_what_is_flushed", || {
        let glx = Glx::load();
        // SAFETY: the types of these functions, handles of this display, and a visual that is freed with XFree.
        unsafe {
            let mut list = [RGBA, RED_SIZE, 8, DEPTH_SIZE, 24, 0];
            let visual = (glx.choose_visual)(glx.dpy, 0, list.as_mut_ptr());
            assert!(!visual.is_null());
            let mut double = -1;
            assert_eq!(((glx.get_config)(glx.dpy, visual, DOUBLEBUFFER, &mut double), double), (0, 0));
            let context = (glx.create_context)(glx.dpy, visual, 0, 1);
            assert_ne!(context, 0);
            let window = glx.x.window(glx.dpy, 32, 32);
            assert_eq!((glx.make_current)(glx.dpy, window, context), 1);
            let flush: unsafe extern "C" fn() = glx.proc(c"glFlush");
            glx.clear([1.0, 0.0, 1.0, 1.0]);
            flush();
            glx.x.await_pixel(glx.dpy, window, 31, 31, [255, 0, 255]);
            glx.clear([0.0, 1.0, 0.0, 1.0]);
            (glx.swap_buffers)(glx.dpy, window);
            glx.x.await_pixel(glx.dpy, window, 31, 31, [0, 255, 0]);
            (glx.x.free)(visual.cast());
        }
        glx.expect(0);
    });
}
