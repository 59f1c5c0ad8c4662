//! The requirements of a definition's states: names should be declared, and checks should be runnable.

use std::collections::BTreeSet;

use jsonc_parser::ast::{Object, Value};

use super::json::{self, Place};
use super::keys::BUILTIN_CONTRACTS;
use super::messages;
use crate::diag::{Code, Diagnostic, Diags};
use crate::source::Span;

/// Checks the names in all `requires`.
pub(super) fn check(place: Place<'_>, machine: &Object<'_>, diags: &mut Diags) {
    let mut known = BTreeSet::new();
    for key in ["artifacts", "checks", "context"] {
        names(json::get(machine, key), &mut known);
    }
    if let Some(Value::Object(schema)) = json::get(machine, "context_schema") {
        names(json::get(schema, "properties"), &mut known);
    }
    let builtin = BUILTIN_CONTRACTS.iter();
    known.extend(builtin.filter_map(|it| it.split_once('/').map(|(_, name)| name.to_owned())));
    let known: Vec<String> = known.into_iter().collect();
    let mut checks = BTreeSet::new();
    names(json::get(machine, "checks"), &mut checks);
    states(place, machine, (&known, &checks), diags);
    commands(place, machine, diags);
}

/// Checks that the commands of checks name a program.
fn commands(place: Place<'_>, machine: &Object<'_>, diags: &mut Diags) {
    let Some(Value::Object(checks)) = json::get(machine, "checks") else {
        return;
    };
    for check in &checks.properties {
        if let Value::Object(declared) = &check.value
            && let Some(command) = json::get(declared, "command")
            && let Value::Array(words) = command
        {
            let first = words.elements.first();
            if matches!(first, None | Some(Value::StringLit(_)))
                && !matches!(first, Some(Value::StringLit(it)) if !it.value.is_empty())
            {
                diags.push(messages::empty_command(place.span_of(command)));
            }
        }
    }
}

fn names(object: Option<&Value<'_>>, known: &mut BTreeSet<String>) {
    if let Some(Value::Object(object)) = object {
        let names = object.properties.iter().map(|it| it.name.as_str());
        known.extend(names.map(str::to_owned));
    }
}

/// Walks the states. Recursion is bounded by the text's nesting, which was limited.
fn states(
    place: Place<'_>,
    parent: &Object<'_>,
    (known, checks): (&[String], &BTreeSet<String>),
    diags: &mut Diags,
) {
    let Some(Value::Object(all)) = json::get(parent, "states") else {
        return;
    };
    for state in &all.properties {
        let Value::Object(state) = &state.value else {
            continue;
        };
        match json::get(state, "requires") {
            Some(Value::Object(by_event)) => {
                for event in &by_event.properties {
                    list(place, &event.value, known, diags);
                }
            }
            Some(value) => list(place, value, known, diags),
            None => {}
        }
        check_new(place, state, checks, diags);
        states(place, state, (known, checks), diags);
    }
}

/// Checks that a state requires the artifacts that it wants anew.
fn check_new(place: Place<'_>, state: &Object<'_>, checks: &BTreeSet<String>, diags: &mut Diags) {
    let Some(Value::Array(wanted)) = json::get(state, "requires_new") else {
        return;
    };
    let mut required = BTreeSet::new();
    let mut add = |value: &Value<'_>| {
        if let Value::Array(list) = value {
            let texts = list.elements.iter().filter_map(|element| match element {
                Value::StringLit(text) => Some(text.value.to_string()),
                _ => None,
            });
            required.extend(texts);
        }
    };
    match json::get(state, "requires") {
        Some(Value::Object(by_event)) => by_event.properties.iter().for_each(|it| add(&it.value)),
        Some(list) => add(list),
        None => {}
    }
    for element in &wanted.elements {
        let Value::StringLit(text) = element else {
            continue;
        };
        let at = place.span_of(element);
        if checks.contains(&*text.value) {
            diags.push(needless(at, &text.value));
        } else if !required.contains(&*text.value) {
            let artifacts = required.difference(checks).map(String::as_str);
            let meant = diags.nearest(&text.value, artifacts);
            diags.push(unrequired(at, &text.value, meant));
        }
    }
}

fn list(place: Place<'_>, value: &Value<'_>, known: &[String], diags: &mut Diags) {
    let Value::Array(list) = value else {
        return;
    };
    for element in &list.elements {
        if let Value::StringLit(text) = element
            && !known.iter().any(|name| *name == *text.value)
        {
            let at = place.span_of(element);
            let meant = diags.nearest(&text.value, known.iter().map(String::as_str));
            diags.push(unknown_requirement(at, &text.value, meant));
        }
    }
}

/// Reports that a state wants something anew that it doesn't require.
fn unrequired(at: Span, name: &str, meant: Option<&str>) -> Diagnostic {
    let message = format!("`requires_new` names `{name}`, which the state doesn't require");
    let found = Diagnostic::new(Code::UnknownRequirement, at, message);
    match meant {
        Some(meant) => messages::did_you_mean(found, at, meant),
        None => found.help(format!(
            "name it in `requires`, too: `\"requires\": [\"{name}\"]`"
        )),
    }
}

/// Reports that a state wants a check anew, which is so in any case.
fn needless(at: Span, name: &str) -> Diagnostic {
    let message =
        format!("`requires_new` names the check `{name}`, which counts for one visit anyway");
    Diagnostic::new(Code::UnknownRequirement, at, message)
        .help("leave it out: `requires_new` is about artifacts")
}

/// Reports that no artifact, check or field of the context has that name.
fn unknown_requirement(at: Span, name: &str, meant: Option<&str>) -> Diagnostic {
    let message = format!("`requires` names `{name}`, which is no artifact, check or field");
    let found = Diagnostic::new(Code::UnknownRequirement, at, message)
        .note("it is taken for an artifact that has no contract");
    let Some(meant) = meant else {
        return found.help(format!(
            "declare it: `\"artifacts\": {{\"{name}\": {{}}}}`, or a check of that name in `checks`"
        ));
    };
    messages::did_you_mean(found, at, meant)
}
