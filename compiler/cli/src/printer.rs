//! The only place that prints.
//!
//! Results go to standard output, talk goes to standard error. A reader that has gone away (`statemark … | head`) is no
//! error: what is left is dropped without a word.

use std::io::{self, BufWriter, Write};

use anstream::{AutoStream, ColorChoice};
use statemark_compiler::diag::render::Style;

use crate::args::ColorWhen;
use crate::failure::Failure;
use crate::palette::Palette;
use crate::status::ExitStatus;

/// Standard output and standard error.
pub(crate) struct Printer {
    results: BufWriter<AutoStream<io::Stdout>>,
    results_color: bool,
    talk: AutoStream<io::Stderr>,
    talk_color: bool,
}

impl Printer {
    pub(crate) fn new(when: ColorWhen) -> Self {
        let choice = match when {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        choice.write_global();
        let results = AutoStream::new(io::stdout(), AutoStream::choice(&io::stdout()));
        let talk = AutoStream::new(io::stderr(), AutoStream::choice(&io::stderr()));
        Self {
            results_color: results.current_choice() != ColorChoice::Never,
            talk_color: talk.current_choice() != ColorChoice::Never,
            results: BufWriter::new(results),
            talk,
        }
    }

    /// Prints a part of the result.
    pub(crate) fn result(&mut self, text: &str) {
        forget(self.results.write_all(text.as_bytes()));
    }

    /// Prints a result that need not be text.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        forget(self.results.write_all(bytes));
    }

    /// Says something about the work, behind all results so far.
    pub(crate) fn talk(&mut self, text: &str) {
        self.flush();
        forget(self.talk.write_all(text.as_bytes()));
        forget(self.talk.flush());
    }

    /// Says why the work couldn't be done.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        let palette = self.talk_palette();
        let help = failure
            .help()
            .map(|help| format!("  {} {help}\n", palette.dim("help:")))
            .unwrap_or_default();
        self.talk(&format!("{} {failure}\n{help}", palette.bad("error:")));
    }

    /// Brings everything to the reader.
    pub(crate) fn flush(&mut self) {
        forget(self.results.flush());
    }

    /// How findings among the results look.
    pub(crate) const fn style(&self) -> Style {
        Style {
            color: self.results_color,
        }
    }

    /// How findings in the talk look.
    pub(crate) const fn talk_style(&self) -> Style {
        Style {
            color: self.talk_color,
        }
    }

    /// The colors of results.
    pub(crate) const fn palette(&self) -> Palette {
        Palette::new(self.results_color)
    }

    /// The colors of talk.
    pub(crate) const fn talk_palette(&self) -> Palette {
        Palette::new(self.talk_color)
    }
}

/// Prints help, the version, or what is wrong with the arguments.
pub(crate) fn clap_answer(answer: &clap::Error) -> ExitStatus {
    forget(answer.print());
    if answer.use_stderr() {
        ExitStatus::Failed
    } else {
        ExitStatus::Clean
    }
}

/// A terminal or a pipe that takes no more text leaves nobody to tell.
fn forget(outcome: io::Result<()>) {
    drop(outcome);
}
