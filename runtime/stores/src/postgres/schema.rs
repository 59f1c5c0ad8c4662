//! The tables, and how a database gets them.
//!
//! A step is one definition and can be repeated, so that two who open a store for the first time at once do no harm: each
//! does the step, and the first to be done says so in the table of versions. A step is never changed once it was released.
//! Where two collide, the block around the step tries again, so that the server's log has no error of it.

use tokio_postgres::error::SqlState;

use super::error::Failure;
use super::session::Session;
use statemark_runs::store::StoreError;

const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS statemark_schema (
    id int8 PRIMARY KEY,
    version int8 NOT NULL)";

/// The steps; how many are done is the version of a database.
const STEPS: [&str; 16] = [
    // Names are compared by their bytes, as everywhere else.
    r#"CREATE TABLE IF NOT EXISTS statemark_runs (
        run text COLLATE "C" PRIMARY KEY,
        seq int8 NOT NULL,
        hash bytea NOT NULL,
        created int8 NOT NULL,
        updated int8 NOT NULL,
        changed int8 NOT NULL,
        forked_from text COLLATE "C",
        forked_at int8,
        workflow text NOT NULL,
        status text NOT NULL,
        project text,
        parent text COLLATE "C",
        summary text NOT NULL,
        fence int8 NOT NULL,
        lease_owner text,
        lease_until int8)"#,
    r#"CREATE TABLE IF NOT EXISTS statemark_records (
        run text COLLATE "C" NOT NULL,
        seq int8 NOT NULL,
        time int8 NOT NULL,
        kind text NOT NULL,
        v int8 NOT NULL,
        actor text NOT NULL,
        key text,
        body text NOT NULL,
        prev bytea NOT NULL,
        PRIMARY KEY (run, seq))"#,
    r#"CREATE TABLE IF NOT EXISTS statemark_keys (
        run text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        request bytea NOT NULL,
        first_seq int8 NOT NULL,
        last_seq int8 NOT NULL,
        PRIMARY KEY (run, key))"#,
    r#"CREATE TABLE IF NOT EXISTS statemark_timers (
        run text COLLATE "C" NOT NULL,
        due int8 NOT NULL,
        name text COLLATE "C" NOT NULL,
        seq int8 NOT NULL,
        claimed int8 NOT NULL,
        PRIMARY KEY (run, due, name, seq))"#,
    r#"CREATE TABLE IF NOT EXISTS statemark_folds (
        run text COLLATE "C" PRIMARY KEY,
        seq int8 NOT NULL,
        fold bytea NOT NULL)"#,
    "CREATE TABLE IF NOT EXISTS statemark_blobs (hash bytea PRIMARY KEY, bytes bytea NOT NULL)",
    "CREATE INDEX IF NOT EXISTS statemark_runs_updated ON statemark_runs (updated, run)",
    "CREATE INDEX IF NOT EXISTS statemark_runs_changed ON statemark_runs (changed)",
    "CREATE INDEX IF NOT EXISTS statemark_runs_forked ON statemark_runs (forked_from)",
    "CREATE INDEX IF NOT EXISTS statemark_runs_parent ON statemark_runs (parent)",
    "CREATE INDEX IF NOT EXISTS statemark_timers_due ON statemark_timers (due)",
    "ALTER TABLE statemark_blobs ADD COLUMN IF NOT EXISTS kept int8 NOT NULL DEFAULT 0",
    "CREATE INDEX IF NOT EXISTS statemark_runs_workflow
        ON statemark_runs (workflow, status, updated, run)",
    // The text is `REQUESTS_MARK`, which lists ask for in the same words.
    r#"CREATE INDEX IF NOT EXISTS statemark_runs_requests
        ON statemark_runs (updated, run) WHERE strpos(summary, '"requests":[') > 0"#,
    // The folds of a run before its newest one.
    r#"CREATE TABLE IF NOT EXISTS statemark_older_folds (
        run text COLLATE "C" NOT NULL,
        seq int8 NOT NULL,
        fold bytea NOT NULL,
        PRIMARY KEY (run, seq))"#,
    "CREATE TABLE IF NOT EXISTS statemark_place (id int8 PRIMARY KEY, place text NOT NULL)",
];

/// A block around a step `{}`. What two collide in are PostgreSQL's own tables, `IF NOT EXISTS` or not.
const BLOCK: &str = "DO $statemark$
BEGIN
    FOR attempt IN 1..50 LOOP
        BEGIN
            {};
            RETURN;
        EXCEPTION WHEN duplicate_table OR duplicate_object OR duplicate_column
            OR unique_violation OR internal_error THEN
            PERFORM pg_sleep(0.01 * attempt);
        END;
    END LOOP;
    RAISE EXCEPTION 'others define the same' USING ERRCODE = 'serialization_failure';
END $statemark$";

/// Makes the tables or brings them up to date.
pub(super) async fn prepare(session: &Session) -> Result<(), Failure> {
    let mut version = match version(session).await? {
        Some(version) => version,
        None => {
            define(session, VERSIONS).await?;
            let begin = "INSERT INTO statemark_schema (id, version) VALUES (1, 0)
                ON CONFLICT (id) DO NOTHING";
            session.execute(begin, &[]).await?;
            0
        }
    };
    let known = STEPS.len();
    if usize::try_from(version).map_or(true, |version| version > known) {
        return Err(Failure::Answer(StoreError::SchemaTooNew {
            found: u32::try_from(version).unwrap_or(u32::MAX),
            known: u32::try_from(known).unwrap_or(u32::MAX),
        }));
    }
    while let Some(step) = usize::try_from(version).ok().and_then(|at| STEPS.get(at)) {
        define(session, step).await?;
        let done = "UPDATE statemark_schema SET version = $1 WHERE id = 1 AND version = $2";
        session.execute(done, &[&(version + 1), &version]).await?;
        version += 1;
    }
    Ok(())
}

/// Returns the version of a database's tables; none if it has no tables of ours.
async fn version(session: &Session) -> Result<Option<i64>, Failure> {
    let tables = "SELECT count(*) FROM information_schema.tables
        WHERE table_name = 'statemark_schema' AND table_schema = current_schema()";
    let row = session.query(tables, &[]).await?;
    let count: i64 = match row.first() {
        Some(row) => row.try_get(0)?,
        None => 0,
    };
    if count == 0 {
        return Ok(None);
    }
    let rows = session
        .query("SELECT version FROM statemark_schema WHERE id = 1", &[])
        .await?;
    let version = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(Some(version.unwrap_or(0)))
}

/// Defines tables.
async fn define(session: &Session, step: &str) -> Result<(), Failure> {
    let block = BLOCK.replace("{}", step);
    let done = match session.define(&block).await {
        // Not every server of the protocol has blocks.
        Err(Failure::Refused(cause)) if has_code(&cause, &NO_BLOCKS) => session.define(step).await,
        done => done,
    };
    match done {
        Err(Failure::Refused(cause)) if has_code(&cause, &CROSSED) => {
            Err(Failure::Contention(cause))
        }
        done => done,
    }
}

const NO_BLOCKS: [SqlState; 3] = [
    SqlState::FEATURE_NOT_SUPPORTED,
    SqlState::SYNTAX_ERROR,
    SqlState::UNDEFINED_OBJECT,
];

const CROSSED: [SqlState; 3] = [
    SqlState::DUPLICATE_TABLE,
    SqlState::DUPLICATE_OBJECT,
    SqlState::INTERNAL_ERROR,
];

/// Reports whether a database refused for one of these reasons.
pub(super) fn has_code(cause: &str, codes: &[SqlState]) -> bool {
    codes
        .iter()
        .any(|code| cause.ends_with(&format!("({})", code.code())))
}
