//! `accept`: a person accepts workflows as what agents are held to.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use statemark_runs::authority::{AcceptWorkflows, Acceptance};
use statemark_runs::{Authority, Runs, Workflow, Workflows as _, compare, shell_word};
use statemark_text::visible;
use statemark_tools::Catalog as _;

use crate::args::{SpecsArgs, StoreArgs, TextFormat};
use crate::catalog::SpecCatalog;
use crate::clock::format_time;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::{Palette, Printer, count};
use crate::runs;

/// Accept workflows, after a look at what has changed since they were accepted last.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark accept                 all workflows of the specs in this folder\n  \
                        statemark accept pay refund\n  \
                        statemark accept --dry-run       what isn't accepted? for CI: exit code 1 if something isn't\n  \
                        statemark accept --accept-all    a store for trying things out\n\n\
                        An acceptance is of a workflow's behavior and policy, by a person. Until the first one, every\n\
                        workflow counts as accepted. After it, runs of others are shown as unreviewed, and their workflows\n\
                        declare no checks, upstream servers or environment. With `workflows = \"accepted\"` in\n\
                        `statemark.toml` they can't be started at all. A state that invokes a workflow waits in a run of\n\
                        an accepted one until that is accepted, too.")]
pub(crate) struct AcceptArgs {
    /// The workflows, by their ids; all of the specs if none is named
    #[arg(value_name = "WORKFLOW")]
    workflows: Vec<String>,
    /// Let every workflow count as accepted, until the next acceptance: a store for trying things out
    #[arg(long, conflicts_with_all = ["workflows", "dry_run"])]
    accept_all: bool,
    /// Only show what isn't accepted
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    specs: SpecsArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// A workflow that is to be accepted, as `--json` prints it.
#[derive(Serialize)]
struct Review {
    workflow: String,
    source: String,
    status: Status,
    /// The last acceptance.
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<Acceptance>,
    /// The rows of its table that differ from those that were accepted, by kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<String>,
    /// The keys by which it can have programs run, with what they declare.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    declares: Vec<String>,
    /// The workflows that it invokes of which no version is accepted, or is to be: its runs wait for that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waits_for: Vec<String>,
}

/// The relation of a workflow to what was accepted.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// No version of it was ever accepted.
    New,
    /// Its behavior or its policy has changed since.
    Changed,
    /// Nothing but its texts has changed since.
    Texts,
    /// Nothing has changed since.
    Accepted,
}

/// Accepts workflows.
pub(super) fn run(args: &AcceptArgs, printer: &mut Printer) -> CommandResult {
    if args.accept_all {
        return accept_all(args, printer);
    }
    let (workflows, sources) = find_workflows(args, printer)?;
    let runs = if args.dry_run {
        runs::open_if_exists(&args.store)?
    } else {
        Some(runs::open_or_create(&args.store)?)
    };
    let authority = runs.as_ref().map(Runs::authority).transpose()?;
    let authority = authority.unwrap_or_default();
    let mut reviews = Vec::new();
    for (workflow, source) in workflows.iter().zip(sources) {
        let mut review = review(runs.as_ref(), &authority, workflow, source)?;
        let mut invoked = invoked_by(workflow);
        invoked.retain(|id| authority.acceptance(id).is_none());
        invoked.retain(|id| workflows.iter().all(|it| it.id() != id));
        review.waits_for = invoked.into_iter().collect();
        reviews.push(review);
    }
    for review in &reviews {
        match args.store.format() {
            TextFormat::Json => printer.json(review),
            TextFormat::Text => printer.result(&review.describe(printer.palette())),
        }
    }
    let is_open = |it: &&Review| matches!(it.status, Status::New | Status::Changed);
    let open = reviews.iter().filter(is_open).count();
    let Some(runs) = runs.filter(|_| !args.dry_run) else {
        printer.remark(&describe_open(open, &authority));
        return Ok(ExitStatus::clean_if(open == 0));
    };
    if open == 0 && !authority.accepts_all() {
        printer.remark("nothing to accept: all of it is accepted as it is\n");
        return Ok(ExitStatus::Clean);
    }
    printer.flush();
    let deed = format!("accept {}", count(workflows.len(), "workflow"));
    let accept = AcceptWorkflows {
        workflows,
        all: false,
    };
    let accepted = runs::execute_on_store(&runs, &deed, &accept)?;
    printer.remark(&format!("accepted {}\n", count(accepted, "workflow")));
    Ok(ExitStatus::Clean)
}

fn accept_all(args: &AcceptArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open_or_create(&args.store)?;
    let accept = AcceptWorkflows {
        all: true,
        ..AcceptWorkflows::default()
    };
    let deed = "let every workflow count as accepted in this store";
    runs::execute_on_store(&runs, deed, &accept)?;
    printer.remark("every workflow counts as accepted here, until one is accepted by its name\n");
    Ok(ExitStatus::Clean)
}

/// Returns the workflows that are meant, each with its file.
fn find_workflows(
    args: &AcceptArgs,
    printer: &mut Printer,
) -> Result<(Vec<Arc<Workflow>>, Vec<String>), Failure> {
    let catalog = SpecCatalog::read(&args.specs.specs)?;
    // Without a name, those of this project are meant.
    let (catalog, ids) = match args.workflows.as_slice() {
        [] => {
            for why in catalog.rivalries() {
                printer.remark(&format!("note: {why}\n"));
            }
            let ids = catalog.ids();
            (catalog, ids)
        }
        named => (catalog.with_global()?, named.to_vec()),
    };
    if ids.is_empty() {
        return Err(Failure::new("no spec here defines a workflow")
            .with_help("specs are looked for below this folder; `--specs PATH` looks elsewhere"));
    }
    let specs = catalog.specs();
    let mut found = (Vec::new(), Vec::new());
    for id in ids {
        let workflow = catalog.find_or_fail(&id)?;
        let source = specs.iter().find(|spec| spec.id == id);
        found.0.push(workflow);
        found
            .1
            .push(source.map_or_else(String::new, |spec| spec.source.clone()));
    }
    Ok(found)
}

/// Compares a workflow with what was accepted of it.
fn review(
    runs: Option<&Runs>,
    authority: &Authority,
    workflow: &Workflow,
    source: String,
) -> Result<Review, Failure> {
    let accepted = authority.acceptance(workflow.id()).cloned();
    let mut changes = Vec::new();
    if let (Some(runs), Some(accepted)) = (runs, &accepted) {
        let before = runs.workflow_of(&accepted.table)?;
        for (kind, rows) in compare(&before, workflow).rows {
            let removed = rows.removed.iter().map(|row| ('-', row));
            let added = rows.added.iter().map(|row| ('+', row));
            let all = removed.chain(added);
            changes.extend(all.map(|(sign, row)| format!("{sign} {kind} {row}")));
        }
    }
    let is_accepted = accepted.as_ref().is_some_and(|it| it.is_of(workflow));
    let status = match &accepted {
        None => Status::New,
        Some(_) if !is_accepted => Status::Changed,
        Some(_) if changes.is_empty() => Status::Accepted,
        Some(_) => Status::Texts,
    };
    Ok(Review {
        workflow: workflow.id().to_owned(),
        source,
        status,
        accepted,
        changes,
        declares: declarations(workflow),
        waits_for: Vec::new(),
    })
}

/// Returns the ids of the workflows that states of one invoke.
fn invoked_by(workflow: &Workflow) -> BTreeSet<String> {
    let states = workflow.table().states();
    let ids = states.filter_map(|(state, _)| workflow.invoked_workflow(state));
    ids.map(str::to_owned).collect()
}

/// Returns what a workflow declares that has programs run, a line each.
fn declarations(workflow: &Workflow) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, declared) in workflow.declared_powers() {
        match declared {
            Value::Object(fields) => {
                let all = fields.iter();
                lines.extend(all.map(|(name, value)| format!("{key} `{name}`: {value}")));
            }
            other => lines.push(format!("{key}: {other}")),
        }
    }
    lines
}

impl Review {
    /// Describes it for a person who decides on it: nothing is cut.
    fn describe(&self, palette: Palette) -> String {
        let id = palette.strong(&visible::line(&self.workflow));
        let source = palette.dim(&format!("({})", visible::line(&self.source)));
        let since = self.accepted.as_ref().map(|accepted| {
            let by = accepted.by.as_deref().unwrap_or("a person");
            format!("{by} accepted it {}", format_time(accepted.at))
        });
        let since = since.unwrap_or_default();
        let status = match self.status {
            Status::New => "never accepted".to_owned(),
            Status::Changed => format!("changed since {since}"),
            Status::Texts => format!("other texts since {since}"),
            Status::Accepted => format!("as {since}"),
        };
        let mut text = format!("{id} {source}: {status}\n");
        for line in &self.changes {
            let line = visible::line(line);
            let line = if line.starts_with('-') {
                palette.bad(&line)
            } else {
                palette.good(&line)
            };
            let _ = writeln!(text, "  {line}");
        }
        let is_open = matches!(self.status, Status::New | Status::Changed);
        for line in self.declares.iter().filter(|_| is_open) {
            let _ = writeln!(text, "  declares {}", visible::line(line));
        }
        for id in &self.waits_for {
            let id = visible::line(id);
            let _ = writeln!(
                text,
                "  invokes `{id}`, which isn't accepted: its runs wait for that"
            );
        }
        if self.status == Status::New {
            let word = shell_word(&self.source);
            let _ = writeln!(text, "  `statemark show {word}` shows all of it");
        }
        text
    }
}

fn describe_open(open: usize, authority: &Authority) -> String {
    let trial = if authority.accepts_all() {
        "; for now, every workflow counts as accepted"
    } else {
        ""
    };
    match open {
        0 => format!("all of it is accepted as it is{trial}\n"),
        open => format!("{} to accept{trial}\n", count(open, "workflow")),
    }
}
