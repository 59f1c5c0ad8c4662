//! Runs whose contexts have many fields: what they hold is what the same steps make of a small one.

use serde_json::{Map, Value, json};
use statemark_runs::{RunState, SendEvent, SendOutcome, StartRun, state};

use crate::harness::Bench;

/// The spec of a run that takes `set` for ever, and `leave` once a field is large enough.
fn spec(machine: &Value) -> String {
    let mut definition = json!({
        "id": "wide",
        "initial": "open",
        "actions": {"add": {"assign": {"total": "total + f7"}}},
        "states": {
            "open": {
                "on": {
                    "set": {"actions": ["note"]},
                    "count": {"actions": ["add"]},
                    "leave": {"target": "over", "guard": "f7 > 250"},
                },
            },
            "over": {"type": "final"},
        },
    });
    let all = definition.as_object_mut().unwrap();
    all.extend(machine.as_object().unwrap().clone());
    format!("# Wide\n\n## STATE-MACHINE\n\n```json definition\n{definition:#}\n```\n")
}

fn send(bench: &Bench, run: &str, event: &str, data: Option<Value>) -> SendOutcome {
    let event = event.to_owned();
    let send = SendEvent {
        event,
        data,
        ..SendEvent::default()
    };
    let written = bench.runs.execute(&bench.order(run), &send).unwrap();
    written.outcome
}

fn start(bench: &Bench, run: &str, input: Value) {
    let start = StartRun {
        workflow: "wide".to_owned(),
        input,
        ..StartRun::default()
    };
    bench.runs.execute(&bench.order(run), &start).unwrap();
}

fn load(bench: &Bench, run: &str) -> RunState {
    let run = run.parse().unwrap();
    let loaded = bench.runs.load(&run).unwrap();
    let anew = state::replay(bench.runs.store(), &run, None).unwrap();
    assert_eq!(*loaded.state, anew);
    anew
}

#[test]
fn a_wide_context_is_what_its_steps_make_of_it() {
    let mut fields: Map<String, Value> =
        (0..1_000).map(|it| (format!("f{it}"), json!(0))).collect();
    fields.insert("total".to_owned(), json!(0));
    let bench = Bench::new(&[("wide.md", &spec(&json!({ "context": fields })))]);
    start(&bench, "r", Value::Null);
    let mut total = 0;
    for round in 1..=300 {
        // Fields that lie over others are replaced, joined with them, and replaced again.
        let name = format!("f{}", round % 200);
        let sent = send(&bench, "r", "set", Some(json!({ &name: round })));
        let SendOutcome::Taken(event) = sent else {
            panic!("{sent:?}");
        };
        assert_eq!(json!(event.step.changed), json!({ &name: round }));
        fields.insert(name, json!(round));
        if round % 50 == 0 {
            total += fields["f7"].as_i64().unwrap();
            fields.insert("total".to_owned(), json!(total));
            assert!(matches!(
                send(&bench, "r", "count", None),
                SendOutcome::Taken(_)
            ));
        }
    }
    let state = load(&bench, "r");
    assert_eq!(state.context.to_map(), fields);
    assert_eq!(json!(state.context), json!(fields));
    let size = json!(fields).to_string().len();
    assert_eq!(state.context.bytes() + 1, size);
    // What doesn't change a field isn't a change, though it comes again.
    let SendOutcome::Taken(event) = send(&bench, "r", "set", Some(json!({"f7": fields["f7"]})))
    else {
        panic!("the event is taken");
    };
    assert!(event.step.changed.is_empty());
    assert!(matches!(
        send(&bench, "r", "leave", None),
        SendOutcome::Refused(_)
    ));
    let data = json!({"f7": 251});
    assert!(matches!(
        send(&bench, "r", "leave", Some(data)),
        SendOutcome::Taken(_)
    ));
    // A process that remembers nothing reads the same.
    let other = bench.bare().runs.load(&"r".parse().unwrap()).unwrap();
    assert_eq!(*other.state, load(&bench, "r"));
}

#[test]
fn a_context_that_is_too_long_is_refused_when_it_becomes_so() {
    let fields = json!({"f7": 0, "total": 0});
    let bench = Bench::new(&[("wide.md", &spec(&json!({ "context": fields })))]);
    start(&bench, "r", Value::Null);
    // A record has what comes with the event twice, and may be no longer than a context: it takes several to fill one.
    for name in ["first", "second"] {
        let part = Some(json!({ name: "x".repeat(350_000) }));
        assert!(matches!(
            send(&bench, "r", "set", part),
            SendOutcome::Taken(_)
        ));
    }
    let most = 1 << 20;
    let rest = most - load(&bench, "r").context.bytes() - 1;
    // With its name, its quotes and its punctuation the text is as long as there is room.
    let text = |length: usize| Some(json!({"long": "x".repeat(length - r#""long":"","#.len())}));
    let longer = send(&bench, "r", "set", text(rest + 1));
    let SendOutcome::Refused(refused) = longer else {
        panic!("{longer:?}");
    };
    assert!(format!("{refused:?}").contains("longer than 1048576 bytes"));
    assert!(matches!(
        send(&bench, "r", "set", text(rest)),
        SendOutcome::Taken(_)
    ));
    assert_eq!(json!(load(&bench, "r").context).to_string().len(), most);
    assert!(matches!(
        send(&bench, "r", "set", text(rest - 9)),
        SendOutcome::Taken(_)
    ));
}

#[test]
fn fields_are_checked_as_the_whole_context_is() {
    let number = json!({"type": "number"});
    let of = |more: Value| {
        let mut schema = json!({
            "type": "object",
            "properties": {"f7": number, "total": number, "name": {"type": "string"}},
        });
        let all = schema.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
        schema
    };
    let cases = [
        (of(json!({})), json!({"f7": 1}), true),
        (of(json!({})), json!({"f7": "one"}), false),
        (
            of(json!({"required": ["total"]})),
            json!({"name": "a"}),
            true,
        ),
        (
            of(json!({"additionalProperties": false})),
            json!({"f7": 1}),
            true,
        ),
        (
            of(json!({"additionalProperties": false})),
            json!({"name": 1}),
            false,
        ),
        (of(json!({"maxProperties": 2})), json!({"f7": 1}), true),
        (of(json!({"maxProperties": 2})), json!({"name": "a"}), false),
        (
            of(json!({"allOf": [{"required": ["f7"]}]})),
            json!({"total": 1}),
            true,
        ),
        (
            of(
                json!({"if": {"required": ["name"]}, "then": {"properties": {"f7": {"minimum": 1}}}}),
            ),
            json!({"name": "a"}),
            false,
        ),
        (
            of(json!({
                "properties": {"f7": {"$ref": "#/$defs/small"}, "total": number},
                "$defs": {"small": {"maximum": 9}},
            })),
            json!({"f7": 10}),
            false,
        ),
        (
            of(json!({
                "properties": {"f7": {"$ref": "#/properties/total"}, "total": {"maximum": 9}},
            })),
            json!({"f7": 9}),
            true,
        ),
    ];
    for (schema, data, is_taken) in cases {
        let context = json!({"f7": 0, "total": 0});
        let machine = json!({"context": context, "context_schema": schema});
        let bench = Bench::new(&[("wide.md", &spec(&machine))]);
        start(&bench, "r", Value::Null);
        let sent = send(&bench, "r", "set", Some(data.clone()));
        let was_taken = matches!(sent, SendOutcome::Taken(_));
        assert_eq!(was_taken, is_taken, "{schema} {data}: {sent:?}");
    }
}
