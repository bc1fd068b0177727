//! Queries.
//!
//! A query of GL may span passes and batches; one of Vulkan may not. A GL query therefore is a list of segments, one for
//! each stretch of a pass in which it was active, and its result is their sum. Vulkan also allows a single active query of a
//! type, so all GL queries of one type share the running segment, which is cut whenever one of them begins or ends.

use crate::command::Recorder;
use crate::context::{dirty, MagmaContext};
use crate::device::{BatchValue, Device};
use crate::error::map_create;
use ash::vk;
use hashbrown::HashMap;
use mgpipe_types::{gl, LogLevel, PipeError, PipeResult, QueryAnswer, QueryDesc, QueryHandle};
use parking_lot::Mutex;
use std::sync::Arc;

/// Slots of a pool.
const POOL_SLOTS: u32 = 128;

/// Vulkan query pool.
struct Pool {
    device: Arc<Device>,
    raw: vk::QueryPool,
    free: Mutex<Vec<u32>>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: slots hold the pool, and batches hold the slots that they use.
        unsafe { self.device.raw.destroy_query_pool(self.raw, None) };
    }
}

/// A slot of a pool; goes back when nobody holds it.
struct Slot {
    pool: Arc<Pool>,
    index: u32,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.pool.free.lock().push(self.index);
    }
}

/// What a Vulkan query counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Kind {
    ty: vk::QueryType,
    /// Stream.
    index: u32,
    statistics: vk::QueryPipelineStatisticFlags,
}

/// How a GL query is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    /// The sum of the first values of the segments.
    Sum,
    /// Whether that sum is not 0.
    Any,
    /// Whether second values exceed first ones: transform feedback ran out of space.
    Overflow,
    /// Nanoseconds between two timestamps.
    Elapsed,
    /// Nanoseconds of one timestamp.
    Time,
    /// Always 0: the device cannot count what never happens on it.
    Nothing,
}

struct Query {
    kind: Kind,
    meaning: Meaning,
    active: bool,
    /// Counts generated primitives by those that reach clipping, since the device has no query for them.
    generated: bool,
    segments: Vec<Arc<Slot>>,
    /// Batch of the latest segment.
    batch: Option<Arc<BatchValue>>,
    result: Option<u64>,
}

struct Running {
    kind: Kind,
    slot: Arc<Slot>,
}

/// Queries of a context.
#[derive(Default)]
pub(crate) struct Queries {
    queries: HashMap<QueryHandle, Query>,
    pools: Vec<(Kind, Arc<Pool>)>,
    /// Segments of the open pass.
    running: Vec<Running>,
    active: u32,
    /// Active ones that count what reaches clipping: every draw asks whether there are any.
    counting_clipped: u32,
}

impl Queries {
    /// A reset slot.
    fn slot(&mut self, device: &Arc<Device>, rec: &mut Recorder, kind: Kind) -> PipeResult<Arc<Slot>> {
        let family = Kind { index: 0, ..kind };
        let found = self
            .pools
            .iter()
            .filter(|(k, _)| *k == family)
            .find_map(|(_, pool)| pool.free.lock().pop().map(|index| (pool.clone(), index)));
        let (pool, index) = match found {
            Some(found) => found,
            None => {
                let info = vk::QueryPoolCreateInfo::default()
                    .query_type(kind.ty)
                    .query_count(POOL_SLOTS)
                    .pipeline_statistics(kind.statistics);
                // SAFETY: the type belongs to an enabled feature, as `meaning` checks.
                let raw = unsafe { device.raw.create_query_pool(&info, None) }
                    .map_err(|code| map_create("query pool", code))?;
                let free = Mutex::new((1..POOL_SLOTS).collect());
                let pool = Arc::new(Pool { device: device.clone(), raw, free });
                self.pools.push((family, pool.clone()));
                (pool, 0)
            }
        };
        let slot = Arc::new(Slot { pool, index });
        // SAFETY: the slot is in no batch that still runs: batches hold their slots until they have retired.
        unsafe {
            if device.ext.host_query_reset {
                let fp = device.fns.host_reset.fp();
                (fp.reset_query_pool_ext)(device.raw.handle(), slot.pool.raw, index, 1);
            } else {
                let commands = rec.init();
                device.raw.cmd_reset_query_pool(commands, slot.pool.raw, index, 1);
            }
        }
        rec.keep_other(slot.clone());
        Ok(slot)
    }

    fn start(
        &mut self,
        device: &Arc<Device>,
        rec: &mut Recorder,
        commands: vk::CommandBuffer,
        kind: Kind,
    ) -> PipeResult<()> {
        let precise = self.queries.values().any(|q| q.active && q.kind == kind && q.meaning == Meaning::Sum)
            && kind.ty == vk::QueryType::OCCLUSION
            && device.features.core.occlusion_query_precise == vk::TRUE;
        let flags = if precise { vk::QueryControlFlags::PRECISE } else { vk::QueryControlFlags::empty() };
        let slot = self.slot(device, rec, kind)?;
        // SAFETY: no query of this type is active in the command buffer; the slot is reset.
        unsafe {
            if is_indexed(kind.ty) {
                let fp = device.fns.xfb.fp();
                (fp.cmd_begin_query_indexed_ext)(commands, slot.pool.raw, slot.index, flags, kind.index);
            } else {
                device.raw.cmd_begin_query(commands, slot.pool.raw, slot.index, flags);
            }
        }
        for query in self.queries.values_mut().filter(|q| q.active && q.kind == kind) {
            query.segments.push(slot.clone());
            query.batch = Some(rec.batch.value.clone());
        }
        self.running.push(Running { kind, slot });
        Ok(())
    }

    fn stop(&mut self, device: &Device, commands: vk::CommandBuffer, which: impl Fn(&Kind) -> bool) {
        self.running.retain(|running| {
            if !which(&running.kind) {
                return true;
            }
            // SAFETY: the query is active in this command buffer.
            unsafe {
                if is_indexed(running.kind.ty) {
                    let fp = device.fns.xfb.fp();
                    (fp.cmd_end_query_indexed_ext)(
                        commands,
                        running.slot.pool.raw,
                        running.slot.index,
                        running.kind.index,
                    );
                } else {
                    device.raw.cmd_end_query(commands, running.slot.pool.raw, running.slot.index);
                }
            }
            false
        });
    }

    /// Starts segments of all active queries: a pass has begun.
    pub(crate) fn pass_begun(&mut self, device: &Arc<Device>, rec: &mut Recorder, commands: vk::CommandBuffer) {
        if self.active == 0 {
            return;
        }
        let mut kinds: Vec<Kind> = Vec::new();
        for query in self.queries.values().filter(|q| q.active && q.kind.ty != vk::QueryType::TIMESTAMP) {
            if !kinds.contains(&query.kind) {
                kinds.push(query.kind);
            }
        }
        for kind in kinds {
            if let Err(error) = self.start(device, rec, commands, kind) {
                log::warn!("a query misses a pass: {error}");
            }
        }
    }

    /// Ends the segments of the pass.
    pub(crate) fn pass_ending(&mut self, device: &Arc<Device>, commands: vk::CommandBuffer) {
        if !self.running.is_empty() {
            self.stop(device, commands, |_| true);
        }
    }

    /// Whether an active query counts what reaches clipping, as a stand-in for what is generated.
    pub(crate) fn count_clipped(&self) -> bool {
        self.counting_clipped > 0
    }

    /// Lets go of everything; the context has waited for its work.
    pub(crate) fn destroy(&mut self) {
        self.running.clear();
        self.queries.clear();
        self.pools.clear();
    }
}

fn is_indexed(ty: vk::QueryType) -> bool {
    matches!(ty, vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT | vk::QueryType::PRIMITIVES_GENERATED_EXT)
}

/// How the device answers a query target; `None`: not at all.
fn meaning(device: &Device, target: u32, index: u32) -> Option<(Kind, Meaning)> {
    use vk::QueryPipelineStatisticFlags as S;
    let plain = |ty, meaning| Some((Kind { ty, index: 0, statistics: S::empty() }, meaning));
    let stream = |ty, meaning| Some((Kind { ty, index, statistics: S::empty() }, meaning));
    let statistics = |flag| {
        (device.features.core.pipeline_statistics_query == vk::TRUE)
            .then_some((Kind { ty: vk::QueryType::PIPELINE_STATISTICS, index: 0, statistics: flag }, Meaning::Sum))
    };
    let xfb = device.ext.transform_feedback && device.xfb_properties.transform_feedback_queries == vk::TRUE;
    match target {
        gl::SAMPLES_PASSED => plain(vk::QueryType::OCCLUSION, Meaning::Sum),
        gl::ANY_SAMPLES_PASSED | gl::ANY_SAMPLES_PASSED_CONSERVATIVE => plain(vk::QueryType::OCCLUSION, Meaning::Any),
        gl::PRIMITIVES_GENERATED if device.ext.primitives_generated_query && device.ext.transform_feedback => {
            stream(vk::QueryType::PRIMITIVES_GENERATED_EXT, Meaning::Sum)
        }
        gl::PRIMITIVES_GENERATED => statistics(S::CLIPPING_INVOCATIONS),
        gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN if xfb => {
            stream(vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT, Meaning::Sum)
        }
        gl::TRANSFORM_FEEDBACK_OVERFLOW | gl::TRANSFORM_FEEDBACK_STREAM_OVERFLOW if xfb => {
            stream(vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT, Meaning::Overflow)
        }
        gl::TIME_ELAPSED if device.timestamp_bits > 0 => plain(vk::QueryType::TIMESTAMP, Meaning::Elapsed),
        gl::TIMESTAMP if device.timestamp_bits > 0 => plain(vk::QueryType::TIMESTAMP, Meaning::Time),
        gl::VERTICES_SUBMITTED => statistics(S::INPUT_ASSEMBLY_VERTICES),
        gl::PRIMITIVES_SUBMITTED => statistics(S::INPUT_ASSEMBLY_PRIMITIVES),
        gl::VERTEX_SHADER_INVOCATIONS => statistics(S::VERTEX_SHADER_INVOCATIONS),
        gl::TESS_CONTROL_SHADER_PATCHES => statistics(S::TESSELLATION_CONTROL_SHADER_PATCHES),
        gl::TESS_EVALUATION_SHADER_INVOCATIONS => statistics(S::TESSELLATION_EVALUATION_SHADER_INVOCATIONS),
        gl::GEOMETRY_SHADER_INVOCATIONS => statistics(S::GEOMETRY_SHADER_INVOCATIONS),
        gl::GEOMETRY_SHADER_PRIMITIVES_EMITTED => statistics(S::GEOMETRY_SHADER_PRIMITIVES),
        gl::FRAGMENT_SHADER_INVOCATIONS => statistics(S::FRAGMENT_SHADER_INVOCATIONS),
        gl::COMPUTE_SHADER_INVOCATIONS => statistics(S::COMPUTE_SHADER_INVOCATIONS),
        gl::CLIPPING_INPUT_PRIMITIVES => statistics(S::CLIPPING_INVOCATIONS),
        gl::CLIPPING_OUTPUT_PRIMITIVES => statistics(S::CLIPPING_PRIMITIVES),
        _ => None,
    }
}

/// Ticks of the device's clock as time.
fn nanoseconds(device: &crate::device::Device, ticks: u64) -> u64 {
    let mask = if device.timestamp_bits >= 64 { u64::MAX } else { (1 << device.timestamp_bits) - 1 };
    ((ticks & mask) as f64 * f64::from(device.properties.limits.timestamp_period)) as u64
}

impl MagmaContext {
    /// Declares a query.
    pub(crate) fn create_query(&mut self, desc: &QueryDesc) {
        let (kind, meaning) = meaning(&self.device, desc.target, desc.index).unwrap_or_else(|| {
            let what = format!("magma: query target {:#x} is not supported; such queries answer 0", desc.target);
            self.shared.callbacks.log(LogLevel::Warn, &what);
            let statistics = vk::QueryPipelineStatisticFlags::empty();
            (Kind { ty: vk::QueryType::TIMESTAMP, index: 0, statistics }, Meaning::Nothing)
        });
        let generated = desc.target == gl::PRIMITIVES_GENERATED && kind.ty == vk::QueryType::PIPELINE_STATISTICS;
        let (segments, batch, result) = (Vec::new(), None, None);
        let query = Query { kind, meaning, active: false, generated, segments, batch, result };
        self.queries.queries.insert(QueryHandle(desc.query), query);
    }

    fn write_timestamp(&mut self, handle: QueryHandle) -> PipeResult<()> {
        let Some(kind) = self.queries.queries.get(&handle).map(|q| q.kind) else { return Ok(()) };
        let device = self.device.clone();
        let slot = self.queries.slot(&device, &mut self.rec, kind)?;
        self.rec.flush_draws();
        let commands = match &self.pass {
            Some(pass) => pass.commands,
            None => self.rec.main(),
        };
        // SAFETY: the slot is reset; timestamps are allowed inside and outside of passes.
        unsafe {
            device.raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, slot.pool.raw, slot.index);
        }
        let batch = self.rec.batch.value.clone();
        if let Some(query) = self.queries.queries.get_mut(&handle) {
            query.segments.push(slot);
            query.batch = Some(batch);
        }
        Ok(())
    }

    /// Starts counting.
    pub(crate) fn begin_query(&mut self, handle: QueryHandle) {
        if self.is_lost() {
            return;
        }
        let Some(query) = self.queries.queries.get_mut(&handle) else {
            return self.shared.complain("query_begin", "no such query");
        };
        query.segments.clear();
        query.batch = None;
        query.result = None;
        let kind = query.kind;
        if kind.ty == vk::QueryType::TIMESTAMP {
            // A timestamp starts nowhere, and nothing counts nothing.
            if query.meaning == Meaning::Elapsed {
                if let Err(error) = self.write_timestamp(handle) {
                    self.fail("query_begin", error);
                }
            }
            return;
        }
        if !query.active {
            query.active = true;
            self.queries.active += 1;
            if query.generated {
                self.queries.counting_clipped += 1;
                self.dirty |= dirty::STATE | dirty::DYNAMIC;
            }
        }
        self.cut(kind, true);
    }

    /// Ends the running segment of a kind and starts another for the queries that are still active.
    fn cut(&mut self, kind: Kind, statistics_break: bool) {
        self.rec.flush_draws();
        let Some(commands) = self.pass.as_ref().map(|pass| pass.commands) else { return };
        // Several statistics would be several active queries of one type, which Vulkan forbids: the last one counts.
        let same = |k: &Kind| {
            *k == kind || (statistics_break && k.ty == kind.ty && kind.ty == vk::QueryType::PIPELINE_STATISTICS)
        };
        let device = self.device.clone();
        self.queries.stop(&device, commands, same);
        if self.queries.queries.values().any(|q| q.active && q.kind == kind) {
            if let Err(error) = self.queries.start(&device, &mut self.rec, commands, kind) {
                self.fail("query", error);
            }
        }
    }

    /// Stops counting, or takes the time.
    pub(crate) fn end_query(&mut self, handle: QueryHandle) {
        if self.is_lost() {
            return;
        }
        let Some(query) = self.queries.queries.get_mut(&handle) else {
            return self.shared.complain("query_end", "no such query");
        };
        let kind = query.kind;
        if query.meaning == Meaning::Nothing {
            return;
        }
        if kind.ty == vk::QueryType::TIMESTAMP {
            if query.meaning == Meaning::Time {
                query.segments.clear();
                query.result = None;
            }
            if let Err(error) = self.write_timestamp(handle) {
                self.fail("query_end", error);
            }
            return;
        }
        if query.active {
            query.active = false;
            self.queries.active -= 1;
            if query.generated {
                self.queries.counting_clipped -= 1;
                self.dirty |= dirty::STATE | dirty::DYNAMIC;
            }
            self.cut(kind, false);
        }
    }

    /// The result; without `wait` only when it is there.
    pub(crate) fn query_answer(&mut self, handle: QueryHandle, wait: bool) -> PipeResult<QueryAnswer> {
        let Some(query) = self.queries.queries.get(&handle) else {
            return Err(PipeError::BadHandle("no such query".into()));
        };
        let answer = |value| QueryAnswer { value, available: 1, pad: 0 };
        if let Some(value) = query.result {
            return Ok(answer(value));
        }
        if let Some(batch) = query.batch.clone() {
            if batch.get().is_none() {
                // The commands are still being recorded: without a submission a polling loop would never end.
                self.submit()?;
            }
            let Some(value) = batch.get() else { return Ok(QueryAnswer::default()) };
            if wait {
                self.device.wait_value(value, u64::MAX)?;
            } else if !self.device.has_retired(value) {
                return Ok(QueryAnswer::default());
            }
        }
        let device = self.device.clone();
        let Some(query) = self.queries.queries.get_mut(&handle) else { return Ok(QueryAnswer::default()) };
        let mut results = Vec::with_capacity(query.segments.len());
        for slot in &query.segments {
            // Transform-feedback queries have two values, the others one.
            let mut values = [[0u64; 2]; 1];
            let two = query.kind.ty == vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT;
            // SAFETY: the batch of the slot has retired; the array has room for the values of one query.
            let got = unsafe {
                if two {
                    device.raw.get_query_pool_results(
                        slot.pool.raw,
                        slot.index,
                        &mut values,
                        vk::QueryResultFlags::TYPE_64,
                    )
                } else {
                    device.raw.get_query_pool_results(
                        slot.pool.raw,
                        slot.index,
                        &mut values[0][..1],
                        vk::QueryResultFlags::TYPE_64,
                    )
                }
            };
            // Its batch has retired, so a result that is not there will never come: the batch was not submitted.
            match got {
                Ok(()) | Err(vk::Result::NOT_READY) => {}
                Err(code) => return Err(device.note(map_create("query result", code))),
            }
            results.push(values[0]);
        }
        let sum = results.iter().fold(0u64, |sum, value| sum.wrapping_add(value[0]));
        let value = match query.meaning {
            Meaning::Sum => sum,
            Meaning::Any => u64::from(sum != 0),
            Meaning::Overflow => u64::from(results.iter().any(|value| value[1] > value[0])),
            Meaning::Elapsed => match results[..] {
                [first, .., last] => nanoseconds(&device, last[0].wrapping_sub(first[0])),
                _ => 0,
            },
            Meaning::Nothing => 0,
            Meaning::Time => results.last().map_or(0, |value| nanoseconds(&device, value[0])),
        };
        if !query.active {
            query.result = Some(value);
            query.segments.clear();
        }
        Ok(answer(value))
    }

    /// Forgets a query.
    pub(crate) fn destroy_query(&mut self, handle: QueryHandle) {
        if self.queries.queries.get(&handle).is_some_and(|query| query.active) {
            self.end_query(handle);
        }
        if self.queries.queries.remove(&handle).is_none() {
            self.shared.complain("query_destroy", "no such query");
        }
    }

    /// The device's time now. Commands that have been recorded need not have run (ARB_timer_query: they have only reached
    /// the server), so the clock itself is read where the device lets the host do that.
    pub(crate) fn timestamp_now(&mut self) -> PipeResult<QueryAnswer> {
        let Some((kind, meaning)) = meaning(&self.device, gl::TIMESTAMP, 0) else {
            return Err(PipeError::Unsupported("the device has no timestamps".into()));
        };
        if self.device.ext.calibrated_timestamps {
            let clock = [vk::CalibratedTimestampInfoEXT::default().time_domain(vk::TimeDomainEXT::DEVICE)];
            // SAFETY: the device has the extension enabled and offers its own clock.
            let times = unsafe { self.device.fns.clocks.get_calibrated_timestamps(&clock) };
            if let Some(ticks) = times.ok().and_then(|(times, _)| times.first().copied()) {
                return Ok(QueryAnswer { value: nanoseconds(&self.device, ticks), available: 1, pad: 0 });
            }
        }
        // A handle that no client mints.
        let handle = QueryHandle(mgpipe_types::Handle { slot: 0, gen: u32::MAX });
        let (segments, batch, result) = (Vec::new(), None, None);
        let query = Query { kind, meaning, active: false, generated: false, segments, batch, result };
        self.queries.queries.insert(handle, query);
        let result = self.write_timestamp(handle).and_then(|()| self.query_answer(handle, true));
        self.queries.queries.remove(&handle);
        result
    }
}
