//! Enumerants of which MGL and the reference make something different, each with the reason.

use std::ops::RangeInclusive;

/// How MGL differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    /// MGL does not know the enumerant.
    Refused,
    /// Another answer, or another error.
    Otherwise,
}

struct Expected {
    functions: &'static [&'static str],
    enumerants: &'static [RangeInclusive<u32>],
    how: How,
    reason: &'static str,
}

const PLAIN: &[&str] = &["GetIntegerv", "GetFloatv", "GetBooleanv", "GetDoublev", "GetInteger64v"];
const INDEXED: &[&str] = &["GetIntegeri_v", "GetInteger64i_v", "GetBooleani_v"];

const EXPECTED: &[Expected] = &[
    Expected {
        functions: PLAIN,
        enumerants: &[
            0x0B00..=0x0B09,
            0x0B10..=0x0B10,
            0x0B24..=0x0B33,
            0x0B42..=0x0B43,
            0x0B50..=0x0B66,
            0x0B80..=0x0B80,
            0x0BA0..=0x0BA1,
            0x0BA3..=0x0BC2,
            0x0BF1..=0x0BF1,
            0x0C00..=0x0C00,
            0x0C20..=0x0C21,
            0x0C30..=0x0C31,
            0x0C40..=0x0C51,
            0x0C54..=0x0CB9,
            0x0D10..=0x0D31,
            0x0D34..=0x0D39,
            0x0D3B..=0x0D3B,
            0x0D51..=0x0DD3,
            0x0DF1..=0x0DF4,
            0x4000..=0x4007,
        ],
        how: How::Refused,
        reason: "state of OpenGL 1 that the core profile has not; Mesa answers for it all the same",
    },
    Expected {
        functions: PLAIN,
        enumerants: &[
            0x803A..=0x803A,
            0x8074..=0x808D,
            0x8126..=0x8127,
            0x8129..=0x8129,
            0x8192..=0x81A9,
            0x81F8..=0x81F8,
            0x8450..=0x846D,
            0x84E1..=0x84E5,
            0x8504..=0x8505,
            0x8558..=0x855A,
            0x8620..=0x8641,
            0x8643..=0x864B,
            0x8758..=0x8758,
            0x8804..=0x8804,
            0x8861..=0x8861,
            0x8896..=0x889D,
            0x8910..=0x8911,
        ],
        how: How::Refused,
        reason: "state of the compatibility profile and of its extensions; Mesa answers for it all the same",
    },
    Expected {
        functions: PLAIN,
        enumerants: &[
            0x825A..=0x825F,
            0x826E..=0x826E,
            0x82D9..=0x82E5,
            0x8820..=0x8820,
            0x8871..=0x8871,
            0x88B7..=0x88B7,
            0x8920..=0x8920,
            0x896E..=0x8975,
            0x8C3C..=0x8C3C,
            0x8D60..=0x8D60,
            0x8DBA..=0x8DBA,
            0x8DE7..=0x8DE8,
            0x8E5B..=0x8E5D,
            0x900A..=0x900A,
            0x90F3..=0x90F3,
            0x9127..=0x912E,
            0x919F..=0x91B0,
            0x9285..=0x9285,
            0x92BE..=0x92BF,
            0x9315..=0x9318,
            0x9554..=0x9554,
            0x9596..=0x9598,
        ],
        how: How::Refused,
        reason: "limits and state of OpenGL 4 and of extensions that MGL does not have, which Mesa cannot hide",
    },
    Expected {
        functions: PLAIN,
        enumerants: &[
            0x0B12..=0x0B13,
            0x0B23..=0x0B23,
            0x80E8..=0x80E9,
            0x821D..=0x821D,
            0x86A2..=0x86A3,
            0x87FE..=0x87FF,
            0x88FC..=0x88FC,
            0x8A2B..=0x8A2F,
            0x8A31..=0x8A33,
            0x8B4D..=0x8B4D,
            0x8C80..=0x8C80,
            0x8C8A..=0x8C8A,
            0x9111..=0x9111,
            0x9123..=0x9123,
            0x9144..=0x9144,
        ],
        how: How::Otherwise,
        reason: "limits, and lists of formats and extensions, that each implementation has of its own",
    },
    Expected {
        functions: PLAIN,
        enumerants: &[0x0B93..=0x0B93, 0x0B98..=0x0B98, 0x8CA4..=0x8CA5],
        how: How::Otherwise,
        reason: "masks of the stencil are all ones at first (GL 3.3 core, table 6.20); Mesa cuts them to the buffer's bits",
    },
    Expected {
        functions: PLAIN,
        enumerants: &[0x0C32..=0x0C32],
        how: How::Otherwise,
        reason: "a pbuffer of Mesa is single-buffered",
    },
    Expected {
        functions: PLAIN,
        enumerants: &[0x8E28..=0x8E28],
        how: How::Otherwise,
        reason: "the time",
    },
    Expected {
        functions: &["GetInteger64v"],
        enumerants: &[0x0B70..=0x0B70, 0x0B73..=0x0B73],
        how: How::Otherwise,
        reason: "a depth of 1 is the greatest integer of the type that is asked for (GL 3.3 core, section 6.1.2); Mesa has the greatest of 32 bits",
    },
    Expected {
        functions: INDEXED,
        enumerants: &[0x0B70..=0x0B70, 0x0BA2..=0x0BA2, 0x0C10..=0x0C10],
        how: How::Refused,
        reason: "viewports and scissors have no index before OpenGL 4.1",
    },
    Expected {
        functions: INDEXED,
        enumerants: &[
            0x0BA8..=0x0BA8,
            0x8068..=0x806A,
            0x82D6..=0x82D8,
            0x84E5..=0x84F6,
            0x8514..=0x8514,
            0x8919..=0x8919,
            0x8C1C..=0x8C2C,
            0x8F4F..=0x8F4F,
            0x9104..=0x9105,
            0x9596..=0x9598,
        ],
        how: How::Refused,
        reason: "indices of extensions and of OpenGL 4 (texture units by index, vertex bindings) that Mesa cannot hide",
    },
    Expected {
        functions: &["GetInteger64i_v"],
        enumerants: &[0x8E52..=0x8E52],
        how: How::Otherwise,
        reason: "the mask of samples is unsigned; Mesa extends a sign",
    },
    Expected {
        functions: &["GetTexParameteriv", "GetTexParameterfv", "GetTexParameterIiv", "GetTexParameterIuiv"],
        enumerants: &[0x1006..=0x1006],
        how: How::Refused,
        reason: "a parameter of an extension that Mesa cannot hide",
    },
    Expected {
        functions: &["GetTexLevelParameter*"],
        enumerants: &[0x919D..=0x919E],
        how: How::Refused,
        reason: "ranges of texel buffers come with OpenGL 4.3",
    },
    Expected {
        functions: &["GetVertexAttrib*"],
        enumerants: &[0x82D4..=0x82D5, 0x874E..=0x874E],
        how: How::Refused,
        reason: "parameters of attributes from OpenGL 4, which Mesa cannot hide",
    },
    Expected {
        functions: &["GetProgramiv", "GetShaderiv"],
        enumerants: &[0x8257..=0x8258, 0x8741..=0x8741, 0x9552..=0x9552],
        how: How::Refused,
        reason: "program binaries, separable programs and SPIR-V come with OpenGL 4",
    },
    Expected {
        functions: &["Enable", "Disable", "IsEnabled"],
        enumerants: &[0x80AB..=0x80AB, 0x9285..=0x9285],
        how: How::Refused,
        reason: "GL_SAMPLE_COVERAGE_INVERT is no capability, and blending of an extension that Mesa cannot hide",
    },
    Expected {
        functions: &["Enablei", "IsEnabledi"],
        enumerants: &[0x0C11..=0x0C11],
        how: How::Refused,
        reason: "only blending has an index in OpenGL 3.3 (section 4.1)",
    },
    Expected {
        functions: &["PixelStorei"],
        enumerants: &[0x9127..=0x912E],
        how: How::Refused,
        reason: "layouts of blocks come with OpenGL 4.2",
    },
    Expected {
        functions: &["ActiveTexture"],
        enumerants: &[0x8520..=0x857F],
        how: How::Refused,
        reason: "Mesa has more texture units",
    },
    Expected {
        functions: &["GenerateMipmap"],
        enumerants: &[0x0DE0..=0x0DE0, 0x806F..=0x806F, 0x8C18..=0x8C18],
        how: How::Otherwise,
        reason: "the specification has no error for a texture without a base image (GL 3.3 core, section 3.8.10)",
    },
];

/// Why it is no finding that a function makes something else of an enumerant. `own` and `reference` begin with the errors.
pub fn reason(function: &str, enumerant: u32, own: &str, reference: &str) -> Option<&'static str> {
    let how = match (own.trim().get(..6), reference.trim().get(..6)) {
        (Some("0x0500"), _) => How::Refused,
        // What MGL alone knows is a finding.
        (_, Some("0x0500")) => return None,
        _ => How::Otherwise,
    };
    let named = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => function.starts_with(start),
        None => function == pattern,
    };
    let found = EXPECTED.iter().find(|row| {
        row.how == how
            && row.functions.iter().any(|f| named(f))
            && row.enumerants.iter().any(|range| range.contains(&enumerant))
    });
    found.map(|row| row.reason)
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn only_what_is_listed_is_expected() {
        let (refused, good) = (" 0x0500", " 0x0000 [01]");
        assert!(reason("GetIntegerv", 0x0B00, refused, good).is_some());
        assert!(reason("GetIntegerv", 0x0B00, good, refused).is_none(), "what MGL alone answers");
        // What the core profile has, in the neighbourhood of what it has not.
        for there in [0x0B70, 0x0C22, 0x0C23, 0x0C52, 0x0D33, 0x8128, 0x8514, 0x851C, 0x8642, 0x8894, 0x8C2D] {
            assert!(reason("GetIntegerv", there, refused, good).is_none(), "{there:#x} has to be there");
        }
        assert!(reason("GetIntegerv", 0x0B12, " 0x0000 [00]", good).is_some());
        assert!(reason("GetIntegerv", 0x0BE2, " 0x0000 [00]", good).is_none());
        assert!(reason("GetVertexAttribfv", 0x874E, refused, good).is_some());
    }
}
