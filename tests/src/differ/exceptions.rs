//! Differences from the reference that are not MGL's fault, each with its reason.

use super::sequence::Call;

/// A difference that is known.
struct Exception {
    /// The function.
    name: &'static str,
    /// Error of MGL and of the reference; `None` where only the answers differ.
    errors: Option<(&'static str, &'static str)>,
    /// Whether the call is of this sort.
    when: fn(&Call) -> bool,
    /// Why it is right so.
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        name: "VertexAttribDivisor",
        errors: Some(("0x0502", "0x0000")),
        when: |_| true,
        reason: "without a vertex array the core profile has no attributes to set (GL 3.3 core, appendix E.2.2); Mesa takes divisors",
    },
    Exception {
        name: "RenderbufferStorage",
        errors: Some(("0x0500", "0x0000")),
        when: |call| call.numbers[1] == 0x8C3D,
        reason: "GL_RGB9_E5 cannot be rendered to (GL 3.3 core, section 4.4.4); Mesa takes it for renderbuffers",
    },
    Exception {
        name: "TexImage2DMultisample",
        errors: Some(("0x0500", "0x0000")),
        when: |call| call.numbers[2] == 0x8C3D,
        reason: "GL_RGB9_E5 cannot be rendered to (GL 3.3 core, section 4.4.4); Mesa takes it for multisampled textures",
    },
    Exception {
        name: "FramebufferTexture2D",
        errors: Some(("0x0502", "0x0000")),
        when: |call| call.numbers[2] == 0x8C1A,
        reason: "an array is attached by glFramebufferTextureLayer (GL 3.3 core, section 4.4.2); Mesa takes its target here",
    },
    Exception {
        name: "BufferSubData",
        errors: Some(("0x0502", "0x0000")),
        when: |_| true,
        reason: "any mapping of a buffer is in the way (GL 3.3 core, section 2.9.3); Mesa looks at the mapped range",
    },
    Exception {
        name: "Draw*",
        errors: Some(("0x0502", "0x0000")),
        when: |_| true,
        reason: "Mesa 22.3 draws from mapped buffers, which is an error (GL 3.3 core, section 2.9.3)",
    },
    Exception {
        name: "Draw*",
        errors: Some(("0x0501", "0x0000")),
        when: |call| (call.numbers[1] as i32) < 0,
        reason: "Mesa takes a first vertex below zero",
    },
    Exception {
        name: "*i",
        errors: Some(("0x0500", "0x0000")),
        when: |call| call.numbers[0] == 0x0C11,
        reason: "only blending has an index in OpenGL 3.3 (section 4.1); Mesa takes the scissor of OpenGL 4.1",
    },
    Exception {
        name: "GenerateMipmap",
        errors: Some(("0x0000", "0x0502")),
        when: |_| true,
        reason: "the specification has no error for a texture without a base image (GL 3.3 core, section 3.8.10)",
    },
    Exception {
        name: "BindBufferRange",
        errors: Some(("0x0000", "0x0501")),
        when: |call| call.numbers[2] == 0,
        reason: "a binding is taken away whatever the range (GL 3.3 core, section 2.9.1); Mesa looks at its alignment",
    },
    Exception {
        name: "BindBufferRange",
        errors: Some(("0x0501", "0x0000")),
        when: |call| call.numbers[3] < 0,
        reason: "Mesa takes offsets below zero",
    },
    Exception {
        name: "*SubImage2D",
        errors: Some(("0x0501", "0x0000")),
        when: |call| call.numbers[2] > 1 << 30,
        reason: "the sum of a great offset and a size overflows in Mesa",
    },
    Exception {
        name: "FramebufferRenderbuffer",
        errors: Some(("0x0000", "0x0502")),
        when: |call| call.numbers[1] == 0x821A,
        reason: "attached for depth and stencil, an image without one of them is incomplete, but no error (GL 3.3 core, section 4.4.2)",
    },
    Exception {
        name: "ReadPixels",
        errors: Some(("0x0500", "0x0000")),
        when: |call| call.numbers[4] == 0x8000,
        reason: "Mesa has GL_EXT_abgr",
    },
    Exception {
        name: "ReadPixels",
        errors: Some(("0x0502", "0x0000")),
        when: |_| true,
        reason: "what does not fit into the buffer, or a mapped buffer, is an error whatever lies in the framebuffer (GL 3.3 core, section 4.3.1); Mesa looks at the part inside",
    },
    Exception {
        name: "RenderbufferStorageMultisample",
        errors: Some(("0x0500", "0x0000")),
        when: |call| call.numbers[2] == 0x8C3D,
        reason: "GL_RGB9_E5 cannot be rendered to (GL 3.3 core, section 4.4.4); Mesa takes it for renderbuffers",
    },
    Exception {
        name: "TexParameteri",
        errors: Some(("0x0000", "0x0501")),
        when: |call| call.numbers[0] == 0x84F5 && call.numbers[1] == 0x813D,
        reason: "only the base level of rectangles has to be 0 (GL 3.3 core, section 3.8.4); Mesa wants the same of the greatest",
    },
    Exception {
        name: "GetFramebufferAttachmentParameteriv",
        errors: None,
        when: |call| call.numbers[1] == 0x8D20 && call.numbers[2] == 0x8211,
        reason: "stencils are unsigned integers; Mesa has the type of the depth beside them",
    },
    Exception {
        name: "GetVertexAttribiv",
        errors: None,
        when: |call| call.numbers[1] == 0x8626,
        reason: "numbers are rounded to integers (GL 3.3 core, section 6.1.2); Mesa cuts them off",
    },
    Exception {
        name: "GetVertexAttribiv",
        errors: None,
        when: |call| matches!(call.numbers[1], 0x8623..=0x8625 | 0x886A | 0x88FD),
        reason: "Mesa sets the type of attributes in calls that it refuses for want of a vertex array",
    },
    Exception {
        name: "BeginTransformFeedback",
        errors: Some(("0x0502", "0x0000")),
        when: |_| true,
        reason: "a mapped buffer captures nothing (GL 3.3 core, section 2.9.3); Mesa begins",
    },
    Exception {
        name: "PointSize",
        errors: Some(("0x0501", "0x0000")),
        when: |call| f32::from_bits(call.numbers[0] as u32).is_nan(),
        reason: "a size that is no number is not greater than zero",
    },
    Exception {
        name: "LineWidth",
        errors: Some(("0x0501", "0x0000")),
        when: |call| f32::from_bits(call.numbers[0] as u32).is_nan(),
        reason: "a width that is no number is not greater than zero",
    },
    Exception {
        name: "TexImage*",
        errors: Some(("0x0501", "0x0000")),
        when: |call| is_proxy(call.numbers[0]),
        reason: "sizes that no image can have are errors for proxies, too (GL 3.3 core, section 3.8.1); Mesa answers with zeros",
    },
];

fn is_proxy(target: i64) -> bool {
    matches!(target, 0x8063 | 0x8064 | 0x8070 | 0x84F7 | 0x851B | 0x8C19 | 0x8C1B | 0x9101 | 0x9103)
}

/// Whether a name is meant by another, which may begin or end with an asterisk for anything.
fn names(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => name == pattern,
    }
}

/// State that differs after calls of a sort, each with the reason.
const STATE: &[(&str, &str, &str)] = &[(
    "0x8a28",
    "DeleteBuffers",
    "a deleted buffer leaves the bindings that it has (GL 3.3 core, appendix D.1.2); Mesa empties the general one as well",
)];

/// The reason for which a difference in a piece of state is no finding in this sequence.
pub fn find_state(piece: &str, calls: &[Call]) -> Option<&'static str> {
    let found =
        STATE.iter().find(|(state, name, _)| piece.starts_with(state) && calls.iter().any(|c| c.name() == *name));
    found.map(|(.., reason)| *reason)
}

/// The reason for which the difference in this call is no finding.
pub fn find(call: &Call, own: (&str, &str), reference: (&str, &str)) -> Option<&'static str> {
    let found = EXCEPTIONS.iter().find(|exception| {
        let errors = match exception.errors {
            Some(pair) => pair == (own.0, reference.0),
            None => own.0 == reference.0,
        };
        names(exception.name, call.name()) && errors && (exception.when)(call)
    });
    found.map(|exception| exception.reason)
}
