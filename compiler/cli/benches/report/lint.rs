//! Lint, show, build and drawings, on documents as people keep them and on ones that grow.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::{Bench, millions, ratio, table};
use crate::shell::{Scratch, statemark};

/// Documents of one lint.
const FILES: usize = 1_000;

const STATES: [&str; 14] = [
    "draft", "review", "approved", "rejected", "queued", "running", "paused", "failed", "archived",
    "shipped", "paid", "packed", "returned", "closed",
];

const EVENTS: [&str; 14] = [
    "submit", "accept", "reject", "start", "stop", "pause", "resume", "retry", "finish", "ship",
    "pay", "pack", "refund", "lock",
];

const PROSE: &str = "\nThis document says how the thing is handled, by whom, and in what order; people read it before they change it.\n";

pub(crate) fn section(bench: &Bench) -> String {
    let scratch = Scratch::new("bench-lint");
    for number in 0..FILES {
        scratch.write(&format!("files/process_{number:04}.md"), &small(number));
    }
    let folder = scratch.path.as_path();
    let own = |arguments: &[&str]| {
        let mut command = statemark(folder);
        command
            .args(arguments)
            .env("XDG_CACHE_HOME", folder.join("cache"));
        bench.count(&command)
    };
    let cold = own(&["lint", "--no-cache", "files"]);
    let first = own(&["lint", "files"]);
    let again = own(&["lint", "files"]);
    let mut rows = vec![
        vec!["lint".to_owned(), million(cold), String::new()],
        vec![
            "lint, keeping a cache".to_owned(),
            million(first),
            String::new(),
        ],
        vec!["lint again".to_owned(), million(again), String::new()],
    ];
    let rumdl = rumdl(bench);
    if let Some(rumdl) = &rumdl {
        let count = |arguments: &[&str]| {
            let mut command = Command::new(rumdl);
            command.current_dir(folder).args(arguments);
            bench.count(&command)
        };
        let other = count(&["check", "--no-cache", "files"]);
        let _ = count(&["check", "files"]);
        let other_again = count(&["check", "files"]);
        rows[0][2] = format!("{:.2}", ratio(cold, other));
        rows[2][2] = format!("{:.2}", ratio(again, other_again));
        rows.push(vec!["rumdl".to_owned(), million(other), "1".to_owned()]);
        rows.push(vec![
            "rumdl again".to_owned(),
            million(other_again),
            "1".to_owned(),
        ]);
    }
    let mut text = format!(
        "{FILES} documents of 1.7 KB with a diagram of 5 to 14 states each; rumdl checks their Markdown.\n\n"
    );
    text += &table(&["whole process", "million instructions", "x rumdl"], &rows);
    if rumdl.is_none() {
        text += "\nLeft out: rumdl, which pip couldn't install.\n";
    }
    text + "\nHow it grows, a whole process each.\n\n" + &growth(bench, &scratch)
}

/// Measures documents of one machine at two sizes or more.
fn growth(bench: &Bench, scratch: &Scratch) -> String {
    type Grow = (
        &'static str,
        &'static [&'static str],
        &'static [usize],
        fn(usize) -> String,
    );
    let grows: &[Grow] = &[
        (
            "lint: transitions",
            &["lint", "--no-cache"],
            &[1_000, 10_000],
            chain,
        ),
        (
            "lint: context fields",
            &["lint", "--no-cache"],
            &[1_000, 10_000],
            fields,
        ),
        (
            "lint: guards of one event",
            &["lint", "--no-cache"],
            &[200, 2_000],
            guards,
        ),
        (
            "lint: regions",
            &["lint", "--no-cache"],
            &[16, 128],
            regions,
        ),
        ("show: transitions", &["show"], &[1_000, 10_000], chain),
        (
            "show: regions, with proofs",
            &["show"],
            &[4, 8, 16],
            regions,
        ),
        (
            "build --emit rust: transitions",
            &["build", "--emit", "rust", "-o", "out"],
            &[1_000, 10_000],
            chain,
        ),
        (
            "graph: states in a chain",
            &["graph", "-o", "grown.svg"],
            &[100, 1_000],
            |states| chain(2 * states),
        ),
        (
            "graph: states with two transitions to anywhere",
            &["graph", "-o", "grown.svg"],
            &[100, 1_000],
            thicket,
        ),
    ];
    let mut rows = Vec::new();
    for (name, arguments, sizes, document) in grows {
        for size in *sizes {
            scratch.write("grown.md", &document(*size));
            let mut arguments = arguments.to_vec();
            arguments.insert(1, "grown.md");
            let count = bench.count_own(&scratch.path, &arguments);
            rows.push(vec![format!("{name}, {size}"), million(count)]);
        }
    }
    table(&["what", "million instructions"], &rows)
}

fn million(count: u64) -> String {
    format!("{:.2}", millions(count))
}

/// Installs rumdl, the fastest linter of Markdown that we know, and returns its program.
fn rumdl(bench: &Bench) -> Option<PathBuf> {
    let folder = bench.peers.join("rumdl");
    let program = folder.join("bin/rumdl");
    if !program.exists() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target"]);
        let _ = pip.arg(&folder).arg("rumdl").status();
    }
    Path::exists(&program).then_some(program)
}

/// Returns a document as people keep them: a diagram in prose, with other words in each file.
fn small(number: usize) -> String {
    let state = |at: usize| STATES.get((number + at) % 14).copied().unwrap_or_default();
    let event = |at: usize| {
        EVENTS
            .get((number * 3 + at) % 14)
            .copied()
            .unwrap_or_default()
    };
    let last = 5 + number % 10;
    let mut text = diagram_start(&format!("Process {number}"));
    let _ = writeln!(text, "    [*] --> {}", state(0));
    for at in 1..=last {
        let next = if at == last { "[*]" } else { state(at) };
        let _ = writeln!(text, "    {} --> {next} : {}", state(at - 1), event(at));
        if at > 1 {
            let _ = writeln!(
                text,
                "    {} --> {} : {} / note_it()",
                state(at - 1),
                state(at - 2),
                event(at + 5)
            );
        }
    }
    text += "```\n";
    while text.len() < 1_650 {
        text += PROSE;
    }
    text
}

fn diagram_start(title: &str) -> String {
    format!("# {title}\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n")
}

fn chain(transitions: usize) -> String {
    let states = transitions / 2;
    let mut text = diagram_start("Chain") + "[*] --> s0\n";
    for at in 0..states {
        let (next, back) = ((at + 1) % states, (at + states - 1) % states);
        let _ = writeln!(text, "s{at} --> s{next} : next\ns{at} --> s{back} : back");
    }
    text + "s0 --> [*] : end\n```\n"
}

/// Returns a machine that no drawing is beautiful of: each state can be reached, and leads anywhere.
fn thicket(states: usize) -> String {
    let mut text = diagram_start("Thicket") + "[*] --> s0\n";
    // The numbers of Lehmer's generator: the same on any day. Source: Park and Miller, 1988.
    let mut number = 1_usize;
    let mut next = |below: usize| {
        number = number * 48_271 % 2_147_483_647;
        number % below
    };
    for at in 1..states {
        let (from, to) = (next(at), next(states));
        let _ = writeln!(text, "s{from} --> s{at} : e{at}\ns{at} --> s{to} : x{at}");
    }
    text + "```\n"
}

fn fields(count: usize) -> String {
    let fields: Vec<String> = (0..count)
        .map(|at| format!("\"field_{at}\": {at}"))
        .collect();
    let diagram = "[*] --> a\na --> b : go [field_0 > 1]\nb --> [*] : end\n```\n";
    let definition = format!(
        "\n```json definition\n{{\"context\": {{{}}}}}\n```\n",
        fields.join(", ")
    );
    diagram_start("Fields") + diagram + &definition
}

fn guards(count: usize) -> String {
    let mut text = diagram_start("Guards") + "[*] --> a\n";
    for at in 0..count {
        let _ = writeln!(text, "a --> b{} : go [n == {at}]", at % 7);
    }
    for at in 0..7 {
        let _ = writeln!(text, "b{at} --> [*] : end");
    }
    text + "```\n\n```json definition\n{\"context\": {\"n\": 0}}\n```\n"
}

fn regions(count: usize) -> String {
    let region = |at: usize| {
        format!(
            "[*] --> a{at}\na{at} --> b{at} : go{at}\nb{at} --> c{at} : go{at}\nc{at} --> a{at} : back{at}\n"
        )
    };
    let regions: Vec<String> = (0..count).map(region).collect();
    let inside = regions.join("--\n");
    diagram_start("Regions")
        + "[*] --> all\nstate all {\n"
        + &inside
        + "}\nall --> [*] : end\n```\n"
}
