//! Transitions: what stands under `on`, `always`, `after` and `on_done`.

use jsonc_parser::ast::{Object, Value};

use super::{Build, Fields};
use crate::front::definition::ast::{Branch, BranchKind};
use crate::front::definition::json;
use crate::front::definition::keys::BRANCH;
use crate::front::definition::report;
use crate::source::Spanned;

impl Build<'_, '_> {
    /// The branches of a key that holds them directly.
    pub(super) fn branches_of(&mut self, fields: Fields<'_, '_>, key: &str) -> Vec<Branch> {
        fields
            .get(key)
            .map(|value| self.branches(value))
            .unwrap_or_default()
    }

    /// The branches that a value gives: a target, an object, or a list of both.
    pub(super) fn branches(&mut self, value: &Value<'_>) -> Vec<Branch> {
        match value {
            Value::Array(list) => {
                if list.elements.is_empty() {
                    let at = self.place.range(list);
                    self.diags.push(report::empty_branches(at));
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
                kind: BranchKind::Target(Some(self.spanned(value)?)),
                guards: Vec::new(),
                actions: Vec::new(),
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
            description: self.text(fields, "description"),
            meta: fields.host(),
        })
    }

    /// What a branch does: the first of `target`, `fork` and `invoke` that it has. With several the rest was reported.
    fn branch_kind(&mut self, fields: Fields<'_, '_>) -> BranchKind {
        if fields.get("target").is_some() {
            return BranchKind::Target(self.text(fields, "target"));
        }
        if let Some(property) = fields.property("fork") {
            return match &property.value {
                Value::Object(fork) => BranchKind::Fork {
                    span: self.place.range(&property.name),
                    states: self.forked(fork),
                },
                _ => BranchKind::Target(None),
            };
        }
        let at = self
            .place
            .bytes(fields.object.range.start, fields.object.range.start + 1);
        if fields.get("invoke").is_some() {
            if fields.get("on_complete").is_none() {
                let what = "a transition with `invoke`";
                self.diags
                    .push(report::missing_key(at, what, "`on_complete`"));
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
                None => BranchKind::Target(None),
            };
        }
        // With anything else it may add to a transition that is drawn; whether one is, is a later stage's question.
        if fields.object.properties.is_empty() {
            self.diags
                .push(report::missing_key(at, "a transition", "`target`"));
        }
        BranchKind::Target(None)
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
                .push(report::beside(at, other.name.as_str(), first));
        }
        if first == Some("invoke") || fields.get("invoke").is_some() {
            return;
        }
        for key in ["input", "on_complete", "on_fail"] {
            if let Some(property) = fields.property(key) {
                let at = self.place.range(&property.name);
                let inside_fork = first == Some("fork") && key != "input";
                self.diags
                    .push(report::without_invoke(at, key, inside_fork));
            }
        }
    }

    /// Every state that a fork names, in the order of the text.
    fn forked(&self, fork: &Object<'_>) -> Vec<Spanned<String>> {
        let mut states = Vec::new();
        for property in &fork.properties {
            match (property.name.as_str(), &property.value) {
                ("on_complete" | "on_fail", value) => states.extend(self.spanned(value)),
                ("branches", Value::Object(branches)) => {
                    for branch in &branches.properties {
                        if let Value::Object(branch) = &branch.value {
                            let ends = branch.properties.iter();
                            let ends = ends
                                .filter(|it| matches!(it.name.as_str(), "initial" | "terminal"));
                            states.extend(ends.filter_map(|it| self.spanned(&it.value)));
                        }
                    }
                }
                _ => {}
            }
        }
        states
    }
}
