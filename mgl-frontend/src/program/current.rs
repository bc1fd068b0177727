//! The program in use, and what the tracker is told about it.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use mgpipe_tracker::{Counter, Generations, ProgramState, ResolvedProgramBindings};
use mgpipe_types::reflection::OpaqueType;

use super::{Executable, Program};
use crate::context::Context;
use crate::error::{invalid_operation, GlResult};

/// The program in use in one context.
///
/// Uniform values belong to the program, which other contexts may change; a context keeps a copy of what it last drew
/// with, so that a draw takes no lock while nothing changed.
#[derive(Debug, Default)]
pub(crate) struct CurrentProgram {
    object: Option<Arc<Program>>,
    /// Links of the program when it was put in use.
    links: u32,
    executable: Option<Arc<Executable>>,
    constants_version: u64,
    bindings_version: u64,
    constants: Vec<u8>,
    sampler_units: Vec<u32>,
    uniform_points: Vec<u32>,
    storage_points: Vec<u32>,
    image_units: Vec<u32>,
    conflict: bool,
    /// What the constants hold of GL's own state; `None` when they hold nothing of it yet.
    from_state: Option<StateValues>,
    /// Moves with `from_state`: those values are no part of the program's own, so they count beside their version.
    state_revision: u64,
    modes: u32,
}

/// GL's own state as shaders see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StateValues {
    /// Height of the draw framebuffer.
    pub(crate) height: u32,
    /// `glDepthRange`.
    pub(crate) depth_range: [f32; 2],
    /// Samples of the draw framebuffer as `gl_NumSamples` counts them: 1 without multisampling.
    pub(crate) samples: i32,
}

impl CurrentProgram {
    /// The executable that draws run.
    #[inline]
    pub(crate) fn executable(&self) -> Option<&Arc<Executable>> {
        self.executable.as_ref()
    }

    /// GL name of the program in use.
    pub(crate) fn name(&self) -> u32 {
        self.object.as_ref().map_or(0, |p| p.name)
    }

    /// Whether this program is in use here.
    pub(crate) fn is(&self, program: &Arc<Program>) -> bool {
        self.object.as_ref().is_some_and(|p| Arc::ptr_eq(p, program))
    }

    /// Puts another link of the program in use.
    pub(crate) fn install(&mut self, executable: Arc<Executable>) {
        self.modes = crate::draw::modes_of_program(&executable);
        self.executable = Some(executable);
        self.constants_version = 0;
        self.bindings_version = 0;
    }

    /// Takes over what changed since the last verb. Cheap while nothing did.
    #[inline]
    pub(crate) fn refresh(&mut self, generations: &mut Generations) {
        let Some(executable) = &self.executable else { return };
        let constants = executable.constants_version();
        let bindings = executable.bindings_version();
        if constants != self.constants_version || bindings != self.bindings_version {
            self.take_over(constants, bindings, generations);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_over(&mut self, constants: u64, bindings: u64, generations: &mut Generations) {
        let Some(executable) = &self.executable else { return };
        let values = executable.values();
        if constants != self.constants_version {
            self.constants_version = constants;
            self.constants.clear();
            self.constants.extend_from_slice(&values.block);
            self.from_state = None;
            generations.bump(Counter::DefaultBlock);
        }
        if bindings != self.bindings_version {
            self.bindings_version = bindings;
            for list in
                [&mut self.sampler_units, &mut self.uniform_points, &mut self.storage_points, &mut self.image_units]
            {
                list.clear();
            }
            executable.sampler_units(&values, &mut self.sampler_units);
            executable.image_units(&values, &mut self.image_units);
            executable.storage_points(&values, &mut self.storage_points);
            self.uniform_points.extend_from_slice(&values.uniform_blocks);
            self.conflict = executable.units_conflict(&self.sampler_units);
            generations.bump(Counter::ProgramBindings);
        }
    }

    /// Whether draws must call [`CurrentProgram::set_state_values`] first.
    #[inline]
    pub(crate) fn wants_state_values(&self) -> bool {
        self.executable.as_ref().is_some_and(|e| e.state_uniforms.is_some())
    }

    /// Puts GL's own state into the uniforms that show it. Comes after [`CurrentProgram::refresh`].
    pub(crate) fn set_state_values(&mut self, values: StateValues, generations: &mut Generations) {
        if self.from_state == Some(values) {
            return;
        }
        let Some(at) = self.executable.as_ref().and_then(|e| e.state_uniforms) else { return };
        self.from_state = Some(values);
        self.state_revision += 1;
        let [near, far] = values.depth_range;
        let [near_at, far_at, diff_at] = at.depth_range;
        let writes = [
            (at.height, (values.height as f32).to_le_bytes()),
            (near_at, near.to_le_bytes()),
            (far_at, far.to_le_bytes()),
            (diff_at, (far - near).to_le_bytes()),
            (at.samples, values.samples.to_le_bytes()),
        ];
        for (offset, bytes) in writes {
            if let Some(place) = offset.and_then(|at| self.constants.get_mut(at..at + 4)) {
                place.copy_from_slice(&bytes);
            }
        }
        generations.bump(Counter::DefaultBlock);
    }

    /// Whether samplers of different types read one unit. Valid after [`CurrentProgram::refresh`].
    #[inline]
    pub(crate) fn units_conflict(&self) -> bool {
        self.conflict
    }

    /// Bits of the draw modes that the geometry shader takes.
    #[inline]
    pub(crate) fn modes(&self) -> u32 {
        self.modes
    }

    /// Units that the program samples, each with the declared sampler type. Valid after [`CurrentProgram::refresh`].
    pub(crate) fn sampled(&self) -> impl Iterator<Item = (u32, OpaqueType)> + '_ {
        let executable = self.executable.as_ref();
        executable.into_iter().flat_map(|e| self.sampler_units.iter().copied().zip(e.sampler_types()))
    }

    /// The tracker's view.
    pub(crate) fn state(&self) -> ProgramState {
        match &self.executable {
            None => ProgramState::default(),
            Some(executable) => ProgramState {
                shader: executable.handle,
                bindings_version: self.bindings_version,
                constants_version: self.constants_version ^ self.state_revision << 40,
                has_constants: executable.reflection.default_block.is_some(),
            },
        }
    }

    /// Bytes of the default block.
    pub(crate) fn constants(&self) -> &[u8] {
        &self.constants
    }

    /// Units and points for the tracker.
    pub(crate) fn bindings(&self, out: &mut ResolvedProgramBindings) {
        out.samplers.extend_from_slice(&self.sampler_units);
        out.uniform_blocks.extend_from_slice(&self.uniform_points);
        out.storage_blocks.extend_from_slice(&self.storage_points);
        out.images.extend_from_slice(&self.image_units);
    }
}

impl Context {
    /// `glUseProgram`.
    pub fn use_program(&mut self, program: u32) {
        self.gl(|ctx| ctx.try_use_program(program));
    }

    fn try_use_program(&mut self, name: u32) -> GlResult {
        if self.state.xfb.captures() {
            return Err(invalid_operation("glUseProgram: transform feedback is active"));
        }
        if name == 0 {
            self.replace_program(None, None);
            return Ok(());
        }
        if let Some(current) = self.state.program.object.as_ref().filter(|p| p.name == name) {
            // A name stays with its program while a context uses it.
            if current.links.load(Ordering::Acquire) == self.state.program.links {
                return Ok(());
            }
        }
        let program = self.state.program_by_name(name, "glUseProgram")?;
        let links = program.links.load(Ordering::Acquire);
        let executable = self
            .linked_program(&program)
            .ok_or_else(|| invalid_operation("glUseProgram: the program is not linked"))?;
        self.replace_program(Some(program), Some(executable));
        self.state.program.links = links;
        Ok(())
    }

    fn replace_program(&mut self, program: Option<Arc<Program>>, executable: Option<Arc<Executable>>) {
        let current = &mut self.state.program;
        let same = |a: &Option<Arc<Executable>>, b: &Option<Arc<Executable>>| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        if !same(&current.executable, &executable) {
            match executable {
                Some(executable) => current.install(executable),
                None => current.executable = None,
            }
            self.state.generations.bump(Counter::DrawProgram);
        }
        if let Some(program) = &program {
            program.users.fetch_add(1, Ordering::AcqRel);
        }
        if let Some(old) = std::mem::replace(&mut self.state.program.object, program) {
            self.state.release_program(&old);
        }
    }

    /// Lets go of the program in use when the context ends.
    pub(crate) fn forget_program(&mut self) {
        self.replace_program(None, None);
    }
}
