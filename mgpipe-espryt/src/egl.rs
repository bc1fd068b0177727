//! The connection to the host's OpenGL ES driver: which library, which display, which contexts.

mod current;
mod display;
mod library;
mod vendor;

pub(crate) use current::CurrentContext;
pub(crate) use display::{Display, Fence, HostContext};
pub(crate) use vendor::open_displays;

/// EGL's numbers that `khronos-egl` does not carry.
pub(crate) mod numbers {
    /// `EGL_PLATFORM_SURFACELESS_MESA`.
    pub(crate) const PLATFORM_SURFACELESS: u32 = 0x31DD;
    /// `EGL_PLATFORM_DEVICE_EXT`.
    pub(crate) const PLATFORM_DEVICE: u32 = 0x313F;
    /// `EGL_SYNC_FENCE`.
    pub(crate) const SYNC_FENCE: u32 = 0x30F9;
    /// `EGL_SYNC_FLUSH_COMMANDS_BIT`.
    pub(crate) const SYNC_FLUSH_COMMANDS: i32 = 1;
    /// `EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT`.
    pub(crate) const RESET_NOTIFICATION_STRATEGY: i32 = 0x3138;
    /// `EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT`.
    pub(crate) const ROBUST_ACCESS: i32 = 0x30BF;
    /// `EGL_LOSE_CONTEXT_ON_RESET_EXT`.
    pub(crate) const LOSE_CONTEXT_ON_RESET: i32 = 0x31BF;
    /// `EGL_TIMEOUT_EXPIRED`.
    pub(crate) const TIMEOUT_EXPIRED: i32 = 0x30F5;
    /// `EGL_CONDITION_SATISFIED`.
    pub(crate) const CONDITION_SATISFIED: i32 = 0x30F6;
}
