//! The ten operators of structured guards against those of `statewright-engine`, whose names and rules they have.
//!
//! Every operator, every kind of field and every kind of constant: the answers are the same but for one rule, which has a
//! test of its own below. It is Statewright's rounding: integers go through floats there, and are exact here.

use serde_json::{Value as Json, json};
use statemark_compiler::datum;
use statemark_runtime::{Datum, Operator, Value};
use statewright_engine::{GuardDef, evaluate_guard};

/// Values of every kind, for fields and for constants.
fn values() -> Vec<Json> {
    vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(0.0),
        json!(-0.0),
        json!(1.0),
        json!(0.5),
        json!(-1.5),
        json!(1e300),
        json!(""),
        json!("1"),
        json!("open"),
        json!("pe"),
        json!("Open"),
        json!("été"),
        json!([]),
        json!([1, "open", null, 0.5]),
        json!([1.0, "pe", false, true]),
        json!({}),
        json!({"field": 1}),
    ]
}

fn theirs(operator: Operator, field: Option<&Json>, constant: &Json) -> bool {
    let guard = json!({"field": "field", "op": operator.name(), "value": constant});
    let guard: GuardDef = serde_json::from_value(guard).expect("the same names");
    let context = field.map_or(json!({}), |value| json!({"field": value}));
    evaluate_guard(&guard, &context)
}

fn ours(operator: Operator, field: Option<&Json>, constant: &Json) -> bool {
    let owned = field.and_then(datum::from_json);
    let constants: Vec<Datum> = match (operator, constant) {
        (Operator::In, Json::Array(items)) => items.iter().filter_map(datum::from_json).collect(),
        (Operator::In | Operator::Exists | Operator::NotExists, _) => Vec::new(),
        _ => datum::from_json(constant).into_iter().collect(),
    };
    let constants: Vec<Value<'_>> = constants.iter().map(Datum::value).collect();
    let field = owned.as_ref().map_or(Value::Absent, Datum::value);
    operator.holds(field, &constants)
}

/// Whether a constant may stand in a table: lists and objects are no constants, but for the list behind `in`.
fn is_constant(operator: Operator, constant: &Json) -> bool {
    operator == Operator::In || !(constant.is_array() || constant.is_object())
}

#[test]
fn operators_have_statewrights_truth_table() {
    let values = values();
    let mut compared = 0;
    for operator in Operator::ALL {
        for constant in values.iter().filter(|value| is_constant(operator, value)) {
            for field in values.iter().map(Some).chain([None]) {
                let theirs = theirs(operator, field, constant);
                let ours = ours(operator, field, constant);
                let name = operator.name();
                assert_eq!(ours, theirs, "{field:?} {name} {constant}");
                compared += 1;
            }
        }
    }
    assert!(compared > 5_000, "{compared}");
}

/// Statewright compares integers as floats, so that 2^53 + 1 isn't greater than 2^53; here integers are exact.
#[test]
fn integers_are_not_rounded_as_statewright_does() {
    let (odd, even) = (
        json!(9_007_199_254_740_993_u64),
        json!(9_007_199_254_740_992_u64),
    );
    for (operator, field, constant) in [
        (Operator::Gt, &odd, &even),
        (Operator::Lt, &even, &odd),
        (Operator::Gt, &json!(u64::MAX), &json!(u64::MAX - 1)),
        (Operator::Gt, &odd, &json!(9_007_199_254_740_992.0)),
        (
            Operator::Lt,
            &json!(u64::MAX),
            &json!(18_446_744_073_709_551_616.0),
        ),
    ] {
        let name = operator.name();
        assert!(
            ours(operator, Some(field), constant),
            "{field} {name} {constant}"
        );
        assert!(
            !theirs(operator, Some(field), constant),
            "{field} {name} {constant}"
        );
    }
}
