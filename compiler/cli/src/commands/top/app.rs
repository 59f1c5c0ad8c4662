//! The views, the keys that lead from one to another, and what each needs of the store.

use std::collections::BTreeSet;

use ratatui_core::buffer::Buffer;
use ratatui_core::text::Line;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use statemark_runs::body::{Opened, RequestKind};
use statemark_runs::{RunError, RunId, Runs};

use super::inbox::Inbox;
use super::list::{Need, RunList, one_line};
use super::pager::{Movement, Pager, Section};
use super::pages::{RequestPage, RunPage};
use crate::commands::run::requests::{Verb, describe_kind};
use crate::printer::Palette;
use crate::printer::screen::{columns_of, fill};

/// The page of `?`.
const HELP: &str = "\
arrows, j, k      choose a row, or scroll
PgUp, PgDn        a page up or down (also Ctrl-U, Ctrl-D)
Home, End         the first or the last row (also g, G)
Enter             open the run or the request that is chosen
Esc, Backspace    go back
Tab               change between runs and inbox; in a run, go to its next section
i                 the inbox; in a run, its first open request
/                 search runs by id, workflow, state, status or title; Enter keeps the search, Esc ends it
n                 show what needs a person, an agent, nothing, or all
a, d, r           approve, deny or send back, answer: in a request, once its whole text was shown
Ctrl-L            read everything again
Ctrl-Z            stop, until the shell continues it
q                 go back, and end from the list of runs; Ctrl-C ends at once

What a run needs is shown in its group: a person, to decide or answer; an agent, to go on; nothing, if it is over.
A decision leaves the screen, shows the request once more, and asks, as `statemark approve` does; with your token, \
and with your key where decisions are signed.
";

/// The changes in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Changes {
    All,
    Runs(BTreeSet<RunId>),
}

impl Changes {
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Self::Runs(runs) if runs.is_empty())
    }

    fn has(&self, run: &RunId) -> bool {
        match self {
            Self::All => true,
            Self::Runs(runs) => runs.contains(run),
        }
    }
}

/// A deed of a key that needs the terminal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Quit,
    Stop,
    Decide(Verb, Box<Opened>),
}

/// A view on the screen.
enum View {
    Runs,
    Inbox,
    Run(Box<RunPage>),
    Request(Box<RequestPage>),
    Help(Box<Pager>),
}

/// The views, from the list of runs to the one that is shown.
pub(super) struct App<'r> {
    runs: &'r Runs,
    /// The store's name.
    store: String,
    palette: Palette,
    list: RunList,
    inbox: Inbox,
    views: Vec<View>,
    /// True while a search is typed.
    is_searching: bool,
    /// The outcome of a key, until the next one.
    remark: Option<String>,
    /// The reason why the store couldn't be asked.
    trouble: Option<String>,
}

impl<'r> App<'r> {
    pub(super) fn new(
        runs: &'r Runs,
        store: String,
        workflow: Option<String>,
        palette: Palette,
    ) -> Self {
        Self {
            runs,
            store,
            palette,
            list: RunList::new(workflow.clone()),
            inbox: Inbox::new(workflow),
            views: vec![View::Runs],
            is_searching: false,
            remark: None,
            trouble: None,
        }
    }

    /// Shows a run.
    pub(super) fn open_run(&mut self, run: RunId) {
        self.open(View::Run(Box::new(RunPage::new(run))));
    }

    fn open(&mut self, view: View) {
        self.views.push(view);
        self.read_view(&Changes::All);
    }

    /// Goes back to the view before. Returns false from the first one.
    fn go_back(&mut self) -> bool {
        if self.views.len() < 2 {
            return false;
        }
        self.views.pop();
        self.read_view(&Changes::All);
        true
    }

    /// Notes whether the store could be asked, and why not.
    pub(super) fn note_store(&mut self, trouble: Option<String>) {
        self.trouble = trouble;
    }

    fn note(&mut self, read: Result<(), RunError>) {
        if let Err(error) = read {
            self.trouble = Some(error.to_string());
        }
    }

    /// Reads what has changed.
    pub(super) fn read(&mut self, changes: &Changes) {
        let read = match changes {
            Changes::All => {
                self.list.forget();
                Ok(())
            }
            Changes::Runs(changed) => self.list.read_changed(self.runs, changed),
        };
        self.note(read.map_err(RunError::from));
        self.read_view(changes);
    }

    /// Reads what the view shows, if it has changed.
    fn read_view(&mut self, changes: &Changes) {
        let runs = self.runs;
        let read = match self.views.last_mut() {
            Some(View::Inbox) => self.inbox.read(runs),
            Some(View::Run(page)) if changes.has(&page.run) => page.read(runs),
            Some(View::Request(page)) if changes.has(&page.run) => page.read(runs),
            _ => Ok(()),
        };
        self.note(read);
        self.tick();
    }

    /// Writes what the time has changed.
    pub(super) fn tick(&mut self) {
        let (now, palette) = (self.runs.now(), self.palette);
        let written = match self.views.last_mut() {
            Some(View::Run(page)) => page.write(now, palette),
            Some(View::Request(page)) => {
                page.write(now, palette);
                Ok(())
            }
            _ => Ok(()),
        };
        self.note(written);
    }

    /// Reads further rows of the list, if they are to be seen; a few at most.
    pub(super) fn load(&mut self) {
        if matches!(self.views.last(), Some(View::Runs)) {
            let read = self.list.load(self.runs);
            self.note(read.map_err(RunError::from));
        }
    }

    /// Reports whether rows that are to be seen haven't been read, and could be.
    pub(super) fn has_more_to_load(&self) -> bool {
        let is_list = matches!(self.views.last(), Some(View::Runs));
        is_list && self.trouble.is_none() && self.list.has_more_to_load()
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: KeyEvent) -> Option<Action> {
        self.remark = None;
        let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if has_control {
            match key.code {
                KeyCode::Char('c') => return Some(Action::Quit),
                KeyCode::Char('z') => return Some(Action::Stop),
                KeyCode::Char('l') => self.read(&Changes::All),
                KeyCode::Char('u') => self.go(Movement::PageUp),
                KeyCode::Char('d') => self.go(Movement::PageDown),
                _ => {}
            }
            return None;
        }
        if self.is_searching {
            self.type_search(key.code);
            return None;
        }
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.go(Movement::Up),
            KeyCode::Down | KeyCode::Char('j') => self.go(Movement::Down),
            KeyCode::PageUp => self.go(Movement::PageUp),
            KeyCode::PageDown | KeyCode::Char(' ') => self.go(Movement::PageDown),
            KeyCode::Home | KeyCode::Char('g') => self.go(Movement::First),
            KeyCode::End | KeyCode::Char('G') => self.go(Movement::Last),
            KeyCode::Char('q') if !self.go_back() => return Some(Action::Quit),
            KeyCode::Esc | KeyCode::Backspace => self.leave(),
            KeyCode::Char('?') if !matches!(self.views.last(), Some(View::Help(_))) => {
                self.open_help();
            }
            KeyCode::Tab => self.change_view(),
            code => return self.press_in_view(code),
        }
        None
    }

    /// Goes back, or ends a search.
    fn leave(&mut self) {
        if !self.go_back() && !self.list.search.is_empty() {
            self.list.search.clear();
            self.list.begin();
        }
    }

    fn type_search(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.is_searching = false,
            KeyCode::Esc => {
                self.is_searching = false;
                self.list.search.clear();
            }
            KeyCode::Backspace => {
                self.list.search.pop();
            }
            KeyCode::Char(letter) => self.list.search.push(letter),
            KeyCode::Up => return self.list.choose(Movement::Up),
            KeyCode::Down => return self.list.choose(Movement::Down),
            _ => return,
        }
        self.list.begin();
    }

    fn go(&mut self, movement: Movement) {
        match self.views.last_mut() {
            Some(View::Runs) => self.list.choose(movement),
            Some(View::Inbox) => self.inbox.choose(movement),
            Some(View::Run(page)) => page.pager.scroll(movement),
            Some(View::Request(page)) => page.pager.scroll(movement),
            Some(View::Help(pager)) => pager.scroll(movement),
            None => {}
        }
    }

    fn open_help(&mut self) {
        let mut pager = Pager::default();
        pager.set(vec![Section {
            text: HELP.to_owned(),
        }]);
        self.open(View::Help(Box::new(pager)));
    }

    /// Changes between runs and inbox, or goes on to the next section.
    fn change_view(&mut self) {
        match self.views.last_mut() {
            Some(View::Run(page)) => page.pager.next_section(),
            Some(View::Runs) => self.open(View::Inbox),
            Some(View::Inbox) => {
                self.go_back();
            }
            _ => {}
        }
    }

    fn press_in_view(&mut self, code: KeyCode) -> Option<Action> {
        match (self.views.last()?, code) {
            (View::Runs, KeyCode::Char('/')) => self.is_searching = true,
            (View::Runs, KeyCode::Char('n')) => self.list.next_need(),
            (View::Runs, KeyCode::Char('i')) => self.open(View::Inbox),
            (View::Runs, KeyCode::Enter) => {
                if let Some(run) = self.list.chosen_run() {
                    self.open_run(run);
                }
            }
            (View::Inbox, KeyCode::Enter) => {
                if let Some((run, id)) = self.inbox.chosen_request() {
                    self.open(View::Request(Box::new(RequestPage::new(run, id))));
                }
            }
            (View::Inbox, KeyCode::Char('a' | 'd' | 'r')) => {
                self.remark = Some("Enter shows the request; decide there".to_owned());
            }
            (View::Run(page), KeyCode::Char('i')) => match page.first_request() {
                Some(id) => {
                    let run = page.run.clone();
                    self.open(View::Request(Box::new(RequestPage::new(run, id))));
                }
                None => self.remark = Some("the run asks nothing".to_owned()),
            },
            (View::Request(_), KeyCode::Char('a')) => return self.decide(Verb::Approve),
            (View::Request(_), KeyCode::Char('d')) => return self.decide(Verb::Deny),
            (View::Request(_), KeyCode::Char('r')) => return self.decide(Verb::Answer),
            _ => {}
        }
        None
    }

    /// Begins a decision about the request that is shown, if all of it was.
    fn decide(&mut self, verb: Verb) -> Option<Action> {
        let Some(View::Request(page)) = self.views.last() else {
            return None;
        };
        let Some(opened) = page.open_request() else {
            self.remark = Some("it isn't open any more".to_owned());
            return None;
        };
        if !page.pager.is_read() {
            self.remark = Some("there is more to read first: go to its end".to_owned());
            return None;
        }
        if !verbs(opened.kind).contains(&verb) {
            let keys = keys_of(opened.kind);
            let kind = describe_kind(opened.kind);
            self.remark = Some(format!("it asks for: {kind} ({keys})"));
            return None;
        }
        Some(Action::Decide(verb, Box::new(opened.clone())))
    }

    /// Draws the view: a title, rows, and the keys.
    pub(super) fn draw(&mut self, buffer: &mut Buffer) {
        let (columns, height) = (
            usize::from(buffer.area.width),
            usize::from(buffer.area.height),
        );
        let (now, palette) = (self.runs.now(), self.palette);
        let body = (columns, height.saturating_sub(2));
        let rows = match self.views.last_mut() {
            Some(View::Runs) => self.list.draw(body, now, palette),
            Some(View::Inbox) => self.inbox.draw(body, now, palette),
            Some(View::Run(page)) => page.pager.rows(body.0, body.1).to_vec(),
            Some(View::Request(page)) => page.pager.rows(body.0, body.1).to_vec(),
            Some(View::Help(pager)) => pager.rows(body.0, body.1).to_vec(),
            None => Vec::new(),
        };
        let rows = if rows.is_empty() {
            vec![one_line(&palette.dim(&fill(self.emptiness(), columns)))]
        } else {
            rows
        };
        let title = one_line(&palette.strong(&fill(&self.title(), columns)));
        let foot = self.foot(columns);
        put(buffer, 0, &title);
        for (at, row) in rows.iter().take(body.1).enumerate() {
            put(buffer, at + 1, row);
        }
        if height > 1 {
            put(buffer, height - 1, &foot);
        }
    }

    /// Returns the text of a view without rows.
    fn emptiness(&self) -> &'static str {
        match self.views.last() {
            Some(View::Runs) if self.list.has_more_to_load() => "reading",
            Some(View::Runs) if self.list.search.is_empty() && self.list.only.is_none() => {
                "no runs; `statemark start WORKFLOW` starts one"
            }
            Some(View::Runs) => "no such runs",
            Some(View::Inbox) => "no open requests",
            _ => "",
        }
    }

    fn title(&self) -> String {
        let position = |pager: &Pager| {
            let position = pager.position();
            position.map_or_else(String::new, |position| format!("  ({position})"))
        };
        let (view, rest) = match self.views.last() {
            Some(View::Runs) | None => ("runs".to_owned(), self.filters()),
            Some(View::Inbox) => ("inbox".to_owned(), String::new()),
            Some(View::Run(page)) => (format!("run {}", page.run), position(&page.pager)),
            Some(View::Request(page)) => (format!("request {}", page.id), position(&page.pager)),
            Some(View::Help(pager)) => ("keys".to_owned(), position(pager)),
        };
        format!("{view} in {}{rest}", self.store)
    }

    fn filters(&self) -> String {
        let chosen = |is_chosen: bool, name: &str| match is_chosen {
            true => format!("[{name}]"),
            false => name.to_owned(),
        };
        let mut names = vec![chosen(self.list.only.is_none(), "all")];
        for need in Need::ALL {
            names.push(chosen(self.list.only == Some(need), need.name()));
        }
        let search = match (self.is_searching, self.list.search.as_str()) {
            (true, search) => format!("  /{search}_"),
            (false, "") => String::new(),
            (false, search) => format!("  /{search}"),
        };
        format!("  needs: {}{search}", names.join(" "))
    }

    /// Returns the last row: what is wrong, what a key came to, or the keys.
    fn foot(&self, columns: usize) -> Line<'static> {
        let palette = self.palette;
        if let Some(remark) = &self.remark {
            return one_line(&palette.guard(&fill(remark, columns)));
        }
        if let Some(trouble) = &self.trouble {
            let text = format!("the store can't be read: {trouble}");
            return one_line(&palette.bad(&fill(&text, columns)));
        }
        let keys = match self.views.last() {
            Some(View::Runs) if self.is_searching => "Enter keep the search  Esc end it",
            Some(View::Runs) | None => "Enter open  / search  n needs  Tab inbox  ? keys  q end",
            Some(View::Inbox) => "Enter open  Tab runs  ? keys  q back",
            Some(View::Run(_)) => "Tab section  i request  ? keys  q back",
            Some(View::Request(page)) => {
                let keys = page.open_request().map_or("", |it| keys_of(it.kind));
                return one_line(&palette.dim(&fitting(&[keys, "? keys", "q back"], columns)));
            }
            Some(View::Help(_)) => "q back",
        };
        let keys: Vec<&str> = keys.split("  ").collect();
        one_line(&palette.dim(&fitting(&keys, columns)))
    }
}

/// Returns as many keys as have room in a line. The last one, which leads out, is among them.
fn fitting(keys: &[&str], columns: usize) -> String {
    let Some((last, rest)) = keys.split_last() else {
        return String::new();
    };
    let mut line = String::new();
    for key in rest.iter().filter(|key| !key.is_empty()) {
        if columns_of(&line) + columns_of(key) + 2 + columns_of(last) > columns {
            break;
        }
        line = format!("{line}{key}  ");
    }
    fill(&format!("{line}{last}"), columns)
}

/// Returns the decisions that a kind of request takes.
const fn verbs(kind: RequestKind) -> &'static [Verb] {
    match kind {
        RequestKind::Approval | RequestKind::Review => &[Verb::Approve, Verb::Deny],
        RequestKind::Confirm => &[Verb::Approve, Verb::Deny, Verb::Answer],
        RequestKind::Select | RequestKind::Text | RequestKind::Json => &[Verb::Answer],
    }
}

const fn keys_of(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Approval => "a approve  d deny",
        RequestKind::Review => "a approve  d send back",
        RequestKind::Confirm => "a yes  d no",
        RequestKind::Select | RequestKind::Text | RequestKind::Json => "r answer",
    }
}

fn put(buffer: &mut Buffer, row: usize, line: &Line<'_>) {
    let area = buffer.area;
    if let Ok(row) = u16::try_from(row)
        && row < area.height
    {
        buffer.set_line(area.x, area.y + row, line, area.width);
    }
}
