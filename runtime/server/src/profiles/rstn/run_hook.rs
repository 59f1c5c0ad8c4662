//! `rstn_run_hook`: a check that the workflow or the project declares.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape;
use crate::ctx::Ctx;
use crate::envelope::find_refusal;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::project::checks;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Name of the hook (e.g. lint, test, format).
    hook_name: String,
    /// Additional arguments to pass to the hook.
    #[serde(default)]
    args: Vec<String>,
}

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("rstn_run_hook", Set::Rstn, Annotations::ADDITIVE),
        (
            "Run a hook",
            "Run a project-configured hook command, such as lint, test or format.",
        ),
        shape,
        run,
    )
    .equivalent_to("run_check")
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let name = &input.hook_name;
    let request = checks::Request {
        name,
        args: &input.args,
        run: None,
        expected_seq: None,
        idempotency_key: None,
    };
    let outcome = checks::run_check(ctx, &request);
    let outcome = outcome.map_err(|problem| unknown(name, problem))?;
    let Some(ran) = outcome.ran else {
        let refused = outcome.written.as_ref().and_then(find_refusal);
        let message = format!("'{name}' wasn't run");
        return Err(refused.map_or_else(
            || Problem::new("not_run", message),
            |it| Problem::refused(&it),
        ));
    };
    // Where the program couldn't be begun, nothing else says so.
    let stderr = ran
        .problem
        .map_or_else(|| ran.stderr.clone(), |it| format!("{}{it}", ran.stderr));
    Ok(json!({
        "hook_name": name,
        "exit_code": ran.exit_code.map_or(-1, i64::from),
        "stdout": ran.stdout,
        "stderr": stderr,
        "duration_secs": Duration::from_millis(ran.milliseconds).as_secs_f64(),
    }))
}

/// That there is no such hook, as rstn says it.
fn unknown(name: &str, mut problem: Problem) -> Problem {
    if problem.code == "unknown_check" {
        let known = problem.details.get("known").and_then(Value::as_array);
        let known = known.into_iter().flatten().filter_map(Value::as_str);
        let known: Vec<&str> = known.collect();
        problem.message = format!("Hook not found: {name}. Available: {}", known.join(", "));
    }
    problem
}
