//! Comparison of two tables.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use statemark_runtime::{Constant, Instruction, Sections, StateId, Table, TransitionId, dump};

use crate::workflow::Workflow;

/// The kind under which the head of a table is compared.
const HEAD: &str = "machine";

/// The differences of two tables, row by row and by names.
///
/// A row that only has another number is no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Equality, byte by byte.
    pub same: bool,
    /// The differences by kind of row.
    ///
    /// Kinds are those of a dump (`states`, `events`, `transitions`, …), and `machine` for the head. Kinds without a
    /// difference are left out.
    pub rows: BTreeMap<String, RowChanges>,
}

/// The rows of a kind that only one table has. A row that changed is in both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowChanges {
    /// The rows that only the old table has, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// The rows that only the new table has, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
}

/// The differences of a kind of row, by the rows' names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NameChanges {
    /// The names that only the old table has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// The names that only the new table has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new: Vec<String>,
    /// The names that both tables have, with different rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

impl RowChanges {
    /// Returns the differences by name, for rows of a kind.
    #[must_use]
    pub fn name_changes(&self, kind: &str) -> NameChanges {
        let names =
            |rows: &[String]| -> Vec<String> { rows.iter().map(|it| row_name(kind, it)).collect() };
        let (removed, added) = (names(&self.removed), names(&self.added));
        let (changed, gone): (Vec<String>, Vec<String>) =
            removed.into_iter().partition(|it| added.contains(it));
        let new = added.into_iter().filter(|it| !changed.contains(it));
        NameChanges {
            gone,
            new: new.collect(),
            changed,
        }
    }
}

/// Returns the name of a row: a transition's whole row, or the first word.
fn row_name(kind: &str, row: &str) -> String {
    let row = row.split(" metadata ").next().unwrap_or(row);
    if kind == "transitions" {
        return row.to_owned();
    }
    row.split(' ').next().unwrap_or(row).to_owned()
}

/// Compares two tables.
#[must_use]
pub fn compare(old: &Workflow, new: &Workflow) -> Comparison {
    Comparison {
        same: old.hash() == new.hash(),
        rows: changes(&rows(old.table().sections()), &rows(new.table().sections())),
    }
}

fn changes(
    before: &BTreeMap<String, Vec<String>>,
    after: &BTreeMap<String, Vec<String>>,
) -> BTreeMap<String, RowChanges> {
    let mut compared = BTreeMap::new();
    for kind in before.keys().chain(after.keys()) {
        let none = Vec::new();
        let (one, other) = (
            before.get(kind).unwrap_or(&none),
            after.get(kind).unwrap_or(&none),
        );
        let changes = RowChanges {
            removed: without(one, other),
            added: without(other, one),
        };
        if changes != RowChanges::default() {
            compared.insert(kind.clone(), changes);
        }
    }
    compared
}

/// Returns the rows that another table doesn't have, or not as often.
fn without(rows: &[String], others: &[String]) -> Vec<String> {
    let mut left: BTreeMap<&String, usize> = BTreeMap::new();
    for other in others {
        *left.entry(other).or_default() += 1;
    }
    let mut only = Vec::new();
    for row in rows {
        match left.get_mut(row) {
            Some(count) if *count > 0 => *count -= 1,
            _ => only.push(row.clone()),
        }
    }
    only
}

/// Returns the rows of a dump by its paragraphs, without numbers and aligning blanks.
fn rows(sections: &Sections) -> BTreeMap<String, Vec<String>> {
    let text = dump(sections);
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut kind = HEAD.to_owned();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let indented = line.starts_with(' ');
        match words.as_slice() {
            [] => {}
            [title] if !indented => (*title).clone_into(&mut kind),
            [number, row @ ..] if indented && number.parse::<u32>().is_ok() => {
                all.entry(kind.clone()).or_default().push(row.join(" "));
            }
            words => all.entry(kind.clone()).or_default().push(words.join(" ")),
        }
    }
    all
}

/// Reports whether two transitions have equal guards, by names.
///
/// `map_state` maps states of the old table to the new one.
pub(crate) fn same_guard(
    (old, one): (&Table, TransitionId),
    (new, other): (&Table, TransitionId),
    map_state: impl Fn(StateId) -> Option<StateId>,
) -> bool {
    let (one, other) = (old.guard(one), new.guard(other));
    let field = |one, other| old.field_name(one) == new.field_name(other);
    let constants = |one: &Range<u32>, other: &Range<u32>| {
        let (one, other) = (constants(old, one), constants(new, other));
        one.len() == other.len()
            && one.iter().zip(other).all(|pair| match pair {
                (Constant::Text(one), Constant::Text(other)) => old.text(*one) == new.text(*other),
                (one, other) => one == other,
            })
    };
    let mut pairs = one.iter().zip(other);
    one.len() == other.len()
        && pairs.all(|pair| match pair {
            (Instruction::Ask(one), Instruction::Ask(other)) => {
                old.guard_name(*one) == new.guard_name(*other)
            }
            (Instruction::Compare(one, how, those), Instruction::Compare(other, what, these)) => {
                field(*one, *other) && how == what && constants(those, these)
            }
            (Instruction::Load(one), Instruction::Load(other))
            | (Instruction::Has(one), Instruction::Has(other)) => field(*one, *other),
            (Instruction::InState(one), Instruction::InState(other)) => {
                map_state(*one) == Some(*other)
            }
            (Instruction::Push(one), Instruction::Push(other))
            | (Instruction::Among(one), Instruction::Among(other)) => constants(one, other),
            (one, other) => one == other,
        })
}

fn constants<'t>(table: &'t Table, range: &Range<u32>) -> &'t [Constant] {
    let at = |place: u32| usize::try_from(place).unwrap_or(usize::MAX);
    let all = &table.sections().constants;
    all.get(at(range.start)..at(range.end)).unwrap_or_default()
}
