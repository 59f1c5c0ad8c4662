//! Generated Rust: all machines as modules of one small crate, which is written, built once and run.
//!
//! The crate plays the scripts by the same `play.rs`. A module's API is read from its own text (see [`surroundings`]), so
//! that nothing here has to follow the code generator's decisions.

use std::fmt::Write as _;

use statemark_compiler::back;
use statemark_compiler::valid::Valid;
use statemark_harness::root;

use super::context;
use super::play::Script;
use crate::generated;

/// What the crate's program begins with.
const PROGRAM: &str = include_str!("generated/program.rs");

/// Plays every script on its machine.
pub(super) fn run_all(cases: &[(&Valid, &Script)]) -> Vec<Result<(), String>> {
    let printed = generated::run("conformance/generated", &files(cases));
    let results: Vec<_> = printed
        .lines()
        .map(|line| match line {
            "passes" => Ok(()),
            fault => Err(fault.to_owned()),
        })
        .collect();
    assert_eq!(results.len(), cases.len(), "{printed}");
    results
}

/// The files of the crate: a module for each machine, and the program that plays the scripts.
fn files(cases: &[(&Valid, &Script)]) -> Vec<(String, String)> {
    let shared = root().join("tests/src/conformance");
    let mut program = PROGRAM.to_owned();
    for module in ["play", "world"] {
        let path = shared.join(format!("{module}.rs"));
        let _ = writeln!(
            program,
            "#[path = {:?}]\nmod {module};",
            path.display().to_string()
        );
    }
    let mut files = Vec::new();
    let mut list = String::new();
    for (index, (machine, script)) in cases.iter().enumerate() {
        let mut options = back::rust::Options::default();
        options.module = Some(format!("m{index}"));
        let module = back::rust::write_file(machine, &options);
        program.push_str(&surroundings(index, &module));
        let _ = writeln!(
            list,
            "    {},",
            play_expression(index, machine, script, &module)
        );
        files.push((format!("src/m{index}.rs"), module));
        let _ = writeln!(program, "include!(\"m{index}.rs\");");
    }
    let _ = writeln!(program, "\nfn main() {{\n    run([\n{list}    ]);\n}}");
    files.push(("src/main.rs".to_owned(), program));
    files
}

/// The module's trait `Host` for the world: data and clock are the world's, and what else it asks for does nothing.
fn surroundings(index: usize, module: &str) -> String {
    let Some((_, behind)) = module.split_once("pub trait Host {") else {
        return String::new();
    };
    let mut code = format!(
        "mod host{index} {{\n    use super::m{index}::*;\n    use super::{{World, assign, value}};\n\n    \
         impl Host for World {{\n"
    );
    let lines = behind.lines().take_while(|line| line.trim() != "}");
    let text: Vec<&str> = lines
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
        .collect();
    for method in text.join(" ").split_inclusive(['}', ';']) {
        let Some((_, behind)) = method.split_once("fn ") else {
            continue;
        };
        let signature = behind.trim_end_matches(['}', '{', ';', ' ']);
        let name = signature.split('(').next().unwrap_or("");
        let body = match name {
            "field" => "value(self, path)",
            "assign" => "assign(self, path, value);",
            "schedule" => "World::schedule(self, timer as usize, delay);",
            "cancel" => "World::cancel(self, timer as usize);",
            "begin" => "World::begin(self);",
            "rollback" => "World::rollback(self);",
            _ => "",
        };
        let signature = signature.replace("runtime::", "statemark_runtime::");
        let _ = writeln!(code, "        fn {signature} {{ {body} }}");
    }
    code.push_str("    }\n}\n");
    code
}

/// The expression that plays a script on a module's machine.
fn play_expression(index: usize, machine: &Valid, script: &Script, module: &str) -> String {
    let face = |text: &str, with: &'static str, without: &'static str| {
        let has = module.contains(text);
        if has { with } else { without }
    };
    let faces = [
        face("pub fn states(", "leaves", "one_leaf"),
        face("pub fn elapse(", "timed", "timeless"),
    ];
    let names = |names: &std::collections::BTreeSet<String>| {
        let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        format!("&[{}]", names.join(", "))
    };
    let events: Vec<String> = script
        .events
        .iter()
        .map(|sent| {
            let (after, name, event) = (sent.after, &sent.name, sent.event);
            format!("({after}, {name:?}, {event:?}, {})", names(&sent.next))
        })
        .collect();
    format!(
        "played!(m{index} [{}] {:?}, {}, &[{}])",
        faces.join(" "),
        context(machine),
        names(&script.initial),
        events.join(", ")
    )
}
