//! Servers on threads that die when they are told to.

use crate::recording::buffer;
use mgpipe_types::*;
use mgpipe_wire::client::{recovering, Attached, ClientOptions, Connect, RecoveryOptions, WireBackend};
use mgpipe_wire::null::NullBackend;
use mgpipe_wire::port::{ClientLink, CommandSource, PortError, ServerEnd, StageRange};
use mgpipe_wire::queue::{queue, QueueLimits};
use mgpipe_wire::server::serve;
use mgpipe_wire::Recorder;
use parking_lot::Mutex;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// When a server dies by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Death {
    Never,
    /// When it has applied so many records.
    After(u64),
    /// Of a call, before it is applied.
    Of(Opcode),
    /// It cannot be reached at all.
    Unborn,
}

/// A recording that the test reads.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// One server.
struct Life {
    link: Option<Arc<dyn ClientLink>>,
    records: Arc<AtomicU64>,
    tape: Tape,
    fault: Arc<Mutex<Option<String>>>,
}

type Lives = Arc<Mutex<Vec<Life>>>;

/// A backend whose servers can be killed.
pub(crate) struct Rig {
    backend: WireBackend,
    lives: Lives,
}

/// Takes records until its time has come.
struct Mortal {
    inner: Box<dyn CommandSource>,
    link: Arc<dyn ClientLink>,
    death: Death,
    records: Arc<AtomicU64>,
}

impl CommandSource for Mortal {
    fn next(&mut self, into: &mut Vec<u64>, limit: Duration) -> Result<bool, PortError> {
        let taken = self.inner.next(into, limit)?;
        let dies = match self.death {
            Death::Never | Death::Unborn => false,
            Death::After(count) => taken && self.records.load(Ordering::Relaxed) >= count,
            Death::Of(opcode) => taken && into.first().is_some_and(|head| *head as u16 == opcode as u16),
        };
        if dies {
            self.link.close("dead");
            return Err(PortError::Lost("dead".into()));
        }
        self.records.fetch_add(u64::from(taken), Ordering::Relaxed);
        Ok(taken)
    }

    fn resolve(&self, range: StageRange) -> Option<&[u8]> {
        self.inner.resolve(range)
    }

    fn retire(&mut self) {
        self.inner.retire();
    }
}

/// The null backend, with everything that it is told written down.
struct Told(Tape);

impl Backend for Told {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        let recorder = Recorder::new(Box::new(self.0.clone())).expect("memory takes everything");
        Ok(recorder.wrap(NullBackend.open(callbacks)?))
    }
}

fn servers(death: impl Fn(u32) -> Death + Send + Sync + 'static, lives: Lives) -> Connect {
    Box::new(move || {
        // Small enough that rings fill up and uploads take every way there is.
        let limits = QueueLimits { commands: 64 << 10, record: 8 << 10, stage: 16 << 10, ..QueueLimits::default() };
        let (end, server) = queue(limits);
        let mut lives = lives.lock();
        let death = death(lives.len() as u32);
        let (records, tape, fault) = (Arc::<AtomicU64>::default(), Tape::default(), Arc::default());
        let link = (!matches!(death, Death::Unborn)).then(|| end.link.clone());
        lives.push(Life { link, records: records.clone(), tape: tape.clone(), fault: Arc::clone(&fault) });
        if matches!(death, Death::Unborn) {
            return Err(PipeError::Init("nobody is there".into()));
        }
        let link = end.link.clone();
        let thread = std::thread::spawn(move || {
            let ServerEnd { commands, replies, events } = server;
            let commands = Box::new(Mortal { inner: commands, link, death, records });
            if let Err(error) = serve(ServerEnd { commands, replies, events }, &Told(tape)) {
                *fault.lock() = Some(error.to_string());
            }
        });
        Ok(Attached { end, keeper: Box::new(Joined(Some(thread))) })
    })
}

/// Waits for a server's thread.
struct Joined(Option<std::thread::JoinHandle<()>>);

impl Drop for Joined {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

impl Rig {
    /// Servers with recovery; `death` says how each ends, counted from 0.
    pub(crate) fn new(options: RecoveryOptions, death: impl Fn(u32) -> Death + Send + Sync + 'static) -> Rig {
        let lives = Lives::default();
        let connect = recovering(servers(death, lives.clone()), options);
        Rig { backend: WireBackend::new(connect, ClientOptions::default()), lives }
    }

    /// The same servers without recovery.
    pub(crate) fn without(death: impl Fn(u32) -> Death + Send + Sync + 'static) -> Rig {
        let lives = Lives::default();
        let connect = servers(death, lives.clone());
        Rig { backend: WireBackend::new(connect, ClientOptions::default()), lives }
    }

    pub(crate) fn screen(&self) -> Arc<dyn Screen> {
        self.backend.open(Arc::new(LogCallbacks::silent())).expect("a server")
    }

    /// Servers so far.
    pub(crate) fn lives(&self) -> usize {
        self.lives.lock().len()
    }

    /// Records that a server took.
    pub(crate) fn records(&self, life: usize) -> u64 {
        self.lives.lock()[life].records.load(Ordering::Relaxed)
    }

    /// What a server was told, as a recording.
    pub(crate) fn told(&self, life: usize) -> Vec<u8> {
        self.lives.lock()[life].tape.0.lock().clone()
    }

    /// Kills the present server.
    pub(crate) fn kill(&self) {
        let link = self.lives.lock().last().and_then(|life| life.link.clone()).expect("a server");
        link.close("killed");
    }

    /// What servers complained about.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.lives.lock().iter().filter_map(|life| life.fault.lock().clone()).collect()
    }
}

/// Bytes of a buffer.
pub(crate) fn read(context: &mut dyn Context, res: Handle, size: usize) -> PipeResult<Vec<u8>> {
    let mut out = vec![0; size];
    let readback = BufferReadback { res, offset: 0, size: size as u64 };
    context.resource_readback(&readback, &mut out)?;
    Ok(out)
}

/// A buffer with bytes in it.
pub(crate) fn filled(screen: &dyn Screen, context: &mut dyn Context, slot: u32, bytes: &[u8]) {
    screen.resource_create(&buffer(slot, bytes.len() as u64));
    let data = crate::recording::upload(crate::recording::handle(slot), 0, bytes);
    context.resource_subdata(&data, &[], bytes);
}
