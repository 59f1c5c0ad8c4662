//! What `lower` is given: the parts of one machine, and where its findings go.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::Fields;
use crate::diag::Diags;
use crate::front::definition::ast::{Definition, Guard, Named};
use crate::front::markdown::document::{Heading, Instructions};
use crate::front::mermaid::ast::Diagram;
use crate::front::words::composed;
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
    /// The headings below it that start no instructions.
    pub headings: Vec<Heading>,
    /// A fence that may have been meant as the diagram.
    pub other_fence: Option<Span>,
}

/// Most names that are compared with mistyped ones. Unit: pairs of names. Why: each mistyped name is compared with every
/// known one; a hundred mistakes among thousands of states get suggestions, and ten thousand don't take minutes.
const MOST_COMPARISONS: usize = 200_000;

/// What every step of `lower` may look up, and where it reports.
pub(super) struct Context<'c> {
    pub(super) sources: &'c Sources,
    pub(super) diags: &'c mut Diags,
    /// Whether the front ends found an error: then what seems to be missing may just not have been read.
    pub(super) broken: bool,
    actions: BTreeSet<String>,
    guards: BTreeMap<String, &'c Named<Guard>>,
    /// Whether there is a diagram.
    pub(super) is_drawn: bool,
    /// What is declared of the data.
    pub(super) fields: Fields<'c>,
    /// Names that stand alone between brackets somewhere: what isn't declared of them is the host's.
    pub(super) asked: BTreeSet<String>,
    /// Names of declared guards that something uses.
    pub(super) used: BTreeSet<String>,
    /// How many more names may be compared with a mistyped one.
    comparisons: usize,
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
                .map(|action| composed(&action.name.value).into_owned())
                .collect(),
            guards: guards
                .iter()
                .map(|guard| (composed(&guard.name.value).into_owned(), guard))
                .collect(),
            is_drawn: spec.diagram.is_some(),
            fields: Fields::new(definition),
            asked: BTreeSet::new(),
            used: BTreeSet::new(),
            comparisons: MOST_COMPARISONS,
        }
    }

    /// The names that a mistyped one is compared with: all of them, or none once enough have been compared.
    pub(super) fn comparable<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str>,
        count: usize,
    ) -> impl Iterator<Item = &'n str> {
        let left = self.comparisons.checked_sub(count);
        self.comparisons = left.unwrap_or(0);
        names.take(left.map_or(0, |_| count))
    }

    /// Whether the definition declares an action of that name.
    pub(super) fn declares_action(&self, name: &str) -> bool {
        self.actions.contains(composed(name).as_ref())
    }

    /// The guard that the definition declares under that name.
    pub(super) fn declared_guard(&self, name: &str) -> Option<&'c Named<Guard>> {
        self.guards.get(composed(name).as_ref()).copied()
    }

    /// The names of the guards that the definition declares.
    pub(super) fn declared_guards(&self) -> impl Iterator<Item = &'c str> + '_ {
        self.guards.values().map(|guard| guard.name.value.as_str())
    }
}
