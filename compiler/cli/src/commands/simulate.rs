//! `simulate`: a machine is driven by hand at a prompt, or by a script of events.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use statemark_compiler::pass::trigger::format_duration;
use statemark_runs::{CannotStep, Workflow, raised_when};
use statemark_runtime::{Candidate, GuardId, Table};

use super::show::MAX_TRIGGER;
use crate::args::{self, TextFormat};
use crate::describe::{self, StateLabel, UNKNOWN_EVENT};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::{Palette, Printer, WIDTH, count, first_line, fit, wrap};
use crate::simulation::line::{self, Line};
use crate::simulation::record::{ArmedTimer, EventOutcome, EventRecord, MicrostepRecord};
use crate::simulation::{Choice, Origin, Simulator, unknown_guard};
use crate::specs::load;

/// Longest script. Unit: bytes. Why: a million events; a longer one is a mistaken path.
const MAX_SCRIPT: usize = 64 << 20;

/// The lines of the prompt.
const PROMPT_HELP: &str = concat!(
    "  NAME or NUMBER          send an event\n",
    "  NAME {\"field\": 1}       send an event with data, which is merged into the context\n",
    "  :raise NAME             raise an event that nobody sends, as a run does: approval_denied\n",
    "  :wait 30s               let time pass; :wait alone, until the next timer is due\n",
    "  :set field=JSON         change the context\n",
    "  :guard name=true        answer a guard of the host, from now on\n",
    "  :context                show the context\n",
    "  :quit                   leave\n",
);

/// Drive a machine by hand, or with a script of events.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark simulate door.md                                  a prompt; ? helps\n  \
                        statemark simulate door.md --events events.txt              the outcome of each event\n  \
                        printf 'coin\\npush\\n' | statemark simulate door.md --events -\n  \
                        statemark simulate door.md --events e.txt --output-format json\n  \
                        statemark simulate out/door.table                           a table that build wrote\n\n\
                        A script has one event a line, followed by its data as JSON, if it has any:\n  \
                        # a comment\n  \
                        ready {\"steps\": 3}\n  \
                        {\"event\": \"passed\", \"data\": {}}\n  \
                        :guard tests_pass=true\n  \
                        :raise approval_denied\n  \
                        :wait 30s\n  \
                        :set attempts=2\n\n\
                        Data is merged into the context as the spec says, unless the event is ignored.\n\
                        Approvals are taken for granted.\n\
                        Exit code 1: an event was refused, as a run would refuse it: there is none of that name, nobody\n\
                        sends it, its data isn't what its schema says, or the machine has ended; or the spec has errors.\n\
                        A machine may ignore an event; the exit code stays 0.")]
pub(crate) struct SimulateArgs {
    /// A spec, or a table that `build` wrote
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// The machine, if the spec has several
    #[arg(long, value_name = "ID")]
    machine: Option<String>,
    /// What every sender claims to be so: a guard that nothing defines, in its words; may be repeated
    #[arg(long = "claim", value_name = "TEXT")]
    claims: Vec<String>,
    /// Script of events, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// The form of output: text, or one JSON record a line
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text, hide_possible_values = true)]
    output_format: TextFormat,
}

/// Simulates a machine.
pub(super) fn run(args: &SimulateArgs, printer: &mut Printer) -> CommandResult {
    let stdin = Path::new("-");
    let events = args.events.as_deref();
    if args.spec == stdin && events.is_none_or(|events| events == stdin) {
        let message = "the spec and the events can't both be read from standard input";
        return Err(Failure::new(message).with_help("give a script with `--events FILE`"));
    }
    let (machine, format) = (args.machine.as_deref(), args.output_format);
    let Some(loaded) = load(&args.spec, machine, format, printer)? else {
        return Ok(ExitStatus::Findings);
    };
    let workflow = Workflow::from_bytes(loaded.bytes)
        .map_err(|error| Failure::new(format!("the machine can't be simulated: {error}")))?;
    let lines = events.map(|events| read_script(events, workflow.table()));
    let lines = lines.transpose()?;
    match Simulator::start(&workflow, &Map::new()) {
        Err(error) => {
            printer.remark(&format!("the machine can't start: {error}\n"));
            Ok(ExitStatus::Findings)
        }
        Ok((mut simulator, start)) => {
            for claim in args::claims(&args.claims)?.as_slice() {
                let guard = workflow.claim_named(claim);
                simulator.answer(guard.ok_or_else(|| unknown_claim(claim, &workflow))?, true);
            }
            let mut session = Session {
                simulator,
                format,
                sent: 0,
                printer,
            };
            match lines {
                Some(lines) => Ok(session.run_script(&start, lines)),
                None => Ok(session.run_prompt(&start)),
            }
        }
    }
}

/// Reads every line of a script. Nothing is sent before all of them were read.
fn read_script(events: &Path, table: &Table) -> Result<Vec<Line>, Failure> {
    let bytes = files::read_whole(events, MAX_SCRIPT)?;
    let text = String::from_utf8(bytes).map_err(|_| bad_line(1, "it isn't UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let line = line::read(text).map_err(|why| bad_line(number, &why))?;
        match line {
            Line::Nothing => {}
            Line::Quit => break,
            Line::Help | Line::Context => {
                let why = format!("`{}` is for the prompt", text.trim());
                return Err(bad_line(number, &why));
            }
            Line::Guard { name, .. } if table.guard_named(&name).is_none() => {
                return Err(bad_line(number, &unknown_guard(&name, table)));
            }
            line => lines.push(line),
        }
    }
    Ok(lines)
}

fn unknown_claim(claim: &str, workflow: &Workflow) -> Failure {
    let known = workflow.table().claims();
    let known: Vec<String> = known.map(|(_, text)| text.to_owned()).collect();
    let message = format!("`{}` has no claim `{claim}`", workflow.id());
    Failure::unknown_name(message, claim, &known)
}

fn bad_line(number: usize, why: &str) -> Failure {
    Failure::new(format!("line {number} of the events can't be read: {why}"))
}

/// A simulation in a terminal.
struct Session<'w, 'p> {
    simulator: Simulator<'w>,
    format: TextFormat,
    /// The number of events sent.
    sent: usize,
    printer: &'p mut Printer,
}

impl Session<'_, '_> {
    /// Sends the events of a script.
    fn run_script(&mut self, start: &EventRecord, lines: Vec<Line>) -> ExitStatus {
        self.print(start);
        let mut is_refused = false;
        for line in lines {
            let (name, data, origin) = match line {
                Line::Send { name, data } => (name, data, Origin::Sender),
                Line::Raise { name, data } => (name, data, Origin::Run),
                line => {
                    self.carry_out(line);
                    continue;
                }
            };
            let simulator = &mut self.simulator;
            let record = simulator.send(&name, data.as_ref(), origin, &BTreeMap::new());
            self.sent += 1;
            is_refused |= record.outcome == EventOutcome::Refused;
            self.print(&record);
        }
        if self.format == TextFormat::Text {
            let closing = self.describe_closing(self.printer.palette());
            self.printer.result(&closing);
        }
        ExitStatus::clean_if(!is_refused)
    }

    /// Sends the events that a person types.
    fn run_prompt(&mut self, start: &EventRecord) -> ExitStatus {
        let palette = self.printer.remark_palette();
        let name = palette.strong(self.simulator.table().name());
        self.printer.remark(&format!(
            "{name}: type an event or its number; ? for help, :quit to leave\n"
        ));
        self.print(start);
        let mut has_changed = true;
        while !self.simulator.is_ended() {
            if has_changed {
                let text = self.describe_choices(palette);
                self.printer.remark(&text);
            }
            let Some(text) = self.ask(&palette.strong("> ")) else {
                self.printer.remark("\n");
                break;
            };
            let line = line::read(&text);
            has_changed = matches!(
                &line,
                Ok(Line::Send { .. }
                    | Line::Raise { .. }
                    | Line::Wait(_)
                    | Line::Set { .. }
                    | Line::Guard { .. })
            );
            match line {
                Ok(Line::Quit) => break,
                Ok(Line::Send { name, data }) => self.send_typed(&name, data.as_ref()),
                Ok(Line::Raise { name, data }) => {
                    self.send_answered(&name, data.as_ref(), Origin::Run);
                }
                Ok(line) => self.carry_out(line),
                Err(why) => self.printer.remark(&format!("{why}\n")),
            }
        }
        let closing = self.describe_closing(palette);
        self.printer.remark(&closing);
        ExitStatus::Clean
    }

    /// Carries out a line that sends no event.
    fn carry_out(&mut self, line: Line) {
        match line {
            Line::Wait(milliseconds) => self.wait(milliseconds),
            Line::Set { path, value } => {
                if let Some(remark) = self.simulator.unread_field(&path) {
                    self.printer.remark(&format!("{remark}\n"));
                }
                let outcome: Result<(), CannotStep> = self.simulator.set(&path, value);
                if let Err(error) = outcome {
                    let remark = format!("`{path}` can't be set: {error}\n");
                    self.printer.remark(&remark);
                }
            }
            Line::Guard { name, answer } => {
                let table = self.simulator.table();
                match table.guard_named(&name) {
                    Some(guard) => self.simulator.answer(guard, answer),
                    None => {
                        let remark = format!("{}\n", unknown_guard(&name, table));
                        self.printer.remark(&remark);
                    }
                }
            }
            Line::Context => {
                let context = self.simulator.context();
                let text = serde_json::to_string_pretty(&context).unwrap_or_default();
                self.printer.remark(&format!("{text}\n"));
            }
            Line::Help => self.printer.remark(PROMPT_HELP),
            Line::Nothing | Line::Send { .. } | Line::Raise { .. } | Line::Quit => {}
        }
    }

    /// Lets time pass, and prints the timers that fire.
    fn wait(&mut self, milliseconds: Option<u64>) {
        let records = self.simulator.wait(milliseconds);
        if records.is_empty() {
            let now = format_duration(self.simulator.now());
            self.printer
                .remark(&format!("no timer is due; it is {now} after the start\n"));
        }
        for record in records {
            self.print(&record);
        }
    }

    /// Sends an event by its name or number, after answers to its guards.
    fn send_typed(&mut self, word: &str, data: Option<&Value>) {
        let number = word.parse().ok();
        let number = number.filter(|_: &usize| self.simulator.event(word).is_none());
        match number.map(|number| self.numbered_event(number)) {
            None => self.send_answered(word, data, Origin::Sender),
            // Whoever chooses what only a run raises wants to see what comes of it.
            Some(Ok(name)) if raised_when(&name).is_some() => {
                self.send_answered(&name, data, Origin::Run);
            }
            Some(Ok(name)) => self.send_answered(&name, data, Origin::Sender),
            Some(Err(remark)) => self.printer.remark(&remark),
        }
    }

    /// Sends or raises an event, after answers to its guards.
    fn send_answered(&mut self, name: &str, data: Option<&Value>, origin: Origin) {
        if let Some(answers) = self.ask_guards(name, data, origin) {
            let record = self.simulator.send(name, data, origin, &answers);
            self.print(&record);
            self.sent += 1;
        }
    }

    /// Returns the event of a number at the prompt, or a remark on why it has none.
    fn numbered_event(&self, number: usize) -> Result<String, String> {
        let choices = self.simulator.choices();
        let choice = number.checked_sub(1).and_then(|index| choices.get(index));
        let Some(choice) = choice else {
            let most = choices.len();
            return Err(format!("type a name, or a number from 1 to {most}\n"));
        };
        let name = self.simulator.table().event_name(choice.candidate.event);
        if name == UNKNOWN_EVENT {
            return Err("type any name that isn't listed\n".to_owned());
        }
        Ok(name.to_owned())
    }

    /// Asks for each guard without an answer; an answer may bring up another. `None` at the end of input.
    fn ask_guards(
        &mut self,
        name: &str,
        data: Option<&Value>,
        origin: Origin,
    ) -> Option<BTreeMap<GuardId, bool>> {
        let mut answers = BTreeMap::new();
        let unanswered = |simulator: &Simulator<'_>, answers: &BTreeMap<_, _>| {
            let guards = simulator.unanswered(name, data, origin, answers);
            guards.first().copied()
        };
        while let Some(guard) = unanswered(&self.simulator, &answers) {
            let palette = self.printer.remark_palette();
            let guard_name = palette.guard(self.simulator.table().guard_name(guard));
            let answer = self.ask(&format!("  is {guard_name} true? [y/n] "))?;
            match answer.trim().to_lowercase().as_str() {
                "y" | "yes" | "true" => drop(answers.insert(guard, true)),
                "n" | "no" | "false" => drop(answers.insert(guard, false)),
                _ => self.printer.remark("  please answer y or n\n"),
            }
        }
        Some(answers)
    }

    /// Reads a line from standard input; `None` at its end.
    fn ask(&mut self, prompt: &str) -> Option<String> {
        self.printer.remark(prompt);
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line),
        }
    }

    fn print(&mut self, record: &EventRecord) {
        match self.format {
            TextFormat::Text => {
                let text = describe_record(record, self.printer.palette());
                self.printer.result(&text);
            }
            TextFormat::Json => self.printer.json(record),
        }
    }

    /// Describes how the machine has ended, or where it is.
    fn describe_closing(&self, palette: Palette) -> String {
        let simulator = &self.simulator;
        let (table, leaf) = (simulator.table(), simulator.leaf());
        let events = count(self.sent, "event");
        if simulator.is_ended() {
            let verdict = match describe::verdict(table, leaf) {
                Some("failure") => palette.bad("failure"),
                _ => palette.good("success"),
            };
            let name = palette.strong(&describe::state_name(table, leaf));
            return format!("ended in {name} ({verdict}) after {events}\n");
        }
        let name = describe::configuration(table, &simulator.configuration());
        let name = palette.strong(&name);
        let legal = match simulator.legal() {
            none if none.is_empty() => "nothing leads on".to_owned(),
            legal => format!("next: {}", legal.join(", ")),
        };
        format!("in {name} after {events}; {legal}\n")
    }

    /// Describes where the machine is and what leads on, with numbers.
    fn describe_choices(&self, palette: Palette) -> String {
        let simulator = &self.simulator;
        let table = simulator.table();
        let active = describe::configuration(table, &simulator.configuration());
        let mut text = format!("\n● {}\n", palette.strong(&active));
        let meta = describe::state_meta(table, simulator.leaf());
        let instructions = describe::meta_text(&meta, "instructions");
        let instructions = instructions.or_else(|| describe::meta_text(&meta, "description"));
        if let Some(line) = instructions.and_then(first_line) {
            text.push_str(&format!("  {}\n", palette.dim(&fit(&line, WIDTH - 2))));
        }
        text.push('\n');
        let choices = simulator.choices();
        let heads = choices.iter().map(|choice| event_and_guard(table, choice));
        let heads: Vec<[String; 2]> = heads.collect();
        let short = heads
            .iter()
            .map(width)
            .filter(|width| *width <= MAX_TRIGGER);
        let widest = short.max().unwrap_or(0);
        for (number, (choice, head)) in (1..).zip(choices.iter().zip(&heads)) {
            text.push_str(&self.describe_choice(number, choice, head, widest, palette));
        }
        let now = simulator.now();
        for timer in simulator.armed_timers() {
            let left = format_duration(timer.due.saturating_sub(now));
            let line = format!("      {} is due in {left} (:wait)\n", timer.timer);
            text.push_str(&palette.dim(&line));
        }
        if choices.is_empty() {
            text.push_str("      nothing leads on\n");
        }
        text
    }

    /// Describes a choice; a long guard has lines of its own.
    fn describe_choice(
        &self,
        number: usize,
        choice: &Choice,
        head: &[String; 2],
        widest: usize,
        palette: Palette,
    ) -> String {
        let table = self.simulator.table();
        let [event, guard] = head;
        let is_short = width(head) <= MAX_TRIGGER;
        let column = if is_short { guard.as_str() } else { "" };
        let used = event.chars().count() + column.chars().count();
        let target = describe::target(table, choice.candidate.transition);
        let line = format!(
            "{}  {}{}{}  → {}  {}",
            palette.dim(&format!("{number:>4}")),
            palette.event(event),
            palette.guard(column),
            " ".repeat(widest.saturating_sub(used)),
            target.unwrap_or_else(|| "(stays)".to_owned()),
            palette.dim(&self.describe_availability(choice, is_short)),
        );
        let mut text = format!("{}\n", line.trim_end());
        if !is_short {
            let values = self.describe_values(choice.candidate).join(", ");
            for line in wrap(guard.trim_start(), WIDTH - 8) {
                text.push_str(&format!("        {}\n", palette.guard(&line)));
            }
            for line in wrap(&values, WIDTH - 8) {
                if !line.is_empty() {
                    text.push_str(&format!("        {}\n", palette.dim(&line)));
                }
            }
        }
        text
    }

    /// Describes why a choice isn't available now, and whether it needs approval.
    fn describe_availability(&self, choice: &Choice, with_values: bool) -> String {
        let candidate = choice.candidate;
        let mut parts = Vec::new();
        if choice.is_open {
            parts.push("will be asked".to_owned());
        } else if !candidate.holds {
            let values = self.describe_values(candidate);
            parts.push(match values.is_empty() || !with_values {
                true => "not now".to_owned(),
                false => format!("not now: {}", values.join(", ")),
            });
        } else if !candidate.enabled {
            parts.push("one above comes first".to_owned());
        }
        let meta = describe::transition_meta(self.simulator.table(), candidate.transition);
        if describe::needs_approval(&meta) {
            parts.push("needs approval".to_owned());
        }
        parts.join("; ")
    }

    /// Describes the fields that the guard of a candidate reads.
    fn describe_values(&self, candidate: Candidate) -> Vec<String> {
        let fields = self.simulator.fields(candidate).into_iter();
        let describe = |field| {
            let name = self.simulator.table().field_name(field);
            match self.simulator.value(field) {
                Some(value) => format!("{name} = {value}"),
                None => format!("{name} is absent"),
            }
        };
        fields.map(describe).collect()
    }
}

/// Returns `ready` and ` [steps > 0]`.
fn event_and_guard(table: &Table, choice: &Choice) -> [String; 2] {
    let guard = describe::guard(table, choice.candidate.transition);
    [
        describe::event_name(table, choice.candidate.event),
        guard.map_or(String::new(), |guard| format!(" [{guard}]")),
    ]
}

fn width([event, guard]: &[String; 2]) -> usize {
    event.chars().count() + guard.chars().count()
}

/// Describes the outcome of an event: one line, and another for each thing worth knowing.
fn describe_record(record: &EventRecord, palette: Palette) -> String {
    let event = record.event.as_deref().unwrap_or("(start)");
    let event = match &record.unknown {
        Some(name) => format!("{name} (unknown)"),
        None => event.to_owned(),
    };
    let seq = palette.dim(&format!("{:>3}", record.seq));
    let blanks = " ".repeat(20_usize.saturating_sub(event.chars().count()));
    let head = format!("{seq}  {}{blanks}", palette.event(&event));
    let reason = record.reason.as_deref().unwrap_or("");
    let mut text = match record.outcome {
        EventOutcome::Taken | EventOutcome::Ended => {
            let needs_approval = record.steps.iter().any(|step| step.approval.is_some());
            let approval = needs_approval.then(|| "approval".to_owned());
            let required = record.granted.iter().map(|name| format!("`{name}`"));
            let granted: Vec<String> = approval.into_iter().chain(required).collect();
            let granted = match granted.as_slice() {
                [] => String::new(),
                granted => format!("  ({} taken for granted)", granted.join(", ")),
            };
            let journey = describe_journey(record, palette);
            format!("{head}  {journey}{}\n", palette.dim(&granted))
        }
        EventOutcome::Ignored => {
            let active = palette.strong(&record.active);
            format!(
                "{head}  {} in {active}: {reason}\n",
                palette.guard("ignored")
            )
        }
        EventOutcome::Refused => format!("{head}  {}: {reason}\n", palette.bad("refused")),
    };
    for remark in remarks(record) {
        text.push_str(&format!("{}{}\n", " ".repeat(27), palette.dim(&remark)));
    }
    text
}

/// Describes the way of a machine: `planning → implementing`, with every state between.
fn describe_journey(record: &EventRecord, palette: Palette) -> String {
    let entered = record.steps.iter().filter_map(|step| step.entered.last());
    // Of several regions, the exited state says more than the first of them.
    let exited = record.steps.first().and_then(|step| step.exited.last());
    let from = match record.was_parallel {
        true => exited.or(record.from.as_ref()),
        false => record.from.as_ref(),
    };
    let states = from.into_iter().chain(entered).map(StateLabel::to_string);
    let mut states: Vec<String> = states.collect();
    // Each step is the state that it ended in; the last one is all that is active now.
    if let Some(last) = states.last_mut() {
        last.clone_from(&record.active);
    }
    let has_moved = record.steps.iter().any(|step| !step.entered.is_empty());
    if !has_moved && record.from.is_some() {
        let active = palette.strong(&record.active);
        return format!("{active} {}", palette.dim("(stays)"));
    }
    if let Some(last) = states.last_mut() {
        *last = palette.strong(last);
    }
    let lead = if record.from.is_none() { "→ " } else { "" };
    format!("{lead}{}", states.join(" → "))
}

/// Returns everything worth knowing besides where the machine went.
fn remarks(record: &EventRecord) -> Vec<String> {
    let mut remarks = Vec::new();
    let names = |get: fn(&MicrostepRecord) -> &Vec<String>| -> String {
        let names = record.steps.iter().flat_map(get).map(String::as_str);
        // Timers have remarks of their own.
        let is_timer =
            |name: &&str| name.starts_with("after.") || name.starts_with("cancel.after.");
        let names: Vec<&str> = names.filter(|name| !is_timer(name)).collect();
        names.join(", ")
    };
    for (verb, names) in [
        ("does", names(|step| &step.actions)),
        ("raises", names(|step| &step.raised)),
    ] {
        if !names.is_empty() {
            remarks.push(format!("{verb} {names}"));
        }
    }
    let assigned = record.assigned.iter();
    let assigned: Vec<String> = assigned
        .map(|assignment| format!("{} = {}", assignment.field, assignment.value))
        .collect();
    if !assigned.is_empty() {
        remarks.push(format!("sets {}", assigned.join(", ")));
    }
    let now = record.at.unwrap_or(0);
    let is_new = |timer: &&ArmedTimer| {
        let starts = |step: &MicrostepRecord| step.actions.contains(&timer.timer);
        record.steps.iter().any(starts)
    };
    for timer in record.waiting.iter().filter(is_new) {
        let left = format_duration(timer.due.saturating_sub(now));
        remarks.push(format!("starts {}, due in {left}", timer.timer));
    }
    if !record.absent.is_empty() {
        let verb = if record.absent.len() == 1 {
            "is"
        } else {
            "are"
        };
        let names = record.absent.iter().map(|name| format!("`{name}`"));
        let names: Vec<String> = names.collect();
        remarks.push(format!("undecided: {} {verb} absent", names.join(", ")));
    }
    if !record.unanswered.is_empty() {
        remarks.push(format!(
            "nobody answered {}, which counts as false (`:guard name=true`)",
            record.unanswered.join(", ")
        ));
    }
    if let Some(legal) = record.legal.as_ref().filter(|legal| !legal.is_empty()) {
        remarks.push(format!("legal here: {}", legal.join(", ")));
    }
    remarks
}
