//! Why the last thing that was asked of a run was refused, and what to do instead.

use super::{Call, Reason};
use crate::body::{EffectStatus, Refused, Subject};
use crate::runs::{Loaded, RunError};
use crate::summary;

impl Loaded {
    /// The refusal that nothing has come behind, if there is one.
    pub(super) fn was_refused(&self) -> Result<Option<Reason>, RunError> {
        let Some((seq, refused)) = &self.state.refused else {
            return Ok(None);
        };
        let subject = summary::subject(&refused.subject);
        Ok(Some(Reason {
            code: "refused",
            text: format!("{subject} was refused (record {seq}): {}", refused.reason),
            next: self.instead_of(refused)?,
        }))
    }

    /// What to do instead of what was refused, as the run is now.
    fn instead_of(&self, refused: &Refused) -> Result<Option<Call>, RunError> {
        let state = &self.state;
        let still = self.at_rest(state.status());
        if let (Some(still), false) = (still.first(), is_of_time(&refused.subject)) {
            return Ok(still.next.clone());
        }
        Ok(match &refused.subject {
            Subject::Event { name, .. } => {
                let mut about = self.about(name)?.into_iter();
                about.find_map(|it| it.next)
            }
            Subject::Request { name, .. } => {
                let request = state.requests.get(name);
                let open = request.filter(|it| it.resolved.is_none());
                match open.or_else(|| state.open_requests().into_iter().next()) {
                    Some(request) => Some(self.settle(&request.opened)),
                    None => self.other_than(""),
                }
            }
            Subject::Step { name, .. } => self.instead_of_step(name, &refused.code)?,
            Subject::Tool { .. } => self.other_than(""),
            Subject::Operation { name, on } => {
                self.instead_of_operation(name, on.as_deref(), &refused.code)
            }
        })
    }

    fn instead_of_step(&self, step: &str, code: &str) -> Result<Option<Call>, RunError> {
        if let Some(call) = self.out_of_the_way() {
            return Ok(Some(call));
        }
        if code == "unit_first" {
            let step = step.to_owned();
            return Ok(Some(Call::Report { step }));
        }
        if code == "ambiguous_step" {
            return Ok(self.other_than(""));
        }
        // A step that a report would enter, else the one that is active.
        let table = self.workflow.table();
        let is_visible = |name: &&String| {
            let mut visible = self.workflow.visible_states();
            visible.any(|(_, it)| it == name.as_str())
        };
        let enabled = self.legal()?.into_iter().filter(|it| it.enabled);
        let single = enabled.filter_map(|it| match it.to.as_slice() {
            [to] if table.state_named(to).is_some() => Some(to.clone()),
            _ => None,
        });
        // Where a step waits for another run, that one goes on first.
        if let Some(run) = self.open_children().first() {
            let run = run.to_string();
            return Ok(Some(Call::Look { run }));
        }
        let active = self.state.leaves.iter().filter(is_visible).cloned();
        let mut steps = active.chain(single.collect::<Vec<_>>());
        Ok(steps.next().map(|step| Call::Report { step }))
    }

    fn instead_of_operation(&self, name: &str, on: Option<&str>, code: &str) -> Option<Call> {
        match (name, code) {
            (_, "restoring") => Some(Call::Restore),
            ("rewind", "no_token" | "stale_token") => {
                let to = on?.strip_prefix("record ")?.parse().ok()?;
                Some(Call::Rewind { to, force: false })
            }
            ("rewind", "effects_left") => {
                let to = on?.strip_prefix("record ")?.parse().ok()?;
                let unknown = self.state.effects.iter().find(|(_, it)| {
                    let open = [EffectStatus::Intended, EffectStatus::Unknown].map(Some);
                    it.seq > to && open.contains(&it.status)
                });
                Some(match unknown {
                    Some((key, _)) => Call::Effect { key: key.clone() },
                    None => Call::Rewind { to, force: true },
                })
            }
            ("continue", "not_a_person") => Some(Call::Continue),
            ("effect", "effect_order") => {
                let key = on?;
                let open = self.open_effects();
                open.iter().any(|it| it.key == key).then(|| Call::Effect {
                    key: key.to_owned(),
                })
            }
            _ => self.out_of_the_way().or_else(|| self.other_than("")),
        }
    }
}

/// Whether it is done to a run that stands still, too.
fn is_of_time(subject: &Subject) -> bool {
    matches!(subject, Subject::Operation { name, .. } if name == "rewind" || name == "effect")
}
