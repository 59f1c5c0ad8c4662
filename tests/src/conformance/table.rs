//! The engine that steps tables.

use std::collections::BTreeSet;

use statemark_compiler::back;
use statemark_compiler::valid::Valid;
use statemark_runtime::{EventId, FieldId, Host, Table, TimerId, Value, decode, verify};

use super::context;
use super::play::{Player, Script, play};
use super::world::World;

/// Compiles the machine to a table and plays the script on it.
pub(super) fn run(machine: &Valid, script: &Script) -> Result<(), String> {
    let sections = decode(&back::table::write(machine)).map_err(|error| error.to_string())?;
    let table = verify(sections).map_err(|error| error.to_string())?;
    let surroundings = Surroundings {
        table: &table,
        world: World::of_json(&context(machine)),
    };
    let machine_on_table = statemark_runtime::Machine::start(&table, surroundings);
    let running = machine_on_table.map_err(|error| format!("the start fails: {error}"))?;
    let mut player = OnTable { running };
    play(&mut player, script)
}

struct Surroundings<'t> {
    table: &'t Table,
    world: World,
}

impl Host for Surroundings<'_> {
    fn field(&self, field: FieldId) -> Value<'_> {
        let datum = self.world.field(self.table.field_name(field));
        datum.map_or(Value::Absent, |datum| datum.value())
    }

    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        let datum = value.to_datum().expect("a value that a program made");
        self.world.assign(self.table.field_name(field), datum);
    }

    fn schedule(&mut self, timer: TimerId, delay: u64) {
        self.world.schedule(timer.index(), delay);
    }

    fn cancel(&mut self, timer: TimerId) {
        self.world.cancel(timer.index());
    }

    fn begin(&mut self) {
        self.world.begin();
    }

    fn rollback(&mut self) {
        self.world.rollback();
    }
}

struct OnTable<'t> {
    running: statemark_runtime::Machine<'t, Surroundings<'t>>,
}

impl Player for OnTable<'_> {
    fn leaves(&self) -> BTreeSet<String> {
        let table = self.running.table();
        let leaves = self.running.configuration().leaves();
        leaves
            .map(|leaf| table.state_name(leaf).to_owned())
            .collect()
    }

    fn is_ended(&self) -> bool {
        self.running.is_ended()
    }

    fn send(&mut self, event: usize) -> Result<(), String> {
        let event = EventId::new(u16::try_from(event).expect("an id"));
        let sent = self.running.send(event);
        sent.map(|_| ()).map_err(|error| error.to_string())
    }

    fn elapse(&mut self, timer: usize) -> Result<(), String> {
        let timer = TimerId::new(u16::try_from(timer).expect("an id"));
        let sent = self.running.elapse(timer);
        sent.map(|_| ()).map_err(|error| error.to_string())
    }

    fn world(&mut self) -> &mut World {
        &mut self.running.host_mut().world
    }
}
