//! Several threads at once, on one connection and on several.

use crate::glx::*;
use crate::ways;

#[test]
fn threads_draw_at_once() {
    ways::both("threads::threads_draw_at_once", || {
        let glx = Glx::load();
        let config = glx.config();
        let first = glx.context(config, 0);
        std::thread::scope(|threads| {
            for n in 0..4u8 {
                let glx = &glx;
                threads.spawn(move || {
                    for round in 0..6u8 {
                        // Two of the threads share objects with the first context.
                        let context = glx.context(config, if n < 2 { first } else { 0 });
                        let pbuffer = glx.pbuffer(config, 16, 16);
                        let shade = 40 * (n + 1) + round;
                        // SAFETY: handles of this display.
                        unsafe {
                            assert_eq!((glx.make_current)(glx.dpy, pbuffer, context), 1);
                            glx.clear([f32::from(shade) / 255.0, 0.0, 0.0, 1.0]);
                            assert_eq!(glx.read(8, 8)[0], shade);
                            assert_eq!((glx.current_context)(), context);
                            // A thread may end with its context current.
                            if round != 5 {
                                assert_eq!((glx.make_current)(glx.dpy, 0, 0), 1);
                            }
                            (glx.destroy_pbuffer)(glx.dpy, pbuffer);
                            (glx.destroy_context)(glx.dpy, context);
                        }
                    }
                });
            }
        });
        glx.expect(0);
    });
}

#[test]
fn connections_come_and_go() {
    ways::both("threads::connections_come_and_go", || {
        let mut glx = Glx::load();
        let first = glx.dpy;
        for round in 0..5 {
            glx.dpy = glx.x.open();
            let config = glx.config();
            let context = glx.context(config, 0);
            let pbuffer = glx.pbuffer(config, 8, 8);
            // SAFETY: handles of this display, which is closed once.
            unsafe {
                assert_eq!((glx.make_current)(glx.dpy, pbuffer, context), 1);
                glx.clear([0.0, 1.0, 0.0, 1.0]);
                assert_eq!(glx.read(1, 1)[1], 255);
                if round % 2 == 0 {
                    assert_eq!((glx.make_current)(glx.dpy, 0, 0), 1);
                    (glx.destroy_context)(glx.dpy, context);
                }
                (glx.x.close)(glx.dpy);
            }
        }
        glx.dpy = first;
        glx.expect(0);
    });
}
