//! `bind` and `release`: the tie between a client's session and a run.

use statemark_runs::{BindSession, Key, ReleaseSession};

use super::print_outcome;
use crate::args::RunArgs;
use crate::failure::CommandResult;
use crate::printer::Printer;
use crate::runs;

/// Have a run hold a session of an agent's client.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                  statemark bind build-7 claude:3f2a9c1e-5b7d-4e0a-9c61-2d8f4b7a1e55\n\n\
                  A session is bound by itself when it starts or drives a run through our server. The hook of its\n\
                  client (`statemark help hooks`) then holds its own tools to the states of the run.")]
pub(crate) struct BindArgs {
    #[command(flatten)]
    run: RunArgs,
    /// The session: the client, `:`, and the client's id of it
    #[arg(value_name = "SESSION", value_parser = parse_session)]
    session: String,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
}

/// Release a session of an agent's client from a run; a person's to decide.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  statemark release build-7\n  \
                  statemark release build-7 claude:3f2a9c1e-5b7d-4e0a-9c61-2d8f4b7a1e55\n\n\
                  The run goes on, and the hook of the client holds the session to it no longer.\n\
                  `statemark events RUN --kind session` shows the sessions of a run.")]
pub(crate) struct ReleaseArgs {
    #[command(flatten)]
    run: RunArgs,
    /// The session; all that the run holds if none is named
    #[arg(value_name = "SESSION", value_parser = parse_session)]
    session: Option<String>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
}

/// Checks that a session has the name of a client before its id.
fn parse_session(text: &str) -> Result<String, String> {
    match text.split_once(':') {
        Some((client, id)) if !client.is_empty() && !id.is_empty() => Ok(text.to_owned()),
        _ => Err("write it as `claude:ID`, with the id that the client has for it".to_owned()),
    }
}

/// Binds a session to a run.
pub(in crate::commands) fn bind(args: &BindArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.run.store)?;
    let session = args.session.clone();
    let bind = BindSession { session };
    let written = runs::execute(&runs, &args.run.id, args.key.as_ref(), &bind)?;
    print_outcome(&written, &runs, &args.run.store, printer)
}

/// Releases sessions from a run.
pub(in crate::commands) fn release(args: &ReleaseArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.run.store)?;
    let session = args.session.clone();
    let release = ReleaseSession { session };
    let deed = "release the sessions of";
    let written =
        runs::execute_as_person(&runs, &args.run.id, deed, (args.key.as_ref(), &release))?;
    print_outcome(&written, &runs, &args.run.store, printer)
}
