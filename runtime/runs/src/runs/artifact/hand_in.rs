//! A revision is handed in.

use serde::Serialize;

use super::{MAX_ARTIFACT, Submitted, by_hash, refused, unfit};
use crate::blocker::{ArtifactBlocker, Blocker};
use crate::body::{Artifact, Body, Stage, Verdict};
use crate::runs::operation::{Decide, DecideCx, Right};
use crate::runs::{Change, Loaded, RunError, Runs};

/// A new revision of an artifact.
#[derive(Clone, Debug, Serialize)]
pub struct PutArtifact {
    /// Its name.
    pub name: String,
    /// All of it.
    #[serde(serialize_with = "by_hash")]
    pub content: Vec<u8>,
    /// Its media type; else what its contract is about.
    pub media: Option<String>,
    /// Its kind: the name of a contract for artifacts that the definition has none for.
    ///
    /// None keeps the kind of the last revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// True for final. A revision that breaks its contract is kept as a draft.
    pub is_final: bool,
    /// The revision that it was made from; 0 if there was none.
    ///
    /// It is refused if another one is current by now.
    pub base: Option<u64>,
    /// The state that made it; else the only active one.
    pub step: Option<String>,
    /// The unit of work that made it.
    pub unit: Option<String>,
}

impl PutArtifact {
    /// Makes a draft.
    #[must_use]
    pub fn draft(name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.into(),
            content: content.into(),
            media: None,
            kind: None,
            is_final: false,
            base: None,
            step: None,
            unit: None,
        }
    }

    /// Makes it final.
    #[must_use]
    pub fn finally(mut self) -> Self {
        self.is_final = true;
        self
    }

    const fn stage(&self) -> Stage {
        if self.is_final {
            Stage::Final
        } else {
            Stage::Draft
        }
    }
}

/// Submits a revision, with the verdict of its contract.
///
/// A final one that breaks its contract is kept as a draft, and refused. Content that the current revision has makes no
/// new one: a draft of it becomes final, and a final one stays so.
impl Decide for PutArtifact {
    const NAME: &'static str = "artifact.put";
    const RIGHT: Right = Right::Drive;
    type Outcome = Submitted;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        match run.puttable(self) {
            Some(why) => Ok(refused(self.stage(), why, Vec::new())),
            None => submit(cx.runs, run, self),
        }
    }

    fn settled_by(&self, run: &Loaded) -> Option<u64> {
        run.state.current(&self.name).map(|current| current.changed)
    }
}

/// Checks content against a contract. Writes nothing.
///
/// # Errors
///
/// [`RunError::Invalid`] if the content is too large, or the contract can't be used.
pub fn check_artifact(loaded: &Loaded, name: &str, content: &[u8]) -> Result<Verdict, RunError> {
    let too_large = too_large(name, content.len());
    if let Some(blocker) = too_large.or_else(|| loaded.misnamed(name)) {
        return Err(Blocker::Artifact(blocker).into());
    }
    let kind = loaded.state.current(name);
    let kind = kind.and_then(|it| it.artifact.kind.as_deref());
    let verdict = loaded.verdict((name, kind), content)?;
    Ok(verdict.unwrap_or(Verdict {
        holds: true,
        ..Verdict::default()
    }))
}

/// Decides the records of a revision that may be submitted.
pub(super) fn submit(runs: &Runs, loaded: &Loaded, put: &PutArtifact) -> Result<Change, RunError> {
    let name = &put.name;
    let last = loaded.state.artifacts.get(name).and_then(|it| it.last());
    let before = last.and_then(|it| it.artifact.kind.clone());
    let kind = put.kind.clone().or(before);
    let contract = loaded.contract(name, kind.as_deref())?;
    // Several edits may have put a secret together.
    let content = runs.redactor.redact_bytes(&put.content);
    let size = u64::try_from(content.len()).ok();
    let verdict = contract.as_ref().map(|it| it.check(&content));
    let holds = verdict.as_ref().is_none_or(|it| it.holds);
    let media = contract.as_ref().map(|it| it.media_type().to_owned());
    let content = Some(runs.store.put_blob(&content)?);
    let stage = if holds { put.stage() } else { Stage::Draft };
    let current = loaded.state.current(name).map(|it| &it.artifact);
    let is_same = |artifact: &&Artifact| {
        let media = put
            .media
            .as_ref()
            .is_none_or(|_| put.media == artifact.media);
        // What is final holds; what doesn't any more is handed in beside it.
        artifact.content == content && media && (holds || artifact.stage == Stage::Draft)
    };
    // One that a state wants anew is handed in again, though nothing in it has changed.
    let same = current.filter(is_same);
    let same = same.filter(|it| it.stage != Stage::Final || !loaded.legality().is_outdated(name));
    if same.is_some_and(|it| it.stage == Stage::Final) {
        return Ok(Change::default());
    }
    let new = || Artifact {
        name: name.clone(),
        revision: last.map_or(0, |last| last.artifact.revision) + 1,
        stage,
        size,
        content,
        media: put.media.clone().or(media),
        path: None,
        storage_root: None,
        kind,
        subflow: false,
        feature: None,
        step: put.step.clone().or_else(|| loaded.maker()),
        unit: put.unit.clone(),
        verdict: None,
        reason: None,
    };
    let artifact = Artifact {
        stage,
        verdict,
        ..same.cloned().unwrap_or_else(new)
    };
    let why = (!holds && put.is_final).then(|| unfit(&artifact));
    let is_new = same != Some(&artifact);
    let bodies: Vec<Body> = is_new
        .then_some(Body::Artifact(artifact))
        .into_iter()
        .collect();
    Ok(match why {
        Some(why) => refused(Stage::Final, why, bodies),
        None => Change { bodies },
    })
}

/// Returns the blocker of content that is too large.
pub(super) fn too_large(name: &str, size: usize) -> Option<ArtifactBlocker> {
    (size > MAX_ARTIFACT).then(|| ArtifactBlocker::TooLarge {
        artifact: name.to_owned(),
        size,
        max: MAX_ARTIFACT,
    })
}

impl Loaded {
    /// Returns the reason that a revision can't be submitted.
    pub(super) fn puttable(&self, put: &PutArtifact) -> Option<Blocker> {
        let name = &put.name;
        if let Some(blocker) = too_large(name, put.content.len()) {
            return Some(blocker.into());
        }
        if let Some(blocker) = self.closed_to(name) {
            return Some(blocker);
        }
        let current = self.state.current(name).map(|it| &it.artifact);
        let newest = current.map_or(0, |it| it.revision);
        let base = put.base.filter(|base| *base != newest)?;
        let artifact = name.clone();
        Some(Blocker::Artifact(match current {
            None => ArtifactBlocker::NoBase { artifact, base },
            Some(it) => ArtifactBlocker::StaleBase {
                artifact,
                base,
                current: newest,
                stage: it.stage.name(),
            },
        }))
    }

    /// Returns the only active state, if there is only one.
    fn maker(&self) -> Option<String> {
        match self.state.leaves.as_slice() {
            [leaf] => Some(leaf.clone()),
            _ => None,
        }
    }
}
