//! Named mappers from Vulkan result codes to the errors of the pipe.

use ash::vk;
use mgpipe_types::PipeError;

/// Maps the result of a call that allocates or creates: `ERROR_OUT_OF_HOST_MEMORY`, `ERROR_OUT_OF_DEVICE_MEMORY`,
/// `ERROR_TOO_MANY_OBJECTS`, `ERROR_FRAGMENTED_POOL`, `ERROR_OUT_OF_POOL_MEMORY`, `ERROR_DEVICE_LOST`; every other code is a
/// refusal of the request.
pub(crate) fn map_create(what: &str, code: vk::Result) -> PipeError {
    match code {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_TOO_MANY_OBJECTS
        | vk::Result::ERROR_FRAGMENTED_POOL
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY => PipeError::OutOfMemory(format!("{what}: {code}")),
        vk::Result::ERROR_DEVICE_LOST => PipeError::DeviceLost(what.into()),
        other => PipeError::Unsupported(format!("{what}: {other}")),
    }
}

/// Maps the result of a submission or a wait: `ERROR_DEVICE_LOST`, `ERROR_OUT_OF_HOST_MEMORY`, `ERROR_OUT_OF_DEVICE_MEMORY`.
pub(crate) fn map_submit(what: &str, code: vk::Result) -> PipeError {
    match code {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
            PipeError::OutOfMemory(format!("{what}: {code}"))
        }
        other => PipeError::DeviceLost(format!("{what}: {other}")),
    }
}

/// Maps the result of a call that starts the backend: layer, extension, feature and driver codes become one sentence.
pub(crate) fn map_init(what: &str, code: vk::Result) -> PipeError {
    PipeError::Init(format!("{what}: {code}"))
}

/// Maps an allocator error.
pub(crate) fn map_allocation(what: &str, error: gpu_allocator::AllocationError) -> PipeError {
    use gpu_allocator::AllocationError;
    match error {
        AllocationError::OutOfMemory => PipeError::OutOfMemory(format!("{what}: no device memory left")),
        other => PipeError::OutOfMemory(format!("{what}: {other}")),
    }
}
