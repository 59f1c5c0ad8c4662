//! The parts of a table: its behavior, its texts and its policy.
//!
//! A table is pinned by all of its bytes. Other questions ask for less: a snapshot fits every table that steps alike,
//! and an agent may move a run to a table that differs in texts alone. [`Part::write`] gives the bytes of one part, for
//! whoever asks to hash. They are computed from the rows and stored nowhere, so no file can lie about them.
//!
//! Every key of a definition is of one part; what is below a key is of its part, too. A key that isn't listed is
//! policy, the part that only people change, so an unknown key is never taken for harmless.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::encode::{EncodeError, encode};
use super::sections::{Constant, Sections};
use crate::datum::Datum;
use crate::id::TextId;

/// A part of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The part that an engine reads: states, transitions, guards, actions, data and timers.
    Behavior,
    /// The part for readers: titles, descriptions, labels.
    Texts,
    /// The part that hosts hold callers to, or tell them to do.
    ///
    /// That are grants, limits, approvals, contracts, instructions, effects, and all else.
    Policy,
}

/// The keys of the behavior.
const BEHAVIOR: [&str; 38] = [
    "actions_fail",
    "after",
    "all",
    "always",
    "any",
    "assign",
    "actions",
    "branches",
    "context",
    "context_schema",
    "data",
    "entry",
    "events",
    "exit",
    "fails",
    "field",
    "fork",
    "guard",
    "guards",
    "history",
    "initial",
    "internal",
    "join",
    "merge",
    "not",
    "on",
    "on_complete",
    "on_done",
    "on_fail",
    "op",
    "outcome",
    "raise",
    "reenter",
    "states",
    "target",
    "terminal",
    "type",
    "value",
];

/// The keys of texts.
const TEXTS: [&str; 5] = ["$schema", "id", "title", "description", "label"];

/// The keys of the policy.
const POLICY: [&str; 49] = [
    "allowed_commands",
    "allowed_commands_tool",
    "allowed_tools",
    "approval_message",
    "artifacts",
    "attempt_timeout",
    "blocked_env",
    "capabilities",
    "checks",
    "compensate",
    "context_budget_bytes",
    "cost_budget",
    "deactivate",
    "direct_execution",
    "disallowed_tools",
    "documents",
    "drain",
    "effect",
    "env_overrides",
    "executor",
    "idempotent",
    "implied",
    "input",
    "inputs",
    "instructions",
    "interrupts",
    "invoke",
    "max_attempts",
    "max_edit_lines",
    "max_files_per_state",
    "max_iterations",
    "max_visits",
    "meta",
    "model",
    "model_ladder",
    "on_max_iterations",
    "properties",
    "requires",
    "requires_approval",
    "requires_new",
    "safe_next",
    "tags",
    "tasks",
    "thinking_level",
    "token_budget",
    "untracked_agents",
    "upstream_servers",
    "version",
    "while_waiting",
];

impl Part {
    /// Every part, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Behavior, Self::Texts, Self::Policy];

    /// Returns the part's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Behavior => "behavior",
            Self::Texts => "texts",
            Self::Policy => "policy",
        }
    }

    /// Returns the part that a key of a definition belongs to, if the key is known.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        let lists: [(Self, &[&str]); 3] = [
            (Self::Behavior, &BEHAVIOR),
            (Self::Texts, &TEXTS),
            (Self::Policy, &POLICY),
        ];
        let found = lists.into_iter().find(|(_, keys)| keys.contains(&key));
        found.map(|(part, _)| part)
    }

    /// Returns the bytes of this part of a table.
    ///
    /// Two tables have the same bytes if and only if their parts say the same. Texts that rows name by number are
    /// written where they are used, so another order of texts is no difference; another order of rows is one, because
    /// it decides between transitions.
    ///
    /// # Errors
    ///
    /// The rows don't fit into the format; those of a decoded table do.
    pub fn write(self, sections: &Sections) -> Result<Vec<u8>, EncodeError> {
        let mut out = match self {
            Self::Behavior => encode(&bare(sections))?,
            Self::Texts => {
                let name = text(sections, sections.name);
                Datum::from(name).to_string().into_bytes()
            }
            Self::Policy => Vec::new(),
        };
        out.extend_from_slice(self.metadata(sections).as_bytes());
        Ok(out)
    }

    /// Returns the metadata of this part: a line for each row that has some.
    ///
    /// Rows are named, and lines sorted, so that a row more is no other text of the rest.
    fn metadata(self, sections: &Sections) -> String {
        let mut lines = Vec::new();
        let mut line = |kind: &str, name: TextId, number: usize, metadata: Option<TextId>| {
            if let Some(metadata) = metadata.and_then(|id| self.filter(text(sections, id))) {
                let name = Datum::from(text(sections, name));
                lines.push(format!("\n{kind} {name} {number} {metadata}"));
            }
        };
        let none = TextId::new(u32::MAX);
        line("machine", none, 0, sections.metadata);
        for (row, state) in sections.states.iter().enumerate() {
            // The first state stands for the machine, whose name is a text.
            let name = if row == 0 { none } else { state.name };
            line("state", name, 0, state.metadata);
            let transitions = usize::from(state.transitions.start)..state.transitions.end.into();
            let transitions = sections.transitions.get(transitions);
            for (number, transition) in transitions.into_iter().flatten().enumerate() {
                line("transition", name, number, transition.metadata);
            }
        }
        for event in &sections.events {
            line("event", event.name, 0, event.metadata);
        }
        for action in &sections.actions {
            line("action", action.name, 0, action.metadata);
        }
        lines.sort_unstable();
        lines.concat()
    }

    /// Returns the keys of this part in a row's metadata. Metadata that is no object is policy as a whole.
    fn filter(self, metadata: &str) -> Option<Datum> {
        match Datum::from_json(metadata) {
            Ok(Datum::Object(mut fields)) => {
                fields.retain(|key, _| self == Self::from_key(key).unwrap_or(Self::Policy));
                (!fields.is_empty()).then_some(Datum::Object(fields))
            }
            _ => (self == Self::Policy).then(|| Datum::from(metadata)),
        }
    }
}

fn text(sections: &Sections, id: TextId) -> &str {
    sections.texts.get(id.index()).map_or("", |text| text)
}

/// Returns the rows without metadata and without the machine's name, with the texts that are left.
fn bare(sections: &Sections) -> Sections {
    let mut bare = sections.clone();
    // Every text of a row is named here; a section that is forgotten doesn't compile.
    let Sections {
        name,
        metadata,
        texts,
        states,
        events,
        transitions,
        guards,
        fields,
        actions,
        timers,
        assigns: _,
        targets: _,
        triggers: _,
        calls: _,
        code: _,
        constants,
        merges,
        ambiguities: _,
        claims,
    } = &mut bare;
    *metadata = None;
    for row in states.iter_mut() {
        row.metadata = None;
    }
    for row in events.iter_mut() {
        row.metadata = None;
    }
    for row in transitions.iter_mut() {
        row.metadata = None;
    }
    for row in actions.iter_mut() {
        row.metadata = None;
    }
    let old = core::mem::take(texts);
    let mut kept = Kept::default();
    let mut keep = |id: &mut TextId| {
        *id = kept.keep(old.get(id.index()).map_or("", |text| text));
    };
    // The first state stands for the machine, whose name is a text.
    *name = TextId::new(u32::MAX);
    keep(name);
    if let Some(root) = states.first_mut() {
        root.name = TextId::new(u32::MAX);
    }
    let states = states.iter_mut().map(|row| &mut row.name);
    let events = events.iter_mut().map(|row| &mut row.name);
    let actions = actions.iter_mut().map(|row| &mut row.name);
    let timers = timers.iter_mut().map(|row| &mut row.name);
    let constants = constants.iter_mut().filter_map(|row| match row {
        Constant::Text(id) => Some(id),
        _ => None,
    });
    let merges = merges.iter_mut().filter_map(|row| row.field.as_mut());
    let claims = claims.iter_mut().map(|row| &mut row.text);
    let names = states.chain(events).chain(guards).chain(fields);
    names
        .chain(actions)
        .chain(timers)
        .chain(constants)
        .chain(merges)
        .chain(claims)
        .for_each(keep);
    *texts = kept.texts;
    bare
}

/// Texts in the order of their first use, each once.
#[derive(Default)]
struct Kept {
    texts: Vec<Box<str>>,
    ids: BTreeMap<Box<str>, TextId>,
}

impl Kept {
    fn keep(&mut self, text: &str) -> TextId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        // INVARIANT: these are texts of rows, of which there are no more than numbers.
        let id = TextId::from_index(self.texts.len()).unwrap_or_default();
        self.texts.push(text.into());
        self.ids.insert(text.into(), id);
        id
    }
}
