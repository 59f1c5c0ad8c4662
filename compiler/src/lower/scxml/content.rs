//! Executable content becomes actions.

use super::events::FAULT;
use super::native::is_no_expression;
use super::{Lowering, plain};
use crate::arena::{Arena, Handle};
use crate::diag::{Code, Diagnostic};
use crate::front::scxml::ast::{Branch, Content, ContentKind, visit_content};
use crate::front::scxml::messages;
use crate::front::words::{slug, to_nfc};
use crate::ir::{
    Action, ActionKind, Assign, Constant, Event, Expression, ExpressionKind, Field, Meta, State,
    Timer, UnaryOperator,
};
use crate::source::{Span, Spanned};

/// Longest name that is made of a text. Unit: characters. Why: it is a method's name in generated Rust.
const LONGEST_NAME: usize = 40;

impl Lowering<'_, '_> {
    /// Adds a timer for each id and event that is sent, in the order of the text.
    pub(super) fn add_timers(&mut self) {
        for node in self.nodes.clone() {
            for block in node.state.blocks() {
                visit_content(block, &mut |content| {
                    if let ContentKind::Send { event, id, .. } = content {
                        self.add_timer(event, id.as_ref());
                    }
                });
            }
        }
        for (id, event) in &self.document.timers {
            self.add_timer(event, Some(id));
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
        let mut count = self.timer_names.get(&wanted).copied().unwrap_or(0);
        let mut name = wanted.clone();
        while count > 0 && self.timer_names.contains_key(&name) {
            count += 1;
            name = format!("{wanted}.{count}");
        }
        self.timer_names.insert(wanted, count.max(1));
        self.timer_names.entry(name.clone()).or_insert(1);
        let handle = self.event(event);
        let timer = self.timers.append(Timer {
            name,
            span: event.span,
            event: handle,
            of: None,
        });
        self.timer_keys.insert(key, timer);
    }

    /// Finds delays: timers called `after.<state>.1` or so, which that state sets on its entry.
    pub(super) fn find_delays(&mut self, states: &Arena<State>) {
        for (handle, state) in states.iter() {
            for &action in &state.entry {
                let ActionKind::Schedule(timer, _) = self.actions.at(action).kind else {
                    continue;
                };
                let timer = self.timers.at_mut(timer);
                let name = timer.name.strip_prefix("after.");
                let number = name.and_then(|name| name.strip_prefix(&state.id)?.strip_prefix('.'));
                if number.is_some_and(|number| number.parse::<usize>().is_ok()) {
                    timer.of = Some(handle);
                }
            }
        }
    }

    /// Lowers the actions of a block, in order.
    pub(super) fn contents(&mut self, list: &[Content]) -> Vec<Handle<Action>> {
        let mut actions = Vec::new();
        for content in list {
            if self.always_fails(content) {
                // Nothing of the block is done after it.
                actions.push(self.failure(content.span));
                break;
            }
            self.content(content, &mut actions);
        }
        actions
    }

    /// Returns true if an element always fails, as one does with an unknown target or processor.
    fn always_fails(&mut self, content: &Content) -> bool {
        match &content.kind {
            ContentKind::Failure => true,
            ContentKind::Assign(list) if !self.document.native => {
                let lost = list
                    .iter()
                    .find(|assign| !self.is_declared(&assign.location));
                if let Some(assign) = lost {
                    let known = self.data.ids.iter().map(String::as_str);
                    let known = self.diags.comparable(known, self.data.ids.len());
                    let found = messages::undeclared_location(&assign.location, known);
                    self.diags.push(found);
                }
                let unread = list
                    .iter()
                    .find(|assign| is_no_expression(assign.value.text()));
                if let Some(assign) = unread.filter(|_| lost.is_none()) {
                    let place = crate::front::scxml::place_of(&assign.value);
                    self.diags.push(messages::no_expression(place));
                }
                lost.is_some() || unread.is_some()
            }
            _ => false,
        }
    }

    /// Makes an action that raises `error.execution` and ends its block.
    ///
    /// Outside of any condition raising is enough, since the rest of the block makes no actions; inside, an assignment
    /// that has no value ends the enclosing lists as well.
    pub(super) fn failure(&mut self, span: Span) -> Handle<Action> {
        let fault = self.event(&Spanned::new(FAULT.to_owned(), span));
        if self.nesting == 0 {
            let key = (fault, None);
            if let Some(&action) = self.raises.get(&key) {
                return action;
            }
            let action = self.action(span, None, ActionKind::Raise(fault), None);
            self.raises.insert(key, action);
            return action;
        }
        let text = ExpressionKind::Constant(Constant::Text("no value".to_owned()));
        let text = Expression { span, kind: text };
        let kind = ExpressionKind::Unary(UnaryOperator::Negate, Box::new(text));
        let assign = Assign {
            field: self.field("_error", span),
            value: Expression { span, kind },
        };
        self.action(span, None, ActionKind::Assign(vec![assign]), None)
    }

    fn content(&mut self, content: &Content, actions: &mut Vec<Handle<Action>>) {
        let given = content.name.as_ref();
        if let Some(known) = given.and_then(|name| self.given.get(&plain(name))) {
            let (action, words) = known.clone();
            if words == content.kind.words() {
                actions.push(action);
            } else if let Some(name) = given {
                let first = self.actions.at(action).span;
                self.diags.push(messages::action_name_reused(name, first));
            }
            return;
        }
        let before = actions.len();
        self.new_content(content, actions);
        if let (Some(name), Some(&action)) = (given, actions.get(before)) {
            self.given
                .insert(plain(name), (action, content.kind.words()));
        }
    }

    fn new_content(&mut self, content: &Content, actions: &mut Vec<Handle<Action>>) {
        let given = content.name.as_ref();
        match &content.kind {
            ContentKind::Raise(event) => {
                let handle = self.event(event);
                let key = (handle, given.map(plain));
                let action = match self.raises.get(&key) {
                    Some(&action) => action,
                    None => {
                        let kind = ActionKind::Raise(handle);
                        let action = self.action(content.span, given, kind, None);
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
                let kind = ActionKind::Schedule(timer, *delay);
                actions.push(self.action(content.span, given, kind, None));
            }
            ContentKind::Cancel(id) => self.cancel(content, id, actions),
            ContentKind::Log { label, text } => {
                let mut said = Meta::new();
                let both = [("label", label), ("expr", text)];
                for (key, value) in both {
                    if let Some(value) = value {
                        said.insert(key.to_owned(), value.clone().into());
                    }
                }
                let mut meta = Meta::new();
                meta.insert("log".to_owned(), said.into());
                actions.push(self.action(content.span, given, ActionKind::Host, Some(meta)));
            }
            ContentKind::Assign(list) => {
                let made = list
                    .iter()
                    .filter_map(|assign| self.assign(assign))
                    .collect();
                let kind = ActionKind::Assign(made);
                actions.push(self.action(content.span, given, kind, None));
            }
            ContentKind::If(branches) => {
                actions.extend(self.conditional(content.span, given, branches));
            }
            ContentKind::Failure => {}
            ContentKind::Host { fails } => {
                let kind = match fails.unwrap_or(self.actions_fail) {
                    true => ActionKind::Fallible,
                    false => ActionKind::Host,
                };
                actions.push(self.action(content.span, given, kind, None));
            }
        }
    }

    /// Makes an action, with a name that no other has.
    fn action(
        &mut self,
        span: Span,
        given: Option<&Spanned<String>>,
        kind: ActionKind,
        meta: Option<Meta>,
    ) -> Handle<Action> {
        let mut action = Action {
            name: String::new(),
            span,
            kind,
            meta: meta.unwrap_or_default(),
        };
        let wanted = given.map_or_else(
            || name_of(&action, &self.events, &self.timers, &self.fields),
            plain,
        );
        action.name.clone_from(&wanted);
        while self.names.contains_key(&action.name) {
            let count = self.names.entry(wanted.clone()).or_insert(1);
            *count += 1;
            action.name = format!("{wanted}_{count}");
        }
        self.names.insert(action.name.clone(), 1);
        self.actions.append(action)
    }

    /// Cancels every timer that the id was given to.
    fn cancel(
        &mut self,
        content: &Content,
        id: &Spanned<String>,
        actions: &mut Vec<Handle<Action>>,
    ) {
        let wanted = Some(plain(id));
        let own = self.timer_keys.range((wanted.clone(), String::new())..);
        let own = own.take_while(|((id, _), _)| *id == wanted);
        let timers: Vec<Handle<Timer>> = own.map(|(_, &timer)| timer).collect();
        if timers.is_empty() {
            let ids = self.timer_keys.keys().filter_map(|(id, _)| id.as_deref());
            let suggestion = self.diags.nearest(&id.value, ids);
            self.diags.push(idle_cancel(id, suggestion));
        }
        for timer in timers {
            let kind = ActionKind::Cancel(timer);
            actions.push(self.action(content.span, content.name.as_ref(), kind, None));
        }
    }

    /// Lowers `<if>`: the last branch is made first, so that the actions that an action calls precede it.
    fn conditional(
        &mut self,
        span: Span,
        given: Option<&Spanned<String>>,
        branches: &[Branch],
    ) -> Option<Handle<Action>> {
        let (first, others) = branches.split_first()?;
        let guard = match &first.condition {
            Some(condition) => self.condition(condition)?.value,
            None => Expression {
                span: first.span,
                kind: ExpressionKind::Constant(Constant::Bool(true)),
            },
        };
        self.nesting += 1;
        let then = self.contents(&first.content);
        let otherwise = match others {
            [] => Vec::new(),
            [last] if last.condition.is_none() => self.contents(&last.content),
            [next, ..] => self
                .conditional(next.span, None, others)
                .into_iter()
                .collect(),
        };
        self.nesting -= 1;
        let kind = ActionKind::If {
            guard,
            then,
            otherwise,
        };
        Some(self.action(span, given, kind, None))
    }
}

/// Returns the default name of an action, without the number.
pub(super) fn name_of(
    action: &Action,
    events: &Arena<Event>,
    timers: &Arena<Timer>,
    fields: &Arena<Field>,
) -> String {
    let name = match &action.kind {
        ActionKind::Host | ActionKind::Fallible => match action.meta.get("log") {
            Some(log) => {
                let text = |key: &str| log.get(key).and_then(serde_json::Value::as_str);
                let words = [Some("log"), text("label"), text("expr")];
                let words: Vec<&str> = words.into_iter().flatten().collect();
                let name: String = slug(&words.join(" ")).chars().take(LONGEST_NAME).collect();
                name.trim_end_matches('_').to_owned()
            }
            None => action.name.clone(),
        },
        ActionKind::Raise(event) => format!("raise_{}", events.at(*event).id),
        ActionKind::Schedule(timer, _) => {
            format!("send_{}", events.at(timers.at(*timer).event).id)
        }
        ActionKind::Cancel(timer) => format!("cancel_{}", timers.at(*timer).name),
        ActionKind::Assign(list) => {
            let first = list.first();
            let first = first.map_or("", |assign| fields.at(assign.field).path.as_str());
            format!("assign_{first}")
        }
        ActionKind::If { .. } => "if".to_owned(),
    };
    if action.kind.is_host() {
        return name;
    }
    to_nfc(&name.replace(['.', '-', ' '], "_")).into_owned()
}

/// Reports that no `<send>` has the id that is cancelled. SCXML allows it, and it does nothing.
fn idle_cancel(id: &Spanned<String>, suggestion: Option<&str>) -> Diagnostic {
    let message = format!("no `<send>` has the id `{}`", id.value);
    let found = Diagnostic::new(Code::IdleCancel, id.span, message).label("cancels nothing");
    match suggestion {
        Some(suggestion) => found.did_you_mean(suggestion, id.span, ""),
        None => found.help("give the `<send>` that is meant an `id`"),
    }
}
