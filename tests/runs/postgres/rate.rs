//! How quick an append is, against the same statement by the driver alone.
//!
//! On a connection of each kind, in turns of a fraction of a second so that both see the same disk; then by sixteen
//! threads with runs of their own, whose commits the server joins. What the store adds: the chain, the pool, and the
//! thread that waits. The ratios are printed; they are asserted where a disk and a processor are promised
//! (`STATEMARK_RATE=required`).

use std::time::{Duration, Instant};

use statemark_runs::{Expect, Store};
use statemark_stores::PostgresStore;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

use super::checks::note;
use super::server;

/// How long one turn takes, and how many there are.
const TURN: Duration = Duration::from_millis(150);
const TURNS: u32 = 20;

/// How many write at once.
const CROWD: u32 = 16;

/// Below this the store would be in the way. Source: the promise in the design of stores.
const LEAST: f64 = 0.8;

#[test]
fn an_append_is_nearly_as_quick_as_the_driver() {
    let Some(server) = server("the rate of appends", true) else {
        return;
    };
    let address = server.database("rate");
    let store = PostgresStore::open(&address).unwrap();
    for crowd in [1, CROWD] {
        let ours: Vec<String> = (0..crowd)
            .map(|number| format!("ours-{crowd}-{number}"))
            .collect();
        let bare: Vec<String> = (0..crowd)
            .map(|number| format!("bare-{crowd}-{number}"))
            .collect();
        for run in ours.iter().chain(&bare) {
            store.append(&note(run, Expect::NoRun, None)).unwrap();
        }
        let runtime = runtime();
        let bare = bare
            .iter()
            .map(|run| runtime.block_on(Bare::new(&address, run)));
        let mut bare: Vec<Bare> = bare.collect();
        let (mut by_us, mut by_driver) = (0, 0);
        for _ in 0..TURNS {
            let end = Instant::now() + TURN;
            by_us += std::thread::scope(|scope| {
                let writers = ours.iter().map(|run| {
                    let store = &store;
                    scope.spawn(move || write(store, run, end))
                });
                let writers: Vec<_> = writers.collect();
                writers
                    .into_iter()
                    .map(|it| it.join().unwrap())
                    .sum::<u32>()
            });
            let end = Instant::now() + TURN;
            by_driver += runtime.block_on(async {
                let writers = std::mem::take(&mut bare).into_iter();
                let writers: Vec<_> = writers.map(|it| tokio::spawn(it.write(end))).collect();
                let mut count = 0;
                for writer in writers {
                    let (writer, written) = writer.await.unwrap();
                    bare.push(writer);
                    count += written;
                }
                count
            });
        }
        let seconds = TURN.as_secs_f64() * f64::from(TURNS);
        let (ours, theirs) = (f64::from(by_us) / seconds, f64::from(by_driver) / seconds);
        let ratio = ours / theirs;
        eprintln!(
            "{crowd} at once: {ours:.0} appends a second, {theirs:.0} by the driver alone: {ratio:.2}"
        );
        if std::env::var("STATEMARK_RATE").as_deref() == Ok("required") {
            assert!(ratio >= LEAST, "{ratio:.2} of the driver's rate by {crowd}");
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}

/// Appends to a run up to a moment; returns how often.
fn write(store: &PostgresStore, run: &str, end: Instant) -> u32 {
    let mut count = 0;
    while Instant::now() < end {
        let last = store.head(&run.parse().unwrap()).unwrap().seq;
        let append = note(run, Expect::At(last), Some(&last.to_string()));
        store.append(&append).unwrap();
        count += 1;
    }
    count
}

type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The statement of an append, by hand, and the one that reads the end of a run.
struct Bare {
    client: Client,
    head: Statement,
    append: Statement,
    run: String,
}

impl Bare {
    async fn new(address: &str, run: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
        tokio::spawn(connection);
        let head = "SELECT run, seq, hash, created, updated, forked_from, forked_at, summary
            FROM statemark_runs WHERE run = $1";
        let append = "WITH head AS (UPDATE statemark_runs SET seq = $2, hash = $3, updated = $4,
                workflow = $5, status = $5, summary = $6,
                changed = floor(extract(epoch FROM clock_timestamp()) * 1000000)::int8
                WHERE run = $1 AND seq = $7 RETURNING run),
            key AS (INSERT INTO statemark_keys (run, key, request, first_seq, last_seq)
                SELECT run, $8::text, $3, $2, $2 FROM head)
            INSERT INTO statemark_records (run, seq, time, kind, v, actor, key, body, prev)
            SELECT run, $2, 1::int8, 'note', 1::int8, $9::text, $8::text, $10::text, $3 FROM head";
        Self {
            head: client.prepare(head).await.unwrap(),
            append: client.prepare(append).await.unwrap(),
            client,
            run: run.to_owned(),
        }
    }

    /// Appends to its run up to a moment; returns how often.
    async fn write(self, end: Instant) -> (Self, u32) {
        let mut count = 0;
        while Instant::now() < end {
            let found = self
                .client
                .query_one(&self.head, &[&self.run])
                .await
                .unwrap();
            let (last, hash): (i64, Vec<u8>) = (found.get(1), found.get(2));
            let (seq, key) = (last + 1, last.to_string());
            let body = format!("{{\"text\":\"{key}\"}}");
            let params: Params<'_> = &[
                &self.run,
                &seq,
                &hash,
                &1_i64,
                &"",
                &"{\"workflow\":\"\",\"status\":\"\"}",
                &last,
                &key,
                &"{\"role\":\"agent\"}",
                &body,
            ];
            let written = self.client.execute(&self.append, params).await.unwrap();
            assert_eq!(written, 1);
            count += 1;
        }
        (self, count)
    }
}
