//! The tracker: compares generations at every verb and pushes what moved.

use crate::generation::{Aggregates, Generations};
use crate::push::{BufferPush, Core, ProgramPush, RenderStatePush, TexturePush, ValuePush, VertexPush};
use crate::source::{BufferClass, Source};
use crate::stats::TrackerStats;
use crate::verb::{Group, GroupMask, ProgramPoint, VerbClass, NEEDED};
use mgpipe_handles::HandleSpace;
use mgpipe_types::{Context, ShaderCso, TextureHandle};
use std::sync::Arc;

/// Switches of a tracker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Switches {
    /// Whether equal state shares one object. Off exists for the control that shows that addressing by content changes
    /// mints and binds, and no pixel.
    pub content_addressing: bool,
    /// Whether a render-state object is declared by what differs from the bound one, instead of whole.
    pub delta_render_state: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Switches { content_addressing: true, delta_render_state: false }
    }
}

/// Content hash of bytes; equality is always confirmed by comparing the bytes.
pub type ContentHash = fn(&[u8]) -> u64;

/// How a tracker is made.
#[derive(Clone, Copy, Debug)]
pub struct TrackerOptions {
    /// Switches.
    pub switches: Switches,
    /// Hash of all content: XXH3. Tests put a colliding one here.
    pub hash: ContentHash,
    /// Objects in the render-state cache.
    pub render_state_capacity: usize,
    /// Objects in the vertex-elements cache.
    pub vertex_elements_capacity: usize,
    /// Objects in the sampler cache; raised to the number of texture units, since one verb may use them all.
    pub sampler_capacity: usize,
    /// Objects in the sampler-view cache; raised likewise.
    pub sampler_view_capacity: usize,
}

impl Default for TrackerOptions {
    fn default() -> Self {
        TrackerOptions {
            switches: Switches::default(),
            hash: xxhash_rust::xxh3::xxh3_64,
            render_state_capacity: 64,
            vertex_elements_capacity: 1024,
            sampler_capacity: 256,
            sampler_view_capacity: 4096,
        }
    }
}

/// Groups that are resolved for one program point, and again when the other point ran in between.
const OF_A_POINT: GroupMask =
    GroupMask::of(&[Group::ProgramBindings, Group::GlobalConstants, Group::SamplerViews, Group::Samplers]);

/// Groups that the dirty set leaves out: uploads are pending by class, and the render state has versions of its own.
const COMPARED_ELSEWHERE: GroupMask = GroupMask::of(&[Group::Uploads, Group::RenderState, Group::DynamicState]);

/// All that the steady state compares: 56 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Snapshot {
    epoch: u64,
    render_state: u64,
    aggregates: Aggregates,
}

impl Snapshot {
    #[inline(always)]
    fn take<S: Source + ?Sized>(source: &S) -> Snapshot {
        Snapshot {
            epoch: source.generations().epoch(),
            render_state: source.render_state().version(),
            aggregates: source.aggregates(),
        }
    }
}

/// The tracker of one context.
///
/// [`Tracker::validate`] runs right before every verb. While nothing moved it compares seven integers and returns; once
/// something moved it walks the groups that the verb's class needs, resolves the dirty ones and sends those that differ
/// from what the server has.
#[derive(Debug)]
pub struct Tracker {
    /// By class: what was there when the class last ended a walk with nothing left to push.
    clean: [Option<Snapshot>; VerbClass::COUNT],
    core: Core,
    seen: Generations,
    seen_aggregates: Aggregates,
    dirty: GroupMask,
    /// Bit by class: its uploads may be pending. Uploads are those that a class reaches, so that one class does not
    /// settle them for another.
    uploads: u16,
    point: ProgramPoint,
    render_state: RenderStatePush,
    values: ValuePush,
    vertex: VertexPush,
    textures: TexturePush,
    buffers: BufferPush,
    programs: ProgramPush,
}

impl Tracker {
    /// A tracker for a context that has been told nothing yet. Its state objects take their handles from `handles`.
    pub fn new(handles: Arc<HandleSpace>, options: TrackerOptions) -> Tracker {
        Tracker {
            clean: [None; VerbClass::COUNT],
            seen: Generations::new(),
            seen_aggregates: Aggregates::default(),
            dirty: COMPARED_ELSEWHERE.not(),
            uploads: u16::MAX,
            point: ProgramPoint::Draw,
            render_state: RenderStatePush::new(options.render_state_capacity),
            values: ValuePush::new(),
            vertex: VertexPush::new(options.vertex_elements_capacity),
            textures: TexturePush::new(options.sampler_capacity, options.sampler_view_capacity),
            buffers: BufferPush::new(),
            programs: ProgramPush::new(),
            core: Core { handles, options, stats: TrackerStats::default() },
        }
    }

    /// Pushes whatever a verb of `class` needs and the server has not been told: call it right before the verb.
    #[inline]
    pub fn validate<S: Source + ?Sized>(&mut self, class: VerbClass, source: &mut S, pipe: &mut dyn Context) {
        self.core.stats.verbs[class as usize] += 1;
        let now = Snapshot::take(source);
        if self.clean[class as usize] != Some(now) {
            self.walk(class, now, source, pipe);
        }
    }

    /// Adds to the dirty groups whatever moved since the last look.
    fn collect(&mut self, now: &Snapshot, generations: &Generations) {
        let mut moved = GroupMask::NONE;
        if now.epoch != self.seen.epoch() {
            moved = moved | generations.moved_since(&self.seen);
            self.seen = *generations;
        }
        if now.aggregates != self.seen_aggregates {
            moved = moved | now.aggregates.moved_since(&self.seen_aggregates);
            self.seen_aggregates = now.aggregates;
        }
        if moved.contains(Group::Uploads) {
            self.uploads = u16::MAX;
        }
        self.dirty = self.dirty | moved.and(COMPARED_ELSEWHERE.not());
    }

    #[inline(never)]
    fn walk<S: Source + ?Sized>(&mut self, class: VerbClass, now: Snapshot, source: &mut S, pipe: &mut dyn Context) {
        self.core.stats.walks[class as usize] += 1;
        let needed = NEEDED[class as usize];
        if let Some(clean) = &mut self.clean[class as usize] {
            if clean.epoch == now.epoch && clean.aggregates == now.aggregates {
                // Only the render state moved: a program that toggles state between draws comes here each time.
                if needed.contains(Group::RenderState) {
                    self.render_state.push(&mut self.core, source.render_state(), pipe);
                }
                clean.render_state = now.render_state;
                return;
            }
        }
        let mut now = now;
        self.collect(&now, source.generations());
        if let Some(point) = class.program_point().filter(|point| *point != self.point) {
            self.turn_to(point);
        }
        if needed.contains(Group::Uploads) {
            // Uploads may move generations themselves, and another thread may queue one meanwhile: one more round.
            for _ in 0..2 {
                if self.uploads >> class as u16 & 1 == 0 {
                    break;
                }
                self.uploads &= !(1 << class as u16);
                self.core.fire(Group::Uploads);
                source.upload_pending(class, pipe);
                now = Snapshot::take(source);
                self.collect(&now, source.generations());
            }
        }
        if needed.contains(Group::RenderState) {
            self.render_state.push(&mut self.core, source.render_state(), pipe);
        }
        let due = self.dirty.and(needed);
        if !due.is_empty() {
            self.dirty = self.dirty.without(due);
            self.push(due, source, pipe);
        }
        let pending = needed.contains(Group::Uploads) && self.uploads >> class as u16 & 1 != 0;
        self.clean[class as usize] = if pending { None } else { Some(now) };
    }

    /// The verb runs the program of the other point: the sets of a point must be resolved for it.
    fn turn_to(&mut self, point: ProgramPoint) {
        self.point = point;
        self.dirty = self.dirty | OF_A_POINT;
        for class in VerbClass::ALL {
            if class.program_point().is_some_and(|p| p != point) {
                self.clean[class as usize] = None;
            }
        }
    }

    fn push<S: Source + ?Sized>(&mut self, due: GroupMask, source: &mut S, pipe: &mut dyn Context) {
        let (core, point) = (&mut self.core, self.point);
        if due.contains(Group::Framebuffer) {
            self.values.framebuffer(core, source, pipe);
        }
        if due.contains(Group::DrawProgram) {
            self.programs.program(core, ProgramPoint::Draw, source, pipe);
        }
        if due.contains(Group::DispatchProgram) {
            self.programs.program(core, ProgramPoint::Dispatch, source, pipe);
        }
        if due.contains(Group::ProgramBindings) {
            self.programs.bindings(core, point, source, pipe);
        }
        if due.contains(Group::GlobalConstants) {
            self.programs.constants(core, point, source, pipe);
        }
        if due.contains(Group::VertexElements) {
            self.vertex.elements(core, source, pipe);
        }
        if due.contains(Group::VertexBuffers) {
            self.vertex.buffers(core, source, pipe);
        }
        if due.contains(Group::IndexBuffer) {
            self.values.index_buffer(core, source, pipe);
        }
        if due.contains(Group::IndirectBuffers) {
            self.values.indirect(core, source, pipe);
        }
        if due.contains(Group::AttribDefaults) {
            self.values.attrib_defaults(core, source, pipe);
        }
        let textures = [due.contains(Group::SamplerViews), due.contains(Group::Samplers)];
        if textures != [false; 2] {
            self.textures.push(core, point, textures, source, pipe);
        }
        if due.contains(Group::Images) {
            self.buffers.images(core, source, pipe);
        }
        for (group, class) in [
            (Group::UniformBuffers, BufferClass::Uniform),
            (Group::StorageBuffers, BufferClass::Storage),
            (Group::AtomicBuffers, BufferClass::Atomic),
        ] {
            if due.contains(group) {
                self.buffers.buffers(core, class, source, pipe);
            }
        }
        if due.contains(Group::StreamOutput) {
            self.buffers.stream_output(core, source, pipe);
        }
        if due.contains(Group::Patch) {
            self.values.patch(core, source, pipe);
        }
        if due.contains(Group::PixelPack) {
            self.values.pixel_pack(core, source, pipe);
        }
    }

    /// Groups that the next verb of a class will look at, for a check of what a mutator publishes.
    pub fn pending<S: Source + ?Sized>(&self, class: VerbClass, source: &S) -> GroupMask {
        let now = Snapshot::take(source);
        let mut pending = self.dirty
            | now.aggregates.moved_since(&self.seen_aggregates)
            | source.generations().moved_since(&self.seen)
            | self.render_state.pending(source.render_state());
        if self.uploads >> class as u16 & 1 != 0 {
            pending = pending | GroupMask::of(&[Group::Uploads]);
        }
        if class.program_point().is_some_and(|point| point != self.point) {
            pending = pending | OF_A_POINT;
        }
        pending.and(class.groups())
    }

    /// The server is a new one: it has no object of the old one. Everything is created and pushed again by the verbs that
    /// need it, under new handles.
    pub fn forget_server(&mut self) {
        self.render_state.release(&self.core);
        self.vertex.release(&self.core);
        self.textures.release(&self.core);
        self.invalidate_all();
    }

    /// Forgets what the server was told, so that the next verbs push everything again: after a hard drain. State objects
    /// keep their handles and are created again, under the same handles, as they are used; the server replaces them.
    pub fn invalidate_all(&mut self) {
        self.clean = [None; VerbClass::COUNT];
        self.dirty = COMPARED_ELSEWHERE.not();
        self.uploads = u16::MAX;
        self.render_state.forget();
        self.values.forget();
        self.vertex.forget();
        self.textures.forget();
        self.buffers.forget();
        self.programs.forget();
    }

    /// A texture dies: deletes its sampler views. Call it before `resource_destroy`.
    pub fn invalidate_texture(&mut self, texture: TextureHandle, pipe: &mut dyn Context) {
        if self.textures.texture_dies(&self.core, texture, pipe) {
            self.dirty = self.dirty | GroupMask::of(&[Group::SamplerViews]);
            self.clean = [None; VerbClass::COUNT];
        }
    }

    /// A program dies: forgets what was sent for it. Call it before `delete_shader`.
    pub fn invalidate_program(&mut self, shader: ShaderCso) {
        self.programs.program_dies(shader);
    }

    /// Deletes every state object that the tracker made: the end of the context. After it the tracker starts anew.
    pub fn shutdown(&mut self, pipe: &mut dyn Context) {
        self.render_state.shutdown(&self.core, pipe);
        self.vertex.shutdown(&self.core, pipe);
        self.textures.shutdown(&self.core, pipe);
        self.invalidate_all();
    }

    /// Counters so far.
    pub fn stats(&self) -> &TrackerStats {
        &self.core.stats
    }
}

impl Drop for Tracker {
    /// Gives the handles back. Without [`Tracker::shutdown`] the server keeps the objects until a later object takes
    /// their slots.
    fn drop(&mut self) {
        self.render_state.release(&self.core);
        self.vertex.release(&self.core);
        self.textures.release(&self.core);
    }
}
