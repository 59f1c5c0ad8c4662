//! `new`: a spec, a skill, a definition or a crate to begin with.
//!
//! The texts stand beside this file, in `new/`. What they make lints without any finding; the tests of this crate see to
//! that.

use std::path::{Path, PathBuf};

use crate::args::NewArgs;
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::printer::Printer;
use crate::status::ExitStatus;
use statemark_runs::shell_word;

/// Longest name. Unit: characters. Why: the most that the specification of agent skills allows.
const MAX_NAME: usize = 64;

/// The words that no module can be called. Source: the Rust reference, *Keywords*.
const KEYWORDS: [&str; 52] = [
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "statemark",
];

/// The crates that every program has, and whose names another one can't have without hiding them. Source: the Rust
/// reference, *Preludes* and *Extern crate declarations*.
const BUILT_IN_CRATES: [&str; 5] = ["alloc", "core", "proc_macro", "std", "test"];

/// A file to write, with `NAME` where the name belongs and `MODULE` where it belongs as a Rust identifier.
struct Template {
    path: &'static str,
    text: &'static str,
}

const SPEC: &[Template] = &[Template {
    path: "NAME.md",
    text: include_str!("new/spec.md"),
}];

const SKILL: &[Template] = &[Template {
    path: "NAME/SKILL.md",
    text: include_str!("new/skill.md"),
}];

const WORKFLOW: &[Template] = &[Template {
    path: "NAME.workflow.json",
    text: include_str!("new/workflow.json"),
}];

const RUST: &[Template] = &[
    Template {
        path: "NAME/Cargo.toml",
        text: include_str!("new/Cargo.toml.txt"),
    },
    Template {
        path: "NAME/src/main.rs",
        text: include_str!("new/main.rs.txt"),
    },
    Template {
        path: "NAME/src/MODULE.md",
        text: include_str!("new/spec.md"),
    },
];

pub(super) fn run(args: &NewArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    check_name(args)?;
    let templates = match (args.skill, args.workflow, args.rust) {
        (true, ..) => SKILL,
        (_, true, _) => WORKFLOW,
        (_, _, true) => RUST,
        _ => SPEC,
    };
    let module = args.name.replace('-', "_").to_lowercase();
    let filled = |text: &str| text.replace("NAME", &args.name).replace("MODULE", &module);
    let files: Vec<(PathBuf, String)> = templates
        .iter()
        .map(|template| {
            (
                args.output.join(filled(template.path)),
                filled(template.text),
            )
        })
        .collect();
    // Nothing is written where one of the files is there.
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(FailureKind::Exists { path: path.clone() }.into());
    }
    for (path, text) in &files {
        if let Some(folder) = path.parent() {
            files::make_folder(folder)?;
        }
        files::write_new(path, text.as_bytes())?;
        printer.result(&format!("{}\n", files::shown(path)));
    }
    let spec = files
        .last()
        .map(|(path, _)| path.clone())
        .unwrap_or_default();
    let next = next(args, &spec, printer);
    printer.talk(&next);
    Ok(ExitStatus::Clean)
}

/// What to do with what was made.
fn next(args: &NewArgs, spec: &Path, printer: &Printer) -> String {
    let palette = printer.talk_palette();
    let (spec, folder) = (
        files::shown(spec),
        files::shown(&args.output.join(&args.name)),
    );
    let (spec, folder) = (shell_word(&spec), shell_word(&folder));
    let mut steps = Vec::new();
    if args.rust {
        steps.push((
            format!("cargo run --manifest-path {folder}/Cargo.toml"),
            "run it",
        ));
    }
    steps.push((
        format!("statemark lint {spec}"),
        "check it after each change",
    ));
    steps.push((format!("statemark simulate {spec}"), "try it"));
    let width = steps
        .iter()
        .map(|(step, _)| step.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = "\nNext:\n\n".to_owned();
    for (step, what) in steps {
        let blanks = " ".repeat(width - step.chars().count());
        text.push_str(&format!(
            "  {}{blanks}  {}\n",
            palette.event(&step),
            palette.dim(what)
        ));
    }
    if args.rust {
        text.push_str(&format!(
            "\n{folder}/Cargo.toml takes `statemark` from its Git address.\n\
             Where that can't be reached, point it at a checkout:\n\n  {}\n",
            palette.event("statemark = { path = \"CHECKOUT/macros/statemark\" }")
        ));
    }
    text
}

/// Whether the name can be that of a file, a machine and, for a skill, a skill.
fn check_name(args: &NewArgs) -> Result<(), Failure> {
    let name = args.name.as_str();
    let bad = |why| {
        let name = name.to_owned();
        Err(FailureKind::BadName { name, why }.into())
    };
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return bad("it must begin with a letter");
    }
    if !name.chars().all(is_part) {
        return bad("it may have letters, digits, `-` and `_`");
    }
    if name.len() > MAX_NAME {
        return bad("it has more than 64 characters");
    }
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_skill_name = !name.ends_with('-')
        && !name.contains("--")
        && name.chars().all(|letter| is_plain(letter) || letter == '-');
    if args.skill && !is_skill_name {
        return bad("a skill's name has lower-case letters, digits and single hyphens");
    }
    let module = name.replace('-', "_").to_lowercase();
    if args.rust && BUILT_IN_CRATES.contains(&module.as_str()) {
        return bad("Rust has a crate of that name");
    }
    if args.rust && KEYWORDS.contains(&name.to_lowercase().as_str()) {
        return bad("a crate can't be called so");
    }
    Ok(())
}
