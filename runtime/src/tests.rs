//! Tests of the crate as a whole; tests of one file stand at its end.

use crate as rt;

mod evaluator;
mod exercise;
mod large;
mod machines;
mod notation;
mod oracle;
mod random;
mod steps;
