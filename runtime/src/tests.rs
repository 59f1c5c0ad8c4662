//! Tests of the crate as a whole; tests of one file stand at its end.

use crate as rt;

mod exercise;
mod machines;
mod oracle;
mod random;
