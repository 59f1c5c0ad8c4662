//! What the commands that drive runs share: the store, the workflows, and the run that a person means.

mod caller;
mod catalog;
mod checks;
mod clock;
mod keys;
mod place;
mod served;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use statemark_compiler::diag::nearest;
use statemark_runs::{
    Clock, Head, Key, Loaded, MAX_PAGE, NameError, Order, Query, Role, RunError, RunId, Runs,
    Store, StoreError, Workflow, Workflows, Written,
};
use statemark_stores::{SqliteStore, file_of};

use crate::args::{SpecsArgs, StoreArgs};
use crate::failure::{Failure, FailureKind};

pub(crate) use caller::{
    change as change_tokens, check_unsaved, keep_private, kept_private, own_token, read as tokens,
    save as save_token,
};
pub(crate) use checks::{Whose, bad as bad_check, find as find_check};
pub(crate) use clock::{length, shown as time};
pub(crate) use keys::keys;

/// How often a store is asked for news. Why: a person doesn't notice a fifth of a second.
pub(crate) const PAUSE: Duration = Duration::from_millis(200);

/// How many runs are looked at for one that begins so. Why: enough to show that several do.
const MOST_MEANT: usize = 6;

/// The runs of the store that the arguments mean; workflows come from journals alone.
pub(crate) fn open(store: &StoreArgs) -> Result<Runs, Failure> {
    let address = place::existing(store.store.as_deref())?;
    at(&address, catalog::Catalog::default())
}

/// The same, and the store is made if it isn't there.
pub(crate) fn open_or_make(store: &StoreArgs) -> Result<Runs, Failure> {
    over(store, catalog::Catalog::default())
}

/// The same, if there is a store: looking makes none. One that is named has to be there.
pub(crate) fn open_if_there(store: &StoreArgs) -> Result<Option<Runs>, Failure> {
    if place::is_unmade(store.store.as_deref())? {
        return Ok(None);
    }
    open(store).map(Some)
}

/// What a server is handed: the store, the clock, and the workflows of these specs.
pub(crate) fn served(store: Option<&str>, specs: &[PathBuf]) -> Result<Handed, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(clock::clock()?);
    let address = place::find(store)?;
    let opened = statemark_stores::open(&address, Arc::clone(&clock));
    let opened = opened.map_err(FailureKind::Store)?;
    Ok((opened, clock, Arc::new(served::Served::new(specs)?)))
}

/// A store, a clock and workflows.
type Handed = (
    Arc<dyn Store>,
    Arc<dyn Clock>,
    Arc<dyn statemark_server::Catalog>,
);

/// Who calls over standard input and output: by the token in the environment, else an agent.
pub(crate) fn agent() -> Result<statemark_server::Caller, Failure> {
    let (actor, token) = caller::caller(false)?;
    Ok(statemark_server::Caller {
        actor,
        run: token.and_then(|it| it.run),
        project: Some(project(None)?),
    })
}

/// Who calls without a token over HTTP, where that is let in: an agent, of this project.
pub(crate) fn anybody() -> Result<statemark_server::Caller, Failure> {
    Ok(statemark_server::Caller {
        project: Some(project(None)?),
        ..statemark_server::Caller::agent()
    })
}

/// The runs of the store that the arguments mean, with the workflows of these specs; `workflow` is the one that is wanted.
pub(crate) fn open_with(
    store: &StoreArgs,
    specs: &SpecsArgs,
    workflow: &str,
) -> Result<Runs, Failure> {
    let catalog = catalog::Catalog::new(&specs.specs)?;
    if catalog.find(workflow).is_none() {
        return Err(unknown_workflow(workflow, catalog.ids(), catalog.broken()));
    }
    over(store, catalog)
}

/// The same for reports on runs, of which a spec need not be left, and whose workflow may be a document without a machine.
/// With them, the specs with errors.
pub(crate) fn open_for_reports(
    store: &StoreArgs,
    specs: &SpecsArgs,
    workflow: &str,
) -> Result<(Runs, Vec<String>), Failure> {
    let mut catalog = catalog::Catalog::new(&specs.specs)?;
    if catalog.find(workflow).is_none() {
        catalog.look_for_plain(&specs.specs, workflow)?;
    }
    let broken = catalog.broken().to_vec();
    Ok((over(store, catalog)?, broken))
}

/// A store that has to be there already, and in a file, so that it can be `done` as files are.
pub(crate) fn open_file(store: &StoreArgs, done: &'static str) -> Result<SqliteStore, Failure> {
    let address = place::existing(store.store.as_deref())?;
    let path = file_of(&address).ok_or(FailureKind::NotInAFile { done })?;
    let opened = SqliteStore::open(path, clock::clock()?);
    Ok(opened.map_err(FailureKind::Store)?)
}

/// The store at an address; it may have to be there already.
pub(crate) fn store_at(address: &str, exists: bool) -> Result<Arc<dyn Store>, Failure> {
    if exists {
        place::check_exists(address)?;
    }
    let opened = statemark_stores::open(address, Arc::new(clock::clock()?));
    Ok(opened.map_err(FailureKind::Store)?)
}

/// A run, and the machine that it is held against.
pub(crate) struct Towards {
    pub(crate) runs: Runs,
    pub(crate) run: RunId,
    pub(crate) workflow: Arc<Workflow>,
}

/// A run, and the machine that a word means: a spec, a table, or the id of a workflow that some specs define.
pub(crate) fn towards(
    store: &StoreArgs,
    specs: &SpecsArgs,
    word: &str,
    run: &str,
) -> Result<Towards, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(clock::clock()?);
    let address = place::find(store.store.as_deref())?;
    let opened = statemark_stores::open(&address, Arc::clone(&clock));
    let opened = opened.map_err(FailureKind::Store)?;
    let none = Arc::new(catalog::Catalog::default());
    let all = Runs::new(Arc::clone(&opened), none, Arc::clone(&clock));
    let loaded = load(&all, run)?;
    let (catalog, workflow) =
        catalog::Catalog::towards(word, &specs.specs, &loaded.state.workflow)?;
    Ok(Towards {
        runs: Runs::new(opened, Arc::new(catalog), clock),
        run: loaded.run,
        workflow,
    })
}

/// That no spec defines a workflow.
pub(crate) fn unknown_workflow(id: &str, known: Vec<String>, broken: &[String]) -> Failure {
    let near = nearest(id, known.iter().map(String::as_str)).map(str::to_owned);
    FailureKind::UnknownWorkflow {
        near,
        id: id.to_owned(),
        broken: broken.to_vec(),
        known,
    }
    .into()
}

fn over(store: &StoreArgs, catalog: catalog::Catalog) -> Result<Runs, Failure> {
    at(&place::find(store.store.as_deref())?, catalog)
}

fn at(address: &str, catalog: catalog::Catalog) -> Result<Runs, Failure> {
    let clock = Arc::new(clock::clock()?);
    let opened = statemark_stores::open(address, Arc::clone(&clock) as Arc<_>);
    let opened = opened.map_err(FailureKind::Store)?;
    Ok(Runs::new(opened, Arc::new(catalog), clock))
}

/// The run that a text means: its id, or the beginning of it.
pub(crate) fn find(runs: &Runs, text: &str) -> Result<RunId, Failure> {
    find_in(runs.store(), text)
}

/// The same, in a store.
pub(crate) fn find_in(store: &dyn Store, text: &str) -> Result<RunId, Failure> {
    let exact: RunId = named("RUN", text.parse())?;
    match store.head(&exact) {
        Ok(_) => return Ok(exact),
        Err(StoreError::NotFound { .. }) => {}
        Err(error) => return Err(FailureKind::Store(error).into()),
    }
    let query = Query {
        prefix: Some(text.to_owned()),
        limit: MOST_MEANT,
        ..Query::default()
    };
    let found = store.list(&query).map_err(FailureKind::Store)?;
    match found.heads.as_slice() {
        [Head { run, .. }] => Ok(run.clone()),
        heads => Err(FailureKind::UnknownRun {
            run: text.to_owned(),
            meant: heads.iter().map(|head| head.run.to_string()).collect(),
            near: if heads.is_empty() {
                near(store, text)?
            } else {
                None
            },
        }
        .into()),
    }
}

/// Among the latest runs, the one whose id is nearly so.
fn near(store: &dyn Store, text: &str) -> Result<Option<String>, Failure> {
    let latest = Query {
        limit: MAX_PAGE,
        ..Query::default()
    };
    let latest = store.list(&latest).map_err(FailureKind::Store)?;
    let ids = latest.heads.iter().map(|head| head.run.as_str());
    Ok(nearest(text, ids).map(str::to_owned))
}

/// The run that a text means, as it is now; what was due by now has been taken.
pub(crate) fn load(runs: &Runs, text: &str) -> Result<Loaded, Failure> {
    let run = find(runs, text)?;
    Ok(runs.caught_up(&run)?)
}

/// Takes what is due of a run, if there is one.
pub(crate) fn take_due(runs: &Runs, run: &RunId) -> Result<(), Failure> {
    match runs.caught_up(run) {
        Ok(_) | Err(RunError::Store(StoreError::NotFound { .. })) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The run that a text means, for an order; what was due by now has been taken.
pub(crate) fn current(runs: &Runs, text: &str) -> Result<RunId, Failure> {
    Ok(load(runs, text)?.run)
}

/// An order of whoever uses the command line.
pub(crate) fn order(run: RunId, key: Option<&str>) -> Result<Order, Failure> {
    ordered(run, key, false)
}

/// An order that only a person may give, or that counts for more when a person gives it.
pub(crate) fn order_of_person(run: RunId, key: Option<&str>) -> Result<Order, Failure> {
    ordered(run, key, true)
}

fn ordered(run: RunId, key: Option<&str>, wants_person: bool) -> Result<Order, Failure> {
    let key = key.map(str::parse::<Key>).transpose();
    let key = named("--key", key)?;
    let (actor, token) = caller::caller(wants_person)?;
    caller::check(token.as_ref(), &run)?;
    Ok(Order {
        key,
        ..Order::new(run, actor)
    })
}

/// That the caller may change something: an observer may not.
pub(crate) fn check_may_write() -> Result<(), Failure> {
    let (actor, _) = caller::caller(false)?;
    if actor.role == Role::Observer {
        return Err(RunError::ReadOnly { actor }.into());
    }
    Ok(())
}

/// JSON on the command line.
pub(crate) fn json(name: &'static str, text: Option<&str>) -> Result<Option<Value>, Failure> {
    let parsed = text.map(serde_json::from_str).transpose();
    parsed.map_err(|cause| FailureKind::BadJson { name, cause }.into())
}

/// The id of the project in a folder; in this one if none is named.
pub(crate) fn project(path: Option<&str>) -> Result<String, Failure> {
    place::project(path.unwrap_or("."))
}

/// A length of time as people write it. Unit: milliseconds.
pub(crate) fn milliseconds(text: &str) -> Result<u64, Failure> {
    let text = text.to_owned();
    match humantime::parse_duration(&text) {
        Ok(length) => Ok(u64::try_from(length.as_millis()).unwrap_or(u64::MAX)),
        Err(_) => Err(FailureKind::BadTime { text }.into()),
    }
}

/// The time that runs go by. Unit: milliseconds since 1970.
pub(crate) fn now() -> Result<u64, Failure> {
    Ok(Clock::now(&clock::clock()?))
}

pub(crate) fn named<T>(name: &'static str, result: Result<T, NameError>) -> Result<T, Failure> {
    result.map_err(|cause| FailureKind::BadId { name, cause }.into())
}

/// How often a name is made up that somebody else has already.
const TRIES: u32 = 8;

/// Begins a run under the id that was given, or under one that is made up.
pub(crate) fn begin(
    given: Option<&str>,
    workflow: &str,
    key: Option<&str>,
    mut write: impl FnMut(&Order) -> Result<Written, RunError>,
) -> Result<Written, Failure> {
    let given: Option<RunId> = given.map(|id| named("--run-id", id.parse())).transpose()?;
    let mut tries = 0;
    loop {
        let id = given.clone();
        // The same key has to mean the same run.
        let made = || match key {
            Some(key) => RunId::for_workflow_and_key(workflow, key),
            None => RunId::for_workflow(workflow),
        };
        let id = id.unwrap_or_else(made);
        let order = order(id, key)?;
        match write(&order) {
            Err(RunError::Store(StoreError::Conflict { .. }))
                if given.is_some() || key.is_some() =>
            {
                let run = order.run.to_string();
                return Err(FailureKind::RunExists { run }.into());
            }
            Err(RunError::Store(StoreError::Conflict { .. })) if tries < TRIES => tries += 1,
            written => return Ok(written?),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        FailureKind::Run(error).into()
    }
}
