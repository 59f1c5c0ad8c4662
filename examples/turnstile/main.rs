//! A turnstile that counts visitors: the spec is `turnstile.md`, in this folder.

use std::fmt::Write as _;
use std::io::Write as _;

statemark::machine!("turnstile.md");

use turnstile::{Event, Host, Machine};

/// The hardware, as far as a terminal has any: it reports what it does, and counts.
#[derive(Default)]
struct Arm {
    visitors: u32,
    moves: Vec<&'static str>,
}

// The compiler asks for each of these: an action in the spec that nobody carries out doesn't compile.
impl Host for Arm {
    fn open_arm(&mut self) {
        self.moves.push("the arm opens");
    }

    fn return_coin(&mut self) {
        self.moves.push("the coin drops back out");
    }

    fn close_arm(&mut self) {
        self.moves.push("the arm closes");
    }

    fn count_visitor(&mut self) {
        self.visitors += 1;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let mut turnstile = Machine::new(Arm::default());
    let day = [
        ("Ada drops a coin", Event::Coin),
        ("she drops another, to be sure", Event::Coin),
        ("she pushes", Event::Push),
        ("Bob pushes without a coin", Event::Push),
        ("Bob pays", Event::Coin),
        ("he pushes", Event::Push),
        ("the museum closes", Event::Close),
    ];
    for (what, event) in day {
        writeln!(out, "{}", step(&mut turnstile, what, event)?)?;
    }
    writeln!(out, "\n{} visitors today.", turnstile.host().visitors)?;
    Ok(())
}

/// Sends one event and describes the outcome.
fn step(
    turnstile: &mut Machine<Arm>,
    what: &str,
    event: Event,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut line = format!("{what:<31}");
    if !turnstile.send(event)?.is_taken() {
        let legal: Vec<_> = turnstile.events().map(Event::name).collect();
        write!(
            line,
            "nothing happens: {} takes only {}",
            turnstile.state(),
            legal.join(" or ")
        )?;
        return Ok(line);
    }
    let moves = std::mem::take(&mut turnstile.host_mut().moves);
    write!(line, "{:<25}-> {}", moves.join(", "), turnstile.state())?;
    Ok(line)
}
