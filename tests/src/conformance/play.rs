//! A script, and the playing of it on any engine.
//!
//! Knows no compiler: generated machines are played by this file in a crate of their own.

use std::collections::BTreeSet;

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
    /// The index of the event that its name means in the machine; none if it means none.
    pub(super) event: Option<usize>,
    /// The leaves behind it.
    pub(super) next: BTreeSet<String>,
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
pub(super) fn play(player: &mut impl Player, script: &Script) -> Result<(), String> {
    // A test without events has all the time it wants to come to its end; another looks before anything is due.
    if script.events.is_empty() {
        elapse_until(player, u64::MAX)?;
    }
    expect(player, &script.initial, || "at the start".to_owned())?;
    for (index, sent) in script.events.iter().enumerate() {
        let until = player.world().now() + sent.after;
        elapse_until(player, until)?;
        if !player.is_ended()
            && let Some(event) = sent.event
        {
            player.send(event)?;
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
