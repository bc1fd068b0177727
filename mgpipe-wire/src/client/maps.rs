//! Persistent mappings where the backend is elsewhere.
//!
//! Where the server's device takes memory of this side as a buffer's storage, a mapping is that memory, shared by both (tier
//! T0): what the application writes is there, and nothing is ever sent. Everywhere else the application gets a block of this
//! process and the bytes travel (tier T2): in front of a verb, the coherent mappings of the buffers that it reaches are
//! looked at, the pages that were written ([`watch`]) are compared with what the server has, and what differs is uploaded;
//! other mappings are sent when the application flushes a range or asks for the barrier. What the device wrote is fetched
//! when a fence is seen signalled, the ranges that verbs were given for it and no more, and merged word by word: a word that
//! the application changed meanwhile stays. Where the device may write, only the words that differ are uploaded: what lies
//! between them may be newer there.

mod bound;
mod copied;
mod packs;
mod ranges;
#[cfg(test)]
mod tests;
#[cfg(not(target_os = "linux"))]
#[path = "maps/unwatched.rs"]
mod watch;
#[cfg(target_os = "linux")]
mod watch;

pub(crate) use bound::Bound;

use super::answer;
use super::connection::Connection;
use crate::message::Subject;
use copied::{Destination, Mapped};
use mgpipe_types::{
    gl, BufferReadback, ContextHandle, CopyRegion, Handle, Kind, MapResult, PipeError, PipeResult, ReadbackToBuffer,
    ResourceDesc, SharedMemory, SubData, Target,
};
use packs::Packs;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use watch::PageWatch;

/// How the bytes of persistent mappings reach a backend that is elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapTier {
    /// The best that works.
    #[default]
    Auto,
    /// Memory that both sides share (T0), or no screen.
    Shared,
    /// Uploads (T2), with the kernel's marks on written pages where it has them.
    Copied,
    /// Uploads, with every byte compared: for testing what happens on older kernels.
    Compared,
}

impl MapTier {
    /// The names that `MGL_IPC_MAP_TIER` takes.
    pub const NAMES: &'static str = "auto, t0, t2 or t2-compare";

    /// The tier of a name.
    pub fn from_name(name: &str) -> Option<MapTier> {
        Some(match name {
            "auto" => MapTier::Auto,
            "t0" => MapTier::Shared,
            "t2" => MapTier::Copied,
            "t2-compare" => MapTier::Compared,
            _ => return None,
        })
    }
}

/// What mappings cost, in bytes except for `looks`.
#[derive(Default)]
pub(crate) struct Counters {
    /// Mappings of shared memory that were made.
    pub(crate) shared: AtomicU64,
    /// Mappings of memory of this side that were made.
    pub(crate) copied: AtomicU64,
    /// Questions to the kernel.
    pub(crate) looks: AtomicU64,
    /// Bytes compared with what the server has.
    pub(crate) compared: AtomicU64,
    /// Bytes uploaded because they differed.
    pub(crate) uploaded: AtomicU64,
    /// Bytes fetched that the device wrote.
    pub(crate) fetched: AtomicU64,
}

/// Storage of a buffer.
#[derive(Clone, Copy)]
struct Storage {
    size: usize,
    /// It can be mapped and used at once.
    persistent: bool,
    coherent: bool,
}

/// Largest storage that is shared for the sake of read-backs.
const MOST_PACKED: usize = 64 << 20;

#[derive(Default)]
struct Tables {
    storages: HashMap<Handle, Storage>,
    mapped: HashMap<Handle, Arc<Mapped>>,
    shared: HashMap<Handle, Arc<dyn SharedMemory>>,
    /// Buffers that buffer textures show, by texture.
    texels: HashMap<Handle, Handle>,
}

/// The mappings of one screen.
pub(crate) struct Maps {
    tier: MapTier,
    /// The server takes memory of this side.
    shares: bool,
    /// Mappings whose bytes travel.
    live: AtomicUsize,
    /// Moves when a mapping begins or ends, or a texture shows another buffer; from 1.
    generation: AtomicU64,
    tables: Mutex<Tables>,
    packs: Packs,
    watch: OnceLock<Option<PageWatch>>,
    counters: Counters,
}

/// Zeroed bytes, or the error that there is no memory.
fn zeroed(len: usize) -> PipeResult<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| out_of_memory())?;
    bytes.resize(len, 0);
    Ok(bytes)
}

fn out_of_memory() -> PipeError {
    PipeError::OutOfMemory("a persistent mapping".into())
}

/// Bytes from an offset on, within what this process can address.
fn span(offset: u64, len: u64) -> Range<usize> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    start..start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX))
}

impl Maps {
    /// No mappings yet. `shares`: the server takes memory of this side as storage.
    ///
    /// # Errors
    /// When the tier is one that the server does not have.
    pub(crate) fn new(tier: MapTier, shares: bool) -> PipeResult<Maps> {
        if tier == MapTier::Shared && !shares {
            return Err(PipeError::Init(
                "MGL_IPC_MAP_TIER=t0: the backend cannot use the program's memory as a buffer's storage; use auto"
                    .into(),
            ));
        }
        Ok(Maps {
            tier,
            shares: shares && matches!(tier, MapTier::Auto | MapTier::Shared),
            live: AtomicUsize::new(0),
            generation: AtomicU64::new(1),
            tables: Mutex::default(),
            packs: Packs::default(),
            watch: OnceLock::new(),
            counters: Counters::default(),
        })
    }

    /// Whether bytes of any mapping travel: what every verb asks.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.live.load(Ordering::Acquire) != 0
    }

    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Who tells of written pages, asked for when the first mapping is made.
    fn watch(&self) -> Option<&PageWatch> {
        if self.tier == MapTier::Compared {
            return None;
        }
        self.watch.get_or_init(PageWatch::new).as_ref()
    }

    fn to<'a>(&'a self, connection: &'a Connection, subject: Subject) -> Destination<'a> {
        Destination { connection, subject, counters: &self.counters, watch: self.watch() }
    }

    /// Remembers storage, and what buffer textures show; a new specification ends a mapping.
    pub(crate) fn specified(&self, desc: &ResourceDesc) {
        if desc.target == Target::TexBuffer as u8 {
            self.tables.lock().texels.insert(desc.handle, desc.buffer);
            return self.changed();
        }
        if desc.target != Target::Buffer as u8 {
            return;
        }
        let mut tables = self.tables.lock();
        let persistent = desc.storage_flags & gl::MAP_PERSISTENT_BIT != 0;
        let coherent = desc.storage_flags & gl::MAP_COHERENT_BIT != 0;
        let size = usize::try_from(desc.buffer_size).unwrap_or(usize::MAX);
        let old = tables.storages.insert(desc.handle, Storage { size, persistent, coherent });
        self.packs.respecified(desc.handle);
        if persistent || old.is_some_and(|old| old.persistent) {
            self.end(&mut tables, desc.handle);
        }
    }

    /// A buffer or a texture is gone.
    pub(crate) fn destroyed(&self, kind: u8, resource: Handle) {
        let mut tables = self.tables.lock();
        if kind == Kind::Texture as u8 {
            if tables.texels.remove(&resource).is_some() {
                self.changed();
            }
        } else if kind == Kind::Buffer as u8 {
            self.packs.destroyed(resource);
            if tables.storages.remove(&resource).is_some_and(|storage| storage.persistent) {
                self.end(&mut tables, resource);
            }
        }
    }

    /// The mapping ends.
    pub(crate) fn unmap(&self, buffer: Handle) {
        self.end(&mut self.tables.lock(), buffer);
    }

    fn end(&self, tables: &mut Tables, buffer: Handle) {
        tables.shared.remove(&buffer);
        if tables.mapped.remove(&buffer).is_some() {
            self.live.fetch_sub(1, Ordering::AcqRel);
            self.changed();
        }
    }

    fn get(&self, buffer: Handle) -> Option<Arc<Mapped>> {
        if !self.any() || buffer.is_null() {
            return None;
        }
        self.tables.lock().mapped.get(&buffer).cloned()
    }

    /// Address and size of a buffer's mapping, made when there is none.
    ///
    /// # Errors
    /// Out of memory, a lost device, storage that cannot be mapped.
    pub(crate) fn map(&self, connection: &Connection, subject: Subject, buffer: Handle) -> PipeResult<MapResult> {
        let mut tables = self.tables.lock();
        let storage = tables.storages.get(&buffer).copied().filter(|storage| storage.persistent);
        let storage = storage.ok_or_else(|| PipeError::Unsupported("storage that cannot be mapped".into()))?;
        let answer = |address| MapResult { address, size: storage.size as u64, segment: 0, coherent: 1, offset: 0 };
        if let Some(memory) = tables.shared.get(&buffer) {
            return Ok(answer(memory.address()));
        }
        if let Some(mapped) = tables.mapped.get(&buffer) {
            return Ok(answer(mapped.address()));
        }
        if self.shares {
            match connection.share_buffer(subject, buffer, storage.size) {
                Ok(memory) => {
                    self.counters.shared.fetch_add(1, Ordering::Relaxed);
                    let address = memory.address();
                    tables.shared.insert(buffer, memory);
                    return Ok(answer(address));
                }
                Err(lost @ PipeError::DeviceLost(_)) => return Err(lost),
                Err(error) if self.tier == MapTier::Shared => return Err(error),
                Err(error) => log::debug!("a mapping of {} bytes is copied: {error}", storage.size),
            }
        }
        let mut bytes = zeroed(storage.size)?;
        answer::buffer(connection, subject, buffer, 0, &mut bytes)?;
        let mapped = Mapped::new(buffer, storage.coherent, bytes, || self.watch()).ok_or_else(out_of_memory)?;
        self.counters.copied.fetch_add(1, Ordering::Relaxed);
        let address = mapped.address();
        tables.mapped.insert(buffer, Arc::new(mapped));
        self.live.fetch_add(1, Ordering::AcqRel);
        self.changed();
        Ok(answer(address))
    }

    /// Uploads what the application wrote into coherent mappings that a draw or a dispatch reaches: those of what is bound,
    /// and of the buffers that the call itself names.
    #[cold]
    pub(crate) fn push_bound(
        &self,
        connection: &Connection,
        subject: Subject,
        bound: &mut Bound,
        named: impl Iterator<Item = Handle>,
    ) {
        let to = self.to(connection, subject);
        for mapped in bound.reached(self).iter().filter(|mapped| mapped.coherent) {
            mapped.push(&to, 0..mapped.size);
        }
        for buffer in named {
            self.push_buffer(&to, buffer);
        }
    }

    /// The draw or dispatch was sent: the device may write what is bound for that.
    #[cold]
    pub(crate) fn ran(&self, bound: &Bound) {
        bound.ran();
    }

    fn push_buffer(&self, to: &Destination<'_>, buffer: Handle) {
        if let Some(mapped) = self.get(buffer).filter(|mapped| mapped.coherent) {
            mapped.push(to, 0..mapped.size);
        }
    }

    /// In front of a call that reads a buffer.
    #[cold]
    pub(crate) fn push_read(&self, connection: &Connection, subject: Subject, buffer: Handle) {
        self.push_buffer(&self.to(connection, subject), buffer);
    }

    /// In front of a call that writes a part of a buffer on the device: what was written here comes before.
    #[cold]
    pub(crate) fn push_written(&self, connection: &Connection, subject: Subject, buffer: Handle) {
        if let Some(mapped) = self.get(buffer) {
            mapped.share();
        }
        self.push_buffer(&self.to(connection, subject), buffer);
    }

    /// In front of a copy.
    pub(crate) fn push_copy(&self, connection: &Connection, subject: Subject, copy: &CopyRegion) {
        if copy.src_kind == Kind::Buffer as u8 {
            self.push_read(connection, subject, copy.src);
        }
        if copy.dst_kind == Kind::Buffer as u8 {
            self.push_written(connection, subject, copy.dst);
        }
    }

    /// A copy was sent by a context.
    pub(crate) fn copied(&self, context: ContextHandle, copy: &CopyRegion) {
        if copy.dst_kind == Kind::Buffer as u8 {
            self.packs.written(copy.dst, context);
        }
        if copy.dst_kind == Kind::Buffer as u8 && copy.src_kind == Kind::Buffer as u8 {
            let offset = u64::from(copy.dst_x as u32) | u64::from(copy.dst_y as u32) << 32;
            self.device_writes(copy.dst, span(offset, copy.src_box.buffer_range().1));
        } else if copy.dst_kind == Kind::Buffer as u8 {
            self.device_writes(copy.dst, 0..usize::MAX);
        }
    }

    /// In front of a read-back into a buffer: that of a program which does so again and again becomes shared memory.
    #[cold]
    pub(crate) fn before_pack(&self, connection: &Connection, subject: Subject, buffer: Handle) {
        if !self.shares || !self.packs.due(buffer) {
            return;
        }
        // New storage is noted under the same lock, so what is shared here is not taken for it.
        let tables = self.tables.lock();
        let storage = tables.storages.get(&buffer).copied();
        let storage = storage.filter(|storage| !storage.persistent && (1..=MOST_PACKED).contains(&storage.size));
        match storage.map(|storage| connection.share_buffer(subject, buffer, storage.size)) {
            Some(Ok(memory)) => {
                self.counters.shared.fetch_add(1, Ordering::Relaxed);
                self.packs.shared(buffer, memory);
            }
            Some(Err(error)) => {
                log::debug!("a pack buffer is not shared: {error}");
                self.packs.never(buffer);
            }
            None => self.packs.never(buffer),
        }
    }

    /// A fence is about to be inserted into the commands of a context.
    pub(crate) fn fenced(&self, context: ContextHandle, fence: Handle) {
        self.packs.fenced(context, fence);
    }

    /// A fence is about to be destroyed.
    pub(crate) fn fence_ends(&self, fence: Handle, is_signaled: bool) {
        self.packs.fence_ends(fence, is_signaled);
    }

    /// Draws may write these buffers from here on, or have done so until now: no call names them each time.
    pub(crate) fn written_by_draws(&self, buffers: impl Iterator<Item = Handle>) {
        buffers.for_each(|buffer| self.packs.never(buffer));
    }

    /// Reads bytes that pixels were read into, when they are known to be there; false when the server has to be asked.
    pub(crate) fn read_packed(
        &self,
        readback: &BufferReadback,
        out: &mut [u8],
        is_signaled: impl FnOnce(Handle) -> bool,
    ) -> bool {
        self.packs.read(readback, out, is_signaled)
    }

    /// A read-back into a buffer was sent by a context.
    pub(crate) fn packed(&self, context: ContextHandle, readback: &ReadbackToBuffer) {
        self.packs.written(readback.buffer, context);
        self.device_writes(readback.buffer, span(readback.offset, u64::MAX));
    }

    fn device_writes(&self, buffer: Handle, range: Range<usize>) {
        if let Some(mapped) = self.get(buffer) {
            mapped.device_writes(range);
        }
    }

    /// Uploads what the application wrote into all mappings.
    #[cold]
    pub(crate) fn push_all(&self, connection: &Connection, subject: Subject) {
        let to = self.to(connection, subject);
        for mapped in self.all() {
            mapped.push(&to, 0..mapped.size);
        }
    }

    /// Uploads what the application wrote into a range.
    pub(crate) fn push_range(&self, connection: &Connection, subject: Subject, buffer: Handle, offset: u64, size: u64) {
        if let Some(mapped) = self.get(buffer) {
            mapped.push(&self.to(connection, subject), span(offset, size));
        }
    }

    /// The client uploads into a buffer that is mapped: the application sees it.
    pub(crate) fn uploaded(&self, context: ContextHandle, data: &SubData, bytes: &[u8]) {
        if data.target == Target::Buffer as u16 {
            self.packs.written(data.res, context);
            if let Some(mapped) = self.get(data.res) {
                mapped.uploaded(span(data.union_box.buffer_range().0, 0).start, bytes);
            }
        }
    }

    fn all(&self) -> Vec<Arc<Mapped>> {
        self.tables.lock().mapped.values().cloned().collect()
    }

    /// Fetches what the device wrote. A context is needed to ask: any.
    #[cold]
    pub(crate) fn pull(&self, connection: &Connection, screen: u32, context: ContextHandle) {
        let to = self.to(connection, Subject::new(screen, context));
        let stale = |mapped: &&Arc<Mapped>| mapped.is_stale();
        let stale: Vec<_> = self.tables.lock().mapped.values().filter(stale).cloned().collect();
        for mapped in stale {
            if let Err(error) = mapped.pull(&to) {
                log::warn!("what the device wrote into a mapped buffer is not there yet: {error}");
            }
        }
    }
}

impl Drop for Maps {
    fn drop(&mut self) {
        let n = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let c = &self.counters;
        if n(&c.shared) + n(&c.copied) > 0 {
            log::info!(
                "mappings: {} shared, {} copied ({} looks at pages, {} bytes compared, {} uploaded, {} fetched)",
                n(&c.shared),
                n(&c.copied),
                n(&c.looks),
                n(&c.compared),
                n(&c.uploaded),
                n(&c.fetched)
            );
        }
    }
}
