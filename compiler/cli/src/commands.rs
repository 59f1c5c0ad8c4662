//! The commands.
//!
//! A command is a file: its arguments, which are its help as well, the request that they become, and the text that is
//! printed of the outcome. Commands of one subject share a file. [`COMMANDS`] is the only list.

mod accept;
mod build;
mod docs;
mod explain;
mod lint;
mod mcp;
mod new;
mod run;
mod serve;
mod show;
mod signer;
mod simulate;
mod store;
mod token;
mod welcome;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser};

use crate::failure::CommandResult;
use crate::printer::{ColorWhen, Printer};

/// Compile state machines written in Markdown, and run them.
#[derive(Debug, Parser)]
#[command(
    name = "statemark",
    version,
    about = "Compiles state machines written in Markdown: checks them, shows them, runs them.",
    long_about = None,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Examples:\n  \
                  statemark new door           begin a spec: door.md\n  \
                  statemark lint               list every finding in every spec below this folder\n  \
                  statemark simulate door.md   try it\n\n\
                  Without a command, statemark shows what is in this folder and what to do next.\n\
                  Exit codes: 0 clean; 1 findings, or refused; 2 usage, files or a defect."
)]
pub(crate) struct Args {
    /// When to use color; NO_COLOR is respected
    #[arg(long, global = true, value_enum, default_value_t = ColorWhen::Auto, value_name = "WHEN", hide_possible_values = true, help = "When to use color: auto, always or never")]
    pub(crate) color: ColorWhen,
}

/// A command of the command line.
struct Command {
    name: &'static str,
    /// Adds its help and arguments to a parser.
    define: fn(clap::Command) -> clap::Command,
    /// Carries it out; the outer error is one of the arguments.
    run: fn(&ArgMatches, &mut Printer) -> Result<CommandResult, clap::Error>,
}

/// Writes the list of commands: a name, the arguments, and the function that gets them.
macro_rules! commands {
    ($($name:literal $args:ty => $run:expr,)*) => {
        /// The commands.
        const COMMANDS: &[Command] = &[$(Command {
            name: $name,
            define: <$args as clap::Args>::augment_args,
            run: |matches, printer| {
                let run: fn(&$args, &mut Printer) -> CommandResult = $run;
                Ok(run(&<$args>::from_arg_matches(matches)?, printer))
            },
        },)*];
    };
}

commands! {
    "lint" lint::LintArgs => lint::run,
    "build" build::BuildArgs => build::run,
    "show" show::ShowArgs => show::run,
    "simulate" simulate::SimulateArgs => simulate::run,
    "explain" explain::ExplainArgs => explain::run,
    "new" new::NewArgs => new::run,
    "start" run::events::StartArgs => run::events::start,
    "send" run::events::SendArgs => run::events::send,
    "emit" run::emit::EmitArgs => run::emit::run,
    "state" run::state::StateArgs => run::state::run,
    "why" run::state::WhyArgs => run::state::explain_run,
    "wait" run::state::WaitArgs => run::state::wait,
    "events" run::history::EventsArgs => run::history::events,
    "runs" run::state::RunsArgs => run::state::list,
    "inbox" run::requests::InboxArgs => run::requests::inbox,
    "approve" run::requests::ApproveArgs => run::requests::approve,
    "deny" run::requests::DenyArgs => run::requests::deny,
    "answer" run::requests::AnswerArgs => run::requests::answer,
    "ask" run::requests::AskArgs => run::requests::ask,
    "withdraw" run::requests::WithdrawArgs => run::requests::withdraw,
    "pause" run::control::PauseArgs => run::control::pause,
    "continue" run::control::ContinueArgs => run::control::resume,
    "cancel" run::control::CancelArgs => run::control::cancel,
    "force" run::control::ForceArgs => run::control::force,
    "artifacts" run::artifacts::ArtifactsArgs => run::artifacts::run,
    "run-check" run::check::RunCheckArgs => run::check::run,
    "timeline" run::history::TimelineArgs => run::history::timeline,
    "fork" run::rewind::ForkArgs => run::rewind::fork,
    "rewind" run::rewind::RewindArgs => run::rewind::rewind,
    "replay" run::migrate::ReplayArgs => run::migrate::replay,
    "migrate" run::migrate::MigrateArgs => run::migrate::migrate,
    "checkpoint" run::checkpoint::CheckpointArgs => run::checkpoint::run,
    "effect" run::effect::EffectArgs => run::effect::run,
    "store" store::StoreCommandArgs => store::run,
    "serve" serve::ServeArgs => |args, printer| serve::run(args, program(), printer),
    "mcp" mcp::McpArgs => mcp::run,
    "signer" signer::SignerArgs => signer::run,
    "token" token::TokenArgs => token::run,
    "accept" accept::AcceptArgs => accept::run,
}

/// Returns the parser of all commands.
pub(crate) fn program() -> clap::Command {
    parser(|_| true)
}

fn parser(is_known: impl Fn(&Command) -> bool) -> clap::Command {
    let commands = COMMANDS.iter().filter(|command| is_known(command));
    let commands = commands.map(|command| (command.define)(clap::Command::new(command.name)));
    Args::command().subcommands(commands)
}

/// Parses the arguments of the process.
///
/// Where they begin with a command, only its parser is made: those of all take longer than reading a run does.
///
/// # Errors
///
/// They are wrong, or ask for help or the version.
pub(crate) fn parse() -> Result<ArgMatches, clap::Error> {
    let first = std::env::args_os().nth(1).unwrap_or_default();
    if COMMANDS.iter().any(|command| first == command.name)
        && let Ok(matches) = parser(|command| first == command.name).try_get_matches()
    {
        return Ok(matches);
    }
    program().try_get_matches()
}

/// Runs the command of the arguments.
///
/// # Errors
///
/// The outer one is of the arguments, the inner one of the command.
pub(crate) fn run(
    matches: &ArgMatches,
    printer: &mut Printer,
) -> Result<CommandResult, clap::Error> {
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(welcome::run(printer));
    };
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(matches, printer),
        // INVARIANT: the parser knows no other commands.
        None => Ok(welcome::run(printer)),
    }
}

#[cfg(test)]
mod tests;
