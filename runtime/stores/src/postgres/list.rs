//! Reading many runs: lists, how many there are, and which have changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use tokio_postgres::types::ToSql;

use super::error::Failure;
use super::row;
use super::session::Session;
use statemark_runs::RunId;
use statemark_runs::store::{Cursor, Hint, MAX_PAGE, Page, Query, REQUESTS_MARK, Watermark};

/// Most changes after a watermark that are reported at once.
/// Why: to a watcher that begins with nothing, every run is a change.
const CHANGES: i64 = 10_000;

/// The condition that leaves out the store's own journal, which is no run.
const NOT_JOURNAL: &str = "run <> '$store'";

/// The conditions of a query, and their parameters.
#[derive(Default)]
struct Wanted<'a> {
    sql: String,
    params: Vec<Box<dyn ToSql + Sync + 'a>>,
}

impl<'a> Wanted<'a> {
    fn param(&mut self, value: impl ToSql + Sync + 'a) -> usize {
        self.params.push(Box::new(value));
        self.params.len()
    }

    fn equal(&mut self, column: &str, value: Option<&'a str>) {
        if let Some(value) = value {
            let at = self.param(value);
            let _ = write!(self.sql, " AND {column} = ${at}");
        }
    }
}

pub(super) async fn page(session: &Session, query: &Query) -> Result<Page, Failure> {
    let limit = query.limit.clamp(1, MAX_PAGE);
    if !can_match(query) {
        return Ok(Page::default());
    }
    let mut wanted = Wanted::default();
    if !query.statuses.is_empty() {
        let statuses = query.statuses.iter().filter(|status| is_text(status));
        let names: Vec<String> = statuses
            .map(|status| format!("${}", wanted.param(status.as_str())))
            .collect();
        let _ = write!(wanted.sql, " AND status IN ({})", names.join(", "));
    }
    wanted.equal("workflow", query.workflow.as_deref());
    wanted.equal("project", query.project.as_deref());
    wanted.equal("parent", query.parent.as_ref().map(|run| run.as_str()));
    wanted.equal("forked_from", query.forked.as_ref().map(|run| run.as_str()));
    if query.has_requests {
        let _ = write!(wanted.sql, " AND strpos(summary, '{REQUESTS_MARK}') > 0");
    }
    if let Some(prefix) = &query.prefix {
        let at = wanted.param(prefix.as_str());
        let _ = write!(wanted.sql, " AND left(run, length(${at}::text)) = ${at}");
    }
    if let Some(after) = &query.after {
        let updated = wanted.param(row::stored("a time", after.updated)?);
        let run = wanted.param(after.run.as_str());
        let _ = write!(wanted.sql, " AND (updated, run) < (${updated}, ${run})");
    }
    // One more than wanted says whether there are more.
    let most = wanted.param(i64::try_from(limit + 1).unwrap_or(i64::MAX));
    let sql = format!(
        "SELECT {} FROM statemark_runs WHERE {NOT_JOURNAL}{}
            ORDER BY updated DESC, run DESC LIMIT ${most}",
        row::HEAD,
        wanted.sql
    );
    let params: Vec<&(dyn ToSql + Sync)> = wanted.params.iter().map(|it| &**it).collect();
    let rows = session.query(&sql, &params).await?;
    let more = rows.len() > limit;
    let heads = rows.iter().take(limit).map(row::head);
    let heads = heads.collect::<Result<Vec<_>, _>>()?;
    let next = heads.last().filter(|_| more).map(|head| Cursor {
        updated: head.updated,
        run: head.run.clone(),
    });
    Ok(Page { heads, next })
}

/// Returns the number of runs of each status.
pub(super) async fn counts(session: &Session) -> Result<BTreeMap<String, u64>, Failure> {
    let sql =
        format!("SELECT status, count(*) FROM statemark_runs WHERE {NOT_JOURNAL} GROUP BY status");
    let rows = session.query(&sql, &[]).await?;
    let counts = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row::number(row, 1)?)));
    counts.collect()
}

/// Reports whether a column can hold the text.
/// In PostgreSQL no text has a NUL, and no statement may ask for one.
fn is_text(text: &str) -> bool {
    !text.contains('\0')
}

/// Reports whether there can be such runs at all.
fn can_match(query: &Query) -> bool {
    let texts = [&query.workflow, &query.project, &query.prefix];
    let statuses = &query.statuses;
    texts.into_iter().flatten().all(|text| is_text(text))
        && (statuses.is_empty() || statuses.iter().any(|status| is_text(status)))
}

/// Returns the runs that have changed since, by the server's time of the change.
/// The last moments are read again, because a transaction may become visible later than one that began after it.
pub(super) async fn changes(
    session: &Session,
    since: &Watermark,
    reported: &Reported,
) -> Result<(Watermark, Vec<Hint>), Failure> {
    let from = row::stored("a watermark", since.0.saturating_sub(OVERLAP))?;
    let watermark = row::stored("a watermark", since.0)?;
    // What is looked at again has no limit but its time: were it cut off, what follows would never be reached.
    let sql = "SELECT run, seq, changed FROM statemark_runs WHERE changed > $1 AND changed <= $2
        UNION ALL (SELECT run, seq, changed FROM statemark_runs WHERE changed > $2
            ORDER BY changed, run LIMIT $3)
        ORDER BY changed, run";
    let rows = session.query(sql, &[&from, &watermark, &CHANGES]).await?;
    if rows.is_empty() {
        // A mark that is newer than everything is another database's, or of this one before it was put back.
        let newest = "SELECT coalesce(max(changed), 0) FROM statemark_runs";
        let newest = session.query(newest, &[]).await?;
        let newest = newest.first().map(|row| row::number(row, 0)).transpose()?;
        let newest = newest.unwrap_or(0).min(since.0);
        return Ok((Watermark(newest), Vec::new()));
    }
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let hint = Hint {
            run: row::run(row, 0)?,
            seq: row::number(row, 1)?,
        };
        if !hint.run.is_store_journal() {
            found.push((row::number(row, 2)?, hint));
        }
    }
    Ok(reported.only_new(since, found))
}

/// Time for which changes are looked for again.
/// Unit: microseconds. Why: a transaction takes milliseconds from the time that it writes down until it is visible; a
/// server that stands still for longer makes a hint late, not wrong.
const OVERLAP: u64 = 10_000_000;

/// Most watermarks that are remembered. Why: a handful of watchers.
const WATERMARKS: usize = 64;

/// The recent changes that were reported with each watermark.
///
/// Looking twice reports a change once.
/// A watermark is the time of the newest change that was reported with it. Forgetting what was reported does no harm: it
/// is reported again.
#[derive(Default)]
pub(super) struct Reported(Mutex<BTreeMap<u64, BTreeSet<(RunId, u64)>>>);

impl Reported {
    /// Returns the changes that are new for a watcher, of those found with their times.
    pub(super) fn only_new(
        &self,
        since: &Watermark,
        found: Vec<(u64, Hint)>,
    ) -> (Watermark, Vec<Hint>) {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = found.iter().map(|(changed, _)| *changed).max();
        let newest = newest.unwrap_or(0).max(since.0);
        let recent = newest.saturating_sub(OVERLAP);
        let all: BTreeSet<(RunId, u64)> = found
            .iter()
            .filter(|(changed, _)| *changed > recent)
            .map(|(_, hint)| (hint.run.clone(), hint.seq))
            .collect();
        let before = marks.get(&since.0).cloned().unwrap_or_default();
        let is_new = |hint: &Hint| !before.contains(&(hint.run.clone(), hint.seq));
        let hints: Vec<Hint> = found
            .into_iter()
            .map(|(_, hint)| hint)
            .filter(is_new)
            .collect();
        // Two watchers that come to one mark by different ways have in common only what both have seen.
        marks
            .entry(newest)
            .and_modify(|reported| reported.retain(|it| all.contains(it)))
            .or_insert(all);
        while marks.len() > WATERMARKS {
            marks.pop_first();
        }
        (Watermark(newest), hints)
    }
}
