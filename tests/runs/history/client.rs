//! A client that writes down what it asks and what it is answered, so that a `kill -9` loses none of it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use statemark_runs::{
    Actor, Append, Appended, Expect, Fence, Hash, Key, NewRecord, Role, RunId, RunSummary, Store,
    StoreError,
};

use super::{Answer, Ask, Call};

/// A line of a log: a question, or the answer to the question before it.
#[derive(Serialize, Deserialize)]
enum Line {
    Asked(Call),
    Answered(u64, Answer),
}

pub(crate) struct Client<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) name: String,
    log: File,
    count: u64,
}

/// What an append of a client has besides its run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct On {
    pub(crate) expected: Option<u64>,
    pub(crate) fence: Option<u64>,
    pub(crate) count: u64,
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_nanos()).unwrap()
}

impl<'a> Client<'a> {
    /// A client with a log of its own in a folder.
    pub(crate) fn new(store: &'a dyn Store, folder: &Path, name: &str) -> Self {
        let path = folder.join(format!("{name}.log"));
        let log = OpenOptions::new().append(true).create(true).open(path);
        Self {
            store,
            name: name.to_owned(),
            log: log.unwrap(),
            count: 0,
        }
    }

    /// One write for each line: a process that is killed has written it or not.
    fn write(&mut self, line: &Line) {
        let line = serde_json::to_string(line).unwrap() + "\n";
        self.log.write_all(line.as_bytes()).unwrap();
    }

    fn call(&mut self, run: &RunId, ask: Ask, act: impl FnOnce(&dyn Store) -> Answer) -> Answer {
        let start = now();
        self.write(&Line::Asked(Call {
            client: self.name.clone(),
            run: run.clone(),
            ask,
            start,
            end: None,
        }));
        let answer = act(self.store);
        self.write(&Line::Answered(now(), answer.clone()));
        answer
    }

    /// Appends notes under a new key.
    pub(crate) fn append(&mut self, run: &RunId, on: On) -> Answer {
        self.count += 1;
        let key = format!("{}-{}", self.name, self.count).parse().unwrap();
        self.append_under(run, &key, on)
    }

    /// Appends notes under a key: again, if somebody has asked it before.
    pub(crate) fn append_under(&mut self, run: &RunId, key: &Key, on: On) -> Answer {
        let count = on.count.max(1);
        let ask = Ask::Append {
            key: key.clone(),
            count,
            expected: on.expected,
            fence: on.fence,
        };
        let append = append(run, key, count, on);
        self.call(run, ask, |store| match store.append(&append) {
            Ok(Appended::Done { first, last }) => Answer::Done { first, last },
            Ok(Appended::Replayed { first, last }) => Answer::Replayed { first, last },
            Err(StoreError::Conflict { actual }) => Answer::Conflict { actual },
            Err(StoreError::Fenced { newest }) => Answer::Fenced { newest: newest.0 },
            Err(StoreError::Unknown { .. }) => Answer::Unknown,
            Err(_) => Answer::Refused,
        })
    }

    /// Reads the end of a run.
    pub(crate) fn read(&mut self, run: &RunId) -> Answer {
        self.call(run, Ask::Read, |store| match store.head(run) {
            Ok(head) => Answer::Read {
                seq: head.seq,
                hash: head.hash.to_string(),
            },
            Err(_) => Answer::Refused,
        })
    }
}

/// The append that a key stands for: asked again, it is the same.
fn append(run: &RunId, key: &Key, count: u64, on: On) -> Append {
    let note = |index| NewRecord {
        time: now() / 1_000_000,
        kind: "note".to_owned(),
        v: 1,
        actor: Actor::new(Role::Agent).with_name(key.as_str()),
        body: format!("{{\"text\":\"{key} {index}, and some words about it\"}}"),
    };
    Append {
        run: run.clone(),
        expect: match on.expected {
            None => Expect::Any,
            Some(0) => Expect::NoRun,
            Some(seq) => Expect::At(seq),
        },
        key: Some((key.clone(), Hash::digest(key.as_str().as_bytes()))),
        fence: on.fence.map(Fence),
        records: (0..count).map(note).collect(),
        summary: RunSummary {
            workflow: "order".to_owned(),
            status: "running".to_owned(),
            ..RunSummary::default()
        },
        timers: None,
    }
}

/// What a client has written down. The last line of one that was killed may be torn.
pub(crate) fn read_log(path: &Path) -> Vec<Call> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut calls: Vec<Call> = Vec::new();
    for line in text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
    {
        match serde_json::from_str(line).unwrap() {
            Line::Asked(call) => calls.push(call),
            Line::Answered(end, answer) => {
                let call = calls.last_mut().unwrap();
                assert_eq!(call.end, None, "two answers to one question");
                call.end = Some((end, answer));
            }
        }
    }
    calls
}
