//! Which body owns a state that a diagram mentions in several.
//!
//! `state X {` places X where that body stands. Otherwise mentions in an inner body beat those in an enclosing one; between
//! unrelated bodies a declaration, a description, a source or the target of `[*] -->` beats a mere target; two such claims
//! are an error; mere targets in several bodies belong to their nearest common ancestor. Mermaid lets the last body that
//! mentions a state own it; where that differs, a warning says so.

use std::collections::BTreeMap;

use crate::diag::Diags;
use crate::diag::{Code, Diagnostic};
use crate::front::definition::ast::Kind;
use crate::front::mermaid::ast::Stereotype;
use crate::lower::draft::{Draft, ROOT, StateIndex};
use crate::source::Span;

/// One mention of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    /// The composite in whose body it stands; the root for the diagram itself.
    pub(super) scope: StateIndex,
    /// Whether it is more than the target of a transition.
    pub(super) strong: bool,
    /// Whether it is a `state X {` with a body, which settles it.
    pub(super) placed: bool,
    /// The mention.
    pub(super) span: Span,
}

/// The mentions of every state, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Claims {
    by_state: BTreeMap<StateIndex, Vec<Claim>>,
}

impl Claims {
    /// Notes a mention.
    pub(super) fn add(&mut self, state: StateIndex, claim: Claim) {
        self.by_state.entry(state).or_default().push(claim);
    }

    /// Notes that the mention just added is a body, which settles where the state stands.
    pub(super) fn place(&mut self, state: StateIndex, scope: StateIndex, span: Span) {
        if let Some(claim) = self.by_state.get_mut(&state).and_then(|all| all.last_mut()) {
            *claim = Claim {
                scope,
                strong: true,
                placed: true,
                span,
            };
        }
    }

    /// Gives every mentioned state its parent.
    pub(super) fn settle(&self, draft: &mut Draft, diags: &mut Diags) {
        // Composites first: where a body lies decides which of the others are inner.
        let (placed, others): (Vec<_>, Vec<_>) = self
            .by_state
            .iter()
            .partition(|(_, claims)| claims.iter().any(|claim| claim.placed));
        let mut settled = Vec::new();
        for (&state, claims) in placed {
            let bodies = || claims.iter().filter(|claim| claim.placed);
            let Some(first) = bodies().next() else {
                continue;
            };
            match bodies().find(|claim| claim.scope != first.scope) {
                Some(other) => {
                    diags.push(two_owners(draft, state, first, other));
                }
                None => settled.push((state, claims)),
            }
            draft.get_mut(state).parent = first.scope;
        }
        break_cycles(draft);
        for (state, claims) in settled {
            report_drawn_elsewhere(draft, state, claims, diags);
        }
        for (&state, claims) in others {
            let (owner, contested) = owner(draft, state, claims, diags);
            draft.get_mut(state).parent = owner;
            if contested {
                // Where it is drawn is no news about a state that two bodies claim.
                continue;
            }
            report_drawn_elsewhere(draft, state, claims, diags);
        }
        for (&state, claims) in &self.by_state {
            let owner = draft.get(state).parent;
            let mut own = claims.iter().filter(|claim| claim.scope == owner);
            if let Some(first) = own.next() {
                draft.get_mut(state).first_statement = first.span;
                draft.get_mut(state).last_statement = own.next_back().unwrap_or(first).span;
            }
        }
    }
}

/// Says so where Mermaid draws a state in another body than its owner: in the last one that mentions it, and be it by a
/// transition that leads there. A composite between its own braces is another matter, told when it was read.
fn report_drawn_elsewhere(draft: &Draft, state: StateIndex, claims: &[Claim], diags: &mut Diags) {
    let mut drawn = claims.iter().rev().filter(|claim| claim.scope != ROOT);
    if let Some(claim) = drawn.next()
        && claim.scope != draft.get(state).parent
        && !draft.is_within(claim.scope, state)
    {
        let owner = draft.get(state).parent;
        diags.push(drawn_elsewhere(draft, state, owner, claim));
    }
}

/// The body that owns a state without a body of its own, and whether another one claims it as strongly.
fn owner(
    draft: &Draft,
    state: StateIndex,
    claims: &[Claim],
    diags: &mut Diags,
) -> (StateIndex, bool) {
    let claims = strongest_by_scope(claims);
    if matches!(
        draft.get(state).pseudo,
        Some(Stereotype::Fork | Stereotype::Join)
    ) {
        return (around_all(draft, &claims), true);
    }
    let innermost: Vec<&Claim> = claims
        .iter()
        .filter(|claim| {
            !claims.iter().any(|other| {
                other.scope != claim.scope && draft.is_within(other.scope, claim.scope)
            })
        })
        .collect();
    let strong: Vec<&Claim> = innermost
        .iter()
        .copied()
        .filter(|claim| claim.strong)
        .collect();
    let decisive = if strong.is_empty() {
        &innermost
    } else {
        &strong
    };
    let Some(first) = decisive.first() else {
        return (ROOT, false);
    };
    let Some(other) = decisive.iter().find(|claim| claim.scope != first.scope) else {
        return (first.scope, false);
    };
    if strong.is_empty() {
        let around = draft.ancestry(first.scope).find(|&scope| {
            decisive
                .iter()
                .all(|claim| draft.is_within(claim.scope, scope))
        });
        let around = around.unwrap_or(ROOT);
        // Between the regions of a parallel state there is no room for a state.
        if draft.get(around).kind != Some(Kind::Parallel) {
            return (around, false);
        }
    }
    diags.push(two_owners(draft, state, first, other));
    (first.scope, true)
}

/// The scope of a fork or a join that several bodies mention: around all of them, and not between regions, which it
/// parts or brings together.
fn around_all(draft: &Draft, claims: &[Claim]) -> StateIndex {
    let Some(first) = claims.first() else {
        return ROOT;
    };
    let innermost = claims.iter().filter(|claim| {
        let mut others = claims.iter().filter(|other| other.scope != claim.scope);
        !others.any(|other| draft.is_within(other.scope, claim.scope))
    });
    let innermost: Vec<StateIndex> = innermost.map(|claim| claim.scope).collect();
    let from = innermost.first().copied().unwrap_or(first.scope);
    let holds_all = |scope: &StateIndex| {
        draft.get(*scope).kind != Some(Kind::Parallel)
            && innermost
                .iter()
                .all(|&inner| draft.is_within(inner, *scope))
    };
    draft.ancestry(from).find(holds_all).unwrap_or(ROOT)
}

/// One claim for each scope, in the order of the text: the first strong one, else the first.
fn strongest_by_scope(claims: &[Claim]) -> Vec<Claim> {
    let mut found: Vec<Claim> = Vec::new();
    let mut at: BTreeMap<StateIndex, usize> = BTreeMap::new();
    for &claim in claims {
        match at.get(&claim.scope).and_then(|&index| found.get_mut(index)) {
            Some(earlier) if claim.strong && !earlier.strong => *earlier = claim,
            Some(_) => {}
            None => {
                at.insert(claim.scope, found.len());
                found.push(claim);
            }
        }
    }
    found
}

/// Bodies that contain each other (`state A {` inside `state B {` inside another `state A {`) are cut at the root.
fn break_cycles(draft: &mut Draft) {
    for state in 1..draft.states.len() {
        let limit = draft.states.len() + 1;
        let mut at = state;
        for _ in 0..limit {
            at = draft.get(at).parent;
            if at == state {
                draft.get_mut(state).parent = ROOT;
                break;
            }
            if at == ROOT {
                break;
            }
        }
    }
}

fn two_owners(draft: &Draft, state: StateIndex, first: &Claim, other: &Claim) -> Diagnostic {
    let id = &draft.get(state).id;
    let (one, two) = (draft.place_name(first.scope), draft.place_name(other.scope));
    Diagnostic::new(
        Code::TwoOwners,
        other.span,
        format!("`{id}` can't be inside {one} and inside {two}"),
    )
    .label(format!("inside {two} here"))
    .related(first.span, format!("inside {one} here"))
    .help(format!(
        "keep what `{id}` does in one body; other bodies may only lead to it"
    ))
}

fn drawn_elsewhere(
    draft: &Draft,
    state: StateIndex,
    owner: StateIndex,
    drawn: &Claim,
) -> Diagnostic {
    let id = &draft.get(state).id;
    let owner = match owner {
        ROOT => "outside of it".to_owned(),
        owner => format!("to {}", draft.place_name(owner)),
    };
    let drawn_in = draft.place_name(drawn.scope);
    let message = format!("`{id}` is drawn inside {drawn_in}, but belongs {owner}");
    Diagnostic::new(Code::DrawnElsewhere, drawn.span, message)
        .label("mentioned last here")
        .note("Mermaid draws a state inside the last body that mentions it")
        .help(format!(
            "move this line out of {drawn_in}; the machine stays the same"
        ))
}
