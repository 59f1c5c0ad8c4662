//! An option that there isn't.

statemark::machine!("../pass/door.md", actions_may_fail);

fn main() {}
