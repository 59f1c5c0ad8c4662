//! A path that leads nowhere: the message names both places tried.

statemark::machine!("dor.md");

fn main() {}
