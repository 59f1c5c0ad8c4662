//! From headings and fences to sections.

use std::ops::Range;

use super::document::{self, DefinitionBlock, Instructions, Section};
use super::fence::{self, Language};
use super::heading::{self, Meaning};
use super::outline::{self, Block, BlockKind, Fence, Heading, Outline};
use crate::diag::{Applicability, Code, Diagnostic, Diags, Severity, nearest};
use crate::excerpt::Excerpt;
use crate::front::definition::looks_like_definition;
use crate::front::mermaid::{announces_state_diagram, is_state_diagram, lacks_header};
use crate::source::{FileId, Span, Spanned, narrow};

/// Makes the sections of a document from its outline.
pub(super) fn gather(
    file: FileId,
    text: &str,
    outline: &Outline,
    checks_all: bool,
    diags: &mut Diags,
) -> Vec<Section> {
    let mut gatherer = Gatherer {
        file,
        text,
        outline,
        diags,
        open: Vec::new(),
        done: Vec::new(),
        misses: Vec::new(),
    };
    for (index, block) in outline.blocks.iter().enumerate() {
        gatherer.block(index, block);
    }
    while let Some(end) = gatherer
        .open
        .last()
        .map(|open| gatherer.container_end(open))
    {
        gatherer.close(end);
    }
    gatherer.report_misses(checks_all);
    let mut sections = gatherer.done;
    sections.sort_by_key(|section| section.heading.start);
    sections
}

/// The walk over the outline.
struct Gatherer<'t> {
    file: FileId,
    text: &'t str,
    outline: &'t Outline,
    diags: &'t mut Diags,
    /// Sections that may continue, the innermost last: one in a block quote may be inside another.
    open: Vec<Open>,
    done: Vec<Section>,
    misses: Vec<Miss>,
}

/// A section that may continue.
struct Open {
    container: usize,
    section: Section,
    /// The opening line of the fence that holds the diagram, and of that which holds the definition.
    diagram: Option<Span>,
    definition: Option<Span>,
    /// The finding about the first fence that looks like a definition and isn't marked as one.
    candidate: Option<Diagnostic>,
    /// The first fence with a state diagram that isn't marked as one.
    unmarked: Option<Unmarked>,
    /// The first `mermaid` fence with a state diagram that lacks its header.
    headless: Option<Excerpt>,
    instructions: Option<OpenInstructions>,
}

/// A fence that isn't marked `mermaid`, and holds a state diagram.
struct Unmarked {
    opening: Span,
    /// The word after its marker, or the place where one would be.
    word: Span,
    content: Excerpt,
}

/// Instructions whose end hasn't come yet.
struct OpenInstructions {
    state: Spanned<String>,
    heading: Range<usize>,
}

/// A heading that nearly starts a section.
struct Miss {
    heading: Span,
    flaw: Flaw,
    right: String,
    /// True if the right heading says something that this one may not have been meant to say.
    is_guess: bool,
    /// True if it is written as nobody writes a heading by chance.
    is_odd: bool,
    below: Below,
}

/// The machine below a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Below {
    Nothing,
    /// A diagram, which may be for people alone.
    Diagram,
    /// A definition, which only a machine has.
    Definition,
}

/// The reason why a heading doesn't start a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// Its words are others.
    Words,
    /// Its level is another.
    Level,
    /// A missing blank after its `##`, so that it isn't even a heading.
    Blank,
}

impl Gatherer<'_> {
    fn block(&mut self, index: usize, block: &Block) {
        while let Some(open) = self.open.last() {
            let end = self.container_end(open);
            if block.range.start < end {
                break;
            }
            self.close(end);
        }
        match &block.kind {
            BlockKind::Heading(heading) => self.heading(index, block, heading),
            BlockKind::Unspaced(words) => self.misses.push(Miss {
                heading: outline::span(self.file, &block.range),
                flaw: Flaw::Blank,
                right: format!("## {words}"),
                is_guess: false,
                is_odd: true,
                below: self.below(index, 2, true),
            }),
            BlockKind::Fence(fence) => self.fence(fence),
        }
    }

    fn heading(&mut self, index: usize, block: &Block, heading: &Heading) {
        let start = outline::line_start(self.text, block.range.start);
        if self.is_in_section(block) {
            if heading.level <= 2 {
                self.close(start);
            } else if heading.level == 3 {
                self.end_instructions(start);
            }
        }
        let place = outline::span(self.file, &block.range);
        let meaning = heading::meaning(self.text, heading);
        let is_inside = heading.level > 2 && self.is_in_section(block);
        if is_inside && !matches!(meaning, Meaning::Instructions(_)) {
            let text = heading.code.as_ref().unwrap_or(&heading.content);
            let text = outline::span(self.file, text);
            if let Some(open) = self.open.last_mut() {
                open.section.headings.push(document::Heading {
                    text: Spanned::new(heading.words.trim().to_owned(), text),
                    line: place,
                    level: heading.level,
                });
            }
        }
        match meaning {
            Meaning::Section { name } => self.open.push(Open {
                container: block.container,
                section: Section {
                    heading: place,
                    name: name.map(|range| self.spanned(&range)),
                    diagram: None,
                    definition: None,
                    instructions: Vec::new(),
                    headings: Vec::new(),
                    diags: Diags::new(),
                    other_fence: None,
                },
                diagram: None,
                definition: None,
                candidate: None,
                unmarked: None,
                headless: None,
                instructions: None,
            }),
            Meaning::NearMiss {
                right,
                is_guess,
                is_likely,
                is_odd,
            } if !self.is_in_section(block) => {
                let is_level = heading.level == 2;
                // A title's parts have headings of their own, which say what their diagrams are.
                let below = self.below(index, heading.level, is_odd || is_level);
                if is_likely || below > Below::Nothing {
                    self.misses.push(Miss {
                        heading: place,
                        flaw: if is_level { Flaw::Words } else { Flaw::Level },
                        right,
                        is_guess,
                        is_odd,
                        below,
                    });
                }
            }
            Meaning::Instructions(id) if self.is_in_section(block) => {
                let state = self.spanned(&id);
                if let Some(open) = self.open.last_mut() {
                    open.instructions = Some(OpenInstructions {
                        state,
                        heading: block.range.clone(),
                    });
                }
            }
            Meaning::NearMiss { .. } | Meaning::Instructions(_) | Meaning::Other => {}
        }
    }

    fn fence(&mut self, fence: &Fence) {
        let opening = outline::span(self.file, &fence.opening);
        let Some(open) = self.open.last_mut() else {
            return;
        };
        let language = fence::language(self.text, fence);
        let is_ours = matches!(language, Language::Mermaid | Language::Definition { .. });
        let is_example = matches!(language, Language::Other) && shows_markdown(self.text, fence);
        let is_suspect = |lost: &Range<usize>| {
            let loses_part = || !is_example && fence::opens_part(&fence.text, lost.start);
            is_ours || !fence.closed || loses_part()
        };
        let overrun = fence::overrun(fence).filter(is_suspect);
        if overrun.is_some() || !fence.closed {
            let found = unclosed(self.text, fence, opening, overrun.clone());
            let lost = overrun.as_ref().map_or(0, |line| line.start);
            // Without its definition or its diagram it is another machine. What follows in a fence of something else that
            // is closed may be meant as its text.
            let loses_part = fence::opens_part(&fence.text, lost) && (is_ours || !fence.closed);
            open.section.diags.push(match loses_part {
                true => found.with_severity(Severity::Error),
                false => found,
            });
        }
        let content = || match &overrun {
            Some(line) => fence.text.slice(0..line.start),
            None => fence.text.clone(),
        };
        match language {
            Language::Mermaid if announces_state_diagram(fence.text.text()) => match open.diagram {
                Some(first) => open.section.diags.push(several_diagrams(opening, first)),
                None => {
                    open.diagram = Some(opening);
                    open.section.diagram = Some(content());
                }
            },
            Language::Definition { comments } => match open.definition {
                Some(first) => {
                    open.section.diags.push(several_definitions(opening, first));
                }
                None => {
                    open.definition = Some(opening);
                    open.section.definition = Some(DefinitionBlock {
                        text: never_placeless(self.text, content(), fence),
                        comments,
                    });
                }
            },
            Language::PlainJson { word, .. }
                if open.candidate.is_none() && looks_like_definition(fence.text.text()) =>
            {
                let word = outline::span(self.file, &word);
                open.candidate = Some(plain_json_definition(opening, word));
            }
            Language::Other
                if open.candidate.is_none()
                    && let Some(is_json) = means_definition(self.text, fence) =>
            {
                let info = self.text.get(fence.info.clone()).unwrap_or_default();
                let found = misnamed_definition(opening, info.trim());
                let words = outline::span(self.file, &fence.info);
                open.candidate = Some(match is_json {
                    true => found.unsafe_fix("mark it as the definition", words, "json definition"),
                    false => found,
                });
            }
            Language::Other
                if is_nearly_marked(self.text, fence)
                    && open.unmarked.is_none()
                    && announces_state_diagram(fence.text.text()) =>
            {
                let info = self.text.get(fence.info.clone()).unwrap_or_default();
                let word = info.split_whitespace().next().unwrap_or_default();
                let start = fence.info.start;
                open.unmarked = Some(Unmarked {
                    opening,
                    word: outline::span(self.file, &(start..start + word.len())),
                    content: content(),
                });
            }
            Language::Mermaid if open.headless.is_none() && lacks_header(fence.text.text()) => {
                open.headless = Some(content());
            }
            Language::Mermaid => {
                open.section.other_fence.get_or_insert(opening);
            }
            Language::Other | Language::PlainJson { .. } => {}
        }
    }

    /// Returns true if the block is in the container of the innermost open section's heading.
    fn is_in_section(&self, block: &Block) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.container == block.container)
    }

    fn container_end(&self, open: &Open) -> usize {
        self.outline
            .containers
            .get(open.container)
            .map_or(self.text.len(), |range| range.end)
    }

    /// Ends the innermost open section before the byte `end`.
    fn close(&mut self, end: usize) {
        self.end_instructions(end);
        let Some(open) = self.open.pop() else {
            return;
        };
        let mut section = open.section;
        if let (Some(found), None) = (open.candidate, open.definition) {
            // With nothing else, there is no machine.
            let is_all =
                open.diagram.is_none() && open.headless.is_none() && open.unmarked.is_none();
            section.diags.push(match is_all {
                true => found.with_severity(Severity::Error),
                false => found,
            });
        }
        // What isn't written as a diagram is read all the same, so that nothing else is reported that follows from this.
        match (open.diagram, open.headless, open.unmarked) {
            (None, Some(content), _) => section.diagram = Some(content),
            (None, None, Some(unmarked)) => {
                let word = self.text.get(unmarked.word.range()).unwrap_or_default();
                section.diags.push(near_miss_fence(&unmarked, word));
                section.diagram = Some(unmarked.content);
            }
            (_, _, _) => {}
        }
        self.done.push(section);
    }

    /// Ends the open instructions before the byte `end`.
    fn end_instructions(&mut self, end: usize) {
        let (file, text) = (self.file, self.text);
        let Some(open) = self.open.last_mut() else {
            return;
        };
        if let Some(OpenInstructions { state, heading }) = open.instructions.take() {
            let prefix = if open.container == 0 {
                ""
            } else {
                text.get(outline::line_start(text, heading.start)..heading.start)
                    .unwrap_or_default()
            };
            let text = prose(file, text, heading.end..end, prefix);
            open.section.instructions.push(Instructions { state, text });
        }
    }

    /// Returns the machine that follows a heading.
    ///
    /// It ends before the next section and the next heading of its level; unless `has_parts`, at any heading.
    fn below(&self, index: usize, level: u8, has_parts: bool) -> Below {
        let following = self.outline.blocks.iter().skip(index + 1);
        let parts = following.take_while(|block| match &block.kind {
            BlockKind::Heading(next) => {
                let is_section =
                    || matches!(heading::meaning(self.text, next), Meaning::Section { .. });
                has_parts && next.level > level && !is_section()
            }
            BlockKind::Unspaced(_) | BlockKind::Fence(_) => true,
        });
        let machines = parts.map(|block| match &block.kind {
            BlockKind::Heading(_) | BlockKind::Unspaced(_) => Below::Nothing,
            BlockKind::Fence(fence) => match fence::language(self.text, fence) {
                Language::Mermaid if is_state_diagram(fence.text.text()) => Below::Diagram,
                Language::Definition { .. } => Below::Definition,
                Language::Mermaid | Language::PlainJson { .. } | Language::Other => Below::Nothing,
            },
        });
        machines.max().unwrap_or(Below::Nothing)
    }

    /// Reports the near misses, now that it is known whether the document has a section.
    ///
    /// Many documents that know nothing of us have a heading `State machine` above a drawing. It is worth a hint, unless
    /// the drawing is checked anyway (`checks_all`).
    fn report_misses(&mut self, checks_all: bool) {
        for miss in std::mem::take(&mut self.misses) {
            // A second machine, a machine where none was drawn, a name or a level that may not be meant: not without asking.
            let is_sure = miss.below > Below::Nothing
                && miss.flaw != Flaw::Level
                && !miss.is_guess
                && self.done.is_empty();
            let is_meant = miss.is_odd || miss.below == Below::Definition || !self.done.is_empty();
            if is_meant || !checks_all {
                let found = near_miss_heading(&miss, is_sure);
                self.diags.push(match is_meant {
                    true => found,
                    false => found.with_severity(Severity::Hint),
                });
            }
        }
    }

    fn spanned(&self, range: &Range<usize>) -> Spanned<String> {
        let value = self.text.get(range.clone()).unwrap_or_default().to_owned();
        Spanned::new(value, outline::span(self.file, range))
    }
}

/// Reports a fence that isn't closed, with the line before which it was probably meant to be closed.
fn unclosed(text: &str, fence: &Fence, opening: Span, overrun: Option<Range<usize>>) -> Diagnostic {
    match overrun {
        Some(line) => {
            let place = fence.text.span(line);
            let start = outline::line_start(text, place.range().start);
            let prefix = text.get(start..place.range().start).unwrap_or_default();
            let closing = format!("{}\n{prefix}", fence.marker);
            unclosed_fence(opening, Some(place), place.before(), closing)
        }
        None => {
            let start = outline::line_start(text, fence.opening.start);
            let prefix = text.get(start..fence.opening.start).unwrap_or_default();
            let prefix = fence::continuation(prefix);
            let end = if fence.text.text().is_empty() {
                opening
            } else {
                fence.text.full_span()
            };
            let closing = if fence.text.text().ends_with('\n') {
                format!("{prefix}{}\n", fence.marker)
            } else {
                format!("\n{prefix}{}", fence.marker)
            };
            unclosed_fence(opening, None, end.after(), closing)
        }
    }
}

/// Widens an empty excerpt to the line end before it, because a finding about it needs a span.
fn never_placeless(text: &str, excerpt: Excerpt, fence: &Fence) -> Excerpt {
    if !excerpt.text().is_empty() {
        return excerpt;
    }
    let after = text.get(fence.opening.end..).unwrap_or_default();
    let mut blank = Excerpt::new(excerpt.file());
    if let Some(at) = after.find('\n') {
        blank.push("\n", narrow(fence.opening.end + at));
    }
    blank
}

/// Returns the Markdown of a range, from the first to the last line that isn't blank.
///
/// Inside a list or quote, the text before the heading on its line (`> `, two blanks) is taken away from each line of
/// the value, as far as the line has it; the span still covers it.
fn prose(file: FileId, text: &str, range: Range<usize>, prefix: &str) -> Spanned<String> {
    let mut value = String::new();
    let mut covered: Option<Range<usize>> = None;
    let mut kept = 0;
    let mut at = range.start;
    // The first line is what is left of the heading's own: its closing `#` or nothing.
    for (number, line) in text
        .get(range.clone())
        .unwrap_or_default()
        .split_inclusive('\n')
        .enumerate()
    {
        let own = without_prefix(line, prefix);
        let words = own.trim_end();
        if number > 0 && !words.is_empty() {
            let start = covered.map_or(at + line.len() - own.len(), |it| it.start);
            covered = Some(start..at + line.trim_end().len());
            value.push_str(own);
            kept = value.len() - (own.len() - words.len());
        } else if covered.is_some() {
            value.push_str(own);
        }
        at += line.len();
    }
    value.truncate(kept);
    let covered = covered.unwrap_or(range.start..range.start);
    Spanned::new(value, outline::span(file, &covered))
}

/// Strips as much of its container's prefix from a line as it has.
fn without_prefix<'l>(line: &'l str, prefix: &str) -> &'l str {
    let mut rest = line;
    for sign in prefix.chars() {
        let next = if sign == '>' {
            rest.trim_start_matches([' ', '\t']).strip_prefix('>')
        } else {
            rest.strip_prefix([' ', '\t'])
        };
        match next {
            Some(next) => rest = next,
            None => break,
        }
    }
    rest
}

/// Reports a heading that was probably meant to start a section.
///
/// `is_sure`: its fix can be made without asking.
fn near_miss_heading(miss: &Miss, is_sure: bool) -> Diagnostic {
    let (heading, right) = (miss.heading, &miss.right);
    let applicability = match is_sure {
        true => Applicability::Safe,
        false => Applicability::Unsafe,
    };
    let note = match miss.flaw {
        Flaw::Words => {
            "the words must be exactly `STATE-MACHINE`, in capitals, with a colon before a name"
        }
        Flaw::Level => "only a heading of level 2 starts a section",
        Flaw::Blank => "Markdown wants a blank after the `##` of a heading",
    };
    let message = if miss.flaw == Flaw::Blank {
        "this line is no heading, and starts no state machine"
    } else {
        "this heading starts no state machine"
    };
    let label = match miss.below {
        Below::Nothing => "nearly the heading of a section",
        Below::Diagram => "no machine is made of the diagram below it",
        Below::Definition => "no machine is made of what is below it",
    };
    Diagnostic::new(Code::NearMissHeading, heading, message)
        .label(label)
        .note(note)
        .help(format!("for a state machine write `{right}`"))
        .fix(applicability, format!("write `{right}`"), heading, right)
}

/// Reports that the fence that opens at `opening` isn't closed.
///
/// `swallowed` is a line that doesn't belong inside, if one was found; `closing` is what would close the fence when it is
/// inserted at `end`.
fn unclosed_fence(
    opening: Span,
    swallowed: Option<Span>,
    end: Span,
    closing: String,
) -> Diagnostic {
    let found = Diagnostic::new(Code::UnclosedFence, opening, "this fence isn't closed")
        .label("opened here")
        .help("close it with a line that holds the same signs and nothing more");
    match swallowed {
        Some(line) => found
            .related(line, "it continues past here, which is left out of it")
            .unsafe_fix("close it before that line", end, closing),
        None => found.safe_fix("close it at its end", end, closing),
    }
}

/// Reports whether a fence shows Markdown, in which other fences are examples.
fn shows_markdown(text: &str, fence: &Fence) -> bool {
    let info = text.get(fence.info.clone()).unwrap_or_default();
    let word = info.split_whitespace().next().unwrap_or_default();
    ["markdown", "md", "mdx"]
        .into_iter()
        .any(|known| known.eq_ignore_ascii_case(word))
}

/// Reports whether a fence has no language, or one that is nearly `mermaid`.
fn is_nearly_marked(text: &str, fence: &Fence) -> bool {
    let info = text.get(fence.info.clone()).unwrap_or_default();
    let word = info.split_whitespace().next().unwrap_or_default();
    let letters = word.trim_matches(|sign: char| !sign.is_alphanumeric());
    word.is_empty() || nearest(letters, ["mermaid"]).is_some() || letters == "mermaid"
}

/// Reports a fence whose diagram nobody draws; `word` stands after its marker.
fn near_miss_fence(unmarked: &Unmarked, word: &str) -> Diagnostic {
    let label = if word.is_empty() {
        "without a language".to_owned()
    } else {
        format!("`{word}` is no language that draws it")
    };
    let message = "this fence holds a state diagram, but isn't marked `mermaid`";
    Diagnostic::new(Code::NearMissFence, unmarked.opening, message)
        .label(label)
        .note("the machine is checked as if it were")
        .safe_fix("write `mermaid`", unmarked.word, "mermaid")
}

/// Reports whether a fence of another language is meant as a definition; if so, whether it is JSON.
fn means_definition(text: &str, fence: &Fence) -> Option<bool> {
    let info = text.get(fence.info.clone()).unwrap_or_default();
    let mut words = info.split(|sign: char| !sign.is_alphanumeric());
    let is_marked = words.any(|word| word.eq_ignore_ascii_case("definition"));
    let is_json = looks_like_definition(fence.text.text());
    (is_marked || is_json).then_some(is_json)
}

/// Reports that the fence at `opening` is marked in a way that no definition is.
fn misnamed_definition(opening: Span, info: &str) -> Diagnostic {
    let message = match info {
        "" => "this looks like a definition, but a fence without a language isn't read".to_owned(),
        info => format!(
            "this looks like a definition, but no definition is marked `{info}`, so it isn't read"
        ),
    };
    Diagnostic::new(Code::PlainJsonDefinition, opening, message).help(
        "a definition is JSON, and its fence is marked `json definition` or `jsonc definition`",
    )
}

/// Reports that the fence at `opening` isn't marked as a definition.
///
/// The word at `language` follows its marker.
fn plain_json_definition(opening: Span, language: Span) -> Diagnostic {
    let message =
        "this looks like a definition, but a plain `json` fence is an example and isn't read";
    Diagnostic::new(Code::PlainJsonDefinition, opening, message)
        .help("write `definition` after the language if it belongs to the machine")
        .unsafe_fix("mark it as the definition", language.after(), " definition")
}

/// Reports that the fence at `second` holds a state diagram, although that at `first` is the section's.
fn several_diagrams(second: Span, first: Span) -> Diagnostic {
    let message = "the section has another state diagram already, so this one is ignored";
    Diagnostic::new(Code::SeveralDiagrams, second, message)
        .label("ignored")
        .related(first, "this is the section's diagram")
        .help("give it a section of its own, `## STATE-MACHINE: name`, or draw both as one")
}

/// Reports a second definition: that at `first` is the section's.
fn several_definitions(second: Span, first: Span) -> Diagnostic {
    let message = "the section has another definition already, so this one is ignored";
    Diagnostic::new(Code::SeveralDefinitions, second, message)
        .label("ignored")
        .related(first, "this is the section's definition")
        .help("move its keys into the first one, or drop the word `definition` if it is an example")
}
