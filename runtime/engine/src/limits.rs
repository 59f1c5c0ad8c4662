//! Limits of a table's size and of a step's length.
//!
//! Every limit is checked twice: by the compiler, which has a diagnostic for it, and by [`verify`](crate::verify),
//! which trusts no compiler. Together they bound the memory and the time that a table from a stranger can take.

/// Most states in a machine, the root included.
/// Unit: states. Why: ids are `u16`, and `u16::MAX` means *none*; one more is spare so that one past the last state is
/// an id, too.
pub const MAX_STATES: usize = 65_534;

/// Most transitions in a machine. Unit: transitions. Why: as for [`MAX_STATES`].
pub const MAX_TRANSITIONS: usize = 65_534;

/// Most events in a machine.
/// Unit: events. Why: nobody tells more apart, and an index of states by events stays small.
pub const MAX_EVENTS: usize = 4_096;

/// Most guards, most fields and most actions in a machine.
/// Unit: rows of one of the three. Why: as for [`MAX_STATES`].
pub const MAX_NAMES: usize = 65_534;

/// Most rows in each of the other sections: texts, targets, triggers, calls, code, constants.
/// Also the most triggers that all transitions may have together, and the most constants that all instructions may,
/// since rows may share a list. Unit: rows. Why: bounds the time of one selection and the memory of a verified table.
pub const MAX_ROWS: usize = 1 << 20;

/// Deepest nesting; children of the root are at depth 1.
/// Unit: states from the root. Why: bounds a microstep; people lose their way long before.
pub const MAX_DEPTH: usize = 64;

/// Most instructions in the guard of one transition.
/// Unit: instructions. Why: bounds one answer; an author's guard has some ten.
pub const MAX_PROGRAM: usize = 4_096;

/// Most actions in one list: an entry, an exit, a transition, an initial transition.
/// Unit: actions. Why: with [`MAX_DEPTH`] it bounds what one microstep does in one region: less than 50,000 actions.
/// All lists together have no more than [`MAX_ROWS`], so that no microstep does more, however many regions there are.
pub const MAX_CALLS: usize = 256;

/// Longest table.
/// Unit: bytes. Why: eight times the longest spec (8 MiB), and far below what offsets of 32 bits reach.
pub const MAX_TABLE_BYTES: usize = 64 << 20;

/// Most events raised in a macrostep, those that trigger nothing included.
/// Unit: events. Why: bounds the memory and the time of what the limit on microsteps doesn't count; those beyond it are
/// dropped, and the macrostep fails.
pub const MAX_RAISED: usize = 1 << 16;

/// Most microsteps in a macrostep unless the host sets another number.
/// Unit: microsteps. Why: longer chains that no event drives are mistakes; and a hundred thousand cheap steps would
/// still end at once.
pub const DEFAULT_STEP_LIMIT: u32 = 1_000;

/// Most memory in which a machine with regions learns its steps, unless the host sets another number.
/// Unit: bytes; lists that grow may have room for twice as much. Why: some hundred configurations with a dozen events
/// each, which is what people draw; and a program may have thousands of machines.
pub const DEFAULT_LEARNING_LIMIT: usize = 256 << 10;

/// Deepest nesting of a program's expression.
/// Unit: levels. Why: bounds the memory of one evaluation, which recurses; the compiler takes as many.
pub const MAX_LEVELS: usize = 256;

/// Most fields that one action assigns.
/// Unit: fields. Why: with [`MAX_PROGRAM`] and [`MAX_CALLS`] it bounds what a list of actions does.
pub const MAX_ASSIGNS: usize = 256;

/// Longest value that is read or kept.
/// Unit: bytes of its texts and keys, and eight for each value in it. Why: a context is meant to be read by people and
/// agents; what is larger belongs in a file.
pub const MAX_DATUM_BYTES: usize = 1 << 20;

/// Deepest nesting of a value that is read or kept.
/// Unit: lists and objects around one another. Why: bounds recursion; as for [`MAX_DEPTH`].
pub const MAX_DATUM_DEPTH: usize = 64;

/// Most actions that the error of a failed step lists as carried out before.
///
/// Unit: actions. Why: lists of actions are bounded in a table, how often a step runs them only by its microsteps; who
/// reads an error reads no more.
pub const MAX_DONE: usize = 65_536;

/// Longest words of a claim.
/// Unit: bytes. Why: they are words between brackets; each event that claims them has them in its record.
pub const MAX_CLAIM_BYTES: usize = 1_024;
