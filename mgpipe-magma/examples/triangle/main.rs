//! Draws a triangle with MGPipe calls alone, no GL, and writes it to a PNG file (first argument, `triangle.png` by default).
//!
//! The SPIR-V beside this file is made from the GLSL beside it: `glslangValidator -V triangle.vert -o triangle.vert.spv`.

use mgpipe_magma::MagmaBackend;
use mgpipe_types::reflection::{
    gl_type, Binding, BindingKind, DefaultBlock, FragmentFacts, InterfaceVariable, PreRasterFacts, Reflection, Stage,
    VertexFacts, DEFAULT_BLOCK_NAME, SET_UNIFORM,
};
use mgpipe_types::render_state::{Half, RenderState, ALL_DYNAMIC_CHUNKS, ALL_PIPELINE_CHUNKS};
use mgpipe_types::*;
use std::sync::Arc;

const SIZE: u32 = 256;

fn print(level: LogLevel, message: &str) {
    eprintln!("{level:?}: {message}");
}

/// A program as the GLSL compiler would hand it over.
fn program(handle: ShaderCso) -> (ProgramDesc, Vec<u8>) {
    let vertex = include_bytes!("triangle.vert.spv");
    let fragment = include_bytes!("triangle.frag.spv");
    let input = |name: &str, gl_type, location| InterfaceVariable {
        name: name.into(),
        gl_type,
        array_size: 1,
        location,
        spirv_location: location,
        component: 0,
        index: 0,
        per_patch: false,
        stages: Stage::Vertex.mask(),
    };
    let reflection = Reflection {
        stages: Stage::Vertex.mask().union(Stage::Fragment.mask()),
        default_block: Some(DefaultBlock { size: 16, stages: Stage::Vertex.mask() }),
        bindings: vec![Binding {
            set: SET_UNIFORM,
            binding: 0,
            kind: BindingKind::DefaultBlock,
            count: 1,
            stages: Stage::Vertex.mask(),
            name: DEFAULT_BLOCK_NAME.into(),
            block_index: -1,
            uniform_index: -1,
            uniform_element: 0,
            opaque: None,
        }],
        inputs: vec![input("position", gl_type::FLOAT_VEC2, 0), input("color", gl_type::FLOAT_VEC3, 1)],
        vertex: Some(VertexFacts::default()),
        fragment: Some(FragmentFacts::default()),
        pre_raster: PreRasterFacts { writes_position: true, ..PreRasterFacts::default() },
        ..Reflection::default()
    };
    let mut code = Vec::new();
    let mut add = |bytes: &[u8]| {
        let offset = code.len() as u64;
        code.extend_from_slice(bytes);
        BlobRef { offset, size: bytes.len() as u64, ..BlobRef::default() }
    };
    let mut desc = ProgramDesc {
        cso: handle.raw(),
        stage_mask: 1 << stage::VERTEX | 1 << stage::FRAGMENT,
        global_ubo_size: 16,
        num_samples_offset: u32::MAX,
        spirv_status: 1,
        ..ProgramDesc::default()
    };
    desc.spirv[stage::VERTEX] = add(vertex);
    desc.spirv[stage::FRAGMENT] = add(fragment);
    desc.reflection = add(&reflection.to_bytes());
    (desc, code)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "triangle.png".into());
    let screen = MagmaBackend::new().open(Arc::new(LogCallbacks(print)))?;
    let caps = screen.get_caps();
    println!("{} on {}", caps.backend_name, caps.device_name);

    // A colour image to draw into.
    let handle = |slot| Handle { slot, gen: 1 };
    let target = TextureHandle(handle(1));
    screen.resource_create(&ResourceDesc {
        handle: target.raw(),
        target: Target::Tex2D as u8,
        format: Format::RGBA8_UNORM.0,
        width: SIZE,
        height: SIZE,
        depth: 1,
        array_layers: 1,
        levels: 1,
        bind_mask: bind::RENDER_TARGET,
        ..ResourceDesc::default()
    });
    let mut context = screen.create_context(ContextHandle(handle(1)))?;
    let surface = Surface {
        handle: target.raw(),
        format: Format::RGBA8_UNORM.0,
        kind: Kind::Texture as u8,
        ..Surface::default()
    };
    let mut framebuffer = FramebufferState {
        fbo: FramebufferHandle::DEFAULT.raw(),
        read_surface: surface,
        draw_buffers: [-1; 8],
        width: SIZE as u16,
        height: SIZE as u16,
        layers: 1,
        complete: 1,
        content_hash: 1,
        ..FramebufferState::default()
    };
    framebuffer.color[0] = surface;
    framebuffer.draw_buffers[0] = 0;
    context.set_framebuffer_state(&framebuffer);

    // Render state: GL's initial one with a viewport.
    let mut state = RenderState::initial();
    state.viewports[0] = render_state::Viewport { x: 0.0, y: 0.0, width: SIZE as f32, height: SIZE as f32 };
    let mut chunks = Vec::new();
    state.gather(Half::Pipeline, ALL_PIPELINE_CHUNKS, &mut chunks);
    let cso = handle(1);
    context.create_render_state(
        &RenderStateDesc { cso, chunk_mask: ALL_PIPELINE_CHUNKS, ..RenderStateDesc::default() },
        &chunks,
    );
    context.bind_render_state(&BindRenderState { cso, ..BindRenderState::default() });
    state.gather(Half::Dynamic, ALL_DYNAMIC_CHUNKS, &mut chunks);
    context.set_dynamic_state(&DynamicState { chunk_mask: ALL_DYNAMIC_CHUNKS, ..DynamicState::default() }, &chunks);

    // Program and its one uniform.
    let shader = ShaderCso(handle(1));
    let (desc, code) = program(shader);
    context.create_shader(&desc, &code);
    context.set_draw_program(&HandleOnly::new(shader));
    let tint: [f32; 4] = [1.0, 0.9, 0.8, 1.0];
    context.set_global_constants(
        &GlobalConstants { shader: shader.raw(), ..GlobalConstants::default() },
        bytemuck::bytes_of(&tint),
    );

    // Vertices: x, y, r, g, b.
    let vertices: [[f32; 5]; 3] = [[-0.8, -0.8, 1.0, 0.0, 0.0], [0.8, -0.8, 0.0, 1.0, 0.0], [0.0, 0.8, 0.0, 0.0, 1.0]];
    let bytes: &[u8] = bytemuck::bytes_of(&vertices);
    let buffer = BufferHandle(handle(1));
    screen.resource_create(&ResourceDesc {
        handle: buffer.raw(),
        target: Target::Buffer as u8,
        bind_mask: bind::VERTEX,
        buffer_size: bytes.len() as u64,
        ..ResourceDesc::default()
    });
    context.resource_subdata(
        &SubData {
            res: buffer.raw(),
            target: Target::Buffer as u16,
            union_box: Box3::from_buffer_range(0, bytes.len() as u64),
            ..SubData::default()
        },
        &[],
        bytes,
    );
    let attribute = |location, components, relative_offset| VertexAttribute {
        location,
        binding: 0,
        relative_offset,
        component_type: gl::FLOAT,
        components,
        ..VertexAttribute::default()
    };
    let elements = VertexElementsDesc { cso: handle(1), attribute_count: 2, binding_count: 1 };
    context.create_vertex_elements(
        &elements,
        &[attribute(0, 2, 0), attribute(1, 3, 8)],
        &[VertexBinding { binding: 0, stride: 20, divisor: 0 }],
    );
    context.bind_vertex_elements(&HandleOnly { handle: handle(1) });
    context.set_vertex_buffers(
        &SetHeader { start: 0, count: 1, content_hash: 1 },
        &[VertexBuffer { res: buffer.raw(), offset: 0, stride: 20, pad: 0 }],
    );

    let color = [0.1f32, 0.1, 0.15, 1.0].map(f32::to_bits);
    context.clear(&Clear {
        buffers: aspect::COLOR,
        draw_buffer: -1,
        color_form: clear_form::FLOAT,
        color,
        ..Clear::default()
    });
    context.draw_vbo(
        &DrawInfo { mode: gl::TRIANGLES, instance_count: 1, range_count: 1, ..DrawInfo::default() },
        &[DrawRange { start: 0, count: 3, index_bias: 0 }],
        &[],
        HostBytes::None,
    );
    let mut texels = vec![0; (SIZE * SIZE * 4) as usize];
    context.read_pixels(
        &ReadbackInfo {
            surface,
            area: Box3::sized(SIZE, SIZE, 1),
            format: Format::RGBA8_UNORM.0,
            aspect: aspect::COLOR,
            ..ReadbackInfo::default()
        },
        &mut texels,
    )?;

    // GL's row 0 is the lowest; a PNG's is the highest.
    let rows: Vec<u8> = texels.chunks((SIZE * 4) as usize).rev().flatten().copied().collect();
    let mut encoder = png::Encoder::new(std::fs::File::create(&path)?, SIZE, SIZE);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&rows)?;
    println!("wrote {path}");
    Ok(())
}
