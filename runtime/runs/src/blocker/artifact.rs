//! Reasons that an artifact can't be submitted, finalized or discarded.

use crate::blocker::code::Code;
use crate::body::{Finding, Verdict};
use crate::id::MAX_NAME;
use crate::phrase::list;

/// Most findings in a message. Unit: findings. Why: it is a sentence, and the revision has them all.
const MAX_FINDINGS: usize = 3;

/// A reason that an artifact can't be submitted, finalized or discarded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactBlocker {
    /// A revision breaks its contract.
    #[error(
        "revision {revision} of `{artifact}` stays a draft, since it isn't as its contract says: {}; edit it, or hand in another",
        findings(verdict)
    )]
    ContractBroken {
        /// The artifact.
        artifact: String,
        /// The revision.
        revision: u64,
        /// The contract's verdict.
        verdict: Verdict,
    },
    /// The name can't be an artifact's.
    #[error(
        "an artifact's name has 1 to {MAX_NAME} characters and no control characters; this has {characters}"
    )]
    BadName {
        /// The number of its characters.
        characters: usize,
    },
    /// The name can be taken for another.
    #[error("the artifact's name `{artifact}` {why}: name it so that nobody takes it for another")]
    OddName {
        /// The name.
        artifact: String,
        /// The oddity, as a clause about the name.
        why: String,
    },
    /// The workflow has no such artifact.
    #[error("`{workflow}` has no artifact `{artifact}`; it has {}", list(known))]
    Unknown {
        /// The artifact.
        artifact: String,
        /// The workflow.
        workflow: String,
        /// Its artifacts.
        known: Vec<String>,
    },
    /// Nothing was submitted under the name.
    #[error("there is no revision of `{artifact}`: hand one in")]
    NoRevision {
        /// The artifact.
        artifact: String,
    },
    /// The artifact has no such revision.
    #[error("`{artifact}` has no revision {wanted}; the newest is {newest}")]
    UnknownRevision {
        /// The artifact.
        artifact: String,
        /// The revision.
        wanted: u64,
        /// The newest revision.
        newest: u64,
    },
    /// A revision isn't the current one.
    #[error("revision {wanted} of `{artifact}` ({stage}) isn't the current one: that is {current}")]
    NotCurrent {
        /// The artifact.
        artifact: String,
        /// The revision.
        wanted: u64,
        /// Its stage.
        stage: &'static str,
        /// The current revision.
        current: u64,
    },
    /// There is no draft to discard.
    #[error(
        "`{artifact}` has no draft to discard; revision {revision} is final: name it to discard that"
    )]
    NoDraft {
        /// The artifact.
        artifact: String,
        /// The final revision.
        revision: u64,
    },
    /// A revision is a file elsewhere.
    #[error("revision {revision} of `{artifact}` is a file: its content isn't here")]
    NoContent {
        /// The artifact.
        artifact: String,
        /// The revision.
        revision: u64,
    },
    /// A revision isn't a text.
    #[error("revision {revision} of `{artifact}` is no text: hand in another whole")]
    NotText {
        /// The artifact.
        artifact: String,
        /// The revision.
        revision: u64,
    },
    /// An edit replaces nothing.
    #[error("change {number} has no old text")]
    EmptyEdit {
        /// The number of the edit, from 1.
        number: u64,
    },
    /// An edit's old text isn't in the revision.
    #[error(
        "change {number} isn't there: nothing in revision {revision} of `{artifact}` is `{old}`"
    )]
    NoMatch {
        /// The number of the edit, from 1.
        number: u64,
        /// The artifact.
        artifact: String,
        /// The revision.
        revision: u64,
        /// The old text, shortened.
        old: String,
    },
    /// An edit's old text is in the revision more than once.
    #[error(
        "change {number} could be made in several places: `{old}` stands there more than once; take more of what is around it"
    )]
    Ambiguous {
        /// The number of the edit, from 1.
        number: u64,
        /// The old text, shortened.
        old: String,
    },
    /// The content is too large.
    #[error(
        "`{artifact}` would have {size} bytes; most are {max}: shorten it, or split it into several artifacts"
    )]
    TooLarge {
        /// The artifact.
        artifact: String,
        /// The size of the content. Unit: bytes.
        size: usize,
        /// The most bytes.
        max: usize,
    },
    /// The revision that another was made from doesn't exist.
    #[error("there is no revision {base} of `{artifact}` to be changed: hand in a first one")]
    NoBase {
        /// The artifact.
        artifact: String,
        /// The revision.
        base: u64,
    },
    /// The revision that another was made from isn't the current one.
    #[error(
        "revision {base} of `{artifact}` isn't the current one any more: read revision {current} ({stage}), and change that"
    )]
    StaleBase {
        /// The artifact.
        artifact: String,
        /// The revision.
        base: u64,
        /// The current revision.
        current: u64,
        /// Its stage.
        stage: &'static str,
    },
}

impl ArtifactBlocker {
    pub(super) const fn code(&self) -> Code {
        match self {
            Self::ContractBroken { .. } => Code::ContractBroken,
            Self::BadName { .. } | Self::OddName { .. } => Code::BadName,
            Self::Unknown { .. } => Code::UnknownArtifact,
            Self::NoRevision { .. } | Self::UnknownRevision { .. } => Code::NoRevision,
            Self::NotCurrent { .. } => Code::NotCurrent,
            Self::NoDraft { .. } => Code::NoDraft,
            Self::NoContent { .. } => Code::NoContent,
            Self::NotText { .. } => Code::NotText,
            Self::EmptyEdit { .. } | Self::NoMatch { .. } => Code::NoMatch,
            Self::Ambiguous { .. } => Code::Ambiguous,
            Self::TooLarge { .. } => Code::TooLarge,
            Self::NoBase { .. } | Self::StaleBase { .. } => Code::StaleBase,
        }
    }
}

fn findings(verdict: &Verdict) -> String {
    let shown = verdict.findings.iter().take(MAX_FINDINGS);
    let shown: Vec<String> = shown
        .map(|Finding { line, what, .. }| format!("line {line}: {what}"))
        .collect();
    let rest = verdict.findings.len().saturating_sub(shown.len());
    let rest = verdict
        .more
        .saturating_add(u64::try_from(rest).unwrap_or(u64::MAX));
    let more = match rest {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", shown.join("; "))
}
