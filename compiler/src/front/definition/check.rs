//! Values against the tables: unknown, duplicate, missing keys, wrong types, bad values.
//!
//! Everything in a definition is visited once, what hosts read and what isn't known included, so that later steps may take
//! what they find and leave out the rest without a word. Recursion is bounded by the text's nesting, which was limited.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jsonc_parser::ast::{Array, NumberLit, Object, ObjectProp, Value};

use super::json::{self, Place};
use super::shape::{Rule, Shape, Want};
use super::{keys, messages};
use crate::diag::{Code, Diagnostic, Diags, nearest};
use crate::source::Span;

/// Checks an object against its shape, and everything in it.
pub(super) fn object(place: Place<'_>, object: &Object<'_>, shape: &Shape, diags: &mut Diags) {
    Check { place, diags }.object(object, shape, |_| true);
}

/// Checks the wrapper's own keys. The machine inside, and keys that belong there, are somebody else's.
pub(super) fn wrapper(place: Place<'_>, object: &Object<'_>, diags: &mut Diags) {
    Check { place, diags }.object(object, &keys::WRAPPER, |name| {
        name != "definition"
            && (keys::WRAPPER.key(name).is_some() || keys::MACHINE.key(name).is_none())
    });
}

/// Checks the timeouts of the declared `servers`, which are a list or an object.
///
/// Whoever starts them knows their other keys.
pub(super) fn timeouts(place: Place<'_>, servers: &Value<'_>, diags: &mut Diags) {
    let declarations: Vec<&Value<'_>> = match servers {
        Value::Array(list) => list.elements.iter().collect(),
        Value::Object(map) => map.properties.iter().map(|it| &it.value).collect(),
        _ => Vec::new(),
    };
    let mut check = Check { place, diags };
    for declaration in declarations {
        let Value::Object(declaration) = declaration else {
            continue;
        };
        for key in ["start_timeout", "timeout"] {
            if let Some(value) = json::get(declaration, key) {
                check.value(key, value, &Want::Either(&keys::TIMEOUT));
            }
        }
    }
}

struct Check<'p, 'd> {
    place: Place<'p>,
    diags: &'d mut Diags,
}

impl Check<'_, '_> {
    /// Checks the keys of an object for which `mine` holds.
    fn object(&mut self, object: &Object<'_>, shape: &Shape, mine: impl Fn(&str) -> bool) {
        self.duplicates(object, Some(shape));
        let keys = object.properties.iter();
        let present = keys.map(|property| property.name.as_str()).collect();
        for property in &object.properties {
            let name = property.name.as_str();
            if !mine(name) {
                continue;
            }
            match shape.key(name) {
                Some(key) => {
                    if let Rule::Old(now) = key.rule {
                        let at = self.place.range(&property.name);
                        self.diags.push(old_spelling(at, name, now));
                    }
                    self.value(name, &property.value, &key.want);
                }
                None => {
                    if !shape.open {
                        self.unknown(property, &present, shape);
                    }
                    self.any(&property.value);
                }
            }
        }
        let missing = shape
            .keys
            .iter()
            .filter(|key| key.rule == Rule::Required && json::get(object, key.name).is_none());
        for key in missing {
            let at = self.place.bytes(object.range.start, object.range.start + 1);
            self.diags.push(messages::missing_key(
                at,
                shape.what,
                &format!("`{}`", key.name),
            ));
        }
    }

    /// Checks a value, which is under `name`.
    fn value(&mut self, name: &str, value: &Value<'_>, want: &Want) {
        if !want.accepts(value) {
            self.wrong_type(name, value, want);
            self.any(value);
            return;
        }
        match (want, value) {
            (Want::Either(wants), _) => {
                if let Some(want) = wants.iter().find(|want| want.accepts(value)) {
                    self.value(name, value, want);
                }
            }
            (Want::Choice(choices), Value::StringLit(text))
                if !choices.contains(&text.value.as_ref()) =>
            {
                let at = self.place.span_of(value);
                self.diags
                    .push(messages::not_a_choice(at, name, &text.value, choices));
            }
            (Want::Name, Value::StringLit(text)) if text.value.is_empty() => {
                let at = self.place.span_of(value);
                self.diags.push(messages::empty_name(at));
            }
            (Want::Whole(least), Value::NumberLit(number)) => self.whole(name, number, *least),
            (Want::Positive, Value::NumberLit(number)) => self.positive(name, number),
            (Want::Duration(most), Value::StringLit(text)) => {
                let at = self.place.span_of(value);
                if !is_duration(&text.value, *most) {
                    self.diags
                        .push(messages::not_a_duration(at, name, &text.value, *most));
                }
            }
            (Want::Seconds(most), Value::NumberLit(number)) => self.seconds(name, number, *most),
            (Want::Command, Value::Array(list)) => self.elements(name, list, &Want::Text),
            (Want::List(item), Value::Array(list)) => self.elements(name, list, item),
            (Want::Map(item), Value::Object(map)) => {
                self.duplicates(map, None);
                for property in &map.properties {
                    let name = property.name.as_str();
                    // An open object may have any key; in one that declares things an empty name names nothing.
                    if name.is_empty() && !matches!(item, Want::Any) {
                        let at = self.place.range(&property.name);
                        self.diags.push(messages::empty_name(at));
                    }
                    self.value(name, &property.value, item);
                }
            }
            (Want::Object(shape), Value::Object(inner)) => self.object(inner, shape, |_| true),
            _ => self.any(value),
        }
    }

    /// Checks what holds of every value, whatever it is for: no key occurs twice, and numbers have a value.
    fn any(&mut self, value: &Value<'_>) {
        match value {
            Value::Object(map) => {
                self.duplicates(map, None);
                for property in &map.properties {
                    self.any(&property.value);
                }
            }
            Value::Array(list) => {
                for element in &list.elements {
                    self.any(element);
                }
            }
            Value::NumberLit(number) if json::number(number.value).is_none() => {
                self.diags.push(messages::no_such_number(
                    self.place.span_of(value),
                    number.value,
                ));
            }
            _ => {}
        }
    }

    fn elements(&mut self, name: &str, list: &Array<'_>, want: &Want) {
        for element in &list.elements {
            self.value(name, element, want);
        }
    }

    fn whole(&mut self, name: &str, number: &NumberLit<'_>, least: u64) {
        let at = self.place.range(number);
        match json::number(number.value) {
            None => self.diags.push(messages::no_such_number(at, number.value)),
            Some(value) if value.as_u64().is_none_or(|value| value < least) => {
                self.diags
                    .push(messages::not_at_least(at, name, number.value, least));
            }
            Some(_) => {}
        }
    }

    /// Reports a number that isn't above zero.
    fn positive(&mut self, name: &str, number: &NumberLit<'_>) {
        let at = self.place.range(number);
        match json::number(number.value) {
            None => self.diags.push(messages::no_such_number(at, number.value)),
            Some(value) if value.as_f64().is_none_or(|value| value <= 0.0) => {
                self.diags
                    .push(messages::not_positive(at, name, number.value));
            }
            Some(_) => {}
        }
    }

    /// Reports a number of seconds that is no time above zero up to `most`.
    fn seconds(&mut self, name: &str, number: &NumberLit<'_>, most: u64) {
        let at = self.place.range(number);
        let Some(value) = json::number(number.value) else {
            self.diags.push(messages::no_such_number(at, number.value));
            return;
        };
        let time = Duration::try_from_secs_f64(value.as_f64().unwrap_or_default());
        if !time.is_ok_and(|time| is_within(time, Some(most))) {
            let text = number.value;
            self.diags
                .push(messages::not_a_duration(at, name, text, Some(most)));
        }
    }

    /// Reports keys that occur twice; an old spelling and the new one are the same key.
    fn duplicates(&mut self, object: &Object<'_>, shape: Option<&Shape>) {
        let mut seen: BTreeMap<&str, &ObjectProp<'_>> = BTreeMap::new();
        for property in &object.properties {
            let name = property.name.as_str();
            let known = shape.and_then(|shape| shape.key(name));
            match seen.entry(known.map_or(name, |key| key.canonical())) {
                Entry::Occupied(first) => {
                    let first = self.place.range(&first.get().name);
                    let second = self.place.range(&property.name);
                    self.diags.push(duplicate_key(second, name, first));
                }
                Entry::Vacant(place) => {
                    place.insert(property);
                }
            }
        }
    }

    fn unknown(&mut self, property: &ObjectProp<'_>, present: &BTreeSet<&str>, shape: &Shape) {
        let name = property.name.as_str();
        let elsewhere = |name: &str| {
            // What a machine says as a whole stands in its `meta`, also where a state has a key of that name.
            [&keys::MACHINE, &keys::META, &keys::STATE, &keys::BRANCH]
                .into_iter()
                .find(|other| other.what != shape.what && other.key(name).is_some())
                .map(|other| other.what)
        };
        let names: Vec<&str> = shape
            .names()
            // Of a state only a history has a `target`, so nobody shall be led to it.
            .filter(|name| {
                !(name.starts_with('$') || *name == "target" && shape.key("on").is_some())
            })
            .collect();
        let at = self.place.range(&property.name);
        let is_flag = matches!(&property.value, Value::BooleanLit(it) if it.value)
            && !present.contains("type");
        let unknown = Unknown {
            key: at,
            name,
            what: shape.what,
            known: &names,
            present,
            flag: is_flag.then(|| self.place.range(property)),
        };
        self.diags.push(unknown_key(&unknown, elsewhere));
    }

    fn wrong_type(&mut self, name: &str, value: &Value<'_>, want: &Want) {
        let mended = match (want, value) {
            (Want::Command, Value::StringLit(text)) => command_of(&text.value).map(|words| {
                let words = words.into_iter();
                let words = words.map(|word| serde_json::Value::from(word).to_string());
                format!("[{}]", words.collect::<Vec<_>>().join(", "))
            }),
            (Want::List(Want::Text | Want::Name), Value::StringLit(_)) => {
                let written = self.place.text().get(range_of(value)).unwrap_or_default();
                Some(format!("[{written}]"))
            }
            (Want::Whole(_) | Want::Number | Want::Positive, Value::StringLit(text)) => {
                json::number(text.value.trim())
                    .filter(|_| text.value.trim().bytes().all(|byte| byte.is_ascii_digit()))
                    .map(|number| number.to_string())
            }
            (Want::Flag, Value::StringLit(text)) => {
                Some(text.value.to_string()).filter(|it| it == "true" || it == "false")
            }
            _ => None,
        };
        self.diags.push(messages::wrong_type(
            self.place.span_of(value),
            &format!("`{name}`"),
            &want.words(),
            json::words(value),
            mended,
        ));
    }
}

/// Reports whether hosts read a text as a duration above zero up to `most`. Unit: seconds.
///
/// Their parser decides. A build that only embeds machines has none of those hosts, and doesn't pay for it: there every
/// text passes.
#[cfg(feature = "durations")]
fn is_duration(text: &str, most: Option<u64>) -> bool {
    humantime::parse_duration(text).is_ok_and(|time| is_within(time, most))
}

#[cfg(not(feature = "durations"))]
fn is_duration(_: &str, _: Option<u64>) -> bool {
    true
}

fn is_within(time: Duration, most: Option<u64>) -> bool {
    !time.is_zero() && most.is_none_or(|most| time <= Duration::from_secs(most))
}

/// Returns the program and the arguments of a command line.
///
/// Where only a shell understands the line, that is the shell. `None` if a quote isn't closed.
fn command_of(line: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    // A word that began, perhaps with an empty pair of quotes.
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut needs_shell = false;
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().push(letters.next()?),
            (Some('"'), '\\') => {
                let escaped = letters.next()?;
                let word = word.get_or_insert_default();
                if !"\"\\$`\n".contains(escaped) {
                    word.push(c);
                }
                word.push(escaped);
            }
            (None, '\n') => {
                needs_shell = true;
                words.extend(word.take());
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => {
                let is_operator = quote.is_none() && "|&;<>*?(){}~#!".contains(c);
                needs_shell |= is_operator || (quote != Some('\'') && "$`".contains(c));
                word.get_or_insert_default().push(c);
            }
        }
    }
    words.extend(word);
    let sets_variable = words.first().is_some_and(|word| word.contains('='));
    if quote.is_some() || words.is_empty() {
        return None;
    }
    match needs_shell || sets_variable {
        true => Some(["sh", "-c", line].map(str::to_owned).to_vec()),
        false => Some(words),
    }
}

/// Returns the bytes of a value.
fn range_of(value: &Value<'_>) -> std::ops::Range<usize> {
    let range = jsonc_parser::common::Ranged::range(value);
    range.start..range.end
}

/// Reports that the key `name` at `second` was at `first` already, or an old spelling of it was.
fn duplicate_key(second: Span, name: &str, first: Span) -> Diagnostic {
    let message = format!("the key `{name}` occurs twice in this object");
    Diagnostic::new(Code::DuplicateKey, second, message)
        .label("the second one")
        .related(first, "the first one")
        .note("readers of JSON differ in which of the two they take")
        .help("drop one of them, or rename it")
}

/// Reports that the key `old` is read as `now`.
fn old_spelling(key: Span, old: &str, now: &str) -> Diagnostic {
    let order = format!("write `{now}`");
    let message = format!("`{old}` is another spelling of `{now}`");
    Diagnostic::new(Code::OldSpelling, key, message)
        .help(order.clone())
        .safe_fix(order, key, format!("\"{now}\""))
}

/// Most keys that a message lists. Unit: keys. Why: more than two lines of them are read by nobody.
const MOST_LISTED: usize = 12;

/// The keys that are meant most often, the likeliest first; those that aren't here come after them.
const LIKELY: [&str; 21] = [
    "on",
    "target",
    "guard",
    "initial",
    "states",
    "type",
    "entry",
    "exit",
    "always",
    "after",
    "actions",
    "instructions",
    "allowed_tools",
    "max_iterations",
    "context",
    "events",
    "guards",
    "id",
    "title",
    "description",
    "meta",
];

/// Keys as other tools call them, with their names here.
const OTHER_NAMES: [(&str, &str); 21] = [
    ("tools", "allowed_tools"),
    ("tool", "allowed_tools"),
    ("forbidden_tools", "disallowed_tools"),
    ("denied_tools", "disallowed_tools"),
    ("data", "context"),
    ("variables", "context"),
    ("vars", "context"),
    ("onentry", "entry"),
    ("onenter", "entry"),
    ("enter", "entry"),
    ("onexit", "exit"),
    ("leave", "exit"),
    ("transitions", "on"),
    ("prompt", "instructions"),
    ("retries", "max_iterations"),
    ("goto", "target"),
    ("next", "target"),
    ("to", "target"),
    ("condition", "guard"),
    ("if", "guard"),
    ("when", "guard"),
];

/// A key that isn't known in its object.
struct Unknown<'a> {
    /// Its span.
    key: Span,
    /// Its spelling.
    name: &'a str,
    /// The kind of object, such as `a state`.
    what: &'a str,
    /// The keys that such an object has.
    known: &'a [&'a str],
    /// Key and value, if the value is `true` and the object has no `type`.
    flag: Option<Span>,
    /// The keys that the object has.
    present: &'a BTreeSet<&'a str>,
}

/// Reports that an object has no such key; `elsewhere` says what has one of that name.
fn unknown_key(
    unknown: &Unknown<'_>,
    elsewhere: impl Fn(&str) -> Option<&'static str>,
) -> Diagnostic {
    let Unknown {
        key,
        name,
        what,
        known,
        flag,
        present,
    } = *unknown;
    let found = Diagnostic::new(Code::UnknownKey, key, format!("{what} has no key `{name}`"));
    let other = other_name(name);
    if let Some(meant) = other.filter(|other| known.contains(other)) {
        return did_you_mean(found, key, meant, present);
    }
    if let Some(place) = elsewhere(name) {
        return found.help(format!("`{name}` is a key of {place}: move it there"));
    }
    if let Some((other, place)) = other.and_then(|other| Some((other, elsewhere(other)?))) {
        return found.help(format!("`{other}` is a key of {place}: did you mean it?"));
    }
    let is_state = known.contains(&"after");
    if matches!(name, "limits" | "limit" | "timeout") && (is_state || known.contains(&"states")) {
        return found.help(
            "a state's limits are `max_iterations`, and `after` for one that is left after a time",
        );
    }
    if matches!(name, "final" | "parallel") && is_state {
        let right = format!("\"type\": \"{name}\"");
        let order = format!("write `{right}`");
        let found = found.help(order.clone());
        return match flag {
            Some(property) => found.unsafe_fix(order, property, right),
            None => found,
        };
    }
    if let Some(meant) = nearest(name, known.iter().copied()) {
        return did_you_mean(found, key, meant, present);
    }
    let found = found.note(key_list(known));
    if known.contains(&"meta") {
        return found.help("put what only your own tools read into `meta`");
    }
    found.help("drop it, or write one of those")
}

/// Returns the name here for a key of other tools.
fn other_name(name: &str) -> Option<&'static str> {
    let letters = |text: &str| text.replace('_', "").to_ascii_lowercase();
    let name = letters(name);
    let found = OTHER_NAMES.iter().find(|(other, _)| letters(other) == name);
    found.map(|(_, ours)| *ours)
}

fn did_you_mean(found: Diagnostic, key: Span, meant: &str, present: &BTreeSet<&str>) -> Diagnostic {
    if present.contains(meant) {
        return found.help(format!(
            "did you mean `{meant}`? this object has one already"
        ));
    }
    found.did_you_mean(meant, key, "\"")
}

/// Lists the keys that there are, the likeliest first.
fn key_list(known: &[&str]) -> String {
    let mut keys = known.to_vec();
    let rank = |key: &&str| LIKELY.iter().position(|likely| likely == key);
    keys.sort_by_key(|key| rank(key).unwrap_or(LIKELY.len()));
    let names: Vec<_> = keys.iter().map(|name| format!("`{name}`")).collect();
    let shown = names.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>();
    match names.len().saturating_sub(MOST_LISTED) {
        0 => format!("its keys are {}", shown.join(", ")),
        more => format!("its keys are {} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::command_of;

    #[test]
    fn command_lines_come_apart_as_a_shell_takes_them() {
        for (line, expected) in [
            ("cargo test", Some(&["cargo", "test"][..])),
            (
                "cargo test -- 'a b' --x=\"y z\"",
                Some(&["cargo", "test", "--", "a b", "--x=y z"]),
            ),
            ("  a\t'' b\\ c ", Some(&["a", "", "b c"])),
            ("grep 'a|b' f", Some(&["grep", "a|b", "f"])),
            ("grep '$1' f", Some(&["grep", "$1", "f"])),
            ("a && b", Some(&["sh", "-c", "a && b"])),
            ("echo \"$HOME\"", Some(&["sh", "-c", "echo \"$HOME\""])),
            ("A=1 make", Some(&["sh", "-c", "A=1 make"])),
            ("rm *.o", Some(&["sh", "-c", "rm *.o"])),
            ("echo 'a", None),
            ("echo a\\", None),
            ("", None),
        ] {
            let words = command_of(line);
            let words: Option<Vec<&str>> = words
                .as_ref()
                .map(|words| words.iter().map(String::as_str).collect());
            assert_eq!(words.as_deref(), expected, "{line}");
        }
    }
}
