//! Two tables side by side.

use std::collections::BTreeMap;

use serde::Serialize;
use statemark_runtime::dump;

use crate::workflow::Workflow;

/// How a table differs from another, row by row and by names: a number that moved is no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Whether they are the same, byte by byte.
    pub same: bool,
    /// By kind of row, as a dump calls it (`states`, `events`, `transitions`, …; `machine` for the head): what is
    /// different. Kinds without a difference are left out.
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

/// Compares two tables.
#[must_use]
pub fn compare(old: &Workflow, new: &Workflow) -> Comparison {
    let (before, after) = (rows(old), rows(new));
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
    Comparison {
        same: old.hash() == new.hash(),
        rows: compared,
    }
}

/// The rows that another table doesn't have, or not as often.
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

/// The rows of a dump by its paragraphs, without numbers and without the blanks that align them.
fn rows(workflow: &Workflow) -> BTreeMap<String, Vec<String>> {
    let text = dump(workflow.table().sections());
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut kind = "machine".to_owned();
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
