//! `serve`: agents drive runs.

mod session;

use std::sync::Arc;

use statemark_server::{Asks, Dispatcher, HttpOptions, Options, Server, serve_http, serve_stdio};

use crate::args::ServeArgs;
use crate::ending::asked_to_end;
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(super) fn run(args: &ServeArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let sets = args.toolsets.iter().chain(&args.profile).copied();
    let allowed = args.allowed_tools.clone();
    let (store, clock, catalog) = runs::served(args.store.as_deref(), &args.specs)?;
    let run = args.run.as_deref();
    let run = run.map(|it| runs::find_in(&*store, it)).transpose()?;
    let options = Options {
        sets: sets.collect(),
        allowed: allowed.map(|all| all.into_iter().filter(|it| !it.is_empty()).collect()),
        read_only: args.read_only,
        run,
        // A server over HTTP is nobody's task.
        asks: if args.http.is_some() {
            Asks::default()
        } else {
            asks()
        },
    };
    let dispatcher =
        Dispatcher::new(store, catalog, clock, options).map_err(FailureKind::Server)?;
    let dispatcher = Arc::new(dispatcher);
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let tokio = tokio.map_err(FailureKind::Serving)?;
    let Some(address) = args.http else {
        let server = Server::new(dispatcher, runs::agent()?);
        let ended = tokio.block_on(async {
            let asked = asked_to_end()?;
            serve_stdio(server, asked).await
        });
        // A thread that still waits for input mustn't hold the end up.
        tokio.shutdown_background();
        ended.map_err(FailureKind::Serving)?;
        return Ok(ExitStatus::Clean);
    };
    let options = HttpOptions {
        address,
        hosts: args.host.clone(),
        origins: args.origin.clone(),
        keys: Arc::new(runs::keys()?),
        caller: runs::anybody()?,
    };
    tokio.block_on(async {
        let asked = asked_to_end().map_err(FailureKind::Serving)?;
        let serving = serve_http(dispatcher, options).await;
        let serving = serving.map_err(FailureKind::Serving)?;
        // It is removed when this ends, however it does.
        let _file = session::write(serving.address)?;
        printer.talk(&format!("listening at http://{}/mcp\n", serving.address));
        let stop = serving.stopper();
        tokio::spawn(async move {
            asked.await;
            stop();
        });
        serving.ended().await.map_err(FailureKind::Serving)?;
        Ok(ExitStatus::Clean)
    })
}

/// What the environment says of the task that this server is started in.
fn asks() -> Asks {
    let named = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
    Asks {
        run: named("SMITHERS_RUN_ID"),
        node: named("SMITHERS_NODE_ID"),
        iteration: named("SMITHERS_ITERATION"),
    }
}
