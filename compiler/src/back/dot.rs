//! Graphs in Graphviz's language.
//!
//! Composites are clusters, which links end at by `lhead` and `ltail`; so a reader of the text sees what our own drawing shows.
//! Everything else about the picture is Graphviz's choice.

use std::fmt::Write as _;

use statemark_runtime::Table;

use super::svg::{Chart, ChartState};
use crate::ir::{Direction, StateKind};
use crate::valid::Valid;

/// Writes the graph of a machine.
///
/// ```
/// use statemark_compiler::{Options, back, compile, source::Sources};
///
/// let mut sources = Sources::new();
/// sources.add("door.mmd", "stateDiagram-v2\n[*] --> shut\nshut --> open : push\nopen --> shut : pull");
/// let compiled = compile(&sources, &Options::default());
/// let graph = back::dot::write(&compiled.machines[0]);
/// assert!(graph.contains("s1 -> s2 [label=\"push\"]"));
/// ```
#[must_use]
pub fn write(valid: &Valid) -> String {
    write_chart(&Chart::of_machine(valid))
}

/// Writes the graph of a table's machine.
#[must_use]
pub fn write_table(table: &Table) -> String {
    write_chart(&Chart::of_table(table))
}

fn write_chart(chart: &Chart) -> String {
    let mut writer = Writer {
        chart,
        text: String::new(),
    };
    writer.graph();
    writer.text
}

struct Writer<'c> {
    chart: &'c Chart,
    text: String,
}

/// The end of an arrow: the node that it is drawn to, and the cluster that it stops at.
struct End {
    node: String,
    cluster: Option<usize>,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        // Writing to a string can't fail.
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(depth));
    }

    fn graph(&mut self) {
        let chart = self.chart;
        let direction = match chart.direction {
            Some(Direction::LeftRight) => "LR",
            Some(Direction::RightLeft) => "RL",
            Some(Direction::BottomTop) => "BT",
            _ => "TB",
        };
        self.line(0, &format!("digraph {} {{", quoted(&chart.id)));
        self.line(
            1,
            &format!("rankdir={direction}; compound=true; fontname=\"Helvetica\";"),
        );
        self.line(
            1,
            "node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=11];",
        );
        self.line(1, "edge [fontname=\"Helvetica\", fontsize=10];");
        self.body(0, 1);
        for (index, state) in chart.states.iter().enumerate() {
            if let Some((targets, actions)) = &state.initial {
                let from = match state.kind {
                    kind if kind.is_history() => format!("s{index}"),
                    StateKind::Parallel => continue,
                    _ => format!("i{index}"),
                };
                let label = if actions.is_empty() {
                    String::new()
                } else {
                    format!("/ {actions}")
                };
                for &target in targets {
                    self.arrow(
                        &End {
                            node: from.clone(),
                            cluster: None,
                        },
                        target,
                        &label,
                        None,
                    );
                }
            }
        }
        for transition in chart.transitions.iter().filter(|it| !it.hidden) {
            let from = match transition.source {
                0 => End {
                    node: "any".to_owned(),
                    cluster: None,
                },
                source => self.end(source),
            };
            let enclosing = self
                .is_composite(transition.source)
                .then_some(transition.source);
            for &target in &transition.targets {
                self.arrow(&from, target, &transition.label(), enclosing);
            }
        }
        self.line(0, "}");
    }

    fn body(&mut self, scope: usize, depth: usize) {
        let Some(state) = self.chart.states.get(scope) else {
            return;
        };
        if state.initial.is_some() && !state.kind.is_history() && state.kind != StateKind::Parallel
        {
            self.line(
                depth,
                &format!("i{scope} [shape=point, width=0.15, label=\"\"];"),
            );
        }
        if scope == 0
            && self
                .chart
                .transitions
                .iter()
                .any(|it| it.source == 0 && !it.hidden)
        {
            self.line(
                depth,
                "any [label=\"in every state\", style=\"rounded,dashed\"];",
            );
        }
        for &child in &state.children {
            self.state(child, depth);
        }
    }

    fn state(&mut self, index: usize, depth: usize) {
        let Some(state) = self.chart.states.get(index) else {
            return;
        };
        if self.is_composite(index) {
            self.line(depth, &format!("subgraph cluster_{index} {{"));
            let label = if state.implied {
                String::new()
            } else {
                self.label(index, state)
            };
            let style = if state.implied { "dashed" } else { "rounded" };
            self.line(
                depth + 1,
                &format!("label={}; style={style};", quoted(&label)),
            );
            // An arrow needs a node to lead to.
            self.line(
                depth + 1,
                &format!("s{index} [shape=point, style=invis, width=0, label=\"\"];"),
            );
            self.body(index, depth + 1);
            self.line(depth, "}");
            return;
        }
        let shape = match state.kind {
            StateKind::Final if state.implied => {
                "shape=doublecircle, width=0.15, style=filled, fillcolor=black, label=\"\""
                    .to_owned()
            }
            StateKind::History => "shape=circle, label=\"H\"".to_owned(),
            StateKind::DeepHistory => "shape=circle, label=\"H*\"".to_owned(),
            StateKind::Final => {
                format!("peripheries=2, label={}", quoted(&self.label(index, state)))
            }
            _ => format!("label={}", quoted(&self.label(index, state))),
        };
        self.line(depth, &format!("s{index} [{shape}];"));
    }

    /// Returns the lines in a state: its title or id, its actions, and what it does without leaving.
    fn label(&self, index: usize, state: &ChartState) -> String {
        let mut lines = vec![state.title.clone().unwrap_or_else(|| state.id.clone())];
        for (word, actions) in [("entry", &state.entry), ("exit", &state.exit)] {
            if !actions.is_empty() {
                lines.push(format!("{word} / {actions}"));
            }
        }
        let own = self.chart.transitions.iter();
        let own = own.filter(|it| it.source == index && it.targets.is_empty() && !it.hidden);
        lines.extend(own.map(super::svg::ChartTransition::label));
        lines.join("\n")
    }

    fn is_composite(&self, index: usize) -> bool {
        let state = self.chart.states.get(index);
        index > 0 && state.is_some_and(|state| !state.children.is_empty())
    }

    fn end(&self, state: usize) -> End {
        End {
            node: format!("s{state}"),
            cluster: self.is_composite(state).then_some(state),
        }
    }

    fn arrow(&mut self, from: &End, target: usize, label: &str, enclosing: Option<usize>) {
        let to = self.end(target);
        let mut attributes = Vec::new();
        if !label.is_empty() {
            attributes.push(format!("label={}", quoted(label)));
        }
        if let Some(cluster) = from.cluster.filter(|_| enclosing != Some(target)) {
            attributes.push(format!("ltail=cluster_{cluster}"));
        }
        if let Some(cluster) = to.cluster.filter(|_| enclosing != Some(target)) {
            attributes.push(format!("lhead=cluster_{cluster}"));
        }
        let attributes = match attributes.is_empty() {
            true => String::new(),
            false => format!(" [{}]", attributes.join(", ")),
        };
        self.line(1, &format!("{} -> {}{attributes};", from.node, to.node));
    }
}

/// Writes a text between quotes.
fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace(['\r', '\0'], "");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}
