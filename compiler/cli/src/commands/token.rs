//! `token`: by what callers show who they are.

use serde::Serialize;
use statemark_runs::{Role, RunId, Token};

use crate::args::{RoleArg, TokenArgs, TokenCommand};
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

/// What `--json` prints: not even the hash.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a RunId>,
    created: u64,
}

pub(super) fn run(args: &TokenArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    match &args.command {
        TokenCommand::Create {
            name,
            role,
            run,
            save,
        } => create(name, *role, run.as_deref(), *save, printer),
        TokenCommand::List { json } => list(*json, printer),
        TokenCommand::Revoke { name } => revoke(name, printer),
    }
}

fn create(
    name: &str,
    role: RoleArg,
    run: Option<&str>,
    save: bool,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let role = match role {
        RoleArg::Observer => Role::Observer,
        RoleArg::Agent => Role::Agent,
        RoleArg::Person => Role::Person,
    };
    let run: Option<RunId> = run.map(|it| runs::named("--run", it.parse())).transpose()?;
    let now = runs::now()?;
    if save {
        runs::check_unsaved()?;
    }
    let text = runs::change_tokens(|tokens| {
        let made = tokens.create(name, role, run, now);
        made.map_err(|error| FailureKind::Token(error).into())
    })?;
    if save {
        let path = runs::save_token(&text)?;
        let path = files::shown(&path);
        printer.talk(&format!("`{name}` decides with the token in {path}\n"));
        return Ok(ExitStatus::Clean);
    }
    printer.result(&format!("{text}\n"));
    printer.talk(&format!(
        "shown once; whoever sets STATEMARK_TOKEN to it acts as `{name}` ({})\n",
        role.name()
    ));
    Ok(ExitStatus::Clean)
}

fn list(json: bool, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let tokens = runs::tokens()?;
    let width = |token: &Token| token.name.chars().count();
    let width = tokens.iter().map(width).max().unwrap_or(0);
    for token in tokens.iter() {
        let Token {
            name, role, run, ..
        } = token;
        if json {
            let listed = Listed {
                name,
                role: *role,
                run: run.as_ref(),
                created: token.created,
            };
            let line = serde_json::to_string(&listed).unwrap_or_default();
            printer.result(&format!("{line}\n"));
            continue;
        }
        let run = run.as_ref();
        let only = run.map_or_else(String::new, |run| format!("  only {run}"));
        let made = printer.palette().dim(&runs::time(token.created));
        printer.result(&format!("{name:width$}  {:8}  {made}{only}\n", role.name()));
    }
    if tokens.iter().next().is_none() {
        printer.talk("no tokens; `statemark token create NAME --role person` makes one\n");
    }
    Ok(ExitStatus::Clean)
}

fn revoke(name: &str, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let is_last = runs::change_tokens(|tokens| {
        let known = tokens.iter().map(|it| it.name.clone()).collect();
        if tokens.revoke(name) {
            return Ok(tokens.iter().next().is_none());
        }
        let name = name.to_owned();
        Err(FailureKind::NoToken { name, known }.into())
    })?;
    printer.talk(&format!("the token of `{name}` is worthless now\n"));
    if is_last {
        printer
            .talk("it was the last one: servers over HTTP let nobody in until there is another\n");
    }
    Ok(ExitStatus::Clean)
}
