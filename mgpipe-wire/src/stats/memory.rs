//! Memory that the process has taken.

/// The largest resident set of this process so far, in KiB; `None` where the system does not tell.
///
/// `getrusage` does not serve: a process that was started by `vfork` begins with its parent's figure there.
pub fn peak_rss_kib() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return from_status(&std::fs::read_to_string("/proc/self/status").ok()?);
    #[cfg(not(target_os = "linux"))]
    None
}

/// `VmHWM` of a process's `status` file (proc(5)).
#[cfg(any(target_os = "linux", test))]
fn from_status(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::from_status;

    #[test]
    fn the_peak_is_the_line_of_that_name() {
        assert_eq!(from_status("VmPeak:\t  9 kB\nVmHWM:\t   1234 kB\nVmRSS:\t 5 kB\n"), Some(1234));
        assert_eq!(from_status("VmRSS:\t 5 kB\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_that_was_touched_counts() {
        let before = super::peak_rss_kib().expect("the system tells");
        let block = vec![1u8; 64 << 20];
        assert!(std::hint::black_box(&block)[4096] == 1);
        let after = super::peak_rss_kib().expect("the system tells");
        // Not all of it: the peak before may have lain above what was resident.
        assert!(after >= before && after >= 64 << 10, "{before} {after}");
    }
}
