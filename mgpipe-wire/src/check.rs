//! What a record says about itself must agree with what it carries.

use crate::call::Call;
use crate::record::DecodeError;
use mgpipe_types::render_state::{masked_len, Half};
use mgpipe_types::{BlobRef, SamplerParameters, Target};

fn ensure(ok: bool, what: &'static str) -> Result<(), DecodeError> {
    if ok {
        Ok(())
    } else {
        Err(DecodeError::Malformed(what))
    }
}

/// A declared range lies inside the blob; an undeclared one (size 0) says nothing.
fn in_blob(blob: &BlobRef, bytes: &[u8]) -> Result<(), DecodeError> {
    let fits = blob.size == 0
        || blob.segment == 0 && blob.offset.checked_add(blob.size).is_some_and(|end| end <= bytes.len() as u64);
    ensure(fits, "blob range")
}

/// A blob that is one thing: a declared range is all of it.
fn whole_blob(blob: &BlobRef, bytes: &[u8]) -> Result<(), DecodeError> {
    ensure(blob.size == 0 || blob.segment == 0 && blob.offset == 0 && blob.size == bytes.len() as u64, "blob size")
}

/// Refuses a call whose counts, masks or blob ranges disagree with its tails and blobs.
pub(crate) fn check(call: &Call<'_>) -> Result<(), DecodeError> {
    match call {
        Call::CreateRenderState { desc, chunks } => {
            whole_blob(&desc.blob, chunks)?;
            ensure(masked_len(Half::Pipeline, desc.chunk_mask) == Some(chunks.len()), "pipeline chunk mask")
        }
        Call::SetDynamicState { state, chunks } => {
            whole_blob(&state.blob, chunks)?;
            ensure(masked_len(Half::Dynamic, state.chunk_mask) == Some(chunks.len()), "dynamic chunk mask")
        }
        Call::CreateVertexElements { desc, attributes, bindings } => ensure(
            desc.attribute_count as usize == attributes.len() && desc.binding_count as usize == bindings.len(),
            "vertex element counts",
        ),
        Call::CreateSampler { desc, parameters } => {
            whole_blob(&desc.parameters, parameters)?;
            ensure(parameters.len() == std::mem::size_of::<SamplerParameters>(), "sampler parameters")
        }
        Call::CreateShader { desc, code } => {
            for blob in desc.spirv.iter().chain([&desc.reflection]) {
                in_blob(blob, code)?;
            }
            ensure(desc.spirv.iter().all(|b| b.size % 4 == 0 && b.offset % 4 == 0), "SPIR-V words")
        }
        Call::SetVertexBuffers { header, buffers } => ensure(header.count as usize == buffers.len(), "set count"),
        Call::SetSamplerViews { header, views } => ensure(header.count as usize == views.len(), "set count"),
        Call::BindSamplerStates { header, samplers } => ensure(header.count as usize == samplers.len(), "set count"),
        Call::SetShaderImages { header, images } => ensure(header.count as usize == images.len(), "set count"),
        Call::SetShaderBuffers { header, ranges, .. } => ensure(header.count as usize == ranges.len(), "set count"),
        Call::SetStreamOutputTargets { header, targets } => ensure(header.count as usize == targets.len(), "set count"),
        Call::SetGlobalConstants { constants, bytes } => whole_blob(&constants.blob, bytes),
        Call::SetVertexAttribDefaults { header, values } => {
            ensure(header.mask.count_ones() as usize == values.len(), "attribute mask")
        }
        Call::ResourceSubdata { data, regions, bytes } => {
            whole_blob(&data.blob, bytes)?;
            ensure(data.region_count as usize == regions.len(), "region count")?;
            if data.target == Target::Buffer as u16 {
                ensure(regions.is_empty() && data.union_box.buffer_range().1 == bytes.len() as u64, "buffer range")?;
            }
            ensure(regions.iter().all(|r| r.src_offset <= bytes.len() as u64), "region source")
        }
        Call::BufferSubdataResident { data, bytes } => whole_blob(&data.blob, bytes),
        Call::ResourceReadback { readback, bytes } => ensure(readback.size == *bytes, "readback size"),
        Call::DrawVbo { info, ranges, indirect, .. } => {
            ensure(info.range_count as usize == ranges.len() && indirect.len() <= 1, "draw ranges")
        }
        Call::SetProgramBindings { header, units } => {
            let total =
                [header.sampler_count, header.uniform_block_count, header.storage_block_count, header.image_count]
                    .iter()
                    .map(|&n| n as u64)
                    .sum::<u64>();
            ensure(total == units.len() as u64, "binding counts")
        }
        _ => Ok(()),
    }
}
