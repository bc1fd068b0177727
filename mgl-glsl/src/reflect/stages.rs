//! Facts of single stages: execution modes and built-ins.

use mgpipe_types::reflection::{
    ComputeFacts, FragmentFacts, GeometryFacts, GeometryPrimitive, PreRasterFacts, Reflection, Stage, TessControlFacts,
    TessEvaluationFacts, TessPrimitive, TessSpacing, VertexFacts,
};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Capability, ExecutionMode, StorageClass};

use super::{ProgramFacts, StageModule};
use crate::module::Type;

/// The execution modes of a module with their literal operands.
fn modes(stage: &StageModule) -> Vec<(ExecutionMode, Vec<u32>)> {
    let mut list = Vec::new();
    for instruction in &stage.module.dr.execution_modes {
        let Some(Operand::ExecutionMode(mode)) = instruction.operands.get(1) else { continue };
        let literals = (2..instruction.operands.len()).filter_map(|i| crate::module::operand(instruction, i)).collect();
        list.push((*mode, literals));
    }
    list
}

/// Whether reachable code uses a variable with the built-in.
fn uses_built_in(stage: &StageModule, class: StorageClass, built_in: BuiltIn) -> bool {
    let module = &stage.module;
    module
        .variables()
        .iter()
        .any(|v| v.class == class && module.built_in(v.id) == Some(built_in) && stage.uses.variables.contains(&v.id))
}

fn has_capability(stage: &StageModule, capability: Capability) -> bool {
    stage.module.dr.capabilities.iter().any(|i| i.operands.first() == Some(&Operand::Capability(capability)))
}

pub(super) fn collect(stages: &[StageModule], facts: &ProgramFacts, reflection: &mut Reflection) {
    for stage in stages {
        let modes = modes(stage);
        let has = |mode| modes.iter().any(|(m, _)| *m == mode);
        let literal = |mode, index: usize| {
            modes.iter().find(|(m, _)| *m == mode).and_then(|(_, literals)| literals.get(index).copied())
        };
        match stage.module.stage {
            Stage::Vertex => {
                let draw_parameters = has_capability(stage, Capability::DrawParameters);
                reflection.vertex = Some(VertexFacts {
                    uses_vertex_id: uses_built_in(stage, StorageClass::Input, BuiltIn::VertexIndex),
                    uses_instance_id: uses_built_in(stage, StorageClass::Input, BuiltIn::InstanceIndex),
                    uses_draw_parameters: draw_parameters,
                });
            }
            Stage::TessControl => {
                let vertices_out = literal(ExecutionMode::OutputVertices, 0).unwrap_or(0);
                reflection.tess_control = Some(TessControlFacts { vertices_out, generated: facts.generated_control });
            }
            Stage::TessEvaluation => {
                let primitive = if has(ExecutionMode::Quads) {
                    TessPrimitive::Quads
                } else if has(ExecutionMode::Isolines) {
                    TessPrimitive::Isolines
                } else {
                    TessPrimitive::Triangles
                };
                let spacing = if has(ExecutionMode::SpacingFractionalEven) {
                    TessSpacing::FractionalEven
                } else if has(ExecutionMode::SpacingFractionalOdd) {
                    TessSpacing::FractionalOdd
                } else {
                    TessSpacing::Equal
                };
                reflection.tess_evaluation = Some(TessEvaluationFacts {
                    primitive,
                    spacing,
                    clockwise: has(ExecutionMode::VertexOrderCw),
                    point_mode: has(ExecutionMode::PointMode),
                });
            }
            Stage::Geometry => {
                let input = if has(ExecutionMode::InputLines) {
                    GeometryPrimitive::Lines
                } else if has(ExecutionMode::InputLinesAdjacency) {
                    GeometryPrimitive::LinesAdjacency
                } else if has(ExecutionMode::Triangles) {
                    GeometryPrimitive::Triangles
                } else if has(ExecutionMode::InputTrianglesAdjacency) {
                    GeometryPrimitive::TrianglesAdjacency
                } else {
                    GeometryPrimitive::Points
                };
                let output = if has(ExecutionMode::OutputLineStrip) {
                    GeometryPrimitive::LineStrip
                } else if has(ExecutionMode::OutputTriangleStrip) {
                    GeometryPrimitive::TriangleStrip
                } else {
                    GeometryPrimitive::Points
                };
                reflection.geometry = Some(GeometryFacts {
                    input,
                    output,
                    max_vertices: literal(ExecutionMode::OutputVertices, 0).unwrap_or(0),
                    invocations: literal(ExecutionMode::Invocations, 0).unwrap_or(1).max(1),
                    uses_streams: stage.uses.streams,
                });
            }
            Stage::Fragment => {
                reflection.fragment = Some(FragmentFacts {
                    early_tests: has(ExecutionMode::EarlyFragmentTests),
                    writes_depth: has(ExecutionMode::DepthReplacing),
                    writes_stencil: has(ExecutionMode::StencilRefReplacingEXT),
                    writes_sample_mask: uses_built_in(stage, StorageClass::Output, BuiltIn::SampleMask),
                    uses_discard: stage.uses.kills,
                    per_sample: has_capability(stage, Capability::SampleRateShading),
                    broadcasts_color: facts.broadcasts_color,
                    origin_upper_left: facts.origin_upper_left,
                    uses_primitive_id: uses_built_in(stage, StorageClass::Input, BuiltIn::PrimitiveId),
                });
            }
            Stage::Compute => {
                let size = [0, 1, 2].map(|i| literal(ExecutionMode::LocalSize, i).unwrap_or(1));
                reflection.compute = Some(ComputeFacts { local_size: size });
            }
        }
    }
    let last = stages.iter().rev().find(|s| !matches!(s.module.stage, Stage::Fragment | Stage::Compute));
    if let Some(last) = last {
        // A tessellation control shader is last only in a separable program without an evaluation shader.
        if last.module.stage != Stage::TessControl {
            reflection.pre_raster = pre_raster(last);
        }
    }
}

fn pre_raster(stage: &StageModule) -> PreRasterFacts {
    let module = &stage.module;
    let mut facts = PreRasterFacts::default();
    let mut note = |built_in: Option<BuiltIn>, type_id| {
        let length = match module.type_of(type_id) {
            Type::Array { length, .. } => length.unwrap_or(0),
            _ => 1,
        };
        match built_in {
            Some(BuiltIn::Position) => facts.writes_position = true,
            Some(BuiltIn::PointSize) => facts.writes_point_size = true,
            Some(BuiltIn::Layer) => facts.writes_layer = true,
            Some(BuiltIn::ViewportIndex) => facts.writes_viewport_index = true,
            Some(BuiltIn::ClipDistance) => facts.clip_distances = length,
            Some(BuiltIn::CullDistance) => facts.cull_distances = length,
            _ => {}
        }
    };
    for variable in module.variables() {
        if variable.class != StorageClass::Output || !stage.uses.variables.contains(&variable.id) {
            continue;
        }
        if let Some(built_in) = module.built_in(variable.id) {
            note(Some(built_in), variable.pointee);
        } else if let Type::Struct { members } = module.type_of(variable.pointee) {
            for (index, member) in members.iter().enumerate() {
                let index = index as u32;
                if stage.uses.member(variable.id, index) {
                    note(module.member_built_in(variable.pointee, index), *member);
                }
            }
        }
    }
    facts
}
