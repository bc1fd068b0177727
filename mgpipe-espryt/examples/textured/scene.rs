//! A textured quad drawn with MGPipe calls alone.
//!
//! The SPIR-V beside this file is made from the GLSL beside it: `glslangValidator -V textured.vert -o textured.vert.spv`.

use mgpipe_types::reflection::{
    gl_type, Binding, BindingKind, DefaultBlock, FragmentFacts, InterfaceVariable, OpaqueBase, OpaqueDim, OpaqueType,
    PreRasterFacts, Reflection, Stage, StageMask, Uniform, VertexFacts, DEFAULT_BLOCK_NAME, SET_SAMPLER, SET_UNIFORM,
};
use mgpipe_types::render_state::{Half, RenderState, ALL_DYNAMIC_CHUNKS, ALL_PIPELINE_CHUNKS};
use mgpipe_types::*;

/// Width and height of the picture.
pub const SIZE: u32 = 256;

fn handle(slot: u32) -> Handle {
    Handle { slot, gen: 1 }
}

fn binding(set: u32, kind: BindingKind, stages: StageMask, name: &str) -> Binding {
    Binding {
        set,
        binding: 0,
        kind,
        count: 1,
        stages,
        name: name.into(),
        block_index: -1,
        uniform_index: if kind == BindingKind::Sampler { 0 } else { -1 },
        uniform_element: 0,
        opaque: (kind == BindingKind::Sampler).then_some(OpaqueType {
            dim: OpaqueDim::D2,
            arrayed: false,
            multisampled: false,
            shadow: false,
            base: OpaqueBase::Float,
            image_format: 0,
            readable: true,
            writable: false,
        }),
    }
}

/// A program as the GLSL compiler would hand it over.
fn program(shader: ShaderCso) -> (ProgramDesc, Vec<u8>) {
    let (vertex, fragment) = (Stage::Vertex.mask(), Stage::Fragment.mask());
    let input = |name: &str, location| InterfaceVariable {
        name: name.into(),
        gl_type: gl_type::FLOAT_VEC2,
        array_size: 1,
        location,
        spirv_location: location,
        component: 0,
        index: 0,
        per_patch: false,
        stages: vertex,
    };
    let reflection = Reflection {
        stages: vertex.union(fragment),
        default_block: Some(DefaultBlock { size: 16, stages: vertex }),
        bindings: vec![
            binding(SET_UNIFORM, BindingKind::DefaultBlock, vertex, DEFAULT_BLOCK_NAME),
            binding(SET_SAMPLER, BindingKind::Sampler, fragment, "image"),
        ],
        uniforms: vec![Uniform {
            name: "image".into(),
            gl_type: gl_type::SAMPLER_2D,
            array_size: 1,
            stages: fragment,
            location: 0,
            block_index: -1,
            offset: -1,
            array_stride: -1,
            matrix_stride: -1,
            row_major: false,
            atomic_index: -1,
            binding_index: 1,
            initial_unit: 0,
        }],
        location_count: 1,
        inputs: vec![input("position", 0), input("coord", 1)],
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
        cso: shader.raw(),
        stage_mask: 1 << stage::VERTEX | 1 << stage::FRAGMENT,
        global_ubo_size: 16,
        num_samples_offset: u32::MAX,
        spirv_status: 1,
        ..ProgramDesc::default()
    };
    desc.spirv[stage::VERTEX] = add(include_bytes!("textured.vert.spv"));
    desc.spirv[stage::FRAGMENT] = add(include_bytes!("textured.frag.spv"));
    desc.reflection = add(&reflection.to_bytes());
    (desc, code)
}

/// A texture of the handle with one level.
fn image(slot: u32, size: u32, uses: u16) -> ResourceDesc {
    ResourceDesc {
        handle: handle(slot),
        target: Target::Tex2D as u8,
        format: Format::RGBA8_UNORM.0,
        width: size,
        height: size,
        depth: 1,
        array_layers: 1,
        levels: 1,
        bind_mask: uses,
        ..ResourceDesc::default()
    }
}

/// A checkered texture with its view and sampler on unit 0.
fn bind_texture(screen: &dyn Screen, context: &mut dyn Context) {
    const SIDE: u32 = 8;
    screen.resource_create(&image(2, SIDE, bind::SAMPLER));
    let texels: Vec<u8> = (0..SIDE * SIDE)
        .flat_map(|at| if (at % SIDE + at / SIDE) % 2 == 0 { [230, 90, 40, 255] } else { [250, 240, 220, 255] })
        .collect();
    let area = Box3::sized(SIDE, SIDE, 1);
    let region = SubRegion { width: SIDE, height: SIDE, depth: 1, ..SubRegion::default() };
    let data = SubData {
        res: handle(2),
        target: Target::Tex2D as u16,
        union_box: area,
        region_count: 1,
        ..SubData::default()
    };
    context.resource_subdata(&data, &[region], &texels);
    let parameters = SamplerParameters {
        wrap_s: gl::REPEAT,
        wrap_t: gl::REPEAT,
        wrap_r: gl::REPEAT,
        min_filter: gl::NEAREST,
        mag_filter: gl::NEAREST,
        max_lod: 1000.0,
        min_lod: -1000.0,
        compare_mode: gl::NONE,
        compare_func: gl::LEQUAL,
        max_anisotropy: 1.0,
        ..SamplerParameters::default()
    };
    context.create_sampler(&SamplerDesc { cso: handle(1), ..SamplerDesc::default() }, bytemuck::bytes_of(&parameters));
    context.create_sampler_view(&SamplerView {
        cso: handle(1),
        texture: handle(2),
        format: Format::RGBA8_UNORM.0,
        target: Target::Tex2D as u8,
        num_levels: 1,
        num_layers: 1,
        ..SamplerView::default()
    });
    let header = SetHeader { start: 0, count: 1, content_hash: 1 };
    let target = Target::Tex2D as u32;
    context.set_sampler_views(&header, &[BoundView { view: handle(1), texture: handle(2), unit: 0, target }]);
    context.bind_sampler_states(&header, &[SamplerCso(handle(1))]);
}

fn bind_vertices(screen: &dyn Screen, context: &mut dyn Context) {
    // Vertices: x, y, u, v.
    let vertices: [[f32; 4]; 4] =
        [[-0.8, -0.8, 0.0, 0.0], [0.8, -0.8, 1.0, 0.0], [-0.8, 0.8, 0.0, 1.0], [0.8, 0.8, 1.0, 1.0]];
    let bytes: &[u8] = bytemuck::bytes_of(&vertices);
    let size = bytes.len() as u64;
    screen.resource_create(&ResourceDesc {
        handle: handle(1),
        target: Target::Buffer as u8,
        bind_mask: bind::VERTEX,
        buffer_size: size,
        ..ResourceDesc::default()
    });
    let union_box = Box3::from_buffer_range(0, size);
    let data = SubData { res: handle(1), target: Target::Buffer as u16, union_box, ..SubData::default() };
    context.resource_subdata(&data, &[], bytes);
    let attribute = |location, relative_offset| VertexAttribute {
        location,
        binding: 0,
        relative_offset,
        component_type: gl::FLOAT,
        components: 2,
        ..VertexAttribute::default()
    };
    context.create_vertex_elements(
        &VertexElementsDesc { cso: handle(1), attribute_count: 2, binding_count: 1 },
        &[attribute(0, 0), attribute(1, 8)],
        &[VertexBinding { binding: 0, stride: 16, divisor: 0 }],
    );
    context.bind_vertex_elements(&HandleOnly { handle: handle(1) });
    context.set_vertex_buffers(
        &SetHeader { start: 0, count: 1, content_hash: 1 },
        &[VertexBuffer { res: handle(1), offset: 0, stride: 16, pad: 0 }],
    );
}

/// Draws on a new context of the screen; the texels, lowest row first.
///
/// # Errors
/// What the backend cannot do.
pub fn draw(screen: &dyn Screen) -> PipeResult<Vec<u8>> {
    // A colour image to draw into.
    screen.resource_create(&image(1, SIZE, bind::RENDER_TARGET));
    let mut context = screen.create_context(ContextHandle(handle(1)))?;
    let surface =
        Surface { handle: handle(1), format: Format::RGBA8_UNORM.0, kind: Kind::Texture as u8, ..Surface::default() };
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
    let desc = RenderStateDesc { cso, chunk_mask: ALL_PIPELINE_CHUNKS, ..RenderStateDesc::default() };
    context.create_render_state(&desc, &chunks);
    context.bind_render_state(&BindRenderState { cso, ..BindRenderState::default() });
    state.gather(Half::Dynamic, ALL_DYNAMIC_CHUNKS, &mut chunks);
    context.set_dynamic_state(&DynamicState { chunk_mask: ALL_DYNAMIC_CHUNKS, ..DynamicState::default() }, &chunks);

    let shader = ShaderCso(handle(1));
    let (desc, code) = program(shader);
    context.create_shader(&desc, &code);
    context.set_draw_program(&HandleOnly::new(shader));
    let tint: [f32; 4] = [1.0, 0.9, 0.8, 1.0];
    let constants = GlobalConstants { shader: shader.raw(), ..GlobalConstants::default() };
    context.set_global_constants(&constants, bytemuck::bytes_of(&tint));
    bind_texture(screen, &mut *context);
    bind_vertices(screen, &mut *context);

    let color = [0.1f32, 0.1, 0.15, 1.0].map(f32::to_bits);
    let form = clear_form::FLOAT;
    context.clear(&Clear { buffers: aspect::COLOR, draw_buffer: -1, color_form: form, color, ..Clear::default() });
    context.draw_vbo(
        &DrawInfo { mode: gl::TRIANGLE_STRIP, instance_count: 1, range_count: 1, ..DrawInfo::default() },
        &[DrawRange { start: 0, count: 4, index_bias: 0 }],
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
    context.flush(&Flush { flags: flush_flags::SUBMIT | flush_flags::RELEASE, pad: 0 });
    Ok(texels)
}
