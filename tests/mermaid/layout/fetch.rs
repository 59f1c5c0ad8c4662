//! Nodes and edges of Mermaid's tree: `dataFetcher`.

use std::collections::BTreeMap;

use super::sanitize::sanitize;
use super::tree::{Item, Kind, ROOT, State};

/// Ids for which Mermaid makes no node.
const NO_NODES: [&str; 3] = ["", "</join></fork>", "</choice>"];

/// The nodes and edges of a diagram.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

/// A state, a note, or the box around a note and its state.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) shape: Option<&'static str>,
    pub(super) parent: Option<String>,
    pub(super) label: String,
    pub(super) is_note: bool,
}

/// A transition.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) label: String,
}

/// The facts that the mentions of a state have given so far.
#[derive(Debug)]
struct Known {
    shape: Option<&'static str>,
    text: Text,
    is_group: bool,
}

/// The text in a state.
#[derive(Debug)]
enum Text {
    /// Its own id, or the one text of a state whose sanitized id is empty.
    Name(String),
    /// The texts of its mentions.
    Lines(Vec<String>),
}

/// Fetches the nodes and edges of a tree.
pub(super) fn graph(items: &[Item]) -> Graph {
    let mut fetcher = Fetcher::default();
    fetcher.document(None, items);
    let notes: Vec<bool> = fetcher
        .graph
        .nodes
        .iter()
        .map(|node| node.is_note)
        .collect();
    let at = &fetcher.at;
    let is_note = |id: &String| {
        let note = at.get(id).and_then(|&index| notes.get(index));
        note.copied().unwrap_or(false)
    };
    let mut graph = fetcher.graph;
    graph
        .edges
        .retain(|edge| !is_note(&edge.from) && !is_note(&edge.to));
    for node in &mut graph.nodes {
        if node.parent.as_ref().is_some_and(is_note) {
            node.parent = None;
        }
    }
    graph
}

#[derive(Debug, Default)]
struct Fetcher {
    graph: Graph,
    /// The index of each id's node.
    at: BTreeMap<String, usize>,
    known: BTreeMap<String, Known>,
}

impl Fetcher {
    fn document(&mut self, parent: Option<&str>, items: &[Item]) {
        for item in items {
            match item {
                Item::State(state) => self.state(parent, state),
                Item::Relation { from, to, label } => {
                    self.state(parent, from);
                    self.state(parent, to);
                    self.graph.edges.push(Edge {
                        from: from.id.clone(),
                        to: to.id.clone(),
                        label: sanitize(label),
                    });
                }
                Item::Direction(_) | Item::Nothing => {}
            }
        }
    }

    fn state(&mut self, parent: Option<&str>, state: &State) {
        if state.id != ROOT {
            self.update(state);
            self.node(parent, state);
        }
        if let Some(body) = &state.body {
            self.document(Some(&state.id), body);
        }
    }

    /// Adds a mention to the known facts of its state. The first mention decides its kind.
    fn update(&mut self, state: &State) {
        let known = self.known.entry(state.id.clone()).or_insert_with(|| Known {
            shape: first_shape(state),
            text: Text::Name(sanitize(&state.id)),
            is_group: false,
        });
        known.describe(state);
        if let Text::Lines(lines) = &known.text
            && lines.len() == 1
            && known.shape == Some("rectWithTitle")
        {
            known.shape = Some(if known.is_group {
                "roundedWithTitle"
            } else {
                "rect"
            });
        }
        if !known.is_group && state.body.is_some() {
            known.is_group = true;
            known.shape = Some(if state.kind == Kind::Divider {
                "divider"
            } else {
                "roundedWithTitle"
            });
        }
    }

    /// Writes the known facts into the state's node. The last composite that mentions a state becomes its parent.
    fn node(&mut self, parent: Option<&str>, state: &State) {
        let Some(known) = self.known.get(&state.id) else {
            return;
        };
        let (shape, label) = (known.shape, known.label());
        if state.note_left.is_some() {
            let group = format!("{}----parent", state.id);
            self.put(&group, Some("noteGroup"), None, "", true);
        }
        let parent = parent.filter(|&parent| parent != ROOT);
        self.put(&state.id, shape, parent, &label, false);
    }

    fn put(
        &mut self,
        id: &str,
        shape: Option<&'static str>,
        parent: Option<&str>,
        label: &str,
        is_note: bool,
    ) {
        if NO_NODES.contains(&id) {
            return;
        }
        let next = self.graph.nodes.len();
        let index = *self.at.entry(id.to_owned()).or_insert(next);
        match self.graph.nodes.get_mut(index) {
            Some(node) => {
                node.shape = shape;
                node.label = label.to_owned();
                node.is_note = is_note;
                if let Some(parent) = parent {
                    node.parent = Some(parent.to_owned());
                }
            }
            None => self.graph.nodes.push(Node {
                id: id.to_owned(),
                shape,
                parent: parent.map(str::to_owned),
                label: label.to_owned(),
                is_note,
            }),
        }
    }
}

impl Known {
    /// Adds the texts of a mention.
    fn describe(&mut self, state: &State) {
        if state.texts.is_empty() {
            return;
        }
        let texts = state.texts.iter().map(|text| sanitize(text));
        match &mut self.text {
            Text::Lines(lines) => {
                self.shape = Some("rectWithTitle");
                lines.extend(texts);
            }
            Text::Name(name) if !name.is_empty() => {
                self.shape = Some("rectWithTitle");
                let first = Some(std::mem::take(name)).filter(|name| *name != state.id);
                self.text = Text::Lines(first.into_iter().chain(texts).collect());
            }
            Text::Name(name) => {
                self.shape = Some("rect");
                match state.texts.as_slice() {
                    [text] => *name = sanitize(text),
                    _ => self.text = Text::Lines(texts.collect()),
                }
            }
        }
    }

    fn label(&self) -> String {
        if self.shape == Some("divider") {
            return String::new();
        }
        match &self.text {
            Text::Name(name) => name.clone(),
            Text::Lines(lines) => lines.first().cloned().unwrap_or_default(),
        }
    }
}

fn first_shape(state: &State) -> Option<&'static str> {
    match (state.kind, state.start) {
        (Kind::Undefined, _) => None,
        (Kind::Divider, _) => Some("divider"),
        (Kind::Fork, _) => Some("fork"),
        (Kind::Join, _) => Some("join"),
        (Kind::Choice, _) => Some("choice"),
        (Kind::Default, Some(true)) => Some("stateStart"),
        (Kind::Default, Some(false)) => Some("stateEnd"),
        (Kind::Default, None) => Some("rect"),
    }
}
