//! Metrics in Prometheus' format.
//!
//! They are calls by tool and outcome, refusals by code (those of the middleware, too), the duration of calls, connections,
//! runs by status, and whether the store is reachable.
//!
//! What to rely on: the store counts all of its runs, once in some seconds however often somebody asks; in between, the last
//! numbers hold. A status without runs is 0. If the store can't count, runs are left out: old numbers would be taken for new.

use std::collections::BTreeMap;
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use statemark_runs::Status;

/// The media type of [`Metrics::text`].
pub(crate) const MEDIA: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The upper ends of the buckets of durations. Unit: seconds.
///
/// Why: most calls take under a millisecond, `wait_run` up to 25 s.
const BUCKETS: [f64; 11] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0, 30.0,
];

/// Shortest time between two counts of the runs.
///
/// Why: Prometheus asks every 15 s; a client that asks all the time must not keep the store busy.
const COUNT_INTERVAL: Duration = Duration::from_secs(5);

type Labels<const N: usize> = [(&'static str, String); N];

/// The counters of a server. They begin at zero with each start.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<Vec<(&'static str, String)>, Counter>,
    refusals: Family<Vec<(&'static str, String)>, Counter>,
    seconds: Histogram,
    connections: Gauge,
    runs: Family<Vec<(&'static str, String)>, Gauge>,
    store: Gauge,
    /// The time of the last count of runs.
    counted: Mutex<Option<Instant>>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("statemark");
        let calls = Family::<Vec<(&'static str, String)>, Counter>::default();
        let refusals = Family::<Vec<(&'static str, String)>, Counter>::default();
        let seconds = Histogram::new(BUCKETS);
        let connections = Gauge::default();
        registry.register("calls", "Calls of tools", calls.clone());
        registry.register("refusals", "Refused calls and requests", refusals.clone());
        registry.register("call_seconds", "Duration of calls", seconds.clone());
        registry.register("connections", "Open connections", connections.clone());
        let runs = Family::<Vec<(&'static str, String)>, Gauge>::default();
        registry.register("runs", "Runs of the store, by status", runs.clone());
        let store = Gauge::default();
        let what = "1 if the store answered when it was used last, else 0";
        registry.register("store_reachable", what, store.clone());
        Self {
            registry,
            calls,
            refusals,
            seconds,
            connections,
            runs,
            store,
            counted: Mutex::default(),
        }
    }
}

impl Metrics {
    /// Counts a call, with the code of its problem if it had one.
    pub(crate) fn count_call(&self, tool: &str, code: Option<&str>, took: Duration) {
        let outcome = if code.is_some() { "refused" } else { "ok" };
        let labels: Labels<2> = [("tool", tool.to_owned()), ("outcome", outcome.to_owned())];
        self.calls.get_or_create(&labels.to_vec()).inc();
        if let Some(code) = code {
            self.count_refusal(code);
        }
        self.seconds.observe(took.as_secs_f64());
    }

    /// Counts a refusal of a call, or of a request that came to no call.
    pub(crate) fn count_refusal(&self, code: &str) {
        let labels: Labels<1> = [("code", code.to_owned())];
        self.refusals.get_or_create(&labels.to_vec()).inc();
    }

    /// Counts a new connection.
    pub(crate) fn count_opened(&self) {
        self.connections.inc();
    }

    /// Counts a connection less.
    pub(crate) fn count_closed(&self) {
        self.connections.dec();
    }

    /// Counts the runs, unless that was just done.
    fn count_runs(&self, count: impl FnOnce() -> Option<BTreeMap<String, u64>>) {
        let mut counted = match self.counted.try_lock() {
            Ok(counted) => counted,
            Err(TryLockError::Poisoned(counted)) => counted.into_inner(),
            // Another thread counts.
            Err(TryLockError::WouldBlock) => return,
        };
        if counted.is_some_and(|last| last.elapsed() < COUNT_INTERVAL) {
            return;
        }
        let counts = count();
        *counted = Some(Instant::now());
        let Some(counts) = counts else {
            self.runs.clear();
            return;
        };
        let none = Status::ALL.map(|it| (it.name().to_owned(), 0));
        for (status, number) in none.into_iter().chain(counts) {
            let labels: Labels<1> = [("status", status)];
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            self.runs.get_or_create(&labels.to_vec()).set(number);
        }
    }

    /// Writes all metrics. Counts the runs, which may take its time, unless that was just done.
    ///
    /// `is_reachable` is asked about the store after that.
    pub(crate) fn text(
        &self,
        count: impl FnOnce() -> Option<BTreeMap<String, u64>>,
        is_reachable: impl FnOnce() -> bool,
    ) -> String {
        self.count_runs(count);
        self.store.set(i64::from(is_reachable()));
        let mut text = String::new();
        match encode(&mut text, &self.registry) {
            Ok(()) => text,
            // A part would be taken for all.
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
        metrics.count_call("get_run", None, Duration::from_micros(700));
        metrics.count_call("get_run", Some("unknown_run"), Duration::from_micros(200));
        metrics.count_opened();
        let text = metrics.text(|| None, || true);
        for line in [
            "statemark_calls_total{tool=\"get_run\",outcome=\"ok\"} 1",
            "statemark_calls_total{tool=\"get_run\",outcome=\"refused\"} 1",
            "statemark_refusals_total{code=\"unknown_run\"} 1",
            "statemark_call_seconds_bucket{le=\"0.001\"} 2",
            "statemark_call_seconds_count 2",
            "statemark_connections 1",
            "statemark_store_reachable 1",
            "# EOF",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in\n{text}");
        }
        assert!(!text.contains("statemark_runs{"), "{text}");
        let lost = metrics.text(|| None, || false);
        assert!(lost.contains("statemark_store_reachable 0"), "{lost}");
    }

    #[test]
    fn runs_are_counted_once_in_a_while() {
        let metrics = Metrics::default();
        let runs = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|it| it.starts_with("statemark_runs{"));
            let mut lines: Vec<String> = lines.map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let counts = |number| Some(BTreeMap::from([("waiting".to_owned(), number)]));
        let expected = [
            "statemark_runs{status=\"cancelled\"} 0",
            "statemark_runs{status=\"completed\"} 0",
            "statemark_runs{status=\"failed\"} 0",
            "statemark_runs{status=\"paused\"} 0",
            "statemark_runs{status=\"running\"} 0",
            "statemark_runs{status=\"waiting\"} 7",
        ];
        assert_eq!(runs(&metrics.text(|| counts(7), || true)), expected);
        for _ in 0..100 {
            let text = metrics.text(|| panic!("counted again at once"), || true);
            assert_eq!(runs(&text), expected);
        }
        // While one counts, the others don't wait for it.
        let forget = || *metrics.counted.lock().unwrap() = None;
        forget();
        let twice = || metrics.text(|| panic!("counted twice"), || true);
        let count = || {
            assert_eq!(runs(&twice()), expected);
            counts(0)
        };
        metrics.text(count, || true);
        assert!(
            metrics
                .text(|| None, || true)
                .contains("{status=\"waiting\"} 0")
        );
        forget();
        assert_eq!(runs(&metrics.text(|| None, || true)), [""; 0]);
    }
}
