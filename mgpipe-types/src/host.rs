//! Host bytes that accompany a call: the one argument whose shape depends on the transport.

/// Bytes in host memory that a verb reads while it runs.
///
/// In the same process they are borrowed from their owner; a split transport copies them into a segment, or leaves
/// them out when the server's index mirror holds them already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HostBytes<'a> {
    /// The call needs none.
    #[default]
    None,
    /// The bytes.
    Bytes(&'a [u8]),
    /// The server takes them from its index mirror of the index buffer that the call names.
    IndexMirror,
}

impl<'a> HostBytes<'a> {
    /// The bytes, when they travel with the call.
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            HostBytes::Bytes(bytes) => Some(bytes),
            HostBytes::None | HostBytes::IndexMirror => None,
        }
    }
}
