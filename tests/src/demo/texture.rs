//! The demo's textures, painted by formula: one layer a material, sRGB, with mip levels from the driver.

use glow::{self as gl, HasContext as _};

/// Plain white.
pub const LAYER_PLAIN: f32 = 0.0;
/// Stone tiles with joints.
pub const LAYER_TILES: f32 = 1.0;
/// Wooden planks in a frame.
pub const LAYER_CRATE: f32 = 2.0;
/// Fine brushed stripes.
pub const LAYER_BRUSHED: f32 = 3.0;

/// A value between 0 and 1 that looks random but is always the same.
fn hash(x: i32, y: i32) -> f32 {
    let mut h = (x as u32).wrapping_mul(0x9E37_79B1) ^ (y as u32).wrapping_mul(0x85EB_CA77);
    h ^= h >> 15;
    h = h.wrapping_mul(0x2C1B_3C6D);
    h ^= h >> 12;
    h = h.wrapping_mul(0x297A_2D39);
    (h >> 8) as f32 / 16_777_216.0
}

/// Smooth noise that repeats after `period` cells.
fn noise(x: f32, y: f32, period: i32) -> f32 {
    let (ix, iy) = (x.floor(), y.floor());
    let smooth = |f: f32| f * f * (3.0 - 2.0 * f);
    let (fx, fy) = (smooth(x - ix), smooth(y - iy));
    let at = |dx: i32, dy: i32| hash((ix as i32 + dx).rem_euclid(period), (iy as i32 + dy).rem_euclid(period));
    let mix = |a: f32, b: f32, f: f32| a + (b - a) * f;
    mix(mix(at(0, 0), at(1, 0), fx), mix(at(0, 1), at(1, 1), fx), fy)
}

/// Four octaves of [`noise`] over the unit square.
fn clouds(u: f32, v: f32, base: i32) -> f32 {
    (0..4).map(|o| noise(u * (base << o) as f32, v * (base << o) as f32, base << o) * 0.5f32.powi(o + 1)).sum()
}

fn tiles(u: f32, v: f32) -> [f32; 3] {
    let (x, y) = (u * 4.0, v * 4.0);
    let shifted = x + if (y.floor() as i32) % 2 == 0 { 0.0 } else { 0.5 };
    let (fx, fy) = (shifted.fract(), y.fract());
    let edge = fx.min(1.0 - fx).min(fy.min(1.0 - fy));
    let joint = ((edge - 0.018) / 0.015).clamp(0.0, 1.0);
    let tint = hash((shifted.floor() as i32).rem_euclid(4), y.floor() as i32);
    let grain = clouds(u, v, 8);
    let stone = 0.52 + 0.16 * tint + 0.22 * (grain - 0.5);
    let warm = [1.0, 0.95 + 0.03 * tint, 0.86 + 0.08 * tint];
    [0, 1, 2].map(|i| (0.20 + (stone * warm[i] - 0.20) * joint).clamp(0.0, 1.0))
}

fn crate_side(u: f32, v: f32) -> [f32; 3] {
    let frame = u.min(1.0 - u).min(v.min(1.0 - v)) < 0.12;
    let diagonal = (u - v).abs() < 0.075;
    let (along, across) = if frame && u.min(1.0 - u) < 0.12 { (v, u) } else { (u, v) };
    let plank = if frame {
        9.0
    } else if diagonal {
        7.0
    } else {
        (v * 5.0).floor()
    };
    let grain = noise(along * 8.0, across * 64.0, 512) * 0.6 + noise(along * 32.0, across * 192.0, 512) * 0.4;
    let gap = !frame && !diagonal && (v * 5.0).fract() < 0.05;
    let rim = frame && (u.min(1.0 - u).min(v.min(1.0 - v)) - 0.115).abs() < 0.006;
    let shade = (0.62 + 0.2 * hash(plank as i32, 3) + 0.3 * (grain - 0.5)) * if gap || rim { 0.35 } else { 1.0 };
    [0.86 * shade, 0.62 * shade, 0.38 * shade]
}

fn brushed(u: f32, v: f32) -> [f32; 3] {
    let g = noise(u * 4.0, v * 256.0, 256) * 0.5 + noise(u * 16.0, v * 512.0, 512) * 0.5;
    [0.82 + 0.18 * g; 3]
}

/// Paints the layers, each `size` texels wide and high, and uploads them as a 2D array texture with mip levels.
///
/// # Safety
/// A GL 3.3 context is current.
pub unsafe fn create(gl: &gl::Context, size: usize) -> Result<gl::NativeTexture, String> {
    let mut data = Vec::with_capacity(size * size * 4 * 4);
    let painters: [fn(f32, f32) -> [f32; 3]; 4] = [|_, _| [1.0; 3], tiles, crate_side, brushed];
    for painter in painters {
        for y in 0..size {
            for x in 0..size {
                let c = painter((x as f32 + 0.5) / size as f32, (y as f32 + 0.5) / size as f32);
                data.extend(c.map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8));
                data.push(255);
            }
        }
    }
    let texture = gl.create_texture()?;
    gl.bind_texture(gl::TEXTURE_2D_ARRAY, Some(texture));
    gl.tex_image_3d(
        gl::TEXTURE_2D_ARRAY,
        0,
        gl::SRGB8_ALPHA8 as i32,
        size as i32,
        size as i32,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&data)),
    );
    gl.generate_mipmap(gl::TEXTURE_2D_ARRAY);
    gl.tex_parameter_i32(gl::TEXTURE_2D_ARRAY, gl::TEXTURE_MIN_FILTER, gl::LINEAR_MIPMAP_LINEAR as i32);
    gl.tex_parameter_i32(gl::TEXTURE_2D_ARRAY, gl::TEXTURE_MAG_FILTER, gl::LINEAR as i32);
    Ok(texture)
}
