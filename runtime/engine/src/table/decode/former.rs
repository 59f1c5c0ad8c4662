//! Tables of format 2: programs in postfix order with jumps, and merge rules in the machine's metadata.
//!
//! # Programs
//!
//! There, codes 3 and 4 were jumps: *skip so many instructions if the value on top isn't true*, or *is*; else drop it. A
//! compiler wrote `a && b` as `a`, a jump, `b`, and so the jump's target tells where the right side ends. What is written
//! otherwise, as no compiler of ours did, is no expression and is refused.
//!
//! # Merge rules
//!
//! Data of all events was merged alike: with `"merge": "none"` no field, with a `context_schema` the fields that it
//! declares, else all. The declared ones were the keys of its `properties`, or its own keys if it had none.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::mem::take;
use core::ops::Range;

use crate::datum::Datum;
use crate::id::TextId;
use crate::limits::MAX_PROGRAM;
use crate::table::sections::{ActionKind, Instruction, MergeKind, MergeRow, Sections};

/// Rewrites all programs.
///
/// The rows are as `decode` reads them: a jump is an [`Instruction::All`] or
/// [`Instruction::Any`] with its distance.
///
/// Returns `None` if a program isn't an expression, or programs overlap. Takes time in the length of the code.
pub(super) fn reorder(sections: &mut Sections) -> Option<()> {
    let code = take(&mut sections.code);
    let guards = sections.transitions.iter_mut().map(|row| &mut row.guard);
    let values = sections.assigns.iter_mut().map(|row| &mut row.value);
    let conditions = sections.actions.iter_mut();
    let conditions = conditions.filter_map(|row| match &mut row.kind {
        ActionKind::If { guard, .. } => Some(guard),
        _ => None,
    });
    let mut all: Vec<&mut Range<u32>> = guards.chain(values).chain(conditions).collect();
    all.sort_by_key(|range| range.start);
    let mut end = 0;
    let mut written = Vec::with_capacity(code.len());
    for range in all {
        if range.start == range.end {
            *range = 0..0;
            continue;
        }
        if range.start < end {
            return None;
        }
        end = range.end;
        let program = code.get(range.start as usize..range.end as usize)?;
        let start = written.len();
        expression(program)?.write(&mut written);
        *range = u32::try_from(start).ok()?..u32::try_from(written.len()).ok()?;
    }
    sections.code = written;
    Some(())
}

/// Parts of a program as trees, each at a place that its parent knows.
#[derive(Default)]
struct Trees {
    nodes: Vec<Node>,
    /// The values that are on the stack.
    stack: Vec<usize>,
    /// The jumps whose targets aren't reached.
    /// Each has the target, whether it is [`Instruction::Any`], and the left side.
    jumps: Vec<(usize, bool, usize)>,
}

struct Node {
    instruction: Instruction,
    parts: Vec<usize>,
    /// The number of its instructions, its own included.
    length: usize,
}

/// Reads a program in postfix order.
fn expression(program: &[Instruction]) -> Option<Trees> {
    if program.len() > MAX_PROGRAM {
        return None;
    }
    let mut trees = Trees::default();
    for (at, instruction) in program.iter().enumerate() {
        trees.land(at)?;
        match instruction {
            Instruction::All(distance) | Instruction::Any(distance) => {
                let target = at + 1 + usize::from(*distance);
                let is_outside = |&(around, ..): &(usize, bool, usize)| target > around;
                if target > program.len() || trees.jumps.last().is_some_and(is_outside) {
                    return None;
                }
                let left = trees.stack.pop()?;
                let any = matches!(instruction, Instruction::Any(_));
                trees.jumps.push((target, any, left));
            }
            other => {
                let first = trees.stack.len().checked_sub(other.operands())?;
                let parts = trees.stack.split_off(first);
                trees.push(other.clone(), parts);
            }
        }
    }
    trees.land(program.len())?;
    (trees.stack.len() == 1 && trees.jumps.is_empty()).then_some(trees)
}

impl Trees {
    fn push(&mut self, instruction: Instruction, parts: Vec<usize>) {
        let lengths = parts.iter().filter_map(|&part| self.nodes.get(part));
        let length = 1 + lengths.map(|node| node.length).sum::<usize>();
        self.stack.push(self.nodes.len());
        self.nodes.push(Node {
            instruction,
            parts,
            length,
        });
    }

    /// Joins the sides of the jumps that lead to an instruction, the innermost first.
    fn land(&mut self, at: usize) -> Option<()> {
        while let Some((_, any, left)) = self.jumps.pop_if(|(target, ..)| *target == at) {
            let right = self.stack.pop()?;
            let mut parts = Vec::from([left]);
            match self.nodes.get_mut(right) {
                // `a && (b && c)` is `a && b && c`.
                Some(node) if is_list(&node.instruction, any) => parts.append(&mut node.parts),
                _ => parts.push(self.without_conversion(right)),
            }
            let kind = if any {
                Instruction::Any(0)
            } else {
                Instruction::All(0)
            };
            self.push(kind, parts);
        }
        Some(())
    }

    /// Returns what `!!a` converts to true or false.
    /// The last of a list was converted so, which a list does by itself now.
    fn without_conversion(&self, place: usize) -> usize {
        let negated = |place: usize| match self.nodes.get(place) {
            Some(Node {
                instruction: Instruction::Not,
                parts,
                ..
            }) => parts.first().copied(),
            _ => None,
        };
        negated(place).and_then(negated).unwrap_or(place)
    }

    /// Writes the expression in preorder.
    fn write(&self, code: &mut Vec<Instruction>) {
        let mut rest = self.stack.clone();
        while let Some(node) = rest.pop().and_then(|place| self.nodes.get(place)) {
            // INVARIANT: a program has at most MAX_PROGRAM instructions.
            let length = u16::try_from(node.length - 1).unwrap_or(u16::MAX);
            code.push(match &node.instruction {
                Instruction::All(_) => Instruction::All(length),
                Instruction::Any(_) => Instruction::Any(length),
                other => other.clone(),
            });
            rest.extend(node.parts.iter().rev());
        }
    }
}

fn is_list(instruction: &Instruction, any: bool) -> bool {
    match instruction {
        Instruction::All(_) => !any,
        Instruction::Any(_) => any,
        _ => false,
    }
}

/// Adds the merge rule of the machine's metadata.
pub(super) fn add_merges(sections: &mut Sections) {
    let metadata = sections.metadata.map(|id| id.index());
    let metadata = metadata.and_then(|index| sections.texts.get(index));
    let metadata = metadata.map(|text| Datum::from_json(text));
    let Some(Ok(Datum::Object(metadata))) = metadata else {
        return;
    };
    let fields = if metadata.get("merge") == Some(&Datum::from("none")) {
        BTreeMap::new()
    } else if let Some(schema) = metadata.get("context_schema") {
        let declared = schema.at(&["properties"]).unwrap_or(schema);
        match declared {
            Datum::Object(fields) => fields.clone(),
            _ => BTreeMap::new(),
        }
    } else {
        return;
    };
    let mut add = |field: Option<TextId>| {
        sections.merges.push(MergeRow {
            event: None,
            kind: MergeKind::Only,
            field,
        });
    };
    if fields.is_empty() {
        add(None);
    }
    for field in fields.into_keys() {
        add(TextId::from_index(sections.texts.len()));
        sections.texts.push(field.into());
    }
}
