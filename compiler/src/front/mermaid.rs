//! The front end for Mermaid state diagrams.
//!
//! The language is what Mermaid 12.3 accepts, rule by rule: [`parse_diagram`] follows its pre-processing
//! (`preprocess`), its lexer (`lex`) and its grammar (`parse`). A statement that Mermaid refuses is an error, and the
//! parser continues after it. A text that Mermaid silently takes in an unexpected way is a warning, and has that
//! meaning here too.
//!
//! A few things are accepted that Mermaid refuses or drops: `state x` declares `x`, `state x : Title` gives it a title,
//! and `state x` can be on the line above `state y {`. `DIFFERENCES.md` in the module's folder has the whole list.
//!
//! Deliberately not here: the meaning of labels, and the parent of each state.

pub mod ast;
mod bare_declarations;
mod composite_texts;
pub mod entity;
mod front_matter;
pub(crate) mod ids;
mod inside_itself;
mod invisible;
mod lex;
mod lines;
mod mentions;
mod messages;
mod parse;
mod preprocess;
mod reserved_names;
#[cfg(test)]
mod tests;

use crate::diag::{Diags, nearest};
use crate::excerpt::Excerpt;
use ast::Diagram;
use lex::rule::is_space;

/// Parses a state diagram: the text of a fence, or a whole `.mmd` file.
///
/// It never fails. Each statement that can't be read is one diagnostic; all others are in the tree, in the order of the
/// text. Spans are of the file that the excerpt is of.
///
/// ```
/// use statemark_compiler::diag::Diags;
/// use statemark_compiler::excerpt::Excerpt;
/// use statemark_compiler::front::mermaid::parse_diagram;
/// use statemark_compiler::source::Sources;
///
/// let text = "stateDiagram-v2\n[*] --> open\nopen --> [*] : close";
/// let mut sources = Sources::new();
/// let file = sources.add("door.mmd", text);
/// let mut diags = Diags::new();
/// let diagram = parse_diagram(&Excerpt::whole(file, text), &mut diags);
/// assert_eq!(diagram.body.statements.len(), 2);
/// assert!(!diags.has_errors());
/// ```
pub fn parse_diagram(excerpt: &Excerpt, diags: &mut Diags) -> Diagram {
    let mut prepared = preprocess::prepare(excerpt);
    let found = prepared.front_matter.as_ref();
    let title =
        found.and_then(|found| front_matter::read_title(found, &prepared.with_front_matter, diags));
    for directive in &prepared.open_directives {
        let say = match directive.ends_early {
            true => messages::cut_directive,
            false => messages::unclosed_directive,
        };
        diags.push(say(directive.sign, directive.whole));
    }
    preprocess::skip_broken_front_matter(&mut prepared, diags);
    let mut diagram = parse::parse(&prepared, diags);
    diagram.span = excerpt.full_span();
    diagram.title = title;
    diagram
}

/// Returns whether Mermaid takes a text for a state diagram.
///
/// It does if the text begins with `stateDiagram` after front matter, directives and comments.
///
/// A text whose front matter is broken counts too if one of its lines begins so, though Mermaid draws nothing of it: its
/// author meant a state diagram, and [`parse_diagram`] says what is wrong.
///
/// ```
/// use statemark_compiler::front::mermaid::is_state_diagram;
///
/// assert!(is_state_diagram("%% a door\nstateDiagram-v2\n[*] --> open"));
/// assert!(!is_state_diagram("flowchart LR\na --> b"));
/// ```
#[must_use]
pub fn is_state_diagram(text: &str) -> bool {
    if text
        .trim_start_matches(is_space)
        .starts_with("stateDiagram")
    {
        // Nothing is cut out before it, which is nearly always so.
        return true;
    }
    // Spans don't matter here, so any file will do.
    let file = crate::source::Sources::new().add("", "");
    let prepared = preprocess::prepare(&Excerpt::whole(file, text));
    preprocess::is_detected(&prepared.text)
        || (prepared.text.starts_with("---") && header_line(&prepared.text).is_some())
}

/// Returns whether a text is a state diagram, or would be one if its first word were spelled right.
///
/// ```
/// use statemark_compiler::front::mermaid::announces_state_diagram;
///
/// assert!(announces_state_diagram("statediagram-v2\n[*] --> open"));
/// assert!(!announces_state_diagram("stateless\n"));
/// ```
#[must_use]
pub fn announces_state_diagram(text: &str) -> bool {
    if is_state_diagram(text) {
        return true;
    }
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with("%%"));
    let word = line.and_then(|line| line.split_whitespace().next());
    word.is_some_and(is_nearly_header)
}

/// Returns whether a text is a state diagram but for its header.
///
/// It has none, and a line that only state diagrams have.
///
/// ```
/// use statemark_compiler::front::mermaid::lacks_header;
///
/// assert!(lacks_header("[*] --> open\nopen --> [*] : close"));
/// assert!(!lacks_header("flowchart LR\na --> b"));
/// ```
#[must_use]
pub fn lacks_header(text: &str) -> bool {
    let lines = text.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with("%%"));
    let is_ours = |line: &str| {
        let ends = line.split_once("-->");
        let star = |end: &str| end.split(':').next().is_some_and(|it| it.trim() == "[*]");
        ends.is_some_and(|(source, target)| star(source) || star(target))
            || (line.starts_with("state ") && line.ends_with(['{', '>']))
    };
    let Some(first) = lines.next() else {
        return false;
    };
    let word = first.split_whitespace().next().unwrap_or_default();
    let is_announced = announces_state_diagram(text)
        || (parse::other_diagram(word).is_some() && !first.contains("-->"));
    !is_announced && (is_ours(first) || lines.any(is_ours))
}

/// Returns whether a word was probably meant as the header of a state diagram.
pub(crate) fn is_nearly_header(word: &str) -> bool {
    if parse::other_diagram(word).is_some() {
        // `classDiagram` is two letters away, and right as it is.
        return false;
    }
    let word = word.to_ascii_lowercase();
    let version = ["statediagram-v2", "statediagram"];
    word.starts_with("statediagram")
        || nearest(&word, version).is_some_and(|_| word.contains("diag"))
}

/// Returns the offset of the first line that begins like a header.
fn header_line(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line
            .trim_start_matches(is_space)
            .starts_with("stateDiagram")
        {
            return Some(at);
        }
        at += line.len();
    }
    None
}
