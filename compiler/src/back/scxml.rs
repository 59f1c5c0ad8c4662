//! The machine as an SCXML document.
//!
//! One element a line, in document order. Reading what was written ([`crate::front::scxml`]) gives the same machine, as
//! far as SCXML with our namespace can say it:
//!
//! | in the machine | in the document |
//! |---|---|
//! | an action of the host's | `<statemark:action name="…"/>`, with `fails="true"` if it can fail; `<log>` where it came from one |
//! | a guard of the host's, a claim, a comparison of a field | `<statemark:guard>` in the data model; conditions call its id |
//! | several fields that one action assigns | `<statemark:assign>` around them |
//! | a trigger that is only a prefix of others (`door` and `door.open`) | `statemark:exact="true"` |
//! | an event that nothing names, or that only a timer sends | `<statemark:event>` |
//! | a timer that nothing sets | `<statemark:timer>` |
//! | a label that leads to several places from one state | `<statemark:label>` with the events of its ways |
//! | actions on the way to the first state | `<statemark:initial>` |
//! | a transition of the machine itself | a copy at the end of each state in `<scxml>`, with `statemark:root="1"` and so on |
//! | how a run ends | `statemark:verdict="failure"` |
//! | the name of an action that is used twice | `statemark:name="…"` |
//!
//! Deliberately not here, because SCXML has no place for it: titles, descriptions, instructions, what only hosts read,
//! schemas, merge rules (an engine of SCXML merges no data), notes, and the `[*]` that an implied state was drawn as. Nor what the root does on entry and exit: it is
//! neither entered nor left, and no table has such actions.
//!
//! SCXML has no `<transition>` in `<scxml>`. A copy in every state there means the same: one of those states is active,
//! its content comes first, and the copies lie before nothing but the root. Copies are external, since
//! nothing lies between such a state and the root; final states end the machine and need none.

mod content;
mod data;
mod expression;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::arena::Handle;
use crate::front::scxml::{NAMESPACE, SCXML, escaped};
use crate::ir::{Action, ActionKind, Initial, Machine, State, StateKind, Transition, Verdict};
use crate::valid::Valid;
use data::Declared;

/// Writes the document, with a line end after its last line.
///
/// ```
/// use statemark_compiler::{Options, back, compile, source::Sources};
///
/// let mut sources = Sources::new();
/// sources.add("door.mmd", "stateDiagram-v2\n[*]-->shut\nshut-->open:push\nopen-->shut:pull");
/// let compiled = compile(&sources, &Options::default());
/// assert_eq!(
///     back::scxml::write(&compiled.machines[0]),
///     r#"<?xml version="1.0" encoding="UTF-8"?>
/// <scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="door">
///   <state id="shut">
///     <transition event="push" target="open"/>
///   </state>
///   <state id="open">
///     <transition event="pull" target="shut"/>
///   </state>
/// </scxml>
/// "#
/// );
/// ```
#[must_use]
pub fn write(valid: &Valid) -> String {
    write_machine(valid)
}

/// Writes the document of any machine, even of one that the checks refuse.
#[must_use]
pub(crate) fn write_machine(machine: &Machine) -> String {
    let uses = uses(machine);
    let mut writer = Writer {
        machine,
        states: Tokens::new(
            machine.states.iter().map(|(handle, state)| {
                // The document stands for the root, which is no state there: a state may have its name.
                (handle != machine.root()).then_some(state.id.as_str())
            }),
            false,
        ),
        events: Tokens::new(
            machine
                .events
                .iter()
                .map(|(_, event)| Some(event.id.as_str())),
            true,
        ),
        timers: Tokens::new(
            machine
                .timers
                .iter()
                .map(|(_, timer)| Some(timer.name.as_str())),
            false,
        ),
        declared: Declared::new(machine, &uses),
        uses,
        mentioned: BTreeSet::new(),
        scheduled: BTreeSet::new(),
        text: String::new(),
        depth: 1,
    };
    writer.body(machine.root());
    let body = std::mem::take(&mut writer.text);
    writer.preamble();
    let preamble = std::mem::take(&mut writer.text);
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = write!(text, "<scxml xmlns=\"{SCXML}\"");
    if body.contains("statemark:") || preamble.contains("statemark:") {
        let _ = write!(text, " xmlns:statemark=\"{NAMESPACE}\"");
    }
    let _ = write!(
        text,
        " version=\"1.0\" name=\"{}\"",
        escaped(&machine.id.value)
    );
    if !preamble.is_empty() || body.contains(" cond=\"") || body.contains("<assign") {
        text.push_str(" datamodel=\"statemark\"");
    }
    let root = machine.states.at(machine.root());
    if let Some(initial) = root
        .initial
        .as_ref()
        .filter(|initial| initial.actions.is_empty())
        && !writer.is_default(machine.root(), initial)
    {
        let _ = write!(text, " initial=\"{}\"", writer.names(&initial.targets));
    }
    text.push_str(">\n");
    text + &preamble + &body + "</scxml>\n"
}

/// Counts the calls of each action; one that only unused ones call has none.
fn uses(machine: &Machine) -> Vec<usize> {
    let mut uses = vec![0; machine.actions.len()];
    for (_, state) in machine.states.iter() {
        count(&mut uses, &state.entry);
        count(&mut uses, &state.exit);
        if let Some(initial) = &state.initial {
            count(&mut uses, &initial.actions);
        }
    }
    for (_, transition) in machine.transitions.iter() {
        count(&mut uses, &transition.actions);
    }
    // Backwards: what an action calls precedes it.
    let mut actions: Vec<_> = machine.actions.iter().collect();
    actions.reverse();
    for (handle, action) in actions {
        let is_used = uses.get(handle.index()).is_some_and(|&uses| uses > 0);
        if let ActionKind::If {
            then, otherwise, ..
        } = &action.kind
            && is_used
        {
            count(&mut uses, then);
            count(&mut uses, otherwise);
        }
    }
    uses
}

fn count(uses: &mut [usize], list: &[Handle<Action>]) {
    for action in list {
        if let Some(uses) = uses.get_mut(action.index()) {
            *uses += 1;
        }
    }
}

struct Writer<'m> {
    machine: &'m Machine,
    states: Tokens,
    events: Tokens,
    timers: Tokens,
    declared: Declared,
    uses: Vec<usize>,
    /// The indexes of the events that the document names so far.
    mentioned: BTreeSet<usize>,
    /// The indexes of the timers that it sets.
    scheduled: BTreeSet<usize>,
    text: String,
    depth: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes an element: `opening` is `<name attributes` without its end.
    fn element(&mut self, opening: &str, name: &str, body: impl FnOnce(&mut Self)) {
        let start = self.text.len();
        self.line(&format!("{opening}>"));
        let before_body = self.text.len();
        self.depth += 1;
        body(self);
        self.depth -= 1;
        if self.text.len() == before_body {
            self.text.truncate(start);
            self.line(&format!("{opening}/>"));
        } else {
            self.line(&format!("</{name}>"));
        }
    }

    fn names(&self, states: &[Handle<State>]) -> String {
        let names: Vec<String> = states
            .iter()
            .map(|state| escaped(self.states.get(state.index())))
            .collect();
        names.join(" ")
    }

    /// Writes the content of a state, or of the document.
    fn body(&mut self, handle: Handle<State>) {
        let machine = self.machine;
        let state = machine.states.at(handle);
        let is_root = handle == machine.root();
        if let Some(initial) = &state.initial
            && !initial.actions.is_empty()
            && !state.kind.is_history()
        {
            let name = if is_root {
                "statemark:initial"
            } else {
                "initial"
            };
            self.element(&format!("<{name}"), name, |writer| {
                writer.initial_transition(initial)
            });
        }
        for (name, actions) in [("onentry", &state.entry), ("onexit", &state.exit)] {
            if !actions.is_empty() {
                self.element(&format!("<{name}"), name, |writer| writer.actions(actions));
            }
        }
        if !is_root {
            for (_, transition) in machine.transitions_of(handle) {
                self.transition(transition, None);
            }
        }
        if state.parent == Some(machine.root()) && state.kind != StateKind::Final {
            for (index, (_, transition)) in machine.transitions_of(machine.root()).enumerate() {
                self.transition(transition, Some(index + 1));
            }
        }
        for &child in &state.children {
            self.state(child);
        }
    }

    /// Writes the transition of an initial state or of a history.
    fn initial_transition(&mut self, initial: &Initial) {
        let opening = format!("<transition target=\"{}\"", self.names(&initial.targets));
        self.element(&opening, "transition", |writer| {
            writer.actions(&initial.actions);
        });
    }

    fn state(&mut self, handle: Handle<State>) {
        let machine = self.machine;
        let state = machine.states.at(handle);
        let name = match state.kind {
            StateKind::Parallel => "parallel",
            StateKind::Final => "final",
            StateKind::History | StateKind::DeepHistory => "history",
            _ => "state",
        };
        let mut opening = format!(
            "<{name} id=\"{}\"",
            escaped(self.states.get(handle.index()))
        );
        if state.kind == StateKind::DeepHistory {
            opening.push_str(" type=\"deep\"");
        }
        if state.verdict == Verdict::Failure {
            opening.push_str(" statemark:verdict=\"failure\"");
        }
        if let Some(initial) = &state.initial {
            if state.kind.is_history() {
                self.element(&opening, name, |writer| writer.initial_transition(initial));
                return;
            }
            if initial.actions.is_empty() && !self.is_default(handle, initial) {
                let _ = write!(opening, " initial=\"{}\"", self.names(&initial.targets));
            }
        }
        self.element(&opening, name, |writer| writer.body(handle));
    }

    /// Returns true if a state begins at its first child, as it would by default.
    fn is_default(&self, state: Handle<State>, initial: &Initial) -> bool {
        let states = &self.machine.states;
        let mut children = states.at(state).children.iter();
        let first = children.find(|&&child| !states.at(child).kind.is_history());
        initial.targets.as_slice() == first.map_or(&[][..], std::slice::from_ref)
    }

    /// Writes a transition, or a copy of the root's with that number.
    fn transition(&mut self, transition: &Transition, of_root: Option<usize>) {
        let mut opening = String::from("<transition");
        if !transition.triggers.is_empty() {
            self.mentioned
                .extend(transition.triggers.iter().map(|event| event.index()));
            let mut names: Vec<String> = transition
                .triggers
                .iter()
                .map(|event| escaped(self.events.get(event.index())))
                .collect();
            // In an order that a reader can't change: events are numbered as the text names them.
            names.sort_unstable();
            let _ = write!(opening, " event=\"{}\"", names.join(" "));
        }
        if let Some(guard) = &transition.guard {
            let _ = write!(
                opening,
                " cond=\"{}\"",
                escaped(&self.expression(&guard.value))
            );
        }
        if !transition.targets.is_empty() {
            let _ = write!(opening, " target=\"{}\"", self.names(&transition.targets));
            // Elsewhere it says nothing: a transition is internal only of a compound state.
            let source = self.machine.states.at(transition.source).kind;
            if transition.internal && of_root.is_none() && source == StateKind::Compound {
                opening.push_str(" type=\"internal\"");
            }
        }
        if self.is_exact(transition) {
            opening.push_str(" statemark:exact=\"true\"");
        }
        if let Some(number) = of_root {
            let _ = write!(opening, " statemark:root=\"{number}\"");
        }
        self.element(&opening, "transition", |writer| {
            writer.actions(&transition.actions);
        });
    }

    /// Returns true if one of its triggers is a prefix of another event, by which it isn't triggered.
    fn is_exact(&self, transition: &Transition) -> bool {
        // `done` and `error` precede events that a reader adds where something waits for them.
        let engines = ["done", "done.state", "error"];
        let mut triggers = transition.triggers.iter();
        if triggers.any(|trigger| engines.contains(&self.events.get(trigger.index()))) {
            return true;
        }
        let others = self.machine.events.handles();
        let mut others = others.filter(|event| !transition.triggers.contains(event));
        others.any(|other| {
            let other = self.events.get(other.index());
            transition.triggers.iter().any(|trigger| {
                let rest = other.strip_prefix(self.events.get(trigger.index()));
                rest.is_some_and(|rest| rest.starts_with('.'))
            })
        })
    }
}

/// Names that white space parts in attributes, so that none may hold any: by index, each once.
#[derive(Debug)]
struct Tokens {
    names: Vec<String>,
}

impl Tokens {
    /// Collects names; what isn't written has none.
    ///
    /// `_` replaces what can't be in a list, and `*` in what may be descriptors.
    fn new<'n>(names: impl Iterator<Item = Option<&'n str>>, descriptors: bool) -> Self {
        let mut taken = BTreeSet::new();
        let token = |name: Option<&str>| {
            let Some(name) = name else {
                return String::new();
            };
            let plain: String = name
                .chars()
                .map(|letter| match letter {
                    '*' if descriptors => '_',
                    letter if letter.is_whitespace() || letter.is_control() => '_',
                    letter => letter,
                })
                .collect();
            let plain = match descriptors {
                true => plain.trim_end_matches('.'),
                false => &plain,
            };
            let mut token = if plain.is_empty() {
                "_".to_owned()
            } else {
                plain.to_owned()
            };
            while !taken.insert(token.clone()) {
                token.push('_');
            }
            token
        };
        Self {
            names: names.map(token).collect(),
        }
    }

    /// Returns the name of an index.
    fn get(&self, index: usize) -> &str {
        self.names.get(index).map_or("", String::as_str)
    }
}
