//! What agents write, and what nobody has accepted: neither gets them further than a person meant.

use std::fs;

use serde_json::{Value, json};

use super::{attacked, done, in_time};
use crate::served::client::Client;
use crate::served::raw::Listening;
use crate::shell::{Run, Said, Scratch, perform, statemark, token};

/// A payment that somebody has to approve.
const PAY: &str = r#"# Pay

## STATE-MACHINE: pay

```mermaid
stateDiagram-v2
    [*] --> asked
    asked --> [*] : accept
```

```json definition
{"id": "pay", "states": {"asked": {"allowed_tools": [], "on": {"accept": {"requires_approval": true}}}}}
```
"#;

/// A workflow whose check leaves a file behind.
const EVIL: &str = r#"# Evil

## STATE-MACHINE: evil

```mermaid
stateDiagram-v2
    [*] --> ready
    ready --> [*] : finish
```

```json definition
{"id": "evil", "checks": {"pwn": {"command": ["touch", "pwned"]}}}
```
"#;

/// A workflow that does nothing in particular.
const DRAFT: &str = "# Draft\n\n## STATE-MACHINE: draft\n\n```mermaid\nstateDiagram-v2\n    [*] --> a\n    a --> [*] : go\n```\n";

const AUTHOR: [&str; 3] = [".", "--toolsets", "author,runs,project"];

fn project(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("pay.md", PAY);
    scratch
}

fn lax() -> String {
    PAY.replace("true", "false")
}

fn create(name: &str, text: &str) -> Value {
    json!({"name": name, "markdown": text, "overwrite": true})
}

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or("none")
}

fn as_ann(scratch: &Scratch, command: &str) -> Said {
    let said = perform(&Run::new(&format!("AS=ann {command}")), &scratch.path);
    assert_eq!(said.code, 0, "{command}: {}{}", said.stdout, said.stderr);
    said
}

/// What other agents take for instructions, or people read first, isn't written in the guise of a workflow.
#[test]
fn second_no_workflow_is_written_in_the_place_of_instructions() {
    let scratch = project("attack-instructions");
    let mut agent = Client::start(&scratch.path, &AUTHOR);
    for name in ["AGENTS", "claude", "ReadMe", "SKILL"] {
        let answer = agent.call("create_workflow", &create(name, DRAFT));
        assert_eq!(code(&answer), "invalid_arguments", "{answer:#}");
        assert!(!scratch.path.join(format!("{name}.md")).exists());
    }
}

/// A run isn't begun under an id that a person takes for another's.
#[test]
fn second_no_id_looks_like_another() {
    let scratch = project("attack-lookalikes");
    done(&scratch, &["start", "pay", "--run-id", "r1"]);
    let mut agent = Client::start(&scratch.path, &AUTHOR);
    for id in ["\u{ff52}1", "r\u{ff11}", "\u{0433}1", "r\u{661}"] {
        let answer = agent.call("start_run", &json!({"workflow": "pay", "run_id": id}));
        assert_eq!(answer["ok"], false, "{answer:#}");
        let listed = done(&scratch, &["runs"]).stdout;
        assert!(listed.contains("r1") && !listed.contains(id), "{listed}");
    }
}

/// Nor does an agent give a workflow or an artifact a name that a person takes for another's, and no token has one.
#[test]
fn ninth_f2_no_name_looks_like_another() {
    let scratch = project("attack-ninth-names");
    done(&scratch, &["start", "pay", "--run-id", "r1"]);
    let mut agent = Client::start(&scratch.path, &AUTHOR);
    // Mixed with a letter of another script, wide, and all of another script.
    for (file, id) in [
        ("a", "p\u{430}y"),
        ("b", "\u{ff50}ay"),
        ("c", "\u{440}\u{430}\u{443}"),
    ] {
        let draft = DRAFT.replace("draft", id);
        let answer = agent.call("create_workflow", &create(file, &draft));
        assert_eq!(code(&answer), "not_a_person", "{id}: {answer:#}");
        assert!(!scratch.path.join(format!("{file}.md")).exists());
    }
    let draft = DRAFT.replace("draft", "\u{43f}\u{43b}\u{430}\u{43d}");
    let answer = agent.call("create_workflow", &create("d", &draft));
    assert_eq!(
        answer["ok"], true,
        "any script may be written in: {answer:#}"
    );
    let artifact = json!({"run_id": "r1", "name": "\u{ff44}oc", "mode": "draft", "content": "x"});
    let mut worker = Client::start(&scratch.path, &["."]);
    let answer = worker.call("submit_artifact", &artifact);
    assert_eq!(code(&answer), "bad_name", "{answer:#}");
    // All of another script, beside one that is there.
    for (name, wanted) in [("cop", "none"), ("\u{441}\u{43e}\u{440}", "bad_name")] {
        let artifact = json!({"run_id": "r1", "name": name, "mode": "draft", "content": "x"});
        let answer = worker.call("submit_artifact", &artifact);
        assert_eq!(code(&answer), wanted, "{answer:#}");
    }
    as_ann(&scratch, "statemark token create cop --role agent");
    for name in ["\u{430}nn", "\u{ff41}nn", "\u{441}\u{43e}\u{440}"] {
        let command = format!("AS=ann statemark token create {name} --role agent");
        let said = perform(&Run::new(&command), &scratch.path);
        assert!(
            said.stderr.contains("look"),
            "{}{}",
            said.stdout,
            said.stderr
        );
    }
}

#[test]
fn h2_an_agent_takes_the_place_of_no_workflow() {
    let scratch = project("attack-h2");
    let mut agent = Client::start(&scratch.path, &AUTHOR);
    let answer = agent.call("create_workflow", &create("pay", &lax()));
    assert_eq!(code(&answer), "not_a_person", "{answer:#}");
    let answer = agent.call("create_workflow", &create("other", &lax()));
    assert_eq!(code(&answer), "id_taken", "{answer:#}");
    assert_eq!(
        fs::read_to_string(scratch.path.join("pay.md")).unwrap(),
        PAY
    );
    // What it writes itself it may write again, until somebody else has.
    let second = DRAFT.replace(": go", ": went");
    for text in [DRAFT, &second] {
        let answer = agent.call("create_workflow", &create("draft", text));
        assert_eq!(answer["ok"], true, "{answer:#}");
    }
    scratch.write("draft.md", &DRAFT.replace(": go", ": mine"));
    let answer = agent.call("create_workflow", &create("draft", DRAFT));
    assert_eq!(code(&answer), "not_a_person", "{answer:#}");
    // An accepted workflow keeps its name though its file is gone, or has an error.
    as_ann(&scratch, "statemark accept pay");
    fs::remove_file(scratch.path.join("pay.md")).unwrap();
    let mut agent = Client::start(&scratch.path, &AUTHOR);
    let answer = agent.call("create_workflow", &create("other", &lax()));
    assert_eq!(code(&answer), "not_a_person", "{answer:#}");
    assert!(!scratch.path.join("other.md").exists());
}

#[test]
fn h2_an_agent_declares_nothing_that_runs() {
    let scratch = project("attack-h2-declares");
    let mut agent = Client::start(&scratch.path, &AUTHOR);
    let mut statewright = Client::start(&scratch.path, &[".", "--profile", "statewright"]);
    for (key, definition) in [
        (
            "checks",
            json!({"checks": {"pwn": {"command": ["touch", "pwned"]}}}),
        ),
        (
            "env_overrides",
            json!({"states": {"a": {"type": "final", "env_overrides": {"PATH": "."}}}}),
        ),
    ] {
        let mut whole = json!({"id": "evil", "initial": "a", "states": {"a": {"type": "final"}}});
        for (key, value) in definition.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let arguments = json!({"name": "evil", "definition": whole});
        let answer = agent.call("create_workflow", &arguments);
        assert_eq!(code(&answer), "not_a_person", "{key}: {answer:#}");
        let call = json!({"name": "statewright_create_workflow", "arguments": arguments});
        let answer = statewright.ask("tools/call", &call);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("only a person may declare"), "{text}");
    }
    assert!(!scratch.path.join("evil.workflow.json").exists());
}

#[test]
fn h2_who_is_bound_to_a_run_writes_no_workflows() {
    let scratch = project("attack-h2-bound");
    done(&scratch, &["start", "pay", "--run-id", "r1"]);
    let sets = [&AUTHOR[..], &["--run", "r1"]].concat();
    let mut agent = Client::start(&scratch.path, &sets);
    let answer = agent.call("create_workflow", &create("draft", DRAFT));
    assert_eq!(code(&answer), "other_run", "{answer:#}");
    let bound = token(&scratch.path, "bot --role agent --run r1");
    let server = Listening::start(&scratch.path, &AUTHOR);
    let header = format!("Authorization: Bearer {bound}\r\n");
    let answer = server.call("create_workflow", &create("draft", DRAFT), &header);
    assert_eq!(code(&answer), "other_run", "{answer:#}");
    assert!(!scratch.path.join("draft.md").exists());
}

#[test]
fn h2_only_a_person_accepts() {
    let scratch = project("attack-h2-accept");
    for words in [vec!["accept"], vec!["accept", "--accept-all"]] {
        let said = attacked(&scratch, &words);
        assert_ne!(said.code, 0, "{}", said.stdout);
        assert!(said.stderr.contains("isn't a person"), "{}", said.stderr);
    }
    as_ann(&scratch, "statemark accept");
    // What has changed is shown, whole, before it is accepted.
    scratch.write("pay.md", &lax());
    let shown = attacked(&scratch, &["accept", "--dry-run"]);
    assert_eq!(shown.code, 1, "{}", shown.stdout);
    assert!(
        shown.stdout.contains("requires_approval"),
        "{}",
        shown.stdout
    );
}

#[test]
fn h2_a_workflow_that_nobody_has_accepted_runs_nothing() {
    let scratch = project("attack-h2-unreviewed");
    as_ann(&scratch, "statemark accept pay");
    scratch.write("evil.md", EVIL);
    let mut agent = Client::start(&scratch.path, &AUTHOR);
    let listed = agent.call("list_workflows", &json!({}));
    let listed = listed["data"]["workflows"].as_array().unwrap().clone();
    let marks: Vec<&Value> = listed.iter().map(|it| &it["unreviewed"]).collect();
    assert_eq!(marks, [&json!(true), &Value::Null], "{listed:#?}");
    let described = agent.call("describe_workflow", &json!({"workflow": "evil"}));
    assert_eq!(described["data"]["unreviewed"], true, "{described:#}");
    let started = agent.call("start_run", &json!({"workflow": "evil", "run_id": "e"}));
    assert_eq!(started["data"]["next"]["unreviewed"], true, "{started:#}");
    let check = json!({"name": "pwn", "run_id": "e"});
    let answer = agent.call("run_check", &check);
    assert_eq!(code(&answer), "unreviewed", "{answer:#}");
    let said = attacked(&scratch, &["run-check", "pwn", "--run", "e"]);
    assert_ne!(said.code, 0, "{}", said.stdout);
    assert!(!scratch.path.join("pwned").exists());
    let listed = agent.call("list_runs", &json!({}));
    assert_eq!(listed["data"]["runs"][0]["unreviewed"], true, "{listed:#}");
    done(&scratch, &["ask", "e", "May I?", "--kind", "confirm"]);
    for words in [vec!["state", "e"], vec!["runs"], vec!["inbox"]] {
        let said = done(&scratch, &words);
        assert!(
            said.stdout.contains("unreviewed"),
            "{words:?}: {}",
            said.stdout
        );
    }
    // As soon as a person has accepted it, it is like any other.
    as_ann(&scratch, "statemark accept evil");
    let said = done(&scratch, &["state", "e"]).stdout;
    assert!(!said.contains("unreviewed"), "{said}");
    let answer = agent.call("run_check", &check);
    assert_eq!(answer["data"]["passed"], true, "{answer:#}");
}

#[test]
fn h2_a_project_can_start_accepted_workflows_alone() {
    let scratch = project("attack-h2-only");
    scratch.write("statemark.toml", "workflows = \"accepted\"\n");
    scratch.write("draft.md", DRAFT);
    let said = attacked(&scratch, &["start", "pay", "--run-id", "r1"]);
    assert_ne!(said.code, 0, "{}", said.stdout);
    assert!(
        said.stderr.contains("nobody has accepted"),
        "{}",
        said.stderr
    );
    as_ann(&scratch, "statemark accept pay");
    let mut agent = Client::start(&scratch.path, &AUTHOR);
    let start = |workflow: &str| json!({"workflow": workflow});
    assert_eq!(agent.call("start_run", &start("pay"))["ok"], true);
    let answer = agent.call("start_run", &start("draft"));
    assert_eq!(code(&answer), "unreviewed", "{answer:#}");
    scratch.write("pay.md", &lax());
    let mut agent = Client::start(&scratch.path, &AUTHOR);
    let answer = agent.call("start_run", &start("pay"));
    assert_eq!(code(&answer), "unreviewed", "{answer:#}");
}

#[test]
fn h2_a_token_for_many_runs_starts_accepted_workflows_alone() {
    let scratch = project("attack-h2-many");
    let person = token(&scratch.path, "ann --role person");
    let mut accept = statemark(&scratch.path);
    accept
        .args(["accept", "pay"])
        .env("STATEMARK_TOKEN", person);
    assert_eq!(in_time(accept).code, 0);
    scratch.write("draft.md", DRAFT);
    let many = token(&scratch.path, "many --role agent --many-runs");
    let mut agent = Client::with_token(&scratch.path, &AUTHOR, &many);
    let answer = agent.call("start_run", &json!({"workflow": "pay"}));
    assert_eq!(answer["ok"], true, "{answer:#}");
    let answer = agent.call("start_run", &json!({"workflow": "draft"}));
    assert_eq!(code(&answer), "unreviewed", "{answer:#}");
}

/// A child run whose approval an agent has left out would end for the one that a person has accepted.
#[test]
fn fifth_an_accepted_workflow_takes_no_child_that_nobody_has_accepted() {
    let scratch = Scratch::new("attack-child");
    let outer = json!({"id": "outer", "initial": "a", "states": {
        "a": {"invoke": {"src": "inner", "on_done": "gone", "on_error": "bad"}},
        "gone": {"type": "final"},
        "bad": {"type": "final"}
    }});
    let inner = json!({"id": "inner", "initial": "look", "states": {
        "look": {"on": {"fin": {"target": "end", "requires_approval": true}}},
        "end": {"type": "final"}
    }});
    let lax = inner.to_string().replace(",\"requires_approval\":true", "");
    let lax = lax.replace("\"requires_approval\":true,", "");
    assert!(!lax.contains("approval"), "{lax}");
    scratch.write("outer.workflow.json", &outer.to_string());
    scratch.write("inner.workflow.json", &inner.to_string());
    scratch.write("evil/outer.workflow.json", &outer.to_string());
    scratch.write("evil/inner.workflow.json", &lax);
    scratch.write("alone/outer.workflow.json", &outer.to_string());
    let agent = |command: &str| perform(&Run::new(command), &scratch.path);
    let waits = "of which no spec has an accepted definition";
    as_ann(
        &scratch,
        "statemark accept outer inner --specs outer.workflow.json --specs inner.workflow.json",
    );

    // Beside the agent's own, and with it alone, from the start on and with a later report.
    let lines = [
        "statemark start outer --run-id r1 --specs evil",
        "statemark start outer --run-id r2 --specs alone",
        "statemark emit --workflow outer --run-id r2 --step a --type status_change --data '{\"status\":\"running\"}' --specs evil",
    ];
    for line in lines {
        let said = agent(line);
        assert_eq!(said.code, 0, "{line}: {}", said.stderr);
    }
    for run in ["r1", "r2"] {
        let state = agent(&format!("statemark state {run}"));
        assert!(state.stdout.contains(waits), "{}", state.stdout);
        assert_eq!(agent(&format!("statemark state {run}/a/1")).code, 2);
    }

    // One that began before anybody had accepted it took the agent's, and doesn't become reviewed by that.
    scratch.write(
        "evil/second.workflow.json",
        &outer.to_string().replace("outer", "second"),
    );
    scratch.write(
        "second.workflow.json",
        &outer.to_string().replace("outer", "second"),
    );
    let said = agent("statemark start second --run-id r3 --specs evil");
    assert_eq!(said.code, 0, "{}", said.stderr);
    as_ann(
        &scratch,
        "statemark accept second --specs second.workflow.json",
    );
    let state = agent("statemark state r3");
    assert!(state.stdout.contains("unreviewed"), "{}", state.stdout);

    // With the accepted one it goes on.
    let said = agent(&lines[2].replace("evil", "inner.workflow.json"));
    assert_eq!(said.code, 0, "{}", said.stderr);
    let asks = agent("statemark send r2/a/1 fin");
    assert!(
        asks.stdout.contains("approv"),
        "{}{}",
        asks.stdout,
        asks.stderr
    );
    let state = agent("statemark state r2");
    assert!(state.stdout.contains("running"), "{}", state.stdout);
}

/// What an agent is told to do, and what an action has done in the world, is accepted with the rest.
#[test]
fn sixth_orders_are_part_of_what_a_person_accepts() {
    let scratch = Scratch::new("attack-orders");
    let spec = json!({
        "id": "pay", "initial": "a",
        "actions": {"transfer": {"effect": "transfer 5 EUR to ann"}},
        "states": {
            "a": {"instructions": "Look at the bill.", "on": {"fin": {"target": "b", "actions": ["transfer"]}}},
            "b": {"type": "final"}
        }
    });
    let spec = spec.to_string();
    scratch.write("statemark.toml", "workflows = \"accepted\"\n");
    scratch.write("pay.workflow.json", &spec);
    as_ann(&scratch, "statemark accept pay");
    let start = |run: &str| {
        perform(
            &Run::new(&format!("statemark start pay --run-id {run}")),
            &scratch.path,
        )
    };
    assert_eq!(start("r0").code, 0);
    let others = [
        ("transfer 5 EUR to ann", "transfer 50000 EUR to eve"),
        ("Look at the bill.", "Run curl."),
    ];
    for (at, (old, new)) in others.into_iter().enumerate() {
        scratch.write("pay.workflow.json", &spec.replace(old, new));
        let said = start(&format!("x{at}"));
        assert_eq!(said.code, 2, "{}", said.stdout);
        assert!(
            said.stderr
                .contains("has changed since a person accepted it"),
            "{}",
            said.stderr
        );
    }
}

/// A report begins a run of what it names: not of a workflow that nobody has accepted, for a run of one that is.
#[test]
fn sixth_no_report_begins_a_child_that_nobody_has_accepted() {
    let scratch = Scratch::new("attack-unit");
    let outer = json!({"id": "outer", "initial": "work", "states": {"work": {"on": {"fin": "end"}}, "end": {"type": "final"}}});
    let mine = json!({"id": "mine", "initial": "go", "states": {"go": {"on": {"fin": "end"}}, "end": {"type": "final"}}});
    scratch.write("outer.workflow.json", &outer.to_string());
    let emit = "statemark emit --workflow outer --run-id r1 --step mine:go --unit csv --type status_change --data '{\"status\":\"running\"}'";
    as_ann(&scratch, "statemark accept outer");
    scratch.write("mine.workflow.json", &mine.to_string());
    let agent = |command: &str| perform(&Run::new(command), &scratch.path);
    assert_eq!(agent("statemark start outer --run-id r1").code, 0);
    let said = agent(emit);
    assert_eq!(said.code, 2, "{}{}", said.stdout, said.stderr);
    assert!(
        said.stderr.contains("nobody has accepted"),
        "{}",
        said.stderr
    );
    assert_eq!(agent("statemark runs").stdout.lines().count(), 1);
    as_ann(&scratch, "statemark accept mine");
    let said = agent(emit);
    assert_eq!(said.code, 0, "{}", said.stderr);
}

/// An id that several files define is taken, although none of them counts.
#[test]
fn sixth_an_id_with_rivals_is_taken() {
    let scratch = project("attack-rivals");
    scratch.write("old/pay.md", &lax());
    let mut agent = Client::start(&scratch.path, &AUTHOR);
    let answer = agent.call("create_workflow", &create("third", PAY));
    assert_eq!(code(&answer), "id_taken", "{answer:#}");
    assert!(!scratch.path.join("third.md").exists());
}
