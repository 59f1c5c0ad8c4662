//! `token`: the tokens by which callers are known.

use clap::Subcommand;
use serde::Serialize;
use statemark_runs::{Role, RunId, Token};

use crate::clock::{format_time, now};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::Printer;
use crate::{args, caller, files};

/// Create, list and revoke the tokens by which callers are known.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark token create ann --role person --save    for `approve`, `answer`, `force` …\n  \
                        statemark token create ci --role agent             set STATEMARK_TOKEN to what it prints\n  \
                        statemark token list\n  \
                        statemark token revoke ci\n\n\
                        Without a token, a command is an agent's. Decisions of people need a person's token: from\n\
                        STATEMARK_TOKEN, or the one that `--save` has kept in your own configuration. Keep both from your\n\
                        agents.")]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

/// A subcommand of `token`.
#[derive(Debug, Subcommand)]
enum TokenCommand {
    Create(CreateArgs),
    /// List the valid tokens
    #[command(after_help = "Example:\n  statemark token list --json")]
    List {
        /// Print one JSON object a line instead of text
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token
    #[command(after_help = "Example:\n  statemark token revoke ci")]
    Revoke {
        /// The name of its holder
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Create a token; it is printed once
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  statemark token create ann --role person --save")]
struct CreateArgs {
    /// The name of its holder, as journals show it
    #[arg(value_name = "NAME")]
    name: String,
    /// The holder's role: person decides, agent drives runs, observer reads
    #[arg(long, value_name = "ROLE", value_parser = args::name::<Role>)]
    role: Role,
    /// The only run that it is valid for
    #[arg(long, value_name = "RUN")]
    run: Option<RunId>,
    /// Save it in your own configuration instead of printing it
    #[arg(long)]
    save: bool,
}

/// A token, as `--json` prints it: without its hash.
#[derive(Serialize)]
struct TokenLine<'a> {
    name: &'a str,
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a RunId>,
    created: u64,
}

/// Runs a subcommand.
pub(super) fn run(args: &TokenArgs, printer: &mut Printer) -> CommandResult {
    match &args.command {
        TokenCommand::Create(args) => create(args, printer),
        TokenCommand::List { json } => list(*json, printer),
        TokenCommand::Revoke { name } => revoke(name, printer),
    }
}

fn create(args: &CreateArgs, printer: &mut Printer) -> CommandResult {
    let now = now()?;
    if args.save {
        caller::check_unsaved()?;
    }
    let CreateArgs {
        name, role, run, ..
    } = args;
    let text = caller::change_tokens(|tokens| {
        let created = tokens.create(name, *role, run.clone(), now);
        created.map_err(|error| Failure::new(error.to_string()))
    })?;
    if args.save {
        let path = caller::save_token(&text)?;
        let path = files::display(&path);
        printer.remark(&format!("`{name}` decides with the token in {path}\n"));
        return Ok(ExitStatus::Clean);
    }
    printer.result(&format!("{text}\n"));
    let role = role.name();
    printer.remark(&format!(
        "printed once; with STATEMARK_TOKEN set to it, commands are those of `{name}` ({role})\n"
    ));
    Ok(ExitStatus::Clean)
}

fn list(json: bool, printer: &mut Printer) -> CommandResult {
    let tokens = caller::read_tokens()?;
    let width = |token: &Token| token.name.chars().count();
    let width = tokens.iter().map(width).max().unwrap_or(0);
    for token in tokens.iter() {
        let Token {
            name, role, run, ..
        } = token;
        if json {
            printer.json(&TokenLine {
                name,
                role: *role,
                run: run.as_ref(),
                created: token.created,
            });
            continue;
        }
        let run = run.as_ref();
        let only = run.map_or_else(String::new, |run| format!("  only {run}"));
        let created = printer.palette().dim(&format_time(token.created));
        let role = role.name();
        printer.result(&format!("{name:width$}  {role:8}  {created}{only}\n"));
    }
    if tokens.iter().next().is_none() {
        printer.remark("no tokens; `statemark token create NAME --role person` creates one\n");
    }
    Ok(ExitStatus::Clean)
}

fn revoke(name: &str, printer: &mut Printer) -> CommandResult {
    let is_last = caller::change_tokens(|tokens| {
        let known: Vec<String> = tokens.iter().map(|token| token.name.clone()).collect();
        if tokens.revoke(name) {
            return Ok(tokens.iter().next().is_none());
        }
        let message = format!("there is no token of `{name}`");
        Err(Failure::unknown_name(message, name, &known))
    })?;
    printer.remark(&format!("revoked the token of `{name}`\n"));
    if is_last {
        printer.remark(
            "it was the last one: servers over HTTP refuse everybody until there is another\n",
        );
    }
    Ok(ExitStatus::Clean)
}
