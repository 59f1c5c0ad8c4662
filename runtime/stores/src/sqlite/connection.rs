//! Connections, and how each is set up.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::{self, Doing as _};
use statemark_runs::store::StoreError;

/// The oldest library that may open a store.
/// Why: before 3.51.3 several connections can damage a write-ahead log (<https://sqlite.org/wal.html#walresetbug>).
const OLDEST: i32 = 3_051_003;

/// Longest wait of SQLite for a lock of its own.
/// Why: writers wait for the store's lock; here only for a checkpoint or for a file that is being opened or closed.
const BUSY: Duration = Duration::from_secs(10);

/// Statements that a connection keeps prepared. Why: more than there are.
const STATEMENTS: usize = 64;

/// The settings of all connections.
const COMMON: &str = "
    PRAGMA foreign_keys = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA mmap_size = 0;
    PRAGMA temp_store = MEMORY;
";

/// The settings of connections that write.
/// What is removed is overwritten; a log that has grown is truncated.
const WRITING: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA wal_autocheckpoint = 1000;
";

/// Refuses a library that may damage a store.
pub(super) fn check_library() -> Result<(), StoreError> {
    check_version(rusqlite::version_number(), rusqlite::version())
}

fn check_version(number: i32, version: &str) -> Result<(), StoreError> {
    if number < OLDEST {
        return Err(StoreError::Failed {
            doing: "opening the store",
            cause: format!(
                "SQLite {version} can damage files that several processes write; link 3.51.3 or newer"
            ),
        });
    }
    Ok(())
}

/// Returns the connection that writes.
pub(super) fn writer(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path)?;
    connection
        .execute_batch(WRITING)
        .doing("setting up the store")?;
    Ok(connection)
}

/// Opens a connection that can't write.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path)?;
    connection
        .execute_batch("PRAGMA query_only = ON")
        .doing("setting up the store")?;
    Ok(connection)
}

/// Reports whether the file's journal is a write-ahead log.
pub(super) fn uses_log(connection: &Connection) -> Result<bool, StoreError> {
    let mode: String = connection
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))
        .doing("opening the store")?;
    Ok(mode == "wal")
}

/// Makes the file's journal a write-ahead log.
pub(super) fn use_log(connection: &Connection) -> Result<(), StoreError> {
    let set = "PRAGMA journal_mode = WAL";
    let mode: String = connection
        .query_row(set, [], |row| row.get(0))
        .doing("setting up the store")?;
    if mode != "wal" {
        return Err(error::refused(format!(
            "its file system can't keep a write-ahead log (the journal is `{mode}`)"
        )));
    }
    Ok(())
}

fn open(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if cfg!(unix) {
        // The library refuses links in the whole path then, and a folder may be one.
        let flags = flags | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        Connection::open_with_flags(without_links(path), flags)
    } else {
        Connection::open_with_flags(path, flags)
    };
    let connection = connection.doing("opening the store")?;
    set_up(&connection).doing("setting up the store")?;
    Ok(connection)
}

/// Returns a path whose folder is named without links.
fn without_links(path: &Path) -> PathBuf {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        // The library tells what is wrong with it.
        _ => path.to_owned(),
    }
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // A store of ours has none. Who can write to the file mustn't have them do something at our next step.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    // Statements are few and their plans plain: they needn't be made anew for other values.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.execute_batch(COMMON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_damages_files_is_refused() {
        assert!(check_library().is_ok());
        let refused = check_version(3_040_001, "3.40.1").unwrap_err().to_string();
        assert_eq!(
            refused,
            "opening the store: SQLite 3.40.1 can damage files that several processes write; link 3.51.3 or newer"
        );
    }
}
