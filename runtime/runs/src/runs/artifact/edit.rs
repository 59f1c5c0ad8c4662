//! The current revision is changed in places.

use serde::Serialize;

use super::hand_in::too_large;
use super::hand_in::{check_artifact, submit};
use super::{PutArtifact, Submitted, no_revision, refused};
use crate::blocker::{ArtifactBlocker, Blocker};
use crate::body::{Stage, Verdict};
use crate::runs::operation::{Decide, DecideCx, Right};
use crate::runs::{Change, Loaded, RunError, Runs};

/// Changes of the current revision, which make the next.
#[derive(Clone, Debug, Serialize)]
pub struct EditArtifact {
    /// The artifact.
    pub name: String,
    /// The changes, each of what the one before has left.
    pub edits: Vec<Edit>,
    /// True if the result is submitted as final.
    pub is_final: bool,
    /// The revision that they are made for; else the current one.
    pub base: Option<u64>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// The text that occurs once.
    pub old: String,
    /// The text in its place.
    pub new: String,
}

/// Changes the current revision: all changes or none.
///
/// The result is the next revision, checked as any other.
impl Decide for EditArtifact {
    const NAME: &'static str = "artifact.edit";
    const RIGHT: Right = Right::Drive;
    type Outcome = Submitted;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let stage = if self.is_final {
            Stage::Final
        } else {
            Stage::Draft
        };
        let mut put = PutArtifact {
            is_final: self.is_final,
            base: self.base,
            ..PutArtifact::draft(&self.name, Vec::new())
        };
        if let Some(why) = run.puttable(&put) {
            return Ok(refused(stage, why, Vec::new()));
        }
        put.content = match apply_edits(cx.runs, run, self)? {
            Ok(text) => text.into_bytes(),
            Err(why) => return Ok(refused(stage, why, Vec::new())),
        };
        submit(cx.runs, run, &put)
    }

    fn settled_by(&self, run: &Loaded) -> Option<u64> {
        run.state.current(&self.name).map(|current| current.changed)
    }
}

/// Checks the current revision with changes against its contract. Writes nothing.
///
/// # Errors
///
/// [`RunError::Invalid`] says why the changes can't be made; the content isn't in the store.
pub fn check_edit(runs: &Runs, loaded: &Loaded, edit: &EditArtifact) -> Result<Verdict, RunError> {
    let put = PutArtifact {
        base: edit.base,
        ..PutArtifact::draft(&edit.name, Vec::new())
    };
    if let Some(why) = loaded.puttable(&put) {
        return Err(why.into());
    }
    let text = apply_edits(runs, loaded, edit)?.map_err(Blocker::Artifact)?;
    check_artifact(loaded, &edit.name, text.as_bytes())
}

/// Returns the text with the changes, or why they can't be made.
fn apply_edits(
    runs: &Runs,
    loaded: &Loaded,
    edit: &EditArtifact,
) -> Result<Result<String, ArtifactBlocker>, RunError> {
    let name = &edit.name;
    let Some(current) = loaded.state.current(name) else {
        return Ok(Err(no_revision(name)));
    };
    let revision = current.artifact.revision;
    let Some(content) = &current.artifact.content else {
        let artifact = name.clone();
        return Ok(Err(ArtifactBlocker::NoContent { artifact, revision }));
    };
    let Ok(mut text) = String::from_utf8(runs.store.blob(content)?) else {
        let artifact = name.clone();
        return Ok(Err(ArtifactBlocker::NotText { artifact, revision }));
    };
    for (number, edit) in (1_u64..).zip(&edit.edits) {
        let mut places = text.match_indices(&edit.old);
        let blocker = match (places.next(), places.next()) {
            _ if edit.old.is_empty() => Some(ArtifactBlocker::EmptyEdit { number }),
            (None, _) => Some(ArtifactBlocker::NoMatch {
                number,
                artifact: name.clone(),
                revision,
                old: short(&edit.old),
            }),
            (Some(_), Some(_)) => {
                let old = short(&edit.old);
                Some(ArtifactBlocker::Ambiguous { number, old })
            }
            (Some(_), None) => None,
        };
        if let Some(blocker) = blocker {
            return Ok(Err(blocker));
        }
        // What is too large isn't made.
        let size = text.len().saturating_add(edit.new.len());
        if let Some(why) = too_large(name, size.saturating_sub(edit.old.len())) {
            return Ok(Err(why));
        }
        text = text.replacen(&edit.old, &edit.new, 1);
    }
    Ok(Ok(text))
}

fn short(text: &str) -> String {
    statemark_text::shorten::shorten(text, 60)
}
