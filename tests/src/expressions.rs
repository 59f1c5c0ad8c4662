//! Expressions against the published crate `cel`, which reads and evaluates the same language.
//!
//! 10,000 random expressions, each in ten random contexts, on the subset that both have: the same value, or both refuse.
//! A failure prints the seed of its expression, and the smallest part of it that still fails; `STATEMARK_SEED` runs that
//! one alone, `STATEMARK_EXPRESSIONS` sets how many are tried.
//!
//! A thousand of them are also read by the compiler, from the same text as `cel` reads.
//!
//! Where the two differ on purpose, [`excused`] says so, and a test below has the case and the reason.

mod tree;

use std::collections::HashMap;
use std::sync::Arc;

use cel::{Context, Program, Value as Cel};
use serde_json::json;
use statemark_compiler::{Options, back, compile, source::Sources};
use statemark_runtime::{
    BinaryOperator, Configuration, Data, Datum, Fault, StateId, Table, decode, evaluate, verify,
};

use tree::{Chance, Kind, Tree, rows};

/// What an expression is to `cel`; `None` if it refuses.
fn theirs(text: &str, context: &Context<'_, '_>) -> Option<Cel> {
    let program = Program::compile(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    program.execute(context).ok()
}

/// A context with the fields of an object.
fn their_context(datum: &Datum) -> Context<'static, 'static> {
    let mut context = Context::default();
    let Datum::Object(fields) = datum else {
        panic!("an object")
    };
    for (key, field) in fields {
        context.add_variable_from_value(key.as_str(), cel(field));
    }
    context
}

fn cel(datum: &Datum) -> Cel {
    match datum {
        Datum::Null => Cel::Null,
        Datum::Bool(bool) => Cel::Bool(*bool),
        Datum::Int(int) => match i64::try_from(*int) {
            Ok(int) => Cel::Int(int),
            Err(_) => Cel::UInt(u64::try_from(*int).unwrap()),
        },
        Datum::Float(float) => Cel::Float(*float),
        Datum::Text(text) => Cel::String(Arc::new(text.clone())),
        Datum::List(items) => Cel::List(Arc::new(items.iter().map(cel).collect())),
        Datum::Object(fields) => {
            let fields: HashMap<String, Cel> = fields
                .iter()
                .map(|(key, field)| (key.clone(), cel(field)))
                .collect();
            Cel::Map(fields.into())
        }
    }
}

/// What the machine makes of the assignment at that place.
fn ours(table: &Table, at: usize, data: &mut Data) -> Result<Datum, Fault> {
    let rest = Configuration::from_leaves(table, &[StateId::new(1)]).unwrap();
    let code = &table.sections().assigns[at].value;
    evaluate(table, code, &rest, data, &mut ())
}

fn our_context(table: &Table, datum: &Datum) -> Data {
    let Datum::Object(fields) = datum else {
        panic!("an object")
    };
    Data::new(table, fields.clone())
}

fn our_table(trees: &[&Tree]) -> Table {
    verify(rows(trees)).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Whether both values are the same, of the same kind.
fn same(ours: &Datum, theirs: &Cel) -> bool {
    match (ours, theirs) {
        (Datum::Null, Cel::Null) => true,
        (Datum::Bool(a), Cel::Bool(b)) => a == b,
        (Datum::Int(a), Cel::Int(b)) => *a == i128::from(*b),
        (Datum::Int(a), Cel::UInt(b)) => *a == i128::from(*b),
        (Datum::Float(a), Cel::Float(b)) => a.to_bits() == b.to_bits(),
        (Datum::Text(a), Cel::String(b)) => a == b.as_ref(),
        (Datum::List(a), Cel::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Datum::Object(_), Cel::Map(_)) => cel(ours) == *theirs,
        _ => false,
    }
}

/// Whether the difference is one on purpose. Each reason names the test that has it.
fn excused(tree: &Tree, context: &Context<'_, '_>) -> bool {
    tree.parts().into_iter().any(|part| match part {
        // `a_fault_ends_the_whole_expression`, `what_is_not_true_is_false`
        Tree::And(parts) | Tree::Or(parts) => parts.iter().any(|part| !is_bool(part, context)),
        Tree::Not(inner) => !is_bool(inner, context),
        // `floats_stay_finite`, `integers_and_floats_compare_exactly`, `truths_have_no_order`
        _ => match theirs(&part.to_string(), context) {
            Some(Cel::Float(float)) => !float.is_finite(),
            Some(Cel::Bool(_)) => {
                let children = part.children();
                let large = children.iter().any(|child| is_large(child, context));
                large || (is_order(part) && children.iter().all(|child| is_bool(child, context)))
            }
            _ => false,
        },
    })
}

fn is_order(tree: &Tree) -> bool {
    use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
    matches!(
        tree,
        Tree::Binary(Less | LessEqual | Greater | GreaterEqual, _)
    )
}

fn is_bool(tree: &Tree, context: &Context<'_, '_>) -> bool {
    matches!(theirs(&tree.to_string(), context), Some(Cel::Bool(_)))
}

/// Whether it is an integer that no float has.
fn is_large(tree: &Tree, context: &Context<'_, '_>) -> bool {
    let large = |int: u64| int > 1 << 53;
    match theirs(&tree.to_string(), context) {
        Some(Cel::Int(int)) => large(int.unsigned_abs()),
        Some(Cel::UInt(int)) => large(int),
        _ => false,
    }
}

/// One expression, read by `cel`.
struct Case {
    tree: Tree,
    program: Program,
}

impl Case {
    fn new(tree: Tree) -> Self {
        let text = tree.to_string();
        let program = Program::compile(&text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        Self { tree, program }
    }

    /// The expression of a seed.
    fn of_seed(seed: u64) -> Self {
        let mut chance = Chance(seed);
        let kind = chance.pick(&[Kind::Bool, Kind::Bool, Kind::Int, Kind::Float, Kind::Text]);
        Self::new(chance.tree(kind, 4))
    }

    /// The difference between the two, if there is one that isn't on purpose.
    fn difference(&self, ours: &Result<Datum, Fault>, context: &Seen) -> Option<String> {
        let theirs = self.program.execute(&context.theirs).ok();
        let agree = match (ours, &theirs) {
            (Ok(ours), Some(theirs)) => same(ours, theirs),
            (Err(_), None) => true,
            _ => false,
        };
        (!agree && !excused(&self.tree, &context.theirs)).then(|| {
            let (tree, datum) = (&self.tree, &context.ours);
            format!("{tree}\nin {datum}\nis {ours:?}, and to cel {theirs:?}")
        })
    }
}

/// One context, for both.
struct Seen {
    ours: Datum,
    theirs: Context<'static, 'static>,
}

/// How many expressions share a table and ten contexts.
const BATCH: u64 = 200;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn expressions_mean_what_they_mean_to_cel() {
    let only = std::env::var_os("STATEMARK_SEED").map(|_| number("STATEMARK_SEED", 0));
    let count = number("STATEMARK_EXPRESSIONS", 10_000);
    let seeds: Vec<u64> = only.map_or_else(|| (0..count).collect(), |seed| vec![seed]);
    let (mut values, mut refusals) = (0, 0);
    for seeds in seeds.chunk_by(|a, b| a / BATCH == b / BATCH) {
        let mut chance = Chance(!(seeds[0] / BATCH));
        let contexts: Vec<Seen> = (0..10)
            .map(|_| {
                let ours = chance.context();
                let theirs = their_context(&ours);
                Seen { ours, theirs }
            })
            .collect();
        let cases: Vec<Case> = seeds.iter().map(|&seed| Case::of_seed(seed)).collect();
        let trees: Vec<&Tree> = cases.iter().map(|case| &case.tree).collect();
        let table = our_table(&trees);
        let of = |seen: &Seen| our_context(&table, &seen.ours);
        let mut data: Vec<Data> = contexts.iter().map(of).collect();
        for (at, (case, seed)) in cases.iter().zip(seeds).enumerate() {
            for (context, data) in contexts.iter().zip(&mut data) {
                let ours = ours(&table, at, data);
                match ours {
                    Ok(_) => values += 1,
                    Err(_) => refusals += 1,
                }
                if let Some(difference) = case.difference(&ours, context) {
                    let smallest = smallest_difference(&case.tree, context);
                    panic!("seed {seed}: {}", smallest.unwrap_or(difference));
                }
            }
        }
    }
    if only.is_none() {
        let both = values > refusals * 2 && refusals * 50 > values;
        assert!(both, "{values} values, {refusals} refusals");
    }
}

/// The smallest part that still fails: it says more.
fn smallest_difference(tree: &Tree, context: &Seen) -> Option<String> {
    tree.parts().into_iter().rev().find_map(|part| {
        let table = our_table(&[part]);
        let ours = ours(&table, 0, &mut our_context(&table, &context.ours));
        Case::new(part.clone()).difference(&ours, context)
    })
}

/// The table of a machine that the compiler made of the expression's text, and where its program is; none if the
/// compiler refuses it, because it knows what the fields hold.
fn compiled(text: &str, kind: Kind) -> Option<(Table, std::ops::Range<u32>)> {
    let assigned = match kind {
        Kind::Int => "i",
        Kind::Float => "x",
        Kind::Text => "s",
        _ => "p",
    };
    let definition = json!({
        "id": "machine",
        "initial": "a",
        "context": {
            "p": true, "q": true, "i": 1, "j": 1, "x": 0.5, "y": 0.5, "s": "", "t": "",
            "l": [], "m": [], "o": { "k": 1, "n": { "k": "" } }
        },
        "guards": { "it": if kind == Kind::Bool { text } else { "p" } },
        "actions": { "does": { "assign": { assigned: if kind == Kind::Bool { "p" } else { text } } } },
        "states": {
            "a": { "on": { "GO": { "target": "b", "guard": "it", "actions": ["does"] } } },
            "b": { "type": "final" }
        }
    });
    let mut sources = Sources::new();
    sources.add("machine.workflow.json", definition.to_string());
    let compiled = compile(&sources, &Options::default());
    let valid = compiled.machines.first()?;
    let table = verify(decode(&back::table::write(valid)).unwrap()).unwrap();
    let code = match kind {
        Kind::Bool => table.sections().transitions[0].guard.clone(),
        _ => table.sections().assigns[0].value.clone(),
    };
    Some((table, code))
}

#[test]
fn the_compiler_reads_what_cel_reads() {
    let only = std::env::var_os("STATEMARK_SEED").map(|_| number("STATEMARK_SEED", 0));
    let seeds = only.map_or(0..1_000, |seed| seed..seed + 1);
    let (mut read, mut refused) = (0, 0);
    for seed in seeds {
        let kinds = [Kind::Bool, Kind::Bool, Kind::Int, Kind::Float, Kind::Text];
        let kind = Chance(seed).pick(&kinds);
        let case = Case::of_seed(seed);
        let text = case.tree.to_string();
        let Some((table, code)) = compiled(&text, kind) else {
            refused += 1;
            continue;
        };
        read += 1;
        let rest = table.state_named("a").unwrap();
        let rest = Configuration::from_leaves(&table, &[rest]).unwrap();
        let mut chance = Chance(!seed);
        for _ in 0..5 {
            let ours = chance.context();
            let theirs = their_context(&ours);
            let seen = Seen { ours, theirs };
            let mut data = our_context(&table, &seen.ours);
            let value = evaluate(&table, &code, &rest, &mut data, &mut ());
            if let Some(difference) = case.difference(&value, &seen) {
                panic!("seed {seed}: {difference}");
            }
        }
    }
    assert!(
        only.is_some() || read > 2 * refused,
        "{read} read, {refused} refused"
    );
}

/// What both make of an expression in a context with one field, [`FIELD`], or none.
fn both(tree: &Tree, field: Option<Datum>) -> (Result<Datum, Fault>, Option<Cel>) {
    let fields = field.map(|datum| ("i".to_owned(), datum)).into_iter();
    let datum = Datum::Object(fields.collect());
    let table = our_table(&[tree]);
    let ours = ours(&table, 0, &mut our_context(&table, &datum));
    (ours, theirs(&tree.to_string(), &their_context(&datum)))
}

/// The field of [`both`].
const FIELD: Tree = Tree::Field(2);

fn constant(datum: impl Into<Datum>) -> Tree {
    Tree::Constant(datum.into())
}

fn binary(operator: BinaryOperator, left: Tree, right: Tree) -> Tree {
    Tree::Binary(operator, Box::new([left, right]))
}

fn divided_by_zero() -> Tree {
    let quotient = binary(BinaryOperator::Divide, constant(1_i64), constant(0_i64));
    binary(BinaryOperator::Equal, quotient, constant(1_i64))
}

/// `cel` looks at the other side of `||` and `&&` where one fails. Here what fails has failed: the same guard can't be
/// true for one order of its parts and fail for another, and what runs is a program that ends where it fails.
#[test]
fn a_fault_ends_the_whole_expression() {
    let either = Tree::Or(vec![divided_by_zero(), constant(true)]);
    let (ours, theirs) = both(&either, None);
    assert_eq!(ours, Err(Fault::DivisionByZero));
    assert_eq!(theirs, Some(Cel::Bool(true)));
    // Behind what decides nothing is looked at, by neither.
    let either = Tree::Or(vec![constant(true), divided_by_zero()]);
    let (ours, theirs) = both(&either, None);
    assert_eq!(
        (ours, theirs),
        (Ok(Datum::Bool(true)), Some(Cel::Bool(true)))
    );
}

/// To `cel`, `!3` and `3 && true` are errors. The compiler refuses them where it knows the types; where it doesn't, a
/// condition is false unless it is true, as a guard is.
#[test]
fn what_is_not_true_is_false() {
    for field in [Datum::from(3_i64), Datum::Null, Datum::from("true")] {
        let not = Tree::Not(Box::new(FIELD));
        let (ours, theirs) = both(&not, Some(field.clone()));
        assert_eq!((ours, theirs), (Ok(Datum::Bool(true)), None), "{field}");
        let and = Tree::And(vec![FIELD, constant(true)]);
        let (ours, theirs) = both(&and, Some(field.clone()));
        assert_eq!((ours, theirs), (Ok(Datum::Bool(false)), None), "{field}");
    }
}

/// A context is JSON, which has no infinity.
#[test]
fn floats_stay_finite() {
    let max = || Tree::Constant(Datum::Float(f64::MAX));
    let zero = Tree::Constant(Datum::Float(0.0));
    let (ours, theirs) = both(&binary(BinaryOperator::Add, max(), max()), None);
    assert_eq!(ours, Err(Fault::Overflow));
    assert_eq!(theirs, Some(Cel::Float(f64::INFINITY)));
    let (ours, theirs) = both(&binary(BinaryOperator::Divide, max(), zero), None);
    assert_eq!(ours, Err(Fault::DivisionByZero));
    assert_eq!(theirs, Some(Cel::Float(f64::INFINITY)));
}

/// `cel` makes a float of the integer first, which rounds it.
#[test]
fn integers_and_floats_compare_exactly() {
    let odd = constant((1_i64 << 53) + 1);
    let even = Tree::Constant(Datum::Float(9_007_199_254_740_992.0));
    let (ours, theirs) = both(&binary(BinaryOperator::Greater, odd, even), None);
    assert_eq!(ours, Ok(Datum::Bool(true)));
    assert_eq!(theirs, Some(Cel::Bool(false)));
}

/// To CEL false is less than true. Here only numbers and texts have an order: nobody who writes `a < b` means that.
#[test]
fn truths_have_no_order() {
    let less = binary(BinaryOperator::Less, constant(false), constant(true));
    let (ours, theirs) = both(&less, None);
    assert_eq!(
        (ours, theirs),
        (Err(Fault::WrongKind), Some(Cel::Bool(true)))
    );
}

/// An absent field is an error to `cel`. Here a comparison with one is false, arithmetic with one is absent, and the
/// record says which field it was.
#[test]
fn an_absent_field_decides_nothing() {
    let one = || constant(1_i64);
    for operator in [
        BinaryOperator::Equal,
        BinaryOperator::NotEqual,
        BinaryOperator::Less,
        BinaryOperator::In,
        BinaryOperator::StartsWith,
    ] {
        let (ours, theirs) = both(&binary(operator, FIELD, one()), None);
        assert_eq!(
            (ours, theirs),
            (Ok(Datum::Bool(false)), None),
            "{operator:?}"
        );
    }
    let (ours, theirs) = both(&binary(BinaryOperator::Add, FIELD, one()), None);
    assert_eq!((ours, theirs), (Err(Fault::Absent), None));
    let among = Tree::Among(Box::new(FIELD), vec![Datum::Null]);
    assert_eq!(both(&among, None), (Ok(Datum::Bool(false)), None));
}

/// Integers beyond `i64` are another type to `cel`, with an arithmetic of its own. Here they are compared and kept.
#[test]
fn integers_beyond_i64_are_not_computed_with() {
    let most = Datum::from(u64::MAX);
    let (ours, theirs) = both(&FIELD, Some(most.clone()));
    assert_eq!(
        (ours, theirs),
        (Ok(most.clone()), Some(Cel::UInt(u64::MAX)))
    );
    let greater = binary(BinaryOperator::Greater, FIELD, constant(i64::MAX));
    let (ours, theirs) = both(&greater, Some(most.clone()));
    assert_eq!(
        (ours, theirs),
        (Ok(Datum::Bool(true)), Some(Cel::Bool(true)))
    );
    let less = binary(BinaryOperator::Subtract, FIELD, FIELD);
    let (ours, theirs) = both(&less, Some(most));
    assert_eq!((ours, theirs), (Err(Fault::Overflow), Some(Cel::UInt(0))));
}

/// `cel` puts lists one behind the other. Here `+` is for numbers and texts.
#[test]
fn lists_are_not_added() {
    let both_lists = binary(BinaryOperator::Add, FIELD, FIELD);
    let list = Datum::List(vec![Datum::Null]);
    let (ours, theirs) = both(&both_lists, Some(list));
    assert_eq!(ours, Err(Fault::WrongKind));
    assert!(matches!(theirs, Some(Cel::List(_))));
}
