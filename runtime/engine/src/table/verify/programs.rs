//! Rules about programs: those of guards, of conditions and of assignments.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Fault, FaultKind, Place, ensure};
use crate::limits::{MAX_ASSIGNS, MAX_DATUM_DEPTH, MAX_PROGRAM, MAX_STACK};
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

/// Returns how many instructions the instruction may skip.
const fn jump(instruction: &Instruction) -> Option<u16> {
    match instruction {
        Instruction::SkipIfFalse(skip) | Instruction::SkipIfTrue(skip) => Some(*skip),
        _ => None,
    }
}

/// Checks that a jump stays within its program.
pub(super) fn v22_jumps(sections: &Sections) -> Result<(), Fault> {
    for (owner, range) in programs(sections) {
        let program = list(&sections.code, range);
        for (at, instruction) in program.iter().enumerate() {
            let rest = program.len() - at - 1;
            let Some(skip) = jump(instruction) else {
                continue;
            };
            ensure(usize::from(skip) <= rest, || {
                let kind = FaultKind::Jump { at, skip, rest };
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

/// Returns how many values an instruction takes from the stack, and how many it puts there.
/// Jumps don't count.
const fn effect(instruction: &Instruction) -> (usize, usize) {
    match instruction {
        Instruction::Ask(_)
        | Instruction::Compare(..)
        | Instruction::Load(_)
        | Instruction::Push(_)
        | Instruction::Has(_)
        | Instruction::InState(_) => (0, 1),
        Instruction::Not | Instruction::Among(_) | Instruction::Unary(_) => (1, 1),
        Instruction::SkipIfFalse(_) | Instruction::SkipIfTrue(_) => (1, 0),
        Instruction::Binary(_) => (2, 1),
    }
}

/// Returns how many values lie on the stack before each instruction, and at the end.
/// Every instruction is reached from the one before it, since no jump is certain.
fn depths(code: &[Instruction]) -> impl Iterator<Item = usize> {
    let mut depth = 0_usize;
    core::iter::once(0).chain(code.iter().map(move |instruction| {
        let (takes, puts) = effect(instruction);
        depth = depth.saturating_sub(takes) + puts;
        depth
    }))
}

/// Checks that an instruction finds its values, and that no stack is deeper than the limit.
pub(super) fn v40_stack(sections: &Sections) -> Result<(), Fault> {
    for (owner, range) in programs(sections) {
        let code = list(&sections.code, range);
        for ((at, instruction), depth) in code.iter().enumerate().zip(depths(code)) {
            let (takes, puts) = effect(instruction);
            ensure(takes <= depth, || {
                let kind = FaultKind::StackTooShort { at, takes, depth };
                owner.position(sections).fault(kind)
            })?;
            ensure(depth - takes + puts <= MAX_STACK, || {
                let kind = FaultKind::StackTooDeep {
                    at,
                    limit: MAX_STACK,
                };
                owner.position(sections).fault(kind)
            })?;
        }
    }
    Ok(())
}

/// Checks that the stack is as deep where a jump lands as without the jump.
pub(super) fn v41_landings(sections: &Sections) -> Result<(), Fault> {
    for (owner, range) in programs(sections) {
        let code = list(&sections.code, range);
        let depths: Vec<usize> = depths(code).collect();
        for ((at, instruction), &depth) in code.iter().enumerate().zip(&depths) {
            let Some(skip) = jump(instruction) else {
                continue;
            };
            // A jump leaves its answer on the stack, in the place of what it looked at. V22: it lands in the program.
            let landing = depths.get(at + 1 + usize::from(skip)).copied();
            let found = landing.unwrap_or_default();
            ensure(found == depth, || {
                owner
                    .position(sections)
                    .fault(FaultKind::Landing { at, depth, found })
            })?;
        }
    }
    Ok(())
}

/// Checks that a program leaves one value.
pub(super) fn v42_one_value(sections: &Sections) -> Result<(), Fault> {
    for (owner, range) in programs(sections) {
        let code = list(&sections.code, range);
        let found = depths(code).last().unwrap_or_default();
        ensure(found == 1, || {
            owner
                .position(sections)
                .fault(FaultKind::ValuesLeft { found })
        })?;
    }
    Ok(())
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
