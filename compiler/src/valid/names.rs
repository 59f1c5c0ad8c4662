//! Checks of names: names that Rust can't use as they are, and names that look misspelled.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Check, Subject};
use crate::arena::{Handle, HandleSet};
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::front::words::word_key;
use crate::ir::{EventKind, Machine, State, StateKind};
use crate::pass::names::{Collision, Renamed};
use crate::source::Span;

/// The checks of this file.
pub(super) const CHECKS: &[Check] = &[
    Check::Text(renamed_identifiers),
    Check::Text(identifier_collisions),
    Check::Text(similar_names),
];

/// Reports SM208: ids that generated Rust has to rename, such as keywords.
///
/// None where an earlier finding says that it is hardly meant as a name.
fn renamed_identifiers(subject: &Subject<'_>, diags: &mut Diags) {
    for renamed in subject.names().iter().flat_map(|names| &names.renamed) {
        // An empty id is an error of its own.
        if !renamed.id.is_empty() && !subject.reported.explains(&renamed.id, renamed.span) {
            diags.push(renamed_identifier(renamed));
        }
    }
}

fn renamed_identifier(renamed: &Renamed) -> Diagnostic {
    let Renamed { what, id, name, .. } = renamed;
    let message = format!("{what} `{id}` is called `{name}` in Rust");
    Diagnostic::new(Code::RenamedIdentifier, renamed.span, message)
        .label("can't be a name in Rust")
        .help("choose another name if that one reads badly")
}

/// Reports SM209: ids that become a Rust name which an earlier id already has.
fn identifier_collisions(subject: &Subject<'_>, diags: &mut Diags) {
    for collision in subject.names().iter().flat_map(|names| &names.collisions) {
        let mut states = [&collision.first, &collision.second]
            .into_iter()
            .filter(|(what, _, _)| *what == "state");
        if !states.any(|(_, id, span)| subject.is_blamed(id, *span)) {
            diags.push(identifier_collision(collision));
        }
    }
}

fn identifier_collision(collision: &Collision) -> Diagnostic {
    let name = &collision.name;
    let (first_what, first, first_span) = &collision.first;
    let (what, second, span) = &collision.second;
    let both = if first_what == what {
        format!("{what}s `{first}` and `{second}`")
    } else {
        format!("{first_what} `{first}` and {what} `{second}`")
    };
    let message = format!("{both} would both be called `{name}` in Rust");
    Diagnostic::new(Code::IdentifierCollision, *span, message)
        .label(format!("becomes `{name}`"))
        .related(*first_span, format!("becomes `{name}`, too"))
        .help("rename one of them")
}

/// Shortest name that is compared letter by letter.
///
/// Unit: characters. Why: short names are similar by nature.
const SHORTEST: usize = 5;

/// Shortest name of which another spelling is reported.
///
/// Unit: characters. Why: people sketch `a` inside `A`.
const SHORTEST_SPELLED: usize = 3;

/// Longest name that is compared letter by letter.
///
/// Unit: characters. Why: the work grows with its square.
const LONGEST: usize = 64;

/// Reports SM204: pairs of states that look like one, misspelled.
///
/// They differ in spelling alone, or by one letter where one of them lacks a transition in or out. That is how a typo
/// looks in a diagram, in which every new word is a state.
fn similar_names(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let is_named = |state: &State| {
        let is_meant = || !subject.reported.is_misread(&state.id, state.span);
        !state.implied && !state.kind.is_history() && is_meant()
    };
    let states = || machine.named_states().filter(|(_, state)| is_named(state));
    let ends = Ends::new(machine);
    // Without a loose end no pair can be a typo, and most machines have none.
    let has_loose_end = states().any(|(handle, _)| ends.is_loose(handle));
    let mut by_words: BTreeMap<Cow<'_, str>, Handle<State>> = BTreeMap::new();
    let mut by_deletion: BTreeMap<String, Vec<Handle<State>>> = BTreeMap::new();
    for (handle, state) in states() {
        let words = word_key(&state.id);
        match by_words.get(&words) {
            Some(_) if words.chars().count() < SHORTEST_SPELLED => {}
            Some(&earlier) => {
                let how = "only in its spelling";
                diags.push(similar_name(subject, earlier, handle, how));
            }
            None => {
                let is_compared = || (SHORTEST..=LONGEST).contains(&words.chars().count());
                if has_loose_end && is_compared() {
                    for key in deletions(&words) {
                        by_deletion.entry(key).or_default().push(handle);
                    }
                }
                by_words.insert(words, handle);
            }
        }
    }
    let mut reported: BTreeSet<(Handle<State>, Handle<State>)> = BTreeSet::new();
    let groups = by_deletion.values();
    for group in groups.filter(|group| (2..8).contains(&group.len())) {
        for (index, &one) in group.iter().enumerate() {
            for &two in group.iter().skip(index + 1) {
                let pair = (one.min(two), one.max(two));
                if one != two && is_typo(machine, &ends, pair) && reported.insert(pair) {
                    diags.push(similar_name(subject, pair.0, pair.1, "by one letter"));
                }
            }
        }
    }
}

/// Returns a word and its variants without one letter.
///
/// Two words at an edit distance of 1 share one of them.
fn deletions(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let without = |omitted: usize| {
        let letters = letters.iter().enumerate();
        let kept = letters.filter(|(index, _)| *index != omitted);
        kept.map(|(_, letter)| letter).collect()
    };
    (0..letters.len())
        .map(without)
        .chain(std::iter::once(word.to_owned()))
        .collect()
}

/// Reports whether two similar names are a typo rather than a family (`step_1`, `step_2`).
fn is_typo(machine: &Machine, ends: &Ends, (one, two): (Handle<State>, Handle<State>)) -> bool {
    if !ends.is_loose(one) && !ends.is_loose(two) {
        return false;
    }
    let letters = |state: Handle<State>| {
        word_key(&machine.states.at(state).id)
            .chars()
            .collect::<Vec<char>>()
    };
    let (a, b) = (letters(one), letters(two));
    let digits = |word: &[char]| {
        word.iter()
            .filter(|c| c.is_numeric())
            .copied()
            .collect::<Vec<char>>()
    };
    crate::diag::distance(&a, &b) == 1 && digits(&a) == digits(&b) && !differ_by_initial(&a, &b)
}

/// Returns true if two words are single letters: `a_state` and `b_state`, `a1000` and `b1000`.
fn differ_by_initial(a: &[char], b: &[char]) -> bool {
    let parts = |c: &char| *c == '_' || c.is_numeric();
    a.split(parts)
        .zip(b.split(parts))
        .any(|(one, two)| one != two && one.len().min(two.len()) <= 1)
}

/// The states with a written transition out, and those with one in.
struct Ends {
    left: HandleSet<State>,
    entered: HandleSet<State>,
}

impl Ends {
    fn new(machine: &Machine) -> Self {
        let written = || {
            let transitions = machine.transitions.iter();
            let transitions = transitions.map(|(_, transition)| transition);
            transitions.filter(|transition| !transition.implied)
        };
        let finals = machine
            .leaves()
            .filter(|(_, state)| state.kind == StateKind::Final);
        let finals = finals.map(|(handle, _)| handle);
        let initials = machine
            .states
            .iter()
            .filter_map(|(_, outer)| outer.initial.as_ref());
        let written_initials = initials.filter(|initial| !initial.inferred);
        let targets = written().flat_map(|transition| transition.targets.iter().copied());
        let initial = written_initials.flat_map(|initial| initial.targets.iter().copied());
        Self {
            left: written()
                .map(|transition| transition.source)
                .chain(finals)
                .collect(),
            entered: targets.chain(initial).collect(),
        }
    }

    /// Reports whether a state lacks a transition in or out.
    fn is_loose(&self, state: Handle<State>) -> bool {
        !self.left.contains(state) || !self.entered.contains(state)
    }
}

/// Reports two states that look like one.
///
/// The misspelled one is that of which nothing else speaks: how often arrows name each of them doesn't tell.
fn similar_name(
    subject: &Subject<'_>,
    earlier: Handle<State>,
    later: Handle<State>,
    how: &str,
) -> Diagnostic {
    let machine = subject.machine;
    let known = [earlier, later].map(|state| is_known_elsewhere(subject, state));
    let (wrong, right) = match known {
        [false, true] => (earlier, later),
        _ => (later, earlier),
    };
    let (wrong_id, right_id) = (&machine.states.at(wrong).id, &machine.states.at(right).id);
    let (span, other): (Span, Span) =
        (machine.states.at(wrong).span, machine.states.at(right).span);
    let message = format!("state `{wrong_id}` differs from `{right_id}` {how}");
    let diagnostic = Diagnostic::new(Code::SimilarName, span, message)
        .label("a state of its own")
        .related(other, format!("`{right_id}` is here"));
    let is_certain = known == [true, false] || known == [false, true];
    if !is_certain {
        return diagnostic.help(format!(
            "if they are one state, write `{right_id}` everywhere, or `{wrong_id}`"
        ));
    }
    if !is_mentioned_once(machine, wrong) {
        let help = format!("if they are one state, write `{right_id}` everywhere");
        return diagnostic.help(help);
    }
    diagnostic.unsafe_fix(
        format!("if they are one state, write `{right_id}`"),
        span,
        right_id.clone(),
    )
}

/// Reports whether more than arrows speaks of a state.
///
/// That is a title, an action, the name of an event, or what the author writes outside of the diagram.
fn is_known_elsewhere(subject: &Subject<'_>, handle: Handle<State>) -> bool {
    let machine = subject.machine;
    let state = machine.states.at(handle);
    let has_details = state.title.is_some()
        || state.description.is_some()
        || state.instructions.is_some()
        || !state.entry.is_empty()
        || !state.exit.is_empty()
        || !state.meta.is_empty();
    let is_part = |other: &str| {
        let key = word_key(other);
        let mut parts = key.split(['_', '.']);
        parts.any(|part| part == word_key(&state.id))
    };
    let events = machine.events.iter();
    let mut events = events.filter(|(_, event)| event.kind == EventKind::Named);
    has_details
        || events.any(|(_, event)| is_part(&event.id))
        || subject.is_named_elsewhere(&state.id)
}

/// Removes the findings that follow from a misspelled state, and adds them to that finding as a note.
///
/// If two states are one, the dead end is none, and what only the other one leads to can be reached. `earlier` and
/// `found` have the findings about the machine.
pub(super) fn fold_followers(machine: &Machine, earlier: &mut Diags, found: &mut Diags) {
    let pairs: Vec<(Span, Span)> = found
        .iter_mut()
        .filter(|it| it.code == Code::SimilarName)
        .filter_map(|it| Some((it.primary.span, it.related.first()?.span)))
        .collect();
    for (span, other) in pairs {
        let ends = [span, other].map(|span| {
            let mut states = machine.named_states();
            states.find(|(_, state)| state.span == span && !state.implied)
        });
        let [Some((one, _)), Some((two, _))] = ends else {
            continue;
        };
        let mut dead: Vec<&str> = Vec::new();
        for state in [one, two] {
            let state = machine.states.at(state);
            if earlier.remove_followers(state.span) {
                dead.push(&state.id);
            }
        }
        let mut unreached: Vec<&str> = Vec::new();
        for state in led_to(machine, [one, two]) {
            let state = machine.states.at(state);
            if found.remove_followers(state.span) {
                unreached.push(&state.id);
            }
        }
        let mut parts = Vec::new();
        if !dead.is_empty() {
            parts.push(format!("nothing leads out of {}", quoted_list(&dead)));
        }
        if !unreached.is_empty() {
            parts.push(format!("{} can't be reached", quoted_list(&unreached)));
        }
        let finding = found
            .iter_mut()
            .find(|it| it.code == Code::SimilarName && it.primary.span == span);
        if let Some(finding) = finding.filter(|_| !parts.is_empty()) {
            finding
                .notes
                .push(format!("as it is, {}", parts.join(", and ")));
        }
    }
    fold_spellings(found);
}

/// Leaves one finding of two about the same pair of states: if their names collide, that is an error.
fn fold_spellings(found: &mut Diags) {
    let pair = |diagnostic: &Diagnostic| {
        let (one, two) = (diagnostic.primary.span, diagnostic.related.first()?.span);
        Some((one.min(two), one.max(two)))
    };
    let similar: Vec<Diagnostic> = found
        .iter_mut()
        .filter(|it| it.code == Code::SimilarName)
        .map(|it| it.clone())
        .collect();
    for similar in similar {
        let collision = found
            .iter_mut()
            .find(|it| it.code == Code::IdentifierCollision && pair(it) == pair(&similar));
        let Some(collision) = collision else {
            continue;
        };
        collision.notes.extend(similar.notes.iter().cloned());
        collision.help.extend(similar.help.iter().cloned());
        collision.fixes.extend(similar.fixes.iter().cloned());
        found.remove(&similar);
    }
}

/// Returns two states and those that transitions from them lead to, in the order of the machine.
fn led_to(machine: &Machine, from: [Handle<State>; 2]) -> BTreeSet<Handle<State>> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<Handle<State>> = from.to_vec();
    while let Some(state) = open.pop() {
        if reached.insert(state) {
            for (_, transition) in machine.transitions_of(state) {
                open.extend(&transition.targets);
            }
        }
    }
    reached
}

/// Reports whether one end of one drawn arrow is all that the spec says about a state.
fn is_mentioned_once(machine: &Machine, handle: Handle<State>) -> bool {
    let state = machine.states.at(handle);
    let written = || {
        machine
            .transitions
            .iter()
            .filter(|(_, transition)| !transition.implied)
    };
    let sources = written().map(|(_, transition)| (transition.source, transition.span));
    let targets = written().flat_map(|(_, transition)| {
        let targets = transition.targets.iter();
        targets.map(|&target| (target, transition.span))
    });
    let initials = machine
        .states
        .iter()
        .filter_map(|(_, outer)| outer.initial.as_ref());
    let initials = initials
        .filter(|initial| !initial.inferred)
        .flat_map(|initial| {
            let targets = initial.targets.iter();
            targets.map(|&target| (target, initial.span))
        });
    let mut mentions = sources
        .chain(targets)
        .chain(initials)
        .filter(|(end, _)| *end == handle);
    let is_bare = state.title.is_none()
        && state.instructions.is_none()
        && state.entry.is_empty()
        && state.exit.is_empty();
    let is_drawn = machine
        .parts
        .diagram
        .is_some_and(|diagram| diagram.contains(state.span));
    let on_an_arrow = mentions
        .next()
        .is_some_and(|(_, arrow)| arrow.contains(state.span));
    is_bare && is_drawn && on_an_arrow && mentions.next().is_none()
}
