//! `glTexImage2DMultisample` and `3DMultisample`.

use mgpipe_types::{gl, Target};

use super::image::command_name;
use super::target::any_image_target;
use super::{Extent, Image};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::format::Naming;

const NAMES: [&str; 3] = ["", "glTexImage2DMultisample", "glTexImage3DMultisample"];

impl Context {
    /// `glTexImage2DMultisample`.
    pub fn tex_image_2d_multisample(
        &mut self,
        target: u32,
        samples: i32,
        internalformat: u32,
        width: i32,
        height: i32,
        fixedsamplelocations: bool,
    ) {
        let size = [width, height, 1];
        self.gl(|ctx| ctx.multisample_image(2, target, samples, internalformat, size, fixedsamplelocations));
    }

    /// `glTexImage3DMultisample`.
    pub fn tex_image_3d_multisample(
        &mut self,
        target: u32,
        samples: i32,
        internalformat: u32,
        width: i32,
        height: i32,
        depth: i32,
        fixedsamplelocations: bool,
    ) {
        let size = [width, height, depth];
        self.gl(|ctx| ctx.multisample_image(3, target, samples, internalformat, size, fixedsamplelocations));
    }

    fn multisample_image(
        &mut self,
        dims: u32,
        target: u32,
        samples: i32,
        internal_format: u32,
        size: [i32; 3],
        fixed_locations: bool,
    ) -> GlResult {
        let command = command_name(dims, NAMES);
        let wanted = if dims == 2 { Target::Tex2DMs } else { Target::Tex2DMsArray };
        let at = any_image_target(target)
            .filter(|at| at.target == wanted)
            .ok_or_else(|| invalid_enum(format!("{command}: target")))?;
        let samples = u32::try_from(samples).map_err(|_| invalid_value(format!("{command}: negative samples")))?;
        if samples == 0 {
            return Err(invalid_value(format!("{command}: zero samples")));
        }
        let mut sizes = [0; 3];
        for (to, from) in sizes.iter_mut().zip(size) {
            *to = u32::try_from(from).map_err(|_| invalid_value(format!("{command}: negative size")))?;
        }
        let format = self.state.share.formats.get(internal_format).copied();
        // Formats that are not renderable raise GL_INVALID_ENUM here (GL 3.3 section 3.9.1).
        let format = format
            .filter(|f| f.renderable && !f.info.base.is_legacy() && f.info.naming != Naming::GenericCompressed)
            .ok_or_else(|| invalid_enum(format!("{command}: internal format")))?;
        let max = self.state.max_extent(at.target);
        let fits = sizes.iter().zip(max).all(|(size, max)| *size <= max);
        let limits = &self.state.share.limits;
        let max_samples = if format.info.is_integer() {
            limits.integer_samples
        } else if format.info.base.is_color() {
            limits.color_samples
        } else {
            limits.depth_samples
        };
        let rounded = format.round_up_samples(samples).filter(|_| samples <= max_samples);
        if at.proxy {
            let image = rounded.filter(|_| fits).map(|samples| {
                let mut image = Image::new(&format, Extent::new(sizes[0], sizes[1], sizes[2]));
                image.samples = samples;
                image.fixed_locations = fixed_locations;
                image
            });
            self.state.textures.set_proxy(at.target, 0, image);
            return Ok(());
        }
        if !fits {
            return Err(invalid_value(format!("{command}: size {sizes:?}")));
        }
        let samples = rounded.ok_or_else(|| invalid_operation(format!("{command}: {samples} samples")))?;
        let texture = self.state.current_texture(at.target)?;
        if texture.lock().immutable_levels != 0 {
            return Err(invalid_operation(format!("{command}: the texture is immutable")));
        }
        let mut image = Image::new(&format, Extent::new(sizes[0], sizes[1], sizes[2]));
        image.samples = samples;
        image.fixed_locations = fixed_locations;
        self.install_image(&texture, 0, 0, image);
        Ok(())
    }

    /// `glGetMultisamplefv`: the standard sample positions, which backends are asked to use.
    pub fn get_multisample(&mut self, pname: u32, index: u32) -> Option<[f32; 2]> {
        self.gl(|ctx| {
            if pname != gl::SAMPLE_POSITION {
                return Err(invalid_enum("glGetMultisamplefv: pname"));
            }
            let samples = ctx.state.draw_samples();
            // Without samples (`GL_SAMPLES` is 0) there is no position to ask for.
            if samples <= 1 || index >= samples {
                return Err(invalid_value("glGetMultisamplefv: no such sample"));
            }
            Ok(Some(standard_position(samples, index)))
        })
    }
}

/// Standard sample positions in sixteenths of a pixel, as Vulkan and Direct3D define them.
fn standard_position(samples: u32, index: u32) -> [f32; 2] {
    const TWO: [[u8; 2]; 2] = [[12, 12], [4, 4]];
    const FOUR: [[u8; 2]; 4] = [[6, 2], [14, 6], [2, 10], [10, 14]];
    const EIGHT: [[u8; 2]; 8] = [[9, 5], [7, 11], [13, 9], [5, 3], [3, 13], [1, 7], [11, 15], [15, 1]];
    const SIXTEEN: [[u8; 2]; 16] = [
        [9, 9],
        [7, 5],
        [5, 10],
        [12, 7],
        [3, 6],
        [10, 13],
        [13, 11],
        [11, 3],
        [6, 14],
        [8, 1],
        [4, 2],
        [2, 12],
        [0, 8],
        [15, 4],
        [14, 15],
        [1, 0],
    ];
    let table: &[[u8; 2]] = match samples {
        2 => &TWO,
        4 => &FOUR,
        8 => &EIGHT,
        16 => &SIXTEEN,
        _ => &[],
    };
    table.get(index as usize).map_or([0.5, 0.5], |p| p.map(|v| f32::from(v) / 16.0))
}
