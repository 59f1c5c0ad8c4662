//! Remedies of blockers.

use super::{Blocker, Code, Missing, MissingArtifact, Path, PendingRequest};
use crate::body::{EffectStatus, Refused, RequestKind, Subject};
use crate::explain;
use crate::internal::{DENIED, EXPIRED, SENT_BACK};
use crate::legality::Legality;
use crate::loaded::Loaded;
use crate::remedy::Remedy;

impl Blocker {
    /// Returns the action that takes the blocker away from a run as it is now; none if nobody outside can.
    #[must_use]
    pub fn remedy(&self, run: &Loaded) -> Option<Remedy> {
        let legality = Legality::new(run);
        match self {
            Self::Restoring { .. } => Some(Remedy::Restore),
            Self::Paused { .. } => Some(Remedy::Continue),
            Self::Cancelled { .. } | Self::Ended { .. } => Some(Remedy::Start {
                workflow: run.state.workflow.clone(),
            }),
            Self::RequestPending { request, .. } | Self::RequestFirst { request } => {
                Some(request.remedy(run))
            }
            Self::StepWaiting { step, .. } => Some(Remedy::Report { step: step.clone() }),
            Self::ChildRunning { run, .. } | Self::ChildOutcome { run: Some(run), .. } => {
                Some(Remedy::Look { run: run.clone() })
            }
            Self::EffectUnknown { key, .. } => Some(Remedy::Effect { key: key.clone() }),
            Self::Queued { .. } | Self::TimerPending { held: true, .. } => hold_remedy(run),
            Self::TimerPending { due, .. } => Some(Remedy::Wait { until: *due }),
            Self::CallsSpent { .. } => legality.any_event(),
            Self::VisitLimit { event, .. } => legality.event_other_than(event),
            Self::EventAwaited { event, .. } => Some(legality.sending(event)),
            Self::EventCaught { event, .. } => Some(Remedy::Send {
                event: event.clone(),
                fields: Vec::new(),
                claims: Vec::new(),
            }),
            Self::ClaimsNeeded { event, paths } => Some(Remedy::Send {
                event: event.clone(),
                fields: legality.required_fields(event),
                claims: paths.first()?.claims.clone(),
            }),
            Self::LastRefused { subject, code, .. } => after_refusal(run, subject, code),
            Self::UnknownEvent {
                event, suggestion, ..
            } => {
                let enabled = legality.enabled_events();
                let suggestion = suggestion.as_ref().filter(|it| enabled.contains(it));
                match suggestion {
                    Some(suggestion) => Some(legality.sending(suggestion)),
                    None => legality.event_other_than(event),
                }
            }
            Self::AmbiguousEvent { choices, .. } => Some(Remedy::OneOf {
                remedies: choices.iter().map(|it| legality.sending(it)).collect(),
            }),
            Self::InternalEvent { event, path, .. } => match path {
                Path::Unexplored => raising(run, event),
                path => path.remedy(run),
            },
            Self::NotHere { path, .. } => path.remedy(run),
            Self::GuardFalse { event, unmet, .. } => legality.toward_guard(event, unmet),
            Self::Requires { event, missing } => missing.first()?.remedy(event, run),
            Self::ChildUnknown { .. }
            | Self::ChildOutcome { run: None, .. }
            | Self::DeadEnd { .. }
            | Self::UnknownClaim { .. }
            | Self::Preceded { .. }
            | Self::BadData { .. }
            | Self::ApprovalOutdated { .. }
            | Self::ApprovalOverOther { .. }
            | Self::Report(_)
            | Self::Request(_)
            | Self::Artifact(_)
            | Self::Operation(_) => None,
        }
    }
}

impl Refused {
    /// Returns the action to take instead of the refused one; none if nobody outside can do anything.
    #[must_use]
    pub fn remedy(&self, run: &Loaded) -> Option<Remedy> {
        after_refusal(run, &self.subject, &self.code)
    }
}

impl Missing {
    /// Returns what provides it for an event; none for a fact that the event can't bring.
    fn remedy(&self, event: &str, run: &Loaded) -> Option<Remedy> {
        Some(match self {
            Self::Artifact {
                name,
                status: MissingArtifact::Draft { revision },
            } => Remedy::FinalizeArtifact {
                artifact: name.clone(),
                revision: *revision,
            },
            Self::Artifact { name, .. } => Remedy::SubmitArtifact {
                artifact: name.clone(),
            },
            Self::Check { name, .. } => Remedy::RunCheck {
                check: name.clone(),
            },
            Self::Fact { name, .. } => {
                let legality = Legality::new(run);
                let mut fields = legality.required_fields(event);
                let field = legality.sendable(event, name)?;
                if !fields.contains(&field) {
                    fields.push(field);
                }
                let event = event.to_owned();
                let claims = Vec::new();
                Remedy::Send {
                    event,
                    fields,
                    claims,
                }
            }
        })
    }
}

impl Path {
    fn remedy(&self, run: &Loaded) -> Option<Remedy> {
        match self {
            Self::Through { first, .. } => first.remedy(run),
            Self::Unexplored | Self::Missing => None,
        }
    }
}

impl PendingRequest {
    /// Returns what settles the request: nobody can while the run is paused.
    fn remedy(&self, run: &Loaded) -> Remedy {
        let request = self.id.clone();
        unless_paused(
            run,
            match self.kind {
                RequestKind::Approval | RequestKind::Confirm | RequestKind::Review => {
                    Remedy::Approve { request }
                }
                RequestKind::Select | RequestKind::Text | RequestKind::Json => {
                    Remedy::Answer { request }
                }
            },
        )
    }
}

/// Returns a person's remedy; nobody decides while the run is paused.
fn unless_paused(run: &Loaded, remedy: Remedy) -> Remedy {
    match run.state.paused {
        Some(_) => Remedy::Continue,
        None => remedy,
    }
}

/// Returns what lets events be taken that wait until nothing blocks them.
fn hold_remedy(run: &Loaded) -> Option<Remedy> {
    if run.state.restoring.is_some() {
        return Some(Remedy::Restore);
    }
    if run.state.paused.is_some() {
        return Some(Remedy::Continue);
    }
    let request = run.state.held_by()?;
    Some(PendingRequest::new(request).remedy(run))
}

/// Returns what makes the run raise an internal event, if somebody can do something about it now.
fn raising(run: &Loaded, event: &str) -> Option<Remedy> {
    let open = |kind| {
        let mut open = run.state.open_requests().into_iter();
        open.find_map(|it| (it.opened.kind == kind).then(|| it.opened.request.clone()))
    };
    match event {
        SENT_BACK => Some(match open(RequestKind::Review) {
            Some(request) => unless_paused(run, Remedy::SendBack { request }),
            None => Remedy::AskReview,
        }),
        DENIED => match open(RequestKind::Approval) {
            Some(request) => Some(unless_paused(run, Remedy::Deny { request })),
            None => {
                let legality = Legality::new(run);
                let mut transitions = legality.transitions().ok()?.into_iter();
                let approved = transitions.find(|it| it.enabled && it.requires_approval)?;
                Some(legality.sending(&approved.event))
            }
        },
        EXPIRED => {
            let open = run.state.open_requests().into_iter();
            let until = open.filter_map(|it| it.opened.expires).min()?;
            Some(Remedy::Wait { until })
        }
        _ => None,
    }
}

/// Returns the action to take instead of a refused one, as the run is now.
fn after_refusal(run: &Loaded, subject: &Subject, code: &str) -> Option<Remedy> {
    let code = Code::from_name(code);
    let legality = Legality::new(run);
    if let Some(standstill) =
        explain::standstill(run).filter(|_| !is_allowed_at_standstill(subject))
    {
        return standstill.remedy(run);
    }
    match subject {
        Subject::Event { name, .. } => {
            let mut blockers = explain::event(run, name).ok()?;
            if code == Some(Code::ClaimNeeded) {
                // Without claims the event may be taken, too, but it leads elsewhere.
                blockers.sort_by_key(|it| !matches!(it, Blocker::ClaimsNeeded { .. }));
            }
            blockers.iter().find_map(|it| it.remedy(run))
        }
        Subject::Request { name, .. } => {
            let request = run.state.requests.get(name);
            let open = request.filter(|it| it.resolved.is_none());
            match open.or_else(|| run.state.open_requests().into_iter().next()) {
                Some(request) => Some(PendingRequest::new(request).remedy(run)),
                None => legality.any_event(),
            }
        }
        Subject::Step { .. } => after_report(run, code),
        Subject::Tool { .. } => legality.any_event(),
        Subject::Operation { on, .. } => after_operation(run, on.as_deref(), code),
    }
}

/// Reports whether a refused operation is one that a run takes even where nothing moves it on.
fn is_allowed_at_standstill(subject: &Subject) -> bool {
    matches!(subject, Subject::Operation { name, .. } if name == "rewind" || name == "effect")
}

/// Returns what to do after a refused report on a step.
fn after_report(run: &Loaded, code: Option<Code>) -> Option<Remedy> {
    if let Some(remedy) = hold_remedy(run) {
        return Some(remedy);
    }
    let legality = Legality::new(run);
    if code == Some(Code::AmbiguousStep) {
        return legality.any_event();
    }
    // Where a step waits for another run, that one goes on first.
    if let Some(child) = run.open_children().first() {
        let run = child.to_string();
        return Some(Remedy::Look { run });
    }
    // The active step, or one that a report would enter.
    let is_visible = |name: &&String| {
        let mut visible = run.workflow.visible_states();
        visible.any(|(_, state)| state == name.as_str())
    };
    if let Some(step) = run.state.leaves.iter().find(is_visible) {
        return Some(Remedy::Report { step: step.clone() });
    }
    let table = run.workflow.table();
    let enabled = legality
        .transitions()
        .ok()?
        .into_iter()
        .filter(|it| it.enabled);
    let mut targets = enabled.filter_map(|legal| match legal.to.as_slice() {
        [to] if table.state_named(to).is_some() => Some(to.clone()),
        _ => None,
    });
    targets.next().map(|step| Remedy::Report { step })
}

/// Returns the action to take after a refused operation, by its subject and the refusal's code.
fn after_operation(run: &Loaded, on: Option<&str>, code: Option<Code>) -> Option<Remedy> {
    let record = || on?.strip_prefix("record ")?.parse::<u64>().ok();
    match code {
        Some(Code::Restoring) => Some(Remedy::Restore),
        Some(Code::NoToken | Code::StaleToken) => Some(Remedy::Rewind {
            to: record()?,
            force: false,
        }),
        Some(Code::EffectsLeft) => {
            let to = record()?;
            let mut effects = run.state.effects.iter();
            let unknown = effects.find(|(_, effect)| {
                let open = [EffectStatus::Intended, EffectStatus::Unknown].map(Some);
                effect.seq > to && open.contains(&effect.status)
            });
            Some(match unknown {
                Some((key, _)) => Remedy::Effect { key: key.clone() },
                None => Remedy::Rewind { to, force: true },
            })
        }
        Some(Code::EffectOrder) => {
            let key = on?;
            let open = run.open_effects();
            open.iter().any(|it| it.key == key).then(|| Remedy::Effect {
                key: key.to_owned(),
            })
        }
        _ => hold_remedy(run).or_else(|| Legality::new(run).any_event()),
    }
}
