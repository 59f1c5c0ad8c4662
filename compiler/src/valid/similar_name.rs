//! SM204: two names that look like one, mistyped.

use std::collections::{BTreeMap, BTreeSet};

use crate::arena::Handle;
use crate::diag::{Applicability, Code, Diagnostic, Diags};
use crate::front::words::word_key;
use crate::ir::{Machine, State, StateKind};
use crate::source::Span;

/// Shortest name that is compared letter by letter. Unit: characters. Why: short names are near each other by nature.
const SHORTEST: usize = 5;

/// Shortest name of which another spelling is remarked. Unit: characters. Why: `a` inside `A` is how people sketch.
const SHORTEST_SPELLED: usize = 3;

/// Longest such name. Unit: characters. Why: the work grows with the square, and nobody mistypes a longer one.
const LONGEST: usize = 64;

/// Reports pairs of states that differ in spelling alone, or by one letter where one of them leads nowhere or is led to
/// from nowhere: the mark of a mistyped name in a diagram, where every word makes a state.
pub(super) fn check(machine: &Machine, diags: &mut Diags) {
    let is_named = |state: &State| !state.implied && !state.kind.is_history();
    let states = || machine.named_states().filter(|(_, state)| is_named(state));
    let mut by_words: BTreeMap<String, Handle<State>> = BTreeMap::new();
    let mut by_gap: BTreeMap<String, Vec<Handle<State>>> = BTreeMap::new();
    for (handle, state) in states() {
        let words = word_key(&state.id);
        match by_words.get(&words) {
            Some(_) if words.chars().count() < SHORTEST_SPELLED => {}
            Some(&earlier) => diags.push(similar(machine, earlier, handle, "only in its spelling")),
            None => {
                by_words.insert(words.clone(), handle);
                if (SHORTEST..=LONGEST).contains(&words.chars().count()) {
                    for gap in gaps(&words) {
                        by_gap.entry(gap).or_default().push(handle);
                    }
                }
            }
        }
    }
    let ends = Ends::of(machine);
    let mut reported: BTreeSet<(Handle<State>, Handle<State>)> = BTreeSet::new();
    for group in by_gap
        .values()
        .filter(|group| group.len() > 1 && group.len() < 8)
    {
        for (at, &one) in group.iter().enumerate() {
            for &two in group.iter().skip(at + 1) {
                let pair = (one.min(two), one.max(two));
                if one != two && is_slip(machine, &ends, pair) && reported.insert(pair) {
                    diags.push(similar(machine, pair.0, pair.1, "by one letter"));
                }
            }
        }
    }
}

/// The word itself and the word without each of its letters: two words at one edit share one of them.
fn gaps(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let without = |gap: usize| {
        letters
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != gap)
            .map(|(_, letter)| letter)
            .collect()
    };
    (0..letters.len())
        .map(without)
        .chain(std::iter::once(word.to_owned()))
        .collect()
}

/// Whether two near names are a slip rather than a family (`step_1`, `step_2`).
fn is_slip(machine: &Machine, ends: &Ends, (one, two): (Handle<State>, Handle<State>)) -> bool {
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

/// Whether the words that differ are single letters, as in `a_state` and `b_state`, or `a1000` and `b1000`.
fn differ_by_initial(a: &[char], b: &[char]) -> bool {
    let parts = |c: &char| *c == '_' || c.is_numeric();
    a.split(parts)
        .zip(b.split(parts))
        .any(|(one, two)| one != two && one.len().min(two.len()) <= 1)
}

/// The states that something leads out of, and those that something leads to, by what the spec says.
struct Ends {
    leading_on: BTreeSet<Handle<State>>,
    led_to: BTreeSet<Handle<State>>,
}

impl Ends {
    fn of(machine: &Machine) -> Self {
        let written = || {
            let all = machine.transitions.iter().map(|(_, transition)| transition);
            all.filter(|transition| !transition.implied)
        };
        let finals = machine
            .leaves()
            .filter(|(_, state)| state.kind == StateKind::Final);
        let finals = finals.map(|(handle, _)| handle);
        let initials = machine
            .states
            .iter()
            .filter_map(|(_, outer)| outer.initial.as_ref());
        let begun = initials.filter(|initial| !initial.inferred);
        let targets = written().flat_map(|transition| transition.targets.iter().copied());
        Self {
            leading_on: written()
                .map(|transition| transition.source)
                .chain(finals)
                .collect(),
            led_to: targets
                .chain(begun.flat_map(|initial| initial.targets.iter().copied()))
                .collect(),
        }
    }

    /// Whether a state leads nowhere or nothing leads to it.
    fn is_loose(&self, state: Handle<State>) -> bool {
        !self.leading_on.contains(&state) || !self.led_to.contains(&state)
    }
}

fn similar(
    machine: &Machine,
    earlier: Handle<State>,
    later: Handle<State>,
    how: &str,
) -> Diagnostic {
    let (first, second) = (&machine.states.at(earlier), &machine.states.at(later));
    let span: Span = second.span;
    let diagnostic = Diagnostic::new(
        Code::SimilarName,
        span,
        format!("state `{}` differs from `{}` {how}", second.id, first.id),
    )
    .label("a state of its own")
    .related(first.span, format!("`{}` is here", first.id));
    if !is_mentioned_once(machine, later) {
        let help = format!("if they are one state, write `{}` everywhere", first.id);
        return diagnostic.help(help);
    }
    diagnostic.fix(
        Applicability::Unsafe,
        format!("if they are one state, write `{}`", first.id),
        span,
        first.id.clone(),
    )
}

/// Whether one end of one drawn arrow is all that the spec says of a state.
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
    let begins = machine
        .states
        .iter()
        .filter_map(|(_, outer)| outer.initial.as_ref());
    let begins = begins
        .filter(|initial| !initial.inferred)
        .flat_map(|initial| {
            let targets = initial.targets.iter();
            targets.map(|&target| (target, initial.span))
        });
    let mut mentions = sources
        .chain(targets)
        .chain(begins)
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
