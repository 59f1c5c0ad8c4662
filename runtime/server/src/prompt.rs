//! Prompts: texts that a person puts before a model.
//!
//! Clients put one there when they connect. One for each workflow says how to drive it; one says how to write workflows. All name the tools that the caller has.

use serde_json::{Map, Value, json};
use statemark_runs::{Loaded, Workflow, shell_word};
use statemark_runtime::EventKind;
use statemark_tools::envelope::bounds;
use statemark_tools::lookup::{find_workflow, missing_workflow};
use statemark_tools::{Address, Ctx, Problem, Spec};

/// The name of the prompt for writing workflows.
pub(crate) const AUTHOR: &str = "author-workflow";

/// The beginning of the other names, before the workflow's id.
pub(crate) const DRIVE: &str = "drive-";

/// Most bytes of a state's instructions.
const INSTRUCTIONS: usize = 1 << 10;

/// The guide to writing workflows.
const GUIDE: &str = include_str!("prompt/author.md");

/// An entry of the list of prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    /// The names and descriptions of the arguments, all optional.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
}

/// Lists the prompts, by name.
pub(crate) fn list(ctx: &Ctx<'_>) -> Vec<Prompt> {
    let mut all = vec![Prompt {
        name: AUTHOR.to_owned(),
        title: "Write a workflow".to_owned(),
        description: "How to write, check and simulate a workflow.".to_owned(),
        arguments: &[
            ("goal", "The purpose of the workflow."),
            ("workflow", "An existing workflow to start from."),
        ],
    }];
    // They have the same information as the tool.
    if ctx.offers("describe_workflow") {
        all.extend(ctx.catalog().specs().into_iter().map(drive));
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn drive(spec: Spec) -> Prompt {
    let title = spec.title.as_deref().unwrap_or(&spec.id);
    let description = spec.description.unwrap_or_else(|| {
        format!(
            "How to drive `{}`: its states, their instructions, the events.",
            spec.id
        )
    });
    Prompt {
        name: format!("{DRIVE}{}", spec.id),
        title: format!("Drive: {title}"),
        description,
        arguments: &[
            ("task", "The task."),
            ("run_id", "A run to continue; by default a new one."),
        ],
    }
}

/// Writes the text of a prompt.
///
/// # Errors
///
/// No prompt has that name, an argument is unknown, or the caller may not touch the run.
pub(crate) fn write(
    ctx: &Ctx<'_>,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<String, Problem> {
    let known = list(ctx).into_iter().find(|it| it.name == name);
    let known = known.ok_or_else(|| unknown(ctx, name))?;
    let mut given = Map::new();
    for (key, value) in arguments {
        let names: Vec<&str> = known.arguments.iter().map(|(name, _)| *name).collect();
        if !names.contains(&key.as_str()) || !value.is_string() {
            let message = format!("`{key}`: `{name}` takes strings for {}", names.join(", "));
            return Err(Problem::new("invalid_arguments", message).with(json!({"path": key})));
        }
        given.insert(key.clone(), value.clone());
    }
    let text_of = |key: &str| {
        let text = given.get(key).and_then(Value::as_str);
        text.map(str::trim).filter(|text| !text.is_empty())
    };
    match name.strip_prefix(DRIVE) {
        Some(id) => write_driving(ctx, id, text_of("task"), text_of("run_id")),
        None => write_authoring(ctx, text_of("goal"), text_of("workflow")),
    }
}

fn unknown(ctx: &Ctx<'_>, name: &str) -> Problem {
    let known: Vec<String> = list(ctx).into_iter().map(|it| it.name).collect();
    Problem::new("unknown_prompt", format!("there is no prompt `{name}`"))
        .with(json!({"known": known}))
}

/// Checks that the server offers the tool that gives the same as an argument.
fn check_offered(ctx: &Ctx<'_>, tool: &str, argument: &str) -> Result<(), Problem> {
    if ctx.offers(tool) {
        return Ok(());
    }
    let message = format!("this server doesn't tell that: leave out `{argument}`");
    Err(Problem::new("not_offered", message))
}

fn write_authoring(
    ctx: &Ctx<'_>,
    goal: Option<&str>,
    workflow: Option<&str>,
) -> Result<String, Problem> {
    let mut text = GUIDE.to_owned();
    let or = |tool: &str| {
        let name = ctx.name_of(tool);
        name.map_or_else(String::new, |name| format!("`{name}`, or "))
    };
    text += &format!(
        "3. Check it ({}`statemark lint FILE`), and fix every finding.\n\
         4. Save it ({}a file in the specs folder), start a run of it, and take each path once.\n",
        or("lint_workflow"),
        or("create_workflow"),
    );
    if let Some(id) = workflow {
        check_offered(ctx, "describe_workflow", "workflow")?;
        let source = ctx.catalog().source(id);
        let source = source.ok_or_else(|| missing_workflow(ctx.catalog(), id))?;
        let (shown, is_cut) = bounds::truncate(&source, bounds::MAX_REPLY / 2);
        text += &format!(
            "\n## Start from `{id}`\n\n````markdown\n{}\n````\n",
            shown.trim_end()
        );
        if is_cut {
            text += &format!("\nThe rest is at {}.\n", Address::Spec(id.to_owned()));
        }
    }
    if let Some(goal) = goal {
        text += &format!("\n## The goal\n\n{goal}\n");
    }
    Ok(text)
}

fn write_driving(
    ctx: &Ctx<'_>,
    id: &str,
    task: Option<&str>,
    run: Option<&str>,
) -> Result<String, Problem> {
    let workflow = find_workflow(ctx.catalog(), id)?;
    if run.is_some() {
        check_offered(ctx, "get_run", "run_id")?;
    }
    let loaded = run.map(|run| ctx.load_run(Some(run))).transpose()?;
    if let Some(other) = loaded.as_ref().filter(|it| it.state.workflow != id) {
        let message = format!(
            "`run_id`: `{}` is a run of `{}`",
            other.run, other.state.workflow
        );
        return Err(Problem::new("other_workflow", message));
    }
    // A run continues under the table that it began with.
    let workflow = loaded.as_ref().map_or(&workflow, |it| &it.workflow);
    let meta = workflow.meta();
    let text_of = |key: &str| meta.get(key).and_then(Value::as_str);
    let mut text = format!("# Drive the workflow `{id}`\n");
    for part in [text_of("title"), text_of("description")]
        .into_iter()
        .flatten()
    {
        text += &format!("\n{}\n", part.trim());
    }
    if let Some(task) = task {
        text += &format!("\n## The task\n\n{task}\n");
    }
    text += &write_steps(ctx, id, loaded.as_ref());
    text += "\n## States\n";
    let rest = format!("\nThe rest is at {}.\n", Address::Spec(id.to_owned()));
    for page in write_states(workflow) {
        if text
            .len()
            .saturating_add(page.len())
            .saturating_add(rest.len())
            > bounds::MAX_REPLY
        {
            text += &rest;
            break;
        }
        text += &page;
    }
    Ok(text)
}

/// Returns the text that clients put before their models: which tools drive runs.
pub(crate) fn instructions(ctx: &Ctx<'_>) -> String {
    let named = |tool: &str| ctx.name_of(tool);
    let mut text = "Drive runs of workflows with these tools.".to_owned();
    if let Some(list) = named("list_workflows") {
        text += &format!(" `{list}` lists the workflows.");
    }
    if let Some(start) = named("start_run") {
        text += &format!(" `{start}` starts a run.");
    }
    if ctx.can_call_own("get_run") || ctx.can_call_own("send_event") {
        text += " Every answer about a run has `next`: its states, their `instructions`, the events that it takes now \
                 (`legal`, with the facts that their guards read), and the `tools` that its states grant.";
    } else if let Some(look) = named("get_run") {
        text += &format!(" `{look}` says where a run is.");
    }
    if let Some(send) = named("send_event") {
        text += &format!(" `{send}` moves the run; a refusal says what is possible instead.");
    }
    if let Some(submit) = named("submit_artifact") {
        text += &format!(" `{submit}` hands in what a state asks for.");
    }
    if let Some(explain) = named("explain_run") {
        text += &format!(" If the run is stuck, `{explain}` says why, and what helps.");
    }
    text += " People decide approvals elsewhere";
    text += &match (named("request_human"), named("wait_run")) {
        (Some(ask), Some(wait)) => format!(": ask with `{ask}`, then call `{wait}`."),
        (Some(ask), None) => format!(": ask with `{ask}`."),
        (None, Some(wait)) => format!(": `{wait}` waits for them."),
        (None, None) => ".".to_owned(),
    };
    text
}

/// Writes the tools to call, and the state of the run.
fn write_steps(ctx: &Ctx<'_>, id: &str, loaded: Option<&Loaded>) -> String {
    let named = |tool: &str| ctx.name_of(tool);
    let mut text = "\n## How\n\n".to_owned();
    match loaded {
        Some(loaded) => {
            let (run, state) = (&loaded.run, &loaded.state);
            let leaves: Vec<String> = state.leaves.iter().map(|it| format!("`{it}`")).collect();
            let status = state.status();
            text += &format!(
                "- Continue the run `{run}`: it is {} in {}.{}\n",
                status.name(),
                leaves.join(", "),
                sentence(named("get_run"), "says what is next"),
            );
        }
        None if ctx.can_call_own("start_run") => {
            text += &format!(
                "- `start_run` with `workflow: \"{id}\"` starts a run.{}\n",
                sentence(named("list_runs"), "lists the existing ones"),
            );
        }
        None => match named("start_run") {
            Some(start) => text += &format!("- `{start}` starts a run of `{id}`.\n"),
            None => {
                let word = shell_word(id);
                text += &format!("- A person starts the run: `statemark start {word}`.\n");
            }
        },
    }
    text += if ctx.can_call_own("get_run") || ctx.can_call_own("send_event") {
        "- Follow `next.instructions`, with the tools that `next.tools` grants and no others.\n"
    } else {
        "- Follow the instructions of the state that the run is in, with the tools that it grants and no others.\n"
    };
    if let Some(send) = named("send_event") {
        let events = match ctx.can_call_own("send_event") {
            true => "one of the events in `next.legal`",
            false => "one of its state's events",
        };
        text += &format!(
            "- Move the run with `{send}` and {events}. A refusal says what is possible instead: don't work around it.\n"
        );
    }
    text += "- If a person has to approve, the event opens a request.";
    text += &match named("wait_run") {
        Some("wait_run") if ctx.can_call_own("wait_run") => {
            " `wait_run` with `until: \"request\"` waits for the answer.\n".to_owned()
        }
        wait => sentence(wait, "waits for the answer") + "\n",
    };
    if let Some(explain) = named("explain_run") {
        text += &format!("- If the run is stuck, `{explain}` says why, and what helps.\n");
    }
    text
}

/// Writes what a tool does, if there is one.
fn sentence(tool: Option<&str>, does: &str) -> String {
    tool.map_or_else(String::new, |tool| format!(" `{tool}` {does}."))
}

/// Writes the states in document order: instructions, options and transitions.
fn write_states(workflow: &Workflow) -> impl Iterator<Item = String> {
    let table = workflow.table();
    workflow.visible_states().map(move |(state, name)| {
        let meta = workflow.state_meta(state);
        let text_of = |key: &str| meta.get(key).and_then(Value::as_str);
        let mut text = match text_of("title") {
            Some(title) => format!("\n### `{name}`: {title}\n"),
            None => format!("\n### `{name}`\n"),
        };
        if let Some(instructions) = text_of("instructions") {
            let (shown, is_cut) = bounds::truncate(instructions.trim(), INSTRUCTIONS);
            let rest = if is_cut {
                let page = Address::State(workflow.id().to_owned(), name.to_owned());
                format!(" … (the rest is at {page})")
            } else {
                String::new()
            };
            text += &format!("\n{shown}{rest}\n");
        }
        let mut facts = Vec::new();
        for (key, word) in [
            ("allowed_tools", "tools"),
            ("capabilities", "capabilities"),
            ("requires", "hand in before leaving"),
            ("max_iterations", "tool calls at most"),
        ] {
            if let Some(value) = meta.get(key).filter(|it| !it.is_null()) {
                facts.push(format!("- {word}: {}", plain(value)));
            }
        }
        for (id, _) in table.transitions().filter(|(_, row)| row.source == state) {
            let named = table.triggers(id).iter().filter(|event| {
                let row = table.event(**event);
                row.is_some_and(|row| row.kind == EventKind::Named)
            });
            let events: Vec<String> = named
                .map(|event| format!("`{}`", table.event_name(*event)))
                .collect();
            if events.is_empty() {
                continue;
            }
            let targets = table.targets(id).iter().map(|it| table.state_name(*it));
            let targets: Vec<String> = targets.map(|it| format!("`{it}`")).collect();
            let to = if targets.is_empty() {
                "stays".to_owned()
            } else {
                targets.join(", ")
            };
            let meta = workflow.transition_meta(id);
            let guard = meta.get("guard").map(|it| format!(", if {}", plain(it)));
            let approval = if workflow.requires_approval(id) {
                ", **after a person has approved it**"
            } else {
                ""
            };
            let guard = guard.unwrap_or_default();
            facts.push(format!("- {} → {to}{guard}{approval}", events.join(" or ")));
        }
        if !facts.is_empty() {
            text += &format!("\n{}\n", facts.join("\n"));
        }
        text
    })
}

/// Writes a value in a sentence: texts as they are, lists with commas.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        Value::Array(all) if all.is_empty() => "none".to_owned(),
        Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => format!("`{other}`"),
    }
}
