//! `rstn_get_context`: the feature at hand.

use serde_json::json;

use super::{Nothing, shape};
use crate::call::Call;
use crate::project::{Feature, Files};
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::project::project;

pub(super) fn tool() -> Tool {
    Tool::foreign(
        ("rstn_get_context", Set::Rstn, Hints::READS),
        (
            "Get the context",
            "Get current feature context and metadata: number, name, branch, phase, spec folder.",
        ),
        shape,
        run,
    )
    .like("get_project_context")
}

fn run(call: &Call<'_>, _: &Nothing) -> Outcome {
    let feature = Feature::of(&Files::of(&project(call)?)?);
    if feature.feature_number.is_none() {
        return Ok(json!(Feature::default()));
    }
    Ok(json!(feature))
}
