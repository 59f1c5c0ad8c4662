//! Comments of a document that are for us: `<!-- statemark: allow SM304 -- reason -->`.
//!
//! A comment covers the fence that follows it, or the section of the heading that follows it; elsewhere it covers the
//! section that it is in. Comments in code are text.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

use super::{front_matter, mkdocs};
use crate::source::{FileId, Span, narrow};
use crate::suppress::{MARK, Remark};

/// A block that a comment may be about.
enum Block {
    Heading(HeadingLevel),
    Fence,
    Other,
}

/// Returns the comments for us outside of fences.
pub(crate) fn remarks(file: FileId, text: &str) -> Vec<Remark> {
    // Most documents have none, and pay for this search alone.
    if !text.contains(MARK) {
        return Vec::new();
    }
    let (_, body) = front_matter::split(text);
    let source = mkdocs::as_lists(text.get(body..).unwrap_or_default());
    let mut comments: Vec<Range<usize>> = Vec::new();
    let mut blocks: Vec<(Range<usize>, Block)> = Vec::new();
    for (event, range) in Parser::new_ext(&source, Options::empty()).into_offset_iter() {
        let range = range.start + body..range.end + body;
        match event {
            Event::Html(_) | Event::InlineHtml(_) => comments.push(range),
            Event::Start(Tag::Heading { level, .. }) => blocks.push((range, Block::Heading(level))),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                blocks.push((range, Block::Fence));
            }
            Event::Start(Tag::Paragraph | Tag::CodeBlock(_) | Tag::List(_) | Tag::Table(_)) => {
                blocks.push((range, Block::Other));
            }
            _ => {}
        }
    }
    let span = |range: Range<usize>| Span {
        file,
        start: narrow(range.start),
        end: narrow(range.end),
    };
    let remark = |range: Range<usize>| {
        let comment = text.get(range.clone())?;
        let inner = comment.trim().strip_prefix("<!--")?;
        let words = inner.trim_start().strip_prefix(MARK)?;
        let words = words.split("-->").next().unwrap_or_default();
        let start = range.start + comment.find(MARK)? + MARK.len();
        let words_end = start + words.trim_end().len();
        Some(Remark {
            words: words.trim_end().to_owned(),
            span: span(start..words_end),
            scope: span(scope(&blocks, &range, text.len())),
            whole: span(range),
        })
    };
    comments.into_iter().filter_map(remark).collect()
}

/// Returns what a comment covers.
fn scope(blocks: &[(Range<usize>, Block)], comment: &Range<usize>, end: usize) -> Range<usize> {
    let next = blocks.iter().find(|(range, _)| range.start >= comment.end);
    match next {
        Some((range, Block::Fence)) => range.clone(),
        Some((range, Block::Heading(level))) => section(blocks, range, *level, end),
        _ => {
            let mut before = blocks.iter().rev();
            let heading = before.find_map(|(range, block)| match block {
                Block::Heading(level) if range.start < comment.start => Some((range, *level)),
                _ => None,
            });
            match heading {
                Some((range, level)) => section(blocks, range, level, end),
                None => 0..end,
            }
        }
    }
}

/// Returns the section of a heading: up to the next one of its level or a higher one.
fn section(
    blocks: &[(Range<usize>, Block)],
    heading: &Range<usize>,
    level: HeadingLevel,
    end: usize,
) -> Range<usize> {
    let mut after = blocks.iter();
    let next = after.find(|(range, block)| {
        range.start > heading.start && matches!(block, Block::Heading(it) if *it <= level)
    });
    heading.start..next.map_or(end, |(range, _)| range.start)
}
