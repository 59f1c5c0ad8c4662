//! The commands.
//!
//! A command is a file: its arguments, which are its help as well, the request that they become, and the text that is
//! printed of the outcome. Commands of one subject share a file. [`Command`] is the only list.

mod build;
mod docs;
mod explain;
mod lint;
mod mcp;
mod new;
mod run;
mod serve;
mod show;
mod simulate;
mod store;
mod token;
mod welcome;

use clap::{CommandFactory as _, Parser, Subcommand};

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
    /// The command
    #[command(subcommand)]
    command: Option<Command>,
}

/// A command.
#[derive(Debug, Subcommand)]
enum Command {
    Lint(lint::LintArgs),
    Build(build::BuildArgs),
    Show(show::ShowArgs),
    Simulate(simulate::SimulateArgs),
    Explain(explain::ExplainArgs),
    New(new::NewArgs),
    Start(run::events::StartArgs),
    Send(run::events::SendArgs),
    Emit(run::emit::EmitArgs),
    State(run::state::StateArgs),
    Why(run::state::WhyArgs),
    Wait(run::state::WaitArgs),
    Events(run::history::EventsArgs),
    Runs(run::state::RunsArgs),
    Inbox(run::requests::InboxArgs),
    Approve(run::requests::ApproveArgs),
    Deny(run::requests::DenyArgs),
    Answer(run::requests::AnswerArgs),
    Ask(run::requests::AskArgs),
    Withdraw(run::requests::WithdrawArgs),
    Pause(run::control::PauseArgs),
    Continue(run::control::ContinueArgs),
    Cancel(run::control::CancelArgs),
    Force(run::control::ForceArgs),
    Artifacts(run::artifacts::ArtifactsArgs),
    RunCheck(run::check::RunCheckArgs),
    Timeline(run::history::TimelineArgs),
    Fork(run::rewind::ForkArgs),
    Rewind(run::rewind::RewindArgs),
    Replay(run::migrate::ReplayArgs),
    Migrate(run::migrate::MigrateArgs),
    Checkpoint(run::checkpoint::CheckpointArgs),
    Effect(run::effect::EffectArgs),
    Store(store::StoreCommandArgs),
    Serve(serve::ServeArgs),
    Mcp(mcp::McpArgs),
    Token(token::TokenArgs),
}

/// Runs the command of the arguments.
pub(crate) fn run(args: &Args, printer: &mut Printer) -> CommandResult {
    let Some(command) = &args.command else {
        return welcome::run(printer);
    };
    match command {
        Command::Lint(args) => lint::run(args, printer),
        Command::Build(args) => build::run(args, printer),
        Command::Show(args) => show::run(args, printer),
        Command::Simulate(args) => simulate::run(args, printer),
        Command::Explain(args) => explain::run(args, printer),
        Command::New(args) => new::run(args, printer),
        Command::Start(args) => run::events::start(args, printer),
        Command::Send(args) => run::events::send(args, printer),
        Command::Emit(args) => run::emit::run(args, printer),
        Command::State(args) => run::state::run(args, printer),
        Command::Why(args) => run::state::explain_run(args, printer),
        Command::Wait(args) => run::state::wait(args, printer),
        Command::Events(args) => run::history::events(args, printer),
        Command::Runs(args) => run::state::list(args, printer),
        Command::Inbox(args) => run::requests::inbox(args, printer),
        Command::Approve(args) => run::requests::approve(args, printer),
        Command::Deny(args) => run::requests::deny(args, printer),
        Command::Answer(args) => run::requests::answer(args, printer),
        Command::Ask(args) => run::requests::ask(args, printer),
        Command::Withdraw(args) => run::requests::withdraw(args, printer),
        Command::Pause(args) => run::control::pause(args, printer),
        Command::Continue(args) => run::control::resume(args, printer),
        Command::Cancel(args) => run::control::cancel(args, printer),
        Command::Force(args) => run::control::force(args, printer),
        Command::Artifacts(args) => run::artifacts::run(args, printer),
        Command::RunCheck(args) => run::check::run(args, printer),
        Command::Timeline(args) => run::history::timeline(args, printer),
        Command::Fork(args) => run::rewind::fork(args, printer),
        Command::Rewind(args) => run::rewind::rewind(args, printer),
        Command::Replay(args) => run::migrate::replay(args, printer),
        Command::Migrate(args) => run::migrate::migrate(args, printer),
        Command::Checkpoint(args) => run::checkpoint::run(args, printer),
        Command::Effect(args) => run::effect::run(args, printer),
        Command::Store(args) => store::run(args, printer),
        Command::Serve(args) => serve::run(args, Args::command(), printer),
        Command::Mcp(args) => mcp::run(args, printer),
        Command::Token(args) => token::run(args, printer),
    }
}

#[cfg(test)]
mod tests;
