//! What held in the review, and still has to: disks without room, bytes that change, decisions that race.
//!
//! Each test uses the built program alone, and looks at what is in the store afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;

use super::{DOOR, attacked, done, in_time};
use crate::shell::{BINARY, Said, Scratch, statemark, token, untouched};

/// A payment that somebody has to approve.
const PAY: &str = "## STATE-MACHINE: pay\n\n```mermaid\nstateDiagram-v2\n    [*] --> asked\n    asked --> [*] : accept\n```\n\n```json definition\n{\"id\": \"pay\", \"states\": {\"asked\": {\"on\": {\"accept\": {\"requires_approval\": true}}}}}\n```\n";

/// Largest sizes of a file, around those that a store's files have while an event is sent. Unit: blocks of 512 bytes.
const FILE_SIZES: [u32; 12] = [0, 8, 40, 72, 96, 104, 112, 120, 136, 160, 176, 400];

/// Sends events onto a file system of a megabyte, of which a filler leaves some room, and tells what came of each.
///
/// A namespace of its own makes it possible without privileges. Exit code 77: there are none here.
const FULL: &str = r#"
mount -t tmpfs -o size=1m none full 2>/dev/null || exit 77
on_disk() { "$BIN" "$@" --store full/runs.db; }
on_disk start door --run-id d1 >/dev/null || exit 1
number=0
for room in 0 4 8 12 16 24 32 36 40 44 48 52 56 64 80 96 200; do
    number=$((number + 1))
    dd if=/dev/zero of=full/filler bs=4096 2>/dev/null
    truncate -s -${room}K full/filler
    on_disk send d1 push --key "k$number" >/dev/null 2>told
    echo "k$number $? $(head -n 1 told)"
    rm full/filler
done
on_disk store verify >&2 || exit 1
on_disk send d1 push --key last >/dev/null
echo "last $?"
on_disk store verify >&2 || exit 1
on_disk events d1 --json
"#;

/// Counts the records of run `d1` under each key.
fn keys(journal: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in journal.lines().filter(|line| line.starts_with('{')) {
        let record: Value = serde_json::from_str(line).unwrap();
        if let Some(key) = record["key"].as_str() {
            *counts.entry(key.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// A send: its key, its exit code unless a signal ended it, and what it said.
type Sent = (String, Option<i32>, String);

/// Asserts that what was acknowledged is in the journal once, that nothing is there twice, and that failures say why.
fn is_kept(sent: &[Sent], counts: &BTreeMap<String, usize>) {
    let mut failed = 0;
    for (key, code, said) in sent {
        match code {
            // Refused is an answer, too: the door was open already.
            Some(0 | 1) => assert_eq!(counts.get(key), Some(&1), "{key}: {counts:?}"),
            Some(2) => {
                failed += 1;
                assert!(
                    said.starts_with("error: ") && said.contains("disk"),
                    "{key}: {said}"
                );
            }
            Some(code) => panic!("{key} ended with {code}: {said}"),
            None => failed += 1,
        }
    }
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    assert!(failed > 3 && failed < sent.len(), "{failed}: {sent:?}");
}

#[test]
fn a_full_disk_loses_no_acknowledged_send() {
    let scratch = Scratch::new("attack-full");
    scratch.write("door.md", DOOR);
    fs::create_dir(scratch.path.join("full")).unwrap();
    let unshare = untouched("unshare", &scratch.path)
        .args(["--map-root-user", "--mount", "sh", "-c", FULL])
        .env("BIN", BINARY)
        .output();
    // A system without namespaces for everybody: limits of files' sizes show the same.
    let Some(output) = unshare.ok().filter(|it| !is_unable(it)) else {
        return;
    };
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(error.matches("whole: ").count(), 2, "{error}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('{'));
    let sent: Vec<Sent> = lines
        .map(|line| {
            let mut words = line.splitn(3, ' ').map(str::to_owned);
            let mut word = || words.next().unwrap_or_default();
            (word(), word().parse().ok(), word())
        })
        .collect();
    is_kept(&sent, &keys(&text));
    assert!(matches!(sent.last().unwrap().1, Some(0 | 1)), "{sent:?}");
}

fn is_unable(output: &Output) -> bool {
    output.status.code() == Some(77)
        || String::from_utf8_lossy(&output.stderr).starts_with("unshare: ")
}

/// The system refuses to let a file grow: by an error, or by a signal that ends the program.
#[test]
fn a_file_that_may_not_grow_loses_no_acknowledged_send() {
    let scratch = Scratch::new("attack-file-size");
    scratch.write("door.md", DOOR);
    done(&scratch, &["start", "door", "--run-id", "d1"]);
    let mut sent = Vec::new();
    for size in FILE_SIZES {
        for trap in ["", "trap '' XFSZ; "] {
            let key = format!("k{}", sent.len());
            let script =
                format!("{trap}ulimit -f {size}; exec \"$BIN\" send d1 push --key {key} 2>&1");
            let mut sh = untouched("sh", &scratch.path);
            let output = sh
                .args(["-c", &script])
                .env("BIN", BINARY)
                .stderr(Stdio::null())
                .output()
                .unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            sent.push((key, output.status.code(), said));
        }
    }
    done(&scratch, &["store", "verify"]);
    let last = attacked(&scratch, &["send", "d1", "push", "--key", "last"]);
    sent.push(("last".to_owned(), Some(last.code), last.stderr));
    assert!(matches!(last.code, 0 | 1), "{sent:?}");
    done(&scratch, &["store", "verify"]);
    let journal = done(&scratch, &["events", "d1", "--json"]).stdout;
    is_kept(&sent, &keys(&journal));
}

/// Numbers that look like chance, the same each time: xorshift of 64 bits.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % limit
    }
}

/// The files of a store, to be put back.
struct Files(Vec<(PathBuf, Vec<u8>)>);

impl Files {
    fn read(folder: &Path) -> Self {
        let entries = fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        Self(
            paths
                .map(|it| (it.clone(), fs::read(it).unwrap()))
                .collect(),
        )
    }

    /// Puts them back, without whatever is there besides.
    fn restore(&self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if !self.0.iter().any(|(kept, _)| *kept == path) {
                fs::remove_file(path).unwrap();
            }
        }
        for (path, bytes) in &self.0 {
            fs::write(path, bytes).unwrap();
        }
    }
}

/// How many bytes are changed, one at a time.
const FLIPS: usize = 120;

/// What a store says of everything that counts.
const TOLD: [&[&str]; 5] = [
    &["store", "export", "-"],
    &["runs", "--json"],
    &["inbox", "--json"],
    &["token", "list", "--json"],
    &["state", "p2", "--json"],
];

/// What is done with a store that nobody has verified.
const USED: [&[&str]; 3] = [&["send", "d1", "push"], &["why", "p2"], &["replay", "p1"]];

#[test]
fn a_changed_byte_is_told_or_changes_nothing() {
    let scratch = Scratch::new("attack-flips");
    scratch.write("door.md", DOOR);
    scratch.write("pay.md", PAY);
    let ann = token(&scratch.path, "ann --role person");
    done(&scratch, &["start", "door", "--run-id", "d1"]);
    for key in ["a", "b", "c", "d"] {
        attacked(&scratch, &["send", "d1", "push", "--key", key]);
    }
    for run in ["p1", "p2"] {
        done(&scratch, &["start", "pay", "--run-id", run]);
        done(&scratch, &["send", run, "accept"]);
    }
    assert_eq!(decide(&scratch, &ann, "approve", "p1:2").code, 0);
    let told = || TOLD.map(|words| without_requests_of_keys(&attacked(&scratch, words).stdout));
    let before = told();
    let folder = scratch.path.join(".statemark");
    let files = Files::read(&folder);
    let file = folder.join("runs.db");
    let bytes = fs::read(&file).unwrap();
    // Most of the file is room that is still free.
    let used: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut found, mut silent) = (0, 0);
    for number in 0..FLIPS {
        let at = match number % 6 {
            // The head, by which the database says what it is.
            0 => dice.below(100),
            1 => dice.below(bytes.len()),
            _ => used[dice.below(used.len())],
        };
        let mut changed = bytes.clone();
        changed[at] ^= u8::try_from(1 + dice.below(255)).unwrap();
        let change = format!("byte {at}: {} becomes {}", bytes[at], changed[at]);
        files.restore(&folder);
        fs::write(&file, &changed).unwrap();
        let verified = attacked(&scratch, &["store", "verify"]);
        is_no_panic(&verified, &change);
        if verified.code == 0 {
            silent += 1;
            assert_eq!(told(), before, "{change}");
        } else {
            found += 1;
            let all = format!("{}{}", verified.stdout, verified.stderr);
            assert!(!all.trim().is_empty(), "{change}");
            is_no_panic(&attacked(&scratch, TOLD[number % TOLD.len()]), &change);
        }
        // Whoever doesn't verify first meets no panic either.
        is_no_panic(&attacked(&scratch, USED[number % USED.len()]), &change);
    }
    assert!(
        found > FLIPS / 4 && silent > 0,
        "{found} found, {silent} silent"
    );
}

/// Leaves out which request a key was first used for, and the checksum that goes over it: no record has that hash.
///
/// Whoever asks again is refused if it was changed by accident, and nothing is done twice. Another key's hash in its place
/// has a request that was never made acknowledged; who can write that can write any record.
fn without_requests_of_keys(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("{\"end\":"));
    let lines = lines.map(|line| match line.split_once("\",\"request\":\"") {
        Some((key, _)) if line.starts_with("{\"key\":") => key,
        _ => line,
    });
    lines.map(|line| format!("{line}\n")).collect()
}

fn is_no_panic(said: &Said, change: &str) {
    let all = format!("{}{}", said.stdout, said.stderr);
    assert!(
        (0..=2).contains(&said.code) && !all.contains("panicked"),
        "{change}: {}: {all}",
        said.code
    );
}

/// Takes a decision by command, with a token.
fn decide(scratch: &Scratch, token: &str, verdict: &str, request: &str) -> Said {
    let mut command = statemark(&scratch.path);
    command
        .args([verdict, request])
        .env("STATEMARK_TOKEN", token);
    in_time(command)
}

/// How many processes decide at once.
const DECIDERS: usize = 12;

#[test]
fn of_many_decisions_at_once_one_is_taken() {
    let scratch = Scratch::new("attack-race");
    scratch.write("pay.md", PAY);
    let tokens = ["ann", "ben"].map(|name| token(&scratch.path, &format!("{name} --role person")));
    for round in 0..4 {
        let run = format!("p{round}");
        done(&scratch, &["start", "pay", "--run-id", &run]);
        done(&scratch, &["send", &run, "accept"]);
        let request = format!("{run}:2");
        let said: Vec<(&str, Said)> = std::thread::scope(|scope| {
            let deciders = (0..DECIDERS).map(|number| {
                let (scratch, request) = (&scratch, &request);
                let token = &tokens[number / 2 % 2];
                let verdict = ["approve", "deny"][(number + round) % 2];
                scope.spawn(move || (verdict, decide(scratch, token, verdict, request)))
            });
            let deciders: Vec<_> = deciders.collect();
            deciders.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let journal = done(&scratch, &["events", &run, "--json"]).stdout;
        let records = journal.lines().map(|it| serde_json::from_str(it).unwrap());
        let decided: Vec<Value> = records
            .filter(|it: &Value| it["kind"] == "request.resolved")
            .collect();
        assert_eq!(decided.len(), 1, "{journal}");
        let who = decided[0]["actor"]["name"].as_str().unwrap();
        let (taken, what) = match decided[0]["body"]["resolution"].as_str() {
            Some("approved") => ("approve", "approved"),
            _ => ("deny", "denied"),
        };
        let stands = format!("`{request}` was {what} by {who} (person) at record 3; that stands");
        let mut first = 0;
        for (verdict, said) in &said {
            let all = format!("{verdict}: {}{}", said.stdout, said.stderr);
            // Whoever decided the same is told that it had been done before.
            let is_as_taken = *verdict == taken;
            assert_eq!(said.code, i32::from(!is_as_taken), "{all}");
            assert!(is_as_taken || all.contains(&stands), "{stands}: {all}");
            first += u32::from(is_as_taken && !all.contains("answered before"));
        }
        assert_eq!(first, 1, "{said:?}");
        done(&scratch, &["store", "verify"]);
    }
}
