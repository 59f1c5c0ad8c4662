//! `upstream`: the other servers of a project, and the definitions of their tools.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Subcommand;
use serde_json::Value;
use statemark_runs::authority::AcceptUpstream;
use statemark_runs::{Authority, shell_word};
use statemark_text::visible;
use statemark_upstream::{
    Declared, LOCK_FILE, Lock, Pin, Report, Standing, ToolReport, Upstreams, Use, hash,
};

use crate::args::{SpecsArgs, StoreArgs, TextFormat};
use crate::catalog::SpecCatalog;
use crate::failure::{CommandResult, ExitStatus, Failure, system_message};
use crate::printer::{Palette, Printer, count};
use crate::runs;
use crate::upstream::{self, Servers, bad_names};

/// Check, list and accept the other servers whose tools this project offers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark upstream accept github        let it be started, and pin its tools\n  \
                        statemark upstream check                is each as it was pinned? exit code 1 if not\n  \
                        statemark upstream list\n\n\
                        Servers are declared in `statemark.toml` (`[upstream.NAME]`) or by workflows (`upstream_servers`).\n\
                        None is started before a person has accepted it; its tools are pinned in `statemark.lock`, and one\n\
                        that differs later is neither offered nor called until a person accepts it.\n\
                        `statemark help servers` has more.")]
pub(crate) struct UpstreamArgs {
    #[command(subcommand)]
    command: UpstreamCommand,
}

/// A subcommand of `upstream`.
#[derive(Debug, Subcommand)]
enum UpstreamCommand {
    /// Start each server, list its tools, and compare them with their pins
    #[command(after_help = "Examples:\n  \
                            statemark upstream check          exit code 1 if a server or a tool isn't as it should be\n  \
                            statemark upstream check --json   for CI: an object for each server")]
    Check(PlaceArgs),
    /// List the servers and their pinned tools; none is started
    #[command(after_help = "Example:\n  statemark upstream list --json")]
    List(PlaceArgs),
    Accept(AcceptArgs),
}

/// The specs and the store.
#[derive(Debug, clap::Args)]
struct PlaceArgs {
    #[command(flatten)]
    specs: SpecsArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// Accept a server as it is declared, and its tools as they are, after a look at both
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark upstream accept github\n  \
                        statemark upstream accept github create_issue    this tool alone")]
struct AcceptArgs {
    /// The server
    #[arg(value_name = "SERVER")]
    server: String,
    /// The only tool whose definition is accepted, by the name that the server has for it
    #[arg(value_name = "TOOL")]
    tool: Option<String>,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Runs a subcommand.
pub(super) fn run(args: &UpstreamArgs, printer: &mut Printer) -> CommandResult {
    match &args.command {
        UpstreamCommand::Check(place) => check(place, printer),
        UpstreamCommand::List(place) => list(place, printer),
        UpstreamCommand::Accept(args) => accept(args, printer),
    }
}

/// Reads the servers of the project. Where there is no store, nobody has accepted any.
fn read(place: &PlaceArgs) -> Result<Servers, Failure> {
    let runs = runs::open_if_exists(&place.store)?;
    let authority = runs.map(|runs| runs.authority()).transpose()?;
    read_with(place, &authority.unwrap_or_default())
}

fn read_with(place: &PlaceArgs, authority: &Authority) -> Result<Servers, Failure> {
    let catalog = SpecCatalog::read(&place.specs.specs)?.with_global()?;
    upstream::read(authority, &catalog, "")
}

/// Makes the runtime that servers are started in.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.map_err(|error| {
        let message = system_message(&error);
        Failure::new(format!("no server can be started: {message}"))
    })
}

/// Starts servers, compares their tools with their pins, and ends them.
fn look(servers: &Servers, declared: Vec<Declared>) -> Result<(Vec<Report>, Lock), Failure> {
    let runtime = runtime()?;
    let all = Upstreams::new(declared, &servers.place, Use::Check, runtime.handle());
    let all = all.map_err(|names| bad_names(&names))?;
    let reports = runtime.block_on(async {
        let reports = all.check().await;
        all.close().await;
        reports
    });
    Ok((reports, Lock::in_folder(&servers.place.folder)))
}

fn check(place: &PlaceArgs, printer: &mut Printer) -> CommandResult {
    let servers = read(place)?;
    if servers.declared.is_empty() {
        return say_none(&servers, printer);
    }
    let (reports, _) = look(&servers, servers.declared.clone())?;
    show(&reports, &servers, place, printer);
    let is_clean = |report: &Report| {
        let mut tools = report.tools.iter();
        report.fault.is_none()
            && tools.all(|tool| tool.standing == Standing::Pinned && tool.name.is_some())
    };
    Ok(ExitStatus::clean_if(reports.iter().all(is_clean)))
}

fn list(place: &PlaceArgs, printer: &mut Printer) -> CommandResult {
    let servers = read(place)?;
    if servers.declared.is_empty() {
        return say_none(&servers, printer);
    }
    let runtime = runtime()?;
    let declared = servers.declared.clone();
    let all = Upstreams::new(declared, &servers.place, Use::Check, runtime.handle());
    let all = all.map_err(|names| bad_names(&names))?;
    show(&all.list(), &servers, place, printer);
    Ok(ExitStatus::Clean)
}

fn say_none(servers: &Servers, printer: &mut Printer) -> CommandResult {
    for remark in &servers.remarks {
        printer.remark(&format!("{remark}\n"));
    }
    printer.remark("no server is declared: `[upstream.NAME]` in `statemark.toml` declares one\n");
    Ok(ExitStatus::Clean)
}

fn show(reports: &[Report], servers: &Servers, place: &PlaceArgs, printer: &mut Printer) {
    for report in reports {
        match place.store.format() {
            TextFormat::Json => printer.json(report),
            TextFormat::Text => printer.result(&describe(report, printer.palette())),
        }
    }
    for remark in &servers.remarks {
        printer.remark(&format!("{remark}\n"));
    }
}

/// Describes a server and its tools.
fn describe(report: &Report, palette: Palette) -> String {
    let mut text = palette.strong(&report.server);
    let protocol = report.protocol.as_ref();
    let protocol = protocol.map_or_else(String::new, |it| format!(", protocol {it}"));
    let tools = count(report.tools.len(), "tool");
    let _ = match &report.fault {
        Some(fault) => writeln!(text, ": {}", palette.bad(&visible::line(fault))),
        None => writeln!(text, ": {tools}{protocol}"),
    };
    for tool in &report.tools {
        let name = tool.name.as_ref().unwrap_or(&tool.tool);
        let standing = describe_standing(tool, palette);
        let _ = writeln!(text, "  {}{standing}", visible::line(name));
        for line in tool.diff.lines() {
            let line = match line.as_bytes().first() {
                Some(b'-') => palette.bad(line),
                Some(b'+') => palette.good(line),
                _ => line.to_owned(),
            };
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

fn describe_standing(tool: &ToolReport, palette: Palette) -> String {
    if tool.name.is_none() {
        return palette.bad(": this can't be the name of a tool");
    }
    match tool.standing {
        Standing::Pinned => String::new(),
        Standing::First => palette.guard(": not pinned yet"),
        Standing::New => palette.bad(": new, and nobody has accepted it yet"),
        Standing::Changed => palette.bad(": not the tool that was accepted"),
        _ => palette.bad(": pinned, and the server doesn't have it any more"),
    }
}

fn accept(args: &AcceptArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open_or_create(&args.place.store)?;
    let servers = read_with(&args.place, &*runs.authority()?)?;
    let mut declared = servers.declared.iter();
    let Some(server) = declared.find(|it| it.name == args.server) else {
        let known: Vec<String> = servers.declared.iter().map(|it| it.name.clone()).collect();
        let message = format!("there is no server `{}`", args.server);
        return Err(if known.is_empty() {
            Failure::new(message).with_help("`[upstream.NAME]` in `statemark.toml` declares one")
        } else {
            Failure::unknown_name(message, &args.server, &known)
        });
    };
    let is_new = server.not_accepted.is_some();
    if let (Some(workflow), true) = (servers.workflows.get(&server.name), is_new) {
        return Err(Failure::new(format!(
            "the workflow `{workflow}` declares `{}`, and nobody has accepted it",
            server.name
        ))
        .with_help(format!(
            "`statemark accept {}` shows what it declares",
            shell_word(workflow)
        )));
    }
    let mut accept = AcceptUpstream {
        server: server.name.clone(),
        declaration: server.declaration.hash(),
        tools: BTreeMap::new(),
    };
    if is_new {
        printer.result(&describe_declaration(server, printer.palette()));
        printer.flush();
        let deed = format!("let `{}` be started as it is declared", server.name);
        runs::execute_on_store(&runs, &deed, &accept)?;
    }
    let server = Declared {
        not_accepted: None,
        ..server.clone()
    };
    let (reports, lock) = look(&servers, vec![server])?;
    let Some(report) = reports.into_iter().next() else {
        return Ok(ExitStatus::Clean);
    };
    if let Some(fault) = &report.fault {
        let fault = visible::line(fault);
        // That it may be started was accepted above, and stays so.
        let started = match is_new {
            true => {
                "; it may be started all the same, as it is declared, and its tools are pinned as it has them then"
            }
            false => "",
        };
        printer.refusal(&format!(
            "`{}` can't be asked for its tools: {fault}{started}",
            report.server
        ));
        return Ok(ExitStatus::Findings);
    }
    let tools = choose(&report, args.tool.as_deref())?;
    if tools.is_empty() {
        let server = &report.server;
        printer.remark(&format!("`{server}`: its tools are as they were pinned\n"));
        return Ok(ExitStatus::Clean);
    }
    for tool in &tools {
        printer.result(&describe_tool(tool, printer.palette()));
        let of = tool.definition.as_ref().unwrap_or(&Value::Null);
        accept.tools.insert(tool.tool.clone(), hash(of));
    }
    printer.flush();
    // Who has let it be started a moment ago has taken its first tools along.
    if !is_new || tools.iter().any(|tool| tool.standing != Standing::First) {
        let tools = count(tools.len(), "tool");
        let deed = format!("accept {tools} of `{}` as shown", report.server);
        runs::execute_on_store(&runs, &deed, &accept)?;
    }
    lock.change(&report.server, |pins| {
        for tool in &tools {
            match &tool.definition {
                Some(definition) => drop(pins.insert(tool.tool.clone(), Pin::new(definition))),
                None => drop(pins.remove(&tool.tool)),
            }
        }
    })
    .map_err(|error| Failure::new(error.to_string()))?;
    let tools = count(tools.len(), "tool");
    printer.remark(&format!(
        "accepted {tools} of `{}` in `{LOCK_FILE}`\n",
        report.server
    ));
    Ok(ExitStatus::Clean)
}

/// Returns the tools that aren't as they were pinned, or the one of them that is meant.
fn choose<'r>(report: &'r Report, tool: Option<&str>) -> Result<Vec<&'r ToolReport>, Failure> {
    let open = report.tools.iter();
    let open = open.filter(|it| it.standing != Standing::Pinned);
    let Some(tool) = tool else {
        return Ok(open.collect());
    };
    if !report.tools.iter().any(|it| it.tool == tool) {
        let known: Vec<String> = report.tools.iter().map(|it| it.tool.clone()).collect();
        let message = format!("`{}` has no tool `{tool}`", report.server);
        return Err(Failure::unknown_name(message, tool, &known));
    }
    Ok(open.filter(|it| it.tool == tool).collect())
}

/// Describes what a person lets be started: nothing is cut.
fn describe_declaration(server: &Declared, palette: Palette) -> String {
    let mut text = format!(
        "{} is declared as\n",
        palette.strong(&visible::line(&server.name))
    );
    if let Value::Object(fields) = server.declaration.to_json() {
        for (key, value) in fields {
            let _ = writeln!(text, "  {key}: {}", visible::json(&value.to_string()));
        }
    }
    text
}

/// Describes a tool that a person decides on: nothing is cut.
fn describe_tool(tool: &ToolReport, palette: Palette) -> String {
    let standing = describe_standing(tool, palette);
    let mut text = format!("{}{standing}\n", visible::line(&tool.tool));
    let shown = match (tool.standing, &tool.definition) {
        (Standing::Changed, _) => tool.diff.clone(),
        (_, Some(definition)) => visible::json(&format!("{definition:#}")).into_owned(),
        (_, None) => String::new(),
    };
    for line in shown.lines() {
        let _ = writeln!(text, "  {line}");
    }
    text
}
