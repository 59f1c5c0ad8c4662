//! Guards that are expressions: the host answers them under a name made of their text.
//!
//! The table runtime evaluates expressions; generated code doesn't, so that what it can't decide is a method to be
//! written, and never a guess.

use std::collections::BTreeSet;

use crate::back::mermaid::guard_text;
use crate::ir::{Guard, Machine};
use crate::lower::asked_name;
use crate::pass::names::{Names, snake};

/// The expressions that guards hold, each with the method that answers it.
pub(super) struct Asked<'m> {
    all: Vec<(&'m Guard, String)>,
}

impl<'m> Asked<'m> {
    pub(super) fn new(machine: &'m Machine, names: &Names) -> Self {
        let guards = machine.guards.iter().map(|(handle, _)| names.guard(handle));
        let actions = machine
            .actions
            .iter()
            .map(|(handle, _)| names.action(handle));
        let mut taken: BTreeSet<String> = guards.chain(actions).map(str::to_owned).collect();
        taken.insert("field".to_owned());
        let mut asked = Self { all: Vec::new() };
        for (_, transition) in machine.transitions.iter() {
            if let Some(guard) = &transition.guard {
                asked.gather(machine, &guard.value, &mut taken);
            }
        }
        asked
    }

    fn gather(&mut self, machine: &Machine, guard: &'m Guard, taken: &mut BTreeSet<String>) {
        match guard {
            Guard::Expression(_) if self.method(guard).is_none() => {
                let wanted = snake(&asked_name(&guard_text(machine, guard))).0;
                let mut name = wanted.clone();
                let mut count = 1;
                while !taken.insert(name.clone()) {
                    count += 1;
                    name = format!("{wanted}_{count}");
                }
                self.all.push((guard, name));
            }
            Guard::All(parts) | Guard::Any(parts) => {
                parts
                    .iter()
                    .for_each(|part| self.gather(machine, part, taken));
            }
            Guard::Not(inner) => self.gather(machine, inner, taken),
            Guard::Expression(_) | Guard::Ask(_) | Guard::Compare { .. } => {}
        }
    }

    /// The method that answers the guard, if it is an expression.
    pub(super) fn method(&self, guard: &Guard) -> Option<&str> {
        let found = self.all.iter().find(|(known, _)| *known == guard);
        found.map(|(_, name)| name.as_str())
    }

    /// The guards and the methods, in the order of the transitions.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'m Guard, &str)> {
        self.all.iter().map(|(guard, name)| (*guard, name.as_str()))
    }
}
