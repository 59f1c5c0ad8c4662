//! Makes what differs small: steps, states, transitions, actions and parts of guards are left out as long as it differs.

mod map;
mod rebuild;
mod simpler;

use super::Case;
use rebuild::{Left, Part, rebuilt};
use simpler::simpler;
use statemark_compiler::ir::Machine;

/// The smallest case found that still differs.
pub(super) fn shrink(case: Case, differs: &dyn Fn(&Case) -> bool) -> Case {
    let mut case = case;
    loop {
        let before = (case.steps.len(), weight(&case.machine));
        drop_steps(&mut case, differs);
        drop_parts(&mut case, differs);
        simplify(&mut case, differs);
        if (case.steps.len(), weight(&case.machine)) == before {
            return case;
        }
    }
}

fn drop_steps(case: &mut Case, differs: &dyn Fn(&Case) -> bool) {
    let mut size = case.steps.len();
    while size > 0 {
        let mut at = 0;
        while at < case.steps.len() {
            let mut smaller = case.clone();
            let end = (at + size).min(smaller.steps.len());
            smaller.steps.drain(at..end);
            if differs(&smaller) {
                *case = smaller;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
}

/// Leaves out rows, one after the other, the last first.
fn drop_parts(case: &mut Case, differs: &dyn Fn(&Case) -> bool) {
    for part in Part::ALL {
        let mut at = part.count(&case.machine);
        while at > 0 {
            at -= 1;
            if at >= part.count(&case.machine) {
                continue;
            }
            let smaller = rebuilt(&case.machine, Left { part, at }).and_then(|(machine, map)| {
                let steps = case.steps.iter();
                Some(Case {
                    seed: case.seed,
                    is_ambiguous: case.is_ambiguous,
                    steps: steps.map(|step| map.step(*step)).collect::<Option<_>>()?,
                    machine,
                })
            });
            if let Some(smaller) = smaller
                && differs(&smaller)
            {
                *case = smaller;
            }
        }
    }
}

/// Tries each smaller machine that one change within a row makes.
fn simplify(case: &mut Case, differs: &dyn Fn(&Case) -> bool) {
    let mut number = 0;
    while let Some(machine) = simpler(&case.machine, number) {
        let smaller = Case {
            machine,
            ..case.clone()
        };
        if differs(&smaller) {
            *case = smaller;
        } else {
            number += 1;
        }
    }
}

/// How much there is to leave out.
fn weight(machine: &Machine) -> usize {
    let rows: usize = Part::ALL.iter().map(|part| part.count(machine)).sum();
    let changes = (0..).take_while(|&number| simpler(machine, number).is_some());
    rows + changes.count()
}
