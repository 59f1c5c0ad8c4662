//! Open requests to people, over all runs that a caller may touch.

use std::sync::Arc;

use statemark_runs::body::RequestKind;
use statemark_runs::runs::run_of_request;
use statemark_runs::state::Request;
use statemark_runs::{Lead, Loaded, Query, RunId, Status, for_each_head};

use crate::{Ctx, Problem};

/// The requests that are meant.
#[derive(Clone, Copy, Default)]
pub struct Filter<'f> {
    /// The only run.
    pub run: Option<&'f str>,
    /// The only workflow.
    pub workflow: Option<&'f str>,
    /// The only kind.
    pub kind: Option<RequestKind>,
    /// The only state.
    pub state: Option<&'f str>,
    /// The position of the first one.
    pub from: Option<&'f (RunId, u64)>,
}

/// An open request, and the run that asks.
pub struct PendingRequest {
    /// The run.
    pub loaded: Arc<Loaded>,
    /// The request.
    pub request: Request,
}

impl PendingRequest {
    /// Returns what an approval would take, by the run's own table.
    pub(crate) fn leads(&self) -> Vec<Lead> {
        let waiting = self.request.opened.event.as_ref();
        waiting.map_or_else(Vec::new, |it| self.loaded.workflow.leads(it))
    }

    /// Returns the position among all requests.
    pub(crate) fn position(&self) -> (RunId, u64) {
        let position = parse_position(&self.request.opened.request);
        let number = position.map_or(u64::MAX, |(_, number)| number);
        (self.loaded.run.clone(), number)
    }
}

/// Reads the position of a request from its id: requests are sorted by run, then by number.
pub(crate) fn parse_position(request: &str) -> Option<(RunId, u64)> {
    let (_, number) = request.rsplit_once(':')?;
    Some((run_of_request(request)?, number.parse().ok()?))
}

/// Lists the open requests that are meant, by position; as many as are wanted, or a few more.
///
/// # Errors
///
/// The caller may not touch the run that is meant, or a run can't be read.
pub fn list_open(
    ctx: &Ctx<'_>,
    filter: &Filter<'_>,
    wanted: usize,
) -> Result<Vec<PendingRequest>, Problem> {
    let mut found = Vec::new();
    let named = filter
        .run
        .map(|run| ctx.resolve_run(Some(run)))
        .transpose()?;
    if let Some(run) = named.or_else(|| ctx.bound_run().cloned()) {
        add_open(ctx, &run, filter, &mut found)?;
        return Ok(found);
    }
    let is_next = |run: &RunId| filter.from.is_none_or(|(from, _)| run >= from);
    for run in runs_with_requests(ctx, filter)?
        .iter()
        .filter(|run| is_next(run))
    {
        add_open(ctx, run, filter, &mut found)?;
        if found.len() >= wanted {
            break;
        }
    }
    Ok(found)
}

/// Lists the runs that have open requests, by id.
///
/// The store's order may change between two of its pages.
fn runs_with_requests(ctx: &Ctx<'_>, filter: &Filter<'_>) -> Result<Vec<RunId>, Problem> {
    let statuses = [Status::Waiting, Status::Running, Status::Paused];
    let query = Query {
        statuses: statuses.map(|status| status.name().to_owned()).to_vec(),
        workflow: filter.workflow.map(str::to_owned),
        project: ctx.confined_to().map(str::to_owned),
        has_requests: true,
        ..Query::default()
    };
    let mut runs = Vec::new();
    for_each_head(ctx.runs().store(), query, |head| runs.push(head.run))?;
    runs.sort();
    runs.dedup();
    Ok(runs)
}

/// Adds the open requests of a run that are meant.
fn add_open(
    ctx: &Ctx<'_>,
    run: &RunId,
    filter: &Filter<'_>,
    found: &mut Vec<PendingRequest>,
) -> Result<(), Problem> {
    let run = ctx.resolve_run(Some(run.as_str()))?;
    let loaded = Arc::new(ctx.runs().catch_up(&run)?);
    let state = &loaded.state;
    if filter
        .workflow
        .is_some_and(|workflow| workflow != state.workflow)
    {
        return Ok(());
    }
    let is_meant = |request: &&Request| {
        let states = &request.opened.states;
        filter.kind.is_none_or(|kind| request.opened.kind == kind)
            && filter
                .state
                .is_none_or(|wanted| states.iter().any(|state| state == wanted))
    };
    let open = state.open_requests().into_iter().filter(is_meant);
    let mut open: Vec<PendingRequest> = open
        .map(|request| PendingRequest {
            loaded: Arc::clone(&loaded),
            request: request.clone(),
        })
        .collect();
    open.retain(|it| filter.from.is_none_or(|from| it.position() >= *from));
    open.sort_by_key(PendingRequest::position);
    found.extend(open);
    Ok(())
}
