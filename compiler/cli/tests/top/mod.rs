//! `top` as a person has it: the built program at a terminal, with keys, signals, and others who write meanwhile.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::shell::{Run, Scratch, perform, person_token, statemark};

/// Columns and rows of the terminal.
const SIZE: (usize, usize) = (80, 24);

/// Longest wait for something on the screen. Why: the machine may have a lot to do.
const LONGEST: Duration = Duration::from_secs(60);

/// A program at a terminal.
struct AtTerminal {
    child: Child,
    keys: File,
    /// The program's end of the terminal.
    end: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl AtTerminal {
    fn start(command: Command) -> Self {
        let (child, keys, end) = spawn_at_terminal(command);
        let mut output = keys.try_clone().unwrap();
        let seen = Arc::<Mutex<Vec<u8>>>::default();
        let sink = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = output.read(&mut bytes) {
                sink.lock().unwrap().extend(&bytes[..count]);
            }
        });
        Self {
            child,
            keys,
            end,
            seen,
        }
    }

    fn type_keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen has a text.
    fn wait_for(&self, text: &str) -> String {
        let until = Instant::now() + LONGEST;
        loop {
            let bytes = self.seen.lock().unwrap().clone();
            let screen = screen_of(&String::from_utf8_lossy(&bytes));
            if screen.contains(text) {
                return screen;
            }
            assert!(Instant::now() < until, "no `{text}` on\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Reports whether the terminal is as a shell has it.
    fn is_restored(&self) -> bool {
        let modes = tcgetattr(&self.end).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Waits for the end of the program, and returns its code.
    fn end(mut self) -> i32 {
        let code = self.child.wait().unwrap().code().unwrap();
        assert!(self.is_restored());
        // The screen before is back, and so is the cursor, as soon as the last of the output was read.
        let until = Instant::now() + LONGEST;
        loop {
            let seen = String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned();
            let last = |code: &str| seen.rfind(code);
            if last("\u{1b}[?1049l") > last("\u{1b}[?1049h")
                && last("\u{1b}[?25h") > last("\u{1b}[?25l")
            {
                return code;
            }
            assert!(Instant::now() < until, "{seen:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Starts a program at a terminal, and returns it with both ends.
fn spawn_at_terminal(mut command: Command) -> (Child, File, File) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let path = OsStr::from_bytes(name.as_bytes());
    let end = File::options().read(true).write(true).open(path).unwrap();
    let size = Winsize {
        ws_row: u16::try_from(SIZE.1).unwrap(),
        ws_col: u16::try_from(SIZE.0).unwrap(),
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&end, size).unwrap();
    command
        .stdin(end.try_clone().unwrap())
        .stdout(end.try_clone().unwrap())
        .stderr(end.try_clone().unwrap());
    let child = command.spawn().unwrap();
    (child, File::from(terminal), end)
}

/// A program whose terminal is closed ends, also where no signal tells it, and whatever it did at that moment.
#[test]
fn a_terminal_that_is_gone_ends_it() {
    let scratch = Scratch::new("top-gone");
    scratch.write("door.md", super::attacks::DOOR);
    let started = statemark(&scratch.path).args(["start", "door"]).output();
    assert!(started.unwrap().status.success());
    for round in 0..20 {
        let mut command = statemark(&scratch.path);
        command.arg("top");
        let (mut child, mut terminal, end) = spawn_at_terminal(command);
        drop(end);
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("needs") {
            let mut bytes = [0; 4096];
            let count = terminal.read(&mut bytes).unwrap();
            seen.extend(&bytes[..count]);
        }
        std::thread::sleep(Duration::from_micros(round * 200));
        drop(terminal);
        let until = Instant::now() + LONGEST;
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "it goes on, in round {round}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Returns what a terminal shows after some output, as far as this program writes: places, letters, and clearing.
fn screen_of(output: &str) -> String {
    let mut rows = vec![vec![' '; SIZE.0]; SIZE.1];
    let (mut row, mut column) = (0, 0);
    let mut letters = output.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => column = 0,
            '\n' if row + 1 == SIZE.1 => {
                rows.remove(0);
                rows.push(vec![' '; SIZE.0]);
            }
            '\n' => row += 1,
            '\u{1b}' => {
                let code: String = letters
                    .by_ref()
                    .skip(1)
                    .take_while_inclusive(|it| !it.is_ascii_alphabetic());
                match code.chars().last() {
                    Some('H') => {
                        let (to, at) = code
                            .trim_end_matches('H')
                            .split_once(';')
                            .unwrap_or(("1", "1"));
                        row = to.parse::<usize>().unwrap_or(1) - 1;
                        column = at.parse::<usize>().unwrap_or(1) - 1;
                    }
                    Some('J' | 'h' | 'l') if !code.contains("?25") => {
                        rows = vec![vec![' '; SIZE.0]; SIZE.1];
                    }
                    _ => {}
                }
            }
            letter => {
                if let Some(cell) = rows.get_mut(row).and_then(|row| row.get_mut(column)) {
                    *cell = letter;
                }
                column += 1;
            }
        }
    }
    let rows = rows.iter().map(|row| row.iter().collect::<String>());
    rows.map(|row| row.trim_end().to_owned() + "\n").collect()
}

/// Letters up to the first that doesn't fit, with that one.
trait TakeWhileInclusive: Iterator<Item = char> + Sized {
    fn take_while_inclusive(self, fits: impl Fn(&char) -> bool) -> String {
        let mut taken = String::new();
        for letter in self {
            taken.push(letter);
            if !fits(&letter) {
                break;
            }
        }
        taken
    }
}

impl<I: Iterator<Item = char>> TakeWhileInclusive for I {}

fn top(folder: &Path, token: Option<&str>) -> AtTerminal {
    let mut command = statemark(folder);
    command.arg("top").env("TERM", "xterm-256color");
    if let Some(token) = token {
        command.env("STATEMARK_TOKEN", token);
    }
    AtTerminal::start(command)
}

#[test]
fn a_person_watches_and_decides_and_the_terminal_is_as_it_was() {
    let scratch = Scratch::new("top");
    let folder = &scratch.path;
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/top/release.md");
    scratch.write("release.md", &fs::read_to_string(spec).unwrap());
    let orders = |run: &str| {
        for order in [
            format!("statemark start release --run-id {run}"),
            format!("statemark send {run} built"),
            format!("statemark send {run} accept"),
        ] {
            let said = perform(&Run::new(&order), folder);
            assert_eq!(said.code, 0, "{}", said.stderr);
        }
    };
    orders("r1");
    let ann = person_token(folder, "ann", &[]);

    // An agent looks, and decides nothing.
    let mut agent = top(folder, None);
    agent.wait_for("> r1  waiting");
    agent.type_keys("\t\r");
    agent.wait_for("Everybody will see it.");
    assert!(!agent.is_restored());
    agent.type_keys("a");
    let said = agent.wait_for("Enter goes back");
    assert!(said.contains("refused: "), "{said}");
    agent.type_keys("\r");
    agent.wait_for("it asks for: approval");
    agent.type_keys("\u{3}");
    assert_eq!(agent.end(), 0);

    // A person is asked by the whole request, at the terminal as it was, and decides.
    let mut person = top(folder, Some(&ann));
    person.wait_for("> r1  waiting");
    person.type_keys("\t\r");
    person.wait_for("it asks for: approval");
    person.type_keys("a");
    let asked = person.wait_for("asked by agent: is this the one? [y/N]");
    assert!(person.is_restored());
    assert!(asked.contains("Everybody will see it."), "{asked}");
    person.type_keys("no\r");
    person.wait_for("nothing was done: it wasn't confirmed");
    person.type_keys("\r");
    person.wait_for("it asks for: approval");
    person.type_keys("a");
    person.wait_for("is this the one? [y/N]");
    person.type_keys("y\r");
    person.wait_for("in published");
    person.type_keys("\r");
    person.wait_for("it isn't open any more");

    // What others do meanwhile comes by itself.
    person.type_keys("qq");
    person.wait_for("> r1  running    published");
    orders("r2");
    person.wait_for("  r2  waiting");
    person.type_keys("q");
    assert_eq!(person.end(), 0);

    // A signal ends it as a key does.
    let watcher = top(folder, None);
    watcher.wait_for("> r2  waiting");
    let pid = Pid::from_child(&watcher.child);
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(watcher.end(), 0);
}
