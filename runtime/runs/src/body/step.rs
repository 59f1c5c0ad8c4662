//! Macrosteps by names, so that they can be read without the table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One macrostep: what it did, and where it led.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The microsteps, in order; none where the event was ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Microstep>,
    /// The fields that guards wanted to read and that were absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// The effects, in order: what the host has to carry out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<EffectKey>,
    /// The fields at the top of the context that have another value now.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub changed: Map<String, Value>,
    /// Timers armed (with the time when they are due) and cancelled (without), in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timers: Vec<Arming>,
    /// The active leaves afterwards, in document order.
    pub leaves: Vec<String>,
    /// The states that histories have recorded by now.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub history: BTreeMap<String, Vec<String>>,
    /// If the machine has ended with it: whether that is a success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<bool>,
}

/// Transitions taken together, with what they left, did and entered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Microstep {
    /// The numbers of the transitions in the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transitions: Vec<u16>,
    /// The states left, descendants first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exited: Vec<String>,
    /// The actions carried out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
    /// The states entered, ancestors first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entered: Vec<String>,
    /// The events raised.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raised: Vec<String>,
}

/// An effect of a step, and what tells it from every other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectKey {
    /// `<run>:<seq>:<n>`: carrying it out twice can be noticed by it.
    pub key: String,
    /// The action's name.
    pub name: String,
}

/// A timer armed or cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arming {
    /// The timer's name in the table.
    pub timer: String,
    /// The time at which it is due; none if it was cancelled. Unit: milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<u64>,
}
