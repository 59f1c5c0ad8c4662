//! `run_check`: a check that the workflow or the project declares, such as its tests.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::check::CheckResult;

use crate::ctx::Ctx;
use crate::envelope::{Fields, answer_order, into_fields, set_field};
use crate::options::Set;
use crate::project::checks;
use crate::tool::{Annotations, Tool};

/// Most bytes of each output stream in an answer. Why: both fit into a reply beside `next`.
const MAX_OUTPUT: usize = 3 << 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The check's name.
    name: String,
    /// Arguments behind its own; no shell reads them.
    #[serde(default)]
    args: Vec<String>,
    /// The run that remembers it; may be left out where only one is meant, or none.
    run_id: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("run_check", Set::Project, Annotations::IDEMPOTENT),
        (
            "Run a check",
            "Runs a check that the workflow (`checks`) or `statemark.toml` declares, and gives what came of it: exit code, \
             the end of its output, seconds. A run remembers it, so that a state can require it.",
        ),
        &[
            ("name", "string"),
            ("passed", "boolean"),
            ("exit_code", ""),
            ("stdout", "string"),
            ("stderr", "string"),
            ("seconds", "number"),
            ("next", "object"),
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let request = checks::Request {
        name: &input.name,
        args: &input.args,
        run: input.run_id.as_deref(),
        expected_seq: input.expected_seq,
        idempotency_key: input.idempotency_key.as_deref(),
    };
    let outcome = checks::run_check(ctx, &request)?;
    let answer = describe(&input.name, outcome.ran.as_ref());
    match &outcome.written {
        Some(written) => answer_order(written, answer),
        None => Ok(into_fields(answer)),
    }
}

/// Describes the result of a check; of long outputs the end, which says what failed.
fn describe(name: &str, ran: Option<&CheckResult>) -> Value {
    let Some(ran) = ran else {
        return json!({"name": name});
    };
    let (stdout, cut_out) = tail(&ran.stdout);
    let (stderr, cut_err) = tail(&ran.stderr);
    let cut = u64::try_from(cut_out.saturating_add(cut_err)).unwrap_or(u64::MAX);
    let mut answer = json!({
        "name": name,
        "passed": ran.passed,
        "exit_code": ran.exit_code,
        "stdout": stdout,
        "stderr": stderr,
        "seconds": Duration::from_millis(ran.milliseconds).as_secs_f64(),
    });
    if ran.cancelled {
        set_field(&mut answer, "cancelled", json!(true));
    }
    if let Some(problem) = &ran.problem {
        set_field(&mut answer, "problem", json!(problem));
    }
    let left_out = ran.left_out.saturating_add(cut);
    if left_out > 0 {
        set_field(&mut answer, "left_out", json!(left_out));
    }
    answer
}

/// Returns the end of a string, and the bytes before it.
fn tail(text: &str) -> (&str, usize) {
    let mut start = text.len().saturating_sub(MAX_OUTPUT);
    while !text.is_char_boundary(start) {
        start = start.saturating_add(1);
    }
    (text.get(start..).unwrap_or_default(), start)
}
