//! Pbuffers and pixmaps, and what can be asked about drawables.

use crate::glx::*;
use crate::ways;
use crate::xlib::*;

#[test]
fn pbuffers_keep_what_is_drawn() {
    ways::both("drawables::pbuffers_keep_what_is_drawn", || {
        let glx = Glx::load();
        let config = glx.config();
        let context = glx.context(config, 0);
        let (one, two) = (glx.pbuffer(config, 40, 30), glx.pbuffer(config, 8, 8));
        assert!(one != 0 && two != 0 && one != two);
        // SAFETY: handles of this display, and variables to write.
        unsafe {
            assert_eq!((glx.make_current)(glx.dpy, one, context), 1);
            glx.clear([1.0, 0.0, 0.0, 1.0]);
            assert_eq!((glx.make_current)(glx.dpy, two, context), 1);
            glx.clear([0.0, 0.0, 1.0, 1.0]);
            assert_eq!((glx.make_context_current)(glx.dpy, two, one, context), 1);
            assert_eq!((glx.current_drawable)(), two);
            assert_eq!((glx.current_read_drawable)(), one);
            assert_eq!((glx.current_display)(), glx.dpy);
            assert_eq!(glx.read(39, 29)[..3], [255, 0, 0]);
            assert_eq!((glx.make_current)(glx.dpy, two, context), 1);
            assert_eq!(glx.read(7, 7)[..3], [0, 0, 255]);
            (glx.swap_buffers)(glx.dpy, two);
            assert_eq!(glx.gl_error(), 0);
            let value = |id, attribute| {
                let mut value = 99_999;
                (glx.query_drawable)(glx.dpy, id, attribute, &mut value);
                value
            };
            assert_eq!((value(one, WIDTH), value(one, HEIGHT)), (40, 30));
            assert_eq!(value(one, FBCONFIG_ID) as i32, glx.value(config, FBCONFIG_ID));
            assert_eq!((value(one, PRESERVED_CONTENTS), value(one, LARGEST_PBUFFER)), (1, 0));
            let mut mask = 7;
            (glx.get_selected_event)(glx.dpy, one, &mut mask);
            assert_eq!(mask, 0);
            (glx.select_event)(glx.dpy, one, 0x0800_0000 | 1);
            (glx.get_selected_event)(glx.dpy, one, &mut mask);
            assert_eq!(mask, 0x0800_0000);
            glx.expect(0);

            (glx.destroy_pbuffer)(glx.dpy, two);
            assert_eq!(glx.read(7, 7)[..3], [0, 0, 255], "it is still current");
            glx.expect(0);
            (glx.destroy_pbuffer)(glx.dpy, one);
            glx.expect(0);
        }
    });
}

#[test]
fn errors_of_drawables() {
    // libglvnd answers itself for ids that it has not seen.
    ways::both("drawables::errors_of_drawables", || {
        let glx = Glx::load();
        let config = glx.config();
        // SAFETY: terminated lists, and ids that are looked up.
        unsafe {
            let list = [PBUFFER_WIDTH, -1, 0];
            assert_eq!((glx.create_pbuffer)(glx.dpy, config, list.as_ptr()), 0);
            glx.expect(BAD_VALUE);
            let list = [0x7777, 1, 0];
            assert_eq!((glx.create_pbuffer)(glx.dpy, config, list.as_ptr()), 0);
            glx.expect(BAD_VALUE);
            let huge = [PBUFFER_WIDTH, 1 << 20, PBUFFER_HEIGHT, 8, 0];
            assert_eq!((glx.create_pbuffer)(glx.dpy, config, huge.as_ptr()), 0);
            glx.expect(BAD_ALLOC);
            let largest = [PBUFFER_WIDTH, 1 << 20, PBUFFER_HEIGHT, 8, LARGEST_PBUFFER, 1, 0];
            let pbuffer = (glx.create_pbuffer)(glx.dpy, config, largest.as_ptr());
            assert_ne!(pbuffer, 0);
            let mut width = 0;
            (glx.query_drawable)(glx.dpy, pbuffer, WIDTH, &mut width);
            assert_eq!(width as i32, glx.value(config, MAX_PBUFFER_WIDTH));
            (glx.destroy_pbuffer)(glx.dpy, pbuffer);
            glx.expect(0);
            (glx.destroy_pbuffer)(glx.dpy, pbuffer);
            glx.expect_glx(GLX_BAD_PBUFFER);
            (glx.destroy_window)(glx.dpy, pbuffer);
            glx.expect_glx(GLX_BAD_WINDOW);
            (glx.destroy_pixmap)(glx.dpy, pbuffer);
            glx.expect_glx(GLX_BAD_PIXMAP);
            let mut mask = 0;
            (glx.get_selected_event)(glx.dpy, 0x123_4567, &mut mask);
            glx.expect_glx(GLX_BAD_DRAWABLE);
            (glx.swap_buffers)(glx.dpy, 0x123_4567);
            glx.expect_glx(GLX_BAD_DRAWABLE);
        }
    });
}

#[test]
fn pixmaps_are_refused() {
    ways::both("drawables::pixmaps_are_refused", || {
        let glx = Glx::load();
        let config = glx.config();
        assert_eq!(glx.choose(&[DRAWABLE_TYPE, PIXMAP_BIT]), None);
        // SAFETY: handles of this display, or numbers that are none.
        unsafe {
            let pixmap = (glx.x.pixmap)(glx.dpy, (glx.x.root)(glx.dpy, 0), 8, 8, 24);
            assert_eq!((glx.create_pixmap)(glx.dpy, config, pixmap, std::ptr::null()), 0);
            glx.expect(BAD_MATCH);
            assert_eq!((glx.create_pixmap)(glx.dpy, config, 0x123_4567, std::ptr::null()), 0);
            glx.expect(BAD_PIXMAP);
        }
    });
}
