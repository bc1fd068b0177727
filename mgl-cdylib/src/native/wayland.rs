//! Wayland: windows of libwayland-egl, whose structure programs and drivers share.
//!
//! A program makes a `wl_egl_window` for a surface of its connection and says its size there. Frames of any backend are read
//! back, and this process commits them: nobody else has the surface.

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use mgpipe_types::WindowDesc;
use mgpipe_window::{wayland, WindowError, BOUND};
use parking_lot::Mutex;

use crate::front::{NativeWindow, Picture};

pub(crate) use mgpipe_window::wayland::Compositor;

/// The structure behind a `wl_egl_window` since version 3, when it got its first member (`wayland-egl-backend.h`).
#[repr(C)]
struct EglWindow {
    version: isize,
    width: AtomicI32,
    height: AtomicI32,
    dx: AtomicI32,
    dy: AtomicI32,
    attached_width: AtomicI32,
    attached_height: AtomicI32,
    driver_private: AtomicUsize,
    resize_callback: Option<unsafe extern "C" fn(*mut EglWindow, *mut c_void)>,
    destroy_window_callback: Option<unsafe extern "C" fn(*mut c_void)>,
    surface: *mut c_void,
}

/// The versions of the structure that have these members. Before there were versions a pointer was in that place.
const VERSIONS: std::ops::RangeInclusive<isize> = 3..=0xffff;

extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
}

const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;

/// Whether a native display that came without a platform is a `wl_display`: such objects begin with the address of their
/// interface.
///
/// # Safety
///
/// `display` points to a native display of some window system, which is at least a pointer long.
pub(crate) unsafe fn is_display(display: usize) -> bool {
    // SAFETY: terminated names; with this flag nothing is loaded that is not there, and then nobody has a `wl_display`.
    let library = unsafe { dlopen(c"libwayland-client.so.0".as_ptr(), RTLD_LAZY | RTLD_NOLOAD) };
    if library.is_null() {
        return false;
    }
    // SAFETY: an open library and a terminated name.
    let interface = unsafe { dlsym(library, c"wl_display_interface".as_ptr()) };
    // SAFETY: opened above.
    unsafe { dlclose(library) };
    // SAFETY: by the contract.
    !interface.is_null() && unsafe { (display as *const *mut c_void).read_unaligned() } == interface
}

/// Windows by the number that their structure has for this driver: the structure says when it goes, in any thread.
static WINDOWS: Mutex<Option<HashMap<usize, Weak<Window>>>> = Mutex::new(None);

/// Called by libwayland-egl when a program destroys a window.
unsafe extern "C" fn destroyed(number: *mut c_void) {
    let found = WINDOWS.lock().as_ref().and_then(|windows| windows.get(&(number as usize))?.upgrade());
    if let Some(window) = found {
        window.close();
    }
}

/// A window of an application.
pub(crate) struct Window {
    number: usize,
    /// None once the program has destroyed it.
    native: Mutex<Option<Native>>,
    /// Held while a frame is shown.
    shown: Mutex<Option<wayland::Window>>,
    damage: Mutex<Vec<[i32; 4]>>,
    /// A frame was left out: the next one has all that changed.
    left_out: AtomicBool,
}

struct Native(NonNull<EglWindow>);

// SAFETY: what is used of the structure is atomic, and a program that destroys it says so before: `destroyed` waits for the lock.
unsafe impl Send for Native {}

impl Native {
    fn get(&self) -> &EglWindow {
        // SAFETY: the structure was there when the window was opened, and `destroyed` takes it away before it goes.
        unsafe { self.0.as_ref() }
    }
}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Window({})", self.number)
    }
}

impl Window {
    /// Opens a `wl_egl_window`; `opaque` when the alpha of its pixels means nothing.
    ///
    /// # Errors
    /// When it is none that is known here, or of another connection.
    ///
    /// # Safety
    ///
    /// `native` points to a `wl_egl_window` with a surface of the compositor's connection, which exists until the program
    /// destroys the window.
    pub(crate) unsafe fn open(
        compositor: &Arc<Compositor>,
        native: usize,
        opaque: bool,
    ) -> Result<Arc<Window>, WindowError> {
        static NUMBERS: AtomicUsize = AtomicUsize::new(1);
        let refused = |text: String| WindowError::Refused(text);
        let pointer = NonNull::new(native as *mut EglWindow).ok_or_else(|| refused("a null window".into()))?;
        // SAFETY: by the contract; every version of the structure has a word there.
        let version = unsafe { pointer.cast::<isize>().read_unaligned() };
        if !VERSIONS.contains(&version) {
            return Err(refused(format!("a wl_egl_window of version {version:#x}")));
        }
        // SAFETY: by the contract, and of a version with this member.
        let surface = unsafe { (&raw const (*pointer.as_ptr()).surface).read() };
        // SAFETY: by the contract; `destroyed` drops what is opened here before the program destroys the surface.
        let shown = unsafe { wayland::Window::open(compositor, surface, opaque) }?;
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let window = Arc::new(Window {
            number,
            native: Mutex::new(Some(Native(pointer))),
            shown: Mutex::new(Some(shown)),
            damage: Mutex::default(),
            left_out: AtomicBool::new(false),
        });
        WINDOWS.lock().get_or_insert_default().insert(number, Arc::downgrade(&window));
        // SAFETY: by the contract; the program does not use its window on another thread while EGL makes a surface of it.
        unsafe {
            (*pointer.as_ptr()).driver_private.store(number, Ordering::Release);
            (&raw mut (*pointer.as_ptr()).resize_callback).write(None);
            (&raw mut (*pointer.as_ptr()).destroy_window_callback).write(Some(destroyed));
        }
        Ok(window)
    }

    /// Forgets the program's objects. A frame that is being shown on another thread ends first, which has a bound.
    fn close(&self) {
        let gone = self.native.lock().take();
        if gone.is_none() {
            return;
        }
        match self.shown.try_lock_for(2 * BOUND) {
            Some(mut shown) => drop(shown.take()),
            None => log::warn!("a window is destroyed while a frame is on its way"),
        }
    }

    fn show_here(&self, picture: &Picture, read: &mut dyn FnMut(&mut [u8]) -> bool) -> Result<(), WindowError> {
        let mut shown = self.shown.lock();
        let mut damage = std::mem::take(&mut *self.damage.lock());
        if self.left_out.swap(true, Ordering::Relaxed) {
            damage.clear();
        }
        let gone = || WindowError::Gone("the program has destroyed it".into());
        let offset = match &*self.native.lock() {
            Some(native) => {
                let native = native.get();
                native.attached_width.store(picture.width as i32, Ordering::Relaxed);
                native.attached_height.store(picture.height as i32, Ordering::Relaxed);
                [native.dx.swap(0, Ordering::Relaxed), native.dy.swap(0, Ordering::Relaxed)]
            }
            None => return Err(gone()),
        };
        let window = shown.as_mut().ok_or_else(gone)?;
        window.set_interval(picture.interval);
        let Some(mut canvas) = window.begin(picture.width, picture.height)? else { return Ok(()) };
        if !read(canvas.pixels()) {
            window.cancel(canvas);
            return Ok(());
        }
        // Reading waits for the device: the program may have destroyed the window meanwhile, and `close` no longer waits.
        let native = self.native.lock();
        if native.is_none() {
            window.cancel(canvas);
            return Err(gone());
        }
        let answer = window.show(canvas, &damage, offset);
        drop(native);
        self.left_out.store(false, Ordering::Relaxed);
        answer
    }
}

impl NativeWindow for Window {
    fn size(&self) -> Option<[u32; 2]> {
        let native = self.native.lock();
        let native = native.as_ref()?.get();
        let side = |side: &AtomicI32| u32::try_from(side.load(Ordering::Relaxed)).unwrap_or(0);
        Some([side(&native.width), side(&native.height)])
    }

    fn address(&self) -> Option<WindowDesc> {
        None
    }

    fn damage(&self, areas: &[[i32; 4]]) {
        *self.damage.lock() = areas.to_vec();
    }

    fn show(&self, picture: &Picture, read: &mut dyn FnMut(&mut [u8]) -> bool) -> bool {
        super::is_there(self.show_here(picture, read))
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if let Some(windows) = WINDOWS.lock().as_mut() {
            windows.remove(&self.number);
        }
        if super::is_ending() {
            std::mem::forget(self.shown.get_mut().take());
            return;
        }
        if let Some(native) = self.native.get_mut().take() {
            let pointer = native.0.as_ptr();
            if native.get().driver_private.compare_exchange(self.number, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            {
                // SAFETY: the program has not destroyed its window, and gives up the surface on this thread.
                unsafe { (&raw mut (*pointer).destroy_window_callback).write(None) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// The numbers come from `offsetof` in C with `wayland-egl-backend.h`.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn the_structure_has_the_layout_of_libwayland_egl() {
        assert_eq!(offset_of!(EglWindow, width), 8);
        assert_eq!(offset_of!(EglWindow, attached_width), 24);
        assert_eq!(offset_of!(EglWindow, driver_private), 32);
        assert_eq!(offset_of!(EglWindow, destroy_window_callback), 48);
        assert_eq!(offset_of!(EglWindow, surface), 56);
        assert_eq!(size_of::<EglWindow>(), 64);
    }

    #[test]
    fn what_is_no_wayland_display_is_none() {
        let display = [0usize; 4];
        // SAFETY: memory of this function.
        assert!(!unsafe { is_display(display.as_ptr() as usize) });
    }
}
