//! The input of `lower`: the parts of one machine, and its context.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::Fields;
use crate::diag::Diags;
use crate::front::definition::ast::{Definition, Guard, Named, State};
use crate::front::markdown::document::{Heading, Instructions};
use crate::front::mermaid::ast::Diagram;
use crate::front::words::to_nfc;
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

/// The lookups and the diagnostics of all steps.
pub(super) struct Context<'c> {
    pub(super) sources: &'c Sources,
    pub(super) diags: &'c mut Diags,
    /// True if the front ends found an error: a name that seems to be missing may not have been read.
    pub(super) broken: bool,
    actions: BTreeSet<String>,
    guards: BTreeMap<String, &'c Named<Guard>>,
    /// True if there is a diagram.
    pub(super) is_drawn: bool,
    /// The header of the diagram.
    pub(super) header: Option<Span>,
    /// The declarations of the data.
    pub(super) fields: Fields<'c>,
    /// True if every guard must be declared: the definition says `"guards": "declared"`.
    pub(super) declares_all: bool,
    /// The states to which the definition gives transitions without an event (`always`), by name.
    pub(super) eventless: BTreeSet<&'c str>,
    /// The names alone between brackets somewhere: those that aren't declared are claims, or the host's.
    pub(super) asked: BTreeSet<String>,
    /// The declared guards that something uses.
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
                .map(|action| to_nfc(&action.name.value).into_owned())
                .collect(),
            guards: guards
                .iter()
                .map(|guard| (to_nfc(&guard.name.value).into_owned(), guard))
                .collect(),
            is_drawn: spec.diagram.is_some(),
            header: spec.diagram.as_ref().and_then(|diagram| diagram.header),
            declares_all: definition.is_some_and(|definition| definition.guards_declared),
            eventless: definition.map_or_else(BTreeSet::new, eventless_states),
            fields: Fields::new(definition),
            asked: BTreeSet::new(),
            used: BTreeSet::new(),
        }
    }

    /// Returns whether the definition declares an action of that name.
    pub(super) fn declares_action(&self, name: &str) -> bool {
        self.actions.contains(to_nfc(name).as_ref())
    }

    /// Returns the guard that the definition declares under a name.
    pub(super) fn declared_guard(&self, name: &str) -> Option<&'c Named<Guard>> {
        self.guards.get(to_nfc(name).as_ref()).copied()
    }

    /// Reports whether a guard in brackets that nothing defines is a claim: the spec declares no guards.
    pub(super) fn has_claims(&self) -> bool {
        self.guards.is_empty() && !self.declares_all
    }

    /// Returns the names of the declared guards.
    pub(super) fn declared_guards(&self) -> impl Iterator<Item = &'c str> + '_ {
        self.guards.values().map(|guard| guard.name.value.as_str())
    }

    /// Returns the names of the declared guards to compare a misspelled one with.
    pub(super) fn comparable_guards(&mut self) -> impl Iterator<Item = &'c str> + use<'c> {
        let names = self.guards.values().map(|guard| guard.name.value.as_str());
        let comparable = self.diags.comparable(names, self.guards.len());
        comparable.collect::<Vec<_>>().into_iter()
    }
}

/// Returns the names of the states that have `always`.
fn eventless_states(definition: &Definition) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&[Named<State>]> = vec![&definition.states];
    while let Some(states) = open.pop() {
        for state in states {
            if !state.value.always.is_empty() {
                found.insert(state.name.value.as_str());
            }
            open.push(&state.value.states);
        }
    }
    found
}
