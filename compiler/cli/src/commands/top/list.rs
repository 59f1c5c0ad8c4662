//! The list of runs, by what they need: a person, an agent, nothing.
//!
//! The store gives each group page by page, the latest first, and a page is asked for when somebody scrolls to its place. What
//! changes meanwhile is put in its place. A search looks through page after page, a few at a time, so that keys stay quick.

use std::collections::{BTreeMap, BTreeSet};

use ratatui_core::style::{Modifier, Style};
use ratatui_core::text::Line;
use statemark_runs::{Cursor, Head, Query, RunId, Runs, Status, StoreError};

use super::pager::{Movement, window};
use crate::clock::format_length;
use crate::commands::run::paint_status;
use crate::printer::Palette;
use crate::printer::screen::{columns_of, fill, lay_out};

/// Number of runs that are read at once.
const PAGE: usize = 200;

/// Most pages that are read before a key is looked for. Why: each takes some milliseconds.
const PAGES: usize = 5;

/// Most runs that are read one by one after a change.
///
/// Why: beyond it, reading the first pages again is quicker.
const MAX_CHANGED: usize = 200;

/// Rows that are read for before the height of the screen is known. Why: few screens have more.
const FIRST_HEIGHT: usize = 50;

/// Fewest columns in which more than a run's id has a column of its own.
const NARROW: usize = 40;

/// Fewest columns in which the time of the last change is shown.
const WIDE: usize = 60;

/// Most levels by which a run is indented. Why: its id is to be read.
const MAX_INDENT: usize = 4;

/// Most columns of a run's id.
const MAX_ID: usize = 30;

/// The needs of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// A person, to decide or answer.
    Person,
    /// An agent, to go on.
    Agent,
    /// Nothing: it is over.
    Nothing,
}

impl Need {
    pub(super) const ALL: [Self; 3] = [Self::Person, Self::Agent, Self::Nothing];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Agent => "agent",
            Self::Nothing => "nothing",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Person => "needs a person",
            Self::Agent => "needs an agent",
            Self::Nothing => "needs nothing",
        }
    }

    fn statuses(self) -> Vec<String> {
        let is_over = self == Self::Nothing;
        let statuses = Status::ALL.into_iter();
        let statuses = statuses.filter(|status| status.is_over() == is_over);
        statuses.map(|status| status.name().to_owned()).collect()
    }

    /// Returns the need of a run in a list.
    fn of_head(head: &Head) -> Self {
        let status = parse_status(&head.summary.status);
        if status.is_some_and(Status::is_over) {
            Self::Nothing
        } else if head.summary.requests.is_empty() {
            Self::Agent
        } else {
            Self::Person
        }
    }
}

fn parse_status(name: &str) -> Option<Status> {
    Status::ALL.into_iter().find(|it| it.name() == name)
}

/// The runs of one need that have been read.
#[derive(Debug)]
struct Group {
    need: Need,
    heads: Vec<Head>,
    next: Next,
}

/// The page of a group that is read next.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Next {
    First,
    After(Cursor),
    None,
}

/// A row of the list.
#[derive(Clone, Copy)]
enum Row<'l> {
    Title(&'l Group),
    /// A run, and the number of runs above it under which it is listed.
    Run(&'l Head, usize),
}

/// The list of runs, and the choice in it.
#[derive(Debug)]
pub(super) struct RunList {
    workflow: Option<String>,
    groups: Vec<Group>,
    /// The only need that is shown.
    pub(super) only: Option<Need>,
    /// The text that is searched for.
    pub(super) search: String,
    /// The run that is chosen, and its place among the runs: it stays chosen as others come and go.
    chosen: (Option<RunId>, usize),
    /// The first row that is shown.
    top: usize,
    height: usize,
}

impl RunList {
    pub(super) fn new(workflow: Option<String>) -> Self {
        let mut list = Self {
            workflow,
            groups: Vec::new(),
            only: None,
            search: String::new(),
            chosen: (None, 0),
            top: 0,
            height: FIRST_HEIGHT,
        };
        list.forget();
        list
    }

    /// Forgets what was read.
    pub(super) fn forget(&mut self) {
        self.groups = Need::ALL
            .map(|need| Group {
                need,
                heads: Vec::new(),
                next: Next::First,
            })
            .into();
    }

    /// Reads the runs that have changed.
    pub(super) fn read_changed(
        &mut self,
        runs: &Runs,
        changed: &BTreeSet<RunId>,
    ) -> Result<(), StoreError> {
        if changed.len() > MAX_CHANGED {
            self.forget();
            return Ok(());
        }
        for run in changed {
            let head = match runs.store().head(run) {
                Ok(head) => Some(head),
                Err(StoreError::NotFound { .. }) => None,
                Err(error) => return Err(error),
            };
            for group in &mut self.groups {
                group.heads.retain(|head| head.run != *run);
            }
            let is_meant = |head: &Head| {
                let workflow = self.workflow.as_ref();
                workflow.is_none_or(|workflow| *workflow == head.summary.workflow)
            };
            if let Some(head) = head.filter(is_meant) {
                let need = Need::of_head(&head);
                let group = self.groups.iter_mut().find(|group| group.need == need);
                if let Some(group) = group {
                    group.put(head);
                }
            }
        }
        Ok(())
    }

    /// Reads further pages, if the rows that are to be seen need them; a few at most.
    pub(super) fn load(&mut self, runs: &Runs) -> Result<(), StoreError> {
        for _ in 0..PAGES {
            let Some(at) = self.unread() else {
                break;
            };
            let workflow = self.workflow.clone();
            if let Some(group) = self.groups.get_mut(at) {
                group.read(runs, workflow)?;
            }
        }
        Ok(())
    }

    /// Reports whether rows that are to be seen haven't been read.
    pub(super) fn has_more_to_load(&self) -> bool {
        self.unread().is_some()
    }

    /// Returns the group whose next page is to be read now.
    fn unread(&self) -> Option<usize> {
        let wanted = self.chosen.1.max(self.top) + 2 * self.height.max(1);
        let mut shown = 0;
        for (at, group) in self.groups.iter().enumerate() {
            if !self.shows(group) {
                continue;
            }
            shown += group.heads.iter().filter(|it| self.finds(it)).count();
            if group.next != Next::None && (shown < wanted || group.next == Next::First) {
                return Some(at);
            }
        }
        None
    }

    fn shows(&self, group: &Group) -> bool {
        self.only.is_none_or(|only| only == group.need)
    }

    /// Reports whether a run has the text that is searched for.
    fn finds(&self, head: &Head) -> bool {
        if self.search.is_empty() {
            return true;
        }
        let wanted = self.search.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let summary = &head.summary;
        has(head.run.as_str())
            || has(&summary.workflow)
            || has(&summary.status)
            || summary.title.as_deref().is_some_and(has)
            || summary.leaves.iter().any(|leaf| has(leaf))
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        for group in self.groups.iter().filter(|group| self.shows(group)) {
            let found = group.heads.iter().filter(|head| self.finds(head));
            let found = nest(&found.collect::<Vec<_>>());
            if !found.is_empty() {
                rows.push(Row::Title(group));
                rows.extend(found.into_iter().map(|(head, depth)| Row::Run(head, depth)));
            }
        }
        rows
    }

    /// Returns the run that is chosen.
    pub(super) fn chosen_run(&self) -> Option<RunId> {
        self.chosen.0.clone()
    }

    /// Chooses another run.
    pub(super) fn choose(&mut self, movement: Movement) {
        let rows = self.rows();
        let runs: Vec<&Head> = heads(&rows).collect();
        let last = runs.len().saturating_sub(1);
        let at = movement.apply(self.chosen.1, self.height, last);
        self.chosen = (runs.get(at).map(|head| head.run.clone()), at);
    }

    /// Shows the runs of the next need alone, and after the last of all.
    pub(super) fn next_need(&mut self) {
        self.only = match self.only {
            None => Some(Need::Person),
            Some(Need::Person) => Some(Need::Agent),
            Some(Need::Agent) => Some(Need::Nothing),
            Some(Need::Nothing) => None,
        };
        self.begin();
    }

    /// Goes to the first row.
    pub(super) fn begin(&mut self) {
        (self.chosen, self.top) = ((None, 0), 0);
    }

    /// Returns the rows that are to be seen.
    pub(super) fn draw(
        &mut self,
        (columns, height): (usize, usize),
        now: u64,
        palette: Palette,
    ) -> Vec<Line<'static>> {
        self.height = height;
        let (chosen, top) = self.find_chosen();
        let rows = self.rows();
        let ids = rows.iter().filter_map(|row| match row {
            Row::Run(head, depth) => Some(columns_of(&listed_id(head, *depth))),
            Row::Title(_) => None,
        });
        let id = ids.max();
        let id = id.unwrap_or(0).min(MAX_ID);
        let id = if columns < NARROW {
            id.min(columns.saturating_sub(2))
        } else {
            id.min(columns / 3)
        };
        let shown = rows.iter().skip(top).take(height);
        let lines = shown.map(|row| match row {
            Row::Title(group) => group.draw(columns, palette),
            Row::Run(head, depth) => {
                let is_chosen = chosen.as_ref() == Some(&head.run);
                draw_run((head, *depth), (columns, id), is_chosen, now, palette)
            }
        });
        let lines = lines.collect();
        self.top = top;
        lines
    }

    /// Finds the chosen run again, and returns it with the first row that is shown.
    fn find_chosen(&mut self) -> (Option<RunId>, usize) {
        let rows = self.rows();
        let runs: Vec<&Head> = heads(&rows).collect();
        let known = self.chosen.0.as_ref();
        let at = known.and_then(|run| runs.iter().position(|head| head.run == *run));
        let at = at.unwrap_or(self.chosen.1.min(runs.len().saturating_sub(1)));
        let run = runs.get(at).map(|head| head.run.clone());
        let is_chosen =
            |row: &Row<'_>| matches!(row, Row::Run(head, _) if Some(&head.run) == run.as_ref());
        let row = rows.iter().position(is_chosen).unwrap_or(0);
        // The first run is shown with its title, where both have room.
        let with_title = if row == 1 { 0 } else { row };
        let top = window(self.top, with_title, self.height);
        let top = window(top, row, self.height).min(rows.len().saturating_sub(1));
        self.chosen = (run.clone(), at);
        (run, top)
    }
}

fn heads<'l>(rows: &[Row<'l>]) -> impl Iterator<Item = &'l Head> {
    rows.iter().filter_map(|row| match row {
        Row::Run(head, _) => Some(*head),
        Row::Title(_) => None,
    })
}

/// Puts runs behind those that have begun them, where both are listed, each with its depth.
fn nest<'l>(listed: &[&'l Head]) -> Vec<(&'l Head, usize)> {
    let known: BTreeSet<&RunId> = listed.iter().map(|head| &head.run).collect();
    let parent_of = |head: &Head| {
        let parent = head.summary.parent.clone();
        parent.filter(|parent| known.contains(parent))
    };
    let mut children: BTreeMap<RunId, Vec<&Head>> = BTreeMap::new();
    let mut open = Vec::new();
    for head in listed.iter().rev() {
        match parent_of(head) {
            Some(parent) => children.entry(parent).or_default().push(head),
            None => open.push((*head, 0)),
        }
    }
    let mut nested = Vec::new();
    loop {
        while let Some((head, depth)) = open.pop() {
            nested.push((head, depth));
            let below = children.remove(&head.run).unwrap_or_default();
            open.extend(below.into_iter().map(|child| (child, depth + 1)));
        }
        // Runs that have begun each other are below none.
        let Some((_, ring)) = children.pop_first() else {
            return nested;
        };
        open.extend(ring.into_iter().map(|head| (head, 0)));
    }
}

/// Returns the id of a run as it is listed at a depth.
fn listed_id(head: &Head, depth: usize) -> String {
    format!("{}{}", "  ".repeat(depth.min(MAX_INDENT)), head.run)
}

impl Group {
    fn read(&mut self, runs: &Runs, workflow: Option<String>) -> Result<(), StoreError> {
        let after = match &self.next {
            Next::First => None,
            Next::After(cursor) => Some(cursor.clone()),
            Next::None => return Ok(()),
        };
        let page = runs.store().list(&Query {
            statuses: self.need.statuses(),
            workflow,
            has_requests: self.need == Need::Person,
            after,
            limit: PAGE,
            ..Query::default()
        })?;
        for head in page.heads {
            // One that has changed since the last page is there already, and its place is another.
            if Need::of_head(&head) == self.need && !self.heads.iter().any(|it| it.run == head.run)
            {
                self.heads.push(head);
            }
        }
        self.next = page.next.map_or(Next::None, Next::After);
        Ok(())
    }

    /// Puts a run in its place. One that stands on a page that hasn't been read comes with that page.
    fn put(&mut self, head: Head) {
        let key = (head.updated, &head.run);
        let at = self.heads.partition_point(|it| (it.updated, &it.run) > key);
        if at < self.heads.len() || self.next == Next::None {
            self.heads.insert(at, head);
        }
    }

    fn draw(&self, columns: usize, palette: Palette) -> Line<'static> {
        let more = if self.next == Next::None { "" } else { "+" };
        let title = format!("{}  {}{more}", self.need.title(), self.heads.len());
        one_line(&palette.strong(&fill(&title, columns)))
    }
}

fn draw_run(
    (head, depth): (&Head, usize),
    (columns, id): (usize, usize),
    is_chosen: bool,
    now: u64,
    palette: Palette,
) -> Line<'static> {
    /// Columns of a status. Why: `completed` and `cancelled` have as many letters.
    const STATUS: usize = 9;
    let summary = &head.summary;
    let known = parse_status(&summary.status);
    let status = fill(&summary.status, STATUS);
    let status = known.map_or(status.clone(), |known| {
        status.replacen(known.name(), &paint_status(known, palette), 1)
    });
    let ago = if columns >= WIDE {
        format!("  {} ago", format_length(now.saturating_sub(head.updated)))
    } else {
        String::new()
    };
    let mark = if is_chosen { "> " } else { "  " };
    let used = columns_of(mark) + id + 2 + STATUS + 2 + columns_of(&ago);
    let mut place = summary.leaves.join(", ");
    if !summary.requests.is_empty() {
        place = format!("{place}  asks {}", summary.requests.join(", "));
    }
    if let Some(title) = &summary.title {
        place = format!("{place}  {title}");
    }
    let place = fill(&place, columns.saturating_sub(used));
    let id = fill(&listed_id(head, depth), id);
    let line = format!("{mark}{id}  {status}  {place}{}", palette.dim(&ago));
    let line = one_line(&line);
    if is_chosen {
        line.style(Style::new().add_modifier(Modifier::REVERSED))
    } else {
        line
    }
}

/// Returns a text of one line, laid out.
pub(super) fn one_line(text: &str) -> Line<'static> {
    lay_out(text).into_iter().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use statemark_runs::{Hash, RunSummary};

    use super::*;

    fn head(run: &str, parent: Option<&str>) -> Head {
        Head {
            run: run.parse().unwrap(),
            seq: 1,
            hash: Hash::digest(b""),
            created: 0,
            updated: 0,
            forked: None,
            summary: RunSummary {
                parent: parent.map(|parent| parent.parse().unwrap()),
                ..RunSummary::default()
            },
        }
    }

    #[test]
    fn runs_stand_below_those_that_began_them() {
        let heads = [
            head("b-1-1", Some("b-1")),
            head("lost", Some("pruned")),
            head("a", None),
            head("b-2", Some("b")),
            head("ring-1", Some("ring-2")),
            head("b", None),
            head("b-1", Some("b")),
            head("ring-2", Some("ring-1")),
            head("own", Some("own")),
        ];
        let nested = nest(&heads.iter().collect::<Vec<_>>());
        let lines: Vec<String> = nested
            .iter()
            .map(|(head, depth)| listed_id(head, *depth))
            .collect();
        assert_eq!(
            lines,
            [
                "lost",
                "a",
                "b",
                "  b-2",
                "  b-1",
                "    b-1-1",
                "own",
                "ring-2",
                "  ring-1"
            ]
        );
    }
}
