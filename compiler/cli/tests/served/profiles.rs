//! The profiles over HTTP, in both eras of the protocol: each has the tools that it has over standard input and output, they
//! do what they are for, and what they answer depends neither on the way nor on the era.

use serde_json::{Value, json};

use super::client::Client;
use super::raw::Listening;
use crate::keeping::said;
use crate::shell::Scratch;

const SPEC: &str = "stateDiagram-v2\n    [*] --> planning\n    planning --> building : planned\n    building --> [*] : built\n";

const TASKS: &str = "# Tasks\n\n- [ ] T001 sew the hull\n- [ ] T002 fill it\n";

/// Calls: the tool, its arguments, and what is in its answer.
type Calls = &'static [(&'static str, &'static str, &'static str)];

/// Asks a server: the method and its parameters.
type Ask = Box<dyn FnMut(&str, Value) -> Value>;

/// The profiles, each with calls of which some write and some read.
const PROFILES: [(&str, Calls); 4] = [
    (
        "statewright",
        &[
            ("statewright_list_workflows", "{}", "develop"),
            ("statewright_get_state", "{}", "planning"),
            (
                "statewright_transition",
                r#"{"event": "planned"}"#,
                "building",
            ),
            ("statewright_get_state", "{}", "building"),
            (
                "statewright_load_workflow",
                r#"{"name": "develop"}"#,
                "planning",
            ),
            ("statewright_deactivate", "{}", "deactivated"),
        ],
    ),
    (
        "smithers",
        &[
            ("list_workflows", "{}", "develop"),
            (
                "run_workflow",
                r#"{"workflowId": "develop", "runId": "r2"}"#,
                "r2",
            ),
            ("list_runs", r#"{"status": "running"}"#, "r2"),
            ("get_run", r#"{"runId": "r2"}"#, "planning"),
            ("run_workflow", r#"{"workflowId": "develop"}"#, "planning"),
        ],
    ),
    (
        "ralph",
        &[
            (
                "ralph_submit_plan_section",
                r#"{"section": "summary", "content": "\"Sew, then fly\""}"#,
                "summary",
            ),
            ("ralph_get_plan_draft", "{}", "summary"),
            ("report_progress", r#"{"status": "half of it is sewn"}"#, ""),
        ],
    ),
    (
        "rstn",
        &[
            ("rstn_get_context", "{}", "060-zeppelin"),
            ("rstn_complete_task", r#"{"task_id": "T001"}"#, "T001"),
            ("rstn_read_spec", r#"{"artifact": "tasks"}"#, "[x] T001"),
            (
                "rstn_report_status",
                r#"{"status": "error", "message": "no linen"}"#,
                "",
            ),
            ("rstn_get_app_state", "{}", "develop"),
        ],
    ),
];

/// How a client speaks to the server.
#[derive(Clone, Copy, Debug)]
enum Way {
    Lines,
    Older,
    Newer,
}

/// A folder with a project and a run. It always lies at the same place, so that answers don't depend on that.
fn project() -> Scratch {
    let scratch = Scratch::new("served-profiles");
    scratch.write("develop.mmd", SPEC);
    scratch.write("specs/060-zeppelin/spec.md", "# Zeppelin\n\nIt flies.\n");
    scratch.write("specs/060-zeppelin/tasks.md", TASKS);
    scratch.write(".git/HEAD", "ref: refs/heads/060-zeppelin\n");
    let start = "STATEMARK_NOW=1800000000000 statemark start develop --run-id r1";
    said(&scratch, start, 0);
    scratch
}

/// What is told on one way: the tools, and the answers to the calls.
fn tools_and_answers(way: Way, profile: &str, calls: Calls) -> (Value, Vec<[String; 3]>) {
    let scratch = project();
    let options = ["--profile", profile];
    let mut ask: Ask = match way {
        Way::Lines => {
            let mut client = Client::start(&scratch.path, &options);
            Box::new(move |method, params| client.ask(method, &params))
        }
        Way::Older => {
            let server = Listening::start(&scratch.path, &options);
            let session = server.begin_session("");
            Box::new(move |method, params| server.ask_older(method, &params, &session).json())
        }
        Way::Newer => {
            let server = Listening::start(&scratch.path, &options);
            Box::new(move |method, params| server.ask(method, &params, "").json())
        }
    };
    let tools = ask("tools/list", json!({}))["result"]["tools"].take();
    let mut answers = Vec::new();
    for (tool, arguments, expected) in calls {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let answer = ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{way:?} {tool}: {answer}"));
        assert!(
            answer["result"]["isError"] != true && text.contains(expected),
            "{way:?} {tool}: {text}"
        );
        let fields = answer["result"]["structuredContent"].to_string();
        answers.push([(*tool).to_owned(), without_ids(text), without_ids(&fields)]);
    }
    (tools, answers)
}

/// A text with `ID` for each id that was made up.
fn without_ids(text: &str) -> String {
    let is_end = |it: char| it != '-' && !it.is_ascii_hexdigit();
    let parts = text.split_inclusive(is_end).map(|part| {
        let word = part.trim_end_matches(is_end);
        let groups = word.split('-').map(str::len);
        if groups.eq([8, 4, 4, 4, 12]) {
            part.replacen(word, "ID", 1)
        } else {
            part.to_owned()
        }
    });
    parts.collect()
}

#[test]
fn profiles_are_the_same_on_every_way() {
    for (profile, calls) in PROFILES {
        let (tools, lines) = tools_and_answers(Way::Lines, profile, calls);
        let reads = |tool: &str| -> bool {
            let tools = tools.as_array().unwrap();
            let found = tools.iter().find(|it| it["name"] == tool);
            let found = found.unwrap_or_else(|| panic!("{profile} lists no {tool}"));
            found["annotations"]["readOnlyHint"] == true
        };
        let reading = calls.iter().filter(|(tool, ..)| reads(tool)).count();
        assert!(reading > 0 && reading < calls.len(), "{profile}");
        for way in [Way::Older, Way::Newer] {
            let (listed, answers) = tools_and_answers(way, profile, calls);
            assert_eq!(listed, tools, "{profile} {way:?}");
            for (answer, line) in answers.iter().zip(&lines) {
                assert_eq!(answer, line, "{profile} {way:?}");
            }
        }
    }
}
