//! Why an event would be taken or not.

use statemark_runtime::{EventId, EventKind, StateId};
use statemark_text::suggest::nearest;

use super::way;
use super::{Call, Reason};
use crate::runs::{Legal, Loaded, RunError, list};

impl Loaded {
    /// Why an event would be taken or not. Nothing at all keeps it from being taken.
    pub(super) fn about(&self, event: &str) -> Result<Vec<Reason>, RunError> {
        if let Some((_, text)) = self.in_the_way(event) {
            return Ok(vec![Reason {
                code: "held",
                text,
                next: self.state.held_by().map(|it| self.settle(&it.opened)),
            }]);
        }
        let legal = self.legal()?;
        let own = legal.iter().filter(|it| it.event == event);
        let mut own = own
            .map(|it| self.of_legal(it))
            .collect::<Result<Vec<_>, _>>()?;
        if !own.is_empty() {
            own.sort_by_key(|reason| reason.code != "can_be_sent");
            return Ok(own);
        }
        let table = self.workflow.table();
        let Some(id) = table.event_named(event) else {
            return Ok(vec![self.unknown(event)?]);
        };
        let is_named = table
            .event(id)
            .is_some_and(|row| row.kind == EventKind::Named);
        if !is_named || crate::runs::is_own(event) {
            return Ok(vec![self.internal(event, id, &legal)?]);
        }
        let takers = self.takers(id);
        let names: Vec<String> = takers
            .iter()
            .map(|id| table.state_name(*id).to_owned())
            .collect();
        let leaves = list(&self.state.leaves);
        let elsewhere = format!("`{event}` is taken in {}, not in {leaves}", list(&names));
        let way = self.toward(&takers, &legal)?;
        Ok(vec![Reason {
            code: "not_here",
            text: match &way {
                Some((text, _)) => format!("{elsewhere}; {text}"),
                None => format!("{elsewhere}, and nothing leads there from here"),
            },
            next: way.and_then(|(_, next)| next),
        }])
    }

    /// An event that the machine doesn't have.
    fn unknown(&self, event: &str) -> Result<Reason, RunError> {
        let table = self.workflow.table();
        if let Some(unknown) = table.event_named(crate::runs::UNKNOWN)
            && self.catches(unknown)?
        {
            let leaves = list(&self.state.leaves);
            return Ok(Reason {
                code: "caught",
                text: format!(
                    "`{}` has no event `{event}`, but {leaves} catches names that it doesn't have (`safe_next`)",
                    self.workflow.id()
                ),
                next: Some(Call::Send {
                    event: event.to_owned(),
                    fields: Vec::new(),
                }),
            });
        }
        let known = self.named_events();
        let near = nearest(event, known.iter().copied());
        let all: Vec<String> = known.iter().map(|it| (*it).to_owned()).collect();
        let next = match near {
            Some(near) if self.legal_events().iter().any(|it| it == near) => {
                Some(self.sending(near))
            }
            _ => self.other_than(event),
        };
        let text = self.no_event(event);
        let has = if near.is_some() {
            " It has "
        } else {
            "; it has "
        };
        Ok(Reason {
            code: "unknown_event",
            text: format!("{text}{has}{}", list(&all)),
            next,
        })
    }

    /// An event that comes from the machine itself.
    fn internal(&self, event: &str, id: EventId, legal: &[Legal]) -> Result<Reason, RunError> {
        let mut timers = self.state.timers.iter();
        let timer = timers.find(|timer| timer.name.strip_prefix("timer:") == Some(event));
        if let Some(timer) = timer {
            return Ok(Reason {
                code: "timer_pending",
                text: format!("`{event}` comes when its time is over"),
                next: Some(Call::Wait { until: timer.due }),
            });
        }
        let text = crate::runs::sends_itself(event);
        let takers = self.takers(id);
        let is_here = takers
            .iter()
            .any(|id| self.state.is_active(self.workflow.table().state_name(*id)));
        if is_here {
            return Ok(Reason {
                code: "internal_event",
                text,
                next: self.raising(event, legal),
            });
        }
        let way = self.toward(&takers, legal)?;
        Ok(Reason {
            code: "internal_event",
            text: match &way {
                Some((way, _)) => format!("{text}; {way}"),
                None => text,
            },
            next: way.and_then(|(_, next)| next),
        })
    }

    /// The states that take an event.
    fn takers(&self, event: EventId) -> Vec<StateId> {
        let table = self.workflow.table();
        let of_event = table
            .transitions()
            .filter(|(transition, _)| table.triggers(*transition).contains(&event));
        let mut takers: Vec<StateId> = of_event.map(|(_, row)| row.source).collect();
        takers.dedup();
        takers
    }

    /// The event that leads nearest to one of these states: in words, and as a call if it can be sent.
    fn toward(
        &self,
        states: &[StateId],
        legal: &[Legal],
    ) -> Result<Option<(String, Option<Call>)>, RunError> {
        let mut best: Option<(bool, usize, Reason)> = None;
        for it in legal {
            let Some(steps) = way::nearest(self.workflow.table(), it, states) else {
                continue;
            };
            let reason = self.of_legal(it)?;
            let closed = reason.code != "can_be_sent";
            let is_better =
                |(other, far, _): &(bool, usize, Reason)| (closed, steps) < (*other, *far);
            if best.as_ref().is_none_or(is_better) {
                best = Some((closed, steps, reason));
            }
        }
        Ok(best.map(|(closed, steps, reason)| {
            let text = if closed || steps > 0 {
                format!("on the way there, {}", reason.text)
            } else {
                reason.text
            };
            (text, reason.next)
        }))
    }
}
