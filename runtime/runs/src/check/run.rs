//! Execution of checks.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::output::CapturedOutput;
use super::{CheckError, CheckResult, Declaration};

/// The interval at which a running check is polled.
///
/// Why: a person doesn't notice it, and it costs nothing.
const POLL: Duration = Duration::from_millis(10);

/// The time to wait for the remaining output of an exited check.
///
/// Why: a process that it left running may hold the pipe open for ever.
const DRAIN: Duration = Duration::from_millis(500);

/// Runs a check in the folder `root` or below it, with `arguments` after its own.
///
/// It has no input. It is killed with all processes that it started when it times out, or once `cancelled` returns true.
///
/// # Errors
///
/// The declaration can't be used. A program that can't be started is a result, not an error.
pub fn run(
    declared: &Declaration,
    arguments: &[String],
    root: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<CheckResult, CheckError> {
    let (program, own) = declared.program()?;
    let time_limit = declared.time_limit()?;
    let folder = match &declared.cwd {
        Some(cwd) => root.join(cwd),
        None => root.to_path_buf(),
    };
    let mut command = Command::new(program);
    command
        .args(own)
        .args(arguments)
        .envs(&declared.env)
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    use_process_group(&mut command);
    let began = Instant::now();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let problem = if folder.is_dir() {
                format!("`{program}` can't be run: {error}")
            } else {
                let cwd = declared.cwd.as_deref().unwrap_or(".");
                format!("there is no folder `{cwd}` to run it in")
            };
            return Ok(CheckResult {
                problem: Some(problem),
                folder: absolute(&folder),
                ..CheckResult::default()
            });
        }
    };
    let stdout = Reader::spawn(child.stdout.take());
    let stderr = Reader::spawn(child.stderr.take());
    let end = wait(&mut child, began, time_limit, cancelled);
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let until = Instant::now() + DRAIN;
    if !stdout.is_done_by(until) || !stderr.is_done_by(until) {
        kill(&mut child);
    }
    let ((stdout, one), (stderr, other)) = (stdout.to_text(), stderr.to_text());
    let mut result = CheckResult {
        folder: absolute(&folder),
        milliseconds,
        stdout,
        stderr,
        left_out: one.saturating_add(other),
        ..CheckResult::default()
    };
    match end {
        Ok(End::Exited(status)) => {
            result.exit_code = status.code();
            result.problem = signal_problem(status);
        }
        Ok(End::TimedOut) => {
            let limit = humantime::format_duration(time_limit);
            result.problem = Some(format!("it took longer than {limit} and was stopped"));
        }
        Ok(End::Cancelled) => result.cancelled = true,
        Err(error) => result.problem = Some(format!("nobody knows how it ended: {error}")),
    }
    result.passed = result.exit_code == Some(0);
    Ok(result)
}

/// Returns the absolute path of a folder.
fn absolute(folder: &Path) -> String {
    let absolute = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    absolute.to_string_lossy().into_owned()
}

/// The end of a check's process.
enum End {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

fn wait(
    child: &mut Child,
    began: Instant,
    time_limit: Duration,
    cancelled: &dyn Fn() -> bool,
) -> std::io::Result<End> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Exited(status));
        }
        let left = time_limit.saturating_sub(began.elapsed());
        let end = match (cancelled(), left.is_zero()) {
            (true, _) => End::Cancelled,
            (false, true) => End::TimedOut,
            (false, false) => {
                thread::sleep(left.min(POLL));
                continue;
            }
        };
        kill(child);
        child.wait()?;
        return Ok(end);
    }
}

/// Gives a command its own process group, so that it can be killed with all processes that it starts.
#[cfg(unix)]
fn use_process_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn use_process_group(_command: &mut Command) {}

/// Kills a process group. One that is gone already is no error.
#[cfg(unix)]
fn kill(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

#[cfg(not(unix))]
fn kill(child: &mut Child) {
    let _ = child.kill();
}

#[cfg(unix)]
fn signal_problem(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = status.signal()?;
    Some(format!("it was ended by signal {signal}"))
}

#[cfg(not(unix))]
fn signal_problem(_status: ExitStatus) -> Option<String> {
    None
}

/// A thread that reads one stream. Without it a full pipe would block the program.
struct Reader {
    output: Arc<Mutex<CapturedOutput>>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    fn spawn(stream: Option<impl Read + Send + 'static>) -> Self {
        let output = Arc::new(Mutex::new(CapturedOutput::default()));
        let into = Arc::clone(&output);
        let thread = stream.map(|mut stream| {
            thread::spawn(move || {
                let mut buffer = [0; 8 << 10];
                loop {
                    let count = match stream.read(&mut buffer) {
                        Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                        Ok(0) | Err(_) => break,
                        Ok(count) => count,
                    };
                    let bytes = buffer.get(..count).unwrap_or_default();
                    into.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(bytes);
                }
            })
        });
        Self { output, thread }
    }

    /// Waits until everything is read, at most until a time. Reports whether it is.
    fn is_done_by(&self, until: Instant) -> bool {
        while self.thread.as_ref().is_some_and(|it| !it.is_finished()) {
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(POLL / 10);
        }
        true
    }

    fn to_text(&self) -> (String, u64) {
        self.output
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .to_text()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn declared(words: &[&str]) -> Declaration {
        Declaration {
            command: words.iter().map(|&word| word.to_owned()).collect(),
            cwd: None,
            env: std::collections::BTreeMap::new(),
            timeout: None,
        }
    }

    fn ran(declared: &Declaration) -> CheckResult {
        run(declared, &[], Path::new("/"), &|| false).unwrap()
    }

    #[test]
    fn what_a_program_says_is_the_answer() {
        let script = "echo out; echo err >&2; exit 3";
        let ran = ran(&declared(&["sh", "-c", script]));
        assert_eq!((ran.exit_code, ran.passed), (Some(3), false));
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.as_str()),
            ("out\n", "err\n")
        );
        assert_eq!(ran.outcome(), "failed with exit code 3");
    }

    #[test]
    fn arguments_are_words_and_never_a_line() {
        let mut echo = declared(&["echo", "a; b", "$HOME"]);
        echo.cwd = Some("tmp".to_owned());
        let more = ["`c`".to_owned()];
        let ran = run(&echo, &more, Path::new("/"), &|| false).unwrap();
        assert_eq!(
            (ran.stdout.as_str(), ran.passed),
            ("a; b $HOME `c`\n", true)
        );
    }

    #[test]
    fn variables_and_folder_are_the_declared_ones() {
        let mut check = declared(&["sh", "-c", "echo $COLOR; pwd; cat"]);
        check.env.insert("COLOR".to_owned(), "blue".to_owned());
        check.cwd = Some("usr".to_owned());
        let ran = ran(&check);
        assert_eq!(
            (ran.stdout.as_str(), ran.folder.as_str()),
            ("blue\n/usr\n", "/usr")
        );
    }

    #[test]
    fn what_takes_too_long_is_stopped_with_all_that_it_has_begun() {
        let mut check = declared(&["sh", "-c", "echo on; sleep 60 & sleep 60"]);
        check.timeout = Some(super::super::Timeout::Seconds(0.2));
        let began = Instant::now();
        let ran = ran(&check);
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!((ran.exit_code, ran.stdout.as_str()), (None, "on\n"));
        assert_eq!(
            ran.outcome(),
            "didn't pass: it took longer than 200ms and was stopped"
        );
    }

    #[test]
    fn what_nobody_wants_any_more_is_stopped_with_all_that_it_has_begun() {
        let folder = std::env::temp_dir().join(format!("statemark-check-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let script = "(sleep 2; touch late) & echo on; touch begun; sleep 60";
        let check = declared(&["sh", "-c", script]);
        let began = Instant::now();
        let has_begun = || folder.join("begun").exists();
        let ran = run(&check, &[], &folder, &has_begun).unwrap();
        assert!(began.elapsed() < Duration::from_secs(2));
        assert!(ran.cancelled && !ran.passed);
        assert_eq!((ran.exit_code, ran.stdout.as_str()), (None, "on\n"));
        assert_eq!(ran.outcome(), "was cancelled");
        thread::sleep(Duration::from_millis(2_500));
        assert!(!folder.join("late").exists(), "what it has begun goes on");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_abandoned_program_blocks_nobody() {
        let began = Instant::now();
        let ran = ran(&declared(&["sh", "-c", "sleep 60 & echo done"]));
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!((ran.exit_code, ran.stdout.as_str()), (Some(0), "done\n"));
    }

    #[test]
    fn what_cant_be_begun_has_not_passed() {
        let none = ran(&declared(&["no-such-program-here"]));
        assert!(
            !none.passed
                && none
                    .outcome()
                    .contains("`no-such-program-here` can't be run")
        );
        let mut lost = declared(&["true"]);
        lost.cwd = Some("no/such/folder".to_owned());
        let outcome = ran(&lost).outcome();
        assert_eq!(
            outcome,
            "didn't pass: there is no folder `no/such/folder` to run it in"
        );
        let killed = ran(&declared(&["sh", "-c", "kill -9 $$"]));
        assert_eq!(killed.outcome(), "didn't pass: it was ended by signal 9");
    }

    #[test]
    fn declarations_that_say_nothing_sensible_are_refused() {
        for (text, word) in [
            (r#"{"command": []}"#, "names no program"),
            (r#"{"command": ["x"], "timeout": "soon"}"#, "`soon`"),
            (r#"{"command": ["x"], "timeout": 0}"#, "`0`"),
            (r#"{"command": ["x"], "timeout": 1e9}"#, "up to a day"),
            (r#"{"command": "x"}"#, "invalid type"),
            (r#"{"command": ["x"], "shell": true}"#, "shell"),
        ] {
            let value = serde_json::from_str(text).unwrap();
            let error = Declaration::parse(&value).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
