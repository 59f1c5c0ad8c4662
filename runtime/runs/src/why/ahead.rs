//! What could come next.

use serde_json::Value;

use super::{Call, Reason};
use crate::runs::{Held, Legal, Loaded, Required, RunError, list};

impl Loaded {
    /// What could come next, when nobody asks about an event. What waits behind a request isn't told: the request is.
    pub(super) fn ahead(&self) -> Result<Vec<Reason>, RunError> {
        let mut reasons = self.spent_calls();
        for it in self.legal()? {
            if self.in_the_way(&it.event).is_none() {
                reasons.push(self.of_legal(&it)?);
            }
        }
        reasons.sort_by_key(|reason| reason.code != "can_be_sent");
        reasons.extend(self.sent_back()?);
        let held = self.out_of_the_way().is_some();
        for timer in &self.state.timers {
            let Some(name) = timer.name.strip_prefix("timer:") else {
                continue;
            };
            reasons.push(if held {
                Reason {
                    code: "timer_held",
                    text: format!("`{name}` comes when it is due and nothing is in its way"),
                    next: self.out_of_the_way(),
                }
            } else {
                Reason {
                    code: "timer_pending",
                    text: format!("`{name}` comes when its time is over"),
                    next: Some(Call::Wait { until: timer.due }),
                }
            });
        }
        if reasons.is_empty() && self.state.waiting_for().is_empty() {
            let leaves = list(&self.state.leaves);
            reasons.push(Reason {
                code: "dead_end",
                text: format!("nothing leads out of {leaves}, and it is no end"),
                next: None,
            });
        }
        Ok(reasons)
    }

    /// What an event that the machine knows here would do, or why it isn't taken.
    pub(super) fn of_legal(&self, legal: &Legal) -> Result<Reason, RunError> {
        let event = &legal.event;
        let (to, would) = if legal.to.is_empty() {
            ("stays".to_owned(), "would stay".to_owned())
        } else {
            let to = list(&legal.to);
            (format!("leads to {to}"), format!("would lead to {to}"))
        };
        if let Some(held) = &legal.held_by {
            return self.limited(legal, held);
        }
        if let Some(first) = legal.lacks.first() {
            return Ok(self.without(legal, first, &would));
        }
        let mut fields = self.required_of(event);
        let (code, text) = match (legal.enabled, legal.holds) {
            (true, _) if legal.requires_approval => {
                let text = format!("`{event}` {to}, once a person has approved it");
                ("can_be_sent", text)
            }
            (true, _) => ("can_be_sent", format!("`{event}` {to}")),
            (false, true) => {
                let from = &legal.from;
                let text = format!("`{event}` from `{from}` comes behind another transition");
                ("preceded", text)
            }
            (false, false) => {
                let unmet: Vec<String> = legal.unmet.iter().map(|it| it.told()).collect();
                let unmet = unmet.join(", ");
                let text = format!("`{event}` {would}, but its guard doesn't hold: {unmet}");
                let absent = legal.unmet.iter().flat_map(|it| &it.facts);
                let code = match absent.clone().any(|fact| fact.value.is_none()) {
                    true => "guard_undecided",
                    false => "guard_false",
                };
                for field in absent.filter_map(|fact| self.sendable(&fact.field)) {
                    if !fields.contains(&field) {
                        fields.push(field);
                    }
                }
                (code, text)
            }
        };
        let send = || Call::Send {
            event: event.clone(),
            fields: fields.clone(),
        };
        let by_fields = !legal.holds && legal.unmet.iter().all(|it| self.can_come(it));
        let next = match (legal.enabled || by_fields).then(send) {
            None if legal.unmet.len() == 1 => self.toward_guarded(legal)?,
            next => next,
        };
        Ok(Reason { code, text, next })
    }

    /// What an event lacks, which would be taken otherwise.
    fn without(&self, legal: &Legal, first: &str, would: &str) -> Reason {
        let (event, lacking) = (&legal.event, self.lacking(first));
        let told: Vec<String> = legal.lacks.iter().map(|it| self.lacking(it).text).collect();
        let fact = || {
            let mut fields = self.required_of(event);
            let field = self.sendable(first)?;
            if !fields.contains(&field) {
                fields.push(field);
            }
            let event = event.clone();
            Some(Call::Send { event, fields })
        };
        Reason {
            text: format!("`{event}` {would}; {}", told.join("; ")),
            next: match self.required(first) {
                Required::Fact => fact(),
                Required::Artifact | Required::Check => lacking.next,
            },
            code: lacking.code,
        }
    }

    /// What leads to the state that a guard wants to be active, if that can be sent.
    fn toward_guarded(&self, guarded: &Legal) -> Result<Option<Call>, RunError> {
        let names = guarded.unmet.iter().flat_map(|it| &it.states);
        let table = self.workflow.table();
        let states: Vec<_> = names.filter_map(|name| table.state_named(name)).collect();
        let enabled = self.legal()?.into_iter().filter(|it| it.enabled);
        let ways = enabled.filter_map(|it| Some((super::way::nearest(table, &it, &states)?, it)));
        let nearest = ways.min_by_key(|(steps, _)| *steps);
        Ok(match nearest {
            Some((_, it)) => self.of_legal(&it)?.next,
            None => None,
        })
    }

    /// Whether other data of the event would make a part of a guard what it has to be.
    fn can_come(&self, unmet: &crate::guard::Unmet) -> bool {
        let mut fields = unmet.facts.iter().map(|it| self.sendable(&it.field));
        fields.any(|it| it.is_some())
    }

    /// The fields that an event needs, or that guards of it read here, as far as it can bring them.
    pub(crate) fn fields_of(&self, event: &str) -> Vec<String> {
        let mut fields = self.required_of(event);
        let legal = self.legal().unwrap_or_default();
        let read = legal.iter().filter(|it| it.event == event);
        for fact in read.flat_map(|it| &it.facts) {
            if let Some(field) = self.sendable(&fact.field)
                && !fields.contains(&field)
            {
                fields.push(field);
            }
        }
        fields
    }

    /// The name under which an event can bring a field.
    fn sendable(&self, field: &str) -> Option<String> {
        if let Some(own) = field.strip_prefix("event.") {
            return Some(own.to_owned());
        }
        let top = field.split('.').next().unwrap_or(field);
        let is_merged = self.workflow.merge().includes(top);
        is_merged.then(|| field.to_owned())
    }

    /// The fields without which an event is refused.
    fn required_of(&self, event: &str) -> Vec<String> {
        let id = self.workflow.table().event_named(event);
        let schema = id.and_then(|id| self.workflow.event_meta(id).get("data"));
        let names = schema.and_then(|it| it.get("required")?.as_array());
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    }

    /// What has a say besides the machine in an event that it would take.
    fn limited(&self, legal: &Legal, held: &Held) -> Result<Reason, RunError> {
        let event = &legal.event;
        let (code, text, next) = match held.code {
            "child_runs" | "child_unknown" => {
                match self.outcome_of(event, None, Some(&legal.from))? {
                    Some(invoking) => match &invoking.child {
                        Some((run, _)) => {
                            let text = format!("`{event}` is what its child run `{run}` ends with");
                            let run = run.to_string();
                            ("child_runs", text, Some(Call::Look { run }))
                        }
                        None => ("child_unknown", invoking.unbegun(event), None),
                    },
                    None => (
                        held.code,
                        format!("`{event}` isn't taken: {}", held.reason),
                        None,
                    ),
                }
            }
            "waiting_for_request" => {
                let text = format!("`{event}` isn't taken: {}", held.reason);
                ("held", text, self.out_of_the_way())
            }
            "max_visits" => {
                let text = format!("`{event}` isn't taken: {}", held.reason);
                ("visits_spent", text, self.other_than(event))
            }
            code => (
                code,
                format!("`{event}` isn't taken: {}", held.reason),
                self.out_of_the_way(),
            ),
        };
        Ok(Reason { code, text, next })
    }

    /// The states that have had all their tool calls.
    fn spent_calls(&self) -> Vec<Reason> {
        let visits = self.state.visits.iter();
        let visits = visits.filter(|(_, visit)| visit.left.is_none());
        let spent = visits.filter_map(|(state, visit)| {
            let most = self.limit(state, "max_iterations")?;
            (visit.iterations >= most).then(|| Reason {
                code: "calls_spent",
                text: format!(
                    "`{state}` has had its {most} tool calls (`max_iterations`): tools are refused"
                ),
                next: self.other_than(""),
            })
        });
        spent.collect()
    }

    /// Another event that would be taken.
    pub(super) fn other_than(&self, event: &str) -> Option<Call> {
        let mut legal = self.legal_events().into_iter();
        let event = legal.find(|it| it != event)?;
        Some(self.sending(&event))
    }

    /// That an event is sent, with what it needs.
    pub(super) fn sending(&self, event: &str) -> Call {
        Call::Send {
            event: event.to_owned(),
            fields: self.required_of(event),
        }
    }
}
