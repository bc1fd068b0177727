//! Draws a textured quad with MGPipe calls alone, no GL, and writes it to a PNG file (first argument, `textured.png` by
//! default).

mod scene;

use mgpipe_espryt::EsprytBackend;
use mgpipe_types::*;
use scene::SIZE;
use std::sync::Arc;

fn print(level: LogLevel, message: &str) {
    eprintln!("{level:?}: {message}");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "textured.png".into());
    let screen = EsprytBackend::new().open(Arc::new(LogCallbacks(print)))?;
    let caps = screen.get_caps();
    println!("{} on {}", caps.backend_name, caps.device_name);
    let texels = scene::draw(&*screen)?;

    // GL's row 0 is the lowest; a PNG's is the highest.
    let rows: Vec<u8> = texels.chunks((SIZE * 4) as usize).rev().flatten().copied().collect();
    let mut encoder = png::Encoder::new(std::fs::File::create(&path)?, SIZE, SIZE);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&rows)?;
    println!("wrote {path}");
    Ok(())
}
