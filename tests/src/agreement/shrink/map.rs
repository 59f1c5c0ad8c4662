//! Where the rows of a machine are in a smaller one, and what that makes of what names them.

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Action, ActionKind, Assign, Expression, ExpressionKind, State};

use crate::agreement::engine::Step;

/// Where each row of the old machine is in the new one.
pub(super) struct Map {
    pub(super) states: Vec<Option<usize>>,
    pub(super) events: Vec<Option<usize>>,
    pub(super) actions: Vec<Option<usize>>,
    pub(super) timers: Vec<Option<usize>>,
    pub(super) guards: Vec<Option<usize>>,
    pub(super) fields: Vec<Option<usize>>,
}

impl Map {
    pub(super) fn step(&self, step: Step) -> Option<Step> {
        match step {
            Step::Send(event) => self.events[event].map(Step::Send),
            Step::Elapse(timer) => self.timers[timer].map(Step::Elapse),
        }
    }

    pub(super) fn states(&self, states: &[Handle<State>]) -> Vec<Handle<State>> {
        states
            .iter()
            .filter_map(|&state| moved(&self.states, state))
            .collect()
    }

    pub(super) fn actions(&self, actions: &[Handle<Action>]) -> Vec<Handle<Action>> {
        actions
            .iter()
            .filter_map(|&action| moved(&self.actions, action))
            .collect()
    }

    pub(super) fn expression(&self, expression: &Expression) -> Option<Expression> {
        let boxed = |inner: &Expression| self.expression(inner).map(Box::new);
        let all = |parts: &[Expression]| -> Option<Vec<Expression>> {
            parts.iter().map(|part| self.expression(part)).collect()
        };
        let kind = match &expression.kind {
            ExpressionKind::Constant(constant) => ExpressionKind::Constant(constant.clone()),
            ExpressionKind::Field(field) => ExpressionKind::Field(moved(&self.fields, *field)?),
            ExpressionKind::Has(field) => ExpressionKind::Has(moved(&self.fields, *field)?),
            ExpressionKind::InState(state) => ExpressionKind::InState(moved(&self.states, *state)?),
            ExpressionKind::Ask(guard) => ExpressionKind::Ask(moved(&self.guards, *guard)?),
            ExpressionKind::Compare {
                field,
                operator,
                constants,
            } => ExpressionKind::Compare {
                field: moved(&self.fields, *field)?,
                operator: *operator,
                constants: constants.clone(),
            },
            ExpressionKind::Not(inner) => ExpressionKind::Not(boxed(inner)?),
            ExpressionKind::And(parts) => ExpressionKind::And(all(parts)?),
            ExpressionKind::Or(parts) => ExpressionKind::Or(all(parts)?),
            ExpressionKind::Unary(operator, inner) => {
                ExpressionKind::Unary(*operator, boxed(inner)?)
            }
            ExpressionKind::Binary(operator, operands) => {
                let [left, right] = &**operands;
                let operands = [self.expression(left)?, self.expression(right)?];
                ExpressionKind::Binary(*operator, Box::new(operands))
            }
            ExpressionKind::Among(inner, constants) => {
                ExpressionKind::Among(boxed(inner)?, constants.clone())
            }
        };
        Some(Expression {
            span: expression.span,
            kind,
        })
    }

    pub(super) fn action(&self, kind: &ActionKind) -> Option<ActionKind> {
        Some(match kind {
            ActionKind::Host => ActionKind::Host,
            ActionKind::Fallible => ActionKind::Fallible,
            ActionKind::Raise(event) => ActionKind::Raise(moved(&self.events, *event)?),
            ActionKind::Assign(assigns) => {
                let assign = |assign: &Assign| {
                    Some(Assign {
                        field: moved(&self.fields, assign.field)?,
                        value: self.expression(&assign.value)?,
                    })
                };
                ActionKind::Assign(assigns.iter().map(assign).collect::<Option<_>>()?)
            }
            ActionKind::Schedule(timer, delay) => {
                ActionKind::Schedule(moved(&self.timers, *timer)?, *delay)
            }
            ActionKind::Cancel(timer) => ActionKind::Cancel(moved(&self.timers, *timer)?),
            ActionKind::If {
                guard,
                then,
                otherwise,
            } => ActionKind::If {
                guard: self.expression(guard)?,
                then: self.actions(then),
                otherwise: self.actions(otherwise),
            },
        })
    }
}

pub(super) fn moved<T>(map: &[Option<usize>], handle: Handle<T>) -> Option<Handle<T>> {
    map[handle.index()].map(Handle::at)
}

/// The new places of rows of which some stay.
pub(super) fn places(stay: impl IntoIterator<Item = bool>) -> Vec<Option<usize>> {
    let mut next = 0;
    let place = |stays: bool| {
        stays.then(|| {
            next += 1;
            next - 1
        })
    };
    stay.into_iter().map(place).collect()
}
