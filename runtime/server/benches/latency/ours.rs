//! Our server over a file with some runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use statemark_compiler::source::Sources;
use statemark_compiler::{Options as Compile, back, compile};
use statemark_runs::{Actor, Order, Role, Runs, SendEvent, StartRun, SystemClock, Workflow};
use statemark_server::{HttpOptions, Server, runtime, serve_http, serve_stdio};
use statemark_stores::SqliteStore;
use statemark_tools::{Caller, Dispatcher, Options};

const SPEC: &str = "# Door\n\n## STATE-MACHINE: door\n\n```mermaid\nstateDiagram-v2\n    [*] --> shut\n    \
                    shut --> open : push [force >= 1]\n    open --> shut : pull\n    open --> gone : blow\n    gone --> [*]\n```\n\n\
                    ```json definition\n{\"context\": {\"force\": 0}}\n```\n\n### `shut`\n\nPush it with some `force`.\n";

/// Number of events in a run.
const EVENTS: usize = 40;

fn workflows() -> BTreeMap<String, Arc<Workflow>> {
    let mut sources = Sources::new();
    sources.add("door.md", SPEC);
    let compiled = compile(&sources, &Compile::default());
    let tables = compiled.machines.iter().map(back::table::write);
    let workflows = tables.map(|bytes| Arc::new(Workflow::from_bytes(bytes).unwrap()));
    workflows.map(|it| (it.id().to_owned(), it)).collect()
}

fn store(folder: &Path) -> Arc<SqliteStore> {
    let store = SqliteStore::open(&folder.join("runs.db"), SystemClock);
    Arc::new(store.unwrap())
}

/// Writes a run with a history.
pub(crate) fn fill(folder: &Path, run: &str) {
    let runs = Runs::new(store(folder), Arc::new(workflows()), Arc::new(SystemClock));
    let order = Order::new(run.parse().unwrap(), Actor::new(Role::Agent));
    let start = StartRun {
        workflow: "door".to_owned(),
        input: json!({}),
        ..StartRun::default()
    };
    runs.execute(&order, &start).unwrap();
    for event in (0..EVENTS).map(|it| ["push", "pull"][it % 2]) {
        let send = SendEvent {
            event: event.to_owned(),
            data: Some(json!({"force": 1})),
            ..SendEvent::default()
        };
        runs.execute(&order, &send).unwrap();
    }
}

fn dispatcher(folder: &Path) -> Arc<Dispatcher> {
    let dispatcher = Dispatcher::new(
        store(folder),
        Arc::new(workflows()),
        Arc::new(SystemClock),
        Options::default(),
        Vec::new(),
    );
    Arc::new(dispatcher.unwrap())
}

pub(crate) fn stdio(folder: &Path) {
    let server = Server::new(dispatcher(folder), Caller::agent());
    runtime()
        .unwrap()
        .block_on(serve_stdio(server, std::future::pending()))
        .unwrap();
}

pub(crate) fn http(folder: &Path) {
    let options = HttpOptions {
        address: ([127, 0, 0, 1], 0).into(),
        hosts: Vec::new(),
        origins: Vec::new(),
        caller: Caller::agent(),
    };
    runtime().unwrap().block_on(async {
        let serving = serve_http(dispatcher(folder), options).await.unwrap();
        println!("{}", serving.address);
        serving.ended().await.unwrap();
    });
}
