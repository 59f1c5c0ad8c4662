//! The drawing as boxes and arrows, with the sizes of their texts: what is laid out.
//!
//! Pseudo-states stand here again: dots where something begins, a diamond where one event leads to several places by its
//! guards, a bar where one transition enters several regions.
#![expect(
    clippy::indexing_slicing,
    reason = "parents, children and ends are indices that `add` has returned; those of a chart are its own"
)]

use std::collections::BTreeMap;

use super::Overlay;
use super::chart::{Chart, ChartTransition};
use super::measure::Font;
use crate::ir::{Direction, StateKind};

/// The names of states.
pub(super) const NAME: Font = Font {
    size: 135,
    bold: true,
};
/// The names of states with substates.
pub(super) const TITLE: Font = Font {
    size: 125,
    bold: true,
};
/// Ids below titles, actions, and what a run says of a state.
pub(super) const SMALL: Font = Font {
    size: 110,
    bold: false,
};
/// The labels of transitions.
pub(super) const LABEL: Font = Font {
    size: 120,
    bold: false,
};

/// Widest lines.
///
/// Unit: pixels. Why: a picture of narrow columns is read more easily than one of wide boxes.
const STATE_WIDTH: i64 = 210;
const LABEL_WIDTH: i64 = 190;
const NOTE_WIDTH: i64 = 180;

/// Most lines of a text. Why: a whole paragraph is in the tooltip.
const MOST_LINES: usize = 7;

/// A box, a dot, or a state with substates.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// The state that it shows.
    pub(super) state: Option<usize>,
    pub(super) parent: usize,
    pub(super) children: Vec<usize>,
    pub(super) lines: Vec<Line>,
    /// The size without loops and notes; of a composite, what its title takes.
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) loops: Vec<usize>,
    pub(super) notes: Vec<Note>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Root,
    State,
    Final,
    Compound,
    Parallel,
    /// A part of a parallel state; it has no border of its own.
    Region,
    Initial,
    End,
    History,
    DeepHistory,
    Choice,
    Fork,
    /// The start of transitions that every state has.
    Any,
}

/// A line of text in a box.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) font: Font,
    pub(super) class: &'static str,
    /// The transition that acts and doesn't leave the state.
    pub(super) transition: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) left: bool,
    pub(super) lines: Vec<String>,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// An arrow.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Vec<String>,
    pub(super) width: i64,
    pub(super) height: i64,
    /// The transitions that it is a part of; none for the arrows of initial states and histories.
    pub(super) transitions: Vec<usize>,
    /// True if it has a head.
    pub(super) head: bool,
}

/// The drawing of a machine, before it is laid out.
#[derive(Clone, Debug)]
pub(super) struct Graph<'c> {
    pub(super) chart: &'c Chart,
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    pub(super) direction: Direction,
}

impl NodeKind {
    pub(super) const fn is_composite(self) -> bool {
        matches!(
            self,
            Self::Root | Self::Compound | Self::Parallel | Self::Region
        )
    }
}

impl<'c> Graph<'c> {
    /// Makes the boxes and arrows of a machine, with what an overlay says of its states.
    pub(super) fn new(chart: &'c Chart, overlay: &Overlay) -> Self {
        let mut graph = Self {
            chart,
            nodes: Vec::new(),
            edges: Vec::new(),
            direction: chart.direction.unwrap_or(Direction::TopBottom),
        };
        let mut of_state = Vec::with_capacity(chart.states.len());
        for index in 0..chart.states.len() {
            of_state.push(graph.add_state(index, &of_state, overlay));
        }
        for note in &chart.notes {
            if let Some(&node) = of_state.get(note.state) {
                graph.add_note(node, note.left, &note.text);
            }
        }
        for (index, state) in chart.states.iter().enumerate() {
            if let Some((targets, actions)) = &state.initial {
                graph.add_initial(of_state[index], targets, actions, &of_state);
            }
        }
        graph.add_transitions(&of_state);
        graph.sort();
        graph
    }

    fn add(&mut self, kind: NodeKind, parent: usize, state: Option<usize>) -> usize {
        let (width, height) = match kind {
            NodeKind::Initial => (14, 14),
            NodeKind::End => (20, 20),
            NodeKind::History | NodeKind::DeepHistory => (26, 26),
            NodeKind::Choice => (26, 26),
            NodeKind::Fork => (74, 6),
            _ => (0, 0),
        };
        let index = self.nodes.len();
        self.nodes.push(Node {
            kind,
            state,
            parent,
            children: Vec::new(),
            lines: Vec::new(),
            width,
            height,
            loops: Vec::new(),
            notes: Vec::new(),
        });
        if kind != NodeKind::Root {
            self.nodes[parent].children.push(index);
        }
        index
    }

    fn add_state(&mut self, index: usize, of_state: &[usize], overlay: &Overlay) -> usize {
        let state = &self.chart.states[index];
        let parent = state
            .parent
            .and_then(|it| of_state.get(it))
            .copied()
            .unwrap_or(0);
        let in_parallel = index > 0 && self.nodes[parent].kind == NodeKind::Parallel;
        let kind = match state.kind {
            _ if index == 0 => NodeKind::Root,
            StateKind::History => NodeKind::History,
            StateKind::DeepHistory => NodeKind::DeepHistory,
            StateKind::Final if state.implied => NodeKind::End,
            StateKind::Compound if in_parallel => NodeKind::Region,
            StateKind::Compound if !state.children.is_empty() => NodeKind::Compound,
            StateKind::Parallel if !state.children.is_empty() => NodeKind::Parallel,
            StateKind::Final => NodeKind::Final,
            _ => NodeKind::State,
        };
        let node = self.add(kind, parent, Some(index));
        let mut lines = Vec::new();
        let named = matches!(
            kind,
            NodeKind::State | NodeKind::Final | NodeKind::Compound | NodeKind::Parallel
        ) || kind == NodeKind::Region && !state.implied;
        if named {
            let font = if kind.is_composite() { TITLE } else { NAME };
            let title = state
                .title
                .as_deref()
                .map(str::trim)
                .filter(|it| !it.is_empty());
            let name = title.unwrap_or(&state.id);
            push_lines(&mut lines, name, font, STATE_WIDTH, "name", None);
            if title.is_some_and(|title| title != state.id) {
                push_lines(&mut lines, &state.id, SMALL, STATE_WIDTH, "id", None);
            }
        }
        if let Some(remark) = overlay.remarks.get(&state.id).filter(|_| named) {
            push_lines(&mut lines, remark, SMALL, STATE_WIDTH, "remark", None);
        }
        if kind != NodeKind::Root {
            for (word, actions) in [("entry", &state.entry), ("exit", &state.exit)] {
                if !actions.is_empty() {
                    let text = format!("{word} / {actions}");
                    push_lines(&mut lines, &text, SMALL, STATE_WIDTH, "action", None);
                }
            }
        }
        self.nodes[node].lines = lines;
        node
    }

    fn add_note(&mut self, node: usize, left: bool, text: &str) {
        let lines = capped(LABEL.wrap(text, NOTE_WIDTH));
        let width = widest(&lines, LABEL) + 20;
        let height = rows(lines.len()) * LABEL.line_height() + 14;
        self.nodes[node].notes.push(Note {
            left,
            lines,
            width,
            height,
        });
    }

    fn add_initial(&mut self, node: usize, targets: &[usize], actions: &str, of_state: &[usize]) {
        let targets: Vec<usize> = targets
            .iter()
            .filter_map(|&it| of_state.get(it).copied())
            .collect();
        let mut label = Vec::new();
        if !actions.is_empty() {
            label.push(format!("/ {actions}"));
        }
        let kind = self.nodes[node].kind;
        let from = match kind {
            NodeKind::History | NodeKind::DeepHistory => node,
            // All regions are entered, whatever comes first.
            NodeKind::Parallel => return,
            _ if !kind.is_composite() => return,
            _ => self.add(NodeKind::Initial, node, None),
        };
        self.lead(from, &targets, &label, &[]);
    }

    /// Adds an arrow, by a bar if it leads to several places.
    fn lead(&mut self, from: usize, targets: &[usize], label: &[String], transitions: &[usize]) {
        match *targets {
            [] => {}
            [target] => self.add_edge(from, target, label, transitions, true),
            _ => {
                let bar = self.add(NodeKind::Fork, self.enclosing(from), None);
                self.add_edge(from, bar, label, transitions, false);
                for &target in targets {
                    self.add_edge(bar, target, &[], transitions, true);
                }
            }
        }
    }

    /// Returns the composite in which a pseudo-state belongs that something leads to.
    fn enclosing(&self, node: usize) -> usize {
        let mut parent = if node == 0 {
            0
        } else {
            self.nodes[node].parent
        };
        while self.nodes[parent].kind == NodeKind::Parallel {
            parent = self.nodes[parent].parent;
        }
        parent
    }

    fn add_edge(
        &mut self,
        from: usize,
        to: usize,
        parts: &[String],
        transitions: &[usize],
        head: bool,
    ) {
        let label = wrap_label(parts);
        let width = if label.is_empty() {
            0
        } else {
            widest(&label, LABEL) + 8
        };
        let height = match label.len() {
            0 => 0,
            count => rows(count) * LABEL.line_height() + 4,
        };
        let index = self.edges.len();
        self.edges.push(Edge {
            from,
            to,
            label,
            width,
            height,
            transitions: transitions.to_vec(),
            head,
        });
        if from == to {
            self.nodes[from].loops.push(index);
        }
    }

    fn add_transitions(&mut self, of_state: &[usize]) {
        let chart = self.chart;
        let mut any = None;
        let mut taken = vec![false; chart.transitions.len()];
        let groups = groups(chart);
        for (index, transition) in chart.transitions.iter().enumerate() {
            if transition.hidden || std::mem::replace(&mut taken[index], true) {
                continue;
            }
            let Some(&source) = of_state.get(transition.source) else {
                continue;
            };
            let to = |transition: &ChartTransition| -> Vec<usize> {
                transition
                    .targets
                    .iter()
                    .filter_map(|&it| of_state.get(it).copied())
                    .collect()
            };
            let targets = to(transition);
            let from = match self.nodes[source].kind {
                NodeKind::Root => *any.get_or_insert_with(|| self.add_any()),
                _ => source,
            };
            if targets.is_empty() {
                let mut label = transition.label();
                if label.is_empty() {
                    // It has no event of its own, acts on nothing, and is a transition all the same.
                    "done".clone_into(&mut label);
                }
                push_lines(
                    &mut self.nodes[from].lines,
                    &label,
                    SMALL,
                    STATE_WIDTH,
                    "action",
                    Some(index),
                );
                continue;
            }
            match groups.get(&index) {
                Some(branches) => {
                    let choice = self.add(NodeKind::Choice, self.enclosing(from), None);
                    let trunk = vec![transition.trigger.clone()];
                    self.add_edge(from, choice, &trunk, branches, false);
                    for &branch in branches {
                        taken[branch] = true;
                        let it = &chart.transitions[branch];
                        let mut parts = it.branch_parts();
                        if it.guard.is_none() && !it.is_else {
                            parts.insert(0, "[else]".to_owned());
                        }
                        self.lead(choice, &to(it), &parts, &[branch]);
                    }
                }
                None => self.lead(from, &targets, &transition.parts(), &[index]),
            }
        }
    }

    fn add_any(&mut self) -> usize {
        let any = self.add(NodeKind::Any, 0, None);
        push_lines(
            &mut self.nodes[any].lines,
            "in every state",
            SMALL,
            STATE_WIDTH,
            "name",
            None,
        );
        any
    }

    /// Computes sizes, and puts pseudo-states where they are looked for: first what begins, last what ends.
    fn sort(&mut self) {
        for index in 0..self.nodes.len() {
            let kinds: Vec<NodeKind> = self.nodes.iter().map(|it| it.kind).collect();
            self.nodes[index]
                .children
                .sort_by_key(|&child| match kinds[child] {
                    NodeKind::Initial => 0,
                    NodeKind::End => 2,
                    _ => 1,
                });
            self.measure(index);
        }
    }

    fn measure(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        let width = node
            .lines
            .iter()
            .map(|line| line.font.width(&line.text))
            .max()
            .unwrap_or(0);
        let heights: i64 = node.lines.iter().map(|line| line.font.line_height()).sum();
        match node.kind {
            NodeKind::State | NodeKind::Final => {
                let has_actions = node.lines.iter().any(|line| line.class == "action");
                node.width = (width + 30).max(58);
                node.height = heights + if has_actions { 24 } else { 18 };
            }
            NodeKind::Any => {
                node.width = width + 24;
                node.height = heights + 12;
            }
            kind if kind.is_composite() && !node.lines.is_empty() => {
                node.width = width + 24;
                node.height = heights + 12;
            }
            _ => {}
        }
    }
}

/// Returns the transitions that a diamond stands for, by the first of each.
///
/// They are on one event of one state, each leads somewhere, and all but the last have guards.
fn groups(chart: &Chart) -> BTreeMap<usize, Vec<usize>> {
    let mut by_event: BTreeMap<(usize, &[String]), Vec<usize>> = BTreeMap::new();
    for (index, transition) in chart.transitions.iter().enumerate() {
        if !transition.hidden && !transition.events.is_empty() && !transition.targets.is_empty() {
            let key = (transition.source, transition.events.as_slice());
            by_event.entry(key).or_default().push(index);
        }
    }
    let mut groups = BTreeMap::new();
    for branches in by_event.into_values() {
        let unguarded = branches
            .iter()
            .filter(|&&it| chart.transitions[it].guard.is_none())
            .count();
        if let (Some(&first), true) = (branches.first(), branches.len() > 1 && unguarded <= 1) {
            groups.insert(first, branches);
        }
    }
    groups
}

/// Breaks a label into lines: one if it is short, else one for each part, broken where it is long.
fn wrap_label(parts: &[String]) -> Vec<String> {
    let whole = parts.join(" ");
    if LABEL.width(&whole) <= LABEL_WIDTH {
        return LABEL.wrap(&whole, LABEL_WIDTH);
    }
    capped(
        parts
            .iter()
            .flat_map(|part| LABEL.wrap(part, LABEL_WIDTH))
            .collect(),
    )
}

fn capped(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        if let Some(last) = lines.last_mut() {
            last.push('…');
        }
    }
    lines
}

fn push_lines(
    lines: &mut Vec<Line>,
    text: &str,
    font: Font,
    width: i64,
    class: &'static str,
    transition: Option<usize>,
) {
    let wrapped = capped(font.wrap(text, width));
    lines.extend(wrapped.into_iter().map(|text| Line {
        text,
        font,
        class,
        transition,
    }));
}

fn widest(lines: &[String], font: Font) -> i64 {
    lines.iter().map(|line| font.width(line)).max().unwrap_or(0)
}

/// Returns a number of lines as a number of pixels is computed with.
pub(super) fn rows(count: usize) -> i64 {
    // INVARIANT: texts are capped at a few lines.
    i64::try_from(count).unwrap_or(0)
}
