//! `glBlitFramebuffer`.

use mgpipe_tracker::VerbClass;
use mgpipe_types::{aspect, gl, Blit, Corners};

use super::status::FramebufferShape;
use super::{Attachment, Binding};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::format::ComponentKind;

/// One axis of a blit: source and destination interval, either of which may run backwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Axis {
    src: (i32, i32),
    dst: (i32, i32),
}

impl Axis {
    /// Cuts the axis to what can be copied. A scaled destination stays as it is: its ends say how the scale runs, and the
    /// server cuts what it writes; only a source beyond its image is cut, to the nearest pixel.
    fn clipped(self, source: u32, dest: u32) -> Option<Axis> {
        let len = |(a, b): (i32, i32)| i64::from(b) - i64::from(a);
        let scaled = len(self.src).abs() != len(self.dst).abs();
        let inside = |(a, b): (i32, i32), limit: u32| a.min(b) >= 0 && i64::from(a.max(b)) <= i64::from(limit);
        let axis = if scaled {
            // A destination entirely outside has nothing to write.
            self.clip_dst(dest)?;
            self
        } else {
            self.clip_dst(dest)?
        };
        if inside(axis.src, source) && axis.src.0 != axis.src.1 {
            Some(axis)
        } else {
            axis.clip_src(source)
        }
    }

    /// Cuts the destination interval to `[0, limit)` and moves the source ends in proportion.
    fn clip_dst(self, limit: u32) -> Option<Axis> {
        clip(self.src, self.dst, limit).map(|(src, dst)| Axis { src, dst })
    }

    /// Cuts the source interval to `[0, limit)` and moves the destination ends in proportion: nothing is written where
    /// the source has no pixels.
    fn clip_src(self, limit: u32) -> Option<Axis> {
        clip(self.dst, self.src, limit).map(|(dst, src)| Axis { src, dst })
    }
}

/// Cuts `cut` to `[0, limit)`, moving the ends of `follow` in proportion. `None` when nothing remains.
fn clip(follow: (i32, i32), cut: (i32, i32), limit: u32) -> Option<((i32, i32), (i32, i32))> {
    let limit = i64::from(limit);
    let (a, b) = (i64::from(cut.0), i64::from(cut.1));
    if a == b || a.max(b) <= 0 || a.min(b) >= limit {
        return None;
    }
    let (f0, f1) = (f64::from(follow.0), f64::from(follow.1));
    let place = |at: i64| {
        let t = (at - a) as f64 / (b - a) as f64;
        (f0 + (f1 - f0) * t).round() as i32
    };
    let (new_a, new_b) = (a.clamp(0, limit), b.clamp(0, limit));
    let followed = (if new_a == a { follow.0 } else { place(new_a) }, if new_b == b { follow.1 } else { place(new_b) });
    (followed.0 != followed.1).then_some((followed, (new_a as i32, new_b as i32)))
}

fn kind_class(kind: ComponentKind) -> u8 {
    match kind {
        ComponentKind::Uint => 1,
        ComponentKind::Sint => 2,
        _ => 0,
    }
}

impl Context {
    /// `glBlitFramebuffer`.
    pub fn blit_framebuffer(
        &mut self,
        src_x0: i32,
        src_y0: i32,
        src_x1: i32,
        src_y1: i32,
        dst_x0: i32,
        dst_y0: i32,
        dst_x1: i32,
        dst_y1: i32,
        mask: u32,
        filter: u32,
    ) {
        self.gl(|ctx| {
            let known = gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT;
            if mask & !known != 0 {
                return Err(invalid_value("glBlitFramebuffer: mask"));
            }
            if !matches!(filter, gl::NEAREST | gl::LINEAR) {
                return Err(invalid_enum("glBlitFramebuffer: filter"));
            }
            if mask & (gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT) != 0 && filter != gl::NEAREST {
                return Err(invalid_operation("glBlitFramebuffer: depth and stencil are copied with GL_NEAREST"));
            }
            ctx.state.check_framebuffer(Binding::Read, "glBlitFramebuffer")?;
            ctx.state.check_framebuffer(Binding::Draw, "glBlitFramebuffer")?;
            let source = ctx.state.framebuffer_shape(Binding::Read);
            let dest = ctx.state.framebuffer_shape(Binding::Draw);
            let x = Axis { src: (src_x0, src_x1), dst: (dst_x0, dst_x1) };
            let y = Axis { src: (src_y0, src_y1), dst: (dst_y0, dst_y1) };
            check_samples(&source, &dest, x, y)?;
            let plans = ctx.blit_plans(mask, filter)?;
            let clipped = x.clipped(source.width, dest.width).zip(y.clipped(source.height, dest.height));
            let Some((x, y)) = clipped else { return Ok(()) };
            if plans.is_empty() || ctx.is_discarded() {
                return Ok(());
            }
            ctx.tracker.validate(VerbClass::BlitCopy, &mut ctx.state, &mut *ctx.pipe);
            let render = ctx.state.render.state();
            let common = Blit {
                src_rect: Corners { x0: x.src.0, y0: y.src.0, x1: x.src.1, y1: y.src.1 },
                dst_rect: Corners { x0: x.dst.0, y0: y.dst.0, x1: x.dst.1, y1: y.dst.1 },
                scissor: render.scissors[0],
                scissor_enabled: render.scissor_test_mask & 1,
                filter,
                srgb_encode: u32::from(render.framebuffer_srgb != 0),
                ..Blit::default()
            };
            for plan in &plans {
                plan.source.realize(&mut *ctx.pipe);
                plan.dest.realize(&mut *ctx.pipe);
                let (src, dst) = (plan.source.surface(), plan.dest.surface());
                if src.is_some() && dst.is_some() {
                    ctx.pipe.blit(&Blit { src, dst, mask: plan.mask, ..common });
                }
            }
            Ok(())
        });
    }

    /// Pairs of images that a blit copies between, after the checks of their formats (GL 3.3 section 4.3.2).
    fn blit_plans(&self, mask: u32, filter: u32) -> GlResult<Vec<Plan>> {
        let framebuffers = &self.state.framebuffers;
        let mut plans: Vec<Plan> = Vec::new();
        if mask & gl::COLOR_BUFFER_BIT != 0 {
            if let Some(source) = framebuffers.read_color() {
                let from = source.describe().map(|d| *d.format.info);
                for index in 0..8 {
                    let dest = framebuffers.draw_color(index);
                    let (Some(from), Some(to)) = (from, dest.describe().map(|d| *d.format.info)) else { continue };
                    if kind_class(from.kind) != kind_class(to.kind) {
                        return Err(invalid_operation("glBlitFramebuffer: integer and other formats do not mix"));
                    }
                    if from.is_integer() && filter == gl::LINEAR {
                        return Err(invalid_operation("glBlitFramebuffer: integers are not filtered"));
                    }
                    if plans.iter().any(|plan| plan.dest.same_image(&dest)) {
                        continue;
                    }
                    plans.push(Plan { source: source.share(), dest, mask: aspect::COLOR });
                }
            }
        }
        let mut other = |bit: u32, aspect: u32, source: Attachment, dest: Attachment| -> GlResult {
            let (Some(from), Some(to)) = (source.describe(), dest.describe()) else { return Ok(()) };
            if mask & bit == 0 {
                return Ok(());
            }
            // The copied aspect must have one format; the other one only where both images have it.
            let (f, t) = (from.format.info, to.format.info);
            let same = |index: usize| f.bits[index] == t.bits[index];
            let compatible = |index: usize| same(index) || f.bits[index] == 0 || t.bits[index] == 0;
            let depth_kind = f.kind == t.kind || !(f.base.has_depth() && t.base.has_depth());
            let fits = match aspect {
                aspect::DEPTH => same(4) && compatible(5),
                _ => same(5) && compatible(4),
            };
            if !fits || !depth_kind {
                return Err(invalid_operation("glBlitFramebuffer: depth and stencil formats differ"));
            }
            // Depth and stencil of one image travel together.
            match plans.iter_mut().find(|p| p.dest.same_image(&dest) && p.source.same_image(&source)) {
                Some(plan) => plan.mask |= aspect,
                None => plans.push(Plan { source, dest, mask: aspect }),
            }
            Ok(())
        };
        other(
            gl::DEPTH_BUFFER_BIT,
            aspect::DEPTH,
            framebuffers.depth(Binding::Read),
            framebuffers.depth(Binding::Draw),
        )?;
        other(
            gl::STENCIL_BUFFER_BIT,
            aspect::STENCIL,
            framebuffers.stencil(Binding::Read),
            framebuffers.stencil(Binding::Draw),
        )?;
        Ok(plans)
    }
}

/// A pair of images.
struct Plan {
    source: Attachment,
    dest: Attachment,
    mask: u32,
}

/// Multisampled images are copied without scaling, and between equal sample counts or by a resolve.
fn check_samples(source: &FramebufferShape, dest: &FramebufferShape, x: Axis, y: Axis) -> GlResult {
    if source.samples == 0 && dest.samples == 0 {
        return Ok(());
    }
    if source.samples != 0 && dest.samples != 0 && source.samples != dest.samples {
        return Err(invalid_operation("glBlitFramebuffer: sample counts differ"));
    }
    let size = |(a, b): (i32, i32)| (i64::from(a) - i64::from(b)).abs();
    if size(x.src) != size(x.dst) || size(y.src) != size(y.dst) {
        return Err(invalid_operation("glBlitFramebuffer: multisampled images cannot be scaled"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unscaled_axes_are_cut_exactly() {
        let axis = Axis { src: (-2, 8), dst: (3, 13) };
        let cut = axis.clip_dst(10).and_then(|a| a.clip_src(16));
        assert_eq!(cut, Some(Axis { src: (0, 5), dst: (5, 10) }));
    }

    #[test]
    fn mirrored_axes_stay_mirrored() {
        let axis = Axis { src: (0, 10), dst: (10, 0) };
        assert_eq!(axis.clip_dst(6), Some(Axis { src: (4, 10), dst: (6, 0) }));
        assert_eq!(axis.clip_src(4), Some(Axis { src: (0, 4), dst: (10, 6) }));
    }

    #[test]
    fn nothing_remains_outside() {
        let axis = Axis { src: (0, 4), dst: (20, 24) };
        assert_eq!(axis.clip_dst(20), None);
        assert_eq!(Axis { src: (0, 0), dst: (0, 4) }.clip_src(4), None);
        assert_eq!(
            Axis { src: (i32::MIN, i32::MAX), dst: (i32::MIN, i32::MAX) }.clip_dst(8).map(|a| a.dst),
            Some((0, 8))
        );
    }
}
