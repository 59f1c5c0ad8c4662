//! Executable content becomes actions.

use super::{Lowering, plain};
use crate::arena::Handle;
use crate::diag::nearest;
use crate::front::scxml::ast::{Branch, Content, ContentKind};
use crate::front::scxml::bad_attribute;
use crate::ir::{
    Action, ActionKind, Constant, EventKind, Expression, ExpressionKind, Guard, Meta, State, Timer,
};
use crate::lower::words::{composed, slug};
use crate::source::{Span, Spanned};

/// Longest name that is made of a text. Unit: characters. Why: it is a method's name in generated Rust.
const LONGEST_NAME: usize = 40;

impl Lowering<'_, '_> {
    /// A timer for each id and event that is sent, in the order of the text.
    pub(super) fn add_timers(&mut self) {
        for node in self.nodes.clone() {
            let state = node.state;
            let blocks = state.entry.iter().chain(&state.exit);
            let initial = state.initial.iter().map(|initial| &initial.content);
            let transitions = state
                .transitions
                .iter()
                .map(|transition| &transition.content);
            for block in blocks.chain(initial).chain(transitions) {
                self.find_sends(block);
            }
        }
    }

    fn find_sends(&mut self, list: &[Content]) {
        for content in list {
            match &content.kind {
                ContentKind::Send { event, id, .. } => self.add_timer(event, id.as_ref()),
                ContentKind::If(branches) => {
                    for branch in branches {
                        self.find_sends(&branch.content);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_timer(&mut self, event: &Spanned<String>, id: Option<&Spanned<String>>) {
        let key = (id.map(plain), plain(event));
        if self.timer_keys.contains_key(&key) {
            return;
        }
        let wanted = match &key.0 {
            Some(id) => id.clone(),
            None => format!("send.{}", key.1),
        };
        let is_taken = |name: &String| self.timers.iter().any(|(_, timer)| timer.name == *name);
        let mut name = wanted.clone();
        let mut count = 1_usize;
        while is_taken(&name) {
            count += 1;
            name = format!("{wanted}.{count}");
        }
        let handle = self.event(event);
        let is_delay = key.1.starts_with("after.") && key.0.as_ref() == Some(&key.1);
        if is_delay && self.events.at(handle).kind == EventKind::Named {
            // Written by our own back end: an event that only the clock sends.
            self.events.at_mut(handle).kind = EventKind::Delayed;
        }
        let timer = self.timers.append(Timer {
            name,
            span: event.span,
            event: handle,
            of: None,
        });
        self.timer_keys.insert(key, timer);
    }

    /// The actions of a block, in order. `of` is the state on whose entry they are done.
    pub(super) fn contents(
        &mut self,
        list: &[Content],
        of: Option<Handle<State>>,
    ) -> Vec<Handle<Action>> {
        let mut actions = Vec::new();
        for content in list {
            self.content(content, of, &mut actions);
        }
        actions
    }

    fn content(
        &mut self,
        content: &Content,
        of: Option<Handle<State>>,
        actions: &mut Vec<Handle<Action>>,
    ) {
        let given = content.name.as_ref();
        match &content.kind {
            ContentKind::Raise(event) => {
                let handle = self.event(event);
                let key = (handle, given.map(plain));
                let action = match self.raises.get(&key) {
                    Some(&action) => action,
                    None => {
                        let kind = ActionKind::Raise(handle);
                        let name = format!("raise_{}", event.value);
                        let action = self.action(content.span, given, &name, kind);
                        self.raises.insert(key, action);
                        action
                    }
                };
                actions.push(action);
            }
            ContentKind::Send { event, id, delay } => {
                let key = (id.as_ref().map(plain), plain(event));
                let Some(&timer) = self.timer_keys.get(&key) else {
                    return;
                };
                let is_delay = self.timers.at(timer).name.starts_with("after.");
                if of.is_some() && is_delay {
                    self.timers.at_mut(timer).of = of;
                }
                let kind = ActionKind::Schedule(timer, *delay);
                let name = format!("send_{}", event.value);
                actions.push(self.action(content.span, given, &name, kind));
            }
            ContentKind::Cancel(id) => self.cancel(content, id, actions),
            ContentKind::Log { label, text } => {
                let words = label.iter().chain(text).map(String::as_str);
                let words: Vec<&str> = std::iter::once("log").chain(words).collect();
                let name: String = slug(&words.join(" ")).chars().take(LONGEST_NAME).collect();
                let action = self.action(
                    content.span,
                    given,
                    name.trim_end_matches('_'),
                    ActionKind::Host,
                );
                let mut said = Meta::new();
                let both = [("label", label), ("expr", text)];
                for (key, value) in both {
                    if let Some(value) = value {
                        said.insert(key.to_owned(), value.clone().into());
                    }
                }
                let meta = &mut self.actions.at_mut(action).meta;
                meta.insert("log".to_owned(), said.into());
                actions.push(action);
            }
            ContentKind::Assign(list) => {
                let made = list
                    .iter()
                    .filter_map(|assign| self.assign(assign))
                    .collect();
                let kind = ActionKind::Assign(made);
                let first = list
                    .first()
                    .map_or("", |assign| assign.location.value.as_str());
                let name = format!("assign_{first}");
                actions.push(self.action(content.span, given, &name, kind));
            }
            ContentKind::If(branches) => {
                actions.extend(self.conditional(content.span, given, branches, of));
            }
            ContentKind::Host => {
                let Some(name) = given else { return };
                let name = plain(name);
                let known = self
                    .actions
                    .iter()
                    .find(|(_, action)| action.name == name && action.kind == ActionKind::Host)
                    .map(|(action, _)| action);
                let action = match known {
                    Some(action) => action,
                    None => {
                        let given = Spanned::new(name, content.span);
                        self.action(content.span, Some(&given), "action", ActionKind::Host)
                    }
                };
                actions.push(action);
            }
        }
    }

    fn action(
        &mut self,
        span: Span,
        given: Option<&Spanned<String>>,
        wanted: &str,
        kind: ActionKind,
    ) -> Handle<Action> {
        let wanted = given.map_or_else(
            || composed(&wanted.replace(['.', '-', ' '], "_")).into_owned(),
            plain,
        );
        let mut name = wanted.clone();
        while self.names.contains_key(&name) {
            let count = self.names.entry(wanted.clone()).or_insert(1);
            *count += 1;
            name = format!("{wanted}_{count}");
        }
        self.names.insert(name.clone(), 1);
        self.actions.append(Action {
            name,
            span,
            kind,
            meta: Meta::new(),
        })
    }

    /// Every timer that the id was given to.
    fn cancel(
        &mut self,
        content: &Content,
        id: &Spanned<String>,
        actions: &mut Vec<Handle<Action>>,
    ) {
        let wanted = Some(plain(id));
        let timers: Vec<Handle<Timer>> = self
            .timer_keys
            .iter()
            .filter(|((id, _), _)| *id == wanted)
            .map(|(_, &timer)| timer)
            .collect();
        if timers.is_empty() {
            let ids = self.timer_keys.keys().filter_map(|(id, _)| id.as_deref());
            let near = nearest(&id.value, ids).map(str::to_owned);
            self.diags
                .push(bad_attribute::no_such_send(id, near.as_deref()));
        }
        for timer in timers {
            let kind = ActionKind::Cancel(timer);
            let name = format!("cancel_{}", id.value);
            actions.push(self.action(content.span, content.name.as_ref(), &name, kind));
        }
    }

    /// `<if>`: the last branch is made first, so that what an action calls stands before it.
    fn conditional(
        &mut self,
        span: Span,
        given: Option<&Spanned<String>>,
        branches: &[Branch],
        of: Option<Handle<State>>,
    ) -> Option<Handle<Action>> {
        let (first, others) = branches.split_first()?;
        let guard = match &first.condition {
            Some(condition) => self.condition(condition)?.value,
            None => Guard::Expression(Expression {
                span: first.span,
                kind: ExpressionKind::Constant(Constant::Bool(true)),
            }),
        };
        let then = self.contents(&first.content, of);
        let otherwise = match others {
            [] => Vec::new(),
            [last] if last.condition.is_none() => self.contents(&last.content, of),
            [next, ..] => self
                .conditional(next.span, None, others, of)
                .into_iter()
                .collect(),
        };
        let kind = ActionKind::If {
            guard,
            then,
            otherwise,
        };
        Some(self.action(span, given, "if", kind))
    }
}
