//! A path that leads nowhere, of a machine that is used.

statemark::machine!("dor.md");
statemark::machine!("gate.md" as gate);

use dor::{Event, Machine, State};

fn main() {
    let mut dor = Machine::new(());
    assert_eq!(dor.send(Event::Push), Ok(statemark::Outcome::Taken));
    assert_eq!(dor.state(), State::Open);
    let _ = gate::Machine::new(());
}
