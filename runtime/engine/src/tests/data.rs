//! Contexts against a naive model: one value, copied whole where it has to come back.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::small;
use crate::{
    Data, Datum, FieldId, Host, MergeKind, MergeRow, Sections, TextId, Value, decode, encode,
    verify,
};

const FIELDS: [&str; 8] = [
    "a",
    "a.b",
    "a.b.c",
    "a.d",
    "e",
    "f.g",
    "event.a",
    "event.b.c",
];

/// A value of any kind, a few levels deep, whose keys are those of the fields.
fn datum() -> impl Strategy<Value = Datum> {
    let leaf = prop_oneof![
        Just(Datum::Null),
        any::<bool>().prop_map(Datum::Bool),
        any::<i64>().prop_map(Datum::from),
        any::<u64>().prop_map(Datum::from),
        any::<f64>()
            .prop_filter("JSON has it", |float| float.is_finite())
            .prop_map(Datum::Float),
        "\\PC{0,6}".prop_map(Datum::Text),
        "[\\x00-\\x7f\u{1f600}]{0,3}".prop_map(Datum::Text),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Datum::List),
            object(inner).prop_map(Datum::Object),
        ]
    })
}

fn object(inner: impl Strategy<Value = Datum>) -> impl Strategy<Value = BTreeMap<String, Datum>> {
    proptest::collection::btree_map("[a-h]", inner, 0..4)
}

#[derive(Clone, Debug)]
enum Move {
    Assign(u16, Datum),
    Receive(BTreeMap<String, Datum>),
    Begin,
    Rollback,
    Commit,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => (0..6_u16, datum()).prop_map(|(field, datum)| Move::Assign(field, datum)),
        1 => object(datum()).prop_map(Move::Receive),
        1 => Just(Move::Begin),
        1 => Just(Move::Rollback),
        1 => Just(Move::Commit),
    ];
    proptest::collection::vec(one, 0..20)
}

/// What a context is, said simply.
#[derive(Clone, Debug)]
struct Model {
    now: (Datum, Option<Datum>),
    before: (Datum, Option<Datum>),
    received: bool,
}

impl Model {
    fn field(&self, path: &str) -> Option<&Datum> {
        let keys: Vec<&str> = path.split('.').collect();
        match keys.split_first().unwrap() {
            (&"event", rest) => self.now.1.as_ref().and_then(|event| event.at(rest)),
            _ => self.now.0.at(&keys),
        }
    }

    fn assign(&mut self, path: &str, datum: &Datum) {
        let mut at = &mut self.now.0;
        for key in path.split('.') {
            if !matches!(at, Datum::Object(_)) {
                *at = Datum::Object(BTreeMap::new());
            }
            let Datum::Object(fields) = at else {
                panic!("made above")
            };
            at = fields.entry(key.to_string()).or_default();
        }
        *at = datum.clone();
    }

    fn make(&mut self, step: &Move, merges: impl Fn(&str) -> bool) {
        match step {
            Move::Assign(field, datum) => self.assign(FIELDS[usize::from(*field)], datum),
            Move::Receive(fields) => {
                if self.received {
                    self.now = self.before.clone();
                }
                self.before = self.now.clone();
                for (key, datum) in fields {
                    if merges(key) {
                        self.assign(key, datum);
                    }
                }
                self.now.1 = Some(Datum::Object(fields.clone()));
                self.received = true;
            }
            Move::Begin => {
                if !self.received {
                    self.before = self.now.clone();
                }
                self.received = false;
            }
            Move::Rollback => {
                self.now = self.before.clone();
                self.received = false;
            }
            Move::Commit => {
                self.now.1 = None;
                self.before = self.now.clone();
                self.received = false;
            }
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 400, failure_persistence: None, ..Config::default() })]

    #[test]
    fn json_comes_back(datum in datum()) {
        let text = datum.to_string();
        prop_assert_eq!(Datum::from_json(&text), Ok(datum), "{}", text);
    }

    #[test]
    fn text_is_read_or_refused(text in "[\\[\\]{}\",:0-9eE+. \\\\untrfalse\u{e9}-]{0,24}") {
        if let Ok(datum) = Datum::from_json(&text) {
            prop_assert_eq!(Datum::from_json(&datum.to_string()), Ok(datum));
        }
    }

    #[test]
    fn a_context_is_what_its_model_is(
        first in object(datum()),
        moves in moves(),
        merge in 0..3_usize,
    ) {
        let table = verify(small(&FIELDS, &[])).unwrap();
        let merges = |key: &str| [true, ["a", "h"].contains(&key), false][merge];
        let mut data = Data::new(&table, first.clone());
        let start = (Datum::Object(first), None);
        let mut model = Model { now: start.clone(), before: start, received: false };
        for step in &moves {
            match step {
                Move::Assign(field, datum) => data.assign(FieldId::new(*field), datum.value()),
                Move::Receive(fields) => data.receive(Datum::Object(fields.clone()), merges),
                Move::Begin => data.begin(),
                Move::Rollback => data.rollback(),
                Move::Commit => data.commit(),
            }
            model.make(step, merges);
            prop_assert_eq!(data.to_datum(), model.now.0.clone());
            for (id, path) in (0..).zip(FIELDS) {
                let expected = model.field(path).map_or(Value::Absent, Datum::value);
                prop_assert_eq!(data.field(FieldId::new(id)), expected, "{}", path);
            }
            // After a rollback there is nothing left to take back.
            if matches!(step, Move::Rollback) {
                model.before = model.now.clone();
            }
        }
    }
}

#[test]
fn what_is_not_json_is_refused_where_it_is_wrong() {
    for (text, message) in [
        ("", "at byte 0: expected a value"),
        ("{\"a\" 1}", "at byte 5: expected `:`"),
        (
            "{\"a\": 1, \"a\": 2}",
            "at byte 9: the object has this key already",
        ),
        ("01", "at byte 1: expected the end"),
        ("-", "at byte 1: expected a digit"),
        (
            "18446744073709551616",
            "at byte 0: a number that can't be held exactly enough",
        ),
        (
            "1e999",
            "at byte 0: a number that can't be held exactly enough",
        ),
        ("\"\u{1}\"", "at byte 1: a control character in a string"),
        ("\"\\ud800\"", "at byte 3: an escape that JSON doesn't have"),
        ("\"é", "at byte 3: expected `\"`"),
        ("nul", "at byte 0: expected a value"),
    ] {
        assert_eq!(
            Datum::from_json(text).unwrap_err().to_string(),
            message,
            "{text}"
        );
    }
    let deep = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(Datum::from_json(&deep(64)).is_ok());
    assert_eq!(
        Datum::from_json(&deep(65)).unwrap_err().to_string(),
        "at byte 64: nested more than 64 deep"
    );
    assert_eq!(
        Datum::from_json("\"\\ud83d\\ude00\""),
        Ok(Datum::from("😀"))
    );
}

/// The merge rows as a list: the event's number, the kind, the fields.
fn rules(rows: &Sections) -> Vec<(Option<u16>, MergeKind, Option<&str>)> {
    let text = |id: TextId| &*rows.texts[id.index()];
    let rules = rows.merges.iter();
    rules
        .map(|row| (row.event.map(|id| id.raw()), row.kind, row.field.map(text)))
        .collect()
}

#[test]
fn the_metadata_of_format_2_decides_what_is_merged() {
    let only = |field| (None, MergeKind::Only, field);
    for (metadata, expected) in [
        ("{}", Vec::new()),
        (r#"{"merge": "shallow"}"#, Vec::new()),
        (r#"{"merge": "none"}"#, Vec::from([only(None)])),
        (
            r#"{"merge": "none", "context_schema": {"properties": {"count": {}}}}"#,
            Vec::from([only(None)]),
        ),
        (
            r#"{"context_schema": {"type": "object", "properties": {"n": {}, "count": {}}}}"#,
            Vec::from([only(Some("count")), only(Some("n"))]),
        ),
        (
            r#"{"context_schema": {"properties": {}}}"#,
            Vec::from([only(None)]),
        ),
        // The short form, and a schema that declares no field and is read as one.
        (
            r#"{"context_schema": {"count": "number"}}"#,
            Vec::from([only(Some("count"))]),
        ),
        (
            r#"{"context_schema": {"type": "object"}}"#,
            Vec::from([only(Some("type"))]),
        ),
    ] {
        let mut rows = small(&["count"], &[]);
        rows.metadata = TextId::from_index(rows.texts.len());
        rows.texts.push(metadata.into());
        let mut bytes = encode(&rows).unwrap();
        assert_eq!(rules(&decode(&bytes).unwrap()), [], "format 3 has rows");
        bytes[8] = 2;
        let former = decode(&bytes).unwrap();
        assert_eq!(rules(&former), expected, "{metadata}");
        assert!(verify(former).is_ok(), "{metadata}");
    }
}

#[test]
fn an_event_has_its_own_rule_or_that_of_the_others() {
    let mut rows = small(&["a"], &[]);
    let mut text = |text: &str| {
        rows.texts.push(text.into());
        TextId::from_index(rows.texts.len() - 1)
    };
    let (a, b) = (text("a"), text("b"));
    let event = |number| Some(crate::EventId::new(number));
    let row = |event, kind, field| MergeRow { event, kind, field };
    rows.events = ["e", "f", "g"]
        .map(|name| crate::EventRow {
            name: text(name).unwrap(),
            kind: crate::EventKind::Named,
            metadata: None,
        })
        .into();
    let none = verify(rows.clone()).unwrap();
    assert!(none.merges(event(0), "a") && none.merges(None, ""));
    rows.merges = [
        row(None, MergeKind::Except, a),
        row(event(0), MergeKind::Only, a),
        row(event(0), MergeKind::Only, b),
        row(event(2), MergeKind::Only, None),
    ]
    .into();
    let bytes = encode(&rows).unwrap();
    assert_eq!(decode(&bytes).unwrap(), rows);
    let table = verify(rows).unwrap();
    let merged = |event| ["a", "b", "c", ""].map(|field| table.merges(event, field));
    assert_eq!(merged(None), [false, true, true, true]);
    assert_eq!(merged(event(0)), [true, true, false, false]);
    assert_eq!(merged(event(1)), [false, true, true, true]);
    assert_eq!(merged(event(2)), [false, false, false, false]);
}
