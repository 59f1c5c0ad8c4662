//! The checks, and the proof that they passed.
//!
//! [`check`] runs every check on a machine and hands out [`Valid`] if none of them found an error. Back ends take
//! `&Valid`, so a machine that wasn't checked can't be written. One check is one file, which holds its message too.
//!
//! Deliberately not here: whether names lead somewhere ([`crate::lower`] has seen to it), and whether the table is sound
//! (the runtime's `verify` does, with no opinion on whether the machine is any good).

mod conflicting_transitions;
mod eventless_cycle;
mod final_with_transitions;
mod identifier_collision;
mod limits;
mod never_completes;
mod no_final_state;
mod no_path_to_final;
mod overridden_transition;
mod renamed_identifier;
mod shadowed_transition;
mod similar_name;
mod unbounded_raise;
mod unreachable_state;
mod useless_history;

use crate::diag::Diags;
use crate::ir::Machine;
use crate::pass::reach::Reachability;

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

/// Runs the checks. `None` if one of them, or an earlier stage (`broken`), found an error.
///
/// A broken machine is checked only for what its author wrote, not for what can happen in it: that would be news about
/// a machine that nobody meant.
#[must_use]
pub fn check(machine: Machine, broken: bool, diags: &mut Diags) -> Option<Valid> {
    if machine.states.len() < 2 {
        // Nothing was read; an earlier stage has said why.
        return None;
    }
    let mut found = Diags::new();
    limits::check(&machine, &mut found);
    if found.has_errors() {
        diags.append(found);
        return None;
    }
    renamed_identifier::check(&machine, diags, &mut found);
    identifier_collision::check(&machine, &mut found);
    similar_name::check(&machine, &mut found);
    final_with_transitions::check(&machine, &mut found);
    conflicting_transitions::check(&machine, &mut found);
    shadowed_transition::check(&machine, &mut found);
    let broken = broken || found.has_errors();
    if !broken {
        eventless_cycle::check(&machine, &mut found);
    }
    let broken = broken || found.has_errors();
    if !broken {
        let reach = Reachability::of(&machine);
        unreachable_state::check(&machine, &reach, diags, &mut found);
        no_final_state::check(&machine, &mut found);
        no_path_to_final::check(&machine, &reach, &mut found);
        never_completes::check(&machine, &reach, &mut found);
        overridden_transition::check(&machine, &reach, &mut found);
        unbounded_raise::check(&machine, &reach, &mut found);
        useless_history::check(&machine, &mut found);
    }
    diags.append(found);
    (!broken).then_some(Valid { machine })
}
