//! Inputs that other people wrote: what they meant compiles, and their real faults are found.

use std::fs;
use std::path::PathBuf;

use statemark_compiler::diag::{Code, Severity};
use statemark_compiler::{Compiled, back};
use statemark_harness::files;

use crate::specs::{assert_spans, compile_text, outside};

fn folder(name: &str) -> Vec<(PathBuf, String)> {
    let Some(outside) = outside() else {
        eprintln!("skipped: no corpus of other people's files beside the checkout");
        return Vec::new();
    };
    let all = files(&outside.join(name));
    all.into_iter()
        .filter_map(|path| fs::read_to_string(&path).ok().map(|text| (path, text)))
        .collect()
}

fn errors(compiled: &Compiled) -> Vec<String> {
    let errors = compiled
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error);
    errors
        .map(|d| format!("{} {}", d.code.id(), d.message))
        .collect()
}

#[test]
fn rp1_sections_compile() {
    for (path, text) in folder("rp1") {
        let name = path.display().to_string();
        let (sources, compiled) = compile_text(&name, &text);
        assert_spans(&sources, &compiled.diagnostics);
        assert_eq!(errors(&compiled), Vec::<String>::new(), "{name}");
        if name.contains("neg_") {
            assert_eq!(compiled.found, 0, "{name}");
            let codes: Vec<Code> = compiled.diagnostics.iter().map(|d| d.code).collect();
            assert_eq!(codes, [Code::NearMissHeading], "{name}");
        } else {
            assert_eq!(compiled.machines.len(), 1, "{name}");
        }
    }
}

#[test]
fn statewright_workflows_compile() {
    for (path, text) in folder("statewright") {
        let name = path.display().to_string();
        let (sources, compiled) = compile_text(&name, &text);
        assert_spans(&sources, &compiled.diagnostics);
        assert_eq!(errors(&compiled), Vec::<String>::new(), "{name}");
        assert_eq!(compiled.machines.len(), 1, "{name}");
        let table = back::table::write(&compiled.machines[0]);
        let sections = statemark_runtime::decode(&table).expect("a table that we wrote");
        statemark_runtime::verify(sections).expect("a machine that we checked");
    }
}

/// The faults that Statewright's own validator lets pass (typing errors in keys, `safe_next` to nowhere, guards and targets
/// in arrays), planted in a file of its shape.
#[test]
fn faults_that_statewright_accepts_are_found() {
    let text = r#"{
  "id": "bugfix", "initial": "plan",
  "guards": { "small": { "field": "lines", "op": "lt", "value": 10 } },
  "states": {
    "plan": {
      "alowed_tools": ["Read"],
      "safe_next": "nowhere",
      "on": { "READY": [ { "target": "build", "guard": "smal" }, { "target": "biuld" }, { "target": "build", "guard": "small" } ] }
    },
    "build": { "on": { "DONE": "done" } },
    "done": { "type": "final" }
  }
}"#;
    let (_, compiled) = compile_text("bugfix.workflow.json", text);
    let mut codes: Vec<Code> = compiled.diagnostics.iter().map(|d| d.code).collect();
    codes.sort();
    codes.dedup();
    for code in [Code::UnknownState, Code::UnknownGuard, Code::UnknownKey] {
        assert!(codes.contains(&code), "{code} is missing among {codes:?}");
    }
    let unknown = compiled
        .diagnostics
        .iter()
        .filter(|d| d.code == Code::UnknownState)
        .count();
    assert_eq!(unknown, 2, "`nowhere` and `biuld`");
}

/// Diagrams as Mermaid's own tests and other people draw them: whatever they are, nothing panics and spans are right.
#[test]
fn diagrams_of_others_are_survived() {
    for name in ["mermaid_spec", "mermaid_probes"] {
        for (path, text) in folder(name) {
            if path.extension().is_some_and(|ending| ending == "mmd") {
                let (sources, compiled) = compile_text(&path.display().to_string(), &text);
                assert_spans(&sources, &compiled.diagnostics);
                for machine in &compiled.machines {
                    let table = back::table::write(machine);
                    let sections =
                        statemark_runtime::decode(&table).expect("a table that we wrote");
                    statemark_runtime::verify(sections).expect("a machine that we checked");
                }
            }
        }
    }
}
