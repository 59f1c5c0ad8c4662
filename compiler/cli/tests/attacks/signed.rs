//! Signed decisions: what no token, copied database or edited journal replaces.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::{Connection, params};
use serde_json::{Value, json};
use statemark_runs::{Actor, Hash, Record, Role};

use super::{attacked, done, in_time};
use crate::served::raw::Listening;
use crate::shell::{Run, Said, Scratch, perform, person_token, statemark, untouched};

/// A payment that ann signs.
const PAY: &str = r#"## STATE-MACHINE: pay

```mermaid
stateDiagram-v2
    [*] --> asked
    asked : amend / note()
    asked --> accepted : accept
    accepted --> [*] : execute / transfer
```

```json definition
{
  "id": "pay",
  "context": {"amount": 1},
  "meta": {"debug": true, "approvers": {"signed": true, "names": ["ann"]}},
  "actions": {"transfer": {"effect": "moves the money"}, "note": {"effect": "notes it"}},
  "states": {
    "asked": {
      "on": {"accept": {"requires_approval": true}},
      "while_waiting": ["amend"]
    }
  }
}
```
"#;

fn run(scratch: &Scratch, command: &str) -> Said {
    perform(&Run::new(command), &scratch.path)
}

fn accepted(said: &Said) {
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
}

fn refused(said: &Said, why: &str) {
    assert_ne!(said.code, 0, "{}", said.stdout);
    let all = format!("{}{}", said.stderr, said.stdout);
    assert!(all.contains(why), "not `{why}`: {all}");
}

/// Runs a program of OpenSSH, which must succeed; returns what it printed.
fn ssh(folder: &Path, program: &str, words: &[&str]) -> String {
    let mut command = untouched(program, folder);
    command.args(words);
    let said = in_time(command);
    assert_eq!(
        said.code, 0,
        "{program} {words:?} (of OpenSSH; `apt-get install openssh-client` brings it): {}{}",
        said.stdout, said.stderr
    );
    said.stdout
}

/// A store with the public key of ann, whose private one is in `ann`.
fn pay(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("pay.md", PAY);
    key(&scratch, "ann", "");
    accepted(&run(&scratch, "AS=ann statemark signer add ann ann.pub"));
    scratch
}

fn key(scratch: &Scratch, name: &str, passphrase: &str) {
    let words = [
        "-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", name,
    ];
    ssh(&scratch.path, "ssh-keygen", &words);
}

/// Starts a payment and asks for its approval: its id.
fn ask(scratch: &Scratch, id: &str) -> String {
    done(scratch, &["start", "pay", "--run-id", id]);
    done(scratch, &["send", id, "accept"]);
    format!("{id}:2")
}

/// Returns the text that ann would sign.
fn to_sign(scratch: &Scratch, deed: &str, request: &str) -> String {
    by_ann(scratch, &[deed, request, "--to-sign"])
}

/// Runs `statemark` as ann; returns what it printed, hashes included.
fn by_ann(scratch: &Scratch, words: &[&str]) -> String {
    let mut command = statemark(&scratch.path);
    command.args(words);
    command.env("STATEMARK_TOKEN", person_token(&scratch.path, "ann", &[]));
    let said = in_time(command);
    accepted(&said);
    said.stdout
}

/// Returns the journal of a run.
fn journal(scratch: &Scratch, id: &str) -> Vec<Value> {
    let text = done(scratch, &["events", id, "--json"]).stdout;
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// Asserts that a run stands where nothing was approved.
fn stands(scratch: &Scratch, id: &str) {
    let state = done(scratch, &["state", id]).stdout;
    assert!(state.contains("in asked"), "{state}");
}

#[test]
fn signed_a_token_alone_decides_nothing() {
    let scratch = pay("signed-token");
    let request = ask(&scratch, "r1");
    let approve = format!("AS=ann statemark approve {request}");
    refused(
        &run(&scratch, &approve),
        "is signed with an SSH key of `ann`",
    );
    refused(
        &run(&scratch, "AS=ann statemark force r1 accepted"),
        "decisions about this run are signed",
    );
    // Somebody else's key, and one that was added too late.
    key(&scratch, "eve", "");
    let with = |key: &str| run(&scratch, &format!("{approve} --sign-with {key}"));
    refused(&with("eve"), "isn't one of `ann`");
    accepted(&run(&scratch, "AS=ann statemark signer add ann eve.pub"));
    refused(&with("eve"), "added before the run began");
    stands(&scratch, "r1");
    accepted(&with("ann"));
    let state = done(&scratch, &["state", "r1"]).stdout;
    assert!(state.contains("in accepted"), "{state}");
    done(&scratch, &["store", "verify"]);
    done(&scratch, &["replay", "r1"]);
    // A fork carries the decision nowhere, not even a person's.
    let last = journal(&scratch, "r1").len();
    let fork = run(
        &scratch,
        &format!("AS=ann statemark fork r1 --at {last} --run-id f1"),
    );
    refused(&fork, "for that run alone");
    accepted(&run(
        &scratch,
        "AS=ann statemark fork r1 --at 1 --run-id f2",
    ));
    stands(&scratch, "f2");
}

#[test]
fn signed_a_passphrase_is_typed() {
    let scratch = pay("signed-passphrase");
    key(&scratch, "locked", "open sesame");
    accepted(&run(&scratch, "AS=ann statemark signer add ann locked.pub"));
    let request = ask(&scratch, "r1");
    let approve = Run {
        command: format!("AS=ann STATEMARK_SIGNING_KEY=locked statemark approve {request}"),
        ..Run::default()
    };
    refused(
        &perform(&approve, &scratch.path),
        "nobody can be asked for it",
    );
    let typed = |line: &str| {
        let typed = Some(line.to_owned());
        let command = approve.command.clone();
        perform(
            &Run {
                command,
                typed,
                stdin: None,
            },
            &scratch.path,
        )
    };
    refused(&typed("sesame\n"), "that isn't the passphrase");
    stands(&scratch, "r1");
    let said = typed("open sesame\n");
    accepted(&said);
    assert!(!said.stderr.contains("sesame"), "{}", said.stderr);
}

#[test]
fn signed_ssh_keygen_signs_and_verifies() {
    let scratch = pay("signed-keygen");
    let request = ask(&scratch, "r1");
    scratch.write("decision", &to_sign(&scratch, "approve", &request));
    stands(&scratch, "r1");
    let sign = [
        "-q",
        "-Y",
        "sign",
        "-n",
        "statemark",
        "-f",
        "ann",
        "decision",
    ];
    ssh(&scratch.path, "ssh-keygen", &sign);
    // It is of an approval, and of this request.
    let deny = format!("AS=ann statemark deny {request} --signature decision.sig");
    refused(&run(&scratch, &deny), "has another `verdict`");
    let other = ask(&scratch, "r2");
    let moved = format!("AS=ann statemark approve {other} --signature decision.sig");
    refused(
        &run(&scratch, &moved),
        "of another decision: its text has another",
    );
    accepted(&run(
        &scratch,
        &format!("AS=ann statemark approve {request} --signature decision.sig"),
    ));
    // What we sign is theirs to verify.
    let text = to_sign(&scratch, "approve", &other);
    accepted(&run(
        &scratch,
        &format!("AS=ann statemark approve {other} --sign-with ann"),
    ));
    let decided = journal(&scratch, "r2");
    let signature = &decided[2]["body"]["signature"];
    let line = |text: &str| {
        let time = format!("time {}", signature["time"]);
        let lines = text.lines().map(|line| {
            if line.starts_with("time ") {
                &time
            } else {
                line
            }
        });
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    scratch.write("ours", &line(&text));
    scratch.write("ours.sig", signature["signature"].as_str().unwrap());
    let listed = done(&scratch, &["signer", "list"]).stdout;
    scratch.write("signers", &listed);
    let mut verify = untouched("ssh-keygen", &scratch.path);
    verify.args([
        "-Y",
        "verify",
        "-n",
        "statemark",
        "-I",
        "ann",
        "-f",
        "signers",
        "-s",
        "ours.sig",
    ]);
    verify.stdin(fs::File::open(scratch.path.join("ours")).unwrap());
    let output = verify.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    // A list that is kept elsewhere says the same; one without the key doesn't.
    done(
        &scratch,
        &["store", "verify", "--allowed-signers", "signers"],
    );
    key(&scratch, "eve", "");
    let eve = fs::read_to_string(scratch.path.join("eve.pub")).unwrap();
    scratch.write("others", &format!("ann {eve}"));
    let verified = attacked(
        &scratch,
        &["store", "verify", "--allowed-signers", "others"],
    );
    refused(&verified, "which the list doesn't have as `ann`'s");
}

/// Signs a text that ann would sign, in the file `NAME`: the signature is in `NAME.sig`.
fn sign(scratch: &Scratch, name: &str, request: &str) {
    scratch.write(name, &to_sign(scratch, "approve", request));
    let words = ["-q", "-Y", "sign", "-n", "statemark", "-f", "ann", name];
    ssh(&scratch.path, "ssh-keygen", &words);
}

#[test]
fn signed_a_signature_is_of_one_request_in_one_store() {
    let scratch = pay("signed-moved");
    let first = ask(&scratch, "r1");
    sign(&scratch, "decision", &first);
    // It was about another request of this run, which asked the same.
    accepted(&run(
        &scratch,
        &format!("AS=ann statemark deny {first} --sign-with ann"),
    ));
    done(&scratch, &["send", "r1", "accept"]);
    let inbox = done(&scratch, &["inbox", "--json"]).stdout;
    let open: Value = serde_json::from_str(inbox.trim()).unwrap();
    let second = open["request"].as_str().unwrap();
    assert_ne!(second, first);
    let approve = |scratch: &Scratch, request: &str, name: &str| {
        let signature = format!("--signature {name}.sig");
        run(
            scratch,
            &format!("AS=ann statemark approve {request} {signature}"),
        )
    };
    refused(
        &approve(&scratch, second, "decision"),
        "of another decision",
    );
    stands(&scratch, "r1");
    // A store with the same run, the same request and the same key is another store.
    let other = Scratch::new("signed-moved-store");
    other.write("pay.md", PAY);
    for name in ["ann", "ann.pub", "decision", "decision.sig"] {
        fs::copy(scratch.path.join(name), other.path.join(name)).unwrap();
    }
    accepted(&run(&other, "AS=ann statemark signer add ann ann.pub"));
    assert_eq!(ask(&other, "r1"), first);
    refused(&approve(&other, &first, "decision"), "of another decision");
    stands(&other, "r1");
    // Nothing else was wrong with it.
    sign(&other, "meant", &first);
    accepted(&approve(&other, &first, "meant"));
}

/// An agent of SSH, which ends with the test.
struct Agent {
    socket: String,
    pid: String,
}

impl Agent {
    /// Starts one whose questions a program answers.
    fn start(scratch: &Scratch, answers: &str) -> Self {
        let ask = scratch.path.join("askpass");
        fs::write(
            &ask,
            format!(
                "#!/bin/sh\necho \"$1\" >> {}\n{answers}\n",
                scratch.path.join("questions").display()
            ),
        )
        .unwrap();
        fs::set_permissions(&ask, Permissions::from_mode(0o755)).unwrap();
        // A path of a socket has about a hundred characters.
        let folder = std::env::temp_dir().join(format!("sm-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let name = scratch.path.file_name().unwrap().to_str().unwrap();
        let socket = folder.join(name);
        let mut command = Command::new("ssh-agent");
        command
            .args(["-s", "-a"])
            .arg(&socket)
            .env("SSH_ASKPASS", &ask)
            .env("SSH_ASKPASS_REQUIRE", "force")
            .env("DISPLAY", "none")
            .stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        let pid = said.split("SSH_AGENT_PID=").nth(1).unwrap();
        let pid = pid.split(';').next().unwrap().to_owned();
        let socket = socket.to_str().unwrap().to_owned();
        Self { socket, pid }
    }

    fn add(&self, folder: &Path, key: &str) {
        let mut add = untouched("ssh-add", folder);
        add.args(["-q", "-c", key])
            .env("SSH_AUTH_SOCK", &self.socket);
        let said = in_time(add);
        assert_eq!(said.code, 0, "{}", said.stderr);
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(&self.pid).status();
        let _ = fs::remove_file(&self.socket);
    }
}

#[test]
fn signed_an_agent_asks_before_it_signs() {
    for (answers, confirms) in [("exit 1", false), ("exit 0", true)] {
        let scratch = pay(&format!("signed-agent-{confirms}"));
        let request = ask(&scratch, "r1");
        let agent = Agent::start(&scratch, answers);
        agent.add(&scratch.path, "ann");
        fs::remove_file(scratch.path.join("ann")).unwrap();
        let socket = &agent.socket;
        let command = format!(
            "AS=ann SSH_AUTH_SOCK={socket} statemark approve {request} --sign-with ann.pub"
        );
        let said = run(&scratch, &command);
        let questions = fs::read_to_string(scratch.path.join("questions")).unwrap();
        assert!(questions.contains("Allow use of key"), "{questions}");
        if confirms {
            accepted(&said);
        } else {
            refused(&said, "didn't sign");
            stands(&scratch, "r1");
        }
    }
}

/// Changes the records of a run in a store's file, and makes its chain of hashes anew, as somebody with a shell can.
fn forge(scratch: &Scratch, id: &str, change: impl Fn(&mut Vec<Record>)) {
    let db = Connection::open(scratch.path.join(".statemark/runs.db")).unwrap();
    let mut records = read(&db, id);
    change(&mut records);
    let mut prev = Hash::ZERO;
    for (record, seq) in records.iter_mut().zip(1..) {
        (record.seq, record.prev) = (seq, prev);
        prev = record.hash();
    }
    let count = i64::try_from(records.len()).unwrap();
    db.execute("DELETE FROM records WHERE run = ?1", [id])
        .unwrap();
    for record in &records {
        let seq = i64::try_from(record.seq).unwrap();
        let time = i64::try_from(record.time).unwrap();
        let Actor {
            role,
            name,
            session,
        } = &record.actor;
        db.execute(
            "INSERT INTO records (run, seq, time, kind, v, role, name, session, key, body, prev)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL, ?9, ?10)",
            params![
                id,
                seq,
                time,
                record.kind,
                record.v,
                role.name(),
                name,
                session,
                record.body,
                record.prev.as_bytes()
            ],
        )
        .unwrap();
    }
    let last = "UPDATE runs SET seq = ?2, hash = ?3 WHERE run = ?1";
    db.execute(last, params![id, count, prev.as_bytes()])
        .unwrap();
}

fn read(db: &Connection, id: &str) -> Vec<Record> {
    let mut select = db
        .prepare("SELECT time, kind, v, role, name, session, body FROM records WHERE run = ?1 ORDER BY seq")
        .unwrap();
    let rows = select.query_map([id], |row| {
        let role: String = row.get(3)?;
        Ok(Record {
            seq: 0,
            time: u64::try_from(row.get::<_, i64>(0)?).unwrap(),
            kind: row.get(1)?,
            v: row.get(2)?,
            actor: Actor {
                role: Role::from_name(&role).unwrap(),
                name: row.get(4)?,
                session: row.get(5)?,
            },
            key: None,
            body: row.get(6)?,
            prev: Hash::ZERO,
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

#[test]
fn signed_an_edited_journal_approves_nothing() {
    let scratch = pay("signed-forged");
    let request = ask(&scratch, "real");
    accepted(&run(
        &scratch,
        &format!("AS=ann statemark approve {request} --sign-with ann"),
    ));
    let db = Connection::open(scratch.path.join(".statemark/runs.db")).unwrap();
    let decided = read(&db, "real").split_off(2);
    drop(db);
    let moved = |id: &str| -> Vec<Record> {
        let moved = decided.iter().cloned().map(|mut record| {
            record.body = record.body.replace("real:2", &format!("{id}:2"));
            record
        });
        moved.collect()
    };
    // A body of JSON without one of its fields.
    let without = |record: &mut Record, field: &str| {
        let mut body: Value = serde_json::from_str(&record.body).unwrap();
        body.as_object_mut().unwrap().remove(field).unwrap();
        let text = record.body.clone();
        let known = statemark_runs::Body::from_json(&record.kind, record.v, &body.to_string());
        record.body = known.unwrap().to_json();
        if text.starts_with("{\"goes_on\":true") {
            record.body = record.body.replacen('{', "{\"goes_on\":true,", 1);
        }
    };
    type Forgery<'f> = (&'f str, &'f dyn Fn(&mut Vec<Record>), &'f str);
    let forgeries: [Forgery<'_>; 5] = [
        (
            "moved",
            &|records| records.extend(moved("moved")),
            "doesn't count",
        ),
        (
            "bare",
            &|records| {
                let mut moved = moved("bare");
                without(&mut moved[0], "signature");
                records.extend(moved);
            },
            "isn't signed",
        ),
        (
            "unasked",
            &|records| {
                let mut moved = moved("unasked");
                moved.remove(0);
                records.extend(moved);
            },
            "this is of none",
        ),
        (
            "keyless",
            &|records| {
                without(&mut records[0], "signing");
                let mut moved = moved("keyless");
                without(&mut moved[0], "signature");
                records.extend(moved);
            },
            "demands signed decisions",
        ),
        (
            "elsewhere",
            &|records| {
                // The machine's own step, with another end.
                let mut amended = moved("elsewhere").remove(1);
                amended.body = r#"{"event":"amend","step":{"leaves":["accepted"]}}"#.to_owned();
                records.push(amended);
            },
            "something else",
        ),
    ];
    for (id, change, why) in forgeries {
        ask(&scratch, id);
        forge(&scratch, id, change);
        refused(&attacked(&scratch, &["state", id]), why);
        refused(&attacked(&scratch, &["send", id, "execute"]), why);
        refused(&attacked(&scratch, &["store", "verify", "--run", id]), why);
    }
    // What wasn't touched still counts.
    done(&scratch, &["store", "verify", "--run", "real"]);
}

#[test]
fn signed_a_rewound_decision_is_signed_anew() {
    let scratch = pay("signed-rewound");
    let request = ask(&scratch, "r1");
    let approve = format!("AS=ann statemark approve {request}");
    scratch.write("decision", &to_sign(&scratch, "approve", &request));
    let sign = [
        "-q",
        "-Y",
        "sign",
        "-n",
        "statemark",
        "-f",
        "ann",
        "decision",
    ];
    ssh(&scratch.path, "ssh-keygen", &sign);
    let signed = format!("{approve} --signature decision.sig");
    accepted(&run(&scratch, &signed));
    let plan = by_ann(&scratch, &["rewind", "r1", "--to", "2", "--json"]);
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let token = plan["token"].as_str().unwrap();
    by_ann(&scratch, &["rewind", "r1", "--to", "2", "--token", token]);
    stands(&scratch, "r1");
    refused(&run(&scratch, &signed), "has another `rewinds`");
    accepted(&run(&scratch, &format!("{approve} --sign-with ann")));
}

#[test]
fn signed_what_is_signed_is_of_the_data_that_was_looked_at() {
    let scratch = pay("signed-data");
    let request = ask(&scratch, "r1");
    done(
        &scratch,
        &["send", "r1", "amend", "--data", r#"{"amount":1000}"#],
    );
    let said = run(
        &scratch,
        &format!("AS=ann statemark approve {request} --sign-with ann"),
    );
    refused(&said, "asks again");
    stands(&scratch, "r1");
    let open = done(&scratch, &["inbox", "--json"]).stdout;
    let open: Value = serde_json::from_str(open.trim()).unwrap();
    let again = open["request"].as_str().unwrap();
    assert_ne!(again, request);
    accepted(&run(
        &scratch,
        &format!("AS=ann statemark approve {again} --sign-with ann"),
    ));
    done(&scratch, &["store", "verify"]);
}

#[test]
fn signed_a_revoked_key_signed_what_it_signed() {
    let scratch = pay("signed-revoked");
    let (first, second) = (ask(&scratch, "r1"), ask(&scratch, "r2"));
    let approve = |request: &str| {
        run(
            &scratch,
            &format!("AS=ann statemark approve {request} --sign-with ann"),
        )
    };
    accepted(&approve(&first));
    accepted(&run(&scratch, "AS=ann statemark signer revoke ann"));
    refused(&approve(&second), "was revoked");
    stands(&scratch, "r2");
    let state = done(&scratch, &["state", "r1"]).stdout;
    assert!(state.contains("in accepted"), "{state}");
    done(&scratch, &["store", "verify"]);
    refused(
        &run(&scratch, "AS=ann statemark signer add ann ann.pub"),
        "for ever",
    );
    let start = attacked(&scratch, &["start", "pay", "--run-id", "r3"]);
    refused(&start, "no key of theirs");
}

#[test]
fn signed_runs_stay_signed_in_another_store() {
    let scratch = pay("signed-imported");
    let (first, second) = (ask(&scratch, "r1"), ask(&scratch, "r2"));
    accepted(&run(
        &scratch,
        &format!("AS=ann statemark approve {first} --sign-with ann"),
    ));
    done(&scratch, &["store", "export", "runs.jsonl"]);
    let import = "AS=ann statemark store import runs.jsonl --store other.db";
    accepted(&run(&scratch, import));
    let there = ["--store", "other.db"];
    let state = done(&scratch, &[["state", "r1"].as_slice(), &there].concat()).stdout;
    assert!(state.contains("in accepted"), "{state}");
    // The keys are the other store's: here nobody has said whose they are.
    let verify = [["store", "verify"].as_slice(), &there].concat();
    refused(&attacked(&scratch, &verify), "this store didn't know");
    let approve = format!("AS=ann statemark approve {second} --sign-with ann --store other.db");
    refused(&run(&scratch, &approve), "doesn't know the key");
    accepted(&run(
        &scratch,
        "AS=ann statemark signer add ann ann.pub --store other.db",
    ));
    done(&scratch, &verify);
    accepted(&run(&scratch, &approve));
}

#[test]
fn signed_a_server_takes_a_signature_and_makes_none() {
    let scratch = pay("signed-served");
    let request = ask(&scratch, "r1");
    let text = to_sign(&scratch, "approve", &request);
    scratch.write("decision", &text);
    let sign = [
        "-q",
        "-Y",
        "sign",
        "-n",
        "statemark",
        "-f",
        "ann",
        "decision",
    ];
    ssh(&scratch.path, "ssh-keygen", &sign);
    let armor = fs::read_to_string(scratch.path.join("decision.sig")).unwrap();
    let time = statemark_runs::signing::signed_time(&text).unwrap();
    let ann = person_token(&scratch.path, "ann", &[]);
    let key = scratch.path.join("ann");
    let server = Listening::with(&scratch.path, &[], |command| {
        command.env("STATEMARK_SIGNING_KEY", key)
    });
    let header = format!("Authorization: Bearer {ann}\r\n");
    let decide = |signature: Value| {
        let call = json!({"request_id": request, "action": "approve", "signature": signature});
        server.call("resolve_request", &call, &header)
    };
    let answer = decide(Value::Null);
    assert_eq!(answer["error"]["code"], "unsigned", "{answer:#}");
    // A server writes the text that is signed as the command line does, to the one who would sign it.
    let to_sign = |action: &str, header: &str| {
        let call = json!({"request_id": request, "action": action, "to_sign": true});
        server.call("resolve_request", &call, header)
    };
    let told = to_sign("approve", &header);
    let told = told["data"]["to_sign"].as_str().unwrap();
    let timeless = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|it| !it.starts_with("time "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(timeless(told), timeless(&text));
    assert!(statemark_runs::signing::signed_time(told).is_some());
    assert_ne!(
        timeless(told),
        timeless(
            to_sign("deny", &header)["data"]["to_sign"]
                .as_str()
                .unwrap()
        )
    );
    let refused = to_sign("withdraw", &header);
    assert_eq!(refused["error"]["code"], "invalid_arguments", "{refused:#}");
    let bot = by_ann(&scratch, &["token", "create", "bot", "--role", "agent"]);
    let bot = bot.trim();
    let refused = to_sign("approve", &format!("Authorization: Bearer {bot}\r\n"));
    assert_eq!(refused["error"]["code"], "not_a_person", "{refused:#}");
    let answer = decide(json!({"time": time + 1, "armor": armor}));
    assert_eq!(answer["error"]["code"], "bad_signature", "{answer:#}");
    let answer = decide(json!({"time": time, "armor": armor}));
    assert_eq!(answer["ok"], true, "{answer:#}");
}
