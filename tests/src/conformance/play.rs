//! A script, and the playing of it on any engine.

use std::collections::BTreeSet;

use serde_json::Value;
use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Event, EventKind, Machine};

use super::world::World;

/// What must happen: the active leaves at the start, and behind each event.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    /// The leaves at the start.
    pub(super) initial: BTreeSet<String>,
    /// What follows.
    pub(super) events: Vec<Sent>,
}

/// One event of a script.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// How many milliseconds pass before it.
    pub(super) after: u64,
    /// Its name.
    pub(super) name: String,
    /// The leaves behind it.
    pub(super) next: BTreeSet<String>,
}

impl Script {
    /// Reads SCION's format.
    pub(super) fn read(value: &Value) -> Self {
        let names = |value: &Value| {
            let list = value.as_array().into_iter().flatten();
            list.filter_map(|name| name.as_str().map(str::to_owned))
                .collect()
        };
        let event = |value: &Value| Sent {
            after: value["after"].as_u64().unwrap_or(0),
            name: value["event"]["name"].as_str().unwrap_or("").to_owned(),
            next: names(&value["nextConfiguration"]),
        };
        let events = value["events"].as_array().into_iter().flatten();
        Self {
            initial: names(&value["initialConfiguration"]),
            events: events.map(event).collect(),
        }
    }
}

/// An engine with a machine that runs.
pub(super) trait Player {
    /// The names of the active leaves.
    fn leaves(&self) -> BTreeSet<String>;
    /// Whether the machine has ended.
    fn is_ended(&self) -> bool;
    /// Sends the event of that index.
    fn send(&mut self, event: usize) -> Result<(), String>;
    /// Tells that the time of the timer of that index is over.
    fn elapse(&mut self, timer: usize) -> Result<(), String>;
    /// What surrounds the machine.
    fn world(&mut self) -> &mut World;
}

/// Most timers that elapse at one moment. Unit: timers. Why: a document may set one without a delay again and again.
const MOST_AT_ONCE: usize = 10_000;

/// Plays the script. The error says where something else happened than it wants.
pub(super) fn play(
    player: &mut impl Player,
    machine: &Machine,
    script: &Script,
) -> Result<(), String> {
    // A test without events has all the time it wants to come to its end; another looks before anything is due.
    if script.events.is_empty() {
        elapse_until(player, u64::MAX)?;
    }
    expect(player, &script.initial, || "at the start".to_owned())?;
    for (index, sent) in script.events.iter().enumerate() {
        let until = player.world().now() + sent.after;
        elapse_until(player, until)?;
        if !player.is_ended()
            && let Some(event) = event(machine, &sent.name)
        {
            player.send(event.index())?;
        }
        let now = player.world().now();
        elapse_until(player, now)?;
        let place = || format!("after event {}, `{}`", index + 1, sent.name);
        expect(player, &sent.next, place)?;
    }
    Ok(())
}

fn expect(
    player: &impl Player,
    expected: &BTreeSet<String>,
    place: impl Fn() -> String,
) -> Result<(), String> {
    let found = player.leaves();
    if found == *expected {
        return Ok(());
    }
    let list = |names: &BTreeSet<String>| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.join(" ")
    };
    Err(format!(
        "{}: in {}, not in {}",
        place(),
        list(&found),
        list(expected)
    ))
}

/// Lets the time of the world pass until a moment.
fn elapse_until(player: &mut impl Player, until: u64) -> Result<(), String> {
    let mut count = 0;
    while !player.is_ended()
        && let Some(timer) = player.world().next_due(until)
    {
        count += 1;
        if count > MOST_AT_ONCE {
            return Err("timers go on without end".to_owned());
        }
        player.elapse(timer)?;
    }
    player.world().pass(until);
    Ok(())
}

/// The event that a name from outside means: its own, else the longest that the machine has in front of a dot, which
/// the same descriptors match, else the one for unknown names.
fn event(machine: &Machine, name: &str) -> Option<Handle<Event>> {
    let mut wanted = Some(name);
    while let Some(prefix) = wanted {
        let sendable = |event: &Handle<Event>| {
            let kind = machine.events.at(*event).kind;
            matches!(kind, EventKind::Named | EventKind::Unknown)
        };
        if let Some(event) = machine.event_named(prefix).filter(sendable) {
            return Some(event);
        }
        wanted = prefix.rsplit_once('.').map(|(front, _)| front);
    }
    let mut events = machine.events.iter();
    events
        .find(|(_, event)| event.kind == EventKind::Unknown)
        .map(|(event, _)| event)
}
