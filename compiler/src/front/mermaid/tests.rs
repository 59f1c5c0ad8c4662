//! Tests of the Mermaid front end.
//!
//! A case is a diagram, the tree on one line, and the diagnostics, each as `line:column code message`. The trees are
//! compared as text, so that a case shows everything that was parsed. Files are named after the part of the language.

mod declarations;
mod drawings;
mod entities;
mod labels;
mod limits;
mod names;
mod notes;
mod recovery;
mod strays;
mod texts;

use super::ast::{Body, Endpoint, EndpointKind, StatementKind};
use super::parse_diagram;
use crate::diag::{Code, Diagnostic, Diags};
use crate::excerpt::Excerpt;
use crate::source::Sources;

/// Checks a diagram without its header, which is line 1.
#[track_caller]
fn check(body: &str, tree: &str, findings: &[&str]) {
    check_whole(&format!("stateDiagram-v2\n{body}"), tree, findings);
}

/// Checks a whole text.
#[track_caller]
fn check_whole(text: &str, tree: &str, findings: &[&str]) {
    let (found, list) = read(text);
    assert_eq!(found, tree, "the tree of {text:?}");
    assert_eq!(list, findings, "the findings in {text:?}");
}

/// Returns the tree and the diagnostics of a text, as cases write them.
fn read(text: &str) -> (String, Vec<String>) {
    let (sources, body, found) = parse(text);
    let mut tree = String::new();
    write_body(&body, &mut tree);
    let list = found.iter().map(|finding| {
        let span = finding.primary.span;
        let at = sources.file(span.file).position(span.start);
        let code = finding.code.id();
        format!("{}:{} {code} {}", at.line, at.column, finding.message)
    });
    (tree, list.collect())
}

fn parse(text: &str) -> (Sources, Body, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let file = sources.add("case.mmd", text);
    let mut diags = Diags::new();
    let diagram = parse_diagram(&Excerpt::whole(file, text), &mut diags);
    let mut found = diags.into_sorted();
    // Most cases are a single statement: a note, without a state for it.
    found.retain(|finding| finding.code != Code::NoteBeforeState);
    for finding in &found {
        let spans = finding.fixes.iter().flat_map(|fix| &fix.edits);
        for span in spans.map(|edit| edit.span).chain([finding.primary.span]) {
            assert!(text.get(span.range()).is_some(), "{span:?} in {text:?}");
        }
    }
    (sources, diagram.body, found)
}

/// Applies the first fix of each diagnostic from the last to the first, and checks that nothing is left.
#[track_caller]
fn check_fixed(body: &str, fixed: &str) {
    let text = format!("stateDiagram-v2\n{body}");
    let (_, _, found) = parse(&text);
    let mut mended = text.clone();
    for finding in found.iter().rev() {
        let Some(fix) = finding.fixes.first() else {
            continue;
        };
        for edit in fix.edits.iter().rev() {
            mended.replace_range(edit.span.range(), &edit.text);
        }
    }
    assert_eq!(mended, format!("stateDiagram-v2\n{fixed}"));
    assert_eq!(read(&mended).1, Vec::<String>::new(), "after the fix");
}

fn write_body(body: &Body, out: &mut String) {
    for (index, statement) in body.statements.iter().enumerate() {
        if index > 0 {
            out.push_str("; ");
        }
        write_statement(&statement.kind, out);
    }
}

fn write_statement(kind: &StatementKind, out: &mut String) {
    match kind {
        StatementKind::Mention(state) => *out += &end(state),
        StatementKind::Description { state, description } => {
            *out += &format!("{}: {:?}", end(state), description.text.value);
        }
        StatementKind::Transition(transition) => {
            *out += &format!("{} -> {}", end(&transition.source), end(&transition.target));
            if let Some(label) = &transition.label {
                *out += &format!(": {:?}", label.text.value);
            }
        }
        StatementKind::Declaration(declaration) => {
            *out += &format!("state {}", declaration.id.value);
            if let Some(title) = &declaration.title {
                *out += &format!(" {:?}", title.value);
            }
            if let Some(kind) = &declaration.stereotype {
                *out += &format!(" {:?}", kind.value);
            }
            if let Some(body) = &declaration.body {
                out.push_str(" {");
                write_body(body, out);
                out.push('}');
            }
        }
        StatementKind::Divider => out.push_str("--"),
        StatementKind::Note(note) => {
            let side = match note.left {
                Some(true) => "left of",
                Some(false) => "right of",
                None => "as",
            };
            *out += &format!("note {side} {}: {:?}", note.state.value, note.text.value);
        }
        StatementKind::Direction(direction) => *out += &format!("{:?}", direction.value),
        StatementKind::Drawing(drawing) => {
            *out += drawing.keyword;
            for part in [&drawing.subject, &drawing.rest].into_iter().flatten() {
                *out += &format!(" {:?}", part.value);
            }
        }
        StatementKind::Accessibility { title, text } => {
            let name = if *title { "accTitle" } else { "accDescr" };
            *out += &format!("{name} {:?}", text.value);
        }
    }
}

fn end(endpoint: &Endpoint) -> String {
    let name = match &endpoint.target {
        EndpointKind::Star => "[*]",
        EndpointKind::Id(id) => id,
    };
    match &endpoint.class {
        Some(class) => format!("{name}:::{}", class.value),
        None => name.to_owned(),
    }
}
