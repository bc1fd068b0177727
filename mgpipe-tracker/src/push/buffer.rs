//! Indexed buffer ranges, image units and transform-feedback targets.

use super::Core;
use crate::source::{BufferClass, ResolvedBuffers, ResolvedStreamOutput, Source};
use crate::suppressor::SetSuppressor;
use crate::verb::Group;
use bytemuck::cast_slice;
use mgpipe_types::{
    BufferRange, Context, HostBytes, ImageView, SetHeader, ShaderBuffers, StreamOutputTargets, TypedHandle, XfbHandle,
};

/// Room for the binding points of a class before anything is allocated.
const POINTS: usize = 96;

/// Sends the sets of buffer ranges and of images.
#[derive(Debug)]
pub(crate) struct BufferPush {
    ranges: ResolvedBuffers,
    sent: [SetSuppressor; 3],
    images: Vec<ImageView>,
    images_sent: SetSuppressor,
    stream_output: ResolvedStreamOutput,
    stream_output_sent: SetSuppressor,
    stream_output_generation: u64,
}

impl BufferPush {
    pub(crate) fn new() -> BufferPush {
        BufferPush {
            ranges: ResolvedBuffers { ranges: Vec::with_capacity(POINTS), writable_mask: 0 },
            sent: std::array::from_fn(|_| SetSuppressor::with_capacity(POINTS * size_of::<BufferRange>())),
            images: Vec::with_capacity(POINTS),
            images_sent: SetSuppressor::with_capacity(POINTS * size_of::<ImageView>()),
            stream_output: ResolvedStreamOutput { xfb: XfbHandle::NULL, targets: Vec::with_capacity(POINTS) },
            stream_output_sent: SetSuppressor::with_capacity(POINTS * size_of::<BufferRange>()),
            stream_output_generation: 0,
        }
    }

    pub(crate) fn forget(&mut self) {
        self.sent.iter_mut().for_each(SetSuppressor::forget);
        self.images_sent.forget();
        self.stream_output_sent.forget();
    }

    pub(crate) fn buffers<S: Source + ?Sized>(
        &mut self,
        core: &mut Core,
        class: BufferClass,
        source: &mut S,
        pipe: &mut dyn Context,
    ) {
        let group = match class {
            BufferClass::Uniform => Group::UniformBuffers,
            BufferClass::Storage => Group::StorageBuffers,
            BufferClass::Atomic => Group::AtomicBuffers,
        };
        core.fire(group);
        self.ranges.ranges.clear();
        self.ranges.writable_mask = 0;
        source.resolve_buffers(class, &mut self.ranges);
        let ResolvedBuffers { ranges, writable_mask } = &self.ranges;
        let bytes: &[u8] = cast_slice(ranges);
        let hash = core.hash(bytes) ^ u64::from(*writable_mask);
        let sent = self.sent[class as usize].admit(hash, u64::from(*writable_mask), bytes);
        if core.note(group, sent, size_of::<ShaderBuffers>() + bytes.len()) {
            let header = ShaderBuffers {
                class: class.wire(),
                start: 0,
                count: ranges.len() as u32,
                writable_mask: *writable_mask,
                content_hash: hash,
            };
            pipe.set_shader_buffers(&header, ranges, HostBytes::None);
        }
    }

    pub(crate) fn images<S: Source + ?Sized>(&mut self, core: &mut Core, source: &mut S, pipe: &mut dyn Context) {
        core.fire(Group::Images);
        self.images.clear();
        source.resolve_images(&mut self.images);
        let bytes: &[u8] = cast_slice(&self.images);
        let hash = core.hash(bytes);
        let sent = self.images_sent.admit(hash, 0, bytes);
        if core.note(Group::Images, sent, size_of::<SetHeader>() + bytes.len()) {
            let header = SetHeader { start: 0, count: self.images.len() as u32, content_hash: hash };
            pipe.set_shader_images(&header, &self.images);
        }
    }

    pub(crate) fn stream_output<S: Source + ?Sized>(
        &mut self,
        core: &mut Core,
        source: &mut S,
        pipe: &mut dyn Context,
    ) {
        core.fire(Group::StreamOutput);
        self.stream_output.targets.clear();
        self.stream_output.xfb = XfbHandle::NULL;
        source.resolve_stream_output(&mut self.stream_output);
        let ResolvedStreamOutput { xfb, targets } = &self.stream_output;
        let bytes: &[u8] = cast_slice(targets);
        let identity = u64::from(xfb.slot()) << 32 | u64::from(xfb.gen());
        let sent = self.stream_output_sent.admit(core.hash(bytes), identity, bytes);
        if core.note(Group::StreamOutput, sent, size_of::<StreamOutputTargets>() + bytes.len()) {
            self.stream_output_generation = self.stream_output_generation.wrapping_add(1);
            let header = StreamOutputTargets {
                xfb: xfb.raw(),
                count: targets.len() as u32,
                pad: 0,
                generation: self.stream_output_generation,
            };
            pipe.set_stream_output_targets(&header, targets);
        }
    }
}
