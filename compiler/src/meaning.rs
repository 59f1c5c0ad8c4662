//! The meaning of a spec: what its machines do.
//!
//! The order of rows and words for readers don't count.
//! Fixes that are called safe are held to it.

use std::collections::BTreeSet;

use crate::back;
use crate::pipeline::Compiled;

/// Returns the meaning of each machine: its rows by name.
fn meanings(compiled: &Compiled) -> Vec<BTreeSet<String>> {
    let machines = compiled.machines.iter();
    machines
        .map(|machine| meaning(&statemark_runtime::dump(&back::table::sections(machine))))
        .collect()
}

/// The keys of rows that only readers read.
const WORDS: [&str; 5] = ["label", "title", "description", "implied", "prose"];

fn meaning(dump: &str) -> BTreeSet<String> {
    let (rows, _) = dump.split_once("\nhashes\n").unwrap_or((dump, ""));
    let mut title = "";
    let mut meaning = BTreeSet::new();
    for row in rows.lines().skip(1) {
        let Some(row) = row.strip_prefix(' ') else {
            title = row;
            continue;
        };
        let (row, data) = row.split_once(" metadata ").unwrap_or((row, "{}"));
        // Rows are numbered; the first state is the machine, which has the file's name.
        let number = |word: &&str| word.chars().all(|it| it.is_ascii_digit());
        let words: Vec<&str> = row.split_whitespace().skip_while(number).collect();
        let is_root = title == "states" && meaning.iter().all(|it: &String| !it.starts_with(title));
        let words = words
            .get(usize::from(is_root)..)
            .unwrap_or_default()
            .join(" ");
        // A dump escapes what JSON has escaped already, and characters that can't be seen; those are only in words.
        let data = data.replace("\\\\", "\\");
        let data: Option<serde_json::Value> = serde_json::from_str(&data).ok();
        let mut data = data.unwrap_or_else(|| serde_json::json!({}));
        if let Some(keys) = data.as_object_mut() {
            keys.retain(|key, _| !WORDS.contains(&key.as_str()));
        }
        meaning.insert(format!("{title}: {words} {data}"));
    }
    meaning
}

/// Returns the rows that a machine has lost or got, of the machines that are there before and after.
///
/// There may be more.
#[must_use]
pub fn changed_rows(before: &Compiled, after: &Compiled) -> Vec<String> {
    let now = meanings(after);
    let mut lost = meanings(before);
    lost.retain(|meaning| !now.contains(meaning));
    let Some(lost) = lost.first() else {
        return Vec::new();
    };
    let nearest = now
        .iter()
        .min_by_key(|it| it.symmetric_difference(lost).count());
    let none = BTreeSet::new();
    let nearest = nearest.unwrap_or(&none);
    lost.symmetric_difference(nearest).cloned().collect()
}
