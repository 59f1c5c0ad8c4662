//! Rules about programs: those of guards, of conditions and of assignments.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Fault, FaultKind, Place, ensure};
use crate::limits::{MAX_ASSIGNS, MAX_DATUM_DEPTH, MAX_LEVELS, MAX_PROGRAM};
use crate::table::sections::{ActionKind, Instruction, Sections, list};
use crate::value::Operator;

/// The owner of a program.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Transition(usize),
    Assignment(usize),
    Action(usize),
}

impl Owner {
    fn position(self, sections: &Sections) -> Place {
        match self {
            Self::Transition(row) => Place::row("transition", row),
            Self::Assignment(row) => Place::row("assignment", row),
            Self::Action(row) => {
                let name = sections.actions.get(row).map(|row| row.name);
                Place::with_name(sections, "action", row, name)
            }
        }
    }

    const fn name(self) -> (&'static str, usize) {
        match self {
            Self::Transition(row) => ("transition", row),
            Self::Assignment(row) => ("assignment", row),
            Self::Action(row) => ("action", row),
        }
    }
}

/// Returns every program; a transition without a guard has none.
fn programs(sections: &Sections) -> impl Iterator<Item = (Owner, &Range<u32>)> {
    let guards = sections.transitions.iter().enumerate();
    let guards = guards
        .filter(|(_, row)| !row.guard.is_empty())
        .map(|(index, row)| (Owner::Transition(index), &row.guard));
    let assigns = sections.assigns.iter().enumerate();
    let assigns = assigns.map(|(index, row)| (Owner::Assignment(index), &row.value));
    let actions = sections.actions.iter().enumerate();
    let conditions = actions.filter_map(|(index, row)| match &row.kind {
        ActionKind::If { guard, .. } => Some((Owner::Action(index), guard)),
        _ => None,
    });
    guards.chain(assigns).chain(conditions)
}

/// Checks that no program is longer than the limit.
pub(super) fn v21_program_length(sections: &Sections) -> Result<(), Fault> {
    for (owner, range) in programs(sections) {
        let found = range.len();
        ensure(found <= MAX_PROGRAM, || {
            let kind = FaultKind::Program {
                found,
                limit: MAX_PROGRAM,
            };
            owner.position(sections).fault(kind)
        })?;
    }
    Ok(())
}

/// Checks that the operands of instructions with any number of them stay within the program.
pub(super) fn v22_operands(sections: &Sections) -> Result<(), Fault> {
    for (owner, range) in programs(sections) {
        let program = list(&sections.code, range);
        for (at, instruction) in program.iter().enumerate() {
            let rest = program.len() - at - 1;
            let (Instruction::All(length) | Instruction::Any(length)) = *instruction else {
                continue;
            };
            ensure(usize::from(length) <= rest, || {
                let kind = FaultKind::Operands { at, length, rest };
                owner.position(sections).fault(kind)
            })?;
        }
    }
    Ok(())
}

/// Programs don't overlap.
pub(super) fn v23_overlap(sections: &Sections) -> Result<(), Fault> {
    let mut all: Vec<(u32, u32, Owner)> = programs(sections)
        .filter(|(_, range)| !range.is_empty())
        .map(|(owner, range)| (range.start, range.end, owner))
        .collect();
    all.sort_by_key(|&(start, end, _)| (start, end));
    let mut before: Option<(u32, Owner)> = None;
    for (start, end, owner) in all {
        if let Some((_, other)) = before.filter(|&(ended, _)| start < ended) {
            let (what, other) = other.name();
            let kind = FaultKind::Overlap { what, other };
            return Err(owner.position(sections).fault(kind));
        }
        before = Some((end, owner));
    }
    Ok(())
}

/// Checks that an instruction has as many constants as it takes.
pub(super) fn v24_constant_count(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.code.iter().enumerate() {
        let (what, found, holds) = match row {
            Instruction::Compare(_, operator, range) => {
                let found = range.len();
                let holds = match operator {
                    Operator::In => true,
                    Operator::Exists | Operator::NotExists => found == 0,
                    _ => found == 1,
                };
                (operator.name(), found, holds)
            }
            Instruction::Push(range) => ("push", range.len(), range.len() == 1),
            _ => continue,
        };
        ensure(holds, || {
            Place::row("instruction", index).fault(FaultKind::ConstantCount { what, found })
        })?;
    }
    Ok(())
}

/// An instruction whose operands aren't all read.
struct Open {
    /// The number of operands that are to come; `None` if they go up to `end`.
    missing: Option<usize>,
    /// The end of the innermost operands of any number that it belongs to.
    end: usize,
}

/// Reads a program as one expression.
///
/// # Errors
///
/// It is none, as the kind of fault says. Relies on V22.
fn read(code: &[Instruction]) -> Result<(), FaultKind> {
    let mut open: Vec<Open> = Vec::new();
    for (at, instruction) in code.iter().enumerate() {
        if at > 0 && open.is_empty() {
            return Err(FaultKind::SecondExpression { at });
        }
        let next = at + 1;
        let outer = open.last().map_or(code.len(), |last| last.end);
        let (missing, end) = match instruction {
            Instruction::All(length) | Instruction::Any(length) => {
                (None, next + usize::from(*length))
            }
            other => (Some(other.operands()), outer),
        };
        if end > outer {
            return Err(FaultKind::Unfinished { end: outer });
        }
        open.push(Open { missing, end });
        if open.len() > MAX_LEVELS {
            let limit = MAX_LEVELS;
            return Err(FaultKind::Levels { at, limit });
        }
        // What is whole now is an operand of what is around it.
        while open
            .pop_if(|last| {
                last.missing
                    .map_or(last.end == next, |missing| missing == 0)
            })
            .is_some()
        {
            if let Some(Open {
                missing: Some(missing),
                ..
            }) = open.last_mut()
            {
                *missing = missing.saturating_sub(1);
            }
        }
        if let Some(end) = open.last().map(|last| last.end)
            && end <= next
            && end < code.len()
        {
            return Err(FaultKind::Unfinished { end });
        }
    }
    match open.last() {
        None if code.is_empty() => Err(FaultKind::NoProgram),
        None => Ok(()),
        Some(_) => Err(FaultKind::NoOperand),
    }
}

/// Reports whether a program is one expression.
/// Then [`operands`](crate::operands) finds those of each instruction.
pub(in crate::table) fn is_expression(code: &[Instruction]) -> bool {
    read(code).is_ok()
}

/// Checks that every program is one expression, as far as a rule goes.
fn check(sections: &Sections, concerns: fn(&FaultKind) -> bool) -> Result<(), Fault> {
    for (owner, range) in programs(sections) {
        if let Err(kind) = read(list(&sections.code, range))
            && concerns(&kind)
        {
            return Err(owner.position(sections).fault(kind));
        }
    }
    Ok(())
}

/// Checks that an instruction has its operands, and that none is nested deeper than the limit.
pub(super) fn v40_nesting(sections: &Sections) -> Result<(), Fault> {
    check(sections, |kind| {
        matches!(kind, FaultKind::NoOperand | FaultKind::Levels { .. })
    })
}

/// Checks that operands in any number end where an expression does.
pub(super) fn v41_ends(sections: &Sections) -> Result<(), Fault> {
    check(sections, |kind| {
        matches!(kind, FaultKind::Unfinished { .. })
    })
}

/// Checks that a program is one expression.
pub(super) fn v42_one_expression(sections: &Sections) -> Result<(), Fault> {
    check(sections, |kind| {
        matches!(
            kind,
            FaultKind::NoProgram | FaultKind::SecondExpression { .. }
        )
    })
}

/// Checks that each assigned field is one of the context, not of an event's data.
pub(super) fn v43_assigned(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.assigns.iter().enumerate() {
        let path = sections.fields.get(row.field.index());
        let path = path.and_then(|text| sections.texts.get(text.index()));
        let path = path.map_or("", |path| path);
        ensure(path.split('.').next() != Some("event"), || {
            Place::row("assignment", index).fault(FaultKind::AssignsEvent {
                field: row.field.raw(),
            })
        })?;
    }
    Ok(())
}

/// Checks that no action assigns more fields than the limit.
pub(super) fn v44_assigns(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.actions.iter().enumerate() {
        let ActionKind::Assign(range) = &row.kind else {
            continue;
        };
        let found = range.len();
        ensure(found <= MAX_ASSIGNS, || {
            Owner::Action(index)
                .position(sections)
                .fault(FaultKind::Assigns {
                    found,
                    limit: MAX_ASSIGNS,
                })
        })?;
    }
    Ok(())
}

/// Checks that the path of a field has no more keys than a value may be nested deep.
pub(super) fn v45_paths(sections: &Sections) -> Result<(), Fault> {
    for (index, &path) in sections.fields.iter().enumerate() {
        let found = sections.texts.get(path.index());
        let found = found.map_or(0, |text| text.split('.').count());
        ensure(found <= MAX_DATUM_DEPTH, || {
            let kind = FaultKind::Path {
                found,
                limit: MAX_DATUM_DEPTH,
            };
            Place::row("field", index).fault(kind)
        })?;
    }
    Ok(())
}
