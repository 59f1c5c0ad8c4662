//! `rstn_run_hook`: a check that the workflow or the project declares.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape;
use crate::call::Call;
use crate::problem::Problem;
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::project::run_check::{self, ran};
use crate::tools::refusal;

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
    Tool::foreign(
        ("rstn_run_hook", Set::Rstn, Hints::ADDS),
        (
            "Run a hook",
            "Run a project-configured hook command, such as lint, test or format.",
        ),
        shape,
        run,
    )
    .like("run_check")
}

fn run(call: &Call<'_>, input: &Input) -> Outcome {
    let name = &input.hook_name;
    let wanted = run_check::Input {
        name: name.clone(),
        args: input.args.clone(),
        ..run_check::Input::default()
    };
    let (written, ran) = ran(call, &wanted).map_err(|problem| unknown(name, problem))?;
    let Some(ran) = ran else {
        let refused = written.as_ref().and_then(refusal);
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
