//! Events from a person.

use std::io::BufRead;

use serde_json::Value as Json;
use statemark_runtime::Table;

use super::command::{Command, read};
use super::script::{no_guard, set, show, wait};
use super::session::Session;
use super::text::{self, Numbered};
use crate::args::TextFormat;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::status::ExitStatus;

const HELP: &str = concat!(
    "  NAME or NUMBER          send an event\n",
    "  NAME {\"field\": 1}       send an event with data, which is merged into the context\n",
    "  :wait 30s               let time pass; :wait alone, until the next timer is due\n",
    "  :set field=JSON         change the context\n",
    "  :guard name=true        answer a guard of the host, from now on\n",
    "  :context                show the context\n",
    "  :quit                   leave\n",
);

pub(super) fn run(
    table: &Table,
    format: TextFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let palette = printer.talk_palette();
    let (mut session, start) = match Session::start(table) {
        Ok(started) => started,
        Err(error) => {
            printer.talk(&format!("the machine can't start: {error}\n"));
            return Ok(ExitStatus::Findings);
        }
    };
    let name = palette.strong(table.name());
    printer.talk(&format!(
        "{name}: type an event or its number; ? for help, :quit to leave\n"
    ));
    show(&start, format, printer);
    let mut sent = 0;
    let mut show_standing = true;
    while !session.is_ended() {
        if show_standing {
            let standing = text::standing(&session, palette);
            printer.talk(&standing);
        }
        let Some(line) = ask(&palette.strong("> "), printer) else {
            printer.talk("\n");
            break;
        };
        let command = read(&line);
        show_standing = matches!(
            &command,
            Ok(Command::Send { .. }
                | Command::Wait(_)
                | Command::Set { .. }
                | Command::Guard { .. })
        );
        match command {
            Ok(Command::Quit) => break,
            Ok(Command::Send { name, data }) => {
                sent += usize::from(send(&name, data.as_ref(), &mut session, format, printer));
            }
            Ok(Command::Wait(milliseconds)) => wait(milliseconds, &mut session, format, printer),
            Ok(other) => carry_out(other, &mut session, printer),
            Err(why) => printer.talk(&format!("{why}\n")),
        }
    }
    let closing = text::closing(&session, sent, palette);
    printer.talk(&closing);
    Ok(ExitStatus::Clean)
}

/// Sends an event, its guards asked first. Whether it was sent.
fn send(
    name: &str,
    data: Option<&Json>,
    session: &mut Session<'_>,
    format: TextFormat,
    printer: &mut Printer,
) -> bool {
    let number = name.parse().ok().filter(|_| session.event(name).is_none());
    let name = match number.map(|number| text::numbered(session, number)) {
        None => name.to_owned(),
        Some(Numbered::Event(event)) => event,
        Some(Numbered::AnyOther) => {
            printer.talk("type any name that isn't listed\n");
            return false;
        }
        Some(Numbered::TooLarge(most)) => {
            printer.talk(&format!("type a name, or a number from 1 to {most}\n"));
            return false;
        }
    };
    if !answer_guards(&name, data, session, printer) {
        return false;
    }
    let told = session.send(&name, data);
    show(&told, format, printer);
    true
}

/// Asks for each guard that the event would ask in vain; each answer may bring up another one. False at the end of the
/// input.
fn answer_guards(
    name: &str,
    data: Option<&Json>,
    session: &mut Session<'_>,
    printer: &mut Printer,
) -> bool {
    while let Some(&guard) = session.unanswered(name, data).first() {
        let palette = printer.talk_palette();
        let question = palette.guard(session.table().guard_name(guard));
        let Some(answer) = ask(&format!("  does {question} hold? [y/n] "), printer) else {
            return false;
        };
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" | "true" => session.desk_mut().answer_once(guard, true),
            "n" | "no" | "false" => session.desk_mut().answer_once(guard, false),
            _ => printer.talk("  please answer y or n\n"),
        }
    }
    true
}

fn carry_out(command: Command, session: &mut Session<'_>, printer: &mut Printer) {
    match command {
        Command::Help => printer.talk(HELP),
        Command::Context => {
            let context = session.desk().context();
            let text = serde_json::to_string_pretty(&context).unwrap_or_default();
            printer.talk(&format!("{text}\n"));
        }
        Command::Set { path, value } => set(&path, value, session, printer),
        Command::Guard { name, answer } => match session.table().guard_named(&name) {
            Some(guard) => session.desk_mut().settle(guard, answer),
            None => printer.talk(&format!("{}\n", no_guard(&name, session.table()))),
        },
        Command::Nothing | Command::Send { .. } | Command::Wait(_) | Command::Quit => {}
    }
}

/// A line from standard input, or `None` at its end.
fn ask(prompt: &str, printer: &mut Printer) -> Option<String> {
    printer.talk(prompt);
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line),
    }
}
