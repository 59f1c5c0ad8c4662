//! How far it is from one state to others.
//!
//! Guards aren't asked on the way, and whatever a state may contain counts as entered with it: so this says which event
//! leads nearer, not that the rest of the way is open.

use std::collections::BTreeSet;

use statemark_runtime::{StateId, Table};

use crate::runs::Legal;

/// How many more transitions it takes, at least, behind this one, until one of the states is active.
pub(super) fn nearest(table: &Table, legal: &Legal, states: &[StateId]) -> Option<usize> {
    let mut reached: BTreeSet<StateId> = BTreeSet::new();
    for target in legal.to.iter().filter_map(|name| table.state_named(name)) {
        enter(table, target, &mut reached);
    }
    for steps in 0.. {
        if states.iter().any(|state| reached.contains(state)) {
            return Some(steps);
        }
        let before = reached.len();
        let open = table
            .transitions()
            .filter(|(_, row)| reached.contains(&row.source));
        let targets: Vec<StateId> = open
            .flat_map(|(transition, _)| table.targets(transition))
            .copied()
            .collect();
        for target in targets {
            enter(table, target, &mut reached);
        }
        if reached.len() == before {
            return None;
        }
    }
    None
}

/// A state is entered: with what is around it, and what may be in it.
fn enter(table: &Table, state: StateId, reached: &mut BTreeSet<StateId>) {
    let is_history = table.state(state).is_some_and(|row| row.kind.is_history());
    let state = match table.parent(state) {
        Some(parent) if is_history => parent,
        _ => state,
    };
    reached.extend(
        table
            .states()
            .map(|(id, _)| id)
            .filter(|id| *id == state || table.is_descendant(*id, state)),
    );
    let mut around = table.parent(state);
    while let Some(parent) = around {
        reached.insert(parent);
        around = table.parent(parent);
    }
}
