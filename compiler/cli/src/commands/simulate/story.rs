//! Events from a program, all at once: a simulation as a function.

use serde_json::{Value as Json, json};
use statemark_runtime::Table;
use statemark_server::{Problem, Simulated, Simulation};

use super::command::{Command, read};
use super::record::Told;
use super::script::no_guard;
use super::session::Session;
use crate::wording::Place;

/// Most records. Why: a wait of years lets a timer that starts itself again go off a thousand times.
const MOST: usize = 20_000;

/// What a machine does with some events. Nothing is sent before all of them are read and make sense.
///
/// # Errors
///
/// One of the events can't be read, the machine can't start, or there are more records than anybody reads.
pub(crate) fn story(table: &Table, wanted: &Simulation<'_>) -> Result<Simulated, Problem> {
    let commands = commands(table, wanted.events)?;
    let (mut session, start) = Session::start_with(table, wanted.context).map_err(|error| {
        Problem::new("cannot_start", format!("the machine can't start: {error}"))
    })?;
    let mut records = vec![told(&start)];
    for command in commands {
        match command {
            Command::Send { name, data } => records.push(told(&session.send(&name, data.as_ref()))),
            Command::Wait(milliseconds) => {
                records.extend(session.wait(milliseconds).iter().map(told));
            }
            Command::Set { path, value } => session.desk_mut().set(table, &path, value),
            Command::Guard { name, answer } => {
                if let Some(guard) = table.guard_named(&name) {
                    session.desk_mut().settle(guard, answer);
                }
            }
            _ => {}
        }
        if records.len() > MOST {
            let message = format!("there are more than {MOST} records: wait for less");
            return Err(Problem::new("too_long", message));
        }
    }
    let configuration = session.configuration().into_iter();
    let configuration = configuration.map(|state| match json!(Place::of(table, state)) {
        Json::String(name) => name,
        other => other.to_string(),
    });
    Ok(Simulated {
        records,
        configuration: configuration.collect(),
        context: session.desk().context(),
        legal: session.legal(),
        is_final: session.is_ended(),
    })
}

fn told(told: &Told) -> Json {
    json!(told)
}

/// The events, as a script's lines.
fn commands(table: &Table, events: &[Json]) -> Result<Vec<Command>, Problem> {
    let commands = events.iter().enumerate().map(|(index, event)| {
        let bad = |why: String| {
            let path = format!("events[{index}]");
            Problem::new("invalid_arguments", format!("`{path}`: {why}"))
                .with(json!({"path": path}))
        };
        let line = match event {
            Json::String(line) if line.contains('\n') => {
                return Err(bad("it has several lines; write one event each".to_owned()));
            }
            Json::String(line) => line.clone(),
            Json::Object(_) => event.to_string(),
            _ => return Err(bad("it is neither a text nor an object".to_owned())),
        };
        match read(&line).map_err(bad)? {
            Command::Help | Command::Context | Command::Quit => {
                Err(bad(format!("`{}` is for the prompt", line.trim())))
            }
            Command::Guard { name, .. } if table.guard_named(&name).is_none() => {
                Err(bad(no_guard(&name, table)))
            }
            command => Ok(command),
        }
    });
    commands.collect()
}
