//! Answers in several rounds: what is asked for, what came back, and a state that nobody else can make.

use std::collections::BTreeMap;

use hmac_sha256::HMAC;
use rmcp::model::ErrorData;
use serde_json::{Map, Value, json};

/// Seals states. A server of its own would draw it by chance.
const SEAL: &[u8] = b"known to nobody but this fixture";

/// What came with a request.
pub(super) struct Given {
    pub(super) responses: Option<BTreeMap<String, Value>>,
    pub(super) state: Option<String>,
    /// The client's capabilities.
    pub(super) declared: Value,
}

/// Where it has come to.
pub(super) enum Round {
    /// More is wanted: the result that says so.
    Open(Value),
    /// All is there.
    Done(String),
}

/// Plays a request on: the first round that isn't answered is open.
pub(super) fn play(what: &Value, name: &str, given: Given) -> Result<Round, ErrorData> {
    let rounds = what["rounds"].as_array().expect("a list");
    let seals = what["seals"] == true;
    let at = match &given.state {
        Some(state) if seals => opened(name, state)?,
        _ => 0,
    };
    let responses = given.responses.unwrap_or_default();
    let asked = rounds.get(at).and_then(Value::as_object).expect("a round");
    let is_first = seals && given.state.is_none();
    let is_answered = asked
        .keys()
        .all(|key| responses.get(key).is_some_and(Value::is_object));
    let open = if is_answered && !is_first { at + 1 } else { at };
    let Some(wanted) = rounds.get(open).and_then(Value::as_object) else {
        return Ok(Round::Done(json!(responses).to_string()));
    };
    let mut wanted: Map<String, Value> = wanted.clone();
    if what["declared_only"] == true {
        wanted.retain(|_, request| {
            let method = request["method"].as_str().unwrap_or_default();
            let word = method.split('/').next().unwrap_or_default();
            given.declared.get(word).is_some()
        });
    }
    let mut result = json!({"resultType": "input_required", "inputRequests": wanted});
    if seals {
        result["requestState"] = json!(sealed(name, open));
    }
    Ok(Round::Open(result))
}

fn sealed(name: &str, round: usize) -> String {
    let mac = HMAC::mac(format!("{name} {round}"), SEAL);
    let digits: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{round}.{digits}")
}

/// The round that a state is of, if it is one that was sealed for this name.
fn opened(name: &str, state: &str) -> Result<usize, ErrorData> {
    let round = state.split('.').next().and_then(|it| it.parse().ok());
    round
        .filter(|round| sealed(name, *round) == state)
        .ok_or_else(|| ErrorData::invalid_params("`requestState` isn't as it was sealed", None))
}
