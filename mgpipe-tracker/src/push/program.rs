//! Programs of draws and dispatches, their post-link bindings and their default uniform blocks.

use super::Core;
use crate::source::{ProgramState, ResolvedProgramBindings, Source};
use crate::suppressor::ValueSuppressor;
use crate::verb::{Group, ProgramPoint};
use hashbrown::HashMap;
use mgpipe_types::{BlobRef, Context, GlobalConstants, HandleOnly, ProgramBindings, ShaderCso, TypedHandle};

/// Room for the units of a program before anything is allocated.
const UNITS: usize = 256;

/// Programs whose versions are remembered. A program that dies in another context of the share group is not heard of here,
/// so the list is cut now and then; what is forgotten is sent once more.
const REMEMBERED: usize = 4096;

/// Versions that the server has of a program.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    bindings: Option<u64>,
    constants: Option<u64>,
}

/// Sends programs and what is kept per program.
#[derive(Debug)]
pub(crate) struct ProgramPush {
    draw: ValueSuppressor<HandleOnly>,
    dispatch: ValueSuppressor<HandleOnly>,
    /// The server keeps bindings and constants per program, so that a return to a program sends nothing.
    sent: HashMap<ShaderCso, Sent>,
    bindings: ResolvedProgramBindings,
    units: Vec<u32>,
}

impl ProgramPush {
    pub(crate) fn new() -> ProgramPush {
        let room = || Vec::with_capacity(UNITS);
        ProgramPush {
            draw: ValueSuppressor::new(),
            dispatch: ValueSuppressor::new(),
            sent: HashMap::new(),
            bindings: ResolvedProgramBindings {
                samplers: room(),
                uniform_blocks: room(),
                storage_blocks: room(),
                images: room(),
            },
            units: Vec::with_capacity(4 * UNITS),
        }
    }

    pub(crate) fn forget(&mut self) {
        self.draw.forget();
        self.dispatch.forget();
        self.sent.clear();
    }

    fn sent(&mut self, shader: ShaderCso) -> &mut Sent {
        if self.sent.len() >= REMEMBERED && !self.sent.contains_key(&shader) {
            self.sent.clear();
        }
        self.sent.entry(shader).or_default()
    }

    pub(crate) fn program_dies(&mut self, shader: ShaderCso) {
        self.sent.remove(&shader);
    }

    pub(crate) fn program<S: Source + ?Sized>(
        &mut self,
        core: &mut Core,
        point: ProgramPoint,
        source: &mut S,
        pipe: &mut dyn Context,
    ) {
        let (group, suppressor) = match point {
            ProgramPoint::Draw => (Group::DrawProgram, &mut self.draw),
            ProgramPoint::Dispatch => (Group::DispatchProgram, &mut self.dispatch),
        };
        core.fire(group);
        let program = HandleOnly::new(source.program(point).shader);
        let sent = suppressor.admit(&program);
        if core.note(group, sent, size_of::<HandleOnly>()) {
            match point {
                ProgramPoint::Draw => pipe.set_draw_program(&program),
                ProgramPoint::Dispatch => pipe.set_dispatch_program(&program),
            }
        }
    }

    pub(crate) fn bindings<S: Source + ?Sized>(
        &mut self,
        core: &mut Core,
        point: ProgramPoint,
        source: &mut S,
        pipe: &mut dyn Context,
    ) {
        core.fire(Group::ProgramBindings);
        let ProgramState { shader, bindings_version, .. } = source.program(point);
        if shader.is_null() {
            return;
        }
        let sent = self.sent(shader);
        let stale = sent.bindings.replace(bindings_version) != Some(bindings_version);
        if !stale {
            core.note(Group::ProgramBindings, false, 0);
            return;
        }
        let b = &mut self.bindings;
        for part in [&mut b.samplers, &mut b.uniform_blocks, &mut b.storage_blocks, &mut b.images] {
            part.clear();
        }
        source.resolve_program_bindings(point, b);
        self.units.clear();
        for part in [&b.samplers, &b.uniform_blocks, &b.storage_blocks, &b.images] {
            self.units.extend_from_slice(part);
        }
        core.note(Group::ProgramBindings, true, size_of::<ProgramBindings>() + self.units.len() * 4);
        let header = ProgramBindings {
            shader: shader.raw(),
            sampler_count: b.samplers.len() as u32,
            uniform_block_count: b.uniform_blocks.len() as u32,
            storage_block_count: b.storage_blocks.len() as u32,
            image_count: b.images.len() as u32,
        };
        pipe.set_program_bindings(&header, &self.units);
    }

    pub(crate) fn constants<S: Source + ?Sized>(
        &mut self,
        core: &mut Core,
        point: ProgramPoint,
        source: &mut S,
        pipe: &mut dyn Context,
    ) {
        core.fire(Group::GlobalConstants);
        let ProgramState { shader, constants_version, has_constants, .. } = source.program(point);
        if shader.is_null() || !has_constants {
            return;
        }
        let sent = self.sent(shader);
        if sent.constants.replace(constants_version) == Some(constants_version) {
            core.note(Group::GlobalConstants, false, 0);
            return;
        }
        let bytes = source.default_block(point);
        core.note(Group::GlobalConstants, true, size_of::<GlobalConstants>() + bytes.len());
        let header = GlobalConstants {
            shader: shader.raw(),
            version: constants_version as u32,
            pad: 0,
            blob: BlobRef { size: bytes.len() as u64, ..BlobRef::default() },
        };
        pipe.set_global_constants(&header, bytes);
    }
}
