//! Properties that hold for every machine, tried on random ones.

use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::exercise::{self, Fickle};
use super::machines::{self, Entropy};
use super::oracle::{Oracle, is_busy};
use crate::table::checksum::crc32;
use crate::table::index::Dense;
use crate::table::layout::{CHECKSUM_AT, DIRECTORY_AT};
use crate::{
    EventId, Instruction, Machine, Outcome, Record, Recorder, Sections, StepError, Table, TimerId,
    decode, dump, encode, verify,
};

/// Small, so that machines that run in circles don't take long.
const LIMIT: u32 = 30;

fn entropy() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..400)
}

/// A verified random machine; `None` in the rare case that it would never rest.
fn machine(bytes: &[u8]) -> (Sections, Option<Table>) {
    let sections = machines::machine(&mut Entropy::new(bytes));
    match verify(sections.clone()) {
        Ok(table) => (sections, Some(table)),
        Err(fault) if fault.number() == 29 => (sections, None),
        Err(fault) => panic!("{fault}\n{}", dump(&sections)),
    }
}

/// Large numbers among the events stand for timers whose time is over.
fn timer(number: u16) -> Option<TimerId> {
    number.checked_sub(10).map(TimerId::new)
}

type Run = (Vec<Result<Record, StepError>>, Vec<u32>);

/// Runs the events on the engine.
fn run(table: &Table, seed: u64, events: &[u16]) -> Run {
    let mut recorder = Recorder::new();
    let mut records = Vec::new();
    let mut host = Fickle::new(seed);
    let mut machine = match Machine::start_observed(table, &mut host, &mut recorder) {
        Ok(machine) => machine,
        Err(fault) => return (alloc::vec![Err(fault)], host.log),
    };
    let outcome = if machine.is_ended() {
        Outcome::Ended
    } else {
        Outcome::Taken
    };
    records.push(Ok(recorder.finish(None, outcome)));
    machine.set_step_limit(LIMIT);
    for &number in events {
        let outcome = match timer(number) {
            Some(timer) => machine.elapse_observed(timer, &mut recorder),
            None => machine.send_observed(EventId::new(number), &mut recorder),
        };
        let event = match timer(number) {
            Some(timer) => table.timer(timer).map(|row| row.event),
            None => Some(EventId::new(number)),
        };
        let record = recorder.finish(event, outcome.unwrap_or(Outcome::Ignored));
        records.push(outcome.map(|_| record));
    }
    drop(machine);
    (records, host.log)
}

/// Runs the events on the engine, which may then take shortcuts.
fn run_unwatched(
    table: &Table,
    seed: u64,
    events: &[u16],
) -> (Vec<Result<Outcome, StepError>>, Vec<u32>) {
    let mut host = Fickle::new(seed);
    let Ok(mut machine) = Machine::start(table, &mut host) else {
        return (Vec::new(), host.log);
    };
    machine.set_step_limit(LIMIT);
    let outcomes = events
        .iter()
        .map(|&number| match timer(number) {
            Some(timer) => machine.elapse(timer),
            None => machine.send(EventId::new(number)),
        })
        .collect();
    drop(machine);
    (outcomes, host.log)
}

/// Runs the events on the oracle.
fn expected(sections: &Sections, seed: u64, events: &[u16]) -> Option<Run> {
    let host = Fickle::new(seed);
    let Ok((mut oracle, first)) = Oracle::start(sections, host, crate::DEFAULT_STEP_LIMIT) else {
        return None;
    };
    let mut records = alloc::vec![Ok(first)];
    for &number in events {
        records.push(match timer(number) {
            Some(timer) => oracle.elapse(timer, LIMIT),
            None => oracle.send(EventId::new(number), LIMIT),
        });
    }
    Some((records, oracle.host.log))
}

proptest! {
    #![proptest_config(Config { cases: 1_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn tables_have_one_spelling(bytes in entropy()) {
        let (sections, _) = machine(&bytes);
        let encoded = encode(&sections).unwrap();
        let decoded = decode(&encoded).unwrap();
        prop_assert_eq!(&decoded, &sections);
        prop_assert_eq!(encode(&decoded).unwrap(), encoded);
    }

    #[test]
    fn engine_and_oracle_agree(
        bytes in entropy(),
        seed in any::<u64>(),
        events in proptest::collection::vec(0_u16..13, 50),
    ) {
        let (sections, table) = machine(&bytes);
        let Some(mut table) = table else { return Ok(()) };
        let found = run(&table, seed, &events);
        prop_assert_eq!(&found, &run(&table, seed, &events), "the same run twice");
        if let Some(expected) = expected(&sections, seed, &events) {
            prop_assert_eq!(&found, &expected, "{}", dump(&sections));
        } else {
            let stuck = matches!(
                found.0.as_slice(),
                [Err(StepError::StepLimit { .. }
                    | StepError::NoValue(_)
                    | StepError::ActionFailed(_))]
            );
            prop_assert!(stuck);
        }
        let unwatched = run_unwatched(&table, seed, &events);
        let (records, log) = &found;
        let outcomes: Vec<_> = records.iter().skip(1).map(|record| {
            record.as_ref().map(|record| record.outcome).map_err(|&fault| fault)
        }).collect();
        prop_assert_eq!(&unwatched, &(outcomes, log.clone()), "unwatched");
        table.index.dense = Dense::default();
        prop_assert_eq!(&found, &run(&table, seed, &events), "without the dense index");
    }

    #[test]
    fn damaged_bytes_are_refused_or_step(
        bytes in entropy(),
        flips in proptest::collection::vec((any::<u16>(), any::<u8>()), 0..6),
        cut in proptest::option::of(any::<u16>()),
        events in proptest::collection::vec(any::<u8>(), 20),
    ) {
        let (sections, _) = machine(&bytes);
        let mut encoded = encode(&sections).unwrap();
        for (at, mask) in flips {
            let at = usize::from(at) % encoded.len();
            encoded[at] ^= mask;
        }
        if let Some(cut) = cut {
            encoded.truncate(usize::from(cut));
        }
        exercise::bytes(&encoded, &events);
        if encoded.len() >= DIRECTORY_AT {
            let checksum = crc32(&encoded[DIRECTORY_AT..]);
            encoded[CHECKSUM_AT..DIRECTORY_AT].copy_from_slice(&checksum.to_le_bytes());
            exercise::bytes(&encoded, &events);
        }
    }

    #[test]
    fn damaged_rows_are_refused_or_step(
        bytes in entropy(),
        count in 0..6_usize,
        edits in proptest::collection::vec(any::<u8>(), 36),
        events in proptest::collection::vec(any::<u8>(), 20),
    ) {
        let (mut sections, _) = machine(&bytes);
        let mut edits = Entropy::new(&edits);
        for _ in 0..count {
            machines::edit(&mut edits, &mut sections);
        }
        exercise::rows(sections, &events);
    }
}

/// The random machines are worth something: most verify, many steps enter states, all outcomes occur.
#[test]
fn random_machines_are_busy() {
    let (mut verified, mut busy, mut raised, mut ended, mut absent) = (0, 0, 0, 0, 0);
    let mut claiming = 0;
    for seed in 0..400_u64 {
        let bytes: Vec<u8> = (0..300)
            .map(|at| exercise::mix(seed << 20 | at).to_le_bytes()[0])
            .collect();
        let (_, Some(table)) = machine(&bytes) else {
            continue;
        };
        verified += 1;
        claiming += u32::from(asks_for_a_claim(&table));
        let events: Vec<u16> = (0..50)
            .map(|at| exercise::mix(seed ^ at).to_le_bytes()[0])
            .map(|byte| u16::from(byte % 6))
            .collect();
        for record in run(&table, seed, &events).0.into_iter().flatten() {
            busy += u32::from(is_busy(&record));
            raised += u32::from(record.steps.iter().any(|step| !step.raised.is_empty()));
            ended += u32::from(record.outcome == Outcome::Ended);
            absent += u32::from(!record.absent.is_empty());
        }
    }
    assert!(verified > 200 && claiming > 50, "{verified} {claiming}");
    assert!(
        busy > 1_000 && raised > 100 && ended > 30 && absent > 30,
        "{busy} {raised} {ended} {absent}"
    );
}

/// Whether a transition of the machine asks for a claim.
fn asks_for_a_claim(table: &Table) -> bool {
    let claim = table.sections.claims.first().map(|row| row.guard);
    let asks = |code: &Instruction| claim.is_some_and(|claim| *code == Instruction::Ask(claim));
    table.sections.code.iter().any(asks)
}
