//! What the operating system says about this process: memory, threads and open files.

use std::fs;
use std::time::Duration;

/// Resident memory in bytes; 0 where `/proc` does not say.
pub fn resident_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    pages * 4096
}

/// Resident anonymous memory in bytes (without file mappings); 0 where `/proc` does not say.
pub fn anonymous_bytes() -> u64 {
    field("/proc/self/status", "RssAnon:") * 1024
}

/// The most memory that was ever resident, in bytes; 0 where `/proc` does not say.
pub fn peak_bytes() -> u64 {
    field("/proc/self/status", "VmHWM:") * 1024
}

/// The number of threads.
pub fn n_threads() -> u64 {
    field("/proc/self/status", "Threads:")
}

/// The number of open file descriptors.
pub fn n_files() -> u64 {
    // The directory stream that counts is itself one of the entries.
    fs::read_dir("/proc/self/fd").map_or(0, |d| d.count() as u64).saturating_sub(1)
}

/// What a process has in use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Resident memory in bytes.
    pub resident: u64,
    /// Open file descriptors.
    pub files: u64,
    /// Threads.
    pub threads: u64,
    /// Processor time so far, of the processes that it has waited for as well.
    pub processor: Duration,
}

impl std::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(parts: I) -> Usage {
        parts.fold(Usage::default(), |sum, part| Usage {
            resident: sum.resident + part.resident,
            files: sum.files + part.files,
            threads: sum.threads + part.threads,
            processor: sum.processor + part.processor,
        })
    }
}

/// What a process has in use; nothing for one that is gone.
pub fn usage_of(pid: u32) -> Usage {
    let status = format!("/proc/{pid}/status");
    Usage {
        resident: field(&status, "VmRSS:") * 1024,
        files: fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |d| d.count() as u64),
        threads: field(&status, "Threads:"),
        processor: processor_time(pid),
    }
}

/// `utime`, `stime`, `cutime` and `cstime` of proc(5); their unit is a hundredth of a second on every Linux.
fn processor_time(pid: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name stands in parentheses and may hold spaces.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// The processes that this one started and that are still there, those that nobody has waited for included.
pub fn children() -> Vec<u32> {
    children_of(std::process::id())
}

/// The processes that another one started.
pub fn children_of(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| field(&format!("/proc/{pid}/status"), "PPid:") == u64::from(parent))
        .collect()
}

fn field(path: &str, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|s| s.parse().ok()).unwrap_or(0)
}
