//! Claims about a checked machine: each with its verdict, its assumptions and a witness.
//!
//! [`prove`] is a client of the compiler: it runs the table engine over every configuration that the machine can rest in
//! (`concrete`), and most claims are read off that state space. Where it is too large, graph and abstract reachability
//! ([`crate::pass::reach`]) still refute some claims, and of the rest nothing is claimed. A claim `holds` only where that
//! was shown, and it lists what it assumes.
//!
//! Deliberately not here: what a machine should be like, which is for the checks ([`crate::valid`]) to say. A claim that
//! fails is a fact: a controller that never ends is none the worse for it.

mod ambiguity;
mod apart;
mod claims;
mod concrete;
mod evidence;
mod guards;
mod play;

use crate::pass::reach::Reachability;
use crate::valid::Valid;
use concrete::explore;
use evidence::Evidence;

/// A claim about a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Proof {
    /// Its stable name, such as `can-end`.
    pub claim: &'static str,
    /// The claim as a sentence, without a full stop.
    pub text: &'static str,
    /// The verdict.
    pub verdict: Judgment,
    /// The reason of a verdict that isn't `Holds`.
    pub why: Option<String>,
    /// The assumptions it rests on.
    pub assumes: Vec<&'static str>,
    /// An example that shows the verdict.
    pub witness: Option<Witness>,
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
pub enum Judgment {
    /// The claim was shown.
    Holds,
    /// Its contrary was shown.
    Fails,
    /// Neither was shown.
    Unknown,
}

/// An example that shows a claim or its contrary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Witness {
    /// Ids of events that lead there from the start; a timer is named by its event (`after.paid.1`).
    ///
    /// Each is taken if the guards on the way answer as needed. A timer may be listed because nothing takes it: it
    /// doesn't fire again.
    pub events: Vec<String>,
    /// Ids of the states concerned: where the events lead, or what can't be reached.
    pub states: Vec<String>,
}

/// Returns the claims about a machine, in a stable order.
///
/// Claims that mean nothing for the machine, such as those about regions where it has none, are left out.
///
/// ```
/// use statemark_compiler::proofs::{Judgment, prove};
/// use statemark_compiler::{Options, compile, source::Sources};
///
/// let mut sources = Sources::new();
/// sources.add("door.mmd", "stateDiagram-v2\n[*] --> shut\nshut --> open : push\nopen --> [*] : leave");
/// let compiled = compile(&sources, &Options::default());
/// let proofs = prove(&compiled.machines[0]);
/// let end = proofs.iter().find(|proof| proof.claim == "can-end").unwrap();
/// assert_eq!(end.verdict, Judgment::Holds);
/// assert_eq!(end.witness.as_ref().unwrap().events, ["push", "leave"]);
/// ```
#[must_use]
pub fn prove(valid: &Valid) -> Vec<Proof> {
    let is_sure = |space: &_, node, region| claims::is_sure(valid, space, node, region);
    decide(&Evidence {
        machine: valid,
        reach: Reachability::new(valid),
        space: explore(valid, is_sure),
    })
}

/// Decides the claims by the evidence.
fn decide(evidence: &Evidence<'_>) -> Vec<Proof> {
    [
        claims::states_reachable(evidence),
        claims::transitions_taken(evidence),
        claims::can_end(evidence),
        claims::can_always_end(evidence),
        claims::never_stuck(evidence),
        claims::comes_to_rest(evidence),
        ambiguity::unambiguous(evidence),
        claims::regions_complete(evidence),
    ]
    .into_iter()
    .flatten()
    .collect()
}
