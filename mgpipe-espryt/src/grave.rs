//! Names of the driver's objects whose last owner is gone. They are deleted by whichever context comes next, since a last
//! owner may go on a thread without one.

use crate::gles::{named, Gles};
use glow::HasContext;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dead {
    Buffer(u32),
    Texture(u32),
    Sampler(u32),
    Program(u32),
}

/// The names that wait.
#[derive(Default)]
pub(crate) struct Grave {
    waiting: AtomicBool,
    names: Mutex<Vec<Dead>>,
    /// Moves with every burial of a texture: contexts then look through the framebuffers that they keep.
    epoch: AtomicU64,
}

impl Grave {
    pub(crate) fn bury(&self, dead: Dead) {
        if matches!(dead, Dead::Texture(_)) {
            self.epoch.fetch_add(1, Ordering::Relaxed);
        }
        self.names.lock().push(dead);
        self.waiting.store(true, Ordering::Release);
    }

    /// Whether names wait.
    #[inline]
    pub(crate) fn has_names(&self) -> bool {
        self.waiting.load(Ordering::Acquire)
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Deletes what waits; a context of the share group is current.
    #[cold]
    pub(crate) fn empty(&self, gles: &Gles) {
        self.waiting.store(false, Ordering::Release);
        let names = std::mem::take(&mut *self.names.lock());
        let gl = &gles.gl;
        for dead in names {
            // SAFETY: a context of the share group is current; each name was made in it and is deleted once.
            unsafe {
                match dead {
                    Dead::Buffer(name) => {
                        if let Some(buffer) = named!(NativeBuffer, name) {
                            gl.delete_buffer(buffer);
                        }
                    }
                    Dead::Texture(name) => {
                        if let Some(texture) = named!(NativeTexture, name) {
                            gl.delete_texture(texture);
                        }
                    }
                    Dead::Sampler(name) => {
                        if let Some(sampler) = named!(NativeSampler, name) {
                            gl.delete_sampler(sampler);
                        }
                    }
                    Dead::Program(name) => {
                        if let Some(program) = named!(NativeProgram, name) {
                            gl.delete_program(program);
                        }
                    }
                }
            }
        }
    }
}
