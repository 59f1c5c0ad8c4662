//! Leave to drive a run alone for a while.
//!
//! Whoever drives a run for long takes its lease and puts the fence into each order. A lease that is over is anybody's;
//! the next holder's fence makes the former's orders fail, however late they come.

use super::{InvalidRequest, RunError, Runs};
use crate::id::RunId;
use crate::store::Lease;

/// Gets the lease of a run. [`Order::fence`](super::Order::fence) is where its fence belongs.
///
/// # Errors
///
/// [`StoreError::Busy`](crate::StoreError::Busy) if somebody else has it and it isn't over; there is no such run.
pub fn acquire_lease(
    runs: &Runs,
    run: &RunId,
    owner: &str,
    milliseconds: u64,
) -> Result<Lease, RunError> {
    runs.check_name("the owner's name", owner)?;
    Ok(runs.store.lease(run, owner, milliseconds)?)
}

/// Prolongs a lease that is still held; the fence stays.
///
/// # Errors
///
/// [`RunError::Invalid`] if it was over, and somebody else may have had it: what was begun under it is to be looked at
/// again. The store's.
pub fn renew_lease(runs: &Runs, lease: &Lease, milliseconds: u64) -> Result<Lease, RunError> {
    let renewed = runs.store.lease(&lease.run, &lease.owner, milliseconds)?;
    if renewed.fence == lease.fence {
        return Ok(renewed);
    }
    runs.store.release(&renewed)?;
    let run = lease.run.clone();
    Err(InvalidRequest::LeaseOver { run }.into())
}

/// Gives a lease back, if it is still held.
///
/// # Errors
///
/// The store's.
pub fn release_lease(runs: &Runs, lease: &Lease) -> Result<(), RunError> {
    Ok(runs.store.release(lease)?)
}
