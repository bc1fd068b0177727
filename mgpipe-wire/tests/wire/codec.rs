//! Encode and decode are inverse for every call, and no byte sequence panics the decoder.

use mgpipe_types::render_state::{masked_len, Half};
use mgpipe_types::*;
use mgpipe_wire::{Call, DecodeError, RecordBuf, HEADER_BYTES};
use proptest::prelude::*;

/// Deterministic bytes for payloads: any bytes are a valid plain-data payload.
struct Bytes(u64);

impl Bytes {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 ^ self.0 >> 29
    }

    fn pod<T: bytemuck::Pod>(&mut self) -> T {
        let mut value = T::zeroed();
        for byte in bytemuck::bytes_of_mut(&mut value) {
            *byte = self.word() as u8;
        }
        value
    }

    fn tail<T: bytemuck::Pod>(&mut self) -> Vec<T> {
        (0..self.word() % 5).map(|_| self.pod()).collect()
    }

    fn blob(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.word() as u8).collect()
    }
}

/// Memory that the borrowed arguments of a generated call point into.
#[derive(Default)]
struct Arena {
    blobs: Vec<Box<[u8]>>,
}

macro_rules! build_arg {
    (payload $ty:ident $bytes:ident) => {
        $bytes.pod::<mgpipe_types::$ty>()
    };
    (tail u32 $bytes:ident) => {
        Vec::leak($bytes.tail::<u32>()) as &'static [u32]
    };
    (tail $ty:ident $bytes:ident) => {
        Vec::leak($bytes.tail::<mgpipe_types::$ty>()) as &'static [mgpipe_types::$ty]
    };
    (blob u8 $bytes:ident) => {{
        let len = ($bytes.word() % 100) as usize;
        Vec::leak($bytes.blob(len)) as &'static [u8]
    }};
    (host u8 $bytes:ident) => {
        match $bytes.word() % 3 {
            0 => HostBytes::None,
            1 => HostBytes::IndexMirror,
            _ => HostBytes::Bytes(Vec::leak($bytes.blob(9))),
        }
    };
    (out u8 $bytes:ident) => {
        $bytes.word() % 1000
    };
}

macro_rules! build {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        fn arbitrary(opcode: Opcode, bytes: &mut Bytes) -> Call<'static> {
            match opcode {
                $(Opcode::$op => Call::$op { $($arg: build_arg!($kind $ty bytes),)* },)*
                Opcode::Invalid => unreachable!("not in CALLS"),
            }
        }
    };
}

mgpipe_catalogue!(build);

fn undeclared(blob: &mut BlobRef) {
    blob.size = 0;
}

/// Makes the counts, masks and blob ranges of a random call agree with its tails.
fn agree(call: &mut Call<'static>) {
    match call {
        Call::CreateRenderState { desc, chunks } => {
            desc.chunk_mask &= render_state::ALL_PIPELINE_CHUNKS;
            undeclared(&mut desc.blob);
            *chunks = Vec::leak(vec![7; masked_len(Half::Pipeline, desc.chunk_mask).unwrap()]);
        }
        Call::SetDynamicState { state, chunks } => {
            state.chunk_mask &= render_state::ALL_DYNAMIC_CHUNKS;
            *chunks = Vec::leak(vec![9; masked_len(Half::Dynamic, state.chunk_mask).unwrap()]);
            state.blob = BlobRef { offset: 0, size: chunks.len() as u64, segment: 0, pad: 0 };
        }
        Call::CreateVertexElements { desc, attributes, bindings } => {
            desc.attribute_count = attributes.len() as u32;
            desc.binding_count = bindings.len() as u32;
        }
        Call::CreateSampler { desc, parameters } => {
            undeclared(&mut desc.parameters);
            *parameters = Vec::leak(vec![3; std::mem::size_of::<SamplerParameters>()]);
        }
        Call::CreateShader { desc, code } => {
            *code = Vec::leak(vec![1; 64]);
            for (i, blob) in desc.spirv.iter_mut().enumerate() {
                *blob = BlobRef { offset: i as u64 * 4, size: 8, segment: 0, pad: 0 };
            }
            desc.reflection = BlobRef { offset: 30, size: 34, segment: 0, pad: 0 };
        }
        Call::SetVertexBuffers { header, buffers } => header.count = buffers.len() as u32,
        Call::SetSamplerViews { header, views } => header.count = views.len() as u32,
        Call::BindSamplerStates { header, samplers } => header.count = samplers.len() as u32,
        Call::SetShaderImages { header, images } => header.count = images.len() as u32,
        Call::SetShaderBuffers { header, ranges, .. } => header.count = ranges.len() as u32,
        Call::SetStreamOutputTargets { header, targets } => header.count = targets.len() as u32,
        Call::SetGlobalConstants { constants, .. } => undeclared(&mut constants.blob),
        Call::SetVertexAttribDefaults { header, values } => header.mask = (1u32 << values.len()) - 1,
        Call::ResourceSubdata { data, regions, bytes } => {
            undeclared(&mut data.blob);
            data.region_count = regions.len() as u32;
            let mut owned = regions.to_vec();
            for region in &mut owned {
                region.src_offset %= bytes.len() as u64 + 1;
            }
            *regions = Vec::leak(owned);
            data.target = if regions.is_empty() { 0 } else { 2 };
            if regions.is_empty() {
                data.union_box = Box3::from_buffer_range(1 << 40 | 3, bytes.len() as u64);
            }
        }
        Call::BufferSubdataResident { data, .. } => undeclared(&mut data.blob),
        Call::ResourceReadback { readback, bytes } => readback.size = *bytes,
        Call::DrawVbo { info, ranges, indirect, .. } => {
            info.range_count = ranges.len() as u32;
            *indirect = &indirect[..indirect.len().min(1)];
        }
        Call::SetProgramBindings { header, units } => {
            header.sampler_count = units.len() as u32;
            header.uniform_block_count = 0;
            header.storage_block_count = 0;
            header.image_count = 0;
        }
        _ => {}
    }
}

fn opcodes() -> impl Strategy<Value = Opcode> {
    (0..CALLS.len()).prop_map(|i| CALLS[i].opcode)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn decode_inverts_encode(opcode in opcodes(), seed: u64) {
        let mut call = arbitrary(opcode, &mut Bytes(seed));
        agree(&mut call);
        let mut first = RecordBuf::new();
        call.encode(&mut first);
        prop_assert!(first.bytes().len() >= Call::min_record_bytes(opcode));
        let (decoded, rest) = Call::decode(first.bytes()).map_err(|e| TestCaseError::fail(format!("{opcode:?}: {e}")))?;
        prop_assert!(rest.is_empty());
        prop_assert_eq!(decoded.opcode(), opcode);
        // Floats may be NaN, so the comparison is between encodings.
        let mut second = RecordBuf::new();
        decoded.encode(&mut second);
        prop_assert_eq!(first.bytes(), second.bytes());
    }

    #[test]
    fn a_cut_record_needs_more(opcode in opcodes(), seed: u64, cut: prop::sample::Index) {
        let mut call = arbitrary(opcode, &mut Bytes(seed));
        agree(&mut call);
        let mut buf = RecordBuf::new();
        call.encode(&mut buf);
        let at = cut.index(buf.bytes().len());
        let whole = buf.bytes().len();
        match Call::decode(&buf.bytes()[..at]) {
            Err(DecodeError::NeedMore { needed }) => prop_assert!(needed <= whole - at.min(whole)),
            other => prop_assert!(false, "{:?}", other.map(|(c, _)| c.opcode())),
        }
    }

    #[test]
    fn no_bytes_panic_the_decoder(words in prop::collection::vec(any::<u64>(), 0..64), skew in 0usize..8) {
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let _ = Call::decode(&bytes[skew.min(bytes.len())..]);
    }

    #[test]
    fn no_mutated_record_panics_the_decoder(opcode in opcodes(), seed: u64, flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut call = arbitrary(opcode, &mut Bytes(seed));
        agree(&mut call);
        let mut buf = RecordBuf::new();
        call.encode(&mut buf);
        let mut words: Vec<u64> = bytemuck::cast_slice(buf.bytes()).to_vec();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = Call::decode(bytes);
    }
}

#[test]
fn records_are_multiples_of_eight_and_concatenate() {
    let mut buf = RecordBuf::new();
    let mut bytes = Bytes(1);
    for info in CALLS {
        let mut call = arbitrary(info.opcode, &mut bytes);
        agree(&mut call);
        call.encode(&mut buf);
        assert_eq!(buf.bytes().len() % 8, 0);
    }
    let mut rest = buf.bytes();
    for info in CALLS {
        let (call, after) = Call::decode(rest).unwrap();
        assert_eq!(call.opcode(), info.opcode);
        rest = after;
    }
    assert!(rest.is_empty());
    let _ = Arena::default().blobs.len();
}

#[test]
fn a_count_that_disagrees_with_its_tail_is_refused() {
    let mut buf = RecordBuf::new();
    let header = SetHeader { start: 0, count: 2, content_hash: 0 };
    Call::SetVertexBuffers { header, buffers: &[VertexBuffer::default()] }.encode(&mut buf);
    assert_eq!(Call::decode(buf.bytes()).unwrap_err(), DecodeError::Malformed("set count"));
}

#[test]
fn a_blob_range_outside_its_blob_is_refused() {
    let mut buf = RecordBuf::new();
    let reflection = BlobRef { offset: 4, size: 5, segment: 0, pad: 0 };
    let desc = ProgramDesc { reflection, ..ProgramDesc::default() };
    Call::CreateShader { desc, code: &[0; 8] }.encode(&mut buf);
    assert_eq!(Call::decode(buf.bytes()).unwrap_err(), DecodeError::Malformed("blob range"));
}

#[test]
fn a_tail_count_beyond_the_record_is_refused_without_allocation() {
    let mut words = vec![0u64; 6];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    bytes[..2].copy_from_slice(&(Opcode::SetVertexBuffers as u16).to_le_bytes());
    bytes[4..8].copy_from_slice(&48u32.to_le_bytes());
    bytes[HEADER_BYTES + 16..HEADER_BYTES + 24].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(Call::decode(bytes).unwrap_err(), DecodeError::Malformed("tail count"));
}
