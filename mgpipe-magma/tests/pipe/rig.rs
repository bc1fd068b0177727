//! A screen and a context with a square colour target, and short ways to say what tests do often.

use mgpipe_magma::MagmaBackend;
use mgpipe_types::reflection::*;
use mgpipe_types::render_state::{Half, RenderState, Viewport, ALL_DYNAMIC_CHUNKS, ALL_PIPELINE_CHUNKS};
use mgpipe_types::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Width and height of the target.
pub const SIZE: u32 = 16;

/// Keeps what the backend says.
#[derive(Default)]
pub struct Listener {
    /// Log lines at error level.
    pub errors: Mutex<Vec<String>>,
}

impl Callbacks for Listener {
    fn gl_error(&self, _: ContextHandle, error: u32, message: &str) {
        self.errors.lock().expect("no panic holds it").push(format!("{error:#x} {message}"));
    }
    fn gpu_written(&self, _: BufferHandle, _: &[ByteRange]) {}
    fn buffer_writeback(&self, _: BufferHandle, _: u64, _: &[u8]) {}
    fn texture_writeback(&self, _: TextureWriteback<'_>) {}
    fn texture_pull_request(&self, _: TextureHandle, _: u32, _: u32, _: u64) {}
    fn mip_levels_generated(&self, _: TextureHandle, _: u32, _: u32) {}
    fn surface_changed(&self, _: u32, _: u32, _: u32) {}
    fn caps_invalidated(&self) {}
    fn log(&self, level: LogLevel, message: &str) {
        if level == LogLevel::Error {
            self.errors.lock().expect("no panic holds it").push(message.into());
        }
    }
    fn xfb_scatter_ready(&self, _: BufferHandle, _: u64, _: &[u8]) {}
}

/// One screen with one context.
pub struct Rig {
    pub screen: Arc<dyn Screen>,
    pub context: Box<dyn Context>,
    pub listener: Arc<Listener>,
    pub target: Surface,
    pub state: RenderState,
    pub next: AtomicU32,
}

/// A handle that nobody has used.
pub fn handle(next: &AtomicU32) -> Handle {
    Handle { slot: next.fetch_add(1, Ordering::Relaxed) + 1, gen: 1 }
}

impl Rig {
    /// Opens the device.
    pub fn new() -> Rig {
        let listener = Arc::new(Listener::default());
        // Without a device nothing would be tested, and a test that tests nothing must not pass.
        let screen = MagmaBackend::new().open(listener.clone()).expect("these tests need a Vulkan driver");
        let context = screen.create_context(ContextHandle(Handle { slot: 1, gen: 1 })).expect("a context");
        let mut rig = Rig {
            screen,
            context,
            listener,
            target: Surface::default(),
            state: RenderState::initial(),
            next: AtomicU32::new(1),
        };
        rig.target = rig.texture(SIZE, SIZE, Format::RGBA8_UNORM);
        rig.use_target(rig.target);
        rig.state.viewports[0] = Viewport { x: 0.0, y: 0.0, width: SIZE as f32, height: SIZE as f32 };
        rig.apply();
        rig
    }

    pub fn handle(&self) -> Handle {
        handle(&self.next)
    }

    /// A 2D texture as a surface.
    pub fn texture(&self, width: u32, height: u32, format: Format) -> Surface {
        let handle = self.handle();
        self.screen.resource_create(&ResourceDesc {
            handle,
            target: Target::Tex2D as u8,
            format: format.0,
            width,
            height,
            depth: 1,
            array_layers: 1,
            levels: 1,
            ..ResourceDesc::default()
        });
        Surface { handle, format: format.0, kind: Kind::Texture as u8, ..Surface::default() }
    }

    pub fn use_target(&mut self, surface: Surface) {
        self.context.set_framebuffer_state(&framebuffer(surface));
    }

    /// Sends the whole render state.
    pub fn apply(&mut self) {
        let cso = self.handle();
        apply_state(&mut *self.context, &self.state, cso);
    }

    /// A program of the test shaders. `block`: it reads uniform block binding point 0.
    pub fn program(&mut self, vertex: &[u8], block: bool) -> ShaderCso {
        let shader = ShaderCso(self.handle());
        let (desc, code) = program(shader, vertex, block);
        self.context.create_shader(&desc, &code);
        shader
    }

    pub fn constants(&mut self, shader: ShaderCso, rect: [f32; 4], color: [f32; 4]) {
        constants(&mut *self.context, shader, rect, color);
    }

    /// Draws a strip of four vertices: the rectangle of the constants.
    pub fn draw_rect(&mut self) {
        draw(&mut *self.context, gl::TRIANGLE_STRIP, 4);
    }

    pub fn clear(&mut self, color: [f32; 4]) {
        self.context.clear(&Clear {
            buffers: aspect::COLOR,
            draw_buffer: -1,
            color: color.map(f32::to_bits),
            ..Clear::default()
        });
    }

    pub fn buffer(&self, size: u64) -> BufferHandle {
        let buffer = BufferHandle(self.handle());
        self.screen.resource_create(&ResourceDesc {
            handle: buffer.raw(),
            target: Target::Buffer as u8,
            buffer_size: size,
            ..ResourceDesc::default()
        });
        buffer
    }

    pub fn upload(&mut self, buffer: BufferHandle, offset: u64, bytes: &[u8]) {
        self.context.resource_subdata(
            &SubData {
                res: buffer.raw(),
                target: Target::Buffer as u16,
                union_box: Box3::from_buffer_range(offset, bytes.len() as u64),
                ..SubData::default()
            },
            &[],
            bytes,
        );
    }

    /// All texels of the target.
    pub fn read(&mut self) -> Vec<[u8; 4]> {
        let target = self.target;
        read(&mut *self.context, target)
    }

    /// The texel at x, y of the target.
    pub fn pixel(&mut self, x: u32, y: u32) -> [u8; 4] {
        self.read()[(y * SIZE + x) as usize]
    }

    /// Asserts that the backend complained about nothing.
    pub fn assert_quiet(&self) {
        let errors = self.listener.errors.lock().expect("no panic holds it");
        assert!(errors.is_empty(), "{errors:?}");
    }
}

pub fn framebuffer(surface: Surface) -> FramebufferState {
    let mut state = FramebufferState {
        fbo: FramebufferHandle::DEFAULT.raw(),
        read_surface: surface,
        draw_buffers: [-1; 8],
        width: SIZE as u16,
        height: SIZE as u16,
        layers: 1,
        complete: 1,
        ..FramebufferState::default()
    };
    state.color[0] = surface;
    state.draw_buffers[0] = 0;
    state
}

pub fn apply_state(context: &mut dyn Context, state: &RenderState, cso: Handle) {
    let mut chunks = Vec::new();
    state.gather(Half::Pipeline, ALL_PIPELINE_CHUNKS, &mut chunks);
    context.create_render_state(
        &RenderStateDesc { cso, chunk_mask: ALL_PIPELINE_CHUNKS, ..RenderStateDesc::default() },
        &chunks,
    );
    context.bind_render_state(&BindRenderState { cso, ..BindRenderState::default() });
    state.gather(Half::Dynamic, ALL_DYNAMIC_CHUNKS, &mut chunks);
    context.set_dynamic_state(&DynamicState { chunk_mask: ALL_DYNAMIC_CHUNKS, ..DynamicState::default() }, &chunks);
}

pub fn constants(context: &mut dyn Context, shader: ShaderCso, rect: [f32; 4], color: [f32; 4]) {
    context.set_global_constants(
        &GlobalConstants { shader: shader.raw(), ..GlobalConstants::default() },
        bytemuck::bytes_of(&[rect, color]),
    );
}

pub fn draw(context: &mut dyn Context, mode: u32, count: u32) {
    context.draw_vbo(
        &DrawInfo { mode, instance_count: 1, range_count: 1, ..DrawInfo::default() },
        &[DrawRange { start: 0, count, index_bias: 0 }],
        &[],
        HostBytes::None,
    );
}

pub fn read(context: &mut dyn Context, surface: Surface) -> Vec<[u8; 4]> {
    let mut bytes = vec![0; (SIZE * SIZE * 4) as usize];
    context
        .read_pixels(
            &ReadbackInfo {
                surface,
                area: Box3::sized(SIZE, SIZE, 1),
                format: surface.format,
                aspect: aspect::COLOR,
                ..ReadbackInfo::default()
            },
            &mut bytes,
        )
        .expect("a read-back");
    bytes.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]]).collect()
}

/// Rectangle and colour from the constants.
pub const POINT: &[u8] = include_bytes!("../shaders/point.vert.spv");
/// Rectangle from the constants, colour from a uniform block.
pub const BLOCK: &[u8] = include_bytes!("../shaders/block.vert.spv");

pub fn program(shader: ShaderCso, vertex: &[u8], block: bool) -> (ProgramDesc, Vec<u8>) {
    let fragment = include_bytes!("../shaders/color.frag.spv");
    let binding = |binding, kind, name: &str, block_index| Binding {
        set: SET_UNIFORM,
        binding,
        kind,
        count: 1,
        stages: Stage::Vertex.mask(),
        name: name.into(),
        block_index,
        uniform_index: -1,
        uniform_element: 0,
        opaque: None,
    };
    let mut reflection = Reflection {
        stages: Stage::Vertex.mask().union(Stage::Fragment.mask()),
        default_block: Some(DefaultBlock { size: 32, stages: Stage::Vertex.mask() }),
        bindings: vec![binding(0, BindingKind::DefaultBlock, DEFAULT_BLOCK_NAME, -1)],
        vertex: Some(VertexFacts { uses_vertex_id: true, ..VertexFacts::default() }),
        fragment: Some(FragmentFacts::default()),
        pre_raster: PreRasterFacts { writes_position: true, ..PreRasterFacts::default() },
        ..Reflection::default()
    };
    if block {
        reflection.bindings.push(binding(1, BindingKind::UniformBlock, "Block", 0));
        reflection.uniform_blocks.push(Block {
            name: "Block".into(),
            size: 16,
            initial_binding: 0,
            stages: Stage::Vertex.mask(),
            members: Vec::new(),
            binding_index: 1,
            binding_element: 0,
        });
    }
    let mut code = Vec::new();
    let mut add = |bytes: &[u8]| {
        let offset = code.len() as u64;
        code.extend_from_slice(bytes);
        BlobRef { offset, size: bytes.len() as u64, ..BlobRef::default() }
    };
    let mut desc = ProgramDesc {
        cso: shader.raw(),
        stage_mask: 1 << stage::VERTEX | 1 << stage::FRAGMENT,
        global_ubo_size: 32,
        num_samples_offset: u32::MAX,
        spirv_status: 1,
        ..ProgramDesc::default()
    };
    desc.spirv[stage::VERTEX] = add(vertex);
    desc.spirv[stage::FRAGMENT] = add(fragment);
    desc.reflection = add(&reflection.to_bytes());
    (desc, code)
}
