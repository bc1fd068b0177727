//! The macro that declares payloads: plain old data with a checked size and checked member offsets.

/// Declares `#[repr(C)]` plain-data payloads without padding.
///
/// Each row states the total size in bytes; a size that differs, a hidden padding byte or a member that does not start
/// where the members before it end fails to compile.
macro_rules! payload {
    ($($(#[$doc:meta])* $name:ident [$size:literal] { $($(#[$fdoc:meta])* $field:ident : $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $ty,)*
        }

        impl Default for $name {
            fn default() -> Self { bytemuck::Zeroable::zeroed() }
        }

        const _: () = assert!(std::mem::size_of::<$name>() == $size, concat!("size of ", stringify!($name)));
        const _: () = {
            let mut end = 0usize;
            $(
                assert!(std::mem::offset_of!($name, $field) == end,
                    concat!("offset of ", stringify!($name), "::", stringify!($field)));
                end += std::mem::size_of::<$ty>();
            )*
            assert!(end == $size);
        };
    )*};
}

pub(crate) use payload;
