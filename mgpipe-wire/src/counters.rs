//! Calls and bytes per opcode.

use mgpipe_types::{Opcode, CALLS};

/// Counts calls and record bytes per opcode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCounters {
    calls: Vec<u64>,
    bytes: Vec<u64>,
}

impl Default for CallCounters {
    fn default() -> Self {
        CallCounters { calls: vec![0; CALLS.len()], bytes: vec![0; CALLS.len()] }
    }
}

impl CallCounters {
    /// Counts one call whose record has `bytes` bytes.
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

    /// `(name, calls, bytes)` of every opcode that occurred, in opcode order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64, u64)> + '_ {
        CALLS
            .iter()
            .zip(self.calls.iter().zip(&self.bytes))
            .filter(|(_, (calls, _))| **calls > 0)
            .map(|(info, (calls, bytes))| (info.name, *calls, *bytes))
    }
}
