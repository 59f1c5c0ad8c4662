//! Artifacts in transcripts.
//!
//! ```text
//! > put plan "# Plan\n"             hands a draft in; the text is JSON's, or JSON itself
//! > final plan "# Plan\n"           hands it in as final
//! > put plan after 2 "# Plan\n"     the same, made from revision 2
//! > edit plan [["old", "new"]]      changes the current revision; `edit_final` hands the result in as final
//! > finalize plan 3                 makes a draft final: the current one if none is named
//! > discard plan 3 wrong tree       throws a revision away, with a reason
//! > check plan "# Plan\n"           what its contract says; nothing is written
//! > artifacts                       all revisions
//! > read plan 2                     what is in one
//! ```

use std::fmt::Write as _;

use serde_json::Value;
use statemark_runs::runs::{
    DiscardArtifact, Edit, EditArtifact, FinalizeArtifact, PutArtifact, Submitted,
};
use statemark_runs::{Order, RunError, Written, check_artifact, read_artifact};

use crate::harness::Bench;

/// The words of these lines.
pub(crate) const WORDS: [&str; 9] = [
    "put",
    "final",
    "edit",
    "edit_final",
    "finalize",
    "discard",
    "check",
    "artifacts",
    "read",
];

pub(crate) fn act(
    bench: &Bench,
    order: &Order,
    word: &str,
    rest: &str,
) -> Result<String, RunError> {
    let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let name = name.to_owned();
    let number = |text: &str| text.parse::<u64>().ok();
    let runs = &bench.runs;
    let written = match word {
        "put" | "final" => {
            let (base, text) = base(rest);
            let put = PutArtifact {
                is_final: word == "final",
                base,
                ..PutArtifact::draft(name, content(text))
            };
            runs.execute(order, &put)?
        }
        "edit" | "edit_final" => {
            let (base, edits) = base(rest);
            let edits: Vec<(String, String)> = serde_json::from_str(edits).expect("pairs");
            let edits = edits.into_iter();
            let edit = EditArtifact {
                name,
                edits: edits.map(|(old, new)| Edit { old, new }).collect(),
                is_final: word == "edit_final",
                base,
            };
            runs.execute(order, &edit)?
        }
        "finalize" => {
            let revision = number(rest);
            runs.execute(order, &FinalizeArtifact { name, revision })?
        }
        "discard" => {
            let (revision, reason) = rest.split_once(' ').unwrap_or((rest, ""));
            let discard = DiscardArtifact {
                name,
                revision: number(revision),
                reason: (!reason.is_empty()).then(|| reason.to_owned()),
            };
            runs.execute(order, &discard)?
        }
        "check" => {
            let loaded = runs.load(&order.run)?;
            let verdict = check_artifact(&loaded, &name, &content(rest))?;
            return Ok(findings(&verdict));
        }
        "read" => {
            let loaded = runs.load(&order.run)?;
            let found = read_artifact(runs, &loaded, &name, number(rest))?;
            return Ok(String::from_utf8(found.content)
                .unwrap()
                .trim_end()
                .to_owned()
                + "\n");
        }
        _ => {
            let loaded = runs.load(&order.run)?;
            let mut text = String::new();
            for revision in loaded.state.artifacts.values().flatten() {
                let it = &revision.artifact;
                let (name, number, stage) = (&it.name, it.revision, it.stage.name());
                let made = it.step.as_deref().unwrap_or("nothing");
                let holds = if it.holds() { "" } else { ", doesn't hold" };
                let size = it.size.unwrap_or_default();
                let _ = writeln!(
                    text,
                    "{name} {number} {stage}: {size} bytes by {made}{holds}"
                );
            }
            return Ok(text);
        }
    };
    Ok(submitted(&written))
}

fn base(rest: &str) -> (Option<u64>, &str) {
    let Some((base, text)) = rest
        .strip_prefix("after ")
        .and_then(|it| it.split_once(' '))
    else {
        return (None, rest);
    };
    (base.parse().ok(), text)
}

fn content(text: &str) -> Vec<u8> {
    match serde_json::from_str(text) {
        Ok(Value::String(text)) => text.into_bytes(),
        _ => text.as_bytes().to_vec(),
    }
}

/// What the answer says.
fn submitted(written: &Written<Submitted>) -> String {
    let mut text = String::new();
    if written.replayed {
        text += "as before: ";
    }
    let submitted = &written.outcome;
    if let Some(artifact) = &submitted.artifact {
        let (name, revision, stage) = (&artifact.name, artifact.revision, artifact.stage.name());
        let _ = writeln!(text, "{name}, revision {revision}, {stage}");
        if let Some(verdict) = &artifact.verdict {
            text += &findings(verdict);
        }
    }
    if let Some(refused) = &submitted.refused {
        let _ = writeln!(text, "refused ({}): {}", refused.code, refused.reason);
    }
    text
}

pub(crate) fn findings(verdict: &statemark_runs::body::Verdict) -> String {
    let mut text = String::new();
    if verdict.holds {
        text += "holds\n";
    }
    for finding in &verdict.findings {
        let (line, column, what) = (finding.line, finding.column, &finding.what);
        let _ = writeln!(text, "{line}:{column}: {what}");
        if let Some(help) = &finding.help {
            let _ = writeln!(text, "    {help}");
        }
    }
    if verdict.more > 0 {
        let _ = writeln!(text, "and {} more", verdict.more);
    }
    text
}
