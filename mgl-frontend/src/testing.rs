//! A backend for unit tests: keeps the bytes of buffers, writes down every call, and draws nothing.

mod images;

use std::collections::HashMap;
use std::sync::Arc;

use mgpipe_types::{
    fence_status, mgpipe_catalogue, Blit, BufferReadback, Caps, CapsReply, Clear, Context as Pipe, ContextHandle,
    DrawIndirect, DrawInfo, DrawRange, FenceAnswer, FenceWait, Format, FramebufferState, Handle, HandleOnly, HostBytes,
    Kind, MipPlan, PipeError, PipeResult, ProgramDesc, QueryAnswer, ReadbackInfo, ReadbackToBuffer,
    RenderbufferStorage, ResourceDesc, ResourceRef, Screen, SubData, SubRegion, Target, TextureParams,
};
use parking_lot::Mutex;

use crate::boundary::{ContextAttribs, DrawableDesc};
use crate::context::Context;
use crate::drawable::Drawable;
use crate::share::ShareGroup;
use images::StoredImage;

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
    /// Storage of living textures and renderbuffers by kind.
    pub(crate) images: HashMap<(u8, Handle), StoredImage>,
    /// Blits in order.
    pub(crate) blits: Vec<Blit>,
    /// Clears in order.
    pub(crate) clears: Vec<Clear>,
    /// Mipmap plans in order.
    pub(crate) mip_plans: Vec<MipPlan>,
    /// The last framebuffer.
    pub(crate) framebuffer: FramebufferState,
    /// The last parameters of textures.
    pub(crate) texture_params: HashMap<Handle, TextureParams>,
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
    /// Texels of a read-back, when it reads them in the format in which they are stored.
    fn read_image(&self, info: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
        let surface = &info.surface;
        let image = self.images.get(&(surface.kind, surface.handle));
        let image = image.ok_or_else(|| PipeError::BadHandle("image".into()))?;
        if image.desc.format != info.format {
            texels.fill(0);
            return Ok(());
        }
        let mut area = info.area;
        if image.desc.target == Target::Tex1DArray as u8 {
            area.y += surface.layer as i32;
        } else {
            area.z += surface.layer as i32;
        }
        texels.copy_from_slice(&image.read(u32::from(surface.level), &area));
        Ok(())
    }

    /// Texels of a read-back, at the strides of a buffer.
    fn read_into_buffer(&mut self, readback: &ReadbackToBuffer) {
        let area = &readback.info.area;
        let row_bytes = Format(readback.info.format).desc().row_bytes(area.width) as usize;
        let mut texels = vec![0; row_bytes * area.height as usize * area.depth as usize];
        self.read_image(&readback.info, &mut texels).expect("the image lives");
        let buffer = self.buffers.get_mut(&readback.buffer).expect("the buffer lives");
        for (i, row) in texels.chunks_exact(row_bytes).enumerate() {
            let (slice, row_in_slice) = (i as u64 / u64::from(area.height), i as u64 % u64::from(area.height));
            let at = readback.offset + slice * readback.slice_stride + row_in_slice * readback.row_stride;
            buffer[at as usize..][..row_bytes].copy_from_slice(row);
        }
    }

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
        } else {
            let kind = if desc.target == Target::Renderbuffer as u8 { Kind::Renderbuffer } else { Kind::Texture };
            let key = (kind as u8, desc.handle);
            let mut image = StoredImage::new(desc);
            if let Some(old) = log.images.get(&key).filter(|_| desc.has_defined_content != 0) {
                image.keep_from(old);
            }
            log.images.insert(key, image);
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
            drop(self.note(stringify!($name)));
        }
    };
    ($op:ident $name:ident screen ($($arg:ident : $kind:ident $ty:ident),*) $($reply:tt)*) => {};
}

macro_rules! rest_of_context {
    (ResourceRespecify $($t:tt)*) => {}; (ResourceSubdata $($t:tt)*) => {}; (ResourceReadback $($t:tt)*) => {};
    (ResourceCopyRegion $($t:tt)*) => {}; (DrawVbo $($t:tt)*) => {}; (CreateShader $($t:tt)*) => {};
    (DeleteShader $($t:tt)*) => {}; (SetGlobalConstants $($t:tt)*) => {}; (SetProgramBindings $($t:tt)*) => {};
    (QueryAvailable $($t:tt)*) => {}; (QueryResult $($t:tt)*) => {}; (QueryTimestamp $($t:tt)*) => {};
    (RenderbufferStorage $($t:tt)*) => {}; (Blit $($t:tt)*) => {}; (Clear $($t:tt)*) => {};
    (GenerateMipmap $($t:tt)*) => {}; (SetFramebufferState $($t:tt)*) => {}; (SetTextureParams $($t:tt)*) => {};
    (ReadPixels $($t:tt)*) => {}; (GetTextureImage $($t:tt)*) => {}; (ReadbackToBuffer $($t:tt)*) => {};
    ($op:ident $name:ident screen $($t:tt)*) => {};
    ($op:ident $name:ident context ($($arg:ident : $kind:ident $ty:ident),*) none) => {
        fn $name(&mut self, $($arg: mgpipe_types::mgpipe_arg!($kind $ty)),*) {
            let _ = ($($arg,)*);
            drop(self.0.note(stringify!($name)));
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
                let mut log = self.note("resource_destroy");
                if resource.kind == Kind::Buffer as u8 {
                    log.buffers.remove(&resource.handle);
                } else {
                    log.images.remove(&(resource.kind, resource.handle));
                }
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

            fn resource_subdata(&mut self, data: &SubData, regions: &[SubRegion], bytes: &[u8]) {
                let mut log = self.0.note("resource_subdata");
                if data.target == Target::Buffer as u16 {
                    let (offset, size) = data.union_box.buffer_range();
                    assert_eq!(size, bytes.len() as u64);
                    let buffer = log.buffers.get_mut(&data.res).expect("the buffer lives");
                    buffer[offset as usize..(offset + size) as usize].copy_from_slice(bytes);
                } else {
                    let image = log.images.get_mut(&(Kind::Texture as u8, data.res)).expect("the texture lives");
                    assert_eq!(data.region_count as usize, regions.len());
                    for region in regions {
                        image.write(u32::from(data.level), region, bytes);
                    }
                }
            }

            fn resource_readback(&mut self, readback: &BufferReadback, bytes: &mut [u8]) -> PipeResult<()> {
                let log = self.0.note("resource_readback");
                let buffer = log.buffers.get(&readback.res).ok_or_else(|| PipeError::BadHandle("buffer".into()))?;
                bytes.copy_from_slice(&buffer[readback.offset as usize..][..readback.size as usize]);
                Ok(())
            }

            fn readback_to_buffer(&mut self, readback: &ReadbackToBuffer) {
                self.0.note("readback_to_buffer").read_into_buffer(readback);
            }

            fn resource_copy_region(&mut self, copy: &mgpipe_types::CopyRegion) {
                let mut log = self.0.note("resource_copy_region");
                if copy.src_kind != Kind::Buffer as u8 {
                    let texels = log.images[&(copy.src_kind, copy.src)].read(u32::from(copy.src_level), &copy.src_box);
                    let region = SubRegion {
                        x: copy.dst_x,
                        y: copy.dst_y,
                        z: copy.dst_z,
                        width: copy.src_box.width,
                        height: copy.src_box.height,
                        depth: copy.src_box.depth,
                        ..SubRegion::default()
                    };
                    let image = log.images.get_mut(&(copy.dst_kind, copy.dst)).expect("the image lives");
                    image.write(u32::from(copy.dst_level), &region, &texels);
                    return;
                }
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

            fn read_pixels(&mut self, info: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
                self.0.note("read_pixels").read_image(info, texels)
            }

            fn get_texture_image(&mut self, info: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
                self.0.note("get_texture_image").read_image(info, texels)
            }

            fn renderbuffer_storage(&mut self, storage: &RenderbufferStorage) {
                let desc = ResourceDesc {
                    handle: storage.res,
                    target: Target::Renderbuffer as u8,
                    format: storage.format,
                    width: storage.width,
                    height: storage.height,
                    samples: storage.samples as u16,
                    levels: 1,
                    array_layers: 1,
                    ..ResourceDesc::default()
                };
                self.0.storage("renderbuffer_storage", &desc);
            }

            fn blit(&mut self, blit: &Blit) {
                self.0.note("blit").blits.push(*blit);
            }

            fn clear(&mut self, clear: &Clear) {
                self.0.note("clear").clears.push(*clear);
            }

            fn generate_mipmap(&mut self, plan: &MipPlan) {
                self.0.note("generate_mipmap").mip_plans.push(*plan);
            }

            fn set_framebuffer_state(&mut self, state: &FramebufferState) {
                self.0.note("set_framebuffer_state").framebuffer = *state;
            }

            fn set_texture_params(&mut self, params: &TextureParams) {
                self.0.note("set_texture_params").texture_params.insert(params.res, *params);
            }
        }
    };
}

mgpipe_catalogue!(double);

/// A context with a default framebuffer on a double with every feature, and the double's log.
pub(crate) fn context() -> (Context, Arc<Mutex<Log>>) {
    let (share, log) = share_group();
    let mut ctx = Context::new(&share, &attribs()).expect("the double makes contexts");
    give_drawable(&mut ctx);
    (ctx, log)
}

/// Makes a drawable of 64 by 64 pixels current.
pub(crate) fn give_drawable(ctx: &mut Context) {
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
}

/// A share group on a double with every feature.
pub(crate) fn share_group() -> (Arc<ShareGroup>, Arc<Mutex<Log>>) {
    let formats = [u32::MAX; mgpipe_types::FORMAT_SLOTS];
    let caps = Caps {
        features: !mgpipe_types::features::NEEDS_HOST_INDEX_BYTES,
        max_xfb_buffers: 4,
        call_mask: [u64::MAX; 2],
        framebuffer_color_samples: 0b101,
        framebuffer_depth_samples: 0b101,
        framebuffer_integer_samples: 0b101,
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
