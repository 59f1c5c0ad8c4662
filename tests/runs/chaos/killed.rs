//! Writers that are killed at any moment, with `kill -9`, and followed by others that ask again what got no answer.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use rusqlite::Connection;
use statemark_runs::{RunId, Store as _};
use statemark_stores::SqliteStore;

use super::{BEFORE, Dice, Told, begin, is_long, new_folder, notify, open, process};
use crate::history::{Answer, Ask, Call, Client, History, On, check, read_log};

const RUNS: u64 = 4;
const WRITERS: usize = 4;

/// Threads of each writer, whose appends share transactions.
const THREADS: u64 = 3;

fn run(number: u64) -> RunId {
    format!("r{number}").parse().unwrap()
}

/// The log of a writer's thread.
fn log_name(writer: &str, thread: u64) -> String {
    format!("{writer}-{thread}")
}

/// What a writer's threads have written down.
pub(super) fn read_logs(folder: &Path, writer: &str) -> Vec<Call> {
    let logs = (0..THREADS).map(|thread| folder.join(log_name(writer, thread) + ".log"));
    logs.filter(|path| path.exists())
        .flat_map(|path| read_log(&path))
        .collect()
}

/// Writes until it is killed, or told to stop.
pub(super) fn write(told: &Told) {
    let store = open(&told.folder);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, name) = (&store, log_name(&told.name, thread));
            let before = told.before.as_ref().map(|name| log_name(name, thread));
            scope.spawn(move || write_alone(store, told, &name, before.as_deref()));
        }
    });
}

fn write_alone(store: &SqliteStore, told: &Told, name: &str, before: Option<&str>) {
    let mut client = Client::new(store, &told.folder, name);
    // Who was killed before the first word has left no log.
    let is_there = |name: &&str| told.folder.join(format!("{name}.log")).exists();
    if let Some(before) = before.filter(is_there) {
        repeat(&mut client, &told.folder, before);
    }
    let mut dice = Dice::of(name);
    let stop = told.folder.join("stop");
    while !stop.exists() {
        let run = run(dice.below(RUNS));
        let on = On {
            count: 1 + dice.below(3) / 2 * dice.below(4),
            ..On::default()
        };
        match dice.below(8) {
            0 | 1 => {
                let expected = match client.read(&run) {
                    Answer::Read { seq, .. } => Some(seq),
                    _ => Some(0),
                };
                client.append(&run, On { expected, ..on });
            }
            // What isn't a journal is written in between.
            2 => _ = store.put_fold_cache(&run, 1, name.as_bytes()),
            _ => _ = client.append(&run, on),
        }
    }
}

/// Asks again what the one before got no answer to.
fn repeat(client: &mut Client<'_>, folder: &Path, before: &str) {
    let Some(call) = read_log(&folder.join(format!("{before}.log"))).pop() else {
        return;
    };
    if let (
        Call { run, end: None, .. },
        Ask::Append {
            key,
            count,
            expected,
            fence,
        },
    ) = (&call, &call.ask)
    {
        let on = On {
            count: *count,
            expected: *expected,
            fence: *fence,
        };
        client.append_under(run, key, on);
    }
}

/// The writers of one folder.
struct Writers<'a> {
    folder: &'a Path,
    alive: Vec<(Child, String)>,
    names: Vec<String>,
}

impl Writers<'_> {
    fn begin(&mut self, before: Option<&str>) {
        let name = format!("w{}", self.names.len());
        let mut command = process("writer", self.folder, &name);
        if let Some(before) = before {
            command.env(BEFORE, before);
        }
        self.alive.push((begin(command), name.clone()));
        self.names.push(name);
    }

    fn kill(&mut self, which: usize) {
        let (mut child, name) = self.alive.remove(which);
        child.kill().unwrap();
        child.wait().unwrap();
        self.begin(Some(&name));
    }

    fn calls(&self) -> Vec<Call> {
        let names = self.names.iter();
        names
            .flat_map(|name| read_logs(self.folder, name))
            .collect()
    }

    fn acknowledged(&self) -> usize {
        let is_done = |call: &&Call| matches!(call.end, Some((_, Answer::Done { .. })));
        self.calls().iter().filter(is_done).count()
    }
}

#[test]
fn nothing_acknowledged_is_lost_or_doubled_when_writers_are_killed() {
    let (kills, appends, most) = if is_long() {
        (50, 20_000, 700)
    } else {
        (8, 200, 150)
    };
    let folder = new_folder();
    let mut writers = Writers {
        folder: &folder,
        alive: Vec::new(),
        names: Vec::new(),
    };
    for _ in 0..WRITERS {
        writers.begin(None);
    }
    let mut dice = Dice::of("killer");
    let mut killed = 0;
    while killed < kills || writers.acknowledged() < appends {
        // Now and then before it has opened the file.
        std::thread::sleep(Duration::from_millis(10 + dice.below(most)));
        let which = usize::try_from(dice.below(WRITERS as u64)).unwrap();
        writers.kill(which);
        killed += 1;
    }
    notify(&folder, "stop");
    for (child, _) in &mut writers.alive {
        assert!(child.wait().unwrap().success());
    }
    let store = open(&folder);
    let history = History::of(&store, writers.calls());
    let faults = check(&history);
    let unanswered = history
        .calls
        .iter()
        .filter(|call| call.end.is_none())
        .count();
    let replayed = |call: &&Call| matches!(call.end, Some((_, Answer::Replayed { .. })));
    println!(
        "{killed} kills, {} acknowledged appends, {unanswered} unanswered calls, {} of them found done when asked again",
        history.acknowledged(),
        history.calls.iter().filter(replayed).count(),
    );
    let rules: BTreeSet<String> = faults.iter().map(ToString::to_string).collect();
    assert!(rules.is_empty(), "{rules:#?}");
    let connection = Connection::open(folder.join("runs.db")).unwrap();
    let whole: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(whole, "ok");
}
