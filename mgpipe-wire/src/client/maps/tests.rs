//! Mappings whose bytes travel, on the null backend.

use super::*;
use crate::client::{ClientOptions, WireBackend};
use crate::inproc::inproc;
use crate::null::NullBackend;
use crate::queue::{queue, QueueLimits};
use mgpipe_types::{Backend, Box3, BufferRange, Context, LogCallbacks, ResourceRef, Screen, VertexBuffer};

const CONTEXT: Handle = Handle { slot: 1, gen: 1 };

fn handle(slot: u32) -> Handle {
    Handle { slot, gen: 1 }
}

/// A connection, and mappings on it that the connection's own calls know nothing of.
struct Rig {
    connection: Arc<Connection>,
    screen: Arc<dyn Screen>,
    context: Box<dyn Context>,
    maps: Maps,
    subject: Subject,
    // Ends the connection when the rest is gone.
    _backend: WireBackend,
}

fn rig(tier: MapTier) -> Rig {
    let channel = Box::new(|| Ok(queue(QueueLimits::default())));
    let backend = inproc(Arc::new(NullBackend), channel, ClientOptions::default());
    let screen = backend.open(Arc::new(LogCallbacks::silent())).expect("a screen");
    let context = screen.create_context(ContextHandle(CONTEXT)).expect("a context");
    let connection = backend.connection.lock().clone().expect("a connection");
    let maps = Maps::new(tier, false).expect("a tier that is always there");
    Rig { connection, screen, context, maps, subject: Subject::new(1, ContextHandle(CONTEXT)), _backend: backend }
}

impl Rig {
    fn buffer(&self, slot: u32, size: u64, coherent: bool) {
        let coherent = if coherent { gl::MAP_COHERENT_BIT } else { 0 };
        let desc = ResourceDesc {
            handle: handle(slot),
            target: Target::Buffer as u8,
            buffer_size: size,
            storage_flags: gl::MAP_PERSISTENT_BIT | coherent,
            ..ResourceDesc::default()
        };
        self.screen.resource_create(&desc);
        self.maps.specified(&desc);
    }

    fn map(&self, slot: u32) -> MapResult {
        self.maps.map(&self.connection, self.subject, handle(slot)).expect("a mapping")
    }

    fn draw(&self, bound: &mut Bound) {
        self.maps.push_bound(&self.connection, self.subject, bound, [Handle::NULL].into_iter());
        self.maps.ran(bound);
    }

    /// What the server has.
    fn server(&self, slot: u32, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        answer::buffer(&self.connection, self.subject, handle(slot), 0, &mut bytes).expect("read");
        bytes
    }

    fn count(&self, counter: impl Fn(&Counters) -> &AtomicU64) -> u64 {
        counter(&self.maps.counters).load(Ordering::Relaxed)
    }

    /// The device writes 16 bytes of another buffer into a mapped one.
    fn copy(&mut self, to: u32, at: u64, byte: u8) {
        let source = handle(99);
        let desc = ResourceDesc { handle: source, target: Target::Buffer as u8, buffer_size: 16, ..Default::default() };
        self.screen.resource_create(&desc);
        let data = SubData {
            res: source,
            target: Target::Buffer as u16,
            union_box: Box3::from_buffer_range(0, 16),
            ..SubData::default()
        };
        self.context.resource_subdata(&data, &[], &[byte; 16]);
        let copy = CopyRegion {
            dst: handle(to),
            src: source,
            dst_kind: Kind::Buffer as u8,
            src_kind: Kind::Buffer as u8,
            dst_x: at as i32,
            src_box: Box3::from_buffer_range(0, 16),
            ..CopyRegion::default()
        };
        self.maps.push_copy(&self.connection, self.subject, &copy);
        self.context.resource_copy_region(&copy);
        self.maps.copied(ContextHandle::NULL, &copy);
    }

    fn fence_passed(&self) {
        self.maps.pull(&self.connection, self.subject.screen, self.subject.context);
    }
}

/// What an application does with a mapping.
fn poke(mapped: &MapResult, at: usize, byte: u8) {
    write(mapped.address, mapped.size, at, byte);
}

#[allow(unsafe_code)]
fn write(address: u64, size: u64, at: usize, byte: u8) {
    assert!((at as u64) < size);
    // SAFETY: the byte lies in the mapping, which the test keeps.
    unsafe { (address as *mut u8).add(at).write(byte) };
}

#[allow(unsafe_code)]
fn peek(mapped: &MapResult, at: usize) -> u8 {
    assert!((at as u64) < mapped.size);
    // SAFETY: as above.
    unsafe { (mapped.address as *const u8).add(at).read() }
}

fn vertex(bound: &mut Bound, slot: u32) {
    bound.vertex_buffers(0, &[VertexBuffer { res: handle(slot), ..VertexBuffer::default() }]);
}

const TIERS: [MapTier; 2] = [MapTier::Copied, MapTier::Compared];

#[test]
fn a_draw_looks_at_what_it_reaches_and_uploads_what_was_written() {
    const SIZE: usize = 256 << 10;
    for tier in TIERS {
        let rig = rig(tier);
        let mut mappings = Vec::new();
        for slot in 1..=8 {
            rig.buffer(slot, SIZE as u64, true);
            mappings.push(rig.map(slot));
        }
        let marks = rig.maps.tables.lock().mapped[&handle(1)].is_watched();
        assert!(!marks || tier == MapTier::Copied);
        let mut bound = Bound::default();
        for slot in 1..=8u32 {
            let mapped = &mappings[slot as usize - 1];
            poke(mapped, 70_000, slot as u8);
            poke(mapped, SIZE - 1, slot as u8);
            vertex(&mut bound, slot);
            let before = rig.count(|c| &c.compared);
            rig.draw(&mut bound);
            let compared = rig.count(|c| &c.compared) - before;
            assert_eq!(compared, if marks { 2 * 4096 } else { SIZE as u64 }, "{tier:?}: two pages, or one buffer");
            let bytes = rig.server(slot, SIZE);
            assert_eq!((bytes[70_000], bytes[SIZE - 1]), (slot as u8, slot as u8), "{tier:?}");
        }
        assert_eq!(rig.count(|c| &c.uploaded), 16, "single bytes");
        // A draw without anything written.
        let before = rig.count(|c| &c.compared);
        rig.draw(&mut bound);
        assert_eq!(rig.count(|c| &c.compared) - before, if marks { 0 } else { SIZE as u64 });
        // What is not bound any more is not looked at, and what a texture shows always is.
        vertex(&mut bound, 77);
        poke(&mappings[7], 3, 33);
        rig.draw(&mut bound);
        assert_eq!(rig.server(8, 4)[3], 0, "{tier:?}");
        let texture = ResourceDesc { handle: handle(50), buffer: handle(8), ..Default::default() };
        rig.maps.specified(&ResourceDesc { target: Target::TexBuffer as u8, ..texture });
        rig.draw(&mut bound);
        assert_eq!(rig.server(8, 4)[3], 33, "{tier:?}");
        rig.maps.destroyed(Kind::Texture as u8, handle(50));
        poke(&mappings[7], 3, 34);
        rig.draw(&mut bound);
        assert_eq!(rig.server(8, 4)[3], 33, "{tier:?}");
    }
}

#[test]
fn every_kind_of_binding_reaches_its_mapping() {
    let rig = rig(MapTier::Copied);
    rig.buffer(1, 64, true);
    let mapped = rig.map(1);
    let range = BufferRange { res: handle(1), offset: 0, size: 64 };
    let binds: [fn(&mut Bound, BufferRange); 5] = [
        |bound, range| bound.vertex_buffers(3, &[VertexBuffer { res: range.res, ..VertexBuffer::default() }]),
        |bound, range| bound.index_buffer(range.res),
        |bound, range| bound.indirect_buffers([Handle::NULL, range.res]),
        |bound, range| bound.shader_buffers(&mgpipe_types::ShaderBuffers { start: 2, ..Default::default() }, &[range]),
        |bound, range| bound.capture_targets(&[range]),
    ];
    for (round, bind) in binds.into_iter().enumerate() {
        let mut bound = Bound::default();
        bind(&mut bound, range);
        poke(&mapped, 9, round as u8 + 1);
        rig.draw(&mut bound);
        assert_eq!(rig.server(1, 64)[9], round as u8 + 1, "binding {round}");
    }
    poke(&mapped, 9, 99);
    rig.maps.push_bound(&rig.connection, rig.subject, &mut Bound::default(), [handle(1)].into_iter());
    assert_eq!(rig.server(1, 64)[9], 99, "named by the call");
}

#[test]
fn only_what_the_device_wrote_is_fetched_and_once() {
    for tier in TIERS {
        let mut rig = rig(tier);
        rig.buffer(1, 1 << 20, true);
        let mapped = rig.map(1);
        rig.copy(1, 4096, 5);
        rig.copy(1, 500_000, 6);
        rig.fence_passed();
        assert_eq!((peek(&mapped, 4096), peek(&mapped, 500_015), peek(&mapped, 500_016)), (5, 6, 0));
        assert_eq!(rig.count(|c| &c.fetched), 32);
        rig.fence_passed();
        assert_eq!(rig.count(|c| &c.fetched), 32, "nothing new");
    }
}

#[test]
fn captured_vertices_are_fetched_while_the_capture_runs() {
    let rig = rig(MapTier::Copied);
    rig.buffer(1, 1 << 16, true);
    let _mapped = rig.map(1);
    let mut bound = Bound::default();
    bound.capture_targets(&[BufferRange { res: handle(1), offset: 256, size: 512 }]);
    rig.draw(&mut bound);
    rig.fence_passed();
    assert_eq!(rig.count(|c| &c.fetched), 0, "bound, and no capture");
    bound.capture(true);
    rig.draw(&mut bound);
    rig.draw(&mut bound);
    rig.fence_passed();
    assert_eq!(rig.count(|c| &c.fetched), 512);
    // The mapping ends and another begins while the target stays bound.
    rig.maps.unmap(handle(1));
    let _mapped = rig.map(1);
    rig.draw(&mut bound);
    rig.fence_passed();
    assert_eq!(rig.count(|c| &c.fetched), 1024);
    bound.capture(false);
    rig.draw(&mut bound);
    rig.fence_passed();
    assert_eq!(rig.count(|c| &c.fetched), 1024);
}

#[test]
fn what_could_not_be_fetched_is_fetched_later() {
    let mut rig = rig(MapTier::Copied);
    rig.buffer(1, 64, true);
    let mapped = rig.map(1);
    rig.copy(1, 16, 5);
    // The server loses sight of the buffer for a while.
    rig.screen.resource_destroy(&ResourceRef { kind: Kind::Buffer as u8, handle: handle(1), ..Default::default() });
    rig.fence_passed();
    assert_eq!((rig.count(|c| &c.fetched), peek(&mapped, 16)), (0, 0));
    rig.screen.resource_create(&ResourceDesc {
        handle: handle(1),
        target: Target::Buffer as u8,
        buffer_size: 64,
        ..ResourceDesc::default()
    });
    let data = SubData {
        res: handle(1),
        target: Target::Buffer as u16,
        union_box: Box3::from_buffer_range(16, 16),
        ..SubData::default()
    };
    rig.context.resource_subdata(&data, &[], &[5; 16]);
    rig.fence_passed();
    assert_eq!((rig.count(|c| &c.fetched), peek(&mapped, 16)), (16, 5));
}

#[test]
fn flushed_ranges_need_no_look_and_take_nothing_else_along() {
    let rig = rig(MapTier::Copied);
    rig.buffer(1, 1 << 20, false);
    let mapped = rig.map(1);
    for at in [0, 100_000, 200_000] {
        poke(&mapped, at, 7);
    }
    let mut bound = Bound::default();
    vertex(&mut bound, 1);
    rig.draw(&mut bound);
    assert_eq!(rig.count(|c| &c.compared), 0, "not coherent");
    rig.maps.push_range(&rig.connection, rig.subject, handle(1), 99_000, 2000);
    assert_eq!((rig.count(|c| &c.looks), rig.count(|c| &c.compared)), (0, 2000));
    let bytes = rig.server(1, 1 << 20);
    assert_eq!((bytes[0], bytes[100_000], bytes[200_000]), (0, 7, 0));
}

#[test]
fn memory_that_is_not_there_is_said() {
    let rig = rig(MapTier::Copied);
    rig.maps.specified(&ResourceDesc {
        handle: handle(1),
        target: Target::Buffer as u8,
        buffer_size: 1 << 60,
        storage_flags: gl::MAP_PERSISTENT_BIT,
        ..ResourceDesc::default()
    });
    let answer = rig.maps.map(&rig.connection, rig.subject, handle(1));
    assert!(matches!(answer, Err(PipeError::OutOfMemory(_))), "{answer:?}");
    let answer = rig.maps.map(&rig.connection, rig.subject, handle(2));
    assert!(matches!(answer, Err(PipeError::Unsupported(_))), "{answer:?}");
    assert!(!rig.maps.any());
    assert!(matches!(Maps::new(MapTier::Shared, false), Err(PipeError::Init(_))));
}

#[test]
fn writes_of_another_thread_reach_the_next_draw() {
    for tier in TIERS {
        let rig = rig(tier);
        const SIZE: usize = 1 << 20;
        rig.buffer(1, SIZE as u64, true);
        let mapped = rig.map(1);
        let mut bound = Bound::default();
        vertex(&mut bound, 1);
        for round in 1..=50u8 {
            std::thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    for at in (0..SIZE).step_by(50_000) {
                        write(mapped.address, mapped.size, at, round);
                    }
                });
                // Draws go on meanwhile, and take what they find.
                while !writer.is_finished() {
                    rig.draw(&mut bound);
                }
            });
            rig.draw(&mut bound);
            let bytes = rig.server(1, SIZE);
            assert!((0..SIZE).step_by(50_000).all(|at| bytes[at] == round), "{tier:?}, round {round}");
        }
    }
}
