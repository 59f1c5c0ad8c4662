//! The structure of a Markdown document, as far as contracts need it.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::findings::Excerpt;
use super::rule::Content;

/// A parsed document.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The front matter: the lines between `---` that it begins with.
    pub(super) front: Option<Excerpt>,
    pub(super) headings: Vec<Heading>,
    pub(super) parts: Vec<Part>,
}

/// A heading.
#[derive(Debug)]
pub(super) struct Heading {
    pub(super) level: u8,
    pub(super) text: String,
    /// Its offset. Unit: bytes.
    pub(super) at: usize,
}

/// A part of a document other than a heading.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: PartKind,
    /// Its offset. Unit: bytes.
    pub(super) at: usize,
}

/// The kinds of parts.
#[derive(Debug)]
pub(super) enum PartKind {
    Content(Content),
    /// An item of an outermost list.
    Item,
    /// The content of a `json` fence.
    Json(Excerpt),
}

/// Parses a document.
pub(super) fn parse(text: &str) -> Document {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reader = Reader::default();
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        reader.handle(event, range.start);
    }
    reader.document
}

#[derive(Default)]
struct Reader {
    document: Document,
    /// The number of open lists.
    depth: usize,
    inside: Inside,
}

/// The element that the next text belongs to.
#[derive(Default)]
enum Inside {
    #[default]
    Body,
    Heading,
    Front,
    Json(Excerpt, usize),
}

impl Reader {
    fn handle(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(tag) => self.start(tag, at),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Code(text) => self.text(&text, at),
            Event::SoftBreak | Event::HardBreak => self.text(" ", at),
            Event::TaskListMarker(_) => self.part(PartKind::Content(Content::Checkboxes), at),
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::Rule => {}
        }
    }

    fn part(&mut self, kind: PartKind, at: usize) {
        self.document.parts.push(Part { kind, at });
    }

    fn start(&mut self, tag: Tag<'_>, at: usize) {
        match tag {
            Tag::Heading { level, .. } => {
                self.document.headings.push(Heading {
                    level: number(level),
                    text: String::new(),
                    at,
                });
                self.inside = Inside::Heading;
            }
            Tag::MetadataBlock(_) => {
                self.document.front = Some(Excerpt::default());
                self.inside = Inside::Front;
            }
            Tag::List(_) => {
                self.depth += 1;
                self.part(PartKind::Content(Content::List), at);
            }
            Tag::Item if self.depth == 1 => self.part(PartKind::Item, at),
            Tag::Table(_) => self.part(PartKind::Content(Content::Table), at),
            Tag::CodeBlock(kind) => {
                self.part(PartKind::Content(Content::Code), at);
                if is_json(&kind) {
                    self.inside = Inside::Json(Excerpt::default(), at);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::List(_) => self.depth = self.depth.saturating_sub(1),
            TagEnd::Heading(_) | TagEnd::MetadataBlock(_) | TagEnd::CodeBlock => {
                if let Inside::Json(excerpt, at) = std::mem::take(&mut self.inside) {
                    self.part(PartKind::Json(excerpt), at);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, at: usize) {
        match &mut self.inside {
            Inside::Heading => {
                if let Some(heading) = self.document.headings.last_mut() {
                    heading.text += text;
                }
                return;
            }
            Inside::Front => {
                if let Some(front) = &mut self.document.front {
                    front.push(text, at);
                }
                return;
            }
            Inside::Json(excerpt, _) => excerpt.push(text, at),
            Inside::Body => {}
        }
        if !text.trim().is_empty() {
            self.part(PartKind::Content(Content::Text), at);
        }
    }
}

fn is_json(kind: &CodeBlockKind<'_>) -> bool {
    let CodeBlockKind::Fenced(info) = kind else {
        return false;
    };
    let word = info.split([' ', ',']).next().unwrap_or_default();
    word.eq_ignore_ascii_case("json")
}

const fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
