//! Properties about a checked machine: each with its verdict, its assumptions and a witness.
//!
//! [`prove`] is a client of the compiler: it runs the table engine over every configuration that the machine can rest in
//! (`concrete`), and most properties are read off that state space. Where it is too large, graph and abstract reachability
//! ([`crate::pass::reach`]) still refute some properties, and of the rest nothing is stated. A property `holds` only where that
//! was shown, and it lists what it assumes.
//!
//! Deliberately not here: what a machine should be like, which is for the checks ([`crate::valid`]) to say. A property that
//! fails is a fact: a controller that never ends is none the worse for it.

mod ambiguity;
mod apart;
mod concrete;
mod evidence;
mod guards;
mod play;
mod properties;

use crate::pass::reach::Reachability;
use crate::valid::Valid;
use concrete::explore;
use evidence::Evidence;

/// A property about a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Proof {
    /// Its stable name, such as `can-end`.
    #[cfg_attr(feature = "serde", serde(rename = "claim"))]
    pub property: &'static str,
    /// The property as a sentence, without a full stop.
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

/// The verdict on a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
pub enum Judgment {
    /// The property was shown.
    Holds,
    /// Its contrary was shown.
    Fails,
    /// Neither was shown.
    Unknown,
}

/// An example that shows a property or its contrary.
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

/// Returns the properties about a machine, in a stable order.
///
/// Properties that mean nothing for the machine, such as those about regions where it has none, are left out.
///
/// ```
/// use statemark_compiler::proofs::{Judgment, prove};
/// use statemark_compiler::{Options, compile, source::Sources};
///
/// let mut sources = Sources::new();
/// sources.add("door.mmd", "stateDiagram-v2\n[*] --> shut\nshut --> open : push\nopen --> [*] : leave");
/// let compiled = compile(&sources, &Options::default());
/// let proofs = prove(&compiled.machines[0]);
/// let end = proofs.iter().find(|proof| proof.property == "can-end").unwrap();
/// assert_eq!(end.verdict, Judgment::Holds);
/// assert_eq!(end.witness.as_ref().unwrap().events, ["push", "leave"]);
/// ```
#[must_use]
pub fn prove(valid: &Valid) -> Vec<Proof> {
    let is_sure = |space: &_, node, region| properties::is_sure(valid, space, node, region);
    decide(&Evidence {
        machine: valid,
        reach: Reachability::new(valid),
        space: explore(valid, is_sure),
    })
}

/// Decides the properties by the evidence.
fn decide(evidence: &Evidence<'_>) -> Vec<Proof> {
    [
        properties::states_reachable(evidence),
        properties::transitions_taken(evidence),
        properties::can_end(evidence),
        properties::can_always_end(evidence),
        properties::never_stuck(evidence),
        properties::comes_to_rest(evidence),
        ambiguity::unambiguous(evidence),
        properties::regions_complete(evidence),
    ]
    .into_iter()
    .flatten()
    .collect()
}
