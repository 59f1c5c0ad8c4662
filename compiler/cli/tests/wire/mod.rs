//! The wire: what programs send, and what they get, by MCP, by the HTTP API and by the command line's `--json`.
//!
//! A file in `wire/` holds files (`## file NAME`) and calls in fences `wire`. Names, codes, shapes, and all values are
//! compared, as clients rely on them; only the wording is masked: see [`mask`]. `UPDATE=1` rewrites the answers. A diff
//! here breaks somebody's program.
//!
//! ```text
//! > get_run {"run_id": "r"}          calls a tool by MCP; the arguments may span lines, and may be left out
//! > rpc prompts/list {}              sends any request of the protocol
//! > tools                          lists the names of the tools that are offered
//! > GET /api/runs?limit=1            sends a request to the HTTP API
//! > POST /api/runs {"workflow": "w"}
//! > statemark runs --json            runs a command; the exit code comes first
//! > serve --toolsets time            from here on, servers have these arguments, after variables (`NAME=value`)
//! > as person ann                    from here on, callers have this role and name; `as agent bo run r` is bound to a run
//! > after 10s                        lets time pass; likewise 5m and 2h
//! > write {"docs/a.md": "text"}      writes files
//! > rewind_run {"confirm_token": "$confirm_token"}    inserts that field of the answer before
//! ```

mod mask;
mod session;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use crate::shell::{Scratch, first_difference};
use session::Session;

const FENCE: &str = "~~~~wire\n";

/// Number of cases that are played at once.
const THREADS: usize = 2;

#[test]
fn answers_agree() {
    let cases = Mutex::new(cases());
    let wrong = Mutex::new(String::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(path) = { cases.lock().unwrap().pop() } {
                    let golden = fs::read_to_string(&path).unwrap();
                    let name = path.file_stem().unwrap().to_str().unwrap();
                    let played = play(name, &golden);
                    if played == golden {
                        continue;
                    }
                    if std::env::var_os("UPDATE").is_some() {
                        fs::write(&path, played).unwrap();
                        continue;
                    }
                    let difference = first_difference(&golden, &played);
                    let mut wrong = wrong.lock().unwrap();
                    let _ = writeln!(wrong, "{}:\n{difference}", path.display());
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "UPDATE=1 rewrites these:\n\n{wrong}");
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    assert!(paths.len() >= 30, "the corpus shrank to {}", paths.len());
    paths.sort();
    paths
}

/// Returns the document with the answers of the built program.
fn play(name: &str, document: &str) -> String {
    let scratch = Scratch::new(&format!("wire-{name}"));
    for (file, text) in files(document) {
        scratch.write(file, text);
    }
    let mut session = Session::new(&scratch);
    let mut played = String::new();
    let mut rest = document;
    while let Some((before, begun)) = rest.split_once(FENCE) {
        let (script, after) = begun.split_once("~~~~").expect("the fence's end");
        played += before;
        played += FENCE;
        for call in calls(script) {
            let _ = writeln!(played, "> {call}");
            let answer = session.call(&call);
            played += &answer;
            if !answer.is_empty() && !answer.ends_with('\n') {
                played.push('\n');
            }
        }
        played += "~~~~";
        rest = after;
    }
    played + rest
}

/// Returns the names and texts of the files in a document.
fn files(document: &str) -> Vec<(&str, &str)> {
    let parts = document.split("\n## file ").skip(1);
    parts
        .map(|part| {
            let (name, rest) = part.split_once('\n').unwrap();
            let (_, text) = rest.split_once("~~~~text\n").unwrap();
            (name, text.split("~~~~\n").next().unwrap())
        })
        .collect()
}

/// Returns the calls of a script, each with all lines of its arguments.
fn calls(script: &str) -> Vec<String> {
    let mut calls: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in script.lines() {
        if is_open && let Some(last) = calls.last_mut() {
            last.push('\n');
            last.push_str(line);
        } else if let Some(begun) = line.strip_prefix("> ") {
            calls.push(begun.to_owned());
        } else {
            continue;
        }
        is_open = calls.last().is_some_and(|call| !is_whole(call));
    }
    calls
}

/// Reports whether the JSON at the end of a call is complete.
fn is_whole(call: &str) -> bool {
    let Some((before, arguments)) = call.split_once(" {") else {
        return true;
    };
    let parsed = serde_json::from_str::<serde_json::Value>(&format!("{{{arguments}"));
    before.contains("statemark ") || !parsed.is_err_and(|error| error.is_eof())
}
