//! Removing a run.

use super::error::Failure;
use super::row;
use super::session::Session;
use statemark_runs::RunId;
use statemark_runs::store::StoreError;

/// Holds the run's row from the first statement on, as whoever forks it does.
pub(super) async fn remove(session: &Session, run: &RunId) -> Result<(), Failure> {
    session.begin().await?;
    let there = "SELECT 1 FROM statemark_runs WHERE run = $1 FOR UPDATE";
    if session.query(there, &[&run.as_str()]).await?.is_empty() {
        return Err(row::no_run(run));
    }
    let forks = "SELECT run FROM statemark_runs WHERE forked_from = $1 ORDER BY run LIMIT 1";
    if let Some(fork) = session.query(forks, &[&run.as_str()]).await?.first() {
        let fork = row::run(fork, 0)?;
        let what = format!("run `{fork}` is a fork of `{run}`");
        return Err(Failure::Answer(StoreError::Invalid { what }));
    }
    for table in ["records", "keys", "timers", "folds", "runs"] {
        let sql = format!("DELETE FROM statemark_{table} WHERE run = $1");
        session.execute(&sql, &[&run.as_str()]).await?;
    }
    session.commit().await
}
