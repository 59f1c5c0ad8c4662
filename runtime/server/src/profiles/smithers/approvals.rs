//! `list_pending_approvals` and `resolve_approval`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::{RequestKind, Resolution};
use statemark_runs::state::Request;
use statemark_runs::{AnswerRequest, Loaded, Reply};

use super::summary::{self, Teller};
use super::{ENDS, invalid, shape};
use crate::ctx::Ctx;
use crate::envelope::find_refusal;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::requests::{self, OpenRequest};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Listing {
    /// Only of this run.
    run_id: Option<String>,
    /// Only of runs of this workflow.
    workflow_name: Option<String>,
    /// Only of this node.
    node_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Resolving {
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
    /// What is said about it.
    note: Option<String>,
    /// Who is said to have decided: part of the note. Who decides is the caller.
    decided_by: Option<String>,
    /// Kept with the decision.
    decision: Option<Value>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Approve,
    Deny,
}

pub(super) fn list() -> Tool {
    Tool::profile(
        (
            "list_pending_approvals",
            Set::Smithers,
            Annotations::READ_ONLY,
        ),
        (
            "List pending approvals",
            "Approvals that wait for a person, of all runs or of one, of a workflow, of a node.",
        ),
        shape,
        listed,
    )
    .equivalent_to("list_requests")
    .with_output(&[("approvals", "array")])
}

pub(super) fn resolve() -> Tool {
    Tool::profile(
        ("resolve_approval", Set::Smithers, ENDS),
        (
            "Resolve an approval",
            "Approves or denies the one approval that the filters match: a person's call, with a person's token.",
        ),
        shape,
        resolved,
    )
    .equivalent_to("resolve_request")
    .with_output(&[("action", "string"), ("approval", "object"), ("run", "")])
}

/// Which approvals are meant.
struct Filter<'f> {
    run: Option<&'f str>,
    workflow: Option<&'f str>,
    node: Option<&'f str>,
    iteration: Option<u64>,
}

fn listed(ctx: &Ctx<'_>, input: &Listing) -> Outcome {
    let filter = Filter {
        run: input.run_id.as_deref(),
        workflow: input.workflow_name.as_deref(),
        node: input.node_id.as_deref(),
        iteration: None,
    };
    let found = found(ctx, &filter)?;
    let found = found.iter().map(|(loaded, it)| told(ctx, loaded, it));
    let found = found.collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({"approvals": found}))
}

fn found(ctx: &Ctx<'_>, filter: &Filter<'_>) -> Result<Vec<(Arc<Loaded>, Request)>, Problem> {
    let mut found = Vec::new();
    let wanted = requests::Filter {
        run: filter.run,
        workflow: filter.workflow,
        ..requests::Filter::default()
    };
    for OpenRequest { loaded, request } in requests::list_open(ctx, &wanted, usize::MAX)? {
        if !summary::is_approval(&request) {
            continue;
        }
        let (node, iteration) = place(ctx, &loaded, &request)?;
        if filter.node.is_none_or(|wanted| wanted == node)
            && filter.iteration.is_none_or(|wanted| wanted == iteration)
        {
            found.push((loaded, request));
        }
    }
    Ok(found)
}

/// The node that an approval is about, and which visit of it.
fn place<'l>(
    ctx: &Ctx<'_>,
    loaded: &'l Loaded,
    request: &'l Request,
) -> Result<(&'l str, u64), Problem> {
    let node = request.opened.states.first().map(String::as_str);
    let node = node.or_else(|| summary::active_node(loaded));
    let node = node.or_else(|| loaded.state.leaves.first().map(String::as_str));
    let node = node.unwrap_or_default();
    Ok((node, summary::iteration(ctx, loaded, node)?))
}

fn resolved(ctx: &Ctx<'_>, input: &Resolving) -> Outcome {
    let filter = Filter {
        run: input.run_id.as_deref(),
        workflow: input.workflow_name.as_deref(),
        node: input.node_id.as_deref(),
        iteration: input.iteration,
    };
    let found = found(ctx, &filter)?;
    let (loaded, request) = match found.as_slice() {
        [only] => only,
        [] => {
            let filters = json!({
                "runId": filter.run,
                "workflowName": filter.workflow,
                "nodeId": filter.node,
                "iteration": filter.iteration,
            });
            let message = "no pending approval matches";
            return Err(invalid(message).with(json!({"filters": filters})));
        }
        several => {
            let matches = several.iter().map(|(loaded, it)| short(ctx, loaded, it));
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
    let decided = written.loaded.state.requests.get(&request.opened.request);
    let Some(decided) = decided.filter(|it| it.resolved.is_some()) else {
        let refused = find_refusal(&written);
        let lost = || Problem::new("failed", "the decision wasn't recorded");
        return Err(refused.map_or_else(lost, |it| Problem::refused(&it)));
    };
    let run = Teller::of(ctx).summary(ctx, &written.loaded)?;
    Ok(json!({
        "action": match input.action { Action::Approve => "approve", Action::Deny => "deny" },
        "approval": told(ctx, &written.loaded, decided)?,
        "run": run,
    }))
}

/// What is said, and by whom it is said to have been decided.
fn note(input: &Resolving) -> Option<String> {
    let by = input.decided_by.as_ref();
    match (
        &input.note,
        by.map(|by| format!("decided by {by}, as the caller says")),
    ) {
        (Some(note), Some(by)) => Some(format!("{note} ({by})")),
        (note, by) => note.clone().or(by),
    }
}

fn short(ctx: &Ctx<'_>, loaded: &Loaded, request: &Request) -> Outcome {
    let (node, iteration) = place(ctx, loaded, request)?;
    Ok(json!({
        "runId": loaded.run,
        "nodeId": node,
        "iteration": iteration,
        "workflowName": loaded.state.workflow,
    }))
}

/// An approval as the document tells it.
pub(super) fn told(ctx: &Ctx<'_>, loaded: &Loaded, request: &Request) -> Result<Value, Problem> {
    let (node, iteration) = place(ctx, loaded, request)?;
    let opened = &request.opened;
    let mut decided_at = None;
    if let Some((_, _, seq)) = &request.resolved {
        let store = ctx.runs().store();
        let record = store.records(&loaded.run, seq.saturating_sub(1), 1)?;
        decided_at = record.first().map(|it| it.time);
    }
    let resolved = request.resolved.as_ref();
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
        "decidedBy": resolved.map(|(_, who, _)| who.to_string()),
        "request": opened,
        "decision": resolved.and_then(|(it, ..)| it.value.as_ref()),
        "workflowName": loaded.state.workflow,
        "runStatus": summary::status(loaded)?,
        "nodeLabel": summary::label(loaded, node),
    }))
}
