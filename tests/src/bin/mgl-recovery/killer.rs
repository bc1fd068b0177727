//! The thread that kills this process's servers.

use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Result};

use super::Progress;

/// Longest wait for a new server and a right picture.
const PATIENCE: Duration = Duration::from_secs(120);

extern "C" {
    fn kill(process: i32, signal: i32) -> i32;
}

/// Servers that this process has started and that live.
pub(crate) fn servers() -> Vec<i32> {
    let mut found = Vec::new();
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    for task in tasks {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        found.extend(text.split_whitespace().filter_map(|word| word.parse::<i32>().ok()).filter(|process| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // `pid (name) state …`: one that nobody has waited for yet does not live.
            stat.rsplit_once(')').is_some_and(|(head, tail)| head.contains("mgl-server") && !tail.starts_with(" Z"))
        }));
    }
    found
}

/// Deaths in a row without a right picture between: one more, and the question that all of them met is blamed for them.
const MOST_HASTY: u32 = 2;

/// A generator of moments (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// See [`Killer::start`].
pub(crate) struct Killer(JoinHandle<Result<()>>);

impl Killer {
    /// Kills `count` servers at moments drawn from `seed`: mostly when the picture has been right for some frames, a
    /// quarter of them shortly after another death, which meets servers that are just being told what they missed.
    pub(crate) fn start(count: u32, seed: u64, progress: Arc<Progress>) -> Killer {
        Killer(std::thread::spawn(move || {
            let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
            let mut hasty = 0;
            for death in 0..count {
                let start = Instant::now();
                hasty = if death != 0 && hasty < MOST_HASTY && random.below(4) == 0 { hasty + 1 } else { 0 };
                if hasty == 0 {
                    let calm = 1 + random.below(6) as u32;
                    while progress.right.load(Ordering::Acquire) < calm {
                        if start.elapsed() > PATIENCE {
                            bail!("the picture does not come back after death {death}");
                        }
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    std::thread::sleep(Duration::from_micros(random.below(40_000)));
                } else {
                    std::thread::sleep(Duration::from_micros(random.below(300_000)));
                }
                let victim = loop {
                    if let Some(server) = servers().first() {
                        break *server;
                    }
                    if start.elapsed() > PATIENCE {
                        bail!("there is no server after death {death}");
                    }
                    std::thread::sleep(Duration::from_millis(1));
                };
                progress.right.store(0, Ordering::Release);
                // SAFETY: any process number and signal may be passed; this one is a child of this process.
                if unsafe { kill(victim, 9) } != 0 {
                    bail!("server {victim} cannot be killed");
                }
                progress.kills.fetch_add(1, Ordering::AcqRel);
            }
            Ok(())
        }))
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    pub(crate) fn join(self) -> Result<()> {
        self.0.join().map_err(|_| anyhow!("the killing thread panicked"))?
    }
}
