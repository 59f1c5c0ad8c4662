//! `inbox`: what is asked and not answered yet.

use std::fmt::Write as _;

use serde::Serialize;
use statemark_runs::body::{Opened, RequestKind};
use statemark_runs::{Head, Query, RunId, Runs, Status, shell_word};

use super::shown;
use crate::args::{InboxArgs, TextFormat};
use crate::failure::{Failure, FailureKind};
use crate::lines::{WIDTH, cut};
use crate::palette::Palette;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

/// How many runs are read at once.
const PAGE: usize = 100;

/// What `--json` prints.
#[derive(Serialize)]
struct Asked {
    run: RunId,
    workflow: String,
    /// Who asks.
    by: String,
    /// When it was asked. Unit: milliseconds since 1970.
    asked: u64,
    #[serde(flatten)]
    request: Opened,
}

pub(in crate::commands) fn run(
    args: &InboxArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let Some(all) = runs::open_if_there(&args.store)? else {
        printer.talk("nothing is asked\n");
        return Ok(ExitStatus::Clean);
    };
    let mut before = None;
    loop {
        all.take_due()?;
        let open = open(&all, args.workflow.as_deref())?;
        let text = match args.store.format() {
            TextFormat::Json => open.iter().map(shown::json).collect(),
            TextFormat::Text => listed(&open, all.now(), printer.palette()),
        };
        let ids: Vec<String> = open.into_iter().map(|it| it.request.request).collect();
        if before.as_ref() != Some(&ids) {
            printer.result(&text);
            if ids.is_empty() {
                printer.talk("nothing is asked\n");
            }
            before = Some(ids);
        }
        if !args.watch {
            return Ok(ExitStatus::Clean);
        }
        printer.flush();
        std::thread::sleep(runs::PAUSE);
    }
}

/// All open requests, of the run first that has changed last.
fn open(all: &Runs, workflow: Option<&str>) -> Result<Vec<Asked>, Failure> {
    let statuses = [Status::Waiting, Status::Running, Status::Paused];
    let mut query = Query {
        statuses: statuses.map(|it| it.name().to_owned()).to_vec(),
        workflow: workflow.map(str::to_owned),
        limit: PAGE,
        ..Query::default()
    };
    let mut found = Vec::new();
    loop {
        let page = all.store().list(&query).map_err(FailureKind::Store)?;
        let asks = |head: &Head| !head.summary.requests.is_empty();
        for head in page.heads.into_iter().filter(asks) {
            // One that nobody has answered in time is over.
            let loaded = all.caught_up(&head.run)?;
            for request in loaded.state.open_requests() {
                found.push(Asked {
                    run: loaded.run.clone(),
                    workflow: loaded.state.workflow.clone(),
                    by: request.asker.to_string(),
                    asked: request.time,
                    request: request.opened.clone(),
                });
            }
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(found),
        }
    }
}

fn listed(open: &[Asked], now: u64, palette: Palette) -> String {
    let mut text = String::new();
    for asked in open {
        let request = &asked.request;
        let id = palette.event(&request.request);
        let ago = runs::length(now.saturating_sub(asked.asked));
        let about = palette.dim(&format!("{}, by {}, {ago} ago", asked.workflow, asked.by));
        let _ = writeln!(text, "{id}  {about}");
        let _ = writeln!(text, "  {}", cut(&request.prompt, WIDTH - 2));
        if !request.details.is_null() {
            let details = request.details.to_string();
            let _ = writeln!(text, "  {}", cut(&details, WIDTH - 2));
        }
        if !request.approvers.is_empty() {
            let _ = writeln!(text, "  for {}", request.approvers.join(", "));
        }
        if let Some(expires) = request.expires {
            let _ = writeln!(text, "  {}", shown::left(expires, now));
        }
        for line in ways(request) {
            let _ = writeln!(text, "  {}", palette.dim(&line));
        }
    }
    text
}

/// What can be said to it, as one would type it.
fn ways(request: &Opened) -> Vec<String> {
    let id = shell_word(&request.request);
    match request.kind {
        RequestKind::Approval | RequestKind::Confirm => {
            vec![
                format!("statemark approve {id}"),
                format!("statemark deny {id}"),
            ]
        }
        RequestKind::Review => vec![
            format!("statemark approve {id}"),
            format!("statemark deny {id} --comment '…'"),
        ],
        RequestKind::Select => {
            let choices = request.choices.iter();
            let ways = choices.map(|it| format!("statemark answer {id} {}", shell_word(it)));
            ways.collect()
        }
        RequestKind::Text => vec![format!("statemark answer {id} '…'")],
        RequestKind::Json => vec![format!("statemark answer {id} '{{…}}'")],
    }
}
