//! Contexts as GLX objects.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::Arc;

use parking_lot::Mutex;

use super::attribs::{self, Offer};
use super::config::FbConfig;
use super::connection;
use super::enums as g;
use super::error::{fail, Code, GlxResult};
use crate::egl::context::{create_from, GlContext};
use crate::egl::process;

/// A context. It lives as long as its handle or a thread that has it current; its handle is its address.
pub(crate) struct GlxContext {
    /// The context itself.
    pub(crate) gl: Arc<GlContext>,
    /// The config it was made for; `None` for one that was made without (GLX_EXT_no_config_context).
    pub(crate) config: Option<&'static FbConfig>,
    /// The screen it was made for.
    pub(crate) screen: c_int,
    /// See [`process::generation`].
    generation: u32,
}

static CONTEXTS: Mutex<Option<HashMap<usize, Arc<GlxContext>>>> = Mutex::new(None);

/// Drops the contexts that the application left open, at the end of the process.
pub(super) fn at_exit() {
    let contexts = CONTEXTS.try_lock().and_then(|mut c| c.take()).unwrap_or_default();
    for context in contexts.into_values() {
        if context.generation != process::generation() {
            std::mem::forget(context);
        }
    }
}

/// The context behind a handle.
pub(crate) fn get(handle: usize) -> GlxResult<Arc<GlxContext>> {
    let contexts = CONTEXTS.lock();
    let found = contexts.as_ref().and_then(|c| c.get(&handle)).filter(|c| c.generation == process::generation());
    match found {
        Some(found) => Ok(found.clone()),
        None => fail(Code::GlxContext, format!("{handle:#x} is no context")),
    }
}

impl GlxContext {
    /// The `GLXContext` value.
    pub(crate) fn handle(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self) as usize
    }
}

/// Makes a context. The list is that of `glXCreateContextAttribsARB`; the older functions pass none.
pub(crate) fn create(
    config: Option<&'static FbConfig>,
    screen: c_int,
    share: usize,
    attributes: &[(i32, i32)],
) -> GlxResult<usize> {
    let display = connection::backend()?;
    let session = display.session()?;
    let share = if share == 0 { None } else { Some(get(share)?) };
    if share.as_ref().is_some_and(|other| other.screen != screen) {
        return fail(Code::Match, "the shared context belongs to another screen");
    }
    let offer = Offer { version: session.limits.version, refuses_legacy: session.refuses_legacy() };
    let attribs = attribs::parse(attributes, offer)?;
    let gl = create_from(display, config.map(|c| c.egl), share.as_ref().map(|other| &*other.gl), attribs)?;
    let context = Arc::new(GlxContext { gl, config, screen, generation: process::generation() });
    let handle = context.handle();
    if let Some(old) = CONTEXTS.lock().get_or_insert_with(HashMap::new).insert(handle, context) {
        // Only a context of the process that this one was forked off can have lived at the same address.
        std::mem::forget(old);
    }
    Ok(handle)
}

/// `glXDestroyContext`: the handle goes at once, the object when no thread has it current.
pub(crate) fn destroy(handle: usize) -> GlxResult<()> {
    let context = get(handle)?;
    let old = CONTEXTS.lock().as_mut().and_then(|contexts| contexts.remove(&handle));
    connection::backend()?.remove_context(context.gl.handle)?;
    drop(old);
    Ok(())
}

/// `glXCopyContext`: the state that it copies is that of `glPushAttrib`, which the core profile does not have.
pub(crate) fn copy(source: usize, target: usize) -> GlxResult<()> {
    let (source, target) = (get(source)?, get(target)?);
    if source.screen != target.screen {
        return fail(Code::Match, "the contexts belong to different screens");
    }
    // The claim shows whether some thread has the target current.
    if !target.gl.claim() {
        return fail(Code::Access, "the target is current");
    }
    target.gl.unclaim();
    fail(Code::Implementation, "attribute groups cannot be copied between core contexts")
}

/// `glXQueryContext`; `None` for an unknown attribute.
pub(crate) fn query(handle: usize, attribute: i32) -> GlxResult<Option<i32>> {
    let context = get(handle)?;
    Ok(match attribute {
        g::FBCONFIG_ID => Some(context.config.map_or(0, |config| config.id)),
        g::RENDER_TYPE => Some(g::RGBA_TYPE),
        g::SCREEN => Some(context.screen),
        _ => None,
    })
}
