//! What the operating system says about this process: memory, threads and open files.

use std::fs;

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

fn field(path: &str, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|s| s.parse().ok()).unwrap_or(0)
}
