//! What Mermaid draws depends on the order in which a state's mentions stand.
//!
//! Its first mention says what a state is. A choice, a fork or a join that is mentioned before it is declared is drawn as a
//! plain state, and so is one with a text; a state that a note mentions first has no shape at all, and nothing of the
//! diagram is drawn. Statemark goes by the declaration, and says so here.

use std::collections::BTreeMap;

use super::ast::{
    Body, Declaration, Diagram, DrawnAs, Endpoint, EndpointKind, Note, Statement, StatementKind,
    Stereotype,
};
use super::lines::Lines;
use super::messages::quote;
use crate::diag::{Applicability, Code, Diagnostic, Diags, Edit, nearest};
use crate::source::{Span, Spanned};

/// What stands in front of an action. A choice can't act, and [`crate::lower`] says so.
const ACTION: &str = " / ";

/// A statement, and those around it.
#[derive(Clone, Copy, Debug)]
struct Site<'d> {
    statement: &'d Statement,
    siblings: &'d [Statement],
    index: usize,
}

/// What is known of a state.
#[derive(Debug, Default)]
struct Known<'d> {
    /// Its first mention outside of a note.
    first: Option<Span>,
    /// A note that stands before any other mention.
    note: Option<(&'d Note, Site<'d>)>,
    /// Its `<<choice>>` and the like.
    marks: Vec<(Stereotype, Span, Site<'d>)>,
    /// Its first text.
    text: Option<(&'d Spanned<String>, Site<'d>)>,
    has_body: bool,
}

/// Reports what is mentioned too early, and texts of what has none.
pub(super) fn check(diagram: &Diagram, lines: Lines<'_>, diags: &mut Diags) {
    let mut mentions = Mentions::default();
    mentions.body(&diagram.body);
    for (id, known) in &mentions.by_id {
        known.check_marks(id, lines, diags);
        if let Some((note, site)) = known.note
            && known.text.is_none()
            && !known.has_body
        {
            let ids = mentions.by_id.iter();
            let named = ids.filter(|(_, known)| known.first.is_some());
            let near = nearest(id, named.map(|(id, _)| *id));
            diags.push(match known.first {
                Some(first) => early_note(note, first, site.below(first, lines)),
                None => note_without_state(note, near),
            });
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
            let edits = site.above(first, lines);
            diags.push(late_declaration(mark, first, id, kind, edits));
        } else if let Some((text, site)) = self.text
            && !text.value.contains(ACTION)
        {
            let edit = site.as_note(id, text, lines);
            diags.push(text_of_pseudo_state(text, mark, id, kind, edit));
        }
        for &(other, again, site) in marks.filter(|(other, _, _)| *other != kind) {
            let removal = lines.removal(site.statement.span);
            diags.push(second_declaration(again, mark, id, kind, other, removal));
        }
    }
}

#[derive(Debug, Default)]
struct Mentions<'d> {
    by_id: BTreeMap<&'d str, Known<'d>>,
}

impl<'d> Mentions<'d> {
    /// Bodies are at most [`super::parse::MAX_DEPTH`] deep.
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
                if let EndpointKind::Id(id) = &state.target
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
        if let EndpointKind::Id(id) = &endpoint.target {
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
    /// What moves the statement above that one of its siblings that holds a place.
    fn above(self, place: Span, lines: Lines<'_>) -> Option<Vec<Edit>> {
        let (before, _) = self.siblings.split_at_checked(self.index)?;
        let at = before.iter().position(|it| it.span.contains(place))?;
        let between = before.get(at..)?;
        let text = lines.written(self.statement.span)?;
        let insertion = lines.above(before.get(at)?.span, text)?;
        let removal = lines.removal(self.statement.span)?;
        is_one_region(between).then(|| vec![insertion, removal])
    }

    /// What moves the statement below that one of its siblings that holds a place.
    fn below(self, place: Span, lines: Lines<'_>) -> Option<Vec<Edit>> {
        let behind = self.siblings.get(self.index + 1..)?;
        let at = behind.iter().position(|it| it.span.contains(place))?;
        let between = behind.get(..at)?;
        let text = lines.written(self.statement.span)?;
        let removal = lines.removal(self.statement.span)?;
        let insertion = lines.below(behind.get(at)?.span, text)?;
        is_one_region(between).then(|| vec![removal, insertion])
    }

    /// What makes a note of a statement `id : text`.
    fn as_note(self, id: &str, text: &Spanned<String>, lines: Lines<'_>) -> Option<Edit> {
        let written = lines.written(text.span)?;
        let is_plain = matches!(self.statement.kind, StatementKind::Description { .. })
            && !written.contains([':', ';']);
        is_plain.then(|| Edit {
            span: self.statement.span,
            text: format!("note right of {id} : {written}"),
        })
    }
}

/// Whether no `--` stands among some statements.
fn is_one_region(statements: &[Statement]) -> bool {
    !statements
        .iter()
        .any(|it| it.kind == StatementKind::Divider)
}

/// Creates an `SM137` diagnostic (`late-declaration`).
fn late_mark(mark: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::LateDeclaration, mark, message)
}

/// `state c <<choice>>` below the first use of `c`. `edits` move it.
fn late_declaration(
    mark: Span,
    first: Span,
    id: &str,
    kind: Stereotype,
    edits: Option<Vec<Edit>>,
) -> Diagnostic {
    let (id, kind) = (quote(id), kind.word());
    let finding = late_mark(mark, format!("Mermaid draws `{id}` as a plain state"))
        .label(format!("declared a {kind} too late"))
        .related(first, "the first mention says what a state is")
        .note(format!("here `{id}` is a {kind}, wherever it is declared"));
    let title = format!("declare `{id}` above its first use");
    match edits {
        Some(edits) => finding.fix_all(Applicability::Safe, title, edits),
        None => finding.help(title),
    }
}

/// `state c <<choice>>` and `state c <<fork>>`. `removal` takes the second away.
fn second_declaration(
    mark: Span,
    first: Span,
    id: &str,
    kind: Stereotype,
    other: Stereotype,
    removal: Option<Edit>,
) -> Diagnostic {
    let (id, kind, other) = (quote(id), kind.word(), other.word());
    let finding = late_mark(mark, format!("`{id}` is a {kind} already, and no {other}"))
        .label("passed over")
        .related(first, "the first declaration counts");
    let title = "remove this line, or give one of them another name";
    match removal {
        Some(edit) => {
            finding
                .help(title)
                .fix_all(Applicability::Safe, "remove this line", vec![edit])
        }
        None => finding.help(title),
    }
}

/// Creates an `SM125` diagnostic (`note-before-state`).
fn note_before_state(note: &Note, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::NoteBeforeState, note.state.span, message)
        .note("Mermaid gives no shape to a state that a note mentions first, and draws nothing at all: `No such shape`")
}

/// A note above the first use of its state. `edits` move it.
fn early_note(note: &Note, first: Span, edits: Option<Vec<Edit>>) -> Diagnostic {
    let id = quote(&note.state.value);
    let finding = note_before_state(note, format!("this note comes before its state `{id}`"))
        .related(first, "the state");
    let title = format!("put the note below the first use of `{id}`");
    match edits {
        Some(edits) => finding.fix_all(Applicability::Safe, title, edits),
        None => finding.help(title),
    }
}

/// A note beside a state that is nowhere else. `near` is one with a similar name.
fn note_without_state(note: &Note, near: Option<&str>) -> Diagnostic {
    let id = quote(&note.state.value);
    let finding = note_before_state(
        note,
        format!("this note stands beside `{id}`, and no state has that name"),
    );
    match near {
        Some(near) => finding.fix(
            Applicability::Safe,
            format!("write `{}`", quote(near)),
            note.state.span,
            near,
        ),
        None => finding.help("name a state of the diagram, or remove the note"),
    }
}

/// A title or a text of a choice, a fork or a join. `edit` makes a note of it.
fn text_of_pseudo_state(
    text: &Spanned<String>,
    mark: Span,
    id: &str,
    kind: Stereotype,
    edit: Option<Edit>,
) -> Diagnostic {
    let (id, kind) = (quote(id), kind.word());
    let finding = Diagnostic::new(
        Code::TextOfPseudoState,
        text.span,
        format!(
            "for the text `{}` Mermaid draws `{id}` as a plain state",
            quote(&text.value)
        ),
    )
    .label(format!("a {kind} has no text"))
    .related(mark, format!("declared a {kind}"));
    match edit {
        Some(edit) => finding.fix_all(Applicability::Safe, "make it a note", vec![edit]),
        None => finding.help(format!("put it into a note: `note right of {id} : …`")),
    }
}
