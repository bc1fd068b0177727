//! Whole images between the application's memory and tight texels in a storage format.

use super::base::{from_storage, rearrange, to_storage, Source};
use super::client::ClientFormat;
use super::codec::{decode_row, encode_row, Row};
use super::shape::{Components, Element, Layout, Shape};
use super::store::{ImageAddress, PixelStore};
use crate::format::Base;
use half::f16;
use half::slice::HalfFloatSliceExt as _;
use mgpipe_types::Format;

/// What a row of source pixels needs on its way to the destination.
enum Plan {
    /// Nothing.
    Copy,
    /// Each byte of a destination pixel is a byte of the source pixel or a constant.
    Bytes(BytePlan),
    /// Depth and stencil change places in their word: a rotation to the left by so many bits.
    Rotate(u32),
    /// Floats become half floats.
    Halve,
    /// Half floats become floats.
    Widen,
    /// Through the intermediate form.
    Convert,
}

impl Plan {
    /// Runs a plan other than [`Plan::Convert`] on a row. False for that one.
    fn run(&self, source: &[u8], dest: &mut [u8]) -> bool {
        match self {
            Plan::Copy => dest.copy_from_slice(source),
            Plan::Bytes(bytes) => bytes.run(source, dest),
            Plan::Rotate(bits) => {
                each::<4, 4>(source, dest, |word| u32::from_le_bytes(word).rotate_left(*bits).to_le_bytes());
            }
            Plan::Halve => halve(source, dest),
            Plan::Widen => widen(source, dest),
            Plan::Convert => return false,
        }
        true
    }
}

/// Calls `pixel` for each pixel of `S` bytes, which becomes one of `D` bytes. The constant sizes let it become vector code.
#[inline(always)]
fn each<const S: usize, const D: usize>(source: &[u8], dest: &mut [u8], pixel: impl Fn([u8; S]) -> [u8; D]) {
    for (s, d) in source.chunks_exact(S).zip(dest.chunks_exact_mut(D)) {
        if let Ok(s) = <[u8; S]>::try_from(s) {
            d.copy_from_slice(&pixel(s));
        }
    }
}

/// Floats at a time on their way to and from half floats; the processor converts eight with one instruction.
const LANES: usize = 64;

fn halve(source: &[u8], dest: &mut [u8]) {
    let (mut floats, mut halves) = ([0.0f32; LANES], [f16::ZERO; LANES]);
    for (s, d) in source.chunks(LANES * 4).zip(dest.chunks_mut(LANES * 2)) {
        let n = d.len() / 2;
        bytemuck::cast_slice_mut::<f32, u8>(&mut floats)[..s.len()].copy_from_slice(s);
        halves[..n].convert_from_f32_slice(&floats[..n]);
        for (to, half) in d.chunks_exact_mut(2).zip(&halves) {
            to.copy_from_slice(&half.to_le_bytes());
        }
    }
}

fn widen(source: &[u8], dest: &mut [u8]) {
    let (mut floats, mut halves) = ([0.0f32; LANES], [f16::ZERO; LANES]);
    for (s, d) in source.chunks(LANES * 2).zip(dest.chunks_mut(LANES * 4)) {
        let n = s.len() / 2;
        for (half, from) in halves.iter_mut().zip(s.chunks_exact(2)) {
            *half = f16::from_le_bytes([from[0], from[1]]);
        }
        halves[..n].convert_to_f32_slice(&mut floats[..n]);
        d.copy_from_slice(&bytemuck::cast_slice::<f32, u8>(&floats)[..d.len()]);
    }
}

/// Byte permutation of a pixel.
struct BytePlan {
    source_bytes: usize,
    /// For each destination byte: source byte (0 to 3), or 4 + n for constant n of `constants`.
    take: [u8; 4],
    dest_bytes: usize,
    constants: [u8; 2],
}

impl BytePlan {
    fn run(&self, source: &[u8], dest: &mut [u8]) {
        let mut table = [0u8; 6];
        table[4] = self.constants[0];
        table[5] = self.constants[1];
        let one = self.constants[1];
        let take = self.take.map(|i| (i as usize).min(5));
        // What programs ask for most gets loops whose permutation is constant.
        match (self.source_bytes, self.dest_bytes, take) {
            (4, 4, [2, 1, 0, 3]) => each::<4, 4>(source, dest, |s| [s[2], s[1], s[0], s[3]]),
            (4, 4, [2, 1, 0, 5]) => each::<4, 4>(source, dest, |s| [s[2], s[1], s[0], one]),
            (4, 4, [0, 1, 2, 5]) => each::<4, 4>(source, dest, |s| [s[0], s[1], s[2], one]),
            (3, 4, [0, 1, 2, 5]) => each::<3, 4>(source, dest, |s| [s[0], s[1], s[2], one]),
            (3, 4, [2, 1, 0, 5]) => each::<3, 4>(source, dest, |s| [s[2], s[1], s[0], one]),
            (4, 3, [0, 1, 2, _]) => each::<4, 3>(source, dest, |s| [s[0], s[1], s[2]]),
            (4, 3, [2, 1, 0, _]) => each::<4, 3>(source, dest, |s| [s[2], s[1], s[0]]),
            (3, 4, take) => each::<3, 4>(source, dest, |s| {
                let table = [s[0], s[1], s[2], 0, table[4], table[5]];
                take.map(|i| table[i])
            }),
            (4, 4, take) => each::<4, 4>(source, dest, |s| {
                let table = [s[0], s[1], s[2], s[3], table[4], table[5]];
                take.map(|i| table[i])
            }),
            (n, m, take) => {
                for (s, d) in source.chunks_exact(n.clamp(1, 4)).zip(dest.chunks_exact_mut(m.clamp(1, 4))) {
                    table[..s.len()].copy_from_slice(s);
                    for (to, &i) in d.iter_mut().zip(&take) {
                        *to = table[i];
                    }
                }
            }
        }
    }
}

/// The plan from source pixels to destination pixels; `sources` says what each logical component becomes between them.
fn plan(source: &Shape, swap: bool, dest: &Shape, sources: [Source; 4]) -> Plan {
    if swap && (source.element_bytes() > 1 || dest.element_bytes() > 1) {
        return Plan::Convert;
    }
    let (source, dest) = (source.canonical(), dest.canonical());
    let passes = |component: u8| sources[component as usize & 3] == Source::Component(component);
    if source == dest && (dest.components != Components::Color || dest.elements().iter().all(|&c| passes(c))) {
        return Plan::Copy;
    }
    match (source.layout, dest.layout) {
        (Layout::D24S8, Layout::S8D24) if source.components == dest.components => return Plan::Rotate(24),
        (Layout::S8D24, Layout::D24S8) if source.components == dest.components => return Plan::Rotate(8),
        (Layout::Elements(from), Layout::Elements(to))
            if source.components == Components::Color
                && dest.components == Components::Color
                && source.elements() == dest.elements()
                && dest.elements().iter().all(|&c| passes(c)) =>
        {
            match (from, to) {
                (Element::F32, Element::F16) => return Plan::Halve,
                (Element::F16, Element::F32) => return Plan::Widen,
                _ => {}
            }
        }
        _ => {}
    }
    let bytes = Layout::Elements(Element::U8);
    if source.components != Components::Color
        || dest.components != Components::Color
        || source.integer != dest.integer
        || source.layout != bytes
        || dest.layout != bytes
    {
        return Plan::Convert;
    }
    let one = if dest.integer { 1 } else { 255 };
    let find = |logical: u8| match source.elements().iter().position(|&c| c == logical) {
        Some(at) => at as u8,
        None if logical == 3 => 5,
        None => 4,
    };
    let mut take = [4; 4];
    for (slot, &component) in take.iter_mut().zip(dest.elements()) {
        *slot = match sources[component as usize & 3] {
            Source::Component(logical) => find(logical),
            Source::Zero => 4,
            Source::One => 5,
        };
    }
    Plan::Bytes(BytePlan {
        source_bytes: source.count as usize,
        take,
        dest_bytes: dest.count as usize,
        constants: [0, one],
    })
}

/// An upload worked out: which bytes of the application's memory make which rows of texels.
pub(crate) struct Unpacker {
    client: ClientFormat,
    swap: bool,
    dest: Shape,
    sources: [Source; 4],
    plan: Plan,
    /// Where the rows lie in the application's memory.
    pub(crate) address: ImageAddress,
    size: [u32; 3],
    /// Bytes of a row of texels.
    pub(crate) row_bytes: usize,
}

impl Unpacker {
    /// Works out an upload. `None` when `storage` is a block format, or when the numbers overflow an address.
    pub(crate) fn new(
        client: &ClientFormat,
        store: &PixelStore,
        dims: u32,
        size: [u32; 3],
        storage: Format,
        base: Base,
    ) -> Option<Unpacker> {
        let address = store.address(dims, size, client)?;
        let dest = Shape::of_storage(storage)?;
        let mut sources = if base.is_color() { to_storage(base) } else { to_storage(Base::Rgba) };
        if client.luminance {
            // A luminance fills red, green and blue (GL 3.3 compatibility, table 3.19).
            for source in &mut sources {
                if matches!(source, Source::Component(1 | 2)) {
                    *source = Source::Component(0);
                }
            }
        }
        let plan = plan(&client.shape, store.swap_bytes, &dest, sources);
        let row_bytes = (size[0] as usize).checked_mul(dest.pixel_bytes())?;
        Some(Unpacker { client: *client, swap: store.swap_bytes, dest, sources, plan, address, size, row_bytes })
    }

    /// Whether rows in the application's memory are rows of texels.
    pub(crate) fn is_copy(&self) -> bool {
        matches!(self.plan, Plan::Copy)
    }

    /// Makes a row of texels of a row of the application's.
    pub(crate) fn row(&self, source: &[u8], dest: &mut [u8]) {
        if !self.plan.run(source, dest) {
            let mut row = decode_row(&self.client.shape, source, self.swap);
            rearrange(&mut row, self.sources);
            encode_row(&self.dest, &row, dest, false);
        }
    }

    /// Bytes of all texels. `None` when `data` ends before the last pixel.
    pub(crate) fn len_of(&self, data: &[u8]) -> Option<usize> {
        let total = self.row_bytes.checked_mul(self.size[1] as usize)?.checked_mul(self.size[2] as usize)?;
        (self.address.end <= data.len() && total <= isize::MAX as usize).then_some(total)
    }

    /// Writes all texels, tight, into as many bytes as [`Unpacker::len_of`] said for the same data.
    pub(crate) fn write(&self, data: &[u8], out: &mut [u8]) {
        if self.is_copy() && !out.is_empty() && is_tight(&self.address, self.size) {
            if let Some(source) = data.get(self.address.start..self.address.start + out.len()) {
                out.copy_from_slice(source);
            }
            return;
        }
        for_each_row(&self.address, self.size, self.row_bytes, |at, to| {
            self.row(&data[at..at + self.address.row_bytes], &mut out[to..to + self.row_bytes]);
        });
    }

    /// All texels, tight. `None` when `data` ends before the last pixel, or when there is not enough memory.
    fn all(&self, data: &[u8]) -> Option<Vec<u8>> {
        let total = self.len_of(data)?;
        let mut out = Vec::new();
        out.try_reserve_exact(total).ok()?;
        if self.is_copy() && total > 0 && is_tight(&self.address, self.size) {
            out.extend_from_slice(data.get(self.address.start..self.address.start + total)?);
            return Some(out);
        }
        out.resize(total, 0);
        self.write(data, &mut out);
        Some(out)
    }
}

/// Converts an image in the application's memory to tight texels of a storage format.
///
/// `data` starts at the application's pointer and reaches at least to [`ImageAddress::end`]. `None` when it does not, or
/// when `storage` is a block format, or when the result would not fit memory.
pub fn unpack_image(
    client: &ClientFormat,
    store: &PixelStore,
    dims: u32,
    size: [u32; 3],
    data: &[u8],
    storage: Format,
    base: Base,
) -> Option<Vec<u8>> {
    Unpacker::new(client, store, dims, size, storage, base)?.all(data)
}

/// How colours change between storage and the application's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PackOptions {
    /// Clamp colours to [0, 1] (`GL_CLAMP_READ_COLOR`).
    pub clamp: bool,
    /// `GL_LUMINANCE` is the sum of red, green and blue (`glReadPixels`) instead of red (`glGetTexImage`).
    pub luminance_is_sum: bool,
}

/// Whether [`pack_image`] would copy rows as they are, so that a device can write them where they belong.
pub(crate) fn packs_as_stored(
    client: &ClientFormat,
    store: &PixelStore,
    storage: Format,
    base: Base,
    options: PackOptions,
) -> bool {
    let sources = if base.is_color() { from_storage(base) } else { from_storage(Base::Rgba) };
    let plan = |source: Shape| plan(&source, store.swap_bytes, &client.shape, sources);
    !options.clamp && !client.luminance && Shape::of_storage(storage).map(plan).is_some_and(|p| matches!(p, Plan::Copy))
}

/// Converts tight texels of a storage format into the application's memory. Bytes between rows stay as they are.
///
/// False when `out` ends before the last pixel, or `texels` before the last texel; nothing is written then.
pub fn pack_image(
    client: &ClientFormat,
    store: &PixelStore,
    dims: u32,
    size: [u32; 3],
    texels: &[u8],
    storage: Format,
    base: Base,
    options: PackOptions,
    out: &mut [u8],
) -> bool {
    let (Some(address), Some(source)) = (store.address(dims, size, client), Shape::of_storage(storage)) else {
        return false;
    };
    let sources = if base.is_color() { from_storage(base) } else { from_storage(Base::Rgba) };
    let row_bytes = size[0] as usize * source.pixel_bytes();
    let total = row_bytes.checked_mul(size[1] as usize).and_then(|n| n.checked_mul(size[2] as usize));
    if address.end > out.len() || total.is_none_or(|total| total > texels.len()) {
        return false;
    }
    let plan = if options.clamp || client.luminance {
        Plan::Convert
    } else {
        plan(&source, store.swap_bytes, &client.shape, sources)
    };
    for_each_row(&address, size, row_bytes, |at, from| {
        let source_row = &texels[from..from + row_bytes];
        let dest = &mut out[at..at + address.row_bytes];
        if !plan.run(source_row, dest) {
            let mut row = decode_row(&source, source_row, false);
            rearrange(&mut row, sources);
            adjust(&mut row, client, options);
            encode_row(&client.shape, &row, dest, store.swap_bytes);
        }
    });
    true
}

fn adjust(row: &mut Row, client: &ClientFormat, options: PackOptions) {
    if let Row::Color(pixels) = row {
        for pixel in pixels {
            if options.clamp {
                *pixel = pixel.map(|c| c.clamp(0.0, 1.0));
            }
            if client.luminance && options.luminance_is_sum {
                pixel[0] += pixel[1] + pixel[2];
            }
        }
    }
}

/// Whether the rows of an image lie close together in the application's memory.
pub(super) fn is_tight(address: &ImageAddress, size: [u32; 3]) -> bool {
    (size[1] <= 1 || address.row_stride == address.row_bytes)
        && (size[2] <= 1 || address.image_stride == address.row_bytes * size[1] as usize)
}

/// Calls `row` with the byte of each row in the application's memory and in the tight image.
fn for_each_row(address: &ImageAddress, size: [u32; 3], tight_row: usize, mut row: impl FnMut(usize, usize)) {
    if address.end == 0 {
        return;
    }
    let mut tight = 0;
    for image in 0..size[2] as usize {
        for y in 0..size[1] as usize {
            row(address.start + image * address.image_stride + y * address.row_stride, tight);
            tight += tight_row;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::gl;

    fn client(format: u32, type_: u32) -> ClientFormat {
        ClientFormat::new(format, type_, true).expect("legal")
    }

    fn tight() -> PixelStore {
        PixelStore { alignment: 1, ..PixelStore::default() }
    }

    fn one(format: u32, type_: u32, data: &[u8], storage: Format, base: Base) -> Vec<u8> {
        unpack_image(&client(format, type_), &tight(), 2, [1, 1, 1], data, storage, base).expect("converts")
    }

    #[test]
    fn bgra_words_land_in_rgba_bytes() {
        // 0xAARRGGBB as UNSIGNED_INT_8_8_8_8_REV with BGRA.
        let word = 0x80102030u32.to_le_bytes();
        let rgba = [0x10, 0x20, 0x30, 0x80];
        assert_eq!(one(gl::BGRA, gl::UNSIGNED_INT_8_8_8_8_REV, &word, Format::RGBA8_UNORM, Base::Rgba), rgba);
        assert_eq!(one(gl::BGRA, gl::UNSIGNED_BYTE, &word, Format::RGBA8_UNORM, Base::Rgba), rgba);
        // 0xBBGGRRAA as UNSIGNED_INT_8_8_8_8 with BGRA.
        let word = 0x30201080u32.to_le_bytes();
        assert_eq!(one(gl::BGRA, gl::UNSIGNED_INT_8_8_8_8, &word, Format::RGBA8_UNORM, Base::Rgba), rgba);
    }

    #[test]
    fn missing_components_get_their_defaults() {
        assert_eq!(one(gl::RGBA, gl::UNSIGNED_BYTE, &[1, 2, 3, 4], Format::RGBA8_UNORM, Base::Rgb), [1, 2, 3, 255]);
        assert_eq!(one(gl::RED, gl::UNSIGNED_BYTE, &[9], Format::RGBA8_UNORM, Base::Rgba), [9, 0, 0, 255]);
        assert_eq!(one(gl::RGB_INTEGER, gl::BYTE, &[1, 255, 3], Format::RGBA8_SINT, Base::Rgb), [1, 255, 3, 1]);
        assert_eq!(
            one(crate::format::LUMINANCE_ALPHA, gl::UNSIGNED_BYTE, &[7, 8], Format::RGBA8_UNORM, Base::Rgba),
            [7, 7, 7, 8]
        );
        assert_eq!(one(gl::ALPHA, gl::UNSIGNED_BYTE, &[7], Format::R8_UNORM, Base::Alpha), [7]);
    }

    #[test]
    fn depth_and_stencil_words_change_places() {
        let word = 0x1234_5678u32.to_le_bytes();
        let stored = one(gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, &word, Format::D24_UNORM_S8, Base::DepthStencil);
        assert_eq!(stored, 0x78_123456u32.to_le_bytes());
        let mut back = [0; 4];
        let c = client(gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8);
        assert!(pack_image(
            &c,
            &tight(),
            2,
            [1, 1, 1],
            &stored,
            Format::D24_UNORM_S8,
            Base::DepthStencil,
            PackOptions::default(),
            &mut back
        ));
        assert_eq!(back, word);
    }

    #[test]
    fn bytes_between_rows_are_left_alone() {
        let c = client(gl::RGB, gl::UNSIGNED_BYTE);
        let mut out = [0xee; 4 + 3];
        let texels = [1, 2, 3, 4, 5, 6, 7, 8];
        assert!(pack_image(
            &c,
            &PixelStore::default(),
            2,
            [1, 2, 1],
            &texels,
            Format::RGBA8_UNORM,
            Base::Rgba,
            PackOptions::default(),
            &mut out
        ));
        assert_eq!(out, [1, 2, 3, 0xee, 5, 6, 7]);
        assert!(!pack_image(
            &c,
            &PixelStore::default(),
            2,
            [1, 2, 1],
            &texels,
            Format::RGBA8_UNORM,
            Base::Rgba,
            PackOptions::default(),
            &mut out[..6]
        ));
    }

    #[test]
    fn short_cuts_give_what_the_long_way_gives() {
        let data: Vec<u8> = (0..96u32).map(|i| (i * 41 % 64) as u8).collect();
        let pairs = [
            (gl::RGB, gl::UNSIGNED_BYTE),
            (gl::BGR, gl::UNSIGNED_BYTE),
            (gl::RGBA, gl::UNSIGNED_BYTE),
            (gl::BGRA, gl::UNSIGNED_BYTE),
            (gl::RGBA, gl::FLOAT),
            (gl::RGBA, gl::HALF_FLOAT),
            (gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8),
        ];
        let storages = [
            (Format::RGBA8_UNORM, Base::Rgba),
            (Format::RGBA8_UNORM, Base::Rgb),
            (Format::RGBA16_FLOAT, Base::Rgba),
            (Format::RGBA32_FLOAT, Base::Rgba),
            (Format::D24_UNORM_S8, Base::DepthStencil),
        ];
        let mut n_short = 0;
        for (format, type_) in pairs {
            for (storage, base) in storages {
                let c = client(format, type_);
                let pixels = (data.len() / c.pixel_bytes()) as u32;
                if (c.shape.components == Components::Color) != base.is_color() {
                    continue;
                }
                let mut unpacker = Unpacker::new(&c, &tight(), 2, [pixels, 1, 1], storage, base).expect("fits");
                let short = unpacker.all(&data).expect("converts");
                n_short += usize::from(!matches!(unpacker.plan, Plan::Convert));
                unpacker.plan = Plan::Convert;
                assert_eq!(short, unpacker.all(&data).expect("converts"), "{c:?} to {storage:?}");
                // And back, by both ways.
                let mut back = [vec![0; data.len()], vec![0; data.len()]];
                let sources = if base.is_color() { from_storage(base) } else { from_storage(Base::Rgba) };
                let source = Shape::of_storage(storage).expect("no blocks");
                let plan = plan(&source, false, &c.shape, sources);
                let done = plan.run(&short, &mut back[0]);
                let mut row = decode_row(&source, &short, false);
                rearrange(&mut row, sources);
                encode_row(&c.shape, &row, &mut back[1], false);
                assert!(!done || back[0] == back[1], "{storage:?} to {c:?}");
            }
        }
        assert!(n_short >= 13, "{n_short}");
    }

    #[test]
    fn swapped_shorts_are_swapped() {
        let store = PixelStore { swap_bytes: true, ..tight() };
        let c = client(gl::RED, gl::UNSIGNED_SHORT);
        let out = unpack_image(&c, &store, 2, [1, 1, 1], &[0x12, 0x34], Format::R16_UNORM, Base::Red);
        assert_eq!(out.as_deref(), Some(&0x1234u16.to_le_bytes()[..]));
    }

    #[test]
    fn a_short_source_is_refused() {
        let c = client(gl::RGBA, gl::UNSIGNED_BYTE);
        assert!(unpack_image(&c, &tight(), 2, [2, 2, 1], &[0; 15], Format::RGBA8_UNORM, Base::Rgba).is_none());
    }
}
