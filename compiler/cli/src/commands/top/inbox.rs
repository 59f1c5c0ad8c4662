//! The inbox: the open requests of all runs, or of one, and the choice among them.

use ratatui_core::style::{Modifier, Style};
use ratatui_core::text::Line;
use statemark_runs::{RunError, RunId, Runs};

use super::list::one_line;
use super::pager::{Movement, window};
use crate::clock::format_length;
use crate::commands::run::requests::{OpenRequest, describe_kind, open_requests};
use crate::printer::Palette;
use crate::printer::screen::{columns_of, fill};

/// Most requests that are listed. Why: each is read with its run, and nobody decides more at a sitting.
const MAX_REQUESTS: usize = 200;

/// Most columns of a request's id.
const MAX_ID: usize = 30;

/// The open requests, and the choice among them.
#[derive(Default)]
pub(super) struct Inbox {
    workflow: Option<String>,
    requests: Vec<OpenRequest>,
    /// True if there are more than are listed.
    is_cut: bool,
    /// The request that is chosen, and its place.
    chosen: (Option<String>, usize),
    top: usize,
    height: usize,
}

impl Inbox {
    pub(super) fn new(workflow: Option<String>) -> Self {
        Self {
            workflow,
            ..Self::default()
        }
    }

    /// Reads the requests.
    pub(super) fn read(&mut self, runs: &Runs) -> Result<(), RunError> {
        let workflow = self.workflow.as_deref();
        self.requests = open_requests(runs, workflow, MAX_REQUESTS + 1)?;
        self.is_cut = self.requests.len() > MAX_REQUESTS;
        self.requests.truncate(MAX_REQUESTS);
        Ok(())
    }

    /// Returns the run and the id of the request that is chosen.
    pub(super) fn chosen_request(&self) -> Option<(RunId, String)> {
        let open = self.requests.get(self.find_chosen())?;
        Some((open.run.clone(), open.request.request.clone()))
    }

    /// Chooses another request.
    pub(super) fn choose(&mut self, movement: Movement) {
        let last = self.requests.len().saturating_sub(1);
        let at = movement.apply(self.find_chosen(), self.height, last);
        let chosen = self.requests.get(at);
        self.chosen = (chosen.map(|open| open.request.request.clone()), at);
    }

    /// Finds the place of the chosen request; where it is gone, that of the one that is there now.
    fn find_chosen(&self) -> usize {
        let (id, at) = &self.chosen;
        let is_chosen = |open: &OpenRequest| Some(&open.request.request) == id.as_ref();
        let place = self.requests.iter().position(is_chosen);
        place.unwrap_or((*at).min(self.requests.len().saturating_sub(1)))
    }

    /// Returns the rows that are to be seen.
    pub(super) fn draw(
        &mut self,
        (columns, height): (usize, usize),
        now: u64,
        palette: Palette,
    ) -> Vec<Line<'static>> {
        self.height = height;
        let at = self.find_chosen();
        self.top = window(self.top, at, height);
        let ids = self.requests.iter();
        let id = ids.map(|open| columns_of(&open.request.request)).max();
        let id = id.unwrap_or(0).min(MAX_ID).min(columns / 3);
        let shown = self.requests.iter().enumerate().skip(self.top);
        let lines = shown
            .take(height)
            .map(|(place, open)| draw_request(open, (columns, id), place == at, now, palette));
        let mut lines: Vec<Line<'static>> = lines.collect();
        if self.is_cut && lines.len() < height {
            let more = "and more: `statemark inbox` lists all";
            lines.push(one_line(&palette.dim(&fill(more, columns))));
        }
        lines
    }
}

fn draw_request(
    open: &OpenRequest,
    (columns, id): (usize, usize),
    is_chosen: bool,
    now: u64,
    palette: Palette,
) -> Line<'static> {
    let request = &open.request;
    let kind = describe_kind(request.kind);
    let ago = format_length(now.saturating_sub(open.time));
    let mark = if is_chosen { "> " } else { "  " };
    let head = format!("{kind}, {ago} ago: ");
    let used = columns_of(mark) + id + 2;
    let words = format!("{head}{}", request.prompt);
    let words = fill(&words, columns.saturating_sub(used));
    let id = palette.event(&fill(&request.request, id));
    let line = one_line(&format!("{mark}{id}  {words}"));
    if is_chosen {
        line.style(Style::new().add_modifier(Modifier::REVERSED))
    } else {
        line
    }
}
