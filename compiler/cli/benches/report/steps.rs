//! Instructions of an event: generated code, the table engine, a `match` by hand, other libraries.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::bench::{Bench, ratio, table};
use statemark_harness::root;

/// Rounds of 4,096 events of which the difference is taken, so that the start doesn't count.
const ROUNDS: [u64; 2] = [10, 60];

const EVENTS: u64 = 4096;

pub(crate) fn section(bench: &Bench) -> String {
    let engines = bench.executable("engines");
    let peers = peers(bench);
    let per_event = |command: &dyn Fn(u64) -> Command| {
        let [few, many] = ROUNDS.map(|rounds| bench.count(&command(rounds)));
        (many - few) * 100 / ((ROUNDS[1] - ROUNDS[0]) * EVENTS)
    };
    let own = |machine: &str, engine: &str| {
        per_event(&|rounds| {
            let mut command = Command::new(&engines);
            command.args([machine, engine, &rounds.to_string()]);
            command
        })
    };
    let mut rows = Vec::new();
    for machine in ["flat", "guarded", "deep", "regions"] {
        let hand = own(machine, "by_hand");
        let mut add = |name: &str, cost: u64| {
            rows.push(vec![
                format!("{machine}, {name}"),
                hundredths(cost),
                format!("{:.2}", ratio(cost, hand)),
            ]);
        };
        add("`match` by hand", hand);
        add("generated", own(machine, "generated"));
        add("table", own(machine, "table"));
        let events = bench.peers.join(format!("{machine}.events"));
        for library in ["statig", "smlang", "rust-fsm"] {
            if let Some(peers) = &peers
                && has(machine, library)
            {
                write_walk(&engines, machine, &events);
                let cost = per_event(&|rounds| {
                    let mut command = Command::new(peers);
                    command
                        .arg(&events)
                        .args([machine, library, &rounds.to_string()]);
                    command
                });
                add(library, cost);
            }
        }
    }
    let mut text = String::from(
        "Instructions of an event, with a loop that costs about 10; machines in `tests/benches`. \
         flat: ten states. guarded: half of the transitions ask, half act. deep: three levels with entry and exit actions. \
         regions: three and a deep history.\n\n",
    );
    text += &table(&["machine, engine", "instructions", "x by hand"], &rows);
    if peers.is_none() {
        text += "\nLeft out: other libraries, which couldn't be built.\n";
    }
    let rows = ["fields_50", "fields_5000", "wide_2", "wide_16", "wide_128"];
    let rows = rows.map(|machine| {
        vec![
            machine.replace('_', ": "),
            hundredths(own(machine, "table")),
        ]
    });
    text += "\nThe table engine, where size must not matter: context fields of which three are touched, and regions of which one is.\n\n";
    text + &table(&["machine", "instructions"], &rows)
}

fn hundredths(count: u64) -> String {
    format!("{}.{:02}", count / 100, count % 100)
}

/// Reports whether a library can say what a machine has.
fn has(machine: &str, library: &str) -> bool {
    match machine {
        "flat" => true,
        "guarded" => library != "rust-fsm",
        "deep" => library == "statig",
        _ => false,
    }
}

/// Builds the machines in other libraries.
fn peers(bench: &Bench) -> Option<std::path::PathBuf> {
    let target = bench.peers.join("target");
    let manifest = root().join("tests/benches/peers/Cargo.toml");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--release", "--manifest-path"])
        .arg(manifest);
    let built = cargo.arg("--target-dir").arg(&target).status().unwrap();
    built
        .success()
        .then(|| target.join("release/statemark-peers"))
}

/// Writes the events that the engines get, for the other libraries.
fn write_walk(engines: &Path, machine: &str, events: &Path) {
    let walk = Command::new(engines)
        .args(["walk", machine])
        .output()
        .unwrap();
    let walk = String::from_utf8(walk.stdout).unwrap();
    fs::write(events, walk.split("= ").next().unwrap()).unwrap();
}
