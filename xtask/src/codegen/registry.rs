//! Reads commands, aliases, versions and enumerants out of the Khronos XML registry.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use roxmltree::{Document, Node};

/// Vendor suffixes whose desktop extension functions are exported even when nothing of the core aliases them.
const EXPORTED_SUFFIXES: [&str; 3] = ["ARB", "KHR", "EXT"];

/// One C type as far as the generator needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CType {
    /// The base name: `GLint`, `void`, `GLDEBUGPROC`.
    pub(super) base: String,
    /// Levels of pointer, from the innermost: whether what it points to is const.
    pub(super) pointers: Vec<bool>,
}

/// One parameter.
#[derive(Debug, Clone)]
pub(super) struct Param {
    /// The registry's name.
    pub(super) name: String,
    /// Its type.
    pub(super) ty: CType,
}

/// One GL command.
#[derive(Debug, Clone)]
pub(super) struct Command {
    /// The C name.
    pub(super) name: String,
    /// The return type.
    pub(super) ret: CType,
    /// The parameters in order.
    pub(super) params: Vec<Param>,
    /// The command that this one is another name of.
    pub(super) alias: Option<String>,
    /// The desktop GL version that brought it.
    pub(super) core_version: Option<(u32, u32)>,
    /// The core profile removed it.
    pub(super) removed_from_core: bool,
}

/// The commands that MGL exports.
pub(super) struct Registry {
    /// By C name.
    pub(super) commands: BTreeMap<String, Command>,
}

impl Registry {
    /// All names of one function, the given one included: the closure of the alias relation.
    pub(super) fn alias_class(&self, name: &str) -> BTreeSet<&str> {
        let mut class = BTreeSet::new();
        let mut queue: Vec<&str> = self.commands.get_key_value(name).map(|(k, _)| k.as_str()).into_iter().collect();
        while let Some(next) = queue.pop() {
            if !class.insert(next) {
                continue;
            }
            if let Some(alias) = self.commands.get(next).and_then(|c| c.alias.as_deref()) {
                queue.push(alias);
            }
            let reverse = self.commands.values().filter(|c| c.alias.as_deref() == Some(next));
            queue.extend(reverse.map(|c| c.name.as_str()));
        }
        class.retain(|n| self.commands.contains_key(*n));
        class
    }
}

/// Parses `gl.xml` and keeps the commands that MGL exports.
pub(super) fn parse_gl(xml: &str) -> Result<Registry> {
    let doc = Document::parse(xml).context("gl.xml is not well-formed")?;
    let root = doc.root_element();
    let mut all = BTreeMap::new();
    for node in root.children().filter(|n| n.has_tag_name("commands")).flat_map(|n| n.children()) {
        if node.has_tag_name("command") {
            let command = parse_command(node)?;
            all.insert(command.name.clone(), command);
        }
    }
    let mut keep = BTreeSet::new();
    for feature in root.children().filter(|n| n.has_tag_name("feature") && n.attribute("api") == Some("gl")) {
        let version = parse_version(feature.attribute("number").unwrap_or_default());
        for change in feature.children().filter(Node::is_element) {
            for name in required_commands(change) {
                let Some(command) = all.get_mut(name) else {
                    continue;
                };
                if change.has_tag_name("remove") {
                    command.removed_from_core = true;
                } else {
                    command.core_version = command.core_version.or(version);
                    keep.insert(name.to_owned());
                }
            }
        }
    }
    for list in root.children().filter(|n| n.has_tag_name("extensions")) {
        for extension in list.children().filter(|n| n.has_tag_name("extension")) {
            let supported = extension.attribute("supported").unwrap_or_default();
            if !supported.split('|').any(|api| api == "gl" || api == "glcore") {
                continue;
            }
            let vendor = extension.attribute("name").unwrap_or_default();
            if !EXPORTED_SUFFIXES.iter().any(|s| vendor.starts_with(&format!("GL_{s}_"))) {
                continue;
            }
            keep.extend(extension.children().flat_map(required_commands).map(str::to_owned));
        }
    }
    // An alias of something kept is kept, whoever its vendor is: it costs one jump.
    loop {
        let more: Vec<String> = all
            .values()
            .filter(|c| !keep.contains(&c.name) && c.alias.as_ref().is_some_and(|a| keep.contains(a)))
            .map(|c| c.name.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        keep.extend(more);
    }
    all.retain(|name, _| keep.contains(name));
    Ok(Registry { commands: all })
}

/// Parses the enumerants of `egl.xml` or `glx.xml`: name and the literal value as written, cast expressions included.
pub(super) fn parse_enums(xml: &str) -> Result<BTreeMap<String, String>> {
    let doc = Document::parse(xml).context("the registry is not well-formed")?;
    let mut enums = BTreeMap::new();
    for list in doc.root_element().children().filter(|n| n.has_tag_name("enums")) {
        for node in list.children().filter(|n| n.has_tag_name("enum")) {
            if let (Some(name), Some(value)) = (node.attribute("name"), node.attribute("value")) {
                enums.insert(name.to_owned(), value.to_owned());
            }
        }
    }
    Ok(enums)
}

fn required_commands<'a>(change: Node<'a, 'a>) -> impl Iterator<Item = &'a str> {
    change.children().filter(|n| n.has_tag_name("command")).filter_map(|n| n.attribute("name"))
}

fn parse_version(number: &str) -> Option<(u32, u32)> {
    let (major, minor) = number.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn parse_command(node: Node<'_, '_>) -> Result<Command> {
    let proto = node.children().find(|n| n.has_tag_name("proto")).context("a command without a proto")?;
    let Param { name, ty } = parse_declaration(proto)?;
    let params = node
        .children()
        .filter(|n| n.has_tag_name("param"))
        .map(parse_declaration)
        .collect::<Result<Vec<_>>>()
        .with_context(|| name.clone())?;
    let alias = node.children().find(|n| n.has_tag_name("alias")).and_then(|n| n.attribute("name"));
    let alias = alias.map(str::to_owned);
    Ok(Command { name, ret: ty, params, alias, core_version: None, removed_from_core: false })
}

fn parse_declaration(node: Node<'_, '_>) -> Result<Param> {
    let mut ty = String::new();
    let mut name = None;
    for child in node.descendants() {
        if child.is_text() {
            let text = child.text().unwrap_or_default();
            if child.parent().is_some_and(|p| p.has_tag_name("name")) {
                name = Some(text.to_owned());
            } else {
                ty.push_str(text);
            }
        }
    }
    let name = name.context("a declaration without a name")?;
    let spaced = ty.replace('*', " * ");
    let mut base = None;
    let mut pointers = Vec::new();
    let mut pending_const = false;
    for token in spaced.split_whitespace() {
        match token {
            "const" => pending_const = true,
            "struct" => {}
            "*" => {
                pointers.push(pending_const);
                pending_const = false;
            }
            other => base = Some(other.to_owned()),
        }
    }
    Ok(Param { name, ty: CType { base: base.context("a declaration without a type")?, pointers } })
}
