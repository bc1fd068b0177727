//! Servers that die at every point of a program, and a program that does not notice.

mod rig;
mod script;
mod state;

use crate::recording::{buffer, handle, upload};
use mgpipe_types::*;
use mgpipe_wire::client::RecoveryOptions;
use rig::{Death, Rig};
use std::time::{Duration, Instant};

/// Enough for any number of deaths in a test.
fn patient() -> RecoveryOptions {
    RecoveryOptions { most: 1000, patience: Duration::ZERO, ..RecoveryOptions::default() }
}

#[test]
fn a_program_reads_the_same_wherever_its_server_dies() {
    let rig = Rig::new(patient(), |_| Death::Never);
    let want = script::run(&*rig.screen());
    let records = rig.records(0);
    assert!(records > 60, "the script is long enough: {records}");
    for death in 0..records {
        let rig = Rig::new(patient(), move |life| if life == 0 { Death::After(death) } else { Death::Never });
        assert!(script::run(&*rig.screen()) == want, "the server died after {death} records");
        assert!(rig.lives() <= 2);
        // Past the last record there is nothing to notice the death by.
        assert!(rig.lives() == 2 || death + 4 > records, "{death} of {records}");
    }
}

#[test]
fn servers_that_die_while_they_are_told_are_replaced() {
    let rig = Rig::new(patient(), |_| Death::Never);
    let want = script::run(&*rig.screen());
    let records = rig.records(0);
    let mut most = 0;
    for death in 0..60 {
        // The first dies late; each that follows gets a little further with what it is told.
        let rig = Rig::new(patient(), move |life| match life {
            0 => Death::After(records * 3 / 4),
            life if life < 3 => Death::After(death + 3 * u64::from(life)),
            _ => Death::Never,
        });
        assert!(script::run(&*rig.screen()) == want, "after {death} records");
        // The second may live to the end where it is told less than it takes to kill it.
        assert!(rig.lives() > 1, "the first died");
        most = most.max(rig.lives());
    }
    assert!(most > 2, "they died while they were told: {most}");
}

#[test]
fn without_recovery_the_first_death_is_the_end() {
    let rig = Rig::without(|_| Death::After(40));
    let screen = rig.screen();
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("alive");
    screen.resource_create(&buffer(1, 8));
    let lost = (0..100).find_map(|_| rig::read(&mut *context, handle(1), 8).err());
    assert!(matches!(lost, Some(PipeError::DeviceLost(_))), "{lost:?}");
    assert!(screen.device_lost().is_some());
    assert_eq!(rig.lives(), 1);
}

#[test]
fn a_loop_of_deaths_ends() {
    let options = RecoveryOptions { most: 3, within: Duration::from_secs(600), ..patient() };
    let rig = Rig::new(options, |_| Death::After(20));
    let screen = rig.screen();
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("alive");
    screen.resource_create(&buffer(1, 8));
    let start = Instant::now();
    let lost = (0..1000).find_map(|_| rig::read(&mut *context, handle(1), 8).err());
    assert!(matches!(lost, Some(PipeError::DeviceLost(_))), "{lost:?}");
    assert!(screen.device_lost().is_some_and(|why| why.contains("more than 3")), "{:?}", screen.device_lost());
    assert_eq!(rig.lives(), 4, "the first and three more");
    // For good means at once, and without new servers.
    context.resource_subdata(&upload(handle(1), 0, &[1]), &[], &[1]);
    assert!(rig::read(&mut *context, handle(1), 8).is_err());
    assert_eq!(rig.lives(), 4);
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn no_other_server_is_the_end() {
    let options = RecoveryOptions { patience: Duration::from_millis(120), ..patient() };
    let rig = Rig::new(options, |life| if life == 0 { Death::After(30) } else { Death::Unborn });
    let screen = rig.screen();
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("alive");
    screen.resource_create(&buffer(1, 8));
    let lost = (0..100).find_map(|_| rig::read(&mut *context, handle(1), 8).err());
    assert!(matches!(lost, Some(PipeError::DeviceLost(_))), "{lost:?}");
    assert!(rig.lives() > 2, "it tried more than once: {}", rig.lives());
}

#[test]
fn a_question_that_kills_gets_an_error_and_the_rest_goes_on() {
    let rig = Rig::new(patient(), |_| Death::Of(Opcode::GetTextureImage));
    let screen = rig.screen();
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("alive");
    screen.resource_create(&buffer(1, 4));
    context.resource_subdata(&upload(handle(1), 0, &[1, 2, 3, 4]), &[], &[1, 2, 3, 4]);
    let mut texel = [0; 4];
    let info = ReadbackInfo { area: Box3::sized(1, 1, 1), ..ReadbackInfo::default() };
    let answer = context.get_texture_image(&info, &mut texel);
    assert!(answer.is_err() && !matches!(answer, Err(PipeError::DeviceLost(_))), "{answer:?}");
    assert_eq!(rig::read(&mut *context, handle(1), 4).expect("alive"), [1, 2, 3, 4]);
    assert_eq!(screen.device_lost(), None);
    assert_eq!(rig.lives(), 5);
}

#[test]
fn fences_and_queries_of_a_lost_server_have_an_end() {
    let rig = Rig::new(patient(), |_| Death::Never);
    let screen = rig.screen();
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("alive");
    let query = |slot| HandleOnly { handle: handle(slot) };
    for slot in 1..=3 {
        let target = if slot == 3 { gl::TIMESTAMP } else { gl::SAMPLES_PASSED };
        context.query_create(&QueryDesc { query: handle(slot), target, index: 0 });
    }
    context.query_begin(&query(1));
    context.query_end(&query(1));
    context.query_end(&query(3));
    context.query_begin(&query(2));
    context.fence_create(&FenceDesc { fence: handle(1), exportable: 0, pad: 0 });
    context.fence_create(&FenceDesc { fence: handle(2), exportable: 0, pad: 0 });
    rig.kill();
    let fence = |slot| HandleOnly { handle: handle(slot) };
    let start = Instant::now();
    while screen.fence_status(&fence(1)).expect("alive").status != fence_status::SIGNALED {
        assert!(start.elapsed() < Duration::from_secs(20), "a loop over a fence ends");
    }
    let wait = FenceWait { fence: handle(2), timeout_ns: 1 };
    assert_eq!(screen.fence_wait(&wait).expect("alive").status, fence_status::SIGNALED);
    // The new server has never heard of them, and must not be bothered.
    context.fence_wait_server(&fence(1));
    screen.fence_destroy(&fence(1));
    screen.fence_destroy(&fence(2));
    for slot in [1, 3] {
        assert_eq!(context.query_available(&query(slot)).expect("alive").available, 1, "query {slot}");
        assert_eq!(context.query_result(&query(slot)).expect("alive").available, 1, "query {slot}");
    }
    context.query_end(&query(2));
    assert_eq!(context.query_result(&query(2)).expect("alive").available, 1);
    context.fence_create(&FenceDesc { fence: Handle { slot: 1, gen: 2 }, exportable: 0, pad: 0 });
    let wait = FenceWait { fence: Handle { slot: 1, gen: 2 }, timeout_ns: 1 };
    assert_eq!(screen.fence_wait(&wait).expect("alive").status, fence_status::SIGNALED);
    assert_eq!(rig.lives(), 2);
    drop((context, screen));
    assert_eq!(rig.faults(), [] as [String; 0]);
}

#[test]
fn frames_are_counted_across_servers() {
    let rig = Rig::new(patient(), |life| Death::After(40 + 10 * u64::from(life)));
    let screen = rig.screen();
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("alive");
    let start = Instant::now();
    for frame in 0..400u32 {
        context.flush(&Flush { flags: flush_flags::SUBMIT | flush_flags::END_OF_FRAME, pad: 0 });
        screen.resource_create(&buffer(1 + frame % 3, 8));
    }
    assert!(rig.lives() > 3, "{}", rig.lives());
    assert!(start.elapsed() < Duration::from_secs(60), "no wait for frames that a dead server took along");
}

#[test]
fn a_mapping_keeps_its_memory_and_the_new_server_gets_all_of_it() {
    const SIZE: usize = 200_000;
    let rig = Rig::new(patient(), |_| Death::Never);
    let screen = rig.screen();
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("alive");
    let flags = gl::MAP_PERSISTENT_BIT | gl::MAP_COHERENT_BIT;
    screen.resource_create(&ResourceDesc { storage_flags: flags, immutable: 1, ..buffer(1, SIZE as u64) });
    let mapped = screen.map_persistent(&HandleOnly { handle: handle(1) }).expect("mapped");
    let poke = |at: usize, bytes: &[u8]| {
        // SAFETY: the range lies in the mapping, which lives as long as the buffer.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (mapped.address as *mut u8).add(at), bytes.len()) };
    };
    let mut want = vec![0; SIZE];
    for (round, at) in [5, 70_000, SIZE - 4].into_iter().enumerate() {
        let bytes = [round as u8 + 1; 4];
        poke(at, &bytes);
        want[at..at + 4].copy_from_slice(&bytes);
        assert!(rig::read(&mut *context, handle(1), SIZE).expect("alive") == want, "round {round}");
        rig.kill();
    }
    assert!(rig::read(&mut *context, handle(1), SIZE).expect("alive") == want);
    assert_eq!(screen.map_persistent(&HandleOnly { handle: handle(1) }).expect("mapped").address, mapped.address);
    assert_eq!(rig.lives(), 4);
}

#[test]
fn contents_beyond_the_budget_are_counted_and_lost() {
    let options = RecoveryOptions { budget: 1 << 20, ..patient() };
    let counters = options.counters.clone();
    let rig = Rig::new(options, |_| Death::Never);
    let screen = rig.screen();
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("alive");
    for slot in 1..=3 {
        screen.resource_create(&buffer(slot, 400 << 10));
        let bytes = vec![slot as u8; 400 << 10];
        context.resource_subdata(&upload(handle(slot), 0, &bytes), &[], &bytes);
    }
    assert_eq!(counters.held_bytes(), 800 << 10);
    rig.kill();
    for (slot, want) in [(1, 1), (2, 2), (3, 0)] {
        let bytes = rig::read(&mut *context, handle(slot), 400 << 10).expect("alive");
        assert!(bytes.iter().all(|byte| *byte == want), "buffer {slot}");
    }
    for slot in 1..=3 {
        screen.resource_destroy(&ResourceRef::new(ResourceHandle::Buffer(BufferHandle(handle(slot)))));
    }
    context.flush(&Flush::default());
    assert_eq!((counters.held_bytes(), counters.peak_bytes(), counters.respawns()), (0, 800 << 10, 1));
}
