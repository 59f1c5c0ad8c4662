//! `migrate_run`: a run goes on under the machine that its spec has now, or under another one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::Body;
use statemark_runs::runs::{Migrate, MigrationPlan};

use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::{Fields, NEXT, answer_about, answer_order, find_refusal};
use crate::options::Set;
use crate::tool::{Annotations, Tool};
use crate::tools::time::told;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The workflow to go on under; else the run's own, as its spec is now.
    workflow: Option<String>,
    /// States that have another name there: old to new.
    #[serde(default)]
    states: BTreeMap<String, String>,
    /// Timers that have another name there: old to new.
    #[serde(default)]
    timers: BTreeMap<String, String>,
    /// Only say what would become of the run, and what is in the way.
    #[serde(default)]
    dry_run: bool,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("migrate_run", Set::Time, Annotations::IDEMPOTENT),
        (
            "Migrate a run",
            "Lets a run go on under the machine that its spec has now. Refused where something that it stands on isn't there, and to agents where it demands anything else.",
        ),
        &[("migrated", "object"), ("obstacles", "array"), NEXT],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let runs = ctx.runs();
    let loaded = ctx.load_run(input.run_id.as_deref())?;
    let migrate = Migrate {
        workflow: input.workflow.clone(),
        states: input.states.clone(),
        timers: input.timers.clone(),
    };
    // What is in the way is said of the run as it was before a refusal is written.
    let plan = runs.plan_migration(&loaded.run, &migrate, ctx.actor().role)?;
    if input.dry_run {
        let planned = json!({
            "possible": plan.obstacles.is_empty(),
            "obstacles": obstacles(&plan),
            "migrated": told(json!(plan.migrated)),
            "differences": differences(&plan),
        });
        return answer_about(&loaded, planned);
    }
    let key = input.idempotency_key.as_deref();
    let order = ctx.order(loaded.run.clone(), key, input.expected_seq)?;
    let written = runs.execute(&order, &migrate)?;
    if find_refusal(&written).is_some() {
        return answer_order(&written, json!({})).map_err(|mut problem| {
            if let Value::Object(details) = &mut problem.details {
                details.insert("obstacles".to_owned(), obstacles(&plan));
            }
            problem
        });
    }
    let migrated = written.records.iter().find_map(|it| match it.read() {
        Ok(Body::Migrated(migrated)) => Some(told(json!(migrated))),
        _ => None,
    });
    answer_order(&written, json!({"migrated": migrated}))
}

fn obstacles(plan: &MigrationPlan) -> Value {
    let some: Vec<_> = plan.obstacles.iter().take(super::MOST).collect();
    json!(some)
}

/// Most names of what is gone, new or changed of a kind. Why: there are eight kinds, and a reply has 16 KiB.
const NAMED: usize = 8;

/// Most bytes of such a name.
const NAME: usize = 60;

/// What of each kind is gone, new or changed, by names; of many the first.
fn differences(plan: &MigrationPlan) -> Value {
    let rows = plan.comparison.rows.iter();
    let rows = rows.map(|(kind, rows)| {
        let mut fates = rows.name_changes(kind);
        for names in [&mut fates.gone, &mut fates.new, &mut fates.changed] {
            let more = names.len().saturating_sub(NAMED);
            names.truncate(NAMED);
            for name in names.iter_mut() {
                if let (cut, true) = bounds::truncate(name, NAME) {
                    *name = format!("{cut}…");
                }
            }
            if more > 0 {
                names.push(format!("and {more} more"));
            }
        }
        (kind.clone(), json!(fates))
    });
    Value::Object(rows.collect())
}
