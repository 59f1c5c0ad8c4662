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

pub use edit::{Edit, EditArtifact};
pub use hand_in::PutArtifact;
pub use read::{ArtifactText, Submitted};

use super::operation::{Decide, DecideCx, Right};
use super::refusal::refusal;
use super::seal::Redact;
use super::{Change, Loaded, RunError, list};
use crate::blocker::Surface;
use crate::body::{Artifact, Body, Stage, Verdict};
use crate::contract::Contract;
use crate::hash::Hash;
use crate::id::MAX_NAME;
use crate::legality::{Required, required_names};
use crate::state::Revision;

/// Largest artifact. Unit: bytes. Why: people review artifacts, and a record of several of them is read at once.
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
    /// Why.
    pub reason: Option<String>,
}

/// Why something isn't done with an artifact: for programs, and for people.
type Refusal = (&'static str, String);

/// Makes a draft final, if it is as its contract says now. One that is final already is answered as then.
impl Decide for FinalizeArtifact {
    const NAME: &'static str = "artifact.final";
    type Outcome = Submitted;

    fn right(&self) -> Right {
        Right::Drive
    }

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
    type Outcome = Submitted;

    fn right(&self) -> Right {
        Right::Drive
    }

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

impl Redact for FinalizeArtifact {}
impl Redact for DiscardArtifact {}

/// Something isn't done; what is recorded beside the refusal comes first.
fn refused(stage: Stage, (code, reason): Refusal, mut bodies: Vec<Body>) -> Change {
    let operation = match stage {
        Stage::Draft => "artifact.draft",
        Stage::Final => "artifact.final",
        Stage::Discarded => "artifact.discard",
    };
    bodies.push(refusal(operation, None, code, reason, &[]));
    Change { bodies }
}

/// That a revision isn't as its contract says, and where.
fn unfit(artifact: &Artifact) -> Refusal {
    let (name, revision) = (&artifact.name, artifact.revision);
    let verdict = artifact.verdict.clone().unwrap_or_default();
    let told: Vec<String> = verdict.findings.iter().take(3).map(told).collect();
    let count = verdict.findings.len().saturating_sub(told.len());
    let count = verdict
        .more
        .saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
    let more = match count {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let reason = format!(
        "revision {revision} of `{name}` stays a draft, since it isn't as its contract says: {}{more}; edit it, or hand in another",
        told.join("; ")
    );
    ("contract_broken", reason)
}

/// A finding in a line.
fn told(finding: &crate::body::Finding) -> String {
    format!("line {}: {}", finding.line, finding.what)
}

impl Loaded {
    /// The contract of an artifact: the definition's, else the one that its kind names; none if it has none.
    ///
    /// # Errors
    ///
    /// The definition's contract can't be understood.
    pub fn contract(&self, name: &str, kind: Option<&str>) -> Result<Option<Contract>, RunError> {
        let invalid = |error: String| RunError::Invalid {
            what: format!("the contract of `{name}` in the definition can't be used: {error}"),
        };
        match (
            Contract::for_artifact(&self.workflow, name).map_err(invalid)?,
            kind,
        ) {
            (None, Some(kind)) => Contract::builtin(kind).map_err(invalid),
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

    /// The artifacts that the workflow knows: those with a contract, and those that a state requires. None are known if
    /// any may be handed in.
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
                if !known.contains(&name) && self.legality().required(&name) == Required::Artifact {
                    known.push(name);
                }
            }
        }
        known
    }

    /// Why nothing at all can be done with an artifact of that name.
    fn closed_to(&self, name: &str) -> Option<Refusal> {
        let standstill = self.legality().standstill();
        let standstill = standstill.map(|it| (it.code(Surface::Refusal), it.message()));
        standstill.or_else(|| self.misnamed(name))
    }

    /// Why no artifact of the workflow is called so.
    fn misnamed(&self, name: &str) -> Option<Refusal> {
        let characters = name.chars().count();
        if name.is_empty() || characters > MAX_NAME || name.chars().any(char::is_control) {
            let reason = format!(
                "an artifact's name has 1 to {MAX_NAME} characters and no control characters; this has {characters}"
            );
            return Some(("bad_name", reason));
        }
        let known = self.known_artifacts();
        if !known.is_empty() && !known.iter().any(|it| it == name) {
            let id = self.workflow.id();
            let reason = format!("`{id}` has no artifact `{name}`; it has {}", list(&known));
            return Some(("unknown_artifact", reason));
        }
        None
    }

    fn finalizable(&self, name: &str, wanted: Option<u64>) -> Result<&Revision, Refusal> {
        if let Some(why) = self.closed_to(name) {
            return Err(why);
        }
        let Some(current) = self.state.current(name) else {
            return Err(nothing(name));
        };
        let newest = current.artifact.revision;
        match wanted.map(|wanted| (wanted, self.state.revision(name, wanted))) {
            None => Ok(current),
            Some((wanted, Some(_))) if wanted == newest => Ok(current),
            Some((wanted, None)) => Err(no_revision(name, wanted, newest)),
            Some((wanted, Some(found))) => {
                let stage = found.artifact.stage.name();
                let reason = format!(
                    "revision {wanted} of `{name}` ({stage}) isn't the current one: that is {newest}"
                );
                Err(("not_current", reason))
            }
        }
    }

    fn discardable(&self, name: &str, wanted: Option<u64>) -> Result<&Revision, Refusal> {
        if let Some(why) = self.closed_to(name) {
            return Err(why);
        }
        if let Some(wanted) = wanted {
            let newest = self.state.artifacts.get(name).and_then(|it| it.last());
            let newest = newest.ok_or_else(|| nothing(name))?.artifact.revision;
            let found = self.state.revision(name, wanted);
            return found.ok_or_else(|| no_revision(name, wanted, newest));
        }
        match self.state.current(name) {
            None => Err(nothing(name)),
            Some(current) if current.artifact.stage == Stage::Final => {
                let revision = current.artifact.revision;
                let reason = format!(
                    "`{name}` has no draft to discard; revision {revision} is final: name it to discard that"
                );
                Err(("no_draft", reason))
            }
            Some(current) => Ok(current),
        }
    }
}

fn nothing(name: &str) -> Refusal {
    let reason = format!("there is no revision of `{name}`: hand one in");
    ("no_revision", reason)
}

fn no_revision(name: &str, wanted: u64, newest: u64) -> Refusal {
    let reason = format!("`{name}` has no revision {wanted}; the newest is {newest}");
    ("no_revision", reason)
}

/// Content in what tells one request from another: its hash.
fn by_hash<S: Serializer>(content: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    Hash::digest(content).serialize(serializer)
}
