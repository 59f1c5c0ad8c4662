//! `top`: the runs of a store, as they go, on the whole screen of a terminal.
//!
//! ```text
//! keys ─→ App ─ reads ─→ list, inbox, pages ─ draws ─→ Screen
//! Store::changes ─→ ┘
//! ```
//!
//! What is shown is what other commands print, by their functions: `runs`, `inbox`, `state`, `why`, `timeline`, `artifacts`. A
//! decision leaves the screen and is carried out as `approve`, `deny` and `answer` do it, so that rights, questions,
//! passphrases and signatures are theirs.
//!
//! What to rely on: the store is asked what has changed, and only that is read again; whatever the store answers, the screen
//! stays, and says what is wrong.

mod app;
mod inbox;
mod list;
mod pager;
mod pages;

use std::io;
use std::time::{Duration, Instant};

use statemark_runs::{Runs, Watermark};

use self::app::{Action, App, Changes};
use crate::args::StoreArgs;
use crate::failure::{CommandResult, ExitStatus, Failure, system_message};
use crate::printer::screen::{self, Screen};
use crate::printer::{self, Printer};
use crate::{project, runs, signals};

/// Longest time between two questions to the store.
///
/// Why: as a server's: nobody notices it, and it doesn't load a store.
const STORE_INTERVAL: Duration = Duration::from_millis(100);

/// Pause after a reading, as a multiple of the time that it took.
///
/// Why: a busy store has others to serve.
const REST: u32 = 4;

/// Watch runs at a terminal, and decide requests
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark top\n  \
                        statemark top build-7                 one run, live\n  \
                        statemark top --workflow build\n\n\
                        Keys: arrows or j and k choose and scroll, Enter opens, Esc goes back, Tab changes between runs and\n\
                        inbox, / searches, n shows what needs a person, an agent or nothing, q ends; ? shows all.\n\
                        Decisions need what `statemark approve` needs: the whole request is shown, and a question asked.")]
pub(crate) struct TopArgs {
    /// Begin with this run: its id, or the beginning of it
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Only runs of this workflow
    #[arg(long, value_name = "WORKFLOW")]
    workflow: Option<String>,
    /// Where runs are kept: a file or an address [env: STATEMARK_STORE; else statemark.toml; default: .statemark/runs.db]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
}

/// Watches runs until somebody ends it.
pub(super) fn run(args: &TopArgs, printer: &mut Printer) -> CommandResult {
    if !printer::is_at_terminal() {
        return Err(Failure::new("`top` needs a terminal, to type at and to draw on")
            .with_help("`statemark runs --json` and `statemark inbox --json` tell the same to programs; `--watch` follows"));
    }
    let store = StoreArgs {
        store: args.store.clone(),
        json: false,
    };
    let runs = runs::open(&store)?;
    let begin = args.run.as_deref();
    let begin = begin.map(|word| runs::find(runs.store(), word));
    let begin = begin.transpose()?;
    let address = project::existing_store_address(store.store.as_deref())?;
    let name = project::public_name(&address);
    let mut app = App::new(&runs, name, args.workflow.clone(), printer.palette());
    if let Some(run) = begin {
        app.open_run(run);
    }
    watch(&mut app, &runs, &store, printer)?;
    Ok(ExitStatus::Clean)
}

fn watch(
    app: &mut App<'_>,
    runs: &Runs,
    store: &StoreArgs,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let is_ended = signals::watch_end()?;
    let mut screen = Screen::open().map_err(|error| lost_terminal(&error))?;
    let mut changes = Watcher::new(runs);
    // The terminal of a screen that a signal ends is restored as the screen is dropped.
    while !is_ended() {
        changes.look(app, runs);
        app.load();
        let drawn = screen.draw(|buffer| app.draw(buffer));
        drawn.map_err(|error| lost_terminal(&error))?;
        let longest = if app.has_more_to_load() {
            Duration::ZERO
        } else {
            STORE_INTERVAL
        };
        let key = screen.wait_for_key(longest);
        let Some(key) = key.map_err(|error| lost_terminal(&error))? else {
            continue;
        };
        let suspended = match app.press(key) {
            None => continue,
            Some(Action::Quit) => break,
            Some(Action::Stop) => screen.suspend(screen::stop_process),
            Some(Action::Decide(verb, opened)) => screen.suspend(|| {
                super::run::requests::decide_and_wait(verb, &opened, store, printer);
            }),
        };
        suspended.map_err(|error| lost_terminal(&error))?;
        changes.forget();
    }
    Ok(())
}

/// A watcher of what changes in the store.
struct Watcher {
    mark: Watermark,
    /// True if everything is to be read again.
    is_new: bool,
    /// The end of the pause after the last reading.
    pause: Instant,
}

impl Watcher {
    fn new(runs: &Runs) -> Self {
        let latest = runs.store().changes(&Watermark::END);
        Self {
            mark: latest.map(|(latest, _)| latest).unwrap_or_default(),
            is_new: true,
            pause: Instant::now(),
        }
    }

    /// Marks everything to be read again at the next look.
    fn forget(&mut self) {
        self.is_new = true;
        self.pause = Instant::now();
    }

    /// Asks the store what has changed, takes what is due, and has the app read that.
    fn look(&mut self, app: &mut App<'_>, runs: &Runs) {
        if Instant::now() < self.pause {
            return;
        }
        let began = Instant::now();
        match self.find(runs) {
            Ok(changes) => {
                app.note_store(None);
                if !changes.is_nothing() {
                    app.read(&changes);
                    self.is_new = false;
                }
            }
            // A store that can't be reached now may be in a moment.
            Err(failure) => app.note_store(Some(failure.to_string())),
        }
        app.tick();
        self.pause = Instant::now() + began.elapsed() * REST;
    }

    fn find(&mut self, runs: &Runs) -> Result<Changes, Failure> {
        let due = runs.store().next_due()?;
        if due.is_some_and(|due| due <= runs.now()) {
            statemark_runs::fire_all_due(runs)?;
        }
        let (next, hints) = runs.store().changes(&self.mark)?;
        self.mark = next;
        Ok(if self.is_new {
            Changes::All
        } else {
            Changes::Runs(hints.into_iter().map(|hint| hint.run).collect())
        })
    }
}

fn lost_terminal(error: &io::Error) -> Failure {
    let message = system_message(error);
    Failure::new(format!("the terminal can't be used: {message}"))
}

#[cfg(test)]
mod tests;
