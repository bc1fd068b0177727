//! Draws: what reaches the pipe, and what is refused.

use mgpipe_types::{draw_flags, gl};

use super::programs::simple_program;
use crate::context::Context;
use crate::testing;

/// A context that is ready to draw.
pub(super) fn ready() -> (Context, std::sync::Arc<parking_lot::Mutex<testing::Log>>) {
    let (mut ctx, log) = testing::context();
    let mut array = [0];
    ctx.gen_vertex_arrays(&mut array);
    ctx.bind_vertex_array(array[0]);
    let program = simple_program(&mut ctx);
    ctx.use_program(program);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    (ctx, log)
}

fn index_buffer(ctx: &mut Context, bytes: &[u8]) {
    let mut name = [0];
    ctx.gen_buffers(&mut name);
    ctx.bind_buffer(gl::ELEMENT_ARRAY_BUFFER, name[0]);
    ctx.buffer_data(gl::ELEMENT_ARRAY_BUFFER, bytes.len(), Some(bytes), gl::STATIC_DRAW);
}

#[test]
fn draws_reach_the_pipe_with_their_ranges() {
    let (mut ctx, log) = ready();
    ctx.draw_arrays(gl::TRIANGLES, 3, 6);
    ctx.draw_arrays_instanced(gl::POINTS, 0, 1, 5, 2);
    ctx.multi_draw_arrays(gl::LINES, &[0, 8], &[2, 4]);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    let log = log.lock();
    assert_eq!(log.draws.len(), 3);
    assert_eq!((log.draws[0].1[0].start, log.draws[0].1[0].count), (3, 6));
    assert_eq!((log.draws[1].0.instance_count, log.draws[1].0.start_instance), (5, 2));
    assert_eq!(log.draws[2].1.len(), 2);
}

#[test]
fn a_steady_draw_makes_one_call() {
    let (mut ctx, log) = ready();
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    let before = log.lock().calls.len();
    for _ in 0..10 {
        ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    }
    assert_eq!(log.lock().calls.len(), before + 10);
}

#[test]
fn indexed_draws_count_in_indices() {
    let (mut ctx, log) = ready();
    index_buffer(&mut ctx, &[0; 32]);
    ctx.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, 8);
    ctx.draw_elements_instanced(gl::TRIANGLES, 3, gl::UNSIGNED_INT, 4, 2, -1, 0);
    ctx.multi_draw_elements(gl::TRIANGLES, &[3, 3], gl::UNSIGNED_BYTE, &[0, 6], Some(&[0, 4]));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    let log = log.lock();
    assert_eq!((log.draws[0].0.index_size, log.draws[0].1[0].start), (2, 4));
    assert_eq!((log.draws[1].1[0].start, log.draws[1].1[0].index_bias), (1, -1));
    assert_eq!((log.draws[2].1[1].start, log.draws[2].1[1].index_bias), (6, 4));
}

#[test]
fn a_misaligned_index_offset_takes_the_bytes_along() {
    let (mut ctx, log) = ready();
    index_buffer(&mut ctx, &[9, 1, 0, 2, 0, 3, 0]);
    ctx.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, 1);
    let log = log.lock();
    assert_eq!(log.index_bytes, [[1, 0, 2, 0, 3, 0]]);
    assert_ne!(log.draws[0].0.flags & draw_flags::USER_INDICES, 0);
}

#[test]
fn restart_is_on_only_where_the_index_can_occur() {
    let (mut ctx, log) = ready();
    index_buffer(&mut ctx, &[0; 32]);
    ctx.enable(gl::PRIMITIVE_RESTART);
    ctx.primitive_restart_index(0xffff);
    ctx.draw_elements(gl::TRIANGLE_STRIP, 3, gl::UNSIGNED_SHORT, 0);
    ctx.draw_elements(gl::TRIANGLE_STRIP, 3, gl::UNSIGNED_BYTE, 0);
    let log = log.lock();
    assert_ne!(log.draws[0].0.flags & draw_flags::PRIMITIVE_RESTART, 0);
    assert_eq!(log.draws[0].0.restart_index, 0xffff);
    assert_eq!(log.draws[1].0.flags & draw_flags::PRIMITIVE_RESTART, 0);
}

#[test]
fn illegal_draws_are_refused() {
    let (mut ctx, log) = ready();
    ctx.draw_arrays(gl::QUADS, 0, 4);
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
    ctx.draw_arrays(40, 0, 4);
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
    ctx.draw_arrays(gl::TRIANGLES, -1, 4);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
    ctx.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_INT, 0);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "no element array");
    index_buffer(&mut ctx, &[0; 16]);
    ctx.draw_elements(gl::TRIANGLES, 3, gl::FLOAT, 0);
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
    assert!(ctx.map_buffer(gl::ELEMENT_ARRAY_BUFFER, gl::WRITE_ONLY).is_some());
    ctx.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_INT, 0);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "the element array is mapped");
    assert!(ctx.unmap_buffer(gl::ELEMENT_ARRAY_BUFFER));
    ctx.bind_vertex_array(0);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "no vertex array");
    assert_eq!(log.lock().draws.len(), 0);
}

#[test]
fn a_context_of_an_old_version_draws_with_vertex_array_0() {
    let (share, log) = testing::share_group();
    let attribs = crate::boundary::ContextAttribs { major: 2, minor: 1, ..testing::attribs() };
    let mut ctx = Context::new(&share, &attribs).expect("a context");
    testing::give_drawable(&mut ctx);
    let program = simple_program(&mut ctx);
    ctx.use_program(program);
    ctx.bind_buffer(gl::ARRAY_BUFFER, 500);
    ctx.buffer_data(gl::ARRAY_BUFFER, 64, None, gl::STATIC_DRAW);
    ctx.vertex_attrib_pointer(0, 4, gl::FLOAT, false, 0, 0);
    ctx.enable_vertex_attrib_array(0);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    assert_eq!(log.lock().draws.len(), 1);
    ctx.vertex_attrib_pointer(0, 4, gl::FLOAT, false, 0, 0);
    ctx.bind_buffer(gl::ARRAY_BUFFER, 0);
    ctx.vertex_attrib_pointer(0, 4, gl::FLOAT, false, 0, 16);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "memory of the application needs a buffer");
}

#[test]
fn nothing_to_draw_is_no_error() {
    let (mut ctx, log) = ready();
    ctx.draw_arrays(gl::TRIANGLES, 0, 0);
    ctx.draw_arrays_instanced(gl::TRIANGLES, 0, 3, 0, 0);
    ctx.use_program(0);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    assert_eq!(log.lock().draws.len(), 0);
}

#[test]
fn a_failed_query_discards_what_depends_on_it() {
    let (mut ctx, log) = ready();
    let mut query = [0];
    ctx.gen_queries(&mut query);
    ctx.begin_query(gl::SAMPLES_PASSED, query[0]);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    ctx.end_query(gl::SAMPLES_PASSED);
    log.lock().query_value = 0;
    ctx.begin_conditional_render(query[0], gl::QUERY_WAIT);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    ctx.end_conditional_render();
    assert_eq!(log.lock().draws.len(), 1);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    assert_eq!(log.lock().draws.len(), 2);
    assert_eq!(ctx.get_query_object(query[0], gl::QUERY_RESULT), Some(0));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

#[test]
fn availability_does_not_wait() {
    let (mut ctx, log) = ready();
    let mut query = [0];
    ctx.gen_queries(&mut query);
    ctx.begin_query(gl::ANY_SAMPLES_PASSED, query[0]);
    assert_eq!(ctx.get_query_object(query[0], gl::QUERY_RESULT_AVAILABLE), None);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "the query is active");
    ctx.end_query(gl::ANY_SAMPLES_PASSED);
    assert_eq!(ctx.get_query_object(query[0], gl::QUERY_RESULT_AVAILABLE), Some(0));
    assert_eq!(log.lock().count("query_result"), 0);
    log.lock().query_ready = true;
    log.lock().query_value = 9;
    assert_eq!(ctx.get_query_object(query[0], gl::QUERY_RESULT_AVAILABLE), Some(1));
    assert_eq!(ctx.get_query_object(query[0], gl::QUERY_RESULT), Some(1), "any samples is a boolean");
}
