//! Runs commands in folders made for them.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The built program.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_statemark");

/// Where runs are kept.
const RUNS: &str = ".statemark";

/// A command.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) command: String,
    pub(crate) stdin: Option<String>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn new(command: &str) -> Self {
        Self {
            command: command.to_owned(),
            ..Self::default()
        }
    }
}

/// A folder that is there as long as its test runs.
pub(crate) struct Scratch {
    pub(crate) path: PathBuf,
}

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}"));
        // What an earlier run has left there.
        let _ = fs::remove_dir_all(&path);
        // Runs are kept here, and not in whatever project lies around.
        fs::create_dir_all(path.join(RUNS)).unwrap();
        Self { path }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Runs a command in a folder.
pub(crate) fn perform(run: &Run, folder: &Path) -> Said {
    let words = words(&run.command);
    let variables = words.iter().take_while(|word| word.contains('=')).count();
    let (variables, words) = words.split_at(variables);
    match words[0].as_str() {
        "cat" => {
            let text = fs::read_to_string(folder.join(&words[1]));
            return Said {
                stdout: without_hashes(&text.unwrap()),
                ..Said::default()
            };
        }
        "ls" => {
            let entries = fs::read_dir(folder.join(&words[1])).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.filter(|name| name != RUNS).collect();
            names.sort();
            return Said {
                stdout: names.join("\n") + "\n",
                ..Said::default()
            };
        }
        // What the machine's owner has set doesn't count.
        "git" => {}
        program => assert_eq!(program, "statemark", "{}", run.command),
    }
    let program = if words[0] == "git" { "git" } else { BINARY };
    let mut command = untouched(program, folder);
    command.args(&words[1..]);
    command.envs(variables.iter().map(|pair| pair.split_once('=').unwrap()));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that doesn't read its input may be gone already.
    let _ = stdin.write_all(run.stdin.as_deref().unwrap_or("").as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code().unwrap(),
        stdout: masked(&String::from_utf8(output.stdout).unwrap(), folder),
        stderr: masked(&String::from_utf8(output.stderr).unwrap(), folder),
    }
}

/// `statemark` in a folder.
pub(crate) fn statemark(folder: &Path) -> Command {
    untouched(BINARY, folder)
}

/// A program in a folder, untouched by what is set on this machine and by what lies around the folder.
pub(crate) fn untouched(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // A repository around this one isn't meant.
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap())
        .env("XDG_CONFIG_HOME", "own")
        // What an earlier test has linted is linted again.
        .env("XDG_CACHE_HOME", "/dev/null")
        .stdin(Stdio::null());
    for variable in [
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "STATEMARK_OUTPUT_FORMAT",
        "STATEMARK_RUN",
        "STATEMARK_STORE",
        "STATEMARK_TOKEN",
    ] {
        command.env_remove(variable);
    }
    command
}

/// The words of a command, as a shell takes them; only single quotes are known.
fn words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The text without what is another one in another folder or with another compiler.
fn masked(text: &str, folder: &Path) -> String {
    without_hashes(&text.replace(folder.to_str().unwrap(), "FOLDER"))
}

/// The text without hashes of tables, which change whenever the compiler writes something else.
fn without_hashes(text: &str) -> String {
    let is_digit = |letter: char| letter.is_ascii_digit() || ('a'..='f').contains(&letter);
    text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric())
        .map(|piece| {
            let word = piece.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
            // What is longer is the bytes of a table.
            let is_hash = ([12, 16, 40, 64].contains(&word.len()) || word.len() > 200)
                && word.chars().all(is_digit)
                && word.contains(|letter: char| letter.is_ascii_digit());
            if is_hash {
                piece.replacen(word, "HASH", 1)
            } else {
                piece.to_owned()
            }
        })
        .collect()
}
