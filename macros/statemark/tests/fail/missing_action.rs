//! An action that nobody carries out.

statemark::machine!("../pass/door.md");

struct Hinge;

impl door::Host for Hinge {}

fn main() {
    let _ = door::Machine::new(Hinge);
}
