//! The parts of a table: which change of a spec changes which hash.

use statemark::machine;
use statemark_compiler::source::Sources;
use statemark_compiler::{Options, back, compile};
use statemark_runtime::{Part, Sections};

const SPEC: &str = r#"{
  "id": "ship", "title": "Ship", "description": "Ships it.", "version": 1,
  "context": {"n": 0},
  "events": {"go": {"title": "Go", "data": {"properties": {"m": {"type": "integer"}}}}},
  "actions": {
    "mail": {"effect": "a letter", "idempotent": true},
    "print": {"effect": {"to": "paper"}},
    "count": {"assign": {"n": "n + 1"}}
  },
  "initial": "draft",
  "states": {
    "draft": {
      "instructions": "Write.", "allowed_tools": ["Read"], "entry": ["count"],
      "on": {
        "go": [
          {"target": "live", "guard": "n > 3", "description": "out", "requires_approval": true, "actions": ["mail", "print"]},
          {"target": "draft", "guard": "n > 5"}
        ]
      }
    },
    "live": {"after": {"30s": "over"}},
    "over": {"type": "final"}
  }
}"#;

/// Changes of the spec, and the parts that they change.
const CHANGES: &[(&str, &str, &[Part])] = &[
    (r#""id": "ship""#, r#""id": "boat""#, &[Part::Texts]),
    (r#""title": "Ship""#, r#""title": "Boat""#, &[Part::Texts]),
    ("Ships it.", "Sends it.", &[Part::Texts]),
    (r#""title": "Go""#, r#""title": "Run""#, &[Part::Texts]),
    ("Write.", "Write slowly.", &[Part::Policy]),
    (r#""out""#, r#""away""#, &[Part::Texts]),
    ("a letter", "two letters", &[Part::Policy]),
    (r#""to": "paper""#, r#""to": "screen""#, &[Part::Policy]),
    (r#""version": 1"#, r#""version": 2"#, &[Part::Policy]),
    (r#"["Read"]"#, r#"["Read", "Edit"]"#, &[Part::Policy]),
    (r#""requires_approval": true, "#, "", &[Part::Policy]),
    (r#", "idempotent": true"#, "", &[Part::Policy]),
    (r#"{"n": 0}"#, r#"{"n": 1}"#, &[Part::Behavior]),
    ("\"integer\"", "\"number\"", &[Part::Behavior]),
    ("n > 3", "n > 4", &[Part::Behavior]),
    ("n + 1", "n + 2", &[Part::Behavior]),
    ("30s", "31s", &[Part::Behavior]),
    (
        r#"["mail", "print"]"#,
        r#"["print", "mail"]"#,
        &[Part::Behavior],
    ),
    ("\"go\"", "\"leave\"", &[Part::Behavior, Part::Texts]),
    (r#""over""#, r#""gone""#, &[Part::Behavior]),
    (r#", "type": "final""#, r#", "type": "final""#, &[]),
];

fn rows(spec: &str) -> Sections {
    let mut sources = Sources::new();
    sources.add("ship.workflow.json", spec);
    let compiled = compile(&sources, &Options::default());
    let machine = compiled.machines.first();
    back::table::sections(machine.unwrap_or_else(|| panic!("{:?}\n{spec}", compiled.diagnostics)))
}

#[test]
fn a_change_changes_its_part_alone() {
    let before = rows(SPEC);
    for (from, to, expected) in CHANGES {
        let spec = SPEC.replace(from, to);
        assert!(spec != SPEC || expected.is_empty(), "{from}");
        let after = rows(&spec);
        let changed = Part::ALL.into_iter();
        let changed = changed.filter(|it| it.write(&before) != it.write(&after));
        assert_eq!(&changed.collect::<Vec<_>>(), expected, "{from} → {to}");
    }
}

/// Which of two transitions is tried first is behavior, though both tables have the same rows.
#[test]
fn the_order_of_transitions_is_behavior() {
    let one = r#"{"target": "draft", "guard": "n > 5"}"#;
    let other = r#"{"target": "live", "guard": "n > 3", "description": "out", "requires_approval": true, "actions": ["mail", "print"]}"#;
    let swapped = SPEC
        .replace(one, "?")
        .replace(other, one)
        .replace("?", other);
    assert_ne!(
        Part::Behavior.write(&rows(SPEC)),
        Part::Behavior.write(&rows(&swapped))
    );
}

machine!(
    r"
## STATE-MACHINE: lamp

A lamp.

```mermaid
stateDiagram-v2
    [*] --> off
    off --> on : press
    on --> off : press
```
"
);

mod reworded {
    statemark::machine!(
        r#"
## STATE-MACHINE: lamp

A lamp that somebody has described in other words.

```mermaid
stateDiagram-v2
    [*] --> off
    off --> on : press
    on --> off : press
```

```json definition
{ "title": "The lamp", "events": { "press": { "description": "of the button" } } }
```
"#
    );
}

mod other {
    statemark::machine!(
        r"
## STATE-MACHINE: lamp

```mermaid
stateDiagram-v2
    [*] --> on
    off --> on : press
    on --> off : press
```
"
    );
}

#[test]
fn a_snapshot_fits_a_machine_that_is_described_in_other_words() {
    let mut machine = lamp::Machine::new(());
    let _ = machine.send(lamp::Event::Press).unwrap();
    let snapshot = machine.snapshot();
    assert_ne!(lamp::TABLE, reworded::lamp::TABLE);
    let restored = reworded::lamp::Machine::restore((), snapshot).unwrap();
    assert_eq!(restored.state(), reworded::lamp::State::On);
    let refused = other::lamp::Machine::restore((), snapshot).err();
    let refused = refused.unwrap().to_string();
    assert!(refused.contains("behaves otherwise"), "{refused}");
}
