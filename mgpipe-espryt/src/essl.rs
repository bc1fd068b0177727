//! ESSL from SPIR-V: SPIRV-Cross, and the changes to its text that the state of a draw asks for.

use crate::gles::Gles;
use crate::query::COUNT_BINDING;
use mgpipe_types::reflection::{OpaqueDim, OpaqueType, Reflection, Stage};
use mgpipe_types::{PipeError, PipeResult};
use spirv_cross2::compile::glsl::GlslVersion;
use spirv_cross2::compile::CompilableTarget;
use spirv_cross2::reflect::{DecorationValue, ResourceType};
use spirv_cross2::targets::Glsl;
use spirv_cross2::{spirv, Compiler, Module, SpirvCrossError};

/// Name of the uniform with the size of points whose program does not give one.
pub(crate) const POINT_SIZE: &str = "mgl_PointSize";

/// Name of the output with the size that such a program writes itself.
pub(crate) const WRITTEN_POINT_SIZE: &str = "mgl_WrittenPointSize";

/// Changes to a program by the state that it is used with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Variant {
    /// The last vertex stage takes the point size from a uniform.
    pub(crate) point_size: bool,
    /// The fragment stage mirrors `gl_PointCoord.y`.
    pub(crate) mirror_point_coord: bool,
    /// The fragment stage adds the bias of samplers.
    pub(crate) lod_bias: bool,
    /// The logic operation that the fragment stage applies; 0 for none.
    pub(crate) logic_op: u32,
    /// The fragment stage counts.
    pub(crate) count: Option<Count>,
}

/// How the fragment stage counts samples that pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Count {
    /// Behind the depth and stencil tests, which the stage has no part in.
    pub(crate) early: bool,
    /// Every covered sample of a fragment.
    pub(crate) samples: bool,
}

/// Where the bindings of a program's descriptors lie in the driver's numbering.
pub(crate) trait Numbers {
    /// Number of a binding of a descriptor set.
    fn number(&self, set: u32, binding: u32) -> u32;
}

fn failed(stage: Stage, error: SpirvCrossError) -> PipeError {
    PipeError::Unsupported(format!("the {} stage has no ESSL: {error}", stage.name()))
}

/// Translates one stage. `reader` is the fragment stage that reads what this one writes.
///
/// # Errors
/// A module that ESSL cannot express.
pub(crate) fn translate(
    gles: &Gles,
    stage: Stage,
    words: &[u32],
    reader: Option<&[u32]>,
    reflection: &Reflection,
    numbers: &dyn Numbers,
) -> PipeResult<String> {
    let mut words = crate::spirv::lower(words)?;
    if let Some(reader) = reader {
        words = crate::interface::match_interpolation(&words, reader)?;
    }
    let text = compile(gles, stage, &words, reflection, numbers).map_err(|error| failed(stage, error))?;
    let one_d = |arrayed: Option<bool>| -> Vec<u32> {
        let fits = |o: OpaqueType| o.dim == OpaqueDim::D1 && arrayed.is_none_or(|arrayed| o.arrayed == arrayed);
        let bindings = reflection.bindings.iter().filter(|b| b.opaque.is_some_and(fits));
        bindings.map(|b| numbers.number(b.set, b.binding)).collect()
    };
    let (all, arrays) = (one_d(None), one_d(Some(true)));
    let text = if all.is_empty() { text } else { crate::texture_calls::with_wide_offsets(text, &all) };
    Ok(if arrays.is_empty() { text } else { crate::texture_calls::with_array_sizes(text, &arrays) })
}

fn compile(
    gles: &Gles,
    stage: Stage,
    words: &[u32],
    reflection: &Reflection,
    numbers: &dyn Numbers,
) -> Result<String, SpirvCrossError> {
    let mut compiler = Compiler::<Glsl>::new(Module::from_words(words))?;
    let resources = compiler.shader_resources()?;
    let literal = |compiler: &Compiler<Glsl>, id, decoration| match compiler.decoration(id, decoration) {
        Ok(Some(DecorationValue::Literal(value))) => Some(value),
        _ => None,
    };
    for ty in [
        ResourceType::UniformBuffer,
        ResourceType::StorageBuffer,
        ResourceType::SampledImage,
        ResourceType::StorageImage,
    ] {
        let list: Vec<_> = resources.resources_for_type(ty)?.collect();
        for resource in list {
            let set = literal(&compiler, resource.id, spirv::Decoration::DescriptorSet);
            let binding = literal(&compiler, resource.id, spirv::Decoration::Binding);
            if let Some((set, binding)) = set.zip(binding) {
                let number = numbers.number(set, binding);
                compiler.set_decoration(resource.id, spirv::Decoration::Binding, Some(number))?;
            }
        }
    }
    for extension in extensions(gles, stage, reflection) {
        compiler.require_extension(extension)?;
    }
    let mut options = Glsl::options();
    options.version = if gles.version >= 32 { GlslVersion::Glsl320Es } else { GlslVersion::Glsl310Es };
    options.es_default_float_precision_highp = true;
    options.es_default_int_precision_highp = true;
    options.enable_row_major_load_workaround = false;
    let artifact = compiler.compile(&options)?;
    Ok(artifact.to_string())
}

/// Extensions that a stage's features need beyond its version.
fn extensions(gles: &Gles, stage: Stage, reflection: &Reflection) -> Vec<&'static str> {
    let mut list = Vec::new();
    let has = &gles.has;
    let before_raster = matches!(stage, Stage::Vertex | Stage::Geometry | Stage::TessEvaluation | Stage::TessControl);
    let clips = reflection.pre_raster.clip_distances + reflection.pre_raster.cull_distances > 0;
    if before_raster && clips && has.clip_distance {
        list.push("GL_EXT_clip_cull_distance");
    }
    if stage == Stage::Geometry && has.geometry_point_size {
        list.push("GL_EXT_geometry_point_size");
    }
    if stage == Stage::Fragment && reflection.outputs.iter().any(|output| output.index == 1) && has.dual_source {
        list.push("GL_EXT_blend_func_extended");
    }
    if gles.version < 32 {
        if has.texture_buffer {
            list.push("GL_EXT_texture_buffer");
        }
        // The fragment stage has `gl_PrimitiveID` and `gl_Layer` of it.
        let geometry =
            matches!(stage, Stage::Geometry | Stage::Fragment) || reflection.stages.contains(Stage::Geometry);
        if has.geometry && geometry {
            list.push("GL_EXT_geometry_shader");
        }
        for (there, name) in [
            (has.gpu_shader5, "GL_EXT_gpu_shader5"),
            (has.multisample_array, "GL_OES_texture_storage_multisample_2d_array"),
            (has.cube_array, "GL_EXT_texture_cube_map_array"),
            (has.sample_variables && stage == Stage::Fragment, "GL_OES_sample_variables"),
        ] {
            if there {
                list.push(name);
            }
        }
    }
    list
}

/// Changes a stage's text for a variant.
///
/// `captures_size`: the point size that the last vertex stage writes is captured, whatever stands in for it.
pub(crate) fn specialise(
    text: &str,
    stage: Stage,
    variant: Variant,
    is_last_vertex_stage: bool,
    captures_size: bool,
) -> String {
    let mut text = text.to_owned();
    if variant.point_size && is_last_vertex_stage {
        text = with_point_size(&text, stage, captures_size);
    }
    if variant.mirror_point_coord && stage == Stage::Fragment {
        text = text.replace("gl_PointCoord", "vec2(gl_PointCoord.x, 1.0 - gl_PointCoord.y)");
    }
    if variant.logic_op != 0 && stage == Stage::Fragment {
        text = crate::logic_op::apply(&text, variant.logic_op);
    }
    if let (Some(count), Stage::Fragment) = (variant.count, stage) {
        text = with_count(&text, count);
    }
    text
}

/// Counts every fragment that gets to its end into a buffer.
fn with_count(text: &str, count: Count) -> String {
    let (head, tail) = text.split_at(declarations(text));
    let early =
        if count.early && !tail.contains("early_fragment_tests") { "layout(early_fragment_tests) in;\n" } else { "" };
    let block = format!("layout(std430, binding = {COUNT_BINDING}) buffer mgl_Count {{ highp uint mgl_count; }};\n");
    let tail = tail.replacen("void main()", "void mgl_counted_main()", 1);
    let amount = if count.samples { "uint(bitCount(gl_SampleMaskIn[0]))" } else { "1u" };
    format!("{head}{early}{block}{tail}\nvoid main()\n{{\n    mgl_counted_main();\n    atomicAdd(mgl_count, {amount});\n}}\n")
}

/// Where declarations may begin: behind the version, extension and precision lines.
pub(crate) fn declarations(text: &str) -> usize {
    let mut end = 0;
    let mut depth = 0i32;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let word = line.trim_start();
        at += line.len();
        if word.starts_with("#if") {
            depth += 1;
        } else if word.starts_with("#endif") {
            depth -= 1;
        } else if !(word.starts_with('#') || word.starts_with("precision ") || word.trim().is_empty() || depth > 0) {
            break;
        }
        if depth == 0 {
            end = at;
        }
    }
    end
}

fn with_point_size(text: &str, stage: Stage, captured: bool) -> String {
    let (head, tail) = text.split_at(declarations(text));
    let (kept, keep) = match captured && tail.contains("gl_PointSize") {
        true => (format!("out highp float {WRITTEN_POINT_SIZE};\n"), format!("{WRITTEN_POINT_SIZE} = gl_PointSize; ")),
        false => (String::new(), String::new()),
    };
    let declared = format!("{head}uniform highp float {POINT_SIZE};\n{kept}{tail}");
    if stage == Stage::Geometry {
        return declared.replace("EmitVertex();", &format!("{{ {keep}gl_PointSize = {POINT_SIZE}; EmitVertex(); }}"));
    }
    let renamed = declared.replacen("void main()", "void mgl_main()", 1);
    format!("{renamed}\nvoid main()\n{{\n    mgl_main();\n    {keep}gl_PointSize = {POINT_SIZE};\n}}\n")
}

/// The fragment stage of programs without one, which OpenGL ES does not link.
pub(crate) const EMPTY_FRAGMENT: &str = "#version 310 es\nprecision highp float;\nvoid main()\n{\n}\n";

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "#version 320 es\n#extension GL_X : require\n\nuniform vec4 a;\nvoid main()\n{\n    gl_Position = a;\n}\n";

    #[test]
    fn a_point_size_is_written_behind_the_programs_own_main() {
        let variant = Variant { point_size: true, ..Variant::default() };
        let out = specialise(TEXT, Stage::Vertex, variant, true, false);
        assert!(out.starts_with("#version 320 es\n#extension GL_X : require\n\nuniform highp float mgl_PointSize;\n"));
        assert!(out.contains("void mgl_main()") && out.contains("gl_PointSize = mgl_PointSize;"));
        assert_eq!(specialise(TEXT, Stage::Vertex, variant, false, false), TEXT);
    }

    #[test]
    fn emitted_vertices_get_the_point_size_each() {
        let text = "#version 320 es\nvoid main()\n{\n    EmitVertex();\n    EmitVertex();\n}\n";
        let out = specialise(text, Stage::Geometry, Variant { point_size: true, ..Variant::default() }, true, false);
        assert_eq!(out.matches("gl_PointSize = mgl_PointSize; EmitVertex();").count(), 2);
    }
}
