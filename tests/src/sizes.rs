//! Generated Rust compiles and runs at any size, and its API doesn't depend on the size.
//!
//! Machines of 299 states are the largest that are written out as `match`; from 300 on the runtime steps them over const
//! rows. A machine that counts is stepped over rows at every size. All are modules of one crate, whose program
//! (`sizes/program.rs`) uses each in full and prints its name.

use std::fmt::Write as _;

use statemark_compiler::source::Sources;
use statemark_compiler::{Options, back, compile};

use crate::generated;

/// The program's macros: one for each kind of machine.
const PROGRAM: &str = include_str!("sizes/program.rs");

/// The numbers of states.
const SIZES: [usize; 4] = [299, 300, 1_000, 4_000];

#[test]
fn machines_of_any_size_compile_and_run() {
    let mut program = PROGRAM.to_owned();
    let mut files = Vec::new();
    let mut main = String::new();
    let mut names = String::new();
    for size in SIZES {
        let kinds = [
            ("ring", ring(size)),
            ("counter", counter(size)),
            ("groups", groups(size)),
        ];
        for (kind, spec) in kinds {
            let name = format!("{kind}_{size}");
            let module = module(&name, spec);
            let is_walked = kind == "counter" || size >= 300;
            assert_eq!(module.contains("static ROWS"), is_walked, "{name}");
            files.push((format!("src/{name}.rs"), module));
            let _ = writeln!(program, "include!(\"{name}.rs\");");
            let _ = writeln!(main, "    {kind}!({name}, {size});");
            let _ = writeln!(names, "{name}");
        }
    }
    let _ = write!(program, "\nfn main() {{\n{main}}}\n");
    files.push(("src/main.rs".to_owned(), program));
    assert_eq!(generated::run("sizes", &files), names);
}

/// The machine of a spec as a module of that name.
fn module(name: &str, spec: String) -> String {
    let mut sources = Sources::new();
    sources.add(format!("{name}.md"), spec);
    let compiled = compile(&sources, &Options::default());
    let [valid] = compiled.machines.as_slice() else {
        panic!("{name}: {:?}", compiled.diagnostics.first());
    };
    let mut options = back::rust::Options::default();
    options.module = Some(name.to_owned());
    back::rust::write_file(valid, &options)
}

/// States and events, nothing else.
fn ring(size: usize) -> String {
    let mut spec = head("s0");
    for state in 0..size {
        let (next, far) = ((state + 1) % size, (state * 7 + 3) % size);
        let _ = writeln!(spec, "    s{state} --> s{next} : next");
        let _ = writeln!(spec, "    s{state} --> s{far} : skip");
    }
    spec + "```\n"
}

/// The ring with a context, in which every step is counted.
fn counter(size: usize) -> String {
    let mut spec = head("s0");
    for state in 0..size {
        let next = (state + 1) % size;
        let _ = writeln!(
            spec,
            "    s{state} --> s{next} : next [count < 100000] / count_up"
        );
    }
    spec + "```\n\n```json definition\n{\n  \"context\": { \"count\": 0 },\n  \
            \"actions\": { \"count_up\": { \"assign\": { \"count\": \"count + 1\" } } }\n}\n```\n"
}

/// Groups of ten states, the superstate and the final state included: guards, actions, completion, transitions of
/// superstates. What is left over are states beside the groups.
fn groups(size: usize) -> String {
    let mut spec = head("g0");
    let count = size / 10;
    for group in 0..count {
        let first = group * 8;
        let _ = writeln!(
            spec,
            "    state g{group} {{\n        [*] --> s{first} : / note()"
        );
        for state in first..first + 7 {
            let _ = writeln!(
                spec,
                "        s{state} --> s{} : next [allowed] / note()",
                state + 1
            );
        }
        let _ = writeln!(spec, "        s{} --> [*] : next", first + 7);
        let _ = writeln!(spec, "    }}");
        let next = (group + 1) % count;
        let _ = writeln!(
            spec,
            "    g{group} --> g{next} : / note()\n    g{group} --> g{next} : skip"
        );
    }
    for rest in 0..size % 10 {
        let _ = writeln!(
            spec,
            "    g0 --> rest{rest} : leave{rest}\n    rest{rest} --> g0 : skip"
        );
    }
    spec + "```\n"
}

fn head(initial: &str) -> String {
    format!("## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> {initial}\n")
}
