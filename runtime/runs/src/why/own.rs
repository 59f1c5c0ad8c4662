//! What makes a run send the events that nobody else sends.

use super::{Call, Reason};
use crate::body::{Opened, RequestKind};
use crate::runs::{DENIED, EXPIRED, Legal, Loaded, RunError, SENT_BACK, list, raised_when};
use crate::step::Stepper;

impl Loaded {
    /// What makes the run send one of its own events, if somebody can do something about it now.
    pub(super) fn raising(&self, event: &str, legal: &[Legal]) -> Option<Call> {
        let open = |kind| self.open_of(kind).map(|it| it.request.clone());
        match event {
            SENT_BACK => Some(match open(RequestKind::Review) {
                Some(request) => self.unless_paused(Call::SendBack { request }),
                None => Call::AskReview,
            }),
            DENIED => match open(RequestKind::Approval) {
                Some(request) => Some(self.unless_paused(Call::Deny { request })),
                None => {
                    let mut asking = legal.iter().filter(|it| it.enabled && it.requires_approval);
                    asking.next().map(|it| self.sending(&it.event))
                }
            },
            EXPIRED => {
                let open = self.state.open_requests().into_iter();
                let until = open.filter_map(|it| it.opened.expires).min()?;
                Some(Call::Wait { until })
            }
            _ => None,
        }
    }

    /// Where a review that is sent back would lead, if an active state says so.
    pub(super) fn sent_back(&self) -> Result<Option<Reason>, RunError> {
        let table = self.workflow.table();
        let Some(id) = table.event_named(SENT_BACK) else {
            return Ok(None);
        };
        if self.in_the_way(SENT_BACK).is_some() {
            return Ok(None);
        }
        let mut stepper = Stepper::restored(&self.workflow, &self.state)?;
        let candidates = stepper.candidates(None)?;
        let taken = candidates.iter().find(|it| it.event == id && it.enabled);
        let (Some(taken), Some(when)) = (taken, raised_when(SENT_BACK)) else {
            return Ok(None);
        };
        let targets = table.targets(taken.transition).iter();
        let to: Vec<String> = targets.map(|it| table.state_name(*it).to_owned()).collect();
        let leads = match to.as_slice() {
            [] => "stays".to_owned(),
            to => format!("leads to {}", list(to)),
        };
        Ok(Some(Reason {
            code: "internal_event",
            text: format!("`{SENT_BACK}` {leads}, when {when}"),
            next: self.raising(SENT_BACK, &[]),
        }))
    }

    /// The first open request of a kind.
    fn open_of(&self, kind: RequestKind) -> Option<&Opened> {
        let open = self.state.open_requests().into_iter();
        let mut of_kind = open.map(|it| &it.opened).filter(|it| it.kind == kind);
        of_kind.next()
    }

    /// A person's call; nobody decides while the run is paused.
    fn unless_paused(&self, call: Call) -> Call {
        match self.state.paused {
            Some(_) => Call::Continue,
            None => call,
        }
    }
}
