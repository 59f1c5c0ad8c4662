//! A machine as a person reads it, in 100 columns.

use serde_json::Value;
use statemark_compiler::proofs::Proof;
use statemark_runtime::{EventKind, StateId, StateKind, StateRow, Table, TransitionId, Verdict};

use super::facts::{TOOLS, is_shown_elsewhere, limits, value_text};
use super::proofs;
use crate::lines::{WIDTH, counted, cut, first_line, wrapped};
use crate::loading::Loaded;
use crate::palette::Palette;
use crate::wording::{self, Meta};

/// How many digits of the hash are shown; enough to tell the builds of one machine apart.
const HASH_DIGITS: usize = 12;

pub(super) fn text(loaded: &Loaded, proofs: &[Proof], palette: Palette) -> String {
    let mut page = Page {
        table: &loaded.table,
        palette,
        text: String::new(),
    };
    page.head(&loaded.hash);
    let root = StateId::new(0);
    page.notes_of_root(root);
    for state in page.children(root) {
        page.state(state, 0);
    }
    page.actions();
    page.proofs(proofs);
    format!("{}\n", page.text.trim_end())
}

/// A text in the making.
struct Page<'t> {
    table: &'t Table,
    palette: Palette,
    text: String,
}

/// One line about a transition: its trigger with the guard, where it leads, what it does.
struct Way {
    trigger: String,
    guard: String,
    target: String,
    actions: String,
    approval: String,
    /// What raises its event, where that is the run itself.
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
        let meta = wording::machine_meta(table);
        let digits: String = hash.chars().take(HASH_DIGITS).collect();
        let name = self.palette.strong(table.name());
        let title =
            wording::text(&meta, "title").map_or(String::new(), |title| format!("  {title}"));
        let digits = self.palette.dim(&format!("  {digits}"));
        self.line(0, &format!("{name}{title}{digits}"));
        for line in wording::text(&meta, "description")
            .iter()
            .flat_map(|text| text.lines())
        {
            for part in wrapped(line, WIDTH) {
                self.line(0, &part);
            }
        }
        let states = table
            .states()
            .skip(1)
            .filter(|(id, _)| wording::state_name(table, *id) != "[*]");
        let events = table
            .events()
            .filter(|(_, row)| row.kind == EventKind::Named);
        let own_actions = table
            .actions()
            .filter(|(id, _)| !wording::is_timers_own(table, *id));
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
            .filter(|(count, _)| *count > 0)
            .map(|&(count, word)| counted(count, word))
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

    /// What the root says of its own: actions, and transitions that hold in every state.
    fn notes_of_root(&mut self, root: StateId) {
        let has_ways = self
            .table
            .state(root)
            .is_some_and(|row| !row.transitions.is_empty());
        if has_ways {
            let title = self.palette.strong("in every state");
            self.line(0, &title);
            self.ways(root, 1);
            self.line(0, "");
        }
    }

    fn children(&self, parent: StateId) -> Vec<StateId> {
        self.table
            .states()
            .filter(|(_, row)| row.parent == Some(parent))
            .map(|(id, _)| id)
            .collect()
    }

    fn state(&mut self, state: StateId, depth: usize) {
        let table = self.table;
        let Some(row) = table.state(state) else {
            return;
        };
        if wording::state_name(table, state) == "[*]" {
            return;
        }
        let meta = wording::state_meta(table, state);
        let begins = row
            .parent
            .is_some_and(|parent| wording::initials(table, parent).contains(&state));
        self.title(state, row, &meta, begins, depth);
        self.facts(row, &meta, depth + 2);
        self.entries(state, depth + 2);
        self.ways(state, depth + 2);
        self.line(0, "");
        for child in self.children(state) {
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
            remarks.push("begins here".to_owned());
        }
        match (row.kind, row.verdict) {
            (StateKind::Final, Verdict::Success) => remarks.push("ends".to_owned()),
            (StateKind::Final, Verdict::Failure) => remarks.push("ends in failure".to_owned()),
            (StateKind::Compound, _) => remarks.push("has states inside".to_owned()),
            (StateKind::Parallel, _) => remarks.push("is in all its regions at once".to_owned()),
            (StateKind::History, _) => remarks.push(self.remembers(state, "child")),
            (StateKind::DeepHistory, _) => remarks.push(self.remembers(state, "configuration")),
            _ => {}
        }
        if self.is_region(row) {
            remarks.insert(0, "a region".to_owned());
        }
        let remarks = self.palette.dim(&remarks.join(", "));
        let title = wording::text(meta, "title").unwrap_or("");
        let parts = [format!("{mark} {name}"), title.to_owned(), remarks];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        self.line(depth, &parts.join("  "));
    }

    fn is_region(&self, row: &StateRow) -> bool {
        let outer = row.parent.and_then(|parent| self.table.state(parent));
        !row.kind.is_history() && outer.is_some_and(|outer| outer.kind == StateKind::Parallel)
    }

    /// What a history does: `leads back to the last child, at first to playing`.
    fn remembers(&self, state: StateId, what: &str) -> String {
        let first = wording::initials(self.table, state);
        let first: Vec<String> = first
            .into_iter()
            .map(|target| wording::state_name(self.table, target))
            .collect();
        format!(
            "leads back to the last {what}, at first to {}",
            first.join(", ")
        )
    }

    /// What a state says beside its transitions.
    fn facts(&mut self, row: &StateRow, meta: &Meta, depth: usize) {
        let table = self.table;
        for key in ["description", "instructions"] {
            if let Some(text) = wording::text(meta, key).and_then(first_line) {
                let text = cut(&text, WIDTH.saturating_sub(2 * depth));
                self.line(depth, &text);
            }
        }
        for (word, range) in [("on entry", &row.entry), ("on exit", &row.exit)] {
            let own = table.calls(range).iter().copied();
            let own: Vec<_> = own
                .filter(|&id| !wording::is_timers_own(table, id))
                .collect();
            let actions = wording::actions(table, &own);
            if !actions.is_empty() {
                self.fact(depth, word, &actions.join(", "));
            }
        }
        for (key, word) in TOOLS {
            if let Some(value) = meta.get(key) {
                self.fact(depth, word, &value_text(value));
            }
        }
        let limits = limits(meta);
        if !limits.is_empty() {
            self.fact(depth, "limits", &limits);
        }
        for (key, value) in meta.iter().filter(|(key, _)| !is_shown_elsewhere(key)) {
            self.fact(depth, key, &value_text(value));
        }
    }

    /// The transitions that lead here.
    fn entries(&mut self, state: StateId, depth: usize) {
        let table = self.table;
        let entries: Vec<String> = table
            .transitions()
            .filter(|(id, _)| table.targets(*id).contains(&state))
            .map(|(id, row)| {
                let source = match row.source.index() {
                    0 => "every state".to_owned(),
                    _ => wording::state_name(table, row.source),
                };
                format!("{source} : {}", wording::trigger(table, id))
            })
            .collect();
        if !entries.is_empty() {
            self.fact(depth, "from", &entries.join(", "));
        }
    }

    /// The transitions that lead out, in columns.
    fn ways(&mut self, state: StateId, depth: usize) {
        let table = self.table;
        let ways: Vec<Way> = table
            .transitions()
            .filter(|(_, row)| row.source == state)
            .map(|(id, _)| way(table, id))
            .collect();
        let width = |way: &Way| match way.is_long() {
            true => way.trigger.chars().count(),
            false => way.head().chars().count(),
        };
        let most = ways.iter().map(width).max().unwrap_or(0);
        let targets = ways.iter().map(|way| way.target.chars().count()).max();
        for way in &ways {
            let mut text = self.palette.event(&way.trigger);
            if !way.is_long() && !way.guard.is_empty() {
                text.push(' ');
                text.push_str(&self.palette.guard(&way.guard));
            }
            text.push_str(&" ".repeat(most.saturating_sub(width(way))));
            text.push_str(&format!("  → {}", way.target));
            if !way.actions.is_empty() {
                let blanks = targets
                    .unwrap_or(0)
                    .saturating_sub(way.target.chars().count());
                text.push_str(&" ".repeat(blanks + 2));
                text.push_str(&self.palette.dim(&way.actions));
            }
            if !way.approval.is_empty() {
                text.push_str(&format!("  {}", self.palette.guard(&way.approval)));
            }
            if let Some(when) = way.raised {
                text.push_str(&self.palette.dim(&format!("  when {when}")));
            }
            self.line(depth, &text);
            if way.is_long() {
                for line in wrapped(&way.guard, WIDTH.saturating_sub(2 * depth + 2)) {
                    let line = self.palette.guard(&line);
                    self.line(depth + 1, &line);
                }
            }
        }
    }

    /// What the spec says of its actions, if it says anything.
    fn actions(&mut self) {
        let table = self.table;
        let facts: Vec<(&str, String)> = table
            .actions()
            .filter_map(|(id, row)| {
                let raises = row
                    .kind
                    .raised()
                    .map(|event| format!("raises {}", table.event_name(event)));
                let assigns = wording::assigns(table, id);
                let assigns: Vec<String> = assigns
                    .into_iter()
                    .map(|(field, value)| format!("{field} = {value}"))
                    .collect();
                let sets = (!assigns.is_empty()).then(|| format!("sets {}", assigns.join(", ")));
                let mut meta = wording::meta(table, row.metadata);
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

    /// What is certain of the machine, and what it rests on.
    fn proofs(&mut self, proofs: &[Proof]) {
        if proofs.is_empty() {
            return;
        }
        let title = self.palette.strong("proofs");
        self.line(0, &title);
        for (word, text) in proofs::told(self.table, proofs) {
            self.fact(2, word, &text);
        }
        self.fact(2, "given that", &proofs::assumed(proofs));
    }

    /// A word and what it means here, wrapped below itself.
    fn fact(&mut self, depth: usize, word: &str, text: &str) {
        const WORD_WIDTH: usize = 12;
        let blanks = WORD_WIDTH.saturating_sub(word.chars().count()).max(2);
        let indent = word.chars().count() + blanks;
        let lines = wrapped(text, WIDTH.saturating_sub(2 * depth + indent));
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

/// Longest trigger with its guard that stands in the column of its neighbors. Unit: characters. Why: with the target
/// and an action behind it, a line still fits.
pub(in crate::commands) const LONG_GUARD: usize = 48;

/// Longest message to who approves. Unit: characters. Why: a target and an action stand before it.
const LONG_MESSAGE: usize = 40;

impl Way {
    /// `ready [steps > 0]`
    fn head(&self) -> String {
        format!("{} {}", self.trigger, self.guard)
            .trim_end()
            .to_owned()
    }

    /// Whether the guard stands on lines of its own, so that it doesn't push the targets of its neighbors out of sight.
    fn is_long(&self) -> bool {
        self.head().chars().count() > LONG_GUARD
    }
}

fn way(table: &Table, id: TransitionId) -> Way {
    let actions = wording::transition_actions(table, id);
    let guard = wording::guard(table, id);
    Way {
        trigger: wording::trigger(table, id),
        guard: guard.map_or(String::new(), |guard| format!("[{guard}]")),
        target: wording::target(table, id).unwrap_or_else(|| "(stays)".to_owned()),
        actions: match actions.as_slice() {
            [] => String::new(),
            _ => format!("does {}", actions.join(", ")),
        },
        approval: approval(&wording::transition_meta(table, id)),
        raised: wording::raised(table, id),
    }
}

/// `needs approval`, with what the person who approves is told, if the transition waits for one.
fn approval(meta: &Meta) -> String {
    if !wording::needs_approval(meta) {
        return String::new();
    }
    match wording::text(meta, "approval_message").and_then(first_line) {
        Some(message) => format!("needs approval ({})", cut(&message, LONG_MESSAGE)),
        None => "needs approval".to_owned(),
    }
}
