//! Ids of states that Mermaid reads as they are written.

/// The words that are no id where a statement begins, or behind `state`.
const KEYWORDS: [&str; 13] = [
    "acctitle",
    "accdescr",
    "state",
    "note",
    "class",
    "classdef",
    "style",
    "scale",
    "click",
    "href",
    "default",
    "statediagram",
    "statediagram-v2",
];

/// Reports whether an id is a word of Mermaid.
pub(crate) fn is_keyword(id: &str) -> bool {
    KEYWORDS.contains(&id.to_ascii_lowercase().as_str())
}

/// Reports whether Mermaid reads an id wherever a state can stand.
pub(crate) fn is_plain_id(id: &str) -> bool {
    !id.is_empty()
        && id.chars().all(|c| !c.is_whitespace() && !":-{".contains(c))
        && !id.starts_with(['#', '"', '}'])
        && !id.contains("%%")
        && !begins_with_keyword(id)
        && !is_keyword(id)
        && id != "[*]"
}

/// Reports whether Mermaid's lexer takes the start of an id for a keyword.
///
/// Its rules for these match at a word's end, and precede the rule for ids.
fn begins_with_keyword(id: &str) -> bool {
    let lower = id.to_ascii_lowercase();
    ["click", "href", "default"].iter().any(|keyword| {
        let rest = lower.strip_prefix(keyword);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}
