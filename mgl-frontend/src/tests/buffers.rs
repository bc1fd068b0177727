//! Contents, bindings and mappings of buffers.

use mgpipe_types::gl;

use crate::context::Context;
use crate::testing;

fn buffer(ctx: &mut Context, target: u32, bytes: &[u8]) -> u32 {
    let mut name = [0];
    ctx.gen_buffers(&mut name);
    ctx.bind_buffer(target, name[0]);
    ctx.buffer_data(target, bytes.len(), Some(bytes), gl::STATIC_DRAW);
    name[0]
}

fn contents(ctx: &mut Context, target: u32, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    ctx.get_buffer_sub_data(target, 0, &mut out);
    out
}

#[test]
fn contents_come_back() {
    let (mut ctx, _) = testing::context();
    buffer(&mut ctx, gl::ARRAY_BUFFER, &[1, 2, 3, 4, 5, 6, 7, 8]);
    ctx.buffer_sub_data(gl::ARRAY_BUFFER, 2, &[9, 9]);
    assert_eq!(contents(&mut ctx, gl::ARRAY_BUFFER, 8), [1, 2, 9, 9, 5, 6, 7, 8]);
    assert_eq!(ctx.get_buffer_parameter(gl::ARRAY_BUFFER, gl::BUFFER_SIZE), Some(8));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

#[test]
fn copies_run_on_the_device() {
    let (mut ctx, log) = testing::context();
    buffer(&mut ctx, gl::COPY_READ_BUFFER, &[1, 2, 3, 4]);
    buffer(&mut ctx, gl::COPY_WRITE_BUFFER, &[0; 4]);
    ctx.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::COPY_WRITE_BUFFER, 1, 0, 3);
    assert_eq!(contents(&mut ctx, gl::COPY_WRITE_BUFFER, 4), [2, 3, 4, 0]);
    assert_eq!(log.lock().count("resource_copy_region"), 1);
    ctx.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::COPY_READ_BUFFER, 0, 1, 2);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
}

#[test]
fn errors_leave_the_buffer_alone() {
    let (mut ctx, _) = testing::context();
    ctx.buffer_data(gl::ARRAY_BUFFER, 4, None, gl::STATIC_DRAW);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
    ctx.bind_buffer(gl::ARRAY_BUFFER, 77);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
    ctx.bind_buffer(gl::TEXTURE_2D, 0);
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
    buffer(&mut ctx, gl::ARRAY_BUFFER, &[1, 2, 3, 4]);
    ctx.buffer_sub_data(gl::ARRAY_BUFFER, 3, &[0, 0]);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
    ctx.buffer_sub_data(gl::ARRAY_BUFFER, -1, &[0]);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
    ctx.buffer_data(gl::ARRAY_BUFFER, 4, None, gl::TRIANGLES);
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
    assert_eq!(contents(&mut ctx, gl::ARRAY_BUFFER, 4), [1, 2, 3, 4]);
}

#[test]
fn a_read_mapping_shows_the_contents_and_a_write_mapping_keeps_the_rest() {
    let (mut ctx, log) = testing::context();
    buffer(&mut ctx, gl::ARRAY_BUFFER, &[1, 2, 3, 4]);
    assert!(ctx.map_buffer(gl::ARRAY_BUFFER, gl::READ_ONLY).is_some());
    let pointer = ctx.get_buffer_pointer(gl::ARRAY_BUFFER).expect("mapped");
    assert_eq!(pointer % 64, 0);
    ctx.buffer_sub_data(gl::ARRAY_BUFFER, 0, &[0]);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
    assert!(ctx.unmap_buffer(gl::ARRAY_BUFFER));
    assert!(!ctx.unmap_buffer(gl::ARRAY_BUFFER));
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
    // Nothing was written through the mapping, so the whole range goes back as it was.
    assert!(ctx.map_buffer_range(gl::ARRAY_BUFFER, 1, 2, gl::MAP_WRITE_BIT).is_some());
    assert!(ctx.unmap_buffer(gl::ARRAY_BUFFER));
    assert_eq!(contents(&mut ctx, gl::ARRAY_BUFFER, 4), [1, 2, 3, 4]);
    assert_eq!(log.lock().count("resource_readback"), 1, "the second mapping finds the copy of the first");
}

#[test]
fn mapping_a_fresh_store_needs_no_read_back() {
    let (mut ctx, log) = testing::context();
    let mut name = [0];
    ctx.gen_buffers(&mut name);
    ctx.bind_buffer(gl::ARRAY_BUFFER, name[0]);
    ctx.buffer_data(gl::ARRAY_BUFFER, 256, None, gl::STREAM_DRAW);
    assert!(ctx.map_buffer(gl::ARRAY_BUFFER, gl::WRITE_ONLY).is_some());
    assert!(ctx.unmap_buffer(gl::ARRAY_BUFFER));
    let flags = gl::MAP_WRITE_BIT | gl::MAP_INVALIDATE_BUFFER_BIT;
    assert!(ctx.map_buffer_range(gl::ARRAY_BUFFER, 0, 64, flags).is_some());
    assert!(ctx.unmap_buffer(gl::ARRAY_BUFFER));
    assert_eq!(log.lock().count("resource_readback"), 0);
}

#[test]
fn map_flags_are_checked() {
    let (mut ctx, _) = testing::context();
    buffer(&mut ctx, gl::ARRAY_BUFFER, &[0; 16]);
    let bad = [
        (0, 0, gl::MAP_READ_BIT, gl::INVALID_OPERATION),
        (0, 4, 0, gl::INVALID_OPERATION),
        (0, 4, gl::MAP_READ_BIT | gl::MAP_INVALIDATE_RANGE_BIT, gl::INVALID_OPERATION),
        (0, 4, gl::MAP_READ_BIT | gl::MAP_FLUSH_EXPLICIT_BIT, gl::INVALID_OPERATION),
        (0, 17, gl::MAP_READ_BIT, gl::INVALID_VALUE),
        (-1, 4, gl::MAP_READ_BIT, gl::INVALID_VALUE),
        (0, 4, gl::MAP_READ_BIT | 1 << 20, gl::INVALID_VALUE),
    ];
    for (offset, length, access, error) in bad {
        assert!(ctx.map_buffer_range(gl::ARRAY_BUFFER, offset, length, access).is_none());
        assert_eq!(ctx.get_error(), error, "{offset} {length} {access:#x}");
    }
}

#[test]
fn an_explicit_flush_sends_only_its_range() {
    let (mut ctx, log) = testing::context();
    buffer(&mut ctx, gl::ARRAY_BUFFER, &[0; 256]);
    let flags = gl::MAP_WRITE_BIT | gl::MAP_FLUSH_EXPLICIT_BIT;
    assert!(ctx.map_buffer_range(gl::ARRAY_BUFFER, 64, 128, flags).is_some());
    let before = log.lock().count("resource_subdata");
    ctx.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 0, 16);
    ctx.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 120, 16);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
    assert!(ctx.unmap_buffer(gl::ARRAY_BUFFER));
    assert_eq!(log.lock().count("resource_subdata"), before + 1);
}

#[test]
fn a_deleted_buffer_dies_with_its_last_user() {
    let (mut ctx, log) = testing::context();
    let mut array = [0];
    ctx.gen_vertex_arrays(&mut array);
    ctx.bind_vertex_array(array[0]);
    let name = buffer(&mut ctx, gl::ARRAY_BUFFER, &[0; 16]);
    ctx.vertex_attrib_pointer(0, 4, gl::FLOAT, false, 0, 0);
    ctx.bind_vertex_array(0);
    ctx.delete_buffers(&[name]);
    assert!(!ctx.is_buffer(name));
    assert_eq!(log.lock().count("resource_destroy"), 0, "the vertex array still owns it");
    ctx.delete_vertex_arrays(&array);
    assert_eq!(log.lock().count("resource_destroy"), 1);
    assert!(log.lock().buffers.is_empty());
}

#[test]
fn indexed_points_check_their_ranges() {
    let (mut ctx, _) = testing::context();
    let name = buffer(&mut ctx, gl::UNIFORM_BUFFER, &[0; 64]);
    ctx.bind_buffer_base(gl::UNIFORM_BUFFER, 10_000, name);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
    ctx.bind_buffer_range(gl::UNIFORM_BUFFER, 0, name, 0, 0);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
    ctx.bind_buffer_range(gl::ARRAY_BUFFER, 0, name, 0, 16);
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
    ctx.bind_buffer_range(gl::UNIFORM_BUFFER, 1, name, 16, 32);
    assert_eq!(ctx.get_indexed(gl::UNIFORM_BUFFER_BINDING, 1).map(|v| v.to_u32(0)), Some(name));
    assert_eq!(ctx.get_indexed(gl::UNIFORM_BUFFER_START, 1).map(|v| v.to_i64(0)), Some(16));
    assert_eq!(ctx.get_indexed(gl::UNIFORM_BUFFER_SIZE, 1).map(|v| v.to_i64(0)), Some(32));
    ctx.delete_buffers(&[name]);
    assert_eq!(ctx.get_indexed(gl::UNIFORM_BUFFER_BINDING, 1).map(|v| v.to_u32(0)), Some(0));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

#[test]
fn kept_copies_stay_within_the_budget() {
    let (share, _) = testing::share_group();
    let mut ctx = Context::new(&share, &testing::attribs()).expect("a context");
    let mut names = [0; 10];
    ctx.gen_buffers(&mut names);
    for &name in &names {
        ctx.bind_buffer(gl::ARRAY_BUFFER, name);
        ctx.buffer_data(gl::ARRAY_BUFFER, 12 << 20, None, gl::STREAM_DRAW);
        assert!(ctx.map_buffer(gl::ARRAY_BUFFER, gl::WRITE_ONLY).is_some());
        assert!(ctx.unmap_buffer(gl::ARRAY_BUFFER));
        assert!(share.shadow_bytes.load(std::sync::atomic::Ordering::Relaxed) <= 64 << 20);
    }
    ctx.delete_buffers(&names);
    assert_eq!(share.shadow_bytes.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[test]
fn immutable_storage_keeps_its_promises() {
    let (mut ctx, log) = testing::context();
    let mut name = [0];
    ctx.gen_buffers(&mut name);
    ctx.bind_buffer(gl::ARRAY_BUFFER, name[0]);
    ctx.buffer_storage(gl::ARRAY_BUFFER, 0, None, gl::MAP_READ_BIT);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE, "no size");
    ctx.buffer_storage(gl::ARRAY_BUFFER, 4, None, gl::MAP_PERSISTENT_BIT);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE, "persistent needs read or write");
    ctx.buffer_storage(gl::ARRAY_BUFFER, 4, None, gl::MAP_READ_BIT | gl::MAP_COHERENT_BIT);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE, "coherent needs persistent");
    ctx.buffer_storage(gl::ARRAY_BUFFER, 4, Some(&[1, 2, 3, 4]), gl::MAP_READ_BIT);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    assert_eq!(ctx.get_buffer_parameter(gl::ARRAY_BUFFER, gl::BUFFER_IMMUTABLE_STORAGE), Some(1));
    ctx.buffer_data(gl::ARRAY_BUFFER, 8, None, gl::STATIC_DRAW);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "never replaced");
    ctx.buffer_sub_data(gl::ARRAY_BUFFER, 0, &[9]);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "not dynamic");
    assert!(ctx.map_buffer(gl::ARRAY_BUFFER, gl::WRITE_ONLY).is_none());
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "not mappable for writing");
    assert!(ctx.map_buffer(gl::ARRAY_BUFFER, gl::READ_ONLY).is_some());
    ctx.buffer_data(gl::ARRAY_BUFFER, 8, None, gl::STATIC_DRAW);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
    assert!(ctx.unmap_buffer(gl::ARRAY_BUFFER), "the failed call left the mapping alone");
    assert_eq!(contents(&mut ctx, gl::ARRAY_BUFFER, 4), [1, 2, 3, 4]);
    assert_eq!(log.lock().buffers.len(), 1);
}
