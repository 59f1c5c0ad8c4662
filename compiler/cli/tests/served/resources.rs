//! What clients read: resources, prompts, completion; and that authority holds for them as it does for tools.

use serde_json::{Value, json};

use super::client::Client;
use crate::shell::Scratch;

/// A workflow with everything that can be read of one.
pub(crate) const DESK: &str = r#"# Desk

## STATE-MACHINE: desk

```mermaid
stateDiagram-v2
    [*] --> writing
    writing --> checking : done
    checking --> writing : reject
    checking --> published : accept
```

```json definition
{
  "title": "A desk",
  "description": "Write, and have it checked.",
  "artifacts": {"text": {"required_sections": ["Aim"]}},
  "states": {
    "writing": {"requires": ["text"], "capabilities": ["artifact.submit"]},
    "checking": {
      "capabilities": [],
      "on": {"accept": {"target": "published", "requires_approval": true}}
    },
    "published": {"type": "final"}
  }
}
```

### `writing`

Write the text.

### `checking`

Wait for the editor.
"#;

pub(crate) fn desk(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("desk.md", DESK);
    scratch
}

fn read(client: &mut Client, uri: &str) -> Value {
    let answer = client.ask("resources/read", &json!({"uri": uri}));
    match answer.pointer("/result/contents/0") {
        Some(content) => content.clone(),
        None => answer["error"].clone(),
    }
}

#[test]
fn documentation_is_listed_last_and_leads_to_all_of_it() {
    let scratch = desk("served-documentation");
    let mut client = Client::start(&scratch.path, &[]);
    let listed = client.ask("resources/list", &json!({}));
    let entries: Vec<(&str, &str)> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["uri"].as_str().unwrap(), it["title"].as_str().unwrap()))
        .skip_while(|(uri, _)| !uri.starts_with("statemark://docs/"))
        .collect();
    assert_eq!(
        entries,
        [
            ("statemark://docs/architecture", "Architecture"),
            ("statemark://docs/book/agents", "Serving agents"),
            ("statemark://docs/book/comparison", "Beside other tools"),
            ("statemark://docs/book/dashboard", "The dashboard"),
            ("statemark://docs/book/decisions", "Decisions"),
            ("statemark://docs/book/editors", "Editors"),
            (
                "statemark://docs/book/executors",
                "Runs that go on by themselves",
            ),
            ("statemark://docs/book/findings", "Findings"),
            ("statemark://docs/book/hooks", "An agent's own tools"),
            ("statemark://docs/book/install", "Installing"),
            ("statemark://docs/book/packs", "Tools for an agent's work"),
            (
                "statemark://docs/book/proofs",
                "Proofs: does it always end?"
            ),
            ("statemark://docs/book/runs", "Runs"),
            ("statemark://docs/book/rust", "Embedding in Rust"),
            ("statemark://docs/book/servers", "Other servers"),
            ("statemark://docs/book/specs", "What a spec can say"),
            ("statemark://docs/book/stores", "Stores"),
            ("statemark://docs/book/trust", "What an agent can't do"),
            ("statemark://docs/commands", "Commands"),
            ("statemark://docs/configuration", "Configuration"),
            ("statemark://docs/containers", "Containers"),
            (
                "statemark://docs/examples/bugfix_agent",
                "A skill that keeps an agent in order"
            ),
            ("statemark://docs/examples/night_shift", "Night shift"),
            ("statemark://docs/examples/order", "Order"),
            ("statemark://docs/examples/paper", "A paper"),
            ("statemark://docs/examples/player", "Player"),
            ("statemark://docs/examples/release_notes", "Release notes"),
            ("statemark://docs/examples/traffic_light", "Traffic light"),
            ("statemark://docs/examples/triage", "Triage"),
            ("statemark://docs/examples/turnstile", "Turnstile"),
            ("statemark://docs/exit-codes", "Exit codes"),
            ("statemark://docs/keys", "Keys of a definition"),
            (
                "statemark://docs/mermaid",
                "Where Statemark differs from Mermaid"
            ),
            (
                "statemark://docs/profile/ralph",
                "Ralph Workflow's tools: where they depart from its document"
            ),
            (
                "statemark://docs/profile/rp1",
                "rp1's reports, and where `emit` departs from its document"
            ),
            (
                "statemark://docs/profile/rstn",
                "rstn's tools: where they depart from its document"
            ),
            (
                "statemark://docs/profile/smithers",
                "Smithers' tools: where they depart from its document"
            ),
            (
                "statemark://docs/profile/statewright",
                "Statewright's tools, and where they depart from its document"
            ),
            ("statemark://docs/proxies", "Proxies"),
            ("statemark://docs/readme", "Statemark"),
            ("statemark://docs/rules", "Rules"),
            ("statemark://docs/skills", "Skills, agents and workflows"),
            ("statemark://docs/skills/drive-run", "Drive a run"),
            (
                "statemark://docs/skills/drive-run/references/command-line",
                "Driving on the command line"
            ),
            (
                "statemark://docs/skills/drive-run/references/refusals",
                "Refusals"
            ),
            ("statemark://docs/skills/fix-diagnostic", "Fix a diagnostic"),
            (
                "statemark://docs/skills/fix-diagnostic/references/causes",
                "Findings by cause"
            ),
            (
                "statemark://docs/skills/write-state-machine",
                "Write a state machine"
            ),
            (
                "statemark://docs/skills/write-state-machine/references/language",
                "The language in one page"
            ),
            ("statemark://docs/systemd", "A service of systemd"),
            ("statemark://docs/tokens", "Tokens"),
        ]
    );
    let mut linked = 0;
    for (uri, title) in entries {
        let page = read(&mut client, uri);
        assert_eq!(page["mimeType"], "text/markdown");
        let page = page["text"].as_str().unwrap().to_owned();
        assert!(page.contains(&format!("# {title}\n")), "{uri}: {page}");
        for link in page.split("](").skip(1) {
            let link = link.split_once(')').unwrap().0;
            if link.starts_with("statemark://") {
                assert!(!text(&mut client, link).is_empty(), "{link}");
                linked += 1;
            }
        }
    }
    assert!(linked > 100, "{linked}");
}

fn text(client: &mut Client, uri: &str) -> String {
    let content = read(client, uri);
    let text = content["text"].as_str();
    text.unwrap_or_else(|| panic!("{uri}: {content}"))
        .to_owned()
}

#[test]
fn workflows_can_be_read() {
    let scratch = desk("served-workflows");
    let mut client = Client::start(&scratch.path, &[]);
    let listed = client.ask("resources/list", &json!({}));
    let uris: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["uri"].as_str().unwrap())
        .filter(|it| !it.starts_with("statemark://docs/"))
        .collect();
    assert_eq!(
        uris,
        [
            "statemark://workflow/desk",
            "statemark://workflow/desk/artifact/text",
            "statemark://workflow/desk/diagram",
            "statemark://workflow/desk/graph",
            "statemark://workflow/desk/table",
        ]
    );
    let spec = read(&mut client, "statemark://workflow/desk");
    assert_eq!(spec["mimeType"], "text/markdown");
    assert_eq!(spec["text"], DESK);
    let diagram = text(&mut client, "statemark://workflow/desk/diagram");
    assert!(diagram.starts_with("stateDiagram-v2"), "{diagram}");
    let table = text(&mut client, "statemark://workflow/desk/table");
    assert!(table.starts_with("machine desk\n"), "{table}");
    assert_eq!(
        text(&mut client, "statemark://workflow/desk/artifact/text"),
        "# text\n\nThe contract of `desk`.\nStates that need it: `writing`.\n\n\
         ```json\n{\n  \"required_sections\": [\n    \"Aim\"\n  ]\n}\n```\n"
    );
    let state = text(&mut client, "statemark://workflow/desk/state/writing");
    assert!(
        state.starts_with("# writing\n\nWrite the text.\n"),
        "{state}"
    );
    for (uri, code) in [
        ("statemark://workflow/none", "unknown_workflow"),
        ("statemark://workflow/desk/state/none", "unknown_state"),
        (
            "statemark://workflow/desk/artifact/none",
            "unknown_artifact",
        ),
        ("file:///etc/passwd", "unknown_resource"),
        ("statemark://run/none", "unknown_run"),
    ] {
        let error = read(&mut client, uri);
        assert_eq!(error["code"], -32002, "{uri}: {error}");
        assert_eq!(error["data"]["code"], code, "{uri}: {error}");
    }
}

#[test]
fn runs_can_be_read_in_parts() {
    let scratch = desk("served-runs");
    let mut client = Client::start(&scratch.path, &[]);
    client.call("start_run", &json!({"workflow": "desk", "run_id": "r1"}));
    for _ in 0..3 {
        client.call("send_event", &json!({"run_id": "r1", "event": "accept"}));
    }
    let journal = read(&mut client, "statemark://run/r1");
    assert_eq!(journal["mimeType"], "application/jsonl");
    let lines: Vec<Value> = journal["text"]
        .as_str()
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = lines
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["run.started", "refused", "refused", "refused"]);
    assert_eq!(lines[0]["actor"]["name"], "script");
    let first = read(&mut client, "statemark://run/r1?after=0&limit=2");
    assert_eq!(first["text"].as_str().unwrap().lines().count(), 2);
    assert_eq!(
        first["_meta"]["statemark/next"],
        "statemark://run/r1?after=2&limit=2"
    );
    let told = text(&mut client, "statemark://run/r1/transcript?after=3");
    assert!(
        told.starts_with("4  1800000000000  script (agent)  "),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1);
    assert_eq!(
        text(&mut client, "statemark://run/r1/artifacts"),
        r#"{"artifacts":[],"run_id":"r1"}"#
    );
}

#[test]
fn prompts_say_how_a_workflow_is_driven() {
    let scratch = desk("served-prompts");
    let mut client = Client::start(&scratch.path, &[]);
    client.call("start_run", &json!({"workflow": "desk", "run_id": "r1"}));
    let listed = client.ask("prompts/list", &json!({}));
    let listed = listed["result"]["prompts"].as_array().unwrap();
    let names: Vec<&str> = listed
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["author-workflow", "drive-desk"]);
    assert_eq!(listed[1]["title"], "Drive: A desk");
    let asked = json!({"name": "drive-desk", "arguments": {"task": "Write it.", "run_id": "r1"}});
    let prompt = client.ask("prompts/get", &asked);
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert_eq!(
        text,
        "# Drive the workflow `desk`\n\nA desk\n\nWrite, and have it checked.\n\n## The task\n\nWrite it.\n\n\
         ## How\n\n- Continue the run `r1`: it is running in `writing`. `get_run` says what is next.\n\
         - Follow `next.instructions`, with the tools that `next.tools` grants and no others.\n\
         - Move the run with `send_event` and one of the events in `next.legal`. A refusal says what is possible instead: don't work around it.\n\
         - If a person has to approve, the event opens a request. `wait_run` with `until: \"request\"` waits for the answer.\n\
         - If the run is stuck, `explain_run` says why, and what helps.\n\n\
         ## States\n\n### `writing`\n\nWrite the text.\n\n- capabilities: `artifact.submit`\n- hand in before leaving: `text`\n- `done` → `checking`\n\n\
         ### `checking`\n\nWait for the editor.\n\n- capabilities: none\n- `reject` → `writing`\n- `accept` → `published`, **after a person has approved it**\n\n\
         ### `published`\n"
    );
    for (asked, code) in [
        (json!({"name": "drive-none"}), "unknown_prompt"),
        (
            json!({"name": "drive-desk", "arguments": {"to": "x"}}),
            "invalid_arguments",
        ),
        (
            json!({"name": "drive-desk", "arguments": {"run_id": "none"}}),
            "unknown_run",
        ),
    ] {
        let refused = client.ask("prompts/get", &asked);
        assert_eq!(refused["error"]["data"]["code"], code, "{refused}");
    }
}

/// The example in the prompt for authors has no findings.
#[test]
fn the_example_for_authors_is_sound() {
    let scratch = desk("served-author");
    let mut client = Client::start(&scratch.path, &[]);
    let prompt = client.ask("prompts/get", &json!({"name": "author-workflow"}));
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    let (_, behind) = text.split_once("````markdown\n").unwrap();
    let (example, _) = behind.split_once("````\n").unwrap();
    scratch.write("example.md", example);
    crate::keeping::said(&scratch, "statemark lint example.md", 0);
}

#[test]
fn ids_are_completed() {
    let scratch = desk("served-complete");
    let mut client = Client::start(&scratch.path, &[]);
    for run in ["r1", "r2", "s1"] {
        client.call("start_run", &json!({"workflow": "desk", "run_id": run}));
    }
    let state = "statemark://workflow/{workflow}/state/{state}";
    let journal = "statemark://run/{run}{?after,limit}";
    let contract = "statemark://workflow/{workflow}/artifact/{artifact}";
    let resource = |uri: &str| json!({"type": "ref/resource", "uri": uri});
    let prompt = |name: &str| json!({"type": "ref/prompt", "name": name});
    for (of, argument, begun, others, values) in [
        (
            resource(state),
            "workflow",
            "de",
            json!({}),
            json!(["desk"]),
        ),
        (
            resource(state),
            "state",
            "",
            json!({"workflow": "desk"}),
            json!(["checking", "published", "writing"]),
        ),
        (
            resource(state),
            "state",
            "",
            json!({"workflow": "none"}),
            json!([]),
        ),
        (
            resource(contract),
            "artifact",
            "t",
            json!({"workflow": "desk"}),
            json!(["text"]),
        ),
        (
            resource(journal),
            "run",
            "r",
            json!({}),
            json!(["r1", "r2"]),
        ),
        (
            prompt("drive-desk"),
            "run_id",
            "s",
            json!({}),
            json!(["s1"]),
        ),
        (
            prompt("author-workflow"),
            "workflow",
            "",
            json!({}),
            json!(["desk"]),
        ),
        (prompt("drive-desk"), "task", "", json!({}), json!([])),
    ] {
        let asked = json!({
            "ref": of,
            "argument": {"name": argument, "value": begun},
            "context": {"arguments": others},
        });
        let answer = client.ask("completion/complete", &asked);
        assert_eq!(answer["result"]["completion"]["values"], values, "{asked}");
    }
}

#[test]
fn a_caller_bound_to_a_run_reads_no_other() {
    let scratch = desk("served-bound");
    let mut client = Client::start(&scratch.path, &[]);
    for run in ["mine", "theirs"] {
        client.call("start_run", &json!({"workflow": "desk", "run_id": run}));
    }
    let mut bound = Client::start(&scratch.path, &["--run", "mine"]);
    for uri in [
        "statemark://run/theirs",
        "statemark://run/theirs/transcript",
        "statemark://run/theirs/artifacts",
        "statemark://run/theirs/artifacts/text",
    ] {
        let error = read(&mut bound, uri);
        assert_eq!(error["data"]["code"], "other_run", "{uri}: {error}");
        let subscribed = bound.ask("resources/subscribe", &json!({"uri": uri}));
        assert_eq!(subscribed["error"]["data"]["code"], "other_run", "{uri}");
    }
    let asked = json!({"name": "drive-desk", "arguments": {"run_id": "theirs"}});
    let refused = bound.ask("prompts/get", &asked);
    assert_eq!(refused["error"]["data"]["code"], "other_run");
    let listed = bound.ask("resources/list", &json!({}));
    let listed = listed["result"].to_string();
    assert!(
        listed.contains("run/mine") && !listed.contains("theirs"),
        "{listed}"
    );
    let asked = json!({
        "ref": {"type": "ref/resource", "uri": "statemark://run/{run}{?after,limit}"},
        "argument": {"name": "run", "value": ""},
    });
    let completed = bound.ask("completion/complete", &asked);
    assert_eq!(completed["result"]["completion"]["values"], json!(["mine"]));
    // What was tried is in the journal of the run that the caller may touch.
    let refused = bound.call("get_run", &json!({"run_id": "theirs"}));
    assert_eq!(refused["error"]["code"], "other_run");
    let journal = text(&mut bound, "statemark://run/mine");
    assert!(
        journal.lines().last().unwrap().contains("`mine` only"),
        "{journal}"
    );
}

#[test]
fn what_scopes_tools_scopes_what_can_be_read() {
    let scratch = desk("served-scope");
    crate::keeping::said(&scratch, "statemark start desk --run-id r1", 0);
    let listed = |client: &mut Client, method: &str, key: &str, name: &str| -> Vec<String> {
        let answer = client.ask(method, &json!({}));
        let all = answer["result"][key].as_array().unwrap().clone();
        let names = all.iter().map(|it| it[name].as_str().unwrap().to_owned());
        names.filter(|it| !it.contains("://docs/")).collect()
    };
    // What is offered, what can be read by it, and what can't.
    let journal = [
        "statemark://run/r1",
        "statemark://run/r1/transcript",
        "statemark://run/r1/graph",
    ];
    let spec = [
        "statemark://workflow/desk",
        "statemark://workflow/desk/diagram",
        "statemark://workflow/desk/table",
        "statemark://workflow/desk/state/writing",
        "statemark://workflow/desk/artifact/text",
        "statemark://workflow/desk/graph",
    ];
    let artifacts = ["statemark://run/r1/artifacts"];
    let all = [&journal[..], &spec, &artifacts].concat();
    for (flags, good, templates) in [
        (["--allowed-tools", "list_runs"], vec![], 0),
        (["--allowed-tools", "get_events"], journal.to_vec(), 3),
        (["--allowed-tools", "describe_workflow"], spec.to_vec(), 6),
        (["--allowed-tools", "get_artifact"], artifacts.to_vec(), 3),
        (["--toolsets", "artifacts"], vec![spec[4], artifacts[0]], 4),
        (["--toolsets", "runs"], [&journal[..], &spec].concat(), 9),
        (["--toolsets", "runs,artifacts"], all.clone(), 12),
    ] {
        let mut client = Client::start(&scratch.path, &flags);
        for uri in &all {
            let content = read(&mut client, uri);
            let is_read = content.get("code").is_none();
            assert_eq!(is_read, good.contains(uri), "{flags:?} {uri}: {content}");
            if !is_read {
                assert_eq!(content["data"]["code"], "not_offered", "{content}");
            }
            let told = client.ask("resources/subscribe", &json!({"uri": uri}));
            assert_eq!(told.get("error").is_none(), is_read, "{flags:?} {uri}");
        }
        for uri in listed(&mut client, "resources/list", "resources", "uri") {
            assert!(good.contains(&&*uri), "{flags:?} {uri}");
        }
        let shown = listed(
            &mut client,
            "resources/templates/list",
            "resourceTemplates",
            "uriTemplate",
        );
        assert_eq!(shown.len(), templates, "{flags:?} {shown:?}");
    }
    let mut client = Client::start(&scratch.path, &["--allowed-tools", "list_workflows"]);
    let prompts = listed(&mut client, "prompts/list", "prompts", "name");
    assert_eq!(prompts, ["author-workflow"]);
    let author = json!({"name": "author-workflow", "arguments": {"workflow": "desk"}});
    let told = client.ask("prompts/get", &author);
    assert_eq!(told["error"]["data"]["code"], "not_offered", "{told}");
}
