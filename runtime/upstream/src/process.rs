//! A server that is a program: its process, and messages over its standard input and output.
//!
//! What to rely on: the process is in a group of its own, which is ended with the value, and it is waited for; where
//! somebody attends to it, it ends with this program, however that ends; what it writes to standard error is logged, line by
//! line; a message that is too long closes the connection and is never held in memory as a whole.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use statemark_runs::check::{CheckPlace, environment};
use statemark_text::visible;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use crate::declaration::{Declaration, Unreplaced, replace_variables};
use crate::fault::Fault;
use crate::result::head;

/// Longest message of a server. Unit: bytes. Why: what the protocol's library holds at most.
pub(crate) const MAX_MESSAGE: usize = 16 << 20;

/// Longest line of standard error that is logged. Unit: bytes.
const MAX_LINE: u64 = 8 << 10;

/// Longest line that is parsed for whether it is a message. Unit: bytes.
///
/// Why: a program's own words are shorter. Of a longer line the first sign says it.
const MAX_JUDGED: usize = 4 << 10;

/// Longest part of a line that a fault cites. Unit: bytes.
const MAX_CITED: usize = 300;

/// Lines of standard error that a fault cites. Why: most programs say why they end in the last ones.
const CITED_LINES: usize = 3;

/// Time in which a process has to end by itself once its input is closed.
///
/// Why: most have nothing to save.
const GRACE: Duration = Duration::from_secs(2);

/// The variable by which a server of ours knows that it was started by one.
const UPSTREAM: &str = "STATEMARK_UPSTREAM";

/// A running server.
pub(crate) struct Process {
    child: Child,
    said: Said,
}

/// The last lines that a process has written to standard error, and those in the place of messages.
#[derive(Clone, Default)]
pub(crate) struct Said(Arc<Mutex<VecDeque<String>>>);

impl Said {
    /// Remembers a line, unless it is blank, and returns it as it may be shown.
    fn say(&self, line: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(line);
        let text = visible::line(text.trim_end()).into_owned();
        if text.is_empty() {
            return None;
        }
        self.push(head(&text, MAX_CITED).to_owned());
        Some(text)
    }

    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= CITED_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Returns the lines as one.
    pub(crate) fn text(&self) -> Option<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        (!lines.is_empty()).then(|| lines.join(" ⏎ "))
    }
}

/// The two streams of a server's messages.
pub(crate) type Streams = (Bounded<ChildStdout>, ChildStdin);

impl Process {
    /// Starts the program of a declaration in a project.
    pub(crate) fn start(
        server: &str,
        declared: &Declaration,
        programs: &CheckPlace,
        too_long: &TooLong,
    ) -> Result<(Self, Streams), Fault> {
        let program = declared.program().ok_or(Fault::Undeclared)?;
        let not_started = |error: io::Error| Fault::NotStarted {
            program: program.to_owned(),
            cause: error.to_string(),
        };
        let folder = folder(declared, &programs.root)?;
        let variables = variables(declared)?;
        let path = variables.iter().rev().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, value)| value.as_os_str());
        let command = programs.attended(program, declared.arguments(), (&folder, path));
        let mut command = Command::from(command.map_err(not_started)?);
        command
            .env_clear()
            .envs(variables)
            .env(UPSTREAM, server)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(not_started)?;
        let streams = (child.stdout.take(), child.stdin.take());
        let said = Said::default();
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(log_lines(server.to_owned(), errors, said.clone()));
        }
        let process = Self { child, said };
        let (Some(output), Some(input)) = streams else {
            // INVARIANT: both were asked for.
            return Err(Fault::Closed { said: None });
        };
        let output = Bounded {
            stream: output,
            line: 0,
            head: Vec::new(),
            too_long: too_long.clone(),
            said: process.said.clone(),
        };
        Ok((process, (output, input)))
    }

    /// Returns what it has written to standard error.
    pub(crate) fn last_words(&self) -> Said {
        self.said.clone()
    }

    /// Ends it with all that is in its group, once its input has been closed.
    pub(crate) async fn end(mut self) {
        // One that ends by itself may have something to save.
        drop(tokio::time::timeout(GRACE, self.child.wait()).await);
        self.kill();
        drop(self.child.wait().await);
    }

    /// Kills its group. One that is gone already is no error.
    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(pid) = self.child.id()
            && let Some(pid) = i32::try_from(pid)
                .ok()
                .and_then(rustix::process::Pid::from_raw)
        {
            use rustix::process::{Signal, kill_process_group};
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.child.start_kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The runtime waits for what was killed.
        self.kill();
    }
}

/// Returns the variables of a program: the environment without secrets, and those that are declared.
fn variables(
    declared: &Declaration,
) -> Result<Vec<(std::ffi::OsString, std::ffi::OsString)>, Fault> {
    let named = declared.variables().filter(|(_, value)| value.is_none());
    let named: Vec<String> = named.map(|(name, _)| name.to_owned()).collect();
    let mut all = environment(&named);
    for (name, value) in declared.variables() {
        match value {
            Some(value) => all.push((name.into(), resolve(value)?.into())),
            None if std::env::var_os(name).is_none() => {
                let name = name.to_owned();
                return Err(Fault::Unset { name });
            }
            None => {}
        }
    }
    Ok(all)
}

/// Replaces variables of the environment in a declared value.
pub(crate) fn resolve(value: &str) -> Result<String, Fault> {
    let read = |name: &str| std::env::var(name).ok();
    replace_variables(value, read).map_err(|error| match error {
        Unreplaced::Unset(name) => Fault::Unset { name },
        Unreplaced::Open => Fault::Undeclared,
    })
}

/// Returns the folder that a program runs in, which lies in the project.
fn folder(declared: &Declaration, root: &Path) -> Result<PathBuf, Fault> {
    let Some(cwd) = &declared.cwd else {
        return Ok(root.to_path_buf());
    };
    let outside = || Fault::Outside { cwd: cwd.clone() };
    let folder = root.join(cwd).canonicalize().map_err(|_| outside())?;
    let root = root.canonicalize().map_err(|_| outside())?;
    if folder.starts_with(root) {
        return Ok(folder);
    }
    Err(outside())
}

/// Logs what a server writes to standard error, and keeps the last lines.
async fn log_lines(server: String, errors: ChildStderr, said: Said) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line that never ends is logged in pieces.
        let mut piece = (&mut errors).take(MAX_LINE);
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if let Some(text) = said.say(&line) {
            tracing::debug!(server, "{text}");
        }
    }
}

/// The mark that a message was too long.
#[derive(Clone, Debug, Default)]
pub(crate) struct TooLong(Arc<std::sync::atomic::AtomicBool>);

impl TooLong {
    pub(crate) fn set(&self) {
        self.0.store(true, std::sync::atomic::Ordering::Release);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Acquire)
    }
}

/// A stream of lines that ends with an error at one that is too long, and remembers what is no message.
///
/// The protocol's library drops such lines and goes on, and whoever waits for an answer waits in vain. Many a program writes
/// there what it logs, or why it fails.
pub(crate) struct Bounded<R> {
    stream: R,
    /// Length of the line so far.
    line: usize,
    /// The line so far, as far as it is looked into.
    head: Vec<u8>,
    too_long: TooLong,
    said: Said,
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let new = buffer.filled().get(before..).unwrap_or_default();
        for part in new.split_inclusive(|byte| *byte == b'\n') {
            self.line += part.len();
            if self.line > MAX_MESSAGE {
                self.too_long.set();
                return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
            }
            self.remember(part);
            if part.ends_with(b"\n") {
                self.line = 0;
            }
        }
        read
    }
}

impl<R> Bounded<R> {
    /// Takes in a part of a line, and remembers the line if it ends here and is no message.
    fn remember(&mut self, part: &[u8]) {
        let room = MAX_JUDGED.saturating_sub(self.head.len());
        self.head.extend(part.iter().take(room));
        if !part.ends_with(b"\n") {
            return;
        }
        if !may_be_message(&self.head) {
            self.said.say(&self.head);
        }
        self.head.clear();
    }
}

/// Reports whether a line, of which there are at most [`MAX_JUDGED`] bytes, may be a message.
fn may_be_message(line: &[u8]) -> bool {
    /// The key that every message has.
    #[derive(Deserialize)]
    struct Message {
        #[serde(rename = "jsonrpc")]
        _protocol: IgnoredAny,
    }
    match line.len() < MAX_JUDGED {
        true => serde_json::from_slice::<Message>(line).is_ok(),
        false => line.trim_ascii_start().starts_with(b"{"),
    }
}
