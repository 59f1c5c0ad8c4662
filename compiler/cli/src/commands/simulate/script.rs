//! Events from a file.

use std::path::Path;

use serde_json::Value as Json;
use statemark_compiler::pass::trigger::format_duration;
use statemark_runtime::Table;

use super::command::{Command, read};
use super::record::{Became, Told};
use super::session::Session;
use super::text;
use crate::args::TextFormat;
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::printer::Printer;
use crate::status::ExitStatus;

/// Longest script. Unit: bytes. Why: a million events; what is longer is a mistaken path.
const MAX_SCRIPT: usize = 64 << 20;

pub(super) fn run(
    table: &Table,
    events: &Path,
    format: TextFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let commands = commands(events, table)?;
    let (mut session, start) = match Session::start(table) {
        Ok(started) => started,
        Err(error) => {
            printer.talk(&format!("the machine can't start: {error}\n"));
            return Ok(ExitStatus::Findings);
        }
    };
    show(&start, format, printer);
    let mut status = ExitStatus::Clean;
    let mut sent = 0;
    for command in commands {
        match command {
            Command::Send { name, data } => {
                let told = session.send(&name, data.as_ref());
                sent += 1;
                if told.outcome == Became::Refused {
                    status = ExitStatus::Findings;
                }
                show(&told, format, printer);
            }
            Command::Wait(milliseconds) => {
                wait(milliseconds, &mut session, format, printer);
            }
            Command::Set { path, value } => set(&path, value, &mut session, printer),
            Command::Guard { name, answer } => {
                if let Some(guard) = table.guard_named(&name) {
                    session.desk_mut().settle(guard, answer);
                }
            }
            _ => {}
        }
    }
    if format == TextFormat::Text {
        let closing = text::closing(&session, sent, printer.palette());
        printer.result(&closing);
    }
    Ok(status)
}

/// Every line of a script that says something. Nothing is sent before all of it is read and makes sense.
fn commands(events: &Path, table: &Table) -> Result<Vec<Command>, Failure> {
    let read_bytes = if events == Path::new("-") {
        files::read_stdin(MAX_SCRIPT)?
    } else {
        files::read(events, MAX_SCRIPT)?
    };
    let text = read_bytes
        .map_err(|_| "it is too long".to_owned())
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it isn't UTF-8".to_owned()))
        .map_err(|why| FailureKind::BadEventLine { line: 1, why })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut commands = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let command = read(line).map_err(|why| bad_line(line_number, why))?;
        match command {
            Command::Nothing => {}
            Command::Quit => break,
            Command::Help | Command::Context => {
                let why = format!("`{}` is for the prompt", line.trim());
                return Err(bad_line(line_number, why));
            }
            Command::Guard { name, .. } if table.guard_named(&name).is_none() => {
                return Err(bad_line(line_number, no_guard(&name, table)));
            }
            command => commands.push(command),
        }
    }
    Ok(commands)
}

/// Lets time pass, and shows what the timers that are over did.
pub(super) fn wait(
    milliseconds: Option<u64>,
    session: &mut Session<'_>,
    format: TextFormat,
    printer: &mut Printer,
) {
    let all = session.wait(milliseconds);
    if all.is_empty() {
        let now = format_duration(session.desk().now());
        printer.talk(&format!("no timer is due; it is {now} after the start\n"));
    }
    for told in all {
        show(&told, format, printer);
    }
}

/// Sets a field, and says so if no guard reads it.
pub(super) fn set(path: &str, value: Json, session: &mut Session<'_>, printer: &mut Printer) {
    if let Some(remark) = session.unread(path) {
        printer.talk(&format!("{remark}\n"));
    }
    let table = session.table();
    session.desk_mut().set(table, path, value);
}

/// That no guard has the name, and which there are.
pub(super) fn no_guard(name: &str, table: &Table) -> String {
    let guards = table.sections().guards.iter();
    let guards: Vec<&str> = guards.map(|&guard| table.text(guard)).collect();
    match guards.as_slice() {
        [] => format!("no guard is called `{name}`: this machine asks none"),
        [only] => format!("no guard is called `{name}`; the only one is `{only}`"),
        _ => format!(
            "no guard is called `{name}`; there are {}",
            guards.join(", ")
        ),
    }
}

fn bad_line(line: usize, why: String) -> Failure {
    FailureKind::BadEventLine { line, why }.into()
}

/// Prints a record.
pub(super) fn show(told: &Told, format: TextFormat, printer: &mut Printer) {
    let text = match format {
        TextFormat::Text => text::told(told, printer.palette()),
        TextFormat::Json => told.json(),
    };
    printer.result(&text);
}
