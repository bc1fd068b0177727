//! Frames on their way to windows: the image is copied to the host, turned upside up and given to the window system.

use std::collections::HashMap;
use std::sync::Arc;

use mgpipe_types::{window_system, Format, PipeError, PipeResult, Present, SwapInterval, WindowAnswer, WindowDesc};
use mgpipe_window::{copy_row, finish_row, Canvas, Way, Window, WindowError};
use parking_lot::Mutex;

use crate::context::MagmaContext;
use crate::resource::texture::Image;
use crate::staging::{self, Piece};
use crate::transfer::{planes, ImageArea};

/// Windows of a screen at most: each has a connection to the window system.
const MOST_WINDOWS: usize = 256;

/// The windows of a screen, by the client's numbers.
#[derive(Default)]
pub(crate) struct Windows(Mutex<HashMap<u32, Arc<Mutex<Shown>>>>);

/// A window.
struct Shown {
    window: Window,
    opaque: bool,
    /// Its loss was logged.
    told: bool,
}

impl Windows {
    /// Opens a window under its number, in place of one that had the number before.
    pub(crate) fn open(&self, desc: &WindowDesc) -> PipeResult<WindowAnswer> {
        if desc.system != window_system::X11 || desc.window == 0 {
            return Err(PipeError::Unsupported(format!("windows of system {}", desc.system)));
        }
        let choice = mgpipe_types::switches::switch("MGL_PRESENT").unwrap_or_default();
        let ways = Way::choices(&choice.to_string_lossy()).map_err(PipeError::Unsupported)?;
        let refused = |error: WindowError| PipeError::Unsupported(error.to_string());
        let window = Window::open(desc.display_name(), desc.native, ways).map_err(refused)?;
        let paced = u32::from(window.way() == Way::Present);
        let mut all = self.0.lock();
        if all.len() >= MOST_WINDOWS && !all.contains_key(&desc.window) {
            return Err(PipeError::OutOfMemory(format!("more than {MOST_WINDOWS} windows")));
        }
        let shown = Shown { window, opaque: desc.opaque != 0, told: false };
        all.insert(desc.window, Arc::new(Mutex::new(shown)));
        Ok(WindowAnswer { paced, pad: 0 })
    }

    /// Closes a window.
    pub(crate) fn close(&self, window: u32) {
        // Closing a connection may take its time: the lock is free by then.
        let old = self.0.lock().remove(&window);
        drop(old);
    }

    /// Sets a window's swap interval.
    pub(crate) fn set_interval(&self, interval: &SwapInterval) {
        if let Some(shown) = self.get(interval.window) {
            shown.lock().window.set_interval(interval.interval);
        }
    }

    fn get(&self, window: u32) -> Option<Arc<Mutex<Shown>>> {
        self.0.lock().get(&window).cloned()
    }
}

impl MagmaContext {
    /// Shows an image in a window, after everything that was recorded before.
    pub(crate) fn show(&mut self, present: &Present) -> PipeResult<()> {
        let Some(shown) = self.shared.windows.get(present.window) else {
            return Err(PipeError::BadHandle(format!("no window {}", present.window)));
        };
        self.refresh();
        let resource = present.surface.resource();
        let texture = resource.and_then(|resource| self.shared.texture(resource));
        let Some((image, level, layer)) = texture.and_then(|texture| texture.image()) else {
            return Err(PipeError::BadHandle("a present of no image".into()));
        };
        if !matches!(image.format, Format::RGBA8_UNORM | Format::RGBA8_SRGB) {
            return Err(PipeError::Unsupported(format!("a present of {:?}", image.format)));
        }
        let mut shown = shown.lock();
        let extent = image.level_extent(level);
        let canvas = match shown.window.begin(extent.width, extent.height) {
            Ok(Some(canvas)) => canvas,
            // The window system reads all that there is: the frame is left out.
            Ok(None) => return Ok(()),
            Err(error) => return shown.lost(error),
        };
        let canvas = self.fill(canvas, &image, (level, layer), shown.opaque)?;
        match shown.window.show(canvas) {
            Ok(()) => Ok(()),
            Err(error) => shown.lost(error),
        }
    }

    /// Copies an image to a frame, the lowest row to the bottom.
    fn fill(
        &mut self,
        mut canvas: Canvas,
        image: &Arc<Image>,
        (level, layer): (u32, u32),
        opaque: bool,
    ) -> PipeResult<Canvas> {
        let extent = image.level_extent(level);
        let area = ImageArea {
            offset: Default::default(),
            extent: ash::vk::Extent3D { depth: 1, ..extent },
            base_layer: layer,
            layers: 1,
        };
        let (image, shift) = self.single_sampled(image.clone(), &area, level)?;
        if image.is_host_readable() {
            return self.fill_from_memory(canvas, &image, opaque);
        }
        let area = ImageArea { base_layer: area.base_layer - shift.1, ..area };
        let level = level - shift.0;
        let planes = planes(image.format);
        let row_bytes = extent.width as usize * 4;
        let order = canvas.order();
        let mut waiting = None;
        let mut pieces = Piece::cut(1, extent.height, row_bytes as u64, staging::READ_BYTES).enumerate();
        loop {
            let next = match pieces.next() {
                Some((index, piece)) => {
                    let blocks = u64::from(extent.width) * u64::from(piece.rows);
                    let part = piece.area(&area, 1);
                    Some((piece, self.send_piece(index, &image, (&part, level), &planes, blocks, &mut [])?))
                }
                None => None,
            };
            // While the device copies one piece the host takes the one before it.
            match std::mem::replace(&mut waiting, next) {
                Some((piece, landing)) => {
                    self.device.wait_value(landing.value, u64::MAX)?;
                    for row in 0..piece.rows {
                        let target = canvas.row(extent.height - 1 - (piece.row + row));
                        landing.staging.read(u64::from(row) * row_bytes as u64, target);
                        finish_row(target, order, opaque);
                    }
                }
                None if waiting.is_none() => break,
                None => {}
            }
        }
        self.rec.collect();
        Ok(canvas)
    }

    /// Copies an image whose memory the host reads.
    fn fill_from_memory(&mut self, mut canvas: Canvas, image: &Image, opaque: bool) -> PipeResult<Canvas> {
        self.finish()?;
        let order = canvas.order();
        for row in 0..image.extent.height {
            let target = canvas.row(image.extent.height - 1 - row);
            // SAFETY: all work of this context is done and visible to the host. Another context that draws to the same window
            // meanwhile, which GL leaves to the program to order, changes which bytes are copied and nothing else.
            if let Some(source) = unsafe { image.host_row(row) } {
                copy_row(target, source, order, opaque);
            }
        }
        Ok(canvas)
    }
}

impl Shown {
    /// A window that is gone is no error of the pipe: whoever owns it knows.
    fn lost(&mut self, error: WindowError) -> PipeResult<()> {
        if !std::mem::replace(&mut self.told, true) {
            log::info!("a window shows nothing any more: {error}");
        }
        Ok(())
    }
}
