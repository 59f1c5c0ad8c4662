//! `diff`: what a change of a spec changes in its machines, and whether runs can follow.
//!
//! Machines are compared by what `show` says of them, so that neither blanks nor comments count. Whether
//! runs can follow is what `migrate` asks, of whatever a run may stand on.

mod changes;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use statemark_runs::Workflow;
use statemark_runs::runs::{Obstacle, obstacles_between};
use statemark_runtime::Part;

use super::show;
use crate::args::{TextFormat, json_or_text};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::{Palette, Printer};
use crate::specs::{self, LoadedMachine};

use self::changes::{Changes, compare};

/// Show what changed in a machine, and whether runs can follow.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark diff old.md new.md\n  \
                        statemark diff <(git show HEAD:door.md) door.md     what isn't committed yet\n  \
                        statemark diff out/door.table door.md               what isn't built yet\n  \
                        git difftool --no-prompt --extcmd 'statemark diff' main -- door.md\n\n\
                        Machines of one id are compared. Texts for readers (titles, descriptions, labels) are told\n\
                        apart from what a machine does, from its data and from its policy; blanks and comments don't\n\
                        count.\n\
                        Whether runs can follow is what `statemark migrate` asks of each run, here of all that could be.\n\
                        Exit codes: 0 the same; 1 something changed; 2 there is nothing to compare.")]
pub(crate) struct DiffArgs {
    /// The spec as it was, or a table that `build` wrote; `-` for standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The spec as it is
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Compare this machine alone
    #[arg(long, value_name = "ID")]
    machine: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// The changes, as `--json` prints them.
#[derive(Debug, Serialize)]
struct Answer {
    /// True if nothing changed.
    same: bool,
    /// The machines of one id that both specs have, and that differ.
    changed: BTreeMap<String, MachineChange>,
    /// The ids that only the old spec has.
    gone: Vec<String>,
    /// The ids that only the new spec has.
    new: Vec<String>,
}

/// The changes in a machine.
#[derive(Debug, Serialize)]
struct MachineChange {
    /// The new id, if it has another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed: Option<String>,
    /// The parts whose hashes differ: `behavior`, `texts`, `policy`.
    parts: Vec<&'static str>,
    #[serde(flatten)]
    changes: Changes,
    runs: RunsAnswer,
}

/// The judgement whether runs can follow.
#[derive(Debug, Serialize)]
struct RunsAnswer {
    /// True if every run can.
    can_follow: bool,
    /// The role that may migrate them: `agent` or `person`.
    by: &'static str,
    /// The obstacles of those runs that stand on it.
    obstacles: Vec<Obstacle>,
}

/// Compares two specs.
pub(super) fn run(args: &DiffArgs, printer: &mut Printer) -> CommandResult {
    if args.old == args.new && args.old == Path::new("-") {
        return Err(
            Failure::new("both sides are standard input").with_help("name a file for one of them")
        );
    }
    let named = |path: &PathBuf, other: &PathBuf| machines(path, other, args, printer);
    let (old, new) = both(args, named)?;
    let answer = answer(old, new)?;
    match json_or_text(args.json) {
        TextFormat::Json => printer.json(&answer),
        TextFormat::Text => {
            let text = answer.describe(printer.palette());
            printer.result(&text);
        }
    }
    Ok(ExitStatus::clean_if(answer.same))
}

type Machines = BTreeMap<String, LoadedMachine>;

fn both(
    args: &DiffArgs,
    mut read: impl FnMut(&PathBuf, &PathBuf) -> Result<Machines, Failure>,
) -> Result<(Machines, Machines), Failure> {
    Ok((read(&args.old, &args.new)?, read(&args.new, &args.old)?))
}

/// Reads the machines of a spec or a table, by their ids.
///
/// What has no name of its own is read as the other side is.
fn machines(
    path: &Path,
    other: &Path,
    args: &DiffArgs,
    printer: &mut Printer,
) -> Result<Machines, Failure> {
    let wanted = args.machine.as_deref();
    if path.extension().is_some_and(|ending| ending == "table") {
        let loaded = specs::load_table(path, wanted)?;
        return Ok([(loaded.table.name().to_owned(), loaded)].into());
    }
    let is_nameless = path == Path::new("-") || files::is_descriptor(path);
    let is_named = |path: &Path| path.extension().is_some_and(|it| it != "table");
    let name = match is_nameless && is_named(other) {
        true => Some(files::display(other)),
        false => None,
    };
    let checked = specs::load_to_compare(path, name.as_deref(), printer)?;
    let mut all = Machines::new();
    for valid in &checked.machines {
        let id = &valid.id.value;
        if wanted.is_none_or(|wanted| wanted == id) {
            all.insert(id.clone(), specs::load_valid(valid)?);
        }
    }
    match wanted {
        Some(wanted) if all.is_empty() => Err(specs::unknown_machine(
            &checked.name,
            wanted,
            &checked.ids(),
        )),
        _ => Ok(all),
    }
}

fn answer(old: Machines, mut new: Machines) -> Result<Answer, Failure> {
    let mut answer = Answer {
        same: true,
        changed: BTreeMap::new(),
        gone: Vec::new(),
        new: Vec::new(),
    };
    // One machine in each: it has another name.
    let renamed = match (old.len(), new.len(), new.keys().next()) {
        (1, 1, Some(id)) if !old.contains_key(id) => Some(id.clone()),
        _ => None,
    };
    for (id, old) in old {
        let Some(found) = new.remove(renamed.as_ref().unwrap_or(&id)) else {
            answer.gone.push(id);
            continue;
        };
        let change = machine_change(old, found, renamed.clone())?;
        if !change.parts.is_empty() || change.renamed.is_some() {
            answer.changed.insert(id, change);
        }
    }
    answer.new = new.into_keys().collect();
    answer.same = answer.changed.is_empty() && answer.gone.is_empty() && answer.new.is_empty();
    Ok(answer)
}

fn machine_change(
    old: LoadedMachine,
    new: LoadedMachine,
    renamed: Option<String>,
) -> Result<MachineChange, Failure> {
    let changes = compare(&show::value(&old), &show::value(&new));
    let workflow = |loaded: LoadedMachine| {
        let read = Workflow::from_bytes(loaded.bytes);
        read.map_err(|error| Failure::new(format!("this table can't be run: {error}")))
    };
    let (old, new) = (workflow(old)?, workflow(new)?);
    let differs = |part: &Part| old.part_hash(*part) != new.part_hash(*part);
    let parts: Vec<Part> = Part::ALL.into_iter().filter(differs).collect();
    let is_lax = parts.iter().any(|part| *part != Part::Texts) || renamed.is_some();
    let obstacles = obstacles_between(&old, &new);
    Ok(MachineChange {
        renamed,
        parts: parts.into_iter().map(Part::name).collect(),
        changes,
        runs: RunsAnswer {
            can_follow: obstacles.is_empty(),
            by: if is_lax { "person" } else { "agent" },
            obstacles,
        },
    })
}

impl Answer {
    fn describe(&self, palette: Palette) -> String {
        if self.same {
            return "the same machines\n".to_owned();
        }
        let mut text = String::new();
        for id in &self.gone {
            let _ = writeln!(text, "{} is {}", palette.strong(id), palette.bad("gone"));
        }
        for id in &self.new {
            let _ = writeln!(text, "{} is {}", palette.strong(id), palette.good("new"));
        }
        for (id, change) in &self.changed {
            if !text.is_empty() {
                text.push('\n');
            }
            text += &change.describe(id, palette);
        }
        text
    }
}

impl MachineChange {
    fn describe(&self, id: &str, palette: Palette) -> String {
        let mut text = format!("{}\n", palette.strong(id));
        if let Some(new) = &self.renamed {
            let _ = writeln!(text, "  its id is now {new}");
        }
        if self.changes.is_nothing() && !self.parts.is_empty() {
            text += "  what it says is in another order\n";
        }
        text += &self.changes.describe(palette);
        let who = match self.runs.by {
            "agent" => "an agent may migrate them",
            _ => "a person has to migrate them",
        };
        if self.runs.can_follow {
            let _ = writeln!(text, "  {}; {who}", palette.good("runs can follow"));
        } else {
            let _ = writeln!(
                text,
                "  {} where",
                palette.bad("runs can't follow as they are")
            );
            for obstacle in &self.runs.obstacles {
                let _ = writeln!(text, "    {}", obstacle.reason);
            }
            let _ = writeln!(text, "  others can follow; {who}");
        }
        text
    }
}

/// Returns a value as people read it: texts without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
