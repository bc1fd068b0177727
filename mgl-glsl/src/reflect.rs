//! Builds the [`Reflection`] of a program from its modules and from what the rewriter noted.

pub(crate) mod interface;
pub(crate) mod leaves;
mod opaque;
mod resources;
mod stages;

use std::collections::{HashMap, HashSet};

use mgpipe_types::reflection::{Reflection, Stage};
use rspirv::spirv::Word;

use crate::module::{Module, Uses};
use crate::options::LinkOptions;
use crate::rewrite::members::Part;

/// One stage of the program while it is linked.
pub(crate) struct StageModule {
    pub(crate) module: Module,
    pub(crate) uses: Uses,
}

/// Facts of all shaders of the program, merged.
#[derive(Debug, Default)]
pub(crate) struct ProgramFacts {
    pub(crate) uniform_locations: HashMap<String, u32>,
    pub(crate) bindings: HashMap<String, u32>,
    pub(crate) bools: HashSet<(String, String)>,
    /// Arrays that stand for samplers inside arrays of structs.
    pub(crate) sampler_members: HashMap<String, Vec<Part>>,
    /// Explicit locations of vertex inputs and of fragment outputs.
    pub(crate) input_locations: HashMap<String, u32>,
    pub(crate) output_locations: HashMap<String, (u32, u32)>,
    pub(crate) origin_upper_left: bool,
    pub(crate) broadcasts_color: bool,
    /// The control shader was made by the linker.
    pub(crate) generated_control: bool,
}

/// Numbers that the patches write into the modules, per stage and variable.
#[derive(Debug, Default)]
pub(crate) struct Placements {
    /// Descriptor set and binding.
    pub(crate) descriptors: HashMap<(Stage, Word), (u32, u32)>,
    /// Location, and index for fragment outputs.
    pub(crate) locations: HashMap<(Stage, Word), (u32, u32)>,
}

/// Builds the reflection and the numbers to patch. The error is a line for the info log.
pub(crate) fn reflect(
    stages: &[StageModule],
    facts: &ProgramFacts,
    options: &LinkOptions,
) -> Result<(Reflection, Placements), String> {
    let mut reflection = Reflection { separable: options.separable, ..Reflection::default() };
    for stage in stages {
        reflection.stages.insert(stage.module.stage);
    }
    let mut placements = Placements::default();
    resources::collect(stages, facts, &options.limits, &mut reflection, &mut placements)?;
    interface::collect(stages, facts, options, &mut reflection, &mut placements)?;
    stages::collect(stages, facts, &mut reflection);
    Ok((reflection, placements))
}
