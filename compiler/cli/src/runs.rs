//! Runs as commands use them: the store, the run that a word means, and orders.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use statemark_runs::{
    Actor, Clock, Head, Key, Loaded, MAX_PAGE, Operation, Order, Query, RunError, RunId, Runs,
    Store, StoreError, Workflow, Workflows, Written,
};
use statemark_stores::{SqliteStore, file_of};
use statemark_text::suggest::nearest;
use statemark_tools::Credential;

use crate::args::{RunArgs, SpecsArgs, StoreArgs};
use crate::caller::Identity;
use crate::catalog::SpecCatalog;
use crate::clock::CommandClock;
use crate::failure::{Failure, UNKNOWN_RUN};
use crate::{caller, clock, environment, own_stores, project};

/// Time between two looks at a store. Why: a person doesn't notice a fifth of a second.
pub(crate) const PAUSE: Duration = Duration::from_millis(200);

/// Most runs that a message names. Why: enough to show that several ids begin that way.
const MAX_MATCHES: usize = 6;

/// Most ids that are made up for a new run, where others have them already.
const MAX_TRIES: u32 = 8;

/// Opens the runs of a store that exists; workflows come from journals alone.
pub(crate) fn open(store: &StoreArgs) -> Result<Runs, Failure> {
    try_open(store)?.map_err(Failure::from)
}

/// Opens the runs of a store that exists, and returns the error of the store itself apart from others.
pub(crate) fn try_open(store: &StoreArgs) -> Result<Result<Runs, StoreError>, Failure> {
    let address = project::existing_store_address(store.store.as_deref())?;
    open_address(store, &address, SpecCatalog::default(), Opening::Existing)
}

/// Opens the runs of a store that exists, also where records are missing: to say what is left.
pub(crate) fn try_open_as_is(store: &StoreArgs) -> Result<Result<Runs, StoreError>, Failure> {
    let address = project::existing_store_address(store.store.as_deref())?;
    open_address(store, &address, SpecCatalog::default(), Opening::AsIs)
}

/// A way to open a store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// A store that is there.
    Existing,
    /// A store that is made if it isn't there.
    New,
    /// A store that is there, and may lack records.
    AsIs,
}

/// Opens the store of a run, and loads the run with everything taken that is due.
pub(crate) fn open_run(args: &RunArgs) -> Result<(Runs, Loaded), Failure> {
    let runs = open(&args.store)?;
    let loaded = load(&runs, &args.id)?;
    Ok((runs, loaded))
}

/// Opens the runs of a store, which is made if it doesn't exist.
pub(crate) fn open_or_create(store: &StoreArgs) -> Result<Runs, Failure> {
    open_over(store, SpecCatalog::default())
}

/// Opens the runs of a store, if it exists. One that somebody names has to.
pub(crate) fn open_if_exists(store: &StoreArgs) -> Result<Option<Runs>, Failure> {
    if project::lacks_store(store.store.as_deref())? {
        return Ok(None);
    }
    open(store).map(Some)
}

/// Opens the runs of a store with the workflows of some specs and of the user, one of which is wanted.
pub(crate) fn open_with(
    store: &StoreArgs,
    specs: &SpecsArgs,
    workflow: &str,
) -> Result<Runs, Failure> {
    let catalog = SpecCatalog::read(&specs.specs)?.with_global()?;
    catalog.find_or_fail(workflow)?;
    open_over(store, catalog)
}

/// Opens the runs of a store for reports, and returns the specs with errors as well.
///
/// The spec of the workflow may be gone, or a document without a machine. If the current folder has none of it, and no
/// other place was named, it is looked for in the whole project.
pub(crate) fn open_for_reports(
    store: &StoreArgs,
    specs: &SpecsArgs,
    workflow: &str,
) -> Result<(Runs, Vec<String>), Failure> {
    let mut catalog = read_for_reports(&specs.specs, workflow)?;
    if catalog.find(workflow).is_none()
        && !catalog.lacks_machine(workflow)
        && specs.specs == [Path::new(".")]
    {
        let here = project::project_folder()?;
        let root = project::root(&here);
        if root != here {
            catalog = read_for_reports(&[root.to_owned()], workflow)?;
        }
    }
    let broken = catalog.broken();
    Ok((open_over(store, catalog)?, broken))
}

fn read_for_reports(specs: &[PathBuf], workflow: &str) -> Result<SpecCatalog, Failure> {
    let mut catalog = SpecCatalog::read(specs)?;
    if catalog.find(workflow).is_none() {
        catalog.find_plain(workflow)?;
    }
    Ok(catalog)
}

/// Opens a store that exists in a file, also where records are missing.
///
/// `done` says what is done with the file, such as `copied`.
pub(crate) fn open_file(store: &StoreArgs, done: &str) -> Result<SqliteStore, Failure> {
    let address = project::existing_store_address(store.store.as_deref())?;
    let path = file_of(&address).ok_or_else(|| {
        Failure::new(format!("only a store in a file can be {done}")).with_help(
            "a server has backups of its own; `statemark store export` writes the runs of any store",
        )
    })?;
    Ok(SqliteStore::open_as_is(path, clock::clock()?)?)
}

/// Opens the store at an address, which may have to exist.
pub(crate) fn open_store(address: &str, must_exist: bool) -> Result<Arc<dyn Store>, Failure> {
    if must_exist {
        project::check_store_exists(address)?;
    }
    let clock = Arc::new(clock::clock()?);
    let store = statemark_stores::open(address, Arc::clone(&clock) as Arc<_>)?;
    clock.check_for(&over_clock(&store, &clock)?, false)?;
    Ok(store)
}

/// A run, and the workflow that it is compared with or migrated to.
pub(crate) struct Comparison {
    pub(crate) runs: Runs,
    pub(crate) run: RunId,
    pub(crate) workflow: Arc<Workflow>,
}

/// Opens a run together with the workflow that a word means: a spec, a table, or the id of a workflow.
pub(crate) fn open_comparison(
    store: &StoreArgs,
    specs: &SpecsArgs,
    word: &str,
    run: &str,
) -> Result<Comparison, Failure> {
    let current = |runs: &Runs| {
        let loaded = load(runs, run)?;
        Ok((loaded.run, loaded.state.workflow.clone()))
    };
    let (runs, workflow, run) = open_to_compare(store, specs, word, current)?;
    Ok(Comparison {
        runs,
        run,
        workflow,
    })
}

/// Opens a store and the workflow that a word means; `current` is the id of the runs that go on there.
pub(crate) fn open_for_migration(
    store: &StoreArgs,
    specs: &SpecsArgs,
    word: &str,
    current: &str,
) -> Result<(Runs, Arc<Workflow>), Failure> {
    let current = |_: &Runs| Ok(((), current.to_owned()));
    let (runs, workflow, ()) = open_to_compare(store, specs, word, current)?;
    Ok((runs, workflow))
}

/// Opens a store together with the workflow that a word means.
///
/// `current` says which id counts where a spec has several, with what it found on the way.
fn open_to_compare<T>(
    store: &StoreArgs,
    specs: &SpecsArgs,
    word: &str,
    current: impl FnOnce(&Runs) -> Result<(T, String), Failure>,
) -> Result<(Runs, Arc<Workflow>, T), Failure> {
    let clock = Arc::new(clock::clock()?);
    let named = store.store.as_deref();
    let address = project::existing_store_address(named)?;
    let store = statemark_stores::open(&address, Arc::clone(&clock) as Arc<dyn Clock>)?;
    let runs = over_clock(&store, &clock)?;
    clock.check_for(&runs, false)?;
    own_stores::check(&runs, &address, named)?;
    let (found, current) = current(&runs)?;
    let (catalog, workflow) = SpecCatalog::resolve(word, &specs.specs, &current)?;
    let runs = Runs::new(store, Arc::new(catalog), clock).with_project_root(project_root()?);
    Ok((runs, workflow, found))
}

/// Opens the runs of a store that is open already; workflows come from journals alone.
pub(crate) fn over(store: &Arc<dyn Store>) -> Result<Runs, Failure> {
    let clock = Arc::new(clock::clock()?);
    let runs = over_clock(store, &clock)?;
    clock.check_for(&runs, false)?;
    Ok(runs)
}

fn over_clock(store: &Arc<dyn Store>, clock: &Arc<CommandClock>) -> Result<Runs, Failure> {
    let nothing = Arc::new(SpecCatalog::default());
    let runs = Runs::new(Arc::clone(store), nothing, Arc::clone(clock) as Arc<_>);
    Ok(runs.with_project_root(project_root()?))
}

/// Returns the root of the project that runs are started for.
fn project_root() -> Result<PathBuf, Failure> {
    let here = project::project_folder()?;
    Ok(project::root(&here).to_path_buf())
}

fn open_over(store: &StoreArgs, catalog: SpecCatalog) -> Result<Runs, Failure> {
    let address = project::make_store_address(store.store.as_deref())?;
    Ok(open_address(store, &address, catalog, Opening::New)??)
}

/// Opens the runs of the store at an address, which may be a new one.
///
/// One that is opened as it is is only looked at, whoever made it.
fn open_address(
    named: &StoreArgs,
    address: &str,
    catalog: SpecCatalog,
    opening: Opening,
) -> Result<Result<Runs, StoreError>, Failure> {
    let clock = Arc::new(clock::clock()?);
    let open = match opening {
        Opening::AsIs => statemark_stores::open_as_is,
        Opening::Existing | Opening::New => statemark_stores::open,
    };
    let store = match open(address, Arc::clone(&clock) as Arc<_>) {
        Ok(store) => store,
        Err(error) => return Ok(Err(error)),
    };
    let runs = Runs::new(store, Arc::new(catalog), Arc::clone(&clock) as Arc<_>);
    let runs = runs.with_project_root(project_root()?);
    clock.check_for(&runs, opening == Opening::New)?;
    if opening != Opening::AsIs {
        own_stores::check(&runs, address, named.store.as_deref())?;
    }
    Ok(Ok(runs))
}

/// The store of a server, with its name for people and the clock that it goes by.
pub(crate) struct Served {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) name: String,
}

/// Opens the store of a server, which is made if it doesn't exist, with its clock.
pub(crate) fn open_for_server(store: Option<&str>) -> Result<Served, Failure> {
    let clock = Arc::new(clock::clock()?);
    let address = project::make_store_address(store)?;
    let opened = statemark_stores::open(&address, Arc::clone(&clock) as Arc<_>)?;
    let runs = over_clock(&opened, &clock)?;
    clock.check_for(&runs, true)?;
    own_stores::check(&runs, &address, store)?;
    let store = opened;
    let name = project::public_name(&address);
    Ok(Served { store, clock, name })
}

/// Finds the run that a word means: by its id, or the beginning of it.
pub(crate) fn find(store: &dyn Store, word: &str) -> Result<RunId, Failure> {
    try_find(store, word)?
}

/// Finds the run that a word means, and returns the error of the store itself apart from others.
pub(crate) fn try_find(
    store: &dyn Store,
    word: &str,
) -> Result<Result<RunId, Failure>, StoreError> {
    let exact: RunId = match word.parse() {
        Ok(run) => run,
        Err(error) => {
            return Ok(Err(Failure::new(format!(
                "`{word}` is no run's id: {error}"
            ))));
        }
    };
    match store.head(&exact) {
        Ok(_) => return Ok(Ok(exact)),
        Err(StoreError::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    let query = Query {
        prefix: Some(word.to_owned()),
        limit: MAX_MATCHES,
        ..Query::default()
    };
    let heads = store.list(&query)?.heads;
    let ids: Vec<&str> = heads.iter().map(|head| head.run.as_str()).collect();
    Ok(match heads.as_slice() {
        [Head { run, .. }] => Ok(run.clone()),
        [] => {
            let latest = Query {
                limit: MAX_PAGE,
                ..Query::default()
            };
            let latest = store.list(&latest)?.heads;
            let meant = nearest(word, latest.iter().map(|head| head.run.as_str()));
            let failure = Failure::new(format!("there is no run `{word}`")).with_code(UNKNOWN_RUN);
            Err(match meant {
                Some(run) => failure.with_help(format!(
                    "did you mean `{run}`? `statemark runs` lists the runs"
                )),
                None => failure
                    .with_help("`statemark runs` lists the runs; `--store` names another store"),
            })
        }
        _ => Err(Failure::new(format!("several runs begin with `{word}`"))
            .with_code("ambiguous_run")
            .with_help(format!("write more of the id: {}", ids.join(", ")))),
    })
}

/// Loads the run that a word means, with everything taken that is due.
pub(crate) fn load(runs: &Runs, word: &str) -> Result<Loaded, Failure> {
    let run = find(runs.store(), word)?;
    Ok(runs.catch_up(&run)?)
}

/// Takes what is due in a run, if the run exists.
pub(crate) fn take_due(runs: &Runs, run: &RunId) -> Result<(), Failure> {
    match runs.catch_up(run) {
        Ok(_) | Err(RunError::Store(StoreError::NotFound { .. })) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Carries out an operation on the run that a word means, with everything taken that is due.
pub(crate) fn execute<O: Operation<Order = Order>>(
    runs: &Runs,
    word: &str,
    key: Option<&Key>,
    operation: &O,
) -> Result<O::Response, Failure> {
    let order = order(runs, load(runs, word)?.run, key)?;
    Ok(runs.execute(&order, operation)?)
}

/// Carries out an operation that only a person may ask for, or that counts for more from a person.
///
/// `deed` says what is done to a run, for a person to confirm: `cancel`.
pub(crate) fn execute_as_person<O: Operation<Order = Order>>(
    runs: &Runs,
    word: &str,
    deed: &str,
    (key, operation): (Option<&Key>, &O),
) -> Result<O::Response, Failure> {
    let run = load(runs, word)?.run;
    let deed = format!("{deed} run `{run}`");
    let order = person_order(runs, run, key, &deed)?;
    Ok(runs.execute(&order, operation)?)
}

/// Carries out an operation on the store that only a person may ask for.
///
/// `deed` says what is done, for a person to confirm.
pub(crate) fn execute_on_store<O: Operation<Order = Actor>>(
    runs: &Runs,
    deed: &str,
    operation: &O,
) -> Result<O::Response, Failure> {
    let caller = caller::identify_person(runs, deed)?;
    Ok(runs.execute(&caller.actor, operation)?)
}

/// Makes an order of the caller.
pub(crate) fn order(runs: &Runs, run: RunId, key: Option<&Key>) -> Result<Order, Failure> {
    make_order(&caller::identify(runs)?, run, key)
}

/// Makes an order that only a person may give, or that counts for more from a person.
///
/// `deed` says what is done, for a person to confirm.
pub(crate) fn person_order(
    runs: &Runs,
    run: RunId,
    key: Option<&Key>,
    deed: &str,
) -> Result<Order, Failure> {
    make_order(&caller::identify_person(runs, deed)?, run, key)
}

/// Returns the caller of several orders that need a person, or count for more from one.
pub(crate) fn person(runs: &Runs, deed: &str) -> Result<Identity, Failure> {
    caller::identify_person(runs, deed)
}

/// Makes one of several orders of a caller.
pub(crate) fn order_of(caller: &Identity, run: RunId) -> Result<Order, Failure> {
    make_order(caller, run, None)
}

fn make_order(caller: &Identity, run: RunId, key: Option<&Key>) -> Result<Order, Failure> {
    caller.check_run(&run)?;
    let attempt = environment::attempt().filter(|attempt| attempt.run == run);
    Ok(Order {
        fence: attempt.as_ref().map(|it| it.fence),
        attempt: attempt.as_ref().map(|it| it.number),
        key: key.cloned(),
        only_accepted: caller.credential == Credential::ManyRuns,
        ..Order::new(run, caller.actor.clone())
    })
}

/// Begins a run under an id, or under one that is made up.
pub(crate) fn begin(
    runs: &Runs,
    id: Option<&RunId>,
    workflow: &str,
    key: Option<&Key>,
    mut begin: impl FnMut(&Order) -> Result<Written, RunError>,
) -> Result<Written, Failure> {
    let mut tries = 0;
    loop {
        let make_id = || match key {
            // With one key, it is one run.
            Some(key) => RunId::for_workflow_and_key(workflow, key.as_str()),
            None => RunId::for_workflow(workflow),
        };
        let order = order(runs, id.cloned().unwrap_or_else(make_id), key)?;
        match begin(&order) {
            Err(RunError::Store(StoreError::Conflict { .. })) if id.is_some() || key.is_some() => {
                return Err(run_exists(&order.run));
            }
            Err(RunError::Store(StoreError::Conflict { .. })) if tries < MAX_TRIES => tries += 1,
            written => return Ok(written?),
        }
    }
}

fn run_exists(run: &RunId) -> Failure {
    let word = statemark_runs::shell_word(run.as_str());
    let failure = Failure::new(format!("there is a run `{run}` already"));
    failure.with_code("conflict").with_help(format!(
        "`statemark state {word}` shows it; without `--run-id`, the new run gets a name"
    ))
}
