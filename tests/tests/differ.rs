//! Random sequences of GL calls on MGL and on the reference: they have to agree, and the comparison has to see it when they
//! do not. `MGL_TEST_DIFFER` is the number of sequences, and the first of them after a plus sign: `5000+200`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mgl_tests::differ::compare::{compare, Trace, Verdict};
use mgl_tests::differ::{extensions, Differ};
use mgl_tests::driver::Driver;

/// Sequences when nobody says otherwise.
const USUAL: (u64, u64) = (0, 90);

fn differ(driver: &str) -> Differ {
    let driver = Driver::parse(driver).unwrap();
    driver.available().unwrap();
    let mut differ = Differ {
        runner: PathBuf::from(env!("CARGO_BIN_EXE_mgl-differ")),
        driver,
        reference: Driver::Llvmpipe,
        folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("differ-{}", std::process::id())),
        validation: true,
        timeout: Duration::from_secs(120),
        hidden: String::new(),
        strict: false,
    };
    differ.hidden = extensions::hidden(&differ).unwrap();
    differ
}

/// First seed and number of seeds.
fn wanted() -> (u64, u64) {
    let Ok(text) = std::env::var("MGL_TEST_DIFFER") else { return USUAL };
    let (count, first) = text.split_once('+').unwrap_or((&text, "0"));
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("MGL_TEST_DIFFER={text:?} is no number"));
    (number(first), number(count))
}

#[test]
fn mgl_and_the_reference_agree() {
    let (first, count) = wanted();
    let differ = differ("magma/monolith");
    let summary = differ.run(first..first + count).unwrap();
    let found: Vec<String> =
        summary.findings.iter().map(|(seed, topic, what)| format!("seed {seed}: {topic}: {what}")).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    // The reference does not survive some sequences; most have to be compared to the end.
    assert!(summary.same * 5 >= count * 3, "{summary:?}");
    let _ = std::fs::remove_dir_all(&differ.folder);
}

#[test]
fn every_enumerant_means_the_same() {
    let mut differ = differ("magma/monolith");
    differ.folder = differ.folder.with_extension("enumerants");
    let (found, excused) = differ.enumerants().unwrap();
    assert!(found.is_empty(), "{} answers differ:\n{}", found.len(), found.join("\n"));
    // The control: the drivers are two, and what is known to differ is seen.
    assert!(excused.len() > 10, "{excused:?}");
    let _ = std::fs::remove_dir_all(&differ.folder);
}

#[test]
fn a_driver_that_answers_wrong_is_found() {
    // The control: the same call with another answer, another error, and none at all.
    let trace = |line: &str| Trace { lines: vec![line.to_owned()], broken: None };
    let right = trace("call 0 0x0000 7");
    for wrong in [trace("call 0 0x0000 8"), trace("call 0 0x0501 7")] {
        assert!(matches!(compare(1, &wrong, &right, false), Verdict::Different { .. }));
    }
    let died = Trace { lines: vec!["try 0".to_owned()], broken: Some("signal 11".to_owned()) };
    assert!(matches!(compare(1, &died, &right, false), Verdict::Different { .. }));
}
