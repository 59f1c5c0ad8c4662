//! What Mermaid draws of a diagram.
//!
//! [`drawn`] is for comparing: the states, parents and transitions that Mermaid 12.3 hands to its layout, with its ways.
//! The last body that mentions a state owns it, `[*]` is a state of its scope, `--` makes regions of what stands around it,
//! and `state x` without braces is nothing. It follows Mermaid's `StateDB` and `dataFetcher`, step by step.
//!
//! It takes a diagram in which nothing is wrong: Mermaid draws nothing of any other.
//!
//! Deliberately not here: what a diagram means, for which see [`crate::lower`]; and notes, styles and links, which are drawn
//! too but belong to no machine.

mod document;
mod node;
mod sanitize;
mod text;

use std::collections::BTreeMap;

use super::ast::{Diagram, Direction};

pub(super) use sanitize::sanitize;

/// A diagram as Mermaid draws it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The way it is laid out.
    pub direction: Direction,
    /// Its states, composites and regions, in the order of their first mention.
    pub states: Vec<DrawnState>,
    /// Its transitions, in the order of the text.
    pub transitions: Vec<DrawnTransition>,
}

/// A state, a composite, a region, or one end of a scope.
///
/// A region is named `#1`, `#2`, … in the order of mention, since Mermaid's own names for them are random. The start of a
/// scope is `scope/start` and its end `scope/end`; the root's are `/start` and `/end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnState {
    /// Its name.
    pub id: String,
    /// Mermaid's word for its shape; `None` where a note is what mentions the state first.
    pub shape: Option<&'static str>,
    /// The composite or region that it stands in; `None` at the root.
    pub parent: Option<String>,
    /// The first line of what is written in it.
    pub label: String,
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnTransition {
    /// Where it comes from.
    pub from: String,
    /// Where it leads.
    pub to: String,
    /// Its label, or an empty text.
    pub label: String,
}

/// What Mermaid draws of a diagram without an error.
///
/// ```
/// use statemark_compiler::diag::Diags;
/// use statemark_compiler::excerpt::Excerpt;
/// use statemark_compiler::front::mermaid::drawn::drawn;
/// use statemark_compiler::front::mermaid::parse_diagram;
/// use statemark_compiler::source::Sources;
///
/// let text = "stateDiagram-v2\n[*] --> open\nstate house { open }";
/// let mut sources = Sources::new();
/// let file = sources.add("door.mmd", text);
/// let diagram = parse_diagram(&Excerpt::whole(file, text), &mut Diags::new());
/// let drawn = drawn(&diagram);
/// let ids: Vec<&str> = drawn.states.iter().map(|state| state.id.as_str()).collect();
/// assert_eq!(ids, ["/start", "open", "house"]);
/// assert_eq!(drawn.states[1].parent.as_deref(), Some("house"));
/// ```
#[must_use]
pub fn drawn(diagram: &Diagram) -> Drawn {
    let items = document::of(&diagram.body);
    let direction = document::direction(&items).unwrap_or(Direction::TopBottom);
    let graph = node::graph(&items);
    let mut names = Names::default();
    let states = graph.nodes.into_iter().filter_map(|node| {
        if node.is_note {
            return None;
        }
        Some(DrawnState {
            id: names.of(&node.id),
            shape: node.shape,
            parent: node.parent.map(|parent| names.of(&parent)),
            label: node.label,
        })
    });
    let states = states.collect();
    let transitions = graph.edges.into_iter().map(|edge| DrawnTransition {
        from: names.of(&edge.from),
        to: names.of(&edge.to),
        label: edge.label,
    });
    Drawn {
        direction,
        states,
        transitions: transitions.collect(),
    }
}

/// Whether Mermaid refuses a diagram after reading it, for a composite with more than one text.
pub(super) fn is_crowded(diagram: &Diagram) -> bool {
    !node::graph(&document::of(&diagram.body)).crowded.is_empty()
}

/// Names that can be compared, of Mermaid's own ids.
#[derive(Debug, Default)]
struct Names {
    regions: BTreeMap<String, usize>,
}

impl Names {
    fn of(&mut self, id: &str) -> String {
        for end in ["start", "end"] {
            let scope = id.strip_suffix(end).and_then(|id| id.strip_suffix('_'));
            if let Some(scope) = scope {
                let scope = match scope {
                    "root" => String::new(),
                    _ => self.of(scope),
                };
                return format!("{scope}/{end}");
            }
        }
        if !document::is_region(id) {
            return id.to_owned();
        }
        let next = self.regions.len() + 1;
        let number = self.regions.entry(id.to_owned()).or_insert(next);
        format!("#{number}")
    }
}
