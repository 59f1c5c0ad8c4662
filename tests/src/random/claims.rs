//! Claims: guards that the sender of an event answers.

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Event, EventKind, Expression, ExpressionKind, HostGuard, Transition};
use statemark_compiler::source::Spanned;

use super::{Builder, Chance};

/// How many of a machine's guards are claims. Why two: one may be asked beside the other.
const CLAIMS: usize = 2;

impl Builder {
    /// Has some transitions ask for claims, beside what they ask already.
    ///
    /// By a chance of its own, so that a seed's machine is otherwise the same with claims and without.
    pub(super) fn claims(&mut self, seed: u64) {
        let mut chance = Chance::new(seed ^ 0xc1a1);
        let mut claims: Vec<Handle<HostGuard>> = Vec::new();
        for handle in self.machine.transitions.handles().collect::<Vec<_>>() {
            let transition = self.machine.transitions.at(handle);
            if !self.is_sent(transition) || !chance.percent(self.shape.claims) {
                continue;
            }
            let span = self.span;
            // A claim is there once something asks for it.
            let index = chance.below(CLAIMS).min(claims.len());
            if index == claims.len() {
                claims.push(self.claim(index));
            }
            let claim = claims[index];
            let mut asked = Expression {
                span,
                kind: ExpressionKind::Ask(claim),
            };
            if chance.percent(25) {
                asked = asked.negated(span);
            }
            let own = self.machine.transitions.at(handle).guard.clone();
            let guard = match own {
                Some(own) if chance.percent(60) => Expression::all(vec![own.value, asked], span),
                Some(own) => Expression::any(vec![asked, own.value], span),
                None => asked,
            };
            self.machine.transitions.at_mut(handle).guard = Some(Spanned::new(guard, span));
        }
    }

    fn claim(&mut self, index: usize) -> Handle<HostGuard> {
        let name = format!("c{index}");
        self.machine.guards.append(HostGuard {
            text: name.clone(),
            name,
            span: self.span,
            is_claim: true,
        })
    }

    /// Whether events from outside alone trigger a transition: nobody claims anything to a timer.
    fn is_sent(&self, transition: &Transition) -> bool {
        let is_sent = |event: &Handle<Event>| {
            let is_timers = self
                .machine
                .timers
                .iter()
                .any(|(_, timer)| timer.event == *event);
            self.machine.events.at(*event).kind == EventKind::Named && !is_timers
        };
        !transition.triggers.is_empty() && transition.triggers.iter().all(is_sent)
    }
}
