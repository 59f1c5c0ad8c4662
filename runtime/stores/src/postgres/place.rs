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

use tokio_postgres::error::SqlState;

use super::PostgresStore;
use super::error::Failure;
use super::schema::has_code;
use super::session::Session;
use statemark_runs::store::StoreError;

/// The statement for where the tables are.
const HERE: &str = "SELECT
    control.system_identifier::text || '/' || base.oid::text || '/' || 'statemark_place'::regclass::oid::text
    FROM pg_control_system() AS control, pg_database AS base WHERE base.datname = current_database()";

/// The statement for the place that the tables were made in.
const NOTED: &str = "SELECT place FROM statemark_place WHERE id = 1";

/// The codes of a server that doesn't tell where it is.
///
/// It has no such function, or keeps it from this user.
const UNTOLD: [SqlState; 4] = [
    SqlState::UNDEFINED_FUNCTION,
    SqlState::UNDEFINED_OBJECT,
    SqlState::FEATURE_NOT_SUPPORTED,
    SqlState::INSUFFICIENT_PRIVILEGE,
];

/// Statements that let a copy act, as its own store.
///
/// Nobody has a lease any more, no token of one that was given out is the newest, and each timer is free.
const WAKE: [&str; 2] = [
    "UPDATE statemark_runs SET fence = fence + 1, lease_owner = NULL, lease_until = NULL",
    "UPDATE statemark_timers SET claimed = 0",
];

/// The place that the tables were made in, and the one where they are.
struct Places {
    /// None if nobody has noted it yet.
    noted: Option<String>,
    here: String,
}

impl Places {
    fn differ(&self) -> bool {
        self.noted.as_ref().is_some_and(|noted| *noted != self.here)
    }
}

/// Reports whether the tables are a copy that sleeps. New ones are told their place.
pub(super) async fn is_copy(session: &Session) -> Result<bool, Failure> {
    let Some(places) = places(session).await? else {
        return Ok(false);
    };
    if places.noted.is_none() {
        let note = "INSERT INTO statemark_place (id, place) VALUES (1, $1)
            ON CONFLICT (id) DO NOTHING";
        session.execute(note, &[&places.here]).await?;
    }
    Ok(places.differ())
}

/// Wakes a copy; returns the number of timers that were woken.
pub(super) async fn wake(session: &Session) -> Result<usize, Failure> {
    let Some(places) = places(session).await?.filter(Places::differ) else {
        return Ok(0);
    };
    session.begin().await?;
    let moved = "UPDATE statemark_place SET place = $1 WHERE id = 1 AND place = $2";
    let mut woken = 0;
    // Of two who wake it, one does.
    if session
        .execute(moved, &[&places.here, &places.noted])
        .await?
        == 1
    {
        for statement in WAKE {
            woken = session.execute(statement, &[]).await?;
        }
    }
    session.commit().await?;
    Ok(usize::try_from(woken).unwrap_or(usize::MAX))
}

/// Reads where the tables are from and where they are. None on a server that doesn't tell.
async fn places(session: &Session) -> Result<Option<Places>, Failure> {
    let noted = session.query(NOTED, &[]).await?;
    let noted = noted.first().map(|row| row.try_get(0)).transpose()?;
    let here = match session.query(HERE, &[]).await {
        // Anything else that fails may not fail the next time: then nobody knows whether this is a copy.
        Err(Failure::Refused(cause)) if has_code(&cause, &UNTOLD) => return Ok(None),
        here => here?,
    };
    let here = here.first().map(|row| row.try_get(0)).transpose()?;
    Ok(here.map(|here| Places { noted, here }))
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
