//! Query objects and conditional rendering.

use mgpipe_tracker::VerbClass;
use mgpipe_types::{features, gl, QueryDesc, QueryHandle, TypedHandle};

use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::names::Names;
use crate::share::only;

/// A query object. Queries belong to one context.
#[derive(Debug)]
struct Query {
    target: u32,
    handle: QueryHandle,
    active: bool,
    /// Was begun or written at least once.
    used: bool,
    /// The result, once it was seen.
    result: Option<u64>,
}

/// An open `glBeginConditionalRender`.
#[derive(Debug, Clone, Copy)]
struct Conditional {
    id: u32,
    wait: bool,
    /// Whether commands are dropped, once that is known.
    discard: Option<bool>,
}

/// Queries of a context.
#[derive(Debug, Default)]
pub(crate) struct QueryState {
    names: Names<Box<Query>>,
    /// Name of the active query by target.
    active: [u32; TARGETS.len()],
    conditional: Option<Conditional>,
}

const TARGETS: [u32; 5] = [
    gl::SAMPLES_PASSED,
    gl::ANY_SAMPLES_PASSED,
    gl::PRIMITIVES_GENERATED,
    gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
    gl::TIME_ELAPSED,
];

fn slot_of(target: u32) -> Option<usize> {
    TARGETS.iter().position(|&t| t == target)
}

impl Context {
    /// `glGenQueries`.
    pub fn gen_queries(&mut self, names: &mut [u32]) {
        names.fill_with(|| self.state.queries.names.generate());
    }

    /// `glDeleteQueries`: an active query ends first.
    pub fn delete_queries(&mut self, names: &[u32]) {
        for &name in names.iter().filter(|&&name| name != 0) {
            let active = self.state.queries.active.iter().position(|&n| n == name);
            if let Some(slot) = active {
                self.end_query(TARGETS[slot]);
            }
            if let Some(Some(query)) = self.state.queries.names.remove(name) {
                self.destroy_query(&query);
            }
            self.state.debug.forget_label(gl::QUERY, name as usize);
        }
    }

    fn destroy_query(&mut self, query: &Query) {
        self.pipe.query_destroy(&only(query.handle));
        self.state.share.free(query.handle);
    }

    /// Destroys every query when the context ends.
    pub(crate) fn drop_queries(&mut self) {
        let names = std::mem::take(&mut self.state.queries.names);
        for query in names.objects() {
            self.destroy_query(query);
        }
    }

    /// `glIsQuery`.
    pub fn is_query(&mut self, id: u32) -> bool {
        self.state.queries.names.get(id).is_some()
    }

    /// Makes the object of a reserved name, or checks that it has the target.
    fn query_for(&mut self, id: u32, target: u32, command: &'static str) -> GlResult {
        match self.state.queries.names.get(id) {
            Some(query) if query.active => Err(invalid_operation(format!("{command}: the query is active"))),
            Some(query) if query.target != target => {
                Err(invalid_operation(format!("{command}: the query has another target")))
            }
            Some(_) => Ok(()),
            None => {
                let handle: QueryHandle = self.state.share.mint("query")?;
                let query = Box::new(Query { target, handle, active: false, used: false, result: None });
                if !self.state.queries.names.ensure(id, || query) {
                    self.state.share.free(handle);
                    return Err(invalid_operation(format!("{command}: name was not generated")));
                }
                self.pipe.query_create(&QueryDesc { query: handle.raw(), target, index: 0 });
                Ok(())
            }
        }
    }

    /// `glBeginQuery`.
    pub fn begin_query(&mut self, target: u32, id: u32) {
        self.gl(|ctx| {
            let command = "glBeginQuery";
            let slot = slot_of(target).ok_or_else(|| invalid_enum("glBeginQuery: target"))?;
            let occlusion = [gl::SAMPLES_PASSED, gl::ANY_SAMPLES_PASSED];
            let active = &ctx.state.queries.active;
            // One occlusion query at a time, whatever it counts (GL 3.3 core, section 2.14).
            let other = occlusion.iter().filter(|_| occlusion.contains(&target)).filter_map(|t| slot_of(*t));
            if active[slot] != 0 || other.into_iter().any(|slot| active[slot] != 0) {
                return Err(invalid_operation("glBeginQuery: a query of this target is active"));
            }
            ctx.query_for(id, target, command)?;
            ctx.tracker.validate(VerbClass::Query, &mut ctx.state, &mut *ctx.pipe);
            if let Some(query) = ctx.state.queries.names.get_mut(id) {
                query.active = true;
                query.used = true;
                query.result = None;
                ctx.pipe.query_begin(&only(query.handle));
                ctx.state.queries.active[slot] = id;
            }
            Ok(())
        });
    }

    /// `glEndQuery`.
    pub fn end_query(&mut self, target: u32) {
        self.gl(|ctx| {
            let slot = slot_of(target).ok_or_else(|| invalid_enum("glEndQuery: target"))?;
            let id = std::mem::take(&mut ctx.state.queries.active[slot]);
            if id == 0 {
                return Err(invalid_operation("glEndQuery: no query of this target is active"));
            }
            ctx.tracker.validate(VerbClass::Query, &mut ctx.state, &mut *ctx.pipe);
            if let Some(query) = ctx.state.queries.names.get_mut(id) {
                query.active = false;
                ctx.pipe.query_end(&only(query.handle));
            }
            Ok(())
        });
    }

    /// `glQueryCounter`.
    pub fn query_counter(&mut self, id: u32, target: u32) {
        self.gl(|ctx| {
            if target != gl::TIMESTAMP {
                return Err(invalid_enum("glQueryCounter: target"));
            }
            ctx.query_for(id, target, "glQueryCounter")?;
            ctx.tracker.validate(VerbClass::Query, &mut ctx.state, &mut *ctx.pipe);
            if let Some(query) = ctx.state.queries.names.get_mut(id) {
                query.used = true;
                query.result = None;
                ctx.pipe.query_end(&only(query.handle));
            }
            Ok(())
        });
    }

    /// `glGetQueryiv`.
    pub fn get_query(&mut self, target: u32, pname: u32) -> Option<i32> {
        self.gl(|ctx| {
            let slot = slot_of(target);
            if slot.is_none() && target != gl::TIMESTAMP {
                return Err(invalid_enum("glGetQueryiv: target"));
            }
            let caps = &ctx.state.share.caps;
            Ok(Some(match pname {
                gl::CURRENT_QUERY => slot.map_or(0, |slot| ctx.state.queries.active[slot] as i32),
                gl::QUERY_COUNTER_BITS => match target {
                    gl::ANY_SAMPLES_PASSED => 1,
                    // Results are in nanoseconds, whatever the device counts in.
                    gl::TIME_ELAPSED | gl::TIMESTAMP if caps.has(features::TIMER_QUERY) => 64,
                    gl::TIME_ELAPSED | gl::TIMESTAMP => 0,
                    _ => 64,
                },
                _ => return Err(invalid_enum("glGetQueryiv: pname")),
            }))
        })
    }

    /// The result of a query if it is there, or after waiting for it.
    fn query_value(&mut self, id: u32, wait: bool) -> GlResult<Option<u64>> {
        let Some(query) = self.state.queries.names.get_mut(id) else { return Ok(None) };
        if let Some(result) = query.result {
            return Ok(Some(result));
        }
        if !query.used {
            return Ok(Some(0));
        }
        let handle = only(query.handle);
        let target = query.target;
        if self.state.share.has_dead() {
            self.before_submit();
        }
        let answer = if wait { self.pipe.query_result(&handle) } else { self.pipe.query_available(&handle) };
        let answer = answer.map_err(crate::error::GlError::from)?;
        if answer.available == 0 {
            // After a wait this means that the device is gone, and nothing will ever count.
            return Ok(wait.then_some(0));
        }
        // `query_available` need not carry the value along.
        let value = if wait {
            answer.value
        } else {
            self.pipe.query_result(&handle).map_err(crate::error::GlError::from)?.value
        };
        let value = if target == gl::ANY_SAMPLES_PASSED { u64::from(value != 0) } else { value };
        if let Some(query) = self.state.queries.names.get_mut(id) {
            query.result = Some(value);
        }
        Ok(Some(value))
    }

    /// `glGetQueryObject*`.
    pub fn get_query_object(&mut self, id: u32, pname: u32) -> Option<u64> {
        let answer = self.gl(|ctx| {
            let query = ctx
                .state
                .queries
                .names
                .get(id)
                .ok_or_else(|| invalid_operation("glGetQueryObject: no query object has this name"))?;
            if query.active {
                return Err(invalid_operation("glGetQueryObject: the query is active"));
            }
            match pname {
                gl::QUERY_RESULT => ctx.query_value(id, true),
                gl::QUERY_RESULT_AVAILABLE => Ok(Some(u64::from(ctx.query_value(id, false)?.is_some()))),
                _ => Err(invalid_enum("glGetQueryObject: pname")),
            }
        });
        // A loop of such questions ends on a lost context as well (OpenGL 4.5 section 2.3.2).
        answer.or_else(|| (pname == gl::QUERY_RESULT_AVAILABLE && self.state.lost).then_some(1))
    }

    /// `glBeginConditionalRender`.
    pub fn begin_conditional_render(&mut self, id: u32, mode: u32) {
        self.gl(|ctx| {
            let command = "glBeginConditionalRender";
            let wait = match mode {
                gl::QUERY_WAIT | gl::QUERY_BY_REGION_WAIT => true,
                gl::QUERY_NO_WAIT | gl::QUERY_BY_REGION_NO_WAIT => false,
                _ => return Err(invalid_enum("glBeginConditionalRender: mode")),
            };
            if ctx.state.queries.conditional.is_some() {
                return Err(invalid_operation(format!("{command}: active already")));
            }
            let query = ctx
                .state
                .queries
                .names
                .get(id)
                .ok_or_else(|| invalid_value("glBeginConditionalRender: no query object has this name"))?;
            if query.active || !matches!(query.target, gl::SAMPLES_PASSED | gl::ANY_SAMPLES_PASSED) {
                return Err(invalid_operation(format!("{command}: the query cannot decide")));
            }
            ctx.state.queries.conditional = Some(Conditional { id, wait, discard: None });
            Ok(())
        });
    }

    /// `glEndConditionalRender`.
    pub fn end_conditional_render(&mut self) {
        self.gl(|ctx| match ctx.state.queries.conditional.take() {
            Some(_) => Ok(()),
            None => Err(invalid_operation("glEndConditionalRender: not active")),
        });
    }

    /// Whether conditional rendering drops the drawing command that is about to run.
    #[inline]
    pub(crate) fn is_discarded(&mut self) -> bool {
        match self.state.queries.conditional {
            None => false,
            Some(Conditional { discard: Some(discard), .. }) => discard,
            Some(open) => self.decide(open),
        }
    }

    #[cold]
    fn decide(&mut self, open: Conditional) -> bool {
        // Without an answer yet the commands run, as the no-wait modes allow.
        let Ok(Some(value)) = self.query_value(open.id, open.wait) else { return false };
        let discard = value == 0;
        self.state.queries.conditional = Some(Conditional { discard: Some(discard), ..open });
        discard
    }
}
