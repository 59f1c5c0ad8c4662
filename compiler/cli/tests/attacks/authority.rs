//! Who may do what: tokens, decisions, inputs, and what a person sees.

use std::fs;

use serde_json::{Value, json};

use super::{DOOR, attacked, done, in_time};
use crate::served::client::Client;
use crate::served::raw::Listening;
use crate::shell::{Run, Said, Scratch, perform, statemark, token};

/// A payment that somebody has to accept before it is executed.
const PAY: &str = r#"## STATE-MACHINE: pay

```mermaid
stateDiagram-v2
    [*] --> asked
    asked --> accepted : accept
    accepted --> [*] : execute [limit >= amount] / transfer
```

```json definition
{
  "id": "pay",
  "context": {"amount": 1, "limit": 5, "to": "alice", "memo": ""},
  "merge": "none",
  "actions": {"transfer": {"effect": "moves the money"}},
  "states": {"asked": {"on": {"accept": {"requires_approval": true}}}}
}
```
"#;

fn pay(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("pay.md", PAY);
    scratch
}

fn run(scratch: &Scratch, command: &str) -> Said {
    perform(&Run::new(command), &scratch.path)
}

fn refused(said: &Said, why: &str) {
    assert_ne!(said.code, 0, "{}", said.stdout);
    let all = format!("{}{}", said.stderr, said.stdout);
    assert!(all.contains(why), "not `{why}`: {all}");
}

/// Starts a payment and asks for its approval: `RUN:3`.
fn ask(scratch: &Scratch, id: &str) -> String {
    done(scratch, &["start", "pay", "--run-id", id]);
    let asked = attacked(scratch, &["send", id, "accept"]);
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    let json = done(scratch, &["inbox", "--json"]).stdout;
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    first["request"].as_str().unwrap().to_owned()
}

#[test]
fn c1_an_approval_is_for_one_run_and_its_data() {
    let scratch = pay("attack-c1");
    let request = ask(&scratch, "r1");
    let approved = run(&scratch, &format!("AS=ann statemark approve {request}"));
    assert_eq!(approved.code, 0, "{}", approved.stderr);
    let arguments = [".", "--toolsets", "runs,time"];
    let mut agent = Client::start(&scratch.path, &arguments);
    let fork = |id: &str, input: Value| json!({"run_id": "r1", "at_seq": 4, "new_run_id": id, "input_overrides": input});
    let stolen = json!({"amount": 4, "to": "mallory"});
    for input in [stolen.clone(), json!({})] {
        let answer = agent.call("fork_run", &fork("f0", input));
        assert_eq!(answer["error"]["code"], "not_a_person", "{answer:#}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("approved by ann (person)"), "{message}");
    }
    let state = attacked(&scratch, &["state", "f0"]);
    refused(&state, "there is no run `f0`");
    // A fork before the decision asks again, and takes no other data.
    let early = |id: &str, input: Value| json!({"run_id": "r1", "at_seq": 1, "new_run_id": id, "input_overrides": input});
    let answer = agent.call("fork_run", &early("f1", stolen));
    assert_eq!(answer["ok"], false, "{answer:#}");
    let answer = agent.call("fork_run", &early("f1", json!({})));
    assert_eq!(answer["ok"], true, "{answer:#}");
    let answer = agent.call("send_event", &json!({"run_id": "f1", "event": "accept"}));
    assert_eq!(answer["data"]["taken"], false, "{answer:#}");
}

#[test]
fn c1_a_run_that_a_person_has_stopped_goes_on_in_no_fork() {
    let scratch = pay("attack-c1-stopped");
    done(&scratch, &["start", "pay", "--run-id", "r1"]);
    let stopped = run(&scratch, "AS=ann statemark cancel r1");
    assert_eq!(stopped.code, 0, "{}", stopped.stderr);
    let forked = attacked(&scratch, &["fork", "r1", "--at", "1", "--run-id", "f1"]);
    refused(&forked, "cancelled by ann (person)");
    let person = run(&scratch, "AS=ann statemark fork r1 --at 1 --run-id f1");
    assert_eq!(person.code, 0, "{}", person.stderr);
}

#[test]
fn c2_tokens_belong_to_the_store_and_not_to_a_folder() {
    let victim = pay("attack-c2");
    let request = ask(&victim, "c1");
    token(&victim.path, "ann --role person");
    let store = victim.path.join(".statemark/runs.db");
    let store = store.to_str().unwrap();
    let evil = Scratch::new("attack-c2-evil");
    // Persons of another store are nobody here.
    let boss = token(&evil.path, "boss --role person");
    let mut command = statemark(&evil.path);
    command.args(["approve", &request, "--store", store]);
    command.env("STATEMARK_TOKEN", &boss);
    refused(&in_time(command), "isn't valid for this store");
    // A configuration, a list of former versions and a removed file change nothing about who one is.
    evil.write("statemark.toml", &format!("store = \"{store}\"\n"));
    evil.write(
        ".statemark/tokens.json",
        r#"{"tokens":[{"name":"boss","role":"person","created":1,"hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}]}"#,
    );
    let mut command = statemark(&evil.path);
    command.args(["approve", &request]);
    command.env("STATEMARK_TOKEN", &boss);
    refused(&in_time(command), "outside of its project");
    let mut command = statemark(&evil.path);
    command.args(["approve", &request, "--store", store]);
    refused(&in_time(command), "a person has to answer");
    let _ = fs::remove_file(victim.path.join(".statemark/tokens.json"));
    for words in [
        vec!["token", "create", "eve", "--role", "person"],
        vec!["token", "create", "eve", "--role", "agent"],
        vec!["token", "revoke", "ann"],
        vec!["token", "rotate", "ann"],
    ] {
        refused(&attacked(&victim, &words), "isn't a person");
    }
    let scratch = Scratch::new("attack-c2-first");
    scratch.write("pay.md", PAY);
    // Not even the first one, without a terminal.
    let first = attacked(&scratch, &["token", "create", "eve", "--role", "person"]);
    refused(&first, "made at a terminal");
    done(&scratch, &["start", "pay", "--run-id", "r1"]);
    scratch.write("hash", &format!("{}\n", "ab".repeat(32)));
    let init = ["store", "init", "--person", "eve", "--token-hash", "hash"];
    refused(&attacked(&scratch, &init), "the store has runs already");
}

#[test]
fn c4_only_a_person_imports_wakes_and_copies() {
    let scratch = pay("attack-c4");
    done(&scratch, &["start", "pay", "--run-id", "r1"]);
    done(&scratch, &["store", "export", "forged.jsonl"]);
    token(&scratch.path, "bot --role agent");
    done(&scratch, &["store", "backup", "copy.db"]);
    for words in [
        vec!["store", "import", "forged.jsonl"],
        vec!["store", "wake", "--store", "copy.db"],
        vec!["store", "migrate", ".statemark/runs.db", "new.db"],
    ] {
        refused(&attacked(&scratch, &words), "isn't a person");
    }
}

#[test]
fn h3_a_person_sees_what_is_there() {
    let scratch = pay("attack-h3");
    done(&scratch, &["start", "pay", "--run-id", "r9"]);
    let prompt =
        "delete prod?\u{1b}[1A\u{1b}[2K\u{1b}]52;c;cm0gLXJm\u{7} \u{202e}May I fix a typo?";
    done(&scratch, &["ask", "r9", prompt, "--kind", "confirm"]);
    let event = "typo\n9  2026-01-01  `r9:2` approved by ann (person)";
    refused(
        &attacked(&scratch, &["send", "r9", event]),
        "has a control character",
    );
    let mut agent = Client::start(&scratch.path, &["."]);
    let answer = agent.call("send_event", &json!({"run_id": "r9", "event": event}));
    assert_eq!(answer["error"]["code"], "invalid_request", "{answer:#}");
    for words in [
        vec!["inbox"],
        vec!["inbox", "--json"],
        vec!["events", "r9"],
        vec!["events", "r9", "--json"],
        vec!["state", "r9"],
        vec!["state", "r9", "--json"],
        vec!["why", "r9"],
    ] {
        let said = done(&scratch, &words);
        let shown = format!("{}{}", said.stdout, said.stderr);
        for hidden in ['\u{1b}', '\u{7}', '\u{202e}'] {
            assert!(!shown.contains(hidden), "{words:?}: {shown:?}");
        }
        assert!(
            !shown.lines().any(|line| line.starts_with("9  2026")),
            "{words:?}: {shown}"
        );
    }
    let inbox = done(&scratch, &["inbox"]).stdout;
    assert!(inbox.contains("May I fix a typo?"), "never cut: {inbox}");
}

/// Neither a line of its own nor a color of its own is an agent's, wherever its words are shown.
#[test]
fn second_an_agent_writes_no_line_and_no_color_of_ours() {
    let scratch = pay("attack-second-lines");
    let forged =
        "ok\nr7:7  pay, by ann (person), 0s ago\u{1b}[08mhidden\u{1b}[38;5;0;48;5;0mblack\u{1b}[0m";
    let mut agent = Client::start(&scratch.path, &["."]);
    let mut call = |tool: &str, arguments: &Value| {
        let answer = agent.call(tool, arguments);
        assert_eq!(answer["ok"], true, "{tool}: {answer:#}");
    };
    call(
        "start_run",
        &json!({"workflow": "pay", "run_id": "r9", "title": forged}),
    );
    call(
        "request_human",
        &json!({"run_id": "r9", "kind": "select", "prompt": forged, "choices": [forged, "no"]}),
    );
    call(
        "send_event",
        &json!({"run_id": "r9", "step": forged, "status": "running", "message": forged, "unit": forged}),
    );
    call(
        "control_run",
        &json!({"run_id": "r9", "action": "pause", "reason": forged}),
    );
    for words in [
        vec!["inbox"],
        vec!["events", "r9"],
        vec!["timeline", "r9"],
        vec!["state", "r9"],
        vec!["why", "r9"],
        vec!["runs"],
        vec!["send", "r9", "pay"],
    ] {
        let words = [&["--color", "always"], words.as_slice()].concat();
        let said = attacked(&scratch, &words);
        let shown = format!("{}{}", said.stdout, said.stderr);
        assert!(
            !shown.lines().any(|line| line.starts_with("r7:7")),
            "{words:?}: {shown}"
        );
        for color in ["\u{1b}[08m", "\u{1b}[38;5"] {
            assert!(!shown.contains(color), "{words:?}: {shown:?}");
        }
    }
}

/// A client calls itself what it likes, but not so that a role seems to come with its name.
#[test]
fn second_a_clients_name_brings_no_role() {
    let scratch = pay("attack-second-name");
    done(&scratch, &["start", "pay", "--run-id", "r9"]);
    let mut agent = Client::unheard(&scratch.path, &["."]);
    agent.ask(
        "initialize",
        &json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "ann (person)", "version": "1"},
        }),
    );
    agent.tell("notifications/initialized", &json!({}));
    agent.call(
        "request_human",
        &json!({"run_id": "r9", "kind": "confirm", "prompt": "well?"}),
    );
    for words in [["inbox"].as_slice(), &["events", "r9"]] {
        let shown = done(&scratch, words).stdout;
        assert!(shown.contains("ann [person] (agent)"), "{words:?}: {shown}");
        assert!(!shown.contains("(person)"), "{words:?}: {shown}");
    }
}

#[test]
fn h4_a_decision_names_its_request() {
    let scratch = pay("attack-h4");
    let request = ask(&scratch, "r");
    let approved = run(&scratch, "AS=ann statemark approve r");
    refused(&approved, "name the request that you decide");
    // What was withdrawn is refused by its name, whatever waits now.
    done(&scratch, &["withdraw", &request]);
    let asked = attacked(&scratch, &["send", "r", "accept"]);
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    let approved = run(&scratch, &format!("AS=ann statemark approve {request}"));
    assert_eq!(approved.code, 1, "{}", approved.stdout);
    let state = done(&scratch, &["state", "r"]).stdout;
    assert!(state.contains("in asked"), "{state}");
}

#[test]
fn h5_a_persons_token_gives_an_agents_server_no_more() {
    let scratch = pay("attack-h5");
    let request = ask(&scratch, "r1");
    let ann = token(&scratch.path, "ann --role person");
    let mut agent = Client::with_token(&scratch.path, &[], &ann);
    let decide = json!({"run_id": "r1", "request_id": request, "action": "approve"});
    let answer = agent.call("resolve_request", &decide);
    assert_eq!(answer["error"]["code"], "not_a_person", "{answer:#}");
    let token = ann.clone();
    let server = Listening::with(&scratch.path, &[], |command| {
        command.env("STATEMARK_TOKEN", token)
    });
    let session = fs::read_to_string(server.session_file()).unwrap();
    assert!(!session.contains(&ann), "{session}");
    let session: Value = serde_json::from_str(&session).unwrap();
    let header = &session["mcpServers"]["statemark"]["headers"]["Authorization"];
    let header = format!("Authorization: {}\r\n", header.as_str().unwrap());
    let answer = server.call("resolve_request", &decide, &header);
    assert_eq!(answer["error"]["code"], "not_a_person", "{answer:#}");
    let seen = server.get("/api/runs/r1", &header);
    assert_eq!(seen.status, 200, "{seen:?}");
}

#[test]
fn m7_only_a_person_prunes() {
    let scratch = pay("attack-m7");
    done(&scratch, &["start", "pay", "--run-id", "r1"]);
    done(&scratch, &["cancel", "r1"]);
    let listed = done(&scratch, &["store", "prune", "--keep", "0"]);
    assert!(listed.stdout.contains("r1"), "{}", listed.stdout);
    let pruned = attacked(&scratch, &["store", "prune", "--keep", "0", "--yes"]);
    refused(&pruned, "isn't a person");
    done(&scratch, &["state", "r1"]);
}

#[test]
fn m8_refused_observers_leave_the_run_as_it_is() {
    let scratch = pay("attack-m8");
    done(&scratch, &["start", "pay", "--run-id", "r1"]);
    let eve = token(&scratch.path, "eve --role observer");
    let mut observer = Client::with_token(&scratch.path, &[], &eve);
    for _ in 0..20 {
        let send = json!({"run_id": "r1", "event": "accept"});
        let answer = observer.call("send_event", &send);
        assert_eq!(answer["error"]["code"], "read_only", "{answer:#}");
    }
    let records = done(&scratch, &["events", "r1", "--json"]).stdout;
    assert_eq!(records.lines().count(), 1, "{records}");
}

#[test]
fn m10_an_agent_answers_no_guard_by_an_input() {
    let scratch = pay("attack-m10");
    let mut agent = Client::start(&scratch.path, &["."]);
    let start = |id: &str, input: Value| json!({"workflow": "pay", "run_id": id, "input": input});
    let answer = agent.call("start_run", &start("r1", json!({"limit": 1_000_000})));
    assert_eq!(answer["ok"], false, "{answer:#}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("only a person sets `limit` of `pay`"),
        "{message}"
    );
    let answer = agent.call("start_run", &start("r1", json!({"memo": "lunch"})));
    assert_eq!(answer["ok"], true, "{answer:#}");
    // The definition can open a field, and then no others.
    scratch.write(
        "open.md",
        &PAY.replace("\"pay\"", "\"open\"")
            .replace(": pay", ": open")
            .replace("\"merge\"", "\"inputs\": [\"amount\"], \"merge\""),
    );
    let start = |input: Value| json!({"workflow": "open", "input": input});
    let mut agent = Client::start(&scratch.path, &["."]);
    let answer = agent.call("start_run", &start(json!({"memo": "lunch"})));
    assert_eq!(answer["ok"], false, "{answer:#}");
    let answer = agent.call("start_run", &start(json!({"amount": 2})));
    assert_eq!(answer["ok"], true, "{answer:#}");
}

/// Whoever makes a repository is no person of the store of whoever clones it.
#[test]
fn third_a_store_that_came_with_its_folder_says_nothing() {
    let (evil, victim) = (
        Scratch::new("attack-third-evil"),
        Scratch::new("attack-third-victim"),
    );
    // Without the clock of tests: it counts in stores for testing alone.
    let run = |scratch: &Scratch, token: Option<&str>, words: &[&str]| {
        let mut command = statemark(&scratch.path);
        command.env_remove("STATEMARK_NOW").args(words);
        if let Some(token) = token {
            command.env("STATEMARK_TOKEN", token);
        }
        in_time(command)
    };
    let mallory = format!("smk_{}", "a".repeat(64));
    evil.write("door.md", DOOR);
    let sum = format!("printf %s {mallory} | sha256sum | cut -d' ' -f1");
    let sum = std::process::Command::new("sh").args(["-c", &sum]).output();
    let hash = String::from_utf8(sum.unwrap().stdout).unwrap();
    evil.write("hash", &hash);
    let words = [
        "store",
        "init",
        "--person",
        "mallory",
        "--token-hash",
        "hash",
    ];
    let made = run(&evil, None, &words);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let accepted = run(&evil, Some(&mallory), &["accept", "door"]);
    assert_eq!(accepted.code, 0, "{}", accepted.stderr);
    // Whoever made it goes on with it.
    let started = run(&evil, Some(&mallory), &["start", "door", "--run-id", "r1"]);
    assert_eq!(started.code, 0, "{}", started.stderr);
    for name in ["door.md", ".statemark/runs.db", ".statemark/runs.db-mark"] {
        let Ok(bytes) = fs::read(evil.path.join(name)) else {
            continue;
        };
        fs::create_dir_all(victim.path.join(".statemark")).unwrap();
        fs::write(victim.path.join(name), bytes).unwrap();
    }
    for words in [
        &["runs"][..],
        &["serve"],
        &["token", "list"],
        &["start", "door"],
        &["token", "create", "bot", "--role", "person"],
        &["migrate", "--all", "door", "--to", "door.md", "--dry-run"],
        &["store", "adopt"],
    ] {
        let said = run(&victim, Some(&mallory), words);
        assert_eq!(said.code, 2, "{words:?}: {}{}", said.stdout, said.stderr);
        let expected = if words[0] == "store" {
            "taken over at a terminal"
        } else {
            "wasn't made by you"
        };
        assert!(said.stderr.contains(expected), "{words:?}: {}", said.stderr);
    }
    // Nor is one that says something about rights and has no id: such is made where nothing can be noted.
    let unnamed = Scratch::new("attack-third-unnamed");
    unnamed.write("hash", &hash);
    let mut command = statemark(&unnamed.path);
    command.env_remove("STATEMARK_NOW").env_remove("HOME");
    command.env_remove("XDG_CONFIG_HOME").args(words);
    let made = in_time(command);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let file = victim.path.join(".statemark/runs.db");
    fs::copy(unnamed.path.join(".statemark/runs.db"), &file).unwrap();
    let _ = fs::remove_file(victim.path.join(".statemark/runs.db-mark"));
    let said = run(&victim, Some(&mallory), &["runs"]);
    assert_eq!(said.code, 2, "{}", said.stdout);
    assert!(
        said.stderr.contains("wasn't made by you"),
        "{}",
        said.stderr
    );
    fs::copy(evil.path.join(".statemark/runs.db"), &file).unwrap();
    // The id alone, which stands in anchors, makes it nobody's own.
    let own = rusqlite::Connection::open(evil.path.join(".statemark/runs.db")).unwrap();
    let change =
        "update records set body = json_set(body, '$.secret', ?1) where kind = 'store.named'";
    let secret = "select body ->> '$.secret' from records where kind = 'store.named'";
    let secret: String = own.query_row(secret, [], |row| row.get(0)).unwrap();
    assert_eq!(secret.len(), 32);
    own.execute(change, ["guessed"]).unwrap();
    assert_eq!(run(&evil, Some(&mallory), &["runs"]).code, 2);
    own.execute(change, [secret]).unwrap();
    assert_eq!(run(&evil, Some(&mallory), &["runs"]).code, 0);
    drop(own);
    // It can be looked at, and whoever names it means it.
    let verified = run(&victim, None, &["store", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    let named = run(&victim, None, &["runs", "--store", ".statemark/runs.db"]);
    assert_eq!(named.code, 0, "{}", named.stderr);
    assert!(named.stdout.contains("r1"), "{}", named.stdout);
}

/// What a store said of itself may have been cut out: its runs still say who decided.
#[test]
fn fifth_a_store_whose_journal_was_cut_out_is_no_ones_own() {
    let (evil, victim) = (
        Scratch::new("attack-fifth-cut"),
        Scratch::new("attack-fifth-cut-victim"),
    );
    let run = |scratch: &Scratch, words: &[&str]| {
        let mut command = statemark(&scratch.path);
        command.env_remove("STATEMARK_NOW").args(words);
        in_time(command)
    };
    evil.write("door.md", DOOR);
    let started = run(&evil, &["start", "door", "--run-id", "r1"]);
    assert_eq!(started.code, 0, "{}", started.stderr);
    let file = evil.path.join(".statemark/runs.db");
    let store = rusqlite::Connection::open(&file).unwrap();
    for table in ["records", "runs", "keys", "timers", "folds", "older_folds"] {
        let cut = format!("delete from {table} where run = '$store'");
        store.execute(&cut, []).unwrap();
    }
    let count = "update counts set value = 1 where name = 'runs'";
    store.execute(count, []).unwrap();
    store
        .query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))
        .unwrap();
    drop(store);
    let place = victim.path.join(".statemark");
    fs::create_dir_all(&place).unwrap();
    fs::copy(&file, place.join("runs.db")).unwrap();
    victim.write("door.md", DOOR);
    for words in [&["runs"][..], &["state", "r1"], &["start", "door"]] {
        let said = run(&victim, words);
        assert_eq!(said.code, 2, "{words:?}: {}", said.stdout);
        assert!(
            said.stderr.contains("wasn't made by you"),
            "{}",
            said.stderr
        );
    }
    let adopted = run(&victim, &["store", "adopt"]);
    assert_eq!(adopted.code, 2, "{}", adopted.stdout);
    assert!(
        adopted.stderr.contains("at a terminal"),
        "{}",
        adopted.stderr
    );
    let named = run(&victim, &["runs", "--store", ".statemark/runs.db"]);
    assert!(named.stdout.contains("r1"), "{}", named.stderr);
}

/// Where nothing can be noted, a store goes on to be usable as long as it says nothing about rights.
#[test]
fn third_a_store_without_a_configuration_locks_nobody_out() {
    let scratch = Scratch::new("attack-third-homeless");
    scratch.write("door.md", DOOR);
    for (run, variable) in [("r1", None), ("r2", Some("/dev/null")), ("r3", None)] {
        for words in [&["start", "door", "--run-id", run][..], &["state", run]] {
            let mut command = statemark(&scratch.path);
            command.env_remove("STATEMARK_NOW").env_remove("HOME");
            match variable {
                Some(folder) => command.env("XDG_CONFIG_HOME", folder),
                None => command.env_remove("XDG_CONFIG_HOME"),
            };
            command.args(words);
            let said = in_time(command);
            assert_eq!(said.code, 0, "{words:?}: {}", said.stderr);
        }
    }
}
