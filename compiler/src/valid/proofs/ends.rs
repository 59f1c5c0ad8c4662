//! Whether a machine can come to its end: at all, and from wherever it may be.

use std::collections::BTreeSet;

use super::{Case, Found, Proof, Witness, is_end};
use crate::arena::Handle;
use crate::ir::State;
use crate::valid::no_path_to_final::without_end;

/// `can-end`, with the shortest run.
pub(super) fn can_end(case: &Case<'_>) -> Option<Proof> {
    let ends: Vec<_> = ends(case).collect();
    let is_followed = case.explored.is_whole && !case.has_interrupts();
    let mut nodes = case.explored.nodes.iter();
    let found = if let Some(node) = nodes.position(|node| node.has_ended) {
        Found::holds().shown_by(case.witness(node))
    } else if ends.is_empty() {
        Found::fails("nothing in it is an end")
    } else if is_followed || is_hopeless(case) {
        let why = format!("no path leads to {}", case.list(&ends));
        Found::fails(why).shown_by(Witness {
            states: case.ids(ends),
            ..Witness::default()
        })
    } else {
        case.unfollowed()
    };
    Some(found.claim("can-end", "it can come to an end", case.possibly()))
}

/// `can-always-end`. Nothing is said of a machine without an end: `can-end` has said it.
pub(super) fn can_always_end(case: &Case<'_>) -> Option<Proof> {
    ends(case).next()?;
    let explored = &case.explored;
    let ending = explored.can_end();
    let stuck = if explored.is_whole {
        ending.iter().position(|ends| !ends)
    } else {
        // What the search for paths in the drawn graph denies stays denied however much is left to go through.
        let without: BTreeSet<Handle<State>> =
            without_end(case.machine, &case.reach).into_iter().collect();
        let mut nodes = 0..explored.nodes.len();
        nodes.find(|&node| {
            let leaves = explored.leaves(node);
            leaves.iter().any(|leaf| without.contains(leaf))
        })
    };
    let may_come_back = case.has_interrupts() && !is_hopeless(case);
    let found = match stuck {
        Some(_) if may_come_back => case.unfollowed(),
        Some(node) => {
            let all = if explored.is_whole {
                lost(case, &ending)
            } else {
                Vec::new()
            };
            let why = if all.is_empty() {
                format!("no path to an end leads from {}", case.place(node))
            } else {
                format!("no path leads from {} to an end", case.list(&all))
            };
            Found::fails(why).shown_by(case.witness(node))
        }
        None if explored.is_whole && !explored.nodes.is_empty() && !case.has_interrupts() => {
            Found::holds()
        }
        None => case.unfollowed(),
    };
    Some(found.claim(
        "can-always-end",
        "wherever it is, it can still come to an end",
        case.possibly(),
    ))
}

/// Whether no end is reached by anything, not by interrupts either.
fn is_hopeless(case: &Case<'_>) -> bool {
    !ends(case).any(|end| case.reach.is_active(end))
}

fn ends(case: &Case<'_>) -> impl Iterator<Item = Handle<State>> {
    let states = case.machine.states.handles();
    states.filter(|&state| is_end(case.machine, state))
}

/// The leaves that are active only where no end can be reached any more.
fn lost(case: &Case<'_>, ending: &[bool]) -> Vec<Handle<State>> {
    let mut fine = BTreeSet::new();
    let mut lost = BTreeSet::new();
    for (node, ends) in ending.iter().enumerate() {
        let leaves = case.explored.leaves(node);
        if *ends {
            fine.extend(leaves);
        } else {
            lost.extend(leaves);
        }
    }
    lost.difference(&fine).copied().collect()
}
