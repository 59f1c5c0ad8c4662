//! Drawings: nothing overlaps, all that a page relies on is there, and the same machine is the same text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use statemark_compiler::back::svg::{self, Options};
use statemark_compiler::diag::Diags;
use statemark_compiler::ir::{EventKind, Machine};
use statemark_compiler::valid::{self, Valid};
use statemark_harness::relative;
use statemark_runtime::{decode, verify};
use statemark_text::visible;

use crate::random::{self, Shape};
use crate::specs::{compile_text, each_machine};

/// Draws a machine from its spec and from its table, and lists what is wrong with the drawings.
fn faults(machine: &Valid) -> Vec<String> {
    let mut faults = svg::overlaps(machine);
    let options = Options::default();
    let drawing = svg::write(machine, &options).unwrap();
    if drawing != svg::write(machine, &options).unwrap() {
        faults.push("two drawings differ".to_owned());
    }
    let bytes = statemark_compiler::back::table::write(machine);
    let table = verify(decode(&bytes).unwrap()).unwrap();
    for drawing in [drawing, svg::write_table(&table, &options).unwrap()] {
        faults.extend(broken_promises(machine, &drawing));
    }
    faults
}

/// Lists what a page relies on and doesn't find: states, transitions, unique ids, well-formed text.
fn broken_promises(machine: &Machine, drawing: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let document = match roxmltree::Document::parse(drawing) {
        Ok(document) => document,
        Err(error) => return vec![format!("it is no XML: {error}")],
    };
    let mut ids = BTreeSet::new();
    let (mut states, mut transitions) = (BTreeSet::new(), BTreeSet::new());
    for element in document.descendants() {
        if let Some(id) = element.attribute("id")
            && !ids.insert(id)
        {
            faults.push(format!("two elements have the id {id}"));
        }
        if element.has_tag_name("script")
            || element.attributes().any(|it| it.name().starts_with("on"))
        {
            faults.push("it has a script".to_owned());
        }
        states.extend(element.attribute("data-state"));
        let is_hidden = |letter| letter != '\n' && visible::is_hidden(letter);
        if let Some(text) = element.text().filter(|text| text.contains(is_hidden)) {
            faults.push(format!("nobody sees what is in {text:?}"));
        }
        let numbers = element.attribute("data-transition").unwrap_or_default();
        transitions.extend(numbers.split(' ').filter_map(|it| it.parse::<usize>().ok()));
    }
    for (_, state) in machine.named_states() {
        // XML has no such letters, so no attribute has them.
        let id: String = state
            .id
            .chars()
            .filter(|letter| !letter.is_control())
            .collect();
        if !states.contains(id.as_str()) {
            faults.push(format!("no element shows the state `{id}`"));
        }
    }
    for (handle, transition) in machine.transitions.iter() {
        let mut kinds = transition
            .triggers
            .iter()
            .map(|it| machine.events.at(*it).kind);
        let is_hidden = kinds.any(|kind| kind == EventKind::Unknown);
        if is_hidden == transitions.contains(&handle.index()) {
            faults.push(format!(
                "transition {} is missing, or shown in vain",
                handle.index()
            ));
        }
    }
    faults
}

#[test]
fn nothing_overlaps_in_drawings_of_specs() {
    let folders = [
        "examples",
        "skills",
        "tests",
        "compiler/cli/tests",
        "runtime/tools/tests",
    ];
    let (mut drawn, mut all) = (0, String::new());
    each_machine(&folders, |path, machine| {
        drawn += 1;
        for fault in faults(machine) {
            all += &format!("{} `{}`: {fault}\n", relative(path), machine.id.value);
        }
    });
    assert!(all.is_empty(), "{all}");
    assert!(drawn >= 200, "only {drawn} machines were drawn");
}

#[test]
fn nothing_overlaps_in_drawings_of_random_machines() {
    let mut drawn = 0;
    for shape in [Shape::plain, Shape::any] {
        for seed in 0..150 {
            let machine = random::machine(seed, shape(seed));
            let Some(valid) = valid::check(machine, false, &mut Diags::new()) else {
                continue;
            };
            drawn += 1;
            let faults = faults(&valid);
            assert!(faults.is_empty(), "seed {seed}:\n{}", faults.join("\n"));
        }
    }
    assert!(drawn >= 100, "only {drawn} machines were drawn");
}

#[test]
fn what_cannot_be_seen_is_shown_in_drawings() {
    let spec = r#"{
        "id": "w", "title": "a\u202eb", "description": "c\u202ed", "initial": "x",
        "states": {
            "x": {"title": "pay\u202e\u200bme", "description": "e\u2066f", "on": {"go": {"target": "y", "guard": "of == \"\u202d\""}}},
            "y": {"type": "final"}
        }
    }"#;
    let (_, compiled) = compile_text("w.workflow.json", spec);
    let [machine] = compiled.machines.as_slice() else {
        panic!("{:?}", compiled.diagnostics)
    };
    assert_eq!(faults(machine), Vec::<String>::new());
    let drawing = svg::write(machine, &Options::default()).unwrap();
    for shown in [
        r"a\u{202e}b",
        r"c\u{202e}d",
        r"pay\u{202e}\u{200b}me",
        r"e\u{2066}f",
    ] {
        assert!(drawing.contains(shown), "{shown}\n{drawing}");
    }
}

/// Each state leads to many: such a machine is refused before its arrows are placed, and a page says so.
#[test]
fn what_has_too_many_arrows_is_not_drawn() {
    for (states, each) in [(300, 10), (2_000, 6)] {
        let mut spec = String::from("stateDiagram-v2\n[*] --> s0\n");
        for from in 0..states {
            for event in 0..each {
                let to = (from + 1 + event * event * 7 + event) % states;
                writeln!(spec, "s{from} --> s{to} : e{event}").unwrap();
            }
        }
        let (_, compiled) = compile_text("dense.mmd", &spec);
        let [machine] = compiled.machines.as_slice() else {
            panic!("{:?}", compiled.diagnostics)
        };
        let options = Options::default();
        let refused = svg::write(machine, &options).unwrap_err();
        let expected = format!(
            "`dense` has {} states and {} arrows, which are too many for a drawing",
            states + 1,
            states * each + 1
        );
        assert_eq!(refused.to_string(), expected);
        let page = refused.draw(&options);
        let page = roxmltree::Document::parse(&page).unwrap();
        let text = page
            .descendants()
            .find(|it| it.has_tag_name("text"))
            .unwrap();
        assert_eq!(text.text(), Some(expected.as_str()));
    }
}
