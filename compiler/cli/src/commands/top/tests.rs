//! Screens of `top`, by the cases in `compiler/cli/tests/top/`: `UPDATE=1` writes them anew.
//!
//! A case is a document with headings such as `` ## `80x24 down enter` ``: the size of the screen, and the keys that lead to what
//! is shown below. Each begins anew, over one story.

use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use ratatui_core::backend::TestBackend;
use ratatui_core::buffer::Buffer;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent};
use serde_json::json;
use statemark_harness::{compare, root};
use statemark_runs::body::{AttemptOutcome, RequestKind};
use statemark_runs::runs::{
    EndAttempt, OpenRequest, PutArtifact, RecordTurn, SendEvent, StartAttempt,
};
use statemark_runs::{
    Actor, CancelRun, ManualClock, Operation, Order, Redactor, Role, RunId, Runs, StartRun,
    WithdrawRequest, acquire_lease,
};
use statemark_stores::MemoryStore;

use super::*;
use crate::catalog::SpecCatalog;
use crate::commands::run::requests::Verb;
use crate::printer::{ColorWhen, Palette, Printer};

/// The beginning of the story. Unit: milliseconds since 1970.
const BEGIN: u64 = 1_800_000_000_000;

/// A title by which somebody would hide what a person decides on.
const EVIL: &str = "all is well\u{1b}[2J\u{202e}\u{200b}\n日本語 👩‍💻 é";

fn cases() -> PathBuf {
    root().join("compiler/cli/tests/top")
}

fn no_colors() -> Palette {
    Printer::new(ColorWhen::Never).palette()
}

/// The runs of a story: each as far as it came.
struct Story {
    clock: Arc<ManualClock>,
    runs: Runs,
}

impl Story {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new(BEGIN));
        let store = Arc::new(MemoryStore::new(Arc::clone(&clock)));
        let catalog = SpecCatalog::read(&[cases().join("release.md")]).unwrap();
        let runs = Runs::new(store, Arc::new(catalog), Arc::clone(&clock) as Arc<_>);
        let runs = runs.with_redactor(Redactor::default());
        Self { clock, runs }
    }

    /// Tells what the cases show: runs that need a person, an agent, and nothing.
    fn told() -> Self {
        let story = Self::new();
        for number in 1..=12 {
            story.start(&format!("old-{number}"), None);
            story.send(&format!("old-{number}"), "built");
            story.execute(&format!("old-{number}"), &CancelRun::default());
        }
        story.start("release-1", Some("The first one"));
        story.work("release-1");
        story.execute(
            "release-1",
            &PutArtifact::draft("notes", b"# Notes".to_vec()),
        );
        story.send("release-1", "built");
        story.send("release-1", "accept");
        story.start("release-2", Some(EVIL));
        story.work("release-2");
        let question = OpenRequest {
            choices: vec!["yes".to_owned(), "never".to_owned()],
            details: json!({"of": EVIL}),
            ..OpenRequest::new(RequestKind::Select, format!("Which one? {EVIL}"))
        };
        story.start("release-3", None);
        story.execute("release-3", &question);
        story
    }

    fn order(&self, run: &str) -> Order {
        let actor = Actor::new(Role::Agent).with_name("ada");
        Order::new(run.parse().unwrap(), actor)
    }

    fn execute<O: Operation<Order = Order>>(&self, run: &str, operation: &O) -> O::Response {
        self.clock.advance(61_000);
        self.runs.execute(&self.order(run), operation).unwrap()
    }

    fn start(&self, run: &str, title: Option<&str>) {
        let start = StartRun {
            workflow: "release".to_owned(),
            title: title.map(str::to_owned),
            ..StartRun::default()
        };
        self.execute(run, &start);
    }

    fn send(&self, run: &str, event: &str) {
        let send = SendEvent {
            event: event.to_owned(),
            ..SendEvent::default()
        };
        self.execute(run, &send);
    }

    /// Makes an attempt that fails, and one that goes on.
    fn work(&self, run: &str) {
        let id: RunId = run.parse().unwrap();
        let lease = acquire_lease(&self.runs, &id, "tests", 3_600_000).unwrap();
        let mut order = self.order(run);
        order.fence = Some(lease.fence);
        for outcome in [Some(AttemptOutcome::Failed), None] {
            let start = StartAttempt {
                state: "build".to_owned(),
                executor: "coder".to_owned(),
                model: Some("small".to_owned()),
                task: None,
                prompt: self.runs.store().put_blob(b"Build it.").unwrap(),
                left_out: Vec::new(),
            };
            let number = self.runs.execute(&order, &start).unwrap().outcome;
            order.attempt = Some(number);
            let turn = RecordTurn {
                usage: Some((1_200, 340, Some(56))),
                ..RecordTurn::default()
            };
            self.clock.advance(61_000);
            self.runs.execute(&order, &turn).unwrap();
            if let Some(outcome) = outcome {
                let reason = Some("the compiler says no".to_owned());
                let end = EndAttempt { outcome, reason };
                self.runs.execute(&order, &end).unwrap();
            }
        }
    }
}

/// An app on a screen that is a text.
struct Shown<'r> {
    app: App<'r>,
    terminal: Terminal<TestBackend>,
}

impl<'r> Shown<'r> {
    fn new(runs: &'r Runs, columns: u16, rows: u16) -> Self {
        let mut shown = Self {
            app: App::new(runs, "runs.db".to_owned(), None, no_colors()),
            terminal: Terminal::new(TestBackend::new(columns, rows)).unwrap(),
        };
        shown.app.read(&Changes::All);
        shown.draw();
        shown
    }

    fn draw(&mut self) -> String {
        self.app.load();
        // This terminal keeps what a wide character has covered, which others don't.
        self.terminal.clear().unwrap();
        let drawn = self
            .terminal
            .draw(|frame| self.app.draw(frame.buffer_mut()));
        drawn.unwrap();
        text_of(self.terminal.backend().buffer())
    }

    /// Types keys, and draws after each, as the loop does.
    fn type_keys(&mut self, keys: &str) -> Option<Action> {
        let mut action = None;
        for key in keys.split_whitespace() {
            for key in parse_key(key) {
                action = self.app.press(key);
                self.draw();
            }
        }
        action
    }
}

fn text_of(buffer: &Buffer) -> String {
    let columns = usize::from(buffer.area.width).max(1);
    let rows = buffer.content.chunks(columns).map(|row| {
        let mut text = String::new();
        let mut covered = 0;
        for cell in row {
            // The second column of a wide character has nothing of its own.
            if covered == 0 {
                text.push_str(cell.symbol());
            }
            let columns = screen::columns_of(cell.symbol());
            covered = if covered > 0 {
                covered - 1
            } else {
                columns.saturating_sub(1)
            };
        }
        text.trim_end().to_owned() + "\n"
    });
    rows.collect()
}

/// Returns the keys that a word stands for: a name, a letter, or letters after `type:`.
fn parse_key(word: &str) -> Vec<KeyEvent> {
    let code = match word {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "backspace" => KeyCode::Backspace,
        _ => {
            let letters = word.strip_prefix("type:").unwrap_or(word);
            return letters.chars().map(|it| KeyCode::Char(it).into()).collect();
        }
    };
    vec![code.into()]
}

/// Returns a case with the screens of today.
fn play(case: &str) -> String {
    let mut parts = case.split("\n## `");
    let mut played = parts.next().unwrap().trim_end().to_owned() + "\n";
    for part in parts {
        let (heading, _) = part.split_once('`').unwrap();
        let (size, keys) = heading.split_once(' ').unwrap_or((heading, ""));
        let (columns, rows) = size.split_once('x').unwrap();
        let story = Story::told();
        let mut shown = Shown::new(&story.runs, columns.parse().unwrap(), rows.parse().unwrap());
        let action = shown.type_keys(keys);
        let action = action.map_or(String::new(), |action| format!("\n{}\n", describe(&action)));
        let screen = shown.draw();
        played += &format!("\n## `{heading}`\n{action}\n~~~~text\n{screen}~~~~\n");
    }
    played
}

fn describe(action: &Action) -> String {
    match action {
        Action::Quit => "It ends.".to_owned(),
        Action::Stop => "It stops.".to_owned(),
        Action::Decide(verb, opened) => {
            let verb = match verb {
                Verb::Approve => "approve",
                Verb::Deny => "deny",
                Verb::Answer => "answer",
            };
            format!("It leaves the screen, to {verb} {}.", opened.request)
        }
    }
}

#[test]
fn screens_are_those_of_the_cases() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in statemark_harness::files(&cases()) {
        let is_spec = path.file_name().is_some_and(|name| name == "release.md");
        if is_spec || path.extension().is_none_or(|it| it != "md") {
            continue;
        }
        count += 1;
        let case = std::fs::read_to_string(&path).unwrap();
        wrong.extend(compare(&path, &play(&case)).err());
    }
    assert!(count > 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn thousands_of_runs_are_read_page_by_page() {
    let story = Story::new();
    for number in 0..1_000 {
        story.start(&format!("run-{number:04}"), None);
    }
    let mut shown = Shown::new(&story.runs, 80, 24);
    assert!(!shown.app.has_more_to_load());
    let first = shown.draw();
    // Only the pages that are to be seen were read, and it says so.
    assert!(first.contains("needs an agent  200+"), "{first}");
    assert!(first.contains("> run-0999"), "{first}");
    for _ in 0..60 {
        shown.type_keys("pgdn");
    }
    let last = shown.draw();
    assert!(last.contains("> run-0000"), "{last}");
    // A search looks through all of them.
    let mut shown = Shown::new(&story.runs, 80, 24);
    shown.type_keys("/ type:run-0042");
    while shown.app.has_more_to_load() {
        shown.draw();
    }
    let found = shown.draw();
    assert!(found.contains("> run-0042"), "{found}");
}

#[test]
fn what_changes_is_put_in_its_place_and_the_choice_stays() {
    let story = Story::told();
    let mut shown = Shown::new(&story.runs, 80, 24);
    let mut watcher = Watcher::new(&story.runs);
    watcher.is_new = false;
    shown.type_keys("down down");
    assert!(shown.draw().contains("> release-2"));
    story.send("release-2", "built");
    story.send("release-2", "accept");
    story.start("release-4", None);
    watcher.look(&mut shown.app, &story.runs);
    let screen = shown.draw();
    assert!(screen.contains("needs a person  3"), "{screen}");
    assert!(screen.contains("> release-2  waiting"), "{screen}");
    assert!(screen.contains("  release-4  running"), "{screen}");
    // A page shows what happens to its run, and nothing is read twice for what happens elsewhere.
    shown.type_keys("enter");
    story.execute("release-2", &CancelRun::default());
    watcher.pause = Instant::now();
    watcher.look(&mut shown.app, &story.runs);
    let screen = shown.draw();
    assert!(screen.contains("cancelled"), "{screen}");
}

#[test]
fn a_request_that_changes_is_to_be_read_again() {
    let story = Story::told();
    let mut shown = Shown::new(&story.runs, 60, 9);
    assert_eq!(shown.type_keys("tab down enter a"), None);
    let screen = shown.draw();
    assert!(screen.contains("there is more to read first"), "{screen}");
    let action = shown.type_keys("end a");
    assert!(matches!(action, Some(Action::Decide(Verb::Approve, _))));
    story.execute(
        "release-1",
        &WithdrawRequest {
            request: open_request(&story, "release-1"),
            reason: None,
        },
    );
    shown.app.read(&Changes::All);
    assert_eq!(shown.type_keys("end a"), None);
    let screen = shown.draw();
    assert!(screen.contains("it isn't open any more"), "{screen}");
}

fn open_request(story: &Story, run: &str) -> String {
    let loaded = story.runs.load(&run.parse().unwrap()).unwrap();
    let open = loaded.state.open_requests();
    open.first().unwrap().opened.request.clone()
}

#[test]
fn a_store_that_cannot_be_read_is_said_on_the_screen() {
    let story = Story::told();
    let mut shown = Shown::new(&story.runs, 80, 24);
    shown.app.note_store(Some("it is gone\u{1b}[2J".to_owned()));
    let screen = shown.draw();
    let foot = r"the store can't be read: it is gone\u{1b}[2J";
    assert!(screen.contains(foot), "{screen}");
    assert!(screen.contains("release-1"), "{screen}");
    shown.app.note_store(None);
    assert!(!shown.draw().contains("can't be read"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever others write, and however large the screen is: nothing panics, and nothing hidden reaches the terminal.
    #[test]
    fn no_text_and_no_size_breaks_the_screen(
        title in "\\PC{0,40}|[\\x00-\\x1f\u{200b}\u{202e}日é👩‍💻 a]{0,200}",
        prompt in "(\\PC|[\\x00-\\x1f日 ]){1,300}",
        columns in 1_u16..140,
        rows in 1_u16..40,
        keys in prop::collection::vec("up|down|enter|esc|tab|pgdn|end|home|n|i|j|/|a|q|\\?|type:日a|backspace", 0..12),
    ) {
        let story = Story::new();
        story.start("r-1", Some(&title));
        story.execute("r-1", &OpenRequest::new(RequestKind::Text, prompt));
        let mut shown = Shown::new(&story.runs, columns, rows);
        shown.type_keys(&keys.join(" "));
        shown.draw();
        for cell in &shown.terminal.backend().buffer().content {
            let hidden = cell.symbol().chars().any(statemark_text::visible::is_hidden);
            prop_assert!(!hidden, "{:?}", cell.symbol());
        }
    }
}
