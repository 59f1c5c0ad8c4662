//! Which runs hold a caller, and so what a second one can't get it.

use serde_json::{Value, json};

use super::{attacked, done, in_time};
use crate::served::client::Client;
use crate::served::raw::Listening;
use crate::shell::{Run, Scratch, perform, statemark, token};

/// A workflow whose first state grants nothing, and whose second one doesn't restrict.
const STRICT: &str = r#"# Strict

## STATE-MACHINE: strict

```mermaid
stateDiagram-v2
    [*] --> locked
    locked --> unlocked : unlock
    unlocked --> [*] : finish
```

```json definition
{"id": "strict", "states": {"locked": {"allowed_tools": []}}}
```
"#;

/// A workflow that restricts nothing, with a check.
const LAX: &str = r#"# Lax

## STATE-MACHINE: lax

```mermaid
stateDiagram-v2
    [*] --> free
    free --> [*] : finish
```

```json definition
{"id": "lax", "checks": {"words": {"command": ["wc", "-w", "lax.md"]}}}
```
"#;

const TOOLS: [&str; 3] = [".", "--toolsets", "project,runs,time"];

fn project(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("strict.md", STRICT);
    scratch.write("lax.md", LAX);
    scratch
}

fn start(workflow: &str, run: &str) -> Value {
    json!({"workflow": workflow, "run_id": run})
}

/// What the lax run is named for.
fn read() -> Value {
    json!({"name": "lax.md", "run_id": "l"})
}

/// Looks for a refusal with this code, by this run.
fn held(answer: &Value, code: &str, run: &str) {
    assert_eq!(answer["error"]["code"], code, "{answer:#}");
    assert_eq!(answer["error"]["details"]["run_id"], run, "{answer:#}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains(&format!("`{run}`")), "{message}");
}

fn ok(answer: &Value) {
    assert_eq!(answer["ok"], true, "{answer:#}");
}

fn agent(scratch: &Scratch) -> Client {
    Client::start(&scratch.path, &TOOLS)
}

#[test]
fn h1_a_second_run_widens_nothing() {
    let scratch = project("attack-h1");
    let mut agent = agent(&scratch);
    ok(&agent.call("start_run", &start("strict", "s")));
    ok(&agent.call("start_run", &start("lax", "l")));
    let calls = [
        ("read_document", read()),
        ("run_check", json!({"name": "words", "run_id": "l"})),
        ("get_timeline", json!({"run_id": "l"})),
    ];
    for (tool, arguments) in &calls {
        let answer = agent.call(tool, arguments);
        held(&answer, "not_granted", "s");
        let states = &answer["error"]["details"]["granted_in"];
        assert_eq!(*states, json!(["unlocked"]), "{answer:#}");
    }
    // Agents without a token are told apart by their project alone: none of them starts a run in another one.
    let elsewhere = json!({"workflow": "strict", "run_id": "e", "project": "elsewhere"});
    let answer = agent.call("start_run", &elsewhere);
    assert_eq!(answer["error"]["code"], "other_project", "{answer:#}");
    // The denial belongs to the run that the call has named, and moves no other.
    let records = done(&scratch, &["events", "s", "--json"]).stdout;
    assert_eq!(records.lines().count(), 1, "{records}");
    ok(&agent.call("send_event", &json!({"run_id": "s", "event": "unlock"})));
    for (tool, arguments) in &calls {
        ok(&agent.call(tool, arguments));
    }
}

/// Several projects have one store: who has no token sees and moves the runs of its own alone.
#[test]
fn seventh_f4_runs_of_other_projects_are_out_of_reach() {
    let scratch = project("seventh-projects");
    for (folder, project) in [("a", "A"), ("b", "B")] {
        scratch.write(&format!("{folder}/lax.md"), LAX);
        let config = format!("project = \"{project}\"\n");
        scratch.write(&format!("{folder}/statemark.toml"), &config);
    }
    let agent = |folder: &str| {
        let tools = [
            ".",
            "--toolsets",
            "human,runs,time",
            "--store",
            "../shared.db",
        ];
        Client::start(&scratch.path.join(folder), &tools)
    };
    let mut own = agent("a");
    ok(&own.call("start_run", &start("lax", "l")));
    let question = json!({"run_id": "l", "prompt": "The key is 123?", "kind": "confirm"});
    ok(&own.call("request_human", &question));
    let mut other = agent("b");
    for (tool, arguments) in [
        ("get_run", json!({"run_id": "l"})),
        ("get_events", json!({"run_id": "l"})),
        ("send_event", json!({"run_id": "l", "event": "finish"})),
        ("control_run", json!({"run_id": "l", "action": "cancel"})),
        ("fork_run", json!({"run_id": "l", "at_seq": 1})),
        ("list_requests", json!({"run_id": "l"})),
    ] {
        let answer = other.call(tool, &arguments);
        assert_eq!(
            answer["error"]["code"], "other_project",
            "{tool}: {answer:#}"
        );
    }
    for (tool, list) in [("list_runs", "runs"), ("list_requests", "requests")] {
        let arguments = json!({"project": "A"});
        let arguments = if tool == "list_runs" {
            arguments
        } else {
            json!({})
        };
        assert_eq!(
            other.call(tool, &arguments)["data"][list],
            json!([]),
            "{tool}"
        );
        let seen = own.call(tool, &json!({}));
        let count = seen["data"][list].as_array().map(Vec::len);
        assert_eq!(count, Some(1), "{seen:#}");
    }
    ok(&own.call("get_run", &json!({"run_id": "l"})));
    // Nor is its work done by the programs of another one.
    let mut elsewhere = statemark(&scratch.path.join("b"));
    elsewhere.args(["agent", "run", "l", "--store", "../shared.db"]);
    let said = in_time(elsewhere);
    assert_eq!(said.code, 2, "{}", said.stdout);
    assert!(
        said.stderr.contains("a run of another project"),
        "{}",
        said.stderr
    );
}

#[test]
fn h1_giving_a_run_up_releases_nobody() {
    let scratch = project("attack-h1-cancel");
    let mut agent = agent(&scratch);
    let cancel = json!({"run_id": "s", "action": "cancel"});
    ok(&agent.call("start_run", &start("strict", "s")));
    ok(&agent.call("control_run", &cancel));
    // Neither without a run, nor with one that came later.
    held(
        &agent.call("read_document", &json!({"name": "lax.md"})),
        "given_up",
        "s",
    );
    ok(&agent.call("start_run", &start("lax", "l")));
    held(&agent.call("read_document", &read()), "given_up", "s");
    // The same workflow, begun again and completed, does.
    ok(&agent.call("start_run", &start("strict", "again")));
    held(
        &agent.call("read_document", &read()),
        "not_granted",
        "again",
    );
    for event in ["unlock", "finish"] {
        ok(&agent.call("send_event", &json!({"run_id": "again", "event": event})));
    }
    ok(&agent.call("read_document", &read()));
}

#[test]
fn h1_a_person_releases_who_has_given_a_run_up() {
    let scratch = project("attack-h1-release");
    let mut agent = agent(&scratch);
    ok(&agent.call("start_run", &start("strict", "s")));
    ok(&agent.call("start_run", &start("lax", "l")));
    let cancel = json!({"run_id": "s", "action": "cancel"});
    ok(&agent.call("control_run", &cancel));
    // Once more by the agent changes nothing, nor by a command of its own.
    ok(&agent.call("control_run", &cancel));
    attacked(&scratch, &["cancel", "s"]);
    held(&agent.call("read_document", &read()), "given_up", "s");
    let released = perform(&Run::new("AS=ann statemark cancel s"), &scratch.path);
    assert_eq!(released.code, 0, "{}", released.stderr);
    ok(&agent.call("read_document", &read()));
}

#[test]
fn h1_another_connection_is_the_same_caller() {
    let scratch = project("attack-h1-again");
    let mut first = agent(&scratch);
    ok(&first.call("start_run", &start("strict", "s")));
    first.kill();
    drop(first);
    let mut second = agent(&scratch);
    ok(&second.call("start_run", &start("lax", "l")));
    held(&second.call("read_document", &read()), "not_granted", "s");
    // Over HTTP, on the same machine and without tokens, too.
    let server = Listening::start(&scratch.path, &TOOLS);
    held(
        &server.call("read_document", &read(), ""),
        "not_granted",
        "s",
    );
}

#[test]
fn h1_a_token_is_one_caller_in_all_its_sessions() {
    let scratch = project("attack-h1-token");
    let header = |words: &str| {
        let token = token(&scratch.path, words);
        format!("Authorization: Bearer {token}\r\n")
    };
    let bot = header("bot --role agent");
    let other = header("other --role agent");
    let many = header("many --role agent --many-runs");
    let server = Listening::start(&scratch.path, &TOOLS);
    ok(&server.call("start_run", &start("strict", "s"), &bot));
    ok(&server.call("start_run", &start("lax", "l"), &other));
    // A run that somebody else has begun binds whoever acts on it.
    ok(&server.call("read_document", &read(), &other));
    held(
        &server.call("read_document", &read(), &bot),
        "not_granted",
        "s",
    );
    let unknown = json!({"run_id": "s", "event": "lock"});
    let refused = server.call("send_event", &unknown, &other);
    assert_eq!(refused["ok"], false, "{refused:#}");
    held(
        &server.call("read_document", &read(), &other),
        "not_granted",
        "s",
    );
    // Another server, and the older protocol with a session of its own.
    drop(server);
    let server = Listening::start(&scratch.path, &TOOLS);
    let session = server.begin_session(&bot);
    let params = json!({"name": "read_document", "arguments": read()});
    let headers = format!("{session}{bot}");
    let answer = server.ask_older("tools/call", &params, &headers).json();
    held(&answer["result"]["structuredContent"], "not_granted", "s");
    // A person has said so of this one: it is judged by the run that it names.
    ok(&server.call("read_document", &read(), &many));
    let strict = json!({"name": "lax.md", "run_id": "s"});
    let answer = server.call("read_document", &strict, &many);
    assert_eq!(answer["error"]["code"], "not_granted", "{answer:#}");
    // The token of a session file is everybody's, and another one at each start.
    let session: Value =
        serde_json::from_str(&std::fs::read_to_string(server.session_file()).unwrap()).unwrap();
    let shared = &session["mcpServers"]["statemark"]["headers"]["Authorization"];
    let shared = format!("Authorization: {}\r\n", shared.as_str().unwrap());
    held(
        &server.call("read_document", &read(), &shared),
        "not_granted",
        "s",
    );
}

/// Taking a run back by an option of another tool is as much the state's to grant as by the tool for it.
#[test]
fn second_no_option_gets_by_what_a_state_grants() {
    let scratch = project("attack-second-option");
    let mut agent = Client::start(&scratch.path, &[".", "--profile", "smithers"]);
    let mut call = |tool: &str, arguments: Value| {
        let answer = agent.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        answer["result"]["structuredContent"].clone()
    };
    let begun = call(
        "run_workflow",
        json!({"workflowId": "strict", "runId": "s"}),
    );
    assert_eq!(begun["ok"], true, "{begun}");
    // The run has a second record that could be taken back.
    done(&scratch, &["ask", "s", "well?", "--kind", "confirm"]);
    for (tool, arguments) in [
        (
            "rewind_run",
            json!({"runId": "s", "frameNo": 1, "confirm": true}),
        ),
        (
            "run_workflow",
            json!({"workflowId": "strict", "runId": "s", "force": true, "confirm": true}),
        ),
    ] {
        let answer = call(tool, arguments);
        assert_eq!(answer["error"]["code"], "UNAUTHORIZED", "{tool}: {answer}");
        let inbox = done(&scratch, &["inbox"]).stdout;
        assert!(inbox.contains("well?"), "{tool}: {inbox}");
    }
}

#[test]
fn h1_profiles_hold_their_callers_as_well() {
    let scratch = project("attack-h1-profiles");
    let sets = [
        ".",
        "--profile",
        "statewright,rstn",
        "--toolsets",
        "project",
    ];
    let mut agent = Client::start(&scratch.path, &sets);
    let mut call = |tool: &str, arguments: Value| {
        let answer = agent.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        (result["isError"] == true, text.to_owned())
    };
    let load = |name: &str| json!({"name": name, "session_id": name});
    for name in ["strict", "lax"] {
        let (failed, text) = call("statewright_load_workflow", load(name));
        assert!(!failed, "{text}");
    }
    let (_, text) = call("statewright_deactivate", json!({"session_id": "strict"}));
    assert!(text.contains("\"released\":false"), "{text}");
    for (tool, arguments) in [
        ("rstn_run_hook", json!({"hook_name": "words"})),
        ("read_document", json!({"name": "lax.md"})),
    ] {
        let (failed, text) = call(tool, arguments);
        assert!(
            failed && text.contains("an agent gave up run"),
            "{tool}: {text}"
        );
    }
}
