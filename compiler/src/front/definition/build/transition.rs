//! Transitions: the values of `on`, `always`, `after` and `on_done`.

use jsonc_parser::ast::{Object, Value};

use super::{Build, Fields};
use crate::front::definition::ast::{Branch, BranchKind, Fork, ForkBranch, Initial, Invocation};
use crate::front::definition::keys::{BRANCH, FORK, INITIAL, INVOCATION};
use crate::front::definition::{json, messages};
use crate::source::{Span, Spanned};

impl Build<'_, '_> {
    /// Reads the branches of a key that holds them directly.
    pub(super) fn branches_of(&mut self, fields: Fields<'_, '_>, key: &str) -> Vec<Branch> {
        fields
            .get(key)
            .map(|value| self.branches(value))
            .unwrap_or_default()
    }

    /// Reads the branches of a value: a target, an object, or a list of both.
    pub(super) fn branches(&mut self, value: &Value<'_>) -> Vec<Branch> {
        match value {
            Value::Array(list) => {
                if list.elements.is_empty() {
                    let at = self.place.range(list);
                    self.diags.push(messages::empty_branches(at));
                }
                let branches = list.elements.iter();
                branches.filter_map(|value| self.branch(value)).collect()
            }
            _ => self.branch(value).into_iter().collect(),
        }
    }

    fn branch(&mut self, value: &Value<'_>) -> Option<Branch> {
        let span = self.span(value);
        let Value::Object(object) = value else {
            return Some(Branch {
                span,
                kind: BranchKind::Target(vec![self.spanned(value)?]),
                guards: Vec::new(),
                actions: Vec::new(),
                internal: None,
                description: None,
                meta: serde_json::Map::new(),
            });
        };
        let fields = Fields {
            object,
            shape: &BRANCH,
        };
        self.in_the_way(fields);
        Some(Branch {
            span,
            kind: self.branch_kind(fields),
            guards: self.guard_uses(fields),
            actions: self.names(fields, "actions"),
            internal: self.internal(fields),
            description: self.text(fields, "description"),
            meta: fields.host(),
        })
    }

    /// Reads the effect of a branch: the first of `target`, `fork` and `invoke` that it has.
    ///
    /// If it has several, the rest was reported.
    fn branch_kind(&mut self, fields: Fields<'_, '_>) -> BranchKind {
        if fields.get("target").is_some() {
            return BranchKind::Target(self.targets(fields, "target"));
        }
        if let Some(property) = fields.property("fork") {
            return match &property.value {
                Value::Object(fork) => {
                    BranchKind::Fork(self.fork(fork, self.place.range(&property.name)))
                }
                _ => BranchKind::Target(Vec::new()),
            };
        }
        let at = self
            .place
            .bytes(fields.object.range.start, fields.object.range.start + 1);
        if fields.get("invoke").is_some() {
            if fields.get("on_complete").is_none() {
                let what = "a transition with `invoke`";
                self.diags
                    .push(messages::missing_key(at, what, "`on_complete`"));
            }
            let invoked = self
                .text(fields, "invoke")
                .zip(self.text(fields, "on_complete"));
            return match invoked {
                Some((workflow, on_complete)) => BranchKind::Invoke {
                    workflow,
                    input: fields.get("input").map(json::value),
                    on_complete,
                    on_fail: self.text(fields, "on_fail"),
                },
                None => BranchKind::Target(Vec::new()),
            };
        }
        // With anything else it may add to a transition that is drawn; whether one is, is a later stage's question.
        if fields.object.properties.is_empty() {
            self.diags
                .push(messages::missing_key(at, "a transition", "`target`"));
        }
        BranchKind::Target(Vec::new())
    }

    /// Reads the names under a key that may hold one or a list of them.
    fn targets(&mut self, fields: Fields<'_, '_>, key: &str) -> Vec<Spanned<String>> {
        let value = fields.get(key);
        value.map_or_else(Vec::new, |value| self.target_names(value))
    }

    fn target_names(&mut self, value: &Value<'_>) -> Vec<Spanned<String>> {
        match value {
            Value::Array(list) => {
                if list.elements.is_empty() {
                    let at = self.span(value);
                    self.diags.push(messages::empty_targets(at));
                }
                let names = list.elements.iter();
                names.filter_map(|name| self.spanned(name)).collect()
            }
            other => self.spanned(other).into_iter().collect(),
        }
    }

    /// Reads the beginning of a machine or a state.
    ///
    /// It is a name, a list of names, or `{"target": …, "actions": …}`.
    pub(super) fn initial(&mut self, fields: Fields<'_, '_>, key: &str) -> Option<Initial> {
        let value = fields.get(key)?;
        let span = self.span(value);
        let (targets, actions) = match value {
            Value::Object(object) => {
                let inner = Fields {
                    object,
                    shape: &INITIAL,
                };
                (self.targets(inner, "target"), self.names(inner, "actions"))
            }
            other => (self.target_names(other), Vec::new()),
        };
        // An empty list, or one of values that aren't names, was reported.
        if targets.is_empty() {
            return None;
        }
        Some(Initial {
            span,
            targets,
            actions,
        })
    }

    /// Reads `internal`, or the opposite of `reenter`.
    fn internal(&mut self, fields: Fields<'_, '_>) -> Option<Spanned<bool>> {
        let flag = |key: &str| match fields.get(key) {
            Some(Value::BooleanLit(flag)) => Some(flag.value),
            _ => None,
        };
        if let (Some(_), Some(other)) = (fields.get("internal"), fields.property("reenter")) {
            let at = self.place.range(&other.name);
            self.diags
                .push(messages::ignored_key(at, "reenter", "internal"));
        }
        let (key, value) = match flag("internal") {
            Some(internal) => ("internal", internal),
            None => ("reenter", !flag("reenter")?),
        };
        let property = fields.property(key)?;
        Some(Spanned::new(value, self.place.range(&property.name)))
    }

    /// Reads `invoke` of a state.
    pub(super) fn invocation(&mut self, fields: Fields<'_, '_>) -> Option<Invocation> {
        let Some(Value::Object(object)) = fields.get("invoke") else {
            return None;
        };
        let inner = Fields {
            object,
            shape: &INVOCATION,
        };
        Some(Invocation {
            workflow: self.text(inner, "src")?,
            input: inner.get("input").map(json::value),
            on_done: self.branches_of(inner, "on_done"),
            on_error: self.branches_of(inner, "on_error"),
        })
    }

    /// Reports keys that another key makes meaningless, and keys that mean nothing without another.
    fn in_the_way(&mut self, fields: Fields<'_, '_>) {
        let kinds = ["target", "fork", "invoke"];
        let mut present = kinds.iter().filter_map(|key| fields.property(key));
        let first = present.next().map(|first| first.name.as_str());
        for other in present {
            let at = self.place.range(&other.name);
            let first = first.unwrap_or_default();
            self.diags
                .push(messages::ignored_key(at, other.name.as_str(), first));
        }
        if first == Some("invoke") || fields.get("invoke").is_some() {
            return;
        }
        for key in ["input", "on_complete", "on_fail"] {
            if let Some(property) = fields.property(key) {
                let at = self.place.range(&property.name);
                let inside_fork = first == Some("fork") && key != "input";
                self.diags
                    .push(messages::without_invoke(at, key, inside_fork));
            }
        }
    }

    fn fork(&mut self, fork: &Object<'_>, span: Span) -> Fork {
        let fields = Fields {
            object: fork,
            shape: &FORK,
        };
        Fork {
            span,
            branches: self.map(fields, "branches", |build, value| {
                let text = |key| match value {
                    Value::Object(object) => {
                        json::get(object, key).and_then(|it| build.spanned(it))
                    }
                    _ => None,
                };
                ForkBranch {
                    initial: text("initial"),
                    terminal: text("terminal"),
                }
            }),
            any: self
                .text(fields, "join")
                .is_some_and(|it| it.value == "any"),
            on_complete: self.text(fields, "on_complete"),
            on_fail: self.text(fields, "on_fail"),
        }
    }
}
