//! Asking people.

mod list_requests;
mod request_human;
mod resolve_request;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use statemark_store::body::RequestKind;
use statemark_store::fold::Request;
use statemark_store::{Loaded, Query, RunId, Status};

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
}

/// An open request, and the run that asks.
pub(crate) struct Asked {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) request: Request,
}

/// The open requests that are meant, of runs that the caller may touch; as many as are wanted, or a few more.
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
    loop {
        let page = call.desk.runs().store().list(&query)?;
        let asking = page
            .heads
            .iter()
            .filter(|it| !it.summary.requests.is_empty());
        for head in asking {
            open(call, &head.run, filter, &mut found)?;
            if found.len() >= wanted {
                return Ok(found);
            }
        }
        query.after = page.next;
        if query.after.is_none() {
            return Ok(found);
        }
    }
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
    found.extend(meant.map(|request| Asked {
        loaded: Arc::clone(&loaded),
        request: request.clone(),
    }));
    Ok(())
}
