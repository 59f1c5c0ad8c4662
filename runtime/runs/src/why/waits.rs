//! What a run waits for.

use super::{Call, Reason};
use crate::body::{EffectStatus, Opened, RequestKind};
use crate::runs::Loaded;
use crate::state::WaitingFor;

impl Loaded {
    /// What it waits for, and what is still to come behind that.
    pub(super) fn waits(&self) -> Vec<Reason> {
        let waits = self.state.waiting_for().into_iter();
        let mut reasons: Vec<Reason> = waits.filter_map(|it| self.wait(it)).collect();
        for request in self.state.open_requests() {
            let opened = &request.opened;
            if opened.kind != RequestKind::Approval && !opened.blocking {
                reasons.push(Reason {
                    code: "question_open",
                    text: format!(
                        "it asks {}, and goes on meanwhile: {}",
                        request.who_may_answer(),
                        opened.prompt
                    ),
                    next: Some(self.settle(opened)),
                });
            }
        }
        for queued in &self.state.queue {
            reasons.push(Reason {
                code: "queued",
                text: format!(
                    "`{}` has come, and is taken once nothing is in its way",
                    queued.event
                ),
                next: self.out_of_the_way(),
            });
        }
        for (key, effect) in &self.state.effects {
            let name = &effect.name;
            let text = match effect.status {
                Some(EffectStatus::Intended) => format!(
                    "`{name}` (`{key}`) is being carried out, or whoever was about to has died: it isn't known what became of it"
                ),
                Some(EffectStatus::Unknown) => {
                    format!("nobody knows whether `{name}` (`{key}`) has happened")
                }
                _ => continue,
            };
            reasons.push(Reason {
                code: "effect_unknown",
                text,
                next: Some(Call::Effect { key: key.clone() }),
            });
        }
        reasons
    }

    fn wait(&self, waits: WaitingFor) -> Option<Reason> {
        Some(match waits {
            WaitingFor::Approval { request } => {
                let request = self.state.requests.get(&request)?;
                let opened = &request.opened;
                let what = opened.event.as_ref();
                let what = what.map_or_else(String::new, |it| format!(" `{}`", it.event));
                let (who, prompt) = (request.who_may_answer(), &opened.prompt);
                Reason {
                    code: "approval_open",
                    text: format!("it waits until {who} approves{what} or denies it: {prompt}"),
                    next: Some(self.settle(opened)),
                }
            }
            WaitingFor::Question { request } => {
                let request = self.state.requests.get(&request)?;
                let opened = &request.opened;
                let (who, prompt) = (request.who_may_answer(), &opened.prompt);
                Reason {
                    code: "question_blocks",
                    text: format!("it waits until {who} answers: {prompt}"),
                    next: Some(self.settle(opened)),
                }
            }
            WaitingFor::Step { step } => {
                let own = self.state.steps.get(&step).and_then(|units| units.get(""));
                let words = own.and_then(|it| it.message.as_ref());
                let words = words.map_or_else(String::new, |text| format!(": {text}"));
                Reason {
                    code: "step_waits",
                    text: format!("`{step}` was reported to wait{words}"),
                    next: Some(Call::Report { step }),
                }
            }
            // What is known begins at once.
            WaitingFor::Workflow { workflow, .. } if self.state.invokes.contains_key(&workflow) => {
                return None;
            }
            WaitingFor::Workflow { workflow, step } => Reason {
                code: "child_unknown",
                text: format!(
                    "`{step}` invokes `{workflow}`, which no spec has had yet: its run begins with the next report that is made where a spec has it"
                ),
                next: None,
            },
            WaitingFor::Child { run } => {
                let child = self.state.children.get(&run);
                let step = child.and_then(|it| it.step.as_deref()).unwrap_or_default();
                Reason {
                    code: "child_runs",
                    text: format!("`{step}` waits for its child run `{run}`"),
                    next: Some(Call::Look { run }),
                }
            }
        })
    }

    /// What settles a request: nobody can while the run is paused.
    pub(super) fn settle(&self, opened: &Opened) -> Call {
        if self.state.paused.is_some() {
            return Call::Continue;
        }
        settle(opened)
    }

    /// What lets go on what waits behind something.
    pub(super) fn out_of_the_way(&self) -> Option<Call> {
        if self.state.restoring.is_some() {
            return Some(Call::Restore);
        }
        if self.state.paused.is_some() {
            return Some(Call::Continue);
        }
        self.state.held_by().map(|it| self.settle(&it.opened))
    }
}

/// How a request is settled.
fn settle(opened: &Opened) -> Call {
    let request = opened.request.clone();
    match opened.kind {
        RequestKind::Approval | RequestKind::Confirm | RequestKind::Review => {
            Call::Approve { request }
        }
        RequestKind::Select | RequestKind::Text | RequestKind::Json => Call::Answer { request },
    }
}
