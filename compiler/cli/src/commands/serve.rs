//! `serve`: agents drive runs.

use std::sync::{Arc, RwLock};

use statemark_server::{Desk, HttpOptions, Options, Server, serve_http, serve_stdio};
use statemark_store::RunId;

use crate::args::ServeArgs;
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(super) fn run(args: &ServeArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let run: Option<RunId> = args
        .run
        .as_deref()
        .map(|it| runs::named("--run", it.parse()))
        .transpose()?;
    let sets = args.toolsets.iter().chain(&args.profile).copied();
    let allowed = args.allowed_tools.clone();
    let options = Options {
        sets: sets.collect(),
        allowed: allowed.map(|all| all.into_iter().filter(|it| !it.is_empty()).collect()),
        read_only: args.read_only,
        run,
    };
    let (store, clock, catalog) = runs::served(args.store.as_deref(), &args.specs)?;
    let desk = Desk::new(store, catalog, clock, options).map_err(FailureKind::Server)?;
    let desk = Arc::new(desk);
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let tokio = tokio.map_err(FailureKind::Serving)?;
    let Some(address) = args.http else {
        let server = Server::new(desk, runs::agent()?);
        tokio
            .block_on(serve_stdio(server))
            .map_err(FailureKind::Serving)?;
        return Ok(ExitStatus::Clean);
    };
    let options = HttpOptions {
        address,
        hosts: Vec::new(),
        origins: Vec::new(),
        tokens: Arc::new(RwLock::new(runs::tokens()?)),
    };
    tokio
        .block_on(async {
            let serving = serve_http(desk, options).await?;
            printer.talk(&format!("listening at http://{}/mcp\n", serving.address));
            serving.ended().await
        })
        .map_err(FailureKind::Serving)?;
    Ok(ExitStatus::Clean)
}
