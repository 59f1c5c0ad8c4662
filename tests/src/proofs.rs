//! The properties stated of random machines, held against the table engine.
//!
//! Each machine is walked by brute force: every configuration, every event and timer, every pattern of answers to the first
//! few questions. A property that holds is never contradicted by what is found; what is denied is never found; and where a
//! witness leads, the engine really comes.
//!
//! `STATEMARK_MACHINES` sets how many machines are tried, `STATEMARK_SEED` runs one alone.

mod walk;

use std::collections::BTreeMap;

use statemark_compiler::arena::{Arena, Handle};
use statemark_compiler::back;
use statemark_compiler::diag::Diags;
use statemark_compiler::ir::{
    ActionKind, Assign, EventKind, Expression, ExpressionKind, HostGuard, Machine,
};
use statemark_compiler::proofs::{Judgment, Proof, prove};
use statemark_compiler::valid;
use statemark_runtime::{StateId, Table, decode, verify};

use crate::random::{self, Chance, Shape};
use walk::{Place, Walk};

/// Machines of a normal run. Why: they take some 30 s of an unoptimized build.
const MACHINES: u64 = 80;

#[test]
fn no_property_is_contradicted() {
    let mut tally: BTreeMap<(&str, String), u64> = BTreeMap::new();
    let mut whole = 0;
    let seeds = match number("STATEMARK_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("STATEMARK_MACHINES").unwrap_or(MACHINES),
    };
    let is_one = seeds.end - seeds.start == 1;
    for seed in seeds {
        let machine = free(&random::machine(seed, small(seed)));
        let Some(valid) = valid::check(machine, false, &mut Diags::new()) else {
            continue;
        };
        let table = verify(decode(&back::table::write(&valid)).unwrap()).unwrap();
        let walk = Walk::new(&table);
        whole += u64::from(walk.is_whole);
        for proof in prove(&valid) {
            if is_one {
                eprintln!("{proof:#?}");
            }
            if let Err(told) = contradiction(&valid, &table, &walk, &proof) {
                panic!("STATEMARK_SEED={seed}\n{proof:#?}\n{told}\n{table:?}");
            }
            *tally
                .entry((proof.property, format!("{:?}", proof.verdict)))
                .or_default() += 1;
        }
    }
    if is_one {
        return;
    }
    eprintln!("{whole} walked whole; {tally:#?}");
    // The machines are worth something: each verdict is met, and most are walked to the end.
    let met: u64 = tally.values().sum::<u64>() / tally.len() as u64;
    assert!(whole > met, "{whole} of {met}");
    for property in [
        "states-reachable",
        "transitions-taken",
        "can-end",
        "can-always-end",
        "never-stuck",
        "comes-to-rest",
    ] {
        for verdict in ["Holds", "Fails"] {
            let count = tally.get(&(property, verdict.to_owned()));
            assert!(count.is_some(), "{property} {verdict}");
        }
    }
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.replace('_', "").parse().unwrap())
}

/// A machine that can be walked to the end.
fn small(seed: u64) -> Shape {
    let shape = Shape::any(seed);
    let mut chance = Chance::new(seed ^ 0x900f);
    let rarely = |chance: &mut Chance, of: u64| if chance.percent(25) { of } else { 0 };
    Shape {
        depth: shape.depth.min(3),
        states: chance.between(2, 8),
        events: chance.between(1, 3),
        actions: chance.between(1, 4),
        eventless: rarely(&mut chance, shape.eventless),
        timers: rarely(&mut chance, shape.timers),
        content: shape.content && chance.percent(30),
        ..shape
    }
}

/// The machine with a question of its own for every guard, so that answers are free; an assignment asks one field.
fn free(machine: &Machine) -> Machine {
    let mut free = machine.clone();
    let mut guards = Arena::new();
    let mut question = || {
        let name = format!("free{}", guards.len());
        let span = machine.span;
        let text = name.clone();
        let kind = ExpressionKind::Ask(guards.append(HostGuard {
            name,
            text,
            span,
            is_claim: false,
        }));
        Expression { span, kind }
    };
    for handle in machine.transitions.handles() {
        if let Some(guard) = &mut free.transitions.at_mut(handle).guard {
            guard.value = question();
        }
    }
    let mut events = machine.events.iter();
    let has_fault = events.any(|(_, event)| event.kind == EventKind::Fault);
    for handle in machine.actions.handles() {
        let kind = &mut free.actions.at_mut(handle).kind;
        match kind {
            ActionKind::If { guard, .. } => *guard = question(),
            ActionKind::Assign(_) if !has_fault => *kind = ActionKind::Host,
            ActionKind::Assign(assigns) => {
                let field = assigns[0].field;
                let value = Expression {
                    span: machine.span,
                    kind: ExpressionKind::Field(field),
                };
                *assigns = vec![Assign { field, value }];
            }
            _ => {}
        }
    }
    free.guards = guards;
    free
}

/// What was found that speaks against a property, or against its witness.
fn contradiction(
    machine: &Machine,
    table: &Table,
    walk: &Walk,
    proof: &Proof,
) -> Result<(), String> {
    let said = |is: bool, told: &str| if is { Ok(()) } else { Err(told.to_owned()) };
    let witness = proof.witness.clone().unwrap_or_default();
    let holds = proof.verdict == Judgment::Holds;
    let fails = proof.verdict == Judgment::Fails;
    let named = |id: &str| {
        let found = machine.state_named(id).unwrap();
        StateId::from_index(found.index()).unwrap()
    };
    let states: Vec<StateId> = witness.states.iter().map(|id| named(id)).collect();
    let there = || -> Vec<Place> {
        let places = walk::follow(table, &witness.events);
        places
            .into_iter()
            .filter(|it| it.leaves() == states)
            .collect()
    };
    match proof.property {
        "states-reachable" => {
            if holds && walk.is_whole {
                let mut all = machine
                    .named_states()
                    .filter(|(_, it)| !it.kind.is_history());
                let all = all.all(|(handle, _)| walk.entered.contains(&handle.index()));
                said(all, "a state was never entered")?;
            }
            let entered = states.iter().any(|it| walk.entered.contains(&it.index()));
            said(!(fails && entered), "a state that is denied was entered")
        }
        "transitions-taken" => {
            let mut all = machine.transitions.handles();
            let all = all.all(|it| walk.taken.contains(&it.index()));
            said(
                !(holds && walk.is_whole && !all),
                "a transition was never taken",
            )?;
            said(!(fails && all), "all transitions were taken")
        }
        "can-end" => {
            let ended = there().iter().any(|it| it.has_ended(table));
            said(!holds || ended, "the witness doesn't end")?;
            said(!(fails && walk.ends()), "an end was reached")
        }
        "can-always-end" => {
            let lost = walk.first_lost().is_some();
            said(!(holds && walk.is_whole && lost), "a place can't end")?;
            let stuck = || {
                there()
                    .iter()
                    .any(|it| !Walk::from(table, it.clone()).ends())
            };
            said(!fails || stuck(), "the witness can end, or isn't there")
        }
        "never-stuck" => {
            let stuck = walk.has_unsure();
            said(!(holds && stuck), "a place has no sure way on")?;
            let dead = || there().iter().any(|it| !it.moves(table));
            said(!fails || dead(), "the witness moves, or isn't there")?;
            let is_unknown = proof.verdict == Judgment::Unknown && proof.witness.is_some();
            said(
                !is_unknown || !there().is_empty(),
                "the witness isn't there",
            )
        }
        "comes-to-rest" => {
            said(!(holds && walk.is_restless), "a step doesn't come to rest")?;
            let restless = || walk::is_restless(table, &witness.events);
            said(!fails || restless(), "the witness comes to rest")
        }
        "regions-complete" => {
            let mut awaited = states.iter();
            let raised = awaited.any(|state| {
                let done = machine.states.at(Handle::at(state.index())).done;
                done.is_some_and(|done| walk.raised.contains(&done.index()))
            });
            said(!(fails && raised), "a state that is denied was done")?;
            let mut parallel = machine.states.iter().filter(|(handle, state)| {
                state.kind == statemark_runtime::StateKind::Parallel
                    && walk.entered.contains(&handle.index())
            });
            let all = parallel.all(|(_, state)| {
                let done = state.done;
                done.is_none_or(|done| walk.raised.contains(&done.index()))
            });
            said(!(holds && walk.is_whole && !all), "a state was never done")
        }
        "unambiguous" => Ok(()),
        other => Err(format!("nothing tests `{other}`")),
    }
}
