//! Machines near the limits.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::exercise::Fickle;
use super::notation::{sections, table};
use crate::table::index::Cell;
use crate::{
    ActionId, ActionKind, ActionRow, EventId, MAX_CALLS, MAX_DEPTH, MAX_RAISED, Machine, Outcome,
    StateId, StepError, TextId, encode, verify,
};

/// A ring of states; event `e<n>` of each leads on, and `back` leads to the first.
fn ring(states: usize) -> String {
    let mut text = String::from("root to=s0\n  - on=back to=s0\n");
    for index in 0..states {
        let next = (index + 1) % states;
        text.push_str(&format!("  s{index}\n    - on=e{index} to=s{next}\n"));
    }
    text
}

#[test]
fn a_machine_too_large_for_the_dense_index_steps_the_same() {
    let text = ring(1_500);
    let sparse = table(&text);
    assert!(sparse.index.dense.cells().0.is_empty());
    let mut machine = Machine::start(&sparse, ()).unwrap();
    let event = |name: &str| sparse.event_named(name).unwrap();
    assert_eq!(machine.send(event("e1")), Ok(Outcome::Ignored));
    for index in 0..3 {
        assert_eq!(
            machine.send(event(&format!("e{index}"))),
            Ok(Outcome::Taken)
        );
    }
    assert!(machine.is_in(sparse.state_named("s3").unwrap()));
    assert_eq!(machine.send(event("back")), Ok(Outcome::Taken));
    assert!(machine.is_in(sparse.state_named("s0").unwrap()));
    let small = table(&ring(100));
    let (cells, stride) = small.index.dense.cells();
    assert_eq!((cells.len(), stride), (101 * 101, 101));
    assert!(
        cells.iter().any(|cell| matches!(cell, Cell::Move { .. }))
            && cells.contains(&Cell::Nothing)
    );
}

/// The deepest tree in which every state shares the longest list of actions, all of which raise, with as many leaves
/// and transitions as make the most pairs: a small table that would be slow to index without a bound on the work.
#[test]
fn a_table_that_shares_long_lists_is_verified_in_reasonable_time() {
    let mut text = String::from("root to=d1\n");
    for depth in 1..MAX_DEPTH {
        text.push_str(&format!("{:depth$}d{depth} to=leaf0\n", ""));
        if depth == 1 {
            for index in 0..300 {
                text.push_str(&format!("  - on=e{index} to=leaf0\n"));
            }
        }
    }
    for index in 0..400 {
        text.push_str(&format!("{:MAX_DEPTH$}leaf{index}\n", ""));
    }
    let mut rows = sections(&text);
    rows.actions.push(ActionRow {
        name: TextId::new(0),
        kind: ActionKind::Raise(EventId::new(0)),
        metadata: None,
    });
    rows.calls = alloc::vec![ActionId::new(0); MAX_CALLS];
    let all = 0..u32::try_from(MAX_CALLS).unwrap();
    for row in rows.states.iter_mut().skip(1) {
        (row.entry, row.exit) = (all.clone(), all.clone());
    }
    assert!(encode(&rows).unwrap().len() < 100_000);
    let table = verify(rows).unwrap();
    // Given up early: without the bound this test would take minutes.
    assert!(table.index.dense.cells().0.is_empty());
}

/// Each microstep raises as much as it may, and each raised event takes another.
#[test]
fn a_macrostep_raises_only_so_many_events() {
    let raises = "raise.x,".repeat(MAX_CALLS);
    let raises = raises.trim_end_matches(',');
    let text = format!(
        "root to=a\n  a\n    - on=once do={raises} to=b\n    - on=go|x do={raises} internal\n  b\n    - on=back to=a\n"
    );
    let table = table(&text);
    let mut machine = Machine::start(&table, ()).unwrap();
    let event = |name: &str| table.event_named(name).unwrap();
    assert_eq!(machine.send(event("go")), Err(StepError::RaiseLimit));
    assert!(machine.is_in(table.state_named("a").unwrap()));
    for _ in 0..MAX_RAISED / MAX_CALLS + 1 {
        // Each macrostep has all of the budget.
        assert_eq!(machine.send(event("once")), Ok(Outcome::Taken));
        assert_eq!(machine.send(event("back")), Ok(Outcome::Taken));
    }
}

#[test]
fn ids_that_stand_for_none_are_not_encoded() {
    let mut rows = sections("root to=a\n  a\n    - on=go to=a\n");
    let good = rows.clone();
    rows.states[1].parent = Some(StateId::new(u16::MAX));
    let message = "row 1 of the section `states` has an id that the format keeps for *none*";
    assert_eq!(encode(&rows).unwrap_err().to_string(), message);
    rows = good.clone();
    rows.transitions[0].metadata = Some(TextId::new(u32::MAX));
    let message = "row 0 of the section `transitions` has an id that the format keeps for *none*";
    assert_eq!(encode(&rows).unwrap_err().to_string(), message);
    rows = good;
    rows.metadata = Some(TextId::new(u32::MAX));
    assert!(encode(&rows).is_err());
}

#[test]
fn a_host_may_stay_with_its_owner() {
    let table = table("root to=a entry= \n  a\n    - on=go do=act to=a\n");
    let mut host = Fickle::new(0);
    let mut machine = Machine::start(&table, &mut host).unwrap();
    let _ = machine.send(EventId::new(0)).unwrap();
    drop(machine);
    let expected: Vec<u32> = alloc::vec![0x1_0000];
    assert_eq!(host.log, expected);
}
