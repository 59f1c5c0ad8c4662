//! Data that is declared: a generated machine with its `Context` and the table engine with `Data` step alike, to the last
//! field, and to the step that fails.
//!
//! The spec is `tests/engines/context.md`, which has what random machines (`agreement.rs`, there also beside the naive
//! interpreter) don't: bounds, enums, lists, objects, `null`. `STATEMARK_SEQUENCES` sets the number of random sequences.

use statemark_compiler::valid::Valid;
use statemark_compiler::{Options, back, compile, source::Sources};
use statemark_runtime::generated::Plain;
use statemark_runtime::{
    ActionId, Data, Datum, FieldId, Machine, Outcome, Recorder, StepError, Table, Value, decode,
    verify,
};

use crate::random::Chance;

statemark::machine!("../engines/context.md" as typed);

/// Sequences of a normal run.
const SEQUENCES: u64 = 2_000;

/// Most events of a sequence.
const LENGTH: usize = 60;

/// The generated machine's host: what it was told depends on the context.
#[derive(Default)]
struct Saying(usize);

impl typed::Host for Saying {
    fn say(&mut self, context: &typed::Context) {
        self.0 += usize::from(context.level) + 1;
    }
}

/// The table engine's host.
struct Beside<'t> {
    table: &'t Table,
    data: Data,
    said: usize,
}

impl statemark_runtime::Host for Beside<'_> {
    fn action(&mut self, _: ActionId) {
        let level = self.table.field_named("level").unwrap();
        let Value::Int(level) = self.data.get(level) else {
            panic!("it has a level")
        };
        self.said += usize::try_from(level).unwrap() + 1;
    }

    fn field(&self, field: FieldId) -> Value<'_> {
        self.data.field(field)
    }

    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        self.data.assign(field, value);
    }

    fn begin(&mut self) {
        self.data.begin();
    }

    fn rollback(&mut self) {
        self.data.rollback();
    }
}

/// What a typed context has at a path.
fn read(context: &typed::Context, path: &str) -> Option<Datum> {
    let plain = |value: Value<'_>| Some(value.to_datum().unwrap());
    let at = |datum: &Datum, key: &str| datum.at(&[key]).cloned();
    match path {
        "level" => plain(context.level.value()),
        "depth" => plain(context.depth.value()),
        "large" => plain(context.large.value()),
        "color" => plain(context.color.value()),
        "note" => plain(context.note.value()),
        "extra" => plain(context.extra.as_ref()?.value()),
        "hint" => plain(context.hint.as_ref()?.value()),
        "share" => plain(context.share.value()),
        "total" => plain(context.total.value()),
        "done" => plain(context.done.value()),
        "place.x" => plain(context.place.x.value()),
        "place.y" => plain(context.place.y.value()),
        "place.z" => plain(context.place.z.as_ref()?.value()),
        "tags" => Some(Datum::List(
            context.tags.iter().map(|tag| tag.as_str().into()).collect(),
        )),
        "scores" => Some(Datum::List(
            context.scores.iter().map(|&score| score.into()).collect(),
        )),
        "plan.name" => at(&context.plan, "name"),
        "plan.step" => at(&context.plan, "step"),
        "loose.a" => plain(context.loose.a.value()),
        other => panic!("nobody asked for {other}"),
    }
}

fn machine() -> (Valid, Table) {
    let mut sources = Sources::new();
    sources.add("context.md", include_str!("../engines/context.md"));
    let mut compiled = compile(&sources, &Options::default());
    assert_eq!(compiled.machines.len(), 1, "{:#?}", compiled.diagnostics);
    let valid = compiled.machines.remove(0);
    let bytes = back::table::write(&valid);
    assert_eq!(back::table::hash(&bytes), typed::TABLE);
    (valid, verify(decode(&bytes).unwrap()).unwrap())
}

#[test]
fn types_are_what_the_schema_says() {
    let context = typed::Context::initial();
    let (level, depth, large): (u8, i8, u64) = (context.level, context.depth, context.large);
    assert_eq!(
        (level, depth, large),
        (0, 0, u64::try_from(i64::MAX).unwrap())
    );
    let color: typed::data::Color = context.color;
    assert_eq!(color, typed::data::Color::Red);
    let extra: Option<i64> = context.extra;
    assert_eq!((extra, context.total), (None, 0_i64));
    assert_eq!(typed::Context::default(), typed::Context::initial());
}

#[test]
fn engines_agree_on_declared_data() {
    let (valid, table) = machine();
    let sequences = std::env::var("STATEMARK_SEQUENCES");
    let sequences = sequences.map_or(SEQUENCES, |text| text.parse().unwrap());
    let (mut failed, mut ended, mut taken) = (0, 0, 0);
    for seed in 0..sequences {
        let mut chance = Chance::new(seed);
        let beside = Beside {
            table: &table,
            data: Data::initial(&table).unwrap(),
            said: 0,
        };
        let mut by_table = Machine::start(&table, beside).unwrap();
        let mut by_code = typed::Machine::new(Saying::default()).unwrap();
        let (mut left, mut right) = (Recorder::new(), Recorder::new());
        for moment in 0..chance.below(LENGTH) {
            let event = typed::Event::ALL[chance.below(typed::Event::ALL.len())];
            let place = format!("seed {seed}, event {moment}: {event}");
            assert_eq!(by_table.can(event.id()), by_code.can(event), "{place}");
            let expected = by_table.send_observed(event.id(), &mut left);
            let found = by_code.send_observed(event, &mut right);
            let found = found.map_err(StepError::numbered);
            assert_eq!(expected, found, "{place}");
            let outcome = found.unwrap_or(Outcome::Ignored);
            let record = right.finish(Some(event.id()), outcome);
            assert_eq!(left.finish(Some(event.id()), outcome), record, "{place}");
            for (_, field) in valid.fields.iter() {
                let here = read(by_code.context(), &field.path);
                let there = by_table
                    .host()
                    .data
                    .get(table.field_named(&field.path).unwrap());
                let here = here.as_ref().map_or(Value::Absent, Datum::value);
                assert_eq!(here, there, "{place}: {}", field.path);
            }
            assert_eq!(by_table.host().said, by_code.host().0, "{place}");
            failed += u64::from(matches!(found, Err(StepError::NoValue(_))));
            ended += u64::from(found == Ok(Outcome::Ended));
            taken += u64::from(found == Ok(Outcome::Taken));
            if chance.percent(5) {
                let snapshot = by_code.snapshot();
                let (host, context) = by_code.into_parts();
                by_code = typed::Machine::restore(host, context, &snapshot).unwrap();
            }
        }
    }
    if sequences == SEQUENCES {
        assert!(
            failed > 1_000 && ended > 20 && taken > 10_000,
            "{failed} {ended} {taken}"
        );
    }
}
