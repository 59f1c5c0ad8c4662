//! The canonical diagram of a machine.
//!
//! One statement a line, in document order: each state's title, actions and transitions stand together, in the body of the
//! state around it; a transition that crosses bodies stands in the innermost body around both ends, so that Mermaid draws
//! every state where it belongs. Reading what was written gives the same machine, as far as a diagram can say it: guards
//! that compare fields are written as conditions, and data, instructions and tools have no place in a diagram.

mod expression;
mod label;
mod plain;

use std::collections::BTreeMap;

pub use label::guard_text;
pub(crate) use label::label;

use crate::arena::Handle;
use crate::ir::{Direction, EventKind, Machine, State, StateKind, Transition};
use crate::valid::Valid;
use label::{action_list, action_names};
use plain::diagram_id;

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
    /// By state: how many others were mentioned before it.
    mentioned: BTreeMap<Handle<State>, usize>,
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
            mentioned: BTreeMap::new(),
            places: places(machine),
        }
    }

    /// Whether siblings are first mentioned in document order.
    fn names_in_order(&self) -> bool {
        self.machine.states.iter().all(|(_, state)| {
            let named = state.children.iter().filter(|&&child| !self.is_star(child));
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

    /// Where a scope begins. A state further inside is mentioned here, too, but belongs to the body inside, because
    /// mentions there beat those around; so that it keeps its place among its siblings, those before it are named first.
    fn initial(&mut self, scope: Handle<State>) {
        let machine = self.machine;
        let Some(initial) = &machine.states.at(scope).initial else {
            return;
        };
        let Some(&target) = initial.targets.first() else {
            return;
        };
        let parent = machine.states.at(target).parent;
        if self.is_star(target) {
            return;
        }
        if let Some(parent) = parent.filter(|&parent| parent != scope && self.declare) {
            let siblings = &machine.states.at(parent).children;
            for &sibling in siblings.iter().take_while(|&&sibling| sibling != target) {
                let name = self.name(sibling);
                self.line(&name);
            }
        }
        let actions = action_list(machine, &initial.actions);
        let label = if actions.is_empty() {
            String::new()
        } else {
            format!(" : {actions}")
        };
        let target = self.name(target);
        self.line(&format!("[*] --> {target}{label}"));
    }

    /// A state's own lines, then its body, then the transitions that stand in this scope.
    fn state(&mut self, handle: Handle<State>, scope: Handle<State>) {
        let machine = self.machine;
        let state = &machine.states.at(handle);
        let before = self.text.len();
        let named_before = self.mentioned.contains_key(&handle);
        let titles = state.title.iter().flat_map(|title| title.value.lines());
        let most = if state.kind == StateKind::Compound {
            1
        } else {
            usize::MAX
        };
        for line in titles.take(most) {
            let name = self.name(handle);
            self.line(&format!("{name} : {}", plain::text(line)));
        }
        // Mermaid takes one text for a composite: its title, else its entry, else its exit.
        let mut room = if state.kind == StateKind::Compound {
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
                if stands_here
                    && !is_safe_next(machine, transition)
                    && self.top_in(source, scope) == handle
                {
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
        let line = match transition.target() {
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
        let count = self.mentioned.len();
        self.mentioned.entry(state).or_insert(count);
        diagram_id(self.machine, state)
    }
}

/// Whether a transition is the way for names that the machine doesn't have; only a definition can say that.
fn is_safe_next(machine: &Machine, transition: &Transition) -> bool {
    let mut triggers = transition.triggers.iter();
    triggers.any(|&event| machine.events.at(event).kind == EventKind::Unknown)
}

/// The bodies where the transitions stand: the innermost around both ends. What comes behind a transition of the same
/// source stands no further in, because a body is written before what stands behind it.
fn places(machine: &Machine) -> Vec<Handle<State>> {
    let mut places: Vec<Handle<State>> = Vec::with_capacity(machine.transitions.len());
    let mut before: Option<(Handle<State>, Handle<State>)> = None;
    for (_, transition) in machine.transitions.iter() {
        let source = transition.source;
        let parent = machine.states.at(source).parent.unwrap_or(source);
        let mut place = transition.target().map_or(parent, |target| {
            let around =
                |scope: &Handle<State>| target != *scope && machine.is_within(target, *scope);
            machine
                .ancestry(parent)
                .find(around)
                .unwrap_or(machine.root())
        });
        let is_end = transition
            .target()
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
        let compiled = compile(&sources, &Options::default());
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
