//! One spec, two engines: the table runtime and generated Rust agree, record for record.
//!
//! Each file in `tests/engines/` is compiled by `statemark::machine!` and to a table. Random sequences of events go to
//! both; what they report, where they are and what they had their hosts do must be equal. Guards and fields are answered
//! by one pure function of a seed, so that both hosts answer alike.
//!
//! `STATEMARK_SEQUENCES` sets the number of sequences (10,000 in all by default); a failure names the seed of its sequence,
//! and `STATEMARK_SEED` runs that one alone.

#![expect(
    deprecated,
    reason = "`machine!` warns so, and these specs have what people shouldn't write"
)]

use std::collections::BTreeSet;
use std::path::Path;

use statemark_compiler::{Options, back, compile, source::Sources};
use statemark_runtime::generated::HasId;
use statemark_runtime::{
    ActionId, EventId, FieldId, GuardId, Outcome, Record, Recorder, StateId, StepError, Table,
    TimerId, Value, decode, verify,
};

/// Most events of a sequence.
const LENGTH: u64 = 24;

/// Answers everything by chance, but the same chance for the same question at the same moment.
#[derive(Debug, Default)]
struct Oracle {
    seed: u64,
    /// The number of events sent so far: answers change from event to event.
    moment: u64,
    done: Vec<String>,
}

impl Oracle {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    fn chance(&self, question: &str) -> u64 {
        let mut hash = mix(self.seed ^ mix(self.moment));
        for byte in question.bytes() {
            hash = mix(hash ^ u64::from(byte));
        }
        hash
    }

    fn guard(&self, name: &str) -> bool {
        self.chance(name) % 5 < 3
    }

    fn field(&self, path: &str) -> Value<'static> {
        match self.chance(path) % 12 {
            0 | 1 => Value::Absent,
            2 => Value::Null,
            3 => Value::Bool(true),
            4 => Value::Int(3),
            5 => Value::Int(4),
            6 => Value::Int(-2),
            7 => Value::Float(2.5),
            8 => Value::Text("blue"),
            9 => Value::Text("yellow"),
            10 => Value::Text("red"),
            _ => Value::Opaque,
        }
    }
}

/// The mixing function of splitmix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators".
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The table engine's host: the same oracle, asked by number.
struct Asked<'t> {
    table: &'t Table,
    oracle: Oracle,
}

impl statemark_runtime::Host for Asked<'_> {
    fn guard(&mut self, guard: GuardId) -> bool {
        self.oracle.guard(self.table.guard_name(guard))
    }

    fn action(&mut self, action: ActionId) {
        self.oracle
            .done
            .push(self.table.action_name(action).to_owned());
    }

    fn field(&self, field: FieldId) -> Value<'_> {
        self.oracle.field(self.table.field_name(field))
    }

    fn schedule(&mut self, timer: TimerId, delay: u64) {
        let name = self.table.timer_name(timer);
        self.oracle.done.push(format!("{name} in {delay}"));
    }

    fn cancel(&mut self, timer: TimerId) {
        let name = self.table.timer_name(timer);
        self.oracle.done.push(format!("no {name}"));
    }
}

/// What the test does with a generated machine.
trait Generated: Sized {
    const EVENTS: usize;
    const TIMERS: usize;
    const TABLE: [u8; 32];
    fn start(oracle: Oracle, recorder: &mut Recorder) -> Result<Self, StepError>;
    fn states() -> BTreeSet<StateId>;
    fn event(index: usize) -> (EventId, &'static str);
    fn send(&mut self, event: usize, recorder: &mut Recorder) -> Result<Outcome, StepError>;
    fn can(&self, event: usize) -> bool;
    fn elapse(&mut self, timer: usize, recorder: &mut Recorder) -> Result<Outcome, StepError>;
    fn leaves(&self) -> (Vec<StateId>, bool);
    fn host(&mut self) -> &mut Oracle;
    fn again(self) -> Self;
}

/// What `new_observed` gives: a machine, or a result where the start can run on.
trait Started<M> {
    fn started(self) -> Result<M, StepError>;
}

impl<M, A: HasId> Started<M> for Result<M, StepError<A>> {
    fn started(self) -> Result<M, StepError> {
        self.map_err(StepError::numbered)
    }
}

/// What differs between the faces of generated machines: one state or several, and timers.
macro_rules! face {
    (one $name:ident) => {
        const TIMERS: usize = 0;

        fn elapse(&mut self, _: usize, _: &mut Recorder) -> Result<Outcome, StepError> {
            unreachable!("it has no timers")
        }

        fn leaves(&self) -> (Vec<StateId>, bool) {
            let state = $name::Machine::state(self);
            assert_eq!($name::State::from_name(state.name()), Some(state));
            assert_eq!($name::State::from_id(state.id()), Some(state));
            (vec![state.id()], self.is_ended())
        }

        fn again(self) -> Self {
            let snapshot = self.snapshot();
            $name::Machine::restore(self.into_host(), snapshot).unwrap()
        }
    };
    (timed $name:ident) => {
        const TIMERS: usize = $name::Timer::ALL.len();

        fn elapse(&mut self, timer: usize, recorder: &mut Recorder) -> Result<Outcome, StepError> {
            let outcome = self.elapse_observed($name::Timer::ALL[timer], recorder);
            outcome.map_err(StepError::numbered)
        }

        fn leaves(&self) -> (Vec<StateId>, bool) {
            (vec![$name::Machine::state(self).id()], self.is_ended())
        }

        fn again(self) -> Self {
            let snapshot = self.snapshot();
            $name::Machine::restore(self.into_host(), &snapshot).unwrap()
        }
    };
    (regions $name:ident) => {
        const TIMERS: usize = 0;

        fn elapse(&mut self, _: usize, _: &mut Recorder) -> Result<Outcome, StepError> {
            unreachable!("it has no timers")
        }

        fn leaves(&self) -> (Vec<StateId>, bool) {
            let states: Vec<_> = self.states().collect();
            let mut visited = Vec::new();
            self.configuration().visit(&mut |state| visited.push(state));
            assert_eq!(states, visited);
            for &outer in $name::Super::ALL {
                let inside = states.iter().any(|state| state.is_in(outer));
                assert_eq!(self.is_in(outer), inside);
            }
            let ids = states.iter().map(|state| state.id());
            (ids.collect(), self.is_ended())
        }

        fn again(self) -> Self {
            let snapshot = self.snapshot();
            $name::Machine::restore(self.into_host(), &snapshot).unwrap()
        }
    };
}

macro_rules! engine {
    ($face:ident $name:ident $path:literal $( {
        $(? $guard:ident)* $(! $action:ident)* $(. $field:ident)? $(@ $timer:ident)?
    } )?) => {
        statemark::machine!($path as $name);

        $(impl $name::Host for Oracle {
            $(fn $guard(&self) -> bool { self.guard(stringify!($guard)) })*
            $(fn $action(&mut self) { self.done.push(stringify!($action).to_owned()); })*
            $(fn $field(&self, path: &str) -> Value<'_> { Oracle::field(self, path) })?
            $(
                fn schedule(&mut self, timer: $name::$timer, delay: u64) {
                    self.done.push(format!("{} in {delay}", timer.name()));
                }

                fn cancel(&mut self, timer: $name::$timer) {
                    self.done.push(format!("no {}", timer.name()));
                }
            )?
        })?

        impl Started<$name::Machine<Oracle>> for $name::Machine<Oracle> {
            fn started(self) -> Result<Self, StepError> {
                Ok(self)
            }
        }

        impl Generated for $name::Machine<Oracle> {
            const EVENTS: usize = $name::Event::ALL.len();
            const TABLE: [u8; 32] = $name::TABLE;

            face!($face $name);

            fn start(oracle: Oracle, recorder: &mut Recorder) -> Result<Self, StepError> {
                Self::new_observed(oracle, recorder).started()
            }

            fn states() -> BTreeSet<StateId> {
                $name::State::ALL.iter().map(|state| state.id()).collect()
            }

            fn event(index: usize) -> (EventId, &'static str) {
                let event = $name::Event::ALL[index];
                assert_eq!($name::Event::from_name(&event.name().to_uppercase()), Some(event));
                (event.id(), event.name())
            }

            fn send(&mut self, event: usize, recorder: &mut Recorder) -> Result<Outcome, StepError> {
                let outcome = self.send_observed($name::Event::ALL[event], recorder);
                outcome.map_err(StepError::numbered)
            }

            fn can(&self, event: usize) -> bool {
                let event = $name::Event::ALL[event];
                let can = $name::Machine::can(self, event);
                assert_eq!(self.events().any(|other| other == event), can);
                can
            }

            fn host(&mut self) -> &mut Oracle {
                self.host_mut()
            }
        }

        #[test]
        fn $name() {
            check::<$name::Machine<Oracle>>(stringify!($name));
        }
    };
}

engine!(one asked "../engines/asked.md" {
    ?enough ?partly ?curious ?after_hours ?may_open !give_change !look !say_closed
});
engine!(one chained "../engines/chained.md" {
    ?ok ?broken_for_good ?warm ?restless ?hopeless !note
});
engine!(one expressions "../engines/expressions.md" { !climb .field });
engine!(one fields "../engines/fields.md" { !climb .field });
engine!(one flat "../engines/flat.md" { !notify !save !log !open_editor !close_editor });
engine!(one large "../engines/large.md" {
    ?ready ?signal_green ?express
    !begin_line !whistle !count_stop !open_doors !close_doors !switch_on !switch_off
});
engine!(one nested "../engines/nested.md" {
    !begin_l1 !begin_l2 !say !alpha_in !alpha_out !beta_in !beta_out !rest_in !aside_out
    !l1_in !l1_out !l2_in !l2_out !l3_in !l3_out
});
engine!(one pure "../engines/pure.md");
engine!(one raised "../engines/raised.md" { ?serious !count_up });
engine!(regions regions "../engines/regions.md" { !say !work_in !work_out !left_out !lower_in .field });
engine!(timed timers "../engines/timers.md" { !blink !ring .field @Timer });

/// The specs that are engines above, and those of `contexts.rs` and `payloads.rs`.
const SPECS: u64 = 13;

#[test]
fn every_spec_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("engines");
    let files: BTreeSet<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(files.len() as u64, SPECS, "{files:?}");
}

/// Runs the sequences of one spec.
fn check<M: Generated>(name: &str) {
    let path = format!("engines/{name}.md");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).unwrap();
    let mut sources = Sources::new();
    sources.add(path, text);
    let compiled = compile(&sources, &embedded());
    let bytes = back::table::write(&compiled.machines[0]);
    let table = verify(decode(&bytes).unwrap()).unwrap();
    assert_eq!(
        back::table::hash(&bytes),
        M::TABLE,
        "the macro compiled another table"
    );

    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().unwrap())
    };
    let mut reached = BTreeSet::new();
    if let Some(seed) = number("STATEMARK_SEED") {
        sequence::<M>(&table, name, seed, &mut reached);
        return;
    }
    let sequences = number("STATEMARK_SEQUENCES")
        .unwrap_or(10_000)
        .div_ceil(SPECS);
    for seed in 0..sequences {
        sequence::<M>(&table, name, seed, &mut reached);
    }
    // Few sequences and many states don't meet everywhere.
    let states = M::states();
    if sequences >= 1_000 && states.len() < 100 {
        let missed: Vec<_> = states
            .difference(&reached)
            .map(|&id| table.state_name(id))
            .collect();
        assert_eq!(missed, [""; 0], "states that were never entered");
    }
}

/// Runs one sequence on both engines.
fn sequence<M: Generated>(table: &Table, name: &str, seed: u64, reached: &mut BTreeSet<StateId>) {
    let told = |moment: u64| format!("{name}, STATEMARK_SEED={seed}, event {moment}");
    let (mut left, mut right) = (Recorder::new(), Recorder::new());
    let asked = Asked {
        table,
        oracle: Oracle::new(seed),
    };
    let by_table = statemark_runtime::Machine::start_observed(table, asked, &mut left);
    let by_code = M::start(Oracle::new(seed), &mut right);
    let records = [&mut left, &mut right].map(|recorder| recorded(recorder, None));
    assert_eq!(records[0], records[1], "{}", told(0));
    reached.extend(records[0].steps.iter().flat_map(|step| &step.entered));
    let (mut by_table, mut by_code) = match (by_table, by_code) {
        (Ok(by_table), Ok(by_code)) => (by_table, by_code),
        (by_table, by_code) => {
            assert_eq!(by_table.err(), by_code.err(), "{}", told(0));
            return;
        }
    };
    let length = mix(seed) % LENGTH;
    for moment in 1..=length {
        by_table.host_mut().oracle.moment = moment;
        by_code.host().moment = moment;
        let chance = mix(seed ^ mix(moment << 32));
        if M::TIMERS > 0 && chance.is_multiple_of(3) {
            let index = usize::try_from((chance >> 8) % M::TIMERS as u64).unwrap();
            let timer = TimerId::from_index(index).unwrap();
            let by = by_table.elapse_observed(timer, &mut left);
            assert_eq!(by, by_code.elapse(index, &mut right), "{}", told(moment));
            let records = [&mut left, &mut right].map(|recorder| recorded(recorder, None));
            assert_eq!(records[0], records[1], "{}", told(moment));
            reached.extend(records[0].steps.iter().flat_map(|step| &step.entered));
            continue;
        }
        let index = usize::try_from(chance % M::EVENTS as u64).unwrap();
        let (event, event_name) = M::event(index);
        assert_eq!(table.event_named(event_name), Some(event));
        assert_eq!(
            by_table.can(event),
            by_code.can(index),
            "{}: {event_name}",
            told(moment)
        );
        let by = by_table.send_observed(event, &mut left);
        let outcome = by_code.send(index, &mut right);
        assert_eq!(by, outcome, "{}: {event_name}", told(moment));
        let records = [&mut left, &mut right].map(|recorder| recorded(recorder, Some((event, by))));
        assert_eq!(records[0], records[1], "{}: {event_name}", told(moment));
        let (states, ended) = by_code.leaves();
        let leaves: Vec<_> = by_table.configuration().leaves().collect();
        assert_eq!(leaves, states, "{}: {event_name}", told(moment));
        assert_eq!(by_table.is_ended(), ended, "{}: {event_name}", told(moment));
        assert_eq!(
            by_table.host().oracle.done,
            by_code.host().done,
            "{}",
            told(moment)
        );
        reached.extend(records[0].steps.iter().flat_map(|step| &step.entered));
        if chance >> 60 == 0 {
            by_code = by_code.again();
        }
    }
}

/// What a recorder has seen since the last call.
fn recorded(
    recorder: &mut Recorder,
    sent: Option<(EventId, Result<Outcome, StepError>)>,
) -> Record {
    let outcome = sent.map_or(Outcome::Taken, |(_, outcome)| {
        outcome.unwrap_or(Outcome::Ignored)
    });
    recorder.finish(sent.map(|(event, _)| event), outcome)
}

/// Returns the options for machines of a program, whose host answers guards.
fn embedded() -> Options {
    let mut options = Options::default();
    options.for_rust = true;
    options
}
