//! `show`: a machine for people, as JSON, or row by row.

mod json;

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::Value;
use statemark_compiler::back::svg::{self, Theme};
use statemark_compiler::proofs::{Judgment, Proof, prove};
use statemark_runtime::{EventKind, StateId, StateKind, StateRow, Table, TransitionId, Verdict};
use statemark_text::list::join;

use crate::args::TextFormat;
use crate::describe::{self, Meta};
use crate::drawing::undrawable;
use crate::failure::{ExitStatus, Failure};
use crate::picture;
use crate::printer::inline::{self, Canvas};
use crate::printer::{Palette, Printer, WIDTH, count, first_line, fit, wrap};
use crate::specs::{LoadedMachine, load};

/// The metadata of a state about tools, in the order and with the labels of the page.
const TOOLS: [(&str, &str); 4] = [
    ("allowed_tools", "tools"),
    ("capabilities", "may"),
    ("disallowed_tools", "not tools"),
    ("allowed_commands", "commands"),
];

/// The limits of a state, with their units.
const LIMITS: [(&str, &str); 4] = [
    ("max_iterations", "iterations"),
    ("max_edit_lines", "edited lines"),
    ("max_files_per_state", "files"),
    ("context_budget_bytes", "bytes of context"),
];

/// The metadata of a state that has lines of its own.
const SHOWN_ELSEWHERE: [&str; 5] = [
    "title",
    "description",
    "instructions",
    "implied",
    "on_max_iterations",
];

/// Length of a hash. Unit: digits. Why: enough to tell the builds of one machine apart.
const HASH_DIGITS: usize = 12;

/// Longest trigger with its guard in a column. Unit: characters. Why: a target and an action follow.
pub(super) const MAX_TRIGGER: usize = 48;

/// Longest message to approvers. Unit: characters. Why: a target and an action precede it.
const MAX_MESSAGE: usize = 40;

/// Most events of a witness. Unit: events. Why: they fill two lines; as JSON there are all of them.
const MAX_EVENTS: usize = 16;

/// Show a machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark show door.md                    states, transitions, guards, tools, proofs\n  \
                        statemark show doors.md --machine front   one of several machines\n  \
                        statemark show out/door.table             a table that build wrote\n  \
                        statemark show door.md --dump table       every row of its table\n  \
                        statemark show door.md --graph            a drawing, in a terminal that shows pictures")]
pub(crate) struct ShowArgs {
    /// A spec, or a table that `build` wrote
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// The machine, if the spec has several
    #[arg(long, value_name = "ID")]
    machine: Option<String>,
    /// The form of output: text or json
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text, hide_possible_values = true)]
    output_format: TextFormat,
    /// Print every row instead: table
    #[arg(
        long,
        value_enum,
        value_name = "ROWS",
        conflicts_with = "output_format",
        hide_possible_values = true
    )]
    dump: Option<Dump>,
    /// Draw it, in a terminal that shows pictures
    #[arg(long, conflicts_with_all = ["output_format", "dump"])]
    graph: bool,
}

/// The rows of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Dump {
    /// The table.
    Table,
}

/// Shows a machine.
pub(super) fn run(args: &ShowArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let machine = args.machine.as_deref();
    let canvas = match args.graph {
        true => Some(find_canvas()?),
        false => None,
    };
    let Some(loaded) = load(&args.spec, machine, args.output_format, printer)? else {
        return Ok(ExitStatus::Findings);
    };
    if let Some(canvas) = canvas {
        return draw(&loaded, canvas, printer);
    }
    let proofs = || loaded.valid.as_ref().map(prove);
    let text = match (args.dump, args.output_format) {
        (Some(Dump::Table), _) => dump_table(&loaded),
        (None, TextFormat::Text) => {
            describe_machine(&loaded, &proofs().unwrap_or_default(), printer.palette())
        }
        (None, TextFormat::Json) => json::json(&loaded, proofs()),
    };
    printer.result(&text);
    Ok(ExitStatus::Clean)
}

/// Returns the terminal that a machine is drawn in.
fn find_canvas() -> Result<Canvas, Failure> {
    picture::check()?;
    inline::find_canvas().ok_or_else(|| {
        Failure::new("there is no terminal here that shows pictures").with_help(
            "`statemark graph SPEC -o FILE.svg` writes a drawing; kitty, Ghostty, WezTerm, Konsole, iTerm2 and VS Code show one",
        )
    })
}

/// Draws a machine in the terminal.
fn draw(
    loaded: &LoadedMachine,
    canvas: Canvas,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let mut options = svg::Options::default();
    options.theme = match canvas.is_dark {
        true => Theme::Dark,
        false => Theme::Light,
    };
    let drawing = match &loaded.valid {
        Some(valid) => svg::write(valid, &options),
        None => svg::write_table(&loaded.table, &options),
    };
    let drawing = drawing.map_err(undrawable)?;
    let png = picture::draw_for_terminal(&drawing, inline::room())?;
    printer.raw(inline::encode(canvas.protocol, &png).as_bytes());
    Ok(ExitStatus::Clean)
}

/// Returns what there is to say of a machine, as a value of JSON.
pub(super) fn value(loaded: &LoadedMachine) -> Value {
    json::value(loaded)
}

/// Returns every row of a machine's table, and the hashes of the table and its parts.
fn dump_table(loaded: &LoadedMachine) -> String {
    let mut text = statemark_runtime::dump(loaded.table.sections());
    let whole = std::iter::once(("table", loaded.hash.clone()));
    text.push_str("\nhashes\n");
    for (name, hash) in whole.chain(loaded.part_hashes()) {
        text.push_str(&format!("  {name:<8}  {hash}\n"));
    }
    text
}

/// Describes a machine in 100 columns.
fn describe_machine(loaded: &LoadedMachine, proofs: &[Proof], palette: Palette) -> String {
    let mut page = Page {
        table: &loaded.table,
        links: Links::new(&loaded.table),
        palette,
        text: String::new(),
    };
    page.head(&loaded.hash);
    let root = StateId::new(0);
    page.root(root);
    for state in page.links.children(root) {
        page.state(state, 0);
    }
    page.actions();
    page.claims();
    page.proofs(proofs);
    format!("{}\n", page.text.trim_end())
}

/// A description that is being written.
struct Page<'t> {
    table: &'t Table,
    links: Links,
    palette: Palette,
    text: String,
}

/// The children of each state, and the transitions that lead to it, by its index.
struct Links {
    children: Vec<Vec<StateId>>,
    entries: Vec<Vec<TransitionId>>,
}

impl Links {
    fn new(table: &Table) -> Self {
        let count = table.states().len();
        let mut links = Self {
            children: vec![Vec::new(); count],
            entries: vec![Vec::new(); count],
        };
        for (id, row) in table.states() {
            let parent = row.parent.map(|parent| parent.index());
            if let Some(children) = parent.and_then(|parent| links.children.get_mut(parent)) {
                children.push(id);
            }
        }
        for (id, _) in table.transitions() {
            for target in table.targets(id) {
                if let Some(entries) = links.entries.get_mut(target.index())
                    && entries.last() != Some(&id)
                {
                    entries.push(id);
                }
            }
        }
        links
    }

    fn children(&self, parent: StateId) -> Vec<StateId> {
        let children = self.children.get(parent.index());
        children.cloned().unwrap_or_default()
    }
}

/// The parts of a line about a transition.
struct TransitionLine {
    trigger: String,
    guard: String,
    target: String,
    actions: String,
    approval: String,
    /// The occasion on which the run raises its event, if it does.
    raised: Option<&'static str>,
}

impl Page<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    fn head(&mut self, hash: &str) {
        let table = self.table;
        let meta = describe::machine_meta(table);
        let digits: String = hash.chars().take(HASH_DIGITS).collect();
        let name = self.palette.strong(table.name());
        let title =
            describe::meta_text(&meta, "title").map_or(String::new(), |title| format!("  {title}"));
        let digits = self.palette.dim(&format!("  {digits}"));
        self.line(0, &format!("{name}{title}{digits}"));
        for line in describe::meta_text(&meta, "description")
            .iter()
            .flat_map(|text| text.lines())
        {
            for part in wrap(line, WIDTH) {
                self.line(0, &part);
            }
        }
        let states = table
            .states()
            .skip(1)
            .filter(|(id, _)| describe::state_name(table, *id) != "[*]");
        let events = table
            .events()
            .filter(|(_, row)| row.kind == EventKind::Named);
        let own_actions = table
            .actions()
            .filter(|(id, _)| !describe::is_after_action(table, *id));
        let counts = [
            (states.count(), "state"),
            (table.transitions().len(), "transition"),
            (events.count(), "event"),
            (table.sections().guards.len(), "guard"),
            (own_actions.count(), "action"),
            (table.timers().len(), "timer"),
        ];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|&(number, noun)| count(number, noun))
            .collect();
        let counts = self.palette.dim(&counts.join(" · "));
        self.line(0, &counts);
        // Guards are shown where they guard.
        let shown_elsewhere = ["title", "description", "guards"];
        let keys = meta
            .iter()
            .filter(|(key, _)| !shown_elsewhere.contains(&key.as_str()));
        let facts: Vec<(&String, &Value)> = keys.collect();
        if !facts.is_empty() {
            self.line(0, "");
        }
        for (key, value) in facts {
            self.fact(0, key, &value_text(value));
        }
        self.line(0, "");
    }

    /// Writes the transitions that hold in every state.
    fn root(&mut self, root: StateId) {
        let has_transitions = self
            .table
            .state(root)
            .is_some_and(|row| !row.transitions.is_empty());
        if has_transitions {
            let title = self.palette.strong("in every state");
            self.line(0, &title);
            self.transitions(root, 1);
            self.line(0, "");
        }
    }

    /// Writes the guards that the sender of an event has to claim.
    fn claims(&mut self) {
        let table = self.table;
        if table.claims().len() == 0 {
            return;
        }
        let title = self.palette.strong("claims");
        let remark = self
            .palette
            .dim("nothing checks them: they hold if the sender says so");
        self.line(0, &format!("{title}  {remark}"));
        for (_, text) in table.claims() {
            for part in wrap(text, WIDTH) {
                self.line(1, &self.palette.guard(&part));
            }
        }
        self.line(0, "");
    }

    fn state(&mut self, state: StateId, depth: usize) {
        let table = self.table;
        let Some(row) = table.state(state) else {
            return;
        };
        if describe::state_name(table, state) == "[*]" {
            return;
        }
        let meta = describe::state_meta(table, state);
        let begins = row
            .parent
            .is_some_and(|parent| describe::initials(table, parent).contains(&state));
        self.title(state, row, &meta, begins, depth);
        self.facts(row, &meta, depth + 2);
        self.entries(state, depth + 2);
        self.transitions(state, depth + 2);
        self.ambiguities(state, depth + 2);
        self.line(0, "");
        for child in self.links.children(state) {
            self.state(child, depth + 2);
        }
    }

    fn title(&mut self, state: StateId, row: &StateRow, meta: &Meta, begins: bool, depth: usize) {
        let mark = match (row.kind, begins) {
            (StateKind::Final, _) => "◎",
            (StateKind::History | StateKind::DeepHistory, _) => "↺",
            (_, true) => "●",
            _ => "○",
        };
        let name = self.palette.strong(self.table.state_name(state));
        let mut remarks = Vec::new();
        if begins {
            remarks.push("initial".to_owned());
        }
        match (row.kind, row.verdict) {
            (StateKind::Final, Verdict::Success) => remarks.push("ends".to_owned()),
            (StateKind::Final, Verdict::Failure) => remarks.push("ends in failure".to_owned()),
            (StateKind::Compound, _) => remarks.push("has substates".to_owned()),
            (StateKind::Parallel, _) => remarks.push("all its regions are active".to_owned()),
            (StateKind::History, _) => remarks.push(self.describe_history(state, "child")),
            (StateKind::DeepHistory, _) => {
                remarks.push(self.describe_history(state, "configuration"))
            }
            _ => {}
        }
        if self.is_region(row) {
            remarks.insert(0, "a region".to_owned());
        }
        let remarks = self.palette.dim(&remarks.join(", "));
        let title = describe::meta_text(meta, "title").unwrap_or("");
        let parts = [format!("{mark} {name}"), title.to_owned(), remarks];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        self.line(depth, &parts.join("  "));
    }

    fn is_region(&self, row: &StateRow) -> bool {
        let outer = row.parent.and_then(|parent| self.table.state(parent));
        !row.kind.is_history() && outer.is_some_and(|outer| outer.kind == StateKind::Parallel)
    }

    /// Describes a history: `returns to the last child, at first to playing`.
    fn describe_history(&self, state: StateId, what: &str) -> String {
        let first = describe::initials(self.table, state);
        let first: Vec<String> = first
            .into_iter()
            .map(|target| describe::state_name(self.table, target))
            .collect();
        format!(
            "returns to the last {what}, at first to {}",
            first.join(", ")
        )
    }

    /// Writes everything about a state but its transitions.
    fn facts(&mut self, row: &StateRow, meta: &Meta, depth: usize) {
        let table = self.table;
        for key in ["description", "instructions"] {
            if let Some(text) = describe::meta_text(meta, key).and_then(first_line) {
                let text = fit(&text, WIDTH.saturating_sub(2 * depth));
                self.line(depth, &text);
            }
        }
        for (word, range) in [("on entry", &row.entry), ("on exit", &row.exit)] {
            let own = table.calls(range).iter().copied();
            let own: Vec<_> = own
                .filter(|&id| !describe::is_after_action(table, id))
                .collect();
            let actions = describe::action_names(table, &own);
            if !actions.is_empty() {
                self.fact(depth, word, &actions.join(", "));
            }
        }
        for (key, word) in TOOLS {
            if let Some(value) = meta.get(key) {
                self.fact(depth, word, &value_text(value));
            }
        }
        let limits = describe_limits(meta);
        if !limits.is_empty() {
            self.fact(depth, "limits", &limits);
        }
        for (key, value) in meta.iter().filter(|(key, _)| !has_own_line(key)) {
            self.fact(depth, key, &value_text(value));
        }
    }

    /// Writes the transitions that lead to a state.
    fn entries(&mut self, state: StateId, depth: usize) {
        let table = self.table;
        let entries = self.links.entries.get(state.index()).into_iter().flatten();
        let entries: Vec<String> = entries
            .filter_map(|&id| {
                let source = table.transition(id)?.source;
                let source = match source.index() {
                    0 => "every state".to_owned(),
                    _ => describe::state_name(table, source),
                };
                Some(format!("{source} : {}", describe::trigger(table, id)))
            })
            .collect();
        if !entries.is_empty() {
            self.fact(depth, "from", &entries.join(", "));
        }
    }

    /// Writes the transitions that lead out of a state, in columns.
    fn transitions(&mut self, state: StateId, depth: usize) {
        let table = self.table;
        let own = table.state(state).map(|row| row.transitions.clone());
        let lines: Vec<TransitionLine> = own
            .unwrap_or_default()
            .map(|id| transition_line(table, TransitionId::new(id)))
            .collect();
        let width = |row: &TransitionLine| match row.is_long() {
            true => row.trigger.chars().count(),
            false => row.trigger_and_guard().chars().count(),
        };
        let most = lines.iter().map(width).max().unwrap_or(0);
        let targets = lines.iter().map(|row| row.target.chars().count()).max();
        for row in &lines {
            let mut text = self.palette.event(&row.trigger);
            if !row.is_long() && !row.guard.is_empty() {
                text.push(' ');
                text.push_str(&self.palette.guard(&row.guard));
            }
            text.push_str(&" ".repeat(most.saturating_sub(width(row))));
            text.push_str(&format!("  → {}", row.target));
            if !row.actions.is_empty() {
                let blanks = targets
                    .unwrap_or(0)
                    .saturating_sub(row.target.chars().count());
                text.push_str(&" ".repeat(blanks + 2));
                text.push_str(&self.palette.dim(&row.actions));
            }
            if !row.approval.is_empty() {
                text.push_str(&format!("  {}", self.palette.guard(&row.approval)));
            }
            if let Some(when) = row.raised {
                text.push_str(&self.palette.dim(&format!("  when {when}")));
            }
            self.line(depth, &text);
            if row.is_long() {
                for line in wrap(&row.guard, WIDTH.saturating_sub(2 * depth + 2)) {
                    let line = self.palette.guard(&line);
                    self.line(depth + 1, &line);
                }
            }
        }
    }

    /// Writes the labels that lead to several places from a state, with the events that they may mean.
    fn ambiguities(&mut self, state: StateId, depth: usize) {
        let table = self.table;
        for (label, events) in describe::ambiguities(table, state) {
            let events: Vec<String> = events.iter().map(|it| (*it).to_owned()).collect();
            let text = format!("{label} means {}", join(&events, "or"));
            self.fact(depth, "ambiguous", &text);
        }
    }

    /// Writes what the spec says of its actions.
    fn actions(&mut self) {
        let table = self.table;
        let facts: Vec<(&str, String)> = table
            .actions()
            .filter_map(|(id, row)| {
                let raises = row
                    .kind
                    .raised()
                    .map(|event| format!("raises {}", table.event_name(event)));
                let assigns = describe::assignments(table, id);
                let assigns: Vec<String> = assigns
                    .into_iter()
                    .map(|(field, value)| format!("{field} = {value}"))
                    .collect();
                let sets = (!assigns.is_empty()).then(|| format!("sets {}", assigns.join(", ")));
                let mut meta = describe::meta(table, row.metadata);
                // What is assigned is read from the program, which is what runs.
                meta.remove("assign");
                let said = meta.iter().map(|(key, value)| match value {
                    Value::Bool(true) => key.clone(),
                    _ => format!("{key}: {}", value_text(value)),
                });
                let parts: Vec<String> = raises.into_iter().chain(sets).chain(said).collect();
                (!parts.is_empty()).then(|| (table.action_name(id), parts.join(", ")))
            })
            .collect();
        if facts.is_empty() {
            return;
        }
        let title = self.palette.strong("actions");
        self.line(0, &title);
        let width = facts
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0);
        for (name, text) in facts {
            self.fact(2, &format!("{name:<width$}"), &text);
        }
        self.line(0, "");
    }

    /// Writes the proofs, and what they assume.
    fn proofs(&mut self, proofs: &[Proof]) {
        if proofs.is_empty() {
            return;
        }
        let title = self.palette.strong("proofs");
        self.line(0, &title);
        for (word, text) in describe_proofs(self.table, proofs) {
            self.fact(2, word, &text);
        }
        self.fact(2, "assuming", &describe_assumptions(proofs));
    }

    /// Writes a word and what it means here, wrapped below itself.
    fn fact(&mut self, depth: usize, word: &str, text: &str) {
        const WORD_WIDTH: usize = 12;
        let blanks = WORD_WIDTH.saturating_sub(word.chars().count()).max(2);
        let indent = word.chars().count() + blanks;
        let lines = wrap(text, WIDTH.saturating_sub(2 * depth + indent));
        for (index, line) in lines.iter().enumerate() {
            let lead = if index == 0 {
                format!("{}{}", self.palette.dim(word), " ".repeat(blanks))
            } else {
                " ".repeat(indent)
            };
            self.line(depth, &format!("{lead}{line}"));
        }
    }
}

impl TransitionLine {
    /// Returns the trigger and the guard: `ready [steps > 0]`.
    fn trigger_and_guard(&self) -> String {
        format!("{} {}", self.trigger, self.guard)
            .trim_end()
            .to_owned()
    }

    /// Reports whether the guard has lines of its own, so that targets stay in sight.
    fn is_long(&self) -> bool {
        self.trigger_and_guard().chars().count() > MAX_TRIGGER
    }
}

fn transition_line(table: &Table, id: TransitionId) -> TransitionLine {
    let actions = describe::transition_actions(table, id);
    let guard = describe::guard(table, id);
    TransitionLine {
        trigger: describe::trigger(table, id),
        guard: guard.map_or(String::new(), |guard| format!("[{guard}]")),
        target: describe::target(table, id).unwrap_or_else(|| "(stays)".to_owned()),
        actions: match actions.as_slice() {
            [] => String::new(),
            _ => format!("does {}", actions.join(", ")),
        },
        approval: describe_approval(&describe::transition_meta(table, id)),
        raised: describe::raised(table, id),
    }
}

/// Describes the approval that a transition needs, with the message to approvers.
fn describe_approval(meta: &Meta) -> String {
    if !describe::needs_approval(meta) {
        return String::new();
    }
    match describe::meta_text(meta, "approval_message").and_then(first_line) {
        Some(message) => format!("needs approval ({})", fit(&message, MAX_MESSAGE)),
        None => "needs approval".to_owned(),
    }
}

/// Reports whether a key of a state's metadata has a line of its own.
fn has_own_line(key: &str) -> bool {
    let mut labeled = TOOLS.iter().chain(&LIMITS);
    SHOWN_ELSEWHERE.contains(&key) || labeled.any(|(other, _)| *other == key)
}

/// Describes the limits of a state: `15 iterations (then not_reproducible), 5 files`.
fn describe_limits(meta: &Meta) -> String {
    let limits: Vec<String> = LIMITS
        .iter()
        .filter_map(|(key, what)| {
            let limit = format!("{} {what}", value_text(meta.get(*key)?));
            let then =
                describe::meta_text(meta, "on_max_iterations").filter(|_| *key == "max_iterations");
            Some(match then {
                Some(event) => format!("{limit} (then {event})"),
                None => limit,
            })
        })
        .collect();
    limits.join(", ")
}

/// Returns a value without the punctuation of JSON, as far as it is clear without.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items)
            if items
                .iter()
                .all(|item| !item.is_object() && !item.is_array()) =>
        {
            let items: Vec<String> = items.iter().map(value_text).collect();
            items.join(", ")
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key} = {value}"));
            fields.collect::<Vec<String>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// Describes proofs: each verdict, and its properties.
///
/// Properties that are unknown for the same reason share a description.
fn describe_proofs(table: &Table, proofs: &[Proof]) -> Vec<(&'static str, String)> {
    let mut descriptions: Vec<(&'static str, String)> = Vec::new();
    for (index, proof) in proofs.iter().enumerate() {
        let same = |other: &&Proof| shares_reason(proof, other);
        if proofs.iter().take(index).any(|it| same(&it)) {
            continue;
        }
        let others = proofs.iter().skip(index + 1).filter(same);
        let properties: Vec<&str> = std::iter::once(proof)
            .chain(others)
            .map(|it| it.text)
            .collect();
        descriptions.push((
            verdict(proof),
            describe_proof(table, proof, &properties.join("; ")),
        ));
    }
    descriptions
}

/// Reports whether two properties are unknown for the same reason, without a witness.
fn shares_reason(one: &Proof, other: &Proof) -> bool {
    let is_open = |proof: &Proof| proof.verdict == Judgment::Unknown && proof.witness.is_none();
    is_open(one) && is_open(other) && one.why.is_some() && one.why == other.why
}

/// Returns the verdict in a word.
const fn verdict(proof: &Proof) -> &'static str {
    match proof.verdict {
        Judgment::Holds => "holds",
        Judgment::Fails => "fails",
        Judgment::Unknown => "unknown",
    }
}

/// Describes a proof: `the machine can end: push, leave`.
fn describe_proof(table: &Table, proof: &Proof, property: &str) -> String {
    let mut text = property.to_owned();
    if let Some(why) = &proof.why {
        text.push_str(": ");
        text.push_str(why);
    }
    let Some(witness) = &proof.witness else {
        return text;
    };
    let more = witness.events.len().saturating_sub(MAX_EVENTS);
    let events = witness.events.iter().take(MAX_EVENTS);
    let mut events: Vec<String> = events.map(|event| event_name(table, event)).collect();
    if more > 0 {
        events.push(format!("and {more} more"));
    }
    match (proof.verdict, events.as_slice()) {
        (_, []) => {}
        (Judgment::Holds, events) => text.push_str(&format!(": {}", events.join(", "))),
        (_, events) => text.push_str(&format!(" (by {})", events.join(", "))),
    }
    text
}

/// Describes the assumptions of all properties.
fn describe_assumptions(proofs: &[Proof]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for assumption in proofs.iter().flat_map(|proof| &proof.assumes) {
        if !all.contains(assumption) {
            all.push(assumption);
        }
    }
    all.join("; ")
}

fn event_name(table: &Table, id: &str) -> String {
    let mut events = table.events();
    let found = events.find(|(event, _)| table.event_name(*event) == id);
    found.map_or_else(
        || id.to_owned(),
        |(event, _)| describe::event_name(table, event),
    )
}
