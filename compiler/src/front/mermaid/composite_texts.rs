//! Composites with more than one text.
//!
//! A composite's first text is its title. For a second one Mermaid throws "Group nodes can only have label", after it has
//! read the whole diagram. Only what is a text to Mermaid counts: the title of `state x : Title` isn't one.

use std::collections::BTreeMap;

use super::ast::{Body, Declaration, Diagram, DrawnAs, EndpointKind, StatementKind};
use super::messages::quote;
use crate::diag::{Code, Diagnostic, Diags};
use crate::source::Span;

/// Mermaid's name for the diagram itself, for which it makes no node.
const ROOT: &str = "root";

/// The id of a scope's start and end.
const STAR: &str = "[*]";

/// Reports each text of a composite but its first.
pub(super) fn check(diagram: &Diagram, diags: &mut Diags) {
    let mut collector = Collector::default();
    collector.body(ROOT, &diagram.body);
    let Collector {
        mut composites,
        texts,
        ..
    } = collector;
    composites.remove(ROOT);
    let mut first = BTreeMap::new();
    for text in &texts {
        let Some(composite) = composites.get_mut(&text.state) else {
            continue;
        };
        let start = if is_own_text(&text.state) {
            composite.span
        } else {
            text.span
        };
        let before = *first.entry(text.state.as_str()).or_insert(start);
        composite.is_star |= text.is_star;
        if before == text.span {
            continue;
        }
        diags.push(if composite.is_star {
            text_as_star(composite.span, composite.id)
        } else {
            second_text(text.span, before, composite.span, composite.id)
        });
    }
}

/// Returns whether Mermaid counts a composite's name as its first text.
///
/// It does where sanitizing changes the name. Names that hold whole HTML tags aren't judged: see `DIFFERENCES.md`.
fn is_own_text(id: &str) -> bool {
    let Some((before, mark)) = id.split_once('<') else {
        return false;
    };
    let is_tag =
        mark.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
    !is_tag || (!before.is_empty() && !mark.contains('>'))
}

/// A state with braces.
#[derive(Debug)]
struct Composite<'d> {
    /// Its id, as written.
    id: &'d str,
    /// Its first declaration.
    span: Span,
    /// Set if Mermaid takes it for the start or end of a scope that has a text.
    is_star: bool,
}

/// A text that Mermaid adds to a state.
#[derive(Debug)]
struct Text {
    /// Mermaid's id of the state.
    state: String,
    span: Span,
    is_star: bool,
}

/// The composites and texts of a diagram.
#[derive(Debug, Default)]
struct Collector<'d> {
    /// The composites by Mermaid's ids.
    composites: BTreeMap<String, Composite<'d>>,
    /// The texts in source order.
    texts: Vec<Text>,
    /// The number of regions so far.
    regions: usize,
}

impl<'d> Collector<'d> {
    /// Collects from a body.
    ///
    /// Bodies are at most [`super::parse::MAX_DEPTH`] deep.
    fn body(&mut self, scope: &str, body: &'d Body) {
        let is_divider = |kind: &StatementKind| *kind == StatementKind::Divider;
        let mut kinds = body.statements.iter().map(|statement| &statement.kind);
        let is_divided =
            kinds.clone().any(is_divider) && !kinds.next_back().is_some_and(is_divider);
        let mut scope = scope.to_owned();
        if is_divided {
            scope = self.region();
        }
        for statement in &body.statements {
            match &statement.kind {
                StatementKind::Divider if is_divided => scope = self.region(),
                StatementKind::Description { state, description }
                    if !description.text.value.is_empty() =>
                {
                    let (state, is_star) = match &state.target {
                        EndpointKind::Id(id) => (id.clone(), false),
                        EndpointKind::Star => (start_of(&scope), true),
                    };
                    self.texts.push(Text {
                        state,
                        span: description.text.span,
                        is_star,
                    });
                }
                StatementKind::Declaration(declaration) => self.declaration(&scope, declaration),
                _ => {}
            }
        }
    }

    fn declaration(&mut self, scope: &str, declaration: &'d Declaration) {
        let id = match &declaration.drawn {
            DrawnAs::Named(name) => name.trim(),
            _ => declaration.id.value.as_str(),
        };
        let is_star = id == STAR;
        let resolved = if is_star {
            start_of(scope)
        } else {
            id.to_owned()
        };
        let lines = match (&declaration.title, &declaration.drawn) {
            (None, _) | (_, DrawnAs::Nothing | DrawnAs::Named(_)) => [None, None],
            (Some(title), DrawnAs::Written) if title.value.is_empty() => [None, None],
            (Some(title), DrawnAs::Written | DrawnAs::Padded(_)) => [Some(title.span), None],
            (Some(title), DrawnAs::TwoLines) => [Some(title.span), Some(declaration.id.span)],
        };
        self.texts
            .extend(lines.into_iter().flatten().map(|span| Text {
                state: resolved.clone(),
                span,
                is_star,
            }));
        let Some(inner) = &declaration.body else {
            return;
        };
        // Mermaid renames the `[*]` of a title only after it has named the starts between its braces.
        let inner_scope = if is_star && declaration.title.is_some() {
            STAR
        } else {
            &resolved
        };
        self.body(inner_scope, inner);
        if !resolved.is_empty() {
            self.composites.entry(resolved).or_insert(Composite {
                id,
                span: declaration.id.span,
                is_star,
            });
        }
    }

    /// Returns a scope name that no state has.
    fn region(&mut self) -> String {
        self.regions += 1;
        format!("-- {}", self.regions)
    }
}

/// Returns Mermaid's id of a scope's `[*]` where it isn't the target of a transition.
fn start_of(scope: &str) -> String {
    format!("{scope}_start")
}

/// Reports a second text of a composite, for which Mermaid refuses the whole diagram.
fn second_text(text: Span, first: Span, composite: Span, id: &str) -> Diagnostic {
    let message = format!("the composite `{}` has a text already", quote(id));
    Diagnostic::new(Code::CompositeDescription, text, message)
        .label("a second text")
        .related(first, "the first")
        .related(composite, "the composite")
        .help("keep the one that is its title; put a composite's entry and exit actions into the definition")
}

/// Reports a composite that Mermaid takes for a `[*]`, and that has a text in both roles.
fn text_as_star(composite: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    let message = format!("the composite `{id}` has a text already, as a `[*]`");
    Diagnostic::new(Code::CompositeDescription, composite, message)
        .label("Mermaid takes this and a `[*]` for one state")
        .help("give it another name, or take the text from `[*]`")
}
