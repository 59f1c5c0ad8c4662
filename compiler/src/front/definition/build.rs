//! From checked values to the syntax tree.
//!
//! What isn't of the wanted type was reported by [`check`](super::check) and is left out here without a word. Reported here
//! are the rules between keys: one that is in the way of another, one that another needs.

mod guard;
mod transition;

use std::collections::{BTreeMap, BTreeSet};

use jsonc_parser::ast::{Object, ObjectProp, Value};

use super::ast::{
    ActionDeclaration, Definition, EventDeclaration, Guard, Interrupt, Kind, Named, Outcome, State,
};
use super::json::{self, Place};
use super::keys::{MACHINE, STATE};
use super::messages;
use super::shape::{Rule, Shape};
use crate::diag::Diags;
use crate::source::{Span, Spanned};

/// Most values of the context whose spans are kept.
///
/// Unit: values. Why: a finding about one past it is shown at the whole context, and a context of a megabyte doesn't
/// take as much again for each level.
const MAX_PLACES: usize = 10_000;

/// Longest path whose place is kept. Unit: bytes. Why: as above; nobody writes a longer one.
const MAX_PATH: usize = 256;

/// Makes the definition of a machine's object.
pub(super) fn definition(place: Place<'_>, machine: &Object<'_>, diags: &mut Diags) -> Definition {
    let mut build = Build { place, diags };
    let fields = Fields {
        object: machine,
        shape: &MACHINE,
    };
    Definition {
        span: place.range(machine),
        id: build.text(fields, "id"),
        title: build.text(fields, "title"),
        description: build.text(fields, "description"),
        initial: build.initial(fields, "initial"),
        context: fields
            .get("context")
            .filter(|value| matches!(value, Value::Object(_)))
            .map(|value| Spanned::new(json::value(value), build.span(value))),
        context_places: fields
            .get("context")
            .map(|value| build.places(value))
            .unwrap_or_default(),
        inputs: match fields.get("inputs") {
            Some(Value::Array(list)) => {
                let names = list.elements.iter();
                names.filter_map(|name| build.spanned(name)).collect()
            }
            _ => Vec::new(),
        },
        events: build.map(fields, "events", Build::event),
        // A broken guard stays as one that always holds, so that its name is known where it is used.
        guards: build.map(fields, "guards", |build, value| {
            build
                .guard(value)
                .map_or(Guard::All(Vec::new()), |guard| guard.value)
        }),
        guards_declared: matches!(fields.get("guards"), Some(Value::StringLit(_))),
        actions: build.map(fields, "actions", Build::action),
        actions_fail: fields
            .get("actions_fail")
            .and_then(|value| json::value(value).as_bool()),
        states: build.map(fields, "states", Build::state),
        interrupts: build.map(fields, "interrupts", |build, value| build.interrupt(value)),
        on: build.map(fields, "on", |build, value| build.branches(value)),
        meta: fields.host(),
    }
}

/// An object with the table of its keys.
#[derive(Clone, Copy)]
struct Fields<'o, 't> {
    object: &'o Object<'t>,
    shape: &'static Shape,
}

impl<'o, 't> Fields<'o, 't> {
    /// Returns the first property under that key, or under an old spelling of it.
    fn property(self, key: &str) -> Option<&'o ObjectProp<'t>> {
        self.object.properties.iter().find(|property| {
            let known = self.shape.key(property.name.as_str());
            known.is_some_and(|known| known.canonical() == key)
        })
    }

    /// Returns the value of that property.
    fn get(self, key: &str) -> Option<&'o Value<'t>> {
        self.property(key).map(|property| &property.value)
    }

    /// Returns the values of the keys that only hosts read, under their canonical names.
    ///
    /// Sorted by key: `serde_json` keeps the order of the text only with a feature that isn't turned on.
    fn host(self) -> serde_json::Map<String, serde_json::Value> {
        let mut meta = serde_json::Map::new();
        for property in &self.object.properties {
            let Some(key) = self.shape.key(property.name.as_str()) else {
                continue;
            };
            let name = key.canonical();
            let is_host = self
                .shape
                .key(name)
                .is_some_and(|key| key.rule == Rule::Host);
            if is_host && key.want.accepts(&property.value) && !meta.contains_key(name) {
                meta.insert(name.to_owned(), json::value(&property.value));
            }
        }
        meta
    }
}

/// Makes trees, and reports what is wrong between keys.
struct Build<'p, 'd> {
    place: Place<'p>,
    diags: &'d mut Diags,
}

impl Build<'_, '_> {
    fn span(&self, value: &Value<'_>) -> Span {
        self.place.range(value)
    }

    /// Returns a text with its span, the quotes included.
    fn spanned(&self, value: &Value<'_>) -> Option<Spanned<String>> {
        match value {
            Value::StringLit(text) => {
                Some(Spanned::new(text.value.to_string(), self.place.range(text)))
            }
            _ => None,
        }
    }

    fn text(&self, fields: Fields<'_, '_>, key: &str) -> Option<Spanned<String>> {
        fields.get(key).and_then(|value| self.spanned(value))
    }

    /// Reads a name, a list of names, or names as `{"type": name}`.
    fn names(&self, fields: Fields<'_, '_>, key: &str) -> Vec<Spanned<String>> {
        let name = |value: &Value<'_>| match value {
            Value::Object(object) => json::get(object, "type").and_then(|it| self.spanned(it)),
            _ => self.spanned(value),
        };
        match fields.get(key) {
            Some(Value::Array(list)) => list.elements.iter().filter_map(name).collect(),
            Some(value) => name(value).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// Returns the names of the entries of an object, each once.
    fn keys(&self, fields: Fields<'_, '_>, key: &str) -> Vec<Spanned<String>> {
        let Some(Value::Object(map)) = fields.get(key) else {
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        let properties = map.properties.iter();
        let first = properties.filter(|it| seen.insert(it.name.as_str()));
        first
            .map(|it| Spanned::new(it.name.as_str().to_owned(), self.place.range(&it.name)))
            .collect()
    }

    /// Reads the entries of an object of named things.
    ///
    /// Broken ones are included: their names are there. Of two with one name the first counts.
    fn map<T>(
        &mut self,
        fields: Fields<'_, '_>,
        key: &str,
        make: impl Fn(&mut Self, &Value<'_>) -> T,
    ) -> Vec<Named<T>> {
        let Some(Value::Object(map)) = fields.get(key) else {
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        let mut entries = Vec::new();
        for property in &map.properties {
            let name = property.name.as_str();
            let value = make(self, &property.value);
            if seen.insert(name) {
                let name = Spanned::new(name.to_owned(), self.place.range(&property.name));
                entries.push(Named { name, value });
            }
        }
        entries
    }

    fn event(&mut self, value: &Value<'_>) -> EventDeclaration {
        let Value::Object(object) = value else {
            return EventDeclaration::default();
        };
        let text = |key| json::get(object, key).and_then(|value| self.spanned(value));
        EventDeclaration {
            title: text("title"),
            description: text("description"),
            data: json::get(object, "data")
                .map(|value| Spanned::new(json::value(value), self.span(value))),
        }
    }

    fn action(&mut self, value: &Value<'_>) -> ActionDeclaration {
        let Value::Object(object) = value else {
            return ActionDeclaration::Host {
                fails: None,
                meta: serde_json::Map::new(),
            };
        };
        // The last one may stand next to `effect`.
        let kinds = ["raise", "assign", "effect", "fails"];
        let mut present = object
            .properties
            .iter()
            .filter(|property| kinds.contains(&property.name.as_str()));
        match present.next() {
            None => {
                let needs = "`raise`, `assign`, `effect` or `fails`";
                self.diags.push(messages::missing_key(
                    self.place.span_of(value),
                    "an action",
                    needs,
                ));
            }
            Some(first) => {
                let mut present: Vec<_> = present.collect();
                let mut first = first;
                // Whatever stands before it, an assignment is carried out unless the action raises an event.
                let assign = present
                    .iter()
                    .position(|it| it.name.as_str() == "assign" && first.name.as_str() != "raise");
                let next = assign.or_else(|| (first.name.as_str() == "fails").then_some(0));
                if let Some(next) = next.and_then(|at| present.get_mut(at)) {
                    std::mem::swap(&mut first, next);
                }
                for other in present {
                    let (name, first) = (other.name.as_str(), first.name.as_str());
                    if name != first && (first, name) != ("effect", "fails") {
                        let at = self.place.range(&other.name);
                        self.diags.push(messages::ignored_key(at, name, first));
                    }
                }
                if let ("raise", Some(event)) = (first.name.as_str(), self.spanned(&first.value)) {
                    return ActionDeclaration::Raise(event);
                }
            }
        }
        let mut meta = match json::value(value) {
            serde_json::Value::Object(map) => map,
            _ => serde_json::Map::new(),
        };
        match json::get(object, "assign") {
            Some(Value::Object(fields)) => {
                meta.remove("assign");
                meta.remove("fails");
                let fields = self.assigned(fields);
                ActionDeclaration::Assign { fields, meta }
            }
            _ => ActionDeclaration::Host {
                fails: meta.remove("fails").and_then(|fails| fails.as_bool()),
                meta,
            },
        }
    }

    /// Reads the fields that an action assigns, each with its value. Of two with one name the first counts.
    fn assigned(&self, object: &Object<'_>) -> Vec<Named<Spanned<serde_json::Value>>> {
        let mut seen = BTreeSet::new();
        let properties = object.properties.iter();
        let first = properties.filter(|property| seen.insert(property.name.as_str()));
        first
            .map(|property| Named {
                name: Spanned::new(
                    property.name.as_str().to_owned(),
                    self.place.range(&property.name),
                ),
                value: Spanned::new(json::value(&property.value), self.span(&property.value)),
            })
            .collect()
    }

    /// Returns the spans of the values in an object, by their dotted path.
    ///
    /// Recursion is bounded: the text's nesting was limited.
    fn places(&self, value: &Value<'_>) -> BTreeMap<String, Span> {
        let mut places = BTreeMap::new();
        self.add_places("", value, &mut places);
        places
    }

    fn add_places(&self, outer: &str, value: &Value<'_>, places: &mut BTreeMap<String, Span>) {
        let Value::Object(object) = value else { return };
        for property in &object.properties {
            let name = property.name.as_str();
            let dot = if outer.is_empty() { "" } else { "." };
            if places.len() >= MAX_PLACES || outer.len() + name.len() >= MAX_PATH {
                continue;
            }
            let path = format!("{outer}{dot}{name}");
            let at = self.place.span_of(&property.value);
            if !places.contains_key(&path) {
                places.insert(path.clone(), at);
                self.add_places(&path, &property.value, places);
            }
        }
    }

    fn interrupt(&mut self, value: &Value<'_>) -> Interrupt {
        let inner = |value: &Value<'_>, key: &str| match value {
            Value::Object(object) => json::get(object, key).and_then(|it| self.spanned(it)),
            _ => None,
        };
        let trigger = match value {
            Value::Object(object) => json::get(object, "trigger"),
            _ => None,
        };
        Interrupt {
            pattern: trigger.and_then(|trigger| inner(trigger, "file_pattern")),
            target: inner(value, "target"),
        }
    }

    fn state(&mut self, value: &Value<'_>) -> State {
        let Value::Object(object) = value else {
            return State::default();
        };
        let fields = Fields {
            object,
            shape: &STATE,
        };
        let kind = self.kind(fields);
        self.misplaced_in_state(fields, kind.as_ref().map(|kind| kind.value));
        let is_history = kind
            .as_ref()
            .is_some_and(|kind| kind.value == Kind::History);
        if let (Some(_), Some(target)) = (fields.get("initial"), fields.property("target")) {
            let at = self.place.range(&target.name);
            self.diags
                .push(messages::ignored_key(at, "target", "initial"));
        }
        State {
            kind,
            deep: self
                .text(fields, "history")
                .is_some_and(|it| it.value == "deep"),
            initial: self
                .initial(fields, "initial")
                .or_else(|| is_history.then(|| self.initial(fields, "target")).flatten()),
            states: self.map(fields, "states", Self::state),
            on: self.map(fields, "on", |build, value| build.branches(value)),
            always: self.branches_of(fields, "always"),
            after: self.map(fields, "after", |build, value| build.branches(value)),
            on_done: self.branches_of(fields, "on_done"),
            invoke: self.invocation(fields),
            entry: self.names(fields, "entry"),
            exit: self.names(fields, "exit"),
            title: self.text(fields, "title"),
            description: self.text(fields, "description"),
            instructions: self.text(fields, "instructions"),
            safe_next: self.text(fields, "safe_next"),
            on_max_iterations: self.text(fields, "on_max_iterations"),
            outcome: self.text(fields, "outcome").and_then(|text| {
                let outcome = match text.value.as_str() {
                    "success" => Outcome::Success,
                    "failure" => Outcome::Failure,
                    _ => return None,
                };
                Some(Spanned::new(outcome, text.span))
            }),
            while_waiting: self.names(fields, "while_waiting"),
            requires: self.keys(fields, "requires"),
            meta: fields.host(),
        }
    }

    /// Reads `type`, or takes a state for a history if only `history` says so.
    fn kind(&self, fields: Fields<'_, '_>) -> Option<Spanned<Kind>> {
        let Some(text) = self.text(fields, "type") else {
            return self
                .text(fields, "history")
                .filter(|_| fields.get("type").is_none())
                .map(|it| it.map(|_| Kind::History));
        };
        let kind = match text.value.as_str() {
            "atomic" => Kind::Atomic,
            "compound" => Kind::Compound,
            "parallel" => Kind::Parallel,
            "final" => Kind::Final,
            "history" => Kind::History,
            _ => return None,
        };
        Some(Spanned::new(kind, text.span))
    }

    /// Reports keys that mean nothing in a state of that type.
    fn misplaced_in_state(&mut self, fields: Fields<'_, '_>, kind: Option<Kind>) {
        // `outcome` may accompany a diagram, whose states have no type here.
        let wanted = [
            ("outcome", Kind::Final, "final", kind.is_some()),
            ("history", Kind::History, "history", kind.is_some()),
            ("target", Kind::History, "history", true),
        ];
        for (key, only, word, _) in wanted.into_iter().filter(|it| it.3) {
            if let Some(property) = fields.property(key).filter(|_| kind != Some(only)) {
                let at = self.place.range(&property.name);
                self.diags.push(messages::only_in_type(at, key, word));
            }
        }
    }
}
