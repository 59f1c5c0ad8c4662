//! `artifacts`: documents that a run has to produce, submitted and checked.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Serialize;
use statemark_runs::body::{Artifact, Finding, Refused, Stage, Verdict};
use statemark_runs::runs::{
    DiscardArtifact, FinalizeArtifact, MAX_ARTIFACT, PutArtifact, Submitted,
};
use statemark_runs::state::Revision;
use statemark_runs::{Key, Loaded, Written, check_artifact, read_artifact};
use statemark_text::visible;

use crate::args::{RunArgs, StoreArgs, TextFormat};
use crate::clock::format_length;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::{Printer, count};
use crate::{files, runs};

/// Submit the artifacts of a run, checked against their contracts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark artifacts list build-7\n  \
                        statemark artifacts check build-7 plan plan.md       findings only; nothing is stored\n  \
                        statemark artifacts put build-7 plan plan.md         a draft\n  \
                        statemark artifacts put build-7 plan plan.md --final\n  \
                        statemark artifacts show build-7 plan > plan.md")]
pub(crate) struct ArtifactsArgs {
    /// The subcommand
    #[command(subcommand)]
    command: ArtifactsCommand,
}

/// A subcommand of `artifacts`.
#[derive(Debug, Subcommand)]
enum ArtifactsCommand {
    List(ListArgs),
    Show(RevisionArgs),
    Check(FileArgs),
    Put(PutArgs),
    Final(FinalArgs),
    Discard(DiscardArgs),
}

/// List the artifacts of a run, and those that are missing
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  statemark artifacts list build-7 --all")]
struct ListArgs {
    /// Every revision
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Print a revision: by default, the newest that isn't discarded
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  statemark artifacts show build-7 plan --revision 2")]
struct RevisionArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    run: String,
    /// The artifact
    #[arg(value_name = "NAME")]
    name: String,
    /// The revision
    #[arg(long, value_name = "REVISION")]
    revision: Option<u64>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Check a file against the contract of an artifact
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  statemark artifacts check build-7 plan plan.md")]
struct FileArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    run: String,
    /// The artifact
    #[arg(value_name = "NAME")]
    name: String,
    /// The file, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
}

/// Submit a file as the next revision: a draft, unless it is --final
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  statemark artifacts put build-7 plan plan.md --final")]
struct PutArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Make it final; it stays a draft if it breaks its contract
    #[arg(long = "final")]
    is_final: bool,
    /// The revision that it was made from: refused if there is a newer one
    #[arg(long, value_name = "REVISION")]
    base: Option<u64>,
    /// Its media type
    #[arg(long, value_name = "TYPE")]
    media: Option<String>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
}

/// Make a draft final
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  statemark artifacts final build-7 plan")]
struct FinalArgs {
    #[command(flatten)]
    revision: RevisionArgs,
}

/// Discard a revision: by default the newest, if it is a draft
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  statemark artifacts discard build-7 plan --reason 'out of date'"
)]
struct DiscardArgs {
    #[command(flatten)]
    revision: RevisionArgs,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl From<&FinalArgs> for FinalizeArtifact {
    fn from(FinalArgs { revision }: &FinalArgs) -> Self {
        Self {
            name: revision.name.clone(),
            revision: revision.revision,
        }
    }
}

impl From<&DiscardArgs> for DiscardArtifact {
    fn from(DiscardArgs { revision, reason }: &DiscardArgs) -> Self {
        Self {
            name: revision.name.clone(),
            revision: revision.revision,
            reason: reason.clone(),
        }
    }
}

/// The outcome of an order, as `--json` prints it.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<&'a Artifact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a Refused>,
    replayed: bool,
}

/// Runs a subcommand.
pub(in crate::commands) fn run(args: &ArtifactsArgs, printer: &mut Printer) -> CommandResult {
    match &args.command {
        ArtifactsCommand::List(args) => list(args, printer),
        ArtifactsCommand::Show(args) => show(args, printer),
        ArtifactsCommand::Check(args) => check(args, printer),
        ArtifactsCommand::Put(args) => put(args, printer),
        ArtifactsCommand::Final(args) => {
            let RevisionArgs { run, store, .. } = &args.revision;
            let runs = runs::open(store)?;
            let written = runs::execute(&runs, run, None, &FinalizeArtifact::from(args))?;
            Ok(print_submitted(&written, store, None, printer))
        }
        ArtifactsCommand::Discard(args) => {
            let RevisionArgs { run, store, .. } = &args.revision;
            let runs = runs::open(store)?;
            let written = runs::execute(&runs, run, None, &DiscardArtifact::from(args))?;
            Ok(print_submitted(&written, store, None, printer))
        }
    }
}

fn put(args: &PutArgs, printer: &mut Printer) -> CommandResult {
    let FileArgs {
        run,
        name,
        file,
        store,
    } = &args.file;
    let put = PutArtifact {
        is_final: args.is_final,
        base: args.base,
        media: args.media.clone(),
        ..PutArtifact::draft(name, read(file)?)
    };
    let runs = runs::open(store)?;
    let written = runs::execute(&runs, run, args.key.as_ref(), &put)?;
    Ok(print_submitted(&written, store, Some(file), printer))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    files::read_whole(file, MAX_ARTIFACT)
}

fn list(args: &ListArgs, printer: &mut Printer) -> CommandResult {
    let (runs, loaded) = runs::open_run(&args.run)?;
    let is_json = args.run.store.format() == TextFormat::Json;
    let listed = list_revisions(&loaded, args.all);
    for (name, revision) in &listed {
        if is_json {
            printer.json(&revision.artifact);
        } else {
            printer.result(&revision_line(name, revision, runs.now()));
        }
    }
    if is_json {
        return Ok(ExitStatus::Clean);
    }
    let is_empty = listed.is_empty();
    let missing = missing_artifacts(&loaded);
    if !missing.is_empty() {
        printer.remark(&format!("not submitted: {}\n", missing.join(", ")));
    } else if is_empty {
        printer.remark("no artifacts\n");
    }
    Ok(ExitStatus::Clean)
}

/// Lists the revisions of artifacts.
///
/// That are all, or of each artifact the one that stands and a draft beside it.
fn list_revisions(loaded: &Loaded, all: bool) -> Vec<(&str, &Revision)> {
    let state = &loaded.state;
    let mut listed = Vec::new();
    for (name, revisions) in &state.artifacts {
        // The one that stands may be older than discarded ones.
        let standing = state.standing(name).or(revisions.last());
        let current = [standing, state.newer_draft(name)];
        let shown = revisions.iter();
        let shown = shown.filter(|revision| all || current.contains(&Some(revision)));
        listed.extend(shown.map(|revision| (name.as_str(), revision)));
    }
    listed
}

/// Describes the artifacts of a run, and those that are missing.
pub(in crate::commands) fn describe_artifacts(loaded: &Loaded, now: u64) -> String {
    let revisions = list_revisions(loaded, false).into_iter();
    let mut text: String = revisions
        .map(|(name, revision)| revision_line(name, revision, now))
        .collect();
    let missing = missing_artifacts(loaded);
    if !missing.is_empty() {
        let _ = writeln!(text, "not submitted: {}", missing.join(", "));
    }
    text
}

/// Returns the artifacts that the workflow declares and that have no final revision.
fn missing_artifacts(loaded: &Loaded) -> Vec<String> {
    let known = loaded.known_artifacts().into_iter();
    known
        .filter(|name| loaded.state.final_revision(name).is_none())
        .collect()
}

fn revision_line(name: &str, revision: &Revision, now: u64) -> String {
    let artifact = &revision.artifact;
    let size = artifact.size;
    let size = size.map_or_else(String::new, |size| format!("  {size} bytes"));
    let path = artifact.path.as_ref();
    let path = path.map_or_else(String::new, |path| format!("  {path}"));
    let feature = artifact.feature.as_ref();
    let feature = feature.map_or_else(String::new, |feature| format!("  of {feature}"));
    let subflow = if artifact.subflow { "  subflow" } else { "" };
    let verdict = artifact.verdict.as_ref();
    let findings = match verdict.map_or(0, |verdict| verdict.findings.len()) {
        0 => String::new(),
        findings => format!("  {}", count(findings, "finding")),
    };
    let ago = format_length(now.saturating_sub(revision.time));
    format!(
        "{name}  {}  {}{size}{path}{feature}{subflow}{findings}  {ago} ago\n",
        artifact.revision,
        artifact.stage.name()
    )
}

fn show(args: &RevisionArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let loaded = runs::load(&runs, &args.run)?;
    let found = read_artifact(&runs, &loaded, &args.name, args.revision)?;
    if args.store.format() == TextFormat::Json {
        let artifact = &found.revision.artifact;
        let text = String::from_utf8(found.content).ok();
        printer.json(&serde_json::json!({"artifact": artifact, "text": text}));
    } else {
        printer.content(&found.content);
    }
    Ok(ExitStatus::Clean)
}

fn check(args: &FileArgs, printer: &mut Printer) -> CommandResult {
    let content = read(&args.file)?;
    let runs = runs::open(&args.store)?;
    let loaded = runs::load(&runs, &args.run)?;
    let verdict = check_artifact(&loaded, &args.name, &content)?;
    match args.store.format() {
        TextFormat::Json => printer.json(&verdict),
        TextFormat::Text => {
            printer.result(&describe_findings(&verdict, &files::display(&args.file)));
            if verdict.holds {
                printer.remark("it fulfills its contract\n");
            }
        }
    }
    Ok(ExitStatus::clean_if(verdict.holds))
}

/// Describes findings, one a line, as editors read them.
fn describe_findings(verdict: &Verdict, file: &str) -> String {
    let mut text = String::new();
    for Finding {
        line,
        column,
        what,
        help,
    } in &verdict.findings
    {
        let what = visible::line(what);
        let _ = writeln!(text, "{file}:{line}:{column}: {what}");
        if let Some(help) = help {
            let _ = writeln!(text, "  help: {}", visible::line(help));
        }
    }
    if verdict.more > 0 {
        let _ = writeln!(text, "and {} more", verdict.more);
    }
    text
}

/// Prints the outcome of an order about an artifact.
fn print_submitted(
    written: &Written<Submitted>,
    store: &StoreArgs,
    file: Option<&Path>,
    printer: &mut Printer,
) -> ExitStatus {
    let Submitted { artifact, refused } = &written.outcome;
    if store.format() == TextFormat::Json {
        printer.json(&Answer {
            artifact: artifact.as_ref(),
            refused: refused.as_ref(),
            replayed: written.replayed,
        });
        return ExitStatus::clean_if(refused.is_none());
    }
    if let Some(artifact) = artifact
        && let Some(verdict) = &artifact.verdict
    {
        let file = file.map_or_else(|| artifact.name.clone(), files::display);
        printer.result(&describe_findings(verdict, &file));
    }
    if let Some(refused) = refused {
        printer.refusal(&refused.reason);
    }
    if let Some(artifact) = artifact {
        let already = if written.replayed { " already" } else { "" };
        let stage = match artifact.stage {
            Stage::Draft => "a draft",
            Stage::Final => "final",
            Stage::Discarded => "discarded",
        };
        let (revision, name) = (artifact.revision, &artifact.name);
        printer.result(&format!(
            "revision {revision} of {name} is {stage}{already}\n"
        ));
    }
    ExitStatus::clean_if(refused.is_none())
}
