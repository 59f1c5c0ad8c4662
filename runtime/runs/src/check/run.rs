//! A check is run.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::kept::Kept;
use super::{CheckError, Declared, Ran};

/// How often it is asked whether a check has ended. Why: a person doesn't notice it, and it costs nothing.
const PAUSE: Duration = Duration::from_millis(10);

/// How long is waited for the rest of what an ended check has printed. Why: a program that it has left behind may hold the
/// other end for ever.
const REST: Duration = Duration::from_millis(500);

/// Runs a check, with more arguments behind its own, in the folder `root` or below it. It reads nothing, and all that it
/// has begun is stopped when its time is over, or as soon as `cancelled` says that nobody wants it any more.
///
/// # Errors
///
/// The declaration can't be used. A program that can't be begun is an answer, and no error.
pub fn run(
    declared: &Declared,
    arguments: &[String],
    root: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<Ran, CheckError> {
    let (program, own) = declared.program()?;
    let time = declared.time()?;
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
    alone(&mut command);
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
            return Ok(Ran {
                problem: Some(problem),
                folder: name(&folder),
                ..Ran::default()
            });
        }
    };
    let stdout = Reading::of(child.stdout.take());
    let stderr = Reading::of(child.stderr.take());
    let ended = wait(&mut child, began, time, cancelled);
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let until = Instant::now() + REST;
    if !stdout.is_over(until) || !stderr.is_over(until) {
        stop(&mut child);
    }
    let ((stdout, one), (stderr, other)) = (stdout.text(), stderr.text());
    let mut ran = Ran {
        folder: name(&folder),
        milliseconds,
        stdout,
        stderr,
        left_out: one.saturating_add(other),
        ..Ran::default()
    };
    match ended {
        Ok(Ended::Itself(status)) => {
            ran.exit_code = status.code();
            ran.problem = killed(status);
        }
        Ok(Ended::Late) => {
            let time = humantime::format_duration(time);
            ran.problem = Some(format!("it took longer than {time} and was stopped"));
        }
        Ok(Ended::Cancelled) => ran.cancelled = true,
        Err(error) => ran.problem = Some(format!("nobody knows how it ended: {error}")),
    }
    ran.passed = ran.exit_code == Some(0);
    Ok(ran)
}

/// The whole path of a folder.
fn name(folder: &Path) -> String {
    let whole = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    whole.to_string_lossy().into_owned()
}

/// How a check has ended.
enum Ended {
    Itself(ExitStatus),
    /// Its time was over, and it was stopped.
    Late,
    /// Nobody wanted it any more, and it was stopped.
    Cancelled,
}

fn wait(
    child: &mut Child,
    began: Instant,
    time: Duration,
    cancelled: &dyn Fn() -> bool,
) -> std::io::Result<Ended> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Itself(status));
        }
        let left = time.saturating_sub(began.elapsed());
        let ended = match (cancelled(), left.is_zero()) {
            (true, _) => Ended::Cancelled,
            (false, true) => Ended::Late,
            (false, false) => {
                thread::sleep(left.min(PAUSE));
                continue;
            }
        };
        stop(child);
        child.wait()?;
        return Ok(ended);
    }
}

/// In a group of its own, so that all that it begins can be stopped with it.
#[cfg(unix)]
fn alone(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn alone(_command: &mut Command) {}

/// Stops it with all that it has begun. What is gone already can't be stopped, and needn't.
#[cfg(unix)]
fn stop(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

#[cfg(not(unix))]
fn stop(child: &mut Child) {
    let _ = child.kill();
}

#[cfg(unix)]
fn killed(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = status.signal()?;
    Some(format!("it was ended by signal {signal}"))
}

#[cfg(not(unix))]
fn killed(_status: ExitStatus) -> Option<String> {
    None
}

/// A stream that is being read by a thread of its own: whoever only waits would let the program wait, too.
struct Reading {
    kept: Arc<Mutex<Kept>>,
    thread: Option<JoinHandle<()>>,
}

impl Reading {
    fn of(stream: Option<impl Read + Send + 'static>) -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let into = Arc::clone(&kept);
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
        Self { kept, thread }
    }

    /// Whether everything was read, by some time.
    fn is_over(&self, until: Instant) -> bool {
        while self.thread.as_ref().is_some_and(|it| !it.is_finished()) {
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(PAUSE / 10);
        }
        true
    }

    fn text(&self) -> (String, u64) {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .text()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn declared(words: &[&str]) -> Declared {
        Declared {
            command: words.iter().map(|&word| word.to_owned()).collect(),
            cwd: None,
            env: std::collections::BTreeMap::new(),
            timeout: None,
        }
    }

    fn ran(declared: &Declared) -> Ran {
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
        assert_eq!(ran.told(), "failed with exit code 3");
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
            ran.told(),
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
        assert_eq!(ran.told(), "was cancelled");
        thread::sleep(Duration::from_millis(2_500));
        assert!(!folder.join("late").exists(), "what it has begun goes on");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_program_that_is_left_behind_holds_nobody_up() {
        let began = Instant::now();
        let ran = ran(&declared(&["sh", "-c", "sleep 60 & echo done"]));
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!((ran.exit_code, ran.stdout.as_str()), (Some(0), "done\n"));
    }

    #[test]
    fn what_cant_be_begun_has_not_passed() {
        let none = ran(&declared(&["no-such-program-here"]));
        assert!(!none.passed && none.told().contains("`no-such-program-here` can't be run"));
        let mut lost = declared(&["true"]);
        lost.cwd = Some("no/such/folder".to_owned());
        let told = ran(&lost).told();
        assert_eq!(
            told,
            "didn't pass: there is no folder `no/such/folder` to run it in"
        );
        let killed = ran(&declared(&["sh", "-c", "kill -9 $$"]));
        assert_eq!(killed.told(), "didn't pass: it was ended by signal 9");
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
            let error = Declared::read(&value).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
