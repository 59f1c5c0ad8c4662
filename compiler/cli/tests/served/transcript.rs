//! A story in a file: which tools a client calls, and what they answer.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use statemark_harness::compare;

use super::client::Client;

/// Plays the story of a name: each fence `~~~text` has a call on its first line, and the answer behind it. `UPDATE=1`
/// rewrites the answers.
pub(crate) fn play(client: &mut Client, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/served");
    let path = folder.join(name);
    let golden = fs::read_to_string(&path).unwrap();
    let mut told = String::new();
    let mut rest = golden.as_str();
    while let Some((before, call)) = rest.split_once("~~~text\n") {
        let (call, after) = call.split_once("\n~~~").unwrap();
        let line = call.lines().next().unwrap();
        rest = after;
        let (tool, arguments) = line.split_once(' ').unwrap_or((line, "{}"));
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let mut answer = client.call(tool, &arguments);
        // How long something takes is no part of a story.
        if let Some(seconds) = answer.pointer_mut("/data/seconds") {
            *seconds = json!(0);
        }
        // How well a section answers changes with every page.
        let hits = answer.pointer_mut("/data/hits");
        for hit in hits.and_then(Value::as_array_mut).into_iter().flatten() {
            hit["score"] = json!(0);
        }
        let answer = serde_json::to_string_pretty(&answer).unwrap();
        told += &format!("{before}~~~text\n{line}\n{answer}\n~~~");
    }
    told += rest;
    compare(&path, &told).unwrap();
}
