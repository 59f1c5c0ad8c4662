//! A warning is shown where the macro is called, whatever the lints make of it.
#![deny(deprecated)]

statemark::machine!("misspelt.md");

fn main() {
    let _ = order::Machine::new(()).send(order::Event::PickUp);
}
