//! The size of a window without asking the X server for it each frame.
//!
//! A question waits behind everything that the server has to do, the copy of the last frame among it. It is not needed while
//! nobody has resized the window: the program itself has not if it has made no request since the last question, which the
//! numbers of its requests tell; others have not if no event of the Present extension says so. That extension sends one before
//! the program gets its own, so that a program which knows of a resize finds the new size.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use super::xcb::Xcb;

/// How long a size is believed at most: a window that somebody else destroys is found out by asking.
const BELIEVED: Duration = Duration::from_millis(100);

/// What is known about a window's size.
#[derive(Default)]
pub(super) struct Watch {
    events: Events,
    known: Option<Known>,
}

#[derive(Clone, Copy)]
struct Known {
    size: [u32; 2],
    /// Number of the last request on the connection, which was one from here.
    request: u32,
    asked: Instant,
}

#[derive(Default)]
enum Events {
    #[default]
    Untried,
    /// There are none: the size has to be asked for.
    None,
    /// The queue of this window's events, and the number under which the server sends them.
    Queue(Queue),
}

#[derive(Clone, Copy)]
struct Queue {
    raw: *mut c_void,
    id: u32,
}

// SAFETY: libxcb's queues may be used by any thread that has the connection.
unsafe impl Send for Queue {}

impl Watch {
    /// The size of a window after all requests of the application; `None` when there is no such window, or no connection any
    /// more.
    pub(super) fn size(&mut self, xcb: &Xcb, window: u32) -> Option<[u32; 2]> {
        if let Events::Untried = self.events {
            self.events = xcb.watch(window).map_or(Events::None, |(raw, id)| Events::Queue(Queue { raw, id }));
        }
        let Events::Queue(queue) = self.events else { return xcb.geometry(window).map(|(size, _)| size) };
        if let Some(known) = self.known.filter(|known| known.asked.elapsed() < BELIEVED) {
            let request = xcb.no_operation();
            let quiet = request == known.request.wrapping_add(1);
            // All events go, whatever is asked: they say no more than that something happened.
            let mut resized = false;
            // SAFETY: the queue was made for this connection and is there until `stop`.
            while unsafe { xcb.take_event(queue.raw) } {
                resized = true;
            }
            if xcb.has_error() {
                return None;
            }
            if quiet && !resized {
                self.known = Some(Known { request, ..known });
                return Some(known.size);
            }
        }
        // Events that come while the answer is waited for belong to the next question.
        let (size, _, request) = xcb.geometry_and_number(window)?;
        self.known = Some(Known { size, request, asked: Instant::now() });
        Some(size)
    }

    /// Ends the events of a window.
    pub(super) fn stop(&mut self, xcb: &Xcb, window: u32) {
        if let Events::Queue(queue) = std::mem::replace(&mut self.events, Events::None) {
            // SAFETY: the queue was made for this connection, and nothing has it any more.
            unsafe { xcb.unwatch(window, queue.raw, queue.id) };
        }
        self.known = None;
    }
}
