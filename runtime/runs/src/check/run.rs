//! Execution of checks.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use super::launch::{CheckEnd, Report};
use super::output::CapturedOutput;
use super::{
    Bound, CheckError, CheckPlace, CheckResult, Declaration, LongOutput, Missing, OWN_VARIABLES,
    Program,
};
use crate::redact::{Redactor, is_secret_name};

/// The interval at which a running check is polled.
///
/// Why: a person doesn't notice it, and it costs nothing.
const POLL: Duration = Duration::from_millis(10);

/// The time to wait for the remaining output of an exited check.
///
/// Why: a process that it left running may hold the pipe open for ever.
const DRAIN: Duration = Duration::from_millis(500);

/// The time after which a launcher that was asked to end is killed.
///
/// Why: longer than it takes to kill what it has begun.
#[cfg(target_os = "linux")]
const GRACE: Duration = Duration::from_secs(10);

/// Variables of loaders and interpreters by which a program runs code that its command doesn't name.
///
/// A check gets one only if its declaration names it, in `env` or in `inherit`.
const CODE_VARIABLES: [&str; 22] = [
    "BASH_ENV",
    "CLASSPATH",
    "DYLD_FRAMEWORK_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "ENV",
    "GCONV_PATH",
    "JAVA_TOOL_OPTIONS",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LUA_INIT",
    "NODE_OPTIONS",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC_WRAPPER",
];

/// Runs a check in its project, with `arguments` after its own.
///
/// It has no input, and of the environment what isn't secret. It ends with all processes that it started: when it is done,
/// when it times out, or once `cancelled` returns true.
///
/// # Errors
///
/// The declaration can't be used. A program that can't be started is a result, not an error.
pub fn run(
    declared: &Declaration,
    arguments: &[String],
    place: &CheckPlace,
    cancelled: &dyn Fn() -> bool,
) -> Result<CheckResult, CheckError> {
    run_without(declared, arguments, place, &|_| false, cancelled)
}

/// Runs a check as [`run`] does, without the variables of the environment that `is_blocked` names.
///
/// # Errors
///
/// Those of [`run`].
pub fn run_without(
    declared: &Declaration,
    arguments: &[String],
    place: &CheckPlace,
    is_blocked: &dyn Fn(&str) -> bool,
    cancelled: &dyn Fn() -> bool,
) -> Result<CheckResult, CheckError> {
    let (program, own) = declared.program()?;
    let time_limit = declared.time_limit()?;
    declared.check_inherited()?;
    let folder = place.folder(declared)?;
    let (root, found) = (absolute(&place.root), Program::find(declared, &place.root));
    let began = Instant::now();
    let words = own.iter().chain(arguments);
    let mut variables = environment(&declared.inherit);
    variables.retain(|(name, _)| !is_blocked(&name.to_string_lossy()));
    let missing = place.missing();
    let mut child = match Process::start(program, words, &declared.env, place, (&folder, variables))
    {
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
                root: Some(root),
                program: found,
                ..CheckResult::default()
            });
        }
    };
    let stdout = Reader::spawn(child.child.stdout.take());
    let stderr = Reader::spawn(child.child.stderr.take());
    let (end, bound) = match child.wait(began, time_limit, cancelled) {
        Ok((end, bound)) => (Ok(end), bound),
        Err(error) => (Err(error), None),
    };
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let until = Instant::now() + DRAIN;
    if !stdout.is_done_by(until) || !stderr.is_done_by(until) {
        kill(&mut child.child);
    }
    let long = || LongOutput {
        stdout: stdout.to_long_text(),
        stderr: stderr.to_long_text(),
    };
    let ((out, one), (err, other)) = (stdout.to_text(), stderr.to_text());
    let mut result = CheckResult {
        folder: absolute(&folder),
        root: Some(root),
        program: found,
        milliseconds,
        stdout: out,
        stderr: err,
        left_out: one.saturating_add(other),
        long: (one > 0 || other > 0).then(long),
        ..CheckResult::default()
    };
    match end {
        Ok(End::Exited(code)) => result.exit_code = Some(code),
        Ok(End::Signaled(signal)) => {
            result.problem = Some(format!("it was ended by signal {signal}"));
        }
        Ok(End::NotStarted(error)) => {
            result.problem = Some(format!("`{program}` can't be run: {error}"));
        }
        Ok(End::Unknown) => result.problem = Some("nobody knows how it ended".to_owned()),
        Ok(End::TimedOut) => {
            let limit = humantime::format_duration(time_limit);
            result.problem = Some(format!("it took longer than {limit} and was stopped"));
        }
        Ok(End::Cancelled) => result.cancelled = true,
        Err(error) => result.problem = Some(format!("nobody knows how it ended: {error}")),
    }
    result.passed = result.exit_code == Some(0);
    result.remark = join_remarks([
        missing.set_aside(),
        remark(bound, result.passed, place).map(str::to_owned),
    ]);
    Ok(result)
}

/// Returns a remark on a check from which its project's store was kept in an unusual way.
#[cfg_attr(
    not(target_os = "linux"),
    expect(unused_variables, reason = "there it is kept in no way at all")
)]
fn remark(bound: Option<Bound>, passed: bool, place: &CheckPlace) -> Option<&'static str> {
    match bound? {
        #[cfg(target_os = "linux")]
        Bound::Mounted => None,
        #[cfg(target_os = "linux")]
        Bound::Granted => (!passed && !place.closed().is_empty()).then_some(
            "it could make no new files and folders right in its project's folder: this system has no namespaces that would keep it from the store there",
        ),
        Bound::Open => (!place.closed().is_empty()).then_some(
            "nothing kept it from its project's `.statemark`: this system has neither namespaces nor Landlock for that",
        ),
    }
}

/// Returns the absolute path of a folder.
pub(crate) fn absolute(folder: &Path) -> String {
    let absolute = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    absolute.to_string_lossy().into_owned()
}

/// A program that works for a run, whose output is read as it comes.
pub struct Running {
    process: Process,
    /// The place that it is kept to, unless it may do what its person may.
    bounds: Option<(CheckPlace, Missing)>,
}

/// The end of such a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunningEnd {
    /// An exit with this code.
    Exited(i32),
    /// Another end, for this reason.
    Broken(String),
    /// A stop by whoever started it.
    Stopped,
}

impl Running {
    /// Starts a program with arguments in a folder, with an environment of its own.
    ///
    /// It ends with all that it has begun: when it is done, when it is stopped, and when this process is gone.
    ///
    /// # Errors
    ///
    /// The program can't be started.
    pub fn start(
        program: &str,
        arguments: &[String],
        place: &CheckPlace,
        (folder, variables): (&Path, Vec<(OsString, OsString)>),
    ) -> std::io::Result<Self> {
        let set = BTreeMap::new();
        let words = arguments.iter();
        let bounds = (!place.is_open).then(|| (place.clone(), place.missing()));
        let process = Process::start(program, words, &set, place, (folder, variables))?;
        Ok(Self { process, bounds })
    }

    /// Takes what it writes to standard output.
    pub const fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.process.child.stdout.take()
    }

    /// Takes what it writes to standard error.
    pub const fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.process.child.stderr.take()
    }

    /// Waits for its end, and stops it once `is_stopped` returns true.
    ///
    /// Returns a remark on what it was kept from as well, if there is one.
    ///
    /// # Errors
    ///
    /// The system doesn't say how it ended.
    pub fn wait(
        &mut self,
        is_stopped: &dyn Fn() -> bool,
    ) -> std::io::Result<(RunningEnd, Option<String>)> {
        let waited = self
            .process
            .wait(Instant::now(), super::MAX_TIMEOUT, is_stopped);
        let passed = matches!(&waited, Ok((End::Exited(0), _)));
        let bound = waited.as_ref().ok().and_then(|(_, bound)| *bound);
        let bounds = self.bounds.take();
        let remark = bounds.and_then(|(place, missing)| {
            join_remarks([
                missing.set_aside(),
                remark(bound, passed, &place).map(str::to_owned),
            ])
        });
        let (end, _) = waited?;
        let end = match end {
            End::Exited(code) => RunningEnd::Exited(code),
            End::Signaled(signal) => RunningEnd::Broken(format!("it was ended by signal {signal}")),
            End::NotStarted(error) => RunningEnd::Broken(format!("it can't be run: {error}")),
            End::Unknown => RunningEnd::Broken("nobody knows how it ended".to_owned()),
            End::TimedOut | End::Cancelled => RunningEnd::Stopped,
        };
        Ok((end, remark))
    }
}

/// Returns what is to be said of a program in one text, if anything is.
fn join_remarks(remarks: [Option<String>; 2]) -> Option<String> {
    let remarks = remarks.into_iter().flatten();
    remarks.reduce(|one, other| format!("{one}; {other}"))
}

/// The end of a check's process.
enum End {
    Exited(i32),
    Signaled(i32),
    /// Its launcher couldn't start it, for this reason.
    NotStarted(String),
    /// Its launcher is gone without a word.
    Unknown,
    TimedOut,
    Cancelled,
}

/// A check that is running, or its launcher.
struct Process {
    child: Child,
    /// Our end of the launcher's socket, if there is one.
    #[cfg(target_os = "linux")]
    launcher: Option<std::os::unix::net::UnixStream>,
}

impl Process {
    fn start<'w>(
        program: &str,
        words: impl Iterator<Item = &'w String>,
        set: &BTreeMap<String, String>,
        place: &CheckPlace,
        (folder, variables): (&Path, Vec<(OsString, OsString)>),
    ) -> std::io::Result<Self> {
        let prepare = |command: &mut Command| {
            command
                .env_clear()
                .envs(variables.iter().map(|(name, value)| (name, value)))
                .envs(set)
                .current_dir(folder)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        };
        #[cfg(target_os = "linux")]
        if let Some(launcher) = &place.launcher {
            let (mut command, socket) = launcher.command(program, words, &place.reach())?;
            prepare(&mut command);
            return Ok(Self {
                child: command.spawn()?,
                launcher: Some(socket),
            });
        }
        let _ = place;
        let mut command = Command::new(program);
        prepare(command.args(words).stdin(Stdio::null()));
        use_process_group(&mut command);
        Ok(Self {
            child: command.spawn()?,
            #[cfg(target_os = "linux")]
            launcher: None,
        })
    }

    fn wait(
        &mut self,
        began: Instant,
        time_limit: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> std::io::Result<(End, Option<Bound>)> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(self.end(status));
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
            self.stop()?;
            return Ok((end, None));
        }
    }

    /// Returns the end of a process that has ended, and how the project's store was kept from it.
    fn end(&self, status: ExitStatus) -> (End, Option<Bound>) {
        #[cfg(target_os = "linux")]
        if let Some(socket) = &self.launcher {
            let Some(report) = Report::read(socket) else {
                return (End::Unknown, None);
            };
            let end = match report.end {
                CheckEnd::Exited(code) => End::Exited(code),
                CheckEnd::Signaled(signal) => End::Signaled(signal),
                CheckEnd::Failed(reason) => End::NotStarted(reason),
            };
            return (end, report.bound);
        }
        let end = match (status.code(), signal(status)) {
            (Some(code), _) => End::Exited(code),
            (None, Some(signal)) => End::Signaled(signal),
            (None, None) => End::Unknown,
        };
        (end, Some(Bound::Open))
    }

    /// Ends the process with all that it has begun.
    fn stop(&mut self) -> std::io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(socket) = &self.launcher {
            let asked = socket.shutdown(std::net::Shutdown::Write);
            let until = Instant::now() + GRACE;
            while asked.is_ok() && Instant::now() < until {
                if self.child.try_wait()?.is_some() {
                    return Ok(());
                }
                thread::sleep(POLL);
            }
        }
        kill(&mut self.child);
        self.child.wait()?;
        Ok(())
    }
}

/// Returns the environment of a check, or of another program that a project declares.
///
/// It is without what is ours, and without secrets and ways to run other code that the declaration doesn't name.
#[must_use]
pub fn environment(inherit: &[String]) -> Vec<(OsString, OsString)> {
    let redactor = Redactor::from_environment(&[]);
    let is_meant = |(name, value): &(OsString, OsString)| {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if name.starts_with(OWN_VARIABLES) {
            return false;
        }
        let is_harmless = || !CODE_VARIABLES.contains(&&*name) && !is_secret_name(&name);
        inherit.iter().any(|it| *it == name)
            || is_harmless() && redactor.redact_str(&value) == value
    };
    std::env::vars_os().filter(is_meant).collect()
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
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
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

    fn to_long_text(&self) -> String {
        self.output
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .to_long_text()
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
            env: BTreeMap::new(),
            inherit: Vec::new(),
            timeout: None,
        }
    }

    fn ran(declared: &Declaration) -> CheckResult {
        run(declared, &[], &CheckPlace::new("/"), &|| false).unwrap()
    }

    #[test]
    fn a_check_that_nothing_keeps_from_its_projects_store_says_so() {
        let name = format!("statemark-open-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let run_there = || {
            let place = CheckPlace::new(&root);
            run(&declared(&["true"]), &[], &place, &|| false).unwrap()
        };
        std::fs::create_dir_all(root.join("src")).unwrap();
        assert_eq!(run_there().remark, None);
        std::fs::create_dir_all(root.join(".statemark")).unwrap();
        let remark = run_there().remark.unwrap();
        assert!(remark.contains("nothing kept it"), "{remark}");
        std::fs::remove_dir_all(&root).unwrap();
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
        let ran = run(&echo, &more, &CheckPlace::new("/"), &|| false).unwrap();
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
        check.timeout = Some(super::super::Timeout::Seconds(2.0));
        let began = Instant::now();
        let ran = ran(&check);
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!((ran.exit_code, ran.stdout.as_str()), (None, "on\n"));
        assert_eq!(
            ran.outcome(),
            "didn't pass: it took longer than 2s and was stopped"
        );
    }

    /// Reports whether a process goes on.
    ///
    /// One that is over, and that nobody has waited for, has no command line.
    fn is_alive(process: &str) -> bool {
        std::fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|it| !it.is_empty())
    }

    #[test]
    fn what_nobody_wants_any_more_is_stopped_with_all_that_it_has_begun() {
        let folder = std::env::temp_dir().join(format!("statemark-check-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).unwrap();
        let script = "sleep 600 & echo $! >child; echo on; touch begun; sleep 600";
        let check = declared(&["sh", "-c", script]);
        let began = Instant::now();
        let has_begun = || folder.join("begun").exists();
        let ran = run(&check, &[], &CheckPlace::new(&folder), &has_begun).unwrap();
        assert!(began.elapsed() < Duration::from_secs(60));
        assert!(ran.cancelled && !ran.passed);
        assert_eq!((ran.exit_code, ran.stdout.as_str()), (None, "on\n"));
        assert_eq!(ran.outcome(), "was cancelled");
        let child = std::fs::read_to_string(folder.join("child")).unwrap();
        while is_alive(child.trim()) {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "what it has begun goes on"
            );
            thread::sleep(Duration::from_millis(10));
        }
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
