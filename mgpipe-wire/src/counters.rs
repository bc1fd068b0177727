//! Calls and bytes per opcode.

use bytemuck::{Pod, Zeroable};
use mgpipe_types::{CallClass, Opcode, CALLS};

/// Counts calls and record bytes per opcode.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct CallCounters {
    calls: [u64; CALLS.len()],
    bytes: [u64; CALLS.len()],
}

impl Default for CallCounters {
    fn default() -> Self {
        Zeroable::zeroed()
    }
}

impl CallCounters {
    /// Counts one call whose record has `bytes` bytes.
    #[inline]
    pub fn count(&mut self, opcode: Opcode, bytes: usize) {
        let at = (opcode as usize).max(1) - 1;
        self.calls[at] += 1;
        self.bytes[at] += bytes as u64;
    }

    /// Calls of an opcode.
    pub fn calls(&self, opcode: Opcode) -> u64 {
        self.calls[(opcode as usize).max(1) - 1]
    }

    /// Record bytes of an opcode.
    pub fn bytes(&self, opcode: Opcode) -> u64 {
        self.bytes[(opcode as usize).max(1) - 1]
    }

    /// Calls and record bytes of every opcode of a class.
    pub fn of_class(&self, class: CallClass) -> (u64, u64) {
        let of_class = CALLS.iter().enumerate().filter(|(_, info)| info.class == class);
        of_class.fold((0, 0), |(calls, bytes), (at, _)| (calls + self.calls[at], bytes + self.bytes[at]))
    }

    /// `(name, calls, bytes)` of every opcode that occurred, in opcode order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64, u64)> + '_ {
        CALLS
            .iter()
            .zip(self.calls.iter().zip(&self.bytes))
            .filter(|(_, (calls, _))| **calls > 0)
            .map(|(info, (calls, bytes))| (info.name, *calls, *bytes))
    }
}
