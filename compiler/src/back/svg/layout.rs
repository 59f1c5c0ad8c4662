//! Places of everything: levels inside out, then from the outermost to absolute coordinates.
//!
//! The children of a composite are a level of their own. A link that crosses its border ends there in a point, on the side
//! that the layers of the level around it demand; so layers are computed from the outside in, and coordinates from the
//! inside out. The regions of a parallel state stand beside each other, and links pass through its border as they are.
#![expect(
    clippy::indexing_slicing,
    reason = "nodes and edges are those of one graph, and cells those of one level"
)]

mod draft;

use super::graph::{Graph, Node, NodeKind, rows};
use super::level::{Cell, Link, Pin, Placed, Shape, Stop, count_pieces, lay_out, rank};
use crate::ir::Direction;
use draft::LevelDraft;

/// Most arrows of a drawing.
/// Why: nobody sees one among ten thousand, and their layers are found in seconds.
const MAX_ARROWS: usize = 10_000;

/// Most pieces of arrows, from layer to layer.
/// Why: they take half a second to place; a chain of 4,000 states has 8,000.
const MAX_PIECES: u64 = 100_000;

/// Space between a border and what is inside. Unit: pixels.
const PAD: i64 = 16;

/// Space around the drawing. Unit: pixels.
const MARGIN: i64 = 14;

/// The distance of a loop from its box. Unit: pixels.
pub(super) const LOOP: i64 = 26;

/// Space between a box and its note. Unit: pixels.
const NOTE_GAP: i64 = 20;

/// Room that each of many links takes at a box. Unit: pixels. Why: heads of arrows are 8 wide.
const CROWD: i64 = 11;

/// Distance of links in the channel below regions. Unit: pixels.
const TRACK: i64 = 14;

/// A rectangle on the page. Unit: pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rect {
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// A drawing in which everything has its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) width: i64,
    pub(super) height: i64,
    /// The box of each node.
    pub(super) boxes: Vec<Rect>,
    /// The way of each edge, on the axes of levels; empty for loops.
    pub(super) routes: Vec<Vec<Stop>>,
    /// The label of each edge that has one.
    pub(super) labels: Vec<Option<Rect>>,
    /// The middle of each loop at its box, on the axes of levels.
    pub(super) loops: Vec<Option<(i64, i64)>>,
    /// The notes of each node.
    pub(super) notes: Vec<Vec<Rect>>,
    /// The distance of each composite's title from its left side.
    pub(super) titles: Vec<i64>,
    /// The lines between regions.
    pub(super) dividers: Vec<Rect>,
    axes: Axes,
}

/// The directions of the axes of levels on the page.
#[derive(Clone, Copy, Debug, Default)]
struct Axes {
    /// True if links lead to the side.
    sideways: bool,
    /// True if links lead up, or to the left.
    backward: bool,
    /// The extent along the rank axis.
    extent: i64,
}

impl Axes {
    const fn size(self, width: i64, height: i64) -> (i64, i64) {
        if self.sideways {
            (height, width)
        } else {
            (width, height)
        }
    }

    const fn point(self, cross: i64, rank: i64) -> (i64, i64) {
        let rank = if self.backward {
            self.extent - rank
        } else {
            rank
        };
        if self.sideways {
            (rank, cross)
        } else {
            (cross, rank)
        }
    }

    fn rect(self, cross: (i64, i64), rank: (i64, i64)) -> Rect {
        let (x, y) = self.point(cross.0, rank.0);
        let (right, bottom) = self.point(cross.1, rank.1);
        Rect {
            x: x.min(right),
            y: y.min(bottom),
            width: (right - x).abs(),
            height: (bottom - y).abs(),
        }
    }
}

impl Layout {
    /// Lays out a graph; none that has too many arrows, or too long ones.
    pub(super) fn new(graph: &Graph<'_>) -> Option<Self> {
        if graph.edges.len() > MAX_ARROWS {
            return None;
        }
        let mut engine = Engine::new(graph);
        let size = engine.scope(0, &[]);
        engine.room?;
        Some(engine.finish(&size))
    }

    /// Returns a point of the axes of levels on the page.
    pub(super) const fn point(&self, cross: i64, rank: i64) -> (i64, i64) {
        self.axes.point(cross, rank)
    }
}

/// A link that crosses the border of a composite.
#[derive(Clone, Copy, Debug)]
struct Port {
    edge: usize,
    /// True on the side where links end.
    after: bool,
    /// True if the source is inside.
    outward: bool,
    /// True if the label stands inside.
    label: bool,
}

/// The extents of a box from its center.
///
/// Left and right are on the cross axis, before and after on the rank axis.
#[derive(Clone, Copy, Debug, Default)]
struct Extents {
    left: i64,
    right: i64,
    before: i64,
    after: i64,
}

impl Extents {
    const fn centered(cross: i64, rank: i64) -> Self {
        Self {
            left: cross / 2,
            right: cross - cross / 2,
            before: rank / 2,
            after: rank - rank / 2,
        }
    }
}

/// A composite that is laid out: its size, and where its ports are.
#[derive(Clone, Debug, Default)]
struct Sized {
    extents: Extents,
    ports: Vec<i64>,
}

/// A part of a link, inside of one composite.
struct Piece {
    /// The position among the parts.
    ///
    /// Inner ones of the source come first, then the one that encloses both, then those of the target.
    key: i64,
    scope: usize,
    stops: Vec<Stop>,
}

struct Engine<'g> {
    graph: &'g Graph<'g>,
    axes: Axes,
    depth: Vec<i64>,
    /// The links beyond the first at each node, on the side that has more.
    crowd: Vec<i64>,
    /// The edges whose both ends are in a composite, but not in one of its children.
    inside: Vec<Vec<usize>>,
    /// The middle of each composite's box, in its own coordinates.
    middle: Vec<(i64, i64)>,
    /// The center of each node in its parent's coordinates, and its own box.
    center: Vec<(i64, i64)>,
    extents: Vec<Extents>,
    pieces: Vec<Vec<Piece>>,
    /// The borders of regions: the composite, and in its coordinates position and range.
    dividers: Vec<(usize, i64, (i64, i64))>,
    /// The distance of each title from the left.
    titles: Vec<i64>,
    /// The pieces of arrows that there may be yet; `None` once there were more.
    room: Option<u64>,
}

impl<'g> Engine<'g> {
    fn new(graph: &'g Graph<'g>) -> Self {
        let count = graph.nodes.len();
        let mut depth = vec![0; count];
        for (index, node) in graph.nodes.iter().enumerate().skip(1) {
            // INVARIANT: a composite is added before what is inside.
            depth[index] = depth[node.parent] + 1;
        }
        let mut engine = Self {
            graph,
            axes: Axes {
                sideways: matches!(graph.direction, Direction::LeftRight | Direction::RightLeft),
                backward: matches!(graph.direction, Direction::BottomTop | Direction::RightLeft),
                extent: 0,
            },
            depth,
            crowd: crowds(graph),
            inside: vec![Vec::new(); count],
            middle: vec![(0, 0); count],
            center: vec![(0, 0); count],
            extents: vec![Extents::default(); count],
            pieces: graph.edges.iter().map(|_| Vec::new()).collect(),
            dividers: Vec::new(),
            titles: vec![12; count],
            room: Some(MAX_PIECES),
        };
        for (index, edge) in graph.edges.iter().enumerate() {
            if edge.from != edge.to {
                let scope = engine.scope_of(edge.from, edge.to);
                engine.inside[scope].push(index);
            }
        }
        engine
    }

    /// Returns the innermost composite in which both nodes are; it may be one of them.
    fn scope_of(&self, one: usize, other: usize) -> usize {
        let (mut one, mut other) = (one, other);
        while one != other {
            if self.depth[one] >= self.depth[other] {
                one = self.graph.nodes[one].parent;
            } else {
                other = self.graph.nodes[other].parent;
            }
        }
        one
    }

    /// Returns the child of a composite that a node is in.
    fn child_of(&self, scope: usize, node: usize) -> usize {
        let mut node = node;
        while node != 0 && self.graph.nodes[node].parent != scope {
            node = self.graph.nodes[node].parent;
        }
        node
    }

    fn end(&self, port: &Port) -> usize {
        let edge = &self.graph.edges[port.edge];
        if port.outward { edge.from } else { edge.to }
    }

    /// Returns the extents of a label on the axes of levels, if the edge has one.
    fn label(&self, edge: usize) -> Option<(i64, i64)> {
        let edge = &self.graph.edges[edge];
        (!edge.label.is_empty()).then(|| self.axes.size(edge.width, edge.height))
    }

    /// Lays out what is in a composite.
    fn scope(&mut self, scope: usize, ports: &[Port]) -> Sized {
        match self.graph.nodes[scope].kind {
            NodeKind::Parallel => self.regions(scope, ports),
            _ => self.level(scope, ports),
        }
    }

    fn level(&mut self, scope: usize, ports: &[Port]) -> Sized {
        let graph = self.graph;
        let node = &graph.nodes[scope];
        let mut draft = LevelDraft::new(self, scope, ports);
        draft.add_title(node, self.axes);
        draft.keep_together(self.axes.sideways);
        let ranks = rank(&draft.cells, &draft.links, &draft.beginning(node, graph));
        let pieces = count_pieces(&draft.links, &ranks);
        self.room = self.room.and_then(|room| room.checked_sub(pieces));
        if self.room.is_none() {
            return Sized {
                extents: Extents::default(),
                ports: vec![0; ports.len()],
            };
        }
        let wanted = draft.child_ports(self, scope, &ranks);
        for (place, &child) in node.children.iter().enumerate() {
            let (cell, offsets) = self.cell(child, wanted.get(place).map_or(&[][..], |it| it));
            draft.cells[place] = cell;
            let ends = wanted.get(place).into_iter().flatten().zip(offsets);
            for (port, offset) in ends {
                draft.attach(port, offset);
            }
        }
        let placed = lay_out(&draft.cells, &draft.links, &ranks);
        for (place, &child) in node.children.iter().enumerate() {
            self.center[child] = placed.centers[place];
        }
        self.close(scope, ports, &draft, placed)
    }

    /// Puts a border around a level, and its links into the links of the drawing.
    fn close(&mut self, scope: usize, ports: &[Port], draft: &LevelDraft, placed: Placed) -> Sized {
        let node = &self.graph.nodes[scope];
        let has = |pin: Pin| draft.cells.iter().any(|cell| cell.pin == pin);
        let has_title_cell = draft
            .cells
            .iter()
            .any(|cell| matches!(cell.pin, Pin::Title { .. }));
        let pad = if scope == 0 { MARGIN } else { PAD };
        let (mut cross, mut rank) = (placed.cross, placed.rank);
        cross = (cross.0 - pad, cross.1 + pad);
        // A level whose first layer is on the border needs no space to it.
        rank.0 -= if has(Pin::Before) { 0 } else { pad };
        rank.1 += if has(Pin::After) { 0 } else { pad };
        if !node.lines.is_empty() && scope != 0 {
            let title = node.height - if has_title_cell { node.height } else { 6 };
            match (self.axes.sideways, self.axes.backward) {
                (true, _) => cross.0 -= node.height - 6,
                (false, false) => rank.0 -= title,
                (false, true) => rank.1 += title,
            }
            let side = if self.axes.sideways {
                &mut rank
            } else {
                &mut cross
            };
            // What is inside stands in the middle, below a wide title, too.
            let lack = (node.width - (side.1 - side.0)).max(0);
            *side = (side.0 - lack / 2, side.1 + lack - lack / 2);
        }
        // Loops at the border need their room.
        let room = self.loops_extent(node);
        rank.1 = rank.1.max(rank.0 + room);
        let middle = (
            (cross.0 + cross.1).div_euclid(2),
            (rank.0 + rank.1).div_euclid(2),
        );
        self.middle[scope] = middle;
        for (link, (&edge, mut stops)) in draft.edges.iter().zip(placed.routes).enumerate() {
            let Some(edge) = edge else { continue };
            let key = draft.keys[link];
            let pins = (
                draft.cells[draft.links[link].from].pin,
                draft.cells[draft.links[link].to].pin,
            );
            let border = |pin: Pin| match pin {
                Pin::Before => Some(rank.0),
                Pin::After => Some(rank.1),
                _ => None,
            };
            if let (Some(border), Some(first)) = (border(pins.0), stops.first_mut()) {
                first.begin = border;
            }
            if let (Some(border), Some(last)) = (border(pins.1), stops.last_mut()) {
                last.end = border;
            }
            self.pieces[edge].push(Piece { key, scope, stops });
        }
        Sized {
            extents: Extents {
                left: middle.0 - cross.0,
                right: cross.1 - middle.0,
                before: middle.1 - rank.0,
                after: rank.1 - middle.1,
            },
            ports: (0..ports.len())
                .map(|port| placed.centers[node.children.len() + port].0 - middle.0)
                .collect(),
        }
    }

    /// Returns the room that a node's loops need along its border.
    fn loops_extent(&self, node: &Node) -> i64 {
        let slots = node.loops.iter().map(|&edge| self.slot(edge));
        match slots.sum::<i64>() {
            0 => 0,
            room => room + 10,
        }
    }

    /// Returns the room that a loop needs along the border.
    fn slot(&self, edge: usize) -> i64 {
        self.label(edge).map_or(28, |label| label.1.max(22) + 6)
    }

    /// Returns the cell of a node: its box, its loops and its notes. A composite is laid out for that.
    fn cell(&mut self, index: usize, ports: &[Port]) -> (Cell, Vec<i64>) {
        let node = &self.graph.nodes[index];
        let (sized, is_composite) = if node.kind.is_composite() {
            (self.scope(index, ports), true)
        } else {
            let (cross, rank) = self.axes.size(node.width, node.height);
            let rank = rank.max(self.loops_extent(node));
            let crowd = self.crowd.get(index).copied().unwrap_or(0);
            let cross = match node.kind {
                NodeKind::State | NodeKind::Final => cross.max(crowd * CROWD + 24),
                _ => cross,
            };
            let extents = Extents::centered(cross, rank);
            (
                Sized {
                    extents,
                    ports: Vec::new(),
                },
                false,
            )
        };
        let extents = sized.extents;
        self.extents[index] = extents;
        let mut cell = Cell {
            pin: Pin::Free,
            left: extents.left,
            right: extents.right,
            before: extents.before,
            after: extents.after,
            rim: (extents.before, extents.after),
            reach: match node.kind {
                NodeKind::Choice => 8,
                NodeKind::Initial | NodeKind::End => 0,
                NodeKind::History | NodeKind::DeepHistory => 0,
                NodeKind::Fork => extents.left - 5,
                _ if is_composite => extents.left.min(extents.right) - 14,
                _ => extents.left - 12,
            },
            shape: match node.kind {
                NodeKind::Choice => Shape::Diamond,
                _ => Shape::Box,
            },
        };
        cell.reach = cell.reach.max(0);
        let widest = node
            .loops
            .iter()
            .map(|&it| self.label(it).map_or(0, |label| label.0))
            .max();
        if let Some(widest) = widest {
            cell.right += LOOP + widest;
        }
        for left in [true, false] {
            let notes = node.notes.iter().filter(|note| note.left == left);
            let sizes = notes.map(|note| self.axes.size(note.width, note.height));
            let (mut cross, mut rank) = (0, 0);
            for size in sizes {
                cross = size.0.max(cross);
                rank += size.1 + 8;
            }
            if rank > 0 {
                let side = if left {
                    &mut cell.left
                } else {
                    &mut cell.right
                };
                *side += NOTE_GAP + cross;
                cell.before = cell.before.max(rank / 2);
                cell.after = cell.after.max(rank - rank / 2);
            }
        }
        (cell, sized.ports)
    }

    /// Lays out the regions of a parallel state beside each other.
    fn regions(&mut self, scope: usize, ports: &[Port]) -> Sized {
        let graph = self.graph;
        let node = &graph.nodes[scope];
        let own = self.inside[scope].clone();
        // The ports of the state, then those of links between its regions, and to and from itself.
        let mut all: Vec<(Port, Option<usize>)> = ports
            .iter()
            .enumerate()
            .map(|(index, port)| (*port, Some(index)))
            .collect();
        for &edge in &own {
            let it = &graph.edges[edge];
            // Whether it is at the end of a region, leads out of one, and carries the label.
            let kinds: &[(bool, bool, bool)] = if it.from == scope {
                &[(false, false, true)]
            } else if it.to == scope {
                &[(true, true, true)]
            } else {
                &[(true, true, true), (true, false, false)]
            };
            all.extend(kinds.iter().map(|&(after, outward, label)| {
                let port = Port {
                    edge,
                    after,
                    outward,
                    label,
                };
                (port, None)
            }));
        }
        let mut places = vec![0; all.len()];
        let mut borders = vec![(0, 0); all.len()];
        let mut edge_of_last = 0;
        let mut height = 0;
        let mut seams = Vec::new();
        for (place, &child) in node.children.iter().enumerate() {
            let through: Vec<usize> = (0..all.len())
                .filter(|&it| self.child_of(scope, self.end(&all[it].0)) == child)
                .collect();
            let inner: Vec<Port> = through
                .iter()
                .map(|&it| all[it].0)
                .filter(|port| self.end(port) != child)
                .collect();
            let (cell, mut offsets) = self.cell(child, &inner);
            let is_region = graph.nodes[child].kind == NodeKind::Region;
            let space = if is_region { 0 } else { 14 };
            if place > 0 {
                seams.push(edge_of_last);
            }
            let center = edge_of_last + space + cell.left;
            edge_of_last = center + cell.right + space;
            self.center[child] = (center, space + cell.before);
            height = height.max(2 * space + cell.before + cell.after);
            offsets.reverse();
            let box_of = self.extents[child];
            let middle = space + cell.before;
            for it in through {
                let is_inner = self.end(&all[it].0) != child;
                let offset = if is_inner {
                    offsets.pop().unwrap_or(0)
                } else {
                    0
                };
                places[it] = center + offset;
                borders[it] = match is_inner || !is_region {
                    true => (middle - box_of.before, middle + box_of.after),
                    // A region has no border, so what leads to it ends at that around all of them.
                    false => (i64::MIN, i64::MAX),
                };
            }
        }
        let crossing: Vec<usize> = own
            .iter()
            .copied()
            .filter(|&edge| graph.edges[edge].from != scope && graph.edges[edge].to != scope)
            .collect();
        let channel = if crossing.is_empty() {
            0
        } else {
            rows(crossing.len() + 1) * TRACK
        };
        let (mut cross, mut rank) = ((0, edge_of_last.max(40)), (0, height.max(20) + channel));
        let regions_end = height.max(20);
        if !node.lines.is_empty() {
            match (self.axes.sideways, self.axes.backward) {
                (true, _) => cross.0 -= node.height,
                (false, false) => rank.0 -= node.height,
                (false, true) => rank.1 += node.height,
            }
            let side = if self.axes.sideways {
                &mut rank
            } else {
                &mut cross
            };
            side.1 = side.1.max(side.0 + node.width);
        }
        rank.1 = rank.1.max(rank.0 + self.loops_extent(node));
        let middle = (
            (cross.0 + cross.1).div_euclid(2),
            (rank.0 + rank.1).div_euclid(2),
        );
        self.middle[scope] = middle;
        let in_title = (0..all.len()).filter(|&it| all[it].0.after == self.axes.backward);
        let mut crossed: Vec<i64> = in_title.map(|it| places[it] - cross.0).collect();
        crossed.sort_unstable();
        if !self.axes.sideways {
            // The title stands where no link runs through it.
            let width = node.width - 24;
            let mut at = 12;
            for link in crossed {
                if (at - 6..at + width + 6).contains(&link) {
                    at = link + 8;
                }
            }
            self.titles[scope] = at;
            cross.1 = cross.1.max(cross.0 + at + width + 12);
        }
        let middle = ((cross.0 + cross.1).div_euclid(2), middle.1);
        self.middle[scope] = middle;
        for seam in seams {
            self.dividers.push((scope, seam, (0, regions_end)));
        }
        for (index, (port, outer)) in all.iter().enumerate() {
            let is_crossing = outer.is_none() && crossing.contains(&port.edge);
            if is_crossing {
                continue;
            }
            let (begin, end) = match port.after {
                true => (borders[index].1.min(rank.1), rank.1),
                false => (rank.0, borders[index].0.max(rank.0)),
            };
            let stop = Stop {
                cross: places[index],
                begin,
                end,
                label: false,
            };
            let stop = match port.after == port.outward {
                true => stop,
                false => Stop {
                    begin: end,
                    end: begin,
                    ..stop
                },
            };
            let sign = if port.outward { -1 } else { 1 };
            let key = if outer.is_some() {
                sign * self.depth[scope]
            } else {
                0
            };
            self.pieces[port.edge].push(Piece {
                key,
                scope,
                stops: vec![stop],
            });
        }
        for (track, &edge) in crossing.iter().enumerate() {
            let at = regions_end + rows(track + 1) * TRACK;
            let mut stops = Vec::new();
            for (index, (port, _)) in all
                .iter()
                .enumerate()
                .filter(|(_, it)| it.0.edge == edge && it.1.is_none())
            {
                let border = borders[index].1.min(regions_end);
                let (begin, end) = if port.outward {
                    (border, at)
                } else {
                    (at, border)
                };
                stops.push(Stop {
                    cross: places[index],
                    begin,
                    end,
                    label: false,
                });
            }
            self.pieces[edge].push(Piece {
                key: 0,
                scope,
                stops,
            });
        }
        Sized {
            extents: Extents {
                left: middle.0 - cross.0,
                right: cross.1 - middle.0,
                before: middle.1 - rank.0,
                after: rank.1 - middle.1,
            },
            ports: places
                .iter()
                .take(ports.len())
                .map(|place| place - middle.0)
                .collect(),
        }
    }

    /// Computes absolute coordinates.
    fn finish(mut self, size: &Sized) -> Layout {
        let graph = self.graph;
        let Extents {
            left,
            right,
            before,
            after,
        } = size.extents;
        self.axes.extent = before + after;
        let axes = self.axes;
        let (width, height) = axes.size(left + right, before + after);
        let mut layout = Layout {
            width,
            height,
            boxes: vec![Rect {
                x: 0,
                y: 0,
                width,
                height,
            }],
            titles: self.titles.clone(),
            axes,
            loops: vec![None; graph.edges.len()],
            labels: vec![None; graph.edges.len()],
            ..Layout::default()
        };
        // What has to be added to the coordinates in a composite.
        let mut origins = vec![(0, 0); graph.nodes.len()];
        let middle = self.middle.first().copied().unwrap_or_default();
        if let Some(origin) = origins.first_mut() {
            *origin = (left - middle.0, before - middle.1);
        }
        layout.notes.push(Vec::new());
        for (index, node) in graph.nodes.iter().enumerate().skip(1) {
            let outer = origins[node.parent];
            let center = (
                outer.0 + self.center[index].0,
                outer.1 + self.center[index].1,
            );
            origins[index] = (
                center.0 - self.middle[index].0,
                center.1 - self.middle[index].1,
            );
            let it = self.extents[index];
            let (cross, rank) = (
                (center.0 - it.left, center.0 + it.right),
                (center.1 - it.before, center.1 + it.after),
            );
            layout.boxes.push(axes.rect(cross, rank));
            self.place_loops(node, cross.1, rank, &mut layout);
            layout.notes.push(self.place_notes(node, cross, center.1));
        }
        for (scope, at, range) in &self.dividers {
            let origin = origins[*scope];
            let cross = origin.0 + at;
            let rect = axes.rect((cross, cross), (origin.1 + range.0, origin.1 + range.1));
            layout.dividers.push(rect);
        }
        for (index, mut pieces) in self.pieces.into_iter().enumerate() {
            pieces.sort_by_key(|piece| piece.key);
            let mut route = Vec::new();
            for piece in pieces {
                let origin = origins[piece.scope];
                route.extend(piece.stops.into_iter().map(|stop| Stop {
                    cross: stop.cross + origin.0,
                    begin: stop.begin + origin.1,
                    end: stop.end + origin.1,
                    label: stop.label,
                }));
            }
            if let Some(stop) = route.iter().find(|stop| stop.label) {
                let (x, y) = axes.point(stop.cross, (stop.begin + stop.end).div_euclid(2));
                let edge = &graph.edges[index];
                layout.labels[index] = Some(Rect {
                    x: x - edge.width / 2,
                    y: y - edge.height / 2,
                    width: edge.width,
                    height: edge.height,
                });
            }
            layout.routes.push(merged(route));
        }
        layout
    }

    fn place_loops(&self, node: &Node, border: i64, rank: (i64, i64), layout: &mut Layout) {
        let total: i64 = node.loops.iter().map(|&edge| self.slot(edge)).sum();
        let mut begin = (rank.0 + rank.1 - total).div_euclid(2);
        for &edge in &node.loops {
            let slot = self.slot(edge);
            let middle = begin + slot / 2;
            begin += slot;
            layout.loops[edge] = Some((border, middle));
            if let Some((cross, along)) = self.label(edge) {
                let cross = (border + LOOP - 2, border + LOOP - 2 + cross);
                layout.labels[edge] = Some(
                    self.axes
                        .rect(cross, (middle - along / 2, middle - along / 2 + along)),
                );
            }
        }
    }

    fn place_notes(&self, node: &Node, cross: (i64, i64), middle: i64) -> Vec<Rect> {
        let widest = node
            .loops
            .iter()
            .map(|&it| self.label(it).map_or(0, |label| label.0))
            .max();
        let right_side = cross.1 + widest.map_or(0, |widest| LOOP + widest);
        let mut rects = Vec::new();
        let size = |note: &super::graph::Note| self.axes.size(note.width, note.height);
        for left in [true, false] {
            let total: i64 = node
                .notes
                .iter()
                .filter(|it| it.left == left)
                .map(|it| size(it).1 + 8)
                .sum();
            let mut begin = middle - total / 2 + 4;
            for note in node.notes.iter().filter(|it| it.left == left) {
                let (across, along) = size(note);
                let range = match left {
                    true => (cross.0 - NOTE_GAP - across, cross.0 - NOTE_GAP),
                    false => (right_side + NOTE_GAP, right_side + NOTE_GAP + across),
                };
                rects.push(self.axes.rect(range, (begin, begin + along)));
                begin += along + 8;
            }
        }
        rects
    }
}

/// Joins the stops that go on straight, so that a long link is one line.
fn merged(route: Vec<Stop>) -> Vec<Stop> {
    let mut merged: Vec<Stop> = Vec::with_capacity(route.len());
    for stop in route {
        let sign = |stop: &Stop| (stop.end - stop.begin).signum();
        match merged.last_mut() {
            Some(last)
                if last.cross == stop.cross
                    && !last.label
                    && !stop.label
                    && sign(last) * sign(&stop) >= 0
                    && (stop.end - last.begin) * (sign(last) + sign(&stop)) >= 0 =>
            {
                last.end = stop.end;
            }
            _ => merged.push(stop),
        }
    }
    merged
}

/// Counts the links beyond the first that lead to a node, or away from it if that is more.
fn crowds(graph: &Graph<'_>) -> Vec<i64> {
    let mut counts = vec![(0, 0); graph.nodes.len()];
    for edge in graph.edges.iter().filter(|edge| edge.from != edge.to) {
        counts[edge.from].0 += 1;
        counts[edge.to].1 += 1;
    }
    let beyond = counts
        .into_iter()
        .map(|(out, into): (i64, i64)| out.max(into) - 1);
    beyond.map(|count| count.max(0)).collect()
}
