//! The interpreter of the IR that other tests hold the engines against.

use std::collections::BTreeSet;

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Action, Field, HostGuard, Machine, Timer};
use statemark_compiler::valid::Valid;
use statemark_runtime::{self as runtime, DEFAULT_STEP_LIMIT, Outcome, Record};

use super::context;
use super::play::{Player, Script, play};
use super::world::World;
use crate::naive::{Datum, Failure, Host, Interpreter};

/// Plays the script on the machine itself.
pub(super) fn run(machine: &Valid, script: &Script) -> Result<(), String> {
    let surroundings = Surroundings {
        machine,
        world: World::of_json(&context(machine)),
    };
    let (running, told) = Interpreter::interpret(machine, surroundings, DEFAULT_STEP_LIMIT);
    outcome(&told).map_err(|error| format!("the start fails: {error}"))?;
    let mut player = Interpreted { machine, running };
    play(&mut player, script)
}

fn outcome(told: &(Result<Outcome, Failure>, Record)) -> Result<(), String> {
    told.0
        .as_ref()
        .map(|_| ())
        .map_err(|failure| format!("{failure:?}"))
}

struct Surroundings<'m> {
    machine: &'m Machine,
    world: World,
}

impl Surroundings<'_> {
    fn path(&self, field: Handle<Field>) -> &str {
        &self.machine.fields.at(field).path
    }
}

impl Host for Surroundings<'_> {
    fn guard(&mut self, _: Handle<HostGuard>) -> bool {
        false
    }

    fn action(&mut self, _: Handle<Action>) {}

    fn field(&self, field: Handle<Field>) -> Datum {
        match self.world.field(self.path(field)) {
            Some(runtime::Datum::Null) => Datum::Null,
            Some(runtime::Datum::Bool(value)) => Datum::Bool(*value),
            Some(runtime::Datum::Int(value)) => Datum::Int(*value),
            Some(runtime::Datum::Float(value)) => Datum::Float(*value),
            Some(runtime::Datum::Text(text)) => Datum::Text(text.clone()),
            // The interpreter has no lists and no objects; no script looks into one, so what is there is enough.
            Some(runtime::Datum::List(_) | runtime::Datum::Object(_)) => {
                Datum::Text("{…}".to_owned())
            }
            None => Datum::Absent,
        }
    }

    fn assign(&mut self, field: Handle<Field>, value: Datum) {
        let datum = match value {
            Datum::Absent | Datum::Null => runtime::Datum::Null,
            Datum::Bool(value) => runtime::Datum::Bool(value),
            Datum::Int(value) => runtime::Datum::Int(value),
            Datum::Float(value) => runtime::Datum::Float(value),
            Datum::Text(text) => runtime::Datum::Text(text),
        };
        let path = self.path(field).to_owned();
        self.world.assign(&path, datum);
    }

    fn schedule(&mut self, timer: Handle<Timer>, delay: u64) {
        self.world.schedule(timer.index(), delay);
    }

    fn cancel(&mut self, timer: Handle<Timer>) {
        self.world.cancel(timer.index());
    }

    fn begin(&mut self) {
        self.world.begin();
    }

    fn rollback(&mut self) {
        self.world.rollback();
    }
}

struct Interpreted<'m> {
    machine: &'m Machine,
    running: Interpreter<'m, Surroundings<'m>>,
}

impl Player for Interpreted<'_> {
    fn leaves(&self) -> BTreeSet<String> {
        let id = |state: usize| self.machine.states.at(Handle::at(state)).id.clone();
        self.running.leaves().into_iter().map(id).collect()
    }

    fn is_ended(&self) -> bool {
        self.running.is_ended()
    }

    fn send(&mut self, event: usize) -> Result<(), String> {
        outcome(&self.running.send(Handle::at(event)))
    }

    fn elapse(&mut self, timer: usize) -> Result<(), String> {
        outcome(&self.running.elapse(Handle::at(timer)))
    }

    fn world(&mut self) -> &mut World {
        &mut self.running.host.world
    }
}
