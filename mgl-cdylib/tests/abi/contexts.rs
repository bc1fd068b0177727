//! Contexts, surfaces and threads.

use std::sync::mpsc;

use crate::child;
use crate::driver::{
    Driver, BAD_ACCESS, BAD_CONFIG, BAD_CONTEXT, BAD_DISPLAY, BAD_MATCH, BAD_PARAMETER, BAD_SURFACE, EXTENSIONS,
    HEIGHT, MAJOR, MINOR, NONE, NOT_INITIALIZED, OPENGL_ES_API, PROFILE_MASK, SUCCESS, WIDTH,
};

const INVALID_OPERATION: u32 = 0x502;

/// The tests of this module change what is current and terminate displays: one at a time.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[test]
fn bad_handles_have_their_errors() {
    let _alone = alone();
    let driver = Driver::load();
    let null = std::ptr::null_mut();
    // SAFETY: handles may have any value; pointers are null or valid.
    unsafe {
        for display in [0, 1, usize::MAX, driver.symbol("glViewport") as usize] {
            assert_eq!((driver.initialize)(display, null, null), 0);
            assert_eq!(driver.take_error(), BAD_DISPLAY);
            assert_eq!((driver.make_current)(display, 0, 0, 0), 0);
            assert_eq!(driver.take_error(), BAD_DISPLAY);
        }
        let display = driver.display();
        let config = driver.config(display);
        assert_eq!((driver.create_context)(display, 0xdead, 0, std::ptr::null()), 0);
        assert_eq!(driver.take_error(), BAD_CONFIG);
        assert_eq!((driver.create_context)(display, config, 0xdead, std::ptr::null()), 0);
        assert_eq!(driver.take_error(), BAD_CONTEXT);
        assert_eq!((driver.make_current)(display, 0, 0, 0xdead), 0);
        assert_eq!(driver.take_error(), BAD_CONTEXT);
        assert_eq!((driver.destroy_surface)(display, 0xdead), 0);
        assert_eq!(driver.take_error(), BAD_SURFACE);
        assert_eq!(driver.take_error(), SUCCESS, "eglGetError resets");
        assert_eq!((driver.bind_api)(OPENGL_ES_API), 0);
        assert_eq!(driver.take_error(), BAD_PARAMETER);
        assert_eq!((driver.choose_config)(display, std::ptr::null(), null.cast(), 0, null), 0);
        assert_eq!(driver.take_error(), BAD_PARAMETER);
    }
}

#[test]
fn versions_and_profiles_that_are_not_there_do_not_match() {
    let _alone = alone();
    let driver = Driver::load();
    let display = driver.display();
    let config = driver.config(display);
    for list in [
        [MAJOR, 9, MINOR, 9, NONE, 0, 0],
        [MAJOR, 3, MINOR, 7, NONE, 0, 0],
        [MAJOR, 3, MINOR, 3, PROFILE_MASK, 2, NONE],
        [MAJOR, 3, MINOR, 3, PROFILE_MASK, 3, NONE],
    ] {
        // SAFETY: a terminated list.
        assert_eq!(unsafe { (driver.create_context)(display, config, 0, list.as_ptr()) }, 0);
        assert_eq!(driver.take_error(), BAD_MATCH, "{list:?}");
    }
    // SAFETY: as above; no version means any.
    unsafe {
        let context = (driver.create_context)(display, config, 0, std::ptr::null());
        assert_ne!(context, 0);
        assert_eq!((driver.destroy_context)(display, context), 1);
    }
}

#[test]
fn a_context_belongs_to_one_thread_at_a_time() {
    let _alone = alone();
    let driver = Driver::load();
    let display = driver.display();
    let config = driver.config(display);
    let context = driver.context(display, config, 0);
    let size = [WIDTH, 16, HEIGHT, 16, NONE];
    // SAFETY: handles from above, a terminated list.
    unsafe {
        let surface = (driver.create_pbuffer)(display, config, size.as_ptr());
        assert_eq!((driver.make_current)(display, surface, surface, context), 1);
        let (to_main, from_thread) = mpsc::channel();
        let (to_thread, from_main) = mpsc::channel();
        std::thread::scope(|scope| {
            let driver = &driver;
            let thread = scope.spawn(move || {
                assert_eq!((driver.make_current)(display, 0, 0, context), 0);
                assert_eq!(driver.take_error(), BAD_ACCESS);
                (driver.bind_api)(crate::driver::OPENGL_API);
                let other = driver.context(display, config, context);
                assert_eq!((driver.make_current)(display, surface, surface, other), 0);
                assert_eq!(driver.take_error(), BAD_ACCESS, "the surface is taken too");
                assert_eq!((driver.make_current)(display, 0, 0, other), 1, "a surfaceless context that shares");
                to_main.send(()).expect("the main thread waits");
                from_main.recv().expect("the main thread answers");
                assert_eq!((driver.make_current)(display, surface, surface, context), 1, "released meanwhile");
                // The thread ends with the context current: it must become free.
            });
            from_thread.recv().expect("the thread answers");
            assert_eq!((driver.make_current)(display, 0, 0, 0), 1);
            to_thread.send(()).expect("the thread waits");
            // Joining waits for the thread's destructors too; the end of the scope does not.
            thread.join().expect("the thread ends normally");
        });
        assert_eq!((driver.make_current)(display, surface, surface, context), 1, "error {:#x}", driver.take_error());
        assert_eq!((driver.release_thread)(), 1);
        assert_eq!((driver.current_context)(), 0);
        assert_eq!((driver.destroy_surface)(display, surface), 1);
        assert_eq!((driver.destroy_context)(display, context), 1);
    }
}

#[test]
fn objects_destroyed_while_current_live_until_they_are_released() {
    let _alone = alone();
    let driver = Driver::load();
    let display = driver.display();
    let config = driver.config(display);
    let context = driver.context(display, config, 0);
    let size = [WIDTH, 8, HEIGHT, 8, NONE];
    // SAFETY: the types of these GL functions; handles from above.
    unsafe {
        let surface = (driver.create_pbuffer)(display, config, size.as_ptr());
        assert_eq!((driver.make_current)(display, surface, surface, context), 1);
        assert_eq!((driver.destroy_context)(display, context), 1);
        assert_eq!((driver.destroy_surface)(display, surface), 1);
        assert_eq!((driver.current_context)(), context);
        let viewport: unsafe extern "C" fn(i32, i32, i32, i32) = driver.gl("glViewport");
        let error: unsafe extern "C" fn() -> u32 = driver.gl("glGetError");
        viewport(0, 0, 8, 8);
        assert_eq!(error(), 0);
        assert_eq!((driver.make_current)(display, 0, 0, context), 0, "the handle is gone");
        assert_eq!(driver.take_error(), BAD_CONTEXT);
        assert_eq!((driver.swap_buffers)(display, surface), 0);
        assert_eq!(driver.take_error(), BAD_SURFACE);
        assert_eq!((driver.make_current)(display, 0, 0, 0), 1);
        assert_eq!((driver.current_context)(), 0);
        viewport(0, 0, 8, 8);
    }
}

#[test]
fn a_function_that_is_not_implemented_is_an_invalid_operation() {
    let _alone = alone();
    let driver = Driver::load();
    let display = driver.display();
    let context = driver.context(display, driver.config(display), 0);
    // SAFETY: the types of these GL functions; glAccum is fixed-function and not part of the core profile.
    unsafe {
        assert_eq!((driver.make_current)(display, 0, 0, context), 1);
        let accum: unsafe extern "C" fn(u32, f32) = driver.gl("glAccum");
        let error: unsafe extern "C" fn() -> u32 = driver.gl("glGetError");
        assert_eq!(error(), 0);
        accum(0x100, 1.0);
        assert_eq!(error(), INVALID_OPERATION);
        assert_eq!(error(), 0);
        assert_eq!((driver.make_current)(display, 0, 0, 0), 1);
        assert_eq!((driver.destroy_context)(display, context), 1);
    }
}

#[test]
fn terminate_invalidates_handles_and_initialize_starts_again() {
    if !child::is("terminate") {
        let test = "contexts::terminate_invalidates_handles_and_initialize_starts_again";
        child::succeed(&child::run(test, "terminate", &[]));
        return;
    }
    let driver = Driver::load();
    let display = driver.display();
    let context = driver.context(display, driver.config(display), 0);
    // SAFETY: handles from above.
    unsafe {
        assert_eq!((driver.make_current)(display, 0, 0, context), 1);
        assert_eq!((driver.terminate)(display), 1);
        assert_eq!((driver.terminate)(display), 1, "terminating twice is allowed");
        assert_eq!((driver.create_context)(display, 0, 0, std::ptr::null()), 0);
        assert_eq!(driver.take_error(), NOT_INITIALIZED);
        let error: unsafe extern "C" fn() -> u32 = driver.gl("glGetError");
        assert_eq!(error(), 0, "what is current still works");
        assert_eq!((driver.make_current)(display, 0, 0, 0), 1, "releasing needs no initialised display");
        driver.display();
        assert_eq!((driver.make_current)(display, 0, 0, context), 0);
        assert_eq!(driver.take_error(), BAD_CONTEXT, "handles of the old life stay dead");
        assert!(driver.string(display, EXTENSIONS).is_some());
    }
}

#[test]
fn settings_that_cannot_be_met_fail_cleanly() {
    let test = "contexts::settings_that_cannot_be_met_fail_cleanly";
    if child::is("settings") {
        let driver = Driver::load();
        // SAFETY: null pointers are allowed.
        unsafe {
            let display = (driver.get_display)(0);
            assert_eq!((driver.initialize)(display, std::ptr::null_mut(), std::ptr::null_mut()), 0);
            assert_eq!(driver.take_error(), NOT_INITIALIZED);
        }
        return;
    }
    for (env, says) in [
        (("MGL_BACKEND", "nonsense"), "MGL_BACKEND=nonsense is unknown"),
        (("MGL_TRANSPORT", "tcp"), "MGL_TRANSPORT=tcp is unknown"),
        (("MGL_IPC_PRESENT_CREDIT", "none"), "MGL_IPC_PRESENT_CREDIT=none"),
        (("MGL_LOG", "loud"), "MGL_LOG=loud is unknown"),
        (("VK_ICD_FILENAMES", "/nonexistent.json"), "Vulkan"),
    ] {
        let text = child::succeed(&child::run(test, "settings", &[env, ("VK_DRIVER_FILES", "/nonexistent.json")]));
        let lines: Vec<&str> = text.lines().filter(|l| l.starts_with("mgl: ")).collect();
        assert_eq!(lines.len(), 1, "one line for {env:?}: {text}");
        assert!(lines.iter().all(|l| l.contains(says)), "{env:?}: {text}");
    }
}

/// Loader threads: contexts that share, each current on its own thread, making and deleting objects at the same time.
#[test]
fn threads_with_sharing_contexts_do_not_disturb_each_other() {
    if !child::is("threads") {
        let test = "contexts::threads_with_sharing_contexts_do_not_disturb_each_other";
        let text = child::succeed(&child::run(test, "threads", &[]));
        assert!(!text.contains("internal failure"), "a panic reached the boundary:\n{text}");
        return;
    }
    let driver = Driver::load();
    let display = driver.display();
    let config = driver.config(display);
    let first = driver.context(display, config, 0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4u8)
            .map(|id| {
                let driver = &driver;
                // SAFETY: the types that GL gives these functions, and memory of the sizes passed.
                scope.spawn(move || unsafe {
                    (driver.bind_api)(crate::driver::OPENGL_API);
                    let generate: unsafe extern "C" fn(i32, *mut u32) = driver.gl("glGenBuffers");
                    let delete: unsafe extern "C" fn(i32, *const u32) = driver.gl("glDeleteBuffers");
                    let bind: unsafe extern "C" fn(u32, u32) = driver.gl("glBindBuffer");
                    let data: unsafe extern "C" fn(u32, isize, *const u8, u32) = driver.gl("glBufferData");
                    let read: unsafe extern "C" fn(u32, isize, isize, *mut u8) = driver.gl("glGetBufferSubData");
                    let error: unsafe extern "C" fn() -> u32 = driver.gl("glGetError");
                    for round in 0..5 {
                        let context = driver.context(display, config, first);
                        assert_eq!((driver.make_current)(display, 0, 0, context), 1);
                        for i in 0..40u8 {
                            let (mut names, bytes, mut out) = ([0u32; 3], [id ^ i; 64], [0u8; 64]);
                            generate(3, names.as_mut_ptr());
                            for name in names {
                                bind(0x8892, name);
                                data(0x8892, 64, bytes.as_ptr(), 0x88e4);
                            }
                            read(0x8892, 0, 64, out.as_mut_ptr());
                            assert_eq!((out, error()), (bytes, 0), "thread {id}, round {round}");
                            delete(3, names.as_ptr());
                        }
                        assert_eq!((driver.destroy_context)(display, context), 1, "destroyed while current");
                    }
                    assert_eq!((driver.release_thread)(), 1);
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("the thread's assertions hold");
        }
    });
}

extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn alarm(seconds: u32) -> u32;
    fn exit(status: i32) -> !;
}

/// A child has none of the driver's threads: it must neither wait for them nor end what is its parent's.
#[test]
fn a_forked_child_draws_nothing_and_ends() {
    if !child::is("fork") {
        child::succeed(&child::run("contexts::a_forked_child_draws_nothing_and_ends", "fork", &[]));
        return;
    }
    let driver = Driver::load();
    let display = driver.display();
    let context = driver.context(display, driver.config(display), 0);
    // SAFETY: handles from above, the types of the functions; the child leaves through `exit`, as C programs do.
    unsafe {
        assert_eq!((driver.make_current)(display, 0, 0, context), 1);
        let clear: unsafe extern "C" fn(u32) = driver.gl("glClear");
        let finish: unsafe extern "C" fn() = driver.gl("glFinish");
        clear(0x4000);
        finish();
        let process = fork();
        if process == 0 {
            // A child that waits for ever is ended by the alarm.
            alarm(20);
            clear(0x4000);
            finish();
            exit(0);
        }
        assert!(process > 0, "no process could be forked");
        let mut status = -1;
        assert_eq!(waitpid(process, &mut status, 0), process);
        assert_eq!(status, 0, "how the child ended");
        clear(0x4000);
        finish();
        assert_eq!((driver.make_current)(display, 0, 0, 0), 1);
    }
}
