//! `get_run`: where a run is, and whatever else of it is asked for.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::bounds;
use crate::tool::{Call, Data, Hints, Set, Tool};
use crate::tools::{NEXT, about};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// What to tell beside where it is.
    #[serde(default)]
    include: Vec<Part>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Part {
    Visits,
    Context,
    Artifacts,
    Requests,
    Children,
    Config,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("get_run", Set::Runs, Hints::READS),
        (
            "Look at a run",
            "Where a run is, what its state wants, which events are legal, which tools are granted, what it waits for.",
        ),
        &[("steps", "array"), NEXT],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let loaded = call.load(input.run_id.as_deref())?;
    let view = loaded.view()?;
    let state = &loaded.state;
    let mut answer = about(&loaded, json!({"steps": view.steps}))?;
    for part in &input.include {
        let (name, value) = match part {
            Part::Visits => ("visits", json!(state.visits)),
            Part::Context => ("context", json!(view.context)),
            Part::Artifacts => {
                let newest = state.artifacts.values().filter_map(|all| all.last());
                let newest: Vec<_> = newest.map(|it| &it.artifact).collect();
                ("artifacts", json!(newest))
            }
            Part::Requests => ("requests", json!(view.requests)),
            Part::Children => ("children", json!(state.children)),
            Part::Config => ("config", loaded.workflow.meta().clone()),
        };
        let size = value.to_string().len();
        let value = if size > bounds::MOST {
            let resource = format!("statemark://run/{}", loaded.run);
            json!({"too_large": size, "resource": resource})
        } else {
            value
        };
        answer.insert(name.to_owned(), value);
    }
    Ok(answer)
}
