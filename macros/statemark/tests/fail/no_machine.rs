//! A text without a machine, and options that don't exist.

statemark::machine!("
# Nothing here
");
statemark::machine!("../pass/door.md", typestat);

fn main() {}
