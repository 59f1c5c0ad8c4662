//! Artifacts: what a run hands in, checked against its contract.
//!
//! A revision is a draft, then final or discarded; one that is final can be discarded, and what is discarded stays so. Only
//! the newest revision that isn't discarded, the *current* one, can be edited or made final. Whoever hands in again makes
//! the next revision; what was final stays so beside it. A final revision holds: what its contract refuses stays a draft.
//!
//! The content lies in the store under its hash, and is put there before the record that names it.
//!
//! Deliberately not here: files that a run only points at ([`Report::Artifact`](super::Report)), and what may be left
//! without them (`runs/required.rs`).

mod edit;
mod hand_in;
mod read;

use serde::{Serialize, Serializer};

pub use edit::{Edit, EditArtifact, check_edit};
pub use hand_in::{PutArtifact, check_artifact};
pub use read::{ArtifactText, Submitted, read_artifact};

use super::operation::{Decide, DecideCx, Right};
use super::order::refuse_alone;
use super::{Change, InvalidRequest, Loaded, RunError};
use crate::blocker::{ArtifactBlocker, Blocker};
use crate::body::{Artifact, Body, Stage, Verdict};
use crate::contract::{Contract, builtin_type};
use crate::hash::Hash;
use crate::id::MAX_NAME;
use crate::legality::{Required, required_names};
use crate::legible::{are_confusable, describe_oddity};
use crate::state::Revision;

/// Largest artifact. Unit: bytes.
///
/// Why: people review artifacts, and a record of several of them is read at once.
pub const MAX_ARTIFACT: usize = 16 << 20;

/// A draft shall be final.
#[derive(Clone, Debug, Serialize)]
pub struct FinalizeArtifact {
    /// The artifact.
    pub name: String,
    /// The revision; else the current one.
    pub revision: Option<u64>,
}

/// A revision shall be thrown away.
#[derive(Clone, Debug, Serialize)]
pub struct DiscardArtifact {
    /// The artifact.
    pub name: String,
    /// The revision; else the current one, if it is a draft.
    pub revision: Option<u64>,
    /// The reason.
    pub reason: Option<String>,
}

/// Makes a draft final, if it meets its contract now.
///
/// One that is final already gets the first answer.
impl Decide for FinalizeArtifact {
    const NAME: &'static str = "artifact.final";
    const RIGHT: Right = Right::Drive;
    type Outcome = Submitted;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let revision = match run.finalizable(&self.name, self.revision) {
            Ok(revision) if revision.artifact.stage == Stage::Final => {
                return Ok(Change::default());
            }
            Ok(revision) => revision,
            Err(why) => return Ok(refused(Stage::Final, why, Vec::new())),
        };
        let verdict = match &revision.artifact.content {
            Some(content) => {
                let kind = revision.artifact.kind.as_deref();
                run.verdict((&self.name, kind), &cx.runs.store.blob(content)?)?
            }
            None => None,
        };
        let artifact = Artifact {
            verdict,
            ..revision.artifact.clone()
        };
        if !artifact.holds() {
            let why = unfit(&artifact);
            return Ok(refused(Stage::Final, why, vec![Body::Artifact(artifact)]));
        }
        let stage = Stage::Final;
        let body = Body::Artifact(Artifact { stage, ..artifact });
        Ok(Change { bodies: vec![body] })
    }

    fn settled_by(&self, run: &Loaded) -> Option<u64> {
        run.state.current(&self.name).map(|current| current.changed)
    }
}

/// Throws a revision away. One that was thrown away already is answered as then.
impl Decide for DiscardArtifact {
    const NAME: &'static str = "artifact.discard";
    const RIGHT: Right = Right::Drive;
    type Outcome = Submitted;

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        let revision = match run.discardable(&self.name, self.revision) {
            Ok(revision) => revision,
            Err(why) => return Ok(refused(Stage::Discarded, why, Vec::new())),
        };
        if revision.artifact.stage == Stage::Discarded {
            return Ok(Change::default());
        }
        let body = Body::Artifact(Artifact {
            stage: Stage::Discarded,
            reason: self.reason.clone(),
            ..revision.artifact.clone()
        });
        Ok(Change { bodies: vec![body] })
    }

    fn settled_by(&self, run: &Loaded) -> Option<u64> {
        let discarded = run.discardable(&self.name, self.revision).ok()?;
        Some(discarded.changed)
    }
}

/// Returns the records of a refused operation; other records precede the refusal.
fn refused(stage: Stage, blocker: impl Into<Blocker>, mut bodies: Vec<Body>) -> Change {
    let operation = match stage {
        Stage::Draft => "artifact.draft",
        Stage::Final => "artifact.final",
        Stage::Discarded => "artifact.discard",
    };
    bodies.push(refuse_alone(operation, None, blocker));
    Change { bodies }
}

/// Returns the blocker of a revision that breaks its contract.
fn unfit(artifact: &Artifact) -> ArtifactBlocker {
    ArtifactBlocker::ContractBroken {
        artifact: artifact.name.clone(),
        revision: artifact.revision,
        verdict: artifact.verdict.clone().unwrap_or_default(),
    }
}

impl Loaded {
    /// Returns the contract of an artifact: the definition's, else the one that its kind names.
    ///
    /// Where a definition declares artifacts, a built-in type that isn't among them keeps its own contract.
    ///
    /// # Errors
    ///
    /// The definition's contract can't be understood.
    pub fn contract(&self, name: &str, kind: Option<&str>) -> Result<Option<Contract>, RunError> {
        let invalid = |cause: String| InvalidRequest::Contract {
            artifact: name.to_owned(),
            cause,
        };
        match (
            Contract::for_artifact(&self.workflow, name).map_err(invalid)?,
            kind,
        ) {
            (None, Some(kind)) => Ok(Contract::builtin(kind).map_err(invalid)?),
            (None, None) if !self.known_artifacts().is_empty() => {
                let kind = builtin_type(name);
                let contract = kind.map(|kind| Contract::builtin(&kind)).transpose();
                Ok(contract.map_err(invalid)?.flatten())
            }
            (found, _) => Ok(found),
        }
    }

    fn verdict(
        &self,
        (name, kind): (&str, Option<&str>),
        content: &[u8],
    ) -> Result<Option<Verdict>, RunError> {
        let contract = self.contract(name, kind)?;
        Ok(contract.map(|contract| contract.check(content)))
    }

    /// Returns the artifacts that the workflow knows: those with a contract, and required ones.
    ///
    /// None are known if any may be submitted.
    #[must_use]
    pub fn known_artifacts(&self) -> Vec<String> {
        let declared = self.workflow.meta().get("artifacts");
        let declared = declared.and_then(serde_json::Value::as_object);
        let Some(declared) = declared.filter(|it| !it.is_empty()) else {
            return Vec::new();
        };
        let mut known: Vec<String> = declared.keys().cloned().collect();
        for (id, _) in self.workflow.table().states() {
            let required = self.workflow.state_meta(id).get("requires");
            for name in required_names(required, None) {
                if !known.contains(&name)
                    && Required::find(&self.workflow, &name) == Required::Artifact
                {
                    known.push(name);
                }
            }
        }
        known
    }

    /// Returns the reason that nothing can be done with an artifact of that name.
    fn closed_to(&self, name: &str) -> Option<Blocker> {
        let standstill = self.legality().standstill();
        standstill.or_else(|| self.misnamed(name).map(Blocker::Artifact))
    }

    /// Returns the reason that no artifact of the workflow has a name.
    fn misnamed(&self, name: &str) -> Option<ArtifactBlocker> {
        let characters = name.chars().count();
        if name.is_empty() || characters > MAX_NAME || name.chars().any(char::is_control) {
            return Some(ArtifactBlocker::BadName { characters });
        }
        let known = self.known_artifacts();
        let is_known = known.iter().any(|it| it == name) || builtin_type(name).is_some();
        if !known.is_empty() && !is_known {
            return Some(ArtifactBlocker::Unknown {
                artifact: name.to_owned(),
                workflow: self.workflow.id().to_owned(),
                known,
            });
        }
        // What the definition names, its author has chosen; what is there was looked at when it came.
        if is_known || self.state.artifacts.contains_key(name) {
            return None;
        }
        let mut others = self.state.artifacts.keys();
        let other = others.find(|other| are_confusable(name, other));
        let why = match (describe_oddity(name), other) {
            (Some(why), _) => why.to_owned(),
            (None, Some(other)) => format!("looks like `{other}`"),
            (None, None) => return None,
        };
        let artifact = name.to_owned();
        Some(ArtifactBlocker::OddName { artifact, why })
    }

    fn finalizable(&self, name: &str, wanted: Option<u64>) -> Result<&Revision, Blocker> {
        if let Some(blocker) = self.closed_to(name) {
            return Err(blocker);
        }
        let Some(current) = self.state.current(name) else {
            return Err(no_revision(name).into());
        };
        let newest = current.artifact.revision;
        match wanted.map(|wanted| (wanted, self.state.revision(name, wanted))) {
            None => Ok(current),
            Some((wanted, Some(_))) if wanted == newest => Ok(current),
            Some((wanted, None)) => Err(unknown_revision(name, wanted, newest).into()),
            Some((wanted, Some(found))) => Err(Blocker::Artifact(ArtifactBlocker::NotCurrent {
                artifact: name.to_owned(),
                wanted,
                stage: found.artifact.stage.name(),
                current: newest,
            })),
        }
    }

    fn discardable(&self, name: &str, wanted: Option<u64>) -> Result<&Revision, Blocker> {
        if let Some(blocker) = self.closed_to(name) {
            return Err(blocker);
        }
        if let Some(wanted) = wanted {
            let newest = self.state.artifacts.get(name).and_then(|it| it.last());
            let newest = newest.ok_or_else(|| no_revision(name))?.artifact.revision;
            let found = self.state.revision(name, wanted);
            return found.ok_or_else(|| unknown_revision(name, wanted, newest).into());
        }
        match self.state.current(name) {
            None => Err(no_revision(name).into()),
            Some(current) if current.artifact.stage == Stage::Final => {
                Err(Blocker::Artifact(ArtifactBlocker::NoDraft {
                    artifact: name.to_owned(),
                    revision: current.artifact.revision,
                }))
            }
            Some(current) => Ok(current),
        }
    }
}

/// Returns the blocker of an artifact that has no revision.
fn no_revision(name: &str) -> ArtifactBlocker {
    let artifact = name.to_owned();
    ArtifactBlocker::NoRevision { artifact }
}

/// Returns the blocker of a revision that an artifact doesn't have.
fn unknown_revision(name: &str, wanted: u64, newest: u64) -> ArtifactBlocker {
    let artifact = name.to_owned();
    ArtifactBlocker::UnknownRevision {
        artifact,
        wanted,
        newest,
    }
}

/// Serializes content as its hash: requests are told apart by it.
fn by_hash<S: Serializer>(content: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    Hash::digest(content).serialize(serializer)
}
