//! OpenGL contexts as EGL objects.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use parking_lot::Mutex;

use super::config::Config;
use super::display::Display;
use super::enums as e;
use super::error::{fail, EglResult};
use super::{attribs, thread};
use crate::front::{Context, ContextAttribs, ShareGroup};

/// A context. It lives as long as its handle or a thread that has it current.
pub(crate) struct GlContext {
    /// The `EGLContext` value.
    pub(crate) handle: usize,
    /// The config it was made for; `None` for `EGL_NO_CONFIG_KHR`.
    pub(crate) config: Option<Config>,
    /// What it was asked to be.
    pub(crate) attribs: ContextAttribs,
    /// The objects it shares.
    pub(crate) share: Arc<ShareGroup>,
    /// The debug callback and its parameter as the application gave them.
    pub(crate) debug_pointers: Mutex<(usize, usize)>,
    bound: AtomicBool,
    context: UnsafeCell<Context>,
}

// SAFETY: `context` is only reached through `pointer` by the thread that won `claim` (or while nobody else has the
// object, in the constructor and in drop), and `Context` may move between threads; everything else is `Sync`.
unsafe impl Sync for GlContext {}

impl GlContext {
    /// Claims the context for this thread; false when another one has it.
    pub(crate) fn claim(&self) -> bool {
        self.bound.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives the claim back.
    pub(crate) fn unclaim(&self) {
        self.bound.store(false, Ordering::Release);
    }

    /// The frontend's context. Dereference it only on the thread that holds the claim.
    pub(crate) fn pointer(&self) -> *mut Context {
        self.context.get()
    }
}

/// `eglCreateContext`.
pub(crate) fn create(
    display: &'static Display,
    config: Option<Config>,
    share: usize,
    attributes: &[(i32, i32)],
) -> EglResult<usize> {
    match super::bound_api() {
        e::OPENGL_API => {}
        e::NONE => return fail(e::BAD_MATCH, "no API is bound; call eglBindAPI(EGL_OPENGL_API) first"),
        _ => return fail(e::BAD_MATCH, "only OpenGL contexts exist here; call eglBindAPI(EGL_OPENGL_API) first"),
    }
    let session = display.session()?;
    let attribs = attribs::parse(attributes, session.limits.version, session.refuses_legacy())?;
    let share = if share == 0 { None } else { Some(display.context(share)?) };
    Ok(create_from(display, config, share.as_deref(), attribs)?.handle)
}

/// Makes a context from attributes that have been validated, whichever window system they came through.
pub(crate) fn create_from(
    display: &'static Display,
    config: Option<Config>,
    share: Option<&GlContext>,
    attribs: ContextAttribs,
) -> EglResult<Arc<GlContext>> {
    let group = match share {
        None => match display.session()?.new_share_group() {
            Ok(group) => group,
            Err(text) => return fail(e::BAD_ALLOC, text),
        },
        Some(other) => {
            if other.attribs.lose_context_on_reset != attribs.lose_context_on_reset {
                return fail(e::BAD_MATCH, "the shared context has another reset notification strategy");
            }
            if other.attribs.no_error != attribs.no_error {
                return fail(e::BAD_MATCH, "the shared context differs in EGL_CONTEXT_OPENGL_NO_ERROR_KHR");
            }
            other.share.clone()
        }
    };
    let context = match Context::new(&group, &attribs) {
        Ok(context) => context,
        Err(error) => return fail(e::BAD_ALLOC, format!("the context could not be made: {error}")),
    };
    display.add_context(GlContext {
        handle: super::new_handle(),
        config,
        attribs,
        share: group,
        debug_pointers: Mutex::new((0, 0)),
        bound: AtomicBool::new(false),
        context: UnsafeCell::new(context),
    })
}

/// `eglQueryContext`.
pub(crate) fn query(display: &'static Display, context: usize, attribute: i32) -> EglResult<i32> {
    let context = display.context(context)?;
    Ok(match attribute {
        e::CONFIG_ID => context.config.map_or(0, |c| c.id),
        e::CONTEXT_CLIENT_TYPE => e::OPENGL_API,
        // For OpenGL the attribute has no meaning beyond "not OpenGL ES 2".
        e::CONTEXT_CLIENT_VERSION => context.attribs.major as i32,
        e::RENDER_BUFFER => {
            let on_surface =
                thread::current().is_some_and(|c| Arc::ptr_eq(&c.context, &context) && c.surfaces.is_some());
            if on_surface {
                e::BACK_BUFFER
            } else {
                e::NONE
            }
        }
        // Every context has the device's one queue.
        e::CONTEXT_PRIORITY_LEVEL_IMG => e::CONTEXT_PRIORITY_MEDIUM_IMG,
        e::CONTEXT_OPENGL_NO_ERROR_KHR => i32::from(context.attribs.no_error),
        e::CONTEXT_RELEASE_BEHAVIOR_KHR => {
            if context.attribs.release_behavior_none {
                e::CONTEXT_RELEASE_BEHAVIOR_NONE_KHR
            } else {
                e::CONTEXT_RELEASE_BEHAVIOR_FLUSH_KHR
            }
        }
        _ => return fail(e::BAD_ATTRIBUTE, format!("{attribute:#x} is no context attribute")),
    })
}
