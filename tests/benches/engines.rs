//! How many instructions an event costs: generated code, the table engine and a `match` written by hand.
//!
//! `engines MACHINE ENGINE ROUNDS [EVENTS]` sends some thousand events that many times; `tests/benches/run steps` runs each case under
//! callgrind with two numbers of rounds and divides the difference, so that start and set-up don't count. The engine `loop`
//! is what the loop around the events costs by itself. `engines walk MACHINE` prints the events for the libraries in `peers/`.
//!
//! Without arguments, as a test, each case runs once, all engines must come to the same state, and what an event costs in
//! the tests' own build is held to the records in `instructions/`.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark stops where something is wrong, as a test does"
)]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use statemark_compiler::{Options, back, compile, source::Sources};
use statemark_harness::instructions::{Cost, can_count, counted};
use statemark_runtime::{
    ActionId, Data, Datum, EventId, GuardId, Outcome, StateId, Table, Value, decode, verify,
};

statemark::machine!("deep.md");
statemark::machine!("flat.md");
statemark::machine!("guarded.md");
statemark::machine!("regions.md");

#[path = "hand/by_hand.rs"]
mod by_hand;

/// Counts each action by itself, so that no optimizer makes one addition of several.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    done: [u64; 32],
}

macro_rules! count {
    ($trait:path: $(? $guard:ident)* $(! $action:ident $at:literal)*) => {
        impl $trait for Counter {
            $(#[inline] fn $guard(&self) -> bool { self.done[31] == 0 })*
            $(#[inline] fn $action(&mut self) { self.done[$at] = self.done[$at].wrapping_add(1); })*
        }
    };
}

count!(deep::Host:
    !in_stopped 0 !out_stopped 1 !in_playing 2 !out_playing 3 !in_winding 4 !out_winding 5
    !in_tuned 6 !out_tuned 7 !in_seeking 8 !out_seeking 9 !in_off 10 !out_off 11
    !in_on 12 !out_on 13 !in_tape 14 !out_tape 15 !in_radio 16 !out_radio 17
);
count!(guarded::Host: ?filled ?known ?covered !count 0 !book 1);

impl statemark_runtime::Host for Counter {
    #[inline]
    fn guard(&mut self, _guard: GuardId) -> bool {
        self.done[31] == 0
    }

    #[inline]
    fn action(&mut self, action: ActionId) {
        let count = &mut self.done[action.index() & 31];
        *count = count.wrapping_add(1);
    }
}

/// The table of a spec.
fn table(name: &str, text: &str) -> Table {
    let mut sources = Sources::new();
    sources.add(name, text);
    let compiled = compile(&sources, &Options::default());
    verify(decode(&back::table::write(&compiled.machines[0])).unwrap()).unwrap()
}

/// The events of a case: a walk of some, several times.
#[derive(Clone, Copy)]
struct Load {
    events: usize,
    rounds: usize,
}

/// The length of a walk, unless an argument says otherwise.
const EVENTS: usize = 4096;

/// A walk by chance over a machine: most events are taken where they come, some are not.
fn walk(table: &Table, events: usize) -> Vec<EventId> {
    let mut machine = statemark_runtime::Machine::start(table, Counter::default()).unwrap();
    let mut seed = 0x9e37_79b9_u64;
    let mut chance = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap()
    };
    let all: Vec<EventId> = table.events().map(|(id, _)| id).collect();
    (0..events)
        .map(|_| {
            let legal: Vec<_> = all
                .iter()
                .copied()
                .filter(|&event| machine.can(event))
                .collect();
            let event = if chance() % 10 == 0 {
                all[chance() % all.len()]
            } else {
                legal[chance() % legal.len()]
            };
            let _ = machine.send(event).unwrap();
            event
        })
        .collect()
}

/// Sends events, round and round, and counts those that were taken. Each engine has this loop to itself: among the others
/// in one function it would pay for their registers.
#[inline(never)]
fn drive<E: Copy>(events: &[E], rounds: usize, mut send: impl FnMut(E) -> bool) -> u64 {
    let mut taken = 0;
    for _ in 0..rounds {
        for &event in events {
            taken += u64::from(send(event));
        }
    }
    taken
}

macro_rules! cases {
    ($name:ident $text:literal $host:expr, $kind:ident, $load:ident) => {{
        let table = table(stringify!($name), include_str!($text));
        let ids = walk(&table, $load.events);
        let events: Vec<$name::Event> =
            ids.iter().map(|id| $name::Event::ALL[id.index()]).collect();
        // What every engine must come to.
        let mut reference = statemark_runtime::Machine::start(&table, Counter::default()).unwrap();
        let expected = drive(&ids, 1, |event| reference.send(event) == Ok(Outcome::Taken));
        let leaf = reference.configuration().leaves().next();
        let (taken, state): (u64, StateId) = match $kind {
            "loop" => (
                drive(black_box(&events), $load.rounds, |event| {
                    black_box(event as u16) != u16::MAX
                }),
                leaf.unwrap(),
            ),
            "generated" => {
                let mut machine = $name::Machine::new($host);
                let taken = drive(black_box(&events), $load.rounds, |event| {
                    machine.send(event) == Ok(Outcome::Taken)
                });
                black_box(machine.host());
                (taken, machine.state().id())
            }
            "by_hand" => {
                let mut machine = by_hand::$name::Machine::new($host);
                let taken = drive(black_box(&events), $load.rounds, |event| {
                    machine.send(event)
                });
                black_box(machine.host());
                (taken, machine.state.id())
            }
            _ => {
                let mut machine =
                    statemark_runtime::Machine::start(&table, Counter::default()).unwrap();
                let taken = drive(black_box(&ids), $load.rounds, |event| {
                    machine.send(event) == Ok(Outcome::Taken)
                });
                black_box(machine.host());
                (taken, machine.configuration().leaves().next().unwrap())
            }
        };
        if $load.rounds == 1 && $kind != "loop" {
            assert_eq!((taken, Some(state)), (expected, leaf), "{}", $kind);
        }
        taken
    }};
}

/// Steps on the table engine with a context of that many fields, of which two are read and one is assigned.
fn fields(count: usize, load: Load) -> u64 {
    let table = table("fields.md", include_str!("fields.md"));
    let others = (2..count).map(|at| (format!("field_{at}"), Datum::from("beside")));
    let own = [("count", Datum::Int(0)), ("mode", Datum::from("run"))];
    let own = own.map(|(key, value)| (key.to_owned(), value));
    let data = Data::new(&table, own.into_iter().chain(others).collect());
    let step = table.event_named("step").unwrap();
    let events = vec![step; load.events];
    let mut machine = statemark_runtime::Machine::start(&table, data).unwrap();
    let taken = drive(black_box(&events), load.rounds, |event| {
        machine.send(event) == Ok(Outcome::Taken)
    });
    let field = table.field_named("count").unwrap();
    assert_eq!(machine.host().get(field), Value::Int(i128::from(taken)));
    taken
}

/// Steps of three regions with a deep history. The leaves of all engines must be those of the table's.
fn regions(kind: &str, load: Load) -> u64 {
    let table = table("regions.md", include_str!("regions.md"));
    let ids = walk(&table, load.events);
    let events: Vec<regions::Event> = ids
        .iter()
        .map(|id| regions::Event::ALL[id.index()])
        .collect();
    let mut reference = statemark_runtime::Machine::start(&table, Counter::default()).unwrap();
    let expected = drive(&ids, 1, |event| reference.send(event) == Ok(Outcome::Taken));
    let expected: (u64, Vec<StateId>) = (expected, reference.configuration().leaves().collect());
    let result: (u64, Vec<StateId>) = match kind {
        "loop" => {
            let taken = drive(black_box(&events), load.rounds, |event| {
                black_box(event as u16) != u16::MAX
            });
            (taken, Vec::new())
        }
        "generated" => {
            let mut machine = regions::Machine::new(()).unwrap();
            let taken = drive(black_box(&events), load.rounds, |event| {
                machine.send(event) == Ok(Outcome::Taken)
            });
            (taken, machine.states().map(regions::State::id).collect())
        }
        "by_hand" => {
            let mut machine = by_hand::regions::Machine::new();
            let taken = drive(black_box(&events), load.rounds, |event| machine.send(event));
            (taken, machine.leaves().map(regions::State::id).to_vec())
        }
        _ => {
            let mut machine =
                statemark_runtime::Machine::start(&table, Counter::default()).unwrap();
            let taken = drive(black_box(&ids), load.rounds, |event| {
                machine.send(event) == Ok(Outcome::Taken)
            });
            (taken, machine.configuration().leaves().collect())
        }
    };
    if load.rounds == 1 && kind != "loop" {
        let (taken, leaves) = &result;
        assert_eq!(*taken, expected.0, "{kind}");
        assert!(
            expected.1.iter().all(|leaf| leaves.contains(leaf)),
            "{kind}"
        );
    }
    result.0
}

/// Steps on the table engine of a machine with that many regions, of which each event concerns the first alone.
fn wide(count: usize, load: Load) -> u64 {
    let region = |at: usize| {
        let event = if at == 0 { "step" } else { "other" };
        format!("[*] --> a{at}\na{at} --> b{at} : {event}\nb{at} --> a{at} : {event}\n")
    };
    let regions: Vec<String> = (0..count).map(region).collect();
    let regions = regions.join("--\n");
    let spec = format!(
        "# Wide\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n[*] --> all\nstate all {{\n{regions}}}\n```\n"
    );
    let table = table("wide.md", &spec);
    let step = table.event_named("step").unwrap();
    let events = vec![step; load.events];
    let mut machine = statemark_runtime::Machine::start(&table, Counter::default()).unwrap();
    let taken = drive(black_box(&events), load.rounds, |event| {
        machine.send(event) == Ok(Outcome::Taken)
    });
    assert_eq!(taken, (load.events * load.rounds) as u64);
    taken
}

/// Prints the events of the walk over a machine, one a line, and the state that they lead to: for other libraries.
#[expect(clippy::print_stdout, reason = "it is asked for")]
fn print_walk(name: &str, text: &str) {
    let table = table(name, text);
    let ids = walk(&table, EVENTS);
    let mut machine = statemark_runtime::Machine::start(&table, Counter::default()).unwrap();
    drive(&ids, 1, |event| machine.send(event) == Ok(Outcome::Taken));
    for event in ids {
        println!("{}", table.text(table.event(event).unwrap().name));
    }
    let leaf = machine.configuration().leaves().next().unwrap();
    println!("= {}", table.text(table.state(leaf).unwrap().name));
}

/// The cases whose cost is held: a machine, and an engine.
const HELD: &[(&str, &str)] = &[
    ("flat", "generated"),
    ("flat", "table"),
    ("guarded", "generated"),
    ("guarded", "table"),
    ("deep", "generated"),
    ("deep", "table"),
    ("regions", "generated"),
    ("regions", "table"),
    ("fields_50", "table"),
    ("wide_16", "table"),
];

/// The events of a walk whose cost is held: what starting costs counts too, where valgrind runs it.
const FEW: usize = 256;

/// Holds what an event costs in each case to its record.
fn hold() {
    // Most of the time goes by while valgrind starts.
    let differences: Vec<String> = std::thread::scope(|scope| {
        let cases = HELD.iter().map(|case| scope.spawn(|| hold_case(case)));
        let cases: Vec<_> = cases.collect();
        let differences = cases.into_iter().map(|case| case.join().unwrap());
        differences.filter_map(Result::err).collect()
    });
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn hold_case((machine, engine): &(&str, &str)) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions");
    let name = format!("{machine}-{engine}");
    let profile = format!("statemark-{}-{name}.callgrind", std::process::id());
    let profile = std::env::temp_dir().join(profile);
    let cost = |rounds: usize| {
        let mut case = Command::new(std::env::current_exe().unwrap());
        case.args([machine, engine]);
        case.args([rounds, FEW].map(|count| count.to_string()));
        assert!(counted(&case, &profile).status().unwrap().success());
        Cost::of_profile(&profile).unwrap()
    };
    let cost = Cost::of_one((&cost(2), 2 * FEW as u64), (&cost(18), 18 * FEW as u64));
    std::fs::remove_file(&profile).unwrap();
    cost.hold(&folder.join(format!("{name}.txt")))
}

#[expect(clippy::print_stdout, reason = "a test says that it ran")]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut arguments = arguments
        .iter()
        .skip(1)
        .map(String::as_str)
        .filter(|a| *a != "--bench");
    let is_test = std::env::args().len() == 1;
    let machine = arguments.next().unwrap_or("all");
    let kind = arguments.next().unwrap_or("generated");
    if machine == "walk" {
        return match kind {
            "flat" => print_walk("flat.md", include_str!("flat.md")),
            "guarded" => print_walk("guarded.md", include_str!("guarded.md")),
            _ => print_walk("deep.md", include_str!("deep.md")),
        };
    }
    let mut count = |default| {
        arguments
            .next()
            .map_or(default, |text| text.parse().unwrap())
    };
    let (rounds, events) = (count(1), count(if is_test { FEW } else { EVENTS }));
    let load = Load { events, rounds };
    for (name, count) in [("fields_50", 50), ("fields_5000", 5_000)] {
        if machine == name || machine == "all" {
            black_box(fields(count, load));
        }
    }
    for count in [2, 4, 16, 64, 128] {
        if machine == format!("wide_{count}") || machine == "all" {
            black_box(wide(count, load));
        }
    }
    let kinds = if machine == "all" {
        &["generated", "by_hand", "table"][..]
    } else {
        &[kind][..]
    };
    for &kind in kinds {
        if matches!(machine, "all" | "flat") {
            black_box(cases!(flat "flat.md" (), kind, load));
        }
        if matches!(machine, "all" | "guarded") {
            black_box(cases!(guarded "guarded.md" Counter::default(), kind, load));
        }
        if matches!(machine, "all" | "deep") {
            black_box(cases!(deep "deep.md" Counter::default(), kind, load));
        }
        if matches!(machine, "all" | "regions") {
            black_box(regions(kind, load));
        }
    }
    if is_test && can_count() {
        hold();
        println!("{} costs are as recorded", HELD.len());
    }
}
