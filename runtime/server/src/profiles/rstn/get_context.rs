//! `rstn_get_context`: the feature at hand.

use serde_json::json;

use super::{Nothing, shape};
use crate::ctx::Ctx;
use crate::options::Set;
use crate::problem::Outcome;
use crate::project::{Feature, Files, current_project};
use crate::tool::{Annotations, Tool};

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("rstn_get_context", Set::Rstn, Annotations::READ_ONLY),
        (
            "Get the context",
            "Get current feature context and metadata: number, name, branch, phase, spec folder.",
        ),
        shape,
        run,
    )
    .equivalent_to("get_project_context")
}

fn run(ctx: &Ctx<'_>, _: &Nothing) -> Outcome {
    let feature = Feature::of(&Files::of(&current_project(ctx)?)?);
    if feature.feature_number.is_none() {
        return Ok(json!(Feature::default()));
    }
    Ok(json!(feature))
}
