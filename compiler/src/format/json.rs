//! The canonical form of definitions.
//!
//! It has two blanks a level, and a member a line where its author began a line, else one line.
//!
//! Source of the layout: what most formatters of JSON do. Tokens and comments stay as they are.

use std::ops::Range;

use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

use super::replace;
use crate::diag::Edit;
use crate::excerpt::Excerpt;

/// Longest line of an object or a list that stays on one.
///
/// Unit: characters. Why: a terminal and an editor side by side.
const WIDTH: usize = 100;

/// A kind of token, as far as blanks depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Open,
    Close,
    Comma,
    Colon,
    Value,
    Comment,
}

/// A token and its place.
#[derive(Debug)]
struct Piece {
    kind: Kind,
    range: Range<usize>,
    is_object: bool,
}

/// Adds the edits that bring a definition into its canonical form.
pub(super) fn add_edits(text: &str, excerpt: &Excerpt, edits: &mut Vec<Edit>) {
    let json = excerpt.text();
    let Some(pieces) = pieces(json) else {
        return;
    };
    let line_end = if json.contains("\r\n") { "\r\n" } else { "\n" };
    let closing = matching(&pieces);
    // Whether each object or list, by its opening, has a line for each member.
    let mut is_open: Vec<bool> = vec![false; pieces.len()];
    for index in (0..pieces.len()).rev() {
        let Some(Some((end, depth))) = closing.get(index) else {
            continue;
        };
        let inner = pieces.get(index..=*end).unwrap_or_default();
        let nested = is_open.get(index + 1..*end).unwrap_or_default();
        let has_break = has_own_break(json, inner);
        let has_comment = inner.iter().any(|it| it.kind == Kind::Comment);
        let width = depth * 2 + flat_width(json, &pieces, index, *end);
        let opens = inner.len() > 2
            && (has_break || has_comment || nested.contains(&true) || width > WIDTH);
        if let Some(it) = is_open.get_mut(index) {
            *it = opens;
        }
    }
    let mut open: Vec<bool> = Vec::new();
    for (index, pair) in pieces.windows(2).enumerate() {
        let [one, next] = pair else {
            continue;
        };
        match one.kind {
            Kind::Open => open.push(is_open.get(index).copied().unwrap_or_default()),
            Kind::Close => drop(open.pop()),
            _ => {}
        }
        let is_broken = open.last().copied().unwrap_or_default();
        let gap = one.range.end..next.range.start;
        let old = json.get(gap.clone()).unwrap_or_default();
        let levels = open.len() - usize::from(next.kind == Kind::Close && !open.is_empty());
        let new_line = || {
            // One blank line between members stays.
            let breaks = old.matches('\n').count().clamp(1, 2);
            let breaks = if one.kind == Kind::Open || next.kind == Kind::Close {
                1
            } else {
                breaks
            };
            line_end.repeat(breaks) + &"  ".repeat(levels)
        };
        let has_break = old.contains('\n');
        let is_comment = one.kind == Kind::Comment || next.kind == Kind::Comment;
        let blanks = match (one.kind, next.kind) {
            _ if is_comment && has_break => new_line(),
            _ if is_comment => " ".to_owned(),
            (_, Kind::Comma | Kind::Colon) => String::new(),
            (Kind::Colon, _) => " ".to_owned(),
            (Kind::Open, Kind::Close) => String::new(),
            (Kind::Open, _) | (_, Kind::Close) | (Kind::Comma, _) if is_broken => new_line(),
            (Kind::Open, _) if one.is_object => " ".to_owned(),
            (_, Kind::Close) if next.is_object => " ".to_owned(),
            (Kind::Open, _) | (_, Kind::Close) => String::new(),
            _ => " ".to_owned(),
        };
        change(text, excerpt, gap, &blanks, edits);
    }
}

/// Adds the edit of a gap.
///
/// In a quote or a list, only the indentation of a line that is there is changed.
fn change(text: &str, excerpt: &Excerpt, gap: Range<usize>, blanks: &str, edits: &mut Vec<Edit>) {
    // A break that isn't there yet would lack what its container begins lines with.
    let lacks_prefix =
        |old: &str| blanks.contains('\n') && !old.contains('\n') && is_contained(text, excerpt);
    if gap.is_empty() {
        if !blanks.is_empty() && !lacks_prefix("") {
            edits.push(Edit {
                span: excerpt.span(gap.start..gap.start + 1).before(),
                text: blanks.to_owned(),
            });
        }
        return;
    }
    let old = excerpt.text().get(gap.clone()).unwrap_or_default();
    let indent = |blanks: &str| blanks.rfind('\n').map(|at| at + 1);
    let is_whole = text.get(excerpt.span(gap.clone()).range()) == Some(old);
    match (indent(old), indent(blanks)) {
        (Some(was), Some(is)) if !is_whole => {
            let range = gap.start + was..gap.end;
            let indent = blanks.get(is..).unwrap_or_default();
            if range.is_empty() && !indent.is_empty() {
                edits.push(Edit {
                    span: excerpt.span(gap.end..gap.end + 1).before(),
                    text: indent.to_owned(),
                });
            } else {
                replace(text, excerpt, range, indent, edits);
            }
        }
        _ if lacks_prefix(old) => {}
        _ => replace(text, excerpt, gap, blanks, edits),
    }
}

/// Reports whether lines of an excerpt begin with something else in their file.
fn is_contained(text: &str, excerpt: &Excerpt) -> bool {
    text.get(excerpt.full_span().range()) != Some(excerpt.text())
}

/// Splits a text into tokens. None if it has anything that the scanner doesn't know.
fn pieces(json: &str) -> Option<Vec<Piece>> {
    let mark = if json.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let mut scanner = Scanner::new(json.get(mark..)?, &ScannerOptions::default());
    let mut pieces: Vec<Piece> = Vec::new();
    while let Some(token) = scanner.scan().ok()? {
        let range = scanner.token_start() + mark..scanner.token_end() + mark;
        let (kind, is_object) = match token {
            Token::OpenBrace => (Kind::Open, true),
            Token::OpenBracket => (Kind::Open, false),
            Token::CloseBrace => (Kind::Close, true),
            Token::CloseBracket => (Kind::Close, false),
            Token::Comma => (Kind::Comma, false),
            Token::Colon => (Kind::Colon, false),
            Token::CommentLine(_) | Token::CommentBlock(_) => (Kind::Comment, false),
            _ => (Kind::Value, false),
        };
        pieces.push(Piece {
            kind,
            range,
            is_object,
        });
    }
    Some(pieces)
}

/// Returns the closing of each opening, by their indices, and how many others each opening is in.
fn matching(pieces: &[Piece]) -> Vec<Option<(usize, usize)>> {
    let mut closing = vec![None; pieces.len()];
    let mut open = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        match piece.kind {
            Kind::Open => open.push(index),
            Kind::Close => {
                if let Some(start) = open.pop()
                    && let Some(it) = closing.get_mut(start)
                {
                    *it = Some((index, open.len()));
                }
            }
            _ => {}
        }
    }
    closing
}

/// Reports whether a line begins within an object or a list, but not only within one of its members.
fn has_own_break(json: &str, inner: &[Piece]) -> bool {
    let mut depth = 0_usize;
    inner.windows(2).any(|pair| {
        let [one, next] = pair else {
            return false;
        };
        match one.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        let gap = json.get(one.range.end..next.range.start);
        depth == 1 && gap.is_some_and(|gap| gap.contains('\n'))
    })
}

/// Returns the width of an object or a list on one line, with the key before it. Unit: characters.
fn flat_width(json: &str, pieces: &[Piece], start: usize, end: usize) -> usize {
    let is_key = |back: usize| {
        let piece = start.checked_sub(back).and_then(|it| pieces.get(it));
        piece.filter(|it| matches!(it.kind, Kind::Colon | Kind::Value))
    };
    let key = match (is_key(1), is_key(2)) {
        (Some(colon), Some(_)) if colon.kind == Kind::Colon => start - 2,
        _ => start,
    };
    let inner = pieces.get(key..=end).unwrap_or_default();
    let width = |piece: &Piece| {
        let text = json.get(piece.range.clone()).unwrap_or_default();
        let blank = match piece.kind {
            Kind::Comma | Kind::Colon => 1,
            Kind::Open | Kind::Close if piece.is_object => 1,
            _ => 0,
        };
        text.chars().count() + blank
    };
    inner.iter().map(width).sum()
}
