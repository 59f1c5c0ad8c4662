//! Compiles state machines that people write in Markdown.

pub mod arena;
pub mod back;
pub mod build;
pub mod datum;
pub mod diag;
pub mod excerpt;
pub mod front;
pub mod ir;
pub mod lower;
pub mod pass;
mod pipeline;
mod report;
pub mod source;
pub mod valid;

use diag::Diagnostic;
use source::Sources;
use valid::Valid;

/// What a compilation is told beside the texts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// How to read every text; by default the ending of its name decides.
    pub format: Option<Format>,
}

/// How to read a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A Markdown document with `## STATE-MACHINE` sections.
    Markdown,
    /// A Mermaid state diagram alone.
    Diagram,
    /// A JSON definition alone.
    Definition,
    /// An SCXML document.
    Scxml,
}

impl Format {
    /// The format that a file's name tells: `.mmd` and `.mermaid` are diagrams, `.json` and `.jsonc` are definitions,
    /// `.scxml` is SCXML, all else is Markdown.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        let ending = name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        match ending.as_str() {
            "mmd" | "mermaid" => Self::Diagram,
            "json" | "jsonc" => Self::Definition,
            "scxml" => Self::Scxml,
            _ => Self::Markdown,
        }
    }
}

/// What came of a compilation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The machines without an error, in the order of the texts.
    pub machines: Vec<Valid>,
    /// How many machines were found, those with errors included.
    pub found: usize,
    /// Every finding, in reading order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles every text: the whole pipeline.
///
/// Never fails and never stops at the first error: each machine without one is in the answer, and every finding of the
/// others.
#[must_use]
pub fn compile(sources: &Sources, options: &Options) -> Compiled {
    pipeline::compile(sources, options)
}
