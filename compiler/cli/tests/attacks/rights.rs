//! The table of rights, asked at every front end: one deed gets one refusal, whoever carries it there.
//!
//! The table is that of the code ([`Right`]): a right without a deed here doesn't compile. A deed is asked for by each role,
//! over MCP (both eras, both transports), the API, the tools of profiles that do the same, and by command. A caller without
//! the right is refused by one code; one with it is refused, if at all, for another reason.
//!
//! Where an answer has no code (tools whose document gives errors as texts), its words are those that go with the code.

use serde_json::{Value, json};
use statemark_runs::{Right, Role};

use super::{attacked, done, in_time};
use crate::served::client::Client;
use crate::served::raw::Listening;
use crate::shell::{Scratch, statemark, token};

/// A payment that somebody has to approve.
///
/// States may be set by hand.
const PAY: &str = "# Pay\n\n## STATE-MACHINE: pay\n\n```mermaid\nstateDiagram-v2\n    [*] --> asked\n    asked --> [*] : accept\n```\n\n```json definition\n{\"id\": \"pay\", \"meta\": {\"debug\": true}, \"states\": {\"asked\": {\"on\": {\"accept\": {\"requires_approval\": true}}}}}\n```\n";

/// A workflow that there isn't yet.
const NEW: &str = "# New\n\n## STATE-MACHINE: new\n\n```mermaid\nstateDiagram-v2\n    [*] --> a\n    a --> [*] : go\n```\n";

/// All our own tools, and those of profiles whose names don't clash with them.
const SETS: [&str; 4] = [
    "--toolsets",
    "runs,human,artifacts,time,author,project,agent",
    "--profile",
    "statewright,rstn",
];

/// Tools of profiles that have names of ours.
const OTHER_SETS: [&str; 2] = ["--profile", "smithers,ralph"];

/// What is said to somebody who only reads, and to somebody who isn't a person, where nothing has a code.
const WORDS: [(&str, &[&str]); 2] = [
    (
        "read_only",
        &["only reads: this needs the token of an agent or of a person"],
    ),
    (
        "not_a_person",
        &[
            "isn't a person: only one may",
            "a person has to ",
            "only a person ",
        ],
    ),
];

const ROLES: [Role; 3] = [Role::Observer, Role::Agent, Role::Person];

/// A way to ask for a deed.
enum Way {
    /// A tool of MCP.
    Tool(&'static str, Value),
    /// A tool of the server that has [`OTHER_SETS`].
    Other(&'static str, Value),
    /// A path of the API: read without a body, else posted to.
    Api(String, Option<Value>),
    /// A command.
    Command(Vec<String>),
}

impl Way {
    /// Reports whether a person has to have paused the run before.
    fn continues(&self) -> bool {
        match self {
            Self::Tool(_, body) | Self::Other(_, body) | Self::Api(_, Some(body)) => {
                body["action"] == "continue"
            }
            Self::Api(_, None) => false,
            Self::Command(words) => words.first().is_some_and(|it| it == "continue"),
        }
    }

    /// Reports whether it names a run or one of its requests.
    fn names(&self, run: &str) -> bool {
        let is_named = |text: &str| text.split(['"', '/', ':']).any(|word| word == run);
        match self {
            Self::Tool(_, body) | Self::Other(_, body) => is_named(&body.to_string()),
            Self::Api(path, _) => is_named(path),
            Self::Command(words) => words.iter().any(|word| is_named(word)),
        }
    }
}

/// Returns the ways to ask for a deed that needs a right.
///
/// `run` is a run with the open approval `request`, after which it has asked a question; `name` is one that nothing has yet.
fn ways(right: Right, run: &str, request: &str, name: &str) -> Vec<Way> {
    if right == Right::Decide {
        return ways_to_decide(run, request);
    }
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
            Way::Other("report_progress", json!({"status": "begun", "run_id": run})),
            Way::Other(
                "fork_run",
                json!({"parentRunId": run, "frameNo": 1, "runId": name}),
            ),
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
        Right::Decide => Vec::new(),
        Right::Keep => vec![
            command("store prune --keep 1000 --yes"),
            command("store import one.jsonl"),
            command(&format!("store migrate .statemark/runs.db {name}.db")),
            command("store wake"),
        ],
        Right::Tokens => vec![
            command(&format!("token create {name} --role observer")),
            command("token revoke nobody"),
        ],
    }
}

/// Returns the ways to decide: to answer in each way, to set a state by hand, and to continue what a person has paused.
fn ways_to_decide(run: &str, request: &str) -> Vec<Way> {
    let question = question_of(run);
    let mut ways = Vec::new();
    for (action, request) in [
        ("approve", request),
        ("deny", request),
        ("answer", &question),
    ] {
        let mut body = json!({"action": action});
        if action == "answer" {
            body["answer"] = json!("because");
        }
        ways.push(Way::Api(
            format!("/api/requests/{request}"),
            Some(body.clone()),
        ));
        body["request_id"] = json!(request);
        ways.push(Way::Tool("resolve_request", body));
        let value = if action == "answer" { " because" } else { "" };
        ways.push(command(&format!("{action} {request}{value}")));
    }
    for action in ["approve", "deny"] {
        let body = json!({"action": action, "runId": run});
        ways.push(Way::Other("resolve_approval", body));
    }
    for (action, state) in [("force", Some("asked")), ("continue", None)] {
        let mut body = json!({"action": action, "state": state});
        ways.push(Way::Api(
            format!("/api/runs/{run}/control"),
            Some(body.clone()),
        ));
        body["run_id"] = json!(run);
        ways.push(Way::Tool("control_run", body));
        ways.push(command(&[action, run, state.unwrap_or_default()].join(" ")));
    }
    ways.push(Way::Tool(
        "statewright_force_state",
        json!({"state": "asked"}),
    ));
    ways
}

/// Returns a command: its words, and that its answer is wanted as JSON.
fn command(words: &str) -> Way {
    let words = words.split_whitespace().chain(["--json"]);
    Way::Command(words.map(str::to_owned).collect())
}

/// Returns the id of the question of a run, which its third record asks.
fn question_of(run: &str) -> String {
    format!("{run}:3")
}

/// Returns the code of the refusal of a role without the right.
fn refusal(right: Right, role: Role) -> Option<&'static str> {
    if right.is_granted(role) {
        None
    } else if role == Role::Observer {
        Some("read_only")
    } else {
        Some("not_a_person")
    }
}

/// What came of a deed: the code of the error if the front end has codes, and the text.
struct Told {
    way: String,
    code: Option<String>,
    text: String,
}

/// The connections of a caller to a server with some sets of tools.
struct Connections {
    older: Client,
    newer: Client,
    session: String,
}

impl Connections {
    fn new(scratch: &Scratch, server: &Listening, sets: &[&str], token: &str) -> Self {
        let sets = [&["."], sets].concat();
        Self {
            older: Client::with_token(&scratch.path, &sets, token),
            newer: Client::with_token(&scratch.path, &sets, token),
            session: server.begin_session(&header(token)),
        }
    }

    /// Calls a tool in both eras, over one transport.
    fn call(&mut self, server: &Listening, tool: &Value, token: &str, stdio: bool) -> Vec<Told> {
        let name = &tool["name"];
        let tell = |era: &str, answer: &Value| told(&format!("{name}, {era}"), answer);
        if stdio {
            return vec![
                tell("older, stdio", &self.older.ask("tools/call", tool)),
                tell("newer, stdio", &self.newer.ask_newer("tools/call", tool)),
            ];
        }
        let headers = format!("{}{}", self.session, header(token));
        let older = server.ask_older("tools/call", tool, &headers).json();
        let newer = server.ask("tools/call", tool, &header(token)).json();
        vec![tell("older, HTTP", &older), tell("newer, HTTP", &newer)]
    }
}

fn header(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// The servers that all callers ask: with our own tools, and with those of [`OTHER_SETS`].
struct Servers {
    own: Listening,
    other: Listening,
}

impl Servers {
    fn start(scratch: &Scratch) -> Self {
        let start = |sets: &[&str]| Listening::start(&scratch.path, &[&["."], sets].concat());
        Self {
            own: start(&SETS),
            other: start(&OTHER_SETS),
        }
    }
}

/// A caller, with a connection for each front end.
struct Caller {
    own: Connections,
    other: Connections,
    token: String,
}

impl Caller {
    /// Makes one with a new token, which the words describe.
    fn new(scratch: &Scratch, servers: &Servers, words: &str) -> Self {
        let token = token(&scratch.path, words);
        Self {
            own: Connections::new(scratch, &servers.own, &SETS, &token),
            other: Connections::new(scratch, &servers.other, &OTHER_SETS, &token),
            token,
        }
    }

    /// Asks for a deed in a way. Over standard input and output everybody who may write is an agent.
    fn ask(&mut self, scratch: &Scratch, servers: &Servers, way: &Way, stdio: bool) -> Vec<Told> {
        let call = |tool: &str, arguments: &Value| json!({"name": tool, "arguments": arguments});
        match way {
            Way::Tool(tool, arguments) => {
                let call = call(tool, arguments);
                self.own.call(&servers.own, &call, &self.token, stdio)
            }
            Way::Other(tool, arguments) => {
                let call = call(tool, arguments);
                self.other.call(&servers.other, &call, &self.token, stdio)
            }
            _ if stdio => Vec::new(),
            Way::Api(path, body) => {
                let header = header(&self.token);
                let answer = match body {
                    Some(body) => servers.own.post(path, &header, body),
                    None => servers.own.get(path, &header),
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
                let json: Option<Value> = serde_json::from_str(&said.stdout).ok();
                // A run's refusal is an answer; where nothing was reached that could refuse, there is an error.
                let code = |it: &Value| {
                    let code = it["refused"]["code"].as_str();
                    Some(code.or(it["error"]["code"].as_str())?.to_owned())
                };
                vec![Told {
                    way: words.join(" "),
                    code: json.as_ref().and_then(code),
                    text: format!("{}{}", said.stdout, said.stderr),
                }]
            }
        }
    }
}

/// Reads the answer of a tool: one of our own has a code, and so has one of Smithers, which keeps ours as the reason.
fn told(way: &str, answer: &Value) -> Told {
    let result = &answer["result"];
    let code = result["structuredContent"].get("ok").map(|_| {
        let error = &result["structuredContent"]["error"];
        let reason = error["details"]["reason"].as_str();
        let code = reason.or(error["code"].as_str());
        code.unwrap_or("none").to_owned()
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
    let servers = Servers::start(&scratch);
    let boss = token(&scratch.path, "boss --role person");
    let mut number = 0;
    let (mut refused, mut by_code) = (0, 0);
    for role in ROLES {
        let name = role.name();
        let mut caller = Caller::new(&scratch, &servers, &format!("{name} --role {name}"));
        for right in Right::ALL {
            for at in 0..ways(right, "", "", "").len() {
                for stdio in [true, false] {
                    number += 1;
                    let (run, name) = (format!("r{number}"), format!("n{number}"));
                    let request = ask(&scratch, &run);
                    let way = ways(right, &run, &request, &name).swap_remove(at);
                    if way.continues() {
                        pause(&scratch, &run, &boss);
                    }
                    // An agent starts the server over standard input and output, whatever the token.
                    let acting = if stdio { role.min(Role::Agent) } else { role };
                    for told in caller.ask(&scratch, &servers, &way, stdio) {
                        let who = format!("{right:?}, {acting:?}, {}: {}", told.way, told.text);
                        let refusal = refusal(right, acting);
                        refused += u32::from(refusal.is_some());
                        by_code += u32::from(refusal.is_some() && told.code.is_some());
                        check(&told, refusal, &who);
                    }
                    // Profiles mean the only live run. One that a person has approved is over.
                    for run in [&run, &name] {
                        attacked(&scratch, &["cancel", run]);
                    }
                }
            }
        }
    }
    assert!(
        refused > 100 && by_code > 80,
        "{refused}, {by_code} by code"
    );
}

fn check(told: &Told, refusal: Option<&str>, who: &str) {
    let says = |words: &[&str]| words.iter().any(|it| told.text.contains(it));
    match (refusal, &told.code) {
        (Some(code), Some(found)) => assert_eq!(found, code, "{who}"),
        (Some(code), None) => {
            let (_, words) = WORDS.iter().find(|it| it.0 == code).unwrap();
            assert!(says(words), "{who}");
        }
        (None, Some(found)) => {
            let of_rights = ["read_only", "not_a_person", "unauthorized"];
            assert!(!of_rights.contains(&found.as_str()), "{who}");
        }
        (None, None) => assert!(WORDS.iter().all(|it| !says(it.1)), "{who}"),
    }
}

/// A token that is for one run gives no right to another one, whatever its role: the same refusal at each front end.
#[test]
fn a_token_of_one_run_does_nothing_to_another() {
    let scratch = Scratch::new("attack-bound-rights");
    scratch.write("pay.md", PAY);
    done(
        &scratch,
        &["start", "pay", "--run-id", "own", "--specs", "pay.md"],
    );
    let servers = Servers::start(&scratch);
    let boss = token(&scratch.path, "boss --role person");
    let request = ask(&scratch, "other");
    let mut refused = 0;
    for role in [Role::Agent, Role::Person] {
        let name = role.name();
        let words = format!("{name} --role {name} --run own");
        let mut caller = Caller::new(&scratch, &servers, &words);
        for right in [Right::See, Right::Drive, Right::Decide] {
            for way in ways(right, "other", &request, "new") {
                // Whoever can run commands can read the store's file.
                let is_read = right == Right::See && matches!(way, Way::Command(_));
                if is_read || !way.names("other") {
                    continue;
                }
                for stdio in [true, false] {
                    // A person's token doesn't count there: the server's caller is an agent without a token.
                    if stdio && role == Role::Person {
                        continue;
                    }
                    for told in caller.ask(&scratch, &servers, &way, stdio) {
                        let who = format!("{right:?}, {role:?}, {}: {}", told.way, told.text);
                        refused += 1;
                        match &told.code {
                            Some(code) => assert_eq!(code, "other_run", "{who}"),
                            None => {
                                let words =
                                    ["isn't valid for the run", "may touch the run `own` only"];
                                assert!(words.iter().any(|it| told.text.contains(it)), "{who}");
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(refused > 60, "{refused}");
    // Nothing has come of it.
    let state = done(&scratch, &["state", "other"]).stdout;
    assert!(state.contains("waiting for"), "{state}");
    pause(&scratch, "other", &boss);
}

/// Pauses a run as a person.
fn pause(scratch: &Scratch, run: &str, token: &str) {
    let mut command = statemark(&scratch.path);
    command.args(["pause", run]).env("STATEMARK_TOKEN", token);
    let said = in_time(command);
    assert_eq!(said.code, 0, "{}", said.stderr);
}

/// Starts a payment, asks for its approval, and asks a question: the id of the approval.
fn ask(scratch: &Scratch, run: &str) -> String {
    done(
        scratch,
        &["start", "pay", "--run-id", run, "--specs", "pay.md"],
    );
    let asked = attacked(scratch, &["send", run, "accept"]);
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    let json = done(scratch, &["inbox", "--json"]).stdout;
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    let request = first["request"].as_str().unwrap().to_owned();
    done(scratch, &["ask", run, "Why?", "--kind", "text"]);
    request
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
