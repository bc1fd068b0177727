//! Windows of an X server.

use std::time::Instant;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::present::{self, ConnectionExt as _};
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{ConnectionExt as _, CreateGCAux, ImageFormat, ImageOrder};
use x11rb::protocol::Event;
use x11rb::rust_connection::RustConnection;

use crate::memory::Shared;
use crate::{Order, Visual, Way, WindowError, BOUND};

/// Frames in memory at most. With one on the screen's way and one being read a third is free to be written.
const MOST_FRAMES: usize = 4;

/// Another process's window.
pub struct Window {
    connection: RustConnection,
    window: u32,
    depth: u8,
    order: Order,
    way: Way,
    graphics: u32,
    frames: Vec<Frame>,
    interval: u32,
    /// Serial of the last frame that was presented, and of the last one that was shown or dropped.
    sent: u32,
    shown: u32,
    /// The display's counter of refreshes when it showed the last frame.
    refresh: u64,
    gone: Option<String>,
}

/// Memory for one frame.
struct Frame {
    width: u16,
    height: u16,
    memory: Memory,
    busy: bool,
    /// Serial of the frame that it was last presented with.
    serial: u32,
}

enum Memory {
    /// Shared with the X server, with the segment's number and that of the pixmap in it, if there is one.
    Shared {
        shared: Shared,
        segment: u32,
        pixmap: Option<u32>,
    },
    Own(Vec<u8>),
}

/// A frame that is being drawn. Rows count from the top; a pixel has four bytes.
pub struct Canvas {
    frame: Frame,
    order: Order,
}

impl Canvas {
    /// Order of the bytes of a pixel.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.frame.width.into()
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.frame.height.into()
    }

    /// The row `y` pixels from the top; empty beyond the last one.
    pub fn row(&mut self, y: u32) -> &mut [u8] {
        let stride = usize::from(self.frame.width) * 4;
        let bytes = match &mut self.frame.memory {
            Memory::Shared { shared, .. } => shared.bytes(),
            Memory::Own(bytes) => bytes,
        };
        let start = stride * y as usize;
        if y >= u32::from(self.frame.height) {
            return &mut [];
        }
        bytes.get_mut(start..start + stride).unwrap_or_default()
    }
}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Window({:#x}, {:?})", self.window, self.way)
    }
}

impl std::fmt::Debug for Canvas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Canvas({} x {})", self.frame.width, self.frame.height)
    }
}

impl From<ConnectionError> for WindowError {
    fn from(error: ConnectionError) -> Self {
        WindowError::Gone(format!("the X server is gone: {error}"))
    }
}

impl From<ReplyError> for WindowError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => error.into(),
            ReplyError::X11Error(error) => WindowError::Gone(format!("the X server refuses a request: {error:?}")),
        }
    }
}

impl From<ReplyOrIdError> for WindowError {
    fn from(error: ReplyOrIdError) -> Self {
        match error {
            ReplyOrIdError::ConnectionError(error) => error.into(),
            ReplyOrIdError::X11Error(error) => ReplyError::X11Error(error).into(),
            ReplyOrIdError::IdsExhausted => WindowError::Gone("the X connection has no number left".into()),
        }
    }
}

impl Window {
    /// Opens a window of a display, such as `:0`, by its number. The first of `ways` that works is taken.
    ///
    /// # Errors
    /// [`WindowError::Refused`] when there is no such display or window, or its pixels are none that are known here.
    pub fn open(display: &str, window: u32, ways: &[Way]) -> Result<Window, WindowError> {
        let refused = |text: String| WindowError::Refused(text);
        let (connection, _) = RustConnection::connect(Some(display))
            .map_err(|error| refused(format!("no connection to the display {display}: {error}")))?;
        let no_window = |error: ReplyError| refused(format!("the window {window:#x}: {error}"));
        let geometry = connection.get_geometry(window)?;
        let attributes = connection.get_window_attributes(window)?;
        let depth = geometry.reply().map_err(no_window)?.depth;
        let visual = attributes.reply().map_err(no_window)?.visual;
        let order = pixels_of(&connection, visual, depth).map_err(refused)?;
        let graphics = connection.generate_id()?;
        connection.create_gc(graphics, window, &CreateGCAux::new().graphics_exposures(0))?.check()?;
        let mut new = Window {
            connection,
            window,
            depth,
            order,
            way: Way::Put,
            graphics,
            frames: Vec::new(),
            interval: 1,
            sent: 0,
            shown: 0,
            refresh: 0,
            gone: None,
        };
        for &way in ways {
            match new.can_take(way) {
                Ok(()) => {
                    new.way = way;
                    log::debug!("{new:?} of {display}");
                    return Ok(new);
                }
                Err(why) => log::debug!("the window {window:#x} of {display} without {way:?}: {why}"),
            }
        }
        Err(refused(format!("the display {display} has no way to show frames that is allowed")))
    }

    /// Sets up a way, and tries it.
    fn can_take(&mut self, way: Way) -> Result<(), WindowError> {
        if way == Way::Put {
            return Ok(());
        }
        let missing = |name: &str| WindowError::Refused(format!("the X server has no {name}"));
        if self.connection.extension_information(shm::X11_EXTENSION_NAME)?.is_none() {
            return Err(missing("MIT-SHM"));
        }
        let version = self.connection.shm_query_version()?.reply()?;
        if (version.major_version, version.minor_version) < (1, 2) {
            return Err(missing("MIT-SHM 1.2"));
        }
        if way == Way::Present {
            if !version.shared_pixmaps {
                return Err(missing("pixmaps in shared memory"));
            }
            if self.connection.extension_information(present::X11_EXTENSION_NAME)?.is_none() {
                return Err(missing("Present"));
            }
            self.connection.present_query_version(1, 0)?.reply()?;
            let events = present::EventMask::COMPLETE_NOTIFY | present::EventMask::IDLE_NOTIFY;
            let id = self.connection.generate_id()?;
            self.connection.present_select_input(id, self.window, events)?.check()?;
        }
        // Servers on other machines know the extension and cannot map the memory.
        let frame = self.new_frame(way, 1, 1)?;
        self.free_frame(frame)
    }

    /// The way that frames take.
    pub fn way(&self) -> Way {
        self.way
    }

    /// Sets how many refreshes of the display a frame lasts at least; 0 shows frames at once. Only [`Way::Present`] knows
    /// the display's refreshes.
    pub fn set_interval(&mut self, interval: i32) {
        self.interval = interval.unsigned_abs();
    }

    /// Memory for a frame. None when the X server keeps all memory for longer than [`BOUND`]: this frame is not shown.
    ///
    /// # Errors
    /// [`WindowError::Gone`], from then on.
    pub fn begin(&mut self, width: u32, height: u32) -> Result<Option<Canvas>, WindowError> {
        self.lasting(|window| window.try_begin(width, height))
    }

    fn try_begin(&mut self, width: u32, height: u32) -> Result<Option<Canvas>, WindowError> {
        let (Ok(width @ 1..), Ok(height @ 1..)) = (u16::try_from(width), u16::try_from(height)) else {
            return Ok(None);
        };
        self.take_events()?;
        let deadline = Instant::now() + BOUND;
        loop {
            // Those of another size that became free while this one waited make room as well.
            let mut index = 0;
            while let Some(frame) = self.frames.get(index) {
                if (frame.width, frame.height) != (width, height) && !frame.busy {
                    let frame = self.frames.swap_remove(index);
                    self.free_frame(frame)?;
                } else {
                    index += 1;
                }
            }
            let fits = |frame: &Frame| !frame.busy && (frame.width, frame.height) == (width, height);
            if let Some(index) = self.frames.iter().position(fits) {
                return Ok(Some(Canvas { frame: self.frames.swap_remove(index), order: self.order }));
            }
            if self.frames.len() < MOST_FRAMES {
                return Ok(Some(Canvas { frame: self.new_frame(self.way, width, height)?, order: self.order }));
            }
            if !self.wait_event(deadline)? {
                return Ok(None);
            }
        }
    }

    /// Shows a frame.
    ///
    /// # Errors
    /// [`WindowError::Gone`], from then on.
    pub fn show(&mut self, canvas: Canvas) -> Result<(), WindowError> {
        self.lasting(|window| window.try_show(canvas.frame))
    }

    fn try_show(&mut self, mut frame: Frame) -> Result<(), WindowError> {
        self.sent = self.sent.wrapping_add(1);
        frame.serial = self.sent;
        match &frame.memory {
            Memory::Shared { pixmap: Some(pixmap), .. } => {
                let outstanding = self.sent.wrapping_sub(self.shown);
                let (options, target) = match self.interval {
                    0 => (present::Option::ASYNC, 0),
                    n => (present::Option::NONE, self.refresh + u64::from(n) * u64::from(outstanding)),
                };
                let options = u32::from(options);
                self.connection.present_pixmap(
                    self.window,
                    *pixmap,
                    self.sent,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    options,
                    target,
                    0,
                    0,
                    &[],
                )?;
                frame.busy = true;
            }
            Memory::Shared { segment, .. } => {
                let (width, height) = (frame.width, frame.height);
                let format = u8::from(ImageFormat::Z_PIXMAP);
                self.connection.shm_put_image(
                    self.window,
                    self.graphics,
                    width,
                    height,
                    0,
                    0,
                    width,
                    height,
                    0,
                    0,
                    self.depth,
                    format,
                    true,
                    *segment,
                    0,
                )?;
                frame.busy = true;
            }
            Memory::Own(bytes) => {
                let stride = usize::from(frame.width) * 4;
                // The head of a request of any size takes less than this.
                let most = self.connection.maximum_request_bytes().saturating_sub(64) / stride;
                for (band, bytes) in bytes.chunks(stride * most.clamp(1, usize::from(u16::MAX))).enumerate() {
                    let top = i16::try_from(band * most).unwrap_or(i16::MAX);
                    let rows = (bytes.len() / stride) as u16;
                    let format = ImageFormat::Z_PIXMAP;
                    let (width, depth) = (frame.width, self.depth);
                    self.connection.put_image(
                        format,
                        self.window,
                        self.graphics,
                        width,
                        rows,
                        0,
                        top,
                        0,
                        depth,
                        bytes,
                    )?;
                }
            }
        }
        self.frames.push(frame);
        self.connection.flush()?;
        self.take_events()?;
        if self.way == Way::Present && self.interval > 0 {
            // One frame may wait for its refresh; a second one makes the program wait.
            let deadline = Instant::now() + BOUND;
            while self.sent.wrapping_sub(self.shown) > 1 {
                if !self.wait_event(deadline)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Runs something that may find the window gone, and remembers that.
    fn lasting<R>(&mut self, f: impl FnOnce(&mut Self) -> Result<R, WindowError>) -> Result<R, WindowError> {
        if let Some(why) = &self.gone {
            return Err(WindowError::Gone(why.clone()));
        }
        let answer = f(self);
        if let Err(error) = &answer {
            self.gone = Some(error.to_string());
            self.frames.clear();
        }
        answer
    }

    fn new_frame(&self, way: Way, width: u16, height: u16) -> Result<Frame, WindowError> {
        let bytes = usize::from(width) * usize::from(height) * 4;
        let memory = match way {
            Way::Put => Memory::Own(vec![0; bytes]),
            Way::Present | Way::Shm => {
                let own = |error: std::io::Error| WindowError::Gone(format!("no memory for a frame: {error}"));
                let shared = Shared::new(bytes).map_err(own)?;
                let segment = self.connection.generate_id()?;
                self.connection.shm_attach_fd(segment, shared.descriptor().map_err(own)?, false)?.check()?;
                let pixmap = match way {
                    Way::Present => {
                        let pixmap = self.connection.generate_id()?;
                        let depth = self.depth;
                        self.connection
                            .shm_create_pixmap(pixmap, self.window, width, height, depth, segment, 0)?
                            .check()?;
                        Some(pixmap)
                    }
                    _ => None,
                };
                Memory::Shared { shared, segment, pixmap }
            }
        };
        Ok(Frame { width, height, memory, busy: false, serial: 0 })
    }

    fn free_frame(&self, frame: Frame) -> Result<(), WindowError> {
        if let Memory::Shared { segment, pixmap, .. } = frame.memory {
            if let Some(pixmap) = pixmap {
                self.connection.free_pixmap(pixmap)?;
            }
            self.connection.shm_detach(segment)?;
        }
        Ok(())
    }

    /// Takes what the X server has said.
    fn take_events(&mut self) -> Result<bool, WindowError> {
        let mut any = false;
        while let Some(event) = self.connection.poll_for_event()? {
            any = true;
            self.take_event(event)?;
        }
        Ok(any)
    }

    fn take_event(&mut self, event: Event) -> Result<(), WindowError> {
        match event {
            Event::PresentIdleNotify(idle) => {
                let is_it = |frame: &&mut Frame| matches!(&frame.memory, Memory::Shared { pixmap, .. } if *pixmap == Some(idle.pixmap));
                if let Some(frame) = self.frames.iter_mut().find(is_it).filter(|frame| frame.serial == idle.serial) {
                    frame.busy = false;
                }
            }
            Event::PresentCompleteNotify(complete) if complete.kind == present::CompleteKind::PIXMAP => {
                self.shown = complete.serial;
                self.refresh = complete.msc;
            }
            Event::ShmCompletion(done) => {
                let is_it = |frame: &&mut Frame| matches!(&frame.memory, Memory::Shared { segment, .. } if *segment == done.shmseg);
                if let Some(frame) = self.frames.iter_mut().find(is_it) {
                    frame.busy = false;
                }
            }
            Event::Error(error) => {
                return Err(WindowError::Gone(format!("the window {:#x}: {error:?}", self.window)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Waits for the X server to say something; false when it does not in time.
    fn wait_event(&mut self, deadline: Instant) -> Result<bool, WindowError> {
        loop {
            if self.take_events()? {
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            let mut descriptor = [PollFd::new(self.connection.stream(), PollFlags::IN)];
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            match poll(&mut descriptor, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(WindowError::Gone(format!("the X connection: {error}"))),
            }
        }
    }
}

/// The visuals of a display's default screen that windows here can have, that of the root window first, then those without
/// alpha.
///
/// # Errors
/// [`WindowError::Refused`] when the display cannot be reached.
pub fn visuals(display: &str) -> Result<Vec<Visual>, WindowError> {
    let (connection, screen) = RustConnection::connect(Some(display))
        .map_err(|error| WindowError::Refused(format!("no connection to the display {display}: {error}")))?;
    let Some(root) = connection.setup().roots.get(screen) else {
        return Err(WindowError::Refused(format!("the display {display} has no screen {screen}")));
    };
    let mut found = Vec::new();
    for depth in &root.allowed_depths {
        for kind in &depth.visuals {
            let class = u8::from(kind.class);
            let is_root = kind.visual_id == root.root_visual;
            if matches!(class, 4 | 5) && pixels_of(&connection, kind.visual_id, depth.depth).is_ok() {
                found.push(Visual { id: kind.visual_id, class, depth: depth.depth, is_root });
            }
        }
    }
    found.sort_by_key(|visual| (!visual.is_root, visual.depth, visual.class));
    Ok(found)
}

/// Order of the pixels of a visual, if they have four bytes and eight bits of each colour.
fn pixels_of(connection: &RustConnection, visual: u32, depth: u8) -> Result<Order, String> {
    let setup = connection.setup();
    let format = setup.pixmap_formats.iter().find(|format| format.depth == depth);
    if format.is_none_or(|format| format.bits_per_pixel != 32) || setup.image_byte_order != ImageOrder::LSB_FIRST {
        return Err(format!("windows of depth {depth} have no pixels of four bytes"));
    }
    let types = setup.roots.iter().flat_map(|root| &root.allowed_depths).flat_map(|depth| &depth.visuals);
    let mut masks =
        types.filter(|kind| kind.visual_id == visual).map(|kind| (kind.red_mask, kind.green_mask, kind.blue_mask));
    match masks.next() {
        Some((0xff_0000, 0xff00, 0xff)) => Ok(Order::Bgra),
        Some((0xff, 0xff00, 0xff_0000)) => Ok(Order::Rgba),
        other => Err(format!("the visual {visual:#x} has no known masks: {other:x?}")),
    }
}
