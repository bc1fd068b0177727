//! Runs scenarios on MGL in a process that records its calls.

use std::path::{Path, PathBuf};

use mgl_tests::driver::{mgl_folder, Driver};
use mgl_tests::picture::Picture;
use mgl_tests::runner::{scenario_timeout, supervise};
use mgl_tests::verdict::Verdict;
use mgpipe_types::{Backend, LogCallbacks, Opcode};
use mgpipe_wire::{play, Call, PlayError, PlayReport, Reply};

/// A scenario that was recorded: its verdict, its pictures and the calls it made.
pub struct Recorded {
    /// The scenario's verdict.
    pub verdict: Verdict,
    folder: PathBuf,
    /// The recording, in words so that it is 8-aligned.
    words: Vec<u64>,
}

impl Recorded {
    /// Runs `scenario` on a backend in a process of its own.
    pub fn of(scenario: &str, backend: &str, case: &str, variables: &[(&str, &str)]) -> Recorded {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = root.join(format!("gates-{}", std::process::id())).join(format!("{scenario}-{case}"));
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        let file = folder.join("recording");
        let driver = Driver::Mgl { backend: backend.into(), transport: "monolith".into(), folder: mgl_folder() };
        driver.available().expect("the driver is built");
        let mut all = vec![("MGL_RECORD", file.to_str().expect("a path in UTF-8"))];
        all.extend_from_slice(variables);
        let runner = Path::new(env!("CARGO_BIN_EXE_scenario-runner"));
        let mut verdicts = supervise(runner, &driver, &[scenario.to_owned()], &folder, scenario_timeout(), &all)
            .expect("the scenario runs");
        let verdict = verdicts.remove(scenario).expect("a verdict");
        let bytes = std::fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}; {:?}", file.display(), verdict.messages));
        assert_eq!(bytes.len() % 8, 0, "records are multiples of 8 bytes");
        let words = bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("8 bytes"))).collect();
        Recorded { verdict, folder, words }
    }

    /// The recording's bytes.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    /// The scenario's pictures.
    pub fn pictures(&self) -> Vec<Picture> {
        let file = |name: &str| self.folder.join(format!("{}.{name}.png", self.verdict.name));
        let load = |name: &str| Picture::load(&file(name)).unwrap_or_else(|e| panic!("{name}: {e:#}"));
        self.verdict.pictures.iter().map(|entry| load(&entry.name)).collect()
    }

    /// The same recording without the calls that `keep` refuses.
    pub fn without(&self, keep: impl Fn(&Call<'_>) -> bool) -> Vec<u64> {
        let bytes = self.bytes();
        let mut left = bytes[..16].to_vec();
        let mut rest = &bytes[16..];
        while !rest.is_empty() {
            let (header, _, after) = mgpipe_wire::split_record(rest).expect("a whole record");
            let record = &rest[..header.size as usize];
            let kept =
                Opcode::from_u16(header.kind).is_none() || Call::decode(record).is_ok_and(|(call, _)| keep(&call));
            if kept {
                left.extend_from_slice(record);
            }
            rest = after;
        }
        left.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("8 bytes"))).collect()
    }

    /// How often a call was recorded.
    pub fn count(&self, opcode: Opcode) -> u64 {
        let screen = mgpipe_wire::null::NullScreen::new(std::sync::Arc::new(LogCallbacks::silent()));
        let report = play(self.bytes(), &screen, &mut |_, _, _| {}).expect("the recording is whole");
        report.counters.calls(opcode)
    }
}

/// Plays a recording on a new Magma screen; what every read-back answered.
pub fn replay(recording: &[u8]) -> (Vec<Vec<u8>>, Result<PlayReport, PlayError>) {
    let backend = mgpipe_magma::MagmaBackend::new();
    let screen = backend.open(std::sync::Arc::new(LogCallbacks::silent())).expect("Magma opens");
    let mut answers = Vec::new();
    let report = play(recording, &*screen, &mut |_, _, reply| {
        if let Reply::Bytes(Ok(bytes)) = reply {
            answers.push(bytes.clone());
        }
    });
    (answers, report)
}
