//! Texture targets: which commands take which, and how extents shrink from level to level.

use mgpipe_types::{gl, Target};

/// Extent of an image in GL terms: layers are the height of 1D arrays and the depth of 2D arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extent {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) depth: u32,
}

impl Extent {
    pub(crate) fn new(width: u32, height: u32, depth: u32) -> Extent {
        Extent { width, height, depth }
    }

    /// Whether there is no texel.
    pub(crate) fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// The three numbers.
    pub(crate) fn sizes(&self) -> [u32; 3] {
        [self.width, self.height, self.depth]
    }
}

/// What an image command addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ImageTarget {
    /// Target of the texture object.
    pub(crate) target: Target,
    /// Face of a cube map, else 0.
    pub(crate) face: usize,
    /// A proxy target: nothing but the question whether it would fit.
    pub(crate) proxy: bool,
}

/// Number of faces that are images of their own.
pub(crate) fn face_count(target: Target) -> usize {
    if target == Target::TexCube {
        6
    } else {
        1
    }
}

/// The image that a `glTexImage{dims}D`-like command names; `None` for a target that the command does not take.
pub(crate) fn image_target(dims: u32, target: u32) -> Option<ImageTarget> {
    let plain = |target| Some(ImageTarget { target, face: 0, proxy: false });
    let proxy = |target| Some(ImageTarget { target, face: 0, proxy: true });
    match (dims, target) {
        (1, gl::TEXTURE_1D) => plain(Target::Tex1D),
        (1, gl::PROXY_TEXTURE_1D) => proxy(Target::Tex1D),
        (2, gl::TEXTURE_2D) => plain(Target::Tex2D),
        (2, gl::PROXY_TEXTURE_2D) => proxy(Target::Tex2D),
        (2, gl::TEXTURE_1D_ARRAY) => plain(Target::Tex1DArray),
        (2, gl::PROXY_TEXTURE_1D_ARRAY) => proxy(Target::Tex1DArray),
        (2, gl::TEXTURE_RECTANGLE) => plain(Target::TexRect),
        (2, gl::PROXY_TEXTURE_RECTANGLE) => proxy(Target::TexRect),
        (2, gl::TEXTURE_CUBE_MAP_POSITIVE_X..=gl::TEXTURE_CUBE_MAP_NEGATIVE_Z) => Some(ImageTarget {
            target: Target::TexCube,
            face: (target - gl::TEXTURE_CUBE_MAP_POSITIVE_X) as usize,
            proxy: false,
        }),
        (2, gl::PROXY_TEXTURE_CUBE_MAP) => proxy(Target::TexCube),
        (3, gl::TEXTURE_3D) => plain(Target::Tex3D),
        (3, gl::PROXY_TEXTURE_3D) => proxy(Target::Tex3D),
        (3, gl::TEXTURE_2D_ARRAY) => plain(Target::Tex2DArray),
        (3, gl::PROXY_TEXTURE_2D_ARRAY) => proxy(Target::Tex2DArray),
        _ => None,
    }
}

/// The image that a query or read-back names: any dimensionality.
pub(crate) fn any_image_target(target: u32) -> Option<ImageTarget> {
    match target {
        gl::TEXTURE_2D_MULTISAMPLE | gl::PROXY_TEXTURE_2D_MULTISAMPLE => {
            Some(ImageTarget { target: Target::Tex2DMs, face: 0, proxy: target == gl::PROXY_TEXTURE_2D_MULTISAMPLE })
        }
        gl::TEXTURE_2D_MULTISAMPLE_ARRAY | gl::PROXY_TEXTURE_2D_MULTISAMPLE_ARRAY => Some(ImageTarget {
            target: Target::Tex2DMsArray,
            face: 0,
            proxy: target == gl::PROXY_TEXTURE_2D_MULTISAMPLE_ARRAY,
        }),
        gl::TEXTURE_BUFFER => Some(ImageTarget { target: Target::TexBuffer, face: 0, proxy: false }),
        _ => (1..=3).find_map(|dims| image_target(dims, target)),
    }
}

/// The texture target that a bind or parameter command names.
pub(crate) fn bind_target(target: u32) -> Option<Target> {
    match target {
        gl::TEXTURE_1D => Some(Target::Tex1D),
        gl::TEXTURE_2D => Some(Target::Tex2D),
        gl::TEXTURE_3D => Some(Target::Tex3D),
        gl::TEXTURE_1D_ARRAY => Some(Target::Tex1DArray),
        gl::TEXTURE_2D_ARRAY => Some(Target::Tex2DArray),
        gl::TEXTURE_RECTANGLE => Some(Target::TexRect),
        gl::TEXTURE_CUBE_MAP => Some(Target::TexCube),
        gl::TEXTURE_2D_MULTISAMPLE => Some(Target::Tex2DMs),
        gl::TEXTURE_2D_MULTISAMPLE_ARRAY => Some(Target::Tex2DMsArray),
        gl::TEXTURE_BUFFER => Some(Target::TexBuffer),
        _ => None,
    }
}

/// Whether textures of the target have one level only.
pub(crate) fn single_level(target: Target) -> bool {
    matches!(target, Target::TexRect | Target::TexBuffer | Target::Tex2DMs | Target::Tex2DMsArray)
}

/// Whether textures of the target are multisampled.
pub(crate) fn is_multisample(target: Target) -> bool {
    matches!(target, Target::Tex2DMs | Target::Tex2DMsArray)
}

/// Which of width, height and depth shrink from level to level; the others are layers or constant.
pub(crate) fn shrinking(target: Target) -> [bool; 3] {
    match target {
        Target::Tex1D | Target::Tex1DArray => [true, false, false],
        Target::Tex3D => [true, true, true],
        _ => [true, true, false],
    }
}

/// Extent of a level from that of level 0.
pub(crate) fn mip_extent(target: Target, level0: Extent, level: u32) -> Extent {
    let [w, h, d] = shrinking(target);
    let at = |size: u32, shrinks: bool| {
        if shrinks && size != 0 {
            size.checked_shr(level).unwrap_or(0).max(1)
        } else {
            size
        }
    };
    Extent { width: at(level0.width, w), height: at(level0.height, h), depth: at(level0.depth, d) }
}

/// Index of the smallest level of a full chain.
pub(crate) fn last_level(target: Target, level0: Extent) -> u32 {
    let largest = level0
        .sizes()
        .into_iter()
        .zip(shrinking(target))
        .filter_map(|(size, shrinks)| shrinks.then_some(size))
        .max()
        .unwrap_or(1);
    largest.max(1).ilog2()
}

/// Number of layers of an extent.
pub(crate) fn layer_count(target: Target, extent: Extent) -> u32 {
    match target {
        Target::Tex1DArray => extent.height,
        Target::Tex2DArray | Target::Tex2DMsArray | Target::Tex3D | Target::TexCubeArray => extent.depth,
        Target::TexCube => 6,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_shrink_where_the_target_says() {
        let e = Extent::new(8, 5, 3);
        assert_eq!(mip_extent(Target::Tex3D, e, 1), Extent::new(4, 2, 1));
        assert_eq!(mip_extent(Target::Tex2DArray, e, 3), Extent::new(1, 1, 3));
        assert_eq!(mip_extent(Target::Tex1DArray, e, 2), Extent::new(2, 5, 3));
        assert_eq!(last_level(Target::Tex2DArray, Extent::new(8, 16, 300)), 4);
        assert_eq!(last_level(Target::Tex1DArray, Extent::new(8, 100, 1)), 3);
    }

    #[test]
    fn commands_take_their_own_targets_only() {
        assert!(image_target(2, gl::TEXTURE_3D).is_none());
        assert!(image_target(2, gl::TEXTURE_CUBE_MAP).is_none());
        assert_eq!(image_target(2, gl::TEXTURE_CUBE_MAP_NEGATIVE_Z).map(|t| t.face), Some(5));
        assert!(bind_target(gl::TEXTURE_CUBE_MAP_POSITIVE_X).is_none());
    }
}
