//! Whole processes: what somebody pays who types a command, or a hook that runs one.

use std::fs;
use std::process::Command;

use crate::bench::{Bench, millions, table};
use crate::client::Client;
use crate::served::spec;
use crate::shell::Scratch;

pub(crate) fn section(bench: &Bench) -> String {
    let scratch = Scratch::new("bench-start");
    scratch.write("tick.md", &spec(2));
    let mut client = Client::start(&scratch.path, &[]);
    client.call(
        "start_run",
        &serde_json::json!({"workflow": "tick", "run_id": "r"}),
    );
    assert_eq!(client.leave(), Some(0));
    let empty = bench.peers.join("empty");
    fs::write(empty.with_extension("rs"), "fn main() {}\n").unwrap();
    let mut rustc = Command::new("rustc");
    rustc
        .args(["-O", "-o"])
        .arg(&empty)
        .arg(empty.with_extension("rs"));
    assert!(rustc.status().unwrap().success());
    let mut rows = vec![vec![
        "an empty Rust program".to_owned(),
        million(bench.count(&Command::new(&empty))),
    ]];
    let commands: &[&[&str]] = &[
        &["--version"],
        &["--help"],
        &["state", "r"],
        &["send", "r", "tick", "--data", r#"{"by":"ann"}"#],
        &["send", "r", "tock"],
    ];
    for arguments in commands {
        let count = bench.count_own(&scratch.path, arguments);
        rows.push(vec![
            format!("`statemark {}`", arguments.join(" ")),
            million(count),
        ]);
    }
    table(&["whole process", "million instructions"], &rows)
}

fn million(count: u64) -> String {
    format!("{:.2}", millions(count))
}
