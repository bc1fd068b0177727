//! Queries.

use crate::command::Recorder;
use crate::context::MagmaContext;
use crate::device::Device;
use ash::vk;
use mgpipe_types::{PipeResult, QueryAnswer, QueryDesc, QueryHandle};
use std::sync::Arc;

/// Queries of a context.
#[derive(Default)]
pub(crate) struct Queries {}

impl Queries {
    pub(crate) fn pass_begun(&mut self, _device: &Arc<Device>, _rec: &mut Recorder, _commands: vk::CommandBuffer) {}

    pub(crate) fn pass_ending(&mut self, _device: &Arc<Device>, _commands: vk::CommandBuffer) {}

    pub(crate) fn before_submit(&mut self, _device: &Arc<Device>, _rec: &mut Recorder) {}

    pub(crate) fn destroy(&mut self, _device: &Arc<Device>) {}
}

impl MagmaContext {
    pub(crate) fn create_query(&mut self, _desc: &QueryDesc) {}

    pub(crate) fn begin_query(&mut self, _query: QueryHandle) {}

    pub(crate) fn end_query(&mut self, _query: QueryHandle) {}

    pub(crate) fn query_answer(&mut self, _query: QueryHandle, _wait: bool) -> PipeResult<QueryAnswer> {
        Ok(QueryAnswer::default())
    }

    pub(crate) fn destroy_query(&mut self, _query: QueryHandle) {}

    pub(crate) fn timestamp_now(&mut self) -> PipeResult<QueryAnswer> {
        Ok(QueryAnswer::default())
    }
}
