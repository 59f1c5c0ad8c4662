//! Plays scripts on generated machines, and prints a line for each: `passes`, or where it doesn't go as it must.
//!
//! This is the beginning of a program that `tests/src/conformance/generated.rs` writes; the machines and `main` follow.

use std::collections::BTreeSet;

use play::{Player, Script, Sent, play};
use statemark_runtime::generated::HasId;
use statemark_runtime::{Outcome, StepError, Value};
use world::World;

/// Before what happens in a script: milliseconds, name, index of the event, and the leaves behind it.
type Line<'s> = (u64, &'s str, Option<usize>, &'s [&'s str]);

fn script(initial: &[&str], events: &[Line<'_>]) -> Script {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let events = events.iter().map(|&(after, name, event, next)| Sent {
        after,
        name: name.to_owned(),
        event,
        next: names(next),
    });
    Script {
        initial: names(initial),
        events: events.collect(),
    }
}

fn value<'w>(world: &'w World, path: &str) -> Value<'w> {
    let datum = world.field(path);
    datum.map_or(Value::Absent, |datum| datum.value())
}

fn assign(world: &mut World, path: &str, value: Value<'_>) {
    let datum = value.to_datum().expect("a value that a program made");
    world.assign(path, datum);
}

/// What `new` gives: a machine, or a result where the start can fail.
trait Started<M> {
    fn started(self) -> Result<M, StepError>;
}

impl<M, A: HasId> Started<M> for Result<M, StepError<A>> {
    fn started(self) -> Result<M, StepError> {
        self.map_err(StepError::numbered)
    }
}

fn done<E: std::fmt::Display>(outcome: Result<Outcome, E>) -> Result<(), String> {
    outcome.map(|_| ()).map_err(|fault| fault.to_string())
}

fn leaves<'s>(names: impl Iterator<Item = &'s str>) -> BTreeSet<String> {
    names.map(str::to_owned).collect()
}

/// In what the faces of generated machines differ: one state or several, and timers.
macro_rules! face {
    (one_leaf $name:ident) => {
        fn leaves(&self) -> BTreeSet<String> {
            leaves(std::iter::once(self.state().name()))
        }
    };
    (leaves $name:ident) => {
        fn leaves(&self) -> BTreeSet<String> {
            leaves(self.states().map(|state| state.name()))
        }
    };
    (timed $name:ident) => {
        fn elapse(&mut self, timer: usize) -> Result<(), String> {
            done($name::Machine::elapse(self, $name::Timer::ALL[timer]))
        }
    };
    (timeless $name:ident) => {
        fn elapse(&mut self, timer: usize) -> Result<(), String> {
            Err(format!("there is no timer {timer}"))
        }
    };
}

/// Plays one script on a new machine of a module.
macro_rules! played {
    ($name:ident [$($face:ident)*] $context:literal, $initial:expr, $events:expr) => {{
        type Machine = $name::Machine<World>;

        impl Started<Machine> for Machine {
            fn started(self) -> Result<Self, StepError> {
                Ok(self)
            }
        }

        impl Player for Machine {
            $(face!($face $name);)*

            fn is_ended(&self) -> bool {
                $name::Machine::is_ended(self)
            }

            fn send(&mut self, event: usize) -> Result<(), String> {
                let found = $name::Event::ALL.iter().find(|other| other.id().index() == event);
                let event = found.ok_or_else(|| format!("there is no event {event}"))?;
                done($name::Machine::send(self, *event))
            }

            fn world(&mut self) -> &mut World {
                self.host_mut()
            }
        }

        let machine: Result<Machine, StepError> =
            $name::Machine::new(World::of_json($context)).started();
        machine
            .map_err(|fault| format!("the start fails: {fault}"))
            .and_then(|mut machine| play(&mut machine, &script($initial, $events)))
    }};
}

fn run<const N: usize>(results: [Result<(), String>; N]) {
    for result in results {
        match result {
            Ok(()) => println!("passes"),
            Err(fault) => println!("{fault}"),
        }
    }
}

