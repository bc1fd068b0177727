//! The set-hash suppressor: a set that the server has already is not sent again.

/// What was sent last of one variable-tail set.
///
/// The hash decides quickly that a set differs; that it is equal is confirmed on the bytes, so that a collision never
/// suppresses a set.
#[derive(Debug, Default)]
pub(crate) struct SetSuppressor {
    hash: Option<u64>,
    extra: u64,
    bytes: Vec<u8>,
}

impl SetSuppressor {
    /// A suppressor with room for `bytes`, so that a steady program allocates nothing.
    pub(crate) fn with_capacity(bytes: usize) -> SetSuppressor {
        SetSuppressor { hash: None, extra: 0, bytes: Vec::with_capacity(bytes) }
    }

    /// Whether the set must be sent; notes it as sent then. `extra` is what of the header takes part in its content.
    pub(crate) fn admit(&mut self, hash: u64, extra: u64, bytes: &[u8]) -> bool {
        if self.hash == Some(hash) && self.extra == extra && self.bytes == bytes {
            return false;
        }
        self.hash = Some(hash);
        self.extra = extra;
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        true
    }

    /// The server has not got the set any more.
    pub(crate) fn forget(&mut self) {
        self.hash = None;
    }
}

/// What was sent last of a payload that is compared whole.
#[derive(Debug)]
pub(crate) struct ValueSuppressor<T> {
    last: Option<T>,
}

impl<T: bytemuck::Pod> ValueSuppressor<T> {
    pub(crate) const fn new() -> ValueSuppressor<T> {
        ValueSuppressor { last: None }
    }

    /// Whether the value must be sent; notes it as sent then. Values are compared as bytes: a NaN equals itself.
    pub(crate) fn admit(&mut self, value: &T) -> bool {
        if self.last.as_ref().is_some_and(|last| bytemuck::bytes_of(last) == bytemuck::bytes_of(value)) {
            return false;
        }
        self.last = Some(*value);
        true
    }

    /// The server has not got the value any more.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_are_suppressed_and_colliding_ones_are_not() {
        let mut s = SetSuppressor::default();
        assert!(s.admit(7, 0, b"one"));
        assert!(!s.admit(7, 0, b"one"));
        assert!(s.admit(7, 0, b"two"), "the same hash with other bytes");
        assert!(s.admit(7, 1, b"two"), "the same bytes with another header");
        s.forget();
        assert!(s.admit(7, 1, b"two"));
    }

    #[test]
    fn an_empty_set_is_sent_once() {
        let mut s = SetSuppressor::default();
        assert!(s.admit(0, 0, b""));
        assert!(!s.admit(0, 0, b""));
    }

    #[test]
    fn a_value_with_a_nan_equals_itself() {
        let mut v = ValueSuppressor::<f32>::new();
        assert!(v.admit(&f32::NAN));
        assert!(!v.admit(&f32::NAN));
    }
}
