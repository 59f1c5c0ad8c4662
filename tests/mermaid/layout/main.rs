//! What Mermaid hands to its layout, predicted by Statemark: a model of Mermaid 12.3's `StateDB` and `dataFetcher`.
//!
//! `mermaid_layout PATH…` prints a line for each diagram, and for each `*.mmd` file of a folder, by name:
//!
//! ```json
//! {"file":"a.mmd","ok":true,"direction":"TB","states":[{"id":"a","shape":"rect","parent":null,"label":"a"}],"transitions":[]}
//! {"file":"b.mmd","ok":false,"error":"line 2: …"}
//! ```
//!
//! `ask.mjs` answers in this shape as Mermaid itself, and `fuzz` compares the two. In Mermaid the last body that mentions a
//! state owns it, `[*]` is a state of its scope, `--` divides a body into regions, and `state x` without braces is nothing.
//!
//! Deliberately not here: what a diagram means (`compiler/src/lower`), and notes, styles and links, which Mermaid draws and
//! which belong to no machine.

mod fetch;
mod sanitize;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use statemark_compiler::diag::{Code, Diagnostic, Diags, Severity};
use statemark_compiler::excerpt::Excerpt;
use statemark_compiler::front::mermaid::ast::{Diagram, Direction};
use statemark_compiler::front::mermaid::parse_diagram;
use statemark_compiler::source::Sources;

/// One line of the output.
#[derive(Serialize)]
struct Answer<'a> {
    file: &'a str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten)]
    layout: Option<Layout>,
}

/// A diagram as Mermaid's layout gets it.
#[derive(Debug, Serialize)]
struct Layout {
    direction: &'static str,
    /// States, composites and regions, in the order of their first mention.
    states: Vec<State>,
    /// Transitions, in the order of the text.
    transitions: Vec<Transition>,
}

/// A state, a composite, a region, or the start or end of a scope.
///
/// A region is named `#1`, `#2`, … in the order of mention, since Mermaid's own names for regions are random. The start of
/// a scope is `scope/start` and its end `scope/end`; the root's are `/start` and `/end`.
#[derive(Debug, Serialize)]
struct State {
    id: String,
    /// Mermaid's word for its shape; `None` where a note mentions the state first.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<&'static str>,
    /// The enclosing composite or region; `None` at the root.
    parent: Option<String>,
    /// The first line of its text.
    label: String,
}

#[derive(Debug, Serialize)]
struct Transition {
    from: String,
    to: String,
    label: String,
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for path in std::env::args_os().skip(1).map(PathBuf::from) {
        let paths = if path.is_dir() {
            diagrams_in(&path)?
        } else {
            vec![path]
        };
        for path in paths {
            let bytes = fs::read(&path)?;
            let name = path.to_string_lossy();
            writeln!(out, "{}", answer(&name, &String::from_utf8_lossy(&bytes))?)?;
        }
    }
    Ok(())
}

/// Returns the `*.mmd` files in a folder, by name.
fn diagrams_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mmd"));
    paths.sort();
    Ok(paths)
}

/// Reports whether a finding is an error of syntax.
///
/// Two others are errors because Mermaid draws nothing then: it has read the diagram, and has a layout for it.
fn is_syntax_error(found: &Diagnostic) -> bool {
    let is_drawn = !matches!(found.code, Code::NoteBeforeState | Code::EmptyComposite);
    found.severity == Severity::Error && is_drawn
}

/// Returns the line for a diagram: its layout, or its first error.
fn answer(name: &str, text: &str) -> serde_json::Result<String> {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let mut diags = Diags::new();
    let diagram = parse_diagram(&Excerpt::whole(file, text), &mut diags);
    let diagnostics = diags.into_sorted();
    let error = diagnostics
        .iter()
        .find(|found| is_syntax_error(found))
        .map(|error| {
            let span = error.primary.span;
            let line = sources.file(span.file).position(span.start).line;
            format!("line {line}: {}", error.message)
        });
    serde_json::to_string(&Answer {
        file: name,
        ok: error.is_none(),
        layout: error.is_none().then(|| layout(&diagram)),
        error,
    })
}

/// Computes the layout data of a diagram without errors; Mermaid draws nothing of any other.
fn layout(diagram: &Diagram) -> Layout {
    let items = tree::translate(&diagram.body);
    let direction = tree::direction(&items).unwrap_or(Direction::TopBottom);
    let graph = fetch::graph(&items);
    let mut names = Names::default();
    let states = graph
        .nodes
        .into_iter()
        .filter(|node| !node.is_note)
        .map(|node| State {
            id: names.comparable(&node.id),
            shape: node.shape,
            parent: node.parent.map(|parent| names.comparable(&parent)),
            label: node.label,
        })
        .collect();
    let transitions = graph
        .edges
        .into_iter()
        .map(|edge| Transition {
            from: names.comparable(&edge.from),
            to: names.comparable(&edge.to),
            label: edge.label,
        })
        .collect();
    Layout {
        direction: match direction {
            Direction::TopBottom => "TB",
            Direction::BottomTop => "BT",
            Direction::LeftRight => "LR",
            Direction::RightLeft => "RL",
        },
        states,
        transitions,
    }
}

/// The numbers of the regions met so far.
#[derive(Debug, Default)]
struct Names {
    regions: BTreeMap<String, usize>,
}

impl Names {
    /// Returns a name without randomness for one of Mermaid's own ids.
    fn comparable(&mut self, id: &str) -> String {
        for end in ["start", "end"] {
            let scope = id.strip_suffix(end).and_then(|id| id.strip_suffix('_'));
            if let Some(scope) = scope {
                let scope = match scope {
                    "root" => String::new(),
                    _ => self.comparable(scope),
                };
                return format!("{scope}/{end}");
            }
        }
        if !tree::is_region(id) {
            return id.to_owned();
        }
        let next = self.regions.len() + 1;
        let number = self.regions.entry(id.to_owned()).or_insert(next);
        format!("#{number}")
    }
}
