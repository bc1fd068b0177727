//! A backend for unit tests: keeps the bytes of buffers, writes down every call, and draws nothing.

use std::collections::HashMap;
use std::sync::Arc;

use mgpipe_types::{
    fence_status, mgpipe_catalogue, BufferReadback, Caps, CapsReply, Context as Pipe, ContextHandle, DrawIndirect,
    DrawInfo, DrawRange, FenceAnswer, FenceWait, Handle, HandleOnly, HostBytes, PipeError, PipeResult, ProgramDesc,
    QueryAnswer, ReadbackInfo, ResourceDesc, ResourceRef, Screen, SubData, SubRegion, Target,
};
use parking_lot::Mutex;

use crate::boundary::{ContextAttribs, DrawableDesc};
use crate::context::Context;
use crate::drawable::Drawable;
use crate::share::ShareGroup;

/// What the double saw.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Names of all calls in order.
    pub(crate) calls: Vec<&'static str>,
    /// Draws with their ranges.
    pub(crate) draws: Vec<(DrawInfo, Vec<DrawRange>)>,
    /// Client index bytes of draws.
    pub(crate) index_bytes: Vec<Vec<u8>>,
    /// Contents of living buffers.
    pub(crate) buffers: HashMap<Handle, Vec<u8>>,
    /// Living programs.
    pub(crate) programs: Vec<Handle>,
    /// The last default uniform block.
    pub(crate) constants: Vec<u8>,
    /// The last program bindings, tails as they came.
    pub(crate) bindings: Vec<u32>,
    /// What queries answer.
    pub(crate) query_value: u64,
    /// Whether query answers are there.
    pub(crate) query_ready: bool,
}

impl Log {
    /// How often a call came.
    pub(crate) fn count(&self, call: &str) -> usize {
        self.calls.iter().filter(|c| **c == call).count()
    }
}

/// The screen of the double; clones of its log are what tests look at.
#[derive(Clone, Default)]
pub(crate) struct NullScreen {
    pub(crate) log: Arc<Mutex<Log>>,
    pub(crate) caps: CapsReply,
}

impl NullScreen {
    fn note(&self, call: &'static str) -> parking_lot::MutexGuard<'_, Log> {
        let mut log = self.log.lock();
        log.calls.push(call);
        log
    }

    fn storage(&self, call: &'static str, desc: &ResourceDesc) {
        let mut log = self.note(call);
        if desc.target == Target::Buffer as u8 {
            log.buffers.insert(desc.handle, vec![0xcd; desc.buffer_size as usize]);
        }
    }
}

/// One command flow of the double.
pub(crate) struct NullContext(NullScreen);

/// Rows that are written out below; all others only note their name.
macro_rules! rest_of_screen {
    (GetCaps $($t:tt)*) => {}; (ResourceCreate $($t:tt)*) => {}; (ResourceDestroy $($t:tt)*) => {};
    (FenceStatus $($t:tt)*) => {}; (FenceWait $($t:tt)*) => {};
    ($op:ident $name:ident context $($t:tt)*) => {};
    ($op:ident $name:ident screen ($($arg:ident : $kind:ident $ty:ident),*) none) => {
        fn $name(&self, $($arg: mgpipe_types::mgpipe_arg!($kind $ty)),*) {
            let _ = ($($arg,)*);
            self.note(stringify!($name));
        }
    };
    ($op:ident $name:ident screen ($($arg:ident : $kind:ident $ty:ident),*) $($reply:tt)*) => {};
}

macro_rules! rest_of_context {
    (ResourceRespecify $($t:tt)*) => {}; (ResourceSubdata $($t:tt)*) => {}; (ResourceReadback $($t:tt)*) => {};
    (ResourceCopyRegion $($t:tt)*) => {}; (DrawVbo $($t:tt)*) => {}; (CreateShader $($t:tt)*) => {};
    (DeleteShader $($t:tt)*) => {}; (SetGlobalConstants $($t:tt)*) => {}; (SetProgramBindings $($t:tt)*) => {};
    (QueryAvailable $($t:tt)*) => {}; (QueryResult $($t:tt)*) => {}; (QueryTimestamp $($t:tt)*) => {};
    (ReadPixels $($t:tt)*) => {}; (GetTextureImage $($t:tt)*) => {};
    ($op:ident $name:ident screen $($t:tt)*) => {};
    ($op:ident $name:ident context ($($arg:ident : $kind:ident $ty:ident),*) none) => {
        fn $name(&mut self, $($arg: mgpipe_types::mgpipe_arg!($kind $ty)),*) {
            let _ = ($($arg,)*);
            self.0.note(stringify!($name));
        }
    };
}

macro_rules! double {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        impl Screen for NullScreen {
            $(rest_of_screen! { $op $name $recv ($($arg : $kind $ty),*) $reply })*

            fn get_caps(&self) -> CapsReply {
                self.caps.clone()
            }

            fn resource_create(&self, desc: &ResourceDesc) {
                self.storage("resource_create", desc);
            }

            fn resource_destroy(&self, resource: &ResourceRef) {
                self.note("resource_destroy").buffers.remove(&resource.handle);
            }

            fn fence_status(&self, _: &HandleOnly) -> PipeResult<FenceAnswer> {
                Ok(FenceAnswer { status: fence_status::SIGNALED })
            }

            fn fence_wait(&self, _: &FenceWait) -> PipeResult<FenceAnswer> {
                Ok(FenceAnswer { status: fence_status::SIGNALED })
            }

            fn create_context(&self, _: ContextHandle) -> PipeResult<Box<dyn Pipe>> {
                Ok(Box::new(NullContext(self.clone())))
            }

            fn device_lost(&self) -> Option<String> {
                None
            }
        }

        impl Pipe for NullContext {
            $(rest_of_context! { $op $name $recv ($($arg : $kind $ty),*) $reply })*

            fn resource_respecify(&mut self, desc: &ResourceDesc) {
                self.0.storage("resource_respecify", desc);
            }

            fn resource_subdata(&mut self, data: &SubData, _: &[SubRegion], bytes: &[u8]) {
                let mut log = self.0.note("resource_subdata");
                if data.target == Target::Buffer as u16 {
                    let (offset, size) = data.union_box.buffer_range();
                    assert_eq!(size, bytes.len() as u64);
                    let buffer = log.buffers.get_mut(&data.res).expect("the buffer lives");
                    buffer[offset as usize..(offset + size) as usize].copy_from_slice(bytes);
                }
            }

            fn resource_readback(&mut self, readback: &BufferReadback, bytes: &mut [u8]) -> PipeResult<()> {
                let log = self.0.note("resource_readback");
                let buffer = log.buffers.get(&readback.res).ok_or_else(|| PipeError::BadHandle("buffer".into()))?;
                bytes.copy_from_slice(&buffer[readback.offset as usize..][..readback.size as usize]);
                Ok(())
            }

            fn resource_copy_region(&mut self, copy: &mgpipe_types::CopyRegion) {
                let mut log = self.0.note("resource_copy_region");
                let (offset, size) = copy.src_box.buffer_range();
                let bytes = log.buffers[&copy.src][offset as usize..][..size as usize].to_vec();
                let at = copy.dst_x as u32 as usize;
                log.buffers.get_mut(&copy.dst).expect("the buffer lives")[at..at + bytes.len()].copy_from_slice(&bytes);
            }

            fn draw_vbo(&mut self, info: &DrawInfo, ranges: &[DrawRange], _: &[DrawIndirect], indices: HostBytes<'_>) {
                let mut log = self.0.note("draw_vbo");
                log.draws.push((*info, ranges.to_vec()));
                if let HostBytes::Bytes(bytes) = indices {
                    log.index_bytes.push(bytes.to_vec());
                }
            }

            fn create_shader(&mut self, desc: &ProgramDesc, code: &[u8]) {
                let mut log = self.0.note("create_shader");
                let at = &desc.reflection;
                let archive = &code[at.offset as usize..(at.offset + at.size) as usize];
                mgpipe_types::reflection::Reflection::from_bytes(archive).expect("the archive decodes");
                log.programs.push(desc.cso);
            }

            fn delete_shader(&mut self, cso: &HandleOnly) {
                self.0.note("delete_shader").programs.retain(|p| *p != cso.handle);
            }

            fn set_global_constants(&mut self, _: &mgpipe_types::GlobalConstants, bytes: &[u8]) {
                self.0.note("set_global_constants").constants = bytes.to_vec();
            }

            fn set_program_bindings(&mut self, _: &mgpipe_types::ProgramBindings, units: &[u32]) {
                self.0.note("set_program_bindings").bindings = units.to_vec();
            }

            fn query_available(&mut self, _: &HandleOnly) -> PipeResult<QueryAnswer> {
                let log = self.0.note("query_available");
                Ok(QueryAnswer { value: log.query_value, available: u32::from(log.query_ready), pad: 0 })
            }

            fn query_result(&mut self, _: &HandleOnly) -> PipeResult<QueryAnswer> {
                let log = self.0.note("query_result");
                Ok(QueryAnswer { value: log.query_value, available: 1, pad: 0 })
            }

            fn query_timestamp(&mut self) -> PipeResult<QueryAnswer> {
                Ok(QueryAnswer { value: 42, available: 1, pad: 0 })
            }

            fn read_pixels(&mut self, _: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
                self.0.note("read_pixels");
                texels.fill(0);
                Ok(())
            }

            fn get_texture_image(&mut self, _: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
                self.0.note("get_texture_image");
                texels.fill(0);
                Ok(())
            }
        }
    };
}

mgpipe_catalogue!(double);

/// A context with a default framebuffer on a double with every feature, and the double's log.
pub(crate) fn context() -> (Context, Arc<Mutex<Log>>) {
    let (share, log) = share_group();
    let mut ctx = Context::new(&share, &attribs()).expect("the double makes contexts");
    let desc = DrawableDesc {
        width: 64,
        height: 64,
        red: 8,
        green: 8,
        blue: 8,
        alpha: 8,
        depth: 24,
        stencil: 8,
        ..DrawableDesc::default()
    };
    let drawable = Drawable::new(desc);
    ctx.make_current(Some(&drawable), Some(&drawable));
    (ctx, log)
}

/// A share group on a double with every feature.
pub(crate) fn share_group() -> (Arc<ShareGroup>, Arc<Mutex<Log>>) {
    let formats = [u32::MAX; mgpipe_types::FORMAT_SLOTS];
    let caps = Caps {
        features: u64::MAX & !mgpipe_types::features::NEEDS_HOST_INDEX_BYTES,
        max_xfb_buffers: 4,
        ..Caps::default()
    };
    let reply = CapsReply { caps, formats, device_name: "double".into(), backend_name: "none".into() };
    let screen = NullScreen { log: Arc::default(), caps: reply };
    let log = screen.log.clone();
    (ShareGroup::new(Arc::new(screen)), log)
}

/// Attributes of an ordinary core context.
pub(crate) fn attribs() -> ContextAttribs {
    ContextAttribs { major: 3, minor: 3, ..ContextAttribs::default() }
}
