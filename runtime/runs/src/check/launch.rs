//! The launcher: the process between us and a check, which ends with everything that the check began.
//!
//! Nothing of ours runs between `fork` and `exec` (that would need `unsafe`), so our own program is started in between, twice:
//!
//! ```text
//! server ─ socket ─→ supervise: adopts orphans (subreaper), waits, kills what is left, reports
//!                        └─ socket ─→ confine: dies with the supervisor, may write in few folders, and becomes the check
//! ```
//!
//! What to rely on: whatever the check begins, also in a session of its own, ends when the check ends, when it is stopped,
//! and when the server is gone, however it went: the supervisor's socket is closed then. Where the kernel has Landlock, the
//! check writes below the project, below the folder for temporary files and below the folders that a person allows, and
//! signals nothing outside. What it can't reach is the project's own store (`confine.rs`).
//!
//! A server of tools isn't a check: it speaks with us by its standard streams, and lives as long as we do. A third part of
//! the launcher attends to it, and ends it where we are gone.
//!
//! Deliberately not here: systems other than Linux, where a check's group of processes is killed; and limits of memory and
//! processor time.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, kill_process_group,
    set_child_subreaper, set_parent_process_death_signal, wait,
};

use super::Bound;
use super::confine::{Reach, confine, map_users, mount_closed};

/// The first argument of a program that is its own launcher.
pub(super) const COMMAND: &str = "launch-check";

/// This program. Source: `proc_pid_exe(5)`.
pub(super) const THIS: &str = "/proc/self/exe";

/// The parts that it plays.
///
/// The last two help the second one, and the third is for programs that aren't checks.
const SUPERVISE: &str = "supervise";
const CONFINE: &str = "confine";
const TIED: &str = "attend";
pub(super) const TRY: &str = "try";
pub(super) const MAP: &str = "map";

/// The word between the folders that a check writes below and those in them that are closed to it.
const CLOSED: &str = "--closed";

/// The word between a launcher's own arguments and those of the check.
const END: &str = "--";

/// The longest time in which everything that is left has to end.
///
/// Why: a process can fork faster than it is killed, but not for ever; one that waits for a broken disk can't be killed at
/// all.
const PATIENCE: Duration = Duration::from_secs(5);

/// The interval of looks at what is left. Why: most is gone at once.
const POLL: Duration = Duration::from_millis(1);

/// The interval of looks at whether the parent is there.
///
/// Why: a server that is left alone for that long does no harm.
const GLANCE: Duration = Duration::from_millis(250);

/// A program that launches checks: it calls [`launch`] before anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    program: PathBuf,
}

impl Launcher {
    /// Returns this program, which has to call [`launch`].
    #[must_use]
    pub fn this_program() -> Self {
        // The file that runs, also if another has taken its place.
        Self {
            program: PathBuf::from(THIS),
        }
    }

    /// Returns a command that runs a program which ends with this process.
    ///
    /// The program has the standard streams of the command.
    pub(super) fn attended(
        &self,
        program: &str,
        arguments: impl IntoIterator<Item = impl AsRef<std::ffi::OsStr>>,
    ) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args([COMMAND, TIED])
            .arg(getpid().as_raw_pid().to_string())
            .args([END, program])
            .args(arguments);
        command
    }

    /// Returns a command that runs a program with arguments, and our end of its socket.
    pub(super) fn command(
        &self,
        program: &str,
        arguments: impl Iterator<Item = impl AsRef<std::ffi::OsStr>>,
        reach: &Reach,
    ) -> io::Result<(Command, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(&self.program);
        command
            .args([COMMAND, SUPERVISE])
            .args(&reach.writable)
            .arg(CLOSED)
            .args(&reach.closed)
            .args([END, program])
            .args(arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .process_group(0);
        Ok((command, ours))
    }
}

/// The end of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CheckEnd {
    /// The code that it exited with.
    Exited(i32),
    /// The signal that ended it.
    Signaled(i32),
    /// The reason for which it couldn't be started.
    Failed(String),
}

/// The end of a check, as its supervisor reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    /// The way in which its project's store was kept from it, if it came so far.
    pub(super) bound: Option<Bound>,
    /// Its end.
    pub(super) end: CheckEnd,
}

impl Report {
    /// Reads the report of a supervisor; none if it is gone without one.
    pub(super) fn read(mut socket: &UnixStream) -> Option<Self> {
        let mut text = String::new();
        socket.read_to_string(&mut text).ok()?;
        let (bound, end) = text.split_once(' ')?;
        let (word, rest) = end.split_once(' ')?;
        let end = match word {
            "exited" => CheckEnd::Exited(rest.parse().ok()?),
            "signaled" => CheckEnd::Signaled(rest.parse().ok()?),
            _ => CheckEnd::Failed(rest.to_owned()),
        };
        let bound = Bound::parse(bound);
        Some(Self { bound, end })
    }

    fn text(&self) -> String {
        let bound = self.bound.map_or("unknown", Bound::word);
        match &self.end {
            CheckEnd::Exited(code) => format!("{bound} exited {code}"),
            CheckEnd::Signaled(signal) => format!("{bound} signaled {signal}"),
            CheckEnd::Failed(reason) => format!("{bound} failed {reason}"),
        }
    }
}

/// Plays the launcher's part, if the arguments of this process say so. A program's first deed.
#[must_use]
pub fn launch() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != COMMAND {
        return None;
    }
    Some(match play(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// Plays a part.
fn play(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let part = arguments.next().unwrap_or_default();
    let mut own: Vec<OsString> = arguments.by_ref().take_while(|word| word != END).collect();
    if part == TRY {
        return mount_closed(&own.iter().map(Path::new).collect::<Vec<_>>(), &[], &[]);
    }
    if part == MAP {
        return map_users(own.first().ok_or(io::ErrorKind::InvalidInput)?);
    }
    if part == TIED {
        let parent = own.first().ok_or(io::ErrorKind::InvalidInput)?;
        let program = arguments.next().ok_or(io::ErrorKind::InvalidInput)?;
        return run_tied(parent, &program, arguments);
    }
    let socket = stdin_socket()?;
    let program = arguments.next().ok_or(io::ErrorKind::InvalidInput)?;
    if part == SUPERVISE {
        let words: Vec<OsString> = arguments.collect();
        return supervise(&socket, &own, &program, &words);
    }
    if part == CONFINE && !own.is_empty() {
        let parent = own.remove(0);
        let error = become_check(&socket, &parent, &own, &program, arguments);
        // Nobody may be there any more to be told.
        let _ = (&socket).write_all(error.to_string().as_bytes());
    }
    Err(io::ErrorKind::InvalidInput.into())
}

/// Takes the socket that is standard input, which reads as empty from now on.
fn stdin_socket() -> io::Result<UnixStream> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // What isn't a socket was given by somebody who tries the command.
    socket.peer_addr()?;
    rustix::stdio::dup2_stdin(fs::File::open("/dev/null")?)?;
    Ok(socket)
}

/// Runs a program with the standard streams of this process.
///
/// It is ended with all that it began once the parent is gone.
///
/// The kernel's own signal for that comes with the end of the thread that started a process, not of its program.
fn run_tied(
    parent: &OsString,
    program: &OsString,
    arguments: impl Iterator<Item = OsString>,
) -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let child = Pid::from_child(&Command::new(program).args(arguments).spawn()?);
    // The other ends of the streams are to notice when the program closes them.
    let mut options = fs::File::options();
    let nothing = options.read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    let parent = parent.clone();
    thread::spawn(move || {
        let is_there = || getppid().is_some_and(|pid| *parent == *pid.as_raw_pid().to_string());
        while is_there() {
            thread::sleep(GLANCE);
        }
        let _ = kill_process(child, Signal::KILL);
    });
    let end = wait_for(child);
    end_all();
    match end {
        CheckEnd::Exited(0) => Ok(()),
        _ => Err(io::ErrorKind::Other.into()),
    }
}

/// Starts the check, waits for its end, ends everything that is left, and reports.
fn supervise(
    server: &UnixStream,
    reach: &[OsString],
    program: &OsString,
    arguments: &[OsString],
) -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new(THIS);
    command
        .args([COMMAND, CONFINE])
        .arg(getpid().as_raw_pid().to_string())
        .args(reach)
        .arg(END)
        .arg(program)
        .args(arguments)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .process_group(0);
    let check = Pid::from_child(&command.spawn()?);
    // The command holds the other end of the socket.
    drop(command);
    let watched = server.try_clone()?;
    thread::spawn(move || {
        // Nothing is ever written there: it ends when the server wants the check to end, or is gone.
        let _ = (&watched).read(&mut [0]);
        let _ = kill_process_group(check, Signal::KILL);
    });
    let mut said = String::new();
    (&ours).read_to_string(&mut said)?;
    let end = wait_for(check);
    end_all();
    let (bound, problem) = said.split_once(' ').unwrap_or(("", &said));
    let end = match problem {
        "" => end,
        problem => CheckEnd::Failed(problem.to_owned()),
    };
    let bound = Bound::parse(bound);
    let report = Report { bound, end };
    let mut socket = server;
    socket.write_all(report.text().as_bytes())?;
    socket.shutdown(Shutdown::Both)
}

/// Waits for a process, and meanwhile for every orphan that was adopted.
fn wait_for(check: Pid) -> CheckEnd {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == check => {
                return match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => CheckEnd::Exited(code),
                    (None, Some(signal)) => CheckEnd::Signaled(signal),
                    (None, None) => continue,
                };
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return CheckEnd::Failed(io::Error::from(error).to_string()),
        }
    }
}

/// Kills every process that is left, and those that they leave behind, until there is none.
fn end_all() {
    let until = Instant::now() + PATIENCE;
    loop {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        if Instant::now() >= until {
            return;
        }
        for child in children() {
            // One that is gone already has been waited for by nobody yet, so its number is nobody else's.
            let _ = kill_process(child, Signal::KILL);
        }
        thread::sleep(POLL);
    }
}

/// Lists the children of this process. Source: `proc_pid_stat(5)`.
fn children() -> Vec<Pid> {
    let own = getpid().as_raw_pid().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |id: &i32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The name in parentheses is the program's, and may have any characters.
        let fields = stat.rsplit(") ").next().unwrap_or_default();
        fields.split(' ').nth(1) == Some(&own)
    };
    ids.filter(is_child).filter_map(Pid::from_raw).collect()
}

/// Becomes the check. Returns only if it can't.
///
/// Says first how the project's store is kept from it.
fn become_check(
    mut supervisor: &UnixStream,
    parent: &OsString,
    reach: &[OsString],
    program: &OsString,
    arguments: impl Iterator<Item = OsString>,
) -> io::Error {
    let prepare = || -> io::Result<Bound> {
        let mut words = reach.iter();
        let writable = words.by_ref().take_while(|word| *word != CLOSED);
        let writable = writable.map(PathBuf::from).collect();
        let closed = words.map(PathBuf::from).collect();
        let bound = confine(&Reach { writable, closed })?;
        // After the namespaces: a process that becomes another user's forgets it.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        let is_there = getppid().is_some_and(|pid| **parent == *pid.as_raw_pid().to_string());
        if !is_there {
            return Err(io::ErrorKind::NotConnected.into());
        }
        Ok(bound)
    };
    let reported = prepare().and_then(|bound| {
        let word = bound.word();
        supervisor.write_all(format!("{word} ").as_bytes())
    });
    match reported {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error,
    }
}
