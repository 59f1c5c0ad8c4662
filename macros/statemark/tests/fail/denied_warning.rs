//! Warnings as errors.

statemark::machine!("misspelt.md", deny_warnings);

fn main() {
    let _ = order::Machine::new(()).send(order::Event::PickUp);
}
