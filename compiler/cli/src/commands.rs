//! The commands, one file each.
//!
//! Each is a function from its arguments to an [`ExitStatus`] or a [`Failure`]. What it has to say it gives to the
//! [`Printer`].

mod build;
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

pub(crate) use lint::check_all;
pub(crate) use simulate::story;

use crate::args::{Args, Command};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::status::ExitStatus;

/// Does what the arguments say.
pub(crate) fn run(args: &Args, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    match &args.command {
        None => welcome::run(printer),
        Some(Command::Lint(args)) => lint::run(args, printer),
        Some(Command::Build(args)) => build::run(args, printer),
        Some(Command::Show(args)) => show::run(args, printer),
        Some(Command::Simulate(args)) => simulate::run(args, printer),
        Some(Command::Explain(args)) => explain::run(args, printer),
        Some(Command::New(args)) => new::run(args, printer),
        Some(Command::Start(args)) => run::start::run(args, printer),
        Some(Command::Send(args)) => run::send::run(args, printer),
        Some(Command::Emit(args)) => run::emit::run(args, printer),
        Some(Command::State(args)) => run::state::run(args, printer),
        Some(Command::Why(args)) => run::why::run(args, printer),
        Some(Command::Wait(args)) => run::wait::run(args, printer),
        Some(Command::Events(args)) => run::events::run(args, printer),
        Some(Command::Runs(args)) => run::runs::run(args, printer),
        Some(Command::Inbox(args)) => run::inbox::run(args, printer),
        Some(Command::Approve(args)) => run::decide::approve(args, printer),
        Some(Command::Deny(args)) => run::decide::deny(args, printer),
        Some(Command::Answer(args)) => run::decide::answer(args, printer),
        Some(Command::Ask(args)) => run::ask::run(args, printer),
        Some(Command::Withdraw(args)) => run::decide::withdraw(args, printer),
        Some(Command::Pause(args)) => run::control::pause(args, printer),
        Some(Command::Continue(args)) => run::control::go_on(args, printer),
        Some(Command::Cancel(args)) => run::control::cancel(args, printer),
        Some(Command::Force(args)) => run::control::force(args, printer),
        Some(Command::Artifacts(args)) => run::artifacts::run(args, printer),
        Some(Command::RunCheck(args)) => run::check::run(args, printer),
        Some(Command::Timeline(args)) => run::timeline::run(args, printer),
        Some(Command::Fork(args)) => run::fork::run(args, printer),
        Some(Command::Rewind(args)) => run::rewind::run(args, printer),
        Some(Command::Replay(args)) => run::replay::run(args, printer),
        Some(Command::Migrate(args)) => run::migrate::run(args, printer),
        Some(Command::Checkpoint(args)) => run::checkpoint::run(args, printer),
        Some(Command::Effect(args)) => run::effect::run(args, printer),
        Some(Command::Store(args)) => store::run(args, printer),
        Some(Command::Serve(args)) => serve::run(args, printer),
        Some(Command::Mcp(args)) => mcp::run(args, printer),
        Some(Command::Token(args)) => token::run(args, printer),
    }
}
