//! A context moves between threads.

use crate::{scene, watch};
use mgpipe_types::*;

#[test]
fn a_textured_quad_leaves_no_error_behind() {
    let (screen, listener) = watch::open();
    let texels = scene::draw(&*screen).expect("drawn");
    watch::assert_is_the_scene(&texels);
    listener.assert_silent();
}

#[test]
fn a_context_that_was_released_works_on_another_thread() {
    let (screen, listener) = watch::open();
    let mut context = screen.create_context(ContextHandle(Handle { slot: 9, gen: 1 })).expect("a context");
    let release = Flush { flags: flush_flags::SUBMIT | flush_flags::RELEASE, pad: 0 };
    context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
    context.flush(&release);
    let there = std::thread::spawn(move || {
        context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
        context.fence_create(&FenceDesc { fence: Handle { slot: 1, gen: 1 }, exportable: 0, pad: 0 });
        context.flush(&release);
    });
    there.join().expect("no panic");
    let wait = FenceWait { fence: Handle { slot: 1, gen: 1 }, timeout_ns: u64::MAX };
    assert_eq!(screen.fence_wait(&wait).expect("known").status, fence_status::SIGNALED);
    listener.assert_silent();
}

#[test]
fn a_context_that_was_not_released_is_refused_elsewhere_and_said_so() {
    let (screen, listener) = watch::open();
    let mut context = screen.create_context(ContextHandle(Handle { slot: 9, gen: 1 })).expect("a context");
    context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
    let there = std::thread::spawn(move || {
        context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
        context
    });
    drop(there.join().expect("no panic"));
    assert!(std::panic::catch_unwind(|| listener.assert_silent()).is_err(), "the refusal is a line");
}
