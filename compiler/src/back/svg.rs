//! Drawings: SVG, laid out here, without a browser.
//!
//! A drawing is one text that needs nothing else: no font, no script, no request. It is the same for the same machine, on
//! every system.
//!
//! # What a page can rely on
//!
//! | element | what it has |
//! |---|---|
//! | `svg.statemark` | `data-machine`; colors are its custom properties `--sm-…`, light and dark by `prefers-color-scheme`, or by `data-theme="light"` or `"dark"` on it or around it |
//! | `g.state` | one for each state that is drawn: `id="state-ID"`, `data-state="ID"`, a `title`; also `compound`, `parallel`, `region`, `final`, `failure`, `history` |
//! | `g.transition` | one for each arrow, and for each transition that only acts: `id="transition-N"`, `data-transition="N …"`, `data-event="NAME …"`, `data-source`, `data-target`, a `title` |
//! | `g.initial` | the arrow to where something begins: `data-initial="ID"` of the state that it is in |
//! | `text.label` | the text of an arrow, in its group |
//!
//! `N` is the index of a transition in the machine, the table and the records of runs. An arrow that several transitions
//! share, which is the way to a diamond, has all of their indices (`[data-transition~="3"]`) and no `id`; of the arrows of one
//! transition, the first has the `id`. In ids, a `.` is written `--` and what else isn't a letter, a digit,
//! `_` or `-` as `-x` with its number in hexadecimal; [`Options::prefix`] precedes them all.
//!
//! The classes `active`, `visited` and `taken` light groups up. [`Overlay`] sets them; so may a page, later.
//!
//! Deliberately not here: other formats. The command line makes PNG and PDF of what is written here.

mod chart;
mod draw;
mod graph;
mod layout;
mod level;
mod measure;
mod order;
mod overlap;
mod place;
mod rank;
mod simplex;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use statemark_runtime::Table;

pub(crate) use self::chart::{Chart, ChartState, ChartTransition};
use self::graph::Graph;
use self::layout::Layout;
use crate::valid::Valid;

/// The colors of a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The colors of the reader's system, light or dark.
    #[default]
    Auto,
    /// Dark on light, as plain values: for programs that don't know custom properties.
    Light,
    /// Light on dark, as plain values.
    Dark,
}

/// The way of a run through a machine, for a drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    /// The ids of the states that are active.
    pub active: BTreeSet<String>,
    /// The ids of the states that were entered.
    pub visited: BTreeSet<String>,
    /// The transitions that were taken, by their index, and how often.
    pub taken: BTreeMap<usize, usize>,
    /// The notes in states, by id: visits, time.
    pub remarks: BTreeMap<String, String>,
}

/// Options of a drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The colors.
    pub theme: Theme,
    /// The start of all ids, so that several drawings may stand in one page.
    pub prefix: String,
    /// The states and transitions that are lit up.
    pub overlay: Overlay,
}

/// A machine that has too many arrows for a drawing, or too long ones.
///
/// Laying it out would take seconds and more, and nobody would find anything in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    machine: String,
    states: usize,
    arrows: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            machine,
            states,
            arrows,
        } = self;
        write!(
            out,
            "`{machine}` has {states} states and {arrows} arrows, which are too many for a drawing"
        )
    }
}

impl Error for TooLarge {}

impl TooLarge {
    /// Draws a page that says so, for where a drawing is wanted.
    #[must_use]
    pub fn draw(&self, options: &Options) -> String {
        draw::notice(&self.machine, &self.to_string(), options)
    }
}

/// Draws a machine.
///
/// ```
/// use statemark_compiler::{Options, back, compile, source::Sources};
///
/// let mut sources = Sources::new();
/// sources.add("door.mmd", "stateDiagram-v2\n[*] --> shut\nshut --> open : push\nopen --> shut : pull");
/// let compiled = compile(&sources, &Options::default());
/// let drawing = back::svg::write(&compiled.machines[0], &back::svg::Options::default())?;
/// assert!(drawing.starts_with("<svg ") && drawing.contains("id=\"state-shut\""));
/// # Ok::<(), back::svg::TooLarge>(())
/// ```
///
/// # Errors
///
/// [`TooLarge`].
pub fn write(valid: &Valid, options: &Options) -> Result<String, TooLarge> {
    write_chart(&Chart::of_machine(valid), options)
}

/// Draws the machine of a table, which has no notes and no direction.
///
/// # Errors
///
/// [`TooLarge`].
pub fn write_table(table: &Table, options: &Options) -> Result<String, TooLarge> {
    write_chart(&Chart::of_table(table), options)
}

/// Lists the labels, boxes, titles and notes that overlap, in words.
///
/// The list is always empty, which tests hold.
#[doc(hidden)]
#[must_use]
pub fn overlaps(valid: &Valid) -> Vec<String> {
    let chart = Chart::of_machine(valid);
    let graph = Graph::new(&chart, &Overlay::default());
    Layout::new(&graph).map_or_else(Vec::new, |layout| overlap::find(&graph, &layout))
}

/// Draws a chart.
fn write_chart(chart: &Chart, options: &Options) -> Result<String, TooLarge> {
    let graph = Graph::new(chart, &options.overlay);
    match Layout::new(&graph) {
        Some(layout) => Ok(draw::draw(&graph, &layout, options)),
        None => Err(TooLarge {
            machine: chart.id.clone(),
            states: chart.states.len(),
            arrows: graph.edges.len(),
        }),
    }
}
