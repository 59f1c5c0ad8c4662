//! Results of operations on artifacts, and their content.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{no_revision, unknown_revision};
use crate::blocker::Blocker;
use crate::body::{Artifact, Body, Refused, Stage, Waiting};
use crate::runs::{InvalidRequest, Loaded, Outcome, RunError, Runs};
use crate::state::{Revision, RunState};

/// The result of an operation on an artifact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Submitted {
    /// The revision, as it is now; none if nothing was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// The reason that it isn't what was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
}

impl Outcome for Submitted {
    fn read(bodies: &[Body]) -> Result<Self, RunError> {
        let (mut artifact, mut refused) = (None, None);
        for body in bodies {
            match body {
                Body::Artifact(found) => artifact = Some(found.clone()),
                Body::Refused(found) => refused = Some(found.clone()),
                _ => {}
            }
        }
        if artifact.is_none() && refused.is_none() {
            let expected = "artifact";
            return Err(InvalidRequest::OtherRecords { expected }.into());
        }
        Ok(Self { artifact, refused })
    }
}

/// A revision with what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactText {
    /// The revision.
    pub revision: Revision,
    /// Its content.
    pub content: Vec<u8>,
}

/// Reads a revision with its content; if none is named, the one that stands.
///
/// # Errors
///
/// [`RunError::Invalid`] if there is no such revision, or it is a file somewhere else; the content isn't in the store.
pub fn read_artifact(
    runs: &Runs,
    loaded: &Loaded,
    name: &str,
    revision: Option<u64>,
) -> Result<ArtifactText, RunError> {
    let state = &loaded.state;
    let newest = state.artifacts.get(name).and_then(|it| it.last());
    let found = match (newest, revision) {
        (None, _) => Err(no_revision(name)),
        (Some(_), None) => state.standing(name).ok_or_else(|| no_revision(name)),
        (Some(newest), Some(revision)) => {
            let newest = newest.artifact.revision;
            let found = state.revision(name, revision);
            found.ok_or_else(|| unknown_revision(name, revision, newest))
        }
    };
    let found = found.map_err(Blocker::Artifact)?;
    let Some(content) = &found.artifact.content else {
        let path = found.artifact.path.clone().unwrap_or_default();
        let artifact = name.to_owned();
        return Err(InvalidRequest::NoContent { artifact, path }.into());
    };
    Ok(ArtifactText {
        content: runs.store.blob(content)?,
        revision: found.clone(),
    })
}

impl RunState {
    /// Returns the newest revision of an artifact that isn't discarded.
    #[must_use]
    pub fn current(&self, name: &str) -> Option<&Revision> {
        let mut revisions = self.artifacts.get(name)?.iter().rev();
        revisions.find(|it| it.artifact.stage != Stage::Discarded)
    }

    /// Returns the newest final revision of an artifact: the one that counts.
    #[must_use]
    pub fn final_revision(&self, name: &str) -> Option<&Revision> {
        let mut revisions = self.artifacts.get(name)?.iter().rev();
        revisions.find(|it| it.artifact.stage == Stage::Final)
    }

    /// Returns the artifacts that have been handed in: the number of the newest final revision by name.
    #[must_use]
    pub fn handed_in(&self) -> BTreeMap<String, u64> {
        let names = self.artifacts.keys();
        let numbers = names.filter_map(|name| {
            let number = self.final_revision(name)?.artifact.revision;
            Some((name.clone(), number))
        });
        numbers.collect()
    }

    /// Reports whether an approval would be of something else than was asked.
    ///
    /// The data or an artifact is another one then.
    #[must_use]
    pub fn is_other_than_asked(&self, asked: &Waiting) -> bool {
        let artifacts = asked.artifacts.as_ref();
        asked.context.is_some_and(|it| it != self.context.digest())
            || artifacts.is_some_and(|it| *it != self.handed_in())
    }

    /// Returns the revision of an artifact that stands: the final one, else the newest draft.
    #[must_use]
    pub fn standing(&self, name: &str) -> Option<&Revision> {
        self.final_revision(name).or_else(|| self.current(name))
    }

    /// Returns the draft of an artifact beside its final revision, if there is one that is newer.
    #[must_use]
    pub fn newer_draft(&self, name: &str) -> Option<&Revision> {
        self.final_revision(name)?;
        let current = self.current(name)?;
        (current.artifact.stage == Stage::Draft).then_some(current)
    }

    /// Returns a revision of an artifact.
    #[must_use]
    pub fn revision(&self, name: &str, revision: u64) -> Option<&Revision> {
        let mut revisions = self.artifacts.get(name)?.iter();
        revisions.find(|it| it.artifact.revision == revision)
    }
}
