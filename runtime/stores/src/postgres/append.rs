//! The one door: records at the end of a run, in one transaction.
//!
//! One round to the server where the end of the run is known, or the run has to be new: a statement that writes where it is
//! still so. Else two rounds: one locks the run's row and looks for the key; one writes and commits. The statements of a
//! round are sent together and answered together.
//!
//! Of several that make one run at the same time, one does, and the others find it made: a row can't be locked before it
//! is there, and a key that is there twice would be an error in the server's log.

use std::fmt::Write as _;

use tokio::join;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::blob;
use super::error::Failure;
use super::record::{SEEN, one, read_seen};
use super::row;
use super::session::{Params, Session};
use statemark_runs::Hash;
use statemark_runs::RunId;
use statemark_runs::overflow;
use statemark_runs::store::{Append, Appended, Expect, JournalEnd, PendingTimer, StoreError};
use statemark_runs::{NewRecord, Record, chain};

/// Most records that one statement writes.
/// Why: nine parameters each, and no statement may have more than 65,535.
const ROWS: usize = 256;

const LOCK: &str = "SELECT seq, hash, fence FROM statemark_runs WHERE run = $1 FOR UPDATE";

const KEY: &str = "INSERT INTO statemark_keys (run, key, request, first_seq, last_seq)
    VALUES ($1, $2, $3, $4, $5)";

/// The server's time of a change, for watchers. Unit: microseconds.
const CHANGED: &str = "floor(extract(epoch FROM clock_timestamp()) * 1000000)::int8";

/// The position at which records are appended.
struct Position<'a> {
    /// The last record before them, and its hash.
    after: u64,
    last: Hash,
    /// True if the run has to be made, and from which it is forked.
    is_new: bool,
    forked: Option<(&'a RunId, u64)>,
}

impl PostgresStore {
    /// Puts records at the end of a run, or at the end of a new one that begins with another's.
    pub(super) fn append_to(
        &self,
        append: &Append,
        from: Option<(&RunId, u64)>,
    ) -> Result<Appended, StoreError> {
        append.check()?;
        self.check_awake()?;
        // Asked again, an append without a key would be made twice.
        let again = append.key.is_some();
        self.wait_for("appending", again, &async |session| {
            let place = if from.is_none() && is_plain(append) {
                self.guess_place(append)
            } else {
                None
            };
            let appended = match place {
                Some(place) => append_at(session, append, &place).await?,
                None => None,
            };
            let (appended, hash) = match appended {
                Some(appended) => appended,
                None => append_part(session, append, from, true).await?,
            };
            if let (Appended::Done { last, .. }, Some(hash)) = (appended, hash) {
                self.ends.put(&append.run, last, hash);
            }
            Ok(appended)
        })
    }

    /// Returns where an append will be made if nothing has changed; none if this process can't tell.
    fn guess_place(&self, append: &Append) -> Option<Position<'static>> {
        let is_new = append.expect == Expect::NoRun && append.fence.is_none();
        let (after, last) = if is_new {
            (0, Hash::ZERO)
        } else {
            self.ends.take(append)?
        };
        Some(Position {
            after,
            last,
            is_new,
            forked: None,
        })
    }

    /// Makes a run by several appends, in one transaction.
    pub(super) fn make_of(
        &self,
        from: Option<(&RunId, u64)>,
        appends: &[Append],
    ) -> Result<(), StoreError> {
        for append in appends {
            append.check()?;
        }
        self.check_awake()?;
        self.wait_for("making a run", false, &async |session| {
            let Some(first) = appends.first() else {
                return Ok(());
            };
            session.begin().await?;
            let found = session.query(LOCK, &[&first.run.as_str()]).await?;
            if let Some(found) = found.first() {
                let actual = row::number(found, 0)?;
                return Err(StoreError::Conflict { actual }.into());
            }
            for (append, number) in appends.iter().zip(1..) {
                let (is_first, is_last) = (number == 1, number == appends.len());
                let expect = if is_first { Expect::NoRun } else { Expect::Any };
                let append = Append {
                    expect,
                    ..append.clone()
                };
                let from = from.filter(|_| is_first);
                let (done, _) = append_part(session, &append, from, is_last).await?;
                append.expect_done(done)?;
            }
            Ok(())
        })
    }
}

/// Reports whether one statement can write all of an append.
fn is_plain(append: &Append) -> bool {
    let is_large = |record: &NewRecord| overflow::blob_hash(&record.body).is_some();
    append.records.len() <= ROWS && !append.records.iter().any(is_large)
}

/// The outcome of an append; the hash of its last record if it was made now.
type Outcome = (Appended, Option<Hash>);

/// Appends records at a place, in one statement.
///
/// None if the run ends elsewhere by now, is there already where it was to be new, or has the append's key.
async fn append_at(
    session: &Session,
    append: &Append,
    place: &Position<'_>,
) -> Result<Option<Outcome>, Failure> {
    let key = append.key.as_ref();
    let Position { after, last, .. } = *place;
    let (records, hash) = chain(&append.records, key.map(|(key, _)| key), after, last);
    let (first, seq) = (after + 1, after + records.len() as u64);
    let head = Head::new(append, place, &records, row::stored("a seq", seq)?, hash)?;
    let mut values = head.values(place.is_new);
    let key = key.map(|(key, request)| (values.push(key.as_str(), "text"), request));
    let mut sql = format!("WITH head AS ({}", Head::sql(place.is_new));
    if !place.is_new {
        let _ = write!(
            sql,
            " AND seq = {} AND hash = {}",
            values.push(row::stored("a seq", after)?, "int8"),
            values.push(last.as_bytes().as_slice(), "bytea")
        );
        if let Some(fence) = append.fence {
            let fence = values.push(row::stored("a fence", fence.0)?, "int8");
            let _ = write!(sql, " AND fence = {fence}");
        }
        if let Some((key, _)) = &key {
            let _ = write!(
                sql,
                " AND NOT EXISTS (SELECT 1 FROM statemark_keys used
                    WHERE used.run = $1 AND used.key = {key})"
            );
        }
    }
    sql.push_str(" RETURNING run)");
    if let Some((key, request)) = key {
        let _ = write!(
            sql,
            ", key AS (INSERT INTO statemark_keys (run, key, request, first_seq, last_seq)
                SELECT run, {key}, {}, {}, $2::int8 FROM head)",
            values.push(request.as_bytes().as_slice(), "bytea"),
            values.push(row::stored("a seq", first)?, "int8"),
        );
    }
    if let Some(wanted) = &append.timers {
        let _ = write!(sql, ", {}", arming(&mut values, wanted)?);
    }
    let columns = row::RECORD;
    let _ = write!(
        sql,
        " INSERT INTO statemark_records (run, {columns}) SELECT new.* FROM head, (VALUES "
    );
    for (record, comma) in records
        .iter()
        .zip(std::iter::once("").chain(std::iter::repeat(", ")))
    {
        let columns = record_values(&append.run, record)?;
        let columns: Vec<String> = columns
            .into_iter()
            .map(|(value, kind)| values.push_boxed(value, kind))
            .collect();
        let _ = write!(sql, "{comma}({})", columns.join(", "));
    }
    sql.push_str(") AS new");
    let statement = session.prepare(&sql).await?;
    let written = session.commit_by(&statement, &as_params(&values)).await?;
    let appended = Appended::Done { first, last: seq };
    Ok((written > 0).then_some((appended, Some(hash))))
}

async fn append_part(
    session: &Session,
    append: &Append,
    from: Option<(&RunId, u64)>,
    commits: bool,
) -> Result<Outcome, Failure> {
    let lock = session.prepare(LOCK).await?;
    let seen = session.prepare(SEEN).await?;
    let run = append.run.as_str();
    let key = append.key.as_ref().map(|(key, _)| key.as_str());
    let parent = async {
        match from {
            Some((from, _)) => session.rows(&lock, &[&from.as_str()]).await,
            None => Ok(Vec::new()),
        }
    };
    let found_key = async {
        match key {
            Some(key) => session.rows(&seen, &[&run, &key]).await,
            None => Ok(Vec::new()),
        }
    };
    let own: Params<'_> = &[&run];
    // In this order, so that the key is looked for when the run is locked.
    let (begun, parent, head, found_key) = join!(
        biased;
        session.begin(),
        parent,
        session.rows(&lock, own),
        found_key,
    );
    begun?;
    let (parent, head, found_key) = (parent?, head?, found_key?);
    let start = match from {
        Some((from, at)) => shared(session, &parent, from, at).await?,
        None => (0, Hash::ZERO),
    };
    if let Some(found) = found_key.first() {
        return Ok((replayed(append, found)?, None));
    }
    let place = locate(append, head.first(), start, from)?;
    write(session, append, &place, commits).await
}

/// Returns the last record that a fork shares, and its hash.
/// The record's run is locked, so that nobody removes it meanwhile.
async fn shared(
    session: &Session,
    parent: &[Row],
    from: &RunId,
    at: u64,
) -> Result<(u64, Hash), Failure> {
    if parent.is_empty() {
        return Err(row::no_run(from));
    }
    let record = one(session, from, at).await?;
    let record = record.ok_or_else(|| StoreError::missing_record(from, at))?;
    Ok((at, record.hash()))
}

fn replayed(append: &Append, found: &Row) -> Result<Appended, Failure> {
    Ok(append.answer_repeated(&read_seen(found)?)?)
}

fn locate<'a>(
    append: &Append,
    head: Option<&Row>,
    start: (u64, Hash),
    forked: Option<(&'a RunId, u64)>,
) -> Result<Position<'a>, Failure> {
    let end = head.map(|head| {
        Ok::<_, Failure>(JournalEnd {
            seq: row::number(head, 0)?,
            hash: row::hash(head, 1)?,
            fence: row::number(head, 2)?,
        })
    });
    let end = end.transpose()?;
    let (after, last) = append.predecessor(end.as_ref(), start, forked.is_some())?;
    Ok(Position {
        after,
        last,
        is_new: end.is_none(),
        forked,
    })
}

async fn write(
    session: &Session,
    append: &Append,
    place: &Position<'_>,
    commits: bool,
) -> Result<Outcome, Failure> {
    let key = append.key.as_ref();
    let (records, hash) = chain(
        &append.records,
        key.map(|(key, _)| key),
        place.after,
        place.last,
    );
    let (first, last) = (place.after + 1, place.after + records.len() as u64);
    let bounds = [row::stored("a seq", first)?, row::stored("a seq", last)?];
    let head = Head::new(append, place, &records, bounds[1], hash)?;
    let head_sql = session.prepare(&Head::sql(place.is_new)).await?;
    let head_values = head.values(place.is_new);
    let head_params = as_params(&head_values);
    // Waited for: a record of a run that another makes would collide with its records.
    if place.is_new && session.run(&head_sql, &head_params).await? == 0 {
        let what = "another makes this run at the same time".to_owned();
        return Err(Failure::Contention(what));
    }
    if let Some(wanted) = &append.timers {
        let mut values = Values(vec![Box::new(append.run.as_str())]);
        let arming = arming(&mut values, wanted)?;
        let sql = format!("WITH head AS (SELECT $1::text AS run), {arming} SELECT 1");
        session.query(&sql, &as_params(&values)).await?;
    }
    for record in &records {
        if let Some(hash) = overflow::blob_hash(&record.body) {
            blob::keep(session, &hash, record.body.as_bytes(), None).await?;
        }
    }
    let mut parts: Vec<&[Record]> = records.chunks(ROWS).collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let sql = insert_sql(part.len());
        session
            .execute(&sql, &as_params(&Values::new(&append.run, part)?))
            .await?;
    }
    let values = Values::new(&append.run, end)?;
    let put = session.prepare(&insert_sql(end.len())).await?;
    let put_key = session.prepare(KEY).await?;
    let key = async {
        if let Some((key, request)) = key {
            let request = request.as_bytes().as_slice();
            let params: Params<'_> = &[
                &append.run.as_str(),
                &key.as_str(),
                &request,
                &bounds[0],
                &bounds[1],
            ];
            session.run(&put_key, params).await?;
        }
        Ok::<(), Failure>(())
    };
    let head = async {
        match place.is_new {
            true => Ok(1),
            false => session.run(&head_sql, &head_params).await,
        }
    };
    let params = as_params(&values);
    let commit = async {
        match commits {
            true => session.commit().await,
            false => Ok(()),
        }
    };
    let (put, key, head, committed) = join!(
        biased;
        session.run(&put, &params),
        key,
        head,
        commit,
    );
    // The first failure is the answer; the commit has undone the rest.
    let written = put?;
    key?;
    head?;
    committed?;
    if usize::try_from(written) != Ok(end.len()) {
        let what = format!(
            "it took {written} of {} records: `store verify` says what is in the way",
            end.len()
        );
        return Err(Failure::Refused(what));
    }
    Ok((Appended::Done { first, last }, Some(hash)))
}

/// Returns the parts of a statement that make a run's timers the wanted ones.
///
/// The run is the one in `head`; the statement's values are added.
///
/// A timer that stays keeps its claim.
fn arming(values: &mut Values<'_>, wanted: &[PendingTimer]) -> Result<String, StoreError> {
    let (mut dues, mut names, mut seqs) = (Vec::new(), Vec::new(), Vec::new());
    for timer in wanted {
        dues.push(row::stored("a time", timer.due)?);
        names.push(timer.name.clone());
        seqs.push(row::stored("a seq", timer.seq)?);
    }
    let dues = values.push(dues, "int8[]");
    let names = values.push(names, "text[]");
    let seqs = values.push(seqs, "int8[]");
    let wanted = format!("unnest({dues}, {names}, {seqs}) AS wanted (due, name, seq)");
    Ok(format!(
        "gone AS (DELETE FROM statemark_timers timers USING head WHERE timers.run = head.run
            AND NOT EXISTS (SELECT 1 FROM {wanted} WHERE wanted.due = timers.due
                AND wanted.name = timers.name AND wanted.seq = timers.seq)),
        armed AS (INSERT INTO statemark_timers (run, due, name, seq, claimed)
            SELECT head.run, wanted.due, wanted.name, wanted.seq, 0 FROM head, {wanted}
            ON CONFLICT (run, due, name, seq) DO NOTHING)"
    ))
}

fn insert_sql(rows: usize) -> String {
    let columns = row::RECORD;
    let mut sql = format!("INSERT INTO statemark_records (run, {columns}) VALUES ");
    for row in 0..rows {
        let first = row * 9 + 1;
        let names: Vec<String> = (first..first + 9).map(|at| format!("${at}")).collect();
        let comma = if row == 0 { "" } else { ", " };
        let _ = write!(sql, "{comma}({})", names.join(", "));
    }
    sql
}

/// A value of a row, and its type in the database.
type Column<'a> = (Box<dyn ToSql + Sync + 'a>, &'static str);

/// The values of a statement, in the order of its parameters.
struct Values<'a>(Vec<Box<dyn ToSql + Sync + 'a>>);

/// Returns the values of a row of records, in the order of the columns.
fn record_values<'a>(run: &'a RunId, record: &'a Record) -> Result<[Column<'a>; 9], StoreError> {
    let key = record.key.as_ref().map(|key| key.as_str());
    Ok([
        (Box::new(run.as_str()), "text"),
        (Box::new(row::stored("a seq", record.seq)?), "int8"),
        (Box::new(row::stored("a time", record.time)?), "int8"),
        (Box::new(record.kind.as_str()), "text"),
        (Box::new(i64::from(record.v)), "int8"),
        (Box::new(row::to_json(&record.actor)?), "text"),
        (Box::new(key), "text"),
        (Box::new(overflow::to_row(&record.body)), "text"),
        (Box::new(record.prev.as_bytes().as_slice()), "bytea"),
    ])
}

impl<'a> Values<'a> {
    fn new(run: &'a RunId, records: &'a [Record]) -> Result<Self, StoreError> {
        let mut values = Self(Vec::with_capacity(records.len() * 9));
        for record in records {
            let columns = record_values(run, record)?;
            values.0.extend(columns.into_iter().map(|(value, _)| value));
        }
        Ok(values)
    }

    /// Adds a value, and returns its parameter.
    fn push(&mut self, value: impl ToSql + Sync + 'a, kind: &str) -> String {
        self.push_boxed(Box::new(value), kind)
    }

    fn push_boxed(&mut self, value: Box<dyn ToSql + Sync + 'a>, kind: &str) -> String {
        self.0.push(value);
        format!("${}::{kind}", self.0.len())
    }
}

fn as_params<'a>(values: &'a Values<'_>) -> Vec<&'a (dyn ToSql + Sync)> {
    values.0.iter().map(|value| &**value).collect()
}

/// The row of a run as it is from now on.
struct Head<'a> {
    run: &'a str,
    seq: i64,
    hash: Hash,
    created: i64,
    updated: i64,
    forked_from: Option<&'a str>,
    forked_at: Option<i64>,
    append: &'a Append,
    parent: Option<&'a str>,
    summary: String,
}

impl<'a> Head<'a> {
    fn new(
        append: &'a Append,
        place: &Position<'a>,
        records: &[Record],
        seq: i64,
        hash: Hash,
    ) -> Result<Self, StoreError> {
        let time =
            |record: Option<&Record>| row::stored("a time", record.map_or(0, |record| record.time));
        let summary = &append.summary;
        let at = place.forked.map(|(_, at)| row::stored("a seq", at));
        Ok(Self {
            run: append.run.as_str(),
            seq,
            hash,
            created: time(records.first())?,
            updated: time(records.last())?,
            forked_from: place.forked.map(|(from, _)| from.as_str()),
            forked_at: at.transpose()?,
            append,
            parent: summary.parent.as_ref().map(|run| run.as_str()),
            summary: row::to_json(summary)?,
        })
    }

    fn sql(is_new: bool) -> String {
        if is_new {
            format!(
                "INSERT INTO statemark_runs (run, seq, hash, updated, workflow, status, project,
                    parent, summary, created, forked_from, forked_at, changed, fence)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, {CHANGED}, 0)
                ON CONFLICT (run) DO NOTHING"
            )
        } else {
            format!(
                "UPDATE statemark_runs SET seq = $2, hash = $3, updated = $4, workflow = $5,
                    status = $6, project = $7, parent = $8, summary = $9, changed = {CHANGED}
                WHERE run = $1"
            )
        }
    }

    fn values(&self, is_new: bool) -> Values<'_> {
        let summary = &self.append.summary;
        let mut params: Vec<Box<dyn ToSql + Sync + '_>> = vec![
            Box::new(self.run),
            Box::new(self.seq),
            Box::new(self.hash.as_bytes().as_slice()),
            Box::new(self.updated),
            Box::new(summary.workflow.as_str()),
            Box::new(summary.status.as_str()),
            Box::new(summary.project.as_deref()),
            Box::new(self.parent),
            Box::new(self.summary.as_str()),
        ];
        if is_new {
            params.push(Box::new(self.created));
            params.push(Box::new(self.forked_from));
            params.push(Box::new(self.forked_at));
        }
        Values(params)
    }
}
