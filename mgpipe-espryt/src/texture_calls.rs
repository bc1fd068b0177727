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

/// Makes the offsets of one-dimensional textures, which `units` show, two-dimensional where the translation has not.
pub(crate) fn with_wide_offsets(text: String, units: &[u32]) -> String {
    let names: Vec<String> =
        samplers(&text).filter(|(unit, ..)| units.contains(unit)).map(|(_, _, name)| name.to_owned()).collect();
    let mut text = text;
    for name in names {
        let mut from = 0;
        while let Some(start) = find(&text, "texelFetchOffset(", &name, from) {
            from = start;
            let Some((end, commas)) = arguments(&text, start) else { break };
            let Some(last) = commas.last().map(|comma| comma + 1) else { break };
            let offset = text[last..end].trim().to_owned();
            if !offset.starts_with("ivec2(") {
                text.replace_range(last..end, &format!(" ivec2({offset}, 0)"));
            }
        }
    }
    text
}

/// A sampler whose calls get a bias, as the place where they stand knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Biased {
    name: String,
    /// Elements of an array.
    elements: Option<u32>,
    /// The unit, or `None` for a parameter of the function, which comes with a parameter for the bias.
    unit: Option<u32>,
}

/// Name of the parameter with the bias of a sampler that is a parameter.
fn parameter(sampler: &str) -> String {
    format!("mgl_bias_{sampler}")
}

impl Biased {
    /// A sampler of a type and a name with the brackets of an array, if it has a form with a bias and levels.
    fn new(kind: &str, declared: &str, unit: Option<u32>) -> Option<Biased> {
        if !kind.contains("sampler") || kind.ends_with("ArrayShadow") || kind.contains("MS") || kind.contains("Buffer")
        {
            return None;
        }
        let (name, rest) = declared.split_once('[').unwrap_or((declared, ""));
        let elements = rest.trim_end_matches(']').parse().ok();
        Some(Biased { name: name.to_owned(), elements, unit })
    }

    /// The bias of the sampler, or of the element whose index the text gives.
    fn bias(&self, element: &str) -> String {
        match (self.unit, element.is_empty()) {
            (Some(unit), true) => format!("{BIASES}[{unit}]"),
            (Some(unit), false) => format!("{BIASES}[{unit} + int({element})]"),
            (None, true) => parameter(&self.name),
            (None, false) => format!("{}[int({element})]", parameter(&self.name)),
        }
    }

    /// What a function gets whose parameter this sampler becomes; `argument` is its name, perhaps with an index.
    fn passed(&self, argument: &str) -> String {
        let element = index_of(&argument[self.name.len()..]);
        match (self.unit, self.elements, element.is_empty()) {
            (Some(unit), Some(count), true) => {
                let list: Vec<String> = (unit..unit + count).map(|unit| format!("{BIASES}[{unit}]")).collect();
                format!("float[{count}]({})", list.join(", "))
            }
            _ => self.bias(&element),
        }
    }
}

/// The index in brackets behind a name; empty when there is none.
fn index_of(rest: &str) -> String {
    rest.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or("").to_owned()
}

/// A function with samplers among its parameters: its name, and the number and declaration of each.
struct Taker {
    name: String,
    samplers: Vec<(usize, Biased)>,
}

/// The head of a function that is defined in a line: name and parameters.
fn head(line: &str) -> Option<(&str, &str)> {
    if line.starts_with(char::is_whitespace) || line.starts_with("layout") || line.starts_with('#') {
        return None;
    }
    let (before, rest) = line.trim_end().split_once('(')?;
    let name = before.rsplit(' ').next().filter(|name| !name.is_empty() && before.contains(' '))?;
    Some((name, rest.strip_suffix(')')?))
}

fn taker(line: &str) -> Option<Taker> {
    let (name, parameters) = head(line)?;
    let samplers: Vec<(usize, Biased)> = parameters
        .split(',')
        .enumerate()
        .filter_map(|(at, one)| {
            let (kind, declared) = one.trim().rsplit_once(' ')?;
            Biased::new(kind.rsplit(' ').next()?, declared, None).map(|biased| (at, biased))
        })
        .collect();
    (!samplers.is_empty()).then(|| Taker { name: name.to_owned(), samplers })
}

/// Adds the biases to the calls of a fragment stage that has samplers on `count` units. Functions that take samplers get the
/// biases of these, too.
pub(crate) fn with_biases(text: &str, count: u32) -> String {
    let globals: Vec<Biased> = text
        .lines()
        .filter_map(|line| {
            let (unit, rest) = line.strip_prefix("layout(binding = ")?.split_once(") uniform ")?;
            let (kind, declared) = rest.trim_end().strip_suffix(';')?.rsplit_once(' ')?;
            Biased::new(kind.rsplit(' ').next()?, declared, Some(unit.parse().ok()?))
        })
        .collect();
    let takers: Vec<Taker> = text.lines().filter_map(taker).collect();
    let mut out = String::with_capacity(text.len() + 1024);
    // The functions one by one: each knows the globals and its own parameters.
    let mut body = String::new();
    let mut own: Vec<Biased> = Vec::new();
    for line in text.split_inclusive('\n') {
        if head(line).is_some() {
            out.push_str(&with_biases_of(&std::mem::take(&mut body), &globals, &own, &takers));
            own.clear();
            if let Some(taker) = taker(line) {
                let extra: String = taker
                    .samplers
                    .iter()
                    .map(|(_, s)| {
                        let brackets = s.elements.map_or(String::new(), |count| format!("[{count}]"));
                        format!(", highp float {}{brackets}", parameter(&s.name))
                    })
                    .collect();
                let end = line.rfind(')').unwrap_or(line.len());
                out.push_str(&line[..end]);
                out.push_str(&extra);
                out.push_str(&line[end..]);
                own = taker.samplers.into_iter().map(|(_, sampler)| sampler).collect();
                continue;
            }
        }
        body.push_str(line);
    }
    out.push_str(&with_biases_of(&body, &globals, &own, &takers));
    let at = crate::essl::declarations(&out);
    out.insert_str(at, &format!("uniform highp float {BIASES}[{}];\n", count.max(1)));
    out
}

/// Adds the biases to the calls in the body of one function.
fn with_biases_of(body: &str, globals: &[Biased], own: &[Biased], takers: &[Taker]) -> String {
    let mut text = body.to_owned();
    for sampler in own.iter().chain(globals.iter().filter(|g| own.iter().all(|o| o.name != g.name))) {
        add_to_calls(&mut text, sampler);
    }
    for taker in takers {
        let call = format!("{}(", taker.name);
        let mut at = 0;
        while let Some(found) = text[at..].find(&call) {
            let start = at + found + call.len();
            let whole = text[..at + found].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
            at = start;
            let Some((end, commas)) = arguments(&text, start).filter(|_| whole) else { continue };
            let mut extra = String::new();
            for (number, _) in &taker.samplers {
                let first = if *number == 0 { Some(start) } else { commas.get(number - 1).map(|comma| comma + 1) };
                let Some(first) = first else { continue };
                let argument = text[first..commas.get(*number).copied().unwrap_or(end)].trim();
                let name = argument.split('[').next().unwrap_or(argument);
                if let Some(sampler) = own.iter().chain(globals).find(|sampler| sampler.name == name) {
                    extra.push_str(&format!(", {}", sampler.passed(argument)));
                }
            }
            text.insert_str(end, &extra);
        }
    }
    text
}

/// Adds the bias of one sampler to the calls that have it as their first argument.
fn add_to_calls(text: &mut String, sampler: &Biased) {
    // Arguments without a bias, and which one is the level where the call names it.
    for (function, plain, level) in [
        ("texture(", 2, None),
        ("textureProj(", 2, None),
        ("textureOffset(", 3, None),
        ("textureProjOffset(", 3, None),
        ("textureLod(", 3, Some(2)),
        ("textureProjLod(", 3, Some(2)),
        ("textureLodOffset(", 4, Some(2)),
        ("textureProjLodOffset(", 4, Some(2)),
    ] {
        let mut from = 0;
        while let Some(start) = find(text, function, &sampler.name, from) {
            from = start;
            let Some((end, commas)) = arguments(text, start) else { break };
            let argument = &text[start..commas.first().copied().unwrap_or(end)];
            let bias = sampler.bias(&index_of(&argument[sampler.name.len()..]));
            // Behind the level, or the bias that is there, or the last argument.
            let (place, first) = match level {
                Some(level) => (commas.get(level).copied().unwrap_or(end), false),
                None => (end, commas.len() < plain),
            };
            text.insert_str(place, &if first { format!(", {bias}") } else { format!(" + {bias}") });
        }
    }
    // A bias is a factor of the gradients.
    for function in ["textureGrad(", "textureProjGrad(", "textureGradOffset(", "textureProjGradOffset("] {
        let mut from = 0;
        while let Some(start) = find(text, function, &sampler.name, from) {
            from = start;
            let Some((end, commas)) = arguments(text, start) else { break };
            let argument = &text[start..commas.first().copied().unwrap_or(end)];
            let bias = sampler.bias(&index_of(&argument[sampler.name.len()..]));
            for gradient in [3, 2] {
                let Some(begin) = commas.get(gradient - 1).map(|comma| comma + 1) else { continue };
                let close = commas.get(gradient).copied().unwrap_or(end);
                let value = text[begin..close].trim().to_owned();
                text.replace_range(begin..close, &format!(" ({value}) * exp2({bias})"));
            }
        }
    }
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
    fn functions_pass_the_biases_of_their_samplers_on() {
        let text = format!(
            "{HEAD}vec4 f(highp sampler2D s, vec2 p)\n{{\n    return texture(s, p);\n}}\n\n\
             vec4 g(highp sampler2D s[2], vec2 p)\n{{\n    return f(s[1], p) + textureLod(s[0], p, 1.0);\n}}\n\n\
             void main()\n{{\n    a = f(image, u) + g(list, u) + f(list[i], h(u, v));\n}}\n"
        );
        let out = with_biases(&text, 4);
        for expected in [
            "vec4 f(highp sampler2D s, vec2 p, highp float mgl_bias_s)\n",
            "return texture(s, p, mgl_bias_s);",
            "vec4 g(highp sampler2D s[2], vec2 p, highp float mgl_bias_s[2])\n",
            "f(s[1], p, mgl_bias_s[int(1)]) + textureLod(s[0], p, 1.0 + mgl_bias_s[int(0)]);",
            "f(image, u, mgl_Bias[1]) + g(list, u, float[2](mgl_Bias[2], mgl_Bias[3])) + f(list[i], h(u, v), mgl_Bias[2 + int(i)]);",
        ] {
            assert!(out.contains(expected), "{expected}: {out}");
        }
    }

    #[test]
    fn a_bias_widens_gradients() {
        let text = format!("{HEAD}void main()\n{{\n    a = textureGrad(image, u, dx, dy);\n}}\n");
        let out = with_biases(&text, 4);
        let expected = "textureGrad(image, u, (dx) * exp2(mgl_Bias[1]), (dy) * exp2(mgl_Bias[1]));";
        assert!(out.contains(expected), "{out}");
    }

    #[test]
    fn offsets_of_one_dimension_get_a_second_number() {
        let text = format!("{HEAD}void main() {{ a = texelFetchOffset(image, ivec2(p, 0), l, -2); }}\n");
        let out = with_wide_offsets(text, &[1]);
        assert!(out.contains("texelFetchOffset(image, ivec2(p, 0), l, ivec2(-2, 0));"), "{out}");
    }

    #[test]
    fn layers_are_the_third_number_of_a_size() {
        let text =
            format!("{HEAD}void main() {{ a = vec2(textureSize(list[0], g(1)).x); b = textureSize(image, 0).x; }}\n");
        let out = with_array_sizes(text, &[2]);
        assert!(out.contains("textureSize(list[0], g(1)).xz)") && out.contains("textureSize(image, 0).x;"), "{out}");
    }
}
