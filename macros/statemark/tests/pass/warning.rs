//! A warning doesn't stop a build, and is silenced as deprecation is.
#![deny(warnings)]

#[allow(deprecated)]
mod quiet {
    statemark::machine!("../fail/misspelt.md" as order);
}

fn main() {
    assert_eq!(quiet::order::State::INITIAL.name(), "packed");
}
