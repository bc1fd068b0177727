//! The law of dependencies: which crate of the workspace may depend on which, and what must never be reached.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::exec;
use crate::outcome::Outcome;
use crate::workspace::Workspace;

/// For every crate of the workspace, the crates of the workspace that it may depend on.
///
/// An edge that is not here is a failure that names it: add it only together with a decision record.
pub const ALLOWED: &[(&str, &[&str])] = &[
    ("mgpipe-types", &[]),
    ("mgpipe-cache", &["mgpipe-types"]),
    ("mgpipe-handles", &["mgpipe-types"]),
    ("mgpipe-tracker", &["mgpipe-types", "mgpipe-handles"]),
    ("mgpipe-wire", &["mgpipe-types", "mgpipe-handles"]),
    ("mgpipe-espryt", &["mgpipe-types", "mgpipe-cache", "mgpipe-handles"]),
    ("mgpipe-window", &[]),
    ("mgpipe-magma", &["mgpipe-types", "mgpipe-cache", "mgpipe-handles", "mgpipe-window"]),
    ("mgl-glsl", &["mgpipe-types", "mgpipe-cache"]),
    ("mgl-frontend", &["mgpipe-types", "mgpipe-handles", "mgpipe-tracker", "mgl-glsl"]),
    (
        "mgl-cdylib",
        &[
            "mgpipe-types",
            "mgpipe-cache",
            "mgpipe-handles",
            "mgpipe-tracker",
            "mgpipe-wire",
            "mgpipe-espryt",
            "mgpipe-magma",
            "mgpipe-window",
            "mgl-glsl",
            "mgl-frontend",
        ],
    ),
    ("mgl-server", &["mgpipe-types", "mgpipe-handles", "mgpipe-wire", "mgpipe-espryt", "mgpipe-magma"]),
    (
        "mgl-tests",
        &[
            "mgpipe-types",
            "mgpipe-handles",
            "mgpipe-tracker",
            "mgpipe-wire",
            "mgpipe-espryt",
            "mgpipe-magma",
            "mgl-glsl",
            "mgl-frontend",
            "mgl-cdylib",
            "mgl-server",
        ],
    ),
    ("xtask", &["mgpipe-types", "mgpipe-wire", "mgpipe-magma", "mgpipe-espryt", "mgl-glsl"]),
];

/// Crates that must work without the GL frontend, the tracker and any GLSL compiler.
pub const SERVER_SIDE: &[&str] =
    &["mgpipe-wire", "mgpipe-espryt", "mgpipe-magma", "mgpipe-window", "mgpipe-cache", "mgl-server"];

/// What those crates must not reach, directly or through anything.
pub const CLIENT_ONLY: &[&str] = &[
    "mgl-frontend",
    "mgpipe-tracker",
    "mgl-glsl",
    "mgl-cdylib",
    "glslang",
    "glslang-sys",
    "shaderc",
    "shaderc-sys",
    "naga",
    "glsl-lang",
    "glsl",
];

/// Why a dependency exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// For the crate itself or its build script.
    Normal,
    /// For its tests, examples and benches only.
    Dev,
}

/// One dependency.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The crate that depends.
    pub from: String,
    /// The crate that it depends on.
    pub to: String,
    /// Why.
    pub kind: Kind,
}

/// Packages and their dependencies, by name.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Names of the packages in the workspace.
    pub members: BTreeSet<String>,
    /// All dependencies between all packages, with every feature switched on.
    pub edges: BTreeSet<Edge>,
}

impl Graph {
    /// Reads the graph of a checkout from `cargo metadata`.
    ///
    /// # Errors
    /// When cargo cannot resolve the workspace.
    pub fn of_workspace(workspace: &Workspace) -> Result<Self> {
        let mut command = MetadataCommand::new();
        command.manifest_path(workspace.root.join("Cargo.toml"));
        command.features(cargo_metadata::CargoOpt::AllFeatures);
        let metadata = command.exec().context("cargo metadata failed")?;
        let names: BTreeMap<_, _> =
            metadata.packages.iter().map(|package| (package.id.clone(), package.name.to_string())).collect();
        let mut graph = Graph::default();
        for id in &metadata.workspace_members {
            if let Some(name) = names.get(id) {
                graph.members.insert(name.clone());
            }
        }
        let resolve = metadata.resolve.context("cargo metadata gave no dependency graph")?;
        for node in &resolve.nodes {
            let Some(from) = names.get(&node.id) else {
                continue;
            };
            for dependency in &node.deps {
                let Some(to) = names.get(&dependency.pkg) else {
                    continue;
                };
                for why in &dependency.dep_kinds {
                    let kind = match why.kind {
                        DependencyKind::Development => Kind::Dev,
                        _ => Kind::Normal,
                    };
                    graph.edges.insert(Edge { from: from.clone(), to: to.clone(), kind });
                }
            }
        }
        Ok(graph)
    }

    /// The shortest chain of normal dependencies from one package to another, both ends included.
    fn path(&self, from: &str, to: &str) -> Option<Vec<String>> {
        let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for edge in self.edges.iter().filter(|edge| edge.kind == Kind::Normal) {
            next.entry(&edge.from).or_default().push(&edge.to);
        }
        let mut parent: BTreeMap<&str, &str> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(package) = queue.pop_front() {
            for &other in next.get(package).into_iter().flatten() {
                if other == from || parent.contains_key(other) {
                    continue;
                }
                parent.insert(other, package);
                if other == to {
                    let mut chain = vec![other.to_string()];
                    let mut at = other;
                    while let Some(&previous) = parent.get(at) {
                        chain.push(previous.to_string());
                        at = previous;
                    }
                    chain.reverse();
                    return Some(chain);
                }
                queue.push_back(other);
            }
        }
        None
    }
}

/// Every breach of the law in `graph`, each as a sentence that names the edge.
pub fn violations(graph: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    for member in &graph.members {
        if !allowed.contains_key(member.as_str()) {
            found.push(format!("crate {member} is not in the law's table; add it with what it may depend on"));
        }
    }
    for (name, _) in ALLOWED {
        if !graph.members.contains(*name) {
            found.push(format!("the law's table names crate {name}, which is not in the workspace"));
        }
    }
    for edge in &graph.edges {
        if !graph.members.contains(&edge.from) || !graph.members.contains(&edge.to) || edge.from == edge.to {
            continue;
        }
        let may = allowed.get(edge.from.as_str()).is_some_and(|list| list.contains(&edge.to.as_str()));
        if !may {
            let what = match edge.kind {
                Kind::Normal => "depends on",
                Kind::Dev => "depends (for its tests) on",
            };
            found.push(format!("forbidden edge: {} {what} {}", edge.from, edge.to));
        }
    }
    for server in SERVER_SIDE {
        for client in CLIENT_ONLY {
            if let Some(chain) = graph.path(server, client) {
                found.push(format!("{server} must not reach {client}, but does: {}", chain.join(" -> ")));
            }
        }
    }
    found
}

/// `cargo xtask law`.
pub fn run() -> Result<Outcome> {
    let workspace = Workspace::find();
    let graph = Graph::of_workspace(&workspace)?;
    let found = violations(&graph);
    for sentence in &found {
        println!("{sentence}");
    }
    let edges = graph
        .edges
        .iter()
        .filter(|edge| graph.members.contains(&edge.from) && graph.members.contains(&edge.to))
        .count();
    exec::say(format!(
        "{} crates, {edges} edges between them, {} breaches of the law of dependencies",
        graph.members.len(),
        found.len()
    ));
    Ok(Outcome::from_ok(found.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace in which every allowed edge exists.
    fn lawful() -> Graph {
        let mut graph = Graph::default();
        for (from, list) in ALLOWED {
            graph.members.insert(from.to_string());
            for to in *list {
                graph.edges.insert(edge(from, to, Kind::Normal));
            }
        }
        graph
    }

    fn edge(from: &str, to: &str, kind: Kind) -> Edge {
        Edge { from: from.to_string(), to: to.to_string(), kind }
    }

    #[test]
    fn every_allowed_edge_together_is_lawful() {
        assert_eq!(violations(&lawful()), Vec::<String>::new());
    }

    #[test]
    fn a_forbidden_edge_is_named() {
        let mut graph = lawful();
        graph.edges.insert(edge("mgpipe-magma", "mgpipe-tracker", Kind::Normal));
        let found = violations(&graph);
        assert!(found.contains(&"forbidden edge: mgpipe-magma depends on mgpipe-tracker".to_string()), "{found:?}");
        assert!(
            found.iter().any(|line| line.contains("mgl-server -> mgpipe-magma -> mgpipe-tracker")),
            "the server's closure is broken as well: {found:?}"
        );
    }

    #[test]
    fn a_forbidden_test_edge_is_named() {
        let mut graph = lawful();
        graph.edges.insert(edge("mgpipe-types", "mgpipe-handles", Kind::Dev));
        assert_eq!(violations(&graph), ["forbidden edge: mgpipe-types depends (for its tests) on mgpipe-handles"]);
    }

    #[test]
    fn a_compiler_behind_an_outside_crate_is_found_with_its_chain() {
        let mut graph = lawful();
        graph.edges.insert(edge("mgpipe-wire", "innocent", Kind::Normal));
        graph.edges.insert(edge("innocent", "glslang-sys", Kind::Normal));
        let found = violations(&graph);
        assert!(
            found.contains(
                &"mgpipe-wire must not reach glslang-sys, but does: mgpipe-wire -> innocent -> glslang-sys".to_string()
            ),
            "{found:?}"
        );
    }

    #[test]
    fn a_compiler_that_only_tests_use_is_no_breach() {
        let mut graph = lawful();
        graph.edges.insert(edge("mgpipe-wire", "glslang-sys", Kind::Dev));
        assert_eq!(violations(&graph), Vec::<String>::new());
    }

    #[test]
    fn an_unknown_crate_and_a_lost_crate_are_named() {
        let mut graph = lawful();
        graph.members.insert("mgl-new".to_string());
        graph.members.remove("mgl-glsl");
        let found = violations(&graph);
        assert!(found.iter().any(|line| line.starts_with("crate mgl-new is not in the law's table")), "{found:?}");
        assert!(found.iter().any(|line| line.contains("names crate mgl-glsl, which is not")), "{found:?}");
    }

    #[test]
    fn this_workspace_is_lawful() {
        let graph = Graph::of_workspace(&Workspace::find()).unwrap();
        assert!(graph.members.len() >= 12);
        assert_eq!(violations(&graph), Vec::<String>::new());
    }
}
