//! Share groups, threads, errors, debug output and life cycles.

use std::sync::Arc;

use mgpipe_types::{gl, Callbacks, Kind};
use parking_lot::Mutex;

use crate::boundary::ContextAttribs;
use crate::callbacks::FrontendCallbacks;
use crate::context::Context;
use crate::share::{CreateContextError, ShareGroup};
use crate::testing;

#[test]
fn the_first_error_sticks() {
    let (mut ctx, _) = testing::context();
    ctx.enable(0);
    ctx.viewport(0, 0, -1, 1);
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

#[test]
fn a_lost_context_does_nothing_and_says_so_without_end() {
    let (double, log) = testing::share_group();
    let attribs = ContextAttribs { lose_context_on_reset: true, ..testing::attribs() };
    let mut ctx = Context::new(&double, &attribs).expect("a context");
    ctx.mark_lost();
    let before = log.lock().calls.len();
    assert_eq!(ctx.get_graphics_reset_status(), gl::UNKNOWN_CONTEXT_RESET);
    assert_eq!(ctx.get_sync(99, gl::SYNC_STATUS), Some(gl::SIGNALED as i32), "whatever the sync object");
    assert_eq!(ctx.get_sync(99, gl::OBJECT_TYPE), None);
    assert_eq!(ctx.get_query_object(99, gl::QUERY_RESULT_AVAILABLE), Some(1));
    assert_eq!(ctx.get_query_object(99, gl::QUERY_RESULT), None);
    assert_eq!(ctx.get_error(), gl::CONTEXT_LOST);
    ctx.flush();
    ctx.clear_color(1.0, 1.0, 1.0, 1.0);
    assert_eq!(ctx.get_error(), gl::CONTEXT_LOST);
    assert_eq!(ctx.get_error(), gl::NO_ERROR, "a loop over glGetError ends");
    assert_eq!(log.lock().calls.len(), before);
}

#[test]
fn a_context_that_did_not_ask_is_not_told_of_a_reset() {
    let (mut ctx, _) = testing::context();
    ctx.mark_lost();
    assert_eq!(ctx.get_graphics_reset_status(), gl::NO_ERROR);
    ctx.flush();
    assert_eq!(ctx.get_error(), gl::CONTEXT_LOST);
}

#[test]
fn a_reset_that_is_over_is_told_once_and_only_where_that_was_asked_for() {
    let callbacks = Arc::new(FrontendCallbacks::default());
    let (double, _) = testing::share_group();
    let share = ShareGroup::with_callbacks(double.screen.clone(), callbacks.clone());
    let attribs = ContextAttribs { lose_context_on_reset: true, ..testing::attribs() };
    let mut asks = Context::new(&share, &attribs).expect("a context");
    let mut other = Context::new(&share, &testing::attribs()).expect("a context");
    callbacks.caps_invalidated();
    assert_eq!(other.get_graphics_reset_status(), gl::NO_ERROR);
    assert_eq!(asks.get_graphics_reset_status(), gl::UNKNOWN_CONTEXT_RESET);
    assert_eq!(asks.get_graphics_reset_status(), gl::NO_ERROR);
    let mut later = Context::new(&share, &attribs).expect("a context");
    assert_eq!(later.get_graphics_reset_status(), gl::NO_ERROR, "it was made after the reset");
    asks.clear_color(1.0, 1.0, 1.0, 1.0);
    assert_eq!(asks.get_error(), gl::NO_ERROR, "the context lives");
}

#[test]
fn versions_beyond_the_limit_are_refused() {
    let (share, _) = testing::share_group();
    let attribs = ContextAttribs { major: 4, minor: 6, ..testing::attribs() };
    assert!(matches!(Context::new(&share, &attribs), Err(CreateContextError::BadMatch(_))));
    let attribs = ContextAttribs { compatibility: true, ..testing::attribs() };
    assert!(matches!(Context::new(&share, &attribs), Err(CreateContextError::BadMatch(_))));
}

#[test]
fn contexts_come_and_go_without_leaking_handles() {
    let (share, log) = testing::share_group();
    for _ in 0..50 {
        let mut ctx = Context::new(&share, &testing::attribs()).expect("a context");
        let mut names = [0; 3];
        ctx.gen_buffers(&mut names);
        for &name in &names {
            ctx.bind_buffer(gl::ARRAY_BUFFER, name);
        }
        ctx.delete_buffers(&names);
        let mut query = [0];
        ctx.gen_queries(&mut query);
        ctx.begin_query(gl::SAMPLES_PASSED, query[0]);
        let _sync = ctx.fence_sync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
        ctx.delete_sync(_sync);
    }
    for kind in [Kind::Buffer, Kind::Query, Kind::Fence, Kind::Context, Kind::ShaderCso] {
        assert_eq!(share.live(kind), 0, "{kind:?}");
    }
    assert!(log.lock().buffers.is_empty());
}

#[test]
fn contexts_on_several_threads_share_buffers() {
    let (share, _) = testing::share_group();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let share = share.clone();
            scope.spawn(move || {
                let mut ctx = Context::new(&share, &testing::attribs()).expect("a context");
                for _ in 0..200 {
                    let mut name = [0];
                    ctx.gen_buffers(&mut name);
                    ctx.bind_buffer(gl::ARRAY_BUFFER, name[0]);
                    ctx.buffer_data(gl::ARRAY_BUFFER, 4, Some(&name[0].to_le_bytes()), gl::STATIC_DRAW);
                    let mut out = [0; 4];
                    ctx.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut out);
                    assert_eq!(u32::from_le_bytes(out), name[0]);
                    ctx.delete_buffers(&name);
                }
                assert_eq!(ctx.get_error(), gl::NO_ERROR);
            });
        }
    });
    assert_eq!(share.live(Kind::Buffer), 0);
}

#[test]
fn errors_reach_the_debug_callback_and_filters_hold_them_back() {
    let (share, _) = testing::share_group();
    let attribs = ContextAttribs { debug: true, ..testing::attribs() };
    let mut ctx = Context::new(&share, &attribs).expect("a context");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    ctx.debug_message_callback(Some(Box::new(move |m| sink.lock().push((m.type_, m.text.to_owned())))));
    ctx.enable(0);
    assert_eq!(seen.lock().len(), 1);
    assert!(seen.lock()[0].1.contains("glEnable"));
    ctx.push_debug_group(gl::DEBUG_SOURCE_APPLICATION, 1, "group");
    ctx.debug_message_control(gl::DEBUG_SOURCE_API, gl::DEBUG_TYPE_ERROR, gl::DONT_CARE, &[], false);
    ctx.enable(0);
    ctx.pop_debug_group();
    let types: Vec<u32> = seen.lock().iter().map(|m| m.0).collect();
    assert_eq!(types, [gl::DEBUG_TYPE_ERROR, gl::DEBUG_TYPE_PUSH_GROUP, gl::DEBUG_TYPE_POP_GROUP]);
    ctx.enable(0);
    assert_eq!(seen.lock().len(), 4, "the filter went with its group");
    ctx.pop_debug_group();
    while ctx.get_error() != gl::NO_ERROR {}
    ctx.debug_message_callback(None);
    ctx.debug_message_insert(gl::DEBUG_SOURCE_APPLICATION, gl::DEBUG_TYPE_MARKER, 7, gl::DEBUG_SEVERITY_HIGH, "mark");
    assert!(ctx.get_debug_message(Some(4)).is_none(), "text and terminator need five bytes");
    assert_eq!(ctx.get_debug_message(None).map(|m| (m.id, m.text)), Some((7, "mark".to_owned())));
}

#[test]
fn sync_objects_signal_and_check_their_arguments() {
    let (mut ctx, log) = testing::context();
    assert_eq!(ctx.fence_sync(0, 0), 0);
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
    let sync = ctx.fence_sync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
    assert!(ctx.is_sync(sync));
    assert_eq!(ctx.client_wait_sync(sync, 0, 0), gl::ALREADY_SIGNALED);
    assert_eq!(ctx.get_sync(sync, gl::SYNC_STATUS), Some(gl::SIGNALED as i32));
    ctx.wait_sync(sync, 0, 5);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
    ctx.delete_sync(sync);
    assert!(!ctx.is_sync(sync));
    assert_eq!(log.lock().count("fence_destroy"), 1);
    assert_eq!(ctx.client_wait_sync(sync, 0, 0), gl::WAIT_FAILED);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
}
