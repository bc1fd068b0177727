//! Waits for fences: one answer each, given when the fence signals, and nothing else is held up by them.

use crate::recording::{buffer, handle, upload};
use mgpipe_types::*;
use mgpipe_wire::client::{Attached, ClientOptions, WireBackend};
use mgpipe_wire::null::NullBackend;
use mgpipe_wire::queue::{queue, QueueLimits};
use mgpipe_wire::server::{serve, ServeError, ServeReport};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Fences signal when it is opened.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock() = true;
        self.opened.notify_all();
    }

    fn pass(&self, limit: Duration) -> FenceAnswer {
        let mut open = self.open.lock();
        let end = Instant::now() + limit;
        while !*open && !self.opened.wait_until(&mut open, end).timed_out() {}
        FenceAnswer { status: if *open { fence_status::SIGNALED } else { fence_status::TIMEOUT } }
    }
}

struct GatedBackend(Arc<Gate>);

struct GatedScreen {
    inner: Arc<dyn Screen>,
    gate: Arc<Gate>,
}

impl Backend for GatedBackend {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        Ok(Arc::new(GatedScreen { inner: NullBackend.open(callbacks)?, gate: self.0.clone() }))
    }
}

macro_rules! screen_method {
    (context $($rest:tt)*) => {};
    (screen FenceStatus $($rest:tt)*) => {
        fn fence_status(&self, _: &HandleOnly) -> PipeResult<FenceAnswer> {
            Ok(self.gate.pass(Duration::ZERO))
        }
    };
    (screen FenceWait $($rest:tt)*) => {
        fn fence_wait(&self, wait: &FenceWait) -> PipeResult<FenceAnswer> {
            Ok(self.gate.pass(Duration::from_nanos(wait.timeout_ns)))
        }
    };
    (screen $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> $($reply:tt)*) => {
        fn $name(&self, $($arg: mgpipe_arg!($kind $ty)),*) -> mgpipe_reply!($($reply)*) {
            self.inner.$name($($arg),*)
        }
    };
}

macro_rules! gated {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        impl Screen for GatedScreen {
            $(screen_method! { $recv $op $name ($($arg : $kind $ty),*) -> $reply $($reply_ty)? })*

            fn create_context(&self, context: ContextHandle) -> PipeResult<Box<dyn Context>> {
                self.inner.create_context(context)
            }

            fn device_lost(&self) -> Option<String> {
                self.inner.device_lost()
            }
        }
    };
}

mgpipe_catalogue!(gated);

type Server = std::thread::JoinHandle<Result<ServeReport, ServeError>>;

/// A screen with a context and a fence in it that signals when the gate is opened.
fn opened(gate: &Arc<Gate>) -> (WireBackend, Arc<dyn Screen>, Box<dyn Context>, Server) {
    let (end, server) = queue(QueueLimits::default());
    let backend = GatedBackend(gate.clone());
    let thread = std::thread::spawn(move || serve(server, &backend));
    let ends = Mutex::new(Some(end));
    let connect = move || {
        let end = ends.lock().take().ok_or_else(|| PipeError::Init("only once".into()))?;
        Ok(Attached { end, keeper: Box::new(()) })
    };
    let backend = WireBackend::new(Box::new(connect), ClientOptions::default());
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    context.fence_create(&FenceDesc { fence: handle(5), exportable: 0, pad: 0 });
    (backend, screen, context, thread)
}

/// The caps and the context are what a program asks for at its start.
const REPLIES_AT_START: u64 = 2;

#[test]
fn a_wait_has_one_answer_and_other_threads_go_on_meanwhile() {
    let gate = Arc::new(Gate::default());
    let (backend, screen, mut context, thread) = opened(&gate);
    screen.resource_create(&buffer(1, 64));
    const ROUNDS: u8 = 100;
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let answer = screen.fence_wait(&FenceWait { fence: handle(5), timeout_ns: u64::MAX });
            (answer.unwrap().status, Instant::now())
        });
        let start = Instant::now();
        for round in 0..ROUNDS {
            let (bytes, mut out) = ([round; 64], [0; 64]);
            context.resource_subdata(&upload(handle(1), 0, &bytes), &[], &bytes);
            let readback = BufferReadback { res: handle(1), offset: 0, size: 64 };
            context.resource_readback(&readback, &mut out).unwrap();
            assert_eq!(out, bytes);
        }
        // A fiftieth of a second for each, as a wait in slices of that length would cost, is two seconds.
        let took = start.elapsed();
        assert!(took < Duration::from_millis(1500), "{ROUNDS} answers took {took:?}");
        std::thread::sleep(Duration::from_millis(100));
        assert!(!waiter.is_finished(), "nothing has signalled");
        gate.open();
        let opened = Instant::now();
        let (status, ended) = waiter.join().unwrap();
        assert_eq!(status, fence_status::SIGNALED);
        assert!(ended.saturating_duration_since(opened) < Duration::from_secs(2));
    });
    drop((context, screen, backend));
    assert_eq!(thread.join().unwrap().unwrap().replies, REPLIES_AT_START + u64::from(ROUNDS) + 1);
}

#[test]
fn a_wait_ends_with_its_own_time() {
    let gate = Arc::new(Gate::default());
    let (backend, screen, context, thread) = opened(&gate);
    let start = Instant::now();
    let wait = FenceWait { fence: handle(5), timeout_ns: 150_000_000 };
    assert_eq!(screen.fence_wait(&wait).unwrap().status, fence_status::TIMEOUT);
    let took = start.elapsed();
    assert!((Duration::from_millis(150)..Duration::from_secs(5)).contains(&took), "{took:?}");
    drop((context, screen, backend));
    assert_eq!(thread.join().unwrap().unwrap().replies, REPLIES_AT_START + 1);
}

#[test]
fn many_threads_wait_at_once() {
    let gate = Arc::new(Gate::default());
    let (backend, screen, mut context, thread) = opened(&gate);
    context.fence_create(&FenceDesc { fence: handle(6), exportable: 0, pad: 0 });
    std::thread::scope(|scope| {
        let wait = |slot: u32| {
            let screen = screen.clone();
            move || screen.fence_wait(&FenceWait { fence: handle(slot), timeout_ns: u64::MAX }).unwrap().status
        };
        let waiters: Vec<_> = (0..16).map(|thread| scope.spawn(wait(5 + thread % 2))).collect();
        std::thread::sleep(Duration::from_millis(50));
        gate.open();
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), fence_status::SIGNALED);
        }
    });
    drop((context, screen, backend));
    thread.join().unwrap().unwrap();
}

#[test]
fn a_wait_ends_when_the_server_does() {
    let gate = Arc::new(Gate::default());
    let (end, server) = queue(QueueLimits::default());
    let ends = Mutex::new(Some(end));
    let connect = move || {
        let end = ends.lock().take().ok_or_else(|| PipeError::Init("only once".into()))?;
        Ok(Attached { end, keeper: Box::new(()) })
    };
    let backend = GatedBackend(gate.clone());
    // A server that breaks off at the first flush: the record after it is one that the protocol does not allow.
    let thread = std::thread::spawn(move || serve(server, &backend));
    let backend = WireBackend::new(Box::new(connect), ClientOptions::default());
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    context.fence_create(&FenceDesc { fence: handle(5), exportable: 0, pad: 0 });
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| screen.fence_wait(&FenceWait { fence: handle(5), timeout_ns: u64::MAX }));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!waiter.is_finished());
        // The context exists already.
        assert!(screen.create_context(ContextHandle(handle(1))).is_err());
        assert_eq!(waiter.join().unwrap().unwrap().status, fence_status::DEVICE_LOST);
    });
    assert!(thread.join().unwrap().is_err());
}
