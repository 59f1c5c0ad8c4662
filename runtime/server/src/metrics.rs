//! What is counted, as Prometheus reads it: calls by tool and outcome, refusals by code, how long calls took, connections.
//!
//! Deliberately not here: numbers about runs. They are in the store, and a scrape shouldn't have it counted.

use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// The kind of text that [`Metrics::text`] gives.
pub(crate) const MEDIA: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The upper ends of the buckets of latencies. Unit: seconds. Why: most calls take under a millisecond, `wait_run` up to 25 s.
const BUCKETS: [f64; 11] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0, 30.0,
];

type Labels<const N: usize> = [(&'static str, String); N];

/// The counters of a server. They begin at zero whenever it starts.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<Vec<(&'static str, String)>, Counter>,
    refusals: Family<Vec<(&'static str, String)>, Counter>,
    seconds: Histogram,
    connections: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("statemark");
        let calls = Family::<Vec<(&'static str, String)>, Counter>::default();
        let refusals = Family::<Vec<(&'static str, String)>, Counter>::default();
        let seconds = Histogram::new(BUCKETS);
        let connections = Gauge::default();
        registry.register("calls", "Calls of tools", calls.clone());
        registry.register(
            "refusals",
            "Calls that weren't answered as asked",
            refusals.clone(),
        );
        registry.register("call_seconds", "How long calls took", seconds.clone());
        registry.register("connections", "Open connections", connections.clone());
        Self {
            registry,
            calls,
            refusals,
            seconds,
            connections,
        }
    }
}

impl Metrics {
    /// Counts a call. The code is that of its problem, if it had one.
    pub(crate) fn called(&self, tool: &'static str, code: Option<&str>, took: Duration) {
        let outcome = if code.is_some() { "refused" } else { "ok" };
        let labels: Labels<2> = [("tool", tool.to_owned()), ("outcome", outcome.to_owned())];
        self.calls.get_or_create(&labels.to_vec()).inc();
        if let Some(code) = code {
            let labels: Labels<1> = [("code", code.to_owned())];
            self.refusals.get_or_create(&labels.to_vec()).inc();
        }
        self.seconds.observe(took.as_secs_f64());
    }

    /// A connection was opened.
    pub(crate) fn opened(&self) {
        self.connections.inc();
    }

    /// A connection was closed.
    pub(crate) fn closed(&self) {
        self.connections.dec();
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        match encode(&mut text, &self.registry) {
            Ok(()) => text,
            // Half of it would be taken for all.
            Err(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_told() {
        let metrics = Metrics::default();
        metrics.called("get_run", None, Duration::from_micros(700));
        metrics.called("get_run", Some("unknown_run"), Duration::from_micros(200));
        metrics.opened();
        let text = metrics.text();
        for line in [
            "statemark_calls_total{tool=\"get_run\",outcome=\"ok\"} 1",
            "statemark_calls_total{tool=\"get_run\",outcome=\"refused\"} 1",
            "statemark_refusals_total{code=\"unknown_run\"} 1",
            "statemark_call_seconds_bucket{le=\"0.001\"} 2",
            "statemark_call_seconds_count 2",
            "statemark_connections 1",
            "# EOF",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in\n{text}");
        }
    }
}
