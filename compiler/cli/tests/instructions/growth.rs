//! Specs that grow, and how much faster than they their work and memory may: `readers.rs` counts `lint` at four sizes of
//! each, each twice the one before.
//!
//! A doubled input may cost 2.4 times as much: n log n does at these sizes, and n² would cost four times.

use std::fmt::Write as _;

/// Most that the work of a doubled input may be of the work before. Unit: tenths.
const MOST: u64 = 24;

/// The least growth of a heap that counts. Unit: bytes. Why: lists that double, and pages that a store remembers.
const HEAP_STEP: u64 = 64 << 10;

/// An input that grows: what `lint` reads, by its size.
pub(super) struct Input {
    pub(super) file: &'static str,
    /// The smallest size.
    pub(super) size: usize,
    pub(super) write: fn(usize) -> String,
}

pub(super) const INPUTS: &[Input] = &[
    Input {
        file: "transitions.md",
        size: 60,
        write: |size| {
            let rows = lines(size, |at| format!("s{at} --> s{} : next", at + 1));
            diagram(&format!("a --> s0 : begin\n{rows}"))
        },
    },
    Input {
        file: "labels.md",
        size: 40,
        write: |size| {
            let rows = lines(size, |at| format!("a --> b : e{at} [n == {at}] / do_{at}"));
            with_context(&diagram(&rows), "\"n\": 0")
        },
    },
    Input {
        file: "notes.md",
        size: 100,
        write: |size| {
            let rows = lines(size, |at| format!("note right of a : text {at}"));
            diagram(&format!("a --> b : go\n{rows}"))
        },
    },
    Input {
        file: "composites.md",
        size: 20,
        write: |size| {
            diagram(&lines(size, |at| {
                format!("a --> c{at} : e{at}\nstate c{at} {{\n[*] --> i{at}\n}}")
            }))
        },
    },
    Input {
        file: "fields.md",
        size: 100,
        write: |size| {
            let fields = list(size, |at| format!("\"f{at}\": {at}"));
            with_context(&diagram("a --> b : go"), &fields)
        },
    },
    Input {
        file: "guard.md",
        size: 20,
        write: |size| {
            let guard = list(size, |at| format!("n != {at}")).replace(", ", " && ");
            with_context(&diagram(&format!("a --> b : go [{guard}]")), "\"n\": 0")
        },
    },
    Input {
        file: "prose.md",
        size: 100,
        write: |size| {
            let prose = lines(size, |at| {
                format!("## Heading {at}\n\nText with `code`, [a link](x) and *stress*.\n")
            });
            format!("{prose}\n{}", diagram("a --> b : go"))
        },
    },
    Input {
        file: "states.scxml",
        size: 40,
        write: |size| {
            scxml(&lines(size, |at| {
                let next = (at + 1) % size;
                format!("<state id=\"s{at}\"><transition event=\"e\" target=\"s{next}\"/></state>")
            }))
        },
    },
    Input {
        file: "comments.scxml",
        size: 200,
        write: |size| {
            let comments = lines(size, |at| format!("<!-- {at} -->"));
            scxml(&format!("<state id=\"s0\"/>{comments}"))
        },
    },
    Input {
        file: "one_line.workflow.json",
        size: 100,
        write: |size| {
            let states = list(size, |at| {
                format!("\"s{at}\": {{\"keys of others\": {at}}}")
            });
            format!("{{\"id\": \"it\", \"initial\": \"s0\", \"states\": {{{states}}}}}")
        },
    },
    Input {
        file: "unreached.md",
        size: 100,
        write: |size| diagram(&lines(size, |at| format!("s{at} --> a : e"))),
    },
    Input {
        file: "unreached_composites.md",
        size: 50,
        write: |size| {
            diagram(&lines(size, |at| {
                format!("state c{at} {{\nx{at} --> y{at} : e\n}}")
            }))
        },
    },
    Input {
        file: "unlabeled.md",
        size: 100,
        write: |size| diagram(&lines(size, |at| format!("a --> s{at}"))),
    },
    Input {
        file: "events.scxml",
        size: 100,
        write: |size| {
            let rows = lines(size, |at| {
                format!("<transition event=\"e{at}\" target=\"s\"/>")
            });
            scxml(&format!("<state id=\"s\">{rows}</state>"))
        },
    },
    Input {
        file: "mistakes.md",
        size: 20,
        write: |size| diagram(&lines(size, |at| format!("s{at} -> s{at} ::: {{"))),
    },
];

pub(super) fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "{}", line(at));
        text
    })
}

pub(super) fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(item).collect();
    items.join(", ")
}

fn diagram(rows: &str) -> String {
    format!("## STATE-MACHINE: it\n\n```mermaid\nstateDiagram-v2\n[*] --> a\n{rows}\n```\n")
}

/// Adds a definition with context fields to a document.
fn with_context(document: &str, fields: &str) -> String {
    format!("{document}\n```json definition\n{{\"context\": {{{fields}}}}}\n```\n")
}

fn scxml(content: &str) -> String {
    format!(
        "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\">\n{content}</scxml>\n"
    )
}

/// Reports whether costs at sizes, each twice the one before, grow faster than the size. What starting costs falls out of
/// differences.
pub(super) fn is_steep(costs: &[u64; 4]) -> bool {
    let steps = costs.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let steps: Vec<u64> = steps.collect();
    steps.windows(2).any(|pair| pair[1] * 10 > pair[0] * MOST)
}

/// Reports whether a heap at sizes, each twice the one before, grows faster than the size.
///
/// Memory grows in steps, so the last step is compared with all that came before: from four sizes to eight it is 4/3 of
/// that from one to four where both are linear, and 16/5 where they are quadratic.
pub(super) fn is_steep_heap(&[first, _, third, last]: &[u64; 4]) -> bool {
    let step = last.saturating_sub(third);
    step > HEAP_STEP && step > 2 * third.saturating_sub(first)
}
