//! The fate of an effect.
//!
//! A step names its effects; whoever carries them out says so before and after. Between the two nobody knows, and that is
//! what a second executor, a rewind and a person have to see. An action that its definition calls `idempotent` may be
//! reported when it is done: doing it twice does no harm.

use serde::Serialize;
use serde_json::Value;

use super::operation::{Decide, DecideCx, Right};
use super::order::refuse_alone;
use super::{Change, Loaded, RunError};
use crate::blocker::OperationBlocker;
use crate::body::{Body, Effect, EffectStatus, Refused};
use crate::state::EffectState;

/// The fate of an effect.
#[derive(Clone, Debug, Serialize)]
pub struct ReportEffect {
    /// Its key, as the step names it.
    pub key: String,
    /// The text.
    pub status: EffectStatus,
    /// Further data.
    pub detail: Value,
}

/// An effect that nobody has carried out for certain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenEffect {
    /// Its key.
    pub key: String,
    /// The action's name.
    pub name: String,
    /// The record of its step.
    pub seq: u64,
    /// Its last status; none while nobody has reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<EffectStatus>,
    /// True if doing it twice does no harm.
    pub idempotent: bool,
    /// The key of the effect that it takes back, if that is what it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compensates: Option<String>,
}

/// Says what became of an effect. What can't have become of it is refused.
impl Decide for ReportEffect {
    const NAME: &'static str = "effect";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        let body = reported(run, self);
        Ok(Change { bodies: vec![body] })
    }
}

impl Loaded {
    /// Returns the effects that nobody has carried out for certain, the oldest first.
    #[must_use]
    pub fn open_effects(&self) -> Vec<OpenEffect> {
        let is_open = |effect: &EffectState| {
            matches!(
                effect.status,
                None | Some(EffectStatus::Intended | EffectStatus::Unknown)
            )
        };
        let effects = self.state.effects.iter();
        let mut open: Vec<OpenEffect> = effects
            .filter(|(_, effect)| is_open(effect))
            .map(|(key, effect)| OpenEffect {
                key: key.clone(),
                name: effect.name.clone(),
                seq: effect.seq,
                status: effect.status,
                idempotent: self.is_idempotent(&effect.name),
                compensates: effect.compensates.clone(),
            })
            .collect();
        // Numbers of a step have no leading zeros, so that the longer key is the later one.
        open.sort_by(|one, other| {
            let place = |it: &OpenEffect| (it.seq, it.key.len(), it.key.clone());
            place(one).cmp(&place(other))
        });
        open
    }

    /// Reports whether the definition says that carrying an action out twice does no harm.
    #[must_use]
    pub fn is_idempotent(&self, action: &str) -> bool {
        let meta = self.workflow.action_meta(action);
        meta.get("idempotent") == Some(&Value::Bool(true))
    }

    /// Returns the action that takes another one back, if the definition names one.
    #[must_use]
    pub fn compensation(&self, action: &str) -> Option<&str> {
        let meta = self.workflow.action_meta(action);
        meta.get("compensate").and_then(Value::as_str)
    }
}

fn reported(loaded: &Loaded, report: &ReportEffect) -> Body {
    let key = &report.key;
    let on = || Some(key.clone());
    let Some(effect) = loaded.state.effects.get(key) else {
        return refuse_alone("effect", on(), unknown(loaded, key));
    };
    let next = next_statuses(effect, loaded.is_idempotent(&effect.name));
    if next.contains(&report.status) {
        return Body::Effect(Effect {
            key: key.clone(),
            name: effect.name.clone(),
            status: report.status,
            detail: report.detail.clone(),
        });
    }
    let blocker = OperationBlocker::EffectOrder {
        key: key.clone(),
        before: effect.status,
        status: report.status,
    };
    let refused = refuse_alone("effect", on(), blocker);
    match refused {
        Body::Refused(refused) => Body::Refused(Refused {
            legal: next.iter().map(|it| it.name().to_owned()).collect(),
            ..refused
        }),
        other => other,
    }
}

/// Returns the statuses that can follow.
const fn next_statuses(effect: &EffectState, idempotent: bool) -> &'static [EffectStatus] {
    use EffectStatus::{Compensated, Failed, Intended, Succeeded, Unknown};
    match effect.status {
        None if idempotent => &[Intended, Succeeded, Failed],
        // What has failed has done nothing, and may be tried again.
        None | Some(Failed) => &[Intended],
        Some(Intended) => &[Succeeded, Failed, Unknown],
        Some(Unknown) => &[Succeeded, Failed],
        Some(Succeeded) if effect.compensates.is_none() => &[Compensated],
        Some(Succeeded | Compensated) => &[],
    }
}

/// Returns the blocker of an effect that the run doesn't have.
fn unknown(loaded: &Loaded, key: &str) -> OperationBlocker {
    let mut parts = key.rsplitn(3, ':');
    let (number, seq, run) = (parts.next(), parts.next(), parts.next());
    let number = number.and_then(|it| it.parse::<u64>().ok());
    let seq = seq.and_then(|it| it.parse::<u64>().ok());
    let name = key.to_owned();
    match (run, seq, number) {
        (Some(run), Some(_), Some(_)) if run != loaded.run.as_str() => {
            let run = run.to_owned();
            OperationBlocker::OtherRun { key: name, run }
        }
        (Some(_), Some(seq), Some(_)) if seq <= loaded.head.seq => {
            OperationBlocker::EffectTakenBack { key: name, seq }
        }
        _ => {
            let open = loaded.open_effects().into_iter().map(|it| it.key);
            let open = open.collect();
            OperationBlocker::UnknownEffect { key: name, open }
        }
    }
}
