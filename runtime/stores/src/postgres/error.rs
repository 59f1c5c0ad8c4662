//! Failures, sorted by what has to be done about them.

use std::error::Error as _;

use deadpool_postgres::PoolError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use statemark_runs::store::StoreError;

/// A reason why a try didn't succeed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The answer of the call.
    Answer(StoreError),
    /// Others were in the way: nothing was done, and the next try may succeed.
    Contention(String),
    /// The connection is gone or no use any more, and with it the answer.
    Lost(String),
    /// The database refused, and will again.
    Refused(String),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Answer(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let cause = describe(&error);
        let Some(code) = error.code() else {
            let is_ours = error.is_closed() || error.source().is_none_or(is_io);
            return if is_ours {
                Self::Lost(cause)
            } else {
                Self::Refused(cause)
            };
        };
        let crossed = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::UNIQUE_VIOLATION,
        ];
        let text = [
            SqlState::CHARACTER_NOT_IN_REPERTOIRE,
            SqlState::UNTRANSLATABLE_CHARACTER,
        ];
        if crossed.contains(code) {
            Self::Contention(cause)
        } else if text.contains(code) {
            Self::Answer(StoreError::Invalid {
                what: format!("PostgreSQL can't keep a text of this: {cause}"),
            })
        } else if is_gone(code) {
            Self::Lost(cause)
        } else {
            Self::Refused(cause)
        }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(_) => Self::Lost("no connection became free in time".to_owned()),
            other => Self::Lost(other.to_string().trim_end().to_owned()),
        }
    }
}

/// Reports whether the server has ended, is starting, or doesn't know a transaction's outcome.
fn is_gone(code: &SqlState) -> bool {
    let code = code.code();
    code.starts_with("08") || code.starts_with("57P") || code == "40003" || code == "53300"
}

fn is_io(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<std::io::Error>()
}

/// Returns the error and what caused it, in one line.
/// Neither holds a password: the server never sends one back.
fn describe(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    let (message, source) = (error.to_string(), error.source());
    let help = if message.contains("TLS") || message.contains("tls") {
        "; `sslmode` says whether TLS is used and what is verified, `sslrootcert` by which authorities"
    } else {
        ""
    };
    match source {
        Some(source) => format!("{message}: {source}{help}"),
        None => message + help,
    }
}
