//! The tree of states, and their transitions.

use std::ops::Range;

use super::events::FAULT;
use super::native::is_no_expression;
use super::{Lowering, Made, Node, plain};
use crate::arena::{Arena, Handle};
use crate::excerpt::Excerpt;
use crate::front::scxml::ast::{self, Kind};
use crate::front::scxml::messages;
use crate::ir::{
    Action, ActionKind, Constant, Event, EventKind, Expression, ExpressionKind, Initial, Meta,
    State, StateKind, Transition, Verdict,
};
use crate::lower::messages::duplicate_state;
use crate::source::{Span, Spanned};

/// Lists every state in document order: a state before those inside.
pub(super) fn flatten(root: &ast::State) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    let mut open: Vec<(&ast::State, Option<Handle<State>>)> = vec![(root, None)];
    while let Some((state, parent)) = open.pop() {
        let handle = Handle::at(nodes.len());
        nodes.push(Node {
            state,
            parent,
            end: nodes.len() + 1,
        });
        open.extend(
            state
                .children
                .iter()
                .rev()
                .map(|child| (child, Some(handle))),
        );
    }
    // Backwards, so that a state knows its end before its parent asks.
    for index in (0..nodes.len()).rev() {
        let Some((parent, end)) = nodes.get(index).map(|node| (node.parent, node.end)) else {
            continue;
        };
        if let Some(outer) = parent.and_then(|parent| nodes.get_mut(parent.index())) {
            outer.end = outer.end.max(end);
        }
    }
    nodes
}

impl Lowering<'_, '_> {
    /// Gives each state its id: its own, or one that no other has.
    pub(super) fn name_states(&mut self, machine: &str) {
        let mut made = 0_usize;
        let given: Vec<Option<Spanned<String>>> = self
            .nodes
            .iter()
            .map(|node| {
                node.state
                    .id
                    .as_ref()
                    .map(|id| id.clone().map(|_| plain(id)))
            })
            .collect();
        for (index, id) in given.iter().enumerate() {
            let Some(id) = id else { continue };
            let handle = Handle::at(index);
            if let Some(&first) = self.by_id.get(&id.value) {
                let first = given.get(first.index()).and_then(Option::as_ref);
                let first = first.map_or(id.span, |first| first.span);
                self.diags.push(duplicate_state(&id.value, id.span, first));
            } else {
                self.by_id.insert(id.value.clone(), handle);
            }
        }
        for (index, id) in given.into_iter().enumerate() {
            let Some(node) = self.nodes.get(index) else {
                continue;
            };
            let id = match id {
                Some(id) => id,
                None if index == 0 => Spanned::new(machine.to_owned(), node.state.tag),
                None => {
                    let element = match node.state.kind {
                        Kind::State => "state",
                        Kind::Parallel => "parallel",
                        Kind::Final => "final",
                        Kind::History { .. } => "history",
                    };
                    let name = loop {
                        made += 1;
                        let name = format!("{element}_{made}");
                        if !self.by_id.contains_key(&name) {
                            break name;
                        }
                    };
                    self.by_id.insert(name.clone(), Handle::at(index));
                    Spanned::new(name, node.state.tag)
                }
            };
            self.ids.push(id);
        }
    }

    /// Returns the kind of a state.
    ///
    /// One with a region or a child is parallel or compound, one without is atomic.
    pub(super) fn kind(&self, state: Handle<State>) -> StateKind {
        let Some(node) = self.node(state) else {
            return StateKind::Atomic;
        };
        let has_states = node
            .state
            .children
            .iter()
            .any(|child| !matches!(child.kind, Kind::History { .. }));
        match node.state.kind {
            Kind::Final => StateKind::Final,
            Kind::History { deep: true } => StateKind::DeepHistory,
            Kind::History { deep: false } => StateKind::History,
            _ if node.parent.is_none() => StateKind::Compound,
            Kind::Parallel if has_states => StateKind::Parallel,
            Kind::State if has_states => StateKind::Compound,
            Kind::State | Kind::Parallel => StateKind::Atomic,
        }
    }

    /// Makes every state with its transitions, names resolved.
    pub(super) fn make_states(&mut self) -> Made {
        let mut states = Arena::new();
        let mut transitions = Arena::new();
        for index in 0..self.nodes.len() {
            let handle = Handle::at(index);
            let Some(node) = self.node(handle) else {
                continue;
            };
            let start = transitions.len();
            if !matches!(node.state.kind, Kind::History { .. }) {
                for transition in &node.state.transitions {
                    let made = self.transition(transition, handle);
                    transitions.append(made);
                }
            }
            let made = self.state(node, handle, start..transitions.len());
            states.append(made);
        }
        (states, transitions)
    }

    fn state(&mut self, node: Node<'_>, handle: Handle<State>, range: Range<usize>) -> State {
        let kind = self.kind(handle);
        let children: Vec<Handle<State>> = self.children(handle).collect();
        let only_histories = matches!(kind, StateKind::Atomic | StateKind::Compound)
            && (!children.is_empty() || handle.index() == 0)
            && children.iter().all(|&child| self.kind(child).is_history());
        if only_histories {
            let element = if handle.index() == 0 {
                "scxml"
            } else {
                "state"
            };
            // An empty document is one whose elements were refused, which was said.
            if !self.diags.has_errors() {
                self.diags
                    .push(messages::missing_states(node.state.tag, element));
            }
        }
        let mut initial = self.initial(node, handle, kind);
        if let Some(initial) = initial.as_mut().filter(|_| node.parent.is_none()) {
            // Data are bound before anything else is done.
            let failures = self.data.failures.clone();
            let failed = failures.into_iter().map(|place| self.failure(place));
            initial.actions.splice(0..0, failed.collect::<Vec<_>>());
        }
        let id = self.id_of(handle).to_owned();
        State {
            span: self.place_of(handle),
            kind,
            verdict: if kind == StateKind::Final {
                node.state.verdict
            } else {
                Verdict::Success
            },
            implied: false,
            parent: node.parent,
            end: node.end,
            initial,
            entry: self.blocks(&node.state.entry, "onentry"),
            exit: self.blocks(&node.state.exit, "onexit"),
            transitions: range,
            done: self.done_event(&id, kind),
            title: None,
            description: None,
            instructions: None,
            while_waiting: Vec::new(),
            on_max_iterations: None,
            meta: Meta::new(),
            children,
            id,
        }
    }

    /// Joins several handlers of one state.
    ///
    /// None but the last may fail: SCXML would continue after it.
    fn blocks(&mut self, blocks: &[Vec<ast::Content>], element: &str) -> Vec<Handle<Action>> {
        let mut list = Vec::new();
        let mut may_fail = false;
        for block in blocks {
            if let Some(first) = block.first().filter(|_| may_fail) {
                self.diags.push(messages::second_block(first.span, element));
            }
            let start = self.actions.len();
            list.extend(self.contents(block));
            may_fail |= (start..self.actions.len())
                .any(|index| may_fail_at(&self.actions, Handle::at(index)));
        }
        list
    }

    /// Lowers the beginning of a state, or a history's default.
    fn initial(
        &mut self,
        node: Node<'_>,
        handle: Handle<State>,
        kind: StateKind,
    ) -> Option<Initial> {
        if kind.is_history() {
            let default = node.state.transitions.first()?;
            let scope = node.parent?;
            let targets = self.targets(&default.targets, Some(scope));
            let actions = self.contents(&default.content);
            return Some(Initial {
                span: default.span,
                targets,
                actions,
                inferred: false,
            });
        }
        if kind != StateKind::Compound {
            return None;
        }
        if let Some(initial) = &node.state.initial {
            let targets = self.targets(&initial.targets, Some(handle));
            let actions = self.contents(&initial.content);
            return Some(Initial {
                span: initial.span,
                targets,
                actions,
                inferred: false,
            });
        }
        let first = self
            .children(handle)
            .find(|&child| !self.kind(child).is_history())?;
        Some(Initial {
            span: self.place_of(first),
            targets: vec![first],
            actions: Vec::new(),
            inferred: true,
        })
    }

    fn transition(&mut self, transition: &ast::Transition, source: Handle<State>) -> Transition {
        let targets = self.targets(&transition.targets, None);
        let inside = targets
            .iter()
            .all(|&target| target != source && self.is_within(target, source));
        let asked = transition.internal && self.kind(source) == StateKind::Compound && inside;
        let triggers = self.triggers(transition);
        let guard = transition
            .condition
            .as_ref()
            .and_then(|condition| self.condition_of(condition, &triggers));
        let is_lost = guard.is_none() && transition.condition.is_some()
            || triggers.is_empty() && transition.events.is_some();
        let guard = if is_lost {
            Some(unread(transition.span))
        } else {
            guard
        };
        Transition {
            span: transition.span,
            source,
            triggers,
            guard,
            actions: self.contents(&transition.content),
            // Source: SCXML 3.13: such a transition of another source, or to a target outside, is external.
            internal: asked || transition.targets.is_empty(),
            targets,
            implied: false,
            label: None,
            description: None,
            meta: Meta::new(),
        }
    }
}

impl Lowering<'_, '_> {
    /// Lowers the condition of a transition with those triggers.
    ///
    /// One that can't be read never holds, which SCXML also reports with an event; if something waits for that, it is
    /// refused like any other.
    fn condition_of(
        &mut self,
        text: &Excerpt,
        triggers: &[Handle<Event>],
    ) -> Option<Spanned<Expression>> {
        let is_noticed = self.document.native || self.known.is_awaited(FAULT);
        if !is_noticed && is_no_expression(text.text()) {
            let span = crate::front::scxml::place_of(text);
            self.diags.push(messages::no_condition(span));
            let kind = ExpressionKind::Constant(Constant::Bool(false));
            return Some(Spanned::new(Expression { span, kind }, span));
        }
        self.trigger = match triggers {
            &[only] if self.events.at(only).kind != EventKind::Unknown => {
                Some(self.events.at(only).id.clone())
            }
            _ => None,
        };
        let guard = self.condition(text);
        self.trigger = None;
        guard
    }
}

/// Returns a substitute for a condition that was refused.
///
/// No other transition has it, so nothing is reported about a transition that nobody wrote.
fn unread(span: Span) -> Spanned<Expression> {
    let kind = ExpressionKind::Constant(Constant::Text(format!("unread {}", span.start)));
    Spanned::new(Expression { span, kind }, span)
}

/// Returns true if an action may find no value for what it assigns.
fn may_fail_at(actions: &Arena<Action>, action: Handle<Action>) -> bool {
    match &actions.at(action).kind {
        ActionKind::Assign(list) => list
            .iter()
            .any(|assign| !matches!(assign.value.kind, ExpressionKind::Constant(_))),
        _ => false,
    }
}
