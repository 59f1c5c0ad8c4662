//! A player with regions, history, a timer, data of its own, and an action that can fail.
//!
//! The clock is the host's, and here it is turned by hand.

use std::io::Write as _;

use statemark::runtime::Timers;

statemark::machine!("player.md");

use player::{Context, Event, Host, Machine, StepFailure, Timer};

/// The speaker, which also tells the time.
#[derive(Default)]
struct Speaker {
    now: u64,
    timers: Timers,
    sounds: Vec<String>,
    is_unplugged: bool,
}

impl Host for Speaker {
    type Error = &'static str;

    fn start_sound(&mut self, context: &Context) -> Result<(), Self::Error> {
        if self.is_unplugged {
            return Err("the speaker has no power");
        }
        self.sounds.push(format!(
            "track {} of {} starts",
            context.track, context.tracks
        ));
        Ok(())
    }

    fn stop_sound(&mut self, _: &Context) {
        self.sounds.push("silence".to_owned());
    }

    fn schedule(&mut self, timer: Timer, delay: u64) {
        self.timers
            .schedule(timer.id(), self.now.saturating_add(delay));
    }

    fn cancel(&mut self, timer: Timer) {
        self.timers.cancel(timer.id());
    }

    fn begin(&mut self) {
        self.timers.begin();
    }

    fn rollback(&mut self) {
        self.timers.rollback();
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let mut player = Machine::new(Speaker::default())?;
    let evening = [
        Event::Power,
        Event::Play,
        Event::Next,
        Event::Louder,
        Event::Mute,
        Event::Power,
        Event::Power,
        Event::Next,
        Event::Next,
    ];
    for event in evening {
        if player.send(event)?.is_taken() {
            write_step(&mut out, event.name(), &mut player)?;
        }
    }
    wait(&mut player, 30 * 60 * 1000)?;
    write_step(&mut out, "30 min", &mut player)?;
    assert!(player.send(Event::Power)?.is_taken());
    // A speaker without power can't play, so the player stays paused.
    player.host_mut().is_unplugged = true;
    if let Err(failure) = player.send(Event::Play) {
        writeln!(out, "{failure}")?;
    }
    write_step(&mut out, "play", &mut player)?;
    Ok(())
}

/// Turns the clock, and reports every timer that has elapsed to the machine.
fn wait(player: &mut Machine<Speaker>, milliseconds: u64) -> Result<(), StepFailure<&'static str>> {
    let now = player.host().now.saturating_add(milliseconds);
    player.host_mut().now = now;
    while let Some(timer) = player
        .host_mut()
        .timers
        .pop_due(now)
        .and_then(Timer::from_id)
    {
        // Whether a transition was taken is the machine's affair: a time that is over isn't sent again.
        let _ = player.elapse(timer)?;
    }
    Ok(())
}

/// Writes one line: the input, the active states, the volume, the sounds.
fn write_step(
    out: &mut impl std::io::Write,
    what: &str,
    player: &mut Machine<Speaker>,
) -> std::io::Result<()> {
    let sounds = std::mem::take(&mut player.host_mut().sounds);
    let states: Vec<_> = player.states().map(|state| state.name()).collect();
    let volume = player.context().volume;
    let line = format!(
        "{what:<8}{:<16}volume {volume}  {}",
        states.join(" + "),
        sounds.join(", ")
    );
    writeln!(out, "{}", line.trim_end())
}
