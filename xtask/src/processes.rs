//! What the kernel tells of other processes under `/proc`: processor time of threads, peak memory, children.

use std::path::PathBuf;
use std::time::Duration;

/// The memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The most that was resident at once so far (`VmHWM`).
    pub peak: u64,
    /// What of what is resident now is shared memory: segments that two processes map count in both (`RssShmem`).
    pub shared: u64,
}

impl Memory {
    /// The most of what was seen at two moments. A process that ends has let go of its shared memory before its status goes.
    pub fn most(self, other: Option<Memory>) -> Memory {
        let other = other.unwrap_or_default();
        Memory { peak: self.peak.max(other.peak), shared: self.shared.max(other.shared) }
    }
}

/// A thread of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number.
    pub id: u32,
    /// Its name, of which the kernel keeps 15 bytes.
    pub name: String,
}

fn of(process: u32) -> PathBuf {
    PathBuf::from("/proc").join(process.to_string())
}

/// Processor time of a thread so far, in nanoseconds' steps; the thread that runs lags by a tick of the kernel at most.
/// `None` when it is gone, or the kernel keeps no such account.
pub fn cpu_time(process: u32, thread: u32) -> Option<Duration> {
    let path = of(process).join("task").join(thread.to_string()).join("schedstat");
    let text = std::fs::read_to_string(path).ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// The threads of a process; none when it is gone.
pub fn threads(process: u32) -> Vec<Thread> {
    numbers_in(of(process).join("task"))
        .into_iter()
        .filter_map(|id| {
            let name = std::fs::read_to_string(of(process).join("task").join(id.to_string()).join("comm")).ok()?;
            Some(Thread { id, name: name.trim_end().to_string() })
        })
        .collect()
}

/// A process of that name that `parent` started.
pub fn child_named(parent: u32, name: &str) -> Option<u32> {
    numbers_in("/proc".into()).into_iter().find(|&process| {
        std::fs::read_to_string(of(process).join("stat"))
            .is_ok_and(|stat| name_and_parent(&stat) == Some((name, parent)))
    })
}

/// The memory of a process; `None` when it is gone.
pub fn memory(process: u32) -> Option<Memory> {
    memory_in(&std::fs::read_to_string(of(process).join("status")).ok()?)
}

fn numbers_in(dir: PathBuf) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Name and parent in the text of a `stat` file. The name stands in parentheses and may hold some itself.
fn name_and_parent(stat: &str) -> Option<(&str, u32)> {
    let (start, end) = (stat.find('(')? + 1, stat.rfind(')')?);
    Some((stat.get(start..end)?, stat[end + 1..].split_whitespace().nth(1)?.parse().ok()?))
}

fn memory_in(status: &str) -> Option<Memory> {
    let kibibytes = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|amount| amount << 10)
    };
    // A process that has ended and was not waited for has a status without memory.
    Some(Memory { peak: kibibytes("VmHWM:")?, shared: kibibytes("RssShmem:").unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::Instant;

    #[test]
    fn work_shows_in_the_thread_that_does_it() {
        let process = std::process::id();
        let mine = || {
            let all = threads(process);
            let this = std::fs::read_link("/proc/thread-self").unwrap();
            let id: u32 = this.file_name().unwrap().to_str().unwrap().parse().unwrap();
            assert!(all.iter().any(|thread| thread.id == id));
            cpu_time(process, id).unwrap()
        };
        let (before, start) = (mine(), Instant::now());
        let mut sum = 0u64;
        while start.elapsed() < Duration::from_millis(120) {
            sum = std::hint::black_box(sum.wrapping_mul(31) + 7);
        }
        let worked = mine() - before;
        assert!(worked > Duration::from_millis(5) && worked < Duration::from_secs(1), "{worked:?}");
        assert_eq!(cpu_time(process, 0), None);
    }

    #[test]
    fn children_are_found_by_name() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let (parent, start) = (std::process::id(), Instant::now());
        // Between fork and exec it still has its parent's name.
        while child_named(parent, "sleep").is_none() && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(child_named(parent, "sleep"), Some(child.id()));
        assert_eq!(child_named(parent, "no such program"), None);
        assert!(memory(child.id()).unwrap().peak > 64 << 10);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(memory(child.id()), None);
    }

    #[test]
    fn files_of_the_kernel_are_read() {
        assert_eq!(name_and_parent("12 (a) b) S 7 1 1 0"), Some(("a) b", 7)));
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 100 kB\nRssShmem:\t       4 kB\n";
        assert_eq!(memory_in(status), Some(Memory { peak: 2 << 20, shared: 4096 }));
        assert_eq!(memory_in("Name:\tx\nState:\tZ (zombie)\n"), None);
        let ending = memory_in("Name:\tx\nVmHWM:\t 3072 kB\nRssShmem:\t 0 kB\n");
        assert_eq!(memory_in(status).unwrap().most(ending), Memory { peak: 3 << 20, shared: 4096 });
        assert_eq!(memory_in(status).unwrap().most(None), memory_in(status).unwrap());
    }
}
