//! Leases, in the row of their run.

use super::error::Failure;
use super::row;
use super::session::{Params, Session};
use statemark_runs::RunId;
use statemark_runs::store::{Fence, Lease, MAX_HOLD, StoreError};

const HELD: &str = "SELECT fence, lease_owner, coalesce(lease_until, 0),
        coalesce($2::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)
    FROM statemark_runs WHERE run = $1 FOR UPDATE";

const HOLD: &str = "UPDATE statemark_runs SET fence = $2, lease_owner = $3, lease_until = $4
    WHERE run = $1";

/// Gets or prolongs the lease of a run.
pub(super) async fn take(
    session: &Session,
    run: &RunId,
    owner: &str,
    milliseconds: u64,
    now: Option<i64>,
) -> Result<Lease, Failure> {
    session.begin().await?;
    let rows = session.query(HELD, &[&run.as_str(), &now]).await?;
    let held = rows.first().ok_or_else(|| row::no_run(run))?;
    let holder: Option<&str> = held.try_get(1)?;
    let now = row::number(held, 3)?;
    let held_until = row::number(held, 2)?;
    // One that ends later than any may was made by a clock that was ahead.
    let is_over = held_until <= now || held_until - now > MAX_HOLD;
    let fence = row::number(held, 0)?;
    let fence = match holder {
        Some(holder) if !is_over && holder != owner => {
            return Err(Failure::Answer(StoreError::Busy {
                by: holder.to_owned(),
                until: Some(held_until),
            }));
        }
        Some(_) if !is_over => fence,
        _ => fence + 1,
    };
    let until = now.saturating_add(milliseconds.min(MAX_HOLD));
    let stored = (
        row::stored("a fence", fence)?,
        row::stored("a time", until)?,
    );
    let params: Params<'_> = &[&run.as_str(), &stored.0, &owner, &stored.1];
    session.execute(HOLD, params).await?;
    session.commit().await?;
    Ok(Lease {
        run: run.clone(),
        owner: owner.to_owned(),
        fence: Fence(fence),
        until,
    })
}

/// Gives a lease back, if it is still held.
pub(super) async fn release(session: &Session, lease: &Lease) -> Result<(), Failure> {
    let fence = row::stored("a fence", lease.fence.0)?;
    let sql = "UPDATE statemark_runs SET lease_owner = NULL, lease_until = NULL
        WHERE run = $1 AND fence = $2 AND lease_owner = $3";
    let done = session
        .execute(sql, &[&lease.run.as_str(), &fence, &lease.owner])
        .await?;
    if done == 0 {
        super::record::head(session, &lease.run).await?;
    }
    Ok(())
}
