//! Owners of states that a diagram mentions in several bodies.
//!
//! `state X {` declares X in the body around it. Otherwise mentions in an inner body beat those in an enclosing one; between
//! unrelated bodies a declaration, a description, a source or the target of `[*] -->` beats a mere target; two such mentions
//! are an error; mere targets in several bodies belong to their nearest common ancestor. Mermaid lets the last body that
//! mentions a state own it; a warning reports where that differs.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic, Diags};
use crate::front::definition::ast::Kind;
use crate::front::mermaid::ast::Stereotype;
use crate::lower::draft::{Draft, ROOT, StateHandle};
use crate::source::Span;

/// One mention of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mention {
    /// The composite with the mention in its body; the root for the diagram itself.
    pub(super) scope: StateHandle,
    /// True if it is more than the target of a transition.
    pub(super) strong: bool,
    /// True for `state X {` with a body, which decides.
    pub(super) placed: bool,
    /// The mention.
    pub(super) span: Span,
}

/// The mentions of every state, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    by_state: BTreeMap<StateHandle, Vec<Mention>>,
}

impl Mentions {
    /// Notes a mention.
    pub(super) fn add(&mut self, state: StateHandle, mention: Mention) {
        self.by_state.entry(state).or_default().push(mention);
    }

    /// Marks the last mention of a state as a body, which decides.
    pub(super) fn mark_body(&mut self, state: StateHandle, scope: StateHandle, span: Span) {
        if let Some(mention) = self.by_state.get_mut(&state).and_then(|all| all.last_mut()) {
            *mention = Mention {
                scope,
                strong: true,
                placed: true,
                span,
            };
        }
    }

    /// Gives every mentioned state its parent.
    pub(super) fn set_parents(&self, draft: &mut Draft, diags: &mut Diags) {
        // Composites first: their parents decide which of the other bodies are inner.
        let (placed, others): (Vec<_>, Vec<_>) = self
            .by_state
            .iter()
            .partition(|(_, mentions)| mentions.iter().any(|mention| mention.placed));
        let mut settled = Vec::new();
        for (&state, mentions) in placed {
            let bodies = || mentions.iter().filter(|mention| mention.placed);
            let Some(first) = bodies().next() else {
                continue;
            };
            match bodies().find(|mention| mention.scope != first.scope) {
                Some(other) => {
                    diags.push(two_owners(draft, state, first, other));
                }
                None => settled.push((state, mentions)),
            }
            draft.set_parent(state, first.scope);
        }
        break_cycles(draft);
        for (state, mentions) in settled {
            report_drawn_elsewhere(draft, state, mentions, diags);
        }
        for (&state, mentions) in others {
            let (owner, contested) = resolve_owner(draft, state, mentions, diags);
            draft.set_parent(state, owner);
            if contested {
                // Mermaid's drawing is no news about a state that two bodies want.
                continue;
            }
            report_drawn_elsewhere(draft, state, mentions, diags);
        }
        for (&state, mentions) in &self.by_state {
            let owner = draft.parent(state);
            let mut own = mentions.iter().filter(|mention| mention.scope == owner);
            if let Some(first) = own.next() {
                draft.get_mut(state).first_statement = first.span;
                draft.get_mut(state).last_statement = own.next_back().unwrap_or(first).span;
            }
        }
    }
}

/// Reports a state that Mermaid draws in another body than its owner.
///
/// That is the last body that mentions the state, even as a target. A composite inside its own braces is reported by the front
/// end.
fn report_drawn_elsewhere(
    draft: &Draft,
    state: StateHandle,
    mentions: &[Mention],
    diags: &mut Diags,
) {
    let mut drawn = mentions
        .iter()
        .rev()
        .filter(|mention| mention.scope != ROOT);
    if let Some(mention) = drawn.next()
        && mention.scope != draft.parent(state)
        && !draft.is_within(mention.scope, state)
    {
        let owner = draft.parent(state);
        diags.push(drawn_elsewhere(draft, state, owner, mention));
    }
}

/// Returns the body that owns a state without a body, and if another body mentions it as strongly.
fn resolve_owner(
    draft: &Draft,
    state: StateHandle,
    mentions: &[Mention],
    diags: &mut Diags,
) -> (StateHandle, bool) {
    let is_bar = matches!(
        draft.get(state).pseudo,
        Some(Stereotype::Fork | Stereotype::Join)
    );
    if let [first, others @ ..] = mentions
        && !is_bar
        && others.iter().all(|mention| mention.scope == first.scope)
    {
        // One body mentions it, as nearly always.
        return (first.scope, false);
    }
    let mentions = strongest_by_scope(mentions);
    if is_bar {
        return (common_scope(draft, &mentions), true);
    }
    let innermost: Vec<&Mention> = mentions
        .iter()
        .filter(|mention| {
            !mentions.iter().any(|other| {
                other.scope != mention.scope && draft.is_within(other.scope, mention.scope)
            })
        })
        .collect();
    let strong: Vec<&Mention> = innermost
        .iter()
        .copied()
        .filter(|mention| mention.strong)
        .collect();
    let decisive = if strong.is_empty() {
        &innermost
    } else {
        &strong
    };
    let Some(first) = decisive.first() else {
        return (ROOT, false);
    };
    let Some(other) = decisive.iter().find(|mention| mention.scope != first.scope) else {
        return (first.scope, false);
    };
    if strong.is_empty() {
        let common = draft.ancestry(first.scope).find(|&scope| {
            decisive
                .iter()
                .all(|mention| draft.is_within(mention.scope, scope))
        });
        let common = common.unwrap_or(ROOT);
        // Between the regions of a parallel state there is no room for a state.
        if draft.get(common).kind != Some(Kind::Parallel) {
            return (common, false);
        }
    }
    diags.push(two_owners(draft, state, first, other));
    (first.scope, true)
}

/// Returns the scope of a fork or a join: it holds all mentions, and isn't a parallel state.
///
/// Between the regions of a parallel state there is no room for a state.
fn common_scope(draft: &Draft, mentions: &[Mention]) -> StateHandle {
    let Some(first) = mentions.first() else {
        return ROOT;
    };
    let innermost = mentions.iter().filter(|mention| {
        let mut others = mentions.iter().filter(|other| other.scope != mention.scope);
        !others.any(|other| draft.is_within(other.scope, mention.scope))
    });
    let innermost: Vec<StateHandle> = innermost.map(|mention| mention.scope).collect();
    let from = innermost.first().copied().unwrap_or(first.scope);
    let holds_all = |scope: &StateHandle| {
        draft.get(*scope).kind != Some(Kind::Parallel)
            && innermost
                .iter()
                .all(|&inner| draft.is_within(inner, *scope))
    };
    draft.ancestry(from).find(holds_all).unwrap_or(ROOT)
}

/// Returns one mention for each scope, in the order of the text: the first strong one, else the first.
fn strongest_by_scope(mentions: &[Mention]) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut at: BTreeMap<StateHandle, usize> = BTreeMap::new();
    for &mention in mentions {
        match at
            .get(&mention.scope)
            .and_then(|&index| found.get_mut(index))
        {
            Some(earlier) if mention.strong && !earlier.strong => *earlier = mention,
            Some(_) => {}
            None => {
                at.insert(mention.scope, found.len());
                found.push(mention);
            }
        }
    }
    found
}

/// Moves a composite that contains itself (`state A {` in `state B {` in `state A {`) to the root.
fn break_cycles(draft: &mut Draft) {
    for state in draft.named_states() {
        let limit = draft.states.len() + 1;
        let mut at = state;
        for _ in 0..limit {
            at = draft.parent(at);
            if at == state {
                draft.set_parent(state, ROOT);
                break;
            }
            if at == ROOT {
                break;
            }
        }
    }
}

fn two_owners(draft: &Draft, state: StateHandle, first: &Mention, other: &Mention) -> Diagnostic {
    let id = &draft.get(state).ir.id;
    let (one, two) = (draft.scope_name(first.scope), draft.scope_name(other.scope));
    let message = format!("`{id}` can't be inside {one} and inside {two}");
    Diagnostic::new(Code::TwoOwners, other.span, message)
        .label(format!("inside {two} here"))
        .related(first.span, format!("inside {one} here"))
        .help(format!(
            "keep what `{id}` does in one body; other bodies may only lead to it"
        ))
}

fn drawn_elsewhere(
    draft: &Draft,
    state: StateHandle,
    owner: StateHandle,
    drawn: &Mention,
) -> Diagnostic {
    let id = &draft.get(state).ir.id;
    let is_inner = draft.is_within(owner, drawn.scope);
    let what = match draft.get(state).has_body {
        true => format!("`state {id} {{ … }}`"),
        false => format!("the other lines about `{id}`"),
    };
    let owner = match owner == ROOT {
        true => "outside of it".to_owned(),
        false => format!("to {}", draft.scope_name(owner)),
    };
    let drawn_in = draft.scope_name(drawn.scope);
    let message = format!("`{id}` is drawn inside {drawn_in}, but belongs {owner}");
    let found = Diagnostic::new(Code::DrawnElsewhere, drawn.span, message)
        .label("mentioned last here")
        .note("Mermaid draws a state inside the last body that mentions it");
    let move_line = format!("move this line out of {drawn_in}; the machine stays the same");
    match is_inner {
        true => found.help(move_line),
        // Who leads into a body from inside mostly means the state to be there.
        false => found
            .help(format!(
                "if it is meant to be inside, move {what} into {drawn_in}"
            ))
            .help(format!("if not, {move_line}")),
    }
}
