//! An action that fails, where the spec doesn't say so.

statemark::machine!("../pass/door.md");

struct Hinge;

impl door::Host for Hinge {
    fn squeak(&mut self) -> Result<(), String> {
        Ok(())
    }
}

fn main() {
    let _ = door::Machine::new(Hinge);
}
