//! The meaning of SQLite's errors for callers.

use rusqlite::{Error, ErrorCode};

use statemark_runs::store::StoreError;

/// Says what was being done when something failed.
pub(super) trait Doing<T> {
    /// Returns the value, or the error with these words before it.
    fn doing(self, doing: &'static str) -> Result<T, StoreError>;
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError> {
        self.map_err(|error| from_sqlite(doing, &error))
    }
}

fn from_sqlite(doing: &'static str, error: &Error) -> StoreError {
    let cause = error.to_string();
    if is_of_a_value(error) {
        return damaged(cause);
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy {
            by: "another connection".to_owned(),
            until: None,
        },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt {
            run: None,
            seq: None,
            what: cause,
        },
        _ => StoreError::Failed { doing, cause },
    }
}

/// Reports whether a row has a value that nobody would have written.
/// It is a text that isn't UTF-8, or a hash that is too short.
const fn is_of_a_value(error: &Error) -> bool {
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    )
}

/// Converts the error of a commit.
/// It may have reached the log all the same, unless SQLite had no room or no turn to write.
pub(super) fn from_commit(error: &Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull) => {
            from_sqlite("writing", error)
        }
        _ => StoreError::Unknown {
            cause: error.to_string(),
        },
    }
}

/// Returns the error for a file that can't be a store.
pub(super) fn refused(cause: String) -> StoreError {
    StoreError::Failed {
        doing: "opening the store",
        cause,
    }
}

/// Returns a value that nobody wrote so.
pub(super) fn damaged(what: impl Into<String>) -> StoreError {
    StoreError::Corrupt {
        run: None,
        seq: None,
        what: what.into(),
    }
}
