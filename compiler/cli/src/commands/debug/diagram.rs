//! `debug diagram`: what Mermaid would draw of state diagrams, as JSON lines.
//!
//! ```json
//! {"file":"a.mmd","ok":true,"direction":"TB","states":[{"id":"a","shape":"rect","parent":null,"label":"a"}],"transitions":[]}
//! {"file":"b.mmd","ok":false,"error":"line 2: …"}
//! ```
//!
//! A question to Mermaid itself that answers in the same shape is beside the scripts that compare the two.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use statemark_compiler::diag::{Diags, Severity};
use statemark_compiler::excerpt::Excerpt;
use statemark_compiler::front::mermaid::ast::Direction;
use statemark_compiler::front::mermaid::drawn::{Drawn, drawn};
use statemark_compiler::front::mermaid::parse_diagram;
use statemark_compiler::source::{MAX_SOURCE_BYTES, Sources};

use crate::args::DebugDiagramArgs;
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::printer::Printer;
use crate::status::ExitStatus;

#[derive(Serialize)]
struct Answer<'a> {
    file: &'a str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten)]
    model: Option<Model<'a>>,
}

#[derive(Serialize)]
struct Model<'a> {
    direction: &'static str,
    states: Vec<State<'a>>,
    transitions: Vec<Transition<'a>>,
}

#[derive(Serialize)]
struct State<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<&'static str>,
    parent: Option<&'a str>,
    label: &'a str,
}

#[derive(Serialize)]
struct Transition<'a> {
    from: &'a str,
    to: &'a str,
    label: &'a str,
}

pub(super) fn run(args: &DebugDiagramArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    for path in &args.paths {
        if path.is_dir() {
            for path in diagrams_in(path)? {
                answer(&path, printer)?;
            }
        } else {
            answer(path, printer)?;
        }
    }
    Ok(ExitStatus::Clean)
}

/// The diagrams in a folder, by name.
fn diagrams_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |cause| {
        let path = folder.to_owned();
        Failure::from(FailureKind::Unreadable { path, cause })
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "mmd") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn answer(path: &Path, printer: &mut Printer) -> Result<(), Failure> {
    let file = path.to_string_lossy();
    let (error, diagram) = match files::read(path, MAX_SOURCE_BYTES)? {
        Ok(bytes) => read(&file, &String::from_utf8_lossy(&bytes)),
        Err(size) => (Some(format!("too large: {size} bytes")), None),
    };
    let answer = Answer {
        file: &file,
        ok: error.is_none(),
        error,
        model: diagram.as_ref().map(model),
    };
    let line = serde_json::to_string(&answer).unwrap_or_default();
    printer.result(&format!("{line}\n"));
    Ok(())
}

/// What is wrong with a diagram, or what is drawn of it.
fn read(name: &str, text: &str) -> (Option<String>, Option<Drawn>) {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let mut diags = Diags::new();
    let diagram = parse_diagram(&Excerpt::whole(file, text), &mut diags);
    let all = diags.into_sorted();
    let error = all.iter().find(|found| found.severity == Severity::Error);
    match error {
        None => (None, Some(drawn(&diagram))),
        Some(error) => {
            let line = sources
                .file(error.primary.span.file)
                .position(error.primary.span.start)
                .line;
            (Some(format!("line {line}: {}", error.message)), None)
        }
    }
}

fn model(drawn: &Drawn) -> Model<'_> {
    let states = drawn.states.iter().map(|state| State {
        id: &state.id,
        shape: state.shape,
        parent: state.parent.as_deref(),
        label: &state.label,
    });
    let transitions = drawn.transitions.iter().map(|transition| Transition {
        from: &transition.from,
        to: &transition.to,
        label: &transition.label,
    });
    Model {
        direction: match drawn.direction {
            Direction::TopBottom => "TB",
            Direction::BottomTop => "BT",
            Direction::LeftRight => "LR",
            Direction::RightLeft => "RL",
        },
        states: states.collect(),
        transitions: transitions.collect(),
    }
}
