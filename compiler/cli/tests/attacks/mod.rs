//! What an adversary can't do: the built program, attacked.
//!
//! A test is named after the finding that it keeps mended, such as `m6_…`, and has failed before the mend. A file has the
//! attacks on one membrane. Each test makes what the adversary leaves behind, runs what the victim runs, and looks at what
//! must not have happened: at the deed itself, such as a file that is there or a process that goes on, and not at a message
//! alone.
//!
//! The adversaries: an agent that has MCP only, one that has a shell as the same user, a repository that a person clones,
//! whoever reaches the port, and another user of the machine.

mod acceptance;
#[cfg(unix)]
mod authoring;
mod authority;
mod binding;
#[cfg(target_os = "linux")]
pub(crate) mod children;
mod credentials;
#[cfg(target_os = "linux")]
mod exec;
mod files;
pub(crate) mod git;
#[cfg(target_os = "linux")]
mod held;
#[cfg(unix)]
mod hook;
mod json;
#[cfg(target_os = "linux")]
mod network;
mod proof;
mod rights;
mod rings;
mod signed;
mod workspace;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::shell::{Said, Scratch, statemark};

/// The longest time that a command may take that must not hang. Why: a busy machine is slow, and for ever is longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A machine with one event.
pub(crate) const DOOR: &str = "## STATE-MACHINE: door\n\n```mermaid\nstateDiagram-v2\n    [*] --> shut\n    shut --> open : push\n    open --> shut : pull\n```\n";

/// Runs `statemark` with some words, which must end in time.
pub(crate) fn attacked(scratch: &Scratch, words: &[&str]) -> Said {
    let mut command = statemark(&scratch.path);
    command.args(words);
    in_time(command)
}

/// Runs `statemark` with some words, which must succeed.
pub(crate) fn done(scratch: &Scratch, words: &[&str]) -> Said {
    let said = attacked(scratch, words);
    assert_eq!(said.code, 0, "{words:?}: {}{}", said.stdout, said.stderr);
    said
}

/// Runs a command, which must end in time.
pub(crate) fn in_time(mut command: Command) -> Said {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// Makes a pipe.
pub(crate) fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}
