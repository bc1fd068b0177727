//! Types that cross between the C entry points and the object model: pixel sources, parameter lists, query answers.

use std::fmt;

use mgpipe_types::WindowDesc;
use smallvec::{smallvec, SmallVec};

/// Where a pixel or compressed upload reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PixelData<'a> {
    /// The application passed a null pointer: storage with undefined contents.
    None,
    /// The application's memory, as long as the unpack state says, starting at its pointer.
    Client(&'a [u8]),
    /// A byte offset into the bound pixel unpack buffer.
    Buffer(usize),
}

/// Where a read-back writes to.
#[derive(Debug, PartialEq, Eq)]
pub enum PixelDest<'a> {
    /// The application's memory, as long as the pack state says. Bytes between rows must stay as they are.
    Client(&'a mut [u8]),
    /// A byte offset into the bound pixel pack buffer.
    Buffer(usize),
}

/// Four components of a border colour or a generic attribute, with the bits as they were given.
///
/// A border colour set by `glTexParameterIiv` is a set of integers, one set by `glTexParameterfv` is a set of floats; the
/// reader chooses by its own query which view it gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quad {
    /// The components as floats.
    pub floats: [f32; 4],
    /// The components as 32-bit integers, for the `I` forms of set and query.
    pub bits: [u32; 4],
    /// Integer queries scale 1.0 to the most positive integer (colours) instead of rounding (attributes).
    pub normalized: bool,
}

impl Quad {
    /// A colour given as floats.
    pub fn from_floats(floats: [f32; 4]) -> Quad {
        Quad { floats, bits: floats.map(f32::to_bits), normalized: true }
    }

    /// Signed integers given by an `I` form.
    pub fn from_ints(ints: [i32; 4]) -> Quad {
        Quad { floats: ints.map(|v| v as f32), bits: ints.map(|v| v as u32), normalized: false }
    }

    /// Unsigned integers given by an `I` form.
    pub fn from_uints(uints: [u32; 4]) -> Quad {
        Quad { floats: uints.map(|v| v as f32), bits: uints, normalized: false }
    }
}

/// The values of a `gl*Parameter*` call in the form the application gave them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params<'a> {
    /// The values.
    pub data: ParamData<'a>,
    /// The application used the form with one value (`glTexParameteri`), which no vector parameter accepts.
    pub scalar: bool,
}

/// The element type of [`Params`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamData<'a> {
    /// From `i` or `iv`: integers that a colour parameter maps to [-1, 1].
    Ints(&'a [i32]),
    /// From `f` or `fv`.
    Floats(&'a [f32]),
    /// From `Iiv`: integers kept as they are.
    PureInts(&'a [i32]),
    /// From `Iuiv`: integers kept as they are.
    PureUints(&'a [u32]),
}

impl Params<'_> {
    /// Whether the call carried one value by value.
    pub fn is_scalar(&self) -> bool {
        self.scalar
    }

    /// The number of values that may be read.
    pub fn len(&self) -> usize {
        match self.data {
            ParamData::Ints(v) | ParamData::PureInts(v) => v.len(),
            ParamData::Floats(v) => v.len(),
            ParamData::PureUints(v) => v.len(),
        }
    }

    /// Whether there is no value at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Value `i` as an integer (floats are rounded), 0 beyond the end.
    pub fn int(&self, i: usize) -> i32 {
        match self.data {
            ParamData::Ints(v) | ParamData::PureInts(v) => v.get(i).copied().unwrap_or(0),
            ParamData::Floats(v) => v.get(i).map_or(0, |f| f.round() as i32),
            ParamData::PureUints(v) => v.get(i).map_or(0, |&u| i32::try_from(u).unwrap_or(i32::MAX)),
        }
    }

    /// Value `i` as an enumerant. Enumerants are exact in a float, a negative value is no enumerant.
    pub fn enumerant(&self, i: usize) -> u32 {
        match self.data {
            ParamData::PureUints(v) => v.get(i).copied().unwrap_or(0),
            _ => self.int(i) as u32,
        }
    }

    /// Value `i` as a float without scaling, 0.0 beyond the end.
    pub fn float(&self, i: usize) -> f32 {
        match self.data {
            ParamData::Ints(v) | ParamData::PureInts(v) => v.get(i).map_or(0.0, |&v| v as f32),
            ParamData::Floats(v) => v.get(i).copied().unwrap_or(0.0),
            ParamData::PureUints(v) => v.get(i).map_or(0.0, |&v| v as f32),
        }
    }

    /// The first four values as a colour (GL 4.6 §8.10): `iv` maps to [-1, 1], the `I` forms stay integers.
    pub fn quad(&self) -> Option<Quad> {
        fn four<T: Copy>(v: &[T]) -> Option<[T; 4]> {
            v.get(..4).and_then(|v| v.try_into().ok())
        }
        match self.data {
            ParamData::Ints(v) => four(v).map(|v| Quad::from_floats(v.map(snorm_from_i32))),
            ParamData::Floats(v) => four(v).map(Quad::from_floats),
            ParamData::PureInts(v) => four(v).map(Quad::from_ints),
            ParamData::PureUints(v) => four(v).map(Quad::from_uints),
        }
    }
}

/// Maps a signed integer to [-1, 1] (GL 4.6 equation 2.2).
pub fn snorm_from_i32(v: i32) -> f32 {
    (f64::from(v) / f64::from(i32::MAX)).max(-1.0) as f32
}

/// The answer to a query of state, in the type that the state has.
///
/// The entry point converts it to the type that the application asked for (GL 4.6 §2.2.2).
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Booleans.
    Bools(SmallVec<[bool; 4]>),
    /// Integers and enumerants.
    Ints(SmallVec<[i64; 4]>),
    /// Bit masks: a 32-bit query returns the bits as they are, not the nearest representable integer.
    Bits(SmallVec<[u32; 4]>),
    /// Floats; integer queries round to the nearest.
    Floats(SmallVec<[f64; 4]>),
    /// Colours, depths and other values where an integer query maps 1.0 to the most positive integer.
    Normalized(SmallVec<[f64; 4]>),
    /// A border colour or a generic attribute.
    Quad(Quad),
}

impl Values {
    /// One boolean.
    pub fn bool(v: bool) -> Values {
        Values::Bools(smallvec![v])
    }

    /// One integer or enumerant.
    pub fn int(v: impl Into<i64>) -> Values {
        Values::Ints(smallvec![v.into()])
    }

    /// Several integers.
    pub fn ints<T: Into<i64>>(v: impl IntoIterator<Item = T>) -> Values {
        Values::Ints(v.into_iter().map(Into::into).collect())
    }

    /// One bit mask.
    pub fn bits(v: u32) -> Values {
        Values::Bits(smallvec![v])
    }

    /// One float.
    pub fn float(v: impl Into<f64>) -> Values {
        Values::Floats(smallvec![v.into()])
    }

    /// Several floats.
    pub fn floats<T: Into<f64>>(v: impl IntoIterator<Item = T>) -> Values {
        Values::Floats(v.into_iter().map(Into::into).collect())
    }

    /// Several normalised floats.
    pub fn normalized<T: Into<f64>>(v: impl IntoIterator<Item = T>) -> Values {
        Values::Normalized(v.into_iter().map(Into::into).collect())
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::Bools(v) => v.len(),
            Values::Ints(v) => v.len(),
            Values::Bits(v) => v.len(),
            Values::Floats(v) | Values::Normalized(v) => v.len(),
            Values::Quad(_) => 4,
        }
    }

    /// Whether there is no value (a list such as the compressed formats can be empty).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Value `i` as a boolean: zero is false. False beyond the end.
    pub fn to_bool(&self, i: usize) -> bool {
        match self {
            Values::Bools(v) => v.get(i).copied().unwrap_or(false),
            Values::Ints(v) => v.get(i).is_some_and(|&v| v != 0),
            Values::Bits(v) => v.get(i).is_some_and(|&v| v != 0),
            Values::Floats(v) | Values::Normalized(v) => v.get(i).is_some_and(|&v| v != 0.0),
            Values::Quad(q) => q.floats.get(i).is_some_and(|&v| v != 0.0),
        }
    }

    /// Value `i` as a 32-bit integer: the nearest representable one, or scaled for normalised values.
    pub fn to_i32(&self, i: usize) -> i32 {
        if let Values::Bits(v) = self {
            return v.get(i).map_or(0, |&v| v as i32);
        }
        if self.is_normalized() {
            return (self.to_f64(i).clamp(-1.0, 1.0) * f64::from(i32::MAX)).round() as i32;
        }
        self.to_i64(i).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }

    /// Value `i` as an unsigned 32-bit integer.
    pub fn to_u32(&self, i: usize) -> u32 {
        match self {
            Values::Bits(v) => v.get(i).copied().unwrap_or(0),
            _ => self.to_i64(i).clamp(0, i64::from(u32::MAX)) as u32,
        }
    }

    /// Value `i` as a 64-bit integer.
    pub fn to_i64(&self, i: usize) -> i64 {
        match self {
            Values::Bools(v) => v.get(i).map_or(0, |&v| i64::from(v)),
            Values::Ints(v) => v.get(i).copied().unwrap_or(0),
            Values::Bits(v) => v.get(i).map_or(0, |&v| i64::from(v)),
            Values::Floats(_) => self.to_f64(i).round() as i64,
            Values::Normalized(_) => (self.to_f64(i).clamp(-1.0, 1.0) * i64::MAX as f64).round() as i64,
            Values::Quad(q) if q.normalized => (self.to_f64(i).clamp(-1.0, 1.0) * i64::MAX as f64).round() as i64,
            Values::Quad(_) => self.to_f64(i).round() as i64,
        }
    }

    /// Value `i` as a double, 0.0 beyond the end.
    pub fn to_f64(&self, i: usize) -> f64 {
        match self {
            Values::Bools(v) => v.get(i).map_or(0.0, |&v| f64::from(u8::from(v))),
            Values::Ints(v) => v.get(i).map_or(0.0, |&v| v as f64),
            Values::Bits(v) => v.get(i).map_or(0.0, |&v| f64::from(v)),
            Values::Floats(v) | Values::Normalized(v) => v.get(i).copied().unwrap_or(0.0),
            Values::Quad(q) => q.floats.get(i).map_or(0.0, |&v| f64::from(v)),
        }
    }

    /// Value `i` as a float.
    pub fn to_f32(&self, i: usize) -> f32 {
        self.to_f64(i) as f32
    }

    /// Value `i` for an `Iiv` or `Iuiv` query: integers as they were set, without any scaling.
    pub fn to_pure(&self, i: usize) -> u32 {
        match self {
            Values::Quad(q) => q.bits.get(i).copied().unwrap_or(0),
            Values::Bits(v) => v.get(i).copied().unwrap_or(0),
            _ => {
                let v = self.to_i64(i);
                if v < 0 {
                    v.max(i64::from(i32::MIN)) as i32 as u32
                } else {
                    v.min(i64::from(u32::MAX)) as u32
                }
            }
        }
    }

    fn is_normalized(&self) -> bool {
        match self {
            Values::Normalized(_) => true,
            Values::Quad(q) => q.normalized,
            _ => false,
        }
    }
}

/// Name, array size and type of an active attribute, uniform or captured varying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveInfo {
    /// The name as the shader spells it, `[0]` appended for arrays.
    pub name: String,
    /// Number of array elements, 1 for anything that is no array.
    pub size: i32,
    /// The GL type enumerant, for example `GL_FLOAT_VEC4`.
    pub type_: u32,
}

/// What `eglCreateContext` asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextAttribs {
    /// Requested major version; a higher compatible version may be given.
    pub major: u32,
    /// Requested minor version.
    pub minor: u32,
    /// The compatibility profile was asked for.
    pub compatibility: bool,
    /// `EGL_CONTEXT_OPENGL_DEBUG`.
    pub debug: bool,
    /// `EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE`.
    pub forward_compatible: bool,
    /// `EGL_CONTEXT_OPENGL_ROBUST_ACCESS`: out-of-bounds accesses are defined.
    pub robust_access: bool,
    /// The reset notification strategy is `EGL_LOSE_CONTEXT_ON_RESET`.
    pub lose_context_on_reset: bool,
    /// `EGL_CONTEXT_OPENGL_NO_ERROR_KHR`: validation may be skipped.
    pub no_error: bool,
    /// `EGL_CONTEXT_RELEASE_BEHAVIOR_NONE_KHR`: no flush when the context stops being current.
    pub release_behavior_none: bool,
}

/// The shape of a window-system drawable, from its EGL config and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DrawableDesc {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bits of red.
    pub red: u8,
    /// Bits of green.
    pub green: u8,
    /// Bits of blue.
    pub blue: u8,
    /// Bits of alpha, 0 when the config has none.
    pub alpha: u8,
    /// Bits of depth: 0, 16, 24 or 32.
    pub depth: u8,
    /// Bits of stencil: 0 or 8.
    pub stencil: u8,
    /// Samples per pixel; 0 means not multisampled.
    pub samples: u8,
    /// The surface was made with `EGL_GL_COLORSPACE_SRGB`.
    pub srgb: bool,
    /// Rendering goes to the back buffer.
    pub double_buffered: bool,
}

/// A finished frame on its way to a window that only this process can show in.
#[derive(Debug, Clone, Copy)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Alpha means nothing: every pixel is opaque.
    pub opaque: bool,
    /// Refreshes of the display that the frame lasts at least.
    pub interval: i32,
}

/// A window of the window system, as whoever binds GL to it sees it. Called from whatever thread has the drawable current.
pub trait NativeWindow: Send + Sync {
    /// The window's size in pixels as of now, after everything that the program has asked of its window so far; `None` when
    /// the window is gone. Asked once a frame.
    fn size(&self) -> Option<[u32; 2]>;

    /// Where a backend finds the window, with a number of 0; `None` when only this process can show in it.
    fn address(&self) -> Option<WindowDesc>;

    /// Says that of the next frame only these rectangles differ from the last one: left and lower edge, width and height.
    fn damage(&self, _areas: &[[i32; 4]]) {}

    /// Shows a frame in place of the backend; false when the window is gone. `read` fills memory of the right size with the
    /// pixels: rows of RGBA pixels of four bytes, without gaps, the lowest row first. Where it answers false there is nothing
    /// to show.
    fn show(&self, picture: &Picture, read: &mut dyn FnMut(&mut [u8]) -> bool) -> bool;
}

/// One message of `GL_KHR_debug` on its way to the application's callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebugMessage<'a> {
    /// `GL_DEBUG_SOURCE_*`.
    pub source: u32,
    /// `GL_DEBUG_TYPE_*`.
    pub type_: u32,
    /// The message's number within its source and type.
    pub id: u32,
    /// `GL_DEBUG_SEVERITY_*`.
    pub severity: u32,
    /// The text, without terminator.
    pub text: &'a str,
}

/// One message of the debug log, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedMessage {
    /// `GL_DEBUG_SOURCE_*`.
    pub source: u32,
    /// `GL_DEBUG_TYPE_*`.
    pub type_: u32,
    /// The message's number within its source and type.
    pub id: u32,
    /// `GL_DEBUG_SEVERITY_*`.
    pub severity: u32,
    /// The text, without terminator.
    pub text: String,
}

/// The function that receives debug messages.
pub type DebugCallback = Box<dyn FnMut(&DebugMessage<'_>) + Send>;

impl fmt::Display for DebugMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised_values_scale_to_the_integer_range() {
        let v = Values::normalized([1.0f32, -1.0, 0.0, 0.5]);
        assert_eq!(v.to_i32(0), i32::MAX);
        assert_eq!(v.to_i32(1), -i32::MAX);
        assert_eq!(v.to_i32(2), 0);
        assert_eq!(v.to_f32(3), 0.5);
        assert_eq!(v.to_i64(0), i64::MAX);
    }

    #[test]
    fn floats_round_and_large_integers_clamp() {
        assert_eq!(Values::float(2.5f32).to_i32(0), 3);
        assert_eq!(Values::float(-1.2f32).to_i32(0), -1);
        assert_eq!(Values::int(1i64 << 40).to_i32(0), i32::MAX);
        assert_eq!(Values::int(1i64 << 40).to_i64(0), 1 << 40);
        assert_eq!(Values::int(7).to_i32(1), 0);
    }

    #[test]
    fn masks_keep_their_bits() {
        assert_eq!(Values::bits(u32::MAX).to_i32(0), -1);
        assert_eq!(Values::bits(u32::MAX).to_i64(0), 0xffff_ffff);
    }

    #[test]
    fn border_colours_keep_both_views() {
        let ints = [1, -2, 3, 4];
        let p = Params { data: ParamData::PureInts(&ints), scalar: false };
        let v = Values::Quad(p.quad().expect("four values"));
        assert_eq!((0..4).map(|i| v.to_pure(i) as i32).collect::<Vec<_>>(), ints);
        let colour = [i32::MAX, 0, 0, i32::MIN];
        let p = Params { data: ParamData::Ints(&colour), scalar: false };
        let q = p.quad().expect("four values");
        assert_eq!(q.floats, [1.0, 0.0, 0.0, -1.0]);
        assert_eq!(Values::Quad(q).to_i32(0), i32::MAX);
        assert!(Params { data: ParamData::Ints(&colour[..1]), scalar: true }.quad().is_none());
    }
}
