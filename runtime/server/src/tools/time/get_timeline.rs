//! `get_timeline`: everything that has become of a run.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::ctx::Ctx;
use crate::envelope::next::describe_next;
use crate::envelope::pages::{PartCursor, Position, invalid_cursor};
use crate::envelope::{Fields, NEXT, add_page, into_fields};
use crate::options::Set;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// Where the answer before ended.
    cursor: Option<String>,
}

/// What is told, page by page, in this order.
const PARTS: [&str; 5] = ["origins", "branches", "marks", "forks", "visits"];

pub(super) fn tool() -> Tool {
    Tool::own(
        ("get_timeline", Set::Time, Annotations::READ_ONLY),
        (
            "Look back",
            "What has become of a run: branches, forks, rewinds, checkpoints and each visit of a state, with what was taken back.",
        ),
        &[
            ("branches", "array"),
            ("marks", "array"),
            ("forks", "array"),
            ("visits", "array"),
            ("cursor", "string"),
            NEXT,
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let cursor: Option<PartCursor> = input.cursor.as_deref().map(str::parse).transpose()?;
    let (first, mut from) = match &cursor {
        Some(cursor) => (cursor.part.as_str(), cursor.position),
        None => ("origins", Position::default()),
    };
    let begin = PARTS.iter().position(|it| *it == first);
    let begin = begin.ok_or_else(invalid_cursor)?;
    let timeline = ctx.runs().timeline(&run)?;
    let mut answer = into_fields(json!({"run_id": run, "seq": timeline.seq}));
    if cursor.is_none() {
        // A page behind the first one goes on with an answer that has it.
        answer.insert("next".to_owned(), describe_next(&ctx.runs().load(&run)?)?);
    }
    let mut parts = into_fields(json!(timeline));
    for name in PARTS.iter().skip(begin) {
        let items = parts.remove(*name).unwrap_or_default();
        let is_empty = items.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
            add_page(&mut answer, name, items, from);
        }
        from = Position::default();
        if answer.contains_key("cursor") {
            break;
        }
    }
    Ok(answer)
}
