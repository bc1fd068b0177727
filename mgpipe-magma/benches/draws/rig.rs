//! Magma with a program, buffers and textures, driven by MGPipe calls.

use crate::{Drawer, Row, SIZE, SLOTS};
use mgpipe_magma::MagmaBackend;
use mgpipe_types::reflection::{
    gl_type, Binding, BindingKind, Block, DefaultBlock, FragmentFacts, InterfaceVariable, OpaqueBase, OpaqueDim,
    OpaqueType, PreRasterFacts, Reflection, Stage, VertexFacts, DEFAULT_BLOCK_NAME, SET_SAMPLER, SET_UNIFORM,
};
use mgpipe_types::render_state::{Half, RenderState, Viewport, ALL_DYNAMIC_CHUNKS, ALL_PIPELINE_CHUNKS};
use mgpipe_types::*;
use std::sync::Arc;

fn print(level: LogLevel, message: &str) {
    eprintln!("{level:?}: {message}");
}

/// Slots of the handles, by kind.
const INDICES: u32 = 1;
const VERTICES: u32 = 2;
const UNIFORMS: u32 = 3;
const DEPTH: u32 = 2;
const FIRST_TEXTURE: u32 = 10;

fn handle(slot: u32) -> Handle {
    Handle { slot, gen: 1 }
}

/// The pipe under test.
pub struct Rig {
    screen: Arc<dyn Screen>,
    context: Box<dyn Context>,
    state: RenderState,
    row: Row,
    /// The two values between which a change of dynamic state goes back and forth.
    dynamics: [(DynamicState, Vec<u8>); 2],
}

impl Rig {
    /// Opens Magma and makes everything that the rows use.
    pub fn new() -> PipeResult<Rig> {
        let screen = MagmaBackend::new().open(Arc::new(LogCallbacks(print)))?;
        let context = screen.create_context(ContextHandle(handle(1)))?;
        let mut rig =
            Rig { screen, context, state: RenderState::initial(), row: Row::Arrays, dynamics: Default::default() };
        rig.state.viewports[0] = Viewport { x: 0.0, y: 0.0, width: SIZE as f32, height: SIZE as f32 };
        rig.targets();
        for slot in [1, 2] {
            rig.program(slot);
        }
        for slot in [1, 2] {
            rig.elements(slot);
        }
        rig.buffer(INDICES, bytemuck::cast_slice(&[0u32, 1, 2, 3]));
        rig.buffer(VERTICES, &[0; 4096]);
        rig.buffer(UNIFORMS, &[0; 8192]);
        rig.textures();
        rig.reset();
        Ok(rig)
    }

    fn targets(&mut self) {
        let mut surfaces = [Surface::default(); 2];
        for (slot, format) in [(1, Format::RGBA8_UNORM), (DEPTH, Format::D24_UNORM_S8)] {
            self.screen.resource_create(&ResourceDesc {
                handle: handle(slot),
                target: Target::Tex2D as u8,
                format: format.0,
                width: SIZE,
                height: SIZE,
                depth: 1,
                array_layers: 1,
                levels: 1,
                bind_mask: bind::RENDER_TARGET,
                ..ResourceDesc::default()
            });
            surfaces[slot as usize - 1] =
                Surface { handle: handle(slot), format: format.0, kind: Kind::Texture as u8, ..Surface::default() };
        }
        let mut state = FramebufferState {
            fbo: FramebufferHandle::DEFAULT.raw(),
            read_surface: surfaces[0],
            draw_buffers: [-1; 8],
            width: SIZE as u16,
            height: SIZE as u16,
            layers: 1,
            complete: 1,
            depth: surfaces[1],
            stencil: surfaces[1],
            ..FramebufferState::default()
        };
        state.color[0] = surfaces[0];
        state.draw_buffers[0] = 0;
        self.context.set_framebuffer_state(&state);
        self.context.clear(&Clear {
            buffers: aspect::COLOR | aspect::DEPTH | aspect::STENCIL,
            draw_buffer: -1,
            depth: 1.0,
            ..Clear::default()
        });
    }

    fn buffer(&mut self, slot: u32, bytes: &[u8]) {
        let size = bytes.len() as u64;
        let target = Target::Buffer;
        self.screen.resource_create(&ResourceDesc {
            handle: handle(slot),
            target: target as u8,
            buffer_size: size,
            ..ResourceDesc::default()
        });
        let data = SubData {
            res: handle(slot),
            target: target as u16,
            union_box: Box3::from_buffer_range(0, size),
            ..SubData::default()
        };
        self.context.resource_subdata(&data, &[], bytes);
    }

    /// One texture and view more than the program samples.
    fn textures(&mut self) {
        let sampler = SamplerParameters {
            wrap_s: gl::REPEAT,
            wrap_t: gl::REPEAT,
            wrap_r: gl::REPEAT,
            min_filter: gl::NEAREST,
            mag_filter: gl::NEAREST,
            min_lod: -1000.0,
            max_lod: 1000.0,
            compare_func: gl::LEQUAL,
            max_anisotropy: 1.0,
            ..SamplerParameters::default()
        };
        let desc = SamplerDesc { cso: handle(1), ..SamplerDesc::default() };
        self.context.create_sampler(&desc, bytemuck::bytes_of(&sampler));
        for index in 0..=SLOTS {
            let texture = handle(FIRST_TEXTURE + index);
            self.screen.resource_create(&ResourceDesc {
                handle: texture,
                target: Target::Tex2D as u8,
                format: Format::RGBA8_UNORM.0,
                width: 4,
                height: 4,
                depth: 1,
                array_layers: 1,
                levels: 1,
                bind_mask: bind::SAMPLER,
                ..ResourceDesc::default()
            });
            self.context.create_sampler_view(&SamplerView {
                cso: texture,
                texture,
                format: Format::RGBA8_UNORM.0,
                target: Target::Tex2D as u8,
                num_levels: 1,
                num_layers: 1,
                ..SamplerView::default()
            });
        }
        let samplers = [SamplerCso(handle(1)); SLOTS as usize];
        self.context.bind_sampler_states(&SetHeader { start: 0, count: SLOTS, content_hash: 1 }, &samplers);
    }

    fn program(&mut self, slot: u32) {
        let vertex = include_bytes!("draws.vert.spv");
        let fragment: &[u8] =
            if slot == 1 { include_bytes!("draws.frag.spv") } else { include_bytes!("second.frag.spv") };
        let mut code = Vec::new();
        let mut add = |bytes: &[u8]| {
            let offset = code.len() as u64;
            code.extend_from_slice(bytes);
            BlobRef { offset, size: bytes.len() as u64, ..BlobRef::default() }
        };
        let mut desc = ProgramDesc {
            cso: handle(slot),
            stage_mask: 1 << stage::VERTEX | 1 << stage::FRAGMENT,
            global_ubo_size: 16,
            num_samples_offset: u32::MAX,
            spirv_status: 1,
            ..ProgramDesc::default()
        };
        desc.spirv[stage::VERTEX] = add(vertex);
        desc.spirv[stage::FRAGMENT] = add(fragment);
        desc.reflection = add(&reflection().to_bytes());
        self.context.create_shader(&desc, &code);
        let units: Vec<u32> = (0..SLOTS).chain(0..SLOTS).collect();
        let bindings = ProgramBindings {
            shader: handle(slot),
            sampler_count: SLOTS,
            uniform_block_count: SLOTS,
            ..ProgramBindings::default()
        };
        self.context.set_program_bindings(&bindings, &units);
        self.constants(slot, 0.0);
    }

    fn constants(&mut self, slot: u32, x: f32) {
        let header = GlobalConstants { shader: handle(slot), ..GlobalConstants::default() };
        self.context.set_global_constants(&header, bytemuck::bytes_of(&[x, 0.0, 0.0, 0.0]));
    }

    /// Slot 2 reads one component less of attribute 0.
    fn elements(&mut self, slot: u32) {
        let attributes: Vec<_> = (0..SLOTS)
            .map(|location| VertexAttribute {
                location,
                binding: location,
                component_type: gl::FLOAT,
                components: if location == 0 && slot == 2 { 2 } else { 3 },
                ..VertexAttribute::default()
            })
            .collect();
        let bindings: Vec<_> = (0..SLOTS).map(|binding| VertexBinding { binding, stride: 12, divisor: 0 }).collect();
        let desc = VertexElementsDesc { cso: handle(slot), attribute_count: SLOTS, binding_count: SLOTS };
        self.context.create_vertex_elements(&desc, &attributes, &bindings);
    }

    fn vertex_buffers(&mut self, first_offset: u64) {
        let buffers: Vec<_> = (0..u64::from(SLOTS))
            .map(|slot| VertexBuffer {
                res: handle(VERTICES),
                offset: slot * 256 + if slot == 0 { first_offset } else { 0 },
                stride: 12,
                pad: 0,
            })
            .collect();
        self.context
            .set_vertex_buffers(&SetHeader { start: 0, count: SLOTS, content_hash: 1 + first_offset }, &buffers);
    }

    fn uniform_buffers(&mut self, first_offset: u64) {
        let ranges: Vec<_> = (0..u64::from(SLOTS))
            .map(|slot| BufferRange {
                res: handle(UNIFORMS),
                offset: slot * 256 + if slot == 0 { first_offset } else { 0 },
                size: 256,
            })
            .collect();
        let header = ShaderBuffers { class: buffer_class::UNIFORM, count: SLOTS, ..ShaderBuffers::default() };
        self.context.set_shader_buffers(&header, &ranges, HostBytes::None);
    }

    fn views(&mut self, first: u32) {
        let views: Vec<_> = (0..SLOTS)
            .map(|unit| {
                let texture = handle(FIRST_TEXTURE + if unit == 0 { first } else { unit });
                BoundView { view: texture, texture, unit, target: Target::Tex2D as u32 }
            })
            .collect();
        self.context.set_sampler_views(&SetHeader { start: 0, count: SLOTS, content_hash: 1 }, &views);
    }

    /// A render-state object of the current state with a change.
    fn render_state(&mut self, slot: u32, change: impl FnOnce(&mut RenderState)) {
        let mut state = self.state;
        change(&mut state);
        let mut chunks = Vec::new();
        state.gather(Half::Pipeline, ALL_PIPELINE_CHUNKS, &mut chunks);
        let desc = RenderStateDesc { cso: handle(slot), chunk_mask: ALL_PIPELINE_CHUNKS, ..RenderStateDesc::default() };
        self.context.create_render_state(&desc, &chunks);
    }

    fn bind_state(&mut self, slot: u32) {
        self.context.bind_render_state(&BindRenderState { cso: handle(slot), ..BindRenderState::default() });
    }

    /// The chunk mask and bytes that make a change of the dynamic half.
    fn dynamic(&self, change: impl FnOnce(&mut RenderState)) -> (DynamicState, Vec<u8>) {
        let mut state = self.state;
        change(&mut state);
        let mask = state.changed_chunks(&self.state, Half::Dynamic);
        let mut chunks = Vec::new();
        state.gather(Half::Dynamic, mask, &mut chunks);
        (DynamicState { chunk_mask: mask, ..DynamicState::default() }, chunks)
    }

    /// The state in which every row begins.
    fn reset(&mut self) {
        let mut chunks = Vec::new();
        self.state.gather(Half::Dynamic, ALL_DYNAMIC_CHUNKS, &mut chunks);
        let all = DynamicState { chunk_mask: ALL_DYNAMIC_CHUNKS, ..DynamicState::default() };
        self.context.set_dynamic_state(&all, &chunks);
        self.render_state(1, |_| {});
        self.bind_state(1);
        self.context.set_draw_program(&HandleOnly { handle: handle(1) });
        self.context.bind_vertex_elements(&HandleOnly { handle: handle(1) });
        self.context.set_index_buffer(&IndexBuffer { res: handle(INDICES), index_size: 4, ..IndexBuffer::default() });
        self.vertex_buffers(0);
        self.uniform_buffers(0);
        self.views(0);
    }
}

impl Drawer for Rig {
    fn begin(&mut self, row: Row) {
        self.reset();
        self.row = row;
        match row {
            Row::SampleMask => self.render_state(2, |s| s.sample_mask = 1),
            Row::BlendFactors => self.render_state(2, |s| s.blend[0].src_rgb = gl::SRC_ALPHA),
            Row::Blend => self.render_state(2, |s| s.blend[0].enabled = 1),
            Row::Depth => self.render_state(2, |s| s.depth_test = 1),
            Row::Scissor => {
                self.render_state(2, |s| s.scissor_test_mask = 1);
                self.bind_state(2);
            }
            _ => {}
        }
        self.dynamics = [SIZE / 2, SIZE].map(|side| {
            self.dynamic(|s| {
                if row == Row::Scissor {
                    s.scissors[0] = ScissorBox { x: 0, y: 0, width: side as i32, height: 16 };
                    s.scissor_written_mask = 1;
                } else {
                    s.viewports[0] = Viewport { x: 0.0, y: 0.0, width: side as f32, height: 17.0 };
                }
            })
        });
    }

    fn draw(&mut self, count: u32) {
        let row = self.row;
        let arrays = DrawInfo { mode: gl::TRIANGLES, instance_count: 1, range_count: 1, ..DrawInfo::default() };
        let elements = DrawInfo { index_size: 4, index_buffer: handle(INDICES), ..arrays };
        let range = [DrawRange { start: 0, count: 3, index_bias: 0 }];
        match row {
            Row::Arrays => {
                for _ in 0..count {
                    self.context.draw_vbo(&arrays, &range, &[], HostBytes::None);
                }
                return;
            }
            Row::ManyRanges => {
                let many = [range[0]; 100];
                let info = DrawInfo { range_count: many.len() as u32, ..elements };
                for _ in 0..count / many.len() as u32 {
                    self.context.draw_vbo(&info, &many, &[], HostBytes::None);
                }
                return;
            }
            _ => {}
        }
        for index in 0..count {
            let odd = index % 2;
            match row {
                Row::SampleMask | Row::BlendFactors | Row::Blend | Row::Depth => self.bind_state(1 + odd),
                Row::VertexBuffer => self.vertex_buffers(u64::from(odd) * 64),
                Row::VertexLayout => self.context.bind_vertex_elements(&HandleOnly { handle: handle(1 + odd) }),
                Row::Scissor | Row::Viewport => {
                    let (header, bytes) = &self.dynamics[odd as usize];
                    self.context.set_dynamic_state(header, bytes);
                }
                Row::Constants => self.constants(1, odd as f32),
                Row::UniformBuffer => self.uniform_buffers(u64::from(odd) * 4096),
                Row::Texture => self.views(odd * SLOTS),
                Row::Program => self.context.set_draw_program(&HandleOnly { handle: handle(1 + odd) }),
                Row::Arrays | Row::Elements | Row::ManyRanges => {}
            }
            self.context.draw_vbo(&elements, &range, &[], HostBytes::None);
        }
    }

    fn finish(&mut self) {
        let fence = handle(1);
        self.context.fence_create(&FenceDesc { fence, ..FenceDesc::default() });
        self.context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
        if let Err(error) = self.screen.fence_wait(&FenceWait { fence, timeout_ns: u64::MAX }) {
            eprintln!("{error}");
        }
        self.screen.fence_destroy(&HandleOnly { handle: fence });
    }
}

fn reflection() -> Reflection {
    let fragment = Stage::Fragment.mask();
    let binding = |set, binding, kind, name: String| Binding {
        set,
        binding,
        kind,
        count: 1,
        stages: fragment,
        name,
        block_index: -1,
        uniform_index: -1,
        uniform_element: 0,
        opaque: None,
    };
    let mut bindings = vec![binding(SET_UNIFORM, 0, BindingKind::DefaultBlock, DEFAULT_BLOCK_NAME.into())];
    let mut uniform_blocks = Vec::new();
    for index in 0..SLOTS {
        let name = format!("B{index}");
        uniform_blocks.push(Block {
            name: name.clone(),
            size: 16,
            initial_binding: index,
            stages: fragment,
            members: Vec::new(),
            binding_index: 1 + index,
            binding_element: 0,
        });
        let block = binding(SET_UNIFORM, 1 + index, BindingKind::UniformBlock, name);
        bindings.push(Binding { block_index: index as i32, ..block });
    }
    for index in 0..SLOTS {
        let sampler = binding(SET_SAMPLER, index, BindingKind::Sampler, format!("t{index}"));
        bindings.push(Binding {
            opaque: Some(OpaqueType {
                dim: OpaqueDim::D2,
                arrayed: false,
                multisampled: false,
                shadow: false,
                base: OpaqueBase::Float,
                image_format: 0,
                readable: true,
                writable: false,
            }),
            ..sampler
        });
    }
    Reflection {
        stages: Stage::Vertex.mask().union(fragment),
        default_block: Some(DefaultBlock { size: 16, stages: fragment }),
        bindings,
        uniform_blocks,
        inputs: (0..SLOTS as i32)
            .map(|location| InterfaceVariable {
                name: format!("a{location}"),
                gl_type: gl_type::FLOAT_VEC4,
                array_size: 1,
                location,
                spirv_location: location,
                component: 0,
                index: 0,
                per_patch: false,
                stages: Stage::Vertex.mask(),
            })
            .collect(),
        vertex: Some(VertexFacts::default()),
        fragment: Some(FragmentFacts::default()),
        pre_raster: PreRasterFacts { writes_position: true, ..PreRasterFacts::default() },
        ..Reflection::default()
    }
}
