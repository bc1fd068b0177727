//! The calling thread's current context, one word of thread-local storage.
//!
//! Every GL command reads it, so it must cost nothing. Stable Rust's `thread_local!` calls `__tls_get_addr` in a shared
//! library (about 2 ns); the initial-exec model is one load from the global offset table and one from the thread
//! block. It is not available as a language feature on stable, hence the assembly. The price: the library's whole
//! thread-local segment comes out of the loader's small static reserve, which is why the library keeps little else there.

use crate::front::Context;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod word {
    use std::arch::{asm, global_asm};

    global_asm!(
        ".pushsection .tbss.mgl_current_context,\"awT\",@nobits",
        ".globl mgl_current_context",
        ".hidden mgl_current_context",
        ".type mgl_current_context,@object",
        ".size mgl_current_context, 8",
        ".balign 8",
        "mgl_current_context:",
        ".zero 8",
        ".popsection",
    );

    #[inline(always)]
    pub(super) fn load() -> usize {
        let value: usize;
        // SAFETY: reads the eight bytes reserved above through the initial-exec sequence of the x86-64 ELF TLS ABI; they
        // exist in every thread that runs this code and only this thread writes them.
        unsafe {
            asm!(
                "mov {value}, qword ptr [rip + mgl_current_context@GOTTPOFF]",
                "mov {value}, qword ptr fs:[{value}]",
                value = out(reg) value,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        value
    }

    pub(super) fn store(value: usize) {
        // SAFETY: as in `load`, and the word has no other meaning than what this module gives it.
        unsafe {
            asm!(
                "mov {offset}, qword ptr [rip + mgl_current_context@GOTTPOFF]",
                "mov qword ptr fs:[{offset}], {value}",
                offset = out(reg) _,
                value = in(reg) value,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod word {
    use std::cell::Cell;

    thread_local! {
        static CURRENT: Cell<usize> = const { Cell::new(0) };
    }

    #[inline(always)]
    pub(super) fn load() -> usize {
        CURRENT.try_with(Cell::get).unwrap_or(0)
    }

    pub(super) fn store(value: usize) {
        let _ = CURRENT.try_with(|c| c.set(value));
    }
}

/// The current context of this thread, null when there is none.
#[inline(always)]
pub(crate) fn current() -> *mut Context {
    word::load() as *mut Context
}

/// Makes `context` the one that GL commands of this thread reach. The caller keeps it alive and unshared until it stores
/// something else.
pub(crate) fn set_current(context: *mut Context) {
    word::store(context as usize);
}

#[cfg(test)]
mod tests {
    use super::{current, set_current};

    #[test]
    fn each_thread_has_its_own_word() {
        set_current(16 as *mut _);
        std::thread::spawn(|| {
            assert!(current().is_null());
            set_current(32 as *mut _);
            assert_eq!(current() as usize, 32);
        })
        .join()
        .expect("the thread ends normally");
        assert_eq!(current() as usize, 16);
        set_current(std::ptr::null_mut());
        assert!(current().is_null());
    }
}
