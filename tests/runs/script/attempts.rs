//! Attempts of an executor in transcripts.
//!
//! ```text
//! > attempt work                    an attempt begins in `work`
//! > turn 1 500                      attempt 1 has used so many tokens
//! > ended 1 failed no answer        how it ended, and why
//! > attempts work                   those that count in the present visit
//! ```

use std::fmt::Write as _;

use serde_json::json;
use statemark_runs::runs::{EndAttempt, RecordTurn, StartAttempt};
use statemark_runs::{Hash, Order, RunError, acquire_lease};

use super::shown;
use crate::harness::Bench;

pub(super) const WORDS: [&str; 4] = ["attempt", "turn", "ended", "attempts"];

pub(super) fn act(
    bench: &Bench,
    order: &Order,
    word: &str,
    rest: &str,
) -> Result<String, RunError> {
    let (first, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let of_attempt = |number: &str| Order {
        attempt: number.parse().ok(),
        ..order.clone()
    };
    match word {
        "attempt" => {
            let lease = acquire_lease(&bench.runs, &order.run, "worker", 60_000)?;
            let order = Order {
                fence: Some(lease.fence),
                ..order.clone()
            };
            let start = StartAttempt {
                state: first.to_owned(),
                executor: "model".to_owned(),
                model: None,
                task: None,
                prompt: Hash::digest(b"Do it."),
                left_out: Vec::new(),
            };
            Ok(shown(&bench.runs.execute(&order, &start)?))
        }
        "turn" => {
            let turn = RecordTurn {
                usage: Some((rest.parse().expect("tokens"), 0, None)),
                ..RecordTurn::default()
            };
            Ok(shown(&bench.runs.execute(&of_attempt(first), &turn)?))
        }
        "ended" => {
            let (outcome, reason) = rest.split_once(' ').unwrap_or((rest, ""));
            let end = EndAttempt {
                outcome: serde_json::from_value(json!(outcome)).expect("an outcome"),
                reason: (!reason.is_empty()).then(|| reason.to_owned()),
            };
            Ok(shown(&bench.runs.execute(&of_attempt(first), &end)?))
        }
        _ => {
            let loaded = bench.runs.load(&order.run)?;
            let mut text = String::new();
            for attempt in loaded.state.counted_attempts(first) {
                let _ = write!(
                    text,
                    "{}: {} tokens",
                    attempt.number,
                    attempt.usage.tokens()
                );
                if let Some(reason) = attempt.failure() {
                    let _ = write!(text, ", came to nothing: {}", reason.unwrap_or("unsaid"));
                }
                text.push('\n');
            }
            Ok(if text.is_empty() {
                "none\n".to_owned()
            } else {
                text
            })
        }
    }
}
