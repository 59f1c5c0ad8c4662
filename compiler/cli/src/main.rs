//! `statemark`: the command line.
//!
//! The only place of Statemark that knows files, a terminal and exit codes. A command reads, calls the compiler or the
//! runtime, and gives texts to the [`printer`].
//!
//! A module uses only modules that stand after it in this list: [`commands`], [`runs`], [`checks`], [`upstream`], [`catalog`],
//! [`simulation`], [`drawing`], [`picture`], [`specs`], [`search`], [`describe`], [`caller`], [`signing`], [`own_stores`],
//! [`cache`], [`project`], [`places`], [`rules`], [`clock`], [`signals`], [`logging`], [`args`], [`upward`], [`files`],
//! [`printer`], [`failure`], [`environment`].

mod args;
mod cache;
mod caller;
mod catalog;
mod checks;
mod clock;
mod commands;
mod describe;
mod drawing;
mod environment;
mod failure;
mod files;
mod logging;
mod own_stores;
mod picture;
mod places;
mod printer;
mod project;
mod rules;
mod runs;
mod search;
mod signals;
mod signing;
mod simulation;
mod specs;
mod upstream;
mod upward;

use std::process::ExitCode;

use clap::FromArgMatches as _;
use serde_json::json;

use commands::Args;
use printer::Printer;

fn main() -> ExitCode {
    // A process between a server and a check is this program, too.
    #[cfg(target_os = "linux")]
    if let Some(code) = statemark_runs::check::launch() {
        return code;
    }
    let outcome = commands::parse().and_then(|matches| {
        let args = Args::from_arg_matches(&matches)?;
        let mut printer = Printer::new(args.color);
        let outcome = match commands::begin_logging(&args, &matches) {
            Ok(()) => commands::run(&matches, &mut printer)?,
            Err(failure) => Err(failure),
        };
        let status = outcome.unwrap_or_else(|failure| {
            if commands::asks_for_json(&matches) {
                printer.json(&json!({"error": failure}));
            }
            printer.failure(&failure);
            failure.exit()
        });
        printer.flush();
        Ok(match printer::lost_results() {
            Some(failure) => {
                printer.failure(&failure);
                failure.exit()
            }
            None => status,
        })
    });
    let status = outcome.unwrap_or_else(|answer| printer::print_clap_answer(&answer));
    status.into()
}
