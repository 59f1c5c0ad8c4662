//! How quick an append is, against the same transaction by the driver alone.
//!
//! The same statements, sent together where the store sends them together, on a connection of each kind, in turns of a
//! fraction of a second so that both see the same disk. What the store adds: the chain, the pool, and the thread that
//! waits. The ratio is printed; it is asserted where a disk and a processor are promised (`STATEMARK_RATE=required`).

use std::time::{Duration, Instant};

use statemark_runs::{Expect, Store};
use statemark_stores::PostgresStore;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Statement};

use super::checks::note;
use super::server;
use super::server::with_client;

/// How long one turn takes, and how many there are.
const TURN: Duration = Duration::from_millis(150);
const TURNS: usize = 20;

/// Below this the store would be in the way. Source: the promise in the design of stores.
const LEAST: f64 = 0.8;

#[test]
fn an_append_is_nearly_as_quick_as_the_driver() {
    let Some(server) = server("the rate of appends", true) else {
        return;
    };
    let address = server.database("rate");
    let store = PostgresStore::open(&address).unwrap();
    store.append(&note("ours", Expect::NoRun, None)).unwrap();
    store.append(&note("bare", Expect::NoRun, None)).unwrap();
    let (ours, bare) = with_client(&address, async |client| {
        let bare = Bare::new(client).await;
        let (mut ours, mut theirs) = (0_u32, 0_u32);
        let mut number = 0;
        for _ in 0..TURNS {
            let end = Instant::now() + TURN;
            while Instant::now() < end {
                number += 1;
                let append = note("ours", Expect::Any, Some(&number.to_string()));
                store.append(&append).unwrap();
                ours += 1;
            }
            let end = Instant::now() + TURN;
            while Instant::now() < end {
                number += 1;
                bare.append(&number.to_string()).await;
                theirs += 1;
            }
        }
        (f64::from(ours), f64::from(theirs))
    });
    let seconds = TURN.as_secs_f64() * f64::from(u32::try_from(TURNS).unwrap());
    let ratio = ours / bare;
    eprintln!(
        "{:.0} appends a second, {:.0} by the driver alone: ratio {ratio:.2}",
        ours / seconds,
        bare / seconds
    );
    if std::env::var("STATEMARK_RATE").as_deref() == Ok("required") {
        assert!(ratio >= LEAST, "{ratio:.2} of the driver's rate");
    }
}

type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The transaction of an append, by hand.
struct Bare<'a> {
    client: &'a Client,
    lock: Statement,
    seen: Statement,
    record: Statement,
    key: Statement,
    head: Statement,
}

impl<'a> Bare<'a> {
    async fn new(client: &'a Client) -> Self {
        let prepare = async |sql: &str| client.prepare(sql).await.unwrap();
        Self {
            client,
            lock: prepare("SELECT seq, hash, fence FROM statemark_runs WHERE run = $1 FOR UPDATE").await,
            seen: prepare(
                "SELECT request, first_seq, last_seq FROM statemark_keys WHERE run = $1 AND key = $2",
            )
            .await,
            record: prepare(
                "INSERT INTO statemark_records (run, seq, time, kind, v, actor, key, body, prev)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            )
            .await,
            key: prepare(
                "INSERT INTO statemark_keys (run, key, request, first_seq, last_seq)
                VALUES ($1, $2, $3, $4, $5)",
            )
            .await,
            head: prepare(
                "UPDATE statemark_runs SET seq = $2, hash = $3, updated = $4, workflow = $5,
                    status = $6, project = $7, parent = $8, summary = $9,
                    changed = floor(extract(epoch FROM clock_timestamp()) * 1000000)::int8
                WHERE run = $1",
            )
            .await,
        }
    }

    async fn append(&self, key: &str) {
        let run = "bare";
        let nobody: Option<&str> = None;
        let (by_run, by_key): (Params<'_>, Params<'_>) = (&[&run], &[&run, &key]);
        let (begun, head, seen) = tokio::join!(
            biased;
            self.client.batch_execute("BEGIN"),
            self.client.query(&self.lock, by_run),
            self.client.query(&self.seen, by_key),
        );
        begun.unwrap();
        assert!(seen.unwrap().is_empty());
        let head = head.unwrap();
        let (seq, hash): (i64, Vec<u8>) = (head[0].get(0), head[0].get(1));
        let seq = seq + 1;
        let body = format!("{{\"text\":\"{key}\"}}");
        let (actor, summary) = (
            "{\"role\":\"agent\"}",
            "{\"workflow\":\"\",\"status\":\"\"}",
        );
        let record: Params<'_> = &[
            &run, &seq, &1_i64, &"note", &1_i64, &actor, &key, &body, &hash,
        ];
        let done: Params<'_> = &[&run, &key, &hash, &seq, &seq];
        let end: Params<'_> = &[
            &run, &seq, &hash, &1_i64, &"", &"", &nobody, &nobody, &summary,
        ];
        let (record, key, head, done) = tokio::join!(
            biased;
            self.client.execute(&self.record, record),
            self.client.execute(&self.key, done),
            self.client.execute(&self.head, end),
            self.client.batch_execute("COMMIT"),
        );
        record.unwrap();
        key.unwrap();
        head.unwrap();
        done.unwrap();
    }
}
