//! Verification of signed decisions against lists of keys.
//!
//! The lists are the store's own, and one that is kept elsewhere.
//!
//! A run's first record names the keys that its decisions are signed with, and every fold verifies the signatures by them.
//! Whoever wrote another journal wrote other keys into it; here the keys are compared with what the store knows, and with
//! a list that its writer can't reach.

use super::all_runs;
use super::verify::Difference;
use crate::authority::{Authority, load_authority};
use crate::body::{Body, Resolved};
use crate::id::RunId;
use crate::record::Record;
use crate::runs::{RunError, Runs, UNSIGNED_RUN};
use crate::signing::Signer;
use crate::state::{Request, RunState, check_signature, is_signed, replay};
use crate::store::StoreError;

/// Verifies the signed decisions of all runs, or of one.
///
/// Each key has to be one that the store had when the run began, and hadn't revoked when it was used; with a list, each
/// key that was used has to be in it, too. The journal has to be what its machine does. Damage that
/// [`verify`](super::verify()) reports isn't reported again.
///
/// # Errors
///
/// The store can't be read.
pub fn verify_signatures(
    runs: &Runs,
    only: Option<&RunId>,
    allowed: Option<&[Signer]>,
) -> Result<Vec<Difference>, RunError> {
    let store = runs.store();
    let heads = match only {
        Some(run) => vec![store.head(run)?],
        None => all_runs(store)?,
    };
    let mut authority = None;
    let mut differences = Vec::new();
    for head in heads {
        let run = &head.run;
        let state = match is_signed(store, run) {
            Ok(true) => replay(store, run, Some(head.seq)),
            Ok(false) => {
                differences.extend(lacks_keys(runs, run)?);
                continue;
            }
            Err(error) => Err(error),
        };
        let state = match state {
            Ok(state) => state,
            Err(StoreError::Corrupt { .. } | StoreError::NotFound { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        if authority.is_none() {
            authority = match load_authority(store) {
                Ok(authority) => Some(authority),
                Err(StoreError::Corrupt { .. }) => Some(Authority::default()),
                Err(error) => return Err(error.into()),
            };
        }
        let mut found: Vec<(u64, String)> = Vec::new();
        let known = authority.iter().flat_map(|it| unknown_keys(&state, it));
        found.extend(known.map(|what| (1, what)));
        for (request, resolved, seq) in decisions(&state) {
            let record = store.records(run, seq.saturating_sub(1), 1)?;
            let time = record.first().map_or(0, |it| it.time);
            let defects = authority
                .iter()
                .flat_map(|it| decision_defects(&state, (request, resolved), time, it, allowed));
            found.extend(defects.map(|what| (seq, what)));
        }
        match runs.load(run) {
            Ok(_) => {}
            Err(RunError::Store(StoreError::Corrupt { seq, what, .. })) => {
                found.push((seq.unwrap_or(1), what));
            }
            Err(error) => return Err(error),
        }
        differences.extend(found.into_iter().map(|(seq, what)| Difference {
            run: run.clone(),
            seq: Some(seq),
            what,
        }));
    }
    Ok(differences)
}

/// Returns the difference of a run without keys whose workflow demands signed decisions.
fn lacks_keys(runs: &Runs, run: &RunId) -> Result<Option<Difference>, RunError> {
    let first = runs.store().records(run, 0, 1)?;
    let Some(Ok(Body::Started(started))) = first.first().map(Record::read) else {
        return Ok(None);
    };
    // What a table lacks is reported elsewhere.
    let workflow = runs.workflow_of(&started.table).ok();
    let demands = workflow.is_some_and(|it| it.demands_signatures());
    Ok(demands.then(|| Difference {
        run: run.clone(),
        seq: Some(1),
        what: UNSIGNED_RUN.to_owned(),
    }))
}

/// Returns the signed decisions of a run, with their records.
fn decisions(state: &RunState) -> impl Iterator<Item = (&Request, &Resolved, u64)> {
    let requests = state.requests.values();
    requests.filter_map(|request| {
        let (resolved, _, seq) = request.resolved.as_ref()?;
        resolved.signature.as_ref()?;
        Some((request, resolved, *seq))
    })
}

/// Describes the keys of a run that the store didn't have when the run began.
fn unknown_keys(state: &RunState, authority: &Authority) -> Vec<String> {
    let Some(signed) = &state.signing else {
        return Vec::new();
    };
    // Times of another store say nothing here; such a run was imported.
    let is_own = authority.store_id() == Some(&signed.signing.store);
    let is_known = |key: &Signer| {
        let mut known = authority.signers().filter(|it| it.signer == *key);
        known.any(|it| !is_own || it.added <= state.created)
    };
    let unknown = signed.signing.keys.iter().filter(|key| !is_known(key));
    let described = unknown.map(|key| {
        let (name, print) = (&key.name, key.fingerprint());
        format!("it has the key {print} as `{name}`'s, which this store didn't know as theirs")
    });
    described.collect()
}

/// Describes why a signed decision may not be one.
fn decision_defects(
    state: &RunState,
    (request, resolved): (&Request, &Resolved),
    time: u64,
    authority: &Authority,
    allowed: Option<&[Signer]>,
) -> Vec<String> {
    let Some(signature) = &resolved.signature else {
        return Vec::new();
    };
    // The fold has verified it.
    let Ok(signer) = check_signature(state, resolved, signature) else {
        return Vec::new();
    };
    let (id, print) = (&request.opened.request, signer.fingerprint());
    let name = &signer.name;
    let mut defects = Vec::new();
    if authority.revoked_at(&signer).is_some_and(|at| at < time) {
        defects.push(format!(
            "the decision about `{id}` is signed with the key {print} of `{name}`, which had been revoked"
        ));
    }
    if allowed.is_some_and(|allowed| !allowed.contains(&signer)) {
        defects.push(format!(
            "the decision about `{id}` is signed with the key {print}, which the list doesn't have as `{name}`'s"
        ));
    }
    defects
}
