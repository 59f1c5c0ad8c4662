//! `runs`: which runs there are.

use statemark_runs::{Head, Query, Status};

use super::shown;
use crate::args::{RunsArgs, TextFormat};
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &RunsArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    check(&args.status)?;
    let Some(all) = runs::open_if_there(&args.store)? else {
        printer.talk("no runs; `statemark start WORKFLOW` starts one\n");
        return Ok(ExitStatus::Clean);
    };
    all.take_due()?;
    let query = Query {
        statuses: args.status.clone(),
        workflow: args.workflow.clone(),
        limit: args.limit.max(1),
        ..Query::default()
    };
    let page = all.store().list(&query).map_err(FailureKind::Store)?;
    if args.store.format() == TextFormat::Json {
        for head in &page.heads {
            printer.result(&shown::json(head));
        }
        return Ok(ExitStatus::Clean);
    }
    let width = |of: fn(&Head) -> usize| page.heads.iter().map(of).max().unwrap_or(0);
    let widths = (
        width(|head| head.run.as_str().chars().count()),
        width(|head| head.summary.status.len()),
    );
    for head in &page.heads {
        printer.result(&line(head, widths, all.now(), printer));
    }
    if page.heads.is_empty() {
        let filtered = !args.status.is_empty() || args.workflow.is_some();
        printer.talk(if filtered {
            "no such runs\n"
        } else {
            "no runs; `statemark start WORKFLOW` starts one\n"
        });
    } else if page.next.is_some() {
        printer.talk(&format!(
            "and more: `--limit {}`\n",
            args.limit.max(1).saturating_mul(2)
        ));
    }
    Ok(ExitStatus::Clean)
}

/// Every status is one that runs can have.
pub(super) fn check(statuses: &[String]) -> Result<(), Failure> {
    let known = Status::ALL.map(Status::name);
    match statuses.iter().find(|it| !known.contains(&it.as_str())) {
        None => Ok(()),
        Some(word) => Err(FailureKind::BadWord {
            name: "a status",
            word: word.clone(),
            words: known.join(", "),
        }
        .into()),
    }
}

fn line(head: &Head, (id, status): (usize, usize), now: u64, printer: &Printer) -> String {
    let palette = printer.palette();
    let summary = &head.summary;
    let found = Status::ALL
        .into_iter()
        .find(|it| it.name() == summary.status);
    let padding = " ".repeat(status.saturating_sub(summary.status.len()));
    let shown = found.map_or(summary.status.clone(), |it| shown::status(it, palette));
    let ago = runs::length(now.saturating_sub(head.updated));
    let requests = match summary.requests.as_slice() {
        [] => String::new(),
        requests => format!("  asks {}", requests.join(", ")),
    };
    format!(
        "{:id$}  {shown}{padding}  {}{requests}  {}\n",
        head.run.as_str(),
        summary.leaves.join(", "),
        palette.dim(&format!("{ago} ago"))
    )
}
