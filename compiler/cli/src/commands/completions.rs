//! `completions`: what a shell completes, made from the list of commands.

use clap_complete::{Shell, generate};

use super::NAME;
use crate::failure::{CommandResult, ExitStatus};
use crate::printer::Printer;

/// Print what a shell needs to complete commands and flags.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark completions bash > ~/.local/share/bash-completion/completions/statemark\n  \
                        statemark completions zsh > \"${fpath[1]}/_statemark\"\n  \
                        statemark completions fish > ~/.config/fish/completions/statemark.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell: bash, elvish, fish, powershell or zsh
    #[arg(value_enum, value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

/// Prints completions.
pub(super) fn run(
    args: &CompletionsArgs,
    mut program: clap::Command,
    printer: &mut Printer,
) -> CommandResult {
    let mut text = Vec::new();
    generate(args.shell, &mut program, NAME, &mut text);
    printer.bytes(&text);
    Ok(ExitStatus::Clean)
}
