//! The Rust names of everything that has a name in a spec.
//!
//! States and events become variants (`UpperCamel`), guards, actions and the machine itself become methods and a module
//! (`snake_case`). [`names`] converts; [`Names::renamed`] and [`Names::collisions`] list the cases in which conversion
//! wasn't enough, for the two checks that report them. In a [`Valid`](crate::valid::Valid) machine the names of one namespace differ.
//!
//! Deliberately not here: tokens. A name is text that `proc_macro2::Ident::new` takes, whatever the spec holds.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::arena::Handle;
use crate::ir::{Action, ActionKind, Event, EventKind, HostGuard, Machine, State};
use crate::source::Span;

/// The Rust names of one machine, by the index of what they name.
#[derive(Clone, Debug)]
pub struct Names {
    /// The module: `door`.
    pub module: String,
    /// The machine as a type: `Door`.
    pub machine: String,
    states: Vec<String>,
    events: Vec<String>,
    guards: Vec<String>,
    actions: Vec<String>,
    /// Items with a name that their id doesn't suggest.
    pub renamed: Vec<Renamed>,
    /// Items with the name of an earlier one.
    pub collisions: Vec<Collision>,
}

/// An item whose Rust name isn't its id in another case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The kind of item: `state`, `event`, `guard`, `action`.
    pub what: &'static str,
    /// Its id.
    pub id: String,
    /// Its Rust name.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// Two items that would have the same Rust name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The name.
    pub name: String,
    /// The kind, id and place of the first.
    pub first: (&'static str, String, Span),
    /// The kind, id and place of the later one.
    pub second: (&'static str, String, Span),
}

impl Names {
    /// Returns the variant of a state, which is empty for the root.
    ///
    /// It is a variant of `State` for a leaf, and of `Super` for a state with children.
    #[must_use]
    pub fn state(&self, state: Handle<State>) -> &str {
        self.states.get(state.index()).map_or("", String::as_str)
    }

    /// Returns the variant of an event.
    #[must_use]
    pub fn event(&self, event: Handle<Event>) -> &str {
        self.events.get(event.index()).map_or("", String::as_str)
    }

    /// Returns the method that answers a guard.
    #[must_use]
    pub fn guard(&self, guard: Handle<HostGuard>) -> &str {
        self.guards.get(guard.index()).map_or("", String::as_str)
    }

    /// Returns the method that carries out an action.
    ///
    /// An action that the machine carries out itself has a name, but no method.
    #[must_use]
    pub fn action(&self, action: Handle<Action>) -> &str {
        self.actions.get(action.index()).map_or("", String::as_str)
    }
}

/// Reports whether every id of a machine becomes a Rust name by its case alone, and no two become one.
///
/// It is true of lowercase words alone, as most machines have, and spares the checks the names themselves; if it is false,
/// [`names`] says what is so.
pub(crate) fn is_plain(machine: &Machine) -> bool {
    let states = machine.named_states().filter(|(_, it)| !it.implied);
    let events = machine.events.iter();
    let events = events.filter(|(_, it)| it.kind == EventKind::Named);
    let guards = || machine.guards.iter().map(|(_, it)| it.name.as_str());
    let actions = || {
        let hosts = machine.actions.iter();
        let hosts = hosts.filter(|(_, it)| it.kind.is_host());
        hosts.map(|(_, it)| it.name.as_str())
    };
    let is_method = |name: &str| !KEYWORDS.contains(&name) && !METHODS.contains(&name);
    let types = states.map(|(_, it)| it.id.as_str());
    let mut types = types.chain(events.map(|(_, it)| it.id.as_str()));
    types.all(|id| is_words(id) && id != "self")
        && guards()
            .chain(actions())
            .all(|name| is_words(name) && is_method(name))
        && (guards().next().is_none() || {
            // Guards and actions are methods of one trait.
            let guards: BTreeSet<&str> = guards().collect();
            actions().all(|name| !guards.contains(name))
        })
}

/// Reports whether a name is lowercase letters with one `_` between words.
///
/// No two of these become one type, because a capital begins each word, and a digit never does.
fn is_words(name: &str) -> bool {
    let mut words = name.as_bytes().split(|&byte| byte == b'_');
    words.all(|word| !word.is_empty() && word.iter().all(u8::is_ascii_lowercase))
}

/// The methods that a host may have besides its guards and actions.
const METHODS: [&str; 6] = ["field", "schedule", "cancel", "assign", "begin", "rollback"];

/// Names everything in a machine.
#[must_use]
pub fn names(machine: &Machine) -> Names {
    let mut names = Names {
        module: snake(&machine.id.value).0,
        machine: upper_camel(&machine.id.value).0,
        states: Vec::with_capacity(machine.states.len()),
        events: Vec::with_capacity(machine.events.len()),
        guards: Vec::with_capacity(machine.guards.len()),
        actions: Vec::with_capacity(machine.actions.len()),
        renamed: Vec::new(),
        collisions: Vec::new(),
    };
    name_states(machine, &mut names);
    name_events(machine, &mut names);
    name_methods(machine, &mut names);
    names
}

/// Names states: leaves and states with children have a namespace each, and implied states give way.
fn name_states(machine: &Machine, names: &mut Names) {
    let mut leaves = Namespace::default();
    let mut supers = Namespace::default();
    let stated = machine.states.iter().filter(|(_, state)| !state.implied);
    let mut found: Vec<Option<String>> = vec![None; machine.states.len()];
    for (handle, state) in stated.filter(|(_, state)| state.parent.is_some()) {
        if state.kind.is_history() {
            continue;
        }
        let space = if state.kind.has_children() {
            &mut supers
        } else {
            &mut leaves
        };
        let mut converted = upper_camel(&state.id);
        // A state that is named like a history is SM332.
        converted.1 &= !state.id.ends_with("[H]") && !state.id.ends_with("[H*]");
        let name = space.claim(names, "state", &state.id, state.span, converted);
        keep(&mut found, handle.index(), name);
    }
    for ((_, state), name) in machine.states.iter().zip(found) {
        let name = match name {
            Some(name) => name,
            None if state.parent.is_none() => String::new(),
            None if state.kind.has_children() => supers.give_way("state", &state.id, state.span),
            // Users never see the variant of a history, so it gives way to the leaves.
            None => leaves.give_way("state", &state.id, state.span),
        };
        names.states.push(name);
    }
}

/// Names events; those of the engine (`done.state.x`), which users never see, give way.
fn name_events(machine: &Machine, names: &mut Names) {
    let mut space = Namespace::default();
    let mut found: Vec<Option<String>> = vec![None; machine.events.len()];
    let named = |event: &Event| event.kind == EventKind::Named;
    for (handle, event) in machine.events.iter().filter(|(_, event)| named(event)) {
        let converted = upper_camel(&event.id);
        let name = space.claim(names, "event", &event.id, event.span, converted);
        keep(&mut found, handle.index(), name);
    }
    for ((_, event), name) in machine.events.iter().zip(found) {
        let name = name.unwrap_or_else(|| space.give_way("event", &event.id, event.span));
        names.events.push(name);
    }
}

fn keep(names: &mut [Option<String>], index: usize, name: String) {
    if let Some(slot) = names.get_mut(index) {
        *slot = Some(name);
    }
}

/// Names guards and actions, which are methods of one trait.
fn name_methods(machine: &Machine, names: &mut Names) {
    let mut space = Namespace::default();
    let [field, own @ ..] = METHODS;
    if !machine.fields.is_empty() {
        space.reserved.push(field);
    }
    let assigns = |(_, action): (_, &Action)| matches!(action.kind, ActionKind::Assign(_));
    if !machine.timers.is_empty() || machine.actions.iter().any(assigns) {
        space.reserved.extend(own);
    }
    for (_, guard) in machine.guards.iter() {
        let converted = snake(&guard.name);
        let name = space.claim(names, "guard", &guard.name, guard.span, converted);
        names.guards.push(name);
    }
    for (_, action) in machine.actions.iter() {
        let converted = snake(&action.name);
        let name = if action.kind.is_host() {
            space.claim(names, "action", &action.name, action.span, converted)
        } else {
            converted.0
        };
        names.actions.push(name);
    }
}

/// A set of names that must differ.
#[derive(Default)]
struct Namespace<'m> {
    taken: BTreeMap<String, (&'static str, &'m str, Span)>,
    reserved: Vec<&'static str>,
}

impl<'m> Namespace<'m> {
    /// Claims a name for an item of the spec, and notes a renaming or a collision.
    fn claim(
        &mut self,
        names: &mut Names,
        what: &'static str,
        id: &'m str,
        span: Span,
        (mut name, mut renamed): (String, bool),
    ) -> String {
        if self.reserved.contains(&name.as_str()) {
            name.push('_');
            renamed = true;
        }
        if let Some(&(first, first_id, first_span)) = self.taken.get(&name) {
            // Two of one id are reported as that.
            if (first, first_id) != (what, id) {
                names.collisions.push(Collision {
                    name: name.clone(),
                    first: (first, first_id.to_owned(), first_span),
                    second: (what, id.to_owned(), span),
                });
            }
            return name;
        }
        if renamed {
            names.renamed.push(Renamed {
                what,
                id: id.to_owned(),
                name: name.clone(),
                span,
            });
        }
        self.taken.insert(name.clone(), (what, id, span));
        name
    }

    /// Returns an unclaimed name, with as many `_` appended as necessary.
    fn give_way(&mut self, what: &'static str, id: &'m str, span: Span) -> String {
        let mut name = upper_camel(id).0;
        while self.taken.contains_key(&name) {
            name.push('_');
        }
        self.taken.insert(name.clone(), (what, id, span));
        name
    }
}

/// Converts an id to a type or a variant, and reports whether more than its case has changed.
#[must_use]
pub fn upper_camel(id: &str) -> (String, bool) {
    // Most ids are their own words.
    let is_plain = id
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let (words, mut renamed) = match is_plain {
        true => (Cow::Borrowed(id), false),
        false => {
            let (words, dropped) = words(id);
            (Cow::Owned(words), dropped)
        }
    };
    let mut name = String::with_capacity(id.len());
    for word in words.split('_') {
        let starts_with_digit = word.starts_with(|c: char| c.is_numeric());
        if starts_with_digit && name.ends_with(|c: char| c.is_numeric()) {
            name.push('_');
        }
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if first.is_ascii() => name.push(first.to_ascii_uppercase()),
            first => name.extend(first.into_iter().flat_map(char::to_uppercase)),
        }
        name.push_str(letters.as_str());
    }
    if name == "Self" {
        name.push('_');
        renamed = true;
    }
    let (name, is_prefixed) = begin_with_letter(id, name, "Unnamed", 'U');
    (name, is_prefixed || renamed)
}

/// Converts an id to a method or a module, and reports whether more than its case has changed.
#[must_use]
pub fn snake(id: &str) -> (String, bool) {
    let (mut name, mut renamed) = words(id);
    if KEYWORDS.contains(&name.as_str()) {
        name.push('_');
        renamed = true;
    }
    let (name, is_prefixed) = begin_with_letter(id, name, "unnamed", 'u');
    (name, is_prefixed || renamed)
}

/// Prefixes a name that would begin with a digit with `_`.
///
/// An id without any letter becomes `otherwise`, but symbols and emoji are named by their code points: `U2699` is a gear.
fn begin_with_letter(id: &str, name: String, otherwise: &str, sign: char) -> (String, bool) {
    match name.chars().next() {
        None => {
            let shown: Vec<char> = id
                .chars()
                .filter(|&c| !separates(c) && !is_joiner(c))
                .collect();
            let is_symbol = !shown.is_empty() && shown.iter().all(|&c| c >= FIRST_SYMBOL);
            let points = shown.iter().take(MAX_CODE_POINTS);
            let points = points.map(|&c| format!("{sign}{:x}", u32::from(c)));
            let name = is_symbol.then(|| points.collect::<String>());
            (name.unwrap_or_else(|| otherwise.to_owned()), true)
        }
        Some(first) if unicode_ident::is_xid_start(first) => (name, false),
        Some(_) => (format!("_{name}"), !id.starts_with('_')),
    }
}

/// The first code point of symbols and emoji that may be a name.
///
/// Punctuation, arrows and mathematical operators come before it; they are mistakes, not names.
const FIRST_SYMBOL: char = '\u{2300}';

/// Most code points in a name without letters. Unit: characters. Why: somebody has to type it.
const MAX_CODE_POINTS: usize = 8;

/// Returns the words of an id in lower case, joined by `_`, and whether others were dropped.
fn words(id: &str) -> (String, bool) {
    let mut words = String::with_capacity(id.len() + 4);
    let mut dropped = false;
    let mut starts_word = false;
    let mut previous = None;
    let mut letters = id.chars().peekable();
    while let Some(c) = letters.next() {
        let before = previous.replace(c);
        if is_joiner(c) {
            continue;
        }
        if !unicode_ident::is_xid_continue(c) || c == '_' {
            dropped |= !separates(c);
            starts_word = true;
            continue;
        }
        if c.is_ascii_lowercase() {
            // As nearly all are: it begins no word by itself.
            if starts_word && !words.is_empty() {
                words.push('_');
            }
            starts_word = false;
            words.push(c);
            continue;
        }
        starts_word |= statemark_runtime::begins_word(before, c, letters.peek().copied());
        for low in c.to_lowercase() {
            if !unicode_ident::is_xid_continue(low) || is_joiner(low) {
                continue;
            }
            if starts_word && !words.is_empty() {
                words.push('_');
            }
            starts_word = false;
            words.push(low);
        }
    }
    (words, dropped)
}

/// Reports whether a character separates words, or has a finding of its own.
///
/// Those are `;` (SM118) and invisible characters (SM114).
fn separates(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | ' ' | ';' | '\u{ad}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}')
}

/// Reports whether a character only changes how its neighbors look, which Rust doesn't allow in names.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Words that can't be a method or a module: keywords of all editions, reserved ones included.
///
/// Source: The Rust Reference, "Keywords".
pub const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;
    use crate::{Options, compile};

    #[test]
    fn ids_become_variants() {
        for (id, name, renamed) in [
            ("locked", "Locked", false),
            ("in_progress", "InProgress", false),
            ("planReady", "PlanReady", false),
            ("PLAN-READY", "PlanReady", false),
            ("HTTPError", "HttpError", false),
            ("order.paid", "OrderPaid", false),
            ("größe", "Größe", false),
            ("기간_만료", "기간만료", false),
            ("_3_tries_left", "_3TriesLeft", false),
            ("3tries", "_3tries", true),
            ("a_1_2", "A1_2", false),
            ("a_12", "A12", false),
            ("self", "Self_", true),
            ("a/b", "AB", true),
            ("…", "Unnamed", true),
            ("=>", "Unnamed", true),
            ("\u{2699}\u{fe0f}", "U2699", true),
            ("\u{1f469}\u{200d}\u{1f680}", "U1f469U1f680", true),
            ("go\u{fe0f}", "Go", false),
        ] {
            assert_eq!(upper_camel(id), (name.to_owned(), renamed), "{id}");
        }
    }

    #[test]
    fn plain_machines_need_no_other_names() {
        let words = [
            "ready", "self", "type", "field", "is_ready", "isReady", "ready_", "a_1", "a1", "stock",
        ];
        let mut plain = 0;
        for (state, event) in words.into_iter().zip(words.into_iter().cycle().skip(4)) {
            for guard in words {
                for action in words {
                    let way = format!("{state} --> last : {event} [{guard}] / {action}()");
                    let mut sources = Sources::new();
                    let text =
                        format!("stateDiagram-v2\n[*] --> {state}\n{way}\nlast --> [*] : end");
                    sources.add("spec.mmd", text);
                    for machine in compile(&sources, &Options::default()).machines {
                        let names = names(&machine);
                        let is_same = names.renamed.is_empty() && names.collisions.is_empty();
                        plain += u32::from(is_plain(&machine));
                        assert!(is_same || !is_plain(&machine), "{way}");
                    }
                }
            }
        }
        assert!(plain > 10, "{plain}");
    }

    #[test]
    fn ids_become_methods() {
        for (id, name, renamed) in [
            ("countAttempt", "count_attempt", false),
            ("count-attempt", "count_attempt", false),
            ("type", "type_", true),
            ("Self", "self_", true),
            ("2fa", "_2fa", true),
            ("retry2", "retry2", false),
        ] {
            assert_eq!(snake(id), (name.to_owned(), renamed), "{id}");
        }
    }

    #[test]
    fn every_name_is_an_identifier() {
        for id in [
            "_", "__", "", "\u{24b6}", "²x", "a²", "\u{301}x", "ß", "Ω", "ǅ", "İx", "-", "x-",
        ] {
            for name in [upper_camel(id).0, snake(id).0] {
                assert!(
                    syn::parse_str::<syn::Ident>(&name).is_ok(),
                    "{id:?}: {name:?}"
                );
            }
        }
    }
}
