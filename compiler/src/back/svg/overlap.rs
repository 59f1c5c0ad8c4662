//! Overlaps in a drawing that is laid out.

use super::graph::{Graph, NodeKind};
use super::layout::{Layout, Rect};

/// The part that a piece plays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A label, a title or a note: it stands on nothing, and nothing on it.
    Text,
    /// A box or a dot.
    Box,
    /// A composite: what is inside may stand on it, but nothing on its border.
    Frame,
}

struct Piece {
    kind: Kind,
    name: String,
    rect: Rect,
    /// The node that it belongs to, whose own frame it may touch.
    node: Option<usize>,
}

/// Lists the pairs that overlap.
pub(super) fn find(graph: &Graph<'_>, layout: &Layout) -> Vec<String> {
    let mut pieces = pieces(graph, layout);
    pieces.sort_by_key(|piece| piece.rect.x);
    let mut found = Vec::new();
    for (index, one) in pieces.iter().enumerate() {
        for other in pieces.iter().skip(index + 1) {
            if other.rect.x >= one.rect.x + one.rect.width {
                break;
            }
            if clash(one, other) || clash(other, one) {
                found.push(format!("{} and {}", one.name, other.name));
            }
        }
    }
    found
}

fn pieces(graph: &Graph<'_>, layout: &Layout) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut add = |kind: Kind, name: String, rect: Rect, node: Option<usize>| {
        pieces.push(Piece {
            kind,
            name,
            rect,
            node,
        });
    };
    for (index, (node, rect)) in graph.nodes.iter().zip(&layout.boxes).enumerate().skip(1) {
        let state = node.state.and_then(|it| graph.chart.states.get(it));
        let id = state.map_or("", |it| it.id.as_str());
        let is_frame = node.kind.is_composite();
        if node.kind != NodeKind::Region {
            let kind = if is_frame { Kind::Frame } else { Kind::Box };
            add(kind, format!("{:?} `{id}`", node.kind), *rect, Some(index));
        }
        if is_frame && !node.lines.is_empty() {
            let indent = layout.titles.get(index).copied().unwrap_or(0);
            let title = Rect {
                x: rect.x + indent,
                y: rect.y + 4,
                width: node.width - 24,
                height: node.height - 8,
            };
            add(Kind::Text, format!("title `{id}`"), title, Some(index));
        }
        for note in layout.notes.get(index).into_iter().flatten() {
            add(Kind::Text, format!("note of `{id}`"), *note, None);
        }
    }
    for (edge, rect) in graph.edges.iter().zip(&layout.labels) {
        if let Some(rect) = rect {
            add(
                Kind::Text,
                format!("label `{}`", edge.label.join(" ")),
                *rect,
                None,
            );
        }
    }
    pieces
}

/// Reports whether the first stands on the second where it mustn't.
fn clash(one: &Piece, other: &Piece) -> bool {
    let (a, b) = (one.rect, other.rect);
    let apart = a.x >= b.x + b.width
        || b.x >= a.x + a.width
        || a.y >= b.y + b.height
        || b.y >= a.y + a.height;
    if apart || one.node.is_some() && one.node == other.node {
        return false;
    }
    if other.kind != Kind::Frame {
        return one.kind != Kind::Frame;
    }
    // Inside of a frame, or around it, there is no clash; across its border there is.
    let within = |inner: Rect, outer: Rect| {
        inner.x >= outer.x
            && inner.y >= outer.y
            && inner.x + inner.width <= outer.x + outer.width
            && inner.y + inner.height <= outer.y + outer.height
    };
    !(within(a, b) || one.kind == Kind::Frame && within(b, a))
}
