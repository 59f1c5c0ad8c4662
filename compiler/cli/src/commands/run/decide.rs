//! `approve`, `deny`, `answer` and `withdraw`: what becomes of a request.

use serde_json::Value;
use statemark_runs::body::{Opened, RequestKind};
use statemark_runs::{Answer, Loaded, Reply, RunId, Runs, Withdraw, runs::run_of_request};

use super::outcome;
use crate::args::{AnswerArgs, ApproveArgs, DenyArgs, OnRequestArgs, WithdrawArgs};
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn approve(
    args: &ApproveArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    reply(&args.on, |_| Ok(Reply::Approve), printer)
}

pub(in crate::commands) fn deny(
    args: &DenyArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let meant = |opened: &Opened| {
        Ok(match opened.kind {
            RequestKind::Review => Reply::SendBack,
            _ => Reply::Deny,
        })
    };
    reply(&args.on, meant, printer)
}

pub(in crate::commands) fn answer(
    args: &AnswerArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let meant = |opened: &Opened| Ok(Reply::Value(value(opened, &args.value)?));
    reply(&args.on, meant, printer)
}

pub(in crate::commands) fn withdraw(
    args: &WithdrawArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let (loaded, request) = find(&all, &args.request)?;
    let order = runs::order(loaded.run, None)?;
    let withdraw = Withdraw {
        request: request.request,
        reason: args.reason.clone(),
    };
    let written = all.execute(&order, &withdraw)?;
    outcome::show(&written, &all, &args.store, printer)
}

fn reply(
    on: &OnRequestArgs,
    meant: impl Fn(&Opened) -> Result<Reply, Failure>,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&on.store)?;
    let (loaded, request) = find(&all, &on.request)?;
    let order = runs::order_of_person(loaded.run, on.key.as_deref())?;
    let answer = Answer {
        comment: on.comment.clone(),
        ..Answer::new(request.request.clone(), meant(&request)?)
    };
    let written = all.execute(&order, &answer)?;
    outcome::show(&written, &all, &on.store, printer)
}

/// The request that a text means: by its id, settled ones included, or the only open one of a run.
fn find(all: &Runs, text: &str) -> Result<(Loaded, Opened), Failure> {
    let by_id: Option<RunId> = run_of_request(text);
    if let Some(run) = by_id.filter(|run| all.store().head(run).is_ok()) {
        let loaded = all.caught_up(&run)?;
        return match loaded.state.requests.get(text) {
            Some(request) => {
                let opened = request.opened.clone();
                Ok((loaded, opened))
            }
            None => Err(unknown(text, &loaded)),
        };
    }
    let loaded = runs::load(all, text).map_err(|failure| {
        let request = text.to_owned();
        let open = Vec::new();
        // What looks like a request's id isn't a run that can't be found.
        match by_id_shape(text) {
            true => FailureKind::UnknownRequest { request, open }.into(),
            false => failure,
        }
    })?;
    match loaded.state.open_requests().as_slice() {
        [only] => {
            let opened = only.opened.clone();
            Ok((loaded, opened))
        }
        _ => Err(unknown(text, &loaded)),
    }
}

fn by_id_shape(text: &str) -> bool {
    run_of_request(text).is_some()
}

fn unknown(text: &str, loaded: &Loaded) -> Failure {
    let open = loaded.state.open_requests();
    FailureKind::UnknownRequest {
        request: text.to_owned(),
        open: open.iter().map(|it| it.opened.request.clone()).collect(),
    }
    .into()
}

/// What a word on the command line is as an answer.
fn value(opened: &Opened, text: &str) -> Result<Value, Failure> {
    let wrong = |why: String, help: &str| {
        Failure::from(FailureKind::BadAnswer {
            request: opened.request.clone(),
            why,
            help: help.to_owned(),
        })
    };
    match opened.kind {
        RequestKind::Text | RequestKind::Select => Ok(Value::String(text.to_owned())),
        RequestKind::Json => serde_json::from_str(text).map_err(|error| {
            wrong(
                format!("JSON is asked for, and that isn't JSON: {error}"),
                "write it in quotes for the shell: '{\"rounds\": 3}'",
            )
        }),
        RequestKind::Confirm => match text.to_ascii_lowercase().as_str() {
            "yes" | "y" | "true" => Ok(Value::Bool(true)),
            "no" | "n" | "false" => Ok(Value::Bool(false)),
            _ => Err(wrong(
                "yes or no is asked for".to_owned(),
                "write `yes` or `no`",
            )),
        },
        RequestKind::Approval => Err(wrong(
            "it asks for an approval".to_owned(),
            "`statemark approve` and `statemark deny` decide it",
        )),
        RequestKind::Review => Err(wrong(
            "it is a review".to_owned(),
            "`statemark approve` accepts, `statemark deny --comment …` sends back",
        )),
    }
}
