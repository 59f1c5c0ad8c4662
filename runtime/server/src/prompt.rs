//! Prompts: one for each workflow, which says how to drive it, and one for writing workflows.

use serde_json::{Map, Value, json};
use statemark_runs::{Loaded, Workflow};
use statemark_runtime::EventKind;

use crate::catalog::Spec;
use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::problem::Problem;
use crate::resource::Address;

/// The one for writing workflows.
pub(crate) const AUTHOR: &str = "author-workflow";

/// The beginning of the other names, before the workflow's id.
pub(crate) const DRIVE: &str = "drive-";

/// Most bytes of one state's instructions.
const INSTRUCTIONS: usize = 1 << 10;

/// The guide to writing workflows.
const GUIDE: &str = include_str!("prompt/author.md");

/// A prompt as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    /// Each with what it is for; none has to be given.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
}

/// Lists the prompts, by name.
pub(crate) fn list(ctx: &Ctx<'_>) -> Vec<Listed> {
    let mut all = vec![Listed {
        name: AUTHOR.to_owned(),
        title: "Write a workflow".to_owned(),
        description: "How to write a workflow, check it and try it.".to_owned(),
        arguments: &[
            ("goal", "What the workflow is for."),
            ("workflow", "An existing workflow to begin with."),
        ],
    }];
    // They tell what the tool does.
    if ctx.offers("describe_workflow") {
        all.extend(ctx.catalog().specs().into_iter().map(drive));
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn drive(spec: Spec) -> Listed {
    let title = spec.title.as_deref().unwrap_or(&spec.id);
    let description = spec.description.unwrap_or_else(|| {
        format!(
            "How to drive `{}`: its states, what each wants, the events.",
            spec.id
        )
    });
    Listed {
        name: format!("{DRIVE}{}", spec.id),
        title: format!("Drive: {title}"),
        description,
        arguments: &[
            ("task", "What is to be done."),
            ("run_id", "A run to go on with; else one is started."),
        ],
    }
}

/// Writes the text of a prompt.
///
/// # Errors
///
/// There is none of that name, an argument isn't one of its, or the run is nobody's to touch.
pub(crate) fn text(
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
            let message = format!("`{key}`: `{name}` takes texts for {}", names.join(", "));
            return Err(Problem::new("invalid_arguments", message).with(json!({"path": key})));
        }
        given.insert(key.clone(), value.clone());
    }
    let said = |key: &str| {
        let text = given.get(key).and_then(Value::as_str);
        text.map(str::trim).filter(|text| !text.is_empty())
    };
    match name.strip_prefix(DRIVE) {
        Some(id) => driving(ctx, id, said("task"), said("run_id")),
        None => authoring(ctx, said("goal"), said("workflow")),
    }
}

fn unknown(ctx: &Ctx<'_>, name: &str) -> Problem {
    let known: Vec<String> = list(ctx).into_iter().map(|it| it.name).collect();
    Problem::new("unknown_prompt", format!("there is no prompt `{name}`"))
        .with(json!({"known": known}))
}

/// Checks that the tool is offered that answers what an argument asks for.
fn check_offered(ctx: &Ctx<'_>, tool: &str, argument: &str) -> Result<(), Problem> {
    if ctx.offers(tool) {
        return Ok(());
    }
    let message = format!("this server doesn't offer `{tool}`: leave out `{argument}`");
    Err(Problem::new("not_offered", message))
}

fn authoring(ctx: &Ctx<'_>, goal: Option<&str>, workflow: Option<&str>) -> Result<String, Problem> {
    let mut text = GUIDE.to_owned();
    if let Some(id) = workflow {
        check_offered(ctx, "describe_workflow", "workflow")?;
        let source = ctx.catalog().source(id);
        let source = source.ok_or_else(|| {
            Problem::new("unknown_workflow", format!("there is no workflow `{id}`"))
                .with(json!({"known": ctx.catalog().ids()}))
        })?;
        let (shown, is_cut) = bounds::truncate(&source, bounds::MAX_REPLY / 2);
        text += &format!(
            "\n## Begin with `{id}`\n\n````markdown\n{}\n````\n",
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

fn driving(
    ctx: &Ctx<'_>,
    id: &str,
    task: Option<&str>,
    run: Option<&str>,
) -> Result<String, Problem> {
    let catalog = ctx.catalog();
    let workflow = catalog.find(id).ok_or_else(|| {
        Problem::new("unknown_workflow", format!("there is no workflow `{id}`"))
            .with(json!({"known": catalog.ids()}))
    })?;
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
    // A run goes on under the table that it began with.
    let workflow = loaded.as_ref().map_or(&workflow, |it| &it.workflow);
    let meta = workflow.meta();
    let said = |key: &str| meta.get(key).and_then(Value::as_str);
    let mut text = format!("# Drive the workflow `{id}`\n");
    for part in [said("title"), said("description")].into_iter().flatten() {
        text += &format!("\n{}\n", part.trim());
    }
    if let Some(task) = task {
        text += &format!("\n## The task\n\n{task}\n");
    }
    text += &how(id, loaded.as_ref());
    text += "\n## States\n";
    let rest = format!("\nMore of it is at {}.\n", Address::Spec(id.to_owned()));
    for page in states(workflow) {
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

/// Describes the tools to call, and the state of the run.
fn how(id: &str, loaded: Option<&Loaded>) -> String {
    let mut text = "\n## How\n\n".to_owned();
    match loaded {
        Some(loaded) => {
            let (run, state) = (&loaded.run, &loaded.state);
            let leaves: Vec<String> = state.leaves.iter().map(|it| format!("`{it}`")).collect();
            let status = state.status();
            text += &format!(
                "- Go on with the run `{run}`: it is {} in {}. `get_run` says what is next.\n",
                status.name(),
                leaves.join(", ")
            );
        }
        None => {
            text += &format!(
                "- `start_run` with `workflow: \"{id}\"` begins a run; `list_runs` shows those that there are.\n"
            );
        }
    }
    text += "\
- Do what `next.instructions` says, with the tools that `next.tools` grants and no others.
- Move on with `send_event` and one of the events in `next.legal`. A refusal says what is legal instead: don't go round it.
- Where a person has to approve, the event opens a request: `wait_run` with `until: \"request\"` waits for the answer.
- Where it stands still, `explain_run` says why, and which call moves it.
";
    text
}

/// Describes each state: its instructions and its events, in document order.
fn states(workflow: &Workflow) -> impl Iterator<Item = String> {
    let table = workflow.table();
    workflow.visible_states().map(move |(state, name)| {
        let meta = workflow.state_meta(state);
        let said = |key: &str| meta.get(key).and_then(Value::as_str);
        let mut text = match said("title") {
            Some(title) => format!("\n### `{name}`: {title}\n"),
            None => format!("\n### `{name}`\n"),
        };
        if let Some(instructions) = said("instructions") {
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
                ", **when a person has approved it**"
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

/// Formats a value for a sentence: texts as they are, lists with commas.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        Value::Array(all) if all.is_empty() => "none".to_owned(),
        Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => format!("`{other}`"),
    }
}
