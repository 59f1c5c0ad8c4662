//! Writing a machine as Rust, and what rustc then takes for it, beside a `match` over the same transitions.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use crate::bench::{Bench, cargo, millions, table};
use crate::shell::{Scratch, statemark};

const STATES: [usize; 4] = [10, 100, 1_000, 4_000];

pub(crate) fn section(bench: &Bench) -> String {
    let scratch = Scratch::new("bench-writers");
    let mut rows = Vec::new();
    for states in STATES {
        scratch.write("order.md", &spec(states));
        let out = format!("out_{states}");
        let mut build = statemark(&scratch.path);
        build.args(["build", "order.md", "--emit", "rust", "-o", &out]);
        let written = bench.count(&build);
        let generated = compile(
            &scratch,
            &format!("generated_{states}"),
            &generated(&scratch, &out),
        );
        let by_hand = compile(&scratch, &format!("by_hand_{states}"), &by_hand(states));
        rows.push(vec![
            states.to_string(),
            format!("{:.1}", millions(written)),
            format!("{:.2}", generated.as_secs_f64()),
            format!("{:.2}", by_hand.as_secs_f64()),
        ]);
    }
    String::from(
        "A flat machine, two transitions a state: million instructions of `build --emit rust`, then seconds of CPU that an \
         optimised build of the crate takes once its dependencies are built.\n\n",
    ) + &table(
        &["states", "to write", "to compile", "`match` by hand"],
        &rows,
    )
}

fn spec(states: usize) -> String {
    let mut text =
        String::from("## STATE-MACHINE: order\n\n```mermaid\nstateDiagram-v2\n[*] --> s0\n");
    for at in 0..states {
        let (next, back) = ((at + 1) % states, (at + states - 1) % states);
        let _ = writeln!(text, "s{at} --> s{next} : next\ns{at} --> s{back} : back");
    }
    text + "```\n"
}

/// Returns a program that steps the generated machine.
fn generated(scratch: &Scratch, out: &str) -> String {
    let folder = scratch.path.join(out);
    let file = fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    format!(
        "include!({file:?});\nfn main() {{ let mut machine = order::Machine::new(()); \
         for word in std::env::args() {{ let _ = machine.send(if word == \"next\" {{ order::Event::Next }} else {{ order::Event::Back }}); }} \
         std::process::exit(machine.state().id().index() as i32) }}\n"
    )
}

/// Returns a program with a `match` over state and event.
fn by_hand(states: usize) -> String {
    let mut text = String::from("#[derive(Clone, Copy)] enum State {\n");
    for at in 0..states {
        let _ = writeln!(text, "S{at},");
    }
    text +=
        "}\nuse State::*;\nfn send(state: State, next: bool) -> State { match (state, next) {\n";
    for at in 0..states {
        let (next, back) = ((at + 1) % states, (at + states - 1) % states);
        let _ = writeln!(
            text,
            "(S{at}, true) => S{next},\n(S{at}, false) => S{back},"
        );
    }
    text + "} }\nfn main() { let mut state = S0; for word in std::env::args() { state = send(state, word == \"next\"); } std::process::exit(state as i32) }\n"
}

/// Builds a crate with that program, and returns the CPU's time for it alone.
fn compile(scratch: &Scratch, name: &str, program: &str) -> Duration {
    let engine = statemark_harness::root().join("runtime/engine");
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nstatemark-runtime = {{ path = {engine:?} }}\n[workspace]\n"
    );
    scratch.write(&format!("{name}/Cargo.toml"), &manifest);
    scratch.write(&format!("{name}/src/main.rs"), "fn main() {}\n");
    let folder = scratch.path.join(name);
    let build = [
        "build",
        "--release",
        "--offline",
        "--target-dir",
        "../target",
    ];
    cargo(&folder, &build);
    scratch.write(&format!("{name}/src/main.rs"), program);
    cargo(&folder, &build).cpu
}
