//! The commands.
//!
//! A command is a file: its arguments, which are its help as well, the request that they become, and the text that is
//! printed of the outcome. Commands of one subject share a file. [`COMMANDS`] is the only list.

mod accept;
mod agent;
mod build;
mod completions;
mod config;
mod diff;
mod docs;
mod explain;
mod fmt;
mod graph;
mod health;
mod help;
mod hook;
mod import;
mod lint;
mod lsp;
mod man;
mod mcp;
mod new;
mod run;
mod serve;
mod settings;
mod show;
mod signer;
mod simulate;
mod store;
mod token;
mod top;
mod upstream;
mod welcome;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser};

use crate::args::TextFormat;
use crate::failure::{CommandResult, Failure};
use crate::logging::{self, LogLevel};
use crate::printer::{ColorWhen, Printer};

/// Compile state machines written in Markdown, and run them.
#[derive(Debug, Parser)]
#[command(
    name = NAME,
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
                  `statemark help TOPIC` has more: a command, a finding's code, or a page (`statemark help topics`).\n\
                  Exit codes: 0 clean; 1 findings, or refused; 2 usage, files or a defect."
)]
pub(crate) struct Args {
    /// When to use color; NO_COLOR is respected
    #[arg(long, global = true, value_enum, default_value_t = ColorWhen::Auto, value_name = "WHEN", hide_possible_values = true, help = "When to use color: auto, always or never")]
    pub(crate) color: ColorWhen,
    /// What to log to standard error: off, error, warn, info, debug or trace [env: STATEMARK_LOG; default: info for `serve`, else off]
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "LEVEL",
        hide_possible_values = true
    )]
    pub(crate) log: Option<LogLevel>,
    /// The form of log lines: text or json
    #[arg(long, global = true, value_enum, default_value_t = TextFormat::Text, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) log_format: TextFormat,
}

/// The name of the program.
const NAME: &str = "statemark";

/// A command of the command line.
struct Command {
    /// The group that it is listed in.
    group: &'static str,
    name: &'static str,
    /// Adds its help and arguments to a parser.
    define: fn(clap::Command) -> clap::Command,
    /// Carries it out; the outer error is one of the arguments.
    run: fn(&ArgMatches, &mut Printer) -> Result<CommandResult, clap::Error>,
}

/// Writes the list of commands by group: a name, the arguments, and the function that gets them.
macro_rules! commands {
    ($($group:literal { $($name:literal $args:ty => $run:expr,)* })*) => {
        /// The commands, those of a group next to each other.
        const COMMANDS: &[Command] = &[$($(Command {
            group: $group,
            name: $name,
            define: <$args as clap::Args>::augment_args,
            run: |matches, printer| {
                let run: fn(&$args, &mut Printer) -> CommandResult = $run;
                Ok(run(&<$args>::from_arg_matches(matches)?, printer))
            },
        },)*)*];
    };
}

commands! {
    "Specs" {
        "lint" lint::LintArgs => lint::run,
        "fmt" fmt::FmtArgs => fmt::run,
        "build" build::BuildArgs => build::run,
        "show" show::ShowArgs => show::run,
        "graph" graph::GraphArgs => graph::run,
        "simulate" simulate::SimulateArgs => simulate::run,
        "lsp" lsp::LspArgs => lsp::run,
        "new" new::NewArgs => new::run,
        "diff" diff::DiffArgs => diff::run,
        "accept" accept::AcceptArgs => accept::run,
    }
    "Runs" {
        "start" run::events::StartArgs => run::events::start,
        "send" run::events::SendArgs => run::events::send,
        "state" run::state::StateArgs => run::state::run,
        "why" run::state::WhyArgs => run::state::explain_run,
        "wait" run::state::WaitArgs => run::state::wait,
        "runs" run::state::RunsArgs => run::state::list,
        "top" top::TopArgs => top::run,
        "pause" run::control::PauseArgs => run::control::pause,
        "continue" run::control::ContinueArgs => run::control::resume,
        "cancel" run::control::CancelArgs => run::control::cancel,
        "force" run::control::ForceArgs => run::control::force,
    }
    "Decisions of people" {
        "inbox" run::requests::InboxArgs => run::requests::inbox,
        "approve" run::requests::ApproveArgs => run::requests::approve,
        "deny" run::requests::DenyArgs => run::requests::deny,
        "answer" run::requests::AnswerArgs => run::requests::answer,
        "ask" run::requests::AskArgs => run::requests::ask,
        "withdraw" run::requests::WithdrawArgs => run::requests::withdraw,
    }
    "What a run produces and does" {
        "artifacts" run::artifacts::ArtifactsArgs => run::artifacts::run,
        "run-check" run::check::RunCheckArgs => run::check::run,
        "effect" run::effect::EffectArgs => run::effect::run,
        "checkpoint" run::checkpoint::CheckpointArgs => run::checkpoint::run,
        "emit" run::emit::EmitArgs => run::emit::run,
    }
    "The past of a run" {
        "events" run::history::EventsArgs => run::history::events,
        "report" run::report::ReportArgs => run::report::run,
        "timeline" run::history::TimelineArgs => run::history::timeline,
        "fork" run::rewind::ForkArgs => run::rewind::fork,
        "rewind" run::rewind::RewindArgs => run::rewind::rewind,
        "replay" run::migrate::ReplayArgs => run::migrate::replay,
        "migrate" run::migrate::MigrateArgs => run::migrate::migrate,
    }
    "Agents and servers" {
        "serve" serve::ServeArgs => |args, printer| serve::run(args, program(), printer),
        "agent" agent::AgentArgs => |args, printer| agent::run(args, program(), printer),
        "transcript" run::transcript::TranscriptArgs => run::transcript::run,
        "mcp" mcp::McpArgs => mcp::run,
        "hook" hook::HookArgs => hook::run,
        "bind" run::session::BindArgs => run::session::bind,
        "release" run::session::ReleaseArgs => run::session::release,
        "upstream" upstream::UpstreamArgs => upstream::run,
        "import" import::ImportArgs => import::run,
        "health" health::HealthArgs => health::run,
    }
    "Stores, and who may do what" {
        "store" store::StoreCommandArgs => store::run,
        "token" token::TokenArgs => token::run,
        "signer" signer::SignerArgs => signer::run,
    }
    "Help" {
        "help" help::HelpArgs => |args, printer| help::run(args, program(), printer),
        "config" config::ConfigArgs => config::run,
        "schema" config::SchemaArgs => config::print_schema,
        "explain" explain::ExplainArgs => explain::run,
        "completions" completions::CompletionsArgs => |args, printer| completions::run(args, program(), printer),
        "man" man::ManArgs => |args, printer| man::run(args, program(), printer),
    }
}

/// Returns the parser of all commands, whose help lists them by group.
pub(crate) fn program() -> clap::Command {
    let program = parser(|_| true);
    let template = help::template(&program);
    program.help_template(template)
}

/// Returns the subcommands of a command, but for the help that clap adds.
fn subcommands(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    let is_root = command.get_name() == NAME;
    let below = command.get_subcommands();
    below.filter(move |it| is_root || it.get_name() != "help")
}

/// Begins to log, as the arguments and the environment say.
///
/// # Errors
///
/// The environment names no level.
pub(crate) fn begin_logging(args: &Args, matches: &ArgMatches) -> Result<(), Failure> {
    let default = match matches.subcommand_name() {
        Some("serve") => LogLevel::Info,
        _ => LogLevel::Off,
    };
    logging::begin(args.log, args.log_format, default)
}

/// Reports whether a command's results are to be JSON.
pub(crate) fn asks_for_json(matches: &ArgMatches) -> bool {
    let asked = matches.try_get_one::<bool>("json");
    asked.is_ok_and(|it| it.is_some_and(|it| *it))
        || matches
            .subcommand()
            .is_some_and(|(_, below)| asks_for_json(below))
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
