//! Machines of the table engine, saved as generated ones are.
//!
//! [`Machine::save`] keeps what the engine owns. Timers, context and effects are the host's, which adds them, and takes
//! them back as it is made. The behavior is kept for the program alone, since a table doesn't know its hash: whatever
//! doesn't fit a table is refused by its name.

use alloc::string::ToString as _;
use alloc::vec::Vec;

use super::{LoadError, Saved, load_configuration};
use crate::configuration::Configuration;
use crate::data::Data;
use crate::datum::Datum;
use crate::host::Host;
use crate::machine::Machine;
use crate::table::Table;
use crate::timers::Timers;

impl Saved {
    /// Returns the active states and what histories have recorded, as the table's machine has them.
    ///
    /// # Errors
    ///
    /// The machine has no state of that name, or can't be in these states.
    pub fn load_configuration(&self, table: &Table) -> Result<Configuration, LoadError> {
        load_configuration(table, table.has_regions(), self, |name| {
            table.state_named(name)
        })
    }

    /// Adds the timers that wait, by their names.
    pub fn add_timers(&mut self, table: &Table, timers: &Timers) {
        let timers = timers.iter();
        self.timers
            .extend(timers.map(|(timer, due)| (table.timer_name(timer).to_string(), due)));
    }

    /// Returns the timers that wait, for the host of the table's machine.
    ///
    /// # Errors
    ///
    /// The machine has no timer of that name.
    pub fn load_timers(&self, table: &Table) -> Result<Timers, LoadError> {
        let mut timers = Timers::new();
        for (name, due) in &self.timers {
            let timer = table
                .timer_named(name)
                .ok_or_else(|| LoadError::NoTimer { name: name.clone() })?;
            timers.schedule(timer, *due);
        }
        timers.begin();
        Ok(timers)
    }

    /// Returns the context, for the host of the table's machine.
    ///
    /// # Errors
    ///
    /// None was saved.
    pub fn load_data(&self, table: &Table) -> Result<Data, LoadError> {
        match &self.context {
            Some(Datum::Object(fields)) => Ok(Data::new(table, fields.clone())),
            _ => Err(LoadError::NoContext),
        }
    }
}

impl<'t, H: Host> Machine<'t, H> {
    /// Saves the active states and what histories have recorded, by the names of the spec.
    ///
    /// What the host has is the host's to add: `context` ([`Data::to_datum`]), timers ([`Saved::add_timers`]), effects.
    ///
    /// ```
    /// # use statemark_runtime::*;
    /// # fn example(table: &Table, timers: &Timers, data: &Data, machine: &Machine<'_, ()>) -> Result<(), LoadError> {
    /// let mut saved = machine.save();
    /// saved.add_timers(table, timers);
    /// saved.context = Some(data.to_datum());
    ///
    /// let (timers, data) = (saved.load_timers(table)?, saved.load_data(table)?);
    /// // A host has timers and data; here it is none.
    /// let again = Machine::load(table, (), &saved)?;
    /// # let _ = (again, timers, data);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn save(&self) -> Saved {
        let table = self.table();
        let names: Vec<_> = table.states().map(|(id, _)| table.state_name(id)).collect();
        let mut saved = Saved::default();
        saved.add_configuration(self.configuration(), &names);
        saved
    }

    /// Loads a machine that was saved, as one of this table's.
    ///
    /// After a change of its spec the names have to be mapped before.
    ///
    /// Carries out nothing: entry actions ran before the machine was saved.
    ///
    /// # Errors
    ///
    /// A state, timer or effect has no place here; it is named. Whether the host knows an effect is the host's to say.
    pub fn load(table: &'t Table, host: H, saved: &Saved) -> Result<Self, LoadError> {
        saved.load_timers(table)?;
        for effect in &saved.effects {
            if table.action_named(&effect.effect).is_none() {
                return Err(LoadError::NoEffect {
                    name: effect.effect.clone(),
                    key: effect.key,
                });
            }
        }
        let configuration = saved.load_configuration(table)?;
        Self::restore(table, host, configuration).map_err(|_| LoadError::NotTogether {
            names: saved.states.clone(),
        })
    }
}
