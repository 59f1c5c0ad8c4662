//! Bare PostgreSQL: the rows of an append in one transaction that holds its run's row, by prepared statements.

use std::io::Read as _;
use std::time::Instant;

use tokio_postgres::{Client, NoTls};

#[expect(dead_code, reason = "the tests use all of it")]
#[path = "../../runs/postgres/server.rs"]
mod server;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS bare_runs (run text PRIMARY KEY, seq int8 NOT NULL, summary text NOT NULL);
    CREATE TABLE IF NOT EXISTS bare_records (run text, seq int8, body text NOT NULL, PRIMARY KEY (run, seq));
    CREATE TABLE IF NOT EXISTS bare_keys (run text, key text, seq int8 NOT NULL, PRIMARY KEY (run, key))";

/// Starts a server, prints its address, and ends it when the input ends. Prints nothing if none is installed.
pub(crate) fn serve() {
    let Some(programs) = server::programs() else {
        return;
    };
    let server = server::Server::start(&programs, true);
    server.sql("public", TABLES);
    println!("{}", server.address("public"));
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Commits to bare PostgreSQL for each line of the input, and prints the microseconds.
pub(crate) fn write_bare(address: &str, run: &str, count: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (mut client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
        tokio::spawn(connection);
        let begin = "INSERT INTO bare_runs VALUES ($1, 0, '') ON CONFLICT DO NOTHING";
        client.execute(begin, &[&run]).await.unwrap();
        for _ in std::io::stdin().lines() {
            let begun = Instant::now();
            write(&mut client, run, count).await;
            println!("{}", begun.elapsed().as_micros());
        }
    });
}

async fn write(client: &mut Client, run: &str, count: u64) {
    let lock = "SELECT seq FROM bare_runs WHERE run = $1 FOR UPDATE";
    let lock = client.prepare(lock).await.unwrap();
    let record = "INSERT INTO bare_records VALUES ($1, $2, $3)";
    let record = client.prepare(record).await.unwrap();
    let key = "INSERT INTO bare_keys VALUES ($1, $2, $3)";
    let key = client.prepare(key).await.unwrap();
    let end = "UPDATE bare_runs SET seq = $2, summary = $3 WHERE run = $1";
    let end = client.prepare(end).await.unwrap();
    let body = "x".repeat(300);
    for _ in 0..count {
        let turn = client.transaction().await.unwrap();
        let seq: i64 = turn.query_one(&lock, &[&run]).await.unwrap().get(0);
        let seq = seq + 1;
        turn.execute(&record, &[&run, &seq, &body]).await.unwrap();
        let name = format!("key-{seq}");
        turn.execute(&key, &[&run, &name, &seq]).await.unwrap();
        turn.execute(&end, &[&run, &seq, &body]).await.unwrap();
        turn.commit().await.unwrap();
    }
}
