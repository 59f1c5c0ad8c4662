//! How long the parser takes for a diagram.
//!
//! `mermaid FILE …` prints a line for each file: the median of many rounds, in seconds. All of `parse_diagram` counts, which
//! prepares the text, reads it, builds the tree and says what it finds. `tests/mermaid/speed` makes the files, and measures
//! Mermaid on the same ones. Without arguments nothing is measured.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark stops where something is wrong, as a test does"
)]

use std::fs;
use std::hint::black_box;
use std::io::{Write, stdout};
use std::time::{Duration, Instant};

use statemark_compiler::diag::Diags;
use statemark_compiler::excerpt::Excerpt;
use statemark_compiler::front::mermaid::parse_diagram;
use statemark_compiler::source::Sources;

/// How long a file is measured.
const TIME: Duration = Duration::from_secs(1);

fn main() {
    let mut out = stdout();
    // `cargo bench` adds an argument of its own.
    for file in std::env::args().skip(1).filter(|file| file != "--bench") {
        let text = fs::read_to_string(file).unwrap();
        writeln!(out, "{:e}", median(&text)).unwrap();
    }
}

/// The median time of a round, in seconds.
fn median(text: &str) -> f64 {
    let mut sources = Sources::new();
    let file = sources.add("a.mmd", text);
    let mut times = Vec::new();
    let end = Instant::now() + TIME;
    while times.len() < 5 || Instant::now() < end {
        let start = Instant::now();
        let mut diags = Diags::new();
        let diagram = parse_diagram(&Excerpt::whole(file, black_box(text)), &mut diags);
        black_box((&diagram, &diags));
        times.push(start.elapsed().as_secs_f64());
        assert!(!diags.has_errors());
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
