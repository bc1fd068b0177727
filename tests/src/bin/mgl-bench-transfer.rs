//! Measures how fast texels get into textures and out of textures and framebuffers.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use glow::{self as gl, HasContext as _, PixelPackData, PixelUnpackData};
use mgl_tests::bench::{fastest, run, Arguments, Figure, Report};
use mgl_tests::egl::{ContextRequest, Egl};
use mgl_tests::scene::{Scene, FULL_VS, TEXTURE_FS};

const MIB: usize = 1 << 20;
/// Time that a row may take for its samples.
const BUDGET: Duration = Duration::from_millis(80);

/// A texel format, as storage and as the application's memory.
#[derive(Clone, Copy)]
struct Layout {
    name: &'static str,
    internal: u32,
    format: u32,
    type_: u32,
    bytes: usize,
}

const RGBA8: Layout =
    Layout { name: "RGBA8", internal: gl::RGBA8, format: gl::RGBA, type_: gl::UNSIGNED_BYTE, bytes: 4 };
const BGRA8: Layout =
    Layout { name: "BGRA8", internal: gl::RGBA8, format: gl::BGRA, type_: gl::UNSIGNED_INT_8_8_8_8_REV, bytes: 4 };
const RGB8: Layout = Layout { name: "RGB8", internal: gl::RGB8, format: gl::RGB, type_: gl::UNSIGNED_BYTE, bytes: 3 };
const R8: Layout = Layout { name: "R8", internal: gl::R8, format: gl::RED, type_: gl::UNSIGNED_BYTE, bytes: 1 };
const RGBA16F: Layout =
    Layout { name: "RGBA16F", internal: gl::RGBA16F, format: gl::RGBA, type_: gl::HALF_FLOAT, bytes: 8 };
const FLOATS: Layout =
    Layout { name: "RGBA16F from floats", internal: gl::RGBA16F, format: gl::RGBA, type_: gl::FLOAT, bytes: 16 };
const D24S8: Layout = Layout {
    name: "D24S8",
    internal: gl::DEPTH24_STENCIL8,
    format: gl::DEPTH_STENCIL,
    type_: gl::UNSIGNED_INT_24_8,
    bytes: 4,
};
const DEPTH: Layout = Layout {
    name: "D24S8 as floats",
    internal: gl::DEPTH24_STENCIL8,
    format: gl::DEPTH_COMPONENT,
    type_: gl::FLOAT,
    bytes: 4,
};

impl Layout {
    /// Width and height, powers of two, of an image of about so many bytes.
    fn size(&self, bytes: usize) -> (i32, i32) {
        let texels = bytes / self.bytes.next_power_of_two();
        let height = 1 << (texels.ilog2() / 2);
        ((texels / height) as i32, height as i32)
    }

    fn image_bytes(&self, (width, height): (i32, i32)) -> usize {
        width as usize * height as usize * self.bytes
    }
}

/// Where the application's side of a transfer lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Memory,
    Buffer,
}

/// The context, the memory, and what has been measured so far.
struct Bench<'a> {
    scene: &'a Scene,
    memory: Vec<u8>,
    only: Option<String>,
    figures: Vec<Figure>,
}

impl Bench<'_> {
    fn wanted(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }

    fn note(&mut self, name: &str, bytes: usize, seconds: f64) {
        self.figures.push(Figure::rate(name, bytes as f64 / MIB as f64 / seconds, "MiB/s"));
    }

    unsafe fn texture(&self, layout: Layout, (width, height): (i32, i32)) -> gl::NativeTexture {
        let gl = self.scene;
        let texture = gl.create_texture().expect("a texture");
        gl.bind_texture(gl::TEXTURE_2D, Some(texture));
        gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
        gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 0);
        self.specify(layout, (width, height), None);
        texture
    }

    unsafe fn specify(&self, layout: Layout, (width, height): (i32, i32), texels: Option<&[u8]>) {
        self.scene.tex_image_2d(
            gl::TEXTURE_2D,
            0,
            layout.internal as i32,
            width,
            height,
            0,
            layout.format,
            layout.type_,
            PixelUnpackData::Slice(texels),
        );
    }

    /// Uploads and a draw of one pixel that samples the result, so that no driver may leave an upload out.
    unsafe fn upload(&mut self, layout: Layout, bytes: usize, tile: Option<i32>, side: Side) {
        let how = match (tile, side) {
            (Some(tile), _) => format!(" in tiles of {tile}"),
            (None, Side::Buffer) => " from a buffer".into(),
            (None, Side::Memory) => String::new(),
        };
        let name = format!("upload {}, {} MiB{how}", layout.name, bytes / MIB);
        if !self.wanted(&name) {
            return;
        }
        let gl = self.scene;
        let size = layout.size(bytes);
        let (width, height) = size;
        let bytes = layout.image_bytes(size);
        let texture = self.texture(layout, size);
        let buffer = gl.create_buffer().expect("a buffer");
        if side == Side::Buffer {
            gl.bind_buffer(gl::PIXEL_UNPACK_BUFFER, Some(buffer));
            gl.buffer_data_u8_slice(gl::PIXEL_UNPACK_BUFFER, &self.memory[..bytes], gl::STREAM_DRAW);
        }
        let step = tile.unwrap_or(width.max(height));
        let n_uploads = (8 * MIB / bytes).clamp(1, 8);
        let seconds = fastest(BUDGET, || {
            for _ in 0..n_uploads {
                let mut start = 0;
                for y in (0..height).step_by(step as usize) {
                    for x in (0..width).step_by(step as usize) {
                        let (w, h) = (step.min(width - x), step.min(height - y));
                        let source = match side {
                            Side::Buffer => PixelUnpackData::BufferOffset(0),
                            Side::Memory => PixelUnpackData::Slice(Some(&self.memory[start..])),
                        };
                        gl.tex_sub_image_2d(gl::TEXTURE_2D, 0, x, y, w, h, layout.format, layout.type_, source);
                        start += layout.image_bytes((w, h));
                    }
                }
                gl.draw_arrays(gl::TRIANGLES, 0, 3);
            }
            gl.finish();
        });
        gl.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
        gl.delete_buffer(buffer);
        gl.delete_texture(texture);
        self.note(&name, bytes * n_uploads, seconds);
    }

    /// `glTexImage2D` with texels again and again, each followed by a draw.
    unsafe fn specification(&mut self, layout: Layout, bytes: usize) {
        let name = format!("glTexImage2D {}, {} MiB", layout.name, bytes / MIB);
        if !self.wanted(&name) {
            return;
        }
        let gl = self.scene;
        let size = layout.size(bytes);
        let texture = self.texture(layout, size);
        let n_uploads = (8 * MIB / bytes).clamp(1, 8);
        let seconds = fastest(BUDGET, || {
            for _ in 0..n_uploads {
                self.specify(layout, size, Some(&self.memory));
                gl.draw_arrays(gl::TRIANGLES, 0, 3);
            }
            gl.finish();
        });
        gl.delete_texture(texture);
        self.note(&name, layout.image_bytes(size) * n_uploads, seconds);
    }

    /// A framebuffer with a texture of the layout; bound.
    unsafe fn framebuffer(&self, layout: Layout, size: (i32, i32)) -> (gl::NativeFramebuffer, gl::NativeTexture) {
        let gl = self.scene;
        let texture = self.texture(layout, size);
        let framebuffer = gl.create_framebuffer().expect("a framebuffer");
        gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        let attachment =
            if layout.internal == gl::DEPTH24_STENCIL8 { gl::DEPTH_STENCIL_ATTACHMENT } else { gl::COLOR_ATTACHMENT0 };
        gl.framebuffer_texture_2d(gl::FRAMEBUFFER, attachment, gl::TEXTURE_2D, Some(texture), 0);
        if attachment == gl::DEPTH_STENCIL_ATTACHMENT {
            gl.draw_buffers(&[gl::NONE]);
            gl.read_buffer(gl::NONE);
        }
        gl.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
        (framebuffer, texture)
    }

    /// `glReadPixels` of the whole framebuffer, or of tiles, after the framebuffer changed.
    unsafe fn read(&mut self, layout: Layout, bytes: usize, tile: Option<i32>, side: Side) {
        let how = match (tile, side) {
            (Some(tile), _) => format!(" in tiles of {tile}"),
            (None, Side::Buffer) => " into a buffer and map".into(),
            (None, Side::Memory) => String::new(),
        };
        let name = format!("glReadPixels {}, {} MiB{how}", layout.name, bytes / MIB);
        if !self.wanted(&name) {
            return;
        }
        let gl = self.scene;
        let size = layout.size(bytes);
        let (width, height) = size;
        let bytes = layout.image_bytes(size);
        let (framebuffer, texture) = self.framebuffer(layout, size);
        let buffer = gl.create_buffer().expect("a buffer");
        if side == Side::Buffer {
            gl.bind_buffer(gl::PIXEL_PACK_BUFFER, Some(buffer));
            gl.buffer_data_size(gl::PIXEL_PACK_BUFFER, bytes as i32, gl::STREAM_READ);
        }
        let step = tile.unwrap_or(width.max(height));
        let mut memory = std::mem::take(&mut self.memory);
        let seconds = fastest(BUDGET, || {
            self.touch();
            let mut start = 0;
            for y in (0..height).step_by(step as usize) {
                for x in (0..width).step_by(step as usize) {
                    let (w, h) = (step.min(width - x), step.min(height - y));
                    let into = match side {
                        Side::Buffer => PixelPackData::BufferOffset(0),
                        Side::Memory => PixelPackData::Slice(Some(&mut memory[start..])),
                    };
                    gl.read_pixels(x, y, w, h, layout.format, layout.type_, into);
                    start += layout.image_bytes((w, h));
                }
            }
            if side == Side::Buffer {
                let mapped = gl.map_buffer_range(gl::PIXEL_PACK_BUFFER, 0, bytes as i32, gl::MAP_READ_BIT);
                // SAFETY: the mapping is `bytes` long, and the memory is at least as long.
                unsafe { std::ptr::copy_nonoverlapping(mapped, memory.as_mut_ptr(), bytes) };
                gl.unmap_buffer(gl::PIXEL_PACK_BUFFER);
            }
        });
        self.memory = memory;
        self.drop_framebuffer(framebuffer, texture, buffer);
        self.note(&name, bytes, seconds);
    }

    /// `glGetTexImage` after the texture was drawn to.
    unsafe fn get_image(&mut self, layout: Layout, bytes: usize) {
        let name = format!("glGetTexImage {}, {} MiB", layout.name, bytes / MIB);
        if !self.wanted(&name) {
            return;
        }
        let gl = self.scene;
        let size = layout.size(bytes);
        let (framebuffer, texture) = self.framebuffer(layout, size);
        let mut memory = std::mem::take(&mut self.memory);
        let seconds = fastest(BUDGET, || {
            self.touch();
            let into = PixelPackData::Slice(Some(&mut memory[..]));
            gl.get_tex_image(gl::TEXTURE_2D, 0, layout.format, layout.type_, into);
        });
        self.memory = memory;
        let buffer = gl.create_buffer().expect("a buffer");
        self.drop_framebuffer(framebuffer, texture, buffer);
        self.note(&name, layout.image_bytes(size), seconds);
    }

    /// Changes one pixel, so that a read has something to wait for.
    unsafe fn touch(&self) {
        let gl = self.scene;
        gl.enable(gl::SCISSOR_TEST);
        gl.scissor(0, 0, 1, 1);
        gl.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
        gl.disable(gl::SCISSOR_TEST);
    }

    unsafe fn drop_framebuffer(
        &self,
        framebuffer: gl::NativeFramebuffer,
        texture: gl::NativeTexture,
        buffer: gl::NativeBuffer,
    ) {
        let gl = self.scene;
        gl.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
        gl.delete_buffer(buffer);
        gl.bind_framebuffer(gl::FRAMEBUFFER, None);
        gl.delete_framebuffer(framebuffer);
        gl.delete_texture(texture);
    }
}

fn measure(arguments: &Arguments) -> Result<Report> {
    let context = Egl::open()?.context(&ContextRequest::DEFAULT, None)?;
    context.make_current()?;
    // SAFETY: the context was made current on this thread just above and stays so.
    unsafe {
        let scene = Scene::new(context, "transfer", std::env::temp_dir());
        scene.program(FULL_VS, TEXTURE_FS);
        scene.vertex_array();
        scene.viewport(0, 0, 1, 1);
        scene.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
        scene.pixel_store_i32(gl::PACK_ALIGNMENT, 1);
        // Half floats and floats of such bytes are ordinary numbers.
        let memory = (0..128 * MIB).map(|i| ((i * 7) >> 4) as u8 & 0x3b).collect();
        let mut bench = Bench { scene: &scene, memory, only: arguments.only.clone(), figures: Vec::new() };
        for size in [MIB, 4 * MIB, 64 * MIB] {
            for layout in [RGBA8, BGRA8, R8, RGBA16F] {
                bench.upload(layout, size, None, Side::Memory);
            }
            bench.upload(RGBA8, size, Some(if size > 4 * MIB { 256 } else { 64 }), Side::Memory);
            bench.upload(RGBA8, size, None, Side::Buffer);
            bench.specification(RGBA8, size);
        }
        for layout in [RGB8, FLOATS, D24S8] {
            bench.upload(layout, 4 * MIB, None, Side::Memory);
        }
        bench.upload(BGRA8, 4 * MIB, None, Side::Buffer);
        for size in [MIB, 4 * MIB, 64 * MIB] {
            for layout in [RGBA8, BGRA8, R8, RGBA16F, D24S8] {
                bench.read(layout, size, None, Side::Memory);
            }
            bench.read(RGBA8, size, None, Side::Buffer);
            bench.get_image(RGBA8, size);
        }
        bench.read(RGBA8, MIB, Some(64), Side::Memory);
        for layout in [RGB8, DEPTH] {
            bench.read(layout, 4 * MIB, None, Side::Memory);
        }
        bench.read(BGRA8, 4 * MIB, None, Side::Buffer);
        Report::of(&scene, bench.figures)
    }
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
