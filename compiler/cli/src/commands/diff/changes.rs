//! The differences of two machines, as `show` has them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};
use statemark_compiler::pass::trigger::format_duration;

use super::plain;
use crate::printer::{Palette, WIDTH, fit};

/// The lists of a machine that are compared, each with the words for one of its items.
const LISTS: [(&str, &str); 5] = [
    ("states", "state"),
    ("transitions", "transition"),
    ("events", "event"),
    ("actions", "action"),
    ("ambiguities", "ambiguous label"),
];

/// The beginning of the names of timers that `after` implies.
const AFTER: &str = "after.";

/// The keys that only readers read.
const TEXTS: [&str; 4] = ["title", "description", "label", "implied"];

/// The keys that say nothing by themselves, or in other words.
const DERIVED: [&str; 4] = ["id", "name", "initial_targets", "target"];

/// The changes in a machine.
#[derive(Debug, Default, Serialize)]
pub(super) struct Changes {
    /// The differences by list.
    ///
    /// Lists are states, transitions, events, actions, ambiguous labels, and `machine` for its own keys.
    lists: BTreeMap<&'static str, ListChange>,
    /// Fields that the data begins with, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    data: Vec<KeyChange>,
    /// Items whose texts for readers differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    texts: Vec<String>,
}

/// The changes in a list.
#[derive(Debug, Default, Serialize)]
struct ListChange {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gone: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    new: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<ItemChange>,
}

/// The changes in an item.
#[derive(Debug, Serialize)]
struct ItemChange {
    name: String,
    changes: Vec<KeyChange>,
}

/// A key with another value.
#[derive(Debug, Serialize)]
struct KeyChange {
    key: String,
    /// `null` where it wasn't there.
    old: Value,
    new: Value,
}

/// Compares two machines.
pub(super) fn compare(old: &Value, new: &Value) -> Changes {
    let (old, new) = (&as_written(old), &as_written(new));
    let mut changes = Changes::default();
    changes.machine(old, new);
    for (list, _) in LISTS {
        let found = match list {
            "transitions" => changes.transitions(items(old, list), items(new, list)),
            _ => changes.by_name(list, items(old, list), items(new, list)),
        };
        changes.add(list, found);
    }
    changes
}

/// Returns a machine without what its author hasn't written.
///
/// That are ends that stand for `[*]`, and the parts of `after`.
fn as_written(machine: &Value) -> Value {
    let mut machine = machine.clone();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for action in items(&machine, "actions") {
        let delay = action.get("delay").and_then(Value::as_u64);
        let timer = action.get("schedules").and_then(Value::as_str);
        if let (Some(timer), Some(delay)) = (timer.filter(|it| it.starts_with(AFTER)), delay) {
            names.insert(
                timer.to_owned(),
                format!("after {}", format_duration(delay)),
            );
        }
    }
    for state in items(&machine, "states") {
        let is_implied = state.get("implied") == Some(&Value::Bool(true));
        if let Some(id) = state
            .get("id")
            .and_then(Value::as_str)
            .filter(|_| is_implied)
        {
            names.insert(id.to_owned(), "[*]".to_owned());
        }
    }
    for (list, _) in LISTS {
        if let Some(items) = machine.get_mut(list).and_then(Value::as_array_mut) {
            items.retain(|item| !name(item).is_some_and(|name| is_implied(&name, &names)));
            for item in items {
                for key in ["entry", "exit"] {
                    if let Some(calls) = item.get_mut(key).and_then(Value::as_array_mut) {
                        calls.retain(|it| !it.as_str().is_some_and(|it| is_implied(it, &names)));
                    }
                }
                for key in ["events", "targets"] {
                    let words = item.get_mut(key).and_then(Value::as_array_mut);
                    for word in words.into_iter().flatten() {
                        if let Some(said) = word.as_str().and_then(|it| names.get(it)) {
                            *word = said.clone().into();
                        }
                    }
                }
            }
        }
    }
    machine
}

/// Reports whether a name stands for something that its author wrote otherwise.
fn is_implied(name: &str, names: &BTreeMap<String, String>) -> bool {
    names.contains_key(name.strip_prefix("cancel.").unwrap_or(name))
}

fn items<'v>(machine: &'v Value, list: &str) -> &'v [Value] {
    let list = machine.get(list).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

impl Changes {
    /// Reports whether nothing differs.
    pub(super) fn is_nothing(&self) -> bool {
        self.lists.is_empty() && self.data.is_empty() && self.texts.is_empty()
    }

    fn add(&mut self, list: &'static str, change: ListChange) {
        if !(change.gone.is_empty() && change.new.is_empty() && change.changed.is_empty()) {
            self.lists.insert(list, change);
        }
    }

    /// Compares the machine's own keys.
    fn machine(&mut self, old: &Value, new: &Value) {
        let own = |machine: &Value| -> Map<String, Value> {
            let kept = [
                "title",
                "description",
                "initial",
                "entry",
                "exit",
                "claims",
                "guards",
            ];
            let mut keys: Map<String, Value> = kept
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), machine.get(*key)?.clone())))
                .collect();
            let meta = machine.get("meta").and_then(Value::as_object);
            keys.extend(
                meta.into_iter()
                    .flatten()
                    .map(|(key, it)| (key.clone(), it.clone())),
            );
            keys
        };
        let changed = self.item("the machine", &own(old), &own(new));
        let change = ListChange {
            changed: changed.into_iter().collect(),
            ..ListChange::default()
        };
        self.add("machine", change);
        let data = |machine: &Value| {
            let data = machine.get("context").and_then(Value::as_object);
            data.cloned().unwrap_or_default()
        };
        self.data = key_changes(&data(old), &data(new));
    }

    /// Compares items that have a name of their own.
    fn by_name(&mut self, list: &str, old: &[Value], new: &[Value]) -> ListChange {
        let by_name = |items: &[Value]| -> BTreeMap<String, Map<String, Value>> {
            let named = items.iter().filter_map(|it| Some((name(it)?, facts(it))));
            named.collect()
        };
        let (old, mut new) = (by_name(old), by_name(new));
        let mut change = ListChange::default();
        for (name, before) in &old {
            match new.remove(name) {
                None => change.gone.push(name.clone()),
                Some(after) => {
                    let words = LISTS.iter().find(|(it, _)| *it == list);
                    let what = words.map_or("", |(_, what)| *what);
                    let mut found = self.item(&format!("{what} {name}"), before, &after);
                    if let Some(found) = &mut found {
                        found.name.clone_from(name);
                    }
                    change.changed.extend(found);
                }
            }
        }
        change.new = new.into_keys().collect();
        change
    }

    /// Compares transitions.
    ///
    /// They are told apart by where they lead on which event, and then by what else is equal.
    fn transitions(&mut self, old: &[Value], new: &[Value]) -> ListChange {
        let facts =
            |items: &[Value]| -> Vec<Map<String, Value>> { items.iter().map(facts).collect() };
        let mut old = facts(old);
        let mut new: Vec<Option<Map<String, Value>>> = facts(new).into_iter().map(Some).collect();
        let mut pairs = Vec::new();
        // What is equal in more is the same transition rather than what is equal in less.
        for keys in [
            ["source", "events", "targets", "guard"].as_slice(),
            &["source", "events", "targets"],
            &["source", "events", "guard"],
        ] {
            let values = |facts: &Map<String, Value>| -> Vec<Option<Value>> {
                keys.iter().map(|key| facts.get(*key).cloned()).collect()
            };
            // Of those that are equal, the first in the old machine gets the first in the new one.
            let mut equal: HashMap<Vec<Option<Value>>, VecDeque<usize>> = HashMap::new();
            for (index, after) in new.iter().enumerate() {
                if let Some(after) = after {
                    equal.entry(values(after)).or_default().push_back(index);
                }
            }
            let mut left = Vec::new();
            for before in old {
                let found = equal
                    .get_mut(&values(&before))
                    .and_then(VecDeque::pop_front);
                let after = found.and_then(|index| new.get_mut(index)?.take());
                match after {
                    Some(after) => pairs.push((before, after)),
                    None => left.push(before),
                }
            }
            old = left;
        }
        let mut change = ListChange::default();
        for (before, after) in pairs {
            let name = statement(&before);
            change.changed.extend(self.item(&name, &before, &after));
        }
        change.gone = old.iter().map(statement).collect();
        change.new = new.iter().flatten().map(statement).collect();
        change
    }

    /// Compares the keys of an item; what only readers read is noted.
    fn item(
        &mut self,
        name: &str,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
    ) -> Option<ItemChange> {
        let (texts, changes): (Vec<KeyChange>, Vec<KeyChange>) = key_changes(old, new)
            .into_iter()
            .partition(|change| TEXTS.contains(&change.key.as_str()));
        if !texts.is_empty() {
            let keys: Vec<&str> = texts.iter().map(|change| change.key.as_str()).collect();
            self.texts.push(format!("{name}: {}", keys.join(", ")));
        }
        (!changes.is_empty()).then(|| ItemChange {
            name: name.to_owned(),
            changes,
        })
    }

    /// Describes the changes, a line each.
    pub(super) fn describe(&self, palette: Palette) -> String {
        let mut text = String::new();
        for list in ["machine"].into_iter().chain(LISTS.map(|(list, _)| list)) {
            let Some(change) = self.lists.get(list) else {
                continue;
            };
            let words = LISTS.iter().find(|(it, _)| *it == list);
            let what = words.map_or(String::new(), |(_, what)| format!("{what} "));
            for name in &change.gone {
                let _ = writeln!(text, "  {} {what}{name}", palette.bad("-"));
            }
            for name in &change.new {
                let _ = writeln!(text, "  {} {what}{name}", palette.good("+"));
            }
            for item in &change.changed {
                let _ = writeln!(text, "  ~ {what}{}", item.name);
                for change in &item.changes {
                    text += &change.describe("      ");
                }
            }
        }
        for change in &self.data {
            let _ = writeln!(text, "  ~ data {}", change.line());
        }
        for item in &self.texts {
            let _ = writeln!(text, "  {}", palette.dim(&format!("text of {item}")));
        }
        text
    }
}

impl KeyChange {
    fn describe(&self, indent: &str) -> String {
        format!("{indent}{}\n", self.line())
    }

    /// Says what changed in a line, or what a list has lost and got.
    fn line(&self) -> String {
        let key = &self.key;
        if let (Value::Array(old), Value::Array(new)) = (&self.old, &self.new)
            && let lost = without(old, new)
            && let got = without(new, old)
            && !(lost.is_empty() && got.is_empty())
        {
            let mut parts = Vec::new();
            if !lost.is_empty() {
                parts.push(format!("without {}", lost.join(", ")));
            }
            if !got.is_empty() {
                parts.push(format!("with {}", got.join(", ")));
            }
            return fit(&format!("{key} is now {}", parts.join(", and ")), WIDTH);
        }
        let value = |value: &Value| fit(&plain(value), WIDTH / 2 - 8);
        match (&self.old, &self.new) {
            (Value::Null | Value::Bool(false), new) => format!("{key} is now {}", value(new)),
            (old, Value::Null) => format!("{key} was {}, and is gone", value(old)),
            (old, new) => format!("{key} was {}, and is now {}", value(old), value(new)),
        }
    }
}

fn without(list: &[Value], other: &[Value]) -> Vec<String> {
    let other: HashSet<&Value> = other.iter().collect();
    let left = list.iter().filter(|it| !other.contains(it));
    left.map(plain).collect()
}

/// Returns the name of an item.
fn name(item: &Value) -> Option<String> {
    let text = |key| item.get(key).and_then(Value::as_str);
    match (text("state"), text("label")) {
        (Some(state), Some(label)) => Some(format!("{label} of {state}")),
        _ => text("id").or_else(|| text("name")).map(str::to_owned),
    }
}

/// Returns what an item says, with what only hosts read beside the rest.
fn facts(item: &Value) -> Map<String, Value> {
    let mut facts = item.as_object().cloned().unwrap_or_default();
    for key in DERIVED {
        facts.remove(key);
    }
    if let Some(Value::Object(meta)) = facts.remove("meta") {
        facts.extend(meta);
    }
    facts
}

/// Returns a transition as its author would write it.
fn statement(facts: &Map<String, Value>) -> String {
    let list = |key: &str| -> String {
        let list = facts.get(key).and_then(Value::as_array);
        let texts: Vec<String> = list.into_iter().flatten().map(plain).collect();
        texts.join(", ")
    };
    let text = |key: &str| facts.get(key).and_then(Value::as_str);
    let source = text("source").unwrap_or("[any]");
    let targets = list("targets");
    let mut statement = match targets.is_empty() {
        true => format!("{source} : "),
        false => format!("{source} --> {targets} : "),
    };
    let guard = text("guard").map(|guard| format!("[{guard}]"));
    let actions = Some(list("actions")).filter(|it| !it.is_empty());
    let events = Some(list("events")).filter(|it| !it.is_empty());
    let parts = [events, guard, actions.map(|it| format!("/ {it}"))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    statement += &parts.join(" ");
    statement.trim_end_matches([' ', ':']).to_owned()
}

/// Returns the keys whose values differ.
fn key_changes(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<KeyChange> {
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let value = |map: &Map<String, Value>, key| map.get(key).cloned().unwrap_or(Value::Null);
    let pairs = keys.into_iter().map(|key| KeyChange {
        key: key.clone(),
        old: value(old, key),
        new: value(new, key),
    });
    pairs.filter(|it| it.old != it.new).collect()
}
