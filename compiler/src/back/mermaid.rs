//! Canonical diagrams.
//!
//! There is one statement a line, in document order. Each state's title, actions and transitions are together, in its
//! parent's body; a transition across bodies is in the innermost body around both of its ends, so that Mermaid draws every
//! state where it belongs. A transition into several regions is written as a fork.
//!
//! Parsing a diagram gives the same machine again, as far as a diagram can express it. Only a definition expresses:
//!
//! - data, assigned values and raised events, instructions, tools, limits and everything else that hosts read;
//! - the actions of a composite that has a title, or both entry and exit actions, because Mermaid allows it one text;
//! - that a transition to a state inside its source doesn't exit the source;
//! - a second history of a kind in one composite, and the ids of histories: Mermaid's are `X[H]` and `X[H*]`;
//! - transitions out of a region itself, and the ids of regions; a region with a name is drawn as a composite inside a
//!   region without one.

mod expression;
mod label;
mod plain;

use std::collections::BTreeMap;

pub use label::guard_text;
pub(crate) use label::{action_names, label, label_parts};

use crate::arena::Handle;
use crate::ir::{Direction, EventKind, Machine, State, StateKind, Transition};
use crate::valid::Valid;
use label::action_list;
use plain::{diagram_id, is_region};

/// Returns the diagram of a machine, with a line end after its last line.
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
    // An arrow names some state before its turn, so name every state first.
    let mut long = Writer::new(valid, true);
    long.diagram();
    long.text
}

struct Writer<'m> {
    machine: &'m Machine,
    text: String,
    depth: usize,
    /// True if every body starts with the names of its states.
    declare: bool,
    /// The number of other states mentioned before each state.
    mentioned: BTreeMap<Handle<State>, usize>,
    /// The body in which each transition is written.
    bodies: Vec<Handle<State>>,
    /// The number of forks written, which makes their names unique.
    forks: usize,
}

impl<'m> Writer<'m> {
    fn new(machine: &'m Machine, declare: bool) -> Self {
        Self {
            machine,
            text: String::new(),
            depth: 0,
            declare,
            mentioned: BTreeMap::new(),
            bodies: bodies(machine),
            forks: 0,
        }
    }

    /// Reports whether siblings are first mentioned in document order.
    fn names_in_order(&self) -> bool {
        self.machine.states.iter().all(|(_, state)| {
            let is_named = |child: &&Handle<State>| {
                !self.is_star(**child) && !is_region(self.machine, **child)
            };
            let named = state.children.iter().filter(is_named);
            named.map(|child| self.mentioned.get(child)).is_sorted()
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
                self.line(&format!("    {}", plain::text(line)));
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
        self.initial(scope);
        for child in children {
            self.state(child, scope);
        }
    }

    /// Writes the content of a composite: its body, or its regions with dividers.
    fn content(&mut self, handle: Handle<State>) {
        let machine = self.machine;
        let state = machine.states.at(handle);
        if state.kind != StateKind::Parallel {
            self.body(handle);
            return;
        }
        let (histories, regions): (Vec<_>, Vec<_>) = state
            .children
            .iter()
            .copied()
            .partition(|&child| machine.states.at(child).kind.is_history());
        for (index, &child) in regions.iter().enumerate() {
            if index > 0 {
                self.line("--");
            }
            if is_region(machine, child) {
                self.body(child);
            } else {
                // A region with a name becomes a composite in a region without one.
                let name = self.name(child);
                self.line(&format!("[*] --> {name}"));
                self.state(child, handle);
                if is_done_inside(machine, child) {
                    self.line(&format!("{name} --> [*]"));
                }
            }
        }
        for child in histories {
            self.state(child, handle);
        }
    }

    /// Writes the initial transition of a scope.
    ///
    /// That mentions a deeper state here, too, but it still belongs to the inner body, whose mentions take precedence.
    fn initial(&mut self, scope: Handle<State>) {
        let machine = self.machine;
        let Some(initial) = &machine.states.at(scope).initial else {
            return;
        };
        let label = with_colon(&action_list(machine, &initial.actions));
        let &[target] = initial.targets.as_slice() else {
            self.fork("[*]", &label, &initial.targets);
            return;
        };
        if self.is_star(target) {
            return;
        }
        self.introduce(target);
        let target = self.name(target);
        self.line(&format!("[*] --> {target}{label}"));
    }

    /// Writes a state's own lines, then its body, then its transitions that belong to this scope.
    fn state(&mut self, handle: Handle<State>, scope: Handle<State>) {
        let machine = self.machine;
        let state = &machine.states.at(handle);
        if state.kind.is_history() {
            self.history(handle);
            return;
        }
        let before = self.text.len();
        let named_before = self.mentioned.contains_key(&handle);
        let titles = state.title.iter().flat_map(|title| title.value.lines());
        let has_body = state.kind.has_children();
        let most = if has_body { 1 } else { usize::MAX };
        for line in titles.take(most) {
            let name = self.name(handle);
            self.line(&format!("{name} : {}", plain::text(line)));
        }
        // Mermaid allows one text for a composite: its title, or else its entry, or else its exit.
        let mut room = if has_body {
            usize::from(state.title.is_none())
        } else {
            2
        };
        for (keyword, actions) in [("entry", &state.entry), ("exit", &state.exit)] {
            let list = action_names(machine, actions);
            if !list.is_empty() && room > 0 {
                room -= 1;
                let name = self.name(handle);
                self.line(&format!("{name} : {keyword} / {list}"));
            }
        }
        if has_body {
            let name = self.name(handle);
            self.line(&format!("state {name} {{"));
            self.depth += 1;
            self.content(handle);
            self.depth -= 1;
            self.line("}");
        }
        let inner: Vec<Handle<State>> = (handle.index()..state.end).map(Handle::at).collect();
        for source in inner {
            for (index, transition) in machine.transitions_of(source) {
                let is_here = self.bodies.get(index.index()) == Some(&scope);
                if is_here
                    && !is_safe_next(machine, transition)
                    && !is_region(machine, source)
                    && self.child_of_scope(source, scope) == handle
                {
                    self.transition(transition);
                }
            }
        }
        if state.kind == StateKind::Final {
            // A final state of the definition is drawn as leading to the end; with the definition it is final again.
            let name = self.name(handle);
            self.line(&format!("{name} --> [*]"));
        }
        if self.text.len() == before && !(self.declare || named_before && scope == machine.root()) {
            let name = self.name(handle);
            self.line(&name);
        }
    }

    /// Writes a history, with its default transition unless that is the composite's initial one.
    fn history(&mut self, handle: Handle<State>) {
        let machine = self.machine;
        let was_named = self.mentioned.contains_key(&handle);
        let name = self.name(handle);
        let initial = machine.states.at(handle).initial.as_ref();
        if let Some(initial) = initial.filter(|initial| !initial.inferred) {
            let label = with_colon(&action_list(machine, &initial.actions));
            self.arrow(&name, &label, &initial.targets);
        } else if !was_named {
            self.line(&name);
        }
    }

    /// Returns the child of a scope that contains a state.
    fn child_of_scope(&self, state: Handle<State>, scope: Handle<State>) -> Handle<State> {
        let machine = self.machine;
        machine
            .ancestry(state)
            .take_while(|&ancestor| ancestor != scope)
            .last()
            .unwrap_or(state)
    }

    fn transition(&mut self, transition: &Transition) {
        let label = label(self.machine, transition);
        let source = self.name(transition.source);
        if transition.targets.is_empty() {
            self.line(&format!("{source} : {label}"));
        } else {
            self.arrow(&source, &with_colon(&label), &transition.targets);
        }
    }

    /// Writes an arrow to a state, to an end, or by a fork to several states.
    fn arrow(&mut self, source: &str, label: &str, targets: &[Handle<State>]) {
        let &[target] = targets else {
            self.fork(source, label, targets);
            return;
        };
        let target = if self.is_star(target) {
            "[*]".to_owned()
        } else {
            self.introduce(target);
            self.name(target)
        };
        self.line(&format!("{source} --> {target}{label}"));
    }

    /// Writes the names of the siblings before a state that is about to be mentioned.
    ///
    /// So the state keeps its position among them, even if the mention is outside of their body.
    fn introduce(&mut self, state: Handle<State>) {
        let machine = self.machine;
        let parent = machine.states.at(state).parent;
        if !self.declare || self.mentioned.contains_key(&state) {
            return;
        }
        let siblings = parent.map_or(&[][..], |parent| &machine.states.at(parent).children);
        for &sibling in siblings.iter().take_while(|&&sibling| sibling != state) {
            let has_name = !self.is_star(sibling) && !is_region(machine, sibling);
            if has_name && !self.mentioned.contains_key(&sibling) {
                let name = self.name(sibling);
                self.line(&name);
            }
        }
    }

    /// Reports whether a state is written as `[*]`.
    fn is_star(&self, state: Handle<State>) -> bool {
        self.machine.states.at(state).implied
            && self.machine.states.at(state).kind == StateKind::Final
    }

    fn name(&mut self, state: Handle<State>) -> String {
        let count = self.mentioned.len();
        self.mentioned.entry(state).or_insert(count);
        diagram_id(self.machine, state)
    }

    /// Writes an arrow to a fork, with its label, and from there one to each target.
    ///
    /// Without targets it writes nothing.
    fn fork(&mut self, source: &str, label: &str, targets: &[Handle<State>]) {
        if targets.is_empty() {
            return;
        }
        for &target in targets {
            self.introduce(target);
        }
        let fork = self.fork_id();
        self.line(&format!("state {fork} <<fork>>"));
        self.line(&format!("{source} --> {fork}{label}"));
        for &target in targets {
            let target = self.name(target);
            self.line(&format!("{fork} --> {target}"));
        }
    }

    /// Returns an id that no state has.
    fn fork_id(&mut self) -> String {
        loop {
            self.forks += 1;
            let id = format!("fork_{}", self.forks);
            if self.machine.states.iter().all(|(_, state)| state.id != id) {
                return id;
            }
        }
    }
}

/// Reports whether a transition is taken on unknown names, which only a definition can express.
fn is_safe_next(machine: &Machine, transition: &Transition) -> bool {
    let mut triggers = transition.triggers.iter();
    triggers.any(|&event| machine.events.at(event).kind == EventKind::Unknown)
}

/// Returns the body in which each transition is written: the innermost around both ends.
///
/// A later transition of the same source is written no deeper, because a body is written before the lines after it.
fn bodies(machine: &Machine) -> Vec<Handle<State>> {
    let mut bodies: Vec<Handle<State>> = Vec::with_capacity(machine.transitions.len());
    let mut previous: Option<(Handle<State>, Handle<State>)> = None;
    for (_, transition) in machine.transitions.iter() {
        let source = transition.source;
        let parent = machine.states.at(source).parent.unwrap_or(source);
        let contains_all = |scope: &Handle<State>| {
            let contains =
                |&target: &Handle<State>| target != *scope && machine.is_within(target, *scope);
            // Between the regions of a parallel state there is no body.
            machine.states.at(*scope).kind != StateKind::Parallel
                && transition.targets.iter().all(contains)
        };
        let mut body = machine
            .ancestry(parent)
            .find(contains_all)
            .unwrap_or(machine.root());
        let is_end = transition
            .target()
            .is_some_and(|target| machine.states.at(target).implied);
        if let Some((_, outer)) = previous.filter(|(other, _)| *other == source)
            && machine.is_within(body, outer)
            && !is_end
        {
            body = outer;
        }
        previous = Some((source, body));
        bodies.push(body);
    }
    bodies
}

/// Reports whether a state has a final child.
fn is_done_inside(machine: &Machine, state: Handle<State>) -> bool {
    let mut children = machine.states.at(state).children.iter();
    children.any(|&child| machine.states.at(child).kind == StateKind::Final)
}

/// Prefixes a label with a colon, if there is one.
fn with_colon(label: &str) -> String {
    if label.is_empty() {
        String::new()
    } else {
        format!(" : {label}")
    }
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::TopBottom => "TB",
        Direction::BottomTop => "BT",
        Direction::LeftRight => "LR",
        Direction::RightLeft => "RL",
    }
}

#[cfg(test)]
mod tests {
    use crate::source::Sources;
    use crate::{Options, compile};

    fn written(name: &str, text: &str) -> String {
        let mut sources = Sources::new();
        sources.add(name, text);
        // A host answers guards that nothing defines wherever they stand; a sender's claims come with events alone.
        let options = Options {
            for_rust: true,
            ..Options::default()
        };
        let compiled = compile(&sources, &options);
        assert_eq!(compiled.machines.len(), 1, "{:#?}", compiled.diagnostics);
        super::write(&compiled.machines[0])
    }

    #[test]
    fn what_is_written_reads_back() {
        for (part, text) in [
            (
                "[*] --> low",
                "stateDiagram-v2\n[*] --> low\nstate on {\n[*] --> high\nhigh --> low : down\nlow --> high : up\n}\non --> [*] : off\n",
            ),
            (
                "[*] --> low",
                "stateDiagram-v2\n[*] --> box\nstate box {\n[*] --> low : / act()\nstate on {\n[*] --> high\nhigh --> low : down\nlow --> high : up\n}\n}\nbox --> [*] : off\n",
            ),
            (
                "a --> c : [else]",
                "stateDiagram-v2\n[*] --> a\na --> b : [ready]\na --> c : [else]\nb --> [*] : end\nc --> [*] : end\n",
            ),
            (
                "fork_1 --> b2",
                "stateDiagram-v2\n    [*] --> idle\n    idle --> Work[H] : resume\n    idle --> split : begin [ready] / log()\n    idle --> Busy : go\n    state split <<fork>>\n    split --> b2\n    split --> d2\n    state Busy {\n        [*] --> a\n        a --> b2 : next\n        b2 --> [*] : after 90s\n        --\n        [*] --> c\n        c --> d2 : next\n        d2 --> [*]\n        c --> e : skip [n > 3 && m == \"x\"]\n        e --> d2 : after 2m\n    }\n    Busy --> idle : stop\n    Busy --> Work\n    Busy : entry / start()\n    state Work {\n        [*] --> w1\n        w1 --> w2 : step\n        w2 --> w1 : back\n        [H*] --> w2\n    }\n    idle --> Work[H*] : deep\n    Work --> f : fork_it\n    state f <<fork>>\n    state j <<join>>\n    f --> x\n    f --> y\n    x --> j : x_ok\n    y --> y2 : mid\n    y2 --> j\n    j --> idle\n    Work --> check : try\n    state check <<choice>>\n    check --> idle : [ok]\n    check --> [*] : [else]\n",
            ),
            (
                "a : one#59; #35;2",
                "stateDiagram-v2\n[*] --> a\na : one#59; #2\na --> [*] : end\nnote right of a : x#59; y\n",
            ),
        ] {
            let once = written("spec.mmd", text);
            assert!(once.contains(part), "{once}");
            assert_eq!(written("spec.mmd", &once), once);
        }
    }

    #[test]
    fn the_way_for_unknown_events_is_not_drawn() {
        let once = written(
            "spec.workflow.json",
            r#"{ "initial": "a", "states": { "a": { "on": { "go": "b" }, "safe_next": "b" }, "b": { "type": "final" } } }"#,
        );
        assert!(!once.contains("error."), "{once}");
    }
}
