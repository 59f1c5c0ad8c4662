//! A machine written as SCXML and read back is the same machine, as far as SCXML with our namespace can say it.
//!
//! Every spec of the project that compiles is written and read, and so are the documents in `scxml/`, which have what a
//! spec can't say. Names of actions that the engine carries out are left out of the comparison, as are titles and what
//! only hosts read.

use statemark_compiler::arena::Handle;
use statemark_compiler::back;
use statemark_compiler::diag::Diags;
use statemark_compiler::ir::{
    Action, ActionKind, BinaryOperator, Constant, Event, EventKind, Expression, ExpressionKind,
    Machine, State, StateKind,
};
use statemark_compiler::valid::{self, Valid};
use statemark_harness::relative;
use statemark_runtime::{
    self as runtime, ActionId, GuardId, Host, StepError, Table, decode, verify,
};

use crate::random::{self, Shape};
use crate::specs::{compile_text, each_machine};

/// All that an engine does of a machine, by names.
pub(crate) fn outline(machine: &Machine) -> String {
    let context = machine.context.as_ref().map(ToString::to_string);
    let context = context.filter(|context| context != "{}");
    let mut lines = format!("{}: {context:?}\n", machine.id.value);
    let mut events: Vec<String> = machine
        .events
        .iter()
        .map(|(_, event)| match event.kind {
            EventKind::Completion(state) => {
                format!("{} of {}", event.id, state.index())
            }
            kind => format!("{} {kind:?}", event.id),
        })
        .collect();
    events.sort_unstable();
    let mut timers: Vec<String> = machine
        .timers
        .iter()
        .map(|(_, timer)| {
            let of = timer.of.map(Handle::index);
            format!(
                "{} sends {} {of:?}",
                timer.name,
                machine.events.at(timer.event).id
            )
        })
        .collect();
    timers.sort_unstable();
    lines += &format!("{events:#?}\n{timers:#?}\n");
    for (handle, state) in machine.states.iter() {
        let parent = state.parent.map(Handle::index);
        lines += &format!(
            "{} {} in {parent:?} {:?} {:?}\n",
            handle.index(),
            state.id,
            state.kind,
            state.verdict
        );
        if let Some(initial) = &state.initial {
            let targets = indexes(&initial.targets);
            lines += &format!(
                "  begins at {targets} {}\n",
                actions(machine, &initial.actions)
            );
        }
        lines += &format!("  entry {}\n", actions(machine, &state.entry));
        lines += &format!("  exit {}\n", actions(machine, &state.exit));
        for (_, transition) in machine.transitions_of(handle) {
            let mut events: Vec<&str> = transition
                .triggers
                .iter()
                .map(|&event| machine.events.at(event).id.as_str())
                .collect();
            events.sort_unstable();
            let guard = transition.guard.as_ref();
            let guard = guard.map_or_else(String::new, |guard| value(machine, &guard.value));
            // The root is never left, and a transition with targets is internal only of a compound state.
            let is_compound = state.kind == StateKind::Compound && handle != machine.root();
            let internal = transition.internal && is_compound;
            lines += &format!(
                "  {} [{guard}] {} -> {} {internal}\n",
                events.join(" "),
                actions(machine, &transition.actions),
                indexes(&transition.targets),
            );
        }
    }
    for ambiguity in &machine.ambiguities {
        let event = |event: Handle<Event>| machine.events.at(event).id.as_str();
        let mut events: Vec<&str> = ambiguity.events.iter().map(|it| event(*it)).collect();
        events.sort_unstable();
        let (source, label) = (ambiguity.source.index(), event(ambiguity.label));
        lines += &format!("{label} in {source} means {events:?}\n");
    }
    lines
}

fn indexes(states: &[Handle<State>]) -> String {
    let indexes: Vec<String> = states
        .iter()
        .map(|state| state.index().to_string())
        .collect();
    indexes.join(" ")
}

fn actions(machine: &Machine, list: &[Handle<Action>]) -> String {
    let said: Vec<String> = list.iter().map(|&action| doing(machine, action)).collect();
    format!("/ {}", said.join(", "))
}

fn doing(machine: &Machine, action: Handle<Action>) -> String {
    let action = machine.actions.at(action);
    let timer = |timer| &machine.timers.at(timer).name;
    match &action.kind {
        ActionKind::Host => action.name.clone(),
        ActionKind::Fallible => format!("try {}", action.name),
        ActionKind::Raise(event) => format!("raise {}", machine.events.at(*event).id),
        ActionKind::Schedule(of, delay) => format!("schedule {} {delay}", timer(*of)),
        ActionKind::Cancel(of) => format!("cancel {}", timer(*of)),
        ActionKind::Assign(list) => {
            let said = list.iter().map(|assign| {
                let field = &machine.fields.at(assign.field).path;
                format!("{field} = {}", value(machine, &assign.value))
            });
            format!("({})", said.collect::<Vec<_>>().join(", "))
        }
        ActionKind::If {
            guard,
            then,
            otherwise,
        } => format!(
            "if {} {{ {} }} else {{ {} }}",
            value(machine, guard),
            actions(machine, then),
            actions(machine, otherwise)
        ),
    }
}

/// Parts between `&&` or `||`. Inside a list of the same sign they are parts of that: both mean the same.
fn list(machine: &Machine, parts: &[Expression], sign: &str, around: &str) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| value_in(machine, part, sign))
        .collect();
    let joined = parts.join(sign);
    if sign == around {
        joined
    } else {
        format!("({joined})")
    }
}

const AND: &str = " && ";
const OR: &str = " || ";

fn value(machine: &Machine, expression: &Expression) -> String {
    value_in(machine, expression, "")
}

fn value_in(machine: &Machine, expression: &Expression, around: &str) -> String {
    match &expression.kind {
        ExpressionKind::Constant(Constant::Bool(constant)) => constant.to_string(),
        ExpressionKind::Constant(constant) => format!("{constant:?}"),
        ExpressionKind::Field(field) => machine.fields.at(*field).path.clone(),
        ExpressionKind::Has(field) => format!("has({})", machine.fields.at(*field).path),
        ExpressionKind::InState(state) => format!("in {}", state.index()),
        ExpressionKind::Ask(host) => format!("?{}", machine.guards.at(*host).name),
        ExpressionKind::Not(inner) => format!("!{}", value(machine, inner)),
        ExpressionKind::Compare {
            field,
            operator,
            constants,
        } => format!(
            "{} {operator:?} {constants:?}",
            machine.fields.at(*field).path
        ),
        ExpressionKind::And(parts) => list(machine, parts, AND, around),
        ExpressionKind::Or(parts) => list(machine, parts, OR, around),
        ExpressionKind::Unary(operator, inner) => {
            format!("{operator:?}({})", value(machine, inner))
        }
        // SCXML has no schema, and so no bounds of fields.
        ExpressionKind::Binary(BinaryOperator::AtLeast | BinaryOperator::AtMost, operands) => {
            value(machine, &operands[0])
        }
        ExpressionKind::Binary(operator, operands) => {
            let [left, right] = operands.as_ref();
            let (left, right) = (value(machine, left), value(machine, right));
            format!("({left} {operator:?} {right})")
        }
        ExpressionKind::Among(inner, constants) => {
            format!("({} in {constants:?})", value(machine, inner))
        }
    }
}

/// Writes a machine, reads it back and compares. `Err` says what differs.
pub(crate) fn round_trip(machine: &Valid) -> Result<(), String> {
    let written = back::scxml::write(machine);
    let (_, again) = compile_text("again.scxml", &written);
    let Some(read) = again.machines.first() else {
        let told: Vec<&str> = again
            .diagnostics
            .iter()
            .map(|diagnostic| diagnostic.message.as_str())
            .collect();
        return Err(format!("{written}\n{told:#?}\n"));
    };
    let (before, after) = (outline(machine), outline(read));
    if before != after {
        let differs = before.lines().zip(after.lines());
        let first = differs.into_iter().find(|(one, other)| one != other);
        return Err(format!("{written}\n{first:?}\n"));
    }
    let rewritten = back::scxml::write(read);
    if rewritten != written {
        return Err(format!("written again:\n{written}\n{rewritten}\n"));
    }
    Ok(())
}

#[test]
fn what_is_written_as_scxml_reads_back_as_the_same_machine() {
    let folders = [
        "examples",
        "tests/corpus",
        "tests/engines",
        "tests/scxml",
        "skills",
    ];
    let mut compared = 0;
    let mut faults = String::new();
    each_machine(&folders, |path, machine| {
        compared += 1;
        if let Err(fault) = round_trip(machine) {
            faults += &format!("{}:\n{fault}\n", relative(path));
        }
    });
    assert!(faults.is_empty(), "{faults}");
    assert!(compared >= 50, "only {compared} machines were compared");
}

/// How many random machines of each shape are written and read.
const RANDOM: u64 = 300;

#[test]
fn random_machines_read_back_as_they_are() {
    let shapes = [Shape::plain, Shape::any];
    let mut faults = String::new();
    let mut compared = 0;
    for (kind, shape) in shapes.iter().enumerate() {
        for seed in 0..RANDOM {
            let shape = Shape {
                bounds: false,
                ..shape(seed)
            };
            let machine = random::machine(seed, shape);
            let Some(valid) = valid::check(machine, false, &mut Diags::new()) else {
                continue;
            };
            compared += 1;
            if let Err(fault) = round_trip(&valid) {
                faults += &format!("shape {kind}, seed {seed}:\n{fault}\n");
            }
        }
        if !faults.is_empty() {
            break;
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(compared >= RANDOM, "only {compared} machines were compared");
}

/// What surrounds a machine: it answers guards by name and moment, and notes what is done. The data are never there.
struct Surroundings<'t> {
    table: &'t Table,
    moment: usize,
    done: Vec<String>,
}

impl Host for Surroundings<'_> {
    fn guard(&mut self, guard: GuardId) -> bool {
        let name = self.table.guard_name(guard);
        (name.bytes().map(usize::from).sum::<usize>() + self.moment).is_multiple_of(2)
    }

    fn action(&mut self, action: ActionId) {
        self.done.push(self.table.action_name(action).to_owned());
    }
}

/// What a machine does when the events are sent to it: outcomes, leaves, and actions of the host's.
fn played(valid: &Valid, events: &[&str]) -> Vec<String> {
    let sections = decode(&back::table::write(valid)).expect("a table");
    let table = verify(sections).expect("a table");
    let surroundings = Surroundings {
        table: &table,
        moment: 0,
        done: Vec::new(),
    };
    let mut told = Vec::new();
    let mut machine = match runtime::Machine::start(&table, surroundings) {
        Ok(machine) => machine,
        Err(StepError::NoValue(action)) => return vec![table.action_name(action).to_owned()],
        Err(error) => return vec![error.to_string()],
    };
    // A machine that runs in circles shows it soon enough.
    machine.set_step_limit(50);
    for event in events {
        let leaves = machine.configuration().leaves();
        let leaves: Vec<_> = leaves.map(|leaf| table.state_name(leaf)).collect();
        told.push(format!("{leaves:?} {:?}", machine.host().done));
        machine.host_mut().moment += 1;
        machine.host_mut().done.clear();
        let event = table.event_named(event).expect("an event of both");
        told.push(match machine.send(event) {
            // Numbers of actions are those of the text, and so not the same.
            Err(StepError::NoValue(action)) => table.action_name(action).to_owned(),
            outcome => format!("{outcome:?}"),
        });
    }
    told
}

/// An engine that doesn't know our namespace takes the copies of the root's transitions for what they are.
#[test]
fn copies_of_the_roots_transitions_do_what_those_would() {
    let mut compared = 0;
    for seed in 0..RANDOM {
        let shape = Shape {
            bounds: false,
            ..Shape::any(seed)
        };
        let machine = random::machine(seed, shape);
        let is_of_root = machine.transitions_of(machine.root()).next().is_some();
        let Some(valid) = valid::check(machine, false, &mut Diags::new()).filter(|_| is_of_root)
        else {
            continue;
        };
        let mut written = back::scxml::write(&valid);
        let mark = " statemark:root=\"";
        while let Some(at) = written.find(mark) {
            let value = &written[at + mark.len()..];
            let end = value.find('"').expect("the end of the value");
            written.replace_range(at..=at + mark.len() + end, "");
        }
        let (_, again) = compile_text("again.scxml", &written);
        let told: Vec<&str> = again
            .diagnostics
            .iter()
            .map(|diagnostic| diagnostic.message.as_str())
            .collect();
        let read = again.machines.first();
        let read = read.unwrap_or_else(|| panic!("{written}\n{told:#?}"));
        assert!(read.transitions_of(read.root()).next().is_none());
        let names = valid.events.iter();
        let names = names.filter(|(_, event)| event.kind == EventKind::Named);
        let names: Vec<&str> = names.map(|(_, event)| event.id.as_str()).collect();
        let events: Vec<&str> = names.iter().cycle().take(12).copied().collect();
        assert_eq!(
            played(&valid, &events),
            played(read, &events),
            "seed {seed}: {written}"
        );
        compared += 1;
    }
    assert!(compared >= 50, "only {compared} machines were compared");
}
