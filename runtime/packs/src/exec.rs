//! The pack `exec`: commands in the workspace, without a shell.
//!
//! What to rely on:
//!
//! - A command is a program and its words. What only a shell understands is refused, with its place.
//! - It is run as checks are: it ends with all that it has begun, by its timeout at the latest; of the environment it has
//!   what isn't secret, and what the active states leave; where the kernel has Landlock, it writes below the project alone.
//! - Of a long output an answer has both ends, and names a file with the rest (`output.rs`).
//! - Programs that only destroy, or that get out of all this, aren't run, whatever runs them.
//!
//! Deliberately not here: which commands a state grants. The dispatcher has asked the policy, with the same words.

mod output;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use statemark_runs::check::{self, CheckResult, Declaration, MAX_TIMEOUT, Timeout};
use statemark_runs::policy::{Command, command_words, normal_path, person_command, split_words};
use statemark_tools::project::checks::with_progress;
use statemark_tools::project::current_project;
use statemark_tools::{Annotations, Ctx, Outcome, Problem, Set, Tool};

use crate::settings::Settings;
use crate::workspace::Workspace;
use crate::{Spec, error_object, tool};

/// The set of these tools.
pub(crate) const SET: Set = Set::Pack("exec");

/// Most words of a command.
const MAX_WORDS: usize = 4_096;

/// The reason for which nothing is run that changes the machine itself.
const MACHINE: &str = "it is for the machine's owner";

/// Programs that get out of the bounds of a command, or that nothing but a machine's owner needs.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "it takes other rights",
        &[
            "doas", "gosu", "newgrp", "pkexec", "runuser", "sg", "su", "sudo", "visudo",
        ],
    ),
    (
        "it has others run things, outside of this command",
        &[
            "at",
            "atd",
            "batch",
            "crontab",
            "docker",
            "launchctl",
            "service",
            "systemctl",
            "systemd-run",
        ],
    ),
    (
        MACHINE,
        &[
            "blkdiscard",
            "chpasswd",
            "chroot",
            "dd",
            "fdisk",
            "groupadd",
            "halt",
            "init",
            "insmod",
            "iptables",
            "kexec",
            "losetup",
            "mkswap",
            "modprobe",
            "mount",
            "nft",
            "nsenter",
            "parted",
            "passwd",
            "poweroff",
            "reboot",
            "rmmod",
            "sfdisk",
            "shutdown",
            "swapoff",
            "swapon",
            "telinit",
            "umount",
            "unshare",
            "useradd",
            "userdel",
            "usermod",
            "wipefs",
        ],
    ),
];

/// Commands of git by which work is lost for good: a subcommand and a word beside it, or none.
const LOSES: &[(&str, &[&str])] = &[
    ("branch", &["-D"]),
    ("clean", &[]),
    ("filter-branch", &[]),
    ("filter-repo", &[]),
    (
        "push",
        &[
            "-f",
            "--force",
            "--force-with-lease",
            "--mirror",
            "--delete",
            "-d",
        ],
    ),
    ("reflog", &["delete", "expire"]),
    ("reset", &["--hard"]),
    ("stash", &["clear", "drop"]),
    ("update-ref", &[]),
];

/// Deepest nesting of commands that run commands. Why: nobody writes more.
const MAX_DEPTH: usize = 8;

pub(crate) fn all() -> Vec<Tool> {
    vec![tool(
        SET,
        &Spec {
            name: "exec",
            title: "Run a command",
            description: "Runs a program in the workspace and gives its exit code and what it printed. No shell reads the command: \
                          give the program and its words as `argv`, or as one text with quotes in `command`. It ends with all \
                          that it has begun.",
            annotations: Annotations {
                open_world: true,
                ..Annotations::DESTRUCTIVE
            },
            run: exec,
        },
    )]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Exec {
    /// The program, alone or with its arguments: a text, in which quotes hold a word, or a list.
    #[serde(default)]
    command: Option<Words>,
    /// Its arguments, if `command` is the program alone.
    #[serde(default)]
    args: Option<Vec<String>>,
    /// The program and its arguments, instead of `command`.
    #[serde(default)]
    argv: Option<Vec<String>>,
    /// The folder that it runs in; without one, the root of the workspace.
    #[serde(default)]
    cwd: Option<String>,
    /// The time after which it is ended. Unit: seconds.
    #[serde(default)]
    timeout: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Words {
    Text(String),
    List(Vec<String>),
}

fn exec(ctx: &Ctx<'_>, call: &Exec) -> Outcome {
    let words = words(call)?;
    let project = current_project(ctx)?;
    check_command(&Command::new(&words), &project.root, MAX_DEPTH)?;
    let folder = match &call.cwd {
        Some(cwd) => {
            let (_, relative) = Workspace::open(ctx)?.open_folder(cwd)?;
            Some(relative.to_string_lossy().into_owned())
        }
        None => None,
    };
    let environment = ctx.state_environment()?;
    let set = environment.set();
    let declared = Declaration {
        command: words,
        cwd: folder.filter(|it| !it.is_empty()),
        env: set
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect::<BTreeMap<_, _>>(),
        inherit: Vec::new(),
        timeout: Some(Timeout::Seconds(time_limit(ctx, call)?.as_secs_f64())),
    };
    let limit = declared.time_limit().ok();
    let program = declared.command.first().cloned().unwrap_or_default();
    let place = project.place.at(project.root);
    let is_blocked = |name: &str| environment.blocks(name);
    let ran = with_progress(ctx, &program, limit, || {
        check::run_without(&declared, &[], &place, &is_blocked, ctx.cancelled())
    });
    let mut ran = ran.map_err(|error| Problem::new("bad_command", error.to_string()))?;
    let file = ran.long.take().map(|long| output::keep(&place.root, &long));
    answer(&declared.command, ran, file)
}

/// Returns the words of a command, in any of the four styles.
fn words(call: &Exec) -> Result<Vec<String>, Problem> {
    let split = |text: &str| {
        split_words(text).map_err(|unread| {
            let message = format!(
                "{unread} of `command` isn't read, since no shell runs it: run one command after the other, and give words that \
                 are meant as they are in `argv`"
            );
            Problem::new("operator", message)
        })
    };
    let words = match (&call.command, &call.args, &call.argv) {
        (Some(Words::Text(program)), Some(args), None) => {
            let mut words = vec![program.clone()];
            words.extend(args.iter().cloned());
            words
        }
        (Some(Words::Text(text)), None, None) => split(text)?,
        (Some(Words::List(words)), None, None) | (None, None, Some(words)) => words.clone(),
        _ => {
            let message =
                "give the command once: `command`, `command` (the program) with `args`, or `argv`";
            return Err(Problem::new("bad_command", message));
        }
    };
    if words.first().is_none_or(String::is_empty) {
        return Err(Problem::new("bad_command", "the command names no program"));
    }
    if words.len() > MAX_WORDS || words.iter().any(|word| word.contains('\0')) {
        let message = format!("a command has at most {MAX_WORDS} words, without NUL characters");
        return Err(Problem::new("bad_command", message));
    }
    Ok(words)
}

/// Returns the time after which the command is ended.
///
/// That is what is asked for, within the project's own limit.
fn time_limit(ctx: &Ctx<'_>, call: &Exec) -> Result<Duration, Problem> {
    let declared = Declaration {
        command: vec!["true".to_owned()],
        cwd: None,
        env: BTreeMap::new(),
        inherit: Vec::new(),
        timeout: Settings::exec(ctx)?.timeout,
    };
    let most = declared
        .time_limit()
        .map_err(|error| Problem::new("bad_settings", format!("`[packs.exec]`: {error}")))?;
    let Some(seconds) = call.timeout else {
        return Ok(most);
    };
    let asked = Duration::try_from_secs_f64(seconds).ok();
    let asked = asked.filter(|it| !it.is_zero() && *it <= MAX_TIMEOUT);
    let asked = asked.ok_or_else(|| Problem::argument("timeout", "it is a number of seconds"))?;
    Ok(asked.min(most))
}

/// Fails if a command, or one that it runs, is one that isn't run here.
fn check_command(command: &Command, root: &Path, depth: usize) -> Result<(), Problem> {
    let refused = |what: String| Err(Problem::new("refused", what));
    if command.is_script() {
        return Ok(());
    }
    let program = command.program();
    let mut rows = REFUSED.iter();
    let reason = rows.find(|(_, names)| names.contains(&program));
    let is_maker = program.starts_with("mkfs");
    if let Some(reason) = reason.map_or(is_maker.then_some(MACHINE), |(reason, _)| Some(reason)) {
        return refused(format!("`{program}` isn't run: {reason}"));
    }
    let inner = match command.inner_commands() {
        Ok(inner) if depth > 0 => inner,
        Ok(_) => return refused("commands in commands in commands aren't run".to_owned()),
        Err(unread) => {
            return refused(format!(
                "`{program}` isn't run so: {} isn't known; run that command itself, by its words",
                unread.what
            ));
        }
    };
    for inner in inner {
        check_command(&inner, root, depth.saturating_sub(1))?;
    }
    let words: Vec<&str> = command.words().skip(1).collect();
    match program {
        "rm" | "rmdir" | "shred" => {
            let is_precious = |word: &&&str| !word.starts_with('-') && is_precious(word, root);
            match words.iter().find(is_precious) {
                Some(word) => refused(format!(
                    "`{command}` would destroy the workspace or its repository: `{word}`"
                )),
                None => Ok(()),
            }
        }
        "git" => {
            let loses = LOSES.iter().find(|(subcommand, with)| {
                words.contains(subcommand)
                    && (with.is_empty() || words.iter().any(|word| with.contains(word)))
            });
            let forces = words.contains(&"push") && words.iter().any(|word| word.starts_with('+'));
            match loses {
                Some((subcommand, _)) => refused(format!(
                    "`{command}` would lose work for good (`git {subcommand}`): ask a person"
                )),
                None if forces => refused(format!(
                    "`{command}` would lose work for good: ask a person"
                )),
                None => Ok(()),
            }
        }
        "statemark" => match person_command(&command_words(words)) {
            Some(command) => refused(format!("`statemark {command}` is for a person")),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Reports whether a path is the root, above it, outside of it, or the repository's or a store's.
fn is_precious(path: &str, root: &Path) -> bool {
    let relative = Path::new(path)
        .strip_prefix(root)
        .ok()
        .and_then(Path::to_str)
        .unwrap_or(path);
    match normal_path(relative) {
        None => true,
        Some(path) => {
            let mut parts = path.split('/');
            // A glob is a shell's, which a command may run.
            let is_all = matches!(path.as_str(), "" | "*" | ".*");
            is_all || parts.any(|part| matches!(part, ".git" | ".statemark" | "~"))
        }
    }
}

/// Gives the result of a command its shape.
fn answer(words: &[String], ran: CheckResult, file: Option<io::Result<String>>) -> Outcome {
    let mut answer = json!({
        "command": words,
        "exit_code": ran.exit_code,
        "stdout": ran.stdout,
        "stderr": ran.stderr,
        "milliseconds": ran.milliseconds,
        "truncated": ran.left_out > 0,
    });
    if let (Some(remark), Some(fields)) = (&ran.remark, answer.as_object_mut()) {
        fields.insert("remark".to_owned(), json!(remark));
    }
    if let (Some(file), Some(fields)) = (file, answer.as_object_mut()) {
        match file {
            Ok(file) => fields.insert("output_file".to_owned(), json!(file)),
            Err(error) => fields.insert(
                "output_file_problem".to_owned(),
                json!(format!("the output can't be kept: {error}")),
            ),
        };
    }
    let problem = match (ran.cancelled, ran.problem) {
        (true, _) => Some("it was cancelled".to_owned()),
        (false, problem) => problem,
    };
    let Some(problem) = problem else {
        return Ok(answer);
    };
    if let Some(fields) = answer.as_object_mut() {
        fields.insert("error".to_owned(), json!(problem));
    }
    Err(error_object("not_completed", answer))
}
