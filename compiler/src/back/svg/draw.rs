//! The drawing as SVG: elements, classes, ids and titles, as the module's page promises them.

use std::fmt::Write as _;

use statemark_text::markup::push_escaped;
use statemark_text::visible;

use super::chart::ChartTransition;
use super::graph::{Edge, Graph, LABEL, Line, Node, NodeKind};
use super::layout::{LOOP, Layout, Rect};
use super::level::Stop;
use super::{Options, Theme};

/// The rules of all drawings; `@name` stands for a color.
const STYLE: &str = include_str!("style.css");

/// The colors: name, light, dark.
///
/// Why these: text has a contrast of 4.5 on what it stands on, lines of 3.
const COLORS: [(&str, &str, &str); 17] = [
    // Longer names first, because they are replaced in this order.
    ("active-line", "#1d4ed8", "#7cb0ff"),
    ("note-line", "#d6b656", "#8a7433"),
    ("visited", "#0f766e", "#4fd1c0"),
    ("failure", "#c62828", "#ff8a80"),
    ("active", "#dbe8ff", "#1d3a6b"),
    ("inside", "#f4f6fa", "#171c25"),
    ("frame", "#a3adbd", "#566275"),
    ("label", "#344054", "#c3cddb"),
    ("muted", "#5b6678", "#9aa7b8"),
    ("state", "#ffffff", "#222936"),
    ("page", "#ffffff", "#0f131a"),
    ("text", "#16202e", "#e7edf5"),
    ("line", "#66738a", "#8592a6"),
    ("edge", "#66738a", "#8592a6"),
    ("note", "#fff8e1", "#332d1a"),
    ("dot", "#27313f", "#d5deea"),
    ("hover", "#1d4ed8", "#7cb0ff"),
];

/// Length and half width of an arrow's head. Unit: pixels.
const HEAD: (i64, i64) = (9, 4);

/// Writes a drawing.
pub(super) fn draw(graph: &Graph<'_>, layout: &Layout, options: &Options) -> String {
    let mut drawing = Drawing {
        graph,
        layout,
        options,
        text: String::new(),
    };
    drawing.write();
    drawing.text
}

/// Draws a text alone, in the place of a machine's drawing.
pub(super) fn notice(machine: &str, text: &str, options: &Options) -> String {
    let style = style(options.theme);
    let width = 40 + 8 * text.chars().count();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"statemark\" viewBox=\"0 0 {width} 60\" width=\"{width}\" height=\"60\" \
         role=\"img\" data-machine=\"{}\">\n<style>\n{style}</style>\n<rect class=\"page\" width=\"{width}\" height=\"60\" \
         rx=\"6\"/>\n<text class=\"label\" x=\"20\" y=\"35\">{}</text>\n</svg>\n",
        escape(machine),
        escape_for_people(text)
    )
}

struct Drawing<'d> {
    graph: &'d Graph<'d>,
    layout: &'d Layout,
    options: &'d Options,
    text: String,
}

/// Appends to the text; a `String` takes everything.
macro_rules! put {
    ($self:ident, $($part:tt)*) => {
        // Writing to a string can't fail.
        let _ = write!($self.text, $($part)*);
    };
}

impl Drawing<'_> {
    fn write(&mut self) {
        let chart = self.graph.chart;
        let (width, height) = (self.layout.width, self.layout.height);
        let prefix = escape(&self.options.prefix);
        put!(
            self,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"statemark\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"graphics-document document\" aria-labelledby=\"{prefix}sm-title {prefix}sm-desc\" \
             data-machine=\"{}\">\n",
            escape(&chart.id)
        );
        let title = chart.title.as_deref().unwrap_or(&chart.id);
        put!(
            self,
            "<title id=\"{prefix}sm-title\">{}</title>\n",
            escape_for_people(title)
        );
        put!(
            self,
            "<desc id=\"{prefix}sm-desc\">{}</desc>\n",
            escape_for_people(&self.describe())
        );
        let style = style(self.options.theme);
        put!(self, "<style>\n{style}</style>\n");
        put!(
            self,
            "<rect class=\"page\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>\n"
        );
        for index in 1..self.graph.nodes.len() {
            self.node(index);
        }
        for rect in &self.layout.dividers {
            let Rect {
                x,
                y,
                width,
                height,
            } = *rect;
            put!(
                self,
                "<path class=\"divider\" d=\"M{x} {y}l{width} {height}\"/>\n"
            );
        }
        let mut named = std::collections::BTreeSet::new();
        for index in 0..self.graph.edges.len() {
            self.edge(index, &mut named);
        }
        self.text.push_str("</svg>\n");
    }

    fn describe(&self) -> String {
        let chart = self.graph.chart;
        if let Some(description) = &chart.description {
            return description.trim().to_owned();
        }
        let states = chart
            .states
            .iter()
            .skip(1)
            .filter(|state| !state.implied)
            .count();
        let transitions = chart.transitions.iter().filter(|it| !it.hidden).count();
        format!("State machine with {states} states and {transitions} transitions.")
    }

    fn node(&mut self, index: usize) {
        let (Some(node), Some(&rect)) = (self.graph.nodes.get(index), self.layout.boxes.get(index))
        else {
            return;
        };
        let Rect {
            x,
            y,
            width,
            height,
        } = rect;
        let (center, middle) = (x + width / 2, y + height / 2);
        match node.kind {
            NodeKind::Initial => {
                put!(
                    self,
                    "<circle class=\"dot\" cx=\"{center}\" cy=\"{middle}\" r=\"7\"/>\n"
                );
                return;
            }
            NodeKind::Choice => {
                let half = width / 2;
                put!(
                    self,
                    "<path class=\"choice\" d=\"M{center} {y}l{half} {half}l-{half} {half}l-{half} -{half}z\"/>\n"
                );
                return;
            }
            NodeKind::Fork => {
                put!(
                    self,
                    "<rect class=\"bar\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>\n"
                );
                return;
            }
            NodeKind::Any => {
                put!(self, "<g class=\"any\">");
                put!(
                    self,
                    "<rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{}\"/>",
                    height / 2
                );
                self.lines(node, rect, None);
                self.text.push_str("</g>\n");
                return;
            }
            _ => {}
        }
        self.open_state(node);
        match node.kind {
            NodeKind::End => {
                put!(
                    self,
                    "<circle class=\"ring box\" cx=\"{center}\" cy=\"{middle}\" r=\"9\"/>"
                );
                put!(
                    self,
                    "<circle class=\"dot\" cx=\"{center}\" cy=\"{middle}\" r=\"5\"/>"
                );
            }
            NodeKind::History | NodeKind::DeepHistory => {
                let mark = if node.kind == NodeKind::History {
                    "H"
                } else {
                    "H*"
                };
                put!(
                    self,
                    "<circle class=\"box\" cx=\"{center}\" cy=\"{middle}\" r=\"12.5\"/>"
                );
                put!(
                    self,
                    "<text x=\"{center}\" y=\"{}\">{mark}</text>",
                    middle + 4
                );
            }
            kind if kind.is_composite() => {
                put!(
                    self,
                    "<rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"10\"/>"
                );
                let title = Rect {
                    height: node.height,
                    ..rect
                };
                self.lines(node, title, self.layout.titles.get(index).copied());
            }
            kind => {
                let round = if kind == NodeKind::Final { 14 } else { 9 };
                put!(
                    self,
                    "<rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\"/>"
                );
                if kind == NodeKind::Final {
                    put!(
                        self,
                        "<rect class=\"ring\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"11\"/>",
                        x + 3,
                        y + 3,
                        width - 6,
                        height - 6
                    );
                }
                self.lines(node, rect, None);
            }
        }
        self.text.push_str("</g>\n");
        self.notes(index);
    }

    fn open_state(&mut self, node: &Node) {
        let chart = self.graph.chart;
        let Some(state) = node.state.and_then(|it| chart.states.get(it)) else {
            self.text.push_str("<g>");
            return;
        };
        let overlay = &self.options.overlay;
        let mut classes = vec!["state"];
        classes.extend(match node.kind {
            NodeKind::Compound => Some("compound"),
            NodeKind::Parallel => Some("parallel"),
            NodeKind::Region => Some("region"),
            NodeKind::Final => Some("final"),
            NodeKind::End => Some("end"),
            NodeKind::History | NodeKind::DeepHistory => Some("history"),
            _ => None,
        });
        let lit = [
            (state.failure, "failure"),
            (overlay.visited.contains(&state.id), "visited"),
            (overlay.active.contains(&state.id), "active"),
        ];
        classes.extend(lit.into_iter().filter(|it| it.0).map(|it| it.1));
        put!(
            self,
            "<g class=\"{}\" id=\"{}state-{}\" data-state=\"{}\" role=\"graphics-symbol\"><title>{}</title>",
            classes.join(" "),
            escape(&self.options.prefix),
            id(&state.id),
            escape(&state.id),
            escape_for_people(&tooltip(state))
        );
    }

    /// Writes the lines of a box: the name, and below a rule its actions.
    ///
    /// Without an indent, they are centered.
    fn lines(&mut self, node: &Node, rect: Rect, indent: Option<i64>) {
        let total: i64 = node.lines.iter().map(|line| line.font.line_height()).sum();
        let ruled = node
            .lines
            .iter()
            .position(|line| line.class == "action")
            .filter(|it| *it > 0 && indent.is_none());
        let space = if ruled.is_some() { 6 } else { 0 };
        let mut top = rect.y + (rect.height - total - space) / 2;
        let x = rect.x + indent.unwrap_or(rect.width / 2);
        let start = if indent.is_some() { " start" } else { "" };
        for (index, line) in node.lines.iter().enumerate() {
            if ruled == Some(index) {
                put!(
                    self,
                    "<path class=\"rule\" d=\"M{} {}h{}\"/>",
                    rect.x,
                    top + 2,
                    rect.width
                );
                top += space;
            }
            let y = tenths(top * 10 + line.font.line_height() * 5 + line.font.size * 36 / 100);
            top += line.font.line_height();
            let Line {
                text,
                class,
                transition,
                ..
            } = line;
            let text = escape(text);
            let element =
                format!("<text class=\"{class}{start}\" x=\"{x}\" y=\"{y}\">{text}</text>");
            match transition.and_then(|it| Some((it, self.graph.chart.transitions.get(it)?))) {
                Some((transition, it)) => {
                    let first = node
                        .lines
                        .iter()
                        .position(|line| line.transition == Some(transition));
                    self.open_transition(&[transition], it, first == Some(index));
                    self.text.push_str(&element);
                    self.text.push_str("</g>");
                }
                None => self.text.push_str(&element),
            }
        }
    }

    fn notes(&mut self, index: usize) {
        let (Some(node), Some(rects), Some(&owner)) = (
            self.graph.nodes.get(index),
            self.layout.notes.get(index),
            self.layout.boxes.get(index),
        ) else {
            return;
        };
        let sorted = node
            .notes
            .iter()
            .filter(|it| it.left)
            .chain(node.notes.iter().filter(|it| !it.left));
        for (note, rect) in sorted.zip(rects) {
            let Rect {
                x,
                y,
                width,
                height,
            } = *rect;
            self.text.push_str("<g class=\"note\">");
            let (from, to) = tether(owner, *rect);
            put!(
                self,
                "<path class=\"tether\" d=\"M{} {}L{} {}\"/>",
                from.0,
                from.1,
                to.0,
                to.1
            );
            put!(
                self,
                "<path class=\"box\" d=\"M{x} {y}h{}l8 8v{}h-{width}z\"/>",
                width - 8,
                height - 8
            );
            let mut top = y + 7;
            for line in &note.lines {
                let base = tenths(top * 10 + LABEL.line_height() * 5 + LABEL.size * 36 / 100);
                put!(
                    self,
                    "<text class=\"start\" x=\"{}\" y=\"{base}\">{}</text>",
                    x + 10,
                    escape(line)
                );
                top += LABEL.line_height();
            }
            self.text.push_str("</g>\n");
        }
    }

    /// Opens the group of an arrow or of an action inside a state.
    fn open_transition(&mut self, transitions: &[usize], first: &ChartTransition, has_id: bool) {
        let chart = self.graph.chart;
        let name = |state: usize| chart.states.get(state).map_or("", |it| it.id.as_str());
        let taken = transitions
            .iter()
            .any(|it| self.options.overlay.taken.contains_key(it));
        let numbers: Vec<String> = transitions.iter().map(ToString::to_string).collect();
        let targets: Vec<&str> = transitions
            .iter()
            .filter_map(|&it| chart.transitions.get(it))
            .flat_map(|it| it.targets.iter().map(|&it| name(it)))
            .collect();
        let mut classes = "transition".to_owned();
        if first.approval {
            classes.push_str(" approval");
        }
        if taken {
            classes.push_str(" taken");
        }
        put!(self, "<g class=\"{classes}\"");
        if let (true, Some(number)) = (has_id, transitions.first()) {
            put!(
                self,
                " id=\"{}transition-{number}\"",
                escape(&self.options.prefix)
            );
        }
        put!(
            self,
            " data-transition=\"{}\" data-event=\"{}\" data-source=\"{}\" data-target=\"{}\" role=\"graphics-symbol\">",
            numbers.join(" "),
            escape(&first.events.join(" ")),
            escape(name(first.source)),
            escape(&targets.join(" "))
        );
        let label = match transitions {
            [_] => first.label(),
            _ => first.trigger.clone(),
        };
        let mut title = match targets.as_slice() {
            [] => name(first.source).to_owned(),
            targets => format!("{} → {}", name(first.source), targets.join(", ")),
        };
        if !label.is_empty() {
            title.push_str(": ");
            title.push_str(&label);
        }
        if first.approval {
            title.push_str(" (needs approval)");
        }
        put!(self, "<title>{}</title>", escape_for_people(&title));
    }

    fn edge(&mut self, index: usize, named: &mut std::collections::BTreeSet<usize>) {
        let Some(edge) = self.graph.edges.get(index) else {
            return;
        };
        let chart = self.graph.chart;
        let first = edge
            .transitions
            .first()
            .and_then(|&it| chart.transitions.get(it));
        match first {
            Some(first) => {
                // The way to a diamond has no id: that is for the arrow of one transition alone.
                let is_own = edge.transitions.len() == 1;
                let has_id = is_own && edge.transitions.first().is_some_and(|&it| named.insert(it));
                self.open_transition(&edge.transitions, first, has_id);
            }
            None => {
                let outer = self.graph.nodes.get(edge.from).map(|it| it.parent);
                let state = outer
                    .and_then(|it| self.graph.nodes.get(it))
                    .and_then(|it| it.state);
                let id = state
                    .and_then(|it| chart.states.get(it))
                    .map_or("", |it| it.id.as_str());
                put!(
                    self,
                    "<g class=\"initial\" data-initial=\"{}\">",
                    escape(id)
                );
            }
        }
        let path = match self.layout.loops.get(index).copied().flatten() {
            Some((border, middle)) => self.loop_path(border, middle),
            None => self.path(edge, self.layout.routes.get(index).map_or(&[][..], |it| it)),
        };
        put!(
            self,
            "<path class=\"reach\" d=\"{}\"/><path class=\"line\" d=\"{}\"/>",
            path.whole,
            path.line
        );
        if edge.head && !path.head.is_empty() {
            put!(self, "<path class=\"head\" d=\"{}\"/>", path.head);
        }
        if let Some(Some(rect)) = self.layout.labels.get(index) {
            let mut top = rect.y + 2;
            let x = tenths(rect.x * 10 + rect.width * 5);
            for line in &edge.label {
                let y = tenths(top * 10 + LABEL.line_height() * 5 + LABEL.size * 36 / 100);
                put!(
                    self,
                    "<text class=\"label\" x=\"{x}\" y=\"{y}\">{}</text>",
                    escape(line)
                );
                top += LABEL.line_height();
            }
        }
        self.text.push_str("</g>\n");
    }

    fn point(&self, cross: i64, rank: i64) -> String {
        let (x, y) = self.layout.point(cross, rank);
        format!("{x} {y}")
    }

    /// Returns the curve of a loop beside its box.
    fn loop_path(&self, border: i64, middle: i64) -> Path {
        let (out, wide) = (border + LOOP - 2, 9);
        let begin = self.point(border, middle - wide);
        let bend = (
            self.point(out, middle - wide - 6),
            self.point(out, middle + wide + 6),
        );
        let end = self.point(border + HEAD.0 - 1, middle + wide);
        let line = format!("M{begin}C{} {} {end}", bend.0, bend.1);
        let tip = self.point(border, middle + wide);
        let wings = (
            self.point(border + HEAD.0, middle + wide - HEAD.1),
            self.point(border + HEAD.0, middle + wide + HEAD.1),
        );
        Path {
            whole: line.clone(),
            line,
            head: format!("M{tip}L{} {}z", wings.0, wings.1),
        }
    }

    /// Returns the way of an arrow: straight in the layers, curves between them, and a gap for its label.
    fn path(&self, edge: &Edge, stops: &[Stop]) -> Path {
        let mut path = Path::default();
        let Some(first) = stops.first() else {
            return path;
        };
        let mut at = (first.cross, first.begin);
        let mut sign = 1;
        path.both(&format!("M{}", self.point(at.0, at.1)));
        for (index, stop) in stops.iter().enumerate() {
            let is_last = index + 1 == stops.len();
            if index > 0 {
                let mut begin = stop.begin;
                let is_near = (stop.end - begin).abs() < HEAD.0 && (begin - at.1).abs() > HEAD.0;
                if is_last && edge.head && is_near {
                    // A curve ends where the head begins, which stands straight.
                    begin = stop.end - (begin - at.1).signum() * HEAD.0;
                }
                self.curve(&mut path, at, (stop.cross, begin), sign, stop.end >= begin);
            }
            if stop.end != stop.begin {
                sign = (stop.end - stop.begin).signum();
            } else if stop.begin != at.1 {
                sign = (stop.begin - at.1).signum();
            }
            let mut end = stop.end;
            if is_last && edge.head {
                // The line ends inside of the head, so that its tip is sharp.
                end -= sign * (HEAD.0 - 1);
            }
            if stop.label {
                let half = if self.layout.point(0, 1).0 == self.layout.point(0, 0).0 {
                    edge.height
                } else {
                    edge.width
                } / 2;
                let middle = (stop.begin + stop.end).div_euclid(2);
                path.both(&format!(
                    "L{}",
                    self.point(stop.cross, middle - sign * half)
                ));
                path.line.push_str(&format!(
                    "M{}",
                    self.point(stop.cross, middle + sign * half)
                ));
            }
            path.both(&format!("L{}", self.point(stop.cross, end)));
            at = (stop.cross, stop.end);
            if is_last {
                let base = stop.end - sign * HEAD.0;
                path.head = format!(
                    "M{}L{} {}z",
                    self.point(at.0, at.1),
                    self.point(at.0 - HEAD.1, base),
                    self.point(at.0 + HEAD.1, base)
                );
            }
        }
        path
    }

    /// Adds the part between two layers.
    fn curve(&self, path: &mut Path, from: (i64, i64), to: (i64, i64), sign: i64, down: bool) {
        if from.0 == to.0 {
            path.both(&format!("L{}", self.point(to.0, to.1)));
            return;
        }
        if from.1 == to.1 && (sign > 0) != down {
            // Along a channel and back.
            let side = (to.0 - from.0).signum() * 8;
            path.both(&format!(
                "L{}Q{} {}L{}Q{} {}",
                self.point(from.0, from.1 - sign * 8),
                self.point(from.0, from.1),
                self.point(from.0 + side, from.1),
                self.point(to.0 - side, to.1),
                self.point(to.0, to.1),
                self.point(to.0, to.1 - sign * 8)
            ));
            return;
        }
        let half = (from.1 + to.1).div_euclid(2);
        path.both(&format!(
            "C{} {} {}",
            self.point(from.0, half),
            self.point(to.0, half),
            self.point(to.0, to.1)
        ));
    }
}

/// The way of an arrow: without its gap, with it, and its head.
#[derive(Default)]
struct Path {
    whole: String,
    line: String,
    head: String,
}

impl Path {
    fn both(&mut self, part: &str) {
        self.whole.push_str(part);
        self.line.push_str(part);
    }
}

/// Returns the line between a box and its note.
fn tether(owner: Rect, note: Rect) -> ((i64, i64), (i64, i64)) {
    let middle = |rect: Rect| (rect.x + rect.width / 2, rect.y + rect.height / 2);
    let (center, other) = (middle(owner), middle(note));
    if note.x >= owner.x + owner.width {
        let y = other.1.clamp(owner.y, owner.y + owner.height);
        ((owner.x + owner.width, y), (note.x, y))
    } else if note.x + note.width <= owner.x {
        let y = other.1.clamp(owner.y, owner.y + owner.height);
        ((owner.x, y), (note.x + note.width, y))
    } else if note.y >= owner.y + owner.height {
        ((center.0, owner.y + owner.height), (center.0, note.y))
    } else {
        ((center.0, owner.y), (center.0, note.y + note.height))
    }
}

/// Returns the tooltip of a state: title, id and description.
fn tooltip(state: &super::chart::ChartState) -> String {
    let mut text = if state.kind == crate::ir::StateKind::Final && state.implied {
        "end".to_owned()
    } else {
        state.id.clone()
    };
    for more in [&state.title, &state.description].into_iter().flatten() {
        text.push_str(" – ");
        text.push_str(more.trim());
    }
    text
}

/// Returns the rules with the colors of a theme.
fn style(theme: Theme) -> String {
    let mut rules = String::with_capacity(STYLE.len() * 2);
    for line in STYLE.lines() {
        rules.push_str(&colored(line, theme));
        rules.push('\n');
    }
    if theme != Theme::Auto {
        return rules;
    }
    let properties = |pick: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
        let properties = COLORS
            .iter()
            .map(|color| format!("--sm-{}:{}", color.0, pick(color)));
        properties.collect::<Vec<_>>().join(";")
    };
    let (light, dark) = (properties(|it| it.1), properties(|it| it.2));
    format!(
        "svg.statemark{{{light}}}\n\
         @media(prefers-color-scheme:dark){{svg.statemark{{{dark}}}}}\n\
         [data-theme=light] svg.statemark,svg.statemark[data-theme=light]{{{light}}}\n\
         [data-theme=dark] svg.statemark,[data-theme=ayu] svg.statemark,svg.statemark[data-theme=dark]{{{dark}}}\n\
         {rules}"
    )
}

/// Replaces the names of colors in a rule.
///
/// With custom properties, each declaration has a plain one before it, for programs that don't know them.
fn colored(rule: &str, theme: Theme) -> String {
    let mut colored = String::new();
    let mut rest = rule;
    while let Some((before, after)) = rest.split_once('@') {
        let end = after
            .find(|letter: char| !(letter.is_ascii_lowercase() || letter == '-'))
            .unwrap_or(after.len());
        let (name, after) = after.split_at_checked(end).unwrap_or((after, ""));
        colored.push_str(before);
        let color = COLORS.iter().find(|color| color.0 == name);
        if let Some((name, light, dark)) = color {
            match theme {
                Theme::Light => colored.push_str(light),
                Theme::Dark => colored.push_str(dark),
                Theme::Auto => {
                    let start = before.rfind(['{', ';']).map_or(0, |it| it + 1);
                    let property = before.get(start..).unwrap_or_default();
                    colored.push_str(&format!("{light};{property}var(--sm-{name})"));
                }
            }
        }
        rest = after;
    }
    colored.push_str(rest);
    colored
}

/// Writes tenths as a number.
fn tenths(value: i64) -> String {
    match value % 10 {
        0 => (value / 10).to_string(),
        rest => format!(
            "{}{}.{}",
            if value < 0 { "-" } else { "" },
            (value / 10).abs(),
            rest.abs()
        ),
    }
}

/// Writes an id of a state as a part of an element's id.
fn id(state: &str) -> String {
    let mut id = String::with_capacity(state.len());
    for letter in state.chars() {
        match letter {
            '.' => id.push_str("--"),
            '_' | '-' => id.push(letter),
            _ if letter.is_alphanumeric() => id.push(letter),
            _ => id.push_str(&format!("-x{:x}", u32::from(letter))),
        }
    }
    id
}

/// Escapes a text that a person reads: what can't be seen is shown as what it is.
fn escape_for_people(text: &str) -> String {
    escape(&visible::lines(text, |_| 0))
}

/// Escapes a text for an element or an attribute. What XML can't have is left out.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(' '),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => {}
            _ => push_escaped(&mut escaped, letter),
        }
    }
    escaped
}
