//! Events: from names and texts to handles.
//!
//! A text that is no identifier becomes one, and stays as the event's title. Two texts name one event if the words of their
//! identifiers agree; where the texts differ in more than punctuation, that is reported.

use super::draft::Draft;
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::front::mermaid::entity;
use crate::front::words::{is_identifier, slug, strip_tags, to_nfc, word_key};
use crate::ir::{Event, EventKind};
use crate::source::{Span, Spanned};

/// The engine's event for an assignment without a value, which a transition may wait for.
const FAULT: &str = "error.execution";

/// Returns the event that an identifier names.
pub(super) fn intern_named_event(
    name: &str,
    span: Span,
    draft: &mut Draft,
    diags: &mut Diags,
) -> Handle<Event> {
    if is_reserved(name) {
        if word_key(name) == FAULT {
            return draft.intern_engine_event(FAULT, EventKind::Fault, span);
        }
        diags.push(reserved_event(name, span));
    }
    let event = draft.intern_event(name, span);
    report_collision(event, name, span, draft, diags);
    event
}

/// Returns the event that a text names, with the text as its title.
///
/// `None` if no letter of the text fits an identifier.
pub(super) fn intern_prose_event(
    words: &Spanned<String>,
    draft: &mut Draft,
    diags: &mut Diags,
) -> Option<Handle<Event>> {
    let name = slug(&words.value);
    if name.is_empty() {
        return None;
    }
    let event = draft.intern_event(&name, words.span);
    report_collision(event, &words.value, words.span, draft, diags);
    // Words of something else are no title for it.
    if draft.events.at(event).title.is_none() && !collides(event, &words.value, words.span, draft) {
        draft.events.at_mut(event).title = Some(entity::decode(&words.value));
    }
    Some(event)
}

/// Returns whether a name belongs to the engine. Its words count: `Error.unknown_event` does, too.
pub(super) fn is_reserved(name: &str) -> bool {
    if !name.contains('.') {
        return false;
    }
    let words = word_key(name);
    let mut prefixes = ["done.state.", "after.", "error."].iter();
    prefixes.any(|prefix| words.starts_with(prefix))
}

/// Returns whether a text names the same event as an earlier one, in other words.
pub(super) fn collides(event: Handle<Event>, text: &str, span: Span, draft: &Draft) -> bool {
    let known = &draft.events.at(event);
    let earlier = known.title.as_deref().unwrap_or(&known.id);
    known.span != span && earlier != text && spoken(earlier) != spoken(text)
}

/// Reports two texts that become one event although their words differ.
fn report_collision(
    event: Handle<Event>,
    text: &str,
    span: Span,
    draft: &Draft,
    diags: &mut Diags,
) {
    if collides(event, text, span, draft) {
        diags.push(event_collision(draft.events.at(event), text, span));
    }
}

/// Returns the letters and signs of a text, which must agree for two texts to mean one event.
///
/// Punctuation, tags and the spelling of a comparison count for nothing.
fn spoken(text: &str) -> String {
    let decoded = entity::decode(text);
    if is_identifier(&decoded) {
        return word_key(&decoded).replace(['_', '.'], "");
    }
    let plain = strip_tags(&decoded);
    let plain: String = to_nfc(&plain)
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

/// Returns whether a sign tells two texts apart though no identifier holds it.
///
/// Those are comparisons, arithmetic, `C#`, `50%`, arrows and pictographs.
fn is_sign(c: char) -> bool {
    "<>=≤≥≠+#%".contains(c)
        || matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}')
}

fn event_collision(event: &Event, text: &str, span: Span) -> Diagnostic {
    let earlier = event.title.as_deref().unwrap_or(&event.id);
    let message = format!("`{text}` and `{earlier}` become one event, `{}`", event.id);
    Diagnostic::new(Code::EventCollision, span, message)
        .label(format!("becomes `{}`", event.id))
        .related(event.span, format!("becomes `{}` too", event.id))
        .help("if they are two events, write them as two identifiers; if they are one, use the same text")
}

pub(super) fn reserved_event(name: &str, span: Span) -> Diagnostic {
    let message = format!("only the machine itself may raise `{name}`");
    let diagnostic = Diagnostic::new(Code::ReservedEvent, span, message).label("a reserved name");
    if word_key(name).starts_with("done.state.") {
        return diagnostic.help(
            "to continue when a state is done, leave its transition without a label, or use `on_done` in the definition",
        );
    }
    diagnostic.help(
        "names that begin with `done.state.`, `after.` or `error.` are reserved: choose another",
    )
}
