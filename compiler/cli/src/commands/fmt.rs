//! `fmt`: the canonical form of diagrams and definitions, in their documents.

use std::path::{Path, PathBuf};

use statemark_compiler::{Formatted, format_text};

use super::lint::unified_diff;
use crate::failure::{ExitStatus, Failure};
use crate::files;
use crate::printer::{Printer, count};
use crate::project;
use crate::specs::{STDIN_NAME, read_specs};

/// Format diagrams and definitions.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark fmt                               every spec below this folder\n  \
                        statemark fmt --check                       only say what isn't formatted\n  \
                        statemark fmt --diff docs/door.md           only show what would change\n  \
                        statemark fmt - --stdin-filename a.md       standard input, to standard output\n\n\
                        Only blanks are changed: the indentation of diagrams and the blanks around their arrows and\n\
                        colons, and the layout of JSON. Words, comments and the rest of a document stay, and so does\n\
                        what a machine means. A spec with errors is left as it is.")]
pub(crate) struct FmtArgs {
    /// Files and folders, or `-` for standard input
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Change nothing; name the files that aren't formatted, with exit code 1 if there are any
    #[arg(long)]
    check: bool,
    /// Change nothing; show what would change, with exit code 1 if that is anything
    #[arg(long)]
    diff: bool,
    /// Leave out files that are named here and ignored by .gitignore or .statemarkignore, as a hook needs it
    #[arg(long)]
    force_exclude: bool,
    /// The name of standard input; its extension tells the format
    #[arg(long, value_name = "NAME", default_value = STDIN_NAME)]
    stdin_filename: String,
}

/// Formats specs.
pub(super) fn run(args: &FmtArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let only_shows = args.check || args.diff;
    let (mut changed, mut unchanged) = (0, 0);
    let mut is_skipped = false;
    let diagrams = project::diagrams()?;
    read_specs(
        &args.paths,
        &args.stdin_filename,
        (diagrams, args.force_exclude),
        |name, path, text| {
            let formatted = match format_text(name, &text) {
                Formatted::Text(formatted) => formatted,
                Formatted::Errors => {
                    printer.remark(&format!("{name} has errors, so it isn't formatted\n"));
                    is_skipped = true;
                    text.clone()
                }
                _ => {
                    printer.remark(&format!(
                    "{name} isn't formatted, because its machines would change: this is a defect of statemark, please report it\n"
                ));
                    is_skipped = true;
                    text.clone()
                }
            };
            let differs = formatted != text;
            *if differs {
                &mut changed
            } else {
                &mut unchanged
            } += 1;
            if args.diff && differs {
                printer.result(&unified_diff(name, &text, &formatted));
            } else if args.check && differs {
                printer.result(&format!("{name}\n"));
            }
            match path {
                _ if only_shows => Ok(()),
                None => {
                    printer.content(formatted.as_bytes());
                    Ok(())
                }
                Some(path) if differs => files::rewrite(path, formatted.as_bytes()),
                Some(_) => Ok(()),
            }
        },
    )?;
    let differs = only_shows && changed > 0;
    if args.paths.as_slice() != [Path::new("-")] {
        printer.remark(&describe(changed, unchanged, only_shows));
    }
    Ok(ExitStatus::clean_if(!differs && !is_skipped))
}

/// Says how many files were changed, or would be.
fn describe(changed: usize, unchanged: usize, only_shows: bool) -> String {
    let verb = if only_shows {
        "would be formatted"
    } else {
        "formatted"
    };
    let some = count(changed, "file");
    match (changed, unchanged) {
        (0, 0) => "no spec found\n".to_owned(),
        (0, _) => format!("nothing to format in {}\n", count(unchanged, "file")),
        (_, 0) => format!("{some} {verb}\n"),
        _ => format!("{some} {verb}, {unchanged} left\n"),
    }
}
