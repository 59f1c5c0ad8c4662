//! What a label says, brought into the draft: events, guard, actions, and the hints that a label deserves.

use std::ops::Range;

use super::delay::{Misfit, milliseconds};
use super::draft::{Draft, DraftTransition, DraftTrigger, StateIndex};
use super::label::{Label, Trigger};
use super::messages::{empty_guard, unclosed_guard};
use super::spec::Context;
use super::wildcard;
use super::words::{composed, is_identifier, slug, strip_tags, word_key};
use crate::arena::Handle;
use crate::diag::{Applicability, Code, Diagnostic, Diags};
use crate::front::expression::mended;
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
        context.diags.push(empty_guard(part(text, range.clone())));
    }
    if let Some(bracket) = &label.unclosed {
        // The guard ends where the actions begin.
        let rest = text.value.get(bracket.end..).unwrap_or("");
        let guard = rest.split(" / ").next().unwrap_or("").trim_end();
        let end = bracket.end + guard.len();
        let end = (!guard.trim().is_empty()).then(|| part(text, end..end));
        let place = part(text, bracket.clone());
        context.diags.push(unclosed_guard(place, end));
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
        context.diags.push(slash_as_text(text, place));
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
        return Some(late_guard(text, slash, guard.clone(), place, declares));
    }
    if let (Some(bracket), Trigger::Prose(words) | Trigger::Condition(words)) =
        (&label.misplaced_guard, &label.trigger)
    {
        let place = part(text, bracket.clone());
        return Some(misplaced_guard(text, bracket, words, place));
    }
    let calls = label.unread_calls.clone()?;
    let place = part(text, calls.clone());
    Some(unlisted_actions(slice(text, &calls), place))
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
                diags.push(zero_delay(duration));
            }
            if draft.get(source).pseudo.is_some() {
                return DraftTrigger::Delayed(delay);
            }
            draft.add_timer(source, delay, span)
        }
        Some(Err(misfit)) => {
            diags.push(bad_delay(duration, misfit));
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
        diags.push(no_delay(key));
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
        diags.push(reserved_event(&key.value, key.span));
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
                diags.push(bare_condition(&words, &id));
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
                diags.push(prose_label(&words, &id));
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
        diags.push(reserved_event(name, span));
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
        diags.push(event_collision(draft.events.at(event), text, span));
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

fn no_delay(key: &Spanned<String>) -> Diagnostic {
    Diagnostic::new(
        Code::BadDelay,
        key.span,
        format!("`{}` is no delay", key.value),
    )
    .label("not a duration")
    .note("a delay is a number with a unit, `ms`, `s`, `m`, `h` or `d`; a number alone counts milliseconds")
    .help("write it so, for example `\"30s\"`")
}

fn bad_delay(delay: &Spanned<String>, misfit: Misfit) -> Diagnostic {
    let text = delay.value.trim();
    let (what, label, help) = match misfit {
        Misfit::TooLong => (
            "is longer than any clock counts",
            "more than 285,000 years",
            "write a shorter delay",
        ),
        Misfit::TooFine => (
            "is no whole number of milliseconds",
            "finer than a clock counts",
            "round it to milliseconds, such as `2ms`",
        ),
    };
    Diagnostic::new(Code::BadDelay, delay.span, format!("`{text}` {what}"))
        .label(label)
        .help(help)
}

fn zero_delay(delay: &Spanned<String>) -> Diagnostic {
    let message = format!("`{}` waits for no time at all", delay.value.trim());
    Diagnostic::new(Code::ZeroDelay, delay.span, message)
        .label("no time passes")
        .note("the host sends the event of this delay after the step, before any other")
        .help("say how long it takes, or name an event instead")
}

fn bare_condition(text: &Spanned<String>, event: &str) -> Diagnostic {
    let message = format!("this is the event `{event}`, not a condition");
    let diagnostic = Diagnostic::new(Code::BareCondition, text.span, message)
        .label(format!("sent as `{event}`"))
        .note("only brackets make a guard");
    match mended(text) {
        Some(guard) => diagnostic.fix(
            Applicability::Unsafe,
            format!("write `[{guard}]` to make it a guard"),
            text.span,
            format!("[{guard}]"),
        ),
        None => {
            diagnostic.help("write an expression in brackets to make it a guard: `[attempts < 3]`")
        }
    }
}

fn prose_label(text: &Spanned<String>, event: &str) -> Diagnostic {
    if let Some(delay) = spelled_delay(&text.value) {
        let message = format!("this text is the event `{event}`, and no delay");
        return Diagnostic::new(Code::ProseLabel, text.span, message)
            .label(format!("sent as `{event}`"))
            .fix(
                Applicability::Unsafe,
                format!("write `{delay}` to leave the state when that time is over"),
                text.span,
                delay,
            );
    }
    let message = format!("this text is the event `{event}`");
    Diagnostic::new(Code::ProseLabel, text.span, message)
        .label(format!("sent as `{event}`"))
        .fix(
            Applicability::Safe,
            format!("write `{event}`"),
            text.span,
            event,
        )
}

/// Returns `after 14 days` as a delay is written.
fn spelled_delay(text: &str) -> Option<String> {
    let rest = text.strip_prefix("after ")?.trim_start();
    let (number, unit) = rest.split_once(char::is_whitespace)?;
    let unit = match unit
        .trim()
        .to_ascii_lowercase()
        .trim_end_matches(['s', '.'])
    {
        "millisecond" | "msec" => "ms",
        "second" | "sec" => "s",
        "minute" | "min" => "m",
        "hour" | "hr" => "h",
        "day" => "d",
        _ => return None,
    };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("after {number}{unit}"))
}

fn event_collision(event: &Event, text: &str, span: Span) -> Diagnostic {
    let earlier = event.title.as_deref().unwrap_or(&event.id);
    let message = format!("`{text}` and `{earlier}` become one event, `{}`", event.id);
    Diagnostic::new(Code::EventCollision, span, message)
        .label(format!("becomes `{}`", event.id))
        .related(event.span, format!("becomes `{}` too", event.id))
        .help("if they are two events, write them as two identifiers; if they are one, use the same text")
}

fn reserved_event(name: &str, span: Span) -> Diagnostic {
    let message = format!("only the machine itself may raise `{name}`");
    let diagnostic = Diagnostic::new(Code::ReservedEvent, span, message).label("a reserved name");
    if word_key(name).starts_with("done.state.") {
        return diagnostic.help(
            "to go on when a state is done, leave its transition without a label, or use `on_done` in the definition",
        );
    }
    diagnostic.help(
        "names that begin with `done.state.`, `after.` or `error.` are reserved: choose another",
    )
}

fn slash_as_text(label: &Spanned<String>, slash: Span) -> Diagnostic {
    let message = "this slash is text: what follows it isn't an action";
    let diagnostic = Diagnostic::new(Code::SlashAsText, slash, message)
        .label("read as part of the event")
        .help("an action is `name()`, or a name that the definition declares under `actions`");
    let parts: Vec<String> = label.value.split(" / ").map(slug).collect();
    if parts.len() < 2 || parts.iter().any(String::is_empty) {
        return diagnostic;
    }
    let list = parts.join(", ");
    diagnostic.fix(
        Applicability::Unsafe,
        format!("if it means *or*, write `{list}`"),
        label.span,
        list,
    )
}

const GRAMMAR: &str = "a label is `event [guard] / action(), action()`, in that order";

/// Brackets stand where no guard can. `bracket` and `words` are bytes of the label: the brackets, and all of its trigger.
pub(super) fn misplaced_guard(
    label: &Spanned<String>,
    bracket: &Range<usize>,
    trigger: &Range<usize>,
    span: Span,
) -> Diagnostic {
    let text = |range: Range<usize>| label.value.get(range).unwrap_or("").trim();
    let guard = text(bracket.clone());
    let event = [
        text(trigger.start..bracket.start),
        text(bracket.end..trigger.end),
    ];
    let event = event.join(" ").trim().to_owned();
    let diagnostic = Diagnostic::new(
        Code::UnreadPart,
        span,
        "these brackets aren't read as a guard",
    )
    .label("would be part of the event's name")
    .note(GRAMMAR);
    // `pay [in_stock] / ship it`: what is missing is the action's form.
    let tail = text(bracket.end..trigger.end);
    if let Some(action) = tail
        .strip_prefix('/')
        .map(slug)
        .filter(|action| !action.is_empty())
    {
        let event = text(trigger.start..bracket.start);
        let mended = format!("{event} {guard} / {action}()")
            .trim_start()
            .to_owned();
        return diagnostic
            .help("an action is `name()`, or a name that the definition declares under `actions`")
            .fix(
                Applicability::Unsafe,
                format!("write `{mended}`"),
                label.span,
                mended,
            );
    }
    if event.is_empty() || event.contains(['[', ',', '/']) {
        return diagnostic
            .help("put one guard behind the event, and give each event a line of its own");
    }
    let rest = text(trigger.end..label.value.len());
    let mended = format!("{event} {guard} {rest}").trim_end().to_owned();
    diagnostic.fix(
        Applicability::Unsafe,
        format!("write `{mended}`"),
        label.span,
        mended,
    )
}

/// Calls stand behind the slash, but not as a list. `tail` is what stands behind it.
pub(super) fn unlisted_actions(tail: &str, span: Span) -> Diagnostic {
    let calls: Vec<&str> = tail
        .split_whitespace()
        .filter(|word| word.ends_with("()"))
        .collect();
    let list = calls.join(", ");
    Diagnostic::new(
        Code::UnreadPart,
        span,
        "these actions aren't read as a list of actions",
    )
    .label("would be part of the event's name")
    .note(GRAMMAR)
    .help(format!(
        "separate actions with commas, and nothing else: `/ {list}`"
    ))
}

pub(super) fn unnamed_action(item: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnreadPart,
        span,
        format!("`{item}` isn't the name of an action"),
    )
    .label("expected a name")
    .help("separate actions with commas, and write `entry /` and `exit /` on lines of their own")
}

/// `a : entry act()`. `slash` is where the slash belongs.
pub(super) fn missing_slash(keyword: &str, span: Span, slash: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnreadPart,
        span,
        format!("`{keyword}` needs a slash before its actions"),
    )
    .label("would be a title")
    .fix(
        Applicability::Unsafe,
        format!("write `{keyword} /`"),
        slash,
        " /",
    )
}

/// A guard stands behind the actions, where the grammar has no place for one. `slash` and `guard` are bytes of the label.
pub(super) fn late_guard(
    label: &Spanned<String>,
    slash: &Range<usize>,
    guard: Range<usize>,
    span: Span,
    declares: impl Fn(&str) -> bool,
) -> Diagnostic {
    let text = |range: Range<usize>| label.value.get(range).unwrap_or("").trim();
    let condition = text(guard.clone());
    let list: Vec<String> = text(slash.end..guard.start)
        .split(',')
        .map(str::trim)
        .map(|item| {
            if item.ends_with("()") || declares(item) {
                item.to_owned()
            } else {
                format!("{item}()")
            }
        })
        .collect();
    let parts = [text(0..slash.start), condition, "/", &list.join(", ")];
    let mended = parts.join(" ").trim_start().to_owned();
    Diagnostic::new(
        Code::UnreadPart,
        span,
        "a guard can't stand behind the actions",
    )
    .label("neither the guard nor the actions would be read")
    .note(GRAMMAR)
    .fix(
        Applicability::Unsafe,
        format!("write `{mended}`"),
        label.span,
        mended,
    )
}
