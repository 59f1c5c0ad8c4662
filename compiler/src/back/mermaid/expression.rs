//! Expressions as their author would write them.

use std::ops::Range;

use statemark_runtime::{Constant, Dialect, FieldId, GuardId, Sections, StateId, TextId, spell};

use crate::arena::Handle;
use crate::back::table::program;
use crate::ir::{Expression, Machine};

/// Formats an expression as its author would write it.
pub(super) fn expression_text(machine: &Machine, expression: &Expression) -> String {
    let rows = program(expression);
    spell(
        &rows.code,
        &Canonical {
            machine,
            rows: &rows,
        },
    )
}

/// The language of labels and definitions.
struct Canonical<'m> {
    machine: &'m Machine,
    rows: &'m Sections,
}

impl Dialect for Canonical<'_> {
    fn field(&self, field: FieldId) -> String {
        self.machine
            .fields
            .at(Handle::at(field.index()))
            .path
            .clone()
    }

    fn guard(&self, guard: GuardId) -> String {
        self.machine
            .guards
            .at(Handle::at(guard.index()))
            .name
            .clone()
    }

    fn in_state(&self, state: StateId) -> String {
        let id = &self.machine.states.at(Handle::at(state.index())).id;
        format!("in_state({})", quoted(id))
    }

    fn constants(&self, range: &Range<u32>) -> &[Constant] {
        let range = range.start as usize..range.end as usize;
        self.rows.constants.get(range).unwrap_or_default()
    }

    fn text(&self, text: TextId) -> String {
        quoted(self.rows.texts.get(text.index()).map_or("", AsRef::as_ref))
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
