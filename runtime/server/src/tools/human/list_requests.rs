//! `list_requests`: what people are asked and haven't answered.
//!
//! A cursor names the request that is next, so that it stays good when others are settled or opened meanwhile.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::RunId;

use super::{Filter, Kind, asked, place};
use crate::call::Call;
use crate::next::by_id;
use crate::pages::{Place, no_cursor, page};
use crate::problem::Problem;
use crate::tool::{Data, Hints, Set, Tool};
use crate::tools::{fields, room};

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
    Tool::new(
        ("list_requests", Set::Human, Hints::READS),
        (
            "List requests",
            "What people are asked and haven't answered, with everything that is asked.",
        ),
        &[("requests", "array"), ("cursor", "string")],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let from = input.cursor.as_deref().map(Cursor::read).transpose()?;
    let filter = Filter {
        run: input.run_id.as_deref(),
        workflow: input.workflow.as_deref(),
        kind: input.kind,
        state: input.state.as_deref(),
        from: from.as_ref().map(|it| &it.next),
    };
    let found = asked(call, &filter, PAGE)?;
    let place = Place {
        item: 0,
        // Of a request that is gone, no piece is left.
        byte: match (&from, found.first()) {
            (Some(from), Some(first)) if first.place() == from.next => from.byte,
            _ => 0,
        },
    };
    let told = found.iter().map(|asked| {
        let mut told = fields(json!(asked.request.opened));
        told.extend(fields(json!({
            "run_id": asked.loaded.run,
            "workflow": asked.loaded.state.workflow,
            "asked_by": asked.request.asker.to_string(),
            "asked_at": asked.request.time,
        })));
        Value::Object(told)
    });
    let mut answer = fields(json!({}));
    let (told, rest) = page(by_id(told.collect()), place, room(&answer));
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
                next: place(request)?,
                byte: byte.parse().ok()?,
            })
        };
        read().ok_or_else(no_cursor)
    }
}
