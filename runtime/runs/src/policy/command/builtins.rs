//! Builtins of shells that evaluate their words again.
//!
//! Quotes don't hold there what they hold elsewhere.
//!
//! `printf -v 'a[$(x)]' 1` runs `x`: a name with a subscript is arithmetic, and arithmetic has substitutions, and evaluates
//! the values of the variables that it names. Source: bash's manual, *Arrays* and *Shell Arithmetic*; zsh and ksh take
//! arithmetic in more places (`exit`, `printf %d`).
//!
//! What to rely on: a command whose builtin may run what a word of it holds isn't read. A test asks bash itself.

use super::lex::{Unread, Word};

/// Words before a builtin that leave it one.
const BEFORE: [&str; 4] = ["-", "builtin", "command", "time"];

/// Builtins whose operands are names of variables, or values for them.
const NAMES: [&str; 16] = [
    "[",
    "declare",
    "export",
    "getopts",
    "local",
    "mapfile",
    "print",
    "read",
    "readarray",
    "readonly",
    "set",
    "test",
    "typeset",
    "unset",
    "vared",
    "wait",
];

/// Builtins whose operands are numbers, which some shells take for arithmetic.
const NUMBERS: [&str; 5] = ["break", "continue", "exit", "return", "shift"];

/// Builtins that evaluate all that they are given.
const ARITHMETIC: [&str; 3] = ["float", "integer", "let"];

/// Operators of `test` between two numbers.
const COMPARISONS: [&str; 6] = ["-eq", "-ge", "-gt", "-le", "-lt", "-ne"];

/// Options by which a builtin evaluates or runs what it is given later.
const OPTIONS: [(&str, &[char]); 5] = [
    ("declare", &['i', 'n']),
    ("local", &['i', 'n']),
    ("mapfile", &['C']),
    ("readarray", &['C']),
    ("typeset", &['i', 'n', 'E', 'F']),
];

/// Checks that a command is no builtin that may run what one of its words holds.
///
/// # Errors
///
/// The word that it evaluates.
pub(super) fn check(words: &[Word]) -> Result<(), Unread> {
    let Some((builtin, operands)) = split(words) else {
        return Ok(());
    };
    let name = builtin.text.as_str();
    match operands
        .iter()
        .enumerate()
        .find(|(index, _)| is_evaluated(name, operands, *index))
    {
        Some((_, word)) => {
            let what = format!("what `{name}` evaluates (`{}`)", word.text);
            Err(Unread::new(0, what))
        }
        None => Ok(()),
    }
}

/// Splits a command into the builtin that it may be, and the operands.
pub(super) fn split(words: &[Word]) -> Option<(&Word, &[Word])> {
    let is_before = |word: &&Word| {
        let text = word.text.as_str();
        BEFORE.contains(&text) || text.starts_with('-')
    };
    let skipped = match words.first() {
        Some(first) if BEFORE.contains(&first.text.as_str()) => {
            words.iter().take_while(is_before).count()
        }
        _ => 0,
    };
    words.get(skipped..)?.split_first()
}

/// Reports whether a builtin may evaluate the operand with this index.
fn is_evaluated(name: &str, operands: &[Word], index: usize) -> bool {
    let Some(word) = operands.get(index) else {
        return false;
    };
    let text = word.text.as_str();
    // A name of a file may be anything; an operator of `test` is itself.
    let is_certain = word.is_certain || matches!(text, "=" | "==");
    let may_hold = !is_certain || text.contains(['[', '$', '`']);
    if ARITHMETIC.contains(&name) {
        return true;
    }
    if NUMBERS.contains(&name) {
        return !is_number(text);
    }
    if name == "printf" {
        let format = operands.first().map_or("", |it| it.text.as_str());
        return may_hold && (format.starts_with('-') || !is_plain_format(format));
    }
    let is_end = name == "[" && text == "]" && index.saturating_add(1) == operands.len();
    if !NAMES.contains(&name) || is_end {
        return false;
    }
    let has_option = OPTIONS.iter().any(|(own, letters)| {
        let is_option = text.starts_with(['-', '+']) && !text.starts_with("--");
        *own == name && is_option && text.contains(*letters)
    });
    let is_comparison = |at: Option<usize>| {
        let word = at.and_then(|at| operands.get(at));
        word.is_some_and(|it| COMPARISONS.contains(&it.text.as_str()))
    };
    let is_compared = matches!(name, "test" | "[")
        && (is_comparison(index.checked_sub(1)) || is_comparison(index.checked_add(1)));
    may_hold || has_option || is_compared && !is_number(text)
}

/// Reports whether a text is a whole number, which means itself everywhere.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
}

/// Reports whether a format of `printf` takes all its arguments for text.
///
/// It has no number, and no name (`%n`).
fn is_plain_format(format: &str) -> bool {
    let mut parts = format.replace("%%", "");
    parts.retain(|it| !it.is_control());
    let mut conversions = parts.split('%').skip(1);
    conversions.all(|conversion| {
        let letter = conversion
            .trim_start_matches(|it: char| it.is_ascii_digit() || matches!(it, '-' | '+' | '.'))
            .chars()
            .next();
        letter.is_some_and(|it| matches!(it, 'b' | 'c' | 'q' | 's'))
    })
}
