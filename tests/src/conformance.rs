//! Other people's tests of SCXML, run on our engines.
//!
//! The folder that `STATEMARK_CONFORMANCE` names holds them (`tests/conformance/run` fetches them): documents, each beside
//! a script of events with the states that must be active behind each. SCION wrote 127; the others are the W3C's own, in
//! SCION's transcription, which pass by ending in the state `pass`. Without the folder there is nothing to do here.
//!
//! A test applies if our compiler takes its document; if not, `tests/conformance.md` says what it needs.
//! Every test that applies is run on every engine, and none is left out for failing. Where a script expects what the
//! recommendation doesn't say, `tests/conformance/deviations.json` has the reason, and what must come out instead.

mod case;
mod generated;
mod interpreted;
mod need;
mod play;
mod script;
mod summary;
mod table;
mod world;

use std::collections::BTreeMap;
use std::path::PathBuf;

use statemark_compiler::ir::Machine;
use statemark_compiler::valid::Valid;

use crate::specs::{assert_spans, compile_text};
use case::cases;
use play::Script;
use statemark_harness::{compare, root};

/// Names the folder with the tests.
const FOLDER: &str = "STATEMARK_CONFORMANCE";

/// What became of a test.
enum Fate {
    /// It was run: what each engine says, `Ok` if it passes.
    Run(Vec<(&'static str, Result<(), String>)>),
    /// The compiler refuses its document: what that needs and isn't there.
    Refused(Vec<&'static str>),
}

#[test]
fn every_test_that_applies_passes() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let deviations = deviations();
    let mut fates = BTreeMap::new();
    let mut apply = Vec::new();
    for mut case in cases(&folder) {
        if let Some(deviation) = deviations.get(&case.name) {
            case.script = deviation.script.clone();
        }
        let (sources, compiled) = compile_text(&format!("{}.scxml", case.name), &case.text);
        assert_spans(&sources, &compiled.diagnostics);
        match compiled.machines.into_iter().next() {
            Some(machine) => {
                script::resolve(&mut case.script, &machine);
                apply.push((case, machine));
            }
            None => {
                let needs = need::needs(&compiled.diagnostics);
                let needs = needs.unwrap_or_else(|said| {
                    panic!("{}: the page has no words for this: {said}", case.name)
                });
                fates.insert(case.name, Fate::Refused(needs));
            }
        }
    }
    // With one whose script is wrong, so that it is seen that generated machines can fail.
    let (machine, wrong) = example("b");
    let all = apply.iter().map(|(case, machine)| (machine, &case.script));
    let all: Vec<_> = all.chain([(&machine, &wrong)]).collect();
    let generated = generated::run_all(&all);
    let fault = "after event 3, `go`: in c, not in b".to_owned();
    assert_eq!(generated.last(), Some(&Err(fault)));
    for ((case, machine), generated) in apply.iter().zip(generated) {
        let results = vec![
            ("table", table::run(machine, &case.script)),
            ("generated Rust", generated),
            ("interpreter", interpreted::run(machine, &case.script)),
        ];
        fates.insert(case.name.clone(), Fate::Run(results));
    }
    let written = summary::write(&fates, &deviations);
    let mut faults: String = summary::failures(&fates);
    faults.extend(compare(&root().join("tests/conformance.md"), &written).err());
    assert!(faults.is_empty(), "{faults}");
}

/// The data that a machine begins with, as JSON.
fn context(machine: &Machine) -> String {
    let context = machine.context.as_ref().map(ToString::to_string);
    context.unwrap_or_else(|| "{}".to_owned())
}

/// A test whose script expects something else than the recommendation.
struct Deviation {
    reason: String,
    script: Script,
}

fn deviations() -> BTreeMap<String, Deviation> {
    let path = root().join("tests/conformance/deviations.json");
    let text = std::fs::read_to_string(path).expect("the list of deviations");
    let list: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let object = list.as_object().expect("an object");
    let read = |(name, value): (&String, &serde_json::Value)| {
        let reason = value["reason"].as_str().expect("a reason").to_owned();
        let script = script::read(&value["script"]);
        (name.clone(), Deviation { reason, script })
    };
    object.iter().map(read).collect()
}

/// A small machine with a script that ends in `last`; the right one is `c`.
fn example(last: &str) -> (Valid, Script) {
    let text = r#"<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0">
        <state id="a"><transition event="go" target="b"/></state>
        <state id="b">
            <onentry><send event="late" delay="1s"/></onentry>
            <transition event="late" target="c"/>
        </state>
        <state id="c"/>
    </scxml>"#;
    let (_, compiled) = compile_text("case.scxml", text);
    assert_eq!(compiled.machines.len(), 1, "{:#?}", compiled.diagnostics);
    let mut script = script::read(&serde_json::json!({
        "initialConfiguration": ["a"],
        "events": [
            { "event": { "name": "go" }, "nextConfiguration": ["b"] },
            { "after": 999, "event": { "name": "go" }, "nextConfiguration": ["b"] },
            { "after": 1, "event": { "name": "go" }, "nextConfiguration": [last] },
        ]
    }));
    let machine = compiled.machines.into_iter().next().expect("a machine");
    script::resolve(&mut script, &machine);
    (machine, script)
}

/// So that the way through is tested where the folder isn't there.
#[test]
fn a_test_passes_or_fails_for_its_reason() {
    for run in [table::run, interpreted::run] {
        let (machine, script) = example("c");
        assert_eq!(run(&machine, &script), Ok(()));
        let (machine, script) = example("b");
        let fault = run(&machine, &script);
        assert_eq!(fault, Err("after event 3, `go`: in c, not in b".to_owned()));
    }
}
