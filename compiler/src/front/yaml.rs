//! YAML as front matter has it: values with their ranges, and errors in an author's words.
//!
//! The parser gives events; this module builds values of them and refuses what js-yaml refuses: a key that occurs twice
//! and a second document. Deliberately not here: what a front matter holds, which differs between a document and a
//! diagram, and the types of scalars, which differ as well.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, StrInput};

/// A value and its range in the YAML.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) range: Range<usize>,
}

/// A YAML value, as far as front matter needs it.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A string that is written without quotes and without a tag, so it may mean a number or nothing.
    Plain(Rc<str>),
    /// Any other string.
    Text(Rc<str>),
    /// Keys and values.
    Map(Vec<(Node, Node)>),
    /// A list, or an alias of a list or map.
    Other,
}

impl Value {
    /// Returns a scalar's text; none for nothing, a list or a map.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Plain(text) => Some(text).filter(|_| !self.is_null()).map(AsRef::as_ref),
            Self::Text(text) => Some(text),
            Self::Map(_) | Self::Other => None,
        }
    }

    /// Returns true for YAML's null.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Plain(text) if matches!(&**text, "" | "~" | "null" | "Null" | "NULL"))
    }
}

/// The reason why YAML can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    /// The bytes of the YAML in question, on character boundaries; empty if only an offset is known.
    pub(crate) range: Range<usize>,
    /// The reason, in an author's words.
    pub(crate) reason: String,
    /// The way to mend it.
    pub(crate) help: &'static str,
}

/// Parses YAML; returns nothing if it has no value.
///
/// # Errors
///
/// The first error in it.
pub(crate) fn parse(yaml: &str) -> Result<Option<Node>, YamlError> {
    let mut reader = Reader {
        yaml,
        events: Parser::new_from_str(yaml),
        anchors: BTreeMap::new(),
    };
    let mut document = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::DocumentStart(..) if document.is_some() => {
                return Err(reader.error(&span, "a second document begins here", ONE_DOCUMENT));
            }
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd => {}
            node => document = Some(reader.node(node, span)?),
        }
    }
    Ok(document)
}

/// Returns a scalar's text; none for null.
///
/// # Errors
///
/// The node is a list or a map.
pub(crate) fn expect_text(node: &Node) -> Result<Option<&str>, YamlError> {
    match node.value {
        Value::Map(_) | Value::Other => Err(YamlError {
            range: node.range.clone(),
            reason: "expected a string".to_owned(),
            help: QUOTES,
        }),
        _ => Ok(node.value.text()),
    }
}

/// Returns a map's entries; none for null.
///
/// # Errors
///
/// The node is neither a map nor null.
pub(crate) fn expect_map(node: &Node) -> Result<&[(Node, Node)], YamlError> {
    match &node.value {
        Value::Map(entries) => Ok(entries),
        value if value.is_null() => Ok(&[]),
        _ => Err(YamlError {
            range: node.range.clone(),
            reason: "expected keys with values".to_owned(),
            help: KEYS,
        }),
    }
}

const QUOTES: &str =
    "a string that holds `: ` or begins with a sign such as `*`, `[` or `{` needs quotes";
const CLOSE: &str = "end the string with the quote that it begins with";
const KEYS: &str = "write a key on each line: `name: …`";
const ONE_DOCUMENT: &str = "keep one document: drop the line `---`";

/// Builds values of the parser's events.
struct Reader<'y> {
    yaml: &'y str,
    events: Parser<'y, StrInput<'y>>,
    /// Values that aliases can name.
    anchors: BTreeMap<usize, Value>,
}

impl<'y> Reader<'y> {
    fn next(&mut self) -> Result<Option<(Event<'y>, Span)>, YamlError> {
        let next = self.events.next_event().transpose();
        next.map_err(|error| scan_error(self.yaml, &error))
    }

    /// Builds the node that an event begins. The parser bounds how deep nodes nest.
    fn node(&mut self, event: Event<'y>, span: Span) -> Result<Node, YamlError> {
        let range = byte_range(self.yaml, &span);
        let value = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = match (style, tag) {
                    (ScalarStyle::Plain, None) => Value::Plain(text.into()),
                    _ => Value::Text(text.into()),
                };
                if anchor > 0 {
                    self.anchors.insert(anchor, value.clone());
                }
                value
            }
            Event::Alias(anchor) => self.anchors.get(&anchor).cloned().unwrap_or(Value::Other),
            Event::SequenceStart(..) => {
                while let Some((event, span)) = self.next()? {
                    if event == Event::SequenceEnd {
                        break;
                    }
                    self.node(event, span)?;
                }
                Value::Other
            }
            Event::MappingStart(..) => self.map()?,
            _ => Value::Other,
        };
        Ok(Node { value, range })
    }

    /// Builds a map's entries, up to its end.
    fn map(&mut self) -> Result<Value, YamlError> {
        let mut entries = Vec::new();
        let mut keys = BTreeSet::new();
        while let Some((event, key_span)) = self.next()? {
            if event == Event::MappingEnd {
                break;
            }
            let key = self.node(event, key_span)?;
            if let Value::Plain(text) | Value::Text(text) = &key.value
                && !keys.insert(Rc::clone(text))
            {
                let reason = format!("the key `{text}` occurs twice");
                return Err(self.error(&key_span, reason, "drop one of the two"));
            }
            let Some((event, span)) = self.next()? else {
                break;
            };
            entries.push((key, self.node(event, span)?));
        }
        Ok(Value::Map(entries))
    }

    fn error(&self, span: &Span, reason: impl Into<String>, help: &'static str) -> YamlError {
        YamlError {
            range: byte_range(self.yaml, span),
            reason: reason.into(),
            help,
        }
    }
}

/// Returns the bytes that a span covers, without blanks at its end.
fn byte_range(yaml: &str, span: &Span) -> Range<usize> {
    let range = span.byte_range().unwrap_or_default();
    let text = yaml.get(range.clone()).unwrap_or_default();
    range.start..range.start + text.trim_end().len()
}

/// Translates an error of the parser, which is about one character.
fn scan_error(yaml: &str, error: &ScanError) -> YamlError {
    let start = error.marker().byte_offset().unwrap_or_default();
    let rest = yaml.get(start..).unwrap_or_default();
    let length = match rest.chars().next() {
        Some(character) if !character.is_whitespace() => character.len_utf8(),
        _ => 0,
    };
    let (reason, help) = explain(error.kind());
    YamlError {
        range: start..start + length,
        reason: reason.unwrap_or_else(|| error.info()),
        help,
    }
}

/// Returns a reason in an author's words, for what authors get wrong most often, and how to mend it.
fn explain(kind: &ErrorKind) -> (Option<String>, &'static str) {
    let (reason, help) = match kind {
        ErrorKind::UnclosedFlowCollection { open } => {
            return (Some(format!("`{open}` isn't closed")), QUOTES);
        }
        ErrorKind::UnclosedQuotedScalar => ("the text in quotes isn't closed", CLOSE),
        ErrorKind::UnexpectedCharacter { character } => {
            let sign = match character {
                '`' => "a backtick".to_owned(),
                _ => format!("`{character}`"),
            };
            return (
                Some(format!("a string can't begin with {sign}")),
                "a string that begins with a sign needs quotes",
            );
        }
        ErrorKind::MappingValueNotAllowed => ("`: ` in a string without quotes", QUOTES),
        ErrorKind::SimpleKeyExpected => ("expected a colon after this key", KEYS),
        ErrorKind::InvalidQuotedScalarIndent => (
            "the text in quotes above continues here",
            "close it with a second quote",
        ),
        ErrorKind::InvalidTrailingSingleQuotedScalar => (
            "the text in quotes ends before this",
            "between `'` and `'`, a quote is written twice: `''`",
        ),
        ErrorKind::InvalidTrailingDoubleQuotedScalar => (
            "the text in quotes ends before this",
            "a quote between `\"` and `\"` is written `\\\"`",
        ),
        ErrorKind::UnknownQuotedScalarEscape => (
            "a `\\` before a sign that it can't escape",
            "between `\"` and `\"`, a backslash is written `\\\\`",
        ),
        ErrorKind::ExpectedBlockMappingKey => (
            "this line isn't indented like those above",
            "indent the keys of one level alike",
        ),
        ErrorKind::TabInBlockIndentation => ("a tab can't indent a line", "indent with blanks"),
        ErrorKind::UnknownAnchor => ("a string can't begin with `*`", QUOTES),
        _ => return (None, QUOTES),
    };
    (Some(reason.to_owned()), help)
}
