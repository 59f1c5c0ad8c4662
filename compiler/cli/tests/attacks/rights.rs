//! The table of rights, asked at every front end: one deed gets one refusal, whoever carries it there.
//!
//! The table is that of the code ([`Right`]): a right without a deed here doesn't compile. A deed is asked for by each role,
//! over MCP (both eras, both transports), the API, the tools of profiles that do the same, and by command. A caller without
//! the right is refused by one code; one with it is refused, if at all, for another reason.

use serde_json::{Value, json};
use statemark_runs::{Right, Role};

use super::{attacked, done, in_time};
use crate::served::client::Client;
use crate::served::raw::Listening;
use crate::shell::{Scratch, statemark, token};

/// A payment that somebody has to approve.
const PAY: &str = "# Pay\n\n## STATE-MACHINE: pay\n\n```mermaid\nstateDiagram-v2\n    [*] --> asked\n    asked --> [*] : accept\n```\n\n```json definition\n{\"id\": \"pay\", \"states\": {\"asked\": {\"on\": {\"accept\": {\"requires_approval\": true}}}}}\n```\n";

/// A workflow that there isn't yet.
const NEW: &str = "# New\n\n## STATE-MACHINE: new\n\n```mermaid\nstateDiagram-v2\n    [*] --> a\n    a --> [*] : go\n```\n";

/// All our own tools, and those of profiles whose names don't clash with them.
const SETS: [&str; 4] = [
    "--toolsets",
    "runs,human,artifacts,time,author,project,agent",
    "--profile",
    "statewright,rstn",
];

const ROLES: [Role; 3] = [Role::Observer, Role::Agent, Role::Person];

/// A way to ask for a deed.
enum Way {
    /// A tool of MCP.
    Tool(&'static str, Value),
    /// A path of the API: read without a body, else posted to.
    Api(String, Option<Value>),
    /// A command.
    Command(Vec<String>),
}

/// Returns the ways to ask for a deed that needs a right.
///
/// `run` is a run with the open request `request`; `name` is one that nothing has yet.
fn ways(right: Right, run: &str, request: &str, name: &str) -> Vec<Way> {
    let command = |words: &str| Way::Command(words.split(' ').map(str::to_owned).collect());
    let create = |definition: Value| {
        let mut whole = json!({"id": name, "initial": "a", "states": {"a": {"type": "final"}}});
        for (key, value) in definition.as_object().into_iter().flatten() {
            whole[key] = value.clone();
        }
        json!({"name": name, "definition": whole})
    };
    match right {
        Right::See => vec![
            Way::Tool("get_run", json!({"run_id": run})),
            Way::Api(format!("/api/runs/{run}"), None),
            command(&format!("state {run}")),
        ],
        Right::Drive => vec![
            Way::Tool("send_event", json!({"run_id": run, "event": "note"})),
            Way::Tool("statewright_transition", json!({"event": "note"})),
            Way::Tool("rstn_report_status", json!({"status": "started"})),
            Way::Api(
                format!("/api/runs/{run}/events"),
                Some(json!({"event": "note"})),
            ),
            command(&format!("send {run} note")),
        ],
        Right::Author => vec![
            Way::Tool(
                "create_workflow",
                json!({"name": name, "markdown": NEW.replace("new", name)}),
            ),
            Way::Tool("statewright_create_workflow", create(json!({}))),
        ],
        Right::Accept => {
            let checks = json!({"checks": {"c": {"command": ["true"]}}});
            vec![
                Way::Tool(
                    "create_workflow",
                    json!({"name": "old", "markdown": NEW.replace("new", "old"), "overwrite": true}),
                ),
                Way::Tool("create_workflow", create(checks.clone())),
                Way::Tool("statewright_create_workflow", create(checks)),
                command("accept --accept-all"),
            ]
        }
        Right::Decide => vec![
            Way::Tool(
                "resolve_request",
                json!({"request_id": request, "action": "approve"}),
            ),
            Way::Api(
                format!("/api/requests/{request}"),
                Some(json!({"action": "approve"})),
            ),
            command(&format!("approve {request}")),
        ],
        Right::Keep => vec![
            command("store prune --keep 1000 --yes"),
            command("store import one.jsonl"),
        ],
        Right::Tokens => vec![
            command(&format!("token create {name} --role observer")),
            command("token revoke nobody"),
        ],
    }
}

/// The code of the refusal of a role without the right, and what each text of it says.
fn refusal(right: Right, role: Role) -> Option<(&'static str, &'static str)> {
    if right.is_granted(role) {
        None
    } else if role == Role::Observer {
        Some(("read_only", "only reads"))
    } else {
        Some(("not_a_person", "person"))
    }
}

/// What came of a deed: the code of the error if the front end has codes, and the text.
struct Told {
    way: String,
    code: Option<String>,
    text: String,
}

/// A deed's callers: one connection for each role and front end.
struct Callers {
    older: Client,
    newer: Client,
    header: String,
    session: String,
    token: String,
}

impl Callers {
    fn new(scratch: &Scratch, server: &Listening, role: Role) -> Self {
        let name = role.name();
        let token = token(&scratch.path, &format!("{name} --role {name}"));
        let sets = [&["."], &SETS[..]].concat();
        let header = format!("Authorization: Bearer {token}\r\n");
        Self {
            older: Client::with_token(&scratch.path, &sets, &token),
            newer: Client::with_token(&scratch.path, &sets, &token),
            session: server.begin_session(&header),
            header,
            token,
        }
    }

    /// Asks for a deed in a way. Over standard input and output everybody who may write is an agent.
    fn ask(&mut self, scratch: &Scratch, server: &Listening, way: &Way, stdio: bool) -> Vec<Told> {
        match way {
            Way::Tool(tool, arguments) => {
                let params = json!({"name": tool, "arguments": arguments});
                let tell = |era: &str, answer: &Value| told(&format!("{tool}, {era}"), answer);
                if stdio {
                    return vec![
                        tell("older, stdio", &self.older.ask("tools/call", &params)),
                        tell("newer, stdio", &self.newer.ask_newer("tools/call", &params)),
                    ];
                }
                let headers = format!("{}{}", self.session, self.header);
                let older = server.ask_older("tools/call", &params, &headers).json();
                let newer = server.ask("tools/call", &params, &self.header).json();
                vec![tell("older, HTTP", &older), tell("newer, HTTP", &newer)]
            }
            _ if stdio => Vec::new(),
            Way::Api(path, body) => {
                let answer = match body {
                    Some(body) => server.post(path, &self.header, body),
                    None => server.get(path, &self.header),
                };
                let json = answer.json();
                vec![Told {
                    way: path.clone(),
                    code: Some(json["error"]["code"].as_str().unwrap_or("none").to_owned()),
                    text: json.to_string(),
                }]
            }
            Way::Command(words) => {
                let mut command = statemark(&scratch.path);
                command.args(words).env("STATEMARK_TOKEN", &self.token);
                let said = in_time(command);
                vec![Told {
                    way: words.join(" "),
                    code: None,
                    text: format!("{}{}", said.stdout, said.stderr),
                }]
            }
        }
    }
}

/// Reads the answer of a tool: one of our own has a code, one of a profile a text alone.
fn told(way: &str, answer: &Value) -> Told {
    let result = &answer["result"];
    let code = result["structuredContent"].get("ok").map(|_| {
        let code = &result["structuredContent"]["error"]["code"];
        code.as_str().unwrap_or("none").to_owned()
    });
    Told {
        way: way.to_owned(),
        code,
        text: answer.to_string(),
    }
}

#[test]
fn one_deed_gets_one_refusal_at_every_front_end() {
    let scratch = Scratch::new("attack-rights");
    scratch.write("pay.md", PAY);
    let old = NEW.replace("new", "old").replace("go", "gone");
    scratch.write("old.md", &old);
    ask(&scratch, "r0");
    done(&scratch, &["cancel", "r0"]);
    done(&scratch, &["store", "export", "one.jsonl"]);
    let sets = [&["."], &SETS[..]].concat();
    let server = Listening::start(&scratch.path, &sets);
    let mut number = 0;
    let mut refused = 0;
    for role in ROLES {
        let mut callers = Callers::new(&scratch, &server, role);
        for right in Right::ALL {
            for at in 0..ways(right, "", "", "").len() {
                for stdio in [true, false] {
                    number += 1;
                    let (run, name) = (format!("r{number}"), format!("n{number}"));
                    let request = ask(&scratch, &run);
                    let way = ways(right, &run, &request, &name).swap_remove(at);
                    // An agent starts the server over standard input and output, whatever the token.
                    let acting = if stdio { role.min(Role::Agent) } else { role };
                    for told in callers.ask(&scratch, &server, &way, stdio) {
                        let who = format!("{right:?}, {acting:?}, {}: {}", told.way, told.text);
                        refused += u32::from(refusal(right, acting).is_some());
                        check(&told, refusal(right, acting), &who);
                    }
                    // Profiles mean the only live run. One that a person has approved is over.
                    attacked(&scratch, &["cancel", &run]);
                }
            }
        }
    }
    assert!(refused > 40, "{refused}");
}

fn check(told: &Told, refusal: Option<(&str, &str)>, who: &str) {
    match (refusal, &told.code) {
        (Some((code, text)), found) => {
            assert!(found.as_ref().is_none_or(|found| found == code), "{who}");
            assert!(told.text.contains(text), "{who}");
        }
        (None, Some(found)) => {
            let of_rights = ["read_only", "not_a_person", "unauthorized"];
            assert!(!of_rights.contains(&found.as_str()), "{who}");
        }
        (None, None) => {
            let of_rights = ["only reads", "isn't a person"];
            assert!(of_rights.iter().all(|it| !told.text.contains(it)), "{who}");
        }
    }
}

/// Starts a payment, and asks for its approval: the request's id.
fn ask(scratch: &Scratch, run: &str) -> String {
    done(
        scratch,
        &["start", "pay", "--run-id", run, "--specs", "pay.md"],
    );
    let asked = attacked(scratch, &["send", run, "accept"]);
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    let json = done(scratch, &["inbox", "--json"]).stdout;
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    first["request"].as_str().unwrap().to_owned()
}

/// What an observer is refused doesn't depend on the tool: every one that writes, of every set, says the same.
#[test]
fn an_observer_writes_by_no_tool_of_any_set() {
    let scratch = Scratch::new("attack-observer");
    scratch.write("pay.md", PAY);
    let eve = token(&scratch.path, "eve --role observer");
    let mut writing = 0;
    for sets in [
        [
            "--toolsets",
            "runs,human,artifacts,time,author,project,agent",
        ],
        ["--profile", "statewright"],
        ["--profile", "smithers"],
        ["--profile", "ralph"],
        ["--profile", "rstn"],
    ] {
        let sets = [&["."], &sets[..]].concat();
        let mut agent = Client::start(&scratch.path, &sets);
        let mut observer = Client::with_token(&scratch.path, &sets, &eve);
        let listed = agent.ask("tools/list", &json!({}));
        for tool in listed["result"]["tools"].as_array().unwrap() {
            if tool["annotations"]["readOnlyHint"] == true {
                continue;
            }
            writing += 1;
            let name = &tool["name"];
            let answer = observer.ask("tools/call", &json!({"name": name, "arguments": {}}));
            let text = answer.to_string();
            assert_eq!(answer["result"]["isError"], true, "{name}: {text}");
            assert!(text.contains("eve (observer) only reads"), "{name}: {text}");
        }
    }
    assert!(writing > 30, "{writing}");
    assert_eq!(done(&scratch, &["runs"]).stdout, "");
}
