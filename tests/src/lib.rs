//! Tests over the whole workspace.
//!
//! Whatever compares a text with a file is a case and has a test of its own name, in `cases/`; here is the rest: engines
//! against each other, round trips, hostile input, the rules of the house. What other people wrote is read where it is
//! (`../shared/corpus` next to the checkout) and skipped where it isn't; none of it is part of the project.

#![cfg_attr(
    test,
    expect(
        clippy::string_slice,
        reason = "a test that slices wrongly fails, as a test should"
    )
)]

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod broken;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod contexts;
#[cfg(test)]
mod contracts;
#[cfg(test)]
mod drawings;
#[cfg(test)]
mod engines;
#[cfg(test)]
mod expressions;
#[cfg(test)]
mod fixes;
#[cfg(test)]
mod former;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod hostile_text;
#[cfg(test)]
mod internal_events;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod many;
#[cfg(test)]
mod meaning;
#[cfg(test)]
mod merging;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod outside;
#[cfg(test)]
mod packages;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod payloads;
#[cfg(test)]
mod proofs;
#[cfg(test)]
mod random;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod rendering;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod saved;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod scxml;
#[cfg(test)]
mod sizes;
pub mod specs;
#[cfg(test)]
mod statewright;
#[cfg(test)]
mod tidy;
