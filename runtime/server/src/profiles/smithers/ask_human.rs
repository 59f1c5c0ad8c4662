//! `ask_human`: blocks a run until a person has answered, and waits for that as long as clients have patience.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::{RequestKind, Resolution};
use statemark_runs::runs::run_of_request;
use statemark_runs::state::Request;
use statemark_runs::{Loaded, OpenRequest};

use super::affirmative::is_affirmative;
use super::{invalid, nodes, shape, summary};
use crate::ctx::Ctx;
use crate::envelope::{find_refusal, opened_request, set_field};
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    /// The question.
    prompt: String,
    /// Whatever else the person should read.
    context: Option<String>,
    /// The only answers that there are.
    choices: Option<Vec<String>>,
    /// The run; else that of the environment (`SMITHERS_RUN_ID`), else the only active one.
    run_id: Option<String>,
    /// The node; else that of the environment (`SMITHERS_NODE_ID`), else the active one.
    node_id: Option<String>,
    /// The visit of the node; else that of the environment (`SMITHERS_ITERATION`), else the one that goes on.
    iteration: Option<u64>,
    /// Seconds until the question expires; 0 for never.
    timeout_seconds: Option<f64>,
    /// Seconds between two looks; 3 if it isn't given, 0.25 at least.
    poll_seconds: Option<f64>,
    /// Go on waiting for a question that was asked before.
    request_id: Option<String>,
}

/// Longest wait of a call. Why: clients give up after 30 seconds or more.
const LONGEST: Duration = Duration::from_secs(25);

/// How often it is looked whether the caller has given up.
const BLINK: Duration = Duration::from_millis(50);

pub(super) fn tool() -> Tool {
    let hints = Annotations {
        open_world: true,
        ..Annotations::ADDITIVE
    };
    Tool::profile(
        ("ask_human", Set::Smithers, hints),
        (
            "Ask a person",
            "Blocks the run and asks a person. `pending` says that nobody has answered yet: call again with `next.arguments`.",
        ),
        shape,
        run,
    )
    .equivalent_to("request_human")
    .with_output(&[
        ("requestId", "string"),
        ("runId", "string"),
        ("nodeId", "string"),
        ("iteration", "integer"),
        ("status", "string"),
        ("decision", "string"),
        ("response", ""),
        ("answeredBy", ""),
    ])
}

/// The question, and where it was asked.
struct Asked {
    request: String,
    node: String,
    iteration: u64,
    loaded: Loaded,
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let poll = seconds("pollSeconds", input.poll_seconds.unwrap_or(3.0), 0.25)?;
    let expires = seconds("timeoutSeconds", input.timeout_seconds.unwrap_or(0.0), 0.0)?;
    let mut asked = match &input.request_id {
        Some(request) => asked_before(ctx, request)?,
        None => ask(ctx, input, expires)?,
    };
    let longest = if expires.is_zero() {
        LONGEST
    } else {
        LONGEST.min(expires)
    };
    let began = Instant::now();
    loop {
        let request = asked.loaded.state.requests.get(&asked.request);
        if request.is_none_or(|it| it.resolved.is_some()) {
            return Ok(told(&asked, request));
        }
        if ctx.is_cancelled() {
            return Ok(still(&asked, input, "aborted"));
        }
        if began.elapsed() >= longest {
            return Ok(still(&asked, input, "pending"));
        }
        let share = began.elapsed().as_secs_f64() / longest.as_secs_f64();
        ctx.report_progress(
            share,
            &format!("waiting for an answer to `{}`", asked.request),
        );
        let from = Instant::now();
        while from.elapsed() < poll && began.elapsed() < longest && !ctx.is_cancelled() {
            std::thread::sleep(BLINK);
        }
        asked.loaded = ctx.runs().catch_up(&asked.loaded.run)?;
    }
}

/// A length of time that makes sense.
fn seconds(name: &str, given: f64, least: f64) -> Result<Duration, Problem> {
    let problem = || {
        invalid(format!(
            "`{name}`: {given} isn't a number of seconds from {least}"
        ))
    };
    if given < least {
        return Err(problem());
    }
    Duration::try_from_secs_f64(given).map_err(|_| problem())
}

fn asked_before(ctx: &Ctx<'_>, request: &str) -> Result<Asked, Problem> {
    let Some(run) = run_of_request(request) else {
        return Err(invalid(format!(
            "`requestId`: `{request}` is no request's id"
        )));
    };
    let loaded = ctx.load_run(Some(run.as_str()))?;
    let found = loaded.state.requests.get(request);
    let node = found.and_then(|it| it.opened.states.first().cloned());
    let node = node.or_else(|| summary::active_node(&loaded).map(str::to_owned));
    let node = node.unwrap_or_default();
    Ok(Asked {
        request: request.to_owned(),
        iteration: summary::iteration(ctx, &loaded, &node)?,
        node,
        loaded,
    })
}

fn ask(ctx: &Ctx<'_>, input: &Input, expires: Duration) -> Result<Asked, Problem> {
    let prompt = input.prompt.trim();
    if prompt.is_empty() {
        return Err(invalid("`prompt`: say what the person should decide"));
    }
    let asks = &ctx.options().asks;
    // Who is bound to a run means that one, whatever the environment says.
    let given = asks.run.as_deref().filter(|_| ctx.bound_run().is_none());
    let run = ctx
        .resolve_run(input.run_id.as_deref().or(given))
        .map_err(|problem| {
            let code = match problem.code.as_str() {
                "no_run" => "ASK_HUMAN_NO_ACTIVE_RUN",
                "several_runs" => "ASK_HUMAN_AMBIGUOUS_RUN",
                _ => return problem,
            };
            Problem {
                code: code.to_owned(),
                ..problem
            }
        })?;
    let before = ctx.runs().catch_up(&run)?;
    let (node, iteration) = place(ctx, input, &before)?;
    let prompt = match &input.context {
        Some(context) => format!("{prompt}\n\n{context}"),
        None => prompt.to_owned(),
    };
    let choices = input.choices.clone().unwrap_or_default();
    let kind = if choices.is_empty() {
        RequestKind::Text
    } else {
        RequestKind::Select
    };
    let milliseconds = u64::try_from(expires.as_millis()).ok();
    let ask = OpenRequest {
        choices,
        state: Some(node.clone()),
        blocking: true,
        expires_in: milliseconds.filter(|it| *it > 0),
        ..OpenRequest::new(kind, prompt)
    };
    let order = ctx.order(run, None, None)?;
    let written = ctx.runs().execute(&order, &ask)?;
    if let Some(refused) = find_refusal(&written) {
        return Err(Problem::refused(&refused));
    }
    let lost = || Problem::new("failed", "the question wasn't recorded");
    Ok(Asked {
        request: opened_request(&written).ok_or_else(lost)?,
        node,
        iteration,
        loaded: written.loaded,
    })
}

/// The node that is meant, and the iteration that it is in. What the environment says of them holds for the run that it
/// names.
fn place(ctx: &Ctx<'_>, input: &Input, loaded: &Loaded) -> Result<(String, u64), Problem> {
    let asks = &ctx.options().asks;
    let is_of_run = asks
        .run
        .as_deref()
        .is_none_or(|run| run == loaded.run.as_str());
    let node = input.node_id.as_ref();
    let node = match node.or(asks.node.as_ref().filter(|_| is_of_run)) {
        Some(node) => node.clone(),
        None => summary::active_node(loaded).unwrap_or_default().to_owned(),
    };
    nodes::known(loaded, &node)?;
    let is_of_node = is_of_run && asks.node.as_ref().is_none_or(|it| *it == node);
    let given = asks.iteration.as_ref().filter(|_| is_of_node);
    let given = given.map(|text| {
        let problem = |_| invalid(format!("`SMITHERS_ITERATION`: `{text}` is no number"));
        text.parse::<u64>().map_err(problem)
    });
    let wanted = match input.iteration {
        Some(wanted) => Some(wanted),
        None => given.transpose()?,
    };
    let iteration = summary::iteration(ctx, loaded, &node)?;
    match wanted {
        Some(wanted) if wanted != iteration => Err(invalid(format!(
            "`iteration`: `{node}` is in iteration {iteration}, not {wanted}"
        ))),
        _ => Ok((node, iteration)),
    }
}

/// A question that is over; without a request if nothing is known of it, or no more.
fn told(asked: &Asked, request: Option<&Request>) -> Value {
    let resolved = request.and_then(|it| it.resolved.as_ref());
    let Some((resolved, who, _)) = resolved else {
        return answer(asked, "missing", "blocked", &Value::Null, None);
    };
    let status = match resolved.resolution {
        Resolution::Expired => "expired",
        Resolution::Withdrawn => "cancelled",
        Resolution::Approved | Resolution::Denied | Resolution::SentBack | Resolution::Answered => {
            "answered"
        }
    };
    let is_yes = match resolved.resolution {
        Resolution::Approved => true,
        Resolution::Answered => resolved.value.as_ref().is_some_and(is_affirmative),
        _ => false,
    };
    let decision = if is_yes { "approved" } else { "blocked" };
    let response = resolved.value.clone().unwrap_or_default();
    answer(asked, status, decision, &response, Some(&who.to_string()))
}

/// A question that nobody has answered: nobody may go on, and how to go on waiting.
fn still(asked: &Asked, input: &Input, status: &str) -> Value {
    let mut told = answer(asked, status, "blocked", &Value::Null, None);
    let arguments = json!({"prompt": input.prompt, "requestId": asked.request});
    let next = json!({"tool": "ask_human", "arguments": arguments});
    set_field(&mut told, "next", next);
    told
}

fn answer(
    asked: &Asked,
    status: &str,
    decision: &str,
    response: &Value,
    by: Option<&str>,
) -> Value {
    json!({
        "requestId": asked.request,
        "runId": asked.loaded.run,
        "nodeId": asked.node,
        "iteration": asked.iteration,
        "status": status,
        "decision": decision,
        "response": response,
        "answeredBy": by,
    })
}
