//! Tokens that are over, that somebody else's list has, or that are only near: none of them gives a right.

use std::fs;

use serde_json::{Value, json};
use statemark_runs::Hash;

use super::{DOOR, attacked, done, in_time};
use crate::served::client::Client;
use crate::served::raw::Listening;
use crate::shell::{NOW, Said, Scratch, at_terminal, person_token, statemark, token};

/// An hour after the time of tests, and a moment more. Unit: milliseconds since 1970.
const HOUR_LATER: &str = "1800003600001";

/// Runs `statemark` with a token at a time.
fn with(scratch: &Scratch, token: &str, now: &str, words: &[&str]) -> Said {
    let mut command = statemark(&scratch.path);
    command
        .args(words)
        .env("STATEMARK_TOKEN", token)
        .env("STATEMARK_NOW", now);
    in_time(command)
}

#[test]
fn a_token_that_has_expired_gives_no_right() {
    let scratch = Scratch::new("attack-expired");
    scratch.write("door.md", DOOR);
    done(&scratch, &["start", "door", "--run-id", "r1"]);
    for role in ["observer", "agent", "person"] {
        let short = token(&scratch.path, &format!("{role} --role {role} --expires 1h"));
        // Reading takes no token where the store's file can be read.
        let words: &[&str] = match role {
            "agent" => &["send", "r1", "push"],
            _ => &["token", "create", "more", "--role", "agent"],
        };
        if role != "observer" {
            let in_time = with(&scratch, &short, NOW, words);
            assert_eq!(in_time.code, 0, "{role}: {}", in_time.stderr);
            let seen = done(&scratch, &["events", "r1", "--json"]).stdout;
            let late = with(&scratch, &short, HOUR_LATER, words);
            assert_eq!(late.code, 2, "{role}: {}", late.stdout);
            assert!(late.stderr.contains("expired"), "{role}: {}", late.stderr);
            assert_eq!(done(&scratch, &["events", "r1", "--json"]).stdout, seen);
        }
        let header = format!("Authorization: Bearer {short}\r\n");
        let server = Listening::start(&scratch.path, &[]);
        assert_eq!(server.get("/api/runs/r1", &header).status, 200, "{role}");
        drop(server);
        let server = Listening::with(&scratch.path, &[], |it| it.env("STATEMARK_NOW", HOUR_LATER));
        let answer = server.get("/api/runs/r1", &header);
        assert_eq!(answer.status, 401, "{role}: {answer:?}");
    }
}

/// A list of former versions lies in a folder that anybody may have made.
#[test]
fn c2_a_valid_list_of_former_versions_gives_no_right() {
    let former = format!("smk_{}", "0123456789abcdef".repeat(4));
    let hash = Hash::digest(former.as_bytes());
    let list = json!({"tokens": [
        {"name": "boss", "role": "person", "created": 1_700_000_000_000_u64, "hash": hash.to_string()},
    ]});
    let victim = Scratch::new("attack-former");
    victim.write("door.md", DOOR);
    victim.write(".statemark/tokens.json", &list.to_string());
    done(&victim, &["start", "door", "--run-id", "r1"]);
    let create = ["token", "create", "eve", "--role", "person"];
    for words in [
        &create[..],
        &["send", "r1", "push"],
        &["store", "prune", "--keep", "1", "--yes"],
    ] {
        let said = with(&victim, &former, NOW, words);
        assert_eq!(said.code, 2, "{words:?}: {}", said.stdout);
    }
    assert!(!done(&victim, &["events", "r1"]).stdout.contains("push"));
    // It doesn't count either once the store has a person.
    person_token(&victim.path, "ann", &[]);
    let said = with(&victim, &former, NOW, &create);
    assert_eq!(said.code, 2, "{}", said.stdout);
    assert!(said.stderr.contains("isn't valid"), "{}", said.stderr);
    // The list is a real one: whoever takes it over at a terminal makes it count.
    let own = Scratch::new("attack-former-own");
    own.write("door.md", DOOR);
    own.write(".statemark/tokens.json", &list.to_string());
    let adopt = |typed: &str| {
        let mut command = statemark(&own.path);
        command.args(["token", "adopt"]);
        at_terminal(command, typed)
    };
    let asked = adopt("\n").stderr;
    let name = asked.split('`').nth(1).unwrap_or_default();
    let adopted = adopt(&format!("{name}\n"));
    assert_eq!(adopted.code, 0, "{}", adopted.stderr);
    let said = with(&own, &former, NOW, &create);
    assert_eq!(said.code, 0, "{}", said.stderr);
}

/// What works in a state has an agent's rights, however it was started.
#[test]
fn h5_no_program_of_an_executor_gets_a_persons_token() {
    for open in [false, true] {
        let scratch = Scratch::new(&format!("attack-executor-{open}"));
        scratch.write(
            "job.workflow.json",
            r#"{"id": "job", "initial": "x", "states": {"x": {"executor": "step", "max_attempts": 1, "on": {"go": "y"}}, "y": {"type": "final"}}}"#,
        );
        scratch.write(
            "statemark.toml",
            &format!("[executor.commands.step]\ncommand = [\"sh\", \"-c\", \"env > told\"]\nsuccess = \"go\"\nopen = {open}\n"),
        );
        let boss = token(&scratch.path, "boss --role person");
        let root = person_token(&scratch.path, "root", &[]);
        // What a client's session has there is no business of the program's either.
        let session = "smk_session_of_a_client";
        let mut command = statemark(&scratch.path);
        command
            .args(["agent", "run", "job", "--run-id", "r"])
            .env("STATEMARK_TOKEN", &boss)
            .env("COPIED", &root)
            .env("CLIENT_SESSION_TOKEN", session)
            .env("HARMLESS", "kept");
        let said = in_time(command);
        let told = fs::read_to_string(scratch.path.join("told")).unwrap_or_default();
        assert!(told.contains("HARMLESS=kept"), "{said:?}");
        for (what, secret) in [
            ("boss", boss.as_str()),
            ("root", &root),
            ("session", session),
        ] {
            assert!(!told.contains(secret), "{what} (open: {open}): {told}");
        }
        assert!(!told.contains("STATEMARK_SIGNING_KEY"), "{told}");
    }
}

/// What asks for more than somebody reads at a glance is shown whole, wherever a person decides.
#[test]
fn h3_a_long_question_is_shown_whole() {
    let scratch = Scratch::new("attack-long");
    scratch.write("door.md", DOOR);
    done(&scratch, &["start", "door", "--run-id", "r1"]);
    let words: Vec<String> = (0..700).map(|at| format!("word-{at}")).collect();
    let prompt = words.join(" ");
    assert!(prompt.len() > 5_000);
    let asked = done(&scratch, &["ask", "r1", &prompt, "--kind", "confirm"]);
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    let ann = token(&scratch.path, "ann --role person");
    let mut approve = statemark(&scratch.path);
    approve.args(["approve", "r1"]).env("STATEMARK_TOKEN", &ann);
    let at_a_terminal = at_terminal(approve, "n\n");
    let server = Listening::start(&scratch.path, &[]);
    let header = format!("Authorization: Bearer {ann}\r\n");
    let mut agent = Client::start(&scratch.path, &[".", "--toolsets", "runs,human"]);
    let listed: Value = agent.call("list_requests", &json!({}));
    for (place, text) in [
        ("inbox", done(&scratch, &["inbox"]).stdout),
        ("inbox --json", done(&scratch, &["inbox", "--json"]).stdout),
        (
            "approve",
            format!("{}{}", at_a_terminal.stderr, at_a_terminal.stdout),
        ),
        ("HTTP", server.get("/api/requests", &header).body),
        ("MCP", listed.to_string()),
    ] {
        // Lines may be broken between words.
        let shown: Vec<&str> = text
            .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
            .filter(|word| word.starts_with("word-"))
            .collect();
        assert!(
            shown.windows(words.len()).any(|part| part == words),
            "{place}: {text}"
        );
    }
    let last = attacked(&scratch, &["state", "r1"]);
    assert!(last.stdout.contains("in shut"), "{}", last.stdout);
}

/// A password isn't in a repository; where it is missing, no other store is made in its place.
#[test]
fn a_store_is_named_by_variables() {
    let scratch = Scratch::new("attack-variables");
    scratch.write("door.md", DOOR);
    for (store, here, message) in [
        ("${TEAM}-${NUMBER}.db", "sails-7.db", ""),
        ("${TEAM}.db", "sails.db", ""),
        (
            "${UNSET}.db",
            "",
            "needs the variable `UNSET`, which isn't set",
        ),
        (
            "${EMPTY}.db",
            "",
            "needs the variable `EMPTY`, which isn't set",
        ),
        ("${TEAM.db", "", "has `${` without a `}`"),
        // What a variable holds is no variable's name.
        ("${NESTED}.db", "${TEAM}.db", ""),
    ] {
        scratch.write("statemark.toml", &format!("store = \"{store}\"\n"));
        let mut command = statemark(&scratch.path);
        command
            .args(["start", "door"])
            .envs([
                ("TEAM", "sails"),
                ("NUMBER", "7"),
                ("EMPTY", ""),
                ("NESTED", "${TEAM}"),
            ])
            .env_remove("UNSET");
        let said = in_time(command);
        if message.is_empty() {
            assert_eq!(said.code, 0, "{store}: {}", said.stderr);
            assert!(scratch.path.join(here).is_file(), "{store}");
        } else {
            assert_eq!(said.code, 2, "{store}: {}", said.stdout);
            assert!(said.stderr.contains(message), "{store}: {}", said.stderr);
            assert!(said.stderr.contains("  help: "), "{store}: {}", said.stderr);
        }
    }
    let entries = fs::read_dir(&scratch.path).unwrap();
    let stores = entries.filter(|it| {
        let name = it.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".db")
    });
    assert_eq!(stores.count(), 3);
}
