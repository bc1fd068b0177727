//! Window-system drawables: the images behind the default framebuffer.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use mgpipe_types::{gl, WindowDesc, WindowRef};
use parking_lot::Mutex;

use crate::boundary::{DrawableDesc, NativeWindow};
use crate::error::{invalid_framebuffer_operation, GlResult};
use crate::renderbuffer::{Renderbuffer, RenderbufferImage};
use crate::share::ShareGroup;

/// An EGL or GLX surface as GL sees it: a pbuffer, or a window. Its images are made when a context of some share group first
/// draws to it, and live as long as the drawable and its size, once for each group that uses it.
pub struct Drawable {
    state: Mutex<State>,
    window: Option<Arc<dyn NativeWindow>>,
    /// The number by which backends know the window.
    number: u32,
    interval: AtomicI32,
    gone: AtomicBool,
    /// Frames shown since the images are there.
    frames: AtomicU64,
}

struct State {
    desc: DrawableDesc,
    groups: Vec<Group>,
}

/// What a share group has of a drawable.
struct Group {
    share: Weak<ShareGroup>,
    images: Option<Arc<DrawableImages>>,
    place: Option<Opened>,
}

/// A window as a share group's backend knows it.
#[derive(Clone, Copy)]
struct Opened {
    place: Place,
    /// Resets of the device when it was opened: a new device knows no windows.
    resets: u32,
    /// The swap interval that the backend was told last.
    interval: i32,
}

/// Who shows a window's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The backend, by this number.
    Backend {
        /// The window's number.
        window: u32,
        /// The swap interval is not what the backend was told last.
        interval: Option<i32>,
    },
    /// This process, from pixels that are read back.
    Client,
}

/// The images of a drawable in one share group.
#[derive(Debug)]
pub(crate) struct DrawableImages {
    /// The colour image. There is one, which front and back both mean.
    pub(crate) color: Arc<Renderbuffer>,
    /// Depth, stencil or both.
    pub(crate) depth_stencil: Option<Arc<Renderbuffer>>,
}

impl std::fmt::Debug for Drawable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawable").field("desc", &self.desc()).field("number", &self.number).finish_non_exhaustive()
    }
}

fn color_format(desc: &DrawableDesc) -> u32 {
    match (desc.red, desc.alpha, desc.srgb) {
        (16, _, _) => gl::RGBA16F,
        (10, 0, _) => gl::RGB10,
        (10, _, _) => gl::RGB10_A2,
        (5, 0, _) => gl::RGB565,
        (_, 0, true) => gl::SRGB8,
        (_, _, true) => gl::SRGB8_ALPHA8,
        (_, 0, false) => gl::RGB8,
        (_, _, false) => gl::RGBA8,
    }
}

fn depth_stencil_format(desc: &DrawableDesc) -> Option<u32> {
    match (desc.depth, desc.stencil) {
        (0, 0) => None,
        (0, _) => Some(gl::STENCIL_INDEX8),
        (16, 0) => Some(gl::DEPTH_COMPONENT16),
        (32, 0) => Some(gl::DEPTH_COMPONENT32F),
        (_, 0) => Some(gl::DEPTH_COMPONENT24),
        (32, _) => Some(gl::DEPTH32F_STENCIL8),
        _ => Some(gl::DEPTH24_STENCIL8),
    }
}

impl Drawable {
    /// A drawable without images that is shown nowhere.
    pub fn new(desc: DrawableDesc) -> Arc<Drawable> {
        Drawable::build(desc, None)
    }

    /// A window. The size in `desc` is only a first one: it follows the window's, once a frame.
    pub fn window(desc: DrawableDesc, window: Arc<dyn NativeWindow>) -> Arc<Drawable> {
        let drawable = Drawable::build(desc, Some(window));
        drawable.follow_size();
        drawable
    }

    fn build(desc: DrawableDesc, window: Option<Arc<dyn NativeWindow>>) -> Arc<Drawable> {
        static NUMBERS: AtomicU32 = AtomicU32::new(1);
        Arc::new(Drawable {
            state: Mutex::new(State { desc, groups: Vec::new() }),
            number: window.as_ref().map_or(0, |_| NUMBERS.fetch_add(1, Ordering::Relaxed).max(1)),
            window,
            interval: AtomicI32::new(1),
            gone: AtomicBool::new(false),
            frames: AtomicU64::new(0),
        })
    }

    /// Shape and size.
    pub fn desc(&self) -> DrawableDesc {
        self.state.lock().desc
    }

    /// The window, when it is one.
    pub fn native(&self) -> Option<&Arc<dyn NativeWindow>> {
        self.window.as_ref()
    }

    /// Whether the window was found to be gone.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Sets how many refreshes of the display a frame lasts at least. A window starts with 1.
    pub fn set_interval(&self, interval: i32) {
        self.interval.store(interval, Ordering::Release);
    }

    /// The swap interval.
    pub fn interval(&self) -> i32 {
        self.interval.load(Ordering::Acquire)
    }

    /// Age of the contents in frames: there is one colour image, which a swap leaves alone. 0 before the first swap and
    /// after a change of size.
    pub fn age(&self) -> i32 {
        i32::from(self.frames.load(Ordering::Acquire) != 0)
    }

    /// Takes the window's present size. True when it is another one: the images are new then, and every context asks for
    /// them again at its next frame.
    pub(crate) fn follow_size(&self) -> bool {
        let Some(window) = &self.window else { return false };
        if self.is_gone() {
            return false;
        }
        let Some([width, height]) = window.size() else {
            self.gone.store(true, Ordering::Release);
            return false;
        };
        let mut state = self.state.lock();
        if (state.desc.width, state.desc.height) == (width, height) {
            return false;
        }
        (state.desc.width, state.desc.height) = (width, height);
        state.groups.iter_mut().for_each(|group| group.images = None);
        self.frames.store(0, Ordering::Release);
        true
    }

    /// The images for a share group, made on first use, with their shape.
    pub(crate) fn images(&self, share: &Arc<ShareGroup>) -> GlResult<(DrawableDesc, Arc<DrawableImages>)> {
        let mut state = self.state.lock();
        let desc = state.desc;
        let group = state.group(share);
        if let Some(images) = &group.images {
            return Ok((desc, images.clone()));
        }
        let make = |internal: u32| {
            let format = share.formats.get(internal).copied().filter(|f| f.renderable);
            let format = format.ok_or_else(|| {
                invalid_framebuffer_operation("the backend has no storage for the default framebuffer")
            })?;
            let samples = format.round_up_samples(u32::from(desc.samples)).unwrap_or(format.max_samples());
            Renderbuffer::with_storage(
                &share.core,
                RenderbufferImage {
                    format,
                    // A surface without pixels still needs an image to be complete.
                    width: desc.width.max(1),
                    height: desc.height.max(1),
                    samples: if samples <= 1 { 0 } else { samples },
                },
            )
        };
        let images = Arc::new(DrawableImages {
            color: make(color_format(&desc))?,
            depth_stencil: depth_stencil_format(&desc).map(make).transpose()?,
        });
        group.images = Some(images.clone());
        Ok((desc, images))
    }

    /// Who shows the window's frames for a share group; opens the window on its backend at the first question.
    pub(crate) fn place(&self, share: &Arc<ShareGroup>) -> Place {
        let interval = self.interval();
        let mut state = self.state.lock();
        let opaque = state.desc.alpha == 0;
        let group = state.group(share);
        let resets = share.resets();
        let opened = match group.place.filter(|opened| opened.resets == resets) {
            Some(opened) => opened,
            None => Opened { place: self.open(share, opaque), resets, interval: 1 },
        };
        group.place = Some(Opened { interval, ..opened });
        match opened.place {
            Place::Backend { window, .. } => {
                Place::Backend { window, interval: Some(interval).filter(|new| *new != opened.interval) }
            }
            Place::Client => Place::Client,
        }
    }

    fn open(&self, share: &Arc<ShareGroup>, opaque: bool) -> Place {
        let Some(address) = self.window.as_ref().and_then(|window| window.address()) else { return Place::Client };
        let desc = WindowDesc { window: self.number, opaque: u32::from(opaque), ..address };
        match share.screen.window_open(&desc) {
            Ok(_) => Place::Backend { window: self.number, interval: None },
            Err(error) => {
                log::info!("the backend does not show the window, this process does: {error}");
                Place::Client
            }
        }
    }

    /// Notes that a frame was shown, and answers its number from 1.
    pub(crate) fn frame_shown(&self) -> u64 {
        self.frames.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Notes that the window is gone.
    pub(crate) fn lose(&self) {
        self.gone.store(true, Ordering::Release);
    }
}

impl State {
    fn group(&mut self, share: &Arc<ShareGroup>) -> &mut Group {
        self.groups.retain(|group| group.share.strong_count() != 0);
        let mine = |group: &Group| std::ptr::eq(group.share.as_ptr(), Arc::as_ptr(share));
        let index = self.groups.iter().position(mine).unwrap_or_else(|| {
            self.groups.push(Group { share: Arc::downgrade(share), images: None, place: None });
            self.groups.len() - 1
        });
        &mut self.groups[index]
    }
}

impl Drop for Drawable {
    fn drop(&mut self) {
        for group in self.state.get_mut().groups.drain(..) {
            let backend = matches!(group.place, Some(Opened { place: Place::Backend { .. }, .. }));
            if let Some(share) = group.share.upgrade().filter(|_| backend) {
                share.screen.window_close(&WindowRef { window: self.number, pad: 0 });
            }
        }
    }
}
