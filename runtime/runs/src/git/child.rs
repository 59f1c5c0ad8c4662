//! Git as a child process, within bounds of time and output.
//!
//! Git waits for whatever it reads: a pipe in the place of `.gitignore`, or one that takes a file's place between a look and
//! the next, would hold a server's thread for ever. So a child that takes long is looked after: [`Obstacles`] names what it
//! may wait for, and it is ended for that reason; or because it does nothing, as far as the system tells; or at the latest
//! after [`MAX_TIME`].
//!
//! Deliberately not here: what git is asked, and the environment that it gets.

use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::{GitError, failed};

/// The longest time that one call of git takes.
///
/// Why: saving some gigabytes takes minutes, and by then every caller has given up.
const MAX_TIME: Duration = Duration::from_secs(600);

/// The time after which a call is looked after for the first time.
///
/// Why: nearly every call is over by then, and a look reads folders.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// The time from one look to the next.
const LOOK: Duration = Duration::from_secs(4);

/// The number of looks in a row at which a call that has done nothing since the look before is ended.
///
/// Why: what it waits for may be gone from its place meanwhile. A disk that is slow for twelve seconds is waited for in
/// another way, which the system tells apart.
const IDLE_LOOKS: u32 = 3;

/// Most bytes of an answer. Why: a million paths of the longest usual length.
const MAX_OUTPUT: u64 = 256 << 20;

/// Most bytes of what git says of a failure. Why: the first lines say it.
const MAX_ERROR: u64 = 64 << 10;

/// Most entries of folders that a look reads. Unit: entries. Why: a look takes a second at most.
const MAX_ENTRIES: usize = 1_000_000;

/// The interval at which the end of a child is awaited that has closed its output.
const POLL: Duration = Duration::from_millis(1);

/// The name of the files that git reads in any folder of a working copy.
const IGNORE: &str = ".gitignore";

/// The files that a call of git may come to wait for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Obstacles<'a> {
    /// The working copy.
    pub(super) folder: Option<&'a Path>,
    /// Folders of which git may read any file.
    pub(super) folders: &'a [PathBuf],
    /// Files that it was told to read.
    pub(super) files: &'a [PathBuf],
}

impl Obstacles<'_> {
    /// Finds something that isn't a regular file where git reads one.
    fn find(&self) -> Option<PathBuf> {
        let mut entries = MAX_ENTRIES;
        // Git follows links among its own files alone.
        let is_it = |path: &Path| fs::symlink_metadata(path).is_ok_and(|facts| has_no_end(&facts));
        let is_any = |path: &Path| fs::metadata(path).is_ok_and(|facts| has_no_end(&facts));
        let is_list = |path: &Path| path.ends_with(IGNORE) && is_it(path);
        let files = self.files.iter().find(|path| is_it(path));
        files.cloned().or_else(|| {
            let folders = self.folders.iter();
            let mut found = folders.filter_map(|folder| search(folder, &is_any, &mut entries));
            let found = found.next();
            found.or_else(|| search(self.folder?, &is_list, &mut entries))
        })
    }
}

/// Searches a folder, and those in it, for a file; no link to a folder is followed.
fn search(folder: &Path, is_it: &dyn Fn(&Path) -> bool, entries: &mut usize) -> Option<PathBuf> {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            *entries = entries.checked_sub(1)?;
            let path = entry.path();
            if is_it(&path) {
                return Some(path);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            }
        }
    }
    None
}

/// Reports whether reading something may take for ever. A socket can't even be opened.
#[cfg(unix)]
fn has_no_end(facts: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = facts.file_type();
    kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn has_no_end(_: &fs::Metadata) -> bool {
    false
}

/// Runs git and returns its answer. The error of a call that failed is what git says of it.
pub(super) fn output(
    doing: &'static str,
    command: Command,
    input: &[u8],
    obstacles: Obstacles<'_>,
) -> Result<Vec<u8>, GitError> {
    let ended = run(command, input, obstacles).map_err(|cause| failed(doing, cause))?;
    if ended.status.success() {
        return Ok(ended.output);
    }
    let stderr = String::from_utf8_lossy(&ended.error);
    match stderr.trim() {
        "" => Err(failed(doing, format!("git ended with {}", ended.status))),
        stderr => Err(failed(doing, stderr)),
    }
}

/// Runs git and reports whether it succeeded.
pub(super) fn succeeds(
    doing: &'static str,
    command: Command,
    obstacles: Obstacles<'_>,
) -> Result<bool, GitError> {
    let ended = run(command, b"", obstacles).map_err(|cause| failed(doing, cause))?;
    Ok(ended.status.success())
}

/// A call that has ended by itself.
struct Ended {
    status: ExitStatus,
    output: Vec<u8>,
    error: Vec<u8>,
}

/// The reason why a call was ended, or couldn't begin.
#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("`git` can't be run: {0}")]
    NotRun(io::Error),
    #[error("its answer can't be read: {0}")]
    Unreadable(io::Error),
    #[error(
        "git waits for `{0}`, which is a pipe or a device: remove it, or put a file in its place"
    )]
    Waits(String),
    #[error(
        "git waits for something that doesn't come, and was stopped; a file that it reads may have been a pipe"
    )]
    Idle,
    #[error("git took longer than {} s and was stopped", MAX_TIME.as_secs())]
    TooLong,
    #[error(
        "git's answer has more than {MAX_OUTPUT} bytes: have it ignore folders with that many files"
    )]
    TooMuch,
}

fn run(mut command: Command, input: &[u8], obstacles: Obstacles<'_>) -> Result<Ended, Cause> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Cause::NotRun)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let (sender, answer) = mpsc::channel();
        // Git may answer before it has read everything; two processes that only write would deadlock.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let error = scope.spawn(move || read(stderr, MAX_ERROR));
        scope.spawn(move || sender.send(read(stdout, MAX_OUTPUT)));
        let ended = wait(&mut child, &answer, obstacles);
        if ended.is_err() {
            // The threads end with its pipes.
            let _ = child.kill();
            let _ = child.wait();
        }
        let (status, output) = ended?;
        let error = error.join().ok().and_then(Result::ok).unwrap_or_default();
        Ok(Ended {
            status,
            output,
            error,
        })
    })
}

/// Waits for the end of a child, and looks after it while it takes long.
fn wait(
    child: &mut Child,
    answer: &mpsc::Receiver<io::Result<Vec<u8>>>,
    obstacles: Obstacles<'_>,
) -> Result<(ExitStatus, Vec<u8>), Cause> {
    let mut looks = Looks::new(child.id());
    let output = loop {
        match answer.recv_timeout(looks.until_next()) {
            Ok(output) => break output.map_err(Cause::Unreadable)?,
            Err(RecvTimeoutError::Disconnected) => break Vec::new(),
            Err(RecvTimeoutError::Timeout) => looks.look(obstacles)?,
        }
    };
    if u64::try_from(output.len()).unwrap_or(u64::MAX) > MAX_OUTPUT {
        return Err(Cause::TooMuch);
    }
    loop {
        if let Some(status) = child.try_wait().map_err(Cause::Unreadable)? {
            return Ok((status, output));
        }
        if looks.until_next().is_zero() {
            looks.look(obstacles)?;
        }
        thread::sleep(POLL);
    }
}

/// The looks at a child.
struct Looks {
    child: u32,
    began: Instant,
    next: Instant,
    /// Its work up to the last look.
    done: Option<String>,
    /// The number of looks in a row at which it had done nothing.
    idle: u32,
}

impl Looks {
    fn new(child: u32) -> Self {
        let began = Instant::now();
        Self {
            child,
            began,
            next: began + FIRST_LOOK,
            done: None,
            idle: 0,
        }
    }

    fn until_next(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Fails if the child waits for something, does nothing, or has taken too long.
    fn look(&mut self, obstacles: Obstacles<'_>) -> Result<(), Cause> {
        self.next = Instant::now() + LOOK;
        if self.began.elapsed() >= MAX_TIME {
            return Err(Cause::TooLong);
        }
        if let Some(path) = obstacles.find() {
            return Err(Cause::Waits(path.display().to_string()));
        }
        let done = work_of(self.child);
        self.idle = if done.is_some() && done == self.done {
            self.idle.saturating_add(1)
        } else {
            0
        };
        self.done = done;
        if self.idle >= IDLE_LOOKS {
            return Err(Cause::Idle);
        }
        Ok(())
    }
}

/// Returns the work of a process that waits, as text that changes with it.
///
/// None for one that doesn't wait, or waits for a disk, and where the system doesn't tell. Source: `proc_pid_stat(5)`.
fn work_of(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let (state, user, system) = (fields.first()?, fields.get(11)?, fields.get(12)?);
    let read = fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    (*state == "S").then(|| format!("{user} {system} {read}"))
}

/// Reads a stream to its end, or one byte more than that many.
fn read(stream: Option<impl Read>, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
