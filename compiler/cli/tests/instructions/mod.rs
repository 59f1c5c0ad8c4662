//! Instructions of one send and of one linted file, held within 3 % of what is recorded, so that no work creeps in unseen.
//!
//! What grows names its functions. `UPDATE=1` records what is counted now: look at why first.
//! Growth has no record: only how each size costs beside the one before (`readers.rs`).
//! Records are those of one compiler, which they name; with another one, or without valgrind, there is nothing to compare.

#[cfg(unix)]
mod growth;
#[cfg(unix)]
mod readers;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::{fs, path::PathBuf};

use serde_json::json;
use statemark_harness::instructions::{Cost, can_count, counted};
use statemark_harness::root;

use crate::growth::GATE;
use crate::served::client::{Client, serve};
use crate::shell::{Scratch, statemark};

/// Compares a cost with its record.
fn hold(name: &str, cost: &Cost) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instructions");
    if let Err(difference) = cost.hold(&folder.join(format!("{name}.txt"))) {
        panic!("{difference}");
    }
}

fn profile(scratch: &Scratch, name: &str) -> PathBuf {
    scratch.path.join(format!("callgrind.{name}"))
}

#[test]
fn a_send_costs_what_is_recorded() {
    if !can_count() {
        return;
    }
    let cost = |sends: u64| {
        let scratch = Scratch::new(&format!("instructions-send-{sends}"));
        scratch.write("gate.md", GATE);
        let profile = profile(&scratch, "send");
        let mut server = serve(&scratch.path, &[]);
        // Of several workers, each wakes another one, or finds it awake: by chance.
        server.env("TOKIO_WORKER_THREADS", "1");
        let server = counted(&server, &profile);
        let mut client = Client::try_start(server).unwrap();
        client.call("start_run", &json!({"workflow": "gate", "run_id": "r"}));
        for number in 0..sends {
            let (event, data) = if number % 2 == 0 {
                ("shut", json!({"by": "ann"}))
            } else {
                ("open", json!({}))
            };
            let answer = client.call(
                "send_event",
                &json!({"run_id": "r", "event": event, "data": data}),
            );
            assert_eq!(answer["ok"], true, "{answer}");
        }
        assert_eq!(client.leave(), Some(0));
        let cost = Cost::of_profile(&profile).unwrap();
        // Both look for changes by the clock, so more often on a busy machine.
        cost.without("statemark_server::notifications")
            .without("statemark::catalog::SpecCatalog::refresh")
    };
    let (few, many) = (cost(10), cost(110));
    hold("send", &Cost::of_one((&few, 10), (&many, 110)));
}

#[test]
fn a_linted_file_costs_what_is_recorded() {
    if !can_count() {
        return;
    }
    let cost = |files: u64| {
        let scratch = Scratch::new(&format!("instructions-lint-{files}"));
        let player = fs::read_to_string(root().join("examples/player/player.md")).unwrap();
        for number in 0..files {
            let mut text = player.clone();
            let _ = write!(text, "\nFile {number}.\n");
            scratch.write(&format!("player_{number:02}.md"), &text);
        }
        let profile = profile(&scratch, "lint");
        let mut lint = statemark(&scratch.path);
        // One thread, which never waits for another.
        lint.args(["lint", "--no-cache"])
            .env("RAYON_NUM_THREADS", "1");
        let output = counted(&lint, &profile)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        Cost::of_profile(&profile).unwrap()
    };
    let (few, many) = (cost(2), cost(12));
    hold("lint", &Cost::of_one((&few, 2), (&many, 12)));
}
