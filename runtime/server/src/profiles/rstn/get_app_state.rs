//! `rstn_get_app_state`: what there is, what goes on, and what was answered.

use serde_json::{Map, Value, json};
use statemark_runs::{Loaded, Reason, Status, explain};

use super::{Nothing, shape};
use crate::ctx::{Ctx, target};
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("rstn_get_app_state", Set::Rstn, Annotations::READ_ONLY),
        (
            "Get the app's state",
            "Get the complete state as JSON: commands, active workflows, status, answers of the user.",
        ),
        shape,
        run,
    )
    .equivalent_to("get_run")
}

fn run(ctx: &Ctx<'_>, _: &Nothing) -> Outcome {
    let runs = ctx.runs();
    let commands = ctx.catalog().ids();
    let mut active = Map::new();
    for head in target::live_runs(ctx)? {
        let loaded = runs.catch_up(&head.run)?;
        active.insert(head.run.to_string(), workflow(&loaded)?);
    }
    // Where several are live, none of them is the selected one.
    let selected = match target::session_run(ctx, None) {
        Ok(found) => found,
        Err(problem) if problem.code == "several_runs" => None,
        Err(problem) => return Err(problem),
    };
    let place = selected.as_ref().and_then(|it| {
        let mut commands = commands.iter();
        commands.position(|command| *command == it.state.workflow)
    });
    let message = match &selected {
        Some(loaded) => status(loaded)?,
        None => "Ready".to_owned(),
    };
    let root = ctx.catalog().project()?.map(|it| it.root);
    Ok(json!({
        "running": true,
        "current_view": "worktree",
        "project_root": root,
        "worktree_view": {
            "commands": commands,
            "selected_command_index": place,
            "workflow_output": selected.as_ref().map_or_else(String::new, output),
            "status_message": message,
        },
        "active_workflows": active,
    }))
}

fn workflow(loaded: &Loaded) -> Result<Value, Problem> {
    let view = loaded.view()?;
    let legal = loaded.legality().enabled_events();
    let requests = loaded.state.requests.values().map(|it| {
        let answer = it.resolved.as_ref();
        json!({
            "request_id": it.opened.request,
            "prompt": it.opened.prompt,
            "status": answer.map_or("open", |(it, ..)| it.resolution.name()),
            "answer": answer.and_then(|(it, ..)| it.value.clone()),
            "comment": answer.and_then(|(it, ..)| it.comment.clone()),
        })
    });
    let requests: Vec<Value> = requests.collect();
    let instructions = view.active.iter().filter_map(|it| it.instructions.clone());
    let instructions: Vec<String> = instructions.collect();
    Ok(json!({
        "workflow": loaded.state.workflow,
        "title": view.title,
        "status": view.status,
        "states": loaded.state.leaves,
        "instructions": instructions,
        "events": legal,
        "requests": requests,
    }))
}

/// What was last reported of each step, a line each.
fn output(loaded: &Loaded) -> String {
    let Ok(view) = loaded.view() else {
        return String::new();
    };
    let lines = view.steps.iter().map(|it| {
        let said = it
            .message
            .as_ref()
            .map_or_else(String::new, |it| format!(": {it}"));
        format!("{} {}{said}\n", it.step, it.status.name())
    });
    lines.collect()
}

fn status(loaded: &Loaded) -> Result<String, Problem> {
    let word = loaded.state.status();
    if word == Status::Running {
        return Ok("Ready".to_owned());
    }
    let explanation = explain(loaded, None)?;
    let first = explanation.reasons.first().map(Reason::text);
    Ok(first.map_or_else(
        || word.name().to_owned(),
        |it| format!("{}: {it}", word.name()),
    ))
}
