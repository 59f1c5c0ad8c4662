//! `ask`: a person is asked something about a run.

use statemark_runs::Ask;
use statemark_runs::body::RequestKind;

use super::outcome;
use crate::args::{AskArgs, KindArg};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &AskArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let kind = match args.kind {
        KindArg::Text => RequestKind::Text,
        KindArg::Confirm => RequestKind::Confirm,
        KindArg::Select => RequestKind::Select,
        KindArg::Json => RequestKind::Json,
        KindArg::Review => RequestKind::Review,
        KindArg::Approval => RequestKind::Approval,
    };
    let ask = Ask {
        choices: args.choices.clone(),
        schema: runs::json("--schema", args.schema.as_deref())?,
        details: runs::json("--details", args.details.as_deref())?.unwrap_or_default(),
        state: args.state.clone(),
        approvers: args.approvers.clone(),
        blocking: args.blocking,
        expires_in: args
            .expires
            .as_deref()
            .map(runs::milliseconds)
            .transpose()?,
        ..Ask::new(kind, args.question.clone())
    };
    let all = runs::open(&args.store)?;
    let run = runs::current(&all, &args.run)?;
    let order = runs::order(run, args.key.as_deref())?;
    let written = all.execute(&order, &ask)?;
    outcome::show(&written, &all, &args.store, printer)
}
