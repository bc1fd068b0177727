//! Rules of old versions that the normal form no longer has, as far as declarations and single tokens show them.

use super::declarations::{Declaration, Qualifiers, Storage, What};
use super::varyings::PRIMITIVES;
use super::Rewriter;
use crate::extensions;
use crate::log::Log;
use crate::options::ContextProfile;
use crate::token::{Kind, Token};
use mgpipe_types::reflection::Stage;

/// Words that GLSL 1.30 to 3.30 reserve and that the normal form knows or renames.
const RESERVED_SINCE_130: &[&str] = &["image1DShadow", "image2DShadow", "image1DArrayShadow", "image2DArrayShadow"];

impl Rewriter<'_, '_, '_> {
    /// Whether the shader enabled the extension.
    fn enabled(&self, name: &str) -> bool {
        extensions::find(name).is_some_and(|index| self.input.extensions.contains(&index))
    }

    /// Whether a feature is there: from a desktop version on, or by an extension.
    fn since(&self, version: u16, extension: &[&str]) -> bool {
        self.input.version.es || self.input.version.number >= version || extension.iter().any(|e| self.enabled(e))
    }

    /// Applies all rules; on failure the log holds the first violation.
    pub(super) fn version_checks(&self, log: &mut Log) -> Option<()> {
        let violation =
            self.token_violation().or_else(|| self.declarations.iter().find_map(|d| self.declaration_violation(d)));
        let violation = violation.or_else(|| self.output_violation());
        match violation {
            None => Some(()),
            Some((at, message)) => {
                self.error(log, at, &message);
                None
            }
        }
    }

    fn token_violation(&self) -> Option<(usize, String)> {
        let version = self.input.version;
        let number = version.number;
        for (at, token) in self.input.tokens.iter().enumerate() {
            if token.kind == Kind::Punct {
                let bitwise = matches!(
                    &*token.text,
                    "%" | "<<" | ">>" | "&" | "|" | "^" | "~" | "%=" | "<<=" | ">>=" | "&=" | "|=" | "^="
                );
                if bitwise && number < 130 && !version.es {
                    return Some((at, format!("operator `{}' is reserved in GLSL {number}", token.text)));
                }
                continue;
            }
            if !token.is_ident() || version.es {
                continue;
            }
            let name = &*token.text;
            let missing = match name {
                "gl_VertexID" | "gl_ClipDistance" => number < 130,
                "gl_InstanceID" => number < 140,
                "gl_InstanceIDARB" => !self.enabled("GL_ARB_draw_instanced"),
                "gl_MaxClipPlanes" | "gl_MaxLights" | "gl_MaxTextureCoords" | "gl_MaxTextureUnits" => {
                    !(version.compatibility || (number <= 150 && self.options.profile == ContextProfile::Compatibility))
                }
                "double" | "dvec2" | "dvec3" | "dvec4" => {
                    number >= 130 && !self.since(400, &["GL_ARB_gpu_shader_fp64", "GL_ARB_vertex_attrib_64bit"])
                }
                "row_major" | "packed" => number == 130 && !self.enabled("GL_ARB_uniform_buffer_object"),
                _ => number >= 130 && RESERVED_SINCE_130.contains(&name),
            };
            if missing {
                let reserved = !name.starts_with("gl_");
                let message = if reserved {
                    format!("illegal use of reserved word `{name}'")
                } else {
                    format!("`{name}' undeclared")
                };
                return Some((at, message));
            }
        }
        None
    }

    fn declaration_violation(&self, declaration: &Declaration) -> Option<(usize, String)> {
        let q = &declaration.qualifiers;
        let start = declaration.start;
        if self.input.version.es {
            return None;
        }
        let number = self.input.version.number;
        let stage = self.stage;
        let old_storage = matches!(q.storage, Storage::Attribute | Storage::Varying);
        if let Some(violation) = self.order_violation(declaration) {
            return Some(violation);
        }
        if old_storage && self.interpolated(declaration) {
            return Some((start, "interpolation qualifiers do not apply to `varying' and `attribute'".into()));
        }
        let interface = matches!(q.storage, Storage::In | Storage::Out);
        if !interface && self.interpolated(declaration) {
            return Some((start, "interpolation qualifiers apply only to shader inputs and outputs".into()));
        }
        let modern =
            ["GL_ARB_explicit_attrib_location", "GL_ARB_separate_shader_objects", "GL_ARB_fragment_coord_conventions"];
        if matches!(q.storage, Storage::In | Storage::Out) && !self.since(130, &modern) {
            let word = self.text(q.storage_at);
            return Some((q.storage_at, format!("`{word}' is not available at global scope in GLSL {number}")));
        }
        if let Some(violation) = self.layout_violation(q, declaration) {
            return Some(violation);
        }
        match &declaration.what {
            What::Variables { type_range, declarators, structure } => {
                if old_storage && declarators.is_empty() && self.text(type_range.0 + 1) == "{" {
                    return Some((start, "blocks cannot be declared `varying' or `attribute'".into()));
                }
                let varying = matches!(q.storage, Storage::In | Storage::Out | Storage::Varying)
                    && !(stage == Stage::Vertex && q.storage == Storage::In);
                let is_struct = structure.is_some() || self.is_struct(self.text(type_range.0));
                if varying && is_struct && number < 150 {
                    return Some((start, format!("varyings cannot be structures in GLSL {number}")));
                }
                if !self.since(430, &["GL_ARB_arrays_of_arrays"]) {
                    for declarator in declarators {
                        let dimensions =
                            self.dimensions((type_range.0 + 1, type_range.1)) + self.dimensions(declarator.array);
                        if structure.is_none() && dimensions > 1 {
                            let message = "GL_ARB_arrays_of_arrays required for defining arrays of arrays";
                            return Some((declarator.name_at, message.into()));
                        }
                    }
                    if let Some(structure) = structure {
                        if let Some(violation) = self.member_arrays(structure.members) {
                            return Some(violation);
                        }
                    }
                }
                let first = declarators.first().map_or("", |d| self.text(d.name_at));
                if first == "gl_TexCoord" {
                    let right = matches!(q.storage, Storage::Varying | Storage::In | Storage::Out)
                        && self.text(type_range.0) == "vec4"
                        && declarators[0].array.0 != declarators[0].array.1
                        && self.elements(declarators[0].array) <= 8;
                    if !right {
                        return Some((start, "invalid redeclaration of `gl_TexCoord'".into()));
                    }
                }
                if first == "gl_FragCoord" {
                    // Only the first redeclaration must come before every use.
                    let before = self.input.tokens[..start].iter().position(|t| t.is("gl_FragCoord"));
                    let redeclared = before.is_some_and(|at| {
                        self.declarations.iter().any(|d| match &d.what {
                            What::Variables { declarators, .. } => declarators.iter().any(|d| d.name_at == at),
                            _ => false,
                        })
                    });
                    if before.is_some() && !redeclared {
                        return Some((start, "gl_FragCoord redeclared after its first use".into()));
                    }
                }
            }
            What::Block { name_at, members, .. } => {
                let ids = ["packed", "shared", "std140", "std430", "row_major", "column_major"];
                if matches!(q.storage, Storage::In | Storage::Out) {
                    if let Some(id) = q.layout.iter().find(|id| ids.contains(&id.name.as_str())) {
                        return Some((
                            id.at,
                            format!("layout qualifier `{}' needs a uniform or buffer block", id.name),
                        ));
                    }
                }
                let old = (members.0..members.1).find(|at| matches!(self.text(*at), "varying" | "attribute"));
                if let Some(at) = old {
                    return Some((at, format!("illegal qualifier `{}' on a block member", self.text(at))));
                }
                if self.text(*name_at) != "gl_PerVertex" {
                    for member in self.scanner.members(*members) {
                        if let What::Variables { declarators, .. } = &member.what {
                            let bad = declarators.iter().find(|d| self.text(d.name_at).starts_with("gl_"));
                            if let Some(bad) = bad {
                                let name = self.text(bad.name_at);
                                return Some((bad.name_at, format!("identifier `{name}' uses reserved `gl_' prefix")));
                            }
                        }
                    }
                }
                if !self.since(430, &["GL_ARB_arrays_of_arrays"]) {
                    if let Some(violation) = self.member_arrays(*members) {
                        return Some(violation);
                    }
                }
            }
            What::QualifierOnly if stage == Stage::Geometry && q.storage == Storage::In => {
                let memory = ["packed", "shared", "std140", "row_major", "column_major"];
                if let Some(id) = q.layout.iter().find(|id| memory.contains(&id.name.as_str())) {
                    return Some((id.at, format!("invalid input layout qualifier `{}'", id.name)));
                }
                let given: Vec<_> = q.layout.iter().filter(|id| PRIMITIVES.contains(&id.name.as_str())).collect();
                if given.len() > 1 && given.iter().any(|id| id.name != given[0].name) {
                    return Some((given[1].at, "conflicting input primitives".into()));
                }
            }
            What::Function { parameters, .. } => {
                let layout =
                    (parameters.0..parameters.1).find(|at| self.text(*at) == "layout" && self.text(at + 1) == "(");
                if let Some(at) = layout.filter(|_| !self.since(420, &["GL_ARB_shader_image_load_store"])) {
                    return Some((at, "layout qualifiers are not allowed on parameters".into()));
                }
            }
            _ => {}
        }
        None
    }

    fn is_struct(&self, name: &str) -> bool {
        self.declarations.iter().any(|d| match &d.what {
            What::Variables { structure: Some(s), .. } => s.name_at.is_some_and(|at| self.text(at) == name),
            _ => false,
        })
    }

    fn dimensions(&self, range: (usize, usize)) -> usize {
        let mut count = 0;
        let mut at = range.0;
        while at < range.1 && self.text(at) == "[" {
            count += 1;
            at = self.scanner.partner[at].max(at) + 1;
        }
        count
    }

    fn member_arrays(&self, members: (usize, usize)) -> Option<(usize, String)> {
        for member in self.scanner.members(members) {
            if let What::Variables { type_range, structure: None, declarators } = &member.what {
                let of_type = self.dimensions((type_range.0 + 1, type_range.1));
                if let Some(bad) = declarators.iter().find(|d| of_type + self.dimensions(d.array) > 1) {
                    let message = "GL_ARB_arrays_of_arrays required for defining arrays of arrays";
                    return Some((bad.name_at, message.into()));
                }
            }
        }
        None
    }

    /// Tokens of the qualifiers in front of a declaration, without layouts.
    fn qualifier_words(&self, declaration: &Declaration) -> Vec<(usize, u8)> {
        let mut list = Vec::new();
        let mut at = declaration.start;
        while let Some(token) = self.input.tokens.get(at).filter(|t| t.is_ident()) {
            if let Some((_, end)) = declaration.qualifiers.layout_ranges.iter().find(|(s, _)| *s == at) {
                at = *end;
                continue;
            }
            let Some(rank) = rank(token) else { break };
            list.push((at, rank));
            at += 1;
        }
        list
    }

    fn interpolated(&self, declaration: &Declaration) -> bool {
        self.qualifier_words(declaration).iter().any(|(_, rank)| *rank == 1)
    }

    /// Before GLSL 4.20 qualifiers had a fixed order.
    fn order_violation(&self, declaration: &Declaration) -> Option<(usize, String)> {
        if self.since(420, &["GL_ARB_shading_language_420pack"]) || matches!(declaration.what, What::Other) {
            return None;
        }
        let words = self.qualifier_words(declaration);
        if let Some(pair) = words.windows(2).find(|pair| pair[0].1 > pair[1].1) {
            return Some((
                pair[1].0,
                format!("`{}' stands in the wrong place among the qualifiers", self.text(pair[1].0)),
            ));
        }
        let first_word = words.first().map(|(at, _)| *at)?;
        let late = declaration.qualifiers.layout_ranges.iter().find(|(at, _)| *at > first_word);
        late.map(|(at, _)| (*at, "layout qualifiers must come first".into()))
    }

    fn layout_violation(&self, q: &Qualifiers, declaration: &Declaration) -> Option<(usize, String)> {
        if q.layout.is_empty() {
            return None;
        }
        let old_storage = matches!(q.storage, Storage::Attribute | Storage::Varying);
        if old_storage {
            return Some((declaration.start, "layout qualifiers do not apply to `attribute' and `varying'".into()));
        }
        let stage = self.stage;
        for id in &q.layout {
            let ok = match (id.name.as_str(), q.storage) {
                ("location" | "index", Storage::In | Storage::Out) => {
                    let outer =
                        matches!((stage, q.storage), (Stage::Vertex, Storage::In) | (Stage::Fragment, Storage::Out));
                    if outer {
                        self.since(330, &["GL_ARB_explicit_attrib_location", "GL_ARB_separate_shader_objects"])
                    } else {
                        self.since(410, &["GL_ARB_separate_shader_objects"])
                    }
                }
                ("location", Storage::Uniform) => self.since(430, &["GL_ARB_explicit_uniform_location"]),
                ("binding", Storage::Uniform) => self.since(
                    420,
                    &[
                        "GL_ARB_shading_language_420pack",
                        "GL_ARB_shader_atomic_counters",
                        "GL_ARB_shader_image_load_store",
                    ],
                ),
                ("origin_upper_left" | "pixel_center_integer", _) => {
                    self.since(150, &["GL_ARB_fragment_coord_conventions"])
                }
                ("std140" | "shared" | "packed" | "row_major" | "column_major", _) => {
                    self.since(140, &["GL_ARB_uniform_buffer_object"])
                }
                _ => true,
            };
            if !ok {
                return Some((id.at, format!("layout qualifier `{}' needs a later version or an extension", id.name)));
            }
            let literal = id.value.is_none_or(|(start, end)| end == start + 1);
            if !literal && !self.since(440, &["GL_ARB_enhanced_layouts"]) {
                return Some((
                    id.at,
                    format!("the value of layout qualifier `{}' must be an integer literal", id.name),
                ));
            }
        }
        None
    }

    /// A fragment shader may write its own outputs or the removed built-in ones, not both (GLSL 1.30, section 7.2).
    fn output_violation(&self) -> Option<(usize, String)> {
        if self.stage != Stage::Fragment || !self.used.iter().any(|u| u == "gl_FragColor" || u == "gl_FragData") {
            return None;
        }
        let old = self.first_write(&["gl_FragColor", "gl_FragData"])?;
        let own: Vec<&str> = self
            .declarations
            .iter()
            .filter(|d| d.qualifiers.storage == Storage::Out)
            .filter_map(|d| match &d.what {
                What::Variables { declarators, .. } => Some(declarators),
                _ => None,
            })
            .flatten()
            .map(|d| self.text(d.name_at))
            .filter(|name| !name.starts_with("gl_"))
            .collect();
        let written = self.first_write(&own)?;
        let at = old.max(written);
        Some((at, "fragment shader writes to both built-in and user-defined outputs".into()))
    }

    /// The first assignment to one of the names, subscripts and fields included.
    fn first_write(&self, names: &[&str]) -> Option<usize> {
        (0..self.input.tokens.len()).find(|start| {
            let at = *start;
            if !names.contains(&self.text(at)) || (at > 0 && self.text(at - 1) == ".") {
                return false;
            }
            let mut next = at + 1;
            loop {
                match self.text(next) {
                    "[" => next = self.scanner.partner[next].max(next) + 1,
                    "." => next += 2,
                    "=" | "+=" | "-=" | "*=" | "/=" | "++" | "--" => return true,
                    _ => return false,
                }
            }
        })
    }
}

/// Place of a qualifier in the order of old versions.
fn rank(token: &Token<'_>) -> Option<u8> {
    Some(match &*token.text {
        "invariant" => 0,
        "flat" | "smooth" | "noperspective" => 1,
        "centroid" => 2,
        "const" | "in" | "out" | "inout" | "attribute" | "varying" | "uniform" => 3,
        "highp" | "mediump" | "lowp" => 4,
        _ => return None,
    })
}
