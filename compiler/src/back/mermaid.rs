//! The canonical diagram of a machine.
//!
//! One statement a line, in document order: each state's title, actions and transitions stand together, in the body of the
//! state around it; a transition that crosses bodies stands in the innermost body around both ends, so that Mermaid draws
//! every state where it belongs. Reading what was written gives the same machine, as far as a diagram can say it: guards
//! that compare fields are written as conditions, and data, instructions and tools have no place in a diagram.

use std::collections::BTreeSet;

use crate::arena::Handle;
use crate::ir::{
    Action, Constant, Direction, EventKind, Guard, Machine, State, StateKind, Transition,
};
use crate::lower::guard_words;
use crate::lower::words::slug;
use crate::valid::Valid;

/// The diagram, with a line end behind its last line.
///
/// ```
/// use statemark_compiler::{Options, back, compile, source::Sources};
///
/// let mut sources = Sources::new();
/// sources.add("door.mmd", "stateDiagram-v2\n[*]-->shut\nshut-->open:push\nopen-->shut:pull");
/// let compiled = compile(&sources, &Options::default());
/// assert_eq!(
///     back::mermaid::write(&compiled.machines[0]),
///     "stateDiagram-v2\n    [*] --> shut\n    shut --> open : push\n    open --> shut : pull\n"
/// );
/// ```
#[must_use]
pub fn write(valid: &Valid) -> String {
    let mut short = Writer::new(valid, false);
    short.diagram();
    if short.names_in_order() {
        return short.text;
    }
    // Some state would be named by an arrow before its turn: name every state first.
    let mut long = Writer::new(valid, true);
    long.diagram();
    long.text
}

struct Writer<'m> {
    machine: &'m Machine,
    text: String,
    depth: usize,
    /// Whether every body begins with the names of its states.
    declare: bool,
    /// The states in the order of their first mention.
    mentioned: Vec<Handle<State>>,
    known: BTreeSet<Handle<State>>,
    /// By transition: the body where it stands.
    places: Vec<Handle<State>>,
}

impl<'m> Writer<'m> {
    fn new(machine: &'m Machine, declare: bool) -> Self {
        Self {
            machine,
            text: String::new(),
            depth: 0,
            declare,
            mentioned: Vec::new(),
            known: BTreeSet::new(),
            places: places(machine),
        }
    }

    /// Whether siblings are first mentioned in document order.
    fn names_in_order(&self) -> bool {
        let position = |state: &Handle<State>| self.mentioned.iter().position(|seen| seen == state);
        self.machine.states.iter().all(|(_, state)| {
            let named = state.children.iter().filter(|&&child| !self.is_star(child));
            let positions: Vec<Option<usize>> = named.map(position).collect();
            positions.is_sorted()
        })
    }

    fn diagram(&mut self) {
        self.line("stateDiagram-v2");
        self.depth = 1;
        if let Some(direction) = self.machine.direction {
            self.line(&format!("direction {}", direction_name(direction)));
        }
        self.body(self.machine.root());
        for note in &self.machine.notes {
            let side = if note.left { "left" } else { "right" };
            let id = diagram_id(self.machine, note.state);
            self.line(&format!("note {side} of {id}"));
            for line in note.text.lines().map(str::trim) {
                self.line(&format!("    {line}"));
            }
            self.line("end note");
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(&"    ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn body(&mut self, scope: Handle<State>) {
        let machine = self.machine;
        let children: Vec<Handle<State>> = machine
            .states
            .at(scope)
            .children
            .iter()
            .copied()
            .filter(|&child| !self.is_star(child))
            .collect();
        if self.declare {
            for &child in &children {
                let name = self.name(child);
                self.line(&name);
            }
        }
        if let Some(initial) = &machine.states.at(scope).initial
            && machine.states.at(scope).children.contains(&initial.target)
        {
            let actions = action_list(machine, &initial.actions);
            let label = if actions.is_empty() {
                String::new()
            } else {
                format!(" : {actions}")
            };
            let target = self.name(initial.target);
            self.line(&format!("[*] --> {target}{label}"));
        }
        for child in children {
            self.state(child, scope);
        }
    }

    /// A state's own lines, then its body, then the transitions that stand in this scope.
    fn state(&mut self, handle: Handle<State>, scope: Handle<State>) {
        let machine = self.machine;
        let state = &machine.states.at(handle);
        let before = self.text.len();
        let named_before = self.known.contains(&handle);
        let titles = state.title.iter().flat_map(|title| title.value.lines());
        let most = if state.kind == StateKind::Compound {
            1
        } else {
            usize::MAX
        };
        for line in titles.take(most) {
            let name = self.name(handle);
            self.line(&format!("{name} : {line}"));
        }
        // Mermaid takes one text for a composite: its title, else its entry, else its exit.
        let mut room = if state.kind == StateKind::Compound {
            usize::from(state.title.is_none())
        } else {
            2
        };
        for (keyword, actions) in [("entry", &state.entry), ("exit", &state.exit)] {
            if !actions.is_empty() && room > 0 {
                room -= 1;
                let name = self.name(handle);
                let list = action_names(machine, actions);
                self.line(&format!("{name} : {keyword} / {list}"));
            }
        }
        if state.kind == StateKind::Compound {
            let name = self.name(handle);
            self.line(&format!("state {name} {{"));
            self.depth += 1;
            self.body(handle);
            self.depth -= 1;
            self.line("}");
        }
        let inner: Vec<Handle<State>> = (handle.index()..state.end).map(Handle::at).collect();
        for source in inner {
            for (index, transition) in machine.transitions_of(source) {
                let stands_here = self.places.get(index.index()) == Some(&scope);
                if stands_here && self.top_in(source, scope) == handle {
                    self.transition(transition);
                }
            }
        }
        if state.kind == StateKind::Final {
            // Final by its definition: drawn as what leads to the end, and read back beside that definition as final.
            let name = self.name(handle);
            self.line(&format!("{name} --> [*]"));
        }
        if self.text.len() == before && !(self.declare || named_before && scope == machine.root()) {
            let name = self.name(handle);
            self.line(&name);
        }
    }

    /// The child of a scope that holds a state.
    fn top_in(&self, state: Handle<State>, scope: Handle<State>) -> Handle<State> {
        let machine = self.machine;
        machine
            .ancestry(state)
            .take_while(|&around| around != scope)
            .last()
            .unwrap_or(state)
    }

    fn transition(&mut self, transition: &Transition) {
        let label = label(self.machine, transition);
        let source = self.name(transition.source);
        let line = match transition.target {
            None => format!("{source} : {label}"),
            Some(target) => {
                let target = if self.is_star(target) {
                    "[*]".to_owned()
                } else {
                    self.name(target)
                };
                let label = if label.is_empty() {
                    label
                } else {
                    format!(" : {label}")
                };
                format!("{source} --> {target}{label}")
            }
        };
        self.line(&line);
    }

    /// Whether a state is written as `[*]`.
    fn is_star(&self, state: Handle<State>) -> bool {
        self.machine.states.at(state).implied
            && self.machine.states.at(state).kind == StateKind::Final
    }

    fn name(&mut self, state: Handle<State>) -> String {
        if self.known.insert(state) {
            self.mentioned.push(state);
        }
        diagram_id(self.machine, state)
    }
}

/// The bodies where the transitions stand: the innermost around both ends. What comes behind a transition of the same
/// source stands no further in, because a body is written before what stands behind it.
fn places(machine: &Machine) -> Vec<Handle<State>> {
    let mut places: Vec<Handle<State>> = Vec::with_capacity(machine.transitions.len());
    let mut before: Option<(Handle<State>, Handle<State>)> = None;
    for (_, transition) in machine.transitions.iter() {
        let source = transition.source;
        let parent = machine.states.at(source).parent.unwrap_or(source);
        let mut place = transition.target.map_or(parent, |target| {
            let around =
                |scope: &Handle<State>| target != *scope && machine.is_within(target, *scope);
            machine
                .ancestry(parent)
                .find(around)
                .unwrap_or(machine.root())
        });
        let is_end = transition
            .target
            .is_some_and(|target| machine.states.at(target).implied);
        if let Some((_, outer)) = before.filter(|(of, _)| *of == source)
            && machine.is_within(place, outer)
            && !is_end
        {
            place = outer;
        }
        before = Some((source, place));
        places.push(place);
    }
    places
}

/// The id as Mermaid can read it back: one with a character that ends an id is written as an identifier, one without any
/// letter by its number.
fn diagram_id(machine: &Machine, state: Handle<State>) -> String {
    let id = &machine.states.at(state).id;
    const KEYWORDS: [&str; 13] = [
        "acctitle",
        "accdescr",
        "state",
        "note",
        "class",
        "classdef",
        "style",
        "scale",
        "click",
        "href",
        "default",
        "statediagram",
        "statediagram-v2",
    ];
    let plain = !id.is_empty()
        && id.chars().all(|c| !c.is_whitespace() && !":-{".contains(c))
        && !id.starts_with(['#', '"', '}'])
        && !id.contains("%%")
        && !begins_with_keyword(id)
        && id != "[*]";
    if KEYWORDS.contains(&id.to_ascii_lowercase().as_str()) {
        return format!("{id}_");
    }
    if plain {
        return id.to_owned();
    }
    match slug(&id.replace('-', "_")) {
        name if name.is_empty() => format!("state_{}", state.index()),
        name => name,
    }
}

/// Whether Mermaid's lexer takes the beginning of an id for a keyword: its rules for these end at a word's end, and come
/// before the rule for ids.
fn begins_with_keyword(id: &str) -> bool {
    let lower = id.to_ascii_lowercase();
    ["click", "href", "default"].iter().any(|keyword| {
        let rest = lower.strip_prefix(keyword);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::TopBottom => "TB",
        Direction::BottomTop => "BT",
        Direction::LeftRight => "LR",
        Direction::RightLeft => "RL",
    }
}

/// A transition's label in the language's grammar; empty for the completion of its source.
pub(crate) fn label(machine: &Machine, transition: &Transition) -> String {
    let completes = transition
        .triggers
        .iter()
        .all(|&event| machine.events.at(event).kind == EventKind::Completion(transition.source));
    let mut parts = Vec::new();
    if transition.triggers.is_empty() {
        if transition.guard.is_none() {
            parts.push("[always]".to_owned());
        }
    } else if !completes {
        let ids: Vec<&str> = transition
            .triggers
            .iter()
            .map(|&event| machine.events.at(event).id.as_str())
            .collect();
        parts.push(ids.join(", "));
    }
    if let Some(guard) = &transition.guard {
        let written = transition
            .label
            .as_ref()
            .and_then(|label| guard_words(&label.value));
        parts.push(format!(
            "[{}]",
            written.unwrap_or_else(|| guard_text(machine, &guard.value))
        ));
    }
    let actions = action_list(machine, &transition.actions);
    if !actions.is_empty() {
        parts.push(actions);
    }
    parts.join(" ")
}

fn action_list(machine: &Machine, actions: &[Handle<Action>]) -> String {
    if actions.is_empty() {
        String::new()
    } else {
        format!("/ {}", action_names(machine, actions))
    }
}

fn action_names(machine: &Machine, actions: &[Handle<Action>]) -> String {
    let names = actions
        .iter()
        .map(|&action| format!("{}()", machine.actions.at(action).name));
    names.collect::<Vec<_>>().join(", ")
}

/// A guard as its author would write it between brackets.
#[must_use]
pub fn guard_text(machine: &Machine, guard: &Guard) -> String {
    match guard {
        Guard::Ask(host) => machine.guards.at(*host).text.clone(),
        Guard::Compare {
            field,
            operator,
            constants,
        } => {
            let field = &machine.fields.at(*field).path;
            let values: Vec<String> = constants.iter().map(constant_text).collect();
            let first = values.first().map_or("", String::as_str);
            use statemark_runtime::Operator;
            match operator {
                Operator::Eq => format!("{field} == {first}"),
                Operator::Neq => format!("{field} != {first}"),
                Operator::Gt => format!("{field} > {first}"),
                Operator::Gte => format!("{field} >= {first}"),
                Operator::Lt => format!("{field} < {first}"),
                Operator::Lte => format!("{field} <= {first}"),
                Operator::In => format!("{field} in [{}]", values.join(", ")),
                Operator::Contains => format!("{field}.contains({first})"),
                Operator::Exists => format!("has({field})"),
                _ => format!("!has({field})"),
            }
        }
        Guard::All(parts) => joined(machine, parts, " && ", "true"),
        Guard::Any(parts) => joined(machine, parts, " || ", "false"),
        Guard::Not(inner) => format!("!({})", guard_text(machine, inner)),
    }
}

fn joined(machine: &Machine, parts: &[Guard], operator: &str, empty: &str) -> String {
    let nested = |part: &Guard| match part {
        Guard::All(_) | Guard::Any(_) => format!("({})", guard_text(machine, part)),
        _ => guard_text(machine, part),
    };
    let texts: Vec<String> = parts.iter().map(nested).collect();
    if texts.is_empty() {
        empty.to_owned()
    } else {
        texts.join(operator)
    }
}

fn constant_text(constant: &Constant) -> String {
    match constant {
        Constant::Null => "null".to_owned(),
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        Constant::Float(value) => format!("{value:?}"),
        Constant::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
    }
}
