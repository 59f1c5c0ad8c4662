//! `artifacts`: what a run has to produce, handed in and checked.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use statemark_runs::body::{Artifact, Finding, Refused, Stage, Verdict};
use statemark_runs::runs::{
    DiscardArtifact, FinalizeArtifact, MAX_ARTIFACT, PutArtifact, Submitted,
};
use statemark_runs::state::Revision;
use statemark_runs::{Loaded, Runs, Written};

use super::shown;
use crate::args::{
    ArtifactsArgs, ArtifactsWhat, FromFileArgs, OnArtifactArgs, StoreArgs, TextFormat,
};
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::lines::counted;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

/// What `--json` prints of something that was done.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<&'a Artifact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a Refused>,
    /// Whether it was so already.
    replayed: bool,
}

pub(in crate::commands) fn run(
    args: &ArtifactsArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    match &args.what {
        ArtifactsWhat::List { run, all, store } => list(run, *all, store, printer),
        ArtifactsWhat::Show { on } => show(on, printer),
        ArtifactsWhat::Check { from } => check(from, printer),
        ArtifactsWhat::Put {
            from,
            is_final,
            base,
            media,
            key,
        } => {
            let put = PutArtifact {
                is_final: *is_final,
                base: *base,
                media: media.clone(),
                ..PutArtifact::draft(&from.name, content(&from.file)?)
            };
            let all = runs::open(&from.store)?;
            let run = runs::current(&all, &from.run)?;
            let order = runs::order(run, key.as_deref())?;
            let written = all.execute(&order, &put)?;
            told(&written, &from.store, Some(&from.file), printer)
        }
        ArtifactsWhat::Final { on } => {
            let all = runs::open(&on.store)?;
            let order = runs::order(runs::current(&all, &on.run)?, None)?;
            let finalize = FinalizeArtifact {
                name: on.name.clone(),
                revision: on.revision,
            };
            let written = all.execute(&order, &finalize)?;
            told(&written, &on.store, None, printer)
        }
        ArtifactsWhat::Discard { on, reason } => {
            let all = runs::open(&on.store)?;
            let order = runs::order(runs::current(&all, &on.run)?, None)?;
            let discard = DiscardArtifact {
                name: on.name.clone(),
                revision: on.revision,
                reason: reason.clone(),
            };
            let written = all.execute(&order, &discard)?;
            told(&written, &on.store, None, printer)
        }
    }
}

/// The file's bytes.
fn content(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = if file == Path::new("-") {
        files::read_stdin(MAX_ARTIFACT)?
    } else {
        files::read(file, MAX_ARTIFACT)?
    };
    read.map_err(|size| {
        let path = file.to_owned();
        FailureKind::TooLarge {
            path,
            size,
            most: MAX_ARTIFACT,
        }
        .into()
    })
}

fn list(
    run: &str,
    every: bool,
    store: &StoreArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(store)?;
    let loaded = runs::load(&all, run)?;
    let json = store.format() == TextFormat::Json;
    let mut text = String::new();
    for (name, revisions) in &loaded.state.artifacts {
        // The one that counts for the next: what was thrown away behind it is shown with `--all`.
        let current = loaded.state.current(name).or(revisions.last());
        let current = current.map(|it| it.artifact.revision);
        for revision in revisions {
            if !every && Some(revision.artifact.revision) != current {
                continue;
            }
            if json {
                text += &shown::json(&revision.artifact);
            } else {
                text += &line(name, revision, &all);
            }
        }
    }
    printer.result(&text);
    if json {
        return Ok(ExitStatus::Clean);
    }
    let wanted = missing(&loaded);
    if !wanted.is_empty() {
        printer.talk(&format!("not handed in: {}\n", wanted.join(", ")));
    } else if text.is_empty() {
        printer.talk("no artifacts\n");
    }
    Ok(ExitStatus::Clean)
}

/// What the workflow knows and nobody has handed in as final.
fn missing(loaded: &Loaded) -> Vec<String> {
    let known = loaded.known_artifacts().into_iter();
    known
        .filter(|name| loaded.state.standing(name).is_none())
        .collect()
}

fn line(name: &str, revision: &Revision, all: &Runs) -> String {
    let artifact = &revision.artifact;
    let size = artifact
        .size
        .map_or_else(String::new, |size| format!("  {size} bytes"));
    let place = artifact
        .path
        .as_ref()
        .map_or_else(String::new, |path| format!("  {path}"));
    let findings = artifact.verdict.as_ref().map_or(0, |it| it.findings.len());
    let findings = match findings {
        0 => String::new(),
        count => format!("  {}", counted(count, "finding")),
    };
    let ago = runs::length(all.now().saturating_sub(revision.time));
    format!(
        "{name}  {}  {}{size}{place}{findings}  {ago} ago\n",
        artifact.revision,
        artifact.stage.name()
    )
}

fn show(on: &OnArtifactArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let all = runs::open(&on.store)?;
    let loaded = runs::load(&all, &on.run)?;
    let found = all.read_artifact(&loaded, &on.name, on.revision)?;
    if on.store.format() == TextFormat::Json {
        let artifact = &found.revision.artifact;
        let text = String::from_utf8(found.content).ok();
        printer.result(&shown::json(
            &serde_json::json!({"artifact": artifact, "text": text}),
        ));
    } else {
        printer.bytes(&found.content);
    }
    Ok(ExitStatus::Clean)
}

fn check(from: &FromFileArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let content = content(&from.file)?;
    let all = runs::open(&from.store)?;
    let loaded = runs::load(&all, &from.run)?;
    let verdict = all.check_artifact(&loaded, &from.name, &content)?;
    match from.store.format() {
        TextFormat::Json => printer.result(&shown::json(&verdict)),
        TextFormat::Text => {
            printer.result(&findings(&verdict, &files::shown(&from.file)));
            if verdict.holds {
                printer.talk("it is as its contract says\n");
            }
        }
    }
    Ok(if verdict.holds {
        ExitStatus::Clean
    } else {
        ExitStatus::Findings
    })
}

/// What is wrong, one finding a line, as editors read it.
fn findings(verdict: &Verdict, file: &str) -> String {
    let mut text = String::new();
    for Finding {
        line,
        column,
        what,
        help,
    } in &verdict.findings
    {
        let _ = writeln!(text, "{file}:{line}:{column}: {what}");
        if let Some(help) = help {
            let _ = writeln!(text, "  help: {help}");
        }
    }
    if verdict.more > 0 {
        let _ = writeln!(text, "and {} more", verdict.more);
    }
    text
}

/// What came of an order about an artifact.
fn told(
    written: &Written<Submitted>,
    store: &StoreArgs,
    file: Option<&Path>,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let submitted = &written.outcome;
    let (artifact, refused) = (submitted.artifact.as_ref(), submitted.refused.as_ref());
    if store.format() == TextFormat::Json {
        printer.result(&shown::json(&Answer {
            artifact,
            refused,
            replayed: written.replayed,
        }));
    } else {
        let verdict = artifact.and_then(|it| it.verdict.as_ref());
        let name = artifact.map_or("", |it| it.name.as_str());
        let place = file.map_or_else(|| name.to_owned(), files::shown);
        if let Some(verdict) = verdict {
            printer.result(&findings(verdict, &place));
        }
        if let Some(refused) = refused {
            let word = printer.talk_palette().bad("refused:");
            printer.talk(&format!("{word} {}\n", refused.reason));
        }
        if let Some(artifact) = artifact {
            let already = if written.replayed { " already" } else { "" };
            let stage = match artifact.stage {
                Stage::Draft => "a draft",
                Stage::Final => "final",
                Stage::Discarded => "discarded",
            };
            let revision = artifact.revision;
            printer.result(&format!(
                "revision {revision} of {name} is {stage}{already}\n"
            ));
        }
    }
    Ok(match refused {
        Some(_) => ExitStatus::Findings,
        None => ExitStatus::Clean,
    })
}
