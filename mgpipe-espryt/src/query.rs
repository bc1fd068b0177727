//! Queries. GLES has the same rule as the client's API, one active query a target, so each is one of the driver's.

use crate::context::EsprytContext;
use crate::gles::{named, Gles};
use glow::HasContext;
use hashbrown::HashMap;
use mgpipe_types::{gl, PipeError, PipeResult, QueryAnswer, QueryDesc, QueryHandle};

/// `GL_TIMESTAMP_EXT`.
const TIMESTAMP: u32 = 0x8E28;

/// How the driver's answer becomes the client's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Value,
    /// The driver has no such query: 0.
    Nothing,
}

struct Query {
    /// The driver's target.
    target: u32,
    meaning: Meaning,
    name: u32,
    active: bool,
    ended: bool,
    result: Option<u64>,
}

/// Queries of a context.
#[derive(Default)]
pub(crate) struct Queries {
    queries: HashMap<QueryHandle, Query>,
}

impl Queries {
    pub(crate) fn destroy(&mut self, gles: &Gles) {
        for (_, query) in self.queries.drain() {
            if let Some(name) = named!(NativeQuery, query.name) {
                // SAFETY: the context is current; its own name, deleted once.
                unsafe { gles.gl.delete_query(name) };
            }
        }
    }
}

/// The driver's target of a query.
fn meaning(gles: &Gles, target: u32) -> (u32, Meaning) {
    match target {
        gl::ANY_SAMPLES_PASSED | gl::ANY_SAMPLES_PASSED_CONSERVATIVE | gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN => {
            (target, Meaning::Value)
        }
        // GLES counts no samples; whether there are any is the closest that it has.
        gl::SAMPLES_PASSED => (gl::ANY_SAMPLES_PASSED, Meaning::Value),
        gl::PRIMITIVES_GENERATED if gles.has.geometry => (target, Meaning::Value),
        gl::TIME_ELAPSED if gles.has.timer => (target, Meaning::Value),
        gl::TIMESTAMP if gles.has.timer => (TIMESTAMP, Meaning::Value),
        _ => (target, Meaning::Nothing),
    }
}

impl EsprytContext {
    /// Declares a query.
    pub(crate) fn create_query(&mut self, desc: &QueryDesc) {
        let (target, meaning) = meaning(self.gles(), desc.target);
        if meaning == Meaning::Nothing {
            self.warn_once(3, "a query target is not supported; such queries answer 0");
        }
        if desc.target == gl::SAMPLES_PASSED {
            self.warn_once(4, "OpenGL ES counts no samples: such queries answer 0 or 1");
        }
        let query = Query { target, meaning, name: 0, active: false, ended: false, result: None };
        self.queries.queries.insert(QueryHandle(desc.query), query);
    }

    /// Starts counting.
    pub(crate) fn begin_query(&mut self, handle: QueryHandle) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gl = &shared.device.gles.gl;
        let Some(query) = self.queries.queries.get_mut(&handle) else {
            return Err(PipeError::BadHandle("query".into()));
        };
        query.result = None;
        query.ended = false;
        if query.meaning == Meaning::Nothing {
            return Ok(());
        }
        // SAFETY: the context is current; the client allows one active query a target.
        unsafe {
            if query.name == 0 {
                query.name = gl.create_query().map_err(PipeError::OutOfMemory)?.0.get();
            }
            if let Some(name) = named!(NativeQuery, query.name) {
                gl.begin_query(query.target, name);
            }
        }
        query.active = true;
        Ok(())
    }

    /// Stops counting, or takes the time.
    pub(crate) fn end_query(&mut self, handle: QueryHandle) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let Some(query) = self.queries.queries.get_mut(&handle) else {
            return Err(PipeError::BadHandle("query".into()));
        };
        query.ended = true;
        if query.meaning == Meaning::Nothing {
            query.result = Some(0);
            return Ok(());
        }
        // SAFETY: the context is current; an active query of the target is this one.
        unsafe {
            if query.target == TIMESTAMP {
                query.result = None;
                if query.name == 0 {
                    query.name = gles.gl.create_query().map_err(PipeError::OutOfMemory)?.0.get();
                }
                gles.ext.query_counter(query.name, TIMESTAMP);
            } else if query.active {
                query.active = false;
                gles.gl.end_query(query.target);
            }
        }
        Ok(())
    }

    /// The result, waited for or not.
    pub(crate) fn query_answer(&mut self, handle: QueryHandle, wait: bool) -> PipeResult<QueryAnswer> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let Some(query) = self.queries.queries.get_mut(&handle) else {
            return Err(PipeError::BadHandle("query".into()));
        };
        if !query.ended || (query.name == 0 && query.result.is_none()) {
            return Ok(QueryAnswer::default());
        }
        if query.result.is_none() {
            let Some(name) = named!(NativeQuery, query.name) else { return Ok(QueryAnswer::default()) };
            // SAFETY: the context is current; the query has ended.
            unsafe {
                if !wait {
                    gles.gl.flush();
                    if gles.gl.get_query_parameter_u32(name, gl::QUERY_RESULT_AVAILABLE) == 0 {
                        return Ok(QueryAnswer::default());
                    }
                }
                let value = if gles.has.timer {
                    let mut value = 0;
                    gles.ext.query_object_u64(query.name, gl::QUERY_RESULT, &mut value);
                    value
                } else {
                    u64::from(gles.gl.get_query_parameter_u32(name, gl::QUERY_RESULT))
                };
                query.result = Some(value);
            }
        }
        Ok(QueryAnswer { value: query.result.unwrap_or(0), available: 1, pad: 0 })
    }

    /// Forgets a query.
    pub(crate) fn destroy_query(&mut self, handle: QueryHandle) {
        let Some(query) = self.queries.queries.remove(&handle) else { return };
        let gl = &self.gles().gl;
        // SAFETY: the context is current; its own name, deleted once.
        unsafe {
            if query.active {
                gl.end_query(query.target);
            }
            if let Some(name) = named!(NativeQuery, query.name) {
                gl.delete_query(name);
            }
        }
    }

    /// The driver's time.
    pub(crate) fn timestamp_now(&self) -> QueryAnswer {
        if !self.gles().has.timer {
            return QueryAnswer::default();
        }
        let mut value = 0i64;
        // SAFETY: the context is current; the name has one value.
        unsafe { self.gles().ext.get_integer64(TIMESTAMP, &mut value) };
        self.gles().drain_errors();
        QueryAnswer { value: value as u64, available: 1, pad: 0 }
    }
}
