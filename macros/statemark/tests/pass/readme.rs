//! The program that README and the book begin with, line by line.

// README
statemark::machine!("../../../../examples/turnstile/turnstile.md");

use turnstile::{Event, Host, Machine, State};

struct Gate;

impl Host for Gate {
    fn open_arm(&mut self) { /* … */ }
    fn return_coin(&mut self) { /* … */ }
    fn close_arm(&mut self) { /* … */ }
    fn count_visitor(&mut self) { /* … */ }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut gate = Machine::new(Gate);
    assert!(gate.send(Event::Coin)?.is_taken());
    assert_eq!(gate.state(), State::Unlocked);
    // end of README
    Ok(())
}
