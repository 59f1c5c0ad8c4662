//! Random machines: every engine does what the naive interpreter does, record for record.
//!
//! A seed makes a machine, a sequence of events and elapsed timers, and a world that answers for the host. The engines
//! run the same sequence in worlds of their own; after each step outcome, record, active states and world must be equal.
//! What differs is made as small as it gets before it is shown.
//!
//! `STATEMARK_STEPS` sets the number of steps (see [`STEPS`]), such as `1_000_000`; a failure names its seed, and
//! `STATEMARK_SEED` runs that one alone. `STATEMARK_REFUSED` shows why machines are refused.

mod engine;
mod generated;
mod show;
mod shrink;
mod world;

use statemark_compiler::arena::Handle;
use statemark_compiler::back;
use statemark_compiler::diag::{Diags, Severity};
use statemark_compiler::ir::{Ambiguity, Event, EventKind, Machine};
use statemark_compiler::valid::{self, Valid};
use statemark_runtime::{DEFAULT_STEP_LIMIT, Outcome, Table, decode, dump, verify};

use crate::naive::Failure;
use crate::random::{self, Chance, Shape};
use engine::{ByTable, Engine, LIMIT, Naive, Step, Told};
use generated::{Generated, Module};
use world::World;

/// Steps of a normal run. Unit: events and elapsed timers. Why: they take some 20 s of an unoptimized build; a million
/// take 100.
const STEPS: u64 = 200_000;

/// Most steps of a sequence.
const LENGTH: usize = 200;

/// Machine and sequence of one seed.
#[derive(Clone)]
struct Case {
    seed: u64,
    machine: Machine,
    steps: Vec<Step>,
    /// True if some events are labels that lead to several places.
    is_ambiguous: bool,
}

/// What a run met with, to see that the machines are worth something.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    refused: u64,
    ambiguous: u64,
    /// Steps of machines that ask for claims.
    claiming: u64,
    restless: u64,
    machines: u64,
    steps: u64,
    taken: u64,
    several: u64,
    ended: u64,
    failed: u64,
    absent: u64,
    /// Steps that were undone because an action failed.
    undone: u64,
}

#[test]
fn the_table_engine_agrees() {
    let mut tally = Tally::default();
    for seed in seeds() {
        let mut case = Case::new(seed, Shape::any(seed));
        case.is_ambiguous = seed.is_multiple_of(4);
        case.check(&mut tally, check_table);
        if tally.steps >= number("STATEMARK_STEPS").unwrap_or(STEPS) {
            break;
        }
    }
    eprintln!("{tally:?}");
    // The machines are worth something: most are accepted, and much happens in them.
    if tally.steps >= 10_000 {
        assert!(tally.machines > 10 * tally.refused, "{tally:?}");
        assert!(tally.taken * 4 > tally.steps, "{tally:?}");
        assert!(tally.ambiguous * 100 > tally.steps, "{tally:?}");
        assert!(tally.claiming * 3 > tally.steps, "{tally:?}");
        assert!(tally.several * 30 > tally.steps, "{tally:?}");
        assert!(
            tally.absent * 50 > tally.steps && tally.ended > 0,
            "{tally:?}"
        );
        assert!(tally.undone * 200 > tally.steps, "{tally:?}");
    }
}

/// What a case is checked by.
type Check = fn(&Case, &Valid, &Table, &mut Tally) -> Result<(), String>;

/// Runs the table engine beside the interpreter.
fn check_table(case: &Case, valid: &Valid, table: &Table, tally: &mut Tally) -> Result<(), String> {
    // A machine that runs in circles from the start does so in every engine, but takes its time.
    let patient = case.seed.is_multiple_of(16);
    let limit = if patient { DEFAULT_STEP_LIMIT } else { LIMIT };
    let mut naive = Naive::start(case, valid, limit);
    if !patient && naive.1.0 == Err(Failure::StepLimit) {
        tally.restless += 1;
        return Ok(());
    }
    naive.0.set_limit(LIMIT);
    agree(case, naive, ByTable::start(case, table), tally)
}

/// Runs a generated machine, and then the table engine, beside the interpreter.
fn check_generated<M: Module>(
    case: &Case,
    valid: &Valid,
    table: &Table,
    tally: &mut Tally,
) -> Result<(), String> {
    let generated = Generated::<M>::start(case);
    let naive = Naive::start(case, valid, DEFAULT_STEP_LIMIT);
    tally.restless += u64::from(naive.1.0 == Err(Failure::StepLimit));
    agree(case, naive, generated, tally)?;
    check_table(case, valid, table, &mut Tally::default())
}

#[test]
fn generated_rust_agrees() {
    let mut tally = Tally::default();
    let sequences = number("STATEMARK_STEPS").unwrap_or(STEPS) / 4_000;
    for &(seed, check) in generated::WRITTEN {
        let mut case = Case::new(seed, Shape::written(seed));
        for sequence in 0..sequences {
            case.seed = seed + (sequence << 20);
            let mut chance = Chance::new(case.seed);
            case.steps = (0..LENGTH)
                .map(|_| Step::random(&case.machine, &mut chance))
                .collect();
            if let Some(told) = case.differs(&mut tally, check).unwrap() {
                panic!("{}", case.show(&told));
            }
            if std::mem::take(&mut tally.restless) > 0 {
                // It runs in circles from the start; once is enough.
                break;
            }
        }
    }
    assert_eq!(tally.refused, 0);
    assert!(tally.undone > 0, "{tally:?}");
    eprintln!("{tally:?}");
}

/// The seeds to run: all, or the one that is asked for.
fn seeds() -> Box<dyn Iterator<Item = u64>> {
    match number("STATEMARK_SEED") {
        Some(seed) => Box::new(std::iter::once(seed)),
        None => Box::new(0..),
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.replace('_', "").parse().unwrap())
}

/// The machine, if the checks accept it, and its table.
fn compiled(case: &Case) -> Result<(Valid, Table), String> {
    let mut diags = Diags::new();
    let mut machine = case.machine.clone();
    if case.is_ambiguous {
        add_ambiguities(&mut machine);
    }
    let Some(valid) = valid::check(machine, false, &mut diags) else {
        let errors = diags.into_sorted();
        let errors = errors
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error);
        return Err(errors
            .map(|error| format!("{} {}", error.code, error.message))
            .collect());
    };
    let bytes = back::table::write(&valid);
    // What the checks accept, the runtime has to.
    let table = verify(decode(&bytes).unwrap()).unwrap();
    let guards = case.machine.guards.iter();
    let claims = guards.filter(|(_, guard)| guard.is_claim);
    let claims = claims.map(|(handle, guard)| (handle.index(), guard.text.as_str()));
    let kept = table.claims().map(|(guard, text)| (guard.index(), text));
    assert!(claims.eq(kept), "the table has other claims");
    Ok((valid, table))
}

/// Makes labels of events that a state doesn't take: they may mean all that can be sent there.
fn add_ambiguities(machine: &mut Machine) {
    let can_be_sent = |event: &Handle<Event>| machine.events.at(*event).kind == EventKind::Named;
    let named: Vec<Handle<Event>> = machine.events.handles().filter(can_be_sent).collect();
    let mut found = Vec::new();
    for source in machine.states.handles() {
        let own = machine.transitions_of(source);
        let mut events: Vec<Handle<Event>> = own
            .flat_map(|(_, transition)| transition.triggers.iter().copied())
            .filter(can_be_sent)
            .collect();
        events.sort_unstable();
        events.dedup();
        let label = named.iter().find(|event| !events.contains(event)).copied();
        if let Some(label) = label.filter(|_| events.len() > 1) {
            found.push(Ambiguity {
                source,
                label,
                events,
            });
        }
    }
    machine.ambiguities = found;
}

impl Case {
    fn new(seed: u64, shape: Shape) -> Self {
        let machine = random::machine(seed, shape);
        let mut chance = Chance::new(seed ^ 0x57e9);
        let length = chance.below(LENGTH + 1);
        let steps = (0..length).map(|_| Step::random(&machine, &mut chance));
        Self {
            seed,
            is_ambiguous: false,
            steps: steps.collect(),
            machine: machine.clone(),
        }
    }

    /// Runs the check; shows what differs in its smallest form.
    fn check(&self, tally: &mut Tally, check: Check) {
        match self.differs(tally, check) {
            Ok(Some(_)) => {
                let small = shrink::shrink(self.clone(), &|case| {
                    matches!(case.differs(&mut Tally::default(), check), Ok(Some(_)))
                });
                let told = small.differs(&mut Tally::default(), check);
                panic!("{}", small.show(&told.unwrap().unwrap()));
            }
            Ok(None) => {}
            Err(refused) => {
                tally.refused += 1;
                if number("STATEMARK_REFUSED").is_some() {
                    eprintln!("seed {}: {refused}", self.seed);
                }
            }
        }
    }

    /// What differs, if anything; an error if the machine isn't accepted.
    fn differs(&self, tally: &mut Tally, check: Check) -> Result<Option<String>, String> {
        let (valid, table) = compiled(self)?;
        tally.machines += 1;
        let run = || check(self, &valid, &table, tally).err();
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        Ok(run.unwrap_or_else(|panic| {
            let text = panic.downcast::<String>().map_or_else(
                |panic| panic.downcast::<&str>().map_or("", |text| *text).to_owned(),
                |text| *text,
            );
            Some(format!("panicked: {text}"))
        }))
    }

    /// The machine as its table's dump, the steps, and what differs.
    fn show(&self, told: &str) -> String {
        let (valid, _) = compiled(self).unwrap();
        let rows = decode(&back::table::write(&valid)).unwrap();
        let steps: Vec<String> = self
            .steps
            .iter()
            .map(|step| step.show(&self.machine))
            .collect();
        format!(
            "STATEMARK_SEED={}\n{}\nsteps: {}\n{told}",
            self.seed,
            dump(&rows),
            steps.join(", ")
        )
    }
}

/// Runs two engines side by side. The first is taken to be right.
fn agree<A: Engine, B: Engine>(
    case: &Case,
    expected: (A, Told),
    found: (Option<B>, Told),
    tally: &mut Tally,
) -> Result<(), String> {
    let ((mut right, told), (other, other_told)) = (expected, found);
    same(&case.machine, "at the start", &told, &other_told)?;
    let Some(mut other) = other else {
        tally.failed += 1;
        return Ok(());
    };
    same_place("at the start", &mut right, &mut other)?;
    let asks_for_claims = case.machine.guards.iter().any(|(_, guard)| guard.is_claim);
    for (at, step) in case.steps.iter().enumerate() {
        let place = format!("step {at}: {}", step.show(&case.machine));
        right.next();
        other.next();
        let before = (right.leaves(), right.world().kept());
        let told = right.step(*step);
        let other_told = other.step(*step);
        same(&case.machine, &place, &told, &other_told)?;
        same_place(&place, &mut right, &mut other)?;
        tally.count(&told);
        tally.claiming += u64::from(asks_for_claims);
        tally.ambiguous += u64::from(matches!(told.0, Err(Failure::Ambiguous(_))));
        let refused = matches!(told.0, Err(Failure::NotAnEvent | Failure::Ambiguous(_)));
        if matches!(told.0, Err(Failure::Action(_))) {
            tally.undone += 1;
            let after = (right.leaves(), right.world().kept());
            if after != before {
                return Err(format!(
                    "{place}\nbefore {before:#?}\nafter it failed {after:#?}"
                ));
            }
        } else if told.0.is_err() && !refused {
            // What has ended stays so; what failed is likely to fail again, and takes its time.
            break;
        }
        if (case.seed + at as u64).is_multiple_of(16) {
            other.pause();
        }
    }
    Ok(())
}

fn same(machine: &Machine, place: &str, expected: &Told, found: &Told) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let mut pairs = expected.1.steps.iter().zip(&found.1.steps);
    let first = pairs.position(|(one, other)| one != other);
    let shared = expected.1.steps.len().min(found.1.steps.len());
    let from = first.unwrap_or(shared);
    Err(format!(
        "{place}\nexpected {}found {}",
        show::told(machine, expected, from),
        show::told(machine, found, from)
    ))
}

fn same_place<A: Engine, B: Engine>(
    place: &str,
    right: &mut A,
    other: &mut B,
) -> Result<(), String> {
    let expected = (right.leaves(), right.is_ended());
    let found = (other.leaves(), other.is_ended());
    if expected != found {
        return Err(format!(
            "{place}\nexpected leaves and end {expected:?}, found {found:?}"
        ));
    }
    let (expected, found): (&World, &World) = (right.world(), other.world());
    let same = if found.is_typed {
        expected.seen() == *found
    } else {
        expected == found
    };
    if !same {
        return Err(format!("{place}\nexpected {expected:#?}\nfound {found:#?}"));
    }
    Ok(())
}

impl Tally {
    fn count(&mut self, told: &Told) {
        let (outcome, record) = told;
        self.steps += 1;
        self.taken += u64::from(*outcome == Ok(Outcome::Taken));
        self.ended += u64::from(*outcome == Ok(Outcome::Ended));
        self.failed += u64::from(outcome.is_err());
        self.several += u64::from(record.steps.len() > 1);
        self.absent += u64::from(!record.absent.is_empty());
    }
}
