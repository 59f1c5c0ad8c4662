//! Every finding, with the lines of the Markdown.

statemark::machine!("broken_spec.md");

fn main() {}
