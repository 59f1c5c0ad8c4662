//! Runs commands in folders made for them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, OutputModes, tcgetattr, tcsetattr};

/// The built program.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_statemark");

/// The time by which a command goes if it doesn't say another.
pub(crate) const NOW: &str = "1800000000000";

/// Where runs are kept.
const RUNS: &str = ".statemark";

/// A command.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) command: String,
    pub(crate) stdin: Option<String>,
    /// Lines that somebody types at a terminal, instead of an input.
    pub(crate) typed: Option<String>,
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
                stdout: masked(&text.unwrap(), folder),
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
    for (name, value) in variables.iter().map(|pair| pair.split_once('=').unwrap()) {
        match name {
            "AS" => command.env("STATEMARK_TOKEN", person_token(folder, value, words)),
            _ => command.env(name, value),
        };
    }
    if let Some(typed) = &run.typed {
        let said = at_terminal(command, typed);
        return Said {
            stdout: masked(&said.stdout, folder),
            stderr: masked(&said.stderr, folder),
            ..said
        };
    }
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

/// Runs a command at a terminal, at which lines are typed: standard input and standard error are the terminal's.
///
/// The terminal doesn't echo, so that the output doesn't depend on when something is typed.
pub(crate) fn at_terminal(mut command: Command, typed: &str) -> Said {
    let open = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let terminal = openpt(open).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let mut options = File::options();
    options.read(true).write(true);
    let end = options.open(OsStr::from_bytes(name.as_bytes())).unwrap();
    let mut modes = tcgetattr(&end).unwrap();
    modes.local_modes.remove(LocalModes::ECHO);
    modes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(&end, OptionalActions::Now, &modes).unwrap();
    let mut terminal = File::from(terminal);
    terminal.write_all(typed.as_bytes()).unwrap();
    command
        .env("NO_COLOR", "1")
        .stdin(end.try_clone().unwrap())
        .stdout(Stdio::piped())
        .stderr(end);
    let mut child = command.spawn().unwrap();
    // The command holds the terminal's end as well.
    drop(command);
    let mut seen = Vec::new();
    // A terminal whose other end is gone is an error, and the end of what there is to see.
    let _ = terminal.read_to_end(&mut seen);
    let mut stdout = String::new();
    let mut pipe = child.stdout.take().unwrap();
    pipe.read_to_string(&mut stdout).unwrap();
    let code = child.wait().unwrap().code().unwrap();
    Said {
        code,
        stdout,
        stderr: String::from_utf8(seen).unwrap(),
    }
}

/// Returns the token of a person, which is made at a terminal if it is the first of its store; `saved` is the one that
/// `--save` has kept.
///
/// The store is the one that a command names, else the folder's own.
pub(crate) fn person_token(folder: &Path, name: &str, words: &[String]) -> String {
    if name == "saved" {
        let saved = fs::read_to_string(folder.join("own/statemark/token")).unwrap();
        return saved.lines().last().unwrap().to_owned();
    }
    let named = words.iter().position(|word| word == "--store");
    let store = named.and_then(|at| words.get(at + 1));
    let kept = store.map_or("own", String::as_str).replace(['/', ':'], "-");
    let kept = folder.join(format!("own/{name}-{kept}"));
    if !kept.exists() {
        let create = |typed: &str| {
            let mut command = statemark(folder);
            command.args(["token", "create", name, "--role", "person"]);
            if let Some(store) = store {
                command.args(["--store", store]);
            }
            at_terminal(command, typed)
        };
        // The question names the store.
        let asked = create("\n").stderr;
        let store = asked.split('`').nth(1).unwrap_or_default();
        let said = create(&format!("{store}\n"));
        assert_eq!(said.code, 0, "{}", said.stderr);
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::write(&kept, said.stdout.trim()).unwrap();
    }
    fs::read_to_string(&kept).unwrap()
}

/// Creates a token in the store of a folder, and returns it. The person `root` makes it.
pub(crate) fn token(folder: &Path, words: &str) -> String {
    let mut command = statemark(folder);
    command.args(["token", "create"]).args(words.split(' '));
    command.env("STATEMARK_TOKEN", person_token(folder, "root", &[]));
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("smk_"), "{words}: {error}");
    text.trim().to_owned()
}

/// `statemark` in a folder.
pub(crate) fn statemark(folder: &Path) -> Command {
    untouched(BINARY, folder)
}

/// A program in a folder, untouched by what is set on this machine and by what lies around the folder.
pub(crate) fn untouched(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    // What a project declares may be this program.
    let own = Path::new(BINARY).parent().unwrap().to_path_buf();
    #[expect(
        clippy::disallowed_methods,
        reason = "the program's list is for the program"
    )]
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(own).chain(std::env::split_paths(&path));
    command
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // Every store that a test makes is one for testing, and all go by one clock.
        .env("STATEMARK_NOW", NOW)
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
        "STATEMARK_LOG",
        "STATEMARK_TOKEN",
        "STATEMARK_SIGNING_KEY",
        "SSH_AUTH_SOCK",
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
            let is_hash = ([12, 16, 32, 40, 64].contains(&word.len()) || word.len() > 200)
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
