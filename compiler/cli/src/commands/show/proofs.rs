//! What is certain of a machine, in words.

use statemark_compiler::proofs::{Judgment, Proof};
use statemark_runtime::Table;

use crate::wording;

/// Most events of a witness that are shown. Unit: events. Why: they fill two lines; as JSON there are all of them.
const MOST_SHOWN: usize = 16;

/// Each verdict in a word with what it is of. Claims that nothing is known of for the same reason are told together, so that
/// the reason is told once.
pub(super) fn told(table: &Table, proofs: &[Proof]) -> Vec<(&'static str, String)> {
    let mut told: Vec<(&'static str, String)> = Vec::new();
    for (index, proof) in proofs.iter().enumerate() {
        let same = |other: &&Proof| shares_reason(proof, other);
        if proofs.iter().take(index).any(|it| same(&it)) {
            continue;
        }
        let others = proofs.iter().skip(index + 1).filter(same);
        let claims: Vec<&str> = std::iter::once(proof)
            .chain(others)
            .map(|it| it.text)
            .collect();
        told.push((word(proof), text(table, proof, &claims.join("; "))));
    }
    told
}

/// Whether nothing is known of either, for the same reason and without a case that shows it.
fn shares_reason(one: &Proof, other: &Proof) -> bool {
    let is_open = |proof: &Proof| proof.verdict == Judgment::Unknown && proof.witness.is_none();
    is_open(one) && is_open(other) && one.why.is_some() && one.why == other.why
}

/// The verdict in a word.
const fn word(proof: &Proof) -> &'static str {
    match proof.verdict {
        Judgment::Holds => "holds",
        Judgment::Fails => "fails",
        Judgment::Unknown => "unknown",
    }
}

/// `the machine can end: push, leave`, `every state can be reached: nothing leads to …`
fn text(table: &Table, proof: &Proof, claim: &str) -> String {
    let mut text = claim.to_owned();
    if let Some(why) = &proof.why {
        text.push_str(": ");
        text.push_str(why);
    }
    let Some(witness) = &proof.witness else {
        return text;
    };
    let more = witness.events.len().saturating_sub(MOST_SHOWN);
    let events = witness.events.iter().take(MOST_SHOWN);
    let mut events: Vec<String> = events.map(|event| event_name(table, event)).collect();
    if more > 0 {
        events.push(format!("and {more} more"));
    }
    match (proof.verdict, events.as_slice()) {
        (_, []) => {}
        (Judgment::Holds, events) => text.push_str(&format!(": {}", events.join(", "))),
        (_, events) => text.push_str(&format!(" (by {})", events.join(", "))),
    }
    text
}

/// What any of the claims rests on.
pub(super) fn assumed(proofs: &[Proof]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for assumed in proofs.iter().flat_map(|proof| &proof.assumes) {
        if !all.contains(assumed) {
            all.push(assumed);
        }
    }
    all.join("; ")
}

fn event_name(table: &Table, id: &str) -> String {
    let mut events = table.events();
    let found = events.find(|(event, _)| table.event_name(*event) == id);
    found.map_or_else(
        || id.to_owned(),
        |(event, _)| wording::event_name(table, event),
    )
}
