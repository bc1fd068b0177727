//! Payloads of the verbs that draw, dispatch, synchronise and present.

use crate::pod::payload;
use crate::Handle;

/// Bits of [`DrawInfo::flags`].
pub mod draw_flags {
    /// `userIndices` host bytes accompany the draw.
    pub const USER_INDICES: u8 = 1 << 0;
    /// Primitive restart is on with `restart_index`.
    pub const PRIMITIVE_RESTART: u8 = 1 << 1;
    /// `min_index` and `max_index` are valid.
    pub const INDEX_RANGE: u8 = 1 << 2;
    /// `xfb_captured_vertices` is valid.
    pub const XFB_COUNT: u8 = 1 << 3;
    /// The draw comes from the indirect tail.
    pub const INDIRECT: u8 = 1 << 4;
}

/// Bits of [`Flush::flags`].
pub mod flush_flags {
    /// Submit what was recorded.
    pub const SUBMIT: u32 = 1 << 0;
    /// A frame ends here (pbuffer swap or present): per-frame pools may turn over.
    pub const END_OF_FRAME: u32 = 1 << 1;
    /// The calling thread lets go of the context: the next call may come from another thread. A backend whose native
    /// contexts are bound to threads unbinds its own.
    pub const RELEASE: u32 = 1 << 2;
}

/// Answers of `fence_wait` and `fence_status`, as [`FenceAnswer::status`].
pub mod fence_status {
    /// Not signalled (status), or not within the time (wait).
    pub const TIMEOUT: u32 = 0;
    /// Signalled.
    pub const SIGNALED: u32 = 1;
    /// The device is lost: an answer of its own, never corruption.
    pub const DEVICE_LOST: u32 = 2;
}

payload! {
    /// A draw, 56 bytes; tails: [`DrawRange`]s, then at most one [`DrawIndirect`]; host bytes: client indices.
    DrawInfo [56] {
        /// Primitive mode (GL enum).
        mode: u32,
        /// Bytes an index: 0 for a non-indexed draw, else 1, 2 or 4.
        index_size: u8,
        /// Bits of [`draw_flags`].
        flags: u8,
        /// Padding, zero.
        pad: u16,
        /// Instances.
        instance_count: u32,
        /// Base instance.
        start_instance: u32,
        /// Restart index when the flag is set.
        restart_index: u32,
        /// Index buffer of the draw, or null with client indices.
        index_buffer: Handle,
        /// Lowest index, when the flag says so.
        min_index: u32,
        /// Highest index, when the flag says so.
        max_index: u32,
        /// `gl_DrawID` of the first range.
        draw_id_offset: u32,
        /// Ranges in the tail.
        range_count: u32,
        /// Patch vertices when `mode` is patches (redundant with the patch state; 0 otherwise).
        patch_vertices: u32,
        /// Vertices captured so far, when the flag says so (low, high word).
        xfb_captured_vertices: [u32; 2],
    }

    /// One range of a draw, 12 bytes.
    DrawRange [12] {
        /// First vertex, or first index counted from the index buffer's offset.
        start: u32,
        /// Vertices or indices.
        count: u32,
        /// Added to each index.
        index_bias: i32,
    }

    /// An indirect draw, 48 bytes.
    DrawIndirect [48] {
        /// Buffer of the commands.
        buffer: Handle,
        /// First byte of the first command.
        offset: u64,
        /// Commands, or the maximum when a count buffer is named.
        draw_count: u32,
        /// Bytes between commands.
        stride: u32,
        /// Buffer of the count, or null.
        count_buffer: Handle,
        /// Byte of the count.
        count_offset: u64,
        /// Padding, zero.
        pad: u64,
    }

    /// A compute dispatch, 40 bytes.
    GridInfo [40] {
        /// Work groups in x, y, z.
        groups: [u32; 3],
        /// Padding, zero.
        pad: u32,
        /// Buffer of the group counts, or null.
        indirect: Handle,
        /// Byte of the group counts.
        indirect_offset: u64,
        /// Work-group size when it is variable, else 0.
        variable_group_size: [u16; 4],
    }

    /// A memory barrier, 8 bytes.
    MemoryBarrier [8] {
        /// `GL_*_BARRIER_BIT`s.
        bits: u32,
        /// 1 for `glMemoryBarrierByRegion`.
        by_region: u32,
    }

    /// The start of a transform-feedback span, 16 bytes.
    BeginStreamOutput [16] {
        /// The transform-feedback object.
        xfb: Handle,
        /// Primitive mode: points, lines or triangles.
        mode: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// The end of a transform-feedback span, 24 bytes.
    EndStreamOutput [24] {
        /// The transform-feedback object.
        xfb: Handle,
        /// Vertices that the client counted, when the backend asked it to count.
        captured_vertices: u64,
        /// Primitives likewise.
        captured_primitives: u64,
    }

    /// A flush, 8 bytes.
    Flush [8] {
        /// Bits of [`flush_flags`].
        flags: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// A present, 40 bytes.
    Present [40] {
        /// Colour image that is shown.
        surface: super::Surface,
        /// Serial of the frame within the surface.
        frame_serial: u64,
        /// Window surface on the server.
        window: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// A swap interval, 8 bytes.
    SwapInterval [8] {
        /// Window surface on the server.
        window: u32,
        /// Frames between swaps.
        interval: i32,
    }

    /// A fence in the command flow, 16 bytes.
    FenceDesc [16] {
        /// The fence.
        fence: Handle,
        /// 1 when a native fence descriptor may be exported from it.
        exportable: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// A bounded wait, 16 bytes.
    FenceWait [16] {
        /// The fence.
        fence: Handle,
        /// Nanoseconds; `u64::MAX` waits as long as the device lives.
        timeout_ns: u64,
    }

    /// Answer of a fence question, 4 bytes.
    FenceAnswer [4] {
        /// A value of [`fence_status`].
        status: u32,
    }

    /// Declares a query, 16 bytes.
    QueryDesc [16] {
        /// The query.
        query: Handle,
        /// Query target (GL enum): `GL_SAMPLES_PASSED`, `GL_ANY_SAMPLES_PASSED(_CONSERVATIVE)`,
        /// `GL_PRIMITIVES_GENERATED`, `GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN`, `GL_TIME_ELAPSED`, `GL_TIMESTAMP`, …
        target: u32,
        /// Vertex stream or index.
        index: u32,
    }

    /// Answer of `query_result`, 16 bytes.
    QueryAnswer [16] {
        /// The result: samples, 0/1, primitives or nanoseconds.
        value: u64,
        /// 1 when the value is there; 0 when the device was lost or the query never ran.
        available: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// Identity of the context that the following records belong to, 8 bytes.
    BindContext [8] {
        /// The context.
        context: Handle,
    }
}
