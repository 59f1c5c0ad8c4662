//! What is saved of machines: by bytes and by `serde`, of generated code and of tables, and what is refused, by name.

use statemark_compiler::source::Sources;
use statemark_compiler::{Options, back, compile};
use statemark_runtime as rt;
use statemark_runtime::{
    Data, Datum, FieldId, Host, LoadError, Outcome, Saved, SavedEffect, StepError, Table, TimerId,
    Timers, Value, decode, verify,
};

use crate::broken::fix_checksum;
use crate::random::Chance;

statemark::machine!(
    r#"
## STATE-MACHINE: jar

```mermaid
stateDiagram-v2
    [*] --> open
    open --> open : fill / rise()
    open --> [*] : close / tell()
```

```json definition
{
  "context": { "level": 250, "share": 1, "kind": "jam", "note": null, "big": 18446744073709551615 },
  "context_schema": {
    "properties": {
      "level": { "type": "integer", "minimum": 0, "maximum": 255 },
      "share": { "type": "number" },
      "kind": { "enum": ["jam", "honey"] },
      "note": { "type": ["string", "null"] },
      "lid": { "type": ["string", "null"] },
      "big": { "type": "integer", "minimum": 0, "maximum": 18446744073709551615 },
      "layers": { "type": "array", "items": { "properties": { "of": { "type": "string" } }, "required": ["of"] } }
    }
  },
  "actions": { "rise": { "assign": { "level": "level + 1" } }, "tell": { "effect": "Tells." } }
}
```
"#
);

use jar::{Context, Event, Machine};

#[test]
fn a_context_is_data_of_serde() {
    let mut context = Context::initial();
    context.lid = Some(None);
    context.share = 0.5;
    context.layers = Some(vec![jar::data::LayersItem {
        of: "fig".to_owned(),
    }]);
    let text = serde_json::to_string(&context).unwrap();
    assert_eq!(serde_json::from_str::<Context>(&text).unwrap(), context);
    let refused = |from: &str, to: &str| {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        serde_json::from_str::<Context>(&changed)
            .unwrap_err()
            .to_string()
    };
    assert!(refused("250", "256").contains("field `level` doesn't hold what was saved"));
    assert!(refused("\"jam\"", "\"tar\"").contains("field `kind`"));
    assert!(refused("\"of\":", "\"off\":").contains("field `layers.of` is missing"));
    assert!(refused("\"kind\":\"jam\",", "").contains("field `kind` is missing"));
    assert!(
        refused("{\"big\"", "{\"more\":1,\"big\"")
            .contains("field `more` isn't one of the machine's")
    );
    assert!(refused("{\"big\"", "{\"level\":1,\"big\"").contains("a key is there twice"));
}

#[test]
fn a_saved_machine_is_data_of_serde() {
    let mut jar = Machine::new(()).unwrap();
    let _ = jar.send(Event::Fill).unwrap();
    let _ = jar.send(Event::Close).unwrap();
    let saved = jar.save();
    let text = serde_json::to_string(&saved).unwrap();
    assert_eq!(text, saved.to_datum().to_string());
    let again: Saved = serde_json::from_str(&text).unwrap();
    assert_eq!(again, saved);
    let again = Machine::load((), &again).unwrap();
    assert_eq!((again.due(), again.context()), (jar.due(), jar.context()));
    assert_eq!(again.due()[0].context.level, 251);
}

#[test]
fn a_datum_keeps_its_numbers() {
    let text = r#"[-9223372036854775808,18446744073709551615,1.0,"",null,true,{}]"#;
    let datum: Datum = serde_json::from_str(text).unwrap();
    assert_eq!(Datum::from_json(text).unwrap(), datum);
    assert_eq!(serde_json::to_string(&datum).unwrap(), text);
    let deep = "[".repeat(100) + &"]".repeat(100);
    assert!(serde_json::from_str::<Datum>(&deep).is_err());
}

/// The example of a player: regions, a deep history, a timer, and data.
mod plays {
    statemark::machine!("../../examples/player/player.md");

    pub(super) use player::{Context, Event, Host, Machine, Timer};

    /// Keeps timers, and plays nothing.
    #[derive(Clone, Debug)]
    pub(super) struct Silent(pub(super) statemark_runtime::Timers);

    impl Host for Silent {
        type Error = &'static str;

        fn start_sound(&mut self, _: &Context) -> Result<(), Self::Error> {
            Ok(())
        }

        fn stop_sound(&mut self, _: &Context) {}

        fn schedule(&mut self, timer: Timer, delay: u64) {
            self.0.schedule(timer.id(), delay);
        }

        fn cancel(&mut self, timer: Timer) {
            self.0.cancel(timer.id());
        }

        fn begin(&mut self) {
            self.0.begin();
        }

        fn rollback(&mut self) {
            self.0.rollback();
        }
    }
}

/// The host of the same player's table.
struct Keeper {
    timers: Timers,
    data: Data,
}

impl Host for Keeper {
    fn field(&self, field: FieldId) -> Value<'_> {
        self.data.field(field)
    }

    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        self.data.assign(field, value);
    }

    fn schedule(&mut self, timer: TimerId, delay: u64) {
        self.timers.schedule(timer, delay);
    }

    fn cancel(&mut self, timer: TimerId) {
        self.timers.cancel(timer);
    }

    fn begin(&mut self) {
        self.timers.begin();
        self.data.begin();
    }

    fn rollback(&mut self) {
        self.timers.rollback();
        self.data.rollback();
    }
}

fn player_table() -> Table {
    let mut sources = Sources::new();
    sources.add("player.md", include_str!("../../examples/player/player.md"));
    let compiled = compile(&sources, &Options::default());
    let bytes = back::table::write(&compiled.machines[0]);
    verify(decode(&bytes).unwrap()).unwrap()
}

/// Saves a machine of the table with all that its host has.
fn save(machine: &rt::Machine<'_, Keeper>) -> Saved {
    let mut saved = machine.save();
    let host = machine.host();
    saved.add_timers(machine.table(), &host.timers);
    saved.context = Some(host.data.to_datum());
    saved.behavior = plays::player::BEHAVIOR;
    saved
}

fn load<'t>(table: &'t Table, saved: &Saved) -> Result<rt::Machine<'t, Keeper>, LoadError> {
    let host = Keeper {
        timers: saved.load_timers(table)?,
        data: saved.load_data(table)?,
    };
    rt::Machine::load(table, host, saved)
}

#[test]
fn tables_and_generated_code_save_the_same_and_load_each_others() {
    use plays::Event::{Louder, Mute, Next, Play, Power};
    let table = player_table();
    let mut generated = plays::Machine::new(plays::Silent(Timers::new())).unwrap();
    let host = Keeper {
        timers: Timers::new(),
        data: Data::initial(&table).unwrap(),
    };
    let mut interpreted = rt::Machine::start(&table, host).unwrap();
    for event in [
        Power, Play, Next, Louder, Mute, Power, Power, Next, Next, Play,
    ] {
        let taken = generated.send(event).unwrap();
        let id = table.event_named(event.name()).unwrap();
        assert_eq!(interpreted.send(id), Ok(taken));
        let saved = generated.save(&generated.host().0);
        assert_eq!(save(&interpreted), saved);
        // Each goes on from what the other has saved.
        let bytes = saved.to_bytes().unwrap();
        let saved = Saved::from_bytes(&bytes).unwrap();
        interpreted = load(&table, &saved).unwrap();
        generated = plays::Machine::load(plays::Silent, &save(&interpreted)).unwrap();
    }
    let saved = save(&interpreted);
    assert_eq!((saved.timers.len(), saved.histories.len()), (1, 1));

    let refused = |change: fn(&mut Saved)| {
        let mut changed = saved.clone();
        change(&mut changed);
        load(&table, &changed).map(drop).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|saved| saved.rename_state("muted", "mute")),
        "this machine has no state `mute`"
    );
    assert_eq!(
        refused(|saved| drop(saved.states.pop())),
        "this machine can't be in the states `playing`"
    );
    assert_eq!(
        refused(|saved| saved.timers[0].0 = "tea".to_owned()),
        "this machine has no timer `tea`"
    );
    assert_eq!(
        refused(|saved| saved.context = None),
        "this machine has a context, and none was saved"
    );
    let lost = refused(|saved| {
        let (effect, context) = ("mail".to_owned(), Datum::Null);
        let key = 3;
        saved.effects.push(SavedEffect {
            key,
            effect,
            context,
        });
    });
    assert_eq!(
        lost,
        "this machine declares no effect `mail`, of which one is unsettled (key 3)"
    );
}

#[test]
fn errors_of_tables_have_names() {
    let table = player_table();
    let host = Keeper {
        timers: Timers::new(),
        data: Data::from_json(&table, r#"{"track": 1, "tracks": 3}"#).unwrap(),
    };
    let mut machine = rt::Machine::start(&table, host).unwrap();
    let mut send = |name: &str| {
        let event = table.event_named(name).unwrap();
        let outcome = machine.send(event);
        // An error leaves the function that has the table.
        outcome.map_err(|error| -> Box<dyn std::error::Error> { error.explain(&table).into() })
    };
    assert_eq!(send("power").unwrap(), Outcome::Taken);
    machine.host_mut().data = Data::from_json(&table, r#"{"volume": 9}"#).unwrap();
    let louder = table.event_named("louder").unwrap();
    let error = machine.send(louder).unwrap_err();
    assert_eq!(
        error.explain(&table).to_string(),
        "what action `turn_up` would assign to `volume` has no value"
    );
    let timer = StepError::NotATimer(TimerId::new(9));
    assert_eq!(
        timer.explain(&table).to_string(),
        "this machine has no timer number 9"
    );
}

/// What the fuzz target `saved` does, on stable and the same every time. `STATEMARK_FUZZ_INPUTS` sets how many.
#[test]
fn saved_bytes_that_are_broken_at_random_are_refused_or_read() {
    let inputs: u64 = std::env::var("STATEMARK_FUZZ_INPUTS")
        .map_or(20_000, |text| text.parse().expect("a number of inputs"));
    let mut machine = plays::Machine::new(plays::Silent(Timers::new())).unwrap();
    for event in [plays::Event::Power, plays::Event::Play, plays::Event::Power] {
        assert!(machine.send(event).unwrap().is_taken());
    }
    let mut jar = Machine::new(()).unwrap();
    assert!(jar.send(Event::Close).unwrap().is_taken());
    let table = player_table();
    let seeds = [
        machine.save(&machine.host().0),
        jar.save(),
        Saved::default(),
    ];
    let seeds = seeds.map(|saved| saved.to_bytes().unwrap());
    // Bytes with which JSON goes on, so that not all of it is noise.
    const WORDS: &[u8] = br#"{}[]",:019-.eEnul\tfas "#;
    let mut read = 0_u64;
    for input in 0..inputs {
        let mut chance = Chance::new(input);
        let mut bytes = seeds[chance.below(seeds.len())].clone();
        for _ in 0..chance.below(4) {
            if bytes.len() == 20 {
                break;
            }
            let at = 20 + chance.below(bytes.len() - 20);
            let byte = WORDS[chance.below(WORDS.len())];
            match chance.below(4) {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at + 1),
            }
        }
        let length = u32::try_from(bytes.len() - 20).unwrap();
        bytes[12..16].copy_from_slice(&length.to_le_bytes());
        if chance.below(16) > 0 {
            fix_checksum(&mut bytes);
        }
        let Ok(saved) = Saved::from_bytes(&bytes) else {
            continue;
        };
        read += 1;
        let again = saved.to_bytes().unwrap();
        assert_eq!(
            Saved::from_bytes(&again),
            Ok(saved.clone()),
            "input {input}"
        );
        let _ = plays::Machine::load(plays::Silent, &saved);
        let _ = Machine::load((), &saved);
        let _ = load(&table, &saved);
    }
    assert!(read > inputs / 10, "too few get through: {read}");
}
