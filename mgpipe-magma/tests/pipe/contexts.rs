//! Fences without a present, and contexts of one screen on several threads.

use crate::rig::{apply_state, constants, draw, framebuffer, handle, program, read, Rig, POINT};
use mgpipe_types::*;

#[test]
fn a_fence_signals_without_any_present() {
    let mut rig = Rig::new();
    rig.clear([1.0; 4]);
    let fence = FenceHandle(rig.handle());
    rig.context.fence_create(&FenceDesc { fence: fence.raw(), ..FenceDesc::default() });
    let status = |rig: &Rig| rig.screen.fence_status(&HandleOnly::new(fence)).expect("an answer").status;
    assert_eq!(status(&rig), fence_status::TIMEOUT, "nothing was submitted yet");
    rig.context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
    let mut polls = 0;
    while status(&rig) != fence_status::SIGNALED {
        polls += 1;
        assert!(polls < 10_000, "a polled fence must signal");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let wait = FenceWait { fence: fence.raw(), timeout_ns: 0 };
    assert_eq!(rig.screen.fence_wait(&wait).expect("an answer").status, fence_status::SIGNALED);
    rig.screen.fence_destroy(&HandleOnly::new(fence));
    // A fence after no work at all has nothing to wait for.
    let idle = FenceHandle(rig.handle());
    rig.context.fence_create(&FenceDesc { fence: idle.raw(), ..FenceDesc::default() });
    let wait = FenceWait { fence: idle.raw(), timeout_ns: 1_000_000_000 };
    assert_eq!(rig.screen.fence_wait(&wait).expect("an answer").status, fence_status::SIGNALED);
    rig.assert_quiet();
}

#[test]
fn four_threads_draw_with_one_program() {
    let mut rig = Rig::new();
    let shader = rig.program(POINT, false);
    let (desc, _) = program(shader, POINT, false);
    assert_eq!(desc.cso, shader.raw());
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (screen, next, state) = (rig.screen.clone(), &rig.next, rig.state);
            let target = rig.texture(crate::rig::SIZE, crate::rig::SIZE, Format::RGBA8_UNORM);
            scope.spawn(move || {
                let mut context =
                    screen.create_context(ContextHandle(Handle { slot: 10 + thread, gen: 1 })).expect("a context");
                apply_state(&mut *context, &state, handle(next));
                context.set_framebuffer_state(&framebuffer(target));
                // Programs are shared with their uniforms, so each thread has one of its own for the constants.
                let own = ShaderCso(handle(next));
                let (desc, code) = program(own, POINT, false);
                context.create_shader(&desc, &code);
                for round in 0..50u32 {
                    let level = ((thread * 50 + round) % 256) as f32 / 255.0;
                    context.set_draw_program(&HandleOnly::new(own));
                    constants(&mut *context, own, [-1.0, -1.0, 1.0, 1.0], [level, 0.0, 0.0, 1.0]);
                    draw(&mut *context, gl::TRIANGLE_STRIP, 4);
                    if round % 7 == 0 {
                        let expected = [((thread * 50 + round) % 256) as u8, 0, 0, 255];
                        assert!(read(&mut *context, target).iter().all(|p| *p == expected));
                    }
                }
            });
        }
    });
    rig.assert_quiet();
}

/// Reads all of a target into a buffer.
fn pack(context: &mut dyn Context, target: Surface, buffer: BufferHandle, offset: u64) {
    context.readback_to_buffer(&ReadbackToBuffer {
        info: ReadbackInfo {
            surface: target,
            area: Box3 { width: crate::rig::SIZE, height: crate::rig::SIZE, depth: 1, ..Box3::default() },
            format: Format::RGBA8_UNORM.0,
            aspect: aspect::COLOR,
            pad: [0; 2],
        },
        buffer: buffer.raw(),
        offset,
        row_stride: u64::from(crate::rig::SIZE * 4),
        slice_stride: 0,
    });
}

/// One thread may have both contexts, so that nobody submits for the other one while it waits.
#[test]
fn reading_a_buffer_does_not_wait_for_what_another_context_has_not_submitted() {
    let mut rig = Rig::new();
    let size = u64::from(crate::rig::SIZE * crate::rig::SIZE * 4);
    let buffer = rig.buffer(size);
    rig.upload(buffer, 0, &vec![7; size as usize]);
    rig.context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
    rig.clear([1.0; 4]);
    pack(&mut *rig.context, rig.target, buffer, 0);
    let (screen, other) = (rig.screen.clone(), rig.handle());
    let (ask, asked) = std::sync::mpsc::channel();
    let (answer, answered) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut context = screen.create_context(ContextHandle(other)).expect("a context");
        while asked.recv().is_ok() {
            let mut bytes = vec![0; size as usize];
            let readback = BufferReadback { res: buffer.raw(), offset: 0, size };
            context.resource_readback(&readback, &mut bytes).expect("bytes");
            answer.send(bytes).expect("the test still runs");
        }
    });
    let read = || {
        ask.send(()).expect("the thread still runs");
        answered.recv_timeout(std::time::Duration::from_secs(60)).expect("the read never ends")
    };
    assert_eq!(read(), vec![7; size as usize], "what was submitted");
    rig.context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
    assert_eq!(read(), vec![255; size as usize], "what is submitted now");
    rig.assert_quiet();
}

/// The latest writer of a buffer may be another context; what this one has recorded before is read all the same.
#[test]
fn a_context_reads_what_it_wrote_though_another_one_wrote_later() {
    let mut rig = Rig::new();
    let size = u64::from(crate::rig::SIZE * crate::rig::SIZE * 4);
    let buffer = rig.buffer(2 * size);
    rig.upload(buffer, 0, &vec![7; 2 * size as usize]);
    rig.clear([1.0; 4]);
    rig.context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
    let number = rig.handle();
    let mut other = rig.screen.create_context(ContextHandle(number)).expect("a context");
    pack(&mut *rig.context, rig.target, buffer, 0);
    pack(&mut *other, rig.target, buffer, size);
    let mut bytes = vec![0; size as usize];
    let readback = BufferReadback { res: buffer.raw(), offset: 0, size };
    rig.context.resource_readback(&readback, &mut bytes).expect("bytes");
    assert_eq!(bytes, vec![255; size as usize]);
    drop(other);
    rig.assert_quiet();
}
