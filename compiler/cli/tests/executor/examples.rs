//! The examples that go on by themselves: scripted models in the place of the real ones.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::api::Api;
use crate::shell::{Run, Said, Scratch, perform};

/// Copies an example into a folder.
fn copy(example: &str, files: &[&str]) -> Scratch {
    let scratch = Scratch::new(&format!("executor-{example}"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for file in files {
        let text = fs::read_to_string(root.join(example).join(file)).unwrap();
        scratch.write(file, &text);
    }
    scratch
}

fn run(scratch: &Scratch, command: &str) -> Said {
    perform(&Run::new(command), &scratch.path)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is written where it is passed"
)]
fn call(tool: &str, arguments: Value) -> Value {
    json!({"calls": [[tool, arguments]]})
}

fn send(event: &str) -> Value {
    call("send_event", json!({"event": event}))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is written where it is passed"
)]
fn submit(name: &str, content: Value) -> Value {
    json!(["submit_artifact", {"name": name, "mode": "final", "content": content}])
}

/// Approves the request that an output names in backticks.
fn approve(scratch: &Scratch, output: &str) {
    let request = output.split('`').nth(1).unwrap();
    let approved = run(
        scratch,
        &format!("AS=ann:person statemark approve {request}"),
    );
    assert_eq!(approved.code, 0, "{}", approved.stderr);
}

fn check_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_night_shift_mends_what_the_tests_find() {
    let mended = "total=0\nwhile read -r price || [ -n \"$price\" ]; do\n    total=$((total + ${price:-0}))\ndone\necho \"$total\"\n";
    let api = Api::start(vec![
        call("read_file", json!({"path": "total.sh"})),
        // It would rather mend it at once.
        call("write_file", json!({"path": "total.sh", "content": mended})),
        send("found"),
        call("write_file", json!({"path": "total.sh", "content": mended})),
        send("mended"),
        json!({"text": "The last price was lost.", "calls": [["send_event", {"event": "accept"}]]}),
    ]);
    let scratch = Scratch::new("executor-night");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/night_shift");
    for file in ["night_shift.md", "statemark.toml", "total.sh", "check.sh"] {
        scratch.write(file, &fs::read_to_string(root.join(file)).unwrap());
    }
    let run = |command: &str| perform(&Run::new(command), &scratch.path);
    let url = format!("--model m --url http://{}", api.address);
    let said = run(&format!(
        "statemark agent run night-shift --run-id n --task 'mend it' {url}"
    ));
    assert_eq!(said.code, 1, "{}{}", said.stderr, said.stdout);
    let transcript = run("statemark transcript n").stdout;
    for part in [
        "a last line without an end: expected 6, got 3",
        "write_file denied: `write_file` isn't granted: `looking` grants",
        "all is well",
        "waiting: a person has to answer first",
    ] {
        assert!(transcript.contains(part), "{part}: {transcript}");
    }
    let request = said.stdout.split('`').nth(1).unwrap().to_owned();
    assert_eq!(
        run(&format!("AS=ann:person statemark approve {request}")).code,
        0
    );
    let state = run("statemark state n").stdout;
    assert!(state.starts_with("n (night-shift): completed"), "{state}");
}

/// Notes as the contract wants them, with a line.
fn notes(line: &str) -> Value {
    submit(
        "notes",
        json!(format!(
            "## New\n\n- {line}\n\n## Mended\n\n- Searching for nothing finds nothing.\n"
        )),
    )
}

#[test]
fn release_notes_are_written_by_one_model_and_read_by_another() {
    let files = [
        "release_notes.md",
        "statemark.toml",
        "publish.sh",
        "changes.txt",
    ];
    let scratch = copy("release_notes", &files);
    let written = json!(["send_event", {"event": "written"}]);
    let findings = |list: Value| submit("findings", json!({"findings": list}));
    let found =
        json!([{"about": "- A cache of rows.", "problem": "No user has ever seen the cache."}]);
    let sent_back = json!(["send_event", {"event": "sent_back"}]);
    let api = Api::start(vec![
        call("read_file", json!({"path": "changes.txt"})),
        // It would rather go on without notes, and then with some that have one list.
        send("written"),
        json!({"calls": [submit("notes", json!("## New\n\n- Dark mode.\n")), written]}),
        json!({"calls": [notes("A cache of rows."), written]}),
        // The reader would rather mend it itself.
        json!({"calls": [["get_artifact", {"name": "notes"}], ["write_file", {"path": "NOTES.md", "content": "mine"}], sent_back]}),
        json!({"calls": [findings(found.clone()), sent_back]}),
        json!({"calls": [["get_artifact", {"name": "findings"}], notes("Dark mode."), written]}),
        json!({"calls": [findings(json!([])), ["send_event", {"event": "passed"}]]}),
        // In the second run nobody is ever content.
        json!({"calls": [notes("A cache of rows."), written]}),
        json!({"calls": [findings(found.clone()), sent_back]}),
        json!({"calls": [notes("A cache of rows."), written]}),
        json!({"calls": [findings(found.clone()), sent_back]}),
        json!({"calls": [notes("A cache of rows."), written]}),
        json!({"calls": [findings(found), sent_back]}),
    ]);
    let here = format!(
        "\n[executor.models.\"ollama:\"]\nurl = \"http://{}/v1\"\n",
        api.address
    );
    let settings = fs::read_to_string(scratch.path.join("statemark.toml")).unwrap();
    scratch.write("statemark.toml", &(settings + &here));
    let said = run(&scratch, "statemark agent run release-notes --run-id n");
    assert_eq!(said.code, 1, "{}{}", said.stderr, said.stdout);
    let transcript = run(&scratch, "statemark transcript n").stdout;
    check_parts(
        &transcript,
        &[
            "attempt 1 in writing by model with ollama:qwen3:8b",
            "attempt 2 in reading by model with ollama:gemma3:12b",
            "attempt 3 in writing",
            "attempt 4 in reading",
            "write_file denied: `write_file` isn't granted: `reading` grants",
            "waiting: a person has to answer first",
        ],
    );
    let asked = api.asked();
    let mut models: Vec<&str> = asked.iter().filter_map(|it| it["model"].as_str()).collect();
    models.dedup();
    assert_eq!(models, ["qwen3:8b", "gemma3:12b", "qwen3:8b", "gemma3:12b"]);
    approve(&scratch, &said.stdout);
    let said = run(&scratch, "statemark agent run n");
    assert_eq!(said.code, 0, "{}{}", said.stderr, said.stdout);
    let published = fs::read_to_string(scratch.path.join("NOTES.md")).unwrap();
    assert!(
        published.starts_with("## New\n\n- Dark mode.\n"),
        "{published}"
    );

    let said = run(&scratch, "statemark agent run release-notes --run-id m");
    assert_eq!(said.code, 1, "{}{}", said.stderr, said.stdout);
    check_parts(
        &said.stdout,
        &["m: `undecided` is left to a person (6 attempts"],
    );
}

const REPORTS: [&str; 5] = [
    "triage.md",
    "statemark.toml",
    "begin.sh",
    "gather.sh",
    "reports/csv.txt",
];

/// A model that reads its report, and says that it is a fault.
fn reads(unit: &str, kind: &str) -> [Value; 2] {
    let when = format!("unit of this work: `{unit}`");
    let verdict = json!({"kind": kind, "summary": format!("This is about {unit}.")});
    let read = ["read_file", &format!("reports/{unit}.txt")].map(str::to_owned);
    [
        // None of the three is answered before all have asked: one after the other, they would never end.
        json!({"when": when, "meets": 3, "calls": [[read[0], {"path": read[1]}], ["write_file", {"path": "x", "content": "x"}]]}),
        json!({"when": when, "calls": [submit("verdict", verdict), ["send_event", {"event": "sort"}]]}),
    ]
}

#[test]
fn each_report_is_sorted_in_a_run_of_its_own_side_by_side() {
    let mut files = REPORTS.to_vec();
    files.extend(["reports/dark.txt", "reports/search.txt"]);
    let scratch = copy("triage", &files);
    let all = [("csv", "fault"), ("dark", "wish"), ("search", "question")];
    let api = Api::start(
        all.into_iter()
            .flat_map(|(unit, kind)| reads(unit, kind))
            .collect(),
    );
    let url = format!("--model m --url http://{}", api.address);
    let said = run(
        &scratch,
        &format!("statemark agent run triage --run-id t {url}"),
    );
    assert_eq!(said.code, 0, "{}{}", said.stderr, said.stdout);
    check_parts(
        &said.stderr,
        &[
            "  sorting: attempt 1 waiting: the runs below it have to end first\n",
            "  t/report::dark, reading: attempt 1 by model with m\n",
            "  sorting: attempt 2 by begin\n",
        ],
    );
    let list = fs::read_to_string(scratch.path.join("TRIAGE.md")).unwrap();
    for (unit, kind) in all {
        let line = format!("- {unit}, a {kind}: This is about {unit}.\n");
        assert!(list.contains(&line), "{line}: {list}");
        let transcript = run(&scratch, &format!("statemark transcript t/report::{unit}")).stdout;
        check_parts(
            &transcript,
            &["write_file denied: `write_file` isn't granted: `reading` grants"],
        );
    }

    // One that can't be sorted ends the whole.
    let scratch = copy("triage", &REPORTS);
    let api = Api::start(vec![json!({"text": "Hm."})]);
    let url = format!("--model m --url http://{}", api.address);
    let said = run(
        &scratch,
        &format!("statemark agent run triage --run-id u {url}"),
    );
    check_parts(&said.stderr, &["u/report::csv, reading: attempt 2 failed"]);
    let state = run(&scratch, "statemark state u").stdout;
    assert!(state.starts_with("u (triage): failed"), "{state}");
}
