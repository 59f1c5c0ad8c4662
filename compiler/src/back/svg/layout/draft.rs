//! The links and cells of one level, before they are laid out.

use super::{Axes, Cell, Engine, Graph, Link, Node, NodeKind, Pin, Port, Shape};

/// A level that is being made ready.
pub(super) struct LevelDraft {
    pub(super) cells: Vec<Cell>,
    pub(super) links: Vec<Link>,
    /// The edge of each link, unless it is hidden, and the place of the link among the edge's parts.
    pub(super) edges: Vec<Option<usize>>,
    pub(super) keys: Vec<i64>,
}

impl LevelDraft {
    pub(super) fn new(engine: &Engine<'_>, scope: usize, ports: &[Port]) -> Self {
        let node = &engine.graph.nodes[scope];
        let point = |pin: Pin| Cell {
            pin,
            left: 1,
            right: 1,
            before: 0,
            after: 0,
            rim: (0, 0),
            reach: 0,
            shape: Shape::Box,
        };
        let side = |after: bool| if after { Pin::After } else { Pin::Before };
        let mut draft = Self {
            cells: node.children.iter().map(|_| point(Pin::Free)).collect(),
            links: Vec::new(),
            edges: Vec::new(),
            keys: Vec::new(),
        };
        let place = |end: usize| {
            let child = engine.child_of(scope, end);
            node.children.iter().position(|it| *it == child)
        };
        for port in ports {
            let border = draft.cells.len();
            draft.cells.push(point(side(port.after)));
            let Some(inner) = place(engine.end(port)) else {
                continue;
            };
            let (from, to) = if port.outward {
                (inner, border)
            } else {
                (border, inner)
            };
            let label = engine.label(port.edge).filter(|_| port.label);
            let key = engine.depth[scope] * if port.outward { -1 } else { 1 };
            draft.link(from, to, label, Some(port.edge), key);
        }
        for &edge in &engine.inside[scope] {
            let it = &engine.graph.edges[edge];
            let label = engine.label(edge);
            let border = draft.cells.len();
            if it.from == scope || it.to == scope {
                draft.cells.push(point(side(it.to == scope)));
            }
            let from = if it.from == scope {
                Some(border)
            } else {
                place(it.from)
            };
            let to = if it.to == scope {
                Some(border)
            } else {
                place(it.to)
            };
            if let (Some(from), Some(to)) = (from, to) {
                draft.link(from, to, label, Some(edge), 0);
            }
        }
        draft
    }

    pub(super) fn link(
        &mut self,
        from: usize,
        to: usize,
        label: Option<(i64, i64)>,
        edge: Option<usize>,
        key: i64,
    ) {
        self.links.push(Link {
            from,
            to,
            from_at: None,
            to_at: None,
            label,
            weight: 1,
            hidden: edge.is_none(),
        });
        self.edges.push(edge);
        self.keys.push(key);
    }

    /// Returns the dot with which a level begins, and where it leads.
    pub(super) fn beginning(&self, node: &Node, graph: &Graph<'_>) -> Vec<usize> {
        let is_dot = |child: &usize| graph.nodes[*child].kind == NodeKind::Initial;
        let Some(dot) = node.children.iter().position(is_dot) else {
            return Vec::new();
        };
        let target = self
            .links
            .iter()
            .find(|link| link.from == dot)
            .map(|link| link.to);
        std::iter::once(dot).chain(target).collect()
    }

    /// Keeps links at the border from running through the title.
    pub(super) fn add_title(&mut self, node: &Node, axes: Axes) {
        let side = if axes.backward {
            Pin::After
        } else {
            Pin::Before
        };
        let has_ports = self.cells.iter().any(|cell| cell.pin == side);
        if axes.sideways || node.lines.is_empty() || node.kind == NodeKind::Root || !has_ports {
            return;
        }
        let (before, after) = if axes.backward {
            (node.height, 0)
        } else {
            (0, node.height)
        };
        self.cells.push(Cell {
            pin: Pin::Title {
                after: axes.backward,
            },
            left: 0,
            right: node.width,
            before,
            after,
            rim: (before, after),
            reach: 0,
            shape: Shape::Box,
        });
    }

    /// Puts cells without links into a grid, where there are many.
    pub(super) fn keep_together(&mut self, sideways: bool) {
        let mut linked = vec![false; self.cells.len()];
        for link in &self.links {
            linked[link.from] = true;
            linked[link.to] = true;
        }
        let alone: Vec<usize> = (0..self.cells.len())
            .filter(|&it| !linked[it] && self.cells[it].pin == Pin::Free)
            .collect();
        let columns = match (alone.len(), sideways) {
            (0..=4, _) => return,
            (count, false) => count.isqrt() + 1,
            (count, true) => count.isqrt() * 2 + 1,
        };
        for (index, &cell) in alone.iter().enumerate() {
            if let Some(&below) = alone.get(index + columns) {
                self.link(cell, below, None, None, 0);
            }
        }
    }

    /// Returns the links that cross the borders of each child.
    pub(super) fn child_ports(
        &self,
        engine: &Engine<'_>,
        scope: usize,
        ranks: &[i64],
    ) -> Vec<Vec<Port>> {
        let children = &engine.graph.nodes[scope].children;
        let mut wanted: Vec<Vec<Port>> = vec![Vec::new(); children.len()];
        for (link, &edge) in self.links.iter().zip(&self.edges) {
            let Some(edge) = edge else { continue };
            let it = &engine.graph.edges[edge];
            let is_down = ranks[link.from] < ranks[link.to];
            for (place, end, outward) in [(link.from, it.from, true), (link.to, it.to, false)] {
                if children.get(place).is_some_and(|&child| child != end) {
                    let after = is_down == outward;
                    wanted[place].push(Port {
                        edge,
                        after,
                        outward,
                        label: false,
                    });
                }
            }
        }
        wanted
    }

    /// Attaches a link where it crosses the border of a child.
    pub(super) fn attach(&mut self, port: &Port, offset: i64) {
        let found = self.edges.iter().position(|edge| *edge == Some(port.edge));
        if let Some(link) = found.and_then(|it| self.links.get_mut(it)) {
            if port.outward {
                link.from_at = Some(offset);
            } else {
                link.to_at = Some(offset);
            }
        }
    }
}
