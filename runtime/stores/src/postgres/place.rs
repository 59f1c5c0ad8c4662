//! The database that the tables are in: in another one they are a copy, which sleeps until it is woken.
//!
//! Two stores must never act on one run. A database that was copied, or put back from a dump, has another identity than
//! the one that its tables were made in; so has a server's after `pg_upgrade`. Only whoever did that knows whether the former
//! one still acts.
//!
//! Not told apart are a server and a physical copy of it: a replica that takes the server's place is meant to act.
//!
//! Source: `pg_control_system()`, whose `system_identifier` each cluster gets at random; the `oid` of a database and of a
//! table, which no other one there has.

use std::sync::atomic::Ordering;

use super::PostgresStore;
use super::error::Failure;
use super::session::Session;
use statemark_runs::store::StoreError;

/// The statement for the place that the tables were made in, and for the one where they are.
const PLACES: &str = "SELECT (SELECT place FROM statemark_place WHERE id = 1),
    control.system_identifier::text || '/' || base.oid::text || '/' || 'statemark_place'::regclass::oid::text
    FROM pg_control_system() AS control, pg_database AS base WHERE base.datname = current_database()";

/// Statements that let a copy act, as its own store.
///
/// Nobody has a lease any more, no token of one that was given out is the newest, and each timer is free.
const WAKE: [&str; 2] = [
    "UPDATE statemark_runs SET fence = fence + 1, lease_owner = NULL, lease_until = NULL",
    "UPDATE statemark_timers SET claimed = 0",
];

/// Reports whether the tables are a copy that sleeps. New ones are told their place.
pub(super) async fn is_copy(session: &Session) -> Result<bool, Failure> {
    Ok(match places(session).await? {
        None => false,
        Some((Some(noted), here)) => noted != here,
        Some((None, here)) => {
            let note = "INSERT INTO statemark_place (id, place) VALUES (1, $1)
                ON CONFLICT (id) DO NOTHING";
            session.execute(note, &[&here]).await?;
            false
        }
    })
}

/// Wakes a copy; returns the number of timers that were woken.
pub(super) async fn wake(session: &Session) -> Result<usize, Failure> {
    let Some((Some(noted), here)) = places(session)
        .await?
        .filter(|(noted, here)| noted.as_ref() != Some(here))
    else {
        return Ok(0);
    };
    session.begin().await?;
    let moved = "UPDATE statemark_place SET place = $1 WHERE id = 1 AND place = $2";
    let mut woken = 0;
    // Of two who wake it, one does.
    if session.execute(moved, &[&here, &noted]).await? == 1 {
        for statement in WAKE {
            woken = session.execute(statement, &[]).await?;
        }
    }
    session.commit().await?;
    Ok(usize::try_from(woken).unwrap_or(usize::MAX))
}

/// Returns what the tables say of their place, and where they are. None on a server that doesn't tell.
async fn places(session: &Session) -> Result<Option<(Option<String>, String)>, Failure> {
    let found = match session.query(PLACES, &[]).await {
        Err(Failure::Refused(_)) => return Ok(None),
        found => found?,
    };
    let row = found.first();
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .transpose()
}

impl PostgresStore {
    /// Fails if this is a copy that sleeps.
    ///
    /// One that another process has woken is found awake.
    pub(super) fn check_awake(&self) -> Result<(), StoreError> {
        match self.sleeps()? {
            true => Err(StoreError::Asleep),
            false => Ok(()),
        }
    }

    /// Reports whether this is a copy that sleeps.
    pub(super) fn sleeps(&self) -> Result<bool, StoreError> {
        if !self.asleep.load(Ordering::Acquire) {
            return Ok(false);
        }
        let sleeps = self.wait("reading the store's place", &is_copy)?;
        self.asleep.store(sleeps, Ordering::Release);
        Ok(sleeps)
    }
}
