//! A stale handle reaches nothing, not even the object that lives in its slot now; without the check it does.

use std::process::Command;

use mgpipe_types::*;

/// Set in the process that runs without the check.
const CASE: &str = "GATES_RECYCLE_CASE";

fn handle(gen: u32) -> Handle {
    Handle { slot: 1, gen }
}

fn texture(gen: u32) -> ResourceDesc {
    ResourceDesc {
        handle: handle(gen),
        target: Target::Tex2D as u8,
        format: Format::RGBA8_UNORM.0,
        width: 4,
        height: 4,
        depth: 1,
        array_layers: 1,
        levels: 1,
        samples: 1,
        bind_mask: bind::RENDER_TARGET | bind::SAMPLER,
        ..ResourceDesc::default()
    }
}

fn surface(gen: u32) -> Surface {
    Surface { handle: handle(gen), format: Format::RGBA8_UNORM.0, kind: Kind::Texture as u8, ..Surface::default() }
}

fn framebuffer(gen: u32) -> FramebufferState {
    let mut state = FramebufferState { width: 4, height: 4, layers: 1, samples: 1, ..FramebufferState::default() };
    state.draw_buffers = [-1; 8];
    state.draw_buffers[0] = 0;
    state.color[0] = surface(gen);
    state.read_surface = surface(gen);
    state.complete = 1;
    state.content_hash = u64::from(gen);
    state
}

fn clear(context: &mut dyn Context, gen: u32, color: [f32; 4]) {
    context.set_framebuffer_state(&framebuffer(gen));
    context.clear(&Clear {
        buffers: aspect::COLOR,
        draw_buffer: -1,
        color: color.map(f32::to_bits),
        ..Clear::default()
    });
}

/// Two textures in turn in one slot; the first one's handle is used once more after its death. The second one's texel.
fn texel_after_stale_use() -> [u8; 4] {
    let screen =
        mgpipe_magma::MagmaBackend::new().open(std::sync::Arc::new(LogCallbacks::silent())).expect("Magma opens");
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("a context");
    screen.resource_create(&texture(1));
    clear(&mut *context, 1, [0.0, 0.0, 1.0, 1.0]);
    screen.resource_destroy(&ResourceRef::new(ResourceHandle::Texture(TextureHandle(handle(1)))));
    screen.resource_create(&texture(2));
    clear(&mut *context, 2, [0.0, 1.0, 0.0, 1.0]);
    clear(&mut *context, 1, [1.0, 0.0, 0.0, 1.0]);
    let mut texels = [0; 64];
    let info = ReadbackInfo {
        surface: surface(2),
        area: Box3 { width: 4, height: 4, depth: 1, ..Box3::default() },
        format: Format::RGBA8_UNORM.0,
        aspect: aspect::COLOR,
        pad: [0; 2],
    };
    context.read_pixels(&info, &mut texels).expect("the texels");
    [texels[0], texels[1], texels[2], texels[3]]
}

#[test]
fn a_stale_handle_does_not_reach_the_new_object() {
    let expected = if std::env::var_os(CASE).is_some() { [255, 0, 0, 255] } else { [0, 255, 0, 255] };
    assert_eq!(texel_after_stale_use(), expected);
}

// The control: the same stream in a process whose tables compare no generations renders wrong.
#[test]
fn without_the_generation_check_it_does() {
    let output = Command::new(std::env::current_exe().expect("this program has a path"))
        .args(["recycle::a_stale_handle_does_not_reach_the_new_object", "--exact", "--nocapture"])
        .env("MGL_MAGMA_GEN_CHECK", "off")
        .env(CASE, "1")
        .output()
        .expect("the child starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
