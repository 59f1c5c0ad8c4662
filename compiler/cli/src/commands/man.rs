//! `man`: pages for `man`, made from the list of commands.

use std::path::PathBuf;

use clap_mangen::Man;

use super::NAME;
use crate::failure::{CommandResult, ExitStatus, Failure, system_message};
use crate::files;
use crate::printer::{Printer, count};

/// Print the page for `man`, or write those of all commands into a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark man | man -l -\n  \
                        statemark man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The folder to write `statemark.1`, `statemark-lint.1` and so on to
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Prints or writes pages.
pub(super) fn run(
    args: &ManArgs,
    mut program: clap::Command,
    printer: &mut Printer,
) -> CommandResult {
    program.build();
    let Some(folder) = &args.folder else {
        printer.bytes(&page(&program, NAME)?);
        return Ok(ExitStatus::Clean);
    };
    files::make_folder(folder)?;
    let pages = pages(&program, NAME)?;
    for (name, text) in &pages {
        let path = folder.join(format!("{name}.1"));
        files::check_output(&path)?;
        files::write(&path, text)?;
    }
    let (count, folder) = (count(pages.len(), "page"), files::display(folder));
    printer.remark(&format!("wrote {count} to {folder}\n"));
    Ok(ExitStatus::Clean)
}

/// Makes the pages of a command and of all below it, by their names.
fn pages(command: &clap::Command, name: &str) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut pages = vec![(name.to_owned(), page(command, name)?)];
    for below in super::subcommands(command) {
        pages.extend(self::pages(below, &format!("{name}-{}", below.get_name()))?);
    }
    Ok(pages)
}

/// Makes the page of a command.
fn page(command: &clap::Command, name: &str) -> Result<Vec<u8>, Failure> {
    let command = command.clone().disable_help_subcommand(true);
    let mut text = Vec::new();
    let written = Man::new(command).title(name).render(&mut text);
    written.map_err(|error| {
        Failure::new(format!("a page can't be made: {}", system_message(&error)))
    })?;
    Ok(text)
}
