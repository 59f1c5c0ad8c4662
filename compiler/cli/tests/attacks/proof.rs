//! What a journal proves: clocks that somebody moves, lost and forged records, runs of other stores, and checks.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rusqlite::{Connection, params};
use statemark_runs::{Actor, Hash, Record, Role};

use super::{DOOR, attacked, done, in_time};
use crate::shell::{Run, Said, Scratch, perform, statemark};

/// A machine with an approval and two timers.
const PAPER: &str = r#"## STATE-MACHINE: paper

```mermaid
stateDiagram-v2
    [*] --> draft
    draft --> review : submit
    review --> published : accept
    review --> stale : after 30d
    published --> [*] : print
```

```json definition
{
  "id": "paper",
  "states": {"review": {"on": {"accept": {"requires_approval": true}}}}
}
```
"#;

/// A workflow that is left when its tests have passed.
const SHIP: &str = r#"## STATE-MACHINE: ship

```mermaid
stateDiagram-v2
    [*] --> working
    working --> [*] : ship
```

```json definition
{
  "id": "ship",
  "checks": {"rel": {"command": ["./run-tests.sh"]}, "tool": {"command": ["the-tests"]}},
  "states": {"working": {"requires": {"ship": ["rel", "tool"]}}}
}
```
"#;

fn paper(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("paper.md", PAPER);
    scratch
}

/// Runs `statemark` by the machine's clock, in a store that isn't for testing.
fn real(scratch: &Scratch, words: &[&str]) -> Said {
    let mut command = statemark(&scratch.path);
    command.args(words).env_remove("STATEMARK_NOW");
    in_time(command)
}

/// Runs `statemark` by another clock.
fn at(scratch: &Scratch, now: &str, words: &[&str]) -> Said {
    let mut command = statemark(&scratch.path);
    command.args(words).env("STATEMARK_NOW", now);
    in_time(command)
}

fn run(scratch: &Scratch, command: &str) -> Said {
    perform(&Run::new(command), &scratch.path)
}

fn ok(said: &Said) -> &str {
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    &said.stdout
}

fn all(said: &Said) -> String {
    format!("{}{}", said.stdout, said.stderr)
}

fn store(scratch: &Scratch) -> PathBuf {
    scratch.path.join(".statemark/runs.db")
}

#[test]
fn h6_a_variable_moves_the_clock_of_no_store() {
    let scratch = paper("attack-h6");
    ok(&real(&scratch, &["start", "paper", "--run-id", "p1"]));
    ok(&real(&scratch, &["send", "p1", "submit"]));
    for words in [
        &["state", "p1"][..],
        &["why", "p1"],
        &["runs"],
        &["inbox"],
        &["send", "p1", "accept"],
        &["start", "paper"],
        &["serve"],
        &["store", "prune", "--older-than", "1d"],
        &["store", "migrate", ".statemark/runs.db", "new.db"],
    ] {
        let said = at(&scratch, "2099-01-01T00:00:00Z", words);
        assert_eq!(said.code, 2, "{words:?}: {}", all(&said));
        let message = all(&said);
        assert!(
            message.contains("wasn't made for testing"),
            "{words:?}: {message}"
        );
    }
    let state = real(&scratch, &["state", "p1"]);
    assert!(ok(&state).contains("in review"), "{}", state.stdout);
    assert!(state.stdout.contains("in 29 days"), "{}", state.stdout);
    // A store that was made for testing is one for as long as it exists, and says so to nobody by chance.
    let test = paper("attack-h6-test");
    ok(&at(
        &test,
        "1800000000000",
        &["start", "paper", "--run-id", "p1"],
    ));
    ok(&at(&test, "1800000000000", &["send", "p1", "submit"]));
    let state = at(&test, "1900000000000", &["state", "p1"]);
    assert!(ok(&state).contains("in stale"), "{}", state.stdout);
}

#[test]
fn m11_a_clock_that_was_ahead_strands_no_timer() {
    let scratch = paper("attack-m11");
    let (today, ahead) = ("1800000000000", "4100000000000");
    ok(&at(&scratch, today, &["start", "paper", "--run-id", "p1"]));
    // The clock jumps into the year 2099, the run goes on, and the clock is set right again.
    ok(&at(&scratch, ahead, &["send", "p1", "submit"]));
    let state = at(&scratch, "1800000060000", &["state", "p1"]);
    let left = ok(&state);
    assert!(
        left.contains("timer") && left.contains("in 30 days"),
        "{left}"
    );
    let events = at(&scratch, "1800000060000", &["events", "p1"]);
    assert!(
        ok(&events).contains("the clock was set back by"),
        "{}",
        events.stdout
    );
    // Thirty days later, which is long before 2099.
    let state = at(&scratch, "1802600000000", &["runs"]);
    assert!(ok(&state).contains("stale"), "{}", state.stdout);
    let verified = at(&scratch, "1802600000000", &["store", "verify"]);
    assert!(ok(&verified).contains("whole"), "{}", verified.stdout);
}

#[test]
fn low_a_time_after_the_year_9999_is_shown() {
    let scratch = paper("attack-low-time");
    let late = "9223372036854775807";
    ok(&at(&scratch, late, &["start", "paper", "--run-id", "p1"]));
    for words in [
        &["events", "p1"][..],
        &["state", "p1"],
        &["runs"],
        &["timeline", "p1"],
    ] {
        let said = at(&scratch, late, words);
        assert_eq!(said.code, 0, "{words:?}: {}", all(&said));
        assert!(!all(&said).contains("panicked"), "{}", all(&said));
    }
    let events = at(&scratch, late, &["events", "p1"]).stdout;
    assert!(events.contains("after the year 9999"), "{events}");
}

/// A store with three runs, of which one has gone on after a copy of the file was taken: the copy.
fn gone_on(name: &str) -> (Scratch, Vec<u8>) {
    let scratch = Scratch::new(name);
    scratch.write("door.md", DOOR);
    for id in ["r1", "r2", "r3"] {
        done(&scratch, &["start", "door", "--run-id", id]);
    }
    let before = fs::read(store(&scratch)).unwrap();
    done(&scratch, &["send", "r1", "push"]);
    done(&scratch, &["send", "r1", "pull"]);
    assert!(!scratch.path.join(".statemark/runs.db-wal").exists());
    (scratch, before)
}

fn is_lost(scratch: &Scratch, what: &str) {
    for words in [&["runs"][..], &["start", "door"], &["send", "r1", "push"]] {
        let said = attacked(scratch, words);
        assert_eq!(said.code, 2, "{words:?}: {}", all(&said));
        let message = all(&said);
        assert!(message.contains("the store has lost records"), "{message}");
        assert!(message.contains(what), "{message}");
        assert!(message.contains("put back what is missing"), "{message}");
    }
}

#[test]
fn m5_a_lost_end_an_emptied_file_and_a_dropped_run_are_told() {
    let (scratch, before) = gone_on("attack-m5");
    ok(&attacked(&scratch, &["store", "verify"]));
    let whole = fs::read(store(&scratch)).unwrap();
    fs::write(store(&scratch), &before).unwrap();
    is_lost(&scratch, "changes, and what is left ends with change");
    let verified = attacked(&scratch, &["store", "verify"]);
    assert_eq!(verified.code, 1, "{}", all(&verified));
    assert!(
        verified.stdout.contains("records are missing"),
        "{}",
        verified.stdout
    );
    fs::write(store(&scratch), b"").unwrap();
    is_lost(&scratch, "its file is empty");
    assert_eq!(
        fs::read(store(&scratch)).unwrap(),
        b"",
        "nothing is written over it"
    );
    fs::remove_file(store(&scratch)).unwrap();
    let said = attacked(&scratch, &["start", "door"]);
    assert!(
        all(&said).contains("the store has lost records"),
        "{}",
        all(&said)
    );
    // What was put back is the store again.
    fs::write(store(&scratch), &whole).unwrap();
    let state = done(&scratch, &["state", "r1"]);
    assert!(state.stdout.contains("in shut"), "{}", state.stdout);
    ok(&attacked(&scratch, &["store", "verify"]));
    let file = Connection::open(store(&scratch)).unwrap();
    file.execute("DELETE FROM runs WHERE run = 'r2'", [])
        .unwrap();
    is_lost(&scratch, "1 run is gone");
    let verified = attacked(&scratch, &["store", "verify"]);
    assert_eq!(verified.code, 1);
    let text = &verified.stdout;
    assert!(
        text.contains("run `r2` isn't there, and `records` has 1 row of it"),
        "{text}"
    );
    file.execute("DELETE FROM records WHERE run = 'r2'", [])
        .unwrap();
    is_lost(&scratch, "1 run is gone");
    // Whoever takes it as it is says so in the store's journal.
    let woken = done(&scratch, &["store", "wake"]);
    assert!(
        woken
            .stdout
            .contains("taken as it is, although 1 run is gone"),
        "{}",
        woken.stdout
    );
    done(&scratch, &["runs"]);
    let noted: String = file
        .query_row(
            "SELECT body FROM records WHERE kind = 'loss.accepted'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!(noted.contains("1 run is gone"), "{noted}");
}

/// What somebody has put into the file does nothing at our next step, and is told.
#[test]
fn second_nothing_in_the_file_acts() {
    let (scratch, _) = gone_on("attack-second-trigger");
    let file = Connection::open(store(&scratch)).unwrap();
    file.execute_batch(
        "CREATE TRIGGER planted AFTER INSERT ON records
         BEGIN INSERT INTO counts VALUES ('planted', 1); END;
         CREATE VIEW seen AS SELECT * FROM counts;",
    )
    .unwrap();
    done(&scratch, &["start", "door", "--run-id", "r9"]);
    let acted: i64 = file
        .query_row(
            "SELECT count(*) FROM counts WHERE name = 'planted'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(acted, 0, "the trigger has acted");
    let verified = attacked(&scratch, &["store", "verify"]);
    assert_eq!(verified.code, 1, "{}", all(&verified));
    for what in ["trigger `planted`", "view `seen`"] {
        assert!(verified.stdout.contains(what), "{}", verified.stdout);
    }
}

#[test]
fn m5_what_lists_and_timers_go_by_is_compared_with_the_records() {
    let scratch = paper("attack-m5-derived");
    done(
        &scratch,
        &["start", "paper", "--run-id", "p1", "--key", "one"],
    );
    done(&scratch, &["send", "p1", "submit"]);
    let file = Connection::open(store(&scratch)).unwrap();
    let forged = [
        (
            "UPDATE runs SET status = 'completed' WHERE run = 'p1'",
            "UPDATE runs SET status = 'running' WHERE run = 'p1'",
            "another status",
        ),
        (
            "UPDATE timers SET due = due + 1 WHERE run = 'p1'",
            "UPDATE timers SET due = due - 1 WHERE run = 'p1'",
            "is missing",
        ),
        (
            "INSERT INTO timers VALUES ('p1', 1, 'timer:x', 1, 0)",
            "DELETE FROM timers WHERE name = 'timer:x'",
            "no record has armed its timer `timer:x`",
        ),
        (
            "INSERT INTO keys VALUES ('p1', 'two', x'00', 1, 1)",
            "DELETE FROM keys WHERE key = 'two'",
            "the store knows 1 key that no record has",
        ),
        (
            "INSERT INTO folds VALUES ('p1', 99, x'00')",
            "DELETE FROM folds WHERE seq = 99",
            "its fold cache is of a record that isn't there",
        ),
        (
            "UPDATE runs SET created = created + 1 WHERE run = 'p1'",
            "UPDATE runs SET created = created - 1 WHERE run = 'p1'",
            "the time of its start",
        ),
        (
            "INSERT INTO keys VALUES ('gone', 'two', x'00', 1, 1)",
            "DELETE FROM keys WHERE run = 'gone'",
            "run `gone` isn't there",
        ),
    ];
    for (forge, mend, word) in forged {
        file.execute(forge, []).unwrap();
        let verified = attacked(&scratch, &["store", "verify"]);
        assert_eq!(verified.code, 1, "{forge}: {}", verified.stdout);
        assert!(
            verified.stdout.contains(word),
            "{forge}: {}",
            verified.stdout
        );
        file.execute(mend, []).unwrap();
    }
    ok(&attacked(&scratch, &["store", "verify"]));
}

/// Changes a record, and makes the chain of hashes after it again, as whoever can write to the file can.
pub(super) fn forge(scratch: &Scratch, run: &str, from: &str, to: &str) {
    let file = Connection::open(store(scratch)).unwrap();
    let sql = "SELECT seq, time, kind, v, role, name, session, body FROM records
               WHERE run = ?1 ORDER BY seq";
    let mut statement = file.prepare(sql).unwrap();
    let records = statement.query_map([run], |row| {
        let number = |at| row.get::<_, i64>(at).map(i64::unsigned_abs);
        Ok(Record {
            seq: number(0)?,
            time: number(1)?,
            kind: row.get(2)?,
            v: row.get(3)?,
            actor: Actor {
                role: Role::from_name(&row.get::<_, String>(4)?).unwrap(),
                name: row.get(5)?,
                session: row.get(6)?,
            },
            key: None,
            body: row.get::<_, String>(7)?.replace(from, to),
            prev: Hash::ZERO,
        })
    });
    let mut prev = Hash::ZERO;
    for record in records.unwrap() {
        let record = Record {
            prev,
            ..record.unwrap()
        };
        let sql = "UPDATE records SET body = ?3, prev = ?4 WHERE run = ?1 AND seq = ?2";
        let seq = i64::try_from(record.seq).unwrap();
        let row = params![run, seq, record.body, prev.as_bytes()];
        file.execute(sql, row).unwrap();
        prev = record.hash();
    }
    let sql = "UPDATE runs SET hash = ?2, summary = replace(summary, ?3, ?4) WHERE run = ?1";
    file.execute(sql, params![run, prev.as_bytes(), from, to])
        .unwrap();
    file.execute("DELETE FROM folds", []).unwrap();
}

#[test]
fn m5_a_forged_journal_departs_from_an_anchor_that_was_kept() {
    let scratch = paper("attack-m5-anchor");
    done(
        &scratch,
        &["start", "paper", "--run-id", "p1", "--title", "ours"],
    );
    done(&scratch, &["start", "paper", "--run-id", "p2"]);
    done(&scratch, &["store", "anchor", "kept.jsonl"]);
    done(&scratch, &["send", "p1", "submit"]);
    let more = done(&scratch, &["store", "anchor", "kept.jsonl"]);
    assert!(
        more.stdout.contains("1 journal has changed"),
        "{}",
        more.stdout
    );
    let compare = ["store", "verify", "--anchor", "kept.jsonl"];
    let same = done(&scratch, &compare);
    assert!(
        same.stdout.contains("as anchored: 4 ends in 2 anchors"),
        "{}",
        same.stdout
    );
    // Growing is no difference.
    done(&scratch, &["start", "paper", "--run-id", "p3"]);
    done(&scratch, &compare);
    forge(&scratch, "p1", "ours", "mine");
    let blind = done(&scratch, &["store", "verify"]);
    assert!(
        blind.stdout.contains("whole"),
        "the chain is right: {}",
        blind.stdout
    );
    let found = attacked(&scratch, &compare);
    assert_eq!(found.code, 1, "{}", found.stdout);
    assert!(
        found
            .stdout
            .contains("run `p1` at record 1: it isn't as it was"),
        "{}",
        found.stdout
    );
    let kept = fs::read(scratch.path.join("kept.jsonl")).unwrap();
    let refused = attacked(&scratch, &["store", "anchor", "kept.jsonl"]);
    assert_eq!(refused.code, 1, "{}", all(&refused));
    assert_eq!(fs::read(scratch.path.join("kept.jsonl")).unwrap(), kept);
    forge(&scratch, "p1", "mine", "ours");
    done(&scratch, &compare);
    // A run that is gone with all that the store knows of it.
    let file = Connection::open(store(&scratch)).unwrap();
    for table in ["records", "keys", "timers", "folds", "runs"] {
        file.execute(&format!("DELETE FROM {table} WHERE run = 'p2'"), [])
            .unwrap();
    }
    file.execute(
        "UPDATE counts SET value = value - 1 WHERE name = 'runs'",
        [],
    )
    .unwrap();
    fs::remove_file(scratch.path.join(".statemark/runs.db-mark")).unwrap();
    done(&scratch, &["store", "verify"]);
    let found = attacked(&scratch, &compare);
    assert_eq!(found.code, 1, "{}", found.stdout);
    assert!(
        found
            .stdout
            .contains("run `p2`: it is gone, and nobody has pruned it"),
        "{}",
        found.stdout
    );
}

#[test]
fn m7_a_pruned_run_leaves_its_end_and_its_id_is_no_others() {
    let scratch = paper("attack-m7-tombstone");
    done(
        &scratch,
        &["start", "paper", "--run-id", "p1", "--title", "first"],
    );
    done(&scratch, &["cancel", "p1"]);
    done(&scratch, &["store", "export", "p1.jsonl"]);
    done(&scratch, &["store", "anchor", "kept.jsonl"]);
    ok(&run(
        &scratch,
        "AS=ann statemark store prune --keep 0 --yes",
    ));
    let compare = ["store", "verify", "--anchor", "kept.jsonl"];
    let same = done(&scratch, &compare);
    assert!(
        same.stdout.contains("1 run was pruned since"),
        "{}",
        same.stdout
    );
    let again = attacked(&scratch, &["start", "paper", "--run-id", "p1"]);
    assert_ne!(again.code, 0, "{}", again.stdout);
    assert!(
        all(&again).contains("a run `p1` was pruned"),
        "{}",
        all(&again)
    );
    // Another history under its id doesn't come in by an import either, and the run itself does.
    let other = paper("attack-m7-other");
    done(
        &other,
        &["start", "paper", "--run-id", "p1", "--title", "other"],
    );
    done(&other, &["store", "export", "p1.jsonl"]);
    fs::copy(
        other.path.join("p1.jsonl"),
        scratch.path.join("other.jsonl"),
    )
    .unwrap();
    let foreign = run(&scratch, "AS=ann statemark store import other.jsonl");
    assert_ne!(foreign.code, 0, "{}", foreign.stdout);
    assert!(
        all(&foreign).contains("was pruned here, and this is another"),
        "{}",
        all(&foreign)
    );
    ok(&run(&scratch, "AS=ann statemark store import p1.jsonl"));
    let state = done(&scratch, &["state", "p1"]);
    assert!(
        state.stdout.contains("imported by ann (person)"),
        "{}",
        state.stdout
    );
    done(&scratch, &compare);
}

#[test]
fn c4_decisions_of_another_store_count_for_nothing_here() {
    // Somebody is a person in a store of their own, and decides there.
    let evil = paper("attack-c4-evil");
    done(&evil, &["start", "paper", "--run-id", "p1"]);
    done(&evil, &["send", "p1", "submit"]);
    let asked = attacked(&evil, &["send", "p1", "accept"]);
    assert_eq!(asked.code, 0, "{}", all(&asked));
    ok(&run(&evil, "AS=ann statemark approve p1:3"));
    done(&evil, &["store", "export", "forged.jsonl"]);
    let scratch = paper("attack-c4-import");
    fs::copy(
        evil.path.join("forged.jsonl"),
        scratch.path.join("forged.jsonl"),
    )
    .unwrap();
    ok(&run(&scratch, "AS=ann statemark store import forged.jsonl"));
    for words in [
        &["state", "p1"][..],
        &["state", "p1", "--json"],
        &["runs"],
        &["runs", "--json"],
    ] {
        let said = done(&scratch, words).stdout;
        assert!(said.contains("ann (person)"), "{words:?}: {said}");
        assert!(said.contains("imported"), "{words:?}: {said}");
    }
    let printed = attacked(&scratch, &["send", "p1", "print"]);
    assert_ne!(printed.code, 0, "{}", printed.stdout);
    let state = done(&scratch, &["state", "p1"]).stdout;
    assert!(
        state.contains("in published") && state.contains("paused"),
        "{state}"
    );
    assert!(state.contains("`p1:3` approved by ann (person)"), "{state}");
    // No agent goes on with it, and a person does.
    assert_ne!(attacked(&scratch, &["continue", "p1"]).code, 0);
    ok(&run(&scratch, "AS=ann statemark continue p1"));
    done(&scratch, &["send", "p1", "print"]);
}

#[test]
fn c4_an_event_that_nobody_approved_rests_until_a_person_continues() {
    let scratch = paper("attack-c4-event");
    done(&scratch, &["start", "paper", "--run-id", "p1"]);
    done(&scratch, &["send", "p1", "submit"]);
    attacked(&scratch, &["send", "p1", "accept"]);
    ok(&run(&scratch, "AS=ann statemark approve p1:3"));
    // A journal needn't have the approval that it follows from.
    let file = Connection::open(store(&scratch)).unwrap();
    let is_not = "run = 'p1' AND kind IN ('request.opened', 'request.resolved')";
    let sql =
        format!("UPDATE records SET kind = 'note', body = '{{\"text\":\"x\"}}' WHERE {is_not}");
    file.execute(&sql, []).unwrap();
    file.execute("DELETE FROM keys", []).unwrap();
    file.execute("UPDATE records SET key = NULL", []).unwrap();
    forge(&scratch, "p1", "-", "-");
    done(&scratch, &["store", "export", "forged.jsonl"]);
    let other = paper("attack-c4-event-import");
    fs::copy(
        scratch.path.join("forged.jsonl"),
        other.path.join("forged.jsonl"),
    )
    .unwrap();
    ok(&run(&other, "AS=bob statemark store import forged.jsonl"));
    let state = done(&other, &["state", "p1"]).stdout;
    assert!(state.contains("took what needs an approval"), "{state}");
    assert_ne!(attacked(&other, &["send", "p1", "print"]).code, 0);
}

/// A program that passes or fails.
fn program(scratch: &Scratch, name: &str, text: &str) {
    scratch.write(name, text);
    let path = scratch.path.join(name);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn h7_a_required_check_counts_in_its_own_project_alone() {
    let victim = Scratch::new("attack-h7");
    victim.write("ship.md", SHIP);
    program(&victim, "run-tests.sh", "#!/bin/sh\nexit 1\n");
    program(&victim, "bin/the-tests", "#!/bin/sh\nexit 0\n");
    let path = format!("{}:/usr/bin:/bin", victim.path.join("bin").display());
    let by_path = |scratch: &Scratch, path: &str, words: &[&str]| {
        let mut command = statemark(&scratch.path);
        command.args(words).env("PATH", path);
        in_time(command)
    };
    ok(&by_path(
        &victim,
        &path,
        &["start", "ship", "--run-id", "g1"],
    ));
    let evil = Scratch::new("attack-h7-evil");
    program(&evil, "run-tests.sh", "#!/bin/sh\nexit 0\n");
    program(&evil, "bin/the-tests", "#!/bin/sh\nexit 0\n# another\n");
    let other = store(&victim);
    let forged = [
        "run-check",
        "rel",
        "--run",
        "g1",
        "--store",
        other.to_str().unwrap(),
    ];
    ok(&by_path(&evil, &path, &forged));
    ok(&by_path(
        &victim,
        &path,
        &["run-check", "tool", "--run", "g1"],
    ));
    let shipped = attacked(&victim, &["send", "g1", "ship"]);
    assert_eq!(shipped.code, 1, "{}", shipped.stdout);
    let message = all(&shipped);
    assert!(
        message.contains("check `rel` ran in another project"),
        "{message}"
    );
    // In the right project, with another search path.
    program(&victim, "run-tests.sh", "#!/bin/sh\nexit 0\n");
    ok(&by_path(
        &victim,
        &path,
        &["run-check", "rel", "--run", "g1"],
    ));
    let elsewhere = format!("{}:/usr/bin:/bin", evil.path.join("bin").display());
    ok(&by_path(
        &victim,
        &elsewhere,
        &["run-check", "tool", "--run", "g1"],
    ));
    let shipped = attacked(&victim, &["send", "g1", "ship"]);
    assert_eq!(shipped.code, 1, "{}", shipped.stdout);
    let message = all(&shipped);
    assert!(
        message.contains("check `tool` ran `") && message.contains("evil"),
        "{message}"
    );
    ok(&by_path(
        &victim,
        &path,
        &["run-check", "tool", "--run", "g1"],
    ));
    done(&victim, &["send", "g1", "ship"]);
}

#[test]
fn h7_what_a_check_loads_is_what_it_declares() {
    let scratch = Scratch::new("attack-h7-environment");
    scratch.write("statemark.toml", "[checks.c]\ncommand = [\"env\"]\n[checks.d]\ncommand = [\"env\"]\ninherit = [\"PYTHONPATH\"]\n");
    let run = |name: &str| {
        let mut command = statemark(&scratch.path);
        command.args(["run-check", name]);
        for variable in ["LD_LIBRARY_PATH", "BASH_ENV", "PYTHONPATH", "NODE_OPTIONS"] {
            command.env(variable, "/evil");
        }
        in_time(command)
    };
    let plain = run("c");
    assert!(!ok(&plain).contains("/evil"), "{}", plain.stdout);
    let declared = run("d");
    assert!(
        ok(&declared).contains("PYTHONPATH=/evil"),
        "{}",
        declared.stdout
    );
}
