//! Questions to people: `list_pending_approvals`, `resolve_approval`, `ask_human`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use statemark_runs::body::{RequestKind, Resolution};
use statemark_runs::runs::run_of_request;
use statemark_runs::state::Request;
use statemark_runs::{AnswerRequest, Loaded, OpenRequest, Reply};
use statemark_tools::envelope::set_field;
use statemark_tools::requests::{Filter, PendingRequest, list_open};
use statemark_tools::{Ctx, Outcome, Problem, ProfileTool, Tool};

use super::affirmative::is_affirmative;
use super::nodes::{self, check_node};
use super::summary::{self, Summarizer};
use super::{
    ENDING, ITERATION, MAX_WAIT, NODE, REACHING, READ_ONLY, RUN, invalid, is_approval, tool,
};
use crate::{execute, read_record};

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(&ProfileTool {
            name: "list_pending_approvals",
            title: "List pending approvals",
            description: "Approvals that wait for a person, of all runs or of one, of a workflow, of a node.",
            annotations: READ_ONLY,
            output: "approvals: array",
            equivalent: Some("list_requests"),
            run: list_pending_approvals,
        }),
        tool(&ProfileTool {
            name: "resolve_approval",
            title: "Resolve an approval",
            description: "Approves or denies the one approval that the filters match: a person's call, with a person's token.",
            annotations: ENDING,
            output: "action: string, approval: object, run",
            equivalent: Some("resolve_request"),
            run: resolve_approval,
        }),
        tool(&ProfileTool {
            name: "ask_human",
            title: "Ask a person",
            description: "Blocks the run and asks a person. `pending` says that nobody has answered yet: call again with `next.arguments`.",
            annotations: REACHING,
            output: "requestId: string, runId: string, nodeId: string, iteration: integer, status: string, decision: string, response, answeredBy",
            equivalent: Some("request_human"),
            run: ask_human,
        }),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListPendingApprovals {
    /// Only of this run.
    run_id: Option<String>,
    /// Only of runs of this workflow.
    workflow_name: Option<String>,
    /// Only of this node.
    node_id: Option<String>,
}

/// The filters of approvals.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApprovalFilter<'f> {
    run_id: Option<&'f str>,
    workflow_name: Option<&'f str>,
    node_id: Option<&'f str>,
    iteration: Option<u64>,
}

impl ApprovalFilter<'_> {
    /// Finds the approvals that match and wait for a decision.
    fn find(&self, ctx: &Ctx<'_>) -> Result<Vec<(Arc<Loaded>, Request)>, Problem> {
        let mut found = Vec::new();
        let filter = Filter {
            run: self.run_id,
            workflow: self.workflow_name,
            ..Filter::default()
        };
        for PendingRequest { loaded, request } in list_open(ctx, &filter, usize::MAX)? {
            if !is_approval(&request) {
                continue;
            }
            let (node, iteration) = position(ctx, &loaded, Some(&request))?;
            if self.node_id.is_none_or(|wanted| wanted == node)
                && self.iteration.is_none_or(|wanted| wanted == iteration)
            {
                found.push((loaded, request));
            }
        }
        Ok(found)
    }
}

/// Returns the node that a request is about, and the number of its visit.
fn position<'l>(
    ctx: &Ctx<'_>,
    loaded: &'l Loaded,
    request: Option<&'l Request>,
) -> Result<(&'l str, u64), Problem> {
    let node = request.and_then(|it| it.opened.states.first().map(String::as_str));
    let node = node.or_else(|| nodes::active_node(loaded));
    let node = node.or_else(|| loaded.state.leaves.first().map(String::as_str));
    let node = node.unwrap_or_default();
    Ok((node, nodes::iteration(ctx, loaded, node)?))
}

fn list_pending_approvals(ctx: &Ctx<'_>, input: &ListPendingApprovals) -> Outcome {
    let filter = ApprovalFilter {
        run_id: input.run_id.as_deref(),
        workflow_name: input.workflow_name.as_deref(),
        node_id: input.node_id.as_deref(),
        iteration: None,
    };
    let found = filter.find(ctx)?;
    let approvals = found
        .iter()
        .map(|(loaded, request)| describe_approval(ctx, loaded, request));
    let approvals = approvals.collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({"approvals": approvals}))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResolveApproval {
    /// The decision.
    action: Action,
    /// Only of this run.
    run_id: Option<String>,
    /// Only of runs of this workflow.
    workflow_name: Option<String>,
    /// Only of this node.
    node_id: Option<String>,
    /// Only of this visit of the node.
    iteration: Option<u64>,
    /// A remark on the decision.
    note: Option<String>,
    /// The person whom the caller names: part of the note. The caller decides.
    decided_by: Option<String>,
    /// Data kept with the decision.
    decision: Option<Value>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Approve,
    Deny,
}

fn resolve_approval(ctx: &Ctx<'_>, input: &ResolveApproval) -> Outcome {
    let filter = ApprovalFilter {
        run_id: input.run_id.as_deref(),
        workflow_name: input.workflow_name.as_deref(),
        node_id: input.node_id.as_deref(),
        iteration: input.iteration,
    };
    let found = filter.find(ctx)?;
    let (loaded, request) = match found.as_slice() {
        [only] => only,
        [] => {
            let message = "no pending approval matches";
            return Err(invalid(message).with(json!({"filters": filter})));
        }
        several => {
            let matches = several
                .iter()
                .map(|(loaded, request)| describe_match(ctx, loaded, request));
            let matches = matches.collect::<Result<Vec<Value>, Problem>>()?;
            let message = "several pending approvals match: narrow it down by `runId`, `nodeId` or `iteration`";
            return Err(invalid(message).with(json!({"matches": matches})));
        }
    };
    let order = ctx.order(loaded.run.clone(), None, None)?;
    let reply = match (input.action, request.opened.kind) {
        (Action::Approve, _) => Reply::Approve,
        (Action::Deny, RequestKind::Review) => Reply::SendBack,
        (Action::Deny, _) => Reply::Deny,
    };
    let answer = AnswerRequest {
        comment: note(input),
        value: input.decision.clone(),
        ..AnswerRequest::new(request.opened.request.clone(), reply)
    };
    let written = ctx.runs().execute(&order, &answer)?;
    // A decision that stands may have had consequences that were refused.
    let decided = written.loaded.state.requests.get(&request.opened.request);
    let Some(decided) = decided.filter(|it| it.resolved.is_some()) else {
        let lost = || Problem::new("failed", "the decision wasn't recorded");
        return Err(written.refusal().map_or_else(lost, Problem::refused));
    };
    Ok(json!({
        "action": input.action,
        "approval": describe_approval(ctx, &written.loaded, decided)?,
        "run": Summarizer::new(ctx).summarize(ctx, &written.loaded)?,
    }))
}

/// Returns the note of a decision, with the person whom the caller names.
fn note(input: &ResolveApproval) -> Option<String> {
    let by = input.decided_by.as_ref();
    let by = by.map(|by| format!("decided by {by}, as the caller says"));
    match (&input.note, by) {
        (Some(note), Some(by)) => Some(format!("{note} ({by})")),
        (note, by) => note.clone().or(by),
    }
}

fn describe_match(ctx: &Ctx<'_>, loaded: &Loaded, request: &Request) -> Outcome {
    let (node, iteration) = position(ctx, loaded, Some(request))?;
    Ok(json!({
        "runId": loaded.run,
        "nodeId": node,
        "iteration": iteration,
        "workflowName": loaded.state.workflow,
    }))
}

/// Returns an approval as the document has it.
pub(super) fn describe_approval(ctx: &Ctx<'_>, loaded: &Loaded, request: &Request) -> Outcome {
    let (node, iteration) = position(ctx, loaded, Some(request))?;
    let resolved = request.resolved.as_ref();
    let record = resolved.map(|(_, _, seq)| read_record(ctx, &loaded.run, *seq));
    let decided_at = record.transpose()?.flatten().map(|it| it.time);
    let status = resolved.map_or("requested", |(it, ..)| match it.resolution {
        Resolution::Approved => "approved",
        Resolution::Denied | Resolution::SentBack => "denied",
        Resolution::Answered => "answered",
        Resolution::Expired => "expired",
        Resolution::Withdrawn => "cancelled",
    });
    Ok(json!({
        "runId": loaded.run,
        "nodeId": node,
        "iteration": iteration,
        "status": status,
        "requestedAtMs": request.time,
        "decidedAtMs": decided_at,
        "note": resolved.and_then(|(it, ..)| it.comment.as_ref()),
        "decidedBy": resolved.map(|(_, actor, _)| actor.to_string()),
        "request": request.opened,
        "decision": resolved.and_then(|(it, ..)| it.value.as_ref()),
        // Nothing is approved but by a person.
        "autoApproved": false,
        "workflowName": loaded.state.workflow,
        "runStatus": summary::status(loaded)?,
        "nodeLabel": nodes::label(loaded, node),
    }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AskHuman {
    /// The question.
    prompt: String,
    /// More that the person should read.
    context: Option<String>,
    /// The only possible answers.
    choices: Option<Vec<String>>,
    /// The run; by default that of the environment (`SMITHERS_RUN_ID`), else the only active one.
    run_id: Option<String>,
    /// The node; by default that of the environment (`SMITHERS_NODE_ID`), else the active one.
    node_id: Option<String>,
    /// The visit of the node; by default the current one.
    ///
    /// The environment (`SMITHERS_ITERATION`) may name another.
    iteration: Option<u64>,
    /// Seconds until the question expires; 0 for never.
    #[schemars(range(min = 0))]
    timeout_seconds: Option<f64>,
    /// Seconds between two polls; 0.25 at least.
    #[schemars(extend("default" = 3))]
    poll_seconds: Option<f64>,
    /// The question of an earlier call, to continue to wait for.
    request_id: Option<String>,
}

/// A question, and the visit in which it was asked.
struct Question {
    request: String,
    node: String,
    iteration: u64,
    loaded: Loaded,
}

fn ask_human(ctx: &Ctx<'_>, input: &AskHuman) -> Outcome {
    let poll = parse_seconds("pollSeconds", input.poll_seconds.unwrap_or(3.0), 0.25)?;
    let expires = input.timeout_seconds.unwrap_or(0.0);
    let expires = parse_seconds("timeoutSeconds", expires, 0.0)?;
    let question = match &input.request_id {
        Some(request) => find_question(ctx, request)?,
        None => ask(ctx, input, expires)?,
    };
    let longest = Duration::from_millis(MAX_WAIT);
    let timeout = if expires.is_zero() {
        longest
    } else {
        longest.min(expires)
    };
    let asked = Asked {
        question,
        prompt: input.prompt.clone(),
        poll: poll.min(longest),
        timeout,
        began: Instant::now(),
    };
    asked.look(ctx)
}

/// A question that waits for its answer.
struct Asked {
    question: Question,
    prompt: String,
    poll: Duration,
    timeout: Duration,
    began: Instant,
}

impl Asked {
    /// Looks for the answer, and waits on if there is none.
    fn look(mut self, ctx: &Ctx<'_>) -> Outcome {
        let question = &self.question;
        let request = question.loaded.state.requests.get(&question.request);
        if request.is_none_or(|it| it.resolved.is_some()) {
            return Ok(question.outcome(request));
        }
        if ctx.is_cancelled() {
            return Ok(question.unanswered(&self.prompt, "aborted"));
        }
        let deadline = self.began + self.timeout;
        if Instant::now() >= deadline {
            return Ok(question.unanswered(&self.prompt, "pending"));
        }
        let share = self.began.elapsed().as_secs_f64() / self.timeout.as_secs_f64();
        let message = format!("waiting for an answer to `{}`", question.request);
        ctx.report_progress(share, &message);
        let run = question.loaded.run.clone();
        let until = deadline.min(Instant::now() + self.poll);
        Err(ctx.wait(Some(&run), until, move |ctx| {
            self.question.loaded = ctx.runs().catch_up(&self.question.loaded.run)?;
            self.look(ctx)
        }))
    }
}

/// Converts a number of seconds, which must be one from the least.
fn parse_seconds(name: &str, seconds: f64, least: f64) -> Result<Duration, Problem> {
    let duration = Duration::try_from_secs_f64(seconds);
    let duration = duration.ok().filter(|_| seconds >= least);
    duration.ok_or_else(|| {
        invalid(format!(
            "`{name}`: {seconds} isn't a number of seconds from {least}"
        ))
    })
}

/// Finds a question of an earlier call.
fn find_question(ctx: &Ctx<'_>, request: &str) -> Result<Question, Problem> {
    let Some(run) = run_of_request(request) else {
        let message = format!("`requestId`: `{request}` is no request's id");
        return Err(invalid(message));
    };
    let loaded = ctx.load_run(Some(run.as_str()))?;
    let found = loaded.state.requests.get(request);
    let (node, iteration) = position(ctx, &loaded, found)?;
    Ok(Question {
        request: request.to_owned(),
        node: node.to_owned(),
        iteration,
        loaded,
    })
}

fn ask(ctx: &Ctx<'_>, input: &AskHuman, expires: Duration) -> Result<Question, Problem> {
    let prompt = input.prompt.trim();
    if prompt.is_empty() {
        return Err(invalid("`prompt`: say what the person should decide"));
    }
    // A caller that is bound to a run means that one, whatever the environment says.
    let default = ctx.variable(RUN).filter(|_| ctx.bound_run().is_none());
    let run = ctx.resolve_run(input.run_id.as_deref().or(default));
    let run = run.map_err(|mut problem| {
        problem.code = match problem.code.as_str() {
            "no_run" => "ASK_HUMAN_NO_ACTIVE_RUN".to_owned(),
            "several_runs" => "ASK_HUMAN_AMBIGUOUS_RUN".to_owned(),
            _ => problem.code,
        };
        problem
    })?;
    let before = ctx.runs().catch_up(&run)?;
    let (node, iteration) = wanted_visit(ctx, input, &before)?;
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
    let written = execute(ctx, &run, &ask)?;
    let opened = written.opened().map(|opened| opened.request.clone());
    let lost = || Problem::new("failed", "the question wasn't recorded");
    Ok(Question {
        request: opened.ok_or_else(lost)?,
        node,
        iteration,
        loaded: written.loaded,
    })
}

/// Returns the node and iteration that a question is about.
///
/// Those of the environment hold for the run that it names.
fn wanted_visit(
    ctx: &Ctx<'_>,
    input: &AskHuman,
    loaded: &Loaded,
) -> Result<(String, u64), Problem> {
    let is_of_run = ctx
        .variable(RUN)
        .is_none_or(|run| run == loaded.run.as_str());
    let default = ctx.variable(NODE).filter(|_| is_of_run);
    let node = match input.node_id.as_deref().or(default) {
        Some(node) => node.to_owned(),
        None => nodes::active_node(loaded).unwrap_or_default().to_owned(),
    };
    check_node(loaded, &node)?;
    let is_of_node = is_of_run && ctx.variable(NODE).is_none_or(|it| it == node);
    let default = ctx.variable(ITERATION).filter(|_| is_of_node);
    let default = default.map(|text| {
        let problem = |_| invalid(format!("`{ITERATION}`: `{text}` is no number"));
        text.parse::<u64>().map_err(problem)
    });
    let wanted = match input.iteration {
        Some(wanted) => Some(wanted),
        None => default.transpose()?,
    };
    let iteration = nodes::iteration(ctx, loaded, &node)?;
    match wanted {
        Some(wanted) if wanted != iteration => Err(invalid(format!(
            "`iteration`: `{node}` is in iteration {iteration}, not {wanted}"
        ))),
        _ => Ok((node, iteration)),
    }
}

impl Question {
    /// Returns the answer of a question that is over, or of one that isn't recorded any more.
    fn outcome(&self, request: Option<&Request>) -> Value {
        let resolved = request.and_then(|it| it.resolved.as_ref());
        let Some((resolved, actor, _)) = resolved else {
            return self.describe("missing", "blocked", &Value::Null, None);
        };
        let status = match resolved.resolution {
            Resolution::Expired => "expired",
            Resolution::Withdrawn => "cancelled",
            Resolution::Approved
            | Resolution::Denied
            | Resolution::SentBack
            | Resolution::Answered => "answered",
        };
        let is_yes = match resolved.resolution {
            Resolution::Approved => true,
            Resolution::Answered => resolved.value.as_ref().is_some_and(is_affirmative),
            _ => false,
        };
        let decision = if is_yes { "approved" } else { "blocked" };
        let response = resolved.value.clone().unwrap_or_default();
        self.describe(status, decision, &response, Some(&actor.to_string()))
    }

    /// Returns the answer of an open question, with the call that continues to wait.
    fn unanswered(&self, prompt: &str, status: &str) -> Value {
        let mut answer = self.describe(status, "blocked", &Value::Null, None);
        let arguments = json!({"prompt": prompt, "requestId": self.request});
        let next = json!({"tool": "ask_human", "arguments": arguments});
        set_field(&mut answer, "next", next);
        answer
    }

    fn describe(&self, status: &str, decision: &str, response: &Value, by: Option<&str>) -> Value {
        json!({
            "requestId": self.request,
            "runId": self.loaded.run,
            "nodeId": self.node,
            "iteration": self.iteration,
            "status": status,
            "decision": decision,
            "response": response,
            "answeredBy": by,
        })
    }
}
