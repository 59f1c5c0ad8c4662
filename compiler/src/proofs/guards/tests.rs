//! What is said of pairs of guards, held against the engine over sample values.

use statemark_runtime::{
    EventId, FieldId, GuardId, Host, Machine as Engine, Outcome, Table, TimerId, Value, verify,
};

use super::{covers, excludes};
use crate::back::table;
use crate::ir::{Expression, Machine};
use crate::source::Sources;
use crate::{Options, compile};

/// Guards of a diagram: of a number that is there (`n`), a text that is there (`t`), a field that may be absent (`x`), and
/// of the host (`asked`).
const GUARDS: [&str; 33] = [
    "n < 3",
    "n >= 3",
    "n > 3",
    "n <= 3",
    "n == 3",
    "n != 3",
    "n == 4",
    "n == 3.0",
    "n > 4",
    "!(n < 3)",
    "!(n == 3)",
    "n < 3 && asked",
    "n >= 3 && asked",
    "n < 3 || asked",
    "t == \"a\"",
    "t != \"a\"",
    "t == \"b\"",
    "!(t == \"a\")",
    "x < 3",
    "x >= 3",
    "x == 3",
    "x != 3",
    "x == 4",
    "x == null",
    "x != null",
    "x == true",
    "x == \"3\"",
    "x > 3",
    "!(x < 3)",
    "asked",
    "!asked",
    "!(!asked)",
    "other",
];

/// Guards of a definition, in a form of their own.
const DEFINED: [(&str, &str); 9] = [
    ("below", r#"{ "field": "n", "op": "lt", "value": 3 }"#),
    ("from", r#"{ "field": "n", "op": "gte", "value": 3 }"#),
    ("loose_below", r#"{ "field": "x", "op": "lt", "value": 3 }"#),
    ("loose_from", r#"{ "field": "x", "op": "gte", "value": 3 }"#),
    ("loose_is", r#"{ "field": "x", "op": "eq", "value": 3 }"#),
    (
        "loose_is_not",
        r#"{ "field": "x", "op": "neq", "value": 3 }"#,
    ),
    (
        "not_loose",
        r#"{ "not": { "field": "x", "op": "lt", "value": 3 } }"#,
    ),
    (
        "both",
        r#"{ "all": [{ "field": "n", "op": "lt", "value": 3 }, { "field": "x", "op": "eq", "value": 3 }] }"#,
    ),
    (
        "some",
        r#"{ "any": [{ "field": "n", "op": "lt", "value": 3 }, { "field": "x", "op": "eq", "value": 3 }] }"#,
    ),
];

/// The fields: one is anything, and may be absent.
const SCHEMA: &str = r#""context_schema": { "type": "object", "properties":
    { "n": { "type": "number" }, "t": { "type": "string" }, "x": {} }, "required": ["n", "t"] }"#;

/// What is there of everything.
#[derive(Clone, Copy, Debug)]
struct Sample {
    n: Value<'static>,
    t: Value<'static>,
    x: Value<'static>,
    asked: bool,
}

struct Given<'m>(&'m Machine, Sample);

impl Host for Given<'_> {
    fn guard(&mut self, guard: GuardId) -> bool {
        let mut all = self.0.guards.iter();
        let found = all.find(|(handle, _)| handle.index() == guard.index());
        // Whatever else is asked is answered otherwise.
        (found.unwrap().1.name == "asked") == self.1.asked
    }

    fn field(&self, field: FieldId) -> Value<'_> {
        let mut all = self.0.fields.iter();
        let found = all.find(|(handle, _)| handle.index() == field.index());
        match found.unwrap().1.path.as_str() {
            "n" => self.1.n,
            "t" => self.1.t,
            "x" => self.1.x,
            other => panic!("{other}"),
        }
    }

    fn schedule(&mut self, _: TimerId, _: u64) {}

    fn cancel(&mut self, _: TimerId) {}
}

fn samples() -> Vec<Sample> {
    let numbers = [
        Value::Int(2),
        Value::Int(3),
        Value::Int(4),
        Value::Float(3.0),
        Value::Float(3.5),
    ];
    let texts = [Value::Text("a"), Value::Text("b"), Value::Text("3")];
    let others = [
        Value::Absent,
        Value::Null,
        Value::Bool(true),
        Value::Bool(false),
    ];
    let mut samples = Vec::new();
    for n in numbers {
        for t in texts {
            for x in others.into_iter().chain(numbers).chain(texts) {
                for asked in [true, false] {
                    samples.push(Sample { n, t, x, asked });
                }
            }
        }
    }
    samples
}

fn machine() -> Machine {
    let defined = DEFINED.iter().map(|(name, _)| *name);
    let all: Vec<&str> = GUARDS.into_iter().chain(defined).collect();
    let ways = all.iter().enumerate();
    let ways: String = ways
        .map(|(at, guard)| format!("a --> b : go{at} [{guard}]\n"))
        .collect();
    let defined: Vec<String> = DEFINED
        .iter()
        .chain(
            [
                ("asked", r#""somebody has asked""#),
                ("other", r#""somebody else has""#),
            ]
            .iter(),
        )
        .map(|(name, guard)| format!("\"{name}\": {guard}"))
        .collect();
    let text = format!(
        "## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n[*] --> a\n{ways}b --> [*] : end\n```\n\n```json definition\n\
         {{ \"context\": {{ \"n\": 0.5, \"t\": \"a\" }}, {SCHEMA}, \"guards\": {{ {} }} }}\n```\n",
        defined.join(", ")
    );
    let mut sources = Sources::new();
    sources.add("spec.md", text);
    let compiled = compile(&sources, &Options::default());
    let machine = compiled.machines.first();
    let machine = machine.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    (**machine).clone()
}

/// By guard: in which samples it holds.
fn held(machine: &Machine, table: &Table, count: usize, samples: &[Sample]) -> Vec<Vec<bool>> {
    let holds = |at: usize, sample: Sample| {
        let event: EventId = table.event_named(&format!("go{at}")).unwrap();
        let mut engine = Engine::start(table, Given(machine, sample)).unwrap();
        engine.send(event).unwrap() != Outcome::Ignored
    };
    (0..count)
        .map(|at| samples.iter().map(|&it| holds(at, it)).collect())
        .collect()
}

#[test]
fn what_is_said_of_two_guards_is_so_of_every_value() {
    let machine = machine();
    let table = verify(table::rows(&machine)).unwrap();
    let guards: Vec<&Expression> = machine
        .transitions
        .iter()
        .filter_map(|(_, it)| it.guard.as_ref().map(|guard| &guard.value))
        .collect();
    let names: Vec<&str> = GUARDS
        .into_iter()
        .chain(DEFINED.iter().map(|it| it.0))
        .collect();
    assert_eq!(guards.len(), names.len());
    let samples = samples();
    let held = held(&machine, &table, guards.len(), &samples);
    let mut said = Vec::new();
    for (at, one) in guards.iter().enumerate() {
        for (other, two) in guards.iter().enumerate().filter(|(other, _)| *other != at) {
            let each = || held[at].iter().zip(&held[other]).zip(&samples);
            let (first, second) = (names[at], names[other]);
            if excludes(one, two) {
                let both = each().find(|((one, two), _)| **one && **two);
                assert!(
                    both.is_none(),
                    "{first} and {second} hold together: {both:?}"
                );
                said.push(format!("never both: {first}, {second}"));
            }
            if covers(&machine, one, two) {
                let none = each().find(|((one, two), _)| !**one && !**two);
                assert!(
                    none.is_none(),
                    "neither {first} nor {second} holds: {none:?}"
                );
                said.push(format!("always one: {first}, {second}"));
            }
        }
    }
    // Something is said, and as much one way round as the other.
    for line in [
        "always one: n < 3, n >= 3",
        "always one: from, below",
        "always one: n == 3, n != 3",
        "always one: t == \"a\", t != \"a\"",
        "always one: asked, !asked",
        "never both: n < 3, n > 3",
        "never both: n == 3, n == 4",
        "never both: x < 3, x >= 3",
        "never both: x < 3, !(x < 3)",
        "never both: both, from",
        "never both: loose_below, not_loose",
        "never both: x == 3, x == \"3\"",
        "never both: asked, !asked",
    ] {
        assert!(said.iter().any(|it| it == line), "{line}: {said:#?}");
        let (kind, pair) = line.split_once(": ").unwrap();
        let (one, two) = pair.split_once(", ").unwrap();
        let turned = format!("{kind}: {two}, {one}");
        assert!(said.contains(&turned), "{turned}");
    }
    // What may be absent decides nothing.
    let unsure =
        |it: &&String| it.starts_with("always") && (it.contains("x ") || it.contains("loose"));
    assert_eq!(said.iter().find(unsure), None);
}
