//! Transitions: from labels and keys to events, guards and actions.

use statemark_text::list::join;

use super::draft::{Draft, DraftTransition, DraftTrigger, StateHandle};
use super::event::{collides, intern_named_event, intern_prose_event, is_reserved, reserved_event};
use super::guard::is_prose;
use super::spec::Context;
use super::trigger::is_pattern;
use crate::arena::Handle;
use crate::diag::{Applicability, Code, Diagnostic, Diags, Edit};
use crate::front::expression::mended;
use crate::front::label::ast::{Guard, Label, Parts, Trigger};
use crate::front::label::{Misfit, lost_part, milliseconds, report_brackets};
use crate::front::words::slug;
use crate::ir::{self, Action, Event};
use crate::pass::trigger::format_duration;
use crate::source::{Span, Spanned};

/// Gives a transition what the parts of its label say.
pub(super) fn apply_label(
    transition: &mut DraftTransition,
    label: &Label,
    parts: &Parts,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let guard = parts.guard.as_ref();
    transition.ir.label = Some(ir::Label {
        text: label.text.clone(),
        guard: guard.map(|guard| guard.text().to_owned()),
    });
    transition.ir.actions = intern_actions(parts, draft);
    report_brackets(label, parts, context.diags);
    let source = transition.ir.source;
    let mut event = None;
    match guard {
        Some(Guard::Else) => transition.otherwise = true,
        Some(Guard::Text(text))
            if parts.trigger.is_none()
                && is_event_source(source, draft, context)
                && is_prose(text, draft, context) =>
        {
            event = bracketed_event(&text.text, draft, context.diags);
            transition.ir.label = Some(ir::Label {
                text: label.text.clone(),
                guard: None,
            });
        }
        Some(Guard::Text(text)) => {
            let text = draft.guard_texts.append(text.clone());
            transition.label_guards.push(text);
        }
        None => {}
    }
    transition.trigger = match (&parts.trigger, event) {
        (Some(trigger), _) => label_trigger(source, trigger, parts, draft, context.diags),
        (None, Some(event)) => DraftTrigger::Events(vec![event]),
        (None, None) => DraftTrigger::Missing,
    };
    if let Some(lost) = lost_part(label, parts, |name| context.declares_action(name)) {
        context.diags.push(lost);
    }
    let has_guard = !transition.label_guards.is_empty() || transition.otherwise;
    if has_guard && transition.trigger == DraftTrigger::Missing {
        transition.trigger = DraftTrigger::Eventless;
    }
}

/// Returns the event of words alone in brackets, and reports that they are one.
pub(super) fn bracketed_event(
    words: &Spanned<String>,
    draft: &mut Draft,
    diags: &mut Diags,
) -> Option<Handle<Event>> {
    let event = intern_prose_event(words, draft, diags)?;
    diags.push(prose_in_brackets(words, &draft.events.at(event).id));
    Some(event)
}

/// Reports whether words alone in brackets are an event of the state.
///
/// Not of a choice, whose branches are guards, and not where the definition has transitions without an event.
fn is_event_source(source: StateHandle, draft: &Draft, context: &Context<'_>) -> bool {
    let state = draft.get(source);
    state.pseudo.is_none() && !context.eventless.contains(state.ir.id.as_str())
}

/// Returns the actions that a label names.
pub(super) fn intern_actions(parts: &Parts, draft: &mut Draft) -> Vec<Handle<Action>> {
    let names = parts.actions.iter().map(|action| &action.name);
    names
        .map(|name| draft.intern_action(&name.value, name.span))
        .collect()
}

fn label_trigger(
    source: StateHandle,
    trigger: &Trigger,
    parts: &Parts,
    draft: &mut Draft,
    diags: &mut Diags,
) -> DraftTrigger {
    let words = match trigger {
        Trigger::Events(names) => {
            let mut events: Vec<Handle<Event>> = Vec::new();
            for name in names {
                let event = intern_named_event(&name.value, name.span, draft, diags);
                if !events.contains(&event) {
                    events.push(event);
                }
            }
            return DraftTrigger::Events(events);
        }
        Trigger::Commented {
            name,
            whole,
            comment,
        } => {
            return DraftTrigger::Commented {
                name: name.clone(),
                whole: whole.clone(),
                comment: *comment,
            };
        }
        Trigger::Delay { duration, span } => {
            return timer_trigger(source, duration, *span, draft, diags);
        }
        Trigger::Condition(words) | Trigger::Prose(words) => words,
    };
    let Some(event) = intern_prose_event(words, draft, diags) else {
        let is_at_once = words.value.trim() == "/" && draft.get(source).pseudo.is_none();
        return match is_at_once {
            true => DraftTrigger::Eventless,
            false => DraftTrigger::Missing,
        };
    };
    let id = draft.events.at(event).id.clone();
    let delay = SpelledDelay::read(&words.value);
    if parts.loses_part() {
        // What is lost is reported instead.
    } else if matches!(trigger, Trigger::Condition(_)) {
        diags.push(bare_condition(words, &id));
    } else if let Some(delay) = delay {
        diags.push(unread_delay(words, &delay));
    } else {
        // Writing the identifier would make a collision final, so the hint waits until that is settled.
        let collides = collides(event, &words.value, words.span, draft);
        // A comment or an arrow in it is reported already, and must not become part of a name.
        let holds_more = words.value.contains(['%', '#', '>']) && diags.covers(words.span);
        if !collides && !holds_more {
            draft.prose.push((words.clone(), id));
        }
    }
    DraftTrigger::Events(vec![event])
}

/// Returns the trigger that a timer of the source sends after a duration. `span` is the whole trigger.
///
/// A choice has no timer: the state that waits for it gets one later.
fn timer_trigger(
    source: StateHandle,
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

/// Returns the trigger of a key of `after`: a duration or a number of milliseconds.
///
/// Reports any other key.
pub(super) fn delay_trigger(
    source: StateHandle,
    key: &Spanned<String>,
    draft: &mut Draft,
    diags: &mut Diags,
) -> Option<DraftTrigger> {
    if key.value.is_empty() {
        // The front end has reported an empty name.
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
    Some(timer_trigger(source, &duration, key.span, draft, diags))
}

/// Returns the trigger of a key of `on`: an event or a pattern of events.
pub(super) fn event_trigger(
    key: &Spanned<String>,
    draft: &mut Draft,
    diags: &mut Diags,
) -> DraftTrigger {
    if !is_pattern(&key.value) {
        let event = intern_named_event(&key.value, key.span, draft, diags);
        return DraftTrigger::Events(vec![event]);
    }
    if is_reserved(&key.value) {
        diags.push(reserved_event(&key.value, key.span));
        return DraftTrigger::Events(Vec::new());
    }
    DraftTrigger::Pattern(key.clone())
}

fn no_delay(key: &Spanned<String>) -> Diagnostic {
    let message = format!("`{}` is no delay", key.value);
    Diagnostic::new(Code::BadDelay, key.span, message)
        .label("not a duration")
        .note("a delay is a number with a unit, `ms`, `s`, `m`, `h` or `d`; a number alone counts milliseconds")
        .help("write it so, for example `\"30s\"`")
}

fn bad_delay(delay: &Spanned<String>, misfit: Misfit) -> Diagnostic {
    let text = delay.value.trim();
    let (what, label, help) = match misfit {
        Misfit::TooLong => (
            "is longer than any clock counts",
            "more than 285,000 years".to_owned(),
            "write a shorter delay".to_owned(),
        ),
        Misfit::TooFine { exact, rounded } => (
            "is no whole number of milliseconds",
            format!("{exact} ms, finer than a clock counts"),
            format!("round it, such as to `{rounded}ms`"),
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
        Some(guard) => diagnostic.unsafe_fix(
            format!("write `[{guard}]` to make it a guard"),
            text.span,
            format!("[{guard}]"),
        ),
        None => {
            diagnostic.help("write an expression in brackets to make it a guard: `[attempts < 3]`")
        }
    }
}

/// Reports the labels of a machine that are prose, in one finding.
pub(super) fn report_prose(draft: &Draft, diags: &mut Diags) {
    let mut labels: Vec<&(Spanned<String>, String)> = draft.prose.iter().collect();
    labels.sort_by_key(|(text, _)| text.span);
    // A branch of a choice may be read for each way that leads there.
    labels.dedup_by_key(|(text, _)| text.span);
    if let Some((first, others)) = labels.split_first() {
        diags.push(prose_labels(first, others));
    }
}

/// Most labels in prose that a message names. Unit: labels. Why: the fix shows them all.
const MOST_NAMED: usize = 3;

fn prose_labels(
    (text, event): &(Spanned<String>, String),
    others: &[&(Spanned<String>, String)],
) -> Diagnostic {
    let count = others.len() + 1;
    let message = if others.is_empty() {
        format!("this text is the event `{event}`")
    } else {
        let named = others.iter().take(MOST_NAMED - 1);
        let mut names: Vec<String> = std::iter::once(event)
            .chain(named.map(|(_, event)| event))
            .map(|event| format!("`{event}`"))
            .collect();
        if count > MOST_NAMED {
            names.push(format!("{} more", count - MOST_NAMED));
        }
        format!(
            "{count} labels are texts, read as the events {}",
            join(&names, "and")
        )
    };
    let mut diagnostic =
        Diagnostic::new(Code::ProseLabel, text.span, message).label(format!("sent as `{event}`"));
    for (text, event) in others.iter().take(MOST_NAMED - 1) {
        diagnostic = diagnostic.related(text.span, format!("sent as `{event}`"));
    }
    if others.is_empty() {
        return diagnostic.safe_fix(format!("write `{event}`"), text.span, event);
    }
    let edits = std::iter::once((text, event))
        .chain(others.iter().map(|(text, event)| (text, event)))
        .map(|(text, event)| Edit {
            span: text.span,
            text: event.clone(),
        });
    diagnostic.fix_all(Applicability::Safe, "write the events", edits.collect())
}

fn prose_in_brackets(text: &Spanned<String>, event: &str) -> Diagnostic {
    let message = format!("these words in brackets are the event `{event}`");
    Diagnostic::new(Code::ProseLabel, text.span, message)
        .label(format!("sent as `{event}`"))
        .note("nobody could say when words for people begin to hold")
        .help(format!(
            "write `{event}` without brackets, or an event before them"
        ))
}

fn unread_delay(label: &Spanned<String>, delay: &SpelledDelay) -> Diagnostic {
    let message = format!("`{}` is no delay that can be read", label.value.trim());
    let diagnostic = Diagnostic::new(Code::BadDelay, label.span, message)
        .label("not a duration")
        .note("a delay is `after` and a number with one unit: `ms`, `s`, `m`, `h` or `d`");
    match delay.milliseconds {
        Some(milliseconds) => {
            let written = format!("after {}", format_duration(milliseconds));
            diagnostic.unsafe_fix(format!("write `{written}`"), label.span, written)
        }
        None => diagnostic.help("write it so, for example `after 30s`"),
    }
}

/// A label that says how much time passes, but not as a delay is written.
struct SpelledDelay {
    /// The time, if it is certain which one is meant.
    milliseconds: Option<u64>,
}

impl SpelledDelay {
    /// Reads `after 30 min`, `after 1h 30m`, `after 2 weeks`, `after 30`.
    ///
    /// `None` for what is no time: `after 3 failures`, `after hours`.
    fn read(label: &str) -> Option<Self> {
        let label = label.trim().to_lowercase();
        let rest = label.strip_prefix("after ")?.trim_start();
        if !rest.starts_with(|sign: char| sign.is_ascii_digit()) {
            return None;
        }
        let mut total = Some(0_u64);
        let mut rest = rest.trim_end_matches('.');
        while !rest.is_empty() {
            let after_number =
                rest.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
            let (number, tail) = rest.split_at_checked(rest.len() - after_number.len())?;
            let tail = tail.trim_start();
            let after_unit = tail.trim_start_matches(char::is_alphabetic);
            let (unit, tail) = tail.split_at_checked(tail.len() - after_unit.len())?;
            let unit = match unit {
                // A number alone is no time that anybody could know.
                "" if number.is_empty() || !tail.trim().is_empty() => return None,
                "" => None,
                word => Some(unit_of(word)?),
            };
            let part = unit.and_then(|unit| milliseconds(&format!("{number}{unit}"))?.ok());
            // A week is no unit of ours.
            let times = if unit == Some("d") && after_number.trim_start().starts_with('w') {
                7
            } else {
                1
            };
            total = total
                .zip(part)
                .and_then(|(total, part)| total.checked_add(part.checked_mul(times)?));
            rest = tail.trim_start_matches(|sign: char| sign.is_whitespace() || sign == ',');
            rest = rest.strip_prefix("and ").unwrap_or(rest).trim_start();
        }
        Some(Self {
            milliseconds: total.filter(|&total| total > 0),
        })
    }
}

/// Returns the unit that a word of time is counted in; `None` if it is none.
fn unit_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => "ms",
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        "d" | "day" | "days" | "w" | "week" | "weeks" => "d",
        _ => return None,
    })
}
