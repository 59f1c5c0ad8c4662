//! Asking people.

mod list_requests;
mod request_human;
mod resolve_request;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use statemark_runs::body::RequestKind;
use statemark_runs::runs::run_of_request;
use statemark_runs::state::Request;
use statemark_runs::{Loaded, Query, RunId, Status};

use crate::call::Call;
use crate::problem::Problem;
use crate::tool::Tool;

/// Most runs that are asked for at once.
const PAGE: usize = 500;

pub(super) fn all() -> Vec<Tool> {
    vec![
        request_human::tool(),
        list_requests::tool(),
        resolve_request::tool(),
    ]
}

/// What kind of answer is wanted.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Approval,
    Confirm,
    Select,
    Text,
    Json,
    Review,
}

impl From<Kind> for RequestKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Approval => Self::Approval,
            Kind::Confirm => Self::Confirm,
            Kind::Select => Self::Select,
            Kind::Text => Self::Text,
            Kind::Json => Self::Json,
            Kind::Review => Self::Review,
        }
    }
}

/// Which requests are meant.
#[derive(Clone, Copy, Default)]
pub(crate) struct Filter<'f> {
    pub(crate) run: Option<&'f str>,
    pub(crate) workflow: Option<&'f str>,
    pub(crate) kind: Option<Kind>,
    pub(crate) state: Option<&'f str>,
    /// From this one on, by [`place`].
    pub(crate) from: Option<&'f (RunId, u64)>,
}

/// An open request, and the run that asks.
pub(crate) struct Asked {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) request: Request,
}

impl Asked {
    /// Where it stands among all.
    pub(crate) fn place(&self) -> (RunId, u64) {
        let number = place(&self.request.opened.request).map_or(u64::MAX, |it| it.1);
        (self.loaded.run.clone(), number)
    }
}

/// Where a request stands among all, by its id: by runs, and in a run as they were asked.
pub(crate) fn place(request: &str) -> Option<(RunId, u64)> {
    let (_, number) = request.rsplit_once(':')?;
    Some((run_of_request(request)?, number.parse().ok()?))
}

/// The open requests that are meant, of runs that the caller may touch, by their places; as many as are wanted, or a few
/// more.
pub(crate) fn asked(
    call: &Call<'_>,
    filter: &Filter<'_>,
    wanted: usize,
) -> Result<Vec<Asked>, Problem> {
    let mut found = Vec::new();
    let named = filter.run.map(|it| call.run(Some(it))).transpose()?;
    if let Some(run) = named.or_else(|| call.bound().cloned()) {
        open(call, &run, filter, &mut found)?;
        return Ok(found);
    }
    let statuses = [Status::Waiting, Status::Running, Status::Paused];
    let mut query = Query {
        statuses: statuses.map(|it| it.name().to_owned()).to_vec(),
        workflow: filter.workflow.map(str::to_owned),
        limit: PAGE,
        ..Query::default()
    };
    // Runs come as they have changed last. That may be another order before the next page is asked for.
    let mut asking = Vec::new();
    loop {
        let page = call.desk.runs().store().list(&query)?;
        let heads = page.heads.into_iter();
        let heads = heads.filter(|it| !it.summary.requests.is_empty());
        asking.extend(heads.map(|it| it.run));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    asking.sort();
    asking.dedup();
    let is_next = |run: &RunId| filter.from.is_none_or(|(from, _)| run >= from);
    for run in asking.iter().filter(|run| is_next(run)) {
        open(call, run, filter, &mut found)?;
        if found.len() >= wanted {
            break;
        }
    }
    Ok(found)
}

/// Adds the open requests of a run that are meant.
fn open(
    call: &Call<'_>,
    run: &RunId,
    filter: &Filter<'_>,
    found: &mut Vec<Asked>,
) -> Result<(), Problem> {
    let run = call.run(Some(run.as_str()))?;
    let loaded = Arc::new(call.desk.runs().caught_up(&run)?);
    let state = &loaded.state;
    if filter.workflow.is_some_and(|it| it != state.workflow) {
        return Ok(());
    }
    let kind = filter.kind.map(RequestKind::from);
    let meant = state.open_requests().into_iter().filter(|it| {
        let states = &it.opened.states;
        kind.is_none_or(|kind| it.opened.kind == kind)
            && filter
                .state
                .is_none_or(|state| states.iter().any(|it| it == state))
    });
    let mut meant: Vec<Asked> = meant
        .map(|request| Asked {
            loaded: Arc::clone(&loaded),
            request: request.clone(),
        })
        .collect();
    meant.retain(|it| filter.from.is_none_or(|from| it.place() >= *from));
    meant.sort_by_key(Asked::place);
    found.extend(meant);
    Ok(())
}
