//! States whose name Mermaid uses for something of its own.
//!
//! For Mermaid, the `[*]` of a composite `game` is a state `game_start` or `game_end`, those of the whole diagram are
//! `root_start` and `root_end`, and the diagram itself is `root`. A state of such a name is drawn as one with it.

use std::collections::BTreeMap;

use super::ast::{Body, Diagram, DrawnAs, Endpoint, EndpointKind, StatementKind};
use super::messages::quote;
use crate::diag::{Code, Diagnostic, Diags};
use crate::source::Span;

/// Mermaid's name for the whole diagram.
const ROOT: &str = "root";

/// Reports the first mention of each such state.
pub(super) fn check(diagram: &Diagram, diags: &mut Diags) {
    let mut names = Names::default();
    names.body(ROOT, &diagram.body);
    if let Some(&span) = names.composites.get(ROOT) {
        diags.push(root_composite(span));
    }
    for (id, span) in &names.suspects {
        if let Some(&star) = names.stars.get(*id) {
            diags.push(same_as_star(*span, id, star));
        }
    }
}

#[derive(Debug, Default)]
struct Names<'d> {
    /// States that are named like the `[*]` of a scope, with their first mention.
    suspects: BTreeMap<&'d str, Span>,
    /// The first span of each `[*]`, by Mermaid's name for it.
    stars: BTreeMap<String, Span>,
    composites: BTreeMap<&'d str, Span>,
}

impl<'d> Names<'d> {
    /// Collects from a body, at most [`super::parse::MAX_DEPTH`] deep.
    fn body(&mut self, scope: &str, body: &'d Body) {
        let statements = body.statements.iter().map(|statement| &statement.kind);
        // Between `--` the names of `[*]` are random.
        let is_divided = statements
            .clone()
            .any(|statement| *statement == StatementKind::Divider);
        let scope = (!is_divided).then_some(scope);
        for statement in statements {
            match statement {
                StatementKind::Mention(state) | StatementKind::Description { state, .. } => {
                    self.endpoint(state, scope, "start");
                }
                StatementKind::Transition(transition) => {
                    self.endpoint(&transition.source, scope, "start");
                    self.endpoint(&transition.target, scope, "end");
                }
                StatementKind::Declaration(declaration) => {
                    let id = match &declaration.drawn {
                        DrawnAs::Nothing => continue,
                        DrawnAs::Named(name) => name,
                        _ => &declaration.id.value,
                    };
                    self.name(id, declaration.id.span);
                    if let Some(inner) = &declaration.body {
                        self.composites.entry(id).or_insert(declaration.id.span);
                        self.body(id, inner);
                    }
                }
                _ => {}
            }
        }
    }

    fn endpoint(&mut self, endpoint: &'d Endpoint, scope: Option<&str>, end: &str) {
        match (&endpoint.target, scope) {
            (EndpointKind::Id(id), _) => self.name(id, endpoint.span),
            (EndpointKind::Star, Some(scope)) => {
                let name = format!("{scope}_{end}");
                self.stars.entry(name).or_insert(endpoint.span);
            }
            (EndpointKind::Star, None) => {}
        }
    }

    fn name(&mut self, id: &'d str, span: Span) {
        if id.ends_with("_start") || id.ends_with("_end") {
            self.suspects.entry(id).or_insert(span);
        }
    }
}

/// Reports a state named like Mermaid's name for a `[*]`.
fn same_as_star(span: Span, id: &str, star: Span) -> Diagnostic {
    let id = quote(id);
    let message = format!("Mermaid draws `{id}` and a `[*]` as one");
    Diagnostic::new(Code::TakenName, span, message)
        .label("Mermaid's own name for that `[*]`")
        .related(star, "this `[*]`")
        .help("give the state another name")
}

/// Reports a composite named `root`.
fn root_composite(span: Span) -> Diagnostic {
    let message =
        "Mermaid takes a composite `root` for the whole diagram, and draws no transition to it";
    Diagnostic::new(Code::TakenName, span, message).help("give the composite another name")
}
