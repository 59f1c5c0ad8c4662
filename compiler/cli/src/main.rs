//! `statemark`: the command line.
//!
//! The only place of Statemark that knows files, a terminal and exit codes. Commands read, call the compiler or the
//! runtime, and hand texts to the [`printer`]; what they know, those two know.

mod args;
mod bar;
mod commands;
mod config;
mod docs;
mod ending;
mod failure;
mod files;
mod lines;
mod loading;
mod palette;
mod printer;
mod report;
mod runs;
mod status;
mod wording;

use std::process::ExitCode;

use clap::Parser;

use args::Args;
use printer::Printer;
use status::ExitStatus;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(answer) => return printer::clap_answer(&answer).into(),
    };
    let mut printer = Printer::new(args.color);
    let status = commands::run(&args, &mut printer).unwrap_or_else(|failure| {
        printer.failure(&failure);
        ExitStatus::Failed
    });
    printer.flush();
    status.into()
}
