//! What a state lets be called, and how often.
//!
//! Policy is asked, a place is reserved before a tool runs, and what it did is recorded behind it. Tools that drive a run
//! are neither restricted nor counted. One that a state can restrict needs to know which run is meant: where several could
//! be, it isn't called.
//!
//! All of this is for agents. What people and observers may do, their role says.

use serde_json::{Map, Value, json};
use statemark_runs::policy::{UNGATED, Verdict, is_counted};
use statemark_runs::{DenyTool, Hash, Loaded, Reserve, Reserved, Role, RunId, Used};

use crate::arguments::{by_name, by_name_mut};
use crate::call::Call;
use crate::desk::Desk;
use crate::problem::Problem;
use crate::session;
use crate::tool::Tool;

/// A call that has its place in a run's count.
pub(crate) struct Counted {
    run: RunId,
    reserve: Reserve,
    /// When it began. Unit: milliseconds since 1970.
    began: u64,
}

impl Desk {
    /// Lets a tool be called, or says why not; a call that counts gets its place. A refused call is recorded. The arguments
    /// are those that the tool is going to read.
    pub(crate) fn admit(
        &self,
        call: &Call<'_>,
        tool: &Tool,
        given: &mut Map<String, Value>,
    ) -> Result<Option<Counted>, Problem> {
        if call.caller.actor.role != Role::Agent {
            return Ok(None);
        }
        if tool.kin.is_none() && UNGATED.contains(&tool.name) {
            return Ok(None);
        }
        let counts = is_counted(tool.name) && tool.kin.is_none_or(is_counted);
        let named = named_run(given);
        let run = match call.run(named.and_then(Value::as_str)) {
            Ok(run) => run,
            Err(problem) if counts && problem.code != "no_run" => return Err(problem),
            Err(_) if counts && named.is_none() => {
                self.let_go(call, tool)?;
                return Ok(None);
            }
            // A tool that needs a run says itself that none is meant.
            Err(_) => return Ok(None),
        };
        let loaded = match self.runs().load(&run) {
            Ok(loaded) => loaded,
            Err(error) if counts => return Err(error.into()),
            Err(_) => return Ok(None),
        };
        let arguments = Value::Object(given.clone());
        if let Verdict::Deny(denial) = verdict(&loaded, tool, &arguments) {
            self.refused(call, tool, run, &denial.reason);
            let details = json!({
                "states": denial.states,
                "granted": denial.granted,
                "legal": denial.legal,
            });
            return Err(Problem::new(denial.code, denial.reason).with(details));
        }
        if !counts {
            return Ok(None);
        }
        self.reserved(call, tool, run, given).map(Some)
    }

    /// Records a refusal. It stands whether or not that can be done: the run may not be there.
    pub(crate) fn refused(&self, call: &Call<'_>, tool: &Tool, run: RunId, reason: &str) {
        if let Ok(order) = call.order(run, None, None) {
            let denied = DenyTool {
                tool: tool.name.to_owned(),
                reason: reason.to_owned(),
            };
            drop(self.runs().execute(&order, &denied));
        }
    }

    /// Refuses an agent's call where an agent gave up the run that changed last, unless its workflow lets go of the agent's
    /// tools then: else giving a run up would switch policy off. Another run that is live ends that.
    fn let_go(&self, call: &Call<'_>, tool: &Tool) -> Result<(), Problem> {
        let Some(last) = session::last(call)? else {
            return Ok(());
        };
        if self.runs().load(&last.run)?.releases_tools() {
            return Ok(());
        }
        let run = &last.run;
        let reason = format!(
            "`{}` isn't granted: an agent gave up run `{run}`, whose workflow doesn't let go of tools; start a run, or ask a person",
            tool.name
        );
        self.refused(call, tool, run.clone(), &reason);
        Err(Problem::new("given_up", reason).with(json!({"run_id": run})))
    }

    /// A place for a call, if the limits of the active states leave one.
    fn reserved(
        &self,
        call: &Call<'_>,
        tool: &Tool,
        run: RunId,
        given: &mut Map<String, Value>,
    ) -> Result<Counted, Problem> {
        let key = by_name(given, "idempotency_key");
        // A repeated call is one, of tools that do the same thing once; else any call could be said to be repeated.
        let names = tool.input.get("properties").and_then(Value::as_object);
        let has_keys = names.is_some_and(|it| by_name(it, "idempotency_key").is_some());
        let id = match key.and_then(Value::as_str).filter(|_| has_keys) {
            Some(key) => format!("{}:{key}", tool.name),
            None => RunId::random().to_string(),
        };
        let input = Value::Object(given.clone()).to_string();
        let reserve = Reserve {
            tool: tool.name.to_owned(),
            call: Some(id),
            input: Some(Hash::digest(input.as_bytes())),
            files: Vec::new(),
        };
        let began = self.runs().now();
        let order = call.order(run.clone(), None, None)?;
        let written = self.runs().execute(&order, &reserve)?;
        let loaded = &written.loaded;
        if let Reserved::No { reason } = written.outcome {
            let details = json!({
                "states": loaded.state.leaves,
                "granted": loaded.grants().allowed.unwrap_or_default(),
                "legal": loaded.legal_events(),
            });
            return Err(Problem::new("no_place", reason).with(details));
        }
        // The place is a record of its own: who expected the run to end just before it expects it to end with it.
        let records = u64::try_from(written.records.len()).unwrap_or(u64::MAX);
        let before = loaded.head.seq.saturating_sub(records);
        if let Some(expected) = by_name_mut(given, "expected_seq")
            && expected.as_u64() == Some(before)
        {
            *expected = json!(loaded.head.seq);
        }
        Ok(Counted {
            run,
            reserve,
            began,
        })
    }

    /// Records what a call has done: how long it took, what it returned, and the files that it has changed.
    pub(crate) fn leave(
        &self,
        call: &Call<'_>,
        place: Counted,
        (answer, failed): (&Value, bool),
        files: Vec<String>,
    ) {
        let output = u64::try_from(answer.to_string().len()).ok();
        let used = Used {
            tool: place.reserve.tool,
            call: place.reserve.call,
            failed,
            milliseconds: Some(self.runs().now().saturating_sub(place.began)),
            input: place.reserve.input,
            output,
            files,
        };
        let Ok(order) = call.order(place.run, None, None) else {
            return;
        };
        // The call has been counted by its place; what it has done is done, whether or not that can be told.
        drop(self.runs().execute(&order, &used));
    }
}

/// The run that arguments name. Of what forks, the other one is the new run.
pub(crate) fn named_run(given: &Map<String, Value>) -> Option<&Value> {
    let names = ["parent_run_id", "run_id"];
    names.iter().find_map(|name| by_name(given, name))
}

/// Whether the active states let a tool be used. One with kin may be granted by either name; what disallows either wins,
/// unless no state restricts its kin.
fn verdict(loaded: &Loaded, tool: &Tool, arguments: &Value) -> Verdict {
    let own = loaded.may_use(tool.name, arguments);
    let Some(kin) = tool.kin else {
        return own;
    };
    if UNGATED.contains(&kin) {
        return Verdict::Allow;
    }
    match (own, loaded.may_use(kin, arguments)) {
        (Verdict::Deny(denial), _) | (_, Verdict::Deny(denial)) if denial.code != "not_granted" => {
            Verdict::Deny(denial)
        }
        (Verdict::Deny(denial), Verdict::Deny(_)) => Verdict::Deny(denial),
        _ => Verdict::Allow,
    }
}
