//! Checks of machines, and the evidence that they passed.
//!
//! [`check`] runs every check on a machine and returns [`Valid`] if none of them found an error. Back ends take `&Valid`,
//! so an unchecked machine can't be written. The checks of one subject share a file, which lists them in its `CHECKS`;
//! each is a function with its message below it.
//!
//! Deliberately not here: name resolution, which [`crate::lower`] does, and the soundness of the table, which the
//! runtime's `verify` checks without an opinion on whether the machine is any good.

mod actions;
mod children;
mod claims;
mod data;
mod determinism;
mod internal_events;
mod limits;
mod names;
mod policy;
mod structure;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;

use crate::diag::Diags;
use crate::ir::Machine;
use crate::pass;
use crate::pass::names::Names;
use crate::pass::reach::Reachability;
use crate::source::Span;

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

/// A check, and the machines that it applies to.
enum Check {
    /// Examines the author's text, so it also applies to a machine with errors.
    Text(fn(&Subject<'_>, &mut Diags)),
    /// Examines what can happen, which is worth knowing only for a machine without errors.
    Behavior(fn(&Subject<'_>, &mut Diags)),
}

/// The subject of the checks.
struct Subject<'m> {
    machine: &'m Machine,
    /// The findings of earlier stages, so that a consequence of one isn't reported again.
    reported: &'m Diags,
    /// Tells which states the author speaks of outside of the diagram.
    elsewhere: &'m dyn Fn() -> BTreeSet<String>,
    known: OnceCell<BTreeSet<String>>,
    /// The states, by id and place, that a misread text explains although what follows from it is an error.
    blamed: RefCell<Vec<(String, Span)>>,
    reach: OnceCell<Reachability>,
    names: OnceCell<Option<Names>>,
}

impl Subject<'_> {
    /// Returns whether a misread text explains an error about a state, which is that text's error then.
    fn is_blamed(&self, id: &str, span: Span) -> bool {
        let is_explained = self.reported.is_misread(id, span);
        if is_explained {
            self.blamed.borrow_mut().push((id.to_owned(), span));
        }
        is_explained
    }

    /// Reports whether the author speaks of a state outside of the diagram.
    fn is_named_elsewhere(&self, id: &str) -> bool {
        self.known.get_or_init(self.elsewhere).contains(id)
    }

    /// Returns what can be reached, which is computed once.
    fn reach(&self) -> &Reachability {
        self.reach.get_or_init(|| Reachability::new(self.machine))
    }

    /// Returns the names in Rust, which are computed once; `None` if there is nothing to say of them.
    fn names(&self) -> Option<&Names> {
        let names = || {
            let is_plain = pass::names::is_plain(self.machine);
            (!is_plain).then(|| pass::names::names(self.machine))
        };
        self.names.get_or_init(names).as_ref()
    }
}

/// Runs the checks. Returns `None` if one of them, or an earlier stage (`broken`), found an error.
#[must_use]
pub fn check(machine: Machine, broken: bool, diags: &mut Diags) -> Option<Valid> {
    check_written(machine, &BTreeSet::new, broken, diags)
}

/// Runs the checks on a machine that was made of texts.
///
/// `elsewhere` tells which states they speak of outside of the diagram; it is asked at most once, where it matters.
pub(crate) fn check_written(
    machine: Machine,
    elsewhere: &dyn Fn() -> BTreeSet<String>,
    broken: bool,
    diags: &mut Diags,
) -> Option<Valid> {
    if machine.states.len() < 2 {
        // Nothing was parsed, which an earlier stage has reported.
        return None;
    }
    let mut found = Diags::new();
    limits::check(&machine, &mut found);
    if found.has_errors() {
        diags.append(found);
        return None;
    }
    let subject = Subject {
        machine: &machine,
        reported: diags,
        elsewhere,
        known: OnceCell::new(),
        blamed: RefCell::default(),
        reach: OnceCell::new(),
        names: OnceCell::new(),
    };
    let checks = || {
        let determinism = determinism::CHECKS.iter();
        let rest = structure::CHECKS.iter().chain(names::CHECKS);
        determinism
            .chain(rest)
            .chain(data::CHECKS)
            .chain(actions::CHECKS)
            .chain(children::CHECKS)
            .chain(claims::CHECKS)
            .chain(internal_events::CHECKS)
            .chain(policy::CHECKS)
    };
    for check in checks() {
        if let Check::Text(run) = check {
            run(&subject, &mut found);
        }
    }
    for check in checks() {
        if let Check::Behavior(run) = check
            && !broken
            && !found.has_errors()
            && subject.blamed.borrow().is_empty()
        {
            run(&subject, &mut found);
        }
    }
    let blamed = subject.blamed.take();
    let broken = broken || found.has_errors() || !blamed.is_empty();
    for (id, span) in blamed {
        diags.blame(&id, span);
    }
    names::fold_followers(&machine, diags, &mut found);
    diags.append(found);
    (!broken).then_some(Valid { machine })
}
