//! Windows of a Wayland compositor, which only the connection that made them can show frames in.
//!
//! A [`Compositor`] is the application's connection, seen through event queues that nobody else reads: no event of the
//! application is taken, and none of its threads has to run for a frame to get out. Frames are written into memory that the
//! compositor maps (`wl_shm`). Nothing waits longer than [`BOUND`] for a frame: a compositor sends no frame events
//! for a window that nobody sees.

use std::collections::HashSet;
use std::ffi::c_void;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use wayland_backend::client::{Backend, InvalidId, ObjectId, WaylandError};
use wayland_client::protocol::wl_buffer::{self, WlBuffer};
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_shm::{self, Format, WlShm};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::protocol::wl_surface::{self, WlSurface};
use wayland_client::{delegate_noop, Connection, Dispatch, DispatchError, EventQueue, Proxy as _, QueueHandle, WEnum};

use crate::memory::Shared;
use crate::{pixels, Order, WindowError, BOUND};

/// Frames in memory at most: one on the screen, one that waits, one that is written, and one for compositors that are late.
const MOST_FRAMES: usize = 4;

/// How long a compositor may take to say what it offers, when a display is opened.
const GREETING: Duration = Duration::from_secs(10);

impl From<WaylandError> for WindowError {
    fn from(error: WaylandError) -> Self {
        WindowError::Gone(format!("the Wayland connection: {error}"))
    }
}

impl From<DispatchError> for WindowError {
    fn from(error: DispatchError) -> Self {
        WindowError::Gone(format!("the Wayland connection: {error}"))
    }
}

impl From<InvalidId> for WindowError {
    fn from(_: InvalidId) -> Self {
        WindowError::Gone("an object of the Wayland connection is gone".into())
    }
}

/// A connection to a compositor.
pub struct Compositor {
    connection: Connection,
    shm: WlShm,
    formats: HashSet<u32>,
    /// Opened here, not by the application.
    own: bool,
}

impl std::fmt::Debug for Compositor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compositor").field("own", &self.own).finish_non_exhaustive()
    }
}

/// What a compositor said when it was greeted.
#[derive(Default)]
struct Greeted {
    shm: Option<WlShm>,
    formats: HashSet<u32>,
    answers: u32,
}

impl Dispatch<WlRegistry, ()> for Greeted {
    fn event(
        said: &mut Self,
        registry: &WlRegistry,
        event: wl_registry::Event,
        _: &(),
        _: &Connection,
        queue: &QueueHandle<Self>,
    ) {
        if let wl_registry::Event::Global { name, interface, .. } = event {
            if interface == WlShm::interface().name && said.shm.is_none() {
                said.shm = Some(registry.bind(name, 1, queue, ()));
            }
        }
    }
}

impl Dispatch<WlShm, ()> for Greeted {
    fn event(said: &mut Self, _: &WlShm, event: wl_shm::Event, _: &(), _: &Connection, _: &QueueHandle<Self>) {
        if let wl_shm::Event::Format { format } = event {
            said.formats.insert(match format {
                WEnum::Value(format) => format.into(),
                WEnum::Unknown(format) => format,
            });
        }
    }
}

impl Dispatch<WlCallback, ()> for Greeted {
    fn event(said: &mut Self, _: &WlCallback, _: wl_callback::Event, _: &(), _: &Connection, _: &QueueHandle<Self>) {
        said.answers += 1;
    }
}

impl Compositor {
    /// The application's connection.
    ///
    /// # Errors
    /// [`WindowError`] when there is no libwayland-client, or the compositor does not answer or has no `wl_shm`.
    ///
    /// # Safety
    /// `display` points to a `wl_display` that stays connected while the value or a window of it exists.
    pub unsafe fn of_display(display: *mut c_void) -> Result<Arc<Compositor>, WindowError> {
        if display.is_null() || !wayland_sys::client::is_lib_available() {
            return Err(WindowError::Refused("there is no Wayland connection, or no libwayland-client".into()));
        }
        // SAFETY: as the caller says.
        let backend = unsafe { Backend::from_foreign_display(display.cast()) };
        Compositor::greet(Connection::from_backend(backend), false)
    }

    /// A connection of its own to the compositor that the environment names. No program has windows on it.
    ///
    /// # Errors
    /// As for the application's connection.
    pub fn of_environment() -> Result<Arc<Compositor>, WindowError> {
        let connection = Connection::connect_to_env().map_err(|error| WindowError::Refused(error.to_string()))?;
        Compositor::greet(connection, true)
    }

    fn greet(connection: Connection, own: bool) -> Result<Arc<Compositor>, WindowError> {
        let mut queue = connection.new_event_queue::<Greeted>();
        let display = connection.display();
        let registry = display.get_registry(&queue.handle(), ());
        let mut said = Greeted::default();
        let deadline = Instant::now() + GREETING;
        // The first answer comes behind what there is, the second one behind the formats.
        for round in 1..=2 {
            display.sync(&queue.handle(), ());
            while said.answers < round {
                if !wait(&connection, &mut queue, &mut said, deadline)? {
                    return Err(WindowError::Refused("the Wayland compositor does not answer".into()));
                }
            }
        }
        // What comes and goes later is of no interest.
        connection.backend().destroy_object(&registry.id())?;
        let Greeted { shm, formats, .. } = said;
        match shm {
            Some(shm) => Ok(Arc::new(Compositor { connection, shm, formats, own })),
            None => Err(WindowError::Refused("the Wayland compositor has no wl_shm".into())),
        }
    }

    /// Whether the connection was opened here, so that no window of a program can be on it.
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// How pixels with or without alpha get to the compositor: as they are where it knows that.
    fn format(&self, opaque: bool) -> (Format, Order) {
        let (same, usual) =
            if opaque { (Format::Xbgr8888, Format::Xrgb8888) } else { (Format::Abgr8888, Format::Argb8888) };
        match self.formats.contains(&same.into()) {
            true => (same, Order::Rgba),
            false => (usual, Order::Bgra),
        }
    }
}

/// Takes what has come for a queue, waiting until there is something; false when there is nothing by the deadline.
fn wait<State: 'static>(
    connection: &Connection,
    queue: &mut EventQueue<State>,
    state: &mut State,
    deadline: Instant,
) -> Result<bool, WindowError> {
    loop {
        if queue.dispatch_pending(state)? != 0 {
            return Ok(true);
        }
        flush(connection)?;
        let Some(reading) = queue.prepare_read() else { continue };
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        let ready = match poll(&mut [PollFd::new(&reading.connection_fd(), PollFlags::IN)], Some(&timeout)) {
            Ok(ready) => ready != 0,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(WindowError::Gone(format!("the Wayland connection: {error}"))),
        };
        if !ready {
            return Ok(false);
        }
        match reading.read() {
            Ok(_) => {}
            // Another thread has read it.
            Err(WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Sends what waits. A compositor that does not read just now gets it later.
fn flush(connection: &Connection) -> Result<(), WindowError> {
    match connection.flush() {
        Err(WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(()),
        other => Ok(other?),
    }
}

/// What a compositor said about a window.
#[derive(Default)]
struct Heard {
    /// Numbers of the frames that it does not read any more.
    released: Vec<u32>,
    /// The last frame event that came, by the serial of its frame.
    shown: u32,
}

impl Dispatch<WlBuffer, u32> for Heard {
    fn event(
        heard: &mut Self,
        _: &WlBuffer,
        event: wl_buffer::Event,
        number: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_buffer::Event::Release = event {
            heard.released.push(*number);
        }
    }
}

impl Dispatch<WlCallback, u32> for Heard {
    fn event(heard: &mut Self, _: &WlCallback, _: wl_callback::Event, at: &u32, _: &Connection, _: &QueueHandle<Self>) {
        heard.shown = *at;
    }
}

delegate_noop!(Heard: WlShmPool);

/// A `wl_surface` of the application.
pub struct Window {
    compositor: Arc<Compositor>,
    connection: Connection,
    queue: EventQueue<Heard>,
    heard: Heard,
    surface: WlSurface,
    shm: WlShm,
    opaque: bool,
    interval: u32,
    frames: Vec<Frame>,
    last_number: u32,
    /// The frame event that is awaited, and the serial of the last frame.
    awaited: Option<WlCallback>,
    sent: u32,
    gone: Option<String>,
}

/// Memory for one frame.
struct Frame {
    number: u32,
    width: i32,
    height: i32,
    shared: Shared,
    buffer: WlBuffer,
    busy: bool,
}

/// A frame that is being drawn: rows of four bytes a pixel, red first, without gaps, the lowest row first.
pub struct Canvas {
    frame: Frame,
    order: Order,
    waited: Duration,
}

impl Canvas {
    /// The pixels.
    pub fn pixels(&mut self) -> &mut [u8] {
        let bytes = self.frame.width as usize * self.frame.height as usize * 4;
        self.frame.shared.bytes().get_mut(..bytes).unwrap_or_default()
    }
}

impl std::fmt::Debug for Canvas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Canvas({} x {})", self.frame.width, self.frame.height)
    }
}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Window({})", self.surface.id())
    }
}

impl Window {
    /// A surface of the connection; `opaque` when the alpha of its pixels means nothing.
    ///
    /// # Errors
    /// [`WindowError::Refused`] when the object is no surface, or the connection is the crate's own.
    ///
    /// # Safety
    /// `surface` points to a `wl_surface` of the connection that exists as long as the value.
    pub unsafe fn open(
        compositor: &Arc<Compositor>,
        surface: *mut c_void,
        opaque: bool,
    ) -> Result<Window, WindowError> {
        let refused = |what: &str| WindowError::Refused(what.to_owned());
        if surface.is_null() || compositor.own {
            return Err(refused("no window of a program is on this Wayland connection"));
        }
        let display = compositor.connection.backend().display_ptr();
        // SAFETY: the connection is open as long as there are windows of it, says who opened it.
        let connection = Connection::from_backend(unsafe { Backend::from_foreign_display(display) });
        let queue = connection.new_event_queue::<Heard>();
        // SAFETY: the caller passes an object of the connection, whose interface is looked at.
        let id = unsafe { ObjectId::from_ptr(WlSurface::interface(), surface.cast()) };
        let surface = WlSurface::from_id(&connection, id.map_err(|_| refused("the object is no wl_surface"))?)?;
        // The same object through the queue of this window.
        let shm = WlShm::from_id(&connection, compositor.shm.id())?;
        Ok(Window {
            compositor: compositor.clone(),
            connection,
            queue,
            heard: Heard::default(),
            surface,
            shm,
            opaque,
            interval: 1,
            frames: Vec::new(),
            last_number: 0,
            awaited: None,
            sent: 0,
            gone: None,
        })
    }

    /// Sets how many refreshes of the display a frame lasts at least: 0 shows frames at once, everything else is 1.
    pub fn set_interval(&mut self, interval: i32) {
        self.interval = interval.unsigned_abs().min(1);
    }

    /// Memory for a frame. None when the compositor keeps all memory for longer than [`BOUND`]: this frame is not shown.
    ///
    /// # Errors
    /// [`WindowError::Gone`], from then on.
    pub fn begin(&mut self, width: u32, height: u32) -> Result<Option<Canvas>, WindowError> {
        self.lasting(|window| window.try_begin(width, height))
    }

    fn try_begin(&mut self, width: u32, height: u32) -> Result<Option<Canvas>, WindowError> {
        let (Ok(width @ 1..), Ok(height @ 1..)) = (i32::try_from(width), i32::try_from(height)) else {
            return Ok(None);
        };
        let start = Instant::now();
        self.hear(start)?;
        let order = self.compositor.format(self.opaque).1;
        loop {
            let mut at = 0;
            while let Some(frame) = self.frames.get(at) {
                if (frame.width, frame.height) != (width, height) && !frame.busy {
                    self.frames.swap_remove(at).buffer.destroy();
                } else {
                    at += 1;
                }
            }
            let fits = |frame: &Frame| !frame.busy && (frame.width, frame.height) == (width, height);
            let frame = match self.frames.iter().position(fits) {
                Some(at) => Some(self.frames.swap_remove(at)),
                None if self.frames.len() < MOST_FRAMES => Some(self.new_frame(width, height)?),
                None => None,
            };
            if let Some(frame) = frame {
                return Ok(Some(Canvas { frame, order, waited: start.elapsed() }));
            }
            if !self.hear(start + BOUND)? {
                return Ok(None);
            }
        }
    }

    fn new_frame(&mut self, width: i32, height: i32) -> Result<Frame, WindowError> {
        let bytes = i64::from(width) * i64::from(height) * 4;
        let size = i32::try_from(bytes).map_err(|_| WindowError::Gone(format!("a frame of {width} x {height}")))?;
        let no_memory = |error: std::io::Error| WindowError::Gone(format!("no memory for a frame: {error}"));
        let shared = Shared::new(size as usize).map_err(no_memory)?;
        let descriptor = shared.descriptor().map_err(no_memory)?;
        let queue = self.queue.handle();
        let format = self.compositor.format(self.opaque).0;
        self.last_number += 1;
        let number = self.last_number;
        let pool = self.shm.create_pool(descriptor.as_fd(), size, &queue, ());
        let buffer = pool.create_buffer(0, width, height, width * 4, format, &queue, number);
        pool.destroy();
        Ok(Frame { number, width, height, shared, buffer, busy: false })
    }

    /// Takes memory back that no frame came into.
    pub fn cancel(&mut self, canvas: Canvas) {
        self.frames.push(canvas.frame);
    }

    /// Shows a frame, of which only `damage` differs from the last one: rectangles of left and lower edge, width and height;
    /// none for the whole. The window's upper left corner moves by `offset`.
    ///
    /// # Errors
    /// [`WindowError::Gone`], from then on.
    pub fn show(&mut self, canvas: Canvas, damage: &[[i32; 4]], offset: [i32; 2]) -> Result<(), WindowError> {
        self.lasting(|window| window.try_show(canvas, damage, offset))
    }

    fn try_show(&mut self, mut canvas: Canvas, damage: &[[i32; 4]], offset: [i32; 2]) -> Result<(), WindowError> {
        let (row, order) = (canvas.frame.width as usize * 4, canvas.order);
        pixels::turn_over(canvas.pixels(), row, order);
        if self.interval > 0 {
            let deadline = Instant::now() + BOUND.saturating_sub(canvas.waited);
            while self.awaited.is_some() && self.heard.shown != self.sent {
                if !self.hear(deadline)? {
                    break;
                }
            }
        }
        self.forget_awaited();
        let (surface, mut frame) = (&self.surface, canvas.frame);
        let version = surface.version();
        // Since version 5 the offset is a request of its own.
        if version >= wl_surface::REQ_OFFSET_SINCE {
            surface.attach(Some(&frame.buffer), 0, 0);
            if offset != [0, 0] {
                surface.offset(offset[0], offset[1]);
            }
        } else {
            surface.attach(Some(&frame.buffer), offset[0], offset[1]);
        }
        if version >= wl_surface::REQ_DAMAGE_BUFFER_SINCE {
            if damage.is_empty() {
                surface.damage_buffer(0, 0, frame.width, frame.height);
            }
            for &[left, low, width, height] in damage {
                let top = frame.height.saturating_sub(low.saturating_add(height));
                surface.damage_buffer(left, top, width, height);
            }
        } else {
            // In coordinates of the surface, whose scale is not known here.
            surface.damage(0, 0, i32::MAX, i32::MAX);
        }
        self.sent = self.sent.wrapping_add(1);
        if self.interval > 0 {
            self.awaited = Some(surface.frame(&self.queue.handle(), self.sent));
        }
        surface.commit();
        frame.busy = true;
        self.frames.push(frame);
        flush(&self.connection)
    }

    /// Takes what the compositor has said, at least once; false when it says nothing before the deadline.
    fn hear(&mut self, deadline: Instant) -> Result<bool, WindowError> {
        let any = wait(&self.connection, &mut self.queue, &mut self.heard, deadline)?;
        for number in self.heard.released.drain(..) {
            if let Some(frame) = self.frames.iter_mut().find(|frame| frame.number == number) {
                frame.busy = false;
            }
        }
        Ok(any)
    }

    /// Gives up on a frame event that did not come.
    fn forget_awaited(&mut self) {
        if let Some(callback) = self.awaited.take() {
            // An event that came has destroyed the object.
            let _ = self.connection.backend().destroy_object(&callback.id());
        }
    }

    /// Runs something that may find the connection gone, and remembers that.
    fn lasting<R>(&mut self, f: impl FnOnce(&mut Self) -> Result<R, WindowError>) -> Result<R, WindowError> {
        if let Some(why) = &self.gone {
            return Err(WindowError::Gone(why.clone()));
        }
        let answer = f(self);
        if let Err(error) = &answer {
            self.gone = Some(error.to_string());
        }
        answer
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.forget_awaited();
        self.frames.drain(..).for_each(|frame| frame.buffer.destroy());
        let _ = flush(&self.connection);
    }
}
