//! Tests of the crate as a whole; tests of one file stand at its end.

use crate as rt;

mod data;
mod evaluator;
mod exercise;
mod failing;
mod large;
mod learned;
mod machines;
mod notation;
mod oracle;
mod programs_by_hand;
mod random;
mod steps;

use alloc::vec;
use alloc::vec::Vec;

use crate::{ActionKind, ActionRow, Sections, StateId, StateKind, StateRow, TextId, Verdict};

/// A machine of one state, with one action, for what its programs do.
fn small(fields: &[&str], guards: &[&str]) -> Sections {
    let mut rows = Sections::default();
    let mut text = |text: &str| {
        rows.texts.push(text.into());
        TextId::from_index(rows.texts.len() - 1).unwrap()
    };
    rows.name = text("machine");
    let state = text("state");
    let action = text("action");
    rows.fields = fields.iter().map(|name| text(name)).collect::<Vec<_>>();
    rows.guards = guards.iter().map(|name| text(name)).collect();
    rows.actions = vec![ActionRow {
        name: action,
        kind: ActionKind::Host,
        metadata: None,
    }];
    let row = |name, kind, parent, initial| StateRow {
        name,
        kind,
        verdict: Verdict::Success,
        parent,
        end: 2,
        initial,
        initial_calls: 0..0,
        entry: 0..0,
        exit: 0..0,
        transitions: 0..0,
        done: None,
        metadata: None,
    };
    rows.targets = vec![StateId::new(1)];
    rows.states = vec![
        row(rows.name, StateKind::Compound, None, 0..1),
        row(state, StateKind::Atomic, Some(StateId::new(0)), 0..0),
    ];
    rows
}
mod together;
