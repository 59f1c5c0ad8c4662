//! The executor of a program: it gets the work as JSON, and its exit or an event that it sends decides.

use std::cell::Cell;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;
use statemark_runs::body::AttemptOutcome;
use statemark_runs::check::{Running, RunningEnd, environment};
use statemark_runs::runs::RecordTurn;
use statemark_runs::{RunError, SendEvent};

use crate::attempt::{Attempt, End, LOOK};
use crate::happening::Happening;
use crate::prompt::event_names;
use crate::settings::Command;
use crate::workspace::{branches_below, branches_of_regions};

/// The variable with the work, as a JSON object.
const WORK: &str = "STATEMARK_WORK";

/// Most bytes of a program's output that are recorded. Why: what comes last says most.
const MAX_OUTPUT: usize = 16 << 10;

/// Longest line of output that is held. Unit: bytes.
const MAX_LINE: u64 = 1 << 20;

/// Returns a folder below another one, or says why there is none. No link leads out.
fn folder_below(root: &Path, inside: &str) -> Result<PathBuf, String> {
    let whole = root.join(inside);
    let real = |path: &Path| path.canonicalize().map_err(|error| error.to_string());
    let found = real(&whole).and_then(|folder| Ok((folder.starts_with(real(root)?), folder)));
    match found {
        Ok((true, folder)) => Ok(folder),
        Ok((false, _)) => Err(format!(
            "the folder `{inside}` leads out of the project, by a link"
        )),
        Err(error) => Err(format!("the folder `{inside}` can't be worked in: {error}")),
    }
}

/// Works by a program to the end of an attempt.
pub(crate) fn work(attempt: &Attempt<'_>, command: &Command) -> Result<End, RunError> {
    let runs = attempt.dispatcher.runs();
    let loaded = runs.load(attempt.run)?;
    let unit = loaded.state.parent.as_ref().and_then(|it| it.unit.as_ref());
    let described = json!({
        "run": attempt.run,
        "workflow": loaded.state.workflow,
        "unit": unit,
        "state": attempt.assignment.state,
        "attempt": attempt.number,
        "events": event_names(&loaded, &attempt.assignment.state)?,
        "prompt": attempt.prompt.text,
        "worktree": attempt.worktree,
        "regions": branches_of_regions(&loaded),
        "branches": branches_below(runs, &loaded)?,
    });
    let mut output = Tail::default();
    let ended = run(
        attempt,
        (&command.command, &command.inherit, command.open),
        vec![(WORK.to_owned(), described.to_string())],
        &mut |line| {
            output.push(line);
            Ok(())
        },
    )?;
    let output = output.text();
    if !output.is_empty() {
        attempt.record(&RecordTurn {
            messages: vec![("stdout".to_owned(), output)],
            ..RecordTurn::default()
        })?;
    }
    if let Some(end) = attempt.look(true)? {
        return Ok(end);
    }
    if matches!(ended, RunningEnd::Exited(0))
        && let Some(end) = attempt.wait_below()?
    {
        return Ok(end);
    }
    let (event, failure) = match ended {
        RunningEnd::Exited(0) => (
            &command.success,
            "it exited with 0 and sent no event".to_owned(),
        ),
        RunningEnd::Exited(code) if command.open => {
            (&command.failure, format!("it exited with {code}"))
        }
        RunningEnd::Exited(code) => (
            &command.failure,
            format!(
                "it exited with {code}; it was confined to its folder, and `open = true` in `[executor.commands.{}]` ends that",
                attempt.assignment.who.name()
            ),
        ),
        RunningEnd::Broken(reason) => (&None, reason),
        RunningEnd::Stopped => (&None, "it was stopped".to_owned()),
    };
    let Some(event) = event else {
        return Ok(End::because(AttemptOutcome::Failed, failure));
    };
    let send = SendEvent {
        event: event.clone(),
        ..SendEvent::default()
    };
    let written = runs.execute(&attempt.order, &send)?;
    if let Some(refused) = written.refusal() {
        let reason = format!("{failure}, and `{event}` was refused: {}", refused.reason);
        return Ok(End::because(AttemptOutcome::Failed, reason));
    }
    let end = attempt.look(true)?;
    Ok(end.unwrap_or_else(|| {
        let reason = format!("{failure}, and `{event}` leads nowhere");
        End::because(AttemptOutcome::Failed, reason)
    }))
}

/// Runs a program in the project, and hands over the lines of its output as they come.
///
/// It is stopped once the attempt has no point any more, and ends with all that it has begun.
pub(crate) fn run(
    attempt: &Attempt<'_>,
    (words, inherit, is_open): (&[String], &[String], bool),
    more: Vec<(String, String)>,
    read: &mut (dyn FnMut(&str) -> Result<(), RunError> + Send),
) -> Result<RunningEnd, RunError> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(RunningEnd::Broken("it names no program".to_owned()));
    };
    let surroundings = attempt.surroundings;
    let mut variables = environment(inherit);
    if let Some(of) = &attempt.caller.attempt {
        variables.extend(surroundings.variables(of));
    }
    let more = more.into_iter();
    variables.extend(more.map(|(name, value)| (name.into(), value.into())));
    let worktree = attempt.worktree.map(|made| PathBuf::from(&made.root));
    let mut root = worktree.unwrap_or_else(|| surroundings.place.root.clone());
    if let Some(inside) = attempt.workdir {
        match folder_below(&root, inside) {
            Ok(folder) => root = folder,
            Err(reason) => return Ok(RunningEnd::Broken(reason)),
        }
    }
    let place = match is_open {
        true => surroundings.place.open(),
        false => surroundings.place.at(&root),
    };
    let running = Running::start(program, arguments, &place, (&root, variables));
    let mut running = match running {
        Ok(running) => running,
        Err(error) => {
            return Ok(RunningEnd::Broken(format!(
                "`{program}` can't be run: {error}"
            )));
        }
    };
    let (stdout, stderr) = (running.take_stdout(), running.take_stderr());
    let last_look = Cell::new(Instant::now());
    let (ended, failed) = std::thread::scope(|scope| {
        let errors = scope.spawn(move || {
            let mut tail = Tail::default();
            let _ = each_line(stderr, |line| {
                tail.push(line);
                Ok(())
            });
            tail.text()
        });
        let lines = scope.spawn(move || each_line(stdout, read));
        let ended = running.wait(&|| {
            if attempt.is_out_of_time() {
                return true;
            }
            if last_look.get().elapsed() < LOOK {
                return false;
            }
            last_look.set(Instant::now());
            // A program that has moved the run itself is left to say its last words.
            let end = attempt.look(true).ok().flatten();
            end.is_some_and(|end| end.outcome != AttemptOutcome::Advanced)
        });
        let failed = lines.join().unwrap_or(Ok(()));
        (
            ended.map(|ended| (ended, errors.join().unwrap_or_default())),
            failed,
        )
    });
    failed?;
    let ended = ended.map(|((ended, remark), errors)| {
        let remark = remark.map(|remark| format!("note: {remark}"));
        let errors = [Some(errors).filter(|it| !it.is_empty()), remark];
        let errors: Vec<String> = errors.into_iter().flatten().collect();
        (ended, errors.join("\n"))
    });
    Ok(match ended {
        Ok((RunningEnd::Exited(code), errors)) if code != 0 && !errors.is_empty() => {
            attempt.record(&RecordTurn {
                messages: vec![("stderr".to_owned(), errors)],
                ..RecordTurn::default()
            })?;
            RunningEnd::Exited(code)
        }
        Ok((ended, _)) => ended,
        Err(error) => RunningEnd::Broken(format!("nobody knows how it ended: {error}")),
    })
}

/// Hands over the lines of an output, each cut to what is held of one.
fn each_line(
    output: Option<impl Read>,
    mut read: impl FnMut(&str) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let Some(output) = output else {
        return Ok(());
    };
    let mut reader = BufReader::new(output);
    let mut line = Vec::new();
    let mut failed = Ok(());
    loop {
        line.clear();
        match (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return failed,
            Ok(_) => {}
        }
        // A program whose output nobody reads would wait for ever: it is read on in any case.
        if failed.is_ok() {
            failed = read(String::from_utf8_lossy(&line).trim_end());
        }
    }
}

/// The last part of a text that comes line by line.
#[derive(Default)]
struct Tail {
    text: String,
    is_cut: bool,
}

impl Tail {
    fn push(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
        if self.text.len() > 2 * MAX_OUTPUT {
            let mut from = self.text.len() - MAX_OUTPUT;
            while !self.text.is_char_boundary(from) {
                from += 1;
            }
            self.text.drain(..from);
            self.is_cut = true;
        }
    }

    fn text(self) -> String {
        let text = self.text.trim_end();
        if self.is_cut {
            format!("…{text}")
        } else {
            text.to_owned()
        }
    }
}

impl Attempt<'_> {
    /// Tells of something that an agent has said.
    pub(crate) fn say(&self, text: &str) {
        let text = text.trim().to_owned();
        if !text.is_empty() {
            self.observe(Happening::Said { text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_of_a_long_output_is_held() {
        let mut tail = Tail::default();
        for number in 0..20_000 {
            tail.push(&format!("line {number} é"));
        }
        let text = tail.text();
        assert!(text.len() <= 2 * MAX_OUTPUT + 3 && text.starts_with('…'));
        assert!(text.ends_with("line 19999 é"));
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leads_to_a_folder_outside() {
        let place = std::env::temp_dir().join(format!("statemark-folders-{}", std::process::id()));
        let (root, other) = (place.join("root"), place.join("other"));
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        for (name, to) in [("out", &other), ("in", &root.join("src"))] {
            std::os::unix::fs::symlink(to, root.join(name)).unwrap();
        }
        let found = |inside: &str| {
            folder_below(&root, inside)
                .map_err(|reason| reason.split(' ').take(3).collect::<Vec<_>>().join(" "))
        };
        let real = root.canonicalize().unwrap();
        assert_eq!(found("src"), Ok(real.join("src")));
        assert_eq!(found("in"), Ok(real.join("src")));
        assert_eq!(found("out"), Err("the folder `out`".to_owned()));
        assert_eq!(found("none"), Err("the folder `none`".to_owned()));
        std::fs::remove_dir_all(place).unwrap();
    }
}
