//! Windows: sizes that follow, frames that are shown, windows that go.

use std::sync::Arc;

use mgpipe_types::{gl, WindowDesc};
use parking_lot::Mutex;

use crate::boundary::{DrawableDesc, NativeWindow, Picture};
use crate::context::Context;
use crate::drawable::Drawable;
use crate::testing;

/// A window of nobody.
#[derive(Default)]
struct Fake {
    size: Mutex<Option<[u32; 2]>>,
    asked: Mutex<u32>,
    shown: Mutex<Vec<(u32, u32, i32)>>,
}

impl NativeWindow for Fake {
    fn size(&self) -> Option<[u32; 2]> {
        *self.asked.lock() += 1;
        *self.size.lock()
    }

    fn address(&self) -> Option<WindowDesc> {
        WindowDesc::x11("nowhere", 1)
    }

    fn show(&self, picture: &Picture, read: &mut dyn FnMut(&mut [u8]) -> bool) -> bool {
        assert!(read(&mut vec![0; (picture.width * picture.height * 4) as usize]));
        assert!(!picture.opaque);
        self.shown.lock().push((picture.width, picture.height, picture.interval));
        self.size.lock().is_some()
    }
}

fn window(size: [u32; 2]) -> (Context, Arc<Fake>, Arc<Drawable>) {
    let (mut ctx, _) = testing::context();
    let fake = Arc::new(Fake::default());
    *fake.size.lock() = Some(size);
    let desc = DrawableDesc { red: 8, green: 8, blue: 8, alpha: 8, double_buffered: true, ..DrawableDesc::default() };
    let drawable = Drawable::window(desc, fake.clone());
    ctx.make_current(Some(&drawable), Some(&drawable));
    // The drawable that was current before had no back buffer.
    ctx.draw_buffer(gl::BACK);
    (ctx, fake, drawable)
}

#[test]
fn a_frame_has_the_size_of_its_first_use() {
    let (mut ctx, fake, drawable) = window([30, 20]);
    ctx.clear(gl::COLOR_BUFFER_BIT);
    // In the midst of a frame nothing changes.
    *fake.size.lock() = Some([50, 40]);
    ctx.clear(gl::COLOR_BUFFER_BIT);
    assert!(ctx.swap_buffers());
    ctx.clear(gl::COLOR_BUFFER_BIT);
    assert_eq!((drawable.desc().width, drawable.desc().height), (50, 40));
    drawable.set_interval(0);
    assert!(ctx.swap_buffers());
    assert_eq!(*fake.shown.lock(), [(30, 20, 1), (50, 40, 0)]);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

#[test]
fn the_window_is_asked_once_a_frame() {
    let (mut ctx, fake, _) = window([8, 8]);
    for _ in 0..3 {
        *fake.asked.lock() = 0;
        for _ in 0..5 {
            ctx.clear(gl::COLOR_BUFFER_BIT);
        }
        assert!(ctx.swap_buffers());
        assert_eq!(*fake.asked.lock(), 1);
    }
}

#[test]
fn ages_count_from_the_first_frame_of_a_size() {
    let (mut ctx, fake, _) = window([8, 8]);
    assert_eq!(ctx.draw_age(), 0);
    assert!(ctx.swap_buffers());
    assert_eq!(ctx.draw_age(), 1);
    assert!(ctx.swap_buffers());
    *fake.size.lock() = Some([9, 8]);
    assert_eq!(ctx.draw_age(), 0);
}

#[test]
fn a_window_that_is_gone_is_told_at_the_next_swap_and_drawing_goes_on() {
    let (mut ctx, fake, drawable) = window([8, 8]);
    assert!(ctx.swap_buffers());
    *fake.size.lock() = None;
    ctx.clear(gl::COLOR_BUFFER_BIT);
    assert!(!ctx.swap_buffers());
    assert!(drawable.is_gone());
    assert_eq!(fake.shown.lock().len(), 1);
    ctx.clear(gl::COLOR_BUFFER_BIT);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    assert!(!ctx.swap_buffers());
}

#[test]
fn one_buffer_is_shown_by_a_flush() {
    let (mut ctx, fake, _) = window([8, 8]);
    ctx.flush();
    assert!(fake.shown.lock().is_empty(), "the back buffer is not shown");
    ctx.draw_buffer(gl::FRONT);
    ctx.clear(gl::COLOR_BUFFER_BIT);
    ctx.flush();
    assert_eq!(fake.shown.lock().len(), 1);
}
