//! `lint --watch`, while somebody writes.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::shell::{BINARY, Scratch};

/// How long something may take on a machine where much else goes on.
const PATIENCE: Duration = Duration::from_secs(30);

const GOOD: &str =
    "## STATE-MACHINE\n```mermaid\nstateDiagram-v2\n[*] --> a\na --> [*] : end\n```\n";
const BAD: &str = "## STATE-MACHINE\n```mermaid\nstateDiagram-v2\n[*] --> a\na --> b : go\n```\n";

/// A program that watches, whose output goes to files.
struct Watching<'s> {
    scratch: &'s Scratch,
    child: Child,
}

impl<'s> Watching<'s> {
    fn new(scratch: &'s Scratch, flags: &[&str]) -> Self {
        let file = |name: &str| File::create(scratch.path.join(name)).unwrap();
        let child = Command::new(BINARY)
            .args(["lint", "--watch"])
            .args(flags)
            .current_dir(&scratch.path)
            .env("XDG_CACHE_HOME", scratch.path.join("own"))
            .stdin(Stdio::null())
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn()
            .unwrap();
        let watching = Self { scratch, child };
        watching.until("err", "watching for changes");
        watching
    }

    /// Waits until a file has a text.
    fn until(&self, file: &str, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = fs::read_to_string(self.scratch.path.join(file)).unwrap_or_default();
            if found.contains(text) {
                return found;
            }
            assert!(Instant::now() < end, "`{text}` isn't in {file}:\n{found}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends it as Ctrl-C does, and returns the exit code.
    fn end(mut self) -> Option<i32> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        // It may have ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn what_changes_is_checked_again() {
    let scratch = Scratch::new("watch");
    scratch.write("door.md", GOOD);
    scratch.write("other.md", BAD);
    scratch.write("README.md", "# Nothing\n");
    let watching = Watching::new(&scratch, &["--output-format", "concise", "."]);
    let first = watching.until("out", "other.md:5:7: warning[SM305]");
    assert!(!first.contains("door.md"), "{first}");

    // What is no spec is nobody's business, and what hasn't changed isn't listed again.
    scratch.write("README.md", "# Nothing at all\n");
    scratch.write("door.md", BAD);
    let both = watching.until("out", "door.md:5:7: warning[SM305]");
    assert_eq!(both.matches("other.md").count(), 1, "{both}");
    let said = watching.until("err", "door.md changed");
    assert!(!said.contains("README.md"), "{said}");

    // A new file, and one that goes.
    scratch.write("new.md", BAD);
    watching.until("out", "new.md:5:7: warning[SM305]");
    fs::remove_file(scratch.path.join("new.md")).unwrap();
    watching.until("err", "new.md is gone");

    // A configuration is about all of them, and a broken one is said and mended.
    scratch.write("statemark.toml", "[lint]\nignroe = [\"SM305\"]\n");
    watching.until("err", "ignroe");
    scratch.write("statemark.toml", "[lint]\nignore = [\"SM305\"]\n");
    watching.until("err", "no findings in 2 machines (2 files)");
    assert_eq!(watching.end(), Some(0));
}

/// The exit code is that of the files as they were last; a report in a file is whole each time.
#[test]
fn a_report_in_a_file_is_whole() {
    let scratch = Scratch::new("watch-file");
    scratch.write("a.md", GOOD);
    scratch.write("b.md", BAD);
    let flags = [
        "--output-format",
        "json",
        "--output-file",
        "found.json",
        ".",
    ];
    let watching = Watching::new(&scratch, &flags);
    watching.until("found.json", "b.md");
    scratch.write("a.md", BAD);
    let found = watching.until("found.json", "a.md");
    assert!(found.contains("b.md"), "{found}");
    assert_eq!(watching.end(), Some(1));
}
