//! Batches: command buffers, what they keep alive, and when they retire.
//!
//! A context records into one batch at a time. A batch has two command buffers: *init* takes uploads into objects that the
//! main commands have not used yet, so that an upload in the middle of a frame needs no break of the render pass; *main*
//! takes everything else. Both start with a full barrier, which orders them after everything submitted earlier by any
//! context of the device.

use crate::device::{BatchValue, Device};
use crate::error::map_create;
use crate::resource::buffer::{BufferStorage, Placement};
use crate::resource::texture::Image;
use crate::vertex_reads::Vertices;
use crate::written::{Part, Written};
use ash::vk;
use mgpipe_types::PipeResult;
use std::any::Any;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;

/// Size of a ring chunk in bytes.
const CHUNK_BYTES: u64 = 2 << 20;
/// Chunks that are kept for reuse.
const SPARE_CHUNKS: usize = 16;
/// Chunks of a batch after which an upload submits it: the device copies them while the host stages the next ones.
const MUCH_STAGED: usize = 2;
/// Bytes of storage that copies of a batch filled in the place of other storage, after which another such copy submits it:
/// the storage comes back while it is still in caches.
const MUCH_RENAMED: u64 = 2 << 20;
/// Batches in flight before recording waits for the oldest.
const MAX_IN_FLIGHT: usize = 8;
/// Frames in flight before a frame waits for the oldest.
const FRAMES_IN_FLIGHT: usize = 3;
/// Draws and dispatches after which a batch is submitted: enough that a submission costs nothing a draw, few enough that
/// the device starts early and what a driver keeps of a batch stays in its caches.
const MAX_BATCH_WORK: u32 = 2048;
/// Bytes of ring and kept objects after which a batch is submitted.
const MAX_BATCH_BYTES: u64 = 192 << 20;
/// Descriptor sets of a pool.
const POOL_SETS: u32 = 256;

/// One recording in the making or on the device.
pub(crate) struct Batch {
    pool: vk::CommandPool,
    init: vk::CommandBuffer,
    main: vk::CommandBuffer,
    /// Never-reused identity.
    pub(crate) serial: u64,
    init_open: bool,
    main_open: bool,
    pub(crate) value: Arc<BatchValue>,
    buffers: Vec<Arc<BufferStorage>>,
    images: Vec<Arc<Image>>,
    others: Vec<Arc<dyn Any + Send + Sync>>,
    chunks: Vec<Arc<BufferStorage>>,
    descriptor_pools: Vec<vk::DescriptorPool>,
    work: u32,
    bytes: u64,
}

/// Space in a ring chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingSlice {
    pub(crate) buffer: vk::Buffer,
    pub(crate) offset: u64,
    pub(crate) ptr: NonNull<u8>,
}

// SAFETY: the pointer leads into a mapping that any thread may write; the slice belongs to the one context that uses it.
unsafe impl Send for RingSlice {}

impl RingSlice {
    /// Fills the slice; the caller asked for at least this many bytes.
    pub(crate) fn write(&self, bytes: &[u8], room: u64) {
        let len = bytes.len().min(room as usize);
        // SAFETY: the slice spans `room` bytes of a mapped chunk that the batch keeps, and nobody else has it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.ptr.as_ptr(), len) };
    }
}

impl RingSlice {
    /// Zeroes bytes `from..to`; the caller asked for at least `to` bytes.
    pub(crate) fn zero(&self, from: u64, to: u64) {
        // SAFETY: as in `write`.
        unsafe { std::ptr::write_bytes(self.ptr.as_ptr().add(from as usize), 0, to.saturating_sub(from) as usize) };
    }

    /// Writes bytes at an offset; the caller asked for at least `offset + bytes.len()` bytes.
    pub(crate) fn write_bytes(&self, offset: u64, bytes: &[u8]) {
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.ptr.as_ptr().add(offset as usize), bytes.len()) };
    }

    /// Writes a word; the caller asked for at least `offset + 4` bytes.
    pub(crate) fn write_at(&self, offset: u32, bytes: &[u8; 4]) {
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.ptr.as_ptr().add(offset as usize), 4) };
    }
}

/// Records batches, submits them, and takes them back.
pub(crate) struct Recorder {
    pub(crate) device: Arc<Device>,
    pub(crate) batch: Batch,
    in_flight: VecDeque<Batch>,
    free: Vec<Batch>,
    chunk: Option<(Arc<BufferStorage>, u64)>,
    spare_chunks: Vec<Arc<BufferStorage>>,
    spare_pools: Vec<vk::DescriptorPool>,
    frames: VecDeque<u64>,
    /// Memory in which read-backs land; see [`crate::readback`].
    pub(crate) read_staging: [Option<Arc<BufferStorage>>; 2],
    /// Draws of the open pass that are put off to be merged.
    pub(crate) waiting: crate::merge::Waiting,
    /// Identity of the commands since the last full barrier of *main*.
    pub(crate) span: u64,
    init_span: u64,
    /// Bytes of storage that copies of the batch filled in the place of other storage.
    renamed: u64,
    /// What the draws since the last change of vertex input fetch.
    pub(crate) vertices: Vertices,
    /// What uploads wrote in one object in the running span of *main*, and in that of *init*.
    uploads: [Written; 2],
    /// What runs in *main* since the last barrier: transfers that read, any transfer, passes and dispatches.
    dirty_reads: bool,
    dirty_transfers: bool,
    dirty_work: bool,
    /// Value of the latest submission of this context.
    pub(crate) last_value: u64,
}

// SAFETY: ring slices hand out pointers, but the recorder itself is used by one thread at a time (`Context` is `Send`).
unsafe impl Send for Recorder {}

fn full_barrier(device: &ash::Device, commands: vk::CommandBuffer) {
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
    // SAFETY: the command buffer is being recorded, outside of a render pass.
    unsafe {
        device.cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::DependencyFlags::empty(),
            &[barrier],
            &[],
            &[],
        );
    }
}

impl Batch {
    fn new(device: &Arc<Device>) -> PipeResult<Batch> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.queue_family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the family index is the device's.
        let pool =
            unsafe { device.raw.create_command_pool(&info, None) }.map_err(|code| map_create("command pool", code))?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(2);
        // SAFETY: the pool was just created.
        let buffers = match unsafe { device.raw.allocate_command_buffers(&info) } {
            Ok(buffers) => buffers,
            Err(code) => {
                // SAFETY: the pool is unused.
                unsafe { device.raw.destroy_command_pool(pool, None) };
                return Err(map_create("command buffers", code));
            }
        };
        Ok(Batch {
            pool,
            init: buffers[0],
            main: buffers[1],
            serial: device.next_serial(),
            init_open: false,
            main_open: false,
            value: Arc::default(),
            buffers: Vec::new(),
            images: Vec::new(),
            others: Vec::new(),
            chunks: Vec::new(),
            descriptor_pools: Vec::new(),
            work: 0,
            bytes: 0,
        })
    }

    fn is_empty(&self) -> bool {
        !self.init_open && !self.main_open
    }

    fn release(&mut self) {
        for buffer in self.buffers.drain(..) {
            buffer.usage.leave();
        }
        for image in self.images.drain(..) {
            image.usage.leave();
        }
        self.others.clear();
    }
}

impl Recorder {
    pub(crate) fn new(device: &Arc<Device>) -> PipeResult<Recorder> {
        Ok(Recorder {
            batch: Batch::new(device)?,
            in_flight: VecDeque::new(),
            free: Vec::new(),
            chunk: None,
            spare_chunks: Vec::new(),
            spare_pools: Vec::new(),
            frames: VecDeque::new(),
            read_staging: [None, None],
            waiting: Default::default(),
            span: device.next_serial(),
            init_span: device.next_serial(),
            renamed: 0,
            vertices: Vertices::NONE,
            uploads: Default::default(),
            dirty_reads: false,
            dirty_transfers: false,
            dirty_work: false,
            last_value: crate::device::FIRST_VALUE,
            device: device.clone(),
        })
    }

    // ---- command buffers ----

    /// The main command buffer, opened when it is not yet.
    #[inline]
    pub(crate) fn main(&mut self) -> vk::CommandBuffer {
        self.flush_draws();
        if !self.batch.main_open {
            self.open(false);
        }
        self.batch.main
    }

    /// The init command buffer, opened when it is not yet.
    pub(crate) fn init(&mut self) -> vk::CommandBuffer {
        if !self.batch.init_open {
            self.open(true);
        }
        self.batch.init
    }

    #[cold]
    fn open(&mut self, init: bool) {
        let commands = if init { self.batch.init } else { self.batch.main };
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is in its initial state: new, or its pool was reset.
        if let Err(code) = unsafe { self.device.raw.begin_command_buffer(commands, &info) } {
            self.device.note(crate::error::map_submit("vkBeginCommandBuffer", code));
        }
        full_barrier(&self.device.raw, commands);
        if init {
            self.batch.init_open = true;
            self.init_span = self.device.next_serial();
        } else {
            self.batch.main_open = true;
            self.fresh_span();
        }
    }

    fn fresh_span(&mut self) {
        self.span = self.device.next_serial();
        self.dirty_reads = false;
        self.dirty_transfers = false;
        self.dirty_work = false;
    }

    /// A full barrier in *main*, outside of a pass.
    pub(crate) fn barrier(&mut self) {
        let commands = self.main();
        full_barrier(&self.device.raw, commands);
        self.fresh_span();
    }

    /// A barrier in *main* unless nothing ran since the last one that could conflict with a new pass or dispatch.
    pub(crate) fn barrier_before_work(&mut self) {
        // Opening *main* forgets what ran before: first.
        self.main();
        if self.dirty_work || self.dirty_transfers {
            self.barrier();
        }
        self.dirty_work = true;
    }

    /// Whether no object is used by *main* yet, so that a transfer may go into *init*.
    pub(crate) fn movable(&self, reads: &[Object<'_>], writes: &[Object<'_>]) -> bool {
        let serial = self.batch.serial;
        reads.iter().chain(writes).all(|o| !o.usage().in_main(serial))
    }

    /// Commands for a transfer outside of a pass that reads and writes objects. `reorder`: the caller allows *init*, which
    /// is taken when neither object is used by *main*.
    pub(crate) fn transfer(&mut self, reads: &[Object<'_>], writes: &[Object<'_>], reorder: bool) -> vk::CommandBuffer {
        let movable = reorder && self.movable(reads, writes);
        for object in reads.iter().chain(writes) {
            self.keep(*object, !movable);
        }
        self.ordered(reads, writes, movable, |_, _| false)
    }

    /// Whether *main* has nothing to do with parts of an object, so that an upload into them may go into *init*. The vertices
    /// that draws fetch have been noted.
    pub(crate) fn is_beside_main(&self, object: Object<'_>, parts: &[Part]) -> bool {
        let batch = self.batch.serial;
        match object {
            Object::Image(image) => !image.usage.in_main(batch),
            Object::Buffer(buffer) => parts.iter().all(|part| {
                let (start, end) = part.bytes();
                buffer.usage.is_beside_main(batch, start, end)
            }),
        }
    }

    /// Commands for a transfer from objects into parts of another one. Those beside each other get no order. `movable`: it
    /// goes into *init*.
    pub(crate) fn upload(
        &mut self,
        reads: &[Object<'_>],
        object: Object<'_>,
        parts: &[Part],
        movable: bool,
    ) -> vk::CommandBuffer {
        for read in reads {
            self.keep(*read, !movable);
        }
        match object {
            // What lies beside the parts may still be written in front of the batch.
            Object::Buffer(buffer) if !movable => {
                self.keep_parts(buffer);
                for part in parts {
                    let (start, end) = part.bytes();
                    buffer.usage.note_part(self.batch.serial, start, end);
                }
            }
            object => self.keep(object, !movable),
        }
        let is_beside =
            |recorder: &Recorder, span| recorder.uploads.iter().any(|written| written.is_beside(object, span, parts));
        let commands = self.ordered(reads, &[object], movable, is_beside);
        let span = if movable { self.init_span } else { self.span };
        self.uploads[usize::from(movable)].add(object, span, parts);
        commands
    }

    /// As [`Recorder::transfer`], into *init* if it is movable, and of objects that are kept. `is_beside` says for a span whether what was written in it
    /// in the same objects may have any order with the new writes.
    fn ordered(
        &mut self,
        reads: &[Object<'_>],
        writes: &[Object<'_>],
        movable: bool,
        is_beside: impl Fn(&Recorder, u64) -> bool,
    ) -> vk::CommandBuffer {
        if movable {
            if !self.batch.init_open {
                self.open(true);
            }
            let span = self.init_span;
            let after_read = writes.iter().any(|o| o.usage().read_in(span));
            if after_read || self.is_after_write(reads, writes, span, is_beside) {
                full_barrier(&self.device.raw, self.batch.init);
                self.init_span = self.device.next_serial();
            }
            for object in reads {
                object.usage().mark_read(self.init_span);
            }
            for object in writes {
                object.usage().mark_write(self.init_span);
            }
            return self.batch.init;
        }
        let commands = self.main();
        let span = self.span;
        let after_read = self.dirty_reads && !writes.is_empty();
        if self.dirty_work || after_read || self.is_after_write(reads, writes, span, is_beside) {
            self.barrier();
        }
        for object in writes {
            object.usage().mark_write(self.span);
        }
        // Any transfer makes the next pass wait; a read also makes the next writing transfer wait.
        self.dirty_transfers = true;
        self.dirty_reads |= !reads.is_empty();
        commands
    }

    fn is_after_write(
        &self,
        reads: &[Object<'_>],
        writes: &[Object<'_>],
        span: u64,
        is_beside: impl Fn(&Recorder, u64) -> bool,
    ) -> bool {
        let written = |objects: &[Object<'_>]| objects.iter().any(|o| o.usage().written_in(span));
        written(reads) || written(writes) && !is_beside(self, span)
    }

    /// Notes that a copy fills so many bytes of storage in the place of other storage. False when the batch has had enough of
    /// that: the caller submits it.
    pub(crate) fn may_rename(&mut self, bytes: u64) -> bool {
        self.renamed += bytes;
        self.renamed <= MUCH_RENAMED
    }

    // ---- what a batch keeps ----

    /// Keeps an object until the batch has retired.
    #[inline]
    pub(crate) fn keep(&mut self, object: Object<'_>, main: bool) {
        let serial = self.batch.serial;
        if main {
            object.usage().mark_main(serial);
        }
        if object.usage().enter(serial) {
            match object {
                Object::Buffer(buffer) => self.batch.buffers.push(buffer.clone()),
                Object::Image(image) => self.batch.images.push(image.clone()),
            }
        }
    }

    /// Keeps a buffer of which main commands use parts until the batch has retired.
    #[inline]
    pub(crate) fn keep_parts(&mut self, buffer: &Arc<BufferStorage>) {
        buffer.usage.mark_parts(self.batch.serial);
        self.keep(Object::Buffer(buffer), false);
    }

    /// Keeps anything else until the batch has retired.
    pub(crate) fn keep_other(&mut self, object: Arc<dyn Any + Send + Sync>) {
        self.batch.others.push(object);
    }

    /// Counts bytes that the batch keeps from being freed.
    pub(crate) fn add_bytes(&mut self, bytes: u64) {
        self.batch.bytes = self.batch.bytes.saturating_add(bytes);
    }

    // ---- ring ----

    /// Whether the batch has staged so much that handing it over is better than staging more.
    pub(crate) fn has_much_staged(&self) -> bool {
        self.batch.chunks.len() >= MUCH_STAGED
    }

    /// Host-visible space that lives until the batch has retired.
    #[inline]
    pub(crate) fn ring(&mut self, size: u64, align: u64) -> PipeResult<RingSlice> {
        if let Some((chunk, used)) = &mut self.chunk {
            let offset = used.next_multiple_of(align.max(1));
            if offset + size <= chunk.size {
                if let Some(base) = chunk.mapped() {
                    *used = offset + size;
                    // SAFETY: offset + size lies within the chunk, which is mapped whole.
                    let ptr = unsafe { base.add(offset as usize) };
                    return Ok(RingSlice { buffer: chunk.raw, offset, ptr });
                }
            }
        }
        self.ring_slow(size)
    }

    #[cold]
    fn ring_slow(&mut self, size: u64) -> PipeResult<RingSlice> {
        let large = size > CHUNK_BYTES / 2;
        let chunk = if large {
            Arc::new(BufferStorage::new(&self.device, size, Placement::Upload)?)
        } else {
            if self.spare_chunks.is_empty() {
                self.reclaim_chunks()?;
            }
            match self.spare_chunks.pop() {
                Some(chunk) => chunk,
                None => Arc::new(BufferStorage::new(&self.device, CHUNK_BYTES, Placement::Upload)?),
            }
        };
        let Some(ptr) = chunk.mapped() else {
            return Err(mgpipe_types::PipeError::OutOfMemory("ring chunk is not mapped".into()));
        };
        self.add_bytes(chunk.size);
        self.batch.chunks.push(chunk.clone());
        let slice = RingSlice { buffer: chunk.raw, offset: 0, ptr };
        if !large {
            self.chunk = Some((chunk, size));
        }
        Ok(slice)
    }

    /// Waits for the oldest batch that runs, and takes back all that have retired.
    pub(crate) fn wait_oldest(&mut self) -> PipeResult<()> {
        if let Some(value) = self.in_flight.front().and_then(|batch| batch.value.get()) {
            self.device.wait_value(value, u64::MAX)?;
        }
        self.collect();
        Ok(())
    }

    /// Takes chunks back from batches that have retired; waits for the oldest batch when all of them together hold as many
    /// as are ever kept.
    fn reclaim_chunks(&mut self) -> PipeResult<()> {
        self.collect();
        let held: usize = self.in_flight.iter().map(|batch| batch.chunks.len()).sum();
        if self.spare_chunks.is_empty() && held >= SPARE_CHUNKS {
            self.wait_oldest()?;
        }
        Ok(())
    }

    /// Copies bytes into the ring.
    pub(crate) fn ring_bytes(&mut self, bytes: &[u8], align: u64) -> PipeResult<RingSlice> {
        let slice = self.ring(bytes.len() as u64, align)?;
        slice.write(bytes, bytes.len() as u64);
        Ok(slice)
    }

    // ---- descriptors ----

    /// A descriptor set that lives until the batch has retired.
    pub(crate) fn descriptor_set(&mut self, layout: vk::DescriptorSetLayout) -> PipeResult<vk::DescriptorSet> {
        let layouts = [layout];
        for attempt in 0..2 {
            if attempt == 1 || self.batch.descriptor_pools.is_empty() {
                let pool = match self.spare_pools.pop() {
                    Some(pool) => pool,
                    None => self.new_descriptor_pool()?,
                };
                self.batch.descriptor_pools.push(pool);
            }
            let Some(&pool) = self.batch.descriptor_pools.last() else { continue };
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            // SAFETY: pool and layout belong to the device; only this context uses the pool.
            match unsafe { self.device.raw.allocate_descriptor_sets(&info) } {
                Ok(sets) => return Ok(sets[0]),
                Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY | vk::Result::ERROR_FRAGMENTED_POOL) if attempt == 0 => {}
                Err(code) => return Err(self.device.note(map_create("descriptor set", code))),
            }
        }
        Err(mgpipe_types::PipeError::OutOfMemory("descriptor set larger than a pool".into()))
    }

    fn new_descriptor_pool(&self) -> PipeResult<vk::DescriptorPool> {
        let size = |ty, count| vk::DescriptorPoolSize { ty, descriptor_count: count * POOL_SETS };
        let sizes = [
            size(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, 2),
            size(vk::DescriptorType::UNIFORM_BUFFER, 4),
            size(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 6),
            size(vk::DescriptorType::UNIFORM_TEXEL_BUFFER, 2),
            size(vk::DescriptorType::STORAGE_BUFFER, 3),
            size(vk::DescriptorType::STORAGE_IMAGE, 2),
            size(vk::DescriptorType::STORAGE_TEXEL_BUFFER, 1),
        ];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(POOL_SETS).pool_sizes(&sizes);
        // SAFETY: plain creation on a live device.
        unsafe { self.device.raw.create_descriptor_pool(&info, None) }
            .map_err(|code| map_create("descriptor pool", code))
    }

    // ---- submission ----

    /// Counts a draw or dispatch. True when the batch has grown enough to be submitted.
    #[inline]
    pub(crate) fn count_work(&mut self, amount: u32) -> bool {
        self.batch.work += amount;
        self.batch.work >= MAX_BATCH_WORK || self.batch.bytes >= MAX_BATCH_BYTES
    }

    /// Whether nothing was recorded since the last submission.
    pub(crate) fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Ends and submits the batch and opens a new one. The caller has ended its pass. Answers the timeline value of the
    /// context's latest submission.
    pub(crate) fn submit(&mut self) -> PipeResult<u64> {
        if self.batch.is_empty() {
            return Ok(self.last_value);
        }
        let host = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ | vk::AccessFlags::HOST_WRITE);
        let mut commands = smallvec::SmallVec::<[vk::CommandBuffer; 2]>::new();
        let mut failed = None;
        for (open, buffer) in [(self.batch.init_open, self.batch.init), (self.batch.main_open, self.batch.main)] {
            if !open {
                continue;
            }
            // SAFETY: the command buffer is being recorded, outside of a pass. The barrier makes device writes visible to
            // mappings once the timeline value is reached.
            let ended = unsafe {
                self.device.raw.cmd_pipeline_barrier(
                    buffer,
                    vk::PipelineStageFlags::ALL_COMMANDS,
                    vk::PipelineStageFlags::HOST,
                    vk::DependencyFlags::empty(),
                    &[host],
                    &[],
                    &[],
                );
                self.device.raw.end_command_buffer(buffer)
            };
            if let Err(code) = ended {
                failed = Some(self.device.note(map_create("vkEndCommandBuffer", code)));
            }
            commands.push(buffer);
        }
        let result = match failed {
            Some(error) => Err(error),
            None => self.device.submit(&commands, &self.batch.value),
        };
        let next = self.next_batch()?;
        let mut done = std::mem::replace(&mut self.batch, next);
        self.fresh_span();
        self.vertices = Vertices::NONE;
        self.renamed = 0;
        // The rest of the chunk goes with the batch: its space is never shared between batches, so that a chunk is free
        // when its batch is.
        self.chunk = None;
        match result {
            Ok(value) => {
                self.last_value = value;
                self.in_flight.push_back(done);
                Ok(value)
            }
            Err(error) => {
                // Nothing runs: the batch's objects can go at once.
                done.value.abandon();
                done.release();
                self.recycle(done);
                Err(error)
            }
        }
    }

    fn next_batch(&mut self) -> PipeResult<Batch> {
        self.collect();
        if self.in_flight.len() >= MAX_IN_FLIGHT {
            if let Some(value) = self.in_flight.front().and_then(|b| b.value.get()) {
                self.device.wait_value(value, u64::MAX)?;
                self.collect();
            }
        }
        match self.free.pop() {
            Some(mut batch) => {
                batch.serial = self.device.next_serial();
                batch.value = Arc::default();
                Ok(batch)
            }
            None => Batch::new(&self.device),
        }
    }

    /// Takes back batches that have retired.
    pub(crate) fn collect(&mut self) {
        while let Some(value) = self.in_flight.front().and_then(|batch| batch.value.get()) {
            if !self.device.has_retired(value) {
                break;
            }
            if let Some(mut batch) = self.in_flight.pop_front() {
                batch.release();
                self.recycle(batch);
            }
        }
    }

    fn recycle(&mut self, mut batch: Batch) {
        for chunk in batch.chunks.drain(..) {
            if chunk.size == CHUNK_BYTES && self.spare_chunks.len() < SPARE_CHUNKS {
                self.spare_chunks.push(chunk);
            }
        }
        // SAFETY: the batch has retired or was never submitted, so its sets and commands are unused.
        unsafe {
            for pool in batch.descriptor_pools.drain(..) {
                match self.device.raw.reset_descriptor_pool(pool, vk::DescriptorPoolResetFlags::empty()) {
                    Ok(()) => self.spare_pools.push(pool),
                    Err(_) => self.device.raw.destroy_descriptor_pool(pool, None),
                }
            }
            if self.device.raw.reset_command_pool(batch.pool, vk::CommandPoolResetFlags::empty()).is_err() {
                self.device.raw.destroy_command_pool(batch.pool, None);
                return;
            }
        }
        batch.init_open = false;
        batch.main_open = false;
        batch.work = 0;
        batch.bytes = 0;
        self.free.push(batch);
    }

    /// Ends a frame: waits until no more than the allowed frames are in flight.
    pub(crate) fn end_frame(&mut self) {
        self.frames.push_back(self.last_value);
        while self.frames.len() > FRAMES_IN_FLIGHT {
            if let Some(value) = self.frames.pop_front() {
                // A loss is latched by the wait.
                let _ = self.device.wait_value(value, u64::MAX);
            }
        }
        self.collect();
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.submit();
        let _ = self.device.wait_value(self.last_value, u64::MAX);
        self.batch.release();
        for mut batch in self.in_flight.drain(..).collect::<Vec<_>>() {
            batch.release();
            self.recycle(batch);
        }
        // SAFETY: everything of this context has retired, or the device is lost and nothing runs.
        unsafe {
            for pool in self.batch.descriptor_pools.drain(..).chain(self.spare_pools.drain(..)) {
                self.device.raw.destroy_descriptor_pool(pool, None);
            }
            self.device.raw.destroy_command_pool(self.batch.pool, None);
            for batch in self.free.drain(..) {
                self.device.raw.destroy_command_pool(batch.pool, None);
            }
        }
    }
}

/// An object with a [`crate::resource::Usage`].
#[derive(Clone, Copy)]
pub(crate) enum Object<'a> {
    /// A buffer's storage.
    Buffer(&'a Arc<BufferStorage>),
    /// An image.
    Image(&'a Arc<Image>),
}

impl Object<'_> {
    fn usage(&self) -> &crate::resource::Usage {
        match self {
            Object::Buffer(buffer) => &buffer.usage,
            Object::Image(image) => &image.usage,
        }
    }
}
