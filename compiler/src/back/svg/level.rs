//! The layout of one level: boxes and links in layers, labels as boxes on their links.
//!
//! A level has a *rank* axis, along which links lead, and a *cross* axis. A link that spans several layers has a vertex in
//! each; its label is one of them, so a label has a place of its own as a box has. Between the layers links are curves; in
//! a layer's band they are straight, so they touch nothing that stands in it.
#![expect(
    clippy::indexing_slicing,
    reason = "links name cells of one level, whose vectors have one length"
)]

use super::order::{Segment, order};
use super::place::Placing;
use super::rank::{Tie, layers};

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pin {
    /// Nothing: it stands where its links put it.
    Free,
    /// A point on the border where links begin.
    Before,
    /// A point on the border where links end.
    After,
    /// The title: beside the points on its side of the border, to their left.
    Title {
        /// True for the side where links end.
        after: bool,
    },
}

/// A box in a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) pin: Pin,
    /// The extents to both sides of its center across the layers, with all that belongs to it.
    pub(super) left: i64,
    pub(super) right: i64,
    /// The extents along the rank axis.
    pub(super) before: i64,
    pub(super) after: i64,
    /// The border where links end, on both sides of the center.
    ///
    /// It is within the extents if a note is longer than its box.
    pub(super) rim: (i64, i64),
    /// Half of the border on which links may be attached; 0 if all are attached in the middle.
    pub(super) reach: i64,
    /// The shape, which says how far from the border a link ends.
    pub(super) shape: Shape,
}

/// The outline where links meet it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Box,
    Diamond,
}

/// A link between two cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The places where it is attached, as distances from the cells' centers; `None` if the layout chooses.
    pub(super) from_at: Option<i64>,
    pub(super) to_at: Option<i64>,
    /// The extents of its label: across and along the rank axis.
    pub(super) label: Option<(i64, i64)>,
    pub(super) weight: i64,
    /// True for a link that only keeps cells apart.
    pub(super) hidden: bool,
}

/// A straight part of a link, across one layer's band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// The place on the cross axis.
    pub(super) cross: i64,
    pub(super) begin: i64,
    pub(super) end: i64,
    /// True if the label stands in its middle.
    pub(super) label: bool,
}

/// A level that is laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct Placed {
    /// The centers of the cells: on the cross axis, on the rank axis.
    pub(super) centers: Vec<(i64, i64)>,
    /// The stops of each link, from its source to its target.
    pub(super) routes: Vec<Vec<Stop>>,
    /// The bounds on the cross axis, and on the rank axis.
    pub(super) cross: (i64, i64),
    pub(super) rank: (i64, i64),
}

/// Gap between a layer and the next. Unit: pixels. Why: an arrow's head and some line fit into it.
const GAP: i64 = 17;

/// Most by which a gap grows where its links lead far to the side. Unit: pixels.
const MOST_GROWTH: i64 = 40;

/// Distance of links in one place of a box. Unit: pixels. Why: heads of arrows don't touch.
const APART: i64 = 15;

/// Returns the layer of each cell.
///
/// Cells on the border come first or last, and those of `first` before the others.
pub(super) fn rank(cells: &[Cell], links: &[Link], first: &[usize]) -> Vec<i64> {
    let step = if links.iter().any(|link| link.label.is_some()) {
        2
    } else {
        1
    };
    let is_free = |cell: usize| cells[cell].pin == Pin::Free;
    let ties = links
        .iter()
        .filter(|link| is_free(link.from) && is_free(link.to));
    let ties: Vec<Tie> = ties
        .map(|link| Tie {
            from: link.from,
            to: link.to,
            weight: link.weight,
        })
        .collect();
    let mut ranks = layers(cells.len(), &ties, step, first);
    let inner = (0..cells.len())
        .filter(|&cell| is_free(cell))
        .map(|cell| ranks[cell]);
    let last = inner.max().unwrap_or(0);
    for (cell, rank) in cells.iter().zip(&mut ranks) {
        match cell.pin {
            Pin::Free => {}
            Pin::Before | Pin::Title { after: false } => *rank = -step,
            Pin::After | Pin::Title { after: true } => *rank = last + step,
        }
    }
    ranks
}

/// Counts the pieces of links from layer to layer.
pub(super) fn count_pieces(links: &[Link], ranks: &[i64]) -> u64 {
    let span = |link: &Link| ranks[link.from].abs_diff(ranks[link.to]);
    links.iter().map(span).fold(0, u64::saturating_add)
}

/// Lays out a level whose cells have their layers.
pub(super) fn lay_out(cells: &[Cell], links: &[Link], ranks: &[i64]) -> Placed {
    if cells.is_empty() {
        return Placed::default();
    }
    let mut net = Net::new(cells, links, ranks);
    let title = cells
        .iter()
        .position(|cell| matches!(cell.pin, Pin::Title { .. }));
    let segments: Vec<Segment> = net.segments.iter().map(|it| it.0).collect();
    order(&mut net.layers, net.vertices.len(), &segments, title);
    let x = net.coordinates();
    let attached = net.attach(&x, links, cells);
    let bands = net.bands(&x, &attached);
    net.finish(&x, &attached, &bands, cells, links)
}

/// A cell, or a point or label of a link in a layer.
#[derive(Clone, Copy, Debug)]
struct Vertex {
    left: i64,
    right: i64,
    before: i64,
    after: i64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cell,
    Point,
    Label,
}

struct Net {
    vertices: Vec<Vertex>,
    layers: Vec<Vec<usize>>,
    layer_of: Vec<usize>,
    /// The vertices of each link, downward.
    chains: Vec<Vec<usize>>,
    /// True for links that lead up.
    turned: Vec<bool>,
    segments: Vec<(Segment, i64)>,
}

impl Net {
    fn new(cells: &[Cell], links: &[Link], ranks: &[i64]) -> Self {
        let first = ranks.iter().min().copied().unwrap_or(0);
        let layer = |rank: i64| usize::try_from(rank - first).unwrap_or(0);
        let count = ranks.iter().map(|&rank| layer(rank) + 1).max().unwrap_or(0);
        let mut net = Self {
            vertices: Vec::new(),
            layers: vec![Vec::new(); count],
            layer_of: Vec::new(),
            chains: Vec::new(),
            turned: Vec::new(),
            segments: Vec::new(),
        };
        for (cell, &rank) in cells.iter().zip(ranks) {
            let &Cell {
                left,
                right,
                before,
                after,
                ..
            } = cell;
            net.add(
                Vertex {
                    left,
                    right,
                    before,
                    after,
                    kind: Kind::Cell,
                },
                layer(rank),
            );
        }
        for link in links {
            net.add_chain(link);
        }
        net
    }

    fn add(&mut self, vertex: Vertex, layer: usize) -> usize {
        let index = self.vertices.len();
        self.vertices.push(vertex);
        self.layer_of.push(layer);
        self.layers[layer].push(index);
        index
    }

    fn add_chain(&mut self, link: &Link) {
        let (from, to) = (self.layer_of[link.from], self.layer_of[link.to]);
        let is_turned = from > to;
        let (upper, lower) = if is_turned {
            (link.to, link.from)
        } else {
            (link.from, link.to)
        };
        let (upper_at, lower_at) = match is_turned {
            true => (link.to_at, link.from_at),
            false => (link.from_at, link.to_at),
        };
        let (top, bottom) = (from.min(to), from.max(to));
        let mut chain = vec![upper];
        // Near the source, so that who reads the source's ways out finds it; in the middle of a way back.
        let middle = if is_turned {
            (top + bottom) / 2
        } else {
            top + 1
        };
        for layer in top + 1..bottom {
            let point = Vertex {
                left: 1,
                right: 1,
                before: 0,
                after: 0,
                kind: Kind::Point,
            };
            let vertex = match link.label {
                Some((cross, along)) if layer == middle => Vertex {
                    left: (cross + 1) / 2,
                    right: (cross + 1) / 2,
                    before: (along + 1) / 2,
                    after: (along + 1) / 2,
                    kind: Kind::Label,
                },
                _ => point,
            };
            chain.push(self.add(vertex, layer));
        }
        chain.push(lower);
        let last = chain.len().saturating_sub(2);
        for (index, pair) in chain.windows(2).enumerate() {
            let &[above, below] = pair else { continue };
            let is_cell = |vertex: usize| self.vertices[vertex].kind == Kind::Cell;
            let price = match (is_cell(above), is_cell(below)) {
                (true, true) => 1,
                (false, false) => 8,
                _ => 2,
            };
            let segment = Segment {
                upper: above,
                lower: below,
                upper_at: if index == 0 { upper_at.unwrap_or(0) } else { 0 },
                lower_at: if index == last {
                    lower_at.unwrap_or(0)
                } else {
                    0
                },
            };
            self.segments.push((segment, price * link.weight));
        }
        self.chains.push(chain);
        self.turned.push(is_turned);
    }

    fn coordinates(&self) -> Vec<i64> {
        let left: Vec<i64> = self.vertices.iter().map(|it| it.left).collect();
        let right: Vec<i64> = self.vertices.iter().map(|it| it.right).collect();
        let gap = |a: usize, b: usize| match (self.vertices[a].kind, self.vertices[b].kind) {
            (Kind::Cell, Kind::Cell) => 30,
            (Kind::Cell, _) | (_, Kind::Cell) => 20,
            (Kind::Label, Kind::Label) => 16,
            _ => 14,
        };
        let placing = Placing {
            layers: &self.layers,
            left: &left,
            right: &right,
            segments: &self.segments,
            gap: &gap,
        };
        placing.coordinates()
    }

    /// Returns where each link is attached: distances from the centers of its upper and lower cell.
    ///
    /// Links that the layout may attach go toward where they lead, and keep apart.
    fn attach(&self, x: &[i64], links: &[Link], cells: &[Cell]) -> Vec<(i64, i64)> {
        let mut attached = vec![(0, 0); links.len()];
        // By cell and side: the links, where they lead, and whether they are fixed.
        let mut sides: Vec<[Vec<(i64, usize, bool)>; 2]> = vec![Default::default(); cells.len()];
        for (index, link) in links.iter().enumerate() {
            let chain = &self.chains[index];
            let (Some(&upper), Some(&lower)) = (chain.first(), chain.last()) else {
                continue;
            };
            let (upper_at, lower_at) = match self.turned[index] {
                true => (link.to_at, link.from_at),
                false => (link.from_at, link.to_at),
            };
            let second = chain.get(1).map_or(0, |&it| x[it]);
            let second_last = chain
                .get(chain.len().saturating_sub(2))
                .map_or(0, |&it| x[it]);
            if !link.hidden {
                let toward = upper_at.unwrap_or(second - x[upper]);
                sides[upper][1].push((toward, index, upper_at.is_some()));
                let toward = lower_at.unwrap_or(second_last - x[lower]);
                sides[lower][0].push((toward, index, lower_at.is_some()));
            }
        }
        for (cell, both) in cells.iter().zip(&mut sides) {
            for (side, list) in both.iter_mut().enumerate() {
                list.sort_unstable();
                for (index, at) in spread(list, cell.reach) {
                    if side == 1 {
                        attached[index].0 = at;
                    } else {
                        attached[index].1 = at;
                    }
                }
            }
        }
        attached
    }

    /// Returns the begin and end of each layer's band.
    fn bands(&self, x: &[i64], attached: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let count = self.layers.len();
        let mut shift = vec![0; count];
        for (chain, &(upper_at, lower_at)) in self.chains.iter().zip(attached) {
            let last = chain.len().saturating_sub(2);
            for (index, pair) in chain.windows(2).enumerate() {
                let &[above, below] = pair else { continue };
                let begin = x[above] + if index == 0 { upper_at } else { 0 };
                let end = x[below] + if index == last { lower_at } else { 0 };
                let layer = self.layer_of[above];
                shift[layer] = (end - begin).abs().max(shift[layer]);
            }
        }
        let mut bands: Vec<(i64, i64)> = Vec::with_capacity(count);
        let mut edge = 0;
        for (index, layer) in self.layers.iter().enumerate() {
            let extent = |side: fn(&Vertex) -> i64| {
                let sides = layer.iter().map(|&vertex| side(&self.vertices[vertex]));
                sides.max().unwrap_or(0)
            };
            let height = extent(|it| it.before) + extent(|it| it.after);
            bands.push((edge, edge + height));
            edge += height + GAP + (shift[index] / 6).min(MOST_GROWTH);
        }
        bands
    }

    fn finish(
        &self,
        x: &[i64],
        attached: &[(i64, i64)],
        bands: &[(i64, i64)],
        cells: &[Cell],
        links: &[Link],
    ) -> Placed {
        let center = |vertex: usize| {
            let layer = self.layer_of[vertex];
            let before = self.layers[layer]
                .iter()
                .map(|&it| self.vertices[it].before);
            bands[layer].0 + before.max().unwrap_or(0)
        };
        let mut placed = Placed::default();
        for (cell, &at) in x.iter().enumerate().take(cells.len()) {
            placed.centers.push((at, center(cell)));
        }
        for (index, link) in links.iter().enumerate() {
            if link.hidden {
                placed.routes.push(Vec::new());
                continue;
            }
            let chain = &self.chains[index];
            let (upper_at, lower_at) = attached[index];
            let last = chain.len().saturating_sub(1);
            let mut stops = Vec::with_capacity(chain.len());
            for (place, &vertex) in chain.iter().enumerate() {
                let (begin, end) = bands[self.layer_of[vertex]];
                let it = &self.vertices[vertex];
                let stop = if place == 0 {
                    let inset = cells[vertex].inset(upper_at);
                    let from = center(vertex) + cells[vertex].rim.1 - inset;
                    Stop {
                        cross: x[vertex] + upper_at,
                        begin: from,
                        end: end.max(from),
                        label: false,
                    }
                } else if place == last {
                    let inset = cells[vertex].inset(lower_at);
                    let to = center(vertex) - cells[vertex].rim.0 + inset;
                    Stop {
                        cross: x[vertex] + lower_at,
                        begin: begin.min(to),
                        end: to,
                        label: false,
                    }
                } else {
                    Stop {
                        cross: x[vertex],
                        begin,
                        end,
                        label: it.kind == Kind::Label,
                    }
                };
                stops.push(stop);
            }
            if self.turned[index] {
                stops.reverse();
                for stop in &mut stops {
                    std::mem::swap(&mut stop.begin, &mut stop.end);
                }
            }
            placed.routes.push(stops);
        }
        let bounds = |low: i64, high: i64, sides: (i64, i64)| (low.min(sides.0), high.max(sides.1));
        let mut cross = (i64::MAX, i64::MIN);
        for (vertex, it) in self.vertices.iter().enumerate() {
            let is_title = cells
                .get(vertex)
                .is_some_and(|cell| matches!(cell.pin, Pin::Title { .. }));
            if !is_title || self.vertices.len() > 1 {
                cross = bounds(
                    cross.0,
                    cross.1,
                    (x[vertex] - it.left, x[vertex] + it.right),
                );
            }
        }
        placed.cross = if cross.0 > cross.1 { (0, 0) } else { cross };
        placed.rank = (0, bands.last().map_or(0, |band| band.1));
        placed
    }
}

impl Cell {
    /// Returns how far the outline is from the border of the box, at a distance from the center.
    fn inset(&self, at: i64) -> i64 {
        match self.shape {
            Shape::Box => 0,
            Shape::Diamond => at.abs().min(self.rim.0),
        }
    }
}

/// Spreads what is attached to a side of a box: as near to what it leads to as the others allow.
fn spread(list: &[(i64, usize, bool)], reach: i64) -> Vec<(usize, i64)> {
    let free = list.iter().filter(|it| !it.2).count();
    let count = i64::try_from(free).unwrap_or(1);
    let apart = if count > 1 {
        APART.min(reach * 2 / (count - 1))
    } else {
        0
    };
    let fixed: Vec<i64> = list.iter().filter(|it| it.2).map(|it| it.0).collect();
    let mut places = Vec::with_capacity(list.len());
    let mut least = -reach;
    let mut left = count;
    for &(toward, index, is_fixed) in list {
        if is_fixed {
            places.push((index, toward));
            continue;
        }
        left -= 1;
        let most = reach - left * apart;
        let mut at = toward.clamp(least.min(most), most);
        // What is attached inside the box can't give way.
        for _ in 0..2 {
            if let Some(near) = fixed.iter().find(|it| (*it - at).abs() < APART) {
                let away = if toward < *near {
                    near - APART
                } else {
                    near + APART
                };
                at = away.clamp(least.min(most), most);
            }
        }
        least = at + apart;
        places.push((index, at));
    }
    // Those that lead to one side stand around the middle of what they want, not behind each other from it on.
    balance(&mut places, list, apart, reach, !fixed.is_empty());
    places
}

/// Moves runs of places that push each other to the mean of what they want.
fn balance(
    places: &mut [(usize, i64)],
    list: &[(i64, usize, bool)],
    apart: i64,
    reach: i64,
    has_fixed: bool,
) {
    if has_fixed || apart == 0 {
        return;
    }
    let mut start = 0;
    while start < places.len() {
        let mut end = start + 1;
        while end < places.len() && places[end].1 - places[end - 1].1 <= apart {
            end += 1;
        }
        let count = i64::try_from(end - start).unwrap_or(1);
        let wanted: i64 = list[start..end]
            .iter()
            .map(|it| it.0.clamp(-reach, reach))
            .sum::<i64>()
            / count;
        let half = (count - 1) * apart / 2;
        let before = start
            .checked_sub(1)
            .map_or(-reach, |it| places[it].1 + apart);
        let after = places.get(end).map_or(reach, |it| it.1 - apart) - (count - 1) * apart;
        let mut at = (wanted - half).clamp(before.min(after), after);
        for place in &mut places[start..end] {
            place.1 = at;
            at += apart;
        }
        start = end;
    }
}
