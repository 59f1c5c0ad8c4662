//! Timers: what is due, and whose it is for a while.

use super::error::Failure;
use super::row;
use super::session::{Params, Session};
use statemark_runs::store::{DueTimer, MAX_HOLD, PendingTimer};

/// The time that claims go by.
pub(super) const NOW: &str =
    "coalesce($1::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)";

/// Most readings of the list.
/// Why: others may have claimed what was on it.
const TRIES: u32 = 8;

/// Returns the condition under which nobody has a timer at a time.
///
/// One that is claimed for longer than anybody may was claimed by a clock that was ahead.
fn free(now: &str) -> String {
    format!("(claimed <= {now} OR claimed > {now} + {MAX_HOLD})")
}

/// Timers that are due by a time and that nobody has claimed.
/// Each is claimed by a statement of its own, which others can't have made first: databases without `SKIP LOCKED` have
/// nothing better, and no run waits for another.
pub(super) async fn claim(
    session: &Session,
    now: u64,
    limit: usize,
    claim: u64,
    clock: Option<i64>,
) -> Result<Vec<DueTimer>, Failure> {
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let list = format!(
        "SELECT run, due, name, seq, {NOW} FROM statemark_timers
            WHERE due <= $2 AND {} ORDER BY due, name, seq, run LIMIT $3",
        free(NOW)
    );
    let take = format!(
        "UPDATE statemark_timers SET claimed = $5
            WHERE run = $1 AND due = $2 AND name = $3 AND seq = $4 AND {}",
        free("$6::int8")
    );
    let mut due = Vec::new();
    for _ in 0..TRIES {
        let most = i64::try_from(limit.saturating_sub(due.len())).unwrap_or(i64::MAX);
        let rows = session.query(&list, &[&clock, &now, &most]).await?;
        let found = rows.len();
        let before = due.len();
        for row in &rows {
            let timer = PendingTimer {
                due: row::number(row, 1)?,
                name: row.try_get(2)?,
                seq: row::number(row, 3)?,
            };
            let run = row::run(row, 0)?;
            let clock: i64 = row.try_get(4)?;
            let claim = i64::try_from(claim.min(MAX_HOLD)).unwrap_or(i64::MAX);
            // A claim of no time would leave the timer to the next turn of this loop.
            let until = clock.saturating_add(claim);
            let at: [i64; 2] = [row.try_get(1)?, row.try_get(3)?];
            let params: Params<'_> = &[&run.as_str(), &at[0], &timer.name, &at[1], &until, &clock];
            if session.execute(&take, params).await? == 1 {
                due.push(DueTimer { run, timer });
            }
        }
        // Whatever wasn't got is somebody else's; there may be more after it.
        if due.len() >= limit || due.len() - before == found {
            break;
        }
    }
    Ok(due)
}

/// Returns when the next unclaimed timer is due.
pub(super) async fn next(session: &Session, clock: Option<i64>) -> Result<Option<u64>, Failure> {
    let sql = format!("SELECT min(due) FROM statemark_timers WHERE {}", free(NOW));
    let rows = session.query(&sql, &[&clock]).await?;
    let Some(found) = rows.first() else {
        return Ok(None);
    };
    let due: Option<i64> = found.try_get(0)?;
    due.map(|_| row::number(found, 0)).transpose()
}
