//! Rules about what actions do: lists of them, conditions in them, and timers.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Range;

use super::{Fault, FaultKind, Place, ensure};
use crate::id::EventId;
use crate::limits::MAX_CALLS;
use crate::table::sections::{ActionKind, Sections, list};

/// Returns the cost of each action: 1, and for a conditional one that of its longer list.
/// More than the limit is as good as the limit and one. INVARIANT: V35 refuses conditional actions for which this is
/// too little.
pub(super) fn costs(sections: &Sections) -> Vec<usize> {
    let mut costs: Vec<usize> = Vec::with_capacity(sections.actions.len());
    for row in &sections.actions {
        let inner = match &row.kind {
            ActionKind::If {
                then, otherwise, ..
            } => {
                let [then, otherwise] =
                    [then, otherwise].map(|calls| cost(sections, &costs, calls));
                then.max(otherwise)
            }
            _ => 0,
        };
        costs.push((1 + inner).min(MAX_CALLS + 1));
    }
    costs
}

/// Returns the number of actions in a list, up to the limit and one.
pub(super) fn cost(sections: &Sections, costs: &[usize], calls: &Range<u32>) -> usize {
    if calls.len() > MAX_CALLS {
        return calls.len();
    }
    let actions = list(&sections.calls, calls).iter();
    let each = actions.map(|action| costs.get(action.index()).copied().unwrap_or(1));
    each.sum()
}

/// Checks that no list of actions is longer than the limit, what conditional ones come to included.
pub(super) fn v27_calls(sections: &Sections) -> Result<(), Fault> {
    let costs = costs(sections);
    let check = |what, range: &Range<u32>, place: &dyn Fn() -> Place| {
        let found = cost(sections, &costs, range);
        ensure(found <= MAX_CALLS, || {
            place().fault(FaultKind::Calls {
                what,
                found,
                limit: MAX_CALLS,
            })
        })
    };
    for (index, row) in sections.states.iter().enumerate() {
        let place = || Place::state(sections, index);
        check("initial", &row.initial_calls, &place)?;
        check("entry", &row.entry, &place)?;
        check("exit", &row.exit, &place)?;
    }
    for (index, row) in sections.transitions.iter().enumerate() {
        check("of its own", &row.calls, &|| {
            Place::row("transition", index)
        })?;
    }
    Ok(())
}

/// Checks that no timer sends the `done` event of a state, which only the machine raises.
pub(super) fn v34_timers(sections: &Sections) -> Result<(), Fault> {
    let done: BTreeSet<EventId> = sections.states.iter().filter_map(|row| row.done).collect();
    for (index, row) in sections.timers.iter().enumerate() {
        let completes = done.contains(&row.event);
        ensure(!completes, || {
            let event = row.event.raw();
            let place = Place::with_name(sections, "timer", index, Some(row.name));
            place.fault(FaultKind::TimerCompletes { event })
        })?;
    }
    Ok(())
}

/// Checks that a conditional action stands after the actions that it does, so never does itself.
pub(super) fn v35_conditions(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.actions.iter().enumerate() {
        let ActionKind::If {
            then, otherwise, ..
        } = &row.kind
        else {
            continue;
        };
        let place = || Place::with_name(sections, "action", index, Some(row.name));
        for calls in [then, otherwise] {
            let found = calls.len();
            ensure(found <= MAX_CALLS, || {
                place().fault(FaultKind::Calls {
                    what: "conditional",
                    found,
                    limit: MAX_CALLS,
                })
            })?;
            for action in list(&sections.calls, calls) {
                ensure(action.index() < index, || {
                    let action = action.raw();
                    place().fault(FaultKind::ConditionBehind { action })
                })?;
            }
        }
    }
    Ok(())
}
