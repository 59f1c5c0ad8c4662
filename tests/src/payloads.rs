//! Events that come with data: a generated machine with a struct for each and the table engine with [`Data::receive`] step
//! alike, to the last field: what is merged, what guards see of it, and what is taken back.
//!
//! The specs are in `tests/engines/payloads.md`. `STATEMARK_SEQUENCES` sets the number of random sequences.

use std::collections::BTreeMap;

use statemark_compiler::{Options, back, compile, source::Sources};
use statemark_runtime::generated::{Plain, datum};
use statemark_runtime::{
    ActionId, Data, Datum, EventId, FieldId, Host, Machine, Outcome, Recorder, StepError, Table,
    TimerId, Value, decode, verify,
};

use crate::random::Chance;

statemark::machine!("../engines/payloads.md");

/// Sequences of a normal run.
const SEQUENCES: u64 = 1_500;

/// Most events of a sequence.
const LENGTH: usize = 50;

/// The generated machines' host. What comes with an event that has a struct isn't asked of it.
#[derive(Default)]
struct Quiet(usize);

impl plain::Host for Quiet {
    fn say(&mut self, context: &plain::Context) {
        self.0 += usize::try_from(context.level + 20).unwrap();
    }

    fn field(&self, _: &str) -> Value<'_> {
        Value::Absent
    }
}

impl assigning::Host for Quiet {
    fn say(&mut self, context: &assigning::Context) {
        self.0 += usize::from(context.level) + 20;
    }

    fn schedule(&mut self, _: assigning::Timer, _: u64) {}

    fn cancel(&mut self, _: assigning::Timer) {}

    fn field(&self, _: &str) -> Value<'_> {
        Value::Absent
    }
}

/// The table engine's host.
struct Beside<'t> {
    table: &'t Table,
    data: Data,
    said: usize,
}

impl Host for Beside<'_> {
    fn action(&mut self, _: ActionId) {
        let level = self.table.field_named("level").unwrap();
        let Value::Int(level) = self.data.get(level) else {
            panic!("it has a level")
        };
        self.said += usize::try_from(level + 20).unwrap();
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

/// What is sent.
struct Sending<P> {
    event: EventId,
    /// The struct, and the same as JSON has it.
    with: Option<(P, Datum)>,
}

type Stepped = Result<Outcome, StepError>;

/// A generated machine.
trait Typed: Sized {
    type Payload: Clone;
    const NAME: &'static str;

    fn start() -> Self;
    /// An event by chance, and data for it.
    fn sending(chance: &mut Chance) -> Sending<Self::Payload>;
    fn send(&mut self, event: EventId, recorder: &mut Recorder) -> Stepped;
    fn send_with(&mut self, data: Self::Payload, recorder: &mut Recorder) -> Stepped;
    /// The time of its timer is over, if it has one.
    fn elapse(&mut self, recorder: &mut Recorder) -> Option<Stepped>;
    fn fields(&self) -> Vec<(&'static str, Option<Datum>)>;
    fn action_count(&self) -> usize;
}

/// What is the same for both.
macro_rules! sent {
    ($name:ident, $($bare:ident)*) => {
        type Payload = $name::EventData;
        const NAME: &'static str = stringify!($name);

        fn send(&mut self, event: EventId, recorder: &mut Recorder) -> Stepped {
            let event = $name::EventName::ALL.iter().find(|other| other.id() == event);
            let event = match event.unwrap() {
                $($name::EventName::$bare => $name::Event::$bare,)*
                other => panic!("{other} comes with data"),
            };
            self.send_observed(event, recorder).map_err(StepError::numbered)
        }

        fn send_with(&mut self, data: Self::Payload, recorder: &mut Recorder) -> Stepped {
            self.send_with_observed(data, recorder).map_err(StepError::numbered)
        }

        fn action_count(&self) -> usize {
            self.host().0
        }
    };
}

/// Chooses an event, and data for it: where the percentage is less than all, the event can do without.
macro_rules! chosen {
    ($name:ident, $chance:ident, $($event:ident $percent:literal => $made:expr,)*) => {{
        let event = $name::EventName::ALL[$chance.below($name::EventName::ALL.len())];
        let with = match event {
            $($name::EventName::$event if $chance.percent($percent) => {
                let (data, json) = $made;
                Some(($name::EventData::from(data), object(json)))
            })*
            _ => None,
        };
        Sending { event: event.id(), with }
    }};
}

fn object(fields: Vec<(&str, Option<Datum>)>) -> Datum {
    let there = fields.into_iter();
    let there = there.filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Datum::Object(there.collect())
}

fn some<T>(chance: &mut Chance, from: &[T]) -> Option<T>
where
    T: Clone,
{
    chance
        .percent(65)
        .then(|| from[chance.below(from.len())].clone())
}

fn list<T: Plain>(items: &[T]) -> Datum {
    Datum::List(items.iter().map(datum).collect())
}

impl Typed for plain::Machine<Quiet> {
    sent!(plain, Back Down);

    fn start() -> Self {
        Self::new(Quiet::default())
    }

    fn sending(chance: &mut Chance) -> Sending<plain::EventData> {
        use plain::data::{PaintColor, PaintPlan, PaintTagsItem, PaintWhy, UpPlace, UpWord};
        chosen!(plain, chance,
            Up 100 => {
                let place = UpPlace { x: chance.pick(&[0, 2, 7]).unwrap(), y: some(chance, &[5]) };
                let data = plain::UpData {
                    level: chance.pick(&[-10, 0, 3, 4, 300]).unwrap(),
                    by: some(chance, &[1, 4, -9]),
                    word: some(chance, &[UpWord::A, UpWord::B]),
                    place: some(chance, &[place]),
                };
                let place = data.place.as_ref().map(|it| {
                    object(vec![("x", Some(datum(&it.x))), ("y", it.y.as_ref().map(datum))])
                });
                let json = vec![
                    ("level", Some(datum(&data.level))),
                    ("by", data.by.as_ref().map(datum)),
                    ("word", data.word.as_ref().map(datum)),
                    ("place", place),
                ];
                (data, json)
            },
            Paint 100 => {
                let plan = PaintPlan {
                    name: chance.pick(&["p", "q"]).unwrap().to_string(),
                    steps: some(chance, &[vec![], vec![1, -1]]),
                };
                let data = plain::PaintData {
                    color: chance.pick(PaintColor::ALL).unwrap(),
                    note: some(chance, &[None, Some("n".to_owned())]),
                    why: some(chance, PaintWhy::ALL),
                    tags: some(chance, &[vec![], PaintTagsItem::ALL.to_vec()]),
                    share: some(chance, &[1.5, 2.0]),
                    plan: some(chance, &[plan]),
                };
                let plan = data.plan.as_ref().map(|it| {
                    let steps = it.steps.as_ref().map(|steps| list(steps));
                    object(vec![("name", Some(datum(&it.name))), ("steps", steps)])
                });
                let json = vec![
                    ("color", Some(datum(&data.color))),
                    ("note", data.note.as_ref().map(datum)),
                    ("why", data.why.as_ref().map(datum)),
                    ("tags", data.tags.as_ref().map(|tags| list(tags))),
                    ("share", data.share.as_ref().map(datum)),
                    ("plan", plan),
                ];
                (data, json)
            },
        )
    }

    fn elapse(&mut self, _: &mut Recorder) -> Option<Stepped> {
        None
    }

    fn fields(&self) -> Vec<(&'static str, Option<Datum>)> {
        let context = self.context();
        let place = vec![
            ("x", Some(datum(&context.place.x))),
            ("y", context.place.y.as_ref().map(datum)),
        ];
        vec![
            ("level", Some(datum(&context.level))),
            ("color", Some(datum(&context.color))),
            ("note", Some(datum(&context.note))),
            ("extra", context.extra.as_ref().map(datum)),
            ("share", Some(datum(&context.share))),
            ("word", Some(datum(&context.word))),
            ("tags", context.tags.as_ref().map(|tags| list(tags))),
            ("place", Some(object(place))),
            ("plan", context.plan.clone()),
        ]
    }
}

impl Typed for assigning::Machine<Quiet> {
    sent!(assigning, Paint);

    fn start() -> Self {
        Self::new(Quiet::default()).unwrap()
    }

    fn sending(chance: &mut Chance) -> Sending<assigning::EventData> {
        use assigning::data::{Color, UpWord};
        chosen!(assigning, chance,
            Up 100 => {
                let data = assigning::UpData {
                    by: chance.pick(&[1, 3, 4, i64::MAX]).unwrap(),
                    level: some(chance, &[0, 4, 9, 20]),
                    word: some(chance, UpWord::ALL),
                };
                let json = vec![
                    ("by", Some(datum(&data.by))),
                    ("level", data.level.as_ref().map(datum)),
                    ("word", data.word.as_ref().map(datum)),
                ];
                (data, json)
            },
            Paint 85 => {
                let texts = ["sky", "sea"].map(str::to_owned);
                let data = assigning::PaintData {
                    color: some(chance, Color::ALL),
                    note: some(chance, &texts),
                    note_of: some(chance, &texts),
                };
                let json = vec![
                    ("color", data.color.as_ref().map(datum)),
                    ("note", data.note.as_ref().map(datum)),
                    ("note_of", data.note_of.as_ref().map(datum)),
                ];
                (data, json)
            },
            Again 100 => {
                let data = assigning::AgainData { by: chance.pick(&[1, 2]).unwrap() };
                let json = vec![("by", Some(datum(&data.by)))];
                (data, json)
            },
        )
    }

    fn elapse(&mut self, recorder: &mut Recorder) -> Option<Stepped> {
        let outcome = self.elapse_observed(assigning::Timer::ALL[0], recorder);
        Some(outcome.map_err(StepError::numbered))
    }

    fn fields(&self) -> Vec<(&'static str, Option<Datum>)> {
        let context = self.context();
        vec![
            ("level", Some(datum(&context.level))),
            ("total", Some(datum(&context.total))),
            ("color", Some(datum(&context.color))),
            ("note", Some(datum(&context.note))),
            ("word", Some(datum(&context.word))),
            ("last", context.last.as_ref().map(datum)),
        ]
    }
}

/// The table of a machine.
fn table(name: &str) -> Table {
    let mut sources = Sources::new();
    sources.add("payloads.md", include_str!("../engines/payloads.md"));
    let compiled = compile(&sources, &Options::default());
    let mut machines = compiled.machines.iter();
    let valid = machines.find(|valid| valid.id.value == name).unwrap();
    let bytes = back::table::write(valid);
    verify(decode(&bytes).unwrap()).unwrap()
}

/// What was met with.
#[derive(Debug, Default)]
struct Tally {
    ignored: u32,
    taken: u32,
    ended: u32,
    failed: u32,
    restless: u32,
    /// Ignored or failed although data had come.
    undone: u32,
}

fn agree<M: Typed>() -> Tally {
    let table = table(M::NAME);
    let sequences = std::env::var("STATEMARK_SEQUENCES");
    let sequences = sequences.map_or(SEQUENCES, |text| text.parse().unwrap());
    let mut tally = Tally::default();
    for seed in 0..sequences {
        let mut chance = Chance::new(seed);
        let data = Data::initial(&table).unwrap();
        let beside = Beside {
            table: &table,
            data,
            said: 0,
        };
        let mut by_table = Machine::start(&table, beside).unwrap();
        let mut by_code = M::start();
        let (mut left, mut right) = (Recorder::new(), Recorder::new());
        for moment in 0..chance.below(LENGTH) {
            let place = format!("{}, seed {seed}, event {moment}", M::NAME);
            let elapsed = chance.percent(10).then(|| by_code.elapse(&mut right));
            let (expected, found, had_data) = if let Some(found) = elapsed.flatten() {
                let expected = by_table.elapse_observed(TimerId::new(0), &mut left);
                (expected, found, false)
            } else {
                let Sending { event, with } = M::sending(&mut chance);
                let json = with.as_ref().map(|(_, json)| json.clone());
                let json = json.unwrap_or_else(|| Datum::Object(BTreeMap::new()));
                let is_merged = |field: &str| table.merges(Some(event), field);
                by_table.host_mut().data.receive(json, is_merged);
                let expected = by_table.send_observed(event, &mut left);
                let had_data = with.is_some();
                let found = match with {
                    Some((data, _)) => by_code.send_with(data, &mut right),
                    None => by_code.send(event, &mut right),
                };
                (expected, found, had_data)
            };
            assert_eq!(expected, found, "{place}");
            let data = &mut by_table.host_mut().data;
            match found {
                Ok(Outcome::Taken | Outcome::Ended) => data.commit(),
                _ => data.rollback(),
            }
            let outcome = found.unwrap_or(Outcome::Ignored);
            let record = right.finish(None, outcome);
            assert_eq!(left.finish(None, outcome), record, "{place}");
            let beside = by_table.host();
            let typed = object(by_code.fields());
            assert_eq!(beside.data.to_datum(), typed, "{place}");
            assert_eq!(beside.said, by_code.action_count(), "{place}");
            tally.count(found, had_data);
        }
    }
    tally
}

impl Tally {
    fn count(&mut self, found: Stepped, had_data: bool) {
        let left = match found {
            Ok(Outcome::Taken) => &mut self.taken,
            Ok(Outcome::Ended) => &mut self.ended,
            Ok(_) => &mut self.ignored,
            Err(StepError::NoValue(_)) => &mut self.failed,
            Err(StepError::StepLimit { .. }) => &mut self.restless,
            Err(_) => return,
        };
        *left += 1;
        let kept = matches!(found, Ok(Outcome::Taken | Outcome::Ended));
        self.undone += u32::from(had_data && !kept);
    }

    fn is_worth(&self, least: &[u32; 5]) -> bool {
        let found = [
            self.taken,
            self.ended,
            self.failed,
            self.restless,
            self.undone,
        ];
        found.iter().zip(least).all(|(found, least)| found >= least)
    }
}

#[test]
fn engines_agree_on_data_that_is_merged() {
    let tally = agree::<plain::Machine<Quiet>>();
    let usual = std::env::var_os("STATEMARK_SEQUENCES").is_none();
    assert!(
        !usual || tally.is_worth(&[2_000, 100, 0, 20, 2_000]),
        "{tally:?}"
    );
}

#[test]
fn engines_agree_on_data_that_is_merged_and_assigned() {
    let tally = agree::<assigning::Machine<Quiet>>();
    let usual = std::env::var_os("STATEMARK_SEQUENCES").is_none();
    assert!(
        !usual || tally.is_worth(&[2_000, 0, 200, 0, 2_000]),
        "{tally:?}"
    );
}

#[test]
fn an_event_comes_with_its_data() {
    let mut machine = plain::Machine::new(Quiet::default());
    let up = plain::UpData {
        level: 4,
        by: None,
        word: Some(plain::data::UpWord::A),
        place: None,
    };
    // `level < 5 && event.level == level`: of the struct, once it is merged.
    assert_eq!(machine.send_with(up.clone()), Ok(Outcome::Taken));
    assert_eq!(
        (machine.state(), machine.context().level),
        (plain::State::Middle, 4)
    );
    // Ignored, and taken back: `word == "a" && place.x > 1`.
    let ignored = plain::UpData { level: 9, ..up };
    assert_eq!(machine.send_with(ignored), Ok(Outcome::Ignored));
    assert_eq!(machine.context().level, 4);
}
