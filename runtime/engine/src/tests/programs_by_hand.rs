//! Programs, written out: what they give, what they ask, and what they note.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use super::small;
use crate::expression::{assign, program};
use crate::{
    ActionKind, AssignRow, BinaryOperator, Configuration, Constant, Data, Datum, Fault, FieldId,
    GuardId, Host, Instruction, MAX_DATUM_BYTES, Outcome, Recorder, Sections, StateId, Table,
    UnaryOperator, Value, verify,
};

use BinaryOperator::{Add, Divide, Equal, Less, Multiply, NotEqual};
use Instruction::{All, Any, Ask, Binary, InState, Load, Not, Unary};

/// A host that has data, answers every guard with yes, and remembers which it was asked.
struct Asked<'d> {
    data: &'d mut Data,
    guards: Vec<u16>,
}

impl Host for Asked<'_> {
    fn guard(&mut self, guard: GuardId) -> bool {
        self.guards.push(guard.raw());
        // Whatever was read before must not see this.
        self.data.assign(TEXT, Value::Text("changed"));
        true
    }
    fn field(&self, field: FieldId) -> Value<'_> {
        self.data.field(field)
    }
    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        self.data.assign(field, value);
    }
}

const NUMBER: FieldId = FieldId::new(0);
const TEXT: FieldId = FieldId::new(1);
const GONE: FieldId = FieldId::new(2);
const FIELDS: [&str; 4] = ["number", "text", "gone.far", "yes"];

/// A table with these programs, each assigned to the field of its place.
fn table(constants: &[Constant], programs: &[Vec<Instruction>]) -> Table {
    let mut rows: Sections = small(&FIELDS, &["ready"]);
    rows.constants = constants.to_vec();
    for (field, code) in (0..).zip(programs) {
        let start = u32::try_from(rows.code.len()).unwrap();
        rows.code.extend_from_slice(code);
        rows.assigns.push(AssignRow {
            field: FieldId::new(field),
            value: start..u32::try_from(rows.code.len()).unwrap(),
        });
    }
    let all = 0..u32::try_from(rows.assigns.len()).unwrap();
    rows.actions[0].kind = ActionKind::Assign(all);
    verify(rows).unwrap()
}

fn at_rest(table: &Table) -> Configuration {
    Configuration::from_leaves(table, &[StateId::new(1)]).unwrap()
}

/// Whether the program holds, which guards it asked, and which fields it found absent.
fn holds(constants: &[Constant], code: &[Instruction]) -> (bool, usize, Vec<u16>) {
    let table = table(constants, &[code.to_vec()]);
    let json = r#"{"number": 3, "text": "ab", "yes": true}"#;
    let mut data = Data::from_json(&table, json).unwrap();
    let mut host = Asked {
        data: &mut data,
        guards: Vec::new(),
    };
    let mut recorder = Recorder::new();
    let range = table.sections().assigns[0].value.clone();
    let answer = program(&table, &range, &at_rest(&table), &mut host, &mut recorder);
    let asked = host.guards.len();
    let record = recorder.finish(None, Outcome::Ignored);
    (
        answer,
        asked,
        record.absent.iter().map(|id| id.raw()).collect(),
    )
}

fn push(at: u32) -> Instruction {
    Instruction::Push(at..at + 1)
}

#[test]
fn what_decides_ends_the_asking() {
    let yes = FieldId::new(3);
    let ready = GuardId::new(0);
    let ask = |list| [list, Load(yes), Ask(ready)];
    assert_eq!(holds(&[], &ask(Any(2))), (true, 0, vec![]));
    assert_eq!(holds(&[], &ask(All(2))), (true, 1, vec![]));
    assert_eq!(holds(&[], &[All(0)]), (true, 0, vec![]));
    assert_eq!(holds(&[], &[Any(0)]), (false, 0, vec![]));
    let number = [All(2), Load(NUMBER), Ask(ready)];
    assert_eq!(holds(&[], &number), (false, 0, vec![]), "3 isn't true");
}

#[test]
fn what_is_absent_is_false_and_noted() {
    let constants = [Constant::Int(1), Constant::Bool(false)];
    for operator in [Equal, NotEqual, Less] {
        let code = [Binary(operator), Load(GONE), push(0)];
        assert_eq!(holds(&constants, &code), (false, 0, vec![2]));
    }
    let sum = [Binary(Less), Binary(Add), Load(GONE), push(0), push(0)];
    assert_eq!(holds(&constants, &sum), (false, 0, vec![2]));
    assert_eq!(holds(&[], &[Not, Load(GONE)]), (true, 0, vec![2]));
    let has = [Instruction::Has(GONE)];
    assert_eq!(holds(&[], &has), (false, 0, vec![]), "asking notes nothing");
    let among = [Instruction::Among(0..2), Load(GONE)];
    assert_eq!(holds(&constants, &among), (false, 0, vec![2]));
}

#[test]
fn a_fault_ends_the_program_and_is_false() {
    let constants = [Constant::Int(0), Constant::Text(crate::TextId::new(0))];
    let ended = [Not, Binary(Divide), Load(NUMBER), push(0)];
    assert_eq!(holds(&constants, &ended), (false, 0, vec![]));
    let kinds = [Not, Binary(Less), Load(NUMBER), push(1)];
    assert_eq!(holds(&constants, &kinds), (false, 0, vec![]));
}

#[test]
fn a_value_is_read_when_it_is_loaded() {
    // `text` changes while the guard is asked; the program has read it before.
    let code = [
        Binary(Equal),
        Load(TEXT),
        All(2),
        Ask(GuardId::new(0)),
        Load(TEXT),
    ];
    assert_eq!(holds(&[], &code), (false, 1, vec![]));
}

#[test]
fn states_are_asked_for() {
    assert!(holds(&[], &[InState(StateId::new(1))]).0);
    assert!(holds(&[], &[InState(StateId::new(0))]).0);
}

/// Assigns to `number` and `text` what the programs give.
fn assigned(
    json: &str,
    constants: &[Constant],
    programs: &[Vec<Instruction>],
) -> Result<alloc::string::String, Fault> {
    let table = table(constants, programs);
    let mut data = Data::from_json(&table, json).unwrap();
    let range = 0..u32::try_from(programs.len()).unwrap();
    let result = assign(&table, &range, &at_rest(&table), &mut data, &mut ());
    let after = data.to_string();
    if result.is_err() {
        let before = Data::from_json(&table, json).unwrap();
        assert_eq!(after, before.to_string(), "nothing is assigned");
    }
    result.map(|()| after)
}

#[test]
fn assignments_see_what_was_there_before() {
    let swap = [vec![Load(TEXT)], vec![Load(NUMBER)]];
    assert_eq!(
        assigned(r#"{"number":1,"text":[2]}"#, &[], &swap).unwrap(),
        r#"{"number":[2],"text":1}"#
    );
}

#[test]
fn an_action_assigns_all_or_nothing() {
    let one = [Constant::Int(1)];
    let more = vec![Binary(Add), Load(NUMBER), push(0)];
    let both = [more.clone(), vec![Load(GONE)]];
    assert_eq!(assigned(r#"{"number":1}"#, &one, &both), Err(Fault::Absent));
    let most = r#"{"number":9223372036854775807}"#;
    assert_eq!(assigned(most, &one, &[more]), Err(Fault::Overflow));
    let negated = [vec![Unary(UnaryOperator::Negate), Load(NUMBER)]];
    assert_eq!(
        assigned(r#"{"number":"x"}"#, &[], &negated),
        Err(Fault::WrongKind)
    );
}

#[test]
fn texts_and_lists_do_not_grow_without_end() {
    let half = "x".repeat(MAX_DATUM_BYTES / 2 + 1);
    let twice = [vec![Binary(Add), Load(TEXT), Load(TEXT)]];
    let json = Datum::Object([("text".into(), Datum::from(half.as_str()))].into());
    assert_eq!(
        assigned(&json.to_string(), &[], &twice),
        Err(Fault::TooLong)
    );
    // `number.text = number`, over and over: nested deeper each time.
    let mut rows = small(&["number", "number.text"], &[]);
    rows.code = vec![Load(NUMBER)];
    rows.assigns = vec![AssignRow {
        field: TEXT,
        value: 0..1,
    }];
    rows.actions[0].kind = ActionKind::Assign(0..1);
    let table = verify(rows).unwrap();
    let mut data = Data::from_json(&table, r#"{"number": {}}"#).unwrap();
    let results: Vec<_> = (0..100)
        .map(|_| assign(&table, &(0..1), &at_rest(&table), &mut data, &mut ()))
        .collect();
    assert!(results[0].is_ok());
    assert_eq!(results[99], Err(Fault::TooLong));
}

#[test]
fn numbers_are_exact() {
    let most = Value::Int(i128::from(u64::MAX));
    // The float next to u64::MAX is 2^64, which is larger.
    assert_eq!(
        Less.test(most, Value::Float(18_446_744_073_709_551_616.0)),
        Ok(true)
    );
    assert_eq!(
        Equal.test(most, Value::Float(18_446_744_073_709_551_616.0)),
        Ok(false)
    );
    let odd = Value::Int((1 << 53) + 1);
    let even = Value::Float(9_007_199_254_740_992.0);
    assert_eq!(Equal.test(odd, even), Ok(false));
    assert_eq!(BinaryOperator::Greater.test(odd, even), Ok(true));
    assert_eq!(Less.test(Value::Int(0), Value::Float(0.5)), Ok(true));
    assert_eq!(Less.test(Value::Int(-1), Value::Float(-0.5)), Ok(true));
    assert_eq!(Equal.test(Value::Int(0), Value::Float(-0.0)), Ok(true));
    assert_eq!(Add.apply(most, Value::Int(1)), Err(Fault::Overflow));
    let least = Value::Int(i128::from(i64::MIN));
    assert_eq!(Divide.apply(least, Value::Int(-1)), Err(Fault::Overflow));
    assert_eq!(
        Multiply.apply(Value::Float(1e300), Value::Float(1e300)),
        Err(Fault::Overflow)
    );
}
