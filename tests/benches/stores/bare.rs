//! The same transaction without a store: the rows that an append leaves, into the same tables, by prepared statements.
//! No lock beside the file, no hashes, no checks but that of the last record's number.

use std::path::Path;

use rusqlite::{Connection, params};
use statemark_runs::Append;

pub(crate) struct Bare {
    connection: Connection,
}

impl Bare {
    /// Over a file that has the tables.
    pub(crate) fn open(path: &Path) -> Self {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "PRAGMA busy_timeout = 60000; PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL",
            )
            .unwrap();
        connection.set_prepared_statement_cache_capacity(64);
        Self { connection }
    }

    fn run(&self, sql: &str, params: impl rusqlite::Params) {
        let mut statement = self.connection.prepare_cached(sql).unwrap();
        statement.execute(params).unwrap();
    }

    pub(crate) fn append(&self, append: &Append) {
        self.run("BEGIN IMMEDIATE", []);
        let run = append.run.as_str();
        let mut found = self
            .connection
            .prepare_cached("SELECT seq FROM runs WHERE run = ?1")
            .unwrap();
        let seq: i64 = found.query_row([run], |row| row.get(0)).unwrap_or(0);
        let seq = seq + 1;
        let record = append.records.first().unwrap();
        let (key, request) = append.key.as_ref().unwrap();
        let time = i64::try_from(record.time).unwrap();
        let summary = &append.summary;
        self.run(
            "INSERT INTO keys VALUES (?1, ?2, ?3, ?4, ?4)",
            params![run, key.as_str(), request.as_bytes(), seq],
        );
        self.run(
            "INSERT INTO records VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                run,
                seq,
                time,
                record.kind,
                record.v,
                record.actor.role.name(),
                record.actor.name,
                record.actor.session,
                key.as_str(),
                record.body,
                request.as_bytes(),
            ],
        );
        self.run(
            "UPDATE counts SET value = value + 1 WHERE name = 'version'",
            [],
        );
        if seq == 1 {
            self.run(
                "INSERT INTO runs VALUES (?1, 1, ?2, ?3, ?3, NULL, NULL, ?4, ?5, NULL, NULL, '{}', 0, NULL, 0, 1)",
                params![run, request.as_bytes(), time, summary.workflow, summary.status],
            );
        } else {
            self.run(
                "UPDATE runs SET seq = ?2, hash = ?3, updated = ?4, status = ?5, summary = ?6, version = ?2 WHERE run = ?1",
                params![
                    run,
                    seq,
                    request.as_bytes(),
                    time,
                    summary.status,
                    "{\"workflow\":\"order\",\"status\":\"running\",\"leaves\":[\"two\"]}"
                ],
            );
        }
        self.run("COMMIT", []);
    }
}
