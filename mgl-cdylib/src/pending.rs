//! Stand-ins for frontend methods that do not exist yet; an inherent method of the same name takes precedence.
//!
//! Each raises `GL_INVALID_OPERATION`. The file disappears when the frontend has all of `API.md`.
#![allow(missing_docs, dead_code, unused_variables)]

use std::ffi::CStr;
use std::ptr::NonNull;

use crate::front::{ActiveInfo, Context, DebugMessage, LoggedMessage, Params, PixelData, PixelDest, Values};

fn none<R: Default>(context: &mut Context, name: &str) -> R {
    log::warn!("{name} is not implemented");
    context.record_error(mgpipe_types::gl::INVALID_OPERATION, name);
    R::default()
}

pub trait Pending: Sized {
    fn context(&mut self) -> &mut Context;
    fn cull_face(&mut self, mode: u32) {
        none(self.context(), "cull_face")
    }
    fn front_face(&mut self, mode: u32) {
        none(self.context(), "front_face")
    }
    fn hint(&mut self, target: u32, mode: u32) {
        none(self.context(), "hint")
    }
    fn line_width(&mut self, width: f32) {
        none(self.context(), "line_width")
    }
    fn point_size(&mut self, size: f32) {
        none(self.context(), "point_size")
    }
    fn polygon_mode(&mut self, face: u32, mode: u32) {
        none(self.context(), "polygon_mode")
    }
    fn scissor(&mut self, x: i32, y: i32, width: i32, height: i32) {
        none(self.context(), "scissor")
    }
    fn draw_buffer(&mut self, buf: u32) {
        none(self.context(), "draw_buffer")
    }
    fn clear(&mut self, mask: u32) {
        none(self.context(), "clear")
    }
    fn clear_color(&mut self, red: f32, green: f32, blue: f32, alpha: f32) {
        none(self.context(), "clear_color")
    }
    fn clear_stencil(&mut self, s: i32) {
        none(self.context(), "clear_stencil")
    }
    fn clear_depth(&mut self, depth: f64) {
        none(self.context(), "clear_depth")
    }
    fn stencil_mask(&mut self, mask: u32) {
        none(self.context(), "stencil_mask")
    }
    fn color_mask(&mut self, red: bool, green: bool, blue: bool, alpha: bool) {
        none(self.context(), "color_mask")
    }
    fn depth_mask(&mut self, flag: bool) {
        none(self.context(), "depth_mask")
    }
    fn disable(&mut self, cap: u32) {
        none(self.context(), "disable")
    }
    fn enable(&mut self, cap: u32) {
        none(self.context(), "enable")
    }
    fn finish(&mut self) {
        none(self.context(), "finish")
    }
    fn flush(&mut self) {
        none(self.context(), "flush")
    }
    fn blend_func(&mut self, sfactor: u32, dfactor: u32) {
        none(self.context(), "blend_func")
    }
    fn logic_op(&mut self, opcode: u32) {
        none(self.context(), "logic_op")
    }
    fn stencil_func(&mut self, func: u32, ref_: i32, mask: u32) {
        none(self.context(), "stencil_func")
    }
    fn stencil_op(&mut self, fail: u32, zfail: u32, zpass: u32) {
        none(self.context(), "stencil_op")
    }
    fn depth_func(&mut self, func: u32) {
        none(self.context(), "depth_func")
    }
    fn pixel_storef(&mut self, pname: u32, param: f32) {
        none(self.context(), "pixel_storef")
    }
    fn pixel_storei(&mut self, pname: u32, param: i32) {
        none(self.context(), "pixel_storei")
    }
    fn read_buffer(&mut self, src: u32) {
        none(self.context(), "read_buffer")
    }
    fn is_enabled(&mut self, cap: u32) -> bool {
        none(self.context(), "is_enabled")
    }
    fn depth_range(&mut self, n: f64, f: f64) {
        none(self.context(), "depth_range")
    }
    fn viewport(&mut self, x: i32, y: i32, width: i32, height: i32) {
        none(self.context(), "viewport")
    }
    fn draw_arrays(&mut self, mode: u32, first: i32, count: i32) {
        none(self.context(), "draw_arrays")
    }
    fn polygon_offset(&mut self, factor: f32, units: f32) {
        none(self.context(), "polygon_offset")
    }
    fn copy_tex_image_1d(
        &mut self,
        target: u32,
        level: i32,
        internalformat: u32,
        x: i32,
        y: i32,
        width: i32,
        border: i32,
    ) {
        none(self.context(), "copy_tex_image_1d")
    }
    fn copy_tex_image_2d(
        &mut self,
        target: u32,
        level: i32,
        internalformat: u32,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
        border: i32,
    ) {
        none(self.context(), "copy_tex_image_2d")
    }
    fn copy_tex_sub_image_1d(&mut self, target: u32, level: i32, xoffset: i32, x: i32, y: i32, width: i32) {
        none(self.context(), "copy_tex_sub_image_1d")
    }
    fn copy_tex_sub_image_2d(
        &mut self,
        target: u32,
        level: i32,
        xoffset: i32,
        yoffset: i32,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
    ) {
        none(self.context(), "copy_tex_sub_image_2d")
    }
    fn bind_texture(&mut self, target: u32, texture: u32) {
        none(self.context(), "bind_texture")
    }
    fn is_texture(&mut self, texture: u32) -> bool {
        none(self.context(), "is_texture")
    }
    fn copy_tex_sub_image_3d(
        &mut self,
        target: u32,
        level: i32,
        xoffset: i32,
        yoffset: i32,
        zoffset: i32,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
    ) {
        none(self.context(), "copy_tex_sub_image_3d")
    }
    fn active_texture(&mut self, texture: u32) {
        none(self.context(), "active_texture")
    }
    fn sample_coverage(&mut self, value: f32, invert: bool) {
        none(self.context(), "sample_coverage")
    }
    fn blend_func_separate(&mut self, sfactor_rgb: u32, dfactor_rgb: u32, sfactor_alpha: u32, dfactor_alpha: u32) {
        none(self.context(), "blend_func_separate")
    }
    fn blend_color(&mut self, red: f32, green: f32, blue: f32, alpha: f32) {
        none(self.context(), "blend_color")
    }
    fn blend_equation(&mut self, mode: u32) {
        none(self.context(), "blend_equation")
    }
    fn is_query(&mut self, id: u32) -> bool {
        none(self.context(), "is_query")
    }
    fn begin_query(&mut self, target: u32, id: u32) {
        none(self.context(), "begin_query")
    }
    fn end_query(&mut self, target: u32) {
        none(self.context(), "end_query")
    }
    fn bind_buffer(&mut self, target: u32, buffer: u32) {
        none(self.context(), "bind_buffer")
    }
    fn is_buffer(&mut self, buffer: u32) -> bool {
        none(self.context(), "is_buffer")
    }
    fn unmap_buffer(&mut self, target: u32) -> bool {
        none(self.context(), "unmap_buffer")
    }
    fn blend_equation_separate(&mut self, mode_rgb: u32, mode_alpha: u32) {
        none(self.context(), "blend_equation_separate")
    }
    fn stencil_op_separate(&mut self, face: u32, sfail: u32, dpfail: u32, dppass: u32) {
        none(self.context(), "stencil_op_separate")
    }
    fn stencil_func_separate(&mut self, face: u32, func: u32, ref_: i32, mask: u32) {
        none(self.context(), "stencil_func_separate")
    }
    fn stencil_mask_separate(&mut self, face: u32, mask: u32) {
        none(self.context(), "stencil_mask_separate")
    }
    fn attach_shader(&mut self, program: u32, shader: u32) {
        none(self.context(), "attach_shader")
    }
    fn compile_shader(&mut self, shader: u32) {
        none(self.context(), "compile_shader")
    }
    fn create_program(&mut self) -> u32 {
        none(self.context(), "create_program")
    }
    fn create_shader(&mut self, type_: u32) -> u32 {
        none(self.context(), "create_shader")
    }
    fn delete_program(&mut self, program: u32) {
        none(self.context(), "delete_program")
    }
    fn delete_shader(&mut self, shader: u32) {
        none(self.context(), "delete_shader")
    }
    fn detach_shader(&mut self, program: u32, shader: u32) {
        none(self.context(), "detach_shader")
    }
    fn disable_vertex_attrib_array(&mut self, index: u32) {
        none(self.context(), "disable_vertex_attrib_array")
    }
    fn enable_vertex_attrib_array(&mut self, index: u32) {
        none(self.context(), "enable_vertex_attrib_array")
    }
    fn is_program(&mut self, program: u32) -> bool {
        none(self.context(), "is_program")
    }
    fn is_shader(&mut self, shader: u32) -> bool {
        none(self.context(), "is_shader")
    }
    fn link_program(&mut self, program: u32) {
        none(self.context(), "link_program")
    }
    fn use_program(&mut self, program: u32) {
        none(self.context(), "use_program")
    }
    fn validate_program(&mut self, program: u32) {
        none(self.context(), "validate_program")
    }
    fn vertex_attrib_4f(&mut self, index: u32, x: f32, y: f32, z: f32, w: f32) {
        none(self.context(), "vertex_attrib_4f")
    }
    fn color_maski(&mut self, index: u32, r: bool, g: bool, b: bool, a: bool) {
        none(self.context(), "color_maski")
    }
    fn enablei(&mut self, target: u32, index: u32) {
        none(self.context(), "enablei")
    }
    fn disablei(&mut self, target: u32, index: u32) {
        none(self.context(), "disablei")
    }
    fn is_enabledi(&mut self, target: u32, index: u32) -> bool {
        none(self.context(), "is_enabledi")
    }
    fn begin_transform_feedback(&mut self, primitive_mode: u32) {
        none(self.context(), "begin_transform_feedback")
    }
    fn end_transform_feedback(&mut self) {
        none(self.context(), "end_transform_feedback")
    }
    fn bind_buffer_range(&mut self, target: u32, index: u32, buffer: u32, offset: isize, size: isize) {
        none(self.context(), "bind_buffer_range")
    }
    fn bind_buffer_base(&mut self, target: u32, index: u32, buffer: u32) {
        none(self.context(), "bind_buffer_base")
    }
    fn clamp_color(&mut self, target: u32, clamp: u32) {
        none(self.context(), "clamp_color")
    }
    fn begin_conditional_render(&mut self, id: u32, mode: u32) {
        none(self.context(), "begin_conditional_render")
    }
    fn end_conditional_render(&mut self) {
        none(self.context(), "end_conditional_render")
    }
    fn vertex_attrib_i4i(&mut self, index: u32, x: i32, y: i32, z: i32, w: i32) {
        none(self.context(), "vertex_attrib_i4i")
    }
    fn vertex_attrib_i4ui(&mut self, index: u32, x: u32, y: u32, z: u32, w: u32) {
        none(self.context(), "vertex_attrib_i4ui")
    }
    fn clear_bufferfi(&mut self, buffer: u32, drawbuffer: i32, depth: f32, stencil: i32) {
        none(self.context(), "clear_bufferfi")
    }
    fn is_renderbuffer(&mut self, renderbuffer: u32) -> bool {
        none(self.context(), "is_renderbuffer")
    }
    fn bind_renderbuffer(&mut self, target: u32, renderbuffer: u32) {
        none(self.context(), "bind_renderbuffer")
    }
    fn renderbuffer_storage(&mut self, target: u32, internalformat: u32, width: i32, height: i32) {
        none(self.context(), "renderbuffer_storage")
    }
    fn is_framebuffer(&mut self, framebuffer: u32) -> bool {
        none(self.context(), "is_framebuffer")
    }
    fn bind_framebuffer(&mut self, target: u32, framebuffer: u32) {
        none(self.context(), "bind_framebuffer")
    }
    fn check_framebuffer_status(&mut self, target: u32) -> u32 {
        none(self.context(), "check_framebuffer_status")
    }
    fn framebuffer_texture_1d(&mut self, target: u32, attachment: u32, textarget: u32, texture: u32, level: i32) {
        none(self.context(), "framebuffer_texture_1d")
    }
    fn framebuffer_texture_2d(&mut self, target: u32, attachment: u32, textarget: u32, texture: u32, level: i32) {
        none(self.context(), "framebuffer_texture_2d")
    }
    fn framebuffer_texture_3d(
        &mut self,
        target: u32,
        attachment: u32,
        textarget: u32,
        texture: u32,
        level: i32,
        zoffset: i32,
    ) {
        none(self.context(), "framebuffer_texture_3d")
    }
    fn framebuffer_renderbuffer(&mut self, target: u32, attachment: u32, renderbuffertarget: u32, renderbuffer: u32) {
        none(self.context(), "framebuffer_renderbuffer")
    }
    fn generate_mipmap(&mut self, target: u32) {
        none(self.context(), "generate_mipmap")
    }
    fn blit_framebuffer(
        &mut self,
        src_x0: i32,
        src_y0: i32,
        src_x1: i32,
        src_y1: i32,
        dst_x0: i32,
        dst_y0: i32,
        dst_x1: i32,
        dst_y1: i32,
        mask: u32,
        filter: u32,
    ) {
        none(self.context(), "blit_framebuffer")
    }
    fn renderbuffer_storage_multisample(
        &mut self,
        target: u32,
        samples: i32,
        internalformat: u32,
        width: i32,
        height: i32,
    ) {
        none(self.context(), "renderbuffer_storage_multisample")
    }
    fn framebuffer_texture_layer(&mut self, target: u32, attachment: u32, texture: u32, level: i32, layer: i32) {
        none(self.context(), "framebuffer_texture_layer")
    }
    fn flush_mapped_buffer_range(&mut self, target: u32, offset: isize, length: isize) {
        none(self.context(), "flush_mapped_buffer_range")
    }
    fn bind_vertex_array(&mut self, array: u32) {
        none(self.context(), "bind_vertex_array")
    }
    fn is_vertex_array(&mut self, array: u32) -> bool {
        none(self.context(), "is_vertex_array")
    }
    fn tex_buffer(&mut self, target: u32, internalformat: u32, buffer: u32) {
        none(self.context(), "tex_buffer")
    }
    fn primitive_restart_index(&mut self, index: u32) {
        none(self.context(), "primitive_restart_index")
    }
    fn copy_buffer_sub_data(
        &mut self,
        read_target: u32,
        write_target: u32,
        read_offset: isize,
        write_offset: isize,
        size: isize,
    ) {
        none(self.context(), "copy_buffer_sub_data")
    }
    fn uniform_block_binding(&mut self, program: u32, uniform_block_index: u32, uniform_block_binding: u32) {
        none(self.context(), "uniform_block_binding")
    }
    fn provoking_vertex(&mut self, mode: u32) {
        none(self.context(), "provoking_vertex")
    }
    fn fence_sync(&mut self, condition: u32, flags: u32) -> usize {
        none(self.context(), "fence_sync")
    }
    fn is_sync(&mut self, sync: usize) -> bool {
        none(self.context(), "is_sync")
    }
    fn delete_sync(&mut self, sync: usize) {
        none(self.context(), "delete_sync")
    }
    fn client_wait_sync(&mut self, sync: usize, flags: u32, timeout: u64) -> u32 {
        none(self.context(), "client_wait_sync")
    }
    fn wait_sync(&mut self, sync: usize, flags: u32, timeout: u64) {
        none(self.context(), "wait_sync")
    }
    fn framebuffer_texture(&mut self, target: u32, attachment: u32, texture: u32, level: i32) {
        none(self.context(), "framebuffer_texture")
    }
    fn tex_image_2d_multisample(
        &mut self,
        target: u32,
        samples: i32,
        internalformat: u32,
        width: i32,
        height: i32,
        fixedsamplelocations: bool,
    ) {
        none(self.context(), "tex_image_2d_multisample")
    }
    fn tex_image_3d_multisample(
        &mut self,
        target: u32,
        samples: i32,
        internalformat: u32,
        width: i32,
        height: i32,
        depth: i32,
        fixedsamplelocations: bool,
    ) {
        none(self.context(), "tex_image_3d_multisample")
    }
    fn sample_maski(&mut self, mask_number: u32, mask: u32) {
        none(self.context(), "sample_maski")
    }
    fn is_sampler(&mut self, sampler: u32) -> bool {
        none(self.context(), "is_sampler")
    }
    fn bind_sampler(&mut self, unit: u32, sampler: u32) {
        none(self.context(), "bind_sampler")
    }
    fn query_counter(&mut self, id: u32, target: u32) {
        none(self.context(), "query_counter")
    }
    fn vertex_attrib_divisor(&mut self, index: u32, divisor: u32) {
        none(self.context(), "vertex_attrib_divisor")
    }
    fn gen_buffers(&mut self, names: &mut [u32]) {
        none(self.context(), "gen_buffers")
    }
    fn delete_buffers(&mut self, names: &[u32]) {
        none(self.context(), "delete_buffers")
    }
    fn buffer_data(&mut self, target: u32, size: usize, data: Option<&[u8]>, usage: u32) {
        none(self.context(), "buffer_data")
    }
    fn buffer_sub_data(&mut self, target: u32, offset: isize, data: &[u8]) {
        none(self.context(), "buffer_sub_data")
    }
    fn get_buffer_sub_data(&mut self, target: u32, offset: isize, out: &mut [u8]) {
        none(self.context(), "get_buffer_sub_data")
    }
    fn map_buffer(&mut self, target: u32, access: u32) -> Option<NonNull<u8>> {
        none(self.context(), "map_buffer")
    }
    fn map_buffer_range(&mut self, target: u32, offset: isize, length: isize, access: u32) -> Option<NonNull<u8>> {
        none(self.context(), "map_buffer_range")
    }
    fn get_buffer_pointer(&mut self, target: u32) -> Option<usize> {
        none(self.context(), "get_buffer_pointer")
    }
    fn get_buffer_parameter(&mut self, target: u32, pname: u32) -> Option<i64> {
        none(self.context(), "get_buffer_parameter")
    }
    fn draw_elements(&mut self, mode: u32, count: i32, type_: u32, indices: usize) {
        none(self.context(), "draw_elements")
    }
    fn multi_draw_arrays(&mut self, mode: u32, firsts: &[i32], counts: &[i32]) {
        none(self.context(), "multi_draw_arrays")
    }
    fn multi_draw_elements(
        &mut self,
        mode: u32,
        counts: &[i32],
        type_: u32,
        indices: &[usize],
        base_vertices: Option<&[i32]>,
    ) {
        none(self.context(), "multi_draw_elements")
    }
    fn draw_buffers(&mut self, buffers: &[u32]) {
        none(self.context(), "draw_buffers")
    }
    fn clear_bufferfv(&mut self, buffer: u32, drawbuffer: i32, value: &[f32]) {
        none(self.context(), "clear_bufferfv")
    }
    fn clear_bufferiv(&mut self, buffer: u32, drawbuffer: i32, value: &[i32]) {
        none(self.context(), "clear_bufferiv")
    }
    fn vertex_attrib_pointer(
        &mut self,
        index: u32,
        size: i32,
        type_: u32,
        normalized: bool,
        stride: i32,
        offset: usize,
    ) {
        none(self.context(), "vertex_attrib_pointer")
    }
    fn vertex_attrib_i_pointer(&mut self, index: u32, size: i32, type_: u32, stride: i32, offset: usize) {
        none(self.context(), "vertex_attrib_i_pointer")
    }
    fn get_vertex_attrib(&mut self, index: u32, pname: u32) -> Option<Values> {
        none(self.context(), "get_vertex_attrib")
    }
    fn get_vertex_attrib_pointer(&mut self, index: u32) -> Option<usize> {
        none(self.context(), "get_vertex_attrib_pointer")
    }
    fn unpack_bytes(&mut self, dims: u32, size: [i32; 3], format: u32, type_: u32) -> Option<usize> {
        none(self.context(), "unpack_bytes")
    }
    fn pack_bytes(&mut self, dims: u32, size: [i32; 3], format: u32, type_: u32) -> Option<usize> {
        none(self.context(), "pack_bytes")
    }
    fn tex_image_pack_bytes(&mut self, target: u32, level: i32, format: u32, type_: u32) -> Option<usize> {
        none(self.context(), "tex_image_pack_bytes")
    }
    fn compressed_unpack_is_buffer(&mut self) -> bool {
        none(self.context(), "compressed_unpack_is_buffer")
    }
    fn compressed_tex_image_pack_bytes(&mut self, target: u32, level: i32) -> Option<usize> {
        none(self.context(), "compressed_tex_image_pack_bytes")
    }
    fn read_pixels(&mut self, x: i32, y: i32, width: i32, height: i32, format: u32, type_: u32, dest: PixelDest<'_>) {
        none(self.context(), "read_pixels")
    }
    fn get_tex_image(&mut self, target: u32, level: i32, format: u32, type_: u32, dest: PixelDest<'_>) {
        none(self.context(), "get_tex_image")
    }
    fn get_compressed_tex_image(&mut self, target: u32, level: i32, dest: PixelDest<'_>) {
        none(self.context(), "get_compressed_tex_image")
    }
    fn get_string(&mut self, name: u32) -> Option<&'static CStr> {
        none(self.context(), "get_string")
    }
    fn get_stringi(&mut self, name: u32, index: u32) -> Option<&'static CStr> {
        none(self.context(), "get_stringi")
    }
    fn get_tex_parameter(&mut self, target: u32, pname: u32) -> Option<Values> {
        none(self.context(), "get_tex_parameter")
    }
    fn get_tex_level_parameter(&mut self, target: u32, level: i32, pname: u32) -> Option<Values> {
        none(self.context(), "get_tex_level_parameter")
    }
    fn get_sampler_parameter(&mut self, sampler: u32, pname: u32) -> Option<Values> {
        none(self.context(), "get_sampler_parameter")
    }
    fn get_multisample(&mut self, pname: u32, index: u32) -> Option<[f32; 2]> {
        none(self.context(), "get_multisample")
    }
    fn get_query(&mut self, target: u32, pname: u32) -> Option<i32> {
        none(self.context(), "get_query")
    }
    fn get_query_object(&mut self, id: u32, pname: u32) -> Option<u64> {
        none(self.context(), "get_query_object")
    }
    fn get_sync(&mut self, sync: usize, pname: u32) -> Option<i32> {
        none(self.context(), "get_sync")
    }
    fn get_renderbuffer_parameter(&mut self, target: u32, pname: u32) -> Option<i32> {
        none(self.context(), "get_renderbuffer_parameter")
    }
    fn get_framebuffer_attachment_parameter(&mut self, target: u32, attachment: u32, pname: u32) -> Option<i32> {
        none(self.context(), "get_framebuffer_attachment_parameter")
    }
    fn shader_source(&mut self, shader: u32, strings: &[&[u8]]) {
        none(self.context(), "shader_source")
    }
    fn bind_attrib_location(&mut self, program: u32, index: u32, name: &str) {
        none(self.context(), "bind_attrib_location")
    }
    fn bind_frag_data_location(&mut self, program: u32, color_number: u32, index: u32, name: &str) {
        none(self.context(), "bind_frag_data_location")
    }
    fn transform_feedback_varyings(&mut self, program: u32, varyings: &[&str], buffer_mode: u32) {
        none(self.context(), "transform_feedback_varyings")
    }
    fn get_attrib_location(&mut self, program: u32, name: &str) -> i32 {
        none(self.context(), "get_attrib_location")
    }
    fn get_frag_data_location(&mut self, program: u32, name: &str) -> i32 {
        none(self.context(), "get_frag_data_location")
    }
    fn get_uniform_block_index(&mut self, program: u32, name: &str) -> u32 {
        none(self.context(), "get_uniform_block_index")
    }
    fn get_shader(&mut self, shader: u32, pname: u32) -> Option<i32> {
        none(self.context(), "get_shader")
    }
    fn get_program(&mut self, program: u32, pname: u32) -> Option<Values> {
        none(self.context(), "get_program")
    }
    fn get_shader_info_log(&mut self, shader: u32) -> Option<String> {
        none(self.context(), "get_shader_info_log")
    }
    fn get_shader_source(&mut self, shader: u32) -> Option<Vec<u8>> {
        none(self.context(), "get_shader_source")
    }
    fn get_attached_shaders(&mut self, program: u32) -> Option<Vec<u32>> {
        none(self.context(), "get_attached_shaders")
    }
    fn get_active_attrib(&mut self, program: u32, index: u32) -> Option<ActiveInfo> {
        none(self.context(), "get_active_attrib")
    }
    fn get_transform_feedback_varying(&mut self, program: u32, index: u32) -> Option<ActiveInfo> {
        none(self.context(), "get_transform_feedback_varying")
    }
    fn get_active_uniform_name(&mut self, program: u32, index: u32) -> Option<String> {
        none(self.context(), "get_active_uniform_name")
    }
    fn get_active_uniforms(&mut self, program: u32, indices: &[u32], pname: u32) -> Option<Vec<i32>> {
        none(self.context(), "get_active_uniforms")
    }
    fn get_active_uniform_block(&mut self, program: u32, index: u32, pname: u32) -> Option<Values> {
        none(self.context(), "get_active_uniform_block")
    }
    fn get_uniform_indices(&mut self, program: u32, names: &[&str], out: &mut [u32]) -> bool {
        none(self.context(), "get_uniform_indices")
    }
    fn get_uniform(&mut self, program: u32, location: i32) -> Option<Values> {
        none(self.context(), "get_uniform")
    }
    fn debug_message_callback(&mut self, callback: Option<Box<dyn FnMut(&DebugMessage<'_>) + Send>>) {
        none(self.context(), "debug_message_callback")
    }
    fn debug_message_control(&mut self, source: u32, type_: u32, severity: u32, ids: &[u32], enabled: bool) {
        none(self.context(), "debug_message_control")
    }
    fn debug_message_insert(&mut self, source: u32, type_: u32, id: u32, severity: u32, message: &str) {
        none(self.context(), "debug_message_insert")
    }
    fn get_debug_message(&mut self, max_text_bytes: Option<usize>) -> Option<LoggedMessage> {
        none(self.context(), "get_debug_message")
    }
    fn push_debug_group(&mut self, source: u32, id: u32, message: &str) {
        none(self.context(), "push_debug_group")
    }
    fn object_label(&mut self, identifier: u32, name: u32, label: Option<&str>) {
        none(self.context(), "object_label")
    }
    fn get_object_label(&mut self, identifier: u32, name: u32) -> Option<String> {
        none(self.context(), "get_object_label")
    }
    fn gen_textures(&mut self, names: &mut [u32]) {
        none(self.context(), "gen_textures")
    }
    fn gen_queries(&mut self, names: &mut [u32]) {
        none(self.context(), "gen_queries")
    }
    fn gen_renderbuffers(&mut self, names: &mut [u32]) {
        none(self.context(), "gen_renderbuffers")
    }
    fn gen_framebuffers(&mut self, names: &mut [u32]) {
        none(self.context(), "gen_framebuffers")
    }
    fn gen_vertex_arrays(&mut self, names: &mut [u32]) {
        none(self.context(), "gen_vertex_arrays")
    }
    fn gen_samplers(&mut self, names: &mut [u32]) {
        none(self.context(), "gen_samplers")
    }
    fn delete_textures(&mut self, names: &[u32]) {
        none(self.context(), "delete_textures")
    }
    fn delete_queries(&mut self, names: &[u32]) {
        none(self.context(), "delete_queries")
    }
    fn delete_renderbuffers(&mut self, names: &[u32]) {
        none(self.context(), "delete_renderbuffers")
    }
    fn delete_framebuffers(&mut self, names: &[u32]) {
        none(self.context(), "delete_framebuffers")
    }
    fn delete_vertex_arrays(&mut self, names: &[u32]) {
        none(self.context(), "delete_vertex_arrays")
    }
    fn delete_samplers(&mut self, names: &[u32]) {
        none(self.context(), "delete_samplers")
    }
    fn get_uniform_location(&mut self, program: u32, name: &str) -> i32 {
        none(self.context(), "get_uniform_location")
    }
    fn get_frag_data_index(&mut self, program: u32, name: &str) -> i32 {
        none(self.context(), "get_frag_data_index")
    }
    fn get_program_info_log(&mut self, shader: u32) -> Option<String> {
        none(self.context(), "get_program_info_log")
    }
    fn get_active_uniform(&mut self, program: u32, index: u32) -> Option<ActiveInfo> {
        none(self.context(), "get_active_uniform")
    }
    fn get_active_uniform_block_name(&mut self, program: u32, index: u32) -> Option<String> {
        none(self.context(), "get_active_uniform_block_name")
    }
    fn clear_bufferuiv(&mut self, buffer: u32, drawbuffer: i32, value: &[u32]) {
        none(self.context(), "clear_bufferuiv")
    }
    fn pop_debug_group(&mut self) {
        none(self.context(), "pop_debug_group")
    }
    fn vertex_attrib_p(&mut self, index: u32, size: u32, type_: u32, normalized: bool, value: u32) {
        none(self.context(), "vertex_attrib_p")
    }
    fn uniform_f(&mut self, location: i32, components: u32, values: &[f32]) {
        none(self.context(), "uniform_f")
    }
    fn uniform_i(&mut self, location: i32, components: u32, values: &[i32]) {
        none(self.context(), "uniform_i")
    }
    fn uniform_ui(&mut self, location: i32, components: u32, values: &[u32]) {
        none(self.context(), "uniform_ui")
    }
    fn uniform_matrix_f(&mut self, location: i32, columns: u32, rows: u32, transpose: bool, values: &[f32]) {
        none(self.context(), "uniform_matrix_f")
    }
    fn tex_parameter(&mut self, target: u32, pname: u32, params: Params<'_>) {
        none(self.context(), "tex_parameter")
    }
    fn sampler_parameter(&mut self, sampler: u32, pname: u32, params: Params<'_>) {
        none(self.context(), "sampler_parameter")
    }
    fn point_parameter(&mut self, pname: u32, params: Params<'_>) {
        none(self.context(), "point_parameter")
    }
    fn draw_arrays_instanced(&mut self, mode: u32, first: i32, count: i32, instances: i32, base_instance: u32) {
        none(self.context(), "draw_arrays_instanced")
    }
    fn draw_elements_instanced(
        &mut self,
        mode: u32,
        count: i32,
        type_: u32,
        indices: usize,
        instances: i32,
        base_vertex: i32,
        base_instance: u32,
    ) {
        none(self.context(), "draw_elements_instanced")
    }
    fn tex_image(
        &mut self,
        dims: u32,
        target: u32,
        level: i32,
        internalformat: i32,
        size: [i32; 3],
        border: i32,
        format: u32,
        type_: u32,
        pixels: PixelData<'_>,
    ) {
        none(self.context(), "tex_image")
    }
    fn tex_sub_image(
        &mut self,
        dims: u32,
        target: u32,
        level: i32,
        offset: [i32; 3],
        size: [i32; 3],
        format: u32,
        type_: u32,
        pixels: PixelData<'_>,
    ) {
        none(self.context(), "tex_sub_image")
    }
    fn compressed_tex_image(
        &mut self,
        dims: u32,
        target: u32,
        level: i32,
        internalformat: u32,
        size: [i32; 3],
        border: i32,
        image_size: i32,
        data: PixelData<'_>,
    ) {
        none(self.context(), "compressed_tex_image")
    }
    fn compressed_tex_sub_image(
        &mut self,
        dims: u32,
        target: u32,
        level: i32,
        offset: [i32; 3],
        size: [i32; 3],
        format: u32,
        image_size: i32,
        data: PixelData<'_>,
    ) {
        none(self.context(), "compressed_tex_sub_image")
    }
    fn get(&mut self, pname: u32) -> Option<Values> {
        none(self.context(), "get")
    }
    fn get_indexed(&mut self, target: u32, index: u32) -> Option<Values> {
        none(self.context(), "get_indexed")
    }
}

impl Pending for Context {
    fn context(&mut self) -> &mut Context {
        self
    }
}
