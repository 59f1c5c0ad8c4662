//! Writes random machines as Rust, for `src/agreement/generated.rs` to compile and run.
//!
//! Each comes from a fixed seed, by the generator that the tests use, so that a test makes the same machine again.

#[expect(
    clippy::indexing_slicing,
    reason = "tests use this module, too, and all of it; where it is wrong, they shall not be built"
)]
#[path = "src/random/mod.rs"]
mod random;

use std::fmt::Write as _;
use std::path::Path;

use statemark_compiler::back;
use statemark_compiler::diag::Diags;
use statemark_compiler::ir::{ActionKind, EventKind, Machine, StateKind};
use statemark_compiler::valid;

use random::Shape;

/// How many machines are written. Unit: machines. Why: together they compile in some ten seconds.
const MACHINES: usize = 48;

/// Random guards say things twice, and in more words than they need.
const ALLOWED: &str = "#[allow(unused_parens, reason = \"chance\")]";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/random");
    let mut code = String::new();
    let mut list = String::new();
    let mut count = 0;
    for seed in 0.. {
        let mut machine = random::machine(seed, Shape::written(seed));
        // Of half of them nothing says what the data holds, so that the host has it.
        if seed % 2 == 1 {
            machine.context = None;
        }
        let glue = host(seed, &machine) + &look(seed, &machine);
        let kind = kind(&machine);
        let Some(valid) = valid::check(machine, false, &mut Diags::new()) else {
            continue;
        };
        let mut options = back::rust::Options::default();
        options.module = Some(format!("random_{seed}"));
        // Writing to a string can't fail.
        let _ = writeln!(
            code,
            "{ALLOWED}\n{}",
            back::rust::write_file(&valid, &options)
        );
        code.push_str(&glue);
        let _ = writeln!(list, "    {kind} random_{seed} {seed}");
        count += 1;
        if count == MACHINES {
            break;
        }
    }
    let _ = write!(code, "engines! {{\n{list}}}\n");
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    if let Err(fault) = std::fs::write(Path::new(&out).join("random.rs"), code) {
        println!("cargo::error=the machines can't be written: {fault}");
    }
}

/// Whether the machine has its data to itself.
fn is_typed(machine: &Machine) -> bool {
    let context = machine.context.as_ref();
    let context = context.and_then(|context| context.as_object());
    context.is_some_and(|context| !context.is_empty())
}

/// What tells the world what the fields of a context hold.
fn look(seed: u64, machine: &Machine) -> String {
    let context = machine.context.as_ref();
    let context = context.and_then(|context| context.as_object());
    let mut reads = String::new();
    for (_, field) in machine.fields.iter() {
        let path = &field.path;
        if !is_typed(machine) || path.starts_with("event.") {
            continue;
        }
        let value = if context.is_some_and(|context| context.contains_key(path)) {
            format!("Plain::value(&context.{path})")
        } else {
            format!("context.{path}.as_ref().map_or(Value::Absent, Plain::value)")
        };
        let _ = writeln!(reads, "host.read({path:?}, {value});");
    }
    let body = if is_typed(machine) {
        format!(
            "use statemark_runtime::generated::Plain;
            let context = self.context().clone();
            let host = self.host_mut();
            host.is_typed = true;
            {reads}"
        )
    } else {
        String::new()
    };
    format!("impl Look for random_{seed}::Machine<World> {{ fn look(&mut self) {{ {body} }} }}\n")
}

/// The machine's host: guards, actions and fields go to the world, by number.
fn host(seed: u64, machine: &Machine) -> String {
    let typed = is_typed(machine);
    let context = if typed {
        format!(", _: &random_{seed}::Context")
    } else {
        String::new()
    };
    let mut code = format!("impl random_{seed}::Host for World {{\n");
    for (guard, row) in machine.guards.iter() {
        let _ = writeln!(
            code,
            "fn {}(&self{context}) -> bool {{ World::guard(self, {}) }}",
            row.name,
            guard.index()
        );
    }
    for (action, row) in machine.actions.iter() {
        let (name, number) = (&row.name, action.index());
        match row.kind {
            ActionKind::Host => {
                let _ = writeln!(
                    code,
                    "fn {name}(&mut self{context}) {{ self.act({number}) }}"
                );
            }
            ActionKind::Fallible => {
                let _ = writeln!(
                    code,
                    "fn {name}(&mut self{context}) -> Result<(), usize> {{ self.try_act({number}) }}"
                );
            }
            _ => {}
        }
    }
    let fails = fails(machine);
    if fails {
        code.push_str("type Error = usize;\n");
    }
    let mut fields = machine.fields.iter();
    if fields.any(|(_, field)| !typed || field.path.starts_with("event.")) {
        code.push_str(
            "fn field(&self, path: &str) -> Value<'_> { World::field(self, self.path(path)) }\n",
        );
    }
    if !machine.timers.is_empty() {
        let _ = writeln!(
            code,
            "fn schedule(&mut self, timer: random_{seed}::Timer, delay: u64) {{
                World::schedule(self, timer as usize, delay);
            }}
            fn cancel(&mut self, timer: random_{seed}::Timer) {{
                World::cancel(self, timer as usize);
            }}"
        );
    }
    if assigns(machine) && !typed {
        code.push_str(
            "fn assign(&mut self, path: &str, value: Value<'_>) {
                World::assign(self, self.path(path), datum(value));
            }",
        );
    }
    if (assigns(machine) && !typed) || !machine.timers.is_empty() {
        code.push_str(
            "fn begin(&mut self) { World::begin(self); }
            fn rollback(&mut self) { World::rollback(self); }",
        );
    }
    code.push_str("}\n");
    if fails || lacks_values(machine) {
        let _ = writeln!(
            code,
            "impl Numbered for random_{seed}::Action {{ fn id(self) -> ActionId {{ self.id() }} }}"
        );
    }
    code
}

/// Whether an assignment without a value fails the step.
fn lacks_values(machine: &Machine) -> bool {
    let mut events = machine.events.iter();
    assigns(machine) && !events.any(|(_, event)| event.kind == EventKind::Fault)
}

fn fails(machine: &Machine) -> bool {
    let mut actions = machine.actions.iter();
    actions.any(|(_, action)| action.kind == ActionKind::Fallible)
}

fn assigns(machine: &Machine) -> bool {
    let mut actions = machine.actions.iter();
    actions.any(|(_, action)| matches!(action.kind, ActionKind::Assign(_)))
}

/// What the machine's module shows of where it is, and whether it has timers.
fn kind(machine: &Machine) -> &'static str {
    let mut states = machine.states.iter();
    let regions =
        states.any(|(_, state)| state.kind == StateKind::Parallel || state.kind.is_history());
    match (regions, machine.timers.is_empty()) {
        (false, true) => "one",
        (false, false) => "one_timed",
        (true, true) => "regions",
        (true, false) => "regions_timed",
    }
}
