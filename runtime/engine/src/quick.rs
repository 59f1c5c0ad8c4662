//! Steps whose whole effect the dense index knows: a few instructions instead of the algorithm.
//!
//! A machine with one leaf asks the cell of that leaf and the event. A machine with regions asks the cell of the one leaf
//! that the event concerns; if it concerns several, the general step has to compare them.
//!
//! INVARIANT: a step is taken here only as the general step would take it. The tests hold both to the same records.

use crate::bits;
use crate::configuration::Configuration;
use crate::expression;
use crate::host::{Host, Observer};
use crate::id::{EventId, StateId, TransitionId};
use crate::table::Table;
use crate::table::index::{Cell, Check, Contender, Guarded};

/// The effect of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quick {
    /// Nothing is taken.
    Ignored,
    /// Everything is done, and this is the leaf now.
    Moved(StateId),
    /// The general step has to do it, and takes the transition if that is known.
    General(Option<TransitionId>),
}

/// Does what the cell of the leaf says.
#[inline(always)]
pub(crate) fn take<H: Host, O: Observer>(
    table: &Table,
    configuration: &Configuration,
    (leaf, cell): (StateId, Option<&Cell>),
    host: &mut H,
    observer: &mut O,
) -> Quick {
    let Some(cell) = cell else {
        return Quick::General(None);
    };
    match *cell {
        Cell::Nothing => Quick::Ignored,
        Cell::Move { transition, next } => {
            observer.microstep();
            observer.transition(transition);
            observer.exited(leaf);
            observer.entered(next);
            Quick::Moved(next)
        }
        // The other kinds leave out what an observer would see between the actions.
        _ if observer.watches() => Quick::General(None),
        Cell::Ask { guard, next } => {
            if !holds(guard, host) {
                return Quick::Ignored;
            }
            Quick::Moved(next)
        }
        Cell::Act {
            guard,
            action,
            next,
        } => {
            if !holds(guard, host) {
                return Quick::Ignored;
            }
            host.action(action);
            Quick::Moved(next)
        }
        Cell::Run {
            guard,
            count,
            at,
            next,
        } => {
            if !holds(guard, host) {
                return Quick::Ignored;
            }
            run(table, (usize::from(at), usize::from(count)), host);
            Quick::Moved(next)
        }
        Cell::List { at, count } => {
            let at = (at as usize, usize::from(count));
            let Some(first) = first_enabled(table, configuration, at, host, observer) else {
                return Quick::Ignored;
            };
            let Some(next) = first.next() else {
                return Quick::General(Some(first.transition()));
            };
            run(table, first.actions(), host);
            Quick::Moved(next)
        }
        Cell::General => Quick::General(None),
    }
}

#[inline(always)]
fn holds<H: Host>(guard: Guarded, host: &mut H) -> bool {
    guard.guard().is_none_or(|guard| host.guard(guard))
}

/// Returns the first contender whose guard holds.
#[inline(always)]
fn first_enabled<'t, H: Host, O: Observer>(
    table: &'t Table,
    configuration: &Configuration,
    (at, count): (usize, usize),
    host: &mut H,
    observer: &mut O,
) -> Option<&'t Contender> {
    let mut contenders = table.index.dense.contenders(at, count).iter();
    contenders.find(|contender| match contender.check() {
        Check::Always => true,
        Check::Ask(guard) => host.guard(guard),
        Check::Program => {
            expression::guard(table, contender.transition(), configuration, host, observer)
        }
    })
}

/// Carries out the actions of a cell or a contender.
#[inline(always)]
fn run<H: Host>(table: &Table, (at, count): (usize, usize), host: &mut H) {
    for &action in table.index.dense.actions(at, count) {
        host.action(action);
    }
}

/// The leaves of a machine with regions that an event concerns.
/// Such a leaf is, or is within, a state with transitions for the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concerned {
    Nobody,
    One(StateId),
    Several,
}

/// Finds the leaves that the event concerns.
/// It takes time in the number of the event's reactions, not of regions.
#[inline]
pub(crate) fn concerned(table: &Table, configuration: &Configuration, event: EventId) -> Concerned {
    let active = configuration.active();
    let mut found = None;
    for &(word, states) in table.index.of_regions().reactions(event) {
        let word = usize::from(word);
        let states = active.get(word).copied().unwrap_or_default() & states;
        if states == 0 {
            continue;
        }
        if found.is_some() || !states.is_power_of_two() {
            return Concerned::Several;
        }
        found = bits::states(word, states).next();
    }
    let Some(state) = found else {
        return Concerned::Nobody;
    };
    if table.is_leaf(state) {
        return Concerned::One(state);
    }
    match *configuration.within(table, state) {
        [leaf] => Concerned::One(leaf),
        _ => Concerned::Several,
    }
}
