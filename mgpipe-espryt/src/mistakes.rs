//! Errors of the driver that the backend did not look for: its own mistakes.
//!
//! With `MGL_VALIDATION=1` every call looks for those of the call before, and what is found goes to stderr and to the file of
//! `MGL_VALIDATION_LOG` with the driver's own words for it (KHR_debug). Otherwise only the end of a batch looks.

use crate::gles::Gles;
use glow::HasContext;
use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::io::Write;

const DEBUG_OUTPUT: u32 = 0x92E0;
const DEBUG_OUTPUT_SYNCHRONOUS: u32 = 0x8242;
const DEBUG_TYPE_ERROR: u32 = 0x824C;

thread_local! {
    /// What the driver said about its latest error on this thread.
    static WORDS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Whether `MGL_VALIDATION` asks that every call is looked after.
pub(crate) fn wanted() -> bool {
    mgpipe_types::switches::switch("MGL_VALIDATION").is_some_and(|v| !v.is_empty() && v != "0")
}

unsafe extern "system" fn on_message(
    _source: u32,
    kind: u32,
    _id: u32,
    _severity: u32,
    length: i32,
    message: *const c_char,
    _user: *const c_void,
) {
    let Ok(length) = usize::try_from(length) else { return };
    if kind != DEBUG_TYPE_ERROR || message.is_null() {
        return;
    }
    // SAFETY: the driver passes so many bytes, which live during the call.
    let bytes = unsafe { std::slice::from_raw_parts(message.cast::<u8>(), length) };
    WORDS.with(|words| {
        if let Ok(mut words) = words.try_borrow_mut() {
            *words = String::from_utf8_lossy(bytes).trim().to_owned();
        }
    });
}

impl Gles {
    /// Has the driver say what its errors are about; the context is current for the first time.
    pub(crate) fn listen(&self) {
        if !self.watched {
            return;
        }
        let callback: unsafe extern "system" fn(u32, u32, u32, u32, i32, *const c_char, *const c_void) = on_message;
        // SAFETY: the context is current; the callback has KHR_debug's signature and needs no user pointer.
        unsafe {
            self.gl.enable(DEBUG_OUTPUT);
            self.gl.enable(DEBUG_OUTPUT_SYNCHRONOUS);
            self.ext.debug_message_callback(callback as *const c_void, std::ptr::null());
        }
        // A driver without KHR_debug knows neither name.
        self.drain_errors();
    }

    /// Before something is tried that the driver may refuse: what is in its queue comes from before.
    pub(crate) fn before_trial(&self, what: &str) {
        if let Some(code) = self.drain_errors() {
            let sentence = self.tell_mistake(&format!("before {what}"), code);
            if !self.watched {
                // It is out of the queue: nobody else will find it.
                log::error!("espryt: {sentence}");
            }
        }
    }

    /// Tells of an error that nobody looked for; the sentence.
    #[cold]
    pub(crate) fn tell_mistake(&self, at: &str, code: u32) -> String {
        let words = WORDS.with(|words| words.try_borrow_mut().map(|mut w| std::mem::take(&mut *w)).unwrap_or_default());
        let sentence = format!("the driver raised {code:#x} {at}{}{words}", if words.is_empty() { "" } else { ": " });
        if self.watched {
            report(&sentence);
        }
        sentence
    }
}

fn report(sentence: &str) {
    let line = format!("espryt: validation: {sentence}\n");
    // Nothing can be done about a closed stderr, and a driver must not fail over it.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = mgpipe_types::switches::switch("MGL_VALIDATION_LOG") {
        if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
            let _ = file.write_all(line.as_bytes());
        }
    }
}
