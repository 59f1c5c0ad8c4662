//! `new`: a first spec, skill, definition or crate.
//!
//! The templates are in `new/`. Tests make sure that what they make lints without any finding.

use std::path::{Path, PathBuf};

use statemark_compiler::pass::names::KEYWORDS;
use statemark_runs::shell_word;

use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::{Palette, Printer, columns};

/// Longest name. Unit: characters. Why: the most that the specification of agent skills allows.
const MAX_NAME: usize = 64;

/// The crates that every program has, and that another of their name would hide.
///
/// Source: the Rust reference, *Preludes* and *Extern crate declarations*.
const BUILT_IN_CRATES: [&str; 5] = ["alloc", "core", "proc_macro", "std", "test"];

/// Paths and texts with `NAME` in place of the name, and `MODULE` for it as a Rust identifier.
type Templates = [(&'static str, &'static str)];

const SPEC: &Templates = &[("NAME.md", include_str!("new/spec.md"))];
const SKILL: &Templates = &[("NAME/SKILL.md", include_str!("new/skill.md"))];
const WORKFLOW: &Templates = &[("NAME.workflow.json", include_str!("new/workflow.json"))];
const RUST: &Templates = &[
    ("NAME/Cargo.toml", include_str!("new/Cargo.toml.txt")),
    ("NAME/src/main.rs", include_str!("new/main.rs.txt")),
    ("NAME/src/MODULE.md", include_str!("new/spec.md")),
];

/// Begin a spec, a skill or a crate.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark new door               door.md: a spec\n  \
                        statemark new fix-bug --skill    fix-bug/SKILL.md: a skill for an agent\n  \
                        statemark new review --workflow  review.workflow.json: a definition alone\n  \
                        statemark new gate --rust        gate/: a crate that embeds a spec\n\n\
                        Files that exist are never overwritten.")]
pub(crate) struct NewArgs {
    /// The name: letters, digits, `-` and `_`
    #[arg(value_name = "NAME")]
    name: String,
    /// A skill for an agent
    #[arg(long, group = "kind")]
    skill: bool,
    /// A JSON definition alone
    #[arg(long, group = "kind")]
    workflow: bool,
    /// A crate that embeds a spec
    #[arg(long, group = "kind")]
    rust: bool,
    /// Folder to write to; it is created if it doesn't exist
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
}

/// Writes the files of a template.
pub(super) fn run(args: &NewArgs, printer: &mut Printer) -> CommandResult {
    check_name(args)?;
    let templates = match (args.skill, args.workflow, args.rust) {
        (true, ..) => SKILL,
        (_, true, _) => WORKFLOW,
        (_, _, true) => RUST,
        _ => SPEC,
    };
    let module = args.name.replace('-', "_").to_lowercase();
    let fill = |text: &str| text.replace("NAME", &args.name).replace("MODULE", &module);
    let files: Vec<(PathBuf, String)> = templates
        .iter()
        .map(|(path, text)| (args.output.join(fill(path)), fill(text)))
        .collect();
    // Nothing is written if one of the files exists.
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(files::exists(path));
    }
    for (path, text) in &files {
        if let Some(folder) = path.parent() {
            files::make_folder(folder)?;
        }
        files::write_new(path, text.as_bytes())?;
        printer.result(&format!("{}\n", files::display(path)));
    }
    let spec = files
        .last()
        .map(|(path, _)| path.clone())
        .unwrap_or_default();
    printer.remark(&describe_next(args, &spec, printer.remark_palette()));
    Ok(ExitStatus::Clean)
}

/// Describes what to do with the new files.
fn describe_next(args: &NewArgs, spec: &Path, palette: Palette) -> String {
    let (spec, folder) = (
        files::display(spec),
        files::display(&args.output.join(&args.name)),
    );
    let (spec, folder) = (shell_word(&spec), shell_word(&folder));
    let step = |command: String, purpose: &str| (command, purpose.to_owned());
    let mut steps = Vec::new();
    if args.rust {
        let run = format!("cargo run --manifest-path {folder}/Cargo.toml");
        steps.push(step(run, "run it"));
    }
    steps.push(step(
        format!("statemark lint {spec}"),
        "check it after each change",
    ));
    steps.push(step(format!("statemark simulate {spec}"), "try it"));
    let mut text = format!("\nNext:\n\n{}", columns(&steps, palette));
    if args.rust {
        text.push_str(&format!(
            "\n{folder}/Cargo.toml takes `statemark` from its Git address.\n\
             Where that can't be reached, point it at a checkout:\n\n  {}\n",
            palette.event("statemark = { path = \"CHECKOUT/macros/statemark\" }")
        ));
    }
    text
}

/// Checks that the name can be that of a file, a machine and, for a skill, a skill.
fn check_name(args: &NewArgs) -> Result<(), Failure> {
    let name = args.name.as_str();
    let refuse = |why: &str| Err(Failure::new(format!("`{name}` can't be the name: {why}")));
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return refuse("it must begin with a letter");
    }
    if !name.chars().all(is_part) {
        return refuse("it may have letters, digits, `-` and `_`");
    }
    if name.len() > MAX_NAME {
        return refuse("it has more than 64 characters");
    }
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_skill_name = !name.ends_with('-')
        && !name.contains("--")
        && name.chars().all(|letter| is_plain(letter) || letter == '-');
    if args.skill && !is_skill_name {
        return refuse("a skill's name has lower-case letters, digits and single hyphens");
    }
    let module = name.replace('-', "_").to_lowercase();
    if args.rust && BUILT_IN_CRATES.contains(&module.as_str()) {
        return refuse("Rust has a crate of that name");
    }
    // `union` is a keyword only where it declares one, and `statemark` is the crate that this one uses.
    let word = name.to_lowercase();
    let is_keyword = word != "union" && KEYWORDS.contains(&word.as_str());
    if args.rust && (is_keyword || word == "statemark") {
        return refuse("it is a keyword of Rust");
    }
    Ok(())
}
