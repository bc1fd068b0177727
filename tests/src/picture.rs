//! RGBA8 pictures: storage, PNG files, comparison by channel difference and by structural similarity (SSIM).

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use anyhow::{bail, Context as _, Result};
use serde::{Deserialize, Serialize};

/// An RGBA8 picture whose first row is the bottom one, as GL reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// `width * height * 4` bytes, bottom row first.
    pub data: Vec<u8>,
}

/// How far a picture may be from its reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// A pixel is bad when one of its channels differs by more than this.
    pub channel: u8,
    /// The share of bad pixels that is still a match, 0 to 1.
    pub bad_share: f64,
    /// The structural similarity that the pictures must reach, 0 to 1.
    pub ssim: f64,
}

impl Tolerance {
    /// For pictures without rasterised edges or filtering: every pixel within one step.
    pub const EXACT: Self = Self { channel: 1, bad_share: 0.0, ssim: 0.999 };
    /// For rasterised pictures: edges may fall one pixel to either side (GL leaves ties and sub-pixel precision open).
    pub const EDGES: Self = Self { channel: 3, bad_share: 0.01, ssim: 0.98 };
    /// For lines, points and multisampled edges, where GL allows more freedom.
    pub const LOOSE: Self = Self { channel: 16, bad_share: 0.05, ssim: 0.90 };
}

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The largest difference of one channel.
    pub max_channel: u8,
    /// The share of bad pixels.
    pub bad_share: f64,
    /// Mean structural similarity of the colour channels' luma, and of alpha; the smaller one.
    pub ssim: f64,
}

impl Picture {
    /// A picture from GL's bytes; panics if the size does not fit (a fault of the scenario).
    pub fn new(width: usize, height: usize, data: Vec<u8>) -> Self {
        assert_eq!(data.len(), width * height * 4, "picture size");
        Self { width, height, data }
    }

    /// The pixel at GL coordinates (`y` counts from the bottom).
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 4] {
        let i = (y * self.width + x) * 4;
        [self.data[i], self.data[i + 1], self.data[i + 2], self.data[i + 3]]
    }

    /// How many pixels satisfy `predicate`.
    pub fn count(&self, predicate: impl Fn([u8; 4]) -> bool) -> usize {
        self.data.chunks_exact(4).filter(|p| predicate([p[0], p[1], p[2], p[3]])).count()
    }

    /// Writes a PNG, top row first.
    pub fn save(&self, path: &Path) -> Result<()> {
        let file = File::create(path).with_context(|| format!("{}", path.display()))?;
        let mut encoder = png::Encoder::new(BufWriter::new(file), self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let rows: Vec<u8> = self.data.chunks_exact(self.width * 4).rev().flatten().copied().collect();
        encoder.write_header()?.write_image_data(&rows)?;
        Ok(())
    }

    /// Reads an RGBA8 or RGB8 PNG.
    pub fn load(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("{}", path.display()))?;
        let mut reader = png::Decoder::new(BufReader::new(file)).read_info()?;
        let mut buffer = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut buffer)?;
        let (width, height) = (info.width as usize, info.height as usize);
        let rgba: Vec<u8> = match info.color_type {
            png::ColorType::Rgba => buffer[..width * height * 4].to_vec(),
            png::ColorType::Rgb => {
                buffer[..width * height * 3].chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect()
            }
            other => bail!("{}: colour type {other:?} is not read here", path.display()),
        };
        let data = rgba.chunks_exact(width * 4).rev().flatten().copied().collect();
        Ok(Self { width, height, data })
    }

    /// Compares two pictures of the same size.
    pub fn difference(&self, reference: &Self, channel: u8) -> Result<Difference> {
        if (self.width, self.height) != (reference.width, reference.height) {
            bail!(
                "the picture is {}x{}, the reference {}x{}",
                self.width,
                self.height,
                reference.width,
                reference.height
            );
        }
        let mut max_channel = 0;
        let mut bad = 0usize;
        for (a, b) in self.data.chunks_exact(4).zip(reference.data.chunks_exact(4)) {
            let worst = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
            max_channel = max_channel.max(worst);
            bad += usize::from(worst > channel);
        }
        let luma = |p: &[u8]| 0.299 * f64::from(p[0]) + 0.587 * f64::from(p[1]) + 0.114 * f64::from(p[2]);
        let alpha = |p: &[u8]| f64::from(p[3]);
        let ssim = self.ssim(reference, luma).min(self.ssim(reference, alpha));
        Ok(Difference { max_channel, bad_share: bad as f64 / (self.width * self.height).max(1) as f64, ssim })
    }

    /// Mean SSIM over 8 × 8 windows with a step of 4 (Wang et al. 2004, with uniform windows).
    fn ssim(&self, other: &Self, value: impl Fn(&[u8]) -> f64) -> f64 {
        const C1: f64 = (0.01 * 255.0) * (0.01 * 255.0);
        const C2: f64 = (0.03 * 255.0) * (0.03 * 255.0);
        let plane = |p: &Self| p.data.chunks_exact(4).map(&value).collect::<Vec<f64>>();
        let (a, b) = (plane(self), plane(other));
        let window = 8.min(self.width).min(self.height);
        let (mut total, mut n_windows) = (0.0, 0.0);
        for y in (0..=self.height - window).step_by(4) {
            for x in (0..=self.width - window).step_by(4) {
                let (mut sa, mut sb, mut saa, mut sbb, mut sab) = (0.0, 0.0, 0.0, 0.0, 0.0);
                for row in y..y + window {
                    for i in row * self.width + x..row * self.width + x + window {
                        sa += a[i];
                        sb += b[i];
                        saa += a[i] * a[i];
                        sbb += b[i] * b[i];
                        sab += a[i] * b[i];
                    }
                }
                let n = (window * window) as f64;
                let (ma, mb) = (sa / n, sb / n);
                let (va, vb, cov) = (saa / n - ma * ma, sbb / n - mb * mb, sab / n - ma * mb);
                total += ((2.0 * ma * mb + C1) * (2.0 * cov + C2)) / ((ma * ma + mb * mb + C1) * (va + vb + C2));
                n_windows += 1.0;
            }
        }
        if n_windows == 0.0 {
            1.0
        } else {
            total / n_windows
        }
    }

    /// A picture of the differences, eight times amplified, opaque, for a person to look at.
    pub fn difference_picture(&self, reference: &Self) -> Option<Self> {
        if (self.width, self.height) != (reference.width, reference.height) {
            return None;
        }
        let data = self
            .data
            .chunks_exact(4)
            .zip(reference.data.chunks_exact(4))
            .flat_map(|(a, b)| {
                let d = |i: usize| a[i].abs_diff(b[i]).saturating_mul(8);
                [d(0).max(d(3)), d(1), d(2), 255]
            })
            .collect();
        Some(Self { width: self.width, height: self.height, data })
    }
}

impl Difference {
    /// Whether the difference is inside the tolerance.
    pub fn within(&self, tolerance: &Tolerance) -> bool {
        self.bad_share <= tolerance.bad_share && self.ssim >= tolerance.ssim
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient() -> Picture {
        Picture::new(32, 16, (0..32 * 16).flat_map(|i| [i as u8, (i / 2) as u8, 7, 255]).collect())
    }

    #[test]
    fn a_picture_equals_itself() {
        let d = gradient().difference(&gradient(), 0).unwrap();
        assert_eq!((d.max_channel, d.bad_share), (0, 0.0));
        assert!(d.ssim > 0.999_999);
    }

    #[test]
    fn a_moved_block_is_seen() {
        let mut other = gradient();
        for i in 0..32 * 4 * 4 {
            other.data[i] = 255 - other.data[i];
        }
        let d = gradient().difference(&other, 1).unwrap();
        assert!(!d.within(&Tolerance::LOOSE), "{d:?}");
    }

    #[test]
    fn png_round_trip() {
        let path = std::env::temp_dir().join(format!("mgl-picture-{}.png", std::process::id()));
        gradient().save(&path).unwrap();
        assert_eq!(Picture::load(&path).unwrap(), gradient());
        let _ = std::fs::remove_file(path);
    }
}
