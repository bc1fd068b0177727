//! Calls of texture functions in ESSL that the translation leaves otherwise than OpenGL has them: a bias of samplers is added to
//! the level, and the size of a one-dimensional array is taken from that of the two-dimensional one that stands for it.

/// Name of the uniform with the biases, one for each of a program's texture units.
pub(crate) const BIASES: &str = "mgl_Bias";

/// Declaration of a sampler in the text: its unit and its name.
fn samplers(text: &str) -> impl Iterator<Item = (u32, &str, &str)> {
    text.lines()
        .filter_map(|line| {
            let rest = line.strip_prefix("layout(binding = ")?;
            let (unit, rest) = rest.split_once(") uniform ")?;
            let (kind, name) = rest.trim_end().strip_suffix(';')?.rsplit_once(' ')?;
            let kind = kind.rsplit(' ').next()?;
            kind.contains("sampler").then(|| (unit.parse().ok(), kind, name.split('[').next().unwrap_or(name)))
        })
        .filter_map(|(unit, kind, name)| Some((unit?, kind, name)))
}

/// End of the arguments that begin at a place, and the places of the commas between them.
fn arguments(text: &str, start: usize) -> Option<(usize, Vec<usize>)> {
    let (mut depth, mut commas) = (0, Vec::new());
    for (at, c) in text[start..].char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' if depth == 0 => return Some((start + at, commas)),
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => commas.push(start + at),
            _ => {}
        }
    }
    None
}

/// Where a call of `function` with the sampler as its first argument has its arguments, from a place on.
fn find(text: &str, function: &str, sampler: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = text[at..].find(function) {
        let start = at + found + function.len();
        let whole = text[..at + found].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let named = text[start..].strip_prefix(sampler).is_some_and(|rest| rest.starts_with([',', '[', ')']));
        if whole && named {
            return Some(start);
        }
        at = start;
    }
    None
}

/// Takes the sizes of one-dimensional arrays, which `units` show, from the right components.
pub(crate) fn with_array_sizes(text: String, units: &[u32]) -> String {
    let names: Vec<String> =
        samplers(&text).filter(|(unit, ..)| units.contains(unit)).map(|(_, _, name)| name.to_owned()).collect();
    let mut text = text;
    for name in names {
        let mut from = 0;
        while let Some(start) = find(&text, "textureSize(", &name, from) {
            from = start;
            let Some((end, _)) = arguments(&text, start) else { break };
            if text[end + 1..].starts_with(".x") {
                text.replace_range(end + 1..end + 3, ".xz");
            }
        }
    }
    text
}

/// Adds the biases to the calls of a fragment stage that has samplers on `count` units.
pub(crate) fn with_biases(text: &str, count: u32) -> String {
    let found: Vec<(u32, String, String)> =
        samplers(text).map(|(unit, kind, name)| (unit, kind.to_owned(), name.to_owned())).collect();
    let mut text = text.to_owned();
    for (unit, kind, name) in found {
        // These have no form with a bias, those no levels.
        if kind.ends_with("ArrayShadow") || kind.contains("MS") || kind.contains("Buffer") {
            continue;
        }
        // Arguments without a bias, and which one is the level where the call names it.
        for (function, plain, level) in [
            ("texture(", 2, None),
            ("textureProj(", 2, None),
            ("textureOffset(", 3, None),
            ("textureProjOffset(", 3, None),
            ("textureLod(", 3, Some(2)),
            ("textureProjLod(", 3, Some(2)),
            ("textureLodOffset(", 4, Some(2)),
        ] {
            let mut from = 0;
            while let Some(start) = find(&text, function, &name, from) {
                from = start;
                let Some((end, commas)) = arguments(&text, start) else { break };
                let sampler = &text[start..commas.first().copied().unwrap_or(end)];
                let element = sampler[name.len()..].trim().trim_start_matches('[').trim_end_matches(']').to_owned();
                let bias = match element.is_empty() {
                    true => format!("{BIASES}[{unit}]"),
                    false => format!("{BIASES}[{unit} + int({element})]"),
                };
                // Behind the level, or the bias that is there, or the last argument.
                let (place, first) = match level {
                    Some(level) => (commas.get(level).copied().unwrap_or(end), false),
                    None => (end, commas.len() < plain),
                };
                text.insert_str(place, &if first { format!(", {bias}") } else { format!(" + {bias}") });
            }
        }
    }
    let at = crate::essl::declarations(&text);
    text.insert_str(at, &format!("uniform highp float {BIASES}[{}];\n", count.max(1)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "#version 320 es\n\nlayout(binding = 1) uniform highp sampler2D image;\nlayout(binding = 2) uniform highp sampler2DArray list[2];\n";

    #[test]
    fn biases_go_behind_what_is_there() {
        let text = format!("{HEAD}void main() {{ a = texture(image, f(u, v)); b = texture(image, u, c); d = textureLod(image, u, 2.0); e = texture(list[i], w); my_texture(image, u); }}\n");
        let out = with_biases(&text, 4);
        assert!(out.contains("texture(image, f(u, v), mgl_Bias[1]);"), "{out}");
        assert!(out.contains("texture(image, u, c + mgl_Bias[1]);"), "{out}");
        assert!(out.contains("textureLod(image, u, 2.0 + mgl_Bias[1]);"), "{out}");
        assert!(out.contains("texture(list[i], w, mgl_Bias[2 + int(i)]);"), "{out}");
        assert!(out.contains("my_texture(image, u);"), "{out}");
        assert!(out.contains("uniform highp float mgl_Bias[4];\n"), "{out}");
    }

    #[test]
    fn layers_are_the_third_number_of_a_size() {
        let text =
            format!("{HEAD}void main() {{ a = vec2(textureSize(list[0], g(1)).x); b = textureSize(image, 0).x; }}\n");
        let out = with_array_sizes(text, &[2]);
        assert!(out.contains("textureSize(list[0], g(1)).xz)") && out.contains("textureSize(image, 0).x;"), "{out}");
    }
}
