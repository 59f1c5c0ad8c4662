//! Without the feature `scxml`, an SCXML document is a finding that says how to turn it on.

statemark::machine!("door.scxml");

fn main() {}
