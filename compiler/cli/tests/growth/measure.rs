//! How much is written: records, bytes and rows for each send, each run and each part of a machine.
//!
//! Each figure is a difference between few and many, divided by how many more there were, so that what is written once
//! falls out. They are counts, the same on any machine: times and hashes have one length, and paths are taken out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::shell::{Run, Scratch, perform};

/// What is measured, with its unit.
pub(crate) type Figure = (String, &'static str, Hundredths);

/// A quotient. Unit: hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hundredths(u64);

impl Hundredths {
    /// Divides a difference, which isn't negative.
    fn of((few, many): (u64, u64), times: u64) -> Self {
        Self((many - few) * 100 / times)
    }
}

impl std::fmt::Display for Hundredths {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// A machine with what a send usually has: data that are checked, a guard, an assignment.
pub(crate) const GATE: &str = r#"## STATE-MACHINE: gate

```mermaid
stateDiagram-v2
    [*] --> open
    open --> shut : shut
    shut --> open : open
```

```json definition
{
  "context": {"count": 0},
  "actions": {"add": {"assign": {"count": "count + 1"}}},
  "events": {"shut": {"data": {"type": "object", "properties": {"by": {"type": "string"}}, "required": ["by"]}}},
  "states": {
    "open": {"on": {"shut": {"target": "shut", "guard": "count < 1000", "actions": ["add"]}}}
  }
}
```
"#;

/// Runs a command, which must succeed, as nobody in particular and always at one time.
fn done(scratch: &Scratch, command: &str) -> String {
    let said = perform(&Run::new(command), &scratch.path);
    assert_eq!(said.code, 0, "{command}: {}{}", said.stdout, said.stderr);
    said.stdout
}

/// The measure of a store: its records and their bytes, its export's bytes, and its rows by table.
#[derive(Default)]
struct Store {
    records: u64,
    bodies: u64,
    bundle: u64,
    rows: BTreeMap<String, u64>,
}

impl Store {
    /// Makes a store of some runs with some sends each, and measures it.
    fn of(runs: u64, sends: u64, has_keys: bool) -> Self {
        let scratch = Scratch::new(&format!("growth-{runs}-{sends}-{has_keys}"));
        scratch.write("gate.md", GATE);
        for run in 0..runs {
            done(&scratch, &format!("statemark start gate --run-id r{run}"));
            for send in 0..sends {
                let event = ["shut --data '{\"by\": \"ann\"}'", "open"][usize::from(send % 2 == 1)];
                let key = if has_keys {
                    format!(" --key k{send:03}")
                } else {
                    String::new()
                };
                done(&scratch, &format!("statemark send r{run} {event}{key}"));
            }
        }
        done(&scratch, "statemark store export runs.jsonl");
        let export = fs::read_to_string(scratch.path.join("runs.jsonl")).unwrap();
        let folder = scratch.path.canonicalize().unwrap();
        let export = export.replace(folder.to_str().unwrap(), "/project");
        let mut store = Self {
            bundle: length(&export),
            rows: rows(&scratch),
            ..Self::default()
        };
        for line in export.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if let Some(record) = line.get("record") {
                store.records += 1;
                store.bodies += length(record["body"].as_str().unwrap());
            }
        }
        store
    }
}

/// The rows of each table.
fn rows(scratch: &Scratch) -> BTreeMap<String, u64> {
    let file = scratch.path.join(".statemark/runs.db");
    let db = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut names = db
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let count = |name: String| {
        let sql = format!("SELECT count(*) FROM \"{name}\"");
        let count = db.query_row(&sql, [], |row| row.get::<_, i64>(0));
        (name, u64::try_from(count.unwrap()).unwrap())
    };
    names.map(|name| count(name.unwrap())).collect()
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap()
}

/// How many sends and runs there are, few and many.
const FEW: u64 = 2;
const MANY: u64 = 10;

/// Measures journals, bundles and stores.
fn stores(figures: &mut Vec<Figure>) {
    let mut add = |what: &str, unit, pair, times| {
        figures.push((what.to_owned(), unit, Hundredths::of(pair, times)));
    };
    for has_keys in [false, true] {
        let (few, many) = (Store::of(1, FEW, has_keys), Store::of(1, MANY, has_keys));
        let what = if has_keys {
            "a send with a key"
        } else {
            "a send"
        };
        let sends = MANY - FEW;
        let records = (few.records, many.records);
        add(what, "records", records, sends);
        add(what, "bytes of records", (few.bodies, many.bodies), sends);
        add(what, "bytes of a bundle", (few.bundle, many.bundle), sends);
        for (table, count) in &many.rows {
            let before = few.rows.get(table).copied().unwrap_or_default();
            if *count != before {
                add(
                    &format!("{what}: `{table}`"),
                    "rows",
                    (before, *count),
                    sends,
                );
            }
        }
        let bodies = (few.bodies, many.bodies);
        add(
            &format!("{what}: a record"),
            "bytes",
            bodies,
            records.1 - records.0,
        );
    }
    let (few, many) = (Store::of(FEW, 0, false), Store::of(MANY, 0, false));
    let runs = MANY - FEW;
    add("a run", "records", (few.records, many.records), runs);
    add("a run", "bytes of records", (few.bodies, many.bodies), runs);
    add(
        "a run",
        "bytes of a bundle",
        (few.bundle, many.bundle),
        runs,
    );
    for (table, count) in &many.rows {
        let before = few.rows.get(table).copied().unwrap_or_default();
        if *count != before {
            add(&format!("a run: `{table}`"), "rows", (before, *count), runs);
        }
    }
}

/// A spec that grows, by its size. Names have one length at all sizes.
type Grow = fn(u64) -> (String, String);

/// The parts of a machine.
const PARTS: [(&str, Grow); 5] = [
    ("a state with a transition", |size| {
        let rows = lines(size, |at| {
            format!("    s{at:03} --> s{:03} : next", (at + 1) % size)
        });
        (format!("    [*] --> s000\n{rows}"), String::new())
    }),
    ("a transition with an event", |size| {
        (
            format!(
                "    [*] --> a\n{}",
                lines(size, |at| format!("    a --> b : e{at:03}"))
            ),
            String::new(),
        )
    }),
    ("a transition with a guard", |size| {
        let rows = lines(size, |at| {
            format!("    a --> b : go [n == {:03}]", 100 + at)
        });
        (format!("    [*] --> a\n{rows}"), "\"n\": 0".to_owned())
    }),
    ("a state in a region", |size| {
        let rows = lines(size, |at| {
            format!("        s{at:03} --> s{:03} : next", (at + 1) % size)
        });
        (
            format!(
                "    [*] --> both\n    state both {{\n        [*] --> s000\n{rows}        --\n        [*] --> x\n    }}\n"
            ),
            String::new(),
        )
    }),
    ("a field", |size| {
        let fields: Vec<String> = (0..size)
            .map(|at| format!("\"f{at:03}\": {}", 100 + at))
            .collect();
        (
            "    [*] --> a\n    a --> b : go\n".to_owned(),
            fields.join(", "),
        )
    }),
];

fn lines(count: u64, line: impl Fn(u64) -> String) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "{}", line(at));
        text
    })
}

/// Measures tables.
fn tables(figures: &mut Vec<Figure>) {
    let scratch = Scratch::new("growth-tables");
    for (what, grow) in PARTS {
        let size = |size| {
            let (rows, context) = grow(size);
            let mut text =
                format!("## STATE-MACHINE: it\n\n```mermaid\nstateDiagram-v2\n{rows}```\n");
            if !context.is_empty() {
                text += &format!("\n```json definition\n{{\"context\": {{{context}}}}}\n```\n");
            }
            scratch.write("it.md", &text);
            done(&scratch, "statemark build it.md -o out --emit table");
            fs::metadata(scratch.path.join("out/it.table"))
                .unwrap()
                .len()
        };
        let (few, many) = (size(20), size(100));
        figures.push((
            what.to_owned(),
            "bytes of a table",
            Hundredths::of((few, many), 80),
        ));
    }
}

/// Measures all of it.
pub(crate) fn figures() -> Vec<Figure> {
    let mut figures = Vec::new();
    stores(&mut figures);
    tables(&mut figures);
    figures
}
