//! Queries. GLES has the same rule as the client's API, one active query a target, so each is one of the driver's.

use crate::context::EsprytContext;
use crate::gles::{named, Gles};
use glow::HasContext;
use hashbrown::HashMap;
use mgpipe_types::{gl, PipeError, PipeResult, QueryAnswer, QueryDesc, QueryHandle};

/// Binding point of the buffer that fragments are counted into; the caps offer no storage buffers to the client.
pub(crate) const COUNT_BINDING: u32 = 0;

/// `GL_TIMESTAMP_EXT`.
const TIMESTAMP: u32 = 0x8E28;

/// How the driver's answer becomes the client's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Value,
    /// Samples, which the fragment stage counts into a buffer: GLES has no query for them.
    Counted,
    /// The driver has no such query: 0.
    Nothing,
}

struct Query {
    /// The driver's target.
    target: u32,
    meaning: Meaning,
    /// The driver's query; of counted ones the buffer.
    name: u32,
    /// Queries of the driver that the span had before draws of the backend's own, which must not count.
    parts: Vec<u32>,
    /// What of them has been asked for already.
    before: u64,
    /// Behind the last command that counts.
    fence: Option<glow::Fence>,
    active: bool,
    ended: bool,
    result: Option<u64>,
}

/// Queries of a context.
#[derive(Default)]
pub(crate) struct Queries {
    queries: HashMap<QueryHandle, Query>,
    /// The buffer of the active query of samples.
    counting: Option<u32>,
}

/// Parts of a span from which on the oldest are asked for.
const MOST_PARTS: usize = 16;

impl Query {
    /// Whether a draw of the backend's own would count.
    fn counts_own_draws(&self) -> bool {
        let target = matches!(
            self.target,
            gl::ANY_SAMPLES_PASSED | gl::ANY_SAMPLES_PASSED_CONSERVATIVE | gl::PRIMITIVES_GENERATED
        );
        target && self.active && self.meaning == Meaning::Value
    }

    /// Two parts of a span as one: whether any sample passed, or how many primitives there were.
    fn join(&self, a: u64, b: u64) -> u64 {
        match self.target {
            gl::PRIMITIVES_GENERATED => a.saturating_add(b),
            _ => a | b,
        }
    }

    /// Takes the answers of the parts; false when one is not there and is not waited for.
    fn take_parts(&mut self, gles: &Gles, wait: bool) -> bool {
        while let Some(&name) = self.parts.last() {
            let Some(value) = answer_of(gles, name, wait) else { return false };
            self.before = self.join(self.before, value);
            self.parts.pop();
            delete_name(gles, name);
        }
        true
    }
}

fn delete_name(gles: &Gles, name: u32) {
    if let Some(name) = named!(NativeQuery, name) {
        // SAFETY: the context is current; its own name, deleted once.
        unsafe { gles.gl.delete_query(name) };
    }
}

/// The answer of a query of the driver that has ended; `None`: not there yet, and not to be waited for.
fn answer_of(gles: &Gles, name: u32, wait: bool) -> Option<u64> {
    let query = named!(NativeQuery, name)?;
    // SAFETY: the context is current; the query has ended.
    unsafe {
        if !wait {
            gles.gl.flush();
            if gles.gl.get_query_parameter_u32(query, gl::QUERY_RESULT_AVAILABLE) == 0 {
                return None;
            }
        }
        if !gles.has.timer {
            return Some(u64::from(gles.gl.get_query_parameter_u32(query, gl::QUERY_RESULT)));
        }
        let mut value = 0;
        gles.ext.query_object_u64(name, gl::QUERY_RESULT, &mut value);
        Some(value)
    }
}

// SAFETY: fences are handles of the driver, used only while the context that owns the queries is current.
unsafe impl Send for Queries {}

impl Queries {
    /// Whether fragments are being counted.
    pub(crate) fn counts_samples(&self) -> bool {
        self.counting.is_some()
    }

    pub(crate) fn destroy(&mut self, gles: &Gles) {
        for (_, query) in self.queries.drain() {
            delete(gles, &query);
        }
    }
}

/// Deletes what a query has of the driver.
fn delete(gles: &Gles, query: &Query) {
    query.parts.iter().for_each(|name| delete_name(gles, *name));
    // SAFETY: the context is current; its own names, deleted once.
    unsafe {
        if let Some(fence) = query.fence {
            gles.gl.delete_sync(fence);
        }
        if query.meaning == Meaning::Counted {
            if let Some(buffer) = named!(NativeBuffer, query.name) {
                gles.gl.delete_buffer(buffer);
            }
        } else if let Some(name) = named!(NativeQuery, query.name) {
            gles.gl.delete_query(name);
        }
    }
}

/// The driver's target of a query.
fn meaning(gles: &Gles, target: u32) -> (u32, Meaning) {
    match target {
        gl::ANY_SAMPLES_PASSED | gl::ANY_SAMPLES_PASSED_CONSERVATIVE | gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN => {
            (target, Meaning::Value)
        }
        gl::SAMPLES_PASSED if gles.has.fragment_storage => (target, Meaning::Counted),
        gl::PRIMITIVES_GENERATED if gles.has.geometry => (target, Meaning::Value),
        gl::TIME_ELAPSED if gles.has.timer => (target, Meaning::Value),
        gl::TIMESTAMP if gles.has.timer => (TIMESTAMP, Meaning::Value),
        _ => (target, Meaning::Nothing),
    }
}

/// What the fragment stages of a span have counted; `None`: not there yet.
fn counted(gles: &Gles, query: &Query, wait: bool) -> Option<u64> {
    let mut word = [0u8; 4];
    // SAFETY: the context is current; the fence and the buffer, of 16 bytes, are the query's own.
    unsafe {
        if let (Some(fence), false) = (query.fence, wait) {
            let answer = gles.gl.client_wait_sync(fence, glow::SYNC_FLUSH_COMMANDS_BIT, 0);
            if answer != gl::ALREADY_SIGNALED && answer != gl::CONDITION_SATISFIED {
                return None;
            }
        }
        gles.gl.memory_barrier(gl::BUFFER_UPDATE_BARRIER_BIT);
        gles.gl.bind_buffer(gl::COPY_READ_BUFFER, named!(NativeBuffer, query.name));
        let mapped = gles.gl.map_buffer_range(gl::COPY_READ_BUFFER, 0, 4, gl::MAP_READ_BIT);
        if !mapped.is_null() {
            std::ptr::copy_nonoverlapping(mapped, word.as_mut_ptr(), word.len());
            gles.gl.unmap_buffer(gl::COPY_READ_BUFFER);
        }
    }
    Some(u64::from(u32::from_le_bytes(word)))
}

impl EsprytContext {
    /// Declares a query.
    pub(crate) fn create_query(&mut self, desc: &QueryDesc) {
        let (target, meaning) = meaning(self.gles(), desc.target);
        if meaning == Meaning::Nothing {
            self.warn_once(3, "a query target is not supported; such queries answer 0");
        }
        let query = Query {
            target,
            meaning,
            name: 0,
            parts: Vec::new(),
            before: 0,
            fence: None,
            active: false,
            ended: false,
            result: None,
        };
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
        query.before = 0;
        query.parts.drain(..).for_each(|name| delete_name(&shared.device.gles, name));
        if query.meaning == Meaning::Nothing {
            return Ok(());
        }
        if query.meaning == Meaning::Counted {
            // SAFETY: the context is current; the buffer is the query's own.
            unsafe {
                if query.name == 0 {
                    query.name = gl.create_buffer().map_err(PipeError::OutOfMemory)?.0.get();
                }
                if let Some(fence) = query.fence.take() {
                    gl.delete_sync(fence);
                }
                let buffer = named!(NativeBuffer, query.name);
                gl.bind_buffer(gl::COPY_WRITE_BUFFER, buffer);
                gl.buffer_data_u8_slice(gl::COPY_WRITE_BUFFER, &[0; 16], gl::DYNAMIC_READ);
                gl.bind_buffer_base(gl::SHADER_STORAGE_BUFFER, COUNT_BINDING, buffer);
            }
            query.active = true;
            self.queries.counting = Some(query.name);
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

    /// Stops what would count the draws of the backend's own.
    pub(crate) fn pause_queries(&mut self) {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        for query in self.queries.queries.values_mut().filter(|query| query.counts_own_draws()) {
            // SAFETY: the context is current and the query is active.
            unsafe { gles.gl.end_query(query.target) };
            if query.parts.len() >= MOST_PARTS {
                query.take_parts(gles, true);
            }
            query.parts.push(std::mem::take(&mut query.name));
        }
    }

    /// Lets what has been stopped count on.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn resume_queries(&mut self) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gl = &shared.device.gles.gl;
        for query in self.queries.queries.values_mut().filter(|query| query.counts_own_draws() && query.name == 0) {
            // SAFETY: the context is current; no query of the target is active.
            unsafe {
                match gl.create_query() {
                    Ok(name) => {
                        query.name = name.0.get();
                        gl.begin_query(query.target, name);
                    }
                    Err(why) => {
                        query.active = false;
                        return Err(PipeError::OutOfMemory(why));
                    }
                }
            }
        }
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
        if query.meaning == Meaning::Counted {
            if std::mem::take(&mut query.active) {
                self.queries.counting = None;
                // SAFETY: the context is current.
                query.fence = unsafe { gles.gl.fence_sync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0) }.ok();
            }
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
        if query.result.is_none() && query.meaning == Meaning::Counted {
            let Some(value) = counted(gles, query, wait) else { return Ok(QueryAnswer::default()) };
            query.result = Some(value);
        }
        if query.result.is_none() {
            let Some(value) = answer_of(gles, query.name, wait) else { return Ok(QueryAnswer::default()) };
            if !query.take_parts(gles, wait) {
                return Ok(QueryAnswer::default());
            }
            query.result = Some(query.join(query.before, value));
        }
        Ok(QueryAnswer { value: query.result.unwrap_or(0), available: 1, pad: 0 })
    }

    /// Forgets a query.
    pub(crate) fn destroy_query(&mut self, handle: QueryHandle) {
        let Some(query) = self.queries.queries.remove(&handle) else { return };
        if query.active && query.meaning == Meaning::Counted {
            self.queries.counting = None;
        } else if query.active {
            // SAFETY: the context is current and the query is active.
            unsafe { self.gles().gl.end_query(query.target) };
        }
        delete(self.gles(), &query);
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
