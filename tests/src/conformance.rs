//! Other people's tests of SCXML, run on our engines.
//!
//! The folder that `STATEMARK_CONFORMANCE` names holds them (`tests/conformance/run` fetches them): documents, each beside
//! a script of events with the states that must be active behind each. SCION wrote 127; the others are the W3C's own, in
//! SCION's transcription, which pass by ending in the state `pass`. Without the folder there is nothing to do here.
//!
//! A test applies if our compiler takes its document; if not, `tests/conformance.md` says why, in the compiler's words.
//! Every test that applies is run on every engine, and none is left out for failing. Where a script expects what the
//! recommendation doesn't say, `tests/conformance/deviations.json` has the reason, and what must come out instead.

mod case;
mod interpreted;
mod play;
mod summary;
mod table;
mod world;

use std::collections::BTreeMap;
use std::path::PathBuf;

use statemark_compiler::diag::{Diagnostic, Severity};

use crate::corpus::{assert_spans, compile_text};
use crate::golden::{compare, root};
use case::cases;
use play::Script;

/// Names the folder with the tests.
const FOLDER: &str = "STATEMARK_CONFORMANCE";

/// What became of a test.
enum Fate {
    /// It was run: what each engine says, `Ok` if it passes.
    Run(Vec<(&'static str, Result<(), String>)>),
    /// The compiler refuses its document, and says why.
    Refused(Vec<String>),
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
            Some(machine) => apply.push((case, machine)),
            None => {
                fates.insert(case.name, Fate::Refused(reasons(&compiled.diagnostics)));
            }
        }
    }
    for (case, machine) in &apply {
        let results = vec![
            ("table", table::run(machine, &case.script)),
            ("interpreter", interpreted::run(machine, &case.script)),
        ];
        fates.insert(case.name.clone(), Fate::Run(results));
    }
    let written = summary::write(&fates, &deviations);
    let mut faults: String = summary::failures(&fates);
    faults.extend(compare(&root().join("tests/conformance.md"), &written).err());
    assert!(faults.is_empty(), "{faults}");
}

/// What the errors among the findings say, each once.
fn reasons(diagnostics: &[Diagnostic]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for diagnostic in diagnostics {
        if diagnostic.severity == Severity::Error && !reasons.contains(&diagnostic.message) {
            reasons.push(diagnostic.message.clone());
        }
    }
    reasons
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
        let script = Script::read(&value["script"]);
        (name.clone(), Deviation { reason, script })
    };
    object.iter().map(read).collect()
}

/// One case of each kind, so that the way through is tested where the folder isn't there.
#[test]
fn a_test_passes_or_fails_for_its_reason() {
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
    let script = |last: &str| {
        Script::read(&serde_json::json!({
            "initialConfiguration": ["a"],
            "events": [
                { "event": { "name": "go" }, "nextConfiguration": ["b"] },
                { "after": 999, "event": { "name": "go" }, "nextConfiguration": ["b"] },
                { "after": 1, "event": { "name": "go" }, "nextConfiguration": [last] },
            ]
        }))
    };
    let machine = &compiled.machines[0];
    for run in [table::run, interpreted::run] {
        assert_eq!(run(machine, &script("c")), Ok(()));
        let fault = run(machine, &script("b"));
        assert_eq!(fault, Err("after event 3, `go`: in c, not in b".to_owned()));
    }
}
