//! Framebuffer completeness (GL 3.3 section 4.4.4).

use mgpipe_tracker::Source;
use mgpipe_types::gl;

use super::{Attachment, Binding, Described, Framebuffer};
use crate::context::ContextState;

/// What a point accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Point {
    Color,
    Depth,
    Stencil,
}

fn attachment_complete(described: &Described, point: Point) -> bool {
    let base = described.format.info.base;
    let fits = match point {
        Point::Color => base.is_color(),
        Point::Depth => base.has_depth(),
        Point::Stencil => base.has_stencil(),
    };
    described.exists && fits && described.format.renderable
}

impl Framebuffer {
    /// The completeness status, without a memo.
    fn examine(&self) -> u32 {
        let mut first: Option<Described> = None;
        let mut first_color: Option<Described> = None;
        let points = self
            .color
            .iter()
            .map(|a| (a, Point::Color))
            .chain([(&self.depth, Point::Depth), (&self.stencil, Point::Stencil)]);
        for (attachment, point) in points {
            if !attachment.is_some() {
                continue;
            }
            let Some(described) = attachment.describe().filter(|d| attachment_complete(d, point)) else {
                return gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT;
            };
            if let Some(first) = &first {
                if first.samples != described.samples || first.fixed_locations != described.fixed_locations {
                    return gl::FRAMEBUFFER_INCOMPLETE_MULTISAMPLE;
                }
                if first.layered != described.layered {
                    return gl::FRAMEBUFFER_INCOMPLETE_LAYER_TARGETS;
                }
            } else {
                first = Some(described);
            }
            if point == Point::Color {
                // Layered colour attachments come from textures of one target.
                match &first_color {
                    Some(other) if other.layered && other.target != described.target => {
                        return gl::FRAMEBUFFER_INCOMPLETE_LAYER_TARGETS;
                    }
                    Some(_) => {}
                    None => first_color = Some(described),
                }
            }
        }
        if first.is_none() {
            return gl::FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT;
        }
        // Draw and read buffers without an image are no reason for incompleteness since GL 4.1 (ARB_ES2_compatibility):
        // depth-only framebuffers of real applications rely on it.
        if self.depth.is_some() && self.stencil.is_some() && !self.depth.same_image(&self.stencil) {
            return gl::FRAMEBUFFER_UNSUPPORTED;
        }
        gl::FRAMEBUFFER_COMPLETE
    }

    /// The completeness status; `generation` is the aggregate generation of attachments.
    pub(super) fn status(&mut self, generation: u64) -> u32 {
        if let Some((version, seen, status)) = self.memo {
            if version == self.version && seen == generation {
                return status;
            }
        }
        let status = self.examine();
        self.memo = Some((self.version, generation, status));
        status
    }

    /// Smallest attachment, samples and layers of a complete framebuffer.
    pub(crate) fn shape(&self) -> FramebufferShape {
        let mut shape: Option<FramebufferShape> = None;
        for described in self.attachments().filter_map(Attachment::describe) {
            let next = FramebufferShape {
                width: described.width,
                height: described.height,
                layers: described.layers,
                samples: described.samples,
                fixed_locations: described.fixed_locations,
            };
            shape = Some(match shape {
                Some(old) => FramebufferShape {
                    width: old.width.min(next.width),
                    height: old.height.min(next.height),
                    layers: old.layers.min(next.layers),
                    ..old
                },
                None => next,
            });
        }
        shape.unwrap_or_default()
    }
}

/// Size and samples of a framebuffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FramebufferShape {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) layers: u32,
    /// Samples, 0 for single-sampled.
    pub(crate) samples: u32,
    pub(crate) fixed_locations: bool,
}

impl ContextState {
    /// The completeness status of a bound framebuffer.
    pub(crate) fn framebuffer_status(&mut self, binding: Binding) -> u32 {
        let generation = self.aggregates().attachment;
        let name = self.framebuffer_name(binding);
        if let Some(framebuffer) = self.framebuffers.objects.get_mut(name) {
            framebuffer.status(generation)
        } else if self.window_exists(binding) {
            gl::FRAMEBUFFER_COMPLETE
        } else {
            gl::FRAMEBUFFER_UNDEFINED
        }
    }

    /// Size and samples of a bound framebuffer.
    pub(crate) fn framebuffer_shape(&self, binding: Binding) -> FramebufferShape {
        let object = match binding {
            Binding::Draw => self.framebuffers.draw(),
            Binding::Read => self.framebuffers.read(),
        };
        match object {
            Some(framebuffer) => framebuffer.shape(),
            None => self.framebuffers.window.shape(binding),
        }
    }

    /// Samples of the draw framebuffer, 0 for single-sampled.
    pub(crate) fn draw_samples(&self) -> u32 {
        self.framebuffer_shape(Binding::Draw).samples
    }
}
