//! Triggers of transitions that their labels leave open.
//!
//! A transition without a label gets an event, so that diagrams drawn for people run without surprise:
//!
//! | missing label | trigger |
//! |---|---|
//! | from an atomic state to a state `b` | the event `to_b` |
//! | to `[*]` | the event `done`; in a region `<source>_done` |
//! | from a compound or parallel state that can be done | its completion |

use std::collections::{BTreeMap, BTreeSet};

use statemark_text::list::join;

use super::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateHandle};
use super::event::{intern_named_event, intern_prose_event};
use super::messages::pattern_without_events;
use super::spec::Context;
use crate::arena::Handle;
use crate::diag::{Applicability, Code, Diagnostic, Diags, Edit, Severity, machine_too_large};
use crate::front::definition::ast::{Definition, Kind};
use crate::front::label::actions_without_event;
use crate::front::mermaid::ids::is_keyword;
use crate::front::words::{is_identifier, slug, word_key};
use crate::ir::{Event, EventKind};
use crate::source::{Sources, Span, Spanned, narrow};

/// Returns the event of a transition without a label, by its target.
pub(super) fn implied_event(draft: &Draft, source: StateHandle, target: StateHandle) -> String {
    let leads_out = draft.get(target).ir.implied && draft.get(target).kind == Some(Kind::Final);
    if leads_out {
        return end_event(draft, source, draft.parent(target));
    }
    let name = slug(&draft.get(target).ir.id);
    if name.is_empty() {
        // The id has no letter at all, such as `…`: its position tells it apart.
        return format!("to_{}_{}", source.index(), target.index());
    }
    format!("to_{name}")
}

/// Returns the event of a transition without a label to the end of a scope.
///
/// In a region it has the name of its source, so that one event never ends two regions.
pub(super) fn end_event(draft: &Draft, source: StateHandle, scope: StateHandle) -> String {
    if !draft.is_in_region(scope) {
        return "done".to_owned();
    }
    let name = slug(&draft.get(source).ir.id);
    if name.is_empty() {
        return format!("state_{}_done", source.index());
    }
    format!("{name}_done")
}

/// Gives every transition its events, and reports the arrows of a diagram that don't name theirs.
///
/// `diagram`: the span of the diagram, if there is one.
pub(super) fn resolve_triggers(
    diagram: Option<Span>,
    sources: &Sources,
    draft: &mut Draft,
    diags: &mut Diags,
) {
    resolve_comments(draft, diags);
    let mut unlabeled: Vec<Unlabeled> = Vec::new();
    for index in 0..draft.transitions.len() {
        let Some(transition) = draft.transitions.get(index) else {
            continue;
        };
        let (source, span) = (transition.ir.source, transition.ir.span);
        let trigger = match (&transition.trigger, transition.ir.targets.first()) {
            (DraftTrigger::Completion, _) => completion(draft, source, span),
            (DraftTrigger::Missing | DraftTrigger::Toward(_), Some(_))
                if can_complete(draft, source) =>
            {
                completion(draft, source, span)
            }
            (DraftTrigger::Toward(target), _) | (DraftTrigger::Missing, Some(target)) => {
                let name = implied_event(draft, source, *target);
                let is_drawn = diagram.is_some_and(|diagram| diagram.contains(span));
                if draft.get(source).has_body {
                    let id = &draft.get(source).ir.id;
                    diags.push(completion_without_final(id, &name, span));
                } else if is_drawn && !transition.ir.implied && !draft.get(source).ir.implied {
                    let event = name.clone();
                    unlabeled.push(Unlabeled { arrow: span, event });
                }
                DraftTrigger::Events(vec![draft.intern_event(&name, span)])
            }
            // `a : / act()` has neither an event nor a target: nothing could ever trigger it.
            (DraftTrigger::Missing, None) => {
                diags.push(actions_without_event(span));
                DraftTrigger::Eventless
            }
            (_, _) => continue,
        };
        if let Some(transition) = draft.transitions.get_mut(index) {
            transition.trigger = trigger;
        }
    }
    // An arrow to a choice is a transition for each way out of it.
    unlabeled.sort();
    unlabeled.dedup();
    // What is wrong on its line may be about the label.
    unlabeled.retain(|it| !diags.misreads(line_of(it.arrow, sources)));
    // What couldn't be read may have been their labels.
    if let (Some((first, others)), false) = (unlabeled.split_first(), diags.has_errors()) {
        diags.push(unlabeled_arrows(first, others, sources));
    }
}

/// Returns the line on which a span begins.
fn line_of(span: Span, sources: &Sources) -> Span {
    let file = sources.file(span.file);
    let line = file.line_range(file.line_index(span.start));
    line.map_or(span, |line| Span {
        start: narrow(line.start),
        end: narrow(line.end),
        ..span
    })
}

/// An arrow without a label, and the event that it waits for.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Unlabeled {
    arrow: Span,
    event: String,
}

/// Returns whether a state can be done.
///
/// Those are compound states with a final child, and parallel ones whose regions all have one.
pub(super) fn can_complete(draft: &Draft, state: StateHandle) -> bool {
    if !draft.get(state).has_body {
        return false;
    }
    let is_region = |child: &StateHandle| draft.get(*child).kind != Some(Kind::History);
    let mut children = draft.children(state).filter(is_region);
    if draft.get(state).kind == Some(Kind::Parallel) {
        return children.all(|region| can_complete(draft, region));
    }
    children.any(|child| draft.get(child).kind == Some(Kind::Final))
}

fn completion(draft: &mut Draft, state: StateHandle, span: Span) -> DraftTrigger {
    let id = format!("done.state.{}", draft.get(state).ir.id);
    let kind = EventKind::Completion(state);
    DraftTrigger::Events(vec![draft.intern_engine_event(&id, kind, span)])
}

/// Gives transitions with `event (text)` their events.
///
/// The parenthesis is a comment, unless dropping it would lead one source to different targets on the same event; then each
/// of those labels keeps it.
fn resolve_comments(draft: &mut Draft, diags: &mut Diags) {
    let is_commented = |it: &DraftTransition| matches!(it.trigger, DraftTrigger::Commented { .. });
    if !draft.transitions.iter().any(is_commented) {
        return;
    }
    let targets = targets_by_event(draft);
    for index in 0..draft.transitions.len() {
        let Some(transition) = draft.transitions.get(index) else {
            continue;
        };
        let DraftTrigger::Commented {
            name,
            whole,
            comment,
        } = transition.trigger.clone()
        else {
            continue;
        };
        let key = (transition.ir.source, slug(&name.value));
        let ambiguous =
            transition.ir.guard.is_none() && targets.get(&key).is_some_and(|all| all.len() > 1);
        let text: Spanned<String> = if ambiguous {
            whole.clone()
        } else {
            name.clone()
        };
        let event = if is_identifier(&text.value) {
            Some(intern_named_event(&text.value, text.span, draft, diags))
        } else {
            intern_prose_event(&text, draft, diags)
        };
        let id = event
            .map_or("", |event| draft.events.at(event).id.as_str())
            .to_owned();
        if event.is_some() && ambiguous {
            diags.push(kept_parenthesis(&name, &whole, comment, &id));
        } else if event.is_some()
            && whole.value.get(name.value.len()..).unwrap_or("").trim() != "()"
            && !name.value.contains(" / ")
        {
            // `connect()` loses nothing, and of a slash that is text more was said.
            diags.push(dropped_parenthesis(&name, &whole, comment, &id));
        }
        if let Some(transition) = draft.transitions.get_mut(index) {
            transition.trigger = match (event, &transition.ir.guard) {
                (Some(event), _) => DraftTrigger::Events(vec![event]),
                (None, Some(_)) => DraftTrigger::Eventless,
                (None, None) => DraftTrigger::Missing,
            };
        }
    }
}

/// Returns the targets of transitions without a guard, by source and event.
///
/// The event is an identifier, without the parenthesis of the label.
fn targets_by_event(draft: &Draft) -> BTreeMap<(StateHandle, String), BTreeSet<Vec<StateHandle>>> {
    let mut targets: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for transition in draft.transitions.iter().filter(|it| it.ir.guard.is_none()) {
        let mut note = |name: &str| {
            let key = (transition.ir.source, slug(name));
            targets
                .entry(key)
                .or_default()
                .insert(transition.ir.targets.clone());
        };
        match &transition.trigger {
            DraftTrigger::Commented { name, .. } => note(&name.value),
            DraftTrigger::Events(events) => {
                let ids = events.iter().map(|&event| &draft.events.at(event).id);
                ids.for_each(|id| note(id));
            }
            DraftTrigger::Missing
            | DraftTrigger::Pattern(_)
            | DraftTrigger::Toward(_)
            | DraftTrigger::Delayed(_)
            | DraftTrigger::Eventless
            | DraftTrigger::Completion => {}
        }
    }
    targets
}

/// Interns the events that a definition declares and that only patterns name.
pub(super) fn intern_matching_events(definition: &Definition, draft: &mut Draft) {
    // Without the `*`: `job.`, or nothing for all.
    let beginnings: BTreeSet<String> = patterns(draft).filter_map(|it| beginning(&it)).collect();
    for event in &definition.events {
        let name = &event.name.value;
        let words = word_key(name);
        let dots = words.match_indices('.').map(|(dot, _)| dot + 1);
        let mut own = dots.filter(|&end| end < words.len());
        let is_matched = beginnings.contains("")
            || own.any(|end| words.get(..end).is_some_and(|it| beginnings.contains(it)));
        if is_matched {
            draft.intern_event(name, event.name.span);
        }
    }
}

/// Returns what the keys of the events begin with that a pattern matches.
///
/// That is `job.` of `job.*`, and nothing of `*`.
fn beginning(pattern: &str) -> Option<String> {
    let prefix = pattern.strip_suffix('*')?;
    let words = prefix.strip_suffix('.').map(word_key);
    Some(words.map_or_else(String::new, |words| format!("{words}.")))
}

/// Returns whether the name of an event is a pattern: `job.*`, `*`.
pub(super) fn is_pattern(name: &str) -> bool {
    name == "*" || name.ends_with(".*")
}

/// Returns whether a pattern matches an event.
pub(super) fn matches(pattern: &str, event: &str) -> bool {
    beginning(pattern).is_some_and(|beginning| {
        let words = word_key(event);
        let rest = words.strip_prefix(beginning.as_str());
        rest.is_some_and(|rest| !rest.is_empty() || beginning.is_empty())
    })
}

fn patterns(draft: &Draft) -> impl Iterator<Item = String> + '_ {
    let triggers = draft.transitions.iter().map(|it| &it.trigger);
    triggers.filter_map(|trigger| match trigger {
        DraftTrigger::Pattern(pattern) => Some(pattern.value.clone()),
        _ => None,
    })
}

/// Most triggers of all transitions together, once patterns are written out.
///
/// Unit: triggers. Why: that of tables; ten thousand transitions on any of ten thousand events would fill any memory.
const MAX_TRIGGERS: usize = statemark_runtime::MAX_ROWS;

/// The number of triggers of a machine's transitions so far.
#[derive(Debug, Default)]
pub(super) struct TriggerCount(usize);

impl TriggerCount {
    /// Reports whether there were more than a machine may have: it gets no others.
    pub(super) const fn is_exceeded(&self) -> bool {
        self.0 > MAX_TRIGGERS
    }

    /// Counts the triggers of a transition.
    ///
    /// The first time that there are too many is reported; the rest is dropped.
    pub(super) fn add(
        &mut self,
        events: &mut Vec<Handle<Event>>,
        machine: Span,
        diags: &mut Diags,
    ) {
        let left = MAX_TRIGGERS.saturating_sub(self.0);
        if events.len() > left && !self.is_exceeded() {
            let what =
                format!("more than {MAX_TRIGGERS} triggers once its patterns are written out");
            diags.push(machine_too_large(&what, machine));
        }
        self.0 = self.0.saturating_add(events.len());
        events.truncate(left);
    }
}

/// Gives every transition with a pattern its events: those of the machine that begin so.
///
/// The engine's own events (`done.state.…`, `after.…`, `error.…`) are none of them. An event that an earlier transition of
/// the same state takes without a guard is left out: it would never get there.
pub(super) fn expand_patterns(draft: &mut Draft, context: &mut Context<'_>) {
    let named = draft.events.iter();
    let named = named.filter(|(_, event)| event.kind == EventKind::Named);
    let named: BTreeMap<(String, Handle<Event>), String> = named
        .map(|(handle, event)| ((word_key(&event.id).into_owned(), handle), event.id.clone()))
        .collect();
    let machine = draft.get(ROOT).ir.span;
    let mut triggers = TriggerCount::default();
    let mut claimed: BTreeSet<(StateHandle, Handle<Event>)> = BTreeSet::new();
    for index in 0..draft.transitions.len() {
        let Some(transition) = draft.transitions.get_mut(index) else {
            continue;
        };
        let source = transition.ir.source;
        if let DraftTrigger::Pattern(pattern) = &transition.trigger {
            let beginning = beginning(&pattern.value).unwrap_or_default();
            let own = named.range((beginning.clone(), Handle::at(0))..);
            let own = own.take_while(|((words, _), _)| words.starts_with(&beginning));
            let own = own.take_while(|_| !triggers.is_exceeded());
            let mut events: Vec<Handle<Event>> = own
                .filter(|((words, _), _)| beginning.is_empty() || *words != beginning)
                .map(|(&(_, event), _)| event)
                .filter(|&event| !claimed.contains(&(source, event)))
                .collect();
            events.sort_unstable();
            if events.is_empty() && !context.broken && !triggers.is_exceeded() {
                let known = named.values().map(String::as_str);
                let known = context.diags.comparable(known, named.len());
                context.diags.push(pattern_without_events(pattern, known));
            }
            triggers.add(&mut events, machine, context.diags);
            transition.trigger = DraftTrigger::Events(events);
        }
        if let (DraftTrigger::Events(events), None) = (&transition.trigger, &transition.ir.guard) {
            claimed.extend(events.iter().map(|&event| (source, event)));
        }
    }
    // One that is left with no event would be taken at once.
    draft
        .transitions
        .retain(|it| !matches!(&it.trigger, DraftTrigger::Events(events) if events.is_empty()));
}

/// Most events in the message about unlabeled arrows. Unit: events. Why: nobody reads more.
const MOST_LISTED: usize = 24;

/// Reports the arrows of a machine without a label, each with the event that it waits for.
fn unlabeled_arrows(first: &Unlabeled, others: &[Unlabeled], sources: &Sources) -> Diagnostic {
    let arrows = || std::iter::once(first).chain(others);
    let mut events: Vec<&str> = Vec::new();
    for arrow in arrows() {
        if !events.contains(&arrow.event.as_str()) && events.len() <= MOST_LISTED {
            events.push(&arrow.event);
        }
    }
    let mut names: Vec<String> = events
        .iter()
        .take(MOST_LISTED)
        .map(|event| format!("`{event}`"))
        .collect();
    if events.len() > MOST_LISTED {
        names.push("others".to_owned());
    }
    let names = join(&names, "and");
    let message = match others.len() {
        0 => format!("an arrow without a label waits for the event {names}"),
        more => format!("{} arrows without a label wait for {names}", more + 1),
    };
    let mut diagnostic = Diagnostic::new(Code::UnlabeledArrow, first.arrow, message)
        .label(format!("waits for `{}`", first.event))
        .help("name the events on the arrows, or write `: /` on one that is taken at once");
    for arrow in others.iter().take(2) {
        diagnostic = diagnostic.related(arrow.arrow, format!("waits for `{}`", arrow.event));
    }
    let edits: Option<Vec<Edit>> = arrows().map(|arrow| written_out(arrow, sources)).collect();
    let title = "write the events on the arrows";
    match edits {
        Some(edits) => diagnostic.fix_all(Applicability::Safe, title, edits),
        None => diagnostic,
    }
}

/// Returns the edit that writes an arrow's event.
///
/// There is one if the arrow plainly ends in a state's name, at the end of its line.
fn written_out(arrow: &Unlabeled, sources: &Sources) -> Option<Edit> {
    let text = sources.text(arrow.arrow);
    let (_, target) = text.split_once("-->")?;
    let is_plain = !target.is_empty()
        && !target.contains([':', ';', '%', '\n'])
        && !target.contains("-->")
        && !is_keyword(target.trim())
        && !target.ends_with(char::is_whitespace);
    // What follows on the line would become part of the label.
    let file = sources.file(arrow.arrow.file);
    let line = file.line_range(file.line_index(arrow.arrow.end))?;
    let rest = file.text().get(arrow.arrow.range().end..line.end)?;
    let is_plain = is_plain && rest.trim().is_empty();
    is_plain.then(|| Edit {
        span: arrow.arrow.after(),
        text: format!(" : {}", arrow.event),
    })
}

fn completion_without_final(id: &str, event: &str, span: Span) -> Diagnostic {
    let message = format!("`{id}` has no end inside, so this is taken on the event `{event}`");
    Diagnostic::new(Code::CompletionWithoutFinal, span, message)
        .label("no label")
        .help(format!(
            "lead to `[*]` inside `{id}` to leave it when it is done, or write the event"
        ))
}

fn kept_parenthesis(
    name: &Spanned<String>,
    whole: &Spanned<String>,
    comment: Span,
    event: &str,
) -> Diagnostic {
    let message = format!(
        "`{}` leads to several states, so `{}` is an event of its own, `{event}`",
        name.value, whole.value
    );
    Diagnostic::new(Code::KeptParenthesis, comment, message)
        .label("part of the event's name")
        .help(format!(
            "if it is a condition, write `{}`; if it is an event, write `{event}`",
            parenthesis_as_guard(name, whole)
        ))
}

fn dropped_parenthesis(
    name: &Spanned<String>,
    whole: &Spanned<String>,
    comment: Span,
    event: &str,
) -> Diagnostic {
    let message = format!("the parenthesis is a comment: the event is `{event}`");
    let is_condition = reads_as_condition(inside_parenthesis(name, whole));
    let diagnostic = Diagnostic::new(Code::DroppedParenthesis, comment, message);
    let diagnostic = match is_condition {
        true => diagnostic
            .with_severity(Severity::Warning)
            .label("a condition that nothing checks"),
        false => diagnostic.label("not part of the event"),
    };
    diagnostic.help(format!(
        "if it is a condition, write `{}`",
        parenthesis_as_guard(name, whole)
    ))
}

/// Words with which a condition begins; the longer ones first.
const CONDITIONAL: [&str; 4] = ["only if ", "only when ", "if ", "when "];

/// Reports whether words in a parenthesis say on what a transition depends.
fn reads_as_condition(words: &str) -> bool {
    let starts = CONDITIONAL.iter().chain(&["unless ", "only "]);
    let mut starts = starts.copied();
    // Neither an arrow nor a tag compares anything.
    let plain = ["->", "<-", "=>", "<br", "</", "/>"]
        .iter()
        .fold(words.to_owned(), |plain, sign| plain.replace(sign, " "));
    let compares = |sign: &&str| plain.contains(*sign);
    starts.any(|start| words.starts_with(start))
        || ["<", ">", "==", "!=", "≤", "≥", "&&", "||"]
            .iter()
            .any(compares)
}

/// Returns the words between the parentheses after an event.
fn inside_parenthesis<'w>(name: &Spanned<String>, whole: &'w Spanned<String>) -> &'w str {
    let comment = whole.value.get(name.value.len()..).unwrap_or("").trim();
    let inner = comment.strip_prefix('(');
    let inner = inner.and_then(|inner| inner.strip_suffix(')'));
    inner.unwrap_or("").trim()
}

/// Turns the parenthesis into brackets: `reviewed (approved)` into `reviewed [approved]`.
fn parenthesis_as_guard(name: &Spanned<String>, whole: &Spanned<String>) -> String {
    let inner = inside_parenthesis(name, whole);
    let inner = CONDITIONAL
        .iter()
        .find_map(|word| inner.strip_prefix(word))
        .map_or(inner, str::trim);
    format!(
        "{} [{}]",
        name.value,
        if inner.is_empty() { "condition" } else { inner }
    )
}
