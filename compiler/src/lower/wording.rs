//! What a label says, brought into the draft: events, guard, actions, and the hints that a label deserves.

use std::ops::Range;

use super::delay::milliseconds;
use super::draft::{Draft, DraftTransition, DraftTrigger, StateIndex};
use super::label::{Label, Trigger};
use super::spec::Context;
use super::words::{composed, is_identifier, slug, strip_tags, word_key};
use super::{report, wildcard};
use crate::arena::Handle;
use crate::diag::{Diagnostic, Diags};
use crate::front::mermaid::entity;
use crate::ir::{Action, Event, EventKind};
use crate::source::{Span, Spanned, narrow};

/// The engine's event for an assignment that has no value, which a transition may wait for.
const FAULT: &str = "error.execution";

/// The place of a part of a text. A text whose bytes don't stand one to one in the file is shown whole.
pub(super) fn part(text: &Spanned<String>, range: Range<usize>) -> Span {
    let whole = text.span;
    if whole.range().len() != text.value.len() {
        return whole;
    }
    Span {
        start: whole.start + narrow(range.start),
        end: whole.start + narrow(range.end),
        ..whole
    }
}

fn slice<'t>(text: &'t Spanned<String>, range: &Range<usize>) -> &'t str {
    text.value.get(range.clone()).unwrap_or("")
}

/// Gives a transition what its label says.
pub(super) fn apply(
    transition: &mut DraftTransition,
    text: &Spanned<String>,
    label: &Label,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    transition.label = Some(text.clone());
    transition.actions = actions(text, label, draft);
    if let Some(range) = &label.empty_guard {
        context
            .diags
            .push(report::broken_label::empty_guard(part(text, range.clone())));
    }
    if let Some(bracket) = &label.unclosed {
        // The guard ends where the actions begin.
        let rest = text.value.get(bracket.end..).unwrap_or("");
        let guard = rest.split(" / ").next().unwrap_or("").trim_end();
        let end = bracket.end + guard.len();
        let end = (!guard.trim().is_empty()).then(|| part(text, end..end));
        let place = part(text, bracket.clone());
        context
            .diags
            .push(report::broken_label::unclosed(place, end));
    }
    if let Some(range) = &label.guard {
        let words = Spanned::new(slice(text, range).to_owned(), part(text, range.clone()));
        if words.value == "else" {
            transition.otherwise = true;
        } else {
            transition.guard_words.push(words);
        }
    }
    transition.trigger = trigger(transition.source, text, label, draft, context.diags);
    if let Some(diagnostic) = unread_part(text, label, context) {
        context.diags.push(diagnostic);
    } else if let Some(slash) = &label.slash {
        let place = part(text, slash.clone());
        context
            .diags
            .push(report::slash_as_text::slash_as_text(text, place));
    }
    let has_guard = !transition.guard_words.is_empty() || transition.otherwise;
    if has_guard && transition.trigger == DraftTrigger::Missing {
        transition.trigger = DraftTrigger::Eventless;
    }
}

/// A guard or an action of the label that would be lost in the event's name.
fn unread_part(text: &Spanned<String>, label: &Label, context: &Context<'_>) -> Option<Diagnostic> {
    if let (Some(guard), Some(slash)) = (&label.late_guard, &label.slash) {
        let declares = |name: &str| context.declares_action(name);
        let place = part(text, slash.clone());
        return Some(report::unread_part::late_guard(
            text,
            slash,
            guard.clone(),
            place,
            declares,
        ));
    }
    if let (Some(bracket), Trigger::Prose(words) | Trigger::Condition(words)) =
        (&label.misplaced_guard, &label.trigger)
    {
        let place = part(text, bracket.clone());
        return Some(report::unread_part::misplaced_guard(
            text, bracket, words, place,
        ));
    }
    let calls = label.unread_calls.clone()?;
    let place = part(text, calls.clone());
    Some(report::unread_part::no_list(slice(text, &calls), place))
}

/// The actions that a label names.
pub(super) fn actions(
    text: &Spanned<String>,
    label: &Label,
    draft: &mut Draft,
) -> Vec<Handle<Action>> {
    let intern =
        |range: &Range<usize>| draft.intern_action(slice(text, range), part(text, range.clone()));
    label.actions.iter().map(intern).collect()
}

/// The names behind `entry /` or `exit /`: separated by commas, with or without `()`; prose becomes an identifier.
pub(super) fn action_names(list: &str) -> Vec<(String, Range<usize>)> {
    let mut names = Vec::new();
    let mut start = 0;
    for item in list.split(',') {
        let word = item.trim();
        let at = start + (item.len() - item.trim_start().len());
        start += item.len() + 1;
        let bare = word.strip_suffix("()").unwrap_or(word);
        let name = if is_identifier(bare) {
            bare.to_owned()
        } else {
            slug(bare)
        };
        if !name.is_empty() {
            names.push((name, at..at + word.len()));
        }
    }
    names
}

/// The event that a state's timer sends after a duration. `span`: where the trigger stands.
pub(super) fn delayed(
    source: StateIndex,
    duration: &Spanned<String>,
    span: Span,
    draft: &mut Draft,
    diags: &mut Diags,
) -> DraftTrigger {
    let event = match milliseconds(&duration.value) {
        Some(Ok(delay)) => {
            if delay == 0 {
                diags.push(report::zero_delay::zero_delay(duration));
            }
            if draft.get(source).pseudo.is_some() {
                return DraftTrigger::Delayed(delay);
            }
            draft.add_timer(source, delay, span)
        }
        Some(Err(misfit)) => {
            diags.push(report::bad_delay::bad_delay(duration, misfit));
            draft.intern_event(&slug(&duration.value), span)
        }
        None => draft.intern_event(&slug(&duration.value), span),
    };
    DraftTrigger::Events(vec![event])
}

/// What a key of `after` waits for: a duration, or a number of milliseconds. `None` if it is neither, which is told.
pub(super) fn delay_key(
    source: StateIndex,
    key: &Spanned<String>,
    draft: &mut Draft,
    diags: &mut Diags,
) -> Option<DraftTrigger> {
    if key.value.is_empty() {
        // That a name can't be empty has been said.
        return None;
    }
    let is_number = key.value.bytes().all(|byte| byte.is_ascii_digit());
    let duration = match is_number {
        true => Spanned::new(format!("{}ms", key.value), key.span),
        false => key.clone(),
    };
    if milliseconds(&duration.value).is_none() {
        diags.push(report::bad_delay::no_delay(key));
        return None;
    }
    Some(delayed(source, &duration, key.span, draft, diags))
}

/// What a key of `on` waits for: an event, or all events that begin so.
pub(super) fn event_key(
    key: &Spanned<String>,
    draft: &mut Draft,
    diags: &mut Diags,
) -> DraftTrigger {
    if !wildcard::is_pattern(&key.value) {
        return DraftTrigger::Events(vec![event(&key.value, key.span, draft, diags)]);
    }
    if is_reserved(&key.value) {
        diags.push(report::reserved_event::reserved_event(&key.value, key.span));
        return DraftTrigger::Events(Vec::new());
    }
    DraftTrigger::Pattern(key.clone())
}

/// Whether a name belongs to the engine. By its words, as events are looked up: `Error.unknown_event` would, too.
fn is_reserved(name: &str) -> bool {
    let words = word_key(name);
    let mut prefixes = ["done.state.", "after.", "error."].iter();
    prefixes.any(|prefix| words.starts_with(prefix))
}

fn trigger(
    source: StateIndex,
    text: &Spanned<String>,
    label: &Label,
    draft: &mut Draft,
    diags: &mut Diags,
) -> DraftTrigger {
    match &label.trigger {
        Trigger::Missing => DraftTrigger::Missing,
        Trigger::Events(ranges) => {
            let mut events: Vec<Handle<Event>> = Vec::new();
            for range in ranges {
                let event = event(slice(text, range), part(text, range.clone()), draft, diags);
                if !events.contains(&event) {
                    events.push(event);
                }
            }
            DraftTrigger::Events(events)
        }
        Trigger::Commented { name, comment } => DraftTrigger::Commented {
            name: Spanned::new(slice(text, name).to_owned(), part(text, name.clone())),
            whole: Spanned::new(
                slice(text, &(name.start..comment.end)).to_owned(),
                part(text, name.start..comment.end),
            ),
            comment: part(text, comment.clone()),
        },
        Trigger::Delay(range) => {
            let words = slice(text, range);
            let duration = words.trim_start_matches("after").trim_start();
            let start = range.start + (words.len() - duration.len());
            let place = part(text, start..range.end);
            let duration = Spanned::new(duration.to_owned(), place);
            delayed(source, &duration, part(text, range.clone()), draft, diags)
        }
        Trigger::Condition(range) => {
            let words = Spanned::new(slice(text, range).to_owned(), part(text, range.clone()));
            let event = prose_event(&words, draft, diags);
            if let Some(event) = event.filter(|_| label.is_whole()) {
                let id = draft.events.at(event).id.clone();
                diags.push(report::bare_condition::bare_condition(&words, &id));
            }
            event.map_or(DraftTrigger::Missing, |event| {
                DraftTrigger::Events(vec![event])
            })
        }
        Trigger::Prose(range) => {
            let words = Spanned::new(slice(text, range).to_owned(), part(text, range.clone()));
            let event = prose_event(&words, draft, diags);
            // Writing the identifier would make a collision final, so the hint waits until that is settled.
            let collides =
                event.is_some_and(|event| collides(event, &words.value, words.span, draft));
            // A comment or an arrow in it is told already, and must not become part of a name.
            let holds_more = words.value.contains(['%', '#', '>']) && diags.covers(words.span);
            if let Some(event) = event.filter(|_| label.is_whole() && !collides && !holds_more) {
                let id = draft.events.at(event).id.clone();
                diags.push(report::prose_label::prose_label(&words, &id));
            }
            event.map_or(DraftTrigger::Missing, |event| {
                DraftTrigger::Events(vec![event])
            })
        }
    }
}

/// The event that an identifier names.
pub(super) fn event(name: &str, span: Span, draft: &mut Draft, diags: &mut Diags) -> Handle<Event> {
    if word_key(name) == FAULT {
        return draft.intern_engine_event(FAULT, EventKind::Fault, span);
    }
    if is_reserved(name) {
        diags.push(report::reserved_event::reserved_event(name, span));
    }
    let event = draft.intern_event(name, span);
    note_wording(event, name, span, draft, diags);
    event
}

/// The event that a text names, with the text as its title; `None` if nothing of it can stand in an identifier.
pub(super) fn prose_event(
    words: &Spanned<String>,
    draft: &mut Draft,
    diags: &mut Diags,
) -> Option<Handle<Event>> {
    let name = slug(&words.value);
    if name.is_empty() {
        return None;
    }
    let event = draft.intern_event(&name, words.span);
    note_wording(event, &words.value, words.span, draft, diags);
    // Words of something else are no title for it.
    if draft.events.at(event).title.is_none() && !collides(event, &words.value, words.span, draft) {
        draft.events.at_mut(event).title = Some(entity::decode(&words.value));
    }
    Some(event)
}

/// Says so where two texts become one event although their words differ.
fn note_wording(event: Handle<Event>, text: &str, span: Span, draft: &Draft, diags: &mut Diags) {
    if collides(event, text, span, draft) {
        diags.push(report::event_collision::event_collision(
            draft.events.at(event),
            text,
            span,
        ));
    }
}

/// Whether a text gives the same event as an earlier one, in other words.
fn collides(event: Handle<Event>, text: &str, span: Span, draft: &Draft) -> bool {
    let known = &draft.events.at(event);
    let earlier = known.title.as_deref().unwrap_or(&known.id);
    known.span != span && spoken(earlier) != spoken(text)
}

/// The letters and signs of a text: what must agree for two texts to mean one event. Punctuation, tags and the spelling
/// of a comparison say nothing.
fn spoken(text: &str) -> String {
    let decoded = entity::decode(text);
    if is_identifier(&decoded) {
        return word_key(&decoded).replace(['_', '.'], "");
    }
    let plain = strip_tags(&decoded);
    let plain: String = composed(&plain)
        .chars()
        .flat_map(char::to_lowercase)
        .collect();
    let plain = plain
        .replace("<=", "≤")
        .replace(">=", "≥")
        .replace("!=", "≠")
        .replace("==", "=");
    plain
        .chars()
        .filter(|&c| c.is_alphanumeric() || is_sign(c))
        .collect()
}

/// Signs that tell two texts apart though no identifier holds them: of comparison and arithmetic, `C#`, `50%`, arrows,
/// pictographs.
fn is_sign(c: char) -> bool {
    "<>=≤≥≠+#%".contains(c)
        || matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}')
}
