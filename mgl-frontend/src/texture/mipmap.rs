//! `glGenerateMipmap`.

use mgpipe_tracker::VerbClass;
use mgpipe_types::{Box3, MipPlan, Target, TypedHandle};

use super::compressed::{decode, encode_storage};
use super::target::{bind_target, last_level, mip_extent, single_level};
use super::{Image, Texture};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, GlResult};
use crate::pixel::{decode_row, encode_row, Row, Shape};

impl Context {
    /// `glGenerateMipmap`.
    pub fn generate_mipmap(&mut self, target: u32) {
        let command = "glGenerateMipmap";
        self.gl(|ctx| {
            let target = bind_target(target)
                .filter(|&t| !single_level(t))
                .ok_or_else(|| invalid_enum("glGenerateMipmap: target"))?;
            let texture = ctx.state.current_texture(target)?;
            let plan = {
                let mut inner = texture.lock();
                if target == Target::TexCube && !inner.completeness(target).base {
                    return Err(invalid_operation(format!("{command}: the cube map is not complete")));
                }
                let base = inner.base_level();
                let Some(image) = inner.base_image().filter(|image| !image.extent.is_empty()) else { return Ok(()) };
                let info = image.format.info;
                if info.is_integer() || info.base.has_stencil() {
                    return Err(invalid_operation(format!("{command}: integer and stencil formats have no average")));
                }
                let (format, extent) = (image.format, image.extent);
                let last = (base + last_level(target, extent)).min(inner.max_level());
                if last <= base {
                    return Ok(());
                }
                for level in base + 1..=last {
                    for face in 0..super::face_count(target) {
                        let image = Image::new(&format, mip_extent(target, extent, level - base));
                        inner.set_image(face, level, image);
                    }
                }
                Plan { base, last, compressed: info.is_compressed() && !format.decoded }
            };
            texture.shape_changed();
            ctx.tracker.validate(VerbClass::TextureOp, &mut ctx.state, &mut *ctx.pipe);
            if plan.compressed {
                return ctx.generate_blocks(&texture, target, plan);
            }
            texture.realize(&mut *ctx.pipe);
            ctx.pipe.generate_mipmap(&MipPlan {
                res: texture.handle.raw(),
                base_level: plan.base as u16,
                last_level: plan.last as u16,
                pad: 0,
            });
            let mut inner = texture.lock();
            for level in plan.base + 1..=plan.last {
                for face in 0..super::face_count(target) {
                    texture.mark_written(&mut inner, face, level);
                }
            }
            Ok(())
        });
    }

    /// Blocks cannot be rendered to: their levels are averaged here, from the decoded base.
    fn generate_blocks(&mut self, texture: &Texture, target: Target, plan: Plan) -> GlResult {
        for face in 0..super::face_count(target) {
            for level in plan.base + 1..=plan.last {
                let (from, to, blocks) = {
                    let inner = texture.lock();
                    let (Some(from), Some(to)) = (inner.image(face, level - 1), inner.image(face, level)) else {
                        continue;
                    };
                    let Some(blocks) = from.format.info.blocks() else { continue };
                    (from.extent, to.extent, blocks)
                };
                let area = Box3::sized(from.width, from.height, from.depth);
                let Some((bytes, _)) = self.fetch_area(texture, face, level - 1, &area)? else { continue };
                let storage = super::compressed::decoded_format(blocks);
                let next = storage.and_then(|storage| {
                    let texels = decode(blocks, from.sizes(), &bytes)?;
                    let shape = Shape::of_storage(storage)?;
                    let Row::Color(row) = decode_row(&shape, &texels, false) else { return None };
                    let smaller = Row::Color(average(&row, from.sizes(), to.sizes()));
                    let mut out =
                        vec![0; to.sizes().iter().map(|&v| v as usize).product::<usize>() * shape.pixel_bytes()];
                    encode_row(&shape, &smaller, &mut out, false);
                    encode_storage(blocks, to.sizes(), storage, &out)
                });
                let next =
                    next.ok_or_else(|| invalid_operation("glGenerateMipmap: this block format has no encoder"))?;
                self.add_texels(texture, face, level, Box3::sized(to.width, to.height, to.depth), next);
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Plan {
    base: u32,
    last: u32,
    compressed: bool,
}

/// Box filter over colour texels.
fn average(texels: &[[f32; 4]], from: [u32; 3], to: [u32; 3]) -> Vec<[f32; 4]> {
    let at = |x: u32, y: u32, z: u32| {
        let index = (z as usize * from[1] as usize + y as usize) * from[0] as usize + x as usize;
        texels.get(index).copied().unwrap_or_default()
    };
    let mut out = Vec::with_capacity(to.iter().map(|&v| v as usize).product());
    for z in 0..to[2] {
        for y in 0..to[1] {
            for x in 0..to[0] {
                let mut sum = [0.0; 4];
                for i in 0..4u32 {
                    let sx = (x * 2 + i % 2).min(from[0] - 1);
                    let sy = (y * 2 + i / 2).min(from[1] - 1);
                    for (s, v) in sum.iter_mut().zip(at(sx, sy, z.min(from[2] - 1))) {
                        *s += v;
                    }
                }
                out.push(sum.map(|s| s / 4.0));
            }
        }
    }
    out
}
