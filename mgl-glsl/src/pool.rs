//! Worker threads with large stacks on which all compiler work runs.

use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Stack of a worker. glslang walks its syntax tree recursively; the rewriter bounds how deep the tree can get, and this
/// covers the bound with room to spare. Only touched pages cost memory.
const STACK: usize = 256 << 20;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    jobs: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    /// Workers that wait for a job.
    idle: usize,
    workers: usize,
    /// The process is about to end: no job is taken any more.
    closed: bool,
}

/// The pool of this process. A fork leaves the child without the workers, so the pool is tied to the process id.
fn queue() -> Arc<Queue> {
    static POOL: OnceLock<Mutex<(u32, Arc<Queue>)>> = OnceLock::new();
    let pid = std::process::id();
    let pool = POOL.get_or_init(|| Mutex::new((pid, Arc::default())));
    let mut pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
    if pool.0 != pid {
        *pool = (pid, Arc::default());
    }
    pool.1.clone()
}

/// Runs `work` on a worker; the result arrives in the receiver. When `work` panics the receiver reports a closed channel.
pub(crate) fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = channel();
    let job: Job = Box::new(move || {
        if let Ok(value) = catch_unwind(AssertUnwindSafe(work)) {
            // The receiver may be gone; then nobody wants the value.
            let _ = sender.send(value);
        }
    });
    let queue = queue();
    let mut state = queue.jobs.lock().unwrap_or_else(PoisonError::into_inner);
    if state.closed {
        return receiver;
    }
    state.waiting.push_back(job);
    let most = thread::available_parallelism().map_or(2, usize::from);
    if state.idle < state.waiting.len() && state.workers < most {
        let own = queue.clone();
        let spawned = thread::Builder::new().name("mgl-glsl".into()).stack_size(STACK).spawn(move || worker(&own));
        match spawned {
            Ok(_) => state.workers += 1,
            Err(_) if state.workers == 0 => {
                // No thread at all can be had: answer with a closed channel instead of risking the caller's stack.
                state.waiting.clear();
            }
            Err(_) => {}
        }
    }
    drop(state);
    queue.wake.notify_one();
    receiver
}

/// Takes no more jobs, forgets the waiting ones and waits for the running ones, at most for `limit`.
pub(crate) fn quiesce(limit: Duration) {
    let queue = queue();
    let started = Instant::now();
    let mut state = queue.jobs.lock().unwrap_or_else(PoisonError::into_inner);
    state.closed = true;
    while {
        state.waiting.clear();
        state.idle < state.workers && started.elapsed() < limit
    } {
        // The end of a process is no place for a second condition variable: looking each millisecond is enough.
        drop(state);
        thread::sleep(Duration::from_millis(1));
        state = queue.jobs.lock().unwrap_or_else(PoisonError::into_inner);
    }
}

fn worker(queue: &Queue) {
    loop {
        let mut state = queue.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let job = loop {
            if let Some(job) = state.waiting.pop_front() {
                break job;
            }
            state.idle += 1;
            state = queue.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        };
        drop(state);
        job();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_arrive_and_panics_close_the_channel() {
        let results: Vec<_> = (0..50).map(|i| spawn(move || i * 2)).collect();
        for (i, result) in results.into_iter().enumerate() {
            assert_eq!(result.recv(), Ok(i * 2));
        }
        assert!(spawn(|| panic!("expected in this test")).recv().is_err());
        assert_eq!(spawn(|| 1).recv(), Ok(1));
    }
}
