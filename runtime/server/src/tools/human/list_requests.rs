//! `list_requests`: what people are asked and haven't answered.
//!
//! A cursor names the request that is next, so that it stays good when others are settled or opened meanwhile.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::RunId;

use crate::ctx::Ctx;
use crate::envelope::next::rename_request_ids;
use crate::envelope::pages::{Position, invalid_cursor, paginate};
use crate::envelope::{Fields, into_fields, remaining_room};
use crate::options::Set;
use crate::problem::Problem;
use crate::requests::{Filter, Kind, list_open, parse_position};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only of this run.
    run_id: Option<String>,
    /// Only of runs of this workflow.
    workflow: Option<String>,
    /// Only of this kind.
    kind: Option<Kind>,
    /// Only about this state.
    state: Option<String>,
    /// Where the answer before ended.
    cursor: Option<String>,
}

/// Most requests that are looked at for one page. Why: no more of them fit.
const PAGE: usize = 200;

pub(super) fn tool() -> Tool {
    Tool::own(
        ("list_requests", Set::Human, Annotations::READ_ONLY),
        (
            "List requests",
            "What people are asked and haven't answered, with everything that is asked.",
        ),
        &[("requests", "array"), ("cursor", "string")],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let from = input.cursor.as_deref().map(Cursor::read).transpose()?;
    let filter = Filter {
        run: input.run_id.as_deref(),
        workflow: input.workflow.as_deref(),
        kind: input.kind,
        state: input.state.as_deref(),
        from: from.as_ref().map(|it| &it.next),
    };
    let found = list_open(ctx, &filter, PAGE)?;
    let place = Position {
        item: 0,
        // Of a request that is gone, no piece is left.
        byte: match (&from, found.first()) {
            (Some(from), Some(first)) if first.position() == from.next => from.byte,
            _ => 0,
        },
    };
    let told = found.iter().map(|asked| {
        let mut told = into_fields(json!(asked.request.opened));
        told.extend(into_fields(json!({
            "run_id": asked.loaded.run,
            "workflow": asked.loaded.state.workflow,
            "asked_by": asked.request.asker.to_string(),
            "asked_at": asked.request.time,
        })));
        Value::Object(told)
    });
    let mut answer = into_fields(json!({}));
    let (told, rest) = paginate(
        rename_request_ids(told.collect()),
        place,
        remaining_room(&answer),
    );
    answer.insert("requests".to_owned(), told);
    if let Some(rest) = rest
        && let Some(next) = found.get(rest.item)
    {
        let cursor = format!("{}@{}", next.request.opened.request, rest.byte);
        answer.insert("cursor".to_owned(), json!(cursor));
    }
    Ok(answer)
}

/// Where a list goes on: at the request, or the next one behind it; and at which byte of that request, if it is told in
/// pieces.
struct Cursor {
    next: (RunId, u64),
    byte: usize,
}

impl Cursor {
    fn read(text: &str) -> Result<Self, Problem> {
        let read = || {
            let (request, byte) = text.rsplit_once('@')?;
            Some(Self {
                next: parse_position(request)?,
                byte: byte.parse().ok()?,
            })
        };
        read().ok_or_else(invalid_cursor)
    }
}
