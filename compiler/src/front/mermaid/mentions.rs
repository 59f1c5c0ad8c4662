//! Mentions whose order changes what Mermaid draws.
//!
//! The first mention decides what a state is. A choice, fork or join that is mentioned before it is declared is drawn
//! as a plain state, and so is one with a text. A state that a note mentions first has no shape, and nothing of the
//! diagram is drawn. Statemark goes by the declaration, and warns here.

use std::collections::BTreeMap;

use super::ast::{
    Body, Declaration, Diagram, DrawnAs, Endpoint, Note, Statement, StatementKind, Stereotype,
};
use super::lines::Lines;
use super::messages::quote;
use crate::diag::{Applicability, Code, Diagnostic, Diags, Edit};
use crate::source::{Span, Spanned};

/// The separator before an action; [`crate::lower`] reports that a choice can't act.
const ACTION: &str = " / ";

/// A statement among its siblings.
#[derive(Clone, Copy, Debug)]
struct Site<'d> {
    statement: &'d Statement,
    siblings: &'d [Statement],
    index: usize,
}

/// The facts about a state.
#[derive(Debug, Default)]
struct Known<'d> {
    /// The first mention outside a note.
    first: Option<Span>,
    /// A note before any other mention.
    note: Option<(&'d Note, Site<'d>)>,
    /// The `<<choice>>` and other marks.
    marks: Vec<(Stereotype, Span, Site<'d>)>,
    /// The first text.
    text: Option<(&'d Spanned<String>, Site<'d>)>,
    has_body: bool,
}

/// Reports states that are mentioned too early, and texts of pseudo-states.
pub(super) fn check(diagram: &Diagram, lines: Lines<'_>, diags: &mut Diags) {
    let mut mentions = Mentions::default();
    mentions.body(&diagram.body);
    let named = mentions.by_id.iter();
    let named: Vec<&str> = named
        .filter(|(_, known)| known.first.is_some())
        .map(|(id, _)| *id)
        .collect();
    for (id, known) in &mentions.by_id {
        known.check_marks(id, lines, diags);
        if let Some((note, site)) = known.note
            && known.text.is_none()
            && !known.has_body
        {
            let finding = match known.first {
                Some(first) => early_note(note, first, site.move_below(first, lines)),
                None => note_without_state(note, diags.nearest(id, named.iter().copied())),
            };
            diags.push(finding);
        }
    }
}

impl Known<'_> {
    fn check_marks(&self, id: &str, lines: Lines<'_>, diags: &mut Diags) {
        let mut marks = self.marks.iter();
        let Some(&(kind, mark, site)) = marks.next() else {
            return;
        };
        let late = self
            .first
            .filter(|first| first.start < site.statement.span.start);
        if let Some(first) = late {
            let edits = site.move_above(first, lines);
            diags.push(late_declaration(mark, first, id, kind, edits));
        } else if let Some((text, site)) = self.text
            && !text.value.contains(ACTION)
        {
            let edit = site.to_note(id, text, lines);
            diags.push(text_of_pseudo_state(text, mark, id, kind, edit));
        }
        for &(other, again, site) in marks.filter(|(other, _, _)| *other != kind) {
            let removal = lines.remove(site.statement.span);
            diags.push(second_declaration(again, mark, id, kind, other, removal));
        }
    }
}

#[derive(Debug, Default)]
struct Mentions<'d> {
    by_id: BTreeMap<&'d str, Known<'d>>,
}

impl<'d> Mentions<'d> {
    /// Collects from a body, at most [`super::parse::MAX_DEPTH`] deep.
    fn body(&mut self, body: &'d Body) {
        let siblings = body.statements.as_slice();
        for (index, statement) in siblings.iter().enumerate() {
            let site = Site {
                statement,
                siblings,
                index,
            };
            self.statement(&statement.kind, site);
        }
    }

    fn statement(&mut self, statement: &'d StatementKind, site: Site<'d>) {
        match statement {
            StatementKind::Mention(state) => self.endpoint(state),
            StatementKind::Description { state, description } => {
                self.endpoint(state);
                let text = &description.text;
                if let Some(id) = state.id()
                    && !text.value.is_empty()
                {
                    let known = self.by_id.entry(id).or_default();
                    known.text.get_or_insert((text, site));
                }
            }
            StatementKind::Transition(transition) => {
                self.endpoint(&transition.source);
                self.endpoint(&transition.target);
            }
            StatementKind::Declaration(declaration) => self.declaration(declaration, site),
            StatementKind::Note(note) if note.left.is_some() && note.state.value != "[*]" => {
                let known = self.by_id.entry(&note.state.value).or_default();
                if known.first.is_none() {
                    known.note.get_or_insert((note, site));
                }
            }
            StatementKind::Note(_)
            | StatementKind::Divider
            | StatementKind::Direction(_)
            | StatementKind::Drawing(_)
            | StatementKind::Accessibility { .. } => {}
        }
    }

    fn endpoint(&mut self, endpoint: &'d Endpoint) {
        if let Some(id) = endpoint.id() {
            let known = self.by_id.entry(id).or_default();
            known.first.get_or_insert(endpoint.span);
        }
    }

    fn declaration(&mut self, declaration: &'d Declaration, site: Site<'d>) {
        let (id, titled) = match &declaration.drawn {
            DrawnAs::Nothing => return,
            DrawnAs::Named(name) => (name, false),
            _ => (&declaration.id.value, true),
        };
        let known = self.by_id.entry(id).or_default();
        known.first.get_or_insert(declaration.id.span);
        let title = declaration.title.as_ref().filter(|_| titled);
        if let Some(title) = title.filter(|title| !title.value.is_empty()) {
            known.text.get_or_insert((title, site));
        }
        if let Some(mark) = &declaration.stereotype {
            known.marks.push((mark.value, mark.span, site));
        }
        if let Some(inner) = &declaration.body {
            known.has_body = true;
            self.body(inner);
        }
    }
}

impl Site<'_> {
    /// Moves the statement above the sibling that holds a span.
    fn move_above(self, place: Span, lines: Lines<'_>) -> Option<Vec<Edit>> {
        let (before, _) = self.siblings.split_at_checked(self.index)?;
        let at = before.iter().position(|it| it.span.contains(place))?;
        let between = before.get(at..)?;
        let text = lines.source_text(self.statement.span)?;
        let insertion = lines.insert_above(before.get(at)?.span, text)?;
        let removal = lines.remove(self.statement.span)?;
        is_one_region(between).then(|| vec![insertion, removal])
    }

    /// Moves the statement below the sibling that holds a span.
    fn move_below(self, place: Span, lines: Lines<'_>) -> Option<Vec<Edit>> {
        let after = self.siblings.get(self.index + 1..)?;
        let at = after.iter().position(|it| it.span.contains(place))?;
        let between = after.get(..at)?;
        let text = lines.source_text(self.statement.span)?;
        let removal = lines.remove(self.statement.span)?;
        let insertion = lines.insert_below(after.get(at)?.span, text)?;
        is_one_region(between).then(|| vec![removal, insertion])
    }

    /// Turns a statement `id : text` into a note.
    fn to_note(self, id: &str, text: &Spanned<String>, lines: Lines<'_>) -> Option<Edit> {
        let written = lines.source_text(text.span)?;
        let is_plain = matches!(self.statement.kind, StatementKind::Description { .. })
            && !written.contains([':', ';']);
        is_plain.then(|| Edit {
            span: self.statement.span,
            text: format!("note right of {id} : {written}"),
        })
    }
}

/// Returns whether no `--` is among some statements.
fn is_one_region(statements: &[Statement]) -> bool {
    !statements
        .iter()
        .any(|it| it.kind == StatementKind::Divider)
}

/// Creates an `SM137` diagnostic (`late-declaration`).
fn late_mark(mark: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::LateDeclaration, mark, message)
}

/// Reports `state c <<choice>>` below the first use of `c`; `edits` move it.
fn late_declaration(
    mark: Span,
    first: Span,
    id: &str,
    kind: Stereotype,
    edits: Option<Vec<Edit>>,
) -> Diagnostic {
    let (id, kind) = (quote(id), kind.word());
    let diagnostic = late_mark(mark, format!("Mermaid draws `{id}` as a plain state"))
        .label(format!("declared a {kind} too late"))
        .related(first, "the first mention says what a state is")
        .note(format!("here `{id}` is a {kind}, wherever it is declared"));
    let title = format!("declare `{id}` above its first use");
    diagnostic.fix_or_help(Applicability::Safe, &title, edits)
}

/// Reports `state c <<fork>>` after `state c <<choice>>`; `removal` removes the second.
fn second_declaration(
    mark: Span,
    first: Span,
    id: &str,
    kind: Stereotype,
    other: Stereotype,
    removal: Option<Edit>,
) -> Diagnostic {
    let (id, kind, other) = (quote(id), kind.word(), other.word());
    let diagnostic = late_mark(mark, format!("`{id}` is a {kind} already, and no {other}"))
        .label("passed over")
        .related(first, "the first declaration counts");
    let title = "remove this line, or give one of them another name";
    match removal {
        Some(edit) => {
            diagnostic
                .help(title)
                .fix_all(Applicability::Safe, "remove this line", vec![edit])
        }
        None => diagnostic.help(title),
    }
}

/// Creates an `SM125` diagnostic (`note-before-state`).
fn note_before_state(note: &Note, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::NoteBeforeState, note.state.span, message)
        .note("Mermaid gives no shape to a state that a note mentions first, and draws nothing at all: `No such shape`")
}

/// Reports a note above the first use of its state; `edits` move it.
fn early_note(note: &Note, first: Span, edits: Option<Vec<Edit>>) -> Diagnostic {
    let id = quote(&note.state.value);
    let diagnostic = note_before_state(note, format!("this note comes before its state `{id}`"))
        .related(first, "the state");
    let title = format!("put the note below the first use of `{id}`");
    diagnostic.fix_or_help(Applicability::Safe, &title, edits)
}

/// Reports a note for a state that nothing else names; `similar` is a state with a similar name.
fn note_without_state(note: &Note, similar: Option<&str>) -> Diagnostic {
    let id = quote(&note.state.value);
    let message = format!("this note is next to `{id}`, and no state has that name");
    let diagnostic = note_before_state(note, message);
    match similar {
        Some(similar) => diagnostic.safe_fix(
            format!("write `{}`", quote(similar)),
            note.state.span,
            similar,
        ),
        None => diagnostic.help("name a state of the diagram, or remove the note"),
    }
}

/// Reports a title or text of a choice, fork or join; `edit` turns it into a note.
fn text_of_pseudo_state(
    text: &Spanned<String>,
    mark: Span,
    id: &str,
    kind: Stereotype,
    edit: Option<Edit>,
) -> Diagnostic {
    let (id, kind) = (quote(id), kind.word());
    let message = format!(
        "for the text `{}` Mermaid draws `{id}` as a plain state",
        quote(&text.value)
    );
    let diagnostic = Diagnostic::new(Code::TextOfPseudoState, text.span, message)
        .label(format!("a {kind} has no text"))
        .related(mark, format!("declared a {kind}"));
    match edit {
        // The drawing changes: the box becomes a sign with a note beside it.
        Some(edit) => diagnostic.fix_all(Applicability::Unsafe, "make it a note", vec![edit]),
        None => diagnostic.help(format!("put it into a note: `note right of {id} : …`")),
    }
}
