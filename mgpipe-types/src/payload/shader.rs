//! The payload that declares a linked program.

use crate::pod::payload;
use crate::Handle;

/// Index of a shader stage in [`ProgramDesc::spirv`] and bit number in stage masks.
pub mod stage {
    #![allow(missing_docs)]
    pub const VERTEX: usize = 0;
    pub const TESS_CONTROL: usize = 1;
    pub const TESS_EVALUATION: usize = 2;
    pub const GEOMETRY: usize = 3;
    pub const FRAGMENT: usize = 4;
    pub const COMPUTE: usize = 5;
}

payload! {
    /// A linked program, 192 bytes; the blob holds the SPIR-V of each stage and the reflection archive
    /// ([`crate::reflection`]).
    ProgramDesc [192] {
        /// The program.
        cso: Handle,
        /// Bit i: stage i is present (see [`stage`]).
        stage_mask: u32,
        /// Bytes of the default uniform block.
        global_ubo_size: u32,
        /// Offset of a hidden `gl_NumSamples` member in the default block, or `u32::MAX`.
        num_samples_offset: u32,
        /// 1 when the SPIR-V is valid.
        spirv_status: u8,
        /// 1 when 64-bit floats are used natively.
        native_float64: u8,
        /// 1 when point-size writes were removed.
        point_size_demoted: u8,
        /// 1 when the backend should validate the SPIR-V in debug runs.
        validate_spirv: u8,
        /// SPIR-V of each stage, 4-byte aligned within the blob.
        spirv: [super::BlobRef; 6],
        /// The reflection archive.
        reflection: super::BlobRef,
    }
}
