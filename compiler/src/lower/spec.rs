//! What `lower` is given: the parts of one machine, and where its findings go.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::Diags;
use crate::front::definition::ast::{ActionDeclaration, Definition, Guard, Named};
use crate::front::markdown::document::Instructions;
use crate::front::mermaid::ast::Diagram;
use crate::source::{FileId, Sources, Span, Spanned};

/// The parts of one machine, as its front ends read them.
#[derive(Debug)]
pub struct Spec {
    /// The file.
    pub file: FileId,
    /// The section's heading, or the start of the file.
    pub span: Span,
    /// The machine's id, at the place that names it.
    pub id: Spanned<String>,
    /// Description for people, from front matter.
    pub description: Option<String>,
    /// The diagram, with the place of its fence's text.
    pub diagram: Option<Diagram>,
    /// The definition.
    pub definition: Option<Definition>,
    /// The instructions of states.
    pub instructions: Vec<Instructions>,
}

/// What every step of `lower` may look up, and where it reports.
pub(super) struct Context<'c> {
    pub(super) sources: &'c Sources,
    pub(super) diags: &'c mut Diags,
    /// Whether the front ends found an error: then what seems to be missing may just not have been read.
    pub(super) broken: bool,
    actions: BTreeMap<&'c str, &'c Named<ActionDeclaration>>,
    guards: BTreeMap<&'c str, &'c Named<Guard>>,
    /// Names of declared guards and actions that something uses.
    pub(super) used: BTreeSet<String>,
}

impl<'c> Context<'c> {
    pub(super) fn new(spec: &'c Spec, sources: &'c Sources, diags: &'c mut Diags) -> Self {
        let definition = spec.definition.as_ref();
        let actions = definition.map_or(&[][..], |definition| &definition.actions);
        let guards = definition.map_or(&[][..], |definition| &definition.guards);
        Self {
            sources,
            broken: diags.has_errors(),
            diags,
            actions: actions
                .iter()
                .map(|action| (action.name.value.as_str(), action))
                .collect(),
            guards: guards
                .iter()
                .map(|guard| (guard.name.value.as_str(), guard))
                .collect(),
            used: BTreeSet::new(),
        }
    }

    /// Whether the definition declares an action of that name.
    pub(super) fn declares_action(&self, name: &str) -> bool {
        self.actions.contains_key(name)
    }

    /// The guard that the definition declares under that name.
    pub(super) fn declared_guard(&self, name: &str) -> Option<&'c Named<Guard>> {
        self.guards.get(name).copied()
    }

    /// The names of the guards that the definition declares.
    pub(super) fn declared_guards(&self) -> impl Iterator<Item = &'c str> + '_ {
        self.guards.keys().copied()
    }
}
